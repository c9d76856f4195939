/* experiments/check/expected_table.h -- the table of what is expected.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * results/expected/FIGURE.tsv: after a line that tells what it was made of, a
 * line a point and metric, tab-separated, named in the second line:
 *
 *	# seed 7, 100 runs, version 0.2.0; made of 0123456789abcdef
 *	<coordinate>...  the point, as in `culprit table`; "*": over all of them
 *	metric           of the trial, or <algo>:<metric>
 *	runs             runs that are done
 *	n                runs of these in which it was measured
 *	trials           of a ratio the sum of denominators, of several points
 *	                 their mean; else n
 *	value            its mean; of a ratio the sum of numerators over that
 *	                 of denominators
 *	se               standard error of the value over runs; NaN if n < 2
 *
 * The number that it was made of is that of everything that decides numbers:
 * spec, overrides, seed, runs, version, libraries. It is 0 where nothing does,
 * as on a network of the kernel.
 *
 * Runs are independent of each other; flows, links and points of one run are
 * not. So a ratio's error is that of the sum of what each run strays from it,
 * and that over all points is of one number a run, the sum over its points (W.
 * Cochran, Sampling Techniques, 1977, chapters 6 and 9).
 *
 * Metrics are all that were measured but the numerators of ratios, which a
 * ratio and its denominator tell. There are lines over all points, then one a
 * point; but of a cell that is read along more than 100 points, as pairs of
 * pods, one over all of these, and beyond 500 of either those over all points
 * are all.
 */
#ifndef EXPERIMENTS_CHECK_EXPECTED_TABLE_H
#define EXPERIMENTS_CHECK_EXPECTED_TABLE_H

#include <stdio.h>

#include "results/cube.h"
#include "sim/err.h"

struct xp_expected_row {
	const char *point; /* values of the coordinates with tabs between */
	const char *metric;
	int all;          /* over all points, or of the only one */
	uint64_t runs, n; /* n <= runs */
	double trials;
	double value, se; /* NaN: n = 0, n < 2 */
};

struct xp_expected_table {
	uint64_t made_of;   /* 0: of what can't be made again */
	const char *coords; /* their names with tabs between; "" if none */
	size_t n, cap;
	struct xp_expected_row *row; /* as written: over all points first */
	char *text;                  /* what the others point into */
};

/* Names of the columns behind those of coordinates, with tabs between. */
extern const char xp_expected_columns[];

/* The number that C was made of. */
uint64_t xp_expected_made_of(const struct res_cube *c);

/* Write that of C to OUT. Cost O(points * runs * metrics). Errors SIM_EIO,
 * SIM_ENOMEM. */
int xp_expected_write(const struct res_cube *c, FILE *out, struct sim_err *e);

/* Read TEXT, called NAME in messages. T need not be initialised and is to be
 * freed either way. Errors SIM_EPARSE, SIM_ENOMEM. */
int xp_expected_read(struct xp_expected_table *t, const char *text,
    const char *name, struct sim_err *e);
void xp_expected_free(struct xp_expected_table *t);

/* That of C as it would be read back, so that numbers are rounded alike. */
int xp_expected_of(struct xp_expected_table *t, const struct res_cube *c,
    struct sim_err *e);

#endif
