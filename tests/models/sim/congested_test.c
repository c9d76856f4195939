/* tests/models/sim/congested_test.c -- full ports on the simulated fabric.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Laws are told apart by chi-square at p = 1e-6, 5 times in all.
 */
#include "tests/rigs/congested.h"
#include "tests/rigs/law.h"
#include "tests/rigs/rig.h"

static const double P_MIN = 1e-6;

static struct scene_congestion_params hot(double racks, double burst_ms,
    double busy, double ports, double uplinks)
{
	return (struct scene_congestion_params){racks, burst_ms, busy, ports,
	    uplinks, scenes_uniform(0.1, 0.9), scenes_fixed(0)};
}

static topo_link to_host(topo_host h)
{
	return topo_link_of(h, TOPO_DOWN);
}

static void hold(double p, const char *what, uint32_t i)
{
	if (!(p > P_MIN))
		fail_msg("seed %llu, %s %u: p = %g",
		    (unsigned long long)test_seed(), what, i, p);
}

/* --- connects ------------------------------------------------------------- */

enum { A = 0, B = 20, C = 1 };

static void rig_draw_run(struct rig *g, uint32_t run)
{
	g->scene = scenes_draw(&g->s, run);
	rig_begin(g);
}

/* How many SYNs were lost: 0, 1 or more. */
static unsigned syns_lost(const struct rig_event *x)
{
	return x->ev.outcome == AGENT_TIMEOUT || x->ev.rtt_ns >= 9 * SIM_SEC
	    ? 2
	    : x->ev.rtt_ns >= 3 * SIM_SEC;
}

static void rig_hot(struct rig *g, double burst_ms)
{
	rig_open(g);
	g->s.params.traffic.conns = scenes_fixed(1);
	g->s.params.congestion = hot(0.7, burst_ms, 0.6, 0.5, 0);
}

/* SYNs to one host at two times, of two hosts of a rack. The SYN meets the port
 * of B, and its answer that of A or C. */
static void connects_of_a_burst_fail_together(void **state)
{
	enum { EPOCHS = 20000 };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const double d_ms = i ? 300 : 0;
		const sim_ns d = (sim_ns)(d_ms * 1e6);
		const struct congested_pair at_b = {to_host(B), to_host(B), 0,
						d, 1, 1},
					    at_a = {to_host(A), to_host(C), 0,
						d, 1, 1};
		const double q[2] = {0.5, 0.5};
		uint64_t got[4] = {0};
		double b[4], a[4];
		struct rig g;
		rig_hot(&g, 500);
		for (uint32_t run = 0; run < EPOCHS; run++) {
			const struct topo_tuple one = rig_tuple(A, B, 1),
						two = rig_tuple(C, B, 2);
			unsigned lost[2] = {0};
			struct rig_event x;
			rig_draw_run(&g, run);
			rig_connect(&g, &one, 0, 0);
			while (d > 0 && rig_next(&g, d, &x))
				lost[x.ev.token] = syns_lost(&x) > 0;
			rig_connect(&g, &two, 0, 1);
			while (rig_next(&g, SIM_NEVER, &x))
				lost[x.ev.token] = syns_lost(&x) > 0;
			got[2 * lost[0] + lost[1]]++;
		}
		congested_law(&g.s.params.congestion, q, &at_b, 1, b);
		congested_law(&g.s.params.congestion, q, &at_a, 1, a);
		const double both = b[0] * a[0],
			     one = (b[0] + b[1]) * (a[0] + a[1]),
			     two = (b[0] + b[2]) * (a[0] + a[2]);
		const double want[4] = {both, one - both, two - both,
		    1 - one - two + both};
		hold(law_chi2(got, want, 4), "connects", i);
		rig_close(&g);
	}
}

/* A SYN that is sent again meets the ports of that time: those of another burst,
 * or of the same one if that lasts for seconds. Its losses are counted. */
static void a_syn_sent_again_meets_the_ports_of_then(void **state)
{
	enum { EPOCHS = 20000 };
	static const double burst_ms[] = {1, 1e4};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct congested_pair x = {to_host(A), to_host(A), 0,
		    3 * SIM_SEC, 1, 1};
		const double q[2] = {0.5, 0.5};
		uint64_t got[3] = {0}, n_hit = 0;
		double w[4];
		struct rig g;
		rig_hot(&g, burst_ms[i]);
		for (uint32_t run = 0; run < EPOCHS; run++) {
			const struct topo_tuple t = rig_tuple(A, B, 1);
			struct rig_event e;
			rig_draw_run(&g, run);
			rig_connect(&g, &t, 0, 0);
			assert_true(rig_next(&g, SIM_NEVER, &e));
			got[syns_lost(&e)]++;
			const struct fabric_sim_losses n =
			    fabric_sim_losses(g.sim);
			assert_int_equal(n.n_buffer_flows, syns_lost(&e) > 0);
			assert_true(n.n_buffer_drops >= syns_lost(&e));
			assert_int_equal(n.n_noise_flows, 0);
			n_hit += n.n_buffer_flows;
		}
		congested_law(&g.s.params.congestion, q, &x, 1, w);
		const double ok = (w[0] + w[1]) * (w[0] + w[1]);
		const double again = 1 - 2 * ok + w[0] * w[0];
		const double want[3] = {ok, 1 - ok - again, again};
		hold(law_chi2(got, want, 3), "SYNs", i);
		assert_int_equal(n_hit, EPOCHS - got[0]);
		rig_close(&g);
	}
}

/* Of an echo that took S seconds, 99 if it never came. */
static unsigned echo_cell(double s)
{
	return s > 5 ? 4 : s < 0.2 ? 0 : s < 0.5 ? 1 : s < 0.8 ? 2 : 3;
}

/* A payload that a full port drops is sent again 0.3, 0.9, 2.1 s after, each time
 * to ports of then, of which each is full with chance 1/2. */
static void a_payload_sent_again_meets_the_ports_of_then(void **state)
{
	enum { N = 20000, CELLS = 5 };
	uint64_t got[CELLS] = {0};
	static const double late[] = {0, 0.3, 0.9, 2.1};
	double want[CELLS] = {0};
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_hot(&g, 0.01);
	g.s.params.congestion = hot(1, 0.01, 1, 0.5, 0);
	g.s.params.congestion.loss = scenes_fixed(1);
	rig_draw_run(&g, 3);
	for (uint32_t i = 0; i <= N; i++) {
		const struct topo_tuple t = rig_tuple(A, B, (uint16_t)i);
		if (i < N)
			rig_connect(&g, &t, 100, i);
		const sim_ns until =
		    i < N ? rig_now(&g) + 20 * SIM_MS : SIM_NEVER;
		while (rig_next(&g, until, &x))
			if (x.ev.kind == AGENT_PING_REQUEST)
				rig_answer(&g, x.host, x.ev.token, 100);
			else if (x.ev.outcome == AGENT_CONNECTED)
				got[echo_cell(x.ev.echo_ns == 0
					? 99
					: (double)x.ev.echo_ns / 1e9)]++;
	}
	/* Of the payload, and of its echo if it arrives. */
	for (unsigned a = 0; a < 4; a++)
		for (unsigned b = 0; b < 4; b++)
			want[echo_cell(late[a] + late[b])] +=
			    pow(0.5, a + b + 2);
	want[4] = 1 - pow(1 - pow(0.5, 4), 2);
	hold(law_chi2(got, want, CELLS), "payloads", 0);
	rig_close(&g);
}

/* A port that is full for good holds each connect up by D, and changes no other
 * number. */
static void a_full_port_holds_connects_up(void **state)
{
	sim_ns rtt[2][50];
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct rig_event x;
		struct rig g;
		rig_open(&g);
		g.s.params.congestion = hot(1, 1e6, 1, 1, 0);
		g.s.params.congestion.loss = scenes_fixed(1e-9);
		g.s.params.congestion.wait_us = scenes_fixed(k * 400.0);
		rig_draw_run(&g, 0);
		for (unsigned i = 0; i < 50; i++) {
			const struct topo_tuple t =
			    rig_tuple(A, B, (uint16_t)i);
			rig_connect(&g, &t, 0, i);
		}
		while (rig_next(&g, SIM_NEVER, &x))
			rtt[k][x.ev.token] = x.ev.rtt_ns;
		rig_close(&g);
	}
	for (unsigned i = 0; i < 50; i++)
		assert_int_equal(rtt[1][i], rtt[0][i] + 2 * 400 * SIM_US);
}

/* --- flows that agents trace ---------------------------------------------- */

/* What a full port dropped is noticed all at once, `rto` after the flow began;
 * the other losses at the times that they have without it. */
static void losses_of_a_full_port_are_noticed_at_once(void **state)
{
	enum { N = 7, AT_ONCE = 3 };
	static const sim_ns start = 5 * SIM_SEC;
	const topo_link path[2] = {topo_link_of(0, TOPO_UP), to_host(1)};
	const struct obs_flow flow = {.start_ns = start,
	    .src_host = 0,
	    .dst_host = 1,
	    .src_port = 7,
	    .dst_port = 8,
	    .n_pkts = 50,
	    .n_retx = N};
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		const uint32_t at_once[] = {AT_ONCE};
		const sim_ns rto = 200 * SIM_MS;
		struct obs w = {0};
		struct rig_event x;
		struct rig g;
		unsigned n = 0, n_first = 0;
		rig_open(&g);
		rig_draw(&g);
		assert_ok(obs_add_flow(&w, &flow, path, 2, test_err()));
		assert_ok(
		    fabric_sim_open(&g.sim, &g.s.topo, &g.params, test_err()));
		g.f = fabric_sim_fabric(g.sim);
		fabric_sim_at_once(g.sim, k ? at_once : NULL);
		assert_ok(fabric_sim_begin(g.sim, g.scene, &w, test_err()));
		sim_ns last = start + rto;
		while (rig_next(&g, SIM_NEVER, &x)) {
			assert_int_equal(x.ev.kind, AGENT_RETX);
			assert_true(x.at >= last && x.at <= last + SIM_SEC);
			n++;
			n_first += x.at == start + rto;
		}
		assert_int_equal(n, N);
		assert_int_equal(n_first, k * AT_ONCE);
		obs_free(&w);
		rig_close(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(connects_of_a_burst_fail_together),
	    cmocka_unit_test(a_syn_sent_again_meets_the_ports_of_then),
	    cmocka_unit_test(a_payload_sent_again_meets_the_ports_of_then),
	    cmocka_unit_test(a_full_port_holds_connects_up),
	    cmocka_unit_test(losses_of_a_full_port_are_noticed_at_once),
	};
	return cmocka_run_group_tests_name("models/sim, congested", tests, NULL,
	    NULL);
}
