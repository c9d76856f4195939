/* tests/experiments/agents/epoch_test.c -- what agents learn, and the truth.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/path_map.h"
#include "experiments/agents/epoch.h"
#include "experiments/sweep/trial.h"
#include "models/bulk/bulk.h"
#include "models/bulk/skip.h"
#include "results/score.h"
#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "tests/rigs/spec_file.h"
#include "topo/addr.h"

static const struct topo_clos small = {2, 4, 3, 2, 3, .n_cables = 0};

struct rig {
	struct scenes s;
	struct xp_agents params;
	struct xp_agent_plane *plane;
	struct bulk *bulk;
	struct scene *scene;
	struct obs lossy;
	struct losses lost;
	/* What the agents' plane made of the epoch. */
	const struct obs *w;
	const struct losses *told;
	struct res_trial_metrics m;
};

/* Defaults, but without limits, faults and noise. */
static void open_rig(struct rig *g, const struct topo_clos *shape)
{
	struct sim_yaml y = {0};
	*g = (struct rig){.plane = NULL};
	scenes_open(&g->s, shape);
	g->s.params.traffic.packets = scenes_fixed(100);
	assert_ok(bulk_open(&g->bulk, NULL, test_err()));
	assert_ok(sim_yaml_parse(&y, "x", "{}", 2, test_err()));
	assert_ok(
	    xp_agents_section.read(&y, NULL, NULL, &g->params, test_err()));
	sim_yaml_free(&y);
	g->params.agent.c_t = 0;
	g->params.agent.timeout_s = 2;
	g->params.fabric.icmp.t_max = 0;
	g->params.fabric.lossless_probes = 1;
}

static void close_rig(struct rig *g)
{
	xp_agent_plane_close(g->plane);
	bulk_close(g->bulk);
	obs_free(&g->lossy);
	losses_free(&g->lost);
	scenes_close(&g->s);
}

static void draw(struct rig *g, uint32_t run, int all)
{
	g->scene = scenes_draw(&g->s, run);
	assert_ok(bulk_epoch(g->bulk, g->scene, all, &g->lossy, &g->lost,
	    test_err()));
}

static void live(struct rig *g)
{
	const struct xp_agent_window *seen;
	if (!g->plane)
		assert_ok(xp_agent_plane_open(&g->plane, &g->s.topo, &g->params,
		    test_err()));
	assert_ok(xp_agent_plane_epoch(g->plane, g->scene, &g->lossy, &g->lost,
	    &seen, &g->m, test_err()));
	g->w = &seen->window;
	g->told = &seen->lost;
	assert_ok(obs_check(g->w, g->s.topo.n_links, test_err()));
	assert_int_equal(g->told->n_path, g->w->hops.n);
	assert_int_equal(g->told->n_drops, g->w->hops.n);
}

/* --- nothing in the way --------------------------------------------------- */

static void without_limits_the_window_is_that_of_the_bulk_planes(void **state)
{
	struct bulk_skip *skip;
	(void)state;
	assert_ok(bulk_skip_open(&skip, test_err()));
	for (uint32_t run = 0; run < 40; run++) {
		struct rig g;
		open_rig(&g, &small);
		g.params.partial = run % 3;
		if (run % 4 > 1)
			g.params.fabric.icmp.source = FABRIC_SIM_ICMP_LOOPBACK;
		scenes_add_group(&g.s)->count = 3;
		g.s.group[0].rate = scenes_fixed(0.02);
		draw(&g, run, 0);
		if (run % 2)
			assert_ok(bulk_skip_epoch(skip, g.scene, &g.lossy,
			    &g.lost, test_err()));
		assert_true(g.lossy.flows.n > 5);
		live(&g);
		scenes_assert_same(g.w, g.told, &g.lossy, &g.lost);
		const double n = (double)g.lossy.flows.n;
		assert_true(g.m.n_traced == n && g.m.n_full_traces == n);
		assert_true(g.m.n_partial_traces == 0);
		/* Each hop but the last answers once. */
		assert_true(g.m.n_icmp_sent == (double)g.lossy.hops.n - n);
		close_rig(&g);
	}
	bulk_skip_close(skip);
}

/* With TCP each flow that sent again is traced, and so are ways back on which a
 * FIN was; but not flows that had to repeat nothing but their handshake. */
static void repeats_of_a_handshake_alone_are_not_traced(void **state)
{
	unsigned n_early = 0, n_traced = 0, n_back = 0;
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		struct rig g;
		open_rig(&g, &small);
		scenes_use_tcp(&g.s, 30);
		scenes_add_group(&g.s)->count = 3;
		g.s.group[0].rate = scenes_fixed(0.1);
		draw(&g, run, 0);
		live(&g);
		size_t at = 0;
		for (size_t i = 0; i < g.lossy.flows.n; i++) {
			const uint32_t n_retx = g.lossy.flows.n_retx[i];
			n_early += n_retx > 0 && n_retx == g.lost.early[i];
			if (n_retx <= g.lost.early[i])
				continue;
			assert_true(at < g.w->flows.n);
			assert_int_equal(g.w->flows.src_host[at],
			    g.lossy.flows.src_host[i]);
			assert_int_equal(g.w->flows.src_port[at],
			    g.lossy.flows.src_port[i]);
			n_back += i > 0 &&
			    g.lossy.flows.src_port[i] ==
				g.lossy.flows.dst_port[i - 1] &&
			    g.lossy.flows.src_host[i] ==
				g.lossy.flows.dst_host[i - 1];
			at++;
		}
		assert_int_equal(g.w->flows.n, at);
		assert_true(g.m.n_traced == (double)at);
		n_traced += (unsigned)at;
		close_rig(&g);
	}
	assert_true(n_early > 20 && n_traced > 500 && n_back > 20);
}

/* A connection behind a VIP is traced as one that is not. */
static void virtual_addresses_change_nothing_when_queries_succeed(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, &small);
	scenes_add_group(&g.s)->rate = scenes_fixed(0.05);
	g.params.fabric.slb.share = 0.6;
	draw(&g, 1, 0);
	live(&g);
	scenes_assert_same(g.w, g.told, &g.lossy, &g.lost);
	g.params.fabric.slb.share = 1;
	for (int k = 0; k < 2; k++) {
		g.params.fabric.slb.snat = k == 0;
		g.params.fabric.slb.fail = k == 1;
		live(&g);
		assert_int_equal(g.w->flows.n, 0);
		assert_true(g.m.n_traced == 0 && g.m.n_icmp_sent == 0);
		assert_true(g.m.icmp_share_none == 1);
	}
	close_rig(&g);
}

/* --- how much switches send ----------------------------------------------- */

/* Every host traces C_t flows a second to hosts of other ToRs. What a switch of
 * each tier then sends a second follows from the shape alone. */
static void loads_are_those_of_random_traces(void **state)
{
	static const struct topo_clos shapes[] = {{2, 20, 8, 10, 40,
						      .n_cables = 0},
	    {4, 5, 4, 3, 6, .n_cables = 0}, {1, 6, 4, 2, 10, .n_cables = 0}};
	const double c_t = 0.5;
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct topo_clos *c = &shapes[i];
		double sent[3] = {0};
		struct rig g;
		open_rig(&g, c);
		g.s.params.traffic.conns = scenes_fixed(30 * c_t);
		draw(&g, 0, 1);
		for (size_t k = 0; k < g.lossy.flows.n; k++)
			g.lossy.flows.n_retx[k] = 1;
		live(&g);
		assert_int_equal(g.w->flows.n, g.lossy.flows.n);
		for (size_t k = 0; k < g.w->flows.n; k++)
			for (unsigned h = 0; h + 1 < obs_n_hops(g.w, k); h++) {
				topo_node from, to;
				topo_link_ends(&g.s.topo, obs_path(g.w, k)[h],
				    &from, &to);
				const uint32_t s = to - g.s.topo.n_hosts;
				const struct topo_clos *d = &g.s.topo.clos;
				sent[(s >= d->all_tors) +
				    (s >= d->all_tors + d->all_t1)]++;
			}
		assert_true(sent[0] + sent[1] + sent[2] == g.m.n_icmp_sent);
		const double n0 = c->n_tors, pods = c->n_pods, h = c->n_hosts;
		const double inter = n0 * (pods - 1) / (n0 * pods - 1);
		const double want[3] = {2 * h * c_t,
		    n0 * h * c_t / c->n_t1 * (1 + inter),
		    pods * n0 * h * c_t / c->n_t2 * inter};
		const double n_switches[3] = {n0 * pods, c->n_t1 * pods,
		    c->n_t2};
		for (int tier = 0; tier < 3; tier++) {
			const double n = want[tier] * n_switches[tier] * 30;
			/* ToRs are exact; T1s and T2s vary with the share of
			 * flows between pods, no more than Poisson does: 5.5
			 * sd, once in 2.6e7. */
			assert_near(sent[tier], n,
			    tier ? 5.5 * sqrt(n) + 1e-9 : 1e-6 * n);
		}
		close_rig(&g);
	}
}

/* --- limits --------------------------------------------------------------- */

static void without_tokens_flows_go_untraced(void **state)
{
	struct rig g;
	double last = 0;
	(void)state;
	open_rig(&g, &small);
	g.s.params.traffic.conns = scenes_fixed(400);
	scenes_add_group(&g.s)->rate = scenes_fixed(0.01);
	draw(&g, 3, 0);
	const double c_t[] = {0.01, 0.1, 0.5, 2};
	for (size_t i = 0; i < 4; i++) {
		g.params.agent.c_t = c_t[i];
		live(&g);
		/* One token to begin with (two at 2/s), then c_t a second over
		 * 30 + 1.2 s. */
		assert_true(g.m.n_traced <=
		    g.s.topo.n_hosts * (fmax(1, c_t[i]) + 31.2 * c_t[i] + 1));
		assert_true(g.m.n_traced > last);
		assert_true(g.m.n_traced == (double)g.w->flows.n);
		last = g.m.n_traced;
	}
	/* No host traces more than it has tokens for, and few traces less: one that
	 * loses as often as it gets a token finds none once in five times. All losses
	 * may be of one host, whose cable fails. By 48 seeds it is .93 of the most in
	 * the mean, and .83 at least. */
	unsigned n_of[64] = {0};
	double most = 0;
	for (size_t i = 0; i < g.lossy.flows.n; i++)
		n_of[g.lossy.flows.src_host[i]]++;
	for (topo_host h = 0; h < g.s.topo.n_hosts; h++)
		most += fmin(n_of[h], 2 + 2 * 30);
	assert_true(last > 0.7 * most);
	close_rig(&g);
}

/* Switches that are told to keep quiet make partial traces. Whatever the rule,
 * no link is known that is not the flow's own, and the last one only where all
 * are. */
static void no_vote_is_on_a_link_that_was_not_seen(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 12; run++) {
		struct rig g;
		unsigned n_partial = 0;
		open_rig(&g, &small);
		g.params.partial = run % 3;
		g.params.fabric.icmp.t_max = 1 + run;
		g.params.fabric.icmp.burst = 2;
		g.s.params.traffic.conns = scenes_fixed(400);
		scenes_add_group(&g.s)->rate = scenes_fixed(0.05);
		draw(&g, run, 0);
		live(&g);
		assert_true(g.m.n_icmp_suppressed > 0);
		assert_true(g.m.icmp_max_per_switch_s <= 3 + run);
		assert_true(g.m.n_partial_traces > 0);
		assert_true(
		    g.m.n_full_traces + g.m.n_partial_traces == g.m.n_traced);
		for (size_t i = 0; i < g.w->flows.n; i++) {
			const topo_link *path = obs_path(g.w, i);
			const topo_link *real = g.told->path + g.w->hops.off[i];
			const unsigned n = obs_n_hops(g.w, i);
			unsigned n_known = 0, prefix = 0;
			for (unsigned k = 0; k < n; k++) {
				assert_true(
				    path[k] == TOPO_NONE || path[k] == real[k]);
				n_known += path[k] != TOPO_NONE;
			}
			while (prefix < n && path[prefix] != TOPO_NONE)
				prefix++;
			if (path[n - 1] != TOPO_NONE)
				assert_int_equal(n_known, n);
			if (g.params.partial == ALGO_PARTIAL_PREFIX)
				assert_int_equal(n_known, prefix);
			n_partial += n_known < n;
		}
		if (g.params.partial == ALGO_PARTIAL_DROP) {
			assert_int_equal(n_partial, 0);
			assert_true((double)g.w->flows.n == g.m.n_full_traces);
		} else {
			assert_true(n_partial == g.m.n_partial_traces);
		}
		close_rig(&g);
	}
}

/* --- black holes, flaps --------------------------------------------------- */

/* A link that began to lose everything after these flows had begun. */
static void traces_end_where_a_black_hole_begins(void **state)
{
	(void)state;
	for (unsigned tier = 0; tier < 3; tier++) {
		struct rig g;
		unsigned n_through = 0;
		open_rig(&g, &small);
		g.params.fabric.lossless_probes = 0;
		g.s.params.noise.rate = scenes_fixed(0);
		const topo_link hole = tier == 0
		    ? topo_clos_link_tor(&g.s.topo.clos, 2, 1, TOPO_UP)
		    : tier == 1
		    ? topo_clos_link_t1(&g.s.topo.clos, 1, 1, TOPO_UP)
		    : topo_clos_link_tor(&g.s.topo.clos, 2, 1, TOPO_DOWN);
		scenes_add_fault(&g.s, hole, 1);
		draw(&g, 0, 1);
		for (size_t i = 0; i < g.lossy.flows.n; i++)
			g.lossy.flows.n_retx[i] = 3;
		live(&g);
		assert_int_equal(g.w->flows.n, g.lossy.flows.n);
		for (size_t i = 0; i < g.w->flows.n; i++) {
			const topo_link *path = obs_path(g.w, i);
			const topo_link *real = g.told->path + g.w->hops.off[i];
			const unsigned n = obs_n_hops(g.w, i);
			unsigned at = 0, up = 0;
			while (at < n && real[at] != hole)
				at++;
			/* Where answers have to come back over the hole, they
			 * are lost too. */
			while (up < n && real[up] != topo_link_reverse(hole))
				up++;
			if (up < n) {
				for (unsigned k = up; k < n; k++)
					assert_int_equal(path[k], TOPO_NONE);
				continue;
			}
			for (unsigned k = 0; k < n; k++)
				assert_int_equal(path[k],
				    k < at ? real[k] : TOPO_NONE);
			n_through += at < n;
		}
		assert_true(n_through > 20);
		close_rig(&g);
	}
}

static void flows_that_lost_everything_are_not_traced(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, &small);
	g.s.params.noise.rate = scenes_fixed(0);
	scenes_add_fault(&g.s,
	    topo_clos_link_tor(&g.s.topo.clos, 2, 1, TOPO_UP), 1);
	draw(&g, 0, 0);
	assert_true(g.lossy.flows.n > 20);
	live(&g);
	assert_true(g.m.n_traced == 0);
	close_rig(&g);
}

/* A flow whose route changed is blamed on a link of the path that was traced,
 * and that is right only if it is the link on which it lost. */
static void a_moved_flow_is_scored_by_the_link_it_lost_on(void **state)
{
	struct rig g;
	struct algo_verdicts v = {0};
	struct res_algo_metrics m;
	size_t n_moved = 0, n_hits = 0;
	(void)state;
	open_rig(&g, &small);
	scenes_add_group(&g.s)->count = 2;
	g.s.group[0].rate = scenes_fixed(0.05);
	g.params.fabric.flap.count = 40;
	draw(&g, 2, 0);
	live(&g);
	assert_int_equal(g.w->flows.n, g.lossy.flows.n);
	assert_memory_equal(g.told->path, g.lossy.hops.link,
	    g.w->hops.n * sizeof(topo_link));
	/* Blame each flow on what was traced at the hop that lost most. */
	assert_ok(algo_verdicts_reserve_flows(&v, g.w->flows.n, test_err()));
	for (size_t i = 0; i < g.w->flows.n; i++) {
		const uint64_t off = g.w->hops.off[i];
		uint64_t worst = off;
		for (uint64_t k = off; k < g.w->hops.off[i + 1]; k++)
			if (g.told->drops[k] > g.told->drops[worst])
				worst = k;
		v.blame[i] = g.w->hops.link[worst];
		const int moved = v.blame[i] != g.told->path[worst];
		n_moved += (size_t)moved;
		n_hits += (size_t)!moved;
	}
	assert_true(n_moved > 0 && n_hits > 0);
	assert_ok(
	    res_score_algo(g.w, &g.scene->truth, g.told, &v, &m, test_err()));
	assert_true(m.hits_all == (double)n_hits);
	assert_true(m.flows_all == (double)(n_hits + n_moved));
	algo_verdicts_free(&v);
	close_rig(&g);
}

/* --- repeatable ----------------------------------------------------------- */

static void an_epoch_is_the_same_bits_after_any_other(void **state)
{
	struct rig a, b;
	(void)state;
	open_rig(&a, &small);
	open_rig(&b, &small);
	for (int i = 0; i < 2; i++) {
		struct rig *g = i ? &b : &a;
		scenes_add_group(&g->s)->rate = scenes_fixed(0.05);
		g->params.agent.c_t = 0.1;
		g->params.fabric.lossless_probes = 0;
		g->params.fabric.icmp.t_max = 3;
		g->params.fabric.icmp.burst = 2;
		g->params.fabric.slb = (struct fabric_sim_slb_params){0.5, 0.2,
		    0.2, scenes_uniform(100, 1000)};
		g->params.fabric.flap.count = 10;
	}
	for (uint32_t run = 0; run < 10; run++) {
		draw(&a, run, 0);
		live(&a);
		for (uint32_t other = 0; other < 3; other++) {
			draw(&b, 100 + 3 * run + other, 0);
			live(&b);
		}
		draw(&b, run, 0);
		live(&b);
		scenes_assert_same(a.w, a.told, b.w, b.told);
		assert_memory_equal(&a.m, &b.m, sizeof(a.m));
	}
	close_rig(&a);
	close_rig(&b);
}

static int one_epoch(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	const struct xp_agent_window *seen;
	struct xp_agent_plane *p;
	int rc = xp_agent_plane_open(&p, &g->s.topo, &g->params, e);
	if (rc < 0)
		return rc;
	rc = xp_agent_plane_epoch(p, g->scene, &g->lossy, &g->lost, &seen,
	    &g->m, e);
	xp_agent_plane_close(p);
	return rc;
}

static void failed_allocations_are_told(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, &small);
	scenes_add_group(&g.s)->rate = scenes_fixed(0.05);
	g.params.fabric.flap.count = 3;
	draw(&g, 1, 0);
	test_each_alloc_fails(one_epoch, &g);
	close_rig(&g);
}

static void a_window_without_losses_is_empty(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, &small);
	g.s.params.noise.rate = scenes_fixed(0);
	draw(&g, 0, 0);
	live(&g);
	assert_int_equal(g.w->flows.n, 0);
	assert_true(g.w->n_flows == g.lossy.n_flows);
	assert_true(g.m.n_traced == 0 && g.m.icmp_share_none == 1);
	close_rig(&g);
}

/* --- specs ---------------------------------------------------------------- */

#define SPEC                                                                   \
	"figure: f\nalgorithms: [vote]\nfaults: {rate: 0.02}\n"                \
	"topology: {n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, n_hosts: 3}\n"

static void a_spec_can_ask_for_agents_and_sweep_them(void **state)
{
	struct xp_spec s;
	struct xp_trial *t;
	double row[RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS];
	(void)state;
	spec_open(&s,
	    SPEC "plane: agents\nsweep: {grid: {agents.icmp.t_max: [100, 1], "
		 "plane: [agents, exact]}}\n");
	assert_int_equal(s.n_points, 4);
	assert_ok(xp_trial_open(&t, &s, test_err()));
	for (size_t point = 0; point < 4; point++) {
		assert_ok(xp_trial_run(t, point, 0, row, test_err()));
		const double *m = row + RES_TRIAL_n_traced;
		for (unsigned i = 0; i < 9; i++)
			assert_int_equal(isnan(m[i]) != 0, point % 2);
		if (point % 2)
			continue;
		assert_true(row[RES_TRIAL_n_traced] > 0);
		assert_near(row[RES_TRIAL_icmp_share_none] +
			row[RES_TRIAL_icmp_share_low] +
			row[RES_TRIAL_icmp_share_high],
		    1, 1e-12);
	}
	xp_trial_close(t);
	xp_spec_free(&s);
}

static void mistakes_among_agents_are_told_at_their_place(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
	    {SPEC "agents: {c_t: -1}\n", "5:15: c_t"},
	    {SPEC "agents: {ct: 1}\n", "did you mean \"c_t\"?"},
	    {SPEC "agents: {icmp: {tmax: 1}}\n", "did you mean \"t_max\"?"},
	    {SPEC "agents: {partial: some}\n", "known, prefix, drop"},
	    {SPEC "agents: {max_ttl: 17}\n", "5:19: max_ttl"},
	    {"figure: f\nalgorithms: [vote]\ntraffic: {conns: 0}\n"
	     "topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: 2}\n"
	     "agents: {slb: {share: 2}}\n",
		"5:23: share"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xp_spec s;
		struct sim_err e = {0};
		assert_int_equal(spec_load(&s, bad[i].text, &e), SIM_EINVAL);
		if (!strstr(e.msg, bad[i].want))
			fail_msg("%s\nsays: %s\nwanted: %s", bad[i].text, e.msg,
			    bad[i].want);
		xp_spec_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(repeats_of_a_handshake_alone_are_not_traced),
	    cmocka_unit_test(
		without_limits_the_window_is_that_of_the_bulk_planes),
	    cmocka_unit_test(
		virtual_addresses_change_nothing_when_queries_succeed),
	    cmocka_unit_test(loads_are_those_of_random_traces),
	    cmocka_unit_test(without_tokens_flows_go_untraced),
	    cmocka_unit_test(no_vote_is_on_a_link_that_was_not_seen),
	    cmocka_unit_test(traces_end_where_a_black_hole_begins),
	    cmocka_unit_test(flows_that_lost_everything_are_not_traced),
	    cmocka_unit_test(a_moved_flow_is_scored_by_the_link_it_lost_on),
	    cmocka_unit_test(an_epoch_is_the_same_bits_after_any_other),
	    cmocka_unit_test(failed_allocations_are_told),
	    cmocka_unit_test(a_window_without_losses_is_empty),
	    cmocka_unit_test(a_spec_can_ask_for_agents_and_sweep_them),
	    cmocka_unit_test(mistakes_among_agents_are_told_at_their_place),
	};
	return cmocka_run_group_tests_name("experiments/agents/epoch", tests,
	    spec_folder_make, spec_folder_remove);
}
