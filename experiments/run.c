/* experiments/run.c -- a whole sweep: journal, workers, progress, results.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "experiments/journal.h"
#include "experiments/pool.h"
#include "experiments/progress.h"
#include "experiments/trial.h"
#include "results/h5.h"
#include "sim/vec.h"

/* Results are made whole on disk this often, if anything is new. */
#define PUBLISH_EVERY (10 * SIM_SEC)

struct sweep {
	const struct xp_run *run;
	struct res_cube *cube;
	struct res_progress progress; /* kept up to date cell by cell */
	struct xp_journal *journal;
	struct xp_progress display;
	sim_ns published_ns;
	int unpublished;
};

static sim_ns now_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (sim_ns)ts.tv_sec * SIM_SEC + (sim_ns)ts.tv_nsec;
}

int xp_run_path(char **out, const char *results, const char *suffix,
		struct sim_err *e)
{
	size_t n = strlen(results);
	if (n > 3 && strcmp(results + n - 3, ".h5") == 0)
		n -= 3;
	int rc = sim_zalloc(out, n + strlen(suffix) + 1, 1, e);
	if (rc == 0)
		sprintf(*out, "%.*s%s", (int)n, results, suffix);
	return rc;
}

/* --- in a worker --------------------------------------------------------- */

struct worker {
	struct xp_trial *trial;
	uint32_t n_runs;
};

static int open_worker(void *ctx, void **out, struct sim_err *e)
{
	struct sweep *s = ctx;
	struct worker *w;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	w->n_runs = s->run->spec->runs;
	*out = w;
	return xp_trial_open(&w->trial, s->run->spec, e);
}

static int serve_cell(void *worker, uint64_t cell, double row[],
		      struct sim_err *e)
{
	struct worker *w = worker;
	return xp_trial_run(w->trial, cell / w->n_runs,
			    (uint32_t)(cell % w->n_runs), row, e);
}

/* --- in the parent ------------------------------------------------------- */

static int take_cell(void *ctx, uint64_t cell, enum res_status status,
		     const double row[], const char *message, struct sim_err *e)
{
	struct sweep *s = ctx;
	const size_t point = cell / s->cube->n_runs;
	const size_t run = cell % s->cube->n_runs;
	if (message && s->run->complain) {
		char line[512];
		snprintf(line, sizeof(line), "point %zu run %zu: %s", point,
			 run, message);
		s->run->complain(s->run->arg, line);
	}
	res_cube_put(s->cube, point, run, status, row);
	s->progress.n_done += status == RES_DONE;
	s->progress.n_failed += status == RES_FAILED;
	s->progress.n_crashed += status == RES_CRASHED;
	s->unpublished = 1;
	return xp_journal_put(s->journal, point, run, status, row, e);
}

static int on_tick(void *ctx, struct sim_err *e)
{
	struct sweep *s = ctx;
	const sim_ns now = now_ns();
	int rc = xp_journal_flush(s->journal, e);
	xp_progress_update(&s->display, &s->progress, now);
	if (rc == 0 && s->unpublished &&
	    now - s->published_ns > PUBLISH_EVERY) {
		rc = res_h5_write(s->cube, s->run->out, e);
		s->published_ns = now;
		s->unpublished = 0;
	}
	return rc < 0 ? rc : s->run->stop && *s->run->stop;
}

/* Cells of this shard that are not done, point by point. Failed and crashed
 * ones are tried again: the cause may be gone. */
static int list_cells(struct sweep *s, uint64_t **cells, size_t *n,
		      struct sim_err *e)
{
	const struct res_cube *c = s->cube;
	const uint64_t total = (uint64_t)c->n_points * c->n_runs;
	int rc = SIM_ZALLOC(cells, total, e);
	*n = 0;
	for (uint64_t i = 0; rc == 0 && i < total; i++)
		if (i % c->shard_n == c->shard_i && c->status[i] != RES_DONE)
			(*cells)[(*n)++] = i;
	return rc;
}

static int serve(struct sweep *s, struct sim_err *e)
{
	const struct xp_run *r = s->run;
	struct xp_pool_job job = {
	    .n_workers = r->n_workers,
	    .row_doubles = s->cube->row_doubles,
	    .ctx = s,
	    .open = open_worker,
	    .serve = serve_cell,
	    .take = take_cell,
	    .tick = on_tick,
	};
	uint64_t *cells = NULL;
	int rc = list_cells(s, &cells, &job.n_cells, e);
	job.cell = cells;
	if (rc == 0 && job.n_cells > 0) {
		s->progress = res_cube_progress(s->cube);
		s->progress.n_failed = s->progress.n_crashed = 0;
		s->published_ns = now_ns();
		rc = res_h5_write(s->cube, r->out, e);
		xp_progress_start(&s->display, r->progress, r->spec->figure,
				  &s->progress, now_ns());
		if (rc == 0)
			rc = xp_pool_run(&job, e);
		xp_progress_end(&s->display, &s->progress, now_ns());
	}
	free(cells);
	return rc;
}

/* Start from a results file of the same sweep, so that one whose journal is
 * gone need not be run again. */
static int adopt(const struct xp_run *r, struct res_cube *cube,
		 struct sim_err *e)
{
	struct res_cube old = {0};
	if (access(r->out, F_OK) != 0)
		return 0;
	int rc = res_h5_read(&old, r->out, e);
	if (rc == 0 &&
	    (res_cube_key(&old) != res_cube_key(cube) ||
	     old.shard_i != cube->shard_i || old.shard_n != cube->shard_n))
		rc = sim_fail(
		    e, SIM_EMISMATCH,
		    "%s holds results of another spec, shard, overrides or "
		    "version of culprit; give another name with -o, or replace "
		    "it with --force.",
		    r->out);
	if (rc == 0)
		rc = res_cube_merge(cube, &old, e);
	res_cube_free(&old);
	return rc;
}

static int restart(const struct xp_run *r, const char *journal,
		   struct res_cube *cube, struct sim_err *e)
{
	unlink(journal);
	res_cube_free(cube);
	return xp_spec_cube(r->spec, r->shard_i, r->shard_n, cube, e);
}

/* Collect what is there of this sweep, in the results file and the journal. */
static int recover(struct sweep *s, const char *journal, struct sim_err *e)
{
	const struct xp_run *r = s->run;
	int rc = r->fresh ? 0 : adopt(r, s->cube, e);
	if (rc == 0)
		rc = xp_journal_open(&s->journal, journal, s->cube, e);
	if (rc == 0 && r->fresh) {
		rc = xp_journal_close(s->journal, 1, e);
		s->journal = NULL;
	} else if (!(rc == SIM_EMISMATCH && (r->replace || r->fresh))) {
		return rc;
	}
	if ((rc = restart(r, journal, s->cube, e)) < 0)
		return rc;
	return xp_journal_open(&s->journal, journal, s->cube, e);
}

int xp_run_sweep(const struct xp_run *r, struct res_cube *cube,
		 struct sim_err *e)
{
	struct sweep s = {.run = r, .cube = cube};
	char *journal = NULL;
	int rc = xp_spec_cube(r->spec, r->shard_i, r->shard_n, cube, e);
	if (rc < 0)
		return rc;
	if ((rc = xp_run_path(&journal, r->out, ".journal", e)) < 0)
		return rc;
	if ((rc = recover(&s, journal, e)) == 0)
		rc = serve(&s, e);
	/* What was computed is kept, whatever went wrong: the journal goes only
	 * when the results file has everything. */
	if (rc >= 0) {
		const int stopped = rc > 0;
		rc = res_h5_write(cube, r->out, e);
		int closed = xp_journal_close(s.journal, rc == 0 && !stopped,
					      rc == 0 ? e : NULL);
		rc = rc < 0 ? rc : closed;
	} else if (s.journal) {
		xp_journal_close(s.journal, 0, NULL);
	}
	free(journal);
	return rc;
}
