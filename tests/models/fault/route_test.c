/* tests/models/fault/route_test.c -- bad routes, queues that come and go and
 * hosts that loop: where, which packets, and what walks make of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chi-squares at level 1e-6, six of them, and two bounds of 5 standard errors.
 */
#include "models/fault/fault.h"

#include "models/packet/walk.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"
#include "topo/mesh.h"
#include "topo/next.h"

#define LEVEL 1e-6

static const struct topo_clos shape = {.n_pods = 3,
    .n_tors = 3,
    .n_t1 = 4,
    .n_t2 = 4,
    .n_hosts = 2};

static struct fault_params *add_group(struct scenes *s, uint32_t kind,
    uint32_t switches)
{
	struct fault_params *g = scenes_add_group(s);
	g->kind = kind;
	g->switches = switches;
	s->params.noise.scale = 0;
	return g;
}

/* --- what walks see ------------------------------------------------------- */

struct way {
	unsigned n;
	topo_switch at[300];
	uint8_t ttl[300];
};

static int note(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	struct way *w = arg;
	(void)in, (void)t, (void)e;
	assert_true(w->n < 300);
	w->ttl[w->n] = obs_packet_outermost(p)->ttl;
	w->at[w->n++] = at;
	return 0;
}

static struct packet_end go(const struct scene *s, topo_host src, topo_host dst,
    uint16_t port, struct way *w)
{
	const struct packet_net net = {.walk = {.topo = s->topo, .scene = s}};
	const struct packet_eye eye = {w, note};
	const struct obs_packet p = {.ethertype = OBS_ETH_IPV4,
	    .ip = {.src_ip = topo_addr_of_host(src),
		.dst_ip = topo_addr_of_host(dst),
		.ttl = 64,
		.proto = TOPO_PROTO_TCP},
	    .src_port = port,
	    .dst_port = 80};
	struct packet_end end;
	struct sim_rng r;
	test_rng(&r, port);
	w->n = 0;
	assert_ok(packet_walk(&net, &p, src, 0, &r, &eye, &end, test_err()));
	return end;
}

/* --- reroute -------------------------------------------------------------- */

/* Each turn is two rules of one range of destinations; its links are faulty and
 * nothing else is; and its switches fail. */
static void assert_turns(const struct truth *t, const struct topo *topo,
    unsigned n_turns)
{
	assert_int_equal(t->n_routes, 2 * n_turns);
	for (size_t i = 0; i < t->n_routes; i++) {
		const struct truth_route *r = &t->route[i];
		topo_node from, to;
		assert_int_equal(r->rule.kind, ROUTE_RULE_LINK);
		topo_link_ends(topo, r->rule.link, &from, &to);
		assert_int_equal(from, topo->n_hosts + r->at);
		assert_true(to >= topo->n_hosts);
		assert_true(truth_is_faulty(t, r->rule.link));
		assert_true(truth_is_failed_switch(t, r->at));
		assert_int_equal(r->rule.last_ip - r->rule.first_ip, 1);
	}
	for (size_t i = 0; i < t->n_faults; i++) {
		unsigned n = 0;
		for (size_t k = 0; k < t->n_routes; k++)
			n += t->route[k].rule.link == t->fault[i].link;
		assert_true(n > 0 && t->fault[i].of_route);
	}
}

/* Every packet for these destinations that comes to one of the two switches goes
 * to and fro until its TTL ends; all others go as ever. */
static void a_loop_holds_what_comes_to_it(void **state)
{
	(void)state;
	unsigned n_caught = 0;
	for (uint32_t run = 0; run < 30; run++) {
		struct scenes x;
		struct way w;
		scenes_open(&x, &shape);
		add_group(&x, FAULT_REROUTE, 1);
		const struct scene *s = scenes_draw(&x, run);
		const struct truth *t = &s->truth;
		assert_turns(t, &x.topo, 1);
		const topo_switch a = t->route[0].at, b = t->route[1].at;
		for (uint16_t i = 0; i < 600; i++) {
			const topo_host src = i % x.topo.n_hosts;
			const topo_host dst = (i * 7 + 5) % x.topo.n_hosts;
			const uint32_t ip = topo_addr_of_host(dst);
			if (src == dst)
				continue;
			const struct packet_end end = go(s, src, dst, i, &w);
			const int meant = ip >= t->route[0].rule.first_ip &&
			    ip <= t->route[0].rule.last_ip;
			unsigned at = 0;
			while (at < w.n && w.at[at] != a && w.at[at] != b)
				at++;
			if (!meant || at == w.n) {
				assert_int_equal(end.fate,
				    SCENE_WALK_DELIVERED);
				assert_true(w.n <= 5);
				continue;
			}
			n_caught++;
			assert_int_equal(end.fate, SCENE_WALK_EXPIRED);
			assert_int_equal(w.n, 64);
			assert_int_equal(end.n_links, 64);
			for (unsigned k = at; k + 2 < w.n; k++) {
				assert_int_equal(w.at[k], w.at[k + 2]);
				assert_int_equal(w.ttl[k], 64 - k);
			}
		}
		scenes_close(&x);
	}
	assert_true(n_caught > 200);
}

/* All are delivered, by more hops; and those that are led round go by both of
 * the wrong links. */
static void a_detour_delivers(void **state)
{
	(void)state;
	unsigned n_round = 0;
	for (uint32_t run = 0; run < 30; run++) {
		struct scenes x;
		struct way w;
		scenes_open(&x, &shape);
		struct fault_params *g = add_group(&x, FAULT_REROUTE, 2);
		g->turn = FAULT_TURN_DETOUR;
		const struct scene *s = scenes_draw(&x, run);
		assert_turns(&s->truth, &x.topo, 2);
		/* Two detours may have one destination, and so make a loop:
		 * then nothing can be said. */
		if (s->truth.route[0].rule.first_ip ==
			s->truth.route[1].rule.first_ip &&
		    s->truth.route[1].rule.first_ip ==
			s->truth.route[2].rule.first_ip &&
		    s->truth.route[2].rule.first_ip ==
			s->truth.route[3].rule.first_ip) {
			scenes_close(&x);
			continue;
		}
		for (uint16_t i = 0; i < 600; i++) {
			const topo_host src = i % x.topo.n_hosts;
			const topo_host dst = (i * 7 + 5) % x.topo.n_hosts;
			const struct packet_end end = go(s, src, dst, i, &w);
			assert_int_equal(end.fate, SCENE_WALK_DELIVERED);
			assert_int_equal(end.host, dst);
			n_round += w.n > 5;
		}
		scenes_close(&x);
	}
	assert_true(n_round > 200);
}

/* A named ToR has its turn whatever destination is drawn first: its own, which
 * comes up once in as many as there are ToRs, is passed over. */
static void a_named_switch_has_its_turn(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 60; run++) {
		struct scenes x;
		uint32_t at = 0;
		scenes_open(&x, &shape);
		struct fault_params *g = add_group(&x, FAULT_REROUTE, 0);
		g->turn = FAULT_TURN_LOOP;
		g->at = &at;
		g->n_at = 1;
		at = x.topo.n_hosts;
		const struct scene *s = scenes_draw(&x, run);
		assert_turns(&s->truth, &x.topo, 1);
		assert_true(
		    s->truth.route[0].at == 0 || s->truth.route[1].at == 0);
		g->at = NULL;
		scenes_close(&x);
	}
}

static void named_links_are_the_wrong_ones(void **state)
{
	(void)state;
	struct scenes x;
	struct way w;
	scenes_open(&x, &shape);
	struct fault_params *g = add_group(&x, FAULT_REROUTE, 0);
	topo_link links[2] = {topo_clos_link_t1(&x.topo.clos, 0, 0, TOPO_UP),
	    topo_clos_link_t1(&x.topo.clos, 0, 0, TOPO_DOWN)};
	const topo_link at_host = topo_link_of(3, TOPO_UP);
	struct sim_err e;
	g->links = links;
	g->n_links = 2;
	/* Host 1 and no other. */
	snprintf(g->prefix, sizeof(g->prefix), "10.0.0.2/32");
	const struct scene *s = scenes_draw(&x, 0);
	assert_int_equal(s->truth.n_routes, 2);
	unsigned n_loops = 0;
	for (uint16_t port = 0; port < 100; port++) {
		n_loops += go(s, 17, 1, port, &w).fate == SCENE_WALK_EXPIRED;
		assert_int_equal(go(s, 17, 0, port, &w).fate,
		    SCENE_WALK_DELIVERED);
	}
	assert_true(n_loops > 0 && n_loops < 100);
	links[1] = at_host;
	assert_int_equal(scenes_draw_faults_fails(&x, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "fault group 0: link 6 is not between switches: routes that are "
	    "wrong lead from one to another.");
	g->links = NULL;
	g->n_links = 0;
	scenes_close(&x);
}

/* --- what cannot be ------------------------------------------------------- */

static void expect(struct scenes *x, int rc, const char *want)
{
	struct sim_err e;
	assert_int_equal(scenes_draw_faults_fails(x, &e), rc);
	assert_string_equal(e.msg, want);
}

static void what_cannot_be_is_told(void **state)
{
	(void)state;
	struct scenes x;
	scenes_open(&x, &shape);
	struct fault_params *g = add_group(&x, FAULT_REROUTE, 1);
	uint32_t tor = x.topo.n_hosts + 4;
	static const char *const bad[] = {"10.0.0", "10.0.0.4/33", "x/8",
	    "10.0.0.4/", "10.0.0.4/-1"};
	for (size_t i = 0; i < 5; i++) {
		char want[160];
		snprintf(g->prefix, sizeof(g->prefix), "%s", bad[i]);
		snprintf(want, sizeof(want),
		    "fault group 0: prefix \"%s\" is no address with bits in "
		    "[0, 32] behind it, such as 10.0.0.4/30.",
		    bad[i]);
		expect(&x, SIM_EINVAL, want);
	}
	snprintf(g->prefix, sizeof(g->prefix), "10.0.1.0/24");
	expect(&x, SIM_EINVAL,
	    "fault group 0: prefix \"10.0.1.0/24\" has no host of this "
	    "network.");
	g->prefix[0] = '\0';
	g->turn = FAULT_TURN_DETOUR;
	g->at = &tor;
	g->n_at = 1;
	expect(&x, SIM_EUNSUPPORTED,
	    "fault group 0: 1 switches are to have a detour, but there are 0: "
	    "none is possible at tor4.");
	g->at = NULL;
	g->n_at = 0;
	g->tiers = 1u << FAULT_TIER_TOR;
	expect(&x, SIM_EUNSUPPORTED,
	    "fault group 0: 1 switches are to have a detour, but there are "
	    "0.");
	g->kind = FAULT_NARROW;
	g->switches = 10;
	expect(&x, SIM_ELIMIT,
	    "fault group 0: 10 switches are to fail, but the tiers named have "
	    "9.");
	g->kind = FAULT_MUX_LOOP;
	g->count = 19;
	expect(&x, SIM_ELIMIT,
	    "fault group 0: 19 hosts are to loop, but there are 18.");
	scenes_close(&x);
}

/* --- fewer next hops, weights, hashes ------------------------------------- */

/* How flows between pods spread over the up-links of T1 0, or those of ToR 0. */
static void spread(const struct scene *s, topo_switch at, uint64_t got[4])
{
	struct way w;
	memset(got, 0, 4 * sizeof(got[0]));
	for (uint32_t i = 0; i < 20000; i++) {
		go(s, i % 2, 6 + i % 12, (uint16_t)i, &w);
		const topo_switch first = at == 0 ? 9 : 9 + 12;
		for (unsigned k = 0; k + 1 < w.n; k++)
			if (w.at[k] == at && w.at[k + 1] >= first &&
			    w.at[k + 1] < first + 4)
				got[w.at[k + 1] - first]++;
	}
}

static unsigned n_used(const uint64_t got[4])
{
	return (got[0] > 0) + (got[1] > 0) + (got[2] > 0) + (got[3] > 0);
}

/* A scene in which flows leave ToR 0 by N of its links; by GOT. Of two hashes both may
 * lead to one of four, as they do once in four scenes: then another one is drawn, 40
 * times at most. */
static const struct scene *draw_used(struct scenes *x, uint32_t kind,
    unsigned n, uint64_t got[4])
{
	for (uint32_t run = 0;; run++) {
		const struct scene *s = scenes_draw(x, run);
		spread(s, 0, got);
		if (n_used(got) == n)
			return s;
		assert_int_equal(kind, FAULT_HASH);
		assert_int_equal(n_used(got), 1);
		assert_true(run < 40);
	}
}

static void bad_choices_are_of_their_switch(void **state)
{
	(void)state;
	static const struct {
		uint32_t kind, hash;
		unsigned n_used;
	} bad[] = {
	    {FAULT_NARROW, 0, 2},
	    {FAULT_HASH, FAULT_HASH_BITS, 2},
	    {FAULT_WEIGHTS, 0, 4},
	};
	for (unsigned i = 0; i < 3; i++) {
		struct scenes x;
		uint64_t got[4];
		scenes_open(&x, &shape);
		struct fault_params *g = add_group(&x, bad[i].kind, 0);
		uint32_t tor = x.topo.n_hosts;
		g->hash = bad[i].hash;
		g->bits = 1;
		g->left = 2;
		g->weight = 5;
		g->at = &tor;
		g->n_at = 1;
		const struct scene *s =
		    draw_used(&x, bad[i].kind, bad[i].n_used, got);
		/* The links up are what it chooses among. */
		assert_int_equal(s->truth.n_faults, 4);
		for (topo_link l = 0; l < x.topo.n_links; l++)
			assert_int_equal(truth_is_faulty(&s->truth, l),
			    topo_class_of(&x.topo, l) == TOPO_TOR_T1 &&
				scenes_node_left(&x.topo, l) == tor);
		assert_int_equal(s->truth.n_switches, 1);
		if (bad[i].kind == FAULT_WEIGHTS) {
			double want[4] = {1, 1, 1, 1};
			want[s->truth.route[0].rule.salt % 4] = 5;
			assert_true(law_chi2(got, want, 4) > LEVEL);
		}
		/* Others choose as ever. */
		spread(s, 9, got);
		assert_true(bad[i].kind != FAULT_WEIGHTS || n_used(got) == 4);
		g->at = NULL;
		g->n_at = 0;
		scenes_close(&x);
	}
}

/* With one seed for all, a T1 sends up to a quarter of its T2s alone; healthy
 * ones spread evenly. */
static void one_seed_polarises_the_next_tier(void **state)
{
	(void)state;
	struct scenes x;
	uint64_t got[4];
	scenes_open(&x, &shape);
	struct fault_params *g = add_group(&x, FAULT_HASH, 0);
	const struct scene *s = scenes_draw(&x, 0);
	assert_int_equal(s->truth.n_routes, x.topo.n_switches);
	spread(s, 0, got);
	assert_true(law_chi2_uniform(got, 4) > LEVEL);
	spread(s, 9, got);
	assert_int_equal(n_used(got), 1);
	scenes_close(&x);
	scenes_open(&x, &shape);
	g = add_group(&x, FAULT_HASH, 1);
	g->tiers = 1u << FAULT_TIER_T2;
	spread(scenes_draw(&x, 0), 9, got);
	assert_true(law_chi2_uniform(got, 4) > LEVEL);
	scenes_close(&x);
}

/* For a prefix, only what goes there is narrowed, and only the links that may
 * carry it are faulty. */
static void a_prefix_is_all_that_is_narrowed(void **state)
{
	(void)state;
	struct scenes x;
	struct way w;
	uint64_t got[2][4] = {{0}};
	scenes_open(&x, &shape);
	struct fault_params *g = add_group(&x, FAULT_NARROW, 0);
	uint32_t t2 = x.topo.n_hosts + topo_clos_t2(&x.topo.clos, 1);
	g->at = &t2;
	g->n_at = 1;
	/* Host 12, beside 13 under ToR 6 in pod 2. */
	snprintf(g->prefix, sizeof(g->prefix), "10.0.0.13/32");
	const struct scene *s = scenes_draw(&x, 0);
	assert_int_equal(s->truth.n_faults, 4);
	for (size_t i = 0; i < 4; i++)
		assert_true(topo_is_next(&x.topo, s->truth.fault[i].link, 12));
	for (uint32_t i = 0; i < 8000; i++) {
		go(s, 0, 12 + i % 2, (uint16_t)i, &w);
		if (w.at[2] == t2 - x.topo.n_hosts)
			got[i % 2][(w.at[3] - 9) % 4]++;
	}
	assert_int_equal(n_used(got[0]), 1);
	assert_true(law_chi2_uniform(got[1], 4) > LEVEL);
	g->at = NULL;
	g->n_at = 0;
	scenes_close(&x);
}

/* --- queues --------------------------------------------------------------- */

/* A packet at time t waits as long as the link's queue is then, whoever it is,
 * and bears a mark beyond the threshold, if it can. */
static void packets_wait_as_the_queue_is_long(void **state)
{
	(void)state;
	struct scenes x;
	struct law_mean mean = {0}, busy = {0};
	scenes_open(&x, &shape);
	struct fault_params *g = add_group(&x, FAULT_ECN, 0);
	topo_link up = topo_link_of(0, TOPO_UP);
	g->links = &up;
	g->n_links = 1;
	g->duty = 0.25;
	g->depth = scenes_uniform(200, 800);
	g->episode_s = 0.01;
	g->mark_us = 150;
	const struct scene *s = scenes_draw(&x, 0);
	const struct packet_net net = {.walk = {.topo = &x.topo, .scene = s}};
	assert_int_equal(s->truth.n_faults, 1);
	assert_true(truth_is_faulty(&s->truth, up));
	struct obs_packet p = {.ip = {.src_ip = topo_addr_of_host(0),
				   .dst_ip = topo_addr_of_host(1),
				   .ttl = 9,
				   .proto = TOPO_PROTO_TCP}};
	struct sim_rng r;
	test_rng(&r, 1);
	for (uint32_t i = 0; i < 20000; i++) {
		struct packet_end end;
		const sim_ns t =
		    (sim_ns)i * 10 * SIM_MS + sim_rng_below(&r, 10 * SIM_MS);
		const double us = burst_us(&s->truth.burst[0], t);
		p.src_port = (uint16_t)i;
		assert_ok(
		    packet_walk(&net, &p, 0, t, &r, NULL, &end, test_err()));
		assert_near((double)(end.at - t), 1e3 * us, 0.51);
		law_add(&mean, us);
		law_add(&busy, us > 0);
	}
	assert_true(fabs(law_z(&mean, 0.25 * 250)) < 5);
	assert_true(fabs(law_z(&busy, 0.25)) < 5);
	g->links = NULL;
	g->n_links = 0;
	scenes_close(&x);
}

static int note_tos(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	(void)at, (void)in, (void)t, (void)e;
	*(uint8_t *)arg = p->ip.tos;
	return 0;
}

static void marks_are_of_those_who_can_bear_them(void **state)
{
	(void)state;
	struct scenes x;
	unsigned n_marked = 0;
	scenes_open(&x, &shape);
	struct fault_params *g = add_group(&x, FAULT_ECN, 0);
	topo_link up = topo_link_of(0, TOPO_UP);
	g->links = &up;
	g->n_links = 1;
	g->duty = 0.5;
	const struct scene *s = scenes_draw(&x, 0);
	const struct packet_net net = {.walk = {.topo = &x.topo, .scene = s}};
	struct sim_rng r;
	test_rng(&r, 1);
	for (uint32_t i = 0; i < 400; i++) {
		const sim_ns t = i * 7 * SIM_MS;
		const int marks = burst_us(&s->truth.burst[0], t) > 100;
		struct packet_end end;
		uint8_t tos = 0xff;
		const struct packet_eye eye = {&tos, note_tos};
		const struct obs_packet p = {
		    .ip = {.src_ip = topo_addr_of_host(0),
			.dst_ip = topo_addr_of_host(1),
			.ttl = 9,
			.tos = (uint8_t)(i % 4 | 0x40)}};
		assert_ok(
		    packet_walk(&net, &p, 0, t, &r, &eye, &end, test_err()));
		assert_int_equal(tos, marks && i % 4 ? 0x43 : 0x40 | i % 4);
		n_marked += marks;
	}
	assert_true(n_marked > 50);
	g->links = NULL;
	g->n_links = 0;
	scenes_close(&x);
}

/* --- the truth ------------------------------------------------------------ */

static void the_truth_prints_each(void **state)
{
	(void)state;
	struct scenes x;
	struct truth t = {0};
	char *text = NULL;
	size_t n = 0;
	scenes_open(&x, &shape);
	struct fault_params *g = add_group(&x, FAULT_REROUTE, 0);
	topo_link l = topo_clos_link_t1(&x.topo.clos, 0, 2, TOPO_UP);
	topo_link up = topo_link_of(3, TOPO_UP);
	uint32_t host = 5, t1 = x.topo.n_hosts + 9 + 1;
	g->links = &l;
	g->n_links = 1;
	g->flows = 0.5;
	g->to_s = 20;
	snprintf(g->prefix, sizeof(g->prefix), "10.0.0.3/31");
	for (uint32_t kind = FAULT_NARROW; kind <= FAULT_HASH; kind++) {
		g = add_group(&x, kind, 0);
		g->at = &t1;
		g->n_at = 1;
		g->hash = FAULT_HASH_BITS;
	}
	g = add_group(&x, FAULT_ECN, 0);
	g->links = &up;
	g->n_links = 1;
	g = add_group(&x, FAULT_MUX_LOOP, 0);
	g->at = &host;
	g->n_at = 1;
	scenes_draw_faults(&x, &t, 0);
	FILE *out = open_memstream(&text, &n);
	truth_print(&t, &x.topo, out);
	fclose(out);
	assert_string_equal(text,
	    "1 faults\n"
	    "  host3->tor1              link 6        rate 0, delay 50 us on "
	    "average: queues up to 800 us, in 0.2 of episodes of 0.1 s\n"
	    "4 wrong routes\n"
	    "  t1.0                     packets to host1..2, 0.5 of the flows, "
	    "go by t1.0->t2.2, to 20 s\n"
	    "  t1.1                     all packets have 1 next hops at most\n"
	    "  t1.1                     all packets prefer one next hop 4 to "
	    "1\n"
	    "  t1.1                     all packets are hashed to 2 bits\n"
	    "1 outages\n"
	    "  host5                    sends back what muxes send\n");
	free(text);
	truth_free(&t);
	for (size_t i = 0; i < x.params.n_groups; i++) {
		x.group[i].at = NULL;
		x.group[i].links = NULL;
	}
	scenes_close(&x);
}

/* What an earlier group draws does not depend on those behind it, nor which
 * switches on how badly they fail. */
static void draws_are_named(void **state)
{
	(void)state;
	struct scenes x;
	struct truth a = {0}, b = {0};
	scenes_open(&x, &shape);
	struct fault_params *g = add_group(&x, FAULT_REROUTE, 2);
	add_group(&x, FAULT_NARROW, 3);
	scenes_draw_faults(&x, &a, 4);
	g->flows = 0.5;
	scenes_draw_faults(&x, &b, 4);
	assert_int_equal(a.n_routes, b.n_routes);
	for (size_t i = 0; i < a.n_routes; i++) {
		assert_int_equal(a.route[i].at, b.route[i].at);
		assert_int_equal(a.route[i].rule.salt, b.route[i].rule.salt);
		assert_int_equal(a.route[i].rule.link, b.route[i].rule.link);
	}
	truth_free(&a);
	truth_free(&b);
	scenes_close(&x);
}

static int draw_all(void *arg, struct sim_err *e)
{
	struct scenes *x = arg;
	const struct sim_seed where = {.seed = 1};
	struct truth t = {0};
	const int rc =
	    fault_draw(&x->topo, x->group, x->params.n_groups, &where, &t, e);
	truth_free(&t);
	return rc;
}

static void no_allocation_is_taken_for_granted(void **state)
{
	(void)state;
	struct scenes x;
	scenes_open(&x, &shape);
	add_group(&x, FAULT_REROUTE, 1);
	add_group(&x, FAULT_REROUTE, 1)->turn = FAULT_TURN_DETOUR;
	add_group(&x, FAULT_HASH, 0);
	add_group(&x, FAULT_ECN, 0);
	add_group(&x, FAULT_MUX_LOOP, 0);
	test_each_alloc_fails(draw_all, &x);
	scenes_close(&x);
}

/* Loops are possible everywhere; so are detours where there are ways round. */
static void graphs_have_turns_too(void **state)
{
	(void)state;
	for (uint32_t turn = 0; turn < 2; turn++) {
		struct scenes x;
		struct topo_mesh *m;
		struct truth t = {0};
		assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
		scenes_open_mesh(&x, m);
		struct fault_params *g = add_group(&x, FAULT_REROUTE, 3);
		g->turn = turn;
		scenes_draw_faults(&x, &t, turn);
		assert_int_equal(t.n_routes, 6);
		truth_free(&t);
		scenes_close(&x);
	}
}

/* Of each switch of networks of many shapes those links are marked that it chooses
 * among others for some host, by a search of all hosts. */
static void links_of_a_choice_are_marked(void **state)
{
	(void)state;
	static const struct topo_clos shapes[] =
	    {{.n_pods = 3, .n_tors = 3, .n_t1 = 4, .n_t2 = 4, .n_hosts = 2},
		{.n_pods = 2, .n_tors = 3, .n_t1 = 1, .n_t2 = 4, .n_hosts = 2},
		{.n_pods = 2, .n_tors = 2, .n_t1 = 3, .n_t2 = 1, .n_hosts = 1},
		{.n_pods = 1, .n_tors = 4, .n_t1 = 3, .n_t2 = 0, .n_hosts = 2},
		{.n_pods = 2, .n_tors = 1, .n_t1 = 2, .n_t2 = 2, .n_hosts = 3}};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct scenes x;
		struct truth t = {0};
		scenes_open(&x, &shapes[i]);
		struct fault_params *g = add_group(&x, FAULT_HASH, 0);
		for (topo_switch s = 0; s < x.topo.n_switches; s++) {
			uint32_t at = x.topo.n_hosts + s;
			g->at = &at;
			g->n_at = 1;
			g->hash = s % 2 ? FAULT_HASH_BITS : FAULT_HASH_SEED;
			scenes_draw_faults(&x, &t, s);
			assert_int_equal(t.n_routes, 1);
			for (topo_link l = 0; l < x.topo.n_links; l++) {
				int is = 0;
				for (topo_host h = 0; h < x.topo.n_hosts; h++)
					is |= scenes_node_left(&x.topo, l) ==
						at &&
					    topo_is_next(&x.topo, l, h) &&
					    topo_n_next(&x.topo, s, h) > 1;
				assert_int_equal(truth_is_faulty(&t, l), is);
			}
		}
		g->at = NULL;
		g->n_at = 0;
		truth_free(&t);
		scenes_close(&x);
	}
}

/* Links that are named get a destination to which none of them leads at once: a
 * rack that is at no end of them. */
static void named_links_lead_on_to_another_rack(void **state)
{
	(void)state;
	struct scenes x;
	struct truth t = {0};
	unsigned n_of_rack[9] = {0};
	scenes_open(&x, &shape);
	struct fault_params *g = add_group(&x, FAULT_REROUTE, 0);
	topo_link two[2] = {topo_clos_link_tor(&x.topo.clos, 2, 1, TOPO_UP),
	    topo_clos_link_tor(&x.topo.clos, 7, 3, TOPO_DOWN)};
	g->links = two;
	g->n_links = 2;
	for (uint32_t run = 0; run < 300; run++) {
		scenes_draw_faults(&x, &t, run);
		assert_int_equal(t.n_routes, 2);
		const topo_host first =
		    topo_addr_to_host(t.route[0].rule.first_ip, x.topo.n_hosts);
		const topo_switch rack = topo_tor_of(&x.topo, first);
		assert_true(rack != 2 && rack != 7);
		assert_int_equal(t.route[0].rule.last_ip,
		    t.route[0].rule.first_ip + shape.n_hosts - 1);
		assert_int_equal(t.route[1].rule.first_ip,
		    t.route[0].rule.first_ip);
		n_of_rack[rack]++;
	}
	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(n_of_rack[i] > 15, i != 2 && i != 7);
	g->links = NULL;
	g->n_links = 0;
	truth_free(&t);
	scenes_close(&x);
}

/* From pod to pod 1,600 ways lead, which are not all walked one by one. */
static void a_detour_is_found_among_many_ways(void **state)
{
	(void)state;
	const struct topo_clos wide = {.n_pods = 2,
	    .n_tors = 2,
	    .n_t1 = 40,
	    .n_t2 = 40,
	    .n_hosts = 2};
	struct scenes x;
	struct truth t = {0};
	scenes_open(&x, &wide);
	struct fault_params *g = add_group(&x, FAULT_REROUTE, 3);
	g->turn = FAULT_TURN_DETOUR;
	for (uint32_t run = 0; run < 5; run++) {
		scenes_draw_faults(&x, &t, run);
		assert_turns(&t, &x.topo, 3);
	}
	truth_free(&t);
	scenes_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_loop_holds_what_comes_to_it),
	    cmocka_unit_test(a_detour_delivers),
	    cmocka_unit_test(a_named_switch_has_its_turn),
	    cmocka_unit_test(named_links_are_the_wrong_ones),
	    cmocka_unit_test(what_cannot_be_is_told),
	    cmocka_unit_test(bad_choices_are_of_their_switch),
	    cmocka_unit_test(one_seed_polarises_the_next_tier),
	    cmocka_unit_test(a_prefix_is_all_that_is_narrowed),
	    cmocka_unit_test(packets_wait_as_the_queue_is_long),
	    cmocka_unit_test(marks_are_of_those_who_can_bear_them),
	    cmocka_unit_test(the_truth_prints_each),
	    cmocka_unit_test(draws_are_named),
	    cmocka_unit_test(no_allocation_is_taken_for_granted),
	    cmocka_unit_test(graphs_have_turns_too),
	    cmocka_unit_test(links_of_a_choice_are_marked),
	    cmocka_unit_test(named_links_lead_on_to_another_rack),
	    cmocka_unit_test(a_detour_is_found_among_many_ways),
	};
	return cmocka_run_group_tests_name("models/fault/route", tests, NULL,
	    NULL);
}
