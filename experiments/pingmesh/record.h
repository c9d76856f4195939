/* experiments/pingmesh/record.h -- one cell of plane pingmesh, as a recording.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_PINGMESH_RECORD_H
#define EXPERIMENTS_PINGMESH_RECORD_H

#include "experiments/pingmesh/collector.h"
#include "experiments/spec/spec.h"

/* What was written. */
struct xp_recorded {
	uint64_t n_probes, n_vip_probes, n_counters; /* rows */
	struct xp_collect_counts count;
};

/* Live through cell (POINT, RUN) of S and write what the collector got to PATH
 * (results/recording.h), which is replaced as a whole: the rows that each
 * window had when its jobs ran, window by window and in each the data centres
 * in order. Repairs happen as they do in a run. A span in which the collector
 * was down is not covered, even if rows of it came later.
 * Errors SIM_EUNSUPPORTED (another plane), those of the plane and of the
 * recorder; PATH is then as it was. */
int xp_record_cell(struct xp_spec *s, size_t point, uint32_t run,
    const char *path, struct xp_recorded *out, struct sim_err *e);

#endif
