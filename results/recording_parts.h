/* results/recording_parts.h -- what writing and reading recordings share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_RECORDING_PARTS_H
#define RESULTS_RECORDING_PARTS_H

#include "results/recording.h"
#include "results/series.h"

enum { RES_SHAPE = 5, RES_SPAN_CHUNK = 1024 /* rows */ };

/* What code that handles all recorded tables alike must know of one. */
struct res_recorded_table {
	struct res_series series;
	int (*check)(const void *table, uint32_t n_hosts, struct sim_err *e);
};
extern const struct res_recorded_table res_recorded[RES_N_RECORDED];

static inline int res_recorded_is_probes(enum res_recorded which)
{
	return which == RES_RECORDED_probes || which == RES_RECORDED_vip_probes;
}

/*  X(type, column, units, meaning) */
#define RES_COVERAGE_COLUMNS(X)                                                \
	X(sim_ns, from_ns, "ns",                                               \
	    "begin of a span in which the collector listened")                 \
	X(sim_ns, to_ns, "ns", "its end, which it does not include")
struct res_coverage {
	SIM_TABLE_ARRAYS(RES_COVERAGE_COLUMNS)
};
struct res_span {
	SIM_TABLE_FIELDS(RES_COVERAGE_COLUMNS)
};
SIM_TABLE(res_coverage, res_span, RES_COVERAGE_COLUMNS)

/* Check and derive the shapes. Errors SIM_EINVAL, SIM_ELIMIT. */
int res_recording_shapes(struct res_recording_info *info, struct sim_err *e);

/* Check the rows of a table. Errors SIM_EINVAL. */
int res_recording_check(const struct res_recording_info *info,
    enum res_recorded which, const void *table, struct sim_err *e);

#endif
