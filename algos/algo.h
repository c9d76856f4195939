/* algos/algo.h -- a diagnoser: a window of observations in, verdicts out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Diagnosers are pure: no files, clocks or sockets, no printing, no shared
 * state; the same window, parameters and tie stream give the same answer.
 */
#ifndef ALGOS_ALGO_H
#define ALGOS_ALGO_H

#include <stddef.h>

#include "algos/verdict.h"
#include "models/obs.h"
#include "sim/err.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "topo/topo.h"

struct algo_common; /* algos/vigil/common.h */

struct algo_ops {
	const char *name;  /* as in a spec */
	const char *paper; /* source and section */
	const char *doc;   /* one line */
	unsigned needs;    /* of enum obs_part */
	unsigned instead;  /* one that will do for these; 0: none does */
	const struct sim_field *params; /* ends with a NULL name */
	size_t params_size;

	/* Whether PARAMS, each of which is in its range, go together: who reads
	 * a spec asks this, so that no run ends by it. NULL: they always do.
	 * Errors SIM_EINVAL, SIM_EUNSUPPORTED, SIM_ENOMEM. */
	int (*check)(const void *params, struct sim_err *e);

	/* WORK is the algorithm's memory for windows of topology T, which it
	 * keeps a pointer to. It begins with a copy of the parameters and is
	 * zero behind them. It grows when a window is larger than any before
	 * and is otherwise reused, so diagnosing allocates nothing in the long
	 * run. free() also takes what init() left when it failed, and leaves
	 * WORK itself to algo_close(). */
	size_t work_size;
	int (*init)(void *work, const struct topo *t, struct sim_err *e);

	/* OUT is cleared first. A window without failed flows gives an empty
	 * answer, not an error. */
	int (*diagnose)(void *work, const struct obs *window,
	    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e);
	void (*free)(void *work);

	/* Before the first window: what others find out of a window is in C,
	 * which the caller clears when a window begins. NULL: nothing that
	 * others do is of use here. */
	void (*join)(void *work, struct algo_common *c);
};

/* What A says of PARAMS. */
int algo_check(const struct algo_ops *a, const void *params, struct sim_err *e);

/* PARAMS (NULL: defaults) is copied. On failure *WORK is NULL. Errors those of
 * the algorithm, SIM_ENOMEM. */
int algo_open(const struct algo_ops *a, void **work, const struct topo *t,
    const void *params, struct sim_err *e);
void algo_close(const struct algo_ops *a, void *work); /* NULL is fine */

/* algos/registry.c: all diagnosers, NULL-terminated, and one by name. */
extern const struct algo_ops *const algo_registry[];
const struct algo_ops *algo_find(const char *name);

#endif
