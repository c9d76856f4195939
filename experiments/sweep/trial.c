/* experiments/sweep/trial.c -- one cell: draw a scene, run it, diagnose, score.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/trial.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/vigil/common.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"
#include "experiments/sweep/answer.h"
#include "results/score.h"
#include "sim/vec.h"

struct xp_trial {
	struct xp_spec *spec;
	size_t point; /* that config is of; SIZE_MAX at first */
	struct xp_config config;
	struct topo topo;
	struct scene scene;
	const struct xp_plane *plane;
	void *running; /* the plane's */
	void **work;   /* [config.n_algos] */
	struct algo_verdicts *verdicts;
	struct algo_common common;           /* of the window that is heard */
	struct res_scorer scorer;            /* of the window that is heard */
	struct algo_verdicts early;          /* of part of a window */
	struct res_algo_metrics *scores;     /* of the last window */
	struct res_trial_metrics *rows;      /* [n_along] */
	struct res_algo_metrics *row_scores; /* [n_along][n_algos] */
	struct sim_err complaint; /* of an algorithm from outside, or empty */
};

int xp_trial_open(struct xp_trial **out, struct xp_spec *s, struct sim_err *e)
{
	struct xp_trial *t;
	int rc = SIM_ZALLOC(&t, 1, e);
	if (rc < 0)
		return rc;
	t->spec = s;
	t->point = SIZE_MAX;
	*out = t;
	return 0;
}

/* Everything here depends on the point: topology, plane and algorithms are made
 * for it. Only the scene's memory is used again. */
static void forget_point(struct xp_trial *t)
{
	for (size_t i = 0; i < t->config.n_algos; i++) {
		if (t->work && t->work[i])
			algo_close(t->config.algo[i].ops, t->work[i]);
		if (t->verdicts)
			algo_verdicts_free(&t->verdicts[i]);
	}
	if (t->running)
		t->plane->close(t->running);
	free(t->work);
	free(t->verdicts);
	free(t->scores);
	free(t->rows);
	free(t->row_scores);
	t->running = NULL;
	t->work = NULL;
	t->verdicts = NULL;
	t->scores = NULL;
	t->rows = NULL;
	t->row_scores = NULL;
	topo_close(&t->topo);
	xp_config_free(&t->config);
	t->point = SIZE_MAX;
}

void xp_trial_close(struct xp_trial *t)
{
	if (!t)
		return;
	forget_point(t);
	algo_verdicts_free(&t->early);
	scene_free(&t->scene);
	res_scorer_free(&t->scorer);
	free(t);
}

/* The network as algorithms have it. */
static const struct topo *trial_told(const struct xp_trial *t)
{
	const struct topo *told =
	    t->plane->told ? t->plane->told(t->running) : NULL;
	return told ? told : &t->topo;
}

/* Algorithms are opened once a point. They are told the network and their
 * parameters, and nothing of what is wrong with it. */
static int open_algos(struct xp_trial *t, struct sim_err *e)
{
	const size_t n = t->config.n_algos;
	int rc;
	if ((rc = SIM_ZALLOC(&t->work, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&t->verdicts, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&t->scores, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&t->row_scores, n * t->spec->n_along, e)) < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const struct xp_algo *a = &t->config.algo[i];
		if (a->unable)
			continue;
		rc =
		    algo_open(a->ops, &t->work[i], trial_told(t), a->params, e);
		if (rc < 0)
			return sim_wrap(e, rc, "algorithm %s", a->label);
		if (a->ops->join)
			a->ops->join(t->work[i], &t->common);
	}
	return 0;
}

static int take_point(struct xp_trial *t, size_t point, struct sim_err *e)
{
	struct xp_config *c = &t->config;
	int rc;
	/* Only when all of the new point stands is it the current one. After a
	 * failure there is none, and the next cell tries again. */
	forget_point(t);
	if ((rc = xp_spec_point(t->spec, point, c, e)) < 0 ||
	    (rc = xp_topology_open(&c->topology, t->spec->folder, &t->topo,
		 e)) < 0 ||
	    (rc = SIM_ZALLOC(&t->rows, t->spec->n_along, e)) < 0)
		return rc;
	t->plane = xp_plane_of(c);
	if ((rc = t->plane->open(&t->running, &t->topo, c, e)) < 0 ||
	    (rc = open_algos(t, e)) < 0)
		return rc;
	t->point = point;
	return 0;
}

static void trial_blank(double x[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = NAN;
}

/* --- windows -------------------------------------------------------------- */

struct audience {
	struct xp_trial *t;
	const struct sim_seed *where;
	const struct xp_audience *to; /* who is shown it too; or NULL */
};

/* Algorithm I has nothing to be scored. The first reason of a cell is kept. */
static void trial_unanswered(struct xp_trial *t, size_t i,
    const struct sim_err *why)
{
	algo_verdicts_clear(&t->verdicts[i]);
	trial_blank((double *)&t->scores[i], RES_N_ALGO_METRICS);
	t->scores[i].n_unanswered = 1;
	if (!t->complaint.msg[0])
		t->complaint = *why;
}

/* Run algorithm I on a window and score what it says. */
static int trial_diagnose(struct xp_trial *t, size_t i,
    const struct sim_seed *where, const struct xp_window *w, struct sim_err *e)
{
	const struct xp_algo *a = &t->config.algo[i];
	struct sim_err why = {0};
	if (a->unable) {
		trial_blank((double *)&t->scores[i], RES_N_ALGO_METRICS);
		return 0;
	}
	int rc = xp_answer(a, t->work[i], where, (uint32_t)i, w->seen,
	    &t->verdicts[i], &why);
	/* One from outside fails by itself: what the others say of this window
	 * is as good as ever. */
	if (rc == SIM_EDEP && a->plug) {
		trial_unanswered(t, i, &why);
		return 0;
	}
	if (rc < 0)
		return sim_fail(e, rc, "%s", why.msg);
	if (!t->scorer.w)
		rc = res_scorer_begin(&t->scorer, w->seen, &t->scene.truth,
		    w->lost, e);
	if (rc == 0)
		rc = res_scorer_answer(&t->scorer, &t->verdicts[i],
		    &t->scores[i], e);
	if (a->plug)
		t->scores[i].n_unanswered = 0;
	return rc < 0 ? sim_wrap(e, rc, "algorithm %s", a->label) : 0;
}

/* How much of a window algorithm I has to see until it is right. One from outside
 * that fails at a part of it is not right there. */
static int trial_ask_early(struct xp_trial *t, size_t i,
    const struct sim_seed *where, const struct xp_window *w, struct sim_err *e)
{
	const struct xp_algo *a = &t->config.algo[i];
	struct res_algo_metrics *s = &t->scores[i];
	if (!(s->n_to_find > 0))
		return 0;
	s->right_share = 1;
	for (size_t k = 0; k < w->n_early; k++) {
		t->common = (struct algo_common){0};
		const int rc = xp_answer(a, t->work[i], where, (uint32_t)i,
		    &w->early[k], &t->early, e);
		if (rc == SIM_EDEP && a->plug)
			continue;
		if (rc < 0)
			return rc;
		if (res_score_is_exact(&t->scene.truth, &t->early)) {
			s->right_share = w->early_share[k];
			break;
		}
	}
	return 0;
}

/* When all have answered to the whole, as what one has counted of it others may
 * still use until then. */
static int trial_ask_all_early(struct xp_trial *t, const struct sim_seed *where,
    const struct xp_window *w, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && w->n_early > 0 && i < t->config.n_algos;
	     i++)
		rc = trial_ask_early(t, i, where, w, e);
	return rc;
}

/* One window was seen: ask each algorithm. Its scores go to the rows that the
 * window is of. How long detection took is decided by the first window at which
 * it names a true culprit, and is put into all rows. */
static int trial_hear(void *arg, const struct xp_window *w, struct sim_err *e)
{
	const struct audience *x = arg;
	struct xp_trial *t = x->t;
	const size_t n = t->config.n_algos;
	int rc;
	t->common = (struct algo_common){0};
	t->scorer.w = NULL; /* not begun: nobody may have an answer to score */
	for (size_t i = 0; i < n; i++) {
		struct res_algo_metrics *s = &t->scores[i];
		const double before = s->detect_s;
		if ((rc = trial_diagnose(t, i, x->where, w, e)) < 0)
			return rc;
		/* Scoring has filled the struct anew, so what an earlier window
		 * told of detection is put back. */
		s->detect_s = before;
		if (isnan(before) && s->n_flagged_true > 0)
			s->detect_s = w->after_s;
	}
	if ((rc = trial_ask_all_early(t, x->where, w, e)) < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const struct res_algo_metrics *s = &t->scores[i];
		for (size_t k = 0; k < w->n_rows; k++)
			t->row_scores[(w->first_row + k) * n + i] = *s;
		for (size_t k = 0; k < t->spec->n_along; k++)
			t->row_scores[k * n + i].detect_s = s->detect_s;
	}
	return x->to ? x->to->hear(x->to->arg, w, e) : 0;
}

/* A plane may fill only the metrics that it says it does, less those to which
 * its fabric is blind. Others would appear in files and tables that have no
 * place for them. To do so is a mistake in the code, not in a spec. */
static void check_filled(const struct xp_trial *t)
{
	const unsigned may = t->plane->fills & ~xp_fabric_of(&t->config)->blind;
	for (size_t i = 0; i < t->spec->n_along; i++) {
		const double *x = (const double *)&t->rows[i];
		for (unsigned m = 0; m < RES_N_TRIAL_METRICS; m++)
			assert(isnan(x[m]) || res_trial_metrics[m].set & may);
	}
}

/* --- cells ---------------------------------------------------------------- */

/* The name of a cell in the streams of random numbers. With common random
 * numbers all points of one run share it, so that what they differ in is what
 * the sweep changes. */
static struct sim_seed trial_where(const struct xp_trial *t, size_t point,
    uint32_t run)
{
	return (struct sim_seed){
	    .seed = t->spec->seed,
	    .point = t->config.common ? 0 : (uint32_t)point,
	    .run = run,
	};
}

static int trial_begin(struct xp_trial *t, size_t point, uint32_t run,
    struct sim_seed *where, struct sim_err *e)
{
	int rc = 0;
	/* The cells of a point mostly come one after the other, so a worker
	 * seldom has to make everything anew. */
	if (point != t->point && (rc = take_point(t, point, e)) < 0)
		return rc;
	*where = trial_where(t, point, run);
	return scene_draw(&t->scene, &t->topo, &t->config.scene, where, e);
}

static int trial_live(struct xp_trial *t, const struct xp_listener *to,
    struct sim_err *e)
{
	trial_blank((double *)t->rows, t->spec->n_along * RES_N_TRIAL_METRICS);
	t->complaint.msg[0] = '\0';
	for (size_t i = 0; i < t->config.n_algos; i++)
		/* Nothing was detected yet. */
		t->scores[i].detect_s = NAN;
	const int rc = t->plane->run(t->running, &t->scene, to, t->rows, e);
	if (rc == 0)
		check_filled(t);
	return rc;
}

static struct xp_cell trial_cell(const struct xp_trial *t, size_t point,
    const struct sim_seed *where)
{
	return (struct xp_cell){
	    .spec = t->spec,
	    .point = point,
	    .where = *where,
	    .config = &t->config,
	    .topo = trial_told(t),
	    .scene = &t->scene,
	    .plane = t->plane,
	    .running = t->running,
	};
}

static int trial_run_cell(struct xp_trial *t, size_t point, uint32_t run,
    const struct xp_audience *to, struct sim_err *e)
{
	struct sim_seed where;
	int rc = trial_begin(t, point, run, &where, e);
	if (rc == 0 && to) {
		struct xp_cell cell = trial_cell(t, point, &where);
		cell.verdicts = t->verdicts;
		cell.scores = t->scores;
		rc = to->begin(to->arg, &cell, e);
	}
	struct audience a = {t, &where, to};
	/* Without algorithms nobody listens, and a plane
	 * need not gather windows. */
	const struct xp_listener hear = {&a,
	    t->config.n_algos > 0 || to ? trial_hear : NULL};
	return rc < 0 ? rc : trial_live(t, &hear, e);
}

int xp_trial_show(struct xp_trial *t, size_t point, uint32_t run,
    const struct xp_audience *to, struct sim_err *e)
{
	struct sim_seed where;
	int rc = trial_begin(t, point, run, &where, e);
	if (rc < 0)
		return rc;
	const struct xp_cell cell = trial_cell(t, point, &where);
	if ((rc = to->begin(to->arg, &cell, e)) < 0)
		return rc;
	const struct xp_listener hear = {to->arg, to->hear};
	return trial_live(t, &hear, e);
}

int xp_trial_show_one(struct xp_spec *s, size_t point, uint32_t run,
    const struct xp_audience *to, struct sim_err *e)
{
	struct xp_trial *t;
	int rc = xp_trial_open(&t, s, e);
	if (rc < 0)
		return rc;
	rc = xp_trial_show(t, point, run, to, e);
	xp_trial_close(t);
	return rc;
}

int xp_trial_watch(struct xp_trial *t, size_t point, uint32_t run,
    const struct xp_audience *to, double row[], struct sim_err *e)
{
	int rc = trial_run_cell(t, point, run, to, e);
	if (rc < 0)
		return rc;
	_Static_assert(sizeof(t->scores[0]) ==
		RES_N_ALGO_METRICS * sizeof(row[0]),
	    "scores are nothing but doubles, in the order of a row");
	const size_t n = t->config.n_algos;
	for (size_t i = 0; i < t->spec->n_along; i++) {
		memcpy(row, &t->rows[i], sizeof(t->rows[i]));
		row += RES_N_TRIAL_METRICS;
		if (n > 0)
			memcpy(row, &t->row_scores[i * n],
			    n * sizeof(t->scores[0]));
		row += n * RES_N_ALGO_METRICS;
	}
	return 0;
}

int xp_trial_run(struct xp_trial *t, size_t point, uint32_t run, double row[],
    struct sim_err *e)
{
	return xp_trial_watch(t, point, run, NULL, row, e);
}

const char *xp_trial_complaint(const struct xp_trial *t)
{
	return t->complaint.msg[0] ? t->complaint.msg : NULL;
}

int xp_trial_is_spent(const struct xp_trial *t)
{
	int is = 0;
	for (size_t i = 0; i < t->config.n_algos; i++)
		is |= t->config.algo[i].plug &&
		    plug_is_spent(t->config.algo[i].plug);
	return is;
}

void xp_trial_print(const struct xp_trial *t, FILE *out)
{
	fprintf(out, "%u hosts, %u switches, %u directed links\n",
	    t->topo.n_hosts, t->topo.n_switches, t->topo.n_links);
	t->plane->print(t->running, t->rows, out);
	truth_print(&t->scene.truth, &t->topo, out);
	for (size_t i = 0; i < t->config.n_algos; i++)
		if (t->config.algo[i].unable)
			fprintf(out, "%s\n  reads %s; there are none\n",
			    t->config.algo[i].label,
			    obs_part_text(t->config.algo[i].ops->needs &
				~xp_plane_holds(t->plane, &t->config)));
		else
			xp_answer_print(t->config.algo[i].label, &t->topo,
			    &t->scene.truth, &t->scores[i], &t->verdicts[i],
			    out);
	if (t->complaint.msg[0])
		fprintf(out, "no answer of %s\n", t->complaint.msg);
}
