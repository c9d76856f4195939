/* models/scene/noise.h -- small drop rates of links without a fault.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A link's noise is a function of its id and the epoch's name: nothing is
 * stored, and one link's rate can be had without drawing the others'.
 */
#ifndef MODELS_SCENE_NOISE_H
#define MODELS_SCENE_NOISE_H

#include "sim/field.h"
#include "sim/rng.h"
#include "topo/ids.h"

/* As in a spec. The default is 007's: uniform on (0, 1e-6) (NSDI'18 §6). */
struct scene_noise_params {
	struct sim_dist rate; /* per packet and directed link */
	double scale;         /* times this, for sweeps; at most 1 in all */
};
extern const struct sim_field scene_noise_fields[];

struct scene_noise {
	struct sim_dist rate;
	uint32_t key[2], run, point;
};

void scene_noise_init(struct scene_noise *n,
    const struct scene_noise_params *params, const struct sim_seed *where);

/* Drop rate of one link, in [rate.a, rate.b]. Cost one Philox block. */
double scene_noise_rate(const struct scene_noise *n, topo_link link);

/* Rates of links FIRST .. FIRST + N - 1; equal to the single ones. */
void scene_noise_rates(const struct scene_noise *n, topo_link first,
    size_t n_links, double rate[]);

#endif
