/* tests/sim/sort_test.c -- keys are sorted, and equal ones stay in order.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/sort.h"

#include "tests/test.h"

enum { RUNS = 200, MOST = 3000 };

static uint64_t draw(struct sim_rng *r)
{
	return (uint64_t)sim_rng_u32(r) << 32 | sim_rng_u32(r);
}

/* The slow way: each goes behind the last one that is not greater. */
static void insert_all(uint64_t x[], size_t n, unsigned from)
{
	for (size_t i = 1; i < n; i++) {
		const uint64_t key = x[i];
		size_t k = i;
		for (; k > 0 && x[k - 1] >> from > key >> from; k--)
			x[k] = x[k - 1];
		x[k] = key;
	}
}

/* Widths are any, so that some digits are alike in all keys, and keys of few
 * bits are equal many times. */
static void keys_are_as_insertion_has_them(void **state)
{
	static uint64_t x[MOST], want[MOST], spare[MOST];
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		const size_t n = sim_rng_below(&r, run < 20 ? 4 : MOST);
		const unsigned from = sim_rng_below(&r, 64);
		const unsigned lost = sim_rng_below(&r, 64);
		const uint64_t over = draw(&r) & draw(&r);
		for (size_t i = 0; i < n; i++)
			want[i] = x[i] = (draw(&r) >> lost) | over;
		insert_all(want, n, from);
		sim_sort_keys(x, spare, n, from);
		for (size_t i = 0; i < n; i++)
			if (x[i] != want[i])
				fail_msg("run %u: key %zu of %zu, from bit %u",
				    run, i, n, from);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keys_are_as_insertion_has_them),
	};
	return cmocka_run_group_tests_name("sim/sort", tests, NULL, NULL);
}
