/* tests/models/scene/walk_test.c -- one packet's way, and that all go it alike.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * 30 chi-square tests at 1e-6: one fires in 33,000 random seeds.
 */
#include "models/scene/walk.h"
#include "models/tun/switch.h"
#include "tests/rigs/law.h"
#include "tests/rigs/rig.h"

#define LEVEL 1e-6
#define HOP   (7 * SIM_US)

/* --- the slow way to know ------------------------------------------------- */

/* What becomes of a packet with TTL: end[i][0] is the probability that it is
 * lost on link i, end[i][1] that it ends at the node behind, as fate[i]. */
struct reference {
	double end[TOPO_MAX_HOPS][2];
	enum scene_walk_fate fate[TOPO_MAX_HOPS];
};

/* The loss rate of a link as truth.h defines it, from all faults of the scene,
 * without any order or search. */
static double reference_rate(const struct scene *s, topo_link l, sim_ns t)
{
	const struct truth *truth = &s->truth;
	double kept = 1;
	int broken = 0;
	for (size_t i = 0; i < truth->n_faults; i++) {
		const struct truth_fault *f = &truth->fault[i];
		if (f->link != l || truth_is_slow(f) || f->of_hole ||
		    t < f->from_ns || t >= f->to_ns)
			continue;
		kept *= 1 - f->rate;
		broken = 1;
	}
	return broken ? 1 - kept : scene_noise_rate(&s->loss.noise, l);
}

static int reference_swallows(const struct scene *s, topo_switch at,
    const struct topo_tuple *tuple, sim_ns t)
{
	for (size_t i = 0; i < s->truth.n_holes; i++) {
		const struct truth_hole *h = &s->truth.hole[i];
		if (h->at == at && h->from_ns <= t && t < h->to_ns &&
		    tuple->proto != 1 && blackhole_rule_drops(&h->rule, tuple))
			return 1;
	}
	return 0;
}

/* Links take HOP each if TICKS, else no time. */
static struct reference reference_of(const struct scene *s,
    const struct topo_tuple *tuple, const topo_link path[], unsigned n,
    unsigned ttl, int ticks)
{
	struct reference r = {.end = {{0}}};
	double left = 1;
	for (unsigned i = 0; i < n && left > 0; i++) {
		topo_node from, to;
		const sim_ns t = ticks ? i * HOP : 0;
		const sim_ns then = ticks ? t + HOP : 0;
		const double lost = reference_rate(s, path[i], t);
		topo_link_ends(s->topo, path[i], &from, &to);
		r.end[i][0] = left * lost;
		left *= 1 - lost;
		if (to < s->topo->n_hosts)
			r.fate[i] = SCENE_WALK_DELIVERED;
		else if (reference_swallows(s, to - s->topo->n_hosts, tuple,
			     then))
			r.fate[i] = SCENE_WALK_SWALLOWED;
		else if (ttl <= i + 1)
			r.fate[i] = SCENE_WALK_EXPIRED;
		else
			continue;
		r.end[i][1] = left;
		left = 0;
	}
	return r;
}

/* --- scenes --------------------------------------------------------------- */

static void add_fault(struct rig *g, topo_link l, double rate, sim_ns from)
{
	const struct truth_fault f = {.link = l,
	    .rate = rate,
	    .from_ns = from,
	    .to_ns = SIM_NEVER};
	rig_add_fault(g, &f);
}

/* Each link of PATH has up to two faults or noise, and a switch of it may have
 * a hole. Some begin only when a packet that leaves at 0 comes there. */
static void break_path(struct rig *g, struct sim_rng *r, const topo_link path[],
    unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = sim_rng_below(r, 3); k > 0; k--)
			add_fault(g, path[i], 0.3 * sim_rng_u01(r),
			    sim_rng_below(r, 2) * i * HOP);
	const unsigned i = sim_rng_below(r, 2 * n);
	topo_node from, to;
	if (i + 1 >= n)
		return;
	topo_link_ends(&g->s.topo, path[i], &from, &to);
	rig_add_hole(g, to - g->s.topo.n_hosts, BLACKHOLE_RULE_TUPLE, 0.7,
	    sim_rng_below(r, 2) * (i + 1) * HOP, SIM_NEVER);
}

static struct scene_walk_net net_of(const struct rig *g)
{
	return (struct scene_walk_net){.topo = &g->s.topo, .scene = g->scene};
}

static unsigned path_of(const struct rig *g, const struct topo_tuple *t,
    topo_link path[])
{
	const struct scene_walk_net net = net_of(g);
	return scene_walk_path(&net, t,
	    topo_addr_to_host(t->src_ip, g->s.topo.n_hosts),
	    topo_addr_to_host(t->dst_ip, g->s.topo.n_hosts), 0, path);
}

/* --- hops ----------------------------------------------------------------- */

static void each_hop_is_told(void **state)
{
	const struct topo_tuple t = rig_tuple(0, 20, 9);
	topo_link path[TOPO_MAX_HOPS];
	topo_node from, to, at = 0;
	struct sim_rng r;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw(&g);
	const struct scene_walk_net net = net_of(&g);
	const unsigned n = path_of(&g, &t, path);
	assert_int_equal(n, 6);
	test_rng(&r, 0);
	struct scene_walk w = scene_walk_begin(&net, &t, path, n, 64, SIM_SEC);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(w.fate, SCENE_WALK_UNDER_WAY);
		scene_walk_meet(&w);
		scene_walk_cross(&w, 7, &r);
		scene_walk_enter(&w);
		const struct scene_walk_hop hop = scene_walk_hop(&w);
		topo_link_ends(&g.s.topo, path[i], &from, &to);
		assert_int_equal(from, at);
		assert_int_equal(hop.link, path[i]);
		assert_int_equal(hop.node, at = to);
		assert_int_equal(hop.ttl, 64 - i);
		assert_true(hop.t == SIM_SEC + (i + 1) * HOP);
	}
	assert_int_equal(w.fate, SCENE_WALK_DELIVERED);
	assert_int_equal(at, 20);
	assert_true(w.hazard == 0);
	rig_close(&g);
}

/* --- laws ----------------------------------------------------------------- */

/* Until its end, with one number for all links, or one for each. */
static struct scene_walk follow(struct scene_walk w, int one, struct sim_rng *r)
{
	double u = sim_rng_u01(r);
	while (w.fate == SCENE_WALK_UNDER_WAY) {
		if (!one) {
			u = sim_rng_u01(r);
			w.hazard = 0;
		}
		scene_walk_meet(&w);
		if (scene_walk_is_lost(u, w.hazard)) {
			w.fate = SCENE_WALK_LOST;
			break;
		}
		scene_walk_cross(&w, 7, r);
		scene_walk_enter(&w);
	}
	return w;
}

static double p_value(struct rig *g, const struct topo_tuple *t, unsigned ttl,
    int one, struct sim_rng *r)
{
	enum { N = 20000 };
	const struct scene_walk_net net = net_of(g);
	uint64_t got[2 * TOPO_MAX_HOPS] = {0};
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = path_of(g, t, path);
	const struct reference want =
	    reference_of(g->scene, t, path, n, ttl, 1);
	for (unsigned i = 0; i < N; i++) {
		const struct scene_walk w =
		    follow(scene_walk_begin(&net, t, path, n, (uint8_t)ttl, 0),
			one, r);
		const int is_lost = w.fate == SCENE_WALK_LOST;
		got[2 * (w.n_met - 1) + !is_lost]++;
		if (!is_lost)
			assert_int_equal(w.fate, want.fate[w.n_met - 1]);
	}
	return law_chi2(got, want.end[0], 2 * n);
}

/* Whichever of the faults of whichever link it is: or nobody asks what a way
 * adds. */
static void a_way_is_slow_by_any_fault_of_any_link(void **state)
{
	const struct topo_tuple t = rig_tuple(0, 20, 9);
	topo_link path[TOPO_MAX_HOPS];
	double hazard[TOPO_MAX_HOPS + 1];
	(void)state;
	for (unsigned at = 0; at < 6; at += 5)
		for (unsigned slow = 0; slow < 4; slow++) {
			struct rig g;
			rig_open(&g);
			rig_draw(&g);
			const struct scene_walk_net net = net_of(&g);
			const unsigned n = path_of(&g, &t, path);
			/* One of the three, or none. */
			for (unsigned k = 1; k <= 3; k++)
				rig_add_fault(&g,
				    &(struct truth_fault){.link = path[at],
					.rate = 0.1,
					.delay_us = k == slow,
					.from_ns = k,
					.to_ns = SIM_NEVER});
			rig_begin(&g);
			assert_int_equal(scene_walk_hazards(&net, &t, path, n,
					     0, hazard),
			    slow > 0);
			rig_close(&g);
		}
}

static void packets_end_where_independent_draws_say(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 15; run++) {
		struct sim_rng r;
		struct rig g;
		topo_link path[TOPO_MAX_HOPS];
		rig_open(&g);
		g.s.params.noise.rate = scenes_fixed(0.02);
		rig_draw(&g);
		test_rng(&r, run);
		const struct topo_tuple t = rig_tuple(sim_rng_below(&r, 12),
		    12 + sim_rng_below(&r, 12), (uint16_t)run);
		break_path(&g, &r, path, path_of(&g, &t, path));
		for (int one = 0; one < 2; one++) {
			const double p = p_value(&g, &t,
			    run % 3 ? 64 : sim_rng_below(&r, 7), one, &r);
			if (p < LEVEL)
				fail_msg("seed %llu, run %u.%d: p = %g",
				    (unsigned long long)test_seed(), run, one,
				    p);
		}
		rig_close(&g);
	}
}

/* Hazards of whole ways are those of the reference, with and without the tables
 * that make them faster. */
static void whole_ways_have_the_reference_s_hazards(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 200; run++) {
		topo_link path[TOPO_MAX_HOPS];
		double sum[TOPO_MAX_HOPS + 1], *noise = NULL;
		size_t *fault_at = NULL;
		struct sim_rng r;
		struct rig g;
		rig_open(&g);
		g.s.params.noise.rate = scenes_uniform(0, 0.1);
		rig_draw(&g);
		test_rng(&r, run);
		const uint32_t n_links = g.s.topo.n_links;
		const struct topo_tuple t = rig_tuple(sim_rng_below(&r, 12),
		    12 + sim_rng_below(&r, 12), (uint16_t)run);
		const unsigned n = path_of(&g, &t, path);
		if (run % 4)
			break_path(&g, &r, path, n);
		struct scene_walk_net net = net_of(&g);
		assert_non_null(noise = calloc(n_links, sizeof(*noise)));
		assert_non_null(fault_at = calloc(n_links, sizeof(*fault_at)));
		for (topo_link l = 0; l < n_links; l++) {
			noise[l] = scene_hazard(
			    scene_noise_rate(&g.scene->loss.noise, l));
			fault_at[l] = sim_rng_u32(&r);
		}
		net.noise = run % 2 ? noise : NULL;
		net.fault_at = run % 3 ? fault_at : NULL;
		struct scene_walk_way way;
		scene_walk_whole(&net, &t, path, n, 0, &r, &way);
		scene_walk_hazards(&net, &t, path, n, 0, sum);
		const struct reference want =
		    reference_of(g.scene, &t, path, n, 64, 0);
		const int arrives = want.fate[n - 1] == SCENE_WALK_DELIVERED;
		assert_near(exp(-way.hazard), arrives ? want.end[n - 1][1] : 0,
		    1e-12);
		assert_true(way.hazard == sum[n] && sum[0] == 0);
		assert_true(way.n_hops == n && way.delay == 0);
		double left = 1;
		for (unsigned i = 0; i < n; i++) {
			left -= want.end[i][0];
			if (want.fate[i] == SCENE_WALK_SWALLOWED)
				left = 0;
			assert_near(exp(-sum[i + 1]), left, 1e-12);
		}
		net.lossless = 1;
		scene_walk_hazards(&net, &t, path, n, 0, sum);
		assert_true(arrives ? sum[n] == 0 : isinf(sum[n]));
		free(noise);
		free(fault_at);
		rig_close(&g);
	}
}

/* --- all go alike --------------------------------------------------------- */

/* Where packets of TUPLE that are sent along PATH end, in a scene whose links
 * lose everything or nothing. */
static enum scene_walk_fate fate_of(const struct scene *s,
    const struct topo_tuple *t, const topo_link path[], unsigned n,
    unsigned ttl, unsigned *n_met)
{
	const struct reference r = reference_of(s, t, path, n, ttl, 0);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < 2; k++)
			if (r.end[i][k] == 1) {
				*n_met = i + 1;
				return k == 0 ? SCENE_WALK_LOST : r.fate[i];
			}
	fail();
	return SCENE_WALK_UNDER_WAY;
}

/* Whether an answer from the end of the first N links comes back. */
static int comes_back(const struct scene *s, const topo_link path[], unsigned n)
{
	const struct topo_tuple answer = {.proto = TOPO_PROTO_ICMP};
	topo_link back[TOPO_MAX_HOPS];
	unsigned n_met;
	for (unsigned i = 0; i < n; i++)
		back[i] = topo_link_reverse(path[n - 1 - i]);
	return fate_of(s, &answer, back, n, 64, &n_met) == SCENE_WALK_DELIVERED;
}

static void check_connect(struct rig *g, const struct topo_tuple *t, int want)
{
	struct rig_event x;
	rig_connect(g, t, 0, 1);
	assert_true(rig_next(g, SIM_NEVER, &x));
	assert_int_equal(x.ev.outcome, want ? AGENT_CONNECTED : AGENT_TIMEOUT);
	assert_true(!want || x.ev.rtt_ns < SIM_SEC);
}

static void check_probe(struct rig *g, const struct topo_tuple *t, uint8_t ttl,
    int want)
{
	const struct agent_action a = {.kind = AGENT_PROBE,
	    .ttl = ttl,
	    .ip_id = ttl,
	    .tuple = *t};
	struct rig_event x;
	rig_act(g, t->src_ip - topo_addr_of_host(0), &a);
	assert_int_equal(rig_next(g, rig_now(g) + SIM_SEC, &x), want);
	assert_true(!want || x.ev.ip_id == ttl);
}

static void check_packet(struct tun_switch *net, const struct topo_tuple *t,
    uint8_t ttl, enum scene_walk_fate want, unsigned n_met, int answered)
{
	const struct tun_packet p = {.tuple = *t, .ttl = ttl, .bytes = 40};
	struct tun_way w;
	uint32_t from;
	assert_ok(tun_switch_send(net, &p, 0, &w, test_err()));
	assert_int_equal(w.n_links, n_met);
	assert_int_equal(w.fate,
	    want == SCENE_WALK_DELIVERED     ? TUN_ARRIVES
		: want == SCENE_WALK_EXPIRED ? TUN_EXPIRES
					     : TUN_LOST);
	if (w.fate == TUN_LOST)
		assert_int_equal(net->drop[net->n_drops - 1].in_hole,
		    want == SCENE_WALK_SWALLOWED);
	if (w.fate != TUN_EXPIRES)
		return;
	assert_ok(tun_switch_answer(net, &p, 0, &w, &from, test_err()));
	assert_int_equal(w.fate, answered ? TUN_ARRIVES : TUN_LOST);
}

/* Of links one in 15 loses all, the others nothing, and half of the switches
 * have holes. */
static void break_surely(struct rig *g, struct sim_rng *r)
{
	for (topo_link l = 0; l < g->s.topo.n_links; l++)
		if (sim_rng_below(r, 5) == 0)
			add_fault(g, l, sim_rng_below(r, 3) == 0, 0);
	for (topo_switch s = 0; s < g->s.topo.n_switches; s += 2)
		rig_add_hole(g, s,
		    s % 4 ? BLACKHOLE_RULE_PAIR : BLACKHOLE_RULE_TUPLE, 0.1, 0,
		    SIM_NEVER);
}

static void connects_traces_and_real_packets_go_alike(void **state)
{
	unsigned n_fates[5] = {0};
	(void)state;
	for (unsigned run = 0; run < 5; run++) {
		struct tun_switch_params params = {.hop_us = 1,
		    .max_drops = 1000000,
		    .icmp.burst = 1};
		struct tun_switch net;
		struct sim_rng r;
		struct rig g;
		rig_open(&g);
		rig_draw(&g);
		test_rng(&r, run);
		break_surely(&g, &r);
		rig_begin(&g);
		assert_ok(
		    tun_switch_open(&net, &g.s.topo, &params, test_err()));
		assert_ok(tun_switch_begin(&net, g.scene, SIM_SEC, test_err()));
		for (unsigned i = 0; i < 200; i++) {
			const topo_host src = sim_rng_below(&r, 12);
			const topo_host dst = 12 + sim_rng_below(&r, 12);
			const struct topo_tuple t =
			    rig_tuple(src, dst, (uint16_t)i);
			const struct topo_tuple back = {t.dst_ip, t.src_ip,
			    t.dst_port, t.src_port, t.proto};
			topo_link path[TOPO_MAX_HOPS], way[TOPO_MAX_HOPS];
			const unsigned n = path_of(&g, &t, path);
			unsigned n_met, n_back;
			for (uint8_t ttl = 1; ttl <= n; ttl++) {
				const enum scene_walk_fate fate =
				    fate_of(g.scene, &t, path, n, ttl, &n_met);
				const int told = fate == SCENE_WALK_EXPIRED &&
				    comes_back(g.scene, path, ttl);
				check_probe(&g, &t, ttl, told);
				check_packet(&net, &t, ttl, fate, n_met, told);
				n_fates[fate]++;
			}
			const enum scene_walk_fate there =
			    fate_of(g.scene, &t, path, n, 64, &n_met);
			check_connect(&g, &t,
			    there == SCENE_WALK_DELIVERED &&
				fate_of(g.scene, &back, way,
				    path_of(&g, &back, way), 64,
				    &n_back) == SCENE_WALK_DELIVERED);
		}
		tun_switch_close(&net);
		rig_close(&g);
	}
	for (unsigned i = SCENE_WALK_DELIVERED; i <= SCENE_WALK_EXPIRED; i++)
		assert_true(n_fates[i] > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_hop_is_told),
	    cmocka_unit_test(a_way_is_slow_by_any_fault_of_any_link),
	    cmocka_unit_test(packets_end_where_independent_draws_say),
	    cmocka_unit_test(whole_ways_have_the_reference_s_hazards),
	    cmocka_unit_test(connects_traces_and_real_packets_go_alike),
	};
	return cmocka_run_group_tests_name("models/scene/walk", tests, NULL,
	    NULL);
}
