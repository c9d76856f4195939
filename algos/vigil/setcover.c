/* algos/vigil/setcover.c -- smallest set covers: the instance, its reductions.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/setcover.h"

#include <assert.h>
#include <stdlib.h>

#include "algos/vigil/setcover_order.h"
#include "sim/vec.h"

/* Only counts: memory stays for the next instance, and what is beyond a count
 * is never read. */
void algo_setcover_clear(struct algo_setcover *s)
{
	s->n_rows = s->n_cols = s->n_entries = s->n_rows_left = 0;
	s->n_set = s->n_parts = 0;
	s->token = 0;
}

void algo_setcover_free(struct algo_setcover *s)
{
	free(s->row);
	free(s->col);
	free(s->row_col);
	free(s->col_row);
	free(s->set);
	free(s->part);
	free(s->list);
	free(s->line);
	free(s->price);
	free(s->offer);
	*s = (struct algo_setcover){0};
}

int algo_setcover_add_col(struct algo_setcover *s, uint64_t weight, uint32_t id,
    struct sim_err *e)
{
	int rc;
	if ((rc = SIM_RESERVE(&s->col, &s->cap_col, (size_t)s->n_cols + 1, e)) <
		0 ||
	    (rc = SIM_RESERVE(&s->set, &s->cap_set, (size_t)s->n_cols + 1, e)) <
		0)
		return rc;
	/* set[] has got room for all columns by now, so that taking one later
	 * cannot fail. */
	s->col[s->n_cols] = (struct algo_setcover_col){.weight = weight,
	    .id = id,
	    .up = s->n_cols,
	    .dirty = 1};
	s->n_cols++;
	return 0;
}

int algo_setcover_add_row(struct algo_setcover *s, const uint32_t col[],
    unsigned n, struct sim_err *e)
{
	int rc;
	assert(n > 0 && n <= ALGO_SETCOVER_MAX_ROW);
	if (s->n_entries > UINT32_MAX - n)
		return sim_fail(e, SIM_ELIMIT,
		    "a cover of more than %u entries is too large.",
		    UINT32_MAX);
	if ((rc = SIM_RESERVE(&s->row, &s->cap_row, (size_t)s->n_rows + 1, e)) <
		0 ||
	    (rc = SIM_RESERVE(&s->row_col, &s->cap_row_col,
		 (size_t)s->n_entries + n, e)) < 0)
		return rc;
	struct algo_setcover_row *row = &s->row[s->n_rows++];
	*row = (struct algo_setcover_row){.begin = s->n_entries, .dirty = 1};
	/* A column carries the token of the row that named it last, which tells
	 * a repeated name without a table to clear. */
	s->token++;
	for (unsigned i = 0; i < n; i++) {
		struct algo_setcover_col *c = &s->col[col[i]];
		if (c->mark == s->token)
			continue;
		c->mark = s->token;
		c->n++;
		s->row_col[s->n_entries++] = col[i];
		row->n++;
	}
	row->live = row->n;
	s->n_rows_left++;
	return 0;
}

/* List the rows of each column by counting sort: `begin` starts as the end of
 * the column's run and falls by one a row, so it is right in the end. Rows are
 * taken from the last to the first and stand in ascending order. */
int algo_setcover_index(struct algo_setcover *s, struct sim_err *e)
{
	uint32_t end = 0;
	int rc;
	if ((rc = SIM_RESERVE(&s->col_row, &s->cap_col_row, s->n_entries, e)) <
	    0)
		return rc;
	for (uint32_t c = 0; c < s->n_cols; c++) {
		end += s->col[c].live = s->col[c].n;
		s->col[c].begin = end;
	}
	for (uint32_t r = s->n_rows; r-- > 0;) {
		const uint32_t *col = s->row_col + s->row[r].begin;
		for (uint32_t i = 0; i < s->row[r].n; i++)
			s->col_row[--s->col[col[i]].begin] = r;
	}
	return 0;
}

/* --- reductions -----------------------------------------------------------*/

/* Row R no longer matters. Its columns cover less now, so another one may cover
 * all that they still do: they are to be looked at again. */
static void drop_row(struct algo_setcover *s, uint32_t r)
{
	const uint32_t *col = s->row_col + s->row[r].begin;
	s->row[r].gone = 1;
	s->n_rows_left--;
	for (uint32_t i = 0; i < s->row[r].n; i++) {
		s->col[col[i]].live--;
		s->col[col[i]].dirty = 1;
	}
}

/* Column C is not needed. Its rows are shorter now, so a row may have come to
 * lie within another one: they are to be looked at again. */
static void drop_col(struct algo_setcover *s, uint32_t c)
{
	const uint32_t *row = s->col_row + s->col[c].begin;
	s->col[c].gone = 1;
	for (uint32_t i = 0; i < s->col[c].n; i++) {
		s->row[row[i]].live--;
		s->row[row[i]].dirty = 1;
	}
}

/* Entries are never removed from row_col[] or col_row[]: the `gone` marks and
 * the `live` counts say what is left. */
void algo_setcover_take(struct algo_setcover *s, uint32_t c)
{
	const uint32_t *row = s->col_row + s->col[c].begin;
	s->set[s->n_set++] = c;
	for (uint32_t i = 0; i < s->col[c].n; i++)
		if (!s->row[row[i]].gone)
			drop_row(s, row[i]);
	s->col[c].gone = 1;
}

static int row_has(const struct algo_setcover *s, uint32_t r, uint32_t c)
{
	const uint32_t *col = s->row_col + s->row[r].begin;
	for (uint32_t i = 0; i < s->row[r].n; i++)
		if (col[i] == c)
			return 1;
	return 0;
}

/* Column reduction: whether another column covers all rows that C still covers
 * and is larger, or equal and preferred. Such a rival must be in every one of
 * these rows, so the candidates are the columns of the first, at most sixteen,
 * and each further row keeps only those that it names too. Preference is a
 * strict order: of equal columns one always stays. */
static int is_dominated(const struct algo_setcover *s, uint32_t c)
{
	const struct algo_setcover_col *self = &s->col[c];
	uint32_t rival[ALGO_SETCOVER_MAX_ROW], n = 0;
	const uint32_t *row = s->col_row + self->begin, *end = row + self->n;
	/* A column with live rows has one that is not gone, so this ends. */
	while (s->row[*row].gone)
		row++;
	const uint32_t *col = s->row_col + s->row[*row].begin;
	for (uint32_t i = 0; i < s->row[*row].n; i++) {
		const struct algo_setcover_col *other = &s->col[col[i]];
		if (col[i] != c && !other->gone &&
		    (other->live > self->live ||
			(other->live == self->live &&
			    algo_setcover_prefers(other, self))))
			rival[n++] = col[i];
	}
	while (n > 0 && ++row < end) {
		uint32_t n_kept = 0;
		if (s->row[*row].gone)
			continue;
		for (uint32_t i = 0; i < n; i++)
			if (row_has(s, *row, rival[i]))
				rival[n_kept++] = rival[i];
		n = n_kept;
	}
	return n > 0;
}

/* Row reduction: a row that holds all columns of R is covered whenever R is.
 * Such rows are among those of any column of R, so only the rows of the column
 * with the fewest are looked at. Of equal rows R stays, since it is not
 * compared with itself and the others go. */
static void drop_supersets(struct algo_setcover *s, uint32_t r)
{
	const uint32_t *col = s->row_col + s->row[r].begin;
	uint32_t rarest = UINT32_MAX, least = UINT32_MAX;
	s->token++;
	for (uint32_t i = 0; i < s->row[r].n; i++) {
		struct algo_setcover_col *c = &s->col[col[i]];
		if (c->gone)
			continue;
		c->mark = s->token;
		if (c->live < least) {
			least = c->live;
			rarest = col[i];
		}
	}
	const uint32_t *row = s->col_row + s->col[rarest].begin;
	for (uint32_t i = 0; i < s->col[rarest].n; i++) {
		const struct algo_setcover_row *other = &s->row[row[i]];
		uint32_t n_shared = 0;
		if (other->gone || row[i] == r)
			continue;
		col = s->row_col + other->begin;
		for (uint32_t j = 0; j < other->n; j++)
			n_shared += s->col[col[j]].mark == s->token;
		if (n_shared == s->row[r].live)
			drop_row(s, row[i]);
	}
}

/* A column can become dominated only by losing a row itself, and a row can get
 * a new superset only by losing a column itself, hence the dirty marks: a sweep
 * costs what the last one changed. A column without live rows goes at once; it
 * dominates nothing and need not start another round. */
static int sweep_cols(struct algo_setcover *s)
{
	int changed = 0;
	for (uint32_t c = 0; c < s->n_cols; c++) {
		struct algo_setcover_col *col = &s->col[c];
		if (!col->dirty || col->gone)
			continue;
		col->dirty = 0;
		if (col->live == 0) {
			col->gone = 1;
		} else if (is_dominated(s, c)) {
			drop_col(s, c);
			changed = 1;
		}
	}
	return changed;
}

/* A row with one column left forces that column into every cover, so it is
 * taken; any other row may make supersets redundant. */
static int sweep_rows(struct algo_setcover *s)
{
	const uint32_t before = s->n_rows_left;
	for (uint32_t r = 0; r < s->n_rows; r++) {
		struct algo_setcover_row *row = &s->row[r];
		if (!row->dirty || row->gone)
			continue;
		row->dirty = 0;
		/* A row's columns are never all gone: one goes only when
		 * another covers all its rows, or when it is taken with
		 * them. */
		if (row->live > 1) {
			drop_supersets(s, r);
			continue;
		}
		const uint32_t *col = s->row_col + row->begin;
		while (s->col[*col].gone)
			col++;
		algo_setcover_take(s, *col);
	}
	return s->n_rows_left < before;
}

/* To a fixpoint: what the columns lose may shorten rows and the other way
 * round. Each step leaves the optimum as it is, so the rows left and n_set add
 * up to it. */
void algo_setcover_reduce(struct algo_setcover *s)
{
	int changed = 1;
	while (changed && s->n_rows_left > 0) {
		changed = sweep_cols(s);
		changed |= sweep_rows(s);
	}
}
