/* tests/algos/everflow/suspect_test.c -- what is sent again or answered decides.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With loss p of a packet on its way and m of each mirror a suspected drop is
 * right with probability p / (p + m), up to products of both; those that were
 * confirmed always are. Nine intervals at 1e-6 each: one in 110,000 seeds fires.
 */
#include "algos/everflow/suspect.h"

#include "algos/everflow/analyzer.h"
#include "sim/stat.h"
#include "tests/rigs/copies.h"
#include "tests/test.h"
#include "topo/addr.h"

enum { MS = 1000000, N_PACKETS = 300000 };

/* --- one suspect and one piece of evidence ---------------------------------*/
/* What came of a suspect, and how many came out. */
struct outcome {
	uint32_t marks, n, n_lost;
};

static int note(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct outcome *o = arg;
	(void)hop, (void)e;
	o->marks = t->marks;
	o->n_lost = t->n_lost;
	o->n++;
	return 0;
}

static struct algo_trace segment(uint8_t flags, uint32_t seq, uint32_t n_bytes)
{
	return (struct algo_trace){.t_ns = 5 * MS,
	    .src_ip = topo_addr_of_host(1),
	    .dst_ip = topo_addr_of_host(2),
	    .src_port = 1000,
	    .dst_port = 80,
	    .proto = TOPO_PROTO_TCP,
	    .flags = flags,
	    .seq = seq,
	    .n_bytes = n_bytes,
	    .marks = ALGO_TRACE_SUSPECT,
	    .n_hops = 1};
}

static struct algo_trace turned(struct algo_trace t, uint8_t flags,
    uint32_t ack)
{
	return (struct algo_trace){.t_ns = t.t_ns + MS,
	    .src_ip = t.dst_ip,
	    .dst_ip = t.src_ip,
	    .src_port = t.dst_port,
	    .dst_port = t.src_port,
	    .proto = t.proto,
	    .flags = flags,
	    .ack = ack,
	    .n_hops = 1};
}

/* The grade of W, 100 ms long, when T comes. */
static uint32_t grade(const struct algo_trace *w, const struct algo_trace *t)
{
	struct algo_suspects s;
	struct outcome o = {0};
	const struct algo_trace_sink sink = {&o, note};
	const struct algo_hop hop = {0};
	assert_true(algo_suspect_waits(w));
	assert_ok(algo_suspects_open(&s, 10, 100 * MS, test_err()));
	assert_ok(algo_suspects_add(&s, w, &hop, &sink, test_err()));
	assert_ok(algo_suspects_see(&s, t, &sink, test_err()));
	assert_ok(algo_suspects_expire(&s, SIM_NEVER, &sink, test_err()));
	assert_int_equal(o.n, 1);
	assert_int_equal(o.n_lost, (o.marks & ALGO_TRACE_REFUTED) != 0);
	algo_suspects_close(&s);
	return o.marks;
}

#define A OBS_TCP_ACK
#define S OBS_TCP_SYN
#define F OBS_TCP_FIN
#define R OBS_TCP_RST

static void what_comes_again_confirms(void **state)
{
	(void)state;
	/* Sequence numbers begin anew behind 2^32. */
	const uint32_t seq = UINT32_MAX;
	const struct algo_trace syn = segment(S, seq, 74),
				data = segment(A, seq, 1500),
				fin = segment(A | F, seq, 66);
	struct algo_trace t;
	const struct algo_trace *same[] = {&syn, &data, &fin};
	for (int i = 0; i < 3; i++) {
		t = *same[i];
		t.ip_id = 77;
		t.t_ns += 100 * MS;
		assert_int_equal(grade(same[i], &t), ALGO_TRACE_CONFIRMED);
		t.t_ns++;
		assert_int_equal(grade(same[i], &t), ALGO_TRACE_SUSPECT);
		t.t_ns = 6 * MS;
		t.src_port++;
		assert_int_equal(grade(same[i], &t), ALGO_TRACE_SUSPECT);
	}
	/* An acknowledgement has the number of the data behind it. */
	t = segment(A, seq, 66);
	assert_int_equal(grade(&data, &t), ALGO_TRACE_SUSPECT);
	t.marks = ALGO_TRACE_RETX;
	assert_int_equal(grade(&data, &t), ALGO_TRACE_CONFIRMED);
	t = segment(A, seq + 1, 1500);
	assert_int_equal(grade(&data, &t), ALGO_TRACE_SUSPECT);
	/* A probe has numbers of its own. */
	t = segment(A, seq, 1500);
	t.marks = ALGO_TRACE_PROBE;
	assert_int_equal(grade(&data, &t), ALGO_TRACE_SUSPECT);
	/* RoCE: the packet sequence number, but of the same kind. */
	struct algo_trace write = segment(0, 9, 1100), again;
	write.proto = OBS_PROTO_UDP;
	write.dst_port = OBS_PORT_ROCE;
	write.bth_opcode = 7;
	again = write;
	assert_int_equal(grade(&write, &again), ALGO_TRACE_CONFIRMED);
	again.bth_opcode = 8;
	assert_int_equal(grade(&write, &again), ALGO_TRACE_SUSPECT);
}

static void what_is_answered_refutes(void **state)
{
	(void)state;
	const uint32_t seq = UINT32_MAX;
	const struct algo_trace syn = segment(S, seq, 74),
				data = segment(A, seq, 1500),
				fin = segment(A | F, seq, 66);
	struct algo_trace t = turned(syn, S | A, seq + 1);
	assert_int_equal(grade(&syn, &t), ALGO_TRACE_REFUTED);
	t = turned(syn, R | A, seq + 1);
	assert_int_equal(grade(&syn, &t), ALGO_TRACE_REFUTED);
	t = turned(syn, S | A, seq); /* of another connection */
	assert_int_equal(grade(&syn, &t), ALGO_TRACE_SUSPECT);
	t = turned(syn, S, seq + 1); /* no answer */
	assert_int_equal(grade(&syn, &t), ALGO_TRACE_SUSPECT);
	t = turned(data, A, seq + 1434);
	assert_int_equal(grade(&data, &t), ALGO_TRACE_REFUTED);
	t = turned(data, A, seq);
	assert_int_equal(grade(&data, &t), ALGO_TRACE_SUSPECT);
	t = turned(fin, A, seq + 1);
	assert_int_equal(grade(&fin, &t), ALGO_TRACE_REFUTED);
	/* The connection went on. */
	t = segment(A, seq + 1, 66);
	assert_int_equal(grade(&syn, &t), ALGO_TRACE_REFUTED);
	assert_int_equal(grade(&data, &t), ALGO_TRACE_SUSPECT);
	t = segment(R, seq + 1, 66);
	assert_int_equal(grade(&syn, &t), ALGO_TRACE_SUSPECT);
}

static void what_nothing_can_tell_does_not_wait(void **state)
{
	(void)state;
	struct algo_trace t = segment(A, 1, 66);
	assert_false(algo_suspect_waits(&t));
	t.n_bytes = ALGO_SUSPECT_BARE_BYTES;
	assert_false(algo_suspect_waits(&t));
	t.n_bytes++;
	assert_true(algo_suspect_waits(&t));
	t.marks |= ALGO_TRACE_PROBE;
	assert_false(algo_suspect_waits(&t));
	t = segment(R, 1, 1500);
	assert_false(algo_suspect_waits(&t));
	t = segment(S, 1, 66);
	t.proto = OBS_PROTO_UDP;
	assert_false(algo_suspect_waits(&t));
	t.dst_port = OBS_PORT_ROCE;
	assert_true(algo_suspect_waits(&t));
	t.bth_opcode = OBS_BTH_ACK;
	assert_false(algo_suspect_waits(&t));
}

/* Against one list of all that wait, for many of few connections. */
static void many_wait_and_each_is_told_once(void **state)
{
	(void)state;
	enum { N = 64, STEPS = 20000 };
	struct {
		struct algo_trace t;
		int waits;
	} list[STEPS];
	struct algo_suspects s;
	struct outcome o = {0};
	const struct algo_trace_sink sink = {&o, note};
	const struct algo_hop hop = {0};
	struct sim_rng r;
	uint32_t first = 0, want = 0;
	test_rng(&r, 0);
	assert_ok(algo_suspects_open(&s, N, 100 * MS, test_err()));
	for (uint32_t i = 0; i < STEPS; i++) {
		struct algo_trace t = segment(S, sim_rng_below(&r, 3), 74);
		t.t_ns = (uint64_t)i * (i / 1000 % 2 ? MS : 5 * MS);
		if (i > 0 && t.t_ns < list[i - 1].t.t_ns)
			t.t_ns = list[i - 1].t.t_ns;
		t.src_port = (uint16_t)sim_rng_below(&r, 20);
		list[i].t = t;
		list[i].waits = 1;
		while (first < i &&
		    (t.t_ns - list[first].t.t_ns > 100 * MS ||
			i - first >= N)) {
			want += list[first].waits;
			list[first++].waits = 0;
		}
		for (uint32_t k = first; k < i; k++)
			if (list[k].waits && list[k].t.seq == t.seq &&
			    list[k].t.src_port == t.src_port) {
				list[k].waits = 0;
				want++;
			}
		assert_ok(algo_suspects_expire(&s, t.t_ns, &sink, test_err()));
		assert_ok(algo_suspects_see(&s, &t, &sink, test_err()));
		assert_ok(algo_suspects_add(&s, &t, &hop, &sink, test_err()));
		assert_int_equal(o.n, want);
	}
	assert_ok(algo_suspects_expire(&s, SIM_NEVER, &sink, test_err()));
	assert_int_equal(o.n, STEPS);
	assert_int_equal(s.n_waiting, 0);
	algo_suspects_close(&s);
}

/* --- the law ---------------------------------------------------------------*/
struct law {
	struct topo topo;
	struct algo_analyzer *a;
	struct obs_mirror m;
	struct algo_counters counters;
	struct sim_rng r;
	uint8_t *lost; /* [N_PACKETS] which SYNs were */
	uint32_t right[3], n[3];
};

/* Ports and hosts number the packets. */
static int sort_out(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	(void)hop, (void)e;
	struct law *l = arg;
	const uint32_t k = t->seq;
	const int g = t->marks & ALGO_TRACE_CONFIRMED ? 1
	    : t->marks & ALGO_TRACE_REFUTED           ? 2
						      : 0;
	/* Only SYNs that were sent first. */
	if (t->flags == S && t->ip_id == 1) {
		l->n[g]++;
		l->right[g] += l->lost[k];
	}
	return 0;
}

/* Copies of a packet that gets past LAST switches; mirrors are lost at rate
 * M. Returns a bit for each that is not. */
static uint64_t mirrors(struct law *l, unsigned n, double m)
{
	uint64_t keep = 0;
	for (unsigned i = 0; i < n; i++)
		keep |= (uint64_t)(sim_rng_u01(&l->r) >= m) << i;
	return keep;
}

/* SYN K and what follows. Packets that are seen whole say nothing, so they are
 * left out. */
static void one_packet(struct law *l, uint32_t k, double p, double m)
{
	struct obs_copy c[TOPO_MAX_HOPS];
	const uint64_t at = (uint64_t)k * 200 * MS;
	struct obs_copy syn = copies_packet(0, 20, (uint16_t)k, 1);
	syn.seq = k;
	syn.digest = (uint64_t)k << 32;
	const unsigned n = copies_of(&l->topo, &syn, at, c);
	l->lost[k] = sim_rng_u01(&l->r) < p;
	const unsigned got = l->lost[k] ? 1 + sim_rng_below(&l->r, n - 1) : n;
	const uint64_t keep = mirrors(l, got, m);
	if (got == n && keep == (UINT64_C(1) << n) - 1)
		return;
	copies_add(&l->m, c, got, keep);
	if (l->lost[k]) {
		syn.ip_id = 2;
		copies_of(&l->topo, &syn, at + 30 * MS, c);
		copies_add(&l->m, c, n, mirrors(l, n, m));
	}
	struct obs_copy back = copies_packet(20, 0, 80, 0);
	back.dst_port = syn.src_port;
	back.flags = S | A;
	back.ack = k + 1;
	copies_of(&l->topo, &back, at + 31 * MS, c);
	copies_add(&l->m, c, n, mirrors(l, n, m));
}

static void count_grades(double p, double m, uint32_t n[3], uint32_t right[3])
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 4};
	struct law l = {0};
	struct algo_analyzer_params params = {.t_ms = 10,
	    .confirm_ms = 100,
	    .counters_s = 10,
	    .max_traces = 1024};
	assert_ok(topo_open_clos(&l.topo, &shape, test_err()));
	const struct algo_routing routing = {&l.topo, 0, 1};
	const struct algo_trace_sink sink = {&l, sort_out};
	test_rng(&l.r, (uint32_t)(p * 1e6) * 100 + (uint32_t)(m * 1e6));
	l.lost = calloc(N_PACKETS, 1);
	assert_non_null(l.lost);
	assert_ok(algo_analyzer_open(&l.a, &routing, &params, 0, test_err()));
	for (uint32_t k = 0; k < N_PACKETS; k++) {
		one_packet(&l, k, p, m);
		if (l.m.n < 1000 && k + 1 < N_PACKETS)
			continue;
		assert_ok(algo_analyzer_feed(l.a, &l.m, 0, l.m.n, &sink,
		    &l.counters, test_err()));
		obs_mirror_clear(&l.m);
		algo_counters_clear(&l.counters);
	}
	assert_ok(algo_analyzer_flush(l.a, SIM_NEVER, &sink, &l.counters,
	    test_err()));
	for (int g = 0; g < 3; g++) {
		n[g] = l.n[g];
		right[g] = l.right[g];
	}
	algo_analyzer_close(l.a);
	obs_mirror_free(&l.m);
	algo_counters_free(&l.counters);
	free(l.lost);
	topo_close(&l.topo);
}

static void suspects_are_right_as_often_as_links_lose(void **state)
{
	(void)state;
	const double ps[] = {1e-4, 1e-3, 1e-2}, ms[] = {1e-5, 1e-3, 5e-2};
	for (int i = 0; i < 9; i++) {
		const double p = ps[i % 3], m = ms[i / 3];
		uint32_t n[3], right[3];
		double lo, hi;
		count_grades(p, m, n, right);
		const uint32_t all = n[0] + n[1] + n[2];
		/* What was lost is seen by 1 to 4 switches, and suspected
		 * unless all their mirrors are lost; what was not is seen by a
		 * fifth. To first order p / (p + m). */
		const double unseen = (m + m * m + pow(m, 3) + pow(m, 4)) / 4;
		const double a = p * (1 - unseen);
		const double b = (1 - p) * m * (1 - pow(m, 4));
		assert_near(a / (a + b), p / (p + m), 2e-3);
		assert_ok(sim_binomial_interval(right[0] + right[1] + right[2],
		    all, 1 - 1e-6, &lo, &hi, test_err()));
		if (a / (a + b) < lo || a / (a + b) > hi)
			fail_msg("p %g, m %g: %g is not in [%g, %g]", p, m,
			    a / (a + b), lo, hi);
		/* Whatever was sent again had been lost here, and what was
		 * answered first had not. */
		assert_int_equal(right[1], n[1]);
		assert_true(right[2] <= 2 + 5 * N_PACKETS * p * pow(m, 5));
		assert_true(n[0] <= 2 + 1e-2 * all);
	}
}

static int open_close(void *arg, struct sim_err *e)
{
	struct algo_suspects s;
	(void)arg;
	const int rc = algo_suspects_open(&s, 100, 1, e);
	algo_suspects_close(&s);
	return rc;
}

static void memory_may_be_missing(void **state)
{
	(void)state;
	test_each_alloc_fails(open_close, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_comes_again_confirms),
	    cmocka_unit_test(what_is_answered_refutes),
	    cmocka_unit_test(what_nothing_can_tell_does_not_wait),
	    cmocka_unit_test(many_wait_and_each_is_told_once),
	    cmocka_unit_test(suspects_are_right_as_often_as_links_lose),
	    cmocka_unit_test(memory_may_be_missing),
	};
	return cmocka_run_group_tests_name("algos/everflow/suspect", tests,
	    NULL, NULL);
}
