/* tests/experiments/live/list_mark_test.c -- marks of lists: their letters and their times.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/list_mark.h"
#include "tests/test.h"

static const char HEX_32[] =
    "00112233445566778899aabbccddeeff0f1e2d3c4b5a69788796a5b4c3d2e1f0";

static void digest_of(unsigned char digest[XP_LIST_DIGEST])
{
	for (int i = 0; i < 16; i++) {
		digest[i] = (unsigned char)(17 * i);
		digest[16 + i] = (unsigned char)(15 + 15 * i);
	}
}

static void what_is_signed_is_said_in_these_words(void **state)
{
	unsigned char digest[XP_LIST_DIGEST];
	char out[XP_LIST_STATEMENT], want[XP_LIST_STATEMENT];
	struct topo_ip ip;
	(void)state;
	digest_of(digest);
	snprintf(want, sizeof(want),
	    "culprit pinglist 1\nissued 1763894400\nsha256 %s\n", HEX_32);
	assert_int_equal(xp_list_mark_statement(out, 1763894400, digest),
	    strlen(want));
	assert_string_equal(out, want);
	/* The longest have room. */
	assert_true(xp_list_mark_statement(out, UINT64_MAX, digest) <
	    XP_LIST_STATEMENT);
	strcpy(want,
	    "culprit no pinglist 1\nissued 1763894400\naddress 10.0.0.17\n");
	assert_int_equal(xp_list_none_statement(out, 1763894400,
			     topo_ip_of_4(0x0a000011)),
	    strlen(want));
	assert_string_equal(out, want);
	assert_ok(topo_ip_parse("2001:db8:1111:2222:3333:4444:5555:6666", &ip,
	    test_err()));
	assert_true(
	    xp_list_none_statement(out, UINT64_MAX, ip) < XP_LIST_STATEMENT);
	assert_non_null(strstr(out,
	    "\nissued 18446744073709551615\naddress "
	    "2001:db8:1111:2222:3333:4444:5555:6666\n"));
}

static void a_mark_is_a_form_a_time_and_a_signature(void **state)
{
	struct xp_list_mark m = {.issued_s = 7}, got = {.issued_s = 1};
	char text[XP_LIST_MARK], want[XP_LIST_MARK];
	struct sim_err e;
	(void)state;
	digest_of(m.signature);
	digest_of(m.signature + 32);
	xp_list_mark_put(text, &m);
	snprintf(want, sizeof(want), "1 7 %s%s", HEX_32, HEX_32);
	assert_string_equal(text, want);
	assert_ok(xp_list_mark_take(&got, text, test_err()));
	assert_int_equal(got.issued_s, 7);
	assert_memory_equal(got.signature, m.signature, XP_LIST_SIGNATURE);
	static const char *const before[] = {"2 7 ", "1  7 ", "1 7  ", " 1 7 ",
	    "1 -7 ", "1 18446744073709551616 ", "1 7x ", "1 07 ", "1 "};
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		got.issued_s = 99;
		snprintf(want, sizeof(want), "%s%s%s", before[i], HEX_32,
		    HEX_32);
		assert_int_equal(xp_list_mark_take(&got, want, &e), SIM_EPARSE);
		assert_string_equal(e.msg,
		    "its signature is not of the form that signatures have");
		/* It stays as it was. */
		assert_int_equal(got.issued_s, 99);
	}
}

static void that_there_is_none_is_believed_for_an_hour(void **state)
{
	static const uint64_t now = 1000000;
	struct sim_err e;
	(void)state;
	assert_ok(xp_list_none_judge(now, now, test_err()));
	assert_ok(xp_list_none_judge(now - XP_LIST_NONE_S, now, test_err()));
	assert_ok(xp_list_none_judge(now + XP_LIST_NONE_S, now, test_err()));
	assert_int_equal(xp_list_none_judge(now - XP_LIST_NONE_S - 1, now, &e),
	    SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "that there is none was said at 996399 s, 3601 s from now");
	assert_int_equal(xp_list_none_judge(now + XP_LIST_NONE_S + 1, now, &e),
	    SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "that there is none was said at 1003601 s, 3601 s from now");
	assert_int_equal(xp_list_none_judge(UINT64_MAX, 0, NULL),
	    SIM_EMISMATCH);
}

static void the_newest_is_told_when_one_is_refused(void **state)
{
	unsigned char one[XP_LIST_DIGEST] = {1}, other[XP_LIST_DIGEST] = {2};
	struct xp_list_newest n = {0};
	struct sim_err e;
	(void)state;
	assert_ok(xp_list_mark_judge(&n, 500, one, 1000, test_err()));
	assert_int_equal(n.issued_s, 500);
	assert_memory_equal(n.digest, one, XP_LIST_DIGEST);
	assert_int_equal(xp_list_mark_judge(&n, 499, other, 1000, &e),
	    SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "it is an older one, issued at 499 s, 1 s before the one that was "
	    "had");
	assert_int_equal(n.issued_s, 500);
	assert_memory_equal(n.digest, one, XP_LIST_DIGEST);
	/* The same bytes do not make it older. */
	assert_ok(xp_list_mark_judge(&n, 400, one, 1000, test_err()));
	assert_int_equal(n.issued_s, 500);
	assert_ok(xp_list_mark_judge(&n, 500, other, 1000, test_err()));
	assert_memory_equal(n.digest, other, XP_LIST_DIGEST);
	assert_int_equal(xp_list_mark_judge(&n, 1000 + XP_LIST_AHEAD_S + 1, one,
			     1000, &e),
	    SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "it was issued at 4601 s, which is 3601 s from now");
	assert_memory_equal(n.digest, other, XP_LIST_DIGEST);
}

/* A time server told agents and controllers the year 2107 for a while. */
static void one_of_the_future_bars_nobody_once_clocks_are_right(void **state)
{
	unsigned char one[XP_LIST_DIGEST] = {1}, other[XP_LIST_DIGEST] = {2};
	const uint64_t wrong = UINT64_C(4323456000), now = UINT64_C(1790000000);
	struct xp_list_newest n = {0};
	struct sim_err e;
	(void)state;
	assert_ok(xp_list_mark_judge(&n, wrong, one, wrong + 60, test_err()));
	/* While its own clock is wrong, it is the newest. */
	assert_int_equal(xp_list_mark_judge(&n, now, other,
			     wrong - XP_LIST_AHEAD_S, &e),
	    SIM_EMISMATCH);
	assert_int_equal(n.issued_s, wrong);
	assert_ok(xp_list_mark_judge(&n, now, other,
	    wrong - XP_LIST_AHEAD_S - 1, test_err()));
	assert_int_equal(n.issued_s, now);
	assert_memory_equal(n.digest, other, XP_LIST_DIGEST);
	/* The same bytes, issued anew, are as new as that. */
	n.issued_s = wrong;
	assert_ok(xp_list_mark_judge(&n, now, other, now, test_err()));
	assert_int_equal(n.issued_s, now);
	/* From then on older ones do not come back. */
	assert_int_equal(xp_list_mark_judge(&n, now - 1, one, now, &e),
	    SIM_EMISMATCH);
}

/* Who has an older list needs a clock that is set back to between the two: to one
 * that begins in 1970 all lists are of the future. */
static void a_clock_that_begins_in_1970_takes_nothing(void **state)
{
	unsigned char one[XP_LIST_DIGEST] = {1}, other[XP_LIST_DIGEST] = {2};
	struct xp_list_newest n = {.issued_s = 1790000000};
	struct sim_err e;
	(void)state;
	memcpy(n.digest, one, XP_LIST_DIGEST);
	for (uint64_t now = 0; now < 1000000; now += 1000)
		for (uint64_t at = 1780000000; at <= 1790000000; at += 5000000)
			assert_int_equal(xp_list_mark_judge(&n, at, other, now,
					     &e),
			    SIM_EMISMATCH);
	assert_int_equal(n.issued_s, 1790000000);
}

static void what_is_kept_of_it_has_one_form(void **state)
{
	struct xp_list_newest n = {.issued_s = 12}, got = {.issued_s = 1};
	char text[XP_LIST_NEWEST], want[XP_LIST_NEWEST];
	struct sim_err e;
	(void)state;
	digest_of(n.digest);
	snprintf(want, sizeof(want),
	    "newest pinglist 1\nissued 12\nsha256 %s\n", HEX_32);
	/* The end of the line is no digit of the sum. */
	assert_int_equal(xp_list_newest_put(text, &n), strlen(want));
	assert_string_equal(text, want);
	assert_ok(xp_list_newest_take(&got, text, test_err()));
	assert_int_equal(got.issued_s, 12);
	assert_memory_equal(got.digest, n.digest, XP_LIST_DIGEST);
	static const char *const bad[] = {"", "newest pinglist 1\nissued 12\n",
	    "newest pinglist 2\nissued 12\nsha256 ", "sha256 ",
	    "newest pinglist 1\nissued 012\nsha256 ",
	    "newest pinglist 1\nissued 12 \nsha256 "};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		got.issued_s = 99;
		snprintf(want, sizeof(want), "%s%s\n", bad[i], HEX_32);
		assert_int_equal(xp_list_newest_take(&got, want, &e),
		    SIM_EPARSE);
		assert_string_equal(e.msg, "it does not tell of a newest list");
		assert_int_equal(got.issued_s, 99);
	}
	strcat(text, "\n");
	assert_int_equal(xp_list_newest_take(&got, text, &e), SIM_EPARSE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_signed_is_said_in_these_words),
	    cmocka_unit_test(a_mark_is_a_form_a_time_and_a_signature),
	    cmocka_unit_test(that_there_is_none_is_believed_for_an_hour),
	    cmocka_unit_test(the_newest_is_told_when_one_is_refused),
	    cmocka_unit_test(
		one_of_the_future_bars_nobody_once_clocks_are_right),
	    cmocka_unit_test(a_clock_that_begins_in_1970_takes_nothing),
	    cmocka_unit_test(what_is_kept_of_it_has_one_form),
	};
	return cmocka_run_group_tests_name("experiments/live/list_mark", tests,
	    NULL, NULL);
}
