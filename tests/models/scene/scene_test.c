/* tests/models/scene/scene_test.c -- scenes are functions of their names.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/bulk.h"
#include "models/bulk/skip.h"
#include "tests/rigs/scenes.h"
#include "topo/mesh.h"

static const struct topo_clos small = {2, 3, 2, 2, 3, .n_cables = 0};
static const struct topo_clos large = {3, 5, 4, 3, 6, .n_cables = 0};

static void open_rich(struct scenes *s, const struct topo_clos *shape)
{
	scenes_open(s, shape);
	s->params.traffic.conns = scenes_uniform(1, 9);
	s->params.traffic.dst = SCENE_DST_SKEWED;
	s->params.traffic.n_hot = 2;
	s->params.noise.rate = scenes_uniform(0, 1e-2);
	scenes_add_group(s)->count = 5;
	scenes_add_fault(s, 3, 0.5)->from_s = 4;
}

static void assert_same_faults(const struct truth *a, const struct truth *b)
{
	assert_int_equal(a->n_faults, b->n_faults);
	for (size_t i = 0; i < a->n_faults; i++) {
		assert_int_equal(a->fault[i].link, b->fault[i].link);
		assert_true(a->fault[i].rate == b->fault[i].rate);
		assert_true(a->fault[i].from_ns == b->fault[i].from_ns);
		assert_true(a->fault[i].to_ns == b->fault[i].to_ns);
	}
}

/* Fail unless both scenes give the same window. */
static void assert_same_scenes(struct scene *a, struct scene *b)
{
	struct bulk *bulk;
	struct obs x = {0}, y = {0};
	struct losses x_lost = {0}, y_lost = {0};
	assert_int_equal(a->ecmp_seed, b->ecmp_seed);
	assert_same_faults(&a->truth, &b->truth);
	assert_ok(bulk_open(&bulk, NULL, test_err()));
	assert_ok(bulk_epoch(bulk, a, 1, &x, &x_lost, test_err()));
	assert_ok(bulk_epoch(bulk, b, 1, &y, &y_lost, test_err()));
	scenes_assert_same(&x, &x_lost, &y, &y_lost);
	bulk_close(bulk);
	obs_free(&x);
	obs_free(&y);
	losses_free(&x_lost);
	losses_free(&y_lost);
}

static void a_name_gives_one_scene_whatever_was_drawn_before(void **state)
{
	(void)state;
	struct scenes a, b;
	open_rich(&a, &small);
	open_rich(&b, &small);
	for (uint32_t run = 0; run < 20; run++)
		scenes_draw(&a, run);
	scenes_draw(&b, 7);
	assert_same_scenes(scenes_draw(&a, 7), &b.scene);
	scenes_close(&a);
	scenes_close(&b);
}

static void each_part_of_a_name_gives_another_scene(void **state)
{
	(void)state;
	const struct sim_seed names[] = {
	    {5, 6, 7, 8},
	    {4, 6, 7, 8},
	    {5, 5, 7, 8},
	    {5, 6, 6, 8},
	    {5, 6, 7, 7},
	};
	enum { N = sizeof(names) / sizeof(names[0]) };
	uint32_t ecmp[N];
	double rate[N], noise[N];
	struct scenes s;
	open_rich(&s, &large);
	for (int i = 0; i < N; i++) {
		struct scene *x = &s.scene;
		assert_ok(
		    scene_draw(x, &s.topo, &s.params, &names[i], test_err()));
		ecmp[i] = x->ecmp_seed;
		rate[i] = x->truth.fault[5].rate;
		noise[i] = scene_noise_rate(&x->loss.noise, 0);
		for (int j = 0; j < i; j++)
			assert_true(ecmp[i] != ecmp[j] && rate[i] != rate[j] &&
			    noise[i] != noise[j]);
	}
	scenes_close(&s);
}

/* Memory of one topology serves the next, whichever is larger. */
static void memory_is_reused_between_topologies(void **state)
{
	(void)state;
	struct scenes kind[4], again[4];
	struct topo_mesh *mesh;
	struct scene reused = {0};
	for (int twin = 0; twin < 2; twin++) {
		struct scenes *k = twin ? again : kind;
		open_rich(&k[0], &small);
		open_rich(&k[1], &large);
		scenes_open(&k[2], &small);
		k[2].params.noise.rate = scenes_fixed(0.05);
		assert_ok(topo_mesh_fat_tree(&mesh, 4, 0, test_err()));
		scenes_open_mesh(&k[3], mesh);
		k[3].params.noise.rate = scenes_fixed(0.05);
	}
	for (uint32_t i = 0; i < 64; i++) {
		const uint32_t j = i % 4 * (i / 4 + 1) % 4;
		const struct sim_seed where = {.seed = test_seed(), .run = i};
		assert_ok(scene_draw(&reused, &kind[j].topo, &kind[j].params,
		    &where, test_err()));
		scenes_draw(&again[j], i);
		assert_same_scenes(&reused, &again[j].scene);
		scene_free(&again[j].scene);
	}
	scene_free(&reused);
	for (int j = 0; j < 4; j++) {
		scenes_close(&kind[j]);
		scenes_close(&again[j]);
	}
}

/* Streams are apart: a change of one part leaves the others as they were. */
static void parts_of_a_scene_do_not_disturb_each_other(void **state)
{
	(void)state;
	struct scenes a, b;
	open_rich(&a, &small);
	open_rich(&b, &small);
	b.params.traffic.n_hot = 4;
	b.params.traffic.conns = scenes_fixed(3);
	b.params.noise.rate = scenes_fixed(0);
	assert_same_faults(&scenes_draw(&a, 1)->truth,
	    &scenes_draw(&b, 1)->truth);
	assert_int_equal(a.scene.ecmp_seed, b.scene.ecmp_seed);
	b.params = a.params;
	b.params.n_groups = 0;
	scenes_draw(&b, 1);
	assert_int_equal(b.scene.truth.n_faults, 0);
	assert_int_equal(a.scene.traffic.n_flows, b.scene.traffic.n_flows);
	for (topo_link l = 0; l < a.topo.n_links; l++)
		assert_true(scene_noise_rate(&a.scene.loss.noise, l) ==
		    scene_noise_rate(&b.scene.loss.noise, l));
	for (uint64_t f = 0; f < a.scene.traffic.n_flows; f++) {
		struct obs_flow x, y;
		topo_link p[TOPO_MAX_HOPS], q[TOPO_MAX_HOPS];
		unsigned h = bulk_flow(&a.scene, f, &x, p);
		assert_int_equal(h, bulk_flow(&b.scene, f, &y, q));
		assert_memory_equal(p, q, h * sizeof(p[0]));
	}
	scenes_close(&a);
	scenes_close(&b);
}

static void errors_name_the_part_they_come_from(void **state)
{
	(void)state;
	const struct sim_seed where = {.seed = 1};
	struct scenes s;
	struct sim_err e;
	open_rich(&s, &small);
	s.params.traffic.n_hot = 6;
	assert_int_equal(scene_draw(&s.scene, &s.topo, &s.params, &where, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "traffic: n_hot 6 is not below the number of ToRs, 6.");
	s.params.traffic.n_hot = 2;
	s.group[1].links[0] = 1000;
	assert_int_equal(scene_draw(&s.scene, &s.topo, &s.params, &where, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "faults: fault group 1: link 1000 is not in [0, 75].");
	s.group[1].links[0] = 3;
	scenes_draw(&s, 0);
	scenes_close(&s);
}

static int draw_afresh(void *arg, struct sim_err *e)
{
	const struct scenes *s = arg;
	const struct sim_seed where = {.seed = 1};
	struct scene scene = {0};
	int rc = scene_draw(&scene, &s->topo, &s->params, &where, e);
	scene_free(&scene);
	return rc;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct scenes s;
	open_rich(&s, &small);
	test_each_alloc_fails(draw_afresh, &s);
	scenes_close(&s);
}

/* Both planes on one scene, with memory that is kept over the failures: what
 * failed once leaves nothing behind. */
struct survivors {
	struct scenes small, large;
	struct bulk *bulk;
	struct bulk_skip *skip;
	struct obs w;
	struct losses lost;
};

static int run_both(void *arg, struct sim_err *e)
{
	struct survivors *v = arg;
	struct scenes *s[] = {&v->small, &v->large};
	const struct sim_seed where = {.seed = 1};
	int rc = 0;
	for (int i = 0; i < 4 && rc == 0; i++) {
		struct scenes *x = s[i % 2];
		rc = scene_draw(&x->scene, &x->topo, &x->params, &where, e);
		if (rc == 0 && i < 2)
			rc = bulk_epoch(v->bulk, &x->scene, 0, &v->w, &v->lost,
			    e);
		else if (rc == 0)
			rc = bulk_skip_epoch(v->skip, &x->scene, &v->w,
			    &v->lost, e);
	}
	return rc;
}

static void planes_outlive_a_failed_allocation(void **state)
{
	(void)state;
	struct survivors v = {.bulk = NULL};
	struct obs fresh = {0};
	scenes_open(&v.small, &small);
	scenes_open(&v.large, &large);
	struct scenes *s[] = {&v.small, &v.large};
	for (int i = 0; i < 2; i++) {
		s[i]->params.noise.rate = scenes_uniform(0, 1e-2);
		scenes_add_group(s[i])->count = 6;
	}
	assert_ok(bulk_open(&v.bulk, NULL, test_err()));
	assert_ok(bulk_skip_open(&v.skip, test_err()));
	test_each_alloc_fails(run_both, &v);

	/* What is left in V is the last epoch that was run: the larger scene's,
	 * by skipping. */
	struct bulk_skip *skip;
	struct losses lost = {0};
	assert_ok(bulk_skip_open(&skip, test_err()));
	assert_ok(
	    bulk_skip_epoch(skip, &v.large.scene, &fresh, &lost, test_err()));
	scenes_assert_same(&v.w, &v.lost, &fresh, &lost);
	bulk_skip_close(skip);
	losses_free(&lost);
	obs_free(&fresh);
	bulk_close(v.bulk);
	bulk_skip_close(v.skip);
	obs_free(&v.w);
	losses_free(&v.lost);
	scenes_close(&v.small);
	scenes_close(&v.large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_name_gives_one_scene_whatever_was_drawn_before),
	    cmocka_unit_test(each_part_of_a_name_gives_another_scene),
	    cmocka_unit_test(memory_is_reused_between_topologies),
	    cmocka_unit_test(parts_of_a_scene_do_not_disturb_each_other),
	    cmocka_unit_test(errors_name_the_part_they_come_from),
	    cmocka_unit_test(every_failed_allocation_is_reported),
	    cmocka_unit_test(planes_outlive_a_failed_allocation),
	};
	return cmocka_run_group_tests_name("models/scene/scene", tests, NULL,
	    NULL);
}
