/* experiments/pingmesh/trace.h -- the switch that drops silently is looked for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The silent-drop job says which pairs of pods suffer, and not for which switch
 * (algos/pingmesh/silent_drop.h). With trace.on the operator then has servers of the
 * worst of them trace each other (algos/pingmesh/hop_trace.h), whether the job took it
 * for the spine, a pod, or did not know: who suffers is all that tracing needs.
 * When nothing suffers nothing is traced, unless trace.always.
 *
 *	window | lag | jobs: who suffers? | start | servers trace | reports
 *
 * Traces meet the network of the day: its ECMP seeds, faults and outages at
 * that time. They are lived through on a fabric of their own, since Pingmesh's
 * probes and they share no queue that either could fill.
 */
#ifndef EXPERIMENTS_PINGMESH_TRACE_H
#define EXPERIMENTS_PINGMESH_TRACE_H

#include "algos/pingmesh/hop_trace_rank.h"
#include "experiments/pingmesh/pingmesh.h"
#include "models/losses.h"
#include "models/obs_traces.h"
#include "models/scene/scene.h"

struct xp_tracer;

/* X keeps T and P, whose data centre `dc` is traced. Errors those of
 * fabric_sim_open(), SIM_ENOMEM. */
int xp_tracer_open(struct xp_tracer **x, const struct topo *t,
    const struct xp_pingmesh *p, struct sim_err *e);
void xp_tracer_close(struct xp_tracer *x);

/* Trace what S found, from NOW on; all draws are named by the scene and WINDOW.
 * *O is X's until the next call: the traces, and a flow for each, by
 * algo_hop_trace_flows(); *LOST is that of *O: no drops, and as the culprit of
 * each flow that failed the link of its path that drops the most for a fault, or
 * none. Errors those of the agents and of the fabric. */
int xp_tracer_run(struct xp_tracer *x, const struct scene *scene,
    const struct algo_silent_drop *s, uint32_t window, sim_ns now,
    const struct obs **o, const struct losses **lost, struct sim_err *e);

/* Probes that the traces of *O took. */
uint64_t xp_tracer_n_probes(const struct xp_tracer *x);

#endif
