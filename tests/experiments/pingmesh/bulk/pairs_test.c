/* tests/experiments/pingmesh/bulk/pairs_test.c -- sums of pairs, and each probe.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The same rows of late connects are summed up by pair, and told with all other
 * probes one by one. The black-hole job says the same of both, to the last bit;
 * nothing is drawn that could differ.
 */
#include "experiments/pingmesh/bulk/pairs.h"

#include "experiments/pingmesh/bulk/connects.h"
#include "experiments/pingmesh/bulk/every.h"
#include "tests/rigs/pingmesh.h"

enum { WINDOW_S = 300, WINDOWS = 4, RUNS = 12 };
static const struct topo_clos shape = {3, 3, 2, 2, 4, .n_cables = 0};

struct rig {
	struct pingmesh m;
	struct algo_pinglist plan;
	struct connects_params p;
	struct connects *c;
	struct xp_mesh_sums sums;
	struct xp_every every;
	struct xp_mesh_pairs pairs;
	struct topo_dc dc;
	struct obs_probes table, part;
	uint32_t n_named, n_black; /* so far: ToRs, pairs */
	uint32_t n_summed;
};

static int take(void *arg, const struct connects_row *r, struct sim_err *e)
{
	struct rig *g = arg;
	const int rc = xp_mesh_pairs_take(&g->pairs, r, e);
	return rc < 0 ? rc : xp_every_take(&g->every, r, e);
}

static void set_up(struct rig *g, const char *text)
{
	memset(g, 0, sizeof(*g));
	pingmesh_open(&g->m, &shape, text);
	g->m.p.connect.profile = 0;
	g->dc = topo_dc_alone(&g->m.s.topo.clos);
}

/* With KEPT windows at a time. */
static void start(struct rig *g, uint32_t kept)
{
	const struct topo_clos *c = &g->m.s.topo.clos;
	struct algo_drop_ladder ladder;
	sim_ns wait[OBS_MAX_WAITS];
	const unsigned n = xp_pingmesh_waits(&g->m.p, wait);
	xp_pingmesh_waits(&g->m.p, g->table.syn_wait_ns);
	xp_pingmesh_waits(&g->m.p, g->part.syn_wait_ns);
	assert_ok(
	    algo_drop_ladder_init(&ladder, wait, n, 250 * SIM_MS, test_err()));
	assert_ok(
	    algo_pinglist_open(&g->plan, &g->m.p.pinglist, c, 1, test_err()));
	assert_ok(xp_bulk_mesh_connects(&g->p, &g->plan, &g->m.p, test_err()));
	assert_ok(connects_open(&g->c, &g->m.s.topo, &g->p, test_err()));
	assert_ok(xp_mesh_sums_open(&g->sums, c, g->c, &g->p, &ladder,
	    WINDOW_S * SIM_SEC, 0, 0, test_err()));
	assert_ok(xp_every_open(&g->every, c, test_err()));
	assert_ok(xp_mesh_pairs_open(&g->pairs, c, g->c, &g->p,
	    WINDOW_S * SIM_SEC, wait[0], kept, test_err()));
}

static void tear_down(struct rig *g)
{
	connects_close(g->c);
	xp_mesh_sums_close(&g->sums);
	xp_every_close(&g->every);
	xp_mesh_pairs_close(&g->pairs);
	obs_probes_free(&g->table);
	obs_probes_free(&g->part);
	pingmesh_close(&g->m);
}

/* --- the job on both -------------------------------------------------------- */

static void assert_same(const struct algo_blackhole *a,
    const struct algo_blackhole *b, uint32_t run)
{
	for (uint32_t h = 0; h < a->dc.clos.all_hosts; h++) {
		const struct algo_blackhole_server *x = &a->server[h],
						   *y = &b->server[h];
		if (x->n_type1 != y->n_type1 || x->n_type2 != y->n_type2 ||
		    x->n_failed != y->n_failed || x->alive != y->alive)
			fail_msg("run %u, server %u: %u %u %ju %d, by probes "
				 "%u %u %ju %d",
			    run, h, x->n_type1, x->n_type2,
			    (uintmax_t)x->n_failed, x->alive, y->n_type1,
			    y->n_type2, (uintmax_t)y->n_failed, y->alive);
	}
	for (uint32_t i = 0; i < a->dc.clos.all_tors; i++) {
		const struct algo_blackhole_tor *x = &a->tor[i],
						*y = &b->tor[i];
		const int same_score = x->score == y->score ||
		    (isnan(x->score) && isnan(y->score));
		if (x->n_alive != y->n_alive || x->n_symptom != y->n_symptom ||
		    !same_score || x->action != y->action)
			fail_msg("run %u, ToR %u: score %.17g, action %d; by "
				 "probes %.17g, %d",
			    run, i, x->score, x->action, y->score, y->action);
	}
}

static void judge(struct rig *g, const struct algo_blackhole_params *p,
    const struct obs_pairs *pairs, uint32_t run)
{
	const struct obs_probe_source part = obs_probes_whole(&g->part);
	struct algo_blackhole a, b;
	assert_ok(algo_blackhole_open(&a, &g->dc, p, test_err()));
	assert_ok(algo_blackhole_open(&b, &g->dc, p, test_err()));
	assert_ok(algo_blackhole_diagnose_pairs(&a, pairs, 0, test_err()));
	assert_ok(algo_blackhole_diagnose(&b, &part, 0, test_err()));
	assert_same(&a, &b, run);
	g->n_black += (uint32_t)a.n_pairs;
	for (uint32_t i = 0; i < a.dc.clos.all_tors; i++)
		g->n_named += a.tor[i].action != ALGO_BLACKHOLE_NONE;
	algo_blackhole_close(&a);
	algo_blackhole_close(&b);
}

/* Whether probe I is of pair X, and whose end is its sender's: 1 the lower one's, 2
 * the other's. */
static int end_of(const struct obs_probes *t, size_t i,
    const struct obs_pair *x)
{
	return t->src_host[i] == x->low && t->dst_host[i] == x->high ? 1
	    : t->src_host[i] == x->high && t->dst_host[i] == x->low  ? 2
								     : 0;
}

/* What was told of pair X, counted probe by probe. */
static struct obs_pair sum_of(const struct obs_probes *t,
    const struct obs_pair *x)
{
	static uint32_t n_failed[3][65536], n_all[3][65536];
	struct obs_pair sum = {.low = x->low, .high = x->high};
	int end;
	for (size_t i = 0; i < t->n; i++)
		if ((end = end_of(t, i, x)) > 0) {
			const int failed = t->outcome[i] == OBS_TIMED_OUT;
			sum.n_probes++;
			sum.n_failed += (uint32_t)failed;
			n_failed[end][t->src_port[i]] += (uint32_t)failed;
			n_all[end][t->src_port[i]]++;
		}
	for (size_t i = 0; i < t->n; i++)
		if ((end = end_of(t, i, x)) > 0) {
			uint32_t *n = &n_failed[end][t->src_port[i]],
				 *all = &n_all[end][t->src_port[i]];
			if (*n == *all && *n > sum.n_dead)
				sum.n_dead = *n;
			*n = *all = 0;
		}
	return sum;
}

/* The job asks of sums whether they are so large; here they are what they are. */
static void assert_sums(struct rig *g, const struct obs_pairs *pairs)
{
	struct obs_pair_list list = {0};
	assert_ok(pairs->list(pairs->arg, 1, &list, test_err()));
	for (size_t i = 0; i < list.n; i++) {
		const struct obs_pair x = obs_pair_list_at(&list, i),
				      want = sum_of(&g->part, &x);
		assert_int_equal(x.n_probes, want.n_probes);
		assert_int_equal(x.n_failed, want.n_failed);
		assert_int_equal(x.n_dead, want.n_dead);
		g->n_summed++;
	}
	obs_pair_list_free(&list);
}

/* By both rules, and where each five-tuple that fails once is a hole's. */
static void judge_all(struct rig *g, uint32_t window, uint32_t n, uint32_t run)
{
	struct algo_blackhole_params p;
	const struct obs_pairs *pairs;
	const sim_ns to = (window + 1) * WINDOW_S * SIM_SEC;
	const sim_ns from = n > window ? 0 : to - n * WINDOW_S * SIM_SEC;
	obs_probes_clear(&g->part);
	for (size_t i = 0; i < g->table.n; i++) {
		const struct obs_probe one = obs_probes_at(&g->table, i);
		if (one.sent_ns >= from)
			assert_ok(obs_probes_add(&g->part, &one, test_err()));
	}
	assert_ok(xp_mesh_pairs_tell(&g->pairs, n, &pairs, test_err()));
	if (run == 0)
		assert_sums(g, pairs);
	assert_ok(sim_field_defaults(algo_blackhole_fields, &p, test_err()));
	judge(g, &p, pairs, run);
	p.rule = ALGO_BLACKHOLE_PAPER;
	judge(g, &p, pairs, run);
	p.min_failures = 1;
	p.min_spells = 0;
	judge(g, &p, pairs, run);
	p.min_failures = 40; /* more than most pairs have */
	judge(g, &p, pairs, run);
	p.min_failures = 9; /* of 4.3 a direction some have as many */
	judge(g, &p, pairs, run);
}

static void run_windows(struct rig *g, uint32_t kept, uint32_t run)
{
	const struct connects_taker taker = {g, take, NULL};
	const struct scene *s = scenes_draw(&g->m.s, run);
	struct sim_rng r;
	test_rng(&r, run);
	obs_probes_clear(&g->table);
	assert_ok(connects_begin(g->c, s, test_err()));
	xp_mesh_pairs_clear(&g->pairs);
	for (uint32_t w = 0; w < WINDOWS; w++) {
		const sim_ns from = w * WINDOW_S * SIM_SEC,
			     to = from + WINDOW_S * SIM_SEC;
		assert_ok(xp_mesh_pairs_begin(&g->pairs, &s->truth,
		    g->p.give_up_ns, test_err()));
		assert_ok(
		    connects_window(g->c, from, to, w, &taker, test_err()));
		assert_ok(xp_every_tell(&g->every, g->c, &g->sums, from, to, &r,
		    &g->table, test_err()));
		judge_all(g, w, 1, run);
		if (kept > 1)
			judge_all(g, w, kept, run);
	}
}

/* Servers that are off are off by faulty links. */
static void add_outage(struct rig *g)
{
	struct fault_params *f = scenes_add_group(&g->m.s);
	f->kind = FAULT_HOST_OFF;
	f->count = 3;
	f->from_s = 250;
	f->to_s = 907;
}

/* Some holes end, so that ports which fail first may be answered at last. */
static void add_holes(struct rig *g)
{
	struct fault_params *f = pingmesh_add_holes(&g->m, 2, 0.2);
	f->from_s = 450;
	f->to_s = 1000;
	pingmesh_add_holes(&g->m, 2, 0.1)->kind = FAULT_BLACK_HOLE_2;
}

static void run_all(const char *text, double noise, uint32_t kept)
{
	struct rig g;
	set_up(&g, text);
	g.m.s.params.noise.rate = scenes_fixed(noise);
	if (noise > 0)
		add_outage(&g);
	add_holes(&g);
	start(&g, kept);
	for (uint32_t run = 0; run < RUNS; run++)
		run_windows(&g, kept, run);
	assert_true(g.n_named > 10 && g.n_black > 100 && g.n_summed > 30);
	tear_down(&g);
}

#define LISTS                                                                  \
	"window: 300, duration: 1200, pinglist: {tor_interval_s: 10, "         \
	"dc_interval_s: "

static void sums_of_pairs_give_the_verdict_of_their_probes(void **state)
{
	(void)state;
	run_all(LISTS "20}", 0.01, 1);
	run_all(LISTS "20}", 0.01, 2);
	run_all(LISTS "20}, connect: {timers: linux}", 0.01, WINDOWS);
	run_all(LISTS "20, max_peers: 6}", 0.01, 1);
	run_all(LISTS "20, levels: [dc]}", 0.01, 1);
	run_all(LISTS "70}", 0.01, 2); /* 4.3 a window and direction */
}

/* A pair has 60 connects a direction and window, from 7 ports or, where one
 * count goes over those of all peers, fewer. */
static void they_do_where_pairs_come_to_their_ports_again(void **state)
{
	(void)state;
	run_all(LISTS "10}, agent: {first_port: 40000, last_port: 40006}", 0,
	    1);
	run_all(LISTS "10}, agent: {first_port: 40000, last_port: 40043, "
		      "ports: list}",
	    0, 2);
	run_all(LISTS "17}, agent: {first_port: 40000, last_port: 40003}", 0,
	    2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sums_of_pairs_give_the_verdict_of_their_probes),
	    cmocka_unit_test(they_do_where_pairs_come_to_their_ports_again),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/bulk/pairs",
	    tests, NULL, NULL);
}
