/* experiments/agents/window.h -- reports of agents as a window, and its losses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What agents reported of the flows that lost, on whatever fabric: rows of
 * those flows with the links that are known of each, and beside them what they
 * lost, with the links of their true paths. The order is that of flows and not that
 * of what happened.
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

/* Forget all; W keeps LOSSY. Errors SIM_ENOMEM. */
int xp_agent_window_begin(struct xp_agent_window *w, const struct obs *lossy,
    struct sim_err *e);

/* The report of a row of LOSSY, or SIZE_MAX: of none.
 * Errors SIM_EMISMATCH, for none and for a second one. */
int xp_agent_window_take(struct xp_agent_window *w, size_t row,
    const struct agent_report *report, struct sim_err *e);

/* Window and losses of what was reported; LOST are those of LOSSY. A row is as
 * long as its true path. Sets M's counts of traces. Errors SIM_ENOMEM. */
int xp_agent_window_fill(struct xp_agent_window *w, const struct topo *t,
    enum algo_partial rule, const struct losses *lost,
    struct res_trial_metrics *m, struct sim_err *e);

#endif
