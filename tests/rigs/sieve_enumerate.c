/* tests/rigs/sieve_enumerate.c -- chances of links from all sets of up to two.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/sieve_enumerate.h"

#include "tests/test.h"

static void enumerate_pass(struct sieve_search *s)
{
	if (s->model.choice.on)
		assert_ok(
		    sieve_choice_pass(&s->model, s->prior.mean, test_err()));
}

/* Bayes factors of A, by hazard. */
static void enumerate_one(struct sieve_search *s, topo_link a,
    double one[SIEVE_GRID])
{
	const struct sieve_prior *p = &s->prior;
	double best = -INFINITY, healthy = 0;
	enumerate_pass(s);
	sieve_model_curve(&s->model, a, one);
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		best = fmax(best, one[g] + p->healthy[g]);
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		healthy += exp(one[g] + p->healthy[g] - best);
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		one[g] = p->flat[g] * exp(one[g] - best) / healthy;
}

void sieve_enumerate(struct sieve_search *s, double chance[])
{
	struct sieve_model *m = &s->model;
	const uint32_t n = m->topo->n_links;
	const double n_parts = (double)n + m->topo->n_switches,
		     odds_1 = 1 / (s->thin * (n_parts + s->rare)),
		     odds_2 = odds_1 * 2 / (s->thin * (n_parts - 1 + s->rare));
	double all = 1, one[SIEVE_GRID], ell[SIEVE_GRID];
	sieve_prior_begin(&s->prior, m, s->prior.mean);
	sieve_model_level(m, s->prior.mean);
	sieve_model_settle(m);
	memset(chance, 0, n * sizeof(*chance));
	for (topo_link a = 0; a < n; a++) {
		enumerate_one(s, a, one);
		for (unsigned g = 0; g < SIEVE_GRID; g++) {
			chance[a] += odds_1 * one[g];
			all += odds_1 * one[g];
			if (one[g] < 1e-6)
				continue;
			sieve_model_set(m, a, m->x[g]);
			enumerate_pass(s);
			/* Each pair is come to from both sides, with the same
			 * result but for what healthy hazards are taken as. */
			for (topo_link b = 0; b < n; b++) {
				if (b == a)
					continue;
				sieve_model_curve(m, b, ell);
				const double two = odds_2 / 2 * one[g] *
				    exp(sieve_prior_weigh(&s->prior, ell)
					    .ln_factor);
				chance[a] += two;
				chance[b] += two;
				all += two;
			}
		}
		sieve_model_set(m, a, s->prior.mean);
	}
	for (topo_link l = 0; l < n; l++)
		chance[l] /= all;
}
