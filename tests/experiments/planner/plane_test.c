/* tests/experiments/planner/plane_test.c -- when a search ends, and how wrong it is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/planner/planner.h"

#include "experiments/spec/plane.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* --- when a search ends --------------------------------------------------- */

static struct xp_planner_end end_at_begin(uint32_t most)
{
	const struct xp_planner p = {.most = most};
	struct xp_planner_end end;
	xp_planner_end_begin(&end, &p);
	return end;
}

static void nothing_is_known_of_a_search_that_begins(void **state)
{
	const struct xp_planner_end end = end_at_begin(100);
	(void)state;
	assert_near(end.right, 101, 0);
	assert_near(end.stop, 101, 0);
	assert_true(isnan(end.stated) && isnan(end.wrong));
	assert_int_equal(end.cut, 0);
}

/* Looks at 10, 20, ... probes; wrong[i] of the ith, and whether it would stop.
 * Right is the first look without a wrong link, stop the first that is done. */
static void a_search_ends_once_it_was_right_and_done(void **state)
{
	static const struct {
		double wrong[4];
		int done[4];
		unsigned n_looks; /* of which the last is the end */
		double right, stop, of_stop;
	} t[] = {
	    {{2, 0, 0, 0}, {0, 0, 1, 1}, 3, 20, 30, 0},
	    {{0, 1, 1, 1}, {0, 0, 1, 1}, 3, 10, 30, 1},
	    {{0, 0, 0, 0}, {1, 1, 1, 1}, 1, 10, 10, 0},
	    {{2, 1, 3, 0}, {0, 1, 1, 1}, 4, 40, 20, 1},
	    {{2, 3, 1, 0}, {1, 0, 0, 0}, 4, 40, 10, 2},
	};
	const struct xp_planner p = {.most = 100};
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct xp_planner_end end = end_at_begin(100);
		for (unsigned k = 0; k < t[i].n_looks; k++) {
			const double n = 10 * (k + 1);
			const struct algo_planner_view v = {.error = n / 1000,
			    .done = t[i].done[k]};
			int stops;
			const int over = xp_planner_end_look(&end, &p, &v,
			    t[i].wrong[k], n, 0, &stops);
			assert_int_equal(over, k + 1 == t[i].n_looks);
			assert_int_equal(stops, n == t[i].stop);
			assert_int_equal(end.cut, 0);
		}
		assert_near(end.right, t[i].right, 0);
		assert_near(end.stop, t[i].stop, 0);
		assert_near(end.stated, t[i].stop / 1000, 0);
		assert_near(end.wrong, t[i].of_stop, 0);
	}
}

/* What is not known when no more may be sent counts as that many. */
static void a_search_that_is_cut_off_has_sent_all(void **state)
{
	const struct xp_planner p = {.most = 100};
	struct algo_planner_view v = {.error = 0.25};
	struct xp_planner_end end = end_at_begin(100);
	int stops;
	(void)state;
	assert_int_equal(xp_planner_end_look(&end, &p, &v, 3, 99, 0, &stops),
	    0);
	assert_int_equal(stops, 0);
	assert_int_equal(xp_planner_end_look(&end, &p, &v, 2, 120, 1, &stops),
	    1);
	assert_int_equal(stops, 1);
	assert_int_equal(end.cut, 1);
	assert_near(end.right, 100, 0);
	assert_near(end.stop, 100, 0);
	assert_near(end.stated, 0.25, 0);
	assert_near(end.wrong, 2, 0);

	/* Who had stopped before stays there, and is right by chance. */
	end = end_at_begin(100);
	v.done = 1;
	assert_int_equal(xp_planner_end_look(&end, &p, &v, 1, 100, 0, &stops),
	    0);
	assert_int_equal(stops, 1);
	v.error = 0.5;
	assert_int_equal(xp_planner_end_look(&end, &p, &v, 0, 120, 1, &stops),
	    1);
	assert_int_equal(stops, 0);
	assert_near(end.right, 100, 0);
	assert_near(end.stop, 100, 0);
	assert_near(end.stated, 0.25, 0);
	assert_near(end.wrong, 1, 0);
}

/* --- how wrong an answer is ----------------------------------------------- */

enum { WRONG_LINKS = 6 };

/* By the definition: groups of links that are alike and on some way, each said
 * or not, failed or not. */
static double wrong_by_groups(const struct algo_planner_view *v,
    const double hazard[], double least)
{
	double n = 0;
	for (topo_link g = 0; g < WRONG_LINKS; g++) {
		int failed = 0;
		if (v->alike[g] != g || !v->within[g])
			continue;
		for (topo_link l = g; l < WRONG_LINKS; l++)
			failed |= v->alike[l] == g && hazard[l] >= least;
		n += failed != (v->together[g] > 0.5);
	}
	return n;
}

static void wrong_links_are_counted_by_groups_of_alike(void **state)
{
	const struct xp_planner p = {.plan = {.least = 0.01}};
	const double least = -log1p(-0.01);
	(void)state;
	for (uint32_t run = 0; run < 2000; run++) {
		double hazard[WRONG_LINKS], together[WRONG_LINKS];
		uint8_t within[WRONG_LINKS];
		topo_link alike[WRONG_LINKS];
		struct sim_rng r;
		test_rng(&r, run);
		for (topo_link l = 0; l < WRONG_LINKS; l++) {
			const topo_link of = sim_rng_below(&r, l + 1);
			const double near[] = {0, least / 2, least, 2 * least};
			alike[l] = alike[of] == of || of == l ? of : l;
			hazard[l] = near[sim_rng_below(&r, 4)];
			within[l] = sim_rng_below(&r, 4) > 0;
			if (alike[l] != l)
				within[l] = within[alike[l]];
			together[l] =
			    alike[l] == l ? 0.25 * sim_rng_below(&r, 5) : 0;
		}
		const struct algo_planner_view v = {.within = within,
		    .alike = alike,
		    .together = together};
		assert_near(xp_planner_wrong(&p, &v, hazard, WRONG_LINKS),
		    wrong_by_groups(&v, hazard, least), 0);
	}
}

/* --- what is kept --------------------------------------------------------- */

static int keep_two(void *arg, struct sim_err *e)
{
	struct obs_tallies to = {0};
	const struct algo_planner_view v = {.told = arg};
	const int rc = xp_planner_keep(&to, &v, e);
	obs_tallies_free(&to);
	return rc;
}

static void ways_without_a_probe_are_not_kept(void **state)
{
	struct obs_paths paths = {0};
	struct obs_tallies told = {.paths = &paths, .telemetry = OBS_TELE_A1},
			   to = {0};
	const struct algo_planner_view v = {.told = &told};
	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		const struct obs_tally row = {.path = i,
		    .n_sent = i % 2 ? 40 : 0,
		    .n_lost = i % 2 ? i : 0};
		assert_ok(obs_tallies_add(&told, &row, test_err()));
	}
	for (int again = 0; again < 2; again++) {
		assert_ok(xp_planner_keep(&to, &v, test_err()));
		assert_int_equal(to.n, 2);
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(to.path[i], 2 * i + 1);
			assert_int_equal(to.n_sent[i], 40);
			assert_int_equal(to.n_lost[i], 2 * i + 1);
		}
		assert_ptr_equal(to.paths, &paths);
		assert_int_equal(to.telemetry, OBS_TELE_A1);
	}
	test_each_alloc_fails(keep_two, &told);
	obs_tallies_free(&to);
	obs_tallies_free(&told);
}

/* --- what a spec may ask -------------------------------------------------- */

#define LEAD "figure: f\nalgorithms: [sieve]\nplane: planner\n"

static void what_the_plane_does_not_know_is_refused_by_name(void **state)
{
	static const struct {
		const char *line, *want;
	} bad[] = {
	    {"faults: {kind: black_hole_1, switches: 1}",
		"x.yaml:4:9: on plane planner links and switches drop (kind "
		"drop); nothing else fails."},
	    {"faults:\n- {count: 1}\n- {kind: latency, count: 1}",
		"x.yaml:6:3: on plane planner links and switches drop (kind "
		"drop); nothing else fails."},
	    {"faults: {count: 1, from: 1}",
		"x.yaml:4:9: on plane planner what fails does so all the "
		"time."},
	    {"faults:\n- {count: 1}\n- {count: 1, to: 5}",
		"x.yaml:6:3: on plane planner what fails does so all the "
		"time."},
	    {"faults: {count: 1, lasts: 2}",
		"x.yaml:4:9: on plane planner what fails does so all the "
		"time."},
	    {"faults: {count: 1, spread: 2}",
		"x.yaml:4:9: on plane planner what fails does so all the "
		"time."},
	    {"noise: {rate: 1e-5, per: flow}",
		"x.yaml:4:8: on plane planner noise is of links (per: link)."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xp_spec s;
		struct sim_err e = {0};
		char text[256];
		snprintf(text, sizeof(text), LEAD "%s\n", bad[i].line);
		assert_int_equal(spec_load(&s, text, &e), SIM_EINVAL);
		if (!strstr(e.msg, bad[i].want))
			fail_msg("%s: %s does not say %s", bad[i].line, e.msg,
			    bad[i].want);
		xp_spec_free(&s);
	}
}

/* What is told of all planes that lack a kind is not told a second time. */
static void a_kind_of_other_planes_is_refused_once(void **state)
{
	static const char *const line[] = {
	    "faults: {kind: mux_loop, at: [host3]}",
	    "faults: {kind: storm, at: [host3]}",
	    "faults: {kind: reroute}",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		struct xp_spec s;
		struct sim_err e = {0};
		char text[256];
		snprintf(text, sizeof(text), LEAD "%s\n", line[i]);
		assert_int_equal(spec_load(&s, text, &e), SIM_EINVAL);
		if (strchr(e.msg, '\n') || strstr(e.msg, "links and switches"))
			fail_msg("%s: %s", line[i], e.msg);
		xp_spec_free(&s);
	}
}

static void numbers_of_the_section_have_these_ends(void **state)
{
	static const struct {
		const char *good, *bad, *want;
	} t[] = {
	    {"packets: 1", "packets: 0", "packets 0 is not in [1, 1000000]"},
	    {"packets: 1000000", "packets: 1000001",
		"packets 1000001 is not in [1, 1000000]"},
	    {"most: 1", "most: 0", "most 0 is not in [1, 4000000000]"},
	    {"agents: {lasts: 1}", "agents: {lasts: 0.9}",
		"lasts 0.9 is not in [1, 1000000]"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct xp_spec s;
		struct sim_err e = {0};
		char text[256];
		snprintf(text, sizeof(text), LEAD "planner: {%s}\n", t[i].good);
		spec_open(&s, text);
		xp_spec_free(&s);
		snprintf(text, sizeof(text), LEAD "planner: {%s}\n", t[i].bad);
		assert_int_equal(spec_load(&s, text, &e), SIM_EINVAL);
		if (!strstr(e.msg, t[i].want))
			fail_msg("%s does not say %s", e.msg, t[i].want);
		xp_spec_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_known_of_a_search_that_begins),
	    cmocka_unit_test(a_search_ends_once_it_was_right_and_done),
	    cmocka_unit_test(a_search_that_is_cut_off_has_sent_all),
	    cmocka_unit_test(wrong_links_are_counted_by_groups_of_alike),
	    cmocka_unit_test(ways_without_a_probe_are_not_kept),
	    cmocka_unit_test(what_the_plane_does_not_know_is_refused_by_name),
	    cmocka_unit_test(a_kind_of_other_planes_is_refused_once),
	    cmocka_unit_test(numbers_of_the_section_have_these_ends),
	};
	return cmocka_run_group_tests_name("experiments/planner/plane", tests,
	    spec_folder_make, spec_folder_remove);
}
