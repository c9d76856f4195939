/* models/tun/node.h -- a host: a namespace whose one device is this program.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_TUN_NODE_H
#define MODELS_TUN_NODE_H

#include "sim/err.h"
#include "topo/ids.h"

struct tun_node {
	int ns, dev; /* descriptors, or -1 */
};

/* Make a namespace, with the calling thread in it, whose knobs are those of
 * hosts in netns/node.h and which has "tun0" and lo: tun0 has the host's
 * address, packets of up to MTU bytes, a queue of QUEUE packets, and routes to
 * all hosts, switches and links. What the host sends is read from `dev`, which
 * never waits; what is written there, it gets. On failure N is closed. Errors
 * SIM_EUNSUPPORTED (no /dev/net/tun, or no right), SIM_EIO. */
int tun_node_open(struct tun_node *n, topo_host h, uint32_t mtu, uint32_t queue,
    struct sim_err *e);
void tun_node_close(struct tun_node *n);

/* *N = packets that the device of the calling thread's namespace has dropped
 * since it was made, in both directions, for want of room in its queue or a
 * buffer. Errors SIM_EIO. */
int tun_node_overruns(uint64_t *n, struct sim_err *e);

#endif
