/* algos/sieve/sieve_prior.c -- laws of hazards, of healthy links and failed ones.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_prior.h"

#include <math.h>

/* Of the Gamma law of healthy hazards; of 2 to 4 all do as well. */
static const double SIEVE_SHAPE = 2;

void sieve_prior_begin(struct sieve_prior *p, const struct sieve_model *m,
    double mean)
{
	double w[SIEVE_GRID], n = 0;
	p->m = m;
	p->mean = mean;
	p->n_near = 0;
	/* Of the logarithm of a hazard, since the grid is even in that. */
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		p->healthy[g] = SIEVE_SHAPE * (m->ln_x[g] - m->x[g] / mean);
		p->near[g] = 0;
		p->flat[g] = m->x[g] >= fmax(mean, p->least);
		n += p->flat[g];
	}
	const double most = sieve_lanes_scale(p->healthy, p->near, w),
		     all = most + log(sieve_lanes_sum(w));
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		p->healthy[g] -= all;
		p->flat[g] /= n;
	}
}

void sieve_prior_count(struct sieve_prior *p, double hazard, double sign)
{
	double kernel[SIEVE_GRID], w[SIEVE_GRID];
	const double ln_hazard = log(hazard);
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		const double nats = p->m->ln_x[g] - ln_hazard;
		w[g] = -0.5 * nats * nats;
	}
	sieve_lanes_exp(w, kernel);
	for (unsigned g = 0; g < SIEVE_GRID && p->m->x[g] < p->least; g++)
		kernel[g] = 0;
	const double each = sign / sieve_lanes_sum(kernel);
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		const double near = p->near[g] + each * kernel[g];
		p->near[g] = near > 0 ? near : 0;
	}
	p->n_near += sign;
}

/* Both sums have a maximum of their own taken out: of a link that loses much the
 * healthy one would be nothing beside the other. */
struct sieve_finding sieve_prior_weigh(const struct sieve_prior *p,
    const double ell[SIEVE_GRID])
{
	static const double nothing[SIEVE_GRID];
	double w[SIEVE_GRID];
	const double best = sieve_lanes_scale(ell, p->healthy, w),
		     healthy = sieve_lanes_sum(w),
		     most = sieve_lanes_scale(ell, nothing, w);
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		w[g] *= p->flat[g] + p->near[g];
	const double failed = sieve_lanes_sum(w),
		     hazard = sieve_lanes_dot(w, p->m->x);
	/* Where the whole slab is nothing beside the peak below it. */
	if (failed <= 0)
		return (struct sieve_finding){-INFINITY, p->mean};
	return (struct sieve_finding){log(failed / (1 + p->n_near)) + most -
		log(healthy) - best,
	    hazard / failed};
}
