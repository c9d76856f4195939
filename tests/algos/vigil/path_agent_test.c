/* tests/algos/vigil/path_agent_test.c -- 007's agent, also fuzzed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/path_agent.h"
#include "tests/test.h"
#include "topo/addr.h"

struct rig {
	struct algo_path_agent_params params;
	void *state;
	sim_ns now;
	struct agent_out out;
	struct sim_rng rng;
};

static void step(struct rig *g, const struct agent_event *ev)
{
	g->out.n = 0;
	assert_ok(algo_path_agent.step(g->state, g->now, ev, &g->rng, &g->out,
	    test_err()));
	assert_true(g->out.n <= AGENT_MAX_OUT);
}

static void open_rig(struct rig *g, double c_t)
{
	*g = (struct rig){.now = 1000};
	assert_true(algo_path_agent.state_size <= 16384);
	assert_ok(
	    sim_field_defaults(algo_path_agent_fields, &g->params, test_err()));
	g->params.c_t = c_t;
	test_rng(&g->rng, 0);
	/* What was there before must not matter. */
	g->state = malloc(algo_path_agent.state_size);
	memset(g->state, 0xa5, algo_path_agent.state_size);
	assert_ok(algo_path_agent.init(g->state, 0, &g->params, test_err()));
	step(g, &(struct agent_event){.kind = AGENT_START});
	assert_int_equal(g->out.n, 0);
}

static void close_rig(struct rig *g)
{
	free(g->state);
}

static struct topo_tuple tuple_of(unsigned i)
{
	return (struct topo_tuple){topo_addr_of_host(0),
	    topo_addr_of_host(1 + i / 1000), (uint16_t)(1024 + i % 1000), 443,
	    TOPO_PROTO_TCP};
}

static struct topo_tuple vip_tuple_of(unsigned i)
{
	struct topo_tuple t = tuple_of(i);
	t.dst_ip = topo_addr_of_vip(5);
	return t;
}

static void retx(struct rig *g, struct topo_tuple t, int established)
{
	step(g,
	    &(struct agent_event){.kind = AGENT_RETX,
		.established = (uint8_t)established,
		.tuple = t});
}

static void answer(struct rig *g, const struct agent_action *probe,
    uint32_t from_ip)
{
	const struct agent_event ev = {.kind = AGENT_ICMP,
	    .ip_id = probe->ip_id,
	    .from_ip = from_ip,
	    .tuple = probe->tuple};
	step(g, &ev);
	assert_int_equal(g->out.n, 0);
}

static void timer(struct rig *g, const struct agent_action *set)
{
	assert_int_equal(set->kind, AGENT_SET_TIMER);
	const struct agent_event ev = {.kind = AGENT_TIMER,
	    .token = set->token};
	g->now = set->at_ns;
	step(g, &ev);
}

/* Fail unless the actions are those of a trace of T. */
static void assert_traces(const struct rig *g, const struct topo_tuple *t)
{
	assert_int_equal(g->out.n, g->params.max_ttl + 1);
	for (unsigned i = 0; i < g->params.max_ttl; i++) {
		const struct agent_action *a = &g->out.action[i];
		assert_int_equal(a->kind, AGENT_PROBE);
		assert_int_equal(a->ttl, i + 1);
		assert_int_equal(a->ip_id & 31, i + 1);
		assert_true(
		    topo_tuple_digest(&a->tuple) == topo_tuple_digest(t));
	}
	const struct agent_action *last = &g->out.action[g->out.n - 1];
	assert_int_equal(last->kind, AGENT_SET_TIMER);
	assert_true(
	    last->at_ns == g->now + (sim_ns)(g->params.timeout_s * 1e9));
}

static void a_trace_reports_the_answers_and_the_count(void **state)
{
	struct rig g;
	struct agent_out trace;
	const struct topo_tuple t = tuple_of(3);
	(void)state;
	open_rig(&g, 0);
	retx(&g, t, 1);
	assert_traces(&g, &t);
	trace = g.out;
	answer(&g, &trace.action[0], 11);
	answer(&g, &trace.action[3], 44); /* hops 2 and 3 say nothing */
	retx(&g, t, 1);
	assert_int_equal(g.out.n, 0);
	timer(&g, &trace.action[15]);
	assert_int_equal(g.out.n, 1);
	assert_int_equal(g.out.action[0].kind, AGENT_REPORT);
	const struct agent_report *r = &g.out.action[0].report;
	assert_int_equal(r->n_hops, 4);
	assert_int_equal(r->n_retx, 2);
	assert_int_equal(r->hop_ip[0], 11);
	assert_int_equal(r->hop_ip[1], 0);
	assert_int_equal(r->hop_ip[2], 0);
	assert_int_equal(r->hop_ip[3], 44);
	assert_true(topo_tuple_digest(&r->tuple) == topo_tuple_digest(&t));
	close_rig(&g);
}

static void a_connection_is_traced_once_an_epoch(void **state)
{
	struct rig g;
	const struct topo_tuple t = tuple_of(3);
	(void)state;
	open_rig(&g, 0);
	g.params.epoch_ns = 30 * SIM_SEC;
	retx(&g, t, 1);
	assert_traces(&g, &t);
	timer(&g, &g.out.action[15]);
	for (int i = 0; i < 100; i++) {
		g.now += SIM_SEC / 4;
		retx(&g, t, 1);
		assert_int_equal(g.out.n, 0);
	}
	g.now = 30 * SIM_SEC;
	retx(&g, t, 1);
	assert_traces(&g, &t);
	timer(&g, &g.out.action[15]);
	assert_int_equal(g.out.action[0].report.n_retx, 1);
	close_rig(&g);
}

static void a_trace_across_epochs_keeps_its_own_count(void **state)
{
	struct rig g;
	const struct topo_tuple t = tuple_of(3), other = tuple_of(4);
	(void)state;
	open_rig(&g, 0);
	g.params.epoch_ns = SIM_SEC;
	g.now = SIM_SEC - 1000;
	retx(&g, t, 1);
	const struct agent_action set = g.out.action[15];
	retx(&g, t, 1);
	g.now = SIM_SEC;
	for (int i = 0; i < 5; i++)
		retx(&g, other, 0);
	timer(&g, &set);
	assert_int_equal(g.out.n, 1);
	assert_int_equal(g.out.action[0].report.n_retx, 2);
	close_rig(&g);
}

static void without_a_handshake_there_is_no_trace(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, 0);
	for (int i = 0; i < 10; i++) {
		retx(&g, tuple_of(1), 0);
		assert_int_equal(g.out.n, 0);
	}
	retx(&g, tuple_of(1), 1);
	assert_int_equal(g.out.n, 16);
	close_rig(&g);
}

static void a_vip_is_asked_for_first(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, 0);
	retx(&g, vip_tuple_of(1), 1);
	assert_int_equal(g.out.n, 2);
	assert_int_equal(g.out.action[0].kind, AGENT_SLB_QUERY);
	assert_int_equal(g.out.action[0].tuple.dst_ip, topo_addr_of_vip(5));
	const struct agent_out asked = g.out;
	struct agent_event reply = {.kind = AGENT_SLB_REPLY,
	    .ok = 1,
	    .dip = topo_addr_of_host(9),
	    .token = asked.action[0].token};
	step(&g, &reply);
	struct topo_tuple want = vip_tuple_of(1);
	want.dst_ip = topo_addr_of_host(9);
	assert_traces(&g, &want);
	const struct agent_out traced = g.out;
	/* The answer again, and the query's timer, come to nothing. */
	step(&g, &reply);
	assert_int_equal(g.out.n, 0);
	timer(&g, &asked.action[1]);
	assert_int_equal(g.out.n, 0);
	timer(&g, &traced.action[15]);
	assert_int_equal(g.out.n, 1);
	assert_int_equal(g.out.action[0].report.tuple.dst_ip,
	    topo_addr_of_host(9));
	close_rig(&g);
}

static void a_query_that_fails_is_no_trace_and_not_repeated(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, 0);
	for (int silent = 0; silent < 2; silent++) {
		retx(&g, vip_tuple_of((unsigned)silent), 1);
		const struct agent_out asked = g.out;
		if (silent) {
			timer(&g, &asked.action[1]);
		} else {
			step(&g,
			    &(struct agent_event){.kind = AGENT_SLB_REPLY,
				.token = asked.action[0].token});
		}
		assert_int_equal(g.out.n, 0);
		retx(&g, vip_tuple_of((unsigned)silent), 1);
		assert_int_equal(g.out.n, 0);
		/* An answer that comes too late finds nobody. */
		step(&g,
		    &(struct agent_event){.kind = AGENT_SLB_REPLY,
			.ok = 1,
			.dip = 1,
			.token = asked.action[0].token});
		assert_int_equal(g.out.n, 0);
	}
	close_rig(&g);
}

static void no_second_begins_more_traces_than_c_t_and_its_burst(void **state)
{
	struct rig g;
	static sim_ns begun[400];
	(void)state;
	for (unsigned c_t = 1; c_t <= 10; c_t += 3) {
		size_t n = 0;
		open_rig(&g, c_t);
		g.params.timeout_s = 0.01;
		assert_ok(
		    algo_path_agent.init(g.state, 0, &g.params, test_err()));
		for (unsigned i = 0; i < 200; i++) {
			g.now += 73 * SIM_MS;
			retx(&g, tuple_of(i), 1);
			if (g.out.n == 0)
				continue;
			begun[n++] = g.now;
			const sim_ns now = g.now;
			timer(&g, &g.out.action[15]);
			g.now = now;
		}
		/* 14.6 s at c_t a second and one second's worth before. */
		if (14.6 * c_t + c_t < 200)
			assert_in_range(n, 14 * c_t, 15 * c_t + c_t);
		for (size_t i = 0; i + 2 * c_t < n; i++)
			assert_true(begun[i + 2 * c_t] - begun[i] >= SIM_SEC);
		close_rig(&g);
	}
}

/* A connection that retransmits when the host has no token left is not traced,
 * but it is when it retransmits again later. */
static void who_waited_is_traced_later(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, 1);
	retx(&g, tuple_of(1), 1);
	assert_int_equal(g.out.n, 16);
	retx(&g, tuple_of(2), 1);
	assert_int_equal(g.out.n, 0);
	g.now += SIM_SEC;
	retx(&g, tuple_of(2), 1);
	assert_int_equal(g.out.n, 16);
	close_rig(&g);
}

/* More connections than the table holds: traced ones stay, so none is traced
 * twice; untraced ones give way. */
static void a_full_table_never_forgets_who_was_traced(void **state)
{
	struct rig g;
	unsigned n_traced = 0;
	(void)state;
	open_rig(&g, 0);
	for (unsigned i = 0; i < 2 * PATH_AGENT_CONNS; i++)
		retx(&g, tuple_of(i), 0);
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < 2 * PATH_AGENT_CONNS; i++) {
			retx(&g, tuple_of(i), 1);
			if (g.out.n == 0)
				continue;
			assert_int_equal(round, 0);
			assert_true(i < PATH_AGENT_CONNS);
			n_traced++;
			timer(&g, &g.out.action[15]);
		}
	assert_int_equal(n_traced, PATH_AGENT_CONNS);
	close_rig(&g);
}

static void late_answers_of_a_slots_former_trace_are_told_apart(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, 0);
	retx(&g, tuple_of(1), 1);
	struct agent_out first = g.out;
	timer(&g, &first.action[15]);
	retx(&g, tuple_of(2), 1);
	const struct agent_out second = g.out;
	answer(&g, &first.action[0], 1);
	/* Nor does a late answer to the first trace count for the second one
	 * when it quotes the tuple of the second. */
	first.action[1].tuple = second.action[1].tuple;
	answer(&g, &first.action[1], 2);
	timer(&g, &second.action[15]);
	assert_int_equal(g.out.action[0].report.n_hops, 0);
	close_rig(&g);
}

static void an_event_of_another_agent_is_an_error(void **state)
{
	const struct agent_event ev = {.kind = AGENT_FETCH_DONE};
	struct rig g;
	(void)state;
	open_rig(&g, 0);
	assert_int_equal(algo_path_agent.step(g.state, g.now, &ev, &g.rng,
			     &g.out, NULL),
	    SIM_EUNSUPPORTED);
	close_rig(&g);
}

/* --- fuzzing -------------------------------------------------------------- */

enum { N_TUPLES = 400, N_KEPT = 64, N_STEPS = 20000 };

struct fuzz {
	struct rig g;
	struct sim_rng r;
	uint8_t traced[N_TUPLES];
	/* Actions seen lately, to make events that nearly fit. */
	struct agent_action kept[N_KEPT];
	size_t n_kept;
	uint64_t n_reports, digest;
};

static struct agent_event random_event(struct fuzz *f)
{
	struct sim_rng *r = &f->r;
	struct agent_event ev = {
	    .kind = (enum agent_event_kind)sim_rng_below(r, 5),
	    .ok = (uint8_t)sim_rng_below(r, 2),
	    .established = sim_rng_below(r, 4) > 0,
	    .ip_id = (uint16_t)sim_rng_u32(r),
	    .from_ip = sim_rng_u32(r),
	    .dip = topo_addr_of_host(sim_rng_below(r, 100)),
	    .token = sim_rng_u32(r) >> sim_rng_below(r, 32),
	    .tuple = sim_rng_below(r, 3)
		? tuple_of(sim_rng_below(r, N_TUPLES))
		: vip_tuple_of(sim_rng_below(r, N_TUPLES)),
	};
	if (sim_rng_below(r, 2))
		ev.kind = AGENT_RETX;
	if (f->n_kept && ev.kind != AGENT_RETX && sim_rng_below(r, 8)) {
		const struct agent_action *a =
		    &f->kept[sim_rng_below(r, (uint32_t)f->n_kept)];
		ev.token = a->token;
		ev.ip_id = a->ip_id;
		ev.tuple = a->tuple;
		ev.kind = a->kind == AGENT_SET_TIMER ? AGENT_TIMER
		    : a->kind == AGENT_SLB_QUERY     ? AGENT_SLB_REPLY
						     : AGENT_ICMP;
	}
	return ev;
}

/* Tuples have their number in the port; with VIPs, several have the same. */
static unsigned number_of(const struct topo_tuple *t)
{
	return t->src_port - 1024u;
}

static void look_at(struct fuzz *f, const struct agent_action *a, int vips)
{
	if (a->kind == AGENT_REPORT) {
		f->n_reports++;
		assert_true(a->report.n_hops <= f->g.params.max_ttl);
		return;
	}
	f->digest = f->digest * 31 + a->kind;
	f->kept[f->n_kept < N_KEPT ? f->n_kept++
				   : sim_rng_below(&f->r, N_KEPT)] = *a;
	if (a->kind == AGENT_PROBE) {
		f->digest = f->digest * 31 + a->ip_id;
		assert_in_range(a->ttl, 1, f->g.params.max_ttl);
		assert_false(topo_addr_is_vip(a->tuple.dst_ip));
	}
	if (a->kind == AGENT_PROBE && a->ttl == 1 && !vips) {
		const unsigned i = number_of(&a->tuple);
		if (f->traced[i]++)
			fail_msg("seed %llu: connection %u is traced twice",
			    (unsigned long long)test_seed(), i);
	}
}

static uint64_t fuzz(uint32_t run, int vips)
{
	struct fuzz f = {.n_kept = 0};
	uint64_t epoch = 0;
	open_rig(&f.g, run % 3 * 5.0);
	test_rng(&f.r, run);
	f.g.params.max_ttl = 1 + run % TOPO_MAX_HOPS;
	f.g.params.epoch_ns = run % 2 ? 30 * SIM_SEC : 0;
	for (unsigned i = 0; i < N_STEPS; i++) {
		struct agent_event ev = random_event(&f);
		if (!vips && topo_addr_is_vip(ev.tuple.dst_ip))
			ev.tuple = tuple_of(number_of(&ev.tuple));
		f.g.now += sim_rng_below(&f.r, 10 * (uint32_t)SIM_MS);
		if (f.g.params.epoch_ns &&
		    f.g.now / f.g.params.epoch_ns != epoch) {
			epoch = f.g.now / f.g.params.epoch_ns;
			memset(f.traced, 0, sizeof(f.traced));
		}
		step(&f.g, &ev);
		for (size_t k = 0; k < f.g.out.n; k++)
			look_at(&f, &f.g.out.action[k], vips);
	}
	assert_true(f.n_reports > 20);
	close_rig(&f.g);
	return f.digest + f.n_reports;
}

static void no_events_break_it_or_make_it_trace_twice(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 30; run++)
		fuzz(run, run >= 15);
}

static void the_same_events_give_the_same_actions(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 4; run++)
		assert_true(fuzz(run, 1) == fuzz(run, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_trace_reports_the_answers_and_the_count),
	    cmocka_unit_test(a_connection_is_traced_once_an_epoch),
	    cmocka_unit_test(a_trace_across_epochs_keeps_its_own_count),
	    cmocka_unit_test(without_a_handshake_there_is_no_trace),
	    cmocka_unit_test(a_vip_is_asked_for_first),
	    cmocka_unit_test(a_query_that_fails_is_no_trace_and_not_repeated),
	    cmocka_unit_test(
		no_second_begins_more_traces_than_c_t_and_its_burst),
	    cmocka_unit_test(who_waited_is_traced_later),
	    cmocka_unit_test(a_full_table_never_forgets_who_was_traced),
	    cmocka_unit_test(
		late_answers_of_a_slots_former_trace_are_told_apart),
	    cmocka_unit_test(an_event_of_another_agent_is_an_error),
	    cmocka_unit_test(no_events_break_it_or_make_it_trace_twice),
	    cmocka_unit_test(the_same_events_give_the_same_actions),
	};
	return cmocka_run_group_tests_name("algos/vigil/path_agent", tests,
	    NULL, NULL);
}
