/* results/picture_choose.c -- what of a sweep goes across, up, into curves.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/picture_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/text.h"

/* As many panels are looked at; what makes more is left to be wished for. */
enum { MANY_PANELS = 12, MAX_KNOWN = 256 };

int res_picture_unknown(const char *what, const char *word,
    const char *const known[], size_t n, struct sim_err *e)
{
	char quote[64], list[700];
	struct sim_text t = {list, sizeof(list), 0};
	const char *near = sim_did_you_mean(word, known, n);
	list[0] = '\0';
	for (size_t i = 0; i < n; i++)
		sim_put(&t, "%s%s", i ? ", " : "", known[i]);
	if (n == 0)
		sim_put(&t, "none");
	sim_quote(quote, word);
	return near
	    ? sim_fail(e, SIM_EINVAL,
		  "there is no %s %s; did you mean \"%s\"? There is: "
		  "%s.",
		  what, quote, near, list)
	    : sim_fail(e, SIM_EINVAL, "there is no %s %s. There is: %s.", what,
		  quote, list);
}

/* --- metrics ---------------------------------------------------------------*/

int res_picture_of_algo(const struct res_metric *m)
{
	const struct res_metric_list *list;
	return res_metric_find(m->name, &list) && !list->of_trial;
}

size_t res_picture_column(const struct res_choice *to, size_t algo,
    const struct res_metric *m, const char *suffix)
{
	return res_sheet_find(to->s,
	    res_picture_of_algo(m) ? to->c->algo[algo] : NULL, m->name, suffix);
}

static int picture_is_measured(const struct res_choice *to,
    const struct res_metric *m)
{
	const size_t n = res_picture_of_algo(m) ? to->c->n_algos : 1;
	for (size_t a = 0; a < n; a++)
		if (res_sheet_has(to->s, res_picture_column(to, a, m, "")))
			return 1;
	return 0;
}

/* The columns of metrics that were measured, those of algorithms first. */
static size_t list_measured(const struct res_choice *to,
    const char *known[MAX_KNOWN])
{
	size_t n = 0;
	for (int of_algo = 1; of_algo >= 0; of_algo--)
		for (size_t i = 0; i < to->s->n_columns; i++) {
			const char *name = to->s->name[i];
			if (of_algo && to->c->n_algos > 0)
				name = res_sheet_behind(name, to->c->algo[0]);
			if (of_algo)
				name = res_sheet_behind(name, ":");
			const struct res_metric *m =
			    name ? res_metric_find(name, NULL) : NULL;
			if (m && n < MAX_KNOWN && picture_is_measured(to, m) &&
			    res_picture_of_algo(m) == of_algo)
				known[n++] = m->name;
		}
	return n;
}

static int take_metric(struct res_choice *to, const char *name,
    struct sim_err *e)
{
	const char *known[MAX_KNOWN];
	const struct res_metric *m = res_metric_find(name, NULL);
	if (to->n_metrics == RES_MAX_PANELS)
		return sim_fail(e, SIM_ELIMIT, "--metric: more than %d.",
		    RES_MAX_PANELS);
	for (size_t i = 0; i < to->n_metrics; i++)
		if (to->metric[i] == m)
			return sim_fail(e, SIM_EINVAL, "--metric has %s twice.",
			    name);
	if (!m || !picture_is_measured(to, m))
		return res_picture_unknown(m ? "measured metric" : "metric",
		    name, known, list_measured(to, known), e);
	to->metric[to->n_metrics++] = m;
	return 0;
}

/* The first of NAMES, which end with NULL, that were measured, up to MOST
 * metrics in all. */
static void take_measured(struct res_choice *to, const char *const names[],
    size_t most)
{
	for (; *names && to->n_metrics < most; names++) {
		const struct res_metric *m = res_metric_find(*names, NULL);
		if (m && picture_is_measured(to, m))
			to->metric[to->n_metrics++] = m;
	}
}

/* A panel of a metric that was not measured would be empty. Precision and
 * recall are of algorithms that accuse; those that only rank have the share of
 * faults among the best. */
static int choose_metrics(struct res_choice *to, struct sim_err *e)
{
	static const char *const algos[] = {"accuracy_fault", "precision",
	    "recall", NULL};
	static const char *const more[] = {"detect_s", "top_k_recall",
	    "worst_first_rate", "proved", NULL};
	static const char *const probes[] = {"drop_rate", "tier_accuracy",
	    "pattern_accuracy", "unconnected_rate", "named_rate", "name_s",
	    "rtt_us", "p99_us", NULL};
	static const char *const flows[] = {"n_failed_flows", "n_drops",
	    "n_flows", NULL};
	const char *known[MAX_KNOWN];
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < to->w->n_metrics; i++)
		rc = take_metric(to, to->w->metric[i], e);
	if (rc < 0 || to->n_metrics > 0)
		return rc;
	take_measured(to, algos, 3);
	take_measured(to, more, to->n_metrics < 2 ? 2 : 3);
	if (to->n_metrics == 0)
		take_measured(to, probes, 2);
	if (to->n_metrics == 0)
		take_measured(to, flows, 1);
	/* Whatever else there is; the first will do. */
	if (to->n_metrics == 0 && list_measured(to, known) > 0)
		to->metric[to->n_metrics++] = res_metric_find(known[0], NULL);
	return to->n_metrics > 0 ? 0
				 : sim_fail(e, SIM_EMISMATCH,
				       "nothing was measured yet: no cell is "
				       "done, or all of them without a value.");
}

/* --- axes ------------------------------------------------------------------*/

static int same_value(const struct res_coord *k, size_t i, size_t j)
{
	return k->number ? k->number[i] == k->number[j]
			 : strcmp(k->text[i], k->text[j]) == 0;
}

/* Does no value of it come twice? */
static int tells_apart(const struct res_axis *a, const struct res_coord *k)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t j = 0; j < i; j++)
			if (same_value(k, i, j))
				return 0;
	return 1;
}

/* How an axis goes by its coordinates; RATHER one of numbers. */
static size_t choose_coord(const struct res_axis *a, int rather)
{
	size_t first = RES_NONE, number = RES_NONE;
	for (size_t i = 0; i < a->n_coords; i++) {
		const struct res_coord *k = &a->coord[i];
		if (!tells_apart(a, k))
			continue;
		if (strcmp(k->name, "label") == 0)
			return i;
		if (first == RES_NONE)
			first = i;
		if (k->number && number == RES_NONE)
			number = i;
	}
	return rather && number != RES_NONE ? number : first;
}

const double *res_picture_numbers(const struct res_choice *to, size_t axis)
{
	const size_t k = to->coord[axis];
	return k == RES_NONE ? NULL : to->c->axis[axis].coord[k].number;
}

void res_picture_axis_name(const struct res_choice *to, size_t axis,
    char buf[256])
{
	const struct res_axis *a = &to->c->axis[axis];
	struct sim_text t = {buf, 256, 0};
	for (size_t i = 0; i < a->n_coords; i++)
		if (to->coord[axis] == RES_NONE || to->coord[axis] == i)
			sim_put(&t, "%s%s", t.n ? ", " : "", a->coord[i].name);
}

/* The axis of the coordinate NAME becomes ROLE. WORDS, which end with NULL, may
 * be said as well. */
static int give_role(struct res_choice *to, const char *name,
    enum res_role role, size_t *axis, const char *const words[],
    struct sim_err *e)
{
	const char *known[MAX_KNOWN];
	size_t n = 0;
	for (size_t a = 0; a < to->c->n_axes; a++)
		for (size_t i = 0; i < to->c->axis[a].n_coords; i++) {
			const char *have = to->c->axis[a].coord[i].name;
			if (n < MAX_KNOWN)
				known[n++] = have;
			if (strcmp(have, name) != 0)
				continue;
			if (to->role[a] != RES_ONE)
				return sim_fail(e, SIM_EINVAL,
				    "%s is named twice, and can be only one of "
				    "--x, --by and --panels.",
				    name);
			to->role[a] = role;
			to->coord[a] = i;
			*axis = a;
			return 0;
		}
	for (; *words && n < MAX_KNOWN; words++)
		known[n++] = *words;
	return res_picture_unknown("axis", name, known, n, e);
}

/* Numbers before texts, then many before few, then the first. */
static size_t choose_x(const struct res_choice *to)
{
	size_t best = RES_NONE, most = 0;
	for (int numbers = 1; numbers >= 0 && best == RES_NONE; numbers--)
		for (size_t a = 0; a < to->c->n_axes; a++) {
			const struct res_axis *axis = &to->c->axis[a];
			const size_t k = choose_coord(axis, 1);
			const int is_number =
			    k != RES_NONE && axis->coord[k].number != NULL;
			if (to->role[a] == RES_ONE && axis->n > most &&
			    axis->n > 1 && is_number >= numbers) {
				best = a;
				most = axis->n;
			}
		}
	/* A sweep of one point has no axis, or one with a single value. */
	return best != RES_NONE || to->c->n_axes == 0 ? best
	    : to->role[0] == RES_ONE                  ? 0
						      : RES_NONE;
}

static int has_algo_metric(const struct res_choice *to)
{
	for (size_t m = 0; m < to->n_metrics; m++)
		if (res_picture_of_algo(to->metric[m]))
			return 1;
	return 0;
}

static int check_algorithm(const struct res_choice *to, const char *option,
    struct sim_err *e)
{
	if (to->c->n_algos == 0)
		return sim_fail(e, SIM_EINVAL,
		    "%s algorithm: these results have none.", option);
	if (!has_algo_metric(to))
		return sim_fail(e, SIM_EINVAL,
		    "%s algorithm: %s is of no algorithm.", option,
		    to->metric[0]->name);
	return 0;
}

static int fulfil(struct res_choice *to, struct sim_err *e)
{
	static const char *const none[] = {NULL};
	static const char *const for_by[] = {"algorithm", NULL};
	static const char *const for_panels[] = {"algorithm", "metric", NULL};
	const struct res_wish *w = to->w;
	size_t axis;
	int rc = 0;
	if (w->x)
		rc = give_role(to, w->x, RES_ACROSS, &to->x, none, e);
	if (rc == 0 && w->by && strcmp(w->by, "algorithm") == 0) {
		if (w->heatmap)
			return sim_fail(e, SIM_EINVAL,
			    "--heatmap has two axes, and --by names the second "
			    "one.");
		to->algos = RES_CURVES;
		rc = check_algorithm(to, "--by", e);
	} else if (rc == 0 && w->by) {
		rc = w->heatmap
		    ? give_role(to, w->by, RES_UP, &to->up, none, e)
		    : give_role(to, w->by, RES_CURVES, &to->by, for_by, e);
	}
	if (rc < 0 || !w->panels || strcmp(w->panels, "metric") == 0)
		return rc;
	if (strcmp(w->panels, "algorithm") != 0)
		return give_role(to, w->panels, RES_PANELS, &axis, for_panels,
		    e);
	if (to->algos == RES_CURVES)
		return sim_fail(e, SIM_EINVAL,
		    "algorithm is named twice, and can be only one of --by and "
		    "--panels.");
	to->algos = RES_PANELS;
	return check_algorithm(to, "--panels", e);
}

/* The axis with most values of those that have no role yet, or RES_NONE. */
static size_t longest_left(const struct res_choice *to)
{
	size_t best = RES_NONE, most = 1;
	for (size_t a = 0; a < to->c->n_axes; a++)
		if (to->role[a] == RES_ONE && to->c->axis[a].n > most) {
			best = a;
			most = to->c->axis[a].n;
		}
	return best;
}

static int choose_heatmap(struct res_choice *to, struct sim_err *e)
{
	const size_t axis = longest_left(to);
	if (to->up == RES_NONE && axis != RES_NONE) {
		to->up = axis;
		to->role[axis] = RES_UP;
	}
	return to->x != RES_NONE && to->up != RES_NONE
	    ? 0
	    : sim_fail(e, SIM_EINVAL,
		  "--heatmap needs two axes with several values each.");
}

/* Curves, from what has no role yet. */
static void choose_curves(struct res_choice *to)
{
	const size_t axis = longest_left(to);
	/* What is too long for panels is well seen as one of two axes. */
	if (axis != RES_NONE && to->c->axis[axis].n > MANY_PANELS &&
	    to->x != RES_NONE && !to->w->by && !to->w->log_x && !to->w->log_y &&
	    to->w->n_curves == 0) {
		to->up = axis;
		to->role[axis] = RES_UP;
		return;
	}
	if (to->by != RES_NONE || to->algos == RES_CURVES)
		return;
	if (to->algos == RES_ONE && to->c->n_algos > 1 && has_algo_metric(to)) {
		to->algos = RES_CURVES;
		return;
	}
	for (size_t a = 0; a < to->c->n_axes; a++)
		if (to->role[a] == RES_ONE && to->c->axis[a].n > 1 &&
		    to->c->axis[a].n <= RES_FEW) {
			to->by = a;
			to->role[a] = RES_CURVES;
			return;
		}
}

/* All else is panels. */
static void choose_panels(struct res_choice *to)
{
	size_t n = 1;
	for (size_t a = 0; a < to->c->n_axes; a++) {
		if (to->role[a] == RES_ONE && to->c->axis[a].n > 1)
			to->role[a] = RES_PANELS;
		if (to->role[a] == RES_PANELS && n <= RES_MAX_PANELS)
			n *= to->c->axis[a].n;
	}
	if (to->algos == RES_ONE && to->c->n_algos > 1)
		to->algos = RES_PANELS;
	if (to->algos == RES_PANELS)
		n *= to->c->n_algos;
	/* Of metrics that nobody asked for as many as can be looked at. */
	while (to->w->n_metrics == 0 && to->n_metrics > 1 &&
	    n * to->n_metrics > MANY_PANELS)
		to->n_metrics--;
}

int res_picture_choose(struct res_choice *to, const struct res_cube *c,
    const struct res_sheet *s, const struct res_wish *w, struct sim_err *e)
{
	*to = (struct res_choice){.c = c,
	    .s = s,
	    .w = w,
	    .x = RES_NONE,
	    .by = RES_NONE,
	    .up = RES_NONE};
	int rc = choose_metrics(to, e);
	if (rc == 0)
		rc = fulfil(to, e);
	if (rc < 0)
		return rc;
	if (to->x == RES_NONE && (to->x = choose_x(to)) != RES_NONE) {
		to->role[to->x] = RES_ACROSS;
		to->coord[to->x] = choose_coord(&c->axis[to->x], 1);
	}
	for (size_t a = 0; a < c->n_axes; a++)
		if (to->role[a] == RES_ONE)
			to->coord[a] = choose_coord(&c->axis[a], 0);
	if (w->heatmap && (rc = choose_heatmap(to, e)) < 0)
		return rc;
	if (to->up == RES_NONE)
		choose_curves(to);
	choose_panels(to);
	return 0;
}
