/* tests/models/sim/icmp_test.c -- switches' answers: limits and counts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/sim/icmp.h"
#include "tests/test.h"

enum { N_SWITCHES = 5, SECONDS = 4 };

static struct fabric_sim_icmp_params params(double t_max, uint32_t burst)
{
	struct fabric_sim_icmp_params p;
	assert_ok(sim_field_defaults(fabric_sim_icmp_fields, &p, test_err()));
	p.t_max = t_max;
	p.burst = burst;
	return p;
}

static void counts_are_those_of_a_table(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 100; run++) {
		const struct fabric_sim_icmp_params p = params(0, 1);
		uint32_t table[N_SWITCHES][SECONDS + 2] = {0};
		struct fabric_sim_icmp_load want = {
		    .n_all = N_SWITCHES * SECONDS};
		struct fabric_sim_icmp m = {0};
		struct sim_rng r;
		sim_ns now = 0;
		test_rng(&r, run);
		assert_ok(fabric_sim_icmp_begin(&m, &p, N_SWITCHES,
		    SECONDS * SIM_SEC - 1, test_err()));
		for (;;) {
			now += sim_rng_below(&r, 400) * SIM_MS;
			if (now >= (SECONDS + 2) * SIM_SEC)
				break;
			const topo_switch s = sim_rng_below(&r, N_SWITCHES);
			assert_true(fabric_sim_icmp_answer(&m, s, now));
			table[s][now / SIM_SEC]++;
			want.n_sent++;
		}
		for (unsigned s = 0; s < N_SWITCHES; s++)
			for (unsigned i = 0; i < SECONDS + 2; i++) {
				const uint32_t t = table[s][i];
				if (t > want.max)
					want.max = t;
				want.n_low += i < SECONDS && t > 0 && t <= 3;
				want.n_high += i < SECONDS && t > 3;
			}
		const struct fabric_sim_icmp_load got =
		    fabric_sim_icmp_load(&m);
		assert_true(got.n_sent == want.n_sent);
		assert_true(got.n_suppressed == 0);
		assert_int_equal(got.max, want.max);
		assert_true(got.n_low == want.n_low);
		assert_true(got.n_high == want.n_high);
		assert_true(got.n_all == want.n_all);
		fabric_sim_icmp_free(&m);
	}
}

/* The limit of Linux as measured there: icmp_msgs_per_sec=100 and a burst of
 * 50 let about 240 of 400 probes at 200/s through; here 50 + 100 * 2 of them.
 */
static void each_switch_has_a_limit_of_its_own(void **state)
{
	const struct fabric_sim_icmp_params p = params(100, 50);
	struct fabric_sim_icmp m = {0};
	unsigned n[2] = {0};
	(void)state;
	assert_ok(
	    fabric_sim_icmp_begin(&m, &p, N_SWITCHES, 2 * SIM_SEC, test_err()));
	for (unsigned i = 0; i < 400; i++) {
		n[0] += (unsigned)fabric_sim_icmp_answer(&m, 0, i * 5 * SIM_MS);
		if (i % 4 == 0)
			n[1] += (unsigned)fabric_sim_icmp_answer(&m, 1,
			    i * 5 * SIM_MS);
	}
	assert_in_range(n[0], 249, 250);
	assert_int_equal(n[1], 100);
	const struct fabric_sim_icmp_load load = fabric_sim_icmp_load(&m);
	assert_true(load.n_sent == n[0] + n[1]);
	assert_true(load.n_suppressed == 400 - n[0]);
	assert_true(load.max <= 150);
	/* The next epoch begins with full buckets and no counts. */
	assert_ok(
	    fabric_sim_icmp_begin(&m, &p, N_SWITCHES, SIM_SEC, test_err()));
	for (unsigned i = 0; i < 50; i++)
		assert_true(fabric_sim_icmp_answer(&m, 0, 0));
	assert_false(fabric_sim_icmp_answer(&m, 0, 0));
	assert_true(fabric_sim_icmp_load(&m).n_sent == 50);
	fabric_sim_icmp_free(&m);
}

static int begin_once(void *arg, struct sim_err *e)
{
	const struct fabric_sim_icmp_params p = params(1, 1);
	struct fabric_sim_icmp m = {0};
	(void)arg;
	int rc = fabric_sim_icmp_begin(&m, &p, N_SWITCHES, SIM_SEC, e);
	fabric_sim_icmp_free(&m);
	return rc;
}

static void failed_allocations_are_told(void **state)
{
	(void)state;
	test_each_alloc_fails(begin_once, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_are_those_of_a_table),
	    cmocka_unit_test(each_switch_has_a_limit_of_its_own),
	    cmocka_unit_test(failed_allocations_are_told),
	};
	return cmocka_run_group_tests_name("models/sim/icmp", tests, NULL,
	    NULL);
}
