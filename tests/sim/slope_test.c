/* tests/sim/slope_test.c -- slopes and the test of signs: closed forms, its law.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/slope.h"

#include <gsl/gsl_randist.h>

#include "tests/test.h"

static void a_line_has_its_slope(void **state)
{
	const double x[] = {1, 2, 5, 9.5}, y[] = {-1, 1, 7, 16};
	const double same[] = {3, 3, 3, 3};
	(void)state;
	assert_near(sim_slope(x, y, 4), 2, 1e-14);
	assert_near(sim_slope(x, same, 4), 0, 1e-14);
	assert_true(isnan(sim_slope(same, x, 4)));
	assert_true(isnan(sim_slope(x, y, 1)));
	assert_true(isnan(sim_slope(x, y, 0)));
	/* (0,0), (1,0), (2,3): by hand sum xy = 3, sum xx = 2. */
	assert_near(sim_slope((double[]){0, 1, 2}, (double[]){0, 0, 3}, 3), 1.5,
	    1e-14);
}

static void signs_by_hand(void **state)
{
	const double alike[] = {1, 1, 1, 1, 1}, zero[] = {0, 0, 0};
	const double grows[] = {1, 2, 4, 8, 16}, one_less[] = {-1, 2, 4, 8, 16};
	const double none[] = {0, 1, 1, 1};
	double many[SIM_SIGNS_EXACT + 2];
	(void)state;
	assert_near(sim_signs_p(alike, 5, 0), 2.0 / 32, 0);
	assert_near(sim_signs_p(grows, 5, 0), 2.0 / 32, 0);
	/* Sums of powers of two are all different: one is greater. */
	assert_near(sim_signs_p(one_less, 5, 0), 4.0 / 32, 0);
	assert_near(sim_signs_p(zero, 3, 0), 1, 0);
	/* Each of the signs that are drawn has a sum of 0 or more. */
	for (size_t i = 0; i < SIM_SIGNS_EXACT + 2; i++)
		many[i] = i % 2 ? -1 : 1;
	assert_near(sim_signs_p(many, SIM_SIGNS_EXACT + 2, 0), 1, 0);
	assert_near(sim_signs_p(none, 4, 0), 4.0 / 16, 0);
	assert_near(sim_signs_p(alike, 1, 0), 1, 0);
	assert_true(isnan(sim_signs_p(alike, 0, 0)));
	/* 1.1 + 2.2 - 3.3 is not 0 in doubles, and is taken for it. */
	assert_near(sim_signs_p((double[]){1.1, 2.2, -3.3}, 3, 0), 1, 0);
	/* The least is that of numbers all of one sign; of one, or none, 1. */
	for (size_t n = 1; n <= 5; n++)
		assert_near(sim_signs_least(n), sim_signs_p(alike, n, 0), 0);
	assert_near(sim_signs_least(0), 1, 0);
	assert_near(sim_signs_least(20), 0x1p-19, 0);
	assert_near(sim_signs_least(21), 1.0 / 1048577, 0);
}

/* However numbers are scaled, ordered or all turned, p is the same. */
static void p_does_not_depend_on_scale_order_or_sign(void **state)
{
	struct sim_rng rng;
	(void)state;
	for (uint32_t run = 0; run < 50; run++) {
		double b[9], c[9];
		test_rng(&rng, run);
		for (unsigned i = 0; i < 9; i++) {
			b[i] = gsl_ran_gaussian(&rng.gsl, 1) + 0.4;
			c[8 - i] = -7.5 * b[i];
		}
		assert_near(sim_signs_p(b, 9, 0), sim_signs_p(c, 9, 0), 0);
	}
}

/* Of 6 numbers of a continuous symmetric law with scales of their own, p is one
 * of 1/32, 2/32, ... 1, all alike. Chi-square with 31 degrees of freedom over
 * 32,000 samples; its bound of 70 fails by chance once in 1.2e4. */
static void under_the_null_p_is_uniform(void **state)
{
	unsigned n_of[32] = {0};
	double chi = 0;
	struct sim_rng rng;
	(void)state;
	test_rng(&rng, 1000);
	for (unsigned k = 0; k < 32000; k++) {
		double b[6];
		for (unsigned i = 0; i < 6; i++)
			b[i] = gsl_ran_cauchy(&rng.gsl, 0.1 + i);
		const double p = sim_signs_p(b, 6, 0) * 32;
		assert_true(p == floor(p) && p >= 1 && p <= 32);
		n_of[(unsigned)p - 1]++;
	}
	for (unsigned i = 0; i < 32; i++)
		chi += (n_of[i] - 1000.0) * (n_of[i] - 1000.0) / 1000;
	if (chi > 70)
		fail_msg("seed %llu: chi-square %g",
		    (unsigned long long)test_seed(), chi);
}

/* Numbers with many ties and zeros, as slopes of rare losses are: never more
 * often at or below a than a. 20,000 samples; five standard errors are exceeded
 * by chance once in 3e6 at each of four bounds. */
static void with_ties_it_never_claims_too_much(void **state)
{
	const double at[] = {0.05, 0.1, 0.25, 0.5};
	unsigned hits[4] = {0};
	struct sim_rng rng;
	(void)state;
	test_rng(&rng, 2000);
	for (unsigned k = 0; k < 20000; k++) {
		double b[8];
		for (unsigned i = 0; i < 8; i++)
			b[i] = (double)gsl_ran_poisson(&rng.gsl, 0.4) -
			    (double)gsl_ran_poisson(&rng.gsl, 0.4);
		const double p = sim_signs_p(b, 8, 0);
		for (unsigned i = 0; i < 4; i++)
			hits[i] += p <= at[i];
	}
	for (unsigned i = 0; i < 4; i++)
		assert_true(hits[i] / 20000.0 <=
		    at[i] + 5 * sqrt(at[i] * (1 - at[i]) / 20000));
}

/* 24 numbers are drawn, of which the exact share is known: with 21 zeros it is
 * that of the other three. A draw of 2^20 is off by five standard errors once in
 * 2e6. */
static void drawn_signs_agree_with_all_of_them(void **state)
{
	double b[24] = {[3] = 1, [11] = -1.5, [20] = 4};
	const double p = sim_signs_p((double[]){1, -1.5, 4}, 3, 0);
	(void)state;
	assert_near(p, 0.75, 0); /* 6.5, 4.5 and 3.5 of 6.5, 4.5, 3.5, 1.5 */
	assert_near(sim_signs_p(b, 24, 7), p,
	    5 * sqrt(p * (1 - p) / SIM_SIGNS_DRAWS));
	assert_true(sim_signs_p(b, 24, 7) == sim_signs_p(b, 24, 7));
	for (unsigned i = 0; i < 24; i++)
		b[i] = 1;
	assert_true(sim_signs_p(b, 24, 7) < 20 * sim_signs_least(24));
	assert_true(sim_signs_p(b, 24, 7) >= sim_signs_least(24));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_line_has_its_slope),
	    cmocka_unit_test(signs_by_hand),
	    cmocka_unit_test(p_does_not_depend_on_scale_order_or_sign),
	    cmocka_unit_test(under_the_null_p_is_uniform),
	    cmocka_unit_test(with_ties_it_never_claims_too_much),
	    cmocka_unit_test(drawn_signs_agree_with_all_of_them),
	};
	return cmocka_run_group_tests_name("sim/slope", tests, NULL, NULL);
}
