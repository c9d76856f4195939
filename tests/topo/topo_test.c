/* tests/topo/topo_test.c -- names of nodes, read back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No law is tested here, only equality.
 */
#include "topo/topo.h"

#include "sim/rng.h"
#include "tests/test.h"
#include "topo/mesh.h"
#include "topo/region.h"

static const struct topo_clos shapes[] = {
    {2, 3, 2, 2, 2, .n_cables = 0},
    {12, 11, 13, 12, 2, .n_cables = 0}, /* numbers of three digits */
    {1, 4, 3, 0, 1, .n_cables = 0},     /* no T2s */
    {1, 1, 0, 0, 5, .n_cables = 0},     /* one ToR */
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void open_region(struct topo *t, const struct topo_clos *shape)
{
	const struct topo_region_params p = {.n_dcs = 3,
	    .n_borders = 2,
	    .detour = 1};
	assert_ok(topo_open_region(t, shape, &p, test_err()));
}

/* A ring of four switches with a host each, some of which have names. */
static void open_ring(struct topo *t)
{
	static const struct topo_cable cable[] = {{0, 4}, {1, 5}, {2, 6},
	    {3, 7}, {4, 5}, {5, 6}, {6, 7}, {7, 4}};
	static const char *const name[] = {"host0", "amber", NULL, "dc1.tor0",
	    "tor1", NULL, "sw2", "t1.0"};
	const struct topo_mesh_input in = {.n_hosts = 4,
	    .n_switches = 4,
	    .n_cables = 8,
	    .cable = cable,
	    .name = name};
	struct topo_mesh *m;
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

/* The oracle: names are made one after another until one is this. A mesh knows
 * its nodes by their numbers too. */
static topo_node search(const struct topo *t, const char *name)
{
	char buf[64];
	for (topo_node i = 0; i < t->n_hosts + t->n_switches; i++) {
		topo_node_name(t, i, buf);
		if (strcmp(buf, name) == 0)
			return i;
	}
	for (topo_node i = 0; t->mesh && i < t->n_hosts + t->n_switches; i++) {
		const int is_host = i < t->n_hosts;
		snprintf(buf, sizeof(buf), "%s%u", is_host ? "host" : "sw",
		    is_host ? i : i - t->n_hosts);
		if (strcmp(buf, name) == 0)
			return i;
	}
	return TOPO_NONE;
}

static topo_node parse(const struct topo *t, const char *name)
{
	struct sim_err e = {0};
	topo_node n = TOPO_NONE;
	const int rc = topo_node_parse(t, name, &n, &e);
	assert_true(rc == (n == TOPO_NONE ? SIM_EINVAL : 0));
	assert_true(rc == 0 || strstr(e.msg, "no node is called \""));
	return n;
}

/* One byte of a name is another, or missing, or there twice. */
static void spoil(char name[80], struct sim_rng *r)
{
	static const char bytes[] = "0123456789.dcbhostrwe1 -";
	const size_t n = strlen(name), i = sim_rng_below(r, (uint32_t)n);
	switch (sim_rng_below(r, 3)) {
	case 0:
		name[i] = bytes[sim_rng_below(r, sizeof(bytes) - 1)];
		break;
	case 1:
		memmove(name + i, name + i + 1, n - i);
		break;
	default:
		memmove(name + i + 1, name + i, n - i + 1);
	}
}

static void check_names(struct topo *t, uint32_t run)
{
	struct sim_rng r;
	test_rng(&r, run);
	const uint32_t n = t->n_hosts + t->n_switches;
	for (topo_node i = 0; i < n; i++) {
		char name[80];
		topo_node_name(t, i, name);
		assert_int_equal(parse(t, name), i);
	}
	for (unsigned k = 0; k < 1000; k++) {
		char name[80];
		topo_node_name(t, sim_rng_below(&r, n), name);
		spoil(name, &r);
		if (k % 2 && name[0])
			spoil(name, &r);
		if (parse(t, name) != search(t, name))
			fail_msg("seed %llu, run %u: \"%s\"",
			    (unsigned long long)test_seed(), run, name);
	}
	topo_close(t);
}

static void names_are_read_as_by_a_search_of_all(void **state)
{
	struct topo_mesh *m;
	struct topo t;
	(void)state;
	for (uint32_t i = 0; i < N_SHAPES; i++) {
		assert_ok(topo_open_clos(&t, &shapes[i], test_err()));
		check_names(&t, 2 * i);
		open_region(&t, &shapes[i]);
		check_names(&t, 2 * i + 1);
	}
	open_ring(&t);
	check_names(&t, 100);
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	check_names(&t, 101);
}

/* Names that other networks have, that none has, and such with a number that is
 * one too large. */
static void what_is_no_name_is_told(void **state)
{
	static const char *const bad[] = {"", "tor", "tor-1", "tor01", "tor6",
	    "host12", "t1.4", "t2.2", "t3.0", "t1", "sw0", "dc0.tor0", "Tor0",
	    "tor0 ", " tor0", "border0", "tor4294967295", "tor4294967296",
	    "tor99999999999999999999999"};
	static const char *const no_region[] = {"tor0", "dc.tor0", "dc3.tor0",
	    "dc0", "dc0.", "dc00.tor0", "dc0.tor6", "dc0.host0", "dc1.border2",
	    "dc0.dc0.tor0", "dc0.sw0", "d", "dc", "sw42"};
	struct sim_err e;
	struct topo t;
	topo_node n = 7;
	(void)state;
	assert_ok(topo_open_clos(&t, &shapes[0], test_err()));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(&t, bad[i]) != TOPO_NONE)
			fail_msg("a Clos has \"%s\"", bad[i]);
	assert_int_equal(topo_node_parse(&t, "to\nr0", &n, &e), SIM_EINVAL);
	assert_null(strchr(e.msg, '\n'));
	assert_int_equal(n, 7);
	topo_close(&t);
	open_region(&t, &shapes[0]);
	for (size_t i = 0; i < sizeof(no_region) / sizeof(no_region[0]); i++)
		if (parse(&t, no_region[i]) != TOPO_NONE)
			fail_msg("a region has \"%s\"", no_region[i]);
	topo_close(&t);
}

/* Links that are none, and what there is instead. */
static void what_is_no_link_is_told(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *says;
	} bad[] = {
	    {"64", SIM_ERANGE, "Link 64 is not in [0, 63]."},
	    {"99999999999999999999", SIM_ERANGE,
		"Link 99999999999999999999 is not in [0, 63]."},
	    {"tor0", SIM_EINVAL,
		"\"tor0\" is not a link: write an id in [0, 63] or two node "
		"names as FROM->TO."},
	    {"", SIM_EINVAL,
		"\"\" is not a link: write an id in [0, 63] or two node "
		"names as FROM->TO."},
	    {"tor0->t1.2", SIM_EINVAL,
		"Link \"tor0->t1.2\": no cable joins the two nodes."},
	};
	struct sim_err e;
	struct topo t;
	topo_link l = 7;
	(void)state;
	assert_ok(topo_open_clos(&t, &shapes[0], test_err()));
	assert_int_equal(t.n_links, 64);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(topo_link_parse(&t, bad[i].text, &l, &e),
		    bad[i].rc);
		assert_string_equal(e.msg, bad[i].says);
		assert_int_equal(l, 7);
	}
	assert_ok(topo_link_parse(&t, "63", &l, test_err()));
	assert_int_equal(l, 63);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_read_as_by_a_search_of_all),
	    cmocka_unit_test(what_is_no_name_is_told),
	    cmocka_unit_test(what_is_no_link_is_told),
	};
	return cmocka_run_group_tests_name("topo/topo", tests, NULL, NULL);
}
