/* experiments/everflow/dump.h -- one cell of plane everflow, as a file of traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_EVERFLOW_DUMP_H
#define EXPERIMENTS_EVERFLOW_DUMP_H

#include "experiments/everflow/world.h"
#include "experiments/spec/spec.h"
#include "results/traces.h"

/* What was written. */
struct xp_everflow_dumped {
	uint64_t n_copies, n_traces, n_stored, n_guided;
	size_t n_findings;
};

/* Run cell (POINT, RUN) of S, whose plane must be everflow, and write what was
 * stored, counted, probed and found to PATH (results/traces.h).
 * Errors SIM_EUNSUPPORTED (another plane), those of xp_trial_show() and of
 * results/traces.h. */
int xp_everflow_dump(struct xp_spec *s, size_t point, uint32_t run,
    const char *path, struct xp_everflow_dumped *out, struct sim_err *e);

/* Write what SEEN has to PATH: traces, counters, guided probes, findings.
 * Errors those of results/traces.h. */
int xp_everflow_write(const char *path, const struct res_traces_info *info,
    const struct xp_everflow_seen *seen, struct sim_err *e);

#endif
