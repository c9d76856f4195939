/* experiments/sweep/run.h -- a sweep: journal, workers, progress, results.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is on disk beside OUT = "x.h5":
 *
 *	x.h5             whole at any time; rewritten at the end and every 10 s,
 *	                 or less often where that takes long
 *	x.journal        each finished cell, while a sweep runs or was stopped;
 *	                 locked by the process that runs it
 *	x.h5~, x.journal~  what `fresh` or `replace` replaced last
 *
 * Whoever holds the journal's lock owns all of them. Nothing is moved or
 * written before the lock is held and everything that can be refused has been.
 */
#ifndef EXPERIMENTS_SWEEP_RUN_H
#define EXPERIMENTS_SWEEP_RUN_H

#include <signal.h>
#include <stdio.h>

#include "experiments/spec/spec.h"
#include "experiments/sweep/expect.h"
#include "results/cube.h"

/* What came of it; also after an error. */
struct xp_run_report {
	uint64_t n_before, n_run; /* cells done before; cells finished now */
	int stopped;              /* by STOP, with cells left to do */
	int kept_journal;         /* it holds cells: a later run goes on */
};

struct xp_run {
	struct xp_spec *spec;
	const char *out; /* the results file */
	unsigned n_workers;
	uint32_t shard_i, shard_n; /* 0, 1: all */
	int fresh;         /* start over, whatever OUT and its journal hold */
	const char *until; /* what ends a point (results/until.h); NULL: runs */
	int replace;   /* start over if they are of another sweep, or damaged */
	int draw_anew; /* no cell uses the epoch of another, for tests */
	FILE *progress;                    /* NULL: silent */
	struct xp_expect expect;           /* zeroed: nobody is told or asked */
	const volatile sig_atomic_t *stop; /* set: end early; may be NULL */
	void (*complain)(void *arg, const char *message); /* failed cells */
	void *arg;
	struct xp_run_report *report; /* may be NULL */
};

/* Run what is missing; with UNTIL, as far as is needed for all points to end,
 * which is the same cells for any number of workers and interruptions. Fills
 * CUBE (to be freed) also when stopped or when cells failed. When nothing is
 * missing, OUT is not touched. Errors those of res_until_check(); SIM_EMISMATCH
 * when OUT is of another sweep, SIM_EIO when it is damaged or no file; those of
 * the journal, the pool and res_h5_write(). The journal keeps what was finished:
 * the same call goes on once the cause is gone. */
int xp_run_sweep(const struct xp_run *r, struct res_cube *cube,
    struct sim_err *e);

/* OUT with its suffix replaced or added: "x.h5" -> "x.journal". */
int xp_run_path(char **out, const char *results, const char *suffix,
    struct sim_err *e);

#endif
