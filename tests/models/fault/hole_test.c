/* tests/models/fault/hole_test.c -- black holes: where, how large, and when.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chi-squares at level 1e-6, three of them.
 */
#include "models/fault/fault.h"

#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/mesh.h"

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

static struct fault_params *add_holes(struct scenes *s, uint32_t kind,
    uint32_t switches, double entries)
{
	struct fault_params *g = scenes_add_group(s);
	g->kind = kind;
	g->switches = switches;
	g->entries = scenes_fixed(entries);
	return g;
}

static const struct truth_hole *hole_of(const struct truth *t, topo_switch s)
{
	for (size_t i = 0; i < t->n_holes; i++)
		if (t->hole[i].at == s)
			return &t->hole[i];
	return NULL;
}

/* Links into the switch are faulty at the hole's share and fail with it; no
 * other link is. */
static void the_links_into_a_hole_are_its_parts(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	scenes_open(&s, &shape);
	struct fault_params *g = add_holes(&s, FAULT_BLACK_HOLE_1, 0, 0.25);
	g->from_s = 2;
	g->to_s = 3;
	for (uint32_t run = 0; run < 50; run++) {
		size_t n = 0;
		g->switches = run % (s.topo.n_switches + 1);
		assert_ok(draw(&s, &t, run, test_err()));
		assert_int_equal(t.n_holes, g->switches);
		assert_int_equal(t.n_switches, g->switches);
		for (topo_link l = 0; l < s.topo.n_links; l++) {
			topo_node from, to;
			topo_link_ends(&s.topo, l, &from, &to);
			const topo_switch at = to < s.topo.n_hosts
			    ? TOPO_NONE
			    : to - s.topo.n_hosts;
			const int into = hole_of(&t, at) != NULL;
			assert_int_equal(truth_is_faulty(&t, l), into);
			assert_int_equal(truth_switch_of(&t, l, TOPO_NONE),
			    into ? at : TOPO_NONE);
			if (!into)
				continue;
			const struct truth_fault *f = &t.fault[n++];
			assert_int_equal(f->link, l);
			assert_true(f->of_hole && f->rate == 0.25);
			assert_int_equal(f->from_ns, 2 * SIM_SEC);
			assert_int_equal(f->to_ns, 3 * SIM_SEC);
		}
		assert_int_equal(n, t.n_faults);
	}
	truth_free(&t);
	scenes_close(&s);
}

static void kinds_tell_pairs_from_tuples(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	scenes_open(&s, &shape);
	struct fault_params *g = add_holes(&s, FAULT_BLACK_HOLE_1, 1, 1);
	assert_ok(draw(&s, &t, 0, test_err()));
	assert_int_equal(t.hole[0].rule.type, BLACKHOLE_RULE_PAIR);
	assert_true(t.hole[0].rule.below == UINT64_C(1) << 32);
	g->kind = FAULT_BLACK_HOLE_2;
	assert_ok(draw(&s, &t, 0, test_err()));
	assert_int_equal(t.hole[0].rule.type, BLACKHOLE_RULE_TUPLE);
	truth_free(&t);
	scenes_close(&s);
}

static void switches_of_the_tiers_are_drawn_alike(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	uint64_t got[19] = {0}, share[20] = {0};
	double want[19] = {0};
	scenes_open(&s, &shape);
	struct fault_params *g = add_holes(&s, FAULT_BLACK_HOLE_2, 3, 1);
	g->tiers = BIT(FAULT_TIER_T1) | BIT(FAULT_TIER_T2);
	g->entries = scenes_uniform(0, 1);
	for (topo_switch k = 8; k < 19; k++)
		want[k] = 1;
	for (uint32_t run = 0; run < 3000; run++) {
		assert_ok(draw(&s, &t, run, test_err()));
		for (size_t i = 0; i < t.n_holes; i++) {
			got[t.hole[i].at]++;
			share[(int)((double)t.hole[i].rule.below * 0x1p-32 *
			    19.999)]++;
		}
	}
	assert_true(law_chi2(got, want, 19) > LEVEL);
	assert_true(law_chi2_uniform(share, 20) > LEVEL);
	truth_free(&t);
	scenes_close(&s);
}

static void no_two_holes_share_a_salt(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	uint64_t salt[100];
	size_t n = 0;
	scenes_open(&s, &shape);
	add_holes(&s, FAULT_BLACK_HOLE_1, 5, 0.1);
	add_holes(&s, FAULT_BLACK_HOLE_1, 5, 0.1);
	for (uint32_t run = 0; run < 10; run++) {
		assert_ok(draw(&s, &t, run, test_err()));
		for (size_t i = 0; i < t.n_holes; i++)
			salt[n++] = t.hole[i].rule.salt;
	}
	assert_int_equal(n, 100);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			assert_true(salt[i] != salt[k]);
	truth_free(&t);
	scenes_close(&s);
}

/* More switches are the same ones and more; more entries the same keys; a
 * spread moves neither. */
static void what_is_not_changed_stays(void **state)
{
	(void)state;
	struct scenes s;
	struct truth a = {0}, b = {0};
	scenes_open(&s, &shape);
	struct fault_params *g = add_holes(&s, FAULT_BLACK_HOLE_1, 3, 0.1);
	for (uint32_t run = 0; run < 30; run++) {
		g->switches = 3;
		g->entries = scenes_fixed(0.1);
		g->spread_s = 0;
		assert_ok(draw(&s, &a, run, test_err()));
		g->switches = 7;
		g->entries = scenes_fixed(0.3);
		g->spread_s = 100;
		assert_ok(draw(&s, &b, run, test_err()));
		for (size_t i = 0; i < a.n_holes; i++) {
			const struct truth_hole *h = hole_of(&b, a.hole[i].at);
			assert_non_null(h);
			assert_true(h->rule.salt == a.hole[i].rule.salt);
			assert_true(h->rule.below > a.hole[i].rule.below);
		}
	}
	truth_free(&a);
	truth_free(&b);
	scenes_close(&s);
}

static void without_corrupt_entries_nothing_failed(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	scenes_open(&s, &shape);
	add_holes(&s, FAULT_BLACK_HOLE_1, 5, 0);
	assert_ok(draw(&s, &t, 0, test_err()));
	assert_int_equal(t.n_holes + t.n_faults + t.n_switches + t.n_parts, 0);
	truth_free(&t);
	scenes_close(&s);
}

static void named_switches_fail_as_told(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	struct sim_err e;
	scenes_open(&s, &shape);
	const uint32_t n_hosts = s.topo.n_hosts;
	uint32_t at[] = {n_hosts + 15, n_hosts + 2};
	struct fault_params *g = add_holes(&s, FAULT_BLACK_HOLE_1, 9, 0.5);
	g->at = at;
	g->n_at = 2;
	g->tiers = BIT(FAULT_TIER_T1);
	assert_ok(draw(&s, &t, 0, test_err()));
	assert_int_equal(t.n_holes, 2);
	assert_int_equal(t.hole[0].at, 2);
	assert_int_equal(t.hole[1].at, 15);

	/* One more name changes nothing of those before it. */
	for (uint32_t run = 0; run < 20; run++) {
		assert_ok(draw(&s, &t, run, test_err()));
		const uint64_t salt = hole_of(&t, 15)->rule.salt;
		g->n_at = 1;
		assert_ok(draw(&s, &t, run, test_err()));
		assert_int_equal(t.n_holes, 1);
		assert_true(hole_of(&t, 15)->rule.salt == salt);
		g->n_at = 2;
	}

	g->kind = FAULT_DROP;
	g->rate = scenes_fixed(0.5);
	assert_ok(draw(&s, &t, 0, test_err()));
	assert_int_equal(t.n_holes, 0);
	assert_int_equal(t.n_switches, 2);
	assert_true(truth_is_failed_switch(&t, 2));
	assert_true(truth_is_failed_switch(&t, 15));
	assert_int_equal(t.n_faults, 2 * (2 + 3) + 2 * 6);

	at[1] = n_hosts - 1;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "fault group 0: node 15 is no switch.");
	at[1] = n_hosts + s.topo.n_switches;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_EINVAL);
	at[1] = at[0];
	assert_int_equal(draw(&s, &t, 0, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "fault group 0: switch 15 is named twice.");
	truth_free(&t);
	scenes_close(&s);
}

static void more_holes_than_switches_are_refused(void **state)
{
	(void)state;
	const struct topo_clos leaf_spine = {1, 4, 3, 0, 2, .n_cables = 0};
	struct scenes s;
	struct truth t = {0};
	struct sim_err e;
	scenes_open(&s, &leaf_spine);
	struct fault_params *g = add_holes(&s, FAULT_BLACK_HOLE_2, 1, 0.5);
	g->tiers = BIT(FAULT_TIER_T2);
	assert_int_equal(draw(&s, &t, 0, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "fault group 0: 1 switches are to fail, but the tiers named have "
	    "0.");
	truth_free(&t);
	scenes_close(&s);
}

/* Sixty ToRs that arrive over a month and are corrupt for a day each. */
static void spread_and_lasts_hold_for_each_switch(void **state)
{
	(void)state;
	const struct topo_clos large = {4, 20, 4, 4, 2, .n_cables = 0};
	const sim_ns day = 86400 * SIM_SEC;
	struct scenes s;
	struct truth t = {0};
	uint64_t by_day[30] = {0};
	scenes_open(&s, &large);
	struct fault_params *g = add_holes(&s, FAULT_BLACK_HOLE_1, 60, 0.01);
	g->tiers = BIT(FAULT_TIER_TOR);
	g->from_s = 86400;
	g->spread_s = 30 * 86400.0;
	g->lasts_s = 86400;
	for (uint32_t run = 0; run < 50; run++) {
		assert_ok(draw(&s, &t, run, test_err()));
		assert_int_equal(t.n_holes, 60);
		for (size_t i = 0; i < t.n_holes; i++) {
			const struct truth_hole *h = &t.hole[i];
			assert_true(h->from_ns >= day && h->from_ns < 31 * day);
			assert_int_equal(h->to_ns - h->from_ns, day);
			by_day[h->from_ns / day - 1]++;
		}
		for (size_t i = 0; i < t.n_faults; i++) {
			const struct truth_hole *h = hole_of(&t,
			    truth_switch_of(&t, t.fault[i].link, TOPO_NONE));
			assert_int_equal(t.fault[i].from_ns, h->from_ns);
			assert_int_equal(t.fault[i].to_ns, h->to_ns);
		}
	}
	assert_true(law_chi2_uniform(by_day, 30) > LEVEL);
	truth_free(&t);
	scenes_close(&s);
}

static void a_mesh_has_holes_as_its_clos_has(void **state)
{
	(void)state;
	struct scenes clos, mesh;
	struct topo_mesh *m;
	struct truth a = {0}, b = {0};
	scenes_open(&clos, &shape);
	assert_ok(topo_mesh_from_clos(&m, &clos.topo.clos, test_err()));
	scenes_open_mesh(&mesh, m);
	add_holes(&clos, FAULT_BLACK_HOLE_1, 5, 0.2);
	add_holes(&mesh, FAULT_BLACK_HOLE_1, 5, 0.2);
	for (uint32_t run = 0; run < 20; run++) {
		assert_ok(draw(&clos, &a, run, test_err()));
		assert_ok(draw(&mesh, &b, run, test_err()));
		assert_int_equal(a.n_holes, 5);
		assert_int_equal(b.n_holes, 5);
		assert_int_equal(a.n_faults, b.n_faults);
		for (size_t i = 0; i < 5; i++) {
			assert_int_equal(a.hole[i].at, b.hole[i].at);
			assert_true(a.hole[i].rule.salt == b.hole[i].rule.salt);
		}
		for (size_t i = 0; i < a.n_faults; i++)
			assert_int_equal(a.fault[i].link, b.fault[i].link);
	}
	truth_free(&a);
	truth_free(&b);
	scenes_close(&clos);
	scenes_close(&mesh);
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
	scenes_open(&s, &shape);
	add_holes(&s, FAULT_BLACK_HOLE_1, 3, 0.1);
	test_each_alloc_fails(draw_once, &s);
	scenes_close(&s);
}

/* Shares of up to a key in 2^32: about half of them round to none. The others have
 * their holes, whoever came before. */
static void a_switch_without_a_key_keeps_no_other_from_its_hole(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	unsigned n_mixed = 0;
	scenes_open(&s, &shape);
	struct fault_params *g =
	    add_holes(&s, FAULT_BLACK_HOLE_2, s.topo.n_switches, 0);
	g->entries = scenes_uniform(0, 0x1p-32);
	for (uint32_t run = 0; run < 20; run++) {
		size_t n_in = 0;
		assert_ok(draw(&s, &t, run, test_err()));
		for (topo_link l = 0; l < s.topo.n_links; l++) {
			topo_node from, to;
			topo_link_ends(&s.topo, l, &from, &to);
			n_in += to >= s.topo.n_hosts &&
			    hole_of(&t, to - s.topo.n_hosts);
		}
		assert_int_equal(t.n_faults, n_in);
		n_mixed += t.n_holes > 4 && t.n_holes < s.topo.n_switches - 4;
		for (size_t i = 0; i < t.n_holes; i++)
			assert_int_equal(t.hole[i].rule.below, 1);
	}
	assert_true(n_mixed > 10);
	truth_free(&t);
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_links_into_a_hole_are_its_parts),
	    cmocka_unit_test(kinds_tell_pairs_from_tuples),
	    cmocka_unit_test(switches_of_the_tiers_are_drawn_alike),
	    cmocka_unit_test(no_two_holes_share_a_salt),
	    cmocka_unit_test(what_is_not_changed_stays),
	    cmocka_unit_test(without_corrupt_entries_nothing_failed),
	    cmocka_unit_test(named_switches_fail_as_told),
	    cmocka_unit_test(more_holes_than_switches_are_refused),
	    cmocka_unit_test(spread_and_lasts_hold_for_each_switch),
	    cmocka_unit_test(a_mesh_has_holes_as_its_clos_has),
	    cmocka_unit_test(each_failing_allocation_is_reported),
	    cmocka_unit_test(
		a_switch_without_a_key_keeps_no_other_from_its_hole),
	};
	return cmocka_run_group_tests_name("models/fault/hole", tests, NULL,
	    NULL);
}
