/* experiments/live/tls.h -- whom a server lets in: certificates of its clients.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libmicrohttpd encrypts; here is whom it does that for. A client must show a
 * certificate that an authority of ours vouches for, of this day, for a client.
 * One that does not hears why, as an alert of TLS, and is told of to whoever
 * serves; nothing of its request is ever read. Each connection has the files of
 * its first moment; those that begin later, the newest.
 *
 * A client speaks for the addresses in its certificate (subjectAltName) and for
 * no other.
 */
#ifndef EXPERIMENTS_LIVE_TLS_H
#define EXPERIMENTS_LIVE_TLS_H

#include <stdint.h>
#include <sys/socket.h>

#include "experiments/live/identity.h"
#include "sim/err.h"
#include "topo/ip.h"

/* TLS 1.2 and 1.3 (RFC 9325 3.1.1). */
#define XP_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

enum { XP_TLS_LINE = 256 };

struct xp_tls;
struct xp_tls_files;

/* A connection's, which must stay where it is until xp_tls_end(). */
struct xp_tls_peer {
	struct xp_tls *tls;
	struct xp_tls_files *files;
	void *session;
	char from[48];
	int is_refused;
};

/* *OUT stays NULL without files. Errors as of xp_identity_open(). */
int xp_tls_open(struct xp_tls **out, const struct xp_identity_params *p,
    struct sim_err *e);

/* The files that it began with, for libmicrohttpd. */
const struct xp_identity *xp_tls_identity(const struct xp_tls *t);

/* As xp_identity_look(); by one thread. */
int xp_tls_look(struct xp_tls *t, struct sim_err *e);

/* Before the handshake of SESSION, a gnutls_session_t; and when it is over. */
void xp_tls_begin(struct xp_tls *t, struct xp_tls_peer *p, void *session,
    const struct sockaddr *from);
void xp_tls_end(struct xp_tls_peer *p);

/* Does P's certificate have this address? If not, that is told. */
int xp_tls_is_for(struct xp_tls_peer *p, struct topo_ip address);

/* Who was refused: 1 and a line, "10.0.0.7: its certificate has expired", or 0 when
 * all was told. A flood of strangers is a few lines and a number each time. */
int xp_tls_news(struct xp_tls *t, char line[XP_TLS_LINE]);

void xp_tls_close(struct xp_tls *t); /* NULL is fine */

/* What GnuTLS makes of X's files: that they fit together. *OUT is to be freed.
 * Errors SIM_EPARSE, SIM_EMISMATCH, SIM_EDEP, SIM_ENOMEM. */
int xp_tls_credentials(const struct xp_identity *x, void **out,
    struct sim_err *e);
void xp_tls_credentials_free(void *credentials); /* NULL is fine */

#endif
