/* tests/algos/pingmesh/pinglist_test.c -- pinglists: graphs, limits, XML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/pinglist_xml.h"
#include "tests/test.h"

enum { MOST = 512, TEXT = 1 << 17 };

static struct algo_pinglist_params defaults(void)
{
	struct algo_pinglist_params p;
	assert_ok(sim_field_defaults(algo_pinglist_fields, &p, test_err()));
	return p;
}

static struct topo_clos shape_of(uint32_t n_pods, uint32_t n_tors,
    uint32_t n_hosts)
{
	return (struct topo_clos){.n_pods = n_pods,
	    .n_tors = n_tors,
	    .n_t1 = 1,
	    .n_t2 = 1,
	    .n_hosts = n_hosts};
}

/* times[level][from][to]: how often the list of FROM has TO. */
struct table {
	struct algo_pinglist plan;
	uint32_t n;
	uint8_t times[ALGO_PINGLIST_N_LEVELS][MOST][MOST];
};

static void fill(struct table *t, const struct algo_pinglist_params *p,
    const struct topo_clos shape[], uint32_t n_dcs)
{
	struct algo_pinglist_server s;
	memset(t, 0, sizeof(*t));
	assert_ok(algo_pinglist_open(&t->plan, p, shape, n_dcs, test_err()));
	t->n = t->plan.n_servers;
	assert_true(t->n <= MOST);
	for (uint32_t i = 0; i < t->n; i++) {
		assert_ok(algo_pinglist_server(&s, &t->plan, i, test_err()));
		uint32_t last[ALGO_PINGLIST_N_LEVELS] = {0}, level = 0;
		for (uint32_t k = 0; k < s.n_peers; k++) {
			const struct algo_pinglist_peer peer =
			    algo_pinglist_at(&s, k);
			assert_true(peer.level >= level);
			level = peer.level;
			if (level != ALGO_PINGLIST_INTER_DC)
				assert_true(peer.address > last[level]);
			last[level] = peer.address;
			if (level == ALGO_PINGLIST_VIP)
				continue;
			const topo_host h =
			    topo_addr_to_host(peer.address, t->n);
			assert_int_not_equal(h, TOPO_NONE);
			t->times[level][i][h]++;
		}
	}
}

static uint32_t peers_at(const struct table *t, uint32_t from, int level)
{
	uint32_t n = 0;
	for (uint32_t to = 0; to < t->n; to++)
		n += t->times[level][from][to];
	return n;
}

static const uint32_t small[][3] = {{1, 1, 1}, {1, 1, 5}, {1, 2, 3}, {3, 1, 2},
    {2, 3, 4}, {4, 3, 1}, {3, 5, 2}};
enum { N_SMALL = sizeof(small) / sizeof(small[0]) };

static void the_graphs_of_a_data_centre_are_complete(void **state)
{
	struct table *t = *state;
	const struct algo_pinglist_params p = defaults();
	for (int c = 0; c < N_SMALL; c++) {
		const struct topo_clos shape =
		    shape_of(small[c][0], small[c][1], small[c][2]);
		const uint32_t h = small[c][2];
		fill(t, &p, &shape, 1);
		for (uint32_t a = 0; a < t->n; a++) {
			for (uint32_t b = 0; b < t->n; b++) {
				const int tor = a / h == b / h && a != b;
				const int dc = a / h != b / h && a % h == b % h;
				assert_int_equal(t->times[0][a][b], tor);
				assert_int_equal(t->times[1][a][b], dc);
				assert_int_equal(t->times[2][a][b], 0);
			}
			assert_int_equal(peers_at(t, a, 0), h - 1);
			assert_int_equal(peers_at(t, a, 1), t->n / h - 1);
		}
	}
}

/* The chosen of each podset: number j is j / n_tors under ToR j % n_tors. */
static int is_chosen(const struct topo_clos *c, uint32_t i, uint32_t a_podset)
{
	const uint32_t tor = i / c->n_hosts % c->n_tors;
	return i % c->n_hosts * c->n_tors + tor < a_podset;
}

static void chosen_servers_of_all_data_centres_probe_each_other(void **state)
{
	struct table *t = *state;
	struct algo_pinglist_params p = defaults();
	const struct topo_clos shape[] = {shape_of(2, 3, 4), shape_of(1, 1, 2),
	    shape_of(3, 2, 5)};
	const uint32_t first[] = {0, 24, 26, 56};
	for (p.inter_dc_servers = 0; p.inter_dc_servers < 14;
	     p.inter_dc_servers++) {
		fill(t, &p, shape, 3);
		assert_int_equal(t->n, 56);
		for (uint32_t x = 0; x < 3; x++)
			for (uint32_t a = first[x]; a < first[x + 1]; a++)
				for (uint32_t y = 0; y < 3; y++)
					for (uint32_t b = first[y];
					     b < first[y + 1]; b++)
						assert_int_equal(t->times[2][a]
									 [b],
						    x != y &&
							is_chosen(&shape[x],
							    a - first[x],
							    p.inter_dc_servers) &&
							is_chosen(&shape[y],
							    b - first[y],
							    p.inter_dc_servers));
	}
}

/* Whatever the cap, lists are no longer than it, who probes is also probed by
 * its peer, and no pair is there that is not in the lists without a cap. */
static void the_cap_keeps_pairs_in_both_directions(void **state)
{
	struct table *t = *state, *all = calloc(1, sizeof(*all));
	struct algo_pinglist_params p = defaults();
	assert_non_null(all);
	p.inter_dc_servers = 2;
	strcpy(p.vips, "198.18.0.9,198.18.0.1");
	for (int c = 0; c < N_SMALL; c++) {
		const struct topo_clos shape[] = {shape_of(small[c][0],
						      small[c][1], small[c][2]),
		    shape_of(2, 2, 3)};
		p.max_peers = 5000;
		fill(all, &p, shape, 2);
		for (p.max_peers = 1; p.max_peers < 40; p.max_peers++) {
			fill(t, &p, shape, 2);
			for (uint32_t a = 0; a < t->n; a++) {
				struct algo_pinglist_server s;
				assert_ok(algo_pinglist_server(&s, &t->plan, a,
				    test_err()));
				assert_true(s.n_peers <= p.max_peers);
				for (uint32_t b = 0; b < 3 * t->n; b++) {
					const uint32_t v = b / t->n,
						       i = b % t->n;
					assert_true(t->times[v][a][i] <=
					    all->times[v][a][i]);
					assert_int_equal(t->times[v][a][i],
					    t->times[v][i][a]);
				}
			}
		}
	}
	free(all);
}

/* Peers of one level and server: closed form of a ring thinned to a quota. */
static void a_thinned_ring_has_its_quota_and_spreads(void **state)
{
	struct table *t = *state;
	struct algo_pinglist_params p = defaults();
	p.levels = 1u << ALGO_PINGLIST_DC;
	for (uint32_t n = 1; n < 70; n++) {
		const struct topo_clos shape = shape_of(1, n, 1);
		for (p.max_peers = 1; p.max_peers <= n; p.max_peers++) {
			const uint32_t q = p.max_peers;
			const uint32_t want = q >= n - 1 ? n - 1
			    : n % 2 == 0                 ? q
							 : q / 2 * 2;
			fill(t, &p, &shape, 1);
			for (uint32_t a = 0; a < n; a++)
				assert_int_equal(peers_at(t, a, 1), want);
			if (want < 2)
				continue;
			/* No stretch without a peer is much longer than with
			 * even spreading, n / want; symmetry doubles it at the
			 * far side. */
			uint32_t gap = 0, longest = 0;
			for (uint32_t b = 1; b < n; b++) {
				gap = t->times[1][0][b] ? 0 : gap + 1;
				longest = gap > longest ? gap : longest;
			}
			if (longest > 2 * (n / want + 1))
				fail_msg("ring %u, quota %u: gap %u", n, q,
				    longest);
		}
	}
}

static void the_cap_drops_dc_peers_first_then_others(void **state)
{
	struct table *t = *state;
	struct algo_pinglist_params p = defaults();
	const struct topo_clos shape[] = {shape_of(2, 4, 3), shape_of(1, 2, 3)};
	strcpy(p.vips, "198.18.0.9,198.18.0.1,198.18.0.5");
	p.inter_dc_servers = 1;
	/* Server 0: 2 tor, 7 dc, 1 inter_dc peer and 3 VIPs. */
	static const uint32_t want[][5] = {{13, 2, 7, 1, 3}, {12, 2, 6, 1, 3},
	    {8, 2, 2, 1, 3}, {6, 2, 1, 0, 3}, {5, 2, 0, 0, 3}, {3, 2, 0, 0, 1},
	    {2, 2, 0, 0, 0}, {1, 0, 0, 0, 1}};
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct algo_pinglist_server s;
		p.max_peers = want[i][0];
		fill(t, &p, shape, 2);
		assert_ok(algo_pinglist_server(&s, &t->plan, 0, test_err()));
		for (int v = 0; v < 3; v++)
			if (peers_at(t, 0, v) != want[i][v + 1])
				fail_msg("cap %u, level %d: %u", p.max_peers, v,
				    peers_at(t, 0, v));
		assert_int_equal(s.n_peers - s.end[2], want[i][4]);
		if (want[i][4])
			assert_int_equal(algo_pinglist_at(&s, s.n_peers - 1)
					     .address,
			    topo_addr_of_vip(want[i][4] == 3 ? 9 : 1));
	}
}

/* Without room being short a level's peers are there if it is on, whatever others
 * are. */
static void levels_that_are_off_have_no_peers(void **state)
{
	struct table *t = *state;
	struct algo_pinglist_params p = defaults();
	const struct topo_clos shape[] = {shape_of(2, 4, 3), shape_of(1, 2, 3)};
	static const uint32_t all[] = {2, 7, 1, 3};
	strcpy(p.vips, "198.18.0.9,198.18.0.1,198.18.0.5");
	p.inter_dc_servers = 1;
	for (uint32_t on = 1; on < 16; on++) {
		struct algo_pinglist_server s;
		p.levels = on;
		fill(t, &p, shape, 2);
		assert_ok(algo_pinglist_server(&s, &t->plan, 0, test_err()));
		for (unsigned v = 0; v < 4; v++) {
			const uint32_t n = v < 3 ? peers_at(t, 0, (int)v)
						 : s.n_peers - s.end[2];
			if (n != (on & 1u << v ? all[v] : 0))
				fail_msg("levels %u, level %u: %u", on, v, n);
		}
	}
}

/* The half that dc is granted is inter_dc's when dc has no use for it. */
static void inter_dc_gets_what_dc_leaves(void **state)
{
	struct table *t = *state;
	struct algo_pinglist_params p = defaults();
	const struct topo_clos shape[] = {shape_of(1, 2, 3), shape_of(1, 2, 3)};
	/* Server 0: 2 tor peers, 1 dc peer, and 5 inter_dc ones if they fit. */
	static const uint32_t want[][4] = {{8, 2, 1, 5}, {7, 2, 1, 4},
	    {4, 2, 1, 1}, {3, 2, 0, 1}};
	p.inter_dc_servers = 5;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		p.max_peers = want[i][0];
		fill(t, &p, shape, 2);
		for (int v = 0; v < 3; v++)
			if (peers_at(t, 0, v) != want[i][v + 1])
				fail_msg("cap %u, level %d: %u", p.max_peers, v,
				    peers_at(t, 0, v));
	}
}

/* Parameters set in code, past the table's ranges: any bytes at all. */
static void no_parameters_exceed_the_hard_limits(void **state)
{
	const struct topo_clos shape[] = {shape_of(2, 2, 3), shape_of(1, 2, 2)};
	static const char *const ports[] = {"1", "1,2", "1,2,3,4,5,6,7,8"};
	(void)state;
	for (uint32_t run = 0; run < 5000; run++) {
		struct algo_pinglist_params p;
		struct algo_pinglist plan;
		struct algo_pinglist_server s;
		struct sim_rng r;
		uint32_t *word = &p.levels;
		test_rng(&r, run);
		for (size_t i = 0;
		     i < offsetof(struct algo_pinglist_params, ports) / 4;
		     i++) {
			const uint32_t x = sim_rng_u32(&r);
			word[i] = x >> (sim_rng_u32(&r) % 32);
		}
		strcpy(p.ports, ports[run % 3]);
		strcpy(p.vips, run % 2 ? "" : "198.18.0.1");
		assert_ok(algo_pinglist_open(&plan, &p, shape, 2, test_err()));
		for (uint32_t i = 0; i < plan.n_servers; i++) {
			assert_ok(
			    algo_pinglist_server(&s, &plan, i, test_err()));
			assert_true(s.n_peers <= p.max_peers);
			for (uint32_t k = 0; k < s.n_peers; k++) {
				const struct algo_pinglist_peer peer =
				    algo_pinglist_at(&s, k);
				const uint32_t n = plan.n_kinds[peer.level];
				for (uint32_t v = 0; v < n; v++) {
					const struct algo_pinglist_entry e =
					    algo_pinglist_entry(&plan, peer, v);
					if (e.payload > 65536 ||
					    e.interval_s < 10 * n)
						fail_msg("run %u: %u B, %u s",
						    run, e.payload,
						    e.interval_s);
				}
			}
		}
	}
}

static void tables_refuse_what_the_limits_forbid(void **state)
{
	struct algo_pinglist_params p = defaults();
	(void)state;
	static const char *const bad[][2] = {{"min_interval_s", "9"},
	    {"tor_interval_s", "0"}, {"payload_bytes", "65537"},
	    {"max_peers", "0"}};
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(
		    sim_field_set(sim_field_find(algo_pinglist_fields,
				      bad[i][0]),
			&p, bad[i][1], NULL),
		    SIM_ERANGE);
}

static void bad_lists_and_shapes_are_refused(void **state)
{
	static const struct {
		const char *ports, *vips;
		int rc;
	} bad[] = {
	    {"", "", SIM_EINVAL},
	    {"0", "", SIM_EINVAL},
	    {"65536", "", SIM_EINVAL},
	    {"1,", "", SIM_EINVAL},
	    {",1", "", SIM_EINVAL},
	    {"1,1", "", SIM_EINVAL},
	    {"1 ,2", "", SIM_EINVAL},
	    {"00000000000000000001", "", SIM_EINVAL},
	    {"1,2,3,4,5,6,7,8,9", "", SIM_ELIMIT},
	    {"1", "10.0.0.1", SIM_EINVAL},
	    {"1", "10.0.0.12", SIM_EINVAL},
	    {"1", "224.0.0.1", SIM_EINVAL},
	    {"1", "0.0.0.1", SIM_EINVAL},
	    {"1", "127.0.0.1", SIM_EINVAL},
	    {"1", "198.18.0.1,198.18.0.1", SIM_EINVAL},
	    {"1", "198.18.0.1,", SIM_EINVAL},
	    {"1", "198.18.0", SIM_EINVAL},
	};
	const struct topo_clos shape = shape_of(2, 2, 3), none = {0};
	const struct topo_clos huge = shape_of(1, 1, 16777214);
	struct topo_clos pair[] = {huge, huge};
	struct algo_pinglist_params p = defaults();
	struct algo_pinglist_server s;
	struct algo_pinglist l;
	(void)state;
	assert_int_equal(algo_pinglist_open(&l, &p, &none, 1, NULL),
	    SIM_EINVAL);
	assert_int_equal(algo_pinglist_open(&l, &p, &shape, 0, NULL),
	    SIM_ELIMIT);
	assert_int_equal(algo_pinglist_open(&l, &p, &shape, 17, NULL),
	    SIM_ELIMIT);
	assert_int_equal(algo_pinglist_open(&l, &p, pair, 2, NULL), SIM_ELIMIT);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		strcpy(p.ports, bad[i].ports);
		strcpy(p.vips, bad[i].vips);
		if (algo_pinglist_open(&l, &p, &shape, 1, NULL) != bad[i].rc)
			fail_msg("ports \"%s\", vips \"%s\"", p.ports, p.vips);
	}
	strcpy(p.ports, "1");
	/* The first address that is no server's. */
	strcpy(p.vips, "10.0.0.13");
	assert_ok(algo_pinglist_open(&l, &p, &shape, 1, test_err()));
	assert_int_equal(algo_pinglist_server(&s, &l, 12, NULL), SIM_ERANGE);
	for (int i = 0; i < 65; i++)
		sprintf(p.vips + strlen(p.vips) - (i == 0 ? 9 : 0),
		    "%s198.18.0.%d", i ? "," : "", i);
	assert_int_equal(algo_pinglist_open(&l, &p, &shape, 1, NULL),
	    SIM_ELIMIT);
}

/* --- XML ------------------------------------------------------------------ */
struct memory {
	struct algo_pinglist_doc doc;
	struct algo_pinglist_xml xml;
	char text[TEXT];
};

static struct memory *new_memory(uint32_t max_entries)
{
	struct memory *m = calloc(1, sizeof(*m));
	assert_non_null(m);
	m->doc.max_entries = max_entries;
	m->doc.max_bytes = TEXT;
	m->doc.entry = calloc(max_entries, sizeof(*m->doc.entry));
	m->doc.work =
	    calloc(algo_pinglist_xml_work(max_entries), sizeof(uint32_t));
	assert_non_null(m->doc.entry);
	assert_non_null(m->doc.work);
	return m;
}

static void free_memory(struct memory *m)
{
	free(m->doc.entry);
	free(m->doc.work);
	free(m);
}

static size_t write_text(struct memory *m, const struct algo_pinglist *l,
    uint32_t id, size_t step)
{
	size_t n, at = 0;
	algo_pinglist_xml_open(&m->xml, l);
	assert_ok(algo_pinglist_xml_start(&m->xml, id, test_err()));
	while ((n = algo_pinglist_xml_next(&m->xml, m->text + at, step)) > 0)
		at += n;
	assert_true(at + step < TEXT);
	return at;
}

/* A plan with every kind of entry. */
static void open_rich(struct algo_pinglist *l)
{
	struct algo_pinglist_params p = defaults();
	const struct topo_clos shape[] = {shape_of(3, 4, 70),
	    shape_of(2, 2, 3)};
	strcpy(p.ports, "8765,65535,1");
	strcpy(p.vips, "198.18.0.200,223.255.255.255,1.0.0.0");
	p.payload_probes = 1;
	p.http_probes = 1;
	assert_ok(algo_pinglist_open(l, &p, shape, 2, test_err()));
}

static void what_is_written_reads_back(void **state)
{
	struct memory *m = new_memory(1000);
	struct algo_pinglist l;
	(void)state;
	open_rich(&l);
	for (uint32_t id = 0; id < l.n_servers; id += id < 6 ? 1 : 67) {
		struct algo_pinglist_server s;
		const size_t n = write_text(m, &l, id, 5000);
		assert_ok(algo_pinglist_server(&s, &l, id, test_err()));
		assert_ok(algo_pinglist_xml_read(&m->doc, topo_addr_of_host(id),
		    m->text, n, test_err()));
		assert_int_equal(m->doc.n_entries, algo_pinglist_n_entries(&s));
		assert_true(m->doc.version == l.version);
		uint32_t i = 0;
		for (uint32_t k = 0; k < s.n_peers; k++) {
			const struct algo_pinglist_peer peer =
			    algo_pinglist_at(&s, k);
			for (uint32_t v = 0; v < l.n_kinds[peer.level]; v++) {
				const struct algo_pinglist_entry e =
				    algo_pinglist_entry(&l, peer, v);
				assert_memory_equal(&m->doc.entry[i++], &e,
				    sizeof(e));
			}
		}
		assert_int_equal(i, m->doc.n_entries);
		for (int r = 0; r < ALGO_PINGLIST_N_REASONS; r++)
			assert_int_equal(m->doc.n[r], 0);
	}
	free_memory(m);
}

/* A list of IPv6 has the peers of that of IPv4, by the servers' other addresses, but
 * for services. */
static void lists_of_ipv6_are_those_of_ipv4(void **state)
{
	struct memory *m = new_memory(900);
	struct topo_ip_book book;
	struct topo_ip_net net;
	struct algo_pinglist l;
	(void)state;
	open_rich(&l);
	const uint64_t version = l.version;
	assert_ok(topo_ip_net_parse("2001:db8::/64", &net, test_err()));
	assert_ok(algo_pinglist_add_net(&l, &net, test_err()));
	assert_true(l.version != version);
	assert_ok(topo_ip_book_open(&book, 1000, test_err()));
	m->doc.book = &book;
	for (uint32_t id = 0; id < l.n_servers; id += id < 6 ? 1 : 67) {
		struct algo_pinglist_server s;
		const struct topo_ip self = topo_ip_of_host(&net, id);
		size_t n = 0, more;
		algo_pinglist_xml_open(&m->xml, &l);
		m->xml.of_6 = 1;
		assert_ok(algo_pinglist_xml_start(&m->xml, id, test_err()));
		while ((more = algo_pinglist_xml_next(&m->xml, m->text + n,
			    ALGO_PINGLIST_XML_LEAST)) > 0)
			n += more;
		assert_ok(algo_pinglist_xml_read(&m->doc,
		    topo_ip_book_note(&book, &self), m->text, n, test_err()));
		assert_ok(algo_pinglist_server(&s, &l, id, test_err()));
		assert_int_equal(algo_pinglist_find(&l, &self), id);
		const uint32_t kinds = l.n_kinds[ALGO_PINGLIST_TOR];
		assert_int_equal(m->doc.n_entries,
		    s.end[ALGO_PINGLIST_INTER_DC] * kinds);
		for (uint32_t i = 0; i < m->doc.n_entries; i++) {
			struct algo_pinglist_entry want =
			    algo_pinglist_entry(&l,
				algo_pinglist_at(&s, i / kinds), i % kinds);
			const struct topo_ip ip =
			    topo_ip_book_look(&book, m->doc.entry[i].address);
			assert_int_equal(algo_pinglist_find(&l, &ip),
			    topo_addr_to_host(want.address, l.n_servers));
			want.address = m->doc.entry[i].address;
			assert_memory_equal(&m->doc.entry[i], &want,
			    sizeof(want));
		}
	}
	topo_ip_book_close(&book);
	free_memory(m);
}

static void networks_without_room_for_servers_are_refused(void **state)
{
	static const char *const bad[] = {"fd00::/105", "fd00::1", "fe80::/64",
	    "ff02::/16", "::/64", "2002::/16", "10.0.0.0/8"};
	struct algo_pinglist l;
	struct topo_ip_net net = {{{0}}, 0};
	struct sim_err e;
	(void)state;
	open_rich(&l);
	const uint64_t version = l.version;
	assert_int_equal(algo_pinglist_add_net(&l, &net, &e), SIM_EINVAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_ok(topo_ip_net_parse(bad[i], &net, test_err()));
		if (algo_pinglist_add_net(&l, &net, &e) != SIM_EINVAL)
			fail_msg("%s is taken", bad[i]);
	}
	assert_true(l.version == version && l.net6.bits == 0);
	const struct topo_ip six = {{0xfd, [15] = 1}};
	assert_int_equal(algo_pinglist_find(&l, &six), TOPO_NONE);
}

static void the_same_plan_gives_the_same_bytes(void **state)
{
	struct memory *a = new_memory(1), *b = new_memory(1);
	struct algo_pinglist l, again;
	char *file = NULL;
	size_t n_file = 0;
	(void)state;
	/* The same text must come of objects at other addresses, over other
	 * garbage, and through buffers of other sizes. */
	memset(&l, 0x55, sizeof(l));
	memset(&again, 0xaa, sizeof(again));
	open_rich(&l);
	open_rich(&again);
	const size_t n = write_text(a, &l, 300, 4096);
	assert_int_equal(write_text(b, &again, 300, 50000), n);
	assert_memory_equal(a->text, b->text, n);
	FILE *out = open_memstream(&file, &n_file);
	assert_ok(algo_pinglist_xml_write(&a->xml, 300, out, test_err()));
	fclose(out);
	assert_int_equal(n_file, n);
	assert_memory_equal(file, b->text, n);
	free(file);
	free_memory(a);
	free_memory(b);
}

/* A golden of the form and of the version: replicas of other builds and
 * machines must agree with it. The version was computed apart from this code,
 * by FNV-1a's definition. */
static void a_small_list_is_these_bytes(void **state)
{
	static const char want[] =
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<pinglist server=\"10.0.0.2\" version=\"75e89fb4fe856268\" "
	    "count=\"2\">\n"
	    "  <peer address=\"10.0.0.1\" port=\"8765\" level=\"tor\" "
	    "class=\"0\" interval_s=\"10\" payload=\"0\"/>\n"
	    "  <peer address=\"10.0.0.4\" port=\"8765\" level=\"dc\" "
	    "class=\"0\" interval_s=\"30\" payload=\"0\"/>\n"
	    "</pinglist>\n";
	struct memory *m = new_memory(1);
	const struct algo_pinglist_params p = defaults();
	const struct topo_clos shape = shape_of(1, 2, 2);
	struct algo_pinglist l;
	(void)state;
	assert_ok(algo_pinglist_open(&l, &p, &shape, 1, test_err()));
	m->text[write_text(m, &l, 1, 4096)] = '\0';
	assert_string_equal(m->text, want);
	free_memory(m);
}

/* A peer gets each kind once for each class, and a service none but the
 * handshake, whatever it is asked for. */
static void pings_of_a_peer_are_of_each_kind(void **state)
{
	const struct topo_clos shape = shape_of(1, 2, 2);
	(void)state;
	for (unsigned with = 0; with < 4; with++) {
		struct algo_pinglist_params p = defaults();
		struct algo_pinglist l;
		strcpy(p.ports, "8765,8766");
		strcpy(p.vips, "198.18.0.1");
		p.payload_probes = with & 1;
		p.http_probes = with >> 1;
		const uint32_t n = 1 + (with & 1) + (with >> 1);
		assert_ok(algo_pinglist_open(&l, &p, &shape, 1, test_err()));
		for (int v = 0; v < ALGO_PINGLIST_N_LEVELS; v++) {
			const int vip = v == ALGO_PINGLIST_VIP;
			const struct algo_pinglist_peer peer = {.level = v};
			uint32_t n_http[2] = {0}, n_payload[2] = {0};
			assert_int_equal(l.n_kinds[v], vip ? 1 : 2 * n);
			for (uint32_t k = 0; k < l.n_kinds[v]; k++) {
				const struct algo_pinglist_entry x =
				    algo_pinglist_entry(&l, peer, k);
				assert_int_equal(x.port,
				    vip ? 80 : 8765 + x.class);
				n_http[x.class] += x.ping == AGENT_PING_HTTP;
				n_payload[x.class] += x.payload > 0;
				assert_true(!x.payload || !x.ping);
			}
			for (int c = 0; c < 2; c++) {
				assert_int_equal(n_http[c],
				    vip ? 0 : p.http_probes);
				assert_int_equal(n_payload[c],
				    vip ? 0 : p.payload_probes);
			}
		}
	}
}

static void each_parameter_changes_the_version(void **state)
{
	const struct topo_clos shape[] = {shape_of(2, 2, 3), shape_of(2, 2, 3),
	    shape_of(2, 3, 2)};
	static const char *const change[][2] = {{"levels", "[tor]"},
	    {"max_peers", "7"}, {"min_interval_s", "11"},
	    {"dc_interval_s", "31"}, {"inter_dc_interval_s", "61"},
	    {"vip_interval_s", "61"}, {"inter_dc_servers", "2"},
	    {"payload_probes", "true"}, {"http_probes", "true"},
	    {"ports", "8766"}, {"ports", "8765,8766"}, {"vips", "198.18.0.1"},
	    {"vip_port", "81"}};
	enum { N = sizeof(change) / sizeof(change[0]) };
	uint64_t seen[N + 3];
	struct algo_pinglist l;
	(void)state;
	for (int i = 0; i < N + 3; i++) {
		struct algo_pinglist_params p = defaults();
		if (i < N)
			assert_ok(
			    sim_field_set(sim_field_find(algo_pinglist_fields,
					      change[i][0]),
				&p, change[i][1], test_err()));
		assert_ok(algo_pinglist_open(&l, &p, &shape[i == N + 1 ? 2 : 0],
		    i == N + 2 ? 2 : 1, test_err()));
		seen[i] = l.version;
		for (int k = 0; k < i; k++)
			assert_true(seen[k] != seen[i]);
	}
}

static int write_and_read(void *arg, struct sim_err *e)
{
	struct memory *m = arg;
	struct algo_pinglist l;
	open_rich(&l);
	const size_t n = write_text(m, &l, 0, 4096);
	return algo_pinglist_xml_read(&m->doc, topo_addr_of_host(0), m->text, n,
	    e);
}

/* Lists are written and read without any allocation, so none can fail. */
static void nothing_allocates(void **state)
{
	struct memory *m = new_memory(1000);
	(void)state;
	test_fail_alloc(0);
	assert_ok(write_and_read(m, test_err()));
	assert_int_equal(test_fail_alloc(0), 0);
	test_fail_alloc(1);
	assert_ok(write_and_read(m, test_err()));
	test_fail_alloc(0);
	free_memory(m);
}

static void a_full_disk_is_reported(void **state)
{
	struct memory *m = new_memory(1);
	struct algo_pinglist l;
	FILE *out = fopen("/dev/full", "w");
	(void)state;
	if (!out) {
		free_memory(m);
		skip();
	}
	open_rich(&l);
	setvbuf(out, NULL, _IONBF, 0);
	algo_pinglist_xml_open(&m->xml, &l);
	assert_int_equal(algo_pinglist_xml_write(&m->xml, 0, out, NULL),
	    SIM_EIO);
	assert_int_equal(algo_pinglist_xml_write_all(&m->xml, out, NULL),
	    SIM_EIO);
	assert_int_equal(algo_pinglist_xml_write(&m->xml, 900, out, NULL),
	    SIM_ERANGE);
	fclose(out);
	free_memory(m);
}

int main(void)
{
	static struct table table;
	void *t = &table;
#define WITH_TABLE(f) cmocka_unit_test_prestate(f, t)
	const struct CMUnitTest tests[] = {
	    WITH_TABLE(the_graphs_of_a_data_centre_are_complete),
	    WITH_TABLE(chosen_servers_of_all_data_centres_probe_each_other),
	    WITH_TABLE(the_cap_keeps_pairs_in_both_directions),
	    WITH_TABLE(a_thinned_ring_has_its_quota_and_spreads),
	    WITH_TABLE(the_cap_drops_dc_peers_first_then_others),
	    WITH_TABLE(levels_that_are_off_have_no_peers),
	    WITH_TABLE(inter_dc_gets_what_dc_leaves),
	    cmocka_unit_test(no_parameters_exceed_the_hard_limits),
	    cmocka_unit_test(tables_refuse_what_the_limits_forbid),
	    cmocka_unit_test(bad_lists_and_shapes_are_refused),
	    cmocka_unit_test(what_is_written_reads_back),
	    cmocka_unit_test(the_same_plan_gives_the_same_bytes),
	    cmocka_unit_test(lists_of_ipv6_are_those_of_ipv4),
	    cmocka_unit_test(networks_without_room_for_servers_are_refused),
	    cmocka_unit_test(a_small_list_is_these_bytes),
	    cmocka_unit_test(pings_of_a_peer_are_of_each_kind),
	    cmocka_unit_test(each_parameter_changes_the_version),
	    cmocka_unit_test(nothing_allocates),
	    cmocka_unit_test(a_full_disk_is_reported),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/pinglist", tests,
	    NULL, NULL);
}
