/* tests/models/telemetry/telemetry_test.c -- flows as sums, and their rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/telemetry/telemetry.h"

#include "tests/rigs/meshes.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

enum { K = 6, FLOWS = 400, HOSTS = 54 };

/* Rows of all flows, kept to be compared with those of other kinds. */
static struct obs_tally *rows_of(const struct telemetry_rig *x)
{
	struct obs_tally *all = calloc(x->t.rows.n + 1, sizeof(*all));
	assert_non_null(all);
	for (size_t i = 0; i < x->t.rows.n; i++)
		all[i] = obs_tallies_at(&x->t.rows, i);
	return all;
}

/* --- what each kind has --------------------------------------------------- */

/* The same flows lose the same packets, whoever looks: a2 has those rows of int
 * that lost something, p all of them without a path, and both together those
 * that lost something with one. */
static void kinds_are_views_of_one_epoch(void **state)
{
	(void)state;
	struct telemetry_rig x;
	telemetry_rig_open(&x, K, 1e-3, OBS_TELE_INT, 0);
	telemetry_rig_draw(&x);
	const size_t n = x.t.rows.n;
	struct obs_tally *all = rows_of(&x);
	assert_int_equal(n, HOSTS * FLOWS);
	const unsigned kinds[] = {OBS_TELE_A2, OBS_TELE_P,
	    OBS_TELE_A2 | OBS_TELE_P};
	for (unsigned k = 0; k < 3; k++) {
		size_t at = 0;
		x.p.kinds = kinds[k];
		telemetry_rig_draw(&x);
		assert_int_equal(x.w.n_flows, n);
		for (size_t i = 0; i < n; i++) {
			struct obs_tally want = all[i];
			if (!(kinds[k] & OBS_TELE_P) && want.n_lost == 0)
				continue;
			if (!(kinds[k] & OBS_TELE_A2) || want.n_lost == 0)
				want.path = OBS_NO_PATH;
			const struct obs_tally got =
			    obs_tallies_at(&x.t.rows, at++);
#define X(type, name, unit, doc) assert_true(got.name == want.name);
			OBS_TALLY_COLUMNS(X)
#undef X
		}
		assert_int_equal(at, x.t.rows.n);
	}
	free(all);
	telemetry_rig_close(&x);
}

/* What algorithms may ask for is there: by what a window of each set of kinds has. */
static void a_window_has_the_parts_that_are_told(void **state)
{
	(void)state;
	for (unsigned kinds = 1; kinds < 8; kinds++) {
		struct telemetry_rig x;
		unsigned has = OBS_TALLIES;
		const unsigned of_rows = OBS_TALLIES | OBS_TALLIES_RATED;
		const unsigned all = (kinds & 1 ? OBS_TELE_INT : 0) |
		    (kinds & 2 ? OBS_TELE_A1 : 0) |
		    (kinds & 4 ? OBS_TELE_A2 : 0);
		telemetry_rig_open(&x, 4, 1e-3, all, kinds);
		telemetry_rig_draw(&x);
		for (size_t i = 0; i < x.t.rows.n; i++) {
			const struct obs_tally row =
			    obs_tallies_at(&x.t.rows, i);
			if (row.path != OBS_NO_PATH && row.n_lost == 0)
				has |= OBS_TALLIES_RATED;
		}
		assert_int_equal(telemetry_holds(all) & of_rows, has);
		assert_int_equal((telemetry_holds(all) & OBS_FLOWS) != 0,
		    (all & (OBS_TELE_INT | OBS_TELE_A2)) != 0);
		telemetry_rig_close(&x);
	}
}

/* All sixteen sets of kinds, by the parts that each kind adds. */
static void parts_are_those_that_some_kind_fills(void **state)
{
	(void)state;
	const unsigned traced = OBS_TALLIES_TRACED | OBS_FLOWS | OBS_HOPS,
		       whole = OBS_TALLIES_WHOLE, rated = OBS_TALLIES_RATED,
		       probed = OBS_TALLIES_PROBED;
	const unsigned of_int = rated | whole | traced;
	/* By bits: 1 int, 2 a1, 4 a2, 8 p. */
	const unsigned parts[16] = {whole, of_int, rated | probed | whole,
	    of_int | probed, traced, of_int, rated | probed | traced,
	    of_int | probed, whole, of_int, rated | probed | whole,
	    of_int | probed, whole | traced, of_int,
	    rated | probed | whole | traced, of_int | probed};
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(telemetry_holds((i & 1 ? OBS_TELE_INT : 0) |
				     (i & 2 ? OBS_TELE_A1 : 0) |
				     (i & 4 ? OBS_TELE_A2 : 0) |
				     (i & 8 ? OBS_TELE_P : 0)),
		    OBS_TALLIES | parts[i]);
}

/* A row of a flow is the sum of its hops' losses; where nobody traces, the
 * window knows no hop and the losses know all. */
static void losses_add_up_to_rows(void **state)
{
	(void)state;
	const unsigned kinds[] = {OBS_TELE_INT, OBS_TELE_P};
	for (unsigned k = 0; k < 2; k++) {
		struct telemetry_rig x;
		uint64_t n_lost = 0, n_drops = 0;
		telemetry_rig_open(&x, K, 1e-3, kinds[k], 0);
		telemetry_rig_draw(&x);
		for (size_t i = 0; i < x.t.rows.n; i++) {
			const struct obs_tally r = obs_tallies_at(&x.t.rows, i);
			assert_int_equal(r.n_lost > 0, r.flow != UINT32_MAX);
			if (r.n_lost > 0)
				assert_int_equal(x.w.flows.n_retx[r.flow],
				    r.n_lost);
			n_lost += r.n_lost;
		}
		for (size_t i = 0; i < x.lost.n_drops; i++)
			n_drops += x.lost.drops[i];
		assert_true(n_lost > 1000 && n_lost == n_drops);
		assert_int_equal(x.lost.n_path, k ? x.w.hops.n : 0);
		for (size_t i = 0; i < x.w.hops.n; i++)
			assert_int_equal(x.w.hops.link[i] == TOPO_NONE, k);
		telemetry_rig_close(&x);
	}
}

/* --- laws ----------------------------------------------------------------- */

/* Of n packets over a link that loses p, n p are lost, with variance n p (1 - p);
 * bounds of 5 standard deviations are passed by chance once in 1.7 million. */
static void a_link_loses_its_rate(void **state)
{
	(void)state;
	struct telemetry_rig x;
	const topo_link bad = 2 * HOSTS + 6;
	double n = 0, lost = 0;
	telemetry_rig_open(&x, K, 0, OBS_TELE_INT | OBS_TELE_A1, 0);
	telemetry_rig_fail(&x, bad, 0.02);
	telemetry_rig_draw(&x);
	for (size_t i = 0; i < x.t.rows.n; i++) {
		const struct obs_tally r = obs_tallies_at(&x.t.rows, i);
		int over = 0;
		for (uint32_t k = x.t.paths.off[r.path];
		     k < x.t.paths.off[r.path + 1]; k++)
			over |= x.t.paths.link[k] == bad;
		assert_true(over || r.n_lost == 0);
		n += over ? r.n_sent : 0;
		lost += over ? r.n_lost : 0;
	}
	print_message("%.0f of %.0f packets\n", lost, n);
	assert_near(lost, 0.02 * n, 5 * sqrt(n * 0.02 * 0.98));
	telemetry_rig_close(&x);
}

/* P(size > x) = (least / x)^shape: here half of the flows have at most
 * ceil(9752 * 2^(1 / 1.05) / 1500) = 13 packets, and a tenth above
 * 9752 * 10^(1 / 1.05) / 1500 = 58.3. Bounds of 5 standard deviations. */
static void sizes_are_pareto(void **state)
{
	(void)state;
	struct telemetry_rig x;
	double small = 0, large = 0;
	telemetry_rig_open(&x, K, 0, OBS_TELE_INT, 0);
	telemetry_rig_draw(&x);
	const double n = (double)x.t.rows.n;
	for (size_t i = 0; i < x.t.rows.n; i++) {
		small += x.t.rows.n_sent[i] <= 12;
		large += x.t.rows.n_sent[i] > 58;
		assert_true(x.t.rows.n_sent[i] <= 69906);
	}
	const double p = 1 - pow(204800 * .05 / 1.05 / (12 * 1500), 1.05),
		     q = pow(204800 * .05 / 1.05 / (58 * 1500), 1.05);
	assert_near(small, n * p, 5 * sqrt(n * p * (1 - p)));
	assert_near(large, n * q, 5 * sqrt(n * q * (1 - q)));
	telemetry_rig_close(&x);
}

/* A part of a packet is one; where the least size is the most there is no other;
 * and no flow has more packets than can be counted. */
static void sizes_are_within_their_bounds(void **state)
{
	static const struct {
		double mean, shape, most;
		uint32_t segment, n;
	} of[] = {{1e9, 1.05, 12000, 1500, 8}, {1e9, 1.05, 12001, 1500, 9},
	    {2000, 2, 1000, 300, 4}, {1e12, 1.05, 1e12, 1, UINT32_MAX}};
	struct telemetry_rig x;
	(void)state;
	telemetry_rig_open(&x, 4, 0, OBS_TELE_INT, 0);
	x.p.flows = 3;
	for (unsigned k = 0; k < 4; k++) {
		x.p.mean = of[k].mean;
		x.p.shape = of[k].shape;
		x.p.most = of[k].most;
		x.p.segment = of[k].segment;
		telemetry_rig_draw(&x);
		assert_int_equal(x.t.rows.n, 3 * 16);
		for (size_t i = 0; i < x.t.rows.n; i++)
			assert_int_equal(x.t.rows.n_sent[i], of[k].n);
		assert_true(x.w.n_packets == 3 * 16 * (uint64_t)of[k].n);
	}
	telemetry_rig_close(&x);
}

/* Two of eighteen racks are busy: the ends of flows that are in one are
 * `busy_share` of all, less what a flow to itself would have been. */
static void busy_racks_have_their_share(void **state)
{
	(void)state;
	struct telemetry_rig x;
	double n = 0;
	telemetry_rig_open(&x, K, 0, OBS_TELE_INT, 0);
	x.p.busy = 0.12;
	telemetry_rig_draw(&x);
	assert_int_equal(x.t.n_busy, 2 * HOSTS / 18);
	for (size_t i = 0; i < x.t.rows.n; i++)
		for (uint32_t k = 0; k < x.t.n_busy; k++)
			n += x.t.rows.up[i] ==
			    topo_link_of(x.t.host[k], TOPO_UP);
	/* Sources are drawn once and are not drawn again. */
	const double all = (double)x.t.rows.n;
	assert_near(n, all / 2, 5 * sqrt(all) / 2);
	telemetry_rig_close(&x);
}

/* Where none is busy, or all are, a share of the busy ones means nothing. */
static void none_and_all_busy_are_alike(void **state)
{
	struct telemetry_rig x;
	(void)state;
	telemetry_rig_open(&x, K, 0, OBS_TELE_INT, 0);
	for (unsigned all = 0; all < 2; all++) {
		unsigned n_of[HOSTS] = {0};
		x.p.busy = all;
		x.p.busy_share = all ? 0 : 1;
		telemetry_rig_draw(&x);
		assert_int_equal(x.t.n_busy, all ? HOSTS : 0);
		for (size_t i = 0; i < x.t.rows.n; i++)
			n_of[x.t.rows.up[i] / 2]++;
		for (uint32_t h = 0; h < HOSTS; h++)
			assert_true(n_of[h] > 0);
	}
	telemetry_rig_close(&x);
}

static void probes_go_to_each_top_switch_and_back(void **state)
{
	(void)state;
	struct telemetry_rig x;
	telemetry_rig_open(&x, K, 0, OBS_TELE_A1, 0);
	telemetry_rig_draw(&x);
	/* Nine cores. */
	assert_int_equal(x.t.rows.n, 2 * 9 * HOSTS);
	for (size_t i = 0; i < x.t.rows.n; i++) {
		const struct obs_tally r = obs_tallies_at(&x.t.rows, i);
		assert_true(r.is_probe && r.n_sent == 40 && r.n_lost == 0);
		assert_true((r.up == TOPO_NONE) != (r.down == TOPO_NONE));
		assert_int_equal(obs_path_length(&x.t.paths, r.path), 2);
	}
	telemetry_rig_close(&x);
}

/* Where nobody knows of tiers, all switches without hosts are at the top. */
static void without_tiers_probes_go_to_switches_without_hosts(void **state)
{
	struct topo t = {0};
	struct telemetry ways = {0};
	struct telemetry_params p;
	unsigned n[6] = {0};
	(void)state;
	assert_ok(topo_open_mesh(&t, meshes_open(MESHES_ODD), test_err()));
	assert_ok(sim_field_defaults(telemetry_fields, &p, test_err()));
	assert_ok(telemetry_ways(&ways, &p, &t, test_err()));
	for (size_t i = 0; i < ways.rows.n; i++) {
		const struct obs_tally r = obs_tallies_at(&ways.rows, i);
		const int up = r.up != TOPO_NONE;
		n[up ? ways.paths.to[r.set] : ways.paths.from[r.set]]++;
	}
	for (topo_switch s = 0; s < 6; s++)
		assert_int_equal(n[s], s == 0 || s == 1 || s == 4 ? 0 : 12);
	telemetry_free(&ways);
	topo_close(&t);
}

/* Six hosts of a rack have three ways to each top switch, and three back. */
static void probes_of_a_rack_take_its_ways_in_turn(void **state)
{
	static const struct topo_clos three_up = {2, 2, 3, 2, 6, .n_cables = 0};
	struct topo t = {0};
	struct telemetry ways = {0};
	struct telemetry_params p;
	(void)state;
	assert_ok(topo_open_clos(&t, &three_up, test_err()));
	assert_ok(sim_field_defaults(telemetry_fields, &p, test_err()));
	assert_ok(telemetry_ways(&ways, &p, &t, test_err()));
	uint32_t *n = calloc(ways.paths.n, sizeof(*n));
	assert_non_null(n);
	for (size_t i = 0; i < ways.rows.n; i++)
		n[ways.rows.path[i]]++;
	assert_int_equal(ways.paths.n, 2 * 3 * 4 * t.clos.n_t2);
	for (size_t i = 0; i < ways.paths.n; i++)
		assert_int_equal(n[i], 2);
	free(n);
	telemetry_free(&ways);
	topo_close(&t);
}

/* --- failing -------------------------------------------------------------- */

/* A process that drew other epochs before draws the same one, numbers of paths
 * included, by whose order algorithms add up. */
static void an_epoch_knows_of_none_before_it(void **state)
{
	(void)state;
	struct telemetry_rig x, y;
	telemetry_rig_open(&x, K, 1e-3, OBS_TELE_A1 | OBS_TELE_P, 1);
	telemetry_rig_open(&y, K, 1e-3, OBS_TELE_A1 | OBS_TELE_P, 1);
	x.p.flows = y.p.flows = 5;
	y.scene.where.run = 2;
	y.p.trace.answers = 1;
	telemetry_rig_draw(&y);
	y.scene.where.run = 1;
	y.p.trace.answers = 0;
	telemetry_rig_draw(&y);
	telemetry_rig_draw(&x);
	assert_int_equal(x.t.rows.n, y.t.rows.n);
	for (size_t i = 0; i < x.t.rows.n; i++) {
		assert_int_equal(x.t.rows.set[i], y.t.rows.set[i]);
		assert_int_equal(x.t.rows.path[i], y.t.rows.path[i]);
		assert_int_equal(x.t.rows.n_lost[i], y.t.rows.n_lost[i]);
	}
	telemetry_rig_close(&x);
	telemetry_rig_close(&y);
}

static void too_many_flows_are_refused(void **state)
{
	(void)state;
	struct telemetry_rig x;
	struct sim_err e;
	telemetry_rig_open(&x, 4, 0, OBS_TELE_INT, 0);
	x.p.flows = UINT32_MAX / 16 + 1;
	assert_int_equal(telemetry_draw(&x.t, &x.p, &x.scene, &x.w, &x.lost,
			     &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "268435456 flows of each of 16 hosts are too many: all hosts "
	    "together have below 2^32 - 1.");
	telemetry_rig_close(&x);
}

static void no_memory_is_an_error(void **state)
{
	(void)state;
	struct telemetry_rig x;
	telemetry_rig_open(&x, K, 1e-3, OBS_TELE_A1 | OBS_TELE_P, 0);
	x.p.flows = 3;
	test_each_alloc_fails(telemetry_rig_draw_once, &x);
	telemetry_rig_close(&x);
}

/* Of a small network all; of one with too many only those that flows use. */
static void sets_are_numbered_alike_whatever_was_drawn_before(void **state)
{
	(void)state;
	for (uint32_t k = 4; k <= 20; k += 16) {
		struct telemetry_rig x, y;
		telemetry_rig_open(&x, k, 1e-3,
		    OBS_TELE_P | (k == 4 ? OBS_TELE_A1 : 0), 1);
		telemetry_rig_open(&y, k, 1e-3, x.p.kinds, 1);
		x.p.flows = y.p.flows = 1;
		telemetry_rig_draw(&x);
		x.p.flows = 2;
		telemetry_rig_draw(&x);
		x.p.flows = 1;
		telemetry_rig_draw(&x);
		telemetry_rig_draw(&y);
		assert_int_equal(x.t.has_all, k == 4);
		assert_int_equal(x.t.paths.n_sets, y.t.paths.n_sets);
		assert_true(k == 4 || x.t.paths.n_sets <= x.topo.n_hosts);
		assert_int_equal(x.t.rows.n, y.t.rows.n);
		assert_memory_equal(x.t.rows.set, y.t.rows.set,
		    x.t.rows.n * sizeof(x.t.rows.set[0]));
		telemetry_rig_close(&x);
		telemetry_rig_close(&y);
	}
}

/* Who sends probes one by one has those of an epoch, with its losses if they are
 * drawn from its stream. */
static void probes_one_at_a_time_are_those_of_a1(void **state)
{
	struct telemetry_rig x;
	struct telemetry one = {0};
	struct sim_rng r;
	uint32_t n_lost = 0;
	(void)state;
	telemetry_rig_open(&x, 4, 1e-3, OBS_TELE_A1, 3);
	telemetry_rig_fail(&x, 9, 0.1);
	telemetry_rig_draw(&x);
	assert_ok(telemetry_ways(&one, &x.p, &x.topo, test_err()));
	const struct obs_tallies *ways = &one.rows;
	assert_ok(obs_tallies_check(ways, x.topo.n_links, 0, test_err()));
	assert_ok(
	    telemetry_links_open(&one.links, &x.scene, SIM_SEC, test_err()));
	sim_rng_init(&r, &x.scene.where, SIM_STREAM_TELEMETRY, 1);
	assert_int_equal(ways->n, x.t.rows.n);
	for (size_t i = 0; i < ways->n; i++) {
		const struct obs_tally want = obs_tallies_at(&x.t.rows, i);
		struct obs_tally got = obs_tallies_at(ways, i);
		assert_int_equal(got.n_lost, 0);
		telemetry_send(&one, &r, &got);
		assert_int_equal(got.up, want.up);
		assert_int_equal(got.down, want.down);
		assert_int_equal(got.n_sent, want.n_sent);
		assert_int_equal(got.n_lost, want.n_lost);
		assert_int_equal(obs_path_length(&one.paths, got.path),
		    obs_path_length(&x.t.paths, want.path));
		for (unsigned k = 0; k < obs_path_length(&one.paths, got.path);
		     k++)
			assert_int_equal(one.paths
					     .link[one.paths.off[got.path] + k],
			    x.t.paths.link[x.t.paths.off[want.path] + k]);
		n_lost += got.n_lost;
	}
	assert_true(n_lost > 0);
	telemetry_free(&one);
	telemetry_rig_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kinds_are_views_of_one_epoch),
	    cmocka_unit_test(a_window_has_the_parts_that_are_told),
	    cmocka_unit_test(parts_are_those_that_some_kind_fills),
	    cmocka_unit_test(losses_add_up_to_rows),
	    cmocka_unit_test(a_link_loses_its_rate),
	    cmocka_unit_test(sizes_are_pareto),
	    cmocka_unit_test(sizes_are_within_their_bounds),
	    cmocka_unit_test(busy_racks_have_their_share),
	    cmocka_unit_test(none_and_all_busy_are_alike),
	    cmocka_unit_test(probes_go_to_each_top_switch_and_back),
	    cmocka_unit_test(without_tiers_probes_go_to_switches_without_hosts),
	    cmocka_unit_test(probes_of_a_rack_take_its_ways_in_turn),
	    cmocka_unit_test(an_epoch_knows_of_none_before_it),
	    cmocka_unit_test(too_many_flows_are_refused),
	    cmocka_unit_test(no_memory_is_an_error),
	    cmocka_unit_test(sets_are_numbered_alike_whatever_was_drawn_before),
	    cmocka_unit_test(probes_one_at_a_time_are_those_of_a1),
	};
	return cmocka_run_group_tests_name("models/telemetry/telemetry", tests,
	    NULL, NULL);
}
