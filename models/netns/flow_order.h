/* models/netns/flow_order.h -- flows by their start, and by their ends.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * By start, for the clock; by five-tuple, to find the flow of a connection that
 * is accepted, and to refuse two of one tuple, which no kernel could carry.
 */
#ifndef MODELS_NETNS_FLOW_ORDER_H
#define MODELS_NETNS_FLOW_ORDER_H

#include <stddef.h>

#include "models/obs.h"
#include "sim/err.h"

struct netns_flow_order {
	const struct obs_flow *flow; /* [n], borrowed */
	size_t n;
	uint32_t *by_start; /* [n] flows; those that start together by number */
	uint32_t *by_tuple; /* [n] flows; those to one host and port together */
};

/* TO is as in models/netns/traffic.h: only a flow to a virtual address may end
 * where it begins. Errors SIM_ERANGE (no such host), SIM_EINVAL (a flow that
 * takes another host, a port or a packet; two of the same hosts and ports),
 * SIM_ENOMEM; close it in any case. Cost O(n log n). */
int netns_flow_order_open(struct netns_flow_order *o,
    const struct obs_flow flow[], size_t n, uint32_t n_hosts,
    const uint32_t *to, struct sim_err *e);
void netns_flow_order_close(struct netns_flow_order *o); /* zeroed is fine */

/* The flow with the hosts and ports of LIKE, or n. Cost O(log n). */
size_t netns_flow_order_find(const struct netns_flow_order *o,
    const struct obs_flow *like);

#endif
