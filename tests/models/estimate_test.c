/* tests/models/estimate_test.c -- Pingmesh's drop rate against injected truth.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every link loses a share P, so a round trip over h links each way is lost
 * with probability q = 1 - (1 - P)^2h. Connects go through the event fabric;
 * what Pingmesh makes of their times is an estimate of
 *
 *	q (1 - q^m) / (1 - q^(n + 1))      n retries, of which m have a rung
 *
 * (Windows: q (1 - q^2) / (1 - q^3)). Its exact 95 % interval must hold that in
 * at least 95 % of all seeds. With 200 of them it is in fewer than a bound with
 * probability 1e-6; nine counts, so one fires in 100,000 random seeds.
 */
#include <gsl/gsl_cdf.h>

#include "algos/pingmesh/drop_rate.h"
#include "models/sim/tcp_connect.h"
#include "tests/rigs/rig.h"

#define P     0.01
#define CONF  0.95
#define LEVEL 1e-6

enum { SEEDS = 200, EACH = 1000, N_GROUPS = 3 };

static const struct group {
	enum algo_drop_group group;
	topo_host dst; /* for host 0 */
	unsigned n_hops;
} groups[N_GROUPS] = {
    {ALGO_DROP_INTRA_TOR, 1, 2},
    {ALGO_DROP_INTRA_POD, 3, 4},
    {ALGO_DROP_INTER_POD, 20, 6},
};

static const struct ladder {
	enum fabric_sim_timers timers;
	const struct fabric_sim_tcp_ladder *tcp;
	sim_ns tolerance_ns;
} ladders[] = {
    {FABRIC_SIM_WINDOWS, &fabric_sim_tcp_windows, SIM_SEC},
    {FABRIC_SIM_LINUX, &fabric_sim_tcp_linux, 400 * SIM_MS},
    {FABRIC_SIM_LINUX_LINEAR, &fabric_sim_tcp_linux_linear, 400 * SIM_MS},
};

static double round_trip_loss(unsigned n_hops)
{
	return 1 - pow(1 - P, 2 * n_hops);
}

static double estimand(const struct fabric_sim_tcp_ladder *l, double q)
{
	const unsigned n = l->n_retries;
	const unsigned m = n < FABRIC_MAX_WAITS ? n : FABRIC_MAX_WAITS;
	return q * (1 - pow(q, m)) / (1 - pow(q, n + 1));
}

/* The most successes of N that fewer than come with probability LEVEL. */
static unsigned lower_bound(unsigned n, double p)
{
	unsigned k = 0;
	while (gsl_cdf_binomial_P(k, p, n) <= LEVEL)
		k++;
	return k;
}

static void connect_all(struct rig *g, struct obs_probes *table)
{
	struct rig_event x;
	for (uint32_t i = 0; i < EACH * N_GROUPS; i++) {
		const struct topo_tuple t =
		    rig_tuple(0, groups[i % N_GROUPS].dst, (uint16_t)i);
		rig_connect(g, &t, 0, i % N_GROUPS);
	}
	obs_probes_clear(table);
	while (rig_next(g, SIM_NEVER, &x)) {
		const struct obs_probe p = {
		    .rtt_ns = x.ev.rtt_ns,
		    .dst_host = groups[x.ev.token].dst,
		    .outcome = x.ev.outcome == AGENT_CONNECTED ? OBS_CONNECTED
							       : OBS_TIMED_OUT,
		    .level = x.ev.token ? OBS_LEVEL_DC : OBS_LEVEL_TOR,
		};
		assert_ok(obs_probes_add(table, &p, test_err()));
	}
	assert_int_equal(table->n, EACH * N_GROUPS);
}

/* Seeds whose interval holds the estimand, and for the longest paths those that
 * hold half of q, the loss of one way, which is another number. Profile dc2:
 * no round trip of it is as long as half a timer but once in 10^6. */
static void count(const struct ladder *l, unsigned held[N_GROUPS],
    unsigned *one_way)
{
	struct obs_probes table = {0};
	struct algo_drop_ladder rungs;
	struct rig g;
	rig_open(&g);
	g.s.params.noise.rate = scenes_fixed(P);
	g.params.connect.timers = l->timers;
	g.params.connect.profile = 1;
	for (uint32_t seed = 0; seed < SEEDS; seed++) {
		struct algo_drop_rate rate[ALGO_DROP_N_GROUPS];
		unsigned n_waits = 0;
		g.scene = scenes_draw(&g.s, seed);
		rig_begin(&g);
		const sim_ns *wait = g.f->caps.syn_rto_ns;
		while (n_waits < FABRIC_MAX_WAITS && wait[n_waits] > 0)
			n_waits++;
		assert_ok(algo_drop_ladder_init(&rungs, wait, n_waits,
		    l->tolerance_ns, test_err()));
		connect_all(&g, &table);
		const struct topo_dc dc = topo_dc_at(&g.s.topo, 0);
		assert_ok(algo_drop_rate(&table, &dc, &rungs, CONF, rate,
		    test_err()));
		for (int i = 0; i < N_GROUPS; i++) {
			const struct algo_drop_rate *r = &rate[groups[i].group];
			const double q = round_trip_loss(groups[i].n_hops);
			const double want = estimand(l->tcp, q);
			assert_true(r->lo <= r->rate && r->rate <= r->hi);
			held[i] += r->lo <= want && want <= r->hi;
			if (groups[i].group == ALGO_DROP_INTER_POD)
				*one_way += r->lo <= q / 2 && q / 2 <= r->hi;
		}
	}
	obs_probes_free(&table);
	rig_close(&g);
}

static void intervals_hold_the_truth_as_often_as_they_say(void **state)
{
	const unsigned least = lower_bound(SEEDS, CONF);
	(void)state;
	assert_in_range(least, 160, 185);
	for (unsigned k = 0; k < 3; k++) {
		const struct ladder *l = &ladders[k];
		unsigned held[N_GROUPS] = {0}, one_way = 0;
		count(l, held, &one_way);
		for (int i = 0; i < N_GROUPS; i++) {
			const double q = round_trip_loss(groups[i].n_hops);
			print_message("%-12s %-9s q %.4f: %u of %d intervals "
				      "hold %.5f (at least %u)\n",
			    l->tcp->name, algo_drop_groups[groups[i].group], q,
			    held[i], SEEDS, estimand(l->tcp, q), least);
			if (held[i] < least)
				fail_msg("seed %llu: too few",
				    (unsigned long long)test_seed());
		}
		assert_in_range(one_way, 0, SEEDS / 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(intervals_hold_the_truth_as_often_as_they_say),
	};
	return cmocka_run_group_tests_name("models, drop rate estimated", tests,
	    NULL, NULL);
}
