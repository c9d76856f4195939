/* experiments/along.h -- axes that one trial is read along.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A trial of plane pingmesh is one simulation of many rows: one a window of
 * time, say, by `pingmesh.along` (experiments/pingmesh.h). These are points of
 * the results beside those of the sweep, on axes after its own, so that
 * xp_trial_run() fills n_points rows at once, the last axis fastest.
 */
#ifndef EXPERIMENTS_ALONG_H
#define EXPERIMENTS_ALONG_H

#include "experiments/spec.h"
#include "results/cube.h"

enum { XP_ALONG_MAX_AXES = 2 };

/* Zeroed is empty. */
struct xp_along_axes {
	size_t n;
	struct res_axis axis[XP_ALONG_MAX_AXES];
	size_t n_points; /* product of the axes: 1 without any */
};

/* The axes of one point of a sweep. A need not be initialised, and is empty on
 * failure. Errors SIM_EINVAL if there is nothing to read along, SIM_ENOMEM. */
int xp_along_init(struct xp_along_axes *a, const struct xp_config *c,
    struct sim_err *e);
void xp_along_free(struct xp_along_axes *a);

int xp_along_same(const struct xp_along_axes *a, const struct xp_along_axes *b);

/* Along quantiles, the tail of row I: 1/2, 1/5, 1/10, 1/20 ... */
double xp_along_tail(uint32_t i);

#endif
