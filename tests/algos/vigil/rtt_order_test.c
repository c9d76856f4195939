/* tests/algos/vigil/rtt_order_test.c -- radix order against qsort; ranks.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/rtt_order.h"

#include "tests/test.h"

static void add(struct obs_probes *t, uint64_t rtt_ns, uint8_t outcome,
    uint8_t level)
{
	const struct obs_probe p = {.rtt_ns = rtt_ns,
	    .src_host = (uint32_t)t->n,
	    .dst_host = (uint32_t)t->n + 1,
	    .outcome = outcome,
	    .level = level};
	assert_ok(obs_probes_add(t, &p, test_err()));
}

static int by_time_then_row(const void *a, const void *b)
{
	const struct algo_rtt_probe *p = a, *q = b;
	if (p->rtt_ns != q->rtt_ns)
		return p->rtt_ns < q->rtt_ns ? -1 : 1;
	return p->src_host < q->src_host ? -1 : p->src_host > q->src_host;
}

/* Times of up to 1, 8, .. 64 bits, so ties and every number of passes. */
static void the_order_is_that_of_a_stable_sort(void **state)
{
	(void)state;
	struct algo_rtt_order o = {0};
	struct obs_probes t = {0};
	for (uint32_t run = 0; run < 40; run++) {
		struct algo_rtt_probe want[500];
		struct sim_rng r;
		size_t n = 0;
		test_rng(&r, run);
		obs_probes_clear(&t);
		const uint32_t rows = sim_rng_below(&r, 501);
		for (uint32_t i = 0; i < rows; i++) {
			const uint64_t high = sim_rng_u32(&r);
			const uint64_t rtt = (high << 32 | sim_rng_u32(&r)) >>
			    (run % 9 == 8 ? 63 : 8 * (run % 9));
			const uint8_t outcome =
			    (uint8_t)(sim_rng_below(&r, 4) / 2);
			const uint8_t level =
			    (uint8_t)(1 + sim_rng_below(&r, 3));
			add(&t, rtt, outcome, level);
			if (outcome == OBS_CONNECTED &&
			    level != OBS_LEVEL_INTER_DC)
				want[n++] =
				    (struct algo_rtt_probe){rtt, i, i + 1};
		}
		qsort(want, n, sizeof(*want), by_time_then_row);
		assert_ok(algo_rtt_order_make(&o, &t, test_err()));
		assert_int_equal(o.n, n);
		for (size_t i = 0; i < n; i++)
			if (by_time_then_row(&o.probe[i], &want[i]) ||
			    o.probe[i].dst_host != want[i].dst_host)
				fail_msg("seed %llu, run %u: place %zu",
				    (unsigned long long)test_seed(), run, i);
	}
	algo_rtt_order_free(&o);
	assert_null(o.probe);
	obs_probes_free(&t);
}

/* More than are sorted at a time: most in one high byte, as connect times are,
 * and some that lost a SYN, of which bytes of all sizes are dealt out. */
static void more_than_the_spare_has_room_for_are_ordered(void **state)
{
	enum { N = 3 * ALGO_RTT_SPARE };
	struct algo_rtt_order o = {0};
	struct obs_probes t = {0};
	struct sim_rng r;
	uint64_t sum = 0, hosts = 0;
	(void)state;
	test_rng(&r, 0);
	assert_ok(obs_probes_reserve(&t, N, test_err()));
	for (uint32_t i = 0; i < N; i++) {
		const uint64_t slow = sim_rng_below(&r, 100) == 0;
		add(&t,
		    slow * UINT64_C(3000000000) + 200000 +
			sim_rng_below(&r, 60000),
		    OBS_CONNECTED, OBS_LEVEL_TOR);
		sum += t.rtt_ns[i] * (i + 1);
	}
	assert_ok(algo_rtt_order_make(&o, &t, test_err()));
	assert_int_equal(o.n, N);
	for (size_t i = 0; i < N; i++) {
		if (i > 0 && o.probe[i - 1].rtt_ns > o.probe[i].rtt_ns)
			fail_msg("seed %llu, run 0: place %zu",
			    (unsigned long long)test_seed(), i);
		assert_int_equal(o.probe[i].dst_host, o.probe[i].src_host + 1);
		sum -= o.probe[i].rtt_ns * o.probe[i].dst_host;
		hosts += o.probe[i].src_host;
	}
	/* Each is there once, with its own time. */
	assert_true(sum == 0);
	assert_true(hosts == (uint64_t)N * (N - 1) / 2);
	assert_true(o.cap_spare < N);
	algo_rtt_order_free(&o);
	obs_probes_free(&t);
}

static void times_that_differ_in_one_bit_are_ordered(void **state)
{
	(void)state;
	const uint64_t base = UINT64_C(0x5a5a5a5a5a5a5a5a);
	struct algo_rtt_order o = {0};
	struct obs_probes t = {0};
	for (unsigned bit = 0; bit < 64; bit++) {
		const uint64_t one = UINT64_C(1) << bit;
		obs_probes_clear(&t);
		add(&t, base | one, OBS_CONNECTED, OBS_LEVEL_TOR);
		add(&t, base & ~one, OBS_CONNECTED, OBS_LEVEL_TOR);
		assert_ok(algo_rtt_order_make(&o, &t, test_err()));
		assert_true(o.probe[0].rtt_ns == (base & ~one));
		assert_true(o.probe[1].rtt_ns == (base | one));
	}
	algo_rtt_order_free(&o);
	obs_probes_free(&t);
}

/* The least rank r with r / n >= percent / 100. */
static void a_rank_is_the_least_that_holds_the_share(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 300; n++)
		for (unsigned percent = 1; percent <= 100; percent++) {
			uint64_t want = 1;
			while (want * 100 < percent * n)
				want++;
			assert_int_equal(algo_rtt_rank(n, percent), want);
		}
	assert_int_equal(algo_rtt_rank(UINT64_C(1) << 56, 50),
	    UINT64_C(1) << 55);
}

static int make(void *arg, struct sim_err *e)
{
	struct algo_rtt_order o = {0};
	int rc = algo_rtt_order_make(&o, arg, e);
	assert_int_equal(o.n, rc == 0 ? 2 : 0);
	algo_rtt_order_free(&o);
	return rc;
}

static void an_order_without_memory_is_empty(void **state)
{
	(void)state;
	struct obs_probes t = {0};
	add(&t, 7, OBS_CONNECTED, OBS_LEVEL_TOR);
	add(&t, 5, OBS_CONNECTED, OBS_LEVEL_TOR);
	test_each_alloc_fails(make, &t);
	obs_probes_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_order_is_that_of_a_stable_sort),
	    cmocka_unit_test(more_than_the_spare_has_room_for_are_ordered),
	    cmocka_unit_test(times_that_differ_in_one_bit_are_ordered),
	    cmocka_unit_test(a_rank_is_the_least_that_holds_the_share),
	    cmocka_unit_test(an_order_without_memory_is_empty),
	};
	return cmocka_run_group_tests_name("algos/vigil/rtt_order", tests, NULL,
	    NULL);
}
