/* tests/algos/vigil/cover_test.c -- greedy cover, naive and optimal ones.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/cover.h"

#include "tests/rigs/oracle_cover.h"
#include "tests/rigs/windows.h"
#include "tests/test.h"

static void cover(const struct algo_cover_params *p, uint32_t n_links,
    const struct obs *w, struct algo_verdicts *v)
{
	assert_ok(
	    window_diagnose(&algo_cover, p, n_links, w, NULL, v, test_err()));
	assert_int_equal(v->flags, 1);
	assert_int_equal(v->n, v->n_flagged);
}

static void links_are_taken_by_the_flows_they_newly_cover(void **state)
{
	(void)state;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	WINDOW_ADD(&w, 1, 1, 2);
	WINDOW_ADD(&w, 1, 3, 2);
	WINDOW_ADD(&w, 1, 1, 2, 3);
	WINDOW_ADD(&w, 1, 1, 5);
	WINDOW_ADD(&w, 1, TOPO_NONE, 6);
	WINDOW_ADD(&w, 1, TOPO_NONE);
	WINDOW_ADD(&w, 0, 9);
	const struct algo_cover_params all = {
	    .blame = {.noise = ALGO_NOISE_NONE}};
	cover(&all, 10, &w, &v);
	/* 1 and 2 cross three flows each, 1 is lower; 2 then covers one more,
	 * as does 3, and 6 is needed for the flow that is known in part. */
	const topo_link link[] = {1, 2, 6};
	assert_int_equal(v.n, 3);
	assert_memory_equal(v.link, link, sizeof(link));
	assert_true(v.score[0] == 3 && v.score[1] == 1 && v.score[2] == 1);
	const topo_link blame[] = {1, 2, 1, 1, 6, TOPO_NONE, TOPO_NONE};
	assert_int_equal(v.n_flows, 7);
	assert_memory_equal(v.blame, blame, sizeof(blame));
	algo_verdicts_free(&v);
	obs_free(&w);
}

static void equal_links_are_taken_by_id_or_by_votes(void **state)
{
	(void)state;
	const struct algo_cover_params by_votes = {.tie = ALGO_COVER_VOTES};
	struct obs w = {0};
	struct algo_verdicts v = {0};
	/* 3, 4 and 8 cover two flows each, and 8 has the most votes. */
	WINDOW_ADD(&w, 1, 3, 4, 5);
	WINDOW_ADD(&w, 1, 3, 4, 6);
	WINDOW_ADD(&w, 1, 8, 7);
	WINDOW_ADD(&w, 1, 8);
	cover(NULL, 10, &w, &v);
	assert_int_equal(v.n, 2);
	assert_true(v.link[0] == 3 && v.link[1] == 8);
	cover(&by_votes, 10, &w, &v);
	assert_int_equal(v.n, 2);
	assert_true(v.link[0] == 8 && v.link[1] == 3);
	algo_verdicts_free(&v);
	obs_free(&w);
}

static void renaming_links_renames_the_verdict(void **state)
{
	(void)state;
	const struct algo_cover_params by_votes = {.tie = ALGO_COVER_VOTES};
	assert_renaming_renames(&algo_cover, NULL);
	assert_renaming_renames(&algo_cover, &by_votes);
}

enum { N_LINKS = 40 };

static int crosses(const struct obs *w, size_t flow, topo_link l)
{
	for (unsigned j = 0; j < obs_n_hops(w, flow); j++)
		if (obs_path(w, flow)[j] == l)
			return 1;
	return 0;
}

/* Count everything afresh for every link taken. */
static size_t naive(const struct obs *w, int by_votes, topo_link *link,
    double *score)
{
	uint8_t covered[1000] = {0};
	double votes[N_LINKS] = {0};
	size_t n_taken = 0;
	for (size_t f = 0; f < w->flows.n; f++) {
		unsigned known = 0;
		for (topo_link l = 0; l < N_LINKS; l++)
			known += crosses(w, f, l) != 0;
		covered[f] = w->flows.n_retx[f] == 0 || known == 0;
		for (topo_link l = 0; !covered[f] && l < N_LINKS; l++)
			if (crosses(w, f, l))
				votes[l] += 840.0 / known; /* whole for <= 8 */
	}
	for (;;) {
		unsigned best_n = 0;
		topo_link best = TOPO_NONE;
		for (topo_link l = 0; l < N_LINKS; l++) {
			unsigned n = 0;
			for (size_t f = 0; f < w->flows.n; f++)
				n += !covered[f] && crosses(w, f, l);
			if (n > best_n ||
			    (n > 0 && n == best_n && by_votes &&
				votes[l] > votes[best])) {
				best_n = n;
				best = l;
			}
		}
		if (best == TOPO_NONE)
			return n_taken;
		link[n_taken] = best;
		score[n_taken++] = best_n;
		for (size_t f = 0; f < w->flows.n; f++)
			covered[f] |= crosses(w, f, best);
	}
}

static void it_takes_the_links_a_naive_greedy_takes(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 200; run++) {
		const struct algo_cover_params p = {.tie = run % 2};
		struct obs w = {0};
		struct algo_verdicts v = {0};
		topo_link link[N_LINKS];
		double score[N_LINKS];
		struct sim_rng r;
		test_rng(&r, run);
		window_random(&w, N_LINKS, sim_rng_below(&r, 200), &r);
		cover(&p, N_LINKS, &w, &v);
		const size_t n =
		    naive(&w, p.tie == ALGO_COVER_VOTES, link, score);
		if (n != v.n ||
		    (n > 0 &&
			(memcmp(link, v.link, n * sizeof(*link)) ||
			    memcmp(score, v.score, n * sizeof(*score)))))
			fail_msg("(seed %lu, run %u)",
			    (unsigned long)test_seed(), run);
		algo_verdicts_free(&v);
		obs_free(&w);
	}
}

/* Does no other flow that failed cross a link of this one? */
static int is_alone(const struct obs *w, size_t flow)
{
	for (topo_link l = 0; l < N_LINKS; l++)
		for (size_t f = 0; crosses(w, flow, l) && f < w->flows.n; f++)
			if (f != flow && w->flows.n_retx[f] > 0 &&
			    crosses(w, f, l))
				return 0;
	return 1;
}

/* But for one that nobody else votes with, which is set aside as noise. */
static void every_flow_is_blamed_on_a_flagged_link_of_its_path(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 50; run++) {
		struct obs w = {0};
		struct algo_verdicts v = {0};
		struct sim_rng r;
		test_rng(&r, run);
		window_random(&w, N_LINKS, 100, &r);
		cover(NULL, N_LINKS, &w, &v);
		double covered = 0;
		for (size_t i = 0; i < v.n; i++)
			covered += v.score[i];
		for (size_t f = 0; f < w.flows.n; f++) {
			int flagged = 0, is_covered = 0;
			for (size_t i = 0; i < v.n; i++) {
				flagged |= v.link[i] == v.blame[f];
				is_covered |= crosses(&w, f, v.link[i]);
			}
			covered -= is_covered && w.flows.n_retx[f] > 0;
			if (v.blame[f] == TOPO_NONE) {
				assert_true(
				    w.flows.n_retx[f] == 0 || is_alone(&w, f));
				continue;
			}
			assert_true(flagged && crosses(&w, f, v.blame[f]));
		}
		assert_true(covered == 0);
		algo_verdicts_free(&v);
		obs_free(&w);
	}
}

/* Chvatal (1979): within H(n) <= 1 + ln(n) of the optimum. */
static void greedy_is_never_worse_than_ln_n_times_the_optimum(void **state)
{
	(void)state;
	unsigned n_worse = 0;
	for (unsigned run = 0; run < 400; run++) {
		struct obs w = {0};
		struct algo_verdicts v = {0};
		struct sim_rng r;
		size_t n_failed = 0;
		test_rng(&r, run);
		window_random(&w, 9 + run % 8, 5 + run % 20, &r);
		cover(NULL, N_LINKS, &w, &v);
		for (size_t f = 0; f < w.flows.n; f++)
			n_failed += w.flows.n_retx[f] > 0;
		const size_t best = oracle_min_cover(&w);
		if (v.n < best ||
		    (double)v.n > (double)best * (1 + log((double)n_failed)))
			fail_msg("(seed %lu, run %u): %zu, optimum %zu",
			    (unsigned long)test_seed(), run, v.n, best);
		n_worse += v.n > best;
		algo_verdicts_free(&v);
		obs_free(&w);
	}
	/* If greedy were best on each of these windows, they would not have
	 * tested the bound. */
	assert_true(n_worse > 0);
}

/* The classic bad case: two disjoint rows of 7 flows each cover all 14, but
 * columns of 8, 4 and 2 flows are greedier. */
static void the_classic_bad_case_fools_it(void **state)
{
	(void)state;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	for (topo_link row = 0; row < 2; row++)
		for (int i = 0; i < 7; i++)
			WINDOW_ADD(&w, 1, row, i < 4 ? 2 : i < 6 ? 3 : 4);
	cover(NULL, 10, &w, &v);
	assert_int_equal(oracle_min_cover(&w), 2);
	assert_int_equal(v.n, 3);
	assert_true(v.link[0] == 2 && v.score[0] == 8);
	algo_verdicts_free(&v);
	obs_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(links_are_taken_by_the_flows_they_newly_cover),
	    cmocka_unit_test(equal_links_are_taken_by_id_or_by_votes),
	    cmocka_unit_test(renaming_links_renames_the_verdict),
	    cmocka_unit_test(it_takes_the_links_a_naive_greedy_takes),
	    cmocka_unit_test(
		every_flow_is_blamed_on_a_flagged_link_of_its_path),
	    cmocka_unit_test(greedy_is_never_worse_than_ln_n_times_the_optimum),
	    cmocka_unit_test(the_classic_bad_case_fools_it),
	};
	return cmocka_run_group_tests_name("algos/vigil/cover", tests, NULL,
	    NULL);
}
