/* models/scene/scene.h -- one epoch before it runs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_SCENE_SCENE_H
#define MODELS_SCENE_SCENE_H

#include "models/fault/fault.h"
#include "models/scene/congestion.h"
#include "models/scene/latency.h"
#include "models/scene/loss.h"
#include "models/scene/noise.h"
#include "models/scene/samples.h"
#include "models/scene/traffic.h"
#include "models/truth.h"
#include "topo/topo.h"

/* What a spec says of an epoch. */
struct scene_params {
	struct scene_traffic_params traffic;
	struct scene_noise_params noise;
	struct scene_latency_params latency;
	struct scene_congestion_params congestion;
	struct scene_samples_params samples; /* where somebody asks for them */
	size_t n_groups;
	struct fault_params *group; /* owned by the spec */
};

/* Zeroed is empty. The bulk data planes (models/bulk/) read a scene; they add
 * each lossy flow to a window and its drops to the losses beside that
 * (losses.h). Not copyable once drawn, as `loss` points at `truth`. */
struct scene {
	const struct topo *topo;
	struct sim_seed where;
	uint32_t ecmp_seed;
	struct scene_traffic traffic;
	struct truth truth;
	struct scene_loss loss; /* points at truth */
	struct scene_latency_params latency;
	struct scene_congestion congestion; /* of `topo` */
};

/* Draw the scene of one epoch, reusing memory. S keeps TOPO. Errors those of
 * scene_traffic_draw() and fault_draw(). */
int scene_draw(struct scene *s, const struct topo *topo,
    const struct scene_params *params, const struct sim_seed *where,
    struct sim_err *e);
void scene_free(struct scene *s);

#endif
