/* tests/topo/ip_test.c -- addresses of both families, their texts and networks.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The oracle of texts is the C library's inet_pton() and inet_ntop().
 */
#include <arpa/inet.h>

#include "tests/test.h"
#include "topo/addr.h"
#include "topo/ip.h"

static struct topo_ip ip_of(const char *text)
{
	struct topo_ip a;
	assert_ok(topo_ip_parse(text, &a, test_err()));
	return a;
}

/* What RFC 4291 2.2 and RFC 5952 4 have as examples, and their corners. */
static void each_text_has_one_form(void **state)
{
	static const char *const forms[][2] = {{"::", "::"}, {"::1", "::1"},
	    {"1::", "1::"}, {"0:0:0:0:0:0:0:0", "::"},
	    {"2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"},
	    {"2001:db8:0000:0000:0008:0800:200c:417a",
		"2001:db8::8:800:200c:417a"},
	    {"FF01:0:0:0:0:0:0:101", "ff01::101"},
	    /* One group of zeros is no run; of two runs, the longer; of equal
	     * ones, the first. */
	    {"2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
	    {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
	    {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
	    {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
	    {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
	    {"1:0:0:4:5:6:0:0", "1::4:5:6:0:0"},
	    {"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
	    {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
	    {"::13.1.68.3", "::d01:4403"},
	    {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	    {"10.0.0.1", "10.0.0.1"}, {"255.255.255.255", "255.255.255.255"},
	    {"0.0.0.0", "0.0.0.0"}};
	char text[TOPO_IP_TEXT];
	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct topo_ip a = ip_of(forms[i][0]);
		topo_ip_format(&a, text);
		assert_string_equal(text, forms[i][1]);
	}
}

static void what_is_no_address_is_refused_and_changes_nothing(void **state)
{
	static const char *const bad[] = {"", ":", ":::", "1", "1:", ":1",
	    "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
	    "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1::2:3:4:5:6:7:8",
	    "12345::", "00001::", "g::", "::1 ", " ::1", "[::1]", "::1/64",
	    "fe80::1%eth0", "fe80::1%", "%1", "::1.2.3", "::1.2.3.4.5",
	    "::1.2.3.4:5", "1.2.3.4::", "::01.2.3.4", "::256.1.1.1",
	    "1:2:3:4:5:6:7:1.2.3.4", "::-1", "::0x1",
	    "1:2:3:4:5:6:7:8:", "::ffff:10.0.0.1", "::ffff:0a00:1",
	    "0:0:0:0:0:FFFF:1:1", "10.0.0", "010.0.0.1", "10.0.0.1.", "a.b.c.d",
	    "1:2:3:4:5:6:7:"};
	const struct topo_ip was = ip_of("fd00::7");
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct topo_ip a = was;
		struct sim_err e = {0};
		if (topo_ip_parse(bad[i], &a, &e) != SIM_EINVAL)
			fail_msg("\"%s\" is taken", bad[i]);
		assert_true(strstr(e.msg, bad[i]) != NULL);
		assert_true(topo_ip_same(&a, &was));
	}
}

/* Of what is IPv4 as IPv6 alone we know better. */
static void random_texts_are_what_the_c_library_says(void **state)
{
	static const char letters[] = "0123456789abcdefF::::::::..";
	struct sim_rng rng;
	unsigned n_good = 0;
	(void)state;
	test_rng(&rng, 0);
	for (unsigned run = 0; run < 200000; run++) {
		char text[24] = "";
		struct topo_ip a;
		struct in6_addr six;
		const uint32_t n = 2 + sim_rng_below(&rng, 14);
		for (uint32_t i = 0; i < n; i++)
			text[i] =
			    letters[sim_rng_below(&rng, sizeof(letters) - 1)];
		if (!strchr(text, ':'))
			continue;
		int want = inet_pton(AF_INET6, text, &six) == 1;
		if (want && IN6_IS_ADDR_V4MAPPED(&six))
			want = 0;
		const int got = topo_ip_parse(text, &a, NULL) == 0;
		if (got != want || (got && memcmp(a.byte, &six, 16) != 0))
			fail_msg("run %u: \"%s\" is taken: %d, not %d", run,
			    text, got, want);
		n_good += (unsigned)got;
	}
	/* One in 40 or so is an address: with fewer nothing was compared. */
	assert_true(n_good > 1000);
}

static void what_is_written_reads_back_as_the_c_library_writes_it(void **state)
{
	struct sim_rng rng;
	(void)state;
	test_rng(&rng, 1);
	for (unsigned run = 0; run < 20000; run++) {
		char text[TOPO_IP_TEXT], want[INET6_ADDRSTRLEN];
		struct topo_ip a, back;
		/* Half of the groups are 0, as runs of these are the trick. */
		for (int i = 0; i < 16; i += 2) {
			const uint32_t x = sim_rng_below(&rng, 2)
			    ? sim_rng_below(&rng, 65536)
			    : 0;
			a.byte[i] = (uint8_t)(x >> 8);
			a.byte[i + 1] = (uint8_t)x;
		}
		topo_ip_format(&a, text);
		inet_ntop(AF_INET6, a.byte, want, sizeof(want));
		/* It writes those that may be IPv4 with dots. */
		if (!strchr(want, '.') && strcmp(text, want) != 0)
			fail_msg("run %u: %s, not %s", run, text, want);
		assert_ok(topo_ip_parse(text, &back, test_err()));
		assert_true(topo_ip_same(&a, &back));
	}
}

static void ipv4_is_as_it_was(void **state)
{
	static const uint32_t some[] = {0, 1, 0x0a000001, 0x7f000001,
	    0xc0000201, UINT32_MAX};
	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		char text[TOPO_IP_TEXT], want[16];
		const struct topo_ip a = topo_ip_of_4(some[i]);
		assert_true(topo_ip_is_4(&a));
		assert_int_equal(topo_ip_to_4(&a), some[i]);
		topo_ip_format(&a, text);
		topo_addr_format(some[i], want);
		assert_string_equal(text, want);
		const struct topo_ip back = ip_of(text);
		assert_true(topo_ip_same(&a, &back));
		/* In order of bytes as in that of numbers. */
		if (i > 0) {
			const struct topo_ip b = topo_ip_of_4(some[i - 1]);
			assert_true(memcmp(b.byte, a.byte, 16) < 0);
		}
		assert_int_equal(topo_ip_hash(&a), some[i]);
	}
	const struct topo_ip six = ip_of("::2");
	assert_false(topo_ip_is_4(&six));
}

static void ports_stand_behind_brackets(void **state)
{
	char text[TOPO_IP_PORT_TEXT];
	const struct topo_ip six =
	    ip_of("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
	const struct topo_ip four = topo_ip_of_4(0x0a000001);
	(void)state;
	topo_ip_format_port(&six, 65535, text);
	assert_string_equal(text,
	    "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
	topo_ip_format_port(&four, 80, text);
	assert_string_equal(text, "10.0.0.1:80");
}

static int has(const char *net, const char *a)
{
	struct topo_ip_net n;
	const struct topo_ip ip = ip_of(a);
	assert_ok(topo_ip_net_parse(net, &n, test_err()));
	return topo_ip_net_has(&n, &ip);
}

/* By counting bits that are alike, one by one. */
static void a_network_has_those_that_begin_as_it_does(void **state)
{
	struct sim_rng rng;
	(void)state;
	test_rng(&rng, 2);
	for (unsigned run = 0; run < 20000; run++) {
		struct topo_ip_net net;
		char text[64];
		struct topo_ip a, b;
		for (int i = 0; i < 16; i++)
			a.byte[i] = (uint8_t)sim_rng_below(&rng, 256);
		b = a;
		const uint32_t flip = sim_rng_below(&rng, 128),
			       bits = sim_rng_below(&rng, 129);
		b.byte[flip / 8] ^= (uint8_t)(0x80 >> flip % 8);
		topo_ip_format(&a, text);
		snprintf(text + strlen(text), 8, "/%u", bits);
		assert_ok(topo_ip_net_parse(text, &net, test_err()));
		assert_true(topo_ip_net_has(&net, &a));
		if (topo_ip_net_has(&net, &b) != (flip >= bits))
			fail_msg("run %u: %s, bit %u", run, text, flip);
	}
	assert_true(has("10.0.0.0/8", "10.255.255.255"));
	assert_false(has("10.0.0.0/8", "11.0.0.0"));
	assert_true(has("10.0.0.1", "10.0.0.1"));
	assert_false(has("10.0.0.1", "10.0.0.0"));
}

/* Or ::/0 would let through what 10.0.0.0/8 keeps out. */
static void no_network_has_addresses_of_both_families(void **state)
{
	(void)state;
	assert_true(has("::/0", "fd00::1"));
	assert_false(has("::/0", "10.0.0.1"));
	assert_true(has("0.0.0.0/0", "10.0.0.1"));
	assert_false(has("0.0.0.0/0", "::1"));
	assert_false(has("0.0.0.0/0", "::10.0.0.1"));
	assert_false(has("::/96", "10.0.0.1"));
}

static void lengths_are_of_the_family(void **state)
{
	static const char *const bad[] = {"10.0.0.0/33", "10.0.0.0/-1",
	    "fd00::/129", "fd00::/", "fd00::/064", "fd00::/64/64", "/64",
	    "::ffff:0:0/96", "fe80::%eth0/64", "fd00::1%eth0", "10.0.0/8"};
	struct topo_ip_net net;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (topo_ip_net_parse(bad[i], &net, NULL) >= 0)
			fail_msg("\"%s\" is taken", bad[i]);
}

static void probes_go_to_hosts_alone(void **state)
{
	static const char *const good[] = {"10.0.0.1", "198.18.0.1", "fd00::1",
	    "2001:db8::1", "2a00::", "fe00::1", "1::"},
				 *const bad[] = {"0.0.0.1", "127.0.0.1",
				     "224.0.0.1", "255.255.255.255",
				     "::", "::1", "::10.0.0.1", "fe80::1",
				     "febf::1", "fec0::1", "ff02::1",
				     "64:ff9b::a00:1", "2002:a00:1::1",
				     "2001::1"};
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct topo_ip a = ip_of(good[i]);
		if (!topo_ip_is_target(&a))
			fail_msg("%s is refused", good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct topo_ip a = ip_of(bad[i]);
		if (topo_ip_is_target(&a))
			fail_msg("%s is taken", bad[i]);
	}
}

static void hosts_of_a_network_read_back_and_no_others(void **state)
{
	static const uint32_t some[] = {0, 1, 255, 256, 65535,
	    TOPO_ADDR_MAX_HOSTS - 1};
	struct topo_ip_net net;
	char text[TOPO_IP_TEXT];
	(void)state;
	assert_ok(topo_ip_net_parse("fd00:1::/64", &net, test_err()));
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		struct topo_ip a = topo_ip_of_host(&net, some[i]);
		assert_int_equal(topo_ip_to_host(&net, &a, UINT32_MAX),
		    some[i]);
		assert_int_equal(topo_ip_to_host(&net, &a, some[i]), TOPO_NONE);
		a.byte[8] ^= 1; /* in the network, but beyond all hosts */
		assert_true(topo_ip_net_has(&net, &a));
		assert_int_equal(topo_ip_to_host(&net, &a, UINT32_MAX),
		    TOPO_NONE);
	}
	const struct topo_ip first = topo_ip_of_host(&net, 0);
	topo_ip_format(&first, text);
	assert_string_equal(text, "fd00:1::1");
	assert_int_equal(topo_ip_to_host(&net, &net.first, UINT32_MAX),
	    TOPO_NONE);
	const struct topo_ip four = topo_ip_of_4(1);
	assert_int_equal(topo_ip_to_host(&net, &four, UINT32_MAX), TOPO_NONE);
}

/* Two of one hash cost a step more, and that is all; but hosts that are numbered
 * in a row, in either half, are not to meet. */
static void neighbours_hash_apart(void **state)
{
	uint8_t seen[1 << 14] = {0};
	struct topo_ip a = ip_of("fd00::");
	unsigned n_met = 0;
	(void)state;
	for (unsigned i = 0; i < 4096; i++) {
		a.byte[i % 2 ? 14 : 6] = (uint8_t)(i >> 9);
		a.byte[i % 2 ? 15 : 7] = (uint8_t)(i >> 1);
		uint8_t *x = &seen[topo_ip_hash(&a) % sizeof(seen)];
		n_met += *x;
		*x = 1;
	}
	/* Of 4096 at random some 470 met; there is nothing random in it. */
	assert_true(n_met < 700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_text_has_one_form),
	    cmocka_unit_test(what_is_no_address_is_refused_and_changes_nothing),
	    cmocka_unit_test(random_texts_are_what_the_c_library_says),
	    cmocka_unit_test(
		what_is_written_reads_back_as_the_c_library_writes_it),
	    cmocka_unit_test(ipv4_is_as_it_was),
	    cmocka_unit_test(ports_stand_behind_brackets),
	    cmocka_unit_test(a_network_has_those_that_begin_as_it_does),
	    cmocka_unit_test(no_network_has_addresses_of_both_families),
	    cmocka_unit_test(lengths_are_of_the_family),
	    cmocka_unit_test(probes_go_to_hosts_alone),
	    cmocka_unit_test(hosts_of_a_network_read_back_and_no_others),
	    cmocka_unit_test(neighbours_hash_apart),
	};
	return cmocka_run_group_tests_name("topo/ip", tests, NULL, NULL);
}
