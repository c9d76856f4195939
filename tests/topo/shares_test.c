/* tests/topo/shares_test.c -- links between two hosts and their probabilities.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/shares.h"

#include "tests/test.h"
#include "topo/mesh.h"

static double share_of(const struct topo_shares *s, topo_link l)
{
	double x = 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->link[i] == l) {
			assert_true(x == 0); /* each link once */
			x = s->share[i];
			assert_true(x > 0 && x <= 1);
		}
	return x;
}

static void a_clos_by_hand(void **state)
{
	(void)state;
	static const struct topo_clos shape = {2, 2, 2, 3, 2, .n_cables = 0};
	struct topo t;
	struct topo_shares s = {0};
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	const struct topo_clos *c = &t.clos;

	assert_ok(topo_shares_between(&s, &t, 1, 6, test_err()));
	assert_int_equal(s.n_hops, 6);
	assert_int_equal(s.n, 1 + 2 + 6 + 6 + 2 + 1);
	assert_near(share_of(&s, topo_clos_link_host(1, TOPO_UP)), 1, 0);
	assert_near(share_of(&s, topo_clos_link_tor(c, 0, 1, TOPO_UP)), 0.5, 0);
	assert_near(share_of(&s, topo_clos_link_t1(c, 0, 2, TOPO_UP)), 1.0 / 6,
	    1e-16);
	assert_near(share_of(&s, topo_clos_link_t1(c, 3, 0, TOPO_DOWN)),
	    1.0 / 6, 1e-16);
	assert_near(share_of(&s, topo_clos_link_t1(c, 3, 0, TOPO_UP)), 0, 0);
	assert_near(share_of(&s, topo_clos_link_tor(c, 3, 0, TOPO_DOWN)), 0.5,
	    0);
	assert_near(share_of(&s, topo_clos_link_host(6, TOPO_DOWN)), 1, 0);

	assert_ok(topo_shares_between(&s, &t, 0, 3, test_err()));
	assert_int_equal(s.n_hops, 4);
	assert_int_equal(s.n, 1 + 2 + 2 + 1);
	assert_near(share_of(&s, topo_clos_link_tor(c, 1, 1, TOPO_DOWN)), 0.5,
	    0);

	assert_ok(topo_shares_between(&s, &t, 2, 3, test_err()));
	assert_int_equal(s.n_hops, 2);
	assert_int_equal(s.n, 2);

	assert_ok(topo_shares_between(&s, &t, 2, 2, test_err()));
	assert_int_equal(s.n_hops, 0);
	assert_int_equal(s.n, 0);
	topo_shares_free(&s);
	topo_close(&t);
}

/* All pairs of hosts: what topo_path_share() says of each link, and nothing
 * else; the sum is the length of the path that a flow takes. */
static void assert_as_path_share(const struct topo *t)
{
	struct topo_shares s = {0};
	for (topo_host a = 0; a < t->n_hosts; a++)
		for (topo_host b = 0; b < t->n_hosts; b++) {
			topo_link path[TOPO_MAX_HOPS];
			double sum = 0;
			assert_ok(topo_shares_between(&s, t, a, b, test_err()));
			for (topo_link l = 0; l < t->n_links; l++) {
				const double p = share_of(&s, l);
				assert_near(p, topo_path_share(t, a, b, l),
				    1e-12);
				sum += p;
			}
			assert_near(sum, s.n_hops, 1e-12);
			assert_int_equal(s.n_hops,
			    topo_path(t, 7, a, b, a * 31 + b, path));
		}
	topo_shares_free(&s);
}

static void all_pairs_are_as_topo_path_share(void **state)
{
	(void)state;
	static const struct topo_clos shapes[] = {{2, 2, 3, 2, 2,
						      .n_cables = 0},
	    {3, 1, 1, 2, 2, .n_cables = 0}, {1, 3, 2, 0, 2, .n_cables = 0},
	    {1, 1, 0, 0, 3, .n_cables = 0}};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct topo clos, mesh;
		struct topo_mesh *m;
		assert_ok(topo_open_clos(&clos, &shapes[i], test_err()));
		assert_as_path_share(&clos);
		assert_ok(topo_mesh_from_clos(&m, &clos.clos, test_err()));
		assert_ok(topo_open_mesh(&mesh, m, test_err()));
		assert_as_path_share(&mesh);
		topo_close(&clos);
		topo_close(&mesh);
	}
	struct topo t;
	struct topo_mesh *m;
	assert_ok(topo_mesh_fat_tree(&m, 4, 1, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	assert_as_path_share(&t);
	topo_close(&t);
}

/* --- brute force ---------------------------------------------------------- */

enum { HOSTS = 4, SWITCHES = 7, NODES = HOSTS + SWITCHES, MAX_CABLES = 64 };

/* A random connected graph: a chain of switches with chords. */
static void open_random(struct topo *t, struct sim_rng *r)
{
	struct topo_cable cable[MAX_CABLES];
	size_t n = 0;
	for (topo_host h = 0; h < HOSTS; h++)
		cable[n++] =
		    (struct topo_cable){h, HOSTS + sim_rng_below(r, SWITCHES)};
	for (uint32_t a = 0; a < SWITCHES; a++)
		for (uint32_t b = a + 1; b < SWITCHES; b++)
			if (b == a + 1 || sim_rng_below(r, 3) == 0)
				cable[n++] =
				    (struct topo_cable){HOSTS + a, HOSTS + b};
	const struct topo_mesh_input in = {.n_hosts = HOSTS,
	    .n_switches = SWITCHES,
	    .n_cables = n,
	    .cable = cable};
	struct topo_mesh *m;
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

/* Hops between nodes by Floyd and Warshall, hosts being on no way. */
static void find_distances(const struct topo *t, unsigned d[NODES][NODES])
{
	for (unsigned i = 0; i < NODES; i++)
		for (unsigned j = 0; j < NODES; j++)
			d[i][j] = i == j ? 0 : 99;
	for (topo_link l = 0; l < t->n_links; l++) {
		topo_node a, b;
		topo_link_ends(t, l, &a, &b);
		d[a][b] = 1;
	}
	for (unsigned k = HOSTS; k < NODES; k++)
		for (unsigned i = 0; i < NODES; i++)
			for (unsigned j = 0; j < NODES; j++)
				if (d[i][k] + d[k][j] < d[i][j])
					d[i][j] = d[i][k] + d[k][j];
}

/* Walk all ways from NODE to DST, each next hop being as likely as another. */
static void walk(const struct topo *t, unsigned d[NODES][NODES], topo_node node,
    topo_node dst, double p, double want[])
{
	topo_node a, b;
	unsigned n = 0;
	for (topo_link l = 0; l < t->n_links; l++) {
		topo_link_ends(t, l, &a, &b);
		n += a == node && d[b][dst] + 1 == d[node][dst];
	}
	for (topo_link l = 0; l < t->n_links; l++) {
		topo_link_ends(t, l, &a, &b);
		if (a != node || d[b][dst] + 1 != d[node][dst])
			continue;
		want[l] += p / n;
		walk(t, d, b, dst, p / n, want);
	}
}

static void random_graphs_are_as_a_walk_over_all_shortest_paths(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 100; run++) {
		struct topo t;
		struct topo_shares s = {0};
		struct sim_rng r;
		unsigned d[NODES][NODES];
		test_rng(&r, run);
		open_random(&t, &r);
		find_distances(&t, d);
		for (topo_host a = 0; a < HOSTS; a++)
			for (topo_host b = 0; b < HOSTS; b++) {
				double want[2 * MAX_CABLES] = {0};
				walk(&t, d, a, b, 1, want);
				assert_ok(topo_shares_between(&s, &t, a, b,
				    test_err()));
				for (topo_link l = 0; l < t.n_links; l++)
					assert_near(share_of(&s, l), want[l],
					    1e-12);
			}
		topo_shares_free(&s);
		topo_close(&t);
	}
}

static int between_once(void *arg, struct sim_err *e)
{
	struct topo_shares s = {0};
	int rc = topo_shares_between(&s, arg, 0, 9, e);
	topo_shares_free(&s);
	return rc;
}

static void each_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct topo t;
	struct topo_mesh *m;
	static const struct topo_clos shape = {2, 2, 2, 3, 3, .n_cables = 0};
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	test_each_alloc_fails(between_once, &t);
	topo_close(&t);
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	test_each_alloc_fails(between_once, &t);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_clos_by_hand),
	    cmocka_unit_test(all_pairs_are_as_topo_path_share),
	    cmocka_unit_test(
		random_graphs_are_as_a_walk_over_all_shortest_paths),
	    cmocka_unit_test(each_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("topo/shares", tests, NULL, NULL);
}
