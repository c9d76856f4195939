/* tests/experiments/pingmesh/bulk/tables_test.c -- tables of counts and of probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The same rows of late connects are counted, and told with all other probes one
 * by one to the jobs of dsa/dsa.h. Counts in both tables are equal; times, which
 * are drawn apart, are held to each other by means within 5.5 standard errors
 * (4e-8 each, 26 of them) and buckets by chi-square tests at 1e-6, 6 of them.
 * Each with links that delay and without.
 */
#include "experiments/pingmesh/bulk/tables.h"

#include "algos/pingmesh/perf.h"
#include "experiments/pingmesh/bulk/connects.h"
#include "experiments/pingmesh/bulk/every.h"
#include "experiments/pingmesh/bulk/run.h"
#include "tests/rigs/law.h"
#include "tests/rigs/pingmesh.h"

static const struct topo_clos shape = {3, 3, 2, 2, 4, .n_cables = 0};
enum { WINDOW_S = 600, RUNS = 12 };

struct rig {
	struct pingmesh m;
	struct algo_pinglist plan;
	struct connects_params p;
	struct connects *c;
	struct xp_mesh_sums sums;
	struct xp_every every;
	struct xp_mesh_pairs pairs;
	struct xp_dsa dsa;
	struct xp_buckets buckets;
	struct obs_probes table;
	struct obs_perf perf;
	struct xp_dsa_tables bulk, each;
	struct law_mean us[2][2][5]; /* bulk or not, P50 or P99, kind */
	struct law_mean cell[2];
	struct law_mean counter[2][2]; /* bulk or not, P50 or P99 */
};

static int take(void *arg, const struct connects_row *r, struct sim_err *e)
{
	struct rig *g = arg;
	int rc = xp_mesh_sums_take(&g->sums, r, e);
	if (rc == 0)
		rc = xp_mesh_pairs_take(&g->pairs, r, e);
	return rc < 0 ? rc : xp_every_take(&g->every, r, e);
}

static void add_slow(struct rig *g, topo_link l, double us)
{
	struct fault_params *f = scenes_add_fault(&g->m.s, l, 0);
	f->kind = FAULT_LATENCY;
	f->delay = scenes_fixed(us);
}

static void set_up(struct rig *g)
{
	sim_ns wait[OBS_MAX_WAITS] = {0};
	struct algo_drop_ladder ladder;
	struct xp_dsa_services services;
	memset(g, 0, sizeof(*g));
	pingmesh_open(&g->m, &shape,
	    "window: 600, service: \"0-5,17\", pinglist: {tor_interval_s: 10, "
	    "dc_interval_s: 20}");
	const struct topo_clos *c = &g->m.s.topo.clos;
	const struct topo_dc dc = topo_dc_alone(c);
	g->m.p.connect.profile = 0;
	g->m.s.params.noise.rate = scenes_fixed(3e-3);
	struct fault_params *f = scenes_add_group(&g->m.s);
	f->kind = FAULT_HOST_OFF;
	f->count = 3;
	f->from_s = 100;
	f->to_s = 433;
	pingmesh_add_holes(&g->m, 1, 0.2)->from_s = 250;
	assert_ok(xp_dsa_services_read(&services, g->m.p.service, c->all_hosts,
	    test_err()));
	assert_ok(
	    xp_dsa_open(&g->dsa, &dc, &services, &g->m.p.dsa, test_err()));
	xp_dsa_services_free(&services);
	assert_ok(
	    algo_pinglist_open(&g->plan, &g->m.p.pinglist, c, 1, test_err()));
	assert_ok(xp_bulk_mesh_connects(&g->p, &g->plan, &g->m.p, test_err()));
	assert_ok(connects_open(&g->c, &g->m.s.topo, &g->p, test_err()));
	xp_pingmesh_waits(&g->m.p, wait);
	xp_pingmesh_waits(&g->m.p, g->table.syn_wait_ns);
	assert_ok(xp_dsa_ladder(&g->dsa, wait, &ladder, test_err()));
	assert_ok(xp_mesh_sums_open(&g->sums, c, g->c, &g->p, &ladder,
	    WINDOW_S * SIM_SEC, 300 * SIM_SEC, 1, test_err()));
	assert_ok(xp_every_open(&g->every, c, test_err()));
	assert_ok(xp_mesh_pairs_open(&g->pairs, c, g->c, &g->p,
	    WINDOW_S * SIM_SEC, wait[0], 1, test_err()));
	xp_buckets_init(&g->buckets, g->p.law, g->p.late_ns);
}

static void tear_down(struct rig *g)
{
	connects_close(g->c);
	xp_mesh_sums_close(&g->sums);
	xp_every_close(&g->every);
	xp_mesh_pairs_close(&g->pairs);
	xp_dsa_close(&g->dsa);
	obs_probes_free(&g->table);
	obs_perf_free(&g->perf);
	xp_dsa_tables_free(&g->bulk);
	xp_dsa_tables_free(&g->each);
	pingmesh_close(&g->m);
}

/* --- tables ------------------------------------------------------------------ */

static void run(struct rig *g, uint32_t run)
{
	const struct connects_taker taker = {g, take, NULL};
	const struct xp_dsa_window w = {0, WINDOW_S * SIM_SEC,
	    WINDOW_S * SIM_SEC};
	const uint32_t jobs = XP_DSA_DROP_RATE | XP_DSA_SLA | XP_DSA_HEATMAP |
	    XP_DSA_BLACKHOLE | XP_DSA_SILENT_DROP;
	const struct xp_mesh_jobs all = {jobs | XP_DSA_COUNTERS, 31,
	    &g->buckets};
	struct sim_rng r;
	test_rng(&r, run);
	assert_ok(connects_begin(g->c, scenes_draw(&g->m.s, run), test_err()));
	xp_mesh_sums_clear(&g->sums);
	xp_mesh_sums_begin(&g->sums, 0);
	assert_ok(xp_mesh_pairs_restart(&g->pairs, 0, &g->m.s.scene.truth,
	    g->p.give_up_ns, test_err()));
	assert_ok(connects_window(g->c, 0, WINDOW_S * SIM_SEC, 0, &taker,
	    test_err()));
	assert_ok(xp_mesh_sums_end(&g->sums, test_err()));
	obs_probes_clear(&g->table);
	assert_ok(xp_every_tell(&g->every, g->c, &g->sums, 0,
	    WINDOW_S * SIM_SEC, &r, &g->table, test_err()));
	xp_dsa_tables_clear(&g->each);
	xp_dsa_tables_clear(&g->bulk);
	assert_ok(xp_dsa_run(&g->dsa, &w, jobs, &g->table, NULL, &g->each,
	    test_err()));
	g->dsa.n_reloaded = 0;
	assert_ok(xp_mesh_tables(&g->sums, &g->pairs, &g->dsa, &all, &r,
	    &g->perf, &g->bulk, test_err()));
}

#define SAME(table, column)                                                    \
	do {                                                                   \
		assert_int_equal(a->table.n, b->table.n);                      \
		for (size_t i = 0; i < a->table.n; i++)                        \
			assert_int_equal(a->table.row[i].column,               \
			    b->table.row[i].column);                           \
	} while (0)

static void assert_counts(const struct xp_dsa_tables *a,
    const struct xp_dsa_tables *b)
{
	SAME(drop_rate, group);
	SAME(drop_rate, n_success);
	SAME(drop_rate, n_drop);
	SAME(drop_rate, n_unclear);
	SAME(drop_rate, n_failed);
	SAME(sla, kind);
	SAME(sla, id);
	SAME(sla, n_success);
	SAME(sla, n_drop);
	SAME(silent_drop_cells, pod);
	SAME(silent_drop_cells, pod2);
	SAME(silent_drop_cells, n_success);
	SAME(silent_drop_cells, n_drop);
	SAME(silent_drop_cells, suffers);
	SAME(blackhole_tors, tor);
	SAME(blackhole_tors, n_alive);
	SAME(blackhole_tors, n_symptom);
	SAME(blackhole_tors, action);
	assert_true(a->summary.row[0].n_reload == b->summary.row[0].n_reload);
	assert_int_equal(a->heatmap.n, b->heatmap.n);
	for (size_t i = 0; i < a->heatmap.n; i++)
		assert_int_equal(isnan(a->heatmap.row[i].p99_us),
		    isnan(b->heatmap.row[i].p99_us));
	assert_int_equal(a->summary.row[0].n_probes,
	    b->summary.row[0].n_probes);
	assert_int_equal(a->summary.row[0].n_silent,
	    b->summary.row[0].n_silent);
	assert_int_equal(a->summary.row[0].tier, b->summary.row[0].tier);
}

/* Times of seconds are told by the first rung's bucket. */
static void add_counter_time(struct rig *g, int which, int q, sim_ns time)
{
	const sim_ns most = algo_pingmesh_bucket_end(
	    algo_pingmesh_bucket(g->sums.ladder.rung_ns[0]));
	law_add(&g->counter[which][q],
	    log((double)(time < most ? time : most)));
}

/* P50 and P99 of the N probes of T from FIRST on that ended in PERIOD and
 * connected, by buckets. */
static void add_counter(struct rig *g, const struct obs_probes *t, size_t first,
    size_t n, uint32_t period)
{
	static struct algo_pingmesh_hist h;
	uint64_t all = 0;
	memset(&h, 0, sizeof(h));
	for (size_t i = first; i < first + n; i++) {
		const sim_ns end = t->sent_ns[i] + t->rtt_ns[i];
		if (t->outcome[i] != OBS_CONNECTED ||
		    (end >= 300 * SIM_SEC) != period)
			continue;
		algo_pingmesh_hist_add(&h, t->rtt_ns[i]);
		all++;
	}
	for (int q = 0; q < 2 && all > 0; q++) {
		const uint64_t rank = algo_rtt_rank(all, q ? 99 : 50);
		uint64_t sum = h.count[0];
		uint32_t b = 0;
		while (sum < rank)
			sum += h.count[++b];
		add_counter_time(g, 1, q, algo_pingmesh_bucket_end(b));
	}
}

/* Of both periods and all servers, whose probes follow each other. */
static void add_counters(struct rig *g, uint32_t run)
{
	struct sim_rng r;
	test_rng(&r, 1000 + run);
	for (uint32_t k = 0; k < 2; k++) {
		assert_ok(xp_found_counters(&g->sums, k, &g->buckets, &r,
		    &g->perf, test_err()));
		for (size_t i = 0; i < g->perf.n; i++)
			if (g->perf.n_connected[i] > 0) {
				add_counter_time(g, 0, 0, g->perf.p50_ns[i]);
				add_counter_time(g, 0, 1, g->perf.p99_ns[i]);
			}
		for (size_t i = 0, n; i < g->table.n; i += n) {
			for (n = 1; i + n < g->table.n &&
			     g->table.src_host[i + n] == g->table.src_host[i];)
				n++;
			add_counter(g, &g->table, i, n, k);
		}
	}
}

/* By logarithms, as P99 is seconds here and there. */
static void add_times(struct rig *g, int which, const struct xp_dsa_tables *t)
{
	for (size_t i = 0; i < t->sla.n; i++) {
		const struct xp_dsa_sla_row *r = &t->sla.row[i];
		law_add(&g->us[which][0][r->kind], log(r->p50_us));
		law_add(&g->us[which][1][r->kind], log(r->p99_us));
	}
	for (size_t i = 0; i < t->heatmap.n; i++)
		if (!isnan(t->heatmap.row[i].p99_us))
			law_add(&g->cell[which], log(t->heatmap.row[i].p99_us));
}

static void assert_means(const struct law_mean *a, const struct law_mean *b)
{
	assert_true(a->n == b->n);
	assert_near(law_mean(a), law_mean(b),
	    5.5 * hypot(law_se(a), law_se(b)));
}

static void hold(int with_delays)
{
	static struct rig g;
	set_up(&g);
	if (with_delays) {
		const struct topo_clos *c = &g.m.s.topo.clos;
		g.m.s.params.noise.rate = scenes_fixed(3e-4);
		add_slow(&g, topo_clos_link_host(2, TOPO_UP), 400);
		add_slow(&g, topo_clos_link_t1(c, 1, 0, TOPO_DOWN), 5e3);
		add_slow(&g, topo_clos_link_tor(c, 7, 1, TOPO_UP), 3.2e6);
	}
	for (uint32_t k = 0; k < RUNS; k++) {
		run(&g, k);
		assert_counts(&g.bulk, &g.each);
		add_times(&g, 0, &g.bulk);
		add_times(&g, 1, &g.each);
		add_counters(&g, k);
	}
	for (int q = 0; q < 2; q++)
		for (int k = 0; k < 5; k++)
			assert_means(&g.us[0][q][k], &g.us[1][q][k]);
	assert_means(&g.cell[0], &g.cell[1]);
	for (int q = 0; q < 2; q++) {
		print_message("  counters: %.2f us in bulk, %.2f of probes\n",
		    exp(law_mean(&g.counter[0][q])) / 1e3,
		    exp(law_mean(&g.counter[1][q])) / 1e3);
		assert_means(&g.counter[0][q], &g.counter[1][q]);
	}
	tear_down(&g);
}

static void tables_of_counts_are_those_of_probes(void **state)
{
	(void)state;
	hold(0);
}

static void tables_with_delays_are_those_of_probes(void **state)
{
	(void)state;
	hold(1);
}

/* --- counters ------------------------------------------------------------------ */

/* All of a window's probes end in one of its periods, by the same counts. */
static void counters_add_up(void **state)
{
	static struct rig g;
	struct sim_rng r;
	(void)state;
	set_up(&g);
	test_rng(&r, 0);
	run(&g, 3);
	for (topo_host h = 0; h < g.m.s.topo.n_hosts; h++) {
		uint64_t n = 0, n_connected = 0, n_drop = 0;
		for (uint32_t k = 0; k < 2; k++) {
			assert_ok(xp_found_counters(&g.sums, k, &g.buckets, &r,
			    &g.perf, test_err()));
			assert_ok(obs_perf_check(&g.perf, 0, g.m.s.topo.n_hosts,
			    test_err()));
			n += g.perf.n_probes[h];
			n_connected += g.perf.n_connected[h];
			n_drop += g.perf.n_drop_1[h] + g.perf.n_drop_2[h];
		}
		const struct xp_mesh_sums_cell *c = &g.sums.server[h];
		assert_int_equal(n, xp_mesh_sums_n_success(c) + c->n_failed);
		assert_int_equal(n_connected, xp_mesh_sums_n_success(c));
		assert_int_equal(n_drop, c->n_drop);
	}
	tear_down(&g);
}

/* Draw all round trips and look where the rank is. */
static uint32_t bucket_by_hand(struct rig *g, const uint64_t n[], uint64_t rank,
    struct sim_rng *r)
{
	struct algo_pingmesh_hist h = {.n = 0};
	uint64_t sum = 0;
	for (int i = 0; i < CONNECTS_N_HOPS; i++)
		for (uint64_t k = 0; k < n[i];) {
			const sim_ns rtt = fabric_sim_rtt_draw(&g->p.law[i], r);
			if (rtt >= g->p.late_ns)
				continue;
			algo_pingmesh_hist_add(&h, rtt);
			k++;
		}
	for (uint32_t b = 0;; b++)
		if ((sum += h.count[b]) >= rank)
			return b;
}

static void buckets_have_the_law_of_drawn_ones(void **state)
{
	static const uint64_t n[][CONNECTS_N_HOPS] = {{40, 20, 300},
	    {0, 0, 1000}, {7, 3, 0}};
	static struct rig g;
	(void)state;
	set_up(&g);
	for (int c = 0; c < 3; c++)
		for (int q = 0; q < 2; q++) {
			const uint64_t all = n[c][0] + n[c][1] + n[c][2];
			const uint64_t rank = algo_rtt_rank(all, q ? 99 : 50);
			uint64_t got[ALGO_PINGMESH_BUCKETS] = {0};
			uint64_t want[ALGO_PINGMESH_BUCKETS] = {0};
			struct sim_rng r;
			test_rng(&r, (uint32_t)(10 * c + q));
			for (int k = 0; k < 3000; k++) {
				const sim_ns end =
				    xp_buckets_draw(&g.buckets, n[c], rank, &r);
				got[algo_pingmesh_bucket(end - 1)]++;
				want[bucket_by_hand(&g, n[c], rank, &r)]++;
			}
			const double p =
			    law_chi2_equal(got, want, ALGO_PINGMESH_BUCKETS);
			if (p < 1e-6)
				fail_msg("case %d, quantile %d: p = %g", c, q,
				    p);
		}
	tear_down(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tables_of_counts_are_those_of_probes),
	    cmocka_unit_test(tables_with_delays_are_those_of_probes),
	    cmocka_unit_test(counters_add_up),
	    cmocka_unit_test(buckets_have_the_law_of_drawn_ones),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/bulk/tables",
	    tests, NULL, NULL);
}
