/* tests/experiments/pingmesh/collector_test.c -- uploads, each taken once.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/collector.h"

#include "tests/rigs/pingmesh.h"
#include "topo/addr.h"
#include "topo/region.h"

enum { N_KEPT = 3, SPAN = 64 };

struct rig {
	struct pingmesh m;
	struct xp_collector *c;
	struct algo_pingmesh_batch b;
};

static void open_collector(struct rig *g)
{
	assert_ok(xp_collector_open(&g->c, &g->m.s.topo, &g->m.p, N_KEPT,
	    test_err()));
}

static void set_up(struct rig *g, const char *text)
{
	pingmesh_open(&g->m, &pingmesh_tiny, text);
	open_collector(g);
}

static void tear_down(struct rig *g)
{
	xp_collector_close(g->c);
	pingmesh_close(&g->m);
}

/* A batch of host SRC with one record, sent at S seconds. */
static struct algo_pingmesh_record *one(struct rig *g, topo_host src,
    topo_host dst, uint64_t number, double s)
{
	memset(&g->b, 0, sizeof(g->b));
	g->b.src_ip = topo_addr_of_host(src);
	g->b.number = number;
	g->b.n = 1;
	g->b.record[0] = (struct algo_pingmesh_record){
	    .sent_ns = (sim_ns)(s * 1e9),
	    .rtt_ns = 250000,
	    .src_ip = g->b.src_ip,
	    .dst_ip = topo_addr_of_host(dst),
	    .src_port = 40000,
	    .dst_port = 8765,
	    .level = ALGO_PINGLIST_DC,
	    .outcome = AGENT_CONNECTED,
	};
	return &g->b.record[0];
}

static size_t bytes(const struct rig *g)
{
	return offsetof(struct algo_pingmesh_batch, record) +
	    g->b.n * sizeof(g->b.record[0]);
}

static void take(struct rig *g)
{
	assert_ok(xp_collector_take(g->c, &g->b, bytes(g), test_err()));
}

static const struct obs_probes *table(struct rig *g, uint32_t dc,
    uint32_t first, uint32_t n)
{
	const struct obs_probes *t;
	assert_ok(xp_collector_table(g->c, dc, first, n, &t, test_err()));
	return t;
}

static uint64_t n_rows(struct rig *g)
{
	return xp_collector_counts(g->c).n_rows;
}

/* --- once each ----------------------------------------------------------- */

/* Batches of one agent come in disorder, each several times. */
static void each_batch_is_taken_once(void **state)
{
	enum { N = 400, TIMES = 5 };
	struct rig g;
	struct sim_rng r;
	(void)state;
	set_up(&g, "window: 600");
	test_rng(&r, 1);
	uint8_t came[N + 1] = {0};
	uint64_t n = 0;
	for (uint64_t k = 0; k < TIMES * N; k++) {
		const uint64_t upto = 1 + k / TIMES;
		const uint64_t back = sim_rng_below(&r, SPAN);
		const uint64_t number = upto > back ? upto - back : 1;
		one(&g, 3, 1, number, 1);
		take(&g);
		n += !came[number];
		came[number] = 1;
		assert_int_equal(n_rows(&g), n);
	}
	assert_true(n > N / 2);
	const struct xp_collect_counts c = xp_collector_counts(g.c);
	assert_int_equal(c.n_batches + c.n_repeated, TIMES * N);
	tear_down(&g);
}

static void a_batch_may_be_as_late_as_it_likes(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "window: 600");
	for (uint64_t i = 0; i < 4; i++) {
		one(&g, 3, 1, i % 2 ? 1 : 100000, 1);
		take(&g);
	}
	assert_int_equal(n_rows(&g), 2);
	tear_down(&g);
}

static void each_life_counts_from_one_again(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "window: 600");
	const struct {
		topo_host src;
		sim_ns born;
		uint64_t number, n_rows;
	} steps[] = {{3, 0, 7, 1}, {3, SIM_SEC, 7, 2}, {3, SIM_SEC, 1, 3},
	    {3, 0, 7, 3}, {3, 0, 8, 4}, {2, 0, 8, 5}, {3, SIM_SEC, 1, 5}};
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		one(&g, steps[i].src, 1, steps[i].number, 2);
		g.b.born_ns = steps[i].born;
		take(&g);
		assert_int_equal(n_rows(&g), steps[i].n_rows);
	}
	tear_down(&g);
}

static void what_agents_lost_is_summed_over_lives(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "window: 600");
	const struct {
		uint64_t born, number, n_lost, want;
	} steps[] = {{0, 1, 0, 0}, {0, 3, 10, 10}, {0, 2, 4, 10},
	    {0, 4, 12, 12}, {5, 1, 3, 15}, {0, 5, 99, 102}};
	for (size_t i = 0; i < 6; i++) {
		one(&g, 3, 1, steps[i].number, 1);
		g.b.born_ns = steps[i].born;
		g.b.n_lost = steps[i].n_lost;
		take(&g);
		assert_int_equal(xp_collector_counts(g.c).n_lost,
		    steps[i].want);
	}
	tear_down(&g);
}

static void what_is_no_batch_is_refused(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "window: 600");
	one(&g, 3, 1, 1, 1);
	for (size_t n = 0; n < bytes(&g); n++)
		assert_ok(xp_collector_take(g.c, &g.b, n, test_err()));
	assert_ok(xp_collector_take(g.c, &g.b, bytes(&g) + 1, test_err()));
	g.b.src_ip = topo_addr_of_host(PINGMESH_HOSTS);
	take(&g);
	one(&g, 3, 1, 0, 1);
	take(&g);
	g.b.number = 1;
	g.b.n = UINT32_MAX;
	assert_ok(xp_collector_take(g.c, &g.b,
	    offsetof(struct algo_pingmesh_batch, record), test_err()));
	assert_int_equal(xp_collector_counts(g.c).n_batches, 0);
	assert_int_equal(n_rows(&g), 0);
	one(&g, 3, 1, 1, 1);
	take(&g);
	assert_int_equal(n_rows(&g), 1);
	tear_down(&g);
}

/* --- rows ---------------------------------------------------------------- */

static void a_row_says_what_the_record_says(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "window: 600, connect: {timers: linux}");
	struct algo_pingmesh_record *r = one(&g, 3, 1, 1, 599);
	r->payload = 1000;
	r->class = 1;
	take(&g);
	const struct obs_probe p = obs_probes_at(table(&g, 0, 0, 1), 0);
	assert_int_equal(p.sent_ns, 599 * SIM_SEC);
	assert_int_equal(p.rtt_ns, 250000);
	assert_int_equal(p.src_host, 3);
	assert_int_equal(p.dst_host, 1);
	assert_int_equal(p.src_port, 40000);
	assert_int_equal(p.dst_port, 8765);
	assert_int_equal(p.outcome, OBS_CONNECTED);
	assert_int_equal(p.level, OBS_LEVEL_DC);
	assert_int_equal(p.class, 1);
	assert_int_equal(p.payload_bytes, 1000);
	/* 1, 2, 4, 8 s; the next SYN, at 31 s, is after the time-out. */
	const sim_ns *wait = table(&g, 0, 0, 1)->syn_wait_ns;
	assert_int_equal(wait[0], SIM_SEC);
	assert_int_equal(wait[3], 8 * SIM_SEC);
	assert_int_equal(wait[4], 0);
	tear_down(&g);
}

static void outcomes_and_levels_are_translated(void **state)
{
	static const struct {
		uint8_t from, to;
	} outcome[] = {{AGENT_CONNECTED, OBS_CONNECTED},
	    {AGENT_REFUSED, OBS_REFUSED}, {AGENT_TIMEOUT, OBS_TIMED_OUT}};
	struct rig g;
	(void)state;
	set_up(&g, "window: 600");
	for (uint32_t i = 0; i < 3; i++) {
		one(&g, 3, 2, i + 1, 1)->outcome = outcome[i].from;
		g.b.record[0].rtt_ns *= i == 0;
		g.b.record[0].level = ALGO_PINGLIST_TOR;
		take(&g);
		const struct obs_probes *t = table(&g, 0, 0, 1);
		assert_int_equal(t->outcome[i], outcome[i].to);
		assert_int_equal(t->level[i], OBS_LEVEL_TOR);
		assert_ok(obs_probes_check(t, 0, PINGMESH_HOSTS, test_err()));
	}
	one(&g, 3, 2, 4, 1)->outcome = AGENT_FAILED;
	take(&g);
	one(&g, 3, 2, 5, 1)->dst_ip = 1;
	take(&g);
	one(&g, 3, 2, 6, 1)->level = ALGO_PINGLIST_N_LEVELS;
	take(&g);
	one(&g, 3, 3, 7, 1); /* to itself */
	take(&g);
	one(&g, 3, 2, 8, 1)->src_ip++; /* not of its batch */
	take(&g);
	one(&g, 3, 2, 9, 1)->level = ALGO_PINGLIST_VIP; /* no service */
	take(&g);
	one(&g, 3, 2, 10, 1)->rtt_ns = 0;
	take(&g);
	one(&g, 3, 2, 11, 1)->outcome = AGENT_TIMEOUT;
	take(&g);
	const struct xp_collect_counts c = xp_collector_counts(g.c);
	assert_int_equal(c.n_rows, 3);
	assert_int_equal(c.n_failed, 1);
	assert_int_equal(c.n_foreign, 5);
	assert_int_equal(c.n_odd, 2);
	tear_down(&g);
}

static void a_row_is_of_the_window_it_was_sent_in(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "duration: 3000, window: 600");
	const double sent[] = {0, 599.999, 600, 1799};
	for (uint64_t i = 0; i < 4; i++) {
		one(&g, 3, 1, i + 1, sent[i]);
		take(&g);
	}
	assert_int_equal(table(&g, 0, 0, 1)->n, 2);
	assert_int_equal(table(&g, 0, 1, 1)->n, 1);
	assert_int_equal(table(&g, 0, 2, 1)->n, 1);
	const struct obs_probes *all = table(&g, 0, 0, 3);
	assert_int_equal(all->n, 4);
	assert_int_equal(all->sent_ns[2], 600 * SIM_SEC);
	assert_int_equal(all->syn_wait_ns[0], 3 * SIM_SEC);
	xp_collector_drop(g.c, 2);
	one(&g, 3, 1, 5, 1199); /* too late */
	take(&g);
	one(&g, 3, 1, 6, 2400); /* where window 1 was */
	take(&g);
	one(&g, 3, 1, 7, 3000); /* beyond the last */
	take(&g);
	assert_int_equal(table(&g, 0, 4, 1)->n, 1);
	assert_int_equal(table(&g, 0, 2, 3)->n, 2);
	assert_int_equal(xp_collector_counts(g.c).n_late, 2);
	xp_collector_clear(g.c);
	assert_int_equal(table(&g, 0, 0, 3)->n, 0);
	assert_int_equal(xp_collector_counts(g.c).n_batches, 0);
	one(&g, 3, 1, 1, 0);
	take(&g);
	assert_int_equal(n_rows(&g), 1);
	tear_down(&g);
}

static void vips_have_a_table_of_their_own(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "window: 600");
	for (uint32_t i = 0; i < 2; i++) {
		struct algo_pingmesh_record *r = one(&g, 3, 1, i + 1, 1);
		r->level = ALGO_PINGLIST_VIP;
		r->dst_ip = topo_addr_of_vip(9 - i);
		take(&g);
	}
	const struct obs_probes *t = table(&g, XP_COLLECT_VIPS, 0, 1);
	assert_int_equal(t->n, 2);
	assert_int_equal(t->src_host[0], 3);
	assert_int_equal(t->dst_host[0], topo_addr_of_vip(9));
	assert_int_equal(t->dst_host[1], topo_addr_of_vip(8));
	assert_int_equal(t->level[1], OBS_LEVEL_INTER_DC);
	assert_int_equal(table(&g, 0, 0, 1)->n, 0);
	assert_int_equal(xp_collector_counts(g.c).n_vip_rows, 2);
	tear_down(&g);
}

static void each_data_centre_has_its_own_table(void **state)
{
	struct rig g;
	(void)state;
	pingmesh_open_region(&g.m, &pingmesh_tiny, "window: 600");
	open_collector(&g);
	one(&g, PINGMESH_HOSTS + 3, PINGMESH_HOSTS + 1, 1, 1);
	take(&g);
	one(&g, PINGMESH_HOSTS + 3, 3, 2, 1)->level = ALGO_PINGLIST_INTER_DC;
	take(&g);
	one(&g, PINGMESH_HOSTS + 3, 3, 3, 1); /* no such peer in its graph */
	take(&g);
	const struct obs_probes *t = table(&g, 1, 0, 1);
	assert_int_equal(t->n, 2);
	assert_int_equal(t->src_host[0], PINGMESH_HOSTS + 3);
	assert_int_equal(t->dst_host[0], PINGMESH_HOSTS + 1);
	assert_int_equal(t->src_host[1], PINGMESH_HOSTS + 3);
	assert_int_equal(t->dst_host[1], 3);
	assert_int_equal(t->level[1], OBS_LEVEL_INTER_DC);
	assert_ok(
	    obs_probes_check(t, PINGMESH_HOSTS, PINGMESH_HOSTS, test_err()));
	assert_int_equal(table(&g, 0, 0, 1)->n, 0);
	assert_int_equal(xp_collector_counts(g.c).n_foreign, 1);
	tear_down(&g);
}

/* --- counters ------------------------------------------------------------ */

static void counters_are_given_in_order(void **state)
{
	struct rig g;
	struct algo_pingmesh_window w = {.number = 1, .n_probes = 3};
	const struct obs_perf *t;
	const struct {
		topo_host host;
		uint64_t number;
		double end_s;
	} came[] = {{3, 2, 600}, {2, 2, 600}, {3, 1, 300},
	    {PINGMESH_HOSTS, 1, 300}};
	(void)state;
	set_up(&g, "window: 600");
	for (size_t i = 0; i < sizeof(came) / sizeof(came[0]); i++) {
		w.src_ip = topo_addr_of_host(came[i].host);
		w.number = came[i].number;
		w.end_ns = (sim_ns)(came[i].end_s * 1e9);
		assert_ok(xp_collector_count(g.c, &w, test_err()));
	}
	w = (struct algo_pingmesh_window){.src_ip = topo_addr_of_host(5),
	    .number = 1,
	    .n_connected = 1}; /* in no time */
	assert_ok(xp_collector_count(g.c, &w, test_err()));
	assert_ok(xp_collector_perf(g.c, SIM_NEVER, &t, test_err()));
	assert_int_equal(t->n, 3);
	assert_true(t->host[0] == 3 && t->end_ns[0] == 300 * SIM_SEC);
	assert_true(t->host[1] == 2 && t->end_ns[1] == 600 * SIM_SEC);
	assert_true(t->host[2] == 3 && t->n_probes[2] == 3);
	const struct xp_collect_counts c = xp_collector_counts(g.c);
	assert_true(c.n_foreign == 1 && c.n_odd == 1);
	xp_collector_clear(g.c);
	assert_ok(xp_collector_perf(g.c, SIM_NEVER, &t, test_err()));
	assert_int_equal(t->n, 0);
	tear_down(&g);
}

/* --- times --------------------------------------------------------------- */

static void times_are_of_the_group_that_is_asked_for(void **state)
{
	/* Host 0 to 1: one ToR; to 2: one pod; to 4: the other. */
	static const struct {
		const char *text;
		double us[3];
		size_t n;
	} cases[] = {
	    {"along: quantile, group: all", {11, 12, 14}, 3},
	    {"along: quantile, group: intra_tor", {11}, 1},
	    {"along: quantile, group: intra_pod", {12}, 1},
	    {"along: quantile, group: inter_pod", {14}, 1},
	    {"along: quantile, group: inter_dc", {0}, 0},
	    {"along: quantile, time: echo, group: intra_pod", {22}, 1},
	    /* Those of the other kind are none: of 4 every second is a GET. */
	    {"along: quantile, time: echo, group: all", {22}, 1},
	    {"along: quantile, time: http, group: all", {21}, 1},
	    {"along: window", {0}, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig g;
		size_t n;
		set_up(&g, cases[i].text);
		for (uint32_t k = 1; k <= 4; k++) {
			struct algo_pingmesh_record *r = one(&g, 0, k, k, 1);
			r->rtt_ns = (10 + k) * SIM_US;
			r->echo_ns = (20 + k) * SIM_US;
			if (k == 1 || k == 3) {
				r->ping = AGENT_PING_HTTP;
				r->answer = AGENT_ANSWER_OK;
			}
			if (k == 4)
				r->echo_ns = 0;
			if (k == 3) {
				r->answer = AGENT_ANSWER_NOT_ASKED;
				r->echo_ns = 0;
				r->outcome = AGENT_TIMEOUT;
				r->rtt_ns = 0;
			}
			take(&g);
		}
		const double *us = xp_collector_times(g.c, &n);
		assert_int_equal(n, cases[i].n);
		for (size_t k = 0; k < n; k++)
			assert_true(us[k] == cases[i].us[k]);
		tear_down(&g);
	}
}

/* --- memory -------------------------------------------------------------- */

/* More rows than a piece has, in windows of which one has none; the table of all
 * shows what and in which order, and a span of times what of it was asked for. */
static void pieces_are_the_rows_of_the_table(void **state)
{
	enum { N = XP_COLLECT_PIECE + 5000 };
	const struct obs_probe_span only = {1000, 3000};
	struct obs_probes all = {0};
	const struct obs_probes *piece;
	struct rig g;
	size_t at = 0, n = 0, n_only = 0, n_pieces = 0;
	(void)state;
	set_up(&g, "duration: 150, window: 50");
	for (uint32_t i = 0; i < N; i++) {
		one(&g, 3, 1, i + 1, i % 1000 < 600 ? 1 + i * 1e-4 : 101)
		    ->rtt_ns = 1 + i % 5000;
		take(&g);
	}
	const struct obs_probes *t = table(&g, 0, 0, 3);
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_probe p = obs_probes_at(t, i);
		assert_ok(obs_probes_add(&all, &p, test_err()));
		n_only += p.rtt_ns >= only.from && p.rtt_ns < only.to;
	}
	const struct obs_probe_source s = xp_collector_pieces(g.c, 0, 0, 3);
	assert_true(s.n == N && all.n == N && !s.whole);
	for (; obs_probes_next(&s, &at, NULL, &piece, test_err()) > 0;
	     n_pieces++) {
		assert_true(piece->n <= XP_COLLECT_PIECE);
		assert_int_equal(piece->syn_wait_ns[0], 3 * SIM_SEC);
		for (size_t i = 0; i < piece->n; i++, n++)
			assert_true(piece->sent_ns[i] == all.sent_ns[n] &&
			    piece->rtt_ns[i] == all.rtt_ns[n]);
	}
	assert_true(n == N && n_pieces == 2);
	for (at = 0; obs_probes_next(&s, &at, &only, &piece, test_err()) > 0;)
		n_only -= piece->n;
	assert_int_equal(n_only, 0);
	obs_probes_free(&all);
	tear_down(&g);
}

static int fill(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	struct xp_collector *c = NULL;
	struct algo_pingmesh_window w = {.src_ip = topo_addr_of_host(3)};
	const struct obs_perf *counters;
	const struct obs_probes *t;
	int rc = xp_collector_open(&c, &g->m.s.topo, &g->m.p, N_KEPT, e);
	for (uint64_t i = 0; rc == 0 && i < 100; i++) {
		one(g, 3, 1, i + 1, (double)i);
		rc = xp_collector_take(c, &g->b, bytes(g), e);
	}
	for (w.number = 1; rc == 0 && w.number < 40; w.number++)
		rc = xp_collector_count(c, &w, e);
	if (rc == 0)
		rc = xp_collector_perf(c, SIM_NEVER, &counters, e);
	if (rc == 0)
		rc = xp_collector_table(c, 0, 0, 2, &t, e);
	xp_collector_close(c);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "along: quantile, duration: 100, window: 50");
	test_each_alloc_fails(fill, &g);
	tear_down(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_batch_is_taken_once),
	    cmocka_unit_test(a_batch_may_be_as_late_as_it_likes),
	    cmocka_unit_test(each_life_counts_from_one_again),
	    cmocka_unit_test(what_agents_lost_is_summed_over_lives),
	    cmocka_unit_test(what_is_no_batch_is_refused),
	    cmocka_unit_test(a_row_says_what_the_record_says),
	    cmocka_unit_test(outcomes_and_levels_are_translated),
	    cmocka_unit_test(a_row_is_of_the_window_it_was_sent_in),
	    cmocka_unit_test(vips_have_a_table_of_their_own),
	    cmocka_unit_test(each_data_centre_has_its_own_table),
	    cmocka_unit_test(counters_are_given_in_order),
	    cmocka_unit_test(times_are_of_the_group_that_is_asked_for),
	    cmocka_unit_test(pieces_are_the_rows_of_the_table),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/collector",
	    tests, NULL, NULL);
}
