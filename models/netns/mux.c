/* models/netns/mux.c -- load balancers of a network of namespaces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/mux.h"

#include <stdlib.h>

#include "models/bpf/mux.h"
#include "models/netns/link.h"
#include "models/netns/program.h"
#include "sim/embed.h"
#include "sim/vec.h"
#include "topo/addr.h"
#include "topo/next.h"

enum {
	MUX_LEN = 15,       /* bits of the prefix that VIPs have in common */
	MUX_HEADER = 20,    /* bytes that a mux puts on */
	MUX_METRIC = 1,     /* as a network's usual routes */
	MUX_NAME_BYTES = 16 /* of an interface */
};

SIM_EMBED(netns_mux, NETNS_MUX_OBJECT);

struct netns_mux {
	const struct netns_net *net;
	const struct topo *t;
	const struct packet_mux *law;
	struct bpf_object *object;
	struct netns_program_shared hosts;
	uint32_t n_ready;      /* nodes that are, from 0 on */
	struct netns_hop *hop; /* of one route */
	uint32_t n_hops;
	size_t cap_hops;
	struct netns_batch batch;
};

/* --- where virtual addresses lead ----------------------------------------- */

/* Links from switch S to HOST, its cable apart. */
static uint32_t mux_links_to(const struct topo *t, topo_switch s, topo_host h)
{
	const topo_switch tor = topo_tor_of(t, h);
	uint32_t n = 0;
	for (; s != tor; n++) {
		topo_node from, to;
		topo_link_ends(t, topo_next(t, s, h, 0), &from, &to);
		s = to - t->n_hosts;
	}
	return n;
}

static int mux_add_hop(struct netns_mux *m, topo_link l, struct sim_err *e)
{
	const struct netns_hop hop = netns_hop_over(l);
	for (uint32_t i = 0; i < m->n_hops; i++)
		if (m->hop[i].ifindex == hop.ifindex)
			return 0;
	const int rc = SIM_RESERVE(&m->hop, &m->cap_hops, m->n_hops + 1, e);
	if (rc == 0)
		m->hop[m->n_hops++] = hop;
	return rc;
}

/* All next hops of switch S to those muxes that are nearest to it. Each leads a
 * link nearer to one of them, so no packet goes in circles. */
static int mux_hops_of(struct netns_mux *m, topo_switch s, struct sim_err *e)
{
	const struct topo *t = m->t;
	const struct packet_mux *law = m->law;
	uint32_t nearest = UINT32_MAX;
	int rc = 0;
	m->n_hops = 0;
	for (uint32_t i = 0; i < law->n_muxes; i++) {
		const uint32_t far = mux_links_to(t, s, law->mux[i]);
		nearest = far < nearest ? far : nearest;
	}
	for (uint32_t i = 0; rc == 0 && i < law->n_muxes; i++) {
		const topo_host h = law->mux[i];
		if (mux_links_to(t, s, h) != nearest)
			continue;
		for (uint32_t k = 0; rc == 0 && k < topo_n_next(t, s, h); k++)
			rc = mux_add_hop(m, topo_next(t, s, h, k), e);
	}
	return rc;
}

/* --- nodes ---------------------------------------------------------------- */

/* A host sends what is for a VIP to its ToR, also if it serves that VIP itself:
 * only what comes in by its cable is for its sockets. As a client may be served
 * by its own host, its own address may come in, too. */
static int mux_put_host(struct netns_mux *m, topo_host h, int is_on,
    struct sim_err *e)
{
	const struct netns_way way = {TOPO_ADDR_VIP_BASE, MUX_LEN,
	    topo_addr_of_host(h), MUX_METRIC, netns_mtu(m->net) - MUX_HEADER};
	const struct netns_hop tor = netns_hop_over(topo_link_of(h, TOPO_UP));
	char cable[MUX_NAME_BYTES];
	int rc = netns_node_write("ipv4/conf/all/accept_local", is_on != 0, e);
	snprintf(cable, sizeof(cable), "l%u", topo_link_of(h, TOPO_DOWN));
	if (rc == 0)
		rc = is_on
		    ? netns_put_route(&m->batch, &way, &tor, 1, e)
		    : netns_put_no_route(&m->batch, way.addr, way.len, e);
	return rc < 0 ? rc
		      : netns_put_inbound(&m->batch, TOPO_ADDR_VIP_BASE,
			    MUX_LEN, cable, is_on, e);
}

static int mux_put_switch(struct netns_mux *m, topo_switch s, int is_on,
    struct sim_err *e)
{
	const struct netns_way way = {TOPO_ADDR_VIP_BASE, MUX_LEN,
	    topo_addr_of_switch(s), MUX_METRIC, 0};
	if (!is_on)
		return netns_put_no_route(&m->batch, way.addr, way.len, e);
	const int rc = mux_hops_of(m, s, e);
	return rc < 0 ? rc
		      : netns_put_route(&m->batch, &way, m->hop, m->n_hops, e);
}

/* Routes of node N, where the thread is. */
static int mux_put_routes(struct netns_mux *m, topo_node n, int is_on,
    struct sim_err *e)
{
	struct mnl_socket *nl;
	int rc = netns_link_open(&nl, e);
	if (rc < 0)
		return rc;
	netns_batch_begin(&m->batch, nl);
	rc = n < m->t->n_hosts ? mux_put_host(m, n, is_on, e)
			       : mux_put_switch(m, n - m->t->n_hosts, is_on, e);
	if (rc == 0)
		rc = netns_batch_end(&m->batch, e);
	mnl_socket_close(nl);
	return rc;
}

static int mux_set_up_nodes(struct netns_mux *m, struct sim_err *e)
{
	const uint32_t n_hosts = m->t->n_hosts;
	int rc = 0;
	while (rc == 0 && m->n_ready < n_hosts + m->t->n_switches) {
		const topo_node n = m->n_ready;
		if ((rc = netns_enter(m->net, n, e)) == 0)
			rc = mux_put_routes(m, n, 1, e);
		m->n_ready++;
		if (rc == 0 && n < n_hosts)
			rc = netns_program_attach(m->object, "mux_ingress",
			    netns_ifindex(topo_link_of(n, TOPO_DOWN)),
			    BPF_TC_INGRESS, NETNS_PROGRAM_MUX, e);
	}
	const int back = netns_leave(m->net, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}

/* The last of those that are ready may be so in part: what is not there cannot
 * be taken away, and is not told of. */
static void mux_take_down_nodes(struct netns_mux *m)
{
	for (topo_node n = 0; n < m->n_ready; n++) {
		if (netns_enter(m->net, n, NULL) < 0)
			continue;
		mux_put_routes(m, n, 0, NULL);
		if (n < m->t->n_hosts)
			netns_program_detach(netns_ifindex(
						 topo_link_of(n, TOPO_DOWN)),
			    BPF_TC_INGRESS, NETNS_PROGRAM_MUX);
	}
	if (m->n_ready > 0)
		netns_leave(m->net, NULL);
}

/* --- the interface -------------------------------------------------------- */

static int mux_set_up(void *arg, struct bpf_object *o, struct sim_err *e)
{
	const struct netns_mux *m = arg;
	const struct mux_config want = {.base = NETNS_IFINDEX_BASE,
	    .n_hosts = m->t->n_hosts,
	    .vip = TOPO_ADDR_VIP_BASE,
	    .vips = m->law->params.vips,
	    .salt = m->law->salt[1],
	    .ttl = PACKET_MUX_TTL};
	const int rc = netns_program_constants(o, &want, sizeof(want), e);
	return rc < 0 ? rc : netns_program_size(o, "hosts", want.n_hosts, e);
}

static int mux_share(struct netns_mux *m, struct sim_err *e)
{
	const uint32_t n = m->t->n_hosts;
	const int rc = netns_program_share(m->object, "hosts",
	    sizeof(struct mux_host), n, &m->hosts, e);
	struct mux_host *host = m->hosts.at;
	for (topo_host h = 0; rc == 0 && h < n; h++)
		host[h].address = topo_addr_of_host(h);
	for (uint32_t i = 0; rc == 0 && i < m->law->n_muxes; i++)
		host[m->law->mux[i]].is_mux = 1;
	return rc;
}

int netns_mux_open(struct netns_mux **out, const struct netns_net *net,
    const struct topo *t, const struct packet_mux *law, struct sim_err *e)
{
	struct netns_mux *m = NULL;
	*out = NULL;
	int rc = SIM_ZALLOC(&m, 1, e);
	if (rc < 0)
		return rc;
	libbpf_print_fn_t before = netns_program_quiet();
	m->net = net;
	m->t = t;
	m->law = law;
	if ((rc = netns_program_permit(e)) == 0 &&
	    (rc = netns_program_load(&m->object, "mux", netns_mux_begin,
		 netns_mux_size, mux_set_up, m, e)) == 0 &&
	    (rc = mux_share(m, e)) == 0)
		rc = mux_set_up_nodes(m, e);
	if (rc < 0)
		netns_mux_close(m);
	else
		*out = m;
	libbpf_set_print(before);
	return rc;
}

void netns_mux_close(struct netns_mux *m)
{
	if (!m)
		return;
	mux_take_down_nodes(m);
	netns_program_unshare(&m->hosts);
	bpf_object__close(m->object);
	free(m->hop);
	free(m);
}

int netns_mux_apply(struct netns_mux *m, const struct truth *truth, sim_ns now,
    struct sim_err *e)
{
	struct mux_host *host = m->hosts.at;
	for (size_t i = 0; i < truth->n_outages; i++)
		if (truth->outage[i].kind == TRUTH_MUX_LOOP &&
		    truth->outage[i].id >= m->t->n_hosts)
			return sim_fail(e, SIM_ERANGE,
			    "Host %u is to send back what muxes send, but the "
			    "network has hosts 0 to %u.",
			    truth->outage[i].id, m->t->n_hosts - 1);
	for (topo_host h = 0; h < m->t->n_hosts; h++)
		host[h].loops =
		    truth_outage_at(truth, TRUTH_MUX_LOOP, h, now) != NULL;
	return 0;
}

void netns_mux_count(const struct netns_mux *m, struct netns_mux_count count[])
{
	const struct mux_host *host = m->hosts.at;
	for (topo_host h = 0; h < m->t->n_hosts; h++)
		count[h] = (struct netns_mux_count){host[h].n_wrapped,
		    host[h].n_unwrapped, host[h].n_returned, host[h].n_expired,
		    host[h].n_failed};
}
