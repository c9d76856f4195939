/* tests/models/obs_mirror_test.c -- tables of copies are checked.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_mirror.h"

#include "tests/test.h"

enum { N_SWITCHES = 10, N_LINKS = 40 };

static struct obs_copy good(uint64_t t)
{
	return (struct obs_copy){.t_ns = t,
	    .node = 9,
	    .in_link = 39,
	    .layer = OBS_MAX_OUTER,
	    .outer_src = 1,
	    .outer_dst = 2,
	    .kind = OBS_N_COPY_KINDS - 1};
}

static void check_fails(const struct obs_copy *c, const char *want)
{
	struct obs_mirror m = {0};
	struct sim_err e = {0};
	const struct obs_copy before = good(5);
	assert_ok(obs_mirror_add(&m, &before, test_err()));
	assert_ok(obs_mirror_check(&m, N_SWITCHES, N_LINKS, test_err()));
	assert_ok(obs_mirror_add(&m, c, test_err()));
	assert_int_equal(obs_mirror_check(&m, N_SWITCHES, N_LINKS, &e),
	    want ? SIM_EINVAL : 0);
	if (want)
		assert_string_equal(e.msg, want);
	obs_mirror_free(&m);
}

static void each_value_has_its_bound(void **state)
{
	(void)state;
	struct obs_copy c = good(5);
	check_fails(&c, NULL);
	c.in_link = TOPO_NONE;
	check_fails(&c, NULL);
	c.in_link = 40;
	check_fails(&c,
	    "row 1 came by link 40, but there are only 40, and "
	    "4294967295 is unknown.");
	c = good(5);
	c.node = 10;
	check_fails(&c, "row 1 is of switch 10, but there are only 10.");
	c = good(5);
	c.kind = OBS_N_COPY_KINDS;
	check_fails(&c, "row 1 has kind 7, which is not in [0, 6].");
	c = good(5);
	c.layer = OBS_MAX_OUTER + 1;
	check_fails(&c, "row 1 has 5 outer headers, which is not in [0, 4].");
	c = good(5);
	c.layer = 0;
	check_fails(&c,
	    "row 1 has no outer header, yet the outer addresses "
	    "0.0.0.1 and 0.0.0.2.");
	c.outer_src = c.outer_dst = 0;
	check_fails(&c, NULL);
	c = good(4);
	check_fails(&c, "row 1 came at 4 ns, before row 0 at 5 ns.");
}

static void what_a_packet_says_is_a_good_copy(void **state)
{
	(void)state;
	const struct obs_packet p = {.ethertype = OBS_ETH_CONTROL,
	    .pfc_classes = 8,
	    .pfc_quanta = 65535,
	    .ack = 7};
	struct obs_mirror m = {0};
	const struct obs_copy c = obs_copy_of(&p);
	assert_int_equal(c.flags, 8);
	assert_int_equal(c.ack, 65535);
	assert_int_equal(c.proto, 0);
	assert_ok(obs_mirror_add(&m, &c, test_err()));
	assert_ok(obs_mirror_check(&m, 1, 0, test_err()));
	assert_int_equal(obs_mirror_check(&m, 0, 0, NULL), SIM_EINVAL);
	obs_mirror_free(&m);
	assert_ok(obs_mirror_check(&m, 0, 0, test_err()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_value_has_its_bound),
	    cmocka_unit_test(what_a_packet_says_is_a_good_copy),
	};
	return cmocka_run_group_tests_name("models/obs_mirror", tests, NULL,
	    NULL);
}
