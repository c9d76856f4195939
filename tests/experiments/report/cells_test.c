/* tests/experiments/report/cells_test.c -- cells and numbers of a page.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/report/cells.h"

#include <unistd.h>

#include "experiments/report/markup.h"
#include "experiments/report/numbers.h"
#include "experiments/report/pick.h"
#include "experiments/sweep/trial.h"
#include "tests/rigs/random_cube.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

#define SPEC                                                                   \
	"figure: f\ntitle: \"<script>alert(1)</script>\"\nruns: 5\n"           \
	"topology: {n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, n_hosts: 3}\n"     \
	"traffic: {conns: 40, packets: 40}\nnoise: {rate: 1e-4}\n"             \
	"faults: {count: 2, rate: 0.02}\n"                                     \
	"algorithms: [alg1, {name: cover, label: \"<b>'c\\\"\"}]\n"            \
	"sweep: {grid: {faults.rate: [0.001, 0.01, 0.05]}}\n"                  \
	"smoke: {runs: 2}\n"

/* --- which ---------------------------------------------------------------- */

/* The least ratio of a run, by the definition. */
static double least(const struct res_cube *c, size_t place, size_t run)
{
	static const char *const names[] = {"accuracy_fault", "precision",
	    "recall", "top_k_recall"};
	double x = NAN;
	for (size_t a = 0; a < c->n_algos; a++)
		for (size_t i = 0; i < 4; i++) {
			const struct res_metric *m =
			    res_metric_find(names[i], NULL);
			const size_t at = res_row_doubles(a);
			const size_t p = place * c->n_along;
			const double y =
			    res_cube_value(c, p, run, at + m->num) /
			    res_cube_value(c, p, run, at + m->den);
			if (isfinite(y) && !(y >= x))
				x = y;
		}
	return x;
}

static void check_pick(const struct res_cube *c, const struct xp_picks *p,
    size_t i)
{
	const struct xp_picked *k = &p->one[i];
	const double x = least(c, k->place, k->run);
	assert_int_equal(res_cube_status(c, k->place * c->n_runs + k->run),
	    RES_DONE);
	if (isnan(x))
		assert_true(isnan(k->value));
	else
		assert_near(k->value, x, 0);
	if (k->is_first) {
		for (size_t run = 0; run < k->run; run++)
			assert_int_not_equal(res_cube_status(c,
						 k->place * c->n_runs + run),
			    RES_DONE);
		return;
	}
	assert_true(i > 0 && p->one[i - 1].place == k->place);
	assert_true(k->value < 1);
	if (!p->one[i - 1].is_first)
		assert_true(p->one[i - 1].value <= k->value);
}

/* None that was left out is worse than the worst that was taken. */
static void check_worst(const struct res_cube *c, const struct xp_picks *p,
    size_t i)
{
	const size_t place = p->one[i].place;
	double worst = NAN;
	for (size_t run = 0; run < c->n_runs; run++) {
		const double x = least(c, place, run);
		if (res_cube_status(c, place * c->n_runs + run) == RES_DONE &&
		    x < 1 && !(x >= worst))
			worst = x;
	}
	if (isnan(worst))
		return;
	const struct xp_picked *next = &p->one[i + 1];
	const double got = p->one[i].value <= worst ? p->one[i].value
	    : i + 1 < p->n && next->place == place  ? next->value
						    : NAN;
	assert_near(got, worst, 0);
}

static void first_and_worst_runs_are_picked(void **state)
{
	size_t n = 0;
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct res_cube c;
		struct xp_picks p;
		random_cube(&c, run);
		for (size_t most = 0; most <= 30; most = 2 * most + 1) {
			assert_ok(xp_pick_cells(&p, &c, most, test_err()));
			assert_true(p.n <= most);
			for (size_t i = 0; i < p.n; i++) {
				check_pick(&c, &p, i);
				if (p.one[i].is_first && most > 1)
					check_worst(&c, &p, i);
			}
			n += p.n;
			xp_picks_free(&p);
		}
		res_cube_free(&c);
	}
	assert_true(n > 1000);
}

/* Of equal ratios the first is told, and of equal runs the first is picked. */
static void of_equals_the_first_is_picked(void **state)
{
	struct res_cube c;
	struct xp_picks p;
	(void)state;
	plain_cube(&c, 1, 4);
	all_alike(&c, 8);
	for (size_t run = 0; run < 4; run++)
		for (size_t a = 0; a < c.n_algos; a++) {
			const size_t at = res_row_doubles(a);
			res_columns_put(&c.rows, run,
			    at + RES_ALGO_n_flagged_true, 8 - 4. * (run > 0));
			res_columns_put(&c.rows, run, at + RES_ALGO_n_top_true,
			    8 - 4. * (run > 0));
		}
	assert_ok(xp_pick_cells(&p, &c, 3, test_err()));
	assert_int_equal(p.n, 3);
	assert_int_equal(p.n_places, 1);
	assert_true(p.one[0].is_first && p.one[0].run == 0);
	assert_true(p.one[0].value == 1 && p.one[0].algo == 0);
	assert_string_equal(p.one[0].ratio, "accuracy_fault");
	for (size_t i = 1; i < 3; i++) {
		assert_true(!p.one[i].is_first && p.one[i].run == i);
		assert_true(p.one[i].value == .5 && p.one[i].algo == 0);
		assert_true(p.one[i].num == 4 && p.one[i].den == 8);
		assert_string_equal(p.one[i].ratio, "precision");
	}
	xp_picks_free(&p);
	res_cube_free(&c);
}

/* --- run again ------------------------------------------------------------ */

static void fill(struct res_cube *c, const char *text)
{
	struct xp_spec s;
	struct xp_trial *t;
	spec_open(&s, text);
	assert_ok(xp_spec_cube(&s, 0, 1, c, test_err()));
	assert_ok(xp_trial_open(&t, &s, test_err()));
	double *row = calloc(c->cell_doubles, sizeof(*row));
	for (size_t p = 0; p < s.n_points; p++)
		for (uint32_t run = 0; run < s.runs; run++) {
			assert_ok(xp_trial_run(t, p, run, row, test_err()));
			res_cube_put(c, p, run, RES_DONE, row);
		}
	free(row);
	xp_trial_close(t);
	xp_spec_free(&s);
}

static char *put_cells(const struct res_cube *c, struct xp_cells *x)
{
	struct mark_buffer b;
	x->id = "f";
	x->explain = "f.yaml";
	x->folder = "";
	assert_ok(mark_open(&b, test_err()));
	const int rc = xp_cells_put(b.out, c, x, test_err());
	assert_ok(mark_close(&b, rc, test_err()));
	return b.text;
}

static size_t count_of(const char *text, const char *word)
{
	size_t n = 0;
	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

static void cells_have_the_numbers_of_the_file(void **state)
{
	struct xp_cells x = {.most = 12, .max_bytes = SIZE_MAX};
	struct res_cube c;
	(void)state;
	fill(&c, SPEC);
	char *a = put_cells(&c, &x);
	assert_true(x.n_shown >= 3);
	assert_int_equal(x.n_unlike, 0);
	assert_int_equal(x.n_left, 0);
	assert_int_equal(count_of(a, "<details class=\"cell\""), x.n_shown);
	assert_int_equal(count_of(a, "class=\"alike\""), x.n_shown);
	assert_int_equal(count_of(a, "culprit explain f.yaml --point"),
	    x.n_shown);
	assert_int_equal(count_of(a, "<summary>The same in words</summary>"),
	    x.n_shown);
	/* One network, however many cells. */
	assert_int_equal(count_of(a, "<defs>"), 1);
	assert_null(strstr(a, "<b>"));
	struct xp_cells y = {.most = 12, .max_bytes = SIZE_MAX};
	char *b = put_cells(&c, &y);
	assert_string_equal(a, b);
	free(a);
	free(b);
	res_cube_free(&c);
}

/* Numbers of code that is another one now must not pass for the figure's. */
static void a_cell_that_comes_out_otherwise_says_so(void **state)
{
	struct xp_cells x = {.most = 12, .max_bytes = SIZE_MAX};
	struct res_cube c;
	(void)state;
	fill(&c, SPEC);
	/* Run 0 of the second point, in a number that no picking looks at. */
	res_columns_put(&c.rows, 1 * c.n_runs + 0, RES_TRIAL_n_drops,
	    res_cube_value(&c, 1, 0, RES_TRIAL_n_drops) + 1);
	char *a = put_cells(&c, &x);
	assert_int_equal(x.n_unlike, 1);
	assert_int_equal(count_of(a, "it has OTHER numbers"), 1);
	free(a);
	res_cube_free(&c);
}

static void cells_keep_to_their_room(void **state)
{
	struct res_cube c;
	size_t last = 0;
	(void)state;
	fill(&c, SPEC);
	for (size_t room = 0; room < 400000; room += 20000) {
		struct xp_cells x = {.most = 12, .max_bytes = room};
		char *a = put_cells(&c, &x);
		/* What is told beside cells is some lines. */
		assert_true(strlen(a) < room + 3000);
		assert_true(x.n_shown >= last);
		last = x.n_shown;
		if (room == 0)
			assert_true(x.n_shown == 0 && x.n_left > 0);
		char told[80];
		snprintf(told, sizeof(told), ">%zu of %zu cells are in this",
		    x.n_shown, res_cube_cells(&c));
		assert_non_null(strstr(a, told));
		snprintf(told, sizeof(told), "; %zu more of these had no room",
		    x.n_left);
		assert_int_equal(strstr(a, told) != NULL, x.n_left > 0);
		free(a);
	}
	assert_true(last > 3);
	res_cube_free(&c);
}

static void a_spec_that_cannot_run_is_told(void **state)
{
	struct xp_cells x = {.most = 12, .max_bytes = SIZE_MAX};
	struct res_cube c;
	(void)state;
	fill(&c, SPEC);
	c.spec[strcspn(c.spec, "\n") + 1] = 'T'; /* title -> Title */
	char *a = put_cells(&c, &x);
	assert_int_equal(x.n_shown, 0);
	assert_non_null(strstr(a, "can't be run by this build"));
	free(a);
	res_cube_free(&c);
}

static void overrides_are_those_of_the_results(void **state)
{
	static const char *const set[] = {"traffic.conns=10", "faults.count=1"};
	struct xp_spec s, again;
	struct res_cube c;
	(void)state;
	spec_write("x.yaml", SPEC);
	assert_ok(xp_spec_load(&s, spec_path("x.yaml"), 1, set, 2, test_err()));
	assert_ok(xp_spec_cube(&s, 0, 1, &c, test_err()));
	assert_ok(xp_spec_load_again(&again, &c, "", test_err()));
	assert_int_equal(again.runs, 2);
	assert_string_equal(again.overrides, s.overrides);
	assert_int_equal(again.n_points, s.n_points);
	struct xp_config config = {0};
	assert_ok(xp_spec_point(&again, 0, &config, test_err()));
	assert_int_equal(config.scene.group[0].count, 1);
	xp_config_free(&config);
	xp_spec_free(&again);
	/* A note of a GraphML file that is not there is one of another. */
	free(c.overrides);
	c.overrides = strdup("--smoke\ntopology.file n.graphml fnv 0");
	assert_int_equal(xp_spec_load_again(&again, &c, "", test_err()),
	    SIM_EMISMATCH);
	xp_spec_free(&again);
	xp_spec_free(&s);
	res_cube_free(&c);
}

/* Results as they are, of a spec that is not run: each cell has measured
 * nothing. */
static void fill_nothing(struct res_cube *c, const char *text)
{
	struct xp_spec s;
	spec_open(&s, text);
	assert_ok(xp_spec_cube(&s, 0, 1, c, test_err()));
	double *row = calloc(c->cell_doubles, sizeof(*row));
	for (size_t i = 0; i < c->cell_doubles; i++)
		row[i] = NAN;
	for (size_t p = 0; p < s.n_points; p++)
		for (uint32_t run = 0; run < s.runs; run++)
			res_cube_put(c, p, run, RES_DONE, row);
	free(row);
	xp_spec_free(&s);
}

static void has(const char *text, const char *want)
{
	if (!strstr(text, want))
		fail_msg("no \"%s\" in\n%s", want, text);
}

/* What was overridden is told to a shell; files of networks are not. */
static void the_command_is_quoted_for_a_shell(void **state)
{
	struct xp_cells x = {.most = 1, .max_bytes = SIZE_MAX};
	struct res_cube c;
	struct mark_buffer b;
	(void)state;
	fill_nothing(&c,
	    "figure: f\nalgorithms: [blackhole]\nplane: pingmesh\nruns: 2\n"
	    "smoke: {runs: 1}\n");
	free(c.overrides);
	c.overrides = strdup("--smoke\ntitle=it's <\ntopology.file n fnv 0\n"
			     "runs=3,[4]\nseed=7");
	x.id = "f";
	x.folder = "";
	x.explain = "a b.yaml";
	assert_ok(mark_open(&b, test_err()));
	assert_ok(mark_close(&b, xp_cells_put(b.out, &c, &x, test_err()),
	    test_err()));
	/* The file was of another network, so that no cell is run. */
	has(b.text, "can't be run by this build");
	free(b.text);
	free(c.overrides);
	c.overrides = strdup("--smoke\ntitle=it's <\nseed=7");
	x.n_shown = x.n_left = 0;
	assert_ok(mark_open(&b, test_err()));
	assert_ok(mark_close(&b, xp_cells_put(b.out, &c, &x, test_err()),
	    test_err()));
	has(b.text,
	    "<p class=\"note\">Cells of probes and of real networks are not "
	    "run for a page. This shows one:</p>\n<code class=\"run\">culprit "
	    "explain &#39;a b.yaml&#39; --smoke --set &#39;title=it&#39;\\"
	    "&#39;&#39;s &lt;&#39; --set seed=7 --point 0 --run 0 -o cell.svg"
	    "</code>\n</div>\n");
	assert_true(x.n_shown == 0 && x.n_left == 0);
	free(b.text);
	res_cube_free(&c);
}

static void a_run_that_measured_nothing_is_only_the_first(void **state)
{
	struct xp_cells x = {.most = 4, .max_bytes = SIZE_MAX};
	struct res_cube c;
	(void)state;
	fill(&c,
	    "figure: f\nruns: 3\nnoise: {rate: 0}\nfaults: {count: 0}\n"
	    "topology: {n_pods: 1, n_tors: 2, n_t1: 1, n_hosts: 1}\n"
	    "traffic: {conns: 2, packets: 2}\nalgorithms: [vote]\n");
	char *a = put_cells(&c, &x);
	assert_int_equal(x.n_shown, 1);
	has(a, "data-point-text=\"0\" data-run-text=\"0: the first run\">\n");
	has(a, "<summary>point 0, run 0 <span>the first run</span>");
	/* Of one algorithm none can be chosen. */
	assert_null(strstr(a, "<fieldset"));
	free(a);
	res_cube_free(&c);
}

/* Of six algorithms the last is the worst, and has the fourth column. */
static void the_algorithm_that_was_picked_has_a_column(void **state)
{
	struct xp_cells x = {.most = 2, .max_bytes = SIZE_MAX};
	struct res_cube c;
	(void)state;
	fill(&c,
	    "figure: f\nruns: 1\nfaults: {count: 1, rate: 0.05}\n"
	    "topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 1, n_hosts: 2}\n"
	    "traffic: {conns: 40, packets: 40}\nalgorithms: [vote, {name: "
	    "vote, label: b}, {name: vote, label: c}, {name: vote, label: d}, "
	    "{name: vote, label: e}, {name: vote, label: f}]\n");
	for (size_t a = 0; a < 6; a++)
		for (size_t i = 0; i < RES_N_ALGO_METRICS; i++)
			res_columns_put(&c.rows, 0, res_row_doubles(a) + i,
			    i == RES_ALGO_n_flagged_true  ? 5 - (double)a
				: i == RES_ALGO_n_flagged ? 5
							  : NAN);
	char *a = put_cells(&c, &x);
	has(a, "the first run; its least ratio, precision of f is 0 (0 of 5)");
	has(a, "value=\"2\"> c</label>\n<label>");
	has(a, "value=\"3\"> f</label>\n</fieldset>");
	has(a, "<p class=\"note\">4 of 6 algorithms are told.</p>\n");
	assert_int_equal(count_of(a, " checked>"), 1);
	assert_int_equal(x.n_unlike, 1);
	free(a);
	res_cube_free(&c);
}

static void a_switch_has_no_flows_of_its_own(void **state)
{
	struct xp_cells x = {.most = 1, .max_bytes = SIZE_MAX};
	struct res_cube c;
	(void)state;
	fill(&c,
	    "figure: f\nruns: 1\nfaults: {kind: black_hole_1, at: [tor1], "
	    "entries: 0.5}\nplane: exact\n"
	    "topology: {n_pods: 1, n_tors: 2, n_t1: 1, n_hosts: 2}\n"
	    "traffic: {conns: 20, packets: 20}\nalgorithms: [vote]\n");
	char *a = put_cells(&c, &x);
	has(a,
	    "<tr><td><span class=\"badge bad\">A</span></td><th "
	    "scope=\"row\">tor1</th><td>black hole 1, 0.5 of entries</td><td>"
	    "</td><td></td><td>");
	free(a);
	res_cube_free(&c);
}

/* The first group leaves two links to the second in every other run. */
static void a_cell_that_cannot_run_is_told(void **state)
{
	struct xp_cells x = {.most = 2, .max_bytes = SIZE_MAX};
	struct res_cube c;
	(void)state;
	fill_nothing(&c,
	    "figure: f\nseed: 4\nruns: 1\nalgorithms: [vote]\nplane: exact\n"
	    "topology: {n_pods: 1, n_tors: 2, n_t1: 1, n_hosts: 1}\n"
	    "faults: [{count: 1, rate: 0.1, classes: [host-tor, tor-host]}, "
	    "{count: 2, rate: 0.1, classes: [tor-host]}]\n");
	char *a = put_cells(&c, &x);
	has(a,
	    "<p class=\"note\">Point 0, run 0 can't be shown: faults: fault "
	    "group 1: 2 links are to fail, but the classes named have 1 left "
	    "by "
	    "earlier groups.</p>\n");
	assert_true(x.n_shown == 0 && x.n_left == 0);
	free(a);
	res_cube_free(&c);
}

static void another_number_of_points_is_told(void **state)
{
	struct xp_cells x = {.most = 12, .max_bytes = SIZE_MAX};
	struct res_cube c;
	(void)state;
	fill_nothing(&c, SPEC);
	memcpy(strstr(c.spec, ", 0.05]}}"), "]}}      ", 9);
	char *a = put_cells(&c, &x);
	assert_string_equal(a,
	    "<div class=\"cells\" data-figure=\"f\"><h3>One cell</h3>\n<p "
	    "class=\"note\">The spec of these results has another number of "
	    "points for this build.</p>\n</div>\n");
	assert_int_equal(x.n_shown, 0);
	free(a);
	res_cube_free(&c);
}

static int cells_once(void *arg, struct sim_err *e)
{
	struct xp_cells x = {.id = "f",
	    .explain = "f.yaml",
	    .folder = "",
	    .most = 2,
	    .max_bytes = SIZE_MAX};
	struct mark_buffer b;
	int rc = mark_open(&b, e);
	rc = mark_close(&b, xp_cells_put(b.out, arg, &x, e), e);
	if (rc == 0)
		assert_int_equal(x.n_shown, 1);
	free(b.text);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	struct res_cube c;
	(void)state;
	fill(&c,
	    "figure: f\nruns: 1\nfaults: {count: 1, rate: 0.05}\n"
	    "topology: {n_pods: 1, n_tors: 2, n_t1: 1, n_hosts: 1}\n"
	    "traffic: {conns: 10, packets: 10}\nalgorithms: [vote]\n");
	test_each_alloc_fails(cells_once, &c);
	res_cube_free(&c);
}

/* --- numbers -------------------------------------------------------------- */

static size_t up_to(size_t n)
{
	return n < XP_NUMBERS_ROWS ? n : XP_NUMBERS_ROWS;
}

static void tables_have_a_row_a_point_and_algorithm(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 60; run++) {
		struct mark_buffer b;
		struct res_cube c;
		random_cube(&c, run);
		assert_ok(mark_open(&b, test_err()));
		const int rc = xp_numbers_put(b.out, &c, "x.h5", test_err());
		assert_ok(mark_close(&b, rc, test_err()));
		const size_t n = count_of(b.text, "<tr>"),
			     n_tables = count_of(b.text, "<table");
		const size_t all =
		    up_to(c.n_points * c.n_algos) + up_to(c.n_points) + 2;
		/* Without any number of an algorithm there is no table of
		 * them. */
		if (n_tables == 2)
			assert_int_equal(n, all);
		else
			assert_int_equal(n, up_to(c.n_points) + 1);
		assert_int_equal(n, count_of(b.text, "</tr>"));
		free(b.text);
		res_cube_free(&c);
	}
}

static void a_ratio_stands_with_its_interval(void **state)
{
	struct mark_buffer b;
	struct res_cube c;
	(void)state;
	plain_cube(&c, 1, 1);
	res_cube_set_row(&c, 0, NULL);
	res_columns_put(&c.rows, 0,
	    res_row_doubles(0) + RES_ALGO_n_flagged_true, 3);
	res_columns_put(&c.rows, 0, res_row_doubles(0) + RES_ALGO_n_flagged, 4);
	res_columns_put(&c.rows, 0, RES_TRIAL_n_faults, 7);
	assert_ok(mark_open(&b, test_err()));
	const int rc = xp_numbers_put(b.out, &c, "x.h5", test_err());
	assert_ok(mark_close(&b, rc, test_err()));
	/* Clopper and Pearson's for 3 of 4, as tables of it have. */
	assert_non_null(strstr(b.text,
	    "<td class=\"num\">0.75 <small>[0.1941, 0.9937]</small></td>"));
	assert_non_null(strstr(b.text, ">n_faults</th>"));
	assert_null(strstr(b.text, ">recall</th>"));
	free(b.text);
	res_cube_free(&c);
}

/* As many rows as there is room for, and where all are. */
static void of_many_rows_the_first_are_told(void **state)
{
	(void)state;
	for (size_t more = 0; more < 2; more++) {
		const size_t n = XP_NUMBERS_ROWS + more;
		struct mark_buffer b;
		struct res_cube c;
		char want[160];
		plain_cube(&c, n, 1);
		for (size_t p = 0; p < n; p++)
			res_cube_set_row(&c, p, NULL);
		for (size_t p = 0; p < n; p++)
			res_columns_put(&c.rows, p, RES_TRIAL_n_faults, 7);
		assert_ok(mark_open(&b, test_err()));
		assert_ok(mark_close(&b,
		    xp_numbers_put(b.out, &c, "<x>.h5", test_err()),
		    test_err()));
		snprintf(want, sizeof(want),
		    "<p class=\"note\">The first %d of %zu rows; all are in "
		    "<code>culprit table &lt;x&gt;.h5</code>.</p>\n",
		    XP_NUMBERS_ROWS, n);
		assert_int_equal(strstr(b.text, want) != NULL, more);
		assert_int_equal(count_of(b.text,
				     "<p class=\"note\">The first"),
		    more);
		assert_int_equal(count_of(b.text, "<tr>"), XP_NUMBERS_ROWS + 1);
		free(b.text);
		res_cube_free(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(first_and_worst_runs_are_picked),
	    cmocka_unit_test(of_equals_the_first_is_picked),
	    cmocka_unit_test(cells_have_the_numbers_of_the_file),
	    cmocka_unit_test(a_cell_that_comes_out_otherwise_says_so),
	    cmocka_unit_test(cells_keep_to_their_room),
	    cmocka_unit_test(a_spec_that_cannot_run_is_told),
	    cmocka_unit_test(the_command_is_quoted_for_a_shell),
	    cmocka_unit_test(a_run_that_measured_nothing_is_only_the_first),
	    cmocka_unit_test(the_algorithm_that_was_picked_has_a_column),
	    cmocka_unit_test(a_switch_has_no_flows_of_its_own),
	    cmocka_unit_test(a_cell_that_cannot_run_is_told),
	    cmocka_unit_test(another_number_of_points_is_told),
	    cmocka_unit_test(each_allocation_may_fail),
	    cmocka_unit_test(overrides_are_those_of_the_results),
	    cmocka_unit_test(tables_have_a_row_a_point_and_algorithm),
	    cmocka_unit_test(a_ratio_stands_with_its_interval),
	    cmocka_unit_test(of_many_rows_the_first_are_told),
	};
	return cmocka_run_group_tests_name("experiments/report/cells", tests,
	    spec_folder_make, spec_folder_remove);
}
