/* tests/algos/planner/gain_test.c -- expected drops of entropy, by other sums.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/planner/gain.h"

#include "tests/test.h"

static double ln_poisson(double mean, unsigned r)
{
	return r * log(mean) - mean - lgamma(r + 1.0);
}

static void nothing_is_told_of_what_is_known_or_looks_alike(void **state)
{
	(void)state;
	assert_near(algo_gain(0, 0.1, 5), 0, 0);
	assert_near(algo_gain(1, 0.1, 5), 0, 0);
	assert_near(algo_gain(0.3, 2, 2), 0, 0);
	assert_near(algo_gain_entropy(0.5), log(2), 1e-15);
	assert_near(algo_gain_entropy(0), 0, 0);
	assert_near(algo_gain_entropy(1), 0, 0);
}

/* Where healthy links lose nothing, one lost packet tells all, so that none lost
 * is the only case that leaves anything. */
static void without_noise_it_is_what_none_lost_leaves(void **state)
{
	(void)state;
	for (double q = 0.01; q < 1; q += 0.14)
		for (double x = 0.05; x < 20; x *= 3) {
			const double none = 1 - q + q * exp(-x);
			const double want = algo_gain_entropy(q) -
			    none * algo_gain_entropy(q * exp(-x) / none);
			assert_near(algo_gain(q, 0, x), want, 1e-8);
		}
}

/* It is the information that the number of losses has of the link: the mean of
 * ln of p(r | z) / p(r), which has no entropy in it. */
static void it_is_the_mutual_information(void **state)
{
	struct sim_rng r;
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		test_rng(&r, run);
		const double q = sim_rng_u01(&r),
			     healthy = exp(-5 + 8 * sim_rng_u01(&r)),
			     failed = exp(-5 + 9 * sim_rng_u01(&r));
		double want = 0;
		for (unsigned k = 0; k < 1000; k++) {
			const double p0 = exp(ln_poisson(healthy, k)),
				     p1 = exp(ln_poisson(failed, k)),
				     p = (1 - q) * p0 + q * p1;
			if (p0 > 1e-290)
				want += (1 - q) * p0 * log(p0 / p);
			if (p1 > 1e-290)
				want += q * p1 * log(p1 / p);
		}
		const double got = algo_gain(q, healthy, failed);
		if (!(fabs(got - want) < 1e-7))
			fail_msg("run %u: chance %g, means %g and %g: %.10f "
				 "and not %.10f",
			    run, q, healthy, failed, got, want);
	}
}

/* Packets tell more together, and each less than the one before. */
static void more_packets_tell_more_and_ever_less(void **state)
{
	(void)state;
	for (double q = 0.001; q < 1; q = q < 0.5 ? q * 4 : q + 0.3) {
		double before = 0, step = INFINITY;
		for (unsigned n = 1; n < 400; n++) {
			const double g = algo_gain(q, n * 0.01, n * 0.2);
			assert_true(g >= before - 1e-8);
			assert_true(g - before <= step + 1e-8);
			assert_true(g <= algo_gain_entropy(q) + 1e-12);
			step = g - before;
			before = g;
		}
	}
}

static void many_packets_end(void **state)
{
	(void)state;
	const double all = algo_gain_entropy(0.2);
	assert_near(algo_gain(0.2, 1e9, 3e9), all, 1e-6);
	assert_near(algo_gain(0.2, 0, 1e12), all, 1e-6);
	assert_true(
	    algo_gain(0.2, 5e5, 5.05e5) <= algo_gain(0.2, 990, 1000) + 1e-9);
	assert_true(algo_gain(0.2, 3e9, 1e9) > 0.99 * all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_told_of_what_is_known_or_looks_alike),
	    cmocka_unit_test(without_noise_it_is_what_none_lost_leaves),
	    cmocka_unit_test(it_is_the_mutual_information),
	    cmocka_unit_test(more_packets_tell_more_and_ever_less),
	    cmocka_unit_test(many_packets_end),
	};
	return cmocka_run_group_tests_name("algos/planner/gain", tests, NULL,
	    NULL);
}
