/* tests/topo/swap_test.c -- networks of which a file is wrong.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/swap.h"

#include "tests/test.h"
#include "topo/mesh.h"
#include "topo/region.h"

static void open_leaf_spine(struct topo *t)
{
	const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 4,
	    .n_t1 = 2,
	    .n_hosts = 3};
	assert_ok(topo_open_clos(t, &shape, test_err()));
}

static void open_clos(struct topo *t)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 4,
	    .n_hosts = 3};
	assert_ok(topo_open_clos(t, &shape, test_err()));
}

static void open_fat_tree(struct topo *t)
{
	struct topo_mesh *m;
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

/* Eight switches without tiers, each with a host, and with names of their own,
 * joined to all others but one: there is no cable of which both ends have numbers
 * that are 7 together. */
static void open_flat(struct topo *t)
{
	enum { N = 8 };
	struct topo_cable cable[N + N * (N - 2) / 2];
	char text[2 * N][8];
	const char *name[2 * N];
	uint32_t n = 0;
	for (topo_node i = 0; i < 2 * N; i++) {
		snprintf(text[i], sizeof(text[i]), "node%u", i);
		name[i] = text[i];
	}
	for (topo_node i = 0; i < N; i++)
		cable[n++] = (struct topo_cable){i, N + i};
	for (topo_node i = 0; i < N; i++)
		for (topo_node j = i + 1; j < N; j++)
			if (i + j != N - 1)
				cable[n++] = (struct topo_cable){N + i, N + j};
	const struct topo_mesh_input in = {.n_hosts = N,
	    .n_switches = N,
	    .n_cables = n,
	    .cable = cable,
	    .name = name};
	struct topo_mesh *m;
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

static void (*const networks[])(
    struct topo *t) = {open_clos, open_fat_tree, open_leaf_spine, open_flat};

/* Links of OUT that do not end where those of T do. */
static uint32_t differ(const struct topo *t, const struct topo *out,
    topo_link at[], uint32_t most)
{
	uint32_t n = 0;
	for (topo_link l = 0; l < t->n_links; l += 2) {
		topo_node a, b, c, d;
		topo_link_ends(t, l, &a, &b);
		topo_link_ends(out, l, &c, &d);
		assert_int_equal(a, c);
		if (b != d && n < most)
			at[n++] = l;
	}
	return n;
}

/* Two cables, of one class, with their far ends exchanged; nothing else. */
static void two_cables_are_swapped(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 80; i++) {
		struct topo t, out;
		struct sim_rng r;
		topo_link at[4];
		topo_node a, b, c, d, e, f, g, h;
		char name[64], want[64];
		networks[i % 4](&t);
		test_rng(&r, i);
		assert_ok(topo_swap(&out, &t, 1, &r, test_err()));
		assert_int_equal(out.n_hosts, t.n_hosts);
		assert_int_equal(out.n_switches, t.n_switches);
		assert_int_equal(out.n_links, t.n_links);
		assert_int_equal(differ(&t, &out, at, 4), 2);
		topo_link_ends(&t, at[0], &a, &b);
		topo_link_ends(&t, at[1], &c, &d);
		topo_link_ends(&out, at[0], &e, &f);
		topo_link_ends(&out, at[1], &g, &h);
		assert_true(f == d && h == b && b != d && a != c);
		assert_int_equal(topo_class_of(&t, at[0]),
		    topo_class_of(&t, at[1]));
		assert_int_equal(topo_class_of(&out, at[0]),
		    topo_class_of(&t, at[0]));
		/* Of a leaf-spine there are only hosts'. */
		assert_int_equal(at[0] < 2 * t.n_hosts, i % 4 == 2);
		for (topo_node n = 0; n < t.n_hosts + t.n_switches; n++) {
			topo_node_name(&t, n, want);
			topo_node_name(&out, n, name);
			assert_string_equal(name, want);
		}
		for (topo_switch s = 0; s < t.n_switches; s++)
			assert_int_equal(topo_tier_of(&out, s),
			    topo_tier_of(&t, s));
		topo_close(&out);
		topo_close(&t);
	}
}

/* As many again swap others, or some of them back. */
static void many_are_swapped(void **state)
{
	(void)state;
	struct topo t, out;
	struct sim_rng r;
	topo_link at[40];
	open_fat_tree(&t);
	test_rng(&r, 0);
	assert_ok(topo_swap(&out, &t, 5, &r, test_err()));
	assert_in_range(differ(&t, &out, at, 40), 3, 10);
	topo_close(&out);
	/* None makes a copy. */
	assert_ok(topo_swap(&out, &t, 0, &r, test_err()));
	assert_int_equal(differ(&t, &out, at, 40), 0);
	topo_close(&out);
	topo_close(&t);
}

static void what_has_none_says_so(void **state)
{
	(void)state;
	const struct topo_clos rack = {.n_pods = 1,
	    .n_tors = 1,
	    .n_t1 = 1,
	    .n_hosts = 3};
	struct topo t, out;
	struct sim_rng r;
	struct sim_err e;
	test_rng(&r, 0);
	assert_ok(topo_open_clos(&t, &rack, test_err()));
	assert_int_equal(topo_swap(&out, &t, 1, &r, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "no two cables of a single rack can be swapped.");
	topo_close(&t);
}

static void a_region_is_refused(void **state)
{
	(void)state;
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 2,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 1};
	struct topo_region_params p;
	struct topo t, out;
	struct sim_rng r;
	struct sim_err e;
	test_rng(&r, 0);
	memset(&out, 0x5a, sizeof(out));
	assert_ok(sim_field_defaults(topo_region_fields, &p, test_err()));
	assert_ok(topo_open_region(&t, &shape, &p, test_err()));
	assert_int_equal(topo_swap(&out, &t, 1, &r, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg, "cables of a region can't be swapped.");
	assert_memory_equal(&out, &(struct topo){0}, sizeof(out));
	topo_close(&t);
}

static int swap_once(void *arg, struct sim_err *e)
{
	struct topo out;
	struct sim_rng r;
	test_rng(&r, 0);
	const int rc = topo_swap(&out, arg, 1, &r, e);
	topo_close(&out);
	return rc;
}

static void no_memory_is_an_error(void **state)
{
	(void)state;
	struct topo t;
	open_clos(&t);
	test_each_alloc_fails(swap_once, &t);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(two_cables_are_swapped),
	    cmocka_unit_test(many_are_swapped),
	    cmocka_unit_test(what_has_none_says_so),
	    cmocka_unit_test(a_region_is_refused),
	    cmocka_unit_test(no_memory_is_an_error),
	};
	return cmocka_run_group_tests_name("topo/swap", tests, NULL, NULL);
}
