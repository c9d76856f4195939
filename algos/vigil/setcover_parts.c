/* algos/vigil/setcover_parts.c -- smallest set covers: parts, greedy, bound.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "algos/vigil/setcover.h"
#include "algos/vigil/setcover_order.h"
#include "sim/sort.h"
#include "sim/vec.h"

/* --- parts ----------------------------------------------------------------*/

/* Append the rows of column C that nobody has seen. */
static uint32_t see_rows(struct algo_setcover *s, uint32_t c, uint32_t n)
{
	const uint32_t *row = s->col_row + s->col[c].begin;
	for (uint32_t i = 0; i < s->col[c].n; i++) {
		struct algo_setcover_row *r = &s->row[row[i]];
		if (!r->gone && !r->seen) {
			r->seen = 1;
			s->list[n++] = row[i];
		}
	}
	return n;
}

/* Collect the part of the row at list[BEGIN], breadth first. */
static struct algo_setcover_part setcover_parts_collect(struct algo_setcover *s,
    uint32_t begin)
{
	struct algo_setcover_part p = {.begin = begin, .id = UINT32_MAX};
	uint32_t end = begin + 1;
	for (uint32_t at = begin; at < end; at++) {
		const struct algo_setcover_row *r = &s->row[s->list[at]];
		for (uint32_t i = 0; i < r->n; i++) {
			const uint32_t c = s->row_col[r->begin + i];
			if (s->col[c].gone)
				continue;
			if (s->col[c].id < p.id)
				p.id = s->col[c].id;
			end = see_rows(s, c, end);
		}
	}
	p.n_rows = end - begin;
	return p;
}

/* Fewest rows first, so that the limits on solving are spent on parts that are
 * likely to be finished. The smallest id makes the order independent of the
 * order in which the parts were found. */
static int smaller_part(const void *a, const void *b)
{
	const struct algo_setcover_part *x = a, *y = b;
	if (x->n_rows != y->n_rows)
		return SIM_ORDER(x->n_rows, y->n_rows);
	return SIM_ORDER(x->id, y->id);
}

int algo_setcover_split(struct algo_setcover *s, struct sim_err *e)
{
	uint32_t n = 0;
	int rc;
	s->n_parts = 0;
	if ((rc = SIM_RESERVE(&s->list, &s->cap_list, s->n_rows_left, e)) < 0)
		return rc;
	for (uint32_t r = 0; n < s->n_rows_left; r++) {
		/* Every row left is in exactly one part, so list[] ends as the
		 * rows left, part after part. */
		if (s->row[r].gone || s->row[r].seen)
			continue;
		if ((rc = SIM_RESERVE(&s->part, &s->cap_part,
			 (size_t)s->n_parts + 1, e)) < 0)
			return rc;
		/* The first row of a part that nobody has seen;
		 * setcover_parts_collect() then finds all that are joined to it
		 * by columns. */
		s->row[r].seen = 1;
		s->list[n] = r;
		s->part[s->n_parts] = setcover_parts_collect(s, n);
		n += s->part[s->n_parts++].n_rows;
	}
	if (s->n_parts > 1)
		qsort(s->part, s->n_parts, sizeof(*s->part), smaller_part);
	return 0;
}

/* Two columns are never equal, as ids differ: qsort() cannot leave their order
 * to chance. */
static int preferred_col(const void *a, const void *b)
{
	const struct algo_setcover_col *x = a, *y = b;
	return algo_setcover_prefers(x, y) ? -1 : algo_setcover_prefers(y, x);
}

/* Lexicographic, a prefix before what it begins. Equal lines stand for equal
 * rows, so their order does not matter. */
static int smaller_line(const void *a, const void *b)
{
	const struct algo_setcover_line *x = a, *y = b;
	for (uint32_t i = 0; i < x->n && i < y->n; i++)
		if (x->col[i] != y->col[i])
			return SIM_ORDER(x->col[i], y->col[i]);
	return SIM_ORDER(x->n, y->n);
}

/* Give OUT the columns of part P, each once, in order of preference. `up`
 * leads from there back to the whole, `local` from the whole to the part made
 * last. */
static int add_cols(struct algo_setcover *s, const struct algo_setcover_part *p,
    struct algo_setcover *out, struct sim_err *e)
{
	int rc;
	s->token++;
	for (uint32_t k = 0; k < p->n_rows; k++) {
		const struct algo_setcover_row *r =
		    &s->row[s->list[p->begin + k]];
		for (uint32_t i = 0; i < r->n; i++) {
			const uint32_t c = s->row_col[r->begin + i];
			struct algo_setcover_col *col = &s->col[c];
			if (col->gone || col->mark == s->token)
				continue;
			col->mark = s->token;
			if ((rc = algo_setcover_add_col(out, col->weight,
				 col->id, e)) < 0)
				return rc;
			out->col[out->n_cols - 1].up = c;
		}
	}
	qsort(out->col, out->n_cols, sizeof(*out->col), preferred_col);
	for (uint32_t c = 0; c < out->n_cols; c++)
		s->col[out->col[c].up].local = c;
	return 0;
}

/* Row R as column numbers of the part, ascending. Rows have sixteen columns at
 * most, where insertion beats any other sort. */
static struct algo_setcover_line localise(const struct algo_setcover *s,
    const struct algo_setcover_row *r)
{
	struct algo_setcover_line line = {0};
	for (uint32_t i = 0; i < r->n; i++) {
		const struct algo_setcover_col *c =
		    &s->col[s->row_col[r->begin + i]];
		if (c->gone)
			continue;
		uint32_t at = line.n++;
		for (; at > 0 && line.col[at - 1] > c->local; at--)
			line.col[at] = line.col[at - 1];
		line.col[at] = c->local;
	}
	return line;
}

/* Columns and rows are put in an order that depends on nothing but the problem.
 * So the solver gets the same program, takes the same steps and finds the same
 * one of many smallest covers, however the flows of the window were ordered. */
int algo_setcover_part(struct algo_setcover *s, uint32_t k,
    struct algo_setcover *out, struct sim_err *e)
{
	const struct algo_setcover_part p = s->part[k];
	int rc;
	algo_setcover_clear(out);
	if ((rc = add_cols(s, &p, out, e)) < 0 ||
	    (rc = SIM_RESERVE(&out->line, &out->cap_line, p.n_rows, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < p.n_rows; i++)
		out->line[i] = localise(s, &s->row[s->list[p.begin + i]]);
	qsort(out->line, p.n_rows, sizeof(*out->line), smaller_line);
	for (uint32_t i = 0; i < p.n_rows; i++)
		if ((rc = algo_setcover_add_row(out, out->line[i].col,
			 out->line[i].n, e)) < 0)
			return rc;
	return algo_setcover_index(out, e);
}

/* --- covers and bounds ----------------------------------------------------*/

/* The step of Algorithm 2, here as a cover to start from. A column that is gone
 * has no live rows, so it is never best while a row is left. */
void algo_setcover_greedy(struct algo_setcover *s)
{
	while (s->n_rows_left > 0) {
		uint32_t best = 0;
		for (uint32_t c = 1; c < s->n_cols; c++) {
			const struct algo_setcover_col *a = &s->col[c];
			const struct algo_setcover_col *b = &s->col[best];
			if (a->live > b->live ||
			    (a->live == b->live && algo_setcover_prefers(a, b)))
				best = c;
		}
		algo_setcover_take(s, best);
	}
}

/* Put column C in the set (BY = 1) or take it out (BY = -1). */
static void count_rows(struct algo_setcover *s, uint32_t c, int by)
{
	const uint32_t *row = s->col_row + s->col[c].begin;
	s->col[c].in_set = by > 0;
	for (uint32_t i = 0; i < s->col[c].n; i++)
		s->row[row[i]].n_set += (uint32_t)by;
}

/* What column C of the set can be exchanged for: the most preferred column that
 * covers all rows which only C covers, C itself if there is no better,
 * UINT32_MAX when there are no such rows and C can simply be left out. Rivals
 * are gathered from the first of these rows and each further one keeps those
 * that it names. */
static uint32_t substitute(const struct algo_setcover *s, uint32_t c)
{
	const struct algo_setcover_col *self = &s->col[c];
	uint32_t rival[ALGO_SETCOVER_MAX_ROW], n = 0;
	int n_own = 0;
	for (uint32_t i = 0; i < self->n; i++) {
		const struct algo_setcover_row *r =
		    &s->row[s->col_row[self->begin + i]];
		const uint32_t *col = s->row_col + r->begin;
		uint32_t n_kept = 0;
		/* Another column of the set covers this row as well. */
		if (r->n_set > 1)
			continue;
		for (uint32_t j = 0; n_own == 0 && j < r->n; j++)
			if (algo_setcover_prefers(&s->col[col[j]], self))
				rival[n++] = col[j];
		for (uint32_t k = 0; n_own > 0 && k < n; k++)
			for (uint32_t j = 0; j < r->n; j++)
				if (col[j] == rival[k]) {
					rival[n_kept++] = rival[k];
					break;
				}
		if (n_own++ > 0)
			n = n_kept;
		if (n == 0)
			return c;
	}
	if (n_own == 0)
		return UINT32_MAX;
	for (uint32_t k = 0; k < n; k++)
		if (algo_setcover_prefers(&s->col[rival[k]], &s->col[c]))
			c = rival[k];
	return c;
}

/* Ascending preference: when either of two columns could be left out, it is the
 * less preferred one that goes. */
static void sort_set(struct algo_setcover *s)
{
	for (uint32_t i = 1; i < s->n_set; i++) {
		const uint32_t c = s->set[i];
		uint32_t at = i;
		for (; at > 0 &&
		     algo_setcover_prefers(&s->col[s->set[at - 1]], &s->col[c]);
		     at--)
			s->set[at] = s->set[at - 1];
		s->set[at] = c;
	}
}

/* Sizes only fall, and at equal size each exchange raises the set in the order
 * of preference, so the loop ends. Many covers are of least size; this is what
 * makes the answer follow the tie rule and not the solver's whim. */
void algo_setcover_polish(struct algo_setcover *s)
{
	int changed = 1;
	for (uint32_t r = 0; r < s->n_rows; r++)
		s->row[r].n_set = 0;
	for (uint32_t i = 0; i < s->n_set; i++)
		count_rows(s, s->set[i], 1);
	while (changed) {
		uint32_t n = 0;
		changed = 0;
		sort_set(s);
		for (uint32_t i = 0; i < s->n_set; i++) {
			const uint32_t c = s->set[i], to = substitute(s, c);
			changed |= to != c;
			if (to != c)
				count_rows(s, c, -1);
			if (to != c && to != UINT32_MAX)
				count_rows(s, to, 1);
			if (to != UINT32_MAX)
				s->set[n++] = to;
		}
		s->n_set = n;
	}
}

/* Rows that share no column need a column each, so any set of them bounds every
 * cover from below. line[] serves as (crowdedness, row) pairs to sort. */
int algo_setcover_disjoint(struct algo_setcover *s, uint32_t *bound,
    struct sim_err *e)
{
	int rc;
	*bound = 0;
	if ((rc = SIM_RESERVE(&s->line, &s->cap_line, s->n_rows, e)) < 0)
		return rc;
	/* A row goes first whose columns are in few other rows: it rules out
	 * the fewest. */
	for (uint32_t r = 0; r < s->n_rows; r++) {
		uint32_t n = 0;
		for (uint32_t i = 0; i < s->row[r].n; i++)
			n += s->col[s->row_col[s->row[r].begin + i]].n;
		s->line[r].n = 2;
		s->line[r].col[0] = n;
		s->line[r].col[1] = r;
	}
	if (s->n_rows > 1)
		qsort(s->line, s->n_rows, sizeof(*s->line), smaller_line);
	s->token++;
	for (uint32_t k = 0; k < s->n_rows; k++) {
		const struct algo_setcover_row *r = &s->row[s->line[k].col[1]];
		const uint32_t *col = s->row_col + r->begin;
		int is_apart = 1;
		for (uint32_t i = 0; i < r->n; i++)
			is_apart &= s->col[col[i]].mark != s->token;
		for (uint32_t i = 0; is_apart && i < r->n; i++)
			s->col[col[i]].mark = s->token;
		*bound += (uint32_t)is_apart;
	}
	return 0;
}
