/* algos/everflow/ring.c -- traces under way: a log of records, and an index.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/ring.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "algos/everflow/check.h"
#include "sim/vec.h"

enum { COPIES = 6, WAYS = 7, LINE = 64, N_LEAST = 64, OUTER_BYTES = 20 };

enum { RING_DEBUG = 1, RING_RETX = 2, RING_RESENT = 4, RING_PART = 8 };

struct ring_copy {
	uint64_t switch_ns;
	uint32_t dt_ns; /* since the record's first */
	uint32_t node, in_link, outer_src, outer_dst;
	uint8_t layer, ttl, ttl_in, tos;
};

struct algo_ring_record {
	uint64_t first_ns, digest;
	uint32_t src_ip, dst_ip, seq, ack, n_bytes;
	uint32_t next;     /* number of the next record of the chain, or own */
	uint32_t last_dt;  /* of the last copy */
	uint32_t begin_us; /* of a chain: since its first copy */
	uint16_t src_port, dst_port, ip_id;
	uint16_t n_before; /* copies in records before */
	uint8_t proto, flags, kind, bth_opcode, aeth, n, state;
	struct ring_copy copy[COPIES];
};
static_assert(sizeof(struct algo_ring_record) == 256, "four lines");

/* Entry WAYS is another thing: the last number that found no room here, if tag
 * is 1. While that is in the log, one must look on in the next bucket. */
struct algo_ring_bucket {
	uint32_t tag[WAYS + 1], number[WAYS + 1];
};
static_assert(sizeof(struct algo_ring_bucket) == LINE, "one line");

/* --- memory ----------------------------------------------------------------*/
static uint32_t ring_size(uint32_t max_traces)
{
	uint32_t n = N_LEAST;
	while (n < max_traces && n < UINT32_C(1) << 30)
		n *= 2;
	return n;
}

size_t algo_ring_bytes(uint32_t max_traces)
{
	const size_t n = ring_size(max_traces);
	return n * sizeof(struct algo_ring_record) +
	    n / 4 * sizeof(struct algo_ring_bucket);
}

/* Lines begin where they begin in the cache. */
static void *ring_align(void *p)
{
	return (void *)(((uintptr_t)p + LINE - 1) / LINE * LINE);
}

int algo_ring_open(struct algo_ring *r, uint32_t max_traces,
    enum algo_trace_key key, sim_ns gap, struct sim_err *e)
{
	const uint32_t n = ring_size(max_traces);
	*r = (struct algo_ring){.n_records = n,
	    .n_buckets = n / 4,
	    .first = 1, /* entries of 0 are stale so */
	    .end = 1,
	    .gap = gap,
	    .by_digest = key == ALGO_KEY_DIGEST};
	int rc = sim_zalloc(&r->memory[0], n + 1,
	    sizeof(struct algo_ring_record), e);
	if (rc == 0)
		rc = sim_zalloc(&r->memory[1], n / 4 + 1,
		    sizeof(struct algo_ring_bucket), e);
	if (rc < 0)
		return rc;
	r->record = ring_align(r->memory[0]);
	r->bucket = ring_align(r->memory[1]);
	return 0;
}

void algo_ring_close(struct algo_ring *r)
{
	free(r->memory[0]);
	free(r->memory[1]);
	*r = (struct algo_ring){0};
}

/* --- numbers, keys ---------------------------------------------------------*/
static inline struct algo_ring_record *ring_at(const struct algo_ring *r,
    uint32_t number)
{
	return &r->record[number & (r->n_records - 1)];
}

static inline int ring_has(const struct algo_ring *r, uint32_t number)
{
	return number - r->first < r->end - r->first;
}

static inline struct algo_ring_bucket *ring_bucket(const struct algo_ring *r,
    uint64_t hash, uint32_t step)
{
	return &r->bucket[((uint32_t)hash + step) & (r->n_buckets - 1)];
}

/* The mark of what is sent again, where it tells packets from each other. */
static inline unsigned copy_resent(const struct obs_mirror *c, size_t i)
{
	return c->ip_id[i] == 0 && (c->ttl_in[i] & OBS_TTL_RETX) ? RING_RESENT
								 : 0;
}

static inline uint64_t copy_hash(const struct obs_mirror *c, size_t i,
    uint32_t by_digest)
{
	uint64_t h = (uint64_t)c->src_ip[i] << 32 | c->dst_ip[i];
	h *= UINT64_C(0x9e3779b97f4a7c15);
	h ^= h >> 32;
	h += (uint64_t)c->src_port[i] << 48 | (uint64_t)c->dst_port[i] << 32 |
	    (uint32_t)c->ip_id[i] << 16 | (uint32_t)c->proto[i] << 8 |
	    copy_resent(c, i);
	h *= UINT64_C(0xd6e8feb86659fd93);
	h ^= h >> 32;
	h += by_digest ? c->digest[i] : 0;
	h *= UINT64_C(0xff51afd7ed558ccd);
	return h ^ h >> 32;
}

static inline int ring_same(const struct algo_ring *r,
    const struct algo_ring_record *x, const struct obs_mirror *c, size_t i)
{
	return x->src_ip == c->src_ip[i] && x->dst_ip == c->dst_ip[i] &&
	    x->src_port == c->src_port[i] && x->dst_port == c->dst_port[i] &&
	    x->ip_id == c->ip_id[i] && x->proto == c->proto[i] &&
	    (!r->by_digest || x->digest == c->digest[i]) &&
	    (x->state & RING_RESENT) == copy_resent(c, i);
}

/* The entry with the tag of HASH in its own bucket; it may be another's. */
static inline uint32_t *ring_guess(const struct algo_ring *r, uint64_t hash)
{
	struct algo_ring_bucket *b = ring_bucket(r, hash, 0);
	const uint32_t tag = (uint32_t)(hash >> 32);
	for (unsigned k = 0; k < WAYS; k++)
		if (b->tag[k] == tag)
			return &b->number[k];
	return NULL;
}

void algo_ring_look(const struct algo_ring *r, const struct obs_mirror *copies,
    size_t from, unsigned n, struct algo_ring_guess guess[])
{
	for (unsigned i = 0; i < n; i++) {
		guess[i].hash = copy_hash(copies, from + i, r->by_digest);
		__builtin_prefetch(ring_bucket(r, guess[i].hash, 0), 1);
	}
	for (unsigned i = 0; i < n; i++) {
		guess[i].entry = ring_guess(r, guess[i].hash);
		if (guess[i].entry)
			__builtin_prefetch(ring_at(r, *guess[i].entry), 1);
	}
	for (unsigned i = 0; i < n; i++) {
		if (!guess[i].entry)
			continue;
		struct algo_ring_record *x = ring_at(r, *guess[i].entry);
		if (x->n < COPIES)
			__builtin_prefetch(&x->copy[x->n], 1);
	}
}

/* Records of a chain behind its first go with that. */
static void ring_skip(struct algo_ring *r)
{
	while (r->first != r->end && ring_at(r, r->first)->state & RING_PART)
		r->first++;
}

/* --- putting ---------------------------------------------------------------*/
static inline sim_ns record_last(const struct algo_ring_record *x)
{
	return x->first_ns + x->last_dt;
}

static inline sim_ns record_begin(const struct algo_ring_record *x)
{
	return x->first_ns - x->begin_us * SIM_US;
}

/* Too old for another copy that comes at NOW? */
static inline int record_ended(const struct algo_ring *r,
    const struct algo_ring_record *x, sim_ns now)
{
	return now - record_last(x) > r->gap ||
	    (now - record_begin(x)) / 2 > r->gap;
}

static inline void record_copy(struct algo_ring_record *x,
    const struct obs_mirror *c, size_t i, uint32_t dt)
{
	x->copy[x->n++] = (struct ring_copy){
	    .switch_ns = c->switch_ns[i],
	    .dt_ns = dt,
	    .node = c->node[i],
	    .in_link = c->in_link[i],
	    .outer_src = c->outer_src[i],
	    .outer_dst = c->outer_dst[i],
	    .layer = c->layer[i],
	    .ttl = c->ttl[i],
	    .ttl_in = c->ttl_in[i],
	    .tos = c->tos[i],
	};
	x->last_dt = dt;
	if ((c->tos[i] | c->tos_in[i]) & OBS_TOS_DEBUG ||
	    c->kind[i] == OBS_COPY_DEBUG)
		x->state |= RING_DEBUG;
	if (c->kind[i] == OBS_COPY_RETX)
		x->state |= RING_RETX;
}

/* A record's head; N_BYTES less outer headers, so that it does not matter which
 * copy comes first. */
static void record_begins(struct algo_ring_record *x,
    const struct obs_mirror *c, size_t i, uint32_t number, sim_ns now)
{
	const uint32_t outer = (uint32_t)OUTER_BYTES * c->layer[i];
	x->first_ns = now;
	x->digest = c->digest[i];
	x->src_ip = c->src_ip[i];
	x->dst_ip = c->dst_ip[i];
	x->seq = c->seq[i];
	x->ack = c->ack[i];
	x->n_bytes = c->n_bytes[i] > outer ? c->n_bytes[i] - outer : 0;
	x->next = number;
	x->last_dt = 0;
	x->begin_us = 0;
	x->src_port = c->src_port[i];
	x->dst_port = c->dst_port[i];
	x->ip_id = c->ip_id[i];
	x->n_before = 0;
	x->proto = c->proto[i];
	x->flags = c->flags[i];
	x->kind = c->kind[i];
	x->bth_opcode = c->bth_opcode[i];
	x->aeth = c->aeth[i];
	x->n = 0;
	x->state = (uint8_t)copy_resent(c, i);
}

static void ring_index(struct algo_ring *r, uint64_t hash, uint32_t number)
{
	for (uint32_t step = 0;; step++) {
		struct algo_ring_bucket *b = ring_bucket(r, hash, step);
		for (unsigned k = 0; k < WAYS; k++) {
			if (ring_has(r, b->number[k]))
				continue;
			b->tag[k] = (uint32_t)(hash >> 32);
			b->number[k] = number;
			return;
		}
		b->tag[WAYS] = 1;
		b->number[WAYS] = number;
	}
}

/* Is row I of the trace whose number stands at ENTRY? */
static inline int ring_takes(const struct algo_ring *r, const uint32_t *entry,
    const struct obs_mirror *c, size_t i, sim_ns now)
{
	const struct algo_ring_record *x = ring_at(r, *entry);
	return ring_has(r, *entry) && ring_same(r, x, c, i) &&
	    !record_ended(r, x, now);
}

/* Where the number of row I's trace stands; NULL: it has none under way. */
static inline uint32_t *ring_find(const struct algo_ring *r,
    const struct obs_mirror *c, size_t i, uint64_t hash, sim_ns now)
{
	const uint32_t tag = (uint32_t)(hash >> 32);
	for (uint32_t step = 0; step < r->n_buckets; step++) {
		struct algo_ring_bucket *b = ring_bucket(r, hash, step);
		for (unsigned k = 0; k < WAYS; k++) {
			if (b->tag[k] == tag &&
			    ring_takes(r, &b->number[k], c, i, now))
				return &b->number[k];
		}
		if (!b->tag[WAYS] || !ring_has(r, b->number[WAYS]))
			break;
	}
	return NULL;
}

/* The next record of a chain takes the place of the one before in the index. The
 * bucket that had no room for the chain's first one says so as long as that is
 * in the log, which it is until the chain ends. */
static void ring_chain(struct algo_ring *r, const struct obs_mirror *c,
    size_t i, sim_ns now, uint32_t *entry)
{
	struct algo_ring_record *old = ring_at(r, *entry);
	const uint32_t number = r->end++;
	struct algo_ring_record *x = ring_at(r, number);
	record_begins(x, c, i, number, now);
	x->begin_us = (uint32_t)((now - record_begin(old)) / SIM_US);
	x->n_before = old->n_before + old->n;
	x->state |= RING_PART;
	old->next = number;
	*entry = number;
	record_copy(x, c, i, 0);
}

static enum algo_ring_put ring_begin(struct algo_ring *r,
    const struct obs_mirror *copies, size_t i, uint64_t hash, sim_ns now)
{
	const uint32_t number = r->end++;
	struct algo_ring_record *x = ring_at(r, number);
	record_begins(x, copies, i, number, now);
	record_copy(x, copies, i, 0);
	if (copies->proto[i] != 0)
		ring_index(r, hash, number);
	return ALGO_RING_PUT;
}

enum algo_ring_put algo_ring_put(struct algo_ring *r,
    const struct obs_mirror *copies, size_t i,
    const struct algo_ring_guess *guess, sim_ns now)
{
	uint32_t *entry = guess->entry;
	if (copies->proto[i] == 0)
		entry = NULL;
	else if (!entry || !ring_takes(r, entry, copies, i, now))
		entry = ring_find(r, copies, i, guess->hash, now);
	if (entry) {
		struct algo_ring_record *x = ring_at(r, *entry);
		if (x->n < COPIES && now - x->first_ns <= UINT32_MAX) {
			record_copy(x, copies, i,
			    (uint32_t)(now - x->first_ns));
			return ALGO_RING_PUT;
		}
		if (x->n_before + x->n >= ALGO_RING_MAX_COPIES - COPIES)
			return ALGO_RING_LONG;
	}
	if (r->end - r->first == r->n_records) {
		ring_skip(r);
		if (r->end - r->first == r->n_records)
			return ALGO_RING_FULL;
	}
	if (!entry)
		return ring_begin(r, copies, i, guess->hash, now);
	ring_chain(r, copies, i, now, entry);
	return ALGO_RING_PUT;
}

/* --- taking ----------------------------------------------------------------*/
static const struct algo_ring_record *ring_last_of(const struct algo_ring *r,
    uint32_t number)
{
	const struct algo_ring_record *x = ring_at(r, number);
	while (x->next != number) {
		number = x->next;
		x = ring_at(r, number);
	}
	return x;
}

/* No later copy can make it end sooner than that. */
static sim_ns record_due(const struct algo_ring *r,
    const struct algo_ring_record *x)
{
	const sim_ns last = record_last(x), begin = record_begin(x);
	const sim_ns a = last > SIM_NEVER - r->gap ? SIM_NEVER : last + r->gap;
	const sim_ns b =
	    begin > SIM_NEVER - 2 * r->gap ? SIM_NEVER : begin + 2 * r->gap;
	return a < b ? a : b;
}

int algo_ring_ended(struct algo_ring *r, sim_ns now)
{
	if (now < r->due)
		return 0;
	ring_skip(r);
	if (r->first == r->end)
		return 0;
	if (now == SIM_NEVER)
		return 1;
	const struct algo_ring_record *x = ring_last_of(r, r->first);
	if (record_ended(r, x, now))
		return 1;
	r->due = record_due(r, x);
	return 0;
}

static void record_trace(const struct algo_ring_record *x, struct algo_trace *t)
{
	*t = (struct algo_trace){
	    .t_ns = x->first_ns,
	    .digest = x->digest,
	    .src_ip = x->src_ip,
	    .dst_ip = x->dst_ip,
	    .seq = x->seq,
	    .ack = x->ack,
	    .n_bytes = x->n_bytes,
	    .lost_link = TOPO_NONE,
	    .src_port = x->src_port,
	    .dst_port = x->dst_port,
	    .ip_id = x->ip_id,
	    .proto = x->proto,
	    .flags = x->flags,
	    .kind = x->kind,
	    .bth_opcode = x->bth_opcode,
	    .aeth = x->aeth,
	};
}

/* Where each copy stands in the order of the way. Which of two is before cannot
 * be foretold, so all are compared without a jump. */
static void record_order(const struct algo_ring_record *x, uint8_t place[])
{
	uint32_t rank[COPIES];
	for (unsigned i = 0; i < x->n; i++) {
		const struct ring_copy *c = &x->copy[i];
		rank[i] = algo_hop_rank(c->layer, c->ttl, c->ttl_in) << 3 | i;
	}
	for (unsigned i = 0; i < x->n; i++) {
		unsigned n = 0;
		for (unsigned k = 0; k < x->n; k++)
			n += rank[k] < rank[i];
		place[i] = (uint8_t)n;
	}
}

static unsigned record_hops(const struct algo_ring_record *x,
    struct algo_hop hop[])
{
	uint8_t place[COPIES];
	record_order(x, place);
	for (unsigned i = 0; i < x->n; i++) {
		const struct ring_copy *c = &x->copy[i];
		hop[place[i]] = (struct algo_hop){
		    .t_ns = x->first_ns + c->dt_ns,
		    .switch_ns = c->switch_ns,
		    .node = c->node,
		    .in_link = c->in_link,
		    .outer_src = c->outer_src,
		    .outer_dst = c->outer_dst,
		    .layer = c->layer,
		    .ttl = c->ttl,
		    .ttl_in = c->ttl_in,
		    .tos = c->tos,
		};
	}
	return x->n;
}

void algo_ring_take(struct algo_ring *r, struct algo_trace *t,
    struct algo_hop hop[])
{
	ring_skip(r);
	assert(r->first != r->end);
	uint32_t number = r->first;
	struct algo_ring_record *x = ring_at(r, number);
	for (unsigned i = 0; i < sizeof(*x) / LINE; i++)
		__builtin_prefetch((char *)ring_at(r, number + 4) + i * LINE);
	record_trace(x, t);
	unsigned n = record_hops(x, hop), state = x->state;
	while (x->next != number) {
		number = x->next;
		x = ring_at(r, number);
		n += record_hops(x, hop + n);
		state |= x->state;
		x->proto = 0; /* nothing may find it, though it is in the log */
	}
	t->end_ns = record_last(x);
	t->n_hops = (uint16_t)n;
	t->marks = (state & RING_DEBUG ? ALGO_TRACE_DEBUG : 0) |
	    (state & RING_RETX ? ALGO_TRACE_RETX : 0);
	r->first++;
	r->due = 0;
}

sim_ns algo_ring_oldest(struct algo_ring *r)
{
	ring_skip(r);
	return r->first == r->end ? SIM_NEVER : ring_at(r, r->first)->first_ns;
}
