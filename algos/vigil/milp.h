/* algos/vigil/milp.h -- mixed-integer programs, and a solver that may give up.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	minimise  sum of cost[j] x[j]   with   lb <= each row, each x[j] <= ub
 *
 * Bounds may be infinite. Nothing here is about diagnosis, and no caller sees
 * which solver it is.
 */
#ifndef ALGOS_VIGIL_MILP_H
#define ALGOS_VIGIL_MILP_H

#include <stddef.h>
#include <stdint.h>

#include "algos/verdict.h"
#include "sim/err.h"

struct algo_milp_col {
	double cost, lb, ub;
	int integer;
};

struct algo_milp_row {
	double lb, ub;
	uint32_t begin, n; /* terms begin .. begin + n - 1 */
};

/* Zeroed is valid and empty; memory is kept from program to program. */
struct algo_milp {
	uint32_t n_rows, n_cols, n_terms;
	struct algo_milp_col *col;
	struct algo_milp_row *row;
	int *term_col; /* from 1, and term 0 is not used: as the solver likes */
	double *term_val;
	double *x; /* [n_cols] the answer; a solution to start from */
	size_t cap_col, cap_row, cap_term_col, cap_term_val, cap_x;
};

void algo_milp_clear(struct algo_milp *m);
void algo_milp_free(struct algo_milp *m);

/* Append a column, a row, a term VAL * x[COL] of the last row. x[] of a new
 * column is 0. Errors SIM_ENOMEM, SIM_ELIMIT (2^31 - 1 of any). */
int algo_milp_add_col(struct algo_milp *m, struct algo_milp_col col,
    struct sim_err *e);
int algo_milp_add_row(struct algo_milp *m, double lb, double ub,
    struct sim_err *e);
int algo_milp_add_term(struct algo_milp *m, uint32_t col, double val,
    struct sim_err *e);

/* When to give up. Pivots are simplex steps: the same on every machine, while
 * seconds are not. */
struct algo_milp_limits {
	uint32_t pivots;
	double seconds; /* 0 = give up at once */
	int starts;     /* x[] is a solution to improve on */
};

/* Solve M. OUT->value is that of x[] (NaN and status none without one) and
 * OUT->bound a proved lower bound, -INFINITY if there is none; when only whole
 * values are possible, it is rounded up. PIVOTS is lowered by those spent.
 * An infeasible program has status none and bound INFINITY.
 * Errors SIM_EDEP when the solver meets a fatal error, with its words; what
 * was given to it is freed. */
int algo_milp_solve(struct algo_milp *m, struct algo_milp_limits *limits,
    struct algo_solution *out, struct sim_err *e);

#endif
