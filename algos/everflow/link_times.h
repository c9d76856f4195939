/* algos/everflow/link_times.h -- round trips of cables, against their peers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A round by S1, S2, S1 (guided.h) takes the difference of the two copies of S1,
 * which come to one analyzer by one way: no clocks of two switches are compared.
 * Where S1 stamps its copies that is by its clock, and else by the analyzer's, to
 * which copies take more or less time.
 * A cable is held against all others of its class (ToR-T1, T1-T2), by three
 * tests, each of which notices what the others do not:
 *
 *	level    rank sum of its times among all of the class: always slower
 *	tail     how many exceed the 99th percentile of the others: now and then
 *	spread   rank sum of the distances from its median: unsteady
 *
 * Chances are one-sided, of the normal law for rank sums with ties, of the
 * binomial for the tail; they are multiplied by three and by the number of
 * cables (Bonferroni), so a healthy set shows one below ALPHA with chance ALPHA
 * at most. As cables of real networks do differ by a little, none counts unless
 * the effect is at least MIN_EXCESS_US as well, at the median or at the 90th
 * percentile. Medians over cables stand for the
 * others, so that several may be slow, but for half of a class.
 *
 * Paper  Everflow (SIGCOMM'15); the tests are ours.
 */
#ifndef ALGOS_EVERFLOW_LINK_TIMES_H
#define ALGOS_EVERFLOW_LINK_TIMES_H

#include "algos/everflow/sighting.h"

/* One round. */
struct algo_round {
	uint32_t cable;
	double us;      /* there and back */
	double back_us; /* copy of S1 less that of S2: with another offset for
			   each pair of switches; NaN if S2's is missing */
	sim_ns sent_ns;
	uint8_t down; /* S1 to S2 is the link towards the hosts */
};

struct algo_rounds {
	struct algo_round *round; /* by cable */
	size_t n;
};

/* All rounds of IN. Errors SIM_ENOMEM. Cost O(traces + n log n). */
int algo_rounds_make(struct algo_rounds *r, const struct algo_debug_in *in,
    struct sim_err *e);
void algo_rounds_free(struct algo_rounds *r);

/* A cable that differs from its peers. */
struct algo_slow_cable {
	topo_link link; /* the direction that is slow, TOPO_NONE: not known */
	uint32_t cable;
	double chance;        /* over all cables and tests */
	uint64_t n_slow, n;   /* rounds */
	double excess_us;     /* above the class's median: of the cable's if all
			     are slow, else the mean of the slow ones */
	uint8_t intermittent; /* not all rounds are slow */
	sim_ns from_ns, to_ns; /* of the slow ones */
};

enum { ALGO_ROUNDS_LEAST = 20 }; /* of a cable; fewer are left out */

/* Those with a chance below ALPHA, in *SLOW, of *N, to be freed by the caller;
 * classes of fewer than three cables have no peers and show none.
 * Errors SIM_ENOMEM. Cost O(cables of a class * rounds). */
int algo_slow_cables(const struct algo_rounds *r, const struct topo *t,
    double min_excess_us, double alpha, struct algo_slow_cable **slow,
    size_t *n, struct sim_err *e);

#endif
