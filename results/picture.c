/* results/picture.c -- a sweep arranged to be drawn: panels of curves.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/picture_parts.h"
#include "sim/text.h"
#include "sim/vec.h"

/* Curves of a panel stand this far apart at a place, but all of them within
 * WIDTH of it. */
#define APART 0.16
#define WIDTH 0.7

/* Shares below this are shown on a scale of their own. */
#define SMALL 0.3

/* --- dots ------------------------------------------------------------------*/

static size_t point_at(const struct res_arranger *a)
{
	size_t point = 0;
	for (size_t i = 0; i < a->choice.c->n_axes; i++)
		point = point * a->choice.c->axis[i].n + a->at[i];
	return point;
}

/* The metric there, with whatever tells how sure it is. */
static struct res_dot read_dot(struct res_arranger *a)
{
	static const char *const suffix[][2] = {{"_lo", "_hi"},
	    {"_p10", "_p90"}};
	const struct res_choice *to = &a->choice;
	const size_t point = point_at(a);
	struct res_dot dot = {.y = res_sheet_number(to->s, point,
				  res_picture_column(to, a->algo, a->metric,
				      "")),
	    .lo = NAN,
	    .hi = NAN};
	for (int i = 0; i < 2 && isnan(dot.lo); i++) {
		dot.lo = res_sheet_number(to->s, point,
		    res_picture_column(to, a->algo, a->metric, suffix[i][0]));
		dot.hi = res_sheet_number(to->s, point,
		    res_picture_column(to, a->algo, a->metric, suffix[i][1]));
		if (!isnan(dot.lo) && !isnan(dot.y) && !a->p->is_heatmap)
			a->p->bars |= i ? RES_SPREADS : RES_INTERVALS;
	}
	return dot;
}

static int add_dot(struct res_arranger *a, struct res_dot dot)
{
	struct res_picture *p = a->p;
	/* A logarithmic scale has no 0: a dot there is counted, and an interval
	 * that begins there begins at the dot's own hundredth. */
	if (p->log_y && dot.y <= 0) {
		p->n_below++;
		return 0;
	}
	if (p->log_y && dot.lo <= 0)
		dot.lo = dot.y / 100;
	int rc = SIM_RESERVE(&p->dot, &p->cap[3], p->n_dots + 1, a->e);
	if (rc == 0)
		p->dot[p->n_dots++] = dot;
	return rc;
}

/* The dots of the curve that is the K-th of N in its panel. */
static int add_dots(struct res_arranger *a, size_t k, size_t n)
{
	const struct res_choice *to = &a->choice;
	const size_t n_across = to->x == RES_NONE ? 1 : to->c->axis[to->x].n;
	const double step = fmin(APART, WIDTH / (double)n);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n_across; i++) {
		if (to->x != RES_NONE)
			a->at[to->x] = a->order[i];
		struct res_dot dot = read_dot(a);
		if (isnan(dot.y))
			continue;
		if (a->p->n_ticks > 0) {
			dot.x = a->p->tick[a->order[i]];
			dot.at = (double)a->order[i] +
			    step * ((double)k - ((double)n - 1) / 2);
		} else {
			dot.at = res_picture_numbers(to, to->x)[a->order[i]];
			if (!(dot.x = res_picture_keep_value(a, to->x,
				  a->order[i])))
				return SIM_ENOMEM;
		}
		rc = add_dot(a, dot);
	}
	return rc;
}

/* Of a heat map: a dot for each cell with a value. */
static int picture_add_cells(struct res_arranger *a)
{
	const struct res_choice *to = &a->choice;
	int rc = 0;
	for (size_t j = 0; j < to->c->axis[to->up].n; j++)
		for (size_t i = 0; rc == 0 && i < to->c->axis[to->x].n; i++) {
			a->at[to->up] = j;
			a->at[to->x] = i;
			struct res_dot dot = read_dot(a);
			dot.value = dot.y;
			/* Colours show no intervals. */
			dot.lo = dot.hi = NAN;
			dot.y = (double)j;
			dot.at = (double)i;
			dot.x = a->p->tick[i];
			if (!isnan(dot.value))
				rc = add_dot(a, dot);
		}
	return rc;
}

/* --- curves ----------------------------------------------------------------*/

/* The number of that entry of the legend, made if there is none yet. */
static int find_entry(struct res_arranger *a, const char *name, int is_algo,
    size_t *nth)
{
	struct res_picture *p = a->p;
	for (*nth = 0; *nth < p->n_entries; (*nth)++)
		if (strcmp(p->entry[*nth].name, name) == 0 &&
		    p->entry[*nth].is_algo == is_algo)
			return 0;
	int rc = SIM_RESERVE(&p->entry, &p->cap[4], p->n_entries + 1, a->e);
	if (rc == 0)
		p->entry[p->n_entries++] =
		    (struct res_entry){.name = name, .is_algo = is_algo};
	return rc;
}

/* A curve without a dot would be in the legend and nowhere else. */
static int add_curve(struct res_arranger *a, const char *name, int is_algo,
    size_t k, size_t n)
{
	struct res_picture *p = a->p;
	struct res_curve curve = {.name = name, .first = p->n_dots};
	int rc = p->is_heatmap ? picture_add_cells(a) : add_dots(a, k, n);
	curve.n = p->n_dots - curve.first;
	if (rc < 0 || curve.n == 0)
		return rc;
	if ((rc = find_entry(a, name, is_algo, &curve.nth)) == 0 &&
	    (rc = SIM_RESERVE(&p->curve, &p->cap[5], p->n_curves + 1, a->e)) ==
		0)
		p->curve[p->n_curves++] = curve;
	return rc;
}

/* What can be curves of the present panel: algorithms, values of an axis, or
 * one curve that goes by its algorithm or its metric. */
static size_t count_curves(const struct res_arranger *a)
{
	const struct res_choice *to = &a->choice;
	return to->by != RES_NONE ? to->c->axis[to->by].n
	    : to->algos == RES_CURVES && res_picture_of_algo(a->metric)
	    ? to->c->n_algos
	    : 1;
}

/* Make A stand for the K-th of these. */
static const char *choose_curve(struct res_arranger *a, size_t k, int *is_algo)
{
	const struct res_choice *to = &a->choice;
	*is_algo = to->by == RES_NONE && res_picture_of_algo(a->metric);
	if (to->by != RES_NONE) {
		a->at[to->by] = k;
		return res_picture_keep_value(a, to->by, k);
	}
	if (to->algos == RES_CURVES)
		a->algo = k;
	return *is_algo ? res_picture_keep(a, to->c->algo[a->algo])
			: res_picture_keep(a, a->metric->name);
}

static int is_wished(const struct res_wish *w, const char *name)
{
	for (size_t i = 0; i < w->n_curves; i++)
		if (strcmp(w->curve[i], name) == 0)
			return 1;
	return w->n_curves == 0;
}

static int add_curves(struct res_arranger *a)
{
	const size_t n = count_curves(a);
	size_t n_wished = 0, k_wished = 0;
	int rc = 0, is_algo;
	for (size_t k = 0; k < n; k++) {
		const char *name = choose_curve(a, k, &is_algo);
		if (!name)
			return SIM_ENOMEM;
		n_wished += (size_t)is_wished(a->choice.w, name);
	}
	if (n_wished > RES_MAX_CURVES)
		return sim_fail(a->e, SIM_ELIMIT,
		    "%zu curves in a panel are more than %d: name some by "
		    "--curves, or use --panels or --heatmap.",
		    n_wished, RES_MAX_CURVES);
	for (size_t k = 0; rc == 0 && k < n; k++) {
		const char *name = choose_curve(a, k, &is_algo);
		if (!name)
			return SIM_ENOMEM;
		if (is_wished(a->choice.w, name))
			rc = add_curve(a, name, is_algo, k_wished++, n_wished);
	}
	return rc;
}

/* --- panels ----------------------------------------------------------------*/

/* What all of the panel is of, but for the metric. */
static const char *title_panel(struct res_arranger *a)
{
	const struct res_choice *to = &a->choice;
	char buf[512] = "", name[256];
	struct sim_text t = {buf, sizeof(buf), 0};
	/* The only algorithm is in no legend if that has other things. */
	if (res_picture_of_algo(a->metric) && to->algos != RES_CURVES &&
	    (to->algos == RES_PANELS || to->by != RES_NONE ||
		to->up != RES_NONE))
		sim_put(&t, "%s", to->c->algo[a->algo]);
	for (size_t i = 0; i < to->c->n_axes; i++)
		if (to->role[i] == RES_PANELS) {
			const char *value =
			    res_picture_keep_value(a, i, a->at[i]);
			if (!value)
				return NULL;
			res_picture_axis_name(to, i, name);
			sim_put(&t, "%s%s = %s", t.n ? ", " : "", name, value);
		}
	return res_picture_keep(a, buf);
}

/* Ratios are of so many trials. They go from 0 to 1, but for rates that would
 * lie at the bottom of that. */
static void find_range(const struct res_arranger *a, struct res_panel *to)
{
	const struct res_picture *p = a->p;
	const struct res_curve *k = p->curve + to->first;
	const size_t trials =
	    res_picture_column(&a->choice, 0, a->metric, "_trials");
	to->least = INFINITY;
	to->most = -INFINITY;
	for (const struct res_dot *d = p->dot + k->first;
	     d < p->dot + p->n_dots; d++) {
		const double y = p->is_heatmap ? d->value : d->y;
		to->least = fmin(to->least, fmin(y, d->lo));
		to->most = fmax(to->most, fmax(y, d->hi));
	}
	to->from_0 = to->least >= 0;
	to->is_share =
	    trials < a->sheet.n_columns && (to->most == 0 || to->most >= SMALL);
}

/* A panel without a curve, as of a point that was not run, leaves its place
 * free, so that what is above each other belongs together. */
static int add_panel(struct res_arranger *a, size_t place)
{
	struct res_picture *p = a->p;
	struct res_panel panel = {.metric = a->metric,
	    .place = place,
	    .first = p->n_curves,
	    .title = title_panel(a)};
	int rc = panel.title ? add_curves(a) : SIM_ENOMEM;
	panel.n = p->n_curves - panel.first;
	if (rc < 0 || panel.n == 0)
		return rc;
	if (p->n_panels == RES_MAX_PANELS)
		return sim_fail(a->e, SIM_ELIMIT,
		    "more than %d panels: name fewer by --metric, or more "
		    "curves by --by.",
		    RES_MAX_PANELS);
	find_range(a, &panel);
	p->panel[p->n_panels++] = panel;
	return 0;
}

/* Go on to the next values of the axes that are panels; 0 at the end. */
static int next_panel(struct res_arranger *a)
{
	for (size_t i = a->choice.c->n_axes; i-- > 0;) {
		if (a->choice.role[i] != RES_PANELS)
			continue;
		if (++a->at[i] < a->choice.c->axis[i].n)
			return 1;
		a->at[i] = 0;
	}
	return 0;
}

/* How many algorithms have panels of their own for that metric. */
static size_t count_algos(const struct res_arranger *a,
    const struct res_metric *m)
{
	return a->choice.algos == RES_PANELS && res_picture_of_algo(m)
	    ? a->choice.c->n_algos
	    : 1;
}

/* Each metric begins a row if a row is of something else. */
static int add_panels(struct res_arranger *a, int rows_of_metrics)
{
	const struct res_choice *to = &a->choice;
	const size_t across = a->p->n_across;
	size_t place = 0;
	int rc = 0;
	for (size_t m = 0; rc == 0 && m < to->n_metrics; m++) {
		a->metric = to->metric[m];
		if (rows_of_metrics)
			place = (place + across - 1) / across * across;
		do {
			const size_t n = count_algos(a, a->metric);
			for (a->algo = 0; rc == 0 && a->algo < n; a->algo++)
				rc = add_panel(a, place++);
			a->algo = 0;
		} while (rc == 0 && next_panel(a));
	}
	return rc;
}

/* Rows are of what varies fastest, unless that are too many. */
static int arrange_panels(struct res_arranger *a)
{
	const struct res_choice *to = &a->choice;
	size_t n = 0, each = 1, fastest = 1;
	for (size_t i = to->c->n_axes; i-- > 0;)
		if (to->role[i] == RES_PANELS) {
			each *= to->c->axis[i].n;
			fastest = fastest > 1 ? fastest : to->c->axis[i].n;
		}
	for (size_t m = 0; m < to->n_metrics; m++) {
		const size_t algos = count_algos(a, to->metric[m]);
		n += each * algos;
		fastest = algos > 1 ? algos : fastest;
	}
	const int rows = fastest > 1 && fastest <= 6 && fastest < n;
	a->p->n_across = rows ? fastest
	    : n <= 3          ? n
	    : n == 4          ? 2
	    : n <= 9          ? 3
	    : n <= 16         ? 4
			      : 6;
	return add_panels(a, rows);
}

/* --- the whole -------------------------------------------------------------*/

/* A curve that was wished for and is in no panel. */
static int check_curves(const struct res_arranger *a)
{
	const struct res_wish *w = a->choice.w;
	const char *known[RES_MAX_CURVES * 4];
	size_t n = 0;
	int is_algo;
	struct res_arranger all = *a;
	all.metric = a->choice.metric[0];
	for (size_t k = 0;
	     k < count_curves(&all) && n < sizeof(known) / sizeof(known[0]);
	     k++)
		if (!(known[n++] = choose_curve(&all, k, &is_algo)))
			return SIM_ENOMEM;
	for (size_t i = 0; i < w->n_curves; i++) {
		int found = 0;
		for (size_t k = 0; k < n; k++)
			found |= strcmp(known[k], w->curve[i]) == 0;
		if (!found)
			return res_picture_unknown("curve", w->curve[i], known,
			    n, a->e);
	}
	return 0;
}

static int arrange(struct res_arranger *a)
{
	struct res_picture *p = a->p;
	int rc = res_picture_arrange_across(a);
	if (rc == 0 && a->choice.w->n_curves > 0)
		rc = check_curves(a);
	if (rc == 0)
		rc = SIM_ZALLOC(&p->panel, RES_MAX_PANELS, a->e);
	if (rc == 0)
		rc = arrange_panels(a);
	if (rc == 0 && p->n_panels == 0)
		rc = sim_fail(a->e, SIM_EINVAL, "nothing is left to draw: %s.",
		    p->n_below ? "no value is above 0, as --logy needs"
			       : "these curves have no value");
	return rc;
}

int res_picture_arrange(struct res_picture *p, const struct res_cube *c,
    const struct res_wish *w, struct sim_err *e)
{
	struct res_arranger a = {.p = p, .e = e};
	*p = (struct res_picture){0};
	int rc = res_sheet_read(&a.sheet, c, e);
	if (rc == 0)
		rc = res_picture_choose(&a.choice, c, &a.sheet, w, e);
	if (rc == 0)
		rc = arrange(&a);
	free(a.order);
	res_sheet_free(&a.sheet);
	if (rc < 0)
		res_picture_free(p);
	return rc;
}

void res_picture_free(struct res_picture *p)
{
	while (p->n_texts > 0)
		free(p->text[--p->n_texts]);
	free(p->text);
	free(p->tick);
	free(p->y_tick);
	free(p->dot);
	free(p->entry);
	free(p->curve);
	free(p->panel);
	*p = (struct res_picture){0};
}

static void put_numbers(FILE *out, const double x[], size_t n)
{
	char digits[32];
	for (size_t i = 0; i < n; i++)
		fprintf(out, "\t%s",
		    isnan(x[i]) ? "NaN" : sim_format_f64(digits, x[i]));
}

void res_picture_write(const struct res_picture *p, FILE *out)
{
	fprintf(out, "panel\tmetric\tcurve\tx\tat\ty\t%s",
	    p->is_heatmap ? "value" : "lo\thi");
	for (const struct res_panel *q = p->panel; q < p->panel + p->n_panels;
	     q++)
		for (size_t i = q->first; i < q->first + q->n; i++) {
			const struct res_curve *k = &p->curve[i];
			const struct res_dot *d = p->dot + k->first;
			for (; d < p->dot + k->first + k->n; d++) {
				fprintf(out, "\n%s\t%s\t%s\t%s", q->title,
				    q->metric->name, k->name, d->x);
				put_numbers(out,
				    (double[]){d->at, d->y,
					p->is_heatmap ? d->value : d->lo,
					d->hi},
				    p->is_heatmap ? 3 : 4);
			}
		}
	putc('\n', out);
}
