/* models/obs_traces.h -- what traces saw: one row a five-tuple, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reports of algos/pingmesh/hop_trace.h: of each TTL its address, the probes
 * sent and those answered. Hosts have their ids in the whole network. A report
 * is one column, since its reader takes whole reports and not one field of
 * many; so no file can have this table. */
#ifndef MODELS_OBS_TRACES_H
#define MODELS_OBS_TRACES_H

#include "models/agent.h"
#include "sim/table.h"

/*  X(type, column, units, meaning) */
#define OBS_TRACE_COLUMNS(X)                                                   \
	X(struct agent_report, report, "1", "what one trace told")

struct obs_traces {
	SIM_TABLE_ARRAYS(OBS_TRACE_COLUMNS)
};
struct obs_trace {
	SIM_TABLE_FIELDS(OBS_TRACE_COLUMNS)
};
SIM_TABLE(obs_traces, obs_trace, OBS_TRACE_COLUMNS)

#endif
