/* models/scene/scene.h -- one epoch before it runs: network, traffic, faults, noise.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_SCENE_SCENE_H
#define MODELS_SCENE_SCENE_H

#include "models/fault/fault.h"
#include "models/scene/latency.h"
#include "models/scene/loss.h"
#include "models/scene/noise.h"
#include "models/scene/traffic.h"
#include "models/truth.h"
#include "topo/topo.h"

/* What a spec says of an epoch. */
struct model_scene_params {
	struct model_traffic_params traffic;
	struct model_noise_params noise;
	struct model_latency_params latency;
	size_t n_groups;
	struct model_fault_params *group; /* owned by the spec */
};

/* Zeroed is empty. The bulk data planes (models/bulk/) read a
 * scene; they add each lossy flow to a window and its drops to the losses
 * beside that (losses.h). */
struct model_scene {
	const struct topo *topo;
	struct sim_seed where;
	uint32_t ecmp_seed;
	struct model_traffic traffic;
	struct truth truth;
	struct model_loss loss; /* points at truth */
	struct model_latency_params latency;
};

/* Draw the scene of one epoch, reusing memory. S keeps TOPO. Errors those of
 * model_traffic_draw() and model_fault_draw(). */
int model_scene_draw(struct model_scene *s, const struct topo *topo,
    const struct model_scene_params *params, const struct sim_seed *where,
    struct sim_err *e);
void model_scene_free(struct model_scene *s);

#endif
