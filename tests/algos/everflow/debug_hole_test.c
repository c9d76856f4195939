/* tests/algos/everflow/debug_hole_test.c -- holes, probed step by step.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One switch takes a tenth of all pairs of addresses, or of five-tuples, and
 * probes answer what they are asked at once, no mirror being lost. The debugger is
 * first shown a drop that was none, as where a mirror is lost, and later one.
 */
#include "algos/everflow/debug_drop.h"
#include "algos/everflow/guided.h"
#include "models/blackhole_rule.h"
#include "tests/test.h"
#include "topo/addr.h"
#include "topo/clos.h"

enum { PORT = 80, N_STEPS = 20 };

struct probed {
	struct topo topo;
	struct blackhole_rule rule;
	topo_switch hole;
	struct algo_trace_store store;
	struct obs_guided sent;
	struct algo_debug_out out;
	void *state;
	sim_ns now;
};

static void probed_open(struct probed *x, int type, uint32_t run)
{
	static const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 4};
	*x = (struct probed){.now = 0};
	assert_ok(topo_open_clos(&x->topo, &shape, test_err()));
	x->hole = topo_clos_tor(&x->topo.clos, 0, 1);
	assert_ok(blackhole_rule_init(&x->rule,
	    type == 1 ? BLACKHOLE_RULE_PAIR : BLACKHOLE_RULE_TUPLE, 0.1,
	    run + 1, test_err()));
	x->state = calloc(1, algo_debug_drop.state_size);
	assert_non_null(x->state);
}

static void probed_close(struct probed *x)
{
	algo_trace_store_free(&x->store);
	obs_guided_free(&x->sent);
	algo_debug_free(&x->out);
	topo_close(&x->topo);
	free(x->state);
}

/* Whether a packet with these addresses outside is lost on its way from AT to
 * NEXT. */
static int takes(const struct probed *x, topo_switch next,
    const struct topo_tuple *outer)
{
	return next == x->hole && blackhole_rule_drops(&x->rule, outer);
}

static topo_switch next_of(const struct probed *x, topo_switch at,
    const struct topo_tuple *tuple)
{
	const struct algo_routing r = {&x->topo, 77, 1};
	topo_node from, to;
	const topo_link l = algo_routing_next(&r, at, tuple,
	    algo_routing_node(&r, tuple->dst_ip));
	assert_int_not_equal(l, TOPO_NONE);
	topo_link_ends(&x->topo, l, &from, &to);
	return to < x->topo.n_hosts ? TOPO_NONE : to - x->topo.n_hosts;
}

static void probed_send(struct probed *x, const struct algo_probe_order *o,
    uint32_t number)
{
	const topo_host host = o->id * 7 % x->topo.n_hosts;
	struct algo_guided g = {.order = o->id,
	    .number = number,
	    .tuple = o->tuple,
	    .n_via = o->n_via};
	memcpy(g.via, o->via, sizeof(g.via));
	if (g.tuple.src_ip == 0)
		g.tuple.src_ip = topo_addr_of_host(host);
	const struct obs_guided_probe row =
	    algo_guided_row(&g, host, x->now + number);
	struct topo_tuple outer = g.tuple;
	topo_switch next = 0;
	if (o->n_via > 1) {
		next = o->via[1];
		outer = (struct topo_tuple){topo_addr_of_host(host),
		    topo_addr_of_switch(next), 0, 0, 4};
	} else {
		next = next_of(x, o->via[0], &g.tuple);
	}
	const int lost = takes(x, next, &outer);
	const struct algo_trace t = {.src_ip = row.src_ip,
	    .dst_ip = row.dst_ip,
	    .src_port = row.src_port,
	    .dst_port = row.dst_port,
	    .seq = o->id,
	    .ack = number,
	    .proto = TOPO_PROTO_TCP,
	    .n_hops = lost ? 1 : 3,
	    .marks = ALGO_TRACE_DEBUG | ALGO_TRACE_PROBE};
	const uint8_t layer = o->n_via > 1 ? 2 : 1;
	const struct algo_hop hop[3] = {{.t_ns = 1,
					    .node = o->via[0],
					    .layer = layer},
	    {.t_ns = 2, .node = next, .layer = (uint8_t)(layer - 1)},
	    {.t_ns = 3, .node = o->via[0], .layer = 0}};
	assert_ok(obs_guided_add(&x->sent, &row, test_err()));
	assert_ok(algo_trace_store_add(&x->store, &t, hop, test_err()));
}

static void probed_drop(struct probed *x, topo_link l,
    const struct topo_tuple *tuple, uint32_t marks)
{
	const struct algo_trace t = {.t_ns = x->now,
	    .end_ns = x->now,
	    .marks = marks,
	    .src_ip = tuple->src_ip,
	    .dst_ip = tuple->dst_ip,
	    .src_port = tuple->src_port,
	    .dst_port = tuple->dst_port,
	    .lost_link = l,
	    .proto = TOPO_PROTO_TCP};
	assert_ok(algo_trace_store_add(&x->store, &t, NULL, test_err()));
}

/* A tuple that the hole takes, or one that it does not. Of 48 pairs a tenth is
 * none with 0.006; the seeds are such that it is some. */
static struct topo_tuple tuple_that(const struct probed *x, int lost,
    struct sim_rng *r)
{
	const topo_host first = 4 * x->hole; /* hosts a ToR */
	for (int i = 0; i < 10000; i++) {
		const struct topo_tuple t = {topo_addr_of_host(12 +
						 sim_rng_below(r,
						     x->topo.n_hosts - 12)),
		    topo_addr_of_host(first + sim_rng_below(r, 4)),
		    (uint16_t)(1024 + sim_rng_below(r, 60000)), PORT,
		    TOPO_PROTO_TCP};
		if (blackhole_rule_drops(&x->rule, &t) == lost)
			return t;
	}
	fail_msg("no such tuple");
	return (struct topo_tuple){0};
}

static void probed_step(struct probed *x)
{
	struct algo_debug_drop_params p;
	assert_ok(sim_field_defaults(algo_debug_drop_fields, &p, test_err()));
	const struct algo_debug_in in = {.routing = {&x->topo, 77, 1},
	    .traces = &x->store,
	    .sent = &x->sent,
	    .now = x->now,
	    .settle_ns = SIM_MS};
	algo_debug_clear(&x->out);
	assert_ok(algo_debug_drop.step(x->state, &p, &in, &x->out, test_err()));
	for (size_t i = 0; i < x->out.n_orders; i++)
		for (uint32_t k = 0; k < x->out.order[i].count; k++)
			probed_send(x, &x->out.order[i], k);
	x->now += 5000 * SIM_MS;
}

static void holes_are_told_whatever_was_asked_first(void **state)
{
	enum { RUNS = 60 };
	(void)state;
	for (int type = 1; type <= 2; type++)
		for (uint32_t run = 0; run < RUNS; run++) {
			const enum algo_cause cause = type == 1
			    ? ALGO_CAUSE_BLACK_HOLE_1
			    : ALGO_CAUSE_BLACK_HOLE_2;
			struct probed x;
			struct sim_rng r;
			test_rng(&r, run);
			probed_open(&x, type, run);
			const topo_link l = topo_link_between(&x.topo,
			    x.topo.n_hosts + topo_clos_t1(&x.topo.clos, 0, 0),
			    x.topo.n_hosts + x.hole);
			struct topo_tuple t = tuple_that(&x, 0, &r);
			probed_drop(&x, l, &t, ALGO_TRACE_SUSPECT);
			for (int step = 0; step < N_STEPS; step++) {
				if (step == 8) {
					t = tuple_that(&x, 1, &r);
					probed_drop(&x, l, &t,
					    ALGO_TRACE_CONFIRMED);
				}
				probed_step(&x);
				for (size_t i = 0; i < x.out.n_findings; i++)
					if (x.out.finding[i].cause != cause ||
					    x.out.finding[i].node !=
						x.topo.n_hosts + x.hole)
						fail_msg("type %d, run %u, "
							 "step %d: %s",
						    type, run, step,
						    algo_cause_words
							[x.out.finding[i]
								.cause]);
			}
			if (x.out.n_findings == 0)
				fail_msg("type %d, run %u", type, run);
			probed_close(&x);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(holes_are_told_whatever_was_asked_first),
	};
	return cmocka_run_group_tests_name("algos/everflow/debug_drop (holes)",
	    tests, NULL, NULL);
}
