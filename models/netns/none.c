/* models/netns/none.c -- netns/net.h of a program built without libmnl.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/net.h"

static int none_none(struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without libmnl, which real networks take: "
	    "install libmnl-dev and build again.");
}

int netns_is_built_in(void)
{
	return 0;
}

int netns_open(struct netns_net **net, const struct topo *t,
    const struct netns_params *p, struct sim_err *e)
{
	(void)t;
	(void)p;
	*net = NULL;
	return none_none(e);
}

void netns_close(struct netns_net *net)
{
	(void)net;
}

int netns_enter(const struct netns_net *net, topo_node n, struct sim_err *e)
{
	(void)net;
	(void)n;
	return none_none(e);
}

int netns_leave(const struct netns_net *net, struct sim_err *e)
{
	(void)net;
	return none_none(e);
}

int netns_fd(const struct netns_net *net, topo_node n)
{
	(void)net;
	(void)n;
	return -1;
}

uint32_t netns_mtu(const struct netns_net *net)
{
	(void)net;
	return 0;
}

int netns_count(const struct netns_net *net, uint64_t packets[],
    struct sim_err *e)
{
	(void)net;
	(void)packets;
	return none_none(e);
}

int netns_next(const struct netns_net *net, topo_switch s, topo_link in,
    const struct topo_tuple *t, topo_link *next, struct sim_err *e)
{
	(void)net, (void)s, (void)in, (void)t;
	*next = TOPO_NONE;
	return none_none(e);
}

int netns_pace(const struct netns_net *net, topo_link l, uint32_t mbps,
    uint32_t limit, struct sim_err *e)
{
	(void)net, (void)l, (void)mbps, (void)limit;
	return none_none(e);
}

int netns_spread(const struct netns_net *net, topo_switch s, topo_host h,
    const struct netns_share share[], uint32_t n, struct sim_err *e)
{
	(void)net, (void)s, (void)h, (void)share, (void)n;
	return none_none(e);
}

uint32_t netns_seed(const struct netns_net *net, topo_switch s)
{
	(void)net, (void)s;
	return 0;
}

int netns_reseed(const struct netns_net *net, topo_switch s, uint32_t seed,
    struct sim_err *e)
{
	(void)net, (void)s, (void)seed;
	return none_none(e);
}
