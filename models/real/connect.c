/* models/real/connect.c -- CONNECT on real sockets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One CONNECT is: a socket bound to the tuple's source, a handshake that the
 * kernel drives by itself, perhaps a payload there and back or a GET and its
 * answer, and a reset. The agent gets exactly one AGENT_CONNECT_DONE for each, also where nothing could
 * be tried.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "models/real/impl.h"

/* --- the end ------------------------------------------------------------ */

/* The one event that a CONNECT ends with. */
static int real_connect_tell(struct fabric_real *f, topo_host host,
    uint64_t token, enum agent_outcome outcome, uint8_t answer, sim_ns rtt_ns,
    sim_ns echo_ns, struct sim_err *e)
{
	struct agent_event *ev =
	    real_tell(f, host, AGENT_CONNECT_DONE, token, e);
	if (!ev)
		return SIM_ENOMEM;
	ev->outcome = (uint8_t)outcome;
	ev->answer = answer;
	ev->rtt_ns = rtt_ns;
	ev->echo_ns = echo_ns;
	return 0;
}

static int real_connect_done(struct fabric_real *f, struct real_conn *c,
    enum agent_outcome outcome, sim_ns echo_ns, struct sim_err *e)
{
	f->count.n_connected += outcome == AGENT_CONNECTED;
	f->count.n_refused += outcome == AGENT_REFUSED;
	f->count.n_timeouts += outcome == AGENT_TIMEOUT;
	/* A handshake that stood and a payload that did not come back are two
	 * findings: the outcome stays CONNECTED, and an echo_ns of 0 says the
	 * rest. */
	f->count.n_no_echo += outcome == AGENT_CONNECTED &&
	    c->ping == AGENT_PING_TCP && c->n_bytes > 0 && echo_ns == 0;
	f->count.n_no_answer += c->answer > AGENT_ANSWER_OK;
	int rc = real_connect_tell(f, c->host, c->token, outcome, c->answer,
	    outcome == AGENT_TIMEOUT ? 0 : c->rtt_ns, echo_ns, e);
	real_conn_close(f, c);
	return rc;
}

/* Nothing left this host, so that nothing was learnt about the network: FAILED,
 * which no estimate of loss may count as a loss. */
static int not_tried(struct fabric_real *f, topo_host host, uint64_t token,
    uint64_t *count, struct sim_err *e)
{
	++*count;
	return real_connect_tell(f, host, token, AGENT_FAILED,
	    AGENT_ANSWER_NOT_ASKED, 0, 0, e);
}

/* The connect stood, and ANSWER is what became of the GET. */
static int real_connect_answered(struct fabric_real *f, struct real_conn *c,
    enum agent_answer answer, struct sim_err *e)
{
	const sim_ns took = real_now(f) - c->since;
	c->answer = (uint8_t)answer;
	return real_connect_done(f, c, AGENT_CONNECTED,
	    answer != AGENT_ANSWER_OK ? 0
		: took                ? took
				      : 1,
	    e);
}

int real_connect_late(struct fabric_real *f, struct real_conn *c,
    struct sim_err *e)
{
	/* A handshake that stood stays one, though its echo is late. */
	if (c->state == REAL_ECHOING && c->ping == AGENT_PING_HTTP)
		return real_connect_answered(f, c, AGENT_ANSWER_LATE, e);
	return real_connect_done(f, c,
	    c->state == REAL_CONNECTING ? AGENT_TIMEOUT : AGENT_CONNECTED, 0,
	    e);
}

/* --- the payload -------------------------------------------------------- */

/* The FIN goes along with the last segment, which MSG_MORE holds back until
 * shutdown() pushes it out: one packet less, and the server learns at once that
 * this is all. */
static int real_connect_send_on(struct fabric_real *f, struct real_conn *c,
    struct sim_err *e)
{
	const int sent = real_conn_send(c, f->payload, c->n_bytes, MSG_MORE);
	if (sent < 0)
		return real_connect_done(f, c, AGENT_CONNECTED, 0, e);
	if (sent)
		shutdown(c->fd, SHUT_WR);
	return real_conn_poll(f, c, sent ? EPOLLIN : EPOLLIN | EPOLLOUT, e);
}

/* The echo is whole once all bytes are back. Neither the FIN behind them nor a
 * reset in its place matters any more; but bytes that are not the payload,
 * which is end == -2, do. */
static int read_on(struct fabric_real *f, struct real_conn *c,
    struct sim_err *e)
{
	const int end = real_conn_read(f, c, &c->n_back);
	if (end >= -1 && c->n_back >= c->n_bytes) {
		const sim_ns echo_ns = real_now(f) - c->since;
		return real_connect_done(f, c, AGENT_CONNECTED,
		    /* An echo_ns of 0 would say that no echo came. */
		    echo_ns ? echo_ns : 1, e);
	}
	return end == 0 ? 0 : real_connect_done(f, c, AGENT_CONNECTED, 0, e);
}

/* --- the GET ------------------------------------------------------------ */

/* Whom the connection is to, as in a URL. */
static void real_connect_peer(int fd, char out[64])
{
	struct sockaddr_in6 at = {0};
	const struct sockaddr_in *at4 = (const struct sockaddr_in *)&at;
	socklen_t n = sizeof(at);
	char address[INET6_ADDRSTRLEN] = "";
	(void)getpeername(fd, (struct sockaddr *)&at, &n);
	const int is_6 = at.sin6_family == AF_INET6;
	inet_ntop(is_6 ? AF_INET6 : AF_INET,
	    is_6 ? (const void *)&at.sin6_addr : (const void *)&at4->sin_addr,
	    address, sizeof(address));
	snprintf(out, 64, is_6 ? "[%s]:%u" : "%s:%u", address,
	    ntohs(at.sin6_port)); /* of both at one place */
}

/* No FIN goes with it: there are servers that take one for the end of all, and
 * a GET tells its own end. */
static int real_connect_ask_on(struct fabric_real *f, struct real_conn *c,
    struct sim_err *e)
{
	char ask[HTTP_PING_ASK], peer[64];
	real_connect_peer(c->fd, peer);
	const size_t n = http_ping_ask(ask, peer);
	const int sent = real_conn_send(c, ask, n, 0);
	if (sent < 0)
		return real_connect_answered(f, c, AGENT_ANSWER_CUT, e);
	c->n_bytes = (uint32_t)n;
	return real_conn_poll(f, c, sent ? EPOLLIN : EPOLLIN | EPOLLOUT, e);
}

static int real_connect_hear(struct fabric_real *f, struct real_conn *c,
    struct sim_err *e)
{
	switch (real_conn_read(f, c, &c->n_back)) {
	case 0:
		return 0;
	case 2:
		return real_connect_answered(f, c,
		    c->head.status == 200 ? AGENT_ANSWER_OK
					  : AGENT_ANSWER_OTHER,
		    e);
	case -2:
		return real_connect_answered(f, c, AGENT_ANSWER_MALFORMED, e);
	default:
		return real_connect_answered(f, c, AGENT_ANSWER_CUT, e);
	}
}

/* --- the handshake ------------------------------------------------------ */

/* How a connect() that did not wait has ended; reading it clears it. */
static int error_of(int fd)
{
	int why = 0;
	socklen_t n = sizeof(why);
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &n) < 0 ? errno : why;
}

/* The kernel measures from SYN to SYN-ACK in whole microseconds and without the
 * time that this program takes to wake up. After a SYN was sent again it does
 * not: Linux then has a made-up value (1 ms) in tcpi_rtt, as an answer could be
 * to either SYN. The time that was watched here, which contains the SYN timers,
 * is then what Pingmesh reads drops from. */
static sim_ns rtt_of(int fd, sim_ns own)
{
	struct tcp_info info = {0};
	socklen_t n = sizeof(info);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) < 0 ||
	    info.tcpi_total_retrans > 0 || info.tcpi_rtt == 0)
		return own;
	const sim_ns kernel = info.tcpi_rtt * SIM_US;
	/* It cannot have taken longer than was watched from outside. */
	return kernel < own ? kernel : own;
}

static int real_connect_failed(struct fabric_real *f, struct real_conn *c,
    struct sim_err *e)
{
	switch (error_of(c->fd)) {
	/* A reset is an answer: the host is there, and nothing listens. */
	case ECONNREFUSED:
		return real_connect_done(f, c, AGENT_REFUSED, 0, e);
	case ECONNRESET: /* it stood, and then was reset */
	case EPIPE:
		if (c->ping == AGENT_PING_HTTP)
			return real_connect_answered(f, c, AGENT_ANSWER_CUT, e);
		return real_connect_done(f, c, AGENT_CONNECTED, 0, e);
	default:
		return real_connect_done(f, c, AGENT_TIMEOUT, 0, e);
	}
}

int real_connect_event(struct fabric_real *f, struct real_conn *c,
    uint32_t events, struct sim_err *e)
{
	const int is_http = c->ping == AGENT_PING_HTTP;
	if (c->state == REAL_ECHOING) {
		/* Writing goes first while there is something to write; what
		 * has come back meanwhile keeps epoll ready and is read
		 * next. */
		const int writes = c->n_out < c->n_bytes && events & EPOLLOUT;
		return writes
		    ? (is_http ? real_connect_ask_on : real_connect_send_on)(f,
			  c, e)
		    : (is_http ? real_connect_hear : read_on)(f, c, e);
	}
	/* First of all, since everything below takes time itself. */
	c->rtt_ns = real_now(f) - c->since;
	if (events & (EPOLLERR | EPOLLHUP))
		return real_connect_failed(f, c, e);
	c->rtt_ns = rtt_of(c->fd, c->rtt_ns);
	if (c->n_bytes == 0 && !is_http)
		return real_connect_done(f, c, AGENT_CONNECTED, 0, e);
	real_conn_enter(f, c, REAL_ECHOING);
	c->since = real_now(f);
	return (is_http ? real_connect_ask_on : real_connect_send_on)(f, c, e);
}

/* --- the beginning ------------------------------------------------------ */

static int real_connect_set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* Everything that a connect needs set before it begins; returns 0 or errno.
 * SO_REUSEADDR lets a port be bound again that another connection has used, or
 * still has, to another place: agents take ports for each pair apart, so only a
 * five-tuple is free or not. The linger of 0 turns close() into a reset: it
 * leaves no TIME_WAIT at either end, which at thousands of probes a minute would
 * use up the ports. */
static int real_connect_prepare(const struct fabric_real *f, int fd,
    const struct agent_action *a)
{
	const struct linger reset = {.l_onoff = 1};
	struct sockaddr_storage src;
	const socklen_t n =
	    real_host_at(f, a->tuple.src_ip, a->tuple.src_port, &src);
	const uint8_t dscp =
	    a->class < FABRIC_REAL_CLASSES ? f->params.dscp[a->class] : 0;
	if (real_connect_set(fd, SOL_SOCKET, SO_REUSEADDR, 1) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) < 0 ||
	    real_host_mark(fd, a->tuple.src_ip, dscp) < 0 ||
	    (f->params.syn_retries &&
		real_connect_set(fd, IPPROTO_TCP, TCP_SYNCNT,
		    (int)f->params.syn_retries) < 0) ||
	    bind(fd, (const struct sockaddr *)&src, n) < 0)
		return errno;
	return 0;
}

int real_connect(struct fabric_real *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	struct sockaddr_storage dst;
	const socklen_t n_dst =
	    real_host_at(f, a->tuple.dst_ip, a->tuple.dst_port, &dst);
	struct fabric_real_counters *n = &f->count;
	if (a->n_bytes > FABRIC_REAL_MAX_PAYLOAD)
		return sim_fail(e, SIM_ERANGE,
		    "a payload of %u bytes is not in [0, %d].", a->n_bytes,
		    FABRIC_REAL_MAX_PAYLOAD);
	n->n_connects++;
	/* Asked before a socket is taken, so that a burst costs nothing but
	 * events. */
	if (f->n_flights == f->params.max_flights)
		return not_tried(f, host, a->token, &n->n_crowded, e);
	const int fd = real_host_socket(f, host);
	if (fd < 0)
		return not_tried(f, host, a->token, &n->n_not_tried, e);
	int why = real_connect_prepare(f, fd, a);
	/* Binding is not part of the round trip. */
	const sim_ns since = real_now(f);
	if (why == 0 && connect(fd, (const struct sockaddr *)&dst, n_dst) < 0)
		why = errno;
	/* Anything but these two, such as "unreachable" from the own routing
	 * table, means that no SYN was sent. */
	if (why != 0 && why != EINPROGRESS && why != ECONNREFUSED) {
		close(fd);
		const int taken = why == EADDRINUSE || why == EADDRNOTAVAIL;
		return not_tried(f, host, a->token,
		    taken ? &n->n_port_taken : &n->n_not_tried, e);
	}
	/* There is a free slot: the limit was asked above, and nothing has been
	 * opened since. */
	struct real_conn *c = real_conn_open(f, fd, REAL_CONNECTING, host);
	c->token = a->token;
	c->ping = a->ping;
	c->n_bytes = a->ping == AGENT_PING_HTTP ? 0 : a->n_bytes;
	c->since = since;
	if (why != ECONNREFUSED)
		return real_conn_poll(f, c, EPOLLOUT, e);
	/* Over loopback the reset may come before connect() returns. */
	c->rtt_ns = real_now(f) - since;
	return real_connect_done(f, c, AGENT_REFUSED, 0, e);
}
