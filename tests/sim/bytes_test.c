/* tests/sim/bytes_test.c -- a checksum that takes zeros at a time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/bytes.h"

#include "tests/test.h"

/* As its authors publish it. */
static void it_is_fnv_1a(void **state)
{
	(void)state;
	assert_true(sim_fnv(SIM_FNV_START, "", 0) == SIM_FNV_START);
	assert_true(
	    sim_fnv(SIM_FNV_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(sim_fnv(SIM_FNV_START, "foobar", 6) ==
	    UINT64_C(0x85944171f73967e8));
}

/* Bytes of which so many are zero that words begin with none to eight of
 * them, at any address and of any length, against a byte at a time. */
static void zeros_at_a_time_are_bytes_one_by_one(void **state)
{
	enum { RUNS = 20000, MOST = 64 };
	unsigned n_short = 0;
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		unsigned char bytes[MOST];
		struct sim_rng r;
		test_rng(&r, run);
		const size_t n = sim_rng_below(&r, MOST);
		const size_t at = sim_rng_below(&r, n + 1);
		for (size_t i = 0; i < n; i++)
			bytes[i] = sim_rng_below(&r, 8) == 0
			    ? (unsigned char)sim_rng_below(&r, 256)
			    : 0;
		uint64_t want = run;
		for (size_t i = at; i < n; i++)
			want = (want ^ bytes[i]) * UINT64_C(0x100000001b3);
		if (sim_fnv(run, bytes + at, n - at) != want)
			fail_msg("run %u: %zu bytes at %zu", run, n - at, at);
		if (n - at >= 8 && sim_load_64(bytes + at) << 16 == 0)
			n_short++;
	}
	assert_true(n_short > RUNS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_is_fnv_1a),
	    cmocka_unit_test(zeros_at_a_time_are_bytes_one_by_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
