/* sim/ranks.h -- mean ranks of rivals over tasks, and whether they differ.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All rivals meet all tasks; of each task they get ranks, 1 for the greatest
 * score, equals sharing theirs. Scores of different tasks are so never compared.
 * Paper: J. Demsar, "Statistical Comparisons of Classifiers over Multiple Data
 * Sets", J. Mach. Learn. Res. 7 (2006), section 3.2.
 */
#ifndef SIM_RANKS_H
#define SIM_RANKS_H

#include <stddef.h>

/* MEAN[n_rivals] = the mean over tasks of the ranks by SCORE[n_tasks][n_rivals],
 * which holds no NaN. Domain n_tasks >= 1. Cost O(n_tasks n_rivals^2). */
void sim_ranks_mean(const double score[], size_t n_tasks, size_t n_rivals,
    double mean[]);

/* p of "all rivals are alike", by their mean ranks. CHI2 is Friedman's, F that of
 * Iman and Davenport, F-distributed with k - 1 and (k - 1)(n - 1) degrees of
 * freedom; either pointer may be NULL. Both are of ranks without ties, as Demsar
 * has them: where there are ties p is greater than it need be. It is never below
 * what n tasks that all agree show, k!^(1 - n). Of few tasks it is too small: of 6
 * and 3 rivals 0.023 where 0.052 is exact. NaN of fewer than two rivals or tasks. */
double sim_ranks_p(const double mean[], size_t n_tasks, size_t n_rivals,
    double *chi2, double *f);

/* Nemenyi's critical difference: of rivals that are all alike no two mean ranks are
 * further apart, but with probability ALPHA. It is that of many tasks; of few it
 * is wide, and rivals that differ may well seem alike. NaN as above. */
double sim_ranks_critical(size_t n_tasks, size_t n_rivals, double alpha);

/* P(the range of N independent standard normal numbers <= W). By the trapezoidal
 * rule, which is good to 1e-12 here; cost O(1). */
double sim_range_cdf(double w, size_t n);

#endif
