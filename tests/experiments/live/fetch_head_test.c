/* tests/experiments/live/fetch_head_test.c -- heads of answers, line by line.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/fetch_head.h"
#include "tests/test.h"

static const char TWO_LENGTHS[] =
    "it says the length of its answer in two ways";
static const char NOT_CHUNKED[] =
    "its answer has a transfer coding that is not chunked";
static const char PACKED[] = "its answer is packed, which was not asked for";
static const char FOLDED[] = "a header of its answer is folded";

static void head_line(struct xp_fetch_head *h, const char *line)
{
	/* No byte is looked at behind the last. */
	const size_t n = strlen(line);
	char *copy = malloc(n + (n == 0));
	assert_non_null(copy);
	memcpy(copy, line, n);
	xp_fetch_head_line(h, copy, n);
	free(copy);
}

static void a_value_stands_between_blanks(void **state)
{
	static const struct {
		const char *line, *tag;
	} q[] = {
	    {"ETag: \"a1\"\r\n", "\"a1\""},
	    {"etag:x", "x"},
	    {"eTaG: \t x \t\r\n", "x"},
	    {"etag:!~\n", "!~"},
	    /* Bytes that it cannot have. */
	    {"etag: a b\r\n", ""},
	    {"etag: a\x7f\r\n", ""},
	    {"etag: a\x1f\r\n", ""},
	    {"etag: a\xc3\xa4\r\n", ""},
	    {"etag:\r\n", ""},
	    {"etag:", ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct xp_fetch_head h = {.tag = "old"};
		head_line(&h, q[i].line);
		assert_string_equal(h.tag, q[i].tag);
		assert_null(xp_fetch_head_ill(&h));
	}
}

static void other_lines_say_nothing_of_it(void **state)
{
	static const char *const q[] = {"etag", "etagg: y", "etag : y",
	    "x-etag: y", "\r\n", ""};
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct xp_fetch_head h = {.tag = "old", .mark = "older"};
		head_line(&h, q[i]);
		assert_string_equal(h.tag, "old");
		assert_string_equal(h.mark, "older");
		assert_null(xp_fetch_head_ill(&h));
	}
}

static void a_value_that_is_too_long_is_none(void **state)
{
	char line[256];
	(void)state;
	for (size_t n = XP_FETCH_TAG - 2; n <= XP_FETCH_TAG + 1; n++) {
		struct xp_fetch_head h = {.tag = "old"};
		strcpy(line, "etag: ");
		memset(line + 6, 't', n);
		line[6 + n] = '\0';
		head_line(&h, line);
		assert_int_equal(strlen(h.tag), n < XP_FETCH_TAG ? n : 0);
	}
	for (size_t n = XP_LIST_MARK - 2; n <= XP_LIST_MARK + 1; n++) {
		struct xp_fetch_head h = {.mark = "old"};
		strcpy(line, "Culprit-Signature: ");
		memset(line + 19, 'm', n);
		line[19 + n] = '\0';
		head_line(&h, line);
		assert_int_equal(strlen(h.mark), n < XP_LIST_MARK ? n : 0);
	}
}

static void a_mark_has_blanks(void **state)
{
	struct xp_fetch_head h = {0};
	(void)state;
	head_line(&h, "culprit-signature: 1 17 ab\r\n");
	assert_string_equal(h.mark, "1 17 ab");
	head_line(&h, "culprit-signature: 1\t17 ab\r\n");
	assert_string_equal(h.mark, "");
}

static void a_status_forgets_what_came_before(void **state)
{
	struct xp_fetch_head h = {0};
	(void)state;
	head_line(&h, "HTTP/1.1 100 Continue\r\n");
	head_line(&h, "etag: a\r\n");
	head_line(&h, "culprit-signature: 1 2 3\r\n");
	head_line(&h, "content-length: 3\r\n");
	head_line(&h, "content-length: 3\r\n");
	head_line(&h, "transfer-encoding: gzip\r\n");
	head_line(&h, "content-encoding: gzip\r\n");
	head_line(&h, " folded\r\n");
	assert_non_null(xp_fetch_head_ill(&h));
	head_line(&h, "HTTP");
	assert_string_equal(h.tag, "a");
	head_line(&h, "HTTP/");
	assert_string_equal(h.tag, "");
	assert_string_equal(h.mark, "");
	assert_null(xp_fetch_head_ill(&h));
	assert_int_equal(h.n_lengths, 0);
	assert_int_equal(h.n_codings, 0);
	assert_false(h.is_chunked);
	assert_false(h.is_packed);
	assert_false(h.is_folded);
}

/* Of one or two lines of a head, what is wrong with it. */
static void a_body_has_one_length(void **state)
{
	static const struct {
		const char *line[2], *ill;
	} q[] = {
	    {{"Content-Length: 3\r\n", ""}, NULL},
	    {{"Content-Length: 3\r\n", "content-length: 3\r\n"}, TWO_LENGTHS},
	    {{"Content-Length: \x01\r\n", "content-length: 3\r\n"},
		TWO_LENGTHS},
	    {{"Transfer-Encoding: Chunked\r\n", ""}, NULL},
	    {{"Transfer-Encoding: chunked\r\n", "content-length: 3\r\n"},
		TWO_LENGTHS},
	    {{"content-length: 3\r\n", "transfer-encoding: gzip\r\n"},
		TWO_LENGTHS},
	    {{"transfer-encoding: gzip\r\n", ""}, NOT_CHUNKED},
	    {{"transfer-encoding: gzip, chunked\r\n", ""}, NOT_CHUNKED},
	    {{"transfer-encoding:\r\n", ""}, NOT_CHUNKED},
	    {{"transfer-encoding: gzip\r\n", "transfer-encoding: chunked\r\n"},
		NOT_CHUNKED},
	    {{"transfer-encoding: chunked\r\n",
		 "transfer-encoding: chunked\r\n"},
		NOT_CHUNKED},
	    {{"content-encoding: Identity\r\n", ""}, NULL},
	    {{"content-encoding: gzip\r\n", ""}, PACKED},
	    {{"content-encoding: gzip\r\n", "content-encoding: identity\r\n"},
		PACKED},
	    {{"content-encoding:\r\n", ""}, PACKED},
	    {{" x\r\n", ""}, FOLDED},
	    {{"\tx\r\n", ""}, FOLDED},
	    {{" ", "etag: y"}, FOLDED},
	    {{"x: y\r\n", "\r\n"}, NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct xp_fetch_head h = {0};
		head_line(&h, q[i].line[0]);
		head_line(&h, q[i].line[1]);
		const char *ill = xp_fetch_head_ill(&h);
		if (!q[i].ill)
			assert_null(ill);
		else
			assert_string_equal(ill, q[i].ill);
	}
}

static void what_was_wrong_with_it_is_counted(void **state)
{
	struct xp_fetch_head h = {0};
	(void)state;
	head_line(&h, "content-length: 1\r\n");
	head_line(&h, "content-length: 1\r\n");
	head_line(&h, "transfer-encoding: chunked\r\n");
	assert_int_equal(h.n_lengths, 2);
	assert_int_equal(h.n_codings, 1);
	assert_true(h.is_chunked);
	head_line(&h, "transfer-encoding: br\r\n");
	assert_int_equal(h.n_codings, 2);
	assert_false(h.is_chunked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_value_stands_between_blanks),
	    cmocka_unit_test(other_lines_say_nothing_of_it),
	    cmocka_unit_test(a_value_that_is_too_long_is_none),
	    cmocka_unit_test(a_mark_has_blanks),
	    cmocka_unit_test(a_status_forgets_what_came_before),
	    cmocka_unit_test(a_body_has_one_length),
	    cmocka_unit_test(what_was_wrong_with_it_is_counted),
	};
	return cmocka_run_group_tests_name("experiments/live/fetch_head", tests,
	    NULL, NULL);
}
