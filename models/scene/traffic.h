/* models/scene/traffic.h -- who talks to whom, how often and how much.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_SCENE_TRAFFIC_H
#define MODELS_SCENE_TRAFFIC_H

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
