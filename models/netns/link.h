/* models/netns/link.h -- rtnetlink messages, many to a system call.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Messages are gathered in a batch and sent when it is full or
 * netns_batch_end() asks for it; only the last of those sent is acknowledged,
 * for the kernel tells of a failure in any case. A socket works in the
 * namespace where it was opened, whatever thread uses it.
 */
#ifndef MODELS_NETNS_LINK_H
#define MODELS_NETNS_LINK_H

#include <stdint.h>

#include <libmnl/libmnl.h>

#include "models/netns/net.h"
#include "sim/err.h"
#include "topo/addr.h"
#include "topo/route.h"

enum { NETNS_BATCH_BYTES = 32768 };

struct netns_batch {
	const struct mnl_socket *nl;
	size_t used;
	struct nlmsghdr *last;
	_Alignas(8) char buf[NETNS_BATCH_BYTES];
};

/* One end of a cable: an interface and the namespace it is to be in. */
struct netns_end {
	uint32_t ifindex;
	int ns;
	const char *name; /* below 16 bytes */
};

/* A next hop: the address at its far end and the interface towards it. Of
 * several it gets as many parts of the flows as it has weight. */
struct netns_hop {
	uint32_t gateway; /* host byte order */
	uint32_t ifindex;
	uint32_t weight; /* 1 to 256; 0 is 1 */
};

/* That over link L: the address is of the far end, the interface of the near
 * one, which receives the reverse of L. */
static inline struct netns_hop netns_hop_over(topo_link l)
{
	return (struct netns_hop){topo_addr_of_link(l),
	    netns_ifindex(topo_link_reverse(l)), 1};
}

/* A socket in the namespace of the calling thread. Errors SIM_EIO. */
int netns_link_open(struct mnl_socket **nl, struct sim_err *e);

/* All below: errors SIM_EIO, with the first message that the kernel refused and
 * its reason; the others that were sent with it have been tried. */
void netns_batch_begin(struct netns_batch *b, const struct mnl_socket *nl);
int netns_batch_end(struct netns_batch *b, struct sim_err *e);

/* A cable, down, of packets up to MTU bytes. Both ends have the same MAC: what
 * one sends is then for the other without anyone asking by ARP. Neither makes
 * packets above the MTU (GSO), so a loss is the loss of one packet. */
int netns_put_cable(struct netns_batch *b, const struct netns_end *one,
    const struct netns_end *other, uint32_t mtu, struct sim_err *e);

/* Raise an interface, without ARP; ALIAS, up to 255 bytes, is for people and
 * may be NULL. */
int netns_put_up(struct netns_batch *b, uint32_t ifindex, const char *alias,
    struct sim_err *e);

/* From now on interface IFINDEX sends no faster than MBPS, what waits for that in
 * order, up to LIMIT bytes of it: a token bucket of two packets of MTU bytes.
 * Frames count with their Ethernet header. */
int netns_put_line(struct netns_batch *b, uint32_t ifindex, uint32_t mbps,
    uint32_t mtu, uint32_t limit, struct sim_err *e);

int netns_put_address(struct netns_batch *b, uint32_t ifindex, uint32_t addr,
    uint8_t len, struct sim_err *e);

/* What a route is to, ADDR/LEN, and what it says of packets. */
struct netns_way {
	uint32_t addr;
	uint8_t len;
	uint32_t source; /* unless the sender has chosen one; 0: the kernel does
			  */
	uint32_t metric; /* of two routes to the same that of less counts */
	uint32_t mtu;    /* 0: that of the interface */
};

/* Route that over N next hops. Errors also SIM_ELIMIT, more next hops than a
 * message holds. */
int netns_put_route(struct netns_batch *b, const struct netns_way *way,
    const struct netns_hop hop[], uint32_t n, struct sim_err *e);

/* Take the route to ADDR/LEN away, of several that of least metric. */
int netns_put_no_route(struct netns_batch *b, uint32_t addr, uint8_t len,
    struct sim_err *e);

/* From now on (IS_ON), or no longer, what comes in by the interface named IIF for
 * ADDR/LEN is for this node; what the node sends there goes by its routes. */
int netns_put_inbound(struct netns_batch *b, uint32_t addr, uint8_t len,
    const char *iif, int is_on, struct sim_err *e);

/* By which interface the kernel would send on a packet of T that came in by
 * interface IIF: its own choice among next hops, by its own hash. *OIF = 0: none,
 * or T is of a protocol that the kernel does not answer for (it does for TCP, UDP
 * and ICMP). */
int netns_link_ask(const struct mnl_socket *nl, uint32_t iif,
    const struct topo_tuple *t, uint32_t *oif, struct sim_err *e);

/* How many interfaces but lo there are and how many of them can carry. */
int netns_link_running(const struct mnl_socket *nl, uint32_t *n,
    uint32_t *n_running, struct sim_err *e);

/* packets[i] = what interface BASE + i, where i < N, has received; others of
 * packets[] are left alone. */
int netns_link_received(const struct mnl_socket *nl, uint32_t base,
    uint64_t packets[], uint32_t n, struct sim_err *e);

#endif
