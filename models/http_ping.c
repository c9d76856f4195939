/* models/http_ping.c -- what an HTTP ping sends, and how its answer is read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/http_ping.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* no-store also in the answer, as a cache that pays no heed to what is asked for
 * would answer the next ping by itself, and measure itself. */
const char http_ping_answer[] = "HTTP/1.1 200 OK\r\n"
				"Content-Type: text/plain\r\n"
				"Content-Length: 5\r\n"
				"Cache-Control: no-store\r\n"
				"Connection: close\r\n"
				"\r\n"
				"pong\n";
const size_t http_ping_answer_bytes = sizeof(http_ping_answer) - 1;

size_t http_ping_ask(char out[HTTP_PING_ASK], const char *host)
{
	const int n = snprintf(out, HTTP_PING_ASK,
	    "GET /ping HTTP/1.1\r\n"
	    "Host: %s\r\n"
	    "User-Agent: culprit\r\n"
	    "Cache-Control: no-store\r\n"
	    "Connection: close\r\n"
	    "\r\n",
	    host);
	assert(n > 0 && n < HTTP_PING_ASK);
	return (size_t)n;
}

/* Where in a head the next byte stands. LINE is the start line, by a pattern;
 * RETURN is behind a CR, which only the end of its line may follow; LAST is the
 * same in the empty line. */
enum state { LINE, REST, RETURN, BEGIN, NAME, VALUE, LAST };

/* Start lines: # is a digit, * one visible character or more and a blank. */
static const char answer_line[] = "HTTP/1.# ###", ask_line[] = "GET *HTTP/1.#";
enum { STATUS_AT = 9 }; /* in the first of them */

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_visible(char c)
{
	return c > ' ' && c < 127;
}

/* Of a value or a reason: bytes above 127 may be there (RFC 9110 5.5). */
static int is_text(char c)
{
	return c == '\t' || c == ' ' || is_visible(c) || (signed char)c < 0;
}

/* A byte of the start line; 0 if it cannot be. AT moves on with the pattern, but
 * stays at a star, which it has seen when its highest bit is set. */
static int http_ping_line(struct http_ping_head *h, const char *line, char c)
{
	enum { SEEN = 128 };
	const unsigned at = h->at & (SEEN - 1);
	if (line[at] == '*') {
		const int ends = c == ' ' && h->at & SEEN;
		h->at = (uint8_t)(ends ? at + 1 : at | SEEN);
		return ends || is_visible(c);
	}
	if (line[at] == '#' ? !is_digit(c) : c != line[at])
		return 0;
	if (line == answer_line && at >= STATUS_AT)
		h->status = (uint16_t)(h->status * 10 + (c - '0'));
	h->at++;
	if (line[at + 1] == '\0')
		h->state = REST;
	return 1;
}

/* What may follow the start line's pattern: of an answer a blank and a reason,
 * of a GET nothing. AT then is beyond the pattern. */
static int http_ping_rest(struct http_ping_head *h, const char *line, char c)
{
	const unsigned n = (unsigned)strlen(line);
	if (line == ask_line)
		return 0;
	if (h->at == n && c != ' ')
		return 0;
	h->at = (uint8_t)(n + 1);
	return is_text(c);
}

static int http_ping_byte(struct http_ping_head *h, const char *line, char c)
{
	const int in_line =
	    h->state == REST || h->state == VALUE || h->state == RETURN;
	if (in_line && c == '\n') {
		h->state = BEGIN;
		return 1;
	}
	if (h->state == RETURN || h->state == LAST)
		return 0;
	if (h->state != LINE && h->state != NAME && c == '\r') {
		h->state = h->state == BEGIN ? LAST : RETURN;
		return 1;
	}
	switch ((enum state)h->state) {
	case LINE:
		return http_ping_line(h, line, c);
	case REST:
		return http_ping_rest(h, line, c);
	case BEGIN:
		h->state = NAME;
		return is_visible(c) && c != ':';
	case NAME:
		h->state = c == ':' ? VALUE : NAME;
		return is_visible(c);
	default:
		return is_text(c);
	}
}

/* The empty line has come. An interim answer is none: the next head follows. */
static enum http_ping_read http_ping_end(struct http_ping_head *h,
    const char *line)
{
	if (line == ask_line)
		return HTTP_PING_WHOLE;
	if (h->status < 100 || h->status > 599)
		return HTTP_PING_ILL;
	if (h->status >= 200 || h->status == 101)
		return HTTP_PING_WHOLE;
	*h = (struct http_ping_head){.n = h->n};
	return HTTP_PING_MORE;
}

static enum http_ping_read http_ping_read(struct http_ping_head *h,
    const char *line, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (h->n == HTTP_PING_HEAD)
			return HTTP_PING_ILL;
		h->n++;
		if (bytes[i] == '\n' &&
		    (h->state == BEGIN || h->state == LAST)) {
			const enum http_ping_read rc = http_ping_end(h, line);
			if (rc != HTTP_PING_MORE)
				return rc;
		} else if (!http_ping_byte(h, line, bytes[i])) {
			return HTTP_PING_ILL;
		}
	}
	return HTTP_PING_MORE;
}

enum http_ping_read http_ping_read_answer(struct http_ping_head *h,
    const char *bytes, size_t n)
{
	return http_ping_read(h, answer_line, bytes, n);
}

enum http_ping_read http_ping_read_ask(struct http_ping_head *h,
    const char *bytes, size_t n)
{
	return http_ping_read(h, ask_line, bytes, n);
}
