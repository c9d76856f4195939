/* experiments/epoch/dump.h -- one cell of a plane of flows, as a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_EPOCH_DUMP_H
#define EXPERIMENTS_EPOCH_DUMP_H

#include "experiments/spec/spec.h"

/* What was written. */
struct xp_dumped {
	uint64_t n_ran;               /* flows of the epoch */
	uint64_t n, n_failed, n_seen; /* in the file; in the window */
	int all;                      /* the file has each that ran */
};

/* Run the cell (POINT, RUN) of S as xp_trial_run() would, without algorithms,
 * and write it to PATH (results/epoch.h). With ALL a plane that does not tell
 * every flow is an error, and nothing is written.
 * Domain POINT < n_points. Memory: what the plane needs, and blocks of the
 * file. Errors SIM_EUNSUPPORTED (a plane without flows; ALL), and those of
 * xp_trial_run() and res_epoch_create(). */
int xp_dump_cell(struct xp_spec *s, size_t point, uint32_t run,
    const char *path, int all, struct xp_dumped *out, struct sim_err *e);

#endif
