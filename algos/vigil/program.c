/* algos/vigil/program.c -- 007's binary and integer programs, to a proof.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/program.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "algos/vigil/milp.h"
#include "algos/vigil/program_bigm.h"
#include "algos/vigil/setcover.h"
#include "sim/vec.h"

/* Doubles and the 60 bits of a vote hold these exactly. */
#define MAX_DROPS (UINT64_C(1) << 53)

/* One struct serves both programs: they are the same cover and differ in what a
 * flow asks for, in which links are flagged, and in their scores. */
struct program {
	struct algo_program_params params;
	int integer;
	struct algo_tally tally;
	uint32_t *col_of; /* [n_links] column of a touched link */
	struct algo_setcover cover, part;
	struct algo_milp milp;
	uint64_t *amount; /* [columns] flows or drops attributed */
	size_t cap_amount;
	uint64_t n_drops;
};

static const char *const program_ties[] = {"lowest", "votes", NULL};
static const char *const forms[] = {"strong", "bigm", NULL};

#define AT(member) offsetof(struct algo_program_params, member)
#define COMMON_FIELDS                                                          \
	{"time_limit", SIM_F_F64, AT(time_limit), .min = 0, .max = 1e6,        \
	    .unit = "s", .def = "10",                                          \
	    .doc = "safety net: solver seconds a window"},                     \
	    {"pivot_limit", SIM_F_U32, AT(pivot_limit), .unit = "1",           \
		.def = "2000",                                                 \
		.doc = "simplex steps a window, the limit that binds"},        \
	    {"tie", SIM_F_ENUM, AT(tie), .names = program_ties, .unit = "1",   \
		.def = "lowest",                                               \
		.doc = "which of exchangeable links is preferred"},            \
	    ALGO_BLAME_FIELDS(struct algo_program_params, blame, "blame_tie")

static const struct sim_field binary_fields[] = {COMMON_FIELDS, {0}};
static const struct sim_field integer_fields[] = {
    COMMON_FIELDS,
    {"form", SIM_F_ENUM, AT(form), .names = forms, .unit = "1", .def = "strong",
	.doc = "bigm: as the released code has it"},
    {"min_share", SIM_F_F64, AT(min_share), .min = 0, .max = 1, .unit = "1",
	.def = "0.001", .doc = "flag links with n_l p_l / drops from here on"},
    {0},
};
#undef AT

static void program_free(void *work)
{
	struct program *a = work;
	algo_tally_close(&a->tally);
	algo_setcover_free(&a->cover);
	algo_setcover_free(&a->part);
	algo_milp_free(&a->milp);
	free(a->col_of);
	free(a->amount);
}

static int program_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct program *a = work;
	const int rc = algo_blame_tally(&a->tally, a->params.blame.tie,
	    ALGO_KIND_LINK, t, e);
	return rc < 0 ? rc : SIM_ZALLOC(&a->col_of, t->n_links, e);
}

static int integer_init(void *work, const struct topo *t, struct sim_err *e)
{
	((struct program *)work)->integer = 1;
	return program_init(work, t, e);
}

/* --- the cover ------------------------------------------------------------*/

/* What a voter asks for: s_i = 1 in (3), c_i in (4). Under the released
 * simulator's rules a flow's drop flag and its count are drawn apart, so a flow
 * that failed may ask for none. */
static uint64_t demand(const struct program *a, const struct obs *w,
    const struct algo_voter *v)
{
	return a->integer ? obs_n_counted(w, v->flow) : 1;
}

/* A p >= s with its empty rows and columns left out: columns are the links with
 * votes, rows the failed flows that ask for something. Good flows would be rows
 * of zeros. Weights make `tie: votes` the order of preference; equal weights
 * leave it to the id. */
static int build_cover(struct program *a, const struct obs *w,
    struct sim_err *e)
{
	const struct algo_tally *t = &a->tally;
	const int by_votes = a->params.tie == ALGO_PROGRAM_VOTES;
	int rc;
	algo_setcover_clear(&a->cover);
	for (uint32_t i = 0; i < t->n_touched; i++) {
		const topo_link l = t->touched[i];
		a->col_of[l] = i;
		if ((rc = algo_setcover_add_col(&a->cover,
			 by_votes ? t->link[l].votes : 0, l, e)) < 0)
			return rc;
	}
	for (size_t i = 0; i < t->n_voters; i++) {
		const struct algo_voter *v = &t->voter[i];
		const topo_link *path = algo_tally_path(t, v);
		uint32_t col[TOPO_MAX_HOPS];
		unsigned n = 0;
		if (demand(a, w, v) == 0)
			continue;
		for (unsigned j = 0; j < v->n_hops; j++)
			if (path[j] != TOPO_NONE)
				col[n++] = a->col_of[path[j]];
		if ((rc = algo_setcover_add_row(&a->cover, col, n, e)) < 0)
			return rc;
	}
	return algo_setcover_index(&a->cover, e);
}

/* Part P as (3): one binary column a link, one row a flow. Columns that prices
 * have ruled out are fixed at 0 instead of left out, so that column numbers
 * stay. x[] starts as P's set, a cover that the solver is to improve on. */
static int build_milp(struct algo_milp *m, const struct algo_setcover *p,
    struct sim_err *e)
{
	int rc;
	algo_milp_clear(m);
	for (uint32_t c = 0; c < p->n_cols; c++) {
		const struct algo_milp_col col = {.cost = 1,
		    .ub = p->col[c].gone ? 0 : 1,
		    .integer = 1};
		if ((rc = algo_milp_add_col(m, col, e)) < 0)
			return rc;
	}
	for (uint32_t r = 0; r < p->n_rows; r++) {
		const struct algo_setcover_row *row = &p->row[r];
		if ((rc = algo_milp_add_row(m, 1, INFINITY, e)) < 0)
			return rc;
		for (uint32_t i = 0; i < row->n; i++)
			if ((rc = algo_milp_add_term(m,
				 p->row_col[row->begin + i], 1, e)) < 0)
				return rc;
	}
	for (uint32_t i = 0; i < p->n_set; i++)
		m->x[p->set[i]] = 1;
	return 0;
}

/* Make the solver's answer P's set. The answer is checked against every row
 * first: a solver's tolerances are no proof, and a wrong cover would look like
 * a better one. */
static int read_milp(const struct algo_milp *m, struct algo_setcover *p,
    struct sim_err *e)
{
	for (uint32_t r = 0; r < p->n_rows; r++) {
		const struct algo_setcover_row *row = &p->row[r];
		double covered = 0;
		for (uint32_t i = 0; i < row->n; i++)
			covered += m->x[p->row_col[row->begin + i]];
		if (covered < 1)
			return sim_fail(e, SIM_EDEP,
			    "the solver's cover leaves a flow out.");
	}
	p->n_set = 0;
	for (uint32_t c = 0; c < p->n_cols; c++)
		if (m->x[c] > 0.5)
			p->set[p->n_set++] = c;
	return 0;
}

/* A relaxation takes between one and two simplex steps a row: where fewer are
 * left, the solver would only waste those that another part could use. */
static int is_worth_solving(const struct algo_setcover *p,
    const struct algo_milp_limits *limits)
{
	return limits->seconds > 0 && limits->pivots / 2 >= p->n_rows;
}

/* Cover one part: its set is in a->part, *BOUND a lower bound of its size. The
 * cheap means come first and usually meet: greedy cover and disjoint rows, then
 * prices, and the solver only for what they leave open. */
static int solve_part(struct program *a, uint32_t k,
    struct algo_milp_limits *limits, uint32_t *bound, struct sim_err *e)
{
	struct algo_setcover *p = &a->part;
	struct algo_solution found;
	int rc;
	if ((rc = algo_setcover_part(&a->cover, k, p, e)) < 0 ||
	    (rc = algo_setcover_disjoint(p, bound, e)) < 0)
		return rc;
	algo_setcover_greedy(p);
	algo_setcover_polish(p);
	if (*bound == p->n_set)
		return 0;
	if ((rc = algo_setcover_price(p, bound, e)) < 0)
		return rc;
	if (*bound == p->n_set || !is_worth_solving(p, limits))
		return 0;
	if ((rc = build_milp(&a->milp, p, e)) < 0 ||
	    (rc = algo_milp_solve(&a->milp, limits, &found, e)) < 0 ||
	    (rc = read_milp(&a->milp, p, e)) < 0)
		return rc;
	/* Columns that were gone can only be in covers as large as this one, so
	 * a bound of the program without them holds for the part. */
	if (found.bound > *bound)
		*bound = (uint32_t)found.bound;
	return 0;
}

/* Find a cover of all rows, cover.set. Parts share no column, so the bounds of
 * the parts and the columns that the reductions took add up to a bound of the
 * whole; the cover is proved smallest when it is as small as that. */
static int find_cover(struct program *a, const struct obs *w,
    struct algo_solution *out, struct sim_err *e)
{
	struct algo_setcover *s = &a->cover;
	struct algo_milp_limits limits = {.pivots = a->params.pivot_limit,
	    .starts = 1};
	uint32_t total, bound;
	int rc;
	if ((rc = build_cover(a, w, e)) < 0)
		return rc;
	algo_setcover_reduce(s);
	if ((rc = algo_setcover_split(s, e)) < 0)
		return rc;
	total = s->n_set;
	for (uint32_t k = 0; k < s->n_parts; k++) {
		/* Time is shared out by rows; pivots are a common purse, from
		 * which each part takes what it needs. */
		limits.seconds =
		    a->params.time_limit * s->part[k].n_rows / s->n_rows_left;
		if ((rc = solve_part(a, k, &limits, &bound, e)) < 0)
			return rc;
		for (uint32_t i = 0; i < a->part.n_set; i++)
			s->set[s->n_set++] = a->part.col[a->part.set[i]].up;
		total += bound;
	}
	/* Only over the whole are rows that reductions removed seen again, and
	 * with them the exchanges that they allow. */
	algo_setcover_polish(s);
	*out = (struct algo_solution){.solves = 1,
	    .status = s->n_set == total ? ALGO_OPTIMAL : ALGO_FEASIBLE,
	    .value = s->n_set,
	    .bound = total};
	return 0;
}

/* --- verdicts -------------------------------------------------------------*/

/* What each link of the cover is to answer for: p of (4), or the number of
 * flows for (3). Each flow is given whole to the most crossed link of the cover
 * on its path, the popularity that the release's objective rewards. Of equally
 * crossed ones the lowest id is taken, so that the order of the flows does not
 * matter. */
static int attribute(struct program *a, const struct obs *w, struct sim_err *e)
{
	const struct algo_tally *t = &a->tally;
	const struct algo_setcover *s = &a->cover;
	int rc;
	if ((rc = SIM_RESERVE(&a->amount, &a->cap_amount, s->n_cols, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < s->n_set; i++)
		a->amount[s->set[i]] = 0;
	for (size_t i = 0; i < t->n_voters; i++) {
		const struct algo_voter *v = &t->voter[i];
		const topo_link *path = algo_tally_path(t, v);
		const uint64_t n_asked = demand(a, w, v);
		topo_link best = TOPO_NONE;
		uint32_t most = 0;
		if (n_asked == 0)
			continue;
		for (unsigned j = 0; j < v->n_hops; j++) {
			const topo_link l = path[j];
			if (l == TOPO_NONE || !s->col[a->col_of[l]].in_set)
				continue;
			const uint32_t n = t->link[l].n_flows;
			if (n > most || (n == most && l < best)) {
				most = n;
				best = l;
			}
		}
		a->amount[a->col_of[best]] += n_asked;
	}
	return 0;
}

/* Flag link L with score P. Program (4) as released flags a link only from a
 * share of all drops on, T being what stands for it there. */
static int flag(struct program *a, topo_link l, double p, double t,
    struct algo_verdicts *out, struct sim_err *e)
{
	int rc;
	if (a->integer && t < a->params.min_share * (double)a->n_drops)
		return 0;
	if ((rc = algo_verdicts_add(out, l, p, e)) < 0)
		return rc;
	a->tally.flagged[l] = 1;
	/* algo_blame_by_flags() chooses by votes; for (4) the drops attributed
	 * take their place. 007 blames the link with the largest p. */
	if (a->integer)
		a->tally.link[l].votes = (uint64_t)p;
	return 0;
}

static int answer_cover(struct program *a, const struct obs *w,
    struct algo_verdicts *out, struct sim_err *e)
{
	const struct algo_setcover *s = &a->cover;
	int rc;
	if ((rc = find_cover(a, w, &out->solution, e)) < 0 ||
	    (rc = attribute(a, w, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < s->n_set; i++) {
		const topo_link l = s->col[s->set[i]].id;
		const double p = (double)a->amount[s->set[i]];
		if ((rc = flag(a, l, p, p * a->tally.link[l].n_flows, out, e)) <
		    0)
			return rc;
	}
	return 0;
}

/* The form of the released code, for comparison. Within limits it often finds
 * nothing; then nothing is flagged and the status says why. */
static int answer_bigm(struct program *a, const struct obs *w,
    struct algo_verdicts *out, struct sim_err *e)
{
	const struct algo_tally *t = &a->tally;
	struct algo_milp_limits limits = {.pivots = a->params.pivot_limit,
	    .seconds = a->params.time_limit};
	int rc;
	if ((rc = algo_program_bigm(&a->milp, t, w, a->col_of, &limits,
		 &out->solution, e)) < 0)
		return rc;
	if (out->solution.status == ALGO_NONE)
		return 0;
	for (uint32_t i = 0; i < t->n_touched; i++) {
		const double *x = a->milp.x + (size_t)3 * i;
		if (x[ALGO_BIGM_A] > 0.5 &&
		    (rc = flag(a, t->touched[i], x[ALGO_BIGM_P], x[ALGO_BIGM_T],
			 out, e)) < 0)
			return rc;
	}
	return 0;
}

/* |c|_1, over all voters. The limit keeps sums exact in the doubles of the
 * solver. */
static int program_count_drops(struct program *a, const struct obs *w,
    struct sim_err *e)
{
	a->n_drops = 0;
	for (size_t i = 0; i < a->tally.n_voters; i++)
		a->n_drops += obs_n_counted(w, a->tally.voter[i].flow);
	if (a->n_drops > MAX_DROPS)
		return sim_fail(e, SIM_ELIMIT,
		    "%" PRIu64 " retransmissions are more than a window may "
		    "have, %" PRIu64 ".",
		    a->n_drops, MAX_DROPS);
	return 0;
}

static int program_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct program *a = work;
	int rc;
	algo_verdicts_clear(out);
	out->flags = 1;
	if ((rc = algo_tally_count(&a->tally, window, e)) < 0 ||
	    (rc = program_count_drops(a, window, e)) < 0)
		return rc;
	/* While the votes are 007's: (4) puts drops in their place. */
	algo_blame_set_aside(&a->params.blame, &a->tally);
	rc = a->integer && a->params.form == ALGO_PROGRAM_BIGM
	    ? answer_bigm(a, window, out, e)
	    : answer_cover(a, window, out, e);
	if (rc < 0)
		return rc;
	/* Everything listed is flagged, but the order in which covers list
	 * links means nothing: sort by score first, while nothing counts as
	 * flagged. */
	algo_verdicts_sort(out);
	out->n_flagged = out->n;
	return algo_blame_by_flags(a->params.blame.tie, &a->tally, window, tie,
	    out, e);
}

const struct algo_ops algo_binary = {
    .name = "binary",
    .paper = "007 (NSDI'18), section 5.3, program (3)",
    .doc = "the fewest links that explain all failed flows, proved",
    .needs = OBS_FLOWS | OBS_HOPS,
    .params = binary_fields,
    .params_size = sizeof(struct algo_program_params),
    .work_size = sizeof(struct program),
    .init = program_init,
    .diagnose = program_diagnose,
    .free = program_free,
};

const struct algo_ops algo_integer = {
    .name = "integer",
    .paper = "007 (NSDI'18), section 5.3, program (4)",
    .doc = "the fewest links that explain all drops, with their counts",
    .needs = OBS_FLOWS | OBS_HOPS,
    .params = integer_fields,
    .params_size = sizeof(struct algo_program_params),
    .work_size = sizeof(struct program),
    .init = integer_init,
    .diagnose = program_diagnose,
    .free = program_free,
};
