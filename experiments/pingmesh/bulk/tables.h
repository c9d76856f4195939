/* experiments/pingmesh/bulk/tables.h -- tables of jobs, from counts of probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What xp_dsa_run() makes of a window's probes, of the jobs of found.h; black
 * holes are found in sums of pairs.
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_TABLES_H
#define EXPERIMENTS_PINGMESH_BULK_TABLES_H

#include "experiments/pingmesh/bulk/found.h"
#include "experiments/pingmesh/bulk/pairs.h"

/* Which jobs (enum xp_dsa_job), of which scopes times are
 * drawn (as xp_found_sla()), and with COUNTERS what servers' times are drawn
 * by. */
struct xp_mesh_jobs {
	uint32_t jobs, scopes;
	struct xp_buckets *buckets;
};

/* Run the jobs on the window that S has, and append what they find to OUT. The
 * heat map is that of pods, and of ToRs where S counts pairs of them. PERF is
 * room for counters, of one period at a time; PAIRS, of that window, are read
 * for BLACKHOLE alone. Errors those of found.h and
 * xp_dsa_run(). */
int xp_mesh_tables(struct xp_mesh_sums *s, struct xp_mesh_pairs *pairs,
    struct xp_dsa *d, const struct xp_mesh_jobs *j, struct sim_rng *r,
    struct obs_perf *perf, struct xp_dsa_tables *out, struct sim_err *e);

#endif
