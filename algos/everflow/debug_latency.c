/* algos/everflow/debug_latency.c -- which links make a pair of hosts slow?
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/debug_latency.h"

#include <math.h>
#include <stdlib.h>

#include "algos/everflow/link_times.h"
#include "algos/everflow/order_ids.h"
#include "sim/stat.h"
#include "sim/vec.h"
#include "topo/addr.h"

enum { MAX_CABLES = 128, ROUND_PORT = 33435, DISCARD_PORT = 9 };

/* What cables are of the pair, and what was asked for. */
struct latency_state {
	struct algo_order_ids ids;
	uint32_t first_order, n_probes; /* all that was ordered */
	sim_ns at;                      /* when it was last */
	uint32_t n_cables;
	topo_link cable[MAX_CABLES]; /* a link of each that was ordered */
};

#define F(n) .name = #n, .offset = offsetof(struct algo_debug_latency_params, n)
const struct sim_field algo_debug_latency_fields[] = {
    {F(src_host), .type = SIM_F_U32, .def = "4294967295", .unit = "1",
	.doc = "a host of the slow pair; 4294967295: any"},
    {F(dst_host), .type = SIM_F_U32, .def = "4294967295", .unit = "1",
	.doc = "the other; 4294967295: any"},
    {F(n_probes), .type = SIM_F_U32, .def = "300", .min = ALGO_ROUNDS_LEAST,
	.max = 100000, .unit = "probes", .doc = "round trips of a link"},
    {F(n_peers), .type = SIM_F_U32, .def = "8", .min = 3, .max = 64,
	.unit = "links", .doc = "of a class that are probed, at least"},
    {F(interval_ms), .type = SIM_F_F64, .def = "100", .min = 0, .max = 10000,
	.unit = "ms", .doc = "between the probes of a link"},
    {F(give_up_s), .type = SIM_F_F64, .def = "90", .min = 0.1, .max = 3600,
	.unit = "s", .doc = "probes ordered earlier are not waited for"},
    {F(min_excess_us), .type = SIM_F_F64, .def = "20", .min = 0, .max = 1e6,
	.unit = "us", .doc = "a link that is slower by less is not slow"},
    {F(alpha), .type = SIM_F_F64, .def = "0.005", .min = 1e-9, .max = 0.5,
	.unit = "1", .doc = "chance of accusing anything healthy"},
    {0},
};
#undef F

/* --- the pair's links ----------------------------------------------------- */
static int any_pair(const struct algo_debug_latency_params *p)
{
	return p->src_host == TOPO_NONE && p->dst_host == TOPO_NONE;
}

static int one_way(const struct algo_debug_latency_params *p, topo_node src,
    topo_node dst)
{
	return (p->src_host == TOPO_NONE || p->src_host == src) &&
	    (p->dst_host == TOPO_NONE || p->dst_host == dst);
}

static int of_pair(const struct algo_debug_latency_params *p,
    const struct algo_debug_in *in, size_t i)
{
	const struct algo_traces *t = &in->traces->traces;
	const topo_node a = algo_routing_node(&in->routing, t->src_ip[i]);
	const topo_node b = algo_routing_node(&in->routing, t->dst_ip[i]);
	if (t->marks[i] & ALGO_TRACE_PROBE || t->proto[i] == 0 ||
	    !(t->marks[i] & ALGO_TRACE_DEBUG || t->flags[i] & OBS_TCP_SYN))
		return 0;
	return one_way(p, a, b) || one_way(p, b, a);
}

/* The link by which a hop was come to, between two switches; else TOPO_NONE. */
static topo_link hop_link(const struct topo *t, const struct algo_hops *h,
    size_t off, size_t i)
{
	topo_link l = h->in_link[off + i];
	if (l >= t->n_links && i > 0 && h->node[off + i] < t->n_switches &&
	    h->node[off + i - 1] < t->n_switches)
		l = topo_link_between(t, t->n_hosts + h->node[off + i - 1],
		    t->n_hosts + h->node[off + i]);
	return l < t->n_links && l >= 2 * t->n_hosts ? l : TOPO_NONE;
}

/* LINK[cable] = the direction first met, 1 + link, of all cables that the pair
 * crossed. */
static void pair_links(const struct algo_debug_latency_params *p,
    const struct algo_debug_in *in, uint32_t link[])
{
	const struct topo *t = in->routing.topo;
	for (size_t i = 0; in->traces && i < in->traces->traces.n; i++) {
		const size_t off = in->traces->traces.hop_off[i];
		if (!of_pair(p, in, i))
			continue;
		for (size_t k = 0; k < in->traces->traces.n_hops[i] &&
		     off + k < in->traces->hops.n;
		     k++) {
			const topo_link l =
			    hop_link(t, &in->traces->hops, off, k);
			if (l != TOPO_NONE && link[l / 2] == 0)
				link[l / 2] = 1 + l;
		}
	}
}

/* --- orders --------------------------------------------------------------- */
static int was_ordered(const struct latency_state *s, topo_link l)
{
	for (uint32_t i = 0; i < s->n_cables; i++)
		if (s->cable[i] / 2 == l / 2)
			return 1;
	return 0;
}

static int order_cable(struct latency_state *s,
    const struct algo_debug_latency_params *p, const struct algo_debug_in *in,
    topo_link l, struct algo_debug_out *out, struct sim_err *e)
{
	const struct topo *t = in->routing.topo;
	topo_node from, to;
	if (s->n_cables == MAX_CABLES || was_ordered(s, l))
		return 0;
	topo_link_ends(t, l, &from, &to);
	const topo_switch a = from - t->n_hosts, b = to - t->n_hosts;
	const struct algo_probe_order o = {.id = algo_order_id(&s->ids,
					       ALGO_ORDER_LATENCY, in->now),
	    .tuple = {0, 0, ROUND_PORT, DISCARD_PORT, TOPO_PROTO_TCP},
	    .n_via = 3,
	    .via = {a, b, a},
	    .count = p->n_probes,
	    .interval_ns = sim_ns_of(p->interval_ms / 1e3)};
	if (s->n_cables == 0)
		s->first_order = o.id;
	s->cable[s->n_cables++] = l;
	s->n_probes += p->n_probes;
	s->at = in->now;
	return algo_debug_order(out, &o, e);
}

/* Peers of a class, spread over all of it. */
static int order_peers(struct latency_state *s,
    const struct algo_debug_latency_params *p, const struct algo_debug_in *in,
    enum topo_link_class class, struct algo_debug_out *out, struct sim_err *e)
{
	const struct topo *t = in->routing.topo;
	uint32_t n = 0, has = 0, met = 0;
	int rc = 0;
	for (topo_link l = 2 * t->n_hosts; l < t->n_links; l += 2)
		n += topo_class_of(t, l) == class;
	for (uint32_t i = 0; i < s->n_cables; i++)
		has += topo_class_of(t,
			   topo_link_of(s->cable[i] / 2, TOPO_UP)) == class;
	if (has == 0 || has >= p->n_peers)
		return 0;
	/* At every stride of what is left, and what that misses at the end. */
	for (uint32_t stride = 1 + n / (p->n_peers - has + 1);
	     rc == 0 && has < p->n_peers; stride = (stride + 1) / 2) {
		met = 0;
		for (topo_link l = 2 * t->n_hosts;
		     l < t->n_links && has < p->n_peers && rc == 0; l += 2) {
			if (topo_class_of(t, l) != class ||
			    met++ % stride != stride - 1 || was_ordered(s, l))
				continue;
			rc = order_cable(s, p, in, l, out, e);
			has++;
		}
		if (stride == 1)
			break;
	}
	return rc;
}

static int order_all(struct latency_state *s,
    const struct algo_debug_latency_params *p, const struct algo_debug_in *in,
    const uint32_t link[], struct algo_debug_out *out, struct sim_err *e)
{
	const uint32_t n_before = s->n_cables;
	int rc = 0;
	for (uint32_t c = 0; c < in->routing.topo->n_links / 2 && rc == 0; c++)
		if (link[c] > 0)
			rc = order_cable(s, p, in, link[c] - 1, out, e);
	for (int c = 0;
	     c < TOPO_N_LINK_CLASSES && rc == 0 && s->n_cables > n_before; c++)
		rc = order_peers(s, p, in, (enum topo_link_class)c, out, e);
	return rc;
}

/* Whether all that was ordered has come, or never will. */
static int have_come(const struct latency_state *s,
    const struct algo_debug_latency_params *p, const struct algo_debug_in *in)
{
	const struct obs_guided *g = in->sent;
	uint32_t n = 0;
	if (in->now == SIM_NEVER)
		return 1;
	if (s->n_cables == 0)
		return 0;
	if (in->now - s->at >= sim_ns_of(p->give_up_s))
		return 1;
	for (size_t i = 0; g && i < g->n; i++)
		n += g->order[i] - s->first_order < s->n_cables &&
		    g->sent_ns[i] <= in->now &&
		    in->now - g->sent_ns[i] >= in->settle_ns;
	return n >= s->n_probes;
}

/* --- findings ------------------------------------------------------------- */
static int find_slow(const struct algo_slow_cable *s, topo_link l,
    struct algo_debug_out *out, struct sim_err *e)
{
	struct algo_finding f = {.cause = ALGO_CAUSE_LATENCY,
	    .link = s->link != TOPO_NONE ? s->link : l,
	    .node = TOPO_NONE,
	    .score = -log10(fmax(s->chance, 1e-300)),
	    .rate = (double)s->n_slow / (double)s->n,
	    .excess_us = s->excess_us,
	    .from_ns = s->from_ns,
	    .to_ns = s->to_ns,
	    .persistent = 1,
	    .intermittent = s->intermittent};
	const int rc =
	    sim_binomial_interval(s->n_slow, s->n, 0.95, &f.lo, &f.hi, e);
	return rc < 0 ? rc : algo_debug_find(out, &f, e);
}

static int latency_report(const struct algo_debug_latency_params *p,
    const struct algo_debug_in *in, const uint32_t link[],
    struct algo_debug_out *out, struct sim_err *e)
{
	struct algo_rounds r;
	struct algo_slow_cable *slow = NULL;
	size_t n = 0;
	int rc = algo_rounds_make(&r, in, e);
	if (rc == 0)
		rc = algo_slow_cables(&r, in->routing.topo, p->min_excess_us,
		    p->alpha, &slow, &n, e);
	for (size_t i = 0; i < n && rc == 0; i++) {
		const uint32_t met = link[slow[i].cable];
		if (met > 0 || any_pair(p))
			rc = find_slow(&slow[i],
			    met > 0 ? met - 1
				    : topo_link_of(slow[i].cable, TOPO_UP),
			    out, e);
	}
	free(slow);
	algo_rounds_free(&r);
	return rc;
}

static int debug_latency_step(void *state, const void *params,
    const struct algo_debug_in *in, struct algo_debug_out *out,
    struct sim_err *e)
{
	const struct algo_debug_latency_params *p = params;
	struct latency_state *s = state;
	uint32_t *link = NULL;
	int rc = SIM_ZALLOC(&link, in->routing.topo->n_links / 2 + 1, e);
	if (rc < 0)
		return rc;
	pair_links(p, in, link);
	if (in->now != SIM_NEVER)
		rc = order_all(s, p, in, link, out, e);
	if (rc == 0 && have_come(s, p, in))
		rc = latency_report(p, in, link, out, e);
	free(link);
	return rc;
}

const struct algo_debugger algo_debug_latency = {
    .name = "latency",
    .params = algo_debug_latency_fields,
    .params_size = sizeof(struct algo_debug_latency_params),
    .state_size = sizeof(struct latency_state),
    .step = debug_latency_step,
};
