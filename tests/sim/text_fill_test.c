/* tests/sim/text_fill_test.c -- paragraphs in lines.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/rng.h"
#include "sim/text.h"
#include "tests/test.h"

static char *filled(unsigned at, unsigned indent, const char *text)
{
	char *out;
	size_t n;
	FILE *f = open_memstream(&out, &n);
	sim_fill(f, at, indent, text);
	fclose(f);
	return out;
}

static void assert_filled(unsigned at, unsigned indent, const char *text,
    const char *want)
{
	char *got = filled(at, indent, text);
	assert_string_equal(got, want);
	free(got);
}

#define TENS "123456789 "
#define LINE TENS TENS TENS TENS TENS TENS TENS "12345678" /* 78 columns */

static void lines_end_before_column_79(void **state)
{
	(void)state;
	assert_filled(0, 0, "", "\n");
	assert_filled(3, 3, "a b", "a b\n");
	assert_filled(0, 2, LINE, LINE "\n");
	assert_filled(1, 2, LINE,
	    TENS TENS TENS TENS TENS TENS "123456789\n  12345678\n");
	assert_filled(0, 2, LINE " x", LINE "\n  x\n");
	assert_filled(0, 4, "a\nb  c\n", "a\n    b c\n\n");
	/* Two bytes, one column. */
	assert_filled(69, 1, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 1234",
	    "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 1234\n");
}

/* Whatever the text, its words come out in their order, no line is too long
 * unless it is one word, and none could have taken the next word. No law: a
 * failure is one at any seed. */
static void words_come_out_in_their_order(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	for (unsigned run = 0; run < 2000; run++) {
		char text[1024] = "", words[1024] = "";
		struct sim_text t = {text, sizeof(text), 0};
		const unsigned indent = sim_rng_below(&r, 40);
		for (uint32_t n = sim_rng_below(&r, 40); n > 0; n--)
			sim_put(&t, "%.*s%s", (int)sim_rng_below(&r, 12),
			    "abcdefghijkl", n % 5 ? " " : "  ");
		char *got = filled(indent, indent, text), *rest;
		struct sim_text w = {words, sizeof(words), 0};
		unsigned last = 0;
		for (char *line = strtok_r(got, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest)) {
			const char *first = line + strspn(line, " ");
			const unsigned n =
			    (unsigned)strlen(line) + (last ? 0 : indent);
			const size_t word = strcspn(first, " ");
			assert_true(n <= 78);
			assert_true(!last || !*first || last + 1 + word > 78);
			sim_put(&w, "%s%s", *words && *first ? " " : "", first);
			last = n;
		}
		char *want = filled(0, 0, text);
		for (char *p = want; *p; p++)
			if (*p == '\n')
				*p = p[1] ? ' ' : '\0';
		if (strcmp(want, words) != 0)
			fail_msg("seed %llu, run %u: \"%s\"",
			    (unsigned long long)test_seed(), run, text);
		free(want);
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_end_before_column_79),
	    cmocka_unit_test(words_come_out_in_their_order),
	};
	return cmocka_run_group_tests_name("sim/text, sim_fill", tests, NULL,
	    NULL);
}
