/* tests/real/tun_lab.c -- hosts over TUN under test: connects, bytes, traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/real/tun_lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "topo/addr.h"

static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 2};

/* --- networks ------------------------------------------------------------- */

void tun_lab_needs(void **state)
{
	struct tun_lab lab;
	struct sim_err e;
	lab_needs(state);
	tun_lab_open(&lab);
	const int rc = tun_net_open(&lab.net, &lab.t, &lab.params, &e);
	tun_lab_close(&lab);
	if (rc == SIM_EUNSUPPORTED) {
		print_message("reason: %s\n", e.msg);
		skip();
	}
}

void tun_lab_open(struct tun_lab *lab)
{
	struct tun_switch_params *p = &lab->params.network;
	*lab = (struct tun_lab){.net = NULL};
	assert_ok(topo_open_clos(&lab->t, &shape, test_err()));
	assert_ok(sim_field_defaults(tun_net_fields, &lab->params, test_err()));
	assert_ok(sim_field_defaults(tun_switch_fields, p, test_err()));
	assert_ok(
	    sim_field_defaults(fabric_sim_icmp_fields, &p->icmp, test_err()));
	p->hop_us = 0;
	p->icmp.t_max = 0;
	p->icmp.latency_us = (struct sim_dist){SIM_FIXED, 0, 0};
	lab->scene.where.seed = test_seed();
	lab->scene.ecmp_seed = 5;
	lab->scene.loss.truth = &lab->scene.truth;
}

void tun_lab_start(struct tun_lab *lab)
{
	assert_ok(tun_net_open(&lab->net, &lab->t, &lab->params, test_err()));
	tun_lab_renew(lab);
}

void tun_lab_renew(struct tun_lab *lab)
{
	truth_sort(&lab->scene.truth);
	assert_ok(
	    tun_net_begin(lab->net, &lab->scene, 60 * SIM_SEC, test_err()));
}

void tun_lab_close(struct tun_lab *lab)
{
	tun_net_close(lab->net);
	truth_free(&lab->scene.truth);
	topo_close(&lab->t);
}

void tun_lab_fault(struct tun_lab *lab, topo_link l, double rate)
{
	const struct truth_fault f = {.link = l,
	    .rate = rate,
	    .to_ns = SIM_NEVER};
	assert_ok(truth_add_fault(&lab->scene.truth, &f, test_err()));
	truth_sort(&lab->scene.truth);
}

int tun_lab_wait(struct tun_lab *lab, int fd, int events, int ms)
{
	const double end = lab_seconds() + 1e-3 * ms;
	for (;;) {
		const double left = end - lab_seconds();
		struct pollfd p[2] = {{.fd = tun_net_fd(lab->net),
					  .events = POLLIN},
		    {.fd = fd, .events = (short)events}};
		const int n = poll(p, 2, left > 0 ? (int)ceil(1e3 * left) : 0);
		if (n > 0 && p[0].revents)
			assert_ok(tun_net_serve(lab->net, test_err()));
		if (n > 0 && p[1].revents)
			return p[1].revents;
		if (left <= 0)
			return 0;
	}
}

void tun_lab_knob(struct tun_lab *lab, const char *name, const char *value)
{
	char path[96];
	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	for (topo_host h = 0; h < lab->t.n_hosts; h++) {
		assert_ok(tun_net_enter(lab->net, h, test_err()));
		FILE *f = fopen(path, "we");
		if (!f || fputs(value, f) < 0 || fclose(f) != 0)
			fail_msg("%s = %s: %s", path, value, strerror(errno));
	}
	assert_ok(tun_net_leave(lab->net, test_err()));
}

/* --- sockets -------------------------------------------------------------- */

static int open_in(struct tun_lab *lab, topo_host h, int type, int protocol)
{
	assert_ok(tun_net_enter(lab->net, h, test_err()));
	int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	const int why = errno;
	assert_ok(tun_net_leave(lab->net, test_err()));
	if (fd < 0)
		fail_msg("socket: %s", strerror(why));
	return fd;
}

int tun_lab_raw(struct tun_lab *lab, topo_host h, int protocol)
{
	const int size = 1 << 20;
	int fd = open_in(lab, h, SOCK_RAW, protocol);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return fd;
}

static struct sockaddr_in address(topo_host h, uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(topo_addr_of_host(h))};
}

int tun_lab_socket(struct tun_lab *lab, topo_host h, uint16_t port)
{
	const struct sockaddr_in at = address(h, port);
	const struct linger reset = {.l_onoff = 1};
	const int on = 1;
	int fd = open_in(lab, h, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		fail_msg("bind to port %u: %s", port, strerror(errno));
	return fd;
}

int tun_lab_listen(struct tun_lab *lab, topo_host h, uint16_t port)
{
	int fd = tun_lab_socket(lab, h, port);
	assert_int_equal(listen(fd, 4096), 0);
	return fd;
}

void tun_lab_connect(int fd, topo_host dst, uint16_t port)
{
	const struct sockaddr_in to = address(dst, port);
	const int rc = connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0
	    ? errno
	    : 0;
	if (rc != 0 && rc != EINPROGRESS)
		fail_msg("connect to host %u: %s", dst, strerror(rc));
}

struct tun_lab_pair tun_lab_pair(struct tun_lab *lab, const struct lab_flow *f)
{
	struct tun_lab_pair p;
	struct sockaddr_in from = {0};
	socklen_t size = sizeof(from);
	int listener = tun_lab_listen(lab, f->dst, f->dst_port);
	p.client = tun_lab_socket(lab, f->src, f->src_port);
	tun_lab_connect(p.client, f->dst, f->dst_port);
	if (!tun_lab_wait(lab, listener, POLLIN, 20000))
		fail_msg("host %u does not reach %u", f->src, f->dst);
	p.server = accept4(listener, (struct sockaddr *)&from, &size,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert_true(p.server >= 0);
	assert_int_equal(ntohl(from.sin_addr.s_addr),
	    topo_addr_of_host(f->src));
	assert_int_equal(tun_lab_wait(lab, p.client, POLLOUT, 20000), POLLOUT);
	close(listener);
	return p;
}

void tun_lab_close_pair(const struct tun_lab_pair *p)
{
	close(p->client);
	close(p->server);
}

void tun_lab_send(struct tun_lab *lab, const struct tun_lab_pair *p,
    size_t bytes)
{
	static char buf[65536];
	size_t sent = 0, got = 0;
	while (got < bytes) {
		const size_t left = bytes - sent;
		ssize_t n = send(p->client, buf,
		    left < sizeof(buf) ? left : sizeof(buf), MSG_NOSIGNAL);
		if (n > 0)
			sent += (size_t)n;
		if (!tun_lab_wait(lab, p->server, POLLIN, 20000))
			fail_msg("%zu of %zu bytes came, %zu were sent", got,
			    bytes, sent);
		while ((n = recv(p->server, buf, sizeof(buf), 0)) > 0)
			got += (size_t)n;
	}
	assert_true(got == bytes);
}

static struct tcp_info info_of(int fd)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof(info);
	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size);
	return info;
}

unsigned tun_lab_retx(int fd)
{
	return info_of(fd).tcpi_total_retrans;
}

unsigned tun_lab_rtt_us(int fd)
{
	return info_of(fd).tcpi_rtt;
}

/* --- traces --------------------------------------------------------------- */

struct topo_tuple tun_lab_tuple(const struct lab_flow *f)
{
	return (struct topo_tuple){topo_addr_of_host(f->src),
	    topo_addr_of_host(f->dst), f->src_port, f->dst_port,
	    TOPO_PROTO_TCP};
}

unsigned tun_lab_path(const struct tun_lab *lab, const struct topo_tuple *t,
    topo_link path[])
{
	return topo_path(&lab->t, lab->scene.ecmp_seed,
	    t->src_ip - topo_addr_of_host(0), t->dst_ip - topo_addr_of_host(0),
	    topo_tuple_digest(t), path);
}

void tun_lab_probe(int raw, const struct lab_flow *f, unsigned ttl)
{
	struct {
		struct iphdr ip;
		struct tcphdr tcp;
	} p = {
	    .ip = {.version = 4,
		.ihl = 5,
		.tot_len = htons(sizeof(p)),
		.id = htons((uint16_t)(0x4200 | ttl)),
		.frag_off = htons(IP_DF),
		.ttl = (uint8_t)ttl,
		.protocol = IPPROTO_TCP,
		.saddr = htonl(topo_addr_of_host(f->src)),
		.daddr = htonl(topo_addr_of_host(f->dst))},
	    .tcp = {.source = htons(f->src_port),
		.dest = htons(f->dst_port),
		.doff = sizeof(p.tcp) / 4,
		.ack = 1,
		.check = 0x5555},
	};
	const struct sockaddr_in to = address(f->dst, 0);
	if (sendto(raw, &p, sizeof(p), 0, (const struct sockaddr *)&to,
		sizeof(to)) != sizeof(p))
		fail_msg("probe: %s", strerror(errno));
}

unsigned tun_lab_answer(struct tun_lab *lab, int icmp, const struct lab_flow *f,
    int ms, uint32_t *from)
{
	struct {
		struct iphdr ip;
		struct icmphdr icmp;
		struct iphdr inner;
		uint16_t port[2];
	} a;
	char buf[1024];
	while (tun_lab_wait(lab, icmp, POLLIN, ms)) {
		ssize_t n = recv(icmp, buf, sizeof(buf), 0);
		if (n < (ssize_t)sizeof(a))
			continue;
		memcpy(&a, buf, sizeof(a));
		if (a.icmp.type != ICMP_TIME_EXCEEDED ||
		    ntohl(a.inner.saddr) != topo_addr_of_host(f->src) ||
		    ntohl(a.inner.daddr) != topo_addr_of_host(f->dst) ||
		    ntohs(a.port[0]) != f->src_port ||
		    ntohs(a.port[1]) != f->dst_port ||
		    ntohs(a.inner.id) >> 8 != 0x42)
			continue;
		*from = ntohl(a.ip.saddr);
		const unsigned ttl = ntohs(a.inner.id) & 0xff;
		/* What died had a TTL of 1 left; the answer has come by one
		 * switch less than it. */
		assert_int_equal(a.inner.ttl, 1);
		assert_int_equal(a.ip.ttl, 64 - (ttl - 1));
		return ttl;
	}
	return 0;
}
