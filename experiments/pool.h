/* experiments/pool.h -- forked workers that serve cells and may die.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * igraph and GLPK are neither thread-safe nor abort-free as Debian builds
 * them, so workers are processes. Each serves many cells; one that dies costs
 * the cell it was in, which is reported as crashed, and is replaced. Workers
 * die with their parent.
 */
#ifndef EXPERIMENTS_POOL_H
#define EXPERIMENTS_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "results/cube.h"
#include "sim/err.h"

struct xp_pool_job {
	unsigned n_workers;    /* at least 1 */
	size_t n_cells;
	const uint64_t *cell;  /* [n_cells] numbers to serve, in this order */
	size_t row_doubles;

	/* In the worker: OPEN once, then SERVE per cell, which fills ROW. Their
	 * errors come back as RES_FAILED with the message; an error of OPEN
	 * ends the job. CTX is inherited by fork. */
	void *ctx;
	int (*open)(void *ctx, void **worker, struct sim_err *e);
	int (*serve)(void *worker, uint64_t cell, double row[],
	    struct sim_err *e);

	/* In the parent: one call a cell, in any order. MESSAGE is NULL for
	 * RES_DONE. An error ends the job. */
	int (*take)(void *ctx, uint64_t cell, enum res_status status,
	    const double row[], const char *message, struct sim_err *e);
	/* In the parent, about ten times a second; a return above 0 stops the
	 * job early (workers are stopped, cells in flight are lost). */
	int (*tick)(void *ctx, struct sim_err *e);
};

/* Serve all cells. Returns 0, 1 if tick stopped it, or SIM_E*: SIM_EDEP when
 * workers die faster than they serve (a worker died 8 times in a row without
 * finishing a cell). No worker is left behind on any return. */
int xp_pool_run(const struct xp_pool_job *job, struct sim_err *e);

#endif
