/* tests/algos/vigil/switch_view_test.c -- the switches of a path; their votes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/switch_view.h"

#include "algos/vigil/alg1.h"
#include "algos/vigil/vote.h"
#include "tests/rigs/windows.h"
#include "tests/test.h"
#include "topo/mesh.h"

struct fixture {
	struct topo t;
	struct obs w;
	struct algo_switch_view v;
};

/* 2 pods of 2 ToRs and 2 T1s, 2 T2s, 2 hosts a ToR. */
static void open_clos(struct fixture *f)
{
	static const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	*f = (struct fixture){0};
	assert_ok(topo_open_clos(&f->t, &shape, test_err()));
}

static void fixture_free(struct fixture *f)
{
	algo_switch_view_free(&f->v);
	obs_free(&f->w);
	topo_close(&f->t);
}

static void make(struct fixture *f)
{
	assert_ok(algo_switch_view_make(&f->v, &f->t, &f->w, test_err()));
}

static void assert_switches(const struct fixture *f, size_t flow, unsigned n,
    const topo_switch want[])
{
	assert_int_equal(obs_n_hops(&f->v.w, flow), n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(obs_path(&f->v.w, flow)[i], want[i]);
}

/* A path of h links crosses h - 1 switches: the ends of its links. */
static void the_switches_of_a_whole_path_are_all_it_crosses(void **state)
{
	(void)state;
	struct fixture f;
	open_clos(&f);
	for (uint32_t d = 0; d < 64; d++) {
		topo_link path[TOPO_MAX_HOPS];
		const unsigned n =
		    topo_path(&f.t, 1, d % 8, (d * 5 + 2) % 8, d * 77, path);
		if (n > 0)
			window_add(&f.w, 1, n, path);
	}
	make(&f);
	assert_int_equal(f.v.w.flows.n, f.w.flows.n);
	for (size_t i = 0; i < f.w.flows.n; i++) {
		const unsigned h = obs_n_hops(&f.w, i);
		assert_int_equal(obs_n_hops(&f.v.w, i), h - 1);
		for (unsigned j = 0; j + 1 < h; j++) {
			topo_node from, to;
			topo_link_ends(&f.t, obs_path(&f.w, i)[j], &from, &to);
			assert_int_equal(obs_path(&f.v.w, i)[j],
			    to - f.t.n_hosts);
		}
	}
	fixture_free(&f);
}

static void unknown_hops_leave_the_ends_of_the_known_ones(void **state)
{
	(void)state;
	struct fixture f;
	open_clos(&f);
	const struct topo_clos *c = &f.t.clos;
	const topo_link up = topo_clos_link_host(0, TOPO_UP);
	const topo_link tor = topo_clos_link_tor(c, 0, 1, TOPO_UP);
	const topo_link down = topo_clos_link_tor(c, 3, 0, TOPO_DOWN);
	const topo_link last = topo_clos_link_host(7, TOPO_DOWN);
	WINDOW_ADD(&f.w, 1, up, TOPO_NONE, TOPO_NONE, TOPO_NONE, down, last);
	WINDOW_ADD(&f.w, 1, TOPO_NONE, tor, TOPO_NONE);
	WINDOW_ADD(&f.w, 1, TOPO_NONE, TOPO_NONE);
	WINDOW_ADD(&f.w, 0, up, tor);
	WINDOW_ADD(&f.w, 1, up, tor, TOPO_NONE, TOPO_NONE, TOPO_NONE);
	make(&f);
	const topo_switch tor0 = 0, t1_1 = topo_clos_t1(c, 0, 1), tor3 = 3,
			  t1_2 = topo_clos_t1(c, 1, 0);
	assert_switches(&f, 0, 3, (topo_switch[]){tor0, t1_2, tor3});
	assert_switches(&f, 1, 2, (topo_switch[]){tor0, t1_1});
	assert_int_equal(obs_n_hops(&f.v.w, 2), 0);
	assert_int_equal(obs_n_hops(&f.v.w, 3), 0);
	assert_switches(&f, 4, 2, (topo_switch[]){tor0, t1_1});
	fixture_free(&f);
}

static void bad_paths_are_refused(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_err e;
	open_clos(&f);
	WINDOW_ADD(&f.w, 1, 0, 999);
	assert_int_equal(algo_switch_view_make(&f.v, &f.t, &f.w, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "flow 0: hop 1 is link 999, but there are only 48 links.");
	f.w.flows.n_retx[0] = 0; /* does not vote, so is not looked at */
	make(&f);
	f.w.flows.n_retx[0] = 1;
	f.w.hops.off[1] = 7;
	assert_int_equal(algo_switch_view_make(&f.v, &f.t, &f.w, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "0 to 7"));
	/* 16 links that nowhere meet have 32 ends. */
	obs_clear(&f.w);
	topo_link apart[TOPO_MAX_HOPS];
	for (unsigned i = 0; i < TOPO_MAX_HOPS; i++)
		apart[i] = topo_clos_link_tor(&f.t.clos, i % 4, 0, TOPO_UP);
	window_add(&f.w, 1, TOPO_MAX_HOPS, apart);
	assert_int_equal(algo_switch_view_make(&f.v, &f.t, &f.w, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg, "flow 0 crosses 32 switches, more than 16.");
	fixture_free(&f);
}

static int make_once(void *arg, struct sim_err *e)
{
	struct fixture *f = arg;
	struct algo_switch_view v = {0};
	int rc = algo_switch_view_make(&v, &f->t, &f->w, e);
	algo_switch_view_free(&v);
	return rc;
}

static void each_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct fixture f;
	open_clos(&f);
	WINDOW_ADD(&f.w, 1, 0, 2);
	test_each_alloc_fails(make_once, &f);
	fixture_free(&f);
}

/* --- votes ---------------------------------------------------------------- */

static int run(const struct algo_ops *a, const void *params,
    const struct fixture *f, struct algo_verdicts *out, struct sim_err *e)
{
	void *work;
	int rc = algo_open(a, &work, &f->t, params, e);
	if (rc < 0)
		return rc;
	rc = a->diagnose(work, &f->w, NULL, out, e);
	algo_close(a, work);
	return rc;
}

static double score_of(const struct algo_verdicts *v, topo_switch s)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->link[i] == s)
			return v->score[i];
	return 0;
}

/* tor0 - t1.0 - tor1 within pod 0, and tor0 - t1.0 - t2 - t1 - tor2. */
static void add_two_flows(struct fixture *f)
{
	const struct topo_clos *c = &f->t.clos;
	WINDOW_ADD(&f->w, 1, topo_clos_link_host(0, TOPO_UP),
	    topo_clos_link_tor(c, 0, 0, TOPO_UP),
	    topo_clos_link_tor(c, 1, 0, TOPO_DOWN),
	    topo_clos_link_host(2, TOPO_DOWN));
	WINDOW_ADD(&f->w, 1, topo_clos_link_host(1, TOPO_UP),
	    topo_clos_link_tor(c, 0, 0, TOPO_UP),
	    topo_clos_link_t1(c, 0, 1, TOPO_UP),
	    topo_clos_link_t1(c, 3, 1, TOPO_DOWN),
	    topo_clos_link_tor(c, 2, 1, TOPO_DOWN),
	    topo_clos_link_host(4, TOPO_DOWN));
}

static void a_flow_gives_one_vote_to_the_switches_it_crosses(void **state)
{
	(void)state;
	struct fixture f;
	struct algo_verdicts v = {0};
	open_clos(&f);
	add_two_flows(&f);
	const struct algo_vote_params p = {.on = ALGO_KIND_SWITCH};
	assert_ok(run(&algo_vote, &p, &f, &v, test_err()));
	const struct topo_clos *c = &f.t.clos;
	assert_int_equal(v.kind, ALGO_KIND_SWITCH);
	assert_int_equal(v.n, 6);
	assert_near(score_of(&v, 0), 1.0 / 3 + 1.0 / 5, 1e-15);
	assert_near(score_of(&v, topo_clos_t1(c, 0, 0)), 1.0 / 3 + 1.0 / 5,
	    1e-15);
	assert_near(score_of(&v, 1), 1.0 / 3, 1e-15);
	assert_near(score_of(&v, topo_clos_t2(c, 1)), 1.0 / 5, 1e-15);
	assert_near(score_of(&v, topo_clos_t1(c, 1, 1)), 1.0 / 5, 1e-15);
	assert_near(score_of(&v, 2), 1.0 / 5, 1e-15);
	assert_int_equal(v.blame[0], 0); /* tied with t1.0: the lower id */
	assert_int_equal(v.blame[1], 0);
	/* The same object on links has links again. */
	assert_ok(run(&algo_vote, NULL, &f, &v, test_err()));
	assert_int_equal(v.kind, ALGO_KIND_LINK);
	assert_int_equal(v.n, 9);
	algo_verdicts_free(&v);
	fixture_free(&f);
}

static void algorithm_1_flags_switches_too(void **state)
{
	(void)state;
	struct fixture f;
	struct algo_verdicts v = {0};
	struct sim_err e;
	struct algo_alg1_params p = {.on = ALGO_KIND_SWITCH,
	    .adjust = ALGO_ALG1_REMOVAL,
	    .threshold = 0.01};
	open_clos(&f);
	add_two_flows(&f);
	assert_ok(run(&algo_alg1, &p, &f, &v, test_err()));
	assert_int_equal(v.kind, ALGO_KIND_SWITCH);
	assert_int_equal(v.n_flagged, 1); /* it explains both flows */
	assert_int_equal(v.link[0], 0);
	p.adjust = ALGO_ALG1_EXPECTED;
	assert_int_equal(run(&algo_alg1, &p, &f, &v, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "adjust expected is about links; with `on: switch` it is none or "
	    "removal.");
	algo_verdicts_free(&v);
	fixture_free(&f);
}

/* In any network: of a switch that loses all, each flow through it votes. */
static void in_a_graph_votes_are_on_its_switches(void **state)
{
	(void)state;
	struct fixture f = {0};
	struct topo_mesh *m;
	struct algo_verdicts v = {0};
	const struct algo_vote_params p = {.on = ALGO_KIND_SWITCH};
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	assert_ok(topo_open_mesh(&f.t, m, test_err()));
	const topo_node bad = f.t.n_hosts + 9;
	size_t n_crossed = 0;
	for (uint32_t d = 0; d < 400; d++) {
		topo_link path[TOPO_MAX_HOPS];
		const unsigned n = topo_path(&f.t, 1, d % 16, (d * 7 + 3) % 16,
		    d * 77777, path);
		int crosses = 0;
		for (unsigned i = 0; i < n; i++) {
			topo_node from, to;
			topo_link_ends(&f.t, path[i], &from, &to);
			crosses |= to == bad;
		}
		if (crosses)
			window_add(&f.w, 1, n, path);
		n_crossed += (size_t)crosses;
	}
	assert_true(n_crossed > 20);
	assert_ok(run(&algo_vote, &p, &f, &v, test_err()));
	assert_int_equal(algo_verdicts_rank(&v, 9), 1);
	for (size_t i = 0; i < v.n_flows; i++)
		assert_true(score_of(&v, v.blame[i]) == score_of(&v, 9));
	algo_verdicts_free(&v);
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_switches_of_a_whole_path_are_all_it_crosses),
	    cmocka_unit_test(unknown_hops_leave_the_ends_of_the_known_ones),
	    cmocka_unit_test(bad_paths_are_refused),
	    cmocka_unit_test(each_failing_allocation_is_reported),
	    cmocka_unit_test(a_flow_gives_one_vote_to_the_switches_it_crosses),
	    cmocka_unit_test(algorithm_1_flags_switches_too),
	    cmocka_unit_test(in_a_graph_votes_are_on_its_switches),
	};
	return cmocka_run_group_tests_name("algos/vigil/switch_view", tests,
	    NULL, NULL);
}
