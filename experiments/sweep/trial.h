/* experiments/sweep/trial.h -- one cell: draw a scene, run it, diagnose, score.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_SWEEP_TRIAL_H
#define EXPERIMENTS_SWEEP_TRIAL_H

#include <stdio.h>

#include "experiments/spec/plane.h"

struct xp_trial;

/* So many points of one drawing (xp_spec_drawing()) have their algorithms open at
 * a time. */
enum { XP_TRIAL_TOGETHER = 16 };

/* A trial keeps S (and puts points into it). From one cell to the next memory is
 * reused; topology and plane, by cells of one drawing; algorithms, by cells of
 * one point; and the epoch itself, by the next cell that has the same scene and
 * windows: a run of another point of the drawing, with common random numbers, on
 * a plane that can tell windows again. */
int xp_trial_open(struct xp_trial **t, struct xp_spec *s, struct sim_err *e);
void xp_trial_close(struct xp_trial *t);

/* From now on each cell has its own epoch, with the same numbers: for tests. */
void xp_trial_draw_anew(struct xp_trial *t);

/* Run one cell into row[spec.n_along][res_row_doubles(n_algos)]: in each row
 * the trial's metrics, then each algorithm's, in the order of results/schema.h.
 * The numbers depend on (spec, point, run) alone. ROW is left alone on failure.
 * Domain POINT < n_points; any RUN.
 * Errors SIM_EUNSUPPORTED when the spec's plane can't run the scene, and those
 * of the models and algorithms. */
int xp_trial_run(struct xp_trial *t, size_t point, uint32_t run, double row[],
    struct sim_err *e);

/* What a cell is made of, for as long as it runs. */
struct xp_cell {
	const struct xp_spec *spec; /* with the point's values in its tree */
	size_t point;
	struct sim_seed where;
	const struct xp_config *config;
	const struct topo *topo;
	const struct scene *scene;
	const struct xp_plane *plane;
	void *running; /* the plane's */

	/* [config.n_algos]: what each algorithm said of the last window, and
	 * its score. NULL for who is shown the cell in place of them. */
	struct algo_verdicts *verdicts;
	const struct res_algo_metrics *scores;
};

/* Who is shown a cell: BEGIN once it is drawn, HEAR at each window. */
struct xp_audience {
	void *arg;
	int (*begin)(void *arg, const struct xp_cell *cell, struct sim_err *e);
	int (*hear)(void *arg, const struct xp_window *w, struct sim_err *e);
};

/* xp_trial_run(), and TO is shown all of it: each window after the algorithms
 * have answered. CELL is good until the next one. Errors as there, and what TO
 * returns. */
int xp_trial_watch(struct xp_trial *t, size_t point, uint32_t run,
    const struct xp_audience *to, double row[], struct sim_err *e);

/* Run one cell for TO alone, in place of its algorithms: its windows are those
 * that xp_trial_run() has of it. Errors as there, and what TO returns. */
int xp_trial_show(struct xp_trial *t, size_t point, uint32_t run,
    const struct xp_audience *to, struct sim_err *e);

/* The same with a trial of S for this one cell. Errors also those of
 * xp_trial_open(). */
int xp_trial_show_one(struct xp_spec *s, size_t point, uint32_t run,
    const struct xp_audience *to, struct sim_err *e);

/* How many epochs it has drawn and told. */
uint64_t xp_trial_n_drawn(const struct xp_trial *t);

/* Why an algorithm from outside first failed at a window of the last cell, which
 * is good but for that algorithm's numbers; NULL: none did. */
const char *xp_trial_complaint(const struct xp_trial *t);

/* Did a plug-in crash in this process, or make it large? Then it should end after
 * this cell, which is good but for that plug-in's numbers. */
int xp_trial_is_spent(const struct xp_trial *t);

/* What the last cell was and what each algorithm said of it, for people. After
 * a cell that did not fail. */
void xp_trial_print(const struct xp_trial *t, FILE *out);

#endif
