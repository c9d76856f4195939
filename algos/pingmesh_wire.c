/* algos/pingmesh_wire.c -- a batch of records as bytes that any host can read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh_wire.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "sim/bytes.h"

static const unsigned char magic[4] = {'C', 'P', 'M', 'B'};

static uint64_t checksum(const unsigned char *p, size_t n)
{
	return sim_fnv(SIM_FNV_START, p, n);
}

static void encode_record(unsigned char *p,
    const struct algo_pingmesh_record *r)
{
	sim_store_64(p, r->sent_ns);
	sim_store_64(p + 8, r->rtt_ns);
	sim_store_64(p + 16, r->echo_ns);
	sim_store_32(p + 24, r->src_ip);
	sim_store_32(p + 28, r->dst_ip);
	sim_store_16(p + 32, r->src_port);
	sim_store_16(p + 34, r->dst_port);
	sim_store_32(p + 36, r->payload);
	p[40] = r->class;
	p[41] = r->level;
	p[42] = r->outcome;
	memset(p + 43, 0, 5);
}

static struct algo_pingmesh_record decode_record(const unsigned char *p)
{
	return (struct algo_pingmesh_record){
	    .sent_ns = sim_load_64(p),
	    .rtt_ns = sim_load_64(p + 8),
	    .echo_ns = sim_load_64(p + 16),
	    .src_ip = sim_load_32(p + 24),
	    .dst_ip = sim_load_32(p + 28),
	    .src_port = sim_load_16(p + 32),
	    .dst_port = sim_load_16(p + 34),
	    .payload = sim_load_32(p + 36),
	    .class = p[40],
	    .level = p[41],
	    .outcome = p[42],
	};
}

size_t algo_pingmesh_wire_encode(const struct algo_pingmesh_batch *b,
    unsigned char *out)
{
	unsigned char *p = out + ALGO_PINGMESH_WIRE_HEAD;
	assert(b->n <= ALGO_PINGMESH_BATCH);
	memcpy(out, magic, sizeof(magic));
	sim_store_16(out + 4, ALGO_PINGMESH_WIRE_VERSION);
	sim_store_16(out + 6, ALGO_PINGMESH_WIRE_RECORD);
	sim_store_32(out + 8, b->n);
	sim_store_32(out + 12, b->src_ip);
	sim_store_64(out + 16, b->born_ns);
	sim_store_64(out + 24, b->number);
	sim_store_64(out + 32, b->n_lost);
	for (uint32_t i = 0; i < b->n; i++, p += ALGO_PINGMESH_WIRE_RECORD)
		encode_record(p, &b->record[i]);
	sim_store_64(p, checksum(out, (size_t)(p - out)));
	return algo_pingmesh_wire_size(b->n);
}

int algo_pingmesh_wire_length(const void *head, size_t *size, struct sim_err *e)
{
	const unsigned char *p = head;
	if (memcmp(p, magic, sizeof(magic)) != 0)
		return sim_fail(e, SIM_EPARSE,
		    "This is no batch of records: it does not begin with "
		    "\"CPMB\".");
	if (sim_load_16(p + 4) != ALGO_PINGMESH_WIRE_VERSION ||
	    sim_load_16(p + 6) != ALGO_PINGMESH_WIRE_RECORD)
		return sim_fail(e, SIM_EPARSE,
		    "A batch of version %u with records of %u bytes is not "
		    "known: version %d has %d.",
		    sim_load_16(p + 4), sim_load_16(p + 6), ALGO_PINGMESH_WIRE_VERSION,
		    ALGO_PINGMESH_WIRE_RECORD);
	const uint32_t n = sim_load_32(p + 8);
	if (n > ALGO_PINGMESH_BATCH)
		return sim_fail(e, SIM_ELIMIT,
		    "A batch of %" PRIu32 " records: at most %d are allowed.",
		    n, ALGO_PINGMESH_BATCH);
	*size = algo_pingmesh_wire_size(n);
	return 0;
}

static int check_record(const unsigned char *p, uint32_t i, uint32_t src_ip,
    struct sim_err *e)
{
	static const unsigned char zero[5];
	const struct algo_pingmesh_record r = decode_record(p);
	if (r.src_ip != src_ip)
		return sim_fail(e, SIM_ERANGE,
		    "Record %" PRIu32 " is of another server than its batch.",
		    i);
	if (r.payload > ALGO_PINGLIST_MAX_PAYLOAD)
		return sim_fail(e, SIM_ERANGE,
		    "Record %" PRIu32 ": payload %" PRIu32
		    " is not in [0, %d].",
		    i, r.payload, ALGO_PINGLIST_MAX_PAYLOAD);
	if (r.class >= ALGO_PINGLIST_MAX_CLASSES ||
	    r.level >= ALGO_PINGLIST_N_LEVELS || r.outcome >= AGENT_N_OUTCOMES)
		return sim_fail(e, SIM_ERANGE,
		    "Record %" PRIu32
		    ": class %u, level %u, outcome %u are not below %d, %d "
		    "and %d.",
		    i, r.class, r.level, r.outcome, ALGO_PINGLIST_MAX_CLASSES,
		    ALGO_PINGLIST_N_LEVELS, AGENT_N_OUTCOMES);
	if (memcmp(p + 43, zero, sizeof(zero)) != 0)
		return sim_fail(e, SIM_ERANGE,
		    "Record %" PRIu32 ": its last five bytes are not 0.", i);
	return 0;
}

int algo_pingmesh_wire_check(struct algo_pingmesh_wire_id *id,
    const void *bytes, size_t n, struct sim_err *e)
{
	const unsigned char *p = bytes;
	size_t size;
	int rc;
	if (n < ALGO_PINGMESH_WIRE_HEAD + ALGO_PINGMESH_WIRE_CHECK)
		return sim_fail(e, SIM_EPARSE,
		    "%zu bytes are no batch: the least is %d.", n,
		    ALGO_PINGMESH_WIRE_HEAD + ALGO_PINGMESH_WIRE_CHECK);
	if ((rc = algo_pingmesh_wire_length(bytes, &size, e)) < 0)
		return rc;
	if (n != size)
		return sim_fail(e, SIM_EPARSE,
		    "A batch of %" PRIu32 " records has %zu bytes, not %zu.",
		    sim_load_32(p + 8), size, n);
	if (sim_load_64(p + n - ALGO_PINGMESH_WIRE_CHECK) !=
	    checksum(p, n - ALGO_PINGMESH_WIRE_CHECK))
		return sim_fail(e, SIM_EPARSE,
		    "The checksum is not that of the batch.");
	const struct algo_pingmesh_wire_id found = {
	    .n = sim_load_32(p + 8),
	    .src_ip = sim_load_32(p + 12),
	    .born_ns = sim_load_64(p + 16),
	    .number = sim_load_64(p + 24),
	    .n_lost = sim_load_64(p + 32),
	};
	if (found.number == 0)
		return sim_fail(e, SIM_ERANGE, "Batches count from 1, not 0.");
	p += ALGO_PINGMESH_WIRE_HEAD;
	for (uint32_t i = 0; i < found.n; i++, p += ALGO_PINGMESH_WIRE_RECORD)
		if ((rc = check_record(p, i, found.src_ip, e)) < 0)
			return rc;
	*id = found;
	return 0;
}

int algo_pingmesh_wire_decode(struct algo_pingmesh_batch *b, const void *bytes,
    size_t n, struct sim_err *e)
{
	const unsigned char *p =
	    (const unsigned char *)bytes + ALGO_PINGMESH_WIRE_HEAD;
	struct algo_pingmesh_wire_id id;
	int rc = algo_pingmesh_wire_check(&id, bytes, n, e);
	if (rc < 0)
		return rc;
	b->born_ns = id.born_ns;
	b->number = id.number;
	b->n_lost = id.n_lost;
	b->src_ip = id.src_ip;
	b->n = id.n;
	for (uint32_t i = 0; i < id.n; i++, p += ALGO_PINGMESH_WIRE_RECORD)
		b->record[i] = decode_record(p);
	return 0;
}
