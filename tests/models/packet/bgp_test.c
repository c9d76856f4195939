/* tests/models/packet/bgp_test.c -- models/packet/bgp: sessions that flap or not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/packet/bgp.h"

#include "tests/rigs/law.h"
#include "tests/test.h"
#include "topo/addr.h"

static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 4,
    .n_hosts = 2};

/* A reader of both directions, who knows TCP and nothing of the model. */
struct reader {
	const struct topo *topo;
	topo_link link;
	int side_of_link; /* of the packet seen: 0 if by `link` */
	int is_up, knows[2];
	uint32_t next[2]; /* sequence number that each side sends next */
	uint16_t port[2];
	sim_ns last;
	uint32_t n_syns, n_rsts, n_fins, n_keepalives;
	uint64_t n;
	int refuse;
};

static int see(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	struct reader *w = arg;
	const int i = in != w->link;
	topo_node from, to;
	topo_link_ends(w->topo, in, &from, &to);
	assert_true(in == w->link || in == topo_link_reverse(w->link));
	assert_int_equal(to, w->topo->n_hosts + at);
	assert_int_equal(p->ip.dst_ip, topo_addr_of_switch(at));
	assert_int_equal(p->ip.src_ip,
	    topo_addr_of_switch(from - w->topo->n_hosts));
	assert_true(
	    (p->src_port == OBS_PORT_BGP) != (p->dst_port == OBS_PORT_BGP));
	assert_int_equal(p->digest, (uint64_t)p->seq << 32 | p->ack);
	assert_true(t >= w->last);
	w->last = t;
	w->n++;
	const int syn = (p->tcp_flags & OBS_TCP_SYN) != 0;
	const int first = syn && !(p->tcp_flags & OBS_TCP_ACK);
	if (first) {
		w->knows[0] = w->knows[1] = 0;
		w->port[i] = p->src_port;
		w->port[!i] = p->dst_port;
		assert_int_equal(p->dst_port, OBS_PORT_BGP);
	} else if (w->port[0]) {
		assert_int_equal(p->src_port, w->port[i]);
		assert_int_equal(p->dst_port, w->port[!i]);
	}
	if (w->knows[i])
		assert_int_equal(p->seq, w->next[i]);
	if (w->knows[!i] && p->tcp_flags & OBS_TCP_ACK)
		assert_int_equal(p->ack, w->next[!i]);
	const int fin = (p->tcp_flags & OBS_TCP_FIN) != 0;
	w->knows[i] = 1;
	w->next[i] = p->seq + (p->n_bytes - 54) + (uint32_t)(syn + fin);
	w->n_syns += (uint32_t)first;
	w->n_fins += (uint32_t)fin;
	w->n_rsts += (p->tcp_flags & OBS_TCP_RST) != 0;
	w->n_keepalives += p->n_bytes == 54 + 19;
	return w->refuse >= 0 && w->refuse-- == 0
	    ? sim_fail(e, SIM_EIO, "Enough.")
	    : 0;
}

static struct packet_bgp_params params(void)
{
	struct packet_bgp_params p;
	assert_ok(sim_field_defaults(packet_bgp_fields, &p, test_err()));
	return p;
}

static void run(struct reader *w, const struct packet_bgp_params *p,
    struct packet_bgp_session s, unsigned number, struct packet_bgp_end *end)
{
	struct topo t = {0};
	struct sim_rng r;
	const struct packet_eye eye = {w, see};
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	s.link = topo_clos_link_tor(&t.clos, 4, 1, number % 2);
	*w = (struct reader){.topo = &t, .link = s.link, .refuse = -1};
	test_rng(&r, number);
	assert_ok(packet_bgp_run(&t, p, &s, &r, &eye, end, test_err()));
	assert_int_equal(end->n_packets, w->n);
	assert_true(w->last < s.until_ns);
	topo_close(&t);
}

/* A session that is up and left alone sends keepalives, each side one in 0.875
 * keepalive times on average, and nothing else. */
static void a_session_that_is_up_stays_up(void **state)
{
	const struct packet_bgp_params p = params();
	struct law_mean keepalives = {0};
	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		struct reader w;
		struct packet_bgp_end end;
		run(&w, &p,
		    (struct packet_bgp_session){.until_ns = 600 * SIM_SEC}, i,
		    &end);
		assert_int_equal(w.n_syns + w.n_rsts + w.n_fins, 0);
		assert_int_equal(end.n_opens + end.n_downs, 0);
		/* Each is acknowledged, but perhaps the last. */
		assert_in_range(2 * w.n_keepalives - w.n, 0, 1);
		law_add(&keepalives, w.n_keepalives);
	}
	/* Renewals of uniform waits, first one included: n / mean - 1/2 + a
	 * little for their variance. */
	const double each = 0.875 * 3;
	const double var = 3 * 0.25 / sqrt(12) * (3 * 0.25 / sqrt(12));
	const double n = 600 / each + (var / each / each - 1) / 2;
	assert_near(law_mean(&keepalives) / 2, n, 0.2);
}

static void what_flaps_goes_down_and_comes_again(void **state)
{
	(void)state;
	for (uint32_t way = 0; way < 2; way++) {
		struct packet_bgp_params p = params();
		struct law_mean downs = {0};
		p.way = way;
		for (unsigned i = 0; i < 300; i++) {
			struct reader w;
			struct packet_bgp_end end;
			run(&w, &p,
			    (struct packet_bgp_session){.until_ns =
							    200 * SIM_SEC,
				.flap_from_ns = 50 * SIM_SEC,
				.flap_to_ns = 150 * SIM_SEC},
			    i, &end);
			assert_int_equal(w.n_syns, end.n_opens);
			assert_in_range(end.n_downs - end.n_opens, 0, 1);
			assert_int_equal(way == 0 ? w.n_rsts : w.n_fins / 2,
			    end.n_downs);
			assert_int_equal(way == 0 ? w.n_fins : w.n_rsts, 0);
			law_add(&downs, end.n_downs);
		}
		/* An alternating renewal process of exponential times up, of
		 * mean u, and down, of mean d, that begins up goes down
		 * T / (u + d) + (d / (u + d))^2 (1 - e^(-T (1/u + 1/d))) times.
		 */
		const double want = 100. / 5 + 1. / 25;
		assert_true(fabs(law_z(&downs, want)) < 4.5);
	}
}

/* One that opens has a handshake first, and is then like any other. */
static void a_session_may_open(void **state)
{
	const struct packet_bgp_params p = params();
	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		struct reader w;
		struct packet_bgp_end end;
		run(&w, &p,
		    (struct packet_bgp_session){.opens = 1,
			.from_ns = 5 * SIM_SEC,
			.until_ns = 60 * SIM_SEC},
		    i, &end);
		assert_int_equal(w.n_syns, 1);
		assert_int_equal(w.n_rsts + w.n_fins, 0);
		assert_int_equal(end.n_opens, 1);
	}
}

static void errors_are_told(void **state)
{
	struct topo t = {0};
	const struct packet_bgp_params p = params();
	struct packet_bgp_session s = {.opens = 1, .until_ns = SIM_SEC};
	struct packet_bgp_end end;
	struct reader w = {.topo = &t};
	const struct packet_eye eye = {&w, see};
	struct sim_err e;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	assert_int_equal(packet_bgp_run(&t, &p, &s, &r, &eye, &end, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "link 0 ends at a host, which has no BGP session.");
	s.link = topo_clos_link_tor(&t.clos, 4, 1, TOPO_UP);
	s.until_ns = SIM_NEVER;
	assert_int_equal(packet_bgp_run(&t, &p, &s, &r, &eye, &end, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg, "the BGP session over link 42 has no end.");
	s.until_ns = 100 * SIM_SEC;
	s.flap_to_ns = 100 * SIM_SEC;
	for (int n = 0; n < 80; n++) {
		w = (struct reader){.topo = &t, .link = s.link, .refuse = n};
		assert_int_equal(packet_bgp_run(&t, &p, &s, &r, &eye, &end, &e),
		    SIM_EIO);
	}
	topo_close(&t);
}

/* --- packet by packet ------------------------------------------------------ */

enum { KEPT = 4096 };

struct kept {
	topo_link link;
	size_t n;
	struct obs_packet p[KEPT];
	sim_ns t[KEPT];
	uint8_t side[KEPT]; /* who sent it: 0 if over `link` */
};

static int keep(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	struct kept *k = arg;
	(void)at, (void)e;
	assert_true(k->n < KEPT);
	k->p[k->n] = *p;
	k->t[k->n] = t;
	k->side[k->n++] = in != k->link;
	return 0;
}

static void keep_all(struct kept *k, const struct packet_bgp_params *p,
    struct packet_bgp_session s, unsigned number, struct packet_bgp_end *end)
{
	struct topo t = {0};
	struct sim_rng r;
	const struct packet_eye eye = {k, keep};
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	k->link = s.link = topo_clos_link_t1(&t.clos, 1, 2, TOPO_UP);
	k->n = 0;
	test_rng(&r, number);
	assert_ok(packet_bgp_run(&t, p, &s, &r, &eye, end, test_err()));
	assert_int_equal(end->n_packets, k->n);
	for (size_t i = 0; i < k->n; i++) {
		const struct obs_packet *x = &k->p[i];
		assert_int_equal(x->ethertype, OBS_ETH_IPV4);
		assert_int_equal(x->ip.proto, TOPO_PROTO_TCP);
		assert_int_equal(x->ip.ttl, 64);
		assert_int_equal(x->ip.tos, 48 << 2);
		assert_int_equal(x->tcp_flags & OBS_TCP_PSH,
		    x->n_bytes > 54 ? OBS_TCP_PSH : 0);
		/* Each side counts its own packets. */
		for (size_t b = i; b-- > 0;)
			if (k->side[b] == k->side[i]) {
				assert_int_equal((uint16_t)(k->p[b].ip.id + 1),
				    x->ip.id);
				break;
			}
	}
	topo_close(&t);
}

/* Packet I and those behind it, 20 us each after the one before. Returns the
 * index of the next. */
static size_t assert_packets(const struct kept *k, size_t i, unsigned n,
    const int side[], const unsigned flags[], const unsigned bytes[])
{
	assert_true(i + n <= k->n);
	for (unsigned j = 0; j < n; j++) {
		assert_int_equal(k->side[i + j], side[j]);
		assert_int_equal(k->p[i + j].tcp_flags & ~OBS_TCP_PSH,
		    flags[j]);
		assert_int_equal(k->p[i + j].n_bytes, 54 + bytes[j]);
		if (j > 0)
			assert_int_equal(k->t[i + j] - k->t[i + j - 1],
			    20 * SIM_US);
	}
	return i + n;
}

static size_t assert_exchange(const struct kept *k, size_t i, unsigned bytes)
{
	return assert_packets(k, i, 4, (int[]){0, 1, 1, 0},
	    (unsigned[]){OBS_TCP_ACK, OBS_TCP_ACK, OBS_TCP_ACK, OBS_TCP_ACK},
	    (unsigned[]){bytes, 0, bytes, 0});
}

/* A handshake, an OPEN and a KEEPALIVE each way. */
static size_t assert_opens(const struct kept *k, size_t i)
{
	const int caller = k->side[i];
	assert_in_range(k->p[i].src_port, 49152, 65535);
	assert_int_equal(k->p[i].dst_port, OBS_PORT_BGP);
	assert_int_equal(k->p[i].ack, 0);
	i = assert_packets(k, i, 3, (int[]){caller, !caller, caller},
	    (unsigned[]){OBS_TCP_SYN, OBS_TCP_SYN | OBS_TCP_ACK, OBS_TCP_ACK},
	    (unsigned[]){0, 0, 0});
	i = assert_exchange(k, i, 45);
	assert_int_equal(k->t[i] - k->t[i - 1], 20 * SIM_US);
	return assert_exchange(k, i, 19);
}

/* Down it goes; then who goes on, and where. */
static size_t assert_goes_down(const struct kept *k, size_t i, uint32_t way)
{
	const int by = k->side[i];
	if (way == PACKET_BGP_RESET)
		return assert_packets(k, i, 1, (int[]){by},
		    (unsigned[]){OBS_TCP_RST | OBS_TCP_ACK}, (unsigned[]){0});
	return assert_packets(k, i, 3, (int[]){by, by, !by},
	    (unsigned[]){OBS_TCP_ACK, OBS_TCP_FIN | OBS_TCP_ACK,
		OBS_TCP_FIN | OBS_TCP_ACK},
	    (unsigned[]){21, 0, 0});
}

/* Every packet is of an opening, of keepalives in time, or of an end within the
 * time that flaps; callers and those who end are both sides. */
static void a_session_is_what_its_grammar_says(void **state)
{
	static struct kept k;
	unsigned calls[2] = {0}, ends[2] = {0};
	(void)state;
	for (unsigned number = 0; number < 20; number++) {
		struct packet_bgp_params p = params();
		struct packet_bgp_end end;
		uint32_t n_downs = 0, n_opens = 0;
		int is_up = 0;
		size_t i = 0;
		p.way = number % 2;
		keep_all(&k, &p,
		    (struct packet_bgp_session){.opens = 1,
			.from_ns = 7 * SIM_SEC,
			.until_ns = 90 * SIM_SEC,
			.flap_from_ns = 20 * SIM_SEC,
			.flap_to_ns = 60 * SIM_SEC},
		    number, &end);
		assert_int_equal(k.t[0], 7 * SIM_SEC);
		/* What the end cuts off is short of one piece. */
		while (i + 12 < k.n) {
			const sim_ns since =
			    k.t[i] - (i > 0 ? k.t[i - 1] : k.t[i]);
			if (!is_up) {
				calls[k.side[i]]++;
				i = assert_opens(&k, i);
				n_opens++;
				is_up = 1;
			} else if (k.p[i].n_bytes == 54 + 19) {
				/* 20 us behind the last, and 1 ns. */
				assert_in_range(since - 20 * SIM_US,
				    3 * SIM_SEC * 3 / 4, 3 * SIM_SEC + 1);
				i = assert_exchange(&k, i, 19);
			} else {
				assert_in_range(k.t[i], 20 * SIM_SEC,
				    60 * SIM_SEC - 1);
				ends[k.side[i]]++;
				i = assert_goes_down(&k, i, p.way);
				n_downs++;
				is_up = 0;
			}
		}
		assert_true(n_opens > 1);
		assert_int_equal(n_opens, end.n_opens);
		assert_int_equal(n_downs, end.n_downs);
	}
	assert_true(calls[0] > 0 && calls[1] > 0);
	assert_true(ends[0] > 0 && ends[1] > 0);
}

/* A time to flap that is none, or is over, is the same as none at all. */
static void one_that_need_not_flap_does_not(void **state)
{
	static struct kept k, plain;
	const struct packet_bgp_params p = params();
	static const sim_ns none[][2] = {{0, 0}, {5 * SIM_SEC, 5 * SIM_SEC},
	    {30 * SIM_SEC, 9 * SIM_SEC}, {0, 10 * SIM_SEC}};
	struct packet_bgp_session s = {.from_ns = 10 * SIM_SEC,
	    .until_ns = 60 * SIM_SEC};
	struct packet_bgp_end end;
	(void)state;
	keep_all(&plain, &p, s, 1, &end);
	for (size_t i = 0; i < 4; i++) {
		s.flap_from_ns = none[i][0];
		s.flap_to_ns = none[i][1];
		keep_all(&k, &p, s, 1, &end);
		assert_int_equal(end.n_downs + end.n_opens, 0);
		assert_int_equal(k.n, plain.n);
		assert_memory_equal(k.t, plain.t, k.n * sizeof(k.t[0]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_session_that_is_up_stays_up),
	    cmocka_unit_test(what_flaps_goes_down_and_comes_again),
	    cmocka_unit_test(a_session_may_open),
	    cmocka_unit_test(errors_are_told),
	    cmocka_unit_test(a_session_is_what_its_grammar_says),
	    cmocka_unit_test(one_that_need_not_flap_does_not),
	};
	return cmocka_run_group_tests_name("models/packet/bgp", tests, NULL,
	    NULL);
}
