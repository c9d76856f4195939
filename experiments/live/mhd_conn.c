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

#include "experiments/live/mhd_parts.h"
#include "models/clock.h"
#include "models/real/place.h"
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
/* Who connects: an address, zeroed of another family, and its place. */
struct client_who {
	struct topo_ip ip;
	uint64_t place;
};

static struct client_who client_who(const struct xp_http_server *s,
    const struct sockaddr *address)
{
	struct client_who w = {.place = 0};
	if (real_ip_of(address, &w.ip))
		w.place = real_place_near(&s->params.net6, &w.ip);
	return w;
}

static int client_is_known(const struct xp_http_server *s,
    const struct client_who *w)
{
	const struct algo_pinglist *plan = s->service.plan;
	return (plan && algo_pinglist_find(plan, &w->ip) != TOPO_NONE) ||
	    algo_pinglist_allows_net(&s->params.known, &w->ip) ||
	    xp_places_has(&s->known, w->place);
}

/* What there is now, but for connections that are on their way out. */
struct client_crowd {
	uint32_t n, n_strangers, n_same;
	struct xp_http_conn *stranger, *waiting; /* longest without an answer */
};

/* By going through the list: it is not much longer than max_connections. */
static struct client_crowd client_look(const struct xp_http_server *s,
    uint64_t place)
{
	struct client_crowd w = {0};
	for (struct xp_http_conn *c = s->conns; c; c = c->next) {
		if (c->is_shut)
			continue;
		w.n++;
		w.n_same += c->place == place;
		w.n_strangers += !c->is_known;
		if (!c->is_known &&
		    (!w.stranger || c->since_ms < w.stranger->since_ms))
			w.stranger = c;
		if (c->phase == XP_HTTP_IDLE && c->n_answered > 0 &&
		    (!w.waiting || c->since_ms < w.waiting->since_ms))
			w.waiting = c;
	}
	return w;
}

/* Not close(): the descriptor is the library's, and its thread finds the end by
 * itself. */
static void client_shut(struct xp_http_conn *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->is_shut = 1;
}

/* Whether one more may come; if need be because another goes. */
static enum xp_http_counter client_judge(const struct xp_http_server *s,
    const struct client_who *who)
{
	const struct xp_http_params *p = &s->params;
	const struct client_crowd w = client_look(s, who->place);
	const int is_known = client_is_known(s, who);
	if (p->per_address > 0 && w.n_same >= p->per_address)
		return XP_HTTP_crowded;
	if (w.n < p->max_connections &&
	    (is_known || w.n_strangers < p->max_connections - p->reserved))
		return XP_HTTP_connections;
	struct xp_http_conn *out = w.stranger;
	if (!out && is_known)
		out = w.waiting;
	if (!out)
		return XP_HTTP_full;
	client_shut(out);
	return XP_HTTP_evicted;
}

enum MHD_Result xp_http_may_connect(void *arg, const struct sockaddr *address,
    socklen_t n)
{
	struct xp_http_server *s = arg;
	(void)n;
	const struct client_who who = client_who(s, address);
	pthread_mutex_lock(&s->lock);
	const enum xp_http_counter what = client_judge(s, &who);
	pthread_mutex_unlock(&s->lock);
	/* Connections are counted when they have begun. */
	if (what != XP_HTTP_connections)
		xp_http_count(s, what, 1);
	return what == XP_HTTP_crowded || what == XP_HTTP_full ? MHD_NO
							       : MHD_YES;
}

/* --- deadlines ------------------------------------------------------------ */
enum { BODY_BYTES_S = 1024 }; /* the least of a body that is to go on */

static uint64_t client_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t client_head_ms(const struct xp_http_params *p)
{
	return 1000 *
	    (p->head_s > 0 ? client_least(p->head_s, p->receive_s)
			   : (uint64_t)p->receive_s);
}

/* Since the last answer, or the beginning, for each request as a whole: with each of
 * its parts that would begin anew a slow client had twice the time. */
static void client_set_deadline(const struct xp_http_params *p,
    struct xp_http_conn *c, uint64_t now)
{
	const uint64_t head = client_head_ms(p),
		       whole = c->since_ms + 1000 * (uint64_t)p->receive_s;
	switch (c->phase) {
	case XP_HTTP_IDLE:
		c->until_ms = c->n_answered > 0 ? whole : c->since_ms + head;
		break;
	case XP_HTTP_RECEIVING:
		c->until_ms = client_least(c->until_ms, now + head);
		break;
	case XP_HTTP_BODY:
		c->until_ms = client_least(whole,
		    c->body_ms + head +
			1000 * (uint64_t)c->n_body / BODY_BYTES_S);
		break;
	case XP_HTTP_SENDING:
		c->until_ms = now + 1000 * (uint64_t)p->send_s;
		break;
	}
}

void xp_http_set_phase(struct xp_http_server *s, struct xp_http_conn *c,
    enum xp_http_phase phase)
{
	const uint64_t now = xp_http_now_ms();
	pthread_mutex_lock(&s->lock);
	if (phase == XP_HTTP_IDLE || phase == XP_HTTP_SENDING)
		c->since_ms = now;
	if (phase == XP_HTTP_BODY)
		c->body_ms = now;
	c->n_answered += phase == XP_HTTP_SENDING;
	c->phase = phase;
	/* Behind TLS nothing is read of who has no certificate of ours. */
	if (phase == XP_HTTP_RECEIVING && s->tls && !c->is_known) {
		c->is_known = 1;
		xp_places_add(&s->known, c->place);
	}
	client_set_deadline(&s->params, c, now);
	pthread_mutex_unlock(&s->lock);
}

void xp_http_note_body(struct xp_http_server *s, struct xp_http_conn *c)
{
	pthread_mutex_lock(&s->lock);
	client_set_deadline(&s->params, c, xp_http_now_ms());
	pthread_mutex_unlock(&s->lock);
}

/* In the clear, as behind TLS it is known by now. An operator who says who is known
 * means nobody else. */
void xp_http_note_batch(struct xp_http_server *s, struct xp_http_conn *c,
    struct topo_ip address)
{
	pthread_mutex_lock(&s->lock);
	if (!c->is_known && s->params.known.n_nets == 0 &&
	    c->place == real_place_near(&s->params.net6, &address) &&
	    xp_trials_batch(&s->trials, c->place, xp_http_now_ms())) {
		c->is_known = 1;
		xp_places_add(&s->known, c->place);
	}
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
	const struct client_who who = client_who(s, address);
	c->place = who.place;
	c->since_ms = xp_http_now_ms();
	client_set_deadline(&s->params, c, c->since_ms);
	if (s->tls)
		xp_tls_begin(s->tls, &c->peer,
		    MHD_get_connection_info(mhd,
			MHD_CONNECTION_INFO_GNUTLS_SESSION)
			->tls_session,
		    address);
	pthread_mutex_lock(&s->lock);
	c->is_known = client_is_known(s, &who);
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

/* A client that was served and keeps its connection open without asking again has
 * done no wrong, so it is not counted as late. */
static void client_count_late(struct xp_http_server *s,
    const struct xp_http_conn *c)
{
	const int is_new = c->phase == XP_HTTP_IDLE && c->n_answered == 0;
	xp_http_count(s, XP_HTTP_late, c->phase != XP_HTTP_IDLE || is_new);
	xp_http_count(s, XP_HTTP_slow_heads,
	    c->phase == XP_HTTP_RECEIVING || is_new);
	xp_http_count(s, XP_HTTP_slow_bodies, c->phase == XP_HTTP_BODY);
}

void xp_http_reap(struct xp_http_server *s)
{
	const uint64_t now = xp_http_now_ms();
	pthread_mutex_lock(&s->lock);
	for (struct xp_http_conn *c = s->conns; c; c = c->next) {
		if (c->is_shut || now < c->until_ms)
			continue;
		client_shut(c);
		client_count_late(s, c);
	}
	pthread_mutex_unlock(&s->lock);
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
