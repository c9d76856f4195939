/* tests/models/sim/connect_test.c -- connects and payloads in simulated time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Three random laws: means to 5.5 standard errors (4e-8), cells by chi-square
 * at 1e-6. The laws of connects are in models_sim_connect_law_test.c.
 */
#include "models/sim/rtt_profile.h"
#include "models/sim/tcp_connect.h"
#include "tests/rigs/law.h"
#include "tests/rigs/rig.h"

#define LEVEL 1e-6
#define FAR   20 /* in the other pod, for host 0 */

static const struct fabric_sim_tcp_ladder *const ladders[] =
    {&fabric_sim_tcp_windows, &fabric_sim_tcp_linux,
	&fabric_sim_tcp_linux_linear};

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

/* The times differ by the delays to the ns, since all else is the same. */
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
		const struct fabric_sim_tcp_ladder *l = ladders[run % 3];
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
			    blackhole_rule_drops(&truth->hole[i].rule, t))
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
			    run / 3 ? BLACKHOLE_RULE_PAIR
				    : BLACKHOLE_RULE_TUPLE,
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

/* Two probes leave at the same time, so they take the same path. The first one
 * meets a hole, which is taken out of the truth before the second one leaves.
 */
static void a_probe_meets_the_truth_of_its_time(void **state)
{
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	const struct agent_action probe = {.kind = AGENT_PROBE,
	    .ttl = 1,
	    .tuple = rig_tuple(0, FAR, 1)};
	rig_add_hole(&g, 0, BLACKHOLE_RULE_PAIR, 1, 0, SIM_NEVER);
	rig_act(&g, 0, &probe);
	rig_wait(&g, 0);
	g.scene->truth.n_holes = 0;
	rig_act(&g, 0, &probe);
	assert_true(rig_next(&g, SIM_NEVER, &x));
	assert_int_equal(x.ev.kind, AGENT_ICMP);
	assert_false(rig_next(&g, SIM_NEVER, &x));
	rig_close(&g);
}

/* The hole ends at its time, or because it is taken out of the truth. */
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
		    BLACKHOLE_RULE_PAIR, 1, 0,
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

/* There is a way around one cable of a ToR that is down, but none around all of
 * them. */
static void connects_go_round_cables_that_are_down(void **state)
{
	const struct topo_tuple t = rig_tuple(0, FAR, 1);
	(void)state;
	for (unsigned n = 1; n <= 3; n += 2) {
		struct rig g;
		rig_open(&g);
		rig_draw_and_begin(&g);
		for (uint32_t i = 0; i < n; i++) {
			const struct fault_flap flap =
			    {.link = topo_clos_link_tor(&g.s.topo.clos, 0, i,
				 TOPO_UP),
				.to_ns = SIM_SEC};
			assert_ok(fault_flap_add(fabric_sim_flaps(g.sim), &flap,
			    test_err()));
		}
		const struct agent_event ev = outcome_of(&g, &t);
		assert_int_equal(ev.outcome, AGENT_CONNECTED);
		assert_int_equal(ev.rtt_ns < SIM_SEC, n == 1);
		rig_close(&g);
	}
}

/* --- payload -------------------------------------------------------------- */

static void payloads_are_echoed_by_the_peers_agent(void **state)
{
	const struct topo_tuple t = rig_tuple(0, FAR, 1);
	struct law_mean m = {0};
	struct fabric_sim_rtt law;
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw_and_begin(&g);
	assert_ok(fabric_sim_rtt_init(&law, &fabric_sim_rtt_profiles[0], 6,
	    1000, fabric_sim_rtt_profiles[0].load, test_err()));
	const double median = 1e3 * fabric_sim_rtt_exceeded(&law, 0.5);
	for (unsigned i = 0; i < 4000; i++) {
		const sim_ns sent = rig_now(&g);
		assert_true(rig_until_asked(&g, &t, 1000, &x));
		assert_int_equal(x.host, FAR);
		assert_true(x.ev.n == 1000);
		rig_wait(&g, x.at + SIM_US);
		rig_answer(&g, FAR, x.ev.token, 1000);
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
	assert_true(rig_until_asked(&g, &t, 1000, &x));
	/* Answers of another host, of an earlier use of the row, and of a row
	 * that does not exist count for nothing. */
	rig_answer(&g, FAR - 1, x.ev.token, 1000);
	rig_answer(&g, FAR, x.ev.token + (UINT64_C(1) << 32), 1000);
	rig_answer(&g, FAR, x.ev.token + 1, 1000);
	assert_true(rig_next(&g, SIM_NEVER, &late));
	assert_int_equal(late.ev.kind, AGENT_CONNECT_DONE);
	assert_int_equal(late.ev.outcome, AGENT_CONNECTED);
	assert_true(late.ev.echo_ns == 0);
	assert_true(late.at == late.ev.rtt_ns + 5 * SIM_SEC);
	rig_answer(&g, FAR, x.ev.token, 1000); /* too late */
	/* Twice: the second is not another echo. */
	assert_true(rig_until_asked(&g, &t, 1000, &x));
	rig_answer(&g, FAR, x.ev.token, 1000);
	rig_answer(&g, FAR, x.ev.token, 1000);
	assert_true(rig_next(&g, SIM_NEVER, &x));
	assert_true(x.ev.echo_ns > 0);
	assert_false(rig_next(&g, SIM_NEVER, &x));
	/* A second answer does not count either when the first one is lost. */
	const struct truth_fault mute = {.link = topo_link_of(0, TOPO_DOWN),
	    .rate = 1,
	    .to_ns = SIM_NEVER};
	assert_true(rig_until_asked(&g, &t, 1000, &x));
	rig_add_fault(&g, &mute);
	rig_answer(&g, FAR, x.ev.token, 1000);
	truth_clear(&g.scene->truth);
	rig_answer(&g, FAR, x.ev.token, 1000);
	assert_true(rig_next(&g, SIM_NEVER, &x));
	assert_true(x.ev.outcome == AGENT_CONNECTED && x.ev.echo_ns == 0);
	const struct agent_action large = {.kind = AGENT_CONNECT,
	    .tuple = t,
	    .n_bytes = FABRIC_SIM_RTT_MAX_PAYLOAD + 1};
	struct sim_err e;
	assert_int_equal(g.f->ops->submit(g.f, 0, &large, 1, &e), SIM_ERANGE);
	assert_non_null(strstr(e.msg, "65537 bytes"));
	rig_close(&g);
}

/* The connect takes a way of 6 s and so does the payload, which comes to
 * nobody. */
static void a_payload_that_is_under_way_is_waited_for_as_long(void **state)
{
	const struct topo_tuple t = rig_tuple(0, FAR, 1);
	const struct truth_fault slow = {.link = topo_link_of(0, TOPO_UP),
	    .to_ns = SIM_NEVER,
	    .delay_us = 6e6};
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw(&g);
	rig_add_fault(&g, &slow);
	rig_begin(&g);
	assert_false(rig_until_asked(&g, &t, 1000, &x));
	assert_int_equal(x.ev.kind, AGENT_CONNECT_DONE);
	assert_int_equal(x.ev.outcome, AGENT_CONNECTED);
	assert_true(x.ev.rtt_ns > 6 * SIM_SEC && x.ev.echo_ns == 0);
	assert_true(x.at == x.ev.rtt_ns + 5 * SIM_SEC);
	assert_false(rig_next(&g, SIM_NEVER, &x));
	rig_close(&g);
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
			assert_true(rig_until_asked(&g, &t, 1, &x));
			const topo_host server = x.host;
			assert_int_equal(server / 3, v % 8);
			n[server % 3]++;
			rig_answer(&g, server, x.ev.token, 1);
			assert_true(rig_next(&g, SIM_NEVER, &x));
			assert_int_equal(x.ev.outcome, AGENT_CONNECTED);
			assert_true(rig_until_asked(&g, &t, 1, &x));
			assert_int_equal(x.host, server);
			rig_answer(&g, server, x.ev.token, 1);
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
				rig_answer(&g, x.host, x.ev.token, 3000);
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

/* An epoch does not depend on the one before it in the same fabric: on its
 * noise, its loads, or the connects that were under way. */
static void an_epoch_is_the_same_in_a_used_fabric(void **state)
{
	enum { N = 500 };
	static sim_ns end[2][N];
	(void)state;
	for (unsigned used = 0; used < 2; used++) {
		struct rig_event x;
		struct rig g;
		rig_open(&g);
		for (unsigned epoch = !used; epoch < 2; epoch++) {
			g.s.params.noise.rate =
			    scenes_fixed(0.01 + epoch / 10.);
			g.params.connect.load = epoch ? 0.9 : 0.1;
			rig_draw_and_begin(&g);
			for (uint16_t i = 0; i < N; i++) {
				const struct topo_tuple t =
				    rig_tuple(0, FAR, i);
				rig_connect(&g, &t, 0, i);
			}
			/* The first epoch is left while some are under way. */
			const sim_ns until = epoch ? SIM_NEVER : SIM_SEC;
			while (rig_next(&g, until, &x))
				end[used][x.ev.token] = x.at;
		}
		rig_close(&g);
	}
	assert_memory_equal(end[0], end[1], sizeof(end[0]));
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
				rig_answer(&g, x.host, x.ev.token, 100);
		const unsigned long n = test_fail_alloc(0);
		assert_true(round < 2 || n == 0);
	}
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_loss_a_connect_takes_one_round_trip),
	    cmocka_unit_test(slow_links_of_either_way_add_their_delay),
	    cmocka_unit_test(
		servers_with_a_timer_answer_before_the_client_asks),
	    cmocka_unit_test(nobody_is_waited_for_and_port_0_refuses),
	    cmocka_unit_test(
		the_caps_tell_the_waits_and_odd_retries_are_refused),
	    cmocka_unit_test(holes_swallow_exactly_what_their_rule_takes),
	    cmocka_unit_test(a_probe_meets_the_truth_of_its_time),
	    cmocka_unit_test(a_hole_that_ends_between_two_syns_costs_one_wait),
	    cmocka_unit_test(connects_go_round_cables_that_are_down),
	    cmocka_unit_test(payloads_are_echoed_by_the_peers_agent),
	    cmocka_unit_test(what_is_not_echoed_ends_without_it),
	    cmocka_unit_test(a_payload_that_is_under_way_is_waited_for_as_long),
	    cmocka_unit_test(a_vip_is_served_by_the_hosts_of_its_tor),
	    cmocka_unit_test(hosts_have_streams_of_their_own),
	    cmocka_unit_test(an_epoch_is_the_same_in_a_used_fabric),
	    cmocka_unit_test(failed_allocations_are_told),
	    cmocka_unit_test(in_the_long_run_nothing_is_allocated),
	};
	return cmocka_run_group_tests_name("models/sim/connect", tests, NULL,
	    NULL);
}
