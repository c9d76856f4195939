/* algos/pingmesh/pairs.c -- what entries share: a peer's time, a pair's ports.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/pairs.h"

#include "sim/divisor.h"

#include <math.h>
#include <string.h>

enum { NONE = UINT32_MAX };

/* --- ports ---------------------------------------------------------------- */
/* The first from the golden section on that has no divisor in common with N, or
 * a pair would go in a circle that leaves ports out. One port is its own
 * successor. */
static uint32_t stride_of(uint32_t n)
{
	uint32_t stride = (uint32_t)lround((sqrt(5) - 1) / 2 * n);
	while (sim_divisor(stride, n) != 1)
		stride++;
	return stride % n;
}

void algo_pingmesh_ports_init(struct algo_pingmesh_ports *p,
    const struct algo_pingmesh_params *params, uint32_t origin)
{
	const uint32_t n = params->last_port - params->first_port + 1;
	*p = (struct algo_pingmesh_ports){.first = params->first_port,
	    .n = n,
	    .origin = origin,
	    .of_list = params->ports == ALGO_PINGMESH_PORTS_LIST,
	    .since = SIM_NEVER};
	p->stride = p->of_list ? 1 % n : stride_of(n);
}

/* A pair that was in all lists since the first has had fewer probes than the
 * origin has strides, so it meets no port again before all others. */
static void move_on(struct algo_pingmesh_ports *p, sim_ns from, sim_ns guard)
{
	const uint64_t n_probes =
	    p->since == SIM_NEVER ? 0 : (from - p->since) / guard;
	p->origin =
	    (uint32_t)((p->origin + n_probes % p->n * p->stride) % p->n);
	p->since = from;
}

/* --- pairs ---------------------------------------------------------------- */
/* A power of two above twice the entries: of a short list few slots are touched,
 * which counts where each of many agents has its own. */
static uint32_t pairs_slots(uint32_t n)
{
	const uint32_t slots = UINT32_C(2) << (32 - __builtin_clz(n | 1));
	return slots < ALGO_PINGMESH_PAIR_SLOTS ? slots
						: ALGO_PINGMESH_PAIR_SLOTS;
}

/* Entries stand in `slot` once for each pair, so that of those with one address
 * the first comes first. Returns the slot of the pair, or where it belongs;
 * *PEER is the first entry of the address, or NONE. */
static uint32_t *pairs_find(const struct algo_pingmesh_pairs *l,
    uint32_t address, uint16_t port, uint32_t *peer)
{
	const uint32_t mask = pairs_slots(l->n) - 1;
	*peer = NONE;
	for (uint32_t k = topo_mix32(address);; k++) {
		uint32_t *slot = &l->slot[k & mask];
		if (*slot == NONE)
			return slot;
		const struct algo_pinglist_entry *x = &l->entry[*slot];
		if (x->address != address)
			continue;
		if (*peer == NONE)
			*peer = *slot;
		if (x->port == port)
			return slot;
	}
}

void algo_pingmesh_pairs_begin(const struct algo_pingmesh_pairs *l,
    struct algo_pingmesh_ports *p, sim_ns from, sim_ns guard)
{
	if (p->of_list && p->since == SIM_NEVER)
		l->pair[0].port = (uint16_t)p->origin;
	move_on(p, from, guard);
	memset(l->slot, 0xff, pairs_slots(l->n) * sizeof(*l->slot));
	for (uint32_t i = 0; i < l->n; i++) {
		const struct algo_pinglist_entry *x = &l->entry[i];
		uint32_t peer;
		uint32_t *slot = pairs_find(l, x->address, x->port, &peer);
		if (*slot == NONE)
			*slot = i;
		l->pair[i].of_peer = peer == NONE ? i : peer;
		l->pair[i].of_pair = p->of_list ? 0 : (uint16_t)*slot;
		if (!p->of_list)
			l->pair[i].port =
			    (uint16_t)(((uint64_t)p->origin + x->address) %
				p->n);
	}
}

void algo_pingmesh_pairs_follow(const struct algo_pingmesh_pairs *l,
    const struct algo_pingmesh_ports *p,
    const struct algo_pingmesh_record *sent)
{
	uint32_t peer;
	const uint32_t i = *pairs_find(l, sent->dst_ip, sent->dst_port, &peer);
	if (i != NONE && !p->of_list)
		l->pair[i].port =
		    algo_pingmesh_ports_after(p, sent->src_port - p->first);
}
