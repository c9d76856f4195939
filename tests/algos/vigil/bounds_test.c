/* tests/algos/vigil/bounds_test.c -- 007's theorems: closed forms.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Enumerations and simulated epochs are in algos_vigil_bounds_law_test.c.
 */
#include <gsl/gsl_cdf.h>

#include "tests/rigs/bounds.h"

/* --- closed forms -------------------------------------------------------- */

static void theorem_1_gives_one_traceroute_a_second_in_the_papers_network(
    void **state)
{
	(void)state;
	const double t1[] = {100.0 * 59 / 39, 100.0 * 139 / 79,
	    100.0 * 779 / 399};
	const double t2[] = {80 * 40.0 / 39, 80 * 240.0 / 79,
	    80 * 7600.0 / 399};
	const uint32_t n_pods[] = {2, 4, 20};
	for (int i = 0; i < 3; i++) {
		const struct topo_clos c = vigil(n_pods[i]);
		const struct algo_bounds_load a = algo_bounds_load_paper(&c, 1),
					      b = algo_bounds_load(&c, 1);
		assert_near(algo_bounds_ct_paper(&c, 100), 1.0, 1e-15);
		assert_true(isnan(a.tor));
		assert_near(a.t1, 100, 1e-12);
		assert_near(a.t2, t2[i] / n_pods[i], 1e-12);
		assert_near(b.tor, 80, 1e-12);
		assert_near(b.t1, t1[i], 1e-12);
		assert_near(b.t2, t2[i], 1e-11);
		assert_near(algo_bounds_ct(&c, 100), 100 / fmax(t1[i], t2[i]),
		    1e-15);
	}
}

static void each_tier_can_be_the_one_that_limits(void **state)
{
	(void)state;
	const struct topo_clos hosts = clos(2, 2, 4, 2, 100);
	const struct topo_clos leaf_spine = clos(1, 10, 4, 0, 10);
	assert_near(algo_bounds_ct(&hosts, 100), 0.5, 1e-15);
	assert_near(algo_bounds_ct_paper(&hosts, 100), 1.5, 1e-15);
	assert_near(algo_bounds_ct(&leaf_spine, 100), 4, 1e-15);
	assert_near(algo_bounds_load(&leaf_spine, 1).t2, 0, 0);
	const struct topo_clos one_tor = clos(1, 1, 0, 0, 10);
	assert_true(isnan(algo_bounds_ct(&one_tor, 100)));
	assert_true(isnan(algo_bounds_ct_paper(&one_tor, 100)));
	assert_true(isnan(algo_bounds_load(&one_tor, 1).tor));
}

static void alpha_is_the_papers_with_the_papers_weight(void **state)
{
	(void)state;
	const struct topo_clos two = vigil(2), four = vigil(4);
	const enum algo_bounds_form paper = ALGO_BOUNDS_PAPER,
				    any = ALGO_BOUNDS_ANY_PODS;
	assert_near(algo_bounds_alpha(&two, paper, 1), 1580.0 / 370, 1e-12);
	assert_near(algo_bounds_alpha(&four, paper, 1), 4740.0 / 730, 1e-12);
	assert_near(algo_bounds_alpha(&two, any, 1), 1550.0 / 340, 1e-12);
	assert_near(algo_bounds_alpha(&two, any, 5), 1350.0 / 140, 1e-12);
	assert_near(algo_bounds_alpha(&four, any, 1), 4740.0 / 730, 1e-12);
	assert_near(algo_bounds_alpha(&two, ALGO_BOUNDS_SIMULATED, 1),
	    2350.0 / 340, 1e-12);
	assert_near(algo_bounds_max_bad(&two, paper), 19.5, 1e-12);
	assert_near(algo_bounds_max_bad(&two, any), 7.8, 1e-12);
	assert_true(isnan(algo_bounds_alpha(&two, any, 8)));
	assert_true(algo_bounds_alpha(&two, any, 7) > 0);
	assert_near(algo_bounds_good_max(1580.0 / 370, 5e-4, 1, 100),
	    5e-4 / (1580.0 / 370 * 100), 1e-18);
	assert_near(algo_bounds_good_max(1580.0 / 370, 5e-4, 1, 100), 1.17e-6,
	    0.005e-6);
}

static void the_papers_two_pods_are_less_than_theorem_2_asks_for(void **state)
{
	(void)state;
	const struct topo_clos two = vigil(2), four = vigil(4);
	assert_near(algo_bounds_pods(&two), 3.5, 0);
	assert_near(algo_bounds_pods_all(&two), 3.5, 0);
	assert_false(algo_bounds_says(&two, ALGO_BOUNDS_PAPER));
	assert_true(algo_bounds_says(&four, ALGO_BOUNDS_PAPER));
	assert_true(algo_bounds_says(&two, ALGO_BOUNDS_ANY_PODS));
	assert_true(algo_bounds_says(&two, ALGO_BOUNDS_SIMULATED));
	assert_near(algo_bounds_links(&two, ALGO_BOUNDS_SIMULATED), 4160, 0);
	assert_near(algo_bounds_links(&two, ALGO_BOUNDS_PAPER), 960, 0);
}

static void one_pod_has_no_level_2_and_no_statement(void **state)
{
	(void)state;
	const struct topo_clos c = clos(1, 20, 8, 10, 40);
	for (int i = 0; i < 3; i++) {
		assert_false(algo_bounds_says(&c, forms[i]));
		assert_true(isnan(algo_bounds_weight(&c, forms[i])));
		assert_true(isnan(algo_bounds_alpha(&c, forms[i], 1)));
		assert_true(isnan(algo_bounds_max_bad(&c, forms[i])));
		assert_true(
		    isnan(algo_bounds_vote_good(&c, forms[i], 1, 0.1, 0.01)));
	}
	assert_true(isnan(algo_bounds_vote_bad(&c, 0.1)));
	const struct topo_clos no_t2 = clos(1, 4, 2, 0, 1);
	assert_true(isnan(algo_bounds_pods(&no_t2)));
	assert_true(isnan(algo_bounds_pods_all(&no_t2)));
	const struct topo_clos few_tors = clos(2, 2, 2, 3, 1);
	const struct topo_clos equal = clos(2, 3, 2, 3, 1);
	assert_true(isnan(algo_bounds_pods_all(&few_tors)));
	assert_true(isinf(algo_bounds_pods_all(&equal)));
}

static void entropy_is_exact_near_and_far(void **state)
{
	(void)state;
	assert_near(algo_bounds_entropy(0.25, 0.25), 0, 0);
	assert_near(algo_bounds_entropy(0.75, 0.25), 0.5 * log(3), 1e-15);
	assert_near(algo_bounds_entropy(0, 0.25), -log(0.75), 1e-15);
	assert_near(algo_bounds_entropy(1, 0.25), log(4), 1e-15);
	/* x^2 p / (2 (1 - p)) for q = p (1 + x), to the next order in x:
	 * - x^3 p (1 - 2 p) / (6 (1 - p)^2). */
	const double p = 1e-5, x = 0x1p-20;
	const double want = x * x * p / (2 * (1 - p)) -
	    x * x * x * p * (1 - 2 * p) / (6 * (1 - p) * (1 - p));
	assert_near(algo_bounds_entropy(p * (1 + x), p) / want, 1, 1e-8);
	/* Both sides of the change of formula. */
	for (int i = -3; i <= 3; i += 2) {
		const long double q = 0.1L * (1 + 0.00999L * (i / 2.0L));
		const long double kl =
		    q * logl(q / 0.1L) + (1 - q) * logl((1 - q) / 0.9L);
		assert_near(algo_bounds_entropy((double)q, 0.1) / (double)kl, 1,
		    1e-11);
	}
}

static void error_is_loose_after_one_epoch_and_tiny_after_ten(void **state)
{
	(void)state;
	const struct topo_clos c = vigil(4);
	const double p_bad[] = {5e-4, 5e-3, 1e-2};
	const double one[] = {0.86, 0.22, 0.07}, ten[] = {0.17, 3e-7, 3e-12};
	for (int i = 0; i < 3; i++) {
		const struct algo_bounds_votes v = votes_of(&c,
		    ALGO_BOUNDS_PAPER, 1, algo_bounds_drop(p_bad[i], 50),
		    algo_bounds_drop(5e-7, 50));
		const struct algo_bounds_error a = algo_bounds_error(&v,
						   192000),
					       b = algo_bounds_error(&v,
						   1920000);
		print_message("p_bad %g: %.4g, ten epochs %.4g\n", p_bad[i],
		    exp(a.log_pair), exp(b.log_pair));
		assert_near(exp(a.log_pair), one[i], 0.005);
		assert_near(exp(b.log_pair) / ten[i], 1, 0.2);
		assert_true(a.log_pair < a.log_all);
		assert_true(b.log_best <= b.log_all);
	}
}

/* One flip of each coin: the bound by hand. */
static void error_is_the_sum_of_two_chernoff_bounds(void **state)
{
	(void)state;
	const struct algo_bounds_votes v = {0.5, 0.25, 2, 3, 1};
	const double t = 1.0 / 3;
	const double good = t * log(t / 0.25) + (1 - t) * log((1 - t) / 0.75);
	const double bad = t * log(t / 0.5) + (1 - t) * log((1 - t) / 0.5);
	const struct algo_bounds_error e = algo_bounds_error(&v, 10);
	assert_near(exp(e.log_pair), exp(-10 * good) + exp(-10 * bad), 1e-12);
	assert_near(exp(e.log_all), 3 * exp(-10 * good) + 2 * exp(-10 * bad),
	    1e-12);
	const struct algo_bounds_error far = algo_bounds_error(&v, 1e9);
	assert_near(far.log_pair / (-1e9 * good), 1, 1e-6);
	assert_true(far.log_best < far.log_all);
	const struct algo_bounds_votes swapped = {0.25, 0.5, 2, 3, 1},
				       none = {0.25, 0, 2, 3, 1};
	assert_true(isnan(algo_bounds_error(&swapped, 10).log_pair));
	assert_true(isnan(algo_bounds_error(&none, 10).log_all));
}

/* Two binomial tails at the paper's threshold: never above the bound, and not
 * far below it, since Chernoff's exponent is the true one. */
static void error_bounds_exact_binomial_tails_and_not_by_much(void **state)
{
	(void)state;
	const double v[][2] = {{0.5, 0.25}, {0.02, 0.005}, {1e-4, 4e-5}};
	for (int i = 0; i < 3; i++)
		for (double x = 3; x < 3000; x *= 2) {
			const struct algo_bounds_votes w = {v[i][0], v[i][1], 1,
			    1, 1};
			const double n = floor(x / w.good);
			const double t = 2 * w.bad * w.good / (w.bad + w.good);
			const double tail =
			    gsl_cdf_binomial_Q((unsigned)ceil(t * n) - 1,
				w.good, (unsigned)n) +
			    gsl_cdf_binomial_P((unsigned)floor(t * n), w.bad,
				(unsigned)n);
			const double bound = algo_bounds_error(&w, n).log_pair;
			if (tail == 0)
				continue;
			assert_true(log(tail) <= bound);
			assert_true(log(tail) >= 1.1 * bound - 5);
		}
}

/* The balanced threshold against a search over 4000 others. */
static void best_threshold_is_within_a_factor_2_of_the_best(void **state)
{
	(void)state;
	const double n[] = {10, 1e3, 1e5, 1e7};
	struct algo_bounds_votes v = {4e-3, 5e-4, 2, 900, 1.5};
	for (int i = 0; i < 4; i++) {
		double least = INFINITY;
		for (int j = 1; j < 4000; j++) {
			const double t = v.good + (v.bad - v.good) * j / 4000;
			const double a = log(v.n_good) -
			    n[i] * algo_bounds_entropy(t / 1.5, v.good / 1.5),
				     b = log(v.n_bad) -
			    n[i] * algo_bounds_entropy(t / 1.5, v.bad / 1.5);
			least =
			    fmin(least, fmax(a, b) + log1p(exp(-fabs(a - b))));
		}
		const double got = algo_bounds_error(&v, n[i]).log_best;
		assert_true(got < least + log(2) + 1e-9);
		/* The grid is no better than its step. */
		assert_true(got > least - log(2) - n[i] * 1e-6);
	}
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(theorem_1_gives_one_traceroute_a_second_in_the_papers_network),
	    TEST(each_tier_can_be_the_one_that_limits),
	    TEST(alpha_is_the_papers_with_the_papers_weight),
	    TEST(the_papers_two_pods_are_less_than_theorem_2_asks_for),
	    TEST(one_pod_has_no_level_2_and_no_statement),
	    TEST(entropy_is_exact_near_and_far),
	    TEST(error_is_loose_after_one_epoch_and_tiny_after_ten),
	    TEST(error_is_the_sum_of_two_chernoff_bounds),
	    TEST(error_bounds_exact_binomial_tails_and_not_by_much),
	    TEST(best_threshold_is_within_a_factor_2_of_the_best),
	};
	return cmocka_run_group_tests_name("algos/vigil/bounds", tests, NULL,
	    NULL);
}
