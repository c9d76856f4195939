/* algos/everflow/ecmp_cause.c -- why flows may be spread as they are.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/ecmp_cause.h"

#include <math.h>

enum { MAX_SORTS = 1 << ALGO_ECMP_MAX_BITS };

/* log(exp(a) + exp(b)) */
static double ecmp_log_add(double a, double b)
{
	const double hi = fmax(a, b), lo = fmin(a, b);
	return isinf(hi) ? hi : hi + log1p(exp(lo - hi));
}

static double ecmp_total(const double count[], uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += count[i];
	return sum;
}

double algo_ecmp_even(const double count[], uint32_t n)
{
	return -ecmp_total(count, n) * log(n);
}

double algo_ecmp_weights(const double count[], uint32_t n)
{
	const double all = ecmp_total(count, n);
	double sum = -INFINITY;
	uint32_t k = 0;
	for (int step = -16; step <= 16; step++) {
		const double log_w = step * M_LN2 / 4;
		const double log_sum = log(exp(log_w) + n - 1);
		if (step == 0)
			continue;
		for (uint32_t i = 0; i < n; i++, k++)
			sum =
			    ecmp_log_add(sum, count[i] * log_w - all * log_sum);
	}
	return sum - log(k);
}

static double ecmp_log_choose(uint32_t n, uint32_t k)
{
	return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

double algo_ecmp_narrowed(const double count[], uint32_t n)
{
	const double all = ecmp_total(count, n);
	double sum = -INFINITY;
	uint32_t used = 0;
	for (uint32_t i = 0; i < n; i++)
		used += count[i] > 0;
	for (uint32_t m = used > 0 ? used : 1; m < n; m++)
		sum = ecmp_log_add(sum,
		    ecmp_log_choose(n - used, m - used) -
			ecmp_log_choose(n, m) - all * log(m));
	return sum - log(n - 1);
}

/* --- few bits ------------------------------------------------------------- */
/* What S of N sorts for a next hop of COUNT add, times a factor to the power of
 * s that makes it greatest near the s that fits: all s together are N, so it can
 * be taken out again. */
static double sorts_term(double count, uint32_t s, double log_tilt,
    const double log_of[])
{
	if (s == 0)
		return count > 0 ? -INFINITY : 0;
	return count * log_of[s] + s * log_tilt - lgamma(s + 1.0);
}

/* SUM[0..n] times a series of terms; returns what it was scaled by. */
static double sorts_join(double sum[], const double term[], uint32_t n)
{
	double out[MAX_SORTS + 1] = {0}, most = 0;
	for (uint32_t i = 0; i <= n; i++)
		for (uint32_t k = 0; sum[i] > 0 && k <= n - i; k++)
			out[i + k] += sum[i] * term[k];
	for (uint32_t i = 0; i <= n; i++)
		most = fmax(most, out[i]);
	for (uint32_t i = 0; i <= n && most > 0; i++)
		sum[i] = out[i] / most;
	return most;
}

double algo_ecmp_bits(const double count[], uint32_t n, uint32_t bits)
{
	const uint32_t sorts = UINT32_C(1) << bits;
	const double all = ecmp_total(count, n);
	const double log_tilt = log((double)sorts / n) - all / sorts;
	double sum[MAX_SORTS + 1] = {1}, term[MAX_SORTS + 1];
	double log_of[MAX_SORTS + 1] = {0};
	double l = lgamma(sorts + 1.0) - sorts * (log(n) + log_tilt);
	for (uint32_t s = 1; s <= sorts; s++)
		log_of[s] = log((double)s / sorts);
	for (uint32_t i = 0; i < n; i++) {
		double most = -INFINITY;
		for (uint32_t s = 0; s <= sorts; s++) {
			term[s] = sorts_term(count[i], s, log_tilt, log_of);
			most = fmax(most, term[s]);
		}
		for (uint32_t s = 0; s <= sorts; s++)
			term[s] = exp(term[s] - most);
		l += most + log(sorts_join(sum, term, sorts));
	}
	return l + log(sum[sorts]);
}

/* --- together ------------------------------------------------------------- */
static double causes_score(const struct algo_ecmp_likely l[], size_t n,
    const struct algo_ecmp_prior *p, const uint8_t cause[])
{
	size_t of[ALGO_ECMP_MAX_CAUSES] = {0};
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		sum += l[i].of[cause[i]] +
		    log((double)of[cause[i]] + p->other * p->of[cause[i]]) -
		    log((double)i + p->other);
		of[cause[i]]++;
	}
	return sum;
}

/* Change one at a time as long as it becomes likelier. */
static void causes_climb(const struct algo_ecmp_likely l[], size_t n,
    const struct algo_ecmp_prior *p, uint8_t cause[])
{
	enum { MAX_ROUNDS = 20 };
	size_t of[ALGO_ECMP_MAX_CAUSES] = {0};
	int changed = 1;
	for (size_t i = 0; i < n; i++)
		of[cause[i]]++;
	for (int round = 0; round < MAX_ROUNDS && changed; round++) {
		changed = 0;
		for (size_t i = 0; i < n; i++) {
			uint8_t best = cause[i];
			double most = -INFINITY;
			of[cause[i]]--;
			for (uint32_t c = 0; c < p->n_causes; c++) {
				const double x = l[i].of[c] +
				    log((double)of[c] + p->other * p->of[c]);
				if (x > most) {
					most = x;
					best = (uint8_t)c;
				}
			}
			changed |= best != cause[i];
			cause[i] = best;
			of[best]++;
		}
	}
}

/* Climb from cause START of all, or from the best of each alone. */
static double causes_from(const struct algo_ecmp_likely l[], size_t n,
    const struct algo_ecmp_prior *p, uint32_t start, uint8_t cause[])
{
	for (size_t i = 0; i < n; i++) {
		cause[i] = start < p->n_causes ? (uint8_t)start : 0;
		for (uint32_t c = 0; c < p->n_causes && start == p->n_causes;
		     c++)
			if (l[i].of[c] > l[i].of[cause[i]])
				cause[i] = (uint8_t)c;
	}
	causes_climb(l, n, p, cause);
	return causes_score(l, n, p, cause);
}

void algo_ecmp_causes(const struct algo_ecmp_likely l[], size_t n,
    const struct algo_ecmp_prior *p, uint8_t cause[])
{
	uint32_t best = p->n_causes;
	double most = -INFINITY;
	for (uint32_t start = 0; start <= p->n_causes; start++) {
		const double x = causes_from(l, n, p, start, cause);
		if (x > most) {
			most = x;
			best = start;
		}
	}
	causes_from(l, n, p, best, cause);
}
