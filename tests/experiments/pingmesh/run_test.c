/* tests/experiments/pingmesh/run_test.c -- runs read along everything.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/run.h"

#include "experiments/pingmesh/along.h"
#include "sim/stat.h"
#include "tests/rigs/pingmesh.h"

enum { MAX_ROWS = 64 };

struct rig {
	struct pingmesh m;
	struct xp_net *net;
	struct xp_pingmesh_plane *plane;
	size_t n;
	struct res_trial_metrics row[MAX_ROWS];
};

static void open_plane(struct rig *g)
{
	assert_ok(xp_net_open_sim(&g->net, &g->m.s.topo, &g->m.p, test_err()));
	assert_ok(xp_pingmesh_plane_open(&g->plane, &g->m.s.topo, &g->m.p,
	    g->net, test_err()));
	g->n = xp_pingmesh_plane_rows(g->plane);
	assert_in_range(g->n, 1, MAX_ROWS);
}

static void set_up(struct rig *g, const char *text)
{
	pingmesh_open(&g->m, &pingmesh_tiny, text);
	open_plane(g);
}

static void tear_down(struct rig *g)
{
	xp_pingmesh_plane_close(g->plane);
	xp_net_close(g->net);
	pingmesh_close(&g->m);
}

static void run_with(struct rig *g, uint32_t run,
    const struct xp_pingmesh_hooks *hooks)
{
	assert_ok(xp_pingmesh_plane_run(g->plane, scenes_draw(&g->m.s, run),
	    g->row, hooks, test_err()));
}

static void run(struct rig *g, uint32_t r)
{
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	run_with(g, r, &none);
}

/* --- rows ---------------------------------------------------------------- */

static double sum(const struct rig *g, size_t metric)
{
	double x = 0;
	for (size_t i = 0; i < g->n; i++)
		x += ((const double *)&g->row[i])[metric];
	return x;
}

static const char *const alongs[] = {"none", "window", "quantile", "group",
    "pair"};

static void open_along(struct rig *g, enum xp_along along, const char *more)
{
	char text[256];
	snprintf(text, sizeof(text), "duration: 3000, window: 600, along: %s%s",
	    alongs[along], more);
	set_up(g, text);
	g->m.s.params.noise.rate = scenes_fixed(0.002);
}

/* What a run is read along must not change what happens in it. */
static void rows_along_anything_are_of_one_run(void **state)
{
	struct rig whole, windows, groups, tails, pairs;
	(void)state;
	open_along(&whole, XP_ALONG_NONE, "");
	open_along(&windows, XP_ALONG_WINDOW, "");
	open_along(&groups, XP_ALONG_GROUP, "");
	open_along(&tails, XP_ALONG_QUANTILE, ", n_tails: 9");
	open_along(&pairs, XP_ALONG_PAIR, "");
	run(&whole, 3);
	run(&windows, 3);
	run(&groups, 3);
	run(&tails, 3);
	run(&pairs, 3);
	assert_int_equal(windows.n, 5);
	assert_int_equal(groups.n, ALGO_DROP_N_GROUPS);
	assert_int_equal(tails.n, 9);
	assert_int_equal(pairs.n, 4);
	const struct res_trial_metrics *w = &whole.row[0];
	static const size_t counts[] = {RES_TRIAL_n_probes,
	    RES_TRIAL_n_connected, RES_TRIAL_n_unconnected, RES_TRIAL_n_drop,
	    RES_TRIAL_n_unclear, RES_TRIAL_n_fetch_failed,
	    RES_TRIAL_n_lost_records};
	for (size_t i = 0; i < 7; i++) {
		const double want = ((const double *)w)[counts[i]];
		assert_true(sum(&windows, counts[i]) == want);
		assert_true(((double *)&pairs.row[0])[counts[i]] == want);
		if (i >= 5)
			continue;
		assert_true(((double *)&groups.row[0])[counts[i]] == want);
		assert_true(sum(&groups, counts[i]) == 2 * want);
		assert_true(((double *)&tails.row[8])[counts[i]] == want);
	}
	assert_true(w->n_probes > 2000 && w->n_drop > 0);
	assert_true(w->n_live_agents == PINGMESH_HOSTS);
	assert_true(groups.row[ALGO_DROP_INTER_DC].n_probes == 0);
	assert_true(isnan(groups.row[ALGO_DROP_INTER_DC].true_drop_rate));
	assert_true(groups.row[ALGO_DROP_INTRA_POD].true_drop_rate <
	    groups.row[ALGO_DROP_INTER_POD].true_drop_rate);
	/* Nearest rank, both. */
	assert_true(tails.row[0].rtt_us == w->p50_us);
	assert_true(
	    xp_pingmesh_tail(5) == 0.01 && tails.row[5].rtt_us == w->p99_us);
	for (size_t i = 1; i < tails.n; i++)
		assert_true(tails.row[i].rtt_us >= tails.row[i - 1].rtt_us);
	tear_down(&whole);
	tear_down(&windows);
	tear_down(&groups);
	tear_down(&tails);
	tear_down(&pairs);
}

/* With the default lag all rows of a window are there when its jobs run; with
 * hardly any, those of its last minute are missing. */
static void a_window_is_whole_when_its_jobs_run(void **state)
{
	struct rig lag, hasty;
	(void)state;
	set_up(&lag, "duration: 3000, window: 300, along: window");
	set_up(&hasty, "duration: 3000, window: 300, along: window, lag: 1");
	run(&lag, 0);
	run(&hasty, 0);
	/* 2 x 8 pairs of a ToR each 10 s, 8 x 3 others each 30 s. */
	for (size_t i = 1; i < lag.n; i++) {
		assert_in_range((uint64_t)lag.row[i].n_probes, 480 - 32,
		    480 + 32);
		assert_true(hasty.row[i].n_probes < lag.row[i].n_probes);
	}
	const struct xp_collect_counts c = xp_collector_counts(
	    xp_world_collector(xp_pingmesh_plane_world(lag.plane)));
	assert_int_equal(c.n_rows, (uint64_t)sum(&lag, RES_TRIAL_n_probes));
	tear_down(&lag);
	tear_down(&hasty);
}

/* A lag of several windows, and a history of several. */
static void long_lags_and_histories_see_the_same_probes(void **state)
{
	struct rig one, late, deep;
	(void)state;
	set_up(&one, "duration: 1200, window: 60, along: window");
	set_up(&late, "duration: 1200, window: 60, along: window, lag: 333");
	set_up(&deep,
	    "duration: 1200, window: 60, along: window, history: 180");
	run(&one, 0);
	run(&late, 0);
	run(&deep, 0);
	for (size_t i = 0; i < one.n; i++) {
		double n = 0;
		assert_true(one.row[i].n_probes == late.row[i].n_probes);
		assert_true(i == 0 || one.row[i].p99_us == late.row[i].p99_us);
		for (size_t k = i < 2 ? 0 : i - 2; k <= i; k++)
			n += one.row[k].n_probes;
		assert_true(deep.row[i].n_probes == n);
	}
	tear_down(&one);
	tear_down(&late);
	tear_down(&deep);
}

static void a_service_is_its_servers(void **state)
{
	struct rig all, some;
	(void)state;
	set_up(&all, "duration: 1200, window: 1200");
	set_up(&some, "duration: 1200, window: 1200, service: \"0-1,5\"");
	run(&all, 0);
	run(&some, 0);
	assert_near(some.row[0].n_probes / all.row[0].n_probes, 3.0 / 8, 0.02);
	assert_true(isnan(all.row[0].verdict));
	assert_true(some.row[0].verdict == ALGO_SLA_NOT_NETWORK ||
	    some.row[0].verdict == ALGO_SLA_UNKNOWN);
	tear_down(&all);
	tear_down(&some);
}

static void the_same_run_gives_the_same_bits(void **state)
{
	struct rig fresh, used;
	(void)state;
	set_up(&fresh, "duration: 1200, window: 300, along: window");
	set_up(&used, "duration: 1200, window: 300, along: window");
	fresh.m.s.params.noise.rate = scenes_fixed(0.01);
	used.m.s.params.noise.rate = scenes_fixed(0.01);
	run(&used, 1);
	run(&used, 2);
	run(&fresh, 2);
	assert_memory_equal(used.row, fresh.row,
	    fresh.n * sizeof(fresh.row[0]));
	run(&used, 1);
	assert_memory_not_equal(used.row, fresh.row,
	    fresh.n * sizeof(fresh.row[0]));
	tear_down(&fresh);
	tear_down(&used);
}

/* A controller that does not answer, and one whose answer is no list, count
 * alike as fetches that failed. */
static void lists_that_nobody_got_are_counted(void **state)
{
	static const enum truth_outage_mode modes[] = {TRUTH_DOWN, TRUTH_EMPTY,
	    TRUTH_GARBAGE};
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct rig g;
		set_up(&g,
		    "duration: 1800, window: 600, along: window, agent: "
		    "{fetch_interval: 60}");
		struct fault_params *f = scenes_add_group(&g.m.s);
		f->kind = FAULT_CONTROLLER;
		f->mode = modes[i];
		f->from_s = 600;
		f->to_s = 1100;
		run(&g, 0);
		assert_true(g.row[0].n_fetch_failed == 0);
		/* 8 agents ask in vain for 500 s, at least every 40 s. */
		assert_in_range((uint64_t)g.row[1].n_fetch_failed, 8 * 9,
		    8 * 20);
		assert_true(g.row[2].n_fetch_failed == 0);
		assert_true(g.row[1].n_live_agents == 8);
		tear_down(&g);
	}
}

/* --- what is found ------------------------------------------------------- */

/* The estimate's exact interval holds the true rate at its confidence: 0.99,
 * so of 60 runs 0.6 are expected outside, and more than 6 in one of 10^5. The
 * estimate is of q (1 - q^2) / (1 - q^3), below q by less than 1e-5 here. */
static void drop_rates_are_those_of_the_links(void **state)
{
	enum { RUNS = 60, MAX_OUTSIDE = 6 };
	struct rig g;
	unsigned n_outside = 0;
	double n_drop = 0, n_all = 0, truth = 0;
	(void)state;
	set_up(&g, "duration: 2400, window: 2400");
	g.m.s.params.noise.rate = scenes_fixed(0.001);
	for (uint32_t r = 0; r < RUNS; r++) {
		double lo, hi;
		run(&g, r);
		const struct res_trial_metrics *m = &g.row[0];
		assert_ok(sim_binomial_interval((uint64_t)m->n_drop,
		    (uint64_t)m->n_connected, 0.99, &lo, &hi, test_err()));
		n_outside += m->true_drop_rate < lo || m->true_drop_rate > hi;
		n_drop += m->n_drop;
		n_all += m->n_connected;
		truth += m->true_drop_rate / RUNS;
	}
	if (n_outside > MAX_OUTSIDE)
		fail_msg("seed %llu: the interval misses the truth in %u runs",
		    (unsigned long long)test_seed(), n_outside);
	/* The mean over all runs, within 5 standard errors. */
	assert_near(n_drop / n_all, truth, 5 * sqrt(truth / n_all));
	tear_down(&g);
}

/* 4 ToRs of 4 hosts: enough pairs for the job. */
static const struct topo_clos middle = {2, 4, 2, 2, 4, .n_cables = 0};

static void black_holes_are_found_and_reloaded(void **state)
{
	struct rig g;
	uint32_t n_found = 0;
	enum { RUNS = 8 };
	(void)state;
	pingmesh_open(&g.m, &middle,
	    "duration: 4800, window: 600, along: window, repair: {on: true, "
	    "reload: 60}");
	open_plane(&g);
	struct fault_params *f = pingmesh_add_holes(&g.m, 1, 0.4);
	f->from_s = 600;
	for (uint32_t r = 0; r < RUNS; r++) {
		run(&g, r);
		const struct truth *t = &g.m.s.scene.truth;
		const struct res_trial_metrics *m = g.row;
		assert_true(m[0].n_black_tors == 0 && m[0].n_candidates == 0);
		assert_true(m[1].n_black_tors == 1);
		assert_true(sum(&g, RES_TRIAL_n_candidates) ==
		    sum(&g, RES_TRIAL_n_candidates_true));
		if (m[1].n_reloaded != 1)
			continue;
		n_found++;
		/* The job of window 1 ran at 1200 s and the lag. The hole still
		 * stands in the truth, but it ended then, and nothing is lost
		 * to it any more. */
		const sim_ns now = 1200 * SIM_SEC + xp_pingmesh_lag(&g.m.p);
		assert_int_equal(t->n_holes, 1);
		assert_int_equal(t->hole[0].to_ns, now);
		assert_true(m[2].n_black_tors == 1 && m[3].n_black_tors == 0);
		assert_true(m[1].n_unconnected > 0);
		for (size_t i = 3; i < g.n; i++)
			assert_true(
			    m[i].n_unconnected == 0 && m[i].n_candidates == 0);
		/* While it was reloaded its links lost all. */
		size_t n_down = 0;
		for (size_t i = 0; i < t->n_faults; i++)
			n_down += t->fault[i].rate == 1 &&
			    t->fault[i].from_ns == now &&
			    t->fault[i].to_ns == now + 60 * SIM_SEC;
		assert_int_equal(n_down, 2 * (4 + 2));
	}
	if (n_found < RUNS / 2)
		fail_msg("found %u of %d", n_found, RUNS);
	tear_down(&g);
}

static void without_repair_holes_stay(void **state)
{
	struct rig g;
	(void)state;
	pingmesh_open(&g.m, &middle, "duration: 3000, window: 600");
	open_plane(&g);
	pingmesh_add_holes(&g.m, 1, 0.4);
	run(&g, 0);
	const struct res_trial_metrics *m = &g.row[0];
	assert_true(m->n_black_tors == 1);
	assert_true(m->n_candidates == 1 && m->n_candidates_true == 1);
	assert_true(isnan(m->n_reloaded) && isnan(m->n_escalated));
	assert_true(g.m.s.scene.truth.hole[0].to_ns == SIM_NEVER);
	tear_down(&g);
}

/* No more than max_reloads a day; the rest waits. */
static void reloads_keep_to_their_budget(void **state)
{
	struct rig g;
	(void)state;
	pingmesh_open(&g.m, &middle,
	    "duration: 2400, window: 600, along: window, blackhole: "
	    "{max_reloads: 1}, repair: {on: true}");
	open_plane(&g);
	pingmesh_add_holes(&g.m, 2, 0.4);
	for (uint32_t r = 0; r < 6; r++) {
		run(&g, r);
		double n_candidates = sum(&g, RES_TRIAL_n_candidates);
		assert_true(sum(&g, RES_TRIAL_n_reloaded) <= 1);
		assert_true(n_candidates ==
		    sum(&g, RES_TRIAL_n_reloaded) +
			sum(&g, RES_TRIAL_n_deferred) +
			sum(&g, RES_TRIAL_n_escalated));
	}
	tear_down(&g);
}

/* The job runs every 2 windows. Rows of the windows between have NaN where
 * numbers of black holes would stand. */
static void the_job_runs_as_often_as_it_is_told(void **state)
{
	struct rig g;
	(void)state;
	pingmesh_open(&g.m, &middle,
	    "duration: 3600, window: 600, along: window, repair: {on: true, "
	    "every: 1200}");
	open_plane(&g);
	run(&g, 0);
	for (size_t i = 0; i < g.n; i++) {
		assert_true(isnan(g.row[i].n_candidates) == (i % 2 == 0));
		assert_true(isnan(g.row[i].n_black_tors) == (i % 2 == 0));
		assert_true(isnan(g.row[i].n_reloaded) == (i % 2 == 0));
	}
	tear_down(&g);
}

/* Rows are of one data centre, but black holes are looked for in all. */
static void rows_of_a_region_are_of_one_data_centre(void **state)
{
	uint32_t node;
	struct rig g, groups;
	(void)state;
	for (uint32_t dc = 0; dc < 2; dc++) {
		char text[128];
		snprintf(text, sizeof(text),
		    "duration: 1200, window: 600, dc: %u, repair: {on: true}",
		    dc);
		pingmesh_open_region(&g.m, &middle, text);
		open_plane(&g);
		struct fault_params *f = pingmesh_add_holes(&g.m, 0, 0.4);
		node = g.m.s.topo.n_hosts +
		    topo_dc_at(&g.m.s.topo, 1).first_switch + 2;
		f->at = &node;
		f->n_at = 1;
		run(&g, 0);
		assert_true(g.row[0].n_black_tors == dc);
		assert_true(g.row[0].n_candidates == dc);
		assert_true(g.row[0].n_reloaded == dc);
		assert_true(g.m.s.scene.truth.hole[0].to_ns < SIM_NEVER);
		tear_down(&g);
	}
	pingmesh_open_region(&groups.m, &middle,
	    "duration: 1200, window: 600, dc: 1, along: group");
	open_plane(&groups);
	run(&groups, 0);
	pingmesh_open_region(&g.m, &middle,
	    "duration: 1200, window: 600, dc: 1");
	open_plane(&g);
	run(&g, 0);
	const struct res_trial_metrics *all = groups.row;
	assert_true(all[ALGO_DROP_INTER_DC].n_probes > 0);
	assert_true(g.row[0].n_probes + all[ALGO_DROP_INTER_DC].n_probes ==
	    all[ALGO_DROP_ALL].n_probes);
	tear_down(&g);
	tear_down(&groups);
}

static void a_pod_without_power_is_the_pattern_that_is_expected(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g,
	    "duration: 3000, window: 600, along: window, expect: pod_down, "
	    "expect_tier: none, heatmap: {yellow_us: 5e5, red_us: 1e6}");
	struct fault_params *f = scenes_add_group(&g.m.s);
	f->kind = FAULT_POD_OFF;
	f->count = 1;
	f->from_s = 900;
	f->to_s = 2430;
	run(&g, 0);
	/* Calm, a change, down, down, a change. A probe of the fourth window
	 * may be answered within 25 s after it. */
	static const double want[] = {0, NAN, ALGO_HEATMAP_POD_DOWN,
	    ALGO_HEATMAP_POD_DOWN, NAN};
	for (size_t i = 0; i < g.n; i++) {
		const struct res_trial_metrics *m = &g.row[i];
		if (isnan(want[i])) {
			assert_true(isnan(m->pattern_right));
			assert_true(isnan(m->n_pattern) && isnan(m->n_tier));
			continue;
		}
		assert_true(m->pattern == want[i]);
		assert_true(m->pattern_right == 1 && m->n_pattern == 1);
		assert_true(m->tier_right == 1 && m->n_tier == 1);
		assert_true(m->n_live_agents == (want[i] > 0 ? 4 : 8));
	}
	tear_down(&g);
}

/* --- hooks --------------------------------------------------------------- */

struct heard {
	struct rig *g;
	unsigned n_tables, n_windows, n_rows;
	sim_ns last;
};

static int hear_table(void *arg, const struct obs *o, const struct losses *lost,
    size_t row, sim_ns now, struct sim_err *e)
{
	(void)lost;
	struct heard *h = arg;
	(void)e;
	assert_int_equal(row, h->n_tables < 4 ? h->n_tables : SIZE_MAX);
	const uint32_t w = h->n_tables < 4 ? h->n_tables : 3;
	assert_int_equal(now,
	    (w + 1) * 300 * SIM_SEC + xp_pingmesh_lag(&h->g->m.p));
	assert_true(o->probes.n == (size_t)h->g->row[w].n_probes);
	assert_int_equal(o->flows.n, 0);
	h->n_tables++;
	return 0;
}

static int hear_window(void *arg, struct xp_collector *c, uint32_t window,
    struct sim_err *e)
{
	struct heard *h = arg;
	const struct obs_probes *t;
	int rc = xp_collector_table(c, 0, window, 1, &t, e);
	assert_int_equal(window, h->n_windows++);
	h->n_rows += (unsigned)t->n;
	return rc;
}

static int refuse(void *arg, const struct obs *o, const struct losses *lost,
    size_t row, sim_ns now, struct sim_err *e)
{
	(void)lost;
	(void)arg;
	(void)o;
	(void)row;
	(void)now;
	return sim_fail(e, SIM_EDEP, "no.");
}

static void hooks_are_told_of_every_window(void **state)
{
	struct rig g;
	struct heard h = {.g = &g};
	const struct xp_pingmesh_hooks hooks = {.arg = &h,
	    .diagnose = hear_table,
	    .window = hear_window};
	const struct xp_pingmesh_hooks bad = {.diagnose = refuse};
	struct sim_err e;
	(void)state;
	set_up(&g, "duration: 1200, window: 300, along: window, detect: true");
	run_with(&g, 0, &hooks);
	assert_int_equal(h.n_tables, 5);
	assert_int_equal(h.n_windows, 4);
	assert_int_equal(h.n_rows, (unsigned)sum(&g, RES_TRIAL_n_probes));
	assert_int_equal(xp_pingmesh_plane_run(g.plane, &g.m.s.scene, g.row,
			     &bad, &e),
	    SIM_EDEP);
	tear_down(&g);
}

static int hear_pieces(void *arg, const struct obs *o,
    const struct losses *lost, size_t row, sim_ns now, struct sim_err *e)
{
	unsigned *n_told = arg;
	(void)lost, (void)row, (void)now, (void)e;
	assert_null(o->probes.whole);
	assert_true(o->probes.n > 0);
	++*n_told;
	return 0;
}

/* So what a run without windows holds of a probe is its packed row, however long the
 * run is: it makes no table of all. */
static void of_a_whole_run_probes_come_in_pieces(void **state)
{
	struct rig g;
	unsigned n_told = 0;
	const struct xp_pingmesh_hooks hooks = {.arg = &n_told,
	    .diagnose = hear_pieces};
	(void)state;
	set_up(&g, "duration: 600, window: 300");
	run_with(&g, 0, &hooks);
	assert_int_equal(n_told, 1);
	tear_down(&g);
}

static int live(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	struct xp_pingmesh_plane *p = NULL;
	struct xp_net *net;
	scenes_draw(&g->m.s, 0);
	int rc = xp_net_open_sim(&net, &g->m.s.topo, &g->m.p, e);
	if (rc == 0)
		rc = xp_pingmesh_plane_open(&p, &g->m.s.topo, &g->m.p, net, e);
	if (rc == 0)
		rc = xp_pingmesh_plane_run(p, &g->m.s.scene, g->row, &none, e);
	xp_pingmesh_plane_close(p);
	xp_net_close(net);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct rig g;
	(void)state;
	pingmesh_open(&g.m, &pingmesh_tiny,
	    "duration: 60, window: 30, along: pair, repair: {on: true}");
	scenes_draw(&g.m.s, 0);
	test_each_alloc_fails(live, &g);
	pingmesh_close(&g.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_along_anything_are_of_one_run),
	    cmocka_unit_test(a_window_is_whole_when_its_jobs_run),
	    cmocka_unit_test(long_lags_and_histories_see_the_same_probes),
	    cmocka_unit_test(a_service_is_its_servers),
	    cmocka_unit_test(the_same_run_gives_the_same_bits),
	    cmocka_unit_test(lists_that_nobody_got_are_counted),
	    cmocka_unit_test(drop_rates_are_those_of_the_links),
	    cmocka_unit_test(black_holes_are_found_and_reloaded),
	    cmocka_unit_test(without_repair_holes_stay),
	    cmocka_unit_test(reloads_keep_to_their_budget),
	    cmocka_unit_test(the_job_runs_as_often_as_it_is_told),
	    cmocka_unit_test(rows_of_a_region_are_of_one_data_centre),
	    cmocka_unit_test(
		a_pod_without_power_is_the_pattern_that_is_expected),
	    cmocka_unit_test(hooks_are_told_of_every_window),
	    cmocka_unit_test(of_a_whole_run_probes_come_in_pieces),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/run", tests,
	    NULL, NULL);
}
