/* tests/results/picture_test.c -- what is drawn is the table, and all of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/picture.h"

#include "results/sheet.h"
#include "sim/text.h"
#include "tests/rigs/random_cube.h"
#include "tests/test.h"

static char *text(const char *s)
{
	char *copy = NULL;
	assert_ok(sim_dup(&copy, s, test_err()));
	return copy;
}

/* --- cubes by hand ---------------------------------------------------------*/

/* Axes as texts: "faults.rate=0.1 0.2", the second coordinate of a zip behind a
 * comma: "a=1 2,b=x y". */
static void add_axis(struct res_cube *c, const char *what)
{
	struct res_axis *x = &c->axis[c->n_axes++];
	char copy[256], *rest = copy, *coord, *word;
	snprintf(copy, sizeof(copy), "%s", what);
	x->coord = calloc(4, sizeof(x->coord[0]));
	while ((coord = strsep(&rest, ","))) {
		struct res_coord *k = &x->coord[x->n_coords++];
		k->name = text(strsep(&coord, "="));
		k->unit = text("1");
		k->doc = text("");
		k->number = calloc(64, sizeof(double));
		k->text = calloc(64, sizeof(char *));
		int is_number = 1;
		for (x->n = 0; (word = strsep(&coord, " ")); x->n++) {
			k->text[x->n] = text(word);
			is_number &=
			    sim_parse_f64(word, &k->number[x->n], NULL) == 0;
		}
		if (is_number) {
			for (size_t i = 0; i < x->n; i++)
				free(k->text[i]);
			free(k->text);
			k->text = NULL;
		} else {
			free(k->number);
			k->number = NULL;
		}
	}
	c->n_points *= x->n;
}

/* One done run a point, in which nothing was measured; LAST is NULL. */
static void make_cube(struct res_cube *c, const char *const algos[],
    const char *const axes[])
{
	*c = (struct res_cube){.n_points = 1, .n_runs = 1};
	c->figure = text("made");
	c->spec = text("figure: made\n");
	c->spec_bytes = strlen(c->spec);
	c->overrides = text("");
	c->title = text("");
	c->paper = text("");
	c->algo = calloc(8, sizeof(c->algo[0]));
	c->axis = calloc(8, sizeof(c->axis[0]));
	while (*algos)
		c->algo[c->n_algos++] = text(*algos++);
	while (*axes)
		add_axis(c, *axes++);
	assert_ok(res_cube_alloc(c, test_err()));
	for (size_t i = 0; i < c->n_points; i++)
		c->status[i] = RES_DONE;
}

/* Of each algorithm accuracy, its number and the point's of 1000. */
static void measure(struct res_cube *c, unsigned num, unsigned den)
{
	for (size_t p = 0; p < c->n_points; p++)
		for (size_t a = 0; a < c->n_algos; a++) {
			const size_t at = res_row_doubles(a);
			res_columns_put(&c->rows, p, at + den, 1000);
			res_columns_put(&c->rows, p, at + num,
			    (double)(100 * a + p));
		}
}

static void measured_cube(struct res_cube *c, const char *const algos[],
    const char *const axes[])
{
	make_cube(c, algos, axes);
	measure(c, RES_ALGO_hits_fault, RES_ALGO_flows_fault);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* --- properties ------------------------------------------------------------*/

static void arrange(struct res_picture *p, const struct res_cube *c,
    const struct res_wish *w)
{
	assert_ok(res_picture_arrange(p, c, w, test_err()));
}

static size_t index_of(char *const *words, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return n;
}

/* How often each number stands in the picture, less how often in those columns
 * of the sheet whose metric it draws. */
static double balance(const struct res_picture *p, const struct res_cube *c,
    const struct res_sheet *s)
{
	double sum = 0;
	const struct res_metric *done[RES_MAX_PANELS];
	size_t n_done = 0;
	for (size_t i = 0; i < p->n_dots; i++)
		sum += sin(1 + (p->is_heatmap ? p->dot[i].value : p->dot[i].y));
	for (size_t i = 0; i < p->n_panels; i++) {
		const struct res_metric *m = p->panel[i].metric;
		size_t k = 0;
		while (k < n_done && done[k] != m)
			k++;
		if (k < n_done)
			continue;
		done[n_done++] = m;
		for (size_t a = 0; a <= c->n_algos; a++) {
			const char *algo = a < c->n_algos ? c->algo[a] : NULL;
			const size_t at = res_sheet_find(s, algo, m->name, "");
			for (size_t row = 0; row < s->n_rows; row++) {
				double x = res_sheet_number(s, row, at);
				sum -= isnan(x) ? 0 : sin(1 + x);
			}
		}
	}
	return sum;
}

/* Nothing is joined over a third thing: a curve has one dot at a place. */
static void assert_places_differ(const struct res_picture *p, uint32_t run)
{
	for (size_t k = 0; k < p->n_curves; k++) {
		const struct res_dot *d = p->dot + p->curve[k].first;
		for (size_t i = 0; i < p->curve[k].n; i++)
			for (size_t j = 0; j < i; j++)
				if (d[i].at == d[j].at &&
				    (!p->is_heatmap || d[i].y == d[j].y))
					fail_msg("run %u: curve %zu has two "
						 "dots at %g",
					    run, k, d[i].at);
	}
}

static void every_number_is_drawn_once_and_nowhere_joined(void **state)
{
	(void)state;
	size_t drawn = 0;
	for (uint32_t run = 0; run < 300; run++) {
		struct res_cube c;
		struct res_picture p;
		struct res_sheet s;
		struct sim_err e;
		random_cube(&c, run);
		const struct res_wish w = {.heatmap = run % 5 == 4};
		int rc = res_picture_arrange(&p, &c, &w, &e);
		if (rc == 0) {
			assert_ok(res_sheet_read(&s, &c, test_err()));
			assert_places_differ(&p, run);
			if (fabs(balance(&p, &c, &s)) > 1e-9)
				fail_msg("run %u: other numbers", run);
			res_sheet_free(&s);
			drawn++;
		} else if (!(rc == SIM_EMISMATCH ||
			       (rc == SIM_EINVAL && w.heatmap))) {
			fail_msg("run %u: %s", run, e.msg);
		}
		res_picture_free(&p);
		res_cube_free(&c);
	}
	assert_true(drawn > 150);
}

/* --- what goes where -------------------------------------------------------*/

static void assert_shape(const struct res_picture *p, const char *x,
    size_t n_panels, size_t curves_each, const char *by)
{
	assert_string_equal(p->x_name, x);
	assert_string_equal(p->by_name, by);
	assert_int_equal(p->n_panels, n_panels);
	for (size_t i = 0; i < n_panels; i++)
		assert_int_equal(p->panel[i].n, curves_each);
}

static void arrange_shape(const char *const algos[], const char *const axes[],
    const char *x, size_t n_panels, size_t curves_each, const char *by)
{
	struct res_cube c;
	struct res_picture p;
	measured_cube(&c, algos, axes);
	arrange(&p, &c, &(struct res_wish){0});
	assert_false(p.is_heatmap);
	assert_shape(&p, x, n_panels, curves_each, by);
	res_picture_free(&p);
	res_cube_free(&c);
}

static void the_second_axis_is_curves_or_panels(void **state)
{
	(void)state;
	const char *const *one = LIST("vote"), *const *two = LIST("a", "b");
	arrange_shape(one, LIST("f.a=1 2 3"), "f.a", 1, 1, "");
	arrange_shape(two, LIST("f.a=1 2 3"), "f.a", 1, 2, "");
	arrange_shape(one, LIST("f.a=1 2", "f.b=1 2 3"), "f.b", 1, 2, "f.a");
	arrange_shape(two, LIST("f.a=1 2", "f.b=1 2 3"), "f.b", 2, 2, "");
	/* Numbers go across rather than texts, however few they are. */
	arrange_shape(one, LIST("f.t=x y z", "f.b=1 2"), "f.b", 1, 3, "f.t");
	arrange_shape(two, LIST("f.t=x y z", "f.b=1 2"), "f.b", 3, 2, "");
	arrange_shape(one, LIST("f.t=x y", "f.u=a b c"), "f.u", 1, 2, "f.t");
	arrange_shape(one, LIST("f.a=1 2", "f.b=1 2 3", "f.c=x y"), "f.b", 2, 2,
	    "f.a");
	arrange_shape(two, LIST("f.a=1 2", "f.b=1 2 3", "f.c=x y"), "f.b", 4, 2,
	    "");
	/* An axis of one value is no axis; without any there is one place. */
	arrange_shape(two, LIST("f.a=7", "f.b=1 2 3"), "f.b", 1, 2, "");
	arrange_shape(two, LIST("f.a=7"), "f.a", 1, 2, "");
	arrange_shape(two, LIST(NULL), "", 1, 2, "");
	/* More values than curves can be told apart by. */
	arrange_shape(one,
	    LIST("f.a=1 2 3 4 5 6 7 8 9", "f.b=1 2 3 4 5 6 7 8 9 10"), "f.b", 9,
	    1, "");
}

static void too_many_curves_are_a_heat_map(void **state)
{
	(void)state;
	struct res_cube c;
	struct res_picture p;
	measured_cube(&c, LIST("vote"),
	    LIST("f.a=1 2 3 4 5 6 7 8 9 10 11 12 13",
		"f.b=1 2 3 4 5 6 7 8 9 10 11 12 13"));
	arrange(&p, &c, &(struct res_wish){0});
	assert_true(p.is_heatmap);
	assert_string_equal(p.x_name, "f.a");
	assert_string_equal(p.y_name, "f.b");
	assert_int_equal(p.n_dots, 169);
	assert_int_equal(p.bars, RES_NO_BARS);
	/* Row 1, column 2 of it is point 2 * 13 + 1. */
	assert_near(p.dot[15].at, 2, 0);
	assert_near(p.dot[15].y, 1, 0);
	assert_near(p.dot[15].value, 0.027, 0);
	res_picture_free(&p);
	res_cube_free(&c);
}

/* Beside a third axis, too, of which each value has a map; but what somebody wants as
 * curves is not laid beneath one. */
static void maps_of_a_third_axis_stand_side_by_side(void **state)
{
	const char *const *axes = LIST("f.a=1 2 3 4 5 6 7 8 9 10 11 12 13",
	    "f.b=1 2 3 4 5 6 7 8 9 10 11 12 13", "f.c=1 2");
	(void)state;
	struct res_cube c;
	struct res_picture p;
	measured_cube(&c, LIST("vote"), axes);
	arrange(&p, &c, &(struct res_wish){0});
	assert_true(p.is_heatmap);
	assert_int_equal(p.n_panels, 2);
	assert_int_equal(p.n_dots, 2 * 169);
	res_picture_free(&p);
	arrange(&p, &c, &(struct res_wish){.by = "f.c"});
	assert_false(p.is_heatmap);
	assert_shape(&p, "f.a", 13, 2, "f.c");
	res_picture_free(&p);
	res_cube_free(&c);
}

static void a_zip_goes_by_what_tells_its_values_apart(void **state)
{
	(void)state;
	const char *const *one = LIST("vote");
	arrange_shape(one, LIST("f.a=1 1 2,f.b=3 4 5"), "f.b", 1, 1, "");
	arrange_shape(one, LIST("f.t=x y z,f.b=3 4 5"), "f.b", 1, 1, "");
	arrange_shape(one, LIST("f.b=3 4 5,label=x y z"), "label", 1, 1, "");
	arrange_shape(one, LIST("f.a=1 1 2,f.t=x y y"), "f.a, f.t", 1, 1, "");
	arrange_shape(one, LIST("f.t=x y,f.b=3 4", "f.c=1 2 3"), "f.c", 1, 2,
	    "f.t");
}

static void places_of_a_text_axis_are_those_of_its_values(void **state)
{
	(void)state;
	struct res_cube c;
	struct res_picture p;
	measured_cube(&c, LIST("a", "b"), LIST("f.t=[x] {u:_[1] true"));
	arrange(&p, &c, &(struct res_wish){0});
	assert_int_equal(p.n_ticks, 3);
	assert_string_equal(p.tick[0], "x");
	assert_string_equal(p.tick[1], "u:_1");
	assert_string_equal(p.tick[2], "true");
	/* Curves stand beside each other, the first on the left. */
	for (size_t i = 0; i < 3; i++) {
		assert_near(p.dot[i].at, (double)i - 0.08, 1e-12);
		assert_near(p.dot[3 + i].at, (double)i + 0.08, 1e-12);
		assert_near(p.dot[3 + i].y, 0.1 + (double)i / 1000, 1e-12);
	}
	res_picture_free(&p);
	res_cube_free(&c);
}

static void numbers_across_grow(void **state)
{
	(void)state;
	struct res_cube c;
	struct res_picture p;
	measured_cube(&c, LIST("a"), LIST("f.a=3 1 2"));
	arrange(&p, &c, &(struct res_wish){0});
	static const double y[] = {0.001, 0.002, 0};
	for (size_t i = 0; i < 3; i++) {
		assert_near(p.dot[i].at, (double)i + 1, 0);
		assert_near(p.dot[i].y, y[i], 0);
	}
	assert_near(p.low, 1, 0);
	assert_near(p.high, 3, 0);
	res_picture_free(&p);
	res_cube_free(&c);
}

static void a_geometric_axis_is_logarithmic(void **state)
{
	(void)state;
	static const struct {
		const char *axis;
		int is_log;
	} cases[] = {
	    {"a=1 10 100", 1},
	    {"a=1 2 4 8", 1},
	    {"a=2 4 6 8 10 12 14 16", 0},
	    {"a=1e-4 2e-4 3e-4 5e-4 1e-3 2e-3 3e-3 5e-3 1e-2", 1},
	    {"a=0 1 10 100", 0},
	    {"a=-1 -10 -100", 0},
	    {"a=1 2 4", 0},
	    {"a=2 14", 0},
	    {"a=1e-4 1e-2", 1},
	    {"a=100 10 1", 1},
	    {"a=15 60 240 960", 1},
	    {"a=1 5 10 15", 0},
	    {"a=5", 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct res_cube c;
		struct res_picture p;
		measured_cube(&c, LIST("vote"), LIST(cases[i].axis));
		arrange(&p, &c, &(struct res_wish){0});
		if (p.log_x != cases[i].is_log)
			fail_msg("%s: log_x is %d", cases[i].axis, p.log_x);
		res_picture_free(&p);
		res_cube_free(&c);
	}
}

/* --- metrics ---------------------------------------------------------------*/

static void metrics_that_were_not_measured_have_no_panel(void **state)
{
	(void)state;
	struct res_cube c;
	struct res_picture p;
	struct sim_err e;
	make_cube(&c, LIST("a", "b"), LIST("f.a=1 2 3"));
	const struct res_wish none = {0};
	assert_int_equal(res_picture_arrange(&p, &c, &none, &e), SIM_EMISMATCH);
	for (size_t i = 0; i < c.n_points; i++)
		res_columns_put(&c.rows, i, RES_TRIAL_n_drops, (double)i);
	arrange(&p, &c, &none);
	assert_int_equal(p.n_panels, 1);
	assert_string_equal(p.panel[0].metric->name, "n_drops");
	assert_int_equal(p.panel[0].n, 1);
	res_picture_free(&p);
	measure(&c, RES_ALGO_n_flagged_true, RES_ALGO_n_flagged);
	arrange(&p, &c, &none);
	assert_string_equal(p.panel[0].metric->name, "precision");
	assert_int_equal(p.panel[0].n, 2);
	assert_int_equal(p.bars, RES_INTERVALS);
	assert_true(p.dot[0].lo <= p.dot[0].y && p.dot[0].hi > p.dot[0].y);
	/* No accuracy and no recall; other ratios are there as well. */
	for (size_t i = 0; i < p.n_panels; i++)
		assert_int_equal(p.panel[i].metric->name[0], 'p');
	res_picture_free(&p);
	res_cube_free(&c);
}

static void what_cannot_be_drawn_says_what_can(void **state)
{
	(void)state;
	const struct {
		struct res_wish wish;
		const char *says;
	} cases[] = {
	    {{.metric = LIST("acuracy_fault"), .n_metrics = 1},
		"did you mean \"accuracy_fault\"?"},
	    {{.metric = LIST("recall"), .n_metrics = 1},
		"no measured metric \"recall\". There is: accuracy_fault."},
	    {{.metric = LIST("accuracy_fault", "accuracy_fault"),
		 .n_metrics = 2},
		"--metric has accuracy_fault twice."},
	    {{.x = "f.aa"},
		"no axis \"f.aa\"; did you mean \"f.a\"? There is: f.a, f.b, "
		"t.t."},
	    {{.by = "f.c"}, "There is: f.a, f.b, t.t, algorithm."},
	    {{.panels = "metrics"}, "did you mean \"metric\"?"},
	    {{.x = "f.a", .by = "f.b"}, "f.b is named twice"},
	    {{.by = "algorithm", .panels = "algorithm"}, "named twice"},
	    {{.curve = LIST("vota"), .n_curves = 1},
		"no curve \"vota\"; did you mean \"vote\"? There is: vote, "
		"alg1."},
	    {{.x = "t.t", .log_x = 1}, "--logx: t.t is an axis of texts."},
	    {{.x = "f.b", .log_x = 1}, "f.b has the value -1"},
	    {{.by = "algorithm", .heatmap = 1}, "--by names the second one"},
	    {{.heatmap = 1, .log_y = 1}, "a heat map has cells of one size"},
	};
	struct res_cube c;
	measured_cube(&c, LIST("vote", "alg1"),
	    LIST("f.a=1 2 3,f.b=-1 3 4", "t.t=x y"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct res_picture p;
		struct sim_err e;
		assert_int_equal(res_picture_arrange(&p, &c, &cases[i].wish,
				     &e),
		    SIM_EINVAL);
		if (!strstr(e.msg, cases[i].says))
			fail_msg("\"%s\" does not say: %s", e.msg,
			    cases[i].says);
		assert_null(p.text);
	}
	res_cube_free(&c);
}

static void wishes_are_fulfilled(void **state)
{
	(void)state;
	struct res_cube c;
	struct res_picture p;
	measured_cube(&c, LIST("vote", "alg1"),
	    LIST("f.a=1 2 3", "t.t=x y", "f.c=1 2 3 4"));
	arrange(&p, &c, &(struct res_wish){.x = "t.t", .by = "f.a"});
	assert_shape(&p, "t.t", 8, 3, "f.a");
	assert_string_equal(p.panel[1].title, "alg1, f.c = 1");
	assert_int_equal(p.n_across, 2);
	res_picture_free(&p);
	arrange(&p, &c, &(struct res_wish){.panels = "algorithm"});
	assert_shape(&p, "f.c", 4, 3, "f.a");
	res_picture_free(&p);
	arrange(&p, &c,
	    &(struct res_wish){.curve = LIST("alg1"), .n_curves = 1});
	assert_shape(&p, "f.c", 6, 1, "");
	assert_int_equal(p.n_entries, 1);
	assert_int_equal(index_of(c.algo, 2, p.entry[0].name), 1);
	res_picture_free(&p);
	arrange(&p, &c, &(struct res_wish){.heatmap = 1, .by = "t.t"});
	assert_string_equal(p.y_name, "t.t");
	assert_int_equal(p.n_panels, 6);
	res_picture_free(&p);
	res_cube_free(&c);
}

static void what_a_logarithmic_scale_lacks_is_counted(void **state)
{
	(void)state;
	struct res_cube c;
	struct res_picture p;
	measured_cube(&c, LIST("vote"), LIST("f.a=1 2 3"));
	arrange(&p, &c, &(struct res_wish){.log_y = 1});
	assert_int_equal(p.n_dots, 2);
	assert_int_equal(p.n_below, 1);
	for (size_t i = 0; i < p.n_dots; i++)
		assert_true(p.dot[i].lo > 0);
	res_picture_free(&p);
	res_cube_free(&c);
}

static void more_than_a_page_holds_is_an_error(void **state)
{
	(void)state;
	struct res_cube c;
	struct res_picture p;
	struct sim_err e;
	measured_cube(&c, LIST("vote", "alg1"),
	    LIST("f.a=1 2 3 4 5 6", "f.b=1 2 3 4 5 6 7", "f.c=1 2 3 4 5 6 7"));
	const struct res_wish none = {0};
	assert_int_equal(res_picture_arrange(&p, &c, &none, &e), SIM_ELIMIT);
	assert_non_null(strstr(e.msg, "more than 36 panels"));
	res_cube_free(&c);
}

/* Without algorithms, and of what is none's. */
static void what_is_of_no_algorithm_has_no_curves_of_them(void **state)
{
	struct res_cube c;
	struct res_picture p;
	struct sim_err e;
	(void)state;
	for (int n = 0; n < 2; n++) {
		make_cube(&c, n ? LIST("vote") : (const char *const[]){NULL},
		    LIST("f.a=1 2 3"));
		for (size_t i = 0; i < c.n_points; i++)
			res_columns_put(&c.rows, i, RES_TRIAL_n_drops, 1);
		assert_int_equal(res_picture_arrange(&p, &c,
				     &(struct res_wish){.by = "algorithm"}, &e),
		    SIM_EINVAL);
		assert_string_equal(e.msg,
		    n ? "--by algorithm: n_drops is of no algorithm."
		      : "--by algorithm: these results have none.");
		assert_int_equal(res_picture_arrange(&p, &c,
				     &(struct res_wish){.panels = "algorithm"},
				     &e),
		    SIM_EINVAL);
		assert_string_equal(e.msg,
		    n ? "--panels algorithm: n_drops is of no algorithm."
		      : "--panels algorithm: these results have none.");
		res_cube_free(&c);
	}
}

/* If nothing else was measured, the first of the rest is drawn. */
static void any_metric_is_better_than_none(void **state)
{
	struct res_cube c;
	struct res_picture p;
	(void)state;
	make_cube(&c, LIST("vote"), LIST("f.a=1 2 3"));
	for (size_t i = 0; i < c.n_points; i++)
		res_columns_put(&c.rows, i, RES_TRIAL_n_racks, 3);
	arrange(&p, &c, &(struct res_wish){0});
	assert_int_equal(p.n_panels, 1);
	assert_string_equal(p.panel[0].metric->name, "n_racks");
	res_picture_free(&p);
	res_cube_free(&c);
}

static void limits_of_panels_and_curves_are_told(void **state)
{
	const char *metric[RES_MAX_PANELS + 1];
	struct res_cube c;
	struct res_picture p;
	struct sim_err e;
	(void)state;
	make_cube(&c, LIST("vote"), LIST("f.a=1 2 3"));
	size_t n = 0;
	for (size_t i = 0; i < RES_N_TRIAL_METRICS && n <= RES_MAX_PANELS;
	     i++) {
		for (size_t k = 0; k < c.n_points; k++)
			res_columns_put(&c.rows, k, i, 1);
		if (res_metric_find(res_trial_metrics[i].name, NULL))
			metric[n++] = res_trial_metrics[i].name;
	}
	assert_int_equal(n, RES_MAX_PANELS + 1);
	assert_int_equal(res_picture_arrange(&p, &c,
			     &(struct res_wish){.metric = metric,
				 .n_metrics = RES_MAX_PANELS + 1},
			     &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg, "--metric: more than 36.");
	arrange(&p, &c,
	    &(struct res_wish){.metric = metric, .n_metrics = RES_MAX_PANELS});
	assert_int_equal(p.n_panels, RES_MAX_PANELS);
	res_picture_free(&p);
	res_cube_free(&c);
	/* 24 curves fit, one more does not. */
	for (unsigned more = 0; more < 2; more++) {
		char axis[256] = "f.b=1", *end = axis + strlen(axis);
		for (unsigned i = 2; i <= RES_MAX_CURVES + more; i++)
			end += sprintf(end, " %u", i);
		measured_cube(&c, LIST("vote"), LIST("f.a=1 2 3", axis));
		const int rc = res_picture_arrange(&p, &c,
		    &(struct res_wish){.x = "f.a", .by = "f.b"}, &e);
		assert_int_equal(rc, more ? SIM_ELIMIT : 0);
		if (more)
			assert_string_equal(e.msg,
			    "25 curves in a panel are more than 24: name some "
			    "by --curves, or use --panels or --heatmap.");
		else
			assert_int_equal(p.panel[0].n, RES_MAX_CURVES);
		res_picture_free(&p);
		res_cube_free(&c);
	}
}

static void where_nothing_is_left_the_reason_is_told(void **state)
{
	struct res_cube c;
	struct res_picture p;
	struct sim_err e;
	(void)state;
	measured_cube(&c, LIST("a"), LIST("f.a=1"));
	assert_int_equal(res_picture_arrange(&p, &c,
			     &(struct res_wish){.log_y = 1}, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "nothing is left to draw: no value is "
	    "above 0, as --logy needs.");
	res_cube_free(&c);
	make_cube(&c, LIST("a", "b"), LIST("f.a=1 2"));
	for (size_t i = 0; i < 2; i++) {
		res_columns_put(&c.rows, i,
		    res_row_doubles(0) + RES_ALGO_hits_fault, 1);
		res_columns_put(&c.rows, i,
		    res_row_doubles(0) + RES_ALGO_flows_fault, 2);
	}
	assert_int_equal(res_picture_arrange(&p, &c,
			     &(struct res_wish){.curve = LIST("b"),
				 .n_curves = 1},
			     &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "nothing is left to draw: these curves have no value.");
	res_cube_free(&c);
}

/* --- text and memory -------------------------------------------------------*/

static void rows_are_the_dots_in_order(void **state)
{
	(void)state;
	struct res_cube c;
	struct res_picture p;
	char *got = NULL;
	size_t n;
	make_cube(&c, LIST("vote"), LIST("f.a=2 1"));
	for (size_t i = 0; i < 2; i++)
		res_columns_put(&c.rows, i, RES_TRIAL_n_drops, (double)i);
	arrange(&p, &c, &(struct res_wish){0});
	FILE *out = open_memstream(&got, &n);
	res_picture_write(&p, out);
	fclose(out);
	assert_string_equal(got,
	    "panel\tmetric\tcurve\tx\tat\ty\tlo\thi\n"
	    "\tn_drops\tn_drops\t1\t1\t1\tNaN\tNaN\n"
	    "\tn_drops\tn_drops\t2\t2\t0\tNaN\tNaN\n");
	free(got);
	res_picture_free(&p);
	res_cube_free(&c);
}

static int arrange_all(void *arg, struct sim_err *e)
{
	static const struct res_wish heat = {.heatmap = 1}, none = {0};
	struct res_picture p;
	int rc = res_picture_arrange(&p, arg, &none, e);
	if (rc < 0)
		return rc;
	res_picture_free(&p);
	rc = res_picture_arrange(&p, arg, &heat, e);
	res_picture_free(&p);
	return rc;
}

static void without_memory_nothing_leaks(void **state)
{
	(void)state;
	struct res_cube c;
	measured_cube(&c, LIST("vote", "alg1"),
	    LIST("f.a=1 2", "t.t=x y", "f.b=1 3"));
	test_each_alloc_fails(arrange_all, &c);
	res_cube_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_number_is_drawn_once_and_nowhere_joined),
	    cmocka_unit_test(the_second_axis_is_curves_or_panels),
	    cmocka_unit_test(too_many_curves_are_a_heat_map),
	    cmocka_unit_test(maps_of_a_third_axis_stand_side_by_side),
	    cmocka_unit_test(a_zip_goes_by_what_tells_its_values_apart),
	    cmocka_unit_test(places_of_a_text_axis_are_those_of_its_values),
	    cmocka_unit_test(numbers_across_grow),
	    cmocka_unit_test(a_geometric_axis_is_logarithmic),
	    cmocka_unit_test(metrics_that_were_not_measured_have_no_panel),
	    cmocka_unit_test(what_cannot_be_drawn_says_what_can),
	    cmocka_unit_test(wishes_are_fulfilled),
	    cmocka_unit_test(what_a_logarithmic_scale_lacks_is_counted),
	    cmocka_unit_test(more_than_a_page_holds_is_an_error),
	    cmocka_unit_test(what_is_of_no_algorithm_has_no_curves_of_them),
	    cmocka_unit_test(any_metric_is_better_than_none),
	    cmocka_unit_test(limits_of_panels_and_curves_are_told),
	    cmocka_unit_test(where_nothing_is_left_the_reason_is_told),
	    cmocka_unit_test(rows_are_the_dots_in_order),
	    cmocka_unit_test(without_memory_nothing_leaks),
	};
	return cmocka_run_group_tests_name("results/picture", tests, NULL,
	    NULL);
}
