/* experiments/check/verify.c -- what a paper claims against what we measured.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/stat.h"
#include "sim/text.h"
#include "sim/vec.h"

/* Of the interval of a ratio, which takes its trials as independent and so is a
 * little narrow (see experiments/check/verify.h). */
#define CONFIDENCE 0.95

const char *const xp_certainty_names[] = {"S", "Q", "R+", "R", "R-", "M", NULL};
const char *const xp_relation_names[] = {">=", "<=", "~", NULL};
const char *const xp_claim_verdict_names[] = {"not run", "not comparable",
    "agrees", "DIFFERS", NULL};
static const char *const over_names[] = {"each", "pool", "spread", NULL};

/* --- reading ---------------------------------------------------------------*/

#define AT(member)   .offset = offsetof(struct xp_claim, member)
#define TEXT(member) AT(member), .size = sizeof(((struct xp_claim *)0)->member)
static const struct sim_field check_verify_fields[] = {
    {"id", SIM_F_STR, TEXT(id), .doc = "a name of its own"},
    {"figure", SIM_F_STR, TEXT(figure), .doc = "whose results"},
    {"certainty", SIM_F_ENUM, AT(certainty), .names = xp_certainty_names,
	.doc = "how the claim is known"},
    {"text", SIM_F_STR, TEXT(text), .doc = "what is claimed"},
    {"note", SIM_F_STR, TEXT(note), .def = "",
	.doc = "why ours differs or can't be compared"},
    {"metric", SIM_F_STR, TEXT(metric), .def = "", .doc = "a ratio"},
    {"algorithm", SIM_F_STR, TEXT(algorithm), .def = "",
	.doc = "a label of the results"},
    {"minus", SIM_F_STR, TEXT(minus), .def = "",
	.doc = "subtract the metric of this label"},
    {"relation", SIM_F_ENUM, AT(relation), .names = xp_relation_names,
	.def = ">=", .doc = "what ours must be to the value"},
    {"value", SIM_F_F64, AT(value), .min = -1, .max = 1, .def = "0",
	.unit = "1", .doc = "what the claim states"},
    {"tolerance", SIM_F_F64, AT(tolerance), .min = 0, .max = 1, .def = "0",
	.unit = "1", .doc = "of the relation ~"},
    {"over", SIM_F_ENUM, AT(over), .names = over_names, .def = "each",
	.doc = "how points are taken together"},
    {"must", SIM_F_BOOL, AT(must), .def = "false",
	.doc = "to differ is to fail"},
    {0},
};
#undef TEXT
#undef AT

/* Claims are about ratios, for which there is an exact interval: first those of
 * algorithms, then those of the trial. */
static int find_ratio(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct xp_claim *c)
{
	enum { N = RES_N_RATIOS + RES_N_TRIAL_RATIOS };
	const char *known[N];
	char quote[64];
	for (unsigned i = 0; i < N; i++) {
		const struct res_metric *m = i < RES_N_RATIOS
		    ? &res_ratios[i]
		    : &res_trial_ratios[i - RES_N_RATIOS];
		known[i] = m->name;
		if (strcmp(known[i], c->metric) != 0)
			continue;
		c->of_trial = i >= RES_N_RATIOS;
		c->num = m->num;
		c->den = m->den;
		return 0;
	}
	const char *near = sim_did_you_mean(c->metric, known, N);
	return sim_yaml_mistake(y, node, "there is no ratio %s%s%s%s",
	    sim_quote(quote, c->metric), near ? "; did you mean \"" : ".",
	    near ? near : "", near ? "\"?" : "");
}

/* Where a claim looks: a map of axes to a value, to a list of values, or to a
 * range. Which axes there are is not known before there are results. */
static int check_at(struct sim_yaml *y, const struct sim_yaml_node *at)
{
	int rc = 0;
	if (at->kind != SIM_YAML_MAP)
		return sim_yaml_mistake(y, at,
		    "at is a map of axes to values.");
	for (size_t i = 0; rc == 0 && i < at->n; i++) {
		const struct sim_yaml_node *v = at->child[i];
		if (v->kind != SIM_YAML_MAP)
			continue;
		int good = v->n > 0;
		for (size_t k = 0; k < v->n; k++) {
			const struct sim_yaml_node *bound = v->child[k];
			double x;
			good &= (strcmp(v->key[k], "from") == 0 ||
				    strcmp(v->key[k], "to") == 0) &&
			    bound->kind == SIM_YAML_SCALAR &&
			    sim_parse_f64(bound->text, &x, NULL) == 0;
		}
		if (!good)
			rc = sim_yaml_mistake(y, v,
			    "a range of %s is {from: number, to: number}.",
			    at->key[i]);
	}
	return rc;
}

/* What a claim must have. Without a metric it can't be compared, and a note
 * must say why; with one it needs what it is compared by, and an algorithm
 * unless the ratio is the trial's own. */
static int check_verify_check_keys(struct sim_yaml *y,
    const struct sim_yaml_node *node, struct xp_claim *c)
{
	static const char *const needs[] = {"relation", "value", "algorithm"};
	const struct sim_yaml_node *metric = sim_yaml_get(node, "metric");
	int rc = 0;
	if (!metric)
		return *c->note ? 0
				: sim_yaml_mistake(y, node,
				      "without `metric` a claim needs a `note` "
				      "that says why it can't be compared.");
	if ((rc = find_ratio(y, metric, c)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < (c->of_trial ? 2 : 3); i++)
		if (!sim_yaml_get(node, needs[i]))
			rc = sim_yaml_mistake(y, node,
			    "a claim with a metric needs `%s`.", needs[i]);
	/* How near is near must be said for `~`, and for no other relation. */
	if (rc == 0 && (c->relation == XP_ABOUT) != (c->tolerance > 0))
		rc = sim_yaml_mistake(y, node,
		    "relation ~ and a tolerance above 0 go together.");
	if (rc == 0 && c->of_trial && (*c->algorithm || *c->minus))
		rc = sim_yaml_mistake(y, node,
		    "%s is the trial's own, of no algorithm.", c->metric);
	return rc;
}

static int read_claim(struct xp_claims *all, const struct sim_yaml_node *node,
    size_t i, struct sim_err *e)
{
	static const char *const also[] = {"at", NULL};
	struct sim_yaml *y = &all->yaml;
	struct xp_claim *c = &all->claim[i];
	const size_t had = y->n_mistakes;
	int rc = sim_yaml_read(y, node, node, check_verify_fields, also, c, e);
	if (rc < 0 || y->n_mistakes > had)
		return rc;
	for (size_t k = 0; rc == 0 && k < i; k++)
		if (strcmp(all->claim[k].id, c->id) == 0)
			rc = sim_yaml_mistake(y, sim_yaml_get(node, "id"),
			    "two claims have the id \"%s\".", c->id);
	/* Borrowed from the tree, as its form depends on the axes. */
	c->at = sim_yaml_get(node, "at");
	if (rc == 0 && c->at)
		rc = check_at(y, c->at);
	return rc < 0 ? rc : check_verify_check_keys(y, node, c);
}

static int read_claims(struct xp_claims *c, struct sim_err *e)
{
	static const char *const also[] = {"claims", NULL};
	static const struct sim_field none[] = {{0}};
	struct sim_yaml *y = &c->yaml;
	const struct sim_yaml_node *list;
	int rc = sim_yaml_read(y, y->root, NULL, none, also, c, e);
	if (rc < 0 || y->n_mistakes > 0)
		return rc;
	list = sim_yaml_get(y->root, "claims");
	if (!list || list->kind != SIM_YAML_SEQ)
		return sim_yaml_mistake(y, list ? list : y->root,
		    "claims is a list of {id: ..., figure: ..., ...}.");
	if ((rc = SIM_ZALLOC(&c->claim, list->n, e)) < 0)
		return rc;
	c->n = list->n;
	for (size_t i = 0; rc == 0 && i < list->n; i++)
		rc = read_claim(c, list->child[i], i, e);
	return rc;
}

int xp_claims_load(struct xp_claims *c, const char *path, struct sim_err *e)
{
	*c = (struct xp_claims){0};
	int rc = sim_yaml_load(&c->yaml, path, e);
	if (rc == 0)
		rc = read_claims(c, e);
	if (rc == SIM_ENOMEM)
		return sim_fail(e, rc, "no memory to read %s.", path);
	return rc < 0 ? rc : sim_yaml_verdict(&c->yaml, e);
}

void xp_claims_free(struct xp_claims *c)
{
	free(c->claim);
	sim_yaml_free(&c->yaml);
	*c = (struct xp_claims){0};
}

/* --- points ----------------------------------------------------------------*/

static int equals(const struct res_coord *k, size_t i,
    const struct sim_yaml_node *v)
{
	char text[256];
	double x;
	/* Numbers are compared as numbers, so that 1e-3 is 0.001; all else as
	 * the text that the spec's own value has in the results. */
	if (k->number)
		return v->kind == SIM_YAML_SCALAR &&
		    sim_parse_f64(v->text, &x, NULL) == 0 && x == k->number[i];
	return sim_yaml_format(v, text, sizeof(text)) < (int)sizeof(text) &&
	    strcmp(text, k->text[i]) == 0;
}

static double check_verify_bound_of(const struct sim_yaml_node *range,
    const char *key, double none)
{
	const struct sim_yaml_node *v = sim_yaml_get(range, key);
	double x = none;
	if (v)
		sim_parse_f64(v->text, &x, NULL);
	return x;
}

/* Is place I of the axis what V asks for? A text of the axis may
 * itself be a list, as in faults.classes: [tor-t1], so the whole of V
 * is tried before its elements. */
static int matches(const struct res_coord *k, size_t i,
    const struct sim_yaml_node *v)
{
	if (equals(k, i, v))
		return 1;
	/* A missing end of a range is open. Texts have no
	 * order and are in no range. */
	if (v->kind == SIM_YAML_MAP)
		return k->number &&
		    k->number[i] >=
		    check_verify_bound_of(v, "from", -INFINITY) &&
		    k->number[i] <= check_verify_bound_of(v, "to", INFINITY);
	for (size_t j = 0; v->kind == SIM_YAML_SEQ && j < v->n; j++)
		if (equals(k, i, v->child[j]))
			return 1;
	return 0;
}

/* The axis and coordinate of that name; 0 if there is none. */
static int find_coord(const struct res_cube *c, const char *name, size_t *axis,
    const struct res_coord **coord)
{
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++)
			if (strcmp(c->axis[a].coord[i].name, name) == 0) {
				*axis = a;
				*coord = &c->axis[a].coord[i];
				return 1;
			}
	return 0;
}

/* A point is meant if it is within all of `at`. */
static int is_meant(const struct xp_claim *c, const struct res_cube *cube,
    const size_t place[])
{
	for (size_t i = 0; c->at && i < c->at->n; i++) {
		size_t axis;
		const struct res_coord *coord;
		if (!find_coord(cube, c->at->key[i], &axis, &coord) ||
		    !matches(coord, place[axis], c->at->child[i]))
			return 0;
	}
	return 1;
}

/* The first coordinate of an axis names its places;
 * those of a zip go with it. */
static void name_point(const struct res_cube *c, const size_t place[],
    char *buf, size_t size)
{
	struct sim_text t = {buf, size, 0};
	char number[32];
	*buf = '\0';
	for (size_t a = 0; a < c->n_axes; a++) {
		const struct res_coord *k = &c->axis[a].coord[0];
		sim_put(&t, "%s%s %s", a ? ", " : "", k->name,
		    k->number ? sim_format_f64(number, k->number[place[a]])
			      : k->text[place[a]]);
	}
}

/* --- shares ----------------------------------------------------------------*/

struct share {
	double num, den;
	double value, lo, hi; /* NaN without trials */
};

/* Add up the runs of a point, each with the weight of its trials. Runs that
 * failed or measured nothing are left out. */
static void check_verify_pool_runs(const struct xp_claim *c,
    const struct res_cube *cube, size_t algo, size_t point, struct share *s)
{
	/* A row has the trial's metrics first, then each algorithm's. */
	const size_t first = c->of_trial ? 0 : res_row_doubles(algo);
	for (size_t run = 0; run < cube->n_runs; run++) {
		const double num =
		    res_cube_value(cube, point, run, first + c->num);
		const double den =
		    res_cube_value(cube, point, run, first + c->den);
		if (cube->status[point * cube->n_runs + run] != RES_DONE ||
		    isnan(num) || !(den > 0))
			continue;
		s->num += num;
		s->den += den;
	}
}

static int close_share(struct share *s, struct sim_err *e)
{
	s->value = s->lo = s->hi = NAN;
	/* Beyond 2^53 sums of ones are not exact, and other
	 * values are no counts. */
	if (!(s->num >= 0 && s->num <= s->den && s->den < 0x1p53))
		return sim_fail(e, SIM_EINVAL, "%g of %g is no share.", s->num,
		    s->den);
	if (s->den == 0)
		return 0;
	s->value = s->num / s->den;
	return sim_binomial_interval((uint64_t)s->num, (uint64_t)s->den,
	    CONFIDENCE, &s->lo, &s->hi, e);
}

/* The interval of a difference is as wide as both together allow. The two are
 * of the same runs, so that is wider than need be, and a claim about a
 * difference rather agrees than differs. */
static void subtract(struct share *a, const struct share *b)
{
	a->value -= b->value;
	const double lo = a->lo - b->hi;
	a->hi -= b->lo;
	a->lo = lo;
}

/* --- one claim -------------------------------------------------------------*/

/* A claim, the results, and the places of the labels among their algorithms;
 * `minus` is NONE in a claim without it. */
enum { NONE = UINT32_MAX };
struct check {
	const struct xp_claim *claim;
	const struct res_cube *cube;
	size_t algo, minus;
	struct xp_finding *f;
	struct sim_err *e;
};

static size_t find_label(const struct res_cube *c, const char *label)
{
	for (size_t i = 0; i < c->n_algos; i++)
		if (strcmp(c->algo[i], label) == 0)
			return i;
	return NONE;
}

/* How far the interval reaches into what the claim allows. Below 0 all of it
 * lies outside, and the claim differs; the point with the least of it decides a
 * claim over each point. */
static double room(const struct xp_claim *c, double lo, double hi)
{
	switch (c->relation) {
	case XP_AT_LEAST:
		return hi - c->value;
	case XP_AT_MOST:
		return c->value - lo;
	default:
		return fmin(hi - (c->value - c->tolerance),
		    c->value + c->tolerance - lo);
	}
}

static void check_verify_take(struct check *k, const struct share *s)
{
	k->f->ours = s->value;
	k->f->lo = s->lo;
	k->f->hi = s->hi;
}

/* Measure a point into *S, less the other label if the claim has one. SUM adds
 * up both labels over points, for claims over all points as one. */
static int check_verify_measure(struct check *k, size_t point,
    struct share sum[2], struct share *s)
{
	struct share other = {0};
	int rc;
	*s = (struct share){0};
	check_verify_pool_runs(k->claim, k->cube, k->algo, point, &sum[0]);
	check_verify_pool_runs(k->claim, k->cube, k->algo, point, s);
	if ((rc = close_share(s, k->e)) < 0 || k->minus == NONE)
		return rc;
	check_verify_pool_runs(k->claim, k->cube, k->minus, point, &sum[1]);
	check_verify_pool_runs(k->claim, k->cube, k->minus, point, &other);
	if ((rc = close_share(&other, k->e)) == 0)
		subtract(s, &other);
	return rc;
}

static int take_pool(struct check *k, struct share sum[2])
{
	int rc;
	if ((rc = close_share(&sum[0], k->e)) < 0 ||
	    (k->minus != NONE && (rc = close_share(&sum[1], k->e)) < 0))
		return rc;
	if (k->minus != NONE)
		subtract(&sum[0], &sum[1]);
	check_verify_take(k, &sum[0]);
	return 0;
}

/* The points with the greatest and the least ratio, each end of
 * the intervals by itself. */
struct extremes {
	struct share most, least;
};

static void stretch(struct extremes *x, const struct share *s, int first)
{
	if (first) {
		x->most = x->least = *s;
		return;
	}
	x->most.value = fmax(x->most.value, s->value);
	x->most.lo = fmax(x->most.lo, s->lo);
	x->most.hi = fmax(x->most.hi, s->hi);
	x->least.value = fmin(x->least.value, s->value);
	x->least.lo = fmin(x->least.lo, s->lo);
	x->least.hi = fmin(x->least.hi, s->hi);
}

/* The spread is at least 0, however far the intervals overlap. */
static void take_spread(struct check *k, struct extremes *x)
{
	subtract(&x->most, &x->least);
	x->most.lo = fmax(x->most.lo, 0);
	check_verify_take(k, &x->most);
}

static int check_verify_walk(struct check *k, size_t place[])
{
	struct share sum[2] = {{.num = 0}}, s;
	struct extremes x = {.most = {.num = 0}};
	double least = INFINITY;
	int rc = 0;
	for (size_t p = 0; rc == 0 && p < k->cube->n_points; p++) {
		res_cube_at(k->cube, p, place);
		if (!is_meant(k->claim, k->cube, place))
			continue;
		/* A point that measured nothing is not among
		 * those that are compared. */
		if ((rc = check_verify_measure(k, p, sum, &s)) < 0 ||
		    isnan(s.value))
			continue;
		stretch(&x, &s, k->f->n_points++ == 0);
		const double r = room(k->claim, s.lo, s.hi);
		/* Of each point only the one with the least room is told. */
		if (k->claim->over != XP_EACH || r >= least)
			continue;
		least = r;
		check_verify_take(k, &s);
		name_point(k->cube, place, k->f->where, sizeof(k->f->where));
	}
	if (rc == 0 && k->f->n_points > 0 && k->claim->over == XP_POOL)
		rc = take_pool(k, sum);
	if (rc == 0 && k->f->n_points > 0 && k->claim->over == XP_SPREAD)
		take_spread(k, &x);
	return rc;
}

/* Put into f->why what keeps the claim from being compared, and return 1; 0 if
 * nothing does. That is no error: the results may not have been made yet. */
static int is_lacking(struct check *k)
{
	const struct xp_claim *c = k->claim;
	struct xp_finding *f = k->f;
	size_t axis;
	const struct res_coord *coord;
	if (!k->cube) {
		snprintf(f->why, sizeof(f->why), "no results of %s", c->figure);
		return 1;
	}
	k->algo = c->of_trial ? 0 : find_label(k->cube, c->algorithm);
	k->minus = *c->minus ? find_label(k->cube, c->minus) : NONE;
	if (k->algo == NONE || (*c->minus && k->minus == NONE)) {
		snprintf(f->why, sizeof(f->why), "no algorithm %s in %s",
		    k->algo == NONE ? c->algorithm : c->minus, c->figure);
		return 1;
	}
	for (size_t i = 0; c->at && i < c->at->n; i++)
		if (!find_coord(k->cube, c->at->key[i], &axis, &coord)) {
			snprintf(f->why, sizeof(f->why), "no axis %.64s in %s",
			    c->at->key[i], c->figure);
			return 1;
		}
	return 0;
}

int xp_claim_check(const struct xp_claim *c, const struct res_cube *cube,
    struct xp_finding *f, struct sim_err *e)
{
	struct check k = {.claim = c, .cube = cube, .f = f, .e = e};
	size_t *place = NULL;
	/* The verdict gets better as more turns out to be there. */
	*f = (struct xp_finding){.verdict = XP_NOT_COMPARABLE,
	    .ours = NAN,
	    .lo = NAN,
	    .hi = NAN};
	/* A claim without a metric is there for the record. */
	if (!*c->metric)
		return 0;
	f->verdict = XP_NOT_RUN;
	if (is_lacking(&k))
		return 0;
	int rc = SIM_ZALLOC(&place, cube->n_axes, e);
	if (rc == 0)
		rc = check_verify_walk(&k, place);
	free(place);
	if (rc < 0)
		return sim_wrap(e, rc, "claim %s", c->id);
	if (f->n_points == 0)
		snprintf(f->why, sizeof(f->why), "no such points in %s",
		    c->figure);
	else
		f->verdict = room(c, f->lo, f->hi) < 0 ? XP_DIFFERS : XP_AGREES;
	return 0;
}
