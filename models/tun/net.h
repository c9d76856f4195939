/* models/tun/net.h -- real hosts in a simulated network, in real time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	host h: a namespace          this program           host g
 *	+--------------------+                        +--------------------+
 *	| sockets, TCP       |   topo_path(), loss,   |       sockets, TCP |
 *	| tun0: 10.0.0.1 + h |-- holes, delay, ICMP --| tun0: 10.0.0.1 + g |
 *	+--------------------+    (tun/switch.h)      +--------------------+
 *
 * Hosts have the kernel's TCP; there are no switches, this program is the
 * network: it reads what a host sends, asks tun/switch.h for its way through
 * the scene, and writes it to the host where it goes, when it is there. So what
 * differs between this and sim/sim.h is the model of a host; what differs
 * between this and netns/net.h is the network.
 *
 * It runs in the thread that calls tun_net_serve() when tun_net_fd() can be
 * read, which may be the one that has the hosts' sockets; with real/real.h,
 *
 *	fabric_real_open(&f, host, n, ...)   ns = tun_net_ns(net, h),
 *	                                     address = topo_addr_of_host(h)
 *	fabric_real_serve(f, &(struct fabric_real_services){
 *	    .fd = tun_net_fd(net), .ready = serve, ...})
 *
 * No namespace has an interface to the outside or a default route. The kernel
 * takes all of it down when it is closed or the process dies, also of SIGKILL.
 */
#ifndef MODELS_TUN_NET_H
#define MODELS_TUN_NET_H

#include "models/tun/switch.h"

struct tun_net_params {
	uint32_t mtu;         /* bytes */
	uint32_t max_packets; /* on the way at a time */
	double spin_us;       /* before a packet is due, don't sleep */
	struct tun_switch_params network;
};
extern const struct sim_field tun_net_fields[]; /* all but network */

/* What was done so far. In a run that is to be believed `crowded` and
 * `unwritten` are 0, and so is tun_net_overruns(): what is lost then is what
 * tun/switch.h has counted. */
#define TUN_NET_COUNTERS(X)                                                    \
	X(read, "packets that hosts sent")                                     \
	X(written, "packets that hosts got, answers included")                 \
	X(answers, "ICMP answers of switches that were sent")                  \
	X(crowded, "packets dropped: max_packets")                             \
	X(unwritten, "packets that the kernel did not take")

struct tun_net_counters {
#define X(name, doc) uint64_t name;
	TUN_NET_COUNTERS(X)
#undef X
	uint64_t refused[TUN_N_REFUSALS];
	sim_ns late; /* of packets written, beyond their time, in all */
	sim_ns most_late;
};

struct tun_net;

/* Make the hosts of T, which is borrowed until close, in a network without
 * faults or loss, at time 0. It takes the right that netns_permit() gives
 * (models/netns/caps.h) and /dev/net/tun; the thread ends where it began, with
 * the finest timers it can have (PR_SET_TIMERSLACK). Takes 2 descriptors a host
 * and raises the soft limit of them as needed.
 * Errors SIM_EUNSUPPORTED (no right, no TUN), SIM_EINVAL (no hosts), SIM_ELIMIT
 * (addresses, descriptors), SIM_EIO, SIM_ENOMEM; nothing is then left.
 * Cost about 2 ms and 0.4 MiB a host. */
int tun_net_open(struct tun_net **net, const struct topo *t,
    const struct tun_net_params *p, struct sim_err *e);
void tun_net_close(struct tun_net *net); /* NULL is fine */

/* From now on the network is that of SCENE, which is kept, and now is time 0 of
 * its epoch of EPOCH_NS, which is what faults' times count from; counts of
 * tun_net_switch() are 0. What is on the way stays there. Errors SIM_ENOMEM. */
int tun_net_begin(struct tun_net *net, const struct scene *scene,
    sim_ns epoch_ns, struct sim_err *e);

/* A descriptor that can be read when there is something to do, and what does
 * it, without waiting. Errors SIM_EIO, SIM_ENOMEM. */
int tun_net_fd(const struct tun_net *net);
int tun_net_serve(struct tun_net *net, struct sim_err *e);

/* Move the calling thread to a host, or back to where it was at the opening, as
 * in netns/net.h. Errors SIM_EIO. */
int tun_net_enter(const struct tun_net *net, topo_host h, struct sim_err *e);
int tun_net_leave(const struct tun_net *net, struct sim_err *e);

/* The descriptor of a host's namespace. */
int tun_net_ns(const struct tun_net *net, topo_host h);

/* The truth of what was lost; counters. */
const struct tun_switch *tun_net_switch(const struct tun_net *net);
const struct tun_net_counters *tun_net_count(const struct tun_net *net);

/* *N = packets that hosts' devices dropped since the opening, which this
 * program never saw. Errors SIM_EIO. Cost about 50 us a host. */
int tun_net_overruns(const struct tun_net *net, uint64_t *n, struct sim_err *e);

#endif
