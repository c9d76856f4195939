/* tests/models/packet/walk_test.c -- packets among switches: along topo_path()
 * where nothing is broken, and lost by the law of the bulk plane where it is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * 16 chi-square tests at 1e-6: one fires in 62,000 random seeds.
 */
#include "models/packet/walk.h"
#include "tests/rigs/bulk.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"
#include "topo/mesh.h"
#include "topo/region.h"

#define LEVEL 1e-6

static const struct topo_clos small = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 3,
    .n_hosts = 4};

/* --- an eye that remembers ------------------------------------------------ */

enum { MAX_SIGHTS = 600 };

struct sights {
	unsigned n;
	struct sight {
		topo_switch at;
		topo_link in;
		sim_ns t;
		struct obs_packet p;
	} sight[MAX_SIGHTS];
};

static int remember(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	struct sights *s = arg;
	(void)e;
	assert_true(s->n < MAX_SIGHTS);
	s->sight[s->n++] = (struct sight){at, in, t, *p};
	return 0;
}

static struct obs_packet packet_between(uint32_t src_ip, uint32_t dst_ip,
    uint16_t port)
{
	return (struct obs_packet){.ethertype = OBS_ETH_IPV4,
	    .ip = {.src_ip = src_ip,
		.dst_ip = dst_ip,
		.ttl = 64,
		.proto = TOPO_PROTO_TCP},
	    .src_port = port,
	    .dst_port = 80,
	    .n_bytes = 100};
}

static struct packet_net net_of(const struct scene *s)
{
	return (struct packet_net){
	    .walk = {.topo = s->topo, .scene = s},
	};
}

/* A small network in which nothing is lost. */
static struct packet_net open_quiet(struct scenes *x)
{
	scenes_open(x, &small);
	x->params.noise.scale = 0;
	return net_of(scenes_draw(x, 0));
}

/* Send P from host FROM at 0, by stream RUN. */
static struct packet_end send_one(const struct packet_net *net,
    const struct obs_packet *p, topo_host from, uint32_t run, struct sights *s)
{
	const struct packet_eye eye = {s, remember};
	struct packet_end end;
	struct sim_rng r;
	test_rng(&r, run);
	s->n = 0;
	assert_ok(packet_walk(net, p, from, 0, &r, &eye, &end, test_err()));
	return end;
}

/* --- where nothing is broken ---------------------------------------------- */

/* A sight at each switch of topo_path(), with one TTL less each time. */
static void assert_path(const struct scene *s, topo_host src, topo_host dst,
    uint16_t port)
{
	static struct sights seen;
	const struct obs_packet p = packet_between(topo_addr_of_host(src),
	    topo_addr_of_host(dst), port);
	const struct topo_tuple tuple = obs_packet_tuple(&p);
	struct packet_net net = net_of(s);
	topo_link path[TOPO_MAX_HOPS];
	sim_ns t = 0;
	net.hop_us = 1.5;
	const unsigned n = topo_path(s->topo, s->ecmp_seed, src, dst,
	    topo_tuple_digest(&tuple), path);
	const struct packet_end end = send_one(&net, &p, src, 0, &seen);
	assert_int_equal(end.fate, SCENE_WALK_DELIVERED);
	assert_int_equal(end.host, dst);
	assert_int_equal(end.n_links, n);
	assert_int_equal(seen.n, n > 0 ? n - 1 : 0);
	for (unsigned i = 0; i < n; i++) {
		const struct sight *x = &seen.sight[i];
		topo_node from, to;
		t += 1500 + topo_link_delay(s->topo, path[i]);
		if (i + 1 == n)
			break;
		topo_link_ends(s->topo, path[i], &from, &to);
		assert_int_equal(x->in, path[i]);
		assert_int_equal(x->at, to - s->topo->n_hosts);
		assert_int_equal(x->t, t);
		assert_int_equal(x->p.ip.ttl, 64 - i);
	}
	assert_int_equal(end.at, t);
	if (n > 0)
		assert_int_equal(end.link, path[n - 1]);
}

static void healthy_packets_go_by_topo_path(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 6; run++) {
		struct scenes x;
		struct sim_rng r;
		struct topo_mesh *m;
		const struct topo_region_params p = {3, 2, 1.4, ""};
		if (run % 3 == 1) {
			assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
			scenes_open_mesh(&x, m);
		} else {
			scenes_open(&x, &small);
		}
		if (run % 3 == 2) {
			topo_close(&x.topo);
			assert_ok(
			    topo_open_region(&x.topo, &small, &p, test_err()));
		}
		x.params.noise.scale = 0;
		struct scene *s = scenes_draw(&x, run);
		test_rng(&r, run);
		for (int i = 0; i < 2000; i++)
			assert_path(s, sim_rng_below(&r, x.topo.n_hosts),
			    sim_rng_below(&r, x.topo.n_hosts),
			    (uint16_t)sim_rng_u32(&r));
		scenes_close(&x);
	}
}

/* Seen with TTL k, k - 1, ..., 1 at k switches, and ended at the last. */
static void a_ttl_ends_where_it_would_become_0(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	const struct packet_net net = open_quiet(&x);
	struct obs_packet p = packet_between(topo_addr_of_host(0),
	    topo_addr_of_host(x.topo.n_hosts - 1), 7);
	for (uint8_t ttl = 0; ttl <= 6; ttl++) {
		p.ip.ttl = ttl;
		const struct packet_end end = send_one(&net, &p, 0, 0, &seen);
		const unsigned met = ttl == 0 ? 1 : ttl;
		assert_int_equal(end.fate,
		    ttl > 5 ? SCENE_WALK_DELIVERED : SCENE_WALK_EXPIRED);
		assert_int_equal(seen.n, met > 5 ? 5 : met);
		assert_int_equal(end.n_links, met);
		assert_int_equal(seen.sight[seen.n - 1].p.ip.ttl,
		    ttl > 5 ? ttl - 4 : ttl > 0);
	}
	scenes_close(&x);
}

static void ends_to_nobody_are_told(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	const struct packet_net net = open_quiet(&x);
	/* To a T2, to nobody, and to oneself. */
	const topo_switch t2 = x.topo.n_switches - 1;
	struct obs_packet p =
	    packet_between(topo_addr_of_host(0), topo_addr_of_switch(t2), 7);
	struct packet_end end = send_one(&net, &p, 0, 0, &seen);
	assert_int_equal(end.fate, SCENE_WALK_DELIVERED);
	assert_int_equal(end.host, TOPO_NONE);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.sight[2].at, t2);
	p.ip.dst_ip = 0;
	end = send_one(&net, &p, 0, 0, &seen);
	assert_int_equal(end.fate, SCENE_WALK_DELIVERED);
	assert_int_equal(end.host, TOPO_NONE);
	assert_int_equal(seen.n, 1);
	p.ip.dst_ip = topo_addr_of_host(5);
	end = send_one(&net, &p, 5, 0, &seen);
	assert_int_equal(end.host, 5);
	assert_int_equal(end.n_links + seen.n, 0);
	scenes_close(&x);
}

/* --- headers in headers --------------------------------------------------- */

static void lead_by(struct obs_packet *p, uint32_t src_ip, topo_switch via,
    uint8_t tos)
{
	const struct obs_ip outer = {.src_ip = src_ip,
	    .dst_ip = topo_addr_of_switch(via),
	    .ttl = 32,
	    .tos = tos,
	    .proto = OBS_PROTO_IPIP};
	obs_packet_wrap(p, &outer);
}

/* A probe of the link T1.0->T2.1 and back, and then on to a host: each switch
 * sees it before it takes a header off. */
static void nested_headers_lead_by_their_switches(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	const struct packet_net net = open_quiet(&x);
	const struct topo_clos *c = &x.topo.clos;
	const topo_switch t1 = topo_clos_t1(c, 0, 0), t2 = topo_clos_t2(c, 1);
	const topo_host dst = x.topo.n_hosts - 1;
	struct obs_packet p =
	    packet_between(topo_addr_of_host(0), topo_addr_of_host(dst), 7);
	lead_by(&p, topo_addr_of_host(0), t1, 0);
	lead_by(&p, topo_addr_of_host(0), t2, 0);
	lead_by(&p, topo_addr_of_host(0), t1, 0);
	assert_int_equal(p.n_bytes, 160);
	const struct packet_end end = send_one(&net, &p, 0, 0, &seen);
	assert_int_equal(end.fate, SCENE_WALK_DELIVERED);
	assert_int_equal(end.host, dst);
	/* ToR, T1, T2, T1, and T2, T1, ToR of the other pod. */
	assert_int_equal(seen.n, 7);
	const topo_switch at[] = {0, t1, t2, t1};
	const uint8_t layers[] = {3, 3, 2, 1, 0, 0, 0};
	const uint8_t ttl[] = {32, 31, 31, 31, 63, 62, 61};
	for (unsigned i = 0; i < 7; i++) {
		const struct sight *s = &seen.sight[i];
		if (i < 4)
			assert_int_equal(s->at, at[i]);
		assert_int_equal(s->p.n_outer, layers[i]);
		assert_int_equal(obs_packet_outermost(&s->p)->ttl, ttl[i]);
		assert_int_equal(s->p.n_bytes, 100 + 20 * layers[i]);
	}
	assert_int_equal(seen.sight[2].in, topo_clos_link_t1(c, 0, 1, TOPO_UP));
	assert_int_equal(seen.sight[3].in,
	    topo_clos_link_t1(c, 0, 1, TOPO_DOWN));
	scenes_close(&x);
}

/* Ports are within, so packets of all ports go one way; that of the outer
 * addresses. */
static void outer_addresses_alone_are_hashed(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	const struct packet_net net = open_quiet(&x);
	const topo_switch far = topo_clos_tor(&x.topo.clos, 1, 2);
	topo_switch by[2] = {0, 0};
	unsigned n_plain = 0;
	for (uint16_t port = 0; port < 200; port++) {
		struct obs_packet p = packet_between(topo_addr_of_host(0),
		    topo_addr_of_switch(far), port);
		send_one(&net, &p, 0, 0, &seen);
		n_plain += port > 0 && seen.sight[1].at != by[0];
		by[0] = seen.sight[1].at;
		lead_by(&p, topo_addr_of_host(0), far, 0);
		send_one(&net, &p, 0, 0, &seen);
		if (port > 0)
			assert_int_equal(seen.sight[1].at, by[1]);
		by[1] = seen.sight[1].at;
	}
	assert_true(n_plain > 50); /* of 199 changes at 1/2 each */
	scenes_close(&x);
}

static void a_mark_of_congestion_goes_to_the_packet_within(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	const struct packet_net net = open_quiet(&x);
	for (uint8_t inner = 0; inner < 4; inner++)
		for (uint8_t outer = 0; outer < 4; outer++) {
			struct obs_packet p =
			    packet_between(topo_addr_of_host(0),
				topo_addr_of_host(23), 7);
			p.ip.tos = inner | OBS_TOS_DEBUG;
			lead_by(&p, topo_addr_of_host(0),
			    topo_clos_t1(&x.topo.clos, 0, 0), outer);
			send_one(&net, &p, 0, 0, &seen);
			const int marked = outer == OBS_TOS_CE && inner > 0;
			assert_int_equal(seen.sight[2].p.ip.tos,
			    (marked ? OBS_TOS_CE : inner) | OBS_TOS_DEBUG);
		}
	scenes_close(&x);
}

/* --- losses --------------------------------------------------------------- */

static struct obs_packet packet_of(const struct obs *w, size_t flow)
{
	struct obs_packet p =
	    packet_between(topo_addr_of_host(w->flows.src_host[flow]),
		topo_addr_of_host(w->flows.dst_host[flow]),
		w->flows.src_port[flow]);
	p.dst_port = w->flows.dst_port[flow];
	return p;
}

/* Walk every packet of every flow of W; count losses by link. */
static uint64_t walk_all(const struct scene *s, const struct obs *w,
    uint32_t run, uint64_t drops[])
{
	size_t *fault_at = calloc(s->topo->n_links, sizeof(*fault_at));
	struct packet_net net = net_of(s);
	struct packet_end end;
	struct sim_rng r;
	uint64_t n = 0;
	assert_non_null(fault_at);
	net.walk.fault_at = run % 2 ? fault_at : NULL;
	test_rng(&r, 1000 + run);
	for (size_t i = 0; i < w->flows.n; i++) {
		const struct obs_packet p = packet_of(w, i);
		for (uint32_t k = 0; k < w->flows.n_pkts[i]; k++, n++) {
			assert_ok(packet_walk(&net, &p, w->flows.src_host[i],
			    w->flows.start_ns[i], &r, NULL, &end, test_err()));
			if (end.fate != SCENE_WALK_DELIVERED)
				drops[end.link]++;
		}
	}
	free(fault_at);
	return n;
}

/* An epoch of both: faults of many rates, some for a while, which also overlap,
 * noise, and with HOLES black holes of both types. */
static void compare(uint32_t run, int holes)
{
	struct scenes x;
	struct plane p;
	scenes_open(&x, &small);
	x.params.traffic.conns = scenes_fixed(200);
	x.params.noise.rate = scenes_uniform(0, 0.01);
	struct fault_params *g = scenes_add_group(&x);
	g->count = 6;
	g->rate = scenes_uniform(0.001, 0.3);
	g = scenes_add_group(&x);
	g->count = 4;
	g->classes |= 1u << TOPO_HOST_TOR | 1u << TOPO_TOR_HOST;
	g->rate = scenes_fixed(0.2);
	g->from_s = 5;
	g->spread_s = 10;
	g->lasts_s = 10;
	for (uint32_t kind = FAULT_BLACK_HOLE_1; holes; kind++) {
		g = scenes_add_group(&x);
		g->kind = kind;
		g->switches = 1;
		g->entries = scenes_fixed(0.1);
		g->from_s = 10;
		if (kind == FAULT_BLACK_HOLE_2)
			break;
	}
	struct scene *s = scenes_draw(&x, run);
	uint64_t *drops = calloc(x.topo.n_links, sizeof(*drops));
	uint64_t *want = calloc(x.topo.n_links, sizeof(*want));
	assert_true(drops && want);
	plane_open(&p);
	run_epoch(&p, s, 1);
	const struct scenes_counts in_all =
	    scenes_count(&p.window, &p.lost, want, NULL);
	const uint64_t n = walk_all(s, &p.window, run, drops);
	assert_true(in_all.n_drops > 1000 && n > in_all.n_drops);
	const double level = law_chi2_equal(want, drops, x.topo.n_links);
	if (!(level > LEVEL))
		fail_msg("run %u: drops by link differ, p = %g", run, level);
	free(drops);
	free(want);
	plane_close(&p);
	scenes_close(&x);
}

static void links_lose_what_they_lose_in_bulk(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 8; run++)
		compare(run, 0);
}

/* What a hole takes is the same in both, so the counts vary less than the test
 * takes them to. */
static void with_holes_too(void **state)
{
	(void)state;
	for (uint32_t run = 8; run < 16; run++)
		compare(run, 1);
}

/* With holes alone nothing is left to chance. */
static void holes_alone_take_the_same_packets(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 4; run++) {
		struct scenes x;
		struct plane p;
		scenes_open(&x, &small);
		x.params.traffic.conns = scenes_fixed(60);
		x.params.noise.scale = 0;
		struct fault_params *g = scenes_add_group(&x);
		g->kind = run % 2 ? FAULT_BLACK_HOLE_1 : FAULT_BLACK_HOLE_2;
		g->switches = 3;
		g->entries = scenes_fixed(0.1);
		g->from_s = 10;
		struct scene *s = scenes_draw(&x, run);
		uint64_t *drops = calloc(x.topo.n_links, sizeof(*drops));
		uint64_t *want = calloc(x.topo.n_links, sizeof(*want));
		assert_true(drops && want);
		plane_open(&p);
		run_epoch(&p, s, 1);
		assert_true(
		    scenes_count(&p.window, &p.lost, want, NULL).n_drops > 0);
		walk_all(s, &p.window, run, drops);
		assert_memory_equal(drops, want,
		    x.topo.n_links * sizeof(*drops));
		free(drops);
		free(want);
		plane_close(&p);
		scenes_close(&x);
	}
}

/* A hole swallows before its switch sees, and takes no ICMP. */
static void a_hole_is_not_seen_and_takes_no_icmp(void **state)
{
	(void)state;
	static struct sights seen;
	struct scenes x;
	scenes_open(&x, &small);
	x.params.noise.scale = 0;
	struct fault_params *g = scenes_add_group(&x);
	uint32_t tor = x.topo.n_hosts + 1;
	g->kind = FAULT_BLACK_HOLE_1;
	g->entries = scenes_fixed(1);
	g->at = &tor;
	g->n_at = 1;
	const struct packet_net net = net_of(scenes_draw(&x, 0));
	struct obs_packet p =
	    packet_between(topo_addr_of_host(0), topo_addr_of_host(4), 7);
	struct packet_end end = send_one(&net, &p, 0, 0, &seen);
	assert_int_equal(end.fate, SCENE_WALK_SWALLOWED);
	assert_int_equal(seen.n, 2);
	assert_int_equal(end.n_links, 3);
	p.ip.proto = TOPO_PROTO_ICMP;
	end = send_one(&net, &p, 0, 0, &seen);
	assert_int_equal(end.fate, SCENE_WALK_DELIVERED);
	assert_int_equal(seen.n, 3);
	g->at = NULL;
	g->n_at = 0;
	scenes_close(&x);
}

/* --- times ---------------------------------------------------------------- */

/* Own times are hop_us, and exponential with mean queue_us: mean and variance
 * of 6 links, within 5 standard errors (6e-7 each). */
static void links_take_their_time(void **state)
{
	(void)state;
	struct scenes x;
	struct sim_rng r;
	struct law_mean mean = {0}, square = {0};
	scenes_open(&x, &small);
	x.params.noise.scale = 0;
	struct packet_net net = net_of(scenes_draw(&x, 0));
	const struct obs_packet p =
	    packet_between(topo_addr_of_host(0), topo_addr_of_host(23), 7);
	net.hop_us = 2;
	net.queue_us = 10;
	test_rng(&r, 5);
	for (int i = 0; i < 20000; i++) {
		struct packet_end end;
		assert_ok(packet_walk(&net, &p, 0, SIM_SEC, &r, NULL, &end,
		    test_err()));
		const double us = (double)(end.at - SIM_SEC) / 1e3 - 6 * 12;
		law_add(&mean, us);
		law_add(&square, us * us);
	}
	assert_true(fabs(law_z(&mean, 0)) < 5);
	assert_true(fabs(law_z(&square, 6 * 100)) < 5);
	scenes_close(&x);
}

/* --- errors --------------------------------------------------------------- */

static int refuse(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	int *left = arg;
	(void)in, (void)t, (void)p;
	return (*left)-- > 0 ? 0 : sim_fail(e, SIM_ELIMIT, "full at %u.", at);
}

static void errors_of_the_eye_end_the_walk(void **state)
{
	(void)state;
	struct scenes x;
	struct packet_end end;
	struct sim_rng r;
	struct sim_err e;
	int left = 2;
	const struct packet_net net = open_quiet(&x);
	const struct packet_eye eye = {&left, refuse};
	const struct obs_packet p =
	    packet_between(topo_addr_of_host(0), topo_addr_of_host(4), 7);
	test_rng(&r, 6);
	assert_int_equal(packet_walk(&net, &p, 0, 0, &r, &eye, &end, &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg, "full at 1.");
	assert_int_equal(end.n_links, 3);
	scenes_close(&x);
}

/* One draw decides on all losses, and queues draw only if there are any: so other
 * numbers of the stream are the same with faults and without. */
static void a_packet_draws_once_where_nothing_waits(void **state)
{
	(void)state;
	struct scenes x;
	struct packet_net net = open_quiet(&x);
	const struct obs_packet p =
	    packet_between(topo_addr_of_host(0), topo_addr_of_host(23), 7);
	for (unsigned queues = 0; queues < 2; queues++) {
		struct packet_end end;
		struct sim_rng r, alone;
		net.queue_us = queues;
		test_rng(&r, 9);
		test_rng(&alone, 9);
		assert_ok(
		    packet_walk(&net, &p, 0, 0, &r, NULL, &end, test_err()));
		assert_int_equal(end.n_links, 6);
		sim_rng_u01(&alone);
		for (unsigned i = 0; i < queues * end.n_links; i++)
			sim_rng_u01_open(&alone);
		assert_int_equal(sim_rng_u32(&r), sim_rng_u32(&alone));
	}
	scenes_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(healthy_packets_go_by_topo_path),
	    cmocka_unit_test(a_ttl_ends_where_it_would_become_0),
	    cmocka_unit_test(ends_to_nobody_are_told),
	    cmocka_unit_test(nested_headers_lead_by_their_switches),
	    cmocka_unit_test(outer_addresses_alone_are_hashed),
	    cmocka_unit_test(a_mark_of_congestion_goes_to_the_packet_within),
	    cmocka_unit_test(links_lose_what_they_lose_in_bulk),
	    cmocka_unit_test(with_holes_too),
	    cmocka_unit_test(holes_alone_take_the_same_packets),
	    cmocka_unit_test(a_hole_is_not_seen_and_takes_no_icmp),
	    cmocka_unit_test(links_take_their_time),
	    cmocka_unit_test(errors_of_the_eye_end_the_walk),
	    cmocka_unit_test(a_packet_draws_once_where_nothing_waits),
	};
	return cmocka_run_group_tests_name("models/packet/walk", tests, NULL,
	    NULL);
}
