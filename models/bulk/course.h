/* models/bulk/course.h -- where a flow goes, given what it crosses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A course is a destination and the switches that ideal ECMP picks, each choice
 * independent of the others. In a Clos, that a flow crosses some link or switch
 * fixes some of them and leaves the others as they are: so the chance of it is a
 * product, and a course given it is drawn without rejection, but for
 * destinations outside a pod in skewed traffic. In a mesh the chance and the
 * choices follow from both ToRs (topo/mesh_cross.h), so the destination's is
 * always given with what is crossed.
 */
#ifndef MODELS_BULK_COURSE_H
#define MODELS_BULK_COURSE_H

#include "models/scene/traffic.h"
#include "sim/rng.h"
#include "topo/mesh_cross.h"

struct bulk_course {
	topo_host dst;
	unsigned h; /* links */
	topo_link path[TOPO_MAX_HOPS];
	/* In a Clos: switches, counted as in struct bulk_given. */
	uint32_t from, to, up, t2, down;
};

/* What a flow that crosses something is known to do: whereto it goes, ID being
 * the pod, ToR or host, and the switches that it passes, or TOPO_NONE. Of a
 * flow within a pod, which passes one T1, `down` is that one. In a mesh it is
 * VIA that it crosses, on its way to a ToR or host, and the others are unused. */
enum bulk_whereto {
	BULK_TO_NONE, /* no flow does */
	BULK_TO_ANY,
	BULK_TO_OTHER_PODS,
	BULK_TO_POD, /* not the source's own */
	BULK_TO_TOR, /* nor this */
	BULK_TO_HOST
};
struct bulk_given {
	enum bulk_whereto to;
	uint32_t id, up, t2, down;
	struct topo_via via;
};

/* Flows from one source ToR after the other. Zeroed is empty. */
struct bulk_courses {
	const struct topo *topo;
	const struct topo_clos *clos; /* of topo; NULL in a mesh */
	struct topo_mesh_cross cross; /* in a mesh */
	const struct scene_traffic *traffic;
	struct scene_aim aim; /* hot ToRs and others; uniform: n_hot = 0 */

	/* Of flows from the current ToR: chance that one goes to a ToR that is
	 * not hot, [0], or hot, [1], and, in a Clos, to another pod. */
	double to_tor[2], far;

	/* The ToRs of pod p from p * n_tors on, its n_hot_in[p] hot ones
	 * first; unused when uniform. */
	uint32_t *by_pod, *n_hot_in;
	size_t cap_by_pod, cap_n_hot_in;
};

/* Take a scene's traffic, which must not change meanwhile. Cost O(ToRs), O(1)
 * when it is uniform, and O(1) in a mesh. Errors SIM_ENOMEM. */
int bulk_courses_begin(struct bulk_courses *b,
    const struct scene_traffic *traffic, struct sim_err *e);
void bulk_courses_free(struct bulk_courses *b);

/* Let flows start at TOR. Returns 1 if chances differ from those of the ToR
 * before it, and for the first one. */
int bulk_courses_from(struct bulk_courses *b, uint32_t tor);

/* The chance that a flow from the current ToR goes to another, TOR. */
double bulk_courses_to(const struct bulk_courses *b, uint32_t tor);

/* The chance of G for a flow from the current ToR, in a Clos. */
double bulk_courses_chance(const struct bulk_courses *b,
    const struct bulk_given *g);

/* Draw W, the course of a flow from host SRC under TOR given G, whose chance is
 * above 0; NULL: of any flow. With G, TOR is the current one. */
void bulk_courses_draw(struct bulk_courses *b, struct sim_rng *r, topo_host src,
    uint32_t tor, const struct bulk_given *g, struct bulk_course *w);

/* The switches of a course W that was drawn, from its first ToR to its last.
 * Shape AT[W->h - 1]. Returns how many. */
unsigned bulk_course_switches(const struct bulk_courses *b,
    const struct bulk_course *w, topo_switch at[]);

#endif
