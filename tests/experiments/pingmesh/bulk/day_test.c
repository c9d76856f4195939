/* tests/experiments/pingmesh/bulk/day_test.c -- windows in bulk, as tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/day.h"

#include "experiments/pingmesh/bulk/run.h"
#include "tests/rigs/pingmesh.h"

enum { WINDOWS = 4 };
static const struct topo_clos shape = {3, 2, 2, 2, 3, .n_cables = 0};

static void set_up(struct pingmesh *m)
{
	pingmesh_open(m, &shape,
	    "duration: 2400, window: 600, along: window, pinglist: "
	    "{tor_interval_s: 10, dc_interval_s: 20}");
	m->s.params.noise.rate = scenes_fixed(2e-3);
	pingmesh_add_holes(m, 1, 0.3)->from_s = 900;
	scenes_draw(&m->s, 7);
}

static const struct xp_dsa_drop_rate_row *all_probes(
    const struct xp_mesh_day *d)
{
	assert_int_equal(d->tables.drop_rate.row[0].group, ALGO_DROP_ALL);
	return &d->tables.drop_rate.row[0];
}

/* By the same streams of random numbers. */
static void windows_are_those_of_a_run(void **state)
{
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	struct res_trial_metrics row[WINDOWS];
	struct xp_mesh_day d;
	struct xp_bulk_mesh *b;
	struct pingmesh m;
	(void)state;
	set_up(&m);
	assert_ok(xp_bulk_mesh_open(&b, &m.s.topo, &m.p, 0, test_err()));
	assert_ok(xp_bulk_mesh_run(b, &m.s.scene, row, &none, test_err()));
	assert_ok(
	    xp_mesh_day_open(&d, &m.s.topo, &m.p, &m.s.scene, test_err()));
	for (uint32_t w = 0; w < WINDOWS; w++) {
		assert_ok(xp_mesh_day_window(&d, w, test_err()));
		assert_true((double)all_probes(&d)->n_drop == row[w].n_drop);
		assert_true(
		    (double)all_probes(&d)->n_failed == row[w].n_unconnected);
		assert_true((double)d.tables.summary.row[0].n_probes ==
		    row[w].n_probes);
		/* Two periods of 5 minutes. */
		assert_int_equal(d.tables.summary.n, 3);
	}
	assert_int_equal(d.n_rows, xp_bulk_mesh_n_rows(b));
	xp_mesh_day_close(&d);
	xp_bulk_mesh_close(b);
	pingmesh_close(&m);
}

/* Of one data centre, in which no probe leads to another. */
static void all_probes_are_those_of_all_groups(void **state)
{
	const struct xp_pingmesh_hooks none = {.arg = NULL};
	struct res_trial_metrics row[ALGO_DROP_N_GROUPS];
	const struct res_trial_metrics *all = &row[ALGO_DROP_ALL];
	double n_probes = 0, n_drop = 0, n_unconnected = 0;
	struct xp_bulk_mesh *b;
	struct pingmesh m;
	(void)state;
	pingmesh_open(&m, &shape,
	    "duration: 600, along: group, pinglist: "
	    "{tor_interval_s: 10, dc_interval_s: 20}");
	m.s.params.noise.rate = scenes_fixed(2e-3);
	scenes_draw(&m.s, 7);
	assert_ok(xp_bulk_mesh_open(&b, &m.s.topo, &m.p, 0, test_err()));
	assert_int_equal(xp_bulk_mesh_rows(b), ALGO_DROP_N_GROUPS);
	assert_ok(xp_bulk_mesh_run(b, &m.s.scene, row, &none, test_err()));
	for (int g = ALGO_DROP_INTRA_TOR; g < ALGO_DROP_N_GROUPS; g++) {
		assert_int_equal(row[g].n_probes > 0, g != ALGO_DROP_INTER_DC);
		n_probes += row[g].n_probes;
		n_drop += row[g].n_drop;
		n_unconnected += row[g].n_unconnected;
	}
	assert_true(n_probes == all->n_probes);
	assert_true(n_drop == all->n_drop && n_drop > 0);
	assert_true(n_unconnected == all->n_unconnected);
	xp_bulk_mesh_close(b);
	pingmesh_close(&m);
}

static void a_window_had_alone_is_the_same(void **state)
{
	struct xp_mesh_day one, all;
	struct pingmesh m;
	(void)state;
	set_up(&m);
	assert_ok(
	    xp_mesh_day_open(&one, &m.s.topo, &m.p, &m.s.scene, test_err()));
	assert_ok(
	    xp_mesh_day_open(&all, &m.s.topo, &m.p, &m.s.scene, test_err()));
	for (uint32_t w = 0; w < WINDOWS; w++)
		assert_ok(xp_mesh_day_window(&all, w, test_err()));
	assert_ok(xp_mesh_day_window(&one, WINDOWS - 1, test_err()));
	assert_int_equal(one.tables.sla.n, all.tables.sla.n);
	for (size_t i = 0; i < one.tables.sla.n; i++) {
		const struct xp_dsa_sla_row *a = &one.tables.sla.row[i];
		const struct xp_dsa_sla_row *b = &all.tables.sla.row[i];
		assert_int_equal(a->n_success, b->n_success);
		assert_true(a->p50_us == b->p50_us && a->p99_us == b->p99_us);
	}
	xp_mesh_day_close(&one);
	xp_mesh_day_close(&all);
	pingmesh_close(&m);
}

static int one_window(void *arg, struct sim_err *e)
{
	struct pingmesh *m = arg;
	struct xp_mesh_day d;
	int rc = xp_mesh_day_open(&d, &m->s.topo, &m->p, &m->s.scene, e);
	if (rc == 0)
		rc = xp_mesh_day_window(&d, 0, e);
	xp_mesh_day_close(&d);
	return rc;
}

static void a_day_that_runs_out_of_memory_says_so(void **state)
{
	struct pingmesh m;
	(void)state;
	set_up(&m);
	test_each_alloc_fails(one_window, &m);
	pingmesh_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(windows_are_those_of_a_run),
	    cmocka_unit_test(all_probes_are_those_of_all_groups),
	    cmocka_unit_test(a_window_had_alone_is_the_same),
	    cmocka_unit_test(a_day_that_runs_out_of_memory_says_so),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/bulk/day",
	    tests, NULL, NULL);
}
