/* sim/stat.h -- binomial intervals, tests, quantiles.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_STAT_H
#define SIM_STAT_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

/* The most trials sim_binomial_interval() takes. */
#define SIM_BINOMIAL_MAX_N UINT64_C(1000000000000)

/* Clopper-Pearson interval for K successes in N trials at confidence CONF
 * (0.95): P(X >= k | lo) = P(X <= k | hi) = (1 - conf) / 2, by Newton's method
 * on sums of the binomial law. Relative error of lo and hi below 1e-13 for
 * n <= 1e7. N = 0 gives [0, 1], k = 0 gives lo = 0, k = n gives hi = 1, all
 * exact.
 * Errors SIM_EINVAL for k > n or conf outside (0, 1), SIM_ERANGE for
 * n > SIM_BINOMIAL_MAX_N. Cost O(sqrt(n)): 3 us at n = 100, 0.2 ms at 1e7.
 * Paper: C. Clopper, E. Pearson, Biometrika 26 (1934). */
int sim_binomial_interval(uint64_t k, uint64_t n, double conf, double *lo,
    double *hi, struct sim_err *e);

/* The same for hits that may come in parts, 0 <= k <= n: of those between two
 * counts the lower end is that of the one below, the upper that of the one
 * above. */
int sim_share_interval(double k, uint64_t n, double conf, double *lo,
    double *hi, struct sim_err *e);

/* Wald's sequential probability ratio test of a success rate: H0 rate <= P0
 * (bad) against H1 rate >= P1 (good), error rates ALPHA (H1 accepted though
 * the rate is P0) and BETA (H0 accepted though the rate is P1). Wald's bounds
 * on what is really met: alpha / (1 - beta) and beta / (1 - alpha).
 * Paper: A. Wald, "Sequential Tests of Statistical Hypotheses" (1945). */
enum sim_sprt_verdict { SIM_SPRT_GO_ON, SIM_SPRT_GOOD, SIM_SPRT_BAD };
struct sim_sprt {
	double win, lose;    /* what a success and a failure add */
	double upper, lower; /* log((1-beta)/alpha), log(beta/(1-alpha)) */
	double llr;
	uint64_t n;
};

/* Errors SIM_EINVAL unless 0 < p0 < p1 < 1, 0 < alpha, beta and
 * alpha + beta < 1. */
int sim_sprt_init(struct sim_sprt *s, double p0, double p1, double alpha,
    double beta, struct sim_err *e);

/* The first verdict other than GO_ON stands: what is added later is ignored. */
enum sim_sprt_verdict sim_sprt_add(struct sim_sprt *s, int success);

/* z of the difference of two means A and B of N_A and N_B independent runs (at
 * least 1), with estimates of the variance of each mean: about standard normal
 * if both samples are of one law. The variance is that of both samples thrown
 * together, their difference included, as of a permutation test; so samples
 * without any variance have no infinite z: |z| <= sqrt(2 n - 1), n the lesser
 * of the two. Of unequal samples the larger counts as one of n, as without that
 * a skewed law gives too many large z.
 * Paper: E. Pitman, "Significance Tests Which May Be Applied to Samples from
 * Any Populations", J. R. Stat. Soc. Suppl. 4 (1937). */
double sim_means_z(double a, double var_a, double n_a, double b, double var_b,
    double n_b);

/* Quantile Q in [0,1] of X[n] sorted ascending, linear between order
 * statistics (type 7 of Hyndman and Fan, the default of R and NumPy).
 * NaN when n = 0. X holds no NaN. */
double sim_quantile_sorted(const double *x, size_t n, double q);

/* Sort ascending in place, dropping NaN (infinities stay); returns how many
 * remain. Cost O(n) for numbers that are spread: a radix sort. */
size_t sim_sort_finite(double *x, size_t n);

#endif
