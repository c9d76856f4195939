/* tests/algos/pingmesh/pinglist_read_test.c -- pinglists with each mistake.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/pinglist_xml.h"
#include "tests/test.h"

enum { MAX_ENTRIES = 40, MAX_BYTES = 1 << 14 };

static struct algo_pinglist_entry entry[MAX_ENTRIES];
static uint32_t work[512];

/* SELF is 10.0.0.1. A copy of just N bytes lets ASan see a read past it. */
static int read_bytes(struct algo_pinglist_doc *d, const char *bytes, size_t n,
    struct sim_err *e)
{
	assert_true(algo_pinglist_xml_work(MAX_ENTRIES) <= 512);
	*d = (struct algo_pinglist_doc){.entry = entry,
	    .work = work,
	    .max_entries = MAX_ENTRIES,
	    .max_bytes = MAX_BYTES};
	char *copy = malloc(n ? n : 1);
	assert_non_null(copy);
	memcpy(copy, bytes, n);
	const int rc =
	    algo_pinglist_xml_read(d, topo_addr_of_host(0), copy, n, e);
	free(copy);
	return rc;
}

static int read_text(struct algo_pinglist_doc *d, const char *text,
    struct sim_err *e)
{
	return read_bytes(d, text, strlen(text), e);
}

#define HEAD(count)                                                            \
	"<pinglist server=\"10.0.0.1\" version=\"0123456789abcdef\" "          \
	"count=\"" count "\">\n"
#define PEER(address, port, class, interval, payload)                          \
	"<peer address=\"" address "\" port=\"" port                           \
	"\" level=\"tor\" class=\"" class "\" interval_s=\"" interval          \
					  "\" payload=\"" payload "\"/>\n"
#define PING(address, payload, ping)                                           \
	"<peer address=\"" address "\" port=\"80\" level=\"tor\" class=\"0\" " \
	"interval_s=\"10\" payload=\"" payload "\" ping=\"" ping "\"/>\n"
#define END  "</pinglist>\n"
#define GOOD PEER("10.0.0.2", "80", "0", "10", "0")

static void refused_for(const char *text, enum algo_pinglist_reason reason)
{
	struct algo_pinglist_doc d;
	struct sim_err e = {0};
	const int rc = read_text(&d, text, &e);
	if (rc != SIM_EPARSE || d.n[reason] != 1 || d.n_entries != 0)
		fail_msg("%d \"%s\" (%s) of: %s", rc, e.msg,
		    algo_pinglist_reasons[reason], text);
	for (int i = 0; i < ALGO_PINGLIST_SELF; i++)
		assert_int_equal(d.n[i], i == (int)reason);
}

static void other_forms_of_the_same_list_are_read(void **state)
{
	static const char *const same[] = {
	    HEAD("1") GOOD END,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>" HEAD("1") GOOD END,
	    "\n\t " HEAD("1") "\r\n" GOOD "\r\n" END "\n \n",
	    "<pinglist\ncount = \"1\"\tversion=\"0123456789abcdef\" "
	    "server=\"10.0.0.1\" ><peer payload=\"0\" interval_s=\"10\"\n"
	    "class=\"0\" level=\"tor\" port=\"80\" address=\"10.0.0.2\" />"
	    "</pinglist>",
	};
	struct algo_pinglist_doc d;
	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_ok(read_text(&d, same[i], test_err()));
		assert_int_equal(d.n_entries, 1);
		assert_true(d.version == 0x0123456789abcdef);
		assert_int_equal(entry[0].address, topo_addr_of_host(1));
		assert_int_equal(entry[0].port, 80);
		assert_int_equal(entry[0].interval_s, 10);
	}
	assert_ok(read_text(&d, HEAD("0") END, test_err()));
	assert_int_equal(d.n_entries, 0);
}

static void what_xml_has_and_a_pinglist_has_not_is_refused(void **state)
{
	static const char *const bad[] = {
	    "<!DOCTYPE pinglist>" HEAD("0") END,
	    "<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;\">]>",
	    "<!-- hello -->" HEAD("0") END,
	    HEAD("0") "<!-- hello -->" END,
	    HEAD("0") "<![CDATA[x]]>" END,
	    HEAD("0") "<?php?>" END,
	    "<?xml version=\"1.0\"?>" HEAD("0") END,
	    "<pinglist server=\"&#49;0.0.0.1\" version=\"0\" count=\"0\">",
	    HEAD("1") PEER("10.0.0.2", "8&amp;", "0", "10", "0") END,
	    HEAD("0") "&lt;" END,
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused_for(bad[i], ALGO_PINGLIST_FORBIDDEN);
}

static void each_prefix_of_a_list_is_refused(void **state)
{
	static const char text[] =
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" HEAD("1") GOOD
	    "</pinglist>";
	struct algo_pinglist_doc d;
	(void)state;
	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		assert_int_equal(read_bytes(&d, text, n, NULL), SIM_EPARSE);
		assert_int_equal(d.n_entries, 0);
		/* Cut within "<?xml" it could be another kind. */
		if (n < 2 || n > 45)
			assert_int_equal(d.n[ALGO_PINGLIST_TRUNCATED], 1);
	}
	assert_ok(read_bytes(&d, text, sizeof(text) - 1, test_err()));
}

/* Every byte replaced by every other: refused, or still within the limits. */
static void a_changed_byte_is_refused_or_harmless(void **state)
{
	char text[] =
	    HEAD("2") GOOD PEER("10.0.0.3", "80", "7", "30", "65536") END;
	struct algo_pinglist_doc d;
	(void)state;
	for (size_t at = 0; at < sizeof(text) - 1; at++) {
		const char was = text[at];
		for (int c = 0; c < 256; c++) {
			text[at] = (char)c;
			const int rc =
			    read_bytes(&d, text, sizeof(text) - 1, NULL);
			assert_true(rc == 0 || d.n_entries == 0);
			for (uint32_t i = 0; i < d.n_entries; i++) {
				assert_true(entry[i].interval_s >= 10);
				assert_true(entry[i].payload <= 65536);
				assert_true(
				    entry[i].address != topo_addr_of_host(0));
			}
		}
		text[at] = was;
	}
}

static void malformed_lists_are_refused(void **state)
{
	static const char *const bad[] = {
	    "no xml at all",
	    "\xef\xbb\xbf" HEAD("0") END,
	    HEAD("0") "text" END,
	    HEAD("0") END "more",
	    HEAD("0") END HEAD("0") END,
	    "<pinglist server='10.0.0.1' version=\"0\" count=\"0\">" END,
	    "<pinglistserver=\"10.0.0.1\" version=\"0\" count=\"0\">" END,
	    HEAD("1") "<peer address=\"10.0.0.2\"port=\"80\" level=\"tor\" "
		      "class=\"0\" interval_s=\"10\" payload=\"0\"/>" END,
	    HEAD("1") "<peer port=\"80\" port=\"80\" level=\"tor\" "
		      "class=\"0\" interval_s=\"10\" payload=\"0\"/>" END,
	    HEAD("1") "<peer address=\"<\"/>" END,
	    HEAD("1") "<peer address=\"10.0.0.2\" port=\"80\" level=\"tor\" "
		      "class=\"0\" interval_s=\"10\" payload=\"0\"></peer>" END,
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused_for(bad[i], ALGO_PINGLIST_MALFORMED);
}

static void unknown_and_missing_things_are_refused(void **state)
{
	(void)state;
	refused_for(HEAD("1") "<peer ttl=\"9\"/>" END, ALGO_PINGLIST_UNKNOWN);
	refused_for("<pinglist ping=\"9\">" END, ALGO_PINGLIST_UNKNOWN);
	refused_for(HEAD("0") "<host/>" END, ALGO_PINGLIST_UNKNOWN);
	refused_for(HEAD("0") HEAD("0") END END, ALGO_PINGLIST_UNKNOWN);
	refused_for("<html/>", ALGO_PINGLIST_UNKNOWN);
	refused_for(HEAD("0") "</pinglists>", ALGO_PINGLIST_UNKNOWN);
	refused_for("<pinglist server=\"10.0.0.1\" count=\"0\">" END,
	    ALGO_PINGLIST_MISSING);
	refused_for(HEAD("1") "<peer/>" END, ALGO_PINGLIST_MISSING);
	refused_for(HEAD("1") "<peer address=\"10.0.0.2\" port=\"80\" "
			      "level=\"tor\" class=\"0\" payload=\"0\"/>" END,
	    ALGO_PINGLIST_MISSING);
}

static void values_that_none_can_be_are_refused(void **state)
{
	static const char *const bad[] = {
	    HEAD("x") END,
	    HEAD("01") END,
	    HEAD("4294967296") END,
	    "<pinglist server=\"10.0.0.1\" version=\"0123456789abcdeF\" "
	    "count=\"0\">" END,
	    "<pinglist server=\"10.0.0.1\" version=\"0123\" count=\"0\">" END,
	    "<pinglist server=\"10.0.0\" version=\"0123456789abcdef\" "
	    "count=\"0\">" END,
	    HEAD("1") PEER("10.0.0.256", "80", "0", "10", "0") END,
	    HEAD("1") PEER("127.0.0.1", "80", "0", "10", "0") END,
	    HEAD("1") PEER("255.255.255.255", "80", "0", "10", "0") END,
	    HEAD("1") PEER("0.0.0.0", "80", "0", "10", "0") END,
	    HEAD("1") PEER("::1", "80", "0", "10", "0") END,
	    HEAD("1") PEER("10.0.0.2", "0", "0", "10", "0") END,
	    HEAD("1") PEER("10.0.0.2", "65536", "0", "10", "0") END,
	    HEAD("1") PEER("10.0.0.2", "80", "8", "10", "0") END,
	    HEAD("1") PEER("10.0.0.2", "80", "0", "-1", "0") END,
	    HEAD("1") PEER("10.0.0.2", "80", "0", "1e9", "0") END,
	    HEAD("1") PEER("10.0.0.2", "80", "0", "", "0") END,
	    HEAD("1") PEER("10.0.0.2", "80", "0", "10", "99999999999") END,
	    HEAD("1") PEER("10.0.0.2", "80", "0", "10",
		"999999999999999999999999999999999999") END,
	    HEAD("1") "<peer address=\"10.0.0.2\" port=\"80\" level=\"to\" "
		      "class=\"0\" interval_s=\"10\" payload=\"0\"/>" END,
	    HEAD("1") PING("10.0.0.2", "0", "udp") END,
	    HEAD("1") PING("10.0.0.2", "0", "HTTP") END,
	    HEAD("1") PING("10.0.0.2", "0", "") END,
	    /* A GET has no payload. */
	    HEAD("1") PING("10.0.0.2", "1", "http") END,
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused_for(bad[i], ALGO_PINGLIST_VALUE);
}

/* Lists from before there were HTTP pings say nothing of pings. */
static void a_ping_is_by_tcp_unless_it_says_http(void **state)
{
	struct algo_pinglist_doc d;
	(void)state;
	assert_ok(read_text(&d,
	    HEAD("6") GOOD PING("10.0.0.3", "9", "tcp") PING("10.0.0.2", "0",
		"http") PING("10.0.0.2", "0", "tcp")
		PING("10.0.0.2", "0", "http") PING("10.0.0.4", "0", "http") END,
	    test_err()));
	static const uint32_t want[][4] = {{1, AGENT_PING_TCP, 0, 20},
	    {2, AGENT_PING_TCP, 9, 10}, {1, AGENT_PING_HTTP, 0, 20},
	    {3, AGENT_PING_HTTP, 0, 10}};
	/* The same ping again is dropped; another kind of one peer is not, and
	 * both together keep the limit of the pair. */
	assert_int_equal(d.n[ALGO_PINGLIST_REPEATED], 2);
	assert_int_equal(d.n_entries, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(entry[i].address,
		    topo_addr_of_host(want[i][0]));
		assert_int_equal(entry[i].ping, want[i][1]);
		assert_int_equal(entry[i].payload, want[i][2]);
		assert_int_equal(entry[i].interval_s, want[i][3]);
	}
}

static void lists_of_others_and_wrong_counts_are_refused(void **state)
{
	(void)state;
	refused_for("<pinglist server=\"10.0.0.2\" "
		    "version=\"0123456789abcdef\" count=\"0\">" END,
	    ALGO_PINGLIST_OTHER);
	refused_for(HEAD("2") GOOD END, ALGO_PINGLIST_COUNT);
	refused_for(HEAD("0") GOOD END, ALGO_PINGLIST_COUNT);
}

static void dropped_and_clamped_entries_are_counted(void **state)
{
	struct algo_pinglist_doc d;
	(void)state;
	assert_ok(read_text(&d,
	    HEAD("6") PEER("10.0.0.1", "80", "0", "10", "0") PEER("10.0.0.2",
		"80", "0", "9", "65537") PEER("10.0.0.2", "80", "0", "99", "1")
		PEER("10.0.0.3", "80", "0", "19", "0")
		    PEER("10.0.0.3", "80", "1", "20", "0")
			PEER("10.0.0.4", "80", "0", "0", "4294967295") END,
	    test_err()));
	assert_int_equal(d.n[ALGO_PINGLIST_SELF], 1);
	assert_int_equal(d.n[ALGO_PINGLIST_REPEATED], 1);
	assert_int_equal(d.n[ALGO_PINGLIST_INTERVAL], 3);
	assert_int_equal(d.n[ALGO_PINGLIST_PAYLOAD], 2);
	assert_int_equal(d.n_entries, 4);
	static const uint32_t want[][2] = {{10, 65536}, {20, 0}, {20, 0},
	    {10, 65536}};
	for (int i = 0; i < 4; i++) {
		assert_int_equal(entry[i].interval_s, want[i][0]);
		assert_int_equal(entry[i].payload, want[i][1]);
	}
}

static size_t list_of(char *text, size_t size, uint32_t n, int same_peer)
{
	size_t at = (size_t)snprintf(text, size,
	    "<pinglist server=\"10.0.0.1\" version=\"0123456789abcdef\" "
	    "count=\"%u\">",
	    n);
	for (uint32_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, size - at,
		    "<peer address=\"10.0.1.%u\" port=\"%u\" level=\"dc\" "
		    "class=\"0\" interval_s=\"10\" payload=\"0\"/>",
		    same_peer ? 0 : i, 80 + i);
	return at + (size_t)snprintf(text + at, size - at, END);
}

static void the_callers_memory_is_the_limit(void **state)
{
	static char text[MAX_BYTES + 1];
	struct algo_pinglist_doc d;
	(void)state;
	list_of(text, sizeof(text), MAX_ENTRIES, 0);
	assert_ok(read_text(&d, text, test_err()));
	assert_int_equal(d.n_entries, MAX_ENTRIES);
	list_of(text, sizeof(text), MAX_ENTRIES + 1, 0);
	refused_for(text, ALGO_PINGLIST_LARGE);
	/* Many entries of one peer: 24 kinds and no more. */
	list_of(text, sizeof(text), MAX_ENTRIES, 1);
	assert_ok(read_text(&d, text, test_err()));
	assert_int_equal(d.n_entries, 24);
	assert_int_equal(d.n[ALGO_PINGLIST_REPEATED], MAX_ENTRIES - 24);
	assert_int_equal(d.n[ALGO_PINGLIST_INTERVAL], 24);
	assert_int_equal(entry[0].interval_s, 240);
	memset(text, ' ', sizeof(text));
	assert_int_equal(read_bytes(&d, text, MAX_BYTES, NULL), SIM_EPARSE);
	assert_int_equal(d.n[ALGO_PINGLIST_TRUNCATED], 1);
	assert_int_equal(read_bytes(&d, text, MAX_BYTES + 1, NULL), SIM_EPARSE);
	assert_int_equal(d.n[ALGO_PINGLIST_LARGE], 1);
}

static void messages_name_the_place(void **state)
{
	struct algo_pinglist_doc d;
	struct sim_err e;
	(void)state;
	read_text(&d, HEAD("1") "  <peer ttl=\"1\"/>" END, &e);
	assert_string_equal(e.msg,
	    "line 2, column 9: an unknown element or attribute (attribute).");
	/* What nobody could mean is not read to its end. */
	for (int n = 39; n <= 40; n++) {
		char text[256];
		sprintf(text, "<pinglist server=\"10.0.0.1\" version=\"%0*d", n,
		    0);
		read_text(&d, text, &e);
		assert_int_equal(n == 40, strstr(e.msg, "too long") != NULL);
		assert_int_equal(d.n[ALGO_PINGLIST_VALUE], n == 40);
	}
}

#define HEAD_6(count)                                                          \
	"<pinglist server=\"fd00::1\" version=\"0123456789abcdef\" "           \
	"count=\"" count "\">\n"

/* The list of fd00::1. */
static int read_6(struct algo_pinglist_doc *d, struct topo_ip_book *b,
    const char *text, struct sim_err *e)
{
	const struct topo_ip self = {{0xfd, [15] = 1}};
	*d = (struct algo_pinglist_doc){.entry = entry,
	    .work = work,
	    .max_entries = MAX_ENTRIES,
	    .max_bytes = MAX_BYTES,
	    .book = b};
	return algo_pinglist_xml_read(d, topo_ip_book_note(b, &self), text,
	    strlen(text), e);
}

/* However an address is written, it is one peer, with one limit. */
static void one_address_is_one_peer(void **state)
{
	struct algo_pinglist_doc d;
	struct topo_ip_book b;
	(void)state;
	assert_ok(topo_ip_book_open(&b, 8, test_err()));
	assert_ok(read_6(&d, &b,
	    HEAD_6("4") PEER("fd00::2", "80", "0", "10", "0")
		PEER("FD00:0:0:0:0:0:0:2", "81", "0", "10", "0")
		    PEER("fd00::0002", "80", "0", "10", "0")
			PEER("fd00:0000:0000:0000:0000:0000:0000:0001", "80",
			    "0", "10", "0") END,
	    test_err()));
	assert_int_equal(d.n_entries, 2);
	assert_int_equal(entry[0].address, entry[1].address);
	assert_int_equal(entry[0].interval_s, 20);
	assert_int_equal(d.n[ALGO_PINGLIST_REPEATED], 1);
	assert_int_equal(d.n[ALGO_PINGLIST_SELF], 1);
	topo_ip_book_close(&b);
}

/* As an agent of this version, or an older one, that has IPv4 meets IPv6. */
static void a_list_is_of_one_family(void **state)
{
	static const struct {
		const char *text;
		enum algo_pinglist_reason why;
	} six[] = {{HEAD_6("1") GOOD END, ALGO_PINGLIST_FAMILY},
	    {HEAD("1") GOOD END, ALGO_PINGLIST_FAMILY},
	    {HEAD_6("1") PEER("fe80::1", "80", "0", "10", "0") END,
		ALGO_PINGLIST_VALUE},
	    {HEAD_6("1") PEER("fd00::2%1", "80", "0", "10", "0") END,
		ALGO_PINGLIST_VALUE},
	    {HEAD_6("1") PEER("::1", "80", "0", "10", "0") END,
		ALGO_PINGLIST_VALUE},
	    {HEAD_6("1") PEER("ff02::1", "80", "0", "10", "0") END,
		ALGO_PINGLIST_VALUE},
	    {HEAD_6("1") PEER("::ffff:10.0.0.2", "80", "0", "10", "0") END,
		ALGO_PINGLIST_VALUE},
	    {HEAD_6("3") PEER("fd00::2", "80", "0", "10", "0")
		    PEER("fd00::3", "80", "0", "10", "0")
			PEER("fd00::4", "80", "0", "10", "0") END,
		ALGO_PINGLIST_LARGE}},
	  four[] = {{HEAD("1") PEER("fd00::2", "80", "0", "10", "0") END,
			ALGO_PINGLIST_FAMILY},
	      {HEAD_6("1") GOOD END, ALGO_PINGLIST_FAMILY},
	      {HEAD("1") PEER("::ffff:10.0.0.2", "80", "0", "10", "0") END,
		  ALGO_PINGLIST_VALUE}};
	struct algo_pinglist_doc d;
	struct sim_err e;
	(void)state;
	for (size_t i = 0; i < sizeof(six) / sizeof(six[0]); i++) {
		struct topo_ip_book b;
		/* Its own, and two. */
		assert_ok(topo_ip_book_open(&b, 3, test_err()));
		assert_int_equal(read_6(&d, &b, six[i].text, &e), SIM_EPARSE);
		if (d.n[six[i].why] != 1 || d.n_entries != 0)
			fail_msg("%zu: %s", i, e.msg);
		topo_ip_book_close(&b);
	}
	for (size_t i = 0; i < sizeof(four) / sizeof(four[0]); i++) {
		assert_int_equal(read_text(&d, four[i].text, &e), SIM_EPARSE);
		if (d.n[four[i].why] != 1)
			fail_msg("%zu: %s", i, e.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(other_forms_of_the_same_list_are_read),
	    cmocka_unit_test(what_xml_has_and_a_pinglist_has_not_is_refused),
	    cmocka_unit_test(each_prefix_of_a_list_is_refused),
	    cmocka_unit_test(a_changed_byte_is_refused_or_harmless),
	    cmocka_unit_test(malformed_lists_are_refused),
	    cmocka_unit_test(unknown_and_missing_things_are_refused),
	    cmocka_unit_test(values_that_none_can_be_are_refused),
	    cmocka_unit_test(a_ping_is_by_tcp_unless_it_says_http),
	    cmocka_unit_test(lists_of_others_and_wrong_counts_are_refused),
	    cmocka_unit_test(dropped_and_clamped_entries_are_counted),
	    cmocka_unit_test(the_callers_memory_is_the_limit),
	    cmocka_unit_test(messages_name_the_place),
	    cmocka_unit_test(one_address_is_one_peer),
	    cmocka_unit_test(a_list_is_of_one_family),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/pinglist_read",
	    tests, NULL, NULL);
}
