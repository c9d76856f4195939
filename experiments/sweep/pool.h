/* experiments/sweep/pool.h -- forked workers that serve cells and may die.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * igraph and GLPK are neither thread-safe nor abort-free as Debian builds
 * them, so workers are processes. Each serves many cells; one that dies costs
 * the cell it was in, which is reported as crashed, and is replaced. Workers
 * die with their parent.
 *
 * What a worker finds: the parent's memory as it was at the fork; stdin,
 * stdout and stderr, but no other open file (so no lock outlives the parent in
 * a worker); SIGINT, SIGTERM, SIGHUP and SIGQUIT ignored, since the parent
 * decides when to stop and stops its workers by SIGKILL.
 */
#ifndef EXPERIMENTS_SWEEP_POOL_H
#define EXPERIMENTS_SWEEP_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "results/cube.h"
#include "sim/err.h"

struct xp_pool_job {
	unsigned n_workers; /* at least 1 */
	size_t n_cells;
	const uint64_t *cell; /* [n_cells] numbers to serve, in this order */
	size_t row_doubles;

	/* Should who serves cell A serve B too, if that comes behind it, as far as
	 * slots allow? No worker is idle for it at the end. NULL: no. */
	int (*together)(const void *ctx, uint64_t a, uint64_t b);

	/* In the worker: OPEN once, then SERVE per cell, which fills ROW (NaN
	 * before). Errors of SERVE come back as RES_FAILED with the message; a
	 * return above 0 is a row with something to tell, in E;
	 * an error of OPEN ends the job with that error. CTX is inherited by
	 * fork. */
	void *ctx;
	int (*open)(void *ctx, void **worker, struct sim_err *e);
	int (*serve)(void *worker, uint64_t cell, double row[],
	    struct sim_err *e);

	/* In the worker, after a cell: should another process go on? NULL: no. */
	int (*is_spent)(const void *worker);

	/* In the parent: one call a cell, in any order. MESSAGE is NULL for
	 * RES_DONE unless there is something to tell, ROW for RES_CRASHED; both are borrowed for the call. An
	 * error ends the job. */
	int (*take)(void *ctx, uint64_t cell, enum res_status status,
	    const double row[], const char *message, struct sim_err *e);
	/* In the parent, about ten times a second; a return above 0 stops the
	 * job early: workers are stopped, the cells they are in are lost. An
	 * error ends the job too. May be NULL. */
	int (*tick)(void *ctx, struct sim_err *e);
};

/* Serve all cells. Cells that a worker had not begun when it died are given to
 * another. Flushes stdio's output streams, so that no worker writes them again.
 * Workers die with the thread that calls this.
 * A worker that writes over the memory it shares is ended, and of what it had
 * not told yet nothing is believed: a cell is reported as crashed.
 * Returns 0; 1 if tick stopped it; an error of open, take or tick; SIM_EDEP
 * when workers die before they get to a cell, 8 in a row; SIM_ERANGE without
 * a worker; SIM_ENOMEM; SIM_EIO if no process can be started. No worker is
 * left behind on any return.
 * Cost  about 1 us a cell in the parent, besides take. */
int xp_pool_run(const struct xp_pool_job *job, struct sim_err *e);

#endif
