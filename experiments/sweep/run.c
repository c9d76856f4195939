/* experiments/sweep/run.c -- a sweep: journal, workers, progress, results.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/run.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/sweep/journal.h"
#include "experiments/sweep/pool.h"
#include "experiments/sweep/progress.h"
#include "experiments/sweep/trial.h"
#include "models/clock.h"
#include "results/file.h"
#include "results/h5.h"
#include "results/until.h"
#include "sim/text.h"
#include "sim/vec.h"

/* Results are made whole on disk this often, if anything is new; but no more
 * than one part in PUBLISH_SHARE of the time goes into it, however large they
 * are. */
#define PUBLISH_EVERY (10 * SIM_SEC)
#define PUBLISH_SHARE 40
/* Finished cells wait no longer than this for the next one before they are
 * handed to the kernel; without a next one, until the next tick. */
#define JOURNAL_EVERY (5 * SIM_MS)
/* And so much of a sweep's work a loss of power may cost. */
#define SYNC_EVERY (5 * SIM_SEC)

/* A point of the sweep, and the first that is drawn as it is. */
struct place {
	size_t drawing, place;
};

struct sweep {
	const struct xp_run *run;
	struct res_cube *cube;
	struct res_progress progress; /* kept up to date cell by cell */
	struct xp_journal *journal;
	struct xp_progress display;
	struct xp_expect expect;
	sim_ns published_ns, journaled_ns, synced_ns;
	sim_ns publish_every_ns; /* by how long the last time took */
	int unpublished;         /* OUT does not hold all of CUBE */
	int keep_former; /* OUT is not ours: the first to publish moves it */

	struct place *order; /* [n_points / n_along] by drawings */

	/* Where points end by a criterion: the runs that decide on each place
	 * next, and the cells that were tried by this process. */
	uint32_t *wanted;
	uint8_t *tried;
	struct xp_run_report report;
};

/* OUT without its suffix is the stem of all that lies beside it. */
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

/* A worker has a copy of the parsed spec by the fork, and only
 * needs a trial of its own. */
static int open_worker(void *ctx, void **out, struct sim_err *e)
{
	struct sweep *s = ctx;
	struct worker *w;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	w->n_runs = s->run->spec->runs;
	*out = w;
	rc = xp_trial_open(&w->trial, s->run->spec, e);
	if (rc == 0 && s->run->draw_anew)
		xp_trial_draw_anew(w->trial);
	return rc;
}

static int serve_cell(void *worker, uint64_t cell, double row[],
    struct sim_err *e)
{
	struct worker *w = worker;
	/* Cells come in blocks of runs of a point, so a worker that serves
	 * neighbours keeps its point. */
	const int rc = xp_trial_run(w->trial, cell / w->n_runs,
	    (uint32_t)(cell % w->n_runs), row, e);
	const char *complaint = xp_trial_complaint(w->trial);
	return rc < 0 || !complaint ? rc : sim_fail(e, 1, "%s", complaint);
}

static int is_worker_spent(const void *worker)
{
	return xp_trial_is_spent(((const struct worker *)worker)->trial);
}

/* --- in the parent ------------------------------------------------------- */

/* Make OUT whole on disk. What OUT was before is kept when it is first replaced
 * and not earlier: a sweep that fails at once leaves it in place. */
static int publish(struct sweep *s, struct sim_err *e)
{
	const sim_ns start = clock_now();
	int rc = res_until_decide(s->cube, s->wanted, e);
	if (rc == 0 && s->keep_former)
		rc = res_file_keep(s->run->out, e);
	if (rc == 0)
		rc = res_h5_write(s->cube, s->run->out, e);
	if (rc < 0)
		return rc;
	s->keep_former = 0;
	s->unpublished = 0;
	s->published_ns = clock_now();
	s->publish_every_ns = (s->published_ns - start) * PUBLISH_SHARE;
	if (s->publish_every_ns < PUBLISH_EVERY)
		s->publish_every_ns = PUBLISH_EVERY;
	return 0;
}

/* "point 3 (faults.count 8) run 12: MESSAGE" */
static void sweep_run_complain(struct sweep *s, size_t point, size_t run,
    const char *message)
{
	const struct res_cube *c = s->cube;
	const size_t n_axes = res_cube_outer_axes(c);
	size_t at[RES_MAX_AXES];
	char line[1024], number[32];
	struct sim_text t = {line, sizeof(line), 0};
	res_cube_at(c, point * c->n_along, at);
	sim_put(&t, "point %zu", point);
	for (size_t i = 0; i < n_axes; i++) {
		const struct res_coord *k = &c->axis[i].coord[0];
		sim_put(&t, "%s%s %s", i ? ", " : " (", k->name,
		    k->number ? sim_format_f64(number, k->number[at[i]])
			      : k->text[at[i]]);
	}
	sim_put(&t, "%s run %zu: %s", n_axes ? ")" : "", run, message);
	xp_progress_wipe(&s->display);
	s->run->complain(s->run->arg, line);
}

/* The journal gets every cell, but is flushed only from time to time: a write
 * for each would be dearer than many a cell. */
static int take_cell(void *ctx, uint64_t cell, enum res_status status,
    const double row[], const char *message, struct sim_err *e)
{
	struct sweep *s = ctx;
	const size_t point = cell / s->cube->n_runs;
	const size_t run = cell % s->cube->n_runs;
	if (message && s->run->complain)
		sweep_run_complain(s, point, run, message);
	res_cube_put(s->cube, point, run, status, row);
	s->progress.n_done += status == RES_DONE;
	s->progress.n_failed += status == RES_FAILED;
	s->progress.n_crashed += status == RES_CRASHED;
	s->report.n_run++;
	s->unpublished = 1;
	int rc = xp_journal_put(s->journal, point, run, status, row, e);
	const sim_ns now = clock_now();
	if (rc == 0 && now - s->journaled_ns >= JOURNAL_EVERY) {
		rc = xp_journal_flush(s->journal, e);
		s->journaled_ns = now;
	}
	return rc;
}

static int on_tick(void *ctx, struct sim_err *e)
{
	struct sweep *s = ctx;
	const sim_ns now = clock_now();
	/* Cells that came since the last one have waited long enough. */
	int rc = xp_journal_flush(s->journal, e);
	if (rc == 0 && now - s->synced_ns >= SYNC_EVERY) {
		rc = xp_journal_sync(s->journal, e);
		s->synced_ns = now;
	}
	xp_progress_update(&s->display, &s->progress, now);
	if (rc == 0 && s->unpublished &&
	    now - s->published_ns > s->publish_every_ns)
		rc = publish(s, e);
	if (rc == 0)
		rc = xp_expect_update(&s->expect, &s->display, &s->progress,
		    now);
	return rc != 0 ? rc : s->run->stop && *s->run->stop;
}

/* Does this shard have to do the cell of a place and a run? Failed and crashed ones
 * are tried again, once: the cause may be gone. */
static int is_to_do(const struct sweep *s, size_t place, size_t run)
{
	const struct res_cube *c = s->cube;
	const size_t i = place * c->n_runs + run;
	/* Shards take every N-th cell, so that all have cells of all points,
	 * cheap and dear ones. */
	return i % c->shard_n == c->shard_i &&
	    !(s->wanted && run >= s->wanted[place]) &&
	    res_cube_status(c, i) != RES_DONE && !(s->tried && s->tried[i]);
}

/* List the cells of runs [FROM, TO) of N places that are drawn alike. All of one
 * run stand together, so that their epoch is drawn once. */
static size_t list_runs(const struct sweep *s, const struct place place[],
    size_t n, size_t from, size_t to, uint64_t cells[])
{
	size_t n_cells = 0;
	for (size_t run = from; run < to; run++)
		for (size_t i = 0; i < n; i++)
			if (is_to_do(s, place[i].place, run))
				cells[n_cells++] =
				    place[i].place * s->cube->n_runs + run;
	return n_cells;
}

/* How many runs of a point come one after the other once FROM of each are done.
 * All points fill up evenly, so that half a sweep has the shape of the whole:
 * none is ahead by more than its runs so far, nor by more than a sixteenth of
 * all. A worker opens a point anew for each block, which then costs 1 % of a
 * sweep of the shortest cells; but real networks take seconds to make. */
static size_t sweep_run_block(const struct sweep *s, size_t from)
{
	enum { BLOCKS = 16 };
	const size_t n_runs = s->cube->n_runs;
	const size_t most = (n_runs + BLOCKS - 1) / BLOCKS;
	if (s->run->spec->is_real)
		return n_runs;
	return from == 0 ? 1 : from < most ? from : most;
}

static int place_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	return x->drawing != y->drawing
	    ? (x->drawing > y->drawing) - (x->drawing < y->drawing)
	    : (x->place > y->place) - (x->place < y->place);
}

/* Places of one drawing beside each other. */
static int order_places(struct sweep *s, struct sim_err *e)
{
	const size_t n = s->cube->n_points / s->cube->n_along;
	int rc = SIM_ZALLOC(&s->order, n, e);
	for (size_t p = 0; rc == 0 && p < n; p++)
		s->order[p] =
		    (struct place){xp_spec_drawing(s->run->spec, p), p};
	if (rc == 0)
		qsort(s->order, n, sizeof(s->order[0]), place_order);
	return rc;
}

/* How many places from FIRST on, in their order, are served side by side. */
static size_t n_together(const struct sweep *s, size_t first)
{
	const size_t n_places = s->cube->n_points / s->cube->n_along;
	size_t n = 1;
	while (n < XP_TRIAL_TOGETHER && first + n < n_places &&
	    s->order[first + n].drawing == s->order[first].drawing)
		n++;
	return n;
}

static int list_cells(struct sweep *s, uint64_t **cells, size_t *n,
    struct sim_err *e)
{
	const struct res_cube *c = s->cube;
	const size_t n_places = c->n_points / c->n_along;
	int rc = SIM_ZALLOC(cells, res_cube_own_cells(c), e);
	*n = 0;
	for (size_t from = 0, to; rc == 0 && from < c->n_runs; from = to) {
		to = from + sweep_run_block(s, from);
		if (to > c->n_runs)
			to = c->n_runs;
		for (size_t p = 0, k; p < n_places; p += k) {
			k = n_together(s, p);
			*n += list_runs(s, &s->order[p], k, from, to,
			    *cells + *n);
		}
	}
	return rc;
}

/* Cells of one run whose points are drawn alike. */
static int are_together(const void *ctx, uint64_t a, uint64_t b)
{
	const struct sweep *s = ctx;
	const size_t n_runs = s->cube->n_runs;
	return a % n_runs == b % n_runs &&
	    xp_spec_drawing(s->run->spec, a / n_runs) ==
	    xp_spec_drawing(s->run->spec, b / n_runs);
}

static int serve_cells(struct sweep *s, const uint64_t cells[], size_t n,
    struct sim_err *e)
{
	const struct xp_pool_job job = {
	    .n_workers = s->run->n_workers,
	    .n_cells = n,
	    .cell = cells,
	    .row_doubles = s->cube->cell_doubles,
	    .ctx = s,
	    .together = are_together,
	    .open = open_worker,
	    .serve = serve_cell,
	    .is_spent = is_worker_spent,
	    .take = take_cell,
	    .tick = on_tick,
	};
	for (size_t i = 0; s->tried && i < n; i++)
		s->tried[cells[i]] = 1;
	return xp_pool_run(&job, e);
}

/* What there is to do: all of it, or where points end by a criterion as much as
 * the next look at each needs. */
static int list_next(struct sweep *s, uint64_t **cells, size_t *n,
    struct sim_err *e)
{
	int rc = res_until_decide(s->cube, s->wanted, e);
	if (rc < 0)
		return rc;
	s->progress.n_cells = res_cube_progress(s->cube).n_cells;
	free(*cells);
	*cells = NULL;
	return list_cells(s, cells, n, e);
}

static int serve_all(struct sweep *s, uint64_t **cells, size_t n,
    struct sim_err *e)
{
	int rc;
	do {
		rc = serve_cells(s, *cells, n, e);
		n = 0;
		if (rc == 0 && s->wanted)
			rc = list_next(s, cells, &n, e);
	} while (rc == 0 && n > 0);
	return rc;
}

static int sweep_run_serve(struct sweep *s, struct sim_err *e)
{
	uint64_t *cells = NULL;
	size_t n;
	int rc = order_places(s, e);
	if (rc == 0)
		rc = list_next(s, &cells, &n, e);
	if (rc == 0 && n > 0) {
		s->progress = res_cube_progress(s->cube);
		/* Those that failed before are tried again, so
		 * the count begins anew. */
		s->progress.n_failed = s->progress.n_crashed = 0;
		/* Now, so that a disk that can't hold it is met at once. */
		rc = publish(s, e);
		if (rc == 0) {
			xp_progress_start(&s->display, s->run->progress,
			    s->run->spec->figure, NULL, &s->progress,
			    clock_now());
			xp_expect_start(&s->expect, &s->progress,
			    s->cube->n_points / s->cube->n_along,
			    s->run->n_workers, clock_now());
			rc = serve_all(s, &cells, n, e);
			xp_progress_end(&s->display, &s->progress, clock_now());
		}
	}
	free(cells);
	return rc;
}

/* --- what is there already ----------------------------------------------- */

/* Remove what writers of PATH that were killed left behind, called
 * PATH.tmp.PID. Nobody else would ever do so. */
static void remove_temporaries(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const int n_folder = slash ? (int)(name - path) : 0;
	const size_t n = strlen(name);
	char at[4096];
	snprintf(at, sizeof(at), "%.*s", n_folder, path);
	DIR *folder = opendir(slash ? at : ".");
	for (struct dirent *d; folder && (d = readdir(folder));) {
		const char *pid = d->d_name + n + strlen(".tmp.");
		if (strncmp(d->d_name, name, n) != 0 ||
		    strncmp(d->d_name + n, ".tmp.", strlen(".tmp.")) != 0 ||
		    *pid == '\0' || pid[strspn(pid, "0123456789")] != '\0')
			continue;
		/* A living one may be `culprit merge` at work. */
		if (kill((pid_t)atol(pid), 0) == 0 || errno != ESRCH)
			continue;
		snprintf(at, sizeof(at), "%.*s%s", n_folder, path, d->d_name);
		unlink(at);
	}
	if (folder)
		closedir(folder);
}

static int sweep_run_is_ours(const struct res_cube *old,
    const struct res_cube *cube, struct sim_err *e)
{
	const int rc = res_cube_same_sweep(old, cube, e);
	if (rc == 0 &&
	    (old->shard_i != cube->shard_i || old->shard_n != cube->shard_n))
		return sim_fail(e, SIM_EMISMATCH,
		    "it is shard %u of %u, not %u of %u.", old->shard_i + 1,
		    old->shard_n, cube->shard_i + 1, cube->shard_n);
	return rc;
}

/* Read what OUT holds into OLD, if it is of this very sweep and shard. An error
 * says how to get on. */
static int read_former(const char *out, const struct res_cube *cube,
    struct res_cube *old, struct sim_err *e)
{
	struct sim_err why = {0};
	int rc = res_h5_read_beside(old, out, out, e);
	if (rc == SIM_EPARSE)
		return sim_fail(e, SIM_EIO,
		    "%s holds no results that can be read; give another name "
		    "with -o, or replace it with --force, which keeps it as "
		    "%s~.",
		    out, out);
	if (rc == SIM_EMISMATCH && e)
		why = *e;
	else if (rc == 0)
		rc = sweep_run_is_ours(old, cube, &why);
	if (rc == SIM_EMISMATCH)
		return sim_fail(e, rc,
		    "%s holds results of another spec, shard or build of "
		    "culprit, which are not mixed with new ones: %s Start over "
		    "with --fresh, which keeps it as %s~, or give another name "
		    "with -o.",
		    out, why.msg, out);
	return rc;
}

/* Take over what OUT holds of this sweep, so that one whose journal is gone
 * need not be run again. */
static int adopt(struct sweep *s, struct sim_err *e)
{
	const struct xp_run *r = s->run;
	struct res_cube old = {0};
	int there, rc = res_file_look(r->out, &there, e);
	if (rc < 0 || !there)
		return rc;
	/* Whatever OUT is, it is not replaced without a copy, until it has
	 * turned out to be ours. */
	s->keep_former = 1;
	if (r->fresh)
		return 0;
	rc = read_former(r->out, s->cube, &old, e);
	if (rc == 0 && (rc = res_cube_merge(s->cube, &old, e)) == 0) {
		/* OUT is an earlier state of this sweep: nothing is lost by
		 * replacing it. It may lack what the journal had, which was put
		 * into the cube before. */
		s->keep_former = 0;
		s->unpublished = xp_journal_replayed(s->journal).n_records > 0;
		/* What can't be read or is of another sweep may
	 * be replaced by order. */
	} else if (r->replace && rc != SIM_ENOMEM) {
		rc = 0;
	}
	res_cube_free(&old);
	return rc;
}

/* The journal first: who holds its lock owns the rest. */
static int recover(struct sweep *s, const char *journal, struct sim_err *e)
{
	const struct xp_run *r = s->run;
	int rc = 0;
	if (r->fresh || r->replace)
		rc = xp_journal_set_aside(journal, s->cube, r->fresh, e);
	if (rc == 0)
		rc = xp_journal_open(&s->journal, journal, s->cube, e);
	if (rc < 0)
		return rc;
	s->unpublished = 1;
	/* Only under the lock is it known that nobody else is at
	 * work on these files. */
	remove_temporaries(r->out);
	if ((rc = adopt(s, e)) == 0)
		s->report.n_before = res_cube_progress(s->cube).n_done;
	return rc;
}

/* --- the whole ----------------------------------------------------------- */

/* The journal goes when OUT has all that it held, or when it never held a cell.
 * An error leaves it, for the same command to go on from. */
static int sweep_run_finish(struct sweep *s, int rc, struct sim_err *e)
{
	if (!s->journal)
		return rc;
	s->report.stopped = rc > 0;
	if (rc >= 0 && s->unpublished)
		rc = publish(s, e);
	const int complete = rc == 0 && !s->report.stopped;
	const int empty =
	    xp_journal_replayed(s->journal).n_records + s->report.n_run == 0;
	s->report.kept_journal = !complete && !empty;
	/* After an error that one is to be told, not what came of closing. */
	int closed =
	    xp_journal_close(s->journal, complete || empty, rc < 0 ? NULL : e);
	return rc < 0 ? rc : closed;
}

/* The criterion is part of what the sweep is, so it comes before the journal. */
static int prepare_until(struct sweep *s, struct sim_err *e)
{
	struct res_cube *c = s->cube;
	int rc;
	if (!s->run->until)
		return 0;
	if ((rc = sim_dup(&c->until, s->run->until, e)) < 0 ||
	    (rc = res_until_check(c, NULL, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->wanted, c->n_points / c->n_along, e)) < 0)
		return rc;
	return SIM_ZALLOC(&s->tried, res_cube_cells(c), e);
}

int xp_run_sweep(const struct xp_run *r, struct res_cube *cube,
    struct sim_err *e)
{
	struct sweep s = {.run = r,
	    .cube = cube,
	    .expect = r->expect,
	    .synced_ns = clock_now()};
	char *journal = NULL;
	int rc = xp_spec_cube(r->spec, r->shard_i, r->shard_n, cube, e);
	if (rc == 0)
		rc = res_columns_spill(&cube->rows, r->out, e);
	if (rc == 0 && (rc = prepare_until(&s, e)) == 0)
		rc = xp_run_path(&journal, r->out, ".journal", e);
	if (rc == 0 && (rc = recover(&s, journal, e)) == 0)
		rc = sweep_run_serve(&s, e);
	rc = sweep_run_finish(&s, rc, e);
	if (r->report)
		*r->report = s.report;
	free(journal);
	free(s.order);
	free(s.wanted);
	free(s.tried);
	return rc;
}
