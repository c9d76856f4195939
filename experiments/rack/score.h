/* experiments/rack/score.h -- metrics of racks, as hosts saw them and as it was.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A trial is one row, or one for each place along `rack.along`. A row of a rack
 * is about that rack, and rows along time about the first; others hold beside
 * what is of their place the metrics of all racks, the same in each.
 */
#ifndef EXPERIMENTS_RACK_SCORE_H
#define EXPERIMENTS_RACK_SCORE_H

#include "experiments/rack/world.h"
#include "experiments/spec/along.h"
#include "results/schema.h"

/* Rows of a trial, and the axes that they are on. Errors those of
 * xp_along_add(). */
size_t xp_rack_n_rows(const struct xp_rack *p, const struct xp_topology *t);
int xp_rack_axes(struct xp_along_axes *a, const struct xp_rack *p,
    const struct xp_topology *t, struct sim_err *e);

/* Along quantiles, that of row I, and how many there are: hundredths at the
 * ends, twentieths between, and tails. */
double xp_rack_quantile(size_t i);
enum { XP_RACK_N_QUANTILES = 28 };

/* Along sizes, the smallest of row I: 1, 2, 3, 4, 6, 8, 12, 16 ... A burst is of
 * the last row that it is not below, or of the first. */
double xp_rack_size(size_t i);
size_t xp_rack_size_row(double size);
enum { XP_RACK_N_SIZES = 20 };

/* Row[n_rows] = metrics of what hosts counted, in buckets of the first width that
 * is asked for: bursts and contention; and of what was really lost. Metrics that
 * a row does not have stay as they are. Errors SIM_ENOMEM. */
int xp_rack_score(const struct xp_rack_world *w, const struct xp_rack *p,
    const struct scene *scene, size_t n_rows, struct res_trial_metrics row[],
    struct sim_err *e);

#endif
