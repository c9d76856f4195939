/* experiments/pingmesh/bulk/found.h -- what jobs find in counts of probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The jobs of dsa/dsa.h but for black holes, which ask for pairs (pairs.h). Each
 * leaves what it finds in the member of D that it is named after,
 * as when it reads probes, by the same rules.
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_FOUND_H
#define EXPERIMENTS_PINGMESH_BULK_FOUND_H

#include "experiments/pingmesh/bulk/buckets.h"
#include "experiments/pingmesh/bulk/sums.h"
#include "experiments/pingmesh/dsa/dsa.h"

/* Which scopes get times: bits 1 << enum algo_sla_kind. Of servers with
 * XP_FOUND_NEIGHBOURS, if a service alerts, only those under ToRs of some
 * service: by these services are judged. */
enum { XP_FOUND_NEIGHBOURS = 1 << 16 };

/* Errors SIM_ENOMEM. Cost O(hosts + late connects), and two ranks a scope with
 * times. */
int xp_found_sla(struct xp_mesh_sums *s, struct xp_dsa *d, uint32_t scopes,
    struct sim_rng *r, struct sim_err *e);

/* Of pairs of ToRs only if S counts them. Errors as algo_heatmap_classify(),
 * SIM_ENOMEM. Cost one rank a cell. */
int xp_found_heatmap(struct xp_mesh_sums *s, struct xp_dsa *d,
    enum algo_heatmap_unit unit, struct sim_rng *r,
    enum algo_heatmap_pattern *pattern, struct sim_err *e);

/* Errors as algo_silent_drop_judge(). */
int xp_found_silent_drop(struct xp_mesh_sums *s, struct xp_dsa *d,
    struct sim_err *e);

/* Errors as algo_drop_rate_judge(). */
int xp_found_drop_rate(const struct xp_mesh_sums *s, double conf,
    struct algo_drop_rate out[], struct sim_err *e);

/* Rows of counters of period K of the last window, with P50 and P99 by the
 * buckets in which agents count, of B. Errors SIM_ENOMEM. Cost O(hosts). */
int xp_found_counters(struct xp_mesh_sums *s, uint32_t k, struct xp_buckets *b,
    struct sim_rng *r, struct obs_perf *out, struct sim_err *e);

#endif
