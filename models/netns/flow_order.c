/* models/netns/flow_order.c -- flows by their start, and by their ends.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/flow_order.h"

#include <stdlib.h>

#include "sim/sort.h"
#include "sim/vec.h"

static int flow_order_of(uint64_t a, uint64_t b)
{
	return SIM_ORDER(a, b);
}

/* Flows that start together keep the order of their numbers, which qsort_r()
 * does not promise. */
static int flow_order_by_start(const void *a, const void *b, void *arg)
{
	const struct obs_flow *flow = arg;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const int o = flow_order_of(flow[x].start_ns, flow[y].start_ns);
	return o != 0 ? o : flow_order_of(x, y);
}

/* By receiver first: flows to one listener are then neighbours. */
static int flow_order_of_tuples(const struct obs_flow *x,
    const struct obs_flow *y)
{
	const int o = flow_order_of((uint64_t)x->dst_host << 32 | x->dst_port,
	    (uint64_t)y->dst_host << 32 | y->dst_port);
	return o != 0 ? o
		      : flow_order_of((uint64_t)x->src_host << 32 | x->src_port,
			    (uint64_t)y->src_host << 32 | y->src_port);
}

static int flow_order_by_tuple(const void *a, const void *b, void *arg)
{
	const struct obs_flow *flow = arg;
	return flow_order_of_tuples(&flow[*(const uint32_t *)a],
	    &flow[*(const uint32_t *)b]);
}

static int flow_order_check(const struct obs_flow *f, size_t i,
    uint32_t n_hosts, int has_vip, struct sim_err *e)
{
	if (f->src_host >= n_hosts || f->dst_host >= n_hosts)
		return sim_fail(e, SIM_ERANGE,
		    "Flow %zu is from host %u to %u, but there are hosts 0 to "
		    "%u.",
		    i, f->src_host, f->dst_host, n_hosts - 1);
	const int is_own = f->src_host == f->dst_host && !has_vip;
	if (is_own || f->n_pkts == 0 || f->src_port == 0 || f->dst_port == 0)
		return sim_fail(e, SIM_EINVAL,
		    "Flow %zu, of %u packets from host %u port %u to host %u "
		    "port %u, takes two hosts, two ports and a packet.",
		    i, f->n_pkts, f->src_host, f->src_port, f->dst_host,
		    f->dst_port);
	return 0;
}

static int flow_order_check_twins(const struct netns_flow_order *o,
    struct sim_err *e)
{
	for (size_t i = 1; i < o->n; i++)
		if (flow_order_of_tuples(&o->flow[o->by_tuple[i - 1]],
			&o->flow[o->by_tuple[i]]) == 0)
			return sim_fail(e, SIM_EINVAL,
			    "Flows %u and %u have the same hosts and ports.",
			    o->by_tuple[i - 1], o->by_tuple[i]);
	return 0;
}

int netns_flow_order_open(struct netns_flow_order *o,
    const struct obs_flow flow[], size_t n, uint32_t n_hosts,
    const uint32_t *to, struct sim_err *e)
{
	int rc;
	*o = (struct netns_flow_order){.flow = flow, .n = n};
	if ((rc = SIM_ZALLOC(&o->by_start, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&o->by_tuple, n, e)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		o->by_start[i] = o->by_tuple[i] = (uint32_t)i;
		rc = flow_order_check(&flow[i], i, n_hosts, to && to[i], e);
	}
	if (rc < 0 || n == 0)
		return rc;
	qsort_r(o->by_start, n, sizeof(uint32_t), flow_order_by_start,
	    (void *)flow);
	qsort_r(o->by_tuple, n, sizeof(uint32_t), flow_order_by_tuple,
	    (void *)flow);
	return flow_order_check_twins(o, e);
}

void netns_flow_order_close(struct netns_flow_order *o)
{
	free(o->by_start);
	free(o->by_tuple);
	*o = (struct netns_flow_order){0};
}

size_t netns_flow_order_find(const struct netns_flow_order *o,
    const struct obs_flow *like)
{
	size_t lo = 0, hi = o->n;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (flow_order_of_tuples(&o->flow[o->by_tuple[mid]], like) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < o->n &&
		flow_order_of_tuples(&o->flow[o->by_tuple[lo]], like) == 0
	    ? o->by_tuple[lo]
	    : o->n;
}
