/* tests/models/netns/routes_test.c -- prefixes that forward as topo_path().
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/routes.h"

#include "tests/test.h"
#include "topo/addr.h"
#include "topo/mesh.h"

enum { N_SHAPES = 5 };

/* Clos networks, a leaf-spine, one with idle T2s, one switch, two meshes. */
static void open_shape(struct topo *t, unsigned i)
{
	static const struct topo_clos shapes[] = {
	    {.n_pods = 2, .n_tors = 3, .n_t1 = 2, .n_t2 = 2, .n_hosts = 5},
	    {.n_pods = 3, .n_tors = 1, .n_t1 = 3, .n_t2 = 4, .n_hosts = 1},
	    {.n_pods = 1, .n_tors = 4, .n_t1 = 3, .n_t2 = 2, .n_hosts = 9},
	    {.n_pods = 1, .n_tors = 1, .n_t1 = 0, .n_t2 = 0, .n_hosts = 4},
	};
	struct topo_mesh *m = NULL;
	if (i < N_SHAPES - 1) {
		assert_ok(topo_open_clos(t, &shapes[i], test_err()));
		return;
	}
	assert_ok(topo_mesh_fat_tree(&m, 4, 3, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

static int covers(const struct netns_route *r, uint32_t addr)
{
	return r->len == 0 || ((addr ^ r->addr) >> (32 - r->len)) == 0;
}

/* The route of an address; there is at most one, since none may overlap. */
static const struct netns_route *find(const struct netns_table *table,
    uint32_t addr)
{
	const struct netns_route *found = NULL;
	for (size_t i = 0; i < table->n; i++) {
		if (!covers(&table->route[i], addr))
			continue;
		assert_null(found);
		found = &table->route[i];
	}
	return found;
}

static int has_hop(const struct netns_table *table, const struct netns_route *r,
    topo_link l)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (table->via[r->first + i] == l)
			return 1;
	return 0;
}

/* taken[l] = whether one of FLOWS flows to DST crosses link L behind the first
 * switch of a host far from it. */
static void take_paths(const struct topo *t, topo_host dst, unsigned seed,
    uint8_t taken[])
{
	enum { FLOWS = 400 };
	const topo_host src = (dst + t->n_hosts / 2 + 1) % t->n_hosts;
	topo_link path[TOPO_MAX_HOPS];
	memset(taken, 0, t->n_links);
	for (uint32_t f = 0; src != dst && f < FLOWS; f++) {
		const uint32_t digest = topo_mix32(f);
		unsigned n = topo_path(t, seed, src, dst, digest, path);
		for (unsigned i = 1; i < n; i++)
			taken[path[i]] = 1;
	}
}

/* Every link taken is a next hop to DST where it leaves, and every other next
 * hop there is taken, too. */
static void compare(const struct topo *t, topo_host dst, const uint8_t taken[],
    const struct netns_table table[])
{
	for (topo_link l = 0; l < t->n_links; l++) {
		topo_node from, to;
		topo_link_ends(t, l, &from, &to);
		if (!taken[l])
			continue;
		const struct netns_table *at = &table[from - t->n_hosts];
		const struct netns_route *way =
		    find(at, topo_addr_of_host(dst));
		assert_non_null(way);
		assert_true(has_hop(at, way, l));
		for (uint32_t i = 0; i < way->n; i++)
			assert_true(taken[at->via[way->first + i]]);
	}
}

/* A false alarm is a next hop that 400 flows all miss: with a share of 1 in 12
 * or more, below 1e-11 for all of them. */
static void next_hops_are_those_that_flows_take(void **state)
{
	(void)state;
	for (unsigned shape = 0; shape < N_SHAPES; shape++) {
		struct topo t = {0};
		struct netns_routes r;
		open_shape(&t, shape);
		struct netns_table *table =
		    calloc(t.n_switches, sizeof(*table));
		uint8_t *taken = calloc(t.n_links, 1);
		assert_ok(netns_routes_open(&r, &t, test_err()));
		for (topo_switch s = 0; s < t.n_switches; s++)
			assert_ok(
			    netns_routes_of(&r, s, &table[s], test_err()));
		for (topo_host dst = 0; dst < t.n_hosts; dst++) {
			take_paths(&t, dst, shape, taken);
			compare(&t, dst, taken, table);
		}
		for (topo_switch s = 0; s < t.n_switches; s++)
			netns_table_free(&table[s]);
		free(table);
		free(taken);
		netns_routes_close(&r);
		topo_close(&t);
	}
}

/* Follow any choice of next hops from a switch: it ends at the address. */
static void every_choice_of_next_hops_arrives(void **state)
{
	(void)state;
	for (unsigned shape = 0; shape < N_SHAPES; shape++) {
		struct topo t = {0};
		struct netns_routes r;
		struct netns_table table = {0};
		struct sim_rng rng;
		open_shape(&t, shape);
		test_rng(&rng, shape);
		assert_ok(netns_routes_open(&r, &t, test_err()));
		for (unsigned i = 0; i < 3000; i++) {
			topo_node dst =
			    sim_rng_below(&rng, t.n_hosts + t.n_switches);
			topo_node at =
			    t.n_hosts + sim_rng_below(&rng, t.n_switches);
			uint32_t addr = dst < t.n_hosts
			    ? topo_addr_of_host(dst)
			    : topo_addr_of_switch(dst - t.n_hosts);
			unsigned hops = 0;
			while (at != dst) {
				topo_node from;
				assert_ok(netns_routes_of(&r, at - t.n_hosts,
				    &table, test_err()));
				const struct netns_route *way =
				    find(&table, addr);
				assert_non_null(way);
				topo_link l = table.via[way->first +
				    sim_rng_below(&rng, way->n)];
				topo_link_ends(&t, l, &from, &at);
				assert_true(++hops <= 8);
			}
		}
		netns_table_free(&table);
		netns_routes_close(&r);
		topo_close(&t);
	}
}

/* Each address that there is is covered, and no more addresses are covered than
 * there are, so none of nobody is. */
static void no_route_covers_an_address_of_nobody(void **state)
{
	(void)state;
	for (unsigned shape = 0; shape < N_SHAPES; shape++) {
		struct topo t = {0};
		struct netns_routes r;
		struct netns_table table = {0};
		open_shape(&t, shape);
		assert_ok(netns_routes_open(&r, &t, test_err()));
		for (topo_switch s = 0; s < t.n_switches; s++) {
			uint64_t n = 0;
			assert_ok(netns_routes_of(&r, s, &table, test_err()));
			for (size_t i = 0; i < table.n; i++)
				n += UINT64_C(1) << (32 - table.route[i].len);
			assert_int_equal(n, t.n_hosts + t.n_switches - 1);
			for (topo_host h = 0; h < t.n_hosts; h++)
				assert_non_null(
				    find(&table, topo_addr_of_host(h)));
			assert_null(find(&table, topo_addr_of_switch(s)));
		}
		netns_table_free(&table);
		netns_routes_close(&r);
		topo_close(&t);
	}
}

/* 16 hosts a ToR, from 10.0.0.1 on: a T2 has a range a pod (64 addresses from
 * an odd one: 1+2+4+8+16+32+1), not a route a host. */
static void a_clos_routes_by_pod_and_by_rack(void **state)
{
	static const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 4,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 16};
	struct topo t = {0};
	struct netns_routes r;
	struct netns_table table = {0};
	size_t n = 0;
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	assert_ok(netns_routes_open(&r, &t, test_err()));
	assert_ok(
	    netns_routes_of(&r, topo_clos_t2(&t.clos, 0), &table, test_err()));
	while (table.route[n].addr < TOPO_ADDR_SWITCH_BASE)
		n++;
	assert_int_equal(n, 14);
	for (size_t i = 0; i < n; i++) /* to both T1s of the pod */
		assert_int_equal(table.route[i].n, 2);
	netns_table_free(&table);
	netns_routes_close(&r);
	topo_close(&t);
}

static int fill_all(void *arg, struct sim_err *e)
{
	const struct topo *t = arg;
	struct netns_routes r = {0};
	struct netns_table table = {0};
	int rc = netns_routes_open(&r, t, e);
	for (topo_switch s = 0; rc == 0 && s < t->n_switches; s++)
		rc = netns_routes_of(&r, s, &table, e);
	netns_table_free(&table);
	netns_routes_close(&r);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct topo t = {0};
	(void)state;
	open_shape(&t, 0);
	test_each_alloc_fails(fill_all, &t);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(next_hops_are_those_that_flows_take),
	    cmocka_unit_test(every_choice_of_next_hops_arrives),
	    cmocka_unit_test(no_route_covers_an_address_of_nobody),
	    cmocka_unit_test(a_clos_routes_by_pod_and_by_rack),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("models/netns/routes", tests, NULL,
	    NULL);
}
