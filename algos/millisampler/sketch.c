/* algos/millisampler/sketch.c -- how many connections a sketch stands for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/sketch.h"

#include <assert.h>
#include <math.h>

double algo_sketch_estimate(uint32_t n_set)
{
	const double bits = OBS_SKETCH_BITS;
	assert(n_set <= OBS_SKETCH_BITS);
	return bits * log(bits / (n_set < bits ? bits - n_set : 1));
}

uint32_t algo_sketch_conns(const struct obs_sketch *s)
{
	return (uint32_t)lrint(algo_sketch_estimate(obs_sketch_count(s)));
}

/* One connection more hits a bit that is set with probability k / 128. From
 * above, so that each term is used before it is replaced. */
void algo_sketch_law(uint32_t n, double p[OBS_SKETCH_BITS + 1])
{
	p[0] = 1;
	for (uint32_t k = 1; k <= OBS_SKETCH_BITS; k++)
		p[k] = 0;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = OBS_SKETCH_BITS; k > 0; k--)
			p[k] =
			    (p[k] * k + p[k - 1] * (OBS_SKETCH_BITS + 1 - k)) /
			    OBS_SKETCH_BITS;
		p[0] = 0;
	}
}
