/* algos/everflow/debug_drop.c -- drops: transient, random or a black hole.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/debug_drop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/everflow/drop_judge.h"
#include "algos/everflow/order_ids.h"
#include "sim/stat.h"
#include "topo/addr.h"
#include "topo/next.h"

enum { MAX_ASKS = 64, ROUND_PORT = 33434, DISCARD_PORT = 9 };

enum stage { FIRST, ROUNDS, ENDS, DONE };

/* A link that probes were asked for, and what was asked for last. */
struct ask {
	topo_link link;
	enum stage stage;
	uint8_t has_own;   /* a tuple that was lost on it was probed */
	uint8_t has_ports; /* and others of its ports */
	uint32_t first_order, n_orders, n_probes, n_round;
	sim_ns at;
};

struct drop_state {
	struct algo_order_ids ids;
	uint32_t n_asks;
	struct ask ask[MAX_ASKS];
};

#define F(n) .name = #n, .offset = offsetof(struct algo_debug_drop_params, n)
const struct sim_field algo_debug_drop_fields[] = {
    {F(n_tuple), .type = SIM_F_U32, .def = "100", .min = 10, .max = 10000,
	.unit = "probes", .doc = "of a dropped packet's tuple"},
    {F(n_others), .type = SIM_F_U32, .def = "64", .min = 0, .max = 200,
	.unit = "1", .doc = "other tuples"},
    {F(n_each), .type = SIM_F_U32, .def = "10", .min = 1, .max = 1000,
	.unit = "probes", .doc = "of each of those"},
    {F(n_random), .type = SIM_F_U32, .def = "3000", .min = 1, .max = 100000,
	.unit = "probes", .doc = "round trips of a link at most"},
    {F(chunk), .type = SIM_F_U32, .def = "500", .min = 1, .max = 100000,
	.unit = "probes", .doc = "of them ordered at once"},
    {F(n_links), .type = SIM_F_U32, .def = "8", .min = 1, .max = MAX_ASKS,
	.unit = "links", .doc = "probed at once"},
    {F(interval_ms), .type = SIM_F_F64, .def = "10", .min = 0, .max = 10000,
	.unit = "ms", .doc = "between the probes of an order"},
    {F(give_up_s), .type = SIM_F_F64, .def = "60", .min = 0.1, .max = 3600,
	.unit = "s", .doc = "probes ordered earlier are not waited for"},
    {F(noise_rate), .type = SIM_F_F64, .def = "1e-5", .min = 1e-9, .max = 0.1,
	.unit = "1", .doc = "loss of a link that is healthy, at most"},
    {F(alpha), .type = SIM_F_F64, .def = "0.002", .min = 1e-9, .max = 0.5,
	.unit = "1", .doc = "chance of accusing anything healthy"},
    {0},
};
#undef F

/* --- orders --------------------------------------------------------------- */
struct asking {
	const struct algo_debug_drop_params *p;
	const struct algo_debug_in *in;
	struct algo_debug_out *out;
	struct drop_state *s;
	struct ask *a;
	topo_switch at, next; /* ends of the link */
};

static int order_probes(struct asking *x, const struct topo_tuple *tuple,
    const topo_switch via[], unsigned n_via, uint32_t count, struct sim_err *e)
{
	struct algo_probe_order o = {.id = algo_order_id(&x->s->ids,
					 ALGO_ORDER_DROP, x->in->now),
	    .tuple = *tuple,
	    .n_via = (uint8_t)n_via,
	    .count = count,
	    .interval_ns = sim_ns_of(x->p->interval_ms / 1e3)};
	memcpy(o.via, via, n_via * sizeof(via[0]));
	if (x->a->n_orders++ == 0)
		x->a->first_order = o.id;
	x->a->n_probes += count;
	return algo_debug_order(x->out, &o, e);
}

static int order_round(struct asking *x, topo_switch at, topo_switch next,
    uint32_t count, struct sim_err *e)
{
	const struct topo_tuple tuple = {0, 0, ROUND_PORT, DISCARD_PORT,
	    TOPO_PROTO_TCP};
	const topo_switch via[3] = {at, next, at};
	return order_probes(x, &tuple, via, 3, count, e);
}

/* Whether packets of TUPLE that are at the beginning of L meet it, as far as is
 * known. */
static int meets(const struct algo_routing *r, topo_link l,
    const struct topo_tuple *tuple)
{
	topo_node from, to;
	const topo_node dst = algo_routing_node(r, tuple->dst_ip);
	topo_link_ends(r->topo, l, &from, &to);
	const topo_link next =
	    algo_routing_next(r, from - r->topo->n_hosts, tuple, dst);
	return next == l ||
	    (next == TOPO_NONE && dst < r->topo->n_hosts &&
		topo_is_next(r->topo, l, dst));
}

/* The K-th variant of TUPLE: other ports of the same addresses, or other
 * addresses with the same ports, so that what they differ in tells what the
 * hole looks at. */
static struct topo_tuple vary(const struct topo *t,
    const struct topo_tuple *tuple, uint32_t k, int ports)
{
	const uint32_t x = topo_mix32(2 * k + 1), y = topo_mix32(x + k);
	struct topo_tuple v = *tuple;
	if (ports) {
		v.src_port = (uint16_t)(1024 + x % 60000);
		v.dst_port = k % 2 ? (uint16_t)(1 + y % 1023) : v.dst_port;
	} else {
		v.src_ip = topo_addr_of_host(x % t->n_hosts);
		v.dst_ip = topo_addr_of_host(y % t->n_hosts);
	}
	return v;
}

/* N variants of TUPLE, the first at least K-th, as far as there are so many that
 * lead over the link: of small networks few do. Returns K behind the last one. */
static int order_varied(struct asking *x, const struct topo_tuple *tuple,
    uint32_t n, int ports, uint32_t *k, struct sim_err *e)
{
	const uint32_t end = ports ? *k + 16 * 1024 : 64 * 1024;
	const struct algo_routing *r = &x->in->routing;
	int rc = 0;
	for (; *k < end && n > 0 && rc == 0; (*k)++) {
		const struct topo_tuple v = vary(r->topo, tuple, *k, ports);
		if (v.src_ip == v.dst_ip || !meets(r, x->a->link, &v))
			continue;
		rc = order_probes(x, &v, &x->at, 1, x->p->n_each, e);
		n--;
	}
	return rc;
}

/* The tuple of a trace that was dropped; of one to an address that only a mux
 * knows, or if there is none, another that leads over the link. */
static int example_of(const struct asking *x, const struct algo_drop_link *l,
    struct topo_tuple *tuple)
{
	const struct algo_traces *t = &x->in->traces->traces;
	const struct algo_routing *r = &x->in->routing;
	const uint32_t i = l->example;
	*tuple = l->worth == ALGO_DROP_NONE
	    ? (struct topo_tuple){0, 0, ROUND_PORT, DISCARD_PORT,
		  TOPO_PROTO_TCP}
	    : (struct topo_tuple){t->src_ip[i], t->dst_ip[i], t->src_port[i],
		  t->dst_port[i], TOPO_PROTO_TCP};
	for (uint32_t k = 0; k < 4096; k++) {
		if (meets(r, x->a->link, tuple))
			return 1;
		*tuple = vary(r->topo, tuple, k, 0);
	}
	return 0;
}

static int order_first(struct asking *x, const struct algo_drop_link *l,
    struct sim_err *e)
{
	struct topo_tuple tuple;
	int rc = 0;
	uint32_t k = 0;
	x->a->has_own = l->worth == ALGO_DROP_SURE_TO_HOST;
	if (example_of(x, l, &tuple) &&
	    ((rc = order_probes(x, &tuple, &x->at, 1, x->p->n_tuple, e)) < 0 ||
		(rc = order_varied(x, &tuple, x->p->n_others / 4, 1, &k, e)) <
		    0 ||
		(rc = order_varied(x, &tuple,
		     x->p->n_others - x->p->n_others / 4, 0, &k, e)) < 0))
		return rc;
	x->a->n_round = x->p->chunk;
	return order_round(x, x->at, x->next, x->p->chunk, e);
}

/* A link may be asked for because of a mirror that was lost, and lose packets
 * later: then none of those was probed. */
static int has_new_own(const struct ask *a, const struct algo_drop_rows *d)
{
	return a->stage != FIRST && !a->has_own &&
	    d->link[a->link].worth == ALGO_DROP_SURE_TO_HOST;
}

static int order_own(struct asking *x, const struct algo_drop_link *l,
    struct sim_err *e)
{
	struct topo_tuple tuple;
	x->a->has_own = 1;
	return example_of(x, l, &tuple)
	    ? order_probes(x, &tuple, &x->at, 1, x->p->n_tuple, e)
	    : 0;
}

/* Other ports of addresses that are lost: whether they are, too, tells by what
 * the hole goes. */
static int order_ports(struct asking *x, const struct algo_drop_judged *j,
    struct sim_err *e)
{
	uint32_t k = 0;
	x->a->has_ports = 1;
	return order_varied(x, &j->tuple, x->p->n_others / 4, 1, &k, e);
}

/* --- which end ------------------------------------------------------------ */
/* The I-th other link into the switch that L leads to, or out of the one where
 * it begins; TOPO_NONE behind the last. Cost O(links). */
static topo_link beside(const struct topo *t, topo_link l, int into, unsigned i)
{
	topo_node from, to, a, b;
	topo_link_ends(t, l, &from, &to);
	for (topo_link k = 2 * t->n_hosts; k < t->n_links; k++) {
		topo_link_ends(t, k, &a, &b);
		if (k != l && (into ? b == to : a == from) && i-- == 0)
			return k;
	}
	return TOPO_NONE;
}

static int order_end(struct asking *x, const struct algo_drop_judged *j,
    topo_link l, struct sim_err *e)
{
	topo_node from, to;
	topo_link_ends(x->in->routing.topo, l, &from, &to);
	const topo_switch at = from - x->in->routing.topo->n_hosts;
	const topo_switch next = to - x->in->routing.topo->n_hosts;
	if (j->cause == ALGO_CAUSE_RANDOM) {
		/* As many as lose five at the rate that was found. */
		const double n = 5 / fmax(j->rate, 1e-4);
		return order_round(x, at, next,
		    (uint32_t)fmin(fmax(n, 50), x->p->n_random), e);
	}
	return meets(&x->in->routing, l, &j->tuple)
	    ? order_probes(x, &j->tuple, &at, 1, 2 * x->p->n_each, e)
	    : 0;
}

/* Into the switch behind by two other neighbours; and by another link out of the
 * switch before. Of a hole only those neighbours help that send its tuple
 * there, so more are asked. */
static int order_ends(struct asking *x, const struct algo_drop_judged *j,
    struct sim_err *e)
{
	const struct topo *t = x->in->routing.topo;
	const int random = j->cause == ALGO_CAUSE_RANDOM;
	int rc = 0;
	for (unsigned i = 0; i < (random ? 2u : 64u) && rc == 0; i++) {
		const topo_link l = beside(t, x->a->link, 1, i);
		if (l == TOPO_NONE || x->a->n_orders >= 4)
			break;
		rc = order_end(x, j, l, e);
	}
	for (unsigned i = 0; random && i < 2 && rc == 0; i++) {
		topo_node from, to;
		const topo_link l = beside(t, x->a->link, 0, i);
		if (l == TOPO_NONE)
			break;
		topo_link_ends(t, l, &from, &to);
		rc = to < t->n_hosts ? 0 : order_end(x, j, l, e);
	}
	return rc;
}

/* --- what to ask for next ------------------------------------------------- */
static int answered(const struct algo_debug_drop_params *p,
    const struct algo_debug_in *in, const struct ask *a)
{
	const struct obs_guided *g = in->sent;
	uint32_t n = 0;
	if (in->now - a->at >= sim_ns_of(p->give_up_s))
		return 1;
	for (size_t i = 0; g && i < g->n; i++)
		n += g->order[i] - a->first_order < a->n_orders &&
		    g->sent_ns[i] <= in->now &&
		    in->now - g->sent_ns[i] >= in->settle_ns;
	return n >= a->n_probes;
}

/* Other ports may tell more of a hole. */
static int wants_ports(const struct ask *a, const struct algo_drop_judged *of)
{
	return of && !of->told && of->tuple.dst_ip != 0 && !a->has_ports;
}

/* Whether what was done with is taken up again. */
static int drop_resumes(const struct ask *a, const struct algo_drop_judge *j)
{
	return has_new_own(a, &j->rows) ||
	    wants_ports(a, algo_drop_judged_of(j, a->link));
}

/* More rounds are worth their while if something was lost on the link for
 * certain: lost mirrors alone make suspects of any. */
static int drop_goes_on(const struct asking *x, const struct algo_drop_rows *d)
{
	const struct algo_drop_link *l = &d->link[x->a->link];
	return x->a->n_round < x->p->n_random &&
	    l->n_confirmed + l->n_maybe + l->round.n_lost > 0;
}

static int ask_next(struct asking *x, const struct algo_drop_judge *j,
    struct sim_err *e)
{
	const struct algo_drop_judged *of = algo_drop_judged_of(j, x->a->link);
	const int found = of && of->proved;
	topo_node from, to;
	topo_link_ends(x->in->routing.topo, x->a->link, &from, &to);
	x->at = from - x->in->routing.topo->n_hosts;
	x->next = to - x->in->routing.topo->n_hosts;
	x->a->at = x->in->now;
	x->a->n_orders = x->a->n_probes = 0;
	if (x->a->stage == FIRST) {
		x->a->stage = ROUNDS;
		return order_first(x, &j->rows.link[x->a->link], e);
	}
	if (has_new_own(x->a, &j->rows)) {
		x->a->stage = ROUNDS;
		return order_own(x, &j->rows.link[x->a->link], e);
	}
	if (wants_ports(x->a, of)) {
		x->a->stage = ROUNDS;
		return order_ports(x, of, e);
	}
	if (x->a->stage == ROUNDS && !found && drop_goes_on(x, &j->rows)) {
		x->a->n_round += x->p->chunk;
		return order_round(x, x->at, x->next, x->p->chunk, e);
	}
	if (x->a->stage == ROUNDS && found) {
		x->a->stage = ENDS;
		return order_ends(x, of, e);
	}
	x->a->stage = DONE;
	return 0;
}

static int was_asked(const struct drop_state *s, topo_link l)
{
	for (uint32_t i = 0; i < s->n_asks; i++)
		if (s->ask[i].link == l)
			return 1;
	return 0;
}

/* Probes over a link for another's sake may have been lost on it. */
static int is_untold(const struct algo_drop_judge *j, topo_link l)
{
	const struct algo_drop_judged *of = algo_drop_judged_of(j, l);
	return of && !of->told;
}

/* The link with most drops that is not asked for yet, or TOPO_NONE. One that was
 * sent again counts as many suspected ones, as mirrors are lost on all links
 * alike. */
static topo_link worst(const struct drop_state *s,
    const struct algo_drop_judge *j, const struct topo *t)
{
	const struct algo_drop_rows *d = &j->rows;
	topo_link best = TOPO_NONE;
	uint64_t most = 0;
	for (topo_link l = 2 * t->n_hosts; l < t->n_links; l++) {
		const uint64_t n = 64 * (uint64_t)d->link[l].n_confirmed +
		    8 * (uint64_t)d->link[l].n_maybe + d->link[l].n_suspect;
		const uint64_t worth = n + 64 * (uint64_t)is_untold(j, l);
		if (worth > most && !was_asked(s, l)) {
			most = worth;
			best = l;
		}
	}
	return best;
}

static int ask_more(struct asking *x, const struct algo_drop_judge *j,
    struct sim_err *e)
{
	struct drop_state *s = x->s;
	uint32_t n_active = 0;
	int rc = 0;
	for (uint32_t i = 0; i < s->n_asks && rc == 0; i++) {
		x->a = &s->ask[i];
		if ((x->a->stage != DONE || drop_resumes(x->a, j)) &&
		    answered(x->p, x->in, x->a))
			rc = ask_next(x, j, e);
		n_active += x->a->stage != DONE;
	}
	while (rc == 0 && n_active < x->p->n_links && s->n_asks < MAX_ASKS) {
		const topo_link l = worst(s, j, x->in->routing.topo);
		if (l == TOPO_NONE)
			break;
		x->a = &s->ask[s->n_asks++];
		*x->a = (struct ask){.link = l};
		n_active++;
		rc = ask_next(x, j, e);
	}
	return rc;
}

/* --- findings ------------------------------------------------------------- */
/* That nothing was lost is known when all has come; and whether ports matter to a
 * hole when they were tried. */
static int waits(const struct drop_state *s, topo_link l)
{
	for (uint32_t k = 0; k < s->n_asks; k++)
		if (s->ask[k].link == l)
			return s->ask[k].stage != DONE;
	return s->n_asks < MAX_ASKS;
}

static int drop_report(const struct algo_drop_judge *j,
    const struct drop_state *s, const struct algo_debug_in *in,
    struct algo_debug_out *out, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; i < j->n && rc == 0; i++) {
		const struct algo_drop_judged *x = &j->judged[i];
		const struct algo_drop_link *l = &j->rows.link[x->link];
		if (!(x->proved && x->told) && in->now != SIM_NEVER &&
		    waits(s, x->link))
			continue;
		rc = algo_debug_find(out,
		    &(struct algo_finding){.cause = x->cause,
			.link = x->link,
			.node = x->node,
			.score = x->score,
			.rate = x->rate,
			.lo = x->lo,
			.hi = x->hi,
			.from_ns = l->from_ns,
			.to_ns = l->to_ns,
			.persistent = x->proved,
			.value = x->value,
			.mask = x->mask},
		    e);
	}
	return rc;
}

static int debug_drop_step(void *state, const void *params,
    const struct algo_debug_in *in, struct algo_debug_out *out,
    struct sim_err *e)
{
	struct algo_drop_judge j = {.alpha = 0};
	struct asking x = {.p = params, .in = in, .out = out, .s = state};
	int rc = algo_drop_judge_make(&j, in, x.p->noise_rate, x.p->alpha, e);
	if (rc == 0 && in->now != SIM_NEVER)
		rc = ask_more(&x, &j, e);
	if (rc == 0)
		rc = drop_report(&j, state, in, out, e);
	algo_drop_judge_free(&j);
	return rc;
}

const struct algo_debugger algo_debug_drop = {
    .name = "drop",
    .params = algo_debug_drop_fields,
    .params_size = sizeof(struct algo_debug_drop_params),
    .state_size = sizeof(struct drop_state),
    .step = debug_drop_step,
};
