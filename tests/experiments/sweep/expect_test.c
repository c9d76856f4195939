/* tests/experiments/sweep/expect_test.c -- when a sweep says how long it will take.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Times are given, so no clock is read.
 */
#include "experiments/sweep/expect.h"

#include <math.h>
#include <unistd.h>

#include "tests/test.h"

/* A sweep of 1,200 cells at 6 points, 200 of them done before, by 2 workers: the
 * estimate stands from 8 cells on. */
struct expect_fixture {
	struct xp_expect x;
	struct xp_progress display; /* silent */
	struct res_progress cells;
	int in[2]; /* answers */
	char *said;
	size_t n_said;
};

#define BEGAN (50 * SIM_SEC)

static void fixture_open(struct expect_fixture *f)
{
	*f = (struct expect_fixture){.cells = {1200, 190, 10, 0}};
	assert_int_equal(pipe(f->in), 0);
	f->x.out = open_memstream(&f->said, &f->n_said);
	assert_non_null(f->x.out);
	f->x.answers = f->in[0];
	f->x.long_s = 3600;
	xp_expect_start(&f->x, &f->cells, 6, 2, BEGAN);
}

static void fixture_close(struct expect_fixture *f)
{
	fclose(f->x.out);
	free(f->said);
	close(f->in[0]);
	if (f->in[1] >= 0)
		close(f->in[1]);
}

/* N cells have run, in S seconds. */
static int at(struct expect_fixture *f, uint64_t n, double s)
{
	f->cells.n_done = 190 + n;
	const int stops = xp_expect_update(&f->x, &f->display, &f->cells,
	    BEGAN + (sim_ns)(s * 1e9));
	assert_int_equal(fflush(f->x.out), 0);
	return stops;
}

static double left(struct expect_fixture *f, uint64_t n, double s)
{
	f->cells.n_done = 190 + n;
	return xp_expect_left_s(&f->x, &f->cells, BEGAN + (sim_ns)(s * 1e9));
}

static void type(struct expect_fixture *f, const char *text)
{
	assert_int_equal(write(f->in[1], text, strlen(text)), strlen(text));
}

#define LONG_TEXT                                                              \
	"culprit: about 2:45:20 to go for the 992 cells left, as the first 8 " \
	"took 1:20. ^C stops it, and the same command goes on from there.\n"
#define QUESTION "culprit: go on? [Y/n] It does until you say n.\n"

/* What is left times what one cell took of the whole machine's time. */
static void what_is_left_takes_as_long_as_what_ran(void **state)
{
	struct expect_fixture f;
	(void)state;
	fixture_open(&f);
	for (uint64_t n = 8; n <= 1000; n++)
		assert_near(left(&f, n, 0.5 * (double)n),
		    0.5 * (double)(1000 - n), 1e-9);
	assert_near(left(&f, 10, 3), 297, 1e-9);
	/* Points may end early, and then fewer cells than ran are wanted. */
	f.cells.n_cells = 100;
	assert_true(left(&f, 10, 3) == 0);
	fixture_close(&f);
}

/* As of combinations that `culprit tune` tries. */
static void it_is_told_what_is_counted_and_whether_it_is_kept(void **state)
{
	struct expect_fixture f;
	(void)state;
	fixture_open(&f);
	f.x.unit = "combinations";
	f.x.keeps_nothing = 1;
	f.x.answers = -1;
	assert_int_equal(at(&f, 8, 80), 0);
	assert_string_equal(f.said,
	    "culprit: about 2:45:20 to go for the 992 combinations left, as "
	    "the first 8 took 1:20. ^C stops it, and nothing is kept.\n");
	fixture_close(&f);
}

static void it_is_known_once_points_and_workers_were_seen(void **state)
{
	struct expect_fixture f;
	(void)state;
	fixture_open(&f);
	assert_true(isnan(left(&f, 0, 599)));
	assert_true(isnan(left(&f, 7, 599)));
	assert_false(isnan(left(&f, 8, 1)));
	/* One cell in ten minutes tells enough, and none nothing. */
	assert_true(isnan(left(&f, 0, 6000)));
	assert_near(left(&f, 1, 600), 999 * 600.0, 1e-6);
	xp_expect_start(&f.x, &f.cells, 40, 2, BEGAN);
	f.x.n_before = 200;
	assert_true(isnan(left(&f, 39, 1)));
	assert_false(isnan(left(&f, 40, 1)));
	fixture_close(&f);
}

static void it_is_told_once_and_only_if_it_is_long(void **state)
{
	struct expect_fixture f;
	(void)state;
	fixture_open(&f);
	f.x.answers = -1;
	/* 992 cells at 3.6 s are less than an hour. */
	assert_int_equal(at(&f, 8, 8 * 3.6), 0);
	assert_string_equal(f.said, "");
	assert_int_equal(at(&f, 8, 80), 0);
	assert_string_equal(f.said, LONG_TEXT);
	assert_int_equal(at(&f, 9, 9000), 0);
	assert_string_equal(f.said, LONG_TEXT);
	fixture_close(&f);
}

static void who_is_asked_may_answer_late_or_never(void **state)
{
	static const struct {
		const char *text;
		int stops;
	} answers[] = {{"n\n", 1}, {"  No\n", 1}, {"N", 1}, {"y\n", 0},
	    {"\n", 0}, {"never mind\n", 0}, {"what?\n", 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct expect_fixture f;
		fixture_open(&f);
		assert_int_equal(at(&f, 8, 80), 0);
		assert_string_equal(f.said, LONG_TEXT QUESTION);
		for (uint64_t n = 9; n < 20; n++)
			assert_int_equal(at(&f, n, 10 * (double)n), 0);
		type(&f, answers[i].text);
		assert_int_equal(at(&f, 20, 200), answers[i].stops);
		/* It is asked once. */
		type(&f, "n\n");
		assert_int_equal(at(&f, 21, 210), 0);
		assert_string_equal(f.said, LONG_TEXT QUESTION);
		fixture_close(&f);
	}
}

static void the_end_of_input_is_no_refusal(void **state)
{
	struct expect_fixture f;
	(void)state;
	fixture_open(&f);
	assert_int_equal(at(&f, 8, 80), 0);
	close(f.in[1]);
	f.in[1] = -1;
	assert_int_equal(at(&f, 9, 90), 0);
	assert_int_equal(at(&f, 10, 100), 0);
	fixture_close(&f);
}

/* It belongs to the next command, and is still there for it. */
static void what_was_typed_before_is_no_answer(void **state)
{
	struct expect_fixture f;
	char next[8] = "";
	(void)state;
	fixture_open(&f);
	type(&f, "nice\n");
	assert_int_equal(at(&f, 8, 80), 0);
	assert_string_equal(f.said, LONG_TEXT);
	assert_int_equal(at(&f, 9, 90), 0);
	assert_int_equal(read(f.in[0], next, sizeof(next)), 5);
	assert_string_equal(next, "nice\n");
	fixture_close(&f);
}

static void who_said_yes_before_is_told_nothing(void **state)
{
	struct expect_fixture f;
	FILE *out;
	(void)state;
	fixture_open(&f);
	out = f.x.out;
	f.x.out = NULL;
	xp_expect_start(&f.x, &f.cells, 6, 2, BEGAN);
	type(&f, "n\n");
	f.cells.n_done = 198;
	assert_int_equal(xp_expect_update(&f.x, &f.display, &f.cells,
			     BEGAN + 80 * SIM_SEC),
	    0);
	f.x.out = out;
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_left_takes_as_long_as_what_ran),
	    cmocka_unit_test(it_is_told_what_is_counted_and_whether_it_is_kept),
	    cmocka_unit_test(it_is_known_once_points_and_workers_were_seen),
	    cmocka_unit_test(it_is_told_once_and_only_if_it_is_long),
	    cmocka_unit_test(who_is_asked_may_answer_late_or_never),
	    cmocka_unit_test(the_end_of_input_is_no_refusal),
	    cmocka_unit_test(what_was_typed_before_is_no_answer),
	    cmocka_unit_test(who_said_yes_before_is_told_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
