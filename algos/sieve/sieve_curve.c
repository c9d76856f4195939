/* algos/sieve/sieve_curve.c -- what a window says of one link's hazard.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "algos/sieve/sieve_model.h"

/* 1 / (exp(x) - 1); of small X by a series, to 1e-13. */
static inline double sieve_curve_ic(double x)
{
	static const double SMALL = .05;
	double y = 1 + x / 8;
	if (x > SMALL)
		return 1 / expm1(x);
	y = 1 + x / 7 * y;
	y = 1 + x / 6 * y;
	y = 1 + x / 5 * y;
	y = 1 + x / 4 * y;
	y = 1 + x / 3 * y;
	return 1 / (x * (1 + x / 2 * y));
}

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
		const double rest = m->sum[i] - own;
		if (r == 0 || sieve_ways_is_touched(m, i))
			continue;
		f[n++] =
		    (struct sieve_factor){sieve_curve_ic(rest > SIEVE_NO_REST
						  ? rest
						  : SIEVE_NO_REST),
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
