/* algos/everflow/debug_loop.c -- packets that go round, and where to cut.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/debug_loop.h"

#include <stdlib.h>
#include <string.h>

#include "algos/everflow/order_ids.h"
#include "algos/everflow/sighting.h"
#include "sim/stat.h"
#include "sim/vec.h"
#include "topo/addr.h"
#include "topo/next.h"

enum { MAX_LOOPS = 64, MAX_CYCLE = 16 };

/* A cycle that was tried again. */
struct again {
	uint32_t key, order; /* the latest */
	sim_ns at;
};

struct loop_state {
	struct algo_order_ids ids;
	uint32_t n;
	struct again again[MAX_LOOPS];
};

/* A cycle, and the traces that have it. */
struct loop {
	uint32_t key; /* of its switches, wherever it begins */
	size_t trace; /* the first */
	topo_switch first, cycle[MAX_CYCLE];
	unsigned n;
	uint8_t is_mux;
	uint32_t outer_dst; /* of a copy in it */
	uint32_t n_traces, dst_mask;
	sim_ns from_ns, to_ns;
};

struct loops {
	struct loop *loop;
	size_t n, cap;
};

#define F(n) .name = #n, .offset = offsetof(struct algo_debug_loop_params, n)
const struct sim_field algo_debug_loop_fields[] = {
    {F(n_probes), .type = SIM_F_U32, .def = "5", .min = 1, .max = 1000,
	.unit = "probes", .doc = "by which a loop is tried again"},
    {F(n_loops), .type = SIM_F_U32, .def = "16", .min = 1, .max = MAX_LOOPS,
	.unit = "loops", .doc = "tried again at most"},
    {F(interval_ms), .type = SIM_F_F64, .def = "100", .min = 0, .max = 10000,
	.unit = "ms", .doc = "between two of them"},
    {F(again_s), .type = SIM_F_F64, .def = "5", .min = 0.1, .max = 3600,
	.unit = "s", .doc = "and again after this, while it loops"},
    {0},
};
#undef F

/* --- cycles --------------------------------------------------------------- */
static int same_headers(const struct algo_hops *h, size_t a, size_t b)
{
	return h->node[a] == h->node[b] && h->layer[a] == h->layer[b] &&
	    h->outer_dst[a] == h->outer_dst[b];
}

/* The bit that marks what was sent again is none of the way's. */
static int other_ttl(const struct algo_hops *h, size_t a, size_t b)
{
	return ((h->ttl[a] ^ h->ttl[b]) | (h->ttl_in[a] ^ h->ttl_in[b])) &
	    ~OBS_TTL_RETX & 0xff;
}

/* How many stretches of D copies of a trace go from a switch back to itself; the
 * first begins at *BEGIN. */
static size_t count_stretches(const struct algo_hops *h, size_t off, size_t n,
    size_t d, size_t *begin)
{
	size_t count = 0;
	for (size_t i = off; i + d < off + n; i++)
		if (same_headers(h, i, i + d) && other_ttl(h, i, i + d) &&
		    count++ == 0)
			*begin = i;
	return count;
}

/* The length that comes most often, the shortest of equals; 0 if there is none.
 * Where a mirror was lost a shorter one may come, once: of a mux and a server
 * under one ToR that would look like a loop without a mux. */
static size_t find_stretch(const struct algo_hops *h, size_t off, size_t n,
    size_t *begin)
{
	size_t most = 0, best = 0;
	for (size_t d = 1; d < n && n - d > most; d++) {
		size_t at = off;
		const size_t count = count_stretches(h, off, n, d, &at);
		if (count > most) {
			most = count;
			best = d;
			*begin = at;
		}
	}
	return best;
}

static void put_seen_switch(struct loop *l, topo_switch s)
{
	if (l->n < MAX_CYCLE && (l->n == 0 || l->cycle[l->n - 1] != s))
		l->cycle[l->n++] = s;
}

/* Switches of a stretch, and those before them whose mirrors were lost. */
static void fill_cycle(struct loop *l, const struct topo *t,
    const struct algo_hops *h, size_t begin, size_t d)
{
	for (size_t i = begin; i <= begin + d; i++) {
		topo_node from, to;
		if (i > begin && h->in_link[i] < t->n_links) {
			topo_link_ends(t, h->in_link[i], &from, &to);
			if (from >= t->n_hosts)
				put_seen_switch(l, from - t->n_hosts);
		}
		if (i < begin + d)
			put_seen_switch(l, h->node[i]);
		if (h->layer[i] == 0)
			continue;
		/* A mux takes the packet out and in again, which costs a TTL
		 * of the innermost header; wrong routes may lead what has an
		 * outer header round as it is. */
		l->is_mux |= h->ttl_in[begin] != h->ttl_in[begin + d];
		l->outer_dst = h->outer_dst[i];
	}
	/* The last one before it closes is not the first once more. */
	while (l->n > 1 && l->cycle[l->n - 1] == l->cycle[0])
		l->n--;
}

static void loop_key_of(struct loop *l)
{
	l->key = l->is_mux ? 1 : 2;
	for (unsigned i = 0; i < l->n; i++)
		l->key += topo_mix32(l->cycle[i] + 77);
}

static int cycle_of(const struct algo_debug_in *in, size_t i, struct loop *l)
{
	const struct algo_traces *t = &in->traces->traces;
	const struct algo_hops *h = &in->traces->hops;
	const size_t off = t->hop_off[i], n = t->n_hops[i];
	size_t begin = 0;
	if (t->proto[i] == 0 || off > h->n || n > h->n - off || n < 2)
		return 0;
	const size_t d = find_stretch(h, off, n, &begin);
	if (d == 0)
		return 0;
	*l = (struct loop){.trace = i,
	    .first = h->node[off],
	    .n_traces = 1,
	    .dst_mask = UINT32_MAX,
	    .from_ns = t->t_ns[i],
	    .to_ns = t->end_ns[i]};
	for (size_t k = begin; k <= begin + d; k++)
		if (h->node[k] >= in->routing.topo->n_switches)
			return 0;
	fill_cycle(l, in->routing.topo, h, begin, d);
	loop_key_of(l);
	return l->first < in->routing.topo->n_switches;
}

static int loops_add(struct loops *x, const struct algo_traces *t,
    const struct loop *l, struct sim_err *e)
{
	for (size_t i = 0; i < x->n; i++) {
		struct loop *o = &x->loop[i];
		if (o->key != l->key || o->n != l->n)
			continue;
		o->n_traces++;
		o->dst_mask &= ~(t->dst_ip[o->trace] ^ t->dst_ip[l->trace]);
		o->from_ns = l->from_ns < o->from_ns ? l->from_ns : o->from_ns;
		o->to_ns = l->to_ns > o->to_ns ? l->to_ns : o->to_ns;
		return 0;
	}
	const int rc = SIM_RESERVE(&x->loop, &x->cap, x->n + 1, e);
	if (rc == 0)
		x->loop[x->n++] = *l;
	return rc;
}

/* Which traces are probes of ours, by their orders, is known without marks. */
static int is_loops_own(const struct loop_state *s, uint32_t order)
{
	return s->ids.n > 0 && order - s->ids.base < s->ids.n;
}

static int loops_make(struct loops *x, const struct loop_state *s,
    const struct algo_debug_in *in, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; in->traces && i < in->traces->traces.n && rc == 0;
	     i++) {
		const struct algo_traces *t = &in->traces->traces;
		struct loop l;
		if (t->marks[i] & ALGO_TRACE_LOOP &&
		    !is_loops_own(s, t->seq[i]) && cycle_of(in, i, &l))
			rc = loops_add(x, t, &l, e);
	}
	return rc;
}

/* --- trying again --------------------------------------------------------- */
static struct again *again_of(struct loop_state *s, const struct loop *l)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->again[i].key == l->key)
			return &s->again[i];
	return NULL;
}

static int order_again(struct loop_state *s, struct again *a,
    const struct algo_debug_loop_params *p, const struct algo_debug_in *in,
    const struct loop *l, struct algo_debug_out *out, struct sim_err *e)
{
	const struct algo_traces *t = &in->traces->traces;
	const size_t i = l->trace;
	const struct algo_probe_order o = {.id = algo_order_id(&s->ids,
					       ALGO_ORDER_LOOP, in->now),
	    .tuple = {t->src_ip[i], t->dst_ip[i], t->src_port[i],
		t->dst_port[i], TOPO_PROTO_TCP},
	    .n_via = 1,
	    .via = {l->first},
	    .count = p->n_probes,
	    .interval_ns = sim_ns_of(p->interval_ms / 1e3)};
	a->order = o.id;
	a->at = in->now;
	return algo_debug_order(out, &o, e);
}

/* What came of probes: of the latest order, and of all of this cycle. */
struct tried {
	uint32_t n_latest, n_latest_loops;
};

static struct tried look_at_traces(const struct algo_debug_in *in,
    const struct again *a, const struct algo_sighting *s)
{
	struct tried x = {0};
	for (size_t i = 0; s && i < in->sent->n; i++) {
		struct loop l;
		if (in->sent->order[i] != a->order || !s[i].settled ||
		    s[i].trace == SIZE_MAX)
			continue;
		x.n_latest++;
		x.n_latest_loops += cycle_of(in, s[i].trace, &l) != 0;
	}
	return x;
}

/* In a run of its own the probes of a window may have been ordered by another:
 * they are those of the trace's tuple. */
static struct tried look_by_tuple(const struct algo_debug_in *in,
    const struct loop *l, const struct algo_sighting *s)
{
	const struct algo_traces *t = &in->traces->traces;
	struct tried x = {0};
	uint32_t order = 0;
	for (size_t i = 0; s && i < in->sent->n; i++) {
		struct loop other;
		const struct obs_guided *g = in->sent;
		if (s[i].trace == SIZE_MAX ||
		    g->dst_ip[i] != t->dst_ip[l->trace] ||
		    g->src_port[i] != t->src_port[l->trace] ||
		    g->src_ip[i] != t->src_ip[l->trace])
			continue;
		if (g->order[i] != order)
			x = (struct tried){0};
		order = g->order[i];
		x.n_latest++;
		x.n_latest_loops += cycle_of(in, s[i].trace, &other) != 0;
	}
	return x;
}

/* --- findings ------------------------------------------------------------- */
/* Where a healthy network sends nothing to that destination. */
static void propose_cut(const struct algo_routing *r, const struct loop *l,
    uint32_t dst_ip, struct algo_finding *f)
{
	const struct topo *t = r->topo;
	const topo_node host = algo_routing_node(r, l->outer_dst);
	if (l->is_mux && host < t->n_hosts) {
		f->link = topo_link_of(host, TOPO_DOWN);
		f->node = host;
	}
	const topo_node dst = algo_routing_node(r, dst_ip);
	if (l->is_mux || dst == TOPO_NONE)
		return;
	for (unsigned i = 0; i < l->n && f->link == TOPO_NONE; i++) {
		const topo_node a = t->n_hosts + l->cycle[i];
		const topo_node b = t->n_hosts + l->cycle[(i + 1) % l->n];
		const topo_link x =
		    a == b ? TOPO_NONE : topo_link_between(t, a, b);
		if (x == TOPO_NONE || topo_is_next(t, x, dst))
			continue;
		f->link = x;
		f->node = a;
	}
}

static int loop_report(const struct algo_debug_in *in, const struct loop *l,
    const struct tried *x, struct algo_debug_out *out, struct sim_err *e)
{
	const uint32_t dst_ip = in->traces->traces.dst_ip[l->trace];
	struct algo_finding f = {.cause = l->is_mux ? ALGO_CAUSE_MUX_LOOP
						    : ALGO_CAUSE_LOOP,
	    .link = TOPO_NONE,
	    .node = TOPO_NONE,
	    .score = l->n_traces,
	    .from_ns = l->from_ns,
	    .to_ns = l->to_ns,
	    .persistent = x->n_latest == 0 || x->n_latest_loops > 0,
	    .n_cycle = l->n,
	    .value = {.dst_ip = dst_ip & l->dst_mask},
	    .mask = {.dst_ip = l->dst_mask}};
	for (unsigned i = 0; i < l->n; i++)
		f.cycle[i] = in->routing.topo->n_hosts + l->cycle[i];
	propose_cut(&in->routing, l, dst_ip, &f);
	f.rate = x->n_latest > 0
	    ? (double)x->n_latest_loops / (double)x->n_latest
	    : 1;
	const int rc = sim_binomial_interval(x->n_latest_loops, x->n_latest,
	    0.95, &f.lo, &f.hi, e);
	return rc < 0 ? rc : algo_debug_find(out, &f, e);
}

static int loop_one(struct loop_state *s,
    const struct algo_debug_loop_params *p, const struct algo_debug_in *in,
    const struct loop *l, const struct algo_sighting *seen,
    struct algo_debug_out *out, struct sim_err *e)
{
	struct again *a = again_of(s, l);
	struct tried x = {0};
	int rc = 0;
	if (in->now == SIM_NEVER) {
		x = look_by_tuple(in, l, seen);
	} else if (!a && s->n < p->n_loops) {
		a = &s->again[s->n++];
		a->key = l->key;
		rc = order_again(s, a, p, in, l, out, e);
	} else if (a) {
		x = look_at_traces(in, a, seen);
		if (x.n_latest_loops > 0 &&
		    in->now - a->at >= sim_ns_of(p->again_s))
			rc = order_again(s, a, p, in, l, out, e);
	}
	return rc < 0 ? rc : loop_report(in, l, &x, out, e);
}

static int debug_loop_step(void *state, const void *params,
    const struct algo_debug_in *in, struct algo_debug_out *out,
    struct sim_err *e)
{
	struct algo_sighting *seen = NULL;
	struct loops x = {0};
	int rc = loops_make(&x, state, in, e);
	if (rc == 0 && x.n > 0)
		rc = algo_sightings(in, &seen, e);
	for (size_t i = 0; i < x.n && rc == 0; i++)
		rc = loop_one(state, params, in, &x.loop[i], seen, out, e);
	free(seen);
	free(x.loop);
	return rc;
}

const struct algo_debugger algo_debug_loop = {
    .name = "loop",
    .params = algo_debug_loop_fields,
    .params_size = sizeof(struct algo_debug_loop_params),
    .state_size = sizeof(struct loop_state),
    .step = debug_loop_step,
};
