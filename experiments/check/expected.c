/* experiments/check/expected.c -- results against those of an earlier full run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/expected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/stat.h"
#include "sim/text.h"
#include "sim/vec.h"

/* At this confidence two intervals of the same law miss each other
 * about once in 10^7 ratios, so a failure among the thousands of a
 * full run means something. */
#define CONFIDENCE 0.9999
#define TRIALS     "_trials"

/* --- tables ----------------------------------------------------------------*/

/* Lines of cells; line 0 has the names. */
struct table {
	char *text; /* with NULs for tabs and newlines */
	char **cell;
	size_t n_cols, n_lines, cap;
};

static void free_table(struct table *t)
{
	free(t->text);
	free(t->cell);
	*t = (struct table){0};
}

static int add_line(struct table *t, char *line, const char *name,
    struct sim_err *e)
{
	/* Cut the line at its tabs, in place. All lines must have as many cells
	 * as the first, so that a cell is found by its line and column. */
	size_t n = 0;
	int more = 1, rc;
	while (more) {
		char *end = line + strcspn(line, "\t");
		more = *end == '\t';
		*end = '\0';
		if ((rc = SIM_RESERVE(&t->cell, &t->cap,
			 t->n_lines * t->n_cols + n + 1, e)) < 0)
			return rc;
		t->cell[t->n_lines * t->n_cols + n++] = line;
		line = end + 1;
	}
	if (t->n_lines == 0)
		t->n_cols = n;
	t->n_lines++;
	return n == t->n_cols
	    ? 0
	    : sim_fail(e, SIM_EPARSE, "%s:%zu: %zu columns, not %zu.", name,
		  t->n_lines, n, t->n_cols);
}

/* Cut TEXT into lines and cells. It is the table's from here on, to be freed
 * with it also on failure. */
static int split(struct table *t, char *text, const char *name,
    struct sim_err *e)
{
	int rc = 0;
	t->text = text;
	while (rc == 0 && *text) {
		char *end = text + strcspn(text, "\n");
		const int last = *end == '\0';
		/* The last line may lack its newline. */
		*end = '\0';
		rc = add_line(t, text, name, e);
		text = last ? end : end + 1;
	}
	if (rc == 0 && t->n_lines == 0)
		rc = sim_fail(e, SIM_EPARSE, "%s: an empty table.", name);
	return rc;
}

static const char *expected_cell(const struct table *t, size_t line, size_t col)
{
	return t->cell[line * t->n_cols + col];
}

/* The column of that name and suffix; n_cols if there is none. */
static size_t find_column(const struct table *t, const char *name,
    const char *suffix)
{
	/* Names of columns hold labels of algorithms, so two names may begin
	 * alike, and the whole of it is compared. */
	const size_t n = strlen(name);
	size_t i = 0;
	while (i < t->n_cols &&
	    !(strncmp(expected_cell(t, 0, i), name, n) == 0 &&
		strcmp(expected_cell(t, 0, i) + n, suffix) == 0))
		i++;
	return i;
}

/* --- writing ---------------------------------------------------------------*/

/* What the runs of a point come to: sums of hits and trials, and how many
 * trials would tell as much if they were independent of each other. */
struct pool {
	double num, den, effective;
};

/* FIRST is the column of the owner's metrics: 0, or an algorithm's. */
static int counts(const struct res_cube *c, size_t point, size_t run,
    size_t first, const struct res_metric *ratio, double *num, double *den)
/* A run that measured nothing, 0 of 0, is no sample of the ratio. */
{
	*num = res_cube_value(c, point, run, first + ratio->num);
	*den = res_cube_value(c, point, run, first + ratio->den);
	return c->status[point * c->n_runs + run] == RES_DONE && !isnan(*num) &&
	    *den > 0;
}

/* The flows and links of one run share its faults, so their trials tell less
 * than as many independent ones. By how much is the design effect: the variance
 * between runs over that of independent trials (L. Kish, Survey Sampling, 1965;
 * for a ratio of two sums). */
static struct pool expected_pool_runs(const struct res_cube *c, size_t point,
    size_t first, const struct res_metric *ratio)
{
	struct pool p = {0};
	double num, den, squares = 0, n = 0;
	for (size_t run = 0; run < c->n_runs; run++)
		if (counts(c, point, run, first, ratio, &num, &den)) {
			p.num += num;
			p.den += den;
			n++;
		}
	p.effective = p.den;
	const double r = p.num / p.den;
	for (size_t run = 0; run < c->n_runs; run++)
		if (counts(c, point, run, first, ratio, &num, &den))
			squares += (num - r * den) * (num - r * den);
	/* A ratio of 0 or 1, or of one run, shows no variance to compare. Below
	 * 1 the effect is chance, and is not believed. */
	if (n > 1 && r > 0 && r < 1) {
		const double effect =
		    squares * n / (n - 1) / (p.den * r * (1 - r));
		p.effective = ceil(p.den / fmax(1, effect));
	}
	return p;
}

/* What would break a line or a column becomes a blank. */
static void expected_put_text(FILE *out, const char *text)
{
	for (; *text; text++)
		putc(strchr("\t\n\r", *text) ? ' ' : *text, out);
}

static void expected_put_number(FILE *out, double x)
{
	char digits[32];
	fputs(isnan(x) ? "NaN" : sim_format_f64(digits, x), out);
}

/* Axes first, as they say which point a row is of, then `runs`, which ends
 * them, then ratios with their trials. */
static void put_header(const struct res_cube *c, FILE *out)
{
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			expected_put_text(out, c->axis[a].coord[i].name);
			putc('\t', out);
		}
	fputs("runs", out);
	for (unsigned m = 0; m < RES_N_TRIAL_RATIOS; m++)
		if (res_cube_has(c, res_trial_ratios[m].den))
			fprintf(out, "\t%s\t%s" TRIALS,
			    res_trial_ratios[m].name, res_trial_ratios[m].name);
	for (size_t a = 0; a < c->n_algos; a++)
		for (unsigned m = 0; m < RES_N_RATIOS; m++)
			for (unsigned i = 0; i < 2; i++) {
				putc('\t', out);
				expected_put_text(out, c->algo[a]);
				fprintf(out, ":%s%s", res_ratios[m].name,
				    i ? TRIALS : "");
			}
	putc('\n', out);
}

static void expected_put_ratio(const struct res_cube *c, size_t point,
    size_t first, const struct res_metric *ratio, FILE *out)
{
	const struct pool p = expected_pool_runs(c, point, first, ratio);
	putc('\t', out);
	expected_put_number(out, p.den > 0 ? p.num / p.den : NAN);
	putc('\t', out);
	expected_put_number(out, p.effective);
}

static void expected_put_point(const struct res_cube *c, size_t point,
    const size_t place[], FILE *out)
{
	size_t n_done = 0;
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			const struct res_coord *k = &c->axis[a].coord[i];
			if (k->number)
				expected_put_number(out, k->number[place[a]]);
			else
				expected_put_text(out, k->text[place[a]]);
			putc('\t', out);
		}
	for (size_t run = 0; run < c->n_runs; run++)
		n_done += c->status[point * c->n_runs + run] == RES_DONE;
	fprintf(out, "%zu", n_done);
	for (unsigned m = 0; m < RES_N_TRIAL_RATIOS; m++)
		if (res_cube_has(c, res_trial_ratios[m].den))
			expected_put_ratio(c, point, 0, &res_trial_ratios[m],
			    out);
	for (size_t a = 0; a < c->n_algos; a++)
		for (unsigned m = 0; m < RES_N_RATIOS; m++)
			expected_put_ratio(c, point, res_row_doubles(a),
			    &res_ratios[m], out);
	putc('\n', out);
}

static int same_ratio(const struct res_cube *c, size_t a, size_t b,
    size_t first, const struct res_metric *ratio)
{
	const struct pool p = expected_pool_runs(c, a, first, ratio);
	const struct pool q = expected_pool_runs(c, b, first, ratio);
	return p.num == q.num && p.den == q.den && p.effective == q.effective;
}

static int same_ratios(const struct res_cube *c, size_t a, size_t b)
{
	int same = 1;
	for (unsigned m = 0; same && m < RES_N_TRIAL_RATIOS; m++)
		same = same_ratio(c, a, b, 0, &res_trial_ratios[m]);
	for (size_t k = 0; same && k < c->n_algos; k++)
		for (unsigned m = 0; same && m < RES_N_RATIOS; m++)
			same = same_ratio(c, a, b, res_row_doubles(k),
			    &res_ratios[m]);
	return same;
}

/* How many of a cell's points, which begin at FIRST, are to be written: one if
 * all have the same ratios, as along pairs or quantiles, else each. */
static size_t telling(const struct res_cube *c, size_t first)
{
	size_t i = 1;
	while (i < c->n_along && same_ratios(c, first, first + i))
		i++;
	return i < c->n_along ? c->n_along : 1;
}

static int write_points(const struct res_cube *c, int all, FILE *out,
    struct sim_err *e)
{
	size_t *place;
	int rc = SIM_ZALLOC(&place, c->n_axes, e);
	if (rc < 0)
		return rc;
	put_header(c, out);
	/* Cells, and not points, decide what is written, so that a table has
	 * either one row of a cell or all of them. */
	for (size_t first = 0; first < c->n_points; first += c->n_along) {
		const size_t n = all ? c->n_along : telling(c, first);
		for (size_t p = first; p < first + n; p++) {
			res_cube_at(c, p, place);
			expected_put_point(c, p, place, out);
		}
	}
	free(place);
	return fflush(out) == 0 && !ferror(out)
	    ? 0
	    : sim_fail(e, SIM_EIO, "cannot write the table.");
}

int xp_expected_write(const struct res_cube *c, FILE *out, struct sim_err *e)
{
	return write_points(c, 0, out, e);
}

/* Ours goes through the same text as the table of the earlier run, so that
 * numbers are rounded alike and values of axes compare as texts. It has all
 * points, whichever the earlier table chose to write. */
static int expected_table_of(struct table *t, const struct res_cube *c,
    struct sim_err *e)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	if (!f)
		return sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	int rc = write_points(c, 1, f, e);
	if (fclose(f) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	if (rc < 0) {
		free(text);
		return rc;
	}
	return split(t, text, c->figure, e);
}

/* --- comparing -------------------------------------------------------------*/

struct ratio {
	double value, trials, lo, hi;
};

/* 0 when the cells hold a ratio; 1 when it has no trials. */
static int read_ratio(const char *value, const char *trials, struct ratio *r,
    struct sim_err *e)
{
	/* Trials beyond 1e12, or in fractions, are none
	 * that were written here. */
	if (sim_parse_f64(trials, &r->trials, e) < 0 || r->trials >= 1e12 ||
	    r->trials != floor(r->trials))
		return SIM_EPARSE;
	if (r->trials == 0)
		return 1;
	if (sim_parse_f64(value, &r->value, e) < 0 || r->value > 1)
		return SIM_EPARSE;
	/* The value was rounded when it was written, so hits are rounded back
	 * to a whole number. */
	return sim_binomial_interval((uint64_t)llround(r->value * r->trials),
	    (uint64_t)r->trials, CONFIDENCE, &r->lo, &r->hi, e);
}

struct compare {
	struct table was, is;
	const char *name;
	struct xp_expected *x;
	void (*differ)(void *arg, const char *sentence);
	void *arg;
};

static void expected_tell(const struct compare *c, size_t line, size_t col,
    const struct ratio *was, const struct ratio *is)
{
	char text[512];
	struct sim_text t = {text, sizeof(text), 0};
	if (!c->differ)
		return;
	/* The columns before `runs` are those of the axes. */
	for (size_t i = 0; strcmp(expected_cell(&c->was, 0, i), "runs") != 0;
	     i++)
		sim_put(&t, "%s%s %s", i ? ", " : "",
		    expected_cell(&c->was, 0, i),
		    expected_cell(&c->was, line, i));
	sim_put(&t, "%s%s %.4f [%.4f, %.4f], was %.4f [%.4f, %.4f]",
	    t.n ? ": " : "", expected_cell(&c->was, 0, col), is->value, is->lo,
	    is->hi, was->value, was->lo, was->hi);
	c->differ(c->arg, text);
}

/* Compare ratio COL of line WAS, of the earlier table, with line IS of ours,
 * which is n_lines when we lack the point. Without trials in the earlier run
 * there is nothing to compare with. */
static int compare_ratio(struct compare *c, size_t was, size_t is, size_t col,
    struct sim_err *e)
{
	const char *name = expected_cell(&c->was, 0, col);
	const size_t trials = find_column(&c->was, name, TRIALS);
	const size_t ours = find_column(&c->is, name, "");
	const size_t our_trials = find_column(&c->is, name, TRIALS);
	struct ratio a, b;
	struct sim_err why;
	int rc = read_ratio(expected_cell(&c->was, was, col),
	    expected_cell(&c->was, was, trials), &a, &why);
	if (rc < 0)
		return sim_fail(e, SIM_EPARSE, "%s:%zu: %s: %s", c->name,
		    was + 1, name, "neither a share nor NaN without trials.");
	if (rc == 1)
		return 0;
	/* What the earlier run measured and ours did not is missing, which is
	 * for the caller to judge, and no error. */
	if (is == c->is.n_lines || ours == c->is.n_cols ||
	    our_trials == c->is.n_cols ||
	    (rc = read_ratio(expected_cell(&c->is, is, ours),
		 expected_cell(&c->is, is, our_trials), &b, e)) == 1) {
		c->x->n_missing++;
		return 0;
	}
	if (rc < 0)
		return rc;
	c->x->n_compared++;
	/* The intervals overlap. */
	if (a.lo <= b.hi && b.lo <= a.hi)
		return 0;
	c->x->n_failed++;
	expected_tell(c, was, col, &a, &b);
	return 0;
}

/* Our line of the point that line WAS is of, by the values of all the
 * axes that the earlier table has, in whatever order ours are;
 * n_lines if there is none. */
static size_t find_point(const struct compare *c, size_t was, size_t runs)
{
	for (size_t line = 1; line < c->is.n_lines; line++) {
		int same = 1;
		for (size_t i = 0; same && i < runs; i++) {
			const size_t k = find_column(&c->is,
			    expected_cell(&c->was, 0, i), "");
			same = k < c->is.n_cols &&
			    strcmp(expected_cell(&c->is, line, k),
				expected_cell(&c->was, was, i)) == 0;
		}
		if (same)
			return line;
	}
	return c->is.n_lines;
}

static int compare(struct compare *c, struct sim_err *e)
{
	const size_t runs = find_column(&c->was, "runs", "");
	int rc = 0;
	if (runs == c->was.n_cols)
		return sim_fail(e, SIM_EPARSE, "%s: no column `runs`.",
		    c->name);
	for (size_t line = 1; rc == 0 && line < c->was.n_lines; line++) {
		const size_t ours = find_point(c, line, runs);
		for (size_t col = runs + 1; rc == 0 && col < c->was.n_cols;
		     col++)
			/* A column with trials beside it is a ratio;
			 * others are not compared. */
			if (find_column(&c->was, expected_cell(&c->was, 0, col),
				TRIALS) < c->was.n_cols)
				rc = compare_ratio(c, line, ours, col, e);
	}
	return rc;
}

int xp_expected_check(const struct res_cube *cube, const char *name,
    const char *text, struct xp_expected *x,
    void (*differ)(void *arg, const char *sentence), void *arg,
    struct sim_err *e)
{
	struct compare c = {.name = name, .x = x, .differ = differ, .arg = arg};
	/* The text is the caller's, and reading it puts NULs into it. */
	const size_t n = strlen(text) + 1;
	char *copy;
	*x = (struct xp_expected){0};
	int rc = SIM_ZALLOC(&copy, n, e);
	if (rc < 0)
		return rc;
	memcpy(copy, text, n);
	if ((rc = split(&c.was, copy, name, e)) == 0 &&
	    (rc = expected_table_of(&c.is, cube, e)) == 0)
		rc = compare(&c, e);
	free_table(&c.was);
	free_table(&c.is);
	return rc;
}
