/* experiments/everflow/along.h -- what a run of Everflow is read along.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_EVERFLOW_ALONG_H
#define EXPERIMENTS_EVERFLOW_ALONG_H

#include "experiments/everflow/world.h"
#include "experiments/spec/along.h"
#include "results/schema.h"

/* Rows of axis link: A is a link that is slow, if any is, and B, C, D are the
 * next ones of its class. */
enum { XP_EVERFLOW_LINKS = 4 };

/* Seconds of a run, whose epoch is of EPOCH_S: those of axis time_s. */
uint32_t xp_everflow_seconds(const struct xp_everflow *p, double epoch_s);

/* Add the axes of `everflow.along` to A: none, one of debuggers, or two of links
 * and seconds. Errors SIM_ENOMEM. */
int xp_everflow_axes(struct xp_along_axes *a, const struct xp_everflow *p,
    double epoch_s, struct sim_err *e);

/* Along links, fill link_rtt_us of ROW[XP_EVERFLOW_LINKS * N_S], which is NaN
 * where no round trip began. Errors SIM_ENOMEM. */
int xp_everflow_link_rows(const struct xp_everflow_seen *seen,
    const struct scene *scene, uint32_t n_s, struct res_trial_metrics row[],
    struct sim_err *e);

#endif
