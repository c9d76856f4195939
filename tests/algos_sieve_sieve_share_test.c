/* tests/algos_sieve_sieve_share_test.c -- what all components say of each other.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_share.h"

#include "tests/test.h"

/* Where factors are 1 nothing is learnt: that nothing failed is as likely as
 * before, and so many failed as the law has it, whatever it is thinned by. */
static void what_says_nothing_changes_nothing(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 1000; n *= 10)
		for (double any = 0.25; any <= 1; any += 0.25) {
			struct sieve_share h;
			sieve_share_begin(&h, n, 1.4, 0);
			for (unsigned i = 0; i < n; i++)
				sieve_share_take(&h, 1, 0, 0);
			sieve_share_end(&h, any);
			assert_near(h.none, 1 - any, 1e-9);
		}
}

/* One of two rivals for the same losses failed, as surely as one alone with the
 * sum of their factors. */
static void rivals_count_once(void **state)
{
	struct sieve_share one, two;
	(void)state;
	sieve_share_begin(&one, 50, 1, 39);
	sieve_share_begin(&two, 50, 1, 39);
	sieve_share_take(&one, 1, log(900), 0);
	sieve_share_take(&two, 1, log(600), 300);
	sieve_share_take(&two, 1, log(300), 600);
	sieve_share_end(&one, 0.5);
	sieve_share_end(&two, 0.5);
	assert_near(one.none, two.none, 1e-9);
	assert_near(sieve_share_ln_odds(&one, -INFINITY),
	    sieve_share_ln_odds(&two, -INFINITY), 1e-9);
}

/* Many that are somewhat likely tell that some failed; none of them would. */
static void many_tell_together(void **state)
{
	double before = 1;
	(void)state;
	for (unsigned n = 1; n <= 16; n *= 2) {
		struct sieve_share h;
		sieve_share_begin(&h, 500, 1, 39);
		for (unsigned i = 0; i < n; i++)
			sieve_share_take(&h, 1, log(200), 0);
		sieve_share_end(&h, 0.5);
		assert_true(h.none < before);
		before = h.none;
	}
	assert_true(before < 0.2);
}

/* Three of 500 components surely failed and all others surely did not: one more
 * has the odds of Laplace's rule, as if `rare` more had been seen to work. So few
 * do not feel that the law is cut off at a half. */
static void the_share_is_drawn_from_a_beta_law(void **state)
{
	(void)state;
	for (double rare = 0; rare <= 120; rare += 40) {
		const double n = 500, k = 3;
		struct sieve_share h;
		sieve_share_begin(&h, n, 1, rare);
		sieve_share_take(&h, k, 299, 0);
		sieve_share_end(&h, 1);
		assert_near(exp(sieve_share_ln_odds(&h, -INFINITY)) /
			((k + 1) / (n - k + rare - 1)),
		    1, 0.02);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_says_nothing_changes_nothing),
	    cmocka_unit_test(rivals_count_once),
	    cmocka_unit_test(many_tell_together),
	    cmocka_unit_test(the_share_is_drawn_from_a_beta_law),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_share", tests,
	    NULL, NULL);
}
