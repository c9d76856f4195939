/* tests/rigs/law.c -- statistics that tests of random laws share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/law.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

double law_chi2(const uint64_t got[], const double want[], size_t n)
{
	double total = 0, weight = 0, chi2 = 0;
	double pool_got = 0, pool_want = 0;
	unsigned cells = 0;
	for (size_t i = 0; i < n; i++) {
		total += (double)got[i];
		weight += want[i];
		if (want[i] == 0 && got[i] > 0)
			return 0;
	}
	for (size_t i = 0; i < n; i++) {
		double x = (double)got[i], mean = want[i] / weight * total;
		if (mean < 10) {
			pool_got += x;
			pool_want += mean;
			continue;
		}
		chi2 += (x - mean) * (x - mean) / mean;
		cells++;
	}
	if (pool_want >= 10) {
		chi2 +=
		    (pool_got - pool_want) * (pool_got - pool_want) / pool_want;
		cells++;
	} else if (pool_got > 0 &&
	    gsl_cdf_poisson_Q((unsigned)pool_got - 1, pool_want) < 1e-9) {
		return 0;
	}
	return cells > 1 ? gsl_cdf_chisq_Q(chi2, cells - 1) : 1;
}

double law_chi2_uniform(const uint64_t got[], size_t n)
{
	double total = 0, chi2 = 0;
	for (size_t i = 0; i < n; i++)
		total += (double)got[i];
	const double mean = total / (double)n;
	for (size_t i = 0; i < n; i++)
		chi2 +=
		    ((double)got[i] - mean) * ((double)got[i] - mean) / mean;
	return gsl_cdf_chisq_Q(chi2, (double)n - 1);
}

void law_add(struct law_mean *m, double x)
{
	m->n++;
	m->sum += x;
	m->squares += x * x;
}

double law_mean(const struct law_mean *m)
{
	return m->sum / m->n;
}

double law_se(const struct law_mean *m)
{
	const double mean = law_mean(m);
	const double var = (m->squares - m->n * mean * mean) / (m->n - 1);
	return var > 0 ? sqrt(var / m->n) : 0;
}

double law_z(const struct law_mean *m, double want)
{
	const double difference = law_mean(m) - want;
	return difference == 0 ? 0 : difference / law_se(m);
}

double law_chi2_equal(const uint64_t a[], const uint64_t b[], size_t n)
{
	double chi2 = 0, pool_a = 0, pool_b = 0;
	unsigned cells = 0;
	for (size_t i = 0; i <= n; i++) {
		double x = pool_a, y = pool_b;
		if (i < n) {
			x = (double)a[i];
			y = (double)b[i];
			if (x + y < 20) {
				pool_a += x;
				pool_b += y;
				continue;
			}
		} else if (x + y < 20) {
			break;
		}
		chi2 += (x - y) * (x - y) / (x + y);
		cells++;
	}
	return cells > 0 ? gsl_cdf_chisq_Q(chi2, cells) : 1;
}
