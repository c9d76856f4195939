/* tests/models/real/connect_test.c -- connects over loopback, and their ends.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <linux/filter.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/rigs/loopback.h"

static void a_connect_stands_unheard_by_the_agent(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	for (unsigned i = 0; i < 50; i++) {
		const topo_host from = i % LOOP_HOSTS,
				to = (i + 1) % LOOP_HOSTS;
		const sim_ns begun = loop_now(&g);
		loop_connect(&g, from, loop_ip(to), g.p.port[i % 2], 0);
		loop_await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.token, 20000 + i);
		assert_int_equal(g.host, from);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		assert_in_range(g.ev.rtt_ns, 1, g.at - begun);
		assert_int_equal(g.ev.echo_ns, 0);
	}
	loop_count_to(&g, &loop_count(&g)->n_clients, 50);
	assert_int_equal(loop_count(&g)->n_connected, 50);
	assert_int_equal(loop_count(&g)->n_requests, 0);
	fabric_real_close(g.f);
}

static void payloads_of_all_sizes_come_back(void **state)
{
	static const uint32_t sizes[] = {1, 31, 32, 33, 1000, 1460, 30000,
	    65535, 65536};
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const sim_ns begun = loop_now(&g);
		loop_connect(&g, 0, loop_ip(1), g.p.port[0], sizes[i]);
		loop_await(&g, AGENT_PING_REQUEST);
		assert_int_equal(g.host, 1);
		assert_int_equal(g.ev.n, sizes[i]);
		loop_answer(&g, sizes[i]);
		loop_answer(&g, sizes[i]); /* again: does nothing */
		loop_await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.host, 0);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		assert_in_range(g.ev.rtt_ns, 1, LOOP_SLOW);
		assert_in_range(g.ev.echo_ns, 1, g.at - begun);
	}
	assert_false(loop_next(&g, 20 * SIM_MS));
	assert_int_equal(loop_count(&g)->n_answered, 9);
	assert_int_equal(loop_count(&g)->n_no_echo, 0);
	fabric_real_close(g.f);
}

static void an_echo_that_does_not_come_is_none(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	g.p.echo_s = 0.1;
	loop_open(&g);
	/* The echo never comes, has too few bytes, or has none. */
	for (unsigned i = 0; i < 3; i++) {
		loop_connect(&g, 0, loop_ip(1), g.p.port[0], 1000);
		loop_await(&g, AGENT_PING_REQUEST);
		if (i > 0)
			loop_answer(&g, i == 1 ? 999 : 0);
		const sim_ns asked = loop_now(&g);
		loop_await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		assert_int_equal(g.ev.echo_ns, 0);
		assert_in_range(g.ev.rtt_ns, 1, LOOP_SLOW);
		assert_in_range(g.at, asked + 50 * SIM_MS, asked + LOOP_SLOW);
	}
	assert_int_equal(loop_count(&g)->n_no_echo, 3);
	/* An answer that comes too late does nothing. */
	loop_answer(&g, 1000);
	fabric_real_close(g.f);
}

static void a_closed_port_refuses(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	loop_connect(&g, 0, loop_ip(1), loop_free_port(), 100);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_REFUSED);
	assert_in_range(g.ev.rtt_ns, 1, LOOP_SLOW);
	assert_int_equal(loop_count(&g)->n_refused, 1);
	fabric_real_close(g.f);
}

static void no_answer_is_a_timeout(void **state)
{
	struct loop g;
	(void)state;
	loop_needs_filters();
	loop_defaults(&g);
	g.p.connect_s = 0.2;
	loop_open(&g);
	int fd = loop_listener(loop_ip(1));
	loop_deafen(fd, 1);
	const sim_ns begun = loop_now(&g);
	loop_connect(&g, 0, loop_ip(1), loop_port(fd), 100);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_TIMEOUT);
	assert_int_equal(g.ev.rtt_ns, 0);
	assert_in_range(g.at, begun + 200 * SIM_MS, begun + LOOP_SLOW);
	assert_int_equal(loop_count(&g)->n_timeouts, 1);
	close(fd);
	fabric_real_close(g.f);
}

/* The connect must be timed by our own clock: the round-trip time that the
 * kernel measures leaves out the lost SYN and would be 1 ms. */
static void a_lost_syn_shows_as_the_kernels_first_wait(void **state)
{
	struct loop g;
	(void)state;
	loop_needs_filters();
	loop_defaults(&g);
	loop_open(&g);
	assert_int_equal(g.base->caps.syn_rto_ns[0], SIM_SEC);
	int fd = loop_listener(loop_ip(1));
	loop_deafen(fd, 1);
	loop_connect(&g, 0, loop_ip(1), loop_port(fd), 0);
	assert_false(loop_next(&g, 300 * SIM_MS));
	loop_deafen(fd, 0);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
	assert_in_range(g.ev.rtt_ns, 990 * SIM_MS, SIM_SEC + LOOP_SLOW);
	close(fd);
	fabric_real_close(g.f);
}

static void a_port_in_use_fails(void **state)
{
	struct loop g;
	(void)state;
	loop_needs_filters();
	loop_defaults(&g);
	loop_open(&g);
	int deaf = loop_listener(loop_ip(1)), user = loop_listener(loop_ip(0));
	loop_deafen(deaf, 1);
	/* The source port is in use by a listener, and then by a connect of the
	 * same five-tuple. */
	struct agent_action a =
	    loop_connect_of(&g, 0, loop_ip(1), g.p.port[0], 0);
	a.tuple.src_port = loop_port(user);
	loop_act(&g, 0, &a);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_FAILED);
	a = loop_connect_of(&g, 0, loop_ip(1), loop_port(deaf), 0);
	loop_act(&g, 0, &a);
	a.token = 7;
	loop_act(&g, 0, &a);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.token, 7);
	assert_int_equal(g.ev.outcome, AGENT_FAILED);
	assert_int_equal(loop_count(&g)->n_port_taken, 2);
	/* The same source port to another port is another five-tuple, which is
	 * free. */
	a.tuple.dst_port = g.p.port[0];
	loop_act(&g, 0, &a);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
	/* From a source address that is not the host's, a connect fails. */
	a.tuple.src_ip = UINT32_C(0xc0000201);
	loop_act(&g, 0, &a);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_FAILED);
	close(deaf);
	close(user);
	fabric_real_close(g.f);
}

/* After a reset nothing is left, so a port can be used again at once. */
static void ports_are_free_when_a_connect_is_over(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	for (unsigned i = 0; i < 200; i++) {
		g.next_port = 20000;
		loop_connect(&g, 0, loop_ip(1), g.p.port[0], i % 2 ? 100 : 0);
		if (i % 2) {
			loop_await(&g, AGENT_PING_REQUEST);
			loop_answer(&g, 100);
		}
		loop_await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		assert_int_equal(g.ev.echo_ns > 0, i % 2);
	}
	/* A connect is closed by a reset, also to a server that is not the
	 * fabric's. */
	char c;
	int fd = loop_listener(loop_ip(1));
	loop_connect(&g, 0, loop_ip(1), loop_port(fd), 0);
	loop_await(&g, AGENT_CONNECT_DONE);
	int peer = accept(fd, NULL, NULL);
	assert_int_equal(recv(peer, &c, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	close(peer);
	close(fd);
	fabric_real_close(g.f);
}

static void no_more_than_max_flights_are_under_way(void **state)
{
	struct loop g;
	(void)state;
	loop_needs_filters();
	loop_defaults(&g);
	g.p.max_flights = 4;
	g.p.connect_s = 0.2;
	loop_open(&g);
	int fd = loop_listener(loop_ip(1));
	loop_deafen(fd, 1);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 6; i++)
			loop_connect(&g, 0, loop_ip(1), loop_port(fd), 0);
		for (unsigned i = 0; i < 6; i++) {
			loop_await(&g, AGENT_CONNECT_DONE);
			assert_int_equal(g.ev.outcome,
			    i < 2 ? AGENT_FAILED : AGENT_TIMEOUT);
		}
	}
	assert_int_equal(loop_count(&g)->n_crowded, 4);
	close(fd);
	fabric_real_close(g.f);
}

static void too_large_a_payload_is_refused(void **state)
{
	struct loop g;
	struct sim_err e;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	const struct agent_action a =
	    loop_connect_of(&g, 0, loop_ip(1), g.p.port[0], 65537);
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
	struct loop g;
	(void)state;
	loop_needs_filters();
	loop_defaults(&g);
	g.p.dscp[1] = 46;
	loop_open(&g);
	int fd = loop_listener(loop_ip(1));
	setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on));
	for (uint8_t class = 0; class < 2; class ++) {
		struct agent_action a =
		    loop_connect_of(&g, 0, loop_ip(1), loop_port(fd), 1);
		a.class = class;
		loop_act(&g, 0, &a);
		loop_next(&g, 20 * SIM_MS);
		int peer = accept(fd, NULL, NULL);
		assert_int_equal(dscp_at(peer), class ? 46 : 0);
		close(peer);
		/* The same of what the fabric's server sends. */
		const struct sockaddr_in to =
		    loop_address(loop_ip(2), g.p.port[class]);
		const struct timeval long_enough = {.tv_sec = 10};
		int client = loop_bound(loop_ip(0), 0);
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
	};
	return cmocka_run_group_tests_name("models/real/connect", tests, NULL,
	    NULL);
}
