/* tests/sim/ratio_test.c -- ratios over runs: closed forms and coverage.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/ratio.h"

#include <gsl/gsl_randist.h>
#include <math.h>

#include "sim/stat.h"
#include "tests/test.h"

#define SAMPLE(num, den, n) (&(struct sim_ratio_sample){(num), (den), (n)})

/* Runs of 10 trials that are all right or all wrong are worth a trial each; by
 * hand, r = 1/2, squares = 4 * 25, effect = 100 * 4/3 / (40 / 4) = 40/3. */
static void whole_runs_count_as_one_trial(void **state)
{
	const double num[] = {10, 0, 10, 0}, den[] = {10, 10, 10, 10};
	const double alike[] = {5, 5, 5, 5};
	struct sim_ratio r;
	double lo, hi;
	(void)state;
	assert_near(sim_ratio_effective(SAMPLE(num, den, 4)), 3, 0);
	assert_near(sim_ratio_effective(SAMPLE(alike, den, 4)), 40, 0);
	assert_near(sim_ratio_effective(SAMPLE(den, den, 4)), 40, 0);
	assert_ok(sim_ratio_share(SAMPLE(num, den, 4), 0.95, &r, test_err()));
	assert_ok(sim_binomial_interval(2, 3, 0.95, &lo, &hi, test_err()));
	assert_true(r.value == 0.5 && r.lo == lo && r.hi == hi);
	assert_ok(sim_ratio_share(SAMPLE(alike, den, 4), 0.95, &r, test_err()));
	assert_ok(sim_binomial_interval(20, 40, 0.95, &lo, &hi, test_err()));
	assert_true(r.lo == lo && r.hi == hi);
	/* Two runs, all or nothing, are one trial, which may have been either. */
	assert_near(sim_ratio_effective(SAMPLE(num, den, 2)), 1, 0);
	assert_ok(sim_ratio_share(SAMPLE(num, den, 2), 0.95, &r, test_err()));
	assert_true(r.value == 0.5 && r.lo == 0 && r.hi == 1);
}

/* A mean of runs is Student's: 1, 2, 3, 4 has 2.5 +- 3.18245 * 1.29099 / 2. */
static void a_mean_of_runs_is_students(void **state)
{
	const double num[] = {1, 2, 3, 4}, one[] = {1, 1, 1, 1};
	struct sim_ratio r;
	(void)state;
	sim_ratio_mean(SAMPLE(num, one, 4), 0.95, &r);
	assert_near(r.value, 2.5, 1e-12);
	assert_near(r.hi - r.value, 3.182446305 * 1.290994449 / 2, 1e-8);
	assert_near(r.value - r.lo, r.hi - r.value, 1e-12);
	/* Twice the numerator is twice the ratio and its interval. */
	const double twice[] = {2, 4, 6, 8};
	struct sim_ratio r2;
	sim_ratio_mean(SAMPLE(twice, one, 4), 0.95, &r2);
	assert_near(r2.lo, 2 * r.lo, 1e-12);
	assert_near(r2.hi, 2 * r.hi, 1e-12);
}

static void what_two_have_in_common_cancels(void **state)
{
	const double a[] = {9, 1, 8, 2}, b[] = {8, 0, 7, 1};
	const double den[] = {10, 10, 10, 10};
	struct sim_ratio r, swapped;
	(void)state;
	sim_ratio_difference(SAMPLE(a, den, 4), SAMPLE(b, den, 4), 0.95, 0, &r);
	assert_near(r.value, 0.1, 1e-12);
	assert_near(r.hi - r.lo, 0, 1e-12);
	/* No step of 1/40 was seen, which three of them would allow. */
	sim_ratio_difference(SAMPLE(a, den, 4), SAMPLE(b, den, 4), 0.95,
	    1.0 / 40, &r);
	assert_near(r.hi - r.value, -log(0.05) / 40, 1e-12);
	sim_ratio_difference(SAMPLE(b, den, 4), SAMPLE(a, den, 4), 0.95,
	    1.0 / 40, &swapped);
	assert_near(swapped.lo, -r.hi, 1e-12);
	assert_near(swapped.hi, -r.lo, 1e-12);
}

static void one_run_tells_nothing_of_others(void **state)
{
	const double num[] = {3}, other[] = {1}, den[] = {4};
	struct sim_ratio r;
	(void)state;
	sim_ratio_mean(SAMPLE(num, den, 1), 0.95, &r);
	assert_true(r.value == 0.75 && r.lo == -INFINITY && r.hi == INFINITY);
	assert_true(isnan(sim_ratio_se(SAMPLE(num, den, 1))));
	sim_ratio_difference(SAMPLE(num, den, 1), SAMPLE(other, den, 1), 0.95,
	    0.25, &r);
	assert_true(r.value == 0.5 && r.lo == -INFINITY && r.hi == INFINITY);
}

static void nothing_measured_is_nan(void **state)
{
	const double zero[] = {0, 0}, num[] = {3, 1}, den[] = {1, 1};
	struct sim_ratio r;
	struct sim_err e;
	(void)state;
	assert_true(isnan(sim_ratio_value(SAMPLE(zero, zero, 2))));
	assert_ok(sim_ratio_share(SAMPLE(zero, zero, 2), 0.95, &r, test_err()));
	assert_true(isnan(r.value) && isnan(r.lo) && isnan(r.hi));
	assert_true(isnan(sim_ratio_value(SAMPLE(NULL, NULL, 0))));
	assert_int_equal(sim_ratio_share(SAMPLE(num, den, 2), 0.95, &r, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg, "4 of 2 is no share.");
}

/* 40 runs of 1 to 60 trials whose success rate is of the run: 0.6 or 1, each
 * alike. An interval that took trials as independent would hold the mean, 0.8,
 * in about 70 % of samples. */
static void intervals_hold_the_mean_as_often_as_they_say(void **state)
{
	enum { RUNS = 40, SAMPLES = 2000 };
	unsigned held[3] = {0};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 1);
	for (unsigned s = 0; s < SAMPLES; s++) {
		double num[RUNS], den[RUNS], other[RUNS];
		struct sim_ratio x;
		for (unsigned i = 0; i < RUNS; i++) {
			const double p = sim_rng_u01(&r) < 0.5 ? 0.6 : 1;
			den[i] = 1 + sim_rng_below(&r, 60);
			num[i] = gsl_ran_binomial(&r.gsl, p, (unsigned)den[i]);
			other[i] =
			    gsl_ran_binomial(&r.gsl, p, (unsigned)den[i]);
		}
		assert_ok(sim_ratio_share(SAMPLE(num, den, RUNS), 0.95, &x,
		    test_err()));
		held[0] += x.lo <= 0.8 && 0.8 <= x.hi;
		sim_ratio_mean(SAMPLE(num, den, RUNS), 0.95, &x);
		held[1] += x.lo <= 0.8 && 0.8 <= x.hi;
		sim_ratio_difference(SAMPLE(num, den, RUNS),
		    SAMPLE(other, den, RUNS), 0.95, 0, &x);
		held[2] += x.lo <= 0 && 0 <= x.hi;
	}
	/* Of 2000 samples with 95 % each 1857 or fewer have chance 1.5e-5 at
	 * another seed; linearising costs up to one point, so 92.5 %. */
	for (unsigned i = 0; i < 3; i++)
		if (held[i] < 0.925 * SAMPLES)
			fail_msg("interval %u held %u of %u", i, held[i],
			    SAMPLES);
}

/* All runs of one size: the differences by run are a sample of their own, so the
 * interval is Student's of their mean. For 4 runs and 95 % that is 3.182446 se. */
static void a_difference_of_runs_is_students(void **state)
{
	const double den[] = {10, 10, 10, 10}, zero[] = {0, 0, 0, 0};
	const double a[] = {1, 2, 4, 9}, b[] = {3, 1, 2, 2};
	const double d[] = {-0.2, 0.1, 0.2, 0.7}, mean = 0.2;
	struct sim_ratio r;
	double squares = 0;
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		squares += (d[i] - mean) * (d[i] - mean);
	const double half = 3.182446305284263 * sqrt(squares / 3 / 4);
	const struct sim_ratio_sample x = {a, den, 4}, y = {b, den, 4};
	const struct sim_ratio_sample none = {zero, den, 4};
	sim_ratio_difference(&x, &y, 0.95, 0, &r);
	assert_near(r.value, mean, 1e-12);
	assert_near(r.lo, mean - half, 1e-9);
	assert_near(r.hi, mean + half, 1e-9);
	/* From nothing it is the ratio's own interval. */
	struct sim_ratio own;
	sim_ratio_difference(&x, &none, 0.95, 0, &r);
	sim_ratio_mean(&x, 0.95, &own);
	assert_near(r.lo, own.lo, 1e-12);
	assert_near(r.hi, own.hi, 1e-12);
}

/* Some hits are some and not all are not all, however few trials they count as: by
 * hand, residuals of 1000/1001 twice, effect 4 * 1000/1001, 251 trials. */
static void few_hits_of_few_trials_are_neither_none_nor_all(void **state)
{
	const double num[] = {1, 0}, rest[] = {0, 1000}, den[] = {1, 1000};
	struct sim_ratio r;
	double lo, hi;
	(void)state;
	assert_near(sim_ratio_effective(SAMPLE(num, den, 2)), 251, 0);
	assert_ok(sim_ratio_share(SAMPLE(num, den, 2), 0.95, &r, test_err()));
	assert_ok(sim_binomial_interval(1, 251, 0.95, &lo, &hi, test_err()));
	assert_true(r.value == 1. / 1001 && r.lo == lo && r.hi == hi);
	assert_ok(sim_ratio_share(SAMPLE(rest, den, 2), 0.95, &r, test_err()));
	assert_ok(sim_binomial_interval(250, 251, 0.95, &lo, &hi, test_err()));
	assert_true(r.value == 1000. / 1001 && r.lo == lo && r.hi == hi);
	/* None is none of all that were counted, and one run is what it has. */
	assert_near(sim_ratio_effective(SAMPLE(den + 1, den + 1, 1)), 1000, 0);
	assert_near(sim_ratio_effective(SAMPLE(num, den, 1)), 1, 0);
	const double none[] = {0, 0}, some[] = {3};
	assert_near(sim_ratio_effective(SAMPLE(none, den, 2)), 1001, 0);
	assert_near(sim_ratio_effective(SAMPLE(some, den + 1, 1)), 1000, 0);
	assert_ok(sim_ratio_share(SAMPLE(none, den, 2), 0.95, &r, test_err()));
	assert_ok(sim_binomial_interval(0, 1001, 0.95, &lo, &hi, test_err()));
	assert_true(r.value == 0 && r.lo == 0 && r.hi == hi);
	assert_ok(sim_ratio_share(SAMPLE(den, den, 2), 0.95, &r, test_err()));
	assert_ok(
	    sim_binomial_interval(1001, 1001, 0.95, &lo, &hi, test_err()));
	assert_true(r.value == 1 && r.lo == lo && r.hi == 1);
}

static void what_is_no_count_is_refused(void **state)
{
	static const struct {
		double num, den;
		int code;
	} all[] = {{-1, 4, SIM_EINVAL}, {0, 4, 0}, {4, 4, 0},
	    {4.5, 4, SIM_EINVAL}, {NAN, 4, SIM_EINVAL}, {1, 0x1p53, SIM_EINVAL},
	    {1, 0x1p53 - 1, SIM_ERANGE}};
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct sim_ratio r;
		assert_int_equal(sim_ratio_share(SAMPLE(&all[i].num,
						     &all[i].den, 1),
				     0.95, &r, NULL),
		    all[i].code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whole_runs_count_as_one_trial),
	    cmocka_unit_test(a_mean_of_runs_is_students),
	    cmocka_unit_test(a_difference_of_runs_is_students),
	    cmocka_unit_test(what_two_have_in_common_cancels),
	    cmocka_unit_test(one_run_tells_nothing_of_others),
	    cmocka_unit_test(nothing_measured_is_nan),
	    cmocka_unit_test(intervals_hold_the_mean_as_often_as_they_say),
	    cmocka_unit_test(few_hits_of_few_trials_are_neither_none_nor_all),
	    cmocka_unit_test(what_is_no_count_is_refused),
	};
	return cmocka_run_group_tests_name("sim/ratio", tests, NULL, NULL);
}
