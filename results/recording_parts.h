/* results/recording_parts.h -- what writing and reading recordings share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_RECORDING_PARTS_H
#define RESULTS_RECORDING_PARTS_H

#include "results/h5_table.h"
#include "results/recording.h"

enum { RES_SHAPE = 5, RES_SPAN_CHUNK = 1024 /* rows */ };

/* What code that handles all recorded tables alike must know of one. */
struct res_recorded_table {
	const char *name, *index;
	enum res_recorded_time time;
	size_t chunk_rows;
	const struct sim_table *(*kind)(void);
	int (*check)(const void *table, uint32_t n_hosts, struct sim_err *e);
};
extern const struct res_recorded_table res_recorded[RES_N_RECORDED];

static inline int res_recorded_is_probes(enum res_recorded which)
{
	return which == RES_RECORDED_probes || which == RES_RECORDED_vip_probes;
}

/*  X(type, column, units, meaning) */
#define RES_INDEX_COLUMNS(X)                                                   \
	X(sim_ns, first_ns, "ns", "least sent_ns of a chunk")                  \
	X(sim_ns, last_ns, "ns", "greatest sent_ns of it")
struct res_index {
	SIM_TABLE_ARRAYS(RES_INDEX_COLUMNS)
};
struct res_index_row {
	SIM_TABLE_FIELDS(RES_INDEX_COLUMNS)
};
SIM_TABLE(res_index, res_index_row, RES_INDEX_COLUMNS)

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
