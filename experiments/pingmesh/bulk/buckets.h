/* experiments/pingmesh/bulk/buckets.h -- P50 and P99 as agents' counters tell.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent tells its quantiles by the ends of buckets (algos/pingmesh/perf.h).
 * So the law of what it tells is a few probabilities: that of a quantile being
 * at most a bucket's end is that of few enough round trips being above it, a sum
 * of three binomials. Servers with as many round trips have one law, which is
 * made once and drawn from with one number each.
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_BUCKETS_H
#define EXPERIMENTS_PINGMESH_BULK_BUCKETS_H

#include "experiments/pingmesh/bulk/sums.h"

/* Laws that are known at once, of places for twice as many, and their ends: a
 * server's counts are of some hundreds of laws, of a few ends each. When there is
 * no more room all are forgotten. */
enum {
	XP_BUCKETS_LAWS = 2048,
	XP_BUCKETS_PLACES = 2 * XP_BUCKETS_LAWS,
	XP_BUCKETS_ENDS = 1 << 15,
	XP_BUCKETS_MOST = 128 /* ends of a law */
};

struct xp_buckets_law {
	uint64_t quick[CONNECTS_N_HOPS], rank;
	uint32_t first, n; /* ends; n is 0 where there is no law */
};

struct xp_buckets {
	struct fabric_sim_rtt law[CONNECTS_N_HOPS];
	sim_ns below_ns; /* all round trips are */
	uint32_t n_laws, n_ends;
	struct xp_buckets_law place[XP_BUCKETS_PLACES];
	sim_ns end[XP_BUCKETS_ENDS];
	double upto[XP_BUCKETS_ENDS]; /* P(the quantile's end <= end[i]) */
};

void xp_buckets_init(struct xp_buckets *b, const struct fabric_sim_rtt law[],
    sim_ns below_ns);

/* The end of the bucket that the value of RANK, from 1, falls into, among QUICK
 * round trips. Draws are those of each rank alone. Cost O(1), or about 1 ms for
 * numbers that were not met lately. */
sim_ns xp_buckets_draw(struct xp_buckets *b,
    const uint64_t quick[CONNECTS_N_HOPS], uint64_t rank, struct sim_rng *r);

#endif
