/* tests/results/tidy_test.c -- tidy rows against sums by hand and the wide table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/table.h"
#include "sim/ratio.h"
#include "sim/stat.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

/* One line, cut into its fields. */
struct line {
	const char *algo, *metric, *unit, *interval;
	double value, lo, hi, se, n, trials, runs;
};

struct tidy {
	char *text;
	size_t n;
	struct line *line;
};

static double number(const char *s)
{
	char *end;
	const double x = strtod(s, &end);
	assert_true(*s && !*end);
	return x;
}

/* N_COORDS fields come first. */
static void cut_line(char *text, size_t n_coords, struct line *l)
{
	char *field[11];
	for (size_t i = 0; i < n_coords; i++)
		assert_non_null(strsep(&text, "\t"));
	for (size_t i = 0; i < 11; i++)
		assert_non_null(field[i] = strsep(&text, "\t"));
	assert_null(text);
	*l = (struct line){field[0], field[1], field[2], field[6],
	    number(field[3]), number(field[4]), number(field[5]),
	    number(field[7]), number(field[8]), number(field[9]),
	    number(field[10])};
}

static void read_tidy(struct tidy *t, const struct res_cube *c,
    const char *const column[], size_t n_columns)
{
	const struct res_table_form form = {.rows = RES_TIDY,
	    .column = column,
	    .n_columns = n_columns};
	size_t size, n_coords = 0;
	*t = (struct tidy){0};
	FILE *out = open_memstream(&t->text, &size);
	assert_ok(res_table(c, &form, out, test_err()));
	fclose(out);
	for (size_t a = 0; a < c->n_axes; a++)
		n_coords += c->axis[a].n_coords;
	for (const char *s = t->text; *s; s++)
		t->n += *s == '\n';
	t->n--;
	t->line = calloc(t->n + 1, sizeof(t->line[0]));
	char *rest = t->text;
	strsep(&rest, "\n");
	for (size_t i = 0; i < t->n; i++)
		cut_line(strsep(&rest, "\n"), n_coords, &t->line[i]);
}

static void free_tidy(struct tidy *t)
{
	free(t->line);
	free(t->text);
}

/* --- closed forms ----------------------------------------------------------*/

/* 3 and 5: the mean is 4, its error 1, and Student's quantile for one degree of
 * freedom 12.706. 8 of 16 in two runs that are each all or nothing tell no more
 * than one trial, which may have been either. */
static void numbers_by_hand(void **state)
{
	static const char *const names[] = {"n_drops", "vote:accuracy_all",
	    "vote:precision", "alg1:recall"};
	struct res_cube c;
	struct tidy t;
	double lo, hi;
	(void)state;
	plain_cube(&c, 1, 3);
	all_alike(&c, NAN);
	c.status[2] = RES_FAILED;
	for (size_t r = 0; r < 3; r++) {
		const size_t vote = res_row_doubles(0);
		const struct {
			size_t column;
			double x;
		} set[] = {{RES_TRIAL_n_drops, r == 0 ? 3 : 5},
		    {vote + RES_ALGO_hits_all, r == 0 ? 8 : 0},
		    {vote + RES_ALGO_flows_all, 8},
		    {vote + RES_ALGO_n_flagged, r == 0 ? 4 : 0},
		    {vote + RES_ALGO_n_flagged_true, r == 0 ? 1 : 0}};
		for (size_t i = 0; i < 5; i++)
			res_columns_put(&c.rows, r, set[i].column, set[i].x);
	}
	read_tidy(&t, &c, names, 4);
	assert_int_equal(t.n, 4);
	const struct line *l = t.line;
	assert_string_equal(l[0].algo, "");
	assert_string_equal(l[0].unit, "packets");
	assert_string_equal(l[0].interval, "t");
	assert_true(l[0].value == 4 && l[0].n == 2 && l[0].runs == 2);
	assert_true(isnan(l[0].trials));
	assert_near(l[0].se, 1, 1e-12);
	assert_near(l[0].lo, 4 - 12.7062, 1e-4);
	assert_near(l[0].hi, 4 + 12.7062, 1e-4);
	assert_string_equal(l[1].algo, "vote");
	assert_string_equal(l[1].metric, "accuracy_all");
	assert_string_equal(l[1].interval, "binomial_runs");
	assert_true(l[1].value == 0.5 && l[1].trials == 16);
	assert_true(l[1].lo == 0 && l[1].hi == 1);
	assert_near(l[1].se, 0.5, 1e-12);
	/* In one run of two there was something to be measured. */
	assert_ok(sim_binomial_interval(1, 4, 0.95, &lo, &hi, test_err()));
	assert_string_equal(l[2].interval, "binomial");
	assert_true(l[2].n == 1 && l[2].trials == 4 && l[2].lo == lo &&
	    l[2].hi == hi && isnan(l[2].se));
	/* Nowhere measured, but asked for. */
	assert_string_equal(l[3].interval, "none");
	assert_true(l[3].n == 0 && l[3].runs == 2 && isnan(l[3].value) &&
	    isnan(l[3].lo) && isnan(l[3].hi));
	free_tidy(&t);
	res_cube_free(&c);
}

static void one_run_tells_no_interval_of_a_mean(void **state)
{
	static const char *const names[] = {"n_drops"};
	struct res_cube c;
	struct tidy t;
	(void)state;
	plain_cube(&c, 1, 1);
	all_alike(&c, 7);
	read_tidy(&t, &c, names, 1);
	assert_true(t.line->value == 7 && isnan(t.line->lo) &&
	    isnan(t.line->hi) && isnan(t.line->se));
	assert_string_equal(t.line->interval, "none");
	free_tidy(&t);
	res_cube_free(&c);
}

/* --- against the wide table -------------------------------------------------*/

/* The value of a column at a point; NaN if there is none such. */
static double wide_at(char *text, size_t point, const char *column)
{
	char *copy = strdup(text), *rest = copy, *head = strsep(&rest, "\n");
	for (size_t p = 0; p < point; p++)
		strsep(&rest, "\n");
	char *line = strsep(&rest, "\n"), *name, *field;
	double x = NAN;
	while ((name = strsep(&head, "\t"))) {
		field = strsep(&line, "\t");
		if (strcmp(name, column) == 0)
			x = number(field);
	}
	free(copy);
	return x;
}

static int are_near(double a, double b)
{
	return isnan(a) ? isnan(b) : fabs(a - b) <= 1e-12 * fmax(1, fabs(a));
}

static void check_line(const struct line *l, char *wide, size_t point)
{
	char name[256], suffixed[300];
	snprintf(name, sizeof(name), "%s%s%s", l->algo, *l->algo ? ":" : "",
	    l->metric);
	snprintf(suffixed, sizeof(suffixed), "%s_trials", name);
	const double value = wide_at(wide, point, name);
	/* The wide table has no means of most of an algorithm's numbers. */
	if (isnan(value))
		return;
	if (!are_near(value, l->value))
		fail_msg("%s: %.17g, wide %.17g", name, l->value, value);
	if (l->trials > 0)
		assert_true(l->trials == wide_at(wide, point, suffixed));
	if (strcmp(l->interval, "t") == 0) {
		snprintf(suffixed, sizeof(suffixed), "%s_lo", name);
		assert_true(are_near(wide_at(wide, point, suffixed), l->lo));
	}
	assert_true(isnan(l->lo) ||
	    (l->lo <= l->value + 1e-9 && l->hi >= l->value - 1e-9));
	assert_true(l->n <= l->runs);
	/* An interval of all trials is the wide table's exact one. */
	if (strcmp(l->interval, "binomial") == 0) {
		snprintf(suffixed, sizeof(suffixed), "%s_hi", name);
		assert_true(are_near(wide_at(wide, point, suffixed), l->hi));
	}
}

static void values_are_those_of_the_wide_table(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 30; run++) {
		struct res_cube c;
		struct tidy t;
		char *wide = NULL;
		size_t size;
		random_cube(&c, run);
		for (size_t a = 0; a < c.n_algos; a++)
			for (char *l = c.algo[a]; *l; l++)
				*l = strchr("\t\n\r", *l) ? '_' : *l;
		FILE *out = open_memstream(&wide, &size);
		assert_ok(res_table_write(&c, out, test_err()));
		fclose(out);
		read_tidy(&t, &c, NULL, 0);
		assert_int_equal(t.n % c.n_points, 0);
		for (size_t i = 0; i < t.n; i++)
			check_line(&t.line[i], wide, i / (t.n / c.n_points));
		free_tidy(&t);
		free(wide);
		res_cube_free(&c);
	}
}

/* --- what is refused --------------------------------------------------------*/

static int write_tidy(void *cube, struct sim_err *e)
{
	const struct res_table_form form = {.rows = RES_TIDY};
	FILE *out = fopen("/dev/null", "w");
	const int rc = res_table(cube, &form, out, e);
	fclose(out);
	return rc;
}

static void mistakes_are_named(void **state)
{
	static const char *const unknown[] = {"vote:recal"};
	const struct res_table_form form = {.rows = RES_TIDY,
	    .column = unknown,
	    .n_columns = 1};
	struct res_cube c;
	struct sim_err e;
	(void)state;
	plain_cube(&c, 2, 2);
	all_alike(&c, 1);
	assert_int_equal(res_table(&c, &form, stderr, &e), SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "there is no metric \"vote:recal\"; did you mean \"vote:recall\"?");
	res_columns_put(&c.rows, 0, res_row_doubles(0) + RES_ALGO_hits_all, 9);
	assert_int_equal(write_tidy(&c, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "accuracy_all of vote at point 0"));
	free(c.axis[0].coord[0].name);
	c.axis[0].coord[0].name = strdup("value");
	assert_int_equal(write_tidy(&c, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "an axis is called \"value\""));
	res_cube_free(&c);
}

static void each_failed_allocation_of_tidy_rows_is_reported(void **state)
{
	struct res_cube c;
	(void)state;
	plain_cube(&c, 2, 2);
	all_alike(&c, 1);
	test_each_alloc_fails(write_tidy, &c);
	res_cube_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_by_hand),
	    cmocka_unit_test(one_run_tells_no_interval_of_a_mean),
	    cmocka_unit_test(values_are_those_of_the_wide_table),
	    cmocka_unit_test(mistakes_are_named),
	    cmocka_unit_test(each_failed_allocation_of_tidy_rows_is_reported),
	};
	return cmocka_run_group_tests_name("results/tidy", tests, NULL, NULL);
}
