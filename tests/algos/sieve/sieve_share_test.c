/* tests/algos/sieve/sieve_share_test.c -- what all components say of each other.
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

/* By the words of the header: shares on a grid, sums over it in plain numbers. */
struct share_oracle {
	double odds[SIEVE_SHARES], w[SIEVE_SHARES]; /* law times likelihood */
	double before, none, any;
};

static void share_oracle_begin(struct share_oracle *o, double n, double thin,
    double rare)
{
	double all = 0;
	o->before = 0;
	for (unsigned j = 0; j < SIEVE_SHARES; j++) {
		const double from = 1 / (8 * n), at = (j + 0.5) / SIEVE_SHARES,
			     share = from * pow(0.5 / from, at);
		o->odds[j] = share / (1 - share) / thin;
		o->w[j] = share * pow(1 - share, rare + n);
		o->before += o->w[j];
		all += o->w[j] * pow(1 + o->odds[j], n);
	}
	o->before /= all;
	for (unsigned j = 0; j < SIEVE_SHARES; j++)
		o->w[j] /= all;
}

static void share_oracle_take(struct share_oracle *o, double n, double factor,
    double rivals)
{
	for (unsigned j = 0; j < SIEVE_SHARES; j++)
		o->w[j] *= pow(1 + o->odds[j] * (factor + rivals),
		    n * factor / (factor + rivals));
}

static void share_oracle_end(struct share_oracle *o, double any)
{
	double all = 0;
	for (unsigned j = 0; j < SIEVE_SHARES; j++)
		all += o->w[j];
	const double some = any / (1 - o->before),
		     sum = some * (all - o->before) + 1 - any;
	o->none = (1 - any) / sum;
	o->any = some * all / sum;
	for (unsigned j = 0; j < SIEVE_SHARES; j++)
		o->w[j] /= all;
}

static double share_oracle_odds(const struct share_oracle *o, double factor)
{
	double up = 0, down = 0;
	for (unsigned j = 0; j < SIEVE_SHARES; j++) {
		up += o->w[j] * o->odds[j] / (1 + o->odds[j] * factor);
		down += o->w[j] / (1 + o->odds[j] * factor);
	}
	return up / down;
}

static void all_is_as_by_sums_over_shares(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct share_oracle o;
		struct sieve_share h;
		struct sim_rng r;
		test_rng(&r, run);
		const double n = 1 + sim_rng_below(&r, 100),
			     thin = 1 + sim_rng_u01(&r),
			     rare = sim_rng_below(&r, 60),
			     any = 0.05 + 0.9 * sim_rng_u01(&r);
		sieve_share_begin(&h, n, thin, rare);
		share_oracle_begin(&o, n, thin, rare);
		assert_near(h.none, o.before, 1e-9);
		for (uint32_t i = sim_rng_below(&r, 6); i > 0; i--) {
			const double k = 1 + sim_rng_below(&r, 2),
				     ln = 12 * sim_rng_u01(&r) - 3,
				     rivals = sim_rng_below(&r, 2) * exp(ln);
			sieve_share_take(&h, k, ln, rivals);
			share_oracle_take(&o, k, exp(ln), rivals);
		}
		sieve_share_end(&h, any);
		share_oracle_end(&o, any);
		const double ln = 10 * sim_rng_u01(&r) - 3,
			     odds = exp(ln) * share_oracle_odds(&o, exp(ln));
		assert_near(h.none, o.none, 1e-9);
		assert_near(h.any / o.any, 1, 1e-9);
		assert_near(sieve_share_ln_odds(&h, ln),
		    log(share_oracle_odds(&o, exp(ln))), 1e-9);
		assert_near(sieve_share_expects(&h, 3, ln),
		    3 * fmin(1, o.any * odds / (1 + odds)), 1e-9);
	}
}

/* A component that surely works says nothing beyond being one of them, and one
 * that surely failed counts as one however sure it is. */
static void factors_without_bounds_are_borne(void **state)
{
	struct sieve_share a, b;
	(void)state;
	sieve_share_begin(&a, 50, 1, 39);
	sieve_share_begin(&b, 50, 1, 39);
	sieve_share_take(&a, 1, 300, 0);
	sieve_share_take(&b, 1, 1e6, 0);
	sieve_share_take(&b, 1, -1e6, 0);
	sieve_share_take(&b, 1, -INFINITY, 0);
	sieve_share_end(&a, 0.5);
	sieve_share_end(&b, 0.5);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_near(sieve_share_expects(&b, 1, 1e6), 1, 1e-9);
	assert_near(sieve_share_expects(&b, 1, -INFINITY), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_says_nothing_changes_nothing),
	    cmocka_unit_test(rivals_count_once),
	    cmocka_unit_test(many_tell_together),
	    cmocka_unit_test(the_share_is_drawn_from_a_beta_law),
	    cmocka_unit_test(all_is_as_by_sums_over_shares),
	    cmocka_unit_test(factors_without_bounds_are_borne),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_share", tests,
	    NULL, NULL);
}
