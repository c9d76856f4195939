/* tests/models/bulk/bulk_test.c -- the exact data plane: same bits, same flows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No chance is involved, only equality; the law is in
 * models_bulk_bulk_law_test.c. */
#include "models/bulk/bulk.h"
#include "tests/rigs/bulk.h"
#include "tests/rigs/scenes.h"
#include "topo/mesh.h"

static const struct topo_clos sim = {2, 20, 8, 10, 40, .n_cables = 0};
static const struct topo_clos tiny = {2, 2, 2, 2, 2, .n_cables = 0};

/* Ordinary shapes, then degenerate ones. */
static const struct topo_clos shapes[] = {
    {2, 20, 8, 10, 40, .n_cables = 0},
    {3, 7, 5, 3, 11, .n_cables = 0},
    {1, 6, 3, 0, 5, .n_cables = 0},
    {1, 6, 3, 4, 5, .n_cables = 0},
    {1, 2, 1, 0, 1, .n_cables = 0},
    {2, 1, 1, 1, 1, .n_cables = 0},
    {5, 1, 4, 3, 7, .n_cables = 0},
    {4, 3, 1, 1, 1, .n_cables = 0},
};

/* Run FIRST .. LAST - 1 in pieces of up to MOST flows. */
static void run_pieces(struct plane *p, const struct scene *s, uint64_t first,
    uint64_t last, uint32_t most, int all, struct sim_rng *r)
{
	obs_clear(&p->window);
	losses_clear(&p->lost);
	assert_ok(bulk_begin(p->bulk, s, test_err()));
	while (first < last) {
		uint64_t end = first + sim_rng_below(r, most + 1);
		end = end < last ? end : last;
		assert_ok(bulk_run(p->bulk, first, end, all, &p->window,
		    &p->lost, test_err()));
		first = end;
	}
}

/* Random faults of any class and rate, timed or not, 0 and 1 among them. */
static void add_wild_faults(struct scenes *s, struct sim_rng *r)
{
	static const double rates[] = {0, 1e-5, 1e-3, 0.1, 0.5, 1};
	s->params.n_groups = 0;
	for (uint32_t i = 0; i < 6; i++) {
		struct fault_params *g =
		    scenes_add_fault(s, sim_rng_below(r, s->topo.n_links),
			rates[sim_rng_below(r, 6)]);
		if (sim_rng_below(r, 3) == 0) {
			g->from_s = sim_rng_below(r, 30);
			g->to_s = g->from_s + sim_rng_below(r, 20);
		}
	}
	/* One link with two faults, and one at most beside the noise. */
	scenes_add_fault(s, s->link[0][0], 0.01)->from_s = 10;
}

/* Scenes of all kinds, I for I the same. */
static void open_wild(struct scenes *s, uint32_t i, struct sim_rng *r)
{
	static const double noise[] = {0, 1e-6, 1e-3, 0.2, 1};
	const struct topo_clos *shape = &shapes[1 + i % 7];
	struct topo_clos c = *shape;
	if (i % 5 == 4) {
		struct topo_mesh *mesh;
		if (i % 2) {
			assert_ok(topo_mesh_fat_tree(&mesh, 4, 3, test_err()));
		} else {
			assert_ok(topo_clos_init(&c, test_err()));
			assert_ok(topo_mesh_from_clos(&mesh, &c, test_err()));
		}
		scenes_open_mesh(s, mesh);
	} else {
		scenes_open(s, &c);
	}
	struct scene_traffic_params *t = &s->params.traffic;
	t->conns = i % 2 ? scenes_fixed(1 + i % 13) : scenes_uniform(0, 23);
	t->packets =
	    i % 3 ? scenes_uniform(1, 40) : scenes_fixed(1 + 999 * (i % 2));
	s->params.noise.rate = scenes_uniform(0, noise[i % 5]);
	if (i % 4 == 3 && shape->n_pods * shape->n_tors > 2 &&
	    topo_is_clos(&s->topo)) {
		t->dst = SCENE_DST_SKEWED;
		t->n_hot = 1 + i % 2;
	}
	if (i % 3 == 2)
		s->params.congestion = (struct scene_congestion_params){0.7,
		    1 + i % 5 * 1e3, 0.6, 0.4, i % 2 * 0.3,
		    scenes_uniform(0.01, i % 4 ? 0.7 : 1), {0}};
	add_wild_faults(s, r);
}

static void pieces_of_any_size_give_the_same_window(void **state)
{
	(void)state;
	static const uint32_t most[] = {3, 100, 255, 256, 257, 1000};
	struct plane whole, pieces;
	struct sim_rng r;
	plane_open(&whole);
	plane_open(&pieces);
	test_rng(&r, 1);
	for (uint32_t i = 0; i < 120; i++) {
		struct scenes s;
		open_wild(&s, i, &r);
		if (i % 3 == 1)
			scenes_use_tcp(&s, 1 + i % 5);
		struct scene *scene = scenes_draw(&s, i);
		const int all = i % 7 == 0;
		run_epoch(&whole, scene, all);
		run_pieces(&pieces, scene, 0, scene->traffic.n_flows,
		    most[i % 6], all, &r);
		scenes_assert_same(&whole.window, &whole.lost, &pieces.window,
		    &pieces.lost);
		scenes_close(&s);
	}
	plane_close(&whole);
	plane_close(&pieces);
}

/* The last piece first: what a piece holds does not depend on what ran. */
static void pieces_in_any_order_hold_the_same_rows(void **state)
{
	(void)state;
	struct scenes s;
	struct plane p;
	struct obs joint = {0};
	struct losses joint_lost = {0};
	struct sim_rng r;
	test_rng(&r, 2);
	plane_open(&p);
	scenes_open(&s, &sim);
	s.params.noise.rate = scenes_fixed(1e-4);
	struct scene *scene = scenes_draw(&s, 1);
	enum { PIECES = 7 };
	struct obs part[PIECES] = {{.n_flows = 0}};
	struct losses part_lost[PIECES] = {{.n_drops = 0}};
	const uint64_t n = scene->traffic.n_flows;
	assert_ok(bulk_begin(p.bulk, scene, test_err()));
	for (int i = PIECES - 1; i >= 0; i--)
		assert_ok(bulk_run(p.bulk, n * i / PIECES, n * (i + 1) / PIECES,
		    0, &part[i], &part_lost[i], test_err()));
	for (int i = 0; i < PIECES; i++) {
		assert_true(part[i].flows.n > 0);
		assert_ok(losses_add_drops(&joint_lost, part_lost[i].drops,
		    (unsigned)part_lost[i].n_drops, test_err()));
		for (size_t j = 0; j < part[i].flows.n; j++) {
			const struct obs_flow f =
			    obs_flows_at(&part[i].flows, j);
			assert_ok(
			    obs_add_flow(&joint, &f, obs_path(&part[i], j),
				obs_n_hops(&part[i], j), test_err()));
		}
		joint.n_flows += part[i].n_flows;
		obs_free(&part[i]);
		losses_free(&part_lost[i]);
	}
	run_epoch(&p, scene, 0);
	scenes_assert_same(&p.window, &p.lost, &joint, &joint_lost);
	obs_free(&joint);
	losses_free(&joint_lost);
	plane_close(&p);
	scenes_close(&s);
}

static int lost_any(const struct obs *w, const struct losses *lost, size_t i)
{
	int any = w->flows.n_retx[i] > 0;
	for (uint64_t j = w->hops.off[i]; j < w->hops.off[i + 1]; j++)
		any |= lost->drops[j] > 0;
	return any;
}

/* The rows of a full window that lost something or sent something again. */
static void keep_lossy(const struct obs *all, const struct losses *all_lost,
    struct obs *lossy, struct losses *lossy_lost)
{
	obs_clear(lossy);
	losses_clear(lossy_lost);
	lossy->n_flows = all->n_flows;
	for (size_t i = 0; i < all->flows.n; i++) {
		if (!lost_any(all, all_lost, i))
			continue;
		const struct obs_flow f = obs_flows_at(&all->flows, i);
		const unsigned h = obs_n_hops(all, i);
		assert_ok(
		    obs_add_flow(lossy, &f, obs_path(all, i), h, test_err()));
		const uint64_t at = all->hops.off[i];
		lossy_lost->has_buffer = all_lost->has_buffer;
		assert_ok(losses_add_hops(lossy_lost, all_lost->drops + at,
		    all_lost->has_buffer ? all_lost->buffer + at : NULL, h,
		    test_err()));
		if (all_lost->n_early > 0)
			assert_ok(losses_add_early(lossy_lost,
			    all_lost->early[i], test_err()));
	}
}

/* The full window is made flow by flow by plain code, from exact hazards: no
 * sieve, no SIMD, no float. */
static void the_sieve_hides_no_lossy_flow(void **state)
{
	(void)state;
	struct plane sparse, full;
	struct obs lossy = {0};
	struct losses lossy_lost = {0};
	struct sim_rng r;
	uint64_t n_lossy = 0;
	test_rng(&r, 3);
	plane_open(&sparse);
	plane_open(&full);
	for (uint32_t i = 0; i < 600; i++) {
		struct scenes s;
		open_wild(&s, i, &r);
		if (i % 2)
			scenes_use_tcp(&s, 1 + i % 7);
		struct scene *scene = scenes_draw(&s, i);
		run_epoch(&full, scene, 1);
		/* With TCP ways back may have rows, too. */
		assert_true(full.window.flows.n == scene->traffic.n_flows ||
		    (i % 2 && full.window.flows.n > scene->traffic.n_flows));
		keep_lossy(&full.window, &full.lost, &lossy, &lossy_lost);
		run_epoch(&sparse, scene, 0);
		scenes_assert_same(&sparse.window, &sparse.lost, &lossy,
		    &lossy_lost);
		n_lossy += lossy.flows.n;
		scenes_close(&s);
	}
	assert_true(n_lossy > 10000);
	obs_free(&lossy);
	losses_free(&lossy_lost);
	plane_close(&sparse);
	plane_close(&full);
}

/* At 007's size and rates, where a lossy flow is one in a hundred. */
static void the_sieve_hides_no_lossy_flow_of_007(void **state)
{
	(void)state;
	struct plane sparse, full;
	struct obs lossy = {0};
	struct losses lossy_lost = {0};
	struct scenes s;
	plane_open(&sparse);
	plane_open(&full);
	scenes_open(&s, &sim);
	scenes_add_group(&s)->count = 10;
	for (uint32_t run = 0; run < 8; run++) {
		if (run == 5)
			scenes_use_tcp(&s, 47);
		struct scene *scene = scenes_draw(&s, run);
		run_epoch(&full, scene, 1);
		keep_lossy(&full.window, &full.lost, &lossy, &lossy_lost);
		run_epoch(&sparse, scene, 0);
		assert_true(lossy.flows.n > 100);
		scenes_assert_same(&sparse.window, &sparse.lost, &lossy,
		    &lossy_lost);
	}
	obs_free(&lossy);
	losses_free(&lossy_lost);
	plane_close(&sparse);
	plane_close(&full);
	scenes_close(&s);
}

/* Drops of one flow at a fixed noise, as the full window says. */
static uint32_t drops_at(struct plane *p, struct scene *s, uint64_t flow,
    double noise, int all)
{
	s->loss.noise.rate = scenes_fixed(noise);
	obs_clear(&p->window);
	losses_clear(&p->lost);
	assert_ok(bulk_begin(p->bulk, s, test_err()));
	assert_ok(bulk_run(p->bulk, flow, flow + 1, all, &p->window, &p->lost,
	    test_err()));
	return p->window.flows.n > 0 ? p->window.flows.n_retx[0] : 0;
}

/* A sieve too fine by 1e-5 would hide flows with u about 1e-5: there u's 32
 * bits and the curve of the exponential leave the least slack. Take those
 * of 3.2e6 flows, find by bisection the least noise at which each is lossy, and
 * ask the sieve there. What floats round away, 3e-7, takes 1e9 flows to be
 * seen. */
static void the_sieve_is_no_hair_too_fine(void **state)
{
	(void)state;
	const double most = 2.5e-6;
	struct scenes s;
	struct plane p;
	uint64_t flow[64];
	plane_open(&p);
	scenes_open(&s, &sim);
	s.params.traffic.conns = scenes_fixed(2000);
	s.params.traffic.packets = scenes_fixed(1);
	s.params.noise.rate = scenes_fixed(most);
	struct scene *scene = scenes_draw(&s, 0);
	run_epoch(&p, scene, 0);
	const size_t n = p.window.flows.n;
	assert_true(n > 4 && n <= 64);
	for (size_t i = 0; i < n; i++) {
		/* Find the flow's number: of the flows of its host, the one
		 * with its start time. */
		struct obs_flow one = {.start_ns = 0};
		topo_link path[TOPO_MAX_HOPS];
		flow[i] = scene_traffic_first(&scene->traffic,
		    p.window.flows.src_host[i]);
		for (;; flow[i]++) {
			bulk_flow(scene, flow[i], &one, path);
			if (one.start_ns == p.window.flows.start_ns[i])
				break;
		}
	}
	for (size_t i = 0; i < n; i++) {
		double least = most, none = 0;
		for (;;) {
			double middle = (least + none) / 2;
			if (middle <= none || middle >= least)
				break;
			if (drops_at(&p, scene, flow[i], middle, 1) > 0)
				least = middle;
			else
				none = middle;
		}
		assert_int_equal(drops_at(&p, scene, flow[i], least, 0), 1);
		assert_int_equal(drops_at(&p, scene, flow[i], none, 0), 0);
	}
	plane_close(&p);
	scenes_close(&s);
}

static void one_flow_alone_is_its_row_of_the_window(void **state)
{
	(void)state;
	struct plane p;
	struct sim_rng r;
	test_rng(&r, 4);
	plane_open(&p);
	for (uint32_t i = 0; i < 40; i++) {
		struct scenes s;
		open_wild(&s, i, &r);
		struct scene *scene = scenes_draw(&s, i);
		run_epoch(&p, scene, 1);
		for (size_t f = 0; f < p.window.flows.n; f++) {
			struct obs_flow one;
			topo_link path[TOPO_MAX_HOPS];
			unsigned h = bulk_flow(scene, f, &one, path);
			assert_int_equal(one.n_retx, 0);
			one.n_retx = p.window.flows.n_retx[f];
#define X(type, name, units, doc)                                              \
	assert_true(one.name == p.window.flows.name[f]);
			OBS_FLOW_COLUMNS(X)
#undef X
			assert_int_equal(h, obs_n_hops(&p.window, f));
			assert_memory_equal(path, obs_path(&p.window, f),
			    h * sizeof(path[0]));
			assert_true(one.start_ns < scene->traffic.epoch_ns);
			assert_int_equal(one.src_host,
			    scene_traffic_src(&scene->traffic, f));
		}
		scenes_close(&s);
	}
	plane_close(&p);
}

static void each_part_of_an_epochs_name_gives_another_window(void **state)
{
	(void)state;
	const struct sim_seed names[] = {
	    {5, 6, 7, 8},
	    {4, 6, 7, 8},
	    {5, 5, 7, 8},
	    {5, 6, 6, 8},
	    {5, 6, 7, 7},
	};
	enum { N = sizeof(names) / sizeof(names[0]), FLOWS = 64 };
	struct scenes s;
	struct obs_flow flow[N][FLOWS];
	topo_link path[TOPO_MAX_HOPS];
	scenes_open(&s, &sim);
	for (int i = 0; i < N; i++) {
		assert_ok(scene_draw(&s.scene, &s.topo, &s.params, &names[i],
		    test_err()));
		for (uint64_t f = 0; f < FLOWS; f++)
			bulk_flow(&s.scene, f, &flow[i][f], path);
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < i; j++)
			for (int f = 0; f < FLOWS; f++)
				assert_true(
				    flow[i][f].start_ns != flow[j][f].start_ns);
	scenes_close(&s);
}

/* Paths come from tables in a mesh and from arithmetic in a Clos. As ids and
 * hashes are the same, every bit of the window must be. */
static void a_clos_as_a_mesh_gives_the_same_window(void **state)
{
	(void)state;
	struct plane a, b;
	struct sim_rng r;
	test_rng(&r, 5);
	plane_open(&a);
	plane_open(&b);
	for (uint32_t i = 0; i < 60; i++) {
		struct scenes s, m;
		struct topo_mesh *mesh;
		struct topo_clos c = shapes[i % 8];
		scenes_open(&s, &c);
		assert_ok(topo_mesh_from_clos(&mesh, &s.topo.clos, test_err()));
		scenes_open_mesh(&m, mesh);
		assert_int_equal(s.topo.n_links, m.topo.n_links);
		s.params.traffic.conns = scenes_uniform(0, 9);
		s.params.noise.rate = scenes_uniform(0, i % 2 ? 1e-2 : 1e-5);
		if (i % 3 == 0 && c.n_pods * c.n_tors > 2) {
			s.params.traffic.dst = SCENE_DST_SKEWED;
			s.params.traffic.n_hot = 2;
		}
		add_wild_faults(&s, &r);
		m.params = s.params;
		struct scene *x = scenes_draw(&s, i);
		struct scene *y = scenes_draw(&m, i);
		run_epoch(&a, x, i % 4 == 0);
		run_epoch(&b, y, i % 4 == 0);
		scenes_assert_same(&a.window, &a.lost, &b.window, &b.lost);
		scenes_close(&s);
		scenes_close(&m);
	}
	plane_close(&a);
	plane_close(&b);
}

static void an_epoch_without_flows_is_empty(void **state)
{
	(void)state;
	struct scenes s;
	struct plane p;
	plane_open(&p);
	scenes_open(&s, &tiny);
	s.params.noise.rate = scenes_fixed(1);
	s.params.traffic.conns = scenes_fixed(0);
	for (int all = 0; all < 2; all++) {
		run_epoch(&p, scenes_draw(&s, 0), all);
		assert_int_equal(p.window.flows.n, 0);
	}
	s.params.traffic.conns = scenes_fixed(1);
	run_epoch(&p, scenes_draw(&s, 0), 0);
	assert_int_equal(p.window.flows.n, 8);
	assert_ok(bulk_run(p.bulk, 3, 3, 0, &p.window, &p.lost, test_err()));
	assert_int_equal(p.window.n_flows, 8);
	plane_close(&p);
	scenes_close(&s);
}

/* A link that drops everything for ten seconds, and no noise: what is lost is
 * certain. */
static void timed_faults_strike_only_flows_that_start_then(void **state)
{
	(void)state;
	struct scenes s;
	struct plane p;
	uint64_t struck = 0, spared = 0;
	plane_open(&p);
	scenes_open(&s, &tiny);
	s.params.noise.rate = scenes_fixed(0);
	const topo_link bad = topo_clos_link_tor(&s.topo.clos, 2, 1, TOPO_DOWN);
	struct fault_params *g = scenes_add_fault(&s, bad, 1);
	g->from_s = 7;
	g->to_s = 17;
	struct scene *scene = scenes_draw(&s, 0);
	run_epoch(&p, scene, 1);
	const struct obs *w = &p.window;
	for (size_t i = 0; i < w->flows.n; i++) {
		const sim_ns t = w->flows.start_ns[i];
		const int in_time = t >= 7 * SIM_SEC && t < 17 * SIM_SEC;
		int crosses = 0;
		for (unsigned j = 0; j < obs_n_hops(w, i); j++)
			crosses |= obs_path(w, i)[j] == bad;
		assert_int_equal(w->flows.n_retx[i],
		    crosses && in_time ? w->flows.n_pkts[i] : 0);
		struck += crosses && in_time;
		spared += crosses && !in_time;
	}
	assert_true(struck > 5 && spared > 5);
	plane_close(&p);
	scenes_close(&s);
}

/* With new objects each time, so that all memory is allocated again. */
static int run_afresh(void *arg, struct sim_err *e)
{
	struct scene *s = arg;
	struct bulk *b = NULL;
	struct obs w = {0};
	struct losses lost = {0};
	int rc = bulk_open(&b, NULL, e);
	if (rc == 0)
		rc = bulk_epoch(b, s, 0, &w, &lost, e);
	assert_true(rc < 0 || w.flows.n > 100);
	assert_int_equal(lost.n_drops, w.hops.n);
	assert_int_equal(lost.n_buffer, lost.has_buffer ? w.hops.n : 0);
	if (scene_tcp_is_on(&s->traffic.params.tcp))
		assert_int_equal(lost.n_early, w.flows.n);
	bulk_close(b);
	obs_free(&w);
	losses_free(&lost);
	return rc;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct scenes s;
	scenes_open(&s, &tiny);
	s.params.noise.rate = scenes_fixed(0.01);
	test_each_alloc_fails(run_afresh, scenes_draw(&s, 0));
	scenes_use_tcp(&s, 5);
	test_each_alloc_fails(run_afresh, scenes_draw(&s, 0));
	/* With a buffer's drops beside the others. */
	s.params.congestion = (struct scene_congestion_params){0.7, 10, 1, 0.1,
	    0.02, scenes_uniform(0.05, 0.9), {0}};
	test_each_alloc_fails(run_afresh, scenes_draw(&s, 0));
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pieces_of_any_size_give_the_same_window),
	    cmocka_unit_test(pieces_in_any_order_hold_the_same_rows),
	    cmocka_unit_test(the_sieve_hides_no_lossy_flow),
	    cmocka_unit_test(the_sieve_hides_no_lossy_flow_of_007),
	    cmocka_unit_test(the_sieve_is_no_hair_too_fine),
	    cmocka_unit_test(one_flow_alone_is_its_row_of_the_window),
	    cmocka_unit_test(each_part_of_an_epochs_name_gives_another_window),
	    cmocka_unit_test(a_clos_as_a_mesh_gives_the_same_window),
	    cmocka_unit_test(an_epoch_without_flows_is_empty),
	    cmocka_unit_test(timed_faults_strike_only_flows_that_start_then),
	    cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("models/bulk/bulk", tests, NULL,
	    NULL);
}
