/* experiments/everflow/desk.c -- where copies become findings.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/desk.h"

#include <stdlib.h>

#include "algos/everflow/reshuffle.h"
#include "sim/vec.h"

/* A copy is analyzed up to so much late. */
#define LATE (300 * SIM_MS)

struct xp_desk {
	struct algo_routing routing;
	const struct xp_everflow *params;
	struct xp_desk_owner owner;
	struct algo_analyzer **analyzer; /* [n_analyzers] */
	struct algo_reshuffle_to *to;    /* [n_analyzers], all alike */
	struct obs_mirror *part;         /* [n_analyzers] of one feeding */
	void *state[XP_N_DEBUGGERS];
	struct algo_trace_store store;
	struct algo_counters counters;
	struct algo_debug_out out;      /* of one debugger */
	struct algo_debug_out standing; /* all findings of a look */
	struct xp_said *said;
	size_t n_said, cap_said;
};

/* --- traces --------------------------------------------------------------- */

/* The tuple by which the switch of HOP routed the packet. */
static struct topo_tuple desk_routed(const struct algo_trace *t,
    const struct algo_hop *hop)
{
	if (hop->layer > 0)
		return (struct topo_tuple){hop->outer_src, hop->outer_dst, 0, 0,
		    OBS_PROTO_IPIP};
	return (struct topo_tuple){t->src_ip, t->dst_ip, t->src_port,
	    t->dst_port, t->proto};
}

/* A drop is on the link that its last switch sent it on by. Where the analyzer
 * cannot know that link, the network may. */
static int desk_take(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct xp_desk *d = arg;
	struct algo_trace known = *t;
	const struct algo_hop *last = &hop[t->n_hops - 1];
	if (d->owner.stored)
		d->owner.stored(d->owner.arg, t);
	if (d->owner.next && t->marks & ALGO_TRACE_DROPS &&
	    t->lost_link == TOPO_NONE && last->in_link != TOPO_NONE) {
		const struct topo_tuple tuple = desk_routed(t, last);
		const int rc = d->owner.next(d->owner.arg, last->node,
		    last->in_link, &tuple, &known.lost_link, e);
		if (rc < 0)
			return rc;
	}
	return algo_trace_store_add(&d->store, &known, hop, e);
}

/* Append row I to the part of its analyzer. */
static int desk_share(struct xp_desk *d, const struct obs_mirror *copies,
    const uint8_t *who, size_t i, struct sim_err *e)
{
	const uint32_t n = d->params->n_analyzers;
	const struct obs_copy c = obs_mirror_at(copies, i);
	const struct topo_tuple tuple = {c.src_ip, c.dst_ip, c.src_port,
	    c.dst_port, c.proto};
	const uint32_t k = who ? who[i] : algo_reshuffle(d->to, n, &tuple);
	return k < n
	    ? obs_mirror_add(&d->part[k], &c, e)
	    : sim_fail(e, SIM_EINVAL, "A copy is for analyzer %u of %u.", k, n);
}

/* Put rows FROM .. TO - 1 into the parts of the analyzers that get them. */
static int desk_spread(struct xp_desk *d, const struct obs_mirror *copies,
    const uint8_t *who, size_t from, size_t to, struct sim_err *e)
{
	int rc = 0;
	for (uint32_t k = 0; k < d->params->n_analyzers; k++)
		obs_mirror_clear(&d->part[k]);
	for (size_t i = from; rc == 0 && i < to; i++)
		rc = desk_share(d, copies, who, i, e);
	return rc;
}

/* Analyzer K takes rows FROM .. TO - 1, and ends what is over at NOW. */
static int desk_analyze(struct xp_desk *d, uint32_t k,
    const struct obs_mirror *copies, size_t from, size_t to, sim_ns now,
    struct sim_err *e)
{
	const struct algo_trace_sink sink = {d, desk_take};
	const int rc = algo_analyzer_feed(d->analyzer[k], copies, from, to,
	    &sink, &d->counters, e);
	return rc < 0
	    ? rc
	    : algo_analyzer_flush(d->analyzer[k], now, &sink, &d->counters, e);
}

int xp_desk_feed(struct xp_desk *d, const struct obs_mirror *copies,
    const uint8_t *who, size_t from, size_t to, sim_ns now, struct sim_err *e)
{
	const uint32_t n = d->params->n_analyzers;
	/* One gets all, as they are. */
	if (n == 1)
		return desk_analyze(d, 0, copies, from, to, now, e);
	int rc = desk_spread(d, copies, who, from, to, e);
	for (uint32_t k = 0; rc == 0 && k < n; k++)
		rc = desk_analyze(d, k, &d->part[k], 0, d->part[k].n, now, e);
	return rc;
}

/* --- debuggers ------------------------------------------------------------ */

/* Uneven spreading is a switch's, and the link but the one with most just then;
 * all else has a link, or else a node. */
static topo_node desk_place(unsigned which, const struct algo_finding *f)
{
	return which == XP_DEBUG_ecmp || f->link == TOPO_NONE ? f->node
							      : f->link;
}

/* Whether what debugger WHICH says by F is what was said by S. */
static int desk_is_said(const struct xp_desk *d, const struct xp_said *s,
    unsigned which, const struct algo_finding *f)
{
	const struct algo_finding *old = &s->finding;
	if (s->debugger != which)
		return 0;
	if (d->owner.keeps == XP_DESK_LAST)
		return desk_place(which, old) == desk_place(which, f);
	return old->cause == f->cause && old->link == f->link &&
	    old->node == f->node;
}

static int desk_say(struct xp_desk *d, unsigned which,
    const struct algo_finding *f, sim_ns now, struct sim_err *e)
{
	for (size_t i = 0; i < d->n_said; i++) {
		struct xp_said *s = &d->said[i];
		if (!desk_is_said(d, s, which, f))
			continue;
		if (s->finding.cause != f->cause)
			s->at = now;
		if (d->owner.keeps == XP_DESK_LAST)
			s->finding = *f;
		return 0;
	}
	int rc = SIM_RESERVE(&d->said, &d->cap_said, d->n_said + 1, e);
	if (rc == 0)
		d->said[d->n_said++] = (struct xp_said){which, *f, now};
	return rc;
}

/* A probe's trace is there once all its copies are, and nothing more came for
 * T; a suspected drop waits to be confirmed besides. */
sim_ns xp_desk_settle_ns(const struct xp_everflow *p)
{
	return (sim_ns)((p->analyzer.t_ms + p->analyzer.confirm_ms) * 1e6) +
	    LATE;
}

static int desk_ask(struct xp_desk *d, unsigned which,
    const struct algo_debug_in *in, struct sim_err *e)
{
	const struct algo_debugger *g = xp_everflow_debugger(which);
	algo_debug_clear(&d->out);
	int rc = g->step(d->state[which], xp_everflow_params(d->params, which),
	    in, &d->out, e);
	if (rc == 0 && d->owner.order)
		rc = d->owner.order(d->owner.arg, d->out.order, d->out.n_orders,
		    e);
	for (size_t k = 0; rc == 0 && k < d->out.n_findings; k++)
		rc = algo_debug_find(&d->standing, &d->out.finding[k], e);
	for (size_t k = 0; rc == 0 && k < d->out.n_findings; k++)
		rc = desk_say(d, which, &d->out.finding[k], in->now, e);
	return rc < 0 ? sim_wrap(e, rc, "debugger %s", g->name) : 0;
}

int xp_desk_look(struct xp_desk *d, const struct obs_guided *sent, sim_ns now,
    struct sim_err *e)
{
	const struct algo_debug_in in = {
	    .routing = d->routing,
	    .traces = &d->store,
	    .counters = &d->counters,
	    .sent = sent,
	    .now = now,
	    .settle_ns = xp_desk_settle_ns(d->params),
	};
	int rc = 0;
	algo_debug_clear(&d->standing);
	for (unsigned i = 0; rc == 0 && i < XP_N_DEBUGGERS; i++)
		if (d->params->debug >> i & 1)
			rc = desk_ask(d, i, &in, e);
	return rc;
}

/* --- the rest ------------------------------------------------------------- */

static int desk_alloc(struct xp_desk *d, struct sim_err *e)
{
	const struct xp_everflow *p = d->params;
	int rc;
	if ((rc = SIM_ZALLOC(&d->analyzer, p->n_analyzers, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->part, p->n_analyzers, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->to, p->n_analyzers, e)) < 0)
		return rc;
	for (uint32_t k = 0; rc == 0 && k < p->n_analyzers; k++) {
		d->to[k] = (struct algo_reshuffle_to){k, 1};
		rc = algo_analyzer_open(&d->analyzer[k], &d->routing,
		    &p->analyzer, k, e);
	}
	for (unsigned i = 0; rc == 0 && i < XP_N_DEBUGGERS; i++)
		rc = sim_zalloc(&d->state[i], 1,
		    xp_everflow_debugger(i)->state_size, e);
	return rc;
}

int xp_desk_open(struct xp_desk **out, const struct algo_routing *routing,
    const struct xp_everflow *p, const struct xp_desk_owner *owner,
    struct sim_err *e)
{
	struct xp_desk *d;
	*out = NULL;
	int rc = SIM_ZALLOC(&d, 1, e);
	if (rc < 0)
		return rc;
	d->routing = *routing;
	d->params = p;
	d->owner = *owner;
	if ((rc = desk_alloc(d, e)) < 0)
		xp_desk_close(d);
	else
		*out = d;
	return rc;
}

void xp_desk_close(struct xp_desk *d)
{
	if (!d)
		return;
	for (uint32_t k = 0; k < d->params->n_analyzers; k++) {
		if (d->analyzer)
			algo_analyzer_close(d->analyzer[k]);
		if (d->part)
			obs_mirror_free(&d->part[k]);
	}
	for (unsigned i = 0; i < XP_N_DEBUGGERS; i++) {
		const struct algo_debugger *g = xp_everflow_debugger(i);
		if (d->state[i] && g->free)
			g->free(d->state[i]);
		free(d->state[i]);
	}
	algo_trace_store_free(&d->store);
	algo_counters_free(&d->counters);
	algo_debug_free(&d->out);
	algo_debug_free(&d->standing);
	free(d->analyzer);
	free(d->part);
	free(d->to);
	free(d->said);
	free(d);
}

const struct algo_trace_store *xp_desk_traces(const struct xp_desk *d)
{
	return &d->store;
}

const struct algo_counters *xp_desk_counters(const struct xp_desk *d)
{
	return &d->counters;
}

const struct xp_said *xp_desk_said(const struct xp_desk *d, size_t *n)
{
	*n = d->n_said;
	return d->said;
}

const struct algo_finding *xp_desk_standing(const struct xp_desk *d, size_t *n)
{
	*n = d->standing.n_findings;
	return d->standing.finding;
}

void xp_desk_analyzed(const struct xp_desk *d, struct algo_analyzer_counts *sum)
{
	enum { N = sizeof(*sum) / sizeof(uint64_t) };
	*sum = (struct algo_analyzer_counts){0};
	for (uint32_t k = 0; k < d->params->n_analyzers; k++) {
		const uint64_t *from =
		    (const uint64_t *)algo_analyzer_counted(d->analyzer[k]);
		for (unsigned i = 0; i < N; i++)
			((uint64_t *)sum)[i] += from[i];
	}
}
