/* tests/algos/millisampler/nic_stall_test.c -- more than a wire carries.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/nic_stall.h"
#include "tests/rigs/sampled.h"
#include "tests/test.h"

enum { LINE = SAMPLED_LINE };

static struct algo_nic_stall_params defaults(void)
{
	struct algo_nic_stall_params p;
	assert_ok(sim_field_defaults(algo_nic_stall_fields, &p, test_err()));
	return p;
}

static void buckets_that_no_wire_carries_are_found(void **state)
{
	const uint32_t quiet = (uint32_t)(LINE * 1.05), most = quiet + 65536;
	struct algo_nic_stall_params p = defaults();
	struct algo_nic_stalls f = {0};
	struct sampled s = {0};
	(void)state;
	sampled_run(&s, 4, 100);
	sampled_row(&s, (struct obs_sample){.bucket = 2, .in_bytes = 1});
	/* What goes out comes off no wire. */
	sampled_row(&s,
	    (struct obs_sample){.bucket = 5, .out_bytes = 9 * LINE});
	sampled_row(&s,
	    (struct obs_sample){.bucket = 8, .in_bytes = quiet + 1});
	sampled_row(&s, (struct obs_sample){.bucket = 9, .in_bytes = 3 * LINE});
	/* A packet that a NIC put together may have begun before. */
	sampled_row(&s, (struct obs_sample){.bucket = 10, .in_bytes = most});
	sampled_row(&s, (struct obs_sample){.bucket = 12, .in_bytes = quiet});
	sampled_run(&s, 7, 100);
	sampled_row(&s, (struct obs_sample){.bucket = 3, .in_bytes = 2 * LINE});
	assert_ok(
	    algo_nic_stalls_find(&s.runs, &s.samples, &p, &f, test_err()));
	assert_int_equal(f.n, 3);
	assert_int_equal(f.bucket[0], 8);
	assert_int_equal(f.stall_ns[0], 5000000);
	assert_int_equal(f.bucket[1], 9);
	assert_int_equal(f.stall_ns[1], 0);
	assert_near(f.lines[1], 3, 1e-12);
	assert_int_equal(f.run[2], 1);
	assert_int_equal(f.host[2], 7);
	assert_int_equal(f.stall_ns[2], 3000000);
	p.slack = 0;
	p.tolerance = 1;
	algo_nic_stalls_clear(&f);
	assert_ok(
	    algo_nic_stalls_find(&s.runs, &s.samples, &p, &f, test_err()));
	assert_int_equal(f.n, 5);
	algo_nic_stalls_free(&f);
	sampled_free(&s);
}

/* A host takes in LOAD of the line, up to it; from bucket AT on its NIC hands
 * over nothing for N buckets, and then all at once. */
static void stalled(struct sampled *s, uint32_t host, double load, uint32_t at,
    uint32_t n, struct sim_rng *r)
{
	double held = 0;
	sampled_run(s, host, 2000);
	for (uint32_t k = 0; k < 2000; k++) {
		held += fmin(LINE, 2 * LINE * load * sim_rng_u01(r));
		if (k >= at && k < at + n)
			continue;
		sampled_row(s,
		    (struct obs_sample){.bucket = k,
			.in_bytes = 1 + (uint32_t)held});
		held = 0;
	}
}

/* 5 ms at a third of the line bring 5/3 lines, with a deviation of .5 * sqrt(5)
 * / 3: so a stall is found but with probability below .08, and one of 20 ms but
 * with one below 10^-9. No wire carries more than it does: no false alarm. */
static void stalls_are_found_and_nothing_else(void **state)
{
	const struct algo_nic_stall_params p = defaults();
	struct sim_rng r;
	uint32_t n_short = 0;
	(void)state;
	test_rng(&r, 1);
	for (uint32_t i = 0; i < 200; i++) {
		static const uint32_t n_of[] = {0, 5, 20};
		const uint32_t n = n_of[i % 3], at = sim_rng_below(&r, 1900);
		struct algo_nic_stalls f = {0};
		struct sampled s = {0};
		stalled(&s, 1, 1 / 3., at, n, &r);
		assert_ok(algo_nic_stalls_find(&s.runs, &s.samples, &p, &f,
		    test_err()));
		assert_true(f.n <= (n > 0));
		if (f.n > 0) {
			assert_int_equal(f.bucket[0], at + n);
			assert_int_equal(f.stall_ns[0], n * 1000000);
		}
		n_short += n == 5 && f.n > 0;
		assert_true(n < 20 || f.n == 1);
		algo_nic_stalls_free(&f);
		sampled_free(&s);
	}
	/* Of 67: at .92 and above five deviations are 11. */
	assert_in_range(n_short, 50, 67);
}

static const struct topo_clos shape = {.n_pods = 1,
    .n_tors = 2,
    .n_t1 = 2,
    .n_t2 = 0,
    .n_hosts = 5};

static void links_are_accused_by_the_fullest_bucket(void **state)
{
	struct algo_verdicts v = {0};
	struct sampled s = {0};
	struct topo t = {0};
	void *work;
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	sampled_run(&s, 6, 10);
	sampled_row(&s, (struct obs_sample){.bucket = 1, .in_bytes = 2 * LINE});
	sampled_run(&s, 2, 10);
	sampled_row(&s, (struct obs_sample){.bucket = 1, .in_bytes = 2 * LINE});
	sampled_row(&s, (struct obs_sample){.bucket = 7, .in_bytes = 5 * LINE});
	sampled_run(&s, 3, 10);
	sampled_row(&s, (struct obs_sample){.bucket = 1, .in_bytes = LINE});
	const struct obs w = sampled_window(&s);
	assert_ok(algo_open(&algo_nic_stall_ops, &work, &t, NULL, test_err()));
	for (int again = 0; again < 2; again++) {
		assert_ok(algo_nic_stall_ops.diagnose(work, &w, NULL, &v,
		    test_err()));
		assert_int_equal(v.n, 2);
		assert_int_equal(v.n_flagged, 2);
		assert_int_equal(v.link[0], topo_link_of(2, TOPO_DOWN));
		assert_near(v.score[0], 5, 1e-12);
		assert_int_equal(v.link[1], topo_link_of(6, TOPO_DOWN));
		assert_near(v.score[1], 2, 1e-12);
	}
	/* Of a window without a stall nothing of the last is said. */
	struct sampled none = {0};
	sampled_run(&none, 6, 10);
	sampled_row(&none, (struct obs_sample){.bucket = 1, .in_bytes = LINE});
	const struct obs quiet = sampled_window(&none);
	assert_ok(
	    algo_nic_stall_ops.diagnose(work, &quiet, NULL, &v, test_err()));
	assert_int_equal(v.n_flagged, 0);
	sampled_free(&none);
	algo_close(&algo_nic_stall_ops, work);
	algo_verdicts_free(&v);
	sampled_free(&s);
	topo_close(&t);
}

static void each_allocation_may_fail(void **state)
{
	struct sampled s = {0};
	struct sampled_given g = {.ops = &algo_nic_stall_ops};
	(void)state;
	assert_ok(topo_open_clos(&g.t, &shape, test_err()));
	sampled_run(&s, 1, 10);
	sampled_row(&s, (struct obs_sample){.in_bytes = 2 * LINE});
	g.w = sampled_window(&s);
	test_each_alloc_fails(sampled_diagnose, &g);
	sampled_free(&s);
	topo_close(&g.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buckets_that_no_wire_carries_are_found),
	    cmocka_unit_test(stalls_are_found_and_nothing_else),
	    cmocka_unit_test(links_are_accused_by_the_fullest_bucket),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/millisampler/nic_stall",
	    tests, NULL, NULL);
}
