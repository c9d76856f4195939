/* models/real/retx.c -- retransmissions: told by a source, or looked for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two ways to learn that a segment was sent again. A source, such as an eBPF
 * program on the kernel's tracepoint, tells of each at once and of all flows.
 * Without one, TCP_INFO of sockets that are watched is read now and then: that
 * takes no right, comes late by up to watch_ms, and sees only sockets of this
 * process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "models/real/impl.h"
#include "sim/vec.h"

enum {
	AT_ONCE = 64,
	MOST = 256, /* events of one socket a look */
};

static int retx_tell(struct fabric_real *f, topo_host host,
    const struct topo_tuple *tuple, int established, struct sim_err *e)
{
	struct agent_event *ev = real_tell(f, host, AGENT_RETX, 0, e);
	if (!ev)
		return SIM_ENOMEM;
	ev->tuple = *tuple;
	ev->established = (uint8_t)established;
	f->count.n_retx++;
	return 0;
}

/* --- a source ----------------------------------------------------------- */

int fabric_real_retx(struct fabric_real *f,
    const struct fabric_real_retx_source *s, struct sim_err *e)
{
	assert(!f->retx.read && s->read);
	int rc = real_poll_fd(f, s->fd, EPOLLIN, REAL_RETX, 0, 0, e);
	if (rc == 0) {
		f->retx = *s;
		f->base.caps.sees_flows = 1;
	}
	return rc;
}

int real_retx_read(struct fabric_real *f, struct sim_err *e)
{
	struct fabric_real_retx r[AT_ONCE];
	size_t n = 0;
	int rc = f->retx.read(f->retx.arg, r, AT_ONCE, &n, e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const topo_host h = real_host_of(f, r[i].tuple.src_ip);
		/* A source may tell of the whole machine; what no host of ours
		 * sent is only counted. */
		if (h == TOPO_NONE)
			f->count.n_others_retx++;
		else
			rc = retx_tell(f, h, &r[i].tuple, r[i].established, e);
	}
	return rc;
}

/* --- looking ------------------------------------------------------------ */

/* Zeroed first: an older kernel fills less of the struct than this program
 * knows. */
static int look_at(int fd, struct tcp_info *info)
{
	socklen_t n = sizeof(*info);
	*info = (struct tcp_info){0};
	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &n);
}

/* The two ends of a connected socket. */
static int retx_tuple_of(int fd, struct topo_tuple *t)
{
	struct sockaddr_in src = {0}, dst = {0};
	socklen_t n = sizeof(src), m = sizeof(dst);
	if (getsockname(fd, (struct sockaddr *)&src, &n) < 0 ||
	    getpeername(fd, (struct sockaddr *)&dst, &m) < 0)
		return errno;
	if (src.sin_family != AF_INET)
		return EAFNOSUPPORT;
	*t = (struct topo_tuple){ntohl(src.sin_addr.s_addr),
	    ntohl(dst.sin_addr.s_addr), ntohs(src.sin_port),
	    ntohs(dst.sin_port), TOPO_PROTO_TCP};
	return 0;
}

static sim_ns interval(const struct fabric_real *f)
{
	return (sim_ns)(f->params.watch_ms * 1e6);
}

int fabric_real_watch(struct fabric_real *f, topo_host host, int fd,
    struct sim_err *e)
{
	struct real_watch w = {.fd = fd, .host = host};
	struct tcp_info info;
	assert(host < f->base.n_hosts);
	int why = look_at(fd, &info) < 0 ? errno : retx_tuple_of(fd, &w.tuple);
	if (why != 0)
		return sim_fail(e, SIM_EINVAL,
		    "descriptor %d is no connected socket of TCP over IPv4: "
		    "%s.",
		    fd, strerror(why));
	int rc = SIM_RESERVE(&f->watch, &f->cap_watched, f->n_watched + 1, e);
	if (rc < 0)
		return rc;
	/* What was sent again before the watch began, such as SYNs, is not told
	 * of. */
	w.n_retx = info.tcpi_total_retrans;
	f->watch[f->n_watched++] = w;
	f->base.caps.sees_flows = 1;
	if (f->watch_at == SIM_NEVER)
		f->watch_at = real_now(f) + interval(f);
	return 0;
}

/* One event for each segment that was sent again since the last look. A socket
 * that cannot be read any more tells nothing, which is no error: whoever owns
 * it may close it first. A connection that lost thousands at once is bounded,
 * as agents trace a flow once and not once a segment. */
static int look_again(struct fabric_real *f, struct real_watch *w,
    struct sim_err *e)
{
	struct tcp_info info;
	int rc = 0;
	if (look_at(w->fd, &info) < 0)
		return 0;
	/* Unsigned, so that a counter that wraps still gives the difference. */
	uint32_t n = info.tcpi_total_retrans - w->n_retx;
	w->n_retx = info.tcpi_total_retrans;
	for (n = n < MOST ? n : MOST; rc == 0 && n > 0; n--)
		rc = retx_tell(f, w->host, &w->tuple,
		    info.tcpi_state != TCP_SYN_SENT &&
			info.tcpi_state != TCP_SYN_RECV,
		    e);
	return rc;
}

int fabric_real_unwatch(struct fabric_real *f, int fd, struct sim_err *e)
{
	for (size_t i = 0; i < f->n_watched; i++) {
		if (f->watch[i].fd != fd)
			continue;
		/* The last look, for what was lost at the very end of the
		 * flow. */
		const int rc = look_again(f, &f->watch[i], e);
		/* The order of watches says nothing, so the last one may fill
		 * the gap. */
		f->watch[i] = f->watch[--f->n_watched];
		return rc;
	}
	return 0;
}

int real_retx_look(struct fabric_real *f, struct sim_err *e)
{
	const sim_ns now = real_now(f);
	int rc = 0;
	if (now < f->watch_at)
		return 0;
	for (size_t i = 0; rc == 0 && i < f->n_watched; i++)
		rc = look_again(f, &f->watch[i], e);
	/* From the end of the look on: were it from the beginning, many sockets
	 * could leave no time for anything else. */
	f->watch_at = f->n_watched > 0 ? real_now(f) + interval(f) : SIM_NEVER;
	return rc;
}
