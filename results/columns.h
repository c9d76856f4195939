/* results/columns.h -- a table of numbers by column, few of which may be there.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sweep has about a hundred metrics, of which a single one measures a half,
 * and readers want one metric of all trials. So a column stands together, and
 * one without a number takes no memory: NaN is stored as zero bits, which is
 * what memory that was never written reads as. NaNs lose their payload.
 *
 * A table that is larger than memory ought to hold can move into a file without
 * a name. Then no more than RES_COLUMNS_RESIDENT of it stays in memory after it
 * was written to, and one column more while it is read.
 */
#ifndef RESULTS_COLUMNS_H
#define RESULTS_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/err.h"

#define RES_COLUMNS_RESIDENT ((size_t)64 << 20)

struct res_columns {
	size_t n_rows, n; /* columns */
	uint64_t *bits;   /* [n][n_rows] */
	uint8_t *has;     /* [n] whether it ever had a number */
	int in_file;
	size_t
	    n_fresh; /* bytes that were written since memory was given back */
};

/* All are NaN. Zeroed is a table of none. Errors SIM_ELIMIT if there are more
 * numbers than can be counted, SIM_ENOMEM. Cost O(1), until written to. */
int res_columns_open(struct res_columns *t, size_t n_rows, size_t n,
    struct sim_err *e);
void res_columns_close(struct res_columns *t);

/* If it is larger than RES_COLUMNS_RESIDENT, move it into a file in the folder
 * of BESIDE, which is removed with the last process that has it. All of it is
 * allotted at once, so a disk that is full later does no harm. What was put in
 * before is lost. Errors SIM_EIO naming BESIDE, SIM_ENOMEM. */
int res_columns_spill(struct res_columns *t, const char *beside,
    struct sim_err *e);

/* Domain: ROW < n_rows, COLUMN < n, here and below. */
static inline double res_columns_get(const struct res_columns *t, size_t row,
    size_t column)
{
	const double nan = __builtin_nan("");
	uint64_t zero, bits;
	double x;
	memcpy(&zero, &nan, sizeof(zero));
	bits = t->bits[column * t->n_rows + row] ^ zero;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

void res_columns_put(struct res_columns *t, size_t row, size_t column,
    double x);

/* TO[n_rows] is a column, and FROM[n_rows] becomes one. */
void res_columns_read(const struct res_columns *t, size_t column, double to[]);
void res_columns_write(struct res_columns *t, size_t column,
    const double from[]);

/* COLUMN was read, and will not be soon: where it is in a file, memory is given
 * back. Any number of res_columns_get() without this keep the whole in memory. */
void res_columns_rest(const struct res_columns *t, size_t column);

/* Is there a number in that column? */
int res_columns_has(const struct res_columns *t, size_t column);

#endif
