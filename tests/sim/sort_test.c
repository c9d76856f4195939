/* tests/sim/sort_test.c -- keys are sorted, and equal ones stay in order.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/sort.h"

#include <stdlib.h>

#include "tests/test.h"

enum { RUNS = 200, FEW = 3000, MOST = 50000, RUNS_OF_MANY = 12 };

static uint64_t draw(struct sim_rng *r)
{
	return (uint64_t)sim_rng_u32(r) << 32 | sim_rng_u32(r);
}

/* Keys with their places, by the C library. */
struct placed {
	uint64_t key;
	size_t at;
	unsigned from;
};

static int by_key_and_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	const uint64_t p = x->key >> x->from, q = y->key >> y->from;
	return p != q ? (p > q) - (p < q) : (x->at > y->at) - (x->at < y->at);
}

/* Widths are any, so that some digits are alike in all keys, and keys of few
 * bits are equal many times. */
static void assert_sorted(uint32_t run, size_t most)
{
	static uint64_t x[MOST], spare[MOST];
	static struct placed want[MOST];
	struct sim_rng r;
	test_rng(&r, run);
	const size_t n = sim_rng_below(&r, (uint32_t)most);
	const unsigned from = sim_rng_below(&r, 64);
	const unsigned lost = sim_rng_below(&r, 64);
	const uint64_t over = draw(&r) & draw(&r);
	for (size_t i = 0; i < n; i++) {
		x[i] = (draw(&r) >> lost) | over;
		want[i] = (struct placed){x[i], i, from};
	}
	qsort(want, n, sizeof(want[0]), by_key_and_place);
	sim_sort_keys(x, spare, n, from);
	for (size_t i = 0; i < n; i++)
		if (x[i] != want[i].key)
			fail_msg("run %u: key %zu of %zu, from bit %u", run, i,
			    n, from);
}

static void keys_are_in_order_and_equal_ones_in_their_own(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++)
		assert_sorted(run, run < 20 ? 4 : FEW);
}

/* Their digits are of more bits. */
static void many_keys_are(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < RUNS_OF_MANY; run++)
		assert_sorted(RUNS + run, MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keys_are_in_order_and_equal_ones_in_their_own),
	    cmocka_unit_test(many_keys_are),
	};
	return cmocka_run_group_tests_name("sim/sort", tests, NULL, NULL);
}
