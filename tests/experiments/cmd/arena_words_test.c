/* tests/experiments/cmd/arena_words_test.c -- lists of words that arenas are given.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/arena_words.h"

#include "tests/test.h"

static void a_word_is_asked_for_by_itself_or_in_a_list(void **state)
{
	static const struct {
		const char *list, *name;
		int is;
	} t[] = {{NULL, "a", 1}, {"a", "a", 1}, {"a,b", "a", 1},
	    {"a,b", "b", 1}, {"x,a,b", "a", 1}, {"ab", "a", 0}, {"xa", "a", 0},
	    {"ab,c", "a", 0}, {"c,ab", "a", 0}, {"a", "ab", 0}, {"", "a", 0},
	    {"b,,a", "a", 1}};
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (!!cmd_arena_is_asked(t[i].list, t[i].name) != t[i].is)
			fail_msg("%s in %s", t[i].name,
			    t[i].list ? t[i].list : "all");
}

/* Commas within brackets and quotes part nothing. */
static void an_item_ends_at_a_comma_of_its_own(void **state)
{
	static const char *const t[][2] = {{"a", "a"}, {"", ""}, {",a", ""},
	    {"a,b", "a"}, {"{a: 1, b: [2, 3]},c", "{a: 1, b: [2, 3]}"},
	    {"[a,b],c", "[a,b]"}, {"'a,b',c", "'a,b'"},
	    {"\"a,]b\",c", "\"a,]b\""}, {"'\",',c", "'\",'"},
	    {"{a: '},'},c", "{a: '},'}"}, {"'a,b", "'a,b"}, {"[a,b", "[a,b"},
	    {"a],b", "a]"}};
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char text[64];
		snprintf(text, sizeof(text), "%s", t[i][0]);
		const char *end = cmd_arena_word_end(text);
		if ((size_t)(end - text) != strlen(t[i][1]))
			fail_msg("%s ends at %s", t[i][0], end);
	}
}

static void words_that_there_are_not_are_told(void **state)
{
	static const char *const name[] = {"single", "many", "soft"};
	static const struct {
		const char *list, *want;
	} t[] = {
	    {"singel", "--x: there is no \"singel\"; did you mean \"single\"?"},
	    {"many,zzzzzz", "--x: there is no \"zzzzzz\"; see --help."},
	    {"many,", "--x: there is no \"\"; see --help."},
	    {",many", "--x: there is no \"\"; see --help."},
	    {"man", "--x: there is no \"man\"; did you mean \"many\"?"},
	};
	struct sim_err e;
	(void)state;
	assert_ok(cmd_arena_check_words("--x", NULL, name, 3, test_err()));
	assert_ok(cmd_arena_check_words("--x", "soft", name, 3, test_err()));
	assert_ok(cmd_arena_check_words("--x", "many,single,soft,many", name, 3,
	    test_err()));
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(cmd_arena_check_words("--x", t[i].list, name,
				     3, &e),
		    SIM_EINVAL);
		if (strstr(t[i].want, "\"\"") == NULL)
			assert_string_equal(e.msg, t[i].want);
		else if (!strstr(e.msg, "--x: there is no \"\""))
			fail_msg("%s", e.msg);
	}
	/* The last one is not among the first two. */
	assert_int_equal(cmd_arena_check_words("--x", "soft", name, 2, &e),
	    SIM_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_word_is_asked_for_by_itself_or_in_a_list),
	    cmocka_unit_test(an_item_ends_at_a_comma_of_its_own),
	    cmocka_unit_test(words_that_there_are_not_are_told),
	};
	return cmocka_run_group_tests_name("experiments/cmd/arena_words", tests,
	    NULL, NULL);
}
