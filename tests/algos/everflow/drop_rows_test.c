/* tests/algos/everflow/drop_rows_test.c -- what was seen of probes, and what that
 * and traces say by link: against counting each anew.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables are drawn, of few orders, hosts and ports so that rows meet traces. The
 * oracle looks at all pairs of a row and a trace, and at all rows for each link,
 * prober and tuple. Nothing here is statistical.
 */
#include "algos/everflow/drop_rows.h"

#include "sim/stat.h"
#include "tests/test.h"
#include "topo/addr.h"
#include "topo/next.h"

enum { RUNS = 30, HOPS = 5 };

static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 3};

struct tables {
	struct topo topo;
	struct algo_trace_store store;
	struct obs_guided sent;
	struct algo_debug_in in;
};

static uint32_t ip_of(struct sim_rng *r, const struct topo *t)
{
	return sim_rng_below(r, 3)
	    ? topo_addr_of_host(sim_rng_below(r, t->n_hosts))
	    : topo_addr_of_switch(sim_rng_below(r, t->n_switches));
}

/* A switch, or now and then none. */
static topo_switch some_switch(struct sim_rng *r, const struct topo *t)
{
	return sim_rng_below(r, t->n_switches + 2);
}

static void add_trace(struct tables *x, struct sim_rng *r)
{
	static const uint32_t marks[] = {0, ALGO_TRACE_REFUTED, ALGO_TRACE_LOOP,
	    ALGO_TRACE_PROBE, ALGO_TRACE_CONFIRMED, ALGO_TRACE_CONFIRMED};
	static const uint32_t drops[] = {0, ALGO_TRACE_DROPS};
	struct algo_hop hop[HOPS];
	const struct topo *t = &x->topo;
	const struct algo_trace a = {.t_ns = sim_rng_below(r, 1000),
	    .end_ns = 1000 + sim_rng_below(r, 1000),
	    .marks =
		drops[sim_rng_below(r, 4) > 0] | marks[sim_rng_below(r, 6)],
	    .src_ip = topo_addr_of_host(sim_rng_below(r, 2)),
	    .dst_ip = sim_rng_below(r, 9) ? ip_of(r, t) : 7,
	    .seq = sim_rng_below(r, 6),
	    .ack = sim_rng_below(r, 9),
	    .last_node = some_switch(r, t),
	    .lost_link =
		sim_rng_below(r, 2) ? TOPO_NONE : sim_rng_below(r, t->n_links),
	    .src_port = (uint16_t)sim_rng_below(r, 2),
	    .n_hops = (uint16_t)sim_rng_below(r, HOPS + 1),
	    .n_lost = (uint16_t)sim_rng_below(r, 2)};
	for (unsigned i = 0; i < a.n_hops; i++)
		hop[i] = (struct algo_hop){.t_ns = 1 + sim_rng_below(r, 9999),
		    .switch_ns = sim_rng_u32(r),
		    .node = sim_rng_below(r, t->n_switches),
		    .layer = (uint8_t)sim_rng_below(r, 4)};
	assert_ok(algo_trace_store_add(&x->store, &a, hop, test_err()));
}

static void add_sent(struct tables *x, struct sim_rng *r)
{
	const struct topo *t = &x->topo;
	topo_switch via[3];
	for (unsigned i = 0; i < 3; i++)
		via[i] = some_switch(r, t);
	/* Half of them to a neighbour and back, as debuggers ask for. */
	if (sim_rng_below(r, 2)) {
		via[0] = sim_rng_below(r, 6);     /* a ToR */
		via[1] = 6 + sim_rng_below(r, 4); /* a T1 */
	}
	const struct obs_guided_probe p = {.sent_ns = sim_rng_below(r, 3000),
	    .order = sim_rng_below(r, 6),
	    .number = sim_rng_below(r, 9),
	    .src_host = sim_rng_below(r, 2),
	    .src_ip = topo_addr_of_host(sim_rng_below(r, 2)),
	    .dst_ip = sim_rng_below(r, 2) ? topo_addr_of_host(15)
		: via[0] < t->n_switches  ? topo_addr_of_switch(via[0])
					  : ip_of(r, t),
	    .src_port = (uint16_t)sim_rng_below(r, 2),
	    .dst_port = (uint16_t)sim_rng_below(r, 2),
	    .via0 = via[0],
	    .via1 = via[1],
	    .via2 = via[2]};
	assert_ok(obs_guided_add(&x->sent, &p, test_err()));
}

static void tables_open(struct tables *x, uint32_t run)
{
	struct sim_rng r;
	*x = (struct tables){.in = {.settle_ns = 500}};
	assert_ok(topo_open_clos(&x->topo, &shape, test_err()));
	test_rng(&r, run);
	for (uint32_t i = sim_rng_below(&r, 300); i > 0; i--)
		add_trace(x, &r);
	for (uint32_t i = sim_rng_below(&r, 400); i > 0; i--)
		add_sent(x, &r);
	x->in.routing = (struct algo_routing){&x->topo, 77, run % 2};
	x->in.traces = run % 10 == 9 ? NULL : &x->store;
	x->in.sent = run % 15 == 8 ? NULL : &x->sent;
	x->in.now = run % 3 ? 2000 : SIM_NEVER;
}

static void tables_close(struct tables *x)
{
	algo_trace_store_free(&x->store);
	obs_guided_free(&x->sent);
	topo_close(&x->topo);
}

/* --- probes ----------------------------------------------------------------*/

static int is_of(const struct obs_guided *g, size_t row,
    const struct algo_traces *t, size_t i)
{
	return t->seq[i] == g->order[row] && t->ack[i] == g->number[row] &&
	    t->src_ip[i] == g->src_ip[row] &&
	    t->src_port[i] == g->src_port[row];
}

static struct algo_sighting oracle_of(const struct algo_debug_in *in,
    size_t row)
{
	const struct obs_guided *g = in->sent;
	const uint32_t n = in->routing.topo->n_switches;
	const topo_switch via[3] = {g->via0[row], g->via1[row], g->via2[row]};
	struct algo_sighting s = {.trace = SIZE_MAX, .first = TOPO_NONE};
	s.n_via = via[0] >= n ? 0 : via[1] >= n ? 1 : via[2] >= n ? 2 : 3;
	s.n_outer = s.n_via;
	if (s.n_via > 0 &&
	    g->dst_ip[row] == topo_addr_of_switch(via[s.n_via - 1]))
		s.n_outer--;
	s.settled =
	    in->now == SIM_NEVER || g->sent_ns[row] + in->settle_ns <= in->now;
	for (size_t i = 0; in->traces && i < in->traces->traces.n; i++) {
		const struct algo_traces *t = &in->traces->traces;
		const struct algo_hops *h = &in->traces->hops;
		if (!is_of(g, row, t, i))
			continue;
		s.trace = s.trace < i ? s.trace : i;
		s.n_copies += t->n_hops[i];
		s.n_lost += t->n_lost[i];
		for (size_t k = t->hop_off[i]; k < t->hop_off[i] + t->n_hops[i];
		     k++) {
			if (s.n_outer == 0 || h->layer[k] < s.n_outer) {
				if (s.n_behind++ == 0)
					s.first = h->node[k];
			}
			for (unsigned v = 0; v < s.n_via; v++)
				if (v + h->layer[k] == s.n_outer &&
				    h->node[k] == via[v] && s.t_ns[v] == 0) {
					s.t_ns[v] = h->t_ns[k];
					s.switch_ns[v] = h->switch_ns[k];
				}
		}
	}
	return s;
}

static void sightings_are_those_of_all_pairs(void **state)
{
	size_t n_seen = 0;
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		struct algo_sighting *s;
		struct tables x;
		tables_open(&x, run);
		assert_ok(algo_sightings(&x.in, &s, test_err()));
		assert_int_equal(s != NULL, x.in.sent && x.in.sent->n > 0);
		for (size_t i = 0; s && i < x.sent.n; i++) {
			const struct algo_sighting w = oracle_of(&x.in, i);
			const int same = s[i].trace == w.trace &&
			    s[i].first == w.first &&
			    s[i].n_behind == w.n_behind &&
			    s[i].n_copies == w.n_copies &&
			    s[i].n_lost == w.n_lost && s[i].n_via == w.n_via &&
			    s[i].n_outer == w.n_outer &&
			    s[i].settled == w.settled &&
			    !memcmp(s[i].t_ns, w.t_ns, sizeof(w.t_ns)) &&
			    !memcmp(s[i].switch_ns, w.switch_ns,
				sizeof(w.switch_ns));
			if (!same)
				fail_msg("seed %llu, run %u: row %zu",
				    (unsigned long long)test_seed(), run, i);
			n_seen += w.trace != SIZE_MAX;
		}
		free(s);
		tables_close(&x);
	}
	assert_true(n_seen > 200);
}

/* --- links -----------------------------------------------------------------*/

static void oracle_count(struct algo_drop_count *c,
    const struct algo_sighting *s, topo_switch next)
{
	c->n_kept += s->n_behind > 0;
	c->n_lost += s->n_behind == 0 && s->t_ns[0] > 0;
	c->n_first += s->first == next;
	c->n_first_only += s->first == next && s->n_behind == 1;
}

static void assert_count(const struct algo_drop_count *got,
    const struct algo_drop_count *want)
{
	assert_int_equal(got->n_kept, want->n_kept);
	assert_int_equal(got->n_lost, want->n_lost);
	assert_int_equal(got->n_first, want->n_first);
	assert_int_equal(got->n_first_only, want->n_first_only);
}

/* Rounds over L by HOST (TOPO_NONE: by any); returns how many there are. */
static size_t oracle_rounds(const struct tables *x, topo_link l, topo_host host,
    struct algo_drop_count *c)
{
	const struct topo *t = &x->topo;
	size_t n = 0;
	*c = (struct algo_drop_count){0};
	for (size_t i = 0; x->in.sent && i < x->sent.n; i++) {
		const struct algo_sighting s = oracle_of(&x->in, i);
		const topo_switch to = x->sent.via1[i];
		if (!s.settled || s.n_via < 2 ||
		    (host != TOPO_NONE && x->sent.src_host[i] != host) ||
		    topo_link_between(t, t->n_hosts + x->sent.via0[i],
			t->n_hosts + to) != l)
			continue;
		oracle_count(c, &s, to);
		n++;
	}
	return n;
}

/* Whether trace I may tell of L, and 2 if it does so for certain. */
static int tells_of(const struct tables *x, size_t i, topo_link l)
{
	const struct algo_traces *t = &x->store.traces;
	const struct algo_routing *r = &x->in.routing;
	const topo_node dst = algo_routing_node(r, t->dst_ip[i]);
	if (!(t->marks[i] & ALGO_TRACE_DROPS) ||
	    (t->marks[i] & ALGO_TRACE_REFUTED) ||
	    (t->marks[i] & ALGO_TRACE_PROBE) || (t->marks[i] & ALGO_TRACE_LOOP))
		return 0;
	if (t->lost_link[i] != TOPO_NONE)
		return t->lost_link[i] == l ? 2 : 0;
	if (t->last_node[i] >= x->topo.n_switches || dst == TOPO_NONE)
		return 0;
	const struct topo_next_set next =
	    topo_next_set(&x->topo, t->last_node[i], dst);
	for (uint32_t k = 0; k < next.n; k++)
		if (topo_next_of(&x->topo, &next, k) == l)
			return 1;
	return 0;
}

static uint32_t assert_link(const struct tables *x,
    const struct algo_drop_link *got, topo_link l)
{
	const struct algo_traces *t = &x->store.traces;
	struct algo_drop_link w = {.example = UINT32_MAX, .from_ns = SIM_NEVER};
	for (uint32_t i = 0; x->in.traces && i < t->n; i++) {
		const int sure = (t->marks[i] & ALGO_TRACE_CONFIRMED) != 0;
		const int how = tells_of(x, i, l);
		if (how == 0)
			continue;
		const topo_node dst =
		    algo_routing_node(&x->in.routing, t->dst_ip[i]);
		const enum algo_drop_worth worth =
		    (sure ? ALGO_DROP_SURE : ALGO_DROP_SUSPECT) +
		    (dst < x->topo.n_hosts);
		w.n_suspect++;
		w.n_confirmed += sure && how == 2;
		w.n_maybe += sure && how == 1;
		w.from_ns = t->t_ns[i] < w.from_ns ? t->t_ns[i] : w.from_ns;
		w.to_ns = t->end_ns[i] > w.to_ns ? t->end_ns[i] : w.to_ns;
		if (worth > w.worth) {
			w.worth = worth;
			w.example = i;
		}
	}
	assert_int_equal(got->n_suspect, w.n_suspect);
	assert_int_equal(got->n_confirmed, w.n_confirmed);
	assert_int_equal(got->n_maybe, w.n_maybe);
	assert_int_equal(got->worth, w.worth);
	assert_int_equal(got->example, w.example);
	assert_int_equal(got->from_ns, w.n_suspect ? w.from_ns : 0);
	assert_int_equal(got->to_ns, w.to_ns);
	oracle_rounds(x, l, TOPO_NONE, &w.round);
	assert_count(&got->round, &w.round);
	return w.n_confirmed;
}

static void links_and_rounds_are_counted(const struct tables *x,
    const struct algo_drop_rows *d)
{
	uint64_t n_confirmed = 0;
	size_t n_rounds = 0;
	for (topo_link l = 0; l < x->topo.n_links; l++) {
		n_confirmed += assert_link(x, &d->link[l], l);
		for (topo_host h = 0; h < 2; h++) {
			struct algo_drop_count c;
			size_t k = 0;
			if (oracle_rounds(x, l, h, &c) == 0)
				continue;
			while (k < d->n_rounds &&
			    (d->round[k].link != l || d->round[k].host != h))
				k++;
			assert_true(k < d->n_rounds);
			assert_count(&d->round[k].count, &c);
			n_rounds++;
		}
	}
	assert_int_equal(d->n_rounds, n_rounds);
	assert_true(d->n_confirmed == n_confirmed);
	/* 6 ToRs of 2 T1s, 4 T1s of 2 T2s: 20 cables, two links each. */
	assert_int_equal(d->n_switch_links, 40);
}

/* Of each tuple by each switch, of all rows that are plain probes of it. */
static void tuples_are_counted(const struct tables *x,
    const struct algo_drop_rows *d)
{
	const struct obs_guided *g = &x->sent;
	const struct topo *t = &x->topo;
	size_t n_plain = 0, n_of = 0;
	for (size_t k = 0; k < d->n_tuples; k++) {
		struct algo_drop_tuple w = {.link = TOPO_NONE};
		const struct algo_drop_tuple *got = &d->tuple[k];
		w.link = algo_routing_next(&x->in.routing, got->at, &got->tuple,
		    algo_routing_node(&x->in.routing, got->tuple.dst_ip));
		n_plain = 0;
		for (size_t i = 0; x->in.sent && i < g->n; i++) {
			const struct topo_tuple tuple = {g->src_ip[i],
			    g->dst_ip[i], g->src_port[i], g->dst_port[i],
			    TOPO_PROTO_TCP};
			const struct algo_sighting s = oracle_of(&x->in, i);
			topo_node from, to = 0;
			if (!s.settled || s.n_via != 1 || s.n_outer != 1)
				continue;
			n_plain++;
			if (g->via0[i] != got->at ||
			    !topo_tuple_same(&tuple, &got->tuple))
				continue;
			n_of++;
			if (w.link == TOPO_NONE && s.first != TOPO_NONE)
				w.link = topo_link_between(t,
				    t->n_hosts + got->at, t->n_hosts + s.first);
			if (w.link != TOPO_NONE)
				topo_link_ends(t, w.link, &from, &to);
			oracle_count(&w.count, &s,
			    to >= t->n_hosts ? to - t->n_hosts : TOPO_NONE);
		}
		assert_int_equal(got->link, w.link);
		assert_count(&got->count, &w.count);
	}
	assert_int_equal(n_of, n_plain); /* each is of one tuple */
}

static void mirrors_lost_are_bounded(const struct tables *x, double got)
{
	uint64_t n_copies = 0, n_lost = 0;
	double lo, hi = 1;
	for (size_t i = 0; x->in.sent && i < x->sent.n; i++) {
		const struct algo_sighting s = oracle_of(&x->in, i);
		if (s.settled && s.n_via > 0) {
			n_copies += s.n_copies;
			n_lost += s.n_lost;
		}
	}
	if (n_copies > 0)
		assert_ok(sim_binomial_interval(n_lost, n_copies + n_lost,
		    0.998, &lo, &hi, test_err()));
	assert_near(got, hi, 1e-12);
}

static void counts_are_those_of_all_rows(void **state)
{
	size_t n_rounds = 0, n_tuples = 0;
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		struct algo_drop_rows d;
		struct tables x;
		tables_open(&x, run);
		assert_ok(algo_drop_rows_make(&d, &x.in, test_err()));
		links_and_rounds_are_counted(&x, &d);
		tuples_are_counted(&x, &d);
		mirrors_lost_are_bounded(&x, d.mirror_loss);
		n_rounds += d.n_rounds;
		n_tuples += d.n_tuples;
		algo_drop_rows_free(&d);
		assert_null(d.link);
		tables_close(&x);
	}
	assert_true(n_rounds > 50 && n_tuples > 50);
}

/* Probes of 64 tuples in turn, so that the one before is never of the same, and
 * some of 64 share a place of a table of 256. */
static void tuples_that_take_turns_are_told_apart(void **state)
{
	enum { TUPLES = 64, TURNS = 4 };
	struct algo_drop_rows d;
	struct tables x;
	(void)state;
	tables_open(&x, 0);
	obs_guided_free(&x.sent);
	for (uint32_t i = 0; i < TUPLES * TURNS; i++) {
		const struct obs_guided_probe p = {.order = i / TUPLES,
		    .number = i % TUPLES,
		    .src_ip = topo_addr_of_host(0),
		    .dst_ip = topo_addr_of_host(15),
		    .src_port = (uint16_t)(i % TUPLES / 2),
		    .via0 = i % 2,
		    .via1 = TOPO_NONE,
		    .via2 = TOPO_NONE};
		assert_ok(obs_guided_add(&x.sent, &p, test_err()));
	}
	x.in.sent = &x.sent;
	assert_ok(algo_drop_rows_make(&d, &x.in, test_err()));
	assert_int_equal(d.n_tuples, TUPLES);
	tuples_are_counted(&x, &d);
	algo_drop_rows_free(&d);
	tables_close(&x);
}

/* --- how sure --------------------------------------------------------------*/

static void what_is_healthy_is_noise_and_lost_mirrors(void **state)
{
	const struct algo_drop_rows half = {.mirror_loss = 0.5};
	const struct algo_drop_count c = {.n_first = 200, .n_first_only = 20};
	double lo, hi;
	(void)state;
	assert_ok(sim_binomial_interval(20, 200, 0.998, &lo, &hi, test_err()));
	assert_near(algo_drop_healthy(&half, &c, 0.01), 0.01 + hi / 2, 1e-12);
	/* Nothing known, or more than all. */
	assert_near(algo_drop_healthy(&half, &(struct algo_drop_count){0}, 0),
	    0.5, 1e-12);
	assert_near(algo_drop_healthy(&half, &c, 0.99), 1, 0);
}

/* Summed over all that may be seen of N probes that are lost with P0 each, the
 * evidence is 1: it is a mean of likelihood ratios. */
static void evidence_of_what_is_healthy_is_1_on_average(void **state)
{
	(void)state;
	for (uint64_t n = 0; n <= 12; n += 3)
		for (unsigned k = 0; k < 4; k++) {
			static const double rate[] = {1e-4, 0.01, 0.2, 0.49};
			const double p = rate[k];
			double mean = 0;
			for (uint64_t i = 0; i <= n; i++) {
				const double ways = exp(lgamma((double)n + 1) -
				    lgamma((double)i + 1) -
				    lgamma((double)(n - i) + 1));
				mean += ways * pow(p, (double)i) *
				    pow(1 - p, (double)(n - i)) *
				    algo_drop_evidence(i, n, p);
			}
			assert_near(mean, 1, 1e-9);
		}
	assert_true(algo_drop_evidence(5, 5, 0.01) > 1e6);
	assert_true(algo_drop_evidence(0, 500, 0.01) < 0.1);
	assert_near(algo_drop_evidence(1, 2, 0), 0, 0);
	assert_near(algo_drop_evidence(1, 2, 0.5), 0, 0);
	assert_near(algo_drop_evidence(3, 2, 0.1), 0, 0);
	assert_near(algo_drop_evidence(1, 2, NAN), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sightings_are_those_of_all_pairs),
	    cmocka_unit_test(counts_are_those_of_all_rows),
	    cmocka_unit_test(tuples_that_take_turns_are_told_apart),
	    cmocka_unit_test(what_is_healthy_is_noise_and_lost_mirrors),
	    cmocka_unit_test(evidence_of_what_is_healthy_is_1_on_average),
	};
	return cmocka_run_group_tests_name("algos/everflow/drop_rows", tests,
	    NULL, NULL);
}
