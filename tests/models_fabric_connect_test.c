/* tests/models_fabric_connect_test.c -- connects and payloads in simulated time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Laws are held by chi-square tests at 1e-6 each, counts to 5.5 standard
 * deviations (4e-8); about 60 of them.
 */
#include "models/rtt_profile.h"
#include "models/tcp_connect.h"
#include "tests/law.h"
#include "tests/rig.h"

#define LEVEL 1e-6
#define TOR   1 /* a host of its ToR, its pod and the other, seen from host 0 */
#define POD   3
#define FAR   20

static const struct model_tcp_ladder *const ladders[] = {&model_tcp_windows,
    &model_tcp_linux, &model_tcp_linux_linear};

/* The end of the only connect there is. */
static struct agent_event outcome_of(struct rig *g, const struct topo_tuple *t)
{
	struct rig_event x;
	rig_connect(g, t, 0, 5);
	assert_true(rig_next(g, SIM_NEVER, &x));
	assert_int_equal(x.ev.kind, AGENT_CONNECT_DONE);
	assert_int_equal(x.host, t->src_ip - topo_addr_of_host(0));
	assert_true(x.ev.token == 5 && x.ev.echo_ns == 0);
	return x.ev;
}

/* --- round trips ---------------------------------------------------------- */

static void without_loss_a_connect_takes_one_round_trip(void **state)
{
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	for (uint16_t i = 0; i < 200; i++) {
		const sim_ns sent = rig_now(&g);
		const struct topo_tuple t = rig_tuple(0, FAR, i);
		const struct agent_event ev = outcome_of(&g, &t);
		assert_int_equal(ev.outcome, AGENT_CONNECTED);
		assert_true(ev.rtt_ns > 0 && rig_now(&g) == sent + ev.rtt_ns);
	}
	rig_close(&g);
}

static void round_trips_have_the_profiles_law(void **state)
{
	enum { N = 20000, TAILS = 4 };
	static const double tails[TAILS] = {0.5, 0.1, 0.01, 0.001};
	static const topo_host dst[] = {TOR, POD, FAR};
	(void)state;
	for (unsigned run = 0; run < 12; run++) {
		const unsigned class = run / 3 % 2, profile = run / 6;
		const double load = profile ? 0.6 : 0.3; /* that of dc1 */
		uint32_t over[TAILS] = {0};
		double at_us[TAILS];
		struct model_rtt law;
		struct rig_event x;
		struct rig g;
		rig_open(&g);
		g.params.connect.profile = profile;
		g.params.connect.load = profile ? load : -1;
		g.params.connect.class_load = 0.45; /* above the most */
		rig_draw_and_begin(&g);
		assert_ok(model_rtt_init(&law, &model_rtt_profiles[profile],
		    2 + 2 * (run % 3), 0,
		    fmin(load + class * 0.45, MODEL_RTT_MAX_LOAD), test_err()));
		for (unsigned k = 0; k < TAILS; k++)
			at_us[k] = model_rtt_exceeded(&law, tails[k]);
		for (uint32_t i = 0; i < N; i++) {
			const struct agent_action a = {.kind = AGENT_CONNECT,
			    .class = (uint8_t) class,
			    .tuple = rig_tuple(0, dst[run % 3], (uint16_t)i)};
			rig_act(&g, 0, &a);
		}
		while (rig_next(&g, SIM_NEVER, &x))
			for (unsigned k = 0; k < TAILS; k++)
				over[k] += (double)x.ev.rtt_ns > 1e3 * at_us[k];
		for (unsigned k = 0; k < TAILS; k++)
			assert_near(over[k], N * tails[k],
			    5.5 * sqrt(N * tails[k] * (1 - tails[k])));
		rig_close(&g);
	}
}

/* To the ns, as nothing else changes. */
static void slow_links_of_either_way_add_their_delay(void **state)
{
	const struct topo_tuple t = rig_tuple(0, FAR, 9);
	sim_ns rtt[4];
	(void)state;
	for (unsigned run = 0; run < 4; run++) {
		struct rig g;
		rig_open(&g);
		rig_draw(&g);
		struct truth_fault f = {.link = topo_link_of(0, TOPO_UP),
		    .to_ns = SIM_NEVER,
		    .delay_us = 100};
		if (run & 1)
			rig_add_fault(&g, &f);
		f.link = topo_link_of(0, TOPO_DOWN);
		f.delay_us = 7;
		if (run & 2)
			rig_add_fault(&g, &f);
		rig_begin(&g);
		rtt[run] = outcome_of(&g, &t).rtt_ns;
		rig_close(&g);
	}
	assert_true(rtt[1] == rtt[0] + 100 * SIM_US);
	assert_true(rtt[2] == rtt[0] + 7 * SIM_US);
	assert_true(rtt[3] == rtt[0] + 107 * SIM_US);
}

/* --- losses --------------------------------------------------------------- */

/* Class of one connect: SYNs lost, or n_retries + 1 if it timed out. */
static unsigned class_of(const struct model_tcp_ladder *l, int timed_out,
    sim_ns rtt_ns)
{
	return timed_out ? l->n_retries + 1u
			 : model_tcp_class(l, rtt_ns, SIM_NEVER);
}

/* The sender's cable loses, one way and the other. */
static void classes_are_those_of_one_connect(void **state)
{
	enum { N = 20000, CELLS = 16 };
	const double there = 0.2, back = 0.3;
	const double q = 1 - (1 - there) * (1 - back);
	(void)state;
	for (uint32_t run = 0; run < 6; run++) {
		const struct model_tcp_ladder *l = ladders[run % 3];
		const unsigned n = l->n_retries;
		uint64_t got[CELLS] = {0}, model[CELLS] = {0};
		double want[CELLS] = {0};
		struct rig_event x;
		struct sim_rng r;
		struct rig g;
		rig_open(&g);
		g.params.connect.timers = run % 3;
		g.params.connect.synack_timer = run / 3;
		scenes_add_fault(&g.s, topo_link_of(0, TOPO_UP), there);
		scenes_add_fault(&g.s, topo_link_of(0, TOPO_DOWN), back);
		rig_draw_and_begin(&g);
		const struct model_tcp_connect c = {.there = {model_hazard(
								  there),
							100 * SIM_US, 0},
		    .back = {model_hazard(back), 100 * SIM_US, 0},
		    .client = l,
		    .server = run / 3 ? &model_tcp_linux_synack : NULL,
		    .n_retries = l->n_retries,
		    .listening = 1};
		test_rng(&r, run);
		for (uint32_t i = 0; i < N; i++) {
			const struct topo_tuple t =
			    rig_tuple(0, FAR, (uint16_t)i);
			rig_connect(&g, &t, 0, i);
			const struct model_tcp_result one =
			    model_tcp_connect(&c, &r);
			model[class_of(l, one.outcome == MODEL_TCP_TIMED_OUT,
			    one.rtt_ns)]++;
		}
		while (rig_next(&g, SIM_NEVER, &x))
			got[class_of(l, x.ev.outcome == AGENT_TIMEOUT,
			    x.ev.rtt_ns)]++;
		for (unsigned i = 0; i <= n; i++)
			want[i] = pow(q, i) * (1 - q);
		want[n + 1] = pow(q, n + 1);
		if (run < 3 && law_chi2(got, want, n + 2) < LEVEL)
			fail_msg("%s is not geometric", l->name);
		if (law_chi2_equal(got, model, n + 2) < LEVEL)
			fail_msg("%s, run %u", l->name, run);
		rig_close(&g);
	}
}

/* Pingmesh's estimate, q (1 - q^2) / (1 - q^3), over many links that lose. */
static void the_papers_estimate_is_the_loss_of_a_round_trip(void **state)
{
	enum { N = 60000 };
	const double rate = 0.01, q = 1 - pow(1 - rate, 12);
	const double want = q * (1 - q * q) / (1 - q * q * q);
	uint32_t n_connected = 0, n_drops = 0;
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	g.s.params.noise.rate = scenes_fixed(rate);
	rig_draw_and_begin(&g);
	for (uint32_t i = 0; i < N; i++) {
		const struct topo_tuple t = rig_tuple(0, FAR, (uint16_t)i);
		rig_connect(&g, &t, 0, i);
	}
	while (rig_next(&g, SIM_NEVER, &x)) {
		n_connected += x.ev.outcome == AGENT_CONNECTED;
		n_drops += x.ev.rtt_ns >= 3 * SIM_SEC;
	}
	assert_near((double)n_drops / n_connected, want,
	    5.5 * sqrt(want * (1 - want) / n_connected));
	rig_close(&g);
}

/* The first SYN comes through, its answer not: who repeats first? */
static void servers_with_a_timer_answer_before_the_client_asks(void **state)
{
	const struct truth_fault mute = {.link = topo_link_of(0, TOPO_DOWN),
	    .rate = 1,
	    .to_ns = SIM_SEC / 2};
	const struct truth_outage reboot = {.kind = TRUTH_HOST_OFF,
	    .id = FAR,
	    .from_ns = 6 * SIM_SEC / 10,
	    .to_ns = 7 * SIM_SEC / 10};
	const struct topo_tuple t = rig_tuple(0, FAR, 9);
	(void)state;
	for (unsigned run = 0; run < 3; run++) {
		struct rig_event x;
		struct rig g;
		rig_open(&g);
		g.params.connect.synack_timer = run > 0;
		rig_draw(&g);
		rig_add_fault(&g, &mute);
		if (run == 2)
			rig_add_outage(&g, &reboot);
		rig_begin(&g);
		rig_connect(&g, &t, 0, 1);
		do
			assert_true(rig_next(&g, SIM_NEVER, &x));
		while (x.ev.kind == AGENT_START);
		assert_int_equal(x.ev.outcome, AGENT_CONNECTED);
		const sim_ns wait = (run == 1 ? 1 : 3) * SIM_SEC;
		assert_in_range(x.ev.rtt_ns, wait + 1, wait + SIM_SEC / 2);
		assert_false(rig_next(&g, SIM_NEVER, &x));
		rig_close(&g);
	}
}

static void nobody_is_waited_for_and_port_0_refuses(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 3; run++) {
		struct rig g;
		rig_open(&g);
		g.params.connect.timers = run;
		g.params.connect.retries = run;
		rig_draw_and_begin(&g);
		static const sim_ns ends[] = {21, 3,
		    3}; /* s: 0, 1, 2 retries */
		struct topo_tuple t = rig_tuple(0, FAR, 9);
		t.dst_port = 0;
		struct agent_event ev = outcome_of(&g, &t);
		assert_int_equal(ev.outcome, AGENT_REFUSED);
		assert_true(ev.rtt_ns > 0 && ev.rtt_ns == rig_now(&g));
		t.dst_ip = topo_addr_of_switch(3);
		ev = outcome_of(&g, &t);
		assert_int_equal(ev.outcome, AGENT_TIMEOUT);
		assert_true(ev.rtt_ns == 0);
		const sim_ns began = g.f->ops->now(g.f) - ends[run] * SIM_SEC;
		assert_in_range(began, 1, SIM_SEC);
		rig_close(&g);
	}
}

static void the_caps_tell_the_waits_and_odd_retries_are_refused(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 6; run++) {
		const struct model_tcp_ladder *l = ladders[run % 3];
		struct sim_err e;
		struct rig g;
		rig_open(&g);
		g.params.connect.timers = run % 3;
		g.params.connect.retries = run / 3;
		rig_draw_and_begin(&g);
		const unsigned n = run / 3 ? 1 : l->n_retries;
		for (unsigned k = 0; k < FABRIC_MAX_WAITS; k++)
			assert_true(g.f->caps.syn_rto_ns[k] ==
			    (k < n ? l->wait_ns[k] : 0));
		struct fabric_sim *none;
		g.params.connect.retries = l->n_retries + 1u;
		assert_int_equal(fabric_sim_open(&none, &g.s.topo, &g.params,
				     &e),
		    SIM_ERANGE);
		assert_non_null(strstr(e.msg, l->name));
		rig_close(&g);
	}
}

/* --- paths and holes ------------------------------------------------------ */

/* Whether a packet of T from SRC to DST meets a hole, by walking its path. */
static int meets_hole(const struct rig *g, const struct topo_tuple *t,
    topo_host src, topo_host dst, unsigned *at_hop)
{
	const struct truth *truth = &g->scene->truth;
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = topo_path(&g->s.topo, g->scene->ecmp_seed, src, dst,
	    topo_tuple_digest(t), path);
	for (*at_hop = 0; *at_hop + 1 < n; ++*at_hop) {
		topo_node from, to;
		topo_link_ends(&g->s.topo, path[*at_hop], &from, &to);
		for (size_t i = 0; i < truth->n_holes; i++)
			if (truth->hole[i].at == to - g->s.topo.n_hosts &&
			    model_blackhole_drops(&truth->hole[i].rule, t))
				return 1;
	}
	return 0;
}

/* At a ToR, a T1 and a T2, of both types. Probes with TTL die at the hole too,
 * but what switches before it answer comes through. */
static void holes_swallow_exactly_what_their_rule_takes(void **state)
{
	static const topo_switch at[] = {1, 8, 14};
	(void)state;
	for (unsigned run = 0; run < 6; run++) {
		unsigned n[2] = {0}, hop;
		struct rig_event x;
		struct rig g;
		rig_open(&g);
		g.params.connect.retries = 1;
		rig_draw_and_begin(&g);
		for (unsigned k = 0; k < 2; k++)
			rig_add_hole(&g, at[(run + k) % 3],
			    run / 3 ? MODEL_BLACKHOLE_PAIR
				    : MODEL_BLACKHOLE_TUPLE,
			    0.4, 0, SIM_NEVER);
		for (uint32_t i = 0; i < 2000; i++) {
			const topo_host src = i % 24, dst = (src + 1 + i) % 24;
			const struct topo_tuple t = rig_tuple(src, dst,
						    (uint16_t)(i * 7)),
						r = {t.dst_ip, t.src_ip,
						    t.dst_port, t.src_port,
						    t.proto};
			if (src == dst)
				continue;
			unsigned last = 0;
			const int way = meets_hole(&g, &t, src, dst, &hop);
			const struct agent_action probe = {.kind = AGENT_PROBE,
			    .ttl = (uint8_t)(hop + way),
			    .tuple = t};
			rig_act(&g, src, &probe);
			assert_int_equal(rig_next(&g, SIM_NEVER, &x),
			    !way && hop > 0);
			const int lost =
			    way || meets_hole(&g, &r, dst, src, &last);
			assert_int_equal(outcome_of(&g, &t).outcome,
			    lost ? AGENT_TIMEOUT : AGENT_CONNECTED);
			n[lost]++;
		}
		assert_true(n[0] > 100 && n[1] > 100);
		rig_close(&g);
	}
}

/* By its time, or since it was taken out of the truth. */
static void a_hole_that_ends_between_two_syns_costs_one_wait(void **state)
{
	const struct topo_tuple t = rig_tuple(0, FAR, 1);
	(void)state;
	for (unsigned run = 0; run < 3; run++) {
		struct rig_event x;
		struct rig g;
		rig_open(&g);
		rig_draw_and_begin(&g);
		rig_wait(&g, SIM_SEC);
		/* 2: the last ns is the second SYN's. */
		rig_add_hole(&g, topo_tor_of(&g.s.topo, run ? 0 : FAR),
		    MODEL_BLACKHOLE_PAIR, 1, 0,
		    run == 1 ? SIM_NEVER : 4 * SIM_SEC + run / 2);
		rig_connect(&g, &t, 0, 1);
		if (run == 1) {
			rig_wait(&g, 2 * SIM_SEC);
			g.scene->truth.n_holes = 0;
		}
		assert_true(rig_next(&g, SIM_NEVER, &x));
		assert_int_equal(x.ev.outcome, AGENT_CONNECTED);
		const sim_ns waits = (run == 2 ? 9 : 3) * SIM_SEC;
		assert_in_range(x.ev.rtt_ns, waits + 1, waits + SIM_SEC);
		rig_close(&g);
	}
}

/* Around one cable there is a way, around all of a ToR none. */
static void connects_go_round_cables_that_are_down(void **state)
{
	const struct topo_tuple t = rig_tuple(0, FAR, 1);
	(void)state;
	for (unsigned n = 1; n <= 3; n += 2) {
		struct rig g;
		rig_open(&g);
		rig_draw_and_begin(&g);
		for (uint32_t i = 0; i < n; i++) {
			const struct model_flap flap =
			    {.link = topo_clos_link_tor(&g.s.topo.clos, 0, i,
				 TOPO_UP),
				.to_ns = SIM_SEC};
			assert_ok(model_flap_add(fabric_sim_flaps(g.sim), &flap,
			    test_err()));
		}
		const struct agent_event ev = outcome_of(&g, &t);
		assert_int_equal(ev.outcome, AGENT_CONNECTED);
		assert_int_equal(ev.rtt_ns < SIM_SEC, n == 1);
		rig_close(&g);
	}
}

/* --- payload -------------------------------------------------------------- */

/* Go on until the peer is asked; what comes instead, if anything. */
static int until_asked(struct rig *g, const struct topo_tuple *t,
    uint32_t n_bytes, struct rig_event *x)
{
	rig_connect(g, t, n_bytes, 5);
	return rig_next(g, SIM_NEVER, x) && x->ev.kind == AGENT_PING_REQUEST;
}

static void answer(struct rig *g, topo_host host, uint64_t token, uint32_t n)
{
	const struct agent_action a = {.kind = AGENT_ANSWER,
	    .token = token,
	    .n_bytes = n};
	rig_act(g, host, &a);
}

static void payloads_are_echoed_by_the_peers_agent(void **state)
{
	const struct topo_tuple t = rig_tuple(0, FAR, 1);
	struct law_mean m = {0};
	struct model_rtt law;
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	assert_ok(model_rtt_init(&law, &model_rtt_profiles[0], 6, 1000,
	    model_rtt_profiles[0].load, test_err()));
	const double median = 1e3 * model_rtt_exceeded(&law, 0.5);
	for (unsigned i = 0; i < 4000; i++) {
		const sim_ns sent = rig_now(&g);
		assert_true(until_asked(&g, &t, 1000, &x));
		assert_int_equal(x.host, FAR);
		assert_true(x.ev.n == 1000);
		rig_wait(&g, x.at + SIM_US);
		answer(&g, FAR, x.ev.token, 1000);
		assert_true(rig_next(&g, SIM_NEVER, &x));
		assert_int_equal(x.ev.kind, AGENT_CONNECT_DONE);
		assert_int_equal(x.host, 0);
		assert_int_equal(x.ev.outcome, AGENT_CONNECTED);
		assert_true(x.ev.token == 5);
		assert_true(x.at == sent + x.ev.rtt_ns + x.ev.echo_ns);
		law_add(&m, (double)(x.ev.echo_ns - SIM_US) > median);
	}
	assert_true(fabs(law_z(&m, 0.5)) < 5.5);
	rig_close(&g);
}

static void what_is_not_echoed_ends_without_it(void **state)
{
	const struct topo_tuple t = rig_tuple(0, FAR, 1);
	struct rig_event x, late;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	assert_true(until_asked(&g, &t, 1000, &x));
	/* Of another host, another turn, a row that is not. */
	answer(&g, FAR - 1, x.ev.token, 1000);
	answer(&g, FAR, x.ev.token + (UINT64_C(1) << 32), 1000);
	answer(&g, FAR, x.ev.token + 1, 1000);
	assert_true(rig_next(&g, SIM_NEVER, &late));
	assert_int_equal(late.ev.kind, AGENT_CONNECT_DONE);
	assert_int_equal(late.ev.outcome, AGENT_CONNECTED);
	assert_true(late.ev.echo_ns == 0);
	assert_true(late.at == late.ev.rtt_ns + 5 * SIM_SEC);
	answer(&g, FAR, x.ev.token, 1000); /* too late */
	/* Twice: the second is not another echo. */
	assert_true(until_asked(&g, &t, 1000, &x));
	answer(&g, FAR, x.ev.token, 1000);
	answer(&g, FAR, x.ev.token, 1000);
	assert_true(rig_next(&g, SIM_NEVER, &x));
	assert_true(x.ev.echo_ns > 0);
	assert_false(rig_next(&g, SIM_NEVER, &x));
	const struct agent_action large = {.kind = AGENT_CONNECT,
	    .tuple = t,
	    .n_bytes = MODEL_RTT_MAX_PAYLOAD + 1};
	struct sim_err e;
	assert_int_equal(g.f->ops->submit(g.f, 0, &large, 1, &e), SIM_ERANGE);
	assert_non_null(strstr(e.msg, "65537 bytes"));
	rig_close(&g);
}

/* One way loses, of 3 segments: sent again after 0.3, 0.9, 2.1 s and no more. */
static void lost_payloads_are_sent_again_three_times(void **state)
{
	enum { N = 3000, CELLS = 5 };
	const double rate = 0.25, p = 1 - pow(1 - rate, 3);
	(void)state;
	for (unsigned back = 0; back < 2; back++) {
		uint64_t got[CELLS] = {0};
		double want[CELLS];
		struct rig g;
		rig_open(&g);
		scenes_add_fault(&g.s,
		    topo_link_of(0, back ? TOPO_DOWN : TOPO_UP), rate);
		g.params.connect.timers = FABRIC_SIM_LINUX;
		rig_draw_and_begin(&g);
		for (uint16_t i = 0; i < N; i++) {
			static const double after[] = {0.3, 0.9, 2.1, 5};
			const struct topo_tuple t = rig_tuple(0, FAR, i);
			struct rig_event x;
			unsigned k = 0;
			const int asked = until_asked(&g, &t, 3 * 1460, &x);
			if (asked) {
				answer(&g, FAR, x.ev.token, 2 * 1460 + 1);
				assert_true(rig_next(&g, SIM_NEVER, &x));
			}
			if (x.ev.outcome != AGENT_CONNECTED)
				continue;
			assert_true(asked || !back);
			const double echo = (double)x.ev.echo_ns / 1e9;
			while (k < 3 && echo >= after[k])
				k++;
			got[x.ev.echo_ns == 0 ? 4 : k]++;
		}
		for (unsigned k = 0; k < 4; k++)
			want[k] = pow(p, k) * (1 - p);
		want[4] = pow(p, 4);
		assert_true(law_chi2(got, want, CELLS) > LEVEL);
		rig_close(&g);
	}
}

/* --- virtual addresses ---------------------------------------------------- */

static void a_vip_is_served_by_the_hosts_of_its_tor(void **state)
{
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	for (uint32_t v = 0; v < 17; v++) {
		uint64_t n[3] = {0};
		for (uint16_t i = 0; i < 600; i++) {
			struct topo_tuple t = rig_tuple(0, 0, i);
			t.dst_ip = topo_addr_of_vip(v);
			assert_true(until_asked(&g, &t, 1, &x));
			const topo_host server = x.host;
			assert_int_equal(server / 3, v % 8);
			n[server % 3]++;
			answer(&g, server, x.ev.token, 1);
			assert_true(rig_next(&g, SIM_NEVER, &x));
			assert_int_equal(x.ev.outcome, AGENT_CONNECTED);
			assert_true(until_asked(&g, &t, 1, &x));
			assert_int_equal(x.host, server);
			answer(&g, server, x.ev.token, 1);
			assert_true(rig_next(&g, SIM_NEVER, &x));
		}
		assert_true(law_chi2_uniform(n, 3) > LEVEL);
	}
	rig_close(&g);
}

/* --- streams and memory --------------------------------------------------- */

/* What one host does changes nothing of what another hears, nor does the number
 * of the events between polls. */
static void hosts_have_streams_of_their_own(void **state)
{
	enum { N = 300 };
	static struct {
		sim_ns at;
		struct agent_event ev;
	} heard[2][N];
	(void)state;
	memset(heard, 0, sizeof(heard));
	for (unsigned both = 0; both < 2; both++) {
		struct rig_event x;
		struct rig g;
		rig_open(&g);
		g.s.params.noise.rate = scenes_fixed(0.05);
		g.params.connect.synack_timer = 1;
		rig_draw_and_begin(&g);
		for (uint16_t i = 0; i < N; i++) {
			const struct topo_tuple a = rig_tuple(1, FAR, i),
						b = rig_tuple(4, FAR, i);
			if (both)
				rig_connect(&g, &b, 3000, i);
			rig_connect(&g, &a, i % 2 ? 3000 : 0, i);
		}
		while (rig_next(&g, SIM_NEVER, &x)) {
			if (x.ev.kind == AGENT_PING_REQUEST) {
				answer(&g, x.host, x.ev.token, 3000);
			} else if (x.host == 1) {
				heard[both][x.ev.token].at = x.at;
				heard[both][x.ev.token].ev = x.ev;
			}
		}
		rig_close(&g);
	}
	for (unsigned i = 0; i < N; i++)
		assert_true(heard[0][i].at > 0);
	assert_memory_equal(heard[0], heard[1], sizeof(heard[0]));
}

static int connect_some(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	struct agent_event ev;
	struct fabric_sim *sim;
	topo_host host;
	sim_ns at;
	size_t n = 1;
	int rc = fabric_sim_open(&sim, &g->s.topo, &g->params, e);
	if (rc < 0)
		return rc;
	struct fabric *f = fabric_sim_fabric(sim);
	rc = fabric_sim_begin(sim, g->scene, NULL, e);
	for (uint16_t i = 0; rc == 0 && i < 50; i++) {
		const struct agent_action a = {.kind = AGENT_CONNECT,
		    .n_bytes = i % 2 * 100u,
		    .tuple = rig_tuple(0, FAR, i)};
		rc = f->ops->submit(f, 0, &a, 1, e);
	}
	while (rc == 0 && n > 0)
		rc = f->ops->poll(f, SIM_NEVER, &ev, &host, &at, 1, &n, e);
	fabric_sim_close(sim);
	return rc;
}

static void failed_allocations_are_told(void **state)
{
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw(&g);
	test_each_alloc_fails(connect_some, &g);
	rig_close(&g);
}

static void in_the_long_run_nothing_is_allocated(void **state)
{
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	g.s.params.noise.rate = scenes_fixed(0.05);
	g.params.connect.synack_timer = 1;
	rig_draw_and_begin(&g);
	for (unsigned round = 0; round < 20; round++) {
		for (uint16_t i = 0; i < 1000; i++) {
			const struct topo_tuple t = rig_tuple(0, FAR, i);
			rig_connect(&g, &t, i % 2 * 100u, i);
		}
		while (rig_next(&g, SIM_NEVER, &x))
			if (x.ev.kind == AGENT_PING_REQUEST)
				answer(&g, x.host, x.ev.token, 100);
		const unsigned long n = test_fail_alloc(0);
		assert_true(round < 2 || n == 0);
	}
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_loss_a_connect_takes_one_round_trip),
	    cmocka_unit_test(round_trips_have_the_profiles_law),
	    cmocka_unit_test(slow_links_of_either_way_add_their_delay),
	    cmocka_unit_test(classes_are_those_of_one_connect),
	    cmocka_unit_test(the_papers_estimate_is_the_loss_of_a_round_trip),
	    cmocka_unit_test(
		servers_with_a_timer_answer_before_the_client_asks),
	    cmocka_unit_test(nobody_is_waited_for_and_port_0_refuses),
	    cmocka_unit_test(
		the_caps_tell_the_waits_and_odd_retries_are_refused),
	    cmocka_unit_test(holes_swallow_exactly_what_their_rule_takes),
	    cmocka_unit_test(a_hole_that_ends_between_two_syns_costs_one_wait),
	    cmocka_unit_test(connects_go_round_cables_that_are_down),
	    cmocka_unit_test(payloads_are_echoed_by_the_peers_agent),
	    cmocka_unit_test(what_is_not_echoed_ends_without_it),
	    cmocka_unit_test(lost_payloads_are_sent_again_three_times),
	    cmocka_unit_test(a_vip_is_served_by_the_hosts_of_its_tor),
	    cmocka_unit_test(hosts_have_streams_of_their_own),
	    cmocka_unit_test(failed_allocations_are_told),
	    cmocka_unit_test(in_the_long_run_nothing_is_allocated),
	};
	return cmocka_run_group_tests_name("models/fabric_connect", tests, NULL,
	    NULL);
}
