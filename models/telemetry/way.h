/* models/telemetry/way.h -- what packets of a flow lose on their way.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Most links lose the same all the time, so that their hazards are looked up once
 * an epoch. Three things ask for a time and a header, and cost nothing where no
 * scene has them:
 *
 *	faults that begin or end in the epoch    hold for flows that begin meanwhile:
 *	                                         all packets of a flow pass at once
 *	congestion (models/scene/congestion.h)   a flow meets each port as it is when
 *	                                         the flow begins
 *	black holes (models/blackhole_rule.h)    a flow whose header one takes loses all
 *	                                         that comes so far, at the link into the
 *	                                         switch
 *
 * as on the bulk plane (models/bulk/bulk.h). A flow begins at a uniform time of the
 * epoch. Probes are not of one moment: each packet has a uniform time and a port of
 * its own. So, with a fault of rate p on a link for a share f of the epoch, a flow of
 * n packets over it loses something with probability f (1 - (1 - p)^n), and n probe
 * packets lose Binomial(n, f p).
 */
#ifndef MODELS_TELEMETRY_WAY_H
#define MODELS_TELEMETRY_WAY_H

#include "models/scene/scene.h"

/* Links of an epoch. Zeroed is empty. */
struct telemetry_links {
	const struct scene *scene;
	double *hazard; /* [links] that holds all the time */
	uint8_t *moves; /* [links] 1: depends on time or header */
	size_t cap_hazard, cap_moves;
	uint8_t some_move;
};
void telemetry_links_free(struct telemetry_links *x);

/* Those of SCENE, which X keeps, in an epoch that ends at END. Errors SIM_ENOMEM.
 * Cost O(links). */
int telemetry_links_open(struct telemetry_links *x, const struct scene *scene,
    sim_ns end, struct sim_err *e);

/* Who goes when, and what was lost. */
struct telemetry_way {
	sim_ns at;
	struct topo_tuple tuple;
	unsigned h;
	topo_link link[TOPO_MAX_HOPS];
	uint32_t drops[TOPO_MAX_HOPS];
	struct scene_congested full; /* its drops, with congestion */
};

/* The hazard that a packet of the flow on way W meets at L, a link of it, and that
 * an answer meets on the way back over L's reverse; of faults and noise. */
double telemetry_hazard(const struct telemetry_links *x,
    const struct telemetry_way *w, topo_link l);
double telemetry_hazard_back(const struct telemetry_links *x,
    const struct telemetry_way *w, topo_link l);

/* A uniform time below END. */
static inline sim_ns telemetry_time(struct sim_rng *r, sim_ns end)
{
	return (sim_ns)(sim_rng_u01(r) * (double)end);
}

/* Lose some of N packets on the way W, whose drops are set if it returns above 0:
 * how many. */
uint32_t telemetry_lose(const struct telemetry_links *x, struct sim_rng *r,
    uint32_t n, struct telemetry_way *w);

/* The same of N packets, each of which has a time below END and a port of its own,
 * by numbers of APART, where that may matter. */
uint32_t telemetry_lose_apart(const struct telemetry_links *x,
    struct sim_rng *r, struct sim_rng *apart, sim_ns end, uint32_t n,
    struct telemetry_way *w);

#endif
