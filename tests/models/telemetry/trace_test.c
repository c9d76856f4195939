/* tests/models/telemetry/trace_test.c -- traces with limits; what measures is lost.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bounds are of 5 standard deviations, which a count passes by chance once in 1.7
 * million; there are fewer than twenty of them here. All else is exact.
 */
#include "models/telemetry/trace.h"

#include "algos/rivals/ways.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

enum { K = 6, HOSTS = 54, SWITCHES = 45, SLOTS = 4 };

/* The links between switches of lossy flow F of the window: its true way. */
static const topo_link *way_of(const struct telemetry_rig *x, size_t f,
    unsigned *h)
{
	*h = obs_n_hops(&x->w, f);
	return x->lost.path + x->w.hops.off[f];
}

static uint32_t switch_behind(const struct telemetry_rig *x, topo_link l)
{
	topo_node from, to;
	topo_link_ends(&x->topo, l, &from, &to);
	return to - x->topo.n_hosts;
}

/* --- limits ---------------------------------------------------------------- */

/* By the rows themselves: of K flows of a host in an interval min(K, 2) are
 * traced, and with a2 alone no other has a row. */
static void a_host_traces_so_many(void **state)
{
	(void)state;
	static uint32_t n[HOSTS][SLOTS];
	struct telemetry_rig x;
	uint64_t want = 0;
	memset(n, 0, sizeof(n));
	telemetry_rig_open(&x, K, 2e-4, OBS_TELE_A2, 0);
	x.p.trace.traces = 2;
	x.p.trace.every_s = 10;
	telemetry_rig_draw(&x);
	for (size_t i = 0; i < x.w.flows.n; i++)
		n[x.w.flows.src_host[i]]
		 [x.w.flows.start_ns[i] / (10 * SIM_SEC)]++;
	for (int h = 0; h < HOSTS; h++)
		for (int k = 0; k < SLOTS; k++)
			want += n[h][k] < 2 ? n[h][k] : 2;
	print_message("%zu of %zu traced\n", x.t.rows.n, x.w.flows.n);
	assert_true(want < x.w.flows.n / 2);
	assert_int_equal(x.t.rows.n, want);
	assert_int_equal(x.t.traces.n_begun, want);
	assert_int_equal(x.t.traces.n_whole, want);
	telemetry_rig_close(&x);
}

/* All flows again in their order: a path is told if each switch between the ToRs
 * had an answer left, whatever the others had. */
static void a_switch_answers_so_often(void **state)
{
	(void)state;
	static uint32_t n[SWITCHES][SLOTS];
	struct telemetry_rig x;
	uint64_t sent = 0, kept = 0, whole = 0;
	memset(n, 0, sizeof(n));
	telemetry_rig_open(&x, K, 2e-4, OBS_TELE_A2 | OBS_TELE_P, 0);
	x.p.trace.icmp = 20;
	x.p.trace.every_s = 10;
	telemetry_rig_draw(&x);
	assert_int_equal(x.topo.n_switches, SWITCHES);
	for (size_t i = 0, row = 0; i < x.w.flows.n; i++, row++) {
		unsigned h;
		const topo_link *way = way_of(&x, i, &h);
		int all = 1;
		for (unsigned k = 0; k + 1 < h; k++) {
			uint32_t *slot = &n[switch_behind(&x,
			    way[k])][x.w.flows.start_ns[i] / (10 * SIM_SEC)];
			const int answers = *slot < 20;
			*slot += (uint32_t)answers;
			sent += (uint64_t)answers;
			kept += (uint64_t)!answers;
			all &= answers || k == 0 || k == h - 2;
		}
		whole += (uint64_t)all;
		while (x.t.rows.flow[row] != i)
			row++;
		assert_int_equal(x.t.rows.path[row] != OBS_NO_PATH, all);
		/* What is told of the hops is true. */
		for (unsigned k = 0; k < h; k++) {
			const topo_link told =
			    x.w.hops.link[x.w.hops.off[i] + k];
			assert_true(told == way[k] || told == TOPO_NONE);
			assert_true(!all || told == way[k]);
		}
	}
	print_message("%d of %zu whole, %d answers kept back\n", (int)whole,
	    x.w.flows.n, (int)kept);
	assert_true(kept > 500 && whole > 200);
	assert_int_equal(x.t.traces.n_sent, sent);
	assert_int_equal(x.t.traces.n_kept, kept);
	assert_int_equal(x.t.traces.n_whole, whole);
	assert_int_equal(x.t.rows.n, x.w.n_flows);
	telemetry_rig_close(&x);
}

static void too_many_intervals_are_told(void **state)
{
	(void)state;
	struct telemetry_rig x;
	struct sim_err e = {0};
	telemetry_rig_open(&x, K, 1e-4, OBS_TELE_A2, 0);
	x.p.trace.traces = 1;
	x.p.trace.every_s = 1e-3;
	x.p.window_s = 1e5;
	assert_int_equal(telemetry_draw(&x.t, &x.p, &x.scene, &x.w, &x.lost,
			     &e),
	    SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "limits of 54 places in"));
	telemetry_rig_close(&x);
}

/* --- answers that are lost ------------------------------------------------- */

/* Every link loses p. Probe and answer for the k-th switch cross k links each, so
 * that the three between the ToRs all answer with (1 - p)^(2 (2 + 3 + 4)); where
 * paths have one, with (1 - p)^(2 2). */
static void a_trace_comes_back_whole_by_its_law(void **state)
{
	(void)state;
	const double p = 0.01;
	double got[2] = {0}, n[2] = {0};
	struct telemetry_rig x;
	telemetry_rig_open(&x, K, p, OBS_TELE_A2 | OBS_TELE_P, 0);
	x.p.trace.answers = 1;
	telemetry_rig_draw(&x);
	for (size_t i = 0; i < x.t.rows.n; i++) {
		const struct obs_tally r = obs_tallies_at(&x.t.rows, i);
		unsigned h = 0;
		if (r.n_lost > 0)
			way_of(&x, r.flow, &h);
		if (h == 2)
			assert_true(r.path != OBS_NO_PATH);
		if (h > 2) {
			n[h == 6]++;
			got[h == 6] += r.path != OBS_NO_PATH;
		}
	}
	for (int far = 0; far < 2; far++) {
		const double q = pow(1 - p, far ? 18 : 4);
		print_message("%.0f of %.0f whole, %.1f expected\n", got[far],
		    n[far], q * n[far]);
		assert_true(n[far] > 500);
		assert_near(got[far], q * n[far],
		    5 * sqrt(n[far] * q * (1 - q)));
	}
	telemetry_rig_close(&x);
}

/* Nothing behind a link that loses all is told, and all before it is. */
static void a_dead_link_hides_what_is_behind(void **state)
{
	(void)state;
	struct telemetry_rig x;
	int n = 0;
	telemetry_rig_open(&x, K, 0, OBS_TELE_A2, 0);
	/* From the first ToR to a T1. */
	const topo_link dead = topo_link_of(HOSTS, TOPO_UP);
	telemetry_rig_fail(&x, dead, 1);
	x.p.trace.answers = 1;
	telemetry_rig_draw(&x);
	for (size_t i = 0; i < x.w.flows.n; i++) {
		unsigned h;
		const topo_link *way = way_of(&x, i, &h),
				*told = x.w.hops.link + x.w.hops.off[i];
		assert_true(h > 2 && way[1] == dead);
		assert_true(told[0] == way[0] && told[h - 1] == way[h - 1]);
		for (unsigned k = 1; k < h - 1; k++)
			assert_int_equal(told[k], TOPO_NONE);
		assert_int_equal(x.t.rows.path[i], OBS_NO_PATH);
		n++;
	}
	assert_true(n > 100);
	telemetry_rig_close(&x);
}

/* One row there and back, over links that lead on one from another and end where
 * they began; each packet is lost with 1 - (1 - p)^6. */
static void a_probe_comes_back_or_is_lost(void **state)
{
	(void)state;
	const double p = 0.01, q = 1 - pow(1 - p, 6);
	double n = 0, lost = 0;
	struct telemetry_rig x;
	telemetry_rig_open(&x, K, p, OBS_TELE_A1, 0);
	/* What was drawn before without answers is forgotten. */
	telemetry_rig_draw(&x);
	assert_int_equal(x.t.rows.n, 2 * 9 * HOSTS);
	x.p.trace.answers = 1;
	telemetry_rig_draw(&x);
	assert_int_equal(x.t.rows.n, 9 * HOSTS);
	for (size_t i = 0; i < x.t.rows.n; i++) {
		const struct obs_tally r = obs_tallies_at(&x.t.rows, i);
		topo_node at = x.topo.n_hosts + topo_tor_of(&x.topo, r.up / 2);
		const topo_node tor = at;
		assert_true(r.is_probe && r.up / 2 == r.down / 2);
		assert_int_equal(obs_path_length(&x.t.paths, r.path), 4);
		for (uint32_t k = x.t.paths.off[r.path];
		     k < x.t.paths.off[r.path + 1]; k++) {
			topo_node from, to;
			topo_link_ends(&x.topo, x.t.paths.link[k], &from, &to);
			assert_int_equal(from, at);
			at = to;
		}
		assert_int_equal(at, tor);
		n += r.n_sent;
		lost += r.n_lost;
	}
	assert_near(lost, q * n, 5 * sqrt(n * q * (1 - q)));
	telemetry_rig_close(&x);
}

/* No component is met twice on a way back and forth, so that no likelihood counts
 * it twice. */
static void a_way_back_has_each_switch_once(void **state)
{
	(void)state;
	struct telemetry_rig x;
	struct algo_ways w = {0};
	telemetry_rig_open(&x, K, 0, OBS_TELE_A1, 0);
	x.p.trace.answers = 1;
	telemetry_rig_draw(&x);
	assert_ok(algo_ways_update(&w, &x.topo, &x.t.paths, 1, 1, test_err()));
	for (size_t i = 0; i < x.t.rows.n; i++) {
		const uint32_t path = x.t.rows.path[i];
		const uint32_t *part = w.part + w.off[path];
		const uint32_t n = w.off[path + 1] - w.off[path];
		/* Four links; a ToR, a T1 of its pod and a core. */
		assert_int_equal(n, 7);
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < a; b++)
				assert_true(part[a] != part[b]);
	}
	algo_ways_free(&w);
	telemetry_rig_close(&x);
}

/* --- unknown paths --------------------------------------------------------- */

/* Of INT and of traces alike; nobody needs to be told of a path within a rack. */
static void a_share_of_paths_is_unknown(void **state)
{
	(void)state;
	const unsigned kinds[] = {OBS_TELE_INT, OBS_TELE_A2 | OBS_TELE_P};
	for (int k = 0; k < 2; k++) {
		struct telemetry_rig x;
		double n = 0, told = 0;
		telemetry_rig_open(&x, K, 1e-3, kinds[k], 0);
		x.p.trace.unknown = 0.3;
		telemetry_rig_draw(&x);
		for (size_t i = 0; i < x.t.rows.n; i++) {
			const struct obs_tally r = obs_tallies_at(&x.t.rows, i);
			if (k == 1 && r.n_lost == 0)
				continue;
			if (obs_set_size(&x.t.paths, r.set) == 1) {
				assert_true(r.path != OBS_NO_PATH);
				continue;
			}
			n++;
			told += r.path != OBS_NO_PATH;
		}
		print_message("%.0f of %.0f told\n", told, n);
		assert_true(n > 1000);
		assert_near(told, 0.7 * n, 5 * sqrt(n * 0.21));
		telemetry_rig_close(&x);
	}
}

/* Who is told what changes nothing of what is lost. */
static void telling_less_moves_no_loss(void **state)
{
	(void)state;
	struct telemetry_rig x, y;
	telemetry_rig_open(&x, K, 1e-3, OBS_TELE_A2 | OBS_TELE_P, 0);
	telemetry_rig_open(&y, K, 1e-3, OBS_TELE_A2 | OBS_TELE_P, 0);
	y.p.trace = (struct telemetry_trace_params){.traces = 1,
	    .icmp = 5,
	    .every_s = 1,
	    .unknown = 0.5,
	    .answers = 1};
	telemetry_rig_draw(&x);
	telemetry_rig_draw(&y);
	assert_int_equal(x.t.rows.n, y.t.rows.n);
	assert_memory_equal(x.t.rows.n_lost, y.t.rows.n_lost,
	    x.t.rows.n * sizeof(x.t.rows.n_lost[0]));
	assert_memory_equal(x.lost.drops, y.lost.drops,
	    x.lost.n_drops * sizeof(x.lost.drops[0]));
	telemetry_rig_close(&x);
	telemetry_rig_close(&y);
}

static void no_memory_is_an_error(void **state)
{
	(void)state;
	struct telemetry_rig x;
	telemetry_rig_open(&x, 4, 1e-2, OBS_TELE_A1 | OBS_TELE_A2, 0);
	x.p.trace = (struct telemetry_trace_params){.traces = 1,
	    .icmp = 5,
	    .every_s = 1,
	    .answers = 1};
	x.p.flows = 3;
	test_each_alloc_fails(telemetry_rig_draw_once, &x);
	telemetry_rig_close(&x);
}

/* Each part by itself, and the whole twice; then it serves again. */
static void what_is_freed_is_empty(void **state)
{
	(void)state;
	struct telemetry_rig x;
	telemetry_rig_open(&x, K, 2e-4, OBS_TELE_A2, 0);
	x.p.flows = 20;
	x.p.trace.traces = 2;
	x.p.trace.icmp = 5;
	x.p.trace.every_s = 10;
	telemetry_rig_draw(&x);
	assert_non_null(x.t.traces.begun);
	assert_non_null(x.t.traces.sent);
	telemetry_traces_free(&x.t.traces);
	assert_true(!x.t.traces.begun && !x.t.traces.sent);
	assert_non_null(x.t.links.hazard);
	telemetry_links_free(&x.t.links);
	assert_true(!x.t.links.hazard && !x.t.links.moves);
	telemetry_free(&x.t);
	assert_int_equal(x.t.rows.n + x.t.paths.n + x.t.n_busy, 0);
	assert_true(!x.t.host && !x.t.top);
	telemetry_free(&x.t);
	telemetry_rig_draw(&x);
	telemetry_rig_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_host_traces_so_many),
	    cmocka_unit_test(a_switch_answers_so_often),
	    cmocka_unit_test(too_many_intervals_are_told),
	    cmocka_unit_test(a_trace_comes_back_whole_by_its_law),
	    cmocka_unit_test(a_dead_link_hides_what_is_behind),
	    cmocka_unit_test(a_probe_comes_back_or_is_lost),
	    cmocka_unit_test(a_way_back_has_each_switch_once),
	    cmocka_unit_test(a_share_of_paths_is_unknown),
	    cmocka_unit_test(telling_less_moves_no_loss),
	    cmocka_unit_test(no_memory_is_an_error),
	    cmocka_unit_test(what_is_freed_is_empty),
	};
	return cmocka_run_group_tests_name("models/telemetry/trace", tests,
	    NULL, NULL);
}
