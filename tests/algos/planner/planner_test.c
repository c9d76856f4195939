/* tests/algos/planner/planner_test.c -- rounds of probes, by brute force.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/planner/planner.h"

#include "algos/planner/gain.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

struct planner_rig {
	struct telemetry_rig net;
	struct obs_tallies *ways; /* of net.t */
	struct algo_planner_params params;
	struct algo_planner *p;
	struct sim_rng r;
	uint32_t way[256];
};

/* A fat-tree of 4 ports, 96 links, 40 packets a probe; planned in rounds of N. */
static void planner_rig_open(struct planner_rig *x, uint32_t n, double in_turn,
    uint32_t run)
{
	*x = (struct planner_rig){0};
	telemetry_rig_open(&x->net, 4, 5e-5, OBS_TELE_A1, run);
	test_rng(&x->r, run);
	x->net.p.probe_packets = 40;
	assert_ok(
	    telemetry_ways(&x->net.t, &x->net.p, &x->net.topo, test_err()));
	x->ways = &x->net.t.rows;
	assert_ok(telemetry_links_open(&x->net.t.links, &x->net.scene, SIM_SEC,
	    test_err()));
	assert_ok(
	    obs_tallies_check(x->ways, x->net.topo.n_links, 0, test_err()));
	assert_ok(
	    sim_field_defaults(algo_planner_fields, &x->params, test_err()));
	x->params.round = x->params.first = n;
	x->params.in_turn = in_turn;
	assert_ok(algo_planner_open(&x->p, &x->net.topo, &x->params, x->ways,
	    test_err()));
}

static void planner_rig_close(struct planner_rig *x)
{
	algo_planner_close(x->p);
	telemetry_rig_close(&x->net);
}

static void planner_rig_fail(struct planner_rig *x, topo_link l, double rate)
{
	telemetry_rig_fail(&x->net, l, rate);
	assert_ok(telemetry_links_open(&x->net.t.links, &x->net.scene, SIM_SEC,
	    test_err()));
}

/* A round: asked, sent, told and thought about. */
static void planner_rig_round(struct planner_rig *x)
{
	algo_planner_ask(x->p, &x->r, x->way);
	for (uint32_t i = 0; i < x->params.round; i++) {
		struct obs_tally row = obs_tallies_at(x->ways, x->way[i]);
		telemetry_send(&x->net.t, &x->r, &row);
		assert_ok(algo_planner_tell(x->p, x->way[i], row.n_sent,
		    row.n_lost, test_err()));
	}
	assert_ok(algo_planner_think(x->p, test_err()));
}

static unsigned links_of(const struct obs_tallies *t, uint32_t way,
    topo_link link[])
{
	unsigned n = 0;
	if (t->up[way] != TOPO_NONE)
		link[n++] = t->up[way];
	for (uint32_t k = t->paths->off[t->path[way]];
	     k < t->paths->off[t->path[way] + 1]; k++)
		link[n++] = t->paths->link[k];
	if (t->down[way] != TOPO_NONE)
		link[n++] = t->down[way];
	return n;
}

/* --- what is asked -------------------------------------------------------- */

/* Half of the rounds of a pass takes each way once. */
static void each_way_has_its_turn(void **state)
{
	struct planner_rig x;
	unsigned seen[256] = {0};
	(void)state;
	planner_rig_open(&x, 8, 0.5, 1);
	const uint32_t n = (uint32_t)x.ways->n;
	assert_true(n <= 256 && n % 4 == 0);
	for (unsigned pass = 1; pass <= 3; pass++) {
		for (uint32_t k = 0; k < n / 4; k++) {
			algo_planner_ask(x.p, &x.r, x.way);
			for (unsigned i = 0; i < 4; i++)
				seen[x.way[i]]++;
		}
		for (uint32_t w = 0; w < n; w++)
			assert_int_equal(seen[w], pass);
	}
	planner_rig_close(&x);
}

/* What the links of WAY would tell, COUNT probes over each being in the round:
 * all written out. */
static double brute_score(const struct planner_rig *x,
    const struct algo_planner_view *v, const unsigned count[], uint32_t way)
{
	topo_link link[TOPO_MAX_HOPS];
	const unsigned n = links_of(x->ways, way, link);
	double sum = 0;
	for (unsigned i = 0; i < n; i++) {
		/* Here all ways have as many links and packets. */
		const double h = 40 * n * v->healthy,
			     f = 40 *
		    ((n - 1) * v->healthy + v->hazard[link[i]]);
		const unsigned c = count[link[i]];
		int beside = 0;
		for (unsigned k = 0; k < n; k++)
			beside |=
			    k != i && v->chance[link[k]] > x->params.suspects;
		sum += (beside ? x->params.shared : 1) *
		    (algo_gain(v->chance[link[i]], (c + 1) * h, (c + 1) * f) -
			algo_gain(v->chance[link[i]], c * h, c * f));
	}
	return sum;
}

/* Each planned probe is the best of all ways, given those of the round before
 * it, with two links that fail, and nothing known at first. */
static void each_probe_is_the_best_one(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 6; run++) {
		struct planner_rig x;
		struct algo_planner_view v;
		planner_rig_open(&x, 12, run % 3 / 4.0, run);
		x.params.shared = run % 2 * 0.4;
		planner_rig_fail(&x, sim_rng_below(&x.r, 96), 0.01);
		planner_rig_fail(&x, sim_rng_below(&x.r, 96), 0.004);
		for (unsigned k = 0; k < 12; k++) {
			unsigned count[96] = {0};
			topo_link link[TOPO_MAX_HOPS];
			algo_planner_view(x.p, &v);
			algo_planner_ask(x.p, &x.r, x.way);
			for (unsigned i = 0; i < 12; i++) {
				double most = 0;
				for (uint32_t w = 0; w < x.ways->n; w++)
					most = fmax(most,
					    brute_score(&x, &v, count, w));
				const double got =
				    brute_score(&x, &v, count, x.way[i]);
				if (i >= x.params.in_turn * 12 &&
				    !(got >= most - 1e-9))
					fail_msg("run %u, round %u, probe %u: "
						 "%g, and there is %g",
					    run, k, i, got, most);
				const unsigned n =
				    links_of(x.ways, x.way[i], link);
				for (unsigned h = 0; h < n; h++)
					count[link[h]]++;
			}
			planner_rig_round(&x);
		}
		planner_rig_close(&x);
	}
}

/* The first rounds are short, later ones longer as more was asked, up to the
 * longest; where nothing is planned all are. */
static void rounds_grow_with_what_was_asked(void **state)
{
	(void)state;
	for (unsigned all = 0; all < 2; all++) {
		struct planner_rig x;
		double n = 0;
		planner_rig_open(&x, 40, all ? 1 : 0.5, 4);
		x.params.first = 6;
		x.params.grow = 0.1;
		for (unsigned k = 0; k < 60; k++) {
			const uint32_t got = algo_planner_ask(x.p, &x.r, x.way);
			assert_int_equal(got,
			    all ? 40 : fmin(40, fmax(6, floor(0.1 * n))));
			n += got;
		}
		assert_ok(algo_planner_begin(x.p, test_err()));
		assert_int_equal(algo_planner_ask(x.p, &x.r, x.way),
		    all ? 40 : 6);
		planner_rig_close(&x);
	}
}

/* --- what is thought ------------------------------------------------------ */

/* Before anything is known one failure is expected, more or less; the error is
 * the sum that it is said to be, and falls until it is done. */
static void it_stops_at_the_error_that_it_states(void **state)
{
	struct planner_rig x;
	struct algo_planner_view v;
	unsigned n = 0;
	(void)state;
	planner_rig_open(&x, 32, 0.5, 3);
	algo_planner_view(x.p, &v);
	assert_true(v.error > 0.5 && v.error < 1.5 && !v.done);
	planner_rig_fail(&x, 17, 0.01);
	do {
		double sum = 0;
		planner_rig_round(&x);
		algo_planner_view(x.p, &v);
		for (topo_link l = 0; l < 96; l++) {
			assert_true(v.chance[l] >= 0 && v.chance[l] <= 1);
			assert_true(v.hazard[l] > 0);
			assert_true(v.within[l]);
			sum += fmin(v.chance[l], 1 - v.chance[l]);
		}
		assert_near(v.error, sum, 1e-12);
		assert_int_equal(v.done, sum < x.params.error);
	} while (!v.done && ++n < 1000);
	assert_true(v.done);
	for (topo_link l = 0; l < 96; l++)
		assert_int_equal(v.chance[l] > 0.5, l == 17);
	planner_rig_close(&x);
}

/* However many packets are sent over a link that fails, it is found, and so is
 * another one: the mean of healthy links is not of those packets. */
static void suspects_that_take_most_packets_are_found(void **state)
{
	struct planner_rig x;
	struct algo_planner_view v;
	topo_link link[TOPO_MAX_HOPS];
	(void)state;
	planner_rig_open(&x, 8, 0.5, 0);
	for (uint32_t w = 0; w < x.ways->n; w++) {
		const unsigned n = links_of(x.ways, w, link);
		uint32_t sent = 1000, lost = 0;
		for (unsigned h = 0; h < n; h++) {
			if (link[h] == 40)
				sent = 100000;
			lost += link[h] == 40 ? sent / 200
			    : link[h] == 7    ? sent / 250
					      : 0;
		}
		assert_ok(algo_planner_tell(x.p, w, sent, lost, test_err()));
	}
	assert_ok(algo_planner_think(x.p, test_err()));
	algo_planner_view(x.p, &v);
	for (topo_link l = 0; l < 96; l++)
		assert_int_equal(v.chance[l] > 0.5, l == 40 || l == 7);
	planner_rig_close(&x);
}

/* Links that lose less than what matters are not taken for failed, however
 * surely they lose. */
static void what_does_not_matter_is_no_failure(void **state)
{
	struct planner_rig x;
	struct algo_planner_view v;
	topo_link link[TOPO_MAX_HOPS];
	(void)state;
	planner_rig_open(&x, 8, 0.5, 0);
	for (uint32_t w = 0; w < x.ways->n; w++) {
		int over = 0;
		for (unsigned h = links_of(x.ways, w, link); h-- > 0;)
			over |= link[h] == 20;
		assert_ok(
		    algo_planner_tell(x.p, w, 40000, over ? 6 : 0, test_err()));
	}
	assert_ok(algo_planner_think(x.p, test_err()));
	algo_planner_view(x.p, &v);
	assert_true(v.chance[20] < 0.01);
	assert_true(v.done);
	planner_rig_close(&x);
}

static unsigned planner_rig_crosses(const struct planner_rig *x, uint32_t way,
    topo_link l)
{
	topo_link link[TOPO_MAX_HOPS];
	unsigned found = 0;
	for (unsigned h = links_of(x->ways, way, link); h-- > 0;)
		found |= link[h] == l;
	return found;
}

/* Of two links that all ways cross together one failed, whichever: that is known,
 * and no probe tells more. */
static void links_that_no_way_tells_apart_are_one(void **state)
{
	struct planner_rig x;
	struct algo_planner_view v;
	topo_link link[TOPO_MAX_HOPS];
	size_t n = 0;
	(void)state;
	planner_rig_open(&x, 8, 0.5, 0);
	algo_planner_view(x.p, &v);
	for (topo_link l = 0; l < 96; l++)
		assert_int_equal(v.alike[l], l);
	algo_planner_close(x.p);
	links_of(x.ways, 0, link);
	const topo_link a = link[0], b = link[1], first = a < b ? a : b;
	for (uint32_t w = 0; w < x.ways->n; w++)
		if (planner_rig_crosses(&x, w, a) ==
		    planner_rig_crosses(&x, w, b)) {
			x.ways->up[n] = x.ways->up[w];
			x.ways->down[n] = x.ways->down[w];
			x.ways->set[n] = x.ways->set[w];
			x.ways->path[n++] = x.ways->path[w];
		}
	x.ways->n = n;
	assert_ok(algo_planner_open(&x.p, &x.net.topo, &x.params, x.ways,
	    test_err()));
	for (uint32_t w = 0; w < n; w++)
		assert_ok(algo_planner_tell(x.p, w, 10000,
		    planner_rig_crosses(&x, w, a) ? 100 : 0, test_err()));
	assert_ok(algo_planner_think(x.p, test_err()));
	algo_planner_view(x.p, &v);
	assert_int_equal(v.alike[a], first);
	assert_int_equal(v.alike[b], first);
	assert_near(v.together[first], fmin(1, v.chance[a] + v.chance[b]),
	    1e-12);
	assert_true(v.together[first] > 0.99);
	assert_true(v.error < 0.05 && v.done);
	planner_rig_close(&x);
}

static void begun_anew_it_knows_nothing(void **state)
{
	struct planner_rig x, y;
	(void)state;
	planner_rig_open(&x, 16, 0.25, 5);
	planner_rig_open(&y, 16, 0.25, 5);
	planner_rig_fail(&x, 3, 0.02);
	for (unsigned i = 0; i < 5; i++)
		planner_rig_round(&x);
	assert_ok(algo_planner_begin(x.p, test_err()));
	test_rng(&x.r, 9);
	test_rng(&y.r, 9);
	for (unsigned k = 0; k < 20; k++) {
		algo_planner_ask(x.p, &x.r, x.way);
		algo_planner_ask(y.p, &y.r, y.way);
		for (unsigned i = 0; i < 16; i++)
			assert_int_equal(x.way[i], y.way[i]);
	}
	planner_rig_close(&x);
	planner_rig_close(&y);
}

/* --- what can't be -------------------------------------------------------- */

static void mistakes_are_told(void **state)
{
	struct planner_rig x;
	struct sim_err e;
	struct algo_planner *p;
	(void)state;
	planner_rig_open(&x, 8, 0.5, 0);
	assert_int_equal(algo_planner_tell(x.p, (uint32_t)x.ways->n, 1, 0, &e),
	    SIM_EINVAL);
	assert_ok(algo_planner_tell(x.p, 3, UINT32_MAX, 0, test_err()));
	assert_int_equal(algo_planner_tell(x.p, 3, 1, 0, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "way 3 has taken 4294967295 packets, and 1 more are too many.");
	/* A way has at most as many links as a path may, its hosts' cables
	 * included. */
	const topo_link link[TOPO_MAX_HOPS] = {0};
	assert_ok(obs_paths_open(&x.net.t.paths, 0, 0, test_err()));
	assert_ok(
	    obs_paths_add(&x.net.t.paths, link, TOPO_MAX_HOPS, test_err()));
	const uint32_t set = x.ways->set[5];
	x.ways->set[5] = (uint32_t)x.net.t.paths.n_sets - 1;
	x.ways->path[5] = (uint32_t)x.net.t.paths.n - 1;
	for (unsigned i = 0; i < 3; i++) {
		x.ways->up[5] = i == 1 ? 4 : TOPO_NONE;
		x.ways->down[5] = i == 2 ? 5 : TOPO_NONE;
		assert_int_equal(algo_planner_open(&p, &x.net.topo, &x.params,
				     x.ways, &e),
		    i ? SIM_EINVAL : 0);
		if (i)
			assert_string_equal(e.msg,
			    "way 5 of 128 has more than 16 links.");
		algo_planner_close(p);
	}
	x.ways->set[5] = set;
	x.ways->path[5] = OBS_NO_PATH;
	assert_int_equal(algo_planner_open(&p, &x.net.topo, &x.params, x.ways,
			     &e),
	    SIM_EINVAL);
	assert_null(p);
	obs_tallies_clear(x.ways);
	assert_int_equal(algo_planner_open(&p, &x.net.topo, &x.params, x.ways,
			     &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg, "probes can't be planned with 0 ways.");
	planner_rig_close(&x);
}

static int open_and_think(void *arg, struct sim_err *e)
{
	const struct planner_rig *x = arg;
	struct algo_planner *p;
	int rc = algo_planner_open(&p, &x->net.topo, &x->params, x->ways, e);
	if (rc < 0)
		return rc;
	rc = algo_planner_tell(p, 3, 40, 3, e);
	if (rc == 0)
		rc = algo_planner_think(p, e);
	algo_planner_close(p);
	return rc;
}

static void memory_that_ends_is_told(void **state)
{
	struct planner_rig x;
	(void)state;
	planner_rig_open(&x, 8, 0.5, 0);
	test_each_alloc_fails(open_and_think, &x);
	planner_rig_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_way_has_its_turn),
	    cmocka_unit_test(each_probe_is_the_best_one),
	    cmocka_unit_test(rounds_grow_with_what_was_asked),
	    cmocka_unit_test(it_stops_at_the_error_that_it_states),
	    cmocka_unit_test(suspects_that_take_most_packets_are_found),
	    cmocka_unit_test(what_does_not_matter_is_no_failure),
	    cmocka_unit_test(links_that_no_way_tells_apart_are_one),
	    cmocka_unit_test(begun_anew_it_knows_nothing),
	    cmocka_unit_test(mistakes_are_told),
	    cmocka_unit_test(memory_that_ends_is_told),
	};
	return cmocka_run_group_tests_name("algos/planner/planner", tests, NULL,
	    NULL);
}
