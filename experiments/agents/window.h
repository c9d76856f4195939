/* experiments/agents/window.h -- reports of agents as a window, and its losses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What agents reported of the flows that lost, whatever fabric they lived on:
 * a row for each of those flows with the links that are known of its path, and
 * beside the rows what they really lost, with the links of their true paths.
 * Rows stand in the order of the flows, not in that in which reports came.
 */
#ifndef EXPERIMENTS_AGENTS_WINDOW_H
#define EXPERIMENTS_AGENTS_WINDOW_H

#include "algos/vigil/path_map.h"
#include "models/agent.h"
#include "models/losses.h"
#include "models/obs.h"
#include "results/schema.h"
#include "topo/topo.h"

/* Zeroed is empty. */
struct xp_agent_window {
	const struct obs *lossy; /* all flows that lost, and their true paths */
	uint8_t *reported;       /* [lossy->flows.n] */
	struct agent_report *report;
	size_t cap_reported, cap_report;
	struct obs window;
	struct losses lost;
};

void xp_agent_window_free(struct xp_agent_window *w);

/* Forget all reports; W keeps LOSSY. Errors SIM_ENOMEM. */
int xp_agent_window_begin(struct xp_agent_window *w, const struct obs *lossy,
    struct sim_err *e);

/* Take the report of a row of LOSSY; ROW is SIZE_MAX when there is no row of
 * that connection. Errors SIM_EMISMATCH for that, and for a row's second
 * report. */
int xp_agent_window_take(struct xp_agent_window *w, size_t row,
    const struct agent_report *report, struct sim_err *e);

/* Make W's window and losses of what was reported; LOST are those of LOSSY, and
 * RULE says what of a path that was traced in part is used. A row is as long as
 * its true path. Sets M's counts of traces. Errors SIM_ENOMEM. */
int xp_agent_window_fill(struct xp_agent_window *w, const struct topo *t,
    enum algo_partial rule, const struct losses *lost,
    struct res_trial_metrics *m, struct sim_err *e);

#endif
