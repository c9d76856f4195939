/* algos/sieve/sieve_prior.h -- laws of hazards, of healthy links and failed ones.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Laws are weights of the points of a model's grid.
 */
#ifndef ALGOS_SIEVE_SIEVE_PRIOR_H
#define ALGOS_SIEVE_SIEVE_PRIOR_H

#include "algos/sieve/sieve_model.h"

struct sieve_prior {
	const struct sieve_model *m;
	double mean;                /* hazard of healthy links */
	double least;               /* of failed ones; 0: any above that */
	double healthy[SIEVE_GRID]; /* ln of weights */
	double flat[SIEVE_GRID];    /* weights: log-uniform above both */
	double near[SIEVE_GRID];    /* sum of kernels around what failed */
	double n_near;
};

/* Of a mean, and of no failure yet; P->least stays. */
void sieve_prior_begin(struct sieve_prior *p, const struct sieve_model *m,
    double mean);

/* Count a failure of that HAZARD in (SIGN 1), or out (-1). */
void sieve_prior_count(struct sieve_prior *p, double hazard, double sign);

/* What a curve says: ln of the Bayes factor of failed against healthy, and the
 * mean hazard if it failed. */
struct sieve_finding {
	double ln_factor, hazard;
};
struct sieve_finding sieve_prior_weigh(const struct sieve_prior *p,
    const double ell[SIEVE_GRID]);

#endif
