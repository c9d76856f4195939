/* experiments/agents/window.c -- reports of agents as a window, and its losses.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/agents/window.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

void xp_agent_window_free(struct xp_agent_window *w)
{
	free(w->reported);
	free(w->report);
	obs_free(&w->window);
	losses_free(&w->lost);
	*w = (struct xp_agent_window){0};
}

int xp_agent_window_begin(struct xp_agent_window *w, const struct obs *lossy,
    struct sim_err *e)
{
	const size_t n = lossy->flows.n;
	int rc;
	w->lossy = lossy;
	obs_clear(&w->window);
	losses_clear(&w->lost);
	w->window.n_flows = lossy->n_flows;
	w->window.n_packets = lossy->n_packets;
	if ((rc = SIM_RESERVE(&w->reported, &w->cap_reported, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&w->report, &w->cap_report, n, e)) < 0)
		return rc;
	if (n > 0)
		memset(w->reported, 0, n);
	return 0;
}

/* An agent traces a connection at most once an epoch (007, section 4), and only
 * after a retransmission. Anything else is a mistake in an agent or a fabric,
 * and would weigh a flow twice, so it is not passed over. */
int xp_agent_window_take(struct xp_agent_window *w, size_t row,
    const struct agent_report *report, struct sim_err *e)
{
	if (row == SIZE_MAX || w->reported[row])
		return sim_fail(e, SIM_EMISMATCH,
		    "a report of a connection that lost nothing, or a second "
		    "one.");
	w->reported[row] = 1;
	w->report[row] = *report;
	return 0;
}

/* A row as long as the true path: hops that the trace did not reach are
 * TOPO_NONE, so that hop i of the window and hop i of its losses are the same
 * hop. N_retx is what the agent saw when its trace ended, and not the final
 * count, while the losses beside the row are the true ones. */
static int window_add_row(struct xp_agent_window *w, size_t row,
    const struct losses *lost, const struct algo_path *path, struct sim_err *e)
{
	const unsigned n = obs_n_hops(w->lossy, row);
	const uint64_t at = w->lossy->hops.off[row];
	topo_link hop[TOPO_MAX_HOPS];
	struct obs_flow flow = obs_flows_at(&w->lossy->flows, row);
	int rc;
	for (unsigned i = 0; i < n; i++)
		hop[i] = i < path->n_hops ? path->link[i] : TOPO_NONE;
	flow.n_retx = w->report[row].n_retx;
	if ((rc = obs_add_flow(&w->window, &flow, hop, n, e)) < 0 ||
	    (rc = losses_add_path(&w->lost, obs_path(w->lossy, row), n, e)) < 0)
		return rc;
	return losses_add_hops(&w->lost, lost->drops + at,
	    lost->has_buffer ? lost->buffer + at : NULL, n, e);
}

int xp_agent_window_fill(struct xp_agent_window *w, const struct topo *t,
    enum algo_partial rule, const struct losses *lost,
    struct res_trial_metrics *m, struct sim_err *e)
{
	int rc = 0;
	/* By rows and not by arrival of reports: what is diagnosed must not
	 * depend on which trace happened to end first. */
	w->lost.has_buffer = lost->has_buffer;
	m->n_traced = m->n_full_traces = m->n_partial_traces = 0;
	for (size_t row = 0; rc == 0 && row < w->lossy->flows.n; row++) {
		struct algo_path path;
		if (!w->reported[row])
			continue;
		algo_path_map(t, &w->report[row], rule, &path);
		m->n_traced++;
		m->n_full_traces += path.complete;
		m->n_partial_traces += !path.complete;
		if (path.complete || rule != ALGO_PARTIAL_DROP)
			rc = window_add_row(w, row, lost, &path, e);
	}
	return rc;
}
