/* models/telemetry/sets.h -- equal paths between racks, and of probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_TELEMETRY_SETS_H
#define MODELS_TELEMETRY_SETS_H

#include "models/obs_paths.h"

/* Sets of a network, whose memory is elsewhere. */
struct telemetry_sets {
	const struct topo *topo;
	struct obs_paths *paths, *legs; /* of rows; of probes that come back */
	uint8_t *has_all, *too_many;
};

/* All sets between ToRs, in order, if those are not too many: else those of the
 * epoch. Were they numbered as flows need them and kept, sums over them would
 * depend on the epochs before. Errors those of obs_paths_between(). */
int telemetry_sets_all(const struct telemetry_sets *x, struct sim_err *e);
void telemetry_sets_forget(const struct telemetry_sets *x);

/* The path of set SET with these links, or OBS_NO_PATH. */
uint32_t telemetry_sets_find(const struct obs_paths *p, uint32_t set,
    const topo_link link[], unsigned n);

/* *SET has the ways from TOR to S and back, the k-th there with the k-th back. It
 * has the ends of the way there, and stands in its place. Errors also SIM_ELIMIT
 * (ways of more than TOPO_MAX_HOPS links, hosts' among them). */
int telemetry_sets_trips(const struct telemetry_sets *x, topo_switch tor,
    topo_switch s, uint32_t *set, struct sim_err *e);

#endif
