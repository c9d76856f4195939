/* sim/slope.c -- slopes of runs, and whether they have a sign.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/slope.h"

#include <math.h>

double sim_slope(const double x[], const double y[], size_t n)
{
	double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
	for (size_t i = 0; i < n; i++) {
		mean_x += x[i] / (double)n;
		mean_y += y[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		xx += (x[i] - mean_x) * (x[i] - mean_x);
		xy += (x[i] - mean_x) * (y[i] - mean_y);
	}
	return xx > 0 ? xy / xx : NAN;
}

/* How many of the choices of signs of B[from..n), added to SUM, end at least
 * BOUND away from 0. Sums are made anew along each branch, so that what is
 * rounded does not pile up. */
static uint64_t signs_beyond(const double b[], size_t from, size_t n,
    double sum, double bound)
{
	if (from == n)
		return fabs(sum) >= bound;
	return signs_beyond(b, from + 1, n, sum + b[from], bound) +
	    signs_beyond(b, from + 1, n, sum - b[from], bound);
}

static double signs_drawn(const double b[], size_t n, double bound,
    uint32_t entity)
{
	const struct sim_seed where = {0};
	struct sim_rng rng;
	uint32_t hits = 0;
	sim_rng_init(&rng, &where, SIM_STREAM_SIGNS, entity);
	for (uint32_t k = 0; k < SIM_SIGNS_DRAWS; k++) {
		uint32_t bits = 0;
		double sum = 0;
		for (size_t i = 0; i < n; i++, bits >>= 1) {
			if (i % 32 == 0)
				bits = sim_rng_u32(&rng);
			sum += bits & 1 ? b[i] : -b[i];
		}
		hits += fabs(sum) >= bound;
	}
	return (1.0 + hits) / (1.0 + SIM_SIGNS_DRAWS);
}

double sim_signs_p(const double b[], size_t n, uint32_t entity)
{
	double sum = 0, all = 0;
	for (size_t i = 0; i < n; i++) {
		sum += b[i];
		all += fabs(b[i]);
	}
	const double bound = fabs(sum) - 1e-12 * all;
	if (n == 0)
		return NAN;
	if (n > SIM_SIGNS_EXACT)
		return signs_drawn(b, n, bound, entity);
	/* All signs turned make the same distance, so one of them may stand. */
	return ldexp((double)signs_beyond(b, 1, n, b[0], bound), 1 - (int)n);
}

double sim_signs_least(size_t n)
{
	return n > SIM_SIGNS_EXACT ? 1 / (1.0 + SIM_SIGNS_DRAWS)
				   : ldexp(1, n > 0 ? 1 - (int)n : 0);
}
