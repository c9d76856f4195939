/* algos/everflow/custom.h -- counters that were asked for, by filters.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each analyzer counts, for each filter, the packets whose traces it fits and
 * their bytes; readers sum the rows over analyzers (counter.h, CUSTOM). Traces
 * are counted as they end, whether they are stored or not; whether a suspected
 * drop is confirmed is not known by then.
 *
 * Paper  Everflow (SIGCOMM'15): AddCounter(Name, Filter).
 */
#ifndef ALGOS_EVERFLOW_CUSTOM_H
#define ALGOS_EVERFLOW_CUSTOM_H

#include "algos/everflow/counter.h"
#include "algos/everflow/filter.h"

enum { ALGO_CUSTOM_MAX = 64 };

struct algo_custom {
	uint32_t id; /* of counters.id; no two have one */
	uint64_t packets, bytes;
	struct algo_filter filter;
};

/* Zeroed is empty. */
struct algo_custom_counters {
	uint32_t n, cap;
	struct algo_custom *one;
};

/* Errors SIM_EINVAL (the id is taken, or the filter is a condition), SIM_ELIMIT,
 * SIM_ENOMEM. */
int algo_custom_add(struct algo_custom_counters *c, uint32_t id,
    const struct algo_filter *f, struct sim_err *e);

/* What it counted since the last row is lost. Returns 0 if there was none. */
int algo_custom_remove(struct algo_custom_counters *c, uint32_t id);

/* Count a trace. Cost O(filters). */
void algo_custom_take(struct algo_custom_counters *c,
    const struct algo_trace *t, const struct algo_hop hop[]);

/* Append rows of what is not 0 with time NOW, and begin anew. Errors
 * SIM_ENOMEM. */
int algo_custom_put(struct algo_custom_counters *c, uint32_t analyzer,
    sim_ns now, struct algo_counters *out, struct sim_err *e);
void algo_custom_free(struct algo_custom_counters *c);

#endif
