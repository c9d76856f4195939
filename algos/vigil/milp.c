/* algos/vigil/milp.c -- mixed-integer linear programs: columns, rows and terms.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/milp.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include "sim/vec.h"

void algo_milp_clear(struct algo_milp *m)
{
	m->n_rows = m->n_cols = m->n_terms = 0;
}

void algo_milp_free(struct algo_milp *m)
{
	free(m->col);
	free(m->row);
	free(m->term_col);
	free(m->term_val);
	free(m->x);
	*m = (struct algo_milp){0};
}

/* GLPK numbers rows, columns and terms by int. */
static int check_room(uint32_t n, struct sim_err *e)
{
	if (n < INT_MAX)
		return 0;
	return sim_fail(e, SIM_ELIMIT,
	    "a program of more than %d rows, columns or terms is too large.",
	    INT_MAX);
}

int algo_milp_add_col(struct algo_milp *m, struct algo_milp_col col,
    struct sim_err *e)
{
	const size_t n = (size_t)m->n_cols + 1;
	int rc;
	if ((rc = check_room(m->n_cols, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->col, &m->cap_col, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->x, &m->cap_x, n, e)) < 0)
		return rc;
	m->col[m->n_cols] = col;
	m->x[m->n_cols] = 0;
	m->n_cols++;
	return 0;
}

int algo_milp_add_row(struct algo_milp *m, double lb, double ub,
    struct sim_err *e)
{
	int rc;
	if ((rc = check_room(m->n_rows, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->row, &m->cap_row, (size_t)m->n_rows + 1, e)) <
		0)
		return rc;
	m->row[m->n_rows++] =
	    (struct algo_milp_row){.lb = lb, .ub = ub, .begin = m->n_terms};
	return 0;
}

int algo_milp_add_term(struct algo_milp *m, uint32_t col, double val,
    struct sim_err *e)
{
	/* GLPK counts terms from 1: element 0 is allocated and never used. */
	const size_t n = (size_t)m->n_terms + 2;
	int rc;
	assert(m->n_rows > 0 && col < m->n_cols);
	if ((rc = check_room(m->n_terms, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->term_col, &m->cap_term_col, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->term_val, &m->cap_term_val, n, e)) < 0)
		return rc;
	m->n_terms++;
	/* Only the last row can grow, so its terms are contiguous. */
	m->term_col[m->n_terms] = (int)col + 1;
	m->term_val[m->n_terms] = val;
	m->row[m->n_rows - 1].n++;
	return 0;
}
