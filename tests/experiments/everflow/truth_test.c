/* tests/experiments/everflow/truth_test.c -- which traces and findings are right.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/truth.h"

#include "tests/rigs/scenes.h"

static const struct topo_clos small = {.n_pods = 2,
    .n_tors = 2,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 2};

/* --- packets -------------------------------------------------------------- */

static struct obs_packet packet_of(uint32_t i)
{
	return (struct obs_packet){.ip = {.src_ip = i,
				       .dst_ip = 7,
				       .id = (uint16_t)i,
				       .proto = 6},
	    .src_port = 1,
	    .dst_port = 2,
	    .digest = (uint64_t)i << 40};
}

static struct algo_trace trace_of(uint32_t i, sim_ns t)
{
	const struct obs_packet p = packet_of(i);
	return (struct algo_trace){.t_ns = t,
	    .digest = p.digest,
	    .src_ip = p.ip.src_ip,
	    .dst_ip = p.ip.dst_ip,
	    .src_port = p.src_port,
	    .dst_port = p.dst_port,
	    .ip_id = p.ip.id,
	    .proto = p.ip.proto};
}

/* Beyond the first table of chains, too. */
static void a_trace_finds_its_packet(void **state)
{
	struct xp_fates f = {0};
	(void)state;
	const struct algo_trace none = trace_of(1, 5);
	assert_null(xp_fates_of(&f, &none));
	for (uint32_t i = 0; i < 5000; i++) {
		const struct obs_packet p = packet_of(i);
		assert_ok(xp_fates_add(&f, &p, i, i % 3 == 0, i % 5 == 0,
		    test_err()));
	}
	for (uint32_t i = 0; i < 5000; i++) {
		const struct algo_trace t = trace_of(i, 10000);
		const struct xp_fate *fate = xp_fates_of(&f, &t);
		assert_non_null(fate);
		assert_int_equal(fate->lost, i % 3 == 0);
		assert_int_equal(fate->looped, i % 5 == 0);
	}
	const struct algo_trace unknown = trace_of(5000, 10000);
	assert_null(xp_fates_of(&f, &unknown));
	xp_fates_clear(&f);
	assert_null(xp_fates_of(&f, &none));
	xp_fates_free(&f);
}

/* SYN-ACKs have one ID: of two, a trace is of the one that was sent last before
 * its first copy. */
static void of_two_alike_the_latest_before_it_counts(void **state)
{
	struct xp_fates f = {0};
	const struct obs_packet p = packet_of(1);
	(void)state;
	assert_ok(xp_fates_add(&f, &p, 300, 0, 0, test_err()));
	assert_ok(xp_fates_add(&f, &p, 100, 1, 0, test_err()));
	const struct algo_trace before = trace_of(1, 99),
				first = trace_of(1, 299),
				second = trace_of(1, 300);
	assert_null(xp_fates_of(&f, &before));
	assert_true(xp_fates_of(&f, &first)->lost);
	assert_false(xp_fates_of(&f, &second)->lost);
	xp_fates_free(&f);
}

static int add_some(void *arg, struct sim_err *e)
{
	struct xp_fates f = {0};
	int rc = 0;
	(void)arg;
	for (uint32_t i = 0; rc == 0 && i < 1100; i++) {
		const struct obs_packet p = packet_of(i);
		rc = xp_fates_add(&f, &p, 0, 0, 0, e);
	}
	xp_fates_free(&f);
	return rc;
}

static void memory_that_runs_out_is_told(void **state)
{
	(void)state;
	test_each_alloc_fails(add_some, NULL);
}

static const struct xp_everflow params;

/* --- findings ------------------------------------------------------------- */

static enum xp_worth worth(const struct scene *s, enum algo_cause cause,
    topo_link link, topo_node node)
{
	const struct algo_finding f = {.cause = cause,
	    .link = link,
	    .node = node};
	sim_ns since = 0;
	const enum xp_worth w = xp_everflow_worth(s, &params, &f, &since);
	assert_int_equal(since, w == XP_WORTH_RIGHT ? SIM_SEC : 0);
	return w;
}

static void a_link_is_right_by_its_fault(void **state)
{
	struct scenes s;
	(void)state;
	scenes_open(&s, &small);
	const topo_link bad = topo_link_between(&s.topo, 8, 12);
	const topo_link slow = topo_link_between(&s.topo, 12, 16);
	scenes_add_fault(&s, bad, 0.01)->from_s = 1;
	struct fault_params *g = scenes_add_fault(&s, slow, 0);
	g->kind = FAULT_LATENCY;
	g->delay = scenes_fixed(100);
	g->from_s = 1;
	const struct scene *scene = scenes_draw(&s, 1);
	assert_true(xp_everflow_due(scene, &params, XP_DEBUG_drop));
	assert_true(xp_everflow_due(scene, &params, XP_DEBUG_latency));
	assert_false(xp_everflow_due(scene, &params, XP_DEBUG_loop));
	assert_int_equal(worth(scene, ALGO_CAUSE_RANDOM, bad, TOPO_NONE),
	    XP_WORTH_RIGHT);
	assert_int_equal(worth(scene, ALGO_CAUSE_RANDOM, topo_link_reverse(bad),
			     TOPO_NONE),
	    XP_WORTH_WRONG);
	assert_int_equal(worth(scene, ALGO_CAUSE_RANDOM, slow, TOPO_NONE),
	    XP_WORTH_WRONG);
	assert_int_equal(worth(scene, ALGO_CAUSE_BLACK_HOLE_1, bad, TOPO_NONE),
	    XP_WORTH_WRONG);
	assert_int_equal(worth(scene, ALGO_CAUSE_LATENCY, slow, TOPO_NONE),
	    XP_WORTH_RIGHT);
	assert_int_equal(worth(scene, ALGO_CAUSE_LATENCY,
			     topo_link_reverse(slow), TOPO_NONE),
	    XP_WORTH_RIGHT);
	assert_int_equal(worth(scene, ALGO_CAUSE_LATENCY, bad, TOPO_NONE),
	    XP_WORTH_WRONG);
	assert_int_equal(worth(scene, ALGO_CAUSE_TRANSIENT, slow, TOPO_NONE),
	    XP_WORTH_NEITHER);
	scenes_close(&s);
}

static void a_hole_is_right_by_its_switch_and_type(void **state)
{
	struct scenes s;
	uint32_t at[1];
	(void)state;
	scenes_open(&s, &small);
	at[0] = s.topo.n_hosts; /* ToR 0 */
	struct fault_params *g = scenes_add_group(&s);
	g->kind = FAULT_BLACK_HOLE_2;
	g->n_at = 1;
	g->at = at;
	g->entries = scenes_fixed(0.1);
	g->from_s = 1;
	const struct scene *scene = scenes_draw(&s, 1);
	const topo_link in =
	    topo_link_between(&s.topo, s.topo.n_hosts + 4, at[0]);
	assert_true(xp_everflow_due(scene, &params, XP_DEBUG_drop));
	assert_int_equal(worth(scene, ALGO_CAUSE_BLACK_HOLE_2, in, TOPO_NONE),
	    XP_WORTH_RIGHT);
	assert_int_equal(worth(scene, ALGO_CAUSE_BLACK_HOLE_2, TOPO_NONE,
			     at[0]),
	    XP_WORTH_RIGHT);
	assert_int_equal(worth(scene, ALGO_CAUSE_BLACK_HOLE_1, in, TOPO_NONE),
	    XP_WORTH_RIGHT);
	const struct algo_finding pair = {.cause = ALGO_CAUSE_BLACK_HOLE_1,
				      .link = in,
				      .node = TOPO_NONE},
				  tuple = {.cause = ALGO_CAUSE_BLACK_HOLE_2,
				      .link = in,
				      .node = TOPO_NONE};
	assert_false(xp_everflow_is_cause(scene, &pair));
	assert_true(xp_everflow_is_cause(scene, &tuple));
	assert_int_equal(worth(scene, ALGO_CAUSE_RANDOM, in, TOPO_NONE),
	    XP_WORTH_WRONG);
	assert_int_equal(worth(scene, ALGO_CAUSE_BLACK_HOLE_2,
			     topo_link_reverse(in), 0),
	    XP_WORTH_WRONG);
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_trace_finds_its_packet),
	    cmocka_unit_test(of_two_alike_the_latest_before_it_counts),
	    cmocka_unit_test(memory_that_runs_out_is_told),
	    cmocka_unit_test(a_link_is_right_by_its_fault),
	    cmocka_unit_test(a_hole_is_right_by_its_switch_and_type),
	};
	return cmocka_run_group_tests_name("experiments/everflow/truth", tests,
	    NULL, NULL);
}
