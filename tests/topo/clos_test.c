/* tests/topo/clos_test.c -- ids, ends, classes, shares and names of a Clos.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"
#include "topo/addr.h"
#include "topo/alike.h"
#include "topo/topo.h"

/* n_pods, n_tors, n_t1, n_t2, n_hosts: ordinary ones, then degenerate ones. */
static const struct topo_clos shapes[] = {
    {.n_pods = 2, .n_tors = 3, .n_t1 = 2, .n_t2 = 3, .n_hosts = 2},
    {.n_pods = 3, .n_tors = 2, .n_t1 = 3, .n_t2 = 2, .n_hosts = 2},
    {.n_pods = 4, .n_tors = 1, .n_t1 = 2, .n_t2 = 3, .n_hosts = 1},
    {.n_pods = 1, .n_tors = 4, .n_t1 = 3, .n_t2 = 0, .n_hosts = 2},
    {.n_pods = 1, .n_tors = 3, .n_t1 = 2, .n_t2 = 2, .n_hosts = 2},
    {.n_pods = 1, .n_tors = 1, .n_t1 = 2, .n_t2 = 2, .n_hosts = 3},
    {.n_pods = 1, .n_tors = 1, .n_t1 = 0, .n_t2 = 0, .n_hosts = 3},
    {.n_pods = 1, .n_tors = 1, .n_t1 = 1, .n_t2 = 1, .n_hosts = 1},
    {.n_pods = 2, .n_tors = 1, .n_t1 = 1, .n_t2 = 1, .n_hosts = 1},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* 007's simulation, read from the field table as a spec would. */
static struct topo_clos default_shape(void)
{
	struct topo_clos c = {0};
	for (const struct sim_field *f = topo_clos_fields; f->name; f++) {
		assert_int_equal(f->type, SIM_F_U32);
		uint32_t x = (uint32_t)strtoul(f->def, NULL, 10);
		assert_true(x >= f->min && x <= f->max);
		memcpy((char *)&c + f->offset, &x, sizeof(x));
	}
	return c;
}

static void the_default_shape_is_the_one_of_007_with_4160_links(void **state)
{
	(void)state;
	struct topo t;
	struct topo_clos shape = default_shape();
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	assert_int_equal(t.n_links, 4160);
	assert_int_equal(t.n_hosts, 1600);
	assert_int_equal(t.n_switches, 40 + 16 + 10);
	static const uint32_t want[TOPO_N_LINK_CLASSES] = {1600, 320, 160, 160,
	    320, 1600, 0};
	for (int class = 0; class < TOPO_N_LINK_CLASSES; class ++)
		assert_int_equal(topo_clos_class_size(&t.clos, class),
		    want[class]);
	topo_close(&t);
}

/* Tier of a node: host 0, ToR 1, T1 2, T2 3. */
static int tier(const struct topo *t, topo_node n)
{
	const struct topo_clos *c = &t->clos;
	topo_node tor = t->n_hosts, t1 = tor + c->all_tors;
	return (n >= tor) + (n >= t1) + (n >= t1 + c->all_t1);
}

static void every_pair_of_nodes_has_at_most_one_link_each_way(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo t;
		assert_ok(topo_open_clos(&t, &shapes[i], test_err()));
		uint32_t n = t.n_hosts + t.n_switches;
		uint8_t *seen = calloc(n, n);
		assert_non_null(seen);
		for (topo_link l = 0; l < t.n_links; l++) {
			topo_node from, to, back_from, back_to;
			topo_link_ends(&t, l, &from, &to);
			assert_true(from < n && to < n);
			assert_int_equal(seen[from * n + to]++, 0);
			assert_int_equal(abs(tier(&t, from) - tier(&t, to)), 1);
			assert_int_equal(tier(&t, from) < tier(&t, to),
			    (l & 1) == TOPO_UP);
			topo_link_ends(&t, topo_link_reverse(l), &back_from,
			    &back_to);
			assert_int_equal(back_from, to);
			assert_int_equal(back_to, from);
		}
		free(seen);
		topo_close(&t);
	}
}

static void classes_part_the_links_in_the_order_of_ids(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo t;
		assert_ok(topo_open_clos(&t, &shapes[i], test_err()));
		uint32_t sum = 0;
		for (int class = 0; class < TOPO_N_LINK_CLASSES; class ++) {
			uint32_t n = topo_clos_class_size(&t.clos, class);
			topo_link last = 0;
			for (uint32_t j = 0; j < n; j++) {
				topo_link l =
				    topo_clos_class_at(&t.clos, class, j);
				assert_true(l < t.n_links);
				assert_true(j == 0 || l > last);
				assert_int_equal(topo_class_of(&t, l), class);
				last = l;
			}
			sum += n;
		}
		assert_int_equal(sum, t.n_links);
		topo_close(&t);
	}
}

static void a_link_found_by_place_says_its_place(void **state)
{
	(void)state;
	struct topo_clos c = default_shape();
	assert_ok(topo_clos_init(&c, test_err()));
	struct topo_clos_place at =
	    topo_clos_place(&c, topo_clos_link_tor(&c, 27, 5, TOPO_DOWN));
	assert_int_equal(at.class, TOPO_T1_TOR);
	assert_int_equal(at.pod, 1);
	assert_int_equal(at.low, 27);
	assert_int_equal(at.high, 8 + 5);
	at = topo_clos_place(&c, topo_clos_link_t1(&c, 13, 9, TOPO_UP));
	assert_int_equal(at.class, TOPO_T1_T2);
	assert_int_equal(at.pod, 1);
	assert_int_equal(at.low, 13);
	assert_int_equal(at.high, 9);
	at = topo_clos_place(&c, topo_clos_link_host(1599, TOPO_UP));
	assert_int_equal(at.class, TOPO_HOST_TOR);
	assert_int_equal(at.pod, 1);
	assert_int_equal(at.low, 1599);
	assert_int_equal(at.high, 39);
}

static void impossible_shapes_are_refused_with_the_reason(void **state)
{
	(void)state;
	static const char no_t1[] =
	    "n_t1 0 leaves the ToRs unconnected: it must be at least 1 unless "
	    "there is one ToR in all.";
	static const struct {
		struct topo_clos shape;
		int rc;
		const char *part;
	} bad[] = {
	    {{.n_tors = 1, .n_t1 = 1, .n_hosts = 1}, SIM_EINVAL,
		"n_pods 0, n_tors 1 and n_hosts 1 must each be at least 1."},
	    {{.n_pods = 1, .n_t1 = 1, .n_hosts = 1}, SIM_EINVAL,
		"n_pods 1, n_tors 0 and n_hosts 1 must each be at least 1."},
	    {{.n_pods = 1, .n_tors = 2, .n_t1 = 1}, SIM_EINVAL,
		"n_pods 1, n_tors 2 and n_hosts 0 must each be at least 1."},
	    {{.n_pods = 1, .n_tors = 2, .n_hosts = 1}, SIM_EINVAL, no_t1},
	    {{.n_pods = 2, .n_tors = 1, .n_hosts = 1}, SIM_EINVAL, no_t1},
	    {{.n_pods = 2, .n_tors = 1, .n_hosts = 1, .n_t2 = 1}, SIM_EINVAL,
		no_t1},
	    {{.n_pods = 2, .n_tors = 1, .n_t1 = 1, .n_hosts = 1}, SIM_EINVAL,
		"n_t2 0 leaves the 2 pods unconnected: it must be at least 1 "
		"unless there is one pod."},
	    {{.n_pods = 1, .n_tors = 1, .n_t2 = 3, .n_hosts = 1}, SIM_EINVAL,
		"n_t2 3 with n_t1 0 leaves the tier-2 switches "},
	    {{1024, 1024, 1, 1, 1024, 0, 0, 0, 0, 0, 0}, SIM_ELIMIT,
		"16777214 hosts"},
	    {{1, 1, 1, 1, 16777215, 0, 0, 0, 0, 0, 0}, SIM_ELIMIT,
		"16777214 hosts"},
	    {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 0,
		 0, 0, 0, 0},
		SIM_ELIMIT, "16777214 hosts"},
	    {{1, 1, 1 << 20, 1 << 20, 1, 0, 0, 0, 0, 0, 0}, SIM_ELIMIT,
		"1048576 switches"},
	    {{1, 1, UINT32_MAX, UINT32_MAX, 1, 0, 0, 0, 0, 0, 0}, SIM_ELIMIT,
		"1048576 switches"},
	    {{1, 1, 1 << 19, 1 << 18, 1, 0, 0, 0, 0, 0, 0}, SIM_ELIMIT,
		"137438953472 T1-T2"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_err e = {0};
		struct topo t;
		assert_int_equal(topo_open_clos(&t, &bad[i].shape, &e),
		    bad[i].rc);
		if (!strstr(e.msg, bad[i].part))
			fail_msg("case %zu says: %s", i, e.msg);
		assert_int_equal(topo_open_clos(&t, &bad[i].shape, NULL),
		    bad[i].rc);
		topo_close(&t);
	}
}

static void the_largest_shapes_stay_within_32_bits(void **state)
{
	(void)state;
	struct topo t;
	struct topo_clos wide = {.n_pods = 1,
	    .n_tors = 1,
	    .n_t1 = 1,
	    .n_hosts = TOPO_ADDR_MAX_HOSTS};
	assert_ok(topo_open_clos(&t, &wide, test_err()));
	assert_int_equal(t.n_links, 2 * (TOPO_ADDR_MAX_HOSTS + 1));
	/* 2^19 ToRs x 2^11 T1s less the host cables is just short of 2^30. */
	struct topo_clos dense = {.n_pods = 1,
	    .n_tors = (1 << 19) - 256,
	    .n_t1 = 1 << 11,
	    .n_hosts = 1};
	assert_ok(topo_open_clos(&t, &dense, test_err()));
	topo_node from, to;
	topo_link_ends(&t, t.n_links - 1, &from, &to);
	assert_int_equal(from, t.n_hosts + t.n_switches - 1);
	assert_int_equal(to, t.n_hosts + dense.n_tors - 1);
}

/* At each limit, and one beyond: 1 + 1048574 + 1 switches; 2^19 x (1 + 2047)
 * cables, and 80581 x (1 + 13324), which is 2^30 + 1. */
static void a_shape_may_have_as_much_as_a_limit_and_no_more(void **state)
{
	(void)state;
	static const struct {
		struct topo_clos shape;
		const char *refused;
	} at[] = {
	    {{.n_pods = 1,
		 .n_tors = 1,
		 .n_t1 = (1 << 20) - 2,
		 .n_t2 = 1,
		 .n_hosts = 1},
		NULL},
	    {{.n_pods = 1,
		 .n_tors = 1,
		 .n_t1 = (1 << 20) - 2,
		 .n_t2 = 2,
		 .n_hosts = 1},
		"1 ToRs, 1048574 T1s and 2 T2s are more than the limit of "
		"1048576 switches."},
	    {{.n_pods = 1, .n_tors = 1 << 19, .n_t1 = 2047, .n_hosts = 1},
		NULL},
	    {{.n_pods = 1, .n_tors = 80581, .n_t1 = 13324, .n_hosts = 1},
		"80581 host, 1073661244 ToR-T1 and 0 T1-T2 cables are more "
		"than the limit of 1073741824 (two directed links each)."},
	};
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct sim_err e = {0};
		struct topo_clos c = at[i].shape;
		const int rc = topo_clos_init(&c, &e);
		assert_int_equal(rc, at[i].refused ? SIM_ELIMIT : 0);
		assert_string_equal(e.msg, at[i].refused ? at[i].refused : "");
	}
}

static void a_million_hosts_cost_no_memory(void **state)
{
	(void)state;
	struct topo t;
	topo_link path[TOPO_MAX_HOPS];
	struct topo_clos shape = {.n_pods = 512,
	    .n_tors = 50,
	    .n_t1 = 16,
	    .n_t2 = 64,
	    .n_hosts = 40};
	test_fail_alloc(1);
	assert_int_equal(topo_open_clos(&t, &shape, NULL), 0);
	assert_int_equal(t.n_hosts, 1024000);
	assert_int_equal(topo_path(&t, 1, 0, t.n_hosts - 1, 2, path), 6);
	assert_true(topo_path_share(&t, 0, t.n_hosts - 1, path[2]) > 0);
	assert_true(topo_clos_share(&t.clos, path[2], path[3]) > 0);
	topo_close(&t);
	assert_int_equal(test_fail_alloc(0), 0);
}

/* --- shares --------------------------------------------------------------- */

static double sum_of_class(const struct topo_clos *c, topo_link given,
    enum topo_link_class class)
{
	double sum = 0;
	for (uint32_t i = 0; i < topo_clos_class_size(c, class); i++)
		sum +=
		    topo_clos_share(c, given, topo_clos_class_at(c, class, i));
	return sum;
}

/* Every flow between ToRs has one link of each of four classes; those between
 * pods, whose share is n_tors (n_pods - 1) / (n_tors n_pods - 1), one of each
 * of the other two. */
static void shares_of_a_class_add_up_to_the_flows_that_cross_it(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo_clos c = shapes[i];
		assert_ok(topo_clos_init(&c, test_err()));
		double flows = c.all_tors > 1;
		double inter = flows == 0
		    ? 0
		    : (double)c.n_tors * (c.n_pods - 1) / (c.all_tors - 1);
		static const enum topo_link_class all[] = {TOPO_HOST_TOR,
		    TOPO_TOR_T1, TOPO_T1_TOR, TOPO_TOR_HOST};
		for (int j = 0; j < 4; j++)
			assert_near(sum_of_class(&c, TOPO_NONE, all[j]), flows,
			    1e-12);
		assert_near(sum_of_class(&c, TOPO_NONE, TOPO_T1_T2), inter,
		    1e-12);
		assert_near(sum_of_class(&c, TOPO_NONE, TOPO_T2_T1), inter,
		    1e-12);
		for (topo_link g = 0; g < 2 * c.n_cables; g++) {
			double used = topo_clos_share(&c, TOPO_NONE, g) > 0;
			assert_near(topo_clos_share(&c, g, g), used, 0);
			for (int j = 0; j < 4; j++)
				assert_near(sum_of_class(&c, g, all[j]), used,
				    1e-12);
		}
	}
}

/* The event probabilities in the proof of lemma 2 (007, appendix C), which are
 * of two links at once; flows between hosts, hence no host terms. */
static void shares_are_the_event_probabilities_of_007(void **state)
{
	(void)state;
	struct topo_clos c = {.n_pods = 4,
	    .n_tors = 5,
	    .n_t1 = 3,
	    .n_t2 = 7,
	    .n_hosts = 6};
	assert_ok(topo_clos_init(&c, test_err()));
	double n0 = 5, n1 = 3, n2 = 7, pods = 4, m = n0 * pods - 1;
	topo_link up = topo_clos_link_tor(&c, 2, 1, TOPO_UP);
	assert_near(topo_clos_share(&c, TOPO_NONE, up), 1 / (n0 * n1 * pods),
	    1e-15);
	assert_near(topo_clos_share(&c, up,
			topo_clos_link_tor(&c, 4, 1, TOPO_DOWN)),
	    1 / m, 1e-15);
	assert_near(topo_clos_share(&c, up,
			topo_clos_link_tor(&c, 4, 0, TOPO_DOWN)),
	    0, 0);
	assert_near(topo_clos_share(&c, up,
			topo_clos_link_tor(&c, 2, 1, TOPO_DOWN)),
	    0, 0);
	assert_near(topo_clos_share(&c, up, topo_clos_link_t1(&c, 1, 6, 0)),
	    n0 * (pods - 1) / (m * n2), 1e-15);
	assert_near(topo_clos_share(&c, up, topo_clos_link_t1(&c, 2, 6, 0)), 0,
	    0);
	assert_near(topo_clos_share(&c, up, topo_clos_link_t1(&c, 5, 6, 1)),
	    n0 / (m * n1 * n2), 1e-15);
	assert_near(topo_clos_share(&c, up,
			topo_clos_link_tor(&c, 9, 2, TOPO_DOWN)),
	    1 / (m * n1), 1e-15);
	topo_link t1_t2 = topo_clos_link_t1(&c, 1, 6, TOPO_UP);
	assert_near(topo_clos_share(&c, TOPO_NONE, t1_t2),
	    n0 * (pods - 1) / (m * n1 * n2 * pods), 1e-15);
	assert_near(topo_clos_share(&c, t1_t2, up), 1 / n0, 1e-15);
	assert_near(topo_clos_share(&c, t1_t2, topo_clos_link_t1(&c, 5, 6, 1)),
	    1 / (n1 * (pods - 1)), 1e-15);
	assert_near(topo_clos_share(&c, t1_t2,
			topo_clos_link_tor(&c, 9, 2, TOPO_DOWN)),
	    1 / (n0 * n1 * (pods - 1)), 1e-15);
}

/* Flows that cross both of two links, by going through every choice. */
struct count {
	uint32_t n_links;
	double *both; /* [n_links][n_links] */
	double flows;
};

static void add_path(struct count *k, const topo_link path[], int n,
    double weight)
{
	k->flows += weight;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			k->both[path[i] * k->n_links + path[j]] += weight;
}

static void add_pair(struct count *k, const struct topo_clos *c, topo_host src,
    topo_host dst)
{
	uint32_t a = src / c->n_hosts, b = dst / c->n_hosts;
	uint32_t p = a / c->n_tors, q = b / c->n_tors;
	topo_link path[6] = {2 * src};
	for (uint32_t i = 0; i < c->n_t1; i++) {
		path[1] = topo_clos_link_tor(c, a, i, TOPO_UP);
		if (p == q) {
			path[2] = topo_clos_link_tor(c, b, i, TOPO_DOWN);
			path[3] = 2 * dst + 1;
			add_path(k, path, 4, 1.0 / c->n_t1);
			continue;
		}
		for (uint32_t j = 0; j < c->n_t2 * c->n_t1; j++) {
			uint32_t t2 = j / c->n_t1, t1 = j % c->n_t1;
			path[2] = topo_clos_link_t1(c, p * c->n_t1 + i, t2, 0);
			path[3] = topo_clos_link_t1(c, q * c->n_t1 + t1, t2, 1);
			path[4] = topo_clos_link_tor(c, b, t1, TOPO_DOWN);
			path[5] = 2 * dst + 1;
			add_path(k, path, 6, 1.0 / c->n_t1 / c->n_t2 / c->n_t1);
		}
	}
}

static void shares_equal_a_count_over_all_pairs_and_choices(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo_clos c = shapes[i];
		assert_ok(topo_clos_init(&c, test_err()));
		uint32_t n = 2 * c.n_cables;
		struct count k = {n, calloc((size_t)n * n, sizeof(double)), 0};
		assert_non_null(k.both);
		for (topo_host s = 0; s < c.all_hosts; s++)
			for (topo_host d = 0; d < c.all_hosts; d++)
				if (s / c.n_hosts != d / c.n_hosts)
					add_pair(&k, &c, s, d);
		for (topo_link g = 0; g < n; g++) {
			double of = k.both[g * n + g];
			assert_near(topo_clos_share(&c, TOPO_NONE, g),
			    k.flows > 0 ? of / k.flows : 0, 1e-12);
			for (topo_link l = 0; l < n; l++)
				assert_near(topo_clos_share(&c, g, l),
				    of > 0 ? k.both[g * n + l] / of : 0, 1e-12);
		}
		free(k.both);
	}
}

/* Links kept in topo_alike, and some of them dropped. */
static void check_alike(const struct topo *t, uint32_t step)
{
	const uint32_t n = t->n_links;
	struct topo_alike a = {0};
	topo_link *link = calloc(n, sizeof(*link));
	double *share = calloc(n, sizeof(*share));
	for (topo_link l = 0; l < n; l++)
		link[l] = l;
	assert_ok(topo_alike_take(&a, t, link, n, test_err()));
	assert_int_equal(a.n, n);
	for (size_t i = 0; step > 1 && i < a.n; i += step) {
		link[a.link[i]] = TOPO_NONE;
		topo_alike_drop(&a, i);
	}
	/* Those that were not dropped are there, each once. */
	size_t n_kept = 0;
	for (topo_link l = 0; l < n; l++)
		n_kept += link[l] != TOPO_NONE;
	assert_int_equal(a.n, n_kept);
	for (size_t i = 0; i < a.n; i++) {
		assert_int_equal(link[a.link[i]], a.link[i]);
		link[a.link[i]] = TOPO_NONE;
	}
	for (topo_link g = 0; g < n; g++) {
		assert_ok(topo_alike_shares(&a, g, share, test_err()));
		for (size_t i = 0; i < a.n; i++)
			if (share[i] != topo_clos_share(&t->clos, g, a.link[i]))
				fail_msg("%u given %u", a.link[i], g);
	}
	/* What a class was found to share is found once. */
	for (size_t c = 0; c < TOPO_N_LINK_CLASSES; c++)
		for (size_t k = 0; k < sizeof(a.share[0]) / sizeof(double); k++)
			a.share[c][k] = 7;
	for (topo_link g = 0; g < n; g++) {
		assert_ok(topo_alike_shares(&a, g, share, test_err()));
		for (size_t i = 0; i < a.n; i++)
			assert_true(share[i] == 7);
	}
	topo_alike_free(&a);
	free(link);
	free(share);
}

/* Every pair of links: bit for bit. */
static void shares_of_links_kept_are_the_single_ones(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo t;
		assert_ok(topo_open_clos(&t, &shapes[i], test_err()));
		for (uint32_t step = 1; t.n_links <= 1000 && step <= 3; step++)
			check_alike(&t, step);
		topo_close(&t);
	}
}

struct alike_job {
	struct topo t;
	topo_link link[300];
};

static int alike_take(void *arg, struct sim_err *e)
{
	struct alike_job *x = arg;
	struct topo_alike a = {0};
	const int rc = topo_alike_take(&a, &x->t, x->link, 300, e);
	topo_alike_free(&a);
	return rc;
}

static void keeping_links_reports_missing_memory(void **state)
{
	(void)state;
	struct alike_job x = {0};
	assert_ok(topo_open_clos(&x.t, &shapes[0], test_err()));
	test_each_alloc_fails(alike_take, &x);
	topo_close(&x.t);
}

static void path_shares_equal_a_count_over_all_choices(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo_clos c = shapes[i];
		assert_ok(topo_clos_init(&c, test_err()));
		uint32_t n = 2 * c.n_cables;
		struct count k = {n, calloc((size_t)n * n, sizeof(double)), 0};
		assert_non_null(k.both);
		for (uint32_t j = 0; j < c.all_hosts * c.all_hosts; j++) {
			topo_host s = j / c.all_hosts, d = j % c.all_hosts;
			topo_link near[2] = {2 * s, 2 * d + 1};
			memset(k.both, 0, (size_t)n * n * sizeof(double));
			if (s / c.n_hosts != d / c.n_hosts)
				add_pair(&k, &c, s, d);
			else if (s != d)
				add_path(&k, near, 2, 1);
			for (topo_link l = 0; l < n; l++)
				assert_near(topo_clos_path_share(&c, s, d, l),
				    k.both[l * n + l], 1e-12);
		}
		free(k.both);
	}
}

/* --- names and addresses -------------------------------------------------- */

static void names_of_links_read_back(void **state)
{
	(void)state;
	struct topo t;
	struct topo_clos shape = default_shape();
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	char name[64];
	topo_link l;
	topo_link_name(&t, topo_clos_link_tor(&t.clos, 23, 5, TOPO_UP), name);
	assert_string_equal(name, "tor23->t1.13");
	topo_link_name(&t, topo_clos_link_t1(&t.clos, 13, 9, TOPO_DOWN), name);
	assert_string_equal(name, "t2.9->t1.13");
	topo_link_name(&t, topo_clos_link_host(1599, TOPO_UP), name);
	assert_string_equal(name, "host1599->tor39");
	for (topo_link i = 0; i < t.n_links; i++) {
		topo_link_name(&t, i, name);
		assert_ok(topo_link_parse(&t, name, &l, test_err()));
		assert_int_equal(l, i);
		snprintf(name, sizeof(name), "%u", i);
		assert_ok(topo_link_parse(&t, name, &l, test_err()));
		assert_int_equal(l, i);
	}
	topo_close(&t);
}

static void texts_that_are_no_link_are_refused_with_the_reason(void **state)
{
	(void)state;
	struct topo t;
	struct topo_clos shape = default_shape();
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	static const struct {
		const char *text;
		int rc;
		const char *part;
	} bad[] = {
	    {"", SIM_EINVAL, "not a link"},
	    {"-1", SIM_EINVAL, "not a link"},
	    {"tor3", SIM_EINVAL, "FROM->TO"},
	    {"4160", SIM_ERANGE, "[0, 4159]"},
	    {"010", SIM_ERANGE, "[0, 4159]"},
	    {"99999999999999999999", SIM_ERANGE, "[0, 4159]"},
	    {"tor3->t1.16", SIM_EINVAL, "\"t1.16\""},
	    {"tor40->t1.1", SIM_EINVAL, "\"tor40\""},
	    {"tor03->t1.1", SIM_EINVAL, "\"tor03\""},
	    {"->t1.1", SIM_EINVAL, "\"\""},
	    {"tor3->t1.8", SIM_EINVAL, "no cable"},
	    {"tor20->t1.7", SIM_EINVAL, "no cable"},
	    {"tor3->tor3", SIM_EINVAL, "no cable"},
	    {"tor3->tor4", SIM_EINVAL, "no cable"},
	    {"tor3->t2.4", SIM_EINVAL, "no cable"},
	    {"t2.3->t2.4", SIM_EINVAL, "no cable"},
	    {"t1.3->t1.4", SIM_EINVAL, "no cable"},
	    {"host40->tor0", SIM_EINVAL, "no cable"},
	    {"host1->host2", SIM_EINVAL, "no cable"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_err e = {0};
		topo_link l = 7;
		int rc = topo_link_parse(&t, bad[i].text, &l, &e);
		if (rc != bad[i].rc || !strstr(e.msg, bad[i].part) || l != 7)
			fail_msg("\"%s\" says: %s", bad[i].text, e.msg);
	}
	topo_close(&t);
}

static void addresses_read_back_to_the_same_ids(void **state)
{
	(void)state;
	static const uint32_t ids[] = {0, 1, 254, 255, 256, 65535, 1599,
	    TOPO_ADDR_MAX_SWITCHES - 1};
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		char text[16];
		uint32_t ip;
		topo_addr_format(topo_addr_of_host(ids[i]), text);
		assert_ok(topo_addr_parse(text, &ip, test_err()));
		assert_int_equal(topo_addr_to_host(ip, ids[i] + 1), ids[i]);
		assert_int_equal(topo_addr_to_host(ip, ids[i]), TOPO_NONE);
		assert_int_equal(topo_addr_to_switch(ip, UINT32_MAX),
		    TOPO_NONE);
		topo_addr_format(topo_addr_of_switch(ids[i]), text);
		assert_ok(topo_addr_parse(text, &ip, test_err()));
		assert_int_equal(topo_addr_to_switch(ip, ids[i] + 1), ids[i]);
		assert_int_equal(topo_addr_to_switch(ip, ids[i]), TOPO_NONE);
		assert_int_equal(topo_addr_to_host(ip, UINT32_MAX), TOPO_NONE);
	}
	char text[16];
	topo_addr_format(topo_addr_of_host(0), text);
	assert_string_equal(text, "10.0.0.1");
	topo_addr_format(topo_addr_of_host(TOPO_ADDR_MAX_HOSTS - 1), text);
	assert_string_equal(text, "10.255.255.254");
	topo_addr_format(topo_addr_of_switch(TOPO_ADDR_MAX_SWITCHES - 1), text);
	assert_string_equal(text, "172.31.255.255");
	topo_addr_format(UINT32_MAX, text);
	assert_string_equal(text, "255.255.255.255");
	assert_int_equal(topo_addr_to_host(0, UINT32_MAX), TOPO_NONE);
}

static void texts_that_are_no_address_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "10", "10.0.0", "10.0.0.",
	    "10.0.0.1.", "10.0.0.1 ", " 10.0.0.1", "10.0.0.256", "10.0..1",
	    "10.0.0.01", "10.0.0.-1", "10.0.0.1000", "a.b.c.d", "10.0.0.0x1",
	    "10,0,0,1"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_err e = {0};
		uint32_t ip = 7;
		if (topo_addr_parse(bad[i], &ip, &e) != SIM_EINVAL || ip != 7)
			fail_msg("\"%s\" was read", bad[i]);
		assert_non_null(strstr(e.msg, "IPv4"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		the_default_shape_is_the_one_of_007_with_4160_links),
	    cmocka_unit_test(every_pair_of_nodes_has_at_most_one_link_each_way),
	    cmocka_unit_test(classes_part_the_links_in_the_order_of_ids),
	    cmocka_unit_test(a_link_found_by_place_says_its_place),
	    cmocka_unit_test(impossible_shapes_are_refused_with_the_reason),
	    cmocka_unit_test(the_largest_shapes_stay_within_32_bits),
	    cmocka_unit_test(a_shape_may_have_as_much_as_a_limit_and_no_more),
	    cmocka_unit_test(a_million_hosts_cost_no_memory),
	    cmocka_unit_test(
		shares_of_a_class_add_up_to_the_flows_that_cross_it),
	    cmocka_unit_test(shares_are_the_event_probabilities_of_007),
	    cmocka_unit_test(shares_equal_a_count_over_all_pairs_and_choices),
	    cmocka_unit_test(shares_of_links_kept_are_the_single_ones),
	    cmocka_unit_test(keeping_links_reports_missing_memory),
	    cmocka_unit_test(path_shares_equal_a_count_over_all_choices),
	    cmocka_unit_test(names_of_links_read_back),
	    cmocka_unit_test(
		texts_that_are_no_link_are_refused_with_the_reason),
	    cmocka_unit_test(addresses_read_back_to_the_same_ids),
	    cmocka_unit_test(texts_that_are_no_address_are_refused),
	};
	return cmocka_run_group_tests_name("topo/clos", tests, NULL, NULL);
}
