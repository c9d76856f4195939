/* tests/sieve_enumerate.c -- chances of links from all sets of up to two.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/sieve_enumerate.h"

#include "tests/test.h"

void sieve_enumerate(struct sieve_search *s, double chance[])
{
	struct sieve_model *m = &s->model;
	const uint32_t n = m->topo->n_links;
	double *pair = calloc((size_t)n * n, sizeof(*pair)), all = 1;
	double ell[SIEVE_GRID], one[SIEVE_GRID];
	const double n_parts = (double)n + m->topo->n_switches;
	const double odds_1 = 1 / (s->thin * n_parts);
	const double odds_2 = odds_1 * 2 / (s->thin * (n_parts - 1));
	assert_non_null(pair);
	sieve_prior_begin(&s->prior, m, s->prior.mean);
	sieve_model_level(m, s->prior.mean);
	sieve_model_settle(m);
	memset(chance, 0, n * sizeof(*chance));
	for (topo_link a = 0; a < n; a++) {
		const struct sieve_prior *p = &s->prior;
		double best = -INFINITY, healthy = 0;
		sieve_model_curve(m, a, one);
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			best = fmax(best, one[g] + p->healthy[g]);
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			healthy += exp(one[g] + p->healthy[g] - best);
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			one[g] = p->flat[g] * exp(one[g] - best) / healthy;
		for (unsigned g = 0; g < SIEVE_GRID; g++) {
			chance[a] += odds_1 * one[g];
			if (one[g] == 0)
				continue;
			sieve_model_set(m, a, m->x[g]);
			for (topo_link b = 0; b < n; b++) {
				if (b == a)
					continue;
				sieve_model_curve(m, b, ell);
				pair[(size_t)a * n + b] += odds_2 * one[g] *
				    exp(sieve_prior_weigh(p, ell).ln_factor);
			}
		}
		sieve_model_set(m, a, s->prior.mean);
		all += chance[a];
	}
	/* Each pair was come to from both sides, with the same result but for
	 * what healthy hazards are taken as. */
	for (topo_link a = 0; a < n; a++)
		for (topo_link b = 0; b < n; b++) {
			const double x = (pair[(size_t)a * n + b] +
					     pair[(size_t)b * n + a]) /
			    2;
			if (a < b)
				all += x;
			chance[a] += x;
		}
	for (topo_link a = 0; a < n; a++)
		chance[a] /= all;
	free(pair);
}
