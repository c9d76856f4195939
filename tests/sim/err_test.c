/* tests/sim/err_test.c -- messages in their contexts, cut where they do not fit.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/err.h"

#include "tests/test.h"

enum { ROOM = sizeof(((struct sim_err *)0)->msg) - 1 };

/* N letters, and a zero. */
static const char *letters(char c, size_t n)
{
	static char text[2][2 * ROOM];
	static unsigned turn;
	char *to = text[turn++ % 2];
	memset(to, c, n);
	to[n] = '\0';
	return to;
}

static void a_code_is_returned_with_and_without_a_reader(void **state)
{
	struct sim_err e = {0};
	(void)state;
	assert_int_equal(sim_fail(NULL, SIM_EIO, "%d", 7), SIM_EIO);
	assert_int_equal(sim_wrap(NULL, SIM_EIO, "%d", 7), SIM_EIO);
	assert_int_equal(sim_fail(&e, SIM_ERANGE, "%d of %s", 7, "9"),
	    SIM_ERANGE);
	assert_int_equal(e.code, SIM_ERANGE);
	assert_string_equal(e.msg, "7 of 9");
}

static void a_context_stands_before_what_was_said(void **state)
{
	struct sim_err e = {0};
	(void)state;
	sim_fail(&e, SIM_ERANGE, "row 3.");
	assert_int_equal(sim_wrap(&e, SIM_EIO, "table %s", "flows"), SIM_EIO);
	assert_int_equal(e.code, SIM_EIO);
	assert_string_equal(e.msg, "table flows: row 3.");
	sim_wrap(&e, SIM_EIO, "x.h5");
	assert_string_equal(e.msg, "x.h5: table flows: row 3.");
}

/* Of context, ": " and message, in this order, as many bytes as there is room
 * for; nothing behind the object changes. */
static void each_length_is_cut_at_its_end(void **state)
{
	(void)state;
	for (size_t n = ROOM - 8; n <= ROOM + 3; n++)
		for (size_t m = 0; m < 12; m++) {
			struct {
				struct sim_err e;
				char behind[16];
			} s;
			char want[3 * ROOM];
			memset(&s, '#', sizeof(s));
			sim_fail(&s.e, SIM_EIO, "%s", letters('i', m));
			const char *outer = letters('o', n);
			sim_wrap(&s.e, SIM_EIO, "%s", outer);
			snprintf(want, sizeof(want), "%s: %s", outer,
			    letters('i', m));
			want[ROOM] = '\0';
			assert_string_equal(s.e.msg, want);
			for (size_t i = 0; i < sizeof(s.behind); i++)
				assert_int_equal(s.behind[i], '#');
		}
}

static void each_code_has_words_of_its_own(void **state)
{
	static const int all[] = {
#define X(name, value, text) value,
	    SIM_ERR_CODES(X)
#undef X
	};
	const size_t n = sizeof(all) / sizeof(all[0]);
	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(sim_err_text(all[i]),
			    sim_err_text(all[k]));
	assert_string_equal(sim_err_text(0), "no error");
	assert_string_equal(sim_err_text(1), "unknown error");
	assert_string_equal(sim_err_text(-9999), "unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_code_is_returned_with_and_without_a_reader),
	    cmocka_unit_test(a_context_stands_before_what_was_said),
	    cmocka_unit_test(each_length_is_cut_at_its_end),
	    cmocka_unit_test(each_code_has_words_of_its_own),
	};
	return cmocka_run_group_tests_name("sim/err", tests, NULL, NULL);
}
