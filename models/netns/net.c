/* models/netns/net.c -- a topology built of network namespaces of this machine.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/net.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "models/clock.h"
#include "models/netns/link.h"
#include "models/netns/routes.h"
#include "models/real/fds.h"
#include "models/real/namespace.h"
#include "sim/vec.h"
#include "topo/addr.h"

enum {
	LO = 1,
	SPARE_FDS = 64,      /* what the program has open beside the nodes */
	NODE_BYTES = 450000, /* of kernel memory, measured, cables included */
	/* Metrics: what a fault puts beside the table counts first, also where
	 * the table has a route to that host alone. */
	UNUSUAL = 0,
	USUAL = 1,
	CARRIER_SECONDS = 10, /* an idle machine needs 0.03 */
};

struct node {
	int ns; /* descriptor, or -1 */
	struct mnl_socket *nl;
	uint32_t n_links;
};

struct netns_net {
	const struct topo *t;
	struct netns_params p;
	int home; /* the namespace of whoever opened, or -1 */
	uint32_t n_nodes;
	struct node *node;
	struct netns_routes routes;
	struct netns_table table;
	struct netns_hop *hop; /* of one route */
	size_t cap_hop;
	struct netns_batch batch;
};

int netns_is_built_in(void)
{
	return 1;
}

/* --- what can be told before ---------------------------------------------- */

static int check_size(const struct topo *t, struct sim_err *e)
{
	if (t->n_hosts == 0 || t->n_switches == 0)
		return sim_fail(e, SIM_EINVAL,
		    "A network of %u hosts and %u switches cannot be built.",
		    t->n_hosts, t->n_switches);
	if (t->n_hosts > TOPO_ADDR_MAX_HOSTS ||
	    t->n_switches > TOPO_ADDR_MAX_SWITCHES ||
	    t->n_links > TOPO_ADDR_MAX_LINKS)
		return sim_fail(e, SIM_ELIMIT,
		    "%u hosts, %u switches and %u links are more than there "
		    "are addresses and interface numbers for: %u, %u and %u.",
		    t->n_hosts, t->n_switches, t->n_links, TOPO_ADDR_MAX_HOSTS,
		    TOPO_ADDR_MAX_SWITCHES, TOPO_ADDR_MAX_LINKS);
	return 0;
}

/* Namespaces take kernel memory that nobody is asked for: without this check a
 * network that is too large ends in the killing of some process. */
static int check_memory(uint32_t n_nodes, struct sim_err *e)
{
	const double mib = 1024 * 1024;
	const double need = (double)n_nodes * NODE_BYTES;
	const double have =
	    (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	if (need <= have)
		return 0;
	return sim_fail(e, SIM_ELIMIT,
	    "%u nodes take about %.0f MiB of kernel memory; this machine has "
	    "%.0f MiB.",
	    n_nodes, need / mib, have / mib);
}

static int netns_net_raise_fd_limit(uint32_t n_nodes, struct sim_err *e)
{
	/* A namespace and a rtnetlink socket each. */
	const rlim_t need = 2 * (rlim_t)n_nodes + SPARE_FDS;
	unsigned long long hard;
	if (real_fds_raise(need, &hard))
		return 0;
	return sim_fail(e, SIM_ELIMIT,
	    "%u nodes take %llu file descriptors; `ulimit -Hn` allows %llu.",
	    n_nodes, (unsigned long long)need, hard);
}

static int check_namespaces(uint32_t n_nodes, struct sim_err *e)
{
	static const char path[] = "/proc/sys/user/max_net_namespaces";
	unsigned long long most;
	FILE *f = fopen(path, "re");
	const int known = f && fscanf(f, "%llu", &most) == 1;
	if (f)
		fclose(f);
	if (!known || most >= n_nodes)
		return 0;
	return sim_fail(e, SIM_ELIMIT,
	    "%u nodes are more network namespaces than the %llu that %s "
	    "allows.",
	    n_nodes, most, path);
}

/* What can be known before is asked before: half a network that has to be taken
 * down again helps nobody. */
static int netns_net_check(const struct topo *t, struct sim_err *e)
{
	const uint32_t n_nodes = t->n_hosts + t->n_switches;
	int rc;
	if ((rc = check_size(t, e)) < 0 ||
	    (rc = check_memory(n_nodes, e)) < 0 ||
	    (rc = check_namespaces(n_nodes, e)) < 0 ||
	    (rc = netns_net_raise_fd_limit(n_nodes, e)) < 0)
		return rc;
	return netns_node_try(e);
}

/* --- building ------------------------------------------------------------- */

static int is_host(const struct netns_net *net, topo_node n)
{
	return n < net->t->n_hosts;
}

/* The node that a link leads to. */
static topo_node end_of(const struct netns_net *net, topo_link l)
{
	topo_node from, to;
	topo_link_ends(net->t, l, &from, &to);
	return to;
}

/* Say in E which node its message is about. */
static int of_node(const struct netns_net *net, topo_node n, int rc,
    struct sim_err *e)
{
	char name[64];
	if (rc >= 0)
		return rc;
	topo_node_name(net->t, n, name);
	return sim_wrap(e, rc, "node %s", name);
}

/* Switches must not hash alike: with one seed every switch on a path would
 * choose the same, and most paths of the network would never be used. Knobs are
 * set while there is only lo, so that interfaces are born with them. */
static int make_node(struct netns_net *net, topo_node n, struct sim_err *e)
{
	struct node *node = &net->node[n];
	const uint32_t seed =
	    is_host(net, n) ? 0 : netns_seed(net, n - net->t->n_hosts);
	int rc;
	if ((rc = netns_node_make(e)) < 0 ||
	    (rc = real_ns_here(&node->ns, e)) < 0 ||
	    (rc = netns_link_open(&node->nl, e)) < 0)
		return rc;
	return netns_node_set_up(is_host(net, n) ? NETNS_HOST : NETNS_SWITCH,
	    &net->p, seed, e);
}

static int make_nodes(struct netns_net *net, struct sim_err *e)
{
	int rc = 0;
	for (topo_node n = 0; rc == 0 && n < net->n_nodes; n++)
		rc = of_node(net, n, make_node(net, n, e), e);
	/* After a failure, that message stands. */
	int back = netns_leave(net, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}

/* The interface at which link L is received; its index and name say which link
 * that is. */
static struct netns_end receiving_end(struct netns_net *net, topo_link l,
    char name[16])
{
	struct node *node = &net->node[end_of(net, l)];
	snprintf(name, 16, "l%u", l);
	node->n_links++;
	return (struct netns_end){netns_ifindex(l), node->ns, name};
}

/* The cables are made from a socket in a node, not from home, where the host's
 * own interfaces might have the index that is asked for: whether an index is
 * free is looked up where the socket is. */
static int make_cables(struct netns_net *net, struct sim_err *e)
{
	int rc = 0;
	netns_batch_begin(&net->batch, net->node[0].nl);
	/* Links come in pairs, one for each direction of a cable. */
	for (topo_link l = 0; rc == 0 && l < net->t->n_links; l += 2) {
		char up[16], down[16];
		struct netns_end high = receiving_end(net, l, up);
		struct netns_end low =
		    receiving_end(net, topo_link_reverse(l), down);
		rc = netns_put_cable(&net->batch, &low, &high, net->p.mtu, e);
	}
	return rc < 0 ? rc : netns_batch_end(&net->batch, e);
}

/* The /31 of a cable has both its ends and nobody else; its route is what makes
 * the far end a next hop. */
static int raise_link(struct netns_net *net, topo_link l, struct sim_err *e)
{
	const topo_node n = end_of(net, l);
	char name[64];
	int rc;
	topo_link_name(net->t, l, name);
	netns_batch_begin(&net->batch, net->node[n].nl);
	if ((rc = netns_put_address(&net->batch, netns_ifindex(l),
		 topo_addr_of_link(l), 31, e)) < 0 ||
	    (rc = netns_put_up(&net->batch, netns_ifindex(l), name, e)) < 0)
		return rc;
	return netns_batch_end(&net->batch, e);
}

/* A node's own address is on lo, so that it does not hang on any one cable. */
static int raise_lo(struct netns_net *net, topo_node n, struct sim_err *e)
{
	const uint32_t addr = is_host(net, n)
	    ? topo_addr_of_host(n)
	    : topo_addr_of_switch(n - net->t->n_hosts);
	int rc;
	netns_batch_begin(&net->batch, net->node[n].nl);
	if ((rc = netns_put_address(&net->batch, LO, addr, 32, e)) < 0 ||
	    (rc = netns_put_up(&net->batch, LO, NULL, e)) < 0)
		return rc;
	return netns_batch_end(&net->batch, e);
}

/* Node by node for lo, link by link for the rest: each message goes by the
 * socket of the namespace that it is about. */
static int raise_all(struct netns_net *net, struct sim_err *e)
{
	int rc = 0;
	for (topo_node n = 0; rc == 0 && n < net->n_nodes; n++)
		rc = of_node(net, n, raise_lo(net, n, e), e);
	for (topo_link l = 0; rc == 0 && l < net->t->n_links; l++)
		rc = of_node(net, end_of(net, l), raise_link(net, l, e), e);
	return rc;
}

/* A host sends whatever is in the ranges of hosts and of switches to its ToR,
 * which knows which of them are there. */
static int route_host(struct netns_net *net, topo_host h, struct sim_err *e)
{
	const struct netns_hop tor = netns_hop_over(topo_link_of(h, TOPO_UP));
	const uint32_t self = topo_addr_of_host(h);
	const struct netns_way hosts = {TOPO_ADDR_HOST_BASE - 1, 8, self, USUAL,
	    0};
	const struct netns_way switches = {TOPO_ADDR_SWITCH_BASE, 12, self,
	    USUAL, 0};
	int rc;
	netns_batch_begin(&net->batch, net->node[h].nl);
	if ((rc = netns_put_route(&net->batch, &hosts, &tor, 1, e)) < 0 ||
	    (rc = netns_put_route(&net->batch, &switches, &tor, 1, e)) < 0)
		return rc;
	return netns_batch_end(&net->batch, e);
}

/* The next hops come from the same distances as topo_path() goes by; which of
 * them a flow takes is up to the kernel's hash. */
static int route_switch(struct netns_net *net, topo_switch s, struct sim_err *e)
{
	struct netns_table *table = &net->table;
	int rc = netns_routes_of(&net->routes, s, table, e);
	netns_batch_begin(&net->batch, net->node[net->t->n_hosts + s].nl);
	for (size_t i = 0; rc == 0 && i < table->n; i++) {
		const struct netns_route *r = &table->route[i];
		rc = SIM_RESERVE(&net->hop, &net->cap_hop, r->n, e);
		if (rc < 0)
			break;
		for (uint32_t k = 0; k < r->n; k++)
			net->hop[k] = netns_hop_over(table->via[r->first + k]);
		const struct netns_way way = {r->addr, r->len,
		    topo_addr_of_switch(s), USUAL, 0};
		rc = netns_put_route(&net->batch, &way, net->hop, r->n, e);
	}
	return rc < 0 ? rc : netns_batch_end(&net->batch, e);
}

static int route_all(struct netns_net *net, struct sim_err *e)
{
	int rc = 0;
	for (topo_host h = 0; rc == 0 && h < net->t->n_hosts; h++)
		rc = of_node(net, h, route_host(net, h, e), e);
	for (topo_switch s = 0; rc == 0 && s < net->t->n_switches; s++)
		rc = of_node(net, net->t->n_hosts + s, route_switch(net, s, e),
		    e);
	return rc;
}

/* The kernel learns of a carrier some time after the far end is up, 20 ms or
 * so, and until then the interface drops what it is to send: the first packets
 * of a run would be lost for no reason that a truth tells of. Nodes are waited
 * for one after the other, since most are ready by the time the first one
 * is. */
static int await_carrier(struct netns_net *net, struct sim_err *e)
{
	const struct timespec pause = {.tv_nsec = 500000};
	const sim_ns end = clock_now() + CARRIER_SECONDS * SIM_SEC;
	for (topo_node n = 0; n < net->n_nodes;) {
		uint32_t n_links, n_running;
		int rc = netns_link_running(net->node[n].nl, &n_links,
		    &n_running, e);
		if (rc == 0 && n_links != net->node[n].n_links)
			rc = sim_fail(e, SIM_EIO,
			    "There are %u interfaces, not %u.", n_links,
			    net->node[n].n_links);
		if (rc == 0 && n_running < n_links && clock_now() > end)
			rc = sim_fail(e, SIM_EIO,
			    "%u of %u interfaces do not carry after %d s.",
			    n_links - n_running, n_links, CARRIER_SECONDS);
		if (rc < 0)
			return of_node(net, n, rc, e);
		if (n_running == n_links)
			n++;
		else
			nanosleep(&pause, NULL);
	}
	return 0;
}

/* An interface tells that it carries a moment before it does, but within one
 * hold of the lock on all interfaces (RTNL). A request that takes that lock
 * afterwards is answered when the last of them is through; raising lo again
 * changes nothing else. */
static int netns_net_settle(struct netns_net *net, struct sim_err *e)
{
	netns_batch_begin(&net->batch, net->node[0].nl);
	int rc = netns_put_up(&net->batch, LO, NULL, e);
	return rc < 0 ? rc : netns_batch_end(&net->batch, e);
}

/* --- the interface -------------------------------------------------------- */

/* *OUT is set before anything can fail, so that netns_close() frees what there
 * is. */
static int netns_net_alloc(struct netns_net **out, const struct topo *t,
    const struct netns_params *p, struct sim_err *e)
{
	struct netns_net *net = NULL;
	int rc = SIM_ZALLOC(&net, 1, e);
	if (rc < 0)
		return rc;
	net->t = t;
	net->p = *p;
	net->home = -1;
	*out = net;
	if ((rc = SIM_ZALLOC(&net->node, t->n_hosts + t->n_switches, e)) < 0)
		return rc;
	net->n_nodes = t->n_hosts + t->n_switches;
	for (topo_node n = 0; n < net->n_nodes; n++)
		net->node[n].ns = -1;
	return netns_routes_open(&net->routes, t, e);
}

int netns_open(struct netns_net **out, const struct topo *t,
    const struct netns_params *p, struct sim_err *e)
{
	struct netns_net *net = NULL;
	int rc;
	*out = NULL;
	if ((rc = netns_net_check(t, e)) < 0)
		return rc;
	if ((rc = netns_net_alloc(&net, t, p, e)) == 0 &&
	    (rc = real_ns_here(&net->home, e)) == 0 &&
	    (rc = make_nodes(net, e)) == 0 && (rc = make_cables(net, e)) == 0 &&
	    (rc = raise_all(net, e)) == 0 && (rc = route_all(net, e)) == 0 &&
	    (rc = await_carrier(net, e)) == 0)
		rc = netns_net_settle(net, e);
	if (rc < 0)
		netns_close(net);
	else
		*out = net;
	return rc;
}

/* Descriptors and sockets are all that holds the namespaces; the kernel tears
 * them down by itself. */
void netns_close(struct netns_net *net)
{
	if (!net)
		return;
	for (topo_node n = 0; n < net->n_nodes; n++) {
		if (net->node[n].nl)
			mnl_socket_close(net->node[n].nl);
		if (net->node[n].ns >= 0)
			close(net->node[n].ns);
	}
	if (net->home >= 0)
		close(net->home);
	netns_routes_close(&net->routes);
	netns_table_free(&net->table);
	free(net->hop);
	free(net->node);
	free(net);
}

int netns_enter(const struct netns_net *net, topo_node n, struct sim_err *e)
{
	assert(n < net->n_nodes);
	return real_ns_enter(net->node[n].ns, e);
}

int netns_leave(const struct netns_net *net, struct sim_err *e)
{
	return real_ns_enter(net->home, e);
}

uint32_t netns_mtu(const struct netns_net *net)
{
	return net->p.mtu;
}

int netns_fd(const struct netns_net *net, topo_node n)
{
	assert(n < net->n_nodes);
	return net->node[n].ns;
}

/* Each node tells of its own interfaces; together they are all links, as every
 * link has one receiver. */
int netns_count(const struct netns_net *net, uint64_t packets[],
    struct sim_err *e)
{
	int rc = 0;
	for (topo_node n = 0; rc == 0 && n < net->n_nodes; n++)
		rc = of_node(net, n,
		    netns_link_received(net->node[n].nl, NETNS_IFINDEX_BASE,
			packets, net->t->n_links, e),
		    e);
	return rc;
}

/* --- routing -------------------------------------------------------------- */

int netns_next(const struct netns_net *net, topo_switch s, topo_link in,
    const struct topo_tuple *t, topo_link *next, struct sim_err *e)
{
	const topo_node n = net->t->n_hosts + s;
	uint32_t oif;
	assert(end_of(net, in) == n);
	int rc = netns_link_ask(net->node[n].nl, netns_ifindex(in), t, &oif, e);
	/* The interface that a link leaves by is the one that receives the
	 * other direction of its cable. */
	*next = oif >= NETNS_IFINDEX_BASE &&
		oif - NETNS_IFINDEX_BASE < net->t->n_links
	    ? topo_link_reverse(oif - NETNS_IFINDEX_BASE)
	    : TOPO_NONE;
	return of_node(net, n, rc, e);
}

int netns_spread(const struct netns_net *net, topo_switch s, topo_host h,
    const struct netns_share share[], uint32_t n, struct sim_err *e)
{
	const topo_node at = net->t->n_hosts + s;
	const uint32_t addr = topo_addr_of_host(h);
	const struct netns_way way = {addr, 32, topo_addr_of_switch(s), UNUSUAL,
	    0};
	struct netns_hop *hop = NULL;
	struct netns_batch batch;
	int rc = SIM_ZALLOC(&hop, n, e);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < n; i++) {
		hop[i] = netns_hop_over(share[i].link);
		hop[i].weight = share[i].weight;
	}
	netns_batch_begin(&batch, net->node[at].nl);
	rc = n == 0 ? netns_put_no_route(&batch, addr, 32, e)
		    : netns_put_route(&batch, &way, hop, n, e);
	if (rc == 0)
		rc = netns_batch_end(&batch, e);
	free(hop);
	return of_node(net, at, rc, e);
}

/* A link leaves its sender by the interface that receives its reverse. */
int netns_pace(const struct netns_net *net, topo_link l, uint32_t mbps,
    uint32_t limit, struct sim_err *e)
{
	topo_node from, to;
	struct netns_batch batch;
	topo_link_ends(net->t, l, &from, &to);
	netns_batch_begin(&batch, net->node[from].nl);
	int rc = netns_put_line(&batch, netns_ifindex(topo_link_reverse(l)),
	    mbps, net->p.mtu, limit, e);
	if (rc == 0)
		rc = netns_batch_end(&batch, e);
	return of_node(net, from, rc, e);
}

uint32_t netns_seed(const struct netns_net *net, topo_switch s)
{
	return topo_switch_seed(net->p.ecmp_seed, s);
}

int netns_reseed(const struct netns_net *net, topo_switch s, uint32_t seed,
    struct sim_err *e)
{
	const topo_node n = net->t->n_hosts + s;
	int rc = netns_enter(net, n, e);
	if (rc == 0)
		rc = netns_node_seed(seed, e);
	const int back = netns_leave(net, rc < 0 ? NULL : e);
	return of_node(net, n, rc < 0 ? rc : back, e);
}
