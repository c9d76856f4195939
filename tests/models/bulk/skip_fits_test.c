/* tests/models/bulk/skip_fits_test.c -- what can be skipped through, and gains.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/skip.h"
#include "tests/rigs/scenes.h"

static const struct topo_clos medium = {3, 4, 3, 4, 3, .n_cables = 0};

static void assert_refused(struct scenes *s, const char *why)
{
	struct sim_err e;
	struct bulk_skip *k;
	struct obs w = {0};
	struct scene *scene = scenes_draw(s, 0);
	assert_ok(bulk_skip_open(&k, test_err()));
	assert_int_equal(bulk_skip_fits(scene, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg, why);
	e.msg[0] = 0;
	assert_int_equal(bulk_skip_epoch(k, scene, &w, &s->lost, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg, why);
	bulk_skip_close(k);
	obs_free(&w);
}

static void what_skipping_cannot_do_is_refused(void **state)
{
	(void)state;
	struct scenes s;
	scenes_open(&s, &medium);
	scenes_use_tcp(&s, 47);
	assert_refused(&s, "skipping has no way back of flows (traffic.tcp).");
	scenes_close(&s);
}

/* 4096 T1s below one T2 are 2^24 paths between pods. */
static void more_paths_than_a_draw_tells_apart_are_refused(void **state)
{
	(void)state;
	static const struct topo_clos shape[] = {
	    {2, 1, 4096, 1, 1, .n_cables = 0},
	    {2, 1, 4096, 2, 1, .n_cables = 0},
	    {1, 2, 4097, 0, 1, .n_cables = 0},
	};
	for (unsigned i = 0; i < 3; i++) {
		struct scenes s;
		scenes_open(&s, &shape[i]);
		if (i == 0)
			assert_ok(
			    bulk_skip_fits(scenes_draw(&s, 0), test_err()));
		else
			assert_refused(&s,
			    "skipping can't tell more than 2^24 paths between "
			    "two ToRs apart.");
		scenes_close(&s);
	}
}

static int pays(struct scenes *s)
{
	return bulk_skip_excess(scenes_draw(s, 0)) <= 0;
}

/* Six links of a flow of n packets, in a hundred flows 20. */
static void it_pays_where_noise_makes_few_flows_candidates(void **state)
{
	(void)state;
	struct scenes s;
	scenes_open(&s, &medium);
	s.params.traffic.packets = scenes_uniform(1, 100);
	s.params.noise.rate = scenes_uniform(0, 3.71e-4);
	assert_true(pays(&s));
	s.params.noise.rate = scenes_uniform(0, 3.72e-4);
	assert_false(pays(&s));
	s.params.traffic.packets = scenes_uniform(1, 99);
	assert_true(pays(&s));
	scenes_close(&s);
}

/* The other plane's flows cost more where ToRs are hot, and its lossy flows do;
 * here those cost that cross a switch with a hole, two in three with one at each
 * T2 of four. */
static void what_else_costs_there_or_here_has_a_say(void **state)
{
	(void)state;
	struct scenes s;
	scenes_open(&s, &medium);
	s.params.noise.rate = scenes_uniform(0, 4e-4);
	assert_false(pays(&s));
	s.params.traffic.dst = SCENE_DST_SKEWED;
	s.params.traffic.n_hot = 2;
	assert_true(pays(&s));
	s.params.noise.rate = scenes_uniform(0, 6e-4);
	assert_false(pays(&s));
	s.params.traffic.dst = SCENE_DST_UNIFORM;
	scenes_add_fault(&s, 9, 0.5); /* of one host */
	assert_false(pays(&s));
	struct fault_params *g = scenes_add_group(&s);
	g->classes = UINT32_C(1) << TOPO_TOR_T1;
	g->count = 36;
	g->rate = scenes_fixed(1);
	assert_true(pays(&s));
	scenes_close(&s);

	scenes_open(&s, &medium);
	s.params.noise.rate = scenes_fixed(0);
	g = scenes_add_group(&s);
	g->kind = FAULT_BLACK_HOLE_1;
	g->switches = 1;
	g->entries = scenes_fixed(0.1);
	g->tiers = 1u << FAULT_TIER_TOR;
	assert_true(pays(&s));
	g->tiers = 1u << FAULT_TIER_T2;
	g->switches = 4;
	assert_false(pays(&s));
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_skipping_cannot_do_is_refused),
	    cmocka_unit_test(more_paths_than_a_draw_tells_apart_are_refused),
	    cmocka_unit_test(it_pays_where_noise_makes_few_flows_candidates),
	    cmocka_unit_test(what_else_costs_there_or_here_has_a_say),
	};
	return cmocka_run_group_tests_name("models/bulk/skip_fits", tests, NULL,
	    NULL);
}
