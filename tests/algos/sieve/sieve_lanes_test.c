/* tests/algos/sieve/sieve_lanes_test.c -- arithmetic on grids, by libm.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_lanes.h"

#include <math.h>

#include "tests/test.h"

enum { TIMES = 3000 };

static void assert_close(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.17g is not within %g of %.17g", got, by, want);
}

/* Numbers of all sizes: UP is the logarithm's greatest, to both sides. */
static void lanes_draw(struct sim_rng *r, double up, double x[SIEVE_GRID])
{
	const double most = up * sim_rng_u01(r);
	for (unsigned g = 0; g < SIEVE_GRID; g++)
		x[g] = most * (2 * sim_rng_u01(r) - 1);
}

static void exp_and_ln_are_libms(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 1);
	for (unsigned k = 0; k < TIMES; k++) {
		double x[SIEVE_GRID], y[SIEVE_GRID], z[SIEVE_GRID];
		lanes_draw(&r, 700, x);
		sieve_lanes_exp(x, y);
		for (unsigned g = 0; g < SIEVE_GRID; g++) {
			assert_close(y[g] / exp(x[g]), 1, 2e-14);
			y[g] = exp(x[g]);
			z[g] = 1;
		}
		sieve_lanes_add_ln(y, 3, z);
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			assert_close(z[g], 1 + 3 * log(y[g]),
			    1e-14 + 1e-14 * fabs(z[g]));
	}
}

static void what_does_not_fit_is_cut(void **state)
{
	double x[SIEVE_GRID] = {-INFINITY, -1e300, -700, 700, 1e300, INFINITY},
	       y[SIEVE_GRID], z[SIEVE_GRID];
	(void)state;
	sieve_lanes_exp(x, y);
	for (unsigned g = 0; g < 6; g++)
		assert_close(y[g] / exp(g < 3 ? -700 : 700), 1, 1e-13);
	assert_close(y[6], 1, 0);
	sieve_lanes_mix(x, .25, z);
	assert_close(z[0], log(.75), 1e-15);
	assert_close(z[3], 700 + log(.25), 1e-12);
	assert_close(z[4], 1e300, 1e285);
}

static void mixtures_are_as_written(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 2);
	for (unsigned k = 0; k < TIMES; k++) {
		double x[SIEVE_GRID], y[SIEVE_GRID];
		const double q = 1 - .99 * sim_rng_u01(&r);
		lanes_draw(&r, 500, x);
		sieve_lanes_mix(x, q, y);
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			assert_close(y[g], log(1 - q + q * exp(x[g])),
			    1e-12 + 1e-14 * fabs(y[g]));
	}
}

/* Factors of all sizes, many and few of them, as many times as may be. */
static void factors_are_as_logarithms(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 3);
	for (unsigned k = 0; k < TIMES / 10; k++) {
		struct sieve_factor f[64];
		double p[SIEVE_GRID], got[SIEVE_GRID] = {0};
		const size_t n = sim_rng_below(&r, 65);
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			p[g] = -expm1(-1e-7 * exp(.54 * g));
		for (size_t i = 0; i < n; i++)
			f[i] = (struct sieve_factor){exp(28 * sim_rng_u01(&r)),
			    sim_rng_below(&r, k % 2 ? 4 : 30)};
		sieve_lanes_factors(p, f, n, got);
		for (unsigned g = 0; g < SIEVE_GRID; g++) {
			double want = 0;
			for (size_t i = 0; i < n; i++)
				want += f[i].n * log1p(p[g] * f[i].ic);
			assert_close(got[g], want, 1e-12 * (1 + n + want));
		}
	}
}

static void products_are_as_powers(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 4);
	for (unsigned k = 0; k < TIMES; k++) {
		double x[SIEVE_GRID], p[SIEVE_GRID], got[SIEVE_GRID],
		    terms[SIEVE_GRID];
		const struct sieve_term t[3] = {{.25, 1e3}, {.5, 20}, {.1, 7}};
		const uint32_t n = sim_rng_below(&r, 40), m = n % 5;
		const double b = sim_rng_u01(&r);
		for (unsigned g = 0; g < SIEVE_GRID; g++) {
			x[g] = sim_rng_u01(&r);
			p[g] = sim_rng_u01(&r);
			got[g] = terms[g] = 2;
		}
		sieve_lanes_either(x, 1 - b, b, n, got);
		sieve_lanes_terms(p, x, t, k % 4, m, b, terms);
		for (unsigned g = 0; g < SIEVE_GRID; g++) {
			const double want = 2 * pow(b + (1 - b) * x[g], n);
			double sum = 0;
			for (unsigned i = 0; i < k % 4; i++)
				sum += t[i].a * pow(1 + p[g] * t[i].ic, m);
			assert_close(got[g], want, 1e-13 * want);
			assert_close(terms[g] / (2 * (b + x[g] * sum)), 1,
			    1e-13);
		}
	}
}

static void sums_are_of_all(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 5);
	for (unsigned k = 0; k < TIMES; k++) {
		double x[SIEVE_GRID], y[SIEVE_GRID], z[SIEVE_GRID],
		    sum = 0, dot = 0, most = -INFINITY;
		lanes_draw(&r, 300, x);
		lanes_draw(&r, 300, y);
		const double got = sieve_lanes_scale(x, y, z);
		for (unsigned g = 0; g < SIEVE_GRID; g++) {
			most = fmax(most, x[g] + y[g]);
			sum += x[g];
			dot += x[g] * y[g];
		}
		assert_close(got, most, 0);
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			assert_close(z[g], exp(x[g] + y[g] - most), 1e-12);
		assert_close(sieve_lanes_sum(x), sum, 1e-9);
		assert_close(sieve_lanes_dot(x, y), dot, 1e-6);
		for (unsigned g = 0; g < SIEVE_GRID; g++)
			sum += 2 * y[g];
		sieve_lanes_add(y, 2, x);
		assert_close(sieve_lanes_sum(x), sum, 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exp_and_ln_are_libms),
	    cmocka_unit_test(what_does_not_fit_is_cut),
	    cmocka_unit_test(mixtures_are_as_written),
	    cmocka_unit_test(factors_are_as_logarithms),
	    cmocka_unit_test(products_are_as_powers),
	    cmocka_unit_test(sums_are_of_all),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_lanes", tests,
	    NULL, NULL);
}
