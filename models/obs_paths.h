/* models/obs_paths.h -- sets of equal paths between switches, each stored once.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A flow whose path is not known took one of the equal paths between the
 * switches of its hosts. All flows between the same two switches share that
 * set, so that nothing is stored or enumerated by flow. A path's links are those
 * between switches alone: hosts' cables are of flows (models/obs_tallies.h).
 */
#ifndef MODELS_OBS_PATHS_H
#define MODELS_OBS_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "topo/topo.h"

#define OBS_NO_PATH UINT32_MAX

/* Zeroed is empty. Set s has the paths first[s] .. first[s + 1] - 1, each of
 * which a flow takes alike, and no path is in two sets. From a switch to itself
 * there is one path without links. */
struct obs_paths {
	size_t n, cap; /* paths */
	size_t cap_link;
	uint32_t *off;   /* [n + 1]; path p is link[off[p]] and so on */
	topo_link *link; /* [off[n]], in the order of the way */
	size_t n_sets, cap_sets;
	uint32_t *first;        /* [n_sets + 1] */
	topo_switch *from, *to; /* [n_sets] the ends */
	size_t n_slots;     /* where sets are found by their ends: 0 = free, */
	uint32_t *slot;     /* else 1 + set; a power of two of them */
	uint32_t n_cleared; /* how often all were taken away: who keeps what
			       follows from them must begin anew */
};

void obs_paths_clear(struct obs_paths *p);
void obs_paths_free(struct obs_paths *p);

static inline uint32_t obs_set_size(const struct obs_paths *p, uint32_t set)
{
	return p->first[set + 1] - p->first[set];
}

static inline unsigned obs_path_length(const struct obs_paths *p, uint32_t path)
{
	return p->off[path + 1] - p->off[path];
}

/* The set from one switch to another, or OBS_NO_PATH if P has none. O(1). */
uint32_t obs_paths_find(const struct obs_paths *p, topo_switch from,
    topo_switch to);

/* Begin a set, which obs_paths_add() fills; there is none with these ends yet.
 * P is as it was on failure. Errors SIM_ENOMEM, SIM_ELIMIT (2^32 - 2 of all). */
int obs_paths_open(struct obs_paths *p, topo_switch from, topo_switch to,
    struct sim_err *e);

/* Add a path to the last set. Domain n_links <= TOPO_MAX_HOPS. */
int obs_paths_add(struct obs_paths *p, const topo_link link[], unsigned n_links,
    struct sim_err *e);

/* *SET has the equal paths of T from one switch to another, in the order by
 * which switches choose; made if P did not have it. A network that is not
 * symmetric does not spread alike over them:
 * DEPARTS: nor does the model of Flock (CoNEXT'23), whose sets these are.
 * Errors also SIM_EINVAL (no path), SIM_ELIMIT (above OBS_MOST_PATHS). Cost O(1),
 * or O(paths * length) once. */
#define OBS_MOST_PATHS 65536
int obs_paths_between(struct obs_paths *p, const struct topo *t,
    topo_switch from, topo_switch to, uint32_t *set, struct sim_err *e);

/* Check paths that came from outside: offsets ascend, links are below N_LINKS,
 * paths no longer than TOPO_MAX_HOPS, no set is empty. Errors SIM_EINVAL naming
 * the path and the value. */
int obs_paths_check(const struct obs_paths *p, uint32_t n_links,
    struct sim_err *e);

#endif
