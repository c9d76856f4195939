/* experiments/live/serve.h -- requests in, answers out; without sockets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	controller			collector
 *	GET /pinglist/10.0.0.17		POST /results
 *	GET /pinglist.xsd
 *	GET /health			GET /health
 *	GET /metrics			GET /metrics
 *	GET /				GET /
 *
 * Where clients have certificates, a server's list and what it saw are for
 * those that have its address, and 403 for others.
 *
 * HEAD goes wherever GET does. A target is one of these byte for byte: no
 * query, no percent sign, no other way to write an address, so there is no path
 * to climb. Alone what RFC 9112 (3.2.2) has all servers take, http://HOST before
 * it, is passed over. A request that two readers may read in two ways is refused
 * whatever it asks for: more than one length, coding or host, a length beside a
 * coding, a coding that is not chunked, either of them folded, a
 * control character in a header. Who serves
 * asks twice:
 *
 *	xp_http_head()  once the head is there: the answer, or "send the body"
 *	xp_http_body()  once the body is: the answer, or "keep it, then answer"
 *
 * Here nothing is read, written, counted or allocated; what is to be counted
 * stands in the answer.
 */
#ifndef EXPERIMENTS_LIVE_SERVE_H
#define EXPERIMENTS_LIVE_SERVE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "algos/pingmesh/pinglist.h"
#include "algos/pingmesh/wire.h"
#include "experiments/live/batch_store.h"
#include "experiments/live/daemon.h"
#include "sim/text.h"

/* What /health and /metrics say. The first block is counted by answer: of each request just
 * one; the rest by who serves. */
#define XP_HTTP_COUNTERS(X)                                                    \
	X(pinglists, "pinglists sent")                                         \
	X(not_modified, "pinglists that the agent had")                        \
	X(withheld, "pinglists withheld while all agents are stopped")         \
	X(pages, "other pages")                                                \
	X(batches_taken, "batches taken")                                      \
	X(batches_known, "batches that were taken before")                     \
	X(bad_batches, "bodies that are no batch")                             \
	X(not_found, "targets that are none")                                  \
	X(bad_methods, "methods that a target does not have")                  \
	X(too_large, "bodies larger than a batch can be")                      \
	X(not_stored, "batches that could not be written")                     \
	X(not_sent, "pinglists without memory to send them")                   \
	X(refused, "requests that were understood and not done")               \
	X(malformed, "requests that are no HTTP, or whose client left")        \
	X(untrusted,                                                           \
	    "connections of clients whose certificate is none of ours")        \
	X(cut_off, "bodies cut off at the limit")                              \
	X(late, "connections closed at a deadline")                            \
	X(connections, "connections begun")                                    \
	X(slow_heads, "of these, while the head of a request was to come")     \
	X(slow_bodies, "of these, while a body was to come")                   \
	X(crowded, "connections refused: too many of one address")             \
	X(evicted, "connections closed for others: the idlest stranger's")     \
	X(full, "connections refused: none could be closed for them")          \
	X(records, "records of the batches taken")

enum xp_http_counter {
#define X(name, doc) XP_HTTP_##name,
	XP_HTTP_COUNTERS(X)
#undef X
	    XP_HTTP_N_COUNTERS
};
enum { XP_HTTP_N_ANSWERS = XP_HTTP_malformed };

enum {
	XP_HTTP_TARGET = 64, /* bytes; longer ones are none of ours */
	XP_HTTP_TEXT = 8192,
};

struct xp_http_site {
	const struct algo_pinglist *plan; /* NULL: a collector */
	int stopped;
	uint64_t uptime_s, n_open; /* connections */
	struct xp_batch_held held; /* a collector's files */
	uint64_t start_s, last_s; /* since 1970; last: a list was given or kept,
				    * or a batch stored; 0: never */
	struct xp_daemon_cost cost; /* for /metrics alone */
	uint64_t count[XP_HTTP_N_COUNTERS];
};

/* A view of the caller's bytes. */
struct xp_http_request {
	const char *method, *target;
	const char *if_none_match, *host, *origin; /* NULL: none */
	uint64_t length;    /* of the body, as said; 0 if not said */
	unsigned n_lengths; /* how often it was */
	const char *coding; /* the last Transfer-Encoding; NULL: none */
	unsigned n_codings, n_hosts; /* how often they were said */
	const char *expect;          /* NULL: nothing */
	int is_http_1_0;
	int is_folded;    /* a length or a coding goes on in a next line */
	int has_control;  /* a character that headers may not have */
	const void *body; /* of xp_http_body() */
	size_t n_body;

	/* Whether the client may speak for a server; NULL: for any. */
	int (*is_for)(void *peer, struct topo_ip address);
	void *peer;
};

/* An answer that is made while it is sent. READ up to SIZE bytes: 0 is the end,
 * and below it is cut off there, which its client sees. REST gives it back. */
struct xp_http_stream {
	ssize_t (*read)(struct xp_http_stream *x, char *buf, size_t size);
	void (*rest)(struct xp_http_stream *x);
};

struct xp_http_answer {
	unsigned status;
	enum xp_http_counter counter;
	const char *type, *allow; /* allow: NULL but for 405 */
	/* More headers: names, each with its value behind it, then NULL. NULL:
	 * none. */
	const char *const *headers;
	char etag[64];   /* "": none */
	char note[96];   /* a header Culprit-Note; "": none */
	int is_pinglist; /* the body is the list of `server` */
	uint32_t server;
	uint32_t of_6; /* that of its address of IPv6 */
	/* That there is no list of this address; zeroed: not so. */
	struct topo_ip none_ip;
	struct algo_pingmesh_wire_id batch; /* that is to be kept */
	struct xp_http_stream *stream;      /* the body; NULL: bytes */
	/* Else; good as long as the answer, which is not to be copied, or, with
	 * REST, until that is called with OF, once they are sent. */
	const char *bytes;
	size_t n_bytes;
	void (*rest)(void *of);
	void *of;
	char text[XP_HTTP_TEXT];
};

enum xp_http_next { XP_HTTP_ANSWERED, XP_HTTP_SEND_BODY, XP_HTTP_KEEP };

/* TARGET without the http://HOST that may stand before it, which *HOST points at,
 * of *N bytes; else TARGET itself, and *N = 0. With a user in it, or nothing, it is
 * left alone, and is none of ours. */
const char *xp_http_target(const char *target, const char **host, size_t *n);

/* 1 if Q is refused as it can be read in more ways than one, or asks for what no
 * server of ours does: the answer is A. */
int xp_http_is_ill(const struct xp_http_request *q, struct xp_http_answer *a);

/* Whether If-None-Match, LIST, has ETAG, or is "*". */
int xp_http_has_tag(const char *list, const char *etag);

/* Whether a page of some other site asks, by way of a browser's user: its name was
 * made to lead here, so it is the Host and is none of a number or localhost; or
 * there is an Origin. */
int xp_http_is_stranger(const struct xp_http_request *q);

/* Returns ANSWERED or SEND_BODY. */
enum xp_http_next xp_http_head(const struct xp_http_site *site,
    const struct xp_http_request *q, struct xp_http_answer *a);

/* Domain xp_http_head() asked for the body. Returns ANSWERED or KEEP: then
 * keep the batch and call xp_http_kept(). */
enum xp_http_next xp_http_body(const struct xp_http_request *q,
    struct xp_http_answer *a);

/* The answer to a batch: what the store said. */
void xp_http_kept(struct xp_http_answer *a, int rc, int is_new,
    const struct sim_err *e);

/* What /metrics says, in Prometheus' form (expose.h). */
void xp_http_put_metrics(struct sim_text *t, const struct xp_http_site *site);

/* There is no memory to send a pinglist with. */
void xp_http_no_memory(struct xp_http_answer *a);

#endif
