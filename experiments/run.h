/* experiments/run.h -- a whole sweep: journal, workers, progress, results.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_RUN_H
#define EXPERIMENTS_RUN_H

#include <signal.h>
#include <stdio.h>

#include "experiments/spec.h"
#include "results/cube.h"

struct xp_run {
	struct xp_spec *spec;
	const char *out; /* the results file */
	unsigned n_workers;
	uint32_t shard_i, shard_n; /* 0, 1: all */
	int fresh;		   /* forget what OUT and its journal hold */
	int replace;		   /* do so if it is of another sweep */
	FILE *progress;		   /* NULL: silent */
	const volatile sig_atomic_t *stop; /* set: end early; may be NULL */
	void (*complain)(void *arg, const char *message); /* failed cells */
	void *arg;
};

/* Run what is missing. The journal OUT.journal holds each finished cell; OUT
 * itself is rewritten now and then and at the end, always whole. Fills CUBE
 * (to be freed) also when stopped or when cells failed.
 * Errors SIM_EMISMATCH when OUT is of another sweep; those of the journal, the
 * pool and res_h5_write(). */
int xp_run_sweep(const struct xp_run *r, struct res_cube *cube,
		 struct sim_err *e);

/* OUT with its suffix replaced or added: "x.h5" -> "x.journal". */
int xp_run_path(char **out, const char *results, const char *suffix,
		struct sim_err *e);

#endif
