/* experiments/pingmesh/net.h -- the network that Pingmesh's agents live on.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks under one world (experiments/pingmesh/world.h):
 *
 *	sim    models/sim/sim.h, in simulated time
 *	real   models/real/real.h, in real time, on hosts of this machine; the
 *	       network between them is netns or tun (experiments/lab/wire.h).
 *	       connect.timers says how the kernel waits for SYN-ACKs, as it
 *	       does of the simulator:
 *	         linux_linear  4 waits of 1 s, then doubled: a kernel's default
 *	         linux         with tcp_syn_linear_timeouts = 0
 *	         windows       the same, and a first wait of 3 s, which eBPF
 *	                       sets in a cgroup; only netns has cgroups
 *	       Servers wait as long for the end of a handshake, and then send
 *	       their SYN-ACK again. Of the section `connect` only timers and
 *	       retries are read. A connect is given up after 0.95 of
 *	       probe_timeout, since a kernel's timers run late: what should
 *	       happen in the seventh second happens at 7.2 s.
 *	       Controller and collector are in this process and answer at once,
 *	       so a fault of mode TRUTH_SLOW does not slow them.
 */
#ifndef EXPERIMENTS_PINGMESH_NET_H
#define EXPERIMENTS_PINGMESH_NET_H

#include "experiments/pingmesh/pingmesh.h"
#include "models/fabric.h"
#include "models/real/real.h"
#include "models/scene/scene.h"
#include "models/sim/sim.h"

struct xp_wire;

/* What agents' hosts are to have. */
struct xp_net_hosts {
	struct fabric_sim_connect_params connect;
	double lasts_s;   /* of a run, at most */
	double give_up_s; /* a connect, on a real network; 0: the kernel does */
	uint32_t n_ports; /* they listen at, one for each QoS class */
	uint16_t port[FABRIC_REAL_CLASSES];
	uint8_t traces; /* 1: agents send AGENT_PROBE */
};

/* Every network begins with this. */
struct xp_net {
	const struct xp_net_ops *ops;
	const char *name; /* of the fabric */

	/* 1: it hashes otherwise than topo_path(), so nobody knows which path
	 * a five-tuple takes. */
	int own_paths;
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

	/* What full ports dropped since the begin; NULL: none is full by a
	 * law. */
	struct fabric_sim_losses (*losses)(const struct xp_net *n);
};

/* Parameters of the simulated fabric. How hosts connect is taken from P; all
 * the rest has its default, as a spec of this plane has no keys for it.
 * Errors SIM_ENOMEM. */
int xp_net_sim_params(struct fabric_sim_params *f, const struct xp_pingmesh *p,
    struct sim_err *e);

/* Both keep T and P. Errors those of fabric_sim_open(). */
int xp_net_open_sim(struct xp_net **n, const struct topo *t,
    const struct xp_pingmesh *p, struct sim_err *e);

/* WIRE is N's from now on, and is closed by it, also when this fails. Errors
 * those of algo_pinglist_open(), SIM_EIO. Faults and timers that this machine
 * refuses are not met before a run begins. */
int xp_net_open_real(struct xp_net **n, struct xp_wire *wire,
    const struct xp_pingmesh *p, struct sim_err *e);

/* The same for agents that are not Pingmesh's; H is copied. Errors also
 * SIM_EUNSUPPORTED where a run begins whose agents may not send probes. */
int xp_net_open_hosts(struct xp_net **n, const struct xp_config *c,
    const struct topo *t, const struct xp_net_hosts *h, struct sim_err *e);
int xp_net_hosts_sim(struct xp_net **n, const struct topo *t,
    const struct xp_net_hosts *h, struct sim_err *e);
int xp_net_hosts_real(struct xp_net **n, struct xp_wire *wire,
    const struct xp_net_hosts *h, struct sim_err *e);

/* Open the network of the fabric that C names, with parameters P: C's own
 * section `pingmesh`, or a changed copy of it. Errors those of the two above.
 */
int xp_net_open(struct xp_net **n, const struct xp_config *c,
    const struct topo *t, const struct xp_pingmesh *p, struct sim_err *e);

/* NULL is fine. */
static inline void xp_net_close(struct xp_net *n)
{
	if (n)
		n->ops->close(n);
}

#endif
