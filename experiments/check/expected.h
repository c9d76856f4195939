/* experiments/check/expected.h -- results against those of an earlier full run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * results/expected/FIGURE.tsv has a row a point: the axes as in `culprit
 * table`, `runs`, and of each ratio of the trial that was measured, and of each
 * algorithm and ratio, its pooled value and its effective trials (_trials).
 * Where the points of a cell (results/cube.h) all have the same ratios, as
 * those along pairs and quantiles, the first of them is all there is of the
 * cell.
 *
 * Flows and links of one run depend on each other; effective are as many
 * independent trials as have the variance between runs that was met. A ratio
 * PASSES when its exact 99.99 % interval and that of the earlier run, both of
 * effective trials, overlap. When nothing changed but the seed, about one ratio
 * in 10^7 fails, more where ratios are near 0 or 1 and few runs miss.
 *
 * Points and columns are found by their values and names. What only ours has
 * is not looked at; what only the earlier table has is missing.
 */
#ifndef EXPERIMENTS_CHECK_EXPECTED_H
#define EXPERIMENTS_CHECK_EXPECTED_H

#include <stdio.h>

#include "results/cube.h"
#include "sim/err.h"

/* What came of one figure. */
struct xp_expected {
	size_t n_compared, n_failed; /* ratios */
	size_t n_missing;            /* ratios that ours has not */
};

/* Write C's table to OUT. Errors SIM_EIO, SIM_ENOMEM. */
int xp_expected_write(const struct res_cube *c, FILE *out, struct sim_err *e);

/* Compare C with the table TEXT, called NAME in messages. DIFFER is called for
 * each ratio that fails, with a sentence; it may be NULL.
 * Errors SIM_EPARSE for a text that is no such table, SIM_ENOMEM. Cost
 * O(points^2 + points * columns^2), besides O(points * runs * algorithms). */
int xp_expected_check(const struct res_cube *c, const char *name,
    const char *text, struct xp_expected *x,
    void (*differ)(void *arg, const char *sentence), void *arg,
    struct sim_err *e);

#endif
