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

void algo_sketch_tell(uint32_t n, double conf, struct algo_sketch_told *t)
{
	double p[OBS_SKETCH_BITS + 1], below = 0, tail = (1 - conf) / 2;
	int lo = -1, hi = -1;
	algo_sketch_law(n, p);
	*t = (struct algo_sketch_told){.full = p[OBS_SKETCH_BITS]};
	for (int k = 0; k <= OBS_SKETCH_BITS; k++) {
		below += p[k];
		t->mean += p[k] * algo_sketch_estimate((uint32_t)k);
		/* Sums of a law are 1 to some digits. */
		if (lo < 0 && below > tail)
			lo = k;
		if (hi < 0 && below >= 1 - tail - 1e-12)
			hi = k;
	}
	t->lo = algo_sketch_estimate((uint32_t)lo);
	t->hi = algo_sketch_estimate((uint32_t)hi);
}
