/* models/netns/net.h -- a topology built of network namespaces of this machine.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One namespace a host and a switch, one veth pair a cable, the kernel's own
 * routing, ECMP and TCP:
 *
 *	host h, lo: 10.0.0.1 + h             switch s, lo: 172.16.0.0 + s
 *	+----------------------------+       +----------------------------+
 *	| l<2c+1>: 100.64.0.0 + 2c+1 |-- c --| l<2c>:     100.64.0.0 + 2c |
 *	+----------------------------+  /31  +----------------------------+
 *
 * The interface that receives what directed link l carries has the address of
 * topo_addr_of_link(l), the index netns_ifindex(l), unique in all namespaces,
 * the name "l<l>" and the link's name as its alias. A switch hashes by a seed
 * that derives from ecmp_seed, so flows take the same paths in each build; not
 * those of topo_path(), whose hash is another, but the same next hops are open
 * to them (models/netns/routes.h).
 *
 * No namespace has a default route or an interface to the outside. The kernel
 * tears a network down by itself after netns_close(), or when the process dies,
 * also of SIGKILL; that takes it some 10 ms for 24 nodes.
 */
#ifndef MODELS_NETNS_NET_H
#define MODELS_NETNS_NET_H

#include "models/netns/node.h"
#include "sim/err.h"
#include "topo/topo.h"

#define NETNS_IFINDEX_BASE UINT32_C(1000) /* lo has 1 */

struct netns_net;

/* Whether this program has what it takes to talk to the kernel (libmnl). */
int netns_is_built_in(void);

/* Build the network of T, which is borrowed until close, by the right that
 * netns_permit() gives (models/netns/caps.h); the thread ends where it began.
 * Takes 2 descriptors a node, and raises the soft limit of them as needed.
 * Errors found before anything is built: SIM_EUNSUPPORTED (no right, too old a
 * kernel, built without libmnl), SIM_ELIMIT (more hosts, switches or links than
 * addresses; more nodes than descriptors, namespaces or memory), SIM_EINVAL (an
 * empty topology). And SIM_ENOMEM, SIM_EIO (the kernel refuses; an interface
 * does not carry after 10 s): nothing is then left, either.
 * Cost 1 to 3 ms and 0.4 MiB a node, of one CPU and of kernel memory. */
int netns_open(struct netns_net **net, const struct topo *t,
    const struct netns_params *p, struct sim_err *e);
void netns_close(struct netns_net *net);

/* Move the calling thread into a node, or back to where it was when the network
 * was opened. A socket stays in the namespace where it was opened, so: enter,
 * open sockets, leave; then use them from anywhere. Errors SIM_EIO. */
int netns_enter(const struct netns_net *net, topo_node n, struct sim_err *e);
int netns_leave(const struct netns_net *net, struct sim_err *e);

/* The descriptor of a node's namespace: for nsenter --net=/proc/PID/fd/N. */
int netns_fd(const struct netns_net *net, topo_node n);

/* The greatest packet of its cables, in bytes. */
uint32_t netns_mtu(const struct netns_net *net);

static inline uint32_t netns_ifindex(topo_link l)
{
	return NETNS_IFINDEX_BASE + l;
}

/* packets[l] = packets that link l has carried to its end since it was built,
 * before any fault at its receiving end. Shape packets[n_links].
 * Errors SIM_EIO. Cost about 40 us a node. */
int netns_count(const struct netns_net *net, uint64_t packets[],
    struct sim_err *e);

/* The link by which switch S would send on a packet of T that came in by link IN:
 * asked of the kernel, by whose hash it is. TOPO_NONE: none, or not by TCP, UDP
 * or ICMP. Errors SIM_EIO. Cost about 10 us. */
int netns_next(const struct netns_net *net, topo_switch s, topo_link in,
    const struct topo_tuple *t, topo_link *next, struct sim_err *e);

/* From now on what is sent over link L goes at no more than MBPS, 1 to 34000, and
 * up to LIMIT bytes of it wait, in order; what more there is the kernel drops.
 * Errors SIM_EIO, as of a kernel without this queue (tbf). */
int netns_pace(const struct netns_net *net, topo_link l, uint32_t mbps,
    uint32_t limit, struct sim_err *e);

/* A next hop and its parts of the flows: 1 to 256. */
struct netns_share {
	topo_link link;
	uint32_t weight;
};

/* From now on switch S spreads what is for host H over SHARE[0..N-1], whatever
 * its table says; with N = 0 by its table again. Errors SIM_EIO: a link does not
 * leave it, or H is spread otherwise already. And SIM_ENOMEM, SIM_ELIMIT. */
int netns_spread(const struct netns_net *net, topo_switch s, topo_host h,
    const struct netns_share share[], uint32_t n, struct sim_err *e);

/* What switch S hashes with since it was built, and to have it hash with another
 * seed from now on, 0 being 1. The calling thread ends where it was when the
 * network was opened. Errors SIM_EIO. */
uint32_t netns_seed(const struct netns_net *net, topo_switch s);
int netns_reseed(const struct netns_net *net, topo_switch s, uint32_t seed,
    struct sim_err *e);

#endif
