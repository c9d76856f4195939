/* experiments/spec/along.h -- axes that one trial is read along.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A trial of some planes is one simulation of many rows: one a window of time,
 * say (experiments/pingmesh/along.h). These are points of the results beside
 * those of the sweep, on axes after its own, so that xp_trial_run() fills
 * n_points rows at once, the last axis fastest.
 */
#ifndef EXPERIMENTS_SPEC_ALONG_H
#define EXPERIMENTS_SPEC_ALONG_H

#include "experiments/spec/spec.h"
#include "results/cube.h"

enum { XP_ALONG_MAX_AXES = 2 };

/* Zeroed is empty. */
struct xp_along_axes {
	size_t n;
	struct res_axis axis[XP_ALONG_MAX_AXES];
	size_t n_points; /* product of the axes: 1 without any */
};

/* The axes of one point of a sweep, by its plane. A need not be initialised,
 * and is empty on failure. Errors SIM_EINVAL if there is nothing to read along,
 * SIM_ENOMEM. */
int xp_along_init(struct xp_along_axes *a, const struct xp_config *c,
    struct sim_err *e);
void xp_along_free(struct xp_along_axes *a);

/* For planes: add an axis of N places, whose coordinate *K is yet without
 * values. Errors SIM_EINVAL (no place), SIM_ENOMEM. */
int xp_along_add(struct xp_along_axes *a, const char *name, const char *unit,
    const char *doc, uint32_t n, struct res_coord **k, struct sim_err *e);

int xp_along_same(const struct xp_along_axes *a, const struct xp_along_axes *b);

#endif
