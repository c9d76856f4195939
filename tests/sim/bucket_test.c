/* tests/sim/bucket_test.c -- token buckets: rates, bursts, an oracle.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/bucket.h"
#include "tests/test.h"

static void a_zeroed_bucket_gives_its_burst_and_then_its_rate(void **state)
{
	const struct sim_bucket b = sim_bucket_of(10, 3);
	sim_ns full_at = 0;
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(sim_bucket_take(&b, &full_at, 0));
	assert_false(sim_bucket_take(&b, &full_at, 0));
	assert_false(sim_bucket_take(&b, &full_at, SIM_SEC / 10 - 1));
	assert_true(sim_bucket_take(&b, &full_at, SIM_SEC / 10));
	assert_false(sim_bucket_take(&b, &full_at, SIM_SEC / 10));
	/* The bucket is full after 0.3 s in which nobody takes from it, and
	 * does not get fuller after that. */
	for (int i = 0; i < 3; i++)
		assert_true(sim_bucket_take(&b, &full_at, 9 * SIM_SEC));
	assert_false(sim_bucket_take(&b, &full_at, 9 * SIM_SEC));
}

static void rate_0_is_no_limit(void **state)
{
	const struct sim_bucket b = sim_bucket_of(0, 1);
	sim_ns full_at = 0;
	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_true(sim_bucket_take(&b, &full_at, 5));
}

/* The oracle fills a real number of tokens. Times are whole intervals, so that
 * both can be exact. */
static void it_agrees_with_a_level_that_rises(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		const uint32_t rate = 1u << sim_rng_below(&r, 6);
		const uint32_t burst = 1 + sim_rng_below(&r, 5);
		const struct sim_bucket b = sim_bucket_of(rate, burst);
		double level = burst;
		sim_ns full_at = 0, now = 0;
		for (int i = 0; i < 300; i++) {
			const uint32_t n =
			    sim_rng_below(&r, 3) ? 0 : sim_rng_below(&r, 4);
			now += n * b.interval;
			level = fmin(burst, level + n);
			const int got = sim_bucket_take(&b, &full_at, now);
			if (got != (level >= 1))
				fail_msg("seed %llu run %u: taker %d",
				    (unsigned long long)test_seed(), run, i);
			level -= got;
		}
	}
}

static void no_second_sees_more_than_burst_and_rate(void **state)
{
	enum { N = 3000 };
	static sim_ns taken[N];
	(void)state;
	for (uint32_t run = 0; run < 50; run++) {
		struct sim_rng r;
		test_rng(&r, 1000 + run);
		const uint32_t rate = 1 + sim_rng_below(&r, 50);
		const uint32_t burst = 1 + sim_rng_below(&r, 20);
		const struct sim_bucket b = sim_bucket_of(rate, burst);
		sim_ns full_at = 0, now = 0;
		size_t n = 0;
		for (int i = 0; i < N; i++) {
			now += sim_rng_below(&r, 20 * (uint32_t)SIM_MS);
			if (sim_bucket_take(&b, &full_at, now))
				taken[n++] = now;
		}
		assert_true(n > rate + burst);
		for (size_t i = 0; i + burst + rate < n; i++)
			assert_true(
			    taken[i + burst + rate] - taken[i] >= SIM_SEC);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_zeroed_bucket_gives_its_burst_and_then_its_rate),
	    cmocka_unit_test(rate_0_is_no_limit),
	    cmocka_unit_test(it_agrees_with_a_level_that_rises),
	    cmocka_unit_test(no_second_sees_more_than_burst_and_rate),
	};
	return cmocka_run_group_tests_name("sim/bucket", tests, NULL, NULL);
}
