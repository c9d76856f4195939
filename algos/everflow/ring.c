/* algos/everflow/ring.c -- traces under way: a log of records, and an index.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/ring.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

enum { WAYS = 5, LINE = 64, N_LEAST = 64 };

/* A byte of TAGS a number; 0 in those that are none. While the number that found
 * no room here last is in the log, one must look on in the next bucket. */
struct algo_ring_bucket {
	uint64_t tags;
	uint32_t number[WAYS], passed_on;
};
static_assert(sizeof(struct algo_ring_bucket) == LINE / 2, "half a line");

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
	return n * sizeof(struct algo_record) +
	    n / 2 * sizeof(struct algo_ring_bucket);
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
	*r = (struct algo_ring){.mask = n - 1,
	    .bucket_mask = n / 2 - 1,
	    .first = 1, /* entries of 0 are stale so */
	    .end = 1,
	    .gap = gap,
	    .digest_bits = key == ALGO_KEY_DIGEST ? UINT64_MAX : 0};
	int rc =
	    sim_zalloc(&r->memory[0], n + 1, sizeof(struct algo_record), e);
	if (rc == 0)
		rc = sim_zalloc(&r->memory[1], n / 2 + 2,
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
static inline struct algo_ring_bucket *ring_bucket(const struct algo_ring *r,
    uint64_t hash, uint32_t step)
{
	return &r->bucket[((uint32_t)hash + step) & r->bucket_mask];
}

static inline uint64_t ring_hash(const struct algo_ring *r,
    const struct algo_record_key *k)
{
	uint64_t h = k->ips * UINT64_C(0x9e3779b97f4a7c15);
	h ^= h >> 32;
	h = (h + k->ports) * UINT64_C(0xd6e8feb86659fd93);
	h ^= h >> 32;
	h = (h + (k->digest & r->digest_bits)) * UINT64_C(0xff51afd7ed558ccd);
	return h ^ h >> 32;
}

/* --- tags ------------------------------------------------------------------*/
static inline uint64_t hash_tag(uint64_t hash)
{
	return hash >> 56;
}

/* The top bit of each byte that holds TAG. Above the first that does there may
 * be one too many: a byte that is less by 1 and takes its borrow. */
static inline uint64_t bucket_match(const struct algo_ring_bucket *b,
    uint64_t tag)
{
	const uint64_t ones = UINT64_C(0x0101010101), x = b->tags ^ tag * ones;
	return (x - ones) & ~x & ones << 7;
}

static inline unsigned match_way(uint64_t match)
{
	return (unsigned)__builtin_ctzll(match) / 8;
}

static void bucket_put(struct algo_ring_bucket *b, unsigned way, uint64_t tag,
    uint32_t number)
{
	b->tags = (b->tags & ~(UINT64_C(0xff) << 8 * way)) | tag << 8 * way;
	b->number[way] = number;
}

/* The first entry with the tag of HASH in its own bucket; it may be another's. */
static inline uint32_t *ring_guess(const struct algo_ring *r, uint64_t hash)
{
	struct algo_ring_bucket *b = ring_bucket(r, hash, 0);
	const uint64_t match = bucket_match(b, hash_tag(hash));
	return match ? &b->number[match_way(match)] : NULL;
}

void algo_ring_look(const struct algo_ring *r, const struct obs_mirror *copies,
    size_t from, unsigned n, struct algo_ring_guess guess[])
{
	for (unsigned i = 0; i < n; i++) {
		guess[i].key = algo_record_key_of(copies, from + i);
		guess[i].hash = ring_hash(r, &guess[i].key);
		__builtin_prefetch(ring_bucket(r, guess[i].hash, 0), 1);
	}
	for (unsigned i = 0; i < n; i++) {
		guess[i].entry = ring_guess(r, guess[i].hash);
		if (!guess[i].entry)
			continue;
		char *x = (char *)algo_ring_at(r, *guess[i].entry);
		__builtin_prefetch(x, 1);
		__builtin_prefetch(x + LINE, 1);
	}
}

/* Records of a chain behind its first go with that. */
static void ring_skip(struct algo_ring *r)
{
	while (r->first != r->end &&
	    algo_ring_at(r, r->first)->state & ALGO_RECORD_PART)
		r->first++;
}

/* --- putting ---------------------------------------------------------------*/
static void ring_index(struct algo_ring *r, uint64_t hash, uint32_t number)
{
	for (uint32_t step = 0;; step++) {
		struct algo_ring_bucket *b = ring_bucket(r, hash, step);
		for (unsigned k = 0; k < WAYS; k++) {
			if (algo_ring_has(r, b->number[k]))
				continue;
			bucket_put(b, k, hash_tag(hash), number);
			return;
		}
		b->passed_on = number;
	}
}

/* Where the number of the trace stands; NULL: it has none under way. */
static uint32_t *ring_find(const struct algo_ring *r,
    const struct algo_ring_guess *g, sim_ns now)
{
	for (uint32_t step = 0; step <= r->bucket_mask; step++) {
		struct algo_ring_bucket *b = ring_bucket(r, g->hash, step);
		uint64_t match = bucket_match(b, hash_tag(g->hash));
		for (; match != 0; match &= match - 1) {
			uint32_t *entry = &b->number[match_way(match)];
			if (algo_ring_takes(r, entry, &g->key, now))
				return entry;
		}
		if (!algo_ring_has(r, b->passed_on))
			break;
	}
	return NULL;
}

static int ring_is_full(struct algo_ring *r)
{
	if (r->end - r->first <= r->mask)
		return 0;
	ring_skip(r);
	return r->end - r->first > r->mask;
}

/* A new record, for a new trace or the one at ENTRY. The next record of a chain
 * takes the place of the one before in the index. The bucket that had no room
 * for the chain's first one says so as long as that is in the log, which it is
 * until the chain ends. */
static enum algo_ring_put ring_put_new(struct algo_ring *r,
    const struct obs_mirror *copies, size_t i, const struct algo_ring_guess *g,
    uint32_t *entry, sim_ns now)
{
	struct algo_record *old = entry ? algo_ring_at(r, *entry) : NULL;
	if (old &&
	    algo_record_n_copies(old) >
		ALGO_RING_MAX_COPIES - ALGO_RECORD_SLOTS)
		return ALGO_RING_LONG;
	if (ring_is_full(r))
		return ALGO_RING_FULL;
	const uint32_t number = r->end++;
	algo_record_start(algo_ring_at(r, number), copies, i, &g->key, now,
	    number, old);
	if (entry)
		*entry = number;
	else if (algo_record_proto(&g->key) != 0)
		ring_index(r, g->hash, number);
	return ALGO_RING_PUT;
}

enum algo_ring_put algo_ring_put(struct algo_ring *r,
    const struct obs_mirror *copies, size_t i, const struct algo_ring_guess *g,
    sim_ns now)
{
	const unsigned needs = algo_record_needs(copies, i);
	uint32_t *entry =
	    algo_record_proto(&g->key) == 0 ? NULL : ring_find(r, g, now);
	if (!entry ||
	    !algo_record_has_room(algo_ring_at(r, *entry), needs, now))
		return ring_put_new(r, copies, i, g, entry, now);
	algo_record_add(algo_ring_at(r, *entry), copies, i, needs, now);
	return ALGO_RING_PUT;
}

/* --- taking ----------------------------------------------------------------*/
static const struct algo_record *ring_last_of(const struct algo_ring *r,
    uint32_t number)
{
	const struct algo_record *x = algo_ring_at(r, number);
	while (x->next != number) {
		number = x->next;
		x = algo_ring_at(r, number);
	}
	return x;
}

/* No later copy can make it end sooner than that. */
static sim_ns record_due(const struct algo_ring *r, const struct algo_record *x)
{
	const sim_ns last = algo_record_last(x), begin = algo_record_begin(x);
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
	const struct algo_record *x = ring_last_of(r, r->first);
	if (algo_ring_ended_at(r, x, now))
		return 1;
	r->due = record_due(r, x);
	return 0;
}

void algo_ring_take(struct algo_ring *r, struct algo_trace *t)
{
	ring_skip(r);
	assert(r->first != r->end);
	uint32_t number = r->first;
	struct algo_record *x = algo_ring_at(r, number);
	for (unsigned i = 0; i < sizeof(*x) / LINE; i++)
		__builtin_prefetch(
		    (char *)algo_ring_at(r, number + 4) + i * LINE);
	algo_record_packet(x, t);
	unsigned state = x->state;
	while (x->next != number) {
		number = x->next;
		x = algo_ring_at(r, number);
		state |= x->state;
		/* Nothing may find it, though it is in the log. */
		x->key.ports = 0;
	}
	t->end_ns = algo_record_last(x);
	t->n_hops = (uint16_t)algo_record_n_copies(x);
	t->marks = (state & ALGO_RECORD_DEBUG ? ALGO_TRACE_DEBUG : 0) |
	    (state & ALGO_RECORD_RETX ? ALGO_TRACE_RETX : 0);
	r->taken = r->first++;
	r->due = 0;
}

void algo_ring_hops(const struct algo_ring *r, struct algo_hop hop[])
{
	uint32_t number = r->taken;
	const struct algo_record *x = algo_ring_at(r, number);
	unsigned n = algo_record_hops(x, hop);
	while (x->next != number) {
		number = x->next;
		x = algo_ring_at(r, number);
		n += algo_record_hops(x, hop + n);
	}
}

int algo_ring_bare(const struct algo_ring *r, struct algo_record_bare *b)
{
	const struct algo_record *x = algo_ring_at(r, r->taken);
	return x->next == r->taken && algo_record_bare(x, b);
}

sim_ns algo_ring_oldest(struct algo_ring *r)
{
	ring_skip(r);
	return r->first == r->end ? SIM_NEVER
				  : algo_ring_at(r, r->first)->first_ns;
}
