/* tests/models/scene/loss_test.c -- loss of packets, by enumeration.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each statistical test is one chi-square a case at level 1e-6: under a random
 * seed one of the about 60 cases here fires in 1 of 16,000 runs.
 */
#include <gsl/gsl_randist.h>

#include "models/scene/loss.h"
#include "tests/rigs/law.h"
#include "tests/test.h"

enum { MAX_N = 4, MAX_H = 3, MAX_CELLS = 125, DRAWS = 100000 };
#define LEVEL 1e-6

/* A case of N packets over H links. */
struct trial {
	uint32_t n;
	unsigned h;
	double hazard[MAX_H];
};

static const struct trial trials[] = {
    {1, 1, {0.5}},
    {3, 1, {0.01}},
    {3, 1, {INFINITY}},
    {1, 3, {0.3, 0.2, 0.1}},
    {2, 2, {0.4, 0.7}},
    {3, 3, {0.05, 0.6, 0.2}},
    {3, 3, {2.5, 3.0, 2.0}}, /* the branch that redraws */
    {3, 3, {0, 0.4, 0}},
    {3, 3, {0.4, 0, 0.3}},
    {2, 3, {0, 0, 1e-12}},
    {3, 3, {1e-12, 1e-12, 1e-12}},
    {3, 3, {1e-12, 0.2, 1e-12}},
    {3, 3, {1e-12, 1e-6, 3e-12}},
    {3, 3, {1e-12, INFINITY, 1e-12}},
    {3, 3, {INFINITY, 0.4, INFINITY}},
    {2, 3, {0.4, INFINITY, 0}},
    {3, 2, {0.3, INFINITY}},
    {3, 3, {1e-300, 0, 1e-300}},
};
enum { N_TRIALS = sizeof(trials) / sizeof(trials[0]) };

/* Counts of a vector in 0..n per link, as one number below (n + 1)^h. */
static unsigned cell_of(uint32_t n, unsigned h, const uint32_t x[])
{
	unsigned cell = 0;
	for (unsigned i = 0; i < h; i++)
		cell = cell * (n + 1) + x[i];
	return cell;
}

static unsigned n_cells(uint32_t n, unsigned h)
{
	unsigned cells = 1;
	while (h-- > 0)
		cells *= n + 1;
	return cells;
}

/* Bit (i * n + p) of PATTERN: packet p is marked at link i. */
static uint32_t marked_at(uint32_t pattern, uint32_t n, unsigned i)
{
	return pattern >> i * n & ((1u << n) - 1);
}

static void count_marks(uint32_t pattern, uint32_t n, unsigned h,
    uint32_t marks[])
{
	for (unsigned i = 0; i < h; i++)
		marks[i] =
		    (uint32_t)__builtin_popcount(marked_at(pattern, n, i));
}

/* A packet is lost at its first mark. */
static void count_drops(uint32_t pattern, uint32_t n, unsigned h,
    uint32_t drops[])
{
	uint32_t lost = 0;
	for (unsigned i = 0; i < h; i++) {
		uint32_t here = marked_at(pattern, n, i) & ~lost;
		drops[i] = (uint32_t)__builtin_popcount(here);
		lost |= here;
	}
}

static double pattern_mass(const struct trial *t, uint32_t pattern)
{
	double mass = 1;
	for (unsigned i = 0; i < t->h; i++) {
		const double p = -expm1(-t->hazard[i]), q = exp(-t->hazard[i]);
		uint32_t here = marked_at(pattern, t->n, i);
		for (uint32_t k = 0; k < t->n; k++)
			mass *= here >> k & 1 ? p : q;
	}
	return mass;
}

/* Law of marks (or drops) given at least one, up to a factor. The factor is
 * the chance of a mark, here as a sum of small terms: no cancellation. */
static void enumerate(const struct trial *t,
    void (*count)(uint32_t, uint32_t, unsigned, uint32_t[]), double want[])
{
	memset(want, 0, MAX_CELLS * sizeof(want[0]));
	for (uint32_t pattern = 1; pattern < 1u << t->n * t->h; pattern++) {
		uint32_t x[MAX_H];
		count(pattern, t->n, t->h, x);
		want[cell_of(t->n, t->h, x)] += pattern_mass(t, pattern);
	}
}

static void marks_have_the_law_of_independent_packets_given_one(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_TRIALS; i++) {
		const struct trial *t = &trials[i];
		uint64_t got[MAX_CELLS] = {0};
		double want[MAX_CELLS];
		uint32_t marks[MAX_H];
		struct sim_rng r;
		test_rng(&r, i);
		enumerate(t, count_marks, want);
		for (int k = 0; k < DRAWS; k++) {
			scene_loss_marks(&r, t->n, t->hazard, t->h, marks);
			got[cell_of(t->n, t->h, marks)]++;
		}
		double p = law_chi2(got, want, n_cells(t->n, t->h));
		if (p < LEVEL)
			fail_msg("trial %u, seed %ju: p = %g", i,
			    (uintmax_t)test_seed(), p);
	}
}

static void drops_of_drawn_marks_have_the_law_of_first_marks(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_TRIALS; i++) {
		const struct trial *t = &trials[i];
		uint64_t got[MAX_CELLS] = {0};
		double want[MAX_CELLS];
		uint32_t x[MAX_H];
		struct sim_rng r;
		test_rng(&r, 100 + i);
		enumerate(t, count_drops, want);
		for (int k = 0; k < DRAWS; k++) {
			scene_loss_marks(&r, t->n, t->hazard, t->h, x);
			scene_loss_drops(&r, t->n, x, t->h, x);
			got[cell_of(t->n, t->h, x)]++;
		}
		double p = law_chi2(got, want, n_cells(t->n, t->h));
		if (p < LEVEL)
			fail_msg("trial %u, seed %ju: p = %g", i,
			    (uintmax_t)test_seed(), p);
	}
}

static void drops_given_marks_are_those_of_random_subsets(void **state)
{
	(void)state;
	static const struct {
		uint32_t n;
		unsigned h;
		uint32_t marks[MAX_H];
	} cases[] = {
	    {4, 3, {1, 1, 1}},
	    {4, 3, {2, 2, 2}},
	    {4, 3, {3, 1, 2}},
	    {4, 3, {0, 2, 3}},
	    {4, 3, {4, 2, 1}},
	    {4, 3, {3, 3, 3}},
	    {3, 2, {1, 3, 0}},
	    {1, 2, {1, 1, 0}},
	    {4, 3, {1, 0, 4}},
	};
	for (uint32_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const uint32_t n = cases[c].n, *marks = cases[c].marks;
		const unsigned h = cases[c].h;
		uint64_t got[MAX_CELLS] = {0};
		double want[MAX_CELLS] = {0};
		uint32_t x[MAX_H];
		for (uint32_t pattern = 0; pattern < 1u << n * h; pattern++) {
			count_marks(pattern, n, h, x);
			if (memcmp(x, marks, h * sizeof(x[0])) != 0)
				continue;
			count_drops(pattern, n, h, x);
			want[cell_of(n, h, x)]++;
		}
		struct sim_rng r;
		test_rng(&r, 200 + c);
		for (int k = 0; k < DRAWS; k++) {
			scene_loss_drops(&r, n, marks, h, x);
			got[cell_of(n, h, x)]++;
		}
		double p = law_chi2(got, want, n_cells(n, h));
		if (p < LEVEL)
			fail_msg("case %u, seed %ju: p = %g", c,
			    (uintmax_t)test_seed(), p);
	}
}

/* Both sides of the switch from inversion to redrawing (n * hazard = 6.9). */
static void marks_of_one_link_are_a_binomial_without_its_zero(void **state)
{
	(void)state;
	static const double load[] = {1e-9, 0.1, 1, 6.8, 7, 60};
	enum { N = 100 };
	for (uint32_t i = 0; i < sizeof(load) / sizeof(load[0]); i++) {
		const double hazard = load[i] / N;
		uint64_t got[N + 1] = {0};
		double want[N + 1] = {0};
		uint32_t marks;
		struct sim_rng r;
		test_rng(&r, 300 + i);
		for (unsigned k = 1; k <= N; k++)
			want[k] = gsl_ran_binomial_pdf(k, -expm1(-hazard), N);
		for (int k = 0; k < DRAWS; k++) {
			scene_loss_marks(&r, N, &hazard, 1, &marks);
			got[marks]++;
		}
		double p = law_chi2(got, want, N + 1);
		if (p < LEVEL)
			fail_msg("load %g, seed %ju: p = %g", load[i],
			    (uintmax_t)test_seed(), p);
	}
}

static void drops_never_exceed_the_packets(void **state)
{
	(void)state;
	static const uint32_t sizes[] = {1, 2, 7, 1000, 1000000};
	static const double rates[] = {0, 1e-15, 1e-6, 0.01, 0.5, 0.999, 1};
	enum { H = 6, N_RATES = sizeof(rates) / sizeof(rates[0]) };
	struct sim_rng r;
	test_rng(&r, 400);
	for (int k = 0; k < 5000; k++) {
		double hazard[H], sum = 0;
		uint32_t x[H], n = sizes[k % 5];
		uint64_t lost = 0;
		for (int i = 0; i < H; i++) {
			uint32_t j = sim_rng_below(&r, N_RATES);
			if (n == 1000000 && rates[j] == 0.5)
				j = 0; /* a million steps each */
			sum += hazard[i] = scene_hazard(rates[j]);
		}
		if (sum == 0)
			continue;
		scene_loss_marks(&r, n, hazard, H, x);
		for (int i = 0; i < H; i++) {
			assert_true(x[i] <= n);
			assert_true(hazard[i] > 0 || x[i] == 0);
			assert_true(!isinf(hazard[i]) || x[i] == n);
		}
		scene_loss_drops(&r, n, x, H, x);
		for (int i = 0; i < H; i++)
			lost += x[i];
		assert_true(lost > 0 && lost <= n);
	}
}

/* Means of a billion packets, 5 standard errors: false alarm 6e-7 each. */
static void a_billion_packets_are_lost_at_the_right_rate(void **state)
{
	(void)state;
	const uint32_t n = 1000000000;
	const double rate[3] = {1e-5, 0, 1e-4};
	double hazard[3], sum[3] = {0};
	enum { TIMES = 200 };
	struct sim_rng r;
	test_rng(&r, 500);
	for (int i = 0; i < 3; i++)
		hazard[i] = scene_hazard(rate[i]);
	for (int k = 0; k < TIMES; k++) {
		uint32_t x[3];
		scene_loss_marks(&r, n, hazard, 3, x);
		scene_loss_drops(&r, n, x, 3, x);
		for (int i = 0; i < 3; i++)
			sum[i] += x[i];
	}
	const double want[3] = {n * 1e-5, 0, n * (1 - 1e-5) * 1e-4};
	for (int i = 0; i < 3; i++)
		assert_near(sum[i] / TIMES, want[i], 5 * sqrt(want[i] / TIMES));
}

/* A black hole takes all; what is behind it costs no time. */
static void nothing_is_left_behind_a_black_hole(void **state)
{
	(void)state;
	const uint32_t n = 1000000000;
	const double hazard[3] = {INFINITY, scene_hazard(0.4), INFINITY};
	uint32_t x[3];
	struct sim_rng r;
	test_rng(&r, 600);
	for (int k = 0; k < 1000; k++) {
		scene_loss_marks(&r, n, hazard, 3, x);
		assert_int_equal(x[0], n);
		assert_int_equal(x[2], n);
		scene_loss_drops(&r, n, x, 3, x);
		assert_int_equal(x[0], n);
		assert_int_equal(x[1], 0);
		assert_int_equal(x[2], 0);
	}
}

static void hazards_are_minus_log_of_what_passes(void **state)
{
	(void)state;
	assert_true(scene_hazard(0) == 0);
	assert_true(isinf(scene_hazard(1)) && scene_hazard(1) > 0);
	assert_near(scene_hazard(0.5), M_LN2, 1e-16);
	assert_near(scene_hazard(1e-20), 1e-20, 1e-35);
	assert_near(scene_hazard(1e-6), 1.000000500000333e-6, 1e-20);
}

static void faults_hold_in_their_time_and_replace_the_noise(void **state)
{
	(void)state;
	const struct truth_fault fault[] = {
	    {.link = 3, .rate = 0.5, .to_ns = SIM_NEVER},
	    {.link = 4, .to_ns = SIM_NEVER, .delay_us = 900},
	    {.link = 5, .rate = 0.1, .from_ns = 10, .to_ns = 20},
	    {.link = 5, .rate = 0.2, .from_ns = 15, .to_ns = 30},
	    {.link = 5, .rate = 0.3, .from_ns = 40, .to_ns = 40},
	    {.link = 9, .to_ns = 100},
	    {.link = 12, .rate = 1, .from_ns = 7, .to_ns = SIM_NEVER},
	};
	struct truth truth = {.n_faults = 0};
	struct scene_loss m = {.truth = &truth};
	for (size_t i = 0; i < sizeof(fault) / sizeof(fault[0]); i++)
		assert_ok(truth_add_fault(&truth, &fault[i], test_err()));
	const struct scene_noise_params noise = {{SIM_FIXED, 1e-3, 1e-3}, 1,
	    SCENE_NOISE_PER_LINK, 1, 0};
	const struct sim_seed where = {.seed = 1};
	scene_noise_init(&m.noise, &noise, NULL, &where);
	const double quiet = scene_hazard(1e-3);
	const struct {
		topo_link link;
		sim_ns t;
		int active;
		double hazard;
	} want[] = {
	    {0, 0, 0, quiet},
	    {3, 0, 1, scene_hazard(0.5)},
	    {3, SIM_NEVER - 1, 1, scene_hazard(0.5)},
	    {4, 0, 0, quiet},
	    {5, 9, 0, quiet},
	    {5, 10, 1, scene_hazard(0.1)},
	    {5, 15, 1, scene_hazard(0.1) + scene_hazard(0.2)},
	    {5, 20, 1, scene_hazard(0.2)},
	    {5, 30, 0, quiet},
	    {5, 40, 0, quiet},
	    {9, 99, 1, 0},
	    {9, 100, 0, quiet},
	    {12, 6, 0, quiet},
	    {12, 7, 1, INFINITY},
	    {13, 7, 0, quiet},
	};
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		double hazard;
		assert_int_equal(scene_loss_fault(&m, want[i].link, want[i].t,
				     &hazard),
		    want[i].active);
		assert_true(hazard == (want[i].active ? want[i].hazard : 0));
		assert_true(scene_loss_hazard(&m, want[i].link, want[i].t) ==
		    want[i].hazard);
	}
	truth_free(&truth);
}

/* A flow meets the faults of its links, and the noise of all others: that of the
 * link, or its own. */
static void a_flow_meets_noise_where_there_is_no_fault(void **state)
{
	enum { H = 6 };
	(void)state;
	const struct truth_fault fault[] = {{.link = 3,
						.rate = 0.5,
						.to_ns = SIM_NEVER},
	    {.link = 5, .rate = 0.1, .from_ns = 10, .to_ns = 20},
	    {.link = 9, .to_ns = SIM_NEVER}};
	const topo_link path[H] = {1, 3, 5, 7, 9, 11};
	const struct sim_seed where = {.seed = test_seed()};
	for (uint32_t per = 0; per < 2; per++) {
		struct truth truth = {.n_faults = 0};
		struct scene_loss m = {.truth = &truth};
		const struct scene_noise_params noise = {{SIM_UNIFORM, 1e-4,
							     1e-2},
		    1, per, 1, 0};
		for (size_t i = 0; i < 3; i++)
			assert_ok(
			    truth_add_fault(&truth, &fault[i], test_err()));
		scene_noise_init(&m.noise, &noise, NULL, &where);
		for (uint64_t flow = 0; flow < 50; flow++)
			for (sim_ns t = 5; t < 30; t += 10) {
				double hazard[H], rate[H];
				scene_noise_of_flow(&m.noise, flow, path, H,
				    rate);
				scene_loss_hazards(&m, flow, path, H, t,
				    hazard);
				for (unsigned i = 0; i < H; i++) {
					const double want = i == 1
					    ? scene_hazard(0.5)
					    : i == 2 && t == 15
					    ? scene_hazard(0.1)
					    : i == 4 ? 0
						     : scene_hazard(rate[i]);
					assert_true(hazard[i] == want);
				}
				assert_true(hazard[0] > 0);
			}
		truth_free(&truth);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hazards_are_minus_log_of_what_passes),
	    cmocka_unit_test(faults_hold_in_their_time_and_replace_the_noise),
	    cmocka_unit_test(
		marks_have_the_law_of_independent_packets_given_one),
	    cmocka_unit_test(drops_of_drawn_marks_have_the_law_of_first_marks),
	    cmocka_unit_test(drops_given_marks_are_those_of_random_subsets),
	    cmocka_unit_test(marks_of_one_link_are_a_binomial_without_its_zero),
	    cmocka_unit_test(drops_never_exceed_the_packets),
	    cmocka_unit_test(a_billion_packets_are_lost_at_the_right_rate),
	    cmocka_unit_test(nothing_is_left_behind_a_black_hole),
	    cmocka_unit_test(a_flow_meets_noise_where_there_is_no_fault),
	};
	return cmocka_run_group_tests_name("models/scene/loss", tests, NULL,
	    NULL);
}
