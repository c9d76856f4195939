/* tests/experiments/pingmesh/world_test.c -- agents at work: who probes whom.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/world.h"

#include "tests/rigs/pingmesh.h"
#include "topo/addr.h"
#include "topo/region.h"

/* All of the duration is one window, which is kept. */
struct rig {
	struct pingmesh m;
	struct xp_net *net;
	struct xp_world *w;
};

static void open_world(struct rig *g)
{
	assert_ok(xp_net_open_sim(&g->net, &g->m.s.topo, &g->m.p, test_err()));
	assert_ok(
	    xp_world_open(&g->w, &g->m.s.topo, &g->m.p, g->net, 2, test_err()));
}

static void set_up(struct rig *g, const char *text)
{
	pingmesh_open(&g->m, &pingmesh_tiny, text);
	open_world(g);
}

static void tear_down(struct rig *g)
{
	xp_world_close(g->w);
	xp_net_close(g->net);
	pingmesh_close(&g->m);
}

static void begin(struct rig *g, uint32_t run)
{
	assert_ok(xp_world_begin(g->w, scenes_draw(&g->m.s, run), test_err()));
}

static void run_to(struct rig *g, double s)
{
	assert_ok(xp_world_run(g->w, (sim_ns)(s * 1e9), test_err()));
}

static const struct obs_probes *table(struct rig *g, uint32_t dc)
{
	const struct obs_probes *t;
	assert_ok(xp_collector_table(xp_world_collector(g->w), dc, 0, 1, &t,
	    test_err()));
	return t;
}

static struct fault_params *add_outage(struct rig *g, enum fault_kind kind,
    enum truth_outage_mode mode, double from_s, double to_s)
{
	struct fault_params *x = scenes_add_group(&g->m.s);
	x->kind = kind;
	x->count = 1;
	x->mode = mode;
	x->from_s = from_s;
	x->to_s = to_s;
	return x;
}

/* --- probes -------------------------------------------------------------- */

/* Whoever has a peer in the plan probes it once an interval, but for the time
 * until the list has come and the first probe is due; nobody else is probed. */
static void every_pair_is_probed_as_often_as_the_plan_says(void **state)
{
	enum { T = 1800, LATE = 100 };
	uint32_t n[PINGMESH_HOSTS][PINGMESH_HOSTS] = {0};
	struct rig g;
	(void)state;
	set_up(&g, "duration: 1800, window: 1800");
	begin(&g, 0);
	run_to(&g, T + LATE);
	const struct obs_probes *t = table(&g, 0);
	assert_ok(obs_probes_check(t, 0, PINGMESH_HOSTS, test_err()));
	for (size_t i = 0; i < t->n; i++)
		n[t->src_host[i]][t->dst_host[i]]++;
	for (uint32_t src = 0; src < PINGMESH_HOSTS; src++) {
		struct algo_pinglist_server s;
		assert_ok(algo_pinglist_server(&s, xp_world_plan(g.w), src,
		    test_err()));
		for (uint32_t k = 0; k < s.n_peers; k++) {
			const struct algo_pinglist_peer p =
			    algo_pinglist_at(&s, k);
			const uint32_t dst = p.address - topo_addr_of_host(0);
			const uint32_t interval =
			    xp_world_plan(g.w)->interval_s[p.level];
			assert_in_range(n[src][dst], (T - LATE) / interval,
			    T / interval + 1);
			n[src][dst] = 0;
		}
		for (uint32_t dst = 0; dst < PINGMESH_HOSTS; dst++)
			assert_int_equal(n[src][dst], 0);
	}
	tear_down(&g);
}

static void a_network_without_loss_connects_all_at_once(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g,
	    "duration: 3600, window: 3600, pinglist: {payload_probes: "
	    "true, ports: \"8765,8766\"}");
	begin(&g, 0);
	run_to(&g, 3700);
	const struct obs_probes *t = table(&g, 0);
	uint64_t n_payloads = 0, n_second = 0;
	for (size_t i = 0; i < t->n; i++) {
		assert_int_equal(t->outcome[i], OBS_CONNECTED);
		assert_in_range(t->rtt_ns[i], 10 * SIM_US, 3 * SIM_SEC - 1);
		n_payloads += t->payload_bytes[i] > 0;
		n_second += t->class[i] == 1;
	}
	assert_in_range(n_payloads, t->n * 45 / 100, t->n * 55 / 100);
	assert_in_range(n_second, t->n * 45 / 100, t->n * 55 / 100);
	tear_down(&g);
}

/* A ToR that drops everything: hosts under it get no answers from others, and
 * others none from them. */
static void a_dead_tor_answers_nobody(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "duration: 600, window: 600");
	scenes_add_fault(&g.m.s, topo_clos_link_host(0, TOPO_UP), 1);
	scenes_add_fault(&g.m.s, topo_clos_link_host(1, TOPO_UP), 1);
	begin(&g, 0);
	run_to(&g, 700);
	const struct obs_probes *t = table(&g, 0);
	for (size_t i = 0; i < t->n; i++)
		assert_int_equal(t->outcome[i],
		    t->src_host[i] < 2 || t->dst_host[i] < 2 ? OBS_TIMED_OUT
							     : OBS_CONNECTED);
	tear_down(&g);
}

static void probes_of_a_region_cross_it(void **state)
{
	struct rig g;
	(void)state;
	pingmesh_open_region(&g.m, &pingmesh_tiny,
	    "duration: 600, window: 600");
	open_world(&g);
	begin(&g, 0);
	run_to(&g, 700);
	const sim_ns there = g.m.s.topo.region->delay_ns[0][1];
	assert_true(there > SIM_MS);
	for (uint32_t dc = 0; dc < 2; dc++) {
		const struct obs_probes *t = table(&g, dc);
		size_t n = 0;
		assert_ok(obs_probes_check(t, dc * PINGMESH_HOSTS,
		    PINGMESH_HOSTS, test_err()));
		for (size_t i = 0; i < t->n; i++) {
			const int far = t->level[i] == OBS_LEVEL_INTER_DC;
			assert_int_equal(t->outcome[i], OBS_CONNECTED);
			assert_true(!far || t->rtt_ns[i] > 2 * there);
			n += (size_t)far;
		}
		/* 4 servers a podset are all: 8 times 8, each minute. */
		assert_in_range(n, 64 * 8, 64 * 10);
	}
	tear_down(&g);
}

static void vips_are_probed(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g,
	    "duration: 600, window: 600, pinglist: {levels: [vip], "
	    "vips: \"198.18.0.1\"}");
	begin(&g, 0);
	run_to(&g, 700);
	assert_int_equal(table(&g, 0)->n, 0);
	const struct obs_probes *t = table(&g, XP_COLLECT_VIPS);
	assert_in_range(t->n, 8 * 8, 8 * 10);
	for (size_t i = 0; i < t->n; i++)
		assert_int_equal(t->outcome[i], OBS_CONNECTED);
	tear_down(&g);
}

/* --- records ------------------------------------------------------------- */

/* Every probe is under way, held by its agent, lost and counted, or here. A
 * batch whose answer is under way is held and here, and one that was given up
 * may have come. */
static void assert_conserved(struct rig *g)
{
	const struct xp_pulse p = xp_world_pulse(g->w);
	const struct xp_collect_counts c =
	    xp_collector_counts(xp_world_collector(g->w));
	const struct algo_pingmesh_counters *n = &p.count;
	assert_int_equal(n->n_probes,
	    p.n_in_flight + p.n_held + n->n_uploaded + n->n_discarded +
		n->n_overrun);
	assert_in_range(c.n_records, n->n_uploaded,
	    n->n_uploaded + p.n_held + n->n_discarded);
	assert_int_equal(c.n_records,
	    c.n_rows + c.n_vip_rows + c.n_late + c.n_failed + c.n_foreign);
	assert_int_equal(c.n_failed + c.n_foreign, 0);
}

static void records_are_conserved(void **state)
{
	static const struct {
		enum truth_outage_mode mode;
		double delay_us;
	} troubles[] = {{TRUTH_DOWN, 0}, {TRUTH_SLOW, 9.9e6},
	    {TRUTH_SLOW, 40e6}};
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct rig g;
		set_up(&g,
		    "duration: 4000, window: 4000, agent: {batch: 64, "
		    "upload_tries: 3}");
		add_outage(&g, FAULT_COLLECTOR, troubles[i].mode, 500, 2000)
		    ->delay = scenes_fixed(troubles[i].delay_us);
		add_outage(&g, FAULT_CONTROLLER, TRUTH_DOWN, 2500, 3000);
		begin(&g, 1);
		for (double s = 0; s < 4000; s += 37.3) {
			run_to(&g, s);
			assert_conserved(&g);
		}
		const struct xp_pulse p = xp_world_pulse(g.w);
		const struct xp_collect_counts c =
		    xp_collector_counts(xp_world_collector(g.w));
		/* Agents told the collector of all records that they lost. */
		assert_int_equal(c.n_lost,
		    p.count.n_discarded + p.count.n_overrun);
		assert_true((c.n_lost > 0) ==
		    (troubles[i].mode == TRUTH_DOWN ||
			troubles[i].delay_us > 1e7));
		assert_true((c.n_repeated > 0) == (i == 2));
		tear_down(&g);
	}
}

static int by_port(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* To the same host a source port comes again after 28232 probes of that pair,
 * which is not within an hour. */
static void a_slow_collector_counts_no_probe_twice(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "duration: 3600, window: 3600");
	add_outage(&g, FAULT_COLLECTOR, TRUTH_SLOW, 0, 0)->delay =
	    scenes_fixed(12e6);
	begin(&g, 2);
	run_to(&g, 3800);
	const struct obs_probes *t = table(&g, 0);
	uint64_t *key = calloc(t->n, sizeof(*key));
	assert_non_null(key);
	for (size_t i = 0; i < t->n; i++)
		key[i] = (uint64_t)t->src_host[i] << 48 |
		    (uint64_t)t->dst_host[i] << 16 | t->src_port[i];
	qsort(key, t->n, sizeof(*key), by_port);
	for (size_t i = 1; i < t->n; i++)
		assert_true(key[i] != key[i - 1]);
	assert_true(t->n > 100);
	assert_true(
	    xp_collector_counts(xp_world_collector(g.w)).n_repeated > 100);
	free(key);
	tear_down(&g);
}

/* --- the controller ------------------------------------------------------ */

/* Contacts are at most 60 s apart, then 30 s after each failure, which takes
 * 10 s to be one: so 60 + 3 * 10 + 2 * 30. */
static void without_a_controller_probing_stops_and_comes_back(void **state)
{
	enum { DOWN = 1000, UP = 3000, CLOSED = 150, BACK = 60 };
	static const enum truth_outage_mode modes[] = {TRUTH_DOWN, TRUTH_EMPTY,
	    TRUTH_GARBAGE};
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct rig g;
		size_t n_before = 0, n_after = 0;
		set_up(&g,
		    "duration: 4000, window: 4000, agent: "
		    "{fetch_interval: 60}");
		add_outage(&g, FAULT_CONTROLLER, modes[i], DOWN, UP);
		begin(&g, 0);
		run_to(&g, DOWN - 1);
		assert_int_equal(xp_world_pulse(g.w).n_live, PINGMESH_HOSTS);
		run_to(&g, DOWN + CLOSED);
		assert_int_equal(xp_world_pulse(g.w).n_live, 0);
		run_to(&g, UP + BACK);
		assert_int_equal(xp_world_pulse(g.w).n_live, PINGMESH_HOSTS);
		run_to(&g, 4100);
		const struct obs_probes *t = table(&g, 0);
		for (size_t k = 0; k < t->n; k++) {
			const sim_ns at = t->sent_ns[k] / SIM_SEC;
			assert_true(at < DOWN + CLOSED || at >= UP);
			n_before += at > DOWN - 60 && at <= DOWN;
			n_after += at > UP + BACK + 40 && at <= UP + BACK + 100;
		}
		/* A minute: 6 of one peer, 2 each of three. */
		assert_in_range(n_before, 12 * 7, 12 * 9);
		assert_in_range(n_after, 12 * 7, 12 * 9);
		tear_down(&g);
	}
}

static void a_host_that_is_off_neither_probes_nor_answers(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "duration: 4000, window: 4000");
	struct fault_params *x =
	    add_outage(&g, FAULT_HOST_OFF, TRUTH_DOWN, 1000, 2000);
	begin(&g, 0);
	const topo_host off = g.m.s.scene.truth.outage[0].id;
	assert_int_equal(x->count, 1);
	run_to(&g, 1500);
	struct xp_pulse p = xp_world_pulse(g.w);
	assert_int_equal(p.n_on, PINGMESH_HOSTS - 1);
	assert_int_equal(p.n_live, PINGMESH_HOSTS - 1);
	run_to(&g, 4100);
	p = xp_world_pulse(g.w);
	assert_int_equal(p.n_live, PINGMESH_HOSTS);
	/* What the agent counted before its host went off is in the sum, as
	 * far as it had been looked at. */
	const struct obs_probes *t = table(&g, 0);
	uint64_t n_sent = 0;
	for (size_t i = 0; i < t->n; i++)
		n_sent += t->src_host[i] == off;
	const uint64_t n_second = xp_world_status(g.w, off).count.n_probes;
	assert_in_range(n_second, n_sent / 2, n_sent * 3 / 4);
	assert_true(p.count.n_probes >= t->n);
	for (size_t i = 0; i < t->n; i++) {
		const sim_ns at = t->sent_ns[i] / SIM_SEC;
		const int with = t->src_host[i] == off || t->dst_host[i] == off;
		if (at < 1000 - 25 || at >= 2000)
			assert_int_equal(t->outcome[i], OBS_CONNECTED);
		else if (with && at >= 1000 && at < 2000 - 25)
			assert_true(t->dst_host[i] == off &&
			    t->outcome[i] == OBS_TIMED_OUT);
	}
	begin(&g, 1);
	assert_int_equal(xp_world_pulse(g.w).count.n_probes, 0);
	tear_down(&g);
}

/* The sum of what each host's agents counted, lives that ended with it: a life is
 * over when an agent has counted less than when it was looked at before. */
struct lives {
	uint64_t last[PINGMESH_HOSTS], gone;
};

static uint64_t lives_sum(struct lives *l, const struct rig *g)
{
	uint64_t sum = 0;
	for (topo_host h = 0; h < PINGMESH_HOSTS; h++) {
		const uint64_t n = xp_world_status(g->w, h).count.n_probes;
		if (n < l->last[h])
			l->gone += l->last[h];
		l->last[h] = n;
		sum += n;
	}
	return sum + l->gone;
}

/* However often they are looked at: also at the moment at which a host comes on,
 * and but once while it came on twice; and where an outage lies within another. */
static void sums_of_agents_keep_what_earlier_lives_counted(void **state)
{
	/* When outages of one host begin and end: the second is over within the
	 * first, and its end is not when the host comes on. */
	static const double off[][2] = {{1000, 2000}, {1200, 1500},
	    {2600, 3100}};
	enum { N = sizeof(off) / sizeof(off[0]) };
	static const double step[] = {50, 100, 1600};
	(void)state;
	for (size_t k = 0; k < sizeof(step) / sizeof(step[0]); k++) {
		struct lives l = {.gone = 0};
		struct rig g;
		uint64_t before = 0;
		set_up(&g, "duration: 4000, window: 4000");
		for (int i = 0; i < N; i++)
			add_outage(&g, FAULT_HOST_OFF, TRUTH_DOWN, off[i][0],
			    off[i][1]);
		struct scene *scene = scenes_draw(&g.m.s, 0);
		struct truth *t = &scene->truth;
		assert_int_equal(t->n_outages, N);
		for (int i = 1; i < N; i++)
			t->outage[i].id = t->outage[0].id;
		assert_ok(xp_world_begin(g.w, scene, test_err()));
		for (double s = step[k]; s <= 4000; s += step[k]) {
			run_to(&g, s);
			const struct xp_pulse p = xp_world_pulse(g.w);
			assert_int_equal(p.count.n_probes, lives_sum(&l, &g));
			assert_true(p.count.n_probes > before);
			before = p.count.n_probes;
		}
		assert_int_not_equal(l.gone, 0);
		tear_down(&g);
	}
}

/* --- performance counters ------------------------------------------------ */

static const struct obs_perf *perf(struct rig *g)
{
	const struct obs_perf *t;
	assert_ok(xp_collector_perf(xp_world_collector(g->w), SIM_NEVER, &t,
	    test_err()));
	return t;
}

/* An agent begins a new window of counters at its first step after the end of
 * the old one, which is a little later. */
static void no_window_of_counters_is_lost(void **state)
{
	enum { N = 12 };
	uint64_t n = 0, last[PINGMESH_HOSTS] = {0};
	struct rig g;
	(void)state;
	set_up(&g, "duration: 3600, window: 3600");
	begin(&g, 0);
	run_to(&g, N * 300 + 2);
	const struct obs_perf *t = perf(&g);
	assert_ok(obs_perf_check(t, 0, PINGMESH_HOSTS, test_err()));
	assert_int_equal(t->n, N * PINGMESH_HOSTS);
	for (size_t i = 0; i < t->n; i++) {
		uint64_t *end = &last[t->host[i]];
		assert_true(t->end_ns[i] == *end + 300 * SIM_SEC);
		*end = t->end_ns[i];
		n += t->n_probes[i];
	}
	const struct xp_pulse p = xp_world_pulse(g.w);
	assert_in_range(n, p.count.n_probes * 99 / 100, p.count.n_probes);
	tear_down(&g);
}

/* --- repeatable ---------------------------------------------------------- */

static void assert_same(const struct obs_probes *a, const struct obs_probes *b)
{
	assert_int_equal(a->n, b->n);
#define X(type, name, units, doc)                                              \
	assert_memory_equal(a->name, b->name, a->n * sizeof(type));
	OBS_PROBE_COLUMNS(X)
#undef X
}

static void a_world_that_lived_before_lives_the_same_again(void **state)
{
	struct rig fresh, used;
	const char *text = "duration: 1000, window: 1000";
	(void)state;
	set_up(&fresh, text);
	set_up(&used, text);
	fresh.m.s.params.noise.rate = scenes_fixed(0.01);
	used.m.s.params.noise.rate = scenes_fixed(0.01);
	for (uint32_t run = 0; run < 3; run++) {
		begin(&used, 7 + run);
		run_to(&used, 300 * run + 5);
	}
	begin(&fresh, 3);
	run_to(&fresh, 1100);
	begin(&used, 3);
	for (double s = 0; s <= 1100; s += 1.7)
		run_to(&used, s);
	run_to(&used, 1100);
	assert_same(table(&fresh, 0), table(&used, 0));
	assert_int_equal(perf(&fresh)->n, perf(&used)->n);
	begin(&used, 4);
	run_to(&used, 1100);
	assert_true(table(&used, 0)->n != table(&fresh, 0)->n ||
	    memcmp(table(&used, 0)->sent_ns, table(&fresh, 0)->sent_ns,
		8 * table(&used, 0)->n) != 0);
	tear_down(&fresh);
	tear_down(&used);
}

static int live(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	struct xp_world *w = NULL;
	struct xp_net *net;
	int rc = xp_net_open_sim(&net, &g->m.s.topo, &g->m.p, e);
	if (rc == 0)
		rc = xp_world_open(&w, &g->m.s.topo, &g->m.p, net, 2, e);
	if (rc == 0)
		rc = xp_world_begin(w, &g->m.s.scene, e);
	if (rc == 0)
		rc = xp_world_run(w, 100 * SIM_SEC, e);
	xp_world_close(w);
	xp_net_close(net);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct rig g;
	(void)state;
	pingmesh_open(&g.m, &pingmesh_tiny, "window: 600");
	scenes_draw(&g.m.s, 0);
	test_each_alloc_fails(live, &g);
	pingmesh_close(&g.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_pair_is_probed_as_often_as_the_plan_says),
	    cmocka_unit_test(a_network_without_loss_connects_all_at_once),
	    cmocka_unit_test(a_dead_tor_answers_nobody),
	    cmocka_unit_test(probes_of_a_region_cross_it),
	    cmocka_unit_test(vips_are_probed),
	    cmocka_unit_test(records_are_conserved),
	    cmocka_unit_test(a_slow_collector_counts_no_probe_twice),
	    cmocka_unit_test(without_a_controller_probing_stops_and_comes_back),
	    cmocka_unit_test(a_host_that_is_off_neither_probes_nor_answers),
	    cmocka_unit_test(sums_of_agents_keep_what_earlier_lives_counted),
	    cmocka_unit_test(no_window_of_counters_is_lost),
	    cmocka_unit_test(a_world_that_lived_before_lives_the_same_again),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/world", tests,
	    NULL, NULL);
}
