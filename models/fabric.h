/* models/fabric.h -- where agents' actions go and their events come from.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A fabric carries out actions and tells what happens. submit() never waits;
 * poll() returns at the first event, or at UNTIL. fabric_run() is the one loop
 * that joins agents and a fabric, simulated or real.
 */
#ifndef MODELS_FABRIC_H
#define MODELS_FABRIC_H

#include "models/agent.h"
#include "sim/err.h"
#include "sim/time.h"

enum { FABRIC_MAX_WAITS = 8 };

struct fabric_caps {
	sim_ns clock_res_ns;
	sim_ns syn_rto_ns[FABRIC_MAX_WAITS]; /* waits before SYN 2, 3, ...; 0
						ends the list */
	unsigned can_probe_ttl : 1, sees_flows : 1, sees_mirror : 1;
};

/* Every fabric struct begins with this. */
struct fabric {
	const struct fabric_ops *ops;
	struct fabric_caps caps;
	uint32_t n_hosts;
};

struct fabric_ops {
	const char *name;
	sim_ns (*now)(const struct fabric *f);
	int (*submit)(struct fabric *f, topo_host host,
	    const struct agent_action *action, size_t n, struct sim_err *e);

	/* Up to CAP > 0 events, each with its host and time, in the order of
	 * time. Several come at once only if no answer that is submitted to one
	 * of them could cause an event before the next. *N = 0: nothing happens
	 * until UNTIL, where the clock then stands; with SIM_NEVER, nothing
	 * happens any more, and the clock stands at the last event. Returns 0
	 * or SIM_E*. */
	int (*poll)(struct fabric *f, sim_ns until, struct agent_event ev[],
	    topo_host host[], sim_ns at[], size_t cap, size_t *n,
	    struct sim_err *e);
	/* 1 if HOST runs an agent now; the function may be NULL: then all hosts
	 * do. The agent of a host that comes on later is told by
	 * AGENT_START. */
	int (*is_on)(const struct fabric *f, topo_host host);
	void (*close)(struct fabric *f);
};

/* The agents of all hosts of a fabric, one kind. Zeroed is empty. */
struct fabric_agents {
	const struct agent_ops *ops;
	const void *params;
	uint32_t n_hosts;
	size_t stride;
	unsigned char *state; /* [n_hosts * stride] */
	struct sim_rng *rng;  /* [n_hosts] */
	uint32_t *life;       /* [n_hosts] == now_living: started */
	uint32_t now_living;
	struct sim_seed where;
};

/* PARAMS is borrowed until close. Errors SIM_ENOMEM. */
int fabric_agents_open(struct fabric_agents *a, const struct agent_ops *ops,
    const void *params, uint32_t n_hosts, struct sim_err *e);
void fabric_agents_close(struct fabric_agents *a);

/* Forget all agents: those that are started from now on are new ones, with
 * streams named by WHERE. Cost O(1). */
void fabric_agents_renew(struct fabric_agents *a, const struct sim_seed *where);

/* Called for each AGENT_REPORT, which no fabric needs to see. */
typedef int fabric_report_fn(void *arg, topo_host host, sim_ns at,
    const struct agent_report *report, struct sim_err *e);

/* Start every agent that was not started yet and whose host is on (unless the
 * agents start late, see agent_ops), then poll, step and submit until UNTIL. At
 * AGENT_START an agent is made anew, but goes on with its stream of random
 * numbers. The function may be called again with a later UNTIL. Errors are
 * those of init(), step(), submit(), poll() and REPORT, and name the host they
 * were met at. */
int fabric_run(struct fabric *f, struct fabric_agents *a, sim_ns until,
    fabric_report_fn *report, void *arg, struct sim_err *e);

#endif
