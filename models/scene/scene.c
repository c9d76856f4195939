/* models/scene/scene.c -- one epoch before it runs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/scene/scene.h"

int scene_draw(struct scene *s, const struct topo *topo,
    const struct scene_params *params, const struct sim_seed *where,
    struct sim_err *e)
{
	struct sim_rng r;
	int rc;
	s->topo = topo;
	s->where = *where;
	/* The seed of the switches' hashes is drawn anew for each epoch, so
	 * that epochs do not share their collisions of flows on paths. */
	sim_rng_init(&r, where, SIM_STREAM_ECMP, 0);
	s->ecmp_seed = sim_rng_u32(&r);
	rc = scene_traffic_draw(&s->traffic, topo, &params->traffic, where, e);
	if (rc < 0)
		return sim_wrap(e, rc, "traffic");
	/* Arrays of the epoch before are reused. */
	truth_clear(&s->truth);
	rc = fault_draw(topo, params->group, params->n_groups, where, &s->truth,
	    e);
	if (rc < 0)
		return sim_wrap(e, rc, "faults");
	/* S points into itself from here on, so it must not be copied. */
	s->loss.truth = &s->truth;
	s->latency = params->latency;
	scene_congestion_init(&s->congestion, &params->congestion, topo, where);
	scene_noise_init(&s->loss.noise, &params->noise, topo, where);
	return 0;
}

void scene_free(struct scene *s)
{
	scene_traffic_free(&s->traffic);
	truth_free(&s->truth);
	*s = (struct scene){0};
}
