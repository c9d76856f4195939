/* algos/pingmesh/wire.c -- what agents post, as bytes that any host can read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/wire.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "sim/bytes.h"

static const unsigned char pingmesh_wire_magic[4] = {'C', 'P', 'M', 'B'};

/* Field by field at fixed places, since the layout of a struct differs between
 * machines. The last three bytes are zero so that equal records are equal
 * bytes. */
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
	p[43] = r->ping;
	p[44] = r->answer;
	memset(p + 45, 0, 3);
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
	    .ping = p[43],
	    .answer = p[44],
	};
}

/* By version: what a batch is of, how long its records are, and how many there
 * may be. Version and length must fit together, so that a reader of one kind never
 * misreads the other; a window's counters are one record. */
enum { OF_PINGS = 3, N_VERSIONS };
static const struct version {
	enum algo_pingmesh_wire_kind kind;
	uint16_t record, least, most;
} versions[N_VERSIONS] = {
    [ALGO_PINGMESH_OF_RECORDS] = {ALGO_PINGMESH_OF_RECORDS,
	ALGO_PINGMESH_WIRE_RECORD, 1, ALGO_PINGMESH_BATCH},
    [ALGO_PINGMESH_OF_COUNTERS] = {ALGO_PINGMESH_OF_COUNTERS,
	ALGO_PINGMESH_WIRE_COUNTERS, 1, 1},
    [OF_PINGS] = {ALGO_PINGMESH_OF_RECORDS, ALGO_PINGMESH_WIRE_RECORD, 1,
	ALGO_PINGMESH_BATCH},
};

/* Only where there is need, as collectors from before take no other. */
static unsigned wire_version(const struct algo_pingmesh_batch *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->record[i].ping != AGENT_PING_TCP)
			return OF_PINGS;
	return ALGO_PINGMESH_OF_RECORDS;
}

#define AT(member) offsetof(struct algo_pingmesh_window, member)
static const size_t pingmesh_wire_counters[] = {AT(start_ns), AT(end_ns),
    AT(n_probes), AT(n_connected), AT(n_unconnected), AT(n_drop_1),
    AT(n_drop_2), AT(p50_ns), AT(p99_ns)};
#undef AT
enum {
	N_COUNTERS =
	    sizeof(pingmesh_wire_counters) / sizeof(pingmesh_wire_counters[0])
};
static_assert(N_COUNTERS * 8 == ALGO_PINGMESH_WIRE_COUNTERS, "all of them");

/* The head is the same for all kinds of batch. */
static void encode_head(unsigned char *p, unsigned version,
    const struct algo_pingmesh_wire_id *id, uint32_t n)
{
	memcpy(p, pingmesh_wire_magic, sizeof(pingmesh_wire_magic));
	sim_store_16(p + 4, (uint16_t)version);
	sim_store_16(p + 6, versions[version].record);
	sim_store_32(p + 8, n);
	sim_store_32(p + 12, id->src_ip);
	sim_store_64(p + 16, id->born_ns);
	sim_store_64(p + 24, id->number);
	sim_store_64(p + 32, id->n_lost);
}

size_t algo_pingmesh_wire_encode(const struct algo_pingmesh_batch *b,
    unsigned char *out)
{
	const struct algo_pingmesh_wire_id id = {ALGO_PINGMESH_OF_RECORDS,
	    b->born_ns, b->number, b->n_lost, b->src_ip, b->n};
	unsigned char *p = out + ALGO_PINGMESH_WIRE_HEAD;
	assert(b->n <= ALGO_PINGMESH_BATCH);
	encode_head(out, wire_version(b), &id, b->n);
	for (uint32_t i = 0; i < b->n; i++, p += ALGO_PINGMESH_WIRE_RECORD)
		encode_record(p, &b->record[i]);
	/* Finds accidents, not forgers: there is no key in it. */
	sim_store_64(p, sim_fnv(SIM_FNV_START, out, (size_t)(p - out)));
	return algo_pingmesh_wire_size(b->n);
}

size_t algo_pingmesh_wire_encode_window(const struct algo_pingmesh_window *w,
    unsigned char *out)
{
	const struct algo_pingmesh_wire_id id = {ALGO_PINGMESH_OF_COUNTERS,
	    w->born_ns, w->number, 0, w->src_ip, 0};
	unsigned char *p = out + ALGO_PINGMESH_WIRE_HEAD;
	encode_head(out, id.kind, &id, 1);
	for (size_t i = 0; i < N_COUNTERS; i++, p += 8)
		sim_store_64(p,
		    *(const uint64_t *)((const char *)w +
			pingmesh_wire_counters[i]));
	sim_store_64(p, sim_fnv(SIM_FNV_START, out, (size_t)(p - out)));
	return ALGO_PINGMESH_WIRE_WINDOW;
}

/* Read from the head alone, before anything else is awaited: a forged length
 * must not make a collector wait for or store what no agent sends. */
int algo_pingmesh_wire_length(const void *head, size_t *size, struct sim_err *e)
{
	const unsigned char *p = head;
	if (memcmp(p, pingmesh_wire_magic, sizeof(pingmesh_wire_magic)) != 0)
		return sim_fail(e, SIM_EPARSE,
		    "This is no batch of records: it does not begin with "
		    "\"CPMB\".");
	const unsigned version = sim_load_16(p + 4),
		       record = sim_load_16(p + 6);
	const uint32_t n = sim_load_32(p + 8);
	if (version < ALGO_PINGMESH_OF_RECORDS || version >= N_VERSIONS ||
	    record != versions[version].record)
		return sim_fail(e, SIM_EPARSE,
		    "A batch of version %u with records of %u bytes is not "
		    "known: versions 1 and 3 have %d, and version 2 has %d.",
		    version, record, ALGO_PINGMESH_WIRE_RECORD,
		    ALGO_PINGMESH_WIRE_COUNTERS);
	if (n < versions[version].least || n > versions[version].most)
		return sim_fail(e, SIM_ELIMIT,
		    "A batch of %" PRIu32 " records: at most %d are allowed, "
		    "and at least %d.",
		    n, versions[version].most, versions[version].least);
	*size = ALGO_PINGMESH_WIRE_HEAD + (size_t)n * record +
	    ALGO_PINGMESH_WIRE_CHECK;
	return 0;
}

/* Kind of ping, outcome and answer must go together: whoever counts answers reads
 * no other. */
static int check_ping(const struct algo_pingmesh_record *r, uint32_t i,
    struct sim_err *e)
{
	const int http = r->ping == AGENT_PING_HTTP;
	const int asked = http && r->outcome == AGENT_CONNECTED;
	const int ok = r->answer == AGENT_ANSWER_OK;
	if (r->ping < AGENT_N_PINGS && r->answer < AGENT_N_ANSWERS &&
	    (r->answer != AGENT_ANSWER_NOT_ASKED) == asked &&
	    (!http || (r->payload == 0 && (r->echo_ns > 0) == ok)))
		return 0;
	return sim_fail(e, SIM_ERANGE,
	    "Record %" PRIu32 ": ping %u with outcome %u, answer %u and "
	    "payload %" PRIu32 " is none that an agent sends.",
	    i, r->ping, r->outcome, r->answer, r->payload);
}

/* What an agent cannot have sent is refused here, so that nobody behind checks
 * again. */
static int check_record(const unsigned char *p, uint32_t i, uint32_t src_ip,
    struct sim_err *e)
{
	static const unsigned char zero[3];
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
	if (memcmp(p + 45, zero, sizeof(zero)) != 0)
		return sim_fail(e, SIM_ERANGE,
		    "Record %" PRIu32 ": its last three bytes are not 0.", i);
	return check_ping(&r, i, e);
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
	/* The length follows from the head, and the checksum stands at the end:
	 * so length first. */
	if (n != size)
		return sim_fail(e, SIM_EPARSE,
		    "A batch of %" PRIu32 " records has %zu bytes, not %zu.",
		    sim_load_32(p + 8), size, n);
	if (sim_load_64(p + n - ALGO_PINGMESH_WIRE_CHECK) !=
	    sim_fnv(SIM_FNV_START, p, n - ALGO_PINGMESH_WIRE_CHECK))
		return sim_fail(e, SIM_EPARSE,
		    "The checksum is not that of the batch.");
	const unsigned version = sim_load_16(p + 4);
	const enum algo_pingmesh_wire_kind kind = versions[version].kind;
	const struct algo_pingmesh_wire_id found = {
	    .kind = kind,
	    .n = kind == ALGO_PINGMESH_OF_RECORDS ? sim_load_32(p + 8) : 0,
	    .src_ip = sim_load_32(p + 12),
	    .born_ns = sim_load_64(p + 16),
	    .number = sim_load_64(p + 24),
	    .n_lost = sim_load_64(p + 32),
	};
	/* Agents count from 1, so 0 shows that this was never sent. */
	if (found.number == 0)
		return sim_fail(e, SIM_ERANGE, "Batches count from 1, not 0.");
	if (kind == ALGO_PINGMESH_OF_COUNTERS && found.n_lost > 0)
		return sim_fail(e, SIM_ERANGE, "Counters have no n_lost.");
	p += ALGO_PINGMESH_WIRE_HEAD;
	uint32_t n_http = 0;
	for (uint32_t i = 0; i < found.n; i++, p += ALGO_PINGMESH_WIRE_RECORD) {
		if ((rc = check_record(p, i, found.src_ip, e)) < 0)
			return rc;
		n_http += decode_record(p).ping == AGENT_PING_HTTP;
	}
	/* One batch is written in one way. */
	if (kind == ALGO_PINGMESH_OF_RECORDS &&
	    (n_http > 0) != (version == OF_PINGS))
		return sim_fail(e, SIM_ERANGE,
		    "A batch of version %u has %" PRIu32 " HTTP pings.",
		    version, n_http);
	/* Only what is wholly good is told. */
	*id = found;
	return 0;
}

/* Check, also that it is of KIND. */
static int check_kind(struct algo_pingmesh_wire_id *id,
    enum algo_pingmesh_wire_kind kind, const void *bytes, size_t n,
    struct sim_err *e)
{
	int rc = algo_pingmesh_wire_check(id, bytes, n, e);
	return rc < 0 || id->kind == kind
	    ? rc
	    : sim_fail(e, SIM_EPARSE, "This batch is of version %d, not %d.",
		  id->kind, kind);
}

int algo_pingmesh_wire_decode(struct algo_pingmesh_batch *b, const void *bytes,
    size_t n, struct sim_err *e)
{
	const unsigned char *p =
	    (const unsigned char *)bytes + ALGO_PINGMESH_WIRE_HEAD;
	struct algo_pingmesh_wire_id id;
	/* Checked as a whole first, so that B is never left half written. */
	int rc = check_kind(&id, ALGO_PINGMESH_OF_RECORDS, bytes, n, e);
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

int algo_pingmesh_wire_decode_window(struct algo_pingmesh_window *w,
    const void *bytes, size_t n, struct sim_err *e)
{
	const unsigned char *p =
	    (const unsigned char *)bytes + ALGO_PINGMESH_WIRE_HEAD;
	struct algo_pingmesh_wire_id id;
	int rc = check_kind(&id, ALGO_PINGMESH_OF_COUNTERS, bytes, n, e);
	if (rc < 0)
		return rc;
	*w = (struct algo_pingmesh_window){.born_ns = id.born_ns,
	    .number = id.number,
	    .src_ip = id.src_ip};
	for (size_t i = 0; i < N_COUNTERS; i++, p += 8)
		*(uint64_t *)((char *)w + pingmesh_wire_counters[i]) =
		    sim_load_64(p);
	return 0;
}
