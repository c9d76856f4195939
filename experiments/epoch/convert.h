/* experiments/epoch/convert.h -- epochs as Flock's text traces, and back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_EPOCH_CONVERT_H
#define EXPERIMENTS_EPOCH_CONVERT_H

#include "experiments/telemetry/flock.h"

/* Write a trace that was read as an epoch (results/epoch.h), without a spec. No
 * loss has a place in it, so hops have 0 drops and flows no culprit; links and
 * switches that failed are there. Errors those of res_epoch_finish(). */
int xp_convert_to_epoch(const struct xp_flock *x, const char *path,
    struct sim_err *e);

/* What was converted. */
struct xp_converted {
	size_t n_rows, n_paths;
	uint32_t n_hosts, n_switches;
};

/* Write the epoch of PATH as a list of edges and a trace, and its black holes to
 * FAILS unless that is NULL. Errors those of reading it, of xp_flock_write() and of
 * xp_flock_write_fails(); SIM_EUNSUPPORTED (it has no sums). */
int xp_convert_to_trace(const char *path, int any, const char *edges,
    const char *trace, const char *fails, struct xp_converted *out,
    struct sim_err *e);

#endif
