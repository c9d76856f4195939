/* experiments/check/claim.c -- what a paper claims, as a file says it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/claim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/text.h"
#include "sim/vec.h"

const char *const xp_certainty_names[] = {"S", "Q", "R+", "R", "R-", "M", NULL};
const char *const xp_relation_names[] = {"in words", ">=", "<=", "~", ">", "<",
    NULL};
static const char *const over_names[] = {"each", "pool", "trend", NULL};

#define AT(member)   .offset = offsetof(struct xp_claim, member)
#define TEXT(member) AT(member), .size = sizeof(((struct xp_claim *)0)->member)
static const struct sim_field claim_fields[] = {
    {"id", SIM_F_STR, TEXT(id), .doc = "a name of its own"},
    {"figure", SIM_F_STR, TEXT(figure), .doc = "whose results"},
    {"certainty", SIM_F_ENUM, AT(certainty), .names = xp_certainty_names,
	.doc = "how the claim is known"},
    {"text", SIM_F_STR, TEXT(text), .doc = "what is claimed"},
    {"note", SIM_F_STR, TEXT(note), .def = "",
	.doc = "why it can't be compared"},
    {"metric", SIM_F_STR, TEXT(metric), .def = "",
	.doc = "a ratio, a metric, or the difference of two"},
    {"algorithm", SIM_F_STR, TEXT(algorithm), .def = "",
	.doc = "a label of the results"},
    {"minus", SIM_F_STR, TEXT(minus), .def = "",
	.doc = "subtract the metric of this label"},
    {"per", SIM_F_STR, TEXT(per), .def = "",
	.doc = "divide by the metric of this label"},
    {"relation", SIM_F_ENUM, AT(relation), .names = xp_relation_names,
	.def = "in words", .doc = "what ours must be to the value"},
    {"value", SIM_F_STR, TEXT(printed), .def = "",
	.doc = "what the claim states, as printed"},
    {"over", SIM_F_ENUM, AT(over), .names = over_names, .def = "each",
	.doc = "how points are taken together"},
    {"runs", SIM_F_U32, AT(runs), .max = 1000000000, .unit = "runs", .def = "0",
	.doc = "of another simulator"},
    {"must", SIM_F_BOOL, AT(must), .def = "false",
	.doc = "to differ is to fail"},
    {0},
};
#undef TEXT
#undef AT

/* --- metrics ---------------------------------------------------------------*/

/* The quantity of that name, or a mistake with the nearest one. */
static int find_quantity(struct sim_yaml *y, const struct sim_yaml_node *node,
    const char *name, struct xp_quantity *q)
{
	const char *known[RES_N_NAMES];
	char quote[64];
	size_t n = 0;
	/* A ratio of two owners is that of no reading. */
	for (unsigned k = 0; k < RES_LIST_REACH; k++) {
		const struct res_metric_list *l = &res_metric_lists[k];
		for (unsigned i = 0; i < l->n; i++) {
			const struct res_metric *m = &l->metric[i];
			known[n++] = m->name;
			if (strcmp(m->name, name) != 0)
				continue;
			*q = (struct xp_quantity){.num = l->ratio ? m->num : i,
			    .less = XP_NO_COLUMN,
			    .den = l->ratio ? m->den : XP_NO_COLUMN,
			    .of_trial = l->of_trial};
			return 0;
		}
	}
	const char *near = sim_did_you_mean(name, known, n);
	return sim_yaml_mistake(y, node, "there is no metric %s%s%s%s",
	    sim_quote(quote, name), near ? "; did you mean \"" : ".",
	    near ? near : "", near ? "\"?" : "");
}

/* "a", or "a - b" of two that are not ratios and of one owner. */
static int read_metric(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct xp_claim *c)
{
	char first[sizeof(c->metric)];
	struct xp_quantity less;
	int rc;
	memcpy(first, c->metric, sizeof(first));
	char *minus = strstr(first, " - ");
	if (minus)
		*minus = '\0';
	const size_t had = y->n_mistakes;
	if ((rc = find_quantity(y, node, first, &c->what)) < 0 || !minus ||
	    y->n_mistakes > had ||
	    (rc = find_quantity(y, node, minus + 3, &less)) < 0 ||
	    y->n_mistakes > had)
		return rc;
	if (c->what.den != XP_NO_COLUMN || less.den != XP_NO_COLUMN ||
	    c->what.of_trial != less.of_trial)
		return sim_yaml_mistake(y, node,
		    "%s: only two metrics of one owner have a difference, and "
		    "no ratios.",
		    c->metric);
	c->what.less = less.num;
	return 0;
}

int xp_claim_is_share(const struct xp_claim *c)
{
	return !*c->per && (c->in_range || c->what.den != XP_NO_COLUMN);
}

/* --- values ----------------------------------------------------------------*/

/* "98 %", "1.18": a number and by its digits what it may have been rounded
 * from. Zero is no rounded number here but "no difference". */
static int read_printed(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct xp_claim *c)
{
	const char *p = c->printed + (*c->printed == '-');
	char number[sizeof(c->printed)];
	const size_t whole = strspn(p, "0123456789");
	const size_t digits =
	    p[whole] == '.' ? strspn(p + whole + 1, "0123456789") : 0;
	const char *end = p + whole + (digits ? digits + 1 : 0);
	const int percent = strcmp(end, " %") == 0;
	const double unit = percent ? 0.01 : 1;
	if (whole == 0 || (*end && !percent))
		return sim_yaml_mistake(y, node,
		    "%s is no number as printed, such as 98 %%, 90.47 %% or "
		    "1.5.",
		    c->printed);
	memcpy(number, c->printed, (size_t)(end - c->printed));
	number[end - c->printed] = '\0';
	c->value = strtod(number, NULL) * unit;
	c->rounding = c->value == 0 ? 0 : 0.5 * pow(10, -(double)digits) * unit;
	return 0;
}

static int is_range(const struct sim_yaml_node *v)
{
	int good = v->kind == SIM_YAML_MAP && v->n > 0;
	for (size_t k = 0; good && k < v->n; k++) {
		const struct sim_yaml_node *bound = v->child[k];
		double x;
		good = (strcmp(v->key[k], "from") == 0 ||
			   strcmp(v->key[k], "to") == 0) &&
		    bound->kind == SIM_YAML_SCALAR &&
		    sim_parse_f64(bound->text, &x, NULL) == 0;
	}
	return good;
}

double xp_claim_bound(const struct sim_yaml_node *range, const char *key,
    double none)
{
	const struct sim_yaml_node *v = sim_yaml_get(range, key);
	double x = none;
	if (v)
		sim_parse_f64(v->text, &x, NULL);
	return x;
}

static int read_within(struct sim_yaml *y, const struct sim_yaml_node *within,
    struct xp_claim *c)
{
	if (!is_range(within) || c->what.den != XP_NO_COLUMN)
		return sim_yaml_mistake(y, within,
		    "within is {from: number, to: number}, of a metric that is "
		    "no ratio.");
	c->in_range = 1;
	c->from = xp_claim_bound(within, "from", -INFINITY);
	c->to = xp_claim_bound(within, "to", INFINITY);
	return 0;
}

/* --- places ----------------------------------------------------------------*/

/* Where a claim looks: a map of axes to a value, to a list of values, or to a
 * range. Which axes there are is not known before there are results. */
static int check_at(struct sim_yaml *y, const struct sim_yaml_node *at)
{
	int rc = 0;
	if (at->kind != SIM_YAML_MAP)
		return sim_yaml_mistake(y, at,
		    "at is a map of axes to values.");
	for (size_t i = 0; rc == 0 && i < at->n; i++)
		if (at->child[i]->kind == SIM_YAML_MAP &&
		    !is_range(at->child[i]))
			rc = sim_yaml_mistake(y, at->child[i],
			    "a range of %s is {from: number, to: number}.",
			    at->key[i]);
	return rc;
}

static int check_guess(struct sim_yaml *y, const struct sim_yaml_node *guess)
{
	int good = guess->kind == SIM_YAML_SEQ && guess->n > 0;
	for (size_t i = 0; good && i < guess->n; i++)
		good = guess->child[i]->kind == SIM_YAML_SCALAR;
	return good ? 0
		    : sim_yaml_mistake(y, guess, "guess is a list of axes.");
}

/* --- claims ----------------------------------------------------------------*/

/* Keys that need, or rule out, each other. A key of value NULL is not there. */
static int claim_check_owner(struct sim_yaml *y,
    const struct sim_yaml_node *node, const struct xp_claim *c)
{
	if (!c->what.of_trial && !*c->algorithm)
		return sim_yaml_mistake(y, node,
		    "a claim with a metric needs `algorithm`.");
	if (c->what.of_trial && (*c->algorithm || *c->minus || *c->per))
		return sim_yaml_mistake(y, node,
		    "%s is the trial's own, of no algorithm.", c->metric);
	if (*c->minus && (*c->per || c->over == XP_TREND))
		return sim_yaml_mistake(y, node,
		    "`minus` goes neither with `per` nor with a trend.");
	if (*c->per && (c->in_range || c->what.den != XP_NO_COLUMN))
		return sim_yaml_mistake(y, node,
		    "`per` is for metrics that are no ratios, without "
		    "`within`.");
	return 0;
}

static int check_relation(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct xp_claim *c)
{
	if ((c->relation == XP_WORDS) != (*c->printed == '\0'))
		return sim_yaml_mistake(y, node,
		    "`relation` and `value` go together.");
	if ((c->runs > 0) != (c->certainty == XP_MEASURED && *c->metric))
		return sim_yaml_mistake(y, node,
		    "`runs` and certainty M go together.");
	return 0;
}

/* What a claim must have. Without a metric it can't be compared, and a note
 * must say why. */
static int claim_read_keys(struct sim_yaml *y, const struct sim_yaml_node *node,
    struct xp_claim *c)
{
	const struct sim_yaml_node *metric = sim_yaml_get(node, "metric");
	const struct sim_yaml_node *within = sim_yaml_get(node, "within");
	const size_t had = y->n_mistakes;
	int rc = 0;
	if (!metric)
		return *c->note ? 0
				: sim_yaml_mistake(y, node,
				      "without `metric` a claim needs a `note` "
				      "that says why it can't be compared.");
	if ((rc = read_metric(y, metric, c)) < 0 || y->n_mistakes > had)
		return rc;
	if (within)
		rc = read_within(y, within, c);
	if (rc == 0 && c->at)
		rc = check_at(y, c->at);
	if (rc == 0 && c->guess)
		rc = check_guess(y, c->guess);
	if (rc == 0 && *c->printed)
		rc = read_printed(y, sim_yaml_get(node, "value"), c);
	if (rc == 0)
		rc = claim_check_owner(y, node, c);
	return rc < 0 ? rc : check_relation(y, node, c);
}

static int read_claim(struct xp_claims *all, const struct sim_yaml_node *node,
    size_t i, struct sim_err *e)
{
	static const char *const also[] = {"at", "guess", "within", NULL};
	struct sim_yaml *y = &all->yaml;
	struct xp_claim *c = &all->claim[i];
	const size_t had = y->n_mistakes;
	int rc = sim_yaml_read(y, node, node, claim_fields, also, c, e);
	if (rc < 0 || y->n_mistakes > had)
		return rc;
	for (size_t k = 0; rc == 0 && k < i; k++)
		if (strcmp(all->claim[k].id, c->id) == 0)
			rc = sim_yaml_mistake(y, sim_yaml_get(node, "id"),
			    "two claims have the id \"%s\".", c->id);
	c->at = sim_yaml_get(node, "at");
	c->guess = sim_yaml_get(node, "guess");
	return rc < 0 ? rc : claim_read_keys(y, node, c);
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
