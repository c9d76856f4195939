/* tests/algos/pingmesh/blackhole_algo_test.c -- the black-hole job's verdicts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/blackhole_algo.h"

#include "tests/test.h"
#include "topo/mesh.h"

/* 2 pods of 4 ToRs of 8 hosts: ToR t has hosts 8 t to 8 t + 7. */
enum { N_TORS = 8, A_TOR = 8 };

struct fixture {
	struct topo topo;
	struct algo_blackhole_params params;
	struct obs_probes probes;
	struct obs window;
	struct algo_verdicts v;
};

static void set_up(struct fixture *f)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 4,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = A_TOR};
	*f = (struct fixture){0};
	assert_ok(topo_open_clos(&f->topo, &shape, test_err()));
	assert_ok(
	    sim_field_defaults(algo_blackhole_fields, &f->params, test_err()));
	f->params.rule = ALGO_BLACKHOLE_PAPER;
}

static void tear_down(struct fixture *f)
{
	algo_verdicts_free(&f->v);
	obs_probes_free(&f->probes);
	topo_close(&f->topo);
}

static void add(struct fixture *f, uint32_t s, uint32_t d, uint8_t outcome)
{
	const struct obs_probe p = {.rtt_ns = outcome == OBS_CONNECTED,
	    .src_host = s,
	    .dst_host = d,
	    .src_port = 1,
	    .outcome = outcome,
	    .level = OBS_LEVEL_DC};
	for (int i = 0; i < 3; i++)
		assert_ok(obs_probes_add(&f->probes, &p, test_err()));
}

/* Everyone reaches another pod; the first N_SICK[t] servers of ToR t do not
 * reach each other. */
static void probe(struct fixture *f, const unsigned n_sick[N_TORS])
{
	obs_probes_clear(&f->probes);
	for (uint32_t h = 0; h < N_TORS * A_TOR; h++)
		add(f, h, (h + 32) % 64, OBS_CONNECTED);
	for (uint32_t t = 0; t < N_TORS; t++)
		for (uint32_t i = 0; i < n_sick[t]; i++)
			for (uint32_t j = 0; j < i; j++)
				add(f, t * A_TOR + i, t * A_TOR + j,
				    OBS_TIMED_OUT);
}

static void diagnose_window(struct fixture *f)
{
	void *work;
	assert_ok(algo_open(&algo_blackhole_ops, &work, &f->topo, &f->params,
	    test_err()));
	assert_ok(algo_blackhole_ops.diagnose(work, &f->window, NULL, &f->v,
	    test_err()));
	algo_close(&algo_blackhole_ops, work);
}

static void diagnose(struct fixture *f)
{
	f->window.probes = obs_probes_whole(&f->probes);
	diagnose_window(f);
}

/* Fail unless ToRs are listed in this order, with the first N_FLAGGED accused,
 * and scores of so many eighths. */
static void assert_list(const struct fixture *f, size_t n_flagged, size_t n,
    const topo_switch tor[], const unsigned eighths[])
{
	assert_int_equal(f->v.kind, ALGO_KIND_SWITCH);
	assert_int_equal(f->v.flags, 1);
	assert_int_equal(f->v.n_flagged, n_flagged);
	assert_int_equal(f->v.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(f->v.link[i], tor[i]);
		assert_true(f->v.score[i] == eighths[i] / 8.0);
	}
}

static void candidates_are_accused_and_all_with_a_score_ranked(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	probe(&f, (const unsigned[]){3, 0, 5, 0, 7, 0, 5, 2});
	diagnose(&f);
	/* Two sick servers under a ToR are in one black-holed pair each, which
	 * is less than min_pairs: no symptom. */
	const topo_switch tor[] = {4, 2, 6, 0};
	const unsigned eighths[] = {7, 5, 5, 3};
	assert_list(&f, 3, 4, tor, eighths);
	/* ToRs whose reload is deferred are accused like those reloaded. */
	f.params.max_reloads = 1;
	diagnose(&f);
	assert_list(&f, 3, 4, tor, eighths);
	f.params.threshold = 0.7;
	diagnose(&f);
	assert_list(&f, 1, 4, tor, eighths);
	tear_down(&f);
}

static void of_a_pod_that_is_all_candidates_nobody_is_accused(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	probe(&f, (const unsigned[]){5, 6, 7, 8, 0, 4, 0, 0});
	diagnose(&f);
	assert_list(&f, 1, 5, (const topo_switch[]){5, 3, 2, 1, 0},
	    (const unsigned[]){4, 8, 7, 6, 5});
	tear_down(&f);
}

/* Of ToR 2 a server is in 5 bad pairs and 1 good one, in 7 and 1 of ToR 6; a
 * whole pod of such ToRs is not accused. */
static void by_likelihood_scores_are_shares_of_pairs(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	f.params.rule = ALGO_BLACKHOLE_LIKELIHOOD;
	probe(&f, (const unsigned[]){0, 0, 5, 0, 0, 0, 8, 0});
	diagnose(&f);
	assert_int_equal(f.v.n_flagged, 2);
	assert_int_equal(f.v.n, 2);
	assert_int_equal(f.v.link[0], 6);
	assert_int_equal(f.v.link[1], 2);
	assert_near(f.v.score[0], 28 / 36.5, 0.02);
	assert_near(f.v.score[1], 10 / 18.5, 0.02);
	probe(&f, (const unsigned[]){0, 0, 5, 0, 8, 8, 8, 8});
	diagnose(&f);
	assert_int_equal(f.v.n_flagged, 1);
	assert_int_equal(f.v.n, 5);
	assert_int_equal(f.v.link[0], 2);
	tear_down(&f);
}

static void a_window_without_probes_gives_an_empty_answer(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	probe(&f, (const unsigned[]){5, 0, 0, 0, 0, 0, 0, 0});
	diagnose(&f);
	assert_int_equal(f.v.n_flagged, 1);
	f.window.probes = (struct obs_probe_source){0};
	diagnose_window(&f);
	assert_list(&f, 0, 0, NULL, NULL);
	obs_probes_clear(&f.probes);
	diagnose(&f);
	assert_list(&f, 0, 0, NULL, NULL);
	/* A server that is dead has no score. */
	add(&f, 0, 1, OBS_TIMED_OUT);
	diagnose(&f);
	assert_list(&f, 0, 0, NULL, NULL);
	tear_down(&f);
}

static void a_bad_probe_or_no_clos_is_refused(void **state)
{
	(void)state;
	struct fixture f;
	struct topo_mesh *mesh;
	struct topo t;
	struct sim_err e;
	void *work;
	set_up(&f);
	add(&f, 0, 64, OBS_CONNECTED);
	f.window.probes = obs_probes_whole(&f.probes);
	assert_ok(
	    algo_open(&algo_blackhole_ops, &work, &f.topo, NULL, test_err()));
	assert_int_equal(algo_blackhole_ops.diagnose(work, &f.window, NULL,
			     &f.v, &e),
	    SIM_EINVAL);
	algo_close(&algo_blackhole_ops, work);
	assert_ok(topo_mesh_fat_tree(&mesh, 4, 0, test_err()));
	assert_ok(topo_open_mesh(&t, mesh, test_err()));
	assert_int_equal(algo_open(&algo_blackhole_ops, &work, &t, NULL, &e),
	    SIM_EUNSUPPORTED);
	assert_null(work);
	topo_close(&t);
	tear_down(&f);
}

static int open_and_diagnose(void *arg, struct sim_err *e)
{
	const struct fixture *f = arg;
	struct algo_verdicts v = {0};
	void *work;
	int rc = algo_open(&algo_blackhole_ops, &work, &f->topo, NULL, e);
	if (rc < 0)
		return rc;
	rc = algo_blackhole_ops.diagnose(work, &f->window, NULL, &v, e);
	algo_close(&algo_blackhole_ops, work);
	algo_verdicts_free(&v);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	probe(&f, (const unsigned[]){3, 0, 5, 0, 7, 0, 5, 2});
	f.window.probes = obs_probes_whole(&f.probes);
	test_each_alloc_fails(open_and_diagnose, &f);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		candidates_are_accused_and_all_with_a_score_ranked),
	    cmocka_unit_test(of_a_pod_that_is_all_candidates_nobody_is_accused),
	    cmocka_unit_test(by_likelihood_scores_are_shares_of_pairs),
	    cmocka_unit_test(a_window_without_probes_gives_an_empty_answer),
	    cmocka_unit_test(a_bad_probe_or_no_clos_is_refused),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/blackhole_algo",
	    tests, NULL, NULL);
}
