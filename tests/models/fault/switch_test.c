/* tests/models/fault/switch_test.c -- switches that fail with their links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chi-squares at level 1e-6, three of them.
 */
#include "models/fault/fault.h"

#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/mesh.h"
#include "topo/region.h"

#define LEVEL  1e-6
#define BIT(i) (UINT32_C(1) << (i))

static const struct topo_clos shape = {2, 4, 3, 5, 2, .n_cables = 0};

static int draw(struct scenes *s, struct truth *truth, uint32_t run,
    struct sim_err *e)
{
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	truth_clear(truth);
	return fault_draw(&s->topo, s->group, s->params.n_groups, &where, truth,
	    e);
}

static struct fault_params *open_group(struct scenes *s, uint32_t switches)
{
	scenes_open(s, &shape);
	struct fault_params *g = scenes_add_group(s);
	g->switches = switches;
	return g;
}

static int touches(const struct topo *t, topo_link l, topo_switch s)
{
	topo_node from, to;
	topo_link_ends(t, l, &from, &to);
	return from == t->n_hosts + s || to == t->n_hosts + s;
}

static void by_default_no_switch_fails_and_else_wholly(void **state)
{
	(void)state;
	struct scenes s;
	const struct fault_params *g = open_group(&s, 0);
	struct truth truth = {0};
	assert_int_equal(g->tiers,
	    BIT(FAULT_TIER_TOR) | BIT(FAULT_TIER_T1) | BIT(FAULT_TIER_T2));
	assert_true(g->share == 1);
	assert_ok(draw(&s, &truth, 0, test_err()));
	assert_int_equal(truth.n_switches, 0);
	assert_int_equal(truth.n_faults, 1);
	assert_int_equal(truth_switch_of(&truth, truth.fault[0].link, 0),
	    TOPO_NONE);
	truth_free(&truth);
	scenes_close(&s);
}

/* Whatever fails: each switch once, every link of it once, and no other. */
static void all_links_of_a_failed_switch_fail(void **state)
{
	(void)state;
	struct scenes s;
	struct fault_params *g = open_group(&s, 0);
	struct truth truth = {0};
	g->rate = scenes_uniform(0.25, 0.5);
	for (uint32_t run = 0; run < 100; run++) {
		g->switches = 1 + run % s.topo.n_switches;
		assert_ok(draw(&s, &truth, run, test_err()));
		assert_int_equal(truth.n_switches, g->switches);
		assert_true(truth.n_parts >= truth.n_faults);
		size_t n = 0;
		for (topo_link l = 0; l < s.topo.n_links; l++) {
			int of_failed = 0;
			for (size_t i = 0; i < truth.n_switches; i++) {
				const topo_switch f = truth.failed_switch[i];
				const int its = touches(&s.topo, l, f);
				assert_int_equal(truth_switch_of(&truth, l,
						     f) == f,
				    its);
				of_failed |= its;
			}
			assert_int_equal(truth_is_faulty(&truth, l), of_failed);
			const topo_switch of =
			    truth_switch_of(&truth, l, TOPO_NONE);
			assert_int_equal(of != TOPO_NONE, of_failed);
			if (!of_failed)
				continue;
			assert_true(touches(&s.topo, l, of));
			assert_true(truth_is_failed_switch(&truth, of));
			assert_int_equal(truth.fault[n].link, l);
			assert_in_range((int)(100 * truth.fault[n].rate), 25,
			    50);
			n++;
		}
		assert_int_equal(n, truth.n_faults);
		for (size_t i = 0; i < truth.n_switches; i++)
			for (size_t k = 0; k < i; k++)
				assert_int_not_equal(truth.failed_switch[i],
				    truth.failed_switch[k]);
	}
	truth_free(&truth);
	scenes_close(&s);
}

/* Named ones fail as named, whatever their tier and however many were to. */
static void named_switches_fail(void **state)
{
	(void)state;
	struct scenes s;
	struct fault_params *g = open_group(&s, 0);
	struct truth truth = {0};
	uint32_t at[] = {s.topo.n_hosts + s.topo.n_switches - 1, s.topo.n_hosts,
	    s.topo.n_hosts + 5};
	g->at = at;
	g->tiers = BIT(FAULT_TIER_T1);
	for (uint32_t n = 1; n <= 3; n++) {
		g->n_at = n;
		g->switches = n % 2 ? 0 : 7;
		assert_ok(draw(&s, &truth, n, test_err()));
		assert_int_equal(truth.n_switches, n);
		for (uint32_t i = 0; i < n; i++)
			assert_true(truth_is_failed_switch(&truth,
			    at[i] - s.topo.n_hosts));
	}
	truth_free(&truth);
	scenes_close(&s);
}

static void switches_of_the_tiers_are_drawn_alike(void **state)
{
	(void)state;
	static const struct {
		uint32_t tiers, first, n;
	} cases[] = {
	    {BIT(FAULT_TIER_TOR), 0, 8},
	    {BIT(FAULT_TIER_T1), 8, 6},
	    {BIT(FAULT_TIER_T1) | BIT(FAULT_TIER_T2), 8, 11},
	};
	for (size_t i = 0; i < 3; i++) {
		struct scenes s;
		struct fault_params *g = open_group(&s, 2);
		struct truth truth = {0};
		uint64_t got[19] = {0};
		double want[19] = {0};
		g->tiers = cases[i].tiers;
		for (uint32_t k = 0; k < cases[i].n; k++)
			want[cases[i].first + k] = 1;
		for (uint32_t run = 0; run < 3000; run++) {
			assert_ok(draw(&s, &truth, run, test_err()));
			got[truth.failed_switch[0]]++;
		}
		assert_true(law_chi2(got, want, 19) > LEVEL);
		truth_free(&truth);
		scenes_close(&s);
	}
}

/* T2s have 2 * 6 links each: at a share of 0.3, 3.6 of them fail on average; 5
 * standard errors of 2000 draws are 0.18. A switch that keeps all its links has
 * not failed, which 0.7^12 = 1.4 % do. */
static void a_share_of_the_links_fails(void **state)
{
	(void)state;
	struct scenes s;
	struct fault_params *g = open_group(&s, 1);
	struct truth truth = {0};
	struct law_mean n = {0};
	unsigned n_failed = 0;
	g->tiers = BIT(FAULT_TIER_T2);
	g->share = 0.3;
	for (uint32_t run = 0; run < 2000; run++) {
		assert_ok(draw(&s, &truth, run, test_err()));
		law_add(&n, (double)truth.n_faults);
		assert_int_equal(truth.n_switches, truth.n_faults > 0);
		n_failed += truth.n_faults > 0;
	}
	assert_near(law_mean(&n), 3.6, 0.18);
	assert_in_range(n_failed, 2000 - 54, 2000 - 2);
	truth_free(&truth);
	scenes_close(&s);
}

static void a_larger_share_fails_the_same_links_and_more(void **state)
{
	(void)state;
	struct scenes s;
	struct fault_params *g = open_group(&s, 3);
	struct truth less = {0}, more = {0};
	for (uint32_t run = 0; run < 50; run++) {
		g->share = 0.2;
		assert_ok(draw(&s, &less, run, test_err()));
		g->share = 0.7;
		assert_ok(draw(&s, &more, run, test_err()));
		assert_true(less.n_faults < more.n_faults);
		for (size_t i = 0, k = 0; i < less.n_faults; i++) {
			while (more.fault[k].link != less.fault[i].link)
				assert_true(++k < more.n_faults);
			assert_true(more.fault[k].rate == less.fault[i].rate);
		}
	}
	truth_free(&less);
	truth_free(&more);
	scenes_close(&s);
}

static void a_graph_without_tiers_has_tors_and_others(void **state)
{
	(void)state;
	/* Two ToRs with a host each, and two switches between them. */
	static const struct topo_cable cables[] = {{0, 2}, {1, 3}, {2, 4},
	    {2, 5}, {3, 4}, {3, 5}};
	const struct topo_mesh_input in = {.n_hosts = 2,
	    .n_switches = 4,
	    .n_cables = 6,
	    .cable = cables};
	struct topo_mesh *m;
	struct scenes s;
	struct truth truth = {0};
	struct sim_err e;
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	scenes_open_mesh(&s, m);
	struct fault_params *g = scenes_add_group(&s);
	g->switches = 2;
	for (unsigned tier = 0; tier < 3; tier++)
		for (uint32_t run = 0; run < 20; run++) {
			g->tiers = BIT(tier);
			assert_ok(draw(&s, &truth, run, test_err()));
			assert_int_equal(truth.n_switches, 2);
			assert_int_equal(truth.failed_switch[0] < 2,
			    tier == FAULT_TIER_TOR);
		}
	g->switches = 3;
	assert_int_equal(draw(&s, &truth, 0, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "fault group 0: 3 switches are to fail, but "
	    "the tiers named have 2.");
	g->tiers = 7;
	assert_ok(draw(&s, &truth, 0, test_err()));
	truth_free(&truth);
	scenes_close(&s);
}

static void a_fat_tree_has_its_tiers(void **state)
{
	(void)state;
	struct topo_mesh *m;
	struct scenes s;
	struct truth truth = {0};
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	scenes_open_mesh(&s, m);
	struct fault_params *g = scenes_add_group(&s);
	static const uint32_t n[] = {8, 8, 4};
	for (unsigned tier = 0; tier < 3; tier++) {
		g->tiers = BIT(tier);
		g->switches = n[tier];
		assert_ok(draw(&s, &truth, 0, test_err()));
		assert_int_equal(truth.n_switches, n[tier]);
		for (size_t i = 0; i < truth.n_switches; i++)
			assert_int_equal(topo_mesh_tier(m,
					     truth.failed_switch[i]),
			    tier);
		g->switches++;
		assert_int_equal(draw(&s, &truth, 0, NULL), SIM_ELIMIT);
	}
	truth_free(&truth);
	scenes_close(&s);
}

/* Two data centres of 12 ToRs, 9 T1s and 5 T2s, with 2 borders each. */
static void a_region_has_its_tiers_and_borders(void **state)
{
	(void)state;
	static const uint32_t n[] = {24, 18, 10, 4};
	const struct topo_clos dc = {3, 4, 3, 5, 2, .n_cables = 0};
	struct topo_region_params p;
	struct scenes s;
	struct truth truth = {0};
	assert_ok(sim_field_defaults(topo_region_fields, &p, test_err()));
	p.n_dcs = p.n_borders = 2;
	scenes_open(&s, &dc);
	topo_close(&s.topo);
	assert_ok(topo_open_region(&s.topo, &dc, &p, test_err()));
	struct fault_params *g = scenes_add_group(&s);
	for (unsigned tier = 0; tier < 4; tier++) {
		g->tiers = BIT(tier);
		g->switches = n[tier];
		assert_ok(draw(&s, &truth, 0, test_err()));
		assert_int_equal(truth.n_switches, n[tier]);
		for (size_t i = 0; i < truth.n_switches; i++)
			assert_int_equal(topo_mesh_tier(s.topo.mesh,
					     truth.failed_switch[i]),
			    tier);
		g->switches++;
		assert_int_equal(draw(&s, &truth, 0, NULL), SIM_ELIMIT);
	}
	truth_free(&truth);
	scenes_close(&s);
}

static int draw_once(void *arg, struct sim_err *e)
{
	struct truth truth = {0};
	int rc = draw(arg, &truth, 1, e);
	truth_free(&truth);
	return rc;
}

static void each_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct scenes s;
	open_group(&s, 3);
	test_each_alloc_fails(draw_once, &s);
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_default_no_switch_fails_and_else_wholly),
	    cmocka_unit_test(all_links_of_a_failed_switch_fail),
	    cmocka_unit_test(named_switches_fail),
	    cmocka_unit_test(switches_of_the_tiers_are_drawn_alike),
	    cmocka_unit_test(a_share_of_the_links_fails),
	    cmocka_unit_test(a_larger_share_fails_the_same_links_and_more),
	    cmocka_unit_test(a_graph_without_tiers_has_tors_and_others),
	    cmocka_unit_test(a_fat_tree_has_its_tiers),
	    cmocka_unit_test(a_region_has_its_tiers_and_borders),
	    cmocka_unit_test(each_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("models/fault/switch", tests, NULL,
	    NULL);
}
