/* algos/everflow/ring.h -- traces under way: a log of records, and an index.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	index: buckets of 32 bytes        log: records of 128 bytes
 *	+-----------------------+         +------+------+------+------+
 *	| 5 tags | 5 numbers    | ------> | packet, 5 copies   | ...  |
 *	| last that went on     |         +------+------+------+------+
 *	+-----------------------+          oldest        -->     newest
 *
 * Records are numbered as they begin, and end in that order; an entry of the
 * index is stale once its number has left the log, so ending a trace deletes
 * nothing. A trace of more copies than a record holds (record.h) is a chain.
 */
#ifndef ALGOS_EVERFLOW_RING_H
#define ALGOS_EVERFLOW_RING_H

#include "algos/everflow/analyzer.h"
#include "algos/everflow/record.h"
#include "sim/time.h"

enum {
	ALGO_RING_MAX_COPIES = 512, /* of a trace */
	ALGO_RING_BLOCK = 32        /* copies that are looked up at once */
};

struct algo_ring_bucket;

/* Zeroed is closed. */
struct algo_ring {
	struct algo_record *record;
	struct algo_ring_bucket *bucket;
	uint32_t mask, bucket_mask; /* sizes, powers of two, less 1 */
	uint32_t first, end;        /* numbers of the oldest, the next */
	uint32_t taken;             /* that of the one that was taken last */
	sim_ns gap;                 /* T */
	sim_ns due;                 /* the oldest ends no sooner */
	uint64_t digest_bits;       /* those that tell packets apart */
	void *memory[2];
};

/* Take memory for MAX_TRACES of up to 5 slots: algo_ring_bytes(). Errors
 * SIM_ENOMEM; close also then. */
int algo_ring_open(struct algo_ring *r, uint32_t max_traces,
    enum algo_trace_key key, sim_ns gap, struct sim_err *e);
void algo_ring_close(struct algo_ring *r);

/* 144 bytes a trace, MAX_TRACES rounded up to a power of two, at least 64. */
size_t algo_ring_bytes(uint32_t max_traces);

/* Where a row's trace seems to be: its hash, and the number of the record in the
 * index, or NULL. */
struct algo_ring_guess {
	struct algo_record_key key;
	uint64_t hash;
	uint32_t *entry;
};

/* Guess for rows FROM .. FROM + N - 1, N <= ALGO_RING_BLOCK; what is looked at
 * for them begins to come from memory. Guesses hold for what is put next. */
void algo_ring_look(const struct algo_ring *r, const struct obs_mirror *copies,
    size_t from, unsigned n, struct algo_ring_guess guess[]);

static inline struct algo_record *algo_ring_at(const struct algo_ring *r,
    uint32_t number)
{
	return &r->record[number & r->mask];
}

static inline int algo_ring_has(const struct algo_ring *r, uint32_t number)
{
	return number - r->first < r->end - r->first;
}

/* Is X too old for another copy that comes at NOW? */
static inline int algo_ring_ended_at(const struct algo_ring *r,
    const struct algo_record *x, sim_ns now)
{
	return now - algo_record_last(x) > r->gap ||
	    (now - algo_record_begin(x)) / 2 > r->gap;
}

/* Is what has KEY of the trace whose number stands at ENTRY? */
static inline int algo_ring_takes(const struct algo_ring *r,
    const uint32_t *entry, const struct algo_record_key *key, sim_ns now)
{
	const struct algo_record *x = algo_ring_at(r, *entry);
	return algo_ring_has(r, *entry) && x->key.ips == key->ips &&
	    x->key.ports == key->ports &&
	    ((x->key.digest ^ key->digest) & r->digest_bits) == 0 &&
	    !algo_ring_ended_at(r, x, now);
}

/* Put row I, which came at NOW, where it is guessed to go. Returns 0, and does
 * nothing, if that is wrong or there is no room: then algo_ring_put() it. */
static inline int algo_ring_add(struct algo_ring *r,
    const struct obs_mirror *copies, size_t i, const struct algo_ring_guess *g,
    sim_ns now)
{
	const unsigned needs = algo_record_needs(copies, i);
	if (!g->entry || !algo_ring_takes(r, g->entry, &g->key, now))
		return 0;
	struct algo_record *x = algo_ring_at(r, *g->entry);
	if (!algo_record_has_room(x, needs, now))
		return 0;
	algo_record_add(x, copies, i, needs, now);
	return 1;
}

enum algo_ring_put { ALGO_RING_PUT, ALGO_RING_LONG, ALGO_RING_FULL };

/* Put row I, which came at NOW, with its trace: the one with its key whose last
 * copy is at most T old, and its first at most 2 T; else a new one. LONG: it
 * has all copies that it can, so this one is left out. FULL: nothing was done,
 * take the oldest first. What is not IP is a trace of its own. Where the IP ID
 * is 0, which a system may give to all packets, a packet with the mark of what
 * is sent again is another one than that without. */
enum algo_ring_put algo_ring_put(struct algo_ring *r,
    const struct obs_mirror *copies, size_t i,
    const struct algo_ring_guess *guess, sim_ns now);

/* Has the oldest ended by NOW? SIM_NEVER: is there one? */
int algo_ring_ended(struct algo_ring *r, sim_ns now);

/* Take the oldest out: T's packet, times, n_hops and the marks DEBUG and RETX.
 * n_bytes is without outer headers. Domain: there is one. */
void algo_ring_take(struct algo_ring *r, struct algo_trace *t);

/* Of the one that was taken, until the next is put: its copies, those of a record
 * in the order of the way, hop[ALGO_RING_MAX_COPIES]; and is it a bare one? */
void algo_ring_hops(const struct algo_ring *r, struct algo_hop hop[]);
int algo_ring_bare(const struct algo_ring *r, struct algo_record_bare *b);

/* First copy of the oldest; SIM_NEVER if there is none. */
sim_ns algo_ring_oldest(struct algo_ring *r);

#endif
