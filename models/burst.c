/* models/burst.c -- queues of a link that come and go.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/burst.h"

#include <math.h>

#include "models/dist.h"
#include "sim/rng.h"

double burst_us(const struct burst *b, sim_ns t)
{
	const uint32_t episode = (uint32_t)(t / b->episode_ns);
	const uint32_t ctr[4] = {episode, b->name[0], b->name[1], b->name[2]};
	uint32_t out[4];
	sim_philox_block(b->key, ctr, out);
	if (out[0] * 0x1p-32 >= b->duty)
		return 0;
	/* From 0 over 1 in the middle to 0 again. */
	const double in = (double)(t % b->episode_ns) / (double)b->episode_ns;
	return dist_at(&b->depth, out[1] * 0x1p-32) * (1 - fabs(2 * in - 1));
}

/* A triangle is half as high on average. */
double burst_mean_us(const struct burst *b)
{
	const struct sim_dist *d = &b->depth;
	double mean = (d->a + d->b) / 2;
	if (d->kind == SIM_LOG_UNIFORM && d->b > d->a)
		mean = (d->b - d->a) / log(d->b / d->a);
	return b->duty * mean / 2;
}
