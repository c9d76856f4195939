/* tests/algos/millisampler/sketch_test.c -- the hash and the estimate by law.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/sketch.h"
#include "tests/test.h"

static void the_law_is_that_of_all_ways_to_throw(void **state)
{
	double p[OBS_SKETCH_BITS + 1];
	(void)state;
	algo_sketch_law(0, p);
	assert_near(p[0], 1, 0);
	/* Birthdays: three of 128. */
	algo_sketch_law(3, p);
	assert_near(p[3], 127. * 126 / (128. * 128), 1e-15);
	assert_near(p[2], 3 * 127. / (128. * 128), 1e-15);
	assert_near(p[1], 1 / (128. * 128), 1e-15);
	for (uint32_t n = 0; n < 1200; n += 7) {
		double sum = 0, mean = 0;
		algo_sketch_law(n, p);
		for (uint32_t k = 0; k <= OBS_SKETCH_BITS; k++) {
			sum += p[k];
			mean += k * p[k];
		}
		assert_near(sum, 1, 1e-12);
		assert_near(mean, 128 * (1 - pow(127 / 128., n)), 1e-9);
	}
}

/* Means, relative deviations and shares of full sketches as they were measured
 * by drawing, of 6,000 to 20,000 sketches each, and printed so. By law the
 * deviation at 500 is .141. */
static void the_estimate_has_the_moments_that_were_drawn(void **state)
{
	static const struct {
		uint32_t n;
		double bits, mean, sd, full;
	} row[] = {
	    {5, 4.9, 5.0, .06, 0},
	    {12, 11.5, 12.1, .06, 0},
	    {50, 41.5, 50.2, .07, 0},
	    {100, 69.6, 100.6, .07, 0},
	    {300, 115.8, 305, .11, 0},
	    {400, 122.4, 414, .14, .0015},
	    {500, 125.5, 518, .15, .065},
	    {600, 126.8, 585, .09, .30},
	    {800, 127.8, 619, .02, .79},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		double p[OBS_SKETCH_BITS + 1], bits = 0, m = 0, mm = 0;
		algo_sketch_law(row[i].n, p);
		for (uint32_t k = 0; k <= OBS_SKETCH_BITS; k++) {
			const double x = algo_sketch_estimate(k);
			bits += k * p[k];
			m += x * p[k];
			mm += x * x * p[k];
		}
		assert_near(bits, row[i].bits, .06);
		assert_near(m, row[i].mean, .004 * row[i].mean + .06);
		assert_near(sqrt(mm - m * m) / m, row[i].sd, .01);
		assert_near(p[OBS_SKETCH_BITS], row[i].full, .012);
	}
}

static void full_sketches_are_told(void **state)
{
	struct obs_sketch s = {0};
	(void)state;
	assert_int_equal(algo_sketch_conns(&s), 0);
	for (uint32_t bit = 0; bit < OBS_SKETCH_BITS; bit++) {
		assert_int_equal(obs_sketch_count(&s), bit);
		assert_false(algo_sketch_is_full(&s));
		obs_sketch_set(&s, bit);
		obs_sketch_set(&s, bit);
	}
	assert_true(algo_sketch_is_full(&s));
	assert_int_equal(algo_sketch_conns(&s), 621);
	assert_near(algo_sketch_estimate(127), 128 * log(128), 1e-12);
	assert_near(algo_sketch_estimate(128), 128 * log(128), 1e-12);
}

static void sketches_merge_as_sets_do(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 2000; run++) {
		struct sim_rng r;
		struct obs_sketch part[2] = {{0}}, all = {0};
		test_rng(&r, run);
		for (uint32_t i = sim_rng_below(&r, 200); i > 0; i--) {
			const uint32_t bit = sim_rng_below(&r, 128);
			obs_sketch_set(&part[sim_rng_below(&r, 2)], bit);
			obs_sketch_set(&all, bit);
		}
		obs_sketch_or(&part[0], &part[1]);
		assert_memory_equal(&part[0], &all, sizeof(all));
	}
}

/* --- the hash -------------------------------------------------------------- */
/* Connections as hosts have them: clients' ports in a row, or in steps of two as
 * Linux takes them, servers in a row, and what is drawn. */
enum {
	PORTS,
	EVEN_PORTS,
	SERVERS,
	RACKS,
	RANDOM,
	PORTS6,
	SERVERS6,
	N_FAMILIES
};

static uint32_t bit_of(int family, uint32_t base, uint32_t i, struct sim_rng *r)
{
	const uint32_t me = 0x0a000001 + base % 977;
	const uint32_t you = 0x0a010000 + base % 65521;
	const uint32_t port = 32768 + base % 20000;
	const uint64_t me6[2] = {UINT64_C(0xfd00) << 48, me};
	uint64_t you6[2] = {UINT64_C(0xfd00) << 48 | base, 1};
	switch (family) {
	case PORTS:
		return obs_sketch_bit4(me, you,
		    obs_sketch_ports(port + i, 443, 6));
	case EVEN_PORTS:
		return obs_sketch_bit4(me, you,
		    obs_sketch_ports(443, (port + 2 * i) & 65535, 6));
	case SERVERS:
		return obs_sketch_bit4(me, you + i,
		    obs_sketch_ports(443, port, 6));
	case RACKS:
		return obs_sketch_bit4(me, you + 256 * i,
		    obs_sketch_ports(port + i % 3, 443, 17));
	case RANDOM:
		return obs_sketch_bit4(sim_rng_u32(r), sim_rng_u32(r),
		    obs_sketch_ports(sim_rng_below(r, 65536),
			sim_rng_below(r, 65536), 6));
	case PORTS6:
		return obs_sketch_bit6(me6, you6,
		    obs_sketch_ports(port + i, 443, 6));
	default:
		you6[1] += i;
		return obs_sketch_bit6(me6, you6,
		    obs_sketch_ports(443, port, 6));
	}
}

/* Bits that N connections set, against the exact law, by chi-square over cells
 * of at least 20 expected; 35 comparisons. With at most 40 cells a value above
 * 95 has probability below 2e-6, so all of this fails by chance once in more
 * than 10,000 seeds. */
static void connections_fall_on_bits_as_balls_do(void **state)
{
	static const uint32_t n_of[] = {5, 12, 50, 100, 300};
	enum { SKETCHES = 4000 };
	(void)state;
	for (int family = 0; family < N_FAMILIES; family++)
		for (size_t c = 0; c < 5; c++) {
			double p[OBS_SKETCH_BITS + 1], chi = 0, got = 0,
						       want = 0;
			uint32_t seen[OBS_SKETCH_BITS + 1] = {0}, cells = 0;
			struct sim_rng r;
			test_rng(&r, (uint32_t)(family * 5 + (int)c));
			for (uint32_t k = 0; k < SKETCHES; k++) {
				struct obs_sketch s = {0};
				const uint32_t base = sim_rng_u32(&r);
				for (uint32_t i = 0; i < n_of[c]; i++)
					obs_sketch_set(&s,
					    bit_of(family, base, i, &r));
				seen[obs_sketch_count(&s)]++;
			}
			algo_sketch_law(n_of[c], p);
			for (uint32_t k = 0; k <= OBS_SKETCH_BITS; k++) {
				got += seen[k];
				want += SKETCHES * p[k];
				if (want < 20 && k < OBS_SKETCH_BITS)
					continue;
				if (want > 1)
					chi +=
					    (got - want) * (got - want) / want;
				cells++;
				got = want = 0;
			}
			if (chi > 95)
				fail_msg("seed %llu family %d, %u connections: "
					 "chi-square %.1f of %u cells",
				    (unsigned long long)test_seed(), family,
				    n_of[c], chi, cells);
		}
}

static void both_directions_and_each_part_of_the_tuple_count(void **state)
{
	(void)state;
	uint32_t same[5] = {0};
	for (uint32_t run = 0; run < 20000; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		const uint32_t a = sim_rng_u32(&r), b = sim_rng_u32(&r);
		const uint32_t p = sim_rng_below(&r, 65536);
		const uint32_t q = sim_rng_below(&r, 65536);
		const uint32_t bit =
		    obs_sketch_bit4(a, b, obs_sketch_ports(p, q, 6));
		assert_true(bit < OBS_SKETCH_BITS);
		same[0] += bit ==
		    obs_sketch_bit4(a ^ 1u << sim_rng_below(&r, 32), b,
			obs_sketch_ports(p, q, 6));
		same[1] += bit ==
		    obs_sketch_bit4(a, b ^ 1u << sim_rng_below(&r, 32),
			obs_sketch_ports(p, q, 6));
		same[2] += bit ==
		    obs_sketch_bit4(a, b,
			obs_sketch_ports(p ^ 1u << sim_rng_below(&r, 16), q,
			    6));
		same[3] += bit ==
		    obs_sketch_bit4(a, b,
			obs_sketch_ports(p, q ^ 1u << sim_rng_below(&r, 16),
			    6));
		same[4] +=
		    bit == obs_sketch_bit4(a, b, obs_sketch_ports(p, q, 17));
	}
	/* 20,000 / 128 = 156 with a deviation of 12.5: five of these. */
	for (int i = 0; i < 5; i++)
		assert_near(same[i], 156, 63);
}

/* Moments that were drawn before; and by summing the law by hand, that the band
 * holds what it says and no less would. */
static void what_is_told_of_n_is_the_laws(void **state)
{
	static const struct {
		uint32_t n;
		double mean, rel, full;
	} drawn[] = {{12, 12.1, .01, 0}, {50, 50.2, .01, 0},
	    {100, 100.6, .01, 0}, {300, 305, .01, 0}, {500, 518, .01, .065},
	    {800, 619, .01, .79}};
	struct algo_sketch_told t;
	(void)state;
	for (size_t i = 0; i < 6; i++) {
		double p[OBS_SKETCH_BITS + 1], below = 0, above = 0;
		algo_sketch_tell(drawn[i].n, .95, &t);
		assert_near(t.mean, drawn[i].mean, drawn[i].rel * t.mean);
		assert_near(t.full, drawn[i].full, .01);
		algo_sketch_law(drawn[i].n, p);
		for (uint32_t k = 0; k <= OBS_SKETCH_BITS; k++) {
			below += algo_sketch_estimate(k) < t.lo ? p[k] : 0;
			above += algo_sketch_estimate(k) > t.hi ? p[k] : 0;
		}
		assert_true(below <= .025 && above <= .025 + 1e-11);
	}
	/* One connection sets one bit; none sets none. */
	algo_sketch_tell(1, .95, &t);
	assert_true(t.lo == t.hi && fabs(t.lo - 1.004) < .001 && t.full == 0);
	algo_sketch_tell(0, .95, &t);
	assert_true(t.lo == 0 && t.hi == 0 && t.mean == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_law_is_that_of_all_ways_to_throw),
	    cmocka_unit_test(the_estimate_has_the_moments_that_were_drawn),
	    cmocka_unit_test(full_sketches_are_told),
	    cmocka_unit_test(what_is_told_of_n_is_the_laws),
	    cmocka_unit_test(sketches_merge_as_sets_do),
	    cmocka_unit_test(connections_fall_on_bits_as_balls_do),
	    cmocka_unit_test(both_directions_and_each_part_of_the_tuple_count),
	};
	return cmocka_run_group_tests_name("algos/millisampler/sketch", tests,
	    NULL, NULL);
}
