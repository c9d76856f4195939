/* tests/experiments/live/windows_counts_test.c -- counts of times as bytes, and back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/windows_counts.h"

#include "algos/pingmesh/sla.h"
#include "experiments/pingmesh/dsa/pool.h"
#include "tests/test.h"

enum { LAST = XP_DSA_POOL_BUCKETS - 1, MOST = 64 };

static void assert_bytes(const struct xp_dsa_histogram_row row[], size_t n,
    const unsigned char want[], size_t n_want)
{
	unsigned char out[15 * MOST];
	assert_int_equal(xp_windows_pack(row, n, out), n_want);
	assert_memory_equal(out, want, n_want);
}

/* Steps from bucket to bucket and counts, seven bits a byte, the lowest first, all
 * but the last with the highest bit. */
static void numbers_take_seven_bits_a_byte(void **state)
{
	const struct xp_dsa_histogram_row small[] = {{.bucket = 0, .n = 1},
	    {.bucket = 1, .n = 127}, {.bucket = 128, .n = 128},
	    {.bucket = 256, .n = 16383}, {.bucket = 257, .n = 16384},
	    {.bucket = 258, .n = 0}};
	static const unsigned char bytes[] = {0, 1, 1, 127, 127, 128, 1, 128, 1,
	    255, 127, 1, 128, 128, 1, 1, 0};
	const struct xp_dsa_histogram_row large = {.bucket = 3,
	    .n = UINT64_C(0x7fffffffffffffff)};
	static const unsigned char most[] = {3, 255, 255, 255, 255, 255, 255,
	    255, 255, 127};
	(void)state;
	assert_bytes(small, 6, bytes, sizeof(bytes));
	assert_bytes(&large, 1, most, sizeof(most));
	assert_bytes(small, 0, bytes, 0);
}

static void what_was_packed_is_unpacked(void **state)
{
	const struct xp_dsa_pooled_row of = {.data_centre = 3,
	    .kind = 2,
	    .id = 77};
	(void)state;
	for (uint32_t run = 0; run < 50; run++) {
		struct xp_dsa_histogram_row row[MOST];
		unsigned char bytes[15 * MOST];
		struct xp_dsa_tables t = {0};
		struct sim_rng r;
		size_t n = 0;
		test_rng(&r, run);
		for (uint32_t b = sim_rng_below(&r, 3); b <= LAST && n < MOST;
		     b += 1 + sim_rng_below(&r, 300))
			row[n++] = (struct xp_dsa_histogram_row){.bucket = b,
			    .n = (uint64_t)sim_rng_below(&r, UINT32_MAX) >>
				sim_rng_below(&r, 32) << sim_rng_below(&r, 31)};
		row[n - 1].bucket = LAST;
		const size_t n_bytes = xp_windows_pack(row, n, bytes);
		assert_true(n_bytes <= 15 * n);
		/* Rows are appended to those that are there. */
		for (size_t twice = 0; twice < 2; twice++)
			assert_ok(xp_windows_unpack(&of, bytes, n_bytes, &t,
			    test_err()));
		assert_int_equal(t.histogram.n, 2 * n);
		for (size_t i = 0; i < 2 * n; i++) {
			const struct xp_dsa_histogram_row *x =
			    &t.histogram.row[i];
			assert_int_equal(x->data_centre, 3);
			assert_int_equal(x->kind, 2);
			assert_int_equal(x->id, 77);
			assert_int_equal(x->bucket, row[i % n].bucket);
			assert_int_equal(x->n, row[i % n].n);
		}
		xp_dsa_tables_free(&t);
	}
}

static void bytes_that_nobody_packs_are_refused(void **state)
{
	static const struct {
		unsigned char bytes[24];
		size_t n;
		int rc;
	} q[] = {
	    {{0}, 0, 0},
	    {{0, 0}, 2, 0},
	    {{0}, 1, SIM_EPARSE},
	    {{128}, 1, SIM_EPARSE},
	    {{0, 128}, 2, SIM_EPARSE},
	    /* Nine bytes hold 63 bits, and there are no more. */
	    {{0, 255, 255, 255, 255, 255, 255, 255, 255, 127}, 10, 0},
	    {{0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0}, 11,
		SIM_EPARSE},
	    {{255, 255, 255, 255, 255, 255, 255, 255, 127, 0}, 10, SIM_EPARSE},
	    /* The last bucket there is, at once and by steps, and behind it. */
	    {{(LAST & 127) | 128, LAST >> 7, 5}, 3, 0},
	    {{((LAST + 1) & 127) | 128, (LAST + 1) >> 7, 5}, 3, SIM_EPARSE},
	    {{(LAST & 127) | 128, LAST >> 7, 5, 0, 5}, 5, 0},
	    {{(LAST & 127) | 128, LAST >> 7, 5, 1, 5}, 5, SIM_EPARSE},
	};
	const struct xp_dsa_pooled_row of = {.id = 1};
	struct sim_err e;
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct xp_dsa_tables t = {0};
		const int rc =
		    xp_windows_unpack(&of, q[i].bytes, q[i].n, &t, &e);
		if (rc != q[i].rc)
			fail_msg("%zu: %d", i, rc);
		if (rc < 0)
			assert_string_equal(e.msg,
			    "counts of connect times are damaged.");
		xp_dsa_tables_free(&t);
	}
}

static void scopes_have_names(void **state)
{
	(void)state;
	for (unsigned k = 0; k < ALGO_SLA_N_KINDS; k++)
		assert_int_equal(xp_windows_kind(xp_windows_scopes[k]), k);
	assert_null(xp_windows_scopes[ALGO_SLA_N_KINDS]);
	assert_int_equal(xp_windows_kind("rack"), ALGO_SLA_N_KINDS);
	assert_int_equal(xp_windows_kind("tor"), ALGO_SLA_TOR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_take_seven_bits_a_byte),
	    cmocka_unit_test(what_was_packed_is_unpacked),
	    cmocka_unit_test(bytes_that_nobody_packs_are_refused),
	    cmocka_unit_test(scopes_have_names),
	};
	return cmocka_run_group_tests_name("experiments/live/windows_counts",
	    tests, NULL, NULL);
}
