/* results/recording_parts.h -- what writing and reading recordings share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_RECORDING_PARTS_H
#define RESULTS_RECORDING_PARTS_H

#include "results/h5_table.h"
#include "results/recording.h"

#define X(type, name, units, doc) +1
enum {
	RES_N_PROBE_COLUMNS = 0 OBS_PROBE_COLUMNS(X),
	RES_N_PERF_COLUMNS = 0 OBS_PERF_COLUMNS(X),
	RES_SHAPE = 5,
	RES_PERF_CHUNK = 8192, /* rows */
	RES_SPAN_CHUNK = 1024,
};
#undef X

struct res_span {
	sim_ns from, to;
};
struct res_spans {
	size_t n, cap;
	struct res_span *span;
};
int res_spans_add(struct res_spans *s, sim_ns from, sim_ns to,
    struct sim_err *e);

extern const struct res_column res_probe_columns[RES_N_PROBE_COLUMNS],
    res_perf_columns[RES_N_PERF_COLUMNS], res_index_columns[2],
    res_coverage_columns[2];

/* Check and derive the shapes. Errors SIM_EINVAL, SIM_ELIMIT. */
int res_recording_shapes(struct res_recording_info *info, struct sim_err *e);

/* Check rows of probes, to hosts or VIPs. Errors SIM_EINVAL. */
int res_recording_check(const struct res_recording_info *info,
    const struct obs_probes *t, int vip, struct sim_err *e);

#endif
