/* models/netns/traffic.h -- TCP flows between the hosts of a real network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each flow is a connection of the kernel's TCP that carries n_pkts segments of
 * full size one way, of which TCP may cut one in two where the receiver's
 * window ends:
 *
 *	SYN -->, data -->, <-- FIN when all has come, RST -->
 *
 * so both ends are free at once (no TIME_WAIT) and the sender knows that all
 * has come. One thread and one epoll run all of them; nothing waits but who
 * polls the descriptor.
 */
#ifndef MODELS_NETNS_TRAFFIC_H
#define MODELS_NETNS_TRAFFIC_H

#include "models/netns/net.h"
#include "models/obs.h"
#include "models/real/real.h"
#include "topo/topo.h"

/* Zeroed is usual. */
struct netns_traffic_params {
	double timeout_s;       /* a flow fails after; 0: 60 */
	const char *congestion; /* control; NULL: "reno" */

	/* The namespaces of the hosts, instead of a network's. */
	const struct fabric_real_host *host;

	/* [n] virtual addresses (models/netns/mux.h) that flows are sent to,
	 * dst_host being who is to get them; 0: to that host. NULL: all are.
	 * Borrowed until close. */
	const uint32_t *to;

	/* Each may be NULL: the sender of FLOW is connected; it is about to be
	 * closed. An error ends the step that it happens in. */
	void *arg;
	int (*connected)(void *arg, size_t flow, int fd, struct sim_err *e);
	int (*closes)(void *arg, size_t flow, int fd, struct sim_err *e);
};

enum netns_flow_state {
	NETNS_FLOW_TO_COME,
	NETNS_FLOW_RUNS,
	NETNS_FLOW_DONE,
	NETNS_FLOW_FAILED, /* not all came within timeout_s, or refused */
};

/* What the sender's kernel knew at the flow's end. */
struct netns_flow_end {
	enum netns_flow_state state;
	uint8_t established; /* the handshake was done */
	uint32_t n_sent;     /* data segments, those sent again too */
	uint64_t end_ns;     /* since the opening */
};

struct netns_traffic;

/* NET may be NULL if P names hosts. Listen for the flows, each of which begins
 * start_ns after now. FLOW is borrowed until close; when a flow ends its n_retx
 * and srtt_us are set. Ports are as given; source ports must differ among a
 * host's flows to one port of another. The soft limit on descriptors is raised;
 * a running flow takes 2. Errors SIM_EINVAL (a flow to its own host,
 * but by a virtual address, or of no packets, a port 0, a flow twice), SIM_ERANGE (a host that is not in T),
 * SIM_EIO (a port that is in use, or a congestion control that is not to be
 * had), SIM_ENOMEM. */
int netns_traffic_open(struct netns_traffic **tr, const struct netns_net *net,
    const struct topo *t, struct obs_flow flow[], size_t n,
    const struct netns_traffic_params *p, struct sim_err *e);

/* Flows that run are reset. NULL is fine. */
void netns_traffic_close(struct netns_traffic *tr);

/* To be polled for reading; then, or any time, step() does what can be done.
 * Errors SIM_EIO (a socket cannot be had). */
int netns_traffic_fd(const struct netns_traffic *tr);
int netns_traffic_step(struct netns_traffic *tr, struct sim_err *e);

/* Flows that have not ended. */
size_t netns_traffic_left(const struct netns_traffic *tr);
const struct netns_flow_end *netns_traffic_end(const struct netns_traffic *tr,
    size_t flow);

#endif
