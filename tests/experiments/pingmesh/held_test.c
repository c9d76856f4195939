/* tests/experiments/pingmesh/held_test.c -- rows packed, and as they were.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/held.h"
#include "tests/test.h"

#define FROM (1200 * SIM_SEC)

/* Of as many bits as the column has, or of few: rows that fit, and rows that
 * do not. */
static uint64_t held_bits(struct sim_rng *r, unsigned most)
{
	const unsigned n = (unsigned)sim_rng_below(r, most + 1);
	const uint64_t x = (uint64_t)sim_rng_below(r, UINT32_MAX) << 32 |
	    sim_rng_below(r, UINT32_MAX);
	return n == 0 ? 0 : x >> (64 - n);
}

static struct obs_probe any_row(struct sim_rng *r)
{
	return (struct obs_probe){.sent_ns = FROM + held_bits(r, 60),
	    .rtt_ns = held_bits(r, 64),
	    .src_host = (uint32_t)held_bits(r, 32),
	    .dst_host = (uint32_t)held_bits(r, 32),
	    .src_port = (uint16_t)held_bits(r, 16),
	    .dst_port = (uint16_t)held_bits(r, 16),
	    .outcome = (uint8_t)held_bits(r, 8),
	    .level = (uint8_t)held_bits(r, 8),
	    .class = (uint8_t)held_bits(r, 8),
	    .payload_bytes = (uint32_t)held_bits(r, 32)};
}

static struct obs_probe usual_row(uint32_t i)
{
	return (struct obs_probe){.sent_ns = FROM + i * SIM_MS,
	    .rtt_ns = 268 * SIM_US + i,
	    .src_host = i % 10000,
	    .dst_host = i % 9973,
	    .src_port = (uint16_t)i,
	    .dst_port = 80,
	    .level = 1 + i % 3,
	    .outcome = i % 100 == 0};
}

static void assert_same(const struct obs_probe *a, const struct obs_probe *b)
{
#define X(type, name, unit, doc) assert_int_equal(a->name, b->name);
	OBS_PROBE_COLUMNS(X)
#undef X
}

static void every_row_comes_back_as_it_was_in_pieces_of_any_size(void **state)
{
	struct xp_held_pool pool = {0};
	struct xp_held h = {0};
	struct obs_probes was = {0}, is = {0};
	struct xp_held_mark at = {NULL, 0};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	for (int i = 0; i < 20000; i++) {
		const struct obs_probe row =
		    i % 2 ? any_row(&r) : usual_row((uint32_t)i);
		assert_ok(obs_probes_add(&was, &row, test_err()));
		assert_ok(xp_held_add(&h, &pool, FROM, &row, test_err()));
	}
	/* Both ways were taken: of the rows drawn at random a few hundred are of the
	 * kinds that there is a number for. */
	assert_true(h.wide.n > 9000 && h.wide.n < 10000);
	assert_int_equal(pool.n_kinds, XP_HELD_KINDS);
	while (is.n < was.n)
		assert_ok(xp_held_next(&h, &pool, FROM, &at,
		    1 + sim_rng_below(&r, 3000), NULL, &is, test_err()));
	assert_int_equal(is.n, was.n);
	for (size_t i = 0; i < was.n; i++) {
		const struct obs_probe a = obs_probes_at(&was, i),
				       b = obs_probes_at(&is, i);
		assert_same(&a, &b);
	}
	assert_ok(xp_held_next(&h, &pool, FROM, &at, SIZE_MAX, NULL, &is,
	    test_err()));
	assert_int_equal(is.n, was.n);
	xp_held_clear(&h, &pool);
	xp_held_pool_free(&pool);
	obs_probes_free(&was);
	obs_probes_free(&is);
}

static void kinds_beyond_the_last_are_kept_too(void **state)
{
	struct xp_held_pool pool = {0};
	struct xp_held h = {0};
	struct obs_probes is = {0};
	struct xp_held_mark at = {NULL, 0};
	(void)state;
	for (uint32_t i = 0; i < 2 * XP_HELD_KINDS; i++) {
		struct obs_probe row = usual_row(1);
		row.payload_bytes = i;
		assert_ok(xp_held_add(&h, &pool, FROM, &row, test_err()));
	}
	assert_int_equal(pool.n_kinds, XP_HELD_KINDS);
	assert_int_equal(h.wide.n, XP_HELD_KINDS);
	assert_ok(xp_held_next(&h, &pool, FROM, &at, SIZE_MAX, NULL, &is,
	    test_err()));
	for (uint32_t i = 0; i < is.n; i++)
		assert_int_equal(is.payload_bytes[i], i);
	xp_held_clear(&h, &pool);
	xp_held_pool_free(&pool);
	obs_probes_free(&is);
}

/* A block of 1,024 rows is a pointer more than 20 bytes each; of two windows in
 * turn no more blocks are made than they have rows at a time, however many
 * windows there are. */
static void a_probe_held_takes_20_bytes_and_windows_that_go_give_them_back(
    void **state)
{
	enum { ROWS = 10 * XP_HELD_BLOCK };
	struct xp_held_pool pool = {0};
	struct xp_held h[2] = {{0}};
	(void)state;
	assert_int_equal(XP_HELD_ROW, 20);
	for (int w = 0; w < 100; w++) {
		xp_held_clear(&h[w % 2], &pool);
		for (uint32_t i = 0; i < ROWS; i++) {
			const struct obs_probe row = usual_row(i);
			assert_ok(xp_held_add(&h[w % 2], &pool, FROM, &row,
			    test_err()));
		}
		assert_int_equal(pool.n_blocks, w == 0 ? 10 : 20);
	}
	assert_int_equal(h[0].wide.n + h[1].wide.n, 0);
	assert_true(pool.n_kinds <= 6);
	xp_held_clear(&h[0], &pool);
	xp_held_clear(&h[1], &pool);
	xp_held_pool_free(&pool);
}

/* More than blocks of their own have: the others come from a slab. */
static void many_rows_come_back_too_and_their_blocks_are_used_again(
    void **state)
{
	enum { ROWS = 120 * XP_HELD_BLOCK };
	struct xp_held_pool pool = {0};
	struct xp_held h = {0};
	size_t n_blocks = 0;
	(void)state;
	for (int w = 0; w < 3; w++) {
		struct xp_held_mark at = {NULL, 0};
		struct obs_probes is = {0};
		for (uint32_t i = 0; i < ROWS; i++) {
			const struct obs_probe row = usual_row(i);
			assert_ok(
			    xp_held_add(&h, &pool, FROM, &row, test_err()));
		}
		assert_ok(xp_held_next(&h, &pool, FROM, &at, SIZE_MAX, NULL,
		    &is, test_err()));
		assert_int_equal(is.n, ROWS);
		for (uint32_t i = 0; i < ROWS; i++) {
			const struct obs_probe a = usual_row(i),
					       b = obs_probes_at(&is, i);
			assert_same(&a, &b);
		}
		obs_probes_free(&is);
		xp_held_clear(&h, &pool);
		assert_true(w == 0 || pool.n_blocks == n_blocks);
		n_blocks = pool.n_blocks;
	}
	assert_true(n_blocks > 120);
	xp_held_pool_free(&pool);
}

/* Rows of other times may be missing, and those that have no place of their own may
 * not; all that are asked for are there, in order. */
static void of_a_span_of_times_no_row_is_missing(void **state)
{
	const struct obs_probe_span only = {268 * SIM_US + 100,
	    268 * SIM_US + 900};
	struct xp_held_pool pool = {0};
	struct xp_held h = {0};
	struct obs_probes is = {0};
	struct xp_held_mark at = {NULL, 0};
	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		struct obs_probe row = usual_row(i % 1000);
		row.sent_ns = FROM + i;
		if (i % 7 == 0)
			row.level = 16; /* does not fit */
		assert_ok(xp_held_add(&h, &pool, FROM, &row, test_err()));
	}
	while (at.n < h.n)
		assert_ok(xp_held_next(&h, &pool, FROM, &at, 300, &only, &is,
		    test_err()));
	size_t n = 0;
	for (uint32_t i = 0; i < 5000; i++) {
		const int asked = i % 1000 >= 100 && i % 1000 < 900;
		if (asked || i % 7 == 0)
			assert_int_equal(is.sent_ns[n++], FROM + i);
	}
	assert_int_equal(is.n, n);
	xp_held_clear(&h, &pool);
	xp_held_pool_free(&pool);
	obs_probes_free(&is);
}

static int held_fill(void *arg, struct sim_err *e)
{
	struct xp_held_pool pool = {0};
	struct xp_held h = {0};
	int rc = 0;
	(void)arg;
	for (uint32_t i = 0; rc == 0 && i < 3000; i++) {
		struct obs_probe row = usual_row(i);
		row.payload_bytes = i % 50;
		row.level = i % 20; /* some do not fit */
		const size_t n = h.n;
		rc = xp_held_add(&h, &pool, FROM, &row, e);
		assert_int_equal(h.n, n + (rc == 0));
	}
	xp_held_clear(&h, &pool);
	xp_held_pool_free(&pool);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	(void)state;
	test_each_alloc_fails(held_fill, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		every_row_comes_back_as_it_was_in_pieces_of_any_size),
	    cmocka_unit_test(kinds_beyond_the_last_are_kept_too),
	    cmocka_unit_test(
		a_probe_held_takes_20_bytes_and_windows_that_go_give_them_back),
	    cmocka_unit_test(
		many_rows_come_back_too_and_their_blocks_are_used_again),
	    cmocka_unit_test(of_a_span_of_times_no_row_is_missing),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh_held", tests,
	    NULL, NULL);
}
