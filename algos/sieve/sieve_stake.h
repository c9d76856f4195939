/* algos/sieve/sieve_stake.h -- what speaks for one or two links together.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. The evidence that some links failed, and no other but those
 * that were accepted, is
 *
 *	ln Z = ln L + sum of ln slab + n / 2 ln 2 pi - 1/2 ln det K + ln odds
 *
 * at the hazards that make the likelihood L of all rows greatest, the slab being
 * its density by the logarithm of a hazard, and K minus the second derivatives of
 * ln L by those logarithms (Laplace): for a link that alone loses n packets that is
 * Stirling's formula for Gamma(n), right to 1 / 12 n. Bayes factors of links one
 * by one do not add up to that: each takes the others at one hazard, and a link that
 * lost much is narrower than the grid's points are apart, so that some nats are
 * missing, of many.
 */
#ifndef ALGOS_SIEVE_SIEVE_STAKE_H
#define ALGOS_SIEVE_SIEVE_STAKE_H

#include "algos/sieve/sieve_gain.h"

struct sieve_search;

/* Links that failed together, their hazards, and what speaks for them. */
struct sieve_stake {
	topo_link link[SIEVE_PAIR];
	double hazard[SIEVE_PAIR];
	uint32_t n;
	double evidence; /* ln Z, but for a constant of all that else failed */
};

/* Hazards, from those that it has, and evidence of X, none of whose links may be
 * accepted; where choices are what is seen the last pass is to be of the present
 * hazards. -infinity where a healthy link's hazard is likelier for one of them, or
 * where the evidence is below LEAST. Errors SIM_ENOMEM. Cost: what they have is read
 * once and asked up to some thirty times (sieve_gain.h). */
int sieve_stake_weigh(struct sieve_search *s, struct sieve_stake *x,
    double least, struct sim_err *e);

#endif
