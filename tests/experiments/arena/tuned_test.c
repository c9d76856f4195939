/* tests/experiments/arena/tuned_test.c -- tables of tuned values: read, refused.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/tuned.h"

#include "sim/text.h"
#include "tests/test.h"

static const char tuned_whole[] =
    "# arena 2, size m, seed 77, 5 runs, 60 tries: written by `culprit arena "
    "--tune`\n"
    "telemetry\talgorithm\tentry\twindows\tf_own\tf\n"
    "int\tflock\t{name: flock, p_bad: 0.01, label: flock_tuned}\t120\t0.8000\t"
    "0.8250\n"
    "a2_p\tscore\t{name: score, theta: 0.01, label: score_tuned}\t120\t0.1000\t"
    "0.2000\n";

static int tuned_read(struct xp_arena_tuned *t, const char *text, size_t n,
    struct sim_err *e)
{
	char *copy = strndup(text, n);
	assert_non_null(copy);
	return xp_arena_tuned_read(t, copy, "some.tsv", e);
}

static void what_is_read_is_what_was_written(void **state)
{
	struct xp_arena_tuned t = {0};
	char *text = NULL;
	size_t n;
	(void)state;
	assert_ok(tuned_read(&t, tuned_whole, strlen(tuned_whole), test_err()));
	assert_int_equal(t.n, 2);
	assert_int_equal(t.seed, 77);
	assert_int_equal(t.runs, 5);
	assert_string_equal(t.size, "m");
	const struct xp_arena_tuned_row *x =
	    xp_arena_tuned_find(&t, 0, "flock");
	assert_non_null(x);
	assert_near(x->f, .825, 1e-12);
	assert_null(xp_arena_tuned_find(&t, 0, "score"));
	assert_null(xp_arena_tuned_find(&t, 1, "flock"));
	FILE *out = open_memstream(&text, &n);
	assert_non_null(out);
	xp_arena_tuned_print(&t, out);
	fclose(out);
	assert_string_equal(text, tuned_whole);
	free(text);
	xp_arena_tuned_free(&t);
}

/* Wherever it ends, it is refused by its line, unless it ends with one. */
static void a_cut_table_is_refused(void **state)
{
	(void)state;
	for (size_t n = 0; n < strlen(tuned_whole); n++) {
		struct xp_arena_tuned t = {0};
		struct sim_err e = {0};
		const int rc = tuned_read(&t, tuned_whole, n, &e);
		if (rc == 0)
			assert_true(t.n < 2 && tuned_whole[n - 1] == '\n');
		else
			assert_non_null(strstr(e.msg, "some.tsv"));
		xp_arena_tuned_free(&t);
	}
}

static void others_are_named(void **state)
{
	static const struct {
		const char *was, *is, *says;
	} wrong[] = {
	    {"arena 2", "arena 1", "some.tsv:1: is of arena 1"},
	    {"seed 77", "seed x", "some.tsv:1: not what"},
	    {"f_own", "f_his", "some.tsv:2: has other columns"},
	    {"a2_p", "a2_q", "some.tsv:4: there is no telemetry \"a2_q\""},
	    {"0.8250", "much", "some.tsv:3: "},
	    {"\t120\t0.8000\t0.8250", "",
		"some.tsv:3: has 3 columns; expected 6."},
	    {"\t0.8250", "", "some.tsv:3: has 5 columns; expected 6."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct xp_arena_tuned t = {0};
		struct sim_err e = {0};
		char text[1024];
		const char *at = strstr(tuned_whole, wrong[i].was);
		snprintf(text, sizeof(text), "%.*s%s%s",
		    (int)(at - tuned_whole), tuned_whole, wrong[i].is,
		    at + strlen(wrong[i].was));
		assert_int_equal(tuned_read(&t, text, strlen(text), &e),
		    SIM_EPARSE);
		if (!strstr(e.msg, wrong[i].says))
			fail_msg("no \"%s\" in \"%s\"", wrong[i].says, e.msg);
		xp_arena_tuned_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_read_is_what_was_written),
	    cmocka_unit_test(a_cut_table_is_refused),
	    cmocka_unit_test(others_are_named),
	};
	return cmocka_run_group_tests_name("experiments/arena/tuned", tests,
	    NULL, NULL);
}
