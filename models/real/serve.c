/* models/real/serve.c -- the server's side: accept, hear, echo or answer a GET.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Most who connect are gone when they are accepted: a probe without payload is
 * over with its handshake. So what came is looked at first, and only who stays
 * is polled. What accepted sockets are set to, they have from their listener.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "models/real/impl.h"
#include "models/real/place.h"

enum { AT_ONCE = 32 };      /* accepted before others have their turn */
#define REST (100 * SIM_MS) /* when the kernel has no more descriptors */

/* WAITS: for more of the payload, or for the agent's answer. GONE: the
 * connection has ended, which is no error. Errors are below 0. */
enum { WAITS, GONE };

static int real_serve_hear(struct fabric_real *f, struct real_conn *c,
    struct sim_err *e)
{
	const int end = real_conn_read(f, c, &c->n_bytes);
	if (end == 0)
		return WAITS;
	/* A plain connect ends here: a reset or a FIN without any payload. So
	 * does a GET whose head is not whole by then. */
	if (end < 0 || (end == 1 && c->n_bytes == 0)) {
		f->count.n_garbage += end == -2;
		real_conn_close(f, c);
		return GONE;
	}
	struct agent_event *ev =
	    real_tell(f, c->host, AGENT_PING_REQUEST, real_conn_token(f, c), e);
	if (!ev)
		return SIM_ENOMEM;
	/* Only the length is told: the bytes are known, and nothing was
	 * stored. A GET has no payload. */
	ev->data = NULL;
	ev->n = c->n_bytes;
	c->asked = 1;
	f->count.n_requests++;
	return WAITS;
}

static uint16_t real_serve_from(const struct fabric_real *f, topo_host host,
    const struct sockaddr *client)
{
	struct topo_ip_net near = {
	    .first = topo_ip_book_look(f->params.book, f->host[host].address)};
	struct topo_ip ip = {{0}};
	real_ip_of(client, &ip);
	/* Its own /64, as that is the fleet's, or a rack's. */
	near.bits = topo_ip_is_4(&near.first) ? 0 : 64;
	const uint64_t x =
	    (real_place_near(&near, &ip) + f->place_secret + host) *
	    UINT64_C(0x9e3779b97f4a7c15);
	return (uint16_t)((x ^ x << 29) >> (64 - REAL_PLACE_BITS));
}

/* Room for one of FROM, if need be because the oldest goes: it is first in its
 * queue. */
static struct real_conn *real_serve_place(struct fabric_real *f, topo_host host,
    int fd, uint16_t from)
{
	const uint32_t most = f->params.per_address;
	struct real_conn *c;
	if (most > 0 && f->n_from[from] >= most) {
		f->count.n_turned_away++;
		return NULL;
	}
	if (f->n_clients == f->params.max_clients) {
		real_conn_close(f, &f->conn[f->line[REAL_SERVED].head]);
		f->count.n_pushed_out++;
	}
	if ((c = real_conn_open(f, fd, REAL_SERVED, host))) {
		c->from = from;
		f->n_from[from]++;
	}
	return c;
}

/* A connection that was accepted. Once the agent has been asked, nothing is
 * waited for but the peer's leaving, which epoll tells of without being
 * asked. */
static int welcome(struct fabric_real *f, topo_host host, int fd, uint16_t from,
    struct sim_err *e)
{
	struct real_conn *c = real_serve_place(f, host, fd, from);
	if (!c) {
		close(fd);
		return 0;
	}
	f->count.n_clients++;
	const int rc = real_serve_hear(f, c, e);
	return rc == WAITS ? real_conn_poll(f, c, c->asked ? 0 : EPOLLIN, e)
	    : rc == GONE   ? 0
			   : rc;
}

/* Turn all listeners on or off; with events 0 epoll keeps the socket and says
 * nothing of it. */
static int listen_for(struct fabric_real *f, uint32_t events, struct sim_err *e)
{
	int rc = 0;
	for (topo_host h = 0; rc == 0 && h < f->base.n_hosts; h++)
		for (unsigned i = 0; rc == 0 && i < f->params.n_classes; i++)
			rc = real_repoll_fd(f, f->host[h].listener[i], events,
			    REAL_LISTENER, i, h, e);
	return rc;
}

/* When the process or the machine has no more descriptors, accept() fails while
 * the listener stays readable. epoll would then wake the fabric without end, so
 * listeners rest for a while; the kernel's backlog keeps who comes. */
static int rest(struct fabric_real *f, struct sim_err *e)
{
	f->count.n_rests++;
	f->rest_until = real_now(f) + REST;
	return listen_for(f, 0, e);
}

int real_serve_resume(struct fabric_real *f, struct sim_err *e)
{
	if (f->rest_until > real_now(f))
		return 0;
	f->rest_until = SIM_NEVER;
	return listen_for(f, EPOLLIN, e);
}

int real_serve_accept(struct fabric_real *f, topo_host host, unsigned i,
    struct sim_err *e)
{
	const int listener = f->host[host].listener[i];
	for (int k = 0; k < AT_ONCE; k++) {
		struct sockaddr_storage at = {0};
		struct sockaddr *client = (struct sockaddr *)&at;
		socklen_t n = sizeof(at);
		const int fd =
		    accept4(listener, client, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			int rc = welcome(f, host, fd,
			    real_serve_from(f, host, client), e);
			if (rc < 0)
				return rc;
		} else if (errno == EAGAIN) {
			return 0;
		} else if (errno == EMFILE || errno == ENFILE ||
		    errno == ENOBUFS || errno == ENOMEM) {
			return rest(f, e);
		}
		/* Any other error belongs to the connection that waited, which
		 * has gone meanwhile (accept(2) lists the errors that the
		 * network passes on), and not to the listener. */
	}
	return 0;
}

/* The server never closes first while its payload is under way: a reset would
 * throw away what the client has not read. It waits for the client's reset, or
 * for the deadline. */
static int real_serve_send_on(struct fabric_real *f, struct real_conn *c,
    struct sim_err *e)
{
	const int is_http = c->ping == AGENT_PING_HTTP;
	const int sent =
	    real_conn_send(c, is_http ? http_ping_answer : f->payload,
		is_http ? http_ping_answer_bytes : c->n_bytes, 0);
	if (sent < 0) {
		real_conn_close(f, c);
		return 0;
	}
	f->count.n_answered += sent == 1;
	return real_conn_poll(f, c, sent ? 0 : EPOLLOUT, e);
}

int real_serve_event(struct fabric_real *f, struct real_conn *c,
    uint32_t events, struct sim_err *e)
{
	if (events & (EPOLLERR | EPOLLHUP)) {
		real_conn_close(f, c);
		return 0;
	}
	if (c->asked)
		return real_serve_send_on(f, c, e);
	const int rc = real_serve_hear(f, c, e);
	if (rc == WAITS && c->asked)
		return real_conn_poll(f, c, 0, e);
	return rc < 0 ? rc : 0;
}

int real_serve_answer(struct fabric_real *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	struct real_conn *c =
	    real_conn_of(f, (uint32_t)(a->token >> 32), (uint32_t)a->token);
	/* Who asked may be gone, and the agent may answer twice. */
	if (!c || c->state != REAL_SERVED || c->host != host || c->asked != 1)
		return 0;
	c->asked = 2;
	/* An agent may send back less than came, never more. */
	if (a->n_bytes < c->n_bytes)
		c->n_bytes = a->n_bytes;
	return real_serve_send_on(f, c, e);
}
