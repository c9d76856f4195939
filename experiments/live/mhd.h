/* experiments/live/mhd.h -- serves experiments/live/serve.h on a socket.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The layer between serve.h and libmicrohttpd; without that library
 * mhd_none.c stands in its place. It keeps strangers within bounds:
 *
 *	head of a request      about XP_HTTP_HEAD_BYTES, else 414 or 431
 *	body                   that of the largest batch; one that is said to
 *	                       be larger gets 413, one that is found to be is
 *	                       cut off with its connection
 *	head_s                 from the first moment to the end of the head,
 *	                       handshake and all; later, from its first line
 *	receive_s              from the first moment, or the last answer, to the
 *	                       end of the next request, however slowly it drips;
 *	                       1 KiB/s after head_s, for a body
 *	send_s                 for an answer to be fetched
 *	connections            max_connections
 *	... of strangers       reserved less; for one more, the one of theirs that
 *	                       was longest without an answer is closed
 *	... of one address     per_address (IPv6: of one /64 but for net6); more are closed
 *
 * No stranger is who has a list in the plan, whom the operator says (`known`), and who
 * has shown a certificate of ours; by its address, so that it is known before it says a
 * word. In the clear, where the operator says nobody, who has sent a collector new
 * batches of its own address for ten minutes becomes known (xp_trials_batch()): that
 * shows patience, and no right, and after a restart of the collector all are strangers
 * until then. Where all are known, one that was answered and waits is closed for one
 * more.
 *
 * Memory is max_connections times the head, one body and one list's writer
 * (144 KiB, of which half is touched), and no more; what ANSWER of a service
 * streams is its own.
 */
#ifndef EXPERIMENTS_LIVE_MHD_H
#define EXPERIMENTS_LIVE_MHD_H

#include <stdint.h>

#include "algos/pingmesh/allow.h"
#include "algos/pingmesh/pinglist.h"
#include "experiments/live/batch_store.h"
#include "experiments/live/daemon_log.h"
#include "experiments/live/identity.h"
#include "experiments/live/list_sign.h"
#include "experiments/live/serve.h"
#include "sim/err.h"

enum { XP_HTTP_HEAD_BYTES = 16384 };

struct xp_http_server;

struct xp_http_params {
	const char *listen; /* "127.0.0.1:8080", "[::1]:8080"; port 0: any */
	uint32_t threads;   /* 0: none of its own; see xp_http_step() */
	uint32_t max_connections;
	uint32_t per_address; /* 0: as many as there are */
	uint32_t reserved;    /* of max_connections, not for strangers */
	uint32_t receive_s, send_s;
	uint32_t head_s; /* 0, or more than receive_s: that */
	/* With files: TLS, for clients of the authority alone (tls.h). Without:
	 * on loopback, or wherever if it is insecure. */
	struct xp_identity_params identity;
	struct topo_ip_net
	    net6; /* each address counts by itself; zeroed: none */
	struct algo_pinglist_allow known; /* networks; zeroed: see above */
};

/* What is served, a controller's plan, a collector's store, or what ANSWER says.
 * Borrowed until close. */
struct xp_http_service {
	const struct algo_pinglist *plan;    /* NULL: a collector, of STORE */
	const char *stop_file;               /* NULL: none */
	const struct xp_list_signer *signer; /* of the plan's lists, or NULL */
	struct xp_batch_store *store;

	/* Not NULL: it answers each request, whose target may be as long as a
	 * head, before the body comes. A is zeroed but for its text. */
	void (*answer)(void *arg, const struct xp_http_site *site,
	    const struct xp_http_request *q, struct xp_http_answer *a);
	void *arg;

	/* Not NULL: asked first about requests without a body; 0: the target is
	 * none of its own, and A was left alone. A is zeroed but for its text.
	 * Several threads ask at a time. */
	int (*page)(void *of_page, const struct xp_http_site *site,
	    const struct xp_http_request *q, struct xp_http_answer *a);
	void *of_page;

	/* Not NULL: called in xp_http_run() at SIGHUP, for xp_http_change(). */
	void (*again)(void *arg, struct xp_http_server *s);
	void *again_arg;

	/* Not NULL: hears, in xp_http_run(), of clients that were refused and of
	 * new files, a line without its end; ten a second at most. */
	void (*tell)(void *arg, enum xp_daemon_level level, const char *line);
};

int xp_http_is_built_in(void);

/* Take the port, for which some take a right that is then given up; nobody is
 * served yet. The process still has one thread.
 * Errors SIM_EINVAL (listen; no loopback, no files, and not insecure), SIM_EIO (the
 * port is taken, or not ours to take; fewer files than connections may be open),
 * SIM_ENOMEM, SIM_EDEP, SIM_EUNSUPPORTED (built without the library). */
int xp_http_bind(struct xp_http_server **s, const struct xp_http_params *p,
    struct sim_err *e);

/* Serve from now on. Files of the identity are read here, by whoever this process
 * is by now, who is to read the next ones, too. SIGTERM, SIGINT and SIGPIPE are
 * blocked from here on in this thread, for run(). S is closed by whoever bound it,
 * also after an error.
 * Errors those of xp_identity_open(), SIM_EIO (whether there is a stop file cannot
 * be told), SIM_EDEP, SIM_ENOMEM. */
int xp_http_start(struct xp_http_server *s,
    const struct xp_http_service *service, struct sim_err *e);

/* Both; *S is NULL after an error. */
int xp_http_open(struct xp_http_server **s, const struct xp_http_params *p,
    const struct xp_http_service *service, struct sim_err *e);

/* Where: "http://127.0.0.1:8080/", or https. Returns BUF. */
const char *xp_http_url(const struct xp_http_server *s, char buf[80]);

/* Watch over deadlines, and over the files of its identity, until SIGTERM or
 * SIGINT; then accept nobody, and let
 * what is under way end, for up to five seconds. */
void xp_http_run(struct xp_http_server *s);

/* What may be another while it serves; STOP_FILE is borrowed until close. STORE is
 * for a collector, else NULL. */
struct xp_http_change {
	uint32_t per_address, head_s, receive_s, send_s;
	const char *stop_file;
	const struct xp_batch_store_params *store;
};
void xp_http_change(struct xp_http_server *s, const struct xp_http_change *c);

/* Instead of that, where it has no thread: poll the descriptor for reading, for
 * no longer than xp_http_wait_ms() says, which is MOST at most; then step, which
 * answers who asks; at last, let what is under way end, for up to five seconds. */
int xp_http_fd(const struct xp_http_server *s);
int xp_http_wait_ms(struct xp_http_server *s, int most);
void xp_http_step(struct xp_http_server *s);
void xp_http_end(struct xp_http_server *s);

/* NULL is fine. */
void xp_http_close(struct xp_http_server *s);

#endif
