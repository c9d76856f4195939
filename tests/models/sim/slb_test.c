/* tests/models/sim/slb_test.c -- load balancer: shares, and one fate each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/sim/slb.h"
#include "tests/test.h"

/* 5.5 standard deviations: fires once in 2.6e7 comparisons. */
static void assert_share(uint32_t k, uint32_t n, double p)
{
	assert_near((double)k / n, p, 5.5 * sqrt(p * (1 - p) / n));
}

static void shares_are_as_asked(void **state)
{
	enum { N = 100000 };
	const struct fabric_sim_slb_params p = {.share = 0.6,
	    .snat = 0.3,
	    .fail = 0.1,
	    .latency_us = {SIM_UNIFORM, 100, 1000}};
	const struct sim_seed where = {.seed = test_seed()};
	uint32_t vip = 0, refused = 0, lost = 0, both = 0;
	double sum = 0;
	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		const struct fabric_sim_slb_fate f =
		    fabric_sim_slb_fate(&p, &where, i);
		vip += f.vip;
		refused += f.refused;
		lost += f.lost;
		both += f.refused && f.lost && f.vip;
		assert_in_range(f.latency_ns, 100000, 1000000);
		sum += (double)f.latency_ns;
	}
	assert_share(vip, N, 0.6);
	assert_share(refused, N, 0.3);
	assert_share(lost, N, 0.1);
	assert_share(both, N, 0.6 * 0.3 * 0.1);
	assert_near(sum / N, 550e3, 5.5 * 900e3 / sqrt(12.0 * N));
}

static void a_connection_has_one_fate(void **state)
{
	const struct fabric_sim_slb_params p = {.share = 0.5,
	    .snat = 0.5,
	    .fail = 0.5,
	    .latency_us = {SIM_UNIFORM, 1, 1000}};
	const struct sim_seed where = {.seed = 5},
			      other = {.seed = 5, .run = 1};
	unsigned n_same = 0;
	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		struct fabric_sim_slb_fate a =
		    fabric_sim_slb_fate(&p, &where, i);
		struct fabric_sim_slb_fate b =
		    fabric_sim_slb_fate(&p, &where, i);
		struct fabric_sim_slb_fate c =
		    fabric_sim_slb_fate(&p, &other, i);
		assert_true(a.vip == b.vip && a.refused == b.refused &&
		    a.lost == b.lost && a.latency_ns == b.latency_ns);
		n_same += a.latency_ns == c.latency_ns;
	}
	assert_true(n_same < 5);
}

static void without_a_share_nothing_is_virtual(void **state)
{
	const struct fabric_sim_slb_params p = {.share = 0,
	    .snat = 1,
	    .fail = 1};
	const struct sim_seed where = {.seed = 5};
	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		const struct fabric_sim_slb_fate f =
		    fabric_sim_slb_fate(&p, &where, i);
		assert_false(f.vip || f.refused || f.lost);
		assert_int_equal(f.latency_ns, 0);
	}
}

/* Another share is others' fate, and no other fate: who goes to a VIP does so
 * at any larger share, and is answered alike. */
static void a_share_changes_whose_fate_it_is_alone(void **state)
{
	struct fabric_sim_slb_params p = {.share = 0.3,
	    .snat = 0.4,
	    .fail = 0.5,
	    .latency_us = {SIM_UNIFORM, 1, 1000}};
	struct fabric_sim_slb_params more = p;
	const struct sim_seed where = {.seed = 5};
	(void)state;
	more.share = 0.6;
	for (uint32_t i = 0; i < 300; i++) {
		const struct fabric_sim_slb_fate a = fabric_sim_slb_fate(&p,
						     &where, i),
						 b = fabric_sim_slb_fate(&more,
						     &where, i);
		assert_true(a.vip <= b.vip);
		assert_int_equal(a.refused, b.refused);
		assert_int_equal(a.lost, b.lost);
		assert_int_equal(a.latency_ns, b.latency_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(shares_are_as_asked),
	    cmocka_unit_test(a_connection_has_one_fate),
	    cmocka_unit_test(without_a_share_nothing_is_virtual),
	    cmocka_unit_test(a_share_changes_whose_fate_it_is_alone),
	};
	return cmocka_run_group_tests_name("models/sim/slb", tests, NULL, NULL);
}
