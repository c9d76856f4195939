/* experiments/telemetry/early.h -- what there was to see before the window's end.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A window of rows by its first half, quarter, and so on: flows that had begun, and
 * so many of the probes, which are sent evenly. A flow is all there at once, as it is
 * to the model; where nothing depends on time, which knows of none, its beginning is
 * drawn, alike at any time of the window. Each view is of part of the next one's.
 */
#ifndef EXPERIMENTS_TELEMETRY_EARLY_H
#define EXPERIMENTS_TELEMETRY_EARLY_H

#include "models/obs.h"
#include "models/obs_tallies.h"
#include "sim/field.h"
#include "sim/rng.h"

enum { XP_EARLY_MAX = 10 };

struct xp_early_params {
	uint32_t halvings; /* 0: none */
};
extern const struct sim_field xp_early_fields[];

/* Zeroed is empty. */
struct xp_early {
	struct obs_tallies rows[XP_EARLY_MAX];
	struct obs view[XP_EARLY_MAX]; /* the shortest first */
	double share[XP_EARLY_MAX];    /* of the window, at its end */
	double *at;                    /* [rows] share at which each began */
	uint32_t *flow;                /* [flows] of a view; UINT32_MAX: not */
	size_t cap_at, cap_flow;
};
void xp_early_free(struct xp_early *x);

/* Fill the first P->halvings views of W, whose rows are W->tallies and which lasts
 * WINDOW_NS. TIMED: its flows tell when they began. W outlives the views. Errors
 * SIM_ENOMEM. Cost O(rows + flows' hops) each. */
int xp_early_fill(struct xp_early *x, const struct xp_early_params *p,
    const struct obs *w, double window_ns, int timed, struct sim_rng *r,
    struct sim_err *e);

#endif
