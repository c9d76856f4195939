/* tests/fuzz/ping_fuzz.c -- any bytes as the head of an HTTP ping or its answer.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The first byte says which of the two, and where it comes in two pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "models/http_ping.h"
#include "tests/fuzz/fuzz.h"

typedef enum http_ping_read reader(struct http_ping_head *h, const char *bytes,
    size_t n);

/* On the heap, so that ASan sees a read past it. */
static enum http_ping_read piece(reader *read, struct http_ping_head *h,
    const uint8_t *bytes, size_t n)
{
	char *copy = malloc(n + 1);
	must(copy != NULL);
	if (n > 0)
		memcpy(copy, bytes, n);
	const enum http_ping_read rc = read(h, copy, n);
	free(copy);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct http_ping_head whole = {0}, split = {0};
	if (n == 0)
		return 0;
	reader *read =
	    bytes[0] & 1 ? http_ping_read_answer : http_ping_read_ask;
	const size_t at = (bytes[0] >> 1) % n;
	const enum http_ping_read rc = piece(read, &whole, bytes + 1, n - 1);
	enum http_ping_read again = piece(read, &split, bytes + 1, at);
	if (again == HTTP_PING_MORE)
		again = piece(read, &split, bytes + 1 + at, n - 1 - at);
	must(again == rc && whole.n == split.n);
	must(whole.n <= HTTP_PING_HEAD && whole.n <= n - 1);
	if (rc == HTTP_PING_MORE)
		must(whole.n == n - 1);
	if (rc != HTTP_PING_WHOLE)
		return 0;
	must(whole.status == split.status && bytes[whole.n] == '\n');
	if (bytes[0] & 1)
		must(whole.status >= 101 && whole.status <= 599);
	else
		must(memcmp(bytes + 1, "GET ", 4) == 0);
	return 0;
}
