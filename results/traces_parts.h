/* results/traces_parts.h -- what writing and reading files of traces share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_TRACES_PARTS_H
#define RESULTS_TRACES_PARTS_H

#include "results/series.h"
#include "results/traces.h"

enum {
	RES_TRACES_CHUNK = 8192, /* rows of all tables but hops */
	RES_HOPS_CHUNK = 32768,
	RES_MAX_CYCLE = 16
};

/* The tables with times. X(group, table, has an index, rows end at their time) */
#define RES_TRACES_SERIES(X)                                                   \
	X(traces, algo_traces, 1, 0)                                           \
	X(counters, algo_counters, 0, 1)                                       \
	X(guided, obs_guided, 0, 0)
#define X(group, table, indexed, ends) RES_TRACES_##group,
enum { RES_TRACES_SERIES(X) RES_TRACES_N_SERIES };
#undef X
extern const struct res_series res_traces_series[RES_TRACES_N_SERIES];

/* Check row I of a kind. A network that is not known has any id that an address
 * may have. Errors SIM_EINVAL. */
int res_traces_check(const struct res_traces_info *info, uint64_t i,
    const struct algo_trace *t, const struct algo_hop hop[], struct sim_err *e);
int res_traces_check_counter(const struct res_traces_info *info, uint64_t i,
    const struct algo_counter *c, struct sim_err *e);
int res_traces_check_guided(const struct res_traces_info *info, uint64_t i,
    const struct obs_guided_probe *g, struct sim_err *e);
int res_traces_check_finding(const struct res_traces_info *info, uint64_t i,
    const struct algo_finding *f, struct sim_err *e);

#endif
