/* tests/topo/addr_test.c -- addresses of links and virtual ones.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"
#include "topo/addr.h"
#include "topo/topo.h"

static void links_read_back_and_no_others(void **state)
{
	const topo_link ids[] = {0, 1, 4159, TOPO_ADDR_MAX_LINKS - 1};
	char text[16];
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const uint32_t ip = topo_addr_of_link(ids[i]);
		assert_int_equal(topo_addr_to_link(ip, ids[i] + 1), ids[i]);
		assert_int_equal(topo_addr_to_link(ip, ids[i]), TOPO_NONE);
	}
	topo_addr_format(topo_addr_of_link(0), text);
	assert_string_equal(text, "100.64.0.0");
	topo_addr_format(topo_addr_of_link(TOPO_ADDR_MAX_LINKS - 1), text);
	assert_string_equal(text, "100.127.255.255");
	assert_int_equal(topo_addr_to_link(0, UINT32_MAX), TOPO_NONE);
	assert_int_equal(topo_addr_to_link(topo_addr_of_link(
					       TOPO_ADDR_MAX_LINKS),
			     UINT32_MAX),
	    TOPO_NONE);
}

static void ranges_do_not_meet(void **state)
{
	const uint32_t ip[] = {topo_addr_of_host(0),
	    topo_addr_of_host(TOPO_ADDR_MAX_HOSTS - 1), topo_addr_of_switch(0),
	    topo_addr_of_switch(TOPO_ADDR_MAX_SWITCHES - 1),
	    topo_addr_of_link(0), topo_addr_of_link(TOPO_ADDR_MAX_LINKS - 1),
	    topo_addr_of_vip(0), topo_addr_of_vip(TOPO_ADDR_MAX_VIPS - 1)};
	(void)state;
	for (size_t i = 0; i < 8; i++) {
		const int host =
		    topo_addr_to_host(ip[i], UINT32_MAX) != TOPO_NONE;
		const int sw =
		    topo_addr_to_switch(ip[i], UINT32_MAX) != TOPO_NONE;
		const int link =
		    topo_addr_to_link(ip[i], UINT32_MAX) != TOPO_NONE;
		assert_int_equal(host, i / 2 == 0);
		assert_int_equal(sw, i / 2 == 1);
		assert_int_equal(link, i / 2 == 2);
		assert_int_equal(topo_addr_is_vip(ip[i]), i / 2 == 3);
	}
	assert_false(topo_addr_is_vip(topo_addr_of_vip(TOPO_ADDR_MAX_VIPS)));
	assert_false(topo_addr_is_vip(topo_addr_of_vip(0) - 1));
}

static void the_link_between_the_ends_of_a_link_is_that_link(void **state)
{
	const struct topo_clos shape = {2, 3, 4, 5, 2, .n_cables = 0};
	struct topo t;
	topo_node a, b;
	(void)state;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	for (topo_link l = 0; l < t.n_links; l++) {
		topo_link_ends(&t, l, &a, &b);
		assert_int_equal(topo_link_between(&t, a, b), l);
	}
	assert_int_equal(topo_link_between(&t, 0, 1), TOPO_NONE);
	assert_int_equal(topo_link_between(&t, t.n_hosts, t.n_hosts + 1),
	    TOPO_NONE);
	topo_close(&t);
}

/* A mask of B bits has B ones, the highest, also where a shift by all 32 would be
 * undefined. */
static void prefixes_read_as_address_and_mask(void **state)
{
	(void)state;
	static const char *const bad[] = {"10.0.0/8", "10.0.0.1/",
	    "10.0.0.1/33", "10.0.0.1/-1", "10.0.0.1/8/8", "/8", ""};
	uint32_t ip, mask;
	char text[64];
	for (unsigned bits = 0; bits <= 32; bits++) {
		snprintf(text, sizeof(text), "10.1.2.3/%u", bits);
		assert_ok(topo_prefix_parse(text, &ip, &mask, test_err()));
		assert_int_equal(ip, 0x0a010203);
		assert_int_equal(mask,
		    (uint32_t) ~(UINT64_C(0xffffffff) >> bits));
	}
	assert_ok(topo_prefix_parse("10.1.2.3", &ip, &mask, test_err()));
	assert_int_equal(mask, UINT32_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(topo_prefix_parse(bad[i], &ip, &mask, NULL) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(links_read_back_and_no_others),
	    cmocka_unit_test(ranges_do_not_meet),
	    cmocka_unit_test(prefixes_read_as_address_and_mask),
	    cmocka_unit_test(the_link_between_the_ends_of_a_link_is_that_link),
	};
	return cmocka_run_group_tests_name("topo/addr", tests, NULL, NULL);
}
