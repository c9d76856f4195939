/* experiments/pingmesh/truth.h -- what probes really met.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_TRUTH_H
#define EXPERIMENTS_PINGMESH_TRUTH_H

#include "experiments/pingmesh/pingmesh.h"
#include "models/scene/scene.h"
#include "topo/shares.h"

/* The chance of each probe to lose a round trip. Zeroed is empty. */
struct xp_true_loss {
	const struct topo *topo;
	const struct scene *scene;
	double *noise; /* [n_links] hazard of links without a fault */
	size_t cap;

	/* Of any path: what may be crossed, and of each node the chance to be
	 * there at all, and not lost. */
	int any_path;
	struct topo_shares shares;
	struct xp_at {
		double there, alive;
	} * at; /* [n_nodes] */
	size_t cap_at;
};

/* X keeps SCENE. ANY_PATH: nobody knows the paths, for the network does not hash
 * as topo_path() does. Errors SIM_ENOMEM. Cost O(links). */
int xp_true_loss_begin(struct xp_true_loss *x, const struct scene *scene,
    int any_path, struct sim_err *e);
void xp_true_loss_free(struct xp_true_loss *x);

/* 1 - (1 - p_there)(1 - p_back) of row I of a table: over the
 * paths that its five-tuple and the reverse of it have, at the rates that their
 * links had when its first SYN left. With any_path, the mean of p over all paths
 * that there are, each switch choosing alike among its next hops: what one probe
 * met may be more or less, but the mean of many is the same.
 * Cost O(hops * log faults), or O(links of these paths * log faults). */
double xp_true_loss_of(struct xp_true_loss *x, const struct obs_probes *t,
    size_t i);

/* Whether anything was broken in [from, to): nothing at all, something all the
 * time and the same all along, or neither. */
enum xp_trouble { XP_CALM, XP_TROUBLE, XP_CHANGE };
enum xp_trouble xp_trouble_in(const struct truth *t, sim_ns from, sim_ns to);

/* When the first fault, hole or outage begins; SIM_NEVER: there is none. */
sim_ns xp_first_trouble(const struct truth *t);

/* 1 if switch S had a hole at a time in [from, to). */
int xp_was_black(const struct truth *t, topo_switch s, sim_ns from, sim_ns to);

/* The ToRs of DC that did. */
uint32_t xp_n_black(const struct truth *t, const struct topo_dc *dc,
    sim_ns from, sim_ns to);

#endif
