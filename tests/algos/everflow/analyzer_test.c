/* tests/algos/everflow/analyzer_test.c -- copies become traces, graded.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/analyzer.h"

#include "algos/everflow/reshuffle.h"
#include "algos/everflow/ring.h"
#include "tests/rigs/copies.h"
#include "tests/rigs/everflow_map.h"
#include "tests/test.h"
#include "topo/addr.h"

enum { MS = 1000000 };

struct fixture {
	struct topo topo;
	struct algo_routing routing;
	struct algo_analyzer_params params;
	struct algo_analyzer *a;
	struct algo_trace_store store;
	struct algo_counters counters;
	struct obs_mirror m;
	struct algo_trace_sink sink;
};

static int keep(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	return algo_trace_store_add(arg, t, hop, e);
}

static void setup(struct fixture *f)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 4};
	*f = (struct fixture){0};
	assert_ok(topo_open_clos(&f->topo, &shape, test_err()));
	f->routing = (struct algo_routing){&f->topo, 0, 1};
	assert_ok(
	    sim_field_defaults(algo_analyzer_fields, &f->params, test_err()));
	f->params.t_ms = 10;
	f->params.confirm_ms = 100;
	f->sink = (struct algo_trace_sink){&f->store, keep};
}

static void teardown(struct fixture *f)
{
	algo_analyzer_close(f->a);
	algo_trace_store_free(&f->store);
	algo_counters_free(&f->counters);
	obs_mirror_free(&f->m);
	topo_close(&f->topo);
}

/* Feed all copies in the order of time, and end everything. */
static void analyze(struct fixture *f)
{
	copies_sort(&f->m);
	assert_ok(
	    algo_analyzer_open(&f->a, &f->routing, &f->params, 0, test_err()));
	assert_ok(algo_analyzer_feed(f->a, &f->m, 0, f->m.n, &f->sink,
	    &f->counters, test_err()));
	assert_ok(algo_analyzer_flush(f->a, SIM_NEVER, &f->sink, &f->counters,
	    test_err()));
}

static void a_healthy_packet_is_counted_and_not_kept(void **state)
{
	(void)state;
	struct fixture f;
	struct obs_copy c[TOPO_MAX_HOPS];
	setup(&f);
	const struct obs_copy p = copies_packet(0, 20, 5000, 7);
	const unsigned n = copies_of(&f.topo, &p, 5 * MS, c);
	assert_int_equal(n, 5);
	copies_add(&f.m, c, n, 0x1f);
	analyze(&f);
	assert_int_equal(f.store.traces.n, 0);
	assert_int_equal(algo_analyzer_counted(f.a)->n_copies, 5);
	assert_int_equal(algo_analyzer_counted(f.a)->n_traces, 1);
	double packets = 0, bytes = 0, flows = 0;
	for (size_t i = 0; i < f.counters.n; i++) {
		const struct algo_counter k = algo_counters_at(&f.counters, i);
		packets += k.kind == ALGO_COUNTER_LINK_PACKETS ? k.value : 0;
		bytes += k.kind == ALGO_COUNTER_LINK_BYTES ? k.value : 0;
		flows += k.kind == ALGO_COUNTER_LINK_FLOWS ? k.value : 0;
	}
	assert_true(packets == 5 && bytes == 5 * 74 && flows == 5);
	teardown(&f);
}

/* Whichever rule took it first: a SYN of BGP is a SYN, and a NAK may be sampled. */
static void special_protocols_are_kept_whatever_took_them(void **state)
{
	(void)state;
	for (int what = 0; what < 3; what++) {
		struct fixture f;
		struct obs_copy c[TOPO_MAX_HOPS];
		setup(&f);
		struct obs_copy p = copies_packet(0, 20, 5000, 7);
		const unsigned n = copies_of(&f.topo, &p, 5 * MS, c);
		for (unsigned i = 0; i < n; i++) {
			c[i].kind =
			    what == 2 ? OBS_COPY_SAMPLE : OBS_COPY_CONTROL;
			c[i].dst_port = what == 0 ? OBS_PORT_BGP : 4000;
			if (what == 1)
				c[i].src_port = OBS_PORT_BGP;
			if (what < 2)
				continue;
			c[i].proto = OBS_PROTO_UDP;
			c[i].dst_port = OBS_PORT_ROCE;
			c[i].bth_opcode = OBS_BTH_ACK;
			c[i].aeth = OBS_AETH_NAK;
		}
		copies_add(&f.m, c, n, 0x1f);
		analyze(&f);
		assert_int_equal(f.store.traces.n, 1);
		teardown(&f);
	}
}

static void a_packet_that_ends_early_is_suspected(void **state)
{
	(void)state;
	struct fixture f;
	struct obs_copy c[TOPO_MAX_HOPS];
	setup(&f);
	const struct obs_copy p = copies_packet(0, 20, 5000, 7);
	const unsigned n = copies_of(&f.topo, &p, 5 * MS, c);
	copies_add(&f.m, c, n, 0x7);
	analyze(&f);
	assert_int_equal(f.store.traces.n, 1);
	const struct algo_trace t = algo_traces_at(&f.store.traces, 0);
	assert_int_equal(t.marks, ALGO_TRACE_SUSPECT);
	assert_int_equal(t.n_hops, 3);
	assert_int_equal(t.last_node, c[2].node);
	assert_int_equal(t.lost_link, c[3].in_link);
	teardown(&f);
}

static void a_packet_that_is_sent_again_was_dropped(void **state)
{
	(void)state;
	struct fixture f;
	struct obs_copy c[TOPO_MAX_HOPS];
	setup(&f);
	struct obs_copy p = copies_packet(0, 20, 5000, 7);
	const unsigned n = copies_of(&f.topo, &p, 5 * MS, c);
	copies_add(&f.m, c, n, 0x7);
	p.ip_id = 8;
	copies_of(&f.topo, &p, 50 * MS, c);
	copies_add(&f.m, c, n, 0x1f);
	analyze(&f);
	assert_int_equal(f.store.traces.n, 1);
	assert_int_equal(f.store.traces.marks[0], ALGO_TRACE_CONFIRMED);
	assert_int_equal(f.store.traces.lost_link[0], c[3].in_link);
	teardown(&f);
}

static void a_packet_that_is_answered_arrived(void **state)
{
	(void)state;
	struct fixture f;
	struct obs_copy c[TOPO_MAX_HOPS];
	setup(&f);
	const struct obs_copy p = copies_packet(0, 20, 5000, 7);
	unsigned n = copies_of(&f.topo, &p, 5 * MS, c);
	copies_add(&f.m, c, n, 0x7);
	struct obs_copy q = copies_packet(20, 0, 80, 0);
	q.dst_port = 5000;
	q.flags = OBS_TCP_SYN | OBS_TCP_ACK;
	q.ack = p.seq + 1;
	n = copies_of(&f.topo, &q, 6 * MS, c);
	copies_add(&f.m, c, n, 0x1f);
	analyze(&f);
	assert_int_equal(f.store.traces.n, 1);
	assert_int_equal(f.store.traces.marks[0], ALGO_TRACE_REFUTED);
	assert_int_equal(f.store.traces.lost_link[0], TOPO_NONE);
	teardown(&f);
}

static void a_packet_that_goes_round_loops(void **state)
{
	(void)state;
	struct fixture f;
	struct obs_copy c[TOPO_MAX_HOPS];
	setup(&f);
	struct obs_copy p = copies_packet(0, 20, 5000, 7);
	for (int round = 0; round < 15; round++) {
		copies_of(&f.topo, &p, (uint64_t)(5000 + 4 * round) * 1000, c);
		copies_add(&f.m, c, 4, round == 0 ? 0xf : 0xe);
		p.ttl -= 4;
	}
	analyze(&f);
	assert_int_equal(f.store.traces.n, 1);
	assert_int_equal(f.store.traces.marks[0], ALGO_TRACE_LOOP);
	assert_int_equal(f.store.traces.n_hops[0], 46);
	for (unsigned i = 1; i < 46; i++)
		assert_true(f.store.hops.ttl[i] < f.store.hops.ttl[i - 1]);
	teardown(&f);
}

/* --- random copies ---------------------------------------------------------*/
/* Connections between hosts: SYN, SYN-ACK and three segments of data with their
 * answers, of which some packets are lost on the way and sent again, and some
 * mirrors are lost or come twice. Copies are numbered by their switches. */
struct traffic {
	struct sim_rng r;
	double loss, mirror_loss;
	uint32_t n_sent[64], n_kept[64];
};

static void number_copies(struct obs_mirror *m, struct traffic *w)
{
	struct obs_mirror kept = {0};
	copies_sort(m);
	for (size_t i = 0; i < m->n; i++) {
		struct obs_copy c = obs_mirror_at(m, i);
		c.mirror_seq = w->n_sent[c.node]++;
		if (sim_rng_u01(&w->r) < w->mirror_loss)
			continue;
		w->n_kept[c.node]++;
		copies_add(&kept, &c, 1, 1);
	}
	obs_mirror_free(m);
	*m = kept;
}

/* One packet, from T on; returns whether it arrives. */
static int send_packet(struct fixture *f, struct traffic *w,
    const struct obs_copy *p, uint64_t at)
{
	struct obs_copy c[TOPO_MAX_HOPS];
	const unsigned n = copies_of(&f->topo, p, at, c);
	const int lost = sim_rng_u01(&w->r) < w->loss;
	const unsigned got = lost ? 1 + sim_rng_below(&w->r, n) : n;
	copies_add(&f->m, c, got, UINT64_MAX);
	return !lost;
}

static void connect_once(struct fixture *f, struct traffic *w, uint64_t at)
{
	const uint32_t n = f->topo.n_hosts;
	const topo_host src = sim_rng_below(&w->r, n);
	const topo_host dst = (src + 1 + sim_rng_below(&w->r, n - 1)) % n;
	struct obs_copy p = copies_packet(src, dst,
	    (uint16_t)(1024 + sim_rng_below(&w->r, 60000)),
	    (uint16_t)sim_rng_below(&w->r, 65536));
	struct obs_copy q = copies_packet(dst, src, p.dst_port, 0);
	q.dst_port = p.src_port;
	q.flags = OBS_TCP_SYN | OBS_TCP_ACK;
	for (int i = 0; i < 4; i++) {
		int tries = 0;
		do {
			at += 20 * MS;
			p.ip_id += 1 + (p.ip_id == UINT16_MAX);
			p.digest = (uint64_t)p.seq << 32 | p.ack;
		} while (!send_packet(f, w, &p, at) && tries++ < 5);
		q.ack = p.seq + 1;
		q.digest = (uint64_t)q.seq << 32 | q.ack;
		at += MS;
		send_packet(f, w, &q, at);
		p.seq += i == 0 ? 1 : 1434;
		p.flags = OBS_TCP_ACK;
		p.n_bytes = 1500;
		p.ack = q.seq + 1;
		q.flags = OBS_TCP_ACK;
		q.seq += i == 0;
	}
}

static void draw_traffic(struct fixture *f, struct traffic *w, uint32_t run,
    unsigned n)
{
	*w = (struct traffic){.loss = 0.03, .mirror_loss = 0.02};
	test_rng(&w->r, run);
	obs_mirror_clear(&f->m);
	for (unsigned i = 0; i < n; i++)
		connect_once(f, w, (uint64_t)i * MS / 2);
	number_copies(&f->m, w);
}

/* Feed F's copies to N analyzers, in batches of about BATCH, and sum up what
 * they say. */
struct said {
	struct everflow_sum traces; /* first: it is what sinks are given */
	struct algo_counters counters;
	struct algo_analyzer_counts count;
	uint64_t n_suspect, n_confirmed, n_refuted; /* of traces, by marks */
};

static int said_take(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct said *s = arg;
	s->n_suspect += (t->marks & ALGO_TRACE_SUSPECT) != 0;
	s->n_confirmed += (t->marks & ALGO_TRACE_CONFIRMED) != 0;
	s->n_refuted += (t->marks & ALGO_TRACE_REFUTED) != 0;
	return everflow_sum_take(&s->traces, t, hop, e);
}

static void share_out(struct fixture *f, uint32_t n, size_t batch,
    struct said *out,
    int (*take)(void *, const struct algo_trace *, const struct algo_hop[],
	struct sim_err *))
{
	struct algo_reshuffle_to to[8];
	struct obs_mirror part[8] = {{0}};
	const struct algo_trace_sink sink = {&out->traces, take};
	*out = (struct said){0};
	for (uint32_t i = 0; i < n; i++)
		to[i] = (struct algo_reshuffle_to){i, 1};
	for (size_t i = 0; i < f->m.n; i++) {
		const struct obs_copy c = obs_mirror_at(&f->m, i);
		const struct topo_tuple t = {c.src_ip, c.dst_ip, c.src_port,
		    c.dst_port, c.proto};
		copies_add(&part[n == 1 ? 0 : algo_reshuffle(to, n, &t)], &c, 1,
		    1);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct algo_analyzer *a;
		assert_ok(algo_analyzer_open(&a, &f->routing, &f->params, i,
		    test_err()));
		for (size_t k = 0; k < part[i].n; k += batch)
			assert_ok(algo_analyzer_feed(a, &part[i], k,
			    k + batch < part[i].n ? k + batch : part[i].n,
			    &sink, &out->counters, test_err()));
		assert_ok(algo_analyzer_flush(a, SIM_NEVER, &sink,
		    &out->counters, test_err()));
		const struct algo_analyzer_counts *c = algo_analyzer_counted(a);
		const uint64_t *from = (const uint64_t *)c;
		uint64_t *sum = (uint64_t *)&out->count;
		for (size_t k = 0; k < sizeof(*c) / sizeof(*sum); k++)
			sum[k] += from[k];
		algo_analyzer_close(a);
		obs_mirror_free(&part[i]);
	}
}

static double counted(const struct algo_counters *t,
    enum algo_counter_kind kind, uint32_t id)
{
	double sum = 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->kind[i] == kind && t->id[i] == id)
			sum += t->value[i];
	return sum;
}

static void assert_same_counters(const struct fixture *f, const struct said *a,
    const struct said *b)
{
	for (topo_link l = 0; l < f->topo.n_links; l++)
		for (int k = ALGO_COUNTER_LINK_PACKETS;
		     k <= ALGO_COUNTER_LINK_FLOWS; k++)
			assert_true(counted(&a->counters, k, l) ==
			    counted(&b->counters, k, l));
}

static void one_two_or_eight_analyzers_say_the_same(void **state)
{
	(void)state;
	struct fixture f;
	struct traffic w;
	struct said one, many;
	setup(&f);
	for (uint32_t run = 0; run < 10; run++) {
		draw_traffic(&f, &w, run, 300);
		share_out(&f, 1, 1000, &one, said_take);
		assert_int_equal(one.count.n_suspect, one.n_suspect);
		assert_int_equal(one.count.n_confirmed, one.n_confirmed);
		assert_int_equal(one.count.n_refuted, one.n_refuted);
		assert_true(one.count.n_suspect > 5);
		assert_true(one.count.n_confirmed > 5);
		assert_true(one.count.n_refuted > 10);
		for (uint32_t n = 2; n <= 8; n += 6) {
			share_out(&f, n, 1000, &many, everflow_sum_take);
			assert_memory_equal(&one.traces, &many.traces,
			    sizeof(one.traces));
			assert_memory_equal(&one.count, &many.count,
			    sizeof(one.count));
			assert_same_counters(&f, &one, &many);
			algo_counters_free(&many.counters);
		}
		algo_counters_free(&one.counters);
	}
	teardown(&f);
}

/* Whoever got them, what was sent less what was lost is what came. Of one
 * analyzer the numbers are exact from its first copy to its last; of several
 * but those behind the last of the first. */
static void numbers_of_copies_tell_what_mirrors_lost(void **state)
{
	(void)state;
	struct fixture f;
	struct traffic w;
	setup(&f);
	draw_traffic(&f, &w, 1, 300);
	for (uint32_t n = 1; n <= 8; n *= 2) {
		struct said s;
		share_out(&f, n, 100, &s, everflow_sum_take);
		for (topo_switch k = 0; k < f.topo.n_switches; k++) {
			const double sent =
			    counted(&s.counters, ALGO_COUNTER_MIRROR_SENT, k);
			const double lost =
			    counted(&s.counters, ALGO_COUNTER_MIRROR_LOST, k);
			assert_true(sent - lost == w.n_kept[k]);
			assert_true(sent <= w.n_sent[k]);
			assert_true(sent >= w.n_sent[k] - 30 - 40.0 * (n - 1));
		}
		algo_counters_free(&s.counters);
	}
	/* Without numbers nothing is said. */
	memset(f.m.mirror_seq, 0, f.m.n * sizeof(f.m.mirror_seq[0]));
	struct said s;
	share_out(&f, 1, 100, &s, everflow_sum_take);
	for (size_t i = 0; i < s.counters.n; i++)
		assert_true(s.counters.kind[i] != ALGO_COUNTER_MIRROR_SENT &&
		    s.counters.kind[i] != ALGO_COUNTER_MIRROR_LOST);
	algo_counters_free(&s.counters);
	teardown(&f);
}

static void how_copies_are_cut_into_batches_does_not_matter(void **state)
{
	(void)state;
	struct fixture f;
	struct traffic w;
	struct said want, got;
	setup(&f);
	f.params.counters_s = 0.05;
	f.params.store_all = 1;
	draw_traffic(&f, &w, 2, 300);
	share_out(&f, 1, f.m.n, &want, everflow_sum_take);
	assert_true(want.counters.n > 500);
	for (size_t batch = 1; batch < 100; batch += 13) {
		share_out(&f, 1, batch, &got, everflow_sum_take);
		assert_memory_equal(&want.traces, &got.traces,
		    sizeof(want.traces));
		assert_int_equal(want.counters.n, got.counters.n);
		for (size_t i = 0; i < want.counters.n; i++) {
			const struct algo_counter a =
			    algo_counters_at(&want.counters, i);
			const struct algo_counter b =
			    algo_counters_at(&got.counters, i);
			assert_true(a.t_ns == b.t_ns && a.kind == b.kind &&
			    a.id == b.id && a.value == b.value);
		}
		algo_counters_free(&got.counters);
	}
	algo_counters_free(&want.counters);
	teardown(&f);
}

/* What is said of a packet, whenever its copies came and however often. */
static int verdict_take(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct algo_trace v = {.src_ip = t->src_ip,
	    .dst_ip = t->dst_ip,
	    .src_port = t->src_port,
	    .dst_port = t->dst_port,
	    .proto = t->proto,
	    .ip_id = t->ip_id,
	    .n_lost = t->n_lost,
	    .last_node = t->last_node,
	    .lost_link = t->lost_link,
	    .marks = t->marks};
	(void)hop;
	return everflow_sum_take(arg, &v, NULL, e);
}

static void duplicates_and_order_change_no_verdict(void **state)
{
	(void)state;
	struct fixture f;
	struct traffic w;
	struct said want, got;
	setup(&f);
	for (uint32_t run = 0; run < 10; run++) {
		draw_traffic(&f, &w, run, 300);
		share_out(&f, 1, 100, &want, verdict_take);
		assert_true(want.traces.n_traces > 50);
		/* Some come again, a little later. */
		const size_t n = f.m.n;
		for (size_t i = 0; i < n; i += 1 + sim_rng_below(&w.r, 5)) {
			struct obs_copy c = obs_mirror_at(&f.m, i);
			c.t_ns += 1 + sim_rng_below(&w.r, MS);
			copies_add(&f.m, &c, 1, 1);
		}
		copies_sort(&f.m);
		share_out(&f, 1, 100, &got, verdict_take);
		assert_memory_equal(&want.traces, &got.traces,
		    sizeof(want.traces));
		assert_true(got.count.n_same > 0);
		algo_counters_free(&got.counters);
		/* All come up to half a millisecond late, each by another
		 * time; packets of a connection are a millisecond apart. */
		for (size_t i = 0; i < f.m.n; i++)
			f.m.t_ns[i] += sim_rng_below(&w.r, MS / 2);
		copies_sort(&f.m);
		share_out(&f, 1, 100, &got, verdict_take);
		assert_memory_equal(&want.traces, &got.traces,
		    sizeof(want.traces));
		algo_counters_free(&got.counters);
		algo_counters_free(&want.counters);
	}
	teardown(&f);
}

/* Hosts of a ToR change their names by pairs; what is said of each is said of
 * the other then. How switches hash is not known here, since new names would
 * take other ways. */
static uint32_t renamed(uint32_t ip)
{
	return topo_addr_of_host(topo_addr_to_host(ip, 24) ^ 1);
}

static int renamed_take(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct algo_trace v = *t;
	v.src_ip = renamed(v.src_ip);
	v.dst_ip = renamed(v.dst_ip);
	return verdict_take(arg, &v, hop, e);
}

static void who_is_renamed_is_accused_by_the_new_name(void **state)
{
	(void)state;
	struct fixture f;
	struct traffic w;
	struct said want, got;
	setup(&f);
	f.routing.knows_hash = 0;
	draw_traffic(&f, &w, 3, 300);
	share_out(&f, 2, 100, &want, renamed_take);
	for (size_t i = 0; i < f.m.n; i++) {
		f.m.src_ip[i] = renamed(f.m.src_ip[i]);
		f.m.dst_ip[i] = renamed(f.m.dst_ip[i]);
		if (f.m.in_link[i] < 2 * f.topo.n_hosts)
			f.m.in_link[i] ^= 2;
	}
	share_out(&f, 2, 100, &got, verdict_take);
	assert_true(want.traces.n_traces > 50);
	assert_memory_equal(&want.traces, &got.traces, sizeof(want.traces));
	algo_counters_free(&want.counters);
	algo_counters_free(&got.counters);
	teardown(&f);
}

/* --- any copies at all -----------------------------------------------------*/
/* Numbers as of TCP, of RoCE, none, or any. */
static void any_numbers(struct obs_copy *c, struct sim_rng *r)
{
	const uint32_t kind = sim_rng_below(r, 4);
	c->digest = sim_rng_below(r, 3);
	c->seq = kind < 2 ? (uint32_t)c->digest : sim_rng_below(r, 9);
	c->ack = kind == 1 ? c->seq : kind == 3 ? sim_rng_below(r, 9) : 0;
	if (kind == 1)
		c->digest |= c->digest << 32;
	if (kind == 2)
		c->seq = 0;
}

/* Fields from few values each, so that keys meet; TIDY: a table that
 * obs_mirror_check() takes. */
static struct obs_copy any_copy(const struct fixture *f, struct sim_rng *r,
    int tidy)
{
	struct obs_copy c =
	    copies_packet(sim_rng_below(r, 4), 20 + sim_rng_below(r, 2),
		(uint16_t)sim_rng_below(r, 3), (uint16_t)(sim_rng_below(r, 4)));
	c.node = sim_rng_below(r, f->topo.n_switches + !tidy);
	c.in_link = sim_rng_below(r, f->topo.n_links + 2);
	if (c.in_link >= f->topo.n_links)
		c.in_link = TOPO_NONE - (tidy ? 0 : sim_rng_below(r, 9));
	any_numbers(&c, r);
	if (sim_rng_below(r, 4) == 0)
		c.switch_ns = sim_rng_u32(r);
	c.ttl = (uint8_t)sim_rng_u32(r);
	c.ttl_in = (uint8_t)sim_rng_u32(r);
	c.tos_in = sim_rng_below(r, 99) == 0 ? OBS_TOS_DEBUG : 0;
	c.flags = (uint8_t)sim_rng_below(r, 32);
	c.n_bytes = sim_rng_below(r, 200);
	c.kind =
	    (uint8_t)sim_rng_below(r, tidy ? (uint32_t)OBS_N_COPY_KINDS : 256);
	c.layer = (uint8_t)(sim_rng_below(r, 3)
		? 0
		: sim_rng_below(r, tidy ? OBS_MAX_OUTER + 1 : 256));
	c.proto = sim_rng_below(r, 50) == 0 ? 0 : TOPO_PROTO_TCP;
	if (c.layer > 0 && sim_rng_below(r, 4) > 0) {
		c.outer_src = topo_addr_of_host(sim_rng_below(r, 30));
		c.outer_dst = sim_rng_below(r, 2)
		    ? topo_addr_of_switch(sim_rng_below(r, 20))
		    : topo_addr_of_vip(sim_rng_below(r, 20));
	}
	c.mirror_seq = sim_rng_u32(r);
	return c;
}

/* STEP_NS: the mean time between copies, whole microseconds; now and then a
 * great leap, or back. */
static void draw_any(struct fixture *f, struct sim_rng *r, int tidy,
    uint64_t step_ns, unsigned n)
{
	uint64_t t = 0;
	obs_mirror_clear(&f->m);
	for (unsigned i = 0; i < n; i++) {
		struct obs_copy c = any_copy(f, r, tidy);
		t +=
		    sim_rng_below(r, 2 * (uint32_t)(step_ns / SIM_US)) * SIM_US;
		if (sim_rng_below(r, 500) == 0)
			t += sim_rng_below(r, 200) * (uint64_t)MS;
		c.t_ns = t;
		if (!tidy && sim_rng_below(r, 100) == 0)
			c.t_ns -= t / 10;
		copies_add(&f->m, &c, 1, 1);
	}
}

static void the_same_traces_as_by_a_plain_table(void **state)
{
	(void)state;
	const uint64_t steps[] = {2 * SIM_US, 50 * SIM_US, MS};
	struct fixture f;
	struct sim_rng r;
	setup(&f);
	f.params.store_all = 1;
	f.params.confirm_ms = 0;
	unsigned n_same = 0;
	for (uint32_t run = 0; run < 60; run++) {
		struct said got;
		struct everflow_sum want = {0};
		const struct algo_trace_sink sink = {&want, everflow_sum_take};
		test_rng(&r, run);
		f.params.key = run % 2;
		f.params.t_ms = run % 5 == 0 ? 5000 : 10;
		/* Few buckets, so that many are full; an early end would
		 * be another trace. */
		f.params.max_traces = run % 7 == 0 ? 1 << 16 : 512;
		draw_any(&f, &r, run % 4 > 1, steps[run % 3], 3000);
		struct everflow_map *m =
		    everflow_map_open(&f.routing, &f.params, 64);
		assert_non_null(m);
		everflow_map_feed(m, &f.m, 0, f.m.n, &sink);
		everflow_map_flush(m, &sink);
		share_out(&f, 1, 1 + sim_rng_below(&r, 100), &got,
		    everflow_sum_take);
		const int same = got.count.n_long + got.count.n_early == 0;
		n_same += same;
		if (same)
			assert_memory_equal(&want, &got.traces, sizeof(want));
		for (topo_link l = 0; same && l < f.topo.n_links; l++)
			assert_true(
			    counted(&got.counters, ALGO_COUNTER_LINK_PACKETS,
				l) == everflow_map_packets(m, l));
		algo_counters_free(&got.counters);
		everflow_map_close(m);
	}
	assert_true(n_same >= 30);
	teardown(&f);
}

static void whatever_comes_each_copy_is_accounted_for(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_rng r;
	uint64_t n_early = 0, n_long = 0, n_back = 0;
	setup(&f);
	f.params.store_all = 1;
	for (uint32_t run = 0; run < 100; run++) {
		struct said got;
		const int tidy = run % 2;
		test_rng(&r, run);
		f.params.key = run / 2 % 2;
		f.params.t_ms = run % 3 == 0 ? 30000 : 1;
		f.params.max_traces = run % 5 == 0 ? 4096 : 64;
		draw_any(&f, &r, tidy, 20 * SIM_US, 5000);
		/* One packet that never ends, among few others. */
		for (size_t i = 0; run % 5 == 0 && i < f.m.n; i++)
			f.m.digest[i] = f.m.src_port[i] = f.m.ip_id[i] = 1;
		assert_int_equal(obs_mirror_check(&f.m, f.topo.n_switches,
				     f.topo.n_links, NULL) == 0,
		    tidy);
		share_out(&f, 1, 1 + sim_rng_below(&r, 100), &got,
		    everflow_sum_take);
		assert_int_equal(got.count.n_copies, f.m.n);
		assert_int_equal(got.traces.n_hops + got.count.n_same +
			got.count.n_long,
		    f.m.n);
		assert_int_equal(got.traces.n_traces, got.count.n_traces);
		assert_int_equal(got.traces.n_traces, got.count.n_stored);
		n_early += got.count.n_early;
		n_long += got.count.n_long;
		n_back += got.count.n_back;
		algo_counters_free(&got.counters);
	}
	assert_true(n_early > 0 && n_long > 0 && n_back > 0);
	teardown(&f);
}

/* --- single cases ----------------------------------------------------------*/
static int mark_early(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	(void)hop, (void)e;
	*(uint64_t *)arg += (t->marks & ALGO_TRACE_EARLY) != 0;
	return 0;
}

static void a_full_ring_ends_the_oldest(void **state)
{
	(void)state;
	struct fixture f;
	uint64_t n_marked = 0;
	setup(&f);
	f.params.max_traces = 64;
	f.params.store_all = 1;
	f.sink = (struct algo_trace_sink){&n_marked, mark_early};
	for (unsigned i = 0; i < 100; i++) {
		struct obs_copy c[TOPO_MAX_HOPS];
		const struct obs_copy p =
		    copies_packet(0, 20, (uint16_t)(5000 + i), 7);
		copies_add(&f.m, c, copies_of(&f.topo, &p, i * 10000, c), 0x1f);
	}
	analyze(&f);
	assert_int_equal(algo_analyzer_counted(f.a)->n_early, 36);
	assert_int_equal(algo_analyzer_counted(f.a)->n_traces, 100);
	assert_int_equal(n_marked, 36);
	teardown(&f);
}

static void two_gaps_after_its_first_copy_a_trace_ends(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	f.params.store_all = 1;
	for (unsigned i = 0; i < 10; i++) {
		struct obs_copy c[TOPO_MAX_HOPS];
		const struct obs_copy p = copies_packet(0, 20, 5000, 7);
		copies_of(&f.topo, &p, (uint64_t)i * 9 * MS, c);
		copies_add(&f.m, c, 1, 1);
	}
	analyze(&f);
	/* 10 ms between copies would be allowed; 0, 9, 18 | 27, 36, 45 ... */
	assert_int_equal(f.store.traces.n, 4);
	assert_int_equal(f.store.traces.n_same[0], 2);
	teardown(&f);
}

/* Who asks when the oldest ends is told the sooner of T after its last copy and
 * 2 T after its first, to two nanoseconds, and also when it was asked before. */
static void a_trace_ends_in_time_though_nothing_comes(void **state)
{
	(void)state;
	static const struct {
		uint64_t last_ms, end_ms;
	} of[] = {{0, 10}, {3, 13}, {7, 17}, {10, 20}, {14, 20}, {19, 20}};
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct fixture f;
		setup(&f);
		for (uint64_t ms = 0; ms <= of[i].last_ms; ms++) {
			struct obs_copy c[TOPO_MAX_HOPS];
			const struct obs_copy p = copies_packet(0, 20, 5000, 7);
			copies_of(&f.topo, &p, (5 + ms) * MS, c);
			copies_add(&f.m, c, 1, 1);
		}
		assert_ok(algo_analyzer_open(&f.a, &f.routing, &f.params, 0,
		    test_err()));
		assert_ok(algo_analyzer_feed(f.a, &f.m, 0, f.m.n, &f.sink,
		    &f.counters, test_err()));
		const sim_ns end = (5 + of[i].end_ms) * MS;
		const sim_ns asked[] = {end - MS, end - 1, end, end + 2};
		for (int k = 0; k < 4; k++) {
			assert_ok(algo_analyzer_flush(f.a, asked[k], &f.sink,
			    &f.counters, test_err()));
			assert_int_equal(algo_analyzer_counted(f.a)->n_traces,
			    k == 3);
		}
		teardown(&f);
	}
}

/* Time goes on by what is asked as by what comes, and not back by either: a copy
 * from before is of now, and ends as one. */
static void time_does_not_go_back(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	for (unsigned i = 0; i < 2; i++) {
		struct obs_copy c[TOPO_MAX_HOPS];
		const struct obs_copy p =
		    copies_packet(0, 20, 5000, (uint16_t)(7 + i));
		copies_of(&f.topo, &p, (5 - i) * MS, c);
		copies_add(&f.m, c, 1, 1);
	}
	assert_ok(
	    algo_analyzer_open(&f.a, &f.routing, &f.params, 0, test_err()));
	const struct algo_analyzer_counts *n = algo_analyzer_counted(f.a);
	assert_ok(algo_analyzer_feed(f.a, &f.m, 0, 1, &f.sink, &f.counters,
	    test_err()));
	assert_int_equal(n->n_back, 0);
	assert_ok(algo_analyzer_flush(f.a, 100 * MS, &f.sink, &f.counters,
	    test_err()));
	assert_int_equal(n->n_traces, 1);
	/* An older question changes nothing. */
	assert_ok(algo_analyzer_flush(f.a, 50 * MS, &f.sink, &f.counters,
	    test_err()));
	assert_ok(algo_analyzer_feed(f.a, &f.m, 1, 2, &f.sink, &f.counters,
	    test_err()));
	assert_int_equal(n->n_back, 1);
	assert_ok(algo_analyzer_flush(f.a, 109 * MS, &f.sink, &f.counters,
	    test_err()));
	assert_int_equal(n->n_traces, 1);
	assert_ok(algo_analyzer_flush(f.a, 110 * MS + 2, &f.sink, &f.counters,
	    test_err()));
	assert_int_equal(n->n_traces, 2);
	teardown(&f);
}

static void packets_without_an_id_of_their_own_are_told_apart(void **state)
{
	(void)state;
	struct fixture f;
	struct obs_copy c[TOPO_MAX_HOPS];
	setup(&f);
	f.params.store_all = 1;
	/* A SYN that is lost, sent again at once with the mark of that, and
	 * whose system gives all its SYNs the ID 0. */
	struct obs_copy p = copies_packet(0, 20, 5000, 0);
	copies_of(&f.topo, &p, 5 * MS, c);
	copies_add(&f.m, c, 5, 0x3);
	p.ttl |= OBS_TTL_RETX;
	copies_of(&f.topo, &p, 6 * MS, c);
	copies_add(&f.m, c, 5, 0x1f);
	/* Data whose ID is 0, told by what is behind the ports. */
	p = copies_packet(0, 20, 5001, 0);
	for (int i = 0; i < 3; i++) {
		p.digest++;
		copies_of(&f.topo, &p, 7 * MS, c);
		copies_add(&f.m, c, 5, 0x1f);
	}
	analyze(&f);
	assert_int_equal(f.store.traces.n, 5);
	const uint32_t *marks = f.store.traces.marks;
	/* In the order in which they were told. */
	assert_int_equal(marks[0], ALGO_TRACE_CONFIRMED);
	assert_int_equal(marks[1], ALGO_TRACE_COMPLETE | ALGO_TRACE_RETX);
	assert_int_equal(marks[4], ALGO_TRACE_COMPLETE);
	assert_int_equal(algo_analyzer_counted(f.a)->n_loops, 0);
	teardown(&f);
}

static void fragments_are_no_loop_and_no_drop(void **state)
{
	(void)state;
	struct fixture f;
	struct obs_copy c[TOPO_MAX_HOPS];
	setup(&f);
	f.params.store_all = 1;
	/* The first has ports, the others none, and one ID. */
	for (int i = 0; i < 4; i++) {
		struct obs_copy p = copies_packet(0, 20, 5000, 7);
		p.proto = OBS_PROTO_UDP;
		copies_of(&f.topo, &p, 5 * MS + (uint64_t)i * 1000, c);
		for (int k = 0; i > 0 && k < 5; k++) {
			c[k].src_port = c[k].dst_port = 0;
			c[k].digest = 0;
		}
		copies_add(&f.m, c, 5, 0x1f);
	}
	analyze(&f);
	assert_int_equal(f.store.traces.n, 2);
	assert_int_equal(f.store.traces.marks[0], ALGO_TRACE_COMPLETE);
	assert_int_equal(f.store.traces.marks[1], ALGO_TRACE_COMPLETE);
	assert_int_equal(f.store.traces.n_same[1], 10);
	teardown(&f);
}

static void pause_frames_are_traces_of_one_copy(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	for (unsigned i = 0; i < 10; i++) {
		const struct obs_copy c = {.t_ns = 5 * MS + i,
		    .node = i % 2,
		    .in_link = 2 * i,
		    .kind = OBS_COPY_PFC,
		    .flags = 8};
		copies_add(&f.m, &c, 1, 1);
	}
	analyze(&f);
	assert_int_equal(f.store.traces.n, 10);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(f.store.hops.in_link[i], 2 * i);
		assert_int_equal(f.store.traces.marks[i], 0);
	}
	teardown(&f);
}

static void latencies_are_differences_at_one_switch(void **state)
{
	(void)state;
	struct fixture f;
	setup(&f);
	/* S1, S2, S1 beside each other, clocks of switches apart. */
	const topo_link there = topo_clos_link_tor(&f.topo.clos, 0, 1, TOPO_UP);
	topo_node s1, s2;
	topo_link_ends(&f.topo, there, &s1, &s2);
	struct obs_copy p = copies_packet(0, 0, 5000, 7);
	p.dst_ip = 0;
	p.tos_in = OBS_TOS_DEBUG;
	p.kind = OBS_COPY_DEBUG;
	p.outer_src = p.src_ip;
	const uint64_t at[3] = {5 * MS, 9 * MS, 5 * MS + 40000};
	for (unsigned i = 0; i < 3; i++) {
		p.layer = (uint8_t)(3 - i);
		p.node = (i == 1 ? s2 : s1) - f.topo.n_hosts;
		p.in_link = i == 0 ? topo_link_of(0, TOPO_UP)
		    : i == 1       ? there
				   : topo_link_reverse(there);
		p.outer_dst = topo_addr_of_switch(p.node);
		p.t_ns = at[i];
		copies_add(&f.m, &p, 1, 1);
	}
	/* A mux at host 5, whose ToR sees both within 7 us. */
	struct obs_copy q = copies_packet(1, 5, 6000, 8), c[TOPO_MAX_HOPS];
	q.dst_ip = topo_addr_of_vip(0);
	unsigned n = copies_between(&f.topo, &q, 1, 5, 20 * MS, c);
	copies_add(&f.m, c, n, UINT64_MAX);
	q.ttl_in = (uint8_t)(q.ttl - n);
	q.layer = 1;
	q.outer_src = topo_addr_of_host(5);
	q.outer_dst = topo_addr_of_host(20);
	n = copies_of(&f.topo, &q, c[n - 1].t_ns + 7000, c);
	copies_add(&f.m, c, n, UINT64_MAX);
	analyze(&f);
	assert_int_equal(f.store.traces.n, 1);
	assert_int_equal(f.store.traces.marks[0],
	    ALGO_TRACE_PROBE | ALGO_TRACE_DEBUG | ALGO_TRACE_ENCAP |
		ALGO_TRACE_COMPLETE);
	unsigned n_found = 0;
	for (size_t i = 0; i < f.counters.n; i++) {
		const struct algo_counter k = algo_counters_at(&f.counters, i);
		if (k.kind == ALGO_COUNTER_LINK_LATENCY) {
			assert_int_equal(k.id, there);
			assert_int_equal(k.sub, algo_latency_bin(40000));
			n_found++;
		}
		if (k.kind == ALGO_COUNTER_MUX_LATENCY) {
			assert_int_equal(k.id, 5);
			assert_int_equal(k.sub, algo_latency_bin(7000));
			n_found++;
		}
	}
	assert_int_equal(n_found, 2);
	teardown(&f);
}

static void bins_are_a_fifth_wide(void **state)
{
	(void)state;
	assert_int_equal(algo_latency_bin(0), 0);
	assert_int_equal(algo_latency_bin(UINT64_MAX), ALGO_LATENCY_BINS - 1);
	for (unsigned i = 0; i + 1 < ALGO_LATENCY_BINS; i++) {
		const uint64_t end = algo_latency_bin_ns(i);
		assert_int_equal(algo_latency_bin(end - 1), i);
		assert_int_equal(algo_latency_bin(end), i + 1);
		assert_near((double)end, 1000 * pow(2, (i + 1) / 4.0), 1);
	}
}

/* --- memory ----------------------------------------------------------------*/
static void a_trace_takes_144_bytes(void **state)
{
	(void)state;
	assert_int_equal(algo_ring_bytes(1 << 20), (size_t)144 << 20);
	assert_int_equal(algo_ring_bytes((1 << 20) + 1), (size_t)144 << 21);
	assert_int_equal(algo_ring_bytes(1), 144 * 64);
}

static int open_close(void *arg, struct sim_err *e)
{
	struct fixture *f = arg;
	struct algo_analyzer *a;
	const int rc = algo_analyzer_open(&a, &f->routing, &f->params, 0, e);
	algo_analyzer_close(a);
	return rc;
}

static int feed_once(void *arg, struct sim_err *e)
{
	struct fixture *f = arg;
	struct algo_analyzer *a;
	struct algo_trace_store store = {0};
	struct algo_counters counters = {0};
	const struct algo_trace_sink sink = {&store, keep};
	int rc = algo_analyzer_open(&a, &f->routing, &f->params, 0, e);
	if (rc == 0)
		rc = algo_analyzer_feed(a, &f->m, 0, f->m.n, &sink, &counters,
		    e);
	if (rc == 0)
		rc = algo_analyzer_flush(a, SIM_NEVER, &sink, &counters, e);
	algo_analyzer_close(a);
	algo_trace_store_free(&store);
	algo_counters_free(&counters);
	return rc;
}

static void memory_may_be_missing(void **state)
{
	(void)state;
	struct fixture f;
	struct traffic w;
	setup(&f);
	test_each_alloc_fails(open_close, &f);
	draw_traffic(&f, &w, 5, 20);
	test_each_alloc_fails(feed_once, &f);
	/* Once open it takes none itself. */
	assert_ok(
	    algo_analyzer_open(&f.a, &f.routing, &f.params, 0, test_err()));
	uint64_t n = 0;
	f.sink = (struct algo_trace_sink){&n, mark_early};
	assert_ok(algo_counters_reserve(&f.counters, 100000, test_err()));
	test_fail_alloc(0);
	assert_ok(algo_analyzer_feed(f.a, &f.m, 0, f.m.n, &f.sink, &f.counters,
	    test_err()));
	assert_ok(algo_analyzer_flush(f.a, SIM_NEVER, &f.sink, &f.counters,
	    test_err()));
	assert_int_equal(test_fail_alloc(0), 0);
	teardown(&f);
}

static void parameters_are_checked(void **state)
{
	(void)state;
	struct fixture f;
	struct algo_analyzer *a;
	setup(&f);
	const struct algo_analyzer_params good = f.params;
	f.params.t_ms = NAN;
	assert_int_equal(open_close(&f, NULL), SIM_EINVAL);
	f.params = good;
	f.params.max_traces = 63;
	struct sim_err e;
	assert_int_equal(open_close(&f, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "max_traces 63 is not in [64, 6.71089e+07] traces.");
	f.params = good;
	f.params.key = 2;
	assert_int_equal(open_close(&f, NULL), SIM_EINVAL);
	f.params = good;
	f.routing.topo = NULL;
	assert_int_equal(algo_analyzer_open(&a, &f.routing, &f.params, 0, NULL),
	    SIM_EINVAL);
	assert_null(a);
	teardown(&f);
}

static void time_alone_ends_traces(void **state)
{
	(void)state;
	struct fixture f;
	struct obs_copy c[TOPO_MAX_HOPS];
	setup(&f);
	const struct obs_copy p = copies_packet(0, 20, 5000, 7);
	copies_of(&f.topo, &p, 5 * MS, c);
	copies_add(&f.m, c, 5, 0x7);
	const sim_ns last = c[2].t_ns;
	assert_ok(
	    algo_analyzer_open(&f.a, &f.routing, &f.params, 0, test_err()));
	assert_ok(algo_analyzer_feed(f.a, &f.m, 0, 3, &f.sink, &f.counters,
	    test_err()));
	const sim_ns until[] = {last + 10 * MS, last + 10 * MS + 1, 105 * MS,
	    105 * MS + 1, 10 * SIM_SEC - 1, 10 * SIM_SEC};
	const size_t ended[] = {0, 1, 1, 1, 1, 1},
		     stored[] = {0, 0, 0, 1, 1, 1};
	for (int i = 0; i < 6; i++) {
		assert_int_equal(f.counters.n > 0, 0);
		assert_ok(algo_analyzer_flush(f.a, until[i], &f.sink,
		    &f.counters, test_err()));
		assert_int_equal(algo_analyzer_counted(f.a)->n_traces,
		    ended[i]);
		assert_int_equal(f.store.traces.n, stored[i]);
	}
	assert_true(f.counters.n > 0);
	assert_true(f.counters.t_ns[0] == 10 * SIM_SEC);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_healthy_packet_is_counted_and_not_kept),
	    cmocka_unit_test(special_protocols_are_kept_whatever_took_them),
	    cmocka_unit_test(a_packet_that_ends_early_is_suspected),
	    cmocka_unit_test(a_packet_that_is_sent_again_was_dropped),
	    cmocka_unit_test(a_packet_that_is_answered_arrived),
	    cmocka_unit_test(a_packet_that_goes_round_loops),
	    cmocka_unit_test(one_two_or_eight_analyzers_say_the_same),
	    cmocka_unit_test(numbers_of_copies_tell_what_mirrors_lost),
	    cmocka_unit_test(how_copies_are_cut_into_batches_does_not_matter),
	    cmocka_unit_test(duplicates_and_order_change_no_verdict),
	    cmocka_unit_test(who_is_renamed_is_accused_by_the_new_name),
	    cmocka_unit_test(the_same_traces_as_by_a_plain_table),
	    cmocka_unit_test(whatever_comes_each_copy_is_accounted_for),
	    cmocka_unit_test(a_full_ring_ends_the_oldest),
	    cmocka_unit_test(two_gaps_after_its_first_copy_a_trace_ends),
	    cmocka_unit_test(a_trace_ends_in_time_though_nothing_comes),
	    cmocka_unit_test(time_does_not_go_back),
	    cmocka_unit_test(packets_without_an_id_of_their_own_are_told_apart),
	    cmocka_unit_test(fragments_are_no_loop_and_no_drop),
	    cmocka_unit_test(pause_frames_are_traces_of_one_copy),
	    cmocka_unit_test(latencies_are_differences_at_one_switch),
	    cmocka_unit_test(bins_are_a_fifth_wide),
	    cmocka_unit_test(a_trace_takes_144_bytes),
	    cmocka_unit_test(memory_may_be_missing),
	    cmocka_unit_test(parameters_are_checked),
	    cmocka_unit_test(time_alone_ends_traces),
	};
	return cmocka_run_group_tests_name("algos/everflow/analyzer", tests,
	    NULL, NULL);
}
