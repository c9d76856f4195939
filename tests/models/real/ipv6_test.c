/* tests/models/real/ipv6_test.c -- connects by IPv6 over loopback, beside IPv4.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hosts are ::1 and 127.0.0.1, at the same port: one of IPv6 that took IPv4, too,
 * would leave the other none.
 */
#include <arpa/inet.h>
#include <unistd.h>

#include "tests/rigs/loopback.h"

enum { SIX, FOUR };

static struct topo_ip_book book;
static uint32_t self; /* ::1 by its number */

static int has_six(void)
{
	const struct sockaddr_in6 at = {.sin6_family = AF_INET6,
	    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int has =
	    fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0;
	if (fd >= 0)
		close(fd);
	return has;
}

/* A port that is free of IPv4 may be somebody's of IPv6, so several are tried. */
static void open_both(struct loop *g)
{
	const struct topo_ip one = {{[15] = 1}};
	int rc = -1;
	if (!has_six())
		skip();
	assert_ok(topo_ip_book_open(&book, 4, test_err()));
	self = topo_ip_book_note(&book, &one);
	const struct fabric_real_host host[] = {{self, -1},
	    {INADDR_LOOPBACK, -1}};
	for (int i = 0; i < 5 && rc < 0; i++) {
		loop_defaults(g);
		g->p.port[0] = loop_free_port();
		g->p.n_classes = 1;
		g->p.dscp[0] = 10;
		g->p.book = &book;
		rc = fabric_real_open(&g->f, host, 2, &g->p, test_err());
	}
	assert_ok(rc);
	g->base = fabric_real_fabric(g->f);
}

static void close_both(struct loop *g)
{
	fabric_real_close(g->f);
	topo_ip_book_close(&book);
}

static void probe(struct loop *g, topo_host from, uint32_t src, uint32_t dst,
    uint16_t port, uint32_t n_bytes)
{
	const struct agent_action a = {.kind = AGENT_CONNECT,
	    .token = g->next_port,
	    .n_bytes = n_bytes,
	    .tuple = {src, dst, g->next_port++, port, TOPO_PROTO_TCP}};
	loop_act(g, from, &a);
}

static void each_family_is_heard_by_its_own_host(void **state)
{
	struct loop g;
	(void)state;
	open_both(&g);
	for (topo_host h = SIX; h <= FOUR; h++) {
		const uint32_t ip = h == SIX ? self : INADDR_LOOPBACK;
		probe(&g, h, ip, ip, g.p.port[0], 1000);
		loop_await(&g, AGENT_PING_REQUEST);
		assert_int_equal(g.host, h);
		assert_int_equal(g.ev.n, 1000);
		const struct agent_action a = {.kind = AGENT_ANSWER,
		    .token = g.ev.token,
		    .n_bytes = 1000};
		loop_act(&g, h, &a);
		loop_await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.host, h);
		assert_int_equal(g.ev.outcome, AGENT_CONNECTED);
		assert_true(g.ev.rtt_ns > 0 && g.ev.echo_ns > 0);
	}
	close_both(&g);
}

static void a_closed_port_of_ipv6_refuses(void **state)
{
	struct loop g;
	(void)state;
	open_both(&g);
	/* Nobody may listen at 1, which takes a right. */
	probe(&g, SIX, self, self, 1, 0);
	loop_await(&g, AGENT_CONNECT_DONE);
	assert_int_equal(g.ev.outcome, AGENT_REFUSED);
	close_both(&g);
}

/* No socket leads from one family to the other, and a number that is swept out leads
 * nowhere: nothing is sent, and no loss is seen. */
static void what_cannot_be_sent_is_no_loss(void **state)
{
	struct loop g;
	(void)state;
	open_both(&g);
	const uint32_t nowhere[] = {INADDR_LOOPBACK, self + 1};
	for (int i = 0; i < 2; i++) {
		probe(&g, SIX, self, nowhere[i], g.p.port[0], 0);
		loop_await(&g, AGENT_CONNECT_DONE);
		assert_int_equal(g.ev.outcome, AGENT_FAILED);
	}
	assert_int_equal(loop_count(&g)->n_timeouts, 0);
	close_both(&g);
}

static void paths_are_of_ipv4_and_that_is_said(void **state)
{
	struct loop g;
	struct sim_err e;
	(void)state;
	open_both(&g);
	const struct agent_action a = {.kind = AGENT_PROBE,
	    .ttl = 1,
	    .tuple = {self, self, 1, 2, TOPO_PROTO_TCP}};
	assert_int_equal(g.base->caps.can_probe_ttl, 0);
	assert_int_equal(g.base->ops->submit(g.base, SIX, &a, 1, &e),
	    SIM_EUNSUPPORTED);
	assert_non_null(strstr(e.msg, "by IPv4 alone"));
	close_both(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_family_is_heard_by_its_own_host),
	    cmocka_unit_test(a_closed_port_of_ipv6_refuses),
	    cmocka_unit_test(what_cannot_be_sent_is_no_loss),
	    cmocka_unit_test(paths_are_of_ipv4_and_that_is_said),
	};
	return cmocka_run_group_tests_name("models/real (IPv6)", tests, NULL,
	    NULL);
}
