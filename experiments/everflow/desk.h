/* experiments/everflow/desk.h -- where copies become findings.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	copies --> reshuffle --> analyzers --> traces, counters --> debuggers
 *	                                                              |  |
 *	                                          orders for probes <-'  '-> findings
 *
 * The part of Everflow that has no network: what it is fed may be simulated
 * (world.h) or of this machine's kernel (live.h).
 */
#ifndef EXPERIMENTS_EVERFLOW_DESK_H
#define EXPERIMENTS_EVERFLOW_DESK_H

#include "experiments/everflow/everflow.h"

/* What a debugger said of a place, and since when it says so. */
struct xp_said {
	unsigned debugger; /* enum xp_everflow_debugger */
	struct algo_finding finding;
	sim_ns at;
};

/* Which findings are kept. FIRST: the first of each cause at a link and node;
 * none changes, so each can be told when it is made. LAST: of each place the
 * last, as a debugger knows more by then; since when it says so is since it says
 * this cause. */
enum xp_desk_keeps { XP_DESK_FIRST, XP_DESK_LAST };

/* Whose desk it is. Each function may be NULL. */
struct xp_desk_owner {
	void *arg;
	enum xp_desk_keeps keeps;

	/* Where a packet of TUPLE, as switch AT routes it, goes on that came in
	 * by link IN: the kernel knows, say. *LINK = TOPO_NONE: nobody does. */
	int (*next)(void *arg, topo_switch at, topo_link in,
	    const struct topo_tuple *tuple, topo_link *link, struct sim_err *e);

	/* T, which an analyzer has just ended, is being stored. */
	void (*stored)(void *arg, const struct algo_trace *t);

	/* A debugger has looked and wants these probes sent; N may be 0. */
	int (*order)(void *arg, const struct algo_probe_order order[], size_t n,
	    struct sim_err *e);
};

struct xp_desk;

/* P, and ROUTING's topology, are borrowed until close; the rest is copied. Errors
 * SIM_EINVAL, SIM_ENOMEM; then *D is NULL. */
int xp_desk_open(struct xp_desk **d, const struct algo_routing *routing,
    const struct xp_everflow *p, const struct xp_desk_owner *owner,
    struct sim_err *e);
void xp_desk_close(struct xp_desk *d); /* NULL is fine */

/* Take rows FROM .. TO - 1, then end what is over at NOW (SIM_NEVER: all). Row i
 * is for analyzer WHO[i], as whoever carried it shared them out; NULL: they are
 * shared out here. Errors those of the analyzers, of the owner, SIM_EINVAL (there
 * is no such analyzer), SIM_ENOMEM. */
int xp_desk_feed(struct xp_desk *d, const struct obs_mirror *copies,
    const uint8_t *who, size_t from, size_t to, sim_ns now, struct sim_err *e);

/* Let the debuggers look at all there is at NOW, in the order of
 * XP_EVERFLOW_DEBUGGERS; SENT are all guided probes. Errors theirs and the
 * owner's. */
int xp_desk_look(struct xp_desk *d, const struct obs_guided *sent, sim_ns now,
    struct sim_err *e);

/* After which time a probe has its trace, if ever. */
sim_ns xp_desk_settle_ns(const struct xp_everflow *p);

/* So far; good until the next call that changes it. */
const struct algo_trace_store *xp_desk_traces(const struct xp_desk *d);
const struct algo_counters *xp_desk_counters(const struct xp_desk *d);
const struct xp_said *xp_desk_said(const struct xp_desk *d, size_t *n);

/* What the debuggers said at the last look. A finding may change while the probes
 * that it asked for come in. */
const struct algo_finding *xp_desk_standing(const struct xp_desk *d, size_t *n);

/* What all analyzers met. */
void xp_desk_analyzed(const struct xp_desk *d,
    struct algo_analyzer_counts *sum);

#endif
