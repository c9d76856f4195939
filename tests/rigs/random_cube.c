/* tests/rigs/random_cube.c -- random cubes, and the exact comparison of two.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/random_cube.h"

#include "sim/text.h"
#include "tests/test.h"

static char *text(const char *s)
{
	char *copy = NULL;
	assert_ok(sim_dup(&copy, s, test_err()));
	return copy;
}

static const char *pick(struct sim_rng *r)
{
	static const char *const words[] = {"", "a", "vote", "Überdeckung",
	    "α → β", "two words", "tab\tand\nline", "\"quoted\" \\ \x01",
	    "漢字", "a text that is much longer than all the others"};
	return words[sim_rng_below(r, sizeof(words) / sizeof(words[0]))];
}

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);
	assert_non_null(p);
	return p;
}

static void fill_coord(struct res_coord *k, size_t n, size_t axis, size_t i,
    struct sim_rng *r)
{
	char name[64];
	snprintf(name, sizeof(name), "faults.axis%zu_%zu", axis, i);
	k->name = text(name);
	k->unit = text(i ? "links" : "1");
	k->doc = text(pick(r));
	int texts = sim_rng_below(r, 3) == 0;
	if (texts)
		k->text = zeroed(n, sizeof(k->text[0]));
	else
		k->number = zeroed(n, sizeof(k->number[0]));
	for (size_t j = 0; j < n; j++)
		if (texts)
			k->text[j] = text(pick(r));
		else
			k->number[j] = sim_rng_u01(r) * 100 - 50;
}

static void fill_axes(struct res_cube *c, struct sim_rng *r)
{
	c->n_axes = sim_rng_below(r, 4);
	c->axis = c->n_axes ? zeroed(c->n_axes, sizeof(c->axis[0])) : NULL;
	c->n_points = c->n_along = 1;
	const size_t n_outer = sim_rng_below(r, (uint32_t)c->n_axes + 1);
	for (size_t a = 0; a < c->n_axes; a++) {
		struct res_axis *x = &c->axis[a];
		x->n = 1 + sim_rng_below(r, 4);
		x->n_coords = 1 + sim_rng_below(r, 3);
		x->coord = zeroed(x->n_coords, sizeof(x->coord[0]));
		for (size_t i = 0; i < x->n_coords; i++)
			fill_coord(&x->coord[i], x->n, a, i, r);
		c->n_points *= x->n;
		if (a >= n_outer)
			c->n_along *= x->n;
	}
}

static void cap(double *num, double den)
{
	if (*num > den)
		*num = den;
}

/* A metric that is optional is measured in all rows of a cube or in none. */
static void blank_optional(const struct res_cube *c, double row[])
{
	for (unsigned m = 0; m < RES_N_TRIAL_METRICS; m++)
		if (res_trial_metrics[m].optional)
			row[m] = NAN;
	for (size_t a = 0; a < c->n_algos; a++)
		for (unsigned m = 0; m < RES_N_ALGO_METRICS; m++)
			if (res_algo_metrics[m].optional)
				row[res_row_doubles(a) + m] = NAN;
}

static void fill_row(const struct res_cube *c, double row[], int probes,
    struct sim_rng *r)
{
	for (size_t i = 0; i < c->row_doubles; i++)
		row[i] = sim_rng_below(r, 8) ? sim_rng_below(r, 50) : NAN;
	if (!probes)
		blank_optional(c, row);
	for (unsigned m = 0; m < RES_N_TRIAL_RATIOS; m++)
		cap(&row[res_trial_ratios[m].num],
		    row[res_trial_ratios[m].den]);
	for (size_t a = 0; a < c->n_algos; a++) {
		double *x = row + res_row_doubles(a);
		for (unsigned m = 0; m < RES_N_RATIOS; m++)
			cap(&x[res_ratios[m].num], x[res_ratios[m].den]);
		for (unsigned m = 0; m < RES_N_REACH_RATIOS; m++)
			cap(&x[res_reach_ratios[m].num],
			    row[res_reach_ratios[m].den]);
		/* Precision and recall share their numerator. */
		cap(&x[RES_ALGO_n_flagged_true], x[RES_ALGO_n_flagged]);
	}
}

static void fill_cells(struct res_cube *c, struct sim_rng *r)
{
	double *row = zeroed(c->cell_doubles, sizeof(row[0]));
	const int probes = sim_rng_below(r, 2) == 0;
	for (size_t i = 0; i < res_cube_cells(c); i++) {
		uint32_t s = sim_rng_below(r, 8);
		for (size_t k = 0; k < c->n_along; k++)
			fill_row(c, row + k * c->row_doubles, probes, r);
		/* All shards of a run draw the same numbers. */
		if (res_cube_holds(c, i / c->n_runs, i % c->n_runs))
			res_cube_put(c, i / c->n_runs, i % c->n_runs,
			    s <= RES_CRASHED ? (enum res_status)s : RES_DONE,
			    row);
	}
	free(row);
}

static void fill_claims(struct res_cube *c, struct sim_rng *r)
{
	c->n_claims = sim_rng_below(r, 3);
	if (c->n_claims)
		c->claim = zeroed(c->n_claims, sizeof(c->claim[0]));
	for (size_t i = 0; i < c->n_claims; i++)
		c->claim[i] = (struct res_claim){text("accuracy_all"),
		    text(pick(r)), sim_rng_u01(r), sim_rng_below(r, 2)};
}

/* N = 0: of a shard that is drawn too. */
static void draw(struct res_cube *c, uint32_t run, uint32_t i, uint32_t n)
{
	struct sim_rng r;
	char label[64];
	test_rng(&r, run);
	*c = (struct res_cube){0};
	c->figure = text("vigil_fig03");
	c->spec = text("figure: vigil_fig03 # \xc3\xbc\nseed: 1\n");
	c->spec_bytes = strlen(c->spec);
	c->overrides = text(pick(&r));
	c->title = text(pick(&r));
	c->paper = text(pick(&r));
	c->seed = (uint64_t)sim_rng_u32(&r) << 32 | sim_rng_u32(&r);
	c->n_algos = sim_rng_below(&r, 4);
	c->algo = zeroed(c->n_algos, sizeof(c->algo[0]));
	for (size_t a = 0; a < c->n_algos; a++) {
		snprintf(label, sizeof(label), "%s%zu", pick(&r), a);
		c->algo[a] = text(label);
	}
	c->n_runs = 1 + sim_rng_below(&r, 6);
	c->shard_n = 1 + sim_rng_below(&r, 3);
	c->shard_i = sim_rng_below(&r, c->shard_n);
	if (n > 0) {
		c->shard_n = n;
		c->shard_i = i;
	}
	fill_axes(c, &r);
	assert_ok(res_cube_alloc(c, test_err()));
	fill_cells(c, &r);
	fill_claims(c, &r);
}

void random_cube(struct res_cube *c, uint32_t run)
{
	draw(c, run, 0, 0);
}

void random_shard(struct res_cube *c, uint32_t run, uint32_t i, uint32_t n)
{
	draw(c, run, i, n);
}

void plain_cube(struct res_cube *c, size_t n_points, size_t n_runs)
{
	*c = (struct res_cube){.n_algos = 2,
	    .n_axes = 1,
	    .shard_n = 1,
	    .n_points = n_points,
	    .n_runs = n_runs,
	    .seed = 7};
	c->figure = text("plain");
	c->spec = text("figure: plain\n");
	c->spec_bytes = strlen(c->spec);
	c->overrides = text("");
	c->title = text("Plain");
	c->paper = text("none");
	c->algo = zeroed(2, sizeof(c->algo[0]));
	c->algo[0] = text("vote");
	c->algo[1] = text("alg1");
	c->axis = zeroed(1, sizeof(c->axis[0]));
	c->axis[0].n = n_points;
	c->axis[0].n_coords = 1;
	c->axis[0].coord = zeroed(1, sizeof(c->axis[0].coord[0]));
	c->axis[0].coord[0] =
	    (struct res_coord){text("faults.count"), text("links"),
		text("faulty links"), zeroed(n_points, sizeof(double)), NULL};
	for (size_t i = 0; i < n_points; i++)
		c->axis[0].coord[0].number[i] = (double)(i + 1);
	assert_ok(res_cube_alloc(c, test_err()));
	double *row = zeroed(c->row_doubles, sizeof(row[0]));
	for (size_t p = 0; p < n_points; p++)
		for (size_t r = 0; r < n_runs; r++) {
			for (size_t i = 0; i < c->row_doubles; i++)
				row[i] = (double)(1000 * i + 10 * p + r);
			res_cube_put(c, p, r, RES_DONE, row);
		}
	free(row);
}

void all_alike(struct res_cube *c, double x)
{
	for (size_t i = 0; i < c->n_rows; i++)
		for (size_t k = 0; k < c->row_doubles; k++)
			res_columns_put(&c->rows, i, k, x);
}

void without_optional(struct res_cube *c)
{
	double *row = zeroed(c->row_doubles, sizeof(row[0]));
	for (size_t i = 0; i < c->n_rows; i++) {
		res_cube_get_row(c, i, 0, c->row_doubles, row);
		blank_optional(c, row);
		res_cube_set_row(c, i, row);
	}
	free(row);
}

static void assert_same_axis(const struct res_axis *a, const struct res_axis *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->n_coords, b->n_coords);
	for (size_t i = 0; i < a->n_coords; i++) {
		const struct res_coord *x = &a->coord[i], *y = &b->coord[i];
		assert_string_equal(x->name, y->name);
		assert_string_equal(x->unit, y->unit);
		assert_string_equal(x->doc, y->doc);
		assert_int_equal(!x->number, !y->number);
		for (size_t j = 0; j < a->n; j++)
			if (x->number)
				assert_true(x->number[j] == y->number[j]);
			else
				assert_string_equal(x->text[j], y->text[j]);
	}
}

void assert_same_cube(const struct res_cube *a, const struct res_cube *b)
{
	assert_string_equal(a->figure, b->figure);
	assert_int_equal(a->spec_bytes, b->spec_bytes);
	assert_memory_equal(a->spec, b->spec, a->spec_bytes);
	assert_string_equal(a->overrides, b->overrides);
	assert_string_equal(a->title, b->title);
	assert_string_equal(a->paper, b->paper);
	assert_string_equal(a->version, b->version);
	assert_string_equal(a->libraries, b->libraries);
	assert_true(a->seed == b->seed);
	assert_int_equal(a->shard_i, b->shard_i);
	assert_int_equal(a->shard_n, b->shard_n);
	assert_int_equal(a->n_algos, b->n_algos);
	for (size_t i = 0; i < a->n_algos; i++)
		assert_string_equal(a->algo[i], b->algo[i]);
	assert_int_equal(a->n_axes, b->n_axes);
	for (size_t i = 0; i < a->n_axes; i++)
		assert_same_axis(&a->axis[i], &b->axis[i]);
	assert_int_equal(a->n_claims, b->n_claims);
	for (size_t i = 0; i < a->n_claims; i++) {
		assert_string_equal(a->claim[i].metric, b->claim[i].metric);
		assert_string_equal(a->claim[i].text, b->claim[i].text);
		assert_true(a->claim[i].value == b->claim[i].value);
		assert_int_equal(a->claim[i].confirmed, b->claim[i].confirmed);
	}
	assert_int_equal(a->n_points, b->n_points);
	assert_int_equal(a->n_along, b->n_along);
	assert_int_equal(a->n_runs, b->n_runs);
	assert_int_equal(a->row_doubles, b->row_doubles);
	assert_int_equal(a->n_rows, b->n_rows);
	if (a->n_rows > 0)
		assert_memory_equal(a->status, b->status, a->n_rows);
	for (size_t i = 0; i < a->n_rows; i++)
		for (size_t k = 0; k < a->row_doubles; k++) {
			const double x = res_columns_get(&a->rows, i, k);
			const double y = res_columns_get(&b->rows, i, k);
			if (x != y && !(isnan(x) && isnan(y)))
				fail_msg("row %zu, number %zu: %.17g and %.17g",
				    i, k, x, y);
		}
}
