/* tests/results/json_test.c -- texts and numbers as JSON.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/json.h"

#include "tests/rigs/json.h"
#include "tests/test.h"

/* What was printed to OUT, which is closed. */
static const char *printed(FILE *out)
{
	static char text[512];
	rewind(out);
	text[fread(text, 1, sizeof(text) - 1, out)] = '\0';
	fclose(out);
	return text;
}

static void assert_escaped(const char *text, const char *want)
{
	char quoted[512];
	FILE *out = tmpfile();
	res_json_escape(out, text);
	assert_string_equal(printed(out), want);
	out = tmpfile();
	res_json_text(out, text);
	snprintf(quoted, sizeof(quoted), "\"%s\"", want);
	assert_string_equal(printed(out), quoted);
	assert_true(json_is_whole(quoted));
}

static void what_json_has_no_room_for_is_escaped(void **state)
{
	(void)state;
	assert_escaped("", "");
	assert_escaped("plain /text", "plain /text");
	assert_escaped("a \"b\" c\\d", "a \\\"b\\\" c\\\\d");
	assert_escaped("\"", "\\\"");
	assert_escaped("1\n2\t3", "1\\n2\\t3");
	assert_escaped("\x01\x1f \x7f~", "\\u0001\\u001f \\u007f~");
	assert_escaped("\r", "\\u000d");
	/* 2, 3 and 4 bytes; U+FFFD as it is, and bytes that are no UTF-8. */
	assert_escaped("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
	    "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	assert_escaped("\xef\xbf\xbd", "\xef\xbf\xbd");
	assert_escaped("a\xff"
		       "b\xc3",
	    "a\\ufffdb\\ufffd");
}

static void numbers_have_the_fewest_digits_or_are_null(void **state)
{
	(void)state;
	static const struct {
		double x;
		const char *want;
	} of[] = {{0, "0"}, {0.1, "0.1"}, {-2.5, "-2.5"}, {NAN, "null"},
	    {INFINITY, "null"}, {-INFINITY, "null"}, {1.0 / 3, NULL},
	    {5e-324, NULL}, {1.7976931348623157e308, NULL}};
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		FILE *out = tmpfile();
		res_json_number(out, of[i].x);
		const char *text = printed(out);
		assert_true(json_is_whole(text));
		if (of[i].want)
			assert_string_equal(text, of[i].want);
		else
			assert_true(strtod(text, NULL) == of[i].x);
	}
}

static void members_follow_others(void **state)
{
	(void)state;
	FILE *out = tmpfile();
	fputs("{\"a\": 1", out);
	res_json_text_of(out, "b", "x\"y");
	res_json_number_of(out, "c", 0.5);
	res_json_number_of(out, "d", NAN);
	putc('}', out);
	assert_string_equal(printed(out),
	    "{\"a\": 1, \"b\": \"x\\\"y\", \"c\": 0.5, \"d\": null}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_json_has_no_room_for_is_escaped),
	    cmocka_unit_test(numbers_have_the_fewest_digits_or_are_null),
	    cmocka_unit_test(members_follow_others),
	};
	return cmocka_run_group_tests_name("results/json", tests, NULL, NULL);
}
