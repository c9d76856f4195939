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
    {"times", SIM_F_F64, offsetof(struct scene_noise_params, times), .min = 0,
	.max = 1e12, .unit = "1", .def = "1", .when = "rate!=0",
	.doc = "factor on the rates of `classes` alone: a noisy tier"},
    {"classes", SIM_F_SET, offsetof(struct scene_noise_params, classes),
	.names = topo_class_names, .def = "[tor-t1, t1-tor]",
	.when = "times!=1", .doc = "links whose rates are so many times"},
    {0},
};

void scene_noise_init(struct scene_noise *n,
    const struct scene_noise_params *params, const struct topo *topo,
    const struct sim_seed *where)
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
	n->times = params->times;
	n->classes = params->classes;
	n->topo = params->times == 1 || params->classes == 0 ? NULL : topo;
}

int scene_noise_has(uint32_t classes, enum topo_link_class class)
{
	const int between = class != TOPO_HOST_TOR && class != TOPO_TOR_HOST;
	return (classes >> class & 1) ||
	    (between && classes >> TOPO_FABRIC & 1);
}

/* What RATE comes to for LINK. */
static inline double noise_of(const struct scene_noise *n, topo_link link,
    double rate)
{
	if (!n->topo ||
	    !scene_noise_has(n->classes, topo_class_of(n->topo, link)))
		return rate;
	return fmin(1, n->times * rate);
}

double scene_noise_most(const struct scene_noise *n)
{
	return n->topo ? fmin(1, fmax(1, n->times) * n->rate.b) : n->rate.b;
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

static double rate_of(const struct scene_noise *n, topo_link link,
    uint32_t word)
{
	/* The middle of the word's interval, so that the mean over all words is
	 * exactly 1/2. */
	return noise_of(n, link, dist_at(&n->rate, (word + 0.5) * 0x1p-32));
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

/* Specs keep rates below 1 / times, so that none is cut, and the mean is so many
 * times the mean. */
static double noise_of_mean(const struct scene_noise *n, topo_link link)
{
	return noise_of(n, link, noise_mean(&n->rate));
}

double scene_noise_rate(const struct scene_noise *n, topo_link link)
{
	uint32_t word[4];
	if (n->rate.kind == SIM_FIXED)
		return noise_of(n, link, n->rate.a);
	if (n->per == SCENE_NOISE_PER_FLOW)
		return noise_of_mean(n, link);
	block_of(n, link, word);
	return rate_of(n, link, word[link % 4]);
}

void scene_noise_rates(const struct scene_noise *n, topo_link first,
    size_t n_links, double rate[])
{
	uint32_t word[4];
	for (size_t i = 0; i < n_links; i++) {
		topo_link link = first + (topo_link)i;
		if (n->per == SCENE_NOISE_PER_FLOW) {
			rate[i] = noise_of_mean(n, link);
			continue;
		}
		if (i == 0 || link % 4 == 0)
			block_of(n, link, word);
		rate[i] = rate_of(n, link, word[link % 4]);
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
		rate[i] = rate_of(n, path[i], word[i % 4]);
	}
}

void scene_noise_bounds(const struct scene_noise *n, size_t n_links,
    double rate[])
{
	if (n->per == SCENE_NOISE_PER_LINK)
		scene_noise_rates(n, 0, n_links, rate);
	else
		for (topo_link l = 0; l < n_links; l++)
			rate[l] = noise_of(n, l, n->rate.b);
}
