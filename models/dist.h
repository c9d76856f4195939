/* models/dist.h -- draws from the distributions that a spec can name.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_DIST_H
#define MODELS_DIST_H

#include <math.h>

#include "sim/field.h"
#include "sim/rng.h"

/* The value at quantile U in [0, 1), in [a, b] also after rounding. */
static inline double dist_at(const struct sim_dist *d, double u)
{
	switch (d->kind) {
	case SIM_UNIFORM:
		return d->a + (d->b - d->a) * u;
	case SIM_LOG_UNIFORM:
		return fmin(d->a * pow(d->b / d->a, u), d->b);
	case SIM_FIXED:
		break;
	}
	return d->a;
}

/* A whole number: uniform over a, a + 1, ..., b. */
static inline uint32_t dist_whole(const struct sim_dist *d, struct sim_rng *r)
{
	uint32_t a = (uint32_t)d->a, b = (uint32_t)d->b;
	if (d->kind == SIM_UNIFORM)
		return a + sim_rng_below(r, b - a + 1);
	return (uint32_t)dist_at(d, sim_rng_u01(r));
}

static inline double dist_mean(const struct sim_dist *d)
{
	switch (d->kind) {
	case SIM_UNIFORM:
		return (d->a + d->b) / 2;
	case SIM_LOG_UNIFORM:
		return d->b > d->a ? (d->b - d->a) / log(d->b / d->a) : d->a;
	case SIM_FIXED:
		break;
	}
	return d->a;
}

#endif
