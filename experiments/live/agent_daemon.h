/* experiments/live/agent_daemon.h -- Pingmesh's agent on this host, for good.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The very object that runs in simulations (algo_pingmesh_agent) on the real
 * fabric, with contacts by HTTP. Nothing here decides whom to probe or when.
 *
 *	open    sockets, log and status file, by whatever right one has
 *	        then that is given up (experiments/live/daemon.h)
 *	run     until SIGTERM, SIGINT or the time that was given
 *	end     no more probes; what is held is sent to the collector, for up to
 *	        grace_s; what is then left is counted in the log
 *
 * The clock of all that the agent does is the fabric's, which is monotonic;
 * experiments/live/fetch.h says how records come by the wall clock.
 */
#ifndef EXPERIMENTS_LIVE_AGENT_DAEMON_H
#define EXPERIMENTS_LIVE_AGENT_DAEMON_H

#include "algos/pingmesh/agent.h"
#include "experiments/live/fetch.h"
#include "models/real/real.h"

struct xp_agent;

struct xp_agent_params {
	struct topo_ip address;            /* its own */
	struct algo_pingmesh_params agent; /* but for address and book */
	struct fabric_real_params fabric;
	const char *controllers, *collector; /* collector NULL: none */
	struct xp_identity_params identity;
	const char *signed_by;    /* NULL: lists need no signature */
	const char *newest;       /* of signed ones, kept here; NULL: not */
	const char *user;         /* NULL: see xp_daemon_drop() */
	const char *log, *status; /* NULL: stderr; none */
	const char *metrics;      /* agent_metrics.h; NULL: none */
	uint32_t memory_mib;      /* 0: no limit */
	double for_s;             /* 0: until a signal comes */
	double grace_s;
	int once; /* ask for a list once, and probe nobody */

	/* Not NULL: called at SIGHUP, for xp_agent_change(). TELL gets a line for
	 * the log. Returns 0, or less if nothing has changed. */
	int (*again)(void *arg, struct xp_agent *a, char *tell, size_t size);
	void *arg;
};

/* P and its texts are borrowed until close. SIGTERM, SIGINT, SIGUSR1 and
 * SIGPIPE are blocked from here on, for run().
 * Errors those of what is opened. */
int xp_agent_open(struct xp_agent **out, const struct xp_agent_params *p,
    struct sim_err *e);

/* SIGUSR1 has the status logged. With `once`: 1 if a list with peers came, else
 * 0. Errors: of the machine alone (memory, epoll); a controller or collector
 * that fails is none. */
int xp_agent_run(struct xp_agent *a, struct sim_err *e);

/* Take controllers, collector, what is allowed and the file of metrics from P, whose
 * texts are borrowed until close; all else stays. Where one of the first three is
 * another, peers are dropped and a list is asked for at once. Errors those of
 * xp_fetch_change(), with nothing changed. */
int xp_agent_change(struct xp_agent *a, const struct xp_agent_params *p,
    struct sim_err *e);

void xp_agent_close(struct xp_agent *a); /* NULL is fine */

#endif
