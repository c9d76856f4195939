/* results/table.c -- a cube as TSV: pooled ratios, exact intervals, spread.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One walk over a point's columns tells their names and their values
 * (results/rows.h), so that heads, rows and formats cannot disagree.
 */
#include "results/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/calibration.h"
#include "results/until.h"
#include "sim/ratio.h"
#include "sim/stat.h"
#include "sim/text.h"
#include "sim/vec.h"

#define CONFIDENCE 0.95

struct table {
	const struct res_cube *c;
	struct res_rows rows;
	size_t point;
	size_t *at;        /* [n_axes] index of the point along each axis */
	uint8_t *has;      /* [row_doubles] is there a number in any row? */
	double *sample;    /* [n_runs] */
	double *ones;      /* [n_runs] */
	double *num, *den; /* [n_runs] of a ratio, by runs that have it */
	int between;       /* intervals of ratios are those between runs */
	struct sim_err *e;
};

/* --- statistics over the runs of a point ----------------------------------*/

/* Whether a metric or ratio of the trial has a column: optional ones where they
 * were measured anywhere, those of flows also where no probes were. COLUMN is
 * the metric's own, or that of the ratio's denominator. */
static int shows_trial(const struct table *t, const struct res_metric *m,
    size_t column)
{
	return t->has[column] ||
	    !(m->optional || (m->of_flows && t->has[RES_TRIAL_n_probes]));
}

/* Measured for one algorithm is enough, as all have the same columns. */
static int shows_algo(const struct table *t, unsigned metric)
{
	int has = !res_algo_metrics[metric].optional;
	for (size_t a = 0; a < t->c->n_algos; a++)
		has |= t->has[res_row_doubles(a) + metric];
	return has;
}

/* Only runs that are done count: a failed one may have numbers, but from a part
 * of a trial. */
static int is_done(const struct table *t, size_t run)
{
	return res_cube_run_status(t->c, t->point, run) == RES_DONE;
}

/* Write _p10, _p50 and _p90 of the first N samples, which get sorted. */
static void put_spread(struct table *t, struct res_name name, size_t n)
{
	static const struct {
		const char *suffix;
		double q;
	} spread[] = {{"_p10", 0.1}, {"_p50", 0.5}, {"_p90", 0.9}};
	n = sim_sort_finite(t->sample, n);
	for (size_t i = 0; i < sizeof(spread) / sizeof(spread[0]); i++) {
		name.suffix = spread[i].suffix;
		res_rows_number(&t->rows, name,
		    sim_quantile_sorted(t->sample, n, spread[i].q));
	}
}

/* Without a bound there is nothing to draw. */
static double bounded(double x)
{
	return isinf(x) ? NAN : x;
}

static void results_table_put(struct table *t, struct res_name name,
    struct sim_ratio x)
{
	res_rows_number(&t->rows, name, x.value);
	name.suffix = "_lo";
	res_rows_number(&t->rows, name, bounded(x.lo));
	name.suffix = "_hi";
	res_rows_number(&t->rows, name, bounded(x.hi));
}

/* The mean of the first N samples, and where it may be by Student's law. */
static void results_table_put_sample(struct table *t, struct res_name name,
    size_t n)
{
	const struct sim_ratio_sample s = {t->sample, t->ones, n};
	struct sim_ratio mean;
	sim_ratio_mean(&s, CONFIDENCE, &mean);
	results_table_put(t, name, mean);
}

/* Those of a column. They come before the spread, which sorts the samples, as
 * sums depend on the order. Returns how many samples there are. */
static size_t put_mean(struct table *t, struct res_name name, size_t column)
{
	size_t n = 0;
	for (size_t run = 0; run < t->c->n_runs; run++) {
		double x = res_cube_value(t->c, t->point, run, column);
		if (is_done(t, run) && !isnan(x))
			t->sample[n++] = x;
	}
	results_table_put_sample(t, name, n);
	return n;
}

static void put_algo_mean(struct table *t, size_t algo, unsigned metric)
{
	const struct res_name name = {t->c->algo[algo], ":",
	    res_algo_metrics[metric].name, NULL};
	if (res_rows_skip(&t->rows, 6))
		return;
	put_spread(t, name, put_mean(t, name, res_row_doubles(algo) + metric));
}

/* A ratio and the two columns of a row that it divides. */
struct share {
	const char *name;
	size_t num, den;
};
enum { MAX_SHARES = RES_N_RATIOS + RES_N_REACH_RATIOS + RES_N_TRIAL_RATIOS };

/* Those of the trial that have columns. */
static size_t trial_shares(const struct table *t, struct share out[])
{
	size_t n = 0;
	for (unsigned m = 0; m < RES_N_TRIAL_RATIOS; m++) {
		const struct res_metric *r = &res_trial_ratios[m];
		if (shows_trial(t, r, r->num) && shows_trial(t, r, r->den))
			out[n++] = (struct share){r->name, r->num, r->den};
	}
	return n;
}

/* Those of an algorithm. */
static size_t algo_shares(const struct table *t, size_t algo,
    struct share out[])
{
	const size_t first = res_row_doubles(algo);
	size_t n = 0;
	for (unsigned m = 0; m < RES_N_RATIOS; m++) {
		const struct res_metric *r = &res_ratios[m];
		if (shows_algo(t, r->num))
			out[n++] = (struct share){r->name, first + r->num,
			    first + r->den};
	}
	for (unsigned m = 0; m < RES_N_REACH_RATIOS; m++) {
		const struct res_metric *r = &res_reach_ratios[m];
		if (t->has[RES_TRIAL_n_traced] && t->has[r->den])
			out[n++] =
			    (struct share){r->name, first + r->num, r->den};
	}
	return n;
}

/* Sums over the runs, and in t->sample the ratio of each run that has one. The
 * pooled ratio weighs runs by their trials, which makes it one binomial count;
 * the spread of the ratios shows how far runs differ. */
struct pool {
	double num, den;
	size_t n;
};

static struct pool results_table_pool_runs(struct table *t,
    const struct share *s)
{
	struct pool p = {0};
	for (size_t run = 0; run < t->c->n_runs; run++) {
		double num = res_cube_value(t->c, t->point, run, s->num);
		double den = res_cube_value(t->c, t->point, run, s->den);
		if (!is_done(t, run) || isnan(num) || !(den > 0))
			continue;
		p.num += num;
		p.den += den;
		t->num[p.n] = num;
		t->den[p.n] = den;
		t->sample[p.n++] = num / den;
	}
	return p;
}

/* Where the width of this very interval ended the point, the one that holds in
 * spite of that. */
static int results_table_look_again(struct table *t, const char *ratio,
    const char *owner, double *lo, double *hi)
{
	struct sim_ratio r;
	const int rc =
	    res_until_interval(t->c, t->point, ratio, owner, &r, t->e);
	if (rc > 0 && !isnan(r.value)) {
		*lo = r.lo;
		*hi = r.hi;
	}
	return rc < 0 ? rc : 0;
}

/* Clopper and Pearson's interval for all trials or, between runs, for as many as
 * tell as much. */
static int results_table_interval(struct table *t, const struct pool *p,
    double *lo, double *hi)
{
	const struct sim_ratio_sample s = {t->num, t->den, p->n};
	struct sim_ratio r;
	if (!t->between)
		return sim_share_interval(p->num, (uint64_t)p->den, CONFIDENCE,
		    lo, hi, t->e);
	const int rc = sim_ratio_share(&s, CONFIDENCE, &r, t->e);
	*lo = r.lo;
	*hi = r.hi;
	return rc;
}

static int results_table_put_ratio(struct table *t, const char *owner,
    const struct share *s)
{
	struct res_name name = {owner, owner ? ":" : NULL, s->name, NULL};
	double lo = NAN, hi = NAN;
	if (res_rows_skip(&t->rows, 7))
		return 0;
	struct pool p = results_table_pool_runs(t, s);
	/* Trials are counts, which doubles hold exactly below 2^53. */
	if (!(p.num >= 0 && p.num <= p.den && p.den < 0x1p53))
		return sim_fail(t->e, SIM_EINVAL,
		    "%s%s%s at point %zu is %g of %g, which is no share.",
		    s->name, owner ? " of " : "", owner ? owner : "", t->point,
		    p.num, p.den);
	/* Without trials it stays NaN. */
	if (p.den > 0) {
		int rc = results_table_interval(t, &p, &lo, &hi);
		if (rc == 0)
			rc = results_table_look_again(t, s->name, owner, &lo,
			    &hi);
		if (rc < 0)
			return rc;
	}
	results_table_put(t, name,
	    (struct sim_ratio){p.den > 0 ? p.num / p.den : NAN, lo, hi});
	put_spread(t, name, p.n);
	name.suffix = "_trials";
	res_rows_number(&t->rows, name, p.den);
	return 0;
}

/* F of ALGO less that of the first algorithm, run by run: both had the same
 * windows. */
static void results_table_put_less(struct table *t, size_t algo)
{
	const struct res_name name = {t->c->algo[algo], ":", "f_less", NULL};
	size_t n = 0;
	if (res_rows_skip(&t->rows, 3))
		return;
	for (size_t run = 0; run < t->c->n_runs; run++) {
		const double x = res_cube_value(t->c, t->point, run,
				     res_row_doubles(algo) + RES_ALGO_f) -
		    res_cube_value(t->c, t->point, run,
			res_row_doubles(0) + RES_ALGO_f);
		if (is_done(t, run) && !isnan(x))
			t->sample[n++] = x;
	}
	results_table_put_sample(t, name, n);
}

static int results_table_put_ece(struct table *t, size_t algo)
{
	struct res_name name = {t->c->algo[algo], ":", "ece", NULL};
	struct res_calibration x;
	if (res_rows_skip(&t->rows, 5))
		return 0;
	const int rc = res_calibration_of(t->c, t->point, algo, &x, t->e);
	results_table_put(t, name, x.ece);
	name.suffix = "_if_right";
	res_rows_number(&t->rows, name, x.if_right);
	name.suffix = "_trials";
	res_rows_number(&t->rows, name, x.n);
	return rc;
}

/* --- rows -----------------------------------------------------------------*/

/* A metric with several claims has claim:m, claim:m_2, claim:m_3. */
static void results_table_put_claims(struct table *t)
{
	const struct res_cube *c = t->c;
	for (size_t i = 0; i < c->n_claims; i++) {
		const size_t nth = res_cube_nth_claim(c, i);
		char suffix[32] = "";
		if (nth > 1)
			snprintf(suffix, sizeof(suffix), "_%zu", nth);
		res_rows_number(&t->rows,
		    (struct res_name){"claim", ":", c->claim[i].metric, suffix},
		    c->claim[i].value);
	}
}

/* OWNER is an algorithm's label, or NULL. */
static int put_ratios(struct table *t, const char *owner,
    const struct share share[], size_t n)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = results_table_put_ratio(t, owner, &share[i]);
	return rc;
}

static int results_table_put_point(struct table *t, size_t point)
{
	struct share share[MAX_SHARES];
	size_t n_done = 0;
	int rc = 0;
	t->point = point;
	res_table_put_coords(&t->rows, t->c, t->point, t->at);
	for (size_t run = 0; run < t->c->n_runs; run++)
		n_done += (size_t)is_done(t, run);
	/* A mean or ratio is worth as much as the runs behind it. */
	res_rows_number(&t->rows, (struct res_name){.what = "runs"},
	    (double)n_done);
	for (unsigned m = 0; m < RES_N_TRIAL_METRICS; m++)
		if (shows_trial(t, &res_trial_metrics[m], m) &&
		    !res_rows_skip(&t->rows, 3))
			put_mean(t,
			    (struct res_name){
				.what = res_trial_metrics[m].name},
			    m);
	rc = put_ratios(t, NULL, share, trial_shares(t, share));
	for (size_t a = 0; rc == 0 && a < t->c->n_algos; a++) {
		rc = put_ratios(t, t->c->algo[a], share,
		    algo_shares(t, a, share));
		/* Of an algorithm's other numbers a table has the means of
		 * these five; all of them are in the runs' table. */
		put_algo_mean(t, a, RES_ALGO_worst_rank);
		put_algo_mean(t, a, RES_ALGO_n_flagged);
		put_algo_mean(t, a, RES_ALGO_lead);
		if (shows_algo(t, RES_ALGO_detect_s))
			put_algo_mean(t, a, RES_ALGO_detect_s);
		if (shows_algo(t, RES_ALGO_f))
			put_algo_mean(t, a, RES_ALGO_f);
		if (shows_algo(t, RES_ALGO_f))
			results_table_put_less(t, a);
		if (rc == 0 && shows_algo(t, RES_ALGO_n_stated_1))
			rc = results_table_put_ece(t, a);
	}
	results_table_put_claims(t);
	return rc;
}

/* All points have the same columns, so the first does for the head. */
static int put_points(struct table *t, const char *const column[],
    size_t n_columns)
{
	int rc = results_table_put_point(t, 0);
	if (rc < 0 || (rc = res_rows_head(&t->rows, column, n_columns)) < 0)
		return rc;
	for (size_t p = 0; rc == 0 && p < t->c->n_points; p++)
		if ((rc = results_table_put_point(t, p)) == 0)
			res_rows_end(&t->rows);
	return rc;
}

/* Ratios of one run. */
static void put_shares(struct table *t, size_t run, const char *owner,
    const struct share share[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct share *s = &share[i];
		const double num = res_cube_value(t->c, t->point, run, s->num);
		const double den = res_cube_value(t->c, t->point, run, s->den);
		const struct res_name name = {owner, owner ? ":" : NULL,
		    s->name, NULL};
		res_rows_number(&t->rows, name, den > 0 ? num / den : NAN);
	}
}

static void put_trial(struct table *t, size_t run)
{
	struct share share[MAX_SHARES];
	struct res_name name = {NULL, NULL, NULL, NULL};
	for (unsigned m = 0; m < RES_N_TRIAL_METRICS; m++) {
		name.what = res_trial_metrics[m].name;
		if (shows_trial(t, &res_trial_metrics[m], m))
			res_rows_number(&t->rows, name,
			    res_cube_value(t->c, t->point, run, m));
	}
	put_shares(t, run, NULL, share, trial_shares(t, share));
}

/* Everything that there is of a run, for whoever draws distributions. */
static void put_algo(struct table *t, size_t run, size_t algo)
{
	struct share share[MAX_SHARES];
	struct res_name name = {t->c->algo[algo], ":", NULL, NULL};
	for (unsigned m = 0; m < RES_N_ALGO_METRICS; m++) {
		name.what = res_algo_metrics[m].name;
		if (shows_algo(t, m))
			res_rows_number(&t->rows, name,
			    res_cube_value(t->c, t->point, run,
				res_row_doubles(algo) + m));
	}
	put_shares(t, run, name.owner, share, algo_shares(t, algo, share));
}

static void results_table_put_run(struct table *t, size_t point, size_t run)
{
	t->point = point;
	res_table_put_coords(&t->rows, t->c, t->point, t->at);
	res_rows_number(&t->rows, (struct res_name){.what = "run"},
	    (double)run);
	put_trial(t, run);
	for (size_t a = 0; a < t->c->n_algos; a++)
		put_algo(t, run, a);
}

/* Failed and crashed runs have no line; their numbers would be misread. */
static int put_runs(struct table *t, const char *const column[],
    size_t n_columns)
{
	results_table_put_run(t, 0, 0);
	const int rc = res_rows_head(&t->rows, column, n_columns);
	for (size_t p = 0; rc == 0 && p < t->c->n_points; p++)
		for (size_t run = 0; run < t->c->n_runs; run++) {
			t->point = p;
			if (!is_done(t, run))
				continue;
			results_table_put_run(t, p, run);
			res_rows_end(&t->rows);
		}
	return rc;
}

/* --- the usual columns ----------------------------------------------------*/

/* What most people read of a trial, and of each algorithm. */
static const char *const usual[] = {"n_failed_flows", "drop_rate",
    "unconnected_rate", "p50_us", "p99_us", "pattern_accuracy", "tier_accuracy",
    "reload_precision", "named_rate", "alarm_rate", "name_s", "accuracy_fault",
    "accuracy_kept", "precision", "recall", "top_k_recall", "detect_s", "f"};
enum { N_USUAL = sizeof(usual) / sizeof(usual[0]) };

/* Names of columns, as patterns for res_rows_head(). */
struct names {
	char **name;
	size_t n, cap;
	struct sim_err *e;
};

static void free_names(struct names *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->name[i]);
	free(x->name);
}

static int names_add(struct names *x, const char *owner, const char *what,
    const char *suffix)
{
	char text[512];
	snprintf(text, sizeof(text), "%s%s%s%s", owner ? owner : "",
	    owner ? ":" : "", what, suffix);
	int rc = SIM_RESERVE(&x->name, &x->cap, x->n + 1, x->e);
	if (rc == 0 && (rc = sim_dup(&x->name[x->n], text, x->e)) == 0)
		x->n++;
	return rc;
}

/* Whether there is a number of it at any point: of a ratio, a trial. FIRST is
 * where its owner's metrics begin. */
static int is_measured(const struct table *t, const struct res_metric_list *l,
    const struct res_metric *m, size_t first)
{
	const struct res_cube *c = t->c;
	if (!l->ratio)
		return t->has[first + (size_t)(m - l->metric)];
	for (size_t p = 0; p < c->n_points; p++)
		for (size_t run = 0; run < c->n_runs; run++)
			if (res_cube_value(c, p, run, first + m->den) > 0 &&
			    !isnan(res_cube_value(c, p, run, first + m->num)))
				return 1;
	return 0;
}

/* Those of one owner, with their intervals. */
static int add_usual(struct names *x, const struct table *t, const char *owner,
    size_t first)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < N_USUAL; i++) {
		const struct res_metric_list *l;
		const struct res_metric *m = res_metric_find(usual[i], &l);
		if (l->of_trial != !owner || !is_measured(t, l, m, first))
			continue;
		if ((rc = names_add(x, owner, usual[i], "")) == 0 &&
		    (rc = names_add(x, owner, usual[i], "_lo")) == 0)
			rc = names_add(x, owner, usual[i], "_hi");
	}
	return rc;
}

/* None where nothing of them was measured, which stands for all columns. */
static int name_usual(struct names *x, const struct table *t)
{
	const struct res_cube *c = t->c;
	int rc = 0;
	for (size_t a = 0; rc == 0 && a < c->n_axes; a++)
		for (size_t i = 0; rc == 0 && i < c->axis[a].n_coords; i++)
			rc = names_add(x, NULL, c->axis[a].coord[i].name, "");
	if (rc == 0)
		rc = names_add(x, NULL, "runs", "");
	const size_t n = x->n;
	if (rc == 0)
		rc = add_usual(x, t, NULL, 0);
	for (size_t a = 0; rc == 0 && a < c->n_algos; a++)
		rc = add_usual(x, t, c->algo[a], res_row_doubles(a));
	if (rc == 0 && x->n == n) {
		free_names(x);
		*x = (struct names){.e = x->e};
	}
	return rc;
}

/* --- all of it ------------------------------------------------------------*/

static int put_usual(struct table *t)
{
	struct names x = {.e = t->e};
	int rc = name_usual(&x, t);
	if (rc == 0)
		rc = put_points(t, (const char *const *)x.name, x.n);
	free_names(&x);
	return rc;
}

int res_table(const struct res_cube *c, const struct res_table_form *form,
    FILE *out, struct sim_err *e)
{
	struct table t = {.c = c, .between = form->between, .e = e};
	int rc;
	if (form->rows == RES_TIDY)
		return res_table_tidy(c, form, out, e);
	if (form->rows == RES_TREND)
		return res_table_trend(c, form, out, e);
	if ((rc = res_rows_open(&t.rows, out, form->format, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.at, c->n_axes, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.has, c->row_doubles, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.sample, c->n_runs, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.ones, c->n_runs, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.num, c->n_runs, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.den, c->n_runs, e)) == 0) {
		for (size_t i = 0; i < c->n_runs; i++)
			t.ones[i] = 1;
		for (size_t i = 0; i < c->row_doubles; i++)
			/* Once for the whole cube, so that every row has the
			 * same columns. */
			t.has[i] = (uint8_t)res_cube_has(c, i);
		rc = form->rows == RES_RUNS
		    ? put_runs(&t, form->column, form->n_columns)
		    : form->usual && form->n_columns == 0
		    ? put_usual(&t)
		    : put_points(&t, form->column, form->n_columns);
		if (rc == 0)
			rc = res_rows_close(&t.rows);
	}
	res_rows_free(&t.rows);
	free(t.at);
	free(t.has);
	free(t.sample);
	free(t.ones);
	free(t.num);
	free(t.den);
	return rc;
}

int res_table_write(const struct res_cube *c, FILE *out, struct sim_err *e)
{
	const struct res_table_form all = {.rows = RES_POINTS};
	return res_table(c, &all, out, e);
}

int res_table_text(const struct res_cube *c, char **text, struct sim_err *e)
{
	size_t n = 0;
	FILE *f = open_memstream(text, &n);
	if (!f)
		return sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	int rc = res_table_write(c, f, e);
	if (fclose(f) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	return rc;
}
