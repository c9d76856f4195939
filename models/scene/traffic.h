/* models/scene/traffic.h -- who talks to whom, how often and how much.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_SCENE_TRAFFIC_H
#define MODELS_SCENE_TRAFFIC_H

#include <math.h>

#include "models/scene/tcp.h"
#include "sim/parts.h"
#include "sim/rng.h"
#include "sim/time.h"
#include "topo/topo.h"

/* Where flows go. UNIFORM: to all other ToRs alike, and there to all hosts
 * alike. SKEWED: a share `hot_share` of flows goes to `n_hot` ToRs drawn at
 * random per run, the others to the remaining ToRs; within both, alike. Nobody
 * sends to its own ToR: a source under the only hot ToR sends all its flows to
 * the others.
 * Paper 007 (NSDI'18) §6.4 (10 ToRs get 80 %), §6.5 (one hot ToR). */
enum scene_dst { SCENE_DST_UNIFORM, SCENE_DST_SKEWED };

struct scene_traffic_params {
	struct sim_dist conns;   /* connections a host and epoch, whole */
	struct sim_dist packets; /* packets a connection, whole */
	uint32_t dst;            /* enum scene_dst */
	uint32_t n_hot;
	double hot_share;
	double epoch_s; /* length of an epoch */
	struct scene_tcp_params tcp;
};
extern const struct sim_field scene_traffic_fields[];
extern const struct sim_part scene_traffic_parts[]; /* with those of tcp */

/* Traffic of one epoch. Flows are numbered by source host; those of host h are
 * first(h) .. first(h + 1) - 1. Zeroed is empty. */
struct scene_traffic {
	struct scene_traffic_params params;
	const struct topo *topo;
	sim_ns epoch_ns;
	uint64_t n_flows;
	uint32_t conns;  /* of every host, when fixed */
	uint64_t *first; /* [n_hosts + 1] otherwise */
	size_t cap_first;

	/* ToRs, hot ones first, and each ToR's index there; the host_off[s]-th
	 * and following of hosts[] are those under switch s. NULL in a Clos
	 * with uniform traffic (tor, place) and in any Clos (hosts): there both
	 * are arithmetic. */
	uint32_t n_tors, n_hot;
	topo_switch *tor;
	uint32_t *place;
	uint32_t *host_off;
	topo_host *hosts;
};

/* Draw an epoch's traffic. TR keeps TOPO. Memory is reused between calls.
 * Errors SIM_EINVAL when no pair of hosts under different ToRs exists, or when
 * n_hot is not below the number of ToRs; SIM_ELIMIT above 2^32 - 1 flows; those
 * of scene_tcp_check().
 * Cost O(hosts) when connections are random, else O(ToRs). */
int scene_traffic_draw(struct scene_traffic *tr, const struct topo *topo,
    const struct scene_traffic_params *params, const struct sim_seed *where,
    struct sim_err *e);
void scene_traffic_free(struct scene_traffic *tr);

static inline uint64_t scene_traffic_first(const struct scene_traffic *tr,
    topo_host h)
{
	return tr->first ? tr->first[h] : (uint64_t)h * tr->conns;
}

/* The host that sends flow F. Cost O(1) when fixed, else O(log hosts). */
topo_host scene_traffic_src(const struct scene_traffic *tr, uint64_t flow);

/* How ToRs are chosen: of n_tors places the first n_hot are hot, and if ANY coin
 * chooses these, those up to LAST do. */
struct scene_aim {
	uint32_t n_tors, n_hot, last, any;
};

static inline struct scene_aim scene_traffic_aim(const struct scene_traffic *tr)
{
	const double limit = ceil(tr->params.hot_share * 0x1p32);
	const uint32_t any = tr->n_hot > 0 && limit > 0;
	return (struct scene_aim){tr->n_tors, tr->n_hot,
	    any ? (uint32_t)(limit - 1) : 0, any};
}

/* The place of the ToR that a flow from the ToR at place OWN goes to, as
 * scene_traffic_dst() chooses it. COIN chooses the group, hot or not: if the
 * source's own ToR is all of that group, the other, since nobody sends to its
 * own ToR. *REST is as good as a fresh word. Without a branch: nobody could
 * predict one. */
static inline __attribute__((always_inline)) uint32_t
scene_aim_place(struct scene_aim a, uint32_t own, uint32_t word, uint32_t coin,
    uint32_t *rest)
{
	uint32_t hot = (coin <= a.last) & a.any;
	hot &= !((a.n_hot == 1) & (own == 0));
	hot |= (a.n_tors - a.n_hot == 1) & (own == a.n_hot);
	const uint32_t from = hot ? 0 : a.n_hot, to = hot ? a.n_hot : a.n_tors;

	/* Multiply and shift: the high half of the product is a uniform choice
	 * of a ToR, and its low half is as good as a fresh word, which chooses
	 * the host. The source's own ToR is left out by counting past it. */
	const uint32_t own_inside = (own >= from) & (own < to);
	const uint32_t n = to - from - own_inside;
	const uint32_t i = from + (uint32_t)((uint64_t)word * n >> 32);
	*rest = word * n;
	return i + (own_inside & (i >= own));
}

/* How many hosts a ToR has, and one of them, all alike, from a uniform word. */
uint32_t scene_traffic_n_hosts(const struct scene_traffic *tr, topo_switch s);
topo_host scene_traffic_host(const struct scene_traffic *tr, topo_switch tor,
    uint32_t word);

/* A destination from two uniform words; COIN decides hot or not and is not
 * looked at when traffic is uniform. Bias below hosts / 2^32. */
topo_host scene_traffic_dst(const struct scene_traffic *tr, topo_host src,
    uint32_t word, uint32_t coin);

/* Packets of a flow from a uniform word. */
static inline uint32_t scene_traffic_packets(const struct scene_traffic *tr,
    uint32_t word)
{
	uint32_t lo = (uint32_t)tr->params.packets.a;
	uint32_t hi = (uint32_t)tr->params.packets.b;
	return lo + (uint32_t)((uint64_t)word * (hi - lo + 1) >> 32);
}

#endif
