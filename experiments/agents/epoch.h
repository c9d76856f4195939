/* experiments/agents/epoch.h -- a window as agents learn it, not as it was.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A bulk data plane says which flows lost. Then agents on all hosts live
 * through the epoch on a simulated fabric, trace as many of those flows as
 * their limits allow, and report. The window holds the flows that were
 * reported, with the links that are known of each; the losses beside it keep
 * the links of their true paths. The fabric runs on after the epoch until no
 * event is left, so flows of the last seconds are traced as others are; agents
 * take all of that for one epoch.
 */
#ifndef EXPERIMENTS_AGENTS_EPOCH_H
#define EXPERIMENTS_AGENTS_EPOCH_H

#include "algos/vigil/path_agent.h"
#include "experiments/agents/window.h"
#include "experiments/spec/section.h"
#include "models/sim/sim.h"
#include "results/schema.h"

/* The section `agents` of a spec. */
struct xp_agents {
	struct algo_path_agent_params agent;
	struct fabric_sim_params fabric;
	uint32_t partial; /* enum algo_partial */
};

extern const struct xp_section xp_agents_section;

struct xp_agent_plane;

/* P keeps T and A. Errors SIM_ELIMIT, SIM_ENOMEM. */
int xp_agent_plane_open(struct xp_agent_plane **p, const struct topo *t,
    const struct xp_agents *a, struct sim_err *e);
void xp_agent_plane_close(struct xp_agent_plane *p);

/* What agents learn of an epoch in which the flows of LOSSY lost LOST. M gets
 * the metrics of RES_AGENT_METRICS and RES_SECOND_METRICS. *SEEN is P's and
 * holds until the next call: rows of LOSSY, in its order, with n_retx as far as
 * it was known when the trace ended. A row is as long as its true path. Errors
 * SIM_ENOMEM. */
int xp_agent_plane_epoch(struct xp_agent_plane *p, const struct scene *scene,
    const struct obs *lossy, const struct losses *lost,
    const struct xp_agent_window **seen, struct res_trial_metrics *m,
    struct sim_err *e);

#endif
