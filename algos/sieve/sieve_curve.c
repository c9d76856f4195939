/* algos/sieve/sieve_curve.c -- what a window says of one link's hazard.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_model.h"

/* 1 - exp(-(rest + x)) is c (1 + p ic), c being 1 - exp(-rest) and ic (1 - c) /
 * c: of a row the rest counts in ic alone. */
void sieve_model_curve(const struct sieve_model *m, topo_link link,
    double ell[SIEVE_GRID])
{
	enum { ROWS = 64 };
	struct sieve_factor f[ROWS];
	size_t n = 0;
	sieve_choice_make(m, link);
	const double *h = sieve_model_exposure(m, link), own = m->hazard[link];
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		ell[g] = 0;
	sieve_lanes_add(m->x, -m->kept[link], ell);
	if (h)
		sieve_lanes_add(h, -1, ell);
	for (uint32_t k = m->off[link]; k < m->off[link + 1]; k++) {
		const uint32_t i = m->over[k], r = m->lossy[i].n_lost;
		if (r == 0 || sieve_ways_is_touched(m, i))
			continue;
		f[n++] =
		    (struct sieve_factor){sieve_ic(sieve_max(m->sum[i] - own,
					      SIEVE_NO_REST)),
			r};
		if (n == ROWS) {
			sieve_lanes_factors(m->p, f, n, ell);
			n = 0;
		}
	}
	if (n > 0)
		sieve_lanes_factors(m->p, f, n, ell);
	if (m->n_dark > 0)
		sieve_ways_curve(m, link, ell);
}
