/* tests/experiments/live/interface_test.c -- interfaces of this host, and claims to them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loopback interface is everywhere.
 */
#include "experiments/live/interface.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <unistd.h>

#include "tests/test.h"

static void the_loopback_is_found(void **state)
{
	struct xp_interface i = {9, 9, 9};
	(void)state;
	assert_ok(xp_interface_find(&i, "lo", test_err()));
	assert_int_equal(i.index, if_nametoindex("lo"));
	assert_int_equal(i.line_bps, 0);
	assert_int_equal(i.no_link, 0);
}

static void what_is_not_there_is_told_with_what_is(void **state)
{
	static const char *const none[] = {"no-such-if", "", "l", "lo2",
	    "a-name-that-is-too-long-for-one"};
	char want[512];
	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct xp_interface x;
		struct sim_err e;
		struct if_nameindex *list = if_nameindex();
		snprintf(want, sizeof(want),
		    "there is no interface \"%s\"; there are: ", none[i]);
		for (size_t k = 0; list[k].if_index > 0; k++)
			snprintf(want + strlen(want),
			    sizeof(want) - strlen(want), "%s%s",
			    k > 0 ? ", " : "", list[k].if_name);
		strcat(want, ".");
		if_freenameindex(list);
		assert_int_equal(xp_interface_find(&x, none[i], &e),
		    SIM_EINVAL);
		/* Of very many the last are cut off. */
		assert_memory_equal(e.msg, want,
		    strlen(want) < 200 ? strlen(want) + 1 : 200);
	}
}

/* By purpose and number, for as long as it is held. */
static void an_interface_has_one_of_a_purpose(void **state)
{
	const uint32_t index = 1000000 + (uint32_t)getpid();
	struct sim_err e;
	int one, other, third, again;
	(void)state;
	assert_ok(xp_interface_claim(&one, "tester", index, test_err()));
	assert_true(one >= 0);
	assert_true(fcntl(one, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(xp_interface_claim(&again, "tester", index, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg, "another tester is at this interface.");
	assert_int_equal(again, -1);
	assert_ok(xp_interface_claim(&other, "taster", index, test_err()));
	assert_ok(xp_interface_claim(&third, "tester", index * 10, test_err()));
	close(one);
	assert_ok(xp_interface_claim(&again, "tester", index, test_err()));
	close(again);
	close(other);
	close(third);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_loopback_is_found),
	    cmocka_unit_test(what_is_not_there_is_told_with_what_is),
	    cmocka_unit_test(an_interface_has_one_of_a_purpose),
	};
	return cmocka_run_group_tests_name("experiments/live/interface", tests,
	    NULL, NULL);
}
