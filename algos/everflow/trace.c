/* algos/everflow/trace.c -- the store of traces, and what routing should do.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/trace.h"

#include "topo/addr.h"
#include "topo/next.h"

int algo_trace_store_add(struct algo_trace_store *s, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	/* Room for all comes first, so that a failure leaves no half trace. */
	int rc = algo_hops_reserve(&s->hops, t->n_hops, e);
	if (rc == 0)
		rc = algo_traces_reserve(&s->traces, 1, e);
	if (rc < 0)
		return rc;
	struct algo_trace row = *t;
	row.hop_off = s->hops.n;
	for (unsigned i = 0; rc == 0 && i < t->n_hops; i++)
		rc = algo_hops_add(&s->hops, &hop[i], e);
	return rc < 0 ? rc : algo_traces_add(&s->traces, &row, e);
}

void algo_trace_store_clear(struct algo_trace_store *s)
{
	algo_traces_clear(&s->traces);
	algo_hops_clear(&s->hops);
}

void algo_trace_store_free(struct algo_trace_store *s)
{
	algo_traces_free(&s->traces);
	algo_hops_free(&s->hops);
}

topo_link algo_routing_next(const struct algo_routing *r, topo_switch at,
    const struct topo_tuple *tuple, topo_node dst)
{
	const struct topo *t = r->topo;
	if (at >= t->n_switches || dst >= t->n_hosts + t->n_switches)
		return TOPO_NONE;
	const struct topo_next_set s = topo_next_set(t, at, dst);
	if (s.n == 0 || (s.n > 1 && !r->knows_hash))
		return TOPO_NONE;
	const uint32_t i = s.n == 1
	    ? 0
	    : topo_switch_pick(r->ecmp_seed, at, topo_tuple_digest(tuple), s.n);
	return topo_next_of(t, &s, i);
}

topo_node algo_routing_node(const struct algo_routing *r, uint32_t ip)
{
	const topo_host h = topo_addr_to_host(ip, r->topo->n_hosts);
	if (h != TOPO_NONE)
		return h;
	const topo_switch s = topo_addr_to_switch(ip, r->topo->n_switches);
	return s == TOPO_NONE ? TOPO_NONE : r->topo->n_hosts + s;
}
