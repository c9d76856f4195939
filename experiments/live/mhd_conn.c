/* experiments/live/mhd_conn.c -- connections of a server, each with its deadline.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libmicrohttpd's own timeout restarts with every byte, so a client that drips
 * one now and then would hold a connection for ever. Each connection therefore
 * has a deadline here; at it the socket is shut down, which its thread notices
 * as the client's leaving.
 */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/mhd_parts.h"
#include "models/clock.h"
#include "sim/vec.h"

uint64_t xp_http_now_ms(void)
{
	return clock_now() / SIM_MS;
}

void xp_http_count(struct xp_http_server *s, enum xp_http_counter c, uint64_t n)
{
	atomic_fetch_add_explicit(&s->count[c], n, memory_order_relaxed);
}

/* --- connections ---------------------------------------------------------- */
/* IPv6 addresses are compared by their first 64 bits: whoever has one has the
 * whole /64 of them. */
static int same_place(const struct sockaddr *a,
    const struct sockaddr_storage *b)
{
	if (a->sa_family != b->ss_family)
		return 0;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)a)
			   ->sin_addr.s_addr ==
		    ((const struct sockaddr_in *)(const void *)b)
			->sin_addr.s_addr;
	return memcmp(&((const struct sockaddr_in6 *)(const void *)a)
			   ->sin6_addr,
		   &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr,
		   8) == 0;
}

/* Connections are counted by going through the list: it is no longer than
 * max_connections. */
enum MHD_Result xp_http_may_connect(void *arg, const struct sockaddr *address,
    socklen_t n)
{
	struct xp_http_server *s = arg;
	uint32_t n_same = 0;
	(void)n;
	if (s->params.per_address == 0)
		return MHD_YES;
	pthread_mutex_lock(&s->lock);
	for (const struct xp_http_conn *c = s->conns; c; c = c->next)
		n_same += (uint32_t)same_place(address, &c->address);
	pthread_mutex_unlock(&s->lock);
	if (n_same < s->params.per_address)
		return MHD_YES;
	xp_http_count(s, XP_HTTP_crowded, 1);
	return MHD_NO;
}

void xp_http_set_phase(struct xp_http_server *s, struct xp_http_conn *c,
    enum xp_http_phase phase)
{
	pthread_mutex_lock(&s->lock);
	/* The clock runs on from idle to receiving: a deadline that began anew
	 * with the first line would give a slow client twice the time. */
	if (phase != XP_HTTP_RECEIVING)
		c->since_ms = xp_http_now_ms();
	c->n_answered += phase == XP_HTTP_SENDING;
	c->phase = phase;
	pthread_mutex_unlock(&s->lock);
}

static void mhd_begin(struct xp_http_server *s, struct MHD_Connection *mhd,
    struct xp_http_conn **out)
{
	const int fd =
	    MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)
		->connect_fd;
	const struct sockaddr *address =
	    MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
		->client_addr;
	struct xp_http_conn *c;
	xp_http_count(s, XP_HTTP_connections, 1);
	*out = NULL;
	/* A connection that is not in the list would have no deadline. */
	if (SIM_ZALLOC(&c, 1, NULL) < 0) {
		shutdown(fd, SHUT_RDWR);
		return;
	}
	c->fd = fd;
	memcpy(&c->address, address,
	    address->sa_family == AF_INET ? sizeof(struct sockaddr_in)
					  : sizeof(struct sockaddr_in6));
	c->since_ms = xp_http_now_ms();
	if (s->tls)
		xp_tls_begin(s->tls, &c->peer,
		    MHD_get_connection_info(mhd,
			MHD_CONNECTION_INFO_GNUTLS_SESSION)
			->tls_session,
		    address);
	pthread_mutex_lock(&s->lock);
	c->next = s->conns;
	c->link = &s->conns;
	if (c->next)
		c->next->link = &c->next;
	s->conns = c;
	s->n_conns++;
	pthread_mutex_unlock(&s->lock);
	*out = c;
}

/* Whether bytes came and none went back, by the kernel's count. The library,
 * when it can make nothing of a request, often just closes, and no callback
 * says so. A FIN counts as one byte received. */
static int is_unanswered(int fd)
{
	struct tcp_info i = {0};
	socklen_t n = sizeof(i);
	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &n) == 0 &&
	    i.tcpi_bytes_received > 1 && i.tcpi_bytes_sent == 0;
}

/* Called before the library closes the socket. So while a connection is in the
 * list its descriptor is its own, and xp_http_reap() can never shut down somebody
 * else's who got the same number. */
static void mhd_end(struct xp_http_server *s, struct xp_http_conn *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&s->lock);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	s->n_conns--;
	pthread_mutex_unlock(&s->lock);
	if (c->peer.is_refused)
		xp_http_count(s, XP_HTTP_untrusted, 1);
	else if (!c->is_shut && !c->is_cut && is_unanswered(c->fd))
		xp_http_count(s, XP_HTTP_malformed, 1);
	xp_tls_end(&c->peer);
	free(c->body);
	free(c->target);
	free(c->host);
	free(c);
}

void xp_http_notify(void *arg, struct MHD_Connection *mhd, void **context,
    enum MHD_ConnectionNotificationCode code)
{
	struct xp_http_conn *c = *context;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		mhd_begin(arg, mhd, &c);
		*context = c;
	} else {
		mhd_end(arg, c);
		*context = NULL;
	}
}

void xp_http_reap(struct xp_http_server *s)
{
	const uint64_t now = xp_http_now_ms();
	uint64_t n_late = 0;
	pthread_mutex_lock(&s->lock);
	for (struct xp_http_conn *c = s->conns; c; c = c->next) {
		const uint64_t limit_s = c->phase == XP_HTTP_SENDING
		    ? s->params.send_s
		    : s->params.receive_s;
		if (c->is_shut || now - c->since_ms < 1000 * limit_s)
			continue;
		/* Not close(): the descriptor is the library's, and its thread
		 * finds the end by itself. */
		shutdown(c->fd, SHUT_RDWR);
		c->is_shut = 1;
		/* A client that was served and keeps its connection open
		 * without asking again has done no wrong, so it is not counted
		 * as late. */
		n_late += c->phase != XP_HTTP_IDLE || c->n_answered == 0;
	}
	pthread_mutex_unlock(&s->lock);
	xp_http_count(s, XP_HTTP_late, n_late);
}

/* NULL if there was no memory for it when it began. */
struct xp_http_conn *xp_http_conn_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *i =
	    MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return i ? i->socket_context : NULL;
}

int xp_http_is_busy(struct xp_http_server *s)
{
	int busy = 0;
	pthread_mutex_lock(&s->lock);
	for (const struct xp_http_conn *c = s->conns; c; c = c->next)
		busy |= c->phase != XP_HTTP_IDLE;
	pthread_mutex_unlock(&s->lock);
	return busy;
}
