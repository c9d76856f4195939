/* tests/sim/text_test.c -- strict numbers, near words, quoting.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/text.h"

#include <ctype.h>
#include <math.h>
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

static void the_suggestion_is_the_nearest_by_definition(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 2000; run++) {
		enum { N = 4 };
		char word[8], cand[N][8];
		const char *list[N], *want = NULL;
		size_t nearest = SIZE_MAX;
		struct sim_rng r;
		test_rng(&r, run);
		draw_word(&r, word);
		for (size_t i = 0; i < N; i++) {
			draw_word(&r, cand[i]);
			list[i] = cand[i];
			size_t n = strlen(word), m = strlen(cand[i]);
			size_t d = distance_of(word, n, cand[i], m);
			if (d < nearest && d <= ((n > m ? n : m) + 1) / 3) {
				nearest = d;
				want = list[i];
			}
			assert_int_equal(sim_distance(word, cand[i]), d);
		}
		if (sim_did_you_mean(word, list, N) != want)
			fail_msg("seed %llu run %u: \"%s\"",
			    (unsigned long long)test_seed(), run, word);
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
			assert_true(
			    got == (3 * change <= n + 1 ? meant : NULL));
		}
}

static void far_words_are_not_suggested(void **state)
{
	(void)state;
	static const char *const list[] = {"drop_rate", "n_pods", "seed"};
	char giant[200];
	memset(giant, 'x', sizeof(giant));
	giant[199] = '\0';
	assert_string_equal(sim_did_you_mean("droprate", list, 3), "drop_rate");
	assert_string_equal(sim_did_you_mean("pods", list, 3), "n_pods");
	assert_string_equal(sim_did_you_mean("sede", list, 3), "seed");
	assert_null(sim_did_you_mean("latency", list, 3));
	assert_null(sim_did_you_mean("", list, 3));
	assert_null(sim_did_you_mean(giant, list, 3));
	assert_null(sim_did_you_mean("x", list, 0));
}

static void a_like_word_shares_a_part_or_its_beginning(void **state)
{
	static const char *const known[] = {"rate", "conns", "topology",
	    "max_peers"};
	static const struct {
		const char *word, *like;
	} cases[] = {{"drop_rate", "rate"}, {"connections", "conns"},
	    {"topo", "topology"}, {"peers", "max_peers"}, {"separate", NULL},
	    {"to", NULL}, {"number", NULL}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *like = sim_like(cases[i].word, known, 4);
		if (cases[i].like)
			assert_string_equal(like, cases[i].like);
		else
			assert_null(like);
	}
}

/* --- numbers -------------------------------------------------------------- */

static void only_plain_decimals_are_numbers(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		double x;
	} good[] = {{"0", 0}, {"1e-6", 1e-6}, {"1.0e-4", 1e-4},
	    {"-2.5E+3", -2500}, {"-0", 0}, {"0.0e5", 0}, {"1e06", 1e6},
	    {"123456789.25", 123456789.25}, {"4.9e-324", 4.9e-324}};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		double x = NAN;
		assert_ok(sim_parse_f64(good[i].text, &x, test_err()));
		assert_true(x == good[i].x && !signbit(x) == !(x < 0));
	}
	static const struct {
		const char *text, *message;
	} bad[] = {
	    {"1%", "\"1%\" is not a number; write 0.01."},
	    {"0%", "\"0%\" is not a number; write 0."},
	    {"0.29%", "\"0.29%\" is not a number; write 0.0029."},
	    {"1e-3%", "\"1e-3%\" is not a number; write 1e-05."},
	    {"010", "\"010\" is not a number; write 10."},
	    {"-007.5", "\"-007.5\" is not a number; write -7.5."},
	    {"0x10", "\"0x10\" is not a number; write 16."},
	    {"0x", "\"0x\" is not a number."},
	    {"1_000", "\"1_000\" is not a number; write 1000."},
	    {".5", "\".5\" is not a number; write 0.5."},
	    {"5.", "\"5.\" is not a number; write 5."},
	    {"+1", "\"+1\" is not a number; write 1."},
	    {" 1", "\" 1\" is not a number; write 1."},
	    {"1 ", "\"1 \" is not a number; write 1."},
	    {"", "\"\" is not a number."},
	    {"-", "\"-\" is not a number."},
	    {"--1", "\"--1\" is not a number."},
	    {"1e", "\"1e\" is not a number."},
	    {"1e+", "\"1e+\" is not a number."},
	    {"1.e5", "\"1.e5\" is not a number."},
	    {"e5", "\"e5\" is not a number."},
	    {"1,5", "\"1,5\" is not a number."},
	    {"1.2.3", "\"1.2.3\" is not a number."},
	    {"nan", "\"nan\" is not a number."},
	    {"inf", "\"inf\" is not a number."},
	    {".inf", "\".inf\" is not a number."},
	    {"0x1p3", "\"0x1p3\" is not a number."},
	    {"1\n2", "\"1 2\" is not a number."},
	    {"1e999", "\"1e999\" is too large."},
	    {"-1e999", "\"-1e999\" is too large."},
	    {"1e-999", "\"1e-999\" is too near to 0."},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_err e = {0};
		double x = 42;
		assert_true(sim_parse_f64(bad[i].text, &x, &e) < 0);
		assert_string_equal(e.msg, bad[i].message);
		assert_true(x == 42);
	}
}

static void whole_numbers_have_no_point_and_no_exponent(void **state)
{
	(void)state;
	uint64_t x = 0;
	assert_ok(sim_parse_u64("18446744073709551615", &x, test_err()));
	assert_true(x == UINT64_MAX);
	assert_ok(sim_parse_u64("0", &x, test_err()));
	assert_true(x == 0);
	static const struct {
		const char *text;
		int code;
		const char *message;
	} bad[] = {
	    {"1e3", SIM_EINVAL, "\"1e3\" is not a whole number; write 1000."},
	    {"1.0", SIM_EINVAL, "\"1.0\" is not a whole number; write 1."},
	    {"300%", SIM_EINVAL, "\"300%\" is not a whole number; write 3."},
	    {"1.5", SIM_EINVAL, "\"1.5\" is not a whole number."},
	    {"1e40", SIM_EINVAL, "\"1e40\" is not a whole number."},
	    {"ten", SIM_EINVAL, "\"ten\" is not a whole number."},
	    {"-1", SIM_ERANGE, "\"-1\" is below 0."},
	    {"18446744073709551616", SIM_ERANGE,
		"\"18446744073709551616\" is above 18446744073709551615."},
	    {"99999999999999999999", SIM_ERANGE,
		"\"99999999999999999999\" is above 18446744073709551615."},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_err e = {0};
		assert_int_equal(sim_parse_u64(bad[i].text, &x, &e),
		    bad[i].code);
		assert_string_equal(e.msg, bad[i].message);
	}
}

static void times_have_units(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		sim_ns t;
	} good[] = {{"0s", 0}, {"1ns", 1}, {"150us", 150000},
	    {"1.5ms", 1500000}, {"10s", 10 * SIM_SEC}, {"0.1s", 100000000},
	    {"2m", 120 * SIM_SEC}, {"1h", 3600 * SIM_SEC},
	    {"1d", 86400 * SIM_SEC}, {"0.4ns", 0}, {"0.6ns", 1}};
	static const char *const bad[] = {"", "10", "s", "-1s", "1 s", "1e3s",
	    "1us2", "010s", ".5s", "1.s", "1S", "1.2.3s",
	    "00000000000000000000000000000000000001s"};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		sim_ns t = 42;
		assert_ok(sim_parse_ns(good[i].text, &t, test_err()));
		assert_int_equal(t, good[i].t);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_err e = {0};
		sim_ns t = 42;
		assert_int_equal(sim_parse_ns(bad[i], &t, &e), SIM_EINVAL);
		assert_non_null(strstr(e.msg, "is no time"));
		assert_int_equal(t, 42);
	}
	assert_int_equal(sim_parse_ns("9999999999999999999ns", &(sim_ns){0},
			     NULL),
	    SIM_ERANGE);
}

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
		snprintf(want, sizeof(want),
		    "\"%s\" is not a whole number%s%s.", all[i].text,
		    all[i].whole ? "; write " : "",
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

static void bytes_that_are_not_utf8_are_written_as_ufffd(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} cases[] = {{"a\xff", "\"a\\ufffd\""}, {"\x80", "\"\\ufffd\""},
	    {"\xc3", "\"\\ufffd\""}, {"\xc3x", "\"\\ufffdx\""},
	    {"\xe2\x82", "\"\\ufffd\\ufffd\""},
	    {"\xc0\xaf", "\"\\ufffd\\ufffd\""},
	    {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
	    {"\xf5\x80", "\"\\ufffd\\ufffd\""},
	    {"\xef\xbf\xbd", "\"\xef\xbf\xbd\""},
	    {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[64];
		struct sim_text t = {out, sizeof(out), 0};
		sim_put_scalar(&t, cases[i].in, 0);
		assert_string_equal(out, cases[i].out);
	}
}

static void long_and_odd_text_is_quoted_on_one_line(void **state)
{
	(void)state;
	char q[64], text[80];
	assert_string_equal(sim_quote(q, "a\tb\nc"), "\"a b c\"");
	memset(text, 'x', sizeof(text));
	text[40] = '\0';
	assert_int_equal(strlen(sim_quote(q, text)), 42);
	text[40] = 'x';
	text[41] = '\0';
	assert_int_equal(strlen(sim_quote(q, text)), 45);
	memcpy(text + 39, "\xc3\xa4", 3); /* would be cut in two */
	sim_quote(q, text);
	assert_int_equal(strlen(q), 44);
	assert_string_equal(q + 40, "...\"");
	/* Of a character of 2, 3 or 4 bytes that begins at byte K all is shown
	 * or nothing. */
	static const char *const wide[] = {"\xc3\xa4", "\xe2\x82\xac",
	    "\xf0\x9f\x98\x80"};
	for (size_t w = 0; w < 3; w++)
		for (size_t k = 35; k <= 40; k++) {
			char want[64];
			const size_t n = strlen(wide[w]);
			snprintf(text, sizeof(text), "%.*s%sxxxxxx", (int)k,
			    "1234567890123456789012345678901234567890",
			    wide[w]);
			const size_t shown = k < 40 && k + n > 40 ? k : 40;
			snprintf(want, sizeof(want), "\"%.*s...\"", (int)shown,
			    text);
			assert_string_equal(sim_quote(q, text), want);
		}
}

/* C in LEN bytes as UTF-8 has it, though it may need fewer. */
static void text_encode(uint32_t c, unsigned len, unsigned char out[5])
{
	static const unsigned char mark[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (unsigned i = len; i-- > 1; c >>= 6)
		out[i] = (unsigned char)(0x80 | (c & 0x3f));
	out[0] = (unsigned char)(mark[len] | c);
	out[len] = '\0';
}

static unsigned bytes_needed(uint32_t c)
{
	return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

/* All that four bytes can say, in as many bytes as is needed and in more. */
static void a_character_is_read_if_it_is_one_and_shortest(void **state)
{
	static const uint32_t end[] = {0, 0x80, 0x800, 0x10000, 0x200000};
	(void)state;
	for (unsigned len = 1; len <= 4; len++)
		for (uint32_t c = 1; c < end[len]; c++) {
			unsigned char text[5];
			const unsigned char *at = text;
			text_encode(c, len, text);
			const int good = bytes_needed(c) == len &&
			    c <= 0x10ffff && !(c >= 0xd800 && c < 0xe000);
			const uint32_t got = sim_next_char(&at);
			if (got != (good ? c : 0xfffd) ||
			    at != text + (good ? len : 1))
				fail_msg("U+%04X in %u bytes: U+%04X, %td", c,
				    len, got, at - text);
		}
}

/* Of each range that is escaped the ends, and what is next to them. */
static void what_yaml_may_not_read_raw_is_escaped(void **state)
{
	static const struct {
		uint32_t c;
		int escaped;
	} all[] = {{0x01, 1}, {0x1f, 1}, {0x20, 0}, {0x7e, 0}, {0x7f, 1},
	    {0x80, 1}, {0xa0, 1}, {0xa1, 0}, {0x2027, 0}, {0x2028, 1},
	    {0x2029, 1}, {0x202a, 0}, {0xfefe, 0}, {0xfeff, 1}, {0xff00, 0},
	    {0xfffd, 0}, {0xfffe, 1}, {0xffff, 1}, {0x10000, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		char text[5], want[16], out[16] = "";
		struct sim_text t = {out, sizeof(out), 0};
		text_encode(all[i].c, bytes_needed(all[i].c),
		    (unsigned char *)text);
		if (all[i].escaped)
			snprintf(want, sizeof(want), "\"\\u%04x\"", all[i].c);
		else
			snprintf(want, sizeof(want), "\"%s\"", text);
		sim_put_scalar(&t, text, 1);
		assert_string_equal(out, want);
	}
	char out[16] = "";
	struct sim_text t = {out, sizeof(out), 0};
	sim_put_scalar(&t, "\"\\\n\t", 1);
	assert_string_equal(out, "\"\\\"\\\\\\n\\t\"");
}

/* What does not fit is counted, and what fits is kept. */
static void text_beyond_its_room_is_counted(void **state)
{
	(void)state;
	for (size_t size = 0; size <= 12; size++) {
		char buf[16], want[16];
		struct sim_text t = {buf, size, 0};
		memset(buf, '#', sizeof(buf));
		sim_put(&t, "%s", "");
		assert_int_equal(t.n, 0);
		sim_put(&t, "%d-", 1234);
		assert_int_equal(t.n, 5);
		sim_put(&t, "%s", "abcde");
		assert_int_equal(t.n, 10);
		snprintf(want, size, "1234-abcde");
		if (size > 0)
			assert_string_equal(buf, want);
		assert_int_equal(buf[size], '#');
	}
	struct sim_text none = {NULL, 0, 0};
	sim_put(&none, "abc");
	assert_int_equal(none.n, 3);
}

/* Words of fewer letters than are compared, parts at each place, and which of
 * several is taken. */
static void likeness_is_of_whole_parts_and_of_first_letters(void **state)
{
	static const char *const known[] = {"ip", "conns", "connect", "a_ttl"};
	static const struct {
		const char *word;
		const char *like;
	} cases[] = {{"ip_x", "ip"}, {"x_ip", "ip"}, {"x_ip_y", "ip"},
	    {"xip", NULL}, {"ipx", NULL}, {"x_ipy", NULL}, {"xip_y", NULL},
	    {"xip_ip", "ip"}, {"con", "conns"}, {"co", NULL}, {"conx", NULL},
	    {"conn", "conns"}, {"conn_x", "conns"}, {"connect", "conns"},
	    {"ttl", "a_ttl"}, {"a", "a_ttl"}, {"tl", NULL}, {"i", NULL}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = sim_like(cases[i].word, known, 4);
		if (!got != !cases[i].like ||
		    (got && strcmp(got, cases[i].like) != 0))
			fail_msg("\"%s\" is like \"%s\"", cases[i].word,
			    got ? got : "nothing");
	}
	assert_null(sim_like("ip", known, 0));
}

static void words_are_found_by_their_place(void **state)
{
	static const char *const words[] = {"a", "b", "c", NULL};
	char *copy;
	(void)state;
	assert_int_equal(sim_word_find(words, "a"), 0);
	assert_int_equal(sim_word_find(words, "c"), 2);
	assert_int_equal(sim_word_find(words, "d"), 3);
	assert_int_equal(sim_word_find(words + 3, "a"), 0);
	assert_ok(sim_dup(&copy, "twice", test_err()));
	assert_string_equal(copy, "twice");
	free(copy);
}

/* The last that is taken, and the first that is not. */
static void times_end_at_2_to_the_63(void **state)
{
	struct sim_err e;
	char text[48];
	sim_ns t = 42;
	(void)state;
	assert_ok(sim_parse_ns("9223372036854774784ns", &t, test_err()));
	assert_true(t == UINT64_C(9223372036854774784));
	t = 42;
	assert_int_equal(sim_parse_ns("9223372036854775808ns", &t, &e),
	    SIM_ERANGE);
	assert_string_equal(e.msg,
	    "\"9223372036854775808ns\" is above 2^63 ns.");
	assert_int_equal(sim_parse_ns("1 s", &t, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "\"1 s\" is no time; write a number and ns, us, ms, s, m, h or "
	    "d: 150us.");
	assert_int_equal(t, 42);
	/* A number of 31 bytes is read, and no longer one. */
	snprintf(text, sizeof(text), "1.%029ds", 0);
	assert_ok(sim_parse_ns(text, &t, test_err()));
	assert_int_equal(t, SIM_SEC);
	snprintf(text, sizeof(text), "1.%030ds", 0);
	assert_int_equal(sim_parse_ns(text, &t, NULL), SIM_EINVAL);
}

static void a_number_is_written_with_as_few_digits_as_tell_it(void **state)
{
	static const struct {
		double x;
		const char *text;
	} all[] = {{0, "0"}, {-0., "0"}, {1, "1"}, {-4160, "-4160"},
	    {0.1, "0.1"}, {1e-6, "1e-06"}, {999999999999999, "999999999999999"},
	    {-999999999999999, "-999999999999999"}, {1e15, "1e+15"},
	    {1000000000000001, "1000000000000001"},
	    {1. / 3, "0.3333333333333333"}, {0.1 + 0.2, "0.30000000000000004"},
	    {123.456, "123.456"}, {1234567.5, "1234567.5"}, {INFINITY, "inf"}};
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char buf[32];
		assert_ptr_equal(sim_format_f64(buf, all[i].x), buf);
		assert_string_equal(buf, all[i].text);
	}
}

/* A guess is made of up to 44 bytes, with the 0 that stands before a point. */
static void no_guess_is_made_of_very_long_numbers(void **state)
{
	static const struct {
		const char *start;
		unsigned most; /* bytes behind it */
		const char *end;
	} all[] = {{"+", 44, ""}, {"+", 43, "%"}, {"+.", 42, ""}};
	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (unsigned more = 0; more < 2; more++) {
			char text[64];
			struct sim_err e;
			double x;
			snprintf(text, sizeof(text), "%s%.*s%s", all[i].start,
			    (int)(all[i].most + more),
			    "1111111111111111111111111111111111111111111111",
			    all[i].end);
			assert_int_equal(sim_parse_f64(text, &x, &e),
			    SIM_EINVAL);
			assert_true(
			    (strstr(e.msg, "; write ") == NULL) == (more == 1));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_suggestion_is_the_nearest_by_definition),
	    cmocka_unit_test(words_of_more_than_64_bytes_have_none),
	    cmocka_unit_test(a_suggestion_changes_a_third_at_most),
	    cmocka_unit_test(far_words_are_not_suggested),
	    cmocka_unit_test(a_like_word_shares_a_part_or_its_beginning),
	    cmocka_unit_test(only_plain_decimals_are_numbers),
	    cmocka_unit_test(whole_numbers_have_no_point_and_no_exponent),
	    cmocka_unit_test(times_have_units),
	    cmocka_unit_test(what_is_suggested_was_meant),
	    cmocka_unit_test(a_scalar_is_plain_where_yaml_reads_it_so),
	    cmocka_unit_test(bytes_that_are_not_utf8_are_written_as_ufffd),
	    cmocka_unit_test(long_and_odd_text_is_quoted_on_one_line),
	    cmocka_unit_test(a_character_is_read_if_it_is_one_and_shortest),
	    cmocka_unit_test(what_yaml_may_not_read_raw_is_escaped),
	    cmocka_unit_test(text_beyond_its_room_is_counted),
	    cmocka_unit_test(likeness_is_of_whole_parts_and_of_first_letters),
	    cmocka_unit_test(words_are_found_by_their_place),
	    cmocka_unit_test(times_end_at_2_to_the_63),
	    cmocka_unit_test(a_number_is_written_with_as_few_digits_as_tell_it),
	    cmocka_unit_test(no_guess_is_made_of_very_long_numbers),
	};
	return cmocka_run_group_tests_name("sim/text", tests, NULL, NULL);
}
