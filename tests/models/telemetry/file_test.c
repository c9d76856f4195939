/* tests/models/telemetry/file_test.c -- rows told by a wrong file of the network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/telemetry/telemetry.h"

#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"
#include "topo/swap.h"

enum { K = 4 };

static void swap(struct topo *file, const struct telemetry_rig *x, uint32_t n)
{
	struct sim_rng r;
	test_rng(&r, 7);
	assert_ok(topo_swap(file, &x->topo, n, &r, test_err()));
}

/* A file that is right tells what there is, to the last path. */
static void a_right_file_changes_nothing(void **state)
{
	(void)state;
	for (uint32_t answers = 0; answers < 2; answers++) {
		struct telemetry_rig x, y;
		struct topo file;
		const unsigned kinds = OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P;
		telemetry_rig_open(&x, K, 1e-3, kinds, 0);
		telemetry_rig_open(&y, K, 1e-3, kinds, 0);
		swap(&file, &x, 0);
		x.t.file = &file;
		x.p.trace.answers = y.p.trace.answers = answers;
		telemetry_rig_draw(&x);
		telemetry_rig_draw(&y);
		assert_int_equal(x.t.rows.n, y.t.rows.n);
		for (size_t i = 0; i < x.t.rows.n; i++) {
			const struct obs_tally a = obs_tallies_at(&x.t.rows, i),
					       b = obs_tallies_at(&y.t.rows, i);
#define X(type, name, unit, doc) assert_true(a.name == b.name);
			OBS_TALLY_COLUMNS(X)
#undef X
		}
		assert_int_equal(x.t.paths.n, y.t.paths.n);
		telemetry_rig_close(&x);
		telemetry_rig_close(&y);
		topo_close(&file);
	}
}

static topo_node end_of(const struct topo *t, topo_link l, topo_node *from)
{
	topo_node to;
	topo_link_ends(t, l, from, &to);
	return to;
}

/* The switches that were passed, by links of the true network. */
static unsigned passed(const struct telemetry_rig *x, size_t flow,
    topo_node node[])
{
	const unsigned h = obs_n_hops(&x->w, flow);
	const topo_link *way = x->lost.path + x->w.hops.off[flow];
	for (unsigned i = 0; i < h; i++)
		node[i + 1] = end_of(&x->topo, way[i], &node[i]);
	return h;
}

/* A path is told by the file's cables between the nodes that were passed, and told
 * just where there are such and they are one of the file's equal paths. Sets are
 * the file's. */
static void assert_told_by(const struct telemetry_rig *x,
    const struct topo *file)
{
	int n_told = 0, n_dark = 0;
	for (size_t i = 0; i < x->t.rows.n; i++) {
		const struct obs_tally r = obs_tallies_at(&x->t.rows, i);
		const struct obs_paths *p = &x->t.paths;
		topo_node node[TOPO_MAX_HOPS + 1], from;
		assert_int_equal(p->from[r.set], topo_tor_of(file, r.up / 2));
		assert_int_equal(p->to[r.set], topo_tor_of(file, r.down / 2));
		if (r.n_lost == 0)
			continue;
		const unsigned h = passed(x, r.flow, node);
		int whole = 1;
		for (unsigned k = 0; k < h; k++) {
			const topo_link l =
			    topo_link_between(file, node[k], node[k + 1]);
			whole &= l != TOPO_NONE;
			assert_int_equal(x->w.hops
					     .link[x->w.hops.off[r.flow] + k],
			    l);
		}
		if (r.path == OBS_NO_PATH) {
			n_dark++;
			/* Else it is longer than the file's, as a swapped cable
			 * makes others' ways shorter. */
			assert_true(!whole ||
			    obs_path_length(p, p->first[r.set]) < h - 2);
			continue;
		}
		n_told++;
		assert_true(whole);
		assert_int_equal(obs_path_length(p, r.path), h - 2);
		for (unsigned k = 1; k + 1 < h; k++)
			assert_int_equal(end_of(file,
					     p->link[p->off[r.path] + k - 1],
					     &from),
			    node[k + 1]);
	}
	print_message("%d told, %d not\n", n_told, n_dark);
	assert_true(n_told > 100 && n_dark > 10);
}

static void a_path_is_told_by_the_file(void **state)
{
	struct telemetry_rig x;
	struct topo file;
	(void)state;
	telemetry_rig_open(&x, K, 1e-3, OBS_TELE_INT, 0);
	swap(&file, &x, 1);
	x.t.file = &file;
	telemetry_rig_draw(&x);
	assert_told_by(&x, &file);
	telemetry_rig_close(&x);
	topo_close(&file);
}

/* Of a leaf-spine all cables between switches are there in any case: the file then
 * has two hosts at each other's rack. */
static void a_host_may_be_at_another_rack(void **state)
{
	static const struct topo_clos leaf_spine = {.n_pods = 1,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 0,
	    .n_hosts = 4};
	const struct sim_seed where = {.seed = test_seed()};
	struct telemetry_rig x;
	struct topo file;
	uint32_t n_moved = 0;
	(void)state;
	telemetry_rig_open(&x, K, 1e-3, OBS_TELE_INT, 0);
	scene_free(&x.scene);
	topo_close(&x.topo);
	assert_ok(topo_open_clos(&x.topo, &leaf_spine, test_err()));
	assert_ok(scene_draw(&x.scene, &x.topo, &x.params, &where, test_err()));
	swap(&file, &x, 1);
	for (topo_host h = 0; h < x.topo.n_hosts; h++)
		n_moved += topo_tor_of(&file, h) != topo_tor_of(&x.topo, h);
	assert_int_equal(n_moved, 2);
	x.t.file = &file;
	telemetry_rig_draw(&x);
	assert_told_by(&x, &file);
	telemetry_rig_close(&x);
	topo_close(&file);
}

static void a_wrong_file_loses_nothing_else(void **state)
{
	struct telemetry_rig x, y;
	struct topo file;
	(void)state;
	telemetry_rig_open(&x, K, 1e-3, OBS_TELE_INT, 0);
	telemetry_rig_open(&y, K, 1e-3, OBS_TELE_INT, 0);
	swap(&file, &x, 1);
	x.t.file = &file;
	telemetry_rig_draw(&x);
	telemetry_rig_draw(&y);
	assert_int_equal(x.t.rows.n, y.t.rows.n);
	assert_memory_equal(x.t.rows.n_lost, y.t.rows.n_lost,
	    x.t.rows.n * sizeof(x.t.rows.n_lost[0]));
	telemetry_rig_close(&x);
	telemetry_rig_close(&y);
	topo_close(&file);
}

/* Probes are told by paths of the file, from the ToR that it gives to the host. */
static void probes_are_told_by_the_file(void **state)
{
	(void)state;
	struct telemetry_rig x;
	struct topo file;
	int n_wrong = 0;
	telemetry_rig_open(&x, K, 0, OBS_TELE_A1, 0);
	swap(&file, &x, 2);
	x.t.file = &file;
	telemetry_rig_draw(&x);
	for (size_t i = 0; i < x.t.rows.n; i++) {
		const struct obs_tally r = obs_tallies_at(&x.t.rows, i);
		const struct obs_paths *p = &x.t.paths;
		topo_node at = file.n_hosts + p->from[r.set], from;
		for (uint32_t k = p->off[r.path]; k < p->off[r.path + 1]; k++) {
			const topo_node to = end_of(&file, p->link[k], &from);
			topo_node is;
			assert_int_equal(from, at);
			n_wrong += end_of(&x.topo, p->link[k], &is) != to;
			at = to;
		}
		assert_int_equal(at, file.n_hosts + p->to[r.set]);
	}
	assert_true(n_wrong > 0);
	telemetry_rig_close(&x);
	topo_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_right_file_changes_nothing),
	    cmocka_unit_test(a_path_is_told_by_the_file),
	    cmocka_unit_test(a_host_may_be_at_another_rack),
	    cmocka_unit_test(a_wrong_file_loses_nothing_else),
	    cmocka_unit_test(probes_are_told_by_the_file),
	};
	return cmocka_run_group_tests_name("models/telemetry/file", tests, NULL,
	    NULL);
}
