/* experiments/check/gate.c -- is an algorithm accurate enough? By SPRT.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/gate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"
#include "experiments/sweep/pool.h"
#include "experiments/sweep/trial.h"
#include "sim/vec.h"

/* --- reading ---------------------------------------------------------------*/

static const char *const unit_names[] = {"run", "flow", "link", NULL};

#define AT(member)   .offset = offsetof(struct xp_gate, member)
#define TEXT(member) AT(member), .size = sizeof(((struct xp_gate *)0)->member)
const struct sim_field xp_gate_fields[] = {
    {"name", SIM_F_STR, TEXT(name), .doc = "what it makes sure of"},
    {"algorithm", SIM_F_STR, TEXT(algorithm), .def = "",
	.doc = "a label of `algorithms`, unless the metric is the trial's own"},
    {"metric", SIM_F_STR, TEXT(metric),
	.doc = "a ratio or another metric, as in tables"},
    {"unit", SIM_F_ENUM, AT(unit), .names = unit_names, .def = "run",
	.doc = "what a trial is; flow, link: those that the ratio counts"},
    {"at_least", SIM_F_F64, AT(at_least), .min = -1e300, .max = 1e300,
	.def = "0", .doc = "a run succeeds if its metric is; or at_most"},
    {"at_most", SIM_F_F64, AT(at_most), .min = -1e300, .max = 1e300, .def = "0",
	.doc = "a run succeeds if its metric is; or at_least"},
    {"p0", SIM_F_F64, AT(p0), .min = 0, .max = 1, .unit = "1",
	.doc = "bad: at most this rate of successes"},
    {"p1", SIM_F_F64, AT(p1), .min = 0, .max = 1, .unit = "1",
	.doc = "good: at least this rate of successes"},
    {"p2", SIM_F_F64, AT(p2), .min = 0, .max = 1, .unit = "1", .def = "1",
	.doc = "good: at most this rate; with p3"},
    {"p3", SIM_F_F64, AT(p3), .min = 0, .max = 1, .unit = "1", .def = "1",
	.doc = "bad: at least this rate; with p2"},
    {"alpha", SIM_F_F64, AT(alpha), .min = 0, .max = 1, .unit = "1",
	.def = "1e-6", .doc = "probability of `good` at p0"},
    {"beta", SIM_F_F64, AT(beta), .min = 0, .max = 1, .unit = "1",
	.def = "1e-6", .doc = "probability of `bad` at p1"},
    {"max_runs", SIM_F_U32, AT(max_runs), .min = 1, .max = 1e6, .unit = "runs",
	.def = "10000", .doc = "undecided after so many"},
    {0},
};
#undef TEXT
#undef AT

/* Tell that NODE names nothing that is known, with what is near. A node that is
 * absent or no scalar has been told already. */
static int unknown(struct sim_yaml *y, const struct sim_yaml_node *node,
    const char *what, const char *const known[], size_t n)
{
	char quote[64];
	if (!node || node->kind != SIM_YAML_SCALAR)
		return 0;
	const char *near = sim_did_you_mean(node->text, known, n);
	sim_quote(quote, node->text);
	return near
	    ? sim_yaml_mistake(y, node,
		  "there is no %s %s; did you mean \"%s\"?", what, quote, near)
	    : sim_yaml_mistake(y, node, "there is no %s %s.", what, quote);
}

/* A metric may be a ratio, of two columns, or one column by itself, each of an
 * algorithm or of the trial. The first list that has the name counts. */
static int find_metric(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct xp_gate *g)
{
	const char *known[RES_N_NAMES];
	size_t n_known = 0;
	for (unsigned k = 0; k < RES_LIST_REACH; k++) {
		const struct res_metric_list *l = &res_metric_lists[k];
		for (unsigned i = 0; i < l->n; i++) {
			const struct res_metric *m = &l->metric[i];
			known[n_known++] = m->name;
			if (strcmp(m->name, g->metric) != 0)
				continue;
			g->num = l->ratio ? m->num : i;
			g->den = l->ratio ? m->den : XP_GATE_NO_DEN;
			g->of_trial = l->of_trial;
			return 0;
		}
	}
	return unknown(y, node, "metric", known, n_known);
}

/* Find the label in the row's order of algorithms. C is NULL when the
 * algorithms could not be read, and then nothing can be said. */
static int find_algo(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct xp_config *c, struct xp_gate *g)
{
	enum { MAX = 64 };
	const char *known[MAX];
	size_t i;
	for (i = 0; c && i < c->n_algos; i++) {
		if (i < MAX)
			known[i] = c->algo[i].label;
		if (strcmp(c->algo[i].label, g->algorithm) == 0) {
			g->algo = i;
			return 0;
		}
	}
	return c ? unknown(y, node, "algorithm here with the label", known,
		       i < MAX ? i : MAX)
		 : 0;
}

/* A metric of an algorithm needs its label; one of the trial has none, and must
 * be one that the plane measures on this fabric: a metric that is never
 * measured would never be decided. */
static int check_owner(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct xp_config *c, struct xp_gate *g)
{
	const struct sim_yaml_node *name = sim_yaml_get(node, "algorithm");
	if (!g->of_trial)
		return name
		    ? find_algo(y, name, c, g)
		    : sim_yaml_mistake(y, node, "algorithm is missing.");
	if (name)
		return sim_yaml_mistake(y, name,
		    "%s is the trial's own metric, of no algorithm.",
		    g->metric);
	const struct xp_plane *p = c ? xp_plane_of(c) : NULL;
	if (p &&
	    !(res_trial_metrics[g->num].set & p->fills &
		~xp_fabric_of(c)->blind))
		return sim_yaml_mistake(y, sim_yaml_get(node, "metric"),
		    "plane %s does not measure %s.", p->name, g->metric);
	return 0;
}

/* What makes a success: of a run one bound on its metric, of flows and links
 * the numerator of the ratio, without any bound. */
static int check_unit(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct xp_gate *g)
{
	const int least = sim_yaml_get(node, "at_least") != NULL;
	const int most = sim_yaml_get(node, "at_most") != NULL;
	const char *unit = unit_names[g->unit];
	const size_t n = strlen(unit);
	const struct res_metric *metrics =
	    g->of_trial ? res_trial_metrics : res_algo_metrics;
	/* The bound that is not given excludes nothing. */
	if (!least)
		g->at_least = -INFINITY;
	if (!most)
		g->at_most = INFINITY;
	if (g->unit == XP_GATE_RUN)
		return least != most
		    ? 0
		    : sim_yaml_mistake(y, node,
			  "a run needs either at_least or at_most.");
	if (least || most)
		return sim_yaml_mistake(y, node,
		    "at_least and at_most are for unit run; a %s is a success "
		    "or none.",
		    unit);
	/* The unit of the denominator, as "flows", says what the ratio counts;
	 * it must be the unit of the gate. */
	if (g->den == XP_GATE_NO_DEN ||
	    strncmp(metrics[g->den].unit, unit, n) != 0)
		return sim_yaml_mistake(y, sim_yaml_get(node, "metric"),
		    "%s is no ratio of %ss.", g->metric, unit);
	/* Equal scores share places, so a link may be found by half. */
	if (!g->of_trial && g->num == RES_ALGO_n_top_true)
		return sim_yaml_mistake(y, sim_yaml_get(node, "unit"),
		    "%s counts links in parts where scores are equal; its unit "
		    "is run.",
		    g->metric);
	return 0;
}

static int n_sides_of(const struct xp_gate *g)
{
	return isnan(g->p3) ? 1 : 2;
}

/* From above it is failures that are counted. */
static int begin_side(const struct xp_gate *g, int above, struct sim_sprt *s,
    struct sim_err *e)
{
	return above
	    ? sim_sprt_init(s, 1 - g->p3, 1 - g->p2, g->alpha, g->beta, e)
	    : sim_sprt_init(s, g->p0, g->p1, g->alpha, g->beta, e);
}

/* Only the test itself knows which rates it takes. */
static int check_rates(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct xp_gate *g)
{
	const int p2 = sim_yaml_get(node, "p2") != NULL;
	struct sim_sprt s;
	struct sim_err why;
	if (p2 != (sim_yaml_get(node, "p3") != NULL))
		return sim_yaml_mistake(y, node,
		    "p2 and p3 are given together.");
	if (!p2)
		g->p2 = g->p3 = NAN;
	if (begin_side(g, 0, &s, &why) < 0)
		return sim_yaml_mistake(y, node, "%s", why.msg);
	if (p2 && (g->p1 >= g->p2 || begin_side(g, 1, &s, NULL) < 0))
		return sim_yaml_mistake(y, node,
		    "rates %g, %g and %g are not p1 < p2 < p3 < 1.", g->p1,
		    g->p2, g->p3);
	return 0;
}

static int check_gate_check_name(struct sim_yaml *y,
    const struct sim_yaml_node *node, const struct xp_gate gate[], size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(gate[k].name, gate[i].name) == 0)
			return sim_yaml_mistake(y, node,
			    "two gates are called \"%s\".", gate[i].name);
	return 0;
}

static int read_gate(struct xp_gates *g, const struct sim_yaml_node *node,
    const struct xp_config *c, size_t i, struct sim_err *e)
{
	struct sim_yaml *y = &g->spec.yaml;
	struct xp_gate *x = &g->gate[i];
	const size_t had = y->n_mistakes;
	int rc;
	if ((rc = sim_yaml_read(y, node, node, xp_gate_fields, NULL, x, e)) <
		0 ||
	    (rc = find_metric(y, sim_yaml_get(node, "metric"), x)) < 0 ||
	    (rc = check_owner(y, node, c, x)) < 0 || y->n_mistakes > had)
		/* After a mistake in its keys a gate is
		 * not checked as a whole. */
		return rc;
	if ((rc = check_gate_check_name(y, node, g->gate, i)) < 0 ||
	    (rc = check_rates(y, node, x)) < 0)
		return rc;
	return check_unit(y, node, x);
}

/* Refuse the keys of a spec that vary something or repeat it: a gate file is
 * one point, whose runs the test itself draws. */
static int check_gate_check_keys(struct sim_yaml *y)
{
	static const char *const none[] = {"sweep", "runs", "smoke", "claims"};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(none) / sizeof(none[0]); i++) {
		const struct sim_yaml_node *node =
		    sim_yaml_get(y->root, none[i]);
		if (node)
			rc = sim_yaml_mistake(y, node,
			    "a gate file has no `%s`: it is one point, run "
			    "until its gates are decided.",
			    none[i]);
	}
	return rc;
}

static int read_gates(struct xp_gates *g, const struct xp_config *c,
    struct sim_err *e)
{
	struct sim_yaml *y = &g->spec.yaml;
	const struct sim_yaml_node *list = sim_yaml_get(y->root, "gates");
	int rc = check_gate_check_keys(y);
	if (rc < 0)
		return rc;
	if (!list)
		return sim_yaml_mistake(y, y->root, "gates is missing.");
	if (list->kind != SIM_YAML_SEQ || list->n == 0)
		return sim_yaml_mistake(y, list,
		    "gates is a list of at least one gate.");
	const struct xp_section *own = c ? xp_plane_of(c)->section : NULL;
	const struct sim_yaml_node *at =
	    own ? sim_yaml_get(y->root, own->name) : NULL;
	/* A row along windows or pairs would be a trial that
	 * depends on its neighbours. */
	if (g->spec.n_along > 1 &&
	    (rc = sim_yaml_mistake(y, at ? at : y->root,
		 "a gate is about one row a trial; one of these is read along "
		 "%zu.",
		 g->spec.n_along)) < 0)
		return rc;
	if ((rc = SIM_ZALLOC(&g->gate, list->n, e)) < 0)
		return rc;
	g->n = list->n;
	for (size_t i = 0; rc == 0 && i < list->n; i++)
		rc = read_gate(g, list->child[i], c, i, e);
	return rc;
}

int xp_gates_load(struct xp_gates *g, const char *path, const char *const set[],
    size_t n_set, struct sim_err *e)
{
	struct xp_config c = {0};
	*g = (struct xp_gates){0};
	int rc = xp_spec_load(&g->spec, path, 0, set, n_set, e);
	struct sim_yaml *y = &g->spec.yaml;
	const int read = rc == 0;
	/* If only the spec has mistakes, its gates are read all the
	 * same, so that all mistakes are told at once. Without a tree
	 * there is nothing to read. */
	if (rc < 0 &&
	    (rc != SIM_EINVAL || y->n_mistakes == 0 ||
		y->root->kind != SIM_YAML_MAP))
		return rc;
	rc = read ? xp_spec_point(&g->spec, 0, &c, e) : 0;
	if (rc == 0)
		rc = read_gates(g, read ? &c : NULL, e);
	xp_config_free(&c);
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "no memory to read the gates of %s.",
		    path);
	return rc < 0 ? rc : sim_yaml_verdict(y, e);
}

void xp_gates_free(struct xp_gates *g)
{
	free(g->gate);
	xp_spec_free(&g->spec);
	*g = (struct xp_gates){0};
}

/* --- judging ---------------------------------------------------------------*/

void xp_gate_begin(const struct xp_gate *g, struct xp_gate_state *s)
{
	*s = (struct xp_gate_state){.verdict = SIM_SPRT_GO_ON};
	for (int i = 0; i < n_sides_of(g); i++) {
		const int rc = begin_side(g, i, &s->side[i], NULL);
		assert(rc == 0); /* checked when it was read */
		(void)rc;
	}
}

/* A decided gate takes no more runs, so what it reports does not depend on
 * those that the other gates of its file need. */
int xp_gate_open(const struct xp_gate *g, const struct xp_gate_state *s)
{
	return s->verdict == SIM_SPRT_GO_ON && s->n_runs < g->max_runs;
}

/* Take all trials of a run at once. Wald's bounds on the errors hold for any
 * rule of when to look at the sum, as the likelihood ratio is a martingale;
 * they would not hold if the rule depended on what is still to come. */
static void add_to_side(struct xp_gate_state *s, int above, uint64_t n,
    uint64_t n_good)
{
	struct sim_sprt *t = &s->side[above];
	const uint64_t n_won = above ? n - n_good : n_good;
	if (s->of_side[above] != SIM_SPRT_GO_ON)
		return;
	t->n += n;
	t->llr += (double)n_won * t->win + (double)(n - n_won) * t->lose;
	/* Both verdicts at once are impossible, as lower < 0 < upper. */
	if (t->llr >= t->upper)
		s->of_side[above] = SIM_SPRT_GOOD;
	else if (t->llr <= t->lower)
		s->of_side[above] = SIM_SPRT_BAD;
}

/* Bad on one side is bad, good is good on all. */
static void add_trials(const struct xp_gate *g, struct xp_gate_state *s,
    uint64_t n, uint64_t n_good)
{
	int n_sides_good = 0;
	s->n_trials += n;
	s->n_good += n_good;
	for (int i = 0; i < n_sides_of(g); i++) {
		add_to_side(s, i, n, n_good);
		n_sides_good += s->of_side[i] == SIM_SPRT_GOOD;
		s->llr = i ? fmin(s->llr, s->side[i].llr) : s->side[i].llr;
		if (s->of_side[i] == SIM_SPRT_BAD)
			s->verdict = SIM_SPRT_BAD;
	}
	if (n_sides_good == n_sides_of(g))
		s->verdict = SIM_SPRT_GOOD;
}

int xp_gate_add(const struct xp_gate *g, struct xp_gate_state *s,
    const double row[], struct sim_err *e)
{
	const double *m = row + (g->of_trial ? 0 : res_row_doubles(g->algo));
	const int ratio = g->den != XP_GATE_NO_DEN;
	const double num = m[g->num], den = ratio ? m[g->den] : 1;
	if (!xp_gate_open(g, s))
		return 0;
	if (ratio && (isnan(num) || isnan(den)))
		return sim_fail(e, SIM_EINVAL, "gate \"%s\": %s%s has no %s.",
		    g->name, g->of_trial ? "the trial" : "algorithm ",
		    g->algorithm, g->metric);
	s->n_runs++;
	/* A run without trials, as one in which no flow failed, is drawn and
	 * counted but says nothing of the algorithm. */
	if (isnan(num) || !(den > 0))
		return 0; /* nothing measured */
	if (g->unit == XP_GATE_RUN) {
		/* One rounding, so that 4 of 5 is what 0.8 reads as. */
		const double x = num / den;
		add_trials(g, s, 1, x >= g->at_least && x <= g->at_most);
	} else {
		add_trials(g, s, (uint64_t)den, (uint64_t)num);
	}
	return 0;
}

/* --- running ---------------------------------------------------------------*/

/* Rows of runs FIRST to FIRST + n - 1, by run: workers answer in any
 * order, but a test must take runs in theirs to give the same answer for
 * any number of workers. */
struct batch {
	struct xp_spec *spec;
	uint64_t first;
	size_t row_doubles;
	double *row;
	uint64_t *cell;
	size_t cap_row, cap_cell;
};

static int open_trial(void *ctx, void **worker, struct sim_err *e)
{
	const struct batch *b = ctx;
	struct xp_trial *t = NULL;
	int rc = xp_trial_open(&t, b->spec, e);
	*worker = t;
	return rc;
}

static int check_gate_serve(void *worker, uint64_t cell, double row[],
    struct sim_err *e)
{
	return xp_trial_run(worker, 0, (uint32_t)cell, row, e);
}

static int check_gate_take(void *ctx, uint64_t cell, enum res_status status,
    const double row[], const char *message, struct sim_err *e)
{
	struct batch *b = ctx;
	if (status != RES_DONE)
		/* A run that fails can't be left out: it may have failed
		 * because the algorithm does badly, and the others would then
		 * be too good a sample. */
		return sim_fail(e, SIM_EDEP, "run %llu: %s",
		    (unsigned long long)cell, message);
	memcpy(b->row + (cell - b->first) * b->row_doubles, row,
	    b->row_doubles * sizeof(row[0]));
	return 0;
}

static int check_gate_draw(struct batch *b, unsigned n_workers, uint64_t n,
    struct sim_err *e)
{
	int rc;
	if ((rc = SIM_RESERVE(&b->row, &b->cap_row, n * b->row_doubles, e)) <
		0 ||
	    (rc = SIM_RESERVE(&b->cell, &b->cap_cell, n, e)) < 0)
		return rc;
	for (uint64_t i = 0; i < n; i++)
		b->cell[i] = b->first + i;
	const struct xp_pool_job job = {
	    .n_workers = n_workers,
	    .n_cells = n,
	    .cell = b->cell,
	    .row_doubles = b->row_doubles,
	    .ctx = b,
	    .open = open_trial,
	    .serve = check_gate_serve,
	    .take = check_gate_take,
	};
	return xp_pool_run(&job, e);
}

/* The fewest runs that could decide the gate: all of them successes, or all
 * failures. One run of flows or links has so many trials that it may. */
static double least_runs(const struct xp_gate *g, const struct xp_gate_state *s)
{
	const double left = (double)(g->max_runs - s->n_runs);
	double good = 0, bad = INFINITY;
	for (int i = 0; i < n_sides_of(g); i++) {
		const struct sim_sprt *t = &s->side[i];
		if (s->of_side[i] != SIM_SPRT_GO_ON)
			continue;
		good = fmax(good, ceil((t->upper - t->llr) / t->win));
		bad = fmin(bad, ceil((t->lower - t->llr) / t->lose));
	}
	/* One run of flows or links may decide. */
	if (g->unit != XP_GATE_RUN)
		return 1;
	return fmin(left, fmax(1, fmin(good, bad)));
}

/* How many runs to draw next. Those that any outcome needs are not drawn in
 * vain; beyond them, only so many that the start of processes is worth it. */
static uint64_t next_batch(const struct xp_gates *g,
    const struct xp_gate_state s[])
{
	enum { LEAST = 32, MOST = 4096 };
	double n = 0;
	for (size_t i = 0; i < g->n; i++)
		if (xp_gate_open(&g->gate[i], &s[i]))
			n = fmax(n, least_runs(&g->gate[i], &s[i]));
	return n > 0 ? (uint64_t)fmin(MOST, fmax(LEAST, n)) : 0;
}

static int check_gate_judge(const struct xp_gates *g, const struct batch *b,
    uint64_t n, struct xp_gate_state state[], struct sim_err *e)
{
	int rc = 0;
	for (uint64_t r = 0; rc == 0 && r < n; r++)
		for (size_t i = 0; rc == 0 && i < g->n; i++)
			rc = xp_gate_add(&g->gate[i], &state[i],
			    b->row + r * b->row_doubles, e);
	return rc;
}

/* With bounds out of reach the test counts N_RUNS runs and never decides. */
static void only_count(struct xp_gate *g, struct xp_gate_state *s,
    uint32_t n_runs)
{
	g->max_runs = n_runs;
	for (int i = 0; i < 2; i++) {
		s->side[i].upper = INFINITY;
		s->side[i].lower = -INFINITY;
	}
}

int xp_gates_run(struct xp_gates *g, unsigned n_workers, uint32_t n_runs,
    struct xp_gate_state state[], struct sim_err *e)
{
	struct batch b = {.spec = &g->spec};
	struct xp_config c = {0};
	uint64_t n;
	int rc = xp_spec_point(&g->spec, 0, &c, e);
	/* A gate file has one row a trial, as was checked when it was read. */
	b.row_doubles = res_row_doubles(c.n_algos);
	xp_config_free(&c);
	for (size_t i = 0; i < g->n; i++) {
		xp_gate_begin(&g->gate[i], &state[i]);
		if (n_runs > 0)
			only_count(&g->gate[i], &state[i], n_runs);
	}
	while (rc == 0 && (n = next_batch(g, state)) > 0) {
		if ((rc = check_gate_draw(&b, n_workers, n, e)) == 0)
			rc = check_gate_judge(g, &b, n, state, e);
		b.first += n;
	}
	free(b.row);
	free(b.cell);
	return rc;
}
