/* tests/algos/vigil/vote_ecmp_test.c -- votes of flows of unknown paths.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/vote_ecmp.h"

#include "algos/vigil/vote.h"
#include "models/bulk/bulk.h"
#include "tests/rigs/scenes.h"
#include "tests/rigs/windows.h"
#include "tests/test.h"
#include "topo/mesh.h"

static const struct topo_clos shape = {2, 2, 2, 3, 2, .n_cables = 0};

/* Shares are rounded to this. */
#define UNIT (0.5 / ALGO_TALLY_VOTE + 1e-15)

static void add_flow(struct obs *w, topo_host src, topo_host dst,
    uint32_t n_retx, unsigned n, const topo_link path[])
{
	const struct obs_flow f = {.src_host = src,
	    .dst_host = dst,
	    .n_pkts = 100,
	    .n_retx = n_retx};
	assert_ok(obs_add_flow(w, &f, path, n, test_err()));
}

static int run(const struct algo_ops *a, const void *params,
    const struct topo *t, const struct obs *w, struct algo_verdicts *out,
    struct sim_err *e)
{
	void *work;
	int rc = algo_open(a, &work, t, params, e);
	if (rc < 0)
		return rc;
	rc = a->diagnose(work, w, NULL, out, e);
	algo_close(a, work);
	return rc;
}

static double votes_of(const struct algo_verdicts *v, topo_link l)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->link[i] == l)
			return v->score[i];
	return 0;
}

static void a_flow_without_a_path_votes_by_shares_over_its_length(void **state)
{
	(void)state;
	struct topo t;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	const struct topo_clos *c = &t.clos;
	add_flow(&w, 1, 6, 1, 0, NULL);
	add_flow(&w, 1, 2, 3, 2, (topo_link[]){TOPO_NONE, TOPO_NONE});
	add_flow(&w, 1, 6, 0, 0, NULL);
	add_flow(&w, 3, 3, 1, 0, NULL); /* crosses nothing */
	assert_ok(run(&algo_vote_ecmp, NULL, &t, &w, &v, test_err()));
	const struct {
		topo_link link;
		double votes;
	} want[] = {
	    {topo_clos_link_host(1, TOPO_UP), 1.0 / 6 + 1.0 / 4},
	    {topo_clos_link_tor(c, 0, 0, TOPO_UP), 0.5 / 6 + 0.5 / 4},
	    {topo_clos_link_t1(c, 1, 2, TOPO_UP), 1.0 / 36},
	    {topo_clos_link_t1(c, 2, 1, TOPO_DOWN), 1.0 / 36},
	    {topo_clos_link_tor(c, 3, 1, TOPO_DOWN), 0.5 / 6},
	    {topo_clos_link_tor(c, 1, 1, TOPO_DOWN), 0.5 / 4},
	    {topo_clos_link_host(6, TOPO_DOWN), 1.0 / 6},
	    {topo_clos_link_host(2, TOPO_DOWN), 1.0 / 4},
	    {topo_clos_link_host(3, TOPO_UP), 0},
	};
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_near(votes_of(&v, want[i].link), want[i].votes,
		    2 * UNIT);
	double sum = 0;
	for (size_t i = 0; i < v.n; i++)
		sum += v.score[i];
	assert_near(sum, 2, 40 * UNIT);
	/* Both cross host 1's link for certain, and share it. */
	const topo_link up = topo_clos_link_host(1, TOPO_UP);
	const topo_link blame[] = {up, up, TOPO_NONE, TOPO_NONE};
	assert_memory_equal(v.blame, blame, sizeof(blame));
	algo_verdicts_free(&v);
	obs_free(&w);
	topo_close(&t);
}

/* Paths known wholly or in part count as in `vote`, in any topology. */
static void with_known_paths_it_is_the_vote(void **state)
{
	(void)state;
	struct topo t;
	struct topo_mesh *m;
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	for (uint32_t r = 0; r < 20; r++) {
		struct obs w = {0};
		struct algo_verdicts a = {0}, b = {0};
		struct sim_rng rng;
		test_rng(&rng, r);
		for (int i = 0; i < 200; i++) {
			topo_link path[TOPO_MAX_HOPS];
			const topo_host src = sim_rng_below(&rng, t.n_hosts);
			const topo_host dst = sim_rng_below(&rng, t.n_hosts);
			const unsigned n =
			    topo_path(&t, 1, src, dst, sim_rng_u32(&rng), path);
			if (n == 0)
				continue;
			path[sim_rng_below(&rng, n)] = TOPO_NONE;
			add_flow(&w, src, dst, sim_rng_below(&rng, 2), n, path);
		}
		assert_ok(run(&algo_vote_ecmp, NULL, &t, &w, &a, test_err()));
		assert_ok(run(&algo_vote, NULL, &t, &w, &b, test_err()));
		assert_same_verdicts(&a, &b);
		algo_verdicts_free(&a);
		algo_verdicts_free(&b);
		obs_free(&w);
	}
	topo_close(&t);
}

/* Where there is one way only, ECMP has nothing to spread. */
static void without_a_choice_of_paths_nothing_is_lost(void **state)
{
	(void)state;
	static const struct topo_clos thin = {3, 2, 1, 1, 2, .n_cables = 0};
	struct scenes s;
	struct bulk *bulk;
	struct obs w = {0};
	struct algo_verdicts a = {0}, b = {0};
	const struct algo_vote_ecmp_params ignore = {.ignore_paths = 1,
	    .blame = {.noise = ALGO_NOISE_OWN_VOTE}};
	scenes_open(&s, &thin);
	s.params.noise.rate = scenes_fixed(1e-4);
	scenes_add_group(&s)->rate = scenes_fixed(0.05);
	assert_ok(bulk_open(&bulk, NULL, test_err()));
	for (uint32_t r = 0; r < 20; r++) {
		assert_ok(bulk_epoch(bulk, scenes_draw(&s, r), 0, &w, &s.lost,
		    test_err()));
		assert_ok(
		    run(&algo_vote_ecmp, &ignore, &s.topo, &w, &a, test_err()));
		assert_ok(run(&algo_vote, NULL, &s.topo, &w, &b, test_err()));
		assert_same_verdicts(&a, &b);
	}
	algo_verdicts_free(&a);
	algo_verdicts_free(&b);
	obs_free(&w);
	bulk_close(bulk);
	scenes_close(&s);
}

/* Without noise all failed flows come from ToR 2. Its four links to T1s are the
 * same to ends alone, and no link between switches has more votes. */
static void without_any_path_a_bad_link_is_known_up_to_its_ecmp_group(
    void **state)
{
	(void)state;
	static const struct topo_clos wide = {2, 4, 4, 4, 4, .n_cables = 0};
	struct scenes s;
	struct bulk *bulk;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	const struct algo_vote_ecmp_params ignore = {.ignore_paths = 1};
	scenes_open(&s, &wide);
	s.params.noise.rate = scenes_fixed(0);
	const topo_link bad = topo_clos_link_tor(&s.topo.clos, 2, 1, TOPO_UP);
	scenes_add_fault(&s, bad, 0.05);
	assert_ok(bulk_open(&bulk, NULL, test_err()));
	for (uint32_t r = 0; r < 30; r++) {
		assert_ok(bulk_epoch(bulk, scenes_draw(&s, r), 0, &w, &s.lost,
		    test_err()));
		assert_true(w.flows.n > 20);
		assert_ok(
		    run(&algo_vote_ecmp, &ignore, &s.topo, &w, &v, test_err()));
		const double best = votes_of(&v, bad);
		for (size_t i = 0; i < v.n; i++)
			if (v.link[i] >= 2 * s.topo.n_hosts)
				assert_true(v.score[i] <= best);
		for (uint32_t k = 0; k < 4; k++)
			assert_true(votes_of(&v,
					topo_clos_link_tor(&s.topo.clos, 2, k,
					    TOPO_UP)) == best);
	}
	algo_verdicts_free(&v);
	obs_free(&w);
	bulk_close(bulk);
	scenes_close(&s);
}

static void lone_flows_are_noise_as_told(void **state)
{
	(void)state;
	struct topo t;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	struct algo_vote_ecmp_params p = {.blame = {.noise_floor = 0.3}};
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	add_flow(&w, 1, 6, 1, 0, NULL); /* alone */
	add_flow(&w, 4, 2, 1, 0, NULL); /* share the last link, 1/6 each */
	add_flow(&w, 5, 2, 1, 0, NULL);
	const topo_link up = topo_clos_link_host(1, TOPO_UP);
	const topo_link down = topo_clos_link_host(2, TOPO_DOWN);
	const topo_link none[] = {up, down, down};
	const topo_link own[] = {TOPO_NONE, down, down};
	for (int i = 0; i < 3; i++) {
		p.blame.noise = i == 0 ? ALGO_NOISE_NONE
		    : i == 1           ? ALGO_NOISE_OWN_VOTE
				       : ALGO_NOISE_FLOOR;
		assert_ok(run(&algo_vote_ecmp, &p, &t, &w, &v, test_err()));
		assert_memory_equal(v.blame, i == 0 ? none : own, sizeof(own));
	}
	p.blame.noise_floor = 0.34;
	assert_ok(run(&algo_vote_ecmp, &p, &t, &w, &v, test_err()));
	for (int i = 0; i < 3; i++)
		assert_int_equal(v.blame[i], TOPO_NONE);
	algo_verdicts_free(&v);
	obs_free(&w);
	topo_close(&t);
}

static void a_host_that_does_not_exist_is_refused(void **state)
{
	(void)state;
	struct topo t;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	struct sim_err e;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	add_flow(&w, 1, 8, 1, 0, NULL);
	assert_int_equal(run(&algo_vote_ecmp, NULL, &t, &w, &v, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "flow 0 is from host 1 to host 8, but there are only 8 hosts.");
	algo_verdicts_free(&v);
	obs_free(&w);
	topo_close(&t);
}

struct rig {
	struct topo t;
	struct obs w;
};

static int run_once(void *arg, struct sim_err *e)
{
	const struct rig *g = arg;
	struct algo_verdicts v = {0};
	const struct algo_vote_ecmp_params p = {.ignore_paths = 1};
	int rc = run(&algo_vote_ecmp, &p, &g->t, &g->w, &v, e);
	algo_verdicts_free(&v);
	return rc;
}

static void each_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct rig g = {0};
	assert_ok(topo_open_clos(&g.t, &shape, test_err()));
	add_flow(&g.w, 1, 6, 1, 0, NULL);
	test_each_alloc_fails(run_once, &g);
	obs_free(&g.w);
	topo_close(&g.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		a_flow_without_a_path_votes_by_shares_over_its_length),
	    cmocka_unit_test(with_known_paths_it_is_the_vote),
	    cmocka_unit_test(without_a_choice_of_paths_nothing_is_lost),
	    cmocka_unit_test(
		without_any_path_a_bad_link_is_known_up_to_its_ecmp_group),
	    cmocka_unit_test(lone_flows_are_noise_as_told),
	    cmocka_unit_test(a_host_that_does_not_exist_is_refused),
	    cmocka_unit_test(each_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("algos/vigil/vote_ecmp", tests, NULL,
	    NULL);
}
