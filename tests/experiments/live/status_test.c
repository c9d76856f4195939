/* tests/experiments/live/status_test.c -- statuses have words, and their own.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/status.h"

#include "tests/test.h"

static void each_status_has_words_and_no_other_number_has(void **state)
{
	static const long none[] = {-1, 0, 42, 99, 600, 1000, 123456789};
	(void)state;
	for (long s = 100; s < 600; s++) {
		const char *words = xp_http_status_words(s);
		assert_true(words[0] != '\0');
		assert_string_not_equal(words, "no status of HTTP");
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_string_equal(xp_http_status_words(none[i]),
		    "no status of HTTP");
}

/* Those that no table has are told by their class, as RFC 9110 (15) has it. */
static void a_strange_status_has_the_words_of_its_class(void **state)
{
	static const struct {
		long status, like;
	} strange[] = {{199, 100}, {299, 250}, {399, 300}, {499, 420},
	    {599, 555}};
	(void)state;
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(xp_http_status_words(strange[i].status),
		    xp_http_status_words(strange[i].like));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(xp_http_status_words(
						    strange[i].status),
			    xp_http_status_words(strange[k].status));
	}
}

static void those_that_an_agent_meets_say_what_is_wrong(void **state)
{
	static const struct {
		long status;
		const char *says;
	} met[] = {{207, "WebDAV"}, {302, "redirects are not followed"},
	    {403, "not for this certificate"}, {404, "no such thing"},
	    {407, "proxy"}, {503, "overloaded"}, {507, "no room"}};
	(void)state;
	for (size_t i = 0; i < sizeof(met) / sizeof(met[0]); i++)
		assert_non_null(
		    strstr(xp_http_status_words(met[i].status), met[i].says));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_status_has_words_and_no_other_number_has),
	    cmocka_unit_test(a_strange_status_has_the_words_of_its_class),
	    cmocka_unit_test(those_that_an_agent_meets_say_what_is_wrong),
	};
	return cmocka_run_group_tests_name("experiments/live/status", tests,
	    NULL, NULL);
}
