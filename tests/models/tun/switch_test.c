/* tests/models/tun/switch_test.c -- packets one by one obey the models' laws.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_cdf.h>

#include "models/sim/sim.h"
#include "models/tun/switch.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"
#include "topo/mesh.h"

static const struct topo_clos shape = {2, 4, 3, 2, 3, .n_cables = 0};

struct rig {
	struct scenes s;
	struct scene *scene;
	struct tun_switch_params params;
	struct tun_switch net;
};

static void open_topo(struct rig *g, struct topo_mesh *mesh)
{
	*g = (struct rig){.scene = NULL};
	if (mesh)
		scenes_open_mesh(&g->s, mesh);
	else
		scenes_open(&g->s, &shape);
	g->s.params.noise.rate = scenes_fixed(0);
	assert_ok(
	    sim_field_defaults(tun_switch_fields, &g->params, test_err()));
	assert_ok(sim_field_defaults(fabric_sim_icmp_fields, &g->params.icmp,
	    test_err()));
	g->params.icmp.t_max = 0;
	g->params.icmp.latency_us = scenes_fixed(0);
	g->scene = scenes_draw(&g->s, 0);
}

static void open_rig(struct rig *g)
{
	open_topo(g, NULL);
}

static void add_fault(struct rig *g, topo_link l, double rate)
{
	const struct truth_fault f = {.link = l,
	    .rate = rate,
	    .to_ns = SIM_NEVER};
	assert_ok(truth_add_fault(&g->scene->truth, &f, test_err()));
	truth_sort(&g->scene->truth);
}

/* A slow link, whose delays are exponential. */
static void add_slow(struct rig *g, topo_link l, double delay_us)
{
	const struct truth_fault f = {.link = l,
	    .to_ns = SIM_NEVER,
	    .delay_us = delay_us,
	    .law = TRUTH_EXPONENTIAL};
	assert_ok(truth_add_fault(&g->scene->truth, &f, test_err()));
	truth_sort(&g->scene->truth);
}

/* Begin with the parameters and the truth that the rig has by now. */
static void begin(struct rig *g)
{
	assert_ok(tun_switch_open(&g->net, &g->s.topo, &g->params, test_err()));
	assert_ok(
	    tun_switch_begin(&g->net, g->scene, 30 * SIM_SEC, test_err()));
}

static void close_rig(struct rig *g)
{
	tun_switch_close(&g->net);
	scenes_close(&g->s);
}

static struct tun_packet packet(topo_host src, topo_host dst, uint16_t port,
    uint8_t ttl)
{
	return (struct tun_packet){
	    .tuple = {.src_ip = topo_addr_of_host(src),
		.dst_ip = topo_addr_of_host(dst),
		.src_port = port,
		.dst_port = 80,
		.proto = TOPO_PROTO_TCP},
	    .bytes = 40,
	    .ttl = ttl,
	};
}

static struct tun_way send(struct rig *g, const struct tun_packet *p, sim_ns at)
{
	struct tun_way w;
	assert_ok(tun_switch_send(&g->net, p, at, &w, test_err()));
	return w;
}

static struct tun_way answer(struct rig *g, const struct tun_packet *p,
    sim_ns at, uint32_t *from)
{
	struct tun_way w;
	assert_ok(tun_switch_answer(&g->net, p, at, &w, from, test_err()));
	return w;
}

static unsigned path_of(const struct rig *g, const struct tun_packet *p,
    topo_link path[])
{
	return topo_path(&g->s.topo, g->scene->ecmp_seed,
	    p->tuple.src_ip - topo_addr_of_host(0),
	    p->tuple.dst_ip - topo_addr_of_host(0),
	    topo_tuple_digest(&p->tuple), path);
}

static struct tun_packet random_packet(const struct rig *g, struct sim_rng *r,
    uint8_t ttl)
{
	const uint32_t n = g->s.topo.n_hosts;
	const topo_host src = sim_rng_below(r, n);
	topo_host dst = sim_rng_below(r, n - 1);
	dst += dst >= src;
	return packet(src, dst, (uint16_t)sim_rng_u32(r), ttl);
}

/* --- ways ----------------------------------------------------------------- */

static void a_packet_takes_the_links_of_its_tuple(void **state)
{
	(void)state;
	for (unsigned sort = 0; sort < 2; sort++) {
		struct topo_mesh *mesh = NULL;
		struct rig g;
		struct sim_rng r;
		if (sort == 1)
			assert_ok(topo_mesh_fat_tree(&mesh, 4, 0, test_err()));
		open_topo(&g, mesh);
		g.params.hop_us = 3;
		begin(&g);
		uint64_t *want = calloc(g.s.topo.n_links, sizeof(*want));
		assert_non_null(want);
		test_rng(&r, sort);
		for (unsigned i = 0; i < 2000; i++) {
			const struct tun_packet p = random_packet(&g, &r, 64);
			topo_link path[TOPO_MAX_HOPS];
			const unsigned n = path_of(&g, &p, path);
			const struct tun_way w = send(&g, &p, i * SIM_MS);
			for (unsigned k = 0; k < n; k++)
				want[path[k]]++;
			assert_int_equal(w.fate, TUN_ARRIVES);
			assert_int_equal(w.n_links, n);
			assert_int_equal(w.last, path[n - 1]);
			assert_true(w.at == i * SIM_MS + n * 3 * SIM_US);
		}
		assert_memory_equal(want, g.net.offered,
		    g.s.topo.n_links * sizeof(*want));
		free(want);
		close_rig(&g);
	}
}

static void only_hosts_to_other_hosts_by_their_own_address(void **state)
{
	struct rig g;
	topo_host dst;
	(void)state;
	open_rig(&g);
	begin(&g);
	struct tun_packet p = packet(3, 5, 1, 64);
	assert_int_equal(tun_switch_admit(&g.net, &p, 3, &dst), TUN_FINE);
	assert_int_equal(dst, 5);
	assert_int_equal(tun_switch_admit(&g.net, &p, 4, &dst), TUN_SOURCE);
	const uint32_t others[] = {p.tuple.src_ip, topo_addr_of_host(24),
	    topo_addr_of_host(0) - 1, topo_addr_of_switch(0),
	    topo_addr_of_link(0), topo_addr_of_vip(0), 0x7f000001};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		p.tuple.dst_ip = others[i];
		assert_int_equal(tun_switch_admit(&g.net, &p, 3, &dst),
		    TUN_NOWHERE);
	}
	close_rig(&g);
}

/* --- loss ----------------------------------------------------------------- */

/* The k-th link with rate p_k loses what got that far: N packets over six
 * links, chi-square at 1e-6. And every loss is in the list, once. */
static void each_link_loses_its_share_of_what_comes(void **state)
{
	enum { N = 200000, LINKS = 6 };
	static const double rate[LINKS] = {0.02, 0, 0.1, 0.3, 0.001, 0.05};
	const struct tun_packet p = packet(0, 20, 7, 64);
	topo_link path[TOPO_MAX_HOPS];
	uint64_t got[LINKS + 1] = {0}, listed[LINKS] = {0};
	double want[LINKS + 1], left = 1;
	struct rig g;
	(void)state;
	open_rig(&g);
	assert_int_equal(path_of(&g, &p, path), LINKS);
	for (unsigned i = 0; i < LINKS; i++)
		add_fault(&g, path[i], rate[i]);
	begin(&g);
	for (unsigned i = 0; i < N; i++) {
		const struct tun_way w = send(&g, &p, i);
		assert_true(
		    w.fate == TUN_ARRIVES || w.last == path[w.n_links - 1]);
		got[w.fate == TUN_LOST ? w.n_links - 1 : LINKS]++;
	}
	for (unsigned i = 0; i < LINKS; i++) {
		want[i] = left * rate[i];
		left *= 1 - rate[i];
	}
	want[LINKS] = left;
	assert_true(law_chi2(got, want, LINKS + 1) > 1e-6);
	for (size_t i = 0; i < g.net.n_drops; i++)
		for (unsigned k = 0; k < LINKS; k++)
			listed[k] += g.net.drop[i].link == path[k];
	uint64_t offered = N;
	for (unsigned i = 0; i < LINKS; i++) {
		assert_true(g.net.offered[path[i]] == offered);
		assert_true(g.net.lost[path[i]] == got[i]);
		assert_true(listed[i] == got[i]);
		offered -= got[i];
	}
	close_rig(&g);
}

/* Flows of 20 packets over two bad links: how many are lost at the one and at
 * the other, given that any is, is as the bulk plane draws it. Two histograms,
 * chi-square at 1e-6. */
static void flows_lose_as_those_of_the_bulk_plane(void **state)
{
	enum { FLOWS = 30000, PKTS = 20, CELLS = 7 };
	const double hazard[2] = {scene_hazard(0.05), scene_hazard(0.1)};
	const struct tun_packet p = packet(0, 20, 7, 64);
	static uint64_t mine[CELLS * CELLS], theirs[CELLS * CELLS];
	topo_link path[TOPO_MAX_HOPS];
	uint64_t n_lossy = 0;
	struct sim_rng r;
	struct rig g;
	(void)state;
	open_rig(&g);
	path_of(&g, &p, path);
	add_fault(&g, path[1], 0.05);
	add_fault(&g, path[4], 0.1);
	begin(&g);
	for (unsigned i = 0; i < FLOWS; i++) {
		unsigned n[2] = {0, 0};
		for (unsigned k = 0; k < PKTS; k++) {
			const struct tun_way w = send(&g, &p, i);
			if (w.fate == TUN_LOST)
				n[w.last == path[4]]++;
		}
		if (n[0] + n[1] == 0)
			continue;
		n_lossy++;
		mine[(n[0] < CELLS ? n[0] : CELLS - 1) * CELLS +
		    (n[1] < CELLS ? n[1] : CELLS - 1)]++;
	}
	test_rng(&r, 1);
	for (uint64_t i = 0; i < n_lossy; i++) {
		uint32_t n[2];
		scene_loss_marks(&r, PKTS, hazard, 2, n);
		scene_loss_drops(&r, PKTS, n, 2, n);
		theirs[(n[0] < CELLS ? n[0] : CELLS - 1) * CELLS +
		    (n[1] < CELLS ? n[1] : CELLS - 1)]++;
	}
	assert_true(law_chi2_equal(mine, theirs, CELLS * CELLS) > 1e-6);
	close_rig(&g);
}

/* 40,000 packets over 6 links of rate 0.01 each: 5.9 % are lost, give or take
 * 0.6 % (5 standard errors: once in 10^6 seeds). */
static void noise_is_lost_too(void **state)
{
	enum { N = 40000 };
	struct rig g;
	uint64_t n_lost = 0;
	(void)state;
	open_rig(&g);
	g.s.params.noise.rate = scenes_fixed(0.01);
	g.scene = scenes_draw(&g.s, 0);
	begin(&g);
	const struct tun_packet p = packet(0, 20, 7, 64);
	for (unsigned i = 0; i < N; i++)
		n_lost += send(&g, &p, i).fate == TUN_LOST;
	assert_near(n_lost / (double)N, 1 - pow(0.99, 6), 0.006);
	close_rig(&g);
}

/* Which packets of a flow are lost on its bad link, as bits. */
static void fates(struct rig *g, const struct tun_packet *p, uint64_t bits[],
    const struct tun_packet *other)
{
	begin(g);
	for (unsigned i = 0; i < 64 * 8; i++) {
		if (other)
			send(g, other, i);
		if (send(g, p, 1000 * i).fate == TUN_LOST)
			bits[i / 64] |= UINT64_C(1) << i % 64;
	}
	tun_switch_close(&g->net);
}

static void drops_beyond_the_list_are_counted(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g);
	g.params.max_drops = 3;
	add_fault(&g, topo_link_of(0, TOPO_UP), 1);
	begin(&g);
	const struct tun_packet p = packet(0, 20, 7, 64);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(send(&g, &p, i).fate, TUN_LOST);
	assert_int_equal(g.net.n_drops, 3);
	assert_int_equal(g.net.n_unlisted, 7);
	assert_int_equal(g.net.lost[topo_link_of(0, TOPO_UP)], 10);
	close_rig(&g);
}

static void neither_time_nor_other_links_change_a_links_losses(void **state)
{
	const struct tun_packet p = packet(0, 20, 7, 64);
	const struct tun_packet other = packet(13, 9, 7, 64);
	uint64_t alone[8] = {0}, along[8] = {0}, none[8] = {0};
	topo_link path[TOPO_MAX_HOPS];
	struct rig g;
	(void)state;
	open_rig(&g);
	path_of(&g, &p, path);
	add_fault(&g, path[3], 0.2);
	fates(&g, &p, alone, NULL);
	add_fault(&g, topo_link_of(13, TOPO_UP), 0.5);
	g.params.queue_us = 9;
	fates(&g, &p, along, &other);
	assert_memory_equal(alone, along, sizeof(alone));
	assert_memory_not_equal(alone, none, sizeof(alone));
	close_rig(&g);
}

static void a_fault_is_met_while_it_lasts(void **state)
{
	const struct tun_packet p = packet(0, 20, 7, 64);
	topo_link path[TOPO_MAX_HOPS];
	struct rig g;
	(void)state;
	open_rig(&g);
	g.params.hop_us = 10;
	path_of(&g, &p, path);
	const struct truth_fault f = {.link = path[2],
	    .rate = 1,
	    .from_ns = 50 * SIM_US,
	    .to_ns = 80 * SIM_US};
	assert_ok(truth_add_fault(&g.scene->truth, &f, test_err()));
	truth_sort(&g.scene->truth);
	begin(&g);
	/* The packet comes to its third link, which is the faulty one, 20 us
	 * after it left. */
	for (sim_ns us = 0; us < 100; us++) {
		const struct tun_way w = send(&g, &p, us * SIM_US);
		const int want = us >= 30 && us < 60;
		assert_int_equal(w.fate, want ? TUN_LOST : TUN_ARRIVES);
		if (want)
			assert_int_equal(w.last, path[2]);
	}
	close_rig(&g);
}

/* --- holes ---------------------------------------------------------------- */

static void holes_take_what_their_rules_say(void **state)
{
	struct rig g;
	struct sim_rng r;
	unsigned n_swallowed = 0;
	(void)state;
	open_rig(&g);
	for (topo_switch s = 0; s < g.s.topo.n_switches; s += 2) {
		struct truth_hole h = {.at = s, .to_ns = SIM_NEVER};
		assert_ok(blackhole_rule_init(&h.rule,
		    s % 4 ? BLACKHOLE_RULE_PAIR : BLACKHOLE_RULE_TUPLE, 0.2, s,
		    test_err()));
		assert_ok(truth_add_hole(&g.scene->truth, &h, test_err()));
	}
	truth_sort(&g.scene->truth);
	begin(&g);
	test_rng(&r, 0);
	for (unsigned i = 0; i < 5000; i++) {
		struct tun_packet p = random_packet(&g, &r, 64);
		topo_link path[TOPO_MAX_HOPS];
		topo_node from, to;
		const unsigned n = path_of(&g, &p, path);
		unsigned hole = 0;
		for (; hole + 1 < n; hole++) {
			topo_link_ends(&g.s.topo, path[hole], &from, &to);
			if (truth_swallows(&g.scene->truth,
				to - g.s.topo.n_hosts, &p.tuple, 0))
				break;
		}
		const struct tun_way w = send(&g, &p, 0);
		if (hole + 1 == n) {
			assert_int_equal(w.fate, TUN_ARRIVES);
		} else {
			n_swallowed++;
			assert_int_equal(w.fate, TUN_LOST);
			assert_int_equal(w.last, path[hole]);
			assert_true(g.net.drop[g.net.n_drops - 1].in_hole);
		}
		p.tuple.proto = TUN_PROTO_ICMP;
		assert_int_equal(send(&g, &p, 0).fate, TUN_ARRIVES);
	}
	assert_true(n_swallowed > 500 && n_swallowed == g.net.n_drops);
	close_rig(&g);
}

/* --- TTLs and answers ----------------------------------------------------- */

static void a_ttl_ends_at_its_switch_which_answers_backwards(void **state)
{
	(void)state;
	for (unsigned source = 0; source < 2; source++) {
		struct rig g;
		open_rig(&g);
		g.params.icmp.source = source;
		g.params.hop_us = 2;
		begin(&g);
		for (unsigned ttl = 0; ttl <= 8; ttl++) {
			const struct tun_packet p =
			    packet(0, 20, 7, (uint8_t)ttl);
			const unsigned want = ttl > 1 ? ttl : 1;
			topo_link path[TOPO_MAX_HOPS];
			topo_node a, b;
			uint32_t from;
			const unsigned n = path_of(&g, &p, path);
			struct tun_way w = send(&g, &p, SIM_SEC);
			if (ttl >= n) {
				assert_int_equal(w.fate, TUN_ARRIVES);
				continue;
			}
			assert_int_equal(w.fate, TUN_EXPIRES);
			assert_int_equal(w.n_links, want);
			assert_true(w.at == SIM_SEC + want * 2 * SIM_US);
			const uint64_t back =
			    g.net.offered[topo_link_reverse(path[0])];
			w = answer(&g, &p, w.at, &from);
			topo_link_ends(&g.s.topo, path[want - 1], &a, &b);
			assert_int_equal(from,
			    source ? topo_addr_of_switch(b - g.s.topo.n_hosts)
				   : topo_addr_of_link(path[want - 1]));
			assert_int_equal(w.fate, TUN_ARRIVES);
			assert_int_equal(w.n_links, want);
			assert_int_equal(w.last, topo_link_reverse(path[0]));
			assert_true(w.at == SIM_SEC + want * 4 * SIM_US);
			assert_true(g.net.offered[topo_link_reverse(path[0])] ==
			    back + 1);
		}
		close_rig(&g);
	}
}

static void a_switch_answers_no_more_than_it_may(void **state)
{
	struct rig g;
	uint32_t from;
	unsigned n = 0;
	(void)state;
	open_rig(&g);
	g.params.icmp.t_max = 10;
	g.params.icmp.burst = 5;
	begin(&g);
	struct tun_packet p = packet(0, 20, 7, 2);
	p.is_error = 1; /* no answer to an ICMP error, and no token gone */
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(answer(&g, &p, 0, &from).fate, TUN_SUPPRESSED);
	p.is_error = 0;
	for (unsigned i = 0; i < 100; i++)
		n += answer(&g, &p, 0, &from).fate == TUN_ARRIVES;
	assert_int_equal(n, 5);
	for (unsigned i = 1; i <= 100; i++)
		n +=
		    answer(&g, &p, i * SIM_SEC / 20, &from).fate == TUN_ARRIVES;
	assert_int_equal(n, 5 + 50);
	assert_true(g.net.icmp.load.n_sent == 55);
	close_rig(&g);
}

/* --- against the simulated fabric ----------------------------------------- */

enum { BINS = 25, PROBES = 8000, TTL = 3 };

/* What a probe with TTL 3 sees here and there: one bin a 10 us, and the last
 * for those that are not answered. */
static unsigned bin_of(sim_ns rtt)
{
	const sim_ns bin = rtt / (10 * SIM_US);
	return bin < BINS - 2 ? (unsigned)bin : BINS - 2;
}

static void probe_here(struct rig *g, uint64_t bins[])
{
	const struct tun_packet p = packet(0, 20, 7, TTL);
	begin(g);
	for (unsigned i = 0; i < PROBES; i++) {
		uint32_t from;
		struct tun_way w = send(g, &p, i * SIM_MS);
		if (w.fate == TUN_EXPIRES)
			w = answer(g, &p, w.at, &from);
		bins[w.fate == TUN_ARRIVES ? bin_of(w.at - i * SIM_MS)
					   : BINS - 1]++;
	}
}

static void probe_there(struct rig *g, uint64_t bins[])
{
	struct fabric_sim_params p;
	struct fabric_sim *sim;
	const struct tun_packet probe = packet(0, 20, 7, TTL);
	unsigned n_answers = 0;
	memset(&p, 0, sizeof(p));
	assert_ok(sim_field_defaults(fabric_sim_fields, &p, test_err()));
	p.hop_us = g->params.hop_us;
	p.queue_us = g->params.queue_us;
	p.lossless_probes = 0;
	p.icmp = g->params.icmp;
	assert_ok(fabric_sim_open(&sim, &g->s.topo, &p, test_err()));
	assert_ok(fabric_sim_begin(sim, g->scene, NULL, test_err()));
	struct fabric *f = fabric_sim_fabric(sim);
	for (unsigned i = 0; i < PROBES; i++) {
		const struct agent_action a = {.kind = AGENT_PROBE,
		    .ttl = TTL,
		    .tuple = probe.tuple};
		struct agent_event ev;
		topo_host host;
		sim_ns at;
		size_t n;
		assert_ok(f->ops->submit(f, 0, &a, 1, test_err()));
		assert_ok(f->ops->poll(f, (i + 1) * SIM_MS, &ev, &host, &at, 1,
		    &n, test_err()));
		if (n == 0)
			continue;
		n_answers++;
		bins[bin_of(at - i * SIM_MS)]++;
		assert_ok(f->ops->poll(f, (i + 1) * SIM_MS, &ev, &host, &at, 1,
		    &n, test_err()));
		assert_int_equal(n, 0);
	}
	bins[BINS - 1] = PROBES - n_answers;
	f->ops->close(f);
}

/* Chi-square of two histograms at 1e-6, four times. */
static void probes_fare_as_in_simulated_time(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 4; run++) {
		uint64_t here[BINS] = {0}, there[BINS] = {0};
		const struct tun_packet p = packet(0, 20, 7, TTL);
		topo_link path[TOPO_MAX_HOPS];
		struct rig g;
		open_rig(&g);
		g.params.hop_us = 5;
		g.params.queue_us = run == 1 ? 0 : 10;
		g.params.icmp.latency_us = scenes_uniform(10, 60);
		path_of(&g, &p, path);
		if (run == 3) {
			add_slow(&g, path[1], 60);
			add_slow(&g, topo_link_reverse(path[0]), 30);
		}
		if (run == 1 || run == 2) {
			add_fault(&g, path[1], 0.2);
			add_fault(&g, path[3], 0.9); /* behind the TTL's end */
			add_fault(&g, topo_link_reverse(path[2]), 0.1);
		}
		probe_here(&g, here);
		probe_there(&g, there);
		assert_true(law_chi2_equal(here, there, BINS) > 1e-6);
		if (run == 1 || run == 2)
			assert_true(here[BINS - 1] > PROBES / 5);
		else
			assert_true(here[BINS - 1] == 0);
		close_rig(&g);
	}
}

/* --- delays --------------------------------------------------------------- */

/* A slow link, which adds an exponential time of mean 100 us to a constant
 * path: 20 bins of equal probability, at 1e-6. */
static void a_slow_link_adds_what_its_law_says(void **state)
{
	enum { N = 40000 };
	const struct tun_packet p = packet(0, 20, 7, 64);
	uint64_t bins[20] = {0};
	topo_link path[TOPO_MAX_HOPS];
	struct rig g;
	(void)state;
	open_rig(&g);
	g.params.hop_us = 1;
	path_of(&g, &p, path);
	add_slow(&g, path[2], 100);
	begin(&g);
	for (unsigned i = 0; i < N; i++) {
		const sim_ns now = i * SIM_SEC;
		const double us =
		    1e-3 * (double)(send(&g, &p, now).at - now) - 6;
		assert_true(us >= 0);
		bins[(unsigned)(20 * gsl_cdf_exponential_P(us, 100) *
		    0.999999)]++;
	}
	assert_true(law_chi2_uniform(bins, 20) > 1e-6);
	close_rig(&g);
}

static void packets_of_a_flow_stay_in_order(void **state)
{
	(void)state;
	for (uint32_t in_order = 0; in_order < 2; in_order++) {
		const struct tun_packet p = packet(0, 20, 7, 64);
		unsigned n_overtaken = 0;
		sim_ns last = 0;
		struct rig g;
		open_rig(&g);
		g.params.queue_us = 100;
		g.params.in_order = in_order;
		begin(&g);
		for (unsigned i = 0; i < 1000; i++) {
			const sim_ns now = i * SIM_US;
			const struct tun_way w = send(&g, &p, now);
			n_overtaken += w.at < last;
			assert_true(w.at >= now + 30 * SIM_US);
			last = w.at > last ? w.at : last;
		}
		assert_true(in_order ? n_overtaken == 0 : n_overtaken > 100);
		close_rig(&g);
	}
}

/* --- memory --------------------------------------------------------------- */

static int lose_some(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	const struct tun_packet p = packet(0, 20, 7, 64);
	struct tun_switch net;
	struct tun_way w;
	int rc = tun_switch_open(&net, &g->s.topo, &g->params, e);
	if (rc == 0)
		rc = tun_switch_begin(&net, g->scene, SIM_SEC, e);
	for (unsigned i = 0; rc == 0 && i < 100; i++)
		rc = tun_switch_send(&net, &p, i, &w, e);
	tun_switch_close(&net);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g);
	add_fault(&g, topo_link_of(0, TOPO_UP), 1);
	test_each_alloc_fails(lose_some, &g);
	scenes_close(&g.s);
}

static void more_links_than_addresses_are_refused(void **state)
{
	static const struct topo_clos huge = {.n_pods = 2,
	    .n_tors = 1200,
	    .n_t1 = 1000,
	    .n_t2 = 1,
	    .n_hosts = 1};
	struct tun_switch_params p = {.hop_us = 1};
	struct tun_switch net;
	struct sim_err e;
	struct topo t;
	(void)state;
	assert_ok(topo_open_clos(&t, &huge, test_err()));
	assert_int_equal(tun_switch_open(&net, &t, &p, &e), SIM_ELIMIT);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_packet_takes_the_links_of_its_tuple),
	    cmocka_unit_test(only_hosts_to_other_hosts_by_their_own_address),
	    cmocka_unit_test(each_link_loses_its_share_of_what_comes),
	    cmocka_unit_test(flows_lose_as_those_of_the_bulk_plane),
	    cmocka_unit_test(noise_is_lost_too),
	    cmocka_unit_test(drops_beyond_the_list_are_counted),
	    cmocka_unit_test(
		neither_time_nor_other_links_change_a_links_losses),
	    cmocka_unit_test(a_fault_is_met_while_it_lasts),
	    cmocka_unit_test(holes_take_what_their_rules_say),
	    cmocka_unit_test(a_ttl_ends_at_its_switch_which_answers_backwards),
	    cmocka_unit_test(a_switch_answers_no_more_than_it_may),
	    cmocka_unit_test(probes_fare_as_in_simulated_time),
	    cmocka_unit_test(a_slow_link_adds_what_its_law_says),
	    cmocka_unit_test(packets_of_a_flow_stay_in_order),
	    cmocka_unit_test(each_allocation_may_fail),
	    cmocka_unit_test(more_links_than_addresses_are_refused),
	};
	return cmocka_run_group_tests_name("models/tun/switch", tests, NULL,
	    NULL);
}
