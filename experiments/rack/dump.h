/* experiments/rack/dump.h -- one cell of plane rack, as a file of samples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_RACK_DUMP_H
#define EXPERIMENTS_RACK_DUMP_H

#include "experiments/spec/spec.h"

/* What was written. */
struct xp_rack_dumped {
	uint32_t n_racks, n_hosts;
	size_t n_runs, n_samples, n_faults, n_bursts;
	uint64_t buffer, link; /* bytes lost, by cause */
};

/* Run cell (POINT, RUN) of S, whose plane must be rack, as xp_trial_run() would,
 * without algorithms, and write what hosts counted, and what was true of them,
 * to PATH (results/samples.h).
 * Errors SIM_EUNSUPPORTED (another plane), those of xp_trial_show() and of
 * results/samples.h. */
int xp_rack_dump(struct xp_spec *s, size_t point, uint32_t run,
    const char *path, struct xp_rack_dumped *out, struct sim_err *e);

#endif
