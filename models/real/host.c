/* models/real/host.c -- hosts of the real fabric: namespaces and sockets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A socket belongs to the namespace where it is opened, and the way there and
 * back costs as much as the socket; so a namespace is entered for a whole stock
 * of them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "models/real/impl.h"
#include "models/real/namespace.h"
#include "models/real/place.h"
#include "sim/sort.h"
#include "sim/vec.h"

enum {
	/* Connects that the kernel completes before they are accepted; a full
	 * queue would drop SYNs, which probes would report as loss of the
	 * network. */
	BACKLOG = 4096,
	ICMP_BUFFER = 1 << 20,
	ICMP_FILTER_OPTION = 1, /* of SOL_RAW: a set of types, dropped */
	TIME_EXCEEDED = 11,
};

static int host_enter(const struct real_host *h, struct sim_err *e)
{
	return h->ns < 0 ? 0 : real_ns_enter(h->ns, e);
}

static int host_leave(const struct fabric_real *f, const struct real_host *h,
    struct sim_err *e)
{
	return h->ns < 0 ? 0 : real_ns_enter(f->home, e);
}

/* One of IPv6 is of IPv6 alone, or it would take IPv4's port, too. */
static int tcp_socket(uint32_t ip)
{
	const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
	if (!topo_ip_is_number(ip))
		return socket(AF_INET, type, 0);
	const int fd = socket(AF_INET6, type, 0), yes = 1;
	if (fd >= 0)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	return fd;
}

socklen_t real_host_at(const struct fabric_real *f, uint32_t ip, uint16_t port,
    struct sockaddr_storage *out)
{
	const struct topo_ip a = topo_ip_book_look(f->params.book, ip);
	const socklen_t n = real_ip_at(&a, port, out);
	/* A number that no book has is nobody's, and :: would be this host:
	 * bind() and connect() refuse an address of another family. */
	if (topo_ip_is_zero(&a))
		out->ss_family = AF_UNIX;
	return n;
}

/* Errors of entering are told by errno alone, since a connect that could not be
 * tried is an outcome and no failure of the run. */
int real_host_socket(struct fabric_real *f, topo_host host)
{
	struct real_host *h = &f->host[host];
	struct sim_err e;
	if (h->ns < 0)
		return tcp_socket(h->address);
	if (h->n_stock == 0 && host_enter(h, &e) == 0) {
		int fd = 0;
		while (h->n_stock < REAL_STOCK &&
		    (fd = tcp_socket(h->address)) >= 0)
			h->stock[h->n_stock++] = fd;
		const int why = errno;
		/* The way back can only fail where the way in does: both take a
		 * right to the namespace that this process had when it opened
		 * them. So its error is not looked at. */
		host_leave(f, h, &e);
		errno = why;
	}
	return h->n_stock > 0 ? h->stock[--h->n_stock] : -1;
}

/* --- opening ------------------------------------------------------------ */

static int host_set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

int real_host_mark(int fd, uint32_t ip, uint8_t dscp)
{
	enum { AUTO_LABELS = 70 }; /* IPV6_AUTOFLOWLABEL of linux/in6.h */
	if (!topo_ip_is_number(ip))
		return dscp ? host_set(fd, IPPROTO_IP, IP_TOS, dscp << 2) : 0;
	/* A kernel of before 3.17 has no such option, and no labels. */
	if (host_set(fd, IPPROTO_IPV6, AUTO_LABELS, 0) < 0 &&
	    errno != ENOPROTOOPT)
		return -1;
	return dscp ? host_set(fd, IPPROTO_IPV6, IPV6_TCLASS, dscp << 2) : 0;
}

/* Accepted sockets inherit these options from their listener, so the reset at
 * close() and the DSCP of the SYN-ACK, which leaves before anybody could set
 * it, are set here. */
static int host_prepare(const struct fabric_real *f, int fd, uint32_t address,
    unsigned class)
{
	const struct linger reset = {.l_onoff = 1};
	struct sockaddr_storage at;
	const socklen_t n =
	    real_host_at(f, address, f->params.port[class], &at);
	if (host_set(fd, SOL_SOCKET, SO_REUSEADDR, 1) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) < 0 ||
	    real_host_mark(fd, address, f->params.dscp[class]) < 0 ||
	    bind(fd, (const struct sockaddr *)&at, n) < 0)
		return -1;
	return listen(fd, BACKLOG);
}

static int open_listeners(struct fabric_real *f, topo_host host,
    struct sim_err *e)
{
	const struct fabric_real_params *p = &f->params;
	struct real_host *h = &f->host[host];
	for (unsigned i = 0; i < p->n_classes; i++) {
		const int fd = h->listener[i] = tcp_socket(h->address);
		if (fd < 0 || host_prepare(f, fd, h->address, i) < 0)
			return sim_fail(e, SIM_EIO,
			    "port %u cannot be listened on: %s.", p->port[i],
			    strerror(errno));
		int rc =
		    real_poll_fd(f, fd, EPOLLIN, REAL_LISTENER, i, host, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Both sockets or none, since a probe whose answer cannot be heard is of no
 * use. That they are not allowed is no error: connects need no right, and
 * agents ask caps.can_probe_ttl. */
static int open_raw(struct fabric_real *f, topo_host host, struct sim_err *e)
{
	const int type = SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC;
	const uint32_t others = ~(UINT32_C(1) << TIME_EXCEEDED);
	struct real_host *h = &f->host[host];
	/* What is sent and heard there is IPv4. */
	if (topo_ip_is_number(h->address)) {
		f->base.caps.can_probe_ttl = 0;
		return 0;
	}
	h->raw = socket(AF_INET, type, IPPROTO_RAW);
	h->icmp = socket(AF_INET, type, IPPROTO_ICMP);
	if (h->raw < 0 || h->icmp < 0) {
		f->base.caps.can_probe_ttl = 0;
		return errno == EPERM || errno == EACCES
		    ? 0
		    : sim_fail(e, SIM_EIO, "there is no raw socket: %s.",
			  strerror(errno));
	}
	/* The kernel then keeps everything but "time exceeded" from us. Without
	 * the filter each socket would get a copy of every ICMP message of its
	 * namespace. */
	setsockopt(h->icmp, SOL_RAW, ICMP_FILTER_OPTION, &others,
	    sizeof(others));
	/* Answers come in bursts, one for each TTL of many traces at once, and
	 * an answer that finds the buffer full looks like a router that is
	 * silent. FORCE goes beyond the limit of the machine and takes
	 * CAP_NET_ADMIN. */
	if (host_set(h->icmp, SOL_SOCKET, SO_RCVBUFFORCE, ICMP_BUFFER) < 0)
		host_set(h->icmp, SOL_SOCKET, SO_RCVBUF, ICMP_BUFFER);
	return real_poll_fd(f, h->icmp, EPOLLIN, REAL_ICMP, 0, host, e);
}

int real_host_open(struct fabric_real *f, topo_host host, struct sim_err *e)
{
	struct real_host *h = &f->host[host];
	int rc = host_enter(h, e);
	if (rc < 0)
		return rc;
	/* All hosts of one fabric are set alike; the first one stands for
	 * all. */
	if (host == 0)
		real_host_read_rto(f);
	rc = open_listeners(f, host, e);
	if (rc == 0 && !f->params.no_probe)
		rc = open_raw(f, host, e);
	/* Also after a failure, whose message is then the one to keep. */
	const int back = host_leave(f, h, rc < 0 ? NULL : e);
	return rc < 0 ? rc : back;
}

static void close_one(int fd)
{
	if (fd >= 0)
		close(fd);
}

void real_host_close(struct real_host *h)
{
	for (unsigned i = 0; i < FABRIC_REAL_CLASSES; i++)
		close_one(h->listener[i]);
	close_one(h->raw);
	close_one(h->icmp);
	while (h->n_stock > 0)
		close(h->stock[--h->n_stock]);
}

/* --- what the kernel is set to ------------------------------------------ */

/* 0 also where the kernel has no such knob. */
static unsigned knob(const char *path)
{
	unsigned value = 0;
	FILE *in = fopen(path, "re");
	if (!in)
		return 0;
	if (fscanf(in, "%u", &value) != 1)
		value = 0;
	fclose(in);
	return value;
}

/* The waits between SYNs, by which connect times are read as drops. Linux
 * doubles its wait after each SYN but the first `linear` ones
 * (tcp_syn_linear_timeouts, since 6.5), which come on top of what TCP_SYNCNT or
 * tcp_syn_retries allow. So with the usual settings SYNs leave after 1, 2, 3, 4
 * and 5 s, and only then further apart. */
void real_host_read_rto(struct fabric_real *f)
{
	static const char linear_knob[] =
	    "/proc/sys/net/ipv4/tcp_syn_linear_timeouts";
	static const char retries_knob[] = "/proc/sys/net/ipv4/tcp_syn_retries";
	/* TCP_RTO_MAX of the kernel. */
	const sim_ns longest = 120 * SIM_SEC;
	sim_ns *rto = f->base.caps.syn_rto_ns;
	const unsigned linear = knob(linear_knob);
	const unsigned retries =
	    f->params.syn_retries ? f->params.syn_retries : knob(retries_knob);
	sim_ns wait = (sim_ns)(f->params.syn_rto_s * 1e9);
	const unsigned most = sizeof(f->base.caps.syn_rto_ns) / sizeof(rto[0]);
	for (unsigned i = 0; i < most && i < retries + linear; i++) {
		rto[i] = wait;
		if (i >= linear && (wait *= 2) > longest)
			wait = longest;
	}
}

/* --- by address --------------------------------------------------------- */

static int by_address(const void *a, const void *b, void *hosts)
{
	const struct real_host *h = hosts;
	const uint32_t x = h[*(const uint32_t *)a].address;
	const uint32_t y = h[*(const uint32_t *)b].address;
	return SIM_ORDER(x, y);
}

/* Hosts are looked up by address for each retransmission that a source tells
 * of, hence the sorted index. Two of one address could not be told apart. */
int real_host_index(struct fabric_real *f, struct sim_err *e)
{
	const uint32_t n = f->base.n_hosts;
	uint32_t *order;
	int rc = SIM_ZALLOC(&f->by_address, n, e);
	if (rc < 0)
		return rc;
	order = f->by_address;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_address, f->host);
	for (uint32_t i = 1; i < n; i++)
		if (f->host[order[i]].address == f->host[order[i - 1]].address)
			return sim_fail(e, SIM_EINVAL,
			    "hosts %u and %u have the same address.",
			    order[i - 1], order[i]);
	return 0;
}

topo_host real_host_of(const struct fabric_real *f, uint32_t address)
{
	uint32_t low = 0, high = f->base.n_hosts;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (f->host[f->by_address[middle]].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == f->base.n_hosts ||
	    f->host[f->by_address[low]].address != address)
		return TOPO_NONE;
	return f->by_address[low];
}
