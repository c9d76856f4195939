/* algos/everflow/sighting.c -- what was seen of each guided probe.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/sighting.h"

#include <stdlib.h>

#include "algos/everflow/chains.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* Of probes by order and number. */
static uint32_t sighting_hash(uint32_t order, uint32_t number)
{
	return topo_mix32(topo_mix32(order) + number);
}

/* What a row says of itself; it may come from a file. */
static struct algo_sighting sighting_of(const struct algo_debug_in *in,
    size_t row)
{
	const struct obs_guided *g = in->sent;
	struct algo_sighting s = {.trace = SIZE_MAX, .first = TOPO_NONE};
	while (s.n_via < OBS_MAX_VIA &&
	    algo_sighting_via(g, row, s.n_via) < in->routing.topo->n_switches)
		s.n_via++;
	const int ends = s.n_via > 0 &&
	    g->dst_ip[row] ==
		topo_addr_of_switch(algo_sighting_via(g, row, s.n_via - 1u));
	s.n_outer = (uint8_t)(s.n_via - ends);
	s.settled = in->now == SIM_NEVER ||
	    (g->sent_ns[row] <= in->now &&
		in->now - g->sent_ns[row] >= in->settle_ns);
	return s;
}

static void sighting_hop(struct algo_sighting *s, const struct obs_guided *g,
    size_t row, const struct algo_hops *h, size_t i)
{
	const unsigned layer = h->layer[i];
	/* The first copy with fewer headers: hops stand in the order of the
	 * way. */
	if (layer < s->n_outer || s->n_outer == 0) {
		s->first = s->n_behind == 0 ? h->node[i] : s->first;
		s->n_behind++;
	}
	/* It is addressed to via[k] while n_outer - k headers are left. */
	const unsigned k = s->n_outer - layer;
	if (layer <= s->n_outer && k < s->n_via && s->t_ns[k] == 0 &&
	    h->node[i] == algo_sighting_via(g, row, k)) {
		s->t_ns[k] = h->t_ns[i];
		s->switch_ns[k] = h->switch_ns[i];
	}
}

static void sighting_add(struct algo_sighting *s,
    const struct algo_debug_in *in, size_t row, size_t trace)
{
	const struct algo_traces *t = &in->traces->traces;
	const struct algo_hops *h = &in->traces->hops;
	if (s->trace == SIZE_MAX)
		s->trace = trace;
	s->n_copies = (uint16_t)(s->n_copies + t->n_hops[trace]);
	s->n_lost = (uint16_t)(s->n_lost + t->n_lost[trace]);
	for (size_t i = 0; i < t->n_hops[trace]; i++)
		if (t->hop_off[trace] + i < h->n)
			sighting_hop(s, in->sent, row, h,
			    t->hop_off[trace] + i);
}

static void sighting_fill(const struct algo_debug_in *in,
    const struct algo_chains *x, struct algo_sighting *s)
{
	const struct algo_traces *t = &in->traces->traces;
	const struct obs_guided *g = in->sent;
	for (size_t i = 0; i < t->n; i++) {
		uint32_t at =
		    algo_chains_of(x, sighting_hash(t->seq[i], t->ack[i]));
		for (; at > 0; at = x->next[at - 1])
			if (g->order[at - 1] == t->seq[i] &&
			    g->number[at - 1] == t->ack[i] &&
			    g->src_ip[at - 1] == t->src_ip[i] &&
			    g->src_port[at - 1] == t->src_port[i])
				sighting_add(&s[at - 1], in, at - 1, i);
	}
}

int algo_sightings(const struct algo_debug_in *in, struct algo_sighting **s,
    struct sim_err *e)
{
	struct algo_chains x = {0};
	int rc = 0;
	*s = NULL;
	if (!in->sent || in->sent->n == 0)
		return 0;
	if ((rc = SIM_ZALLOC(s, in->sent->n, e)) < 0 ||
	    (rc = algo_chains_make(&x, in->sent->n, e)) < 0)
		goto out;
	for (uint32_t i = 0; i < in->sent->n; i++) {
		(*s)[i] = sighting_of(in, i);
		algo_chains_add(&x,
		    sighting_hash(in->sent->order[i], in->sent->number[i]), i);
	}
	if (in->traces)
		sighting_fill(in, &x, *s);
out:
	algo_chains_free(&x);
	if (rc < 0) {
		free(*s);
		*s = NULL;
	}
	return rc;
}
