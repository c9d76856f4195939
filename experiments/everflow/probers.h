/* experiments/everflow/probers.h -- agents that send guided probes, simulated.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	orders --> host of each --> message --> agent --> bytes --> wire
 *
 * All hosts have an agent (algos/everflow/prober.h), which knows nothing of this:
 * it is the one that probes on real networks. An order goes to a host chosen by
 * its id. Those whose agents still have orders hear of the controller with each
 * round of orders, for agents that do not hear of it stop.
 */
#ifndef EXPERIMENTS_EVERFLOW_PROBERS_H
#define EXPERIMENTS_EVERFLOW_PROBERS_H

#include "algos/everflow/debug.h"
#include "algos/everflow/prober.h"
#include "models/scene/scene.h"

/* Who carries what agents send: N bytes at DATA, which begin with an IP header,
 * from HOST at SENT. */
struct xp_probers_wire {
	void *arg;
	int (*send)(void *arg, topo_host host, sim_ns sent, const void *data,
	    size_t n, struct sim_err *e);
};

struct xp_probers;

/* PARAMS and WIRE are borrowed. Errors SIM_ENOMEM. */
int xp_probers_open(struct xp_probers **p, uint32_t n_hosts,
    const struct algo_prober_params *params, const struct xp_probers_wire *wire,
    struct sim_err *e);
void xp_probers_close(struct xp_probers *p); /* NULL is fine */

/* Begin anew at time 0: agents have no orders. Errors SIM_ENOMEM. */
int xp_probers_begin(struct xp_probers *p, const struct sim_seed *where,
    struct sim_err *e);

/* Hand out N orders now, after the last xp_probers_run(). Errors SIM_ENOMEM. */
int xp_probers_order(struct xp_probers *p,
    const struct algo_probe_order order[], size_t n, struct sim_err *e);

/* Go on until UNTIL. Errors those of the agents and the wire. */
int xp_probers_run(struct xp_probers *p, sim_ns until, struct sim_err *e);

#endif
