/* tests/models/burst_test.c -- queues that come and go: shape, share and mean.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Six bounds of 5 standard errors (6e-7 each).
 */
#include "models/burst.h"

#include "sim/rng.h"
#include "tests/rigs/law.h"
#include "tests/test.h"

static struct burst burst_of(double duty, enum sim_dist_kind kind, double a,
    double b)
{
	const struct sim_seed where = {.seed = test_seed()};
	struct burst q = {.duty = duty,
	    .depth = {kind, a, b},
	    .episode_ns = 1000,
	    .name = {7, 0, 0}};
	sim_rng_key(q.key, &where, SIM_STREAM_BURST);
	return q;
}

/* Up to its depth in the middle of an episode, and down again. */
static void a_burst_is_a_triangle(void **state)
{
	(void)state;
	struct burst q = burst_of(1, SIM_FIXED, 800, 800);
	for (sim_ns t = 0; t <= 2000; t++) {
		const double x = (double)(t % 1000) / 1000;
		assert_near(burst_us(&q, t), 800 * 2 * (x < 0.5 ? x : 1 - x),
		    1e-9);
	}
	q.mark_us = 400;
	assert_false(burst_marks(&q, 250));
	assert_true(burst_marks(&q, 251));
	assert_true(burst_marks(&q, 749));
	assert_false(burst_marks(&q, 750));
	q.mark_us = 0;
	assert_false(burst_marks(&q, 500));
}

/* Whole episodes have a queue or none, a share of them; who asks twice, or in
 * another order, gets the same; another link has another queue. */
static void episodes_are_busy_as_often_as_said(void **state)
{
	(void)state;
	struct burst q = burst_of(0.3, SIM_UNIFORM, 100, 800), other = q;
	struct law_mean busy = {0}, both = {0};
	other.name[0] = 8;
	for (sim_ns i = 0; i < 20000; i++) {
		const double early = burst_us(&q, i * 1000 + 1);
		const double mid = burst_us(&q, i * 1000 + 500);
		const double late = burst_us(&q, i * 1000 + 999);
		assert_int_equal(early > 0, mid > 0);
		assert_int_equal(late > 0, mid > 0);
		assert_true(mid == 0 || (mid >= 100 && mid <= 800));
		assert_true(burst_us(&q, i * 1000 + 500) == mid);
		law_add(&busy, mid > 0);
		law_add(&both, mid > 0 && burst_us(&other, i * 1000 + 500) > 0);
	}
	assert_true(fabs(law_z(&busy, 0.3)) < 5);
	assert_true(fabs(law_z(&both, 0.09)) < 5);
	q.duty = 0;
	for (sim_ns t = 0; t < 1000000; t += 77)
		assert_true(burst_us(&q, t) == 0);
}

static void the_mean_is_that_of_time(void **state)
{
	(void)state;
	const struct burst queues[] = {
	    burst_of(1, SIM_FIXED, 10, 10),
	    burst_of(0.2, SIM_UNIFORM, 200, 800),
	    burst_of(0.5, SIM_LOG_UNIFORM, 1, 1000),
	    burst_of(0.5, SIM_LOG_UNIFORM, 5, 5),
	};
	for (size_t i = 0; i < 4; i++) {
		struct law_mean mean = {0};
		struct sim_rng r;
		test_rng(&r, (uint32_t)i);
		/* Times in different episodes are independent. */
		for (sim_ns k = 0; k < 40000; k++)
			law_add(&mean,
			    burst_us(&queues[i],
				k * 1000 + sim_rng_below(&r, 1000)));
		assert_true(fabs(law_z(&mean, burst_mean_us(&queues[i]))) < 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_burst_is_a_triangle),
	    cmocka_unit_test(episodes_are_busy_as_often_as_said),
	    cmocka_unit_test(the_mean_is_that_of_time),
	};
	return cmocka_run_group_tests_name("models/burst", tests, NULL, NULL);
}
