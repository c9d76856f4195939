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
#include "sim/ratio.h"
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
	double *ones;     /* [n_runs] */
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
	return res_cube_run_status(t->c, t->point, run) == RES_DONE;
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

/* Without a bound there is nothing to draw. */
static double bounded(double x)
{
	return isinf(x) ? NAN : x;
}

/* The mean of a column, and where it may be by Student's law. They come before
 * the spread, which sorts the samples, as sums depend on the order. Returns how
 * many samples there are. */
static size_t put_mean(struct table *t, struct name name, size_t column)
{
	size_t n = 0;
	for (size_t run = 0; run < t->c->n_runs; run++) {
		double x = res_cube_value(t->c, t->point, run, column);
		if (is_done(t, run) && !isnan(x))
			t->sample[n++] = x;
	}
	const struct sim_ratio_sample s = {t->sample, t->ones, n};
	struct sim_ratio mean;
	sim_ratio_mean(&s, CONFIDENCE, &mean);
	results_table_put_number(t, name, mean.value);
	name.suffix = "_lo";
	results_table_put_number(t, name, bounded(mean.lo));
	name.suffix = "_hi";
	results_table_put_number(t, name, bounded(mean.hi));
	return n;
}

static void put_algo_mean(struct table *t, size_t algo, unsigned metric)
{
	const struct name name = {t->c->algo[algo], ":",
	    res_algo_metrics[metric].name, NULL};
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
		t->sample[p.n++] = num / den;
	}
	return p;
}

static int results_table_put_ratio(struct table *t, const char *owner,
    const struct share *s)
{
	struct name name = {owner, owner ? ":" : NULL, s->name, NULL};
	struct pool p = results_table_pool_runs(t, s);
	double lo = NAN, hi = NAN;
	/* Trials are counts, which doubles hold exactly below 2^53. */
	if (!(p.num >= 0 && p.num <= p.den && p.den < 0x1p53))
		return sim_fail(t->e, SIM_EINVAL,
		    "%s%s%s at point %zu is %g of %g, which is no share.",
		    s->name, owner ? " of " : "", owner ? owner : "", t->point,
		    p.num, p.den);
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
	rc = put_ratios(t, NULL, share, trial_shares(t, share));
	for (size_t a = 0; rc == 0 && a < t->c->n_algos; a++) {
		rc = put_ratios(t, t->c->algo[a], share,
		    algo_shares(t, a, share));
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

/* Ratios of one run. */
static void put_shares(struct table *t, size_t run, const char *owner,
    const struct share share[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct share *s = &share[i];
		const double num = res_cube_value(t->c, t->point, run, s->num);
		const double den = res_cube_value(t->c, t->point, run, s->den);
		const struct name name = {owner, owner ? ":" : NULL, s->name,
		    NULL};
		results_table_put_number(t, name, den > 0 ? num / den : NAN);
	}
}

static void put_trial(struct table *t, size_t run)
{
	struct share share[MAX_SHARES];
	struct name name = {NULL, NULL, NULL, NULL};
	for (unsigned m = 0; m < RES_N_TRIAL_METRICS; m++) {
		name.what = res_trial_metrics[m].name;
		if (shows_trial(t, &res_trial_metrics[m], m))
			results_table_put_number(t, name,
			    res_cube_value(t->c, t->point, run, m));
	}
	put_shares(t, run, NULL, share, trial_shares(t, share));
}

/* Everything that there is of a run, for whoever draws distributions. */
static void put_algo(struct table *t, size_t run, size_t algo)
{
	struct share share[MAX_SHARES];
	struct name name = {t->c->algo[algo], ":", NULL, NULL};
	for (unsigned m = 0; m < RES_N_ALGO_METRICS; m++) {
		name.what = res_algo_metrics[m].name;
		if (shows_algo(t, m))
			results_table_put_number(t, name,
			    res_cube_value(t->c, t->point, run,
				res_row_doubles(algo) + m));
	}
	put_shares(t, run, name.owner, share, algo_shares(t, algo, share));
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
	    (rc = SIM_ZALLOC(&t.sample, c->n_runs, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.ones, c->n_runs, e)) == 0) {
		for (size_t i = 0; i < c->n_runs; i++)
			t.ones[i] = 1;
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
	free(t.ones);
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
