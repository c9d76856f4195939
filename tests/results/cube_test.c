/* tests/results/cube_test.c -- cells, keys and merges of cubes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/cube.h"

#include "sim/text.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

static void points_count_with_the_last_axis_fastest(void **state)
{
	(void)state;
	struct res_axis axis[3] = {{.n = 2}, {.n = 3}, {.n = 5}};
	const struct res_cube c = {.n_axes = 3, .axis = axis, .n_points = 30};
	size_t at[3], p = 0;
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 3; j++)
			for (size_t k = 0; k < 5; k++) {
				res_cube_at(&c, p++, at);
				assert_int_equal(at[0], i);
				assert_int_equal(at[1], j);
				assert_int_equal(at[2], k);
			}
}

static void a_row_holds_the_trial_and_then_each_algorithm(void **state)
{
	(void)state;
	struct res_cube c;
	plain_cube(&c, 3, 4);
	assert_int_equal(c.row_doubles,
	    RES_N_TRIAL_METRICS + 2 * RES_N_ALGO_METRICS);
	for (size_t p = 0; p < 3; p++)
		for (size_t r = 0; r < 4; r++) {
			double cell = (double)(10 * p + r);
			assert_true(
			    res_cube_value(&c, p, r, RES_TRIAL_n_drops) ==
			    1000.0 * RES_TRIAL_n_drops + cell);
			for (size_t a = 0; a < 2; a++)
				assert_true(
				    res_cube_value(&c, p, r,
					res_row_doubles(a) + RES_ALGO_n_top) ==
				    1000.0 *
					    (double)(RES_N_TRIAL_METRICS +
						a * RES_N_ALGO_METRICS +
						RES_ALGO_n_top) +
					cell);
		}
	res_cube_free(&c);
}

static void cells_that_did_not_run_or_crashed_have_no_numbers(void **state)
{
	(void)state;
	struct res_cube c;
	plain_cube(&c, 2, 2);
	double *row = calloc(c.row_doubles, sizeof(*row));
	assert_non_null(row);
	res_cube_put(&c, 0, 1, RES_CRASHED, row);
	res_cube_put(&c, 1, 0, RES_NOT_RUN, row);
	free(row);
	res_cube_put(&c, 1, 1, RES_FAILED, NULL);
	for (size_t i = 1; i < 4; i++)
		for (size_t j = 0; j < c.row_doubles; j++)
			assert_true(isnan(res_columns_get(&c.rows, i, j)));
	assert_true(res_cube_value(&c, 0, 0, 1) == 1000);
	res_cube_free(&c);
}

/* 2 points of a sweep, each read along 3 x 2; 4 runs. */
static void axes_2_3_2(struct res_axis axis[3], struct res_cube *c)
{
	axis[0] = axis[2] = (struct res_axis){.n = 2};
	axis[1] = (struct res_axis){.n = 3};
	*c = (struct res_cube){.n_axes = 3,
	    .axis = axis,
	    .n_points = 12,
	    .n_along = 6,
	    .n_runs = 4,
	    .n_algos = 1,
	    .shard_n = 1};
}

static void forget_axes(struct res_cube *c)
{
	c->axis = NULL;
	c->n_axes = 0;
	res_cube_free(c);
}

static void a_cell_fills_the_points_it_is_read_along(void **state)
{
	(void)state;
	struct res_axis axis[3];
	struct res_cube c;
	double *row;
	axes_2_3_2(axis, &c);
	assert_ok(res_cube_alloc(&c, test_err()));
	assert_int_equal(c.cell_doubles, 6 * c.row_doubles);
	assert_int_equal(res_cube_cells(&c), 2 * 4);
	assert_int_equal(res_cube_outer_axes(&c), 1);
	row = calloc(c.cell_doubles, sizeof(*row));
	for (size_t i = 0; i < c.cell_doubles; i++)
		row[i] = (double)i;
	res_cube_put(&c, 1, 3, RES_DONE, row);
	for (size_t p = 0; p < 12; p++)
		for (size_t r = 0; r < 4; r++) {
			const int ours = p >= 6 && r == 3;
			const double x = res_cube_value(&c, p, r, 2);
			assert_int_equal(c.status[p * 4 + r],
			    ours ? RES_DONE : RES_NOT_RUN);
			assert_true(ours
				? x == (double)((p - 6) * c.row_doubles + 2)
				: isnan(x));
		}
	for (size_t cell = 0; cell < 8; cell++)
		assert_int_equal(res_cube_status(&c, cell),
		    cell == 7 ? RES_DONE : RES_NOT_RUN);
	assert_int_equal(res_cube_progress(&c).n_cells, 8);
	assert_int_equal(res_cube_progress(&c).n_done, 1);
	free(row);
	forget_axes(&c);
}

static void a_cell_is_read_along_whole_axes_and_the_last_ones(void **state)
{
	(void)state;
	static const struct {
		size_t n_along, n_outer; /* 0: refused */
	} cases[] = {{1, 3}, {2, 2}, {3, 0}, {4, 0}, {5, 0}, {6, 1}, {12, 0},
	    {24, 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_err e;
		struct res_axis axis[3];
		struct res_cube c;
		axes_2_3_2(axis, &c);
		c.n_along = cases[i].n_along;
		const int all = c.n_along == 12;
		const int rc = res_cube_alloc(&c, &e);
		assert_int_equal(rc, cases[i].n_outer || all ? 0 : SIM_EINVAL);
		if (rc == 0)
			assert_int_equal(res_cube_outer_axes(&c),
			    cases[i].n_outer);
		else
			assert_non_null(strstr(e.msg, "points a cell"));
		forget_axes(&c);
	}
}

static void an_empty_cube_has_no_cells(void **state)
{
	(void)state;
	const struct res_cube c = {0};
	assert_int_equal(res_cube_cells(&c), 0);
	assert_int_equal(res_cube_progress(&c).n_cells, 0);
}

static void counts_that_make_no_cube_are_refused(void **state)
{
	(void)state;
	struct sim_err e;
	struct res_axis axis[2] = {{.n = 3}, {.n = 1}};
	struct res_cube c = {.n_algos = 1,
	    .n_runs = 1,
	    .n_axes = 1,
	    .axis = axis,
	    .n_points = 4};
	assert_int_equal(res_cube_alloc(&c, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "4 points, but the axes span 3"));
	c.n_points = 3;
	c.n_runs = 0;
	assert_int_equal(res_cube_alloc(&c, &e), SIM_EINVAL);
	c.n_runs = 1;
	c.n_runs = ((size_t)1 << 31) / 3 + 1;
	assert_int_equal(res_cube_alloc(&c, &e), SIM_ELIMIT);
	axis[1].n = SIZE_MAX;
	c.n_axes = 2;
	assert_int_equal(res_cube_alloc(&c, &e), SIM_ELIMIT);
	assert_null(c.rows.bits);
}

static void progress_counts_the_cells_of_the_shard(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 50; run++) {
		struct res_cube c;
		uint64_t n[4] = {0}, all = 0;
		random_cube(&c, run);
		struct res_progress p = res_cube_progress(&c);
		for (size_t i = 0; i < c.n_points; i += c.n_along)
			for (size_t r = 0; r < c.n_runs; r++)
				if ((i / c.n_along * c.n_runs + r) %
					c.shard_n ==
				    c.shard_i) {
					n[res_cube_run_status(&c, i, r)]++;
					all++;
				}
		assert_int_equal(p.n_cells, all);
		assert_int_equal(p.n_done, n[RES_DONE]);
		assert_int_equal(p.n_failed, n[RES_FAILED]);
		assert_int_equal(p.n_crashed, n[RES_CRASHED]);
		res_cube_free(&c);
	}
}

/* Vectors published with FNV (isthe.com/chongo/tech/comp/fnv). */
static void the_hash_is_fnv_1a(void **state)
{
	(void)state;
	assert_true(sim_fnv(SIM_FNV_START, "", 0) == 0xcbf29ce484222325);
	assert_true(sim_fnv(SIM_FNV_START, "a", 1) == 0xaf63dc4c8601ec8c);
	assert_true(sim_fnv(SIM_FNV_START, "foobar", 6) == 0x85944171f73967e8);
	uint64_t h = sim_fnv(SIM_FNV_START, "foo", 3);
	assert_true(sim_fnv(h, "bar", 3) == 0x85944171f73967e8);
}

static uint64_t key_of(const char *figure, const char *spec,
    const char *overrides)
{
	const struct res_cube c = {
	    .figure = (char *)figure,
	    .spec = (char *)spec,
	    .spec_bytes = strlen(spec),
	    .overrides = (char *)overrides,
	};
	return res_cube_key(&c);
}

static void every_part_of_the_identity_changes_the_key(void **state)
{
	(void)state;
	const uint64_t key[] = {
	    key_of("a", "b", "c"),
	    key_of("x", "b", "c"),
	    key_of("a", "x", "c"),
	    key_of("a", "b", "x"),
	    key_of("ab", "", "c"),
	    key_of("", "ab", "c"),
	    key_of("a", "bc", ""),
	};
	const size_t n = sizeof(key) / sizeof(key[0]);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			assert_true(key[i] != key[j]);
	assert_true(key[0] == key_of("a", "b", "c"));
}

static uint64_t build_key_of(const char *build, const char *libraries)
{
	const struct res_cube c = {
	    .build = (char *)build,
	    .libraries = (char *)libraries,
	};
	return res_cube_build_key(&c);
}

static void a_build_is_its_program_and_its_libraries(void **state)
{
	(void)state;
	const uint64_t key = build_key_of("ab", "c");
	assert_true(key == build_key_of("ab", "c"));
	assert_true(key != build_key_of("ax", "c"));
	assert_true(key != build_key_of("ab", "x"));
	assert_true(key != build_key_of("a", "bc"));
}

/* Shards hold all of the whole between them, each cell once, and nothing else. */
static void shards_hold_their_own_cells_alone(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 30; run++) {
		struct res_cube whole, part;
		const uint32_t n = 1 + run % 7;
		size_t n_rows = 0;
		random_shard(&whole, run, 0, 1);
		for (uint32_t i = 0; i < n; i++) {
			random_shard(&part, run, i, n);
			n_rows += part.n_rows;
			for (size_t p = 0; p < whole.n_points; p++)
				for (size_t r = 0; r < whole.n_runs; r++) {
					const size_t cell =
					    p / whole.n_along * whole.n_runs +
					    r;
					const int ours = cell % n == i;
					const double x =
					    res_cube_value(&part, p, r, 0);
					const double want = ours
					    ? res_cube_value(&whole, p, r, 0)
					    : NAN;
					assert_int_equal(res_cube_holds(&part,
							     p / whole.n_along,
							     r),
					    ours);
					assert_int_equal(
					    res_cube_run_status(&part, p, r),
					    ours ? res_cube_run_status(&whole,
						       p, r)
						 : RES_NOT_RUN);
					assert_true(x == want ||
					    (isnan(x) && isnan(want)));
				}
			res_cube_free(&part);
		}
		assert_int_equal(n_rows, whole.n_points * whole.n_runs);
		res_cube_free(&whole);
	}
}

static void other_shards_are_not_mixed_in(void **state)
{
	(void)state;
	struct sim_err e;
	struct res_cube a, b;
	random_shard(&a, 3, 0, 3);
	random_shard(&b, 3, 2, 3);
	assert_int_equal(res_cube_merge(&a, &b, &e), SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "one is shard 1/3, the other 3/3."));
	res_cube_free(&a);
	res_cube_free(&b);
}

static void merging_a_cube_with_itself_changes_nothing(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 30; run++) {
		struct res_cube a, b;
		random_cube(&a, run);
		random_cube(&b, run);
		assert_ok(res_cube_merge(&a, &b, test_err()));
		assert_same_cube(&a, &b);
		res_cube_free(&a);
		res_cube_free(&b);
	}
}

static void a_done_cell_replaces_one_that_crashed_and_stays(void **state)
{
	(void)state;
	struct res_cube a, b, want;
	plain_cube(&a, 1, 2);
	plain_cube(&b, 1, 2);
	plain_cube(&want, 1, 2);
	res_cube_put(&a, 0, 0, RES_CRASHED, NULL);
	res_cube_put(&b, 0, 1, RES_FAILED, NULL);
	assert_ok(res_cube_merge(&a, &b, test_err()));
	assert_same_cube(&a, &want);
	res_cube_free(&a);
	res_cube_free(&b);
	res_cube_free(&want);
}

static void the_same_cell_with_other_numbers_is_refused(void **state)
{
	(void)state;
	struct sim_err e;
	struct res_cube a, b, before;
	plain_cube(&a, 3, 2);
	plain_cube(&b, 3, 2);
	plain_cube(&before, 3, 2);
	res_cube_put(&a, 0, 0, RES_NOT_RUN, NULL);
	res_cube_put(&before, 0, 0, RES_NOT_RUN, NULL);
	res_columns_put(&b.rows, 2 * 2 + 1, 3,
	    res_columns_get(&b.rows, 2 * 2 + 1, 3) + 1e-9);
	assert_int_equal(res_cube_merge(&a, &b, &e), SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "point 2 run 1"));
	assert_same_cube(&a, &before);
	res_columns_put(&b.rows, 2 * 2 + 1, 3, NAN);
	assert_int_equal(res_cube_merge(&a, &b, &e), SIM_EMISMATCH);
	res_cube_free(&a);
	res_cube_free(&b);
	res_cube_free(&before);
}

static void set_text(char **to, const char *value)
{
	free(*to);
	assert_ok(sim_dup(to, value, test_err()));
}

static void cubes_of_another_identity_are_refused(void **state)
{
	(void)state;
	static const char *const word[] = {"figure other", "specs", "overrides",
	    "made by culprit 9.9", "algorithms", "algorithms", "algorithms",
	    "algorithms", "seed", "axes", "with GSL 9"};
	for (unsigned i = 0; i < 11; i++) {
		struct sim_err e;
		struct res_cube a, b;
		plain_cube(&a, 3, 2);
		plain_cube(&b, 3 + (i == 4), 2 + (i == 5));
		if (i == 0) {
			set_text(&a.figure, "other");
		} else if (i == 1) {
			b.spec[3] = 'X';
		} else if (i == 2) {
			set_text(&b.overrides, "runs=3");
		} else if (i == 3) {
			set_text(&a.version, "9.9");
			set_text(&a.build, "9");
		} else if (i == 6) {
			set_text(&b.algo[1], "cover");
		} else if (i == 7) {
			b.axis[0].coord[0].number[2] = 99;
		} else if (i == 8) {
			b.seed++;
		} else if (i == 9) {
			b.n_along = 3;
		} else if (i == 10) {
			set_text(&b.libraries, "GSL 9");
		}
		assert_int_equal(res_cube_merge(&a, &b, &e), SIM_EMISMATCH);
		assert_non_null(strstr(e.msg, word[i]));
		res_cube_free(&a);
		res_cube_free(&b);
	}
}

static void the_first_override_that_differs_is_told(void **state)
{
	static const char *const of[][3] = {
	    {"runs=3", "runs=4", " differ: \"runs=3\" and \"runs=4\"."},
	    {NULL, "runs=4", " differ: \"\" and \"runs=4\"."},
	    {"a=1\nb=2", "a=1", " differ: \"b=2\" and \"\"."},
	    {"a=1\nfile x.graphml fnv 01", "a=1\nfile x.graphml fnv 02",
		"the contents of file x.graphml differ."},
	    {"file x.graphml fnv 01\nb=2", "file x.graphml fnv 01\nb=3",
		" differ: \"b=2\" and \"b=3\"."},
	    {"file x fnv 01", "file y fnv 02",
		" differ: \"file x fnv 01\" and \"file y fnv 02\"."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct sim_err e;
		struct res_cube a, b;
		plain_cube(&a, 3, 2);
		plain_cube(&b, 3, 2);
		free(a.overrides);
		free(b.overrides);
		a.overrides = of[i][0] ? strdup(of[i][0]) : NULL;
		b.overrides = strdup(of[i][1]);
		assert_int_equal(res_cube_same_sweep(&a, &b, &e),
		    SIM_EMISMATCH);
		assert_non_null(strstr(e.msg, of[i][2]));
		res_cube_free(&a);
		res_cube_free(&b);
	}
}

/* A cell counts once, at however many of the points that it is read along an
 * algorithm did not answer. */
static void cells_with_unanswered_windows_are_counted_once(void **state)
{
	(void)state;
	enum { N_RUNS = 3, N_ALGOS = 2 };
	for (size_t along = 0; along <= 4; along += 2) {
		struct res_axis axis[2] = {{.n = 2}, {.n = 2}};
		struct res_cube c = {.n_axes = 2,
		    .axis = axis,
		    .n_points = 4,
		    .n_along = along,
		    .n_runs = N_RUNS,
		    .n_algos = N_ALGOS,
		    .shard_n = 1};
		const size_t n_along = along ? along : 1;
		assert_ok(res_cube_alloc(&c, test_err()));
		double *row = calloc(c.cell_doubles, sizeof(*row));
		assert_non_null(row);
		for (size_t a = 0; a < N_ALGOS; a++)
			assert_int_equal(res_cube_n_unanswered(&c, a), 0);
		/* Of each run one more point, from the last on backwards. */
		size_t want = 0;
		for (size_t place = 0; place < 4 / n_along; place++)
			for (size_t run = 0; run < N_RUNS; run++) {
				memset(row, 0, c.cell_doubles * sizeof(*row));
				for (size_t i = 0; i < run && i < n_along; i++)
					row[(n_along - 1 - i) * c.row_doubles +
					    res_row_doubles(1) +
					    RES_ALGO_n_unanswered] = 1;
				res_cube_put(&c, place, run, RES_DONE, row);
				want += run > 0;
			}
		assert_int_equal(res_cube_n_unanswered(&c, 0), 0);
		assert_int_equal(res_cube_n_unanswered(&c, 1), want);
		free(row);
		forget_axes(&c);
	}
}

static int alloc_one(void *arg, struct sim_err *e)
{
	struct res_axis *axis = arg;
	struct res_cube c = {.n_algos = 1, .n_runs = 2, .n_points = 3};
	c.n_axes = 1;
	c.axis = axis;
	int rc = res_cube_alloc(&c, e);
	c.axis = NULL;
	c.n_axes = 0;
	res_cube_free(&c);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct res_axis axis = {.n = 3};
	test_each_alloc_fails(alloc_one, &axis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(points_count_with_the_last_axis_fastest),
	    cmocka_unit_test(a_row_holds_the_trial_and_then_each_algorithm),
	    cmocka_unit_test(cells_that_did_not_run_or_crashed_have_no_numbers),
	    cmocka_unit_test(a_cell_fills_the_points_it_is_read_along),
	    cmocka_unit_test(a_cell_is_read_along_whole_axes_and_the_last_ones),
	    cmocka_unit_test(an_empty_cube_has_no_cells),
	    cmocka_unit_test(counts_that_make_no_cube_are_refused),
	    cmocka_unit_test(progress_counts_the_cells_of_the_shard),
	    cmocka_unit_test(the_hash_is_fnv_1a),
	    cmocka_unit_test(every_part_of_the_identity_changes_the_key),
	    cmocka_unit_test(a_build_is_its_program_and_its_libraries),
	    cmocka_unit_test(shards_hold_their_own_cells_alone),
	    cmocka_unit_test(other_shards_are_not_mixed_in),
	    cmocka_unit_test(merging_a_cube_with_itself_changes_nothing),
	    cmocka_unit_test(a_done_cell_replaces_one_that_crashed_and_stays),
	    cmocka_unit_test(the_same_cell_with_other_numbers_is_refused),
	    cmocka_unit_test(cubes_of_another_identity_are_refused),
	    cmocka_unit_test(the_first_override_that_differs_is_told),
	    cmocka_unit_test(cells_with_unanswered_windows_are_counted_once),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("results/cube", tests, NULL, NULL);
}
