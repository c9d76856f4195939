/* tests/models/bulk/skip_test.c -- skipping has the law of the exact.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tiny networks are in models_planes_test.c, by enumeration. Here moments and
 * histograms on larger ones: means at 5 standard errors (6e-7), about 550 of
 * them, chi-squares at level 1e-6: some bound fires in 1 of 3,000 random seeds.
 */
#include "models/bulk/bulk.h"
#include "models/bulk/skip.h"
#include "tests/rigs/law.h"
#include "tests/rigs/planes.h"
#include "tests/rigs/scenes.h"

static const struct topo_clos sim = {2, 20, 8, 10, 40, .n_cables = 0};
static const struct topo_clos medium = {3, 4, 3, 4, 3, .n_cables = 0};

static void mixed_faults(struct scenes *s)
{
	scenes_open(s, &medium);
	scenes_add_group(s)->count = 12;
	s->group[0].rate = scenes_uniform(1e-3, 0.1);
	s->params.noise.rate = scenes_uniform(0, 1e-3);
}

static void uplinks_of_a_tor_all_black(struct scenes *s)
{
	scenes_open(s, &medium);
	s->params.noise.rate = scenes_uniform(0, 1e-3);
	for (uint32_t j = 0; j < 3; j++)
		scenes_add_fault(s,
		    topo_clos_link_tor(&s->topo.clos, 5, j, TOPO_UP), 1);
	scenes_add_class(s, TOPO_T1_TOR, 4, 0, 1);
}

static void single_pod(struct scenes *s)
{
	const struct topo_clos shape = {1, 6, 3, 2, 5, .n_cables = 0};
	scenes_open(s, &shape);
	scenes_add_group(s)->count = 8; /* T1-T2 links too, which idle */
	s->params.noise.rate = scenes_uniform(0, 1e-3);
}

static void single_t2(struct scenes *s)
{
	const struct topo_clos shape = {3, 3, 2, 1, 3, .n_cables = 0};
	scenes_open(s, &shape);
	scenes_add_group(s)->count = 8;
	s->params.noise.rate = scenes_uniform(0, 1e-3);
}

static void downlinks_of_hosts(struct scenes *s)
{
	scenes_open(s, &medium);
	scenes_add_class(s, TOPO_TOR_HOST, 10, 1e-3, 0.5);
	s->params.noise.rate = scenes_uniform(0, 1e-3);
}

static void timed_faults(struct scenes *s)
{
	mixed_faults(s);
	s->group[0].from_s = 5;
	s->group[0].to_s = 12;
	scenes_add_class(s, TOPO_TOR_T1, 3, 0.01, 0.9);
	s->group[1].from_s = 10;
	scenes_add_class(s, TOPO_TOR_T1, 20, 0.01, 0.1);
}

static void without_noise(struct scenes *s)
{
	mixed_faults(s);
	s->params.noise.rate = scenes_fixed(0);
}

static void with_large_noise(struct scenes *s)
{
	mixed_faults(s);
	s->params.noise.rate = scenes_uniform(0.01, 0.5);
}

static void with_skewed_noise(struct scenes *s)
{
	mixed_faults(s);
	s->params.noise.rate = (struct sim_dist){SIM_LOG_UNIFORM, 1e-9, 1e-2};
}

static void with_noise_per_flow(struct scenes *s)
{
	mixed_faults(s);
	s->params.noise.rate = scenes_uniform(1e-4, 1e-3);
	s->params.noise.per = SCENE_NOISE_PER_FLOW;
}

static void with_large_noise_per_flow(struct scenes *s)
{
	timed_faults(s);
	s->params.noise.rate = (struct sim_dist){SIM_LOG_UNIFORM, 1e-9, 0.3};
	s->params.noise.per = SCENE_NOISE_PER_FLOW;
}

static void a_whole_class(struct scenes *s)
{
	scenes_open(s, &medium);
	scenes_add_class(s, TOPO_T1_T2, 36, 1e-4, 1e-2);
	s->params.noise.rate = scenes_uniform(0, 1e-4);
}

static void all_links_but_uplinks(struct scenes *s)
{
	a_whole_class(s);
	scenes_add_class(s, TOPO_TOR_T1, 36, 0, 1e-3);
	scenes_add_class(s, TOPO_T2_T1, 36, 0, 1);
	scenes_add_class(s, TOPO_T1_TOR, 36, 0, 1e-3);
	scenes_add_class(s, TOPO_TOR_HOST, 36, 0, 1e-3);
}

static void random_connections(struct scenes *s)
{
	mixed_faults(s);
	s->params.traffic.conns = scenes_uniform(0, 40);
	s->params.traffic.packets = scenes_uniform(1, 1000);
}

/* Six times the packets of such a flow do not fit in 32 bits. */
static void big_flows(struct scenes *s)
{
	mixed_faults(s);
	s->group[0].rate = scenes_uniform(1e-10, 1e-8);
	s->params.traffic.conns = scenes_fixed(20);
	s->params.traffic.packets = scenes_uniform(1, 1e9);
	s->params.noise.rate = scenes_uniform(0, 1e-10);
}

static void uplinks_of_hosts(struct scenes *s)
{
	mixed_faults(s);
	for (topo_host h = 0; h < 9; h += h == 3 ? 1 : 3)
		scenes_add_fault(s, topo_clos_link_host(h, TOPO_UP),
		    h == 4 ? 1 : 3e-3 * (h + 1));
	scenes_add_class(s, TOPO_HOST_TOR, 8, 0, 0.01);
	scenes_add_class(s, TOPO_TOR_HOST, 8, 0, 0.01);
	s->params.traffic.conns = scenes_uniform(0, 90);
}

static void timed_uplinks(struct scenes *s)
{
	uplinks_of_hosts(s);
	scenes_add_class(s, TOPO_HOST_TOR, 4, 0.5, 1);
	struct fault_params *g = &s->group[s->params.n_groups - 1];
	g->from_s = 3;
	g->to_s = 11;
}

static struct fault_params *add_kind(struct scenes *s, enum fault_kind kind)
{
	struct fault_params *g = scenes_add_group(s);
	g->kind = kind;
	g->count = 1;
	return g;
}

static void hosts_off(struct scenes *s)
{
	mixed_faults(s);
	add_kind(s, FAULT_HOST_OFF)->count = 4;
}

static void hosts_off_for_a_while(struct scenes *s)
{
	timed_faults(s);
	add_kind(s, FAULT_HOST_OFF)->count = 4;
	struct fault_params *g = add_kind(s, FAULT_HOST_OFF);
	g->count = 5;
	g->from_s = 12;
	g->to_s = 24;
}

static void a_pod_off_for_a_while(struct scenes *s)
{
	mixed_faults(s);
	add_kind(s, FAULT_POD_OFF)->from_s = 20;
}

static struct fault_params *add_hole(struct scenes *s, enum fault_kind kind,
    uint32_t switches, double low, double high)
{
	struct fault_params *g = add_kind(s, kind);
	g->switches = switches;
	g->entries = scenes_uniform(low, high);
	return g;
}

static void holes_of_pairs(struct scenes *s)
{
	mixed_faults(s);
	add_hole(s, FAULT_BLACK_HOLE_1, 3, 0, 0.2);
}

static void holes_of_tuples(struct scenes *s)
{
	mixed_faults(s);
	add_hole(s, FAULT_BLACK_HOLE_2, 1, 0, 1);
	add_hole(s, FAULT_BLACK_HOLE_2, 3, 0, 0.1);
	s->params.noise.rate = scenes_uniform(0, 0.01);
}

/* At one tier in the second group, so that its switches have not taken all;
 * large enough for jumps to be taken through them. */
static void holes_for_a_while(struct scenes *s)
{
	const struct topo_clos shape = {4, 6, 6, 5, 2, .n_cables = 0};
	scenes_open(s, &shape);
	struct fault_params *g = add_hole(s, FAULT_BLACK_HOLE_2, 1, 0.1, 0.3);
	g->tiers = 1u << FAULT_TIER_T1;
	g->from_s = 6;
	g = add_hole(s, FAULT_BLACK_HOLE_1, 1, 0.1, 0.3);
	g->tiers = 1u << FAULT_TIER_T2;
	g->to_s = 13;
	scenes_add_class(s, TOPO_T2_T1, 4, 0.01, 0.9);
	s->params.noise.rate = scenes_uniform(0, 1e-3);
}

static void skew(struct scenes *s, uint32_t n_hot, double hot_share)
{
	s->params.traffic.dst = SCENE_DST_SKEWED;
	s->params.traffic.n_hot = n_hot;
	s->params.traffic.hot_share = hot_share;
}

static void one_hot_tor(struct scenes *s)
{
	mixed_faults(s);
	skew(s, 1, 0.7);
}

static void hot_tors(struct scenes *s)
{
	all_links_but_uplinks(s);
	skew(s, 4, 0.8);
}

static void all_tors_hot_but_one(struct scenes *s)
{
	mixed_faults(s);
	skew(s, 11, 0.4);
}

static void a_pod_that_is_all_hot(struct scenes *s)
{
	const struct topo_clos shape = {3, 2, 3, 2, 3, .n_cables = 0};
	scenes_open(s, &shape);
	skew(s, 4, 0.9);
	scenes_add_class(s, TOPO_T1_T2, 4, 0.01, 0.1);
	scenes_add_class(s, TOPO_T2_T1, 4, 0.01, 0.1);
	scenes_add_class(s, TOPO_TOR_HOST, 4, 0.01, 0.1);
	s->params.noise.rate = scenes_uniform(0, 1e-3);
}

static void hot_share_none(struct scenes *s)
{
	mixed_faults(s);
	skew(s, 5, 0);
}

static void hot_share_all(struct scenes *s)
{
	mixed_faults(s);
	skew(s, 2, 1);
}

static void all_at_once(struct scenes *s)
{
	timed_uplinks(s);
	skew(s, 3, 0.6);
	add_hole(s, FAULT_BLACK_HOLE_1, 2, 0, 0.3);
	add_hole(s, FAULT_BLACK_HOLE_2, 1, 0, 0.3)->to_s = 20;
	add_kind(s, FAULT_HOST_OFF)->from_s = 9;
}

static const struct {
	const char *what;
	void (*open)(struct scenes *s);
} kinds[] = {
#define KIND(name)                                                             \
	{                                                                      \
#name, name                                                    \
	}
    KIND(mixed_faults),
    KIND(uplinks_of_a_tor_all_black),
    KIND(single_pod),
    KIND(single_t2),
    KIND(downlinks_of_hosts),
    KIND(timed_faults),
    KIND(without_noise),
    KIND(with_large_noise),
    KIND(with_skewed_noise),
    KIND(with_noise_per_flow),
    KIND(with_large_noise_per_flow),
    KIND(a_whole_class),
    KIND(all_links_but_uplinks),
    KIND(random_connections),
    KIND(big_flows),
    KIND(uplinks_of_hosts),
    KIND(timed_uplinks),
    KIND(hosts_off),
    KIND(hosts_off_for_a_while),
    KIND(a_pod_off_for_a_while),
    KIND(holes_of_pairs),
    KIND(holes_of_tuples),
    KIND(holes_for_a_while),
    KIND(one_hot_tor),
    KIND(hot_tors),
    KIND(all_tors_hot_but_one),
    KIND(a_pod_that_is_all_hot),
    KIND(hot_share_none),
    KIND(hot_share_all),
    KIND(all_at_once),
#undef KIND
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void scenes_of_many_kinds_have_the_law_of_the_exact_plane(void **state)
{
	(void)state;
	struct planes p;
	planes_open(&p);
	for (size_t i = 0; i < N_KINDS; i++) {
		struct scenes s;
		static struct planes_comparison c;
		kinds[i].open(&s);
		planes_compare(&p, &s, 200, &c);
		planes_assert_equal_laws(&c, kinds[i].what);
		scenes_close(&s);
	}
	planes_close(&p);
}

/* Ten failures at 007's size. A plane that lost one of two hits of flows on two
 * failed links would show about 1.2 % fewer failed flows: the epochs here must
 * tell that much apart, and do. */
static void at_007s_size_the_law_holds_and_one_percent_would_show(void **state)
{
	(void)state;
	static struct planes_comparison c;
	struct scenes s;
	struct planes p;
	planes_open(&p);
	scenes_open(&s, &sim);
	for (unsigned class = TOPO_TOR_T1; class < TOPO_TOR_HOST; class ++)
		for (uint32_t i = 0; i < 5; i++)
			scenes_add_fault(&s,
			    topo_clos_class_at(&s.topo.clos, class, 9 + 31 * i),
			    0.01);
	planes_compare(&p, &s, 800, &c);
	planes_assert_equal_laws(&c, "007");
	const double resolution =
	    PLANES_ERRORS * law_se(&c.difference[0]) / law_mean(&c.failed);
	if (!(resolution < 0.015))
		fail_msg("5 standard errors are %.2f %%", 100 * resolution);
	const double naive = law_z(&c.naive_difference, 0);
	if (!(naive < -PLANES_ERRORS))
		fail_msg("half of double hits lost: %.2f standard errors only",
		    naive);
	planes_close(&p);
	scenes_close(&s);
}

/* An object that has run other scenes, of other topologies, gives the same. */
static void what_ran_before_leaves_no_trace(void **state)
{
	(void)state;
	struct bulk_skip *used, *fresh;
	struct obs a = {0}, b = {0};
	struct losses a_lost = {0}, b_lost = {0};
	assert_ok(bulk_skip_open(&used, test_err()));
	for (size_t i = 0; i < 2 * N_KINDS; i++) {
		struct scenes s;
		kinds[i % N_KINDS].open(&s);
		struct scene *scene = scenes_draw(&s, (uint32_t)i);
		assert_ok(
		    bulk_skip_epoch(used, scene, &a, &a_lost, test_err()));
		assert_ok(bulk_skip_open(&fresh, test_err()));
		assert_ok(
		    bulk_skip_epoch(fresh, scene, &b, &b_lost, test_err()));
		assert_true(a.flows.n > 0);
		scenes_assert_same(&a, &a_lost, &b, &b_lost);
		bulk_skip_close(fresh);
		scenes_close(&s);
	}
	bulk_skip_close(used);
	obs_free(&a);
	obs_free(&b);
	losses_free(&a_lost);
	losses_free(&b_lost);
}

static void an_epoch_without_flows_or_losses_is_empty(void **state)
{
	(void)state;
	struct planes p;
	struct scenes s;
	planes_open(&p);
	scenes_open(&s, &medium);
	s.params.noise.rate = scenes_fixed(0);
	planes_run(&p, SKIP, scenes_draw(&s, 0));
	assert_int_equal(p.window.flows.n, 0);
	assert_int_equal(p.window.n_flows, 36 * 60);
	assert_int_equal(p.window.complete, 0);
	s.params.traffic.conns = scenes_fixed(0);
	s.params.noise.rate = scenes_fixed(1);
	scenes_add_class(&s, TOPO_TOR_T1, 36, 1, 1);
	planes_run(&p, SKIP, scenes_draw(&s, 0));
	assert_int_equal(p.window.flows.n, 0);
	s.params.traffic.conns = scenes_fixed(3);
	planes_run(&p, SKIP, scenes_draw(&s, 0));
	assert_int_equal(p.window.flows.n, 36 * 3);
	planes_close(&p);
	scenes_close(&s);
}

/* Rates below what 1 - p can hold: jumps longer than any epoch. */
static void the_smallest_rates_do_no_harm(void **state)
{
	(void)state;
	struct planes p;
	struct scenes s;
	planes_open(&p);
	scenes_open(&s, &medium);
	s.params.noise.rate = scenes_fixed(5e-324);
	scenes_add_class(&s, TOPO_TOR_T1, 36, 5e-324, 1e-300);
	planes_run(&p, SKIP, scenes_draw(&s, 0));
	assert_int_equal(p.window.flows.n, 0);
	planes_close(&p);
	scenes_close(&s);
}

static int run_afresh(void *arg, struct sim_err *e)
{
	struct scene *s = arg;
	struct bulk_skip *k = NULL;
	struct obs w = {0};
	struct losses lost = {0};
	int rc = bulk_skip_open(&k, e);
	if (rc == 0)
		rc = bulk_skip_epoch(k, s, &w, &lost, e);
	assert_true(rc < 0 || w.flows.n > 100);
	assert_int_equal(lost.n_drops, w.hops.n);
	bulk_skip_close(k);
	obs_free(&w);
	losses_free(&lost);
	return rc;
}

/* After a failure the object still gives what a fresh one would. */
static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct scenes s;
	mixed_faults(&s);
	test_each_alloc_fails(run_afresh, scenes_draw(&s, 0));
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		scenes_of_many_kinds_have_the_law_of_the_exact_plane),
	    cmocka_unit_test(
		at_007s_size_the_law_holds_and_one_percent_would_show),
	    cmocka_unit_test(what_ran_before_leaves_no_trace),
	    cmocka_unit_test(an_epoch_without_flows_or_losses_is_empty),
	    cmocka_unit_test(the_smallest_rates_do_no_harm),
	    cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("models/bulk/skip", tests, NULL,
	    NULL);
}
