/* experiments/sweep/trial.h -- one cell: draw a scene, run it, diagnose, score.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_SWEEP_TRIAL_H
#define EXPERIMENTS_SWEEP_TRIAL_H

#include <stdio.h>

#include "experiments/spec/spec.h"

struct xp_trial;

/* A trial keeps S (and puts points into it); memory, topology and algorithms
 * are reused from one cell to the next of the same point. */
int xp_trial_open(struct xp_trial **t, struct xp_spec *s, struct sim_err *e);
void xp_trial_close(struct xp_trial *t);

/* Run one cell into row[spec.n_along][res_row_doubles(n_algos)]: in each row
 * the trial's metrics, then each algorithm's, in the order of results/schema.h.
 * The numbers depend on (spec, point, run) alone. ROW is left alone on failure.
 * Domain POINT < n_points; any RUN.
 * Errors SIM_EUNSUPPORTED when the spec's plane can't run the scene, and those
 * of the models and algorithms. */
int xp_trial_run(struct xp_trial *t, size_t point, uint32_t run, double row[],
    struct sim_err *e);

/* What the last cell was and what each algorithm said of it, for people. After
 * a cell that did not fail. */
void xp_trial_print(const struct xp_trial *t, FILE *out);

#endif
