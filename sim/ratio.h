/* sim/ratio.h -- ratios of two sums over runs, with intervals between runs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs are independent; what is counted within one is not: its flows share the
 * faults, its links the traffic. So each interval here takes the variance
 * between runs, by linearising R = sum num / sum den (L. Kish, Survey Sampling,
 * 1965, section 6.3): run i contributes (num_i - R den_i) / sum den, and the
 * variance of R is that of a sum of n such terms.
 *
 * All arrays are [n], one entry a run, den_i >= 0. A pair of samples is of the
 * same runs, entry by entry. Without a run, or with sum den = 0, all is NaN.
 * Cost O(n), and for shares that of sim_binomial_interval().
 */
#ifndef SIM_RATIO_H
#define SIM_RATIO_H

#include <stddef.h>

#include "sim/err.h"

struct sim_ratio_sample {
	const double *num, *den;
	size_t n;
};

struct sim_ratio {
	double value, lo, hi;
};

/* sum num / sum den, or NaN. */
double sim_ratio_value(const struct sim_ratio_sample *s);

/* The standard error of that, or NaN of fewer than two runs. */
double sim_ratio_se(const struct sim_ratio_sample *s);

/* How many independent trials would tell as much of a share as the sum den of
 * them do: sum den over the design effect, which is the variance between runs
 * over that of independent trials, taken as 1 where it seems less. A share of 0
 * or 1, or of a single run, shows no variance: then sum den. */
double sim_ratio_effective(const struct sim_ratio_sample *s);

/* A share, 0 <= num_i <= den_i, den_i whole: the exact binomial interval for the
 * effective trials at confidence CONF. Errors SIM_EINVAL when the sums are no
 * share, those of sim_binomial_interval(). */
int sim_ratio_share(const struct sim_ratio_sample *s, double conf,
    struct sim_ratio *out, struct sim_err *e);

/* Any ratio: Student's interval with n - 1 degrees of freedom. Of runs that do
 * not differ it is the value alone, of one run it is all numbers. */
void sim_ratio_mean(const struct sim_ratio_sample *s, double conf,
    struct sim_ratio *out);

/* The ratio of A less that of B, paired by run: what both have in common
 * cancels. STEP is the least by which a difference could have shown, such as
 * one trial of a share: its interval is never narrower than what `no such step
 * in n` allows, -ln(1 - conf) steps either way ("rule of three"). */
void sim_ratio_difference(const struct sim_ratio_sample *a,
    const struct sim_ratio_sample *b, double conf, double step,
    struct sim_ratio *out);

#endif
