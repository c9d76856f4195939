/* experiments/pingmesh/trace.h -- traces of pairs that lose packets silently.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The silent-drop job says which pairs of pods suffer, but not because of which
 * switch (algos/pingmesh/silent_drop.h). With trace.on the operator then has
 * servers of the worst pairs trace each other (algos/pingmesh/hop_trace.h), as
 * in Pingmesh (SIGCOMM'15), section 5.2. Which tier the job named does not
 * matter, for tracing only needs to know who suffers. When no pair suffers
 * nothing is traced, unless trace.always.
 *
 *	window | lag | jobs: who suffers? | start | servers trace | reports
 *
 * Traces meet the network as it is at that time: its ECMP seeds, faults and
 * outages. They run on a fabric of their own beside that of Pingmesh's probes,
 * which changes nothing for either, as they share no queue that could fill.
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

/* Trace what S found, from NOW on. Random numbers depend on the scene's seed
 * and WINDOW only. *O is X's until the next call: the traces, and a flow for
 * each of them, by algo_hop_trace_flows(). *LOST is of the flows of *O. It has
 * no drops; the culprit of a flow that failed is the link with a fault on its
 * path that drops the most, or none. Errors those of the agents and of the
 * fabric. */
int xp_tracer_run(struct xp_tracer *x, const struct scene *scene,
    const struct algo_silent_drop *s, uint32_t window, sim_ns now,
    const struct obs **o, const struct losses **lost, struct sim_err *e);

/* How many probes the traces of the last run took. */
uint64_t xp_tracer_n_probes(const struct xp_tracer *x);

#endif
