/* tests/models/sim/sim_test.c -- probes and losses in simulated time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/bulk.h"
#include "models/sim/sim.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"

static const struct topo_clos shape = {2, 4, 3, 2, 3, .n_cables = 0};

struct rig {
	struct scenes s;
	struct scene *scene;
	struct obs lossy;
	struct fabric_sim_params params;
	struct fabric_sim *sim;
	struct fabric *f;
};

static void open_rig(struct rig *g)
{
	*g = (struct rig){.sim = NULL};
	scenes_open(&g->s, &shape);
	g->s.params.noise.rate = scenes_fixed(0);
	g->scene = scenes_draw(&g->s, 0);
	struct fabric_sim_params *p = &g->params;
	const struct {
		const struct sim_field *fields;
		void *obj;
	} all[] = {{fabric_sim_fields, p}, {fabric_sim_latency_fields, p},
	    {fabric_sim_icmp_fields, &p->icmp},
	    {fabric_sim_slb_fields, &p->slb}, {fault_flap_fields, &p->flap}};
	for (size_t i = 0; i < 5; i++)
		assert_ok(
		    sim_field_defaults(all[i].fields, all[i].obj, test_err()));
	p->icmp.t_max = 0;
}

/* Draw the scene and begin an epoch, with the faults and parameters that the
 * rig has by now. */
static void begin(struct rig *g)
{
	g->scene = scenes_draw(&g->s, 0);
	if (!g->sim)
		assert_ok(fabric_sim_open(&g->sim, &g->s.topo, &g->params,
		    test_err()));
	g->f = fabric_sim_fabric(g->sim);
	assert_ok(fabric_sim_begin(g->sim, g->scene, &g->lossy, test_err()));
}

static void close_rig(struct rig *g)
{
	if (g->f)
		g->f->ops->close(g->f);
	obs_free(&g->lossy);
	scenes_close(&g->s);
}

/* Add a flow that lost to the window, with the path that ECMP gives it. */
static struct topo_tuple add_flow(struct rig *g, topo_host src, topo_host dst,
    uint16_t port, sim_ns start, uint32_t n_pkts, uint32_t n_retx)
{
	const struct obs_flow flow = {.start_ns = start,
	    .src_host = src,
	    .dst_host = dst,
	    .src_port = port,
	    .dst_port = 443,
	    .n_pkts = n_pkts,
	    .n_retx = n_retx};
	const struct topo_tuple t = {topo_addr_of_host(src),
	    topo_addr_of_host(dst), port, 443, TOPO_PROTO_TCP};
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = topo_path(&g->s.topo, g->scene->ecmp_seed, src, dst,
	    topo_tuple_digest(&t), path);
	assert_ok(obs_add_flow(&g->lossy, &flow, path, n, test_err()));
	return t;
}

static int next(struct rig *g, struct agent_event *ev, topo_host *host,
    sim_ns *at)
{
	size_t n;
	assert_ok(
	    g->f->ops->poll(g->f, SIM_NEVER, ev, host, at, 1, &n, test_err()));
	return n == 1;
}

static void act(struct rig *g, topo_host host, const struct agent_action *a)
{
	assert_ok(g->f->ops->submit(g->f, host, a, 1, test_err()));
}

static void probe(struct rig *g, const struct topo_tuple *t, unsigned ttl)
{
	const struct agent_action a = {.kind = AGENT_PROBE,
	    .ttl = (uint8_t)ttl,
	    .ip_id = (uint16_t)(100 + ttl),
	    .tuple = *t};
	act(g, t->src_ip - topo_addr_of_host(0), &a);
}

static void wait_until(struct rig *g, sim_ns t)
{
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	size_t n;
	assert_ok(g->f->ops->poll(g->f, t, &ev, &host, &at, 1, &n, test_err()));
	assert_int_equal(n, 0);
	assert_true(g->f->ops->now(g->f) == t);
}

/* --- losses --------------------------------------------------------------- */

static void each_lost_segment_is_sent_again_in_its_flows_life(void **state)
{
	enum { N = 300 };
	struct rig g;
	struct agent_event ev;
	topo_host host;
	sim_ns at, last = 0;
	unsigned n[N] = {0};
	uint64_t bin[20] = {0};
	(void)state;
	open_rig(&g);
	for (unsigned i = 0; i < N; i++)
		add_flow(&g, i % 3, 12 + i % 12, (uint16_t)(1000 + i),
		    i * SIM_MS * 100, 100, i % 7 == 0 ? 100 : i % 40);
	begin(&g);
	while (next(&g, &ev, &host, &at)) {
		assert_int_equal(ev.kind, AGENT_RETX);
		const unsigned i = ev.tuple.src_port - 1000u;
		const sim_ns start = i * SIM_MS * 100 + 200 * SIM_MS;
		assert_int_equal(host, i % 3);
		assert_int_equal(ev.established, i % 7 != 0);
		assert_true(at >= last);
		assert_in_range(at, start, start + SIM_SEC);
		assert_true(fabric_sim_row(g.sim, &ev.tuple) == i);
		bin[(at - start) * 20 / (SIM_SEC + 1)]++;
		last = at;
		n[i]++;
	}
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(n[i], i % 7 == 0 ? 100 : i % 40);
	/* Uniform in the life: fires once in 10^6 seeds. */
	assert_true(law_chi2_uniform(bin, 20) > 1e-6);
	close_rig(&g);
}

/* With TCP it is known which of a flow's repeats were SYNs: its first ones. */
static void early_repeats_are_of_no_connection(void **state)
{
	enum { N = 30 };
	struct rig g;
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	unsigned n[N] = {0};
	uint32_t early[N];
	(void)state;
	open_rig(&g);
	for (unsigned i = 0; i < N; i++) {
		early[i] = i % 6;
		add_flow(&g, i % 3, 12 + i % 12, (uint16_t)(1000 + i), 0, 5, 5);
	}
	begin(&g);
	fabric_sim_early(g.sim, early);
	while (next(&g, &ev, &host, &at)) {
		const unsigned i = ev.tuple.src_port - 1000u;
		assert_int_equal(ev.established, n[i]++ >= early[i]);
	}
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(n[i], 5);
	/* Not of the next epoch. */
	begin(&g);
	assert_int_equal(next(&g, &ev, &host, &at), 1);
	assert_int_equal(ev.established, 0);
	close_rig(&g);
}

/* --- probes --------------------------------------------------------------- */

static void answers_name_the_links_or_switches_of_the_path(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 2; run++) {
		struct rig g;
		struct agent_event ev;
		topo_host host;
		topo_node from, to;
		sim_ns at;
		open_rig(&g);
		g.params.icmp.source = run;
		const struct topo_tuple t = add_flow(&g, 1, 20, 7, 0, 9, 0);
		begin(&g);
		for (unsigned ttl = 0; ttl <= 15; ttl++)
			probe(&g, &t, ttl);
		unsigned seen = 0;
		const topo_link *path = obs_path(&g.lossy, 0);
		while (next(&g, &ev, &host, &at)) {
			const unsigned ttl = ev.ip_id - 100u;
			assert_int_equal(ev.kind, AGENT_ICMP);
			assert_int_equal(host, 1);
			assert_in_range(ttl, 1, 5);
			topo_link_ends(&g.s.topo, path[ttl - 1], &from, &to);
			assert_int_equal(ev.from_ip,
			    run ? topo_addr_of_switch(to - g.s.topo.n_hosts)
				: topo_addr_of_link(path[ttl - 1]));
			seen |= 1u << ttl;
		}
		assert_int_equal(seen, 0x3e);
		/* Probes to an address of nobody, and to the sender itself, get
		 * no answer and are no error. */
		struct topo_tuple lost = t;
		lost.dst_ip = 1;
		probe(&g, &lost, 1);
		lost.dst_ip = t.src_ip;
		probe(&g, &lost, 1);
		assert_false(next(&g, &ev, &host, &at));
		close_rig(&g);
	}
}

static void probes_are_lost_on_both_ways_at_the_rates_of_then(void **state)
{
	enum { N = 20000 };
	struct rig g;
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	(void)state;
	open_rig(&g);
	const struct topo_tuple t = add_flow(&g, 1, 20, 7, 0, 9, 0);
	const topo_link *path = obs_path(&g.lossy, 0);
	scenes_add_fault(&g.s, path[0], 0.1);
	scenes_add_fault(&g.s, path[1], 0.3);
	scenes_add_fault(&g.s, topo_link_reverse(path[2]), 0.2);
	scenes_add_fault(&g.s, path[3], 1)->from_s = 1;
	g.params.hop_us = g.params.queue_us = 0;
	g.params.icmp.latency_us = scenes_fixed(0);
	for (int lossless = 0; lossless < 2; lossless++) {
		g.params.lossless_probes = (uint32_t)lossless;
		begin(&g);
		for (int later = 0; later < 2; later++) {
			uint32_t n[16] = {0};
			for (unsigned i = 0; i < N; i++) {
				wait_until(&g,
				    (later * (sim_ns)N + i + 1) * 50 * SIM_US);
				for (unsigned ttl = 1; ttl < 5; ttl++)
					probe(&g, &t, ttl);
				while (next(&g, &ev, &host, &at))
					n[ev.ip_id - 100]++;
			}
			const double p[5] = {0, 0.9, 0.9 * 0.7, 0.9 * 0.7 * 0.8,
			    later ? 0 : 0.9 * 0.7 * 0.8};
			for (unsigned ttl = 1; ttl < 5; ttl++) {
				const double want = lossless ? 1 : p[ttl];
				/* 5.5 sd: once in 2.6e7. */
				assert_near((double)n[ttl] / N, want,
				    5.5 * sqrt(want * (1 - want) / N));
			}
			if (lossless)
				break;
		}
	}
	close_rig(&g);
}

static void answers_take_the_links_and_the_switchs_time(void **state)
{
	enum { N = 4000 };
	struct rig g;
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	struct law_mean m[6] = {{0}};
	(void)state;
	open_rig(&g);
	const struct topo_tuple t = add_flow(&g, 1, 20, 7, 0, 9, 0);
	g.params.hop_us = 3;
	g.params.queue_us = 10;
	g.params.icmp.latency_us = scenes_uniform(50, 150);
	begin(&g);
	for (unsigned i = 0; i < N; i++) {
		const sim_ns sent = g.f->ops->now(g.f);
		for (unsigned ttl = 1; ttl <= 5; ttl++)
			probe(&g, &t, ttl);
		while (next(&g, &ev, &host, &at)) {
			const unsigned ttl = ev.ip_id - 100u;
			assert_true(
			    at - sent >= ttl * 6 * SIM_US + 50 * SIM_US - 2);
			law_add(&m[ttl], (double)(at - sent));
		}
	}
	for (unsigned ttl = 1; ttl <= 5; ttl++)
		assert_true(
		    fabs(law_z(&m[ttl], 1e3 * (ttl * 2 * 13 + 100))) < 5.5);
	close_rig(&g);
}

/* What one host sends changes nothing of what another hears. */
static void hosts_have_streams_of_their_own(void **state)
{
	sim_ns heard[2][5] = {{0}};
	(void)state;
	for (int both = 0; both < 2; both++) {
		struct rig g;
		struct agent_event ev;
		topo_host host;
		sim_ns at;
		open_rig(&g);
		const struct topo_tuple a = add_flow(&g, 1, 20, 7, 0, 9, 0);
		const struct topo_tuple b = add_flow(&g, 4, 20, 7, 0, 9, 0);
		begin(&g);
		for (unsigned ttl = 1; ttl < 5; ttl++) {
			if (both)
				probe(&g, &b, ttl);
			probe(&g, &a, ttl);
		}
		while (next(&g, &ev, &host, &at))
			if (host == 1)
				heard[both][ev.ip_id - 100] = at;
		close_rig(&g);
	}
	assert_memory_equal(heard[0], heard[1], sizeof(heard[0]));
}

static void a_switch_answers_no_more_than_its_bucket_allows(void **state)
{
	struct rig g;
	struct agent_event ev;
	topo_host host;
	sim_ns at, from_tor[500];
	unsigned n = 0;
	(void)state;
	open_rig(&g);
	g.params.icmp.t_max = 20;
	g.params.icmp.burst = 5;
	g.params.icmp.latency_us = scenes_fixed(0);
	g.params.queue_us = 0;
	const struct topo_tuple t = add_flow(&g, 1, 20, 7, 0, 9, 0);
	begin(&g);
	for (unsigned i = 0; i < 500; i++) {
		wait_until(&g, g.f->ops->now(g.f) + 10 * SIM_MS);
		probe(&g, &t, 1);
		if (next(&g, &ev, &host, &at))
			from_tor[n++] = at;
	}
	assert_in_range(n, 100, 106);
	for (unsigned i = 0; i + 25 < n; i++)
		assert_true(from_tor[i + 25] - from_tor[i] >= SIM_SEC);
	const struct fabric_sim_icmp_load load = fabric_sim_load(g.sim);
	assert_true(load.n_sent == n && load.n_suppressed == 500 - n);
	assert_true(load.max <= 25);
	close_rig(&g);
}

/* When a cable goes down during a trace, the probes before it take another path
 * than those after it. */
static void a_flap_amid_a_trace_splits_it(void **state)
{
	struct rig g;
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	topo_link after[TOPO_MAX_HOPS];
	(void)state;
	open_rig(&g);
	const struct topo_tuple t = add_flow(&g, 1, 20, 7, 0, 9, 0);
	begin(&g);
	const topo_link *path = obs_path(&g.lossy, 0);
	const struct fault_flap flap = {path[1], 1000, 2000 * SIM_SEC};
	struct fault_flaps *flaps = fabric_sim_flaps(g.sim);
	assert_ok(fault_flap_add(flaps, &flap, test_err()));
	memcpy(after, path, 6 * sizeof(after[0]));
	fault_flap_path(flaps, &g.s.topo, g.scene->ecmp_seed, 1, 20,
	    topo_tuple_digest(&t), 1000, after, 6);
	assert_int_not_equal(after[1], path[1]);
	for (unsigned ttl = 1; ttl <= 2; ttl++)
		probe(&g, &t, ttl);
	wait_until(&g, 999);
	probe(&g, &t, 3);
	wait_until(&g, 1000);
	for (unsigned ttl = 4; ttl <= 5; ttl++)
		probe(&g, &t, ttl);
	unsigned n = 0;
	while (next(&g, &ev, &host, &at)) {
		const unsigned ttl = ev.ip_id - 100u;
		assert_int_equal(ev.from_ip,
		    topo_addr_of_link((ttl <= 3 ? path : after)[ttl - 1]));
		n++;
	}
	assert_int_equal(n, 5);
	close_rig(&g);
}

/* --- the others ----------------------------------------------------------- */

static void queries_end_as_the_balancer_says(void **state)
{
	struct rig g;
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	unsigned n[4] = {0};
	(void)state;
	open_rig(&g);
	g.params.slb = (struct fabric_sim_slb_params){0.7, 0.3, 0.3,
	    scenes_uniform(100, 1000)};
	for (unsigned i = 0; i < 400; i++)
		add_flow(&g, 1, 20, (uint16_t)(i + 1), i * SIM_MS * 10, 9, 1);
	begin(&g);
	while (next(&g, &ev, &host, &at)) {
		const int vip = topo_addr_is_vip(ev.tuple.dst_ip);
		struct topo_tuple real = ev.tuple;
		real.dst_ip = topo_addr_of_host(20);
		const struct fabric_sim_slb_fate fate =
		    fabric_sim_slb_fate(&g.params.slb, &g.scene->where,
			topo_tuple_digest(&real));
		if (ev.kind == AGENT_RETX) {
			const struct agent_action ask = {.kind =
							     AGENT_SLB_QUERY,
			    .token = ev.tuple.src_port,
			    .tuple = ev.tuple};
			assert_int_equal(vip, fate.vip);
			assert_int_equal(real.src_port - 1u,
			    fabric_sim_row(g.sim, &real));
			act(&g, host, &ask);
			n[fate.vip ? 1 + fate.lost : 0]++;
			continue;
		}
		assert_int_equal(ev.kind, AGENT_SLB_REPLY);
		n[3]++;
		if (ev.ok)
			assert_int_equal(ev.dip, topo_addr_of_host(20));
	}
	assert_int_equal(n[0] + n[1] + n[2], 400);
	assert_true(n[0] > 50 && n[1] > 50 && n[2] > 50);
	assert_int_equal(n[3], n[0] + n[1]); /* lost ones never answer */
	close_rig(&g);
}

static void timers_come_in_order_and_late_ones_at_once(void **state)
{
	struct rig g;
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	const sim_ns due[4] = {500, 5, 500, 300},
		     want[4] = {100, 300, 500, 500};
	const uint64_t order[4] = {1, 3, 0, 2};
	(void)state;
	open_rig(&g);
	begin(&g);
	wait_until(&g, 100);
	for (uint64_t i = 0; i < 4; i++)
		act(&g, 3,
		    &(struct agent_action){.kind = AGENT_SET_TIMER,
			.at_ns = due[i],
			.token = i});
	for (unsigned i = 0; i < 4; i++) {
		assert_true(next(&g, &ev, &host, &at));
		assert_int_equal(ev.kind, AGENT_TIMER);
		assert_int_equal(host, 3);
		assert_true(ev.token == order[i] && at == want[i]);
	}
	assert_false(next(&g, &ev, &host, &at));
	assert_true(g.f->ops->now(g.f) == 500);
	close_rig(&g);
}

static void an_action_it_cannot_carry_out_is_an_error(void **state)
{
	struct agent_action a = {.kind = (enum agent_action_kind)99};
	struct rig g;
	struct sim_err e;
	(void)state;
	open_rig(&g);
	begin(&g);
	assert_int_equal(g.f->ops->submit(g.f, 0, &a, 1, &e), SIM_EUNSUPPORTED);
	a.kind = AGENT_SEND;
	assert_int_equal(g.f->ops->submit(g.f, 0, &a, 1, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "this fabric carries no packets as they stand.");
	close_rig(&g);
}

static int begin_again(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	struct fabric_sim *sim;
	struct agent_event ev;
	topo_host host;
	sim_ns at;
	size_t n = 1;
	int rc = fabric_sim_open(&sim, &g->s.topo, &g->params, e);
	if (rc < 0)
		return rc;
	struct fabric *f = fabric_sim_fabric(sim);
	rc = fabric_sim_begin(sim, g->scene, &g->lossy, e);
	while (rc == 0 && n > 0) {
		rc = f->ops->poll(f, SIM_NEVER, &ev, &host, &at, 1, &n, e);
		if (rc == 0 && n > 0 && ev.kind == AGENT_RETX) {
			const struct agent_action a = {.kind = AGENT_PROBE,
			    .ttl = 2,
			    .tuple = ev.tuple};
			rc = f->ops->submit(f, host, &a, 1, e);
		}
	}
	fabric_sim_close(sim);
	return rc;
}

static void failed_allocations_are_told(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g);
	g.params.flap.count = 3;
	for (unsigned i = 0; i < 30; i++)
		add_flow(&g, 1, 20, (uint16_t)(i + 1), 0, 9, 2);
	g.scene = scenes_draw(&g.s, 0);
	test_each_alloc_fails(begin_again, &g);
	close_rig(&g);
}

static void more_links_than_addresses_need_loopbacks(void **state)
{
	const struct topo_clos huge = {1, 1, 0, 0, 1 << 21, .n_cables = 0};
	const struct topo_clos more = {1, 1, 0, 0, (1 << 21) + 1,
	    .n_cables = 0};
	struct fabric_sim_params p = {.icmp = {.burst = 1}};
	struct fabric_sim *sim;
	struct sim_err e;
	struct topo t;
	(void)state;
	assert_ok(topo_open_clos(&t, &huge, test_err()));
	assert_ok(fabric_sim_open(&sim, &t, &p, test_err()));
	fabric_sim_close(sim);
	assert_ok(topo_open_clos(&t, &more, test_err()));
	assert_int_equal(fabric_sim_open(&sim, &t, &p, &e), SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "4194306 links"));
	p.icmp.source = FABRIC_SIM_ICMP_LOOPBACK;
	assert_ok(fabric_sim_open(&sim, &t, &p, test_err()));
	fabric_sim_close(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_lost_segment_is_sent_again_in_its_flows_life),
	    cmocka_unit_test(early_repeats_are_of_no_connection),
	    cmocka_unit_test(answers_name_the_links_or_switches_of_the_path),
	    cmocka_unit_test(probes_are_lost_on_both_ways_at_the_rates_of_then),
	    cmocka_unit_test(answers_take_the_links_and_the_switchs_time),
	    cmocka_unit_test(hosts_have_streams_of_their_own),
	    cmocka_unit_test(a_switch_answers_no_more_than_its_bucket_allows),
	    cmocka_unit_test(a_flap_amid_a_trace_splits_it),
	    cmocka_unit_test(queries_end_as_the_balancer_says),
	    cmocka_unit_test(timers_come_in_order_and_late_ones_at_once),
	    cmocka_unit_test(failed_allocations_are_told),
	    cmocka_unit_test(more_links_than_addresses_need_loopbacks),
	    cmocka_unit_test(an_action_it_cannot_carry_out_is_an_error),
	};
	return cmocka_run_group_tests_name("models/sim/sim", tests, NULL, NULL);
}
