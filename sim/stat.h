/* sim/stat.h -- exact binomial intervals, sequential tests, quantiles, moments.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef SIM_STAT_H
#define SIM_STAT_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

/* Clopper-Pearson interval for K successes in N trials at confidence CONF
 * (0.95): P(X >= k | lo) = P(X <= k | hi) = (1 - conf) / 2. By bisection on the
 * binomial tails, since gsl_cdf_beta_Pinv fails on ordinary inputs.
 * N = 0 gives [0, 1]. Errors SIM_EINVAL for k > n or conf outside (0, 1).
 * Cost about 60 tail evaluations an end. */
int sim_binomial_interval(uint64_t k, uint64_t n, double conf, double *lo,
    double *hi, struct sim_err *e);

/* Wald's sequential probability ratio test of a success rate: H0 rate <= P0
 * (bad) against H1 rate >= P1 (good), error rates ALPHA (H1 accepted though
 * the rate is P0) and BETA (H0 accepted though the rate is P1).
 * Paper: A. Wald, "Sequential Tests of Statistical Hypotheses" (1945). */
enum sim_sprt_verdict { SIM_SPRT_GO_ON, SIM_SPRT_GOOD, SIM_SPRT_BAD };
struct sim_sprt {
	double win, lose;    /* what a success and a failure add */
	double upper, lower; /* log((1-beta)/alpha), log(beta/(1-alpha)) */
	double llr;
	uint64_t n;
};
int sim_sprt_init(struct sim_sprt *s, double p0, double p1, double alpha,
    double beta, struct sim_err *e);
enum sim_sprt_verdict sim_sprt_add(struct sim_sprt *s, int success);

/* Quantile Q in [0,1] of X[n] sorted ascending, linear between order
 * statistics (type 7 of Hyndman and Fan, the default of R and NumPy).
 * NaN when n = 0. */
double sim_quantile_sorted(const double *x, size_t n, double q);

/* Sort ascending in place, dropping NaN; returns how many remain. */
size_t sim_sort_finite(double *x, size_t n);

/* Running mean and variance (Welford). Zeroed is empty; variance NaN for
 * n < 2, mean NaN for n = 0. */
struct sim_moments {
	uint64_t n;
	double mean, m2;
};
void sim_moments_add(struct sim_moments *m, double x);
double sim_moments_mean(const struct sim_moments *m);
double sim_moments_var(const struct sim_moments *m);

#endif
