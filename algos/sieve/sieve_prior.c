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
	double most = -INFINITY, sum = 0, n = 0;
	p->m = m;
	p->mean = mean;
	p->n_near = 0;
	/* Of the logarithm of a hazard, since the grid is even in that. */
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		p->healthy[g] = SIEVE_SHAPE * (log(m->x[g]) - m->x[g] / mean);
		most = fmax(most, p->healthy[g]);
		p->near[g] = 0;
		p->flat[g] = m->x[g] >= fmax(mean, p->least);
		n += p->flat[g];
	}
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		sum += exp(p->healthy[g] - most);
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		p->healthy[g] -= most + log(sum);
		p->flat[g] /= n;
	}
}

void sieve_prior_count(struct sieve_prior *p, double hazard, double sign)
{
	double kernel[SIEVE_GRID], sum = 0;
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		const double nats = log(p->m->x[g] / hazard);
		kernel[g] = p->m->x[g] < p->least ? 0 : exp(-0.5 * nats * nats);
		sum += kernel[g];
	}
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		p->near[g] = fmax(0, p->near[g] + sign * kernel[g] / sum);
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
