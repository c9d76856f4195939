/* algos/vigil/program_bigm.c -- the integer program of 007's released code.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	min   sum a_l - 0.0001 sum t_l
 *	      sum of p_l over the path of i >= c_i     for each failed flow i
 *	      sum p_l = sum c_i
 *	      p_l <= 6000 a_l,  t_l <= n_l p_l         for each link l
 */
#include "algos/vigil/program_bigm.h"

#include <math.h>

/* As in the released code. BIG_M limits the drops that one link may be given,
 * so a window with more on a link has no solution in this form. WEIGHT is small
 * enough that popularity decides only between covers of the same size. */
#define BIG_M  6000.0
#define WEIGHT 1e-4

/* Columns a, p and t of each link, in that order: enum algo_bigm_col. */
static int add_links(struct algo_milp *m, const struct algo_tally *t,
    struct sim_err *e)
{
	const struct algo_milp_col a = {.cost = 1, .ub = 1, .integer = 1};
	const struct algo_milp_col p = {.ub = INFINITY, .integer = 1};
	const struct algo_milp_col b = {.cost = -WEIGHT,
	    .ub = INFINITY,
	    .integer = 1};
	int rc;
	for (uint32_t i = 0; i < t->n_touched; i++)
		if ((rc = algo_milp_add_col(m, a, e)) < 0 ||
		    (rc = algo_milp_add_col(m, p, e)) < 0 ||
		    (rc = algo_milp_add_col(m, b, e)) < 0)
			return rc;
	return 0;
}

/* The two rows of each link: 6000 a_l - p_l >= 0 and n_l p_l - t_l >= 0. */
static int couple_links(struct algo_milp *m, const struct algo_tally *t,
    struct sim_err *e)
{
	int rc;
	for (uint32_t i = 0; i < t->n_touched; i++) {
		const double n = t->link[t->touched[i]].n_flows;
		if ((rc = algo_milp_add_row(m, 0, INFINITY, e)) < 0 ||
		    (rc = algo_milp_add_term(m, 3 * i + ALGO_BIGM_A, BIG_M,
			 e)) < 0 ||
		    (rc = algo_milp_add_term(m, 3 * i + ALGO_BIGM_P, -1, e)) <
			0 ||
		    (rc = algo_milp_add_row(m, 0, INFINITY, e)) < 0 ||
		    (rc = algo_milp_add_term(m, 3 * i + ALGO_BIGM_P, n, e)) <
			0 ||
		    (rc = algo_milp_add_term(m, 3 * i + ALGO_BIGM_T, -1, e)) <
			0)
			return rc;
	}
	return 0;
}

/* A link that a path names twice is one term of the row: a solver refuses a
 * column that stands twice in a row. */
static int is_repeated(const topo_link path[], unsigned at)
{
	for (unsigned j = 0; j < at; j++)
		if (path[j] == path[at])
			return 1;
	return 0;
}

/* The rows of A p >= c, and at last |p|_1 = |c|_1. Returns the sum of drops in
 * *C. */
static int program_bigm_add_flows(struct algo_milp *m,
    const struct algo_tally *t, const struct obs *w, const uint32_t col_of[],
    double *c, struct sim_err *e)
{
	int rc;
	*c = 0;
	for (size_t i = 0; i < t->n_voters; i++) {
		const struct algo_voter *v = &t->voter[i];
		const topo_link *path = algo_tally_path(t, v);
		const double n_drops = (double)obs_n_counted(w, v->flow);
		*c += n_drops;
		if ((rc = algo_milp_add_row(m, n_drops, INFINITY, e)) < 0)
			return rc;
		for (unsigned j = 0; j < v->n_hops; j++)
			if (path[j] != TOPO_NONE && !is_repeated(path, j) &&
			    (rc = algo_milp_add_term(m,
				 3 * col_of[path[j]] + ALGO_BIGM_P, 1, e)) < 0)
				return rc;
	}
	if ((rc = algo_milp_add_row(m, *c, *c, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < t->n_touched; i++)
		if ((rc = algo_milp_add_term(m, 3 * i + ALGO_BIGM_P, 1, e)) < 0)
			return rc;
	return 0;
}

/* The objective plus WEIGHT * n* |c|_1. Added up from the solution's whole
 * numbers rather than taken from the solver, so that a value that is whole in
 * truth is whole here. */
static double shifted_value(const struct algo_milp *m, uint32_t n_links,
    double n_most)
{
	double n_flagged = 0, rest = 0;
	for (uint32_t i = 0; i < n_links; i++) {
		const double *x = m->x + (size_t)3 * i;
		n_flagged += x[ALGO_BIGM_A];
		rest += n_most * x[ALGO_BIGM_P] - x[ALGO_BIGM_T];
	}
	return n_flagged + WEIGHT * rest;
}

int algo_program_bigm(struct algo_milp *m, const struct algo_tally *t,
    const struct obs *w, uint32_t col_of[], struct algo_milp_limits *limits,
    struct algo_solution *out, struct sim_err *e)
{
	double n_most = 0, c;
	int rc;
	*out = (struct algo_solution){.solves = 1};
	if (t->n_touched == 0)
		return 0;
	if (t->n_touched > UINT32_MAX / 3)
		return sim_fail(e, SIM_ELIMIT,
		    "%u links are too many for the big-M form.", t->n_touched);
	algo_milp_clear(m);
	for (uint32_t i = 0; i < t->n_touched; i++) {
		col_of[t->touched[i]] = i;
		n_most = fmax(n_most, t->link[t->touched[i]].n_flows);
	}
	if ((rc = add_links(m, t, e)) < 0 || (rc = couple_links(m, t, e)) < 0 ||
	    (rc = program_bigm_add_flows(m, t, w, col_of, &c, e)) < 0)
		return rc;
	/* No link is needed for no drops: 0 is a bound that always holds. */
	*out = (struct algo_solution){1, ALGO_NONE, NAN, 0};
	if (limits->pivots == 0 || limits->seconds == 0)
		return 0;
	if ((rc = algo_milp_solve(m, limits, out, e)) < 0)
		return rc;
	if (out->status != ALGO_NONE)
		out->value = shifted_value(m, t->n_touched, n_most);
	/* The solver's bound is of the objective without the constant, and for
	 * an optimum it may differ from the value by rounding. */
	out->bound = fmax(0, out->bound + WEIGHT * n_most * c);
	if (out->status == ALGO_OPTIMAL || out->bound > out->value)
		out->bound = out->value;
	return 0;
}
