/* tests/experiments/live/world_test.c -- Pingmesh, live, in one deterministic world.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tests/rigs/live_world.h says what the world is made of. Its disasters are the steps of
 * a schedule, so what breaks a promise is shrunk to the few that matter. WORLDS=n
 * in the environment lives through n worlds, SCHEDULES_FIRST=k from the k-th.
 * Nothing here is statistical: no false alarms.
 */
#include "tests/rigs/folder.h"
#include "tests/rigs/live_world.h"
#include "tests/test.h"

static int set_up(void **state)
{
	if (test_folder_make(state) < 0)
		return -1;
	if (!world_set_up(test_folder))
		print_message("without GnuTLS no list is signed\n");
	return 0;
}

static void no_disaster_breaks_a_promise_of_the_fleet(void **state)
{
	const char *worlds = getenv("WORLDS");
	(void)state;
	schedule_hold(&live_world, worlds ? (uint32_t)atoi(worlds) : 12);
}

static struct schedule_tally worlds_of(uint32_t first, uint32_t n)
{
	struct schedule_found f;
	struct schedule_tally tally = {0};
	assert_int_equal(schedule_search(&live_world, test_seed(), first, n, &f,
			     &tally),
	    0);
	return tally;
}

static void a_seed_is_a_world(void **state)
{
	const uint64_t one = worlds_of(5, 1).hash;
	(void)state;
	assert_true(worlds_of(5, 1).hash == one);
	assert_true(worlds_of(6, 1).hash != one);
}

/* What stands in for Ed25519 refuses what that refuses, and nothing else: in the
 * first world in which something is refused. */
static void true_signatures_make_the_same_world(void **state)
{
	struct schedule_tally cheap = {0}, real;
	uint32_t run = 0;
	(void)state;
	if (!world_is_signed())
		skip();
	while (cheap.seen[WORLD_REFUSED_LISTS] == 0)
		cheap = worlds_of(run++, 1);
	world_sign_cheaply(0);
	real = worlds_of(run - 1, 1);
	world_sign_cheaply(1);
	assert_memory_equal(&real, &cheap, sizeof(real));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_disaster_breaks_a_promise_of_the_fleet),
	    cmocka_unit_test(a_seed_is_a_world),
	    cmocka_unit_test(true_signatures_make_the_same_world),
	};
	return cmocka_run_group_tests_name("experiments/live/world", tests,
	    set_up, test_folder_remove);
}
