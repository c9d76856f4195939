/* tests/experiments/check/gate_test.c -- gates: what they count and decide.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/alg1.h"
#include "algos/vigil/cover.h"
#include "algos/vigil/program.h"
#include "algos/vigil/vote.h"
#include "experiments/check/gate.h"
#include "experiments/sweep/trial.h"
#include "tests/rigs/broken_algos.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* In place of algos/registry.c: specs can name the broken ones too. */
const struct algo_ops *const algo_registry[] = {&algo_vote, &algo_alg1,
    &algo_cover, &algo_binary, &algo_integer, &broken_reversed, &broken_shifted,
    &broken_least, &broken_flat, &broken_fails, NULL};

const struct algo_ops *algo_find(const char *name)
{
	for (const struct algo_ops *const *a = algo_registry; *a; a++)
		if (strcmp((*a)->name, name) == 0)
			return *a;
	return NULL;
}

enum { ROW = RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS, MAX_GATES = 32 };

/* --- what a trial is ------------------------------------------------------ */

static struct xp_gate gate_of(uint32_t unit, uint32_t num, uint32_t den)
{
	return (struct xp_gate){.name = "g",
	    .algorithm = "a",
	    .metric = "m",
	    .unit = unit,
	    .at_least = -INFINITY,
	    .at_most = INFINITY,
	    .p0 = 0.5,
	    .p1 = 0.9,
	    .p2 = NAN,
	    .p3 = NAN,
	    .alpha = 1e-6,
	    .beta = 1e-6,
	    .max_runs = 1000,
	    .num = num,
	    .den = den};
}

/* A row in which the first algorithm has NUM of DEN. */
static void add(const struct xp_gate *g, struct xp_gate_state *s, double num,
    double den)
{
	double row[ROW];
	for (size_t i = 0; i < ROW; i++)
		row[i] = NAN;
	row[RES_N_TRIAL_METRICS + g->num] = num;
	if (g->den != XP_GATE_NO_DEN)
		row[RES_N_TRIAL_METRICS + g->den] = den;
	assert_ok(xp_gate_add(g, s, row, test_err()));
}

static void a_run_is_good_if_its_ratio_is_at_least_the_bound(void **state)
{
	struct xp_gate g =
	    gate_of(XP_GATE_RUN, RES_ALGO_hits_all, RES_ALGO_flows_all);
	struct xp_gate_state s;
	(void)state;
	/* Every decimal share that N flows can have, and its neighbours. */
	for (unsigned n = 1; n <= 200; n++)
		for (unsigned hits = 0; hits <= n; hits++) {
			char text[32];
			if (hits * 1000 % n != 0)
				continue;
			snprintf(text, sizeof(text), "0.%03u",
			    hits * 1000 / n % 1000);
			g.at_least = hits == n ? 1 : strtod(text, NULL);
			xp_gate_begin(&g, &s);
			add(&g, &s, hits, n);
			assert_int_equal(s.n_good, 1);
			if (hits == 0)
				continue;
			add(&g, &s, hits - 1, n);
			assert_int_equal(s.n_good, 1);
			assert_int_equal(s.n_trials, 2);
		}
}

static void a_bound_may_be_an_upper_one(void **state)
{
	struct xp_gate g =
	    gate_of(XP_GATE_RUN, RES_ALGO_n_flagged, XP_GATE_NO_DEN);
	struct xp_gate_state s;
	(void)state;
	g.at_most = 3;
	xp_gate_begin(&g, &s);
	add(&g, &s, 0, 0);
	add(&g, &s, 3, 0);
	add(&g, &s, 4, 0);
	assert_int_equal(s.n_trials, 3);
	assert_int_equal(s.n_good, 2);
}

static void a_run_that_measures_nothing_is_no_trial(void **state)
{
	struct xp_gate g =
	    gate_of(XP_GATE_RUN, RES_ALGO_hits_all, RES_ALGO_flows_all);
	struct xp_gate plain =
	    gate_of(XP_GATE_RUN, RES_ALGO_worst_rank, XP_GATE_NO_DEN);
	struct xp_gate_state s;
	(void)state;
	g.at_least = plain.at_least = 0;
	xp_gate_begin(&g, &s);
	add(&g, &s, 0, 0);
	assert_int_equal(s.n_runs, 1);
	assert_int_equal(s.n_trials, 0);
	xp_gate_begin(&plain, &s);
	add(&plain, &s, NAN, 0);
	assert_int_equal(s.n_runs, 1);
	assert_int_equal(s.n_trials, 0);
}

static void flows_are_trials_of_their_own(void **state)
{
	const struct xp_gate g =
	    gate_of(XP_GATE_FLOW, RES_ALGO_hits_all, RES_ALGO_flows_all);
	struct xp_gate_state s;
	(void)state;
	xp_gate_begin(&g, &s);
	add(&g, &s, 7, 10);
	add(&g, &s, 0, 0);
	add(&g, &s, 4, 5);
	assert_int_equal(s.n_trials, 15);
	assert_int_equal(s.n_good, 11);
	assert_near(s.llr, 11 * log(0.9 / 0.5) + 4 * log(0.1 / 0.5), 1e-12);
}

static void a_metric_that_is_not_answered_is_an_error(void **state)
{
	const struct xp_gate g =
	    gate_of(XP_GATE_RUN, RES_ALGO_n_flagged_true, RES_ALGO_n_flagged);
	struct xp_gate_state s;
	double row[ROW];
	(void)state;
	for (size_t i = 0; i < ROW; i++)
		row[i] = NAN;
	xp_gate_begin(&g, &s);
	assert_int_equal(xp_gate_add(&g, &s, row, test_err()), SIM_EINVAL);
	assert_string_equal(test_err()->msg,
	    "gate \"g\": algorithm a has no m.");
}

/* --- when it is decided --------------------------------------------------- */

static void nothing_but_good_or_bad_runs_are_decided_as_wald_says(void **state)
{
	struct xp_gate g =
	    gate_of(XP_GATE_RUN, RES_ALGO_hits_all, RES_ALGO_flows_all);
	struct xp_gate_state s;
	const double bound = log((1 - 1e-6) / 1e-6);
	(void)state;
	g.at_least = 1;
	xp_gate_begin(&g, &s);
	for (unsigned i = 0; i < 100; i++)
		add(&g, &s, 1, 1);
	assert_int_equal(s.verdict, SIM_SPRT_GOOD);
	assert_int_equal(s.n_runs, (int)ceil(bound / log(0.9 / 0.5)));
	xp_gate_begin(&g, &s);
	for (unsigned i = 0; i < 100; i++)
		add(&g, &s, 0, 1);
	assert_int_equal(s.verdict, SIM_SPRT_BAD);
	assert_int_equal(s.n_runs, (int)ceil(bound / log(0.5 / 0.1)));
}

static void after_max_runs_it_is_undecided(void **state)
{
	struct xp_gate g =
	    gate_of(XP_GATE_RUN, RES_ALGO_hits_all, RES_ALGO_flows_all);
	struct xp_gate_state s;
	(void)state;
	g.at_least = 1;
	g.max_runs = 23; /* 24 are needed */
	xp_gate_begin(&g, &s);
	for (unsigned i = 0; i < 100; i++)
		add(&g, &s, 1, 1);
	assert_int_equal(s.n_runs, 23);
	assert_int_equal(s.verdict, SIM_SPRT_GO_ON);
	assert_false(xp_gate_open(&g, &s));
}

/* The share of 4000 tests that end in VERDICT when successes come with RATE,
 * GROUP of them a run. */
static double share_judged(enum sim_sprt_verdict verdict, double rate,
    unsigned group, uint32_t stream, int two_sided)
{
	enum { TESTS = 4000 };
	struct xp_gate g =
	    gate_of(XP_GATE_FLOW, RES_ALGO_hits_all, RES_ALGO_flows_all);
	struct sim_rng r;
	unsigned n = 0;
	g.alpha = g.beta = 0.05;
	if (two_sided) {
		g.p0 = 0.3;
		g.p1 = 0.45;
		g.p2 = 0.55;
		g.p3 = 0.7;
	}
	test_rng(&r, stream);
	for (unsigned i = 0; i < TESTS; i++) {
		struct xp_gate_state s;
		xp_gate_begin(&g, &s);
		while (xp_gate_open(&g, &s)) {
			unsigned hits = 0;
			for (unsigned k = 0; k < group; k++)
				hits += sim_rng_u01(&r) < rate;
			add(&g, &s, hits, group);
		}
		n += s.verdict == verdict;
	}
	return (double)n / TESTS;
}

/* Wald: at most alpha / (1 - beta) = 0.0526. False alarms: 5 standard
 * deviations of 0.0035 above that, 3e-7 each, 4 of them. */
static void wrong_verdicts_are_as_rare_as_stated(void **state)
{
	const double most = 0.05 / 0.95 + 5 * 0.0035;
	(void)state;
	for (unsigned group = 1; group <= 7; group += 6) {
		const double good =
		    share_judged(SIM_SPRT_GOOD, 0.5, group, group, 0);
		const double bad =
		    share_judged(SIM_SPRT_BAD, 0.9, group, group + 1, 0);
		if (good > most || bad > most)
			fail_msg("seed %llu, groups of %u: %g and %g",
			    (unsigned long long)test_seed(), group, good, bad);
	}
}

/* Of each side the same; good ones may be called bad by either. */
static void too_high_is_as_bad_as_too_low(void **state)
{
	const double most = 0.05 / 0.95 + 5 * 0.0035;
	const double low = share_judged(SIM_SPRT_GOOD, 0.3, 1, 20, 1);
	const double high = share_judged(SIM_SPRT_GOOD, 0.7, 1, 21, 1);
	const double good = share_judged(SIM_SPRT_BAD, 0.5, 1, 22, 1);
	(void)state;
	if (low > most || high > most || good > 2 * most)
		fail_msg("seed %llu: %g, %g and %g",
		    (unsigned long long)test_seed(), low, high, good);
}

static void a_side_that_is_decided_stays_so(void **state)
{
	struct xp_gate g =
	    gate_of(XP_GATE_RUN, RES_ALGO_hits_all, RES_ALGO_flows_all);
	struct xp_gate_state s;
	(void)state;
	g.at_least = 1;
	g.p1 = 0.6;
	g.p2 = 0.9;
	g.p3 = 0.99;
	xp_gate_begin(&g, &s);
	/* Good from below after 76 successes, bad from above after 145. */
	for (unsigned i = 0; i < 76; i++)
		add(&g, &s, 1, 1);
	assert_int_equal(s.of_side[0], SIM_SPRT_GOOD);
	assert_int_equal(s.verdict, SIM_SPRT_GO_ON);
	for (unsigned i = 0; i < 100; i++)
		add(&g, &s, 1, 1);
	assert_int_equal(s.verdict, SIM_SPRT_BAD);
	assert_int_equal(s.n_runs, (int)ceil(log(1e6) / log(0.99 / 0.9)));
}

/* --- files ---------------------------------------------------------------- */

#define SMALL                                                                  \
	"figure: f\ntopology: {n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, "       \
	"n_hosts: 3}\nfaults: {count: 2, rate: 0.02}\n"                        \
	"algorithms: [vote, alg1, cover]\n"
#define PROBED                                                                 \
	"figure: f\ntopology: {n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, "       \
	"n_hosts: 3}\nplane: pingmesh\n"
#define RATES ", p0: 0.1, p1: 0.9}\n"

static void load_text(struct xp_gates *g, const char *text)
{
	spec_write("x.yaml", text);
	assert_ok(xp_gates_load(g, spec_path("x.yaml"), NULL, 0, test_err()));
}

static void gates_are_read_with_their_defaults(void **state)
{
	struct xp_gates g;
	(void)state;
	load_text(&g,
	    SMALL
	    "gates:\n"
	    "- {name: a, algorithm: cover, metric: recall, at_least: 0.5" RATES
	    "- {name: b, algorithm: alg1, metric: n_flagged, "
	    "at_most: 4, alpha: 0.01, max_runs: 7" RATES
	    "- {name: c, algorithm: vote, metric: accuracy_all, unit: "
	    "flow" RATES);
	assert_int_equal(g.n, 3);
	assert_int_equal(g.gate[0].algo, 2);
	assert_int_equal(g.gate[0].num, RES_ALGO_n_flagged_true);
	assert_int_equal(g.gate[0].den, RES_ALGO_n_links_true);
	assert_true(g.gate[0].at_least == 0.5 && isinf(g.gate[0].at_most));
	assert_true(g.gate[0].alpha == 1e-6 && g.gate[0].beta == 1e-6);
	assert_int_equal(g.gate[0].max_runs, 10000);
	assert_int_equal(g.gate[1].algo, 1);
	assert_int_equal(g.gate[1].num, RES_ALGO_n_flagged);
	assert_int_equal(g.gate[1].den, XP_GATE_NO_DEN);
	assert_true(g.gate[1].at_most == 4 && isinf(g.gate[1].at_least));
	assert_int_equal(g.gate[2].unit, XP_GATE_FLOW);
	xp_gates_free(&g);
}

static void the_trials_own_metrics_need_no_algorithm(void **state)
{
	double row[RES_N_TRIAL_METRICS + 3 * RES_N_ALGO_METRICS];
	struct xp_gate_state s[2];
	struct xp_gates g;
	struct sim_err e;
	(void)state;
	load_text(&g,
	    PROBED "gates:\n"
		   "- {name: a, metric: drop_rate, at_most: 0.02" RATES
		   "- {name: b, metric: n_live_agents, at_least: 100" RATES);
	assert_int_equal(g.gate[0].num, RES_TRIAL_n_drop);
	assert_int_equal(g.gate[0].den, RES_TRIAL_n_connected);
	assert_int_equal(g.gate[1].num, RES_TRIAL_n_live_agents);
	assert_int_equal(g.gate[1].den, XP_GATE_NO_DEN);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		row[i] = NAN;
	row[RES_TRIAL_n_live_agents] = 99;
	row[RES_TRIAL_n_connected] = 100;
	row[RES_TRIAL_n_drop] = 2;
	for (size_t i = 0; i < 2; i++) {
		xp_gate_begin(&g.gate[i], &s[i]);
		assert_ok(xp_gate_add(&g.gate[i], &s[i], row, test_err()));
		assert_int_equal(s[i].n_trials, 1);
		assert_int_equal(s[i].n_good, i == 0);
	}
	row[RES_TRIAL_n_drop] = NAN;
	assert_int_equal(xp_gate_add(&g.gate[0], &s[0], row, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "gate \"a\": the trial has no drop_rate.");
	xp_gates_free(&g);
}

static void mistakes_are_told_with_their_place(void **state)
{
#define ONE(rest) SMALL "gates: [{name: a, algorithm: vote, " rest "}]\n"
#define GOOD      "metric: recall, at_least: 1, p0: 0.1, p1: 0.9"
	static const struct {
		const char *text, *says;
	} cases[] = {
	    {SMALL, "gates is missing."},
	    {SMALL "gates: []\n",
		":5:8: gates is a list of at least one gate."},
	    {SMALL "gates: [3]\n", ":5:9:"},
	    {ONE(GOOD ", alpah: 1"), "did you mean \"alpha\"?"},
	    {ONE("metric: recal, at_least: 1, p0: 0.1, p1: 0.9"),
		":5:44: there is no metric \"recal\"; did you "
		"mean \"recall\"?"},
	    {ONE("metric: n_flows, at_least: 1, p0: 0.1, p1: 0.9"),
		"n_flows is the trial's own metric, of no algorithm."},
	    {SMALL "gates: [{name: a, " GOOD "}]\n", "algorithm is missing."},
	    {PROBED "gates: [{name: a, metric: drop_rate, unit: flow, p0: "
		    "0.1, p1: 0.9}]\n",
		"drop_rate is no ratio of flows."},
	    {SMALL "gates: [{name: a, algorithm: votes, " GOOD "}]\n",
		"there is no algorithm here with the label \"votes\"; did you "
		"mean \"vote\"?"},
	    {ONE("metric: recall, p0: 0.1, p1: 0.9"),
		"a run needs either at_least or at_most."},
	    {ONE(GOOD ", at_most: 1"),
		"a run needs either at_least or at_most."},
	    {ONE(GOOD ", unit: link"),
		"at_least and at_most are for unit run; a link is a success"},
	    {ONE("metric: recall, unit: flow, p0: 0.1, p1: 0.9"),
		"recall is no ratio of flows."},
	    {ONE("metric: n_flagged, unit: link, p0: 0.1, p1: 0.9"),
		"n_flagged is no ratio of links."},
	    {ONE("metric: top_k_recall, unit: link, p0: 0.1, p1: 0.9"),
		"top_k_recall counts links in parts where scores are equal"},
	    {ONE("metric: recall, at_least: 1, p0: 0.9, p1: 0.9"),
		"rates 0.9 and 0.9 are not 0 < p0 < p1 < 1."},
	    {ONE("metric: recall, at_least: 1, p0: 0.1"), "p1"},
	    {ONE(GOOD ", p2: 0.95"), "p2 and p3 are given together."},
	    {ONE(GOOD ", p3: 0.95"), "p2 and p3 are given together."},
	    {ONE(GOOD ", p2: 0.9, p3: 0.95"),
		"rates 0.9, 0.9 and 0.95 are not p1 < p2 < p3 < 1."},
	    {ONE(GOOD ", p2: 0.95, p3: 1"), "are not p1 < p2 < p3 < 1."},
	    {SMALL "gates: [{name: a, algorithm: vote, " GOOD
		   "}, {name: a, algorithm: alg1, " GOOD "}]\n",
		"two gates are called \"a\"."},
	    {ONE(GOOD) "runs: 3\n", "a gate file has no `runs`"},
	    {ONE(GOOD) "sweep: {grid: {faults.count: [1, 2]}}\n",
		"a gate file has no `sweep`"},
	    {"figure: f\nalgorithms: [vot]\ngates: [{nam: a}]\n", "\"vot\""},
	    {"figure: f\nalgorithms: [vot]\ngates: [{nam: a}]\n", "\"nam\""},
	    {"- 3\n", "a spec is a map of keys."},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xp_gates g;
		struct sim_err e = {0};
		spec_write("x.yaml", cases[i].text);
		assert_int_equal(xp_gates_load(&g, spec_path("x.yaml"), NULL, 0,
				     &e),
		    SIM_EINVAL);
		if (!strstr(e.msg, cases[i].says))
			fail_msg("case %zu: no \"%s\" in \"%s\"", i,
			    cases[i].says, e.msg);
		xp_gates_free(&g);
	}
}

static int load_once(void *arg, struct sim_err *e)
{
	struct xp_gates g;
	int rc = xp_gates_load(&g, arg, NULL, 0, e);
	xp_gates_free(&g);
	return rc;
}

static void a_failed_allocation_leaks_nothing(void **state)
{
	char path[128];
	(void)state;
	spec_write("x.yaml",
	    SMALL "gates: [{name: a, algorithm: vote, metric: top_k_recall, "
		  "at_least: 1" RATES "]\n");
	snprintf(path, sizeof(path), "%s", spec_path("x.yaml"));
	test_each_alloc_fails(load_once, path);
}

/* --- runs ----------------------------------------------------------------- */

#define THREE                                                                  \
	"gates:\n"                                                             \
	"- {name: a, algorithm: cover, metric: n_flagged, at_most: 2, p0: "    \
	"0.3, "                                                                \
	"p1: 0.35}\n"                                                          \
	"- {name: b, algorithm: alg1, metric: precision, at_least: 0.5" RATES  \
	"- {name: c, algorithm: vote, metric: accuracy_all, unit: flow, "      \
	"p0: 0.5, p1: 0.6, max_runs: 40}\n"

/* The oracle: one run after the other, as far as any gate needs. */
static void run_one_by_one(struct xp_gates *g, struct xp_gate_state want[])
{
	double row[RES_N_TRIAL_METRICS + 3 * RES_N_ALGO_METRICS];
	struct xp_trial *t;
	int open = 1;
	assert_ok(xp_trial_open(&t, &g->spec, test_err()));
	for (size_t i = 0; i < g->n; i++)
		xp_gate_begin(&g->gate[i], &want[i]);
	for (uint32_t r = 0; open; r++) {
		assert_ok(xp_trial_run(t, 0, r, row, test_err()));
		open = 0;
		for (size_t i = 0; i < g->n; i++) {
			assert_ok(xp_gate_add(&g->gate[i], &want[i], row,
			    test_err()));
			open |= xp_gate_open(&g->gate[i], &want[i]);
		}
	}
	xp_trial_close(t);
}

static void any_number_of_workers_decides_the_same(void **state)
{
	struct xp_gate_state want[3], got[3];
	struct xp_gates g;
	(void)state;
	load_text(&g, SMALL THREE);
	run_one_by_one(&g, want);
	assert_true(want[0].n_runs > 32); /* more than one batch */
	for (unsigned workers = 1; workers <= 3; workers++) {
		assert_ok(xp_gates_run(&g, workers, 0, got, test_err()));
		assert_memory_equal(got, want, sizeof(want));
	}
	xp_gates_free(&g);
}

/* How many are drawn at once is seen by the room for their rows. Of a gate whose
 * runs are all good, or all bad, Wald's bound tells how many decide it. */
static void no_more_runs_are_drawn_than_any_outcome_needs(void **state)
{
	static const struct {
		const char *gate;
		unsigned n_runs, n_rows;
	} q[] = {
	    {"metric: precision, at_least: 0, p0: 0.3, p1: 0.35", 90, 90},
	    {"metric: precision, at_least: 2, p0: 0.65, p1: 0.7", 90, 90},
	    {"metric: precision, at_least: 0, p0: 0.3, p1: 0.35, max_runs: 40",
		40, 40},
	    {"metric: precision, at_least: 0, p0: 0.1, p1: 0.9", 7, 32},
	    /* Some are neither, and few more are needed then. */
	    {"metric: precision, at_least: 0.5, p0: 0.3, p1: 0.35", 123, 90},
	    {"metric: precision, at_least: 1, p0: 0.65, p1: 0.7", 111, 90},
	};
	const size_t bytes = sizeof(double) * res_row_doubles(3);
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct xp_gate_state got[1];
		struct xp_gates g;
		char text[1024];
		snprintf(text, sizeof(text),
		    SMALL "gates: [{name: b, algorithm: alg1, %s}]\n",
		    q[i].gate);
		load_text(&g, text);
		test_peak_alloc();
		assert_ok(xp_gates_run(&g, 1, 0, got, test_err()));
		const size_t n_rows = test_peak_alloc() / bytes;
		assert_int_equal(got[0].n_runs, q[i].n_runs);
		assert_in_range(n_rows, q[i].n_rows, q[i].n_rows + 3);
		xp_gates_free(&g);
	}
}

static void counting_decides_nothing(void **state)
{
	struct xp_gate_state s[3];
	struct xp_gates g;
	(void)state;
	load_text(&g, SMALL THREE);
	assert_ok(xp_gates_run(&g, 2, 333, s, test_err()));
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(s[i].n_runs, 333);
		assert_int_equal(s[i].verdict, SIM_SPRT_GO_ON);
	}
	assert_true(s[0].n_trials == 333 && s[0].n_good < 333);
	assert_true(s[2].n_trials > 333);
	xp_gates_free(&g);
}

static void a_run_that_fails_is_an_error_and_no_verdict(void **state)
{
	struct xp_gate_state s[1];
	struct xp_gates g;
	(void)state;
	load_text(&g,
	    "figure: f\nalgorithms: [vote, fails]\nfaults: {}\n"
	    "gates: [{name: a, algorithm: vote, metric: top_k_recall, "
	    "at_least: 1" RATES "]\n");
	assert_int_equal(xp_gates_run(&g, 2, 0, s, test_err()), SIM_EDEP);
	assert_non_null(strstr(test_err()->msg, "run "));
	assert_non_null(
	    strstr(test_err()->msg, "algorithm fails: it fails on purpose."));
	assert_int_equal(s[0].verdict, SIM_SPRT_GO_ON);
	xp_gates_free(&g);
}

/* --- the shipped gates ---------------------------------------------------- */

/* SET replaces an algorithm by a broken one under its label. */
static void load_shipped(struct xp_gates *g, const char *file, const char *set)
{
	char path[64], seed[64];
	const char *sets[] = {seed, set};
	snprintf(path, sizeof(path), "tests/accuracy/%s.yaml", file);
	snprintf(seed, sizeof(seed), "seed=%llu",
	    (unsigned long long)test_seed());
	assert_ok(xp_gates_load(g, path, sets, 2, test_err()));
	assert_true(g->n <= MAX_GATES);
}

static void keep_only(struct xp_gates *g, const char *name)
{
	for (size_t i = 0; i < g->n; i++)
		if (strcmp(g->gate[i].name, name) == 0) {
			g->gate[0] = g->gate[i];
			g->n = 1;
			return;
		}
	fail_msg("there is no gate \"%s\"", name);
}

/* False alarms: alpha = 1e-6 a gate. */
static void broken_algorithms_are_bad(void **state)
{
	static const struct {
		const char *file, *set, *gate;
	} cases[] = {
	    {"five_faults", "algorithms.0={name: reversed, label: vote}",
		"vote: 4 of the 5 rank among the first 5"},
	    {"one_fault", "algorithms.0={name: reversed, label: vote}",
		"vote: the link ranks first"},
	    {"one_fault", "algorithms.0={name: shifted, label: vote}",
		"vote: 90 % of flows that are no noise"},
	    {"one_fault", "algorithms.0={name: least, label: vote}",
		"vote: 99 % of its flows are blamed on it"},
	    {"five_faults", "algorithms.2.threshold=0.2",
		"removal: 4 of the 5 links are accused"},
	    {"one_fault", "algorithms.2.threshold=0.0001",
		"removal: at most 2 links are accused"},
	    {"one_fault", "algorithms.2.adjust=none",
		"removal: no other link is accused"},
	    {"five_faults",
		"algorithms.1={name: alg1, label: alg1, adjust: none}",
		"alg1: no other link is accused"},
	    {"ten_faults",
		"algorithms.3={name: alg1, label: cover, threshold: 0.2}",
		"cover: 8 of the 10 links are accused"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xp_gate_state s;
		struct xp_gates g;
		load_shipped(&g, cases[i].file, cases[i].set);
		keep_only(&g, cases[i].gate);
		assert_ok(xp_gates_run(&g, 2, 0, &s, test_err()));
		if (s.verdict != SIM_SPRT_BAD)
			fail_msg("seed %llu: %s does not catch %s",
			    (unsigned long long)test_seed(), cases[i].gate,
			    cases[i].set);
		xp_gates_free(&g);
	}
}

/* Votes of 1 instead of 1/h on each hop rank and blame as well as right ones,
 * so only the gate on how far the link leads can tell: it must, and the others
 * of that file must not cry. False alarms: beta = 1e-6 a gate. */
static void votes_of_one_a_hop_are_caught_by_their_lead(void **state)
{
	(void)state;
	struct xp_gate_state s[MAX_GATES];
	struct xp_gates g;
	load_shipped(&g, "one_fault", "algorithms.0={name: flat, label: vote}");
	assert_ok(xp_gates_run(&g, 2, 0, s, test_err()));
	for (size_t i = 0; i < g.n; i++) {
		const int leads = strstr(g.gate[i].name, "leads") != NULL;
		if (s[i].verdict != (leads ? SIM_SPRT_BAD : SIM_SPRT_GOOD))
			fail_msg("seed %llu: %s",
			    (unsigned long long)test_seed(), g.gate[i].name);
	}
	xp_gates_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_run_is_good_if_its_ratio_is_at_least_the_bound),
	    cmocka_unit_test(a_bound_may_be_an_upper_one),
	    cmocka_unit_test(a_run_that_measures_nothing_is_no_trial),
	    cmocka_unit_test(flows_are_trials_of_their_own),
	    cmocka_unit_test(a_metric_that_is_not_answered_is_an_error),
	    cmocka_unit_test(
		nothing_but_good_or_bad_runs_are_decided_as_wald_says),
	    cmocka_unit_test(after_max_runs_it_is_undecided),
	    cmocka_unit_test(wrong_verdicts_are_as_rare_as_stated),
	    cmocka_unit_test(too_high_is_as_bad_as_too_low),
	    cmocka_unit_test(a_side_that_is_decided_stays_so),
	    cmocka_unit_test(gates_are_read_with_their_defaults),
	    cmocka_unit_test(the_trials_own_metrics_need_no_algorithm),
	    cmocka_unit_test(mistakes_are_told_with_their_place),
	    cmocka_unit_test(a_failed_allocation_leaks_nothing),
	    cmocka_unit_test(any_number_of_workers_decides_the_same),
	    cmocka_unit_test(no_more_runs_are_drawn_than_any_outcome_needs),
	    cmocka_unit_test(counting_decides_nothing),
	    cmocka_unit_test(a_run_that_fails_is_an_error_and_no_verdict),
	    cmocka_unit_test(broken_algorithms_are_bad),
	    cmocka_unit_test(votes_of_one_a_hop_are_caught_by_their_lead),
	};
	return cmocka_run_group_tests_name("experiments/check/gate", tests,
	    spec_folder_make, spec_folder_remove);
}
