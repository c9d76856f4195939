/* tests/sim/rng_test.c -- streams by name: known answers, independence, law.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

#include "tests/test.h"

/* Known answers published with Random123 (kat_vectors, philox4x32 10). */
static void philox_gives_the_published_known_answers(void **state)
{
	(void)state;
	static const struct {
		uint32_t ctr[4], key[2], out[4];
	} kat[] = {
	    {{0, 0, 0, 0}, {0, 0},
		{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
	    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
		{0xffffffff, 0xffffffff},
		{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
	    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
		{0xa4093822, 0x299f31d0},
		{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};
	for (size_t i = 0; i < sizeof(kat) / sizeof(kat[0]); i++) {
		uint32_t out[4];
		sim_philox_block(kat[i].key, kat[i].ctr, out);
		assert_memory_equal(out, kat[i].out, sizeof(out));
	}
}

/* Computed apart from this code, by splitmix64 as Steele, Lea and Flood
 * (OOPSLA'14) have it: the first word after seed 0 is 0xe220a8397b1dcdaf. All
 * published numbers hang on these. */
static void keys_are_those_of_splitmix64(void **state)
{
	(void)state;
	static const struct {
		struct sim_seed where;
		enum sim_stream stream;
		uint32_t key[2];
	} known[] = {
	    {{0, 0, 0, 0}, SIM_STREAM_FAULT_PLACE, {0xeef15b4b, 0x2d3c4559}},
	    {{1, 2, 3, 0}, SIM_STREAM_FLOW, {0x23cd72e1, 0xea29ee11}},
	    {{20180409, 0, 0, 3}, SIM_STREAM_TIE, {0x8063f33d, 0xeae09ebe}},
	    {{UINT64_MAX, 7, 8, UINT32_MAX}, SIM_STREAM_TEST,
		{0x236c3075, 0xc39cb30b}},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint32_t key[2];
		sim_rng_key(key, &known[i].where, known[i].stream);
		assert_memory_equal(key, known[i].key, sizeof(key));
	}
}

static uint64_t first_words(struct sim_seed where, enum sim_stream stream,
    uint32_t entity)
{
	struct sim_rng r;
	sim_rng_init(&r, &where, stream, entity);
	return (uint64_t)sim_rng_u32(&r) << 32 | sim_rng_u32(&r);
}

static void every_part_of_a_name_changes_the_stream(void **state)
{
	(void)state;
	const struct sim_seed base = {1, 2, 3, 4};
	const uint64_t ref = first_words(base, SIM_STREAM_FLOW, 5);
	assert_true(ref == first_words(base, SIM_STREAM_FLOW, 5));
	assert_true(ref !=
	    first_words((struct sim_seed){9, 2, 3, 4}, SIM_STREAM_FLOW, 5));
	assert_true(ref !=
	    first_words((struct sim_seed){1, 9, 3, 4}, SIM_STREAM_FLOW, 5));
	assert_true(ref !=
	    first_words((struct sim_seed){1, 2, 9, 4}, SIM_STREAM_FLOW, 5));
	assert_true(ref !=
	    first_words((struct sim_seed){1, 2, 3, 9}, SIM_STREAM_FLOW, 5));
	assert_true(ref != first_words(base, SIM_STREAM_LOSS, 5));
	assert_true(ref != first_words(base, SIM_STREAM_FLOW, 6));
}

/* However many blocks are made at once: the words of each follow those of the one
 * before, also where the count of blocks begins again. */
static void a_stream_is_its_blocks_in_order(void **state)
{
	(void)state;
	static const uint32_t from[] = {0, 1, 6, UINT32_MAX - 8, UINT32_MAX};
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		const struct sim_seed where = {1, 2, 3, 4};
		struct sim_rng r;
		sim_rng_init(&r, &where, SIM_STREAM_FLOW, 5);
		uint32_t ctr[] = {from[i], 5, 3, 2};
		r.state.ctr[0] = from[i];
		for (int block = 0; block < 19; block++, ctr[0]++) {
			uint32_t out[4];
			sim_philox_block(r.state.key, ctr, out);
			for (int k = 0; k < 4; k++)
				assert_int_equal(sim_rng_u32(&r), out[k]);
		}
	}
}

/* Two streams of one number would not compile here: a case label twice. */
static const char *name_of(unsigned number)
{
	switch (number) {
#define X(name, value, doc)                                                    \
	case value:                                                            \
		return #name;
		SIM_STREAMS(X)
#undef X
	}
	return NULL;
}

static void no_two_streams_share_a_number(void **state)
{
	(void)state;
	assert_string_equal(name_of(SIM_STREAM_NOISE), "NOISE");
	assert_string_equal(name_of(SIM_STREAM_LATENCY), "LATENCY");
	assert_null(name_of(0));
}

/* Pearson's chi-square on 64 cells; false alarm 1e-6 at a random seed. */
static void words_below_n_are_uniform(void **state)
{
	(void)state;
	enum { N = 60, DRAWS = 200000 };
	unsigned count[N] = {0};
	struct sim_rng r;
	test_rng(&r, 1);
	for (int i = 0; i < DRAWS; i++)
		count[sim_rng_below(&r, N)]++;
	double chi2 = 0, mean = (double)DRAWS / N;
	for (int i = 0; i < N; i++)
		chi2 += (count[i] - mean) * (count[i] - mean) / mean;
	assert_true(gsl_cdf_chisq_Q(chi2, N - 1) > 1e-6);
}

/* Mean of a GSL variate against its law, 5 standard errors: false alarm
 * 6e-7 at a random seed. */
static void gsl_distributions_draw_from_a_stream(void **state)
{
	(void)state;
	struct sim_rng r;
	test_rng(&r, 2);
	const unsigned draws = 20000;
	double sum = 0;
	for (unsigned i = 0; i < draws; i++)
		sum += gsl_ran_binomial(&r.gsl, 0.2385, 100);
	double se = sqrt(100 * 0.2385 * (1 - 0.2385) / draws);
	assert_near(sum / draws, 23.85, 5 * se);
}

static void a_gsl_clone_continues_the_same_sequence(void **state)
{
	(void)state;
	gsl_rng *a = gsl_rng_alloc(sim_rng_philox);
	gsl_rng_set(a, 7);
	for (int i = 0; i < 3; i++)
		gsl_rng_get(a);
	gsl_rng *b = gsl_rng_clone(a);
	for (int i = 0; i < 100; i++)
		assert_true(gsl_rng_get(a) == gsl_rng_get(b));
	gsl_rng_free(a);
	gsl_rng_free(b);
}

/* It has no name but its seed. */
static void gsl_seeds_a_stream_for_tests(void **state)
{
	(void)state;
	const struct sim_seed where = {.seed = 7};
	struct sim_rng r;
	sim_rng_init(&r, &where, SIM_STREAM_TEST, 0);
	gsl_rng *a = gsl_rng_alloc(sim_rng_philox);
	gsl_rng_set(a, 8);
	gsl_rng_get(a);
	gsl_rng_set(a, where.seed);
	for (int i = 0; i < 10; i++)
		assert_true(gsl_rng_get(a) == sim_rng_u32(&r));
	for (int i = 0; i < 10; i++)
		assert_true(gsl_rng_uniform(a) == sim_rng_u01(&r));
	gsl_rng_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(philox_gives_the_published_known_answers),
	    cmocka_unit_test(keys_are_those_of_splitmix64),
	    cmocka_unit_test(every_part_of_a_name_changes_the_stream),
	    cmocka_unit_test(a_stream_is_its_blocks_in_order),
	    cmocka_unit_test(no_two_streams_share_a_number),
	    cmocka_unit_test(words_below_n_are_uniform),
	    cmocka_unit_test(gsl_distributions_draw_from_a_stream),
	    cmocka_unit_test(a_gsl_clone_continues_the_same_sequence),
	    cmocka_unit_test(gsl_seeds_a_stream_for_tests),
	};
	return cmocka_run_group_tests_name("sim/rng", tests, NULL, NULL);
}
