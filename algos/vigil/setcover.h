/* algos/vigil/setcover.h -- smallest set covers: exact reductions, bounds.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows are to be covered; a column covers the rows that name it. Wanted is a
 * smallest set of columns that covers all rows. Call order:
 *
 *	clear   add_col ...   add_row ...   index
 *	reduce  until nothing more can be said without a search
 *	split   what is left into parts that share no column
 *	part    one part as an instance of its own, in canonical order, for
 *	        disjoint, greedy and price: bounds and covers of it
 *	polish  the cover of the whole, put together from the parts'
 *
 * Columns have an order of preference, greater weight first and then smaller
 * id. It decides between columns that do the same, and nothing else; neither
 * the order of columns nor that of rows changes an answer.
 */
#ifndef ALGOS_VIGIL_SETCOVER_H
#define ALGOS_VIGIL_SETCOVER_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

#define ALGO_SETCOVER_MAX_ROW 16 /* columns of a row */

struct algo_setcover_row {
	uint32_t begin, n; /* columns row_col[begin .. begin + n - 1] */
	uint32_t live;     /* of these not gone */
	uint32_t n_set;    /* of these in a set */
	int open;          /* price: 1 - the number of its columns with d < 0 */
	uint8_t gone, dirty, seen;
};

struct algo_setcover_col {
	uint64_t weight;
	uint32_t id;
	uint32_t up;       /* in a part: the column of the whole */
	uint32_t begin, n; /* rows col_row[begin .. begin + n - 1] */
	uint32_t live;     /* of these not gone */
	uint32_t local;    /* in the part that was made last */
	uint64_t mark;
	uint8_t gone, dirty, in_set;
};

struct algo_setcover_part {
	uint32_t begin, n_rows; /* in list[] */
	uint32_t id;            /* the smallest of its columns */
};

/* A row of a part while it is being sorted. */
struct algo_setcover_line {
	uint32_t n, col[ALGO_SETCOVER_MAX_ROW];
};

/* A column at its reduced cost. */
struct algo_setcover_offer {
	double d;
	uint32_t col;
};

/* Zeroed is valid and empty; memory is kept from instance to instance. */
struct algo_setcover {
	struct algo_setcover_row *row;
	struct algo_setcover_col *col;
	uint32_t n_rows, n_cols, n_entries;
	uint32_t n_rows_left; /* not gone */
	uint32_t *row_col, *col_row;

	uint32_t *set; /* columns taken by reduce or by greedy */
	uint32_t n_set;

	struct algo_setcover_part *part; /* fewest rows first */
	uint32_t n_parts;
	uint32_t *list; /* scratch: rows, by part */

	struct algo_setcover_line *line;   /* scratch of a part */
	double *price;                     /* scratch of price */
	struct algo_setcover_offer *offer; /* scratch of price */
	uint64_t token;
	size_t cap_row, cap_col, cap_row_col, cap_col_row, cap_set, cap_part,
	    cap_list, cap_line, cap_price, cap_offer;
};

void algo_setcover_clear(struct algo_setcover *s);
void algo_setcover_free(struct algo_setcover *s);

/* Append column n_cols. Errors SIM_ENOMEM. */
int algo_setcover_add_col(struct algo_setcover *s, uint64_t weight, uint32_t id,
    struct sim_err *e);

/* Append a row that N columns cover; one named twice counts once.
 * Domain 0 < n <= ALGO_SETCOVER_MAX_ROW, col[i] < n_cols.
 * Errors SIM_ENOMEM, SIM_ELIMIT (2^32 - 1 entries). */
int algo_setcover_add_row(struct algo_setcover *s, const uint32_t col[],
    unsigned n, struct sim_err *e);

/* List the rows of each column; nothing may be added after. Errors SIM_ENOMEM.
 * Cost O(entries). */
int algo_setcover_index(struct algo_setcover *s, struct sim_err *e);

/* Remove, until nothing changes: columns whose rows another column covers too
 * (of equal ones the preferred stays), rows that hold all columns of another
 * row, and rows of one column, which is taken. Every step keeps a smallest
 * cover: the optimum is n_set plus that of the rows left. */
void algo_setcover_reduce(struct algo_setcover *s);

/* Find the parts of what is left. Errors SIM_ENOMEM. Cost O(entries). */
int algo_setcover_split(struct algo_setcover *s, struct sim_err *e);

/* Make part K an indexed instance of its own: columns in order of preference,
 * rows in lexicographic order, whatever the order in S. OUT is overwritten.
 * Errors SIM_ENOMEM. */
int algo_setcover_part(struct algo_setcover *s, uint32_t k,
    struct algo_setcover *out, struct sim_err *e);

/* Cover the rows left greedily: take the column that covers most of them, of
 * equal ones the preferred. Cost O(columns * taken + entries). */
void algo_setcover_greedy(struct algo_setcover *s);

/* Given a cover of all rows of S (also of those gone) in set[n_set]: leave out
 * columns that are not needed, and exchange one for a preferred one, until
 * neither can be done. The cover gets no larger. */
void algo_setcover_polish(struct algo_setcover *s);

/* No cover is smaller than this: the number of rows, chosen greedily, that
 * share no column. For instances without rows gone. Uses list[].
 * Errors SIM_ENOMEM. Cost O(rows log rows + entries). */
int algo_setcover_disjoint(struct algo_setcover *s, uint32_t *bound,
    struct sim_err *e);

/* Given a cover in set[] and a bound, improve on both by Lagrangian prices,
 * without a search. Columns that cannot be in a smaller cover than set[] are
 * then gone, but none of set[]. For parts. Errors SIM_ENOMEM.
 * Cost O(entries) a step, at most a thousand steps. */
int algo_setcover_price(struct algo_setcover *s, uint32_t *bound,
    struct sim_err *e);

#endif
