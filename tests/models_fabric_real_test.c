/* tests/models_fabric_real_test.c -- real sockets over loopback, by anyone.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hosts are addresses of 127/8. What a network would lose, a socket filter
 * throws away. Times are bounded from below by what was asked for, and from
 * above by SLOW, for the machine may have other things to do.
 */
#include "models/fabric_real.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

enum { N_HOSTS = 3 };
#define SLOW (3 * SIM_SEC)

struct rig {
	struct fabric_real *f;
	struct fabric *base;
	struct fabric_real_params p;
	uint16_t next_port;
	/* What came last. */
	struct agent_event ev;
	topo_host host;
	sim_ns at;
};

static uint32_t ip_of(topo_host h)
{
	return UINT32_C(0x7f000002) + h;
}

static struct sockaddr_in address(uint32_t ip, uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(ip)};
}

static int bound(uint32_t ip, uint16_t port)
{
	const struct sockaddr_in at = address(ip, port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static uint16_t port_of(int fd)
{
	struct sockaddr_in at;
	socklen_t n = sizeof(at);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
	return ntohs(at.sin_port);
}

/* One that was free a moment ago. */
static uint16_t free_port(uint32_t ip)
{
	int fd = bound(ip, 0);
	uint16_t port = port_of(fd);
	close(fd);
	return port;
}

static void defaults(struct rig *g)
{
	*g = (struct rig){0};
	assert_ok(sim_field_defaults(fabric_real_fields, &g->p, test_err()));
	g->p.n_classes = 2;
	g->p.port[0] = free_port(ip_of(0));
	g->p.port[1] = free_port(ip_of(0));
	g->p.max_flights = g->p.max_clients = 64;
	g->next_port = 20000;
}

static void open_rig(struct rig *g)
{
	struct fabric_real_host host[N_HOSTS];
	for (topo_host h = 0; h < N_HOSTS; h++)
		host[h] = (struct fabric_real_host){ip_of(h), -1};
	assert_ok(fabric_real_open(&g->f, host, N_HOSTS, &g->p, test_err()));
	g->base = fabric_real_fabric(g->f);
}

static sim_ns now(const struct rig *g)
{
	return g->base->ops->now(g->base);
}

static void act(struct rig *g, topo_host h, const struct agent_action *a)
{
	assert_ok(g->base->ops->submit(g->base, h, a, 1, test_err()));
}

/* One event before UNTIL: 1, or 0. */
static int next_until(struct rig *g, sim_ns until)
{
	size_t n;
	assert_ok(g->base->ops->poll(g->base, until, &g->ev, &g->host, &g->at,
	    1, &n, test_err()));
	return n == 1;
}

static int next(struct rig *g, sim_ns within)
{
	return next_until(g, now(g) + within);
}

/* Ends with the event of this kind; no other may come. */
static void await(struct rig *g, enum agent_event_kind kind)
{
	if (!next(g, 20 * SIM_SEC))
		fail_msg("no event %d", kind);
	assert_int_equal(g->ev.kind, kind);
}

static struct agent_action connect_of(struct rig *g, topo_host from,
    uint32_t ip, uint16_t port, uint32_t n_bytes)
{
	return (struct agent_action){.kind = AGENT_CONNECT,
	    .token = g->next_port,
	    .n_bytes = n_bytes,
	    .tuple = {ip_of(from), ip, g->next_port++, port, TOPO_PROTO_TCP}};
}

static void begin(struct rig *g, topo_host from, uint32_t ip, uint16_t port,
    uint32_t n_bytes)
{
	const struct agent_action a = connect_of(g, from, ip, port, n_bytes);
	act(g, from, &a);
}

static void answer(struct rig *g, uint32_t n)
{
	const struct agent_action a = {.kind = AGENT_ANSWER,
	    .token = g->ev.token,
	    .n_bytes = n};
	act(g, g->host, &a);
}

static const struct fabric_real_counters *count(const struct rig *g)
{
	return fabric_real_count(g->f);
}

/* Poll on while nothing is told, as long as *N is below WANT. */
static void until_counted(struct rig *g, const uint64_t *n, uint64_t want)
{
	const sim_ns end = now(g) + 20 * SIM_SEC;
	while (*n < want && now(g) < end)
		if (next(g, 5 * SIM_MS))
			fail_msg("event %d", g->ev.kind);
	assert_int_equal(*n, want);
}

/* Have a socket drop, or take again, all that comes to it. */
static void deafen(int fd, int deaf)
{
	struct sock_filter none = {BPF_RET | BPF_K, 0, 0, 0};
	const struct sock_fprog program = {1, &none};
	assert_int_equal(setsockopt(fd, SOL_SOCKET,
			     deaf ? SO_ATTACH_FILTER : SO_DETACH_FILTER,
			     &program, sizeof(program)),
	    0);
}

/* Where a user may attach no filter to a socket of his own (kernels that bound
 * what eBPF compiles), what takes one is skipped. */
static void needs_filters(void)
{
	struct sock_filter all = {BPF_RET | BPF_K, 0, 0, UINT32_MAX};
	const struct sock_fprog program = {1, &all};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc = setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
	    sizeof(program));
	close(fd);
	if (rc < 0)
		skip();
}

static int listener(uint32_t ip)
{
	int fd = bound(ip, 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

/* --- connects ----------------------------------------------------------- */

static void a_connect_stands_unheard_by_the_agent(void **state)
{
	struct rig g;
	(void)state;
	defaults(&g);
	open_rig(&g);
	for (unsigned i = 0; i < 50; i++) {
		const topo_host from = i % N_HOSTS, to = (i + 1) % N_HOSTS;
		const sim_ns begun = now(&g);
		begin(&g, from, ip_of(to), g.p.port[i % 2], 0);
		await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.token, 20000 + i);
		assert_int_equal(g.host, from);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		assert_in_range(g.ev.rtt_ns, 1, g.at - begun);
		assert_int_equal(g.ev.echo_ns, 0);
	}
	until_counted(&g, &count(&g)->n_clients, 50);
	assert_int_equal(count(&g)->n_connected, 50);
	assert_int_equal(count(&g)->n_requests, 0);
	fabric_real_close(g.f);
}

static void payloads_of_all_sizes_come_back(void **state)
{
	static const uint32_t sizes[] = {1, 31, 32, 33, 1000, 1460, 30000,
	    65535, 65536};
	struct rig g;
	(void)state;
	defaults(&g);
	open_rig(&g);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const sim_ns begun = now(&g);
		begin(&g, 0, ip_of(1), g.p.port[0], sizes[i]);
		await(&g, AGENT_PING_REQUEST);
		assert_int_equal(g.host, 1);
		assert_int_equal(g.ev.n, sizes[i]);
		answer(&g, sizes[i]);
		answer(&g, sizes[i]); /* again: does nothing */
		await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.host, 0);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		assert_in_range(g.ev.rtt_ns, 1, SLOW);
		assert_in_range(g.ev.echo_ns, 1, g.at - begun);
	}
	assert_false(next(&g, 20 * SIM_MS));
	assert_int_equal(count(&g)->n_answered, 9);
	assert_int_equal(count(&g)->n_no_echo, 0);
	fabric_real_close(g.f);
}

static void an_echo_that_does_not_come_is_none(void **state)
{
	struct rig g;
	(void)state;
	defaults(&g);
	g.p.echo_s = 0.1;
	open_rig(&g);
	/* Never; too few; none at all. */
	for (unsigned i = 0; i < 3; i++) {
		begin(&g, 0, ip_of(1), g.p.port[0], 1000);
		await(&g, AGENT_PING_REQUEST);
		if (i > 0)
			answer(&g, i == 1 ? 999 : 0);
		const sim_ns asked = now(&g);
		await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		assert_int_equal(g.ev.echo_ns, 0);
		assert_in_range(g.ev.rtt_ns, 1, SLOW);
		assert_in_range(g.at, asked + 50 * SIM_MS, asked + SLOW);
	}
	assert_int_equal(count(&g)->n_no_echo, 3);
	/* Who was too late with an answer harms nobody. */
	answer(&g, 1000);
	fabric_real_close(g.f);
}

static void a_closed_port_refuses(void **state)
{
	struct rig g;
	(void)state;
	defaults(&g);
	open_rig(&g);
	begin(&g, 0, ip_of(1), free_port(ip_of(1)), 100);
	await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_REFUSED);
	assert_in_range(g.ev.rtt_ns, 1, SLOW);
	assert_int_equal(count(&g)->n_refused, 1);
	fabric_real_close(g.f);
}

static void no_answer_is_a_timeout(void **state)
{
	struct rig g;
	(void)state;
	needs_filters();
	defaults(&g);
	g.p.connect_s = 0.2;
	open_rig(&g);
	int fd = listener(ip_of(1));
	deafen(fd, 1);
	const sim_ns begun = now(&g);
	begin(&g, 0, ip_of(1), port_of(fd), 100);
	await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_TIMEOUT);
	assert_int_equal(g.ev.rtt_ns, 0);
	assert_in_range(g.at, begun + 200 * SIM_MS, begun + SLOW);
	assert_int_equal(count(&g)->n_timeouts, 1);
	close(fd);
	fabric_real_close(g.f);
}

/* The kernel's own measurement would read 1 ms. */
static void a_lost_syn_shows_as_the_kernels_first_wait(void **state)
{
	struct rig g;
	(void)state;
	needs_filters();
	defaults(&g);
	open_rig(&g);
	assert_int_equal(g.base->caps.syn_rto_ns[0], SIM_SEC);
	int fd = listener(ip_of(1));
	deafen(fd, 1);
	begin(&g, 0, ip_of(1), port_of(fd), 0);
	assert_false(next(&g, 300 * SIM_MS));
	deafen(fd, 0);
	await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
	assert_in_range(g.ev.rtt_ns, 990 * SIM_MS, SIM_SEC + SLOW);
	close(fd);
	fabric_real_close(g.f);
}

static void a_port_in_use_fails(void **state)
{
	struct rig g;
	(void)state;
	needs_filters();
	defaults(&g);
	open_rig(&g);
	int deaf = listener(ip_of(1)), user = listener(ip_of(0));
	deafen(deaf, 1);
	/* By a listener; by a connect of the same tuple. */
	struct agent_action a = connect_of(&g, 0, ip_of(1), g.p.port[0], 0);
	a.tuple.src_port = port_of(user);
	act(&g, 0, &a);
	await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_FAILED);
	a = connect_of(&g, 0, ip_of(1), port_of(deaf), 0);
	act(&g, 0, &a);
	a.token = 7;
	act(&g, 0, &a);
	await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.token, 7);
	assert_int_equal(g.ev.outcome, AGENT_FAILED);
	assert_int_equal(count(&g)->n_port_taken, 2);
	/* The same port to another place is another tuple. */
	a.tuple.dst_port = g.p.port[0];
	act(&g, 0, &a);
	await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
	/* An address that is not the host's. */
	a.tuple.src_ip = UINT32_C(0xc0000201);
	act(&g, 0, &a);
	await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_FAILED);
	close(deaf);
	close(user);
	fabric_real_close(g.f);
}

/* After a reset nothing is left, so a port can be used again at once. */
static void ports_are_free_when_a_connect_is_over(void **state)
{
	struct rig g;
	(void)state;
	defaults(&g);
	open_rig(&g);
	for (unsigned i = 0; i < 200; i++) {
		g.next_port = 20000;
		begin(&g, 0, ip_of(1), g.p.port[0], i % 2 ? 100 : 0);
		if (i % 2) {
			await(&g, AGENT_PING_REQUEST);
			answer(&g, 100);
		}
		await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		assert_int_equal(g.ev.echo_ns > 0, i % 2);
	}
	fabric_real_close(g.f);
}

static void no_more_than_max_flights_are_under_way(void **state)
{
	struct rig g;
	(void)state;
	needs_filters();
	defaults(&g);
	g.p.max_flights = 4;
	g.p.connect_s = 0.2;
	open_rig(&g);
	int fd = listener(ip_of(1));
	deafen(fd, 1);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 6; i++)
			begin(&g, 0, ip_of(1), port_of(fd), 0);
		for (unsigned i = 0; i < 6; i++) {
			await(&g, AGENT_CONNECT_DONE);
			assert_int_equal(g.ev.outcome,
			    i < 2 ? AGENT_FAILED : AGENT_TIMEOUT);
		}
	}
	assert_int_equal(count(&g)->n_crowded, 4);
	close(fd);
	fabric_real_close(g.f);
}

static void too_large_a_payload_is_refused(void **state)
{
	struct rig g;
	struct sim_err e;
	(void)state;
	defaults(&g);
	open_rig(&g);
	const struct agent_action a =
	    connect_of(&g, 0, ip_of(1), g.p.port[0], 65537);
	assert_int_equal(g.base->ops->submit(g.base, 0, &a, 1, &e), SIM_ERANGE);
	fabric_real_close(g.f);
}

/* The DSCP that came with what FD received. */
static unsigned dscp_at(int fd)
{
	_Alignas(struct cmsghdr) char buf[256];
	socklen_t n = sizeof(buf);
	assert_int_equal(getsockopt(fd, IPPROTO_IP, IP_PKTOPTIONS, buf, &n), 0);
	struct msghdr m = {.msg_control = buf, .msg_controllen = n};
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_type == IP_TOS)
			return CMSG_DATA(c)[0] >> 2;
	return 64;
}

/* Have FD drop all packets but those with this DSCP. */
static void hear_only(int fd, uint8_t dscp)
{
	struct sock_filter tos[] = {
	    {BPF_LD | BPF_B | BPF_ABS, 0, 0, (uint32_t)SKF_NET_OFF + 1},
	    {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)dscp << 2},
	    {BPF_RET | BPF_K, 0, 0, UINT32_MAX},
	    {BPF_RET | BPF_K, 0, 0, 0},
	};
	const struct sock_fprog program = {4, tos};
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
			     sizeof(program)),
	    0);
}

static void classes_are_marked_both_ways(void **state)
{
	const int on = 1;
	struct rig g;
	(void)state;
	needs_filters();
	defaults(&g);
	g.p.dscp[1] = 46;
	open_rig(&g);
	int fd = listener(ip_of(1));
	setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on));
	for (uint8_t class = 0; class < 2; class ++) {
		struct agent_action a =
		    connect_of(&g, 0, ip_of(1), port_of(fd), 1);
		a.class = class;
		act(&g, 0, &a);
		next(&g, 20 * SIM_MS);
		int peer = accept(fd, NULL, NULL);
		assert_int_equal(dscp_at(peer), class ? 46 : 0);
		close(peer);
		/* And what the fabric's server sends. */
		const struct sockaddr_in to =
		    address(ip_of(2), g.p.port[class]);
		const struct timeval long_enough = {.tv_sec = 10};
		int client = bound(ip_of(0), 0);
		hear_only(client, class ? 46 : 0);
		setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &long_enough,
		    sizeof(long_enough));
		assert_int_equal(connect(client, (const struct sockaddr *)&to,
				     sizeof(to)),
		    0);
		close(client);
	}
	close(fd);
	fabric_real_close(g.f);
}

/* --- clients of the server ---------------------------------------------- */

static int client_of(const struct rig *g, topo_host h)
{
	const struct sockaddr_in to = address(ip_of(h), g->p.port[0]);
	const struct timeval long_enough = {.tv_sec = 10};
	int fd = bound(ip_of(0), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &long_enough,
	    sizeof(long_enough));
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)),
	    0);
	return fd;
}

static void assert_reset(int fd)
{
	char c;
	assert_int_equal(recv(fd, &c, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	close(fd);
}

static const char words[] = "culprit pingmesh probe payload.\n";

static void who_sends_anything_else_is_reset(void **state)
{
	static char all[FABRIC_REAL_MAX_PAYLOAD + 32];
	struct rig g;
	(void)state;
	defaults(&g);
	open_rig(&g);
	for (size_t i = 0; i < sizeof(all); i += 32)
		memcpy(all + i, words, 32);
	int web = client_of(&g, 1), off = client_of(&g, 1),
	    large = client_of(&g, 1);
	assert_int_equal(send(web, "GET / HTTP/1.0\r\n\r\n", 18, 0), 18);
	assert_int_equal(send(off, "culprit pingmesh Probe", 22, 0), 22);
	until_counted(&g, &count(&g)->n_garbage, 2);
	assert_reset(web);
	assert_reset(off);
	/* One byte more than there may be. */
	for (size_t sent = 0; sent < FABRIC_REAL_MAX_PAYLOAD + 1;) {
		ssize_t n = send(large, all + sent,
		    FABRIC_REAL_MAX_PAYLOAD + 1 - sent, MSG_DONTWAIT);
		sent += n > 0 ? (size_t)n : 0;
		assert_false(next(&g, SIM_MS));
	}
	until_counted(&g, &count(&g)->n_garbage, 3);
	assert_reset(large);
	fabric_real_close(g.f);
}

static void who_says_nothing_is_closed_in_time(void **state)
{
	struct rig g;
	(void)state;
	defaults(&g);
	g.p.client_s = 0.2;
	open_rig(&g);
	int silent = client_of(&g, 1), half = client_of(&g, 1),
	    unread = client_of(&g, 1);
	assert_int_equal(send(half, words, 20, 0), 20);
	assert_int_equal(send(unread, words, 20, 0), 20);
	shutdown(unread, SHUT_WR);
	await(&g, AGENT_PING_REQUEST);
	assert_int_equal(g.ev.n, 20);
	const sim_ns asked = now(&g);
	until_counted(&g, &count(&g)->n_late, 3);
	assert_in_range(now(&g), asked + 100 * SIM_MS, asked + SLOW);
	assert_reset(silent);
	assert_reset(half);
	assert_reset(unread);
	/* The token of one that is gone is nobody's. */
	answer(&g, 20);
	assert_int_equal(count(&g)->n_answered, 0);
	/* An end without a byte is no request. */
	int brief = client_of(&g, 1);
	shutdown(brief, SHUT_WR);
	until_counted(&g, &count(&g)->n_clients, 4);
	assert_false(next(&g, 20 * SIM_MS));
	assert_reset(brief);
	assert_int_equal(count(&g)->n_requests, 1);
	assert_int_equal(count(&g)->n_garbage, 0);
	fabric_real_close(g.f);
}

/* Piece by piece, a payload is one request. */
static void pieces_make_one_request(void **state)
{
	struct rig g;
	char back[32];
	(void)state;
	defaults(&g);
	open_rig(&g);
	int fd = client_of(&g, 2);
	for (unsigned i = 0; i < 32; i++) {
		assert_int_equal(send(fd, words + i, 1, 0), 1);
		assert_false(next(&g, SIM_MS));
	}
	shutdown(fd, SHUT_WR);
	await(&g, AGENT_PING_REQUEST);
	assert_int_equal(g.ev.n, 32);
	/* The answer of another host is none. */
	g.host = 1;
	answer(&g, 32);
	assert_int_equal(count(&g)->n_answered, 0);
	g.host = 2;
	answer(&g, 32);
	assert_int_equal(recv(fd, back, 32, MSG_WAITALL), 32);
	assert_memory_equal(back, words, 32);
	close(fd);
	fabric_real_close(g.f);
}

static void no_more_than_max_clients_are_served(void **state)
{
	struct rig g;
	(void)state;
	defaults(&g);
	g.p.max_clients = 3;
	open_rig(&g);
	int fd[5];
	for (unsigned i = 0; i < 5; i++)
		fd[i] = client_of(&g, i % N_HOSTS);
	until_counted(&g, &count(&g)->n_turned_away, 2);
	assert_int_equal(count(&g)->n_clients, 3);
	for (unsigned i = 0; i < 5; i++)
		close(fd[i]);
	/* There is room again. */
	assert_false(next(&g, 20 * SIM_MS));
	begin(&g, 0, ip_of(1), g.p.port[0], 10);
	await(&g, AGENT_PING_REQUEST);
	answer(&g, 10);
	await(&g, AGENT_CONNECT_DONE);
	assert_true(g.ev.echo_ns > 0);
	fabric_real_close(g.f);
}

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whoever cannot be accepted stays in the queue and must not keep the fabric
 * busy. */
static void without_descriptors_it_rests(void **state)
{
	struct rlimit before, few;
	struct rig g;
	(void)state;
	defaults(&g);
	open_rig(&g);
	int fd = client_of(&g, 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	const double cpu = cpu_s();
	assert_false(next(&g, 500 * SIM_MS));
	assert_true(cpu_s() - cpu < 0.1);
	assert_in_range(count(&g)->n_rests, 2, 6);
	/* A connect fails, too, and that is told. */
	begin(&g, 0, ip_of(1), g.p.port[0], 0);
	await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_FAILED);
	assert_int_equal(count(&g)->n_not_tried, 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	until_counted(&g, &count(&g)->n_clients, 1);
	close(fd);
	fabric_real_close(g.f);
}

/* --- timers ------------------------------------------------------------- */

static void set_timer(struct rig *g, topo_host h, sim_ns at, uint64_t token)
{
	const struct agent_action a = {.kind = AGENT_SET_TIMER,
	    .token = token,
	    .at_ns = at};
	act(g, h, &a);
}

static void timers_come_in_order_and_not_early(void **state)
{
	static const uint64_t ms[] = {60, 20, 40, 20, 0, 100};
	static const unsigned order[] = {4, 1, 3, 2, 0, 5};
	struct rig g;
	(void)state;
	defaults(&g);
	open_rig(&g);
	const sim_ns start = now(&g);
	for (unsigned i = 0; i < 6; i++)
		set_timer(&g, i % N_HOSTS, start + ms[i] * SIM_MS, i);
	set_timer(&g, 0, SIM_NEVER, 99);
	for (unsigned i = 0; i < 6; i++) {
		await(&g, AGENT_TIMER);
		assert_int_equal(g.ev.token, order[i]);
		assert_int_equal(g.host, order[i] % N_HOSTS);
		assert_in_range(g.at, start + ms[order[i]] * SIM_MS,
		    start + ms[order[i]] * SIM_MS + SLOW);
	}
	assert_false(next(&g, 20 * SIM_MS));
	fabric_real_close(g.f);
}

static void poll_ends_when_it_is_told_to(void **state)
{
	struct rig g;
	(void)state;
	defaults(&g);
	open_rig(&g);
	const sim_ns end = now(&g) + 30 * SIM_MS;
	set_timer(&g, 0, end + 30 * SIM_MS, 1);
	assert_false(next_until(&g, end));
	assert_in_range(now(&g), end, end + SLOW);
	/* A timer of the past comes at once, but not to a poll of the past. */
	set_timer(&g, 0, 0, 2);
	assert_false(next_until(&g, end));
	await(&g, AGENT_TIMER);
	assert_int_equal(g.ev.token, 2);
	assert_true(next_until(&g, SIM_NEVER));
	assert_int_equal(g.ev.token, 1);
	fabric_real_close(g.f);
}

/* An agent that always has something that fails at once cannot keep others
 * from being heard. */
static void nobody_is_starved(void **state)
{
	struct rig g;
	unsigned heard = 0;
	(void)state;
	defaults(&g);
	open_rig(&g);
	struct agent_action bad = connect_of(&g, 0, ip_of(1), 1, 0);
	bad.tuple.src_ip = UINT32_C(0xc0000201);
	act(&g, 0, &bad);
	begin(&g, 1, ip_of(2), g.p.port[0], 0);
	for (unsigned i = 0; i < 1000 && !heard; i++) {
		await(&g, AGENT_CONNECT_DONE);
		heard = g.host == 1;
		if (!heard)
			act(&g, 0, &bad);
	}
	assert_true(heard);
	fabric_real_close(g.f);
}

/* --- services ----------------------------------------------------------- */

struct service {
	struct rig *g;
	int pipe[2];
	int later; /* answer when the pipe says so */
	unsigned n_taken, n_ready;
	topo_host host[8];
	uint64_t token[8];
	unsigned n;
	char upload[16];
};

static int fetch(void *arg, topo_host host, uint64_t token, struct sim_err *e)
{
	struct service *s = arg;
	if (!s->later)
		return fabric_real_fetched(s->g->f, host, token, 1, "now", 3,
		    e);
	s->host[s->n] = host;
	s->token[s->n++] = token;
	return 0;
}

static int upload(void *arg, topo_host host, uint64_t token, const void *data,
    size_t n, struct sim_err *e)
{
	struct service *s = arg;
	assert_true(n < sizeof(s->upload));
	memcpy(s->upload, data, n);
	return fabric_real_uploaded(s->g->f, host, token, 1, e);
}

static int ready(void *arg, struct sim_err *e)
{
	struct service *s = arg;
	char c;
	int rc = 0;
	assert_int_equal(read(s->pipe[0], &c, 1), 1);
	s->n_ready++;
	while (rc == 0 && s->n > 0) {
		s->n--;
		rc = fabric_real_fetched(s->g->f, s->host[s->n], s->token[s->n],
		    1, "later", 5, e);
	}
	return rc;
}

static void taken(void *arg, topo_host host, uint64_t token)
{
	struct service *s = arg;
	(void)host;
	assert_in_range(token, 100, 110);
	s->n_taken++;
}

static void ask(struct rig *g, enum agent_action_kind kind, topo_host h,
    uint64_t token)
{
	const struct agent_action a = {.kind = kind,
	    .token = token,
	    .data = "bytes",
	    .n_bytes = 5};
	act(g, h, &a);
}

static void services_answer_at_once_or_later(void **state)
{
	struct rig g;
	struct service s = {.g = &g};
	(void)state;
	defaults(&g);
	open_rig(&g);
	/* Without any, both fail. */
	ask(&g, AGENT_FETCH, 1, 100);
	await(&g, AGENT_FETCH_DONE);
	assert_int_equal(g.ev.ok, 0);
	ask(&g, AGENT_UPLOAD, 1, 100);
	await(&g, AGENT_UPLOAD_DONE);
	assert_int_equal(g.ev.ok, 0);

	assert_int_equal(pipe2(s.pipe, O_CLOEXEC), 0);
	const struct fabric_real_services services = {&s, fetch, upload, taken,
	    s.pipe[0], ready};
	assert_ok(fabric_real_serve(g.f, &services, test_err()));
	ask(&g, AGENT_FETCH, 1, 101);
	await(&g, AGENT_FETCH_DONE);
	assert_int_equal(g.ev.ok, 1);
	assert_int_equal(g.ev.n, 3);
	assert_memory_equal(g.ev.data, "now", 3);
	assert_int_equal(s.n_taken, 0);
	ask(&g, AGENT_UPLOAD, 2, 102);
	await(&g, AGENT_UPLOAD_DONE);
	assert_int_equal(s.n_taken, 1);
	assert_int_equal(g.ev.ok, 1);
	assert_string_equal(s.upload, "bytes");

	s.later = 1;
	ask(&g, AGENT_FETCH, 0, 103);
	ask(&g, AGENT_FETCH, 2, 104);
	assert_false(next(&g, 20 * SIM_MS));
	assert_int_equal(write(s.pipe[1], "x", 1), 1);
	await(&g, AGENT_FETCH_DONE);
	assert_int_equal(g.host, 2);
	assert_int_equal(g.ev.token, 104);
	assert_memory_equal(g.ev.data, "later", 5);
	assert_int_equal(s.n_ready, 1);
	/* What the agent never gets is given back as well. */
	fabric_real_close(g.f);
	assert_int_equal(s.n_taken, 3);
	close(s.pipe[0]);
	close(s.pipe[1]);
}

static int find_dip(void *arg, topo_host host, const struct topo_tuple *t,
    uint32_t *dip)
{
	(void)host;
	*dip = *(uint32_t *)arg;
	return t->dst_port == 80;
}

static void slb_queries_are_answered_at_once(void **state)
{
	struct agent_action a = {.kind = AGENT_SLB_QUERY, .token = 5};
	uint32_t dip = 42;
	struct rig g;
	(void)state;
	defaults(&g);
	open_rig(&g);
	act(&g, 1, &a);
	await(&g, AGENT_SLB_REPLY);
	assert_int_equal(g.ev.ok, 0);
	assert_int_equal(g.ev.token, 5);
	fabric_real_slb(g.f, find_dip, &dip);
	for (unsigned i = 0; i < 2; i++) {
		a.tuple.dst_port = (uint16_t)(80 + i);
		act(&g, 1, &a);
		await(&g, AGENT_SLB_REPLY);
		assert_int_equal(g.ev.ok, i == 0);
		if (i == 0)
			assert_int_equal(g.ev.dip, 42);
	}
	fabric_real_close(g.f);
}

/* --- retransmissions ---------------------------------------------------- */

static int read_retx(void *arg, struct fabric_real_retx out[], size_t cap,
    size_t *n, struct sim_err *e)
{
	(void)e;
	ssize_t got = read(*(int *)arg, out, cap * sizeof(out[0]));
	assert_true(got > 0);
	*n = (size_t)got / sizeof(out[0]);
	return 0;
}

static void retransmissions_of_a_source_go_to_the_host_they_name(void **state)
{
	struct rig g;
	int fd[2];
	(void)state;
	defaults(&g);
	open_rig(&g);
	assert_false(g.base->caps.sees_flows);
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	const struct fabric_real_retx_source s = {&fd[0], fd[0], read_retx};
	assert_ok(fabric_real_retx(g.f, &s, test_err()));
	assert_true(g.base->caps.sees_flows);
	struct fabric_real_retx r[3] = {{{ip_of(2), 1, 2, 3, TOPO_PROTO_TCP},
					    1},
	    {{ip_of(N_HOSTS), 1, 2, 3, TOPO_PROTO_TCP}, 1},
	    {{ip_of(0), 1, 2, 4, TOPO_PROTO_TCP}, 0}};
	assert_int_equal(write(fd[1], r, sizeof(r)), sizeof(r));
	await(&g, AGENT_RETX);
	assert_int_equal(g.host, 2);
	assert_int_equal(g.ev.established, 1);
	assert_memory_equal(&g.ev.tuple, &r[0].tuple, 12);
	await(&g, AGENT_RETX);
	assert_int_equal(g.host, 0);
	assert_int_equal(g.ev.established, 0);
	assert_int_equal(count(&g)->n_others_retx, 1);
	fabric_real_close(g.f);
	close(fd[0]);
	close(fd[1]);
}

static void watched_sockets_tell_what_they_send_again(void **state)
{
	struct rig g;
	struct sim_err e;
	(void)state;
	needs_filters();
	defaults(&g);
	open_rig(&g);
	int server = listener(ip_of(1));
	const struct sockaddr_in to = address(ip_of(1), port_of(server));
	int client = bound(ip_of(0), 0);
	assert_int_equal(fabric_real_watch(g.f, 0, client, &e), SIM_EINVAL);
	assert_int_equal(fabric_real_watch(g.f, 0, 9999, &e), SIM_EINVAL);
	assert_int_equal(connect(client, (const struct sockaddr *)&to,
			     sizeof(to)),
	    0);
	int peer = accept(server, NULL, NULL);
	assert_ok(fabric_real_watch(g.f, 0, client, test_err()));
	assert_int_equal(send(client, "x", 1, 0), 1);
	assert_false(next(&g, 50 * SIM_MS));
	deafen(peer, 1);
	assert_int_equal(send(client, "x", 1, 0), 1);
	for (unsigned i = 0; i < 3; i++) {
		await(&g, AGENT_RETX);
		assert_int_equal(g.host, 0);
		assert_int_equal(g.ev.established, 1);
		assert_int_equal(g.ev.tuple.src_ip, ip_of(0));
		assert_int_equal(g.ev.tuple.dst_ip, ip_of(1));
		assert_int_equal(g.ev.tuple.src_port, port_of(client));
		assert_int_equal(g.ev.tuple.dst_port, port_of(server));
		assert_int_equal(g.ev.tuple.proto, TOPO_PROTO_TCP);
	}
	struct tcp_info info;
	socklen_t n = sizeof(info);
	getsockopt(client, IPPROTO_TCP, TCP_INFO, &info, &n);
	assert_in_range(info.tcpi_total_retrans, 3, 4);
	fabric_real_unwatch(g.f, client);
	assert_false(next(&g, 800 * SIM_MS));
	close(client);
	close(peer);
	close(server);
	fabric_real_close(g.f);
}

/* --- opening ------------------------------------------------------------ */

/* Take a capability from this thread, or give it back. 0: it has it not. */
static int may(unsigned cap, int yes)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2];
	assert_int_equal(syscall(SYS_capget, &h, d), 0);
	if (!(d[cap / 32].permitted >> cap % 32 & 1))
		return 0;
	if (yes)
		d[cap / 32].effective |= UINT32_C(1) << cap % 32;
	else
		d[cap / 32].effective &= ~(UINT32_C(1) << cap % 32);
	assert_int_equal(syscall(SYS_capset, &h, d), 0);
	return 1;
}

static void without_raw_sockets_only_probes_are_refused(void **state)
{
	const struct agent_action a = {.kind = AGENT_PROBE, .ttl = 1};
	(void)state;
	for (unsigned way = 0; way < 2; way++) {
		struct sim_err e;
		struct rig g;
		defaults(&g);
		g.p.no_probe = way;
		const int had = way == 0 && may(CAP_NET_RAW, 0);
		open_rig(&g);
		if (had)
			may(CAP_NET_RAW, 1);
		assert_false(g.base->caps.can_probe_ttl);
		assert_int_equal(g.base->ops->submit(g.base, 0, &a, 1, &e),
		    SIM_EUNSUPPORTED);
		begin(&g, 0, ip_of(1), g.p.port[1], 10);
		await(&g, AGENT_PING_REQUEST);
		answer(&g, 10);
		await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		fabric_real_close(g.f);
	}
}

static unsigned knob(const char *path)
{
	unsigned value = 0;
	FILE *in = fopen(path, "re");
	if (in && fscanf(in, "%u", &value) != 1)
		value = 0;
	if (in)
		fclose(in);
	return value;
}

/* As many waits as the kernel has, of which the first `linear` + 1 are equal. */
static void the_kernels_waits_are_told(void **state)
{
	const unsigned linear =
	    knob("/proc/sys/net/ipv4/tcp_syn_linear_timeouts");
	(void)state;
	for (unsigned retries = 0; retries < 4; retries++) {
		struct rig g;
		defaults(&g);
		g.p.syn_retries = retries;
		g.p.syn_rto_s = 3;
		open_rig(&g);
		unsigned n = linear +
		    (retries ? retries
			     : knob("/proc/sys/net/ipv4/tcp_syn_retries"));
		const sim_ns *rto = g.base->caps.syn_rto_ns;
		sim_ns want = 3 * SIM_SEC;
		for (unsigned i = 0; i < 8; i++) {
			assert_int_equal(rto[i], i < n ? want : 0);
			want *= i >= linear ? 2 : 1;
		}
		assert_in_range(g.base->caps.clock_res_ns, 1, SIM_MS);
		fabric_real_close(g.f);
	}
}

static void what_cannot_be_opened_is_said(void **state)
{
	struct fabric_real_host host[2] = {{ip_of(0), -1}, {ip_of(0), -1}};
	struct fabric_real *f;
	struct sim_err e;
	struct rig g;
	(void)state;
	defaults(&g);
	assert_int_equal(fabric_real_open(&f, host, 0, &g.p, &e), SIM_EINVAL);
	assert_null(f);
	assert_int_equal(fabric_real_open(&f, host, 2, &g.p, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "hosts 0 and 1 have the same address"));
	host[1].address = ip_of(1);
	int fd = bound(ip_of(1), g.p.port[1]);
	assert_int_equal(fabric_real_open(&f, host, 2, &g.p, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "host 1: port "));
	close(fd);
	host[1].ns = 9999;
	assert_int_equal(fabric_real_open(&f, host, 2, &g.p, &e), SIM_EIO);
	host[1].ns = -1;
	g.p.n_classes = FABRIC_REAL_CLASSES + 1;
	assert_int_equal(fabric_real_open(&f, host, 2, &g.p, &e), SIM_EINVAL);
	g.p.n_classes = 1;
	g.p.max_flights = UINT32_MAX / 64;
	struct rlimit before, few;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	if (before.rlim_max < g.p.max_flights) {
		assert_int_equal(fabric_real_open(&f, host, 2, &g.p, &e),
		    SIM_ELIMIT);
		assert_non_null(strstr(e.msg, "`ulimit -Hn` allows"));
	}
	/* Raised as needed. */
	g.p.max_flights = 500;
	few = before;
	few.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_ok(fabric_real_open(&f, host, 2, &g.p, test_err()));
	fabric_real_close(f);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static int open_and_use(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	const struct fabric_real_host host = {ip_of(0), -1};
	struct agent_action a = {.kind = AGENT_SET_TIMER};
	int rc = fabric_real_open(&g->f, &host, 1, &g->p, e);
	if (rc < 0)
		return rc;
	g->base = fabric_real_fabric(g->f);
	rc = g->base->ops->submit(g->base, 0, &a, 1, e);
	a.kind = AGENT_SLB_QUERY;
	if (rc == 0)
		rc = g->base->ops->submit(g->base, 0, &a, 1, e);
	a.kind = AGENT_FETCH;
	if (rc == 0)
		rc = g->base->ops->submit(g->base, 0, &a, 1, e);
	g->base->ops->close(g->base);
	return rc;
}

static void failed_allocations_are_told(void **state)
{
	struct rig g;
	(void)state;
	defaults(&g);
	test_each_alloc_fails(open_and_use, &g);
	fabric_real_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_connect_stands_unheard_by_the_agent),
	    cmocka_unit_test(payloads_of_all_sizes_come_back),
	    cmocka_unit_test(an_echo_that_does_not_come_is_none),
	    cmocka_unit_test(a_closed_port_refuses),
	    cmocka_unit_test(no_answer_is_a_timeout),
	    cmocka_unit_test(a_lost_syn_shows_as_the_kernels_first_wait),
	    cmocka_unit_test(a_port_in_use_fails),
	    cmocka_unit_test(ports_are_free_when_a_connect_is_over),
	    cmocka_unit_test(no_more_than_max_flights_are_under_way),
	    cmocka_unit_test(too_large_a_payload_is_refused),
	    cmocka_unit_test(classes_are_marked_both_ways),
	    cmocka_unit_test(who_sends_anything_else_is_reset),
	    cmocka_unit_test(who_says_nothing_is_closed_in_time),
	    cmocka_unit_test(pieces_make_one_request),
	    cmocka_unit_test(no_more_than_max_clients_are_served),
	    cmocka_unit_test(without_descriptors_it_rests),
	    cmocka_unit_test(timers_come_in_order_and_not_early),
	    cmocka_unit_test(poll_ends_when_it_is_told_to),
	    cmocka_unit_test(nobody_is_starved),
	    cmocka_unit_test(services_answer_at_once_or_later),
	    cmocka_unit_test(slb_queries_are_answered_at_once),
	    cmocka_unit_test(
		retransmissions_of_a_source_go_to_the_host_they_name),
	    cmocka_unit_test(watched_sockets_tell_what_they_send_again),
	    cmocka_unit_test(without_raw_sockets_only_probes_are_refused),
	    cmocka_unit_test(the_kernels_waits_are_told),
	    cmocka_unit_test(what_cannot_be_opened_is_said),
	    cmocka_unit_test(failed_allocations_are_told),
	};
	return cmocka_run_group_tests_name("models/fabric_real", tests, NULL,
	    NULL);
}
