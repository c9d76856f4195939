/* tests/algos/everflow/debug_rdma_test.c -- algos/everflow/debug_rdma: NICs,
 * pauses and BGP, from packets to findings.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is injected must be found, and nothing be said where nothing is broken,
 * as often as is stated. RDMA_RUNS=5 has five times the runs, of which exact
 * intervals show it; of those that there are without, the counts alone. A rate of
 * false alarms of 5 %, where 1 % is stated, is noticed 49 times of 50 by each of
 * two tests, and one of misses of 10 %, where 5 % is, 8 times of 9.
 */
#include "sim/stat.h"
#include "tests/rigs/rdma_world.h"
#include "topo/addr.h"

/* A random link of the way of queue pair 0 that is no host's own. */
static topo_link link_on_the_way(struct rdma_world *w)
{
	const struct packet_rdma_pair *p = &w->pair[0];
	const struct topo_tuple tuple = packet_rdma_tuple(p, 0);
	const struct scene *s = scenes_draw(&w->scenes, 0);
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = topo_path(&w->scenes.topo, s->ecmp_seed, p->from,
	    p->to, topo_tuple_digest(&tuple), path);
	return path[1 + sim_rng_below(&w->r, n - 2)];
}

static void say(const struct rdma_world *w, const char *what, unsigned run)
{
	printf("%s, run %u:\n", what, run);
	for (size_t i = 0; i < w->out.n_findings; i++) {
		const struct algo_finding *f = &w->out.finding[i];
		printf("  %s: node %u link %u rate %g [%g, %g] score %g\n",
		    algo_cause_words[f->cause], f->node, f->link, f->rate,
		    f->lo, f->hi, f->score);
	}
}

/* N runs, or RDMA_RUNS as many. */
static unsigned times_runs(unsigned n)
{
	const char *text = getenv("RDMA_RUNS");
	return text ? n * (unsigned)atoi(text) : n;
}

/* Fail unless RIGHT of RUNS is at least LEAST; with RDMA_RUNS, unless its exact
 * lower bound is. */
static void assert_often(const char *what, unsigned right, unsigned runs,
    double least)
{
	double lo, hi;
	assert_ok(
	    sim_binomial_interval(right, runs, 0.95, &lo, &hi, test_err()));
	printf("%s: %u of %u, [%.4f, %.4f]\n", what, right, runs, lo, hi);
	if ((getenv("RDMA_RUNS") ? lo : right / (double)runs) < least)
		fail_msg("%s: %u of %u, lower bound %g, wanted %g", what, right,
		    runs, lo, least);
}

/* --- nothing is broken ---------------------------------------------------- */

static void run_healthy(const char *what, int congested, unsigned runs,
    unsigned first)
{
	unsigned alarms = 0;
	for (unsigned run = 0; run < runs; run++) {
		struct rdma_world w;
		rdma_open(&w, first + run);
		w.rdma.recovery =
		    run % 2 ? PACKET_RDMA_GO_BACK_0 : PACKET_RDMA_GO_BACK_N;
		w.mirror_loss = pow(10, -2 - (int)(run % 4));
		if (congested) {
			/* Ports are held for nine tenths of the time, and each
			 * pause is taken back; NICs hardly send. */
			w.rdma.paused = 0.9;
			w.pause.busy_per_s = 50;
			w.pause.busy_us = 20000;
			w.pause.off_us = 200 * pow(15, (run % 7) / 6.);
			w.pause.on_us = w.pause.off_us / 9;
		}
		rdma_live(&w);
		rdma_debug(&w);
		if (w.out.n_findings > 0)
			say(&w, what, run);
		alarms += w.out.n_findings > 0;
		rdma_close(&w);
	}
	assert_often(what, runs - alarms, runs, 0.99);
}

static void nothing_is_said_of_a_healthy_network(void **state)
{
	(void)state;
	run_healthy("healthy", 0, times_runs(80), 0);
}

static void nothing_is_said_of_a_congested_network(void **state)
{
	(void)state;
	run_healthy("congested", 1, times_runs(80), 1000);
}

static void without_traces_nothing_is_said(void **state)
{
	struct algo_debug_rdma_params p;
	struct algo_debug_out out = {0};
	const struct algo_debug_in in = {.now = SIM_SEC};
	(void)state;
	assert_ok(sim_field_defaults(algo_debug_rdma_fields, &p, test_err()));
	assert_ok(algo_debug_rdma.step(NULL, &p, &in, &out, test_err()));
	assert_int_equal(out.n_findings + out.n_orders, 0);
	algo_debug_free(&out);
}

/* --- what is injected ----------------------------------------------------- */

/* Go back 0: a finding for each sender over the lossy link, whose NAKs are
 * enough, and no other. */
static int is_right_of_nics(const struct rdma_world *w, unsigned *n_covered,
    unsigned *n_rates)
{
	int found = 0;
	for (size_t i = 0; i < w->out.n_findings; i++) {
		const struct algo_finding *f = &w->out.finding[i];
		int crosses = 0;
		for (unsigned k = 0; k < RDMA_PAIRS; k++)
			crosses |= w->pair[k].from == f->node && w->crosses[k];
		if (f->cause != ALGO_CAUSE_NIC_RESTART || !crosses)
			return 0;
		found |= f->node == w->pair[0].from;
		++*n_rates;
		*n_covered += f->lo <= w->loss && w->loss <= f->hi;
		assert_true(f->lo <= f->rate && f->rate <= f->hi);
	}
	return found;
}

static void a_nic_that_goes_back_to_0_is_named(void **state)
{
	unsigned right = 0, n_covered = 0, n_rates = 0;
	const unsigned runs = times_runs(50);
	(void)state;
	for (unsigned run = 0; run < runs; run++) {
		struct rdma_world w;
		rdma_open(&w, 2000 + run);
		w.rdma.recovery = PACKET_RDMA_GO_BACK_0;
		w.lossy = link_on_the_way(&w);
		rdma_live(&w);
		rdma_debug(&w);
		const int is = is_right_of_nics(&w, &n_covered, &n_rates);
		if (!is)
			say(&w, "go back 0", run);
		right += (unsigned)is;
		rdma_close(&w);
	}
	assert_often("go back 0", right, runs, 0.95);
	assert_often("its rate", n_covered, n_rates, 0.9);
}

static int is_right_of_loss(const struct rdma_world *w, unsigned *n_covered,
    unsigned *n_links)
{
	uint64_t losses = 0;
	for (size_t i = 0; i < w->out.n_findings; i++) {
		const struct algo_finding *f = &w->out.finding[i];
		if (f->cause != ALGO_CAUSE_RDMA_LOSS ||
		    (f->link != TOPO_NONE && f->link != w->lossy))
			return 0;
		*n_links += f->link == w->lossy;
		losses += (uint64_t)f->score;
		*n_covered += f->lo <= w->loss && w->loss <= f->hi;
	}
	return losses > 0;
}

static void loss_is_told_from_nics_that_restart(void **state)
{
	unsigned right = 0, n_covered = 0, n_links = 0, n = 0;
	const unsigned runs = times_runs(50);
	(void)state;
	for (unsigned run = 0; run < runs; run++) {
		struct rdma_world w;
		rdma_open(&w, 3000 + run);
		w.lossy = link_on_the_way(&w);
		rdma_live(&w);
		rdma_debug(&w);
		const int is = is_right_of_loss(&w, &n_covered, &n_links);
		if (!is)
			say(&w, "go back N", run);
		right += (unsigned)is;
		n += (unsigned)w.out.n_findings;
		rdma_close(&w);
	}
	assert_often("go back N", right, runs, 0.95);
	assert_often("its rate", n_covered, n, 0.88);
	printf("its link: named by %u of %u findings\n", n_links, n);
}

/* An ordinary pause right before or behind it may pass for a part of it. */
static void a_pause_storm_is_traced_to_its_nic(void **state)
{
	unsigned right = 0;
	const unsigned runs = times_runs(50);
	(void)state;
	for (unsigned run = 0; run < runs; run++) {
		struct rdma_world w;
		rdma_open(&w, 4000 + run);
		w.mirror_loss = run % 2 ? 1e-2 : 1e-4;
		w.storm = sim_rng_below(&w.r, w.scenes.topo.n_hosts);
		w.storm_from = sim_rng_below(&w.r, 10000000);
		w.storm_to = w.storm_from + 150 * SIM_MS;
		rdma_live(&w);
		rdma_debug(&w);
		const struct algo_finding *f = w.out.finding;
		const int is = w.out.n_findings == 1 &&
		    f->cause == ALGO_CAUSE_PAUSE_STORM && f->node == w.storm &&
		    f->link == topo_link_of(w.storm, TOPO_UP) && f->score > 2 &&
		    f->rate > 0.99 &&
		    fabs((double)f->from_ns - (double)w.storm_from) < 4e6 &&
		    fabs((double)f->to_ns - (double)w.storm_to) < 4e6;
		if (!is)
			say(&w, "storm", run);
		right += (unsigned)is;
		rdma_close(&w);
	}
	assert_often("storm", right, runs, 0.95);
}

static void a_session_that_flaps_is_named(void **state)
{
	unsigned right = 0;
	const unsigned runs = times_runs(50);
	(void)state;
	for (unsigned run = 0; run < runs; run++) {
		struct rdma_world w;
		rdma_open(&w, 5000 + run);
		const struct topo_clos *c = &w.scenes.topo.clos;
		w.bgp.way = run % 2;
		w.flapping = 2 *
		    (c->cable_tor +
			sim_rng_below(&w.r, c->n_cables - c->cable_tor));
		rdma_live(&w);
		rdma_debug(&w);
		const struct algo_finding *f = w.out.finding;
		const int is = w.out.n_findings == 1 &&
		    f->cause == ALGO_CAUSE_BGP_FLAP &&
		    f->link / 2 == w.flapping / 2 && f->rate > 0 &&
		    f->rate < 1 && f->score <= w.flaps.n_opens;
		if (!is)
			say(&w, "flap", run);
		right += (unsigned)is;
		rdma_close(&w);
	}
	assert_often("flap", right, runs, 0.95);
}

/* --- rows as they should not come ----------------------------------------- */

enum scenario { HEALTHY, RESTARTS, LOSES, STORMS, FLAPS, N_SCENARIOS };

static void live(struct rdma_world *w, enum scenario what, unsigned run)
{
	rdma_open(w, 6000 + run);
	if (what == RESTARTS)
		w->rdma.recovery = PACKET_RDMA_GO_BACK_0;
	if (what == RESTARTS || what == LOSES)
		w->lossy = link_on_the_way(w);
	if (what == STORMS) {
		w->storm = sim_rng_below(&w->r, w->scenes.topo.n_hosts);
		w->storm_to = 150 * SIM_MS;
	}
	if (what == FLAPS)
		w->flapping = 2 * w->scenes.topo.clos.cable_tor;
	rdma_live(w);
}

static void copy_row(struct algo_trace_store *to,
    const struct algo_trace_store *from, size_t i)
{
	const struct algo_trace t = algo_traces_at(&from->traces, i);
	struct algo_hop hop[64];
	assert_in_range(t.n_hops, 0, 64);
	for (unsigned k = 0; k < t.n_hops; k++)
		hop[k] = algo_hops_at(&from->hops, t.hop_off + k);
	assert_ok(algo_trace_store_add(to, &t, hop, test_err()));
}

/* The rows of W in any order, each with chance KEEP, and again with chance
 * AGAIN. */
static void shuffle_rows(struct rdma_world *w, double keep, double again)
{
	const size_t n = w->traces.traces.n;
	struct algo_trace_store to = {0};
	uint32_t *order = calloc(n + 1, sizeof(*order));
	assert_non_null(order);
	for (size_t i = 0; i < n; i++) {
		const uint32_t k = sim_rng_below(&w->r, (uint32_t)i + 1);
		order[i] = order[k];
		order[k] = (uint32_t)i;
	}
	for (size_t i = 0; i < n; i++) {
		if (sim_rng_u01(&w->r) >= keep)
			continue;
		copy_row(&to, &w->traces, order[i]);
		if (sim_rng_u01(&w->r) < again)
			copy_row(&to, &w->traces, order[i]);
	}
	free(order);
	algo_trace_store_free(&w->traces);
	w->traces = to;
}

static void order_and_copies_change_nothing(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 30; run++) {
		struct rdma_world w;
		struct algo_debug_out before;
		live(&w, run % N_SCENARIOS, run);
		rdma_debug(&w);
		before = w.out;
		w.out = (struct algo_debug_out){0};
		shuffle_rows(&w, 1, 0.3);
		rdma_debug(&w);
		assert_int_equal(w.out.n_findings, before.n_findings);
		assert_true(
		    run % N_SCENARIOS == HEALTHY || w.out.n_findings > 0);
		for (size_t i = 0; i < before.n_findings; i++)
			assert_memory_equal(&w.out.finding[i],
			    &before.finding[i], sizeof(w.out.finding[i]));
		algo_debug_free(&before);
		rdma_close(&w);
	}
}

/* Where any part of the rows is missing, nothing comes of it that is not there:
 * nothing of a healthy network, and of others nothing about another matter. */
static void missing_rows_make_no_finding(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 60; run++) {
		const enum scenario what = run % N_SCENARIOS;
		struct rdma_world w;
		live(&w, what, 100 + run);
		for (unsigned part = 0; part < 4; part++) {
			shuffle_rows(&w, 0.7, 0.2);
			rdma_debug(&w);
			const unsigned about =
			    rdma_count(&w, ALGO_CAUSE_RDMA_LOSS) *
				(what == RESTARTS || what == LOSES) +
			    rdma_count(&w, ALGO_CAUSE_NIC_RESTART) *
				(what == RESTARTS) +
			    rdma_count(&w, ALGO_CAUSE_PAUSE_STORM) *
				(what == STORMS) +
			    rdma_count(&w, ALGO_CAUSE_BGP_FLAP) *
				(what == FLAPS);
			if (about != w.out.n_findings) {
				say(&w, "missing rows", run);
				fail_msg("scenario %d, part %u", what, part);
			}
		}
		rdma_close(&w);
	}
}

/* Values of any bits, now and then such as rows of a kind have. */
static struct algo_trace any_trace(struct sim_rng *r)
{
	static const uint8_t protos[] = {0, 6, 17, 1};
	static const uint16_t ports[] = {OBS_PORT_BGP, OBS_PORT_ROCE, 7};
	struct algo_trace t;
	uint8_t *bytes = (uint8_t *)&t;
	for (size_t i = 0; i < sizeof(t); i++)
		bytes[i] = (uint8_t)sim_rng_u32(r);
	t.proto = protos[sim_rng_below(r, 4)];
	t.kind = t.proto == 0 ? OBS_COPY_PFC : t.kind % OBS_N_COPY_KINDS;
	t.src_port = ports[sim_rng_below(r, 3)];
	t.dst_port = ports[sim_rng_below(r, 3)];
	t.n_hops = (uint16_t)sim_rng_below(r, 4);
	if (sim_rng_below(r, 2)) {
		t.src_ip = topo_addr_of_host(sim_rng_below(r, 3));
		t.dst_ip = topo_addr_of_host(sim_rng_below(r, 3));
		t.bth_opcode = sim_rng_below(r, 2) ? OBS_BTH_ACK : 0;
		t.aeth = OBS_AETH_NAK;
	} else if (sim_rng_below(r, 2)) {
		t.src_ip = topo_addr_of_switch(sim_rng_below(r, 9));
		t.dst_ip = topo_addr_of_switch(sim_rng_below(r, 9));
	}
	if (sim_rng_below(r, 2))
		t.t_ns >>= sim_rng_below(r, 64);
	if (sim_rng_below(r, 2))
		t.seq >>= sim_rng_below(r, 32);
	return t;
}

static void add_any(struct rdma_world *w)
{
	struct algo_traces *rows = &w->traces.traces;
	const struct algo_trace t = any_trace(&w->r);
	struct algo_hop hop[4] = {{0}};
	for (unsigned k = 0; k < 4; k++) {
		hop[k].t_ns = t.t_ns + k;
		hop[k].in_link =
		    sim_rng_below(&w->r, w->scenes.topo.n_links + 3);
	}
	assert_ok(algo_trace_store_add(&w->traces, &t, hop, test_err()));
	/* Rows of a broken file. */
	if (sim_rng_below(&w->r, 20) == 0)
		rows->hop_off[rows->n - 1] =
		    sim_rng_u32(&w->r) | (uint64_t)sim_rng_u32(&w->r) << 32;
	if (sim_rng_below(&w->r, 20) == 0)
		rows->n_hops[rows->n - 1] = 0xffff;
}

static void any_rows_are_borne(void **state)
{
	unsigned n_causes[ALGO_N_CAUSES] = {0};
	(void)state;
	for (unsigned run = 0; run < 300; run++) {
		struct rdma_world w;
		rdma_open(&w, 7000 + run);
		const struct topo *t = &w.scenes.topo;
		w.params.min_naks = 3;
		w.params.min_rate = 0;
		w.params.min_restarts = 1;
		w.params.min_flaps = 1;
		w.params.storm_ms = 0.1;
		w.params.gbps = run % 2 ? 40 : 1e-1;
		for (unsigned i = 0; i < 400; i++)
			add_any(&w);
		rdma_debug(&w);
		for (size_t i = 0; i < w.out.n_findings; i++) {
			const struct algo_finding *f = &w.out.finding[i];
			n_causes[f->cause]++;
			assert_true(
			    f->link == TOPO_NONE || f->link < t->n_links);
			assert_true(f->node == TOPO_NONE ||
			    f->node < t->n_hosts + t->n_switches);
			assert_true(f->rate >= 0 && f->rate <= 1);
			assert_true(f->lo >= 0 && f->lo <= f->hi && f->hi <= 1);
		}
		rdma_close(&w);
	}
	/* The rows are such that something comes of them. */
	assert_true(n_causes[ALGO_CAUSE_NIC_RESTART] > 0);
	assert_true(n_causes[ALGO_CAUSE_PAUSE_STORM] > 0);
	assert_true(n_causes[ALGO_CAUSE_BGP_FLAP] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_said_of_a_healthy_network),
	    cmocka_unit_test(nothing_is_said_of_a_congested_network),
	    cmocka_unit_test(without_traces_nothing_is_said),
	    cmocka_unit_test(a_nic_that_goes_back_to_0_is_named),
	    cmocka_unit_test(loss_is_told_from_nics_that_restart),
	    cmocka_unit_test(a_pause_storm_is_traced_to_its_nic),
	    cmocka_unit_test(a_session_that_flaps_is_named),
	    cmocka_unit_test(order_and_copies_change_nothing),
	    cmocka_unit_test(missing_rows_make_no_finding),
	    cmocka_unit_test(any_rows_are_borne),
	};
	return cmocka_run_group_tests_name("algos/everflow/debug_rdma", tests,
	    NULL, NULL);
}
