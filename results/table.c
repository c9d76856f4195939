/* results/table.c -- a cube as TSV: pooled ratios, exact intervals, spread.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The same walk over a point's columns writes the header, the rows and the
 * JSON, depending on the mode, so that they cannot disagree.
 */
#include "results/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/json.h"
#include "sim/field.h"
#include "sim/stat.h"
#include "sim/vec.h"

#define CONFIDENCE 0.95

/* What a walk writes: names only; values only; or names with values. */
enum mode { HEADER, ROW, JSON };

struct table {
	const struct res_cube *c;
	FILE *out;
	enum mode mode;
	size_t point;
	size_t n_columns; /* written so far in this row */
	size_t *at;       /* [n_axes] index of the point along each axis */
	uint8_t *has;     /* [row_doubles] is there a number in any row? */
	double *sample;   /* [n_runs] */
	struct sim_err *e;
};

/* --- one value ------------------------------------------------------------*/

/* Write TEXT with blanks for what would break a line or a column. */
static void put_plain(FILE *out, const char *text)
{
	for (; *text; text++)
		putc(strchr("\t\n\r", *text) ? ' ' : *text, out);
}

/* Names come in parts: "vote:" "accuracy_all" "_lo". */
struct name {
	const char *owner, *mark, *what, *suffix;
};

/* Write what stands before a value: the separator of columns and, except in a
 * row of TSV, the name. In the header that is all. */
static void put_name(struct table *t, struct name name)
{
	const char *part[] = {name.owner, name.mark, name.what, name.suffix};
	void (*put)(FILE *, const char *) =
	    t->mode == JSON ? res_json_escape : put_plain;
	if (t->n_columns++ > 0)
		fputs(t->mode == JSON ? ", " : "\t", t->out);
	if (t->mode == ROW)
		return;
	fputs(t->mode == JSON ? "\"" : "", t->out);
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		if (part[i])
			put(t->out, part[i]);
	fputs(t->mode == JSON ? "\": " : "", t->out);
}

static void results_table_put_number(struct table *t, struct name name,
    double x)
{
	char digits[32];
	put_name(t, name);
	if (t->mode == JSON) {
		res_json_number(t->out, x);
	} else if (t->mode == ROW) {
		if (isnan(x))
			strcpy(digits, "NaN");
		else
			sim_format_f64(digits, x);
		fputs(digits, t->out);
	}
}

static void results_table_put_text(struct table *t, struct name name,
    const char *text)
{
	put_name(t, name);
	if (t->mode == JSON)
		res_json_text(t->out, text);
	else if (t->mode == ROW)
		put_plain(t->out, text);
}

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
	return t->c->status[t->point * t->c->n_runs + run] == RES_DONE;
}

/* Write _p10, _p50 and _p90 of the first N samples, which get sorted. */
static void put_spread(struct table *t, struct name name, size_t n)
{
	static const struct {
		const char *suffix;
		double q;
	} spread[] = {{"_p10", 0.1}, {"_p50", 0.5}, {"_p90", 0.9}};
	n = sim_sort_finite(t->sample, n);
	for (size_t i = 0; i < sizeof(spread) / sizeof(spread[0]); i++) {
		name.suffix = spread[i].suffix;
		results_table_put_number(t, name,
		    sim_quantile_sorted(t->sample, n, spread[i].q));
	}
}

/* In the order of runs, so that the last digit is the same each time. */
static double mean(const double x[], size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : NAN;
}

/* The mean of a column. It comes before the spread, which sorts the samples, as
 * sums depend on the order. Returns how many samples there are. */
static size_t put_mean(struct table *t, struct name name, size_t column)
{
	size_t n = 0;
	for (size_t run = 0; run < t->c->n_runs; run++) {
		double x = res_cube_value(t->c, t->point, run, column);
		if (is_done(t, run) && !isnan(x))
			t->sample[n++] = x;
	}
	results_table_put_number(t, name, mean(t->sample, n));
	return n;
}

static void put_algo_mean(struct table *t, size_t algo, unsigned metric)
{
	const struct name name = {t->c->algo[algo], ":",
	    res_algo_metrics[metric].name, NULL};
	put_spread(t, name, put_mean(t, name, res_row_doubles(algo) + metric));
}

/* Sums over the runs, and in t->sample the ratio of each run that has one. The
 * pooled ratio weighs runs by their trials, which makes it one binomial count;
 * the spread of the ratios shows how far runs differ. */
struct pool {
	double num, den;
	size_t n;
};

/* FIRST is the column at which the owner's metrics begin: 0 for the trial's, or
 * an algorithm's. */
static struct pool results_table_pool_runs(struct table *t, size_t first,
    const struct res_metric *ratio)
{
	struct pool p = {0};
	for (size_t run = 0; run < t->c->n_runs; run++) {
		double num =
		    res_cube_value(t->c, t->point, run, first + ratio->num);
		double den =
		    res_cube_value(t->c, t->point, run, first + ratio->den);
		if (!is_done(t, run) || isnan(num) || !(den > 0))
			continue;
		p.num += num;
		p.den += den;
		t->sample[p.n++] = num / den;
	}
	return p;
}

static int results_table_put_ratio(struct table *t, struct name name,
    size_t first, const struct res_metric *ratio)
{
	struct pool p = results_table_pool_runs(t, first, ratio);
	double lo = NAN, hi = NAN;
	/* Trials are counts, which doubles hold exactly below 2^53. */
	if (!(p.num >= 0 && p.num <= p.den && p.den < 0x1p53))
		return sim_fail(t->e, SIM_EINVAL,
		    "%s%s%s at point %zu is %g of %g, which is no share.",
		    ratio->name, name.owner ? " of " : "",
		    name.owner ? name.owner : "", t->point, p.num, p.den);
	/* Clopper and Pearson's interval; without trials it stays NaN. */
	if (p.den > 0) {
		int rc = sim_share_interval(p.num, (uint64_t)p.den, CONFIDENCE,
		    &lo, &hi, t->e);
		if (rc < 0)
			return rc;
	}
	results_table_put_number(t, name, p.den > 0 ? p.num / p.den : NAN);
	name.suffix = "_lo";
	results_table_put_number(t, name, lo);
	name.suffix = "_hi";
	results_table_put_number(t, name, hi);
	put_spread(t, name, p.n);
	name.suffix = "_trials";
	results_table_put_number(t, name, p.den);
	return 0;
}

/* --- rows -----------------------------------------------------------------*/

static void put_coords(struct table *t)
{
	const struct res_cube *c = t->c;
	res_cube_at(c, t->point, t->at);
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			const struct res_coord *k = &c->axis[a].coord[i];
			const struct name name = {.what = k->name};
			if (k->number)
				results_table_put_number(t, name,
				    k->number[t->at[a]]);
			else
				results_table_put_text(t, name,
				    k->text[t->at[a]]);
		}
}

/* A metric with several claims has claim:m, claim:m_2, claim:m_3. */
static void results_table_put_claims(struct table *t)
{
	const struct res_cube *c = t->c;
	for (size_t i = 0; i < c->n_claims; i++) {
		const size_t nth = res_cube_nth_claim(c, i);
		char suffix[32] = "";
		if (nth > 1)
			snprintf(suffix, sizeof(suffix), "_%zu", nth);
		results_table_put_number(t,
		    (struct name){"claim", ":", c->claim[i].metric, suffix},
		    c->claim[i].value);
	}
}

static int put_trial_ratios(struct table *t)
{
	int rc = 0;
	for (unsigned m = 0; rc == 0 && m < RES_N_TRIAL_RATIOS; m++) {
		const struct res_metric *r = &res_trial_ratios[m];
		if (shows_trial(t, r, r->den))
			rc = results_table_put_ratio(t,
			    (struct name){.what = r->name}, 0, r);
	}
	return rc;
}

static int put_algo_ratios(struct table *t, size_t algo)
{
	int rc = 0;
	for (unsigned m = 0; rc == 0 && m < RES_N_RATIOS; m++)
		if (shows_algo(t, res_ratios[m].num))
			rc = results_table_put_ratio(t,
			    (struct name){t->c->algo[algo], ":",
				res_ratios[m].name, NULL},
			    res_row_doubles(algo), &res_ratios[m]);
	return rc;
}

static int results_table_put_point(struct table *t, size_t point)
{
	size_t n_done = 0;
	int rc = 0;
	t->point = point;
	t->n_columns = 0;
	put_coords(t);
	for (size_t run = 0; run < t->c->n_runs; run++)
		n_done += (size_t)is_done(t, run);
	/* A mean or ratio is worth as much as the runs behind it. */
	results_table_put_number(t, (struct name){.what = "runs"},
	    (double)n_done);
	for (unsigned m = 0; m < RES_N_TRIAL_METRICS; m++)
		if (shows_trial(t, &res_trial_metrics[m], m))
			put_mean(t,
			    (struct name){.what = res_trial_metrics[m].name},
			    m);
	rc = put_trial_ratios(t);
	for (size_t a = 0; rc == 0 && a < t->c->n_algos; a++) {
		rc = put_algo_ratios(t, a);
		/* Of an algorithm's other numbers a table has the means of
		 * these four; all of them are in the runs' table. */
		put_algo_mean(t, a, RES_ALGO_worst_rank);
		put_algo_mean(t, a, RES_ALGO_n_flagged);
		put_algo_mean(t, a, RES_ALGO_lead);
		if (shows_algo(t, RES_ALGO_detect_s))
			put_algo_mean(t, a, RES_ALGO_detect_s);
	}
	results_table_put_claims(t);
	return rc;
}

static int put_tsv(struct table *t)
{
	t->mode = HEADER;
	/* Any point does: all have the same columns. */
	int rc = results_table_put_point(t, 0);
	t->mode = ROW;
	for (size_t p = 0; rc == 0 && p < t->c->n_points; p++) {
		putc('\n', t->out);
		rc = results_table_put_point(t, p);
	}
	putc('\n', t->out);
	return rc;
}

/* Write a ratio of one run; FIRST as in results_table_pool_runs(). */
static void put_share(struct table *t, struct name name, size_t run,
    size_t first, const struct res_metric *ratio)
{
	const double num =
	    res_cube_value(t->c, t->point, run, first + ratio->num);
	const double den =
	    res_cube_value(t->c, t->point, run, first + ratio->den);
	name.what = ratio->name;
	results_table_put_number(t, name, den > 0 ? num / den : NAN);
}

static void put_trial(struct table *t, size_t run)
{
	struct name name = {NULL, NULL, NULL, NULL};
	for (unsigned m = 0; m < RES_N_TRIAL_METRICS; m++) {
		name.what = res_trial_metrics[m].name;
		if (shows_trial(t, &res_trial_metrics[m], m))
			results_table_put_number(t, name,
			    res_cube_value(t->c, t->point, run, m));
	}
	for (unsigned m = 0; m < RES_N_TRIAL_RATIOS; m++)
		if (shows_trial(t, &res_trial_ratios[m],
			res_trial_ratios[m].den))
			put_share(t, name, run, 0, &res_trial_ratios[m]);
}

/* Everything that there is of a run, for whoever draws distributions. */
static void put_algo(struct table *t, size_t run, size_t algo)
{
	struct name name = {t->c->algo[algo], ":", NULL, NULL};
	for (unsigned m = 0; m < RES_N_ALGO_METRICS; m++) {
		name.what = res_algo_metrics[m].name;
		if (shows_algo(t, m))
			results_table_put_number(t, name,
			    res_cube_value(t->c, t->point, run,
				res_row_doubles(algo) + m));
	}
	for (unsigned m = 0; m < RES_N_RATIOS; m++)
		if (shows_algo(t, res_ratios[m].num))
			put_share(t, name, run, res_row_doubles(algo),
			    &res_ratios[m]);
}

static void results_table_put_run(struct table *t, size_t point, size_t run)
{
	t->point = point;
	t->n_columns = 0;
	put_coords(t);
	results_table_put_number(t, (struct name){.what = "run"}, (double)run);
	put_trial(t, run);
	for (size_t a = 0; a < t->c->n_algos; a++)
		put_algo(t, run, a);
}

/* Failed and crashed runs have no line; their numbers would be misread. */
static int put_runs(struct table *t)
{
	t->mode = HEADER;
	results_table_put_run(t, 0, 0);
	putc('\n', t->out);
	t->mode = ROW;
	for (size_t p = 0; p < t->c->n_points; p++)
		for (size_t run = 0; run < t->c->n_runs; run++) {
			t->point = p;
			if (!is_done(t, run))
				continue;
			results_table_put_run(t, p, run);
			putc('\n', t->out);
		}
	return 0;
}

/* Each point is an object with the names of the header as keys. */
static int put_json(struct table *t)
{
	int rc = 0;
	t->mode = JSON;
	for (size_t p = 0; rc == 0 && p < t->c->n_points; p++) {
		fputs(p ? "},\n{" : "[\n{", t->out);
		rc = results_table_put_point(t, p);
	}
	fputs("}\n]\n", t->out);
	return rc;
}

static int write_with(int (*put)(struct table *), const struct res_cube *c,
    FILE *out, struct sim_err *e)
{
	struct table t = {.c = c, .out = out, .e = e};
	int rc;
	if ((rc = SIM_ZALLOC(&t.at, c->n_axes, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.has, c->row_doubles, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.sample, c->n_runs, e)) == 0) {
		for (size_t i = 0; i < c->row_doubles; i++)
			/* Once for the whole cube, so that every row has the
			 * same columns. */
			t.has[i] = (uint8_t)res_cube_has(c, i);
		rc = put(&t);
	}
	/* ferror() may report an old failure whose errno is long gone. */
	errno = 0;
	if (rc == 0 && (fflush(out) != 0 || ferror(out)))
		rc = sim_fail(e, SIM_EIO, "cannot write the table: %s.",
		    errno ? strerror(errno) : "output failed");
	free(t.at);
	free(t.has);
	free(t.sample);
	return rc;
}

int res_table_write(const struct res_cube *c, FILE *out, struct sim_err *e)
{
	return write_with(put_tsv, c, out, e);
}

int res_table_runs(const struct res_cube *c, FILE *out, struct sim_err *e)
{
	return write_with(put_runs, c, out, e);
}

int res_table_json(const struct res_cube *c, FILE *out, struct sim_err *e)
{
	return write_with(put_json, c, out, e);
}
