/* tests/real/lab.c -- a network of namespaces under test: flows and traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/real/lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "models/clock.h"
#include "models/netns/caps.h"
#include "tests/rigs/folder.h"
#include "topo/addr.h"

/* --- networks ------------------------------------------------------------- */

static const char *reason; /* why nothing can be tested, or NULL */

int lab_begin(void **state)
{
	static struct netns_cap cap[NETNS_N_CAPS];
	cpu_set_t one;
	int as_user;
	(void)state;
	netns_probe(cap);
	if (!cap[NETNS_CAP_LIBMNL].ok)
		reason = cap[NETNS_CAP_LIBMNL].why;
	else if (!cap[NETNS_CAP_NAMESPACES].ok)
		reason = cap[NETNS_CAP_NAMESPACES].why;
	else
		assert_ok(netns_permit(&as_user, test_err()));
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	return 0;
}

int lab_begin_with_folder(void **state)
{
	return lab_begin(state) != 0 || test_folder_make(state) != 0;
}

void lab_needs(void **state)
{
	(void)state;
	if (!reason)
		return;
	print_message("reason: %s\n", reason);
	skip();
}

void lab_open_topo(struct lab *lab, struct topo *t,
    const struct netns_params *p)
{
	lab->t = *t;
	assert_ok(netns_open(&lab->net, &lab->t, p, test_err()));
}

void lab_open(struct lab *lab, const struct topo_clos *shape, uint32_t seed)
{
	struct netns_params p;
	struct topo t;
	assert_ok(sim_field_defaults(netns_fields, &p, test_err()));
	p.ecmp_seed = seed;
	assert_ok(topo_open_clos(&t, shape, test_err()));
	lab_open_topo(lab, &t, &p);
}

void lab_close(struct lab *lab)
{
	netns_close(lab->net);
	topo_close(&lab->t);
}

double lab_seconds(void)
{
	return 1e-9 * (double)clock_now();
}

/* --- TCP ------------------------------------------------------------------ */

static struct sockaddr_in address(topo_host h, uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(topo_addr_of_host(h))};
}

static int open_in(const struct lab *lab, topo_host h, int type, int proto)
{
	assert_ok(netns_enter(lab->net, h, test_err()));
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, proto);
	int why = errno;
	assert_ok(netns_leave(lab->net, test_err()));
	if (fd < 0)
		fail_msg("socket: %s", strerror(why));
	return fd;
}

static int bind_in(const struct lab *lab, topo_host h, uint16_t port)
{
	const struct sockaddr_in at = address(h, port);
	const int on = 1;
	int fd = open_in(lab, h, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		fail_msg("bind to port %u: %s", port, strerror(errno));
	return fd;
}

int lab_listen(const struct lab *lab, topo_host h, uint16_t port)
{
	int fd = bind_in(lab, h, port);
	assert_int_equal(listen(fd, 64), 0);
	return fd;
}

void lab_exchange(const struct lab *lab, int listener, const struct lab_flow *f,
    size_t bytes)
{
	const struct sockaddr_in to = address(f->dst, f->dst_port);
	const struct linger now = {.l_onoff = 1};
	struct sockaddr_in from = {0};
	socklen_t size = sizeof(from);
	char buf[4096] = {0};
	int fd = bind_in(lab, f->src, f->src_port);
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		fail_msg("connect from %u to %u: %s", f->src, f->dst,
		    strerror(errno));
	int far = accept(listener, (struct sockaddr *)&from, &size);
	assert_true(far >= 0);
	assert_int_equal(ntohl(from.sin_addr.s_addr),
	    topo_addr_of_host(f->src));
	assert_int_equal(ntohs(from.sin_port), f->src_port);
	assert_true(bytes <= sizeof(buf));
	assert_int_equal(send(fd, buf, bytes, 0), bytes);
	assert_int_equal(recv(far, buf, bytes, MSG_WAITALL), bytes);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
	/* The reset has arrived: nothing of this flow is on the way. */
	assert_int_equal(recv(far, buf, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	close(far);
}

/* --- traces --------------------------------------------------------------- */

struct probe {
	struct iphdr ip;
	struct tcphdr tcp;
};

static uint32_t sum_of(const void *p, size_t bytes)
{
	const uint16_t *word = p;
	uint32_t sum = 0;
	for (size_t i = 0; i < bytes / 2; i++)
		sum += word[i];
	return sum;
}

/* The right checksum of TCP, then one that no receiver takes. */
static uint16_t bad_checksum(const struct probe *p)
{
	uint32_t sum = sum_of(&p->tcp, sizeof(p->tcp)) +
	    sum_of(&p->ip.saddr, 8) + htons(IPPROTO_TCP) +
	    htons(sizeof(p->tcp));
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum ^ 0x5555;
}

static void send_probe(int raw, const struct lab_flow *f, unsigned ttl)
{
	const struct sockaddr_in to = address(f->dst, 0);
	struct probe p = {
	    .ip = {.version = 4,
		.ihl = 5,
		.tot_len = htons(sizeof(p)),
		.id = htons((uint16_t)(0x4200 | ttl)),
		.frag_off = htons(IP_DF),
		.ttl = (uint8_t)ttl,
		.protocol = IPPROTO_TCP,
		.saddr = htonl(topo_addr_of_host(f->src)),
		.daddr = to.sin_addr.s_addr},
	    .tcp = {.source = htons(f->src_port),
		.dest = htons(f->dst_port),
		.seq = htonl(1),
		.doff = sizeof(p.tcp) / 4,
		.ack = 1,
		.window = htons(1000)},
	};
	p.tcp.check = bad_checksum(&p);
	if (sendto(raw, &p, sizeof(p), 0, (const struct sockaddr *)&to,
		sizeof(to)) != sizeof(p))
		fail_msg("probe: %s", strerror(errno));
}

/* Read one answer: the TTL of its probe, and the address it came from. 0 when
 * none comes within WAIT_MS; other messages of the host are passed over. */
static unsigned read_answer(int icmp, const struct lab_flow *f, int wait_ms,
    uint32_t *from)
{
	struct answer {
		struct iphdr ip;
		struct icmphdr icmp;
		struct iphdr inner;
		uint16_t port[2];
	} a;
	char buf[512];
	struct pollfd p = {.fd = icmp, .events = POLLIN};
	while (poll(&p, 1, wait_ms) == 1) {
		ssize_t n = recv(icmp, buf, sizeof(buf), 0);
		if (n < (ssize_t)sizeof(a))
			continue;
		memcpy(&a, buf, sizeof(a));
		if (a.icmp.type != ICMP_TIME_EXCEEDED ||
		    a.inner.protocol != IPPROTO_TCP ||
		    ntohs(a.port[0]) != f->src_port ||
		    ntohs(a.port[1]) != f->dst_port ||
		    ntohs(a.inner.id) >> 8 != 0x42)
			continue;
		*from = ntohl(a.ip.saddr);
		return ntohs(a.inner.id) & 0xff;
	}
	return 0;
}

unsigned lab_trace(const struct lab *lab, const struct lab_flow *f,
    topo_link path[])
{
	topo_link any[TOPO_MAX_HOPS];
	/* All paths of a pair have one length. */
	const unsigned n = topo_path(&lab->t, 0, f->src, f->dst, 0, any);
	unsigned n_answers = 0;
	uint32_t from;
	int raw = open_in(lab, f->src, SOCK_RAW, IPPROTO_RAW);
	int icmp = open_in(lab, f->src, SOCK_RAW, IPPROTO_ICMP);
	for (unsigned i = 0; i < n; i++)
		path[i] = TOPO_NONE;
	path[n - 1] = topo_link_of(f->dst, TOPO_DOWN);
	/* The last one reaches the host, which has no answer to it. */
	for (unsigned ttl = 1; ttl <= n; ttl++)
		send_probe(raw, f, ttl);
	while (n_answers < n - 1) {
		unsigned ttl = read_answer(icmp, f, 1000, &from);
		if (ttl == 0)
			break;
		assert_in_range(ttl, 1, n - 1);
		path[ttl - 1] = topo_addr_to_link(from, lab->t.n_links);
		n_answers++;
	}
	close(raw);
	close(icmp);
	return n;
}

unsigned lab_probe(const struct lab *lab, const struct lab_flow *f,
    unsigned ttl, unsigned n, unsigned wait_ms)
{
	const int size = 1 << 20;
	unsigned n_answers = 0, got;
	uint32_t from;
	int raw = open_in(lab, f->src, SOCK_RAW, IPPROTO_RAW);
	int icmp = open_in(lab, f->src, SOCK_RAW, IPPROTO_ICMP);
	setsockopt(icmp, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	for (unsigned i = 0; i < n; i++) {
		send_probe(raw, f, ttl);
		n_answers += read_answer(icmp, f, 0, &from) == ttl;
	}
	while ((got = read_answer(icmp, f, (int)wait_ms, &from)) != 0)
		n_answers += got == ttl;
	close(raw);
	close(icmp);
	return n_answers;
}
