/* results/sheet.h -- a sweep's table in memory, its columns by name.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What results/table.h writes, cut into cells: row p is point p. So whatever
 * arranges numbers has the same as a table, and computes none itself.
 */
#ifndef RESULTS_SHEET_H
#define RESULTS_SHEET_H

#include <stddef.h>

#include "results/cube.h"
#include "sim/err.h"

struct res_sheet {
	size_t n_columns, n_rows;
	char **name; /* [n_columns] */
	char **cell; /* [n_rows][n_columns] */
	char *text;  /* what both point into */
};

/* S need not be initialised, and is empty after an error. Cost that of the
 * table. Errors of res_table_write(). */
int res_sheet_read(struct res_sheet *s, const struct res_cube *c,
    struct sim_err *e);
void res_sheet_free(struct res_sheet *s);

/* The column of OWNER's metric WHAT with that suffix, as "vote", "recall",
 * "_lo"; OWNER may be NULL. n_columns if there is none. */
size_t res_sheet_find(const struct res_sheet *s, const char *owner,
    const char *what, const char *suffix);

/* What stands in TEXT behind PART; NULL if it does not begin so, or is NULL. */
const char *res_sheet_behind(const char *text, const char *part);

/* A cell as a number: NaN if it is none, or the column is n_columns. */
double res_sheet_number(const struct res_sheet *s, size_t row, size_t column);

/* Has that column a number in any row? */
int res_sheet_has(const struct res_sheet *s, size_t column);

#endif
