/* models/netns/mux.h -- load balancers of a network of namespaces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What models/packet/mux.h is to a simulation, by eBPF in the namespaces of
 * hosts: virtual addresses, muxes that wrap what comes for them, IP in IP, and
 * servers that take the header off.
 *
 *	client --> VIP, at a mux --> [mux -> DIP [client -> VIP]] --> DIP
 *	client <------------------- from the VIP ------------------- DIP
 *
 * The same hosts are muxes, and the same server gets a connection, as there.
 * DEPARTS: which of several muxes a packet goes to is the switches' choice:
 * they route virtual addresses to all muxes that are nearest, by their own ECMP.
 * A mux takes as long as the kernel does, whatever params.service_us says: so
 * long as the link into it has no latency, some microseconds.
 *
 * A server's socket listens at the virtual address, which no interface of it
 * has: with IP_TRANSPARENT. Packets for virtual addresses may be of 20 bytes
 * less than others, which the clients' routes say. Not to be seen: a header that
 * is put on does not count as sent by the mux's stack.
 *
 * While the truth has an outage TRUTH_MUX_LOOP of a server, it sends back what
 * it has taken the header off. By eBPF alone; close it before the network.
 */
#ifndef MODELS_NETNS_MUX_H
#define MODELS_NETNS_MUX_H

#include "models/netns/net.h"
#include "models/packet/mux.h"
#include "models/truth.h"

/* Of one host, since the opening. */
struct netns_mux_count {
	uint64_t n_wrapped;   /* as a mux */
	uint64_t n_unwrapped; /* as a server: */
	uint64_t n_returned;  /* of these, sent back */
	uint64_t n_expired;   /* thrown away by a mux: its TTL had run down */
	uint64_t n_failed;    /* thrown away: no memory */
};

struct netns_mux;

/* NET, whose topology T is, and LAW, which has a VIP and a mux, are borrowed
 * until close. Errors SIM_EUNSUPPORTED (not allowed; built without libbpf; a
 * kernel without policy routing), SIM_EDEP, SIM_EIO, SIM_ENOMEM.
 * Cost 0.3 ms a node. */
int netns_mux_open(struct netns_mux **m, const struct netns_net *net,
    const struct topo *t, const struct packet_mux *law, struct sim_err *e);
void netns_mux_close(struct netns_mux *m); /* NULL is fine */

/* From now on, servers that loop at NOW do, and no others. Errors SIM_ERANGE: a
 * host that is not there; nothing is then changed. */
int netns_mux_apply(struct netns_mux *m, const struct truth *truth, sim_ns now,
    struct sim_err *e);

/* Shape count[n_hosts]. */
void netns_mux_count(const struct netns_mux *m, struct netns_mux_count count[]);

#endif
