/* tests/results/table_test.c -- tables against a slow computation by name.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/table.h"

#include <gsl/gsl_cdf.h>

#include "results/json.h"
#include "sim/stat.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

/* A table as text, cut into lines and fields. */
struct grid {
	char *text;
	size_t n_rows, n_columns; /* with the header */
	char **field;
};

static char *print(int (
		       *put)(const struct res_cube *, FILE *, struct sim_err *),
    const struct res_cube *c)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	assert_ok(put(c, out, test_err()));
	assert_int_equal(fclose(out), 0);
	return text;
}

static int put_runs(const struct res_cube *c, FILE *out, struct sim_err *e)
{
	const struct res_table_form form = {.rows = RES_RUNS};
	return res_table(c, &form, out, e);
}

static int put_json(const struct res_cube *c, FILE *out, struct sim_err *e)
{
	const struct res_table_form form = {.format = RES_JSON};
	return res_table(c, &form, out, e);
}

static void read_text(struct grid *g, char *text)
{
	*g = (struct grid){.text = text, .n_columns = 1};
	for (const char *s = g->text; *s; s++)
		g->n_rows += *s == '\n';
	for (const char *s = g->text; *s != '\n'; s++)
		g->n_columns += *s == '\t';
	g->field = calloc(g->n_rows * g->n_columns, sizeof(g->field[0]));
	char *rest = g->text;
	for (size_t i = 0; i < g->n_rows; i++) {
		char *line = strsep(&rest, "\n");
		for (size_t j = 0; j < g->n_columns; j++) {
			assert_non_null(line);
			g->field[i * g->n_columns + j] = strsep(&line, "\t");
		}
		assert_null(line);
	}
	assert_string_equal(rest, "");
}

static void read_grid(struct grid *g, const struct res_cube *c)
{
	read_text(g, print(res_table_write, c));
}

static void free_grid(struct grid *g)
{
	free(g->field);
	free(g->text);
}

static const char *at(const struct grid *g, size_t point, const char *column)
{
	for (size_t j = 0; j < g->n_columns; j++)
		if (strcmp(g->field[j], column) == 0)
			return g->field[(point + 1) * g->n_columns + j];
	fail_msg("no column %s", column);
	return NULL;
}

static double number_at(const struct grid *g, size_t point, const char *column)
{
	const char *s = at(g, point, column);
	char *end;
	double x = strtod(s, &end);
	assert_true(*s && *end == '\0');
	return x;
}

static void assert_number(const struct grid *g, size_t point,
    const char *column, double want)
{
	double got = number_at(g, point, column);
	if (isnan(want) != isnan(got) || fabs(got - want) > 1e-12 * fabs(want))
		fail_msg("point %zu: %s = %.17g, wanted %.17g", point, column,
		    got, want);
}

/* For what may be near 0 as the difference of two numbers of SCALE. */
static void assert_close(const struct grid *g, size_t point, const char *column,
    double want, double scale)
{
	double got = number_at(g, point, column);
	if (isnan(want) != isnan(got) ||
	    fabs(got - want) > 1e-11 * (fabs(want) + fabs(scale)))
		fail_msg("point %zu: %s = %.17g, wanted %.17g", point, column,
		    got, want);
}

/* Type 7 by its definition: h = (n - 1) q between two order statistics, each
 * found by counting. */
static double order_statistic(const double x[], size_t n, size_t k)
{
	for (size_t i = 0; i < n; i++) {
		size_t less = 0, equal = 0;
		for (size_t j = 0; j < n; j++) {
			less += x[j] < x[i];
			equal += x[j] == x[i];
		}
		if (less <= k && k < less + equal)
			return x[i];
	}
	return NAN;
}

static double slow_quantile(const double x[], size_t n, double q)
{
	if (n == 0)
		return NAN;
	double h = (double)(n - 1) * q, k = floor(h);
	double lo = order_statistic(x, n, (size_t)k);
	double hi = order_statistic(x, n,
	    k < (double)(n - 1) ? (size_t)k + 1 : (size_t)k);
	return lo + (h - k) * (hi - lo);
}

static const char *suffixed(const char *column, const char *suffix)
{
	static char name[256];
	snprintf(name, sizeof(name), "%s%s", column, suffix);
	return name;
}

static void check_spread(const struct grid *g, size_t point, const char *column,
    const double x[], size_t n)
{
	assert_number(g, point, suffixed(column, "_p10"),
	    slow_quantile(x, n, 0.1));
	assert_number(g, point, suffixed(column, "_p50"),
	    slow_quantile(x, n, 0.5));
	assert_number(g, point, suffixed(column, "_p90"),
	    slow_quantile(x, n, 0.9));
}

static double slow_mean(const double x[], size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : NAN;
}

static int is_done(const struct res_cube *c, size_t point, size_t run)
{
	return res_cube_run_status(c, point, run) == RES_DONE;
}

/* Labels as the header shows them. */
static void column_name(char *to, size_t size, const char *label,
    const char *what)
{
	snprintf(to, size, "%s:%s", label, what);
	for (; *to; to++)
		if (*to == '\t' || *to == '\n')
			*to = ' ';
}

/* K_NUM and K_DEN are columns of a row. */
static void check_ratio(const struct grid *g, const struct res_cube *c,
    size_t point, const char *column, size_t k_num, size_t k_den)
{
	double x[16], num = 0, den = 0, lo, hi;
	size_t n = 0;
	for (size_t r = 0; r < c->n_runs; r++) {
		double a = res_cube_value(c, point, r, k_num);
		double b = res_cube_value(c, point, r, k_den);
		if (!is_done(c, point, r) || isnan(a) || isnan(b) || b == 0)
			continue;
		num += a;
		den += b;
		x[n++] = a / b;
	}
	assert_ok(sim_binomial_interval((uint64_t)num, (uint64_t)den, 0.95, &lo,
	    &hi, test_err()));
	assert_number(g, point, column, n ? num / den : NAN);
	assert_number(g, point, suffixed(column, "_lo"), n ? lo : NAN);
	assert_number(g, point, suffixed(column, "_hi"), n ? hi : NAN);
	assert_number(g, point, suffixed(column, "_trials"), den);
	check_spread(g, point, column, x, n);
}

/* Mean and Student's interval from the textbook: s / sqrt(n) on either side,
 * times the quantile. */
static void check_student(const struct grid *g, size_t point,
    const char *column, const double x[], size_t n)
{
	const double mean = slow_mean(x, n);
	double squares = 0;
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	const double half = n < 2
	    ? NAN
	    : sqrt(squares / (double)(n - 1) / (double)n) *
		gsl_cdf_tdist_Pinv(0.975, (double)(n - 1));
	assert_number(g, point, column, mean);
	assert_close(g, point, suffixed(column, "_lo"), mean - half, mean);
	assert_close(g, point, suffixed(column, "_hi"), mean + half, mean);
}

static void check_mean(const struct grid *g, const struct res_cube *c,
    size_t point, size_t algo, unsigned m)
{
	char column[128];
	double x[16];
	size_t n = 0;
	column_name(column, sizeof(column), c->algo[algo],
	    res_algo_metrics[m].name);
	for (size_t r = 0; r < c->n_runs; r++) {
		double v =
		    res_cube_value(c, point, r, res_row_doubles(algo) + m);
		if (is_done(c, point, r) && !isnan(v))
			x[n++] = v;
	}
	check_student(g, point, column, x, n);
	check_spread(g, point, column, x, n);
}

static int has_column(const struct grid *g, const char *column)
{
	for (size_t j = 0; j < g->n_columns; j++)
		if (strcmp(g->field[j], column) == 0)
			return 1;
	return 0;
}

/* Is column K of a row a number anywhere? */
static int is_measured(const struct res_cube *c, size_t k)
{
	int n = 0;
	for (size_t i = 0; i < c->n_rows; i++)
		n |= !isnan(res_columns_get(&c->rows, i, k));
	return n;
}

static void check_trial_ratios(const struct grid *g, const struct res_cube *c,
    size_t point)
{
	for (unsigned m = 0; m < RES_N_TRIAL_RATIOS; m++) {
		const struct res_metric *r = &res_trial_ratios[m];
		const int there =
		    is_measured(c, r->num) && is_measured(c, r->den);
		assert_int_equal(has_column(g, r->name), there);
		if (there)
			check_ratio(g, c, point, r->name, r->num, r->den);
	}
}

static void check_algo_ratios(const struct grid *g, const struct res_cube *c,
    size_t point, size_t algo)
{
	char column[128];
	for (unsigned m = 0; m < RES_N_RATIOS; m++) {
		int there = !res_ratios[m].optional;
		for (size_t a = 0; a < c->n_algos; a++)
			there |= is_measured(c,
			    res_row_doubles(a) + res_ratios[m].num);
		column_name(column, sizeof(column), c->algo[algo],
		    res_ratios[m].name);
		assert_int_equal(has_column(g, column), there);
		if (!there)
			continue;
		check_ratio(g, c, point, column,
		    res_row_doubles(algo) + res_ratios[m].num,
		    res_row_doubles(algo) + res_ratios[m].den);
	}
}

/* Where no path was looked for, all failed flows are reported. */
static void check_reach_ratios(const struct grid *g, const struct res_cube *c,
    size_t point, size_t algo)
{
	char column[128];
	for (unsigned m = 0; m < RES_N_REACH_RATIOS; m++) {
		const struct res_metric *r = &res_reach_ratios[m];
		const int there = is_measured(c, RES_TRIAL_n_traced) &&
		    is_measured(c, r->den);
		column_name(column, sizeof(column), c->algo[algo], r->name);
		assert_int_equal(has_column(g, column), there);
		if (there)
			check_ratio(g, c, point, column,
			    res_row_doubles(algo) + r->num, r->den);
	}
}

static void check_point(const struct grid *g, const struct res_cube *c,
    size_t point)
{
	size_t n_done = 0, index[3];
	for (size_t r = 0; r < c->n_runs; r++)
		n_done += is_done(c, point, r) != 0;
	assert_number(g, point, "runs", (double)n_done);
	res_cube_at(c, point, index);
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			const struct res_coord *k = &c->axis[a].coord[i];
			if (k->number)
				assert_true(number_at(g, point, k->name) ==
				    k->number[index[a]]);
		}
	for (unsigned m = 0; m < RES_N_TRIAL_METRICS; m++) {
		double x[16];
		size_t n = 0;
		for (size_t r = 0; r < c->n_runs; r++) {
			double v = res_cube_value(c, point, r, m);
			if (is_done(c, point, r) && !isnan(v))
				x[n++] = v;
		}
		const struct res_metric *d = &res_trial_metrics[m];
		const int may_go = d->optional ||
		    (d->of_flows && is_measured(c, RES_TRIAL_n_probes));
		if (may_go && !is_measured(c, m))
			assert_false(has_column(g, res_trial_metrics[m].name));
		else
			check_student(g, point, res_trial_metrics[m].name, x,
			    n);
	}
	check_trial_ratios(g, c, point);
	for (size_t a = 0; a < c->n_algos; a++) {
		check_algo_ratios(g, c, point, a);
		check_reach_ratios(g, c, point, a);
		check_mean(g, c, point, a, RES_ALGO_worst_rank);
		check_mean(g, c, point, a, RES_ALGO_n_flagged);
		check_mean(g, c, point, a, RES_ALGO_lead);
	}
}

static void every_number_agrees_with_a_slow_computation(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 100; run++) {
		struct res_cube c;
		struct grid g;
		random_cube(&c, run);
		read_grid(&g, &c);
		assert_int_equal(g.n_rows, c.n_points + 1);
		for (size_t p = 0; p < c.n_points; p++)
			check_point(&g, &c, p);
		for (size_t i = 0; i < c.n_claims; i++)
			assert_number(&g, 0,
			    i ? "claim:accuracy_all_2" : "claim:accuracy_all",
			    c.claim[i].value);
		free_grid(&g);
		res_cube_free(&c);
	}
}

/* What the first algorithm measured in a row. */
static void set_vote(struct res_cube *c, size_t row, size_t metric, double x)
{
	res_columns_put(&c->rows, row, res_row_doubles(0) + metric, x);
}

/* 8 of 10 in two runs: interval [0.4439, 0.9748] (Clopper and Pearson). */
static void ratios_are_pooled_before_they_are_divided(void **state)
{
	(void)state;
	struct res_cube c;
	struct grid g;
	plain_cube(&c, 1, 3);
	all_alike(&c, 0);
	set_vote(&c, 0, RES_ALGO_hits_all, 1);
	set_vote(&c, 0, RES_ALGO_flows_all, 2);
	set_vote(&c, 1, RES_ALGO_hits_all, 7);
	set_vote(&c, 1, RES_ALGO_flows_all, 8);
	read_grid(&g, &c);
	assert_string_equal(at(&g, 0, "vote:accuracy_all"), "0.8");
	assert_near(number_at(&g, 0, "vote:accuracy_all_lo"), 0.4439, 5e-5);
	assert_near(number_at(&g, 0, "vote:accuracy_all_hi"), 0.9748, 5e-5);
	assert_string_equal(at(&g, 0, "vote:accuracy_all_trials"), "10");
	assert_string_equal(at(&g, 0, "vote:accuracy_all_p50"), "0.6875");
	assert_string_equal(at(&g, 0, "vote:recall"), "NaN");
	assert_string_equal(at(&g, 0, "vote:recall_lo"), "NaN");
	assert_string_equal(at(&g, 0, "vote:recall_trials"), "0");
	free_grid(&g);
	res_cube_free(&c);
}

static void blank(struct res_cube *c, size_t column)
{
	for (size_t i = 0; i < c->n_rows; i++)
		res_columns_put(&c->rows, i, column, NAN);
}

/* Of two runs of three components each: bins 1 and 5 are off by .1 + 1 and by
 * .99 * 4 - 3 in all. */
static void how_far_chances_are_right_is_told(void **state)
{
	(void)state;
	struct res_cube c;
	struct grid g;
	plain_cube(&c, 1, 2);
	for (size_t i = 0; i < c.row_doubles; i++)
		blank(&c, i);
	for (size_t run = 0; run < 2; run++) {
		const double x[15] = {[0] = 1,
		    [1] = 0.05,
		    [2] = (double)run,
		    [12] = 2,
		    [13] = 1.98,
		    [14] = 1 + (double)run};
		for (size_t i = 0; i < 15; i++)
			set_vote(&c, run, RES_ALGO_n_stated_1 + i, x[i]);
	}
	read_grid(&g, &c);
	const char *ece = at(&g, 0, "vote:ece");
	assert_near(strtod(ece, NULL), (0.9 + 0.96) / 6, 1e-15);
	assert_string_equal(at(&g, 0, "vote:ece_trials"), "6");
	assert_string_equal(at(&g, 0, "vote:stated_true_1"), "0.5");
	assert_string_equal(at(&g, 0, "vote:stated_mean_5"), "0.99");
	assert_string_equal(at(&g, 0, "alg1:ece"), "NaN");
	free_grid(&g);
	res_cube_free(&c);
}

/* F of the second algorithm is .2 and .4 less than the first one's in two runs; a
 * third has none. */
static void f_is_compared_run_by_run(void **state)
{
	(void)state;
	static const double f[][2] = {{0.9, 0.7}, {0.8, 0.4}, {NAN, 0.1}};
	struct res_cube c;
	struct grid g;
	plain_cube(&c, 1, 3);
	for (size_t i = 0; i < c.row_doubles; i++)
		blank(&c, i);
	for (size_t run = 0; run < 3; run++)
		for (size_t a = 0; a < 2; a++)
			res_columns_put(&c.rows, run,
			    res_row_doubles(a) + RES_ALGO_f, f[run][a]);
	read_grid(&g, &c);
	/* Algorithms have the same columns; it is its own equal. */
	assert_string_equal(at(&g, 0, "vote:f_less"), "0");
	assert_near(strtod(at(&g, 0, "alg1:f_less"), NULL), -0.3, 1e-12);
	/* Student's quantile at one degree of freedom, by the error .1. */
	assert_near(strtod(at(&g, 0, "alg1:f_less_hi"), NULL),
	    -0.3 + 0.1 * 12.7062, 1e-4);
	free_grid(&g);
	res_cube_free(&c);
}

/* Of the optional ones; the others say NaN. */
static void what_was_nowhere_measured_has_no_column(void **state)
{
	(void)state;
	struct res_cube c;
	struct grid g;
	plain_cube(&c, 2, 2);
	all_alike(&c, 0);
	for (size_t i = 0; i < c.row_doubles; i++)
		blank(&c, i);
	/* One number is enough. */
	res_columns_put(&c.rows, 3, RES_TRIAL_n_connected, 8);
	res_columns_put(&c.rows, 3, RES_TRIAL_n_drop, 2);
	res_columns_put(&c.rows, 0, res_row_doubles(1) + RES_ALGO_detect_s,
	    12.5);
	read_grid(&g, &c);
	assert_string_equal(at(&g, 0, "n_traced"), "NaN");
	assert_string_equal(at(&g, 0, "drop_rate"), "NaN");
	assert_string_equal(at(&g, 1, "drop_rate"), "0.25");
	assert_string_equal(at(&g, 1, "drop_rate_trials"), "8");
	assert_string_equal(at(&g, 1, "n_connected"), "8");
	assert_string_equal(at(&g, 0, "vote:detect_s"), "NaN");
	assert_string_equal(at(&g, 0, "alg1:detect_s_p50"), "12.5");
	assert_false(has_column(&g, "n_probes"));
	assert_false(has_column(&g, "p99_us"));
	assert_false(has_column(&g, "unconnected_rate"));
	assert_false(has_column(&g, "tier_accuracy_trials"));
	free_grid(&g);
	read_text(&g, print(put_runs, &c));
	assert_string_equal(at(&g, 3, "drop_rate"), "0.25");
	assert_string_equal(at(&g, 0, "alg1:detect_s"), "12.5");
	assert_string_equal(at(&g, 0, "vote:detect_s"), "NaN");
	assert_false(has_column(&g, "n_probes"));
	assert_false(has_column(&g, "unconnected_rate"));
	free_grid(&g);
	res_columns_put(&c.rows, 0, RES_TRIAL_n_probes, 9);
	res_columns_put(&c.rows, 0, RES_TRIAL_n_drops, 1);
	read_grid(&g, &c);
	assert_false(has_column(&g, "n_traced"));
	assert_true(has_column(&g, "n_drops"));
	assert_true(has_column(&g, "n_faults"));
	free_grid(&g);
	res_columns_put(&c.rows, 0, RES_TRIAL_n_probes, NAN);
	blank(&c, res_row_doubles(1) + RES_ALGO_detect_s);
	read_grid(&g, &c);
	assert_string_equal(g.field[g.n_columns - 1], "alg1:lead_p90");
	free_grid(&g);
	res_cube_free(&c);
}

static void the_header_is_in_the_stated_order(void **state)
{
	(void)state;
	struct res_cube c;
	struct grid g;
	plain_cube(&c, 1, 1);
	all_alike(&c, 0);
	without_optional(&c);
	read_grid(&g, &c);
	static const char *const first[] = {"faults.count", "runs", "n_flows",
	    "n_flows_lo", "n_flows_hi", "n_failed_flows"};
	static const char *const then[] = {"icmp_share_high",
	    "icmp_share_high_lo", "icmp_share_high_hi", "traced_rate",
	    "traced_rate_lo", "traced_rate_hi", "traced_rate_p10",
	    "traced_rate_p50", "traced_rate_p90", "traced_rate_trials",
	    "full_trace_rate"};
	size_t k = 0;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		assert_string_equal(g.field[i], first[i]);
	while (k < g.n_columns && strcmp(g.field[k], then[0]) != 0)
		k++;
	for (size_t i = 0; i < sizeof(then) / sizeof(then[0]); i++)
		assert_string_equal(g.field[k + i], then[i]);
	assert_string_equal(g.field[g.n_columns - 1], "alg1:lead_p90");
	free_grid(&g);
	res_cube_free(&c);
}

static void a_row_a_run_holds_what_was_measured(void **state)
{
	(void)state;
	struct res_cube c;
	struct grid g;
	plain_cube(&c, 2, 3);
	for (size_t i = 0; i < 6 * c.row_doubles; i++)
		res_columns_put(&c.rows, i / c.row_doubles, i % c.row_doubles,
		    (double)i + 1);
	c.status[4] = RES_CRASHED;
	read_text(&g, print(put_runs, &c));
	assert_int_equal(g.n_rows, 1 + 5);
	assert_string_equal(at(&g, 2, "run"), "2");
	assert_string_equal(at(&g, 4, "run"), "2"); /* run 1 of point 1 died */
	const size_t row = 5;
	assert_true(number_at(&g, 4, "n_drops") ==
	    res_cube_value(&c, 1, 2, RES_TRIAL_n_drops));
	assert_true(number_at(&g, 4, "alg1:lead") ==
	    res_cube_value(&c, 1, 2, res_row_doubles(1) + RES_ALGO_lead));
	struct res_algo_metrics alg1;
	res_cube_get_row(&c, row, res_row_doubles(1), RES_N_ALGO_METRICS,
	    (double *)&alg1);
	assert_near(number_at(&g, 4, "alg1:precision"),
	    alg1.n_flagged_true / alg1.n_flagged, 1e-15);
	free_grid(&g);
	res_cube_free(&c);
}

/* The JSON is what the TSV says, value for value: rebuilt from its fields. */
static void json_says_what_the_table_says(void **state)
{
	(void)state;
	struct res_cube c;
	struct grid g;
	plain_cube(&c, 3, 2);
	for (size_t i = 0; i < 6 * c.row_doubles; i++)
		res_columns_put(&c.rows, i / c.row_doubles, i % c.row_doubles,
		    i % 7 ? 1 : NAN);
	read_grid(&g, &c);
	char *json = print(put_json, &c), *want = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&want, &n);
	for (size_t i = 1; i < g.n_rows; i++) {
		fputs(i > 1 ? "},\n{" : "[\n{", out);
		for (size_t j = 0; j < g.n_columns; j++) {
			const char *v = g.field[i * g.n_columns + j];
			fprintf(out, "%s\"%s\": %s", j ? ", " : "", g.field[j],
			    strcmp(v, "NaN") ? v : "null");
		}
	}
	fputs("}\n]\n", out);
	fclose(out);
	assert_string_equal(json, want);
	free(json);
	free(want);
	free_grid(&g);
	res_cube_free(&c);
}

static void json_of_any_cube_is_read_by_another_program(void **state)
{
	(void)state;
	if (system("/usr/bin/python3 -c '' 2>/dev/null") != 0) {
		print_message("skipped: /usr/bin/python3 is missing\n");
		skip();
	}
	FILE *out = popen("/usr/bin/python3 -c 'import json, sys\n"
			  "for s in sys.stdin.read().split(\"\\0\")[:-1]:\n"
			  "    assert all(json.loads(s))'",
	    "w");
	assert_non_null(out);
	for (uint32_t run = 0; run < 50; run++) {
		struct res_cube c;
		random_cube(&c, run);
		assert_ok(put_json(&c, out, test_err()));
		putc('\0', out);
		res_cube_free(&c);
	}
	assert_int_equal(pclose(out), 0);
}

/* Any columns in any order say what they say among all others. */
static void a_choice_of_columns_changes_no_value(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 100; run++) {
		const char *column[5];
		struct res_table_form form = {.column = column};
		struct sim_rng r;
		struct res_cube c;
		struct grid all, some;
		char *text = NULL;
		size_t size;
		test_rng(&r, run);
		random_cube(&c, run);
		/* Of such labels a head has something else. */
		for (size_t a = 0; a < c.n_algos; a++)
			for (char *l = c.algo[a]; *l; l++)
				*l = *l == '\t' || *l == '\n' ? '_' : *l;
		form.rows = run % 2 ? RES_RUNS : RES_POINTS;
		read_text(&all,
		    print(run % 2 ? put_runs : res_table_write, &c));
		form.n_columns = 1 + sim_rng_below(&r, 5);
		for (size_t i = 0; i < form.n_columns; i++)
			column[i] = all.field[sim_rng_below(&r,
			    (uint32_t)all.n_columns)];
		FILE *out = open_memstream(&text, &size);
		assert_ok(res_table(&c, &form, out, test_err()));
		fclose(out);
		read_text(&some, text);
		assert_int_equal(some.n_rows, all.n_rows);
		assert_true(some.n_columns <= form.n_columns);
		assert_string_equal(some.field[0], column[0]);
		for (size_t p = 0; p + 1 < all.n_rows; p++)
			for (size_t j = 0; j < some.n_columns; j++)
				if (strcmp(at(&some, p, some.field[j]),
					at(&all, p, some.field[j])) != 0)
					fail_msg("seed %llu, run %u: %s",
					    (unsigned long long)test_seed(),
					    run, some.field[j]);
		free_grid(&all);
		free_grid(&some);
		res_cube_free(&c);
	}
}

/* Without a word a table has what was measured of what people read. */
static void the_usual_columns_are_few_and_measured(void **state)
{
	const struct res_table_form form = {.usual = 1};
	static const char *const want[] = {"faults.count", "runs",
	    "n_failed_flows", "n_failed_flows_lo", "n_failed_flows_hi",
	    "alg1:recall", "alg1:recall_lo", "alg1:recall_hi"};
	struct res_cube c;
	struct grid g;
	char *text = NULL;
	size_t size;
	(void)state;
	plain_cube(&c, 2, 2);
	for (size_t i = 0; i < c.row_doubles; i++)
		blank(&c, i);
	const size_t alg1 = res_row_doubles(1);
	res_columns_put(&c.rows, 0, RES_TRIAL_n_failed_flows, 3);
	res_columns_put(&c.rows, 0, alg1 + RES_ALGO_n_flagged_true, 1);
	res_columns_put(&c.rows, 0, alg1 + RES_ALGO_n_links_true, 2);
	/* Measured, but 0 of 0. */
	res_columns_put(&c.rows, 0, alg1 + RES_ALGO_n_flagged, 0);
	for (int any = 1; any >= 0; any--) {
		FILE *out = open_memstream(&text, &size);
		assert_ok(res_table(&c, &form, out, test_err()));
		fclose(out);
		read_text(&g, text);
		for (size_t i = 0; any && i < 8; i++)
			assert_string_equal(g.field[i], want[i]);
		/* Where none of them was measured all are told. */
		assert_true(any ? g.n_columns == 8 : g.n_columns > 100);
		free_grid(&g);
		blank(&c, RES_TRIAL_n_failed_flows);
		blank(&c, alg1 + RES_ALGO_n_links_true);
	}
	res_cube_free(&c);
}

static void a_share_above_one_is_an_error(void **state)
{
	(void)state;
	struct sim_err e;
	struct res_cube c;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	plain_cube(&c, 2, 2);
	without_optional(&c);
	res_columns_put(&c.rows, 0, RES_TRIAL_n_failed_flows, 1e9);
	set_vote(&c, 0, RES_ALGO_hits_all, 1e9);
	assert_int_equal(res_table_write(&c, out, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "accuracy_all of vote"));
	res_columns_put(&c.rows, 0, RES_TRIAL_n_probes, 3);
	res_columns_put(&c.rows, 0, RES_TRIAL_n_unconnected, 4);
	assert_int_equal(res_table_write(&c, out, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "unconnected_rate at point 0 is 4 of 3, which is no share.");
	fclose(out);
	free(text);
	res_cube_free(&c);
}

static void a_full_device_is_reported(void **state)
{
	(void)state;
	struct sim_err e;
	struct res_cube c;
	FILE *out = fopen("/dev/full", "w");
	if (!out) {
		print_message("skipped: no /dev/full\n");
		skip();
	}
	plain_cube(&c, 1, 1);
	all_alike(&c, 0);
	assert_int_equal(res_table_write(&c, out, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "No space left on device"));
	fclose(out);
	res_cube_free(&c);
}

static int write_one(void *cube, struct sim_err *e)
{
	FILE *out = fopen("/dev/null", "w");
	int rc = res_table_write(cube, out, e);
	fclose(out);
	return rc;
}

static int write_usual(void *cube, struct sim_err *e)
{
	const struct res_table_form form = {.usual = 1};
	FILE *out = fopen("/dev/null", "w");
	int rc = res_table(cube, &form, out, e);
	fclose(out);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct res_cube c;
	plain_cube(&c, 2, 2);
	all_alike(&c, 0);
	test_each_alloc_fails(write_one, &c);
	test_each_alloc_fails(write_usual, &c);
	res_cube_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_number_agrees_with_a_slow_computation),
	    cmocka_unit_test(ratios_are_pooled_before_they_are_divided),
	    cmocka_unit_test(how_far_chances_are_right_is_told),
	    cmocka_unit_test(f_is_compared_run_by_run),
	    cmocka_unit_test(what_was_nowhere_measured_has_no_column),
	    cmocka_unit_test(the_header_is_in_the_stated_order),
	    cmocka_unit_test(a_row_a_run_holds_what_was_measured),
	    cmocka_unit_test(json_says_what_the_table_says),
	    cmocka_unit_test(json_of_any_cube_is_read_by_another_program),
	    cmocka_unit_test(a_choice_of_columns_changes_no_value),
	    cmocka_unit_test(the_usual_columns_are_few_and_measured),
	    cmocka_unit_test(a_share_above_one_is_an_error),
	    cmocka_unit_test(a_full_device_is_reported),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("results/table", tests, NULL, NULL);
}
