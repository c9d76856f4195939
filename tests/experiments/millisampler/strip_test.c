/* tests/experiments/millisampler/strip_test.c -- strips of a run, by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/strip.h"
#include "tests/test.h"

/* Buckets of 1 ms of a line of 8 Mbit/s, so of 1,000 bytes. */
static const struct obs_run strip_run = {.width_ns = 1000000,
    .line_bps = 8000000,
    .n_buckets = 10};

static void strip_make(struct xp_strip *s, const struct obs_sample row[],
    size_t n, size_t most)
{
	struct obs_samples t = {0};
	for (size_t i = 0; i < n; i++)
		assert_ok(obs_samples_add(&t, &row[i], test_err()));
	assert_ok(xp_strip_make(s, &strip_run, &t, most, test_err()));
	s->title = "h<1";
	obs_samples_free(&t);
}

static void a_column_is_the_greatest_of_its_buckets(void **state)
{
	/* Columns of 10 buckets, by the most that there may be. */
	static const size_t columns[] = {1, 2, 3, 4, 5, 5, 5, 5, 5, 10, 10};
	struct obs_sample row[10];
	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		row[i] = (struct obs_sample){.bucket = i,
		    .in_bytes = 100 + 7 * i % 10,
		    .out_bytes = 200 + 3 * i % 10,
		    .in_ce = i,
		    .in_retx = 9 - i,
		    .out_retx = 1,
		    .conns = 50 + i};
	for (size_t most = 1; most <= 11; most++) {
		struct xp_strip s;
		strip_make(&s, row, 10, most);
		assert_int_equal(s.n_columns, columns[most - 1]);
		const size_t per = (10 + most - 1) / most;
		double want[XP_N_STRIPS][10] = {{0}}, max[XP_N_STRIPS] = {0},
		       sum[XP_N_STRIPS] = {0};
		for (size_t i = 0; i < 10; i++) {
			const double of[] = {row[i].in_bytes, row[i].out_bytes,
			    row[i].in_ce, row[i].in_retx, row[i].out_retx,
			    row[i].conns};
			for (unsigned k = 0; k < XP_N_STRIPS; k++) {
				double *at = &want[k][i / per];
				*at = fmax(*at, of[k]);
				max[k] = fmax(max[k], of[k]);
				sum[k] += of[k];
			}
		}
		for (unsigned k = 0; k < XP_N_STRIPS; k++) {
			assert_memory_equal(&s.value[k * s.n_columns], want[k],
			    s.n_columns * sizeof(double));
			assert_true(s.max[k] == max[k]);
			assert_true(s.sum[k] == sum[k]);
		}
		xp_strip_free(&s);
		assert_null(s.value);
	}
}

/* Bytes by the line or what was more, what is sent again by its own most. */
static const struct obs_sample strip_rows[] = {
    {.bucket = 0,
	.in_bytes = 500,
	.out_bytes = 2000,
	.in_retx = 10,
	.out_retx = 1,
	.conns = 8},
    {.bucket = 3, .in_bytes = 1, .in_ce = 1, .in_retx = 5, .conns = 1},
    {.bucket = 9, .in_bytes = 1000, .in_ce = 1000, .conns = 4},
};

static void a_terminal_has_a_line_a_series(void **state)
{
	char buf[4096] = "";
	struct xp_strip s;
	(void)state;
	strip_make(&s, strip_rows, 3, 10);
	FILE *out = fmemopen(buf, sizeof(buf), "w");
	xp_strip_print(&s, out);
	fclose(out);
	assert_string_equal(buf,
	    "h<1: 10 ms in 10 buckets of 1 ms\n"
	    "came in           1 of the line at most, 0.001501 MB in all\n"
	    "  |▄  ▁     █|\n"
	    "went out          2 of the line at most, 0.002 MB in all\n"
	    "  |█         |\n"
	    "marked by a queue 1 of the line at most, 0.001001 MB in all\n"
	    "  |   ▁     █|\n"
	    "in, sent again    0.01 of the line at most, 1.5e-05 MB in all\n"
	    "  |█  ▄      |\n"
	    "out, sent again   0.001 of the line at most, 1e-06 MB in all\n"
	    "  |█         |\n"
	    "connections       8 at most\n"
	    "  |█  ▁     ▄|\n");
	xp_strip_free(&s);
}

static void a_quiet_run_has_empty_strips(void **state)
{
	char buf[4096] = "";
	struct xp_strip s;
	(void)state;
	strip_make(&s, strip_rows, 0, 4);
	FILE *out = fmemopen(buf, sizeof(buf), "w");
	xp_strip_print(&s, out);
	fclose(out);
	assert_non_null(strstr(buf,
	    "in, sent again    0 of the line at most, 0 MB in all\n  |    "
	    "|\n"));
	assert_non_null(strstr(buf, "connections       0 at most\n  |    |\n"));
	xp_strip_free(&s);
}

/* The panels' paths, each 70 px high, by points. */
static void a_drawing_has_a_panel_a_series(void **state)
{
	static const char *const parts[] = {
	    "viewBox=\"0 0 1032 694\" width=\"1032\" height=\"694\" role",
	    "<text class=\"head\" x=\"16\" y=\"22\">h&lt;1: 10 ms in 10 "
	    "buckets "
	    "of 1 ms</text>\n",
	    "<text x=\"16\" y=\"51.0\">came in: 1 of the line at most, "
	    "0.001501 "
	    "MB in all</text>\n<path class=\"area\" d=\"M16 127.0V92.0H216.0"
	    "V126.9H416.0V127.0H616.0V127.0H816.0V57.0H1016.0V127.0Z\"/>\n"
	    "<path class=\"axis\" d=\"M16 127.0H1016\"/>\n<path class=\"half\" "
	    "d=\"M16 92.0H1016\"><title>half of the line: more is a burst"
	    "</title></path>\n",
	    "<text x=\"16\" y=\"155.0\">went out: 2 of the line at most, 0.002 "
	    "MB in all</text>\n<path class=\"area\" d=\"M16 231.0V161.0H216.0"
	    "V231.0H416.0V231.0H616.0V231.0H816.0V231.0H1016.0V231.0Z\"/>\n"
	    "<path class=\"axis\" d=\"M16 231.0H1016\"/>\n<text",
	    "<text x=\"16\" y=\"571.0\">connections: 8 at most</text>\n",
	    "<text x=\"16\" y=\"686\" text-anchor=\"start\">0 ms</text>\n"
	    "<text x=\"266\" y=\"686\" text-anchor=\"middle\">2.5 ms</text>\n"
	    "<text x=\"516\" y=\"686\" text-anchor=\"middle\">5 ms</text>\n"
	    "<text x=\"766\" y=\"686\" text-anchor=\"middle\">7.5 ms</text>\n"
	    "<text x=\"1016\" y=\"686\" text-anchor=\"end\">10 ms</text>\n"
	    "</svg>\n"};
	static char buf[16384];
	struct xp_strip s;
	(void)state;
	strip_make(&s, strip_rows, 3, 5);
	FILE *out = fmemopen(buf, sizeof(buf), "w");
	xp_strip_draw(&s, out);
	fclose(out);
	const char *at = buf;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		at = strstr(at, parts[i]);
		if (!at)
			fail_msg("part %zu is not in %s", i, buf);
	}
	unsigned n = 0;
	for (at = buf; (at = strstr(at, "class=\"half\"")); at++)
		n++;
	assert_int_equal(n, 1);
	xp_strip_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_column_is_the_greatest_of_its_buckets),
	    cmocka_unit_test(a_terminal_has_a_line_a_series),
	    cmocka_unit_test(a_quiet_run_has_empty_strips),
	    cmocka_unit_test(a_drawing_has_a_panel_a_series),
	};
	return cmocka_run_group_tests_name("experiments/millisampler/strip",
	    tests, NULL, NULL);
}
