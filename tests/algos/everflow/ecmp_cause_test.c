/* tests/algos/everflow/ecmp_cause_test.c -- why flows are spread as they are.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/ecmp_cause.h"

#include <math.h>

#include "tests/test.h"

enum { BITS_2 = 2, N_LAWS = 6 };

static double law(int which, const double count[], uint32_t n)
{
	switch (which) {
	case 0:
		return algo_ecmp_even(count, n);
	case 1:
		return algo_ecmp_weights(count, n);
	case 2:
		return algo_ecmp_narrowed(count, n);
	default:
		return algo_ecmp_bits(count, n, (uint32_t)(which - 3) * 2);
	}
}

/* Over all ways in which 6 flows may choose the chances sum to 1. */
static void chances_sum_to_one(void **state)
{
	(void)state;
	for (int which = 0; which < N_LAWS; which++) {
		for (uint32_t n = 2; n <= 4; n++) {
			double sum = 0;
			uint32_t all = 1;
			for (int i = 0; i < 6; i++)
				all *= n;
			for (uint32_t x = 0; x < all; x++) {
				double count[4] = {0};
				uint32_t rest = x;
				for (int i = 0; i < 6; i++, rest /= n)
					count[rest % n]++;
				sum += exp(law(which, count, n));
			}
			if (fabs(sum - 1) > 1e-12)
				fail_msg("law %d, n %u: %.17g", which, n, sum);
		}
	}
}

/* Each of 3^4 ways to give 4 sorts of flows to 3 next hops. */
static void few_bits_are_all_ways_to_share_out_sorts(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		double count[3], sum = 0;
		struct sim_rng r;
		test_rng(&r, run);
		for (int i = 0; i < 3; i++)
			count[i] = sim_rng_below(&r, 4) *
			    sim_rng_below(&r, run < 100 ? 3 : 60);
		for (uint32_t x = 0; x < 81; x++) {
			double share[3] = {0}, p = 1;
			uint32_t rest = x;
			for (int i = 0; i < 4; i++, rest /= 3)
				share[rest % 3] += 0.25;
			for (int i = 0; i < 3; i++)
				p *= pow(share[i], count[i]);
			sum += p / 81;
		}
		const double got = algo_ecmp_bits(count, 3, BITS_2);
		if (!(fabs(got - log(sum)) < 1e-9) && sum > 0)
			fail_msg("run %u: %.17g, not %.17g", run, got,
			    log(sum));
		if (sum == 0 && !(got == -INFINITY))
			fail_msg("run %u: %.17g", run, got);
	}
}

/* Of very many flows neither the sum nor a term of it is lost. */
static void many_flows_do_not_underflow(void **state)
{
	static const double count[] = {3e6, 1e6, 2e6, 2e6};
	double share = 0;
	(void)state;
	for (int i = 0; i < 4; i++)
		share += count[i] * log(count[i] / 8e6);
	/* The one way that fits: 8! / (3! 1! 2! 2!) of 4^8. */
	const double way = algo_ecmp_bits(count, 4, 3) - share;
	assert_true(fabs(way - log(1680 / 65536.0)) < 1e-6);
	assert_true(algo_ecmp_weights(count, 4) < share - 1000);
	assert_true(algo_ecmp_narrowed(count, 4) == -INFINITY);
}

/* --- together ------------------------------------------------------------- */
static const struct algo_ecmp_prior prior = {3, {0.5, 0.25, 0.25}, 0.1};

static double score(const struct algo_ecmp_likely l[], size_t n,
    const uint8_t cause[])
{
	double sum = 0, of[3] = {0};
	for (size_t i = 0; i < n; i++) {
		sum += l[i].of[cause[i]] +
		    log((of[cause[i]] + prior.other * prior.of[cause[i]]) /
			((double)i + prior.other));
		of[cause[i]]++;
	}
	return sum;
}

/* The likeliest of all 3^6 ways; a climb misses it in fewer than 1 of 50. */
static void causes_are_the_likeliest_together(void **state)
{
	enum { N = 6, RUNS = 400 };
	unsigned missed = 0;
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		struct algo_ecmp_likely l[N];
		uint8_t cause[N], got[N];
		double best = -INFINITY;
		struct sim_rng r;
		test_rng(&r, run);
		for (int i = 0; i < N; i++)
			for (int c = 0; c < 3; c++)
				l[i].of[c] = -10 * sim_rng_u01(&r);
		for (uint32_t x = 0; x < 729; x++) {
			uint32_t rest = x;
			for (int i = 0; i < N; i++, rest /= 3)
				cause[i] = (uint8_t)(rest % 3);
			best = fmax(best, score(l, N, cause));
		}
		algo_ecmp_causes(l, N, &prior, got);
		const double found = score(l, N, got);
		if (found > best + 1e-9)
			fail_msg("run %u: above the best", run);
		missed += found < best - 1e-9;
	}
	print_message("%u of %u missed\n", missed, (unsigned)RUNS);
	assert_true(missed * 50 < RUNS);
}

static void one_is_an_exception_if_its_counts_say_so(void **state)
{
	struct algo_ecmp_likely l[10];
	uint8_t cause[10];
	(void)state;
	for (int i = 0; i < 10; i++)
		l[i] = (struct algo_ecmp_likely){{0, -10, -10}};
	/* By itself it is the second; among nine others it need be more. */
	l[4].of[1] = 2;
	algo_ecmp_causes(&l[4], 1, &prior, cause);
	assert_int_equal(cause[0], 1);
	algo_ecmp_causes(l, 10, &prior, cause);
	for (int i = 0; i < 10; i++)
		assert_int_equal(cause[i], 0);
	l[4].of[1] = 7;
	algo_ecmp_causes(l, 10, &prior, cause);
	for (int i = 0; i < 10; i++)
		assert_int_equal(cause[i], i == 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(chances_sum_to_one),
	    cmocka_unit_test(few_bits_are_all_ways_to_share_out_sorts),
	    cmocka_unit_test(many_flows_do_not_underflow),
	    cmocka_unit_test(causes_are_the_likeliest_together),
	    cmocka_unit_test(one_is_an_exception_if_its_counts_say_so),
	};
	return cmocka_run_group_tests_name("algos/everflow/ecmp_cause", tests,
	    NULL, NULL);
}
