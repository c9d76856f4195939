/* sim/stat.c -- exact binomial intervals, sequential tests and quantiles.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/stat.h"

#include <assert.h>
#include <float.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_log.h>
#include <math.h>
#include <string.h>

/* --- Clopper-Pearson -------------------------------------------------------*/
/* k log(k / m) + m - k >= 0, without cancellation where k is near m. */
static double deviance(double k, double m)
{
	double x = (m - k) / k;
	if (fabs(x) < 0.5)
		return -k * gsl_sf_log_1plusx_mx(x);
	return k * log(k / m) + m - k;
}

/* log P(X = k) for 0 < k < n, by Stirling's formula with its error terms
 * (C. Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000).
 * GSL's own subtracts logarithms of factorials: 8 digits at n = 1e7. */
static double log_pmf(double k, double n, double p, double q)
{
	double stirling = gsl_sf_gammastar(n) / gsl_sf_gammastar(k);
	stirling /= gsl_sf_gammastar(n - k);
	double far = deviance(k, n * p) + deviance(n - k, n * q);
	return log(stirling / sqrt(2 * M_PI * k * ((n - k) / n))) - far;
}

/* P(X >= k) / P(X = k): positive terms that fall faster than a geometric
 * series, as p <= k / n. About 8 standard deviations of them matter. */
static double tail_over_pmf(double k, double n, double odds)
{
	double term = 1, sum = 1;
	for (double j = k; j < n; j++) {
		double ratio = (n - j) / (j + 1) * odds;
		term *= ratio;
		sum += term;
		/* What is left out is at most the geometric series term * ratio
		 * / (1 - ratio). */
		if (term * ratio <= DBL_EPSILON / 4 * sum * (1 - ratio))
			break;
	}
	return sum;
}

/* Solve P(X >= k | p) = TAIL for 0 < k < n: p and q = 1 - p, both to full
 * relative precision, hence in u = log(p / q).
 *
 * g(u) = log P(X >= k) has the derivative k q P(X = k) / P(X >= k), which falls
 * as u grows: g is concave, so each tangent lies above it and Newton's steps,
 * after the first from p = k / n (where P(X >= k) >= 1/2 >= TAIL), only climb
 * to the root from below. Convergence is quadratic: a residue of 1e-9 is gone
 * after one step more. */
static void solve_tail(double k, double n, double tail, double *p, double *q)
{
	double u = log(k / (n - k)), residue;
	do {
		*p = 1 / (1 + exp(-u));
		*q = 1 / (1 + exp(u));
		double s = tail_over_pmf(k, n, exp(u));
		residue = log(tail) - log_pmf(k, n, *p, *q) - log(s);
		u += residue * s / (k * *q);
	} while (fabs(residue) > 1e-9);
	*p = 1 / (1 + exp(-u));
	*q = 1 / (1 + exp(u));
}

int sim_binomial_interval(uint64_t k, uint64_t n, double conf, double *lo,
    double *hi, struct sim_err *e)
{
	if (!(conf > 0 && conf < 1))
		return sim_fail(e, SIM_EINVAL,
		    "a confidence of %g is not in (0, 1).", conf);
	if (k > n)
		return sim_fail(e, SIM_EINVAL,
		    "%llu successes in %llu trials: not more than trials.",
		    (unsigned long long)k, (unsigned long long)n);
	if (n > SIM_BINOMIAL_MAX_N)
		return sim_fail(e, SIM_ERANGE,
		    "%llu trials: an interval is made of at most %llu.",
		    (unsigned long long)n,
		    (unsigned long long)SIM_BINOMIAL_MAX_N);
	/* Without failures, or without successes, the tail is a single power,
	 * which is solved directly: lo^n = tail and (1 - hi)^n = tail. */
	double tail = (1 - conf) / 2, other;
	*lo = 0;
	*hi = 1;
	if (k > 0 && k == n)
		*lo = exp(log(tail) / (double)n);
	else if (k > 0)
		solve_tail((double)k, (double)n, tail, lo, &other);
	/* For hi count failures: P(X <= k) = P(n - X >= n - k). */
	if (k < n && k == 0)
		*hi = -expm1(log(tail) / (double)n);
	else if (k < n)
		solve_tail((double)(n - k), (double)n, tail, &other, hi);
	return 0;
}

int sim_share_interval(double k, uint64_t n, double conf, double *lo,
    double *hi, struct sim_err *e)
{
	double between;
	if (!(k >= 0 && k <= (double)n))
		return sim_fail(e, SIM_EINVAL,
		    "%g hits in %llu trials: not from none to all of them.", k,
		    (unsigned long long)n);
	const uint64_t below = (uint64_t)k;
	int rc = sim_binomial_interval(below, n, conf, lo, hi, e);
	if (rc == 0 && (double)below < k)
		rc = sim_binomial_interval(below + 1, n, conf, &between, hi, e);
	return rc;
}

/* --- sequential test -------------------------------------------------------*/
static int inside_0_1(double x)
{
	return x > 0 && x < 1;
}

int sim_sprt_init(struct sim_sprt *s, double p0, double p1, double alpha,
    double beta, struct sim_err *e)
{
	if (!(inside_0_1(p0) && inside_0_1(p1) && p0 < p1))
		return sim_fail(e, SIM_EINVAL,
		    "rates %g and %g are not 0 < p0 < p1 < 1.", p0, p1);
	if (!(inside_0_1(alpha) && inside_0_1(beta) && alpha + beta < 1))
		return sim_fail(e, SIM_EINVAL,
		    "error rates %g and %g are not in (0, 1) with a sum below "
		    "1.",
		    alpha, beta);
	/* A success is likelier under H1 and adds to the log-likelihood ratio,
	 * a failure takes from it; Wald's two bounds on it end the test.
	 * log1p() keeps all digits of rates as small as 1e-5. */
	*s = (struct sim_sprt){
	    .win = log(p1 / p0),
	    .lose = log1p(-p1) - log1p(-p0),
	    .upper = log((1 - beta) / alpha),
	    .lower = log(beta / (1 - alpha)),
	};
	return 0;
}

static enum sim_sprt_verdict stat_verdict(const struct sim_sprt *s)
{
	if (s->llr >= s->upper)
		return SIM_SPRT_GOOD;
	return s->llr <= s->lower ? SIM_SPRT_BAD : SIM_SPRT_GO_ON;
}

enum sim_sprt_verdict sim_sprt_add(struct sim_sprt *s, int success)
{
	if (stat_verdict(s) == SIM_SPRT_GO_ON) {
		s->n++;
		s->llr += success ? s->win : s->lose;
	}
	return stat_verdict(s);
}

/* --- two samples -----------------------------------------------------------*/
double sim_means_z(double a, double var_a, double n_a, double b, double var_b,
    double n_b)
{
	const double n = fmin(n_a, n_b), d = a - b;
	/* Of one run each, and of the difference between the samples. */
	const double within = (var_a * n_a + var_b * n_b) * (n - 1);
	const double whole = within + n * d * d / 2;
	if (d == 0)
		return 0;
	return d / sqrt(whole / (2 * n - 1) * 2 / n);
}

/* --- order statistics ------------------------------------------------------*/
double sim_quantile_sorted(const double *x, size_t n, double q)
{
	assert(q >= 0 && q <= 1);
	if (n == 0)
		return NAN;
	double at = (double)(n - 1) * q;
	size_t i = (size_t)at;
	double part = at - (double)i;
	/* Equal neighbours and exact hits are returned as they are: with an
	 * infinite value the formula below would give inf - inf or 0 * inf.
	 * Otherwise AT is below n - 1, so x[i + 1] exists. */
	if (part == 0 || x[i] == x[i + 1])
		return x[i];
	return (1 - part) * x[i] + part * x[i + 1];
}

/* --- sorting ---------------------------------------------------------------*/
/* So many are sorted one by one. */
enum { FEW = 32 };

/* Integers that are in the order of the numbers, -0 before 0. */
static uint64_t stat_key(double x)
{
	uint64_t k;
	memcpy(&k, &x, sizeof(k));
	return k ^ (k >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
}

static void stat_insert(double *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const double moved = x[i];
		size_t k = i;
		for (; k > 0 && x[k - 1] > moved; k--)
			x[k] = x[k - 1];
		x[k] = moved;
	}
}

/* Into 256 bins by the 8 highest bits in which any two keys differ, in place, and
 * each bin likewise. Paper: P. McIlroy, K. Bostic and M. D. McIlroy, "Engineering
 * Radix Sort", Computing Systems 6 (1993), "American flag sort". */
static void stat_sort(double *x, size_t n)
{
	size_t next[256] = {0}, end[256];
	uint64_t differ = 0;
	if (n <= FEW) {
		stat_insert(x, n);
		return;
	}
	for (size_t i = 1; i < n; i++)
		differ |= stat_key(x[i]) ^ stat_key(x[0]);
	if (differ == 0)
		return;
	const int top = 63 - __builtin_clzll(differ);
	const int shift = top > 7 ? top - 7 : 0;
	for (size_t i = 0; i < n; i++)
		next[stat_key(x[i]) >> shift & 255]++;
	for (size_t b = 0, sum = 0; b < 256; b++) {
		sum += next[b];
		end[b] = sum;
		next[b] = sum - next[b];
	}
	for (size_t b = 0; b < 256; b++)
		while (next[b] < end[b]) {
			double moved = x[next[b]];
			size_t to;
			while ((to = stat_key(moved) >> shift & 255) != b) {
				const double met = x[next[to]];
				x[next[to]++] = moved;
				moved = met;
			}
			x[next[b]++] = moved;
		}
	for (size_t b = 0, from = 0; b < 256; from = end[b++])
		stat_sort(x + from, end[b] - from);
}

size_t sim_sort_finite(double *x, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]))
			x[kept++] = x[i];
	stat_sort(x, kept);
	return kept;
}
