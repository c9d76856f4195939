/* tests/models/real/serve_test.c -- whoever connects: served, or sent away.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/rigs/loopback.h"

static int client_of(const struct loop *g, topo_host h)
{
	const struct sockaddr_in to = loop_address(loop_ip(h), g->p.port[0]);
	const struct timeval long_enough = {.tv_sec = 10};
	int fd = loop_bound(loop_ip(0), 0);
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
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	for (size_t i = 0; i < sizeof(all); i += 32)
		memcpy(all + i, words, 32);
	int web = client_of(&g, 1), off = client_of(&g, 1),
	    large = client_of(&g, 1);
	assert_int_equal(send(web, "PUT / HTTP/1.0\r\n\r\n", 18, 0), 18);
	assert_int_equal(send(off, "culprit pingmesh Probe", 22, 0), 22);
	loop_count_to(&g, &loop_count(&g)->n_garbage, 2);
	assert_reset(web);
	assert_reset(off);
	/* One byte more than there may be. */
	for (size_t sent = 0; sent < FABRIC_REAL_MAX_PAYLOAD + 1;) {
		ssize_t n = send(large, all + sent,
		    FABRIC_REAL_MAX_PAYLOAD + 1 - sent, MSG_DONTWAIT);
		sent += n > 0 ? (size_t)n : 0;
		assert_false(loop_next(&g, SIM_MS));
	}
	loop_count_to(&g, &loop_count(&g)->n_garbage, 3);
	assert_reset(large);
	fabric_real_close(g.f);
}

static void who_says_nothing_is_closed_in_time(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	g.p.client_s = 0.2;
	loop_open(&g);
	int silent = client_of(&g, 1), half = client_of(&g, 1),
	    unread = client_of(&g, 1);
	assert_int_equal(send(half, words, 20, 0), 20);
	assert_int_equal(send(unread, words, 20, 0), 20);
	shutdown(unread, SHUT_WR);
	loop_await(&g, AGENT_PING_REQUEST);
	assert_int_equal(g.ev.n, 20);
	const sim_ns asked = loop_now(&g);
	loop_count_to(&g, &loop_count(&g)->n_late, 3);
	assert_in_range(loop_now(&g), asked + 100 * SIM_MS, asked + LOOP_SLOW);
	assert_reset(silent);
	assert_reset(half);
	assert_reset(unread);
	/* An answer with the token of a connection that is gone reaches nobody,
	 * not even the one that now has its place. */
	loop_answer(&g, 20);
	const uint64_t gone = g.ev.token;
	for (unsigned i = 0; i < 3; i++) {
		unread = client_of(&g, 1);
		assert_int_equal(send(unread, words, 20, 0), 20);
		shutdown(unread, SHUT_WR);
		loop_await(&g, AGENT_PING_REQUEST);
		g.ev.token = gone;
		loop_answer(&g, 20);
		close(unread);
		assert_false(loop_next(&g, 20 * SIM_MS));
	}
	assert_int_equal(loop_count(&g)->n_answered, 0);
	/* A client that ends without a byte has made no request. */
	int brief = client_of(&g, 1);
	shutdown(brief, SHUT_WR);
	loop_count_to(&g, &loop_count(&g)->n_clients, 7);
	assert_false(loop_next(&g, 20 * SIM_MS));
	assert_reset(brief);
	assert_int_equal(loop_count(&g)->n_requests, 4);
	assert_int_equal(loop_count(&g)->n_garbage, 0);
	fabric_real_close(g.f);
}

/* A payload that comes in pieces is one request. */
static void pieces_make_one_request(void **state)
{
	struct loop g;
	char back[32];
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	int fd = client_of(&g, 2);
	for (unsigned i = 0; i < 32; i++) {
		assert_int_equal(send(fd, words + i, 1, 0), 1);
		assert_false(loop_next(&g, SIM_MS));
	}
	shutdown(fd, SHUT_WR);
	loop_await(&g, AGENT_PING_REQUEST);
	assert_int_equal(g.ev.n, 32);
	/* An answer that another host gives is not sent. */
	g.host = 1;
	loop_answer(&g, 32);
	assert_int_equal(loop_count(&g)->n_answered, 0);
	g.host = 2;
	loop_answer(&g, 32);
	assert_int_equal(recv(fd, back, 32, MSG_WAITALL), 32);
	assert_memory_equal(back, words, 32);
	close(fd);
	fabric_real_close(g.f);
}

/* Whoever sits there has no place for ever: the next one has that of the oldest. */
static void the_oldest_goes_when_there_are_too_many(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	g.p.max_clients = 3;
	loop_open(&g);
	int fd[5];
	for (unsigned i = 0; i < 5; i++) {
		fd[i] = client_of(&g, i % LOOP_HOSTS);
		loop_count_to(&g, &loop_count(&g)->n_clients, i + 1);
	}
	assert_int_equal(loop_count(&g)->n_pushed_out, 2);
	assert_reset(fd[0]);
	assert_reset(fd[1]);
	/* A probe is answered while all places are taken. */
	loop_connect(&g, 0, loop_ip(1), g.p.port[0], 10);
	loop_await(&g, AGENT_PING_REQUEST);
	loop_answer(&g, 10);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_true(g.ev.echo_ns > 0);
	assert_reset(fd[2]);
	close(fd[3]);
	close(fd[4]);
	/* When the others have closed there is room for a client again. */
	assert_false(loop_next(&g, 20 * SIM_MS));
	loop_connect(&g, 0, loop_ip(1), g.p.port[0], 10);
	loop_await(&g, AGENT_PING_REQUEST);
	loop_answer(&g, 10);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_true(g.ev.echo_ns > 0);
	fabric_real_close(g.f);
}

/* Of one address with one host, no more than per_address at a time. */
static void an_address_has_its_share(void **state)
{
	struct loop g;
	int fd[4];
	(void)state;
	loop_defaults(&g);
	g.p.per_address = 3;
	loop_open(&g);
	for (unsigned i = 0; i < 4; i++) {
		fd[i] = client_of(&g, 1);
		loop_count_to(&g,
		    i < 3 ? &loop_count(&g)->n_clients
			  : &loop_count(&g)->n_turned_away,
		    i < 3 ? i + 1 : 1);
	}
	assert_reset(fd[3]);
	/* With another host it has a share of its own, and what is over does
	 * not count. */
	fd[3] = client_of(&g, 2);
	loop_count_to(&g, &loop_count(&g)->n_clients, 4);
	for (unsigned i = 0; i < 4; i++)
		close(fd[i]);
	assert_false(loop_next(&g, 20 * SIM_MS));
	for (unsigned i = 0; i < 3; i++)
		fd[i] = client_of(&g, 1);
	loop_count_to(&g, &loop_count(&g)->n_clients, 7);
	assert_int_equal(loop_count(&g)->n_turned_away, 1);
	for (unsigned i = 0; i < 3; i++)
		close(fd[i]);
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
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	int fd = client_of(&g, 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	double cpu = cpu_s();
	assert_false(loop_next(&g, 500 * SIM_MS));
	assert_true(cpu_s() - cpu < 0.1);
	assert_in_range(loop_count(&g)->n_rests, 2, 6);
	/* Without file descriptors a connect fails as well, and says so. */
	loop_connect(&g, 0, loop_ip(1), g.p.port[0], 0);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_FAILED);
	assert_int_equal(loop_count(&g)->n_not_tried, 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	loop_count_to(&g, &loop_count(&g)->n_clients, 1);
	cpu = cpu_s();
	assert_false(loop_next(&g, 300 * SIM_MS));
	assert_true(cpu_s() - cpu < 0.1);
	close(fd);
	fabric_real_close(g.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(who_sends_anything_else_is_reset),
	    cmocka_unit_test(who_says_nothing_is_closed_in_time),
	    cmocka_unit_test(pieces_make_one_request),
	    cmocka_unit_test(the_oldest_goes_when_there_are_too_many),
	    cmocka_unit_test(an_address_has_its_share),
	    cmocka_unit_test(without_descriptors_it_rests),
	};
	return cmocka_run_group_tests_name("models/real/serve", tests, NULL,
	    NULL);
}
