/* tests/experiments/pingmesh/repair_test.c -- reloads, by tables made by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/repair.h"

#include "tests/rigs/pingmesh.h"

#define DAY (86400 * SIM_SEC)

struct rig {
	struct pingmesh m;
	struct xp_repair_shop shop;
	struct obs_probes t;
	struct truth truth;
	topo_host first; /* of the data centre whose table it is */
};

static void open_shop(struct rig *g)
{
	assert_ok(xp_repair_open(&g->shop, &g->m.s.topo, &g->m.p, test_err()));
	xp_repair_begin(&g->shop);
}

static void set_up(struct rig *g, const char *text)
{
	*g = (struct rig){.truth.n_holes = 0};
	pingmesh_open_region(&g->m, &pingmesh_tiny, text);
	g->m.p.dsa.blackhole.rule = ALGO_BLACKHOLE_PAPER;
	open_shop(g);
}

static void tear_down(struct rig *g)
{
	xp_repair_close(&g->shop);
	obs_probes_free(&g->t);
	truth_free(&g->truth);
	pingmesh_close(&g->m);
}

static void add(struct rig *g, topo_host a, topo_host b, int answered)
{
	const struct obs_probe p = {.src_host = g->first + a,
	    .dst_host = g->first + b,
	    .src_port = 40000,
	    .dst_port = 8765,
	    .rtt_ns = answered ? 250 * SIM_US : 0,
	    .outcome = answered ? OBS_CONNECTED : OBS_TIMED_OUT,
	    .level = OBS_LEVEL_DC};
	for (int i = 0; i < 10; i++)
		assert_ok(obs_probes_add(&g->t, &p, test_err()));
}

/* For the paper's rule, as the tables are of few pairs.
 * All live; each server of the ToRs of BAD has two pairs that never connect,
 * no two of which have the other end in common. */
static void fill(struct rig *g, unsigned bad)
{
	obs_probes_clear(&g->t);
	for (topo_host h = 0; h < PINGMESH_HOSTS; h++)
		add(g, h, h ^ 1, 1);
	for (uint32_t tor = 0; tor < PINGMESH_TORS; tor++) {
		const topo_host far = (tor < 2) * PINGMESH_HOSTS / 2;
		if (!(bad >> tor & 1))
			continue;
		for (uint32_t i = 0; i < 4; i++)
			add(g, 2 * tor + i / 2, far + i, 0);
	}
}

static struct xp_repaired run(struct rig *g, uint32_t dc, unsigned bad,
    sim_ns now)
{
	struct obs seen = {.n_flows = 0};
	struct xp_repaired r;
	g->first = topo_dc_at(&g->m.s.topo, dc).first_host;
	fill(g, bad);
	seen.probes = obs_probes_whole(&g->t);
	assert_ok(xp_repair_run(&g->shop, dc, &seen, 0, 600 * SIM_SEC, now,
	    &g->truth, &r, test_err()));
	return r;
}

static void add_hole(struct rig *g, topo_switch at)
{
	const struct truth_hole h = {.at = at, .to_ns = SIM_NEVER};
	assert_ok(truth_add_hole(&g->truth, &h, test_err()));
	for (topo_link l = 0; l < g->m.s.topo.n_links; l++) {
		topo_node from, to;
		topo_link_ends(&g->m.s.topo, l, &from, &to);
		const struct truth_fault f = {.link = l,
		    .rate = 0.1,
		    .of_hole = 1,
		    .to_ns = SIM_NEVER};
		if (to == g->m.s.topo.n_hosts + at)
			assert_ok(truth_add_fault(&g->truth, &f, test_err()));
	}
	truth_sort(&g->truth);
}

/* Each data centre has 4 ToRs, 4 T1s and 2 T2s; this is ToR 1 of the second. */
static void a_reload_ends_the_holes_of_its_switch_alone(void **state)
{
	enum { TOR = 10 + 1 };
	const sim_ns now = 700 * SIM_SEC;
	size_t n_ended = 0, n_down = 0, n_stay = 0;
	struct rig g;
	(void)state;
	set_up(&g, "repair: {on: true, reload: 30}");
	assert_int_equal(topo_dc_at(&g.m.s.topo, 1).first_switch, TOR - 1);
	add_hole(&g, 1);
	add_hole(&g, TOR);
	const struct xp_repaired r = run(&g, 1, 1u << 1, now);
	assert_int_equal(r.n_candidates, 1);
	assert_int_equal(r.n_candidates_true, 1);
	assert_int_equal(r.n_reloaded, 1);
	for (size_t i = 0; i < g.truth.n_holes; i++)
		assert_true(g.truth.hole[i].to_ns ==
		    (g.truth.hole[i].at == TOR ? now : SIM_NEVER));
	for (size_t i = 0; i < g.truth.n_faults; i++) {
		const struct truth_fault *f = &g.truth.fault[i];
		topo_node from, to;
		topo_link_ends(&g.m.s.topo, f->link, &from, &to);
		const topo_node node = g.m.s.topo.n_hosts + TOR;
		const int into = to == node, any = into || from == node;
		assert_true(i == 0 || f->link >= f[-1].link);
		n_ended += into && f->of_hole && f->to_ns == now;
		n_stay += !any && f->of_hole && f->to_ns == SIM_NEVER;
		n_down += any && !f->of_hole && f->rate == 1 &&
		    f->from_ns == now && f->to_ns == now + 30 * SIM_SEC;
	}
	assert_int_equal(n_ended, 4);
	assert_int_equal(n_stay, 4);
	assert_int_equal(n_down, 8);
	assert_int_equal(g.truth.n_faults, 16);
	tear_down(&g);
}

static void a_budget_is_of_a_day_and_a_data_centre(void **state)
{
	const unsigned two = 1u << 0 | 1u << 2; /* of different pods */
	struct rig g;
	(void)state;
	set_up(&g, "repair: {on: true}, blackhole: {max_reloads: 3}");
	const struct {
		uint32_t dc;
		sim_ns now;
		uint32_t n_reloaded;
	} steps[] = {{0, 700 * SIM_SEC, 2}, {0, DAY - 1, 1}, {0, DAY - 1, 0},
	    {1, DAY - 1, 2}, {0, DAY, 2}, {0, DAY + 9, 1}, {0, 3 * DAY, 2}};
	for (size_t i = 0; i < 7; i++) {
		const struct xp_repaired r =
		    run(&g, steps[i].dc, two, steps[i].now);
		assert_int_equal(r.n_candidates, 2);
		assert_int_equal(r.n_candidates_true, 0);
		assert_int_equal(r.n_reloaded, steps[i].n_reloaded);
		assert_int_equal(r.n_deferred, 2 - r.n_reloaded);
		assert_int_equal(r.n_escalated, 0);
	}
	/* A new run begins with the whole number of reloads. */
	xp_repair_begin(&g.shop);
	assert_int_equal(run(&g, 0, two, 0).n_reloaded, 2);
	tear_down(&g);
	set_up(&g, "repair: {on: true, day: 900}, blackhole: {max_reloads: 2}");
	assert_int_equal(run(&g, 0, two, 0).n_reloaded, 2);
	assert_int_equal(run(&g, 0, two, 900 * SIM_SEC - 1).n_reloaded, 0);
	assert_int_equal(run(&g, 0, two, 900 * SIM_SEC).n_reloaded, 2);
	tear_down(&g);
}

/* Each server of the other pod is in a black-holed pair with either bad ToR, so
 * that pod looks bad too, and neither is reloaded. */
static void whole_pods_are_left_to_people(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "repair: {on: true}");
	add_hole(&g, 2);
	const struct xp_repaired r = run(&g, 0, 1u << 2 | 1u << 3, 0);
	assert_int_equal(r.n_escalated, PINGMESH_TORS);
	assert_int_equal(r.n_candidates_true, 1);
	assert_int_equal(r.n_reloaded + r.n_deferred, 0);
	assert_true(g.truth.hole[0].to_ns == SIM_NEVER);
	tear_down(&g);
}

static void who_only_looks_changes_nothing(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "");
	add_hole(&g, 0);
	const struct xp_repaired r = run(&g, 0, 1u << 0, 0);
	assert_int_equal(r.n_candidates, 1);
	assert_int_equal(r.n_candidates_true, 1);
	assert_int_equal(r.n_reloaded + r.n_deferred + r.n_escalated, 0);
	assert_true(g.truth.hole[0].to_ns == SIM_NEVER);
	assert_int_equal(g.truth.n_faults, 4);
	tear_down(&g);
}

static void each_tor_is_named_once(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "");
	add_hole(&g, 0);
	run(&g, 0, 1u << 0, 0);
	run(&g, 0, 1u << 0 | 1u << 3, 0);
	run(&g, 0, 0, 0);
	assert_int_equal(xp_repair_n_named(&g.shop, 0), 2);
	assert_int_equal(xp_repair_n_named_true(&g.shop, 0, &g.truth, SIM_SEC),
	    1);
	assert_int_equal(xp_repair_n_named(&g.shop, 1), 0);
	xp_repair_begin(&g.shop);
	assert_int_equal(xp_repair_n_named(&g.shop, 0), 0);
	tear_down(&g);
}

static int reload(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	struct xp_repair_shop shop = {.n_dcs = 0};
	struct truth truth = {0};
	const struct obs seen = {.probes = obs_probes_whole(&g->t)};
	struct xp_repaired r;
	int rc = xp_repair_open(&shop, &g->m.s.topo, &g->m.p, e);
	if (rc == 0)
		rc = xp_repair_run(&shop, 0, &seen, 0, 1, 1, &truth, &r, e);
	xp_repair_close(&shop);
	truth_free(&truth);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct rig g;
	(void)state;
	set_up(&g, "repair: {on: true}");
	fill(&g, 1);
	test_each_alloc_fails(reload, &g);
	tear_down(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_reload_ends_the_holes_of_its_switch_alone),
	    cmocka_unit_test(a_budget_is_of_a_day_and_a_data_centre),
	    cmocka_unit_test(whole_pods_are_left_to_people),
	    cmocka_unit_test(who_only_looks_changes_nothing),
	    cmocka_unit_test(each_tor_is_named_once),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/repair", tests,
	    NULL, NULL);
}
