/* experiments/pingmesh/bulk/history.h -- the last windows' rows, taken once more.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs of each window may read a history of several, which moves on by one window
 * a time. Counts of it are not those of the window before, so they are made anew:
 * by far most connects have no row, and cost nothing.
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_HISTORY_H
#define EXPERIMENTS_PINGMESH_BULK_HISTORY_H

#include "experiments/pingmesh/bulk/sums.h"

/* Zeroed is one that keeps nothing, and may be used. */
struct xp_mesh_history {
	uint32_t n_kept, n_windows; /* that are kept at most; that are */
	sim_ns window_ns;
	size_t *first; /* [n_kept] where the rows of each begin */
	struct connects_row *row;
	size_t n, cap;
};

/* H must be closed also when this fails. Errors SIM_ENOMEM. */
int xp_mesh_history_open(struct xp_mesh_history *h, uint32_t n_kept,
    sim_ns window_ns, struct sim_err *e);
void xp_mesh_history_close(struct xp_mesh_history *h);

/* Forget all windows; begin the next; take a row of it. Errors SIM_ENOMEM. */
void xp_mesh_history_clear(struct xp_mesh_history *h);
void xp_mesh_history_begin(struct xp_mesh_history *h);
int xp_mesh_history_take(struct xp_mesh_history *h,
    const struct connects_row *r, struct sim_err *e);

/* Add the windows before WINDOW, which is the last one, to S, which has that one.
 * Errors SIM_ENOMEM. Cost O(rows + windows * servers). */
int xp_mesh_history_tell(const struct xp_mesh_history *h, uint32_t window,
    struct xp_mesh_sums *s, struct sim_err *e);

#endif
