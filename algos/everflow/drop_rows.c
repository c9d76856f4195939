/* algos/everflow/drop_rows.c -- what traces and probes say of losses, by link.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/drop_rows.h"

#include <math.h>
#include <stdlib.h>

#include "algos/everflow/chains.h"
#include "sim/stat.h"
#include "sim/vec.h"
#include "topo/next.h"
#include "topo/route.h"

/* --- traces --------------------------------------------------------------- */
static enum algo_drop_worth worth_of_trace(const struct algo_routing *r,
    const struct algo_traces *t, size_t i, int sure)
{
	if (algo_routing_node(r, t->dst_ip[i]) < r->topo->n_hosts)
		return sure ? ALGO_DROP_SURE_TO_HOST : ALGO_DROP_TO_HOST;
	return sure ? ALGO_DROP_SURE : ALGO_DROP_SUSPECT;
}

static void drop_link_add(struct algo_drop_link *x, const struct algo_traces *t,
    size_t i, enum algo_drop_worth worth)
{
	if (x->n_suspect == 0 || t->t_ns[i] < x->from_ns)
		x->from_ns = t->t_ns[i];
	if (t->end_ns[i] > x->to_ns)
		x->to_ns = t->end_ns[i];
	if (worth > x->worth) {
		x->worth = worth;
		x->example = (uint32_t)i;
	}
	x->n_suspect++;
}

/* Where the hash is not known it may have been any of the next hops. */
static void drop_rows_maybe(struct algo_drop_rows *d,
    const struct algo_routing *r, const struct algo_traces *t, size_t i,
    int sure)
{
	const topo_switch at = t->last_node[i];
	const topo_node dst = algo_routing_node(r, t->dst_ip[i]);
	if (at >= r->topo->n_switches || dst == TOPO_NONE)
		return;
	const enum algo_drop_worth worth = worth_of_trace(r, t, i, sure);
	const struct topo_next_set next = topo_next_set(r->topo, at, dst);
	for (uint32_t k = 0; k < next.n; k++) {
		struct algo_drop_link *x =
		    &d->link[topo_next_of(r->topo, &next, k)];
		drop_link_add(x, t, i, worth);
		x->n_maybe += (uint32_t)sure;
	}
}

static void drop_rows_trace(struct algo_drop_rows *d,
    const struct algo_routing *r, const struct algo_traces *t, size_t i)
{
	const uint32_t marks = t->marks[i];
	const topo_link l = t->lost_link[i];
	const int sure = (marks & ALGO_TRACE_CONFIRMED) != 0;
	if (!(marks & ALGO_TRACE_DROPS) ||
	    marks & (ALGO_TRACE_REFUTED | ALGO_TRACE_PROBE | ALGO_TRACE_LOOP))
		return;
	if (l >= r->topo->n_links) {
		drop_rows_maybe(d, r, t, i, sure);
		return;
	}
	drop_link_add(&d->link[l], t, i, worth_of_trace(r, t, i, sure));
	d->link[l].n_confirmed += (uint32_t)sure;
	d->n_confirmed += (uint64_t)sure;
}

/* --- probes --------------------------------------------------------------- */
static void drop_count_add(struct algo_drop_count *c,
    const struct algo_sighting *s, topo_switch next)
{
	const enum algo_fate fate = algo_sighting_fate(s);
	c->n_kept += fate == ALGO_FATE_KEPT;
	c->n_lost += fate == ALGO_FATE_LOST;
	if (s->first == next) {
		c->n_first++;
		c->n_first_only += s->n_behind == 1;
	}
}

static struct algo_drop_round *find_round(struct algo_drop_rows *d, topo_link l,
    topo_host host)
{
	for (size_t i = d->n_rounds; i-- > 0;)
		if (d->round[i].link == l && d->round[i].host == host)
			return &d->round[i];
	return NULL;
}

static int add_round(struct algo_drop_rows *d, const struct algo_debug_in *in,
    const struct algo_sighting *s, size_t row, struct sim_err *e)
{
	const struct obs_guided *g = in->sent;
	const struct topo *t = in->routing.topo;
	const topo_link l = topo_link_between(t, t->n_hosts + g->via0[row],
	    t->n_hosts + g->via1[row]);
	if (l == TOPO_NONE)
		return 0;
	struct algo_drop_round *x = find_round(d, l, g->src_host[row]);
	if (!x) {
		const int rc =
		    SIM_RESERVE(&d->round, &d->cap_rounds, d->n_rounds + 1, e);
		if (rc < 0)
			return rc;
		x = &d->round[d->n_rounds++];
		*x = (struct algo_drop_round){.link = l,
		    .host = g->src_host[row]};
	}
	drop_count_add(&x->count, s, g->via1[row]);
	drop_count_add(&d->link[l].round, s, g->via1[row]);
	return 0;
}

/* Of a tuple at switch AT. */
static uint32_t tuple_hash(topo_switch at, const struct topo_tuple *tuple)
{
	return topo_mix32(topo_tuple_digest(tuple) + at);
}

static struct algo_drop_tuple *find_tuple(const struct algo_drop_rows *d,
    const struct algo_chains *x, topo_switch at, const struct topo_tuple *tuple)
{
	uint32_t i = algo_chains_of(x, tuple_hash(at, tuple));
	for (; i > 0; i = x->next[i - 1])
		if (d->tuple[i - 1].at == at &&
		    topo_tuple_same(&d->tuple[i - 1].tuple, tuple))
			return &d->tuple[i - 1];
	return NULL;
}

/* *X is a new one, with nothing counted. */
static int add_tuple(struct algo_drop_rows *d, struct algo_chains *index,
    const struct algo_routing *r, topo_switch at,
    const struct topo_tuple *tuple, struct algo_drop_tuple **x,
    struct sim_err *e)
{
	const int rc =
	    SIM_RESERVE(&d->tuple, &d->cap_tuples, d->n_tuples + 1, e);
	if (rc < 0)
		return rc;
	algo_chains_add(index, tuple_hash(at, tuple), (uint32_t)d->n_tuples);
	*x = &d->tuple[d->n_tuples++];
	**x = (struct algo_drop_tuple){.at = at,
	    .tuple = *tuple,
	    .link = algo_routing_next(r, at, tuple,
		algo_routing_node(r, tuple->dst_ip))};
	return 0;
}

static int add_plain(struct algo_drop_rows *d, struct algo_chains *index,
    const struct algo_debug_in *in, const struct algo_sighting *s, size_t row,
    struct sim_err *e)
{
	const struct obs_guided *g = in->sent;
	const struct topo *t = in->routing.topo;
	const struct topo_tuple tuple = {g->src_ip[row], g->dst_ip[row],
	    g->src_port[row], g->dst_port[row], TOPO_PROTO_TCP};
	const topo_switch at = g->via0[row];
	struct algo_drop_tuple *x = find_tuple(d, index, at, &tuple);
	int rc = 0;
	if (!x &&
	    (rc = add_tuple(d, index, &in->routing, at, &tuple, &x, e)) < 0)
		return rc;
	/* Where the hash is not known the probes themselves show it. */
	if (x->link == TOPO_NONE && s->first < t->n_switches)
		x->link = topo_link_between(t, t->n_hosts + at,
		    t->n_hosts + s->first);
	topo_node from, next = 0;
	if (x->link != TOPO_NONE)
		topo_link_ends(t, x->link, &from, &next);
	drop_count_add(&x->count, s,
	    next >= t->n_hosts ? next - t->n_hosts : TOPO_NONE);
	return 0;
}

static int drop_rows_probes(struct algo_drop_rows *d,
    const struct algo_debug_in *in, const struct algo_sighting *s,
    struct sim_err *e)
{
	const struct obs_guided *g = in->sent;
	struct algo_chains index = {0};
	uint64_t n_copies = 0, n_lost = 0;
	int rc = s ? algo_chains_make(&index, g->n, e) : 0;
	for (size_t i = 0; s && i < g->n && rc == 0; i++) {
		if (!s[i].settled || s[i].n_via == 0)
			continue;
		n_copies += s[i].n_copies;
		n_lost += s[i].n_lost;
		if (s[i].n_via > 1)
			rc = add_round(d, in, &s[i], i, e);
		else if (s[i].n_outer == 1)
			rc = add_plain(d, &index, in, &s[i], i, e);
	}
	algo_chains_free(&index);
	double lo;
	d->mirror_loss = 1;
	if (rc == 0 && n_copies > 0)
		rc = sim_binomial_interval(n_lost, n_copies + n_lost, 0.998,
		    &lo, &d->mirror_loss, e);
	return rc;
}

/* --- all ------------------------------------------------------------------ */
static uint32_t switch_links(const struct topo *t)
{
	/* Host cables come first, two links each. */
	return t->n_links > 2 * t->n_hosts ? t->n_links - 2 * t->n_hosts : 0;
}

int algo_drop_rows_make(struct algo_drop_rows *d,
    const struct algo_debug_in *in, struct sim_err *e)
{
	const uint32_t n_links = in->routing.topo->n_links;
	struct algo_sighting *s = NULL;
	int rc;
	*d = (struct algo_drop_rows){
	    .n_switch_links = switch_links(in->routing.topo)};
	if ((rc = SIM_ZALLOC(&d->link, n_links, e)) < 0)
		return rc;
	for (uint32_t l = 0; l < n_links; l++)
		d->link[l].example = UINT32_MAX;
	for (size_t i = 0; in->traces && i < in->traces->traces.n; i++)
		drop_rows_trace(d, &in->routing, &in->traces->traces, i);
	if ((rc = algo_sightings(in, &s, e)) == 0)
		rc = drop_rows_probes(d, in, s, e);
	free(s);
	return rc;
}

void algo_drop_rows_free(struct algo_drop_rows *d)
{
	free(d->link);
	free(d->round);
	free(d->tuple);
	*d = (struct algo_drop_rows){0};
}

double algo_drop_healthy(const struct algo_drop_rows *d,
    const struct algo_drop_count *c, double noise_rate)
{
	double lo, hi = 1;
	/* Of counts of 32 bits there is one. */
	(void)sim_binomial_interval(c->n_first_only, c->n_first, 0.998, &lo,
	    &hi, NULL);
	return fmin(1, noise_rate + d->mirror_loss * hi);
}

double algo_drop_evidence(uint64_t n_lost, uint64_t n, double p0)
{
	enum { RATES = 10 };
	double sum = 0;
	if (!(p0 > 0 && p0 < 0.5) || n_lost > n)
		return 0;
	const double factor = fmax(2, pow(1 / p0, 1.0 / (RATES + 1)));
	double p = p0;
	for (int i = 0; i < RATES; i++) {
		p = fmin(p * factor, (1 + p) / 2);
		sum += exp((double)n_lost * log(p / p0) +
		    (double)(n - n_lost) * (log1p(-p) - log1p(-p0)));
	}
	return sum / RATES;
}
