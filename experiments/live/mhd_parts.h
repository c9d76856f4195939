/* experiments/live/mhd_parts.h -- what a server on libmicrohttpd is made of.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_MHD_PARTS_H
#define EXPERIMENTS_LIVE_MHD_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "experiments/live/lists.h"
#include "experiments/live/microhttpd.late.h"
#include "experiments/live/mhd.h"
#include "experiments/live/places.h"
#include "experiments/live/tls.h"

/* What a connection is doing: waiting for a request's first line, receiving the
 * rest of it, or fetching the answer. */
enum xp_http_phase {
	XP_HTTP_IDLE,
	XP_HTTP_RECEIVING, /* the head, from its first line on */
	XP_HTTP_BODY,
	XP_HTTP_SENDING
};

struct xp_http_conn {
	struct xp_http_conn *next, **link;
	int fd, is_shut, is_cut;
	uint64_t place;          /* of the client */
	struct xp_tls_peer peer; /* without TLS, zeroed */

	/* Under the server's lock. */
	enum xp_http_phase phase;
	uint64_t since_ms; /* begun, or answered last */
	uint64_t until_ms; /* it is closed then */
	uint64_t body_ms;  /* its body is awaited since */
	int n_answered, is_known;

	/* The request; its connection's thread alone. */
	char *host;   /* of a target that has one, or NULL */
	char *target; /* NULL: no memory for it */
	int has_head, wants_body, is_head; /* the last: its method */
	unsigned char *body;
	size_t n_body, cap_body;
};

struct xp_http_server {
	struct xp_http_params params;
	struct xp_http_service service;
	struct MHD_Daemon *daemon;
	int fd;                     /* that listens, while it is ours; or -1 */
	uint64_t start_ms, start_s; /* start_s: since 1970 */
	atomic_uint_least64_t last_s; /* as of struct xp_http_site */
	struct sockaddr_storage address;
	struct xp_tls *tls; /* NULL: plain */
	uint64_t looked_ms; /* at its files */
	uint64_t n_calls;   /* refused and told of */
	atomic_uint_least64_t count[XP_HTTP_N_COUNTERS];

	pthread_mutex_t lock;      /* of what follows, up to the lists */
	struct xp_batch_held held; /* that the store held last */
	struct xp_http_conn *conns;
	uint64_t n_conns;
	struct xp_places known;
	struct xp_trials trials;
	struct xp_http_lists lists;

	pthread_mutex_t store_lock;
};

uint64_t xp_http_now_ms(void);
void xp_http_count(struct xp_http_server *s, enum xp_http_counter c,
    uint64_t n);

/* libmicrohttpd's callbacks: may this address have one more connection; one
 * begins or ends. */
enum MHD_Result xp_http_may_connect(void *arg, const struct sockaddr *address,
    socklen_t n);
void xp_http_notify(void *arg, struct MHD_Connection *mhd, void **context,
    enum MHD_ConnectionNotificationCode code);

/* ... a request's target came; it has its head, a piece, its end; it is over. */
void *xp_http_begin_request(void *arg, const char *target,
    struct MHD_Connection *mhd);
enum MHD_Result xp_http_handle(void *arg, struct MHD_Connection *mhd,
    const char *url, const char *method, const char *version, const char *piece,
    size_t *n_piece, void **context);
void xp_http_end_request(void *arg, struct MHD_Connection *mhd, void **context,
    enum MHD_RequestTerminationCode code);

/* NULL if there was no memory for it when it began. */
struct xp_http_conn *xp_http_conn_of(struct MHD_Connection *mhd);
void xp_http_set_phase(struct xp_http_server *s, struct xp_http_conn *c,
    enum xp_http_phase phase);

/* A piece of its body came: who goes on sending may go on. */
void xp_http_note_body(struct xp_http_server *s, struct xp_http_conn *c);

/* A new batch of ADDRESS came of it. */
void xp_http_note_batch(struct xp_http_server *s, struct xp_http_conn *c,
    struct topo_ip address);

/* Shut down what is beyond its deadline. */
void xp_http_reap(struct xp_http_server *s);

/* Whether a request is under way. */
int xp_http_is_busy(struct xp_http_server *s);

/* In mhd_head.c: what Q's headers say, into Q. */
void xp_http_see_head(struct MHD_Connection *mhd, struct xp_http_request *q);

#endif
