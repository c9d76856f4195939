/* models/http_ping.h -- what an HTTP ping sends, and how its answer is read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	agent                          agent at the other end
 *	 | GET /ping HTTP/1.1            ^ any GET, of HTTP/1.0 or 1.1
 *	 v                               |
 *	head of the answer  <----------  HTTP/1.1 200 OK, five bytes of body
 *
 * Each ping has a connection of its own: one that is kept alive would have no
 * handshake, and so hide lost SYNs. It asks caches to keep out of it. A ping is
 * over with the last byte of the head; who asked then closes by a reset, so that
 * neither end keeps the port.
 *
 * A head is read as it comes, byte by byte, and never stored: at most
 * HTTP_PING_HEAD bytes of lines that end in CR LF, or LF alone (RFC 9112 2.2).
 * It has a start line and headers with a name, and no control characters.
 * Interim answers (100 to 199 but 101) are skipped. Of more than that nothing is
 * asked, least of all of a body.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 3.4: the agent launches TCP and HTTP
 *        pings, and has a server for both. DEPARTS: it says nothing of what
 *        is asked for and answered; both texts are ours.
 */
#ifndef MODELS_HTTP_PING_H
#define MODELS_HTTP_PING_H

#include <stddef.h>
#include <stdint.h>

enum {
	HTTP_PING_ASK = 256,   /* room for a GET */
	HTTP_PING_HEAD = 8192, /* bytes of a head; more are none */
	/* About what GET and answer have: what simulated ones have. */
	HTTP_PING_ASK_BYTES = 128,
	HTTP_PING_ANSWER_BYTES = 128,
};

/* Write the GET for HOST, an address with port as in a URL; returns its bytes,
 * without a NUL. Domain: HOST is of at most 64 characters. */
size_t http_ping_ask(char out[HTTP_PING_ASK], const char *host);

/* What a GET is answered by. */
extern const char http_ping_answer[];
extern const size_t http_ping_answer_bytes;

/* A head that is being read. Zeroed is one of which nothing came. */
struct http_ping_head {
	uint16_t n;      /* bytes */
	uint16_t status; /* of an answer */
	uint8_t state, at;
};

enum http_ping_read {
	HTTP_PING_MORE,  /* good so far */
	HTTP_PING_WHOLE, /* its end came */
	HTTP_PING_ILL    /* no such head, or too long */
};

/* Read what came next of an answer's head, or of a GET's. Nothing is to be read
 * any more once it is WHOLE or ILL. Cost O(n). */
enum http_ping_read http_ping_read_answer(struct http_ping_head *h,
    const char *bytes, size_t n);
enum http_ping_read http_ping_read_ask(struct http_ping_head *h,
    const char *bytes, size_t n);

#endif
