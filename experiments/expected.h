/* experiments/expected.h -- results against those of an earlier full run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * results/expected/FIGURE.tsv is the part of `culprit table FIGURE` that tells
 * how accurate each algorithm was: the axes, `runs`, and of each ratio its
 * pooled value and its trials. A ratio PASSES when its exact 99.99 % interval
 * and that of the earlier run overlap. If nothing changed but the seed and
 * trials were independent, one in 10^7 would fail; flows of one run are not
 * independent, so it happens more often than that.
 *
 * Points and columns are found by their values and names. What only ours has
 * is not looked at; what only the earlier table has is missing.
 */
#ifndef EXPERIMENTS_EXPECTED_H
#define EXPERIMENTS_EXPECTED_H

#include <stdio.h>

#include "results/cube.h"
#include "sim/err.h"

/* What came of one figure. */
struct xp_expected {
	size_t n_compared, n_failed; /* ratios */
	size_t n_missing;            /* ratios that ours has not */
};

/* Write C's table to OUT. Errors those of res_table_write(). */
int xp_expected_write(const struct res_cube *c, FILE *out, struct sim_err *e);

/* Compare C with the table TEXT, called NAME in messages. DIFFER is called for
 * each ratio that fails, with a sentence; it may be NULL.
 * Errors SIM_EPARSE for a text that is no such table; those of
 * res_table_write(). Cost that of the table. */
int xp_expected_check(const struct res_cube *c, const char *name,
    const char *text, struct xp_expected *x,
    void (*differ)(void *arg, const char *sentence), void *arg,
    struct sim_err *e);

#endif
