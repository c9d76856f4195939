/* tests/experiments/pingmesh/trace_test.c -- the silent dropper is traced.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/trace.h"

#include "algos/pingmesh/hop_trace_algo.h"
#include "experiments/pingmesh/run.h"
#include "results/score.h"
#include "tests/rigs/pingmesh.h"
#include "topo/region.h"

/* 3 pods of 2 ToRs and 2 T1s, 6 T2s, 4 hosts a ToR. */
static const struct topo_clos shape = {3, 2, 2, 6, 4, .n_cables = 0};
enum { T2S = 6, MAX_REPORTS = 512, MAX_ROWS = 4 };

#define TRACED                                                                 \
	"duration: 900, window: 900, pinglist: {levels: [dc], "                \
	"dc_interval_s: 10}, trace: {on: true, n_ports: 8, n_probes: 50"

struct rig {
	struct pingmesh m;
	struct xp_net *net;
	struct xp_pingmesh_plane *plane;
	struct res_trial_metrics row[MAX_ROWS];

	/* Of the table that was heard last. */
	unsigned n_heard;
	size_t n_flows;
	size_t n_drops, n_culprits;
	topo_link culprit[MAX_REPORTS];
	size_t n_reports;
	struct agent_report report[MAX_REPORTS];
	void *work;
	struct algo_verdicts v;
	struct res_algo_metrics score;
};

/* What trial.c does with a table. */
static int hear(void *arg, const struct obs *o, const struct losses *lost,
    size_t row, sim_ns now, struct sim_err *e)
{
	struct rig *g = arg;
	(void)row;
	(void)now;
	(void)e;
	g->n_heard++;
	assert_false(obs_probe_source_is_none(&o->probes));
	assert_non_null(o->traces);
	assert_in_range(o->traces->n, 0, MAX_REPORTS);
	assert_int_equal(o->flows.n, o->traces->n);
	g->n_flows = o->flows.n;
	g->n_reports = o->traces->n;
	g->n_drops = lost->n_drops;
	g->n_culprits = lost->n_culprits;
	for (size_t i = 0; i < lost->n_culprits; i++)
		g->culprit[i] = lost->culprit[i];
	if (g->n_reports > 0)
		memcpy(g->report, o->traces->report,
		    g->n_reports * sizeof(g->report[0]));
	assert_ok(obs_check(o, g->m.s.topo.n_links, test_err()));
	assert_ok(
	    algo_hop_trace_ops.diagnose(g->work, o, NULL, &g->v, test_err()));
	assert_ok(res_score_algo(o, &g->m.s.scene.truth, lost, &g->v, &g->score,
	    test_err()));
	return 0;
}

static void open_rest(struct rig *g)
{
	assert_ok(xp_net_open_sim(&g->net, &g->m.s.topo, &g->m.p, test_err()));
	assert_ok(xp_pingmesh_plane_open(&g->plane, &g->m.s.topo, &g->m.p,
	    g->net, test_err()));
	assert_in_range(xp_pingmesh_plane_rows(g->plane), 1, MAX_ROWS);
	assert_ok(algo_open(&algo_hop_trace_ops, &g->work, &g->m.s.topo, NULL,
	    test_err()));
}

static void open_rig(struct rig *g, const char *text)
{
	*g = (struct rig){.n_heard = 0};
	pingmesh_open(&g->m, &shape, text);
	g->m.s.params.noise.rate = scenes_fixed(1e-6);
	open_rest(g);
}

static void close_rig(struct rig *g)
{
	algo_close(&algo_hop_trace_ops, g->work);
	algo_verdicts_free(&g->v);
	xp_pingmesh_plane_close(g->plane);
	xp_net_close(g->net);
	pingmesh_close(&g->m);
}

static struct fault_params *drop_at_a_t2(struct rig *g, double rate)
{
	struct fault_params *f = scenes_add_group(&g->m.s);
	f->switches = 1;
	f->tiers = 1u << FAULT_TIER_T2;
	f->share = 1;
	f->rate = scenes_fixed(rate);
	return f;
}

static void run(struct rig *g, uint32_t r)
{
	const struct xp_pingmesh_hooks hooks = {.arg = g, .diagnose = hear};
	assert_ok(xp_pingmesh_plane_run(g->plane, scenes_draw(&g->m.s, r),
	    g->row, &hooks, test_err()));
}

/* --- the right one ------------------------------------------------------- */

/* Round trips between pods lose 4 % * 2 / 6 on average, 40 times what is taken
 * for normal; then 32 of the 192 traced tuples cross the T2 and lose 8 % beyond
 * it. With 14 seeds, 280 runs, no test failed. */
static void a_dropping_t2_is_first(void **state)
{
	static struct rig g;
	unsigned n_first = 0, n_alone = 0;
	(void)state;
	open_rig(&g, TRACED "}");
	drop_at_a_t2(&g, 0.02);
	for (uint32_t r = 0; r < 20; r++) {
		run(&g, r);
		n_first += g.score.worst_first == 1;
		n_alone += g.v.n_flagged == 1 && g.score.n_flagged_true == 1;
		assert_true(g.row[0].tier == ALGO_SILENT_DROP_SPINE);
		assert_true(g.row[0].n_traces == (double)g.n_reports);
		assert_true(g.row[0].n_trace_probes > 50.0 * 5 * g.n_reports);
	}
	if (n_first < 19 || n_alone < 19)
		fail_msg("seed %llu: first in %u of 20, alone in %u",
		    (unsigned long long)test_seed(), n_first, n_alone);
	close_rig(&g);
}

/* A T1 that drops is a pod's fault, and is named by traces within the pod and
 * out of it. */
static void a_dropping_t1_is_traced_as_well(void **state)
{
	static struct rig g;
	unsigned n_first = 0;
	(void)state;
	open_rig(&g, TRACED "}");
	drop_at_a_t2(&g, 0.02)->tiers = 1u << FAULT_TIER_T1;
	for (uint32_t r = 0; r < 10; r++) {
		run(&g, r);
		assert_true(g.row[0].tier == ALGO_SILENT_DROP_POD);
		n_first += g.score.worst_first == 1;
	}
	if (n_first < 9)
		fail_msg("seed %llu: first in %u of 10",
		    (unsigned long long)test_seed(), n_first);
	close_rig(&g);
}

static void flows_that_failed_have_a_culprit_of_the_bad_switch(void **state)
{
	static struct rig g;
	size_t n = 0;
	(void)state;
	open_rig(&g, TRACED "}");
	drop_at_a_t2(&g, 0.05);
	run(&g, 0);
	const struct truth *t = &g.m.s.scene.truth;
	assert_int_equal(g.n_culprits, g.n_flows);
	for (size_t i = 0; i < g.n_culprits; i++) {
		if (g.culprit[i] == TOPO_NONE)
			continue;
		assert_int_equal(truth_switch_of(t, g.culprit[i],
				     t->failed_switch[0]),
		    t->failed_switch[0]);
		n++;
	}
	assert_in_range(n, 8, g.n_flows / 3);
	close_rig(&g);
}

/* --- who is off ---------------------------------------------------------- */

/* Traces begin right after the window's end at 900 s and its lag, and last 282 s
 * at most: (80 * 50 + 1) / 20 + 81 + 1. So half of the servers, which are off
 * from 890 s until long after that or for ever, report nothing either way. */
static void who_is_off_while_traces_last_is_not_waited_for(void **state)
{
	static struct rig g;
	size_t n_reports[2], n_more = 0;
	(void)state;
	open_rig(&g, TRACED ", always: true}");
	struct fault_params *f = scenes_add_group(&g.m.s);
	f->kind = FAULT_HOST_OFF;
	f->count = 12;
	f->from_s = 890;
	for (uint32_t r = 0; r < 5; r++) {
		for (int i = 0; i < 2; i++) {
			f->to_s = i == 0 ? 1500 : 0;
			run(&g, r);
			n_reports[i] = g.n_reports;
		}
		assert_int_equal(n_reports[0], n_reports[1]);
		n_more += n_reports[0];
	}
	assert_true(n_more > 0);
	close_rig(&g);
}

/* --- nobody -------------------------------------------------------------- */

static void nothing_is_traced_when_nothing_suffers(void **state)
{
	static struct rig g;
	(void)state;
	open_rig(&g, TRACED "}");
	for (uint32_t r = 0; r < 10; r++) {
		run(&g, r);
		assert_int_equal(g.n_heard, r + 1);
		assert_true(g.row[0].tier == ALGO_SILENT_DROP_NONE);
		assert_true(g.row[0].n_traces == 0);
		assert_true(g.row[0].n_trace_probes == 0);
		assert_int_equal(g.v.n, 0);
		assert_int_equal(g.n_drops, 0);
	}
	close_rig(&g);
}

/* At the default confidence a node is accused once in 2e4 at most: of 24
 * switches in 20 runs 0.024 times, so two of them once in 3,000 tests. */
static void traces_of_a_healthy_network_accuse_nobody(void **state)
{
	static struct rig g;
	unsigned n_accused = 0;
	(void)state;
	open_rig(&g, TRACED ", always: true}");
	for (uint32_t r = 0; r < 20; r++) {
		run(&g, r);
		assert_true(g.row[0].tier == ALGO_SILENT_DROP_NONE);
		assert_true(g.row[0].n_traces > 0);
		n_accused += (unsigned)g.v.n_flagged;
	}
	if (n_accused > 1)
		fail_msg("seed %llu: %u accused",
		    (unsigned long long)test_seed(), n_accused);
	close_rig(&g);
}

/* --- how ----------------------------------------------------------------- */

static void traces_take_the_paths_of_the_day(void **state)
{
	static struct rig g;
	size_t n = 0;
	(void)state;
	open_rig(&g, TRACED ", always: true}");
	run(&g, 5);
	const struct topo *t = &g.m.s.topo;
	for (size_t i = 0; i < g.n_reports; i++) {
		const struct agent_report *r = &g.report[i];
		topo_link path[TOPO_MAX_HOPS];
		const unsigned n_hops = topo_path(t, g.m.s.scene.ecmp_seed,
		    topo_addr_to_host(r->tuple.src_ip, t->n_hosts),
		    topo_addr_to_host(r->tuple.dst_ip, t->n_hosts),
		    topo_tuple_digest(&r->tuple), path);
		assert_int_equal(r->n_hops, n_hops - 1);
		for (unsigned k = 0; k < r->n_hops; k++, n++)
			assert_int_equal(r->hop_ip[k],
			    topo_addr_of_link(path[k]));
		assert_in_range(r->tuple.src_port, XP_TRACE_FIRST_PORT,
		    XP_TRACE_FIRST_PORT + 7);
	}
	assert_true(n > 100);
	close_rig(&g);
}

static void the_same_run_gives_the_same_traces(void **state)
{
	static struct rig a, b;
	(void)state;
	open_rig(&a, TRACED "}");
	open_rig(&b, TRACED "}");
	drop_at_a_t2(&a, 0.02);
	drop_at_a_t2(&b, 0.02);
	run(&a, 1);
	run(&a, 2);
	run(&b, 2);
	assert_true(a.n_reports > 0);
	assert_int_equal(a.n_reports, b.n_reports);
	assert_memory_equal(a.report, b.report,
	    a.n_reports * sizeof(a.report[0]));
	assert_memory_equal(a.row, b.row, sizeof(a.row[0]));
	close_rig(&a);
	close_rig(&b);
}

/* In two windows of one run other hosts trace, or their traces lose otherwise:
 * random numbers are not the same in each window. */
static void windows_are_traced_independently(void **state)
{
	static struct rig g;
	static struct agent_report last[MAX_REPORTS];
	(void)state;
	open_rig(&g,
	    "duration: 1200, window: 600, along: window, detect: true, "
	    "pinglist: {levels: [dc], dc_interval_s: 10}, trace: {on: true, "
	    "always: true, n_ports: 4, n_probes: 20}");
	run(&g, 0);
	/* Tables are heard after both windows and at the end, where the traces
	 * are those of the last window once more. */
	assert_int_equal(g.n_heard, 3);
	assert_true(g.row[0].n_traces > 0 && g.row[1].n_traces > 0);
	memcpy(last, g.report, sizeof(last));
	const size_t n = g.n_reports;
	close_rig(&g);
	open_rig(&g,
	    "duration: 600, window: 600, along: window, detect: true, "
	    "pinglist: {levels: [dc], dc_interval_s: 10}, trace: {on: true, "
	    "always: true, n_ports: 4, n_probes: 20}");
	run(&g, 0);
	assert_int_equal(g.n_heard, 2);
	/* There may be fewer reports in one window, as two pairs of pods may
	 * have wanted the same servers. */
	assert_true(g.n_reports != n ||
	    memcmp(last, g.report, n * sizeof(last[0])) != 0);
	close_rig(&g);
}

/* Numbers that are not of traces are the same with tracing and without. */
static void tracing_changes_no_other_number(void **state)
{
	static struct rig with, without;
	(void)state;
	open_rig(&with, TRACED "}");
	without = (struct rig){.n_heard = 0};
	pingmesh_open(&without.m, &shape,
	    "duration: 900, window: 900, pinglist: {levels: [dc], "
	    "dc_interval_s: 10}");
	without.m.s.params.noise.rate = scenes_fixed(1e-6);
	assert_ok(xp_net_open_sim(&without.net, &without.m.s.topo, &without.m.p,
	    test_err()));
	assert_ok(xp_pingmesh_plane_open(&without.plane, &without.m.s.topo,
	    &without.m.p, without.net, test_err()));
	drop_at_a_t2(&with, 0.02);
	drop_at_a_t2(&without, 0.02);
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	run(&with, 0);
	assert_ok(xp_pingmesh_plane_run(without.plane,
	    scenes_draw(&without.m.s, 0), without.row, &none, test_err()));
	assert_true(with.row[0].n_traces > 0);
	assert_true(isnan(without.row[0].n_traces));
	with.row[0].n_traces = without.row[0].n_traces;
	with.row[0].n_trace_probes = without.row[0].n_trace_probes;
	assert_memory_equal(with.row, without.row, sizeof(with.row[0]));
	close_rig(&with);
	xp_pingmesh_plane_close(without.plane);
	xp_net_close(without.net);
	pingmesh_close(&without.m);
}

/* In a region, targets have the ids of the whole network and not those within
 * their data centre. */
static void a_region_is_traced_in_its_data_centre(void **state)
{
	static struct rig g;
	(void)state;
	g = (struct rig){.n_heard = 0};
	pingmesh_open_region(&g.m, &shape,
	    "duration: 600, window: 600, dc: 1, pinglist: {levels: [dc], "
	    "dc_interval_s: 10}, trace: {on: true, always: true, n_ports: 4, "
	    "n_probes: 20}");
	open_rest(&g);
	run(&g, 0);
	const struct topo *t = &g.m.s.topo;
	const topo_host first = topo_dc_at(t, 1).first_host;
	assert_true(first > 0 && g.n_reports > 0);
	for (size_t i = 0; i < g.n_reports; i++) {
		const struct topo_tuple *x = &g.report[i].tuple;
		assert_in_range(topo_addr_to_host(x->src_ip, t->n_hosts), first,
		    first + shape.n_pods * shape.n_tors * shape.n_hosts - 1);
		assert_in_range(topo_addr_to_host(x->dst_ip, t->n_hosts), first,
		    first + shape.n_pods * shape.n_tors * shape.n_hosts - 1);
	}
	close_rig(&g);
}

static int nothing(void *arg, const struct obs *o, const struct losses *lost,
    size_t row, sim_ns now, struct sim_err *e)
{
	(void)lost;
	(void)arg;
	(void)o;
	(void)row;
	(void)now;
	(void)e;
	return 0;
}

static int live(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	const struct xp_pingmesh_hooks hooks = {.diagnose = nothing};
	struct xp_pingmesh_plane *p = NULL;
	struct xp_net *net;
	scenes_draw(&g->m.s, 0);
	int rc = xp_net_open_sim(&net, &g->m.s.topo, &g->m.p, e);
	if (rc == 0)
		rc = xp_pingmesh_plane_open(&p, &g->m.s.topo, &g->m.p, net, e);
	if (rc == 0)
		rc = xp_pingmesh_plane_run(p, &g->m.s.scene, g->row, &hooks, e);
	xp_pingmesh_plane_close(p);
	xp_net_close(net);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	static struct rig g;
	(void)state;
	g = (struct rig){.n_heard = 0};
	pingmesh_open(&g.m, &pingmesh_tiny,
	    "duration: 60, window: 60, trace: {on: true, always: true, "
	    "n_cells: 1, n_pairs: 1, n_ports: 2, n_probes: 3}");
	scenes_draw(&g.m.s, 0);
	test_each_alloc_fails(live, &g);
	pingmesh_close(&g.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_dropping_t2_is_first),
	    cmocka_unit_test(a_dropping_t1_is_traced_as_well),
	    cmocka_unit_test(
		flows_that_failed_have_a_culprit_of_the_bad_switch),
	    cmocka_unit_test(who_is_off_while_traces_last_is_not_waited_for),
	    cmocka_unit_test(nothing_is_traced_when_nothing_suffers),
	    cmocka_unit_test(traces_of_a_healthy_network_accuse_nobody),
	    cmocka_unit_test(traces_take_the_paths_of_the_day),
	    cmocka_unit_test(the_same_run_gives_the_same_traces),
	    cmocka_unit_test(windows_are_traced_independently),
	    cmocka_unit_test(tracing_changes_no_other_number),
	    cmocka_unit_test(a_region_is_traced_in_its_data_centre),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/trace", tests,
	    NULL, NULL);
}
