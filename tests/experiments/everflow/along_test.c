/* tests/experiments/everflow/along_test.c -- which links rows are of, and what they took.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rounds by guided probes are put together by hand: a copy where each began, one at
 * its other end, one when it was back.
 */
#include "experiments/everflow/along.h"

#include "tests/rigs/scenes.h"

enum { N_S = 5 };

static const struct topo_clos small = {.n_pods = 2,
    .n_tors = 2,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 2};

struct along {
	struct scenes s;
	const struct scene *scene;
	struct obs_guided guided;
	struct obs window;
	struct algo_trace_store store;
	struct algo_counters counters;
	struct xp_everflow_seen seen;
	struct res_trial_metrics row[XP_EVERFLOW_LINKS * N_S];
};

static void along_open(struct along *a)
{
	*a = (struct along){.scene = NULL};
	scenes_open(&a->s, &small);
	a->window.guided = &a->guided;
	a->seen = (struct xp_everflow_seen){.window = &a->window,
	    .store = &a->store,
	    .counters = &a->counters};
}

static void along_close(struct along *a)
{
	obs_guided_free(&a->guided);
	algo_trace_store_free(&a->store);
	scenes_close(&a->s);
}

/* A round of CABLE, sent at AT, that took NS. */
static void along_round(struct along *a, uint32_t cable, sim_ns at, int64_t ns)
{
	const uint32_t order = (uint32_t)a->guided.n;
	const struct topo *t = &a->s.topo;
	topo_node from, to;
	topo_link_ends(t, topo_link_of(cable, TOPO_UP), &from, &to);
	from -= t->n_hosts;
	to -= t->n_hosts;
	const struct obs_guided_probe probe = {.sent_ns = at,
	    .order = order,
	    .src_ip = 1,
	    .src_port = 2,
	    .via0 = from,
	    .via1 = to,
	    .via2 = from};
	const struct algo_hop hop[] = {{.t_ns = at + SIM_MS,
					   .node = from,
					   .layer = 3},
	    {.t_ns = at + SIM_MS + 1, .node = to, .layer = 2},
	    {.t_ns = (sim_ns)((int64_t)(at + SIM_MS) + ns),
		.node = from,
		.layer = 1}};
	const struct algo_trace trace = {.t_ns = at + SIM_MS,
	    .seq = order,
	    .src_ip = 1,
	    .src_port = 2,
	    .n_hops = 3};
	assert_ok(obs_guided_add(&a->guided, &probe, test_err()));
	assert_ok(algo_trace_store_add(&a->store, &trace, hop, test_err()));
}

static void along_fill(struct along *a)
{
	a->scene = scenes_draw(&a->s, 1);
	for (size_t i = 0; i < XP_EVERFLOW_LINKS * N_S; i++)
		a->row[i].link_rtt_us = NAN;
	assert_ok(
	    xp_everflow_link_rows(&a->seen, a->scene, N_S, a->row, test_err()));
}

/* Row K has US[N_S]; NaN: none. */
static void assert_row(const struct along *a, unsigned k, const double us[N_S])
{
	for (unsigned s = 0; s < N_S; s++) {
		const double got = a->row[k * N_S + s].link_rtt_us;
		if (!(got == us[s] || (isnan(got) && isnan(us[s]))))
			fail_msg("row %u, second %u: %g, not %g", k, s, got,
			    us[s]);
	}
}

static const double none[N_S] = {NAN, NAN, NAN, NAN, NAN};

/* The first cable between switches is behind those of the eight hosts, and those
 * between ToRs and T1s are eight, too. */
enum { TOR_T1 = 8, T1_T2 = 16 };

static void rows_are_of_the_first_cable_and_its_class(void **state)
{
	struct along a;
	(void)state;
	along_open(&a);
	/* Some of each, whatever their order. */
	along_round(&a, T1_T2, SIM_SEC, 9000);
	along_round(&a, TOR_T1 + 6, 0, 4000);
	along_round(&a, TOR_T1 + 6, SIM_SEC, 4100);
	along_round(&a, TOR_T1 + 1, 2 * SIM_SEC, 1000);
	along_round(&a, TOR_T1 + 5, 0, 3000);
	along_round(&a, TOR_T1 + 2, 0, 2000);
	along_round(&a, TOR_T1 + 7, 0, 5000);
	along_fill(&a);
	assert_row(&a, 0, (const double[N_S]){NAN, NAN, 1, NAN, NAN});
	assert_row(&a, 1, (const double[N_S]){2, NAN, NAN, NAN, NAN});
	assert_row(&a, 2, (const double[N_S]){3, NAN, NAN, NAN, NAN});
	assert_row(&a, 3, (const double[N_S]){4, 4.1, NAN, NAN, NAN});
	along_close(&a);
}

static void the_first_row_is_of_a_link_that_is_slow(void **state)
{
	struct along a;
	(void)state;
	along_open(&a);
	/* One that loses is none, nor is one of another cable. */
	scenes_add_fault(&a.s, topo_link_of(TOR_T1 + 1, TOPO_UP), 0.1);
	struct fault_params *g =
	    scenes_add_fault(&a.s, topo_link_of(TOR_T1 + 3, TOPO_DOWN), 0);
	g->kind = FAULT_LATENCY;
	g->delay = scenes_fixed(100);
	for (uint32_t i = 0; i < 5; i++)
		along_round(&a, TOR_T1 + i, 0, 1000 * (int64_t)(i + 1));
	along_fill(&a);
	assert_row(&a, 0, (const double[N_S]){4, NAN, NAN, NAN, NAN});
	assert_row(&a, 1, (const double[N_S]){1, NAN, NAN, NAN, NAN});
	assert_row(&a, 2, (const double[N_S]){2, NAN, NAN, NAN, NAN});
	assert_row(&a, 3, (const double[N_S]){3, NAN, NAN, NAN, NAN});
	along_close(&a);
}

static void what_there_is_not_has_no_row(void **state)
{
	struct along a;
	(void)state;
	along_open(&a);
	along_fill(&a);
	for (unsigned k = 0; k < XP_EVERFLOW_LINKS; k++)
		assert_row(&a, k, none);
	along_round(&a, TOR_T1 + 4, 0, 1000);
	along_round(&a, TOR_T1 + 2, 0, 2000);
	along_fill(&a);
	assert_row(&a, 0, (const double[N_S]){2, NAN, NAN, NAN, NAN});
	assert_row(&a, 1, (const double[N_S]){1, NAN, NAN, NAN, NAN});
	assert_row(&a, 2, none);
	assert_row(&a, 3, none);
	along_close(&a);
}

/* Of those that began in a second the longest counts, and none took less than
 * nothing. */
static void a_second_has_its_longest_round(void **state)
{
	struct along a;
	(void)state;
	along_open(&a);
	along_round(&a, TOR_T1, SIM_SEC - 1, 5000);
	along_round(&a, TOR_T1, SIM_SEC, 1000);
	along_round(&a, TOR_T1, 2 * SIM_SEC - 1, 3000);
	along_round(&a, TOR_T1, SIM_SEC + 5, 2000);
	along_round(&a, TOR_T1, 3 * SIM_SEC, -700);
	along_round(&a, TOR_T1, N_S * SIM_SEC - 1, 8000);
	along_round(&a, TOR_T1, N_S * SIM_SEC, 9000);
	along_fill(&a);
	assert_row(&a, 0, (const double[N_S]){5, 3, NAN, 0, 8});
	assert_row(&a, 1, none);
	along_close(&a);
}

/* --- axes ----------------------------------------------------------------- */

static void a_run_has_whole_seconds(void **state)
{
	static const struct {
		double epoch_s, settle_s;
		uint32_t n;
	} q[] = {{30, 10, 40}, {0.1, 0.2, 1}, {0, 0, 1}, {1.5, 0.4, 1},
	    {1.5, 0.5, 2}, {2, 1 - 1e-10, 3}, {2, 1 - 1e-8, 2}};
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		const struct xp_everflow p = {.settle_s = q[i].settle_s};
		assert_int_equal(xp_everflow_seconds(&p, q[i].epoch_s), q[i].n);
	}
}

static void axes_are_named(void **state)
{
	struct xp_everflow p = {.settle_s = 2};
	struct xp_along_axes a = {.n_points = 1};
	(void)state;
	assert_ok(xp_everflow_axes(&a, &p, 3, test_err()));
	assert_int_equal(a.n, 0);
	p.along = XP_EVERFLOW_DEBUGGER;
	assert_ok(xp_everflow_axes(&a, &p, 3, test_err()));
	assert_int_equal(a.n, 1);
	assert_int_equal(a.n_points, XP_N_DEBUGGERS);
	const struct res_coord *k = &a.axis[0].coord[0];
	for (unsigned i = 0; i < XP_N_DEBUGGERS; i++)
		assert_string_equal(k->text[i], xp_everflow_debuggers[i]);
	xp_along_free(&a);
	p.along = XP_EVERFLOW_LINK;
	a = (struct xp_along_axes){.n_points = 1};
	assert_ok(xp_everflow_axes(&a, &p, 3, test_err()));
	assert_int_equal(a.n, 2);
	assert_int_equal(a.n_points, XP_EVERFLOW_LINKS * 5);
	k = &a.axis[0].coord[0];
	assert_string_equal(k->text[0], "A");
	assert_string_equal(k->text[3], "D");
	k = &a.axis[1].coord[0];
	for (unsigned i = 0; i < 5; i++)
		assert_true(k->number[i] == i);
	xp_along_free(&a);
}

static int axes_of(void *arg, struct sim_err *e)
{
	const struct xp_everflow p = {.settle_s = 2,
	    .along = *(const uint32_t *)arg};
	struct xp_along_axes a = {.n_points = 1};
	const int rc = xp_everflow_axes(&a, &p, 3, e);
	xp_along_free(&a);
	return rc;
}

static void memory_that_runs_out_is_told(void **state)
{
	(void)state;
	for (uint32_t along = XP_EVERFLOW_DEBUGGER; along <= XP_EVERFLOW_LINK;
	     along++)
		test_each_alloc_fails(axes_of, &along);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_are_of_the_first_cable_and_its_class),
	    cmocka_unit_test(the_first_row_is_of_a_link_that_is_slow),
	    cmocka_unit_test(what_there_is_not_has_no_row),
	    cmocka_unit_test(a_second_has_its_longest_round),
	    cmocka_unit_test(a_run_has_whole_seconds),
	    cmocka_unit_test(axes_are_named),
	    cmocka_unit_test(memory_that_runs_out_is_told),
	};
	return cmocka_run_group_tests_name("experiments/everflow/along", tests,
	    NULL, NULL);
}
