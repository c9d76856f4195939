/* tests/rigs/loopback.c -- a real fabric whose hosts are addresses of 127/8.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/loopback.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <sys/socket.h>
#include <unistd.h>

uint32_t loop_ip(topo_host h)
{
	return UINT32_C(0x7f000002) + h;
}

struct sockaddr_in loop_address(uint32_t ip, uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(ip)};
}

int loop_bound(uint32_t ip, uint16_t port)
{
	const struct sockaddr_in at = loop_address(ip, port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

uint16_t loop_port(int fd)
{
	struct sockaddr_in at;
	socklen_t n = sizeof(at);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
	return ntohs(at.sin_port);
}

/* What is bound with SO_REUSEADDR and does not listen is in the way of nobody
 * who wants to reuse it and listen, and of everybody else. */
static int hold(int fd[LOOP_HOSTS + 1], uint16_t port)
{
	const int on = 1;
	for (topo_host h = 0; h <= LOOP_HOSTS; h++) {
		const uint32_t ip = h ? loop_ip(h - 1) : INADDR_LOOPBACK;
		const struct sockaddr_in at = loop_address(ip, port);
		fd[h] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_true(fd[h] >= 0);
		if (bind(fd[h], (const struct sockaddr *)&at, sizeof(at)) < 0)
			return 0;
		port = loop_port(fd[h]);
		assert_int_equal(setsockopt(fd[h], SOL_SOCKET, SO_REUSEADDR,
				     &on, sizeof(on)),
		    0);
	}
	return 1;
}

static void let_go(int fd[LOOP_HOSTS + 1])
{
	for (int i = 0; i <= LOOP_HOSTS; i++)
		if (fd[i] > 0)
			close(fd[i]);
	memset(fd, 0, (LOOP_HOSTS + 1) * sizeof(*fd));
}

uint16_t loop_free_port(void)
{
	enum { HELD = 4, TRIES = 100 };
	static int held[HELD][LOOP_HOSTS + 1];
	static unsigned last;
	int *fd = held[last++ % HELD];
	for (int i = 0; i < TRIES; i++) {
		let_go(fd);
		if (hold(fd, 0))
			return loop_port(fd[0]);
	}
	fail_msg("no port is free at %d addresses", LOOP_HOSTS + 1);
	return 0;
}

void loop_defaults(struct loop *g)
{
	*g = (struct loop){0};
	assert_ok(sim_field_defaults(fabric_real_fields, &g->p, test_err()));
	g->p.n_classes = 2;
	g->p.port[0] = loop_free_port();
	g->p.port[1] = loop_free_port();
	g->p.max_flights = g->p.max_clients = 64;
	g->next_port = 20000;
}

void loop_open(struct loop *g)
{
	struct fabric_real_host host[LOOP_HOSTS];
	for (topo_host h = 0; h < LOOP_HOSTS; h++)
		host[h] = (struct fabric_real_host){loop_ip(h), -1};
	assert_ok(fabric_real_open(&g->f, host, LOOP_HOSTS, &g->p, test_err()));
	g->base = fabric_real_fabric(g->f);
}

sim_ns loop_now(const struct loop *g)
{
	return g->base->ops->now(g->base);
}

void loop_act(struct loop *g, topo_host h, const struct agent_action *a)
{
	assert_ok(g->base->ops->submit(g->base, h, a, 1, test_err()));
}

int loop_next_until(struct loop *g, sim_ns until)
{
	size_t n;
	assert_ok(g->base->ops->poll(g->base, until, &g->ev, &g->host, &g->at,
	    1, &n, test_err()));
	return n == 1;
}

int loop_next(struct loop *g, sim_ns within)
{
	return loop_next_until(g, loop_now(g) + within);
}

void loop_await(struct loop *g, enum agent_event_kind kind)
{
	if (!loop_next(g, 20 * SIM_SEC))
		fail_msg("no event %d", kind);
	assert_int_equal(g->ev.kind, kind);
}

struct agent_action loop_connect_of(struct loop *g, topo_host from, uint32_t ip,
    uint16_t port, uint32_t n_bytes)
{
	return (struct agent_action){.kind = AGENT_CONNECT,
	    .token = g->next_port,
	    .n_bytes = n_bytes,
	    .tuple = {loop_ip(from), ip, g->next_port++, port, TOPO_PROTO_TCP}};
}

void loop_connect(struct loop *g, topo_host from, uint32_t ip, uint16_t port,
    uint32_t n_bytes)
{
	const struct agent_action a =
	    loop_connect_of(g, from, ip, port, n_bytes);
	loop_act(g, from, &a);
}

void loop_answer(struct loop *g, uint32_t n)
{
	const struct agent_action a = {.kind = AGENT_ANSWER,
	    .token = g->ev.token,
	    .n_bytes = n};
	loop_act(g, g->host, &a);
}

const struct fabric_real_counters *loop_count(const struct loop *g)
{
	return fabric_real_count(g->f);
}

void loop_count_to(struct loop *g, const uint64_t *n, uint64_t want)
{
	const sim_ns end = loop_now(g) + 20 * SIM_SEC;
	while (*n < want && loop_now(g) < end)
		if (loop_next(g, 5 * SIM_MS))
			fail_msg("event %d", g->ev.kind);
	assert_int_equal(*n, want);
}

void loop_deafen(int fd, int deaf)
{
	struct sock_filter none = {BPF_RET | BPF_K, 0, 0, 0};
	const struct sock_fprog program = {1, &none};
	assert_int_equal(setsockopt(fd, SOL_SOCKET,
			     deaf ? SO_ATTACH_FILTER : SO_DETACH_FILTER,
			     &program, sizeof(program)),
	    0);
}

void loop_needs_filters(void)
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

int loop_listener(uint32_t ip)
{
	int fd = loop_bound(ip, 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}
