/* tests/models/scene/traffic_test.c -- who talks to whom: counts, laws.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A destination is a monotone function of its word, so stepping through evenly
 * spaced words gives each host its share to within one step: no chance is left.
 */
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/mesh.h"

#define LEVEL 1e-6

enum { STEPS = 1 << 16, MAX_HOSTS = 64 };

/* Destinations of SRC over evenly spaced words. */
static void count_dst(const struct scene_traffic *tr, topo_host src,
    uint32_t coin, uint32_t count[MAX_HOSTS])
{
	memset(count, 0, MAX_HOSTS * sizeof(count[0]));
	for (uint32_t i = 0; i < STEPS; i++)
		count[scene_traffic_dst(tr, src, i << 16 | 0x8000, coin)]++;
}

static uint32_t n_hosts_under(const struct topo *t, topo_switch s)
{
	uint32_t n = 0;
	for (topo_host h = 0; h < t->n_hosts; h++)
		n += topo_tor_of(t, h) == s;
	return n;
}

/* Whether a ToR is hot, and how many other ToRs of a group SRC can reach. */
static int is_hot(const struct scene_traffic *tr, topo_switch s)
{
	for (uint32_t i = 0; i < tr->n_hot; i++)
		if (tr->tor[i] == s)
			return 1;
	return 0;
}

static void assert_shares_are_exact(const struct scene_traffic *tr,
    uint32_t coin, int group)
{
	const struct topo *t = tr->topo;
	uint32_t count[MAX_HOSTS];
	for (topo_host src = 0; src < t->n_hosts; src++) {
		const topo_switch own = topo_tor_of(t, src);
		uint32_t others = 0;
		for (topo_switch s = 0; s < t->n_switches; s++)
			others += s != own && n_hosts_under(t, s) > 0 &&
			    (group < 0 || is_hot(tr, s) == group);
		count_dst(tr, src, coin, count);
		for (topo_host dst = 0; dst < t->n_hosts; dst++) {
			const topo_switch tor = topo_tor_of(t, dst);
			double want = 0;
			if (tor != own &&
			    (group < 0 || is_hot(tr, tor) == group))
				want = (double)STEPS / others /
				    n_hosts_under(t, tor);
			assert_near(count[dst], want, want > 0 ? 1 : 0);
		}
	}
}

static void defaults_are_those_of_007(void **state)
{
	(void)state;
	const struct topo_clos sim = {2, 20, 8, 10, 40, .n_cables = 0};
	struct scenes s;
	scenes_open(&s, &sim);
	const struct scene_traffic *tr = &scenes_draw(&s, 0)->traffic;
	assert_int_equal(tr->n_flows, 96000);
	assert_int_equal(tr->epoch_ns, 30000000000);
	assert_int_equal(scene_traffic_packets(tr, 0), 1);
	assert_int_equal(scene_traffic_packets(tr, UINT32_MAX), 100);
	scenes_close(&s);
}

static void uniform_traffic_shares_all_other_tors_alike(void **state)
{
	(void)state;
	static const struct topo_clos shapes[] = {
	    {2, 2, 2, 2, 2, .n_cables = 0},
	    {1, 2, 1, 0, 1, .n_cables = 0},
	    {3, 1, 2, 2, 5, .n_cables = 0},
	    {2, 4, 3, 5, 3, .n_cables = 0},
	    {1, 7, 2, 0, 7, .n_cables = 0},
	};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct scenes s;
		scenes_open(&s, &shapes[i]);
		assert_shares_are_exact(&scenes_draw(&s, 0)->traffic, 0, -1);
		scenes_close(&s);
	}
}

/* All pairs of ToRs and hosts at 007's size: a chi-square for one source. */
static void random_words_reach_all_hosts_alike(void **state)
{
	(void)state;
	const struct topo_clos sim = {2, 20, 8, 10, 40, .n_cables = 0};
	static uint64_t count[1600];
	double want[1600];
	struct scenes s;
	struct sim_rng r;
	test_rng(&r, 0);
	scenes_open(&s, &sim);
	const struct scene_traffic *tr = &scenes_draw(&s, 0)->traffic;
	const topo_host src = 817;
	for (int i = 0; i < 400000; i++)
		count[scene_traffic_dst(tr, src, sim_rng_u32(&r), 0)]++;
	for (topo_host h = 0; h < 1600; h++)
		want[h] = h / 40 != src / 40;
	assert_true(law_chi2(count, want, 1600) >= LEVEL);
	scenes_close(&s);
}

static void open_skewed(struct scenes *s, const struct topo_clos *shape,
    uint32_t n_hot, double hot_share)
{
	scenes_open(s, shape);
	s->params.traffic.dst = SCENE_DST_SKEWED;
	s->params.traffic.n_hot = n_hot;
	s->params.traffic.hot_share = hot_share;
}

static void skewed_traffic_has_exact_shares_in_both_groups(void **state)
{
	(void)state;
	const struct topo_clos shape = {2, 3, 2, 2, 3, .n_cables = 0};
	for (uint32_t n_hot = 2; n_hot <= 4; n_hot++) {
		struct scenes s;
		open_skewed(&s, &shape, n_hot, 0.75);
		const struct scene_traffic *tr = &scenes_draw(&s, 1)->traffic;
		assert_int_equal(tr->n_hot, n_hot);
		assert_shares_are_exact(tr, 0, 1);
		assert_shares_are_exact(tr, UINT32_MAX / 4 * 3 + 2, 1);
		assert_shares_are_exact(tr, UINT32_MAX / 4 * 3 + 3, 0);
		assert_shares_are_exact(tr, UINT32_MAX, 0);
		scenes_close(&s);
	}
}

static void hot_shares_of_nothing_and_all_hold(void **state)
{
	(void)state;
	const struct topo_clos shape = {2, 3, 2, 2, 3, .n_cables = 0};
	for (int all = 0; all < 2; all++) {
		struct scenes s;
		open_skewed(&s, &shape, 2, all);
		const struct scene_traffic *tr = &scenes_draw(&s, 1)->traffic;
		assert_shares_are_exact(tr, 0, all);
		assert_shares_are_exact(tr, UINT32_MAX, all);
		scenes_close(&s);
	}
}

/* The only hot ToR, or the only cold one, sends all to the other group. */
static void who_is_alone_in_a_group_sends_to_the_other(void **state)
{
	(void)state;
	const struct topo_clos shapes[] = {
	    {2, 3, 2, 2, 2, .n_cables = 0},
	    {1, 2, 2, 0, 2, .n_cables = 0},
	};
	for (int i = 0; i < 4; i++) {
		const struct topo_clos *shape = &shapes[i / 2];
		const uint32_t tors = shape->n_pods * shape->n_tors;
		const uint32_t n_hot = i % 2 ? tors - 1 : 1;
		struct scenes s;
		uint32_t count[MAX_HOSTS];
		open_skewed(&s, shape, n_hot, 0.5);
		const struct scene_traffic *tr = &scenes_draw(&s, 1)->traffic;
		const int lonely = n_hot == 1;
		const uint32_t coin[] = {0, UINT32_MAX};
		for (topo_host src = 0; src < s.topo.n_hosts; src++)
			for (int c = 0; c < 2; c++) {
				const topo_switch own =
				    topo_tor_of(&s.topo, src);
				int want = c == 0;
				if (is_hot(tr, own) == lonely || tors == 2)
					want = !is_hot(tr, own);
				count_dst(tr, src, coin[c], count);
				for (topo_host d = 0; d < s.topo.n_hosts; d++)
					assert_true(count[d] == 0 ||
					    (d / shape->n_hosts != own &&
						is_hot(tr,
						    d / shape->n_hosts) ==
						    want));
			}
		scenes_close(&s);
	}
}

/* Each pair of ToRs is the hot pair in turn. */
static void hot_tors_are_drawn_alike_per_run(void **state)
{
	(void)state;
	const struct topo_clos shape = {2, 3, 2, 2, 1, .n_cables = 0};
	uint64_t count[36] = {0};
	double want[36];
	struct scenes s;
	open_skewed(&s, &shape, 2, 0.5);
	for (uint32_t run = 0; run < 6000; run++) {
		const struct scene_traffic *tr = &scenes_draw(&s, run)->traffic;
		count[tr->tor[0] * 6 + tr->tor[1]]++;
	}
	for (int i = 0; i < 36; i++)
		want[i] = i / 6 != i % 6;
	assert_true(law_chi2(count, want, 36) >= LEVEL);
	scenes_close(&s);
}

/* Numbers of flows are given out host by host: those of all hosts add up to the
 * number of flows, and each number leads back to its host. */
static void assert_numbering(const struct scene_traffic *tr)
{
	uint64_t f = 0;
	assert_int_equal(scene_traffic_first(tr, 0), 0);
	for (topo_host h = 0; h < tr->topo->n_hosts; h++) {
		const uint64_t end = scene_traffic_first(tr, h + 1);
		const uint64_t n = end - scene_traffic_first(tr, h);
		assert_true(n >= tr->params.conns.a && n <= tr->params.conns.b);
		for (; f < end; f++)
			assert_int_equal(scene_traffic_src(tr, f), h);
	}
	assert_int_equal(f, tr->n_flows);
}

static void flows_are_numbered_by_source_host(void **state)
{
	(void)state;
	const struct topo_clos shape = {2, 3, 2, 2, 4, .n_cables = 0};
	const struct sim_dist conns[] = {
	    scenes_fixed(7),
	    scenes_uniform(0, 3),
	    scenes_fixed(0),
	    scenes_uniform(2, 9),
	    scenes_fixed(1),
	    scenes_uniform(0, 0),
	    scenes_uniform(5, 5),
	};
	struct scenes s;
	scenes_open(&s, &shape);
	for (size_t i = 0; i < sizeof(conns) / sizeof(conns[0]); i++)
		for (uint32_t run = 0; run < 50; run++) {
			s.params.traffic.conns = conns[i];
			assert_numbering(&scenes_draw(&s, run)->traffic);
		}
	scenes_close(&s);
}

static void random_connections_are_uniform_and_independent_of_hot_tors(
    void **state)
{
	(void)state;
	const struct topo_clos sim = {2, 20, 8, 10, 40, .n_cables = 0};
	uint64_t count[11] = {0};
	struct scenes s, skewed;
	scenes_open(&s, &sim);
	open_skewed(&skewed, &sim, 3, 0.5);
	s.params.traffic.conns = scenes_uniform(50, 60);
	skewed.params.traffic.conns = scenes_uniform(50, 60);
	const struct scene_traffic *tr = &scenes_draw(&s, 4)->traffic;
	for (topo_host h = 0; h < 1600; h++)
		count[tr->first[h + 1] - tr->first[h] - 50]++;
	assert_true(law_chi2_uniform(count, 11) >= LEVEL);
	assert_memory_equal(tr->first, scenes_draw(&skewed, 4)->traffic.first,
	    1601 * sizeof(tr->first[0]));
	scenes_close(&s);
	scenes_close(&skewed);
}

static void packets_are_whole_and_uniform(void **state)
{
	(void)state;
	struct scene_traffic tr = {.params.packets = {SIM_UNIFORM, 3, 9}};
	uint32_t count[10] = {0};
	for (uint32_t i = 0; i < STEPS; i++)
		count[scene_traffic_packets(&tr, i << 16 | 0x8000)]++;
	for (int k = 0; k < 10; k++)
		assert_near(count[k], k < 3 ? 0 : STEPS / 7.0, k < 3 ? 0 : 1);
	tr.params.packets = (struct sim_dist){SIM_FIXED, 1e9, 1e9};
	assert_int_equal(scene_traffic_packets(&tr, UINT32_MAX), 1000000000);
}

/* ToRs 1, 2 and 4 with 3, 1 and 2 hosts, in no order, around a spine; switch 0
 * and 3 have none. */
static struct topo_mesh *uneven_mesh(void)
{
	const struct topo_cable cable[] = {
	    {0, 6 + 4},
	    {1, 6 + 1},
	    {2, 6 + 2},
	    {3, 6 + 1},
	    {4, 6 + 1},
	    {5, 6 + 4},
	    {6 + 0, 6 + 1},
	    {6 + 0, 6 + 2},
	    {6 + 0, 6 + 3},
	    {6 + 3, 6 + 4},
	};
	const struct topo_mesh_input in = {.n_hosts = 6,
	    .n_switches = 5,
	    .n_cables = 10,
	    .cable = cable};
	struct topo_mesh *m;
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	return m;
}

static void a_mesh_with_uneven_hosts_shares_tors_alike(void **state)
{
	(void)state;
	struct scenes s;
	scenes_open_mesh(&s, uneven_mesh());
	const struct scene_traffic *tr = &scenes_draw(&s, 0)->traffic;
	assert_int_equal(tr->n_tors, 3);
	assert_shares_are_exact(tr, 0, -1);
	assert_numbering(tr);

	s.params.traffic.dst = SCENE_DST_SKEWED;
	s.params.traffic.n_hot = 1;
	s.params.traffic.hot_share = 0.5;
	for (uint32_t run = 0; run < 20; run++) {
		tr = &scenes_draw(&s, run)->traffic;
		uint32_t count[MAX_HOSTS];
		for (topo_host src = 0; src < 6; src++) {
			const topo_switch own = topo_tor_of(&s.topo, src);
			count_dst(tr, src, 0, count);
			for (topo_host d = 0; d < 6; d++)
				assert_true(count[d] == 0 ||
				    (topo_tor_of(&s.topo, d) != own &&
					is_hot(tr, topo_tor_of(&s.topo, d)) !=
					    is_hot(tr, own)));
		}
	}
	scenes_close(&s);
}

static int draw_fails(struct scenes *s, struct sim_err *e)
{
	const struct sim_seed where = {.seed = test_seed()};
	struct scene_traffic tr = {0};
	int rc =
	    scene_traffic_draw(&tr, &s->topo, &s->params.traffic, &where, e);
	scene_traffic_free(&tr);
	return rc;
}

static void what_cannot_be_is_refused(void **state)
{
	(void)state;
	const struct topo_clos lonely = {1, 1, 0, 0, 5, .n_cables = 0};
	const struct topo_clos shape = {2, 3, 2, 2, 4, .n_cables = 0};
	const struct topo_clos wide = {4, 64, 2, 2, 64, .n_cables = 0};
	struct scenes s;
	struct sim_err e;
	scenes_open(&s, &lonely);
	assert_int_equal(draw_fails(&s, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "traffic needs hosts under at least 2 ToRs; there is 1.");
	scenes_close(&s);

	open_skewed(&s, &shape, 6, 0.5);
	assert_int_equal(draw_fails(&s, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "n_hot 6 is not below the number of ToRs, 6.");
	s.params.traffic.n_hot = 5;
	assert_int_equal(draw_fails(&s, &e), 0);
	s.params.traffic.packets.kind = SIM_LOG_UNIFORM;
	assert_int_equal(draw_fails(&s, &e), SIM_EUNSUPPORTED);
	scenes_close(&s);

	scenes_open(&s, &wide); /* 16,384 hosts */
	s.params.traffic.conns = scenes_fixed(262144);
	assert_int_equal(draw_fails(&s, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "4294967296 flows in an epoch; at most "
	    "4294967295 are possible.");
	s.params.traffic.conns = scenes_fixed(262143);
	assert_int_equal(draw_fails(&s, &e), 0);
	s.params.traffic.conns = scenes_uniform(262144, 300000);
	assert_int_equal(draw_fails(&s, &e), SIM_ELIMIT);
	scenes_close(&s);
}

struct draws {
	struct scenes *s;
	struct sim_dist conns;
	uint32_t dst;
};

static int draw_once(void *arg, struct sim_err *e)
{
	struct draws *d = arg;
	d->s->params.traffic.conns = d->conns;
	d->s->params.traffic.dst = d->dst;
	return draw_fails(d->s, e);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	const struct topo_clos shape = {2, 3, 2, 2, 4, .n_cables = 0};
	struct scenes s;
	scenes_open(&s, &shape);
	s.params.traffic.n_hot = 2;
	struct draws d = {&s, scenes_uniform(1, 9), SCENE_DST_SKEWED};
	test_each_alloc_fails(draw_once, &d);
	scenes_close(&s);
	scenes_open_mesh(&s, uneven_mesh());
	d.dst = SCENE_DST_UNIFORM;
	test_each_alloc_fails(draw_once, &d);
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(defaults_are_those_of_007),
	    cmocka_unit_test(uniform_traffic_shares_all_other_tors_alike),
	    cmocka_unit_test(random_words_reach_all_hosts_alike),
	    cmocka_unit_test(skewed_traffic_has_exact_shares_in_both_groups),
	    cmocka_unit_test(hot_shares_of_nothing_and_all_hold),
	    cmocka_unit_test(who_is_alone_in_a_group_sends_to_the_other),
	    cmocka_unit_test(hot_tors_are_drawn_alike_per_run),
	    cmocka_unit_test(flows_are_numbered_by_source_host),
	    cmocka_unit_test(
		random_connections_are_uniform_and_independent_of_hot_tors),
	    cmocka_unit_test(packets_are_whole_and_uniform),
	    cmocka_unit_test(a_mesh_with_uneven_hosts_shares_tors_alike),
	    cmocka_unit_test(what_cannot_be_is_refused),
	    cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("models/scene/traffic", tests, NULL,
	    NULL);
}
