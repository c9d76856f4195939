/* tests/experiments_check_expected_test.c -- results against earlier ones.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/expected.h"
#include "sim/stat.h"
#include "sim/text.h"
#include "tests/random_cube.h"
#include "tests/test.h"

enum { ROW = RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS };

static char *write_text(const struct res_cube *c)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	assert_non_null(f);
	assert_ok(xp_expected_write(c, f, test_err()));
	assert_int_equal(fclose(f), 0);
	return text;
}

/* One algorithm "a", one point; run r has HITS[r] of FLOWS[r]. */
static void make_cube(struct res_cube *c, size_t n_runs, const double hits[],
    const double flows[])
{
	double row[ROW];
	*c = (struct res_cube){.n_points = 1, .n_runs = n_runs, .shard_n = 1};
	assert_ok(sim_dup(&c->figure, "f", test_err()));
	c->algo = calloc(1, sizeof(c->algo[0]));
	assert_non_null(c->algo);
	c->n_algos = 1;
	assert_ok(sim_dup(&c->algo[0], "a", test_err()));
	assert_ok(res_cube_alloc(c, test_err()));
	for (size_t r = 0; r < n_runs; r++) {
		for (size_t i = 0; i < ROW; i++)
			row[i] = NAN;
		row[RES_N_TRIAL_METRICS + RES_ALGO_hits_all] = hits[r];
		row[RES_N_TRIAL_METRICS + RES_ALGO_flows_all] = flows[r];
		res_cube_put(c, 0, r, RES_DONE, row);
	}
}

static void check_line(size_t n_runs, const double hits[], const double flows[],
    const char *want)
{
	struct res_cube c;
	char head[256];
	make_cube(&c, n_runs, hits, flows);
	char *text = write_text(&c);
	snprintf(head, sizeof(head),
	    "runs\ta:accuracy_all\ta:accuracy_all_trials\ta:accuracy_kept\t");
	if (strncmp(text, head, strlen(head)) != 0)
		fail_msg("%s", text);
	const char *line = strchr(text, '\n') + 1;
	if (strncmp(line, want, strlen(want)) != 0)
		fail_msg("%s", line);
	free(text);
	res_cube_free(&c);
}

static void trials_count_for_what_runs_vary(void **state)
{
	const double flows[10] = {100, 100, 100, 100, 100, 100, 100, 100, 100,
	    100};
	const double equal[10] = {50, 50, 50, 50, 50, 50, 50, 50, 50, 50};
	const double whole[10] = {100, 0, 100, 0, 100, 0, 100, 0, 100, 0};
	(void)state;
	/* Runs that are all alike: effective trials are all that there are, and
	 * not more. */
	check_line(10, equal, flows, "10\t0.5\t1000\tNaN\t0\t");
	/* A run is right or wrong as a whole: it is one trial, and one degree
	 * of freedom is the mean's. */
	check_line(10, whole, flows, "10\t0.5\t9\tNaN\t0\t");
	check_line(1, whole, flows, "1\t1\t100\tNaN\t0\t");
}

static void ratios_of_the_trial_are_there_where_measured(void **state)
{
	const double hits[2] = {1, 1}, flows[2] = {2, 2};
	struct xp_expected x;
	struct res_cube c;
	(void)state;
	make_cube(&c, 2, hits, flows);
	for (size_t r = 0; r < 2; r++) {
		c.row[r * c.row_doubles + RES_TRIAL_n_connected] = 10;
		c.row[r * c.row_doubles + RES_TRIAL_n_drop] = 2;
	}
	char *text = write_text(&c);
	const char *want = "runs\tdrop_rate\tdrop_rate_trials\t"
			   "a:accuracy_all\ta:accuracy_all_trials\t";
	assert_int_equal(strncmp(text, want, strlen(want)), 0);
	assert_null(strstr(text, "unconnected_rate"));
	assert_non_null(strstr(text, "\n2\t0.2\t20\t0.5\t4\t"));
	assert_ok(xp_expected_check(&c, "t", text, &x, NULL, NULL, test_err()));
	assert_int_equal(x.n_compared, 2);
	assert_int_equal(x.n_failed + x.n_missing, 0);
	free(text);
	res_cube_free(&c);
}

static size_t n_lines(const char *text)
{
	size_t n = 0;
	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

/* Two cells of three points each; in the first all are alike. */
static void a_cell_of_equal_ratios_is_one_row(void **state)
{
	struct res_cube c = {.n_points = 6,
	    .n_along = 3,
	    .n_axes = 2,
	    .n_runs = 1,
	    .shard_n = 1};
	double row[3 * RES_N_TRIAL_METRICS], tails[3] = {0.5, 0.2, 0.1};
	double counts[2] = {1, 2};
	char names[2][8] = {"n", "tail"};
	struct res_coord coord[2] = {{.name = names[0], .number = counts},
	    {.name = names[1], .number = tails}};
	struct res_axis axis[2] = {{.n = 2, .n_coords = 1, .coord = &coord[0]},
	    {.n = 3, .n_coords = 1, .coord = &coord[1]}};
	struct xp_expected x;
	(void)state;
	c.axis = axis;
	assert_ok(sim_dup(&c.figure, "f", test_err()));
	assert_ok(res_cube_alloc(&c, test_err()));
	for (size_t place = 0; place < 2; place++) {
		for (size_t i = 0; i < 3 * RES_N_TRIAL_METRICS; i++)
			row[i] = NAN;
		for (size_t i = 0; i < 3; i++) {
			double *r = row + i * RES_N_TRIAL_METRICS;
			r[RES_TRIAL_n_connected] = 100;
			r[RES_TRIAL_n_drop] = place == 1 && i == 2 ? 90 : 1;
			r[RES_TRIAL_rtt_us] = (double)i;
		}
		res_cube_put(&c, place, 0, RES_DONE, row);
	}
	char *text = write_text(&c);
	assert_int_equal(n_lines(text), 1 + 1 + 3);
	assert_non_null(strstr(text, "\n1\t0.5\t1\t0.01\t100\n2\t0.5\t"));
	assert_ok(xp_expected_check(&c, "t", text, &x, NULL, NULL, test_err()));
	assert_int_equal(x.n_compared, 4);
	assert_int_equal(x.n_failed + x.n_missing, 0);
	/* Rows that are only the earlier table's are found in ours too. */
	c.row[(3 + 2) * c.row_doubles + RES_TRIAL_n_drop] = 1;
	assert_ok(xp_expected_check(&c, "t", text, &x, NULL, NULL, test_err()));
	assert_int_equal(x.n_failed, 1);
	assert_int_equal(x.n_missing, 0);
	free(text);
	c.n_axes = 0; /* axes are on the stack, so they must not be freed */
	c.axis = NULL;
	res_cube_free(&c);
}

/* Trials that are independent indeed: effective ones are nearly as many. The
 * effect of 2000 runs has a standard deviation of sqrt(2 / 2000) = 0.032; false
 * alarms beyond 5 of them: 6e-7. */
static void independent_trials_all_count(void **state)
{
	enum { N = 2000 };
	double hits[N], flows[N], value, trials;
	struct res_cube c;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 1);
	for (size_t i = 0; i < N; i++) {
		hits[i] = 0;
		flows[i] = 40 + sim_rng_below(&r, 21);
		for (size_t k = 0; k < flows[i]; k++)
			hits[i] += sim_rng_u01(&r) < 0.7;
	}
	make_cube(&c, N, hits, flows);
	char *text = write_text(&c);
	assert_int_equal(sscanf(strchr(text, '\n'), "%*d %lf %lf", &value,
			     &trials),
	    2);
	double sum = 0;
	for (size_t i = 0; i < N; i++)
		sum += flows[i];
	if (!(trials <= sum && trials > sum / 1.16))
		fail_msg("seed %llu: %g of %g", (unsigned long long)test_seed(),
		    trials, sum);
	free(text);
	res_cube_free(&c);
}

/* Whether C has coordinates of text: random ones may be equal, and then two
 * points have one name. */
static int has_texts(const struct res_cube *c)
{
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++)
			if (c->axis[a].coord[i].text)
				return 1;
	return 0;
}

static void results_pass_against_themselves(void **state)
{
	size_t n_compared = 0;
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct res_cube c;
		struct xp_expected x;
		random_cube(&c, run);
		char *text = write_text(&c);
		assert_ok(xp_expected_check(&c, "t", text, &x, NULL, NULL,
		    test_err()));
		if ((x.n_failed > 0 || x.n_missing > 0) && !has_texts(&c))
			fail_msg("seed %llu, run %u",
			    (unsigned long long)test_seed(), run);
		n_compared += x.n_compared;
		free(text);
		res_cube_free(&c);
	}
	assert_true(n_compared > 1000);
}

static void note(void *arg, const char *sentence)
{
	snprintf(arg, 256, "%s", sentence);
}

static void intervals_apart_fail_and_are_told(void **state)
{
	const double flows[2] = {100, 100}, all[2] = {100, 100};
	(void)state;
	/* The largest count whose interval does not overlap that of 200 of 200;
	 * one more is the least that does. */
	double lo, hi, less = 199;
	assert_ok(
	    sim_binomial_interval(200, 200, 0.9999, &lo, &hi, test_err()));
	const double bound = lo;
	do {
		less--;
		assert_ok(sim_binomial_interval((uint64_t)less, 200, 0.9999,
		    &lo, &hi, test_err()));
	} while (hi >= bound);
	for (unsigned apart = 0; apart < 2; apart++) {
		const double n = less + 1 - apart;
		/* Two runs as alike as can be, so that the variance between
		 * runs does not widen the interval. */
		const double some[2] = {floor(n / 2), ceil(n / 2)};
		char text[256] = "";
		struct res_cube was, is;
		struct xp_expected x;
		make_cube(&was, 2, all, flows);
		make_cube(&is, 2, some, flows);
		char *table = write_text(&was);
		assert_ok(xp_expected_check(&is, "t", table, &x, note, text,
		    test_err()));
		assert_int_equal(x.n_compared, 1);
		assert_int_equal(x.n_failed, apart);
		assert_int_equal(strncmp(text, "a:accuracy_all 0.", 17) == 0,
		    apart);
		free(table);
		res_cube_free(&was);
		res_cube_free(&is);
	}
}

static void points_and_columns_are_found_by_name(void **state)
{
	const double flows[1] = {10}, hits[1] = {5};
	static const struct {
		const char *text;
		size_t n_compared, n_missing;
	} cases[] = {
	    {"runs\ta:accuracy_all_trials\ta:accuracy_all\n1\t10\t0.5\n", 1, 0},
	    {"runs\ta:accuracy_all\ta:accuracy_all_trials\n1\t0.5\t10", 1, 0},
	    {"runs\tb:accuracy_all\tb:accuracy_all_trials\n1\t0.5\t10\n", 0, 1},
	    {"runs\ta:accuracy_kept\ta:accuracy_kept_trials\n1\t0.5\t10\n", 0,
		1},
	    {"k\truns\ta:accuracy_all\ta:accuracy_all_trials\n7\t1\t0.5\t10\n",
		0, 1},
	    {"runs\ta:accuracy_all\ta:accuracy_all_trials\n1\tNaN\t0\n", 0, 0},
	    {"runs\ta:other\n1\tx\n", 0, 0},
	    {"runs\n", 0, 0},
	};
	struct res_cube c;
	(void)state;
	make_cube(&c, 1, hits, flows);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xp_expected x;
		assert_ok(xp_expected_check(&c, "t", cases[i].text, &x, NULL,
		    NULL, test_err()));
		if (x.n_compared != cases[i].n_compared ||
		    x.n_missing != cases[i].n_missing || x.n_failed > 0)
			fail_msg("case %zu: %zu compared, %zu missing", i,
			    x.n_compared, x.n_missing);
	}
	res_cube_free(&c);
}

static void other_texts_are_refused(void **state)
{
	const double flows[1] = {10}, hits[1] = {5};
	static const char *const texts[] = {
	    "",
	    "a\tb\n1\t2\n",
	    "runs\ta:x\ta:x_trials\n1\t0.5\n",
	    "runs\ta:x\ta:x_trials\n1\t0.5\t10\t3\n",
	    "runs\ta:x\ta:x_trials\n1\t1.5\t10\n",
	    "runs\ta:x\ta:x_trials\n1\t-0.5\t10\n",
	    "runs\ta:x\ta:x_trials\n1\tNaN\t10\n",
	    "runs\ta:x\ta:x_trials\n1\t0.5\tmany\n",
	    "runs\ta:x\ta:x_trials\n1\t0.5\t1e300\n",
	    "runs\ta:x\ta:x_trials\n1\t0.5\t2.5\n",
	};
	struct res_cube c;
	(void)state;
	make_cube(&c, 1, hits, flows);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct xp_expected x;
		if (xp_expected_check(&c, "t", texts[i], &x, NULL, NULL,
			test_err()) != SIM_EPARSE)
			fail_msg("case %zu", i);
	}
	res_cube_free(&c);
}

struct pair {
	struct res_cube cube;
	char *text;
};

static int check_once(void *arg, struct sim_err *e)
{
	struct pair *p = arg;
	struct xp_expected x;
	return xp_expected_check(&p->cube, "t", p->text, &x, NULL, NULL, e);
}

static void a_failed_allocation_leaks_nothing(void **state)
{
	const double flows[1] = {10}, hits[1] = {5};
	struct pair p;
	(void)state;
	make_cube(&p.cube, 1, hits, flows);
	p.text = write_text(&p.cube);
	test_each_alloc_fails(check_once, &p);
	free(p.text);
	res_cube_free(&p.cube);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(trials_count_for_what_runs_vary),
	    cmocka_unit_test(ratios_of_the_trial_are_there_where_measured),
	    cmocka_unit_test(a_cell_of_equal_ratios_is_one_row),
	    cmocka_unit_test(independent_trials_all_count),
	    cmocka_unit_test(results_pass_against_themselves),
	    cmocka_unit_test(intervals_apart_fail_and_are_told),
	    cmocka_unit_test(points_and_columns_are_found_by_name),
	    cmocka_unit_test(other_texts_are_refused),
	    cmocka_unit_test(a_failed_allocation_leaks_nothing),
	};
	return cmocka_run_group_tests_name("experiments/check/expected", tests,
	    NULL, NULL);
}
