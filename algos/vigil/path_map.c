/* algos/vigil/path_map.c -- what a trace learned, as links to vote on.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/path_map.h"

#include "topo/addr.h"

const char *const algo_partials[] = {"known", "prefix", "drop", NULL};

/* The link that the answer from IP is about, and the nodes that it joins. The
 * address of an interface names its link whatever came before. A loopback names
 * a switch only, so the link follows from the node before it, if that is known
 * and a cable joins the two. */
static topo_link link_of(const struct topo *t, uint32_t ip, topo_node before,
    topo_node *from, topo_node *to)
{
	topo_link l = topo_addr_to_link(ip, t->n_links);
	const topo_switch s = topo_addr_to_switch(ip, t->n_switches);
	*from = before;
	*to = TOPO_NONE;
	if (l != TOPO_NONE) {
		topo_link_ends(t, l, from, to);
		return l;
	}
	if (s == TOPO_NONE)
		return TOPO_NONE;
	*to = t->n_hosts + s;
	return before == TOPO_NONE ? TOPO_NONE
				   : topo_link_between(t, before, *to);
}

/* Keep what the rule lets count of a partial trace. Section 4 of 007: such a
 * trace is still of use, since the flow got at least as far as the last hop
 * that answered. */
static void path_map_cut(struct algo_path *p, enum algo_partial rule)
{
	unsigned n = 0;
	if (rule == ALGO_PARTIAL_DROP)
		p->n_hops = 0;
	while (rule == ALGO_PARTIAL_PREFIX && n < p->n_hops &&
	    p->link[n] != TOPO_NONE)
		n++;
	if (rule == ALGO_PARTIAL_PREFIX)
		p->n_hops = n;
	while (p->n_hops > 0 && p->link[p->n_hops - 1] == TOPO_NONE)
		p->n_hops--;
}

void algo_path_map(const struct topo *t, const struct agent_report *r,
    enum algo_partial rule, struct algo_path *out)
{
	const topo_host src = topo_addr_to_host(r->tuple.src_ip, t->n_hosts);
	const topo_host dst = topo_addr_to_host(r->tuple.dst_ip, t->n_hosts);
	topo_node at = src, from, to;
	unsigned n_joined = 0;
	out->n_hops = r->n_hops < TOPO_MAX_HOPS ? r->n_hops : TOPO_MAX_HOPS;
	/* A link counts as joined when it begins where the one before it ended;
	 * only a path joined throughout can be complete. */
	for (unsigned i = 0; i < out->n_hops; i++) {
		out->link[i] = link_of(t, r->hop_ip[i], at, &from, &to);
		n_joined += out->link[i] != TOPO_NONE && from == at;
		at = to;
	}
	out->complete = dst != TOPO_NONE && n_joined > 0 &&
	    n_joined == out->n_hops && n_joined < TOPO_MAX_HOPS &&
	    at == t->n_hosts + topo_tor_of(t, dst);
	/* The receiver's ToR has one link to it, so the flow must have taken
	 * that, though nothing answers for it. */
	if (out->complete)
		out->link[out->n_hops++] = topo_link_of(dst, TOPO_DOWN);
	else
		path_map_cut(out, rule);
}
