/* tests/experiments/cmd/roff_test.c -- text as mdoc(7), letter by letter.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/roff.h"

#include "tests/test.h"

static char page[8192];

static const char *roff(const char *text)
{
	*page = '\0';
	FILE *out = fmemopen(page, sizeof(page), "w");
	assert_non_null(out);
	cmd_roff_text(out, text);
	assert_int_equal(fclose(out), 0);
	return page;
}

static const char *word(const char *text)
{
	*page = '\0';
	FILE *out = fmemopen(page, sizeof(page), "w");
	assert_non_null(out);
	cmd_roff_word(out, text, strlen(text));
	assert_int_equal(fclose(out), 0);
	return page;
}

/* --- words ---------------------------------------------------------------- */

static void letters_that_roff_would_change_are_escaped(void **state)
{
	(void)state;
	assert_string_equal(word("a\\b-c^d~e'f\"g`h"),
	    "a\\eb\\-c\\(had\\(tie\\(aqf\\(dqg\\(gah");
	assert_string_equal(roff("a\\b-c^d~e'f\"g h"),
	    "a\\eb\\-c\\(had\\(tie\\(aqf\\(dqg h\n");
	assert_string_equal(word(""), "");
	assert_string_equal(roff(""), "");
}

/* Macros have two or three letters, of which the first is a capital; any word may
 * be one, not the first alone. */
static void words_that_could_be_macros_are_marked(void **state)
{
	static const char *const t[][2] = {{"Ar", "\\&Ar"}, {"A", "\\&A"},
	    {"Abc", "\\&Abc"}, {"Abcd", "Abcd"}, {"abc", "abc"},
	    {".x", "\\&.x"}, {"x.", "x."}, {"a Nm b", "a \\&Nm b"},
	    {"long Word Ab", "long Word \\&Ab"}, {"a.b c.d", "a.b c.d"},
	    {"a .b", "a \\&.b"}, {"XYZ Long", "\\&XYZ Long"}};
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(word(t[i][0]), t[i][1]);
}

/* --- paragraphs ----------------------------------------------------------- */

/* Words of N letters; a line is full at 72 columns with its end. */
static void lines_are_of_72_columns(void **state)
{
	(void)state;
	for (size_t n = 1; n < 73; n++) {
		char text[512] = "", want[512] = "";
		size_t column = 0;
		for (int i = 0; i < 5; i++) {
			if (i > 0)
				strcat(text, " ");
			if (column > 0 && column + 1 + n < 72) {
				strcat(want, " ");
				column += 1 + n;
			} else {
				strcat(want, i > 0 ? "\n" : "");
				column = n;
			}
			for (size_t k = 0; k < n; k++) {
				strcat(text, "x");
				strcat(want, "x");
			}
		}
		strcat(want, "\n");
		assert_string_equal(roff(text), want);
	}
}

/* What is escaped is as wide as it is written. */
static void escapes_count_in_a_line(void **state)
{
	(void)state;
	assert_string_equal(roff("------------------ ------------------ x"),
	    "\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\n"
	    "\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\-\\- x\n");
}

static void each_sentence_ends_its_line(void **state)
{
	(void)state;
	assert_string_equal(roff("One. Two! Three? Four: five; e.g. this."),
	    "One.\nTwo!\nThree?\nFour: five; e.g. this.\n");
	assert_string_equal(roff("(So.) \"Ha!\" 'No?' `x.` 3.5 f.g. end"),
	    "(So.)\n\\(dqHa!\\(dq\n\\&\\(aqNo?\\(aq\n\\fBx.\\fP\n3.5 f.g.\n"
	    "end\n");
	assert_string_equal(roff(") x"), ") x\n");
}

/* A full stop or a quote at a line's begin would be a request. */
static void a_line_does_not_begin_with_a_request(void **state)
{
	(void)state;
	assert_string_equal(roff(".gp and .svg"), "\\&.gp and .svg\n");
	assert_string_equal(roff("Go. .gp"), "Go.\n\\&.gp\n");
}

static void backquotes_are_bold(void **state)
{
	(void)state;
	assert_string_equal(roff("see `culprit run` for `x`, too"),
	    "see \\fBculprit run\\fP for \\fBx\\fP, too\n");
}

static void an_empty_line_parts_paragraphs(void **state)
{
	(void)state;
	assert_string_equal(roff("a\nb\n\nc\n \n\nd"), "a b\n.Pp\nc\n.Pp\nd\n");
	assert_string_equal(roff("\n\na"), "a\n");
	assert_string_equal(roff("  a   b\t c  "),
	    ".Bd -literal -offset indent\na   b\t c  \n.Ed\n");
	assert_string_equal(roff("a   b\t c  "), "a b c\n");
}

/* Lines with a blank before them stand as they are, less one or two blanks. */
static void what_is_indented_stands_as_it_is(void **state)
{
	(void)state;
	assert_string_equal(roff("Say:\n  culprit  run\n   -x\n z\nor not."),
	    "Say:\n"
	    ".Bd -literal -offset indent\n"
	    "culprit  run\n \\-x\nz\n"
	    ".Ed\n"
	    ".Pp\n"
	    "or not.\n");
	assert_string_equal(roff("Say:\n\n  one\n\n  two\n\nEnd"),
	    "Say:\n"
	    ".Bd -literal -offset indent\n"
	    "one\n\ntwo\n"
	    ".Ed\n"
	    ".Pp\n"
	    "End\n");
	assert_string_equal(roff("  one\n  two"),
	    ".Bd -literal -offset indent\none\ntwo\n.Ed\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(letters_that_roff_would_change_are_escaped),
	    cmocka_unit_test(words_that_could_be_macros_are_marked),
	    cmocka_unit_test(lines_are_of_72_columns),
	    cmocka_unit_test(escapes_count_in_a_line),
	    cmocka_unit_test(each_sentence_ends_its_line),
	    cmocka_unit_test(a_line_does_not_begin_with_a_request),
	    cmocka_unit_test(backquotes_are_bold),
	    cmocka_unit_test(an_empty_line_parts_paragraphs),
	    cmocka_unit_test(what_is_indented_stands_as_it_is),
	};
	return cmocka_run_group_tests_name("experiments/cmd/roff", tests, NULL,
	    NULL);
}
