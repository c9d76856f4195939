/* experiments/report/numbers.c -- a figure's numbers as tables of a page.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Statistics are those of results/table.c, read back from its text: so a page
 * cannot say other than a table does.
 */
#include "experiments/report/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/report/markup.h"
#include "results/table.h"
#include "sim/vec.h"

struct tsv {
	char *text;
	size_t n_columns, n_rows;
	char **cell; /* [1 + n_rows][n_columns], the head first */
};

/* A number with what belongs to it. */
struct column {
	size_t value, lo, hi; /* SIZE_MAX: it has none */
};

struct columns {
	size_t n;
	struct column *one; /* [tsv.n_columns] */
};

static const char *tsv_at(const struct tsv *t, size_t row, size_t column)
{
	return t->cell[row * t->n_columns + column];
}

static int tsv_split(struct tsv *t, struct sim_err *e)
{
	size_t n_lines = 0, n = 1;
	for (const char *s = t->text; *s; s++)
		n_lines += *s == '\n';
	for (const char *s = t->text; *s && *s != '\n'; s++)
		n += *s == '\t';
	t->n_columns = n;
	t->n_rows = n_lines > 0 ? n_lines - 1 : 0;
	int rc = SIM_ZALLOC(&t->cell, (t->n_rows + 1) * n, e);
	char *rest = t->text;
	for (size_t i = 0; rc == 0 && i < (t->n_rows + 1) * n; i++) {
		t->cell[i] = rest;
		rest += strcspn(rest, "\t\n");
		if (*rest)
			*rest++ = '\0';
	}
	return rc;
}

static int tsv_open(struct tsv *t, const struct res_cube *c, struct sim_err *e)
{
	struct mark_buffer b;
	int rc = mark_open(&b, e);
	if (rc < 0)
		return rc;
	rc = mark_close(&b, res_table_write(c, b.out, e), e);
	t->text = b.text;
	return rc < 0 ? rc : tsv_split(t, e);
}

static void tsv_close(struct tsv *t)
{
	free(t->text);
	free(t->cell);
}

/* --- which columns -------------------------------------------------------- */

static int has_end(const char *name, const char *end)
{
	const size_t n = strlen(name), k = strlen(end);
	return n > k && strcmp(name + n - k, end) == 0;
}

/* Spreads over runs and denominators are left to `culprit table`. */
static int is_aside(const char *name)
{
	static const char *const ends[] = {"_lo", "_hi", "_p10", "_p50", "_p90",
	    "_trials"};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (has_end(name, ends[i]))
			return 1;
	return strncmp(name, "claim:", 6) == 0;
}

static int numbers_is_measured(const struct tsv *t, size_t column)
{
	for (size_t r = 1; r <= t->n_rows; r++)
		if (strcmp(tsv_at(t, r, column), "NaN") != 0)
			return 1;
	return 0;
}

/* A ratio stands before its interval. */
static size_t follows(const struct tsv *t, size_t i, size_t k, const char *end)
{
	return i + k < t->n_columns && has_end(tsv_at(t, 0, i + k), end)
	    ? i + k
	    : SIZE_MAX;
}

static void columns_add(struct columns *c, const struct tsv *t, size_t i)
{
	c->one[c->n++] = (struct column){i, follows(t, i, 1, "_lo"),
	    follows(t, i, 2, "_hi")};
}

/* Those of the points, from FROM to TO. */
static void choose_columns_of(struct columns *c, const struct tsv *t,
    size_t from, size_t to, size_t n_blocks)
{
	for (size_t i = from; i < to; i++) {
		int any = 0;
		for (size_t b = 0; !any && b < n_blocks; b++)
			any = numbers_is_measured(t, i + b * (to - from));
		if (any && !is_aside(tsv_at(t, 0, i)))
			columns_add(c, t, i);
	}
}

/* --- rows ----------------------------------------------------------------- */

static void numbers_put_value(FILE *out, const char *text)
{
	char *end;
	const double x = strtod(text, &end);
	if (strcmp(text, "NaN") == 0)
		fputs("\xe2\x80\x93", out);
	else if (end == text || *end)
		mark_text(out, text);
	else if (x == floor(x) && fabs(x) < 1e15)
		fprintf(out, "%.0f", x);
	else
		fprintf(out, "%.4g", x);
}

static void put_number(FILE *out, const struct tsv *t, size_t row,
    const struct column *k, size_t shift)
{
	fputs("<td class=\"num\">", out);
	numbers_put_value(out, tsv_at(t, row, k->value + shift));
	if (k->lo != SIZE_MAX && k->hi != SIZE_MAX &&
	    strcmp(tsv_at(t, row, k->lo + shift), "NaN") != 0) {
		fputs(" <small>[", out);
		numbers_put_value(out, tsv_at(t, row, k->lo + shift));
		fputs(", ", out);
		numbers_put_value(out, tsv_at(t, row, k->hi + shift));
		fputs("]</small>", out);
	}
	fputs("</td>", out);
}

/* Names without their owner; what they mean is told to who points at them. */
static void put_name(FILE *out, const char *name, const char *owner)
{
	const size_t n = owner ? strlen(owner) : 0;
	if (owner && strncmp(name, owner, n) == 0 && name[n] == ':')
		name += n + 1;
	const struct res_metric *m = res_metric_find(name, NULL);
	fputs("<th scope=\"col\" class=\"num\"", out);
	if (m) {
		fputs(" title=\"", out);
		mark_text(out, m->doc);
		fputs("\"", out);
	}
	fputs(">", out);
	mark_text(out, name);
	fputs("</th>", out);
}

static void numbers_put_head(FILE *out, const struct tsv *t, size_t n_coords,
    const char *owner, const struct columns *c)
{
	fputs("<div class=\"scroll\" tabindex=\"0\"><table "
	      "class=\"sortable\">\n"
	      "<thead><tr>",
	    out);
	for (size_t i = 0; i < n_coords; i++) {
		fputs("<th scope=\"col\" class=\"num\">", out);
		mark_text(out, tsv_at(t, 0, i));
		fputs("</th>", out);
	}
	if (owner)
		fputs("<th scope=\"col\">algorithm</th>", out);
	for (size_t i = 0; i < c->n; i++)
		put_name(out, tsv_at(t, 0, c->one[i].value), owner);
	fputs("</tr></thead>\n<tbody>\n", out);
}

static void numbers_put_coords(FILE *out, const struct tsv *t, size_t row,
    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fputs("<td class=\"num\">", out);
		numbers_put_value(out, tsv_at(t, row, i));
		fputs("</td>", out);
	}
}

static void numbers_put_end(FILE *out, size_t n, size_t most, const char *file)
{
	fputs("</tbody></table></div>\n", out);
	if (n <= most)
		return;
	fprintf(out,
	    "<p class=\"note\">The first %zu of %zu rows; all are in "
	    "<code>culprit table ",
	    most, n);
	mark_text(out, file);
	fputs("</code>.</p>\n", out);
}

static void numbers_put_points(FILE *out, const struct tsv *t, size_t n_coords,
    const struct columns *c, const char *file)
{
	const size_t n = t->n_rows;
	numbers_put_head(out, t, n_coords, NULL, c);
	for (size_t r = 1; r <= n && r <= XP_NUMBERS_ROWS; r++) {
		fputs("<tr>", out);
		numbers_put_coords(out, t, r, n_coords);
		for (size_t i = 0; i < c->n; i++)
			put_number(out, t, r, &c->one[i], 0);
		fputs("</tr>\n", out);
	}
	numbers_put_end(out, n, XP_NUMBERS_ROWS, file);
}

static void put_algos(FILE *out, const struct tsv *t, const struct res_cube *q,
    size_t n_coords, size_t block, const struct columns *c, const char *file)
{
	const size_t n = t->n_rows * q->n_algos;
	numbers_put_head(out, t, n_coords, q->algo[0], c);
	for (size_t k = 0; k < n && k < XP_NUMBERS_ROWS; k++) {
		const size_t r = 1 + k / q->n_algos, a = k % q->n_algos;
		fputs("<tr>", out);
		numbers_put_coords(out, t, r, n_coords);
		fputs("<td>", out);
		mark_text(out, q->algo[a]);
		fputs("</td>", out);
		for (size_t i = 0; i < c->n; i++)
			put_number(out, t, r, &c->one[i], a * block);
		fputs("</tr>\n", out);
	}
	numbers_put_end(out, n, XP_NUMBERS_ROWS, file);
}

/* Figures have the same. Who compares by them is to know what they take for
 * granted. */
static void put_about(FILE *out, const char *file)
{
	fputs("<p class=\"note\">Ratios are pooled over runs. In brackets are "
	      "95 % "
	      "intervals, of ratios exact and as if flows did not depend on "
	      "each other, as figures have them; those between runs are in "
	      "<code>culprit table --tidy ",
	    out);
	mark_text(out, file);
	fputs("</code>.</p>\n", out);
}

/* The algorithms' columns begin with the first one's label, and end where
 * claims do begin; each has as many. */
static void find_blocks(const struct tsv *t, const struct res_cube *c,
    size_t n_coords, size_t *from, size_t *block)
{
	size_t end = t->n_columns;
	*from = end;
	*block = 0;
	while (
	    end > n_coords && strncmp(tsv_at(t, 0, end - 1), "claim:", 6) == 0)
		end--;
	*from = end;
	if (c->n_algos == 0)
		return;
	const size_t n = strlen(c->algo[0]);
	for (*from = n_coords; *from < end; ++*from)
		if (strncmp(tsv_at(t, 0, *from), c->algo[0], n) == 0 &&
		    tsv_at(t, 0, *from)[n] == ':')
			break;
	*block = (end - *from) / c->n_algos;
}

int xp_numbers_put(FILE *out, const struct res_cube *c, const char *file,
    struct sim_err *e)
{
	struct tsv t = {0};
	struct columns points = {0}, algos = {0};
	size_t n_coords = 0, from, block;
	for (size_t i = 0; i < c->n_axes; i++)
		n_coords += c->axis[i].n_coords;
	int rc = tsv_open(&t, c, e);
	if (rc == 0 && (rc = SIM_ZALLOC(&points.one, t.n_columns, e)) == 0 &&
	    (rc = SIM_ZALLOC(&algos.one, t.n_columns, e)) == 0) {
		find_blocks(&t, c, n_coords, &from, &block);
		choose_columns_of(&points, &t, n_coords, from, 1);
		choose_columns_of(&algos, &t, from, from + block, c->n_algos);
		put_about(out, file);
		if (algos.n > 0)
			put_algos(out, &t, c, n_coords, block, &algos, file);
		if (algos.n > 0)
			fputs("<h3>The trials themselves</h3>\n", out);
		numbers_put_points(out, &t, n_coords, &points, file);
	}
	free(points.one);
	free(algos.one);
	tsv_close(&t);
	return rc;
}
