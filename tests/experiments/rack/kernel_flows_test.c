/* tests/experiments/rack/kernel_flows_test.c -- what a kernel's rack sends.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/rack/kernel_flows.h"
#include "tests/test.h"

static struct xp_kernel_rack_params kernel_flows_usual(void)
{
	struct xp_kernel_rack_params p = {.hosts = 16,
	    .incast = 15,
	    .rounds = 40,
	    .for_s = 20,
	    .seed = 5};
	assert_ok(sim_field_defaults(xp_kernel_rack_fields, &p, test_err()));
	assert_ok(
	    sim_field_defaults(netns_phantom_fields, &p.queue, test_err()));
	return p;
}

/* A sitting of 2,000 buckets of 4 ms begins no connection behind 6.4 s. */
static void sittings_leave_a_fifth_of_their_buckets(void **state)
{
	struct xp_kernel_rack_params p = kernel_flows_usual();
	(void)state;
	p.for_s = 6.4;
	assert_int_equal(xp_kernel_flows_sittings(&p), 1);
	p.for_s = 6.5;
	assert_int_equal(xp_kernel_flows_sittings(&p), 2);
	p.for_s = 0;
	assert_int_equal(xp_kernel_flows_sittings(&p), 1);
	p.for_s = 20;
	p.width_ms = 1;
	assert_int_equal(xp_kernel_flows_sittings(&p), 13);
}

/* Over all sittings there are as many rounds as asked for, each of 15 that start
 * at once, to hosts in turn within a sitting. */
static void rounds_are_of_all_others_at_once(void **state)
{
	struct xp_kernel_rack_params p = kernel_flows_usual();
	struct xp_kernel_flows f = {0};
	uint32_t n_rounds = 0;
	(void)state;
	p.light = 0;
	const uint32_t n = xp_kernel_flows_sittings(&p);
	assert_int_equal(n, 4);
	for (uint32_t s = 0; s < n; s++) {
		assert_ok(xp_kernel_flows_draw(&f, &p, s, n, test_err()));
		assert_int_equal(f.n % 15, 0);
		for (size_t i = 0; i < f.n; i++) {
			const struct obs_flow *x = &f.flow[i];
			const struct obs_flow *first = &f.flow[i / 15 * 15];
			assert_int_equal(x->start_ns, first->start_ns);
			assert_int_equal(x->dst_host, (n_rounds + i / 15) % 16);
			assert_int_not_equal(x->src_host, x->dst_host);
			assert_true(i % 15 == 0 ||
			    x->src_host != f.flow[i - 1].src_host);
			assert_int_equal(x->n_pkts, p.packets);
			assert_true(x->start_ns < 5 * (uint64_t)SIM_SEC);
		}
		n_rounds += (uint32_t)f.n / 15;
	}
	assert_int_equal(n_rounds, p.rounds);
	xp_kernel_flows_free(&f);
}

/* Bytes of light traffic are its share of all lines, to a connection a sitting;
 * a seed gives the same again, another another; ports differ. */
static void light_traffic_is_a_share_of_the_lines(void **state)
{
	struct xp_kernel_rack_params p = kernel_flows_usual();
	struct xp_kernel_flows f = {0}, again = {0};
	double packets = 0;
	(void)state;
	p.rounds = 0;
	for (uint32_t s = 0; s < 4; s++) {
		assert_ok(xp_kernel_flows_draw(&f, &p, s, 4, test_err()));
		assert_ok(xp_kernel_flows_draw(&again, &p, s, 4, test_err()));
		assert_int_equal(f.n, again.n);
		for (size_t i = 0; i < f.n; i++) {
			const struct obs_flow *x = &f.flow[i];
			assert_memory_equal(x, &again.flow[i], sizeof(*x));
			assert_int_not_equal(x->src_host, x->dst_host);
			assert_true(x->src_host < 16 && x->dst_host < 16);
			assert_true(x->start_ns < 5 * (uint64_t)SIM_SEC);
			assert_int_equal(x->src_port, 10000 + i);
			packets += x->n_pkts;
		}
		p.seed++;
		assert_ok(xp_kernel_flows_draw(&again, &p, s, 4, test_err()));
		assert_memory_not_equal(f.flow, again.flow,
		    f.n * sizeof(*f.flow));
		p.seed--;
	}
	assert_near(packets * 1514 * 8, .2 * 16 * 50e6 * 20,
	    4 * 20 * 1514. * 8);
	xp_kernel_flows_free(&f);
	xp_kernel_flows_free(&again);
}

static int kernel_flows_once(void *arg, struct sim_err *e)
{
	struct xp_kernel_flows f = {0};
	const int rc = xp_kernel_flows_draw(&f, arg, 0, 1, e);
	xp_kernel_flows_free(&f);
	return rc;
}

static void what_is_too_much_is_told(void **state)
{
	struct xp_kernel_rack_params p = kernel_flows_usual();
	struct xp_kernel_rack_seen seen = {0};
	struct sim_err e;
	(void)state;
	test_each_alloc_fails(kernel_flows_once, &p);
	p.rounds = 4000;
	assert_int_equal(kernel_flows_once(&p, &e), SIM_ELIMIT);
	p.hosts = 15;
	assert_int_equal(xp_kernel_rack_run(&p, &seen, &e), SIM_EINVAL);
	p.hosts = 16;
	p.loss = .1;
	p.lossy = 16;
	assert_int_equal(xp_kernel_rack_run(&p, &seen, &e), SIM_EINVAL);
	xp_kernel_rack_free(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sittings_leave_a_fifth_of_their_buckets),
	    cmocka_unit_test(rounds_are_of_all_others_at_once),
	    cmocka_unit_test(light_traffic_is_a_share_of_the_lines),
	    cmocka_unit_test(what_is_too_much_is_told),
	};
	return cmocka_run_group_tests_name("experiments/rack/kernel_flows",
	    tests, NULL, NULL);
}
