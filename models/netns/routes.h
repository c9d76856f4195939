/* models/netns/routes.h -- forwarding tables: ECMP of a topology as prefixes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a router of a real network is told so that it forwards as topo_path()
 * does: at every switch, to every host and to every switch's loopback, all
 * next hops on a shortest path. Neighbouring addresses with the same next hops
 * share a route, so in a Clos a ToR holds its hosts and two or three ranges
 * beside, a T2 one a pod. No route covers an address that is nobody's.
 */
#ifndef MODELS_NETNS_ROUTES_H
#define MODELS_NETNS_ROUTES_H

#include <stddef.h>

#include "sim/err.h"
#include "topo/topo.h"

/* Distances and trunks of a network. Zeroed is empty. */
struct netns_routes {
	uint32_t n_switches, n_hosts;
	uint32_t *first;     /* [n_switches + 1] into out[] */
	topo_link *out;      /* trunks that leave a switch, by link id */
	topo_switch *to;     /* where out[i] leads */
	uint16_t *dist;      /* [n_switches][n_switches] hops */
	topo_switch *tor_of; /* [n_hosts] */
};

/* To the addresses ADDR to ADDR + 2^(32 - LEN) - 1 over the links via[FIRST]
 * to via[FIRST + N - 1] of its table, in order of link id. */
struct netns_route {
	uint32_t addr; /* host byte order */
	uint8_t len;
	uint32_t first, n;
};

/* The routes of one switch. Zeroed is empty; filling it again is legal. */
struct netns_table {
	size_t n, cap;
	struct netns_route *route; /* by address */
	size_t n_via, cap_via;
	topo_link *via;
};

/* Errors SIM_ENOMEM. Cost O(switches * trunks) time, O(switches^2) bytes. */
int netns_routes_open(struct netns_routes *r, const struct topo *t,
    struct sim_err *e);
void netns_routes_close(struct netns_routes *r);

/* The table of switch S in place of what OUT held. Errors SIM_ENOMEM.
 * Cost O(hosts + switches * degree). */
int netns_routes_of(const struct netns_routes *r, topo_switch s,
    struct netns_table *out, struct sim_err *e);
void netns_table_free(struct netns_table *table);

#endif
