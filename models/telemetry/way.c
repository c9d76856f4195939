/* models/telemetry/way.c -- what packets of a flow lose on their way.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/telemetry/way.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

void telemetry_links_free(struct telemetry_links *x)
{
	free(x->hazard);
	free(x->moves);
	*x = (struct telemetry_links){0};
}

/* --- what moves ------------------------------------------------------------ */

static void telemetry_links_move(struct telemetry_links *x, topo_link l)
{
	x->moves[l] = x->some_move = 1;
}

/* Faults that hold from before the epoch to behind its end do not move; those of
 * a hole are marks, and the hole is asked itself. */
static void telemetry_links_faults(struct telemetry_links *x, sim_ns end)
{
	const struct truth *truth = &x->scene->truth;
	for (size_t i = 0; i < truth->n_faults; i++) {
		const struct truth_fault *f = &truth->fault[i];
		if (f->of_hole || f->from_ns > 0 || f->to_ns < end)
			telemetry_links_move(x, f->link);
	}
}

int telemetry_links_open(struct telemetry_links *x, const struct scene *scene,
    sim_ns end, struct sim_err *e)
{
	const uint32_t n = scene->topo->n_links;
	int rc;
	if ((rc = SIM_RESERVE(&x->hazard, &x->cap_hazard, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->moves, &x->cap_moves, n, e)) < 0)
		return rc;
	x->scene = scene;
	x->some_move = 0;
	memset(x->moves, 0, n);
	for (topo_link l = 0; l < n; l++) {
		x->hazard[l] = scene_loss_hazard(&scene->loss, l, 0);
		if (scene_congestion_bound(&scene->congestion, l) > 0)
			telemetry_links_move(x, l);
	}
	telemetry_links_faults(x, end);
	return 0;
}

/* --- losses ---------------------------------------------------------------- */

static int telemetry_way_moves(const struct telemetry_links *x,
    const struct telemetry_way *w)
{
	int moves = 0;
	for (unsigned i = 0; x->some_move && i < w->h; i++)
		moves |= x->moves[w->link[i]];
	return moves;
}

static double telemetry_hazard_at(const struct telemetry_links *x, topo_link l,
    sim_ns at)
{
	return x->moves[l] ? scene_loss_hazard(&x->scene->loss, l, at)
			   : x->hazard[l];
}

/* Whether the switch behind L has a hole that takes packets of W. */
static int telemetry_way_ends(const struct scene *s,
    const struct telemetry_way *w, topo_link l)
{
	topo_node from, to;
	topo_link_ends(s->topo, l, &from, &to);
	return to >= s->topo->n_hosts &&
	    truth_swallows(&s->truth, to - s->topo->n_hosts, &w->tuple, w->at);
}

/* The first switch with a hole that takes the packets gets all that is left. */
static void telemetry_way_holes(const struct scene *s,
    const struct telemetry_way *w, double hazard[])
{
	for (unsigned i = 0; i < w->h; i++)
		if (telemetry_way_ends(s, w, w->link[i])) {
			hazard[i] = INFINITY;
			return;
		}
}

double telemetry_hazard(const struct telemetry_links *x,
    const struct telemetry_way *w, topo_link l)
{
	return x->scene->truth.n_holes > 0 && telemetry_way_ends(x->scene, w, l)
	    ? INFINITY
	    : telemetry_hazard_at(x, l, w->at);
}

double telemetry_hazard_back(const struct telemetry_links *x,
    const struct telemetry_way *w, topo_link l)
{
	return telemetry_hazard_at(x, topo_link_reverse(l), w->at);
}

/* Hazards of a way on which something moves. */
static void telemetry_way_meet(const struct telemetry_links *x,
    struct telemetry_way *w, double hazard[])
{
	const struct scene *s = x->scene;
	for (unsigned i = 0; i < w->h; i++)
		hazard[i] = telemetry_hazard_at(x, w->link[i], w->at);
	if (scene_congestion_is_on(&s->congestion))
		scene_congestion_meet(&s->congestion, w->link, w->h, w->at,
		    hazard, &w->full);
	if (s->truth.n_holes > 0)
		telemetry_way_holes(s, w, hazard);
}

static uint32_t telemetry_lose_by(const struct telemetry_links *x,
    struct sim_rng *r, uint32_t n, struct telemetry_way *w, int moves)
{
	double hazard[TOPO_MAX_HOPS], sum = 0;
	uint32_t lost = 0;
	if (moves)
		telemetry_way_meet(x, w, hazard);
	for (unsigned i = 0; i < w->h; i++) {
		if (!moves)
			hazard[i] = x->hazard[w->link[i]];
		sum += hazard[i];
	}
	if (sum == 0 || sim_rng_u01(r) >= -expm1(-(double)n * sum))
		return 0;
	scene_loss_marks(r, n, hazard, w->h, w->drops);
	scene_loss_drops(r, n, w->drops, w->h, w->drops);
	for (unsigned i = 0; i < w->h; i++)
		lost += w->drops[i];
	if (moves && scene_congestion_is_on(&x->scene->congestion))
		scene_congestion_tell(r, w->drops, hazard, w->h, &w->full);
	else if (scene_congestion_is_on(&x->scene->congestion))
		memset(w->full.drops, 0, w->h * sizeof(w->full.drops[0]));
	return lost;
}

uint32_t telemetry_lose(const struct telemetry_links *x, struct sim_rng *r,
    uint32_t n, struct telemetry_way *w)
{
	return telemetry_lose_by(x, r, n, w, telemetry_way_moves(x, w));
}

uint32_t telemetry_lose_apart(const struct telemetry_links *x,
    struct sim_rng *r, struct sim_rng *apart, sim_ns end, uint32_t n,
    struct telemetry_way *w)
{
	uint32_t drops[TOPO_MAX_HOPS] = {0}, lost = 0;
	if (!telemetry_way_moves(x, w))
		return telemetry_lose_by(x, r, n, w, 0);
	for (uint32_t k = 0; k < n; k++) {
		w->at = telemetry_time(apart, end);
		w->tuple.src_port = (uint16_t)sim_rng_u32(apart);
		if (telemetry_lose_by(x, r, 1, w, 1) == 0)
			continue;
		lost++;
		for (unsigned i = 0; i < w->h; i++)
			drops[i] += w->drops[i];
	}
	memcpy(w->drops, drops, sizeof(drops));
	return lost;
}
