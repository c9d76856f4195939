/* tests/experiments/sweep/progress_test.c -- the progress line, word by word.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/sweep/progress.h"

#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/test.h"

static void assert_line(const struct xp_progress_line *l, const char *want)
{
	char got[256];
	xp_progress_format(got, sizeof(got), l);
	assert_string_equal(got, want);
}

static void a_line_says_done_failed_rate_and_eta(void **state)
{
	(void)state;
	struct xp_progress_line l = {
	    .name = "vigil_fig03",
	    .cells = {1400, 810, 2, 0},
	    .per_s = 1034.4,
	};
	assert_line(&l,
	    "vigil_fig03  [#####-----]  812/1400 cells  2 failed"
	    "  1034/s  ETA 0:01");
	l.cells = (struct res_progress){1400, 1399, 0, 0};
	assert_line(&l,
	    "vigil_fig03  [#########-]  1399/1400 cells"
	    "  1034/s  ETA 0:00");
	l.cells = (struct res_progress){1400, 1300, 90, 10};
	assert_line(&l,
	    "vigil_fig03  [##########]  1400/1400 cells  90 failed"
	    "  10 crashed  1034/s");
	l.ended = 1;
	l.elapsed_ns = 3725 * SIM_SEC;
	assert_line(&l,
	    "vigil_fig03  [##########]  1400/1400 cells  90 failed"
	    "  10 crashed  1034/s  in 1:02:05");
}

static void what_is_not_known_is_left_out(void **state)
{
	(void)state;
	struct xp_progress_line l = {.name = "a", .per_s = NAN};
	l.cells.n_cells = 7;
	assert_line(&l, "a  [----------]  0/7 cells");
	l.per_s = 0;
	assert_line(&l, "a  [----------]  0/7 cells");
	l.cells.n_cells = 0;
	assert_line(&l, "a  [##########]  0/0 cells");
	l.unit = "windows";
	assert_line(&l, "a  [##########]  0/0 windows");
}

static void rates_and_times_have_fitting_units(void **state)
{
	(void)state;
	const struct {
		double per_s;
		uint64_t n_left;
		const char *text;
	} cases[] = {
	    {123456, 1, "123456/s  ETA 0:00"},
	    {10, 590, "10/s  ETA 0:59"},
	    {9.94, 10, "9.9/s  ETA 0:01"},
	    {1, 3599, "1.0/s  ETA 59:59"},
	    {1, 3600, "1.0/s  ETA 1:00:00"},
	    {0.5, 43199, "0.5/s  ETA 23:59:58"},
	    {0.4, 34560, "24.0/min  ETA 1d 00h"},
	    {0.01, 60, "0.6/min  ETA 1:40:00"},
	    {0.008, 1, "28.8/h  ETA 2:05"},
	    {1e-12, 1, "0.0/h  ETA long"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char want[128];
		const struct xp_progress_line l = {
		    .name = "a",
		    .per_s = cases[i].per_s,
		    .cells = {1000000000, 1000000000 - cases[i].n_left, 0, 0},
		};
		snprintf(want, sizeof(want),
		    "a  [#########-]  %llu/1000000000 cells  %s",
		    1000000000ull - cases[i].n_left, cases[i].text);
		assert_line(&l, want);
	}
}

static void a_narrow_line_loses_its_bar_and_then_its_end(void **state)
{
	(void)state;
	const char whole[] = "vigil_fig03  [#####-----]  5/10 cells  2.0/s"
			     "  ETA 0:03";
	const char bare[] = "vigil_fig03  5/10 cells  2.0/s  ETA 0:03";
	for (size_t width = 1; width < 80; width++) {
		char got[256], want[256];
		const struct xp_progress_line l = {
		    .name = "vigil_fig03",
		    .cells = {10, 5, 0, 0},
		    .per_s = 2,
		    .width = width,
		};
		xp_progress_format(got, sizeof(got), &l);
		snprintf(want, sizeof(want), "%.*s", (int)width,
		    width < strlen(whole) ? bare : whole);
		assert_string_equal(got, want);
	}
}

static void no_buffer_is_overrun(void **state)
{
	(void)state;
	const struct xp_progress_line l = {
	    .name = "vigil_fig03",
	    .cells = {UINT64_MAX, 5, UINT64_MAX / 2, 7},
	    .per_s = 1e300,
	};
	for (size_t cap = 0; cap < 160; cap++) {
		char *got = malloc(cap + 1);
		assert_non_null(got);
		got[cap] = 'x';
		xp_progress_format(got, cap, &l);
		assert_int_equal(got[cap], 'x');
		if (cap > 0)
			assert_true(strlen(got) < cap);
		free(got);
	}
}

/* PER_S cells a second from now on for SECONDS, told every 50 ms. */
static void go_on(struct xp_progress *p, struct res_progress *c, sim_ns *now,
    double per_s, double seconds)
{
	const uint64_t from = c->n_done;
	const sim_ns start = *now;
	while (*now < start + (sim_ns)(seconds * 1e9)) {
		*now += 50 * SIM_MS;
		c->n_done = from +
		    (uint64_t)((double)(*now - start) * per_s / 1e9 + 1e-6);
		xp_progress_update(p, c, *now);
	}
}

static void resumed_cells_do_not_count_for_the_rate(void **state)
{
	(void)state;
	struct xp_progress p;
	struct res_progress c = {100000, 50000, 3, 4};
	sim_ns now = 77 * SIM_SEC;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	xp_progress_start(&p, out, "a", NULL, &c, now);
	assert_true(isnan(xp_progress_rate(&p, 50007, now)));
	assert_true(isnan(xp_progress_rate(&p, 50007, now + SIM_SEC)));
	go_on(&p, &c, &now, 100, 5);
	assert_near(xp_progress_rate(&p, c.n_done + 7, now), 100, 1e-9);
	go_on(&p, &c, &now, 100, 200);
	assert_near(xp_progress_rate(&p, c.n_done + 7, now), 100, 1e-9);
	xp_progress_end(&p, &c, now);
	fclose(out);
	assert_non_null(strstr(text,
	    "a  [#######---]  70507/100000 cells"
	    "  3 failed  4 crashed  100/s  in 3:25\n"));
	free(text);
}

static void the_rate_is_that_of_the_last_ten_seconds(void **state)
{
	(void)state;
	struct xp_progress p;
	struct res_progress c = {.n_cells = 1000000};
	sim_ns now = SIM_SEC;
	FILE *out = fopen("/dev/null", "w");
	xp_progress_start(&p, out, "a", NULL, &c, now);
	go_on(&p, &c, &now, 1000, 60);
	assert_near(xp_progress_rate(&p, c.n_done, now), 1000, 1e-9);
	go_on(&p, &c, &now, 20, 5);
	assert_near(xp_progress_rate(&p, c.n_done, now), 510, 60);
	go_on(&p, &c, &now, 20, 6);
	assert_near(xp_progress_rate(&p, c.n_done, now), 20, 1e-9);
	fclose(out);
}

/* Until the end, when it is that of the whole run. */
static void a_line_tells_the_latest_rate(void **state)
{
	struct xp_progress p;
	struct res_progress c = {.n_cells = 100000};
	sim_ns now = 0;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	(void)state;
	xp_progress_start(&p, out, "a", NULL, &c, now);
	go_on(&p, &c, &now, 1000, 40);
	go_on(&p, &c, &now, 20, 40);
	xp_progress_end(&p, &c, now);
	fclose(out);
	assert_non_null(strstr(text, "40400/100000 cells  20/s"));
	assert_non_null(strstr(text, "40800/100000 cells  510/s  in 1:20"));
	free(text);
}

static void slow_cells_are_averaged_over_the_whole_time(void **state)
{
	(void)state;
	struct xp_progress p;
	struct res_progress c = {.n_cells = 100};
	sim_ns now = 0;
	FILE *out = fopen("/dev/null", "w");
	xp_progress_start(&p, out, "a", NULL, &c, now);
	go_on(&p, &c, &now, 1.0 / 20, 400);
	assert_int_equal(c.n_done, 20);
	assert_near(xp_progress_rate(&p, c.n_done, now), 0.05, 1e-9);
	fclose(out);
}

static void a_file_gets_a_line_a_minute_and_one_at_the_end(void **state)
{
	(void)state;
	struct xp_progress p;
	struct res_progress c = {.n_cells = 2000};
	sim_ns now = 0;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	xp_progress_start(&p, out, "a", NULL, &c, now);
	go_on(&p, &c, &now, 10, 130);
	xp_progress_end(&p, &c, now);
	fclose(out);
	assert_string_equal(text,
	    "a  [###-------]  600/2000 cells  10/s  ETA 2:20\n"
	    "a  [######----]  1200/2000 cells  10/s  ETA 1:20\n"
	    "a  [######----]  1300/2000 cells  10/s  in 2:10\n");
	free(text);
}

static void a_sweep_that_was_complete_has_no_rate(void **state)
{
	(void)state;
	struct xp_progress p;
	const struct res_progress c = {7, 7, 0, 0};
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	xp_progress_start(&p, out, "a", NULL, &c, 5);
	xp_progress_end(&p, &c, 5);
	fclose(out);
	assert_string_equal(text, "a  [##########]  7/7 cells  in 0:00\n");
	free(text);
}

static void nothing_is_printed_without_a_file(void **state)
{
	(void)state;
	struct xp_progress p;
	struct res_progress c = {.n_cells = 10};
	sim_ns now = 0;
	xp_progress_start(&p, NULL, "a", NULL, &c, now);
	go_on(&p, &c, &now, 1, 100);
	xp_progress_end(&p, &c, now);
}

/* What a terminal shows after BYTES: the text of its last line. */
static void show(const char *bytes, char *screen, size_t cap)
{
	size_t at = 0;
	memset(screen, 0, cap);
	for (; *bytes; bytes++) {
		if (*bytes == '\r') {
			at = 0;
		} else if (*bytes != '\n') {
			assert_true(at + 1 < cap);
			screen[at++] = *bytes;
		}
	}
	for (at = strlen(screen); at > 0 && screen[at - 1] == ' '; at--)
		screen[at - 1] = '\0';
}

/* A terminal hands over its text in pieces: read until the mark comes that is
 * written last. */
static void read_all(int fd, FILE *out, char *text, size_t cap)
{
	enum { MARK = '@' };
	char *end;
	size_t n = 0;
	fputc(MARK, out);
	fflush(out);
	do {
		ssize_t k = read(fd, text + n, cap - 1 - n);
		assert_true(k > 0);
		n += (size_t)k;
		text[n] = '\0';
		end = strchr(text, MARK);
	} while (!end);
	*end = '\0';
}

static void a_terminal_is_redrawn_at_most_five_times_a_second(void **state)
{
	(void)state;
	struct xp_progress p;
	struct res_progress c = {.n_cells = 2000};
	sim_ns now = 0;
	struct winsize size = {.ws_row = 24, .ws_col = 60};
	int master, slave;
	static char text[16384];
	char screen[256];
	if (openpty(&master, &slave, NULL, NULL, &size) < 0) {
		print_message("SKIP: no pseudo-terminal here\n");
		skip();
	}
	FILE *out = fdopen(slave, "w");
	xp_progress_start(&p, out, "fig", NULL, &c, now);
	assert_true(p.is_tty);
	go_on(&p, &c, &now, 10, 2);
	read_all(master, out, text, sizeof(text));
	size_t n_draws = 0;
	for (const char *s = text; (s = strchr(s, '\r')); s++)
		n_draws++;
	assert_int_equal(n_draws, 1 + 10);
	show(text, screen, sizeof(screen));
	assert_string_equal(screen,
	    "fig  [----------]  20/2000 cells  10/s  ETA 3:18");

	/* A longer line, then a shorter one that must cover it. */
	c.n_failed = 100;
	go_on(&p, &c, &now, 10, 0.2);
	c.n_failed = 0;
	go_on(&p, &c, &now, 10, 0.2);
	xp_progress_end(&p, &c, now);
	read_all(master, out, text, sizeof(text));
	assert_non_null(strstr(text, "100 failed"));
	show(text, screen, sizeof(screen));
	assert_string_equal(screen,
	    "fig  [----------]  24/2000 cells  10/s  in 0:02");
	assert_string_equal(strchr(text, '\n'), "\n");
	fclose(out);
	close(master);
}

/* What was drawn is covered, once; a file, and nobody, have nothing to wipe. */
static void a_line_is_wiped_for_another_one(void **state)
{
	(void)state;
	struct xp_progress p;
	struct res_progress c = {.n_cells = 20};
	sim_ns now = 0;
	struct winsize size = {.ws_row = 24, .ws_col = 60};
	int master, slave;
	static char text[4096];
	char screen[256], *buf = NULL;
	size_t n;
	FILE *out = open_memstream(&buf, &n);
	xp_progress_start(&p, out, "fig", NULL, &c, now);
	xp_progress_wipe(&p);
	fclose(out);
	assert_string_equal(buf, "");
	free(buf);
	xp_progress_start(&p, NULL, "fig", NULL, &c, now);
	xp_progress_wipe(&p);
	if (openpty(&master, &slave, NULL, NULL, &size) < 0) {
		print_message("SKIP: no pseudo-terminal here\n");
		skip();
	}
	out = fdopen(slave, "w");
	xp_progress_start(&p, out, "fig", NULL, &c, now);
	xp_progress_wipe(&p);
	fputs("note ", out);
	xp_progress_wipe(&p);
	read_all(master, out, text, sizeof(text));
	show(text, screen, sizeof(screen));
	assert_string_equal(screen, "note");
	assert_non_null(strstr(text, " \rnote "));
	assert_string_equal(text + strlen(text) - 5, "note ");
	go_on(&p, &c, &now, 1, 1);
	read_all(master, out, text, sizeof(text));
	show(text, screen, sizeof(screen));
	assert_non_null(strstr(screen, "1/20 cells"));
	fclose(out);
	close(master);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_line_says_done_failed_rate_and_eta),
	    cmocka_unit_test(what_is_not_known_is_left_out),
	    cmocka_unit_test(rates_and_times_have_fitting_units),
	    cmocka_unit_test(a_narrow_line_loses_its_bar_and_then_its_end),
	    cmocka_unit_test(no_buffer_is_overrun),
	    cmocka_unit_test(resumed_cells_do_not_count_for_the_rate),
	    cmocka_unit_test(the_rate_is_that_of_the_last_ten_seconds),
	    cmocka_unit_test(a_line_tells_the_latest_rate),
	    cmocka_unit_test(slow_cells_are_averaged_over_the_whole_time),
	    cmocka_unit_test(a_file_gets_a_line_a_minute_and_one_at_the_end),
	    cmocka_unit_test(a_sweep_that_was_complete_has_no_rate),
	    cmocka_unit_test(nothing_is_printed_without_a_file),
	    cmocka_unit_test(a_terminal_is_redrawn_at_most_five_times_a_second),
	    cmocka_unit_test(a_line_is_wiped_for_another_one),
	};
	return cmocka_run_group_tests_name("experiments/sweep/progress", tests,
	    NULL, NULL);
}
