/* algos/rivals/flock.h -- Flock: a maximum-likelihood set of failed components.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every packet of a flow takes one path; it is lost with p_bad if that path
 * crosses a failed component, else with p_good, however many have failed. For a
 * flow of s packets, of which r were lost, over w equal paths of which a set H
 * of components hits b,
 *
 *	LL(H) - LL({}) = ln[1 - b/w + b/w exp(r ln(p_bad / p_good) +
 *	    (s - r) ln((1 - p_bad) / (1 - p_good)))]
 *
 * summed over flows, and a prior for each component of H: `prior` for a link,
 * five times that for a switch. Components join H one at a time, the one that
 * raises the likelihood most, until none does (`beam: 1`); with a larger beam so
 * many sets are kept at each step, and the answer is the union of those within
 * `tie` of the best. What each component would add is kept for all of them, and
 * after a step only flows that may cross the new one are looked at again (the
 * paper's joint likelihood exploration).
 *
 * All flows of a known path count as one sum; of those between the same two
 * switches, whose path is not known, the sizes are gone through once for each
 * number of paths that a component can be on.
 *
 * Parameters that are 0 are those of the telemetry at hand:
 *
 *	            p_bad  p_good   prior
 *	INT         .003   .0002    -15
 *	A2+P        .002   .0003    -15     with A1 or without
 *	P           .006   .0003     -5     with A1 or without
 *	A2          .007   .0003    -35     with A1 or without (DEPARTS: those
 *	                                    of A2 alone; there are none for A1+A2)
 *	A1          .0005  .000175   -4
 *
 * Scores are what a component added when it joined. A flow is blamed on the
 * first to have joined that most of its paths cross.
 *
 * Cost   O(rows + lengths of paths) and, a step, O(rows over the component).
 * Paper  Flock (CoNEXT'23); its released code searches with a beam of 50.
 */
#ifndef ALGOS_RIVALS_FLOCK_H
#define ALGOS_RIVALS_FLOCK_H

#include "algos/algo.h"

struct algo_flock_params {
	double p_bad, p_good, prior; /* prior: natural logarithm, below 0 */
	uint32_t switches;           /* 1: they may fail, too */
	uint32_t beam;
	double tie; /* nats */
};

extern const struct algo_ops algo_flock;

#endif
