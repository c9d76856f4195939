/* experiments/pingmesh/bulk/impl.h -- what the files of a run in bulk share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_IMPL_H
#define EXPERIMENTS_PINGMESH_BULK_IMPL_H

#include "experiments/pingmesh/bulk/every.h"
#include "experiments/pingmesh/bulk/history.h"
#include "experiments/pingmesh/bulk/mean_loss.h"
#include "experiments/pingmesh/bulk/pairs.h"
#include "experiments/pingmesh/bulk/run.h"
#include "experiments/pingmesh/repair.h"

/* Counts of a whole run. */
struct mesh_totals {
	struct xp_mesh_sums_cell group[CONNECTS_N_HOPS], scope;
};

struct xp_bulk_mesh {
	const struct topo *topo;
	const struct xp_pingmesh *params;
	struct algo_pinglist plan;
	struct connects *connects;
	struct xp_mesh_sums sums;
	struct xp_every every;
	struct xp_mesh_pairs pairs;
	struct xp_mesh_history rows; /* where each window has a history */
	struct xp_mean_loss loss;
	struct xp_repair_shop shop;
	struct xp_dsa *dsa; /* of that */
	uint8_t *in_scope;  /* [hosts]; NULL: all are */
	uint32_t n_windows, history, repair_every;
	sim_ns window_ns, lag_ns;
	int tables; /* of each probe */
	int sums_pairs;
	uint32_t summed; /* windows that sums are of at the end of the run */

	/* Of this run. */
	const struct xp_pingmesh_hooks *hooks;
	struct scene *scene;
	struct res_trial_metrics *row;
	struct sim_rng rng; /* times of this window */
	struct mesh_totals all;
	struct xp_mean_loss_sum loss_all, loss_scope; /* of the run */
	struct xp_mean_loss_sum *loss_of; /* [windows], of the scope */
	struct obs_probes table, part;
	struct xp_repaired repaired;
	uint64_t n_rows;
};

/* --- run.c ---------------------------------------------------------------- */

/* Nearly all probes of C, and the mean loss that they had. */
void xp_bulk_mesh_fill(const struct xp_mesh_sums_cell *c, double loss,
    struct res_trial_metrics *r);

/* Who lives at the end of WINDOW; what agents alone do is none. */
void xp_bulk_mesh_fill_live(const struct xp_bulk_mesh *m, uint32_t window,
    struct res_trial_metrics *r);

/* What the jobs find in M's sums, which end with WINDOW. Errors SIM_ENOMEM. */
int xp_bulk_mesh_judge(struct xp_bulk_mesh *m, uint32_t window,
    struct res_trial_metrics *r, struct sim_err *e);

/* 1 if somebody is told of probes, or of pairs. */
int xp_bulk_mesh_tells(const struct xp_bulk_mesh *m);

/* Pods or ToRs, whichever the heat map is of. */
size_t xp_bulk_mesh_n_units(const struct xp_bulk_mesh *m);

/* --- rows.c --------------------------------------------------------------- */

/* All rows that are not those of windows; what their probes cost. Errors
 * SIM_ENOMEM. */
int xp_bulk_mesh_fill_rows(struct xp_bulk_mesh *m, struct sim_err *e);
void xp_bulk_mesh_cost(const struct xp_bulk_mesh *m,
    struct res_trial_metrics *r);

#endif
