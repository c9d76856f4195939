/* tests/algos/everflow/debug_drop_test.c -- what is probed for a drop, step by step.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Probes are answered at once, no mirror being lost, and of those over a bad link
 * each tenth is lost. Nothing here is statistical.
 */
#include "algos/everflow/debug_drop.h"

#include "algos/everflow/guided.h"
#include "tests/test.h"
#include "topo/addr.h"
#include "topo/clos.h"

enum { MAX_BAD = 4, SRC = 12, DST = 5, N_HOSTS = 4 };

struct drop_rig {
	struct topo t;
	struct algo_trace_store store;
	struct obs_guided sent;
	struct algo_debug_drop_params p;
	struct algo_debug_out out;
	void *state;
	sim_ns now;
	topo_switch at, next; /* ends of the link that the drop is on */
	topo_link link, bad[MAX_BAD];
	unsigned n_bad;
};

static topo_link drop_rig_link(const struct drop_rig *x, topo_switch a,
    topo_switch b)
{
	return topo_link_between(&x->t, x->t.n_hosts + a, x->t.n_hosts + b);
}

static void drop_rig_open(struct drop_rig *x)
{
	static const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = N_HOSTS};
	*x = (struct drop_rig){.now = SIM_SEC};
	assert_ok(topo_open_clos(&x->t, &shape, test_err()));
	assert_ok(
	    sim_field_defaults(algo_debug_drop_fields, &x->p, test_err()));
	x->state = calloc(1, algo_debug_drop.state_size);
	assert_non_null(x->state);
	x->at = topo_clos_t1(&x->t.clos, 0, 0);
	x->next = topo_clos_tor(&x->t.clos, 0, DST / N_HOSTS);
	x->link = drop_rig_link(x, x->at, x->next);
}

static void drop_rig_close(struct drop_rig *x)
{
	algo_trace_store_free(&x->store);
	obs_guided_free(&x->sent);
	algo_debug_free(&x->out);
	topo_close(&x->t);
	free(x->state);
}

static const struct topo_tuple dropped = {0, 0, 4000, 80, TOPO_PROTO_TCP};

static void drop_rig_drop(struct drop_rig *x, uint32_t marks)
{
	const struct algo_trace t = {.t_ns = 100,
	    .end_ns = 200,
	    .marks = marks,
	    .src_ip = topo_addr_of_host(SRC),
	    .dst_ip = topo_addr_of_host(DST),
	    .src_port = dropped.src_port,
	    .dst_port = dropped.dst_port,
	    .lost_link = x->link,
	    .proto = TOPO_PROTO_TCP};
	assert_ok(algo_trace_store_add(&x->store, &t, NULL, test_err()));
}

static size_t drop_rig_look(struct drop_rig *x)
{
	const struct algo_debug_in in = {.routing = {&x->t, 77, 1},
	    .traces = &x->store,
	    .sent = &x->sent,
	    .now = x->now,
	    .settle_ns = SIM_SEC};
	algo_debug_clear(&x->out);
	assert_ok(
	    algo_debug_drop.step(x->state, &x->p, &in, &x->out, test_err()));
	return x->out.n_orders;
}

/* The link that probes of an order are about. */
static topo_link drop_rig_over(const struct drop_rig *x,
    const struct algo_probe_order *o)
{
	const struct algo_routing r = {&x->t, 77, 1};
	return o->n_via > 1 ? drop_rig_link(x, o->via[0], o->via[1])
			    : algo_routing_next(&r, o->via[0], &o->tuple,
				  algo_routing_node(&r, o->tuple.dst_ip));
}

static void drop_rig_probe(struct drop_rig *x, const struct algo_probe_order *o,
    uint32_t i)
{
	struct algo_guided g = {.order = o->id,
	    .number = i,
	    .tuple = o->tuple,
	    .n_via = o->n_via,
	    .via = {o->via[0], o->via[1], o->via[2]}};
	const topo_link l = drop_rig_over(x, o);
	topo_node from, to;
	int lost = 0;
	if (g.tuple.src_ip == 0)
		g.tuple.src_ip = topo_addr_of_host(0);
	const struct obs_guided_probe row = algo_guided_row(&g, 0, x->now);
	topo_link_ends(&x->t, l, &from, &to);
	for (unsigned k = 0; k < x->n_bad; k++)
		lost |= x->bad[k] == l && i % 10 == 9;
	const struct algo_trace t = {.src_ip = row.src_ip,
	    .dst_ip = row.dst_ip,
	    .src_port = row.src_port,
	    .dst_port = row.dst_port,
	    .seq = o->id,
	    .ack = i,
	    .proto = TOPO_PROTO_TCP,
	    .n_hops = lost ? 1 : 3,
	    .lost_link = TOPO_NONE,
	    .marks = ALGO_TRACE_DEBUG | ALGO_TRACE_PROBE};
	const uint8_t layer = o->n_via > 1 ? 2 : 1;
	const struct algo_hop hop[3] = {{.t_ns = 1,
					    .node = o->via[0],
					    .layer = layer},
	    {.t_ns = 2,
		.node = to - x->t.n_hosts,
		.layer = (uint8_t)(layer - 1)},
	    {.t_ns = 3, .node = o->via[0]}};
	assert_ok(obs_guided_add(&x->sent, &row, test_err()));
	assert_ok(algo_trace_store_add(&x->store, &t, hop, test_err()));
}

/* All of the latest orders but LESS of the last one; they settle. */
static void drop_rig_answer(struct drop_rig *x, uint32_t less)
{
	const size_t n = x->out.n_orders;
	for (size_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < x->out.order[k].count; i++)
			if (k + 1 < n || i + less < x->out.order[k].count)
				drop_rig_probe(x, &x->out.order[k], i);
	x->now += SIM_SEC;
}

/* --- the first orders ------------------------------------------------------ */

/* Its own tuple; others of its ports, and of its addresses, all over the link; and
 * rounds. */
static void drops_are_probed_by_tuples_and_rounds(void **state)
{
	struct drop_rig x;
	unsigned n_others = 0;
	(void)state;
	drop_rig_open(&x);
	drop_rig_drop(&x, ALGO_TRACE_CONFIRMED);
	const size_t n = drop_rig_look(&x);
	assert_int_equal(n, 1 + 64 + 1);
	for (size_t k = 0; k < n; k++) {
		const struct algo_probe_order *o = &x.out.order[k];
		assert_int_equal(o->id, x.out.order[0].id + k);
		assert_int_equal(o->interval_ns, 10 * SIM_MS);
		assert_int_equal(o->via[0], x.at);
		assert_int_equal(drop_rig_over(&x, o), x.link);
		if (k == 0 || k + 1 == n)
			continue;
		assert_int_equal(o->n_via, 1);
		assert_int_equal(o->count, 10);
		const int same_ports = o->tuple.src_port == dropped.src_port &&
		    o->tuple.dst_port == dropped.dst_port;
		const int same_ends =
		    o->tuple.src_ip == topo_addr_of_host(SRC) &&
		    o->tuple.dst_ip == topo_addr_of_host(DST);
		/* So few hosts have some pair twice, and this one, too. */
		assert_true(k <= 16 ? same_ends && !same_ports : same_ports);
		n_others += !same_ends;
		assert_true(o->tuple.src_ip != o->tuple.dst_ip);
	}
	assert_true(n_others > 40);
	const struct algo_probe_order *own = x.out.order, *round = own + n - 1;
	assert_int_equal(own->count, 100);
	assert_int_equal(own->n_via, 1);
	assert_int_equal(own->tuple.src_ip, topo_addr_of_host(SRC));
	assert_int_equal(own->tuple.dst_ip, topo_addr_of_host(DST));
	assert_int_equal(own->tuple.src_port, dropped.src_port);
	assert_int_equal(own->tuple.dst_port, dropped.dst_port);
	assert_int_equal(round->count, 500);
	assert_int_equal(round->n_via, 3);
	assert_int_equal(round->via[1], x.next);
	assert_int_equal(round->via[2], x.at);
	assert_int_equal(round->tuple.dst_ip, 0);
	drop_rig_close(&x);
}

/* Nothing more while one probe is missing, till it is given up. */
static void probes_are_waited_for(void **state)
{
	struct drop_rig x;
	(void)state;
	drop_rig_open(&x);
	drop_rig_drop(&x, ALGO_TRACE_CONFIRMED);
	assert_true(drop_rig_look(&x) > 0);
	drop_rig_answer(&x, 1);
	x.now += 5 * SIM_SEC;
	assert_int_equal(drop_rig_look(&x), 0);
	x.now = 61 * SIM_SEC - 1;
	assert_int_equal(drop_rig_look(&x), 0);
	assert_int_equal(x.out.n_findings, 0);
	x.now++;
	assert_int_equal(drop_rig_look(&x), 1);
	drop_rig_answer(&x, 0);
	x.now--; /* not settled */
	assert_int_equal(drop_rig_look(&x), 0);
	x.now++;
	assert_int_equal(drop_rig_look(&x), 1);
	drop_rig_close(&x);
}

/* --- what is healthy when probed ------------------------------------------- */

/* Rounds go on up to 3,000 if a drop is certain; a suspected one is as likely a
 * mirror that was lost, and not worth more than the first. */
static void rounds_go_on_for_what_was_lost_for_certain(void **state)
{
	(void)state;
	for (int sure = 0; sure < 2; sure++) {
		struct drop_rig x;
		uint32_t n_rounds = 0;
		drop_rig_open(&x);
		for (int i = 0; i < 20; i++)
			drop_rig_drop(&x,
			    sure ? ALGO_TRACE_CONFIRMED : ALGO_TRACE_SUSPECT);
		for (size_t n; (n = drop_rig_look(&x)) > 0;) {
			assert_int_equal(x.out.n_findings, 0);
			n_rounds += x.out.order[n - 1].count;
			drop_rig_answer(&x, 0);
		}
		assert_int_equal(n_rounds, sure ? 3000 : 500);
		assert_int_equal(x.out.n_findings, sure);
		if (sure) {
			const struct algo_finding *f = x.out.finding;
			assert_int_equal(f->cause, ALGO_CAUSE_TRANSIENT);
			assert_int_equal(f->link, x.link);
			assert_int_equal(f->persistent, 0);
			assert_int_equal(f->from_ns, 100);
			assert_int_equal(f->to_ns, 200);
		}
		drop_rig_close(&x);
	}
}

/* --- what is not ----------------------------------------------------------- */

/* A link that loses a tenth is found at once; then the other link into the switch
 * behind it and two others out of that before it are tried, by 50 rounds each. Of a
 * switch that loses by each link into it that is told. */
static void losses_are_of_a_link_or_of_the_switch_behind(void **state)
{
	(void)state;
	for (int whole = 0; whole < 2; whole++) {
		struct drop_rig x;
		uint32_t n_into = 0, n_out = 0;
		drop_rig_open(&x);
		const topo_switch t1 = topo_clos_t1(&x.t.clos, 0, 1);
		x.bad[x.n_bad++] = x.link;
		if (whole)
			x.bad[x.n_bad++] = drop_rig_link(&x, t1, x.next);
		drop_rig_drop(&x, ALGO_TRACE_CONFIRMED);
		drop_rig_look(&x);
		drop_rig_answer(&x, 0);
		drop_rig_look(&x);
		for (size_t k = 0; k < x.out.n_orders; k++) {
			const struct algo_probe_order *o = &x.out.order[k];
			assert_int_equal(o->n_via, 3);
			assert_int_equal(o->count, 50);
			assert_int_not_equal(drop_rig_over(&x, o), x.link);
			n_into += o->via[1] == x.next;
			n_out += o->via[0] == x.at;
		}
		assert_int_equal(n_into, 1);
		assert_int_equal(n_out, 2);
		for (int i = 0; i < 20 && x.out.n_orders > 0; i++) {
			drop_rig_answer(&x, 0);
			drop_rig_look(&x);
		}
		assert_true(x.out.n_findings > 0);
		for (size_t i = 0; i < x.out.n_findings; i++) {
			const struct algo_finding *f = &x.out.finding[i];
			assert_int_equal(f->cause, ALGO_CAUSE_RANDOM);
			assert_int_equal(f->persistent, 1);
			assert_near(f->rate, 0.1, 0.03);
			assert_true(f->lo < f->rate && f->rate < f->hi);
			if (whole)
				assert_int_equal(f->node, x.t.n_hosts + x.next);
			else
				assert_int_equal(f->link, x.link);
		}
		drop_rig_close(&x);
	}
}

/* When there is no more time what is known is told, and nothing asked. */
static void in_the_end_nothing_is_asked(void **state)
{
	struct drop_rig x;
	(void)state;
	drop_rig_open(&x);
	for (int i = 0; i < 20; i++)
		drop_rig_drop(&x, ALGO_TRACE_CONFIRMED);
	x.now = SIM_NEVER;
	assert_int_equal(drop_rig_look(&x), 0);
	assert_int_equal(x.out.n_findings, 1);
	assert_int_equal(x.out.finding->link, x.link);
	assert_int_equal(x.out.finding->persistent, 0);
	drop_rig_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(drops_are_probed_by_tuples_and_rounds),
	    cmocka_unit_test(probes_are_waited_for),
	    cmocka_unit_test(rounds_go_on_for_what_was_lost_for_certain),
	    cmocka_unit_test(losses_are_of_a_link_or_of_the_switch_behind),
	    cmocka_unit_test(in_the_end_nothing_is_asked),
	};
	return cmocka_run_group_tests_name("algos/everflow/debug_drop", tests,
	    NULL, NULL);
}
