/* experiments/pingmesh/net.h -- what Pingmesh's agents live on.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks under one world (experiments/pingmesh/world.h):
 *
 *	sim    models/sim/sim.h, in simulated time
 *	real   models/real/real.h on hosts of this machine, in real time; what is
 *	       between them is netns or tun (experiments/lab/wire.h).
 *	       connect.timers says how its kernel waits for SYN-ACKs, as it
 *	       says of the simulator:
 *	         linux_linear  4 waits of 1 s, then doubled: as it is
 *	         linux         tcp_syn_linear_timeouts = 0
 *	         windows       that, and a first wait of 3 s by eBPF in a
 *	                       cgroup, which only netns has
 *	       Servers wait as long for the end of a handshake, and then send a
 *	       SYN-ACK again. Of connect, only timers and retries are read. A
 *	       connect is given up after 0.95 probe_timeout: a kernel's seventh
 *	       second is its 7.2nd.
 *	       Controller and collector are in this process and answer at once,
 *	       so TRUTH_SLOW does not slow them.
 */
#ifndef EXPERIMENTS_PINGMESH_NET_H
#define EXPERIMENTS_PINGMESH_NET_H

#include "experiments/pingmesh/pingmesh.h"
#include "models/fabric.h"
#include "models/scene/scene.h"

struct xp_wire;

/* Every network begins with this. */
struct xp_net {
	const struct xp_net_ops *ops;
	const char *name; /* of the fabric */
	int own_paths; /* topo_path() does not tell which path a tuple takes */
};

struct xp_net_ops {
	/* Begin anew at time 0 and give the fabric, which is good until the
	 * next begin or close. Keeps SCENE, whose truth may be changed between
	 * runs as long as it is sorted. */
	int (*begin)(struct xp_net *n, struct scene *scene,
	    const struct fault_services *s, struct fabric **f,
	    struct sim_err *e);

	/* fabric_run() under the scene. */
	int (*run)(struct xp_net *n, struct fabric_agents *a, sim_ns until,
	    struct sim_err *e);
	void (*close)(struct xp_net *n);
};

/* The simulated fabric: all that a spec says of it is how hosts connect. Errors
 * SIM_ENOMEM. */
int xp_net_sim_params(struct fabric_sim_params *f, const struct xp_pingmesh *p,
    struct sim_err *e);

/* Both keep T and P. Errors those of fabric_sim_open(). */
int xp_net_open_sim(struct xp_net **n, const struct topo *t,
    const struct xp_pingmesh *p, struct sim_err *e);

/* N has WIRE from now on, and closes it, also on failure. Errors those of
 * algo_pinglist_open(), SIM_EIO. What the machine refuses of faults and timers
 * is met when a run begins. */
int xp_net_open_real(struct xp_net **n, struct xp_wire *wire,
    const struct xp_pingmesh *p, struct sim_err *e);

/* Open that of C's fabric by P, which is C's own section or a changed copy of
 * it. Errors those of the two above. */
int xp_net_open(struct xp_net **n, const struct xp_config *c,
    const struct topo *t, const struct xp_pingmesh *p, struct sim_err *e);

/* NULL is fine. */
static inline void xp_net_close(struct xp_net *n)
{
	if (n)
		n->ops->close(n);
}

#endif
