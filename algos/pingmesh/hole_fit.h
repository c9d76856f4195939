/* algos/pingmesh/hole_fit.h -- hazards of causes, by greatest likelihood.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs of servers are black-holed or not. Causes stand over pairs: a ToR over
 * those of its servers, the T1s of a pod over those that leave a ToR of it. A
 * cause with hazard h spares a pair with probability exp(-h), each cause by
 * itself, and an innocent background b does so with exp(-b). Of the pairs that
 * are alike (of the same causes: a cell) n are black-holed, each with
 *
 *	1 - exp(-H),   H = b + sum of h over the causes over it,
 *
 * and of all pairs that a cause stands over G were spared. The logarithm of the
 * likelihood is, but for a constant,
 *
 *	sum over cells of n log(1 - exp(-H))  -  sum over causes of h G,
 *
 * which is concave in the hazards. So there is one greatest value, whatever the
 * order of causes and without a search of their subsets, and a bound tells how
 * far it is: by concavity no hazards within the box 0 <= h <= u = log(1 + B /
 * G), B the black-holed pairs of the cause, gain more than
 *
 *	sum over causes of max(g (u - h), -g h),   g the slope at h,
 *
 * and the best hazards are in that box, as beyond it the cause's slope is below
 * 0 whatever the others. Steps are those of expectation maximisation for a sum
 * of Poisson counts seen only as "none" or "some": they never lose.
 *
 * The evidence for a cause is the logarithm of the likelihood that is lost when
 * its hazard is 0 and all others take what they can. If none but a background
 * of at most b black-holed its n pairs, evidence of x or more has a probability
 * of exp(-x) at most (Chernoff): with n of N pairs it is N times the divergence
 * of n / N from b. Two causes that explain the same pairs alike have no
 * evidence each.
 */
#ifndef ALGOS_PINGMESH_HOLE_FIT_H
#define ALGOS_PINGMESH_HOLE_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

enum { ALGO_HOLE_CAUSES = 5 };

/* Black-holed pairs of the same causes. */
struct algo_hole_cell {
	uint32_t cause[ALGO_HOLE_CAUSES]; /* different ones */
	uint32_t n_causes;
	double n, background;
};

struct algo_hole_fit {
	uint32_t n_causes;
	size_t n_cells, cap_cells;
	struct algo_hole_cell *cell; /* to be filled; backgrounds above 0 */
	double *n_pairs; /* [n_causes] to be filled: pairs that it stands over;
			    more than those in cells, so that all is finite */
	uint8_t *barred; /* [n_causes] 1: its hazard is 0 */
	double *hazard;  /* [n_causes] the best */
	double log_l;    /* logarithm of the likelihood there */

	/* Workings, [n_causes]. */
	double *n_bad, *most, *trial, *sum;
};

/* F has no cells, no pairs and nothing barred. Errors SIM_ENOMEM; F is then
 * empty and needs no closing. */
int algo_hole_fit_open(struct algo_hole_fit *f, uint32_t n_causes,
    struct sim_err *e);
void algo_hole_fit_close(struct algo_hole_fit *f);

/* Find the hazards. They are within 0.01 of the greatest logarithm.
 * Cost O(cells) a step, mostly tens of steps. */
void algo_hole_fit(struct algo_hole_fit *f);

/* The evidence for CAUSE, after algo_hole_fit(): never too large, and by at
 * most 0.02 too small. As soon as it is known on which side of
 * ENOUGH it is, anything on that side; NAN: no side will do. 0 when 20,000
 * steps do not tell.
 * Cost as algo_hole_fit(), less where the answer is clear. */
double algo_hole_evidence(struct algo_hole_fit *f, uint32_t cause,
    double enough);

#endif
