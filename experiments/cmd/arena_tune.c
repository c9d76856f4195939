/* experiments/cmd/arena_tune.c -- the values that do best on a training half.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/arena_tune.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/arena/tune.h"
#include "experiments/spec/config.h"
#include "experiments/sweep/pool.h"
#include "experiments/sweep/progress.h"
#include "models/clock.h"
#include "sim/text.h"
#include "sim/vec.h"

enum { TUNE_MAX_FAMILIES = 64, TUNE_ENTRY = 256 };

/* One telemetry and algorithm. */
struct arena_tune_cell {
	size_t telemetry, algo;
	char entry[TUNE_ENTRY];
};

struct arena_tune {
	struct cmd_arena_game *g;
	const volatile sig_atomic_t *stop;
	size_t n;
	uint64_t *number;
	struct arena_tune_cell *cell;
	uint32_t runs;
	struct xp_progress display;
	struct res_progress done;
};

/* What a worker says of a cell. */
struct arena_tune_row { /* doubles alone */
	double best, windows, f_own, f, runs;
	double value[XP_TUNE_MAX_KEYS];
};

/* --- one telemetry and algorithm -------------------------------------------- */

/* Where nothing fails there is no F. */
static int arena_tune_load(const struct arena_tune *x, size_t telemetry,
    const char *name, struct xp_spec *s, struct xp_spec *at[], size_t *n,
    struct sim_err *e)
{
	char algorithms[128];
	int rc = 0;
	snprintf(algorithms, sizeof(algorithms), "algorithms=[%s]", name);
	*n = 0;
	for (size_t f = 0; rc == 0 && xp_arena_families[f]; f++) {
		if (strcmp(xp_arena_families[f], "none") == 0 ||
		    !cmd_arena_is_due(x->g, f, telemetry))
			continue;
		rc = cmd_arena_load(x->g, x->g->size, f, telemetry, algorithms,
		    &s[*n], e);
		at[*n] = &s[*n];
		++*n;
	}
	if (rc == 0 && *n == 0)
		rc = sim_fail(e, SIM_EINVAL,
		    "--families: in none of them anything fails.");
	return rc;
}

static int arena_tune_algo(struct xp_tune *t, struct xp_algo *algo,
    struct plug_set *plugs, const char *text, struct sim_err *e)
{
	struct sim_yaml y = {0};
	int rc = sim_yaml_parse(&y, "--algorithms", text, strlen(text), e);
	if (rc == 0)
		rc = xp_algo_read(&y, y.root, plugs, 0, algo, e);
	if (rc == 0)
		rc = sim_yaml_verdict(&y, e);
	t->algo = algo;
	if (rc == 0)
		rc = algo->plug ? sim_fail(e, SIM_EUNSUPPORTED, "no values.")
				: xp_tune_usual(t, e);
	sim_yaml_free(&y);
	return rc;
}

static void arena_tune_say(const struct xp_tune *t, uint32_t runs,
    struct arena_tune_row *row)
{
	const struct xp_tune_try *best = &t->tried[t->best];
	*row = (struct arena_tune_row){.best = (double)t->best,
	    .windows = (double)t->n_windows,
	    .f_own = t->tried[0].f,
	    .f = best->f,
	    .runs = runs};
	memcpy(row->value, best->value, sizeof(row->value));
}

static int arena_tune_serve(void *worker, uint64_t number, double row[],
    struct sim_err *e)
{
	const struct arena_tune *x = worker;
	const struct arena_tune_cell *c = &x->cell[number];
	struct xp_spec *s, *at[TUNE_MAX_FAMILIES];
	struct xp_tune t = {0};
	struct xp_algo algo = {0};
	size_t n = 0;
	int rc = SIM_ZALLOC(&s, TUNE_MAX_FAMILIES, e);
	if (rc == 0)
		rc = arena_tune_algo(&t, &algo, x->g->plugs,
		    x->g->algo[c->algo].text, e);
	if (rc == 0)
		rc = arena_tune_load(x, c->telemetry, algo.ops->name, s, at, &n,
		    e);
	if (rc == 0) {
		struct xp_tune_specs on = {at, n};
		rc = xp_tune_search(&t, ARENA_TRIES, xp_tune_on, &on, e);
	}
	if (rc == 0)
		arena_tune_say(&t, s->runs, (struct arena_tune_row *)row);
	for (size_t i = 0; i < n; i++)
		xp_spec_free(&s[i]);
	free(s);
	xp_tune_free(&t);
	free(algo.params);
	return rc;
}

/* --- all of them ------------------------------------------------------------ */

static int arena_tune_open(void *ctx, void **worker, struct sim_err *e)
{
	(void)e;
	*worker = ctx;
	return 0;
}

/* The entry is written here, as texts do not cross. */
static int arena_tune_take(void *ctx, uint64_t number, enum res_status status,
    const double row[], const char *message, struct sim_err *e)
{
	struct arena_tune *x = ctx;
	struct arena_tune_cell *c = &x->cell[number];
	const struct cmd_arena_algo *a = &x->g->algo[c->algo];
	struct xp_arena_tuned *to = &x->g->tuned;
	struct sim_text text = {c->entry, sizeof(c->entry), 0};
	struct arena_tune_row r;
	struct xp_tune t = {0};
	struct xp_algo algo = {0};
	if (status != RES_DONE)
		return sim_fail(e, SIM_EDEP, "%s on %s: %s", a->label,
		    xp_arena_telemetries[c->telemetry].name, message);
	memcpy(&r, row, sizeof(r));
	int rc = arena_tune_algo(&t, &algo, x->g->plugs, a->text, e);
	if (rc == 0) {
		struct xp_tune_try best = {.f = r.f};
		memcpy(best.value, r.value, sizeof(best.value));
		xp_tune_put(&t, &best, a->text, XP_ARENA_TUNED, &text);
		to->row[number].windows = r.windows;
		to->row[number].f_own = r.f_own;
		to->row[number].f = r.f;
		to->runs = (unsigned)r.runs;
	}
	xp_tune_free(&t);
	free(algo.params);
	x->done.n_done++;
	xp_progress_update(&x->display, &x->done, clock_now());
	return rc;
}

static int arena_tune_tick(void *ctx, struct sim_err *e)
{
	const struct arena_tune *x = ctx;
	(void)e;
	return *x->stop != 0;
}

/* Who has no parameters that are usually tuned is left out. */
static int arena_tune_cells(struct arena_tune *x, struct sim_err *e)
{
	struct xp_arena_tuned *to = &x->g->tuned;
	int rc = 0;
	for (size_t t = 0; xp_arena_telemetries[t].name; t++)
		for (size_t i = 0; i < x->g->n_algos; i++) {
			struct xp_tune tune = {0};
			struct xp_algo algo = {0};
			struct sim_err why;
			if (!cmd_arena_is_read(x->g, t) ||
			    !cmd_arena_reads(x->g, i, t))
				continue;
			rc = arena_tune_algo(&tune, &algo, x->g->plugs,
			    x->g->algo[i].text, &why);
			xp_tune_free(&tune);
			free(algo.params);
			if (rc < 0)
				continue;
			x->cell[x->n] = (struct arena_tune_cell){t, i, ""};
			to->row[x->n] =
			    (struct xp_arena_tuned_row){.telemetry = t,
				.algorithm = x->g->algo[i].label,
				.entry = x->cell[x->n].entry};
			x->number[x->n] = x->n;
			x->n++;
		}
	to->n = x->n;
	return x->n > 0
	    ? 0
	    : sim_fail(e, SIM_EINVAL,
		  "--algorithms: none has parameters that are usually tuned.");
}

static int arena_tune_all(struct arena_tune *x, unsigned n_workers, int quiet,
    struct sim_err *e)
{
	const struct xp_pool_job job = {
	    .n_workers = n_workers,
	    .n_cells = x->n,
	    .cell = x->number,
	    .row_doubles = sizeof(struct arena_tune_row) / sizeof(double),
	    .ctx = x,
	    .open = arena_tune_open,
	    .serve = arena_tune_serve,
	    .take = arena_tune_take,
	    .tick = arena_tune_tick,
	};
	x->done.n_cells = x->n;
	xp_progress_start(&x->display, quiet ? NULL : stderr, "tune",
	    "algorithms", &x->done, clock_now());
	const int rc = xp_pool_run(&job, e);
	xp_progress_end(&x->display, &x->done, clock_now());
	return rc;
}

int cmd_arena_tune(struct cmd_arena_game *g, unsigned n_workers, int quiet,
    const volatile sig_atomic_t *stop, FILE *out, struct sim_err *e)
{
	enum { ALL = 16 * ARENA_MAX_ALGOS };
	struct arena_tune x = {.g = g, .stop = stop};
	struct xp_arena_tuned *to = &g->tuned;
	int rc;
	to->version = XP_ARENA_VERSION;
	to->seed = g->seed;
	to->tries = ARENA_TRIES;
	snprintf(to->size, sizeof(to->size), "%s", g->size->name);
	if ((rc = SIM_ZALLOC(&x.cell, ALL, e)) == 0 &&
	    (rc = SIM_ZALLOC(&x.number, ALL, e)) == 0 &&
	    (rc = SIM_RESERVE(&to->row, &to->cap, ALL, e)) == 0 &&
	    (rc = arena_tune_cells(&x, e)) == 0 &&
	    (rc = arena_tune_all(&x, n_workers, quiet, e)) == 0)
		xp_arena_tuned_print(to, out);
	free(x.cell);
	free(x.number);
	return rc;
}
