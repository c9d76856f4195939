/* tests/experiments/pingmesh/dsa/measure_test.c -- in pieces it is as in one table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/pingmesh.h"

/* So many that they are met in several spans of times. */
enum { PROBES = 3 * ALGO_RTT_SPARE, PIECE = 5000 };

struct rig {
	struct pingmesh m;
	struct topo_dc dc;
	struct xp_dsa_services services;
	struct obs_probes all, piece;
	struct sim_rng rng;
	size_t n_read; /* times that all were read */
	int narrow;    /* leave out what was not asked for */
};

static void set_up(struct rig *g)
{
	*g = (struct rig){.n_read = 0};
	pingmesh_open(&g->m, &pingmesh_tiny, "sla: {min_probes: 10}");
	g->dc = topo_dc_at(&g->m.s.topo, 0);
	assert_ok(xp_dsa_services_read(&g->services, "web=0-2,6",
	    PINGMESH_HOSTS, test_err()));
	xp_pingmesh_waits(&g->m.p, g->all.syn_wait_ns);
	test_rng(&g->rng, 0);
}

static void tear_down(struct rig *g)
{
	obs_probes_free(&g->all);
	obs_probes_free(&g->piece);
	xp_dsa_services_free(&g->services);
	pingmesh_close(&g->m);
}

/* Times of all magnitudes, times close to each other, and one that many have; some
 * lost a SYN, and some failed or went to another data centre. */
static sim_ns any_time(struct rig *g)
{
	const uint32_t kind = sim_rng_below(&g->rng, 8);
	if (kind == 0)
		return UINT64_C(1) << sim_rng_below(&g->rng, 40);
	if (kind == 1)
		return 3 * SIM_SEC + sim_rng_below(&g->rng, SIM_MS);
	return kind < 4 ? 268 * SIM_US
			: 200 * SIM_US + sim_rng_below(&g->rng, 150 * SIM_US);
}

static void draw(struct rig *g, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t src = sim_rng_below(&g->rng, PINGMESH_HOSTS);
		const uint32_t step =
		    1 + sim_rng_below(&g->rng, PINGMESH_HOSTS - 1);
		const int failed = sim_rng_below(&g->rng, 50) == 0;
		const struct obs_probe p = {.sent_ns = i * SIM_US,
		    .rtt_ns = failed ? 0 : any_time(g),
		    .src_host = src,
		    .dst_host = (src + step) % PINGMESH_HOSTS,
		    .src_port = (uint16_t)i,
		    .dst_port = 80,
		    .outcome = failed ? OBS_TIMED_OUT : OBS_CONNECTED,
		    .level = sim_rng_below(&g->rng, 20) == 0
			? OBS_LEVEL_INTER_DC
			: OBS_LEVEL_DC};
		assert_ok(obs_probes_add(&g->all, &p, test_err()));
	}
}

/* Pieces of any size, some of which are empty. */
static int read_piece(void *arg, size_t *at, const struct obs_probe_span *only,
    const struct obs_probes **piece, struct sim_err *e)
{
	struct rig *g = arg;
	const size_t end = *at + 1 + sim_rng_below(&g->rng, PIECE);
	int rc = 0;
	g->n_read += *at == 0;
	obs_probes_clear(&g->piece);
	memcpy(g->piece.syn_wait_ns, g->all.syn_wait_ns,
	    sizeof(g->piece.syn_wait_ns));
	for (; rc == 0 && *at < g->all.n && *at < end; ++*at) {
		const struct obs_probe p = obs_probes_at(&g->all, *at);
		if (!only || !g->narrow ||
		    (p.rtt_ns >= only->from && p.rtt_ns < only->to))
			rc = obs_probes_add(&g->piece, &p, e);
	}
	*piece = &g->piece;
	return rc;
}

static struct obs_probe_source pieces(struct rig *g)
{
	return (struct obs_probe_source){.n = g->all.n,
	    .syn_wait_ns = g->all.syn_wait_ns,
	    .arg = g,
	    .read = read_piece};
}

static void open_jobs(const struct rig *g, struct xp_dsa *d)
{
	assert_ok(
	    xp_dsa_open(d, &g->dc, &g->services, &g->m.p.dsa, test_err()));
}

static int same(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static void assert_same(const struct xp_dsa *a, const struct xp_dsa *b)
{
	for (size_t i = 0; i < a->sla.first[ALGO_SLA_N_KINDS]; i++) {
		const struct algo_sla_scope *x = &a->sla.scope[i],
					    *y = &b->sla.scope[i];
		assert_int_equal(x->n_success, y->n_success);
		assert_int_equal(x->n_drop, y->n_drop);
		assert_int_equal(x->alerts, y->alerts);
		assert_true(same(x->drop_rate, y->drop_rate));
		assert_true(same(x->p50_us, y->p50_us));
		assert_true(same(x->p99_us, y->p99_us));
	}
	assert_int_equal(a->sla.verdict[0], b->sla.verdict[0]);
	assert_int_equal(a->heatmap.n_units, b->heatmap.n_units);
	for (uint32_t i = 0; i < a->heatmap.n_units * a->heatmap.n_units; i++)
		assert_true(same(a->heatmap.p99_us[i], b->heatmap.p99_us[i]));
	assert_int_equal(a->silent.tier, b->silent.tier);
	for (size_t i = 0; i < a->silent.n_cells; i++) {
		assert_int_equal(a->silent.cell[i].pod, b->silent.cell[i].pod);
		assert_true(same(a->silent.cell[i].lo, b->silent.cell[i].lo));
	}
}

/* The jobs one by one, each by its own sort of the whole table. */
static void run_jobs(struct rig *g, struct xp_dsa *d,
    enum algo_heatmap_unit unit)
{
	const struct obs_probe_source whole = obs_probes_whole(&g->all);
	enum algo_heatmap_pattern pattern;
	assert_ok(xp_dsa_order(d, &g->all, test_err()));
	assert_ok(xp_dsa_sla(d, &g->all, test_err()));
	assert_ok(xp_dsa_heatmap(d, unit, &pattern, test_err()));
	assert_ok(xp_dsa_silent_drop(d, &whole, test_err()));
}

static void measured_together_or_in_pieces_it_is_what_the_jobs_say(void **state)
{
	static const size_t n_probes[] = {0, 1, 1000, PROBES};
	struct rig g;
	(void)state;
	set_up(&g);
	for (int i = 0; i < 4; i++) {
		const enum algo_heatmap_unit unit =
		    i % 2 ? ALGO_HEATMAP_TOR : ALGO_HEATMAP_POD;
		struct xp_dsa want, got;
		draw(&g, n_probes[i] - g.all.n);
		const struct obs_probe_source whole = obs_probes_whole(&g.all),
					      cut = pieces(&g);
		open_jobs(&g, &want);
		open_jobs(&g, &got);
		run_jobs(&g, &want, unit);
		assert_ok(xp_dsa_measure(&got, &whole, unit, test_err()));
		assert_same(&want, &got);
		for (g.narrow = 0; g.narrow < 2; g.narrow++) {
			assert_ok(xp_dsa_measure(&got, &cut, unit, test_err()));
			assert_same(&want, &got);
		}
		xp_dsa_close(&want);
		xp_dsa_close(&got);
	}
	tear_down(&g);
}

/* Of probes in pieces a span is sorted at a time, which has a sixth of them, or
 * ALGO_RTT_SPARE if these are more; the list that grows by half has room for half of
 * it more, and for a piece. So of many probes each adds 16 bytes / 6 at most. */
static void probes_in_pieces_are_sorted_a_sixth_at_a_time(void **state)
{
	enum { MANY = 8 * ALGO_RTT_SPARE };
	struct rig g;
	struct xp_dsa d;
	(void)state;
	set_up(&g);
	draw(&g, MANY);
	/* A quarter has one time, and can't be in spans of less. */
	for (size_t i = 0; i < g.all.n; i++)
		if (g.all.rtt_ns[i] == 268 * SIM_US)
			g.all.rtt_ns[i] += i % (64 * SIM_US);
	open_jobs(&g, &d);
	const struct obs_probe_source cut = pieces(&g);
	g.narrow = 1;
	assert_ok(xp_dsa_measure(&d, &cut, ALGO_HEATMAP_POD, test_err()));
	assert_true(d.order.cap <= (MANY / 6 + PIECE) * 3 / 2);
	assert_int_equal(d.order.cap_spare, ALGO_RTT_SPARE);
	assert_true(g.n_read > 6 && g.n_read <= 14);
	xp_dsa_close(&d);
	tear_down(&g);
}

static int open_and_measure(void *arg, struct sim_err *e)
{
	struct rig *g = arg;
	const struct obs_probe_source cut = pieces(g);
	struct xp_dsa d;
	obs_probes_free(&g->piece);
	int rc = xp_dsa_open(&d, &g->dc, &g->services, &g->m.p.dsa, e);
	if (rc == 0)
		rc = xp_dsa_measure(&d, &cut, ALGO_HEATMAP_TOR, e);
	xp_dsa_close(&d);
	return rc;
}

static void each_allocation_may_fail_and_a_bad_probe_is_refused(void **state)
{
	struct rig g;
	struct sim_err e;
	(void)state;
	set_up(&g);
	draw(&g, 100);
	test_each_alloc_fails(open_and_measure, &g);
	g.all.dst_host[99] = g.all.src_host[99];
	assert_int_equal(open_and_measure(&g, &e), SIM_EINVAL);
	tear_down(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		measured_together_or_in_pieces_it_is_what_the_jobs_say),
	    cmocka_unit_test(probes_in_pieces_are_sorted_a_sixth_at_a_time),
	    cmocka_unit_test(
		each_allocation_may_fail_and_a_bad_probe_is_refused),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/dsa/measure",
	    tests, NULL, NULL);
}
