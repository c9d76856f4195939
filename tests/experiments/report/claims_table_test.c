/* tests/experiments/report/claims_table_test.c -- rows of claims as HTML, whole.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/page.h"

#include "tests/test.h"

static char html[16384];

static const char *row(const struct xp_claim *c, const struct xp_finding *f,
    const char *figure_id, unsigned reason)
{
	memset(html, 0, sizeof(html));
	FILE *out = fmemopen(html, sizeof(html), "w");
	assert_non_null(out);
	xp_page_claim(out, c, f, figure_id, reason);
	assert_int_equal(fclose(out), 0);
	return html;
}

static const struct xp_claim claim = {.figure = "f<1>",
    .text = "says & so",
    .metric = "recall",
    .algorithm = "vote",
    .printed = "96 %",
    .certainty = XP_HIGH,
    .relation = XP_AT_LEAST,
    .value = 0.96};

static void a_claim_with_one_reading_is_this(void **state)
{
	struct xp_case one = {.by = {{.verdict = XP_AGREES,
				  .ours = 0.97125,
				  .lo = 0.96,
				  .hi = 0.98,
				  .n_points = 1,
				  .where = "nowhere"}}};
	struct xp_finding f = {.verdict = {XP_AGREES},
	    .n_readings = 1,
	    .n_cases = 1,
	    .cases = &one};
	struct xp_claim c = claim;
	(void)state;
	assert_string_equal(row(&c, &f, NULL, 3),
	    "<tr data-verdict=\"agrees\"><th scope=\"row\">f&lt;1&gt;</th>"
	    "<td>says &amp; so<br><small>unconfirmed; <code>recall</code> of "
	    "vote</small></td>"
	    "<td class=\"num\" data-v=\"0.96\">&gt;= 96 %</td>"
	    "<td class=\"num\" data-v=\"0.97125\">0.9712<br>"
	    "<small>[0.96, 0.98]</small></td>"
	    "<td><span class=\"verdict agrees\">agrees</span></td>"
	    "<td class=\"num\" data-v=\"\"></td></tr>\n");

	/* What differs leads to its reasons; of several points the worst is
	 * told. */
	strcpy(c.minus, "alg1");
	strcpy(c.note, "a \"note\"");
	*c.metric = *c.printed = '\0';
	c.certainty = XP_STATED;
	c.relation = XP_WORDS;
	f.verdict[0] = one.by[0].verdict = XP_DIFFERS;
	one.by[0].ours = NAN;
	one.by[0].n_points = 3;
	one.by[0].n_outside = 2;
	strcpy(one.by[0].where, "n < 3");
	assert_string_equal(row(&c, &f, "f-1", 3),
	    "<tr data-verdict=\"differs\"><th scope=\"row\">"
	    "<a href=\"#f-1\">f&lt;1&gt;</a></th>"
	    "<td>says &amp; so<br><small>stated in the paper of vote less "
	    "that of alg1</small><span class=\"remark\">a &quot;note&quot; "
	    "<a href=\"#why-3\">why it differs</a></span></td>"
	    "<td class=\"num\" data-v=\"\">in words</td>"
	    "<td class=\"num\" data-v=\"\">0.96 to 0.98"
	    "<br><small>at n &lt; 3</small>"
	    "<br><small>2 of 3 points differ</small></td>"
	    "<td><span class=\"verdict differs\">DIFFERS</span></td>"
	    "<td class=\"num\" data-v=\"\"></td></tr>\n");
	*c.note = *c.minus = '\0';
	strcpy(c.per, "cover");
	c.certainty = XP_MEASURED;
	one.by[0].n_outside = 0;
	row(&c, &f, NULL, 0);
	assert_null(strstr(html, "remark"));
	assert_null(strstr(html, "points differ"));
	assert_non_null(strstr(html, "another simulator's"));
	assert_non_null(strstr(html, " of vote over that of cover"));
	row(&c, &f, NULL, 1);
	assert_non_null(strstr(html,
	    "<span class=\"remark\"><a href=\"#why-1\">why it differs"));
	strcpy(f.why, "no file");
	f.verdict[0] = one.by[0].verdict = XP_NOT_RUN;
	row(&c, &f, NULL, 1);
	assert_non_null(
	    strstr(html, "<span class=\"remark\">no file</span></td>"));
	assert_non_null(strstr(html, "<tr data-verdict=\"other\">"));
	assert_non_null(strstr(html, "<td class=\"num\" data-v=\"\"></td>"));
}

/* Many cases stand behind their range, in both readings. */
static void cases_stand_behind_their_range(void **state)
{
	const struct xp_reading a = {.verdict = XP_AGREES,
				    .ours = 0.5,
				    .lo = 0.4,
				    .hi = 0.6,
				    .n_points = 1},
				b = {.verdict = XP_DEPENDS,
				    .ours = 0.25,
				    .lo = 0.2,
				    .hi = 0.3,
				    .n_points = 1};
	struct xp_case two[] = {{.guess = "n < 1", .by = {a, b}},
	    {.guess = "n 2", .by = {b, b}}};
	struct xp_finding f = {.verdict = {XP_DEPENDS, XP_UNDECIDED},
	    .n_readings = 2,
	    .n_cases = 2,
	    .cases = two};
	(void)state;
	row(&claim, &f, NULL, 0);
	const char *want =
	    "<td class=\"num\" data-v=\"0.5\">"
	    "<details class=\"cases\"><summary>0.25 to 0.5 <span>2 cases"
	    "</span></summary><small>n &lt; 1:</small> 0.5<br>"
	    "<small>[0.4, 0.6]</small><br><small>n 2:</small> 0.25<br>"
	    "<small>[0.2, 0.3]</small></details></td>"
	    "<td><span class=\"verdict depends\">depends</span></td>"
	    "<td class=\"num\" data-v=\"0.25\">"
	    "<span class=\"verdict undecided\">undecided</span>"
	    "<details class=\"cases\"><summary>0.25 to 0.25 <span>2 cases"
	    "</span></summary><small>n &lt; 1:</small> 0.25<br>"
	    "<small>[0.2, 0.3]</small><br><small>n 2:</small> 0.25<br>"
	    "<small>[0.2, 0.3]</small></details></td></tr>\n";
	const char *at = strstr(html, "<td class=\"num\" data-v=\"0.5\">");
	assert_non_null(at);
	assert_string_equal(at, want);
	f.n_cases = 1;
	row(&claim, &f, NULL, 0);
	assert_non_null(strstr(html,
	    "<td class=\"num\" data-v=\"0.25\"><span class=\"verdict "
	    "undecided\">undecided</span><br>0.25<br>"
	    "<small>[0.2, 0.3]</small></td></tr>\n"));
}

static void claims_are_counted_by_verdict(void **state)
{
	size_t n[XP_N_CLAIM_VERDICTS] = {0};
	(void)state;
	n[XP_AGREES] = 3;
	n[XP_DIFFERS] = 2;
	n[XP_UNDECIDED] = 1;
	n[XP_NOT_RUN] = 4;
	for (int all = 1; all >= 0; all--) {
		memset(html, 0, sizeof(html));
		n[XP_NOT_RUN] = all ? 4 : 0;
		FILE *out = fmemopen(html, sizeof(html), "w");
		assert_non_null(out);
		xp_page_claims(out, "ROWS", n, all ? "## no title" : NULL);
		assert_int_equal(fclose(out), 0);
		assert_non_null(strstr(html,
		    all ? "data-verdict=\"\">all 10</button>\n<button "
			  "type=\"button\" data-verdict=\"agrees\"><span "
			  "class=\"verdict agrees\">agrees</span> 3</button>\n"
			: "data-verdict=\"\">all 6</button>\n"));
		assert_non_null(strstr(html,
		    "<span class=\"verdict differs\">differs</span> 2"
		    "</button>\n<button type=\"button\" "
		    "data-verdict=\"undecided\"><span class=\"verdict "
		    "undecided\">undecided</span> 1</button>\n"));
		assert_null(strstr(html, "data-verdict=\"depends\""));
		assert_true(!!strstr(html,
				"data-verdict=\"other\">no comparison 4"
				"</button>\n") == all);
		assert_non_null(
		    strstr(html, "<tbody>\nROWS</tbody></table></div>\n"));
		assert_true(!!strstr(html, "<details class=\"why\">") == all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_claim_with_one_reading_is_this),
	    cmocka_unit_test(cases_stand_behind_their_range),
	    cmocka_unit_test(claims_are_counted_by_verdict),
	};
	return cmocka_run_group_tests_name("experiments/report/claims_table",
	    tests, NULL, NULL);
}
