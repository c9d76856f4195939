/* tests/models/obs_buckets_test.c -- the index at all boundaries; what counts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_buckets.h"
#include "tests/test.h"

/* The quotient is a step function, and both sides ascend, so they are equal if
 * they are at both sides of each step. */
static void check_all_boundaries(uint64_t width)
{
	struct obs_index ix = {0};
	assert_true(obs_index_make(&ix, width));
	for (uint64_t i = 0; i < OBS_BUCKETS; i++)
		if (obs_index_of(&ix, i * width) != i ||
		    obs_index_of(&ix, i * width + width - 1) != i)
			fail_msg("width %llu ns: bucket %llu",
			    (unsigned long long)width, (unsigned long long)i);
}

static void the_index_is_the_quotient_at_all_boundaries(void **state)
{
	static const uint64_t widths[] = {100000, 1000000, 10000000, 1000, 1024,
	    50000000, 1 << 20, 1499999, 1500001 * 2, 12345, 333333};
	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		check_all_boundaries(widths[i]);
	for (uint32_t run = 0; run < 300; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		check_all_boundaries(1000 + sim_rng_below(&r, 1498000));
	}
}

/* What is refused is too wide, too narrow, or has an odd part for which 2000 *
 * odd^2 needs more than 53 bits. */
static void widths_that_would_be_wrong_are_refused(void **state)
{
	struct obs_index ix = {0};
	(void)state;
	assert_false(obs_index_make(&ix, 0));
	assert_false(obs_index_make(&ix, 999));
	assert_false(obs_index_make(&ix, 50000001));
	assert_false(obs_index_make(&ix, 49999999));
	assert_true(obs_index_make(&ix, 50000000));
	for (uint32_t run = 0; run < 20000; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		const uint64_t w = 1000 + sim_rng_below(&r, 49999001);
		uint64_t odd = w;
		while (odd % 2 == 0)
			odd /= 2;
		const int fits = 2000 * (double)odd * (double)odd < 0x1p53;
		assert_int_equal(obs_index_make(&ix, w), fits);
		if (fits)
			assert_true(
			    2000 * odd <= UINT64_MAX / ix.factor); /* no wrap */
	}
}

static void places_are_told_before_and_behind_too(void **state)
{
	struct obs_index ix = {0};
	(void)state;
	assert_true(obs_index_make(&ix, 1000000));
	const uint64_t t0 = UINT64_C(1700000000000000000) + 7;
	assert_int_equal(obs_index_place(&ix, t0, t0), 0);
	assert_int_equal(obs_index_place(&ix, t0 + 999999, t0), 0);
	assert_int_equal(obs_index_place(&ix, t0 + 1000000, t0), 1);
	assert_int_equal(obs_index_place(&ix, t0 + 1999999999, t0), 1999);
	assert_int_equal(obs_index_place(&ix, t0 + 2000000000, t0),
	    OBS_PLACE_OVER);
	assert_int_equal(obs_index_place(&ix, t0 + (UINT64_C(1) << 62), t0),
	    OBS_PLACE_OVER);
	assert_int_equal(obs_index_place(&ix, t0 - 1, t0), 0);
	assert_int_equal(obs_index_place(&ix, t0 - 999999, t0), 0);
	assert_int_equal(obs_index_place(&ix, t0 - 1000000, t0),
	    OBS_PLACE_EARLY);
	assert_int_equal(obs_index_place(&ix, 0, t0), OBS_PLACE_EARLY);
	assert_int_equal(obs_index_start(&ix, t0, 0), t0);
	assert_int_equal(obs_index_start(&ix, t0, 1), t0 - 7);
	assert_int_equal(obs_index_start(&ix, t0 - 7, 1), t0 - 7);
}

static void each_byte_counts_where_it_should(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 64; run++) {
		const struct obs_seen p = {.bytes = 1500,
		    .out = run & 1,
		    .ce = run >> 1 & 1,
		    .retx = run >> 2 & 1,
		    .cross = run >> 3 & 1,
		    .has_bit = run >> 4 & 1,
		    .bit = run >> 5 & 1 ? 70 : 3};
		struct obs_bucket b = {0}, twice = {0};
		obs_bucket_add(&b, &p);
		const uint32_t in = p.out ? 0 : 1500, out = 1500 - in;
		assert_int_equal(b.in_bytes, in);
		assert_int_equal(b.out_bytes, out);
		assert_int_equal(b.in_cross, p.cross ? in : 0);
		assert_int_equal(b.out_cross, p.cross ? out : 0);
		assert_int_equal(b.in_ce, p.ce ? in : 0);
		assert_int_equal(b.in_retx, p.retx ? in : 0);
		assert_int_equal(b.out_retx, p.retx ? out : 0);
		assert_int_equal(b.conns.lo, p.has_bit && p.bit == 3 ? 8 : 0);
		assert_int_equal(b.conns.hi, p.has_bit && p.bit == 70 ? 64 : 0);
		/* Merging counts what adding twice counts. */
		obs_bucket_add(&twice, &p);
		obs_bucket_merge(&twice, &b);
		obs_bucket_add(&b, &p);
		assert_memory_equal(&b, &twice, sizeof(b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_index_is_the_quotient_at_all_boundaries),
	    cmocka_unit_test(widths_that_would_be_wrong_are_refused),
	    cmocka_unit_test(places_are_told_before_and_behind_too),
	    cmocka_unit_test(each_byte_counts_where_it_should),
	};
	return cmocka_run_group_tests_name("models/obs_buckets", tests, NULL,
	    NULL);
}
