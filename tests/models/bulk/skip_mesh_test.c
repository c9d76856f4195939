/* tests/models/bulk/skip_mesh_test.c -- skipping in meshes, as in a Clos.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Clos networks kept as tables are in models_planes_test.c, by enumeration.
 * Here, by enumeration, a mesh whose paths are unlike, and moments against the
 * exact plane in others: 45 comparisons (tests/rigs/planes.h) of 5 standard errors,
 * and chi-squares at level 1e-6, fire in 1 of some 1,500 random seeds.
 */
#include "tests/rigs/law.h"
#include "tests/rigs/meshes.h"
#include "tests/rigs/planes.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"
#include "topo/next.h"
#include "topo/region.h"

#define LEVEL 1e-6

/* --- against the exact plane ---------------------------------------------- */

static void drops(struct scenes *s)
{
	scenes_add_group(s)->count = 6;
	s->group[0].rate = scenes_uniform(1e-3, 0.1);
	s->params.noise.rate = scenes_uniform(0, 1e-3);
}

static void links_of_hosts(struct scenes *s)
{
	drops(s);
	scenes_add_class(s, TOPO_HOST_TOR, 3, 1e-3, 0.1);
	scenes_add_class(s, TOPO_TOR_HOST, 3, 1e-3, 0.5);
	s->params.traffic.conns = scenes_uniform(0, 90);
}

static void timed(struct scenes *s)
{
	links_of_hosts(s);
	for (uint32_t i = 0; i < s->params.n_groups; i++)
		s->group[i].from_s = 6 * i;
	s->group[0].to_s = 20;
}

static struct fault_params *add_kind(struct scenes *s, enum fault_kind kind,
    uint32_t n)
{
	struct fault_params *g = scenes_add_group(s);
	g->kind = kind;
	g->count = g->switches = n;
	g->entries = scenes_fixed(0.2);
	return g;
}

static void holes(struct scenes *s)
{
	drops(s);
	add_kind(s, FAULT_BLACK_HOLE_1, 2);
	add_kind(s, FAULT_BLACK_HOLE_2, 2)->from_s = 12;
}

static void off(struct scenes *s)
{
	timed(s);
	add_kind(s, FAULT_HOST_OFF, 1);
	add_kind(s, FAULT_HOST_OFF, 1)->to_s = 13;
}

static void hot(struct scenes *s)
{
	links_of_hosts(s);
	s->params.traffic.dst = SCENE_DST_SKEWED;
	s->params.traffic.n_hot = 2;
	s->params.traffic.hot_share = 0.7;
}

static void noise_per_flow(struct scenes *s)
{
	drops(s);
	s->params.noise.rate = scenes_uniform(1e-4, 1e-3);
	s->params.noise.per = SCENE_NOISE_PER_FLOW;
}

static void noise_alone(struct scenes *s)
{
	s->params.noise.rate = scenes_uniform(0, 1e-2);
}

static void nearly_all_at_once(struct scenes *s)
{
	off(s);
	s->params.traffic.dst = SCENE_DST_SKEWED;
	add_kind(s, FAULT_BLACK_HOLE_2, 1);
}

static const struct {
	const char *what;
	void (*set)(struct scenes *s);
} kinds[] = {
#define KIND(name)                                                             \
	{                                                                      \
#name, name                                                    \
	}
    KIND(drops),
    KIND(links_of_hosts),
    KIND(timed),
    KIND(holes),
    KIND(off),
    KIND(hot),
    KIND(noise_per_flow),
    KIND(noise_alone),
    KIND(nearly_all_at_once),
#undef KIND
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void open_kind(struct scenes *s, enum meshes_kind mesh, size_t kind)
{
	scenes_open_mesh(s, meshes_open(mesh));
	kinds[kind].set(s);
}

static void compare_all(enum meshes_kind mesh)
{
	static struct planes_comparison c;
	struct planes p;
	planes_open(&p);
	for (size_t i = 0; i < N_KINDS; i++) {
		struct scenes s;
		char what[80];
		snprintf(what, sizeof(what), "mesh %d, %s", mesh,
		    kinds[i].what);
		open_kind(&s, mesh, i);
		planes_compare(&p, &s, 300, &c);
		assert_true(law_mean(&c.failed) > 1);
		planes_assert_equal_laws(&c, what);
		scenes_close(&s);
	}
	planes_close(&p);
}

static void in_a_fat_tree_the_law_is_that_of_the_exact_plane(void **state)
{
	(void)state;
	compare_all(MESHES_FAT_TREE);
}

static void in_a_leaf_spine_it_is(void **state)
{
	(void)state;
	compare_all(MESHES_LEAF_SPINE);
}

static void in_a_random_graph_it_is(void **state)
{
	(void)state;
	compare_all(MESHES_JELLYFISH);
}

static void with_unlike_paths_and_scattered_hosts_it_is(void **state)
{
	(void)state;
	compare_all(MESHES_ODD);
}

/* What is drawn by tables there is arithmetic here, across data centres too. */
static void in_a_region_it_is(void **state)
{
	(void)state;
	static const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	static struct planes_comparison c;
	struct topo_region_params region;
	struct planes p;
	planes_open(&p);
	assert_ok(sim_field_defaults(topo_region_fields, &region, test_err()));
	region.n_dcs = 2;
	for (size_t i = 0; i < N_KINDS; i++) {
		struct scenes s;
		char what[80];
		snprintf(what, sizeof(what), "region, %s", kinds[i].what);
		open_kind(&s, MESHES_ODD, 0);
		s.params.n_groups = 0;
		topo_close(&s.topo);
		assert_ok(
		    topo_open_region(&s.topo, &shape, &region, test_err()));
		kinds[i].set(&s);
		planes_compare(&p, &s, 300, &c);
		planes_assert_equal_laws(&c, what);
		scenes_close(&s);
	}
	planes_close(&p);
}

/* --- against enumeration -------------------------------------------------- */

/* Flows of one packet in the odd mesh: where from and to, which way, and where
 * it is lost; 0 if it is not. At each switch there are at most two ways on. */
enum { HOSTS = 6, WAYS = 8, HOPS = 5, CELLS = HOSTS * HOSTS * WAYS * HOPS + 1 };
enum { CONNS = 3, EPOCHS = 15000 };

static unsigned cell_of(topo_host src, topo_host dst, unsigned way,
    unsigned hop)
{
	assert_true(way < WAYS && hop < HOPS);
	return ((src * HOSTS + dst) * WAYS + way) * HOPS + hop + 1;
}

/* What is lost of a packet on LINK. */
static double rate_at(const struct scene *s, topo_link link, topo_host src,
    topo_host dst)
{
	const struct topo_tuple tuple = {.src_ip = topo_addr_of_host(src),
	    .dst_ip = topo_addr_of_host(dst)};
	topo_node from, to;
	topo_link_ends(s->topo, link, &from, &to);
	if (to >= s->topo->n_hosts &&
	    truth_swallows(&s->truth, to - s->topo->n_hosts, &tuple, 0))
		return 1;
	for (size_t i = 0; i < s->truth.n_faults; i++)
		if (s->truth.fault[i].link == link &&
		    !s->truth.fault[i].of_hole)
			return s->truth.fault[i].rate;
	return scene_noise_rate(&s->loss.noise, link);
}

/* A route in the making. */
struct route {
	topo_host src, dst;
	topo_link path[HOPS];
	unsigned h, way;
};

/* What is lost on the route, which is taken with chance MASS. */
static void add_losses(const struct scene *s, const struct route *r,
    double mass, double want[])
{
	for (unsigned i = 0; i < r->h; i++) {
		const double rate = rate_at(s, r->path[i], r->src, r->dst);
		want[cell_of(r->src, r->dst, r->way, i)] += mass * rate;
		mass *= 1 - rate;
	}
	want[0] += mass;
}

/* All ways on from where the route has come to by LINK. */
static void add_routes(const struct scene *s, struct route r, topo_link link,
    double mass, double want[])
{
	topo_node from, to;
	topo_link_ends(s->topo, link, &from, &to);
	r.path[r.h++] = link;
	if (to == r.dst) {
		add_losses(s, &r, mass, want);
		return;
	}
	const topo_switch at = to - s->topo->n_hosts;
	const uint32_t n = topo_n_next(s->topo, at, r.dst);
	const unsigned way = r.way;
	for (uint32_t i = 0; i < n; i++) {
		r.way = n > 1 ? 2 * way + i : way;
		add_routes(s, r, topo_next(s->topo, at, r.dst, i), mass / n,
		    want);
	}
}

/* All flows of a host, whose destination is any other ToR, there any host. */
static void add_law(const struct scene *s, topo_host src, double want[])
{
	const topo_switch own = topo_tor_of(s->topo, src);
	for (topo_host dst = 0; dst < HOSTS; dst++) {
		const topo_switch tor = topo_tor_of(s->topo, dst);
		const struct route r = {.src = src, .dst = dst};
		if (tor == own)
			continue;
		add_routes(s, r, topo_link_of(src, TOPO_UP),
		    1.0 / (s->traffic.n_tors - 1) /
			scene_traffic_n_hosts(&s->traffic, tor),
		    want);
	}
}

/* The way of row I, as add_routes() counts it. */
static unsigned way_of(const struct topo *t, const struct obs *w, size_t i)
{
	const topo_link *path = obs_path(w, i);
	unsigned way = 0;
	for (unsigned j = 1; j < obs_n_hops(w, i); j++) {
		topo_node from, to;
		topo_link_ends(t, path[j], &from, &to);
		const topo_switch at = from - t->n_hosts;
		const topo_host dst = w->flows.dst_host[i];
		const uint32_t n = topo_n_next(t, at, dst);
		uint32_t nth = 0;
		while (nth < n && topo_next(t, at, dst, nth) != path[j])
			nth++;
		assert_true(nth < n);
		way = n > 1 ? 2 * way + nth : way;
	}
	return way;
}

/* One scene, whose flows are drawn again and again. */
static void observe(struct planes *p, enum which which, struct scenes *s,
    uint64_t got[])
{
	struct scene *scene = scenes_draw(s, 0);
	for (uint32_t run = 0; run < EPOCHS; run++) {
		scene->where.run = run;
		planes_run(p, which, scene);
		const struct obs *w = &p->window;
		for (size_t i = 0; i < w->flows.n; i++) {
			const uint32_t *lost = p->lost.drops + w->hops.off[i];
			unsigned hop = 0;
			while (lost[hop] == 0)
				hop++;
			got[cell_of(w->flows.src_host[i], w->flows.dst_host[i],
			    way_of(&s->topo, w, i), hop)]++;
		}
		got[0] += HOSTS * CONNS - w->flows.n;
	}
}

/* Two links in a row, all that some flows have, one into a host, an uplink. */
static void open_odd(struct scenes *s, int with_holes)
{
	static const struct {
		topo_node from, to;
		double rate;
	} faults[] = {{6, 9, 0.15}, {9, 10, 0.3}, {10, 7, 0.1}, {6, 8, 0.05},
	    {11, 7, 0.2}, {7, 11, 0.1}, {6, 2, 0.2}, {3, 7, 0.25}};
	scenes_open_mesh(s, meshes_open(MESHES_ODD));
	s->params.traffic.conns = scenes_fixed(CONNS);
	s->params.traffic.packets = scenes_fixed(1);
	s->params.noise.rate = scenes_uniform(0, 0.05);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		scenes_add_fault(s,
		    topo_link_between(&s->topo, faults[i].from, faults[i].to),
		    faults[i].rate);
	if (with_holes)
		add_kind(s, FAULT_BLACK_HOLE_1, 3);
}

static void unlike_paths_match_their_enumeration(void **state)
{
	(void)state;
	struct planes p;
	planes_open(&p);
	for (int with_holes = 0; with_holes < 2; with_holes++)
		for (enum which which = BULK; which <= SKIP; which++) {
			double want[CELLS] = {0};
			uint64_t got[CELLS] = {0};
			struct scenes s;
			open_odd(&s, with_holes);
			struct scene *scene = scenes_draw(&s, 0);
			for (topo_host h = 0; h < HOSTS; h++)
				add_law(scene, h, want);
			observe(&p, which, &s, got);
			const double x = law_chi2(got, want, CELLS);
			if (!(x >= LEVEL))
				fail_msg("plane %d, holes %d, seed %ju: p = %g",
				    which, with_holes, (uintmax_t)test_seed(),
				    x);
			scenes_close(&s);
		}
	planes_close(&p);
}

/* --- the object ----------------------------------------------------------- */

/* One that has run other meshes, and a Clos, gives the same. */
static void what_ran_before_leaves_no_trace(void **state)
{
	(void)state;
	static const struct topo_clos clos = {3, 4, 3, 4, 3, .n_cables = 0};
	struct planes used, fresh;
	planes_open(&used);
	for (size_t i = 0; i < N_MESHES * N_KINDS; i++) {
		struct scenes s;
		if (i % 5 == 4) {
			scenes_open(&s, &clos);
			kinds[i % N_KINDS].set(&s);
		} else {
			open_kind(&s, i % N_MESHES, i % N_KINDS);
		}
		struct scene *scene = scenes_draw(&s, (uint32_t)i);
		planes_open(&fresh);
		planes_run(&used, SKIP, scene);
		planes_run(&fresh, SKIP, scene);
		scenes_assert_same(&used.window, &used.lost, &fresh.window,
		    &fresh.lost);
		planes_close(&fresh);
		scenes_close(&s);
	}
	planes_close(&used);
}

static int run_afresh(void *arg, struct sim_err *e)
{
	struct bulk_skip *k = NULL;
	struct obs w = {0};
	struct losses lost = {0};
	int rc = bulk_skip_open(&k, e);
	if (rc == 0)
		rc = bulk_skip_epoch(k, arg, &w, &lost, e);
	assert_true(rc < 0 || w.flows.n > 0);
	bulk_skip_close(k);
	obs_free(&w);
	losses_free(&lost);
	return rc;
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct scenes s;
	open_kind(&s, MESHES_ODD, 3);
	test_each_alloc_fails(run_afresh, scenes_draw(&s, 0));
	scenes_close(&s);
}

/* Half of 2,048 ToRs are on either side of a link that all cross. */
static void tables_that_would_be_too_large_are_refused(void **state)
{
	(void)state;
	enum { TORS = 2050, CABLES = 2 * TORS - 1 };
	static struct topo_cable cable[CABLES];
	const struct topo_mesh_input in = {.n_hosts = TORS,
	    .n_switches = TORS,
	    .n_cables = CABLES,
	    .cable = cable};
	struct topo_mesh *m;
	struct scenes s;
	struct sim_err e;
	/* Two stars, whose middles are ToRs 0 and 1. */
	for (uint32_t i = 0; i < TORS; i++)
		cable[i] = (struct topo_cable){i, TORS + i};
	for (uint32_t i = 1; i < TORS; i++)
		cable[TORS + i - 1] =
		    (struct topo_cable){TORS + i, TORS + (i > 1 ? i % 2 : 0)};
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	scenes_open_mesh(&s, m);
	scenes_add_fault(&s, topo_link_between(&s.topo, TORS + 4, TORS), 0.1);
	assert_ok(bulk_skip_fits(scenes_draw(&s, 0), test_err()));
	scenes_add_fault(&s, topo_link_between(&s.topo, TORS, TORS + 1), 0.1);
	assert_int_equal(bulk_skip_fits(scenes_draw(&s, 0), &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "skipping keeps at most 2^20 pairs of ToRs whose flows cross what "
	    "failed.");
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(in_a_fat_tree_the_law_is_that_of_the_exact_plane),
	    cmocka_unit_test(in_a_leaf_spine_it_is),
	    cmocka_unit_test(in_a_random_graph_it_is),
	    cmocka_unit_test(with_unlike_paths_and_scattered_hosts_it_is),
	    cmocka_unit_test(in_a_region_it_is),
	    cmocka_unit_test(unlike_paths_match_their_enumeration),
	    cmocka_unit_test(what_ran_before_leaves_no_trace),
	    cmocka_unit_test(every_failed_allocation_is_reported),
	    cmocka_unit_test(tables_that_would_be_too_large_are_refused),
	};
	return cmocka_run_group_tests_name("models/bulk/skip, meshes", tests,
	    NULL, NULL);
}
