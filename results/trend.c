/* results/trend.c -- does one quantity of a sweep grow with another?
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/table.h"
#include "sim/ratio.h"
#include "sim/slope.h"
#include "sim/text.h"
#include "sim/vec.h"

#define CONFIDENCE 0.95

/* A coordinate, or a column of rows, or the ratio of two. */
struct trend_quantity {
	const struct res_coord *coord; /* NULL: none */
	size_t axis, num, den;
	int ratio;
};

struct trend {
	const struct res_cube *c;
	const struct res_table_form *form;
	struct res_rows rows;
	struct trend_quantity x, y;
	struct trend_quantity *by; /* [form->n_by], coordinates */
	size_t *group;             /* [n_points] the first point like it */
	size_t *at, *first_at;     /* [n_axes] */
	double *xs, *ys;           /* [n_points] */
	double *slope, *ones;      /* [n_runs] */
	struct sim_err *e;
};

/* --- names -----------------------------------------------------------------*/

static int trend_find_coord(const struct res_cube *c, const char *name,
    struct trend_quantity *q)
{
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++)
			if (strcmp(c->axis[a].coord[i].name, name) == 0) {
				*q = (struct trend_quantity){.coord =
								 &c->axis[a]
								      .coord[i],
				    .axis = a};
				return 1;
			}
	return 0;
}

/* A metric whose owner's columns begin at FIRST. */
static int trend_find_metric(const char *name, int of_trial, size_t first,
    struct trend_quantity *q)
{
	const struct res_metric_list *l;
	const struct res_metric *m = res_metric_find(name, &l);
	const int reach = m && l == &res_metric_lists[RES_LIST_REACH];
	if (!m || l->of_trial != of_trial)
		return 0;
	const size_t i = (size_t)(m - l->metric);
	*q = (struct trend_quantity){.num = first + (l->ratio ? m->num : i),
	    .den = reach ? m->den : first + m->den,
	    .ratio = l->ratio};
	return 1;
}

static int trend_find(const struct res_cube *c, const char *name,
    struct trend_quantity *q)
{
	if (trend_find_coord(c, name, q) || trend_find_metric(name, 1, 0, q))
		return 1;
	for (size_t a = 0; a < c->n_algos; a++) {
		const size_t n = strlen(c->algo[a]);
		if (strncmp(name, c->algo[a], n) == 0 && name[n] == ':' &&
		    trend_find_metric(name + n + 1, 0, res_row_doubles(a), q))
			return 1;
	}
	return 0;
}

/* What NAME could have been meant for. */
static int trend_unknown(const struct trend *t, const char *name)
{
	const char *known[RES_N_NAMES];
	char quote[64];
	res_metric_names(known);
	const char *colon = strrchr(name, ':');
	const char *near =
	    sim_did_you_mean(colon ? colon + 1 : name, known, RES_N_NAMES);
	return sim_fail(t->e, SIM_EMISMATCH,
	    "there is no quantity %s, as \"recall\" of \"vote:recall\" or a "
	    "key that is swept%s%s%s",
	    sim_quote(quote, name), near ? "; did you mean \"" : ".",
	    near ? near : "", near ? "\"?" : "");
}

static int trend_read_names(struct trend *t)
{
	const struct res_table_form *f = t->form;
	if (!trend_find(t->c, f->y, &t->y) || t->y.coord)
		return trend_unknown(t, f->y);
	if (!trend_find(t->c, f->x, &t->x))
		return trend_unknown(t, f->x);
	if (t->x.coord && !t->x.coord->number)
		return sim_fail(t->e, SIM_EMISMATCH,
		    "%s has words, so nothing grows with it.", f->x);
	for (size_t i = 0; i < f->n_by; i++)
		if (!trend_find_coord(t->c, f->by[i], &t->by[i]))
			return sim_fail(t->e, SIM_EMISMATCH,
			    "\"%s\" is no key that is swept.", f->by[i]);
	return 0;
}

/* --- points ----------------------------------------------------------------*/

static int trend_same_coord(const struct trend_quantity *q, size_t a, size_t b)
{
	return q->coord->number ? q->coord->number[a] == q->coord->number[b]
				: !strcmp(q->coord->text[a], q->coord->text[b]);
}

/* Points are alike if all coordinates that rows are told apart by have equal
 * values, wherever these stand along an axis: those of a zip may come again. */
static void trend_group(struct trend *t)
{
	for (size_t p = 0; p < t->c->n_points; p++) {
		size_t g = 0;
		res_cube_at(t->c, p, t->at);
		for (; g < p; g++) {
			size_t i = 0;
			if (t->group[g] != g)
				continue;
			res_cube_at(t->c, g, t->first_at);
			while (i < t->form->n_by &&
			    trend_same_coord(&t->by[i], t->at[t->by[i].axis],
				t->first_at[t->by[i].axis]))
				i++;
			if (i == t->form->n_by)
				break;
		}
		t->group[p] = g;
	}
}

static double trend_value(struct trend *t, const struct trend_quantity *q,
    size_t point, size_t run)
{
	if (q->coord) {
		res_cube_at(t->c, point, t->at);
		return q->coord->number[t->at[q->axis]];
	}
	const double x = res_cube_value(t->c, point, run, q->num);
	if (!q->ratio)
		return x;
	const double den = res_cube_value(t->c, point, run, q->den);
	return den > 0 ? x / den : NAN;
}

/* The slope of a run over the points of GROUP, or NaN. */
static double trend_run(struct trend *t, size_t group, size_t run)
{
	size_t n = 0;
	for (size_t p = group; p < t->c->n_points; p++) {
		if (t->group[p] != group ||
		    res_cube_run_status(t->c, p, run) != RES_DONE)
			continue;
		t->xs[n] = trend_value(t, &t->x, p, run);
		t->ys[n] = trend_value(t, &t->y, p, run);
		n += isfinite(t->xs[n]) && isfinite(t->ys[n]);
	}
	return sim_slope(t->xs, t->ys, n);
}

/* --- rows ------------------------------------------------------------------*/

#define TREND_NAMED(text) ((struct res_name){.what = (text)})

static void trend_put_by(struct trend *t, size_t group)
{
	res_cube_at(t->c, group, t->at);
	for (size_t i = 0; i < t->form->n_by; i++) {
		const struct trend_quantity *q = &t->by[i];
		const struct res_name name = TREND_NAMED(q->coord->name);
		if (q->coord->number)
			res_rows_number(&t->rows, name,
			    q->coord->number[t->at[q->axis]]);
		else
			res_rows_text(&t->rows, name,
			    q->coord->text[t->at[q->axis]]);
	}
}

static void trend_put(struct trend *t, size_t group)
{
	struct sim_ratio r = {NAN, NAN, NAN};
	size_t n = 0, n_points = 0;
	for (size_t p = group; p < t->c->n_points; p++)
		n_points += t->group[p] == group;
	for (size_t run = 0; run < t->c->n_runs; run++) {
		t->slope[n] = trend_run(t, group, run);
		n += !isnan(t->slope[n]);
	}
	sim_ratio_mean(&(struct sim_ratio_sample){t->slope, t->ones, n},
	    CONFIDENCE, &r);
	if (n < 2)
		r.lo = r.hi = NAN;
	trend_put_by(t, group);
	res_rows_text(&t->rows, TREND_NAMED("y"), t->form->y);
	res_rows_text(&t->rows, TREND_NAMED("x"), t->form->x);
	res_rows_number(&t->rows, TREND_NAMED("points"), (double)n_points);
	res_rows_number(&t->rows, TREND_NAMED("n"), (double)n);
	res_rows_number(&t->rows, TREND_NAMED("slope"), r.value);
	res_rows_number(&t->rows, TREND_NAMED("lo"), r.lo);
	res_rows_number(&t->rows, TREND_NAMED("hi"), r.hi);
	res_rows_number(&t->rows, TREND_NAMED("p"),
	    sim_signs_p(t->slope, n, (uint32_t)group));
	res_rows_number(&t->rows, TREND_NAMED("least_p"), sim_signs_least(n));
}

static int trend_put_all(struct trend *t)
{
	trend_put(t, 0);
	const int rc = res_rows_head(&t->rows, NULL, 0);
	for (size_t p = 0; rc == 0 && p < t->c->n_points; p++)
		if (t->group[p] == p) {
			trend_put(t, p);
			res_rows_end(&t->rows);
		}
	return rc < 0 ? rc : res_rows_close(&t->rows);
}

int res_table_trend(const struct res_cube *c, const struct res_table_form *form,
    FILE *out, struct sim_err *e)
{
	struct trend t = {.c = c, .form = form, .e = e};
	int rc;
	if ((rc = res_rows_open(&t.rows, out, form->format, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.by, form->n_by, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.group, c->n_points, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.at, c->n_axes, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.first_at, c->n_axes, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.xs, c->n_points, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.ys, c->n_points, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.slope, c->n_runs, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.ones, c->n_runs, e)) == 0 &&
	    (rc = trend_read_names(&t)) == 0) {
		for (size_t i = 0; i < c->n_runs; i++)
			t.ones[i] = 1;
		trend_group(&t);
		rc = trend_put_all(&t);
	}
	res_rows_free(&t.rows);
	free(t.by);
	free(t.group);
	free(t.at);
	free(t.first_at);
	free(t.xs);
	free(t.ys);
	free(t.slope);
	free(t.ones);
	return rc;
}
