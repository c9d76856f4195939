/* algos/pingmesh/perf.h -- round-trip times in a histogram of fixed size.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Eight buckets an octave from 1 us to 68 s: a quantile is at most 1/8 above
 * the value it stands for, and never below it.
 */
#ifndef ALGOS_PINGMESH_PERF_H
#define ALGOS_PINGMESH_PERF_H

#include <stdint.h>

#include "sim/time.h"

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

static inline uint32_t algo_pingmesh_bucket(sim_ns rtt_ns)
{
	const sim_ns least = (sim_ns)1 << ALGO_PINGMESH_LEAST_BITS;
	const sim_ns x = rtt_ns < least ? least : rtt_ns;
	const int bits = 63 - __builtin_clzll(x);
	const uint32_t octave = (uint32_t)(bits - ALGO_PINGMESH_LEAST_BITS);
	const uint32_t sub = x >> (bits - ALGO_PINGMESH_SUB_BITS) &
	    ((1 << ALGO_PINGMESH_SUB_BITS) - 1);
	const uint32_t i = octave << ALGO_PINGMESH_SUB_BITS | sub;
	return i < ALGO_PINGMESH_BUCKETS ? i : ALGO_PINGMESH_BUCKETS - 1;
}

/* The least time beyond bucket I. */
static inline sim_ns algo_pingmesh_bucket_end(uint32_t i)
{
	const uint32_t n = 1 << ALGO_PINGMESH_SUB_BITS;
	return (sim_ns)(n + i % n + 1)
	    << (i / n + ALGO_PINGMESH_LEAST_BITS - ALGO_PINGMESH_SUB_BITS);
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

#endif
