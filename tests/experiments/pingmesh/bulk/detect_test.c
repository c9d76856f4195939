/* tests/experiments/pingmesh/bulk/detect_test.c -- when a bad ToR is named, by plane.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs of each window read a history of three; agents and probes in bulk are held
 * to naming the ToR in the same window as often, and others as seldom, by a
 * chi-square test of each type of hole at 1e-6: all pass under 499,999 seeds of
 * 500,000.
 */
#include "algos/pingmesh/blackhole.h"
#include "experiments/pingmesh/bulk/run.h"
#include "experiments/pingmesh/net.h"
#include "tests/rigs/law.h"
#include "tests/rigs/pingmesh.h"

#define LEVEL 1e-6
static const struct topo_clos shape = {2, 4, 4, 4, 8, .n_cables = 0};
enum { RUNS = 60, WINDOWS = 12 };

/* The window in which the ToR was named first, the last for never; and then how
 * often another one was. */
struct named {
	uint64_t n[WINDOWS + 2];
};

struct rig {
	struct pingmesh m;
	struct algo_blackhole job;
	uint32_t window, first;
	struct named *to;
};

static int hear(void *arg, const struct obs *o, const struct losses *lost,
    size_t row, sim_ns now, struct sim_err *e)
{
	struct rig *g = arg;
	const struct truth *truth = &g->m.s.scene.truth;
	(void)lost, (void)now;
	if (row == SIZE_MAX)
		return 0;
	const int rc = o->pairs
	    ? algo_blackhole_diagnose_pairs(&g->job, o->pairs, 0, e)
	    : algo_blackhole_diagnose(&g->job, &o->probes, 0, e);
	for (uint32_t t = 0; rc == 0 && t < g->job.dc.clos.all_tors; t++) {
		if (g->job.tor[t].action == ALGO_BLACKHOLE_NONE)
			continue;
		if (t != truth->hole[0].at)
			g->to->n[WINDOWS + 1]++;
		else if (g->window < g->first)
			g->first = g->window;
	}
	g->window++;
	return rc;
}

static void begin(struct rig *g, struct named *to)
{
	g->window = 0;
	g->first = WINDOWS;
	g->to = to;
}

static void run_agents(struct rig *g, uint32_t run)
{
	const struct xp_pingmesh_hooks hooks = {.arg = g, .diagnose = hear};
	struct res_trial_metrics row;
	struct xp_pingmesh_plane *p;
	struct xp_net *net;
	assert_ok(xp_net_open_sim(&net, &g->m.s.topo, &g->m.p, test_err()));
	assert_ok(
	    xp_pingmesh_plane_open(&p, &g->m.s.topo, &g->m.p, net, test_err()));
	assert_ok(xp_pingmesh_plane_run(p, scenes_draw(&g->m.s, run), &row,
	    &hooks, test_err()));
	xp_pingmesh_plane_close(p);
	xp_net_close(net);
	g->to->n[g->first]++;
}

static void run_bulk(struct rig *g, uint32_t run)
{
	const struct xp_pingmesh_hooks hooks = {.arg = g, .diagnose = hear};
	struct res_trial_metrics row;
	struct xp_bulk_mesh *m;
	assert_ok(xp_bulk_mesh_open(&m, &g->m.s.topo, &g->m.p, OBS_PAIRS,
	    test_err()));
	assert_ok(xp_bulk_mesh_run(m, scenes_draw(&g->m.s, run), &row, &hooks,
	    test_err()));
	xp_bulk_mesh_close(m);
	g->to->n[g->first]++;
}

/* A window is one and a half intervals. Holes begin at any time of 60 s, and runs
 * of the two planes have other seeds, as they share the hole's. */
static void hold(uint32_t kind, double entries)
{
	struct named bulk = {{0}}, agents = {{0}};
	struct algo_blackhole_params p;
	struct rig g;
	pingmesh_open(&g.m, &shape,
	    "window: 30, duration: 360, history: 90, detect: true, "
	    "pinglist: {tor_interval_s: 20, dc_interval_s: 20}");
	struct fault_params *f = pingmesh_add_holes(&g.m, 1, entries);
	const struct topo_dc dc = topo_dc_alone(&g.m.s.topo.clos);
	f->kind = kind;
	f->from_s = 100;
	f->spread_s = 60;
	assert_ok(sim_field_defaults(algo_blackhole_fields, &p, test_err()));
	assert_ok(algo_blackhole_open(&g.job, &dc, &p, test_err()));
	for (uint32_t run = 0; run < RUNS; run++) {
		begin(&g, &agents);
		run_agents(&g, run);
		begin(&g, &bulk);
		run_bulk(&g, RUNS + run);
	}
	for (uint32_t w = 0; w < WINDOWS + 2; w++)
		print_message("  %2u: %3llu of agents, %3llu in bulk\n", w,
		    (unsigned long long)agents.n[w],
		    (unsigned long long)bulk.n[w]);
	assert_true(agents.n[WINDOWS] < RUNS / 2);
	const double chi2 = law_chi2_equal(agents.n, bulk.n, WINDOWS + 2);
	if (chi2 < LEVEL)
		fail_msg("kind %u: p = %g", kind, chi2);
	algo_blackhole_close(&g.job);
	pingmesh_close(&g.m);
}

static void holes_of_both_types_are_named_as_soon_as_by_agents(void **state)
{
	(void)state;
	hold(FAULT_BLACK_HOLE_1, 0.2);
	hold(FAULT_BLACK_HOLE_2, 0.2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		holes_of_both_types_are_named_as_soon_as_by_agents),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/bulk/detect",
	    tests, NULL, NULL);
}
