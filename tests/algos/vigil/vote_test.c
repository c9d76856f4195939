/* tests/algos/vigil/vote_test.c -- the vote, and what all three share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/vote.h"

#include "tests/rigs/windows.h"
#include "tests/test.h"

static void vote(const struct obs *w, struct algo_verdicts *v)
{
	assert_ok(
	    window_diagnose(&algo_vote, NULL, 40, w, NULL, v, test_err()));
}

static void links_are_ranked_by_votes_and_none_is_flagged(void **state)
{
	(void)state;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	WINDOW_ADD(&w, 1, 8, 3, 5);
	WINDOW_ADD(&w, 2, 3, 6);
	WINDOW_ADD(&w, 1, TOPO_NONE, 7, TOPO_NONE, 3);
	WINDOW_ADD(&w, 1, 30, 31, 32, 33);
	vote(&w, &v);
	assert_int_equal(v.flags, 0);
	assert_int_equal(v.n_flagged, 0);
	algo_verdicts_sort(&v);
	const topo_link link[] = {3, 6, 7, 5, 8, 30, 31, 32, 33};
	const double score[] = {1.0 / 3 + 1, 0.5, 0.5, 1.0 / 3, 1.0 / 3, 0.25,
	    0.25, 0.25, 0.25};
	assert_int_equal(v.n, 9);
	for (size_t i = 0; i < 9; i++) {
		assert_int_equal(v.link[i], link[i]);
		assert_near(v.score[i], score[i], 1e-15);
	}
	const topo_link blame[] = {3, 3, 3, TOPO_NONE};
	assert_int_equal(v.n_flows, 4);
	assert_memory_equal(v.blame, blame, sizeof(blame));
	algo_verdicts_free(&v);
	obs_free(&w);
}

/* Three flows that cross at one link: the introduction's example in which no
 * single flow tells where it was hit, and together they do. */
static void three_flows_that_meet_on_one_link_point_at_it(void **state)
{
	(void)state;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	WINDOW_ADD(&w, 1, 10, 11, 20, 12, 13);
	WINDOW_ADD(&w, 1, 14, 15, 20, 16, 17);
	WINDOW_ADD(&w, 1, 18, 20, 19);
	vote(&w, &v);
	assert_int_equal(algo_verdicts_rank(&v, 20), 1);
	assert_int_equal(algo_verdicts_rank(&v, 18), 2);
	assert_int_equal(algo_verdicts_rank(&v, 19), 2);
	assert_int_equal(algo_verdicts_rank(&v, 10), 4);
	for (int i = 0; i < 3; i++)
		assert_int_equal(v.blame[i], 20);
	algo_verdicts_free(&v);
	obs_free(&w);
}

static void flows_that_lost_nothing_change_nothing_but_the_rows(void **state)
{
	(void)state;
	struct obs all = {.complete = 1}, failed = {0};
	struct algo_verdicts a = {0}, b = {0};
	struct sim_rng r;
	test_rng(&r, 0);
	window_random(&all, 40, 200, &r);
	for (size_t i = 0; i < all.flows.n; i++)
		if (all.flows.n_retx[i])
			window_add(&failed, 1, obs_n_hops(&all, i),
			    obs_path(&all, i));
	assert_true(failed.flows.n > 0 && failed.flows.n < all.flows.n);
	vote(&all, &a);
	vote(&failed, &b);
	for (size_t i = 0, j = 0; i < all.flows.n; i++)
		assert_int_equal(a.blame[i],
		    all.flows.n_retx[i] ? b.blame[j++] : TOPO_NONE);
	assert_ok(algo_verdicts_reserve_flows(&a, 0, test_err()));
	assert_ok(algo_verdicts_reserve_flows(&b, 0, test_err()));
	assert_same_verdicts(&a, &b);
	algo_verdicts_free(&a);
	algo_verdicts_free(&b);
	obs_free(&all);
	obs_free(&failed);
}

static void renaming_links_renames_the_verdict(void **state)
{
	(void)state;
	assert_renaming_renames(&algo_vote, NULL);
}

/* Who was slow votes, and only who was: what was sent again counts for nothing,
 * neither does a time that is the threshold's own. */
static void by_times_the_slow_vote(void **state)
{
	static const uint32_t srtt_us[] = {1500, 1000, 200, 1001};
	struct algo_vote_params p;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	(void)state;
	assert_ok(sim_field_defaults(algo_vote.params, &p, test_err()));
	p.signal = ALGO_VOTE_RTT;
	p.rtt_threshold_us = 1000;
	WINDOW_ADD(&w, 0, 8, 3);
	WINDOW_ADD(&w, 5, 7, 3);
	WINDOW_ADD(&w, 9, 6, 5);
	WINDOW_ADD(&w, 2, 3, 4, 5, 9);
	memcpy(w.flows.srtt_us, srtt_us, sizeof(srtt_us));
	assert_ok(
	    window_diagnose(&algo_vote, &p, 40, &w, NULL, &v, test_err()));
	algo_verdicts_sort(&v);
	const topo_link link[] = {3, 8, 4, 5, 9};
	const double score[] = {0.75, 0.5, 0.25, 0.25, 0.25};
	assert_int_equal(v.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(v.link[i], link[i]);
		assert_near(v.score[i], score[i], 1e-15);
	}
	/* No flow is blamed on a link. The window is as it was. */
	assert_int_equal(v.n_flows, 0);
	assert_int_equal(w.flows.n_retx[0], 0);
	assert_int_equal(w.flows.n_retx[2], 9);
	algo_verdicts_free(&v);
	obs_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(links_are_ranked_by_votes_and_none_is_flagged),
	    cmocka_unit_test(three_flows_that_meet_on_one_link_point_at_it),
	    cmocka_unit_test(
		flows_that_lost_nothing_change_nothing_but_the_rows),
	    cmocka_unit_test(by_times_the_slow_vote),
	    cmocka_unit_test(renaming_links_renames_the_verdict),
	};
	return cmocka_run_group_tests_name("algos/vigil/vote", tests, NULL,
	    NULL);
}
