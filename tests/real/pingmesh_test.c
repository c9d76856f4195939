/* tests/real/pingmesh_test.c -- Pingmesh's plane on real connects.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each test takes as long as its agents live: they hold back for 10 s, and then
 * probe a pair every 10 s.
 */
#include <math.h>

#include "experiments/fabrics/netns.h"
#include "experiments/lab/wire.h"
#include "experiments/pingmesh/run.h"
#include "tests/real/faulty.h"
#include "tests/rigs/pingmesh.h"

/* 24 hosts below 4 ToRs: 8 peers each. */
static const struct topo_clos shape = {2, 2, 2, 2, 6, .n_cables = 0};
enum { HOSTS = 24, PEERS = 8 };

#define PINGS                                                                  \
	"pinglist: {tor_interval_s: 10, dc_interval_s: 10}, "                  \
	"window: 25, duration: 25, "

/* For agents: all have a list within a second. */
#define FAST "upload_interval: 0.5, fetch_retry: 1"

static struct netns_params net_params;

static void needs(void **state)
{
	static struct sim_err why;
	static int tried, rc;
	lab_needs(state);
	if (!tried++)
		rc = xp_netns_check(NETNS_FAULTS_EBPF, &why);
	if (rc < 0) {
		print_message("reason: %s\n", why.msg);
		skip();
	}
	assert_ok(sim_field_defaults(netns_fields, &net_params, test_err()));
}

static void open_real(struct pingmesh *g, struct xp_net **net)
{
	struct xp_wire *wire;
	assert_ok(xp_wire_open_netns(&wire, &g->s.topo, &net_params,
	    NETNS_FAULTS_EBPF, test_err()));
	assert_ok(xp_net_open_real(net, wire, &g->p, test_err()));
}

/* Live through the scene of the group, on a real network or a simulated one. */
static void live(struct pingmesh *g, int real, struct res_trial_metrics row[])
{
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	struct xp_pingmesh_plane *p;
	struct xp_net *net;
	if (real)
		open_real(g, &net);
	else
		assert_ok(xp_net_open_sim(&net, &g->s.topo, &g->p, test_err()));
	assert_ok(
	    xp_pingmesh_plane_open(&p, &g->s.topo, &g->p, net, test_err()));
	assert_ok(xp_pingmesh_plane_run(p, scenes_draw(&g->s, 0), row, &none,
	    test_err()));
	xp_pingmesh_plane_close(p);
	xp_net_close(net);
}

static void lose_on_hosts_links(struct pingmesh *g, double rate)
{
	struct fault_params *f = scenes_add_group(&g->s);
	f->count = 2 * HOSTS;
	f->classes = 1u << TOPO_HOST_TOR | 1u << TOPO_TOR_HOST;
	f->rate = scenes_fixed(rate);
}

/* All that could be probed was, unless its turn came with the end. */
static void check_probes(const struct res_trial_metrics *m)
{
	assert_int_equal(m->n_live_agents, HOSTS);
	assert_in_range(m->n_probes, HOSTS * PEERS * 1.3, HOSTS * PEERS * 1.7);
	assert_int_equal(m->n_lost_records, 0);
}

/* Every second is a rung, so it is no matter who sent again. */
static void lost_round_trips_are_counted(void **state)
{
	const double rate = 0.1, q = 1 - pow(1 - rate, 4);
	struct res_trial_metrics m;
	struct pingmesh g;
	needs(state);
	pingmesh_open(&g, &shape,
	    PINGS "agent: {probe_timeout: 8, " FAST "}, lag: "
		  "9, connect: {timers: linux_linear}");
	lose_on_hosts_links(&g, rate);
	live(&g, 1, &m);
	check_probes(&m);
	assert_near(m.true_drop_rate, q, 1e-9);
	print_message("time: %g of %g connects lost a SYN, %.3f; %.3f "
		      "injected\n",
	    m.n_drop, m.n_connected, m.n_drop / m.n_connected, q);
	faulty_check_rate((uint64_t)m.n_drop, (uint64_t)m.n_connected,
	    q * (1 - pow(q, 6)) / (1 - pow(q, 7)));
	pingmesh_close(&g);
}

/* As the paper's hosts wait. A connect saved by the server's timer alone is on
 * no rung: 3 s after a SYN that was not the first. */
static void hosts_may_wait_for_3_and_9_seconds(void **state)
{
	const double rate = 0.1, q = 1 - pow(1 - rate, 4);
	struct res_trial_metrics m;
	struct pingmesh g;
	needs(state);
	pingmesh_open(&g, &shape,
	    PINGS "agent: {probe_timeout: 10, " FAST "}, lag: 11, "
		  "connect: {timers: windows}");
	lose_on_hosts_links(&g, rate);
	live(&g, 1, &m);
	check_probes(&m);
	const double late = (m.n_drop + m.n_unclear) / m.n_connected;
	print_message("time: %g on 3 and 9 s, %g elsewhere, of %g connects\n",
	    m.n_drop, m.n_unclear, m.n_connected);
	assert_in_range(100 * late, 100 * q - 15, 100 * q + 15);
	assert_true(m.n_drop > 2 * m.n_unclear);
	pingmesh_close(&g);
}

/* Same keys, same agents, same draws: the same connects are lost. One in a
 * hundred may be of another window. */
static void a_bad_tor_loses_and_is_named_as_in_the_simulator(void **state)
{
	struct res_trial_metrics real, sim;
	struct pingmesh g;
	needs(state);
	pingmesh_open(&g, &shape,
	    "pinglist: {tor_interval_s: 10, dc_interval_s: 10}, window: 30, "
	    "duration: 30, agent: {probe_timeout: 2, " FAST "}, "
	    "lag: 3, connect: {timers: linux}, blackhole: {min_failures: 2}");
	pingmesh_add_holes(&g, 1, 0.3);
	live(&g, 0, &sim);
	live(&g, 1, &real);
	print_message("time: %g of %g connects timed out, %g of %g simulated\n",
	    real.n_unconnected, real.n_probes, sim.n_unconnected, sim.n_probes);
	assert_int_equal(sim.n_candidates_true, 1);
	assert_int_equal(real.n_candidates_true, 1);
	assert_int_equal(real.n_candidates, 1);
	assert_near(real.n_probes, sim.n_probes, 0.01 * sim.n_probes);
	assert_near(real.n_unconnected, sim.n_unconnected, 0.01 * sim.n_probes);
	pingmesh_close(&g);
}

static void a_slow_pod_shows_in_the_matrix(void **state)
{
	enum { TORS = 4 };
	struct res_trial_metrics row[TORS * TORS];
	struct pingmesh g;
	needs(state);
	pingmesh_open(&g, &shape,
	    PINGS "agent: {probe_timeout: 2, " FAST "}, lag: 3, "
		  "connect: {timers: linux}, along: pair, unit: tor");
	struct fault_params *f = scenes_add_group(&g.s);
	topo_node slow[] = {HOSTS + 6, HOSTS + 7}; /* t1 of pod 1 */
	f->kind = FAULT_LATENCY;
	f->at = slow;
	f->n_at = 2;
	f->delay = scenes_fixed(3000);
	live(&g, 1, row);
	f->n_at = 0;
	f->at = NULL;
	/* Each slow t1 holds back what comes to it and what it sends: 12 ms of
	 * a round trip between pods, and within pod 1. */
	for (uint32_t from = 0; from < TORS; from++)
		for (uint32_t to = 0; to < TORS; to++) {
			const int crosses =
			    from != to && (from >= 2 || to >= 2);
			const double us = row[from * TORS + to].p99_us;
			print_message("%6.0f%s", us, to == 3 ? " us\n" : "");
			assert_in_range(us, crosses ? 12000 : 1,
			    crosses ? 200000 : 11000);
		}
	pingmesh_close(&g);
}

static void check_life(struct xp_world *w, double s, uint32_t n_on,
    uint32_t n_live)
{
	assert_ok(xp_world_run(w, (sim_ns)(s * 1e9), test_err()));
	const struct xp_pulse p = xp_world_pulse(w);
	assert_int_equal(p.n_on, n_on);
	assert_int_equal(p.n_live, n_live);
	assert_int_equal(p.count.n_stray, 0);
}

/* One host loses power for a while, another begins without. */
static void a_host_goes_off_and_begins_anew(void **state)
{
	struct pingmesh g;
	struct xp_world *w;
	struct xp_net *net;
	needs(state);
	pingmesh_open(&g, &shape,
	    "pinglist: {tor_interval_s: 10, dc_interval_s: 10}, window: 60, "
	    "duration: 60, agent: {probe_timeout: 2, " FAST "}, "
	    "connect: {timers: linux}");
	topo_node node[] = {3, 20};
	for (int i = 0; i < 2; i++) {
		struct fault_params *f = scenes_add_group(&g.s);
		f->kind = FAULT_HOST_OFF;
		f->at = &node[i];
		f->n_at = 1;
		f->from_s = i ? 0 : 15;
		f->to_s = i ? 5 : 18;
	}
	open_real(&g, &net);
	assert_ok(xp_world_open(&w, &g.s.topo, &g.p, net, 2, test_err()));
	assert_ok(xp_world_begin(w, scenes_draw(&g.s, 0), test_err()));
	check_life(w, 4, HOSTS - 1, HOSTS - 1);
	check_life(w, 14, HOSTS, HOSTS);
	const struct algo_pingmesh_status before = xp_world_status(w, 3);
	check_life(w, 17, HOSTS - 1, HOSTS - 1);
	check_life(w, 19, HOSTS, HOSTS);
	const struct algo_pingmesh_status again = xp_world_status(w, 3);
	check_life(w, 40, HOSTS, HOSTS);
	const struct algo_pingmesh_status later = xp_world_status(w, 3);
	assert_true(before.count.n_probes > 0);
	assert_int_equal(again.count.n_probes, 0);
	assert_true(later.count.n_probes > PEERS / 2);
	assert_int_equal(later.count.n_unconnected, 0);
	assert_true(xp_world_pulse(w).count.n_unconnected > 0);
	xp_world_close(w);
	xp_net_close(net);
	for (size_t i = 0; i < g.s.params.n_groups; i++) {
		g.s.group[i].at = NULL;
		g.s.group[i].n_at = 0;
	}
	pingmesh_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lost_round_trips_are_counted),
	    cmocka_unit_test(hosts_may_wait_for_3_and_9_seconds),
	    cmocka_unit_test(a_bad_tor_loses_and_is_named_as_in_the_simulator),
	    cmocka_unit_test(a_slow_pod_shows_in_the_matrix),
	    cmocka_unit_test(a_host_goes_off_and_begins_anew),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/netns", tests,
	    lab_begin, NULL);
}
