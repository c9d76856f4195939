/* tests/algos/everflow/check_test.c -- copies of one packet tell its way.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Packets go by models/packet/walk.h, so that what they should look like is not
 * said twice.
 */
#include "algos/everflow/check.h"

#include "models/obs_guided.h"
#include "models/packet/walk.h"
#include "tests/rigs/copies.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"
#include "topo/next.h"

enum { MAX_HOPS = 64 };

/* A packet's trace as it should be in the end. */
struct whole {
	struct algo_trace t;
	struct algo_hop hop[MAX_HOPS];
	unsigned n;
};

struct fixture {
	struct scenes s;
	struct scene *scene;
	struct algo_check check;
};

static void setup(struct fixture *f)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 3,
	    .n_hosts = 4};
	scenes_open(&f->s, &shape);
	f->scene = scenes_draw(&f->s, 0);
	const struct algo_routing r = {&f->s.topo, f->scene->ecmp_seed, 1};
	assert_ok(algo_check_open(&f->check, &r, test_err()));
}

static void teardown(struct fixture *f)
{
	algo_check_close(&f->check);
	scenes_close(&f->s);
}

/* --- ways ------------------------------------------------------------------*/
static struct algo_hop hop_of(const struct obs_copy *c)
{
	return (struct algo_hop){.t_ns = c->t_ns,
	    .node = c->node,
	    .in_link = c->in_link,
	    .outer_src = c->outer_src,
	    .outer_dst = c->outer_dst,
	    .layer = c->layer,
	    .ttl = c->ttl,
	    .ttl_in = c->ttl_in,
	    .tos = c->tos};
}

static int see(void *arg, topo_switch at, topo_link in, sim_ns t,
    const struct obs_packet *p, struct sim_err *e)
{
	(void)e;
	struct whole *w = arg;
	struct obs_copy c = obs_copy_of(p);
	c.node = at;
	c.in_link = in;
	c.t_ns = t;
	assert_true(w->n < MAX_HOPS);
	w->hop[w->n++] = hop_of(&c);
	return 0;
}

static void walk(const struct fixture *f, const struct obs_packet *p,
    topo_host from, struct whole *w)
{
	const struct packet_net net = {.walk = {.topo = &f->s.topo,
					   .scene = f->scene,
					   .lossless = 1},
	    .hop_us = 1};
	const struct packet_eye eye = {w, see};
	struct packet_end end;
	struct sim_rng r;
	test_rng(&r, 1);
	*w = (struct whole){.t = {.src_ip = p->ip.src_ip,
				.dst_ip = p->ip.dst_ip,
				.src_port = p->src_port,
				.dst_port = p->dst_port,
				.proto = p->ip.proto}};
	if (p->ip.tos & OBS_TOS_DEBUG)
		w->t.marks = ALGO_TRACE_DEBUG;
	assert_ok(packet_walk(&net, p, from, 0, &r, &eye, &end, test_err()));
	w->t.n_hops = (uint16_t)w->n;
}

static struct obs_packet packet(uint32_t src_ip, uint32_t dst_ip, uint16_t port)
{
	return (struct obs_packet){.ethertype = OBS_ETH_IPV4,
	    .ip = {.src_ip = src_ip,
		.dst_ip = dst_ip,
		.ttl = 64,
		.proto = TOPO_PROTO_TCP},
	    .src_port = port,
	    .dst_port = 80,
	    .n_bytes = 100};
}

/* A plain packet between two hosts. */
static topo_host any_packet(const struct fixture *f, struct sim_rng *r,
    struct obs_packet *p)
{
	const uint32_t n = f->s.topo.n_hosts;
	const topo_host src = sim_rng_below(r, n);
	const topo_host dst = (src + 1 + sim_rng_below(r, n - 1)) % n;
	*p = packet(topo_addr_of_host(src), topo_addr_of_host(dst),
	    (uint16_t)sim_rng_below(r, 65536));
	return src;
}

/* A guided probe by up to three switches, each next to the one before, as from
 * S1 to S2 and back; behind them to the host, or it ends. */
static topo_host any_probe(const struct fixture *f, struct sim_rng *r,
    struct obs_packet *p)
{
	const struct topo *t = &f->s.topo;
	const topo_host src = any_packet(f, r, p);
	const unsigned n = 1 + sim_rng_below(r, OBS_MAX_VIA);
	topo_switch via = sim_rng_below(r, t->n_switches);
	p->ip.tos = OBS_TOS_DEBUG;
	if (sim_rng_below(r, 2))
		p->ip.dst_ip = 0;
	for (unsigned i = 0; i < n; i++) {
		topo_node from, to = t->n_hosts;
		p->outer[p->n_outer++] = (struct obs_ip){.src_ip = p->ip.src_ip,
		    .dst_ip = topo_addr_of_switch(via),
		    .ttl = (uint8_t)(60 - 5 * i),
		    .proto = OBS_PROTO_IPIP};
		do {
			topo_link_ends(t, sim_rng_below(r, t->n_links), &from,
			    &to);
		} while (from != t->n_hosts + via || to < t->n_hosts);
		via = to - t->n_hosts;
	}
	return src;
}

/* The original to a VIP and the copy that a mux in MUX sends on to DIP: the
 * first as if it went to the mux. */
static void mux_way(const struct fixture *f, topo_host src, topo_host mux,
    topo_host dip, struct whole *w)
{
	struct obs_copy c[TOPO_MAX_HOPS], p = copies_packet(src, mux, 5000, 7);
	p.dst_ip = topo_addr_of_vip(3);
	*w = (struct whole){.t = {.src_ip = p.src_ip,
				.dst_ip = p.dst_ip,
				.src_port = p.src_port,
				.dst_port = p.dst_port,
				.proto = p.proto}};
	unsigned n = copies_between(&f->s.topo, &p, src, mux, 0, c);
	for (unsigned i = 0; i < n; i++)
		w->hop[w->n++] = hop_of(&c[i]);
	p.layer = 1;
	p.outer_src = topo_addr_of_host(mux);
	p.outer_dst = topo_addr_of_host(dip);
	p.ttl_in = (uint8_t)(p.ttl - n);
	n = copies_of(&f->s.topo, &p, 50000, c);
	for (unsigned i = 0; i < n; i++)
		w->hop[w->n++] = hop_of(&c[i]);
	w->t.n_hops = (uint16_t)w->n;
}

static void shuffle(struct algo_hop hop[], unsigned n, struct sim_rng *r)
{
	for (unsigned i = n; i-- > 1;) {
		const unsigned k = sim_rng_below(r, i + 1);
		const struct algo_hop x = hop[i];
		hop[i] = hop[k];
		hop[k] = x;
	}
}

/* Check the hops of W whose bit is in KEEP, in any order. */
static struct whole checked(const struct fixture *f, const struct whole *w,
    uint64_t keep, struct sim_rng *r)
{
	struct whole out = {.t = w->t};
	for (unsigned i = 0; i < w->n; i++)
		if (keep >> i & 1)
			out.hop[out.n++] = w->hop[i];
	out.t.n_hops = (uint16_t)out.n;
	shuffle(out.hop, out.n, r);
	algo_check_trace(&f->check, &out.t, out.hop);
	return out;
}

static void assert_hops(const struct whole *got, const struct whole *want,
    uint64_t keep)
{
	unsigned n = 0;
	for (unsigned i = 0; i < want->n; i++)
		if (keep >> i & 1)
			assert_memory_equal(&got->hop[n++], &want->hop[i],
			    sizeof(got->hop[0]));
	assert_int_equal(got->t.n_hops, n);
}

/* The whole way of a packet that is drawn. */
static void walk_any(struct fixture *f, struct sim_rng *r, int guided,
    struct whole *w)
{
	struct obs_packet p;
	const topo_host src =
	    guided ? any_probe(f, r, &p) : any_packet(f, r, &p);
	walk(f, &p, src, w);
}

/* --- tests -----------------------------------------------------------------*/
static void a_whole_way_is_complete_and_in_order(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_rng r;
	setup(&f);
	test_rng(&r, 0);
	for (unsigned run = 0; run < 2000; run++) {
		const int guided = run % 2;
		struct whole w;
		walk_any(&f, &r, guided, &w);
		const struct whole got = checked(&f, &w, UINT64_MAX, &r);
		assert_hops(&got, &w, UINT64_MAX);
		assert_int_equal(got.t.marks,
		    ALGO_TRACE_COMPLETE |
			(guided ? ALGO_TRACE_DEBUG | ALGO_TRACE_PROBE |
				    ALGO_TRACE_ENCAP
				: 0));
		assert_int_equal(got.t.n_lost + got.t.n_same, 0);
		assert_int_equal(got.t.last_node, w.hop[w.n - 1].node);
		assert_int_equal(got.t.lost_link, TOPO_NONE);
	}
	teardown(&f);
}

/* The link by which a packet leaves hop I, as far as headers tell. */
static topo_link leaves_by(const struct whole *w, unsigned i)
{
	const struct algo_hop *h = &w->hop[i];
	const int ends_here =
	    h->layer > 1 && topo_addr_of_switch(h->node) == h->outer_dst;
	return ends_here ? TOPO_NONE : w->hop[i + 1].in_link;
}

static void what_is_missing_is_told_for_every_subset(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_rng r;
	setup(&f);
	test_rng(&r, 1);
	for (unsigned run = 0; run < 200; run++) {
		const int guided = run % 2;
		struct whole w;
		walk_any(&f, &r, guided, &w);
		if (w.n > 10)
			continue;
		for (uint64_t keep = 1; keep < UINT64_C(1) << w.n; keep++) {
			const struct whole got = checked(&f, &w, keep, &r);
			unsigned first = 0, last = 0, n = 0;
			for (unsigned i = w.n; i-- > 0;)
				first = keep >> i & 1 ? i : first;
			for (unsigned i = 0; i < w.n; i++) {
				last = keep >> i & 1 ? i : last;
				n += keep >> i & 1;
			}
			assert_hops(&got, &w, keep);
			const int drop = last + 1 < w.n;
			const unsigned gaps = last - first + 1 - n;
			assert_int_equal((got.t.marks & ALGO_TRACE_SUSPECT) !=
				0,
			    drop);
			assert_int_equal(got.t.lost_link,
			    drop ? leaves_by(&w, last) : TOPO_NONE);
			assert_int_equal(got.t.last_node, w.hop[last].node);
			assert_int_equal((got.t.marks & ALGO_TRACE_COMPLETE) !=
				0,
			    n == w.n);
			assert_false(got.t.marks & ALGO_TRACE_LOOP);
			/* Where layers change at most one is sure. */
			if (!guided)
				assert_int_equal(got.t.n_lost,
				    gaps + (first > 0));
			assert_true(got.t.n_lost <= gaps + (first > 0));
			assert_true(
			    (got.t.n_lost > 0) == (gaps + (first > 0) > 0));
		}
	}
	teardown(&f);
}

static void duplicates_change_nothing_but_their_number(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_rng r;
	setup(&f);
	test_rng(&r, 2);
	for (unsigned run = 0; run < 300; run++) {
		struct whole w, twice;
		struct obs_packet p;
		const topo_host src = any_probe(&f, &r, &p);
		walk(&f, &p, src, &w);
		const uint64_t keep = 1 + sim_rng_below(&r, (1u << w.n) - 1);
		const struct whole want = checked(&f, &w, keep, &r);
		twice = want;
		twice.t.marks &= ALGO_TRACE_DEBUG;
		twice.n = want.t.n_hops;
		for (unsigned i = 0; i < 5; i++) {
			twice.hop[twice.n] =
			    want.hop[sim_rng_below(&r, want.t.n_hops)];
			twice.hop[twice.n++].t_ns += 1 + i;
		}
		struct whole got = checked(&f, &twice, UINT64_MAX, &r);
		assert_int_equal(got.t.n_same, 5);
		got.t.n_same = 0;
		assert_memory_equal(&got.t, &want.t, sizeof(want.t));
		assert_memory_equal(got.hop, want.hop,
		    want.t.n_hops * sizeof(want.hop[0]));
	}
	teardown(&f);
}

/* Copies of one switch, of which some came under another header: the earliest of
 * each header is kept. */
static void copies_of_two_headers_are_two(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	struct algo_trace t = {.n_hops = 4};
	struct algo_hop hop[4];
	for (unsigned i = 0; i < 4; i++)
		hop[i] = (struct algo_hop){.node = 3,
		    .layer = 1,
		    .ttl = 60,
		    .outer_dst = i % 2 ? 7 : 9,
		    .t_ns = 100 - i};
	algo_check_trace(&f.check, &t, hop);
	assert_int_equal(t.n_hops, 2);
	assert_int_equal(t.n_same, 2);
	assert_int_equal(hop[0].outer_dst, 7);
	assert_int_equal(hop[0].t_ns, 97);
	assert_int_equal(hop[1].outer_dst, 9);
	assert_int_equal(hop[1].t_ns, 98);
	teardown(&f);
}

static void a_mux_is_no_loop(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_rng r;
	setup(&f);
	test_rng(&r, 3);
	for (unsigned run = 0; run < 300; run++) {
		struct whole w;
		const topo_host src = sim_rng_below(&r, 12),
				dip = sim_rng_below(&r, 12);
		mux_way(&f, src, 12 + sim_rng_below(&r, 12), dip, &w);
		const struct whole got = checked(&f, &w, UINT64_MAX, &r);
		assert_hops(&got, &w, UINT64_MAX);
		assert_int_equal(got.t.marks,
		    ALGO_TRACE_COMPLETE | ALGO_TRACE_ENCAP | ALGO_TRACE_MUX);
	}
	teardown(&f);
}

static void what_a_mux_swallows_is_suspected(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_rng r;
	struct whole w;
	setup(&f);
	test_rng(&r, 4);
	mux_way(&f, 0, 12, 20, &w);
	assert_int_equal(w.hop[4].layer, 0);
	assert_int_equal(w.hop[5].layer, 1);
	struct whole got = checked(&f, &w, 0x1f, &r);
	assert_int_equal(got.t.marks, ALGO_TRACE_SUSPECT);
	assert_int_equal(got.t.lost_link, TOPO_NONE);
	/* Its ToR's copy of the original is missing, and it shows. */
	got = checked(&f, &w, UINT64_MAX & ~0x10u, &r);
	assert_int_equal(got.t.n_lost, 1);
	assert_int_equal(got.t.marks, ALGO_TRACE_ENCAP | ALGO_TRACE_MUX);
	teardown(&f);
}

static void what_goes_round_loops_with_headers_or_without(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_rng r;
	struct whole w, again;
	setup(&f);
	test_rng(&r, 5);
	mux_way(&f, 0, 12, 20, &w);
	/* The host behind the mux sends it back there: all again, but for what
	 * came before the mux, with less of the innermost TTL. */
	again = w;
	for (unsigned i = 5; i < w.n; i++) {
		struct algo_hop *h = &again.hop[again.n++];
		*h = w.hop[i];
		h->ttl_in -= 3;
	}
	struct whole got = checked(&f, &again, UINT64_MAX, &r);
	assert_int_equal(got.t.marks & ~ALGO_TRACE_COMPLETE,
	    ALGO_TRACE_LOOP | ALGO_TRACE_ENCAP | ALGO_TRACE_MUX);
	/* Round in one layer, and a single copy of the second round is enough,
	 * wherever it comes in. */
	for (uint64_t keep = 1; keep < 32; keep++) {
		struct obs_packet p =
		    packet(topo_addr_of_host(0), topo_addr_of_host(20), 5000);
		walk(&f, &p, 0, &w);
		w.hop[w.n] = w.hop[2];
		w.hop[w.n++].ttl -= 4;
		got = checked(&f, &w, keep | 1 << 5, &r);
		assert_int_equal((got.t.marks & ALGO_TRACE_LOOP) != 0,
		    (keep >> 2 & 1));
	}
	teardown(&f);
}

static void the_mark_of_what_is_sent_again_is_no_loop(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_rng r;
	struct whole w;
	setup(&f);
	test_rng(&r, 6);
	const struct obs_packet p =
	    packet(topo_addr_of_host(0), topo_addr_of_host(20), 5000);
	walk(&f, &p, 0, &w);
	for (unsigned i = 0; i < 5; i++) {
		w.hop[5 + i] = w.hop[i];
		w.hop[5 + i].ttl |= OBS_TTL_RETX;
		w.hop[5 + i].ttl_in |= OBS_TTL_RETX;
	}
	w.n = 10;
	const struct whole got = checked(&f, &w, UINT64_MAX, &r);
	assert_false(got.t.marks & (ALGO_TRACE_LOOP | ALGO_TRACE_SUSPECT));
	assert_true(got.t.marks & ALGO_TRACE_RETX);
	teardown(&f);
}

static void nothing_is_said_of_what_nobody_knows(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_rng r;
	struct whole w;
	setup(&f);
	test_rng(&r, 7);
	const struct obs_packet p =
	    packet(topo_addr_of_host(0), topo_addr_of_host(20), 5000);
	walk(&f, &p, 0, &w);
	struct whole odd = w;
	odd.t.dst_ip = 0x08080808; /* outside */
	assert_int_equal(checked(&f, &odd, 0x3, &r).t.marks, 0);
	odd = w;
	odd.hop[1].node = f.s.topo.n_switches; /* no switch */
	assert_int_equal(checked(&f, &odd, 0x3, &r).t.marks, 0);
	odd.hop[1] = w.hop[1];
	for (unsigned i = 0; i < odd.n; i++)
		odd.hop[i].in_link = f.s.topo.n_links + i; /* no link */
	const struct whole got = checked(&f, &odd, 0x1f, &r);
	assert_int_equal(got.t.marks, ALGO_TRACE_COMPLETE);
	odd = w;
	odd.hop[1].ttl = 1; /* as a traceroute would have it */
	assert_int_equal(checked(&f, &odd, 0x3, &r).t.marks &
		ALGO_TRACE_SUSPECT,
	    0);
	odd = w;
	odd.t.proto = 0; /* a pause frame */
	assert_int_equal(checked(&f, &odd, 0x2, &r).t.marks, 0);
	teardown(&f);
}

static void a_link_is_named_only_where_it_is_known(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_rng r;
	struct whole w;
	setup(&f);
	test_rng(&r, 8);
	const struct obs_packet p =
	    packet(topo_addr_of_host(0), topo_addr_of_host(20), 5000);
	walk(&f, &p, 0, &w);
	f.check.routing.knows_hash = 0;
	/* Up there is a choice, down there is none. */
	for (unsigned last = 0; last < 4; last++) {
		const struct whole got =
		    checked(&f, &w, (UINT64_C(2) << last) - 1, &r);
		assert_int_equal(got.t.marks, ALGO_TRACE_SUSPECT);
		assert_int_equal(got.t.lost_link,
		    last < 2        ? TOPO_NONE
			: last == 2 ? TOPO_NONE
				    : w.hop[4].in_link);
	}
	teardown(&f);
}

static int open_close(void *arg, struct sim_err *e)
{
	const struct algo_routing *r = arg;
	struct algo_check c;
	const int rc = algo_check_open(&c, r, e);
	algo_check_close(&c);
	return rc;
}

static void memory_may_be_missing(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	test_each_alloc_fails(open_close, &f.check.routing);
	const struct algo_routing none = {0};
	struct algo_check c;
	assert_int_equal(algo_check_open(&c, &none, NULL), SIM_EINVAL);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_whole_way_is_complete_and_in_order),
	    cmocka_unit_test(what_is_missing_is_told_for_every_subset),
	    cmocka_unit_test(duplicates_change_nothing_but_their_number),
	    cmocka_unit_test(copies_of_two_headers_are_two),
	    cmocka_unit_test(a_mux_is_no_loop),
	    cmocka_unit_test(what_a_mux_swallows_is_suspected),
	    cmocka_unit_test(what_goes_round_loops_with_headers_or_without),
	    cmocka_unit_test(the_mark_of_what_is_sent_again_is_no_loop),
	    cmocka_unit_test(nothing_is_said_of_what_nobody_knows),
	    cmocka_unit_test(a_link_is_named_only_where_it_is_known),
	    cmocka_unit_test(memory_may_be_missing),
	};
	return cmocka_run_group_tests_name("algos/everflow/check", tests, NULL,
	    NULL);
}
