/* algos/everflow/order_ids.h -- ids of orders that no other debugger gives.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A prober carries an id out once, and a trace shows nothing else of its order.
 * So ids of several debuggers differ in the highest bits, those of one that was
 * started anew in the middle ones, by the time, and the rest counts.
 */
#ifndef ALGOS_EVERFLOW_ORDER_IDS_H
#define ALGOS_EVERFLOW_ORDER_IDS_H

#include "algos/everflow/debug.h"

enum algo_order_tag {
	ALGO_ORDER_LATENCY = 1,
	ALGO_ORDER_DROP,
	ALGO_ORDER_LOOP,
	ALGO_ORDER_ECMP,
};

/* Zeroed, it has given none. At most 65,536 in the life of a debugger. */
struct algo_order_ids {
	uint32_t base, n;
};

static inline uint32_t algo_order_id(struct algo_order_ids *ids,
    enum algo_order_tag tag, sim_ns now)
{
	if (ids->n == 0)
		ids->base = (uint32_t)tag << 28 |
		    (topo_mix32((uint32_t)now ^ (uint32_t)(now >> 32)) & 0xfff)
			<< 16;
	return ids->base | (ids->n++ & 0xffff);
}

#endif
