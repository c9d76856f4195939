/* models/netns/traffic.c -- TCP flows between the hosts of a real network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/traffic.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "models/clock.h"
#include "models/netns/flow_order.h"
#include "models/real/namespace.h"
#include "sim/vec.h"
#include "topo/addr.h"

enum {
	AT_ONCE = 256,
	CHUNK = 65536,
	LISTEN_QUEUE = 4096,
	USUAL_TIMEOUT_S = 60,
};

/* What an epoll event is about. */
enum kind { TIMER, LISTENER, SENDER, RECEIVER };

/* A flow under way. Only the sender's end is measured; the receiver counts what
 * came, to know when all has. */
struct run {
	int sender, receiver; /* -1: none */
	uint64_t n_bytes;     /* in all; 0 until connected */
	uint64_t n_out, n_in;
	struct netns_flow_end end;
};

struct listener {
	int fd;
	topo_host host;
	uint16_t port;
};

struct netns_traffic {
	const struct netns_net *net;
	const struct topo *t;
	struct obs_flow *flow;
	struct netns_traffic_params p;
	size_t n, n_started, n_left, oldest;
	struct netns_flow_order order;
	struct run *run; /* [n] */
	struct listener *listener;
	size_t n_listeners, cap_listeners;
	int epoll, timer;
	uint64_t opened; /* CLOCK_MONOTONIC */
	int home;        /* the namespace of the thread, */
	uint8_t away;    /* which is in some host */
	/* What a callback refused, until the step is over. */
	int wrong;
	struct sim_err why;
	char buf[CHUNK];
};

static uint64_t netns_traffic_now_of(const struct netns_traffic *tr)
{
	return clock_now() - tr->opened;
}

static int broken(const char *what, const struct obs_flow *f, struct sim_err *e)
{
	return sim_fail(e, SIM_EIO,
	    "The flow from host %u port %u to host %u port %u: %s: %s.",
	    f->src_host, f->src_port, f->dst_host, f->dst_port, what,
	    strerror(errno));
}

/* --- sockets -------------------------------------------------------------- */

static struct sockaddr_in address(uint32_t ip, uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(ip)};
}

/* The virtual address that a flow is sent to, or 0. */
static uint32_t netns_traffic_vip(const struct netns_traffic *tr, size_t i)
{
	return tr->p.to ? tr->p.to[i] : 0;
}

static int netns_traffic_watch(const struct netns_traffic *tr, int op, int fd,
    uint32_t events, enum kind kind, size_t index)
{
	struct epoll_event ev = {.events = events,
	    .data.u64 = (uint64_t)kind << 32 | index};
	return epoll_ctl(tr->epoll, op, fd, &ev);
}

/* A socket in a host, bound to its port, or -1 with errno. IP is the host's
 * address or 0, any that comes in there, also such as the host has not. The thread stays in
 * that host, as the next socket is often of the same one; go_home() brings it
 * back. The congestion control is set for each socket, since a namespace allows
 * few of them as its default; BBR, which many machines use, hides losses from
 * throughput. */
static int socket_in(struct netns_traffic *tr, topo_host h, uint32_t ip,
    uint16_t port)
{
	const struct sockaddr_in at = address(ip, port);
	const char *control = tr->p.congestion;
	const int on = 1;
	const int ns = tr->p.host ? tr->p.host[h].ns : netns_fd(tr->net, h);
	if (real_ns_enter(ns, NULL) < 0)
		return -1;
	tr->away = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control,
		    (socklen_t)strlen(control)) < 0 ||
		(ip == 0 &&
		    setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on,
			sizeof(on)) < 0) ||
		bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)) {
		const int why = errno;
		close(fd);
		errno = why;
		fd = -1;
	}
	return fd;
}

static int go_home(struct netns_traffic *tr, int rc, struct sim_err *e)
{
	if (!tr->away)
		return rc;
	tr->away = 0;
	const int back = real_ns_enter(tr->home, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}

/* Tell a callback of a flow. What it refuses is kept until the step is over, as
 * the places that call this have no error to return. */
static void netns_traffic_say(struct netns_traffic *tr, size_t i,
    int (*hear)(void *arg, size_t flow, int fd, struct sim_err *e))
{
	if (hear && tr->wrong == 0)
		tr->wrong = hear(tr->p.arg, i, tr->run[i].sender, &tr->why);
}

/* A linger of 0 makes close() a reset: no TIME_WAIT, and nothing of the flow is
 * sent again into the next epoch. */
static void netns_traffic_reset(int *fd)
{
	const struct linger now = {.l_onoff = 1};
	if (*fd < 0)
		return;
	setsockopt(*fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(*fd);
	*fd = -1;
}

/* --- flows ---------------------------------------------------------------- */

static void netns_traffic_finish(struct netns_traffic *tr, size_t i,
    enum netns_flow_state state)
{
	struct run *r = &tr->run[i];
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);
	if (r->end.state != NETNS_FLOW_RUNS)
		return;
	/* Read while the socket is there; after the reset nobody knows. */
	getsockopt(r->sender, IPPROTO_TCP, TCP_INFO, &info, &size);
	tr->flow[i].n_retx = info.tcpi_total_retrans;
	tr->flow[i].srtt_us = r->end.established ? info.tcpi_rtt : 0;
	r->end.n_sent = info.tcpi_data_segs_out;
	r->end.end_ns = netns_traffic_now_of(tr);
	r->end.state = state;
	if (r->end.established)
		netns_traffic_say(tr, i, tr->p.closes);
	netns_traffic_reset(&r->sender);
	/* Of a flow that is done the sender's reset closes this end, so that no
	 * packet comes to a socket that is gone. Of one that failed the reset
	 * may be lost like all else. */
	if (state == NETNS_FLOW_FAILED)
		netns_traffic_reset(&r->receiver);
	tr->n_left--;
}

/* A connect that fails at once, as on a host that is cut off, is a flow that
 * failed; only a missing socket is an error of the machine. */
static int netns_traffic_start(struct netns_traffic *tr, size_t i,
    struct sim_err *e)
{
	const struct obs_flow *f = &tr->flow[i];
	const uint32_t vip = netns_traffic_vip(tr, i);
	const struct sockaddr_in to =
	    address(vip ? vip : topo_addr_of_host(f->dst_host), f->dst_port);
	struct run *r = &tr->run[i];
	r->sender = socket_in(tr, f->src_host, topo_addr_of_host(f->src_host),
	    f->src_port);
	if (r->sender < 0)
		return broken("no socket", f, e);
	r->end.state = NETNS_FLOW_RUNS;
	if (connect(r->sender, (const struct sockaddr *)&to, sizeof(to)) < 0 &&
	    errno != EINPROGRESS)
		netns_traffic_finish(tr, i, NETNS_FLOW_FAILED);
	else if (netns_traffic_watch(tr, EPOLL_CTL_ADD, r->sender,
		     EPOLLIN | EPOLLOUT, SENDER, i) < 0)
		return broken("no watch", f, e);
	return 0;
}

/* The handshake is over: now the size of a segment is known, and with it how
 * many bytes n_pkts full segments are. Returns 0 if the connect failed. */
static int connected(struct netns_traffic *tr, size_t i)
{
	struct run *r = &tr->run[i];
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);
	int why = 0;
	socklen_t n = sizeof(why);
	getsockopt(r->sender, SOL_SOCKET, SO_ERROR, &why, &n);
	if (why != 0 ||
	    getsockopt(r->sender, IPPROTO_TCP, TCP_INFO, &info, &size) < 0 ||
	    info.tcpi_snd_mss == 0)
		return 0;
	r->n_bytes = (uint64_t)tr->flow[i].n_pkts * info.tcpi_snd_mss;
	r->end.established = 1;
	netns_traffic_say(tr, i, tr->p.connected);
	return 1;
}

/* Send what the socket takes. MSG_MORE joins calls, or each call would end in a
 * segment that is not full and the flow would have more packets than it should.
 * Returns 0 if the connection is broken. */
static int push(struct netns_traffic *tr, struct run *r, size_t i)
{
	while (r->n_out < r->n_bytes) {
		const uint64_t left = r->n_bytes - r->n_out;
		const ssize_t n =
		    send(r->sender, tr->buf, left < CHUNK ? left : CHUNK,
			MSG_NOSIGNAL | (left > CHUNK ? MSG_MORE : 0));
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		r->n_out += (uint64_t)n;
	}
	/* All is sent; the socket stays writable and epoll must not tell of
	 * that any more. */
	return netns_traffic_watch(tr, EPOLL_CTL_MOD, r->sender, EPOLLIN,
		   SENDER, i) == 0;
}

static void on_sender(struct netns_traffic *tr, size_t i, uint32_t events)
{
	struct run *r = &tr->run[i];
	char none;
	/* More events of the same batch may come for a flow that has just
	 * ended. */
	if (r->end.state != NETNS_FLOW_RUNS)
		return;
	if (r->n_bytes == 0 && !connected(tr, i)) {
		netns_traffic_finish(tr, i, NETNS_FLOW_FAILED);
		return;
	}
	if (events & EPOLLOUT && r->n_out < r->n_bytes && !push(tr, r, i)) {
		netns_traffic_finish(tr, i, NETNS_FLOW_FAILED);
		return;
	}
	if (!(events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		return;
	/* The receiver sends its FIN when it has all, so this is the
	 * acknowledgement that the flow is done. */
	const ssize_t n = recv(r->sender, &none, 1, 0);
	if (n == 0 && r->n_in == r->n_bytes)
		netns_traffic_finish(tr, i, NETNS_FLOW_DONE);
	else if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		netns_traffic_finish(tr, i, NETNS_FLOW_FAILED);
}

static void on_receiver(struct netns_traffic *tr, size_t i)
{
	struct run *r = &tr->run[i];
	while (r->receiver >= 0) {
		/* With MSG_TRUNC TCP throws the bytes away without copying
		 * them: what they are does not matter. */
		const ssize_t n = recv(r->receiver, tr->buf, CHUNK, MSG_TRUNC);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			netns_traffic_reset(&r->receiver);
			return;
		}
		r->n_in += (uint64_t)n;
		/* All has come: the FIN tells the sender so. */
		if (r->n_in == r->n_bytes)
			shutdown(r->receiver, SHUT_WR);
	}
}

/* --- accepting ------------------------------------------------------------ */

static int on_listener(struct netns_traffic *tr, const struct listener *l,
    struct sim_err *e)
{
	for (;;) {
		struct sockaddr_in from = {0};
		socklen_t size = sizeof(from);
		int fd = accept4(l->fd, (struct sockaddr *)&from, &size,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && (errno == EMFILE || errno == ENFILE))
			return sim_fail(e, SIM_EIO,
			    "Host %u cannot accept more flows: %s.", l->host,
			    strerror(errno));
		if (fd < 0 && errno == EAGAIN)
			return 0;
		if (fd < 0) /* one that is gone already */
			continue;
		const struct obs_flow like = {.dst_host = l->host,
		    .dst_port = l->port,
		    .src_host = topo_addr_to_host(ntohl(from.sin_addr.s_addr),
			tr->t->n_hosts),
		    .src_port = ntohs(from.sin_port)};
		const size_t i = netns_flow_order_find(&tr->order, &like);
		/* Nobody's flow, or one that has been given up, or a second SYN
		 * of one that has its connection. */
		if (i == tr->n || tr->run[i].end.state != NETNS_FLOW_RUNS ||
		    tr->run[i].receiver >= 0) {
			netns_traffic_reset(&fd);
			continue;
		}
		tr->run[i].receiver = fd;
		if (netns_traffic_watch(tr, EPOLL_CTL_ADD, fd, EPOLLIN,
			RECEIVER, i) < 0)
			return broken("no watch", &tr->flow[i], e);
	}
}

/* --- time ----------------------------------------------------------------- */

/* Of the I-th flow in the order of starting. */
static uint64_t netns_traffic_deadline(const struct netns_traffic *tr, size_t i)
{
	return tr->flow[tr->order.by_start[i]].start_ns +
	    (uint64_t)(tr->p.timeout_s * 1e9);
}

/* Flows begin in the order of start_ns, and as all have the same timeout they
 * fail in that order, too. So two positions in one sorted list are all there is
 * to look at. */
static int pass_time(struct netns_traffic *tr, struct sim_err *e)
{
	const uint64_t now = netns_traffic_now_of(tr);
	int rc = 0;
	while (rc == 0 && tr->n_started < tr->n) {
		const uint32_t i = tr->order.by_start[tr->n_started];
		if (tr->flow[i].start_ns > now)
			break;
		rc = netns_traffic_start(tr, i, e);
		tr->n_started++;
	}
	/* Once for all flows that began now. */
	rc = go_home(tr, rc, e);
	while (tr->oldest < tr->n_started) {
		const uint32_t i = tr->order.by_start[tr->oldest];
		if (tr->run[i].end.state == NETNS_FLOW_RUNS) {
			if (netns_traffic_deadline(tr, tr->oldest) > now)
				break;
			netns_traffic_finish(tr, i, NETNS_FLOW_FAILED);
		}
		tr->oldest++;
	}
	return rc;
}

static int netns_traffic_arm(struct netns_traffic *tr, struct sim_err *e)
{
	uint64_t next = UINT64_MAX;
	if (tr->n_started < tr->n)
		next = tr->flow[tr->order.by_start[tr->n_started]].start_ns;
	if (tr->oldest < tr->n_started &&
	    netns_traffic_deadline(tr, tr->oldest) < next)
		next = netns_traffic_deadline(tr, tr->oldest);
	/* Nothing is due by the clock; an old alarm does no harm. */
	if (next == UINT64_MAX)
		return 0;
	next += tr->opened;
	const struct itimerspec at = {
	    .it_value = {(time_t)(next / SIM_SEC), (long)(next % SIM_SEC)}};
	return timerfd_settime(tr->timer, TFD_TIMER_ABSTIME, &at, NULL) == 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "A timer cannot be set: %s.",
		  strerror(errno));
}

int netns_traffic_step(struct netns_traffic *tr, struct sim_err *e)
{
	struct epoll_event ev[AT_ONCE];
	uint64_t n_expired;
	int n = epoll_wait(tr->epoll, ev, AT_ONCE, 0), rc = 0;
	for (int i = 0; rc == 0 && i < n; i++) {
		const size_t at = (uint32_t)ev[i].data.u64;
		switch ((enum kind)(ev[i].data.u64 >> 32)) {
		case TIMER:
			if (read(tr->timer, &n_expired, sizeof(n_expired)) < 0)
				continue; /* armed anew meanwhile */
			break;
		case LISTENER:
			rc = on_listener(tr, &tr->listener[at], e);
			break;
		case SENDER:
			on_sender(tr, at, ev[i].events);
			break;
		case RECEIVER:
			on_receiver(tr, at);
			break;
		}
	}
	if (rc == 0)
		rc = pass_time(tr, e);
	if (rc == 0 && tr->wrong < 0)
		/* What a callback refused ends the step, and every later
		 * one. */
		rc = sim_fail(e, tr->wrong, "%s", tr->why.msg);
	return rc < 0 ? rc : netns_traffic_arm(tr, e);
}

/* --- opening and closing -------------------------------------------------- */

static int netns_traffic_sort(struct netns_traffic *tr, struct sim_err *e)
{
	const int rc = SIM_ZALLOC(&tr->run, tr->n, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < tr->n; i++)
		tr->run[i].sender = tr->run[i].receiver = -1;
	return netns_flow_order_open(&tr->order, tr->flow, tr->n,
	    tr->t->n_hosts, tr->p.to, e);
}

static int listen_at(struct netns_traffic *tr, const struct obs_flow *f,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&tr->listener, &tr->cap_listeners,
	    tr->n_listeners + 1, e);
	if (rc < 0)
		return rc;
	int fd = socket_in(tr, f->dst_host,
	    tr->p.to ? 0 : topo_addr_of_host(f->dst_host), f->dst_port);
	if (fd < 0)
		return broken("its receiver cannot listen", f, e);
	tr->listener[tr->n_listeners] =
	    (struct listener){fd, f->dst_host, f->dst_port};
	if (listen(fd, LISTEN_QUEUE) < 0 ||
	    netns_traffic_watch(tr, EPOLL_CTL_ADD, fd, EPOLLIN, LISTENER,
		tr->n_listeners++) < 0)
		return broken("its receiver cannot listen", f, e);
	return 0;
}

/* One listener for each host and port; in the order of by_tuple those that
 * share it are neighbours. */
static int listen_all(struct netns_traffic *tr, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < tr->n; i++) {
		const struct obs_flow *f = &tr->flow[tr->order.by_tuple[i]];
		const struct obs_flow *last =
		    i > 0 ? &tr->flow[tr->order.by_tuple[i - 1]] : NULL;
		if (!last || last->dst_host != f->dst_host ||
		    last->dst_port != f->dst_port)
			rc = listen_at(tr, f, e);
	}
	return go_home(tr, rc, e);
}

static int netns_traffic_open_fds(struct netns_traffic *tr, struct sim_err *e)
{
	struct rlimit r;
	if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
		/* How many flows run at a time is not known before, so as many
		 * as may be. */
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
	tr->epoll = epoll_create1(EPOLL_CLOEXEC);
	tr->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (tr->epoll < 0 || tr->timer < 0 ||
	    netns_traffic_watch(tr, EPOLL_CTL_ADD, tr->timer, EPOLLIN, TIMER,
		0) < 0)
		return sim_fail(e, SIM_EIO,
		    "Descriptors for flows cannot be had: %s.",
		    strerror(errno));
	return 0;
}

int netns_traffic_open(struct netns_traffic **out, const struct netns_net *net,
    const struct topo *t, struct obs_flow flow[], size_t n,
    const struct netns_traffic_params *p, struct sim_err *e)
{
	struct netns_traffic *tr = NULL;
	int rc = SIM_ZALLOC(&tr, 1, e);
	*out = NULL;
	if (rc < 0)
		return rc;
	tr->net = net;
	tr->t = t;
	tr->flow = flow;
	tr->n = tr->n_left = n;
	tr->p = *p;
	tr->epoll = tr->timer = tr->home = -1;
	if (p->timeout_s == 0)
		tr->p.timeout_s = USUAL_TIMEOUT_S;
	if (!p->congestion)
		tr->p.congestion = "reno";
	if ((rc = real_ns_here(&tr->home, e)) == 0 &&
	    (rc = netns_traffic_sort(tr, e)) == 0 &&
	    (rc = netns_traffic_open_fds(tr, e)) == 0 &&
	    (rc = listen_all(tr, e)) == 0) {
		/* Time 0 is after all listeners are there; `opened` is still 0
		 * here, so this reads the clock itself. */
		tr->opened = netns_traffic_now_of(tr);
		rc = netns_traffic_arm(tr, e);
	}
	if (rc < 0)
		netns_traffic_close(tr);
	else
		*out = tr;
	return rc;
}

void netns_traffic_close(struct netns_traffic *tr)
{
	if (!tr)
		return;
	for (size_t i = 0; tr->run && i < tr->n; i++) {
		netns_traffic_reset(&tr->run[i].sender);
		netns_traffic_reset(&tr->run[i].receiver);
	}
	for (size_t i = 0; i < tr->n_listeners; i++)
		close(tr->listener[i].fd);
	if (tr->epoll >= 0)
		close(tr->epoll);
	if (tr->timer >= 0)
		close(tr->timer);
	if (tr->home >= 0)
		close(tr->home);
	free(tr->listener);
	netns_flow_order_close(&tr->order);
	free(tr->run);
	free(tr);
}

int netns_traffic_fd(const struct netns_traffic *tr)
{
	return tr->epoll;
}

size_t netns_traffic_left(const struct netns_traffic *tr)
{
	return tr->n_left;
}

const struct netns_flow_end *netns_traffic_end(const struct netns_traffic *tr,
    size_t flow)
{
	return &tr->run[flow].end;
}
