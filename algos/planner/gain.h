/* algos/planner/gain.h -- what a probe is expected to tell of one link.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef ALGOS_PLANNER_GAIN_H
#define ALGOS_PLANNER_GAIN_H

/* Entropy in nats of a link that failed with that CHANCE. */
double algo_gain_entropy(double chance);

/* How much of that the number of lost packets takes away, in the mean over what
 * it may be: Poisson with mean FAILED if the link did, HEALTHY if not. The sum
 * over numbers is written out, to all but 1e-9 of either law. Above a mean of
 * 1000 both are scaled to that, which makes the gain a lower bound.
 * Domain  CHANCE from 0 to 1, FAILED and HEALTHY >= 0, FAILED finite and not 0.
 * Cost O(FAILED + HEALTHY). */
double algo_gain(double chance, double healthy, double failed);

#endif
