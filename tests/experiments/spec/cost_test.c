/* tests/experiments/spec/cost_test.c -- what tools cost hosts and switches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec/cost.h"

#include <math.h>

#include "tests/test.h"

static struct xp_cost_params defaults(void)
{
	struct xp_cost_params p;
	assert_ok(sim_field_defaults(xp_cost_fields, &p, test_err()));
	return p;
}

static int is(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

/* Each probe of a traceroute, sent along its way step by step. */
static void a_traceroute_is_carried_as_far_as_its_ttl(void **state)
{
	struct xp_cost_params p = defaults();
	(void)state;
	for (uint32_t n = 0; n <= 6; n++)
		for (p.trace_probes = 1; p.trace_probes <= 15;
		     p.trace_probes++) {
			struct xp_cost_counts c = {.seconds = 1};
			double carried = 0;
			for (uint32_t ttl = 1; ttl <= p.trace_probes; ttl++)
				for (uint32_t at = 1, left = ttl;
				     at <= n && left > 0; at++, left--)
					carried += p.probe_bytes;
			xp_cost_traceroute(&p, &c, n, n / 2);
			assert_true(is(c.switch_bytes,
			    carried + n / 2 * (double)p.answer_bytes));
			assert_true(is(c.n_sent, p.trace_probes));
			assert_true(
			    is(c.sent_bytes, p.trace_probes * p.probe_bytes));
			assert_true(is(c.n_answers, n / 2));
		}
}

/* By the host, the switch and second; twice of all, or half the time, is twice
 * as much. */
static void costs_are_counts_times_what_each_costs(void **state)
{
	const struct xp_cost_params p = defaults();
	const struct xp_cost_counts c = {.seconds = 10,
	    .n_hosts = 4,
	    .n_switches = 5,
	    .n_sent = 100,
	    .sent_bytes = 8000,
	    .n_connects = 40,
	    .n_reported = 20,
	    .n_retx = 8,
	    .n_copies = 1000,
	    .switch_bytes = 5000,
	    .n_answers = 3};
	struct xp_cost_counts twice = c;
	struct res_trial_metrics m = {0}, t = {0};
	(void)state;
	xp_cost_fill(&p, &c, &m);
	assert_true(
	    is(m.host_bytes_s, (8000 + 20 * 64 + 40 * 6 * 64) / 4.0 / 10));
	assert_true(is(m.host_cpu,
	    (100 * 4.5 + 40 * 27 + 8 * 5 + 1000 * 0.06) / 4 / 10));
	assert_true(is(m.switch_bytes_s, 5000 / 5.0 / 10));
	assert_true(is(m.switch_cpu, 3 * 100 / 5.0 / 10));
	assert_true(m.retx_host_bytes_s == 0 && m.retx_switch_cpu == 0);
	twice.seconds = 5;
	xp_cost_fill_retx(&p, &twice, &t);
	assert_true(is(t.retx_host_bytes_s, 2 * m.host_bytes_s));
	assert_true(is(t.retx_host_cpu, 2 * m.host_cpu));
	assert_true(is(t.retx_switch_bytes_s, 2 * m.switch_bytes_s));
	assert_true(is(t.retx_switch_cpu, 2 * m.switch_cpu));
	assert_true(t.host_bytes_s == 0 && t.switch_cpu == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_traceroute_is_carried_as_far_as_its_ttl),
	    cmocka_unit_test(costs_are_counts_times_what_each_costs),
	};
	return cmocka_run_group_tests_name("experiments/spec/cost", tests, NULL,
	    NULL);
}
