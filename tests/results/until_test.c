/* tests/results/until_test.c -- criteria that end points, read and refused.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What they decide is held against a computation by hand in
 * tests/experiments/sweep/run_test.c, their coverage in tests/sim/looks_test.c.
 */
#include "results/until.h"

#include "results/h5.h"
#include "sim/text.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

static void until(struct res_cube *c, const char *text)
{
	free(c->until);
	assert_ok(sim_dup(&c->until, text, test_err()));
}

static void a_criterion_is_a_line_of_text(void **state)
{
	char *text;
	(void)state;
	assert_ok(res_until_make(&text, 0.01, "recall", NULL, test_err()));
	assert_string_equal(text, "0.01 recall");
	free(text);
	assert_ok(
	    res_until_make(&text, 0.25, "recall", "it's one", test_err()));
	assert_string_equal(text, "0.25 recall it's one");
	free(text);
}

/* 400 runs of which each hits all. */
static void sure_cube(struct res_cube *c, size_t n_points)
{
	plain_cube(c, n_points, 400);
	for (size_t i = 0; i < c->n_rows; i++)
		for (size_t a = 0; a < 2; a++) {
			const size_t at = res_row_doubles(a);
			res_columns_put(&c->rows, i, at + RES_ALGO_hits_fault,
			    5);
			res_columns_put(&c->rows, i, at + RES_ALGO_flows_fault,
			    5);
		}
}

/* Runs that were not done end the prefix, and those behind them count for
 * nothing. */
static void only_runs_without_a_gap_count(void **state)
{
	struct res_cube c;
	struct sim_looks l;
	uint32_t wanted[3];
	(void)state;
	sure_cube(&c, 3);
	until(&c, "0.05 accuracy_fault");
	assert_ok(res_until_check(&c, &l, test_err()));
	res_cube_put(&c, 1, l.at[0] - 1, RES_NOT_RUN, NULL);
	res_cube_put(&c, 2, l.at[0], RES_FAILED, NULL);
	assert_ok(res_until_decide(&c, wanted, test_err()));
	assert_int_equal(c.n_used[0], l.at[0]);
	assert_int_equal(c.n_used[1], 0);
	assert_int_equal(wanted[1], l.at[0]);
	assert_int_equal(c.n_used[2], l.at[0]);
	struct res_until_sum sum;
	assert_ok(res_until_sum(&c, &sum, test_err()));
	assert_int_equal(sum.n_met, 2);
	assert_int_equal(sum.n_open, 1);
	assert_int_equal(sum.n_all, 0);
	assert_int_equal(sum.least, l.at[0]);
	assert_int_equal(sum.most, l.at[0]);
	/* Progress is of those that count, and of all of the open one. */
	assert_int_equal(res_cube_progress(&c).n_cells, 2 * l.at[0] + 400);
	res_cube_free(&c);
}

/* One algorithm that never hits the same way twice holds the point up, unless
 * the criterion is of the other. */
static void all_algorithms_count_or_the_one_that_is_named(void **state)
{
	struct res_cube c;
	(void)state;
	sure_cube(&c, 1);
	for (size_t i = 0; i < c.n_rows; i++)
		res_columns_put(&c.rows, i,
		    res_row_doubles(1) + RES_ALGO_hits_fault, i % 2 ? 0 : 5);
	const struct {
		const char *until;
		int early;
	} cases[] = {{"0.03 accuracy_fault", 0},
	    {"0.03 accuracy_fault alg1", 0}, {"0.03 accuracy_fault vote", 1}};
	for (size_t i = 0; i < 3; i++) {
		until(&c, cases[i].until);
		assert_ok(res_until_decide(&c, NULL, test_err()));
		assert_int_equal(c.n_used[0] < 400, cases[i].early);
	}
	res_cube_free(&c);
}

static void intervals_are_of_the_criterion_alone(void **state)
{
	struct res_cube c;
	struct sim_ratio r;
	(void)state;
	sure_cube(&c, 1);
	assert_int_equal(res_until_interval(&c, 0, "accuracy_fault", "vote", &r,
			     test_err()),
	    0);
	until(&c, "0.05 accuracy_fault vote");
	assert_int_equal(res_until_interval(&c, 0, "accuracy_fault", "vote", &r,
			     test_err()),
	    1);
	assert_true(r.value == 1 && r.hi == 1 && r.lo < 1);
	assert_int_equal(res_until_interval(&c, 0, "accuracy_fault", "alg1", &r,
			     test_err()),
	    0);
	assert_int_equal(res_until_interval(&c, 0, "recall", "vote", &r,
			     test_err()),
	    0);
	assert_int_equal(res_until_interval(&c, 0, "accuracy_fault", NULL, &r,
			     test_err()),
	    0);
	res_cube_free(&c);
}

static void files_keep_it_and_their_cells_decide(void **state)
{
	struct res_cube c, back;
	struct sim_err e;
	(void)state;
	const char *path = test_path("until.h5");
	sure_cube(&c, 2);
	until(&c, "0.05 accuracy_fault");
	assert_ok(res_until_decide(&c, NULL, test_err()));
	assert_ok(res_h5_write(&c, path, test_err()));
	assert_ok(res_h5_read(&back, path, test_err()));
	assert_same_cube(&c, &back);
	assert_string_equal(back.until, c.until);
	assert_memory_equal(back.n_used, c.n_used, 2 * sizeof(c.n_used[0]));
	assert_true(res_cube_key(&back) == res_cube_key(&c));
	res_cube_free(&back);
	const uint64_t key = res_cube_key(&c);
	until(&c, "0.05 acuracy_fault");
	assert_true(res_cube_key(&c) != key);
	assert_ok(res_h5_write(&c, path, test_err()));
	assert_int_equal(res_h5_read(&back, path, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, "did you mean \"accuracy_fault\""));
	res_cube_free(&c);
}

static void a_shard_has_none(void **state)
{
	struct res_cube c;
	struct sim_err e;
	(void)state;
	random_shard(&c, 4, 0, 2);
	until(&c, "0.05 accuracy_fault");
	assert_int_equal(res_until_check(&c, NULL, &e), SIM_EUNSUPPORTED);
	assert_non_null(strstr(e.msg, "a shard has a part of them"));
	res_cube_free(&c);
}

static void assert_no_criterion(struct res_cube *c, const char *text,
    const char *says)
{
	struct sim_err e = {0};
	until(c, text);
	assert_int_equal(res_until_check(c, NULL, &e), SIM_EINVAL);
	assert_string_equal(e.msg, says);
}

static void what_is_no_criterion_says_why(void **state)
{
	(void)state;
	struct res_cube c;
	plain_cube(&c, 1, 4);
	assert_ok(res_until_check(&c, NULL, test_err()));
	until(&c, "0.05 drop_rate");
	assert_ok(res_until_check(&c, NULL, test_err()));
	assert_no_criterion(&c, "0.01",
	    "\"0.01\" is no criterion, as \"0.01 accuracy_fault\" is.");
	assert_no_criterion(&c, "x recall",
	    "\"x recall\" is no criterion, as \"0.01 accuracy_fault\" is.");
	assert_no_criterion(&c, "0.05 recal",
	    "\"recal\" is no ratio, whose interval could end a point; did you "
	    "mean \"recall\"?");
	assert_no_criterion(&c, "0.05 drop_rat",
	    "\"drop_rat\" is no ratio, whose interval could end a point; did "
	    "you mean \"drop_rate\"?");
	assert_no_criterion(&c, "0.05 zzzzzzzzz",
	    "\"zzzzzzzzz\" is no ratio, whose interval could end a point; did "
	    "you mean \"accuracy_fault\"?");
	assert_no_criterion(&c, "0.05 drop_rate vote",
	    "drop_rate is of a trial, not of an algorithm as \"vote\".");
	assert_no_criterion(&c, "0.05 recall votes",
	    "no algorithm is labelled \"votes\"; did you mean \"vote\"?");
	assert_no_criterion(&c, "0.05 recall zzzzzz",
	    "no algorithm is labelled \"zzzzzz\"; one is \"vote\".");
	assert_no_criterion(&c, "0.5 recall",
	    "half the width of an interval is 0.5, not in (0, 0.5).");
	const size_t n_algos = c.n_algos;
	c.n_algos = 0;
	assert_no_criterion(&c, "0.05 recall",
	    "recall is of an algorithm, and the spec has none.");
	until(&c, "0.05 drop_rate");
	assert_ok(res_until_check(&c, NULL, test_err()));
	c.n_algos = n_algos;
	res_cube_free(&c);
}

static int decide(void *arg, struct sim_err *e)
{
	struct res_cube *c = arg;
	struct sim_ratio r;
	free(c->n_used);
	c->n_used = NULL;
	const int rc = res_until_decide(c, NULL, e);
	return rc < 0 ? rc
	    : res_until_interval(c, 0, "accuracy_fault", "vote", &r, e) < 0
	    ? SIM_ENOMEM
	    : 0;
}

static void each_failed_allocation_is_reported(void **state)
{
	struct res_cube c;
	(void)state;
	sure_cube(&c, 1);
	until(&c, "0.05 accuracy_fault");
	test_each_alloc_fails(decide, &c);
	res_cube_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_criterion_is_a_line_of_text),
	    cmocka_unit_test(only_runs_without_a_gap_count),
	    cmocka_unit_test(all_algorithms_count_or_the_one_that_is_named),
	    cmocka_unit_test(intervals_are_of_the_criterion_alone),
	    cmocka_unit_test(files_keep_it_and_their_cells_decide),
	    cmocka_unit_test(a_shard_has_none),
	    cmocka_unit_test(what_is_no_criterion_says_why),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("results/until", tests,
	    test_folder_make, test_folder_remove);
}
