/* tests/experiments/report/drawn_test.c -- a table and figures of many files, as HTML.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/page.h"

#include "tests/test.h"

static char page[16384];

static const char *drawn(const struct xp_page_drawn *d)
{
	memset(page, 0, sizeof(page));
	FILE *out = fmemopen(page, sizeof(page), "w");
	assert_non_null(out);
	xp_drawn_put(out, d, "f1");
	assert_int_equal(fclose(out), 0);
	return page;
}

static const struct xp_page_drawn plain = {.path = "p<1>",
    .figure = "fi&g",
    .title = "a \"title\"",
    .about = "what <it> is",
    .says = "it's so",
    .table = "name\tn\tx < y\nrow & one\t1e-3\t2\n",
    .table_note = "note's"};

#define LEAD                                                                   \
	"<article id=\"f1\" aria-labelledby=\"f1-title\">\n"                   \
	"<header><h2 id=\"f1-title\">a &quot;title&quot;</h2>\n"               \
	"<p><code>fi&amp;g</code> &middot; what &lt;it&gt; is</p>\n"           \
	"</header>\n"                                                          \
	"<p>it&#39;s so</p>\n"
#define TABLE                                                                  \
	"<details open><summary>Its numbers</summary>\n"                       \
	"<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\">\n"    \
	"<thead>"
#define TAIL                                                                   \
	"</tbody></table></div>\n"                                             \
	"<p class=\"note\">note&#39;s</p></details>\n"                         \
	"<p class=\"note\">Of <code>p&lt;1&gt;</code>.</p>\n"

/* Nothing of a text is HTML. */
static void a_table_without_figures_is_this(void **state)
{
	(void)state;
	assert_string_equal(drawn(&plain),
	    LEAD TABLE "<tr><th scope=\"col\">name</th>"
		       "<th scope=\"col\" class=\"num\">n</th>"
		       "<th scope=\"col\" class=\"num\">x &lt; y</th></tr>\n"
		       "</thead>\n<tbody>\n"
		       "<tr><td>row &amp; one</td><td class=\"num\">1e-3</td>"
		       "<td class=\"num\">2</td></tr>\n" TAIL);
}

/* What was not measured is a number that has no value; half a number is a text;
 * and a row may be shorter, or end the table without a line's end. */
static void cells_are_numbers_or_texts(void **state)
{
	struct xp_page_drawn d = plain;
	(void)state;
	d.table = "a\tb\tc\nnan\t-nan\t\n1x\t-1.5\ninf\t\tz";
	assert_string_equal(drawn(&d),
	    LEAD TABLE
	    "<tr><th scope=\"col\" class=\"num\">a</th>"
	    "<th scope=\"col\" class=\"num\">b</th>"
	    "<th scope=\"col\">c</th></tr>\n"
	    "</thead>\n<tbody>\n"
	    "<tr><td class=\"num\" data-v=\"\">\xe2\x80\x93</td>"
	    "<td class=\"num\" data-v=\"\">\xe2\x80\x93</td></tr>\n"
	    "<tr><td>1x</td><td class=\"num\">-1.5</td></tr>\n"
	    "<tr><td class=\"num\">inf</td><td></td><td>z</td></tr>\n" TAIL);
	/* Names alone, of no rows. */
	d.table = "a\tb";
	assert_string_equal(drawn(&d),
	    LEAD TABLE "<tr><th scope=\"col\">a</th><th scope=\"col\">b</th>"
		       "</tr>\n</thead>\n<tbody>\n" TAIL);
}

/* A cell has room for 255 bytes. */
static void a_long_text_is_cut(void **state)
{
	char table[600], want[600];
	struct xp_page_drawn d = plain;
	(void)state;
	for (int n = 254; n <= 300; n += n == 256 ? 44 : 1) {
		snprintf(table, sizeof(table), "a\n%0*dx\ty\n", n, 0);
		d.table = table;
		drawn(&d);
		if (n < 255)
			snprintf(want, sizeof(want),
			    "<tr><td>%0*dx</td><td>y</td></tr>", n, 0);
		else
			snprintf(want, sizeof(want),
			    "<tr><td class=\"num\">%0255d</td><td>y</td></tr>",
			    0);
		assert_non_null(strstr(page, want));
	}
}

/* Figures have ids of their own; one that there is not is told why. */
static void figures_stand_before_the_table(void **state)
{
	struct xp_page_drawn d = plain;
	(void)state;
	d.n = 2;
	d.drawing[0].caption = "one & all";
	d.drawing[0].svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" "
			   "viewBox=\"0 0 1 1\"><path id=\"a\" d=\"M0 0\"/>"
			   "<use xlink:href=\"#a\"/></svg>";
	d.drawing[1].caption = "two";
	d.drawing[1].no_svg = "gnuplot < 5";
	drawn(&d);
	static const char *const want[] = {LEAD
	    "<h3 id=\"f1-title0\">one &amp; all</h3>\n"
	    "<div class=\"figure\" role=\"img\" "
	    "aria-labelledby=\"f1-title0\"><svg",
	    "id=\"f1-f0-a\"",
	    "</div>\n<h3 id=\"f1-title1\">two</h3>\n"
	    "<p class=\"note\">There is no drawing: gnuplot &lt; "
	    "5</p>\n" TABLE};
	const char *at = page;
	for (int i = 0; i < 3; i++) {
		const char *found = strstr(at, want[i]);
		if (!found)
			fail_msg("no %s in %s", want[i], page);
		at = found + strlen(want[i]);
	}
	/* One that is refused is told, too. */
	d.drawing[0].svg = "<svg><script/></svg>";
	drawn(&d);
	assert_null(strstr(page, "<script"));
	assert_non_null(strstr(page,
	    "one &amp; all</h3>\n"
	    "<p class=\"note\">There is no drawing: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_table_without_figures_is_this),
	    cmocka_unit_test(cells_are_numbers_or_texts),
	    cmocka_unit_test(a_long_text_is_cut),
	    cmocka_unit_test(figures_stand_before_the_table),
	};
	return cmocka_run_group_tests_name("experiments/report/drawn", tests,
	    NULL, NULL);
}
