/* models/scene/noise.c -- small drop rates of links without a fault.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/scene/noise.h"

#include <math.h>
#include <stddef.h>

#include "models/dist.h"

static const char *const noise_per_names[] = {"link", "flow", NULL};

const struct sim_field scene_noise_fields[] = {
    {"rate", SIM_F_DIST, offsetof(struct scene_noise_params, rate), .min = 0,
	.max = 1, .unit = "1", .def = "{uniform: [0, 1e-6]}",
	.doc = "drop rate of links without a fault, drawn as `per` says"},
    {"scale", SIM_F_F64, offsetof(struct scene_noise_params, scale), .min = 0,
	.max = 1e12, .unit = "1", .def = "1",
	.doc = "factor on that rate; what exceeds 1 is 1", .when = "rate!=0"},
    {"per", SIM_F_ENUM, offsetof(struct scene_noise_params, per),
	.names = noise_per_names, .def = "link",
	.doc = "a rate for each link and epoch, or for each flow and hop, as "
	       "in 007's released simulator",
	.when = "rate!=0"},
    {0},
};

void scene_noise_init(struct scene_noise *n,
    const struct scene_noise_params *params, const struct sim_seed *where)
{
	n->rate = params->rate;
	n->per = params->per;
	/* The ends are scaled and not the draws: a rate above 1 is cut by
	 * moving the end of the range, so with a large scale rates are spread
	 * over [.., 1]. */
	n->rate.a = fmin(1, params->rate.a * params->scale);
	n->rate.b = fmin(1, params->rate.b * params->scale);
	sim_rng_key(n->key, where, SIM_STREAM_NOISE);
	n->run = where->run;
	n->point = where->point;
}

/* Four links share a block of random numbers, one word each, and the counter is
 * the number of the block: any link's rate can be had alone. Flows have blocks
 * of their own, since the first word is 0 for links alone. */
static void block_of(const struct scene_noise *n, topo_link link,
    uint32_t word[4])
{
	const uint32_t ctr[4] = {0, link / 4, n->run, n->point};
	sim_philox_block(n->key, ctr, word);
}

static double rate_of(const struct scene_noise *n, uint32_t word)
{
	/* The middle of the word's interval, so that the mean over all words is
	 * exactly 1/2. */
	return dist_at(&n->rate, (word + 0.5) * 0x1p-32);
}

/* What a rate is drawn anew for each packet comes to: a single packet is lost
 * with probability E[r]. */
static double noise_mean(const struct sim_dist *d)
{
	switch (d->kind) {
	case SIM_UNIFORM:
		return d->a + (d->b - d->a) / 2;
	case SIM_LOG_UNIFORM:
		return d->a < d->b ? (d->b - d->a) / log(d->b / d->a) : d->a;
	case SIM_FIXED:
		break;
	}
	return d->a;
}

double scene_noise_rate(const struct scene_noise *n, topo_link link)
{
	uint32_t word[4];
	if (n->rate.kind == SIM_FIXED)
		return n->rate.a;
	if (n->per == SCENE_NOISE_PER_FLOW)
		return noise_mean(&n->rate);
	block_of(n, link, word);
	return rate_of(n, word[link % 4]);
}

void scene_noise_rates(const struct scene_noise *n, topo_link first,
    size_t n_links, double rate[])
{
	uint32_t word[4];
	for (size_t i = 0; i < n_links; i++) {
		topo_link link = first + (topo_link)i;
		if (n->per == SCENE_NOISE_PER_FLOW) {
			rate[i] = noise_mean(&n->rate);
			continue;
		}
		if (i == 0 || link % 4 == 0)
			block_of(n, link, word);
		rate[i] = rate_of(n, word[link % 4]);
	}
}

void scene_noise_of_flow(const struct scene_noise *n, uint64_t flow,
    const topo_link path[], unsigned n_hops, double rate[])
{
	/* Four hops share a block, and no path has more than 16. */
	const uint32_t first =
	    flow < SCENE_NOISE_BACK ? 1 : 1 + TOPO_MAX_HOPS / 4;
	uint32_t word[4];
	for (unsigned i = 0; i < n_hops; i++) {
		if (n->per == SCENE_NOISE_PER_LINK) {
			rate[i] = scene_noise_rate(n, path[i]);
			continue;
		}
		const uint32_t ctr[4] = {first + i / 4, (uint32_t)flow, n->run,
		    n->point};
		if (i % 4 == 0)
			sim_philox_block(n->key, ctr, word);
		rate[i] = rate_of(n, word[i % 4]);
	}
}

void scene_noise_bounds(const struct scene_noise *n, size_t n_links,
    double rate[])
{
	if (n->per == SCENE_NOISE_PER_LINK)
		scene_noise_rates(n, 0, n_links, rate);
	else
		for (size_t i = 0; i < n_links; i++)
			rate[i] = n->rate.b;
}
