/* tests/algos/everflow/debug_loop_test.c -- loops, by copies made by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Packets for the other pod go round by four switches of the first one: T1s send
 * them down where they should send them up. Nothing here is statistical.
 */
#include "algos/everflow/debug_loop.h"

#include "algos/everflow/guided.h"
#include "tests/test.h"
#include "topo/addr.h"

enum { N_COPIES = 10, ROUND = 4, SRC = 0, DST = 7 };

struct loop_rig {
	struct topo t;
	struct algo_trace_store store;
	struct obs_guided sent;
	struct algo_debug_loop_params p;
	void *state;
	struct algo_debug_out out;
	topo_switch round[ROUND]; /* ToR 0, a T1, ToR 1, the other T1 */
};

static void loop_rig_open(struct loop_rig *x)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 2,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 2};
	*x = (struct loop_rig){0};
	assert_ok(topo_open_clos(&x->t, &shape, test_err()));
	assert_ok(
	    sim_field_defaults(algo_debug_loop_fields, &x->p, test_err()));
	x->state = calloc(1, algo_debug_loop.state_size);
	assert_non_null(x->state);
	for (uint32_t i = 0; i < 2; i++) {
		x->round[2 * i] = topo_clos_tor(&x->t.clos, 0, i);
		x->round[2 * i + 1] = topo_clos_t1(&x->t.clos, 0, i);
	}
}

static void loop_rig_close(struct loop_rig *x)
{
	algo_trace_store_free(&x->store);
	obs_guided_free(&x->sent);
	algo_debug_free(&x->out);
	topo_close(&x->t);
	free(x->state);
}

static topo_link link_between(const struct loop_rig *x, topo_switch a,
    topo_switch b)
{
	return topo_link_between(&x->t, x->t.n_hosts + a, x->t.n_hosts + b);
}

static struct algo_trace loop_trace(topo_host dst, sim_ns t)
{
	return (struct algo_trace){.t_ns = t,
	    .end_ns = t + 90,
	    .marks = ALGO_TRACE_LOOP,
	    .src_ip = topo_addr_of_host(SRC),
	    .dst_ip = topo_addr_of_host(dst),
	    .seq = 5,
	    .src_port = 1000,
	    .dst_port = 80,
	    .proto = TOPO_PROTO_TCP,
	    .lost_link = TOPO_NONE};
}

/* Copies of a packet that comes to the START-th switch of the round and goes on;
 * without that of number LESS, and without all of the NOT-th switch. */
static void loop_rig_add(struct loop_rig *x, struct algo_trace t,
    unsigned start, unsigned less, unsigned not )
{
	struct algo_hop hop[N_COPIES] = {0};
	for (unsigned k = 0; k < N_COPIES; k++) {
		const unsigned at = (start + k) % ROUND;
		if (k == less || at == not )
			continue;
		hop[t.n_hops++] = (struct algo_hop){.t_ns = t.t_ns + k,
		    .node = x->round[at],
		    .in_link = k == 0
			? TOPO_NONE
			: link_between(x, x->round[(at + ROUND - 1) % ROUND],
			      x->round[at]),
		    .ttl = (uint8_t)(64 - k),
		    .ttl_in = (uint8_t)(64 - k)};
	}
	assert_ok(algo_trace_store_add(&x->store, &t, hop, test_err()));
}

static void loop_rig_look(struct loop_rig *x, sim_ns now, size_t n_findings,
    size_t n_orders)
{
	const struct algo_debug_in in = {.routing = {&x->t, 1, 1},
	    .traces = &x->store,
	    .sent = &x->sent,
	    .now = now,
	    .settle_ns = SIM_SEC};
	algo_debug_clear(&x->out);
	assert_ok(
	    algo_debug_loop.step(x->state, &x->p, &in, &x->out, test_err()));
	assert_int_equal(x->out.n_findings, n_findings);
	assert_int_equal(x->out.n_orders, n_orders);
}

/* --- cycles ---------------------------------------------------------------- */

/* From wherever it begins, the cycle is the round, and the cut is at the first of
 * the two T1s. */
static void cycles_are_listed_and_cut_where_they_leave_the_way(void **state)
{
	(void)state;
	for (unsigned start = 0; start < ROUND; start++) {
		struct loop_rig x;
		loop_rig_open(&x);
		loop_rig_add(&x, loop_trace(DST, 100), start, N_COPIES, ROUND);
		loop_rig_look(&x, SIM_SEC, 1, 1);
		const struct algo_finding *f = x.out.finding;
		const unsigned cut = start % 2 ? start : start + 1;
		assert_int_equal(f->cause, ALGO_CAUSE_LOOP);
		assert_int_equal(f->n_cycle, ROUND);
		for (unsigned i = 0; i < ROUND; i++)
			assert_int_equal(f->cycle[i],
			    x.t.n_hosts + x.round[(start + i) % ROUND]);
		assert_int_equal(f->node, x.t.n_hosts + x.round[cut % ROUND]);
		assert_int_equal(f->link,
		    link_between(&x, x.round[cut % ROUND],
			x.round[(cut + 1) % ROUND]));
		assert_near(f->score, 1, 0);
		assert_near(f->rate, 1, 0);
		assert_int_equal(f->persistent, 1);
		assert_int_equal(f->from_ns, 100);
		assert_int_equal(f->to_ns, 190);
		assert_int_equal(f->value.dst_ip, topo_addr_of_host(DST));
		assert_int_equal(f->mask.dst_ip, UINT32_MAX);
		loop_rig_close(&x);
	}
}

/* Whatever mirrors are lost, it is one loop; its destinations have in common what
 * all of them have. */
static void traces_of_a_cycle_are_one_loop(void **state)
{
	struct loop_rig x;
	const uint32_t differ = topo_addr_of_host(DST) ^ topo_addr_of_host(4);
	(void)state;
	loop_rig_open(&x);
	for (unsigned less = 0; less <= N_COPIES; less++)
		loop_rig_add(&x, loop_trace(DST, 1000 - 10 * less), 0, less,
		    ROUND);
	for (unsigned not = 0; not < ROUND; not ++)
		loop_rig_add(&x, loop_trace(4, 950 + 10 * not ), 1, N_COPIES,
		    not );
	loop_rig_look(&x, SIM_SEC, 1, 1);
	const struct algo_finding *f = x.out.finding;
	assert_int_equal(f->n_cycle, ROUND);
	assert_near(f->score, N_COPIES + 1 + ROUND, 0);
	assert_int_equal(f->from_ns, 900);
	assert_int_equal(f->to_ns, 1000 + 90);
	assert_int_equal(f->mask.dst_ip, ~differ);
	assert_int_equal(f->value.dst_ip, topo_addr_of_host(DST) & ~differ);
	loop_rig_close(&x);
}

/* Without a mark, without going back to itself, or by TTLs that stay the same as
 * of what is sent again, nothing loops. */
static void what_does_not_go_round_is_no_loop(void **state)
{
	struct loop_rig x;
	(void)state;
	loop_rig_open(&x);
	struct algo_trace t = loop_trace(DST, 100);
	t.marks = 0;
	loop_rig_add(&x, t, 0, N_COPIES, ROUND);
	t = loop_trace(DST, 100);
	t.proto = 0;
	loop_rig_add(&x, t, 0, N_COPIES, ROUND);
	t = loop_trace(DST, 100);
	struct algo_hop hop[2 * ROUND] = {0};
	for (t.n_hops = 0; t.n_hops < 2 * ROUND; t.n_hops++)
		hop[t.n_hops] =
		    (struct algo_hop){.node = x.round[t.n_hops % ROUND],
			.in_link = TOPO_NONE,
			.ttl = (uint8_t)((64 - t.n_hops % ROUND) |
			    (t.n_hops < ROUND ? 0 : OBS_TTL_RETX)),
			.ttl_in = (uint8_t)(64 - t.n_hops % ROUND)};
	assert_ok(algo_trace_store_add(&x.store, &t, hop, test_err()));
	t.n_hops = ROUND;
	assert_ok(algo_trace_store_add(&x.store, &t, hop, test_err()));
	t.n_hops = 0;
	assert_ok(algo_trace_store_add(&x.store, &t, hop, test_err()));
	loop_rig_look(&x, SIM_SEC, 0, 0);
	loop_rig_close(&x);
}

/* A mux under ToR 1 and a server under ToR 0 that each send to the other: who
 * unpacks is told by the outer address. The inner TTL falls once a round. */
static void loops_through_a_mux_are_cut_at_its_server(void **state)
{
	struct loop_rig x;
	struct algo_hop hop[N_COPIES] = {0};
	(void)state;
	loop_rig_open(&x);
	struct algo_trace t = loop_trace(200, 100);
	for (; t.n_hops < N_COPIES; t.n_hops++) {
		const unsigned at = t.n_hops % ROUND;
		const int outer = at == 2 || at == 3;
		hop[t.n_hops] = (struct algo_hop){.t_ns = 100u + t.n_hops,
		    .node = x.round[at == 3 ? 1 : at],
		    .in_link = TOPO_NONE,
		    .outer_dst = outer ? topo_addr_of_host(1) : 0,
		    .layer = (uint8_t)outer,
		    .ttl = (uint8_t)(64 - t.n_hops),
		    .ttl_in = (uint8_t)(64 - t.n_hops / ROUND)};
	}
	assert_ok(algo_trace_store_add(&x.store, &t, hop, test_err()));
	loop_rig_look(&x, SIM_SEC, 1, 1);
	const struct algo_finding *f = x.out.finding;
	assert_int_equal(f->cause, ALGO_CAUSE_MUX_LOOP);
	assert_int_equal(f->node, 1);
	assert_int_equal(f->link, topo_link_of(1, TOPO_DOWN));
	assert_int_equal(f->n_cycle, ROUND);
	loop_rig_close(&x);
}

/* --- trying again ---------------------------------------------------------- */

/* What came of an order: so many of its probes went round, of which others
 * arrived. */
static void loop_rig_answer(struct loop_rig *x,
    const struct algo_probe_order *o, uint32_t n_loops, sim_ns t)
{
	for (uint32_t i = 0; i < o->count; i++) {
		const struct algo_guided g = {.order = o->id,
		    .number = i,
		    .tuple = o->tuple,
		    .n_via = o->n_via,
		    .via = {o->via[0]}};
		const struct obs_guided_probe row = algo_guided_row(&g, SRC, t);
		struct algo_trace a = loop_trace(DST, t);
		assert_ok(obs_guided_add(&x->sent, &row, test_err()));
		a.src_ip = row.src_ip;
		a.dst_ip = row.dst_ip;
		a.src_port = row.src_port;
		a.dst_port = row.dst_port;
		a.seq = o->id;
		a.ack = i;
		a.marks = i < n_loops ? ALGO_TRACE_LOOP : 0;
		if (i < n_loops) {
			loop_rig_add(x, a, 0, N_COPIES, ROUND);
			continue;
		}
		const struct algo_hop hop = {.t_ns = t,
		    .node = x->round[0],
		    .in_link = TOPO_NONE};
		a.n_hops = 1;
		assert_ok(
		    algo_trace_store_add(&x->store, &a, &hop, test_err()));
	}
}

static void a_loop_is_tried_again_while_it_loops(void **state)
{
	struct loop_rig x;
	(void)state;
	loop_rig_open(&x);
	loop_rig_add(&x, loop_trace(DST, 100), 0, N_COPIES, ROUND);
	loop_rig_look(&x, SIM_SEC, 1, 1);
	const struct algo_probe_order first = x.out.order[0];
	assert_int_equal(first.n_via, 1);
	assert_int_equal(first.via[0], x.round[0]);
	assert_int_equal(first.count, 5);
	assert_int_equal(first.interval_ns, 100 * SIM_MS);
	assert_int_equal(first.tuple.src_ip, topo_addr_of_host(SRC));
	assert_int_equal(first.tuple.dst_ip, topo_addr_of_host(DST));
	assert_int_equal(first.tuple.src_port, 1000);
	assert_int_equal(first.tuple.dst_port, 80);
	loop_rig_look(&x, 7 * SIM_SEC, 1, 0);
	/* Three of five still go round; they are no new traces of it. */
	loop_rig_answer(&x, &first, 3, 2 * SIM_SEC);
	loop_rig_look(&x, 3 * SIM_SEC - 1, 1, 0);
	assert_near(x.out.finding->rate, 1, 0); /* not settled: nothing known */
	loop_rig_look(&x, 6 * SIM_SEC - 1, 1, 0);
	assert_near(x.out.finding->rate, 0.6, 1e-12);
	assert_true(x.out.finding->lo < 0.6 && x.out.finding->hi > 0.6);
	assert_near(x.out.finding->score, 1, 0);
	assert_int_equal(x.out.finding->persistent, 1);
	loop_rig_look(&x, 6 * SIM_SEC, 1, 1);
	/* None does, by the next: it is over. */
	const struct algo_probe_order next = x.out.order[0];
	assert_int_equal(next.id, first.id + 1);
	loop_rig_answer(&x, &next, 0, 7 * SIM_SEC);
	loop_rig_look(&x, 60 * SIM_SEC, 1, 0);
	assert_near(x.out.finding->rate, 0, 0);
	assert_int_equal(x.out.finding->persistent, 0);
	loop_rig_close(&x);
}

/* In the end there is no state but the tables: the latest probes of the tuple
 * tell. */
static void in_the_end_probes_are_known_by_their_tuple(void **state)
{
	struct loop_rig x;
	(void)state;
	loop_rig_open(&x);
	loop_rig_add(&x, loop_trace(DST, 100), 0, N_COPIES, ROUND);
	struct algo_probe_order o = {.id = 900000,
	    .tuple = {topo_addr_of_host(SRC), topo_addr_of_host(DST), 1000, 80,
		TOPO_PROTO_TCP},
	    .n_via = 1,
	    .via = {x.round[0]},
	    .count = 4};
	loop_rig_answer(&x, &o, 0, 2 * SIM_SEC);
	loop_rig_look(&x, SIM_NEVER, 1, 0);
	assert_near(x.out.finding->rate, 0, 0);
	assert_int_equal(x.out.finding->persistent, 0);
	o.tuple.src_port = 1001; /* of others */
	o.id++;
	loop_rig_answer(&x, &o, 0, 3 * SIM_SEC);
	o.tuple.src_port = 1000;
	o.id++;
	loop_rig_answer(&x, &o, 0, 4 * SIM_SEC);
	loop_rig_look(&x, SIM_NEVER, 1, 0);
	assert_near(x.out.finding->rate, 0, 0);
	loop_rig_close(&x);
}

/* Two rounds, of which one may be tried again; both are told. */
static void no_more_loops_are_tried_than_may_be(void **state)
{
	struct loop_rig x;
	(void)state;
	loop_rig_open(&x);
	x.p.n_loops = 1;
	loop_rig_add(&x, loop_trace(DST, 100), 0, N_COPIES, ROUND);
	x.round[3] = topo_clos_t1(&x.t.clos, 0, 0);
	loop_rig_add(&x, loop_trace(DST, 100), 0, N_COPIES, ROUND);
	loop_rig_look(&x, SIM_SEC, 2, 1);
	loop_rig_look(&x, 2 * SIM_SEC, 2, 0);
	loop_rig_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		cycles_are_listed_and_cut_where_they_leave_the_way),
	    cmocka_unit_test(traces_of_a_cycle_are_one_loop),
	    cmocka_unit_test(what_does_not_go_round_is_no_loop),
	    cmocka_unit_test(loops_through_a_mux_are_cut_at_its_server),
	    cmocka_unit_test(a_loop_is_tried_again_while_it_loops),
	    cmocka_unit_test(in_the_end_probes_are_known_by_their_tuple),
	    cmocka_unit_test(no_more_loops_are_tried_than_may_be),
	};
	return cmocka_run_group_tests_name("algos/everflow/debug_loop", tests,
	    NULL, NULL);
}
