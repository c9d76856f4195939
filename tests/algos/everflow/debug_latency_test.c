/* tests/algos/everflow/debug_latency_test.c -- what is probed for a slow pair, when
 * it is judged, and what is told.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rounds are made by hand: each takes 10 to 20 us, those of one cable more. So
 * far beyond chance that no seed can tell otherwise.
 */
#include "algos/everflow/debug_latency.h"

#include "algos/everflow/guided.h"
#include "tests/test.h"
#include "topo/addr.h"

enum { SRC = 0, DST = 7, N_PROBES = 30, LATE_US = 200, MAX_ASKED = 64 };

struct latency_rig {
	struct topo t;
	struct algo_trace_store store;
	struct obs_guided sent;
	struct algo_debug_latency_params p;
	void *state;
	struct algo_debug_out out;
	struct algo_probe_order asked[MAX_ASKED];
	size_t n_asked;
	topo_link way[TOPO_MAX_HOPS]; /* of the pair, with hosts' cables */
	unsigned n_way;
};

/* A SYN of the pair that was seen at each switch; which links it took is told, or
 * the switches alone. */
static void latency_rig_syn(struct latency_rig *x, int tell_links)
{
	struct algo_hop hop[TOPO_MAX_HOPS] = {0};
	const struct algo_trace t = {.t_ns = 1,
	    .end_ns = 2,
	    .src_ip = topo_addr_of_host(SRC),
	    .dst_ip = topo_addr_of_host(DST),
	    .src_port = 5,
	    .dst_port = 6,
	    .proto = TOPO_PROTO_TCP,
	    .flags = OBS_TCP_SYN,
	    .lost_link = TOPO_NONE,
	    .n_hops = (uint16_t)(x->n_way - 1)};
	for (unsigned i = 0; i + 1 < x->n_way; i++) {
		topo_node from, to;
		topo_link_ends(&x->t, x->way[i], &from, &to);
		hop[i] = (struct algo_hop){.t_ns = 1 + i,
		    .node = to - x->t.n_hosts,
		    .in_link = tell_links ? x->way[i] : TOPO_NONE};
	}
	assert_ok(algo_trace_store_add(&x->store, &t, hop, test_err()));
}

static void latency_rig_open(struct latency_rig *x, int tell_links)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 2,
	    .n_t1 = 3,
	    .n_t2 = 3,
	    .n_hosts = 2};
	*x = (struct latency_rig){0};
	assert_ok(topo_open_clos(&x->t, &shape, test_err()));
	assert_ok(
	    sim_field_defaults(algo_debug_latency_fields, &x->p, test_err()));
	x->p.src_host = SRC;
	x->p.dst_host = DST;
	x->p.n_probes = N_PROBES;
	x->p.n_peers = 5;
	x->state = calloc(1, algo_debug_latency.state_size);
	assert_non_null(x->state);
	x->n_way = topo_path(&x->t, 17, SRC, DST, 99, x->way);
	assert_int_equal(x->n_way, 6);
	latency_rig_syn(x, tell_links);
}

static void latency_rig_close(struct latency_rig *x)
{
	algo_trace_store_free(&x->store);
	obs_guided_free(&x->sent);
	algo_debug_free(&x->out);
	topo_close(&x->t);
	free(x->state);
}

static size_t latency_rig_look(struct latency_rig *x, sim_ns now)
{
	const struct algo_debug_in in = {.routing = {&x->t, 1, 1},
	    .traces = &x->store,
	    .sent = &x->sent,
	    .now = now,
	    .settle_ns = SIM_SEC};
	algo_debug_clear(&x->out);
	assert_ok(
	    algo_debug_latency.step(x->state, &x->p, &in, &x->out, test_err()));
	for (size_t i = 0; i < x->out.n_orders; i++) {
		assert_true(x->n_asked < MAX_ASKED);
		x->asked[x->n_asked++] = x->out.order[i];
	}
	return x->out.n_findings;
}

static uint32_t cable_of(const struct latency_rig *x,
    const struct algo_probe_order *o)
{
	return topo_link_between(&x->t, x->t.n_hosts + o->via[0],
		   x->t.n_hosts + o->via[1]) /
	    2;
}

/* Probe I of an order at T took US there and back. No copy tells when it was there,
 * which would tell by which of the cable's links it was late, if only by chance. */
static void latency_rig_round(struct latency_rig *x,
    const struct algo_probe_order *o, uint32_t i, sim_ns t, double us)
{
	const struct algo_guided g = {.order = o->id,
	    .number = i,
	    .tuple = {topo_addr_of_host(SRC), 0, o->tuple.src_port,
		o->tuple.dst_port, TOPO_PROTO_TCP},
	    .n_via = o->n_via,
	    .via = {o->via[0], o->via[1], o->via[2]}};
	const struct obs_guided_probe row = algo_guided_row(&g, SRC, t);
	const struct algo_trace trace = {.t_ns = t,
	    .end_ns = t,
	    .src_ip = row.src_ip,
	    .dst_ip = row.dst_ip,
	    .src_port = row.src_port,
	    .dst_port = row.dst_port,
	    .seq = o->id,
	    .ack = i,
	    .proto = TOPO_PROTO_TCP,
	    .lost_link = TOPO_NONE,
	    .n_hops = 2,
	    .marks = ALGO_TRACE_DEBUG | ALGO_TRACE_PROBE};
	struct algo_hop hop[2];
	for (unsigned k = 0; k < 2; k++)
		hop[k] = (struct algo_hop){.t_ns = t + (sim_ns)(us * 1e3 * k),
		    .node = g.via[2 * k],
		    .in_link = TOPO_NONE,
		    .layer = (uint8_t)(2 - 2 * k)};
	assert_ok(obs_guided_add(&x->sent, &row, test_err()));
	assert_ok(algo_trace_store_add(&x->store, &trace, hop, test_err()));
}

/* All that was asked for, sent at T; but LESS of the last order. */
static void latency_rig_answer(struct latency_rig *x, uint32_t slow, sim_ns t,
    uint32_t less)
{
	struct sim_rng r;
	test_rng(&r, slow);
	for (size_t k = 0; k < x->n_asked; k++)
		for (uint32_t i = 0;
		     i < x->asked[k].count - (k + 1 == x->n_asked ? less : 0);
		     i++)
			latency_rig_round(x, &x->asked[k], i, t,
			    10 + 10 * sim_rng_u01(&r) +
				(cable_of(x, &x->asked[k]) == slow ? LATE_US
								   : 0));
}

/* --- orders ---------------------------------------------------------------- */

/* The pair's cables between switches, each once and in the direction in which it
 * was crossed, and so many others of their classes that there are five of each. */
static void cables_of_the_pair_and_peers_are_probed(void **state)
{
	(void)state;
	for (int tell = 0; tell < 2; tell++) {
		struct latency_rig x;
		unsigned n_of[TOPO_N_LINK_CLASSES] = {0}, n_met = 0;
		latency_rig_open(&x, tell);
		assert_int_equal(latency_rig_look(&x, SIM_SEC), 0);
		assert_int_equal(x.n_asked, 10);
		for (size_t k = 0; k < x.n_asked; k++) {
			const struct algo_probe_order *o = &x.asked[k];
			const topo_link l = topo_link_between(&x.t,
			    x.t.n_hosts + o->via[0], x.t.n_hosts + o->via[1]);
			assert_int_equal(o->n_via, 3);
			assert_int_equal(o->via[2], o->via[0]);
			assert_int_equal(o->count, N_PROBES);
			assert_int_equal(o->interval_ns, 100 * SIM_MS);
			assert_int_equal(o->tuple.dst_ip, 0);
			assert_int_equal(o->id, x.asked[0].id + k);
			for (size_t i = 0; i < k; i++)
				assert_int_not_equal(cable_of(&x, o),
				    cable_of(&x, &x.asked[i]));
			n_of[topo_class_of(&x.t,
			    topo_link_of(l / 2, TOPO_UP))]++;
			for (unsigned i = 1; i + 1 < x.n_way; i++)
				n_met += x.way[i] == l;
		}
		assert_int_equal(n_met, 4);
		assert_int_equal(n_of[TOPO_TOR_T1], 5);
		assert_int_equal(n_of[TOPO_T1_T2], 5);
		/* Once. */
		latency_rig_look(&x, 2 * SIM_SEC);
		assert_int_equal(x.n_asked, 10);
		latency_rig_close(&x);
	}
}

/* Of fewer than were asked for all are; of a pair that was not seen, and when no
 * time is left, none. */
static void no_more_is_probed_than_there_is(void **state)
{
	struct latency_rig x;
	(void)state;
	latency_rig_open(&x, 1);
	x.p.n_peers = 64;
	latency_rig_look(&x, SIM_SEC);
	assert_int_equal(x.n_asked, 2 * 2 * 3 + 2 * 3 * 3);
	latency_rig_close(&x);
	latency_rig_open(&x, 1);
	x.p.dst_host = DST - 1;
	latency_rig_look(&x, SIM_SEC);
	assert_int_equal(x.n_asked, 0);
	x.p.src_host = DST; /* either way round */
	x.p.dst_host = SRC;
	latency_rig_look(&x, SIM_NEVER);
	assert_int_equal(x.n_asked, 0);
	latency_rig_look(&x, SIM_SEC);
	assert_int_equal(x.n_asked, 10);
	latency_rig_close(&x);
}

/* --- when ------------------------------------------------------------------ */

static void it_waits_until_probes_have_settled(void **state)
{
	struct latency_rig x;
	const sim_ns sent = 9 * SIM_SEC;
	(void)state;
	latency_rig_open(&x, 1);
	latency_rig_look(&x, SIM_SEC);
	latency_rig_answer(&x, x.way[2] / 2, sent, 0);
	assert_int_equal(latency_rig_look(&x, sent - 1), 0);
	assert_int_equal(latency_rig_look(&x, sent + SIM_SEC - 1), 0);
	assert_int_equal(latency_rig_look(&x, sent + SIM_SEC), 1);
	assert_int_equal(latency_rig_look(&x, SIM_NEVER), 1);
	latency_rig_close(&x);
}

/* Probes of others do not stand for the one that is missing; that is waited for
 * as long as is said. */
static void it_gives_up_on_what_does_not_come(void **state)
{
	struct latency_rig x;
	(void)state;
	latency_rig_open(&x, 1);
	latency_rig_look(&x, SIM_SEC);
	latency_rig_answer(&x, x.way[2] / 2, 9 * SIM_SEC, 1);
	struct algo_probe_order other = x.asked[0];
	other.id = x.asked[0].id - 1;
	latency_rig_round(&x, &other, 0, 9 * SIM_SEC, 15);
	other.id = x.asked[x.n_asked - 1].id + 1;
	latency_rig_round(&x, &other, 0, 9 * SIM_SEC, 15);
	assert_int_equal(latency_rig_look(&x, 60 * SIM_SEC), 0);
	assert_int_equal(latency_rig_look(&x, 91 * SIM_SEC - 1), 0);
	assert_int_equal(latency_rig_look(&x, 91 * SIM_SEC), 1);
	latency_rig_close(&x);
}

/* --- what ------------------------------------------------------------------ */

/* A cable is named if the pair crossed it, and a peer only if any pair was meant;
 * both in the direction that was met. */
static void slow_cables_of_the_pair_are_named(void **state)
{
	(void)state;
	for (unsigned any = 0; any < 2; any++)
		for (size_t k = 0; k < 10; k++) {
			struct latency_rig x;
			topo_link met = TOPO_NONE;
			latency_rig_open(&x, 1);
			if (any)
				x.p.src_host = x.p.dst_host = TOPO_NONE;
			latency_rig_look(&x, SIM_SEC);
			assert_int_equal(x.n_asked, 10);
			const uint32_t slow = cable_of(&x, &x.asked[k]);
			for (unsigned i = 1; i + 1 < x.n_way; i++)
				if (x.way[i] / 2 == slow)
					met = x.way[i];
			latency_rig_answer(&x, slow, 9 * SIM_SEC, 0);
			const size_t n = latency_rig_look(&x, 10 * SIM_SEC);
			assert_int_equal(n, met != TOPO_NONE || any);
			const struct algo_finding *f = x.out.finding;
			if (n > 0) {
				assert_int_equal(f->cause, ALGO_CAUSE_LATENCY);
				assert_int_equal(f->link / 2, slow);
				assert_true(f->link == met || met == TOPO_NONE);
				assert_int_equal(f->node, TOPO_NONE);
				assert_near(f->excess_us, LATE_US, 5);
				assert_near(f->rate, 1, 0);
				assert_true(f->lo > 0.8 && f->hi >= f->lo);
				assert_int_equal(f->persistent, 1);
				assert_int_equal(f->intermittent, 0);
				assert_int_equal(f->from_ns, 9 * SIM_SEC);
				assert_int_equal(f->to_ns, 9 * SIM_SEC);
			}
			latency_rig_close(&x);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cables_of_the_pair_and_peers_are_probed),
	    cmocka_unit_test(no_more_is_probed_than_there_is),
	    cmocka_unit_test(it_waits_until_probes_have_settled),
	    cmocka_unit_test(it_gives_up_on_what_does_not_come),
	    cmocka_unit_test(slow_cables_of_the_pair_are_named),
	};
	return cmocka_run_group_tests_name("algos/everflow/debug_latency",
	    tests, NULL, NULL);
}
