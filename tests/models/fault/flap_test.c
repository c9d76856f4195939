/* tests/models/fault/flap_test.c -- flaps: who moves, stays, comes back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/fault/flap.h"
#include "tests/test.h"

static const struct topo_clos shape = {2, 4, 3, 2, 3, .n_cables = 0};

struct rig {
	struct topo t;
	struct fault_flaps f;
};

static void open_rig(struct rig *g)
{
	*g = (struct rig){0};
	assert_ok(topo_open_clos(&g->t, &shape, test_err()));
}

static void close_rig(struct rig *g)
{
	fault_flap_free(&g->f);
	topo_close(&g->t);
}

static void add(struct rig *g, topo_link l, sim_ns from, sim_ns to)
{
	const struct fault_flap flap = {l, from, to};
	assert_ok(fault_flap_add(&g->f, &flap, test_err()));
}

static unsigned path_at(const struct rig *g, topo_host src, topo_host dst,
    uint32_t digest, sim_ns t, topo_link path[])
{
	const unsigned n = topo_path(&g->t, 7, src, dst, digest, path);
	return fault_flap_path(&g->f, &g->t, 7, src, dst, digest, t, path, n);
}

static int crosses(const topo_link path[], unsigned n, topo_link l)
{
	for (unsigned i = 0; i < n; i++)
		if (path[i] / 2 == l / 2)
			return 1;
	return 0;
}

static void only_flows_on_the_cable_move_and_they_come_back(void **state)
{
	struct rig g;
	unsigned n_moved = 0;
	(void)state;
	open_rig(&g);
	const topo_link l = topo_clos_link_tor(&g.t.clos, 0, 1, TOPO_UP);
	add(&g, l, 100, 200);
	for (uint32_t i = 0; i < 2000; i++) {
		topo_link before[TOPO_MAX_HOPS], at[TOPO_MAX_HOPS];
		const topo_host src = i % 2 ? 0 : 20, dst = i % 2 ? 20 : 0;
		const uint32_t digest = topo_mix32(i);
		const unsigned n = path_at(&g, src, dst, digest, 99, before);
		assert_int_equal(path_at(&g, src, dst, digest, 100, at), n);
		assert_false(crosses(at, n, l));
		if (crosses(before, n, l))
			n_moved++;
		else
			assert_memory_equal(before, at, n * sizeof(at[0]));
		path_at(&g, src, dst, digest, 199, at);
		assert_false(crosses(at, n, l));
		path_at(&g, src, dst, digest, 200, at);
		assert_memory_equal(before, at, n * sizeof(at[0]));
	}
	/* A cable has a third of the flows, in either direction. 5 standard
	 * deviations are 105 of 2000. */
	assert_in_range(n_moved, 2000 / 3 - 105, 2000 / 3 + 105);
	close_rig(&g);
}

/* Flows that leave a flapping cable spread over the others as ECMP spreads
 * flows anyway. */
static void moved_flows_spread_alike(void **state)
{
	struct rig g;
	unsigned n[3] = {0};
	(void)state;
	open_rig(&g);
	add(&g, topo_clos_link_tor(&g.t.clos, 0, 1, TOPO_UP), 0, SIM_NEVER);
	for (uint32_t i = 0; i < 9000; i++) {
		topo_link path[TOPO_MAX_HOPS];
		path_at(&g, 0, 20, topo_mix32(i), 5, path);
		for (uint32_t k = 0; k < 3; k++)
			n[k] += path[1] ==
			    topo_clos_link_tor(&g.t.clos, 0, k, TOPO_UP);
	}
	assert_int_equal(n[1], 0);
	assert_int_equal(n[0] + n[2], 9000);
	/* 5.5 sd: fires once in 2.6e7 seeds. */
	assert_near(n[0], 4500, 5.5 * sqrt(9000 / 4.0));
	close_rig(&g);
}

static void with_no_way_left_a_flow_keeps_its_path(void **state)
{
	struct rig g;
	topo_link a[TOPO_MAX_HOPS], b[TOPO_MAX_HOPS];
	(void)state;
	open_rig(&g);
	for (uint32_t k = 0; k < 3; k++)
		add(&g, topo_clos_link_tor(&g.t.clos, 0, k, TOPO_DOWN), 10, 20);
	const unsigned n = path_at(&g, 0, 20, 1, 0, a);
	assert_int_equal(path_at(&g, 0, 20, 1, 10, b), n);
	assert_memory_equal(a, b, n * sizeof(a[0]));
	assert_int_equal(fault_flap_down(&g.f, b, n, 10), 1);
	assert_int_equal(fault_flap_down(&g.f, b, n, 20), n);
	close_rig(&g);
}

static void draws_are_of_switches_cables_and_keep_their_places(void **state)
{
	struct fault_flap_params p;
	const struct sim_seed where = {.seed = test_seed()};
	struct fault_flaps few = {0};
	struct rig g;
	(void)state;
	open_rig(&g);
	assert_ok(sim_field_defaults(fault_flap_fields, &p, test_err()));
	p.count = 7;
	assert_ok(fault_flap_draw(&few, &g.t, &p, &where, test_err()));
	p.count = 500;
	assert_ok(fault_flap_draw(&g.f, &g.t, &p, &where, test_err()));
	assert_int_equal(g.f.n, 500);
	for (size_t i = 0; i < g.f.n; i++) {
		const struct fault_flap *f = &g.f.flap[i];
		assert_in_range(f->link, 2 * g.t.n_hosts, g.t.n_links - 1);
		assert_true(f->from_ns < 30 * SIM_SEC);
		assert_true(f->to_ns >= f->from_ns + SIM_SEC / 10 - 1);
		assert_true(f->to_ns <= f->from_ns + 10 * SIM_SEC + 1);
		if (i < few.n)
			assert_true(f->link == few.flap[i].link &&
			    f->from_ns == few.flap[i].from_ns &&
			    f->to_ns == few.flap[i].to_ns);
	}
	fault_flap_free(&few);
	close_rig(&g);
}

static void a_network_of_one_switch_cannot_flap(void **state)
{
	const struct topo_clos one = {1, 1, 0, 0, 4, .n_cables = 0};
	const struct sim_seed where = {0};
	struct fault_flap_params p = {.count = 1};
	struct sim_err e;
	struct rig g = {0};
	(void)state;
	assert_ok(topo_open_clos(&g.t, &one, test_err()));
	assert_int_equal(fault_flap_draw(&g.f, &g.t, &p, &where, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "no cable joins two switches"));
	close_rig(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(only_flows_on_the_cable_move_and_they_come_back),
	    cmocka_unit_test(moved_flows_spread_alike),
	    cmocka_unit_test(with_no_way_left_a_flow_keeps_its_path),
	    cmocka_unit_test(
		draws_are_of_switches_cables_and_keep_their_places),
	    cmocka_unit_test(a_network_of_one_switch_cannot_flap),
	};
	return cmocka_run_group_tests_name("models/fault/flap", tests, NULL,
	    NULL);
}
