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

enum { XP_BUCKETS_SLOTS = 1024, XP_BUCKETS_ENDS = 128 };

struct xp_buckets_law {
	uint64_t quick[CONNECTS_N_HOPS], rank;
	uint8_t n; /* 0: none yet */
	sim_ns end[XP_BUCKETS_ENDS];
	double upto[XP_BUCKETS_ENDS]; /* P(the quantile's end <= end[i]) */
};

struct xp_buckets {
	struct fabric_sim_rtt law[CONNECTS_N_HOPS];
	sim_ns below_ns; /* all round trips are */
	struct xp_buckets_law slot[XP_BUCKETS_SLOTS];
};

void xp_buckets_init(struct xp_buckets *b, const struct fabric_sim_rtt law[],
    sim_ns below_ns);

/* The end of the bucket that the value of RANK, from 1, falls into, among QUICK
 * round trips. Draws are those of each rank alone. Cost O(1), or about 1 ms for
 * numbers that were not met lately. */
sim_ns xp_buckets_draw(struct xp_buckets *b,
    const uint64_t quick[CONNECTS_N_HOPS], uint64_t rank, struct sim_rng *r);

#endif
