/* experiments/pingmesh/bulk/day.h -- tables of windows of Pingmesh in bulk.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	scene --> rows of a window --> counts --> tables of its jobs
 *
 * All that is needed from a spec to what `culprit jobs` would say of each window,
 * with memory for one window: 76 MB with 100,000 servers.
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_DAY_H
#define EXPERIMENTS_PINGMESH_BULK_DAY_H

#include "experiments/pingmesh/bulk/pairs.h"
#include "experiments/pingmesh/bulk/tables.h"
#include "experiments/pingmesh/pingmesh.h"

/* Zeroed is empty. */
struct xp_mesh_day {
	struct algo_pinglist plan;
	struct xp_dsa_services services;
	struct xp_dsa dsa;
	struct connects *connects;
	struct xp_mesh_sums sums;
	struct xp_mesh_pairs pairs;
	struct xp_buckets *buckets;
	struct obs_perf perf;
	const struct scene *scene;
	uint64_t n_rows; /* of late connects, since it was opened */

	struct xp_mesh_jobs
	    jobs; /* all that P's windows allow, of all scopes */
	struct xp_dsa_tables tables; /* of the last window */
};

/* Servers count in periods of 5 minutes, where windows are of whole ones, and
 * these of whole intervals between probes; else there are no counters. D keeps T,
 * P and SCENE. Errors those of xp_bulk_mesh_connects(), connects_begin() and
 * xp_dsa_open(); D must be closed also then. */
int xp_mesh_day_open(struct xp_mesh_day *d, const struct topo *t,
    const struct xp_pingmesh *p, const struct scene *scene, struct sim_err *e);
void xp_mesh_day_close(struct xp_mesh_day *d);

/* Window NUMBER, from 0; without jobs its rows are counted alone. Any can be had
 * alone, and is the same. Errors SIM_ENOMEM, those of the jobs. */
int xp_mesh_day_window(struct xp_mesh_day *d, uint32_t number,
    struct sim_err *e);

#endif
