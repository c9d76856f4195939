/* tests/experiments/arena/tune_test.c -- a search for parameters, and its scores.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/tune.h"

#include "algos/rivals/flock.h"
#include "experiments/sweep/trial.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

static struct algo_flock_params tune_params;
static const struct xp_algo tune_flock = {.ops = &algo_flock,
    .label = "flock",
    .params = &tune_params};

static void tune_open(struct xp_tune *t)
{
	*t = (struct xp_tune){.algo = &tune_flock};
	assert_ok(
	    sim_field_defaults(algo_flock.params, &tune_params, test_err()));
}

/* --- the search ----------------------------------------------------------- */

/* A hill whose top is at p_bad 4e-3, p_good 1e-4, prior -20; all of it refused
 * where p_bad is less than 1e-3, and low for the algorithm as it is. */
static int tune_hill(void *arg, struct xp_tune *t, size_t first, size_t n,
    struct sim_err *e)
{
	size_t *calls = arg;
	(void)e;
	for (size_t i = first; i < first + n; i++) {
		const double *x = t->tried[i].value;
		++*calls;
		if (i == 0)
			t->tried[i].f = 0.1;
		else if (x[0] < 1e-3)
			t->tried[i].f = NAN;
		else
			t->tried[i].f = 1 - pow(log(x[0] / 4e-3), 2) / 9 -
			    pow(log(x[1] / 1e-4), 2) / 9 -
			    pow(log(x[2] / -20), 2) / 9;
	}
	return 0;
}

static void the_top_of_a_hill_is_found(void **state)
{
	(void)state;
	struct xp_tune t;
	size_t calls = 0;
	tune_open(&t);
	assert_ok(xp_tune_usual(&t, test_err()));
	assert_int_equal(t.n_keys, 3);
	assert_ok(xp_tune_search(&t, 120, tune_hill, &calls, test_err()));
	assert_int_equal(calls, 121);
	assert_int_equal(t.n, 121);
	const struct xp_tune_try *best = &t.tried[t.best];
	for (size_t i = 0; i < t.n; i++)
		assert_false(t.tried[i].f > best->f);
	/* A grid of 120 points is 5 a side: .93 at its worst. */
	assert_true(best->f > 0.97);
	for (size_t i = 1; i < t.n; i++)
		for (size_t k = 0; k < 3; k++) {
			char text[32];
			const double x = t.tried[i].value[k];
			assert_true(x >= t.key[k].from && x <= t.key[k].to);
			snprintf(text, sizeof(text), "%.3g", x);
			assert_true(strtod(text, NULL) == x);
		}
	struct xp_tune again;
	tune_open(&again);
	assert_ok(xp_tune_usual(&again, test_err()));
	assert_ok(xp_tune_search(&again, 120, tune_hill, &calls, test_err()));
	assert_memory_equal(again.tried, t.tried, t.n * sizeof(t.tried[0]));
	xp_tune_free(&again);
	xp_tune_free(&t);
}

/* Nothing better: as it is, which is the first of equals. */
static int tune_flat(void *arg, struct xp_tune *t, size_t first, size_t n,
    struct sim_err *e)
{
	const double *f = arg;
	(void)e;
	for (size_t i = first; i < first + n; i++)
		t->tried[i].f = *f;
	return 0;
}

static void nothing_better_leaves_it_as_it_is(void **state)
{
	(void)state;
	struct xp_tune t;
	double f = 0.5;
	tune_open(&t);
	assert_ok(xp_tune_usual(&t, test_err()));
	assert_ok(xp_tune_search(&t, 10, tune_flat, &f, test_err()));
	assert_int_equal(t.best, 0);
	xp_tune_free(&t);
	f = NAN;
	tune_open(&t);
	assert_ok(xp_tune_usual(&t, test_err()));
	struct sim_err e = {0};
	assert_int_equal(SIM_EINVAL, xp_tune_search(&t, 10, tune_flat, &f, &e));
	assert_non_null(strstr(e.msg, "refuses all"));
	xp_tune_free(&t);
}

/* In the middle first, which is that of orders of magnitude where 0 is not in the
 * range. */
static void the_middle_of_a_range_is_tried_first(void **state)
{
	static const struct {
		const char *text;
		double middle, first_half;
	} range[] = {{"p_bad=0..0.5", .25, .125},
	    {"p_bad=0.01..0.25", .05, .0224}, {"prior=-100..0", -50, -75},
	    {"prior=-100..-1", -10, -31.6}};
	(void)state;
	for (size_t i = 0; i < sizeof(range) / sizeof(range[0]); i++) {
		struct xp_tune t;
		double f = 0.5;
		tune_open(&t);
		assert_ok(xp_tune_add(&t, range[i].text, test_err()));
		assert_ok(xp_tune_search(&t, 10, tune_flat, &f, test_err()));
		assert_true(
		    fabs(t.tried[1].value[0] / range[i].middle - 1) < 1e-9);
		assert_true(
		    fabs(t.tried[2].value[0] / range[i].first_half - 1) < 1e-9);
		xp_tune_free(&t);
	}
}

static void ranges_are_checked(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} bad[] = {{"p_bad", "is not NAME=FROM..TO"},
	    {"p_bad=1e-3", "is not NAME=FROM..TO"},
	    {"p_bad=x..1", "is not NAME=FROM..TO"},
	    {"p_bda=0.1..1", "no parameter \"p_bda\""},
	    {"beam=1..2", "only numbers can be tuned"},
	    {"p_bad=0.1...x", "is not NAME=FROM..TO"},
	    {"p_bad=0.2..1e-1", "must ascend"},
	    {"p_bad=0.1..0.1", "p_bad of flock from 0.1 to 0.1: must ascend"},
	    {"p_bad=-0.1..0.1", "must ascend within [0, 0.999]"},
	    {"p_bad=0.1..2", "[0, 0.999]"},
	    {"p_good=1e-4..1e-3", "p_good is given twice"}};
	struct xp_tune t;
	tune_open(&t);
	assert_ok(xp_tune_add(&t, "p_good=1e-5..1e-4", test_err()));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_err e = {0};
		assert_true(xp_tune_add(&t, bad[i].text, &e) < 0);
		if (!strstr(e.msg, bad[i].says))
			fail_msg("%s: %s", bad[i].text, e.msg);
	}
	assert_int_equal(t.n_keys, 1);
	assert_ok(xp_tune_add(&t, "p_bad=0..0.999", test_err()));
	assert_int_equal(t.n_keys, 2);
	xp_tune_free(&t);
}

/* 255 bytes are taken apart, one more is too long. */
static void a_range_has_a_length(void **state)
{
	struct xp_tune t;
	struct sim_err e;
	char text[257];
	(void)state;
	tune_open(&t);
	memset(text, 'x', sizeof(text) - 1);
	text[256] = '\0';
	assert_int_equal(xp_tune_add(&t, text, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is too long.");
	text[255] = '\0';
	assert_int_equal(xp_tune_add(&t, text, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "is not NAME=FROM..TO"));
	xp_tune_free(&t);
}

static void what_is_to_be_pasted_names_all(void **state)
{
	(void)state;
	const struct xp_tune_try x = {.value = {0.00125, 1e-4}};
	struct xp_tune t;
	char buf[256];
	tune_open(&t);
	assert_ok(xp_tune_add(&t, "p_bad=1e-3..1e-2", test_err()));
	assert_ok(xp_tune_add(&t, "p_good=1e-5..1e-4", test_err()));
	struct sim_text out = {buf, sizeof(buf), 0};
	xp_tune_put(&t, &x, "flock", ", tuned", &out);
	assert_string_equal(buf,
	    "{name: flock, p_bad: 0.00125, p_good: 0.0001, label: \"flock, "
	    "tuned\"}");
	out = (struct sim_text){buf, sizeof(buf), 0};
	xp_tune_put(&t, &x, "{name: flock, beam: 2 }", ", tuned", &out);
	assert_string_equal(buf,
	    "{name: flock, beam: 2, p_bad: 0.00125, p_good: 0.0001, label: "
	    "\"flock, tuned\"}");
	xp_tune_free(&t);
}

static void the_other_half_has_another_seed(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 1000; seed++) {
		assert_true(xp_tune_seed(seed) != seed);
		assert_true(xp_tune_seed(seed) != xp_tune_seed(seed + 1));
		assert_true(xp_tune_seed(seed) < UINT64_C(1) << 48);
	}
}

/* --- scores on specs ------------------------------------------------------ */

#define TUNE_SPEC                                                              \
	"figure: f\nruns: 4\nplane: telemetry\n"                               \
	"topology: { kind: fat_tree, k: 4, oversub: 2 }\n"                     \
	"noise: { rate: {uniform: [0, 1e-4]} }\n"                              \
	"faults: { count: 2, rate: {uniform: [0.001, 0.01]}, pick: link }\n"   \
	"telemetry: { kinds: [int], flows: 60 }\n"

/* Mean F of the windows of a spec by the sweep's own way. */
static double tune_mean_f(const char *text)
{
	struct xp_spec s;
	struct xp_trial *t;
	double row[RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS], sum = 0;
	size_t n = 0;
	spec_open(&s, text);
	assert_ok(xp_trial_open(&t, &s, test_err()));
	for (size_t p = 0; p < s.n_points; p++)
		for (uint32_t run = 0; run < s.runs; run++) {
			assert_ok(xp_trial_run(t, p, run, row, test_err()));
			const double f = row[RES_N_TRIAL_METRICS + RES_ALGO_f];
			if (isnan(f))
				continue;
			sum += f;
			n++;
		}
	xp_trial_close(t);
	xp_spec_free(&s);
	return sum / (double)n;
}

/* Of two specs, of which one has points without a fault, which count for
 * nothing; values that cannot go together are refused by themselves. */
static void scores_are_those_of_sweeps(void **state)
{
	(void)state;
	static const char *const how[] = {"flock",
	    "{name: flock, p_bad: 0.001, p_good: 0.0001}",
	    "{name: flock, p_bad: 0.01, p_good: 0.0005}"};
	static const double values[][2] = {{0, 0}, {1e-3, 1e-4}, {1e-2, 5e-4},
	    {1e-4, 5e-4}};
	static const char *const sweeps[] = {"seed: 3\n",
	    "seed: 4\nsweep: { grid: { faults.count: [0, 1, 3] } }\n"};
	struct xp_spec s[2], *const specs[] = {&s[0], &s[1]};
	struct xp_tune_specs on = {specs, 2};
	struct xp_tune t;
	struct xp_tune_try tried[4] = {0};
	for (unsigned i = 0; i < 2; i++) {
		char text[2048];
		snprintf(text, sizeof(text), "%s%salgorithms: [flock]\n",
		    TUNE_SPEC, sweeps[i]);
		spec_open(&s[i], text);
	}
	tune_open(&t);
	assert_ok(xp_tune_add(&t, "p_bad=1e-4..1e-2", test_err()));
	assert_ok(xp_tune_add(&t, "p_good=1e-5..1e-3", test_err()));
	for (unsigned i = 0; i < 4; i++)
		memcpy(tried[i].value, values[i], sizeof(values[i]));
	t.tried = tried;
	t.n = 4;
	assert_ok(xp_tune_on(&on, &t, 0, 4, test_err()));
	assert_int_equal(t.n_windows, 4 + 8);
	for (unsigned i = 0; i < 3; i++) {
		double want = 0;
		for (unsigned k = 0; k < 2; k++) {
			char text[2048];
			snprintf(text, sizeof(text), "%s%salgorithms: [%s]\n",
			    TUNE_SPEC, sweeps[k], how[i]);
			want += tune_mean_f(text) / 2;
		}
		assert_near(tried[i].f, want, 1e-12);
	}
	assert_true(isnan(tried[3].f));
	for (unsigned i = 0; i < 2; i++)
		xp_spec_free(&s[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_top_of_a_hill_is_found),
	    cmocka_unit_test(nothing_better_leaves_it_as_it_is),
	    cmocka_unit_test(the_middle_of_a_range_is_tried_first),
	    cmocka_unit_test(ranges_are_checked),
	    cmocka_unit_test(a_range_has_a_length),
	    cmocka_unit_test(what_is_to_be_pasted_names_all),
	    cmocka_unit_test(the_other_half_has_another_seed),
	    cmocka_unit_test(scores_are_those_of_sweeps),
	};
	return cmocka_run_group_tests_name("experiments/arena/tune", tests,
	    spec_folder_make, spec_folder_remove);
}
