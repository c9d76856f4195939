/* experiments/lab/wire.h -- what is between hosts whose sockets are real.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two networks that hosts of this machine's kernel can be on (experiments/spec/
 * fabric.h), with the faults of a scene and the truth of what was lost:
 *
 *	netns  switches are namespaces too      models/netns/net.h, faults.h
 *	tun    switches and links are simulated models/tun/net.h
 *
 * The thread that opens one keeps to one CPU until it closes it: on several,
 * packets of a flow overtake each other, and TCP sends again what is not lost.
 */
#ifndef EXPERIMENTS_LAB_WIRE_H
#define EXPERIMENTS_LAB_WIRE_H

#include <sched.h>

#include "models/netns/faults.h"
#include "models/netns/icmp.h"
#include "models/netns/mirror.h"
#include "models/netns/mux.h"
#include "models/netns/traffic.h"
#include "models/real/real.h"
#include "models/scene/scene.h"
#include "models/tun/net.h"
#include "topo/topo.h"

/* What an epoch asks of a network. Zeroed is usual. */
struct xp_wire_epoch {
	sim_ns lasts_ns;
	uint32_t max_drops;   /* (flow, link) that are listed; 0: as usual */
	double syn_timeout_s; /* a host's first wait for a SYN-ACK; 0: as is */
};

/* What came of an epoch. Arrays are good until the next one. */
struct xp_lab_seen {
	/* By the network. */
	struct netns_drop *drop; /* of packets by their own five-tuple */
	size_t n_drops;
	struct netns_link_count *count; /* [n_links], or NULL */
	struct netns_icmp icmp;         /* of all switches */
	uint64_t n_other;               /* drops that no truth tells of */
	char other[64];                 /* why the most of them were */

	/* By the lab (experiments/lab/lab.h). */
	struct agent_report *report; /* in the order they came */
	size_t n_reports;
	struct netns_flow_end *end; /* of each flow */
	uint64_t n_retx;            /* segments sent again */
};

/* Every network begins with this. */
struct xp_wire {
	const struct xp_wire_ops *ops;
	const struct topo *topo;
	struct fabric_real_host *host; /* [n_hosts] */
	double timeout_s;              /* a flow that takes longer failed */
	cpu_set_t cpus;                /* where the thread was */
};

struct xp_wire_ops {
	const char *name;  /* of the fabric */
	uint8_t own_paths; /* topo_path() does not tell a tuple's path */

	/* Begin an epoch of SCENE, which is kept, at its time 0. */
	int (*begin)(struct xp_wire *w, const struct scene *scene,
	    const struct xp_wire_epoch *x, struct sim_err *e);

	/* What holds at NOW holds from now on. NULL: it does by itself. */
	int (*apply)(struct xp_wire *w, sim_ns now, struct sim_err *e);

	/* During an epoch: a descriptor (-1: none) and what is to be called
	 * when it can be read. */
	int (*fd)(const struct xp_wire *w);
	int (*step)(struct xp_wire *w, struct sim_err *e);

	/* Where retransmissions are told. NULL: nowhere; whoever wants to know
	 * watches sockets. */
	struct fabric_real_retx_source (*retx)(struct xp_wire *w);

	/* Have the switches mirror, from now until the mirror is closed, which
	 * is before the epoch ends; tell where they route (netns_next()). NULL:
	 * they do neither. */
	int (*mirror)(struct xp_wire *w, const struct netns_mirror_params *p,
	    struct netns_mirror **m, struct sim_err *e);
	int (*next)(struct xp_wire *w, topo_switch at, topo_link in,
	    const struct topo_tuple *tuple, topo_link *link, struct sim_err *e);

	/* Have hosts balance as LAW says, which is kept, from now until that is
	 * closed, which is before the epoch ends. NULL: they cannot. */
	int (*balance)(struct xp_wire *w, const struct packet_mux *law,
	    struct netns_mux **m, struct sim_err *e);

	/* What came of the epoch, of whose flows N_FAILED were given up. Errors
	 * SIM_EIO, also when not all that was lost is known. */
	int (*look)(struct xp_wire *w, unsigned n_failed, struct xp_lab_seen *s,
	    struct sim_err *e);
	void (*end)(struct xp_wire *w);
	void (*close)(struct xp_wire *w); /* all but the base */
};

/* The CPU that labs are kept to, of those that this process may use. */
int xp_wire_cpu(void);

/* For networks, of which W is the base: keep the thread to that CPU, and make
 * room for the hosts. Errors SIM_ENOMEM. */
int xp_wire_init(struct xp_wire *w, const struct xp_wire_ops *ops,
    const struct topo *t, struct sim_err *e);

/* Build one. Errors those of netns_permit(), of netns_open() or tun_net_open(),
 * and SIM_ENOMEM. Whether faults can be had is met when an epoch begins. */
int xp_wire_open_netns(struct xp_wire **w, const struct topo *t,
    const struct netns_params *p, enum netns_faults_by by, struct sim_err *e);
int xp_wire_open_tun(struct xp_wire **w, const struct topo *t,
    const struct tun_net_params *p, struct sim_err *e);
void xp_wire_close(struct xp_wire *w); /* NULL is fine */

/* Set one knob of the kernel, "ipv4/tcp_syn_linear_timeouts", in every host.
 * Errors SIM_EIO. */
int xp_wire_set(const struct xp_wire *w, const char *knob, uint32_t value,
    struct sim_err *e);

#endif
