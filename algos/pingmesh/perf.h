/* algos/pingmesh/perf.h -- an agent's performance counters, window by window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Round-trip times go to a histogram of fixed size.
 * Eight buckets an octave from 1 us to 68 s: a quantile is at most 1/8 above
 * the value it stands for, and never below it.
 */
#ifndef ALGOS_PINGMESH_PERF_H
#define ALGOS_PINGMESH_PERF_H

#include "algos/pingmesh/pingmesh.h"

enum {
	ALGO_PINGMESH_SUB_BITS = 3,
	ALGO_PINGMESH_LEAST_BITS = 10, /* the first octave: 1024 ns */
	ALGO_PINGMESH_OCTAVES = 26,
	ALGO_PINGMESH_BUCKETS = ALGO_PINGMESH_OCTAVES << ALGO_PINGMESH_SUB_BITS,
};

struct algo_pingmesh_hist {
	uint64_t n;
	uint32_t count[ALGO_PINGMESH_BUCKETS];
};

/* The same octaves in 2^SUB_BITS buckets each; the last has all that is longer.
 * Domain SUB_BITS <= ALGO_PINGMESH_LEAST_BITS. */
static inline uint32_t algo_pingmesh_bucket_of(sim_ns rtt_ns, int sub_bits)
{
	const sim_ns least = (sim_ns)1 << ALGO_PINGMESH_LEAST_BITS;
	const sim_ns x = rtt_ns < least ? least : rtt_ns;
	const int bits = 63 - __builtin_clzll(x);
	const uint32_t octave = (uint32_t)(bits - ALGO_PINGMESH_LEAST_BITS);
	const uint32_t sub = (uint32_t)(x >> (bits - sub_bits)) &
	    ((UINT32_C(1) << sub_bits) - 1);
	const uint32_t i = octave << sub_bits | sub;
	const uint32_t n = (uint32_t)ALGO_PINGMESH_OCTAVES << sub_bits;
	return i < n ? i : n - 1;
}

/* The least time beyond bucket I of these. */
static inline sim_ns algo_pingmesh_bucket_end_of(uint32_t i, int sub_bits)
{
	const uint32_t n = UINT32_C(1) << sub_bits;
	return (sim_ns)(n + i % n + 1)
	    << (i / n + (uint32_t)(ALGO_PINGMESH_LEAST_BITS - sub_bits));
}

static inline uint32_t algo_pingmesh_bucket(sim_ns rtt_ns)
{
	return algo_pingmesh_bucket_of(rtt_ns, ALGO_PINGMESH_SUB_BITS);
}

static inline sim_ns algo_pingmesh_bucket_end(uint32_t i)
{
	return algo_pingmesh_bucket_end_of(i, ALGO_PINGMESH_SUB_BITS);
}

static inline void algo_pingmesh_hist_add(struct algo_pingmesh_hist *h,
    sim_ns rtt_ns)
{
	h->n++;
	h->count[algo_pingmesh_bucket(rtt_ns)]++;
}

/* The end of the bucket with the value of rank ceil(q n); 0 of none.
 * Domain q in (0, 1]. */
sim_ns algo_pingmesh_hist_quantile(const struct algo_pingmesh_hist *h,
    double q);

/* Times are of the agent's clock unless named `clock`. */
struct algo_pingmesh_perf {
	sim_ns end, length; /* of the window that is not over */
	sim_ns clock;       /* when it began */
	struct algo_pingmesh_counters from;
	struct algo_pingmesh_window window;   /* the last that is over */
	struct algo_pingmesh_hist hist, http; /* of handshakes; of answers */
};

/* Zeroed before; the agent begins when `clock` is CLOCK. */
void algo_pingmesh_perf_init(struct algo_pingmesh_perf *p, sim_ns length,
    uint32_t self);
void algo_pingmesh_perf_begin(struct algo_pingmesh_perf *p, sim_ns clock);

/* At the first step after a window's end, before that counts anything into
 * COUNT: AGENT_COUNTERS. So a window holds what was counted in it, and the next
 * begins where it ended. LIST_VERSION is of the list at hand, 0: none. */
void algo_pingmesh_perf_due(struct algo_pingmesh_perf *p, sim_ns now,
    sim_ns clock, const struct algo_pingmesh_counters *count,
    uint64_t list_version, struct agent_out *out);

#endif
