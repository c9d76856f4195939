/* tests/topo/same_test.c -- one network by arithmetic and as tables: all that is
 * asked of it has the same answer, and that of its paths.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"
#include "topo/alike.h"
#include "topo/mesh.h"
#include "topo/topo.h"

static const struct topo_clos shapes[] = {
    {.n_pods = 2, .n_tors = 3, .n_t1 = 2, .n_t2 = 3, .n_hosts = 2},
    {.n_pods = 3, .n_tors = 1, .n_t1 = 3, .n_t2 = 2, .n_hosts = 1},
    {.n_pods = 1, .n_tors = 4, .n_t1 = 3, .n_t2 = 0, .n_hosts = 2},
    {.n_pods = 1, .n_tors = 1, .n_t1 = 0, .n_t2 = 0, .n_hosts = 3},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void open_both(const struct topo_clos *shape, struct topo *clos,
    struct topo *mesh)
{
	struct topo_mesh *m;
	assert_ok(topo_open_clos(clos, shape, test_err()));
	assert_ok(topo_mesh_from_clos(&m, shape, test_err()));
	assert_ok(topo_open_mesh(mesh, m, test_err()));
}

/* Under GIVEN, and among all flows, for links in the order given. */
static void assert_same_shares(const struct topo *clos, const struct topo *mesh,
    topo_link given)
{
	double share[2][64];
	topo_link link[64];
	const size_t n = clos->n_links < 64 ? clos->n_links : 64;
	for (size_t i = 0; i < n; i++)
		link[i] = (topo_link)(n - 1 - i);
	memset(share, -1, sizeof(share));
	assert_ok(topo_share_given(clos, given, link, n, share[0], test_err()));
	assert_ok(topo_share_given(mesh, given, link, n, share[1], test_err()));
	for (size_t i = 0; i < n; i++) {
		assert_near(share[0][i], share[1][i], 1e-12);
		if (link[i] == given && share[0][i] != 0)
			assert_near(share[0][i], 1, 1e-12);
	}
	/* A mesh has no links that are alike: it is asked for each. */
	struct topo_alike a = {0};
	assert_ok(topo_alike_take(&a, mesh, link, n, test_err()));
	assert_ok(topo_alike_shares(&a, given, share[0], test_err()));
	assert_memory_equal(share[0], share[1], n * sizeof(double));
	topo_alike_free(&a);
	/* Of nothing nothing is written. */
	share[0][0] = 7;
	assert_ok(topo_share_given(clos, given, link, 0, share[0], test_err()));
	assert_true(share[0][0] == 7);
}

static void arithmetic_and_tables_answer_alike(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo c, m;
		open_both(&shapes[i], &c, &m);
		for (topo_switch s = 0; s < c.n_switches; s++) {
			int has_hosts = 0;
			for (topo_host h = 0; h < c.n_hosts; h++)
				has_hosts |= topo_tor_of(&c, h) == s;
			assert_int_equal(topo_tier_of(&c, s),
			    topo_tier_of(&m, s));
			assert_int_equal(topo_mesh_is_tor(m.mesh, s),
			    has_hosts);
			assert_int_equal(topo_tier_of(&c, s) == 0, has_hosts);
		}
		for (topo_link l = 0; l < c.n_links; l++) {
			assert_int_equal(topo_link_delay(&c, l), 0);
			assert_same_shares(&c, &m, l);
		}
		assert_same_shares(&c, &m, TOPO_NONE);
		for (topo_host h = 0; h < c.n_hosts; h++) {
			/* Pods are of the arithmetic alone. */
			assert_int_equal(topo_pod_of(&c, h),
			    topo_tor_of(&c, h) / shapes[i].n_tors);
			assert_int_equal(topo_pod_of(&m, h), TOPO_NONE);
		}
		topo_close(&c);
		topo_close(&m);
		assert_null(m.mesh);
		assert_int_equal(m.n_hosts, 0);
	}
}

/* The longest of the paths that flows between all hosts take. */
static void assert_most_hops(const struct topo_mesh *mesh, unsigned want)
{
	struct topo t = {0};
	unsigned most = 0;
	assert_ok(topo_open_mesh(&t, (struct topo_mesh *)mesh, test_err()));
	for (uint32_t i = 0; i < t.n_hosts * t.n_hosts; i++) {
		topo_link path[TOPO_MAX_HOPS];
		const unsigned n =
		    topo_path(&t, 1, i / t.n_hosts, i % t.n_hosts, i, path);
		most = n > most ? n : most;
	}
	assert_int_equal(most, want);
	assert_int_equal(topo_mesh_most_hops(mesh), want);
	topo_close(&t);
}

static void the_longest_path_has_as_many_hops_as_is_said(void **state)
{
	static const struct topo_cable chain[] = {{0, 3}, {1, 4}, {2, 7},
	    {3, 4}, {4, 5}, {5, 6}, {6, 7}};
	const struct topo_mesh_input in = {.n_hosts = 3,
	    .n_switches = 5,
	    .n_cables = sizeof(chain) / sizeof(chain[0]),
	    .cable = chain};
	static const unsigned of_shape[N_SHAPES] = {6, 6, 4, 2};
	struct topo_mesh *m;
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		assert_ok(topo_mesh_from_clos(&m, &shapes[i], test_err()));
		assert_most_hops(m, of_shape[i]);
	}
	assert_ok(topo_mesh_fat_tree(&m, 4, 1, test_err()));
	assert_most_hops(m, 6);
	assert_ok(topo_mesh_fat_tree(&m, 2, 1, test_err()));
	assert_most_hops(m, 6);
	/* A chain of five switches: four cables, and the hosts' two. */
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_most_hops(m, 6);
}

static void there_must_be_a_mesh(void **state)
{
	struct topo t;
	struct sim_err e = {0};
	(void)state;
	memset(&t, 1, sizeof(t));
	assert_int_equal(topo_open_mesh(&t, NULL, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "There is no mesh to open.");
	topo_close(&t); /* is safe */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arithmetic_and_tables_answer_alike),
	    cmocka_unit_test(the_longest_path_has_as_many_hops_as_is_said),
	    cmocka_unit_test(there_must_be_a_mesh),
	};
	return cmocka_run_group_tests_name("topo: as arithmetic and tables",
	    tests, NULL, NULL);
}
