/* models/obs_traces.h -- what traces saw: one row a five-tuple, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reports of algos/hop_trace.h: of each TTL its address, the probes sent and
 * those answered. Hosts have their ids in the whole network.
 */
#ifndef MODELS_OBS_TRACES_H
#define MODELS_OBS_TRACES_H

#include "models/agent.h"

/* Zeroed is empty. */
struct obs_traces {
	size_t n, cap;
	struct agent_report *report; /* [n] */
};

/* Append a row. Errors SIM_ENOMEM (table unchanged). Cost O(1) amortised. */
int obs_traces_add(struct obs_traces *t, const struct agent_report *report,
    struct sim_err *e);

/* Empty the table, keep its memory. */
void obs_traces_clear(struct obs_traces *t);
void obs_traces_free(struct obs_traces *t);

#endif
