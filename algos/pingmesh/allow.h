/* algos/pingmesh/allow.h -- whom an agent may probe, whatever a list says.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It is of the agent's own configuration. A list that asks for more is refused
 * whole: who asks a fleet to connect to port 22 of somebody is mistaken or not who
 * it should be, and the rest of its list is not to be believed either.
 */
#ifndef ALGOS_PINGMESH_ALLOW_H
#define ALGOS_PINGMESH_ALLOW_H

#include <stdint.h>

#include "sim/err.h"
#include "topo/ip.h"

enum {
	ALGO_PINGLIST_ALLOW_MOST = 32, /* networks, and ranges of ports */
	/* Ports below are of services that everybody knows. */
	ALGO_PINGLIST_WELL_KNOWN = 1024,
};

/* Zeroed, it allows nobody. */
struct algo_pinglist_allow {
	uint32_t n_nets, n_ports;
	struct topo_ip_net net[ALGO_PINGLIST_ALLOW_MOST];
	uint16_t first[ALGO_PINGLIST_ALLOW_MOST],
	    last[ALGO_PINGLIST_ALLOW_MOST];
};

/* Allow also the networks of TEXT, "10.0.0.0/8,fd00::/48"; the ports of TEXT,
 * "8765,9000-9010". A network of one family never has addresses of the other. A port below WELL_KNOWN is named by itself, so that none comes
 * in with a range. Errors SIM_EINVAL, SIM_ERANGE, SIM_ELIMIT (more than MOST);
 * A then has what came before. */
int algo_pinglist_allow_nets(struct algo_pinglist_allow *a, const char *text,
    struct sim_err *e);
int algo_pinglist_allow_ports(struct algo_pinglist_allow *a, const char *text,
    struct sim_err *e);

int algo_pinglist_allows_net(const struct algo_pinglist_allow *a,
    const struct topo_ip *address); /* at whatever port */
int algo_pinglist_allows(const struct algo_pinglist_allow *a,
    const struct topo_ip *address, uint16_t port);

#endif
