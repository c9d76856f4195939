/* tests/algos_everflow_analyzer_test.c -- copies become traces, graded.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/analyzer.h"

#include "tests/copies.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_healthy_packet_is_counted_and_not_kept),
	    cmocka_unit_test(special_protocols_are_kept_whatever_took_them),
	    cmocka_unit_test(a_packet_that_ends_early_is_suspected),
	    cmocka_unit_test(a_packet_that_is_sent_again_was_dropped),
	    cmocka_unit_test(a_packet_that_is_answered_arrived),
	    cmocka_unit_test(a_packet_that_goes_round_loops),
	};
	return cmocka_run_group_tests_name("algos/everflow/analyzer", tests,
	    NULL, NULL);
}
