/* tests/results/rows_test.c -- rows as TSV, CSV and JSON, and a choice of columns.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/rows.h"

#include "tests/test.h"

#define NAME(text) ((struct res_name){.what = (text)})

/* Two rows of four columns; the second names nothing. */
static void tell(struct res_rows *r, int row)
{
	static const char *const text[] = {"plain", "a, \"b\"", "x\ty\r\nz",
	    ""};
	res_rows_number(r, NAME("n"), row ? NAN : 0.1);
	res_rows_text(r, (struct res_name){"it's", ":", "so", "_lo"},
	    text[2 * row]);
	res_rows_text(r, NAME("b,c"), text[2 * row + 1]);
	res_rows_text(r, NAME("last"), row ? NULL : "e");
}

static char *rows_text(enum res_format format, const char *const pattern[],
    size_t n)
{
	struct res_rows r;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	assert_ok(res_rows_open(&r, out, format, test_err()));
	tell(&r, 0);
	assert_ok(res_rows_head(&r, pattern, n));
	for (int row = 0; row < 2; row++) {
		tell(&r, row);
		res_rows_end(&r);
	}
	assert_ok(res_rows_close(&r));
	res_rows_free(&r);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void expect(enum res_format format, const char *const pattern[],
    size_t n, const char *want)
{
	char *text = rows_text(format, pattern, n);
	assert_string_equal(text, want);
	free(text);
}

static void each_format_keeps_its_rules(void **state)
{
	(void)state;
	expect(RES_TSV, NULL, 0,
	    "n\tit's:so_lo\tb,c\tlast\n"
	    "0.1\tplain\ta, \"b\"\te\n"
	    "NaN\tx y  z\t\t\n");
	expect(RES_CSV, NULL, 0,
	    "n,it's:so_lo,\"b,c\",last\n"
	    "0.1,plain,\"a, \"\"b\"\"\",e\n"
	    "NaN,\"x\ty\r\nz\",,\n");
	expect(RES_JSON, NULL, 0,
	    "[\n{\"n\": 0.1, \"it's:so_lo\": \"plain\", \"b,c\": \"a, "
	    "\\\"b\\\"\", \"last\": \"e\"},\n"
	    "{\"n\": null, \"it's:so_lo\": \"x\\ty\\u000d\\nz\", \"b,c\": "
	    "\"\", "
	    "\"last\": null}\n]\n");
}

static void columns_come_as_they_are_asked_for(void **state)
{
	static const char *const pattern[] = {"last", "*:*", "n", "l*"};
	(void)state;
	expect(RES_TSV, pattern, 4,
	    "last\tit's:so_lo\tn\ne\tplain\t0.1\n\tx y  z\tNaN\n");
	expect(RES_JSON, pattern, 1,
	    "[\n{\"last\": \"e\"},\n{\"last\": null}\n]\n");
}

static void no_rows_are_a_head_or_an_empty_array(void **state)
{
	(void)state;
	for (int json = 0; json < 2; json++) {
		struct res_rows r;
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		assert_ok(res_rows_open(&r, out, json ? RES_JSON : RES_CSV,
		    test_err()));
		tell(&r, 0);
		assert_ok(res_rows_head(&r, NULL, 0));
		assert_ok(res_rows_close(&r));
		res_rows_free(&r);
		fclose(out);
		assert_string_equal(text,
		    json ? "[\n]\n" : "n,it's:so_lo,\"b,c\",last\n");
		free(text);
	}
}

static void names_go_before_globs(void **state)
{
	static const char *const name[] = {"a", "a*", "ab", "b[1]", "b1"};
	static const struct {
		const char *pattern[3];
		const char *want; /* indices, or a message */
	} cases[] = {
	    {{"a*"}, "1"},
	    {{"a?"}, "12"},
	    {{"b[1]"}, "3"},
	    {{"b[0-9]"}, "4"},
	    {{"*"}, "01234"},
	    {{"b1", "*1*", "a"}, "430"},
	    {{"a", "c*"}, "no thing matches \"c*\"."},
	    {{"b2"}, "there is no thing \"b2\"; did you mean \"b1\"?"},
	    {{"zzzz"}, "there is no thing \"zzzz\"."},
	    {{""}, "there is no thing \"\"."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const *p = cases[i].pattern;
		size_t chosen[5], n, n_patterns = 0;
		char got[8] = "";
		struct sim_err e;
		while (n_patterns < 3 && p[n_patterns])
			n_patterns++;
		const int rc =
		    res_choose(name, 5, p, n_patterns, "thing", chosen, &n, &e);
		for (size_t k = 0; rc == 0 && k < n; k++)
			snprintf(got + k, 2, "%zu", chosen[k]);
		assert_true(rc == 0 || rc == SIM_EMISMATCH);
		assert_string_equal(rc == 0 ? got : e.msg, cases[i].want);
	}
}

/* What is passed over takes its place among the columns. */
static void what_is_skipped_is_not_written(void **state)
{
	static const char *const pattern[] = {"d", "a"};
	struct res_rows r;
	char *text = NULL;
	size_t size;
	(void)state;
	FILE *out = open_memstream(&text, &size);
	assert_ok(res_rows_open(&r, out, RES_TSV, test_err()));
	for (int row = 0; row < 2; row++) {
		res_rows_number(&r, NAME("a"), 1);
		assert_int_equal(res_rows_skip(&r, 2), row);
		if (row == 0) {
			res_rows_number(&r, NAME("b"), 2);
			res_rows_number(&r, NAME("c"), 3);
		}
		assert_false(res_rows_skip(&r, 1));
		res_rows_number(&r, NAME("d"), 4);
		if (row == 0)
			assert_ok(res_rows_head(&r, pattern, 2));
		else
			res_rows_end(&r);
	}
	assert_ok(res_rows_close(&r));
	res_rows_free(&r);
	fclose(out);
	assert_string_equal(text, "d\ta\n4\t1\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_format_keeps_its_rules),
	    cmocka_unit_test(columns_come_as_they_are_asked_for),
	    cmocka_unit_test(no_rows_are_a_head_or_an_empty_array),
	    cmocka_unit_test(names_go_before_globs),
	    cmocka_unit_test(what_is_skipped_is_not_written),
	};
	return cmocka_run_group_tests_name("results/rows", tests, NULL, NULL);
}
