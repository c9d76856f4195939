/* results/calibration.h -- how far stated chances are what they say.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of components (links and switches, as an algorithm names them) of which a
 * chance of at least 1 % to have failed was stated, in bins by that chance
 * (RES_CHANCE_BINS), over all windows of some runs:
 *
 *	ECE = sum over bins of |expected failures - failures| / components
 *
 * which is the expected calibration error, the mean over bins, by their sizes, of
 * |mean stated chance - share that failed|. Components below 1 % do not count:
 * they are nearly all of a network and nearly never fail, so that with them any
 * error would be small. What fails unmentioned is for recall to tell.
 *
 * Finite samples err even if each chance is right, by about
 *
 *	sum over bins of sqrt(2 v / pi) / components,  v = n p (1 - p)
 *
 * with p the mean stated chance of a bin, which is too much where chances of a
 * bin differ. An error of that size says nothing against an algorithm.
 *
 * Paper  bins and the error as Naeini, Cooper, Hauskrecht (AAAI'15); bins of
 *        unequal width, since most chances are near 0 or 1
 */
#ifndef RESULTS_CALIBRATION_H
#define RESULTS_CALIBRATION_H

#include <stddef.h>

#include "results/cube.h"
#include "sim/err.h"
#include "sim/ratio.h"

enum {
#define EACH(X, bin, ...) RES_CHANCE_BIN_##bin,
	RES_CHANCE_BINS(, EACH)
#undef EACH
	    RES_N_CHANCE_BINS
};
extern const double res_chance_least[]; /* [RES_N_CHANCE_BINS] ascending */

/* Sums of one bin, in the order of their metrics. */
struct res_chance_bin {
	double n, stated, n_true;
};

/* The three of a bin (from 0) within an algorithm's metrics, in that order. */
static inline double *res_chance_sums(struct res_algo_metrics *m, size_t bin)
{
	return (double *)m + RES_ALGO_n_stated_1 + 3 * bin;
}

struct res_calibration {
	double n;             /* components */
	struct sim_ratio ece; /* lo, hi: 95 %, between runs */
	double if_right;      /* what it would be about if chances were right */
};

/* Of N runs, RUN[i] being the sums of run i; runs without a number (NaN) count
 * for nothing. The interval takes away one run at a time (the jackknife), and
 * Student's law; of fewer than two runs it is NaN. All is NaN without a
 * component. Errors SIM_ENOMEM. Cost O(n). */
int res_calibration(struct res_chance_bin (*run)[RES_N_CHANCE_BINS], size_t n,
    struct res_calibration *out, struct sim_err *e);

/* The same of the runs of a point that are done. Errors SIM_ENOMEM. */
int res_calibration_of(const struct res_cube *c, size_t point, size_t algo,
    struct res_calibration *out, struct sim_err *e);

#endif
