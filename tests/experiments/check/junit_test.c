/* tests/experiments/check/junit_test.c -- JUnit's XML: escapes and structure.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/junit.h"
#include "tests/test.h"

static char *text;
static size_t n_bytes;

static FILE *open_text(void)
{
	FILE *f = open_memstream(&text, &n_bytes);
	assert_non_null(f);
	return f;
}

static void check(FILE *f, const char *want)
{
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, want);
	free(text);
}

#define NO_CHAR "\xef\xbf\xbd"

static void texts_are_what_xml_allows(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
	    {"", ""},
	    {"a <b> & \"c\" 'd'",
		"a &#60;b&#62; &#38; &#34;c&#34; &#39;d&#39;"},
	    {"1\n2\t3\r", "1&#10;2&#9;3&#13;"},
	    {"\x01\x1f\x7f", NO_CHAR NO_CHAR "\x7f"},
	    {"\xc3\xa4 \xe2\x86\x92 \xf0\x9f\x98\x80",
		"\xc3\xa4 \xe2\x86\x92 \xf0\x9f\x98\x80"},
	    {"\xe4!", NO_CHAR "!"},        /* Latin-1 */
	    {"\xe2\x86", NO_CHAR NO_CHAR}, /* cut off */
	    {"\xc0\x80", NO_CHAR NO_CHAR}, /* overlong */
	    {"\xed\xa0\x80", NO_CHAR},     /* a surrogate */
	    {"\xef\xbf\xbe", NO_CHAR},     /* U+FFFE */
	    {"\xf4\x90\x80\x80", NO_CHAR}, /* above U+10FFFF */
	    {"\xff", NO_CHAR},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		FILE *f = open_text();
		xp_junit_escape(f, cases[i].in);
		check(f, cases[i].out);
	}
}

static void a_report_holds_suites_of_cases(void **state)
{
	const struct xp_junit_case good = {.name = "g"};
	const struct xp_junit_case bad = {"b", XP_JUNIT_FAILED, "1 < 2"};
	const struct xp_junit_case error = {"e", XP_JUNIT_ERROR, "why"};
	FILE *f = open_text();
	(void)state;
	xp_junit_begin(f);
	xp_junit_suite(f, "a/b.yaml", 3, 1, 1);
	xp_junit_case(f, "b", &good);
	xp_junit_case(f, "b", &bad);
	xp_junit_case(f, "b", &error);
	xp_junit_suite_end(f);
	xp_junit_end(f);
	check(f,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<testsuites>\n"
	    "  <testsuite name=\"a/b.yaml\" tests=\"3\" failures=\"1\" "
	    "errors=\"1\" skipped=\"0\">\n"
	    "    <testcase classname=\"b\" name=\"g\"/>\n"
	    "    <testcase classname=\"b\" name=\"b\">\n"
	    "      <failure message=\"1 &#60; 2\"/>\n"
	    "    </testcase>\n"
	    "    <testcase classname=\"b\" name=\"e\">\n"
	    "      <error message=\"why\"/>\n"
	    "    </testcase>\n"
	    "  </testsuite>\n"
	    "</testsuites>\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(texts_are_what_xml_allows),
	    cmocka_unit_test(a_report_holds_suites_of_cases),
	};
	return cmocka_run_group_tests_name("experiments/check/junit", tests,
	    NULL, NULL);
}
