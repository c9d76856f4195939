/* experiments/expected.c -- results against those of an earlier full run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/expected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/table.h"
#include "sim/stat.h"
#include "sim/text.h"
#include "sim/vec.h"

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

/* TEXT is the table's from here on, also on failure. */
static int split(struct table *t, char *text, const char *name,
    struct sim_err *e)
{
	int rc = 0;
	t->text = text;
	while (rc == 0 && *text) {
		char *end = text + strcspn(text, "\n");
		const int last = *end == '\0';
		*end = '\0';
		rc = add_line(t, text, name, e);
		text = last ? end : end + 1;
	}
	if (rc == 0 && t->n_lines == 0)
		rc = sim_fail(e, SIM_EPARSE, "%s: an empty table.", name);
	return rc;
}

static const char *cell(const struct table *t, size_t line, size_t col)
{
	return t->cell[line * t->n_cols + col];
}

/* The column of that name and suffix; n_cols if there is none. */
static size_t find_column(const struct table *t, const char *name,
    const char *suffix)
{
	const size_t n = strlen(name);
	size_t i = 0;
	while (i < t->n_cols &&
	    !(strncmp(cell(t, 0, i), name, n) == 0 &&
		strcmp(cell(t, 0, i) + n, suffix) == 0))
		i++;
	return i;
}

/* Our table, as `culprit table` prints it. */
static int table_of(struct table *t, const struct res_cube *c,
    struct sim_err *e)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	if (!f)
		return sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	int rc = res_table_write(c, f, e);
	if (fclose(f) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	if (rc < 0) {
		free(text);
		return rc;
	}
	return split(t, text, c->figure, e);
}

/* --- writing ---------------------------------------------------------------*/

/* Axes, runs, ratios and their trials. */
static int is_kept(const struct table *t, size_t col, size_t runs)
{
	const char *name = cell(t, 0, col);
	const size_t n = strlen(name), k = strlen(TRIALS);
	return col <= runs || find_column(t, name, TRIALS) < t->n_cols ||
	    (n > k && strcmp(name + n - k, TRIALS) == 0);
}

int xp_expected_write(const struct res_cube *c, FILE *out, struct sim_err *e)
{
	struct table t = {0};
	int rc = table_of(&t, c, e);
	const size_t runs = rc == 0 ? find_column(&t, "runs", "") : 0;
	for (size_t line = 0; rc == 0 && line < t.n_lines; line++) {
		int n = 0;
		for (size_t col = 0; col < t.n_cols; col++)
			if (is_kept(&t, col, runs))
				fprintf(out, "%s%s", n++ ? "\t" : "",
				    cell(&t, line, col));
		putc('\n', out);
	}
	if (rc == 0 && (fflush(out) != 0 || ferror(out)))
		rc = sim_fail(e, SIM_EIO, "cannot write the table.");
	free_table(&t);
	return rc;
}

/* --- comparing -------------------------------------------------------------*/

struct ratio {
	double value, trials, lo, hi;
};

/* 0 when the cells hold a ratio; 1 when it has no trials. */
static int read_ratio(const char *value, const char *trials, struct ratio *r,
    struct sim_err *e)
{
	if (sim_parse_f64(trials, &r->trials, e) < 0 || r->trials >= 0x1p53)
		return SIM_EPARSE;
	if (r->trials == 0)
		return 1;
	if (sim_parse_f64(value, &r->value, e) < 0 || r->value > 1)
		return SIM_EPARSE;
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

static void tell(const struct compare *c, size_t line, size_t col,
    const struct ratio *was, const struct ratio *is)
{
	char text[512];
	struct sim_text t = {text, sizeof(text), 0};
	if (!c->differ)
		return;
	for (size_t i = 0; strcmp(cell(&c->was, 0, i), "runs") != 0; i++)
		sim_put(&t, "%s%s %s", i ? ", " : "", cell(&c->was, 0, i),
		    cell(&c->was, line, i));
	sim_put(&t, "%s%s %.4f [%.4f, %.4f], was %.4f [%.4f, %.4f]",
	    t.n ? ": " : "", cell(&c->was, 0, col), is->value, is->lo, is->hi,
	    was->value, was->lo, was->hi);
	c->differ(c->arg, text);
}

/* Ratio COL of line WAS against line IS of ours; n_lines: no such point. */
static int compare_ratio(struct compare *c, size_t was, size_t is, size_t col,
    struct sim_err *e)
{
	const char *name = cell(&c->was, 0, col);
	const size_t trials = find_column(&c->was, name, TRIALS);
	const size_t ours = find_column(&c->is, name, "");
	const size_t our_trials = find_column(&c->is, name, TRIALS);
	struct ratio a, b;
	struct sim_err why;
	int rc = read_ratio(cell(&c->was, was, col), cell(&c->was, was, trials),
	    &a, &why);
	if (rc < 0)
		return sim_fail(e, SIM_EPARSE, "%s:%zu: %s: %s", c->name,
		    was + 1, name, "neither a share nor NaN without trials.");
	if (rc == 1)
		return 0;
	if (is == c->is.n_lines || ours == c->is.n_cols ||
	    our_trials == c->is.n_cols ||
	    (rc = read_ratio(cell(&c->is, is, ours),
		 cell(&c->is, is, our_trials), &b, e)) == 1) {
		c->x->n_missing++;
		return 0;
	}
	if (rc < 0)
		return rc;
	c->x->n_compared++;
	if (a.lo <= b.hi && b.lo <= a.hi)
		return 0;
	c->x->n_failed++;
	tell(c, was, col, &a, &b);
	return 0;
}

/* Our line of the point that line WAS is of; n_lines if there is none. */
static size_t find_point(const struct compare *c, size_t was, size_t runs)
{
	for (size_t line = 1; line < c->is.n_lines; line++) {
		int same = 1;
		for (size_t i = 0; same && i < runs; i++) {
			const size_t k =
			    find_column(&c->is, cell(&c->was, 0, i), "");
			same = k < c->is.n_cols &&
			    strcmp(cell(&c->is, line, k),
				cell(&c->was, was, i)) == 0;
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
			if (find_column(&c->was, cell(&c->was, 0, col),
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
	const size_t n = strlen(text) + 1;
	char *copy;
	*x = (struct xp_expected){0};
	int rc = SIM_ZALLOC(&copy, n, e);
	if (rc < 0)
		return rc;
	memcpy(copy, text, n);
	if ((rc = split(&c.was, copy, name, e)) == 0 &&
	    (rc = table_of(&c.is, cube, e)) == 0)
		rc = compare(&c, e);
	free_table(&c.was);
	free_table(&c.is);
	return rc;
}
