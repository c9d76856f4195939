/* tests/experiments_live_world_test.c -- Pingmesh, live, in one deterministic world.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tests/live_world.h says what the world is made of. Its disasters are the steps of
 * a schedule, so what breaks a promise is shrunk to the few that matter. WORLDS=n
 * in the environment lives through n worlds, SCHEDULES_FIRST=k from the k-th.
 * Nothing here is statistical: no false alarms.
 */
#include "tests/folder.h"
#include "tests/live_world.h"
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

static void a_seed_is_a_world(void **state)
{
	uint64_t hash[3];
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct schedule_found f;
		struct schedule_tally tally = {0};
		assert_int_equal(schedule_search(&live_world, test_seed(),
				     i == 2 ? 6 : 5, 1, &f, &tally),
		    0);
		hash[i] = tally.hash;
	}
	assert_true(hash[0] == hash[1]);
	assert_true(hash[0] != hash[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_disaster_breaks_a_promise_of_the_fleet),
	    cmocka_unit_test(a_seed_is_a_world),
	};
	return cmocka_run_group_tests_name("experiments/live/world", tests,
	    set_up, test_folder_remove);
}
