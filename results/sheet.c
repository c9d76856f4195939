/* results/sheet.c -- a sweep's table in memory, its columns by name.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/table.h"
#include "sim/text.h"
#include "sim/vec.h"

/* Cut the first line of *REST at its tabs into OUT[n]. */
static void sheet_cut_line(char **rest, char **out, size_t n)
{
	char *line = strsep(rest, "\n");
	for (size_t i = 0; i < n; i++)
		out[i] = strsep(&line, "\t");
}

int res_sheet_read(struct res_sheet *s, const struct res_cube *c,
    struct sim_err *e)
{
	*s = (struct res_sheet){.n_columns = 1, .n_rows = c->n_points};
	int rc = res_table_text(c, &s->text, e);
	char *rest = s->text;
	if (rc == 0)
		for (const char *at = s->text; *at != '\n'; at++)
			s->n_columns += *at == '\t';
	if (rc == 0)
		rc = SIM_ZALLOC(&s->name, s->n_columns, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&s->cell, s->n_columns * s->n_rows, e);
	if (rc < 0) {
		res_sheet_free(s);
		return rc;
	}
	sheet_cut_line(&rest, s->name, s->n_columns);
	for (size_t row = 0; row < s->n_rows; row++)
		sheet_cut_line(&rest, s->cell + row * s->n_columns,
		    s->n_columns);
	return 0;
}

void res_sheet_free(struct res_sheet *s)
{
	free(s->name);
	free(s->cell);
	free(s->text);
	*s = (struct res_sheet){0};
}

const char *res_sheet_behind(const char *text, const char *part)
{
	const size_t n = strlen(part);
	return text && strncmp(text, part, n) == 0 ? text + n : NULL;
}

size_t res_sheet_find(const struct res_sheet *s, const char *owner,
    const char *what, const char *suffix)
{
	size_t i = 0;
	for (; i < s->n_columns; i++) {
		const char *at = s->name[i];
		if (owner && (at = res_sheet_behind(at, owner)))
			at = res_sheet_behind(at, ":");
		at = res_sheet_behind(res_sheet_behind(at, what), suffix);
		if (at && !*at)
			break;
	}
	return i;
}

double res_sheet_number(const struct res_sheet *s, size_t row, size_t column)
{
	double x = NAN;
	if (column < s->n_columns &&
	    sim_parse_f64(s->cell[row * s->n_columns + column], &x, NULL) < 0)
		return NAN;
	return x;
}

int res_sheet_has(const struct res_sheet *s, size_t column)
{
	for (size_t row = 0; row < s->n_rows; row++)
		if (!isnan(res_sheet_number(s, row, column)))
			return 1;
	return 0;
}
