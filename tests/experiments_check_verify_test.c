/* tests/experiments_check_verify_test.c -- claims: read, measured, judged.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/verify.h"
#include "sim/stat.h"
#include "sim/vec.h"
#include "tests/spec_file.h"
#include "tests/test.h"

/* A cube of two axes, 3 x 2 points, and two algorithms, of which the first has
 * HITS[point] of 100 flows right in each of two runs and the second half of
 * that. */
enum { N_POINTS = 6, N_RUNS = 2, FLOWS = 100 };

static const char *const axis_names[] = {"faults.count", "plane"};

static void name_axes(struct res_cube *c)
{
	static const double counts[] = {2, 4, 6};
	static const char *const planes[] = {"[exact]", "skip"};
	assert_ok(SIM_ZALLOC(&c->axis, 2, test_err()));
	c->n_axes = 2;
	for (size_t a = 0; a < 2; a++) {
		struct res_axis *x = &c->axis[a];
		x->n = a == 0 ? 3 : 2;
		assert_ok(SIM_ZALLOC(&x->coord, 1, test_err()));
		x->n_coords = 1;
		assert_ok(sim_dup(&x->coord->name, axis_names[a], test_err()));
	}
	assert_ok(SIM_ZALLOC(&c->axis[0].coord->number, 3, test_err()));
	memcpy(c->axis[0].coord->number, counts, sizeof(counts));
	assert_ok(SIM_ZALLOC(&c->axis[1].coord->text, 2, test_err()));
	for (size_t i = 0; i < 2; i++)
		assert_ok(
		    sim_dup(&c->axis[1].coord->text[i], planes[i], test_err()));
}

static void fill(struct res_cube *c, const unsigned hits[N_POINTS])
{
	for (size_t p = 0; p < N_POINTS; p++)
		for (size_t r = 0; r < N_RUNS; r++) {
			double
			    row[RES_N_TRIAL_METRICS + 2 * RES_N_ALGO_METRICS];
			for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
				row[i] = NAN;
			for (size_t a = 0; a < 2; a++) {
				double *m = row + res_row_doubles(a);
				m[RES_ALGO_hits_all] = hits[p] / (a + 1);
				m[RES_ALGO_flows_all] = FLOWS;
			}
			row[RES_TRIAL_n_pattern] = 10;
			row[RES_TRIAL_pattern_right] = hits[p] / 10;
			res_cube_put(c, p, r, RES_DONE, row);
		}
}

static void make_cube(struct res_cube *c, const unsigned hits[N_POINTS])
{
	*c = (struct res_cube){.n_points = N_POINTS,
	    .n_runs = N_RUNS,
	    .shard_n = 1};
	assert_ok(sim_dup(&c->figure, "f", test_err()));
	assert_ok(SIM_ZALLOC(&c->algo, 2, test_err()));
	c->n_algos = 2;
	assert_ok(sim_dup(&c->algo[0], "a", test_err()));
	assert_ok(sim_dup(&c->algo[1], "b", test_err()));
	name_axes(c);
	assert_ok(res_cube_alloc(c, test_err()));
	fill(c, hits);
}

static const unsigned hits[N_POINTS] = {90, 80, 70, 60, 50, 40};

static struct xp_finding check(const char *keys)
{
	struct xp_claims claims;
	struct xp_finding f;
	struct res_cube c;
	char text[1024];
	snprintf(text, sizeof(text),
	    "claims:\n- {id: x, figure: f, certainty: S, text: t, metric: "
	    "accuracy_all, algorithm: a, %s}\n",
	    keys);
	spec_write("x.yaml", text);
	assert_ok(xp_claims_load(&claims, spec_path("x.yaml"), test_err()));
	make_cube(&c, hits);
	assert_ok(xp_claim_check(&claims.claim[0], &c, &f, test_err()));
	res_cube_free(&c);
	xp_claims_free(&claims);
	return f;
}

static void intervals_are_those_of_the_pooled_ratio(void **state)
{
	struct xp_finding f = check(
	    "relation: \">=\", value: 0.5, at: {faults.count: 4, plane: skip}");
	double lo, hi;
	(void)state;
	assert_ok(sim_binomial_interval(120, 200, 0.95, &lo, &hi, test_err()));
	assert_true(f.ours == 0.6 && f.lo == lo && f.hi == hi);
	assert_int_equal(f.n_points, 1);
	assert_string_equal(f.where, "faults.count 4, plane skip");
	f = check("relation: \">=\", value: 0.5, over: pool");
	assert_ok(sim_binomial_interval(780, 1200, 0.95, &lo, &hi, test_err()));
	assert_true(f.ours == 0.65 && f.lo == lo && f.hi == hi);
	assert_int_equal(f.n_points, 6);
	assert_string_equal(f.where, "");
}

/* 9 + 8 + 7 + 6 + 5 + 4 of 60 in each of two runs. */
static void a_ratio_of_the_trial_needs_no_algorithm(void **state)
{
	struct xp_claims claims;
	struct xp_finding f;
	struct res_cube c;
	double lo, hi;
	(void)state;
	spec_write("x.yaml",
	    "claims:\n- {id: x, figure: f, certainty: S, text: t, metric: "
	    "pattern_accuracy, relation: \">=\", value: 0.8, over: pool}\n");
	assert_ok(xp_claims_load(&claims, spec_path("x.yaml"), test_err()));
	make_cube(&c, hits);
	assert_ok(xp_claim_check(&claims.claim[0], &c, &f, test_err()));
	assert_ok(sim_binomial_interval(78, 120, 0.95, &lo, &hi, test_err()));
	assert_true(f.ours == 0.65 && f.lo == lo && f.hi == hi);
	assert_int_equal(f.verdict, XP_DIFFERS);
	res_cube_free(&c);
	xp_claims_free(&claims);
	struct sim_err e;
	spec_write("x.yaml",
	    "claims:\n- {id: x, figure: f, certainty: S, text: t, metric: "
	    "tier_accuracy, algorithm: a, relation: \">=\", value: 0.8}\n");
	assert_int_equal(xp_claims_load(&claims, spec_path("x.yaml"), &e),
	    SIM_EINVAL);
	assert_non_null(
	    strstr(e.msg, "tier_accuracy is the trial's own, of no algorithm"));
	xp_claims_free(&claims);
}

/* 0.6 of 200: [0.5285, 0.6684]. */
static void only_a_whole_interval_beyond_the_bound_differs(void **state)
{
	static const struct {
		const char *keys;
		enum xp_claim_verdict verdict;
	} cases[] = {
	    {"relation: \">=\", value: 0.66", XP_AGREES},
	    {"relation: \">=\", value: 0.67", XP_DIFFERS},
	    {"relation: \">=\", value: 0.1", XP_AGREES},
	    {"relation: \"<=\", value: 0.53", XP_AGREES},
	    {"relation: \"<=\", value: 0.52", XP_DIFFERS},
	    {"relation: \"<=\", value: 1", XP_AGREES},
	    {"relation: \"~\", value: 0.7, tolerance: 0.04", XP_AGREES},
	    {"relation: \"~\", value: 0.7, tolerance: 0.03", XP_DIFFERS},
	    {"relation: \"~\", value: 0.5, tolerance: 0.03", XP_AGREES},
	    {"relation: \"~\", value: 0.5, tolerance: 0.02", XP_DIFFERS},
	    {"relation: \"~\", value: 0.6, tolerance: 0.001", XP_AGREES},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char keys[256];
		snprintf(keys, sizeof(keys),
		    "%s, at: {faults.count: 4, plane: skip}", cases[i].keys);
		if (check(keys).verdict != cases[i].verdict)
			fail_msg("case %zu", i);
	}
}

static void each_point_is_held_and_the_worst_is_told(void **state)
{
	struct xp_finding f = check("relation: \">=\", value: 0.3");
	(void)state;
	assert_true(f.verdict == XP_AGREES && f.ours == 0.4);
	assert_string_equal(f.where, "faults.count 6, plane skip");
	f = check("relation: \"<=\", value: 0.8");
	assert_true(f.verdict == XP_DIFFERS && f.ours == 0.9);
	assert_string_equal(f.where, "faults.count 2, plane [exact]");
	f = check("relation: \"~\", value: 0.8, tolerance: 0.1");
	assert_true(f.verdict == XP_DIFFERS && f.ours == 0.4);
}

static void points_are_taken_by_value_list_and_range(void **state)
{
	static const struct {
		const char *at;
		double ours; /* pooled */
		size_t n_points;
	} cases[] = {
	    {"{faults.count: 2}", 0.85, 2},
	    {"{faults.count: 2.0}", 0.85, 2},
	    {"{faults.count: [2, 6]}", 0.65, 4},
	    {"{faults.count: {from: 4}}", 0.55, 4},
	    {"{faults.count: {to: 4}}", 0.75, 4},
	    {"{faults.count: {from: 3, to: 5}}", 0.65, 2},
	    {"{plane: skip}", 0.6, 3},
	    {"{plane: [exact]}", 0.7, 3},
	    {"{plane: [skip, [exact]]}", 0.65, 6},
	    {"{faults.count: 6, plane: skip}", 0.4, 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char keys[256];
		snprintf(keys, sizeof(keys),
		    "relation: \">=\", value: 0, over: pool, at: %s",
		    cases[i].at);
		const struct xp_finding f = check(keys);
		if (f.n_points != cases[i].n_points)
			fail_msg("%s: %zu points", cases[i].at, f.n_points);
		assert_near(f.ours, cases[i].ours, 1e-12);
	}
}

static void differences_and_spreads_take_both_intervals(void **state)
{
	double lo[2], hi[2];
	struct xp_finding f = check("relation: \">=\", value: 0.3, minus: b, "
				    "at: {faults.count: 2, plane: [exact]}");
	(void)state;
	assert_ok(
	    sim_binomial_interval(180, 200, 0.95, &lo[0], &hi[0], test_err()));
	assert_ok(
	    sim_binomial_interval(90, 200, 0.95, &lo[1], &hi[1], test_err()));
	assert_near(f.ours, 0.45, 1e-12);
	assert_near(f.lo, lo[0] - hi[1], 1e-12);
	assert_near(f.hi, hi[0] - lo[1], 1e-12);
	f = check("relation: \"<=\", value: 0.3, over: spread");
	assert_ok(
	    sim_binomial_interval(80, 200, 0.95, &lo[1], &hi[1], test_err()));
	assert_near(f.ours, 0.5, 1e-12);
	assert_near(f.lo, lo[0] - hi[1], 1e-12);
	assert_near(f.hi, hi[0] - lo[1], 1e-12);
	assert_int_equal(f.verdict, XP_DIFFERS);
	f = check("relation: \"<=\", value: 0.3, over: spread, at: "
		  "{faults.count: 2, plane: skip}");
	assert_true(f.ours == 0 && f.lo == 0 && f.hi > 0);
}

static void what_is_lacking_is_not_run_and_told(void **state)
{
	static const struct {
		const char *keys, *why;
	} cases[] = {
	    {"relation: \">=\", value: 0, minus: c", "no algorithm c in f"},
	    {"relation: \">=\", value: 0, at: {noise: 1}",
		"no axis noise in f"},
	    {"relation: \">=\", value: 0, at: {faults.count: 3}",
		"no such points in f"},
	};
	struct xp_finding f;
	const struct xp_claim claim = {.figure = "g", .metric = "recall"};
	const struct xp_claim none = {.figure = "g"};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f = check(cases[i].keys);
		assert_int_equal(f.verdict, XP_NOT_RUN);
		assert_string_equal(f.why, cases[i].why);
		assert_true(isnan(f.ours));
	}
	assert_ok(xp_claim_check(&claim, NULL, &f, test_err()));
	assert_int_equal(f.verdict, XP_NOT_RUN);
	assert_string_equal(f.why, "no results of g");
	assert_ok(xp_claim_check(&none, NULL, &f, test_err()));
	assert_int_equal(f.verdict, XP_NOT_COMPARABLE);
}

static void mistakes_are_told_with_their_place(void **state)
{
#define HEAD "{id: x, figure: f, certainty: S, text: t"
	static const struct {
		const char *text, *says;
	} cases[] = {
	    {"3", "x.yaml:2:3:"},
	    {HEAD "}", "needs a `note` that says why"},
	    {HEAD ", metric: recall, relation: \">=\", value: 1}",
		"needs `algorithm`"},
	    {HEAD ", metric: recal, algorithm: a, relation: \">=\", value: 1}",
		"no ratio \"recal\"; did you mean \"recall\"?"},
	    {HEAD ", metric: recall, algorithm: a, relation: \"~\", value: 1}",
		"a tolerance above 0 go together"},
	    {HEAD ", note: n, at: 3}", "at is a map of axes to values."},
	    {HEAD ", note: n, at: {a: {form: 3}}}",
		"a range of a is {from: number, to: number}."},
	    {HEAD ", note: n}\n- " HEAD ", note: n}",
		"two claims have the id \"x\"."},
	    {"{id: x, figure: f, certainty: T, text: t, note: n}", "T"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xp_claims c;
		struct sim_err e = {0};
		char text[512];
		snprintf(text, sizeof(text), "claims:\n- %s\n", cases[i].text);
		spec_write("x.yaml", text);
		assert_int_equal(xp_claims_load(&c, spec_path("x.yaml"), &e),
		    SIM_EINVAL);
		if (!strstr(e.msg, cases[i].says))
			fail_msg("no \"%s\" in \"%s\"", cases[i].says, e.msg);
		xp_claims_free(&c);
	}
}

static int load_and_check(void *arg, struct sim_err *e)
{
	struct xp_claims claims;
	struct xp_finding f;
	int rc = xp_claims_load(&claims, spec_path("x.yaml"), e);
	if (rc == 0)
		rc = xp_claim_check(&claims.claim[0], arg, &f, e);
	xp_claims_free(&claims);
	return rc;
}

static void a_failed_allocation_leaks_nothing(void **state)
{
	struct res_cube c;
	(void)state;
	make_cube(&c, hits);
	spec_write("x.yaml",
	    "claims:\n- " HEAD ", metric: accuracy_all, algorithm: a, "
	    "relation: \">=\", value: 1, at: {plane: skip}}\n");
	test_each_alloc_fails(load_and_check, &c);
	res_cube_free(&c);
}

static void the_shipped_claims_are_well_formed(void **state)
{
	struct xp_claims c;
	(void)state;
	assert_ok(
	    xp_claims_load(&c, "results/expected/vigil.yaml", test_err()));
	assert_true(c.n > 40);
	xp_claims_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(intervals_are_those_of_the_pooled_ratio),
	    cmocka_unit_test(a_ratio_of_the_trial_needs_no_algorithm),
	    cmocka_unit_test(only_a_whole_interval_beyond_the_bound_differs),
	    cmocka_unit_test(each_point_is_held_and_the_worst_is_told),
	    cmocka_unit_test(points_are_taken_by_value_list_and_range),
	    cmocka_unit_test(differences_and_spreads_take_both_intervals),
	    cmocka_unit_test(what_is_lacking_is_not_run_and_told),
	    cmocka_unit_test(mistakes_are_told_with_their_place),
	    cmocka_unit_test(a_failed_allocation_leaks_nothing),
	    cmocka_unit_test(the_shipped_claims_are_well_formed),
	};
	return cmocka_run_group_tests_name("experiments/check/verify", tests,
	    spec_folder_make, spec_folder_remove);
}
