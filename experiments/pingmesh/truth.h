/* experiments/pingmesh/truth.h -- what probes really met.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_TRUTH_H
#define EXPERIMENTS_PINGMESH_TRUTH_H

#include "experiments/pingmesh/pingmesh.h"
#include "models/scene/scene.h"
#include "topo/shares.h"

/* The probability of each probe to lose a round trip. Zeroed is empty. */
struct xp_true_loss {
	const struct topo *topo;
	const struct scene *scene;
	double *noise; /* [n_links] hazard of links without a fault */
	size_t cap;

	/* With any_path: the links that may be crossed, and of each node the
	 * probability to come there, and to come there without being lost. */
	int any_path;
	struct topo_shares shares;
	struct xp_at {
		double there, alive;
	} * at; /* [n_nodes] */
	size_t cap_at;
};

/* X keeps SCENE. With ANY_PATH paths are not known, since the network does not
 * hash as topo_path() does. Errors SIM_ENOMEM. Cost O(links). */
int xp_true_loss_begin(struct xp_true_loss *x, const struct scene *scene,
    int any_path, struct sim_err *e);
void xp_true_loss_free(struct xp_true_loss *x);

/* 1 - (1 - p_there)(1 - p_back) of row I of a table, where p_there and p_back
 * are the loss rates of the paths of its five-tuple and of the reverse one, at
 * the time when its first SYN left. With any_path p is the mean over all paths,
 * each switch choosing alike among its next hops: what one probe met may be
 * more or less, but the mean of many probes is the same. Cost O(hops * log
 * faults), or O(links of these paths * log faults). */
double xp_true_loss_of(struct xp_true_loss *x, const struct obs_probes *t,
    size_t i);

/* Whether anything was broken in [from, to). CALM: nothing at all. TROUBLE: the
 * same things all the time. CHANGE: something began or ended meanwhile. */
enum xp_trouble { XP_CALM, XP_TROUBLE, XP_CHANGE };
enum xp_trouble xp_trouble_in(const struct truth *t, sim_ns from, sim_ns to);

/* When the first fault, hole or outage begins; SIM_NEVER when there is none. */
sim_ns xp_first_trouble(const struct truth *t);

/* 1 if switch S had a hole at a time in [from, to). */
int xp_was_black(const struct truth *t, topo_switch s, sim_ns from, sim_ns to);

/* The number of ToRs of DC that had a hole at a time in [from, to). */
uint32_t xp_n_black(const struct truth *t, const struct topo_dc *dc,
    sim_ns from, sim_ns to);

#endif
