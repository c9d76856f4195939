/* experiments/sweep/trial.c -- one cell: draw a scene, run it, diagnose, score.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/trial.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/spec/config.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"
#include "experiments/sweep/answer.h"
#include "experiments/sweep/panel.h"
#include "results/score.h"
#include "sim/vec.h"

/* What a cell has before any algorithm is asked: made of a configuration without
 * algorithms, so that which ones look at it can't matter. */
struct drawn {
	size_t drawing; /* see xp_spec_drawing(); SIZE_MAX: none */
	struct xp_config config;
	struct topo topo;
	struct scene scene;
	const struct xp_plane *plane;
	void *running;                  /* the plane's */
	struct res_trial_metrics *rows; /* [n_along] */

	/* Of the last cell: has it come to its end, and were windows told? */
	int told;
	size_t point;
	struct sim_seed where;
};

struct xp_trial {
	struct xp_spec *spec;
	struct drawn drawn;
	struct xp_panel panel[XP_TRIAL_TOGETHER]; /* of points of the drawing */
	size_t n_panels, oldest;
	struct xp_panel *now; /* that of the last cell; NULL: none */
	int anew;
	uint64_t n_drawn;           /* epochs */
	struct algo_common common;  /* of the window that is heard */
	struct res_scorer scorer;   /* of the window that is heard */
	struct algo_verdicts early; /* of part of a window */
	struct sim_err complaint;   /* of an algorithm from outside, or empty */
};

int xp_trial_open(struct xp_trial **out, struct xp_spec *s, struct sim_err *e)
{
	struct xp_trial *t;
	int rc = SIM_ZALLOC(&t, 1, e);
	if (rc < 0)
		return rc;
	t->spec = s;
	t->drawn.drawing = SIZE_MAX;
	*out = t;
	return 0;
}

void xp_trial_draw_anew(struct xp_trial *t)
{
	t->anew = 1;
}

/* Topology, plane and algorithms are made for a drawing. Only the scene's memory
 * is used again. */
static void forget_drawing(struct xp_trial *t)
{
	struct drawn *d = &t->drawn;
	for (size_t i = 0; i < t->n_panels; i++)
		xp_panel_free(&t->panel[i]);
	t->n_panels = t->oldest = 0;
	t->now = NULL;
	if (d->running)
		d->plane->close(d->running);
	d->running = NULL;
	free(d->rows);
	d->rows = NULL;
	topo_close(&d->topo);
	xp_config_free(&d->config);
	d->drawing = SIZE_MAX;
	d->told = 0;
}

void xp_trial_close(struct xp_trial *t)
{
	if (!t)
		return;
	forget_drawing(t);
	algo_verdicts_free(&t->early);
	scene_free(&t->drawn.scene);
	res_scorer_free(&t->scorer);
	free(t);
}

/* The network as algorithms have it. */
static const struct topo *trial_told(const struct xp_trial *t)
{
	const struct drawn *d = &t->drawn;
	const struct topo *told =
	    d->plane->told ? d->plane->told(d->running) : NULL;
	return told ? told : &d->topo;
}

/* All of C but its algorithms and its label, which stay. */
static int trial_take_drawing(struct xp_trial *t, size_t drawing,
    struct xp_config *c, struct sim_err *e)
{
	struct drawn *d = &t->drawn;
	struct xp_config rest = {.algo = c->algo, .n_algos = c->n_algos};
	int rc;
	memcpy(rest.label, c->label, sizeof(rest.label));
	forget_drawing(t);
	d->config = *c;
	d->config.algo = NULL;
	d->config.n_algos = 0;
	memset(d->config.label, 0, sizeof(d->config.label));
	*c = rest;
	if ((rc = xp_topology_open(&d->config.topology, t->spec->folder,
		 &d->topo, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->rows, t->spec->n_along, e)) < 0)
		return rc;
	d->plane = xp_plane_of(&d->config);
	rc = d->plane->open(&d->running, &d->topo, &d->config, e);
	if (rc == 0)
		d->drawing = drawing;
	return rc;
}

/* A place for the algorithms of one more point: the oldest's if all are taken. */
static struct xp_panel *free_panel(struct xp_trial *t)
{
	if (t->n_panels < XP_TRIAL_TOGETHER)
		return &t->panel[t->n_panels++];
	struct xp_panel *p = &t->panel[t->oldest++ % XP_TRIAL_TOGETHER];
	xp_panel_free(p);
	return p;
}

/* Open the algorithms of POINT, and what they look at unless another point of
 * its drawing has. Only when all of it stands is it the current one. After a
 * failure there is none, and the next cell tries again. */
static int open_point(struct xp_trial *t, size_t point, struct sim_err *e)
{
	const size_t drawing = xp_spec_drawing(t->spec, point);
	struct xp_config c = {0};
	struct xp_panel *p = NULL;
	int rc = xp_spec_point(t->spec, point, &c, e);
	if (rc == 0 &&
	    (t->drawn.drawing != drawing || t->drawn.config.needs != c.needs))
		rc = trial_take_drawing(t, drawing, &c, e);
	if (rc == 0) {
		p = free_panel(t);
		rc = xp_panel_open(p, point, &t->drawn.config, &c,
		    trial_told(t), &t->common, t->spec->n_along, e);
	}
	xp_config_free(&c);
	t->now = p;
	if (rc < 0)
		forget_drawing(t);
	return rc;
}

/* The algorithms of POINT, open. */
static int take_point(struct xp_trial *t, size_t point, struct sim_err *e)
{
	for (size_t i = 0; i < t->n_panels; i++)
		if (t->panel[i].point == point) {
			t->now = &t->panel[i];
			return 0;
		}
	return open_point(t, point, e);
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
	algo_verdicts_clear(&t->now->verdicts[i]);
	trial_blank((double *)&t->now->scores[i], RES_N_ALGO_METRICS);
	t->now->scores[i].n_unanswered = 1;
	if (!t->complaint.msg[0])
		t->complaint = *why;
}

/* Run algorithm I on a window and score what it says. */
static int trial_diagnose(struct xp_trial *t, size_t i,
    const struct sim_seed *where, const struct xp_window *w, struct sim_err *e)
{
	struct xp_panel *p = t->now;
	const struct xp_algo *a = &p->config.algo[i];
	struct sim_err why = {0};
	if (a->unable) {
		trial_blank((double *)&p->scores[i], RES_N_ALGO_METRICS);
		return 0;
	}
	int rc = xp_answer(a, p->work[i], where, (uint32_t)i, w->seen,
	    &p->verdicts[i], &why);
	/* One from outside fails by itself: what the others say of this window
	 * is as good as ever. */
	if (rc == SIM_EDEP && a->plug) {
		trial_unanswered(t, i, &why);
		return 0;
	}
	if (rc < 0)
		return sim_fail(e, rc, "%s", why.msg);
	if (!t->scorer.w)
		rc = res_scorer_begin(&t->scorer, w->seen,
		    &t->drawn.scene.truth, w->lost, e);
	if (rc == 0)
		rc = res_scorer_answer(&t->scorer, &p->verdicts[i],
		    &p->scores[i], e);
	if (a->plug)
		p->scores[i].n_unanswered = 0;
	return rc < 0 ? sim_wrap(e, rc, "algorithm %s", a->label) : 0;
}

/* How much of a window algorithm I has to see until it is right. One from outside
 * that fails at a part of it is not right there. */
static int trial_ask_early(struct xp_trial *t, size_t i,
    const struct sim_seed *where, const struct xp_window *w, struct sim_err *e)
{
	const struct xp_algo *a = &t->now->config.algo[i];
	struct res_algo_metrics *s = &t->now->scores[i];
	if (!(s->n_to_find > 0))
		return 0;
	s->right_share = 1;
	for (size_t k = 0; k < w->n_early; k++) {
		t->common = (struct algo_common){0};
		const int rc = xp_answer(a, t->now->work[i], where, (uint32_t)i,
		    &w->early[k], &t->early, e);
		if (rc == SIM_EDEP && a->plug)
			continue;
		if (rc < 0)
			return rc;
		if (res_score_is_exact(&t->drawn.scene.truth, &t->early)) {
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
	for (size_t i = 0;
	     rc == 0 && w->n_early > 0 && i < t->now->config.n_algos; i++)
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
	struct xp_panel *p = t->now;
	const size_t n = p->config.n_algos;
	int rc;
	t->common = (struct algo_common){0};
	t->scorer.w = NULL; /* not begun: nobody may have an answer to score */
	for (size_t i = 0; i < n; i++) {
		struct res_algo_metrics *s = &p->scores[i];
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
		const struct res_algo_metrics *s = &p->scores[i];
		for (size_t k = 0; k < w->n_rows; k++)
			p->row_scores[(w->first_row + k) * n + i] = *s;
		for (size_t k = 0; k < t->spec->n_along; k++)
			p->row_scores[k * n + i].detect_s = s->detect_s;
	}
	return x->to ? x->to->hear(x->to->arg, w, e) : 0;
}

/* A plane may fill only the metrics that it says it does, less those to which
 * its fabric is blind. Others would appear in files and tables that have no
 * place for them. To do so is a mistake in the code, not in a spec. */
static void check_filled(const struct xp_trial *t)
{
	const struct drawn *d = &t->drawn;
	const unsigned may = d->plane->fills & ~xp_fabric_of(&d->config)->blind;
	for (size_t i = 0; i < t->spec->n_along; i++) {
		const double *x = (const double *)&d->rows[i];
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
	    .point = t->drawn.config.common ? 0 : (uint32_t)point,
	    .run = run,
	};
}

/* Are the last cell's scene and windows those of this one, and still there? A
 * cell that is asked for twice is run twice, and what a real network did can't
 * be had again. */
static int trial_has(const struct xp_trial *t, size_t point,
    const struct sim_seed *where)
{
	const struct drawn *d = &t->drawn;
	return !t->anew && d->told && d->point != point &&
	    d->where.point == where->point && d->where.run == where->run &&
	    d->plane->again && !xp_fabric_of(&d->config)->open;
}

/* A cell as it runs. */
struct trial_cell {
	size_t point;
	struct sim_seed where;
	int again; /* its windows are those of the last one */
	struct xp_cell shown;
};

static int trial_begin(struct xp_trial *t, size_t point, uint32_t run,
    const struct xp_audience *to, struct trial_cell *c, struct sim_err *e)
{
	struct drawn *d = &t->drawn;
	int rc = take_point(t, point, e);
	if (rc == 0 && to)
		rc = xp_spec_put_point(t->spec, point, e);
	if (rc < 0)
		return rc;
	c->point = point;
	c->where = trial_where(t, point, run);
	c->again = trial_has(t, point, &c->where);
	c->shown = (struct xp_cell){
	    .spec = t->spec,
	    .point = point,
	    .where = c->where,
	    .config = &t->now->config,
	    .topo = trial_told(t),
	    .scene = &d->scene,
	    .plane = d->plane,
	    .running = d->running,
	};
	if (c->again)
		return 0;
	d->told = 0;
	return scene_draw(&d->scene, &d->topo, &d->config.scene, &c->where, e);
}

static int trial_live(struct xp_trial *t, const struct trial_cell *c,
    const struct xp_listener *to, struct sim_err *e)
{
	struct drawn *d = &t->drawn;
	t->complaint.msg[0] = '\0';
	for (size_t i = 0; i < t->now->config.n_algos; i++)
		/* Nothing was detected yet. */
		t->now->scores[i].detect_s = NAN;
	if (c->again)
		return d->plane->again(d->running, to, e);
	trial_blank((double *)d->rows, t->spec->n_along * RES_N_TRIAL_METRICS);
	const int rc = d->plane->run(d->running, &d->scene, to, d->rows, e);
	if (rc < 0)
		return rc;
	check_filled(t);
	t->n_drawn++;
	d->told = to->hear != NULL;
	d->point = c->point;
	d->where = c->where;
	return 0;
}

static int trial_run_cell(struct xp_trial *t, size_t point, uint32_t run,
    const struct xp_audience *to, struct sim_err *e)
{
	struct trial_cell c;
	/* Without algorithms nobody listens, and a plane
	 * need not gather windows. */
	int rc = trial_begin(t, point, run, to, &c, e);
	if (rc < 0)
		return rc;
	if (to) {
		c.shown.verdicts = t->now->verdicts;
		c.shown.scores = t->now->scores;
		rc = to->begin(to->arg, &c.shown, e);
	}
	struct audience a = {t, &c.where, to};
	const struct xp_listener hear = {&a,
	    t->now->config.n_algos > 0 || to ? trial_hear : NULL};
	return rc < 0 ? rc : trial_live(t, &c, &hear, e);
}

int xp_trial_show(struct xp_trial *t, size_t point, uint32_t run,
    const struct xp_audience *to, struct sim_err *e)
{
	struct trial_cell c;
	int rc = trial_begin(t, point, run, to, &c, e);
	if (rc < 0 || (rc = to->begin(to->arg, &c.shown, e)) < 0)
		return rc;
	const struct xp_listener hear = {to->arg, to->hear};
	return trial_live(t, &c, &hear, e);
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
	const struct xp_panel *p = t->now;
	const size_t n = p->config.n_algos;
	_Static_assert(sizeof(p->scores[0]) ==
		RES_N_ALGO_METRICS * sizeof(row[0]),
	    "scores are nothing but doubles, in the order of a row");
	for (size_t i = 0; i < t->spec->n_along; i++) {
		memcpy(row, &t->drawn.rows[i], sizeof(t->drawn.rows[i]));
		row += RES_N_TRIAL_METRICS;
		if (n > 0)
			memcpy(row, &p->row_scores[i * n],
			    n * sizeof(p->scores[0]));
		row += n * RES_N_ALGO_METRICS;
	}
	return 0;
}

int xp_trial_run(struct xp_trial *t, size_t point, uint32_t run, double row[],
    struct sim_err *e)
{
	return xp_trial_watch(t, point, run, NULL, row, e);
}

uint64_t xp_trial_n_drawn(const struct xp_trial *t)
{
	return t->n_drawn;
}

const char *xp_trial_complaint(const struct xp_trial *t)
{
	return t->complaint.msg[0] ? t->complaint.msg : NULL;
}

int xp_trial_is_spent(const struct xp_trial *t)
{
	const struct xp_config *c = t->now ? &t->now->config : NULL;
	int is = 0;
	for (size_t i = 0; c && i < c->n_algos; i++)
		is |= c->algo[i].plug && plug_is_spent(c->algo[i].plug);
	return is;
}

void xp_trial_print(const struct xp_trial *t, FILE *out)
{
	const struct drawn *d = &t->drawn;
	const struct xp_panel *p = t->now;
	fprintf(out, "%u hosts, %u switches, %u directed links\n",
	    d->topo.n_hosts, d->topo.n_switches, d->topo.n_links);
	d->plane->print(d->running, d->rows, out);
	truth_print(&d->scene.truth, &d->topo, out);
	for (size_t i = 0; i < p->config.n_algos; i++) {
		const struct xp_algo *a = &p->config.algo[i];
		if (a->unable)
			fprintf(out, "%s\n  reads %s; there are none\n",
			    a->label,
			    obs_part_text(a->ops->needs &
				~xp_plane_holds(d->plane, &d->config)));
		else
			xp_answer_print(a->label, &d->topo, &d->scene.truth,
			    &p->scores[i], &p->verdicts[i], out);
	}
	if (t->complaint.msg[0])
		fprintf(out, "no answer of %s\n", t->complaint.msg);
}
