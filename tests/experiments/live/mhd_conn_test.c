/* tests/experiments/live/mhd_conn_test.c -- who may connect, for how long, and who goes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A server is put together by hand, with connections whose other ends are here, so
 * that each rule is met by itself and on both sides.
 */
#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

#include "experiments/live/mhd_parts.h"
#include "models/real/place.h"
#include "tests/test.h"

enum { MOST = 8, HEAD_S = 5, RECEIVE_S = 10, SEND_S = 20 };

static struct xp_http_server server;
static struct xp_http_conn conn[MOST];
static int other_end[MOST];
static unsigned n_conns;

static uint64_t place_of(uint32_t ip)
{
	return real_place_of_ipv4(ip);
}

static int conn_open(void **state)
{
	(void)state;
	memset(&server, 0, sizeof(server));
	memset(conn, 0, sizeof(conn));
	n_conns = 0;
	pthread_mutex_init(&server.lock, NULL);
	server.params.max_connections = 3;
	server.params.head_s = HEAD_S;
	server.params.receive_s = RECEIVE_S;
	server.params.send_s = SEND_S;
	return 0;
}

static int conn_close(void **state)
{
	(void)state;
	for (unsigned i = 0; i < n_conns; i++) {
		close(conn[i].fd);
		close(other_end[i]);
	}
	pthread_mutex_destroy(&server.lock);
	return 0;
}

/* One of IP, since SINCE. */
static struct xp_http_conn *conn_add(uint32_t ip, int is_known, uint64_t since)
{
	struct xp_http_conn *c = &conn[n_conns];
	int fd[2];
	assert_true(n_conns < MOST);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	*c = (struct xp_http_conn){.next = server.conns,
	    .fd = fd[0],
	    .place = place_of(ip),
	    .since_ms = since,
	    .is_known = is_known};
	other_end[n_conns++] = fd[1];
	server.conns = c;
	return c;
}

/* Whether its client sees the end. */
static int is_ended(const struct xp_http_conn *c)
{
	char byte;
	const ssize_t n = recv(other_end[c - conn], &byte, 1, MSG_DONTWAIT);
	assert_true(n == 0 || (n < 0 && errno == EAGAIN));
	assert_int_equal(n == 0, c->is_shut);
	return n == 0;
}

static unsigned n_ended(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < n_conns; i++)
		n += (unsigned)is_ended(&conn[i]);
	return n;
}

static enum MHD_Result may_connect(uint32_t ip)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(ip)};
	return xp_http_may_connect(&server, (const struct sockaddr *)&at,
	    sizeof(at));
}

static void assert_counts(uint64_t crowded, uint64_t full, uint64_t evicted)
{
	assert_int_equal(server.count[XP_HTTP_crowded], crowded);
	assert_int_equal(server.count[XP_HTTP_full], full);
	assert_int_equal(server.count[XP_HTTP_evicted], evicted);
	/* They are counted when they have begun. */
	assert_int_equal(server.count[XP_HTTP_connections], 0);
}

/* --- who may connect ------------------------------------------------------ */

static void an_address_has_so_many(void **state)
{
	(void)state;
	server.params.per_address = 2;
	server.params.max_connections = 100;
	conn_add(1, 0, 1);
	conn_add(2, 0, 2);
	assert_int_equal(may_connect(1), MHD_YES);
	conn_add(1, 0, 3);
	assert_int_equal(may_connect(1), MHD_NO);
	assert_int_equal(may_connect(2), MHD_YES);
	assert_counts(1, 0, 0);
	/* Those on their way out are none. */
	shutdown(conn[0].fd, SHUT_RDWR);
	conn[0].is_shut = 1;
	assert_int_equal(may_connect(1), MHD_YES);
	conn_add(1, 0, 4);
	assert_int_equal(may_connect(1), MHD_NO);
	server.params.per_address = 0;
	assert_int_equal(may_connect(1), MHD_YES);
	assert_counts(2, 0, 0);
	assert_int_equal(n_ended(), 1);
}

static void a_stranger_goes_for_one_more(void **state)
{
	(void)state;
	server.params.reserved = 1;
	conn_add(1, 0, 30);
	assert_int_equal(may_connect(9), MHD_YES);
	assert_counts(0, 0, 0);
	conn_add(2, 0, 20);
	/* Of three places one is not for strangers: the one that waits longest
	 * for an answer goes. */
	assert_int_equal(may_connect(9), MHD_YES);
	assert_counts(0, 0, 1);
	assert_true(is_ended(&conn[1]));
	assert_false(is_ended(&conn[0]));
	/* What is on its way out has no place any more. */
	assert_int_equal(may_connect(9), MHD_YES);
	assert_counts(0, 0, 1);
}

static void a_known_one_has_what_is_reserved(void **state)
{
	(void)state;
	assert_ok(algo_pinglist_allow_nets(&server.params.known, "0.0.0.8/29",
	    test_err()));
	server.params.reserved = 1;
	conn_add(1, 0, 30);
	conn_add(2, 0, 20);
	assert_int_equal(may_connect(9), MHD_YES);
	assert_counts(0, 0, 0);
	conn_add(9, 1, 10);
	/* All are taken now. */
	assert_int_equal(may_connect(10), MHD_YES);
	assert_counts(0, 0, 1);
	assert_true(is_ended(&conn[1]));
	assert_int_equal(n_ended(), 1);
}

static void where_all_are_known_one_that_waits_goes(void **state)
{
	(void)state;
	xp_places_add(&server.known, place_of(9));
	conn_add(1, 1, 10);
	conn_add(2, 1, 20);
	conn_add(3, 1, 30);
	/* None was answered. */
	assert_int_equal(may_connect(9), MHD_NO);
	assert_counts(0, 1, 0);
	conn[1].n_answered = conn[2].n_answered = conn[0].n_answered = 1;
	conn[0].phase = XP_HTTP_BODY;
	/* Not for a stranger. */
	assert_int_equal(may_connect(8), MHD_NO);
	assert_counts(0, 2, 0);
	assert_int_equal(n_ended(), 0);
	assert_int_equal(may_connect(9), MHD_YES);
	assert_counts(0, 2, 1);
	assert_true(is_ended(&conn[1]));
	assert_int_equal(n_ended(), 1);
	assert_int_equal(may_connect(9), MHD_YES);
	assert_counts(0, 2, 1);
}

/* --- for how long --------------------------------------------------------- */

static void each_phase_has_its_time(void **state)
{
	struct xp_http_conn *c = conn_add(1, 0, 0);
	(void)state;
	const uint64_t before = xp_http_now_ms();
	xp_http_set_phase(&server, c, XP_HTTP_IDLE);
	const uint64_t since = c->since_ms;
	assert_true(since >= before && since <= xp_http_now_ms());
	assert_int_equal(c->until_ms, since + 1000 * HEAD_S);
	/* A head has no more time than there was, nor more than a head has. */
	xp_http_set_phase(&server, c, XP_HTTP_RECEIVING);
	assert_int_equal(c->until_ms, since + 1000 * HEAD_S);
	c->until_ms = since + 100000;
	xp_http_set_phase(&server, c, XP_HTTP_RECEIVING);
	assert_true(c->until_ms >= since + 1000 * HEAD_S);
	assert_true(c->until_ms <= xp_http_now_ms() + 1000 * HEAD_S);
	assert_int_equal(c->since_ms, since);
	/* A body has as much more as bytes came of it. */
	xp_http_set_phase(&server, c, XP_HTTP_BODY);
	const uint64_t body = c->body_ms;
	assert_true(body >= since && body <= xp_http_now_ms());
	assert_int_equal(c->until_ms, body + 1000 * HEAD_S);
	c->n_body = 1023;
	xp_http_note_body(&server, c);
	assert_int_equal(c->until_ms, body + 1000 * HEAD_S + 999);
	c->n_body = 2048;
	xp_http_note_body(&server, c);
	assert_int_equal(c->until_ms, body + 1000 * HEAD_S + 2000);
	assert_int_equal(c->body_ms, body);
	/* But not more than all of a request has. */
	c->n_body = 1 << 20;
	xp_http_note_body(&server, c);
	assert_int_equal(c->until_ms, since + 1000 * RECEIVE_S);
	assert_int_equal(c->n_answered, 0);
	xp_http_set_phase(&server, c, XP_HTTP_SENDING);
	assert_int_equal(c->n_answered, 1);
	assert_int_equal(c->until_ms, c->since_ms + 1000 * SEND_S);
	/* Who was answered may wait as long as a request may take. */
	xp_http_set_phase(&server, c, XP_HTTP_IDLE);
	assert_int_equal(c->until_ms, c->since_ms + 1000 * RECEIVE_S);
	assert_int_equal(c->n_answered, 1);
	assert_false(c->is_known);
}

static void a_head_has_what_a_request_has_at_most(void **state)
{
	static const uint32_t head_s[][2] = {{0, RECEIVE_S}, {1, 1},
	    {RECEIVE_S, RECEIVE_S}, {RECEIVE_S + 1, RECEIVE_S}};
	struct xp_http_conn *c = conn_add(1, 0, 0);
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		server.params.head_s = head_s[i][0];
		xp_http_set_phase(&server, c, XP_HTTP_IDLE);
		assert_int_equal(c->until_ms,
		    c->since_ms + 1000 * head_s[i][1]);
	}
}

/* Behind TLS it has a certificate of ours, or nothing would be read. */
static void behind_tls_who_asks_is_known(void **state)
{
	struct xp_http_conn *c = conn_add(7, 0, 0);
	(void)state;
	server.tls = (struct xp_tls *)&server;
	xp_http_set_phase(&server, c, XP_HTTP_IDLE);
	assert_false(c->is_known);
	xp_http_set_phase(&server, c, XP_HTTP_RECEIVING);
	assert_true(c->is_known);
	assert_true(xp_places_has(&server.known, place_of(7)));
	assert_false(xp_places_has(&server.known, place_of(8)));
}

static void late_ones_go_and_are_counted(void **state)
{
	static const struct {
		enum xp_http_phase phase;
		int n_answered;
		unsigned late, head, body;
	} q[] = {{XP_HTTP_IDLE, 0, 1, 1, 0}, {XP_HTTP_IDLE, 1, 0, 0, 0},
	    {XP_HTTP_RECEIVING, 0, 1, 1, 0}, {XP_HTTP_RECEIVING, 1, 1, 1, 0},
	    {XP_HTTP_BODY, 0, 1, 0, 1}, {XP_HTTP_SENDING, 1, 1, 0, 0}};
	unsigned late = 0, head = 0, body = 0;
	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		struct xp_http_conn *c = conn_add(1, 0, 0);
		c->phase = q[i].phase;
		c->n_answered = q[i].n_answered;
		c->until_ms = UINT64_MAX;
	}
	xp_http_reap(&server);
	assert_int_equal(n_ended(), 0);
	for (unsigned i = 0; i < 6; i++) {
		conn[i].until_ms = i % 2 ? xp_http_now_ms() : 0;
		xp_http_reap(&server);
		/* Once. */
		xp_http_reap(&server);
		assert_true(is_ended(&conn[i]));
		assert_int_equal(n_ended(), i + 1);
		late += q[i].late;
		head += q[i].head;
		body += q[i].body;
		assert_int_equal(server.count[XP_HTTP_late], late);
		assert_int_equal(server.count[XP_HTTP_slow_heads], head);
		assert_int_equal(server.count[XP_HTTP_slow_bodies], body);
	}
}

static void one_that_does_something_keeps_it_busy(void **state)
{
	(void)state;
	assert_false(xp_http_is_busy(&server));
	conn_add(1, 0, 0);
	conn_add(1, 0, 0);
	conn_add(1, 0, 0);
	assert_false(xp_http_is_busy(&server));
	for (unsigned i = 0; i < 3; i++) {
		conn[i].phase = XP_HTTP_BODY;
		assert_true(xp_http_is_busy(&server));
		conn[i].phase = XP_HTTP_IDLE;
	}
}

/* --- who becomes known ---------------------------------------------------- */

/* The trial of a place, as if as much time had passed; NULL: it is on none. */
static struct xp_trial *trial_after(uint64_t place, uint64_t ms)
{
	for (size_t i = 0; i < 1 << 12; i++) {
		struct xp_trial *t = &server.trials.of[i];
		if (t->place != place || t->n_marks == 0)
			continue;
		t->marked_ms -= ms;
		t->last_ms -= ms;
		return t;
	}
	return NULL;
}

static void patience_makes_a_stranger_known(void **state)
{
	struct xp_http_conn *c = conn_add(7, 0, 0);
	(void)state;
	for (int i = 0; i < XP_TRIAL_MARKS; i++) {
		assert_false(c->is_known);
		if (i > 0)
			assert_non_null(
			    trial_after(c->place, 1000 * XP_TRIAL_APART_S));
		xp_http_note_batch(&server, c, topo_ip_of_4(7));
	}
	assert_true(c->is_known);
	assert_true(xp_places_has(&server.known, c->place));
}

static void batches_of_others_show_nothing(void **state)
{
	struct xp_http_conn *c = conn_add(7, 0, 0);
	(void)state;
	/* Of another address than its own. */
	xp_http_note_batch(&server, c, topo_ip_of_4(8));
	assert_null(trial_after(c->place, 0));
	/* Where an operator says who is known. */
	assert_ok(algo_pinglist_allow_nets(&server.params.known, "10.0.0.0/8",
	    test_err()));
	xp_http_note_batch(&server, c, topo_ip_of_4(7));
	assert_null(trial_after(c->place, 0));
	server.params.known.n_nets = 0;
	/* Who is known already. */
	c->is_known = 1;
	xp_http_note_batch(&server, c, topo_ip_of_4(7));
	assert_null(trial_after(c->place, 0));
	c->is_known = 0;
	xp_http_note_batch(&server, c, topo_ip_of_4(7));
	assert_non_null(trial_after(c->place, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, conn_open, conn_close)
	    T(an_address_has_so_many),
	    T(a_stranger_goes_for_one_more),
	    T(a_known_one_has_what_is_reserved),
	    T(where_all_are_known_one_that_waits_goes),
	    T(each_phase_has_its_time),
	    T(a_head_has_what_a_request_has_at_most),
	    T(behind_tls_who_asks_is_known),
	    T(late_ones_go_and_are_counted),
	    T(one_that_does_something_keeps_it_busy),
	    T(patience_makes_a_stranger_known),
	    T(batches_of_others_show_nothing),
	};
	return cmocka_run_group_tests_name("experiments/live/mhd_conn", tests,
	    NULL, NULL);
}
