/* results/tidy.c -- a cube as a table with a row a point, algorithm and metric.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/table.h"
#include "sim/ratio.h"
#include "sim/text.h"
#include "sim/vec.h"

#define CONFIDENCE 0.95

/* A metric of one owner, and its columns in a row of the cube. */
struct quantity {
	const struct res_metric *metric;
	const char *algo; /* NULL: the trial's own */
	size_t num, den;
	int ratio, measured; /* MEASURED: anywhere */
};

struct tidy {
	const struct res_cube *c;
	struct res_rows rows;
	struct quantity *quantity;
	char **name; /* [n] as a column would be called */
	size_t n, cap, cap_names;
	size_t *chosen; /* [n_chosen] of them */
	size_t n_chosen;
	size_t *at;        /* [n_axes] */
	double *num, *den; /* [n_runs] */
	struct sim_err *e;
};

/* --- what there is --------------------------------------------------------*/

static int takes(const struct quantity *q, double num, double den)
{
	return !isnan(num) && (!q->ratio || den > 0);
}

/* What is told at one point is told at all. */
static int was_measured(const struct res_cube *c, const struct quantity *q)
{
	for (size_t p = 0; p < c->n_points; p++)
		for (size_t run = 0; run < c->n_runs; run++)
			if (takes(q, res_cube_value(c, p, run, q->num),
				res_cube_value(c, p, run, q->den)))
				return 1;
	return 0;
}

static int add_quantity(struct tidy *t, const struct quantity *q)
{
	char name[512];
	int rc;
	snprintf(name, sizeof(name), "%s%s%s", q->algo ? q->algo : "",
	    q->algo ? ":" : "", q->metric->name);
	if ((rc = SIM_RESERVE(&t->quantity, &t->cap, t->n + 1, t->e)) < 0 ||
	    (rc = SIM_RESERVE(&t->name, &t->cap_names, t->n + 1, t->e)) < 0 ||
	    (rc = sim_dup(&t->name[t->n], name, t->e)) < 0)
		return rc;
	t->quantity[t->n] = *q;
	t->quantity[t->n++].measured = was_measured(t->c, q);
	return 0;
}

/* All of one list and owner, whose metrics begin at FIRST. */
static int add_list(struct tidy *t, const struct res_metric_list *l,
    const char *algo, size_t first)
{
	const int reach = l == &res_metric_lists[RES_LIST_REACH];
	int rc = 0;
	/* It is told where agents report what failed, and nowhere else. */
	if (reach && !res_cube_has(t->c, RES_TRIAL_n_traced))
		return 0;
	for (unsigned i = 0; rc == 0 && i < l->n; i++) {
		const struct res_metric *m = &l->metric[i];
		const struct quantity q = {.metric = m,
		    .algo = algo,
		    .num = first + (l->ratio ? m->num : i),
		    .den = !l->ratio ? first + i
			: reach      ? m->den
				     : first + m->den,
		    .ratio = l->ratio};
		rc = add_quantity(t, &q);
	}
	return rc;
}

static int list_quantities(struct tidy *t)
{
	int rc = add_list(t, &res_metric_lists[RES_LIST_TRIAL], NULL, 0);
	if (rc == 0)
		rc = add_list(t, &res_metric_lists[RES_LIST_TRIAL_RATIOS], NULL,
		    0);
	for (size_t a = 0; rc == 0 && a < t->c->n_algos; a++)
		for (unsigned k = 0; rc == 0 && k < RES_N_LISTS; k++)
			if (!res_metric_lists[k].of_trial)
				rc = add_list(t, &res_metric_lists[k],
				    t->c->algo[a], res_row_doubles(a));
	return rc;
}

/* --- one number -----------------------------------------------------------*/

/* What is told of it at a point. */
struct told {
	struct sim_ratio is;
	const char *interval;
	double se, trials;
	size_t n, n_done;
};

static int was_done(const struct res_cube *c, size_t point, size_t run)
{
	return res_cube_run_status(c, point, run) == RES_DONE;
}

/* Into t->num and t->den, in the order of runs. */
static struct told tidy_sample(struct tidy *t, const struct quantity *q,
    size_t point)
{
	struct told x = {.interval = "none", .trials = q->ratio ? 0 : NAN};
	for (size_t run = 0; run < t->c->n_runs; run++) {
		const double num = res_cube_value(t->c, point, run, q->num);
		const double den = res_cube_value(t->c, point, run, q->den);
		if (!was_done(t->c, point, run))
			continue;
		x.n_done++;
		if (!takes(q, num, den))
			continue;
		t->num[x.n] = num;
		t->den[x.n++] = q->ratio ? den : 1;
		x.trials += den;
	}
	if (!q->ratio)
		x.trials = NAN;
	return x;
}

/* Of what is no ratio one run tells no interval. */
static void tell_mean(const struct sim_ratio_sample *s, struct told *x)
{
	sim_ratio_mean(s, CONFIDENCE, &x->is);
	if (s->n < 2)
		x->is.lo = x->is.hi = NAN;
	else
		x->interval = "t";
}

static int tell(struct tidy *t, const struct quantity *q, size_t point,
    struct told *x)
{
	*x = tidy_sample(t, q, point);
	const struct sim_ratio_sample s = {t->num, t->den, x->n};
	int rc = 0;
	x->is = (struct sim_ratio){NAN, NAN, NAN};
	x->se = sim_ratio_se(&s);
	if (x->n == 0)
		return 0;
	if (!q->ratio) {
		tell_mean(&s, x);
		return 0;
	}
	if ((rc = sim_ratio_share(&s, CONFIDENCE, &x->is, t->e)) < 0)
		return sim_wrap(t->e, rc, "%s%s%s at point %zu",
		    q->metric->name, q->algo ? " of " : "",
		    q->algo ? q->algo : "", point);
	x->interval = s.n > 1 && x->is.value > 0 && x->is.value < 1
	    ? "binomial_runs"
	    : "binomial";
	return 0;
}

/* --- rows -----------------------------------------------------------------*/

#define NAMED(text) ((struct res_name){.what = (text)})

void res_table_put_coords(struct res_rows *r, const struct res_cube *c,
    size_t point, size_t at[])
{
	res_cube_at(c, point, at);
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			const struct res_coord *k = &c->axis[a].coord[i];
			if (k->number)
				res_rows_number(r, NAMED(k->name),
				    k->number[at[a]]);
			else
				res_rows_text(r, NAMED(k->name),
				    k->text[at[a]]);
		}
}

static int put_quantity(struct tidy *t, const struct quantity *q, size_t point)
{
	struct res_rows *r = &t->rows;
	struct told x;
	const int rc = tell(t, q, point, &x);
	if (rc < 0)
		return rc;
	res_table_put_coords(r, t->c, point, t->at);
	res_rows_text(r, NAMED("algorithm"), q->algo);
	res_rows_text(r, NAMED("metric"), q->metric->name);
	res_rows_text(r, NAMED("unit"), q->metric->unit);
	res_rows_number(r, NAMED("value"), x.is.value);
	res_rows_number(r, NAMED("lo"), x.is.lo);
	res_rows_number(r, NAMED("hi"), x.is.hi);
	res_rows_text(r, NAMED("interval"), x.interval);
	res_rows_number(r, NAMED("se"), x.se);
	res_rows_number(r, NAMED("n"), (double)x.n);
	res_rows_number(r, NAMED("trials"), x.trials);
	res_rows_number(r, NAMED("runs"), (double)x.n_done);
	return 0;
}

/* Coordinates that are called as one of the columns would make two of a name. */
static int check_coords(const struct tidy *t)
{
	static const char *const own[] = {"algorithm", "metric", "unit",
	    "value", "lo", "hi", "interval", "se", "n", "trials", "runs", NULL};
	const struct res_cube *c = t->c;
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			const char *name = c->axis[a].coord[i].name;
			if (own[sim_word_find(own, name)])
				return sim_fail(t->e, SIM_EINVAL,
				    "an axis is called \"%s\", as a column of "
				    "tidy tables is.",
				    name);
		}
	return 0;
}

static int put_tidy(struct tidy *t)
{
	/* Any quantity does for the head. */
	int rc = put_quantity(t, t->quantity, 0);
	if (rc == 0)
		rc = res_rows_head(&t->rows, NULL, 0);
	for (size_t p = 0; rc == 0 && p < t->c->n_points; p++)
		for (size_t i = 0; rc == 0 && i < t->n_chosen; i++) {
			rc = put_quantity(t, &t->quantity[t->chosen[i]], p);
			if (rc == 0)
				res_rows_end(&t->rows);
		}
	return rc < 0 ? rc : res_rows_close(&t->rows);
}

static int is_named(const struct res_table_form *form, const char *name)
{
	for (size_t i = 0; i < form->n_columns; i++)
		if (strcmp(form->column[i], name) == 0)
			return 1;
	return 0;
}

/* What was nowhere measured is told if it was asked for by its name. */
static int tidy_choose(struct tidy *t, const struct res_table_form *form)
{
	static const char *const all[] = {"*"};
	const size_t n = form->n_columns;
	size_t n_chosen, kept = 0;
	int rc = SIM_ZALLOC(&t->chosen, t->n, t->e);
	if (rc < 0 ||
	    (rc = res_choose((const char *const *)t->name, t->n,
		 n ? form->column : all, n ? n : 1, "metric", t->chosen,
		 &n_chosen, t->e)) < 0)
		return rc;
	for (size_t i = 0; i < n_chosen; i++) {
		const size_t k = t->chosen[i];
		if (t->quantity[k].measured || is_named(form, t->name[k]))
			t->chosen[kept++] = k;
	}
	t->n_chosen = kept;
	return 0;
}

int res_table_tidy(const struct res_cube *c, const struct res_table_form *form,
    FILE *out, struct sim_err *e)
{
	struct tidy t = {.c = c, .e = e};
	int rc;
	if ((rc = res_rows_open(&t.rows, out, form->format, e)) == 0 &&
	    (rc = check_coords(&t)) == 0 &&
	    (rc = SIM_ZALLOC(&t.at, c->n_axes, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.num, c->n_runs, e)) == 0 &&
	    (rc = SIM_ZALLOC(&t.den, c->n_runs, e)) == 0 &&
	    (rc = list_quantities(&t)) == 0 &&
	    (rc = tidy_choose(&t, form)) == 0)
		rc = put_tidy(&t);
	res_rows_free(&t.rows);
	for (size_t i = 0; i < t.n; i++)
		free(t.name[i]);
	free(t.name);
	free(t.quantity);
	free(t.chosen);
	free(t.at);
	free(t.num);
	free(t.den);
	return rc;
}
