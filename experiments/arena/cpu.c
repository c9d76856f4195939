/* experiments/arena/cpu.c -- how long algorithms take for a window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/cpu.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "experiments/sweep/answer.h"
#include "experiments/sweep/pool.h"
#include "experiments/sweep/trial.h"

struct arena_clock {
	struct xp_cell cell;
	double *cpu_s;
	size_t n_windows;
};

static double arena_cpu_now(const struct xp_algo *a)
{
	struct timespec t;
	clock_gettime(a->plug ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int arena_cpu_begin(void *arg, const struct xp_cell *cell,
    struct sim_err *e)
{
	struct arena_clock *x = arg;
	(void)e;
	x->cell = *cell;
	return 0;
}

static int arena_cpu_one(struct arena_clock *x, size_t i,
    const struct xp_window *w, struct sim_err *e)
{
	const struct xp_algo *a = &x->cell.config->algo[i];
	struct algo_verdicts v = {0};
	void *work;
	double from = 0;
	int rc = algo_open(a->ops, &work, x->cell.topo, a->params, e);
	if (rc < 0)
		return sim_wrap(e, rc, "algorithm %s", a->label);
	for (int k = 0; rc == 0 && k < 2; k++) {
		from = arena_cpu_now(a);
		rc = xp_answer(a, work, &x->cell.where, (uint32_t)i, w->seen,
		    &v, e);
	}
	x->cpu_s[i] += arena_cpu_now(a) - from;
	algo_verdicts_free(&v);
	algo_close(a->ops, work);
	if (rc == SIM_EDEP && a->plug) {
		x->cpu_s[i] = NAN;
		rc = 0;
	}
	return rc;
}

static int arena_cpu_hear(void *arg, const struct xp_window *w,
    struct sim_err *e)
{
	struct arena_clock *x = arg;
	int rc = 0;
	x->n_windows++;
	for (size_t i = 0; rc == 0 && i < x->cell.config->n_algos; i++)
		rc = arena_cpu_one(x, i, w, e);
	return rc;
}

/* The one cell of a pool is all that is timed. */
struct arena_timing {
	struct xp_spec *spec;
	size_t n;
	double *cpu_s;
};

static int arena_cpu_open(void *ctx, void **worker, struct sim_err *e)
{
	(void)e;
	*worker = ctx;
	return 0;
}

static int arena_cpu_serve(void *worker, uint64_t cell, double row[],
    struct sim_err *e)
{
	const struct arena_timing *t = worker;
	struct arena_clock x = {.cpu_s = row};
	const struct xp_audience to = {&x, arena_cpu_begin, arena_cpu_hear};
	struct xp_trial *trial;
	int rc = xp_trial_open(&trial, t->spec, e);
	(void)cell;
	if (rc < 0)
		return rc;
	memset(row, 0, XP_ARENA_TIMED * sizeof(row[0]));
	for (size_t p = 0; rc == 0 && p < t->n && p < t->spec->n_points; p++)
		rc = xp_trial_show(trial, p, 0, &to, e);
	for (size_t i = 0; i < XP_ARENA_TIMED && x.n_windows > 0; i++)
		row[i] /= (double)x.n_windows;
	xp_trial_close(trial);
	return rc;
}

static int arena_cpu_take(void *ctx, uint64_t cell, enum res_status status,
    const double row[], const char *message, struct sim_err *e)
{
	const struct arena_timing *t = ctx;
	(void)cell;
	if (status == RES_FAILED)
		return sim_fail(e, SIM_EDEP, "%s", message);
	if (status == RES_DONE)
		memcpy(t->cpu_s, row, XP_ARENA_TIMED * sizeof(row[0]));
	return 0;
}

int xp_arena_time(struct xp_spec *s, size_t n, double cpu_s[XP_ARENA_TIMED],
    struct sim_err *e)
{
	static const uint64_t cell = 0;
	struct arena_timing t = {s, n, cpu_s};
	const struct xp_pool_job job = {
	    .n_workers = 1,
	    .n_cells = 1,
	    .cell = &cell,
	    .row_doubles = XP_ARENA_TIMED,
	    .ctx = &t,
	    .open = arena_cpu_open,
	    .serve = arena_cpu_serve,
	    .take = arena_cpu_take,
	};
	for (size_t i = 0; i < XP_ARENA_TIMED; i++)
		cpu_s[i] = NAN;
	return xp_pool_run(&job, e);
}
