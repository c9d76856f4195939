/* tests/models/http_ping_test.c -- heads of HTTP pings, good and bad.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <regex.h>

#include "models/http_ping.h"
#include "tests/test.h"

typedef enum http_ping_read reader(struct http_ping_head *h, const char *bytes,
    size_t n);

/* As it comes in two pieces, on the heap, so that ASan sees a read past them. */
static enum http_ping_read in_pieces(reader *read, struct http_ping_head *h,
    const char *bytes, size_t n, size_t first)
{
	char *a = malloc(first + 1), *b = malloc(n - first + 1);
	assert_true(a && b);
	memcpy(a, bytes, first);
	memcpy(b, bytes + first, n - first);
	*h = (struct http_ping_head){0};
	enum http_ping_read rc = read(h, a, first);
	if (rc == HTTP_PING_MORE)
		rc = read(h, b, n - first);
	free(a);
	free(b);
	return rc;
}

/* What it says of TEXT, in whatever pieces that comes. */
static enum http_ping_read read_all(reader *read, const char *text,
    unsigned *status)
{
	const size_t n = strlen(text);
	struct http_ping_head h = {0}, split;
	const enum http_ping_read rc = read(&h, text, n);
	for (size_t i = 0; i <= n; i++) {
		assert_int_equal(in_pieces(read, &split, text, n, i), rc);
		assert_int_equal(split.status, h.status);
	}
	*status = h.status;
	return rc;
}

static void an_answer_is_whole_with_its_head(void **state)
{
	static const struct {
		const char *text;
		unsigned status;
	} good[] = {
	    {"HTTP/1.1 200 OK\r\n\r\n", 200},
	    {"HTTP/1.0 200\r\n\r\n", 200},
	    {"HTTP/1.1 200 \n\n", 200},
	    {"HTTP/1.1 200 OK\nA:\nB: \t x\r\n\nbody", 200},
	    {"HTTP/1.1 500 Internal Server Error\r\nVia: 1.1 p\r\n\r\n", 500},
	    {"HTTP/1.1 301 \xc3\xa4\r\nLocation: http://x/\r\n\r\n", 301},
	    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\nA: b\r\n\r\n"
	     "HTTP/1.1 204 None\r\n\r\n",
		204},
	    {"HTTP/1.1 101 Other\r\n\r\n", 101},
	};
	unsigned status;
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (read_all(http_ping_read_answer, good[i].text, &status) !=
			HTTP_PING_WHOLE ||
		    status != good[i].status)
			fail_msg("%u of: %s", status, good[i].text);
	}
}

static void what_is_no_answer_is_ill(void **state)
{
	static const char *const bad[] = {"\n", "HTTQ", "HTTP/2", "HTTP/1.x",
	    "HTTP/1.1  200", "HTTP/1.1 20x", "HTTP/1.1 2000", "HTTP/1.1\r\n",
	    "HTTP/1.1 200 a\rb", "HTTP/1.1 200\tOK", "HTTP/1.1 200 a\x01",
	    "HTTP/1.1 000 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n",
	    "HTTP/1.1 600 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n A: folded",
	    "HTTP/1.1 200 OK\r\n: nameless", "HTTP/1.1 200 OK\r\nA b: c",
	    "HTTP/1.1 200 OK\r\nlonely\r\n", "HTTP/1.1 200 OK\r\nA: \x7f",
	    "HTTP/1.1 200 OK\r\n\rx", "culprit pingmesh probe payload.\n",
	    "HTTP/1.1 100 Go on\r\n\r\nand now the body\r\n"};
	unsigned status;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (read_all(http_ping_read_answer, bad[i], &status) !=
		    HTTP_PING_ILL)
			fail_msg("taken: %s", bad[i]);
	struct http_ping_head h = {0};
	assert_int_equal(http_ping_read_answer(&h, "HTTP/1.1 200 \0", 14),
	    HTTP_PING_ILL);
}

static void any_get_is_asked_and_nothing_else(void **state)
{
	static const char *const good[] = {"GET / HTTP/1.0\r\n\r\n",
	    "GET http://10.0.0.1:80/a?b HTTP/1.1\r\nHost: x\r\n\r\nmore",
	    "GET * HTTP/1.9\n\n"};
	static const char *const bad[] = {"GETX", "GET  /", "get ", "GOT",
	    "GET /\r\n", "GET / a HTTP/1.0", "GET / HTTP/1.0 \r",
	    "GET / HTTP/2", "GET /\x80", "GET / HTTP/1.0\r\nA\r\n"};
	unsigned status;
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (read_all(http_ping_read_ask, good[i], &status) !=
		    HTTP_PING_WHOLE)
			fail_msg("refused: %s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (read_all(http_ping_read_ask, bad[i], &status) !=
		    HTTP_PING_ILL)
			fail_msg("taken: %s", bad[i]);
}

static void what_we_send_we_take_and_no_part_of_it(void **state)
{
	char ask[HTTP_PING_ASK + 1];
	struct http_ping_head h;
	unsigned status;
	(void)state;
	const size_t n_ask = http_ping_ask(ask,
	    "[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535");
	ask[n_ask] = '\0';
	assert_int_equal(strlen(ask), n_ask);
	assert_int_equal(read_all(http_ping_read_ask, ask, &status),
	    HTTP_PING_WHOLE);
	const char *end = strstr(http_ping_answer, "\r\n\r\n") + 4;
	const size_t n_head = (size_t)(end - http_ping_answer);
	/* The length that the head tells is that of the body. */
	assert_string_equal(end, "pong\n");
	assert_non_null(strstr(http_ping_answer, "Content-Length: 5\r\n"));
	assert_int_equal(strlen(http_ping_answer), http_ping_answer_bytes);
	for (size_t i = 0; i <= n_head; i++) {
		h = (struct http_ping_head){0};
		assert_int_equal(http_ping_read_answer(&h, http_ping_answer, i),
		    i < n_head ? HTTP_PING_MORE : HTTP_PING_WHOLE);
	}
	assert_int_equal(h.status, 200);
	/* A simulated one is about as long. */
	http_ping_ask(ask, "10.0.0.1:8765");
	assert_in_range(n_ask, HTTP_PING_ASK_BYTES / 2,
	    2 * HTTP_PING_ASK_BYTES);
	assert_in_range(http_ping_answer_bytes, HTTP_PING_ANSWER_BYTES / 2,
	    2 * HTTP_PING_ANSWER_BYTES);
}

static void a_head_is_no_longer_than_it_may_be(void **state)
{
	static char text[HTTP_PING_HEAD + 2];
	static const char begin[] = "HTTP/1.1 200 OK\r\nA: ";
	(void)state;
	for (int over = 0; over < 2; over++) {
		const size_t n = HTTP_PING_HEAD + (size_t)over;
		struct http_ping_head h = {0};
		memset(text, 'x', n);
		memcpy(text, begin, sizeof(begin) - 1);
		memcpy(text + n - 4, "\r\n\r\n", 4);
		assert_int_equal(http_ping_read_answer(&h, text, n),
		    over ? HTTP_PING_ILL : HTTP_PING_WHOLE);
	}
	/* Nor are all interim answers together. */
	struct http_ping_head h = {0};
	enum http_ping_read rc = HTTP_PING_MORE;
	for (unsigned i = 0; rc == HTTP_PING_MORE && i < 1000; i++)
		rc = http_ping_read_answer(&h, "HTTP/1.1 100 \n\n", 15);
	assert_int_equal(rc, HTTP_PING_ILL);
}

/* Against the grammar as one expression, over answers with a few bytes changed. */
static void answers_are_those_of_the_grammar(void **state)
{
	static const char alphabet[] = "HTP/1. 02345:ab\r\n\t\x01\x7f\xe4";
	static const char *const from[] = {"HTTP/1.1 200 OK\r\nA: b\r\n\r\n",
	    "HTTP/1.0 404\nAb:\n\n", "HTTP/1.1 100 \n\nHTTP/1.1 200 \r\n\r\n"};
#define TEXT "[\t -~\x80-\xff]*"
#define REST "( " TEXT ")?\r?\n([!-9;-~]+:" TEXT "\r?\n)*\r?\n"
	regex_t whole;
	unsigned n_whole = 0;
	(void)state;
	assert_int_equal(regcomp(&whole,
			     "^(HTTP/1\\.[0-9] 1(0[02-9]|[1-9][0-9])" REST ")*"
			     "HTTP/1\\.[0-9] ([2-5][0-9][0-9]|101)" REST,
			     REG_EXTENDED | REG_NOSUB),
	    0);
	for (uint32_t run = 0; run < 40000; run++) {
		char text[64];
		struct sim_rng r;
		struct http_ping_head h = {0};
		test_rng(&r, run);
		strcpy(text, from[run % 3]);
		for (uint32_t i = sim_rng_below(&r, 3); i > 0; i--)
			text[sim_rng_below(&r, (uint32_t)strlen(text))] =
			    alphabet[sim_rng_below(&r, sizeof(alphabet) - 1)];
		const int is = http_ping_read_answer(&h, text, strlen(text)) ==
		    HTTP_PING_WHOLE;
		if (is != (regexec(&whole, text, 0, NULL, 0) == 0))
			fail_msg("run %u: %d of: %s", run, is, text);
		n_whole += (unsigned)is;
	}
	assert_in_range(n_whole, 4000, 36000);
	regfree(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_answer_is_whole_with_its_head),
	    cmocka_unit_test(what_is_no_answer_is_ill),
	    cmocka_unit_test(any_get_is_asked_and_nothing_else),
	    cmocka_unit_test(what_we_send_we_take_and_no_part_of_it),
	    cmocka_unit_test(a_head_is_no_longer_than_it_may_be),
	    cmocka_unit_test(answers_are_those_of_the_grammar),
	};
	return cmocka_run_group_tests_name("models/http_ping", tests, NULL,
	    NULL);
}
