/* tests/models/real/retx_test.c -- segments sent again, told or looked for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/rigs/loopback.h"

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
	struct loop g;
	int fd[2];
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	assert_false(g.base->caps.sees_flows);
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	const struct fabric_real_retx_source s = {&fd[0], fd[0], read_retx};
	assert_ok(fabric_real_retx(g.f, &s, test_err()));
	assert_true(g.base->caps.sees_flows);
	struct fabric_real_retx r[3] = {{{loop_ip(2), 1, 2, 3, TOPO_PROTO_TCP},
					    1},
	    {{loop_ip(LOOP_HOSTS), 1, 2, 3, TOPO_PROTO_TCP}, 1},
	    {{loop_ip(0), 1, 2, 4, TOPO_PROTO_TCP}, 0}};
	assert_int_equal(write(fd[1], r, sizeof(r)), sizeof(r));
	loop_await(&g, AGENT_RETX);
	assert_int_equal(g.host, 2);
	assert_int_equal(g.ev.established, 1);
	assert_memory_equal(&g.ev.tuple, &r[0].tuple, 12);
	loop_await(&g, AGENT_RETX);
	assert_int_equal(g.host, 0);
	assert_int_equal(g.ev.established, 0);
	assert_int_equal(loop_count(&g)->n_others_retx, 1);
	fabric_real_close(g.f);
	close(fd[0]);
	close(fd[1]);
}

static void watched_sockets_tell_what_they_send_again(void **state)
{
	struct loop g;
	struct sim_err e;
	(void)state;
	loop_needs_filters();
	loop_defaults(&g);
	loop_open(&g);
	int server = loop_listener(loop_ip(1));
	const struct sockaddr_in to =
	    loop_address(loop_ip(1), loop_port(server));
	int client = loop_bound(loop_ip(0), 0);
	assert_int_equal(fabric_real_watch(g.f, 0, client, &e), SIM_EINVAL);
	assert_int_equal(fabric_real_watch(g.f, 0, 9999, &e), SIM_EINVAL);
	assert_int_equal(connect(client, (const struct sockaddr *)&to,
			     sizeof(to)),
	    0);
	int peer = accept(server, NULL, NULL);
	assert_ok(fabric_real_watch(g.f, 0, client, test_err()));
	assert_int_equal(send(client, "x", 1, 0), 1);
	assert_false(loop_next(&g, 50 * SIM_MS));
	loop_deafen(peer, 1);
	assert_int_equal(send(client, "x", 1, 0), 1);
	for (unsigned i = 0; i < 3; i++) {
		loop_await(&g, AGENT_RETX);
		assert_int_equal(g.host, 0);
		assert_int_equal(g.ev.established, 1);
		assert_int_equal(g.ev.tuple.src_ip, loop_ip(0));
		assert_int_equal(g.ev.tuple.dst_ip, loop_ip(1));
		assert_int_equal(g.ev.tuple.src_port, loop_port(client));
		assert_int_equal(g.ev.tuple.dst_port, loop_port(server));
		assert_int_equal(g.ev.tuple.proto, TOPO_PROTO_TCP);
	}
	/* Retransmissions since the last look are reported when the socket is
	 * no longer watched. */
	struct tcp_info info;
	socklen_t n = sizeof(info);
	usleep(2000000);
	getsockopt(client, IPPROTO_TCP, TCP_INFO, &info, &n);
	assert_in_range(info.tcpi_total_retrans, 4, 6);
	assert_ok(fabric_real_unwatch(g.f, client, test_err()));
	for (unsigned i = 3; i < info.tcpi_total_retrans; i++)
		loop_await(&g, AGENT_RETX);
	assert_false(loop_next(&g, 800 * SIM_MS));
	close(client);
	close(peer);
	close(server);
	fabric_real_close(g.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		retransmissions_of_a_source_go_to_the_host_they_name),
	    cmocka_unit_test(watched_sockets_tell_what_they_send_again),
	};
	return cmocka_run_group_tests_name("models/real/retx", tests, NULL,
	    NULL);
}
