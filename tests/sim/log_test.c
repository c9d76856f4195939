/* tests/sim/log_test.c -- log lines: level, form, length.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"

#include "sim/log.h"

/* What one message prints. */
static const char *printed(enum sim_log_level limit, const char *program,
    enum sim_log_level level, const char *text)
{
	static char buf[8192];
	memset(buf, 0, sizeof(buf));
	FILE *out = tmpfile();
	assert_non_null(out);
	const struct sim_log l = {out, limit, program};
	sim_log(&l, level, "%s", text);
	rewind(out);
	assert_true(fread(buf, 1, sizeof(buf) - 1, out) < sizeof(buf) - 1);
	fclose(out);
	return buf;
}

static void a_line_names_program_and_level(void **state)
{
	(void)state;
	assert_string_equal(printed(SIM_LOG_WARN, "culprit", SIM_LOG_WARN,
				"Row 7 of 9 is lost."),
	    "culprit: warning: Row 7 of 9 is lost.\n");
	assert_string_equal(printed(SIM_LOG_DEBUG, NULL, SIM_LOG_INFO, "x"),
	    "info: x\n");
}

static void levels_above_the_limit_are_silent(void **state)
{
	(void)state;
	for (int limit = SIM_LOG_ERROR; limit <= SIM_LOG_DEBUG; limit++)
		for (int level = SIM_LOG_ERROR; level <= SIM_LOG_DEBUG; level++)
			assert_true((*printed(limit, "p", level, "x") != 0) ==
			    (level <= limit));
}

static void no_log_or_a_zeroed_one_is_silent(void **state)
{
	(void)state;
	const struct sim_log zeroed = {0};
	sim_log(NULL, SIM_LOG_ERROR, "x");
	sim_log(&zeroed, SIM_LOG_ERROR, "x");
}

static void a_long_line_is_cut_and_says_so(void **state)
{
	(void)state;
	char text[4000];
	for (size_t n = 2000; n < sizeof(text); n++) {
		memset(text, 'x', n);
		text[n] = '\0';
		const char *line =
		    printed(SIM_LOG_INFO, NULL, SIM_LOG_INFO, text);
		size_t len = strlen(line), whole = n + strlen("info: \n");
		assert_true(len == (whole < 2047 ? whole : 2047));
		assert_true(line[len - 1] == '\n');
		assert_true((line[len - 2] == '.') == (whole > 2047));
		n += n > 2100 ? 300 : 0;
	}
}

/* A wide letter that the locale has no bytes for: the message is left out. */
static void a_message_that_cannot_be_printed_is_an_empty_one(void **state)
{
	(void)state;
	char line[64] = "";
	const wchar_t none[] = {0x20ac, 0};
	FILE *out = tmpfile();
	assert_non_null(out);
	const struct sim_log l = {out, SIM_LOG_INFO, "p"};
	sim_log(&l, SIM_LOG_INFO, "%ls", none);
	rewind(out);
	assert_int_equal(fread(line, 1, sizeof(line), out), 10);
	assert_string_equal(line, "p: info: \n");
	fclose(out);
}

/* Then no text fits behind it. */
static void a_very_long_name_is_cut_as_well(void **state)
{
	char name[3000], whole[3200], text[8000];
	(void)state;
	memset(name, 'n', 1000);
	memset(text, 'x', sizeof(text) - 1);
	name[1000] = text[sizeof(text) - 1] = '\0';
	const char *both = printed(SIM_LOG_INFO, name, SIM_LOG_INFO, text);
	assert_int_equal(strlen(both), 2047);
	assert_memory_equal(both + 998, "nn: info: xx", 12);
	assert_string_equal(both + 2042, "x...\n");
	for (size_t n = 2030; n < 2060; n++) {
		memset(name, 'n', n);
		name[n] = '\0';
		snprintf(whole, sizeof(whole), "%s: info: xy\n", name);
		const char *line =
		    printed(SIM_LOG_INFO, name, SIM_LOG_INFO, "xy");
		if (strlen(whole) <= 2047) {
			assert_string_equal(line, whole);
			continue;
		}
		assert_int_equal(strlen(line), 2047);
		assert_memory_equal(line, whole, 2043);
		assert_string_equal(line + 2043, "...\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_line_names_program_and_level),
	    cmocka_unit_test(levels_above_the_limit_are_silent),
	    cmocka_unit_test(no_log_or_a_zeroed_one_is_silent),
	    cmocka_unit_test(a_long_line_is_cut_and_says_so),
	    cmocka_unit_test(a_message_that_cannot_be_printed_is_an_empty_one),
	    cmocka_unit_test(a_very_long_name_is_cut_as_well),
	};
	return cmocka_run_group_tests_name("sim/log", tests, NULL, NULL);
}
