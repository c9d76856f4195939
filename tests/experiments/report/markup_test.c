/* tests/experiments/report/markup_test.c -- text of others in documents.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/markup.h"

#include "experiments/report/reasons.h"
#include "tests/test.h"

static char *marked(const char *text)
{
	struct mark_buffer b;
	assert_ok(mark_open(&b, test_err()));
	mark_text(b.out, text);
	assert_ok(mark_close(&b, 0, test_err()));
	return b.text;
}

static void text_is_text(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
	    {"", ""},
	    {"plain 1.5 %", "plain 1.5 %"},
	    {"<script>alert(1)</script>",
		"&lt;script&gt;alert(1)&lt;/script&gt;"},
	    {"a \"b\" it's & co", "a &quot;b&quot; it&#39;s &amp; co"},
	    {"&lt;", "&amp;lt;"},
	    {"two\nlines\tand", "two\nlines\tand"},
	    {"\x01\x1b[0m\x7f", "\xef\xbf\xbd\xef\xbf\xbd[0m\xef\xbf\xbd"},
	    {"\xff<\xc3\xa4\xc3", "\xef\xbf\xbd&lt;\xc3\xa4\xef\xbf\xbd"},
	    {"\xef\xbf\xbe\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = marked(cases[i].text);
		assert_string_equal(got, cases[i].want);
		free(got);
	}
}

/* Whatever the bytes are, none that could end a text gets through, and what a
 * reader gets back is what was written, but for what cannot be. */
static void no_byte_ends_a_text(void **state)
{
	struct sim_rng r;
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		char text[64];
		test_rng(&r, run);
		const size_t n = sim_rng_below(&r, sizeof(text));
		for (size_t i = 0; i < n; i++)
			text[i] = (char)(1 + sim_rng_below(&r, 255));
		text[n] = '\0';
		char *got = marked(text);
		if (strpbrk(got, "<>\"'"))
			fail_msg("run %u: %s", run, got);
		free(got);
	}
}

static void counts_have_commas(void **state)
{
	static const struct {
		double n;
		const char *want;
	} cases[] = {{0, "0"}, {7, "7"}, {999, "999"}, {1000, "1,000"},
	    {96000, "96,000"}, {-1234567, "-1,234,567"}, {2.5, "2.5"},
	    {NAN, "\xe2\x80\x93"}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mark_buffer b;
		assert_ok(mark_open(&b, test_err()));
		mark_count(b.out, cases[i].n);
		assert_ok(mark_close(&b, 0, test_err()));
		assert_string_equal(b.text, cases[i].want);
		free(b.text);
	}
}

/* --- SVG of others -------------------------------------------------------- */

static int inlined(const char *svg, char **out)
{
	struct mark_buffer b;
	assert_ok(mark_open(&b, test_err()));
	int rc = mark_inline_svg(b.out, svg, "f1-", test_err());
	rc = mark_close(&b, rc, test_err());
	if (rc < 0 || !out)
		free(b.text);
	else
		*out = b.text;
	return rc;
}

static void ids_get_a_prefix_wherever_they_are_meant(void **state)
{
	char *got;
	(void)state;
	assert_ok(inlined(
	    "<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC \"a\" \"b\">\n"
	    "<!-- <b> --><svg xmlns=\"http://www.w3.org/2000/svg\" "
	    "xmlns:xlink='x' width = \"9\">"
	    "<g id='a'><path d='M0,1 &gt;'/></g><use xlink:href='#a' id=\"b\"/>"
	    "<g id='a'/><g id=\"c\"/><rect filter='url(#c)' "
	    "style=\"fill:url(#d);x:url(#e)\"/>"
	    "<image href='data:image/png;base64,AAAA'/>"
	    "<text>#a id='x' &lt;b&gt;</text></svg>",
	    &got));
	assert_string_equal(got,
	    "\n\n<svg width=\"9\">"
	    "<g id='f1-a'><path d='M0,1 &gt;'/></g>"
	    "<use xlink:href='#f1-a'/>"
	    "<g/><g id=\"f1-c\"/><rect filter='url(#f1-c)' "
	    "style=\"fill:url(#f1-d);"
	    "x:url(#f1-e)\"/>"
	    "<image href='data:image/png;base64,AAAA'/>"
	    "<text>#a id='x' &lt;b&gt;</text></svg>");
	free(got);
}

static void what_could_run_or_fetch_is_refused(void **state)
{
	static const char *const bad[] = {
	    "<svg><script>alert(1)</script></svg>",
	    "<svg><SCRIPT/></svg>",
	    "<svg onload=\"alert(1)\"/>",
	    "<svg><g ONclick='x'/></svg>",
	    "<svg><a href='javascript:alert(1)'><text/></a></svg>",
	    "<svg><use href='http://example.org/#a'/></svg>",
	    "<svg><use xlink:href='javascript:1'/></svg>",
	    "<svg><image href='x.png'/></svg>",
	    "<svg><image href='data:text/html,x'/></svg>",
	    "<svg><image href='data:image/svg+xml;base64,AAAA'/></svg>",
	    "<svg><foreignObject/></svg>",
	    "<svg><style>a{}</style></svg>",
	    "<svg><animate attributeName='href'/></svg>",
	    "<svg><rect fill='url(http://example.org)'/></svg>",
	    "<svg><rect style='background:URL( x )'/></svg>",
	    "<svg><rect fill=red/></svg>",
	    "<svg><rect fill='red/></svg>",
	    "<svg><rect fill='a<b'/></svg>",
	    "<svg><!-- ",
	    "<svg><![CDATA[<b>]]></svg>",
	    "<svg><",
	    "<svg",
	    "<svg a",
	    "<svg a=",
	    "<svg a='",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (inlined(bad[i], NULL) != SIM_EPARSE)
			fail_msg("%s is taken", bad[i]);
}

/* --- reasons -------------------------------------------------------------- */

static void sections_are_found_by_the_claims_they_name(void **state)
{
	static const char text[] = "# Head\n\nintro `one`\n\n"
				   "## First (`one`, `two`)\n\nSome `code <b>` "
				   "and\nmore.\n\n    command & co\n\n"
				   "## Second (`three`)\n\nLast.";
	struct mark_buffer b;
	(void)state;
	assert_int_equal(xp_reasons_find(text, "one"), 1);
	assert_int_equal(xp_reasons_find(text, "two"), 1);
	assert_int_equal(xp_reasons_find(text, "three"), 2);
	assert_int_equal(xp_reasons_find(text, "thre"), 0);
	assert_int_equal(xp_reasons_find(text, "four"), 0);
	assert_int_equal(xp_reasons_find("", "four"), 0);
	assert_ok(mark_open(&b, test_err()));
	xp_reasons_put(b.out, text);
	assert_ok(mark_close(&b, 0, test_err()));
	assert_string_equal(b.text,
	    "<section id=\"why-1\"><h4>First (<code>one</code>, "
	    "<code>two</code>)</h4>\n"
	    "<p>Some <code>code &lt;b&gt;</code> and\nmore.\n</p>\n"
	    "<pre>command &amp; co\n</pre>\n</section>\n"
	    "<section id=\"why-2\"><h4>Second (<code>three</code>)</h4>\n"
	    "<p>Last.\n</p>\n</section>\n");
	free(b.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_is_text),
	    cmocka_unit_test(no_byte_ends_a_text),
	    cmocka_unit_test(counts_have_commas),
	    cmocka_unit_test(ids_get_a_prefix_wherever_they_are_meant),
	    cmocka_unit_test(what_could_run_or_fetch_is_refused),
	    cmocka_unit_test(sections_are_found_by_the_claims_they_name),
	};
	return cmocka_run_group_tests_name("experiments/report/markup", tests,
	    NULL, NULL);
}
