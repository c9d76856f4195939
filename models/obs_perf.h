/* models/obs_perf.h -- what hosts counted in each window, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The quick path beside the records of every probe (models/obs_probes.h): each
 * agent sums up its last few minutes itself, and only these numbers travel. One
 * row a host and window, in any order. A row counts what ended in its window,
 * but n_probes what began in it.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 3.5: performance counters, collected
 *        every 5 minutes.
 */
#ifndef MODELS_OBS_PERF_H
#define MODELS_OBS_PERF_H

#include <stddef.h>
#include <stdint.h>

#include "sim/table.h"
#include "topo/ids.h"

/*  X(type, column, units, meaning) */
#define OBS_PERF_COLUMNS(X)                                                    \
	X(uint64_t, end_ns, "ns", "end of the window, since the run began")    \
	X(uint32_t, host, "1", "host id")                                      \
	X(uint64_t, n_probes, "probes", "sent")                                \
	X(uint64_t, n_connected, "probes", "connected")                        \
	X(uint64_t, n_unconnected, "probes", "refused, or not answered")       \
	X(uint64_t, n_drop_1, "probes", "connected after one lost SYN")        \
	X(uint64_t, n_drop_2, "probes", "connected after two lost SYNs")       \
	X(uint64_t, p50_ns, "ns", "median connect time; 0 = none connected")   \
	X(uint64_t, p99_ns, "ns", "99th percentile; 0 = none connected")

struct obs_perf {
	SIM_TABLE_ARRAYS(OBS_PERF_COLUMNS)
};
struct obs_perf_row {
	SIM_TABLE_FIELDS(OBS_PERF_COLUMNS)
};
SIM_TABLE(obs_perf, obs_perf_row, OBS_PERF_COLUMNS)

/* Check a table that came from outside: hosts are among the N_HOSTS from
 * FIRST_HOST on, counts are below 2^53, no more probes lost SYNs than
 * connected, a row has times if and only if some of its probes connected, and
 * its median is no more than its 99th percentile.
 * Errors SIM_EINVAL naming the row and the value. Cost O(n). */
int obs_perf_check(const struct obs_perf *t, topo_host first_host,
    uint32_t n_hosts, struct sim_err *e);

#endif
