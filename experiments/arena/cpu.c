/* experiments/arena/cpu.c -- what algorithms take for a window: time, memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/cpu.h"

#include <malloc.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "experiments/sweep/answer.h"
#include "experiments/sweep/pool.h"
#include "experiments/sweep/trial.h"

struct arena_clock {
	struct xp_cell cell;
	struct xp_arena_cost *cost; /* sums over windows */
	size_t n_windows;
};

/* Bytes in use. */
static double arena_heap(void)
{
	const struct mallinfo2 m = mallinfo2();
	return (double)m.uordblks + (double)m.hblkhd;
}

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
	const double held = arena_heap();
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
	x->cost->of[i].s += arena_cpu_now(a) - from;
	algo_verdicts_free(&v);
	x->cost->of[i].bytes += arena_heap() - held;
	algo_close(a->ops, work);
	if (rc == SIM_EDEP && a->plug) {
		x->cost->of[i].s = NAN;
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
	size_t point;
	struct xp_arena_cost *cost;
};

static int arena_cpu_open(void *ctx, void **worker, struct sim_err *e)
{
	(void)e;
	*worker = ctx;
	return 0;
}

static void arena_cpu_mean(struct arena_clock *x)
{
	const struct xp_config *c = x->cell.config;
	for (size_t i = 0; i < c->n_algos; i++) {
		x->cost->of[i].s /= (double)x->n_windows;
		x->cost->of[i].bytes /= (double)x->n_windows;
		/* Where malloc does not count, as under sanitizers; or another
		 * process holds it. */
		if (!(x->cost->of[i].bytes > 0) || c->algo[i].plug)
			x->cost->of[i].bytes = NAN;
	}
	x->cost->n_links = x->cell.topo->n_links;
}

static int arena_cpu_serve(void *worker, uint64_t cell, double row[],
    struct sim_err *e)
{
	const struct arena_timing *t = worker;
	struct xp_arena_cost cost = {0};
	struct arena_clock x = {.cost = &cost};
	const struct xp_audience to = {&x, arena_cpu_begin, arena_cpu_hear};
	struct xp_trial *trial;
	int rc = xp_trial_open(&trial, t->spec, e);
	(void)cell;
	if (rc < 0)
		return rc;
	if ((rc = xp_trial_show(trial, t->point, 0, &to, e)) == 0)
		arena_cpu_mean(&x);
	memcpy(row, &cost, sizeof(cost));
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
		memcpy(t->cost, row, sizeof(*t->cost));
	return 0;
}

int xp_arena_time(struct xp_spec *s, size_t point, struct xp_arena_cost *cost,
    struct sim_err *e)
{
	static const uint64_t cell = 0;
	struct arena_timing t = {s, point, cost};
	const struct xp_pool_job job = {
	    .n_workers = 1,
	    .n_cells = 1,
	    .cell = &cell,
	    .row_doubles = sizeof(*cost) / sizeof(double),
	    .ctx = &t,
	    .open = arena_cpu_open,
	    .serve = arena_cpu_serve,
	    .take = arena_cpu_take,
	};
	cost->n_links = NAN;
	for (size_t i = 0; i < XP_ARENA_TIMED; i++)
		cost->of[i].s = cost->of[i].bytes = NAN;
	return xp_pool_run(&job, e);
}
