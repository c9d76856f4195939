/* experiments/everflow/live.h -- Everflow at work on a real network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	connections -.
 *	             +-> switches of the kernel -> copies -> desk -> findings
 *	probes ------'                                        |
 *	   ^                                                  |
 *	   '------- agents <------------------- orders <------'
 *
 * The same objects as in a simulation (world.h), on namespaces of this machine:
 * the kernel routes, loses, balances and mirrors (experiments/lab/wire.h), and
 * carries the copies (intake.h). All in one thread.
 */
#ifndef EXPERIMENTS_EVERFLOW_LIVE_H
#define EXPERIMENTS_EVERFLOW_LIVE_H

#include "experiments/everflow/desk.h"
#include "experiments/lab/wire.h"

/* Who hears of a finding, when it is said first. */
struct xp_live_ear {
	void *arg;
	void (*hear)(void *arg, const struct xp_said *said);
};

/* What came of a run; good until the next one. */
struct xp_live_seen {
	const struct obs_mirror *copies; /* all, in the order of mirroring */
	const struct obs_guided *sent;
	const struct algo_trace_store *traces;
	const struct algo_counters *counters;
	const struct xp_said *said;
	size_t n_said;
	const struct algo_finding *standing; /* at the end */
	size_t n_standing;
	struct algo_analyzer_counts analyzed;
	const struct netns_mirror_count *mirrored; /* [n_switches] */
	const struct netns_mux_count *balanced;    /* [n_hosts], or NULL */
	const struct netns_flow_end *end;          /* of each flow */
	const struct netns_link_count *count;      /* [n_links], or NULL */
	sim_ns end_ns;
	uint64_t n_other; /* as in wire.h */
	const char *other;
};

struct xp_live;

/* WIRE is the run's from now on and is closed with it, also on failure; P is
 * borrowed. Errors SIM_EUNSUPPORTED (a network whose switches cannot mirror),
 * SIM_ENOMEM. */
int xp_live_open(struct xp_live **l, struct xp_wire *wire,
    const struct xp_everflow *p, struct sim_err *e);
void xp_live_close(struct xp_live *l); /* NULL is fine */

/* Have the next run begin with these orders, besides those that debuggers give.
 * ORDER is borrowed until then. */
void xp_live_order(struct xp_live *l, const struct algo_probe_order order[],
    size_t n);

/* Have copies of later runs cross the network to host AT, where each analyzer has
 * a socket, instead of a ring of memory (intake.h); TOPO_NONE: by the ring
 * again. */
void xp_live_collect(struct xp_live *l, topo_host at);

/* Run FLOW[n] in SCENE, whose times are since now, for its epoch and settle_s
 * more; or, once FLOW has ended, until MOST findings were made (0: for the whole
 * time). Of connections a share goes to virtual addresses, as the section says:
 * dst_host is then their server. EAR may be NULL. Errors SIM_EIO, also when copies found no room; those
 * of the parts. */
int xp_live_run(struct xp_live *l, const struct scene *scene,
    struct obs_flow flow[], size_t n, size_t most,
    const struct xp_live_ear *ear, struct xp_live_seen *seen,
    struct sim_err *e);

#endif
