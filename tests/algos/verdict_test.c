/* tests/algos/verdict_test.c -- verdicts: order, competition ranks, growth.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/verdict.h"

#include "tests/test.h"

static void add(struct algo_verdicts *v, topo_link l, double score)
{
	assert_ok(algo_verdicts_add(v, l, score, test_err()));
}

static void equal_scores_share_a_rank_and_the_next_one_is_skipped(void **state)
{
	(void)state;
	struct algo_verdicts v = {0};
	assert_int_equal(algo_verdicts_rank(&v, 3), 1);
	add(&v, 10, 2.5);
	add(&v, 11, 7.25);
	add(&v, 12, 2.5);
	add(&v, 13, 0.125);
	add(&v, 14, 0);
	assert_int_equal(algo_verdicts_rank(&v, 11), 1);
	assert_int_equal(algo_verdicts_rank(&v, 10), 2);
	assert_int_equal(algo_verdicts_rank(&v, 12), 2);
	assert_int_equal(algo_verdicts_rank(&v, 13), 4);
	assert_int_equal(algo_verdicts_rank(&v, 14), 5);
	assert_int_equal(algo_verdicts_rank(&v, 99), 5);
	algo_verdicts_free(&v);
}

static void sorting_leaves_flagged_links_in_their_order(void **state)
{
	(void)state;
	struct algo_verdicts v = {.flags = 1};
	add(&v, 5, 1.5);
	add(&v, 4, 9.75);
	v.n_flagged = 2;
	add(&v, 9, 0.25);
	add(&v, 3, 2.125);
	add(&v, 2, 0.25);
	algo_verdicts_sort(&v);
	const topo_link want[] = {5, 4, 3, 2, 9};
	assert_memory_equal(v.link, want, sizeof(want));
	assert_true(v.score[2] == 2.125 && v.score[4] == 0.25);
	algo_verdicts_free(&v);
}

struct pair {
	double score;
	topo_link link;
};

static int compare(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return x->link < y->link ? -1 : x->link > y->link;
}

static void sorting_agrees_with_qsort_on_random_lists(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 300; run++) {
		struct algo_verdicts v = {0};
		struct pair want[64];
		struct sim_rng r;
		test_rng(&r, run);
		const size_t n = sim_rng_below(&r, 64);
		const size_t flagged = n ? sim_rng_below(&r, (uint32_t)n) : 0;
		for (size_t i = 0; i < n; i++) {
			want[i].score = sim_rng_below(&r, 9) / 4.0;
			want[i].link = (topo_link)(i * 7 % 64);
			add(&v, want[i].link, want[i].score);
		}
		v.n_flagged = flagged;
		qsort(want + flagged, n - flagged, sizeof(*want), compare);
		algo_verdicts_sort(&v);
		for (size_t i = 0; i < n; i++)
			if (v.link[i] != want[i].link ||
			    v.score[i] != want[i].score)
				fail_msg("(seed %lu, run %u): entry %zu",
				    (unsigned long)test_seed(), run, i);
		algo_verdicts_free(&v);
	}
}

static void what_is_said_stays_with_its_component(void **state)
{
	(void)state;
	struct algo_verdicts v = {0};
	for (topo_link l = 0; l < 40; l++)
		add(&v, l, (l * 7) % 40);
	assert_ok(algo_verdicts_say(&v, 5, ALGO_WAY_BURSTS, test_err()));
	assert_ok(algo_verdicts_say(&v, 90, ALGO_WAY_SWALLOWS, test_err()));
	assert_int_equal(v.n, 41);
	algo_verdicts_sort(&v);
	for (size_t i = 0; i < v.n; i++)
		assert_int_equal(v.way[i],
		    v.link[i] == 5        ? ALGO_WAY_BURSTS
			: v.link[i] == 90 ? ALGO_WAY_SWALLOWS
					  : ALGO_WAY_UNSAID);
	algo_verdicts_clear(&v);
	for (topo_link l = 0; l < 41; l++)
		add(&v, l, 1);
	for (size_t i = 0; i < v.n; i++)
		assert_int_equal(v.way[i], ALGO_WAY_UNSAID);
	algo_verdicts_free(&v);
}

static void reserved_flows_are_blamed_on_nothing(void **state)
{
	(void)state;
	struct algo_verdicts v = {0};
	assert_ok(algo_verdicts_reserve_flows(&v, 3, test_err()));
	v.blame[1] = 17;
	v.solution.solves = 1;
	algo_verdicts_clear(&v);
	assert_int_equal(v.solution.solves, 0);
	assert_int_equal(v.n_flows, 0);
	assert_ok(algo_verdicts_reserve_flows(&v, 2, test_err()));
	assert_int_equal(v.n_flows, 2);
	assert_true(v.blame[0] == TOPO_NONE && v.blame[1] == TOPO_NONE);
	algo_verdicts_free(&v);
	assert_null(v.blame);
	algo_verdicts_free(&v);
}

static int fill(void *arg, struct sim_err *e)
{
	(void)arg;
	struct algo_verdicts v = {0};
	int rc = 0;
	for (topo_link l = 0; l < 50 && rc == 0; l++)
		rc = algo_verdicts_add(&v, l, 0.5 * l, e);
	for (size_t i = 0; i < v.n; i++)
		assert_true(v.link[i] == i && v.score[i] == 0.5 * (double)i);
	if (rc == 0)
		rc = algo_verdicts_reserve_flows(&v, 9, e);
	algo_verdicts_free(&v);
	return rc;
}

static void a_link_without_memory_leaves_the_list_as_it_was(void **state)
{
	(void)state;
	test_each_alloc_fails(fill, NULL);
}

static void printing_marks_flagged_links_and_blamed_flows(void **state)
{
	(void)state;
	struct algo_verdicts v = {.flags = 1};
	add(&v, 8, 2.5);
	v.n_flagged = 1;
	add(&v, 6, 0.2);
	assert_ok(algo_verdicts_reserve_flows(&v, 2, test_err()));
	v.blame[1] = 8;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	algo_verdicts_print(&v, out);
	v.flags = 0;
	v.solution = (struct algo_solution){1, ALGO_FEASIBLE, 9, 7};
	algo_verdicts_print(&v, out);
	fclose(out);
	const char *links = "* link 8 score 2.5\n  link 6 score 0.2\n";
	const char *flows = "2 flows\n  flow 1 link 8\n";
	char want[300];
	snprintf(want, sizeof(want),
	    "2 links, 1 flagged\n%s%s2 links, 1 flagged (ranks only)\n%s"
	    "value 9, bound 7, feasible\n%s",
	    links, flows, links, flows);
	assert_string_equal(text, want);
	free(text);
	algo_verdicts_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		equal_scores_share_a_rank_and_the_next_one_is_skipped),
	    cmocka_unit_test(sorting_leaves_flagged_links_in_their_order),
	    cmocka_unit_test(sorting_agrees_with_qsort_on_random_lists),
	    cmocka_unit_test(what_is_said_stays_with_its_component),
	    cmocka_unit_test(reserved_flows_are_blamed_on_nothing),
	    cmocka_unit_test(a_link_without_memory_leaves_the_list_as_it_was),
	    cmocka_unit_test(printing_marks_flagged_links_and_blamed_flows),
	};
	return cmocka_run_group_tests_name("algos/verdict", tests, NULL, NULL);
}
