/* tests/algos/everflow/admission_test.c -- what fits, by closed forms.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/admission.h"

#include "tests/test.h"

static struct algo_admission_params defaults(void)
{
	struct algo_admission_params p;
	assert_ok(sim_field_defaults(algo_admission_fields, &p, test_err()));
	return p;
}

/* 1,000 packets/s of 1,000 bytes: copies of 178 bytes at 5 switches. */
static void need_is_as_by_hand(void **state)
{
	(void)state;
	struct algo_admission_params p = defaults();
	const struct algo_load a = algo_admission_need(&p, 1000, 1e6);
	assert_near(a.of[ALGO_CAPACITY_SWITCH], 178e3, 1e-6);
	assert_near(a.of[ALGO_CAPACITY_LINK], 890e3, 1e-6);
	assert_near(a.of[ALGO_CAPACITY_RESHUFFLER], 7.12e6, 1e-6);
	assert_near(a.of[ALGO_CAPACITY_ANALYZERS], 5000, 1e-9);
	/* SYNs of 74 bytes are not truncated. */
	const struct algo_load b = algo_admission_need(&p, 1000, 74e3);
	assert_near(b.of[ALGO_CAPACITY_SWITCH], 124e3, 1e-6);
	p.switch_share = 0.25;
	p.link_share = 0.5;
	const struct algo_load c = algo_admission_need(&p, 1000, 74e3);
	assert_near(c.of[ALGO_CAPACITY_SWITCH], 31e3, 1e-6);
	assert_near(c.of[ALGO_CAPACITY_LINK], 310e3, 1e-6);
	const struct algo_load none = algo_admission_need(&p, 0, 0);
	for (unsigned i = 0; i < ALGO_N_CAPACITIES; i++)
		assert_true(none.of[i] == 0);
}

static void capacity_is_as_by_hand(void **state)
{
	(void)state;
	const struct algo_admission_params p = defaults();
	const struct algo_load c = algo_admission_capacity(&p);
	assert_near(c.of[ALGO_CAPACITY_SWITCH], 12.5e6, 1e-6);
	assert_near(c.of[ALGO_CAPACITY_LINK], 62.5e6, 1e-6);
	assert_near(c.of[ALGO_CAPACITY_RESHUFFLER], 1e10, 1e-6);
	assert_near(c.of[ALGO_CAPACITY_ANALYZERS], 2e6, 1e-6);
}

static void each_capacity_can_be_the_bottleneck(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ALGO_N_CAPACITIES; i++) {
		struct algo_admission_params p = defaults();
		const struct algo_load used = {{0}};
		struct algo_refusal why;
		const struct algo_load need =
		    algo_admission_need(&p, 10000, 1e7);
		assert_true(algo_admission_fits(&p, &used, &need, &why));
		/* A tenth of what is needed. */
		switch (i) {
		case ALGO_CAPACITY_SWITCH:
			p.switch_budget = need.of[i] / 10;
			break;
		case ALGO_CAPACITY_LINK:
			p.link_bps = need.of[i] / 10 * 8 / p.link_most;
			break;
		case ALGO_CAPACITY_RESHUFFLER:
			p.reshuffler_bps = need.of[i] / 10;
			break;
		default:
			p.analyzer_pps = need.of[i] / 10 / p.n_analyzers;
		}
		assert_false(algo_admission_fits(&p, &used, &need, &why));
		assert_int_equal(why.bottleneck, i);
		assert_near(why.need, need.of[i], 1e-6 * why.need);
		assert_near(why.capacity, need.of[i] / 10, 1e-6 * why.need);
		assert_int_equal(why.sample_bits, 4);
		/* As it says; a bit less does not. */
		for (unsigned bits = 3; bits <= 4; bits++) {
			const struct algo_load part = algo_admission_need(&p,
			    ldexp(10000, -(int)bits), ldexp(1e7, -(int)bits));
			struct algo_refusal other;
			assert_int_equal(algo_admission_fits(&p, &used, &part,
					     &other),
			    bits == 4);
		}
	}
}

/* The bottleneck is what is exceeded by the greatest factor, the first of equal
 * ones; the sample fits into all. */
static void of_many_bottlenecks_the_worst_is_told(void **state)
{
	(void)state;
	const struct algo_admission_params p = defaults();
	const struct algo_load full = algo_admission_capacity(&p);
	static const double factor[] = {1, 20, 3, 9, 20};
	struct algo_refusal why;
	for (unsigned first = 0; first < 5; first++) {
		struct algo_load used = {{0}}, need;
		unsigned worst = 0;
		for (unsigned i = 0; i < ALGO_N_CAPACITIES; i++) {
			need.of[i] = full.of[i] * factor[(first + i) % 5];
			if (need.of[i] / full.of[i] >
			    need.of[worst] / full.of[worst])
				worst = i;
		}
		assert_false(algo_admission_fits(&p, &used, &need, &why));
		assert_int_equal(why.bottleneck, worst);
		assert_true(why.need == need.of[worst]);
		assert_true(why.capacity == full.of[worst]);
		assert_int_equal(why.sample_bits, 5);
	}
	/* Little room in one, and another exceeded by more. */
	struct algo_load used = {{0}}, need = {{0}};
	used.of[1] = full.of[1] * 0.99;
	need.of[1] = full.of[1] * 0.5;
	need.of[3] = full.of[3] * 2;
	assert_false(algo_admission_fits(&p, &used, &need, &why));
	assert_int_equal(why.bottleneck, 3);
	assert_true(why.used == 0);
	assert_int_equal(why.sample_bits, 6);
	/* 1 in 2^16 is the least. */
	used = need = (struct algo_load){{0}};
	need.of[2] = ldexp(full.of[2], 16);
	assert_false(algo_admission_fits(&p, &used, &need, &why));
	assert_int_equal(why.sample_bits, 16);
	need.of[2] *= 1.001;
	assert_false(algo_admission_fits(&p, &used, &need, &why));
	assert_int_equal(why.sample_bits, 17);
	need.of[2] = full.of[2];
	assert_true(algo_admission_fits(&p, &used, &need, &why));
}

static void refusals_are_told(void **state)
{
	(void)state;
	struct algo_admission_params p = defaults();
	const struct algo_load full = algo_admission_capacity(&p);
	struct algo_load used = {{0}}, need = {{0}};
	struct algo_refusal why;
	char text[256];
	struct sim_text out = {text, sizeof(text), 0};
	used.of[ALGO_CAPACITY_ANALYZERS] = 1.9e6;
	need.of[ALGO_CAPACITY_ANALYZERS] = 4e5;
	assert_false(algo_admission_fits(&p, &used, &need, &why));
	algo_refusal_put(&why, &out);
	assert_string_equal(text,
	    "analyzers: 2e+06 copies/s, of which 1.9e+06 are reserved; this "
	    "needs 4e+05 more. 1 packet in 4 would fit.");
	out.n = 0;
	used = full;
	assert_false(algo_admission_fits(&p, &used, &need, &why));
	algo_refusal_put(&why, &out);
	assert_non_null(strstr(text, "No sampling would fit."));
	/* What is not a number fits nowhere, and what is not limited fits
	 * always. */
	need.of[0] = NAN;
	used = (struct algo_load){{0}};
	assert_false(algo_admission_fits(&p, &used, &need, &why));
	p = (struct algo_admission_params){0};
	assert_true(algo_admission_fits(&p, &full, &full, &why));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(need_is_as_by_hand),
	    cmocka_unit_test(capacity_is_as_by_hand),
	    cmocka_unit_test(each_capacity_can_be_the_bottleneck),
	    cmocka_unit_test(of_many_bottlenecks_the_worst_is_told),
	    cmocka_unit_test(refusals_are_told),
	};
	return cmocka_run_group_tests_name("algos/everflow/admission", tests,
	    NULL, NULL);
}
