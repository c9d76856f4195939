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
			sieve_share_begin(&h, n, 1.4);
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
	sieve_share_begin(&one, 50, 1);
	sieve_share_begin(&two, 50, 1);
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
		sieve_share_begin(&h, 500, 1);
		for (unsigned i = 0; i < n; i++)
			sieve_share_take(&h, 1, log(200), 0);
		sieve_share_end(&h, 0.5);
		assert_true(h.none < before);
		before = h.none;
	}
	assert_true(before < 0.2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_says_nothing_changes_nothing),
	    cmocka_unit_test(rivals_count_once),
	    cmocka_unit_test(many_tell_together),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_share", tests,
	    NULL, NULL);
}
