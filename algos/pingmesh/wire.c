/* algos/pingmesh/wire.c -- what agents post, as bytes that any host can read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/wire.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "sim/bytes.h"

static const unsigned char pingmesh_wire_magic[4] = {'C', 'P', 'M', 'B'};

/* --- records -------------------------------------------------------------- */
/* Field by field at fixed places, since the layout of a struct differs between
 * machines. The last three bytes are zero so that equal records are equal
 * bytes. Both families have the same but for addresses; returns the end. */
static unsigned char *encode_record(unsigned char *p,
    const struct algo_pingmesh_record *r, const struct topo_ip *dst)
{
	sim_store_64(p, r->sent_ns);
	sim_store_64(p + 8, r->rtt_ns);
	sim_store_64(p + 16, r->echo_ns);
	if (dst) {
		memcpy(p + 24, dst->byte, sizeof(dst->byte));
		p += 40;
	} else {
		sim_store_32(p + 24, r->src_ip);
		sim_store_32(p + 28, r->dst_ip);
		p += 32;
	}
	sim_store_16(p, r->src_port);
	sim_store_16(p + 2, r->dst_port);
	sim_store_32(p + 4, r->payload);
	p[8] = r->class;
	p[9] = r->level;
	p[10] = r->outcome;
	p[11] = r->ping;
	p[12] = r->answer;
	memset(p + 13, 0, 3);
	return p + 16;
}

static struct topo_ip load_ip(const unsigned char *p)
{
	struct topo_ip a;
	memcpy(a.byte, p, sizeof(a.byte));
	return a;
}

/* All but addresses; P ends a record. */
static struct algo_pingmesh_record decode_record(const unsigned char *p,
    size_t size)
{
	const unsigned char *tail = p + size - 16;
	return (struct algo_pingmesh_record){
	    .sent_ns = sim_load_64(p),
	    .rtt_ns = sim_load_64(p + 8),
	    .echo_ns = sim_load_64(p + 16),
	    .src_port = sim_load_16(tail),
	    .dst_port = sim_load_16(tail + 2),
	    .payload = sim_load_32(tail + 4),
	    .class = tail[8],
	    .level = tail[9],
	    .outcome = tail[10],
	    .ping = tail[11],
	    .answer = tail[12],
	};
}

/* --- versions ------------------------------------------------------------- */
/* By version: what a batch is of, how long its head and its records are, and how
 * many there may be. Version and length must fit together, so that a reader of one
 * kind never misreads the other; a window's counters are one record. */
enum { OF_PINGS = 3, RECORDS_6, OLD_6, COUNTERS_4, COUNTERS_6, N_VERSIONS };
enum { HEAD_6 = ALGO_PINGMESH_WIRE_HEAD + ALGO_PINGMESH_WIRE_SRC_6 };
static const struct version {
	enum algo_pingmesh_wire_kind kind;
	uint16_t head, record, least, most;
} versions[N_VERSIONS] = {
    [ALGO_PINGMESH_OF_RECORDS] = {ALGO_PINGMESH_OF_RECORDS,
	ALGO_PINGMESH_WIRE_HEAD, ALGO_PINGMESH_WIRE_RECORD, 1,
	ALGO_PINGMESH_BATCH},
    [ALGO_PINGMESH_OF_COUNTERS] = {ALGO_PINGMESH_OF_COUNTERS,
	ALGO_PINGMESH_WIRE_HEAD, ALGO_PINGMESH_WIRE_COUNTERS_OLD, 1, 1},
    [OF_PINGS] = {ALGO_PINGMESH_OF_RECORDS, ALGO_PINGMESH_WIRE_HEAD,
	ALGO_PINGMESH_WIRE_RECORD, 1, ALGO_PINGMESH_BATCH},
    [RECORDS_6] = {ALGO_PINGMESH_OF_RECORDS, HEAD_6,
	ALGO_PINGMESH_WIRE_RECORD_6, 1, ALGO_PINGMESH_BATCH},
    [OLD_6] = {ALGO_PINGMESH_OF_COUNTERS, HEAD_6,
	ALGO_PINGMESH_WIRE_COUNTERS_OLD, 1, 1},
    [COUNTERS_4] = {ALGO_PINGMESH_OF_COUNTERS, ALGO_PINGMESH_WIRE_HEAD,
	ALGO_PINGMESH_WIRE_COUNTERS, 1, 1},
    [COUNTERS_6] = {ALGO_PINGMESH_OF_COUNTERS, HEAD_6,
	ALGO_PINGMESH_WIRE_COUNTERS, 1, 1},
};

static int wire_is_6(unsigned version)
{
	return versions[version].head == HEAD_6;
}

/* That of HTTP pings only where there is need, as collectors from before take no
 * other; who takes IPv6 takes both. */
static unsigned wire_version(const struct algo_pingmesh_batch *b, int is_4)
{
	for (uint32_t i = 0; i < b->n && is_4; i++)
		if (b->record[i].ping != AGENT_PING_TCP)
			return OF_PINGS;
	return is_4 ? ALGO_PINGMESH_OF_RECORDS : RECORDS_6;
}

#define AT(member) offsetof(struct algo_pingmesh_window, member)
static const size_t pingmesh_wire_counters[] = {AT(start_ns), AT(end_ns),
    AT(n_probes), AT(n_connected), AT(n_unconnected), AT(n_drop_1),
    AT(n_drop_2), AT(p50_ns), AT(p99_ns), AT(n_http_ok), AT(n_http_other),
    AT(n_http_malformed), AT(n_http_cut), AT(n_http_late), AT(http_p50_ns),
    AT(http_p99_ns), AT(list_version), AT(list_issued_ns)};
#undef AT
enum {
	N_COUNTERS =
	    sizeof(pingmesh_wire_counters) / sizeof(pingmesh_wire_counters[0])
};
static_assert(N_COUNTERS * 8 == ALGO_PINGMESH_WIRE_COUNTERS, "all of them");

/* The first bytes of the head are the same for all kinds of batch, and what a length
 * is told by. Returns its end. */
static unsigned char *encode_head(unsigned char *p, unsigned version,
    const struct algo_pingmesh_wire_id *id, uint32_t n)
{
	const int is_4 = topo_ip_is_4(&id->src);
	memcpy(p, pingmesh_wire_magic, sizeof(pingmesh_wire_magic));
	sim_store_16(p + 4, (uint16_t)version);
	sim_store_16(p + 6, versions[version].record);
	sim_store_32(p + 8, n);
	sim_store_32(p + 12, is_4 ? topo_ip_to_4(&id->src) : 0);
	sim_store_64(p + 16, id->born_ns);
	sim_store_64(p + 24, id->number);
	sim_store_64(p + 32, id->n_lost);
	if (!is_4)
		memcpy(p + 40, id->src.byte, sizeof(id->src.byte));
	return p + versions[version].head;
}

size_t algo_pingmesh_wire_encode(const struct algo_pingmesh_batch *b,
    const struct topo_ip_book *book, unsigned char *out)
{
	const struct algo_pingmesh_wire_id id = {ALGO_PINGMESH_OF_RECORDS,
	    b->born_ns, b->number, b->n_lost,
	    topo_ip_book_look(book, b->src_ip), b->n};
	const int is_4 = topo_ip_is_4(&id.src);
	assert(b->n <= ALGO_PINGMESH_BATCH);
	unsigned char *p = encode_head(out, wire_version(b, is_4), &id, b->n);
	for (uint32_t i = 0; i < b->n; i++) {
		const struct topo_ip dst =
		    topo_ip_book_look(book, b->record[i].dst_ip);
		p = encode_record(p, &b->record[i], is_4 ? NULL : &dst);
	}
	/* Finds accidents, not forgers: there is no key in it. */
	sim_store_64(p, sim_fnv(SIM_FNV_START, out, (size_t)(p - out)));
	return (size_t)(p - out) + ALGO_PINGMESH_WIRE_CHECK;
}

size_t algo_pingmesh_wire_encode_window(const struct algo_pingmesh_window *w,
    const struct topo_ip_book *book, unsigned char *out)
{
	const struct algo_pingmesh_wire_id id = {ALGO_PINGMESH_OF_COUNTERS,
	    w->born_ns, w->number, 0, topo_ip_book_look(book, w->src_ip), 0};
	const int is_4 = topo_ip_is_4(&id.src);
	const unsigned version = w->has_http ? is_4 ? COUNTERS_4 : COUNTERS_6
	    : is_4                           ? ALGO_PINGMESH_OF_COUNTERS
					     : OLD_6;
	unsigned char *p = encode_head(out, version, &id, 1);
	for (size_t i = 0; i < versions[version].record / 8u; i++, p += 8)
		sim_store_64(p,
		    *(const uint64_t *)((const char *)w +
			pingmesh_wire_counters[i]));
	sim_store_64(p, sim_fnv(SIM_FNV_START, out, (size_t)(p - out)));
	return (size_t)(p - out) + ALGO_PINGMESH_WIRE_CHECK;
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
		    "known: versions 1 and 3 have %d, version 4 has %d, 2 and "
		    "5 have %d, and 6 and 7 have %d.",
		    version, record, ALGO_PINGMESH_WIRE_RECORD,
		    ALGO_PINGMESH_WIRE_RECORD_6,
		    ALGO_PINGMESH_WIRE_COUNTERS_OLD,
		    ALGO_PINGMESH_WIRE_COUNTERS);
	const struct version *k = &versions[version];
	if (n < k->least || n > k->most)
		return sim_fail(e, SIM_ELIMIT,
		    "A batch of %" PRIu32 " records: at most %d are allowed, "
		    "and at least %d.",
		    n, k->most, k->least);
	*size = k->head + (size_t)n * record + ALGO_PINGMESH_WIRE_CHECK;
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
static int check_record(const unsigned char *p, size_t size, uint32_t i,
    const struct topo_ip *src, struct sim_err *e)
{
	static const unsigned char zero[3];
	const struct algo_pingmesh_record r = decode_record(p, size);
	if (topo_ip_is_4(src)) {
		if (sim_load_32(p + 24) != topo_ip_to_4(src))
			return sim_fail(e, SIM_ERANGE,
			    "Record %" PRIu32
			    " is of another server than its batch.",
			    i);
	} else {
		const struct topo_ip dst = load_ip(p + 24);
		if (topo_ip_is_4(&dst))
			return sim_fail(e, SIM_ERANGE,
			    "Record %" PRIu32
			    " is of a probe by IPv4, and its batch of IPv6.",
			    i);
	}
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
	if (memcmp(p + size - 3, zero, sizeof(zero)) != 0)
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
	const struct version *k = &versions[version];
	const int is_6 = wire_is_6(version);
	const enum algo_pingmesh_wire_kind kind = k->kind;
	const struct algo_pingmesh_wire_id found = {
	    .kind = kind,
	    .n = kind == ALGO_PINGMESH_OF_RECORDS ? sim_load_32(p + 8) : 0,
	    .src = is_6 ? load_ip(p + 40) : topo_ip_of_4(sim_load_32(p + 12)),
	    .born_ns = sim_load_64(p + 16),
	    .number = sim_load_64(p + 24),
	    .n_lost = sim_load_64(p + 32),
	};
	/* Agents count from 1, so 0 shows that this was never sent. */
	if (found.number == 0)
		return sim_fail(e, SIM_ERANGE, "Batches count from 1, not 0.");
	if (kind == ALGO_PINGMESH_OF_COUNTERS && found.n_lost > 0)
		return sim_fail(e, SIM_ERANGE, "Counters have no n_lost.");
	/* A server of IPv4 has one name, which is not this. */
	if (is_6 && (topo_ip_is_4(&found.src) || sim_load_32(p + 12) != 0))
		return sim_fail(e, SIM_ERANGE,
		    "A batch of IPv6 has an address of IPv4.");
	p += k->head;
	uint32_t n_http = 0;
	for (uint32_t i = 0; i < found.n; i++, p += k->record) {
		if ((rc = check_record(p, k->record, i, &found.src, e)) < 0)
			return rc;
		n_http += decode_record(p, k->record).ping == AGENT_PING_HTTP;
	}
	/* One batch is written in one way. */
	if (kind == ALGO_PINGMESH_OF_RECORDS && !is_6 &&
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
	    : sim_fail(e, SIM_EPARSE, "This batch is of %s.",
		  kind == ALGO_PINGMESH_OF_RECORDS ? "counters" : "records");
}

uint32_t algo_pingmesh_wire_short(const struct topo_ip_net *net,
    const struct topo_ip *a)
{
	if (!net || net->bits == 0)
		return topo_ip_is_4(a) ? topo_ip_to_4(a) : 0;
	const topo_host h = topo_ip_to_host(net, a, TOPO_ADDR_MAX_HOSTS);
	return h == TOPO_NONE ? 0 : topo_addr_of_host(h);
}

int algo_pingmesh_wire_decode(struct algo_pingmesh_batch *b,
    const struct topo_ip_net *net, const void *bytes, size_t n,
    struct sim_err *e)
{
	const unsigned char *p = bytes;
	struct algo_pingmesh_wire_id id;
	/* Checked as a whole first, so that B is never left half written. */
	int rc = check_kind(&id, ALGO_PINGMESH_OF_RECORDS, bytes, n, e);
	if (rc < 0)
		return rc;
	const int is_4 = topo_ip_is_4(&id.src);
	const struct version *k = &versions[sim_load_16(p + 4)];
	b->born_ns = id.born_ns;
	b->number = id.number;
	b->n_lost = id.n_lost;
	b->src_ip = algo_pingmesh_wire_short(net, &id.src);
	b->n = id.n;
	p += k->head;
	for (uint32_t i = 0; i < id.n; i++, p += k->record) {
		const struct topo_ip dst =
		    is_4 ? topo_ip_of_4(sim_load_32(p + 28)) : load_ip(p + 24);
		b->record[i] = decode_record(p, k->record);
		b->record[i].src_ip = b->src_ip;
		b->record[i].dst_ip = algo_pingmesh_wire_short(net, &dst);
	}
	return 0;
}

int algo_pingmesh_wire_decode_window(struct algo_pingmesh_window *w,
    const struct topo_ip_net *net, const void *bytes, size_t n,
    struct sim_err *e)
{
	const unsigned char *p = bytes;
	struct algo_pingmesh_wire_id id;
	int rc = check_kind(&id, ALGO_PINGMESH_OF_COUNTERS, bytes, n, e);
	if (rc < 0)
		return rc;
	*w = (struct algo_pingmesh_window){.born_ns = id.born_ns,
	    .number = id.number,
	    .src_ip = algo_pingmesh_wire_short(net, &id.src)};
	const struct version *k = &versions[sim_load_16(p + 4)];
	p += k->head;
	w->has_http = k->record == ALGO_PINGMESH_WIRE_COUNTERS;
	for (size_t i = 0; i < k->record / 8u; i++, p += 8)
		*(uint64_t *)((char *)w + pingmesh_wire_counters[i]) =
		    sim_load_64(p);
	return 0;
}
