/* experiments/check/rerun.h -- cells of somebody's results, run again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The sample is a shard of the sweep, cell % shard_n == shard_i, so it is spread
 * over all points and runs. What is demanded hangs on what made the results: the
 * same bits of the same build and libraries, nine digits of another build of the
 * same version and libraries, and else, where not all have nine digits, that a
 * test of two samples sees no difference (expected.h). Of fewer than
 * XP_EXPECTED_FEW runs a point that test tells nothing.
 */
#ifndef EXPERIMENTS_CHECK_RERUN_H
#define EXPERIMENTS_CHECK_RERUN_H

#include <signal.h>

#include "experiments/check/expected.h"
#include "sim/err.h"

enum xp_demand { XP_SAME_BITS, XP_NINE_DIGITS, XP_BY_Z };

struct xp_rerun {
	/* What to do. */
	const char *results; /* somebody's results file */
	const char *spec;    /* its spec, a file */
	const char *out;     /* where the cells go; is replaced */
	uint32_t shard_i, shard_n;
	unsigned n_workers;
	const volatile sig_atomic_t *stop;
	void (*differ)(void *arg, const char *sentence); /* may be NULL */
	void *arg;

	/* What came of it. */
	uint64_t n_cells;        /* run again */
	uint64_t n_same, n_near; /* of these, by bits and by nine digits */
	enum xp_demand demand;
	struct xp_expected numbers; /* XP_BY_Z, unless all is near */
	int is_few;                 /* too few for them to tell */
	int is_real;                /* on a kernel's network: nothing was run */
};

/* Run the cells and compare. Whether that is good is for the caller to say.
 * Errors SIM_EMISMATCH (the spec, or its overrides, are not those of the
 * results; cells failed or differ in status), SIM_EUNSUPPORTED (overrides that
 * can't be put again), those of xp_spec_load() and xp_run_sweep(). */
int xp_rerun(struct xp_rerun *r, struct sim_err *e);

/* Did all that was demanded hold, or is it too little to tell? */
int xp_rerun_is_good(const struct xp_rerun *r);

#endif
