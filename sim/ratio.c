/* sim/ratio.c -- ratios of two sums over runs, with intervals between runs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/ratio.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdint.h>

#include "sim/stat.h"

static double ratio_sum(const double x[], size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

double sim_ratio_value(const struct sim_ratio_sample *s)
{
	const double den = ratio_sum(s->den, s->n);
	return den > 0 ? ratio_sum(s->num, s->n) / den : NAN;
}

/* What run I adds to the ratio's deviation, times sum den. */
static double residual(const struct sim_ratio_sample *s, double value, size_t i)
{
	return s->num[i] - value * s->den[i];
}

/* The variance of a sum of n independent terms whose sum is 0, from the sum of
 * their squares. One term shows none. */
static double variance_of_sum(double squares, size_t n)
{
	return n > 1 ? squares * (double)n / (double)(n - 1) : NAN;
}

/* The variance of sum num - r sum den, with R the ratio of the two. */
static double residual_variance(const struct sim_ratio_sample *s, double r)
{
	double squares = 0;
	for (size_t i = 0; i < s->n; i++)
		squares += residual(s, r, i) * residual(s, r, i);
	return variance_of_sum(squares, s->n);
}

double sim_ratio_se(const struct sim_ratio_sample *s)
{
	return sqrt(residual_variance(s, sim_ratio_value(s))) /
	    ratio_sum(s->den, s->n);
}

double sim_ratio_effective(const struct sim_ratio_sample *s)
{
	const double den = ratio_sum(s->den, s->n), r = sim_ratio_value(s);
	if (!(r > 0 && r < 1) || s->n < 2)
		return den;
	const double effect = residual_variance(s, r) / (den * r * (1 - r));
	return ceil(den / fmax(1, effect));
}

int sim_ratio_share(const struct sim_ratio_sample *s, double conf,
    struct sim_ratio *out, struct sim_err *e)
{
	const double num = ratio_sum(s->num, s->n);
	const double den = ratio_sum(s->den, s->n);
	*out = (struct sim_ratio){NAN, NAN, NAN};
	/* Beyond 2^53 sums of ones are not exact, and other values are no
	 * counts. */
	if (!(num >= 0 && num <= den && den < 0x1p53))
		return sim_fail(e, SIM_EINVAL, "%g of %g is no share.", num,
		    den);
	if (den == 0)
		return 0;
	const double trials = sim_ratio_effective(s);
	out->value = num / den;
	/* A single trial is right or wrong, and what lies between is neither. */
	if (trials < 2)
		return sim_share_interval(out->value, 1, conf, &out->lo,
		    &out->hi, e);
	/* Of fewer trials than were counted the hits are rounded, towards the
	 * middle so that only none of none is never, and all of all always. */
	double hits = num == 0 || num == den
	    ? out->value * trials
	    : fmin(fmax(round(out->value * trials), 1), trials - 1);
	return sim_binomial_interval((uint64_t)fmax(hits, 0), (uint64_t)trials,
	    conf, &out->lo, &out->hi, e);
}

/* Half the width of Student's interval for a standard error of SE. A single run
 * shows none, and may lie anywhere. */
static double student_half(double se, size_t n, double conf)
{
	if (n < 2)
		return INFINITY;
	return se * gsl_cdf_tdist_Qinv((1 - conf) / 2, (double)(n - 1));
}

void sim_ratio_mean(const struct sim_ratio_sample *s, double conf,
    struct sim_ratio *out)
{
	const double r = sim_ratio_value(s);
	const double half = student_half(sim_ratio_se(s), s->n, conf);
	*out = (struct sim_ratio){r, r - half, r + half};
}

void sim_ratio_difference(const struct sim_ratio_sample *a,
    const struct sim_ratio_sample *b, double conf, double step,
    struct sim_ratio *out)
{
	const double in_a = ratio_sum(a->den, a->n), ra = sim_ratio_value(a);
	const double in_b = ratio_sum(b->den, b->n), rb = sim_ratio_value(b);
	double squares = 0;
	for (size_t i = 0; i < a->n; i++) {
		const double d =
		    residual(a, ra, i) / in_a - residual(b, rb, i) / in_b;
		squares += d * d;
	}
	const double half =
	    fmax(student_half(sqrt(variance_of_sum(squares, a->n)), a->n, conf),
		-log(1 - conf) * step);
	*out = (struct sim_ratio){ra - rb, ra - rb - half, ra - rb + half};
}
