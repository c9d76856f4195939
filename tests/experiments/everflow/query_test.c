/* tests/experiments/everflow/query_test.c -- targets of HTTP, taken apart.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/query.h"
#include "tests/test.h"

static struct xp_query q; /* too large for a stack */

static void assert_reads(const char *target)
{
	assert_ok(xp_query_read(&q, target, test_err()));
}

static void assert_refuses(const char *target, int rc, const char *says)
{
	struct sim_err e;
	assert_int_equal(xp_query_read(&q, target, &e), rc);
	assert_string_equal(e.msg, says);
}

static void assert_value(const char *key, const char *value)
{
	const char *got = xp_query_value(&q, key);
	assert_non_null(got);
	assert_string_equal(got, value);
}

static void a_target_is_a_path_and_pairs(void **state)
{
	(void)state;
	assert_reads("/a%20b+c?x=1&y=&z=p=q&");
	assert_string_equal(q.path, "/a%20b+c");
	assert_int_equal(q.n, 3);
	assert_value("x", "1");
	assert_value("y", "");
	assert_value("z", "p=q");
	assert_null(xp_query_value(&q, "a"));
	/* Nothing is left of the one before. */
	assert_reads("/b");
	assert_string_equal(q.path, "/b");
	assert_int_equal(q.n, 0);
	assert_null(xp_query_value(&q, "x"));
	assert_reads("/c?");
	assert_string_equal(q.path, "/c");
	assert_int_equal(q.n, 0);
	assert_reads("?k=v");
	assert_string_equal(q.path, "");
	assert_value("k", "v");
}

static void each_byte_but_zero_can_be_escaped(void **state)
{
	static const char *const digits[] = {"0123456789abcdef",
	    "0123456789ABCDEF"};
	char target[32], want[3] = "";
	(void)state;
	for (int c = 1; c < 256; c++)
		for (int upper = 0; upper < 2; upper++) {
			snprintf(target, sizeof(target),
			    "/?xx=%%%c%cy&%%%c%c=+", digits[upper][c >> 4],
			    digits[!upper][c & 15], digits[upper][c >> 4],
			    digits[upper][c & 15]);
			assert_reads(target);
			want[0] = (char)c;
			want[1] = 'y';
			assert_value("xx", want);
			want[1] = '\0';
			assert_value(want, " ");
		}
}

static void an_escape_is_two_digits(void **state)
{
	/* The neighbours of digits, and ends. */
	static const char *const bad[] = {"%/0", "%:0", "%@0", "%G0", "%`0",
	    "%g0", "%0/", "%0:", "%0@", "%0G", "%0`", "%0g", "%", "%1", "%00",
	    "%%31", "a%2"};
	char target[32];
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		for (int in_key = 0; in_key < 2; in_key++) {
			snprintf(target, sizeof(target),
			    in_key ? "/?%s=v" : "/?k=%s", bad[i]);
			assert_refuses(target, SIM_EINVAL,
			    "a percent sign is followed by two hexadecimal "
			    "digits that are not both 0; it is written %25 "
			    "itself.");
		}
}

static void what_is_no_pair_is_refused(void **state)
{
	(void)state;
	assert_refuses("/?key", SIM_EINVAL,
	    "\"key\" is no parameter; KEY=VALUE is one.");
	assert_refuses("/?=v", SIM_EINVAL,
	    "\"\" is no parameter; KEY=VALUE is one.");
	assert_refuses("/?a=1&&b=2", SIM_EINVAL,
	    "\"\" is no parameter; KEY=VALUE is one.");
	assert_refuses("/?a=1&b=2&a=1", SIM_EINVAL,
	    "parameter \"a\" stands twice.");
	/* Names are compared as they are meant. */
	assert_refuses("/?a=1&%61=2", SIM_EINVAL,
	    "parameter \"a\" stands twice.");
}

static void there_is_room_for_what_is_stated(void **state)
{
	static char target[XP_QUERY_BYTES + 2];
	char pairs[256] = "/?", key[16];
	(void)state;
	memset(target, 'x', XP_QUERY_BYTES);
	assert_reads(target);
	assert_int_equal(strlen(q.path), XP_QUERY_BYTES);
	target[XP_QUERY_BYTES] = 'x';
	assert_refuses(target, SIM_ELIMIT, "a target of 16385 bytes.");
	for (int i = 0; i < XP_QUERY_MOST; i++)
		snprintf(pairs + strlen(pairs), 32, "k%d=%d&", i, 100 + i);
	assert_reads(pairs);
	assert_int_equal(q.n, XP_QUERY_MOST);
	for (int i = 0; i < XP_QUERY_MOST; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		assert_int_equal(atoi(xp_query_value(&q, key)), 100 + i);
	}
	strcat(pairs, "more=1");
	assert_refuses(pairs, SIM_ELIMIT, "more than 16 parameters.");
}

static void parameters_are_those_of_a_page(void **state)
{
	static const char *const words[] = {"first", "second", NULL};
	struct sim_err e;
	(void)state;
	assert_reads("/page?first=1&second=2");
	assert_ok(xp_query_check(&q, words, test_err()));
	assert_reads("/page?second=2");
	assert_ok(xp_query_check(&q, words, test_err()));
	assert_reads("/page");
	assert_ok(xp_query_check(&q, words, test_err()));
	assert_reads("/page?first=1&secnod=2");
	assert_int_equal(xp_query_check(&q, words, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "\"secnod\" is no parameter of /page; did you mean \"second\"?");
	assert_reads("/page?zzzzzzz=2");
	assert_int_equal(xp_query_check(&q, words, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "\"zzzzzzz\" is no parameter of /page.");
}

static void times_are_read_or_stay(void **state)
{
	struct sim_err e = {0};
	sim_ns t = 7;
	(void)state;
	assert_reads("/?from=1.5m&bad=1&huge=1e9d");
	assert_ok(xp_query_time(&q, "to", &t, test_err()));
	assert_int_equal(t, 7);
	assert_int_equal(xp_query_time(&q, "from", &t, &e), 0);
	assert_int_equal(t, 90 * SIM_SEC);
	assert_string_equal(e.msg, "");
	assert_int_equal(xp_query_time(&q, "bad", &t, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "bad: \"1\" is no time; write a number and ns, us, ms, s, m, h or "
	    "d: 150us.");
	assert_int_equal(t, 90 * SIM_SEC);
}

static void numbers_are_read_within_their_ends(void **state)
{
	struct sim_err e;
	uint64_t n = 7;
	(void)state;
	assert_reads("/?least=3&most=9&below=2&above=10&no=x&zero=0");
	assert_ok(xp_query_number(&q, "absent", 3, 9, &n, test_err()));
	assert_int_equal(n, 7);
	/* Nor does one that is not there have to be within them. */
	assert_ok(xp_query_number(&q, "absent", 8, 9, &n, test_err()));
	assert_ok(xp_query_number(&q, "least", 3, 9, &n, test_err()));
	assert_int_equal(n, 3);
	assert_ok(xp_query_number(&q, "most", 3, 9, &n, test_err()));
	assert_int_equal(n, 9);
	assert_int_equal(xp_query_number(&q, "below", 3, 9, &n, &e),
	    SIM_ERANGE);
	assert_string_equal(e.msg, "below: 2 is not in [3, 9].");
	assert_int_equal(xp_query_number(&q, "above", 3, 9, &n, &e),
	    SIM_ERANGE);
	assert_string_equal(e.msg, "above: 10 is not in [3, 9].");
	assert_int_equal(n, 9);
	assert_ok(xp_query_number(&q, "zero", 0, 9, &n, test_err()));
	assert_int_equal(n, 0);
	assert_int_equal(xp_query_number(&q, "no", 3, 9, &n, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "no: \"x\" is not a whole number.");
}

static void words_are_told_by_their_places(void **state)
{
	static const char *const words[] = {"rows", "json", "count", NULL};
	struct sim_err e;
	unsigned at = 9;
	char target[32];
	(void)state;
	for (unsigned i = 0; words[i]; i++) {
		snprintf(target, sizeof(target), "/?format=%s", words[i]);
		assert_reads(target);
		assert_ok(xp_query_word(&q, "format", words, &at, test_err()));
		assert_int_equal(at, i);
	}
	assert_ok(xp_query_word(&q, "other", words, &at, test_err()));
	assert_int_equal(at, 0);
	assert_reads("/?format=jsno");
	at = 9;
	assert_int_equal(xp_query_word(&q, "format", words, &at, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "format: there is no \"jsno\"; did you mean \"json\"?");
	assert_int_equal(at, 0);
	assert_reads("/?format=zzzzzzz");
	assert_int_equal(xp_query_word(&q, "format", words, &at, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg, "format: there is no \"zzzzzzz\".");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_target_is_a_path_and_pairs),
	    cmocka_unit_test(each_byte_but_zero_can_be_escaped),
	    cmocka_unit_test(an_escape_is_two_digits),
	    cmocka_unit_test(what_is_no_pair_is_refused),
	    cmocka_unit_test(there_is_room_for_what_is_stated),
	    cmocka_unit_test(parameters_are_those_of_a_page),
	    cmocka_unit_test(times_are_read_or_stay),
	    cmocka_unit_test(numbers_are_read_within_their_ends),
	    cmocka_unit_test(words_are_told_by_their_places),
	};
	return cmocka_run_group_tests_name("experiments/everflow/query", tests,
	    NULL, NULL);
}
