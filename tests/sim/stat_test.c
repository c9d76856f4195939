/* tests/sim/stat_test.c -- intervals, sequential tests and quantiles.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_log.h>
#include <gsl/gsl_statistics_double.h>

#include "sim/deps.h"
#include "sim/stat.h"

/* --- Clopper-Pearson -------------------------------------------------------*/
/* Roots of the regularised incomplete beta function to 40 digits (mpmath).
 * 682 of 925 is the example of R's binom.test: 0.7076683 0.7654066. */
static void intervals_equal_published_values(void **state)
{
	(void)state;
	static const struct {
		uint64_t k, n;
		double conf, lo, hi;
	} known[] = {
	    {1, 2, 0.95, 0.0125791170934250604, 0.98742088290657494},
	    {7, 29, 0.95, 0.102983550772617366, 0.435400345988533227},
	    {682, 925, 0.95, 0.707668264079039029, 0.765406558241525242},
	    {1, 1000, 0.99, 5.01252926077751059e-6, 0.00740628693835293662},
	    {999, 1000, 0.99, 0.992593713061647063, 0.999994987470739222},
	    {235, 1000, 0.5, 0.225634406814225728, 0.244716247057507339},
	    {3, 10000000, 0.95, 6.18672165625059144e-8, 8.76727054157974959e-7},
	    {2500000, 10000000, 0.95, 0.249731643280660968,
		0.250268501470392633},
	    {9999000, 10000000, 0.999, 0.99988916119861348,
		0.999910078683009215},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		double lo, hi;
		assert_ok(sim_binomial_interval(known[i].k, known[i].n,
		    known[i].conf, &lo, &hi, test_err()));
		assert_near(lo, known[i].lo, 1e-13 * known[i].lo);
		assert_near(hi, known[i].hi, 1e-13 * known[i].hi);
	}
}

static void none_and_all_have_closed_forms(void **state)
{
	(void)state;
	static const uint64_t sizes[] = {1, 2, 17, 1000, 10000000,
	    SIM_BINOMIAL_MAX_N};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double lo, hi, n = (double)sizes[i];
		double want = -expm1(log(0.01 / 2) / n);
		assert_ok(sim_binomial_interval(0, sizes[i], 0.99, &lo, &hi,
		    test_err()));
		assert_true(lo == 0);
		assert_near(hi, want, 1e-13 * want);
		assert_ok(sim_binomial_interval(sizes[i], sizes[i], 0.99, &lo,
		    &hi, test_err()));
		assert_near(lo, pow(0.01 / 2, 1 / n), 1e-13);
		assert_true(hi == 1);
	}
	double lo, hi;
	assert_ok(sim_binomial_interval(0, 0, 0.95, &lo, &hi, test_err()));
	assert_true(lo == 0 && hi == 1);
}

/* One success of two: 1 - (1 - lo)^2 = tail = 1 - hi^2. */
static void two_trials_solve_a_quadratic(void **state)
{
	(void)state;
	for (double conf = 0.05; conf < 1; conf += 0.05) {
		double lo, hi, tail = (1 - conf) / 2;
		assert_ok(
		    sim_binomial_interval(1, 2, conf, &lo, &hi, test_err()));
		assert_near(lo, 1 - sqrt(1 - tail), 1e-14);
		assert_near(hi, sqrt(1 - tail), 1e-14);
	}
}

/* GSL's incomplete beta function is another method than ours, good to about
 * 1e-10 here; where hi is next to 1, its own rounding moves the tail by up to
 * (n - k) / (1 - hi) roundings. */
static void tails_at_the_ends_are_half_of_what_is_left(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 2000; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		unsigned n = 2 + sim_rng_below(&r, 1u << sim_rng_below(&r, 17));
		unsigned k = 1 + sim_rng_below(&r, n - 1);
		double conf = 1 - pow(10, -8 * sim_rng_u01_open(&r)), lo, hi;
		double tail = (1 - conf) / 2;
		assert_ok(
		    sim_binomial_interval(k, n, conf, &lo, &hi, test_err()));
		double below = gsl_cdf_binomial_P(k, hi, n);
		double above = gsl_cdf_binomial_Q(k - 1, lo, n);
		double tol = 1e-8 + DBL_EPSILON * (n - k) / (1 - hi);
		if (!(fabs(below / tail - 1) < tol) ||
		    !(fabs(above / tail - 1) < 1e-8))
			fail_msg("seed %llu, run %u: %u of %u at %.17g gives "
				 "[%.17g, %.17g], tails %.12g and %.12g, "
				 "not %.12g",
			    (unsigned long long)test_seed(), run, k, n, conf,
			    lo, hi, above, below, tail);
	}
}

/* What the normal law leaves out is about one success: a standard deviation is
 * 949 of them at n = 1e7 and a rate of 0.1. */
static void large_samples_work_and_approach_the_normal_law(void **state)
{
	(void)state;
	static const uint64_t shares[] = {10, 4, 2};
	const double z = gsl_cdf_ugaussian_Pinv(0.975);
	for (uint64_t n = 10000000; n <= 10000000000; n *= 10)
		for (int i = 0; i < 3; i++) {
			uint64_t k = n / shares[i];
			double p = (double)k / (double)n, lo, hi;
			double sd = sqrt(p * (1 - p) / (double)n);
			assert_ok(sim_binomial_interval(k, n, 0.95, &lo, &hi,
			    test_err()));
			assert_near((p - lo) / sd, z, 2e-3);
			assert_near((hi - p) / sd, z, 2e-3);
		}
}

static void intervals_grow_with_confidence_and_move_with_successes(void **state)
{
	(void)state;
	static const uint64_t sizes[] = {1, 5, 100, 3000};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double last_lo = -1, last_hi = -1;
		for (uint64_t k = 0; k <= sizes[i]; k++) {
			double lo, hi, wide_lo, wide_hi, rate;
			assert_ok(sim_binomial_interval(k, sizes[i], 0.9, &lo,
			    &hi, test_err()));
			assert_ok(sim_binomial_interval(k, sizes[i], 0.99,
			    &wide_lo, &wide_hi, test_err()));
			rate = (double)k / (double)sizes[i];
			assert_true(lo > last_lo || k == 0);
			assert_true(hi > last_hi);
			assert_true(wide_lo < lo || k == 0);
			assert_true(wide_hi > hi || k == sizes[i]);
			assert_true(lo <= rate && rate <= hi);
			last_lo = lo;
			last_hi = hi;
		}
	}
}

static void success_and_failure_mirror_each_other(void **state)
{
	(void)state;
	for (uint64_t k = 0; k <= 60; k++) {
		double lo, hi, mirror_lo, mirror_hi;
		assert_ok(
		    sim_binomial_interval(k, 60, 0.95, &lo, &hi, test_err()));
		assert_ok(sim_binomial_interval(60 - k, 60, 0.95, &mirror_lo,
		    &mirror_hi, test_err()));
		assert_near(lo, 1 - mirror_hi, 1e-15);
		assert_near(hi, 1 - mirror_lo, 1e-15);
	}
}

/* Exact coverage: the sum of the law over the k whose interval holds p. */
static void intervals_cover_the_true_rate_as_often_as_they_say(void **state)
{
	(void)state;
	const unsigned n = 40;
	double lo[41], hi[41];
	for (unsigned k = 0; k <= n; k++)
		assert_ok(sim_binomial_interval(k, n, 0.9, &lo[k], &hi[k],
		    test_err()));
	double least = 1;
	for (double p = 0.001; p < 1; p += 0.001) {
		double covered = 0;
		for (unsigned k = 0; k <= n; k++)
			if (lo[k] <= p && p <= hi[k])
				covered += gsl_ran_binomial_pdf(k, p, n);
		least = covered < least ? covered : least;
	}
	assert_true(least >= 0.9);
	assert_true(least < 0.92);
}

static void bad_arguments_are_errors(void **state)
{
	(void)state;
	struct sim_err e;
	double lo, hi;
	assert_int_equal(sim_binomial_interval(3, 2, 0.9, &lo, &hi, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "3 successes in 2 trials: not more than trials.");
	static const double bad[] = {0, 1, -0.1, 1.1, NAN};
	for (int i = 0; i < 5; i++)
		assert_int_equal(sim_binomial_interval(1, 2, bad[i], &lo, &hi,
				     &e),
		    SIM_EINVAL);
	assert_int_equal(sim_binomial_interval(1, SIM_BINOMIAL_MAX_N + 1, 0.9,
			     &lo, &hi, &e),
	    SIM_ERANGE);
	struct sim_sprt s;
	for (int i = 0; i < 5; i++) {
		double x = bad[i];
		assert_int_equal(sim_sprt_init(&s, x, 0.9, 0.1, 0.1, &e),
		    SIM_EINVAL);
		assert_int_equal(sim_sprt_init(&s, 0.5, x, 0.1, 0.1, &e),
		    SIM_EINVAL);
		assert_int_equal(sim_sprt_init(&s, 0.5, 0.9, x, 0.1, &e),
		    SIM_EINVAL);
		assert_int_equal(sim_sprt_init(&s, 0.5, 0.9, 0.1, x, &e),
		    SIM_EINVAL);
	}
	assert_int_equal(sim_sprt_init(&s, 0.9, 0.9, 0.1, 0.1, &e), SIM_EINVAL);
	assert_int_equal(sim_sprt_init(&s, 0.5, 0.9, 0.5, 0.5, &e), SIM_EINVAL);
}

/* --- sequential test -------------------------------------------------------*/
/* Wald (1945): with alpha = beta the bounds are +-log((1 - alpha) / alpha). At
 * p0 = 0.9, p1 = 0.95, alpha = beta = 0.05 a success adds log(0.95 / 0.9), so
 * 55 successes in a row are needed; a failure adds log(0.5): 5 in a row. */
static void runs_of_one_outcome_decide_when_wald_says(void **state)
{
	(void)state;
	struct sim_sprt s;
	assert_ok(sim_sprt_init(&s, 0.9, 0.95, 0.05, 0.05, test_err()));
	assert_near(s.upper, log(19), 1e-14);
	assert_near(s.lower, -log(19), 1e-14);
	for (int i = 1; i < 55; i++)
		assert_int_equal(sim_sprt_add(&s, 1), SIM_SPRT_GO_ON);
	assert_int_equal(sim_sprt_add(&s, 1), SIM_SPRT_GOOD);
	assert_ok(sim_sprt_init(&s, 0.9, 0.95, 0.05, 0.05, test_err()));
	for (int i = 1; i < 5; i++)
		assert_int_equal(sim_sprt_add(&s, 0), SIM_SPRT_GO_ON);
	assert_int_equal(sim_sprt_add(&s, 0), SIM_SPRT_BAD);
	assert_ok(sim_sprt_init(&s, 0.9, 0.95, 0.05, 0.1, test_err()));
	assert_near(s.upper, log(18), 1e-14);
	assert_near(s.lower, -log(9.5), 1e-14);
	/* A bound that is reached ends it. */
	s.lower = s.lose;
	s.upper = s.win;
	assert_int_equal(sim_sprt_add(&s, 0), SIM_SPRT_BAD);
	s.llr = 0;
	assert_int_equal(sim_sprt_add(&s, 1), SIM_SPRT_GOOD);
}

static void a_verdict_stands(void **state)
{
	(void)state;
	struct sim_sprt s;
	assert_ok(sim_sprt_init(&s, 0.9, 0.95, 0.05, 0.05, test_err()));
	for (int i = 0; i < 5; i++)
		sim_sprt_add(&s, 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(sim_sprt_add(&s, 1), SIM_SPRT_BAD);
	assert_true(s.n == 5);
}

/* How often VERDICT is reached at RATE. */
static double share_of(enum sim_sprt_verdict verdict, double rate, double alpha,
    double beta, uint32_t run, unsigned n_tests)
{
	struct sim_rng r;
	unsigned count = 0;
	test_rng(&r, run);
	for (unsigned i = 0; i < n_tests; i++) {
		struct sim_sprt s;
		enum sim_sprt_verdict got;
		assert_ok(sim_sprt_init(&s, 0.8, 0.9, alpha, beta, test_err()));
		do
			got = sim_sprt_add(&s, sim_rng_u01(&r) < rate);
		while (got == SIM_SPRT_GO_ON);
		count += got == verdict;
	}
	return (double)count / n_tests;
}

/* Wald's inequalities bound the true error rates by alpha / (1 - beta) and
 * beta / (1 - alpha); the overshoot keeps them above half of that here. Five
 * standard errors: false alarm below 1e-6 each at a random seed. */
static void error_rates_stay_within_walds_bounds(void **state)
{
	(void)state;
	const unsigned n = 20000;
	const double alpha = 0.05, beta = 0.1;
	double wrong_good = alpha / (1 - beta), wrong_bad = beta / (1 - alpha);
	double got = share_of(SIM_SPRT_GOOD, 0.8, alpha, beta, 1, n);
	double slack = 5 * sqrt(wrong_good * (1 - wrong_good) / n);
	assert_true(got <= wrong_good + slack);
	assert_true(got >= wrong_good / 2 - slack);
	got = share_of(SIM_SPRT_BAD, 0.9, alpha, beta, 2, n);
	slack = 5 * sqrt(wrong_bad * (1 - wrong_bad) / n);
	assert_true(got <= wrong_bad + slack);
	assert_true(got >= wrong_bad / 2 - slack);
	/* Beyond the two rates errors are rarer still. */
	assert_true(share_of(SIM_SPRT_GOOD, 0.7, alpha, beta, 3, 2000) < 0.01);
	assert_true(share_of(SIM_SPRT_BAD, 0.95, alpha, beta, 4, 2000) < 0.02);
}

/* --- quantiles -------------------------------------------------------------*/
static void quantiles_interpolate_between_order_statistics(void **state)
{
	(void)state;
	/* R: quantile(c(2.385, 3, 7.5, 11, 20), c(0, .1, .25, .5, .9, 1)) */
	const double x[] = {2.385, 3, 7.5, 11, 20};
	assert_near(sim_quantile_sorted(x, 5, 0), 2.385, 0);
	assert_near(sim_quantile_sorted(x, 5, 0.1), 2.631, 1e-14);
	assert_near(sim_quantile_sorted(x, 5, 0.25), 3, 0);
	assert_near(sim_quantile_sorted(x, 5, 0.5), 7.5, 0);
	assert_near(sim_quantile_sorted(x, 5, 0.9), 16.4, 1e-14);
	assert_near(sim_quantile_sorted(x, 5, 1), 20, 0);
	assert_near(sim_quantile_sorted(x, 4, 0.5), 5.25, 0);
	assert_near(sim_quantile_sorted(x, 1, 0.3), 2.385, 0);
	assert_true(isnan(sim_quantile_sorted(x, 0, 0.5)));
	const double same[] = {0.1, 0.1};
	for (double q = 0; q < 1; q += 0.01)
		assert_true(sim_quantile_sorted(same, 2, q) == 0.1);
	const double inf[] = {-INFINITY, 1, INFINITY, INFINITY};
	assert_true(sim_quantile_sorted(inf, 4, 0) == -INFINITY);
	assert_true(sim_quantile_sorted(inf, 4, 1.0 / 3) == 1);
	assert_true(sim_quantile_sorted(inf, 4, 0.1) == -INFINITY);
	assert_true(sim_quantile_sorted(inf, 4, 0.9) == INFINITY);
}

static void quantiles_equal_those_of_gsl(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct sim_rng r;
		double x[60];
		test_rng(&r, run);
		size_t n = 1 + sim_rng_below(&r, 60);
		for (size_t i = 0; i < n; i++)
			x[i] = floor(40 * sim_rng_u01(&r)) / 7;
		assert_int_equal(sim_sort_finite(x, n), n);
		for (double q = 0; q <= 1; q += 1.0 / 64)
			assert_near(sim_quantile_sorted(x, n, q),
			    gsl_stats_quantile_from_sorted_data(x, 1, n, q),
			    1e-14);
	}
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Of numbers that are alike, but for their last bits, of all sizes and signs, and of any bits at all. */
static double any_number(struct sim_rng *r, uint32_t kind)
{
	const double u = sim_rng_u01(r);
	double x;
	uint64_t bits = (uint64_t)sim_rng_u32(r) << 32 | sim_rng_u32(r);
	memcpy(&x, &bits, sizeof(x));
	switch (kind) {
	case 0:
		return 3e6 + floor(20 * u);
	case 1:
		return (u - 0.5) * pow(10, 40 * sim_rng_u01(r) - 20);
	case 2:
		return 268.5;
	case 3:
		return nextafter(1, 2) + ldexp(floor(8 * u), -52);
	default:
		return isnan(x) ? INFINITY : x;
	}
}

static void sorting_is_that_of_qsort(void **state)
{
	enum { MOST = 3000 };
	static double x[MOST], want[MOST];
	(void)state;
	for (uint32_t run = 0; run < 400; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		const size_t n = 1 + sim_rng_below(&r, run < 200 ? 80 : MOST);
		for (size_t i = 0; i < n; i++)
			want[i] = x[i] = any_number(&r, run % 5);
		qsort(want, n, sizeof(*want), ascending);
		assert_int_equal(sim_sort_finite(x, n), n);
		assert_memory_equal(x, want, n * sizeof(*x));
	}
}

static void sorting_drops_nan_and_keeps_infinity(void **state)
{
	(void)state;
	double x[] = {NAN, 3, -INFINITY, NAN, -2.385, INFINITY, 3, NAN};
	assert_int_equal(sim_sort_finite(x, 8), 5);
	const double want[] = {-INFINITY, -2.385, 3, 3, INFINITY};
	assert_memory_equal(x, want, sizeof(want));
	double none[] = {NAN, NAN};
	assert_int_equal(sim_sort_finite(none, 2), 0);
	assert_int_equal(sim_sort_finite(NULL, 0), 0);
}

/* --- libraries -------------------------------------------------------------*/
/* Mean of X[n], and the estimate of that mean's variance. */
static double mean_of(const double x[], size_t n, double *variance)
{
	double sum = 0, squares = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
	*variance = n > 1 ? squares / (double)(n * (n - 1)) : 0;
	return sum / (double)n;
}

/* The oracle: over all ways to part eight numbers into two samples of four, the
 * difference of means varies as z says. */
static void z_is_that_of_all_permutations(void **state)
{
	enum { N = 4 };
	(void)state;
	for (uint32_t run = 0; run < 50; run++) {
		double x[2 * N], v[2], squares = 0, n = 0;
		struct sim_rng r;
		test_rng(&r, run);
		for (size_t i = 0; i < 2 * N; i++)
			x[i] = run % 2 ? sim_rng_u01(&r)
				       : (double)sim_rng_below(&r, 3);
		for (unsigned in = 0; in < 1 << 2 * N; in++) {
			if (__builtin_popcount(in) != N)
				continue;
			double d = 0;
			for (unsigned i = 0; i < 2 * N; i++)
				d += (in >> i & 1 ? x[i] : -x[i]) / N;
			squares += d * d;
			n++;
		}
		const double a = mean_of(x, N, &v[0]);
		const double b = mean_of(x + N, N, &v[1]);
		const double z = sim_means_z(a, v[0], N, b, v[1], N);
		if (squares > 0 &&
		    fabs(z - (a - b) / sqrt(squares / n)) > 1e-12)
			fail_msg("seed %llu, run %u: %g",
			    (unsigned long long)test_seed(), run, z);
	}
}

static void z_has_an_end(void **state)
{
	(void)state;
	/* Samples that are each all alike. */
	assert_true(fabs(sim_means_z(1, 0, 5, 0, 0, 5) - 3) < 1e-12);
	assert_true(fabs(sim_means_z(0, 0, 1, 1, 0, 1) + 1) < 1e-12);
	assert_true(sim_means_z(7, 0, 1, 7, 0, 1) == 0);
	/* One of 1000 against one of 3, which is as none of 3 against one. */
	assert_true(
	    fabs(sim_means_z(1e-3, 1e-6, 1000, 1. / 3, 1. / 9, 3) + 1) < 0.01);
}

static void gsl_reports_errors_instead_of_aborting(void **state)
{
	(void)state;
	gsl_sf_result y;
	sim_deps_quiet();
	assert_int_equal(gsl_sf_log_e(-1, &y), GSL_EDOM);
}

static void hits_in_parts_lie_between_two_counts(void **state)
{
	double lo, hi, below_lo, below_hi, above_lo, above_hi;
	struct sim_err e;
	(void)state;
	for (uint64_t k = 0; k < 9; k++) {
		assert_ok(sim_binomial_interval(k, 9, 0.95, &below_lo,
		    &below_hi, test_err()));
		assert_ok(sim_binomial_interval(k + 1, 9, 0.95, &above_lo,
		    &above_hi, test_err()));
		assert_ok(sim_share_interval((double)k, 9, 0.95, &lo, &hi,
		    test_err()));
		assert_true(lo == below_lo && hi == below_hi);
		assert_ok(sim_share_interval((double)k + 0.25, 9, 0.95, &lo,
		    &hi, test_err()));
		assert_true(lo == below_lo && hi == above_hi);
	}
	assert_int_equal(sim_share_interval(9.5, 9, 0.95, &lo, &hi, &e),
	    SIM_EINVAL);
	assert_int_equal(sim_share_interval(-0.5, 9, 0.95, &lo, &hi, &e),
	    SIM_EINVAL);
	assert_int_equal(sim_share_interval(NAN, 9, 0.95, &lo, &hi, &e),
	    SIM_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(intervals_equal_published_values),
	    cmocka_unit_test(none_and_all_have_closed_forms),
	    cmocka_unit_test(two_trials_solve_a_quadratic),
	    cmocka_unit_test(tails_at_the_ends_are_half_of_what_is_left),
	    cmocka_unit_test(large_samples_work_and_approach_the_normal_law),
	    cmocka_unit_test(
		intervals_grow_with_confidence_and_move_with_successes),
	    cmocka_unit_test(success_and_failure_mirror_each_other),
	    cmocka_unit_test(
		intervals_cover_the_true_rate_as_often_as_they_say),
	    cmocka_unit_test(bad_arguments_are_errors),
	    cmocka_unit_test(runs_of_one_outcome_decide_when_wald_says),
	    cmocka_unit_test(a_verdict_stands),
	    cmocka_unit_test(error_rates_stay_within_walds_bounds),
	    cmocka_unit_test(z_is_that_of_all_permutations),
	    cmocka_unit_test(z_has_an_end),
	    cmocka_unit_test(quantiles_interpolate_between_order_statistics),
	    cmocka_unit_test(quantiles_equal_those_of_gsl),
	    cmocka_unit_test(sorting_is_that_of_qsort),
	    cmocka_unit_test(sorting_drops_nan_and_keeps_infinity),
	    cmocka_unit_test(gsl_reports_errors_instead_of_aborting),
	    cmocka_unit_test(hits_in_parts_lie_between_two_counts),
	};
	return cmocka_run_group_tests_name("sim/stat", tests, NULL, NULL);
}
