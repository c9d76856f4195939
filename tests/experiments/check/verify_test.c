/* tests/experiments/check/verify_test.c -- claims: read, measured, judged.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/verify.h"
#include "sim/stat.h"
#include "sim/vec.h"
#include "tests/rigs/spec_file.h"
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

/* What the first algorithm measured in a row, to be changed. */
static void algo_of(const struct res_cube *c, size_t row,
    struct res_algo_metrics *m)
{
	res_cube_get_row(c, row, res_row_doubles(0), RES_N_ALGO_METRICS,
	    (double *)m);
}

static void set_algo(struct res_cube *c, size_t row,
    const struct res_algo_metrics *m)
{
	for (size_t i = 0; i < RES_N_ALGO_METRICS; i++)
		res_columns_put(&c->rows, row, res_row_doubles(0) + i,
		    ((const double *)m)[i]);
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

/* What comes of one claim on the cube: its finding's first case, whole. */
struct outcome {
	enum xp_claim_verdict verdict;
	struct xp_reading r;
	size_t n_cases;
	char why[160];
};

static struct outcome check_metric(const char *metric, const char *keys)
{
	struct xp_claims claims;
	struct xp_finding f;
	struct res_cube c;
	char text[1024];
	snprintf(text, sizeof(text),
	    "claims:\n- {id: x, figure: f, certainty: S, text: t, metric: "
	    "%s, %s}\n",
	    metric, keys);
	spec_write("x.yaml", text);
	assert_ok(xp_claims_load(&claims, spec_path("x.yaml"), test_err()));
	make_cube(&c, hits);
	assert_ok(xp_claim_check(&claims.claim[0], &c, &f, test_err()));
	struct outcome o = {.verdict = f.verdict[XP_OWN], .n_cases = f.n_cases};
	memcpy(o.why, f.why, sizeof(o.why));
	if (f.n_cases > 0)
		o.r = f.cases[0].by[XP_OWN];
	xp_finding_free(&f);
	res_cube_free(&c);
	xp_claims_free(&claims);
	return o;
}

static struct outcome check(const char *keys)
{
	char with[512];
	snprintf(with, sizeof(with), "algorithm: a, %s", keys);
	return check_metric("accuracy_all", with);
}

static void intervals_are_those_of_the_pooled_ratio(void **state)
{
	struct outcome f = check(
	    "relation: \">=\", value: 0.5, at: {faults.count: 4, plane: skip}");
	double lo, hi;
	(void)state;
	assert_ok(sim_binomial_interval(120, 200, 0.95, &lo, &hi, test_err()));
	assert_true(f.r.ours == 0.6 && f.r.lo == lo && f.r.hi == hi);
	assert_int_equal(f.r.n_points, 1);
	assert_string_equal(f.r.where, "faults.count 4, plane skip");
	/* The points differ far more than chance would have it: together they
	 * are worth fewer trials than were made. */
	f = check("relation: \">=\", value: 0.5, over: pool");
	assert_ok(sim_binomial_interval(780, 1200, 0.95, &lo, &hi, test_err()));
	assert_true(f.r.ours == 0.65 && f.r.lo < lo && f.r.hi > hi);
	assert_int_equal(f.r.n_points, 6);
	assert_string_equal(f.r.where, "");
}

/* 9 + 8 + 7 + 6 + 5 + 4 of 60 in each of two runs. */
static void a_ratio_of_the_trial_needs_no_algorithm(void **state)
{
	const struct outcome f = check_metric("pattern_accuracy",
	    "relation: \">=\", value: 0.95, over: pool");
	struct xp_claims claims;
	struct sim_err e;
	(void)state;
	assert_true(f.r.ours == 0.65);
	assert_int_equal(f.verdict, XP_DIFFERS);
	spec_write("x.yaml",
	    "claims:\n- {id: x, figure: f, certainty: S, text: t, metric: "
	    "tier_accuracy, algorithm: a, relation: \">=\", value: 0.8}\n");
	assert_int_equal(xp_claims_load(&claims, spec_path("x.yaml"), &e),
	    SIM_EINVAL);
	assert_non_null(
	    strstr(e.msg, "tier_accuracy is the trial's own, of no algorithm"));
	xp_claims_free(&claims);
}

/* 0.6 of 200 trials: [0.5285, 0.6684], which sees 0.116, so that only an
 * interval within the band agrees. What is printed may have been rounded from
 * half a digit more or less. */
static void a_verdict_needs_the_whole_interval_or_power(void **state)
{
	static const struct {
		const char *keys;
		enum xp_claim_verdict verdict;
	} cases[] = {
	    {"relation: \">=\", value: 0.66", XP_UNDECIDED},
	    {"relation: \">=\", value: 0.680", XP_DIFFERS},
	    {"relation: \">=\", value: 67 %", XP_UNDECIDED},
	    {"relation: \">=\", value: 67.0 %", XP_DIFFERS},
	    {"relation: \">=\", value: 0.1", XP_AGREES},
	    {"relation: \"<=\", value: 53.0 %", XP_UNDECIDED},
	    {"relation: \"<=\", value: 52.0 %", XP_DIFFERS},
	    {"relation: \"<=\", value: 1.00", XP_AGREES},
	    {"relation: \"~\", value: 60 %", XP_UNDECIDED},
	    {"relation: \"~\", value: 0.6", XP_UNDECIDED},
	    {"relation: \"~\", value: 67 %", XP_UNDECIDED},
	    {"relation: \"~\", value: 68 %", XP_DIFFERS},
	    {"relation: \">\", value: 0.5", XP_AGREES},
	    {"relation: \">\", value: 0.55", XP_UNDECIDED},
	    {"relation: \"<\", value: 0.5", XP_DIFFERS},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char keys[256];
		snprintf(keys, sizeof(keys),
		    "%s, at: {faults.count: 4, plane: skip}", cases[i].keys);
		const struct outcome o = check(keys);
		if (o.verdict != cases[i].verdict)
			fail_msg("%s: %s", cases[i].keys,
			    xp_claim_verdict_names[o.verdict]);
		assert_near(o.r.seen,
		    (o.r.hi - o.r.lo) / 2 * (1 + 1.2815516 / 1.9599640), 1e-6);
	}
}

/* The same claim with more trials is decided: of 20,000 it sees 0.011. */
static void more_trials_decide(void **state)
{
	struct xp_claim c = {.metric = "accuracy_all",
	    .algorithm = "a",
	    .relation = XP_IS,
	    .value = 0.9,
	    .rounding = 0.005,
	    .what = {RES_ALGO_hits_all, XP_NO_COLUMN, RES_ALGO_flows_all, 0}};
	struct xp_finding f;
	struct res_cube cube;
	(void)state;
	make_cube(&cube, (const unsigned[N_POINTS]){90, 90, 90, 90, 90, 90});
	assert_ok(xp_claim_check(&c, &cube, &f, test_err()));
	assert_int_equal(f.verdict[XP_OWN], XP_UNDECIDED);
	xp_finding_free(&f);
	for (size_t p = 0; p < N_POINTS; p++)
		for (size_t r = 0; r < N_RUNS; r++) {
			struct res_algo_metrics m;
			algo_of(&cube, p * N_RUNS + r, &m);
			m.hits_all *= 100;
			m.flows_all *= 100;
			set_algo(&cube, p * N_RUNS + r, &m);
		}
	assert_ok(xp_claim_check(&c, &cube, &f, test_err()));
	assert_int_equal(f.verdict[XP_OWN], XP_AGREES);
	assert_true(f.cases[0].by[XP_OWN].seen < 0.02);
	xp_finding_free(&f);
	/* Another simulator's two runs are as uncertain as ours. */
	c.value = 0.908;
	c.rounding = 0.0005;
	assert_ok(xp_claim_check(&c, &cube, &f, test_err()));
	assert_int_equal(f.verdict[XP_OWN], XP_DIFFERS);
	xp_finding_free(&f);
	c.certainty = XP_MEASURED;
	c.runs = N_RUNS;
	assert_ok(xp_claim_check(&c, &cube, &f, test_err()));
	assert_int_equal(f.verdict[XP_OWN], XP_AGREES);
	xp_finding_free(&f);
	res_cube_free(&cube);
}

/* Held at n points, each at 1 - 5 %/n. */
static void each_point_is_held_and_the_worst_is_told(void **state)
{
	struct outcome f = check("relation: \">=\", value: 0.3");
	double lo, hi;
	(void)state;
	assert_ok(
	    sim_binomial_interval(80, 200, 1 - 0.05 / 6, &lo, &hi, test_err()));
	assert_true(f.verdict == XP_AGREES && f.r.ours == 0.4);
	assert_near(f.r.lo, lo, 1e-12);
	assert_near(f.r.hi, hi, 1e-12);
	assert_string_equal(f.r.where, "faults.count 6, plane skip");
	f = check("relation: \"<=\", value: 0.80");
	assert_true(f.verdict == XP_DIFFERS && f.r.ours == 0.9);
	assert_string_equal(f.r.where, "faults.count 2, plane [exact]");
	assert_int_equal(f.r.n_outside, 1);
	f = check("relation: \"~\", value: 0.8");
	assert_true(f.verdict == XP_DIFFERS && f.r.ours == 0.4);
	f = check("over: each");
	assert_true(f.verdict == XP_IN_WORDS && isnan(f.r.ours));
	assert_true(f.r.lo == 0.4 && f.r.hi == 0.9 && f.r.n_points == 6);
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
		const struct outcome f = check(keys);
		if (f.r.n_points != cases[i].n_points)
			fail_msg("%s: %zu points", cases[i].at, f.r.n_points);
		assert_near(f.r.ours, cases[i].ours, 1e-12);
	}
}

/* Runs are alike here, so a difference has the width of no step in 200. */
static void differences_and_trends_are_of_the_same_runs(void **state)
{
	struct outcome f = check("relation: \">=\", value: 0.3, minus: b, "
				 "at: {faults.count: 2, plane: [exact]}");
	(void)state;
	assert_near(f.r.ours, 0.45, 1e-12);
	assert_near(f.r.hi - f.r.ours, -log(0.05) / 200, 1e-12);
	f = check("relation: \"<\", value: 0, over: trend, at: {plane: skip}");
	assert_near(f.r.ours, 0.4 - 0.8, 1e-12);
	assert_int_equal(f.verdict, XP_AGREES);
	assert_int_equal(f.r.n_points, 3);
	f = check("relation: \"~\", value: 0, over: trend, at: {plane: skip}");
	assert_int_equal(f.verdict, XP_DIFFERS);
	/* As a smoke run may leave. */
	f = check("relation: \"<\", value: 0, over: trend, "
		  "at: {plane: skip, faults.count: 2}");
	assert_int_equal(f.verdict, XP_NOT_RUN);
	assert_int_equal(f.r.n_points, 0);
}

static void a_trend_along_two_axes_is_refused(void **state)
{
	struct xp_claims claims;
	struct xp_finding f;
	struct res_cube c;
	struct sim_err e;
	(void)state;
	spec_write("x.yaml",
	    "claims:\n- {id: x, figure: f, certainty: S, text: t, metric: "
	    "accuracy_all, algorithm: a, relation: \"<\", value: 0, "
	    "over: trend}\n");
	assert_ok(xp_claims_load(&claims, spec_path("x.yaml"), test_err()));
	make_cube(&c, hits);
	assert_int_equal(xp_claim_check(&claims.claim[0], &c, &f, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "claim x: a trend needs points along one axis; `at` leaves 6.");
	xp_finding_free(&f);
	res_cube_free(&c);
	xp_claims_free(&claims);
}

/* hits_all is 90, 80, .. of either run, half of that for b. */
static void means_quotients_and_shares_of_runs(void **state)
{
	const char *first = "at: {faults.count: 2, plane: [exact]}";
	char keys[256];
	struct outcome f;
	(void)state;
	snprintf(keys, sizeof(keys), "algorithm: a, %s", first);
	f = check_metric("hits_all", keys);
	assert_true(f.verdict == XP_IN_WORDS && f.r.lo == 90 && f.r.hi == 90);
	f = check_metric("flows_all - hits_all", keys);
	assert_true(f.r.lo == 10 && f.r.hi == 10);
	snprintf(keys, sizeof(keys),
	    "algorithm: a, per: b, relation: \"~\", value: 2, %s", first);
	f = check_metric("hits_all", keys);
	assert_true(f.verdict == XP_AGREES && f.r.ours == 2);
	f = check_metric("hits_all",
	    "algorithm: a, relation: \"~\", value: 50 %, over: pool, "
	    "within: {from: 60, to: 80}");
	assert_true(f.r.ours == 0.5);
}

static void what_is_a_guess_is_told_apart(void **state)
{
	struct outcome f =
	    check("relation: \">\", value: 0.55, guess: [plane], "
		  "at: {faults.count: 4}");
	(void)state;
	assert_int_equal(f.n_cases, 2);
	assert_int_equal(f.verdict, XP_DEPENDS);
	f = check("relation: \">=\", value: 0.3, guess: [plane]");
	assert_true(f.n_cases == 2 && f.verdict == XP_AGREES);
	assert_int_equal(f.r.n_points, 3);
}

/* Each case is of its own points, in any of the ways to take them together. */
static void all_cases_are_read_however_points_are_taken(void **state)
{
	static const char *const over[] = {"each", "pool", "trend"};
	char keys[256];
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(keys, sizeof(keys),
		    "relation: \"<\", value: %s, over: %s, guess: [plane]",
		    i < 2 ? "1.2" : "0", over[i]);
		const struct outcome f = check(keys);
		assert_int_equal(f.n_cases, 2);
		assert_int_equal(f.verdict, XP_AGREES);
		assert_int_equal(f.r.n_points, 3);
		assert_int_equal(f.r.n_blank, 0);
	}
}

/* No run of the cube has flows that a fault hit. */
static void where_nothing_was_measured_nothing_is_told(void **state)
{
	static const char *const over[] = {"each", "pool", "trend"};
	char keys[256];
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(keys, sizeof(keys),
		    "algorithm: a, relation: \">=\", value: 0, over: %s, at: "
		    "{plane: skip}",
		    over[i]);
		const struct outcome f = check_metric("accuracy_fault", keys);
		assert_int_equal(f.verdict, XP_NOT_RUN);
		assert_int_equal(f.n_cases, 1);
		assert_true(isnan(f.r.ours) && isnan(f.r.lo) && isnan(f.r.hi));
		assert_true(isnan(f.r.seen));
		assert_int_equal(f.r.n_points, 0);
		assert_int_equal(f.r.n_blank, i < 2 ? 3 : 0);
	}
}

/* Beside accuracy_kept always stands accuracy_fault, judged by itself. */
static void accuracy_has_two_readings(void **state)
{
	struct xp_claim c = {.metric = "accuracy_kept",
	    .algorithm = "a",
	    .relation = XP_AT_LEAST,
	    .value = 0.5,
	    .what = {RES_ALGO_hits_kept, XP_NO_COLUMN, RES_ALGO_flows_kept, 0}};
	struct xp_finding f;
	struct res_cube cube;
	(void)state;
	make_cube(&cube, hits);
	for (size_t i = 0; i < N_POINTS * N_RUNS; i++) {
		struct res_algo_metrics m;
		algo_of(&cube, i, &m);
		m.hits_kept = 90;
		m.hits_fault = 10;
		m.flows_kept = m.flows_fault = 100;
		set_algo(&cube, i, &m);
	}
	assert_ok(xp_claim_check(&c, &cube, &f, test_err()));
	assert_int_equal(f.n_readings, 2);
	assert_int_equal(f.verdict[XP_OWN], XP_AGREES);
	assert_int_equal(f.verdict[XP_HIT], XP_DIFFERS);
	assert_true(f.cases[0].by[XP_HIT].ours == 0.1);
	xp_finding_free(&f);
	res_cube_free(&cube);
}

static void what_is_lacking_is_not_run_and_told(void **state)
{
	static const struct {
		const char *keys, *why;
	} cases[] = {
	    {"relation: \">=\", value: 0, minus: c", "no algorithm c in f"},
	    {"relation: \">=\", value: 0, guess: [noise]",
		"no axis noise in f"},
	    {"relation: \">=\", value: 0, at: {noise: 1}",
		"no axis noise in f"},
	    {"relation: \">=\", value: 0, at: {faults.count: 3}",
		"no such points in f"},
	};
	struct outcome o;
	struct xp_finding f;
	const struct xp_claim claim = {.figure = "g", .metric = "recall"};
	const struct xp_claim none = {.figure = "g"};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		o = check(cases[i].keys);
		assert_int_equal(o.verdict, XP_NOT_RUN);
		assert_string_equal(o.why, cases[i].why);
		assert_int_equal(o.n_cases, 0);
	}
	assert_ok(xp_claim_check(&claim, NULL, &f, test_err()));
	assert_int_equal(f.verdict[XP_OWN], XP_NOT_RUN);
	assert_string_equal(f.why, "no results of g");
	assert_ok(xp_claim_check(&none, NULL, &f, test_err()));
	assert_int_equal(f.verdict[XP_OWN], XP_NOT_COMPARABLE);
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
		"no metric \"recal\"; did you mean \"recall\"?"},
	    {HEAD ", metric: recall, algorithm: a, relation: \"~\"}",
		"`relation` and `value` go together."},
	    {HEAD ", metric: recall, algorithm: a, value: 1}",
		"`relation` and `value` go together."},
	    {HEAD
		", metric: recall, algorithm: a, relation: \"~\", value: 1e-1}",
		"1e-1 is no number as printed"},
	    {HEAD
		", metric: recall, algorithm: a, relation: \"~\", value: 90%}",
		"90% is no number as printed"},
	    {HEAD ", metric: recall - precision, algorithm: a}",
		"and no ratios."},
	    {HEAD ", metric: n_flagged, per: b, minus: c, algorithm: a}",
		"`minus` goes neither with `per` nor with a trend."},
	    {HEAD ", metric: recall, per: b, algorithm: a}",
		"`per` is for metrics that are no ratios"},
	    {HEAD ", metric: recall, algorithm: a, within: {from: 1}}",
		"of a metric that is no ratio."},
	    {HEAD ", metric: n_flagged, algorithm: a, within: {form: 1}}",
		"within is {from: number, to: number}"},
	    {HEAD ", metric: recall, algorithm: a, guess: 3}",
		"guess is a list of axes."},
	    {HEAD ", metric: recall, algorithm: a, runs: 3}",
		"`runs` and certainty M go together."},
	    {HEAD ", metric: recall, algorithm: a, at: 3}",
		"at is a map of axes to values."},
	    {HEAD ", metric: recall, algorithm: a, at: {a: {form: 3}}}",
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
	struct xp_finding f = {0};
	int rc = xp_claims_load(&claims, spec_path("x.yaml"), e);
	if (rc == 0)
		rc = xp_claim_check(&claims.claim[0], arg, &f, e);
	xp_finding_free(&f);
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
	assert_ok(
	    xp_claims_load(&c, "results/expected/flock.yaml", test_err()));
	xp_claims_free(&c);
	assert_ok(xp_claims_load(&c, "results/expected/millisampler.yaml",
	    test_err()));
	assert_true(c.n > 10);
	xp_claims_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(intervals_are_those_of_the_pooled_ratio),
	    cmocka_unit_test(a_ratio_of_the_trial_needs_no_algorithm),
	    cmocka_unit_test(a_verdict_needs_the_whole_interval_or_power),
	    cmocka_unit_test(more_trials_decide),
	    cmocka_unit_test(each_point_is_held_and_the_worst_is_told),
	    cmocka_unit_test(points_are_taken_by_value_list_and_range),
	    cmocka_unit_test(differences_and_trends_are_of_the_same_runs),
	    cmocka_unit_test(a_trend_along_two_axes_is_refused),
	    cmocka_unit_test(means_quotients_and_shares_of_runs),
	    cmocka_unit_test(what_is_a_guess_is_told_apart),
	    cmocka_unit_test(all_cases_are_read_however_points_are_taken),
	    cmocka_unit_test(where_nothing_was_measured_nothing_is_told),
	    cmocka_unit_test(accuracy_has_two_readings),
	    cmocka_unit_test(what_is_lacking_is_not_run_and_told),
	    cmocka_unit_test(mistakes_are_told_with_their_place),
	    cmocka_unit_test(a_failed_allocation_leaks_nothing),
	    cmocka_unit_test(the_shipped_claims_are_well_formed),
	};
	return cmocka_run_group_tests_name("experiments/check/verify", tests,
	    spec_folder_make, spec_folder_remove);
}
