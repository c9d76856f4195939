/* tests/algos/pingmesh/hop_trace_test.c -- the tracing agent, also fuzzed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hop_trace.h"

#include "tests/test.h"
#include "topo/addr.h"

enum { HOST = 3, CANARY = 64, MAX_TARGETS = 8, MAX_SENT = 40000 };

struct rig {
	struct algo_hop_trace_params params;
	struct algo_hop_trace_target target[MAX_TARGETS];
	unsigned char *state; /* and a canary behind it */
	sim_ns now;
	struct agent_out out;
	struct sim_rng rng, own;
	struct agent_action timer; /* the last one set */
	int armed;

	/* What it did. */
	sim_ns sent_ns[MAX_SENT];
	struct agent_action sent[MAX_SENT];
	size_t n_sent, n_reports;
	struct agent_report report[2 * HOP_TRACE_TUPLES];
};

static int start(struct rig *g, struct sim_err *e)
{
	/* Garbage, for an agent must not rely on zeroed memory. */
	memset(g->state, 0xa5, algo_hop_trace_agent.state_size + CANARY);
	return algo_hop_trace_agent.init(g->state, HOST, &g->params, e);
}

static void open_rig(struct rig *g, uint32_t run)
{
	*g = (struct rig){.now = 1000};
	assert_ok(
	    sim_field_defaults(algo_hop_trace_fields, &g->params, test_err()));
	g->params.n_probes = 20;
	g->params.target = g->target;
	test_rng(&g->rng, 2 * run);
	test_rng(&g->own, 2 * run + 1);
	g->state = malloc(algo_hop_trace_agent.state_size + CANARY);
	assert_non_null(g->state);
}

static void close_rig(struct rig *g)
{
	for (int i = 0; i < CANARY; i++)
		assert_int_equal(g->state[algo_hop_trace_agent.state_size + i],
		    0xa5);
	free(g->state);
}

static void add_target(struct rig *g, topo_host src, topo_host dst,
    uint16_t n_ports)
{
	g->target[g->params.n_targets++] =
	    (struct algo_hop_trace_target){.src = src,
		.dst_ip = topo_addr_of_host(dst),
		.first_port = 40000,
		.n_ports = n_ports};
}

static void step(struct rig *g, const struct agent_event *ev)
{
	g->out.n = 0;
	assert_ok(algo_hop_trace_agent.step(g->state, g->now, ev, &g->rng,
	    &g->out, test_err()));
	for (size_t i = 0; i < g->out.n; i++) {
		const struct agent_action *a = &g->out.action[i];
		switch (a->kind) {
		case AGENT_SET_TIMER:
			g->timer = *a;
			g->armed = 1;
			break;
		case AGENT_PROBE:
			assert_true(g->n_sent < MAX_SENT);
			g->sent_ns[g->n_sent] = g->now;
			g->sent[g->n_sent++] = *a;
			break;
		default:
			assert_int_equal(a->kind, AGENT_REPORT);
			assert_true(g->n_reports < 2 * HOP_TRACE_TUPLES);
			g->report[g->n_reports++] = a->report;
		}
	}
}

static void begin(struct rig *g)
{
	assert_ok(start(g, test_err()));
	step(g, &(struct agent_event){.kind = AGENT_START});
}

static void answer(struct rig *g, const struct agent_action *probe,
    uint32_t from_ip)
{
	step(g,
	    &(struct agent_event){.kind = AGENT_ICMP,
		.ip_id = probe->ip_id,
		.from_ip = from_ip,
		.tuple = probe->tuple});
	assert_int_equal(g->out.n, 0);
}

/* A path of n_hops switches, of which hop i answers with share[i]. */
struct path {
	unsigned n_hops;
	double share[TOPO_MAX_HOPS];
};

static uint32_t hop_ip(unsigned ttl, uint16_t port)
{
	return topo_addr_of_switch(ttl * 1000 + port % 7);
}

/* Let the timer fire, LATE after its time; what is sent is answered at once. */
static int turn(struct rig *g, const struct path *p, sim_ns late)
{
	const size_t had = g->n_sent;
	if (!g->armed)
		return 0;
	g->armed = 0;
	if (g->timer.at_ns > g->now)
		g->now = g->timer.at_ns;
	g->now += late;
	step(g,
	    &(struct agent_event){.kind = AGENT_TIMER,
		.token = g->timer.token});
	assert_true(g->n_sent - had <= 1);
	if (g->n_sent == had)
		return 1;
	const struct agent_action probe = g->sent[had];
	if (probe.ttl <= p->n_hops &&
	    sim_rng_u01(&g->own) < p->share[probe.ttl - 1])
		answer(g, &probe, hop_ip(probe.ttl, probe.tuple.src_port));
	return 1;
}

static void run(struct rig *g, const struct path *p)
{
	while (turn(g, p, 0))
		;
}

static void assert_rate_kept(const struct rig *g)
{
	const sim_ns slot = (sim_ns)ceil(1e9 / g->params.rate);
	for (size_t i = 0; i + 2 < g->n_sent; i++)
		assert_true(g->sent_ns[i + 2] - g->sent_ns[i] >= slot);
}

/* --- by hand ---------------------------------------------------------------*/
static void it_waits_for_its_time_and_others_do_nothing(void **state)
{
	(void)state;
	static struct rig g;
	const struct path p = {2, {1, 1}};
	open_rig(&g, 1);
	add_target(&g, HOST + 1, 9, 5);
	begin(&g);
	assert_int_equal(g.out.n, 0);
	answer(&g, &(struct agent_action){.ip_id = 0}, 1);
	add_target(&g, HOST, 9, 1);
	g.params.start_s = 3600;
	begin(&g);
	assert_int_equal(g.out.n, 1);
	assert_true(g.timer.at_ns == 3600 * SIM_SEC);
	turn(&g, &p, 0);
	assert_int_equal(g.n_sent, 0);
	assert_in_range(g.timer.at_ns, 3600 * SIM_SEC,
	    3600 * SIM_SEC + 50 * SIM_MS);
	run(&g, &p);
	assert_true(g.sent_ns[0] >= 3600 * SIM_SEC);
	assert_int_equal(g.n_reports, 1);
	close_rig(&g);
}

static void a_report_has_the_hops_and_counts_of_each_tuple(void **state)
{
	(void)state;
	static struct rig g;
	const struct path p = {5, {1, 1, 1, 1, 1}};
	unsigned ports = 0;
	open_rig(&g, 2);
	add_target(&g, HOST, 9, 40);
	add_target(&g, 1, 9, 7); /* someone else's */
	add_target(&g, HOST, 20, 3);
	begin(&g);
	run(&g, &p);
	assert_int_equal(g.n_reports, 43);
	for (size_t i = 0; i < g.n_reports; i++) {
		const struct agent_report *r = &g.report[i];
		const uint16_t port = r->tuple.src_port;
		ports += port;
		assert_int_equal(r->tuple.src_ip, topo_addr_of_host(HOST));
		assert_int_equal(r->tuple.dst_ip,
		    topo_addr_of_host(i < 40 ? 9 : 20));
		assert_int_equal(r->tuple.dst_port, 8080);
		assert_int_equal(r->n_hops, 5);
		for (unsigned k = 0; k < TOPO_MAX_HOPS; k++) {
			const unsigned sent = k < 7 ? 20 : k < 10 ? 3 : 0;
			assert_int_equal(r->n_sent[k], sent);
			assert_int_equal(r->n_back[k], k < 5 ? 20 : 0);
			assert_int_equal(r->hop_ip[k],
			    k < 5 ? hop_ip(k + 1, port) : 0);
		}
	}
	assert_int_equal(ports, 43 * 40000 + 39 * 20 + 3);
	assert_rate_kept(&g);
	/* 149 probes a tuple in 20 slots a second, and a second's wait. */
	assert_near((double)g.now / 1e9, 43 * 149 / 20.0 + 1, 0.11);
	close_rig(&g);
}

/* The last switch answers one in ten; those before it, nothing at all. It is
 * missed if none of 3 soundings is answered (0.73) or, where it is within the
 * look-ahead, none of 100: 3e-5. */
static void rare_or_missing_answers_do_not_end_a_path(void **state)
{
	(void)state;
	static struct rig g;
	const struct path rare = {4, {1, 1, 1, 0.1}};
	const struct path gap = {7, {1, 0, 0, 0, 0, 0, 1}};
	const struct path silent = {3, {0, 0, 0}};
	open_rig(&g, 3);
	add_target(&g, HOST, 9, 10);
	g.params.n_probes = 100;
	begin(&g);
	run(&g, &rare);
	begin(&g);
	run(&g, &gap);
	assert_int_equal(g.n_reports, 20);
	for (size_t i = 0; i < 20; i++) {
		const unsigned n = i < 10 ? 4 : 7;
		assert_int_equal(g.report[i].n_hops, n);
		for (unsigned k = 0; k < n + 2; k++)
			assert_int_equal(g.report[i].n_sent[k], 100);
		assert_int_equal(g.report[i].hop_ip[2] == 0, i >= 10);
	}
	begin(&g);
	run(&g, &silent);
	assert_int_equal(g.n_reports, 30);
	assert_int_equal(g.report[29].n_hops, 0);
	assert_int_equal(g.report[29].n_sent[1], 100);
	assert_int_equal(g.report[29].n_sent[2], 3);
	close_rig(&g);
}

/* Answers that come when all was sent show that the path goes on. */
static void late_answers_open_another_round(void **state)
{
	(void)state;
	static struct rig g;
	const struct path deaf = {0, {0}};
	open_rig(&g, 4);
	add_target(&g, HOST, 9, 1);
	g.params.n_probes = 5;
	g.params.n_soundings = 0;
	begin(&g);
	while (g.n_sent < 10)
		turn(&g, &deaf, 0);
	answer(&g, &g.sent[9], 77);
	const unsigned ttl = g.sent[9].ttl;
	run(&g, &deaf);
	assert_int_equal(g.n_reports, 1);
	assert_int_equal(g.report[0].n_hops, ttl);
	assert_int_equal(g.report[0].n_sent[ttl + 1], 5);
	assert_int_equal(g.report[0].n_sent[ttl + 2], 0);
	assert_int_equal(g.report[0].n_back[ttl - 1], 1);
	close_rig(&g);
}

static void each_round_gives_every_ttl_one_turn_in_random_order(void **state)
{
	(void)state;
	static struct rig g;
	const struct path p = {2, {1, 1}};
	enum { N = 5 * 4, ROUNDS = 400 };
	unsigned first[N] = {0};
	open_rig(&g, 5);
	add_target(&g, HOST, 9, 5);
	g.params.n_probes = ROUNDS;
	g.params.max_hops = 4;
	begin(&g);
	run(&g, &p);
	assert_int_equal(g.n_sent, N * ROUNDS);
	for (size_t r = 0; r < ROUNDS; r++) {
		uint32_t seen = 0;
		for (size_t i = 0; i < N; i++) {
			const struct agent_action *a = &g.sent[r * N + i];
			const unsigned which =
			    (a->tuple.src_port - 40000u) * 4 + a->ttl - 1;
			seen |= 1u << which;
			first[which] += i == 0;
		}
		assert_int_equal(seen, (1u << N) - 1);
	}
	/* Each begins 20 of 400 rounds, sd 4.4: six of them once in 1e8. */
	for (size_t i = 0; i < N; i++)
		assert_near(first[i], 20, 6 * 4.4);
	close_rig(&g);
}

static void only_the_first_answer_to_a_probe_in_time_counts(void **state)
{
	(void)state;
	static struct rig g;
	const struct path deaf = {0, {0}};
	struct algo_hop_trace_counters n;
	open_rig(&g, 6);
	add_target(&g, HOST, 9, 1);
	begin(&g);
	while (g.n_sent < 3)
		turn(&g, &deaf, 0);
	struct agent_action odd = g.sent[1];
	odd.tuple.src_port++;
	answer(&g, &odd, 5);
	odd = g.sent[1];
	odd.tuple.dst_ip++;
	answer(&g, &odd, 5);
	odd = g.sent[1];
	odd.ip_id += HOP_TRACE_FLIGHTS; /* its place in memory is the same */
	answer(&g, &odd, 5);
	odd.ip_id = 200; /* its place in memory was never used */
	answer(&g, &odd, 5);
	algo_hop_trace_count(g.state, &n);
	assert_int_equal(n.n_stray, 4);
	assert_int_equal(n.n_answered, 0);
	answer(&g, &g.sent[1], 5);
	answer(&g, &g.sent[1], 5);
	const sim_ns now = g.now;
	g.now = g.sent_ns[0] + SIM_SEC;
	answer(&g, &g.sent[0], 5);
	g.now = g.sent_ns[2] + SIM_SEC + 1;
	answer(&g, &g.sent[2], 5);
	g.now = now;
	algo_hop_trace_count(g.state, &n);
	assert_int_equal(n.n_answered, 2);
	assert_int_equal(n.n_duplicate, 1);
	assert_int_equal(n.n_late, 1);
	run(&g, &deaf);
	uint64_t back = 0;
	for (unsigned k = 0; k < TOPO_MAX_HOPS; k++)
		back += g.report[0].n_back[k];
	assert_int_equal(back, 2);
	/* Answers that come after the report are strays. */
	answer(&g, &g.sent[g.n_sent - 1], 5);
	algo_hop_trace_count(g.state, &n);
	assert_int_equal(n.n_sent, g.n_sent);
	assert_int_equal(n.n_stray, 5);
	assert_int_equal(n.n_answered, 2);
	close_rig(&g);
}

static void a_hop_of_two_addresses_is_not_known(void **state)
{
	(void)state;
	static struct rig g;
	const struct path deaf = {0, {0}};
	struct algo_hop_trace_counters n;
	open_rig(&g, 7);
	add_target(&g, HOST, 9, 1);
	g.params.max_hops = 2;
	begin(&g);
	for (uint32_t i = 0; g.n_reports == 0; i++) {
		const size_t had = g.n_sent;
		turn(&g, &deaf, 0);
		if (g.n_sent > had && g.sent[had].ttl == 1)
			answer(&g, &g.sent[had], i < 20 ? 11 : 12);
		else if (g.n_sent > had)
			answer(&g, &g.sent[had], 22);
	}
	algo_hop_trace_count(g.state, &n);
	assert_true(n.n_moved > 0);
	assert_int_equal(g.report[0].hop_ip[0], 0);
	assert_int_equal(g.report[0].hop_ip[1], 22);
	assert_int_equal(g.report[0].n_hops, 2);
	assert_int_equal(g.report[0].n_back[0], 20);
	close_rig(&g);
}

static void old_and_early_timers_send_nothing(void **state)
{
	(void)state;
	static struct rig g;
	const struct path deaf = {0, {0}};
	open_rig(&g, 8);
	add_target(&g, HOST, 9, 1);
	begin(&g);
	turn(&g, &deaf, 0);
	const struct agent_action set = g.timer;
	struct agent_event ev = {.kind = AGENT_TIMER, .token = set.token - 1};
	g.now = set.at_ns;
	step(&g, &ev);
	assert_int_equal(g.out.n, 0);
	ev.token = set.token;
	g.now = set.at_ns - 1;
	step(&g, &ev);
	assert_int_equal(g.n_sent, 0);
	assert_true(g.timer.at_ns == set.at_ns && g.timer.token != set.token);
	turn(&g, &deaf, 0);
	assert_int_equal(g.n_sent, 1);
	/* A second AGENT_START does nothing. */
	step(&g, &(struct agent_event){.kind = AGENT_START});
	assert_int_equal(g.out.n, 0);
	close_rig(&g);
}

static void sleep_brings_no_probes_closer_together(void **state)
{
	(void)state;
	static struct rig g;
	const struct path p = {3, {1, 0.5, 1}};
	for (uint32_t i = 0; i < 5; i++) {
		open_rig(&g, 20 + i);
		add_target(&g, HOST, 9, 10);
		g.params.rate = 3 + 50 * i;
		begin(&g);
		while (turn(&g, &p,
		    sim_rng_below(&g.own, 4)
			? 0
			: sim_rng_below(&g.own, 900) * SIM_MS))
			;
		assert_int_equal(g.n_reports, 10);
		assert_rate_kept(&g);
		close_rig(&g);
	}
}

/* --- limits ----------------------------------------------------------------*/
static void what_does_not_fit_is_refused(void **state)
{
	(void)state;
	static struct rig g;
	struct sim_err e;
	open_rig(&g, 9);
	add_target(&g, HOST, 9, 40);
	add_target(&g, HOST, 10, 24);
	assert_ok(start(&g, test_err()));
	add_target(&g, HOST, 11, 1);
	assert_int_equal(start(&g, &e), SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "host 3"));
	g.params.n_targets = 1;
	g.target[0].first_port = 65535 - 39;
	assert_ok(start(&g, test_err()));
	g.target[0].first_port++;
	assert_int_equal(start(&g, &e), SIM_ERANGE);
	assert_non_null(strstr(e.msg, "40 source ports from 65497"));
	g.params.n_targets = 0;
	g.params.rate = 254;
	assert_ok(start(&g, test_err()));
	g.params.rate = 255;
	assert_int_equal(start(&g, &e), SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "255 probes a second"));
	close_rig(&g);
}

static void an_event_of_another_agent_is_an_error(void **state)
{
	(void)state;
	static struct rig g;
	const struct agent_event ev = {.kind = AGENT_FETCH_DONE};
	open_rig(&g, 10);
	assert_ok(start(&g, test_err()));
	assert_int_equal(algo_hop_trace_agent.step(g.state, 0, &ev, &g.rng,
			     &g.out, NULL),
	    SIM_EUNSUPPORTED);
	close_rig(&g);
}

/* --- fuzzing ---------------------------------------------------------------*/
/* An answer to some probe, lately sent or not, with a mistake or not. */
static struct agent_event hostile_answer(struct rig *g)
{
	struct sim_rng *r = &g->own;
	struct agent_event ev = {.kind = AGENT_ICMP,
	    .ip_id = (uint16_t)sim_rng_u32(r),
	    .from_ip = sim_rng_below(r, 3) ? 7 : sim_rng_u32(r)};
	if (g->n_sent > 0) {
		const uint32_t reach =
		    g->n_sent < 400 ? (uint32_t)g->n_sent : 400;
		const struct agent_action *a =
		    &g->sent[g->n_sent - 1 - sim_rng_below(r, reach)];
		ev.tuple = a->tuple;
		if (sim_rng_below(r, 8))
			ev.ip_id = a->ip_id;
	}
	if (sim_rng_below(r, 4) == 0)
		ev.tuple.src_port ^= (uint16_t)(1u << sim_rng_below(r, 16));
	if (sim_rng_below(r, 8) == 0)
		ev.tuple.src_ip = sim_rng_u32(r);
	return ev;
}

static void assert_sound(const struct rig *g)
{
	const struct algo_hop_trace_params *p = &g->params;
	const uint32_t most =
	    p->n_probes > p->n_soundings ? p->n_probes : p->n_soundings;
	struct algo_hop_trace_counters n;
	uint64_t sent = 0, back = 0;
	algo_hop_trace_count(g->state, &n);
	for (size_t i = 0; i < g->n_reports; i++) {
		const struct agent_report *r = &g->report[i];
		assert_true(r->n_hops <= p->max_hops);
		for (unsigned k = 0; k < TOPO_MAX_HOPS; k++) {
			assert_true(r->n_back[k] <= r->n_sent[k]);
			assert_true(
			    r->n_sent[k] <= (k < p->max_hops ? most : 0));
			assert_true(r->n_back[k] == 0 || k < r->n_hops);
			sent += r->n_sent[k];
			back += r->n_back[k];
		}
		for (size_t j = 0; j < i; j++)
			assert_true(topo_tuple_digest(&r->tuple) !=
			    topo_tuple_digest(&g->report[j].tuple));
	}
	assert_int_equal(sent, n.n_sent);
	assert_int_equal(sent, g->n_sent);
	assert_int_equal(back, n.n_answered);
	assert_true(n.n_answered <= n.n_sent);
}

static void no_events_break_it(void **state)
{
	(void)state;
	static struct rig g;
	for (uint32_t i = 0; i < 60; i++) {
		const struct path p = {i % 9, {1, 1, 0.2, 1, 0, 0.5, 1, 1}};
		uint64_t n_hostile = 0;
		open_rig(&g, 100 + i);
		g.params.max_hops = 1 + i % TOPO_MAX_HOPS;
		g.params.n_probes = 1 + i % 40;
		g.params.n_soundings = i % 6;
		g.params.rate = 5 + 4 * i;
		add_target(&g, HOST, 9, (uint16_t)(1 + i % 13));
		add_target(&g, HOST, 10, (uint16_t)(i % 5));
		begin(&g);
		while (g.armed) {
			const uint32_t what = sim_rng_below(&g.own, 8);
			if (what < 3) {
				turn(&g, &p,
				    what ? 0
					 : sim_rng_below(&g.own, 99) * SIM_MS);
				continue;
			}
			struct agent_event ev = hostile_answer(&g);
			if (what == 3)
				ev = (struct agent_event){.kind = AGENT_TIMER,
				    .token = g.timer.token - 3 +
					sim_rng_below(&g.own, 7)};
			if (sim_rng_below(&g.own, 50) == 0)
				ev.kind = AGENT_START;
			step(&g, &ev);
			n_hostile++;
		}
		if (g.n_reports != 1 + i % 13 + i % 5)
			fail_msg("seed %llu, run %u: %zu reports",
			    (unsigned long long)test_seed(), i, g.n_reports);
		assert_true(n_hostile > 0);
		assert_sound(&g);
		assert_rate_kept(&g);
		close_rig(&g);
	}
}

static void the_same_events_give_the_same_actions(void **state)
{
	(void)state;
	static struct rig g[2];
	const struct path p = {5, {1, 0.5, 1, 0.3, 1}};
	for (int i = 0; i < 2; i++) {
		open_rig(&g[i], 11);
		add_target(&g[i], HOST, 9, 7);
		begin(&g[i]);
		run(&g[i], &p);
	}
	assert_int_equal(g[0].n_sent, g[1].n_sent);
	assert_memory_equal(g[0].sent_ns, g[1].sent_ns, sizeof(g[0].sent_ns));
	for (size_t i = 0; i < g[0].n_sent; i++) {
		assert_int_equal(g[0].sent[i].ttl, g[1].sent[i].ttl);
		assert_int_equal(g[0].sent[i].tuple.src_port,
		    g[1].sent[i].tuple.src_port);
	}
	for (int i = 0; i < 2; i++)
		close_rig(&g[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_waits_for_its_time_and_others_do_nothing),
	    cmocka_unit_test(a_report_has_the_hops_and_counts_of_each_tuple),
	    cmocka_unit_test(rare_or_missing_answers_do_not_end_a_path),
	    cmocka_unit_test(late_answers_open_another_round),
	    cmocka_unit_test(
		each_round_gives_every_ttl_one_turn_in_random_order),
	    cmocka_unit_test(only_the_first_answer_to_a_probe_in_time_counts),
	    cmocka_unit_test(a_hop_of_two_addresses_is_not_known),
	    cmocka_unit_test(old_and_early_timers_send_nothing),
	    cmocka_unit_test(sleep_brings_no_probes_closer_together),
	    cmocka_unit_test(what_does_not_fit_is_refused),
	    cmocka_unit_test(an_event_of_another_agent_is_an_error),
	    cmocka_unit_test(no_events_break_it),
	    cmocka_unit_test(the_same_events_give_the_same_actions),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/hop_trace", tests,
	    NULL, NULL);
}
