/* experiments/pingmesh/bulk/run.h -- a run of Pingmesh in bulk, window by window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What experiments/pingmesh/run.h does with agents, on the law of their probes
 * (models/connects). Rows and their numbers are the same, but of what agents
 * alone do (fetches in vain, records lost, traces) there is none; and candidates
 * for black holes are named only where somebody asks for them: an algorithm, or
 * repairs.
 *
 * That job reads sums of pairs (pairs.h). Algorithms that need probes one by one
 * get a table of all of them, to which each quick one is drawn: that costs as
 * much as they are. Without, no table is made.
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_RUN_H
#define EXPERIMENTS_PINGMESH_BULK_RUN_H

#include "experiments/pingmesh/bulk/found.h"
#include "experiments/pingmesh/run.h"

struct xp_bulk_mesh;

/* Open and close as xp_pingmesh_plane_open(). TELLS are of OBS_PROBES, for probes
 * one by one, and OBS_PAIRS, for their sums; with both there are probes alone. */
int xp_bulk_mesh_open(struct xp_bulk_mesh **m, const struct topo *t,
    const struct xp_pingmesh *p, unsigned tells, struct sim_err *e);
void xp_bulk_mesh_close(struct xp_bulk_mesh *m);

/* As xp_pingmesh_plane_rows() and xp_pingmesh_plane_run(), of whose hooks
 * `window` is not called. */
size_t xp_bulk_mesh_rows(const struct xp_bulk_mesh *m);
int xp_bulk_mesh_run(struct xp_bulk_mesh *m, struct scene *scene,
    struct res_trial_metrics row[], const struct xp_pingmesh_hooks *hooks,
    struct sim_err *e);

/* What the last run's rows of late connects were. */
uint64_t xp_bulk_mesh_n_rows(const struct xp_bulk_mesh *m);

#endif
