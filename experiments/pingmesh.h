/* experiments/pingmesh.h -- the section `pingmesh` of a spec.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	plane: pingmesh
 *	topology: { kind: clos, ... }
 *	faults: [...]
 *	pingmesh:
 *	  duration: 86400
 *	  window: 600
 *	  along: window
 *	  pinglist: { dc_interval_s: 60, ... }
 *	  agent: { fetch_interval: 3600, ... }
 *	  connect: { profile: dc1, timers: windows }
 *	  repair: { on: true, ... }
 *
 * Agents on all hosts live through `duration` on a simulated fabric. Every
 * `window` the collector's table is given to the jobs of that window.
 */
#ifndef EXPERIMENTS_PINGMESH_H
#define EXPERIMENTS_PINGMESH_H

#include <stdio.h>

#include "algos/blackhole.h"
#include "algos/heatmap.h"
#include "algos/pinglist.h"
#include "algos/pingmesh.h"
#include "algos/silent_drop.h"
#include "algos/sla.h"
#include "models/fabric_sim.h"
#include "sim/yaml.h"

/* What one cell of a sweep is read along: each value is a point of the results
 * of its own, but they are one run and cost one simulation. */
enum xp_along {
	XP_ALONG_NONE,     /* the whole duration, one row */
	XP_ALONG_WINDOW,   /* axis window_s: the end of each window */
	XP_ALONG_QUANTILE, /* axis tail: P(rtt > rtt_us) */
	XP_ALONG_GROUP,    /* axis group: enum algo_drop_group */
	XP_ALONG_PAIR,     /* axes from, to: ToRs, or pods */
};

struct xp_repair {
	uint32_t on;     /* reload what the black-hole job says */
	double reload_s; /* that a reloaded ToR forwards nothing */
	double every_s;  /* of the black-hole job and its budget */
};

struct xp_pingmesh {
	double duration_s, window_s;
	uint32_t along;    /* enum xp_along */
	uint32_t unit;     /* of pairs: enum algo_heatmap_unit */
	uint32_t n_tails;  /* along quantile */
	char service[256]; /* hosts of the service, "0-15,32"; "": all */
	struct algo_pinglist_params pinglist;
	struct algo_pingmesh_params agent;
	struct fabric_sim_connect_params connect;
	struct algo_sla_params sla;
	struct algo_heatmap_params heatmap;
	struct algo_blackhole_params blackhole;
	struct algo_silent_drop_params silent;
	struct xp_repair repair;
};

/* Read the section; absent stands for defaults. Mistakes are added to Y.
 * Returns only SIM_ENOMEM. */
int xp_pingmesh_read(struct sim_yaml *y, struct xp_pingmesh *p,
    struct sim_err *e);
void xp_pingmesh_help(FILE *out);

#endif
