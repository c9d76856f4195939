/* tests/sim/text_test.c -- words that are near, and what was meant by a number.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/text.h"

#include <ctype.h>
#include <string.h>

#include "tests/test.h"

/* --- words ---------------------------------------------------------------- */

static int same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* By its definition, from the ends of both words. */
static size_t distance_of(const char *a, size_t n, const char *b, size_t m)
{
	if (n == 0 || m == 0)
		return n + m;
	size_t d = distance_of(a, n - 1, b, m - 1) + !same(a[n - 1], b[m - 1]);
	d = least(d, distance_of(a, n - 1, b, m) + 1);
	d = least(d, distance_of(a, n, b, m - 1) + 1);
	if (n > 1 && m > 1 && same(a[n - 1], b[m - 2]) &&
	    same(a[n - 2], b[m - 1]))
		d = least(d, distance_of(a, n - 2, b, m - 2) + 1);
	return d;
}

/* Few letters, so that many agree and change places. */
static void draw_word(struct sim_rng *r, char word[8])
{
	const uint32_t n = sim_rng_below(r, 7);
	for (uint32_t i = 0; i < n; i++)
		word[i] = "abcABC"[sim_rng_below(r, 6)];
	word[n] = '\0';
}

static void a_distance_is_that_of_its_definition(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	for (uint32_t run = 0; run < 1000; run++) {
		char a[8], b[8];
		draw_word(&r, a);
		draw_word(&r, b);
		if (sim_distance(a, b) !=
		    distance_of(a, strlen(a), b, strlen(b)))
			fail_msg("seed %llu, run %u: \"%s\" and \"%s\"",
			    (unsigned long long)test_seed(), run, a, b);
	}
}

static void words_of_more_than_64_bytes_have_none(void **state)
{
	char word[67], other[67];
	(void)state;
	memset(word, 'a', sizeof(word));
	memset(other, 'a', sizeof(other));
	word[64] = other[64] = '\0';
	other[0] = 'b';
	assert_int_equal(sim_distance(word, other), 1);
	assert_int_equal(sim_distance(word, ""), 64);
	word[64] = 'a';
	word[65] = '\0';
	assert_true(sim_distance(word, other) == SIZE_MAX);
	assert_true(sim_distance(other, word) == SIZE_MAX);
}

/* All lengths: a third of the longer word may change, rounded, and no more. */
static void a_suggestion_changes_a_third_at_most(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 64; n++)
		for (size_t change = 1; change <= n; change++) {
			char word[65], meant[65];
			const char *const all[] = {meant};
			memset(word, 'a', n);
			memset(meant, 'a', n);
			word[n] = meant[n] = '\0';
			memset(word, 'x', change);
			const char *got = sim_did_you_mean(word, all, 1);
			assert_true(got == (3 * change <= n + 1 ? meant : NULL));
		}
}

static void the_first_of_the_nearest_is_suggested(void **state)
{
	static const char *const all[] = {"drop_rates", "drop_rite",
	    "drop_rats", "drop-rate"};
	(void)state;
	assert_string_equal(sim_did_you_mean("drop_rate", all, 4),
	    "drop_rates");
	assert_string_equal(sim_did_you_mean("drop_rite", all, 4),
	    "drop_rite");
	assert_string_equal(sim_did_you_mean("DROP_RATS", all, 4),
	    "drop_rats");
	assert_null(sim_did_you_mean("latency", all, 4));
	assert_null(sim_did_you_mean("drop_rate", all, 0));
}

/* --- numbers -------------------------------------------------------------- */

/* What a message suggests is what was written, its sign too. */
static void what_is_suggested_was_meant(void **state)
{
	static const struct {
		const char *text, *whole, *real;
	} all[] = {
	    {"0x10", "16", "16"},
	    {"0X1f", "31", "31"},
	    {"+0x10", "16", "16"},
	    {" 0x10", "16", "16"},
	    {"-0x10", NULL, "-16"},
	    {"0x0", "0", "0"},
	    {"-0x", NULL, NULL},
	    {"0x1g", NULL, NULL},
	    {"0xfffffffffffffffff", NULL, NULL},
	    {"-0xfffffffffffffffff", NULL, NULL},
	    {"0x1fffffffffffff", "9007199254740991", "9007199254740991"},
	    {"0x20000000000000", NULL, "9007199254740992"},
	    {"-007", NULL, "-7"},
	    {"-.5", NULL, "-0.5"},
	    {"-5%", NULL, "-0.05"},
	    {"100%", "1", "1"},
	    {"1e1%", NULL, "0.1"},
	    {"00", "0", "0"},
	    {"+-5", NULL, NULL},
	    {"%", NULL, NULL},
	    {"", NULL, NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct sim_err e;
		char want[128];
		uint64_t n;
		double x;
		assert_int_equal(sim_parse_u64(all[i].text, &n, &e),
		    SIM_EINVAL);
		snprintf(want, sizeof(want), "\"%s\" is not a whole number%s%s.",
		    all[i].text, all[i].whole ? "; write " : "",
		    all[i].whole ? all[i].whole : "");
		assert_string_equal(e.msg, want);
		assert_int_equal(sim_parse_f64(all[i].text, &x, &e),
		    SIM_EINVAL);
		snprintf(want, sizeof(want), "\"%s\" is not a number%s%s.",
		    all[i].text, all[i].real ? "; write " : "",
		    all[i].real ? all[i].real : "");
		assert_string_equal(e.msg, want);
	}
}

/* --- scalars -------------------------------------------------------------- */

/* What stands without quotes, and what needs them: at each place of a word, as
 * the first and the last are told apart. */
static void a_scalar_is_plain_where_yaml_reads_it_so(void **state)
{
	static const char *const plain[] = {"a", "7", "_a", "/a", "+a", "~a",
	    "-a", ".5", "a b", "a_./+-%~", "a-", "a.", "1%", "a b c"};
	static const char *const quoted[] = {"", " ", "a ", " a", "a  b", "-",
	    ".", "- a", ".-", "%a", "a:b", "a,b", "a#b", "[", "{", "a\tb",
	    "a\"b", "a\\b", "a\nb", "\xc3\xa4"};
	(void)state;
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		char buf[64] = "";
		struct sim_text t = {buf, sizeof(buf), 0};
		sim_put_scalar(&t, plain[i], 0);
		assert_string_equal(buf, plain[i]);
		assert_int_equal(t.n, strlen(plain[i]));
	}
	for (size_t i = 0; i < sizeof(quoted) / sizeof(*quoted); i++) {
		char buf[64] = "";
		struct sim_text t = {buf, sizeof(buf), 0};
		sim_put_scalar(&t, quoted[i], 0);
		if (buf[0] != '"' || buf[t.n - 1] != '"')
			fail_msg("\"%s\" stands as %s", quoted[i], buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_distance_is_that_of_its_definition),
	    cmocka_unit_test(words_of_more_than_64_bytes_have_none),
	    cmocka_unit_test(a_suggestion_changes_a_third_at_most),
	    cmocka_unit_test(the_first_of_the_nearest_is_suggested),
	    cmocka_unit_test(what_is_suggested_was_meant),
	    cmocka_unit_test(a_scalar_is_plain_where_yaml_reads_it_so),
	};
	return cmocka_run_group_tests_name("sim/text", tests, NULL, NULL);
}
