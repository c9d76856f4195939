/* tests/models/sim/delay_test.c -- what slow links and distance add.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Round trips and delays have streams of their own, so two runs that differ in
 * a slow link differ in its delays alone, connect by connect and probe by
 * probe. 74 means and counts are held to 5.5 standard errors (4e-8), 24 laws by
 * chi-square at 1e-6: one fires in 37,000 random seeds. */
#include <gsl/gsl_cdf.h>

#include "models/sim/rtt_profile.h"
#include "tests/rigs/law.h"
#include "tests/rigs/rig.h"
#include "topo/region.h"

#define LEVEL 1e-6
#define Z     5.5
#define FAR   20 /* in the other pod, for host 0 */

enum { N = 20000, CELLS = 10 };

/* --- laws ----------------------------------------------------------------- */

static const struct truth_fault slow[] = {
    {.delay_us = 700, .law = TRUTH_EXPONENTIAL},
    {.delay_us = 40000, .law = TRUTH_EXPONENTIAL},
    {.delay_us = 900, .law = TRUTH_LOGNORMAL, .shape = 0.7},
    {.delay_us = 5000, .law = TRUTH_LOGNORMAL, .shape = 0.2},
    {.delay_us = 300, .law = TRUTH_LOAD, .shape = 0.3},
    {.delay_us = 2000, .law = TRUTH_LOAD, .shape = 0.9},
};
enum { N_SLOW = sizeof(slow) / sizeof(slow[0]) };

/* P(delay <= US). Of M/M/1: nobody before a packet with probability 1 - load,
 * else what is left is exponential. */
static double cdf(const struct truth_fault *f, double us)
{
	const double m = f->delay_us, s = f->shape;
	switch (f->law) {
	case TRUTH_EXPONENTIAL:
		return 1 - exp(-us / m);
	case TRUTH_LOGNORMAL:
		return us > 0
		    ? gsl_cdf_gaussian_P(log(us) - (log(m) - s * s / 2), s)
		    : 0;
	case TRUTH_LOAD:
		return 1 - s * exp(-us * s / m);
	default:
		return us >= m;
	}
}

/* Connects of host 0, and some of host 4 between them; how long each took. */
static void connect_all(struct rig *g, int others, sim_ns rtt[N])
{
	struct rig_event x;
	for (uint32_t i = 0; i < N; i++) {
		const struct topo_tuple t = rig_tuple(0, FAR, (uint16_t)i);
		const struct topo_tuple o = rig_tuple(4, FAR, (uint16_t)i);
		rig_connect(g, &t, 0, i);
		if (others && i % 3 == 0)
			rig_connect(g, &o, 0, N);
	}
	while (rig_next(g, SIM_NEVER, &x)) {
		assert_int_equal(x.ev.outcome, AGENT_CONNECTED);
		if (x.ev.token < N)
			rtt[x.ev.token] = x.ev.rtt_ns;
	}
}

/* Measure the connects in a network with fault F on link AT; F may be NULL. */
static void measure(const struct truth_fault *f, topo_link at, int others,
    sim_ns rtt[N])
{
	struct rig g;
	rig_open(&g);
	rig_draw(&g);
	for (unsigned k = 0; f && k < 1 + (unsigned)others; k++) {
		struct truth_fault fault = *f;
		fault.link = k == 0 ? at : topo_link_of(4, TOPO_UP);
		fault.to_ns = SIM_NEVER;
		rig_add_fault(&g, &fault);
	}
	rig_begin(&g);
	connect_all(&g, others, rtt);
	rig_close(&g);
}

/* Cells between CELLS - 1 multiples of the mean; what is 0 to the ns is a cell
 * of its own, as one law is at times. */
static double check_cells(const struct truth_fault *f, const double us[N])
{
	uint64_t got[CELLS + 1] = {0};
	double want[CELLS + 1], below = cdf(f, 0);
	want[0] = below;
	for (unsigned k = 1; k <= CELLS; k++) {
		const double next = k == CELLS
		    ? 1
		    : cdf(f, f->delay_us * k * k * 4 / CELLS / CELLS);
		want[k] = next - below;
		below = next;
	}
	for (unsigned i = 0; i < N; i++) {
		unsigned k = us[i] < 5e-4
		    ? 0
		    : 1 + (unsigned)(sqrt(us[i] / f->delay_us / 4) * CELLS);
		got[k < CELLS ? k : CELLS]++;
	}
	/* An exponential is rounded to 0 ns once in 10^6 draws. */
	if (want[0] == 0) {
		got[1] += got[0];
		got[0] = 0;
	}
	return law_chi2(got, want, CELLS + 1);
}

/* What LATE times have more than PLAIN ones is N draws of F's law. */
static void check_law(const struct truth_fault *f, const char *what,
    unsigned run, const sim_ns plain[N], const sim_ns late[N])
{
	static double us[N];
	struct law_mean m = {0};
	uint32_t below = 0;
	for (unsigned i = 0; i < N; i++) {
		assert_true(late[i] >= plain[i]);
		us[i] = (double)(late[i] - plain[i]) / 1e3;
		law_add(&m, us[i]);
		below += us[i] <= 2 * f->delay_us;
	}
	const double p = cdf(f, 2 * f->delay_us);
	const double z = law_z(&m, f->delay_us),
		     z_below = (below - N * p) / sqrt(N * p * (1 - p)),
		     cells = check_cells(f, us);
	if (fabs(z) > Z || fabs(z_below) > Z || cells < LEVEL)
		fail_msg("seed %llu, %s, run %u: mean off by %g standard "
			 "errors, twice the mean by %g; cells p = %g",
		    (unsigned long long)test_seed(), what, run, z, z_below,
		    cells);
}

/* That holds of SYNs on their way there, and of SYN-ACKs on their way back. */
static void each_packet_is_delayed_by_a_draw_of_the_law(void **state)
{
	static sim_ns plain[N], late[N];
	(void)state;
	measure(NULL, 0, 0, plain);
	for (unsigned run = 0; run < 2 * N_SLOW; run++) {
		const struct truth_fault *f = &slow[run % N_SLOW];
		const enum topo_dir dir = run < N_SLOW ? TOPO_UP : TOPO_DOWN;
		measure(f, topo_link_of(0, dir), 0, late);
		check_law(f, "connects", run, plain, late);
	}
}

static void a_host_draws_its_delays_from_its_own_stream(void **state)
{
	static sim_ns alone[N], among[N];
	(void)state;
	measure(&slow[0], topo_link_of(0, TOPO_UP), 0, alone);
	measure(&slow[0], topo_link_of(0, TOPO_UP), 1, among);
	assert_memory_equal(alone, among, sizeof(alone));
}

/* Two slow links on a way, one of them constant: the sum, and one draw of the
 * other. */
static void delays_of_links_add_up(void **state)
{
	static sim_ns one[N], both[N];
	(void)state;
	measure(&slow[2], topo_link_of(0, TOPO_UP), 0, one);
	struct truth_fault f = slow[2];
	struct rig g;
	rig_open(&g);
	rig_draw(&g);
	f.link = topo_link_of(0, TOPO_UP);
	f.to_ns = SIM_NEVER;
	rig_add_fault(&g, &f);
	f = (struct truth_fault){.link = topo_link_of(FAR, TOPO_UP),
	    .delay_us = 250,
	    .to_ns = SIM_NEVER};
	rig_add_fault(&g, &f);
	rig_begin(&g);
	connect_all(&g, 0, both);
	for (unsigned i = 0; i < N; i++)
		assert_true(both[i] == one[i] + 250 * SIM_US);
	rig_close(&g);
}

/* A delay of centuries must not overflow the clock either. */
static void who_is_delayed_beyond_all_timers_times_out(void **state)
{
	const struct truth_fault f = {.delay_us = 1e14,
	    .law = TRUTH_LOGNORMAL,
	    .shape = 5,
	    .to_ns = SIM_NEVER};
	const struct topo_tuple t = rig_tuple(0, FAR, 1);
	struct rig_event x;
	struct rig g;
	(void)state;
	rig_open(&g);
	rig_draw(&g);
	rig_add_fault(&g, &f);
	rig_begin(&g);
	for (unsigned i = 0; i < 2000; i++)
		rig_connect(&g, &t, 0, i);
	uint32_t n = 0, late = 0;
	while (rig_next(&g, SIM_NEVER, &x)) {
		n++;
		late += x.ev.outcome == AGENT_TIMEOUT;
		assert_in_range(x.at, 0, 21 * SIM_SEC);
	}
	assert_int_equal(n, 2000);
	assert_true(late > 1000);
	rig_close(&g);
}

/* --- probes --------------------------------------------------------------- */

/* When the answer to a probe of host SRC with TTL comes, that is sent now. */
static sim_ns reply_ns(struct rig *g, const struct topo_tuple *t, unsigned ttl)
{
	const struct agent_action a = {.kind = AGENT_PROBE,
	    .ttl = (uint8_t)ttl,
	    .tuple = *t};
	const sim_ns sent = rig_now(g);
	struct rig_event x;
	rig_act(g, t->src_ip - topo_addr_of_host(0), &a);
	assert_true(rig_next(g, SIM_NEVER, &x));
	assert_int_equal(x.ev.kind, AGENT_ICMP);
	return x.at - sent;
}

static unsigned path_of(const struct rig *g, const struct topo_tuple *t,
    topo_link path[])
{
	return topo_path(&g->s.topo, g->scene->ecmp_seed,
	    t->src_ip - topo_addr_of_host(0), t->dst_ip - topo_addr_of_host(0),
	    topo_tuple_digest(t), path);
}

/* Replies of hops 1 to 5, EACH times, with F on hop HOP's link, or without: 1
 * there, 2 back, 3 both. */
static void trace(const struct truth_fault *f, unsigned hop, unsigned ways,
    unsigned each, sim_ns reply[])
{
	const struct topo_tuple t = rig_tuple(0, FAR, 9);
	topo_link path[TOPO_MAX_HOPS];
	struct rig g;
	rig_open(&g);
	rig_draw(&g);
	assert_int_equal(path_of(&g, &t, path), 6);
	for (unsigned k = 0; f && k < 2; k++) {
		struct truth_fault fault = *f;
		fault.link =
		    k ? topo_link_reverse(path[hop - 1]) : path[hop - 1];
		fault.to_ns = SIM_NEVER;
		if (ways & 1u << k)
			rig_add_fault(&g, &fault);
	}
	rig_begin(&g);
	for (unsigned i = 0; i < each; i++)
		for (unsigned ttl = 1; ttl <= 5; ttl++)
			reply[i * 5 + ttl - 1] = reply_ns(&g, &t, ttl);
	rig_close(&g);
}

/* The times differ by the delay to the ns, since all else is the same. */
static void a_slow_link_delays_answers_from_its_hop_on(void **state)
{
	const struct truth_fault f = {.delay_us = 250};
	sim_ns plain[5], late[5];
	(void)state;
	trace(NULL, 1, 0, 1, plain);
	for (unsigned hop = 1; hop <= 5; hop++)
		for (unsigned ways = 0; ways < 4; ways++) {
			const sim_ns more =
			    ((ways & 1) + (ways >> 1)) * 250 * SIM_US;
			trace(&f, hop, ways, 1, late);
			for (unsigned i = 0; i < 5; i++)
				assert_true(late[i] ==
				    plain[i] + (i + 1 < hop ? 0 : more));
		}
}

/* The answers of hop 3, of which N come: its link is slow there, or back. */
static void each_probe_is_delayed_by_a_draw_of_the_law(void **state)
{
	static sim_ns all[2][5 * N], plain[N], late[N];
	(void)state;
	trace(NULL, 1, 0, N, all[0]);
	for (unsigned run = 0; run < 2 * N_SLOW; run++) {
		const struct truth_fault *f = &slow[run % N_SLOW];
		trace(f, 3, run < N_SLOW ? 1 : 2, N, all[1]);
		for (unsigned i = 0; i < N; i++) {
			plain[i] = all[0][5 * i + 2];
			late[i] = all[1][5 * i + 2];
		}
		check_law(f, "probes", run, plain, late);
	}
}

/* --- distance ------------------------------------------------------------- */

/* By the sites: glass carries light at c / 1.468. */
static double way_us(const struct topo_region *r, uint32_t a, uint32_t b,
    double detour)
{
	return detour * topo_site_km(r->site[a], r->site[b]) * 1.468 /
	    299792.458 * 1e6;
}

/* Between data centres no connect takes less than light does both ways; what
 * is beyond has the law of a round trip over nine links. A stall of that is longer
 * than a connect may take once in 2.6 million connects: four of 100,000 are in 1e-7 of
 * seeds. */
static void between_data_centres_light_takes_its_time_twice(void **state)
{
	static const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	const struct topo_region_params p = {.n_dcs = 5,
	    .n_borders = 2,
	    .detour = 1.4};
	enum { EACH = 4000, CALLS = 5 };
	struct rig g;
	unsigned n_late = 0;
	(void)state;
	rig_open(&g);
	topo_close(&g.s.topo);
	assert_ok(topo_open_region(&g.s.topo, &shape, &p, test_err()));
	const uint32_t n = g.s.topo.n_hosts / CALLS;
	rig_draw_and_begin(&g);
	for (uint32_t k = 0; k < CALLS * CALLS; k++) {
		const uint32_t a = k / CALLS, b = k % CALLS;
		const double far_us =
		    a == b ? 0 : 2 * way_us(g.s.topo.region, a, b, p.detour);
		const topo_host src = a * n, dst = b * n + n - 1;
		struct fabric_sim_rtt law;
		struct rig_event x;
		uint32_t over = 0;
		assert_ok(fabric_sim_rtt_init(&law, &fabric_sim_rtt_profiles[0],
		    a == b ? 6 : 9, 0, fabric_sim_rtt_profiles[0].load,
		    test_err()));
		const double median_us = fabric_sim_rtt_exceeded(&law, 0.5);
		for (uint32_t i = 0; i < EACH; i++) {
			const struct topo_tuple t =
			    rig_tuple(src, dst, (uint16_t)i);
			rig_connect(&g, &t, 0, i);
		}
		for (uint32_t i = 0; i < EACH; i++) {
			assert_true(rig_next(&g, SIM_NEVER, &x));
			if (x.ev.outcome == AGENT_TIMEOUT) {
				n_late++;
				over++;
				continue;
			}
			assert_int_equal(x.ev.outcome, AGENT_CONNECTED);
			const double us = (double)x.ev.rtt_ns / 1e3 - far_us;
			if (us < law.fixed_us - 2e-3) /* 2 ns: rounding */
				fail_msg("dc%u-dc%u: %g us beyond %g", a, b, us,
				    far_us);
			over += us > median_us;
		}
		assert_near(over, EACH / 2., Z * sqrt(EACH / 4.));
	}
	assert_in_range(n_late, 0, 3);
	rig_close(&g);
}

/* Nothing but distance takes time: hops on this side answer at once, those on
 * the other after light has been there and back. */
static void answers_from_other_data_centres_come_from_far(void **state)
{
	static const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	const struct topo_region_params p = {.n_dcs = 3,
	    .n_borders = 2,
	    .detour = 1.4};
	struct rig g;
	(void)state;
	rig_open(&g);
	topo_close(&g.s.topo);
	assert_ok(topo_open_region(&g.s.topo, &shape, &p, test_err()));
	g.params.hop_us = g.params.queue_us = 0;
	g.params.icmp.latency_us = scenes_fixed(0);
	rig_draw_and_begin(&g);
	const uint32_t n = g.s.topo.n_hosts / p.n_dcs;
	for (uint32_t b = 0; b < p.n_dcs; b++) {
		const struct topo_tuple t = rig_tuple(0, b * n + n - 1, 9);
		const double far_ns =
		    b == 0 ? 0 : 2e3 * way_us(g.s.topo.region, 0, b, p.detour);
		topo_link path[TOPO_MAX_HOPS];
		const unsigned n_hops = path_of(&g, &t, path);
		assert_int_equal(n_hops, b == 0 ? 6 : 9);
		for (unsigned ttl = 1; ttl < n_hops; ttl++)
			assert_near((double)reply_ns(&g, &t, ttl),
			    ttl < 5 ? 0 : far_ns, 2);
	}
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_packet_is_delayed_by_a_draw_of_the_law),
	    cmocka_unit_test(a_host_draws_its_delays_from_its_own_stream),
	    cmocka_unit_test(delays_of_links_add_up),
	    cmocka_unit_test(who_is_delayed_beyond_all_timers_times_out),
	    cmocka_unit_test(between_data_centres_light_takes_its_time_twice),
	    cmocka_unit_test(a_slow_link_delays_answers_from_its_hop_on),
	    cmocka_unit_test(each_probe_is_delayed_by_a_draw_of_the_law),
	    cmocka_unit_test(answers_from_other_data_centres_come_from_far),
	};
	return cmocka_run_group_tests_name("models/sim delays", tests, NULL,
	    NULL);
}
