/* experiments/everflow/desk.h -- where copies become findings.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	copies --> reshuffle --> analyzers --> traces, counters --> debuggers
 *	                                                              |  |
 *	                                          orders for probes <-'  '-> findings
 *
 * The part of Everflow that has no network: what it is fed may be simulated, of
 * this machine's kernel or from a wire.
 */
#ifndef EXPERIMENTS_EVERFLOW_DESK_H
#define EXPERIMENTS_EVERFLOW_DESK_H

#include "experiments/everflow/everflow.h"
#include "experiments/everflow/world.h"

/* Who knows where a packet of TUPLE, as switch AT routes it, goes on that came
 * in by link IN: the kernel, say. NEXT may be NULL: nobody. *LINK = TOPO_NONE:
 * it is not known. */
struct xp_desk_routes {
	void *arg;
	int (*next)(void *arg, topo_switch at, topo_link in,
	    const struct topo_tuple *tuple, topo_link *link, struct sim_err *e);
};

struct xp_desk;

/* All is borrowed until close. Errors SIM_EINVAL, SIM_ENOMEM. */
int xp_desk_open(struct xp_desk **d, const struct algo_routing *routing,
    const struct xp_everflow *p, const struct xp_desk_routes *routes,
    struct sim_err *e);
void xp_desk_close(struct xp_desk *d); /* NULL is fine */

/* Take rows FROM .. TO - 1, then end what is over at NOW (SIM_NEVER: all).
 * Errors those of the analyzers, of ROUTES, SIM_ENOMEM. */
int xp_desk_feed(struct xp_desk *d, const struct obs_mirror *copies,
    size_t from, size_t to, sim_ns now, struct sim_err *e);

/* Let the debuggers look at all there is at NOW; SENT are all guided probes. The
 * orders that they give are *ORDER[*N], until the next look. Errors theirs. */
int xp_desk_look(struct xp_desk *d, const struct obs_guided *sent, sim_ns now,
    const struct algo_probe_order **order, size_t *n, struct sim_err *e);

/* After which time a probe has its trace, if ever. */
sim_ns xp_desk_settle_ns(const struct xp_everflow *p);

/* So far; good until the next call that changes it. */
const struct algo_trace_store *xp_desk_traces(const struct xp_desk *d);
const struct algo_counters *xp_desk_counters(const struct xp_desk *d);
const struct xp_said *xp_desk_said(const struct xp_desk *d, size_t *n);

/* What the debuggers said at the last look. A finding may change while the probes
 * that it asked for come in. */
const struct algo_finding *xp_desk_standing(const struct xp_desk *d, size_t *n);
void xp_desk_analyzed(const struct xp_desk *d,
    struct algo_analyzer_counts *sum);

#endif
