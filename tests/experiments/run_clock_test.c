/* tests/experiments/run_clock_test.c -- which runs are whole, and when they were.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/run_clock.h"

#include <time.h>

#include "tests/test.h"

#define SPAN (2 * SIM_SEC)

/* All clocks go on by DT. */
static struct xp_run_clock clocks_after(struct xp_run_clock c, sim_ns dt)
{
	c.steady += dt;
	c.tai += dt;
	return c;
}

static const struct xp_run_clock told = {.steady = 1000 * SIM_SEC,
    .tai = 1770000037 * SIM_SEC};

static void times_are_shifted(void **state)
{
	(void)state;
	const sim_ns t = told.steady - 3 * SIM_SEC;
	assert_int_equal(xp_run_clock_tai(&told, t), told.tai - 3 * SIM_SEC);
	/* What came while clocks were read came now; later is later. */
	assert_int_equal(xp_run_clock_tai(&told, told.steady + 900), told.tai);
	assert_int_equal(xp_run_clock_tai(&told, told.steady + SIM_SEC),
	    told.tai + SIM_SEC);
}

static void a_run_is_whole_once_its_span_is_over(void **state)
{
	(void)state;
	const sim_ns first = told.steady + SIM_SEC;
	struct xp_run_clock now = clocks_after(told, 3 * SIM_SEC);
	assert_true(xp_run_clock_is_whole(&told, &now, first, SPAN));
	now = clocks_after(told, 3 * SIM_SEC - 1);
	assert_false(xp_run_clock_is_whole(&told, &now, first, SPAN));
	/* Without a packet it lasts from when it was armed. */
	now = clocks_after(told, SPAN);
	assert_true(xp_run_clock_is_whole(&told, &now, 0, SPAN));
	now = clocks_after(told, SPAN / 2);
	assert_false(xp_run_clock_is_whole(&told, &now, 0, SPAN));
	/* A start that is still to come, of a clock that went back. */
	now = clocks_after(told, SPAN);
	assert_false(xp_run_clock_is_whole(&told, &now, now.steady + 1, SPAN));
}

/* TAI is set, ahead and back. A run is whole when its buckets have passed, whatever
 * TAI says, and none before. */
static void a_clock_that_is_set_moves_no_bucket(void **state)
{
	(void)state;
	static const int64_t by[] = {SIM_MS, -(int64_t)SIM_MS, 37000000000,
	    -37000000000, 3600000000000};
	const sim_ns first = told.steady + 1;
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		struct xp_run_clock now = clocks_after(told, SPAN + 1);
		now.tai += (sim_ns)by[i];
		assert_true(xp_run_clock_is_whole(&told, &now, first, SPAN));
		now = clocks_after(told, SPAN);
		now.tai += (sim_ns)by[i];
		assert_false(xp_run_clock_is_whole(&told, &now, first, SPAN));
	}
}

/* A kernel that does not know TAI says UTC; either way hosts agree. A minute is
 * for a machine that was stopped in between. */
static void tai_is_before_utc_by_37_seconds(void **state)
{
	(void)state;
	struct timespec t;
	struct xp_run_clock c;
	assert_int_equal(clock_gettime(CLOCK_REALTIME, &t), 0);
	const sim_ns utc = (sim_ns)t.tv_sec * SIM_SEC + (sim_ns)t.tv_nsec;
	xp_run_clock_read(&c);
	assert_true(c.guessed == 0 || c.guessed == XP_RUN_CLOCK_TAI);
	assert_in_range(c.tai - utc, 30 * SIM_SEC, 97 * SIM_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(times_are_shifted),
	    cmocka_unit_test(a_run_is_whole_once_its_span_is_over),
	    cmocka_unit_test(a_clock_that_is_set_moves_no_bucket),
	    cmocka_unit_test(tai_is_before_utc_by_37_seconds),
	};
	return cmocka_run_group_tests_name("experiments/run_clock", tests, NULL,
	    NULL);
}
