/* tests/models/sim/connect_law_test.c -- laws of connects through a fabric.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Laws are held by chi-square tests at 1e-6 each, counts to 5.5 standard
 * deviations (4e-8); about 60 of them.
 */
#include "models/sim/rtt_profile.h"
#include "models/sim/tcp_connect.h"
#include "tests/rigs/law.h"
#include "tests/rigs/rig.h"

#define LEVEL 1e-6
#define TOR   1 /* a host of its ToR, its pod and the other, for host 0 */
#define POD   3
#define FAR   20

static const struct fabric_sim_tcp_ladder *const ladders[] =
    {&fabric_sim_tcp_windows, &fabric_sim_tcp_linux,
	&fabric_sim_tcp_linux_linear};

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
		struct fabric_sim_rtt law;
		struct rig_event x;
		struct rig g;
		rig_open(&g);
		g.params.connect.profile = profile;
		g.params.connect.load = profile ? load : -1;
		g.params.connect.class_load = 0.45; /* in sum, capped */
		rig_draw_and_begin(&g);
		assert_ok(fabric_sim_rtt_init(&law,
		    &fabric_sim_rtt_profiles[profile], 2 + 2 * (run % 3), 0,
		    fmin(load + class * 0.45, FABRIC_SIM_RTT_MAX_LOAD),
		    test_err()));
		for (unsigned k = 0; k < TAILS; k++)
			at_us[k] = fabric_sim_rtt_exceeded(&law, tails[k]);
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

/* Class of one connect: SYNs lost, or n_retries + 1 if it timed out. */
static unsigned class_of(const struct fabric_sim_tcp_ladder *l, int timed_out,
    sim_ns rtt_ns)
{
	return timed_out ? l->n_retries + 1u
			 : fabric_sim_tcp_class(l, rtt_ns, SIM_NEVER);
}

/* The sender's cable loses, one way and the other. */
static void classes_are_those_of_one_connect(void **state)
{
	enum { N = 20000, CELLS = 16 };
	const double there = 0.2, back = 0.3;
	const double q = 1 - (1 - there) * (1 - back);
	(void)state;
	for (uint32_t run = 0; run < 6; run++) {
		const struct fabric_sim_tcp_ladder *l = ladders[run % 3];
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
		const struct fabric_sim_tcp c = {.there = {scene_hazard(there),
						     100 * SIM_US, 0},
		    .back = {scene_hazard(back), 100 * SIM_US, 0},
		    .client = l,
		    .server = run / 3 ? &fabric_sim_tcp_linux_synack : NULL,
		    .n_retries = l->n_retries,
		    .listening = 1};
		test_rng(&r, run);
		for (uint32_t i = 0; i < N; i++) {
			const struct topo_tuple t =
			    rig_tuple(0, FAR, (uint16_t)i);
			rig_connect(&g, &t, 0, i);
			const struct fabric_sim_tcp_result one =
			    fabric_sim_tcp(&c, &r);
			model[class_of(l,
			    one.outcome == FABRIC_SIM_TCP_TIMED_OUT,
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

/* One way loses, of 3 segments: sent again after 0.3, 0.9, 2.1 s and no more.
 */
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
			const int asked = rig_until_asked(&g, &t, 3 * 1460, &x);
			if (asked) {
				rig_answer(&g, FAR, x.ev.token, 2 * 1460 + 1);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(round_trips_have_the_profiles_law),
	    cmocka_unit_test(classes_are_those_of_one_connect),
	    cmocka_unit_test(the_papers_estimate_is_the_loss_of_a_round_trip),
	    cmocka_unit_test(lost_payloads_are_sent_again_three_times),
	};
	return cmocka_run_group_tests_name("models/sim/connect laws", tests,
	    NULL, NULL);
}
