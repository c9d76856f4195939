/* tests/sim/ranks_test.c -- mean ranks: a textbook's example, tables, all orders.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/ranks.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

#include "tests/test.h"

/* Demsar's table 6: ranks of four versions of C4.5 on 14 sets. His table prints
 * three digits, by which two of them would tie on "voting" that he ranks 2 and 3. */
static const double demsar[14][4] = {{4, 3, 2, 1}, {1, 2, 3, 4}, {4, 1, 2, 3},
    {4, 1, 3, 2}, {4, 2, 3, 1}, {1, 2.5, 4, 2.5}, {3, 2, 4, 1},
    {2.5, 2.5, 4, 1}, {4, 3, 2, 1}, {2.5, 2.5, 2.5, 2.5}, {4, 2.5, 1, 2.5},
    {3, 2, 4, 1}, {4, 1, 2, 3}, {3, 1, 4, 2}};

static void the_textbooks_example(void **state)
{
	double score[14][4], mean[4], chi2, f;
	(void)state;
	for (size_t t = 0; t < 14; t++)
		for (size_t i = 0; i < 4; i++)
			score[t][i] = -demsar[t][i];
	sim_ranks_mean(&score[0][0], 14, 4, mean);
	assert_near(mean[0], 44. / 14, 1e-12);
	assert_near(mean[1], 28. / 14, 1e-12);
	assert_near(mean[2], 40.5 / 14, 1e-12);
	assert_near(mean[3], 27.5 / 14, 1e-12);
	/* He prints 9.28, 3.69 and, for 5 %, 1.25; his q has three decimals. */
	const double p = sim_ranks_p(mean, 14, 4, &chi2, &f);
	assert_near(chi2, 9.28, 0.005);
	assert_near(f, 3.69, 0.005);
	assert_near(p, gsl_cdf_fdist_Q(f, 3, 39), 1e-12);
	assert_true(p < 0.05);
	assert_near(sim_ranks_critical(14, 4, 0.05), 1.25, 0.005);
}

static void critical_values_are_those_of_the_table(void **state)
{
	/* His table 5 (a): q of 5 % and 10 % for 2 to 10 rivals. */
	static const double q05[] = {1.960, 2.343, 2.569, 2.728, 2.850, 2.949,
	    3.031, 3.102, 3.164};
	static const double q10[] = {1.645, 2.052, 2.291, 2.459, 2.589, 2.693,
	    2.780, 2.855, 2.920};
	(void)state;
	for (size_t i = 0; i < 9; i++) {
		const double k = (double)i + 2, one = sqrt(k * (k + 1) / 6);
		assert_near(sim_ranks_critical(5, i + 2, 0.05) * sqrt(5) / one,
		    q05[i], 0.0011);
		assert_near(sim_ranks_critical(5, i + 2, 0.1) * sqrt(5) / one,
		    q10[i], 0.0011);
	}
	assert_true(isnan(sim_ranks_critical(1, 3, 0.05)));
	assert_true(isnan(sim_ranks_critical(3, 1, 0.05)));
}

static void ranges_by_closed_form(void **state)
{
	(void)state;
	assert_near(sim_range_cdf(0, 4), 0, 0);
	assert_near(sim_range_cdf(30, 40), 1, 1e-12);
	/* A sum of many shares, whose rounding must not make it more than all. */
	for (size_t n = 2; n < 40; n++)
		assert_true(sim_range_cdf(12.5, n) <= 1);
	for (double w = 0.1; w < 8; w += 0.37) {
		/* Two differ by a normal number of variance 2. */
		assert_near(sim_range_cdf(w, 2),
		    1 - 2 * gsl_cdf_gaussian_Q(w, sqrt(2)), 1e-12);
		assert_true(sim_range_cdf(w, 4) < sim_range_cdf(w, 3));
	}
}

/* What scores are, and who stands where, is nothing to ranks. */
static void ranks_go_with_their_rivals(void **state)
{
	struct sim_rng rng;
	(void)state;
	for (uint32_t run = 0; run < 50; run++) {
		double a[7][5], b[7][5], of_a[5], of_b[5], sum = 0;
		test_rng(&rng, run);
		for (size_t t = 0; t < 7; t++)
			for (size_t i = 0; i < 5; i++) {
				a[t][i] = floor(gsl_ran_flat(&rng.gsl, 0, 4));
				b[6 - t][4 - i] = exp(a[t][i]) - 3;
			}
		sim_ranks_mean(&a[0][0], 7, 5, of_a);
		sim_ranks_mean(&b[0][0], 7, 5, of_b);
		for (size_t i = 0; i < 5; i++) {
			assert_near(of_a[i], of_b[4 - i], 1e-12);
			sum += of_a[i];
		}
		assert_near(sum, 15, 1e-12);
	}
}

/* Of 3 rivals and 6 tasks all 6^6 choices of orders: p is F's, the share of choices
 * that are at least as far apart is the truth. */
static void p_is_near_that_of_all_orders(void **state)
{
	static const double order[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3},
	    {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
	enum { N = 6, ALL = 46656 };
	double *chi2 = malloc(ALL * sizeof(*chi2));
	double *p = malloc(ALL * sizeof(*p));
	(void)state;
	assert_true(chi2 && p);
	for (unsigned c = 0; c < ALL; c++) {
		double mean[3] = {0};
		for (unsigned t = 0, rest = c; t < N; t++, rest /= 6)
			for (unsigned i = 0; i < 3; i++)
				mean[i] += order[rest % 6][i] / N;
		p[c] = sim_ranks_p(mean, N, 3, &chi2[c], NULL);
	}
	for (unsigned c = 0; c < ALL; c += 97) {
		unsigned n = 0;
		for (unsigned k = 0; k < ALL; k++)
			n += chi2[k] >= chi2[c] - 1e-9;
		const double exact = (double)n / ALL;
		/* It says too little of so few tasks: 0.023 of 0.052. */
		assert_near(p[c], exact, exact < 0.1 ? 0.03 : 0.15);
	}
	/* All agree: closed form. */
	assert_near(sim_ranks_p((double[]){1, 2, 3}, N, 3, NULL, NULL),
	    pow(6, -5), 1e-12);
	assert_near(sim_ranks_p((double[]){2, 2, 2}, N, 3, NULL, NULL), 1, 0);
	assert_true(isnan(sim_ranks_p((double[]){1, 2}, 1, 2, NULL, NULL)));
	free(chi2);
	free(p);
}

/* From two tasks and two rivals on there is a p, and below there is none. */
static void two_are_the_least_that_can_be_told_apart(void **state)
{
	const double mean[] = {1, 2};
	double chi2 = 0, f = 0;
	(void)state;
	assert_near(sim_ranks_p(mean, 2, 2, &chi2, &f), 0.5, 1e-12);
	assert_near(chi2, 2, 1e-12);
	assert_true(isinf(f));
	assert_true(isnan(sim_ranks_p(mean, 2, 1, &chi2, &f)));
	assert_true(isnan(chi2) && isnan(f));
	assert_true(isnan(sim_ranks_p(mean, 1, 2, &chi2, &f)));
	/* The range of two is normal, and a mean rank's variance 1/4. */
	assert_near(sim_ranks_critical(2, 2, 0.05),
	    gsl_cdf_ugaussian_Qinv(0.025) * sqrt(0.5), 1e-9);
	assert_true(sim_range_cdf(-1, 1) == 1 && sim_range_cdf(0, 1) == 1);
	assert_true(sim_range_cdf(-1, 2) == 0 && sim_range_cdf(NAN, 2) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_textbooks_example),
	    cmocka_unit_test(critical_values_are_those_of_the_table),
	    cmocka_unit_test(ranges_by_closed_form),
	    cmocka_unit_test(ranks_go_with_their_rivals),
	    cmocka_unit_test(p_is_near_that_of_all_orders),
	    cmocka_unit_test(two_are_the_least_that_can_be_told_apart),
	};
	return cmocka_run_group_tests_name("sim/ranks", tests, NULL, NULL);
}
