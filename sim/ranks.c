/* sim/ranks.c -- mean ranks of rivals over tasks, and whether they differ.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/ranks.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

void sim_ranks_mean(const double score[], size_t n_tasks, size_t n_rivals,
    double mean[])
{
	for (size_t i = 0; i < n_rivals; i++) {
		double sum = 0;
		for (size_t t = 0; t < n_tasks; t++) {
			const double *s = score + t * n_rivals;
			/* Half of it is its own, as it equals itself. */
			double rank = 0.5;
			for (size_t k = 0; k < n_rivals; k++)
				rank += s[k] > s[i] ? 1 : 0.5 * (s[k] == s[i]);
			sum += rank;
		}
		mean[i] = sum / (double)n_tasks;
	}
}

double sim_ranks_p(const double mean[], size_t n_tasks, size_t n_rivals,
    double *chi2, double *f)
{
	const double n = (double)n_tasks, k = (double)n_rivals;
	double squares = 0, c = NAN, ratio = NAN;
	for (size_t i = 0; i < n_rivals; i++)
		squares += mean[i] * mean[i];
	if (n_tasks >= 2 && n_rivals >= 2) {
		c = 12 * n / (k * (k + 1)) *
		    (squares - k * (k + 1) * (k + 1) / 4);
		/* Where all tasks agree nothing is left to divide by. */
		const double left = n * (k - 1) - c;
		ratio = left > 1e-9 ? (n - 1) * c / left : INFINITY;
	}
	if (chi2)
		*chi2 = c;
	if (f)
		*f = ratio;
	if (isnan(ratio))
		return NAN;
	/* Of alike ones each of the k! orders of a task is as likely. */
	const double least = exp((1 - n) * lgamma(k + 1));
	return isinf(ratio)
	    ? least
	    : fmax(least,
		  gsl_cdf_fdist_Q(fmax(ratio, 0), k - 1, (k - 1) * (n - 1)));
}

/* With the least at z all others are within w above it. */
double sim_range_cdf(double w, size_t n)
{
	const double step = 1. / 32;
	double sum = 0;
	if (!(w > 0) || n < 2)
		return n < 2;
	for (int i = -9 * 32; i <= 9 * 32; i++) {
		const double z = i * step;
		const double within =
		    gsl_cdf_ugaussian_P(z + w) - gsl_cdf_ugaussian_P(z);
		sum += gsl_ran_ugaussian_pdf(z) * pow(within, (double)n - 1);
	}
	return fmin(1, (double)n * step * sum);
}

double sim_ranks_critical(size_t n_tasks, size_t n_rivals, double alpha)
{
	const double n = (double)n_tasks, k = (double)n_rivals;
	double lo = 0, hi = 40;
	if (n_tasks < 2 || n_rivals < 2)
		return NAN;
	for (int i = 0; i < 60; i++) {
		const double at = 0.5 * (lo + hi);
		if (sim_range_cdf(at, n_rivals) < 1 - alpha)
			lo = at;
		else
			hi = at;
	}
	/* A mean rank has variance k (k + 1) / 12 n, less what they share. */
	return hi * sqrt(k * (k + 1) / (12 * n));
}
