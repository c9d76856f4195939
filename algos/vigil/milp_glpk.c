/* algos/vigil/milp_glpk.c -- mixed-integer linear programs solved by GLPK.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The only file that knows GLPK. Its fatal errors print and abort; here the
 * hook that it calls before that jumps out, and freeing the environment frees
 * all that GLPK had allocated. Two habits to know:
 *
 *  - a column with equal bounds must be of type GLP_FX, or glp_simplex()
 *    returns an error and solves nothing;
 *  - a return code of 0 says that the method ended, not that it succeeded:
 *    code and status are both looked at, always.
 */
#include <glpk.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <string.h>

#include "algos/vigil/milp.h"

/* GLPK's own tolerance of integrality is 1e-5, of the objective 1e-7. */
#define ROUNDING 1e-6

struct run {
	struct algo_milp *m;
	glp_prob *p;
	int max_pivots;
	int starts, seeded;
	int whole; /* every value is a whole number */
	double bound;
	double x0_value;
	jmp_buf fatal;
	char text[256]; /* the last thing that GLPK printed */
};

static void on_fatal(void *info)
{
	struct run *run = info;
	longjmp(run->fatal, 1);
}

/* Non-zero: print nothing. What it says last before it gives up is where in
 * its sources, so the line before is kept. */
static int on_print(void *info, const char *text)
{
	struct run *run = info;
	if (strncmp(text, "Error detected", 14) == 0)
		return 1;
	size_t n = strcspn(text, "\n");
	if (n >= sizeof(run->text))
		n = sizeof(run->text) - 1;
	while (n > 0 && text[n - 1] == ' ')
		n--;
	memcpy(run->text, text, n);
	run->text[n] = '\0';
	return 1;
}

/* GLPK wants to be told which bounds there are; equal bounds as GLP_DB are the
 * trap named above. */
static int bound_type(double lb, double ub)
{
	if (lb == ub)
		return GLP_FX;
	if (isinf(lb))
		return isinf(ub) ? GLP_FR : GLP_UP;
	return isinf(ub) ? GLP_LO : GLP_DB;
}

/* `whole` and x0_value are gathered on the way: with whole costs of whole
 * variables any bound may be rounded up, and x[] may be a solution to start
 * from. */
static void milp_glpk_load(struct run *run)
{
	const struct algo_milp *m = run->m;
	run->p = glp_create_prob();
	if (m->n_cols > 0)
		glp_add_cols(run->p, (int)m->n_cols);
	if (m->n_rows > 0)
		glp_add_rows(run->p, (int)m->n_rows);
	run->whole = 1;
	for (uint32_t j = 0; j < m->n_cols; j++) {
		const struct algo_milp_col *c = &m->col[j];
		const int at = (int)j + 1;
		glp_set_col_kind(run->p, at, c->integer ? GLP_IV : GLP_CV);
		glp_set_col_bnds(run->p, at, bound_type(c->lb, c->ub), c->lb,
		    c->ub);
		glp_set_obj_coef(run->p, at, c->cost);
		run->whole &=
		    c->cost == 0 || (c->integer && c->cost == rint(c->cost));
		run->x0_value += c->cost * m->x[j];
	}
	for (uint32_t i = 0; i < m->n_rows; i++) {
		const struct algo_milp_row *r = &m->row[i];
		const int at = (int)i + 1;
		glp_set_row_bnds(run->p, at, bound_type(r->lb, r->ub), r->lb,
		    r->ub);
		/* GLPK counts terms from 1 too: element 0 is not read. */
		if (r->n > 0)
			glp_set_mat_row(run->p, at, (int)r->n,
			    m->term_col + r->begin, m->term_val + r->begin);
	}
}

/* A bound holds for the rest of the run: the greatest seen is kept. */
static void raise_bound(struct run *run, double bound)
{
	if (run->whole)
		bound = ceil(bound - ROUNDING);
	if (bound > run->bound)
		run->bound = bound;
}

/* Called in the tree between linear programs. */
static void milp_glpk_watch(glp_tree *tree, void *info)
{
	struct run *run = info;
	switch (glp_ios_reason(tree)) {
	case GLP_ISELECT:
		/* All that is left to search hangs below the active nodes. */
		raise_bound(run,
		    glp_ios_node_bound(tree, glp_ios_best_node(tree)));
		break;
	case GLP_IHEUR:
		/* GLPK's vectors count from 1. */
		if (run->starts && !run->seeded)
			glp_ios_heur_sol(tree, run->m->x - 1);
		run->seeded = 1;
		break;
	}
	if (glp_get_it_cnt(glp_ios_get_prob(tree)) >= run->max_pivots)
		glp_ios_terminate(tree);
}

static int milliseconds(double s)
{
	return s * 1000 >= INT_MAX ? INT_MAX : (int)(s * 1000);
}

/* The relaxation, by the dual simplex: costs that are not negative make its
 * first basis dual feasible, and then it gives a bound even when it is stopped.
 * Returns whether it was solved. */
static int solve_relaxation(struct run *run, double seconds)
{
	glp_smcp how;
	glp_init_smcp(&how);
	how.msg_lev = GLP_MSG_OFF;
	how.meth = GLP_DUALP;
	how.it_lim = run->max_pivots;
	how.tm_lim = milliseconds(seconds);
	const int rc = glp_simplex(run->p, &how);
	const int status = glp_get_status(run->p);
	const int stopped = rc == GLP_EITLIM || rc == GLP_ETMLIM;
	if (rc == 0 && status == GLP_NOFEAS)
		run->bound = INFINITY;
	if ((rc == 0 && status == GLP_OPT) ||
	    (stopped && glp_get_dual_stat(run->p) == GLP_FEAS))
		raise_bound(run, glp_get_obj_val(run->p));
	return rc == 0 && status == GLP_OPT;
}

/* Branch and bound from the relaxation's basis. Returns whether the search
 * went through. */
static int search(struct run *run, double seconds)
{
	glp_iocp how;
	glp_init_iocp(&how);
	how.msg_lev = GLP_MSG_OFF;
	how.tm_lim = milliseconds(seconds);
	how.cb_func = milp_glpk_watch;
	how.cb_info = run;
	return glp_intopt(run->p, &how) == 0;
}

/* Take over GLPK's solution. Returns whether there is one. */
static int read_answer(struct run *run, struct algo_solution *out)
{
	const int status = glp_mip_status(run->p);
	if (status != GLP_OPT && status != GLP_FEAS)
		return 0;
	out->value = 0;
	for (uint32_t j = 0; j < run->m->n_cols; j++) {
		double *x = &run->m->x[j];
		*x = glp_mip_col_val(run->p, (int)j + 1);
		if (run->m->col[j].integer)
			*x = rint(*x);
		out->value += run->m->col[j].cost * *x;
	}
	return 1;
}

static void solve(struct run *run, double seconds, struct algo_solution *out)
{
	int complete = 0, found = 0;
	milp_glpk_load(run);
	/* Neither half can know how long the other took. */
	if (solve_relaxation(run, seconds / 2) &&
	    !(run->starts && run->bound >= run->x0_value)) {
		complete = search(run, seconds / 2);
		found = read_answer(run, out);
	}
	if (!found && run->starts)
		out->value = run->x0_value;
	if (complete && found && glp_mip_status(run->p) == GLP_OPT)
		raise_bound(run, out->value);
	if (complete && !found && glp_mip_status(run->p) == GLP_NOFEAS)
		run->bound = INFINITY;
	out->bound =
	    fmin(run->bound, found || run->starts ? out->value : INFINITY);
	if (found || run->starts)
		out->status = out->bound >= out->value - ROUNDING
		    ? ALGO_OPTIMAL
		    : ALGO_FEASIBLE;
}

/* Not in the function that holds RUN: after the jump a function's own
 * variables are no longer defined. */
static int solve_or_jump(struct run *run, struct algo_milp_limits *limits,
    struct algo_solution *out, struct sim_err *e)
{
	if (setjmp(run->fatal)) {
		glp_free_env();
		return sim_fail(e, SIM_EDEP, "GLPK gave up: %s.", run->text);
	}
	glp_error_hook(on_fatal, run);
	glp_term_hook(on_print, run);
	solve(run, limits->seconds, out);
	const uint32_t spent = (uint32_t)glp_get_it_cnt(run->p);
	limits->pivots -= spent < limits->pivots ? spent : limits->pivots;
	glp_delete_prob(run->p);
	glp_error_hook(NULL, NULL);
	glp_term_hook(NULL, NULL);
	return 0;
}

int algo_milp_solve(struct algo_milp *m, struct algo_milp_limits *limits,
    struct algo_solution *out, struct sim_err *e)
{
	struct run run = {.m = m,
	    .starts = limits->starts,
	    .max_pivots =
		limits->pivots < INT_MAX ? (int)limits->pivots : INT_MAX,
	    .bound = -INFINITY};
	*out = (struct algo_solution){.solves = 1,
	    .status = ALGO_NONE,
	    .value = NAN,
	    .bound = -INFINITY};
	return solve_or_jump(&run, limits, out, e);
}
