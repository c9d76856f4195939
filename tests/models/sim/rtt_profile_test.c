/* tests/models/sim/rtt_profile_test.c -- round trips of a healthy data center.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The law has a closed form, so that quantiles are compared with the paper's
 * without chance; draws are then held against the law. At 200,000 draws 200
 * lie beyond P99.9, and where the tail is as heavy as here the quantile itself
 * would be off by 10 % in almost every other run: so counts beyond exact
 * quantiles are compared instead, by exact intervals at 1e-6, 10 of them, and
 * tables by chi-square tests at 1e-6, 8 of them.
 */
#include "models/sim/rtt_profile.h"

#include "models/scene/loss.h"
#include "models/sim/tcp_connect.h"
#include "sim/stat.h"
#include "tests/rigs/law.h"
#include "tests/test.h"
#include "topo/ids.h"

#define LEVEL 1e-6

enum { INTRA = FABRIC_SIM_RTT_INTRA_POD, INTER = FABRIC_SIM_RTT_INTER_POD };
#define WAIT_US 3e6 /* for a lost SYN, with Windows' timers */

enum { N_DRAWS = 200000, PAYLOAD = 1000 };

/* Quantiles that the paper has, from memory; see models/sim/rtt_profile.c. */
static const struct fact {
	const char *profile;
	unsigned n_hops;
	uint32_t payload;
	double tail, rtt_us;
} facts[] = {
    {"dc1", INTRA, 0, 0.5, 216},
    {"dc1", INTRA, 0, 0.01, 1260},
    {"dc1", INTER, 0, 0.5, 268},
    {"dc1", INTER, 0, 0.01, 1340},
    {"dc1", INTER, 0, 0.001, 23350},
    {"dc1", INTER, 0, 0.0001, 1397630},
    {"dc1", INTER, PAYLOAD, 0.5, 326},
    {"dc1", INTER, PAYLOAD, 0.01, 2430},
    {"dc2", INTER, 0, 0.001, 11070},
    {"dc2", INTER, 0, 0.0001, 105840},
    {"calm", INTRA, 0, 0.01, 530}, /* 500 to 560, of both */
    {"calm", INTER, 0, 0.01, 530},
};
enum { N_FACTS = sizeof(facts) / sizeof(facts[0]) };

static struct fabric_sim_rtt law_at(const struct fabric_sim_rtt_profile *p,
    unsigned n_hops, uint32_t payload, double load)
{
	struct fabric_sim_rtt law;
	assert_ok(
	    fabric_sim_rtt_init(&law, p, n_hops, payload, load, test_err()));
	return law;
}

/* The law of round-trip times at the load that the profile has. */
static struct fabric_sim_rtt law_of(const char *name, unsigned n_hops,
    uint32_t payload)
{
	const struct fabric_sim_rtt_profile *p = fabric_sim_rtt_find(name);
	assert_non_null(p);
	return law_at(p, n_hops, payload, p->load);
}

static double drop_rate(const struct fact *f)
{
	const struct fabric_sim_rtt_profile *p =
	    fabric_sim_rtt_find(f->profile);
	return f->n_hops == INTRA ? p->intra_drop_rate : p->inter_drop_rate;
}

/* --- the law ------------------------------------------------------------- */

static void profiles_have_the_papers_quantiles(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_FACTS; i++) {
		const struct fact *f = &facts[i];
		const struct fabric_sim_rtt law =
		    law_of(f->profile, f->n_hops, f->payload);
		assert_near(fabric_sim_rtt_exceeded_with_drops(&law, f->tail,
				drop_rate(f), WAIT_US) /
			f->rtt_us,
		    1, 0.1);
	}
}

/* 52 us at P50, 80 us at P99; a payload adds 58 us and 1.09 ms to those. */
static void gaps_are_the_papers_too(void **state)
{
	static const double tails[] = {0.5, 0.01}, hop_gaps[] = {52, 80},
			    payload_gaps[] = {58, 1090};
	const struct fabric_sim_rtt intra = law_of("dc1", INTRA, 0);
	const struct fabric_sim_rtt inter = law_of("dc1", INTER, 0);
	const struct fabric_sim_rtt payload = law_of("dc1", INTER, PAYLOAD);
	(void)state;
	for (int i = 0; i < 2; i++) {
		const double x = fabric_sim_rtt_exceeded(&inter, tails[i]);
		assert_near((x - fabric_sim_rtt_exceeded(&intra, tails[i])) /
			hop_gaps[i],
		    1, 0.1);
		assert_near((fabric_sim_rtt_exceeded(&payload, tails[i]) - x) /
			payload_gaps[i],
		    1, 0.1);
	}
}

static void the_tail_and_the_quantile_are_inverses(void **state)
{
	static const double tails[] = {1 - 1e-9, 0.9, 0.5, 0.05, 1e-3, 1e-6,
	    1e-12};
	(void)state;
	for (int i = 0; i < 7; i++)
		for (uint32_t payload = 0; payload < 2; payload++) {
			const struct fabric_sim_rtt law =
			    law_of("dc2", INTER, payload * PAYLOAD);
			const double x =
			    fabric_sim_rtt_exceeded(&law, tails[i]);
			assert_near(fabric_sim_rtt_tail(&law, x) / tails[i], 1,
			    1e-9);
		}
	const struct fabric_sim_rtt law = law_of("dc1", INTRA, 0);
	assert_near(fabric_sim_rtt_tail(&law, law.fixed_us), 1, 0);
	assert_near(fabric_sim_rtt_tail(&law, -1), 1, 0);
}

/* The share of probes beyond x is (1 - d) tail(x), and d more before the wait:
 * at the quantile it falls to the tail that was asked for, or below it at
 * once. */
static void drops_are_beyond_what_is_before_their_wait(void **state)
{
	static const double drops[] = {0, 1e-4, 0.3, 0.8};
	static const double waits[] = {1, 300, 1e6};
	const struct fabric_sim_rtt law = law_of("dc1", INTRA, 0);
	(void)state;
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 3; k++)
			for (double tail = 1e-5; tail < 1; tail *= 2) {
				const double d = drops[i], wait = waits[k];
				const double x =
				    fabric_sim_rtt_exceeded_with_drops(&law,
					tail, d, wait);
				const double below = x * (1 - 1e-9);
				assert_true(
				    (1 - d) * fabric_sim_rtt_tail(&law, x) +
					(x < wait ? d : 0) <=
				    tail * (1 + 1e-9));
				assert_true(
				    (1 - d) * fabric_sim_rtt_tail(&law, below) +
					(below < wait ? d : 0) >=
				    tail * (1 - 1e-9));
			}
}

/* Without bursts and stalls: P50 = fixed + mean log 2, and at load L the links'
 * queues are those of M/M/1. */
static void a_lone_queue_has_its_closed_form(void **state)
{
	const struct fabric_sim_rtt_profile p = {.name = "queue",
	    .host_us = 100,
	    .hop_us = 2,
	    .host_queue_us = 10,
	    .hop_queue_us = 3,
	    .load = 0.5,
	    .stall_median_us = 1,
	    .stall_sigma = 1,
	    .payload_us = 7,
	    .byte_us = 1e-3,
	    .payload_wait = 1};
	(void)state;
	struct fabric_sim_rtt law = law_at(&p, 4, 0, 0.5);
	assert_near(fabric_sim_rtt_exceeded(&law, 0.5), 116 + 34 * log(2),
	    1e-9);
	law = law_at(&p, 4, 0, 0.75);
	assert_near(fabric_sim_rtt_exceeded(&law, 0.5), 116 + 82 * log(2),
	    1e-9);
	law = law_at(&p, 4, 0, 0);
	assert_near(fabric_sim_rtt_exceeded(&law, 0.1), 116 + 10 * log(10),
	    1e-9);
	law = law_at(&p, 4, 500, 0);
	assert_near(fabric_sim_rtt_exceeded(&law, 0.1), 127 + 10 * log(10),
	    1e-9);
}

/* In law: at any time, more links, more load or more bytes leave no fewer
 * probes beyond it; and at some time, more. */
static void assert_grows(const struct fabric_sim_rtt *less,
    const struct fabric_sim_rtt *more)
{
	int some = 0;
	for (double x = 100; x < 1e7; x *= 1.05) {
		const double a = fabric_sim_rtt_tail(less, x);
		const double b = fabric_sim_rtt_tail(more, x);
		if (!(b >= a - 1e-15))
			fail_msg("beyond %g us: %.17g, then %.17g", x, a, b);
		some |= b > a + 1e-6;
	}
	assert_true(some);
}

static void round_trips_grow_with_links_load_and_bytes(void **state)
{
	static const double loads[] = {0, 0.1, 0.3, 0.6, 0.9, 0.99};
	(void)state;
	for (const struct fabric_sim_rtt_profile *p = fabric_sim_rtt_profiles;
	     p->name; p++)
		for (unsigned h = 1; h <= TOPO_MAX_HOPS; h++)
			for (int i = 0; i < 6; i++) {
				const struct fabric_sim_rtt base =
				    law_at(p, h, 900, loads[i]);
				const struct fabric_sim_rtt bytes =
				    law_at(p, h, 1200, loads[i]);
				const struct fabric_sim_rtt none =
				    law_at(p, h, 0, loads[i]);
				assert_grows(&none, &base);
				assert_grows(&base, &bytes);
				if (h < TOPO_MAX_HOPS) {
					const struct fabric_sim_rtt links =
					    law_at(p, h + 1, 900, loads[i]);
					assert_grows(&base, &links);
				}
				if (i < 5) {
					const struct fabric_sim_rtt load =
					    law_at(p, h, 900, loads[i + 1]);
					assert_grows(&base, &load);
				}
			}
}

/* --- draws --------------------------------------------------------------- */

static int beyond(const double bounds[], int n, double x)
{
	int k = 0;
	while (k < n && x > bounds[k])
		k++;
	return k;
}

/* 20 equal cells, the last of them cut at P99, P99.9 and P99.99. Every other
 * law has bursts and stalls in plenty, so that a wrong share of them shows. */
static void draws_have_the_law(void **state)
{
	enum { N_BOUNDS = 22 };
	static const double loads[] = {0, 0.3, 0.9, 0.99};
	double tails[N_BOUNDS] = {0}, cells[N_BOUNDS + 1];
	(void)state;
	for (int k = 0; k < 19; k++)
		tails[k] = 0.95 - 0.05 * k;
	for (int k = 19; k < N_BOUNDS; k++)
		tails[k] = pow(10, 17 - k);
	cells[0] = 1 - tails[0];
	for (int k = 1; k < N_BOUNDS; k++)
		cells[k] = tails[k - 1] - tails[k];
	cells[N_BOUNDS] = tails[N_BOUNDS - 1];
	for (uint32_t run = 0; run < 8; run++) {
		struct fabric_sim_rtt law =
		    law_at(&fabric_sim_rtt_profiles[run / 4], 2 + 2 * (run % 3),
			run % 2 * PAYLOAD, loads[run % 4]);
		double bounds[N_BOUNDS];
		uint64_t got[N_BOUNDS + 1] = {0};
		struct sim_rng r;
		test_rng(&r, run);
		if (run % 2) {
			law.burst_share = 0.3;
			law.stall_share = 0.2;
		}
		for (int k = 0; k < N_BOUNDS; k++)
			bounds[k] = fabric_sim_rtt_exceeded(&law, tails[k]);
		for (int i = 0; i < N_DRAWS; i++)
			got[beyond(bounds, N_BOUNDS,
			    (double)fabric_sim_rtt_draw(&law, &r) / 1e3)]++;
		if (!(law_chi2(got, cells, N_BOUNDS + 1) > LEVEL))
			fail_msg("seed %llu, run %u: another law",
			    (unsigned long long)test_seed(), run);
	}
}

/* The paper's probes: connects with Windows' timers, at the profile's drop
 * rate. P50 and P99 of a sample are within 10 % of the paper's: 10 standard
 * errors at P99, more at P50. */
static void connects_measure_the_papers_quantiles(void **state)
{
	static double us[N_DRAWS];
	(void)state;
	for (unsigned i = 0; i < N_FACTS; i++) {
		const struct fact *f = &facts[i];
		const struct fabric_sim_rtt law =
		    law_of(f->profile, f->n_hops, f->payload);
		const double x = fabric_sim_rtt_exceeded_with_drops(&law,
		    f->tail, drop_rate(f), WAIT_US);
		struct fabric_sim_tcp c = {.there.hazard =
					       scene_hazard(drop_rate(f)),
		    .client = &fabric_sim_tcp_windows,
		    .n_retries = 2,
		    .listening = 1};
		unsigned n_beyond = 0;
		double lo, hi;
		struct sim_rng r;
		test_rng(&r, 20 + i);
		for (int k = 0; k < N_DRAWS; k++) {
			const sim_ns rtt = fabric_sim_rtt_draw(&law, &r);
			c.there.latency_ns = rtt / 2;
			c.back.latency_ns = rtt - rtt / 2;
			us[k] = (double)fabric_sim_tcp(&c, &r).rtt_ns / 1e3;
			n_beyond += us[k] > x;
		}
		assert_ok(sim_binomial_interval(n_beyond, N_DRAWS, 1 - LEVEL,
		    &lo, &hi, test_err()));
		if (!(lo <= f->tail && f->tail <= hi))
			fail_msg("seed %llu, fact %u: %u beyond %g us",
			    (unsigned long long)test_seed(), i, n_beyond, x);
		sim_sort_finite(us, N_DRAWS);
		if (f->tail >= 0.01)
			assert_near(sim_quantile_sorted(us, N_DRAWS,
					1 - f->tail) /
				f->rtt_us,
			    1, 0.1);
	}
}

static void a_stall_beyond_the_clock_is_cut(void **state)
{
	struct fabric_sim_rtt law = law_of("dc1", INTER, 0);
	struct sim_rng r;
	(void)state;
	test_rng(&r, 40);
	law.stall_share = 1;
	law.stall_mu = 100;
	assert_true(fabric_sim_rtt_draw(&law, &r) == UINT64_C(1) << 62);
}

/* --- names and mistakes -------------------------------------------------- */

static void profiles_are_found_by_name_and_are_sane(void **state)
{
	(void)state;
	for (const struct fabric_sim_rtt_profile *p = fabric_sim_rtt_profiles;
	     p->name; p++) {
		assert_ptr_equal(fabric_sim_rtt_find(p->name), p);
		assert_non_null(p->doc);
		assert_true(p->burst_share + p->stall_share < 1);
		assert_true(p->payload_wait >= 1);
		assert_true(p->intra_drop_rate < p->inter_drop_rate);
	}
	assert_null(fabric_sim_rtt_find("dc3"));
	assert_null(fabric_sim_rtt_find(""));
}

static void mistakes_are_named(void **state)
{
	const struct fabric_sim_rtt_profile *p = fabric_sim_rtt_profiles;
	struct fabric_sim_rtt law;
	struct sim_err e;
	(void)state;
	assert_int_equal(fabric_sim_rtt_init(&law, p, 0, 0, 0.3, &e),
	    SIM_ERANGE);
	assert_string_equal(e.msg, "0 links one way are not in [1, 16].");
	assert_int_equal(fabric_sim_rtt_init(&law, p, 17, 0, 0.3, &e),
	    SIM_ERANGE);
	assert_int_equal(fabric_sim_rtt_init(&law, p, 2, 65537, 0.3, &e),
	    SIM_ERANGE);
	assert_string_equal(e.msg,
	    "a payload of 65537 bytes is not in [0, 65536].");
	assert_int_equal(fabric_sim_rtt_init(&law, p, 2, 0, 1, &e), SIM_ERANGE);
	assert_string_equal(e.msg, "load 1 is not in [0, 0.99].");
	assert_int_equal(fabric_sim_rtt_init(&law, p, 2, 0, -0.1, &e),
	    SIM_ERANGE);
	assert_int_equal(fabric_sim_rtt_init(&law, p, 2, 0, NAN, &e),
	    SIM_ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(profiles_have_the_papers_quantiles),
	    cmocka_unit_test(gaps_are_the_papers_too),
	    cmocka_unit_test(the_tail_and_the_quantile_are_inverses),
	    cmocka_unit_test(drops_are_beyond_what_is_before_their_wait),
	    cmocka_unit_test(a_lone_queue_has_its_closed_form),
	    cmocka_unit_test(round_trips_grow_with_links_load_and_bytes),
	    cmocka_unit_test(draws_have_the_law),
	    cmocka_unit_test(connects_measure_the_papers_quantiles),
	    cmocka_unit_test(a_stall_beyond_the_clock_is_cut),
	    cmocka_unit_test(profiles_are_found_by_name_and_are_sane),
	    cmocka_unit_test(mistakes_are_named),
	};
	return cmocka_run_group_tests_name("models/sim/rtt_profile", tests,
	    NULL, NULL);
}
