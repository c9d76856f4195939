/* tests/topo/region_test.c -- regions: distances, ids, paths by arithmetic and
 * by tables, pinglists that fit, and every refusal.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/pinglist.h"
#include "tests/rigs/law.h"
#include "tests/test.h"
#include "topo/graph.h"
#include "topo/mesh.h"
#include "topo/region.h"

static const struct topo_clos plain = {.n_pods = 3,
    .n_tors = 2,
    .n_t1 = 3,
    .n_t2 = 4,
    .n_hosts = 2};
/* Data centres of three, two and one tier, and some with one of a kind. */
static const struct topo_clos shapes[] = {
    {.n_pods = 3, .n_tors = 2, .n_t1 = 3, .n_t2 = 4, .n_hosts = 2},
    {.n_pods = 2, .n_tors = 3, .n_t1 = 2, .n_t2 = 1, .n_hosts = 1},
    {.n_pods = 1, .n_tors = 4, .n_t1 = 3, .n_t2 = 0, .n_hosts = 2},
    {.n_pods = 1, .n_tors = 2, .n_t1 = 3, .n_t2 = 2, .n_hosts = 2},
    {.n_pods = 1, .n_tors = 1, .n_t1 = 0, .n_t2 = 0, .n_hosts = 3},
    {.n_pods = 2, .n_tors = 1, .n_t1 = 1, .n_t2 = 1, .n_hosts = 1},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static struct topo_region_params params(uint32_t n_dcs, uint32_t n_borders,
    const char *sites)
{
	struct topo_region_params p = {n_dcs, n_borders, 1.4, ""};
	snprintf(p.sites, sizeof(p.sites), "%s", sites);
	return p;
}

static void open_region(struct topo *t, const struct topo_clos *shape,
    uint32_t n_dcs, uint32_t n_borders)
{
	const struct topo_region_params p = params(n_dcs, n_borders, "");
	assert_ok(topo_open_region(t, shape, &p, test_err()));
}

/* --- distances ------------------------------------------------------------ */

static void distances_of_cities_are_the_known_ones(void **state)
{
	(void)state;
	static const struct topo_site london = {51.5074, -0.1278};
	static const struct topo_site paris = {48.8566, 2.3522};
	static const struct topo_site new_york = {40.7128, -74.0060};
	static const struct topo_site sydney = {-33.8688, 151.2093};
	static const struct topo_site tokyo = {35.6762, 139.6503};
	static const struct topo_site los_angeles = {34.0522, -118.2437};
	const struct {
		struct topo_site a, b;
		double km;
	} known[] = {
	    {london, paris, 344},
	    {london, new_york, 5570},
	    {new_york, los_angeles, 3936},
	    {sydney, tokyo, 7822},
	    {tokyo, los_angeles, 8815}, /* across the date line */
	    {sydney, london, 16994},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_near(topo_site_km(known[i].a, known[i].b), known[i].km,
		    0.01 * known[i].km);
	/* Arcs of a sphere of 6371 km: a degree of a meridian, a quarter, and
	 * half of it however one goes. */
	const double half = 6371 * M_PI;
	const struct topo_site origin = {0, 0}, north = {90, 12};
	const struct topo_site degree = {1, 0}, back = {0, 180};
	const struct topo_site a = {37.5, -122}, opposite = {-37.5, 58};
	assert_near(topo_site_km(origin, degree), half / 180, 1e-9);
	assert_near(topo_site_km(origin, north), half / 2, 1e-9);
	assert_near(topo_site_km(origin, back), half, 1e-3);
	assert_near(topo_site_km(a, opposite), half, 1e-3);
	assert_near(topo_site_km(a, a), 0, 0);
}

static void distances_are_a_metric(void **state)
{
	(void)state;
	struct sim_rng r;
	test_rng(&r, 1);
	for (int i = 0; i < 10000; i++) {
		struct topo_site s[3];
		for (int k = 0; k < 3; k++)
			s[k] = (struct topo_site){180 * sim_rng_u01(&r) - 90,
			    360 * sim_rng_u01(&r) - 180};
		const struct topo_site opposite = {-s[0].lat,
		    s[0].lon > 0 ? s[0].lon - 180 : s[0].lon + 180};
		assert_near(topo_site_km(s[0], opposite), 6371 * M_PI, 1e-3);
		const double ab = topo_site_km(s[0], s[1]);
		assert_near(topo_site_km(s[1], s[0]), ab, 0);
		assert_true(ab >= 0 && ab <= 6371 * M_PI);
		/* Rounding near antipodes is that of a square root. */
		assert_true(ab <=
		    topo_site_km(s[0], s[2]) + topo_site_km(s[2], s[1]) + 1e-3);
	}
}

/* London and New York: 5570 km x 1.4 at c / 1.468 = 204,218.3 km/s. */
static void a_long_cable_delays_by_its_length_in_glass(void **state)
{
	(void)state;
	struct topo t;
	struct topo_region_params p =
	    params(2, 3, "51.5074,-0.1278 ; 40.7128 , -74.0060;0,0");
	for (p.detour = 1; p.detour < 3; p.detour += 0.25) {
		assert_ok(topo_open_region(&t, &plain, &p, test_err()));
		const double km = t.region->cable_km[0][1];
		assert_near(km, 5570 * p.detour, 0.01 * km);
		const double ns = km / 204218.3 * 1e9;
		unsigned n = 0;
		for (topo_link l = 0; l < t.n_links; l++) {
			const int is_long = l >> 1 >= t.region->first_long;
			assert_near((double)topo_link_delay(&t, l),
			    is_long ? ns : 0, 1e-6 * ns * is_long);
			n += is_long;
		}
		assert_int_equal(n, 2 * 3);
		topo_close(&t);
	}
}

static void delays_are_those_of_the_pair_both_ways(void **state)
{
	(void)state;
	struct topo t;
	open_region(&t, &plain, 5, 2);
	const struct topo_region *r = t.region;
	/* US West to US East at the default detour, and the other side of the
	 * world. */
	assert_near((double)r->delay_ns[0][2] / 1e6, 25.5, 0.3);
	assert_near((double)r->delay_ns[2][4] / 1e6, 107.6, 1.1);
	for (uint32_t a = 0; a < 5; a++)
		for (uint32_t b = 0; b < 5; b++) {
			assert_true(a == b ? r->delay_ns[a][b] == 0
					   : r->delay_ns[a][b] > 0);
			for (uint32_t i = 0; a != b && i < 2; i++) {
				char text[64];
				topo_link l;
				snprintf(text, sizeof(text),
				    "dc%u.border%u->dc%u.border%u", a, i, b, i);
				assert_ok(
				    topo_link_parse(&t, text, &l, test_err()));
				assert_int_equal(topo_link_delay(&t, l),
				    r->delay_ns[a][b]);
				assert_int_equal(topo_link_delay(&t,
						     topo_link_reverse(l)),
				    r->delay_ns[a][b]);
			}
		}
	topo_close(&t);
	/* A mesh and a Clos are places without distances. */
	assert_ok(topo_open_clos(&t, &plain, test_err()));
	assert_int_equal(topo_link_delay(&t, t.n_links - 1), 0);
	topo_close(&t);
}

static void no_region_is_without_its_parts(void **state)
{
	struct topo_region_params p;
	(void)state;
	for (const struct sim_field *f = topo_region_fields; f->name; f++)
		if (f->type == SIM_F_U32) {
			assert_int_equal(sim_field_set(f, &p, "0", NULL),
			    SIM_ERANGE);
			assert_ok(sim_field_set(f, &p, "1", test_err()));
		}
}

/* --- ids, classes, names -------------------------------------------------- */

static void counts_follow_the_shape(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++)
		for (uint32_t n = 1; n <= 5; n += 2) {
			struct topo t;
			struct topo_clos c = shapes[i];
			const uint32_t borders = 3;
			assert_ok(topo_clos_init(&c, test_err()));
			open_region(&t, &c, n, borders);
			const uint32_t tops = c.n_t2 ? c.n_t2
			    : c.n_t1                 ? c.n_t1
						     : 1;
			assert_int_equal(t.n_hosts, n * c.all_hosts);
			assert_int_equal(t.n_switches,
			    n * (c.all_tors + c.all_t1 + c.n_t2 + borders));
			assert_int_equal(t.n_links,
			    2 * n * (c.n_cables + tops * borders) +
				n * (n - 1) * borders);
			assert_int_equal(t.region->n_pods, n * c.n_pods);
			topo_close(&t);
		}
}

static void each_data_centre_is_the_clos_with_ids_moved(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo t, c;
		char name[64], want[80];
		open_region(&t, &shapes[i], 3, 2);
		assert_ok(topo_open_clos(&c, &shapes[i], test_err()));
		for (topo_host h = 0; h < t.n_hosts; h++) {
			const uint32_t dc = h / c.n_hosts, own = h % c.n_hosts;
			assert_int_equal(topo_region_dc_of(t.region, h), dc);
			assert_int_equal(topo_pod_of(&t, h),
			    dc * shapes[i].n_pods + topo_pod_of(&c, own));
			assert_int_equal(topo_tor_of(&t, h),
			    dc * c.n_switches + topo_tor_of(&c, own));
		}
		for (topo_switch s = 0; s < 3 * c.n_switches; s++) {
			topo_node_name(&c, c.n_hosts + s % c.n_switches, name);
			snprintf(want, sizeof(want), "dc%u.%s",
			    s / c.n_switches, name);
			topo_node_name(&t, t.n_hosts + s, name);
			assert_string_equal(name, want);
		}
		topo_node_name(&t, t.n_hosts - 1, name);
		snprintf(want, sizeof(want), "host%u", t.n_hosts - 1);
		assert_string_equal(name, want);
		topo_close(&t);
		topo_close(&c);
	}
}

/* The cables of a Clos are in each data centre, with their classes. */
static void links_keep_their_classes_and_read_back(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo t;
		uint32_t n[TOPO_N_LINK_CLASSES] = {0};
		open_region(&t, &shapes[i], 3, 2);
		for (topo_link l = 0; l < t.n_links; l++) {
			char name[64];
			topo_link back;
			const enum topo_link_class class = topo_class_of(&t, l);
			assert_int_equal(topo_region_class_at(t.region, class,
					     n[class]++),
			    l);
			topo_link_name(&t, l, name);
			assert_ok(topo_link_parse(&t, name, &back, test_err()));
			assert_int_equal(back, l);
			assert_int_equal(class == TOPO_FABRIC,
			    strstr(name, "border") != NULL);
		}
		struct topo_clos c = shapes[i];
		assert_ok(topo_clos_init(&c, test_err()));
		for (unsigned k = 0; k < TOPO_N_LINK_CLASSES; k++) {
			assert_int_equal(topo_region_class_size(t.region, k),
			    n[k]);
			if (k != TOPO_FABRIC)
				assert_int_equal(n[k],
				    3 * topo_clos_class_size(&c, k));
		}
		topo_close(&t);
	}
}

static void up_is_away_from_the_hosts(void **state)
{
	(void)state;
	struct topo t;
	open_region(&t, &plain, 3, 2);
	for (topo_link l = 2 * t.n_hosts; l < t.n_links; l += 2) {
		topo_node from, to;
		topo_link_ends(&t, l, &from, &to);
		const uint32_t low = topo_mesh_tier(t.mesh, from - t.n_hosts);
		const uint32_t high = topo_mesh_tier(t.mesh, to - t.n_hosts);
		if (l >> 1 < t.region->first_long)
			assert_int_equal(high, low + 1);
		else
			assert_true(low == 3 && high == 3 && from < to);
	}
	topo_close(&t);
}

/* --- paths ---------------------------------------------------------------- */

/* The arithmetic against the tables, which know nothing of data centres. */
static void paths_are_those_of_the_tables(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++)
		for (uint32_t n_borders = 1; n_borders <= 3; n_borders += 2) {
			struct topo t;
			struct sim_rng r;
			open_region(&t, &shapes[i], 4, n_borders);
			test_rng(&r, 2 + (uint32_t)i);
			for (int j = 0; j < 5000; j++) {
				topo_link p[TOPO_MAX_HOPS], q[TOPO_MAX_HOPS];
				const topo_host src =
				    sim_rng_below(&r, t.n_hosts);
				const topo_host dst =
				    sim_rng_below(&r, t.n_hosts);
				const uint32_t seed = sim_rng_u32(&r);
				const uint32_t d = sim_rng_u32(&r);
				unsigned n =
				    topo_path(&t, seed, src, dst, d, p);
				assert_int_equal(n,
				    topo_mesh_path(t.mesh, seed, src, dst, d,
					q));
				assert_memory_equal(p, q, n * sizeof(p[0]));
			}
			topo_close(&t);
		}
}

static void lengths_are_2_4_6_inside_and_9_between(void **state)
{
	(void)state;
	struct topo t;
	topo_link path[TOPO_MAX_HOPS];
	open_region(&t, &plain, 3, 2);
	for (topo_host s = 0; s < t.n_hosts; s++)
		for (topo_host d = 0; d < t.n_hosts; d++) {
			unsigned want = 9;
			if (s == d)
				want = 0;
			else if (topo_tor_of(&t, s) == topo_tor_of(&t, d))
				want = 2;
			else if (topo_pod_of(&t, s) == topo_pod_of(&t, d))
				want = 4;
			else if (topo_region_dc_of(t.region, s) ==
			    topo_region_dc_of(t.region, d))
				want = 6;
			assert_int_equal(topo_path(&t, 1, s, d, 7 * s + d,
					     path),
			    want);
		}
	topo_close(&t);
}

/* The paths inside data centre 0 are the Clos's, link by link; in the others
 * switches have other ids and so other seeds, but each link is as likely. */
static void inside_a_data_centre_paths_are_the_closs(void **state)
{
	(void)state;
	struct topo t, c;
	struct sim_rng r;
	open_region(&t, &plain, 3, 2);
	assert_ok(topo_open_clos(&c, &plain, test_err()));
	const uint32_t move = t.n_hosts - c.n_hosts;
	test_rng(&r, 10);
	for (int i = 0; i < 5000; i++) {
		topo_link p[TOPO_MAX_HOPS], q[TOPO_MAX_HOPS];
		const topo_host src = sim_rng_below(&r, c.n_hosts);
		const topo_host dst = sim_rng_below(&r, c.n_hosts);
		const uint32_t d = sim_rng_u32(&r);
		const unsigned n = topo_path(&c, 5, src, dst, d, q);
		assert_int_equal(topo_path(&t, 5, src, dst, d, p), n);
		for (unsigned k = 0; k < n; k++)
			assert_int_equal(p[k],
			    q[k] + (q[k] >> 1 < c.n_hosts ? 0 : 2 * move));
	}
	const uint32_t later = 2 * (t.region->first_cable[2] - c.n_hosts);
	for (topo_link l = 2 * c.n_hosts; l < c.n_links; l++)
		assert_near(topo_path_share(&t, 2 * c.n_hosts, t.n_hosts - 1,
				l + later),
		    topo_path_share(&c, 0, c.n_hosts - 1, l), 1e-12);
	topo_close(&t);
	topo_close(&c);
}

static void between_data_centres_lies_one_long_cable_of_the_pair(void **state)
{
	(void)state;
	struct topo t;
	struct sim_rng r;
	open_region(&t, &plain, 5, 3);
	test_rng(&r, 11);
	for (int i = 0; i < 20000; i++) {
		topo_link path[TOPO_MAX_HOPS];
		const topo_host src = sim_rng_below(&r, t.n_hosts);
		const topo_host dst = sim_rng_below(&r, t.n_hosts);
		const uint32_t a = topo_region_dc_of(t.region, src);
		const uint32_t b = topo_region_dc_of(t.region, dst);
		const unsigned n =
		    topo_path(&t, 1, src, dst, sim_rng_u32(&r), path);
		unsigned n_long = 0;
		sim_ns delay = 0;
		topo_node at = src, from, to;
		for (unsigned k = 0; k < n; k++) {
			topo_link_ends(&t, path[k], &from, &to);
			assert_int_equal(from, at);
			at = to;
			n_long += path[k] >> 1 >= t.region->first_long;
			delay += topo_link_delay(&t, path[k]);
		}
		assert_int_equal(at, dst);
		assert_int_equal(n_long, a != b);
		assert_int_equal(delay, t.region->delay_ns[a][b]);
	}
	topo_close(&t);
}

/* Chi-square over borders and over all chains of switches that a pair may use:
 * false alarm 1e-6 each. */
static void each_border_and_each_way_is_used_alike(void **state)
{
	(void)state;
	enum {
		BORDERS = 5,
		T1 = 3,
		T2 = 4,
		WAYS = T1 * T2 * BORDERS * T2 * T1
	};
	static uint64_t border[BORDERS], way[WAYS];
	struct topo t;
	struct sim_rng r;
	open_region(&t, &plain, 3, BORDERS);
	memset(border, 0, sizeof(border));
	memset(way, 0, sizeof(way));
	test_rng(&r, 12);
	const struct topo_region *g = t.region;
	const topo_host src = 3, dst = t.n_hosts - 1;
	const uint64_t draws = 200 * WAYS;
	for (uint64_t i = 0; i < draws; i++) {
		topo_link p[TOPO_MAX_HOPS];
		assert_int_equal(topo_path(&t, 9, src, dst, sim_rng_u32(&r), p),
		    9);
		const uint32_t b = ((p[4] >> 1) - g->first_long) % BORDERS;
		topo_node node[4];
		const int hop[4] = {1, 2, 5, 6}, n[4] = {T1, T2, T2, T1};
		uint32_t chain = b;
		for (int k = 0; k < 4; k++) {
			topo_node from;
			topo_link_ends(&t, p[hop[k]], &from, &node[k]);
			/* Switches of a tier that a pair may use have ids in
			 * a row. */
			chain =
			    chain * (uint32_t)n[k] + node[k] % (uint32_t)n[k];
		}
		border[b]++;
		way[chain]++;
	}
	assert_true(law_chi2_uniform(border, BORDERS) > 1e-6);
	assert_true(law_chi2_uniform(way, WAYS) > 1e-6);
	topo_close(&t);
}

/* --- with others ---------------------------------------------------------- */

static void open_plan(struct algo_pinglist *l, const struct topo_region *r)
{
	struct algo_pinglist_params p = {0};
	assert_ok(sim_field_defaults(algo_pinglist_fields, &p, test_err()));
	assert_ok(algo_pinglist_open(l, &p, r->shape, r->n_dcs, test_err()));
}

/* Servers of Pingmesh's plan are the hosts of the region. */
static void pinglists_name_hosts_in_the_right_place(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++) {
		struct topo t;
		struct algo_pinglist plan;
		uint64_t n[ALGO_PINGLIST_N_LEVELS] = {0};
		open_region(&t, &shapes[i], 4, 2);
		open_plan(&plan, t.region);
		assert_int_equal(plan.n_servers, t.n_hosts);
		for (topo_host h = 0; h < t.n_hosts; h++) {
			struct algo_pinglist_server s;
			assert_ok(
			    algo_pinglist_server(&s, &plan, h, test_err()));
			for (uint32_t k = 0; k < s.n_peers; k++) {
				const struct algo_pinglist_peer peer =
				    algo_pinglist_at(&s, k);
				const topo_host d =
				    topo_addr_to_host(peer.address, t.n_hosts);
				assert_true(d != TOPO_NONE && d != h);
				const int same_tor =
				    topo_tor_of(&t, d) == topo_tor_of(&t, h);
				const int same_dc =
				    topo_region_dc_of(t.region, d) ==
				    topo_region_dc_of(t.region, h);
				assert_int_equal(same_tor,
				    peer.level == ALGO_PINGLIST_TOR);
				assert_int_equal(!same_dc,
				    peer.level == ALGO_PINGLIST_INTER_DC);
				n[peer.level]++;
			}
		}
		/* One ToR a data centre has no peers in others of it, one
		 * host a ToR none under it. */
		assert_int_equal(n[ALGO_PINGLIST_TOR] > 0,
		    shapes[i].n_hosts > 1);
		assert_int_equal(n[ALGO_PINGLIST_DC] > 0,
		    shapes[i].n_pods * shapes[i].n_tors > 1);
		assert_true(n[ALGO_PINGLIST_INTER_DC] > 0);
		topo_close(&t);
	}
}

/* The diameter is that of a path between data centres, and a ToR has as many
 * disjoint ways as T1s. */
static void igraph_agrees_on_what_a_region_is(void **state)
{
	(void)state;
	struct topo t;
	struct topo_graph_report r;
	open_region(&t, &plain, 3, 2);
	assert_ok(topo_graph_check(&t, 200, &r, test_err()));
	assert_true(r.connected);
	assert_int_equal(r.diameter, 9);
	assert_int_equal(r.min_tor_degree, plain.n_t1);
	assert_int_equal(r.disjoint_inter, plain.n_t1);
	topo_close(&t);
}

static void assert_same(const struct topo *a, const struct topo *b)
{
	assert_int_equal(a->n_hosts, b->n_hosts);
	assert_int_equal(a->n_switches, b->n_switches);
	assert_int_equal(a->n_links, b->n_links);
	for (topo_link l = 0; l < a->n_links; l++) {
		char x[64], y[64];
		topo_link_name(a, l, x);
		topo_link_name(b, l, y);
		assert_string_equal(x, y);
		assert_int_equal(topo_class_of(a, l), topo_class_of(b, l));
	}
}

static void a_region_exports_and_reads_back(void **state)
{
	(void)state;
	char path[] = "/tmp/culprit_region_XXXXXX";
	struct topo t, back;
	open_region(&t, &plain, 3, 2);
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	FILE *f = fdopen(fd, "w");
	assert_non_null(f);
	assert_ok(topo_graph_write(&t, f, test_err()));
	fclose(f);
	assert_ok(topo_graph_read(&back, path, test_err()));
	remove(path);
	assert_same(&t, &back);
	for (topo_host h = 0; h < t.n_hosts; h++) {
		topo_link p[TOPO_MAX_HOPS], q[TOPO_MAX_HOPS];
		const topo_host d = 5 * h % t.n_hosts;
		const unsigned n = topo_path(&t, 1, h, d, 3 * h, p);
		assert_int_equal(topo_path(&back, 1, h, d, 3 * h, q), n);
		assert_memory_equal(p, q, n * sizeof(p[0]));
	}
	/* A file holds the graph alone, so what is read back has neither pods
	 * nor distances. */
	assert_int_equal(topo_pod_of(&back, 0), TOPO_NONE);
	assert_int_equal(topo_link_delay(&back, back.n_links - 1), 0);
	topo_close(&t);
	topo_close(&back);
}

static void one_data_centre_is_a_region_without_long_cables(void **state)
{
	(void)state;
	struct topo t, c;
	char text[256] = "";
	open_region(&t, &plain, 1, 2);
	assert_ok(topo_open_clos(&c, &plain, test_err()));
	assert_int_equal(t.n_links, c.n_links + 2 * 2 * plain.n_t2);
	assert_int_equal(t.n_links, 2 * t.region->first_long);
	for (topo_host d = 0; d < t.n_hosts; d++) {
		topo_link p[TOPO_MAX_HOPS], q[TOPO_MAX_HOPS];
		const unsigned n = topo_path(&c, 3, 0, d, d, p);
		assert_int_equal(topo_path(&t, 3, 0, d, d, q), n);
		assert_memory_equal(p, q, n * sizeof(p[0]));
	}
	FILE *f = fmemopen(text, sizeof(text), "w");
	assert_non_null(f);
	topo_region_print(t.region, f);
	fclose(f);
	assert_non_null(strstr(text, "hosts 0-11, podsets 0-2"));
	assert_null(strstr(text, "long"));
	topo_close(&t);
	topo_close(&c);
}

static void printing_a_region_names_its_numbers(void **state)
{
	(void)state;
	struct topo t;
	char text[1024] = "";
	const struct topo_region_params p = params(3, 2, "1,2;-3.5,4;5,-6.25");
	assert_ok(topo_open_region(&t, &plain, &p, test_err()));
	FILE *f = fmemopen(text, sizeof(text), "w");
	assert_non_null(f);
	topo_region_print(t.region, f);
	fclose(f);
	assert_non_null(strstr(text,
	    "3 of 3 podsets of 2 ToRs and 3 T1s, 4 T2s, 2 borders"));
	assert_non_null(
	    strstr(text, "dc1   hosts 12-23, podsets 3-5, at -3.5,4"));
	assert_non_null(strstr(text, "dc0-dc2 "));
	assert_non_null(strstr(text, "dc1-dc2 "));
	topo_close(&t);
}

/* --- faults --------------------------------------------------------------- */

static void assert_refused(const struct topo_clos *shape,
    const struct topo_region_params *p, int rc, const char *part)
{
	struct topo t;
	struct sim_err e = {0};
	const int got = topo_open_region(&t, shape, p, &e);
	if (got != rc || !strstr(e.msg, part))
		fail_msg("wanted \"%s\", got %s: %s", part, sim_err_text(got),
		    e.msg);
	assert_true(t.n_hosts == 0 && !t.mesh && !t.region);
	topo_close(&t);
}

static void sites_that_are_no_places_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *sites, *part;
	} bad[] = {
	    {"here", "\"here\" is not a place"},
	    {"1,2", "names 1 places, but n_dcs is 2"},
	    {"1,2;", "\"\" is not a place"},
	    {";1,2;3,4", "\"\" is not a place"},
	    {"1,2;3", "\"3\" is not a place"},
	    {"1,2;3,", "\"3,\" is not a place"},
	    {"1,2;,4", "\",4\" is not a place"},
	    {"1,2;3,4,5", "\"3,4,5\" is not a place"},
	    {"1,2;3 4", "\"3 4\" is not a place"},
	    {"1,2;3,x", "\"3,x\" is not a place"},
	    {"1,2;nan,4", "\"nan,4\" is not a place"},
	    {"1,2;90.001,4", "in [-90, 90] and [-180, 180]"},
	    {"1,2;-91,4", "in [-90, 90] and [-180, 180]"},
	    {"1,2;3,180.5", "in [-90, 90] and [-180, 180]"},
	    {"1,2;3,-1e9", "in [-90, 90] and [-180, 180]"},
	    {"1,2;3,4;5", "\"5\" is not a place"}, /* though not needed */
	    {"1,2;0.00000000000000000000000000000000001,4", "not a place"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct topo_region_params p = params(2, 2, bad[i].sites);
		assert_refused(&plain, &p, SIM_EINVAL, bad[i].part);
	}
	const struct topo_region_params edge =
	    params(2, 2, "90,-180;-90,180;0,0");
	struct topo t;
	assert_ok(topo_open_region(&t, &plain, &edge, test_err()));
	topo_close(&t);
}

static void regions_that_cannot_be_are_refused(void **state)
{
	(void)state;
	static const char many[] =
	    "0,0;0,1;0,2;0,3;0,4;0,5;0,6;0,7;0,8;0,9;0,10;0,11;0,12;0,13;"
	    "0,14;0,15;0,16";
	struct topo_clos c = plain;
	struct topo_region_params p = params(0, 2, "");
	assert_refused(&c, &p, SIM_EINVAL, "n_dcs 0");
	p = params(2, 0, "");
	assert_refused(&c, &p, SIM_EINVAL, "n_borders 0");
	p = params(2, 2, "");
	p.detour = 0.5;
	assert_refused(&c, &p, SIM_EINVAL, "detour 0.5 is not in [1, 10]");
	p.detour = 1e300;
	assert_refused(&c, &p, SIM_EINVAL, "detour 1e+300");
	p.detour = NAN;
	assert_refused(&c, &p, SIM_EINVAL, "detour nan");
	p = params(6, 2, "");
	assert_refused(&c, &p, SIM_EINVAL, "n_dcs 6: without `sites`");
	p = params(17, 2, many);
	assert_refused(&c, &p, SIM_ELIMIT, "limit of 16 data centres");
	p = params(2, 65, "");
	assert_refused(&c, &p, SIM_ELIMIT, "n_borders 65");
	p = params(2, 2, "");
	c.n_t1 = 0;
	assert_refused(&c, &p, SIM_EINVAL, "n_t1 0");
	c = plain;
	c.n_hosts = (1 << 24) / 6 - 1; /* fits one data centre */
	assert_refused(&c, &p, SIM_ELIMIT,
	    "n_dcs 2 x 16777206 hosts are more than the limit of 16777214");
	/* 2 x (6 ToRs + 9 T1s + n_t2 + 2 borders). */
	c = plain;
	c.n_t2 = 4096 / 2 - 17 + 1;
	assert_refused(&c, &p, SIM_ELIMIT,
	    "n_dcs 2 x 2049 switches, borders among them");
	c.n_t2--;
	struct topo t;
	assert_ok(topo_open_region(&t, &c, &p, test_err()));
	assert_int_equal(t.n_switches, TOPO_MESH_MAX_SWITCHES);
	topo_close(&t);
	p = params(16, 2, many);
	assert_ok(topo_open_region(&t, &plain, &p, test_err()));
	assert_int_equal(t.region->n_dcs, 16);
	topo_close(&t);
}

static int open_and_close(void *arg, struct sim_err *e)
{
	struct topo t;
	const int rc = topo_open_region(&t, &plain, arg, e);
	assert_int_equal(t.n_hosts > 0, rc == 0);
	topo_close(&t);
	return rc;
}

static void every_failed_allocation_is_an_error(void **state)
{
	(void)state;
	struct topo_region_params p = params(3, 2, "");
	test_each_alloc_fails(open_and_close, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(distances_of_cities_are_the_known_ones),
	    cmocka_unit_test(distances_are_a_metric),
	    cmocka_unit_test(a_long_cable_delays_by_its_length_in_glass),
	    cmocka_unit_test(delays_are_those_of_the_pair_both_ways),
	    cmocka_unit_test(no_region_is_without_its_parts),
	    cmocka_unit_test(counts_follow_the_shape),
	    cmocka_unit_test(each_data_centre_is_the_clos_with_ids_moved),
	    cmocka_unit_test(links_keep_their_classes_and_read_back),
	    cmocka_unit_test(up_is_away_from_the_hosts),
	    cmocka_unit_test(paths_are_those_of_the_tables),
	    cmocka_unit_test(lengths_are_2_4_6_inside_and_9_between),
	    cmocka_unit_test(inside_a_data_centre_paths_are_the_closs),
	    cmocka_unit_test(
		between_data_centres_lies_one_long_cable_of_the_pair),
	    cmocka_unit_test(each_border_and_each_way_is_used_alike),
	    cmocka_unit_test(pinglists_name_hosts_in_the_right_place),
	    cmocka_unit_test(igraph_agrees_on_what_a_region_is),
	    cmocka_unit_test(a_region_exports_and_reads_back),
	    cmocka_unit_test(one_data_centre_is_a_region_without_long_cables),
	    cmocka_unit_test(printing_a_region_names_its_numbers),
	    cmocka_unit_test(sites_that_are_no_places_are_refused),
	    cmocka_unit_test(regions_that_cannot_be_are_refused),
	    cmocka_unit_test(every_failed_allocation_is_an_error),
	};
	return cmocka_run_group_tests_name("topo/region", tests, NULL, NULL);
}
