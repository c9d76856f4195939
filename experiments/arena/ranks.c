/* experiments/arena/ranks.c -- who is better than whom on the same telemetry.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/arena/score.h"
#include "sim/ranks.h"
#include "sim/sort.h"
#include "sim/vec.h"

void xp_arena_ranks_free(struct xp_arena_ranks *r)
{
	free(r->cell);
	*r = (struct xp_arena_ranks){0};
}

/* --- gathering ------------------------------------------------------------ */

/* The kind of network at a point; "" where there is but one. */
static const char *ranks_label(const struct res_cube *c, size_t point)
{
	size_t at[RES_MAX_AXES];
	res_cube_at(c, point, at);
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			const struct res_coord *k = &c->axis[a].coord[i];
			if (strcmp(k->name, "label") == 0 && k->text)
				return k->text[at[a]];
		}
	return "";
}

static int ranks_cell(struct xp_arena_ranks *r, size_t telemetry,
    const char *algorithm, const char *task, struct xp_arena_rank_cell **out,
    struct sim_err *e)
{
	for (size_t i = r->n; i-- > 0;) {
		struct xp_arena_rank_cell *x = &r->cell[i];
		if (x->telemetry == telemetry && strcmp(x->task, task) == 0 &&
		    strcmp(x->algorithm, algorithm) == 0) {
			*out = x;
			return 0;
		}
	}
	const int rc = SIM_RESERVE(&r->cell, &r->cap, r->n + 1, e);
	if (rc < 0)
		return rc;
	*out = &r->cell[r->n++];
	**out = (struct xp_arena_rank_cell){.telemetry = telemetry};
	snprintf((*out)->algorithm, sizeof((*out)->algorithm), "%s", algorithm);
	snprintf((*out)->task, sizeof((*out)->task), "%s", task);
	return 0;
}

static int ranks_add_point(struct xp_arena_ranks *r, const char *family,
    size_t telemetry, const struct res_cube *c, size_t point, size_t algo,
    struct sim_err *e)
{
	char task[128];
	struct xp_arena_rank_cell *x;
	snprintf(task, sizeof(task), "%s/%s", family, ranks_label(c, point));
	const int rc = ranks_cell(r, telemetry, c->algo[algo], task, &x, e);
	for (size_t run = 0; rc == 0 && run < c->n_runs; run++) {
		const double f = res_cube_value(c, point, run,
		    res_row_doubles(algo) + RES_ALGO_f);
		if (res_cube_run_status(c, point, run) != RES_DONE)
			continue;
		const size_t row = res_cube_row(c, point, run);
		if (isnan(f) &&
		    !(xp_arena_unanswered(c, row, algo) &&
			xp_arena_to_find(c, row) > 0))
			continue;
		x->f += isnan(f) ? 0 : f;
		x->n++;
	}
	return rc;
}

int xp_arena_ranks_add(struct xp_arena_ranks *r, const char *family,
    size_t telemetry, const struct res_cube *c, struct sim_err *e)
{
	int rc = 0;
	for (size_t a = 0; rc == 0 && a < c->n_algos; a++)
		for (size_t p = 0; rc == 0 && p < c->n_points; p++)
			rc = ranks_add_point(r, family, telemetry, c, p, a, e);
	return rc;
}

/* --- one telemetry -------------------------------------------------------- */

struct ranks_rival {
	const char *algorithm;
	size_t n_tasks;
	double mean;
};

struct ranks_panel {
	size_t telemetry;
	size_t n_tasks, n_rivals;
	const char **task;
	struct ranks_rival *rival;
	double *score; /* [n_tasks][n_rivals] */
	double *mean;  /* [n_rivals] */
};

static void panel_free(struct ranks_panel *p)
{
	free(p->task);
	free(p->rival);
	free(p->score);
	free(p->mean);
}

static size_t panel_task(struct ranks_panel *p, const char *task)
{
	size_t i = 0;
	while (i < p->n_tasks && strcmp(p->task[i], task) != 0)
		i++;
	if (i == p->n_tasks)
		p->task[p->n_tasks++] = task;
	return i;
}

static size_t panel_rival(struct ranks_panel *p, const char *algorithm)
{
	size_t i = 0;
	while (i < p->n_rivals && strcmp(p->rival[i].algorithm, algorithm) != 0)
		i++;
	if (i == p->n_rivals)
		p->rival[p->n_rivals++] = (struct ranks_rival){algorithm, 0, 0};
	return i;
}

/* Those who lack no task. */
static void panel_meet(struct ranks_panel *p, const struct xp_arena_ranks *r)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct xp_arena_rank_cell *x = &r->cell[i];
		if (x->telemetry != p->telemetry || !(x->n > 0))
			continue;
		panel_task(p, x->task);
		p->rival[panel_rival(p, x->algorithm)].n_tasks++;
	}
	for (size_t i = 0; i < p->n_rivals; i++)
		if (p->rival[i].n_tasks == p->n_tasks)
			p->rival[n++] = p->rival[i];
	p->n_rivals = n;
}

static int rival_by_rank(const void *a, const void *b)
{
	const struct ranks_rival *x = a, *y = b;
	if (x->mean != y->mean)
		return SIM_ORDER(x->mean, y->mean);
	return strcmp(x->algorithm, y->algorithm);
}

static void panel_rank(struct ranks_panel *p, const struct xp_arena_ranks *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct xp_arena_rank_cell *x = &r->cell[i];
		size_t k = 0;
		while (k < p->n_rivals &&
		    strcmp(p->rival[k].algorithm, x->algorithm) != 0)
			k++;
		if (x->telemetry == p->telemetry && x->n > 0 && k < p->n_rivals)
			p->score[panel_task(p, x->task) * p->n_rivals + k] =
			    x->f / x->n;
	}
	sim_ranks_mean(p->score, p->n_tasks, p->n_rivals, p->mean);
	for (size_t k = 0; k < p->n_rivals; k++)
		p->rival[k].mean = p->mean[k];
	qsort(p->rival, p->n_rivals, sizeof(p->rival[0]), rival_by_rank);
	for (size_t k = 0; k < p->n_rivals; k++)
		p->mean[k] = p->rival[k].mean;
}

static int panel_fill(struct ranks_panel *p, const struct xp_arena_ranks *r,
    struct sim_err *e)
{
	int rc;
	if ((rc = SIM_ZALLOC(&p->task, r->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->rival, r->n, e)) < 0)
		return rc;
	panel_meet(p, r);
	const size_t n = p->n_tasks * p->n_rivals;
	if (p->n_rivals < 2 || p->n_tasks < 2)
		return 0;
	if ((rc = SIM_ZALLOC(&p->score, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->mean, p->n_rivals, e)) < 0)
		return rc;
	panel_rank(p, r);
	return 0;
}

/* --- the table ------------------------------------------------------------ */

struct ranks_out {
	FILE *out;
	size_t panel;
	double critical, p;
};

static void panel_line(const struct ranks_out *o, const struct ranks_panel *p,
    const char *kind, const char *algorithm, size_t place, double from,
    double to)
{
	fprintf(o->out,
	    "%zu\t%s\t%s\t%s\t%zu\t%.6g\t%.6g\t%zu\t%zu\t%.6g\t%.3g\n",
	    o->panel, xp_arena_telemetries[p->telemetry].name, kind, algorithm,
	    place, from, to, p->n_rivals, p->n_tasks, o->critical, o->p);
}

static void panel_print(struct ranks_out *o, const struct ranks_panel *p)
{
	size_t level = 0, told = 0;
	o->critical =
	    sim_ranks_critical(p->n_tasks, p->n_rivals, XP_ARENA_ALPHA);
	o->p = sim_ranks_p(p->mean, p->n_tasks, p->n_rivals, NULL, NULL);
	for (size_t i = 0; i < p->n_rivals; i++)
		panel_line(o, p, "rank", p->rival[i].algorithm, i, p->mean[i],
		    p->mean[i]);
	for (size_t i = 0; i < p->n_rivals; i++) {
		size_t k = i;
		while (k + 1 < p->n_rivals &&
		    p->mean[k + 1] - p->mean[i] <= o->critical)
			k++;
		/* A group within one that was told tells nothing. */
		if (k > i && k > told) {
			panel_line(o, p, "group", "", level++, p->mean[i],
			    p->mean[k]);
			told = k;
		}
	}
	o->panel++;
}

int xp_arena_ranks_print(const struct xp_arena_ranks *r, FILE *out,
    struct sim_err *e)
{
	struct ranks_out o = {.out = out};
	int rc = 0;
	fputs("panel\ttelemetry\tkind\talgorithm\tplace\trank\tto\trivals\t"
	      "tasks\tcritical\tp\n",
	    out);
	for (size_t t = 0; rc == 0 && xp_arena_telemetries[t].name; t++) {
		struct ranks_panel p = {.telemetry = t};
		rc = panel_fill(&p, r, e);
		if (rc == 0 && p.n_rivals >= 2 && p.n_tasks >= 2)
			panel_print(&o, &p);
		panel_free(&p);
	}
	return rc;
}
