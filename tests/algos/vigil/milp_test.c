/* tests/algos/vigil/milp_test.c -- small programs, limits, and a fatal solver.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/milp.h"

#include <limits.h>

#include "tests/test.h"

static const struct algo_milp_limits ample = {.pivots = 1000000, .seconds = 10};

static void add_col(struct algo_milp *m, double cost, double lb, double ub,
    int integer)
{
	const struct algo_milp_col c = {cost, lb, ub, integer};
	assert_ok(algo_milp_add_col(m, c, test_err()));
}

static void add_row(struct algo_milp *m, double lb, double ub, double a,
    double b)
{
	assert_ok(algo_milp_add_row(m, lb, ub, test_err()));
	assert_ok(algo_milp_add_term(m, 0, a, test_err()));
	assert_ok(algo_milp_add_term(m, 1, b, test_err()));
}

static struct algo_solution solve(struct algo_milp *m,
    struct algo_milp_limits limits)
{
	struct algo_solution s;
	assert_ok(algo_milp_solve(m, &limits, &s, test_err()));
	assert_int_equal(s.solves, 1);
	return s;
}

/* max 5x + 4y, 6x + 4y <= 24, x + 2y <= 6: (3, 1.5) relaxed, (4, 0) whole. */
static void a_textbook_program_has_its_textbook_answer(void **state)
{
	(void)state;
	for (int integer = 0; integer < 2; integer++) {
		struct algo_milp m = {0};
		add_col(&m, -5, 0, INFINITY, integer);
		add_col(&m, -4, 0, INFINITY, integer);
		add_row(&m, -INFINITY, 24, 6, 4);
		add_row(&m, -INFINITY, 6, 1, 2);
		const struct algo_solution s = solve(&m, ample);
		assert_int_equal(s.status, ALGO_OPTIMAL);
		assert_near(s.value, integer ? -20 : -21, 1e-9);
		assert_near(s.bound, s.value, 1e-9);
		assert_near(m.x[0], integer ? 4 : 3, 1e-9);
		algo_milp_free(&m);
	}
}

static void equal_bounds_fix_a_column(void **state)
{
	(void)state;
	struct algo_milp m = {0};
	add_col(&m, 1, 2, 2, 1);
	add_col(&m, 1, 0, 9, 1);
	add_row(&m, 5, INFINITY, 1, 1);
	const struct algo_solution s = solve(&m, ample);
	assert_int_equal(s.status, ALGO_OPTIMAL);
	assert_true(s.value == 5 && m.x[0] == 2 && m.x[1] == 3);
	algo_milp_free(&m);
}

static void an_infeasible_program_has_no_answer(void **state)
{
	(void)state;
	struct algo_milp m = {0};
	add_col(&m, 1, 0, 1, 1);
	add_col(&m, 1, 0, 1, 1);
	add_row(&m, 3, INFINITY, 1, 1);
	struct algo_solution s = solve(&m, ample);
	assert_int_equal(s.status, ALGO_NONE);
	assert_true(isnan(s.value) && s.bound == INFINITY);
	/* The relaxation has one: 2x + 2y = 1. */
	algo_milp_clear(&m);
	add_col(&m, 1, 0, 1, 1);
	add_col(&m, 1, 0, 1, 1);
	add_row(&m, 1, 1, 2, 2);
	s = solve(&m, ample);
	assert_int_equal(s.status, ALGO_NONE);
	assert_true(isnan(s.value) && s.bound == INFINITY);
	algo_milp_free(&m);
}

/* Vertex cover of a complete graph: n - 1, relaxed n / 2. */
static void complete_graph(struct algo_milp *m, uint32_t n)
{
	algo_milp_clear(m);
	for (uint32_t i = 0; i < n; i++)
		add_col(m, 1, 0, 1, 1);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++) {
			assert_ok(
			    algo_milp_add_row(m, 1, INFINITY, test_err()));
			assert_ok(algo_milp_add_term(m, i, 1, test_err()));
			assert_ok(algo_milp_add_term(m, j, 1, test_err()));
		}
}

static void limits_leave_an_honest_gap(void **state)
{
	(void)state;
	struct algo_milp m = {0};
	struct algo_milp_limits few = {.pivots = 12, .seconds = 10};
	complete_graph(&m, 9);
	struct algo_solution s = solve(&m, ample);
	assert_int_equal(s.status, ALGO_OPTIMAL);
	assert_true(s.value == 8 && s.bound == 8);

	complete_graph(&m, 9);
	for (int i = 0; i < 9; i++)
		m.x[i] = 1;
	few.starts = 1;
	s = solve(&m, few);
	assert_int_equal(s.status, ALGO_FEASIBLE);
	assert_true(s.value >= 8 && s.value <= 9 && s.bound < 8);
	double sum = 0;
	for (int i = 0; i < 9; i++)
		sum += m.x[i];
	assert_true(sum == s.value);

	complete_graph(&m, 9);
	few.starts = 0;
	few.pivots = 2;
	s = solve(&m, few);
	assert_int_equal(s.status, ALGO_NONE);
	assert_true(isnan(s.value) && s.bound <= 5);
	algo_milp_free(&m);
}

/* A start as good as the relaxation needs no search. */
static void a_start_is_taken_at_its_word(void **state)
{
	(void)state;
	struct algo_milp m = {0};
	struct algo_milp_limits limits = ample;
	limits.starts = 1;
	complete_graph(&m, 3);
	m.x[0] = m.x[1] = 1;
	const struct algo_solution s = solve(&m, limits);
	assert_int_equal(s.status, ALGO_OPTIMAL);
	assert_true(s.value == 2 && s.bound == 2 && m.x[0] == 1);
	algo_milp_free(&m);
}

static void pivots_spent_are_taken_off_the_limit(void **state)
{
	(void)state;
	struct algo_milp m = {0};
	struct algo_milp_limits limits = ample;
	struct algo_solution s;
	complete_graph(&m, 9);
	assert_ok(algo_milp_solve(&m, &limits, &s, test_err()));
	assert_true(limits.pivots < ample.pivots);
	const uint32_t spent = ample.pivots - limits.pivots;
	limits.pivots = spent;
	complete_graph(&m, 9);
	assert_ok(algo_milp_solve(&m, &limits, &s, test_err()));
	assert_int_equal(limits.pivots, 0);
	algo_milp_free(&m);
}

/* A column twice in a row is a fatal error to GLPK, which would abort. */
static void a_fatal_error_of_the_solver_is_an_error_and_no_more(void **state)
{
	(void)state;
	struct algo_milp m = {0};
	struct algo_milp_limits limits = ample;
	struct algo_solution s;
	struct sim_err e = {0};
	for (int i = 0; i < 3; i++) {
		algo_milp_clear(&m);
		for (int j = 0; j < 3; j++)
			add_col(&m, 1, 0, 1, 1);
		add_row(&m, 1, INFINITY, 1, 1);
		assert_ok(algo_milp_add_term(&m, 1, 1, test_err()));
		assert_int_equal(algo_milp_solve(&m, &limits, &s, &e),
		    SIM_EDEP);
		assert_non_null(strstr(e.msg, "GLPK gave up"));
		assert_non_null(strstr(e.msg, "duplicate"));
		assert_null(strstr(e.msg, " ."));
		complete_graph(&m, 5);
		assert_true(solve(&m, ample).value == 4);
	}
	algo_milp_free(&m);
}

/* The solver numbers them by int. */
static void there_are_below_2_31_of_each(void **state)
{
	(void)state;
	static const char full[] =
	    "a program of more than 2147483647 rows, columns or terms is too "
	    "large.";
	struct algo_milp m = {.n_cols = INT_MAX};
	const struct algo_milp_col c = {1, 0, 1, 1};
	struct sim_err e = {0};
	assert_int_equal(algo_milp_add_col(&m, c, &e), SIM_ELIMIT);
	assert_string_equal(e.msg, full);
	m = (struct algo_milp){.n_rows = INT_MAX};
	assert_int_equal(algo_milp_add_row(&m, 0, 1, &e), SIM_ELIMIT);
	m = (struct algo_milp){.n_rows = 1, .n_cols = 1, .n_terms = INT_MAX};
	assert_int_equal(algo_milp_add_term(&m, 0, 1, &e), SIM_ELIMIT);
	assert_string_equal(e.msg, full);
}

static int build(void *arg, struct sim_err *e)
{
	struct algo_milp m = {0};
	const struct algo_milp_col c = {1, 0, 1, 1};
	int rc;
	(void)arg;
	for (int i = 0; i < 20; i++)
		if ((rc = algo_milp_add_col(&m, c, e)) < 0 ||
		    (rc = algo_milp_add_row(&m, 1, INFINITY, e)) < 0 ||
		    (rc = algo_milp_add_term(&m, 0, 1, e)) < 0)
			break;
	algo_milp_free(&m);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	test_each_alloc_fails(build, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_textbook_program_has_its_textbook_answer),
	    cmocka_unit_test(equal_bounds_fix_a_column),
	    cmocka_unit_test(an_infeasible_program_has_no_answer),
	    cmocka_unit_test(limits_leave_an_honest_gap),
	    cmocka_unit_test(a_start_is_taken_at_its_word),
	    cmocka_unit_test(pivots_spent_are_taken_off_the_limit),
	    cmocka_unit_test(
		a_fatal_error_of_the_solver_is_an_error_and_no_more),
	    cmocka_unit_test(there_are_below_2_31_of_each),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/vigil/milp", tests, NULL,
	    NULL);
}
