/* tests/models/real/http_test.c -- HTTP pings over loopback, and whom they meet.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Agents answer each other; the servers that answer wrongly are this test itself,
 * between two polls of the fabric.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/rigs/loopback.h"

static void http_ping(struct loop *g, uint32_t ip, uint16_t port)
{
	struct agent_action a = loop_connect_of(g, 0, ip, port, 0);
	a.ping = AGENT_PING_HTTP;
	loop_act(g, 0, &a);
}

static void agents_answer_each_other(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	for (unsigned i = 0; i < 20; i++) {
		const sim_ns begun = loop_now(&g);
		/* The same ports again each time: neither end may have kept
		 * them after the last. */
		g.next_port = 20000 + i % 2;
		http_ping(&g, loop_ip(1 + i % 2), g.p.port[i % 2]);
		loop_await(&g, AGENT_PING_REQUEST);
		assert_int_equal(g.host, 1 + i % 2);
		assert_int_equal(g.ev.n, 0);
		loop_answer(&g, 0);
		loop_answer(&g, 0); /* again: does nothing */
		loop_await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		assert_int_equal(g.ev.answer, AGENT_ANSWER_OK);
		assert_in_range(g.ev.rtt_ns, 1, LOOP_SLOW);
		assert_in_range(g.ev.echo_ns, 1, g.at - begun);
	}
	assert_false(loop_next(&g, 20 * SIM_MS));
	assert_int_equal(loop_count(&g)->n_requests, 20);
	assert_int_equal(loop_count(&g)->n_answered, 20);
	assert_int_equal(loop_count(&g)->n_no_answer, 0);
	assert_int_equal(loop_count(&g)->n_no_echo, 0);
	fabric_real_close(g.f);
}

/* --- servers that answer wrongly ------------------------------------------- */

/* Begin a ping of a plain server: its end of the connection, once the whole GET
 * has come. */
static int asked(struct loop *g, int listener)
{
	char ask[512];
	size_t n = 0;
	http_ping(g, loop_ip(1), loop_port(listener));
	const int fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	while (n < 4 || memcmp(ask + n - 4, "\r\n\r\n", 4) != 0) {
		assert_false(loop_next(g, SIM_MS));
		const ssize_t got =
		    recv(fd, ask + n, sizeof(ask) - n, MSG_DONTWAIT);
		assert_true(got != 0 && n < sizeof(ask));
		n += got > 0 ? (size_t)got : 0;
	}
	/* Whom it is to, in so many numbers. */
	const uint32_t ip = loop_ip(1);
	char want[80];
	const int length = snprintf(want, sizeof(want),
	    "GET /ping HTTP/1.1\r\nHost: %u.%u.%u.%u:%u\r\n", ip >> 24,
	    ip >> 16 & 255, ip >> 8 & 255, ip & 255, loop_port(listener));
	assert_memory_equal(ask, want, (size_t)length);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL),
	    strlen(text));
}

static void close_hard(int fd)
{
	const struct linger reset = {.l_onoff = 1};
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
}

/* The connect stood whatever came of the GET. */
static void ends_with(struct loop *g, enum agent_answer answer)
{
	loop_await(g, AGENT_CONNECT_DONE);
	assert_int_equal(g->ev.outcome, AGENT_CONNECTED);
	assert_int_equal(g->ev.answer, answer);
	assert_in_range(g->ev.rtt_ns, 1, LOOP_SLOW);
	assert_int_equal(g->ev.echo_ns > 0, answer == AGENT_ANSWER_OK);
}

static void each_answer_is_of_its_kind(void **state)
{
	static const struct {
		const char *text;
		enum agent_answer answer;
	} cases[] = {
	    {"HTTP/1.1 200 OK\r\n\r\n", AGENT_ANSWER_OK},
	    {"HTTP/1.1 100 Wait\r\n\r\nHTTP/1.0 200 OK\r\nA: b\r\n\r\nbody",
		AGENT_ANSWER_OK},
	    {"HTTP/1.1 500 No\r\n\r\n", AGENT_ANSWER_OTHER},
	    {"HTTP/1.1 301 There\r\nLocation: http://10.0.0.1/\r\n\r\n",
		AGENT_ANSWER_OTHER},
	    {"SSH-2.0-OpenSSH_9.2\r\n", AGENT_ANSWER_MALFORMED},
	    {"HTTP/1.1 200 OK\r\nno header\r\n\r\n", AGENT_ANSWER_MALFORMED},
	};
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	int listener = loop_listener(loop_ip(1));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = asked(&g, listener);
		say(fd, cases[i].text);
		ends_with(&g, cases[i].answer);
		close(fd);
	}
	assert_int_equal(loop_count(&g)->n_no_answer, 4);
	assert_int_equal(loop_count(&g)->n_connected, 6);
	close(listener);
	fabric_real_close(g.f);
}

static void an_end_before_the_answer_is_none(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	int listener = loop_listener(loop_ip(1));
	for (unsigned i = 0; i < 4; i++) {
		int fd = asked(&g, listener);
		if (i / 2)
			say(fd, "HTTP/1.1 200 OK\r\n");
		if (i % 2)
			close_hard(fd);
		else
			close(fd);
		ends_with(&g, AGENT_ANSWER_CUT);
	}
	/* Who closes at once may do so before the GET is out. */
	http_ping(&g, loop_ip(1), loop_port(listener));
	close_hard(accept(listener, NULL, NULL));
	ends_with(&g, AGENT_ANSWER_CUT);
	assert_int_equal(loop_count(&g)->n_no_answer, 5);
	close(listener);
	fabric_real_close(g.f);
}

/* A byte every now and then does not make the time longer. */
static void who_is_slow_is_not_waited_for(void **state)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n";
	struct loop g;
	(void)state;
	loop_defaults(&g);
	g.p.echo_s = 0.2;
	loop_open(&g);
	int listener = loop_listener(loop_ip(1));
	for (unsigned i = 0; i < 2; i++) {
		int fd = asked(&g, listener);
		const sim_ns begun = loop_now(&g);
		for (size_t k = 0; i && !loop_next(&g, 30 * SIM_MS); k++) {
			assert_true(k < sizeof(text) - 2);
			send(fd, text + k, 1, MSG_NOSIGNAL);
		}
		if (!i)
			loop_await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.kind, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		assert_int_equal(g.ev.answer, AGENT_ANSWER_LATE);
		assert_int_equal(g.ev.echo_ns, 0);
		assert_in_range(g.at, begun + 100 * SIM_MS, begun + LOOP_SLOW);
		close(fd);
	}
	close(listener);
	fabric_real_close(g.f);
}

/* Headers without end are no answer, long before the time is up. */
static void a_head_without_end_is_malformed(void **state)
{
	static char many[1000];
	struct loop g;
	(void)state;
	loop_defaults(&g);
	g.p.echo_s = 100;
	loop_open(&g);
	int listener = loop_listener(loop_ip(1));
	int fd = asked(&g, listener);
	memset(many, 'x', sizeof(many));
	memcpy(many, "A:", 2);
	memcpy(many + sizeof(many) - 2, "\r\n", 2);
	say(fd, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 9; i++)
		send(fd, many, sizeof(many), MSG_NOSIGNAL);
	ends_with(&g, AGENT_ANSWER_MALFORMED);
	close(fd);
	close(listener);
	fabric_real_close(g.f);
}

static void without_a_connect_nothing_is_asked(void **state)
{
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	http_ping(&g, loop_ip(1), loop_free_port());
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_REFUSED);
	assert_int_equal(g.ev.answer, AGENT_ANSWER_NOT_ASKED);
	assert_int_equal(loop_count(&g)->n_no_answer, 0);
	fabric_real_close(g.f);
}

/* --- whoever asks an agent -------------------------------------------------- */

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

/* In pieces, with more behind it, from a client that sends no more: one answer. */
static void a_get_in_pieces_is_one_request(void **state)
{
	static const char text[] = "GET /x HTTP/1.0\r\nHost: a\r\n\r\n";
	char back[512] = "";
	struct loop g;
	(void)state;
	loop_defaults(&g);
	loop_open(&g);
	int fd = client_of(&g, 2);
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		assert_false(loop_next(&g, SIM_MS));
		assert_int_equal(send(fd, text + i, 1, 0), 1);
	}
	say(fd, "GET / HTTP/1.0\r\n\r\n");
	shutdown(fd, SHUT_WR);
	loop_await(&g, AGENT_PING_REQUEST);
	assert_int_equal(g.ev.n, 0);
	loop_answer(&g, 65536); /* more than came is not sent */
	const ssize_t n = recv(fd, back, sizeof(back) - 1, 0);
	assert_true(n > 19);
	assert_memory_equal(back, "HTTP/1.1 200 OK\r\n", 17);
	assert_string_equal(strstr(back, "\r\n\r\n"), "\r\n\r\npong\n");
	assert_int_equal(loop_count(&g)->n_requests, 1);
	close(fd);
	fabric_real_close(g.f);
}

static void half_a_get_is_closed_in_time(void **state)
{
	struct loop g;
	char c;
	(void)state;
	loop_defaults(&g);
	g.p.client_s = 0.2;
	loop_open(&g);
	int slow = client_of(&g, 1), gone = client_of(&g, 1);
	say(slow, "GET / HT");
	say(gone, "GET / HTTP/1.1\r\n");
	shutdown(gone, SHUT_WR);
	/* Bytes one after the other make the time no longer. */
	for (int i = 0; loop_count(&g)->n_late == 0 && i < 500; i++) {
		assert_false(loop_next(&g, 10 * SIM_MS));
		if (i < 4)
			send(slow, &"TP/1"[i], 1, MSG_NOSIGNAL);
	}
	assert_int_equal(loop_count(&g)->n_late, 1);
	assert_int_equal(loop_count(&g)->n_requests, 0);
	assert_int_equal(recv(slow, &c, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	assert_int_equal(recv(gone, &c, 1, 0), -1);
	close(slow);
	close(gone);
	fabric_real_close(g.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(agents_answer_each_other),
	    cmocka_unit_test(each_answer_is_of_its_kind),
	    cmocka_unit_test(an_end_before_the_answer_is_none),
	    cmocka_unit_test(who_is_slow_is_not_waited_for),
	    cmocka_unit_test(a_head_without_end_is_malformed),
	    cmocka_unit_test(without_a_connect_nothing_is_asked),
	    cmocka_unit_test(a_get_in_pieces_is_one_request),
	    cmocka_unit_test(half_a_get_is_closed_in_time),
	};
	return cmocka_run_group_tests_name("models/real/http", tests, NULL,
	    NULL);
}
