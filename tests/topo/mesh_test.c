/* tests/topo/mesh_test.c -- networks as tables: against the Clos, by brute
 * force, and with every input fault and failed allocation.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"
#include "topo/mesh.h"
#include "topo/topo.h"

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
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void open_both(const struct topo_clos *shape, struct topo *clos,
    struct topo *mesh)
{
	struct topo_mesh *m;
	assert_ok(topo_open_clos(clos, shape, test_err()));
	assert_ok(topo_mesh_from_clos(&m, shape, test_err()));
	assert_ok(topo_open_mesh(mesh, m, test_err()));
}

/* --- the Clos as oracle and subject --------------------------------------- */

static void a_clos_as_tables_has_the_same_ids(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo c, m;
		open_both(&shapes[i], &c, &m);
		assert_int_equal(c.n_hosts, m.n_hosts);
		assert_int_equal(c.n_switches, m.n_switches);
		assert_int_equal(c.n_links, m.n_links);
		for (topo_host h = 0; h < c.n_hosts; h++)
			assert_int_equal(topo_tor_of(&c, h),
			    topo_tor_of(&m, h));
		for (topo_link l = 0; l < c.n_links; l++) {
			topo_node a, b, x, y;
			topo_link_ends(&c, l, &a, &b);
			topo_link_ends(&m, l, &x, &y);
			assert_int_equal(a, x);
			assert_int_equal(b, y);
			assert_int_equal(topo_class_of(&c, l),
			    topo_class_of(&m, l));
			assert_int_equal(topo_mesh_link_between(m.mesh, a, b),
			    l);
		}
		topo_close(&c);
		topo_close(&m);
	}
}

static void a_clos_as_tables_takes_the_same_paths(void **state)
{
	(void)state;
	static const struct topo_clos vigil = {.n_pods = 2,
	    .n_tors = 20,
	    .n_t1 = 8,
	    .n_t2 = 10,
	    .n_hosts = 40};
	for (int i = -1; i < N_SHAPES; i++) {
		struct topo c, m;
		struct sim_rng r;
		open_both(i < 0 ? &vigil : &shapes[i], &c, &m);
		test_rng(&r, (uint32_t)(i + 1));
		for (int j = 0; j < 2000; j++) {
			topo_link p[TOPO_MAX_HOPS], q[TOPO_MAX_HOPS];
			topo_host src = sim_rng_below(&r, c.n_hosts);
			topo_host dst = sim_rng_below(&r, c.n_hosts);
			uint32_t seed = sim_rng_u32(&r), d = sim_rng_u32(&r);
			unsigned n = topo_path(&c, seed, src, dst, d, p);
			assert_int_equal(topo_path(&m, seed, src, dst, d, q),
			    n);
			assert_memory_equal(p, q, n * sizeof(p[0]));
		}
		topo_close(&c);
		topo_close(&m);
	}
}

static void a_clos_as_tables_has_the_same_shares_for_all_pairs(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo c, m;
		open_both(&shapes[i], &c, &m);
		topo_link *all = calloc(c.n_links, sizeof(*all));
		double *share = calloc(c.n_links, sizeof(*share));
		assert_true(all && share);
		for (topo_link l = 0; l < c.n_links; l++)
			all[l] = l;
		for (uint32_t g = 0; g <= c.n_links; g++) {
			topo_link given = g < c.n_links ? g : TOPO_NONE;
			assert_ok(topo_share_given(&m, given, all, c.n_links,
			    share, test_err()));
			for (topo_link l = 0; l < c.n_links; l++)
				assert_near(share[l],
				    topo_clos_share(&c.clos, given, l), 1e-12);
		}
		for (uint32_t j = 0; j < c.n_hosts * c.n_hosts; j++)
			for (topo_link l = 0; l < c.n_links; l++)
				assert_near(topo_path_share(&m, j / c.n_hosts,
						j % c.n_hosts, l),
				    topo_path_share(&c, j / c.n_hosts,
					j % c.n_hosts, l),
				    1e-12);
		free(all);
		free(share);
		topo_close(&c);
		topo_close(&m);
	}
}

/* --- any graph, by brute force -------------------------------------------- */

enum { J_HOSTS = 9, J_SWITCHES = 10, J_CABLES = J_HOSTS + 18 };

/* Ten switches joined at random, as a Jellyfish is, with nine hosts unevenly
 * under six of them. Nodes 9..18 are the switches. */
static const struct topo_cable jelly[J_CABLES] = {{0, 9}, {1, 9}, {10, 2},
    {3, 10}, {4, 10}, {5, 12}, {6, 15}, {17, 7}, {8, 18}, {9, 11}, {9, 13},
    {9, 16}, {10, 11}, {12, 10}, {10, 14}, {11, 15}, {12, 13}, {12, 17},
    {13, 14}, {13, 18}, {14, 16}, {14, 15}, {15, 18}, {16, 17}, {16, 18},
    {17, 11}, {18, 17}};

static const struct topo_mesh_input jelly_input = {.n_hosts = J_HOSTS,
    .n_switches = J_SWITCHES,
    .n_cables = J_CABLES,
    .cable = jelly};

static void open_jelly(struct topo *t)
{
	struct topo_mesh *m;
	assert_ok(topo_mesh_open(&m, &jelly_input, test_err()));
	assert_ok(topo_open_mesh(t, m, test_err()));
}

/* Distances by Floyd and Warshall, not by breadth-first search. */
struct oracle {
	const struct topo *t;
	unsigned apart[J_SWITCHES][J_SWITCHES];
	double both[2 * J_CABLES][2 * J_CABLES];
	double flows;
	topo_link path[TOPO_MAX_HOPS];
	topo_host src, dst;
};

static void measure(struct oracle *o)
{
	for (int i = 0; i < J_SWITCHES; i++)
		for (int j = 0; j < J_SWITCHES; j++)
			o->apart[i][j] = i == j ? 0 : 100;
	for (topo_link l = 2 * J_HOSTS; l < 2 * J_CABLES; l++) {
		topo_node a, b;
		topo_link_ends(o->t, l, &a, &b);
		o->apart[a - J_HOSTS][b - J_HOSTS] = 1;
	}
	for (int k = 0; k < J_SWITCHES; k++)
		for (int i = 0; i < J_SWITCHES; i++)
			for (int j = 0; j < J_SWITCHES; j++)
				if (o->apart[i][k] + o->apart[k][j] <
				    o->apart[i][j])
					o->apart[i][j] =
					    o->apart[i][k] + o->apart[k][j];
}

/* Walk every shortest path from AT on, each with its probability. */
static void walk(struct oracle *o, topo_switch at, unsigned n, double weight)
{
	topo_switch end = topo_tor_of(o->t, o->dst);
	topo_link next[2 * J_CABLES];
	unsigned n_next = 0;
	topo_node a, b;
	if (at == end) {
		o->path[n++] = topo_link_of(o->dst, TOPO_DOWN);
		o->flows += weight;
		for (unsigned i = 0; i < n; i++)
			for (unsigned j = 0; j < n; j++)
				o->both[o->path[i]][o->path[j]] += weight;
		return;
	}
	for (topo_link l = 2 * J_HOSTS; l < 2 * J_CABLES; l++) {
		topo_link_ends(o->t, l, &a, &b);
		if (a - J_HOSTS == at &&
		    o->apart[b - J_HOSTS][end] + 1 == o->apart[at][end])
			next[n_next++] = l;
	}
	for (unsigned i = 0; i < n_next; i++) {
		topo_link_ends(o->t, next[i], &a, &b);
		o->path[n] = next[i];
		walk(o, b - J_HOSTS, n + 1, weight / n_next);
	}
}

static void add_pair(struct oracle *o, topo_host src, topo_host dst)
{
	o->src = src;
	o->dst = dst;
	o->path[0] = topo_link_of(src, TOPO_UP);
	walk(o, topo_tor_of(o->t, src), 1, 1);
}

static void shares_equal_a_count_over_all_shortest_paths(void **state)
{
	(void)state;
	struct topo t;
	static struct oracle o;
	topo_link all[2 * J_CABLES];
	double share[2 * J_CABLES];
	open_jelly(&t);
	o = (struct oracle){.t = &t};
	measure(&o);
	for (topo_host s = 0; s < J_HOSTS; s++)
		for (topo_host d = 0; d < J_HOSTS; d++)
			if (topo_tor_of(&t, s) != topo_tor_of(&t, d))
				add_pair(&o, s, d);
	for (topo_link l = 0; l < t.n_links; l++)
		all[l] = l;
	for (uint32_t g = 0; g <= t.n_links; g++) {
		topo_link given = g < t.n_links ? g : TOPO_NONE;
		assert_ok(topo_share_given(&t, given, all, t.n_links, share,
		    test_err()));
		for (topo_link l = 0; l < t.n_links; l++) {
			double of = g < t.n_links ? o.both[g][g] : o.flows;
			double both =
			    g < t.n_links ? o.both[g][l] : o.both[l][l];
			assert_near(share[l], of > 0 ? both / of : 0, 1e-12);
		}
	}
	topo_close(&t);
}

static void path_shares_equal_a_count_over_all_shortest_paths(void **state)
{
	(void)state;
	struct topo t;
	static struct oracle o;
	open_jelly(&t);
	o = (struct oracle){.t = &t};
	measure(&o);
	for (topo_host s = 0; s < J_HOSTS; s++)
		for (topo_host d = 0; d < J_HOSTS; d++) {
			memset(o.both, 0, sizeof(o.both));
			if (s != d)
				add_pair(&o, s, d);
			for (topo_link l = 0; l < t.n_links; l++)
				assert_near(topo_path_share(&t, s, d, l),
				    o.both[l][l], 1e-12);
		}
	topo_close(&t);
}

/* Each link's flows within 6 standard errors of its path share: false alarm
 * below 1e-6 over the 30 or so links that one pair can use. */
static void paths_are_shortest_walks_spread_by_their_path_shares(void **state)
{
	(void)state;
	enum { DRAWS = 20000 };
	struct topo t;
	static struct oracle o;
	struct sim_rng r;
	unsigned count[2 * J_CABLES] = {0};
	open_jelly(&t);
	o.t = &t;
	measure(&o);
	test_rng(&r, 50);
	const topo_host src = 2, dst = 8;
	for (int i = 0; i < DRAWS; i++) {
		topo_link path[TOPO_MAX_HOPS];
		topo_node at = src, from, to;
		unsigned n = topo_path(&t, 3, src, dst, sim_rng_u32(&r), path);
		assert_int_equal(n,
		    2 + o.apart[topo_tor_of(&t, src)][topo_tor_of(&t, dst)]);
		for (unsigned j = 0; j < n; j++) {
			topo_link_ends(&t, path[j], &from, &to);
			assert_int_equal(from, at);
			at = to;
			count[path[j]]++;
		}
		assert_int_equal(at, dst);
	}
	for (topo_link l = 0; l < t.n_links; l++) {
		double p = topo_path_share(&t, src, dst, l);
		assert_near((double)count[l] / DRAWS, p,
		    6 * sqrt(p * (1 - p) / DRAWS));
	}
	topo_close(&t);
}

/* --- builders, classes, names --------------------------------------------- */

static void a_fat_tree_has_the_counts_of_al_fares(void **state)
{
	(void)state;
	for (uint32_t k = 2; k <= 8; k += 2) {
		struct topo_mesh *m;
		assert_ok(topo_mesh_fat_tree(&m, k, 0, test_err()));
		assert_int_equal(topo_mesh_n_hosts(m), k * k * k / 4);
		assert_int_equal(topo_mesh_n_switches(m), 5 * k * k / 4);
		/* As many cables on each of three levels. */
		assert_int_equal(topo_mesh_n_links(m), 2 * 3 * k * k * k / 4);
		topo_mesh_close(m);
	}
}

static void a_core_meets_one_aggregation_switch_of_each_pod(void **state)
{
	(void)state;
	struct topo t;
	struct topo_mesh *m;
	enum { K = 6, HALF = K / 2, TORS = K * HALF, T1S = K * HALF };
	assert_ok(topo_mesh_fat_tree(&m, K, 5, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	assert_int_equal(t.n_hosts, TORS * 5);
	unsigned degree[HALF * HALF] = {0};
	for (topo_link l = 0; l < t.n_links; l++) {
		topo_node from, to;
		if (topo_class_of(&t, l) != TOPO_T1_T2)
			continue;
		topo_link_ends(&t, l, &from, &to);
		uint32_t core = to - t.n_hosts - TORS - T1S;
		uint32_t t1 = from - t.n_hosts - TORS;
		assert_int_equal(core / HALF, t1 % HALF);
		degree[core]++;
	}
	for (int i = 0; i < HALF * HALF; i++)
		assert_int_equal(degree[i], K);
	assert_int_equal(topo_mesh_tier(t.mesh, 0), 0);
	assert_int_equal(topo_mesh_tier(t.mesh, TORS), 1);
	assert_int_equal(topo_mesh_tier(t.mesh, TORS + T1S), 2);
	topo_close(&t);
}

static void impossible_fat_trees_are_refused(void **state)
{
	(void)state;
	static const struct {
		uint32_t k, hosts;
		int rc;
		const char *says; /* first */
	} bad[] = {
	    {0, 0, SIM_EINVAL,
		"A fat-tree of k 0: k must be even and at least 2."},
	    {1, 0, SIM_EINVAL,
		"A fat-tree of k 1: k must be even and at least 2."},
	    {3, 0, SIM_EINVAL,
		"A fat-tree of k 3: k must be even and at least 2."},
	    {58, 0, SIM_ELIMIT,
		"A fat-tree of k 58 has more than the limit of 4096 switches."},
	    {4098, 0, SIM_ELIMIT,
		"A fat-tree of k 4098 has more than the limit of 4096 "
		"switches."},
	    /* 5 k^2 / 4 of it is 5 in 32 bits. */
	    {UINT32_MAX - 1, 0, SIM_ELIMIT,
		"A fat-tree of k 4294967294 has more than the limit of 4096 "
		"switches."},
	    {4, 1 << 22, SIM_ELIMIT, "fat-tree of k 4: "},
	    {4, UINT32_MAX, SIM_ELIMIT, "fat-tree of k 4: "},
	    /* The largest one below the limit, with too many hosts. */
	    {56, UINT32_MAX, SIM_ELIMIT, "fat-tree of k 56: "},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct topo_mesh *m = (struct topo_mesh *)bad;
		struct sim_err e = {0};
		assert_int_equal(topo_mesh_fat_tree(&m, bad[i].k, bad[i].hosts,
				     &e),
		    bad[i].rc);
		assert_null(m);
		assert_memory_equal(e.msg, bad[i].says, strlen(bad[i].says));
	}
}

static void an_impossible_clos_makes_no_tables(void **state)
{
	(void)state;
	const struct topo_clos none = {.n_pods = 0, .n_tors = 1, .n_hosts = 1};
	struct topo_mesh *m = (struct topo_mesh *)&none;
	struct topo_clos same = none;
	struct sim_err e, want;
	const int rc = topo_mesh_from_clos(&m, &none, &e);
	assert_true(rc < 0);
	assert_null(m);
	assert_int_equal(topo_clos_init(&same, &want), rc);
	assert_string_equal(e.msg, want.msg);
}

/* host0 - leaf - spine - sw2 - host1, named in part; cable 2 is given from the
 * higher tier down, cable 3 between equal tiers from the larger id. */
static const struct topo_cable small_cable[] = {{2, 0}, {1, 4}, {3, 2}, {4, 3}};
static const uint32_t small_tier[] = {0, 1, 1};
static const char *const small_name[] = {NULL, "host1", "leaf", "spine", NULL};
static const struct topo_mesh_input small = {.n_hosts = 2,
    .n_switches = 3,
    .n_cables = 4,
    .cable = small_cable,
    .tier = small_tier,
    .name = small_name};

static void up_is_from_the_lower_tier(void **state)
{
	(void)state;
	struct topo_mesh *m;
	topo_node from, to;
	assert_ok(topo_mesh_open(&m, &small, test_err()));
	topo_mesh_link_ends(m, 0, &from, &to);
	assert_true(from == 0 && to == 2);
	topo_mesh_link_ends(m, topo_link_of(2, TOPO_UP), &from, &to);
	assert_true(from == 2 && to == 3);
	topo_mesh_link_ends(m, topo_link_of(3, TOPO_UP), &from, &to);
	assert_true(from == 3 && to == 4);
	assert_int_equal(topo_mesh_class_of(m, 0), TOPO_HOST_TOR);
	assert_int_equal(topo_mesh_class_of(m, 1), TOPO_TOR_HOST);
	assert_int_equal(topo_mesh_class_of(m, 4), TOPO_TOR_T1);
	assert_int_equal(topo_mesh_class_of(m, 5), TOPO_T1_TOR);
	assert_int_equal(topo_mesh_class_of(m, 6), TOPO_FABRIC);
	topo_mesh_close(m);
}

static void names_given_or_by_number_read_back(void **state)
{
	(void)state;
	struct topo t;
	struct topo_mesh *m;
	char name[64];
	topo_link l;
	assert_ok(topo_mesh_open(&m, &small, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	topo_link_name(&t, 4, name);
	assert_string_equal(name, "leaf->spine");
	topo_link_name(&t, 3, name);
	assert_string_equal(name, "sw2->host1");
	for (topo_link i = 0; i < t.n_links; i++) {
		topo_link_name(&t, i, name);
		assert_ok(topo_link_parse(&t, name, &l, test_err()));
		assert_int_equal(l, i);
	}
	assert_int_equal(topo_link_parse(&t, "leaf->sw2", &l, NULL),
	    SIM_EINVAL);
	assert_int_equal(topo_link_parse(&t, "host0->sw2", &l, NULL),
	    SIM_EINVAL);
	assert_int_equal(topo_link_parse(&t, "rack->sw2", &l, NULL),
	    SIM_EINVAL);
	topo_close(&t);
}

/* --- faults --------------------------------------------------------------- */

static void assert_refused(const struct topo_mesh_input *in, int rc,
    const char *part)
{
	struct topo_mesh *m;
	struct sim_err e = {0};
	int got = topo_mesh_open(&m, in, &e);
	if (got != rc || !strstr(e.msg, part) || m)
		fail_msg("wanted \"%s\", got %s: %s", part, sim_err_text(got),
		    e.msg);
}

/* Node ids: hosts 0, 1; switches 2, 3, 4. */
static void networks_that_cannot_be_are_refused(void **state)
{
	(void)state;
	static const struct {
		struct topo_cable cable[6];
		size_t n;
		const char *part;
	} bad[] = {
	    {{{0, 2}, {1, 3}, {2, 3}, {3, 3}}, 4, "to itself"},
	    {{{0, 2}, {1, 3}, {2, 3}, {3, 2}, {3, 4}}, 5,
		"Two cables join switch 0 and switch 1"},
	    {{{0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 3}}, 5,
		"Two cables join switch 1 and switch 2"},
	    {{{0, 2}, {1, 3}, {2, 3}}, 3,
		"no way leads from switch 0 to switch 2"},
	    {{{0, 2}, {1, 3}, {3, 4}}, 3, "not connected"},
	    {{{0, 2}, {1, 3}, {2, 3}, {3, 4}, {1, 4}}, 5,
		"host 1 and switch 2: a host has one cable"},
	    {{{0, 2}, {2, 3}, {3, 4}}, 3, "must join host 1"},
	    {{{0, 1}, {1, 3}, {2, 3}, {3, 4}}, 4, "must join host 0"},
	    {{{0, 2}}, 1, "host 1 has none"},
	    {{{0, 2}, {1, 3}, {2, 3}, {3, 5}}, 4, "node 5"},
	    {{{0, 2}, {1, 3}, {2, 3}, {UINT32_MAX, 3}}, 4, "node 4294967295"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct topo_mesh_input in = {.n_hosts = 2,
		    .n_switches = 3,
		    .n_cables = bad[i].n,
		    .cable = bad[i].cable};
		assert_refused(&in, SIM_EINVAL, bad[i].part);
	}
	struct topo_mesh_input in = small;
	in.n_hosts = 0;
	assert_refused(&in, SIM_EINVAL, "0 hosts");
	in.n_hosts = 1 << 24;
	assert_refused(&in, SIM_ELIMIT, "16777216 hosts");
	in = small;
	in.n_switches = TOPO_MESH_MAX_SWITCHES + 1;
	assert_refused(&in, SIM_ELIMIT, "4097 switches");
	in = small;
	in.n_cables = SIZE_MAX;
	assert_refused(&in, SIM_ELIMIT, "cables");
}

static void names_that_could_be_mistaken_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *name[5], *part;
	} bad[] = {
	    {{"a", "b", "c", "a", NULL}, "Two nodes are called \"a\""},
	    {{"", NULL, NULL, NULL, NULL}, "host 0 () has 0 bytes"},
	    {{NULL, NULL, "a-name-of-thirty-one-characters", NULL, NULL},
		"31 bytes, which is not in [1, 30]"},
	    {{NULL, NULL, "a->b", NULL, NULL}, "switch 0 (a->b)"},
	    {{NULL, "host0", NULL, NULL, NULL}, "host 1 (host0)"},
	    {{NULL, NULL, "sw1", NULL, NULL}, "switch 0 (sw1)"},
	    {{"sw0", NULL, NULL, NULL, NULL}, "host 0 (sw0)"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct topo_mesh_input in = small;
		in.name = bad[i].name;
		assert_refused(&in, SIM_EINVAL, bad[i].part);
	}
}

/* A chain of N switches with a host at either end. */
static int open_chain(uint32_t n, struct topo_mesh **m, struct sim_err *e)
{
	struct topo_cable *cable = calloc(n + 1, sizeof(*cable));
	assert_non_null(cable);
	cable[0] = (struct topo_cable){0, 2};
	cable[1] = (struct topo_cable){1, n + 1};
	for (uint32_t i = 0; i + 1 < n; i++)
		cable[2 + i] = (struct topo_cable){2 + i, 3 + i};
	struct topo_mesh_input in = {.n_hosts = 2,
	    .n_switches = n,
	    .n_cables = n + 1,
	    .cable = cable};
	int rc = topo_mesh_open(m, &in, e);
	free(cable);
	return rc;
}

static void paths_of_up_to_16_links_are_accepted(void **state)
{
	(void)state;
	struct topo_mesh *m;
	struct sim_err e;
	topo_link path[TOPO_MAX_HOPS];
	assert_ok(open_chain(15, &m, test_err()));
	assert_int_equal(topo_mesh_path(m, 1, 0, 1, 2, path), TOPO_MAX_HOPS);
	assert_near(topo_mesh_path_share(m, 0, 1, 31), 0, 0);
	assert_near(topo_mesh_path_share(m, 0, 1, 30), 1, 0);
	topo_mesh_close(m);
	assert_int_equal(open_chain(16, &m, &e), SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "longer than 14 switch cables"));
	assert_int_equal(open_chain(4000, &m, &e), SIM_ELIMIT);
}

/* Behind the only ToR the way may be as long as it likes: no flow goes there,
 * and hop counts beyond one byte do no harm. */
static void a_long_tail_without_hosts_is_accepted(void **state)
{
	(void)state;
	enum { N = 600 };
	struct topo_cable cable[1 + N - 1] = {{0, 1}};
	for (uint32_t i = 1; i < N; i++)
		cable[i] = (struct topo_cable){i, i + 1};
	struct topo_mesh_input in = {.n_hosts = 1,
	    .n_switches = N,
	    .n_cables = N,
	    .cable = cable};
	struct topo_mesh *m;
	topo_link far = 2 * (N - 1);
	double share = 7;
	assert_ok(topo_mesh_open(&m, &in, test_err()));
	assert_ok(topo_mesh_share_given(m, far, &far, 1, &share, test_err()));
	assert_near(share, 0, 0);
	assert_ok(
	    topo_mesh_share_given(m, far + 1, &far, 1, &share, test_err()));
	assert_near(share, 0, 0);
	topo_mesh_close(m);
}

static int open_and_close(void *arg, struct sim_err *e)
{
	struct topo_mesh *m;
	int rc = topo_mesh_open(&m, arg, e);
	assert_true(rc < 0 ? m == NULL : m != NULL);
	topo_mesh_close(m);
	return rc;
}

static int build_fat_tree(void *arg, struct sim_err *e)
{
	(void)arg;
	struct topo_mesh *m;
	int rc = topo_mesh_fat_tree(&m, 4, 0, e);
	topo_mesh_close(m);
	return rc;
}

static int share_of_all(void *arg, struct sim_err *e)
{
	struct topo *t = arg;
	const topo_link l = 20;
	double share;
	return topo_share_given(t, TOPO_NONE, &l, 1, &share, e);
}

static void every_failed_allocation_is_an_error(void **state)
{
	(void)state;
	struct topo t;
	struct topo_mesh_input in = small;
	test_each_alloc_fails(open_and_close, &in);
	test_each_alloc_fails(build_fat_tree, NULL);
	open_jelly(&t);
	test_each_alloc_fails(share_of_all, &t);
	topo_close(&t);
	topo_mesh_close(NULL);
	assert_int_equal(topo_open_mesh(&t, NULL, NULL), SIM_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_clos_as_tables_has_the_same_ids),
	    cmocka_unit_test(a_clos_as_tables_takes_the_same_paths),
	    cmocka_unit_test(
		a_clos_as_tables_has_the_same_shares_for_all_pairs),
	    cmocka_unit_test(shares_equal_a_count_over_all_shortest_paths),
	    cmocka_unit_test(path_shares_equal_a_count_over_all_shortest_paths),
	    cmocka_unit_test(
		paths_are_shortest_walks_spread_by_their_path_shares),
	    cmocka_unit_test(a_fat_tree_has_the_counts_of_al_fares),
	    cmocka_unit_test(a_core_meets_one_aggregation_switch_of_each_pod),
	    cmocka_unit_test(impossible_fat_trees_are_refused),
	    cmocka_unit_test(an_impossible_clos_makes_no_tables),
	    cmocka_unit_test(up_is_from_the_lower_tier),
	    cmocka_unit_test(names_given_or_by_number_read_back),
	    cmocka_unit_test(networks_that_cannot_be_are_refused),
	    cmocka_unit_test(names_that_could_be_mistaken_are_refused),
	    cmocka_unit_test(paths_of_up_to_16_links_are_accepted),
	    cmocka_unit_test(a_long_tail_without_hosts_is_accepted),
	    cmocka_unit_test(every_failed_allocation_is_an_error),
	};
	return cmocka_run_group_tests_name("topo/mesh", tests, NULL, NULL);
}
