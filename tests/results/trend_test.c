/* tests/results/trend_test.c -- slopes of runs as a table, against sums by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/table.h"
#include "sim/ratio.h"
#include "sim/slope.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

/* The last seven fields of a line. */
struct trend_line {
	double points, n, slope, lo, hi, p, least;
};

static char *trend_text(const struct res_cube *c,
    const struct res_table_form *form)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_ok(res_table(c, form, out, test_err()));
	fclose(out);
	return text;
}

/* Line I of the text, from 0 on, behind the head. */
static struct trend_line trend_read(const char *text, unsigned i)
{
	struct trend_line l;
	for (unsigned k = 0; k <= i; k++)
		assert_non_null(text = strchr(text, '\n') + 1);
	const char *end = strchr(text, '\n');
	for (unsigned tabs = 0; tabs < 7; tabs += *end == '\t')
		assert_true(--end > text);
	assert_int_equal(sscanf(end, " %lf %lf %lf %lf %lf %lf %lf", &l.points,
			     &l.n, &l.slope, &l.lo, &l.hi, &l.p, &l.least),
	    7);
	return l;
}

static void put(struct res_cube *c, size_t point, size_t run, size_t column,
    double x)
{
	res_columns_put(&c->rows, res_cube_row(c, point, run), column, x);
}

static const struct res_table_form drops_by_flows = {.rows = RES_TREND,
    .y = "n_drops",
    .x = "n_flows"};

/* Runs with slopes 1, 2 and 6 over three points: mean 3, error sqrt(7/3),
 * Student's quantile for two degrees 4.3027; p is 2/8. */
static void slopes_by_hand(void **state)
{
	struct res_cube c;
	(void)state;
	plain_cube(&c, 3, 4);
	for (size_t p = 0; p < 3; p++)
		for (size_t run = 0; run < 4; run++) {
			const double b[] = {1, 2, 6, 50};
			put(&c, p, run, RES_TRIAL_n_flows, (double)(p * p));
			put(&c, p, run, RES_TRIAL_n_drops,
			    b[run] * (double)(p * p) + 7);
		}
	/* One that failed is none. */
	for (size_t p = 0; p < 3; p++)
		c.status[res_cube_row(&c, p, 3)] = RES_FAILED;
	char *text = trend_text(&c, &drops_by_flows);
	assert_non_null(strstr(text,
	    "y\tx\tpoints\tn\tslope\tlo\thi\tp\tleast_p\n"
	    "n_drops\tn_flows\t3\t3\t"));
	const struct trend_line l = trend_read(text, 0);
	assert_near(l.slope, 3, 1e-12);
	assert_near(l.lo, 3 - 4.302653 * sqrt(7.0 / 3), 1e-5);
	assert_near(l.hi, 3 + 4.302653 * sqrt(7.0 / 3), 1e-5);
	assert_true(l.p == 0.25 && l.least == 0.25);
	free(text);
	/* Where one point is missing the line goes through the other two, and
	 * where X does not change there is none. */
	put(&c, 1, 0, RES_TRIAL_n_drops, NAN);
	put(&c, 0, 1, RES_TRIAL_n_flows, 4);
	put(&c, 1, 1, RES_TRIAL_n_flows, 4);
	put(&c, 2, 1, RES_TRIAL_n_flows, 4);
	text = trend_text(&c, &drops_by_flows);
	assert_true(trend_read(text, 0).n == 2);
	assert_near(trend_read(text, 0).slope, 3.5, 1e-12);
	free(text);
	res_cube_free(&c);
}

/* A row for each value of a key, wherever it comes; ratios, keys and algorithms'
 * metrics. */
static void rows_go_by_values_of_keys(void **state)
{
	static const char *const by[] = {"points"};
	struct res_cube c;
	(void)state;
	plain_cube(&c, 4, 2);
	struct res_coord *k = &c.axis[0].coord[0];
	free(k->name);
	k->name = strdup("points");
	const double at[] = {5, 9, 5, 9};
	memcpy(k->number, at, sizeof(at));
	const struct res_table_form form = {.rows = RES_TREND,
	    .y = "vote:precision",
	    .x = "n_flows",
	    .by = by,
	    .n_by = 1};
	const size_t vote = res_row_doubles(0);
	for (size_t p = 0; p < 4; p++)
		for (size_t run = 0; run < 2; run++) {
			put(&c, p, run, RES_TRIAL_n_flows, (double)p);
			put(&c, p, run, vote + RES_ALGO_n_flagged, 8);
			put(&c, p, run, vote + RES_ALGO_n_flagged_true,
			    at[p] == 5 ? (double)p * 2 : 4);
		}
	char *text = trend_text(&c, &form);
	assert_non_null(strstr(text, "\n5\tvote:precision\tn_flows\t2\t2\t"));
	assert_non_null(strstr(text, "\n9\tvote:precision\tn_flows\t2\t2\t"));
	assert_true(trend_read(text, 0).slope == 0.25);
	assert_true(trend_read(text, 0).p == 0.5);
	assert_true(trend_read(text, 1).slope == 0);
	assert_true(trend_read(text, 1).p == 1);
	free(text);
	/* X may be the key itself; all points are one row then. */
	const struct res_table_form over_key = {.rows = RES_TREND,
	    .y = "n_flows",
	    .x = "points"};
	text = trend_text(&c, &over_key);
	assert_near(trend_read(text, 0).slope, 0.25, 1e-12);
	assert_true(trend_read(text, 0).points == 4);
	free(text);
	res_cube_free(&c);
}

static void names_that_are_none_are_told(void **state)
{
	static const char *const by[] = {"n_drops"};
	struct res_table_form form = drops_by_flows;
	struct sim_err e;
	struct res_cube c;
	FILE *out = fopen("/dev/null", "w");
	(void)state;
	plain_cube(&c, 2, 2);
	form.y = "vote:recal";
	assert_int_equal(res_table(&c, &form, out, &e), SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "did you mean \"recall\"?"));
	form = drops_by_flows;
	form.x = "nothing:recall";
	assert_int_equal(res_table(&c, &form, out, &e), SIM_EMISMATCH);
	form = drops_by_flows;
	form.by = by;
	form.n_by = 1;
	assert_int_equal(res_table(&c, &form, out, &e), SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "\"n_drops\" is no key that is swept."));
	/* The only axis of a plain cube, in words. */
	form = drops_by_flows;
	form.x = c.axis[0].coord[0].name;
	assert_ok(res_table(&c, &form, out, test_err()));
	free(c.axis[0].coord[0].number);
	c.axis[0].coord[0].number = NULL;
	c.axis[0].coord[0].text = calloc(2, sizeof(char *));
	for (size_t i = 0; i < 2; i++)
		c.axis[0].coord[0].text[i] = strdup("word");
	assert_int_equal(res_table(&c, &form, out, &e), SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, " has words, so nothing grows with it."));
	fclose(out);
	res_cube_free(&c);
}

/* Between runs: whole runs right or wrong are worth one trial each. */
static void ratios_have_intervals_between_runs_if_asked(void **state)
{
	const char *const column[] = {"vote:precision_lo", "vote:precision_hi"};
	struct res_table_form form = {.rows = RES_POINTS,
	    .column = column,
	    .n_columns = 2};
	struct sim_ratio r;
	struct res_cube c;
	double got[2][2];
	(void)state;
	plain_cube(&c, 1, 4);
	all_alike(&c, NAN);
	const double num[] = {10, 0, 10, 0}, den[] = {10, 10, 10, 10};
	for (size_t run = 0; run < 4; run++) {
		const size_t vote = res_row_doubles(0);
		put(&c, 0, run, vote + RES_ALGO_n_flagged, den[run]);
		put(&c, 0, run, vote + RES_ALGO_n_flagged_true, num[run]);
	}
	for (int between = 0; between < 2; between++) {
		form.between = between;
		char *text = trend_text(&c, &form);
		assert_int_equal(sscanf(strchr(text, '\n'), " %lf %lf",
				     &got[between][0], &got[between][1]),
		    2);
		free(text);
	}
	assert_ok(sim_ratio_share(&(struct sim_ratio_sample){num, den, 4}, 0.95,
	    &r, test_err()));
	assert_true(got[1][0] == r.lo && got[1][1] == r.hi);
	assert_true(got[0][0] > 0.3 && got[0][1] < 0.7 && r.lo < 0.1);
	res_cube_free(&c);
}

static int trend_to_nowhere(void *arg, struct sim_err *e)
{
	static const char *const by[] = {"faults.count"};
	struct res_table_form form = drops_by_flows;
	FILE *out = fopen("/dev/null", "w");
	form.by = by;
	form.n_by = 1;
	const int rc = res_table(arg, &form, out, e);
	fclose(out);
	return rc;
}

static void memory_may_run_out(void **state)
{
	struct res_cube c;
	(void)state;
	plain_cube(&c, 3, 3);
	test_each_alloc_fails(trend_to_nowhere, &c);
	res_cube_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(slopes_by_hand),
	    cmocka_unit_test(rows_go_by_values_of_keys),
	    cmocka_unit_test(names_that_are_none_are_told),
	    cmocka_unit_test(ratios_have_intervals_between_runs_if_asked),
	    cmocka_unit_test(memory_may_run_out),
	};
	return cmocka_run_group_tests_name("results/trend", tests, NULL, NULL);
}
