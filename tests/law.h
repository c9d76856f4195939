/* tests/law.h -- statistics that tests of random laws share.
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

/* Difference of a mean from a known value, or of two means, in standard
 * errors; 0 when both are constant and equal, infinite when not equal. */
double law_z(const struct law_mean *m, double want);
double law_z2(const struct law_mean *a, const struct law_mean *b);

#endif
