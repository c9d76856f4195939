/* tests/topo/next_test.c -- next hops: step by step to topo_path(), and against
 * hop counts by brute force, in every kind of network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"
#include "topo/mesh.h"
#include "topo/next.h"
#include "topo/region.h"

static const struct topo_clos shapes[] = {
    {.n_pods = 2, .n_tors = 3, .n_t1 = 2, .n_t2 = 3, .n_hosts = 2},
    {.n_pods = 3, .n_tors = 2, .n_t1 = 3, .n_t2 = 2, .n_hosts = 3},
    {.n_pods = 5, .n_tors = 1, .n_t1 = 3, .n_t2 = 1, .n_hosts = 1},
    {.n_pods = 1, .n_tors = 4, .n_t1 = 3, .n_t2 = 0, .n_hosts = 2},
    {.n_pods = 1, .n_tors = 3, .n_t1 = 3, .n_t2 = 2, .n_hosts = 2},
    {.n_pods = 1, .n_tors = 1, .n_t1 = 2, .n_t2 = 2, .n_hosts = 3},
    {.n_pods = 1, .n_tors = 1, .n_t1 = 0, .n_t2 = 0, .n_hosts = 3},
    {.n_pods = 2, .n_tors = 1, .n_t1 = 1, .n_t2 = 1, .n_hosts = 1},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]), N_MESHES = 4 };
enum { N_NETWORKS = 2 * N_SHAPES + N_MESHES };

/* Switches in a ring, each with a chord; hosts under the first three alone, so
 * that most switches are no ToRs. */
static void open_ring(struct topo *t, uint32_t n, uint32_t chord)
{
	enum { HOSTS = 3 };
	struct topo_cable cable[64];
	size_t n_cables = 0;
	struct topo_mesh *m;
	for (uint32_t h = 0; h < HOSTS; h++)
		cable[n_cables++] = (struct topo_cable){h, HOSTS + h};
	for (uint32_t s = 0; s < n; s++)
		cable[n_cables++] =
		    (struct topo_cable){HOSTS + s, HOSTS + (s + 1) % n};
	for (uint32_t s = 0; chord > 0 && s < n / 2; s++)
		cable[n_cables++] =
		    (struct topo_cable){HOSTS + s, HOSTS + (s + chord) % n};
	const struct topo_mesh_input in = {.n_hosts = HOSTS,
	    .n_switches = n,
	    .n_cables = n_cables,
	    .cable = cable};
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

static void open_fat_tree(struct topo *t, uint32_t k)
{
	struct topo_mesh *m;
	assert_ok(topo_mesh_fat_tree(&m, k, 0, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

static void open_network(struct topo *t, int i)
{
	const struct topo_region_params p = {2 + (uint32_t)i % 2, 2, 1.4, ""};
	if (i < N_SHAPES)
		assert_ok(topo_open_clos(t, &shapes[i], test_err()));
	else if (i < 2 * N_SHAPES)
		assert_ok(
		    topo_open_region(t, &shapes[i - N_SHAPES], &p, test_err()));
	else if (i < 2 * N_SHAPES + 2)
		open_fat_tree(t, i % 2 ? 4 : 6);
	else
		open_ring(t, 9, i % 2 ? 3 : 0);
}

/* --- paths ---------------------------------------------------------------- */

/* From SRC hop by hop, as the header says. */
static unsigned by_hops(const struct topo *t, uint32_t seed, topo_host src,
    topo_node dst, uint32_t digest, topo_link path[TOPO_MAX_HOPS])
{
	unsigned n = 0;
	topo_node at = t->n_hosts + topo_tor_of(t, src), from;
	path[n++] = topo_link_of(src, TOPO_UP);
	while (at != dst && n < TOPO_MAX_HOPS) {
		const topo_switch s = at - t->n_hosts;
		const uint32_t fanout = topo_n_next(t, s, dst);
		assert_true(fanout > 0);
		path[n] = topo_next(t, s, dst,
		    topo_switch_pick(seed, s, digest, fanout));
		topo_link_ends(t, path[n++], &from, &at);
		assert_int_equal(from, t->n_hosts + s);
	}
	assert_int_equal(at, dst);
	return n;
}

static void hop_by_hop_is_the_path(void **state)
{
	(void)state;
	for (int i = 0; i < N_NETWORKS; i++) {
		struct topo t;
		struct sim_rng r;
		open_network(&t, i);
		test_rng(&r, (uint32_t)i);
		for (int j = 0; j < 3000; j++) {
			topo_link p[TOPO_MAX_HOPS], q[TOPO_MAX_HOPS];
			const topo_host src = sim_rng_below(&r, t.n_hosts);
			const topo_host dst = sim_rng_below(&r, t.n_hosts);
			const uint32_t seed = sim_rng_u32(&r);
			const uint32_t d = sim_rng_u32(&r);
			const unsigned n = topo_path(&t, seed, src, dst, d, p);
			if (src == dst)
				continue;
			assert_int_equal(by_hops(&t, seed, src, dst, d, q), n);
			assert_memory_equal(p, q, n * sizeof(p[0]));
		}
		topo_close(&t);
	}
}

/* --- sets ----------------------------------------------------------------- */

enum { FAR = 1000 };

/* Hops from every node to every other, by Floyd and Warshall; hosts forward
 * nothing. */
static int *count_hops(const struct topo *t)
{
	const size_t n = t->n_hosts + t->n_switches;
	int *d = calloc(n * n, sizeof(*d));
	assert_non_null(d);
	for (size_t i = 0; i < n * n; i++)
		d[i] = i % (n + 1) == 0 ? 0 : FAR;
	for (topo_link l = 0; l < t->n_links; l++) {
		topo_node a, b;
		topo_link_ends(t, l, &a, &b);
		d[a * n + b] = 1;
	}
	for (size_t k = t->n_hosts; k < n; k++)
		for (size_t a = 0; a < n; a++)
			for (size_t b = 0; b < n; b++)
				if (d[a * n + k] + d[k * n + b] < d[a * n + b])
					d[a * n + b] =
					    d[a * n + k] + d[k * n + b];
	return d;
}

/* The one place where a Clos leaves a shortest way out: between T1s of a pod it
 * goes by T2s alone where there are any. */
static int is_left_out(const struct topo *t, topo_node at, topo_node to,
    topo_node dst)
{
	if (!topo_is_clos(t) || t->clos.n_t2 == 0 || at < t->n_hosts ||
	    dst < t->n_hosts || to < t->n_hosts)
		return 0;
	const topo_switch a = at - t->n_hosts, b = dst - t->n_hosts;
	return topo_tier_of(t, a) == 1 && topo_tier_of(t, b) == 1 && a != b &&
	    topo_tier_of(t, to - t->n_hosts) == 0;
}

/* All links of all switches, for all destinations: they are next hops if they
 * lead one hop nearer; and topo_next() lists just these, in order of id. */
static void next_hops_lead_one_hop_nearer(void **state)
{
	(void)state;
	for (int i = 0; i < N_NETWORKS; i++) {
		struct topo t;
		open_network(&t, i);
		const topo_node n = t.n_hosts + t.n_switches;
		int *d = count_hops(&t);
		uint32_t *listed = calloc(n, sizeof(*listed));
		assert_non_null(listed);
		for (topo_node dst = 0; dst < n; dst++) {
			memset(listed, 0, n * sizeof(*listed));
			for (topo_link l = 0; l < t.n_links; l++) {
				topo_node a, b;
				topo_link_ends(&t, l, &a, &b);
				const int want =
				    d[b * n + dst] + 1 == d[a * n + dst] &&
				    !is_left_out(&t, a, b, dst);
				if (topo_is_next(&t, l, dst) != want)
					fail_msg("network %d, %u->%u for %u: "
						 "wanted %d",
					    i, a, b, dst, want);
				if (want && a >= t.n_hosts)
					assert_int_equal(topo_next(&t,
							     a - t.n_hosts, dst,
							     listed[a]++),
					    l);
			}
			for (topo_switch s = 0; s < t.n_switches; s++)
				assert_int_equal(topo_n_next(&t, s, dst),
				    listed[t.n_hosts + s]);
		}
		free(listed);
		free(d);
		topo_close(&t);
	}
}

/* From anywhere to any loopback, in no more hops than a path may have. */
static void loopbacks_are_reached(void **state)
{
	(void)state;
	for (int i = 0; i < N_NETWORKS; i++) {
		struct topo t;
		struct sim_rng r;
		open_network(&t, i);
		test_rng(&r, 100 + (uint32_t)i);
		for (int j = 0; j < 1000; j++) {
			topo_link p[TOPO_MAX_HOPS];
			by_hops(&t, sim_rng_u32(&r),
			    sim_rng_below(&r, t.n_hosts),
			    t.n_hosts + sim_rng_below(&r, t.n_switches),
			    sim_rng_u32(&r), p);
		}
		topo_close(&t);
	}
}

/* A line of 300 switches, hosts at its beginning: the other end is too far for
 * counts of a byte, and there is no way then, instead of a wrong one. */
static void what_is_too_far_has_no_way(void **state)
{
	(void)state;
	enum { N = 300 };
	struct topo_cable cable[N];
	struct topo_mesh *m;
	struct topo t;
	for (uint32_t s = 0; s < N; s++)
		cable[s] = (struct topo_cable){s, s + 1};
	const struct topo_mesh_input in = {.n_hosts = 1,
	    .n_switches = N,
	    .n_cables = N,
	    .cable = cable};
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	for (topo_switch far = 1; far < N; far++)
		assert_int_equal(topo_n_next(&t, 0, 1 + far), far <= 254);
	assert_true(topo_is_next(&t, topo_link_of(1, TOPO_UP), 1 + 254));
	assert_false(topo_is_next(&t, topo_link_of(1, TOPO_UP), 1 + 255));
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hop_by_hop_is_the_path),
	    cmocka_unit_test(next_hops_lead_one_hop_nearer),
	    cmocka_unit_test(loopbacks_are_reached),
	    cmocka_unit_test(what_is_too_far_has_no_way),
	};
	return cmocka_run_group_tests_name("topo/next", tests, NULL, NULL);
}
