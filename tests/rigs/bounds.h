/* tests/rigs/bounds.h -- networks and votes that both tests of algos/bounds use.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_BOUNDS_H
#define TESTS_BOUNDS_H

#include "algos/vigil/bounds.h"
#include "tests/test.h"

static inline struct topo_clos clos(uint32_t n_pods, uint32_t n_tors,
    uint32_t n_t1, uint32_t n_t2, uint32_t n_hosts)
{
	struct topo_clos c = {.n_pods = n_pods,
	    .n_tors = n_tors,
	    .n_t1 = n_t1,
	    .n_t2 = n_t2,
	    .n_hosts = n_hosts};
	assert_ok(topo_clos_init(&c, test_err()));
	return c;
}

/* 007's simulation with some number of pods. */
static inline struct topo_clos vigil(uint32_t n_pods)
{
	return clos(n_pods, 20, 8, 10, 40);
}

static const enum algo_bounds_form forms[] = {ALGO_BOUNDS_PAPER,
    ALGO_BOUNDS_ANY_PODS, ALGO_BOUNDS_SIMULATED};

static inline struct algo_bounds_votes votes_of(const struct topo_clos *c,
    enum algo_bounds_form form, double k, double r_bad, double r_good)
{
	return (struct algo_bounds_votes){
	    .bad = algo_bounds_vote_bad(c, r_bad),
	    .good = algo_bounds_vote_good(c, form, k, r_bad, r_good),
	    .n_bad = k,
	    .n_good = algo_bounds_links(c, form) - k,
	    .spread = 1,
	};
}

/* Four pods, connections of 50 packets, good links at 5e-7. */

#endif
