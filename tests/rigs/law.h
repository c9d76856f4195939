/* tests/rigs/law.h -- statistics that tests of random laws share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bounds are wide enough to fire rarely under a random seed and, the seeds
 * being fixed, never twice differently. Tests say how often theirs would.
 */
#ifndef TESTS_LAW_H
#define TESTS_LAW_H

#include <stddef.h>
#include <stdint.h>

/* P-value of Pearson's chi-square test of GOT[n] against cells expected in
 * proportion to WANT[n]. Cells that expect fewer than 10 are pooled; a count
 * in a cell that expects exactly 0 gives 0. */
double law_chi2(const uint64_t got[], const double want[], size_t n);

/* The same against equal cells. */
double law_chi2_uniform(const uint64_t got[], size_t n);

/* Mean and variance of a feature over epochs. Zeroed is empty. */
struct law_mean {
	double n, sum, squares;
};
void law_add(struct law_mean *m, double x);
double law_mean(const struct law_mean *m);
double law_se(const struct law_mean *m); /* standard error of the mean */

/* Difference of the mean from a known value, in standard errors; 0 when all
 * are that value. */
double law_z(const struct law_mean *m, double want);

/* P-value of equal laws for two histograms of about as many draws, in which
 * counts of a cell vary no more than Poisson counts do. Cells with fewer than
 * 20 draws in both together are pooled. */
double law_chi2_equal(const uint64_t a[], const uint64_t b[], size_t n);

#endif
