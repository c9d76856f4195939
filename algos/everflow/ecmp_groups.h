/* algos/everflow/ecmp_groups.h -- equal next hops, and how flows choose them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef ALGOS_EVERFLOW_ECMP_GROUPS_H
#define ALGOS_EVERFLOW_ECMP_GROUPS_H

#include "algos/everflow/debug.h"

enum { ALGO_ECMP_MAX = 64 }; /* next hops of a group; more are cut off */

/* Links of one switch that are next hops of the same destinations. */
struct algo_ecmp_group {
	topo_switch at;
	uint32_t n;
	topo_link link[ALGO_ECMP_MAX];
	double flows[ALGO_ECMP_MAX]; /* by counters */
	size_t first, n_choices;     /* of choice[] */
};

/* A flow that was seen to choose. */
struct algo_ecmp_choice {
	uint32_t group;
	uint32_t pos; /* of link[] */
	uint32_t digest;
	struct topo_tuple tuple;
};

/* By choices of stored SYNs without outer headers, each five-tuple once; and by
 * counters. Links in two different groups (of a mesh) are in the first alone. */
struct algo_ecmp_groups {
	struct algo_ecmp_group *group;
	size_t n, cap;
	uint32_t *of_link;               /* [n_links] 1 + group, or 0 */
	struct algo_ecmp_choice *choice; /* by group */
	size_t n_choices, cap_choices;
};

/* Errors SIM_ENOMEM. Free also what failed.
 * Cost O(switches * ToRs + traces + n log n). */
int algo_ecmp_groups_make(struct algo_ecmp_groups *x,
    const struct algo_debug_in *in, struct sim_err *e);
void algo_ecmp_groups_free(struct algo_ecmp_groups *x);

/* How uneven COUNT[n] is, if equal shares are right. */
struct algo_skew {
	double chance; /* of as much by chance, or more; 1: too few to say */
	double skew;   /* max / mean */
	uint32_t max;  /* where */
	uint32_t n_unused;
	double total;
};

/* G test with Williams's correction, chi square of n - 1; nothing is said below
 * 10 a next hop, where that would not hold. DEPARTS: none; the paper leaves the
 * test open.
 * Paper  D. Williams, Biometrika 63 (1976). */
struct algo_skew algo_skew_of(const double count[], uint32_t n);

#endif
