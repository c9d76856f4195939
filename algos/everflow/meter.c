/* algos/everflow/meter.c -- an analyzer's counters, until they are put out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/meter.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

int algo_meter_open(struct algo_meter *a, const struct topo *t, uint32_t index,
    struct sim_err *e)
{
	*a = (struct algo_meter){.n_links = t->n_links,
	    .n_switches = t->n_switches,
	    .n_hosts = t->n_hosts,
	    .index = index,
	    .topo = t};
	int rc = SIM_ZALLOC(&a->link, t->n_links, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&a->mirror, t->n_switches, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&a->cell, ALGO_METER_CELLS, e);
	return rc;
}

void algo_meter_close(struct algo_meter *a)
{
	free(a->link);
	free(a->mirror);
	free(a->cell);
	*a = (struct algo_meter){0};
}

/* --- rows ------------------------------------------------------------------*/
static int meter_row(const struct algo_meter *a, sim_ns now,
    enum algo_counter_kind kind, uint32_t id, uint32_t sub, double value,
    struct algo_counters *counters, struct sim_err *e)
{
	const struct algo_counter row = {.t_ns = now,
	    .analyzer = a->index,
	    .id = id,
	    .sub = sub,
	    .kind = (uint8_t)kind,
	    .value = value};
	return value == 0 ? 0 : algo_counters_add(counters, &row, e);
}

static int meter_put_cells(struct algo_meter *a, sim_ns now,
    struct algo_counters *counters, struct sim_err *e)
{
	int rc = a->n_cells == 0
	    ? 0
	    : algo_counters_reserve(counters, a->n_cells, e);
	if (rc < 0 || a->n_cells == 0)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < ALGO_METER_CELLS; i++) {
		const struct algo_meter_cell *c = &a->cell[i];
		rc = meter_row(a, now, c->kind, c->id, c->sub, (double)c->n,
		    counters, e);
	}
	memset(a->cell, 0, ALGO_METER_CELLS * sizeof(a->cell[0]));
	a->n_cells = 0;
	return rc;
}

static int meter_put_link(struct algo_meter *a, topo_link l, sim_ns now,
    struct algo_counters *counters, struct sim_err *e)
{
	const struct algo_meter_link *k = &a->link[l];
	int rc = meter_row(a, now, ALGO_COUNTER_LINK_PACKETS, l, 0,
	    (double)k->packets, counters, e);
	if (rc == 0)
		rc = meter_row(a, now, ALGO_COUNTER_LINK_BYTES, l, 0,
		    (double)k->bytes, counters, e);
	return rc < 0 ? rc
		      : meter_row(a, now, ALGO_COUNTER_LINK_FLOWS, l, 0,
			    (double)k->flows, counters, e);
}

static int meter_put_mirror(struct algo_meter *a, topo_switch s, sim_ns now,
    struct algo_counters *counters, struct sim_err *e)
{
	struct algo_meter_mirror *m = &a->mirror[s];
	/* Zeros alone are no numbers. */
	if (!m->started ||
	    (m->top == 0 && m->begin == UINT32_MAX && m->n_seen > 1))
		return 0;
	const double sent = a->index == 0 ? (double)(m->top - m->begin) : 0;
	int rc = meter_row(a, now, ALGO_COUNTER_MIRROR_SENT, s, 0, sent,
	    counters, e);
	if (rc == 0)
		rc = meter_row(a, now, ALGO_COUNTER_MIRROR_LOST, s, 0,
		    sent - (double)m->n_seen, counters, e);
	m->begin = m->top;
	m->n_seen = 0;
	return rc;
}

int algo_meter_put(struct algo_meter *a, sim_ns now,
    struct algo_counters *counters, struct sim_err *e)
{
	int rc = meter_put_cells(a, now, counters, e);
	for (topo_link l = 0; rc == 0 && l < a->n_links; l++)
		if (a->link[l].packets > 0)
			rc = meter_put_link(a, l, now, counters, e);
	for (topo_switch s = 0; rc == 0 && s < a->n_switches; s++)
		rc = meter_put_mirror(a, s, now, counters, e);
	memset(a->link, 0, a->n_links * sizeof(a->link[0]));
	return rc;
}

/* --- cells -----------------------------------------------------------------*/
static int meter_cell(struct algo_meter *a, enum algo_counter_kind kind,
    uint32_t id, unsigned sub, sim_ns now, struct algo_counters *counters,
    struct sim_err *e)
{
	/* Half full is full, so that a search is short. */
	int rc = a->n_cells < ALGO_METER_CELLS / 2
	    ? 0
	    : meter_put_cells(a, now, counters, e);
	if (rc < 0)
		return rc;
	uint32_t at = topo_mix32(id * 64 + sub + ((uint32_t)kind << 29));
	for (;; at++) {
		struct algo_meter_cell *c = &a->cell[at % ALGO_METER_CELLS];
		if (c->n > 0 &&
		    (c->kind != kind || c->id != id || c->sub != sub))
			continue;
		a->n_cells += c->n == 0;
		*c = (struct algo_meter_cell){c->n + 1, id, (uint8_t)kind,
		    (uint8_t)sub};
		return 0;
	}
}

/* Mirror paths may turn two copies round; less than no time is none. */
static unsigned meter_bin(const struct algo_hop *a, const struct algo_hop *b)
{
	return algo_latency_bin(b->t_ns > a->t_ns ? b->t_ns - a->t_ns : 0);
}

/* S1, S2, S1, each a header less than before, over the link that S2 tells. */
static int meter_probe(struct algo_meter *a, const struct algo_trace *t,
    const struct algo_hop hop[], sim_ns now, struct algo_counters *counters,
    struct sim_err *e)
{
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i + 2 < t->n_hops; i++) {
		const struct algo_hop *h = &hop[i];
		if (h[0].node != h[2].node || h[1].in_link >= a->n_links ||
		    h[2].in_link != topo_link_reverse(h[1].in_link) ||
		    h[0].layer != h[1].layer + 1 ||
		    h[1].layer != h[2].layer + 1)
			continue;
		rc = meter_cell(a, ALGO_COUNTER_LINK_LATENCY, h[1].in_link,
		    meter_bin(&h[0], &h[2]), now, counters, e);
	}
	return rc;
}

/* The first switch behind the mux is its ToR, and its copy says whose header it
 * is. */
static int meter_mux(struct algo_meter *a, const struct algo_trace *t,
    const struct algo_hop hop[], sim_ns now, struct algo_counters *counters,
    struct sim_err *e)
{
	const struct algo_routing r = {.topo = a->topo};
	for (unsigned i = 1; i < t->n_hops; i++) {
		const struct algo_hop *bare = &hop[i - 1], *behind = &hop[i];
		if (bare->layer != 0 || behind->layer == 0 ||
		    bare->node != behind->node)
			continue;
		const topo_node mux = algo_routing_node(&r, behind->outer_src);
		return mux >= a->n_hosts
		    ? 0
		    : meter_cell(a, ALGO_COUNTER_MUX_LATENCY, mux,
			  meter_bin(bare, behind), now, counters, e);
	}
	return 0;
}

/* --- links -----------------------------------------------------------------*/
static inline void meter_link(struct algo_meter *a, topo_link l,
    uint32_t n_bytes, int is_flow)
{
	if (l >= a->n_links)
		return;
	struct algo_meter_link *k = &a->link[l];
	k->packets++;
	k->bytes += n_bytes;
	k->flows += is_flow;
}

static int meter_is_flow(const struct algo_trace *t)
{
	return t->flags & OBS_TCP_SYN && t->proto == TOPO_PROTO_TCP &&
	    !(t->marks & ALGO_TRACE_RETX);
}

void algo_meter_bare(struct algo_meter *a, const struct algo_trace *t,
    const topo_link in_link[])
{
	const int is_flow = meter_is_flow(t);
	for (unsigned i = 0; i < t->n_hops; i++)
		meter_link(a, in_link[i], t->n_bytes, is_flow);
}

int algo_meter_trace(struct algo_meter *a, const struct algo_trace *t,
    const struct algo_hop hop[], sim_ns now, struct algo_counters *counters,
    struct sim_err *e)
{
	const int is_flow = meter_is_flow(t);
	for (unsigned i = 0; i < t->n_hops; i++)
		meter_link(a, hop[i].in_link, t->n_bytes + 20u * hop[i].layer,
		    is_flow);
	if (t->marks & ALGO_TRACE_PROBE)
		return meter_probe(a, t, hop, now, counters, e);
	return t->marks & ALGO_TRACE_MUX
	    ? meter_mux(a, t, hop, now, counters, e)
	    : 0;
}
