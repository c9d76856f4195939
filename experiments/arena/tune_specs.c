/* experiments/arena/tune_specs.c -- how well parameters do on specs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/arena/tune.h"
#include "experiments/sweep/answer.h"
#include "experiments/sweep/trial.h"
#include "results/score.h"
#include "sim/vec.h"

/* One try while windows come. */
struct tune_candidate {
	struct xp_algo algo; /* its parameters are owned */
	void *work;
	struct algo_verdicts verdicts;
	double sum; /* of F, over windows */
	int refuses;
};

struct tune_audience {
	const struct xp_tune *tune;
	struct xp_cell cell;
	struct tune_candidate *one;
	size_t n, n_windows;
	size_t point; /* that `work` is of; SIZE_MAX: none */
	int unable;
};

static void tune_close(struct tune_audience *x)
{
	for (size_t i = 0; i < x->n; i++) {
		algo_close(x->one[i].algo.ops, x->one[i].work);
		x->one[i].work = NULL;
	}
	x->point = SIZE_MAX;
}

static int tune_begin(void *arg, const struct xp_cell *cell, struct sim_err *e)
{
	struct tune_audience *x = arg;
	int rc = 0;
	x->cell = *cell;
	if (cell->point == x->point)
		return 0;
	tune_close(x);
	/* As in the sweep it has no results where it can't read a window. */
	x->unable = cell->config->algo[0].unable;
	for (size_t i = 0; rc == 0 && i < x->n; i++)
		rc = algo_open(x->one[i].algo.ops, &x->one[i].work, cell->topo,
		    x->one[i].algo.params, e);
	if (rc == 0)
		x->point = cell->point;
	return rc;
}

static int tune_ask(struct tune_audience *x, size_t i,
    const struct xp_window *w, double *f, struct sim_err *e)
{
	struct tune_candidate *c = &x->one[i];
	struct res_algo_metrics m;
	int rc = xp_answer(&c->algo, c->work, &x->cell.where, 0, w->seen,
	    &c->verdicts, e);
	/* Values that cannot go together do badly, and are no mistake. */
	if (rc == SIM_EINVAL) {
		c->refuses = 1;
		return 0;
	}
	if (rc == 0)
		rc = res_score_algo(w->seen, &x->cell.scene->truth, w->lost,
		    &c->verdicts, &m, e);
	if (rc == 0)
		*f = m.f;
	return rc;
}

static int tune_hear(void *arg, const struct xp_window *w, struct sim_err *e)
{
	struct tune_audience *x = arg;
	int rc = 0, counts = 0;
	for (size_t i = 0; rc == 0 && !x->unable && i < x->n; i++) {
		double f = NAN;
		rc = tune_ask(x, i, w, &f, e);
		if (rc == 0 && !isnan(f)) {
			x->one[i].sum += f;
			counts = 1;
		}
	}
	x->n_windows += (size_t)counts;
	return rc;
}

static int tune_prepare(struct tune_audience *x, size_t first,
    struct sim_err *e)
{
	const struct xp_algo *a = x->tune->algo;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < x->n; i++) {
		struct xp_algo *to = &x->one[i].algo;
		*to = *a;
		to->params = NULL;
		void *params = NULL;
		rc = sim_zalloc(&params, 1, a->ops->params_size, e);
		if (rc < 0)
			break;
		memcpy(params, a->params, a->ops->params_size);
		for (size_t k = 0; k < x->tune->n_keys; k++)
			memcpy((char *)params + x->tune->key[k].field->offset,
			    &x->tune->tried[first + i].value[k],
			    sizeof(double));
		to->params = params;
	}
	return rc;
}

static void tune_forget(struct tune_audience *x)
{
	if (!x->one)
		return;
	for (size_t i = 0; i < x->n; i++) {
		algo_verdicts_free(&x->one[i].verdicts);
		free(x->one[i].algo.params);
	}
	free(x->one);
}

static int tune_cells(struct tune_audience *x, struct xp_spec *s,
    struct sim_err *e)
{
	const struct xp_audience to = {x, tune_begin, tune_hear};
	struct xp_trial *t = NULL;
	int rc = xp_trial_open(&t, s, e);
	for (size_t p = 0; rc == 0 && p < s->n_points; p++)
		for (uint32_t run = 0; rc == 0 && run < s->runs; run++)
			rc = xp_trial_show(t, p, run, &to, e);
	/* Works are of the trial's network, which ends with it. */
	tune_close(x);
	xp_trial_close(t);
	return rc;
}

static int tune_on_one(struct xp_tune *t, struct xp_spec *s, double share,
    size_t first, size_t n, struct sim_err *e)
{
	struct tune_audience x = {.tune = t, .n = n, .point = SIZE_MAX};
	int rc = SIM_ZALLOC(&x.one, n, e);
	if (rc == 0 && (rc = tune_prepare(&x, first, e)) == 0)
		rc = tune_cells(&x, s, e);
	if (rc == 0 && x.n_windows == 0) {
		int refused = 1;
		for (size_t i = 0; i < n; i++)
			refused &= x.one[i].refuses;
		if (!refused)
			rc = sim_fail(e, SIM_EINVAL,
			    "%s: no window has an F: nothing fails, or the "
			    "plane has no sums of packets.",
			    s->figure);
	}
	for (size_t i = 0; rc == 0 && i < n; i++)
		t->tried[first + i].f += x.one[i].refuses
		    ? NAN
		    : share * x.one[i].sum / (double)x.n_windows;
	t->n_windows += x.n_windows;
	tune_forget(&x);
	return rc;
}

int xp_tune_on(void *arg, struct xp_tune *t, size_t first, size_t n,
    struct sim_err *e)
{
	const struct xp_tune_specs *x = arg;
	int rc = 0;
	t->n_windows = 0;
	for (size_t i = 0; i < n; i++)
		t->tried[first + i].f = 0;
	for (size_t i = 0; rc == 0 && i < x->n; i++)
		rc = tune_on_one(t, x->spec[i], 1 / (double)x->n, first, n, e);
	return rc;
}
