/* experiments/arena/cpu.c -- how long algorithms take for a window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/cpu.h"

#include <time.h>

#include "experiments/sweep/answer.h"
#include "experiments/sweep/trial.h"

struct arena_clock {
	struct xp_cell cell;
	double *cpu_s;
	size_t n_windows;
};

static double arena_cpu_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
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
		from = arena_cpu_now();
		rc = xp_answer(a, work, &x->cell.where, (uint32_t)i, w->seen,
		    &v, e);
	}
	x->cpu_s[i] += arena_cpu_now() - from;
	algo_verdicts_free(&v);
	algo_close(a->ops, work);
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

int xp_arena_time(struct xp_spec *s, size_t n, double cpu_s[],
    struct sim_err *e)
{
	struct arena_clock x = {.cpu_s = cpu_s};
	const struct xp_audience to = {&x, arena_cpu_begin, arena_cpu_hear};
	struct xp_trial *t;
	size_t n_algos = 0;
	int rc = xp_trial_open(&t, s, e);
	if (rc < 0)
		return rc;
	for (size_t p = 0; rc == 0 && p < n && p < s->n_points; p++) {
		rc = xp_trial_show(t, p, 0, &to, e);
		n_algos = rc == 0 ? x.cell.config->n_algos : 0;
	}
	for (size_t i = 0; i < n_algos && x.n_windows > 0; i++)
		cpu_s[i] /= (double)x.n_windows;
	xp_trial_close(t);
	return rc;
}
