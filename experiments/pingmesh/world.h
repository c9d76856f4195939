/* experiments/pingmesh/world.h -- Pingmesh at work on a network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	         controller: plan, a document for each host
 *	           | FETCH                        ^ UPLOAD, COUNTERS
 *	           v                              |
 *	hosts:   agent   agent   agent ...  --> collector: tables by window
 *	           |       |       |
 *	network, simulated or real: SYNs, SYN-ACKs and payloads under the
 *	scene's faults (experiments/pingmesh/net.h)
 *
 * Whoever drives a world decides what to do at which time; see
 * experiments/pingmesh/run.h.
 */
#ifndef EXPERIMENTS_PINGMESH_WORLD_H
#define EXPERIMENTS_PINGMESH_WORLD_H

#include "algos/pingmesh/agent.h"
#include "experiments/pingmesh/collector.h"
#include "experiments/pingmesh/net.h"
#include "models/scene/scene.h"

struct xp_world;

/* W keeps T, P and NET, which the caller closes after it. N_KEPT as
 * xp_collector_open(). Errors of algo_pinglist_open(), SIM_ENOMEM. */
int xp_world_open(struct xp_world **w, const struct topo *t,
    const struct xp_pingmesh *p, struct xp_net *net, uint32_t n_kept,
    struct sim_err *e);
void xp_world_close(struct xp_world *w);

/* Begin anew at time 0. W keeps SCENE, whose truth may be changed between calls
 * of xp_world_run(). Errors those of the network; SIM_EMISMATCH when its hosts
 * do not send SYNs again as xp_pingmesh_waits() says. */
int xp_world_begin(struct xp_world *w, struct scene *scene, struct sim_err *e);

/* Go on until time T, ns since the begin. A real network's clock may then be a
 * little beyond. Domain: T is not before that of the last call.
 * Errors those of fabric_run(). */
int xp_world_run(struct xp_world *w, sim_ns t, struct sim_err *e);

struct xp_collector *xp_world_collector(struct xp_world *w);
const struct algo_pinglist *xp_world_plan(const struct xp_world *w);

/* The agents at this time, and their counters in sum over all their lives. An
 * agent's counters are gone when its host goes off, and known only as of the
 * last look: what it counted after that is missing here. */
struct xp_pulse {
	uint32_t n_on, n_live; /* hosts that are on; of these, with a list */
	uint64_t n_in_flight, n_held; /* probes under way; records to upload */
	struct algo_pingmesh_counters count;
};

/* Cost O(hosts). */
struct xp_pulse xp_world_pulse(struct xp_world *w);

/* The state of a host's agent; zeroed before its first start in this run. */
struct algo_pingmesh_status xp_world_status(const struct xp_world *w,
    topo_host h);

#endif
