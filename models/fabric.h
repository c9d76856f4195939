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
	 * time. Only those that nothing submitted in answer to an earlier one
	 * of them could have come before. *N = 0: nothing until UNTIL, where
	 * the clock then stands; with SIM_NEVER, nothing any more, and it
	 * stands at the last event. Returns 0 or SIM_E*. */
	int (*poll)(struct fabric *f, sim_ns until, struct agent_event ev[],
	    topo_host host[], sim_ns at[], size_t cap, size_t *n,
	    struct sim_err *e);
	/* 1 if HOST runs an agent now; NULL: all do. One that comes on later is
	 * told by AGENT_START. */
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

/* Start every agent that is not and whose host is on (see starts_late), then
 * poll, step and submit until UNTIL. At AGENT_START an agent is made anew, and
 * its stream goes on. Going on later is legal. Errors those of init(), step(),
 * submit(), poll() and REPORT, with the host they were met at. */
int fabric_run(struct fabric *f, struct fabric_agents *a, sim_ns until,
    fabric_report_fn *report, void *arg, struct sim_err *e);

#endif
