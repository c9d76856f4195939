/* tests/models/netns/icmp_test.c -- counters of the kernel's text, read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/icmp.h"
#include "tests/test.h"

static const char text[] = "Ip: Forwarding OutTimeExcds\nIp: 1 77\n"
			   "Icmp: InMsgs OutTime OutTimeExcds Last\n"
			   "Icmp: 5 6 18446744073709551615 8\n"
			   "IcmpMsg: OutType11\nIcmpMsg: 9\n";

static void a_value_is_that_of_its_group_and_whole_name(void **state)
{
	(void)state;
	assert_true(netns_icmp_value(text, "Icmp: ", "InMsgs") == 5);
	assert_true(netns_icmp_value(text, "Icmp: ", "OutTime") == 6);
	assert_true(
	    netns_icmp_value(text, "Icmp: ", "OutTimeExcds") == UINT64_MAX);
	assert_true(netns_icmp_value(text, "Icmp: ", "Last") == 8);
	assert_true(netns_icmp_value(text, "Ip: ", "OutTimeExcds") == 77);
	assert_true(netns_icmp_value(text, "IcmpMsg: ", "OutType11") == 9);
}

static void what_is_not_there_is_0(void **state)
{
	(void)state;
	assert_true(netns_icmp_value(text, "Icmp: ", "Out") == 0);
	assert_true(netns_icmp_value(text, "Tcp: ", "InMsgs") == 0);
	assert_true(netns_icmp_value("", "Icmp: ", "InMsgs") == 0);
	assert_true(netns_icmp_value("Icmp: A B", "Icmp: ", "A") == 0);
	assert_true(netns_icmp_value("Icmp: A B\nIcmp: 1", "Icmp: ", "B") == 0);
	assert_true(netns_icmp_value("Icmp: A\nTcp: 1\n", "Icmp: ", "A") == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_value_is_that_of_its_group_and_whole_name),
	    cmocka_unit_test(what_is_not_there_is_0),
	};
	return cmocka_run_group_tests_name("models/netns/icmp", tests, NULL,
	    NULL);
}
