/* tests/experiments/arena/score_test.c -- scores of the arena, counted twice.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/arena/score.h"

#include "experiments/arena/standing.h"
#include "results/provenance.h"
#include "sim/text.h"
#include "tests/test.h"

enum { SCORE_POINTS = 4, SCORE_RUNS = 3, SCORE_ALGOS = 3 };

/* --- sweeps --------------------------------------------------------------- */

static char *copy(const char *s)
{
	char *text;
	assert_ok(sim_dup(&text, s, test_err()));
	return text;
}

static void score_cube(struct res_cube *c)
{
	static const char *const names[] = {"x", "y", "z"};
	*c = (struct res_cube){.n_algos = SCORE_ALGOS,
	    .n_axes = 1,
	    .n_points = SCORE_POINTS,
	    .n_runs = SCORE_RUNS,
	    .shard_n = 1};
	c->figure = copy("f");
	c->algo = calloc(SCORE_ALGOS, sizeof(c->algo[0]));
	c->axis = calloc(1, sizeof(c->axis[0]));
	assert_true(c->algo && c->axis);
	for (size_t i = 0; i < SCORE_ALGOS; i++)
		c->algo[i] = copy(names[i]);
	c->axis->n = SCORE_POINTS;
	assert_ok(res_cube_alloc(c, test_err()));
}

static void put_algo(struct res_cube *c, size_t row, size_t algo, unsigned at,
    double x)
{
	res_columns_put(&c->rows, row, res_row_doubles(algo) + at, x);
}

static double get_algo(const struct res_cube *c, size_t row, size_t algo,
    unsigned at)
{
	double x;
	res_cube_get_row(c, row, res_row_doubles(algo) + at, 1, &x);
	return x;
}

/* What an algorithm says of a window in which TO_FIND failed: it answers, accusing
 * right or not; does not answer; or cannot read it. */
static void draw_answer(struct res_cube *c, size_t row, size_t algo,
    double to_find, struct sim_rng *r)
{
	const unsigned how = sim_rng_below(r, 6);
	if (how == 0)
		return;
	put_algo(c, row, algo, RES_ALGO_n_unanswered, how == 1);
	if (how == 1)
		return;
	const double found =
	    to_find > 0 ? sim_rng_below(r, (uint32_t)to_find + 1) : 0;
	const double others = sim_rng_below(r, 2);
	put_algo(c, row, algo, RES_ALGO_n_top, to_find);
	put_algo(c, row, algo, RES_ALGO_n_to_find, to_find);
	/* One that does not accuse has no such numbers. */
	if (how == 2)
		return;
	put_algo(c, row, algo, RES_ALGO_n_found, found);
	put_algo(c, row, algo, RES_ALGO_n_flagged, found + others);
	put_algo(c, row, algo, RES_ALGO_n_flagged_true, found);
	put_algo(c, row, algo, RES_ALGO_f, found / (to_find + 1));
	put_algo(c, row, algo, RES_ALGO_right_share,
	    how == 3 ? NAN : ldexp(1, -(int)sim_rng_below(r, 3)));
	put_algo(c, row, algo, RES_ALGO_flows_fault, to_find * 10);
	put_algo(c, row, algo, RES_ALGO_hits_fault, found * 7);
	for (unsigned b = 0; how > 3 && b < RES_N_CHANCE_BINS; b++)
		for (unsigned k = 0; k < 3; k++)
			put_algo(c, row, algo, RES_ALGO_n_stated_1 + 3 * b + k,
			    (double)(b + 10 * k + sim_rng_below(r, 3)));
}

static void draw_sweep(struct res_cube *c, uint32_t run)
{
	static const enum res_status status[] = {RES_DONE, RES_DONE, RES_DONE,
	    RES_DONE, RES_FAILED, RES_CRASHED, RES_NOT_RUN};
	struct sim_rng r;
	test_rng(&r, run);
	score_cube(c);
	for (size_t row = 0; row < c->n_rows; row++) {
		const double to_find = sim_rng_below(&r, 4);
		c->status[row] = (uint8_t)status[sim_rng_below(&r, 7)];
		if (c->status[row] != RES_DONE)
			continue;
		res_columns_put(&c->rows, row, RES_TRIAL_n_faults, to_find);
		res_columns_put(&c->rows, row, RES_TRIAL_host_bytes_s,
		    100 + (double)row);
		for (size_t a = 0; a < SCORE_ALGOS; a++)
			draw_answer(c, row, a, to_find, &r);
	}
}

/* --- an oracle ------------------------------------------------------------ */

struct sums {
	double num[XP_ARENA_N_SCORES], den[XP_ARENA_N_SCORES];
};

static void sums_add(struct sums *s, unsigned score, double num, double den)
{
	if (num == num && den == den) {
		s->num[score] += num;
		s->den[score] += den;
	}
}

/* What the truth is, as any who answered was told. */
static double truth_of(const struct res_cube *c, size_t row, unsigned at)
{
	double x = NAN;
	for (size_t a = SCORE_ALGOS; a-- > 0;)
		if (!isnan(get_algo(c, row, a, at)))
			x = get_algo(c, row, a, at);
	return x;
}

/* By the header, window by window. */
static void sums_window(struct sums *s, const struct res_cube *c, size_t row,
    size_t a)
{
#define GET(name) get_algo(c, row, a, RES_ALGO_##name)
	const int lacks = GET(n_unanswered) == 1 || isnan(GET(n_top));
	double faults;
	res_cube_get_row(c, row, RES_TRIAL_n_faults, 1, &faults);
	if (!lacks && isnan(GET(n_flagged)))
		return;
	sums_add(s, XP_ARENA_answered, lacks ? 0 : 1, 1);
	sums_add(s, XP_ARENA_host_bytes_s, 100 + (double)row, 1);
	if (faults == 0 && !lacks)
		sums_add(s, XP_ARENA_alarms, GET(n_flagged) > 0 ? 1 : 0, 1);
	if (faults == 0)
		return;
	sums_add(s, XP_ARENA_f, lacks ? 0 : GET(f), 1);
	sums_add(s, XP_ARENA_recall, lacks ? 0 : GET(n_found), faults);
	sums_add(s, XP_ARENA_exact,
	    !lacks && GET(n_found) == faults && GET(n_flagged) == faults, 1);
	sums_add(s, XP_ARENA_blame, lacks ? 0 : GET(hits_fault),
	    truth_of(c, row, RES_ALGO_flows_fault));
	if (!lacks)
		sums_add(s, XP_ARENA_precision, GET(n_found), GET(n_flagged));
	if (!lacks)
		sums_add(s, XP_ARENA_right_s, 30 * GET(right_share), 1);
	else if (!isnan(truth_of(c, row, RES_ALGO_right_share)))
		sums_add(s, XP_ARENA_right_s, 30, 1);
#undef GET
}

static struct sums sums_of(const struct res_cube *c, size_t algo, size_t run)
{
	struct sums s = {.num = {0}};
	for (size_t point = 0; point < SCORE_POINTS; point++) {
		const size_t row = point * SCORE_RUNS + run;
		if (c->status[row] == RES_DONE)
			sums_window(&s, c, row, algo);
		else if (c->status[row] != RES_NOT_RUN)
			sums_add(&s, XP_ARENA_answered, 0, 1);
	}
	return s;
}

static void each_window_is_counted_as_the_header_says(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 40; run++) {
		struct xp_arena_standing s = {0};
		struct res_cube c;
		draw_sweep(&c, run);
		assert_ok(xp_arena_add(&s, 1, 2, &c, test_err()));
		assert_int_equal(s.n, SCORE_ALGOS);
		for (size_t a = 0; a < SCORE_ALGOS; a++) {
			const struct xp_arena_entry *x = &s.entry[a];
			assert_string_equal(x->algorithm, c.algo[a]);
			assert_int_equal(x->family, 1);
			assert_int_equal(x->telemetry, 2);
			assert_int_equal(x->n_runs, SCORE_RUNS);
			for (size_t r = 0; r < SCORE_RUNS; r++) {
				const struct sums want = sums_of(&c, a, r);
				for (unsigned m = 0; m < XP_ARENA_N_SCORES;
				     m++) {
					const size_t at = m * SCORE_RUNS + r;
					assert_near(x->num[at], want.num[m],
					    1e-9);
					assert_near(x->den[at], want.den[m],
					    1e-9);
				}
			}
		}
		res_cube_free(&c);
		xp_arena_free(&s);
		assert_null(s.entry);
		assert_int_equal(s.n, 0);
	}
}

/* Chances of a run are the sums of its windows; an algorithm that states none has
 * none. */
static void chances_are_added_up_by_run(void **state)
{
	struct xp_arena_standing s = {0};
	struct res_cube c;
	(void)state;
	draw_sweep(&c, 3);
	assert_ok(xp_arena_add(&s, 0, 0, &c, test_err()));
	assert_ok(xp_arena_add(&s, 1, 0, &c, test_err()));
	assert_ok(xp_arena_sum(&s, test_err()));
	double all = 0;
	for (size_t a = 0; a < SCORE_ALGOS; a++)
		for (size_t r = 0; r < SCORE_RUNS; r++)
			for (unsigned b = 0; b < RES_N_CHANCE_BINS; b++) {
				double want[3] = {0};
				for (size_t p = 0; p < SCORE_POINTS; p++)
					for (unsigned k = 0; k < 3; k++) {
						const double x = get_algo(&c,
						    p * SCORE_RUNS + r, a,
						    RES_ALGO_n_stated_1 +
							3 * b + k);
						want[k] += isnan(x) ? 0 : x;
					}
				const struct res_chance_bin *got =
				    &s.entry[SCORE_ALGOS + a].chance[r][b];
				assert_near(got->n, want[0], 1e-9);
				assert_near(got->stated, want[1], 1e-9);
				assert_near(got->n_true, want[2], 1e-9);
				/* Of all families both are added up. */
				got = &s.entry[a].chance[r][b];
				assert_near(got->n, 2 * want[0], 1e-9);
				assert_near(got->stated, 2 * want[1], 1e-9);
				assert_near(got->n_true, 2 * want[2], 1e-9);
				all += want[0];
			}
	assert_true(all > 0);
	res_cube_free(&c);
	xp_arena_free(&s);
}

/* --- all families, by hand ------------------------------------------------ */

/* An entry of a family, of two runs, of N windows each, whose F are given; with
 * bytes of a host, and of alarms the numbers of two runs. */
static struct xp_arena_entry *add_entry(struct xp_arena_standing *s,
    size_t family, size_t telemetry, const char *name, double n, double f0,
    double f1, double bytes)
{
	static const size_t runs = 2;
	struct xp_arena_entry *x;
	s->entry = realloc(s->entry, (s->n + 1) * sizeof(*x));
	assert_non_null(s->entry);
	x = &s->entry[s->n++];
	s->cap = s->n;
	*x = (struct xp_arena_entry){.family = family,
	    .telemetry = telemetry,
	    .n_runs = runs};
	snprintf(x->algorithm, sizeof(x->algorithm), "%s", name);
	x->num = calloc(XP_ARENA_N_SCORES * runs, sizeof(x->num[0]));
	x->den = calloc(XP_ARENA_N_SCORES * runs, sizeof(x->den[0]));
	x->chance = calloc(runs, sizeof(x->chance[0]));
	assert_true(x->num && x->den && x->chance);
	for (size_t r = 0; r < runs; r++) {
		x->num[XP_ARENA_f * runs + r] = n * (r ? f1 : f0);
		x->den[XP_ARENA_f * runs + r] = n;
		x->num[XP_ARENA_host_bytes_s * runs + r] = 3 * bytes;
		x->den[XP_ARENA_host_bytes_s * runs + r] = 3;
		x->num[XP_ARENA_answered * runs + r] = n;
		x->den[XP_ARENA_answered * runs + r] = n;
	}
	return x;
}

/* What Student's law says of two runs that are far apart goes beyond. */
static void intervals_of_shares_lie_between_0_and_1(void **state)
{
	struct xp_arena_standing s = {0};
	(void)state;
	add_entry(&s, 0, 1, "a", 10, 0.5, 1, 100);
	const struct sim_ratio f = xp_arena_score(&s.entry[0], XP_ARENA_f);
	assert_near(f.value, 0.75, 1e-12);
	assert_true(f.lo == 0 && f.hi == 1);
	/* Of 1 and 3, say, bytes: 12.7 standard errors of 1 are beyond 0. */
	double *const bytes = s.entry[0].num + 2 * XP_ARENA_host_bytes_s;
	bytes[0] = s.entry[0].den[2 * XP_ARENA_host_bytes_s];
	bytes[1] = 3 * s.entry[0].den[2 * XP_ARENA_host_bytes_s + 1];
	const struct sim_ratio b =
	    xp_arena_score(&s.entry[0], XP_ARENA_host_bytes_s);
	assert_near(b.value, 2, 1e-12);
	assert_true(b.lo == 0 && b.hi > 10);
	s.entry[0].n_runs = 1;
	const struct sim_ratio one = xp_arena_score(&s.entry[0], XP_ARENA_f);
	assert_near(one.value, 0.5, 1e-12);
	assert_true(one.lo == 0 && one.hi == 1);
	xp_arena_free(&s);
}

/* Families count alike, however many windows they have. */
static void all_families_are_the_mean_of_theirs(void **state)
{
	struct xp_arena_standing s = {0};
	(void)state;
	add_entry(&s, 0, 1, "a", 10, 0.5, 0.75, 100);
	add_entry(&s, 0, 1, "b", 10, 0.25, 0.25, 100);
	add_entry(&s, 1, 1, "a", 4, 1, 0.25, 300);
	add_entry(&s, 1, 2, "a", 4, 0.125, 0.125, 7);
	add_entry(&s, 2, 1, "a", 0, 0, 0, 500);
	assert_ok(xp_arena_sum(&s, test_err()));
	assert_int_equal(s.n_of_all, 3);
	assert_int_equal(s.n, 3 + 5);
	const struct xp_arena_entry *a = &s.entry[0], *b = &s.entry[1],
				    *other = &s.entry[2];
	assert_string_equal(a->algorithm, "a");
	assert_string_equal(xp_arena_family_name(a->family), "all");
	assert_int_equal(a->telemetry, 1);
	assert_near(xp_arena_score(a, XP_ARENA_f).value,
	    (0.5 + 1 + 0.75 + 0.25) / 4, 1e-12);
	assert_near(xp_arena_score(a, XP_ARENA_host_bytes_s).value, 300, 1e-9);
	assert_near(a->den[XP_ARENA_f * 2], 2, 0);
	assert_near(a->windows, 4, 0);
	assert_string_equal(b->algorithm, "b");
	assert_near(b->windows, 10, 0);
	assert_near(xp_arena_score(b, XP_ARENA_f).value, 0.25, 1e-12);
	assert_int_equal(other->telemetry, 2);
	assert_near(xp_arena_score(other, XP_ARENA_f).value, 0.125, 1e-12);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(s.entry[3 + i].family,
		    i < 2       ? 0
			: i < 4 ? 1
				: 2);
	xp_arena_free(&s);
}

/* Points of F and bytes; who has less F and no fewer bytes than another is not in
 * front, and of two that are equal the first is. */
static void the_front_is_who_is_not_beaten(void **state)
{
	static const double at[][2] = {{0.9, 800}, {0.9, 900}, {0.5, 100},
	    {0.5, 100}, {0.4, 50}, {0.4, 60}, {0.95, 5000}, {0.3, 50},
	    {0.89, 799}};
	static const int front[] = {1, 0, 1, 0, 1, 0, 1, 0, 1};
	enum { N = sizeof(front) / sizeof(front[0]) };
	struct xp_arena_standing s = {0};
	(void)state;
	for (size_t i = 0; i < N; i++) {
		char name[8];
		snprintf(name, sizeof(name), "a%zu", i);
		add_entry(&s, 0, i % 3, name, 10, at[i][0], at[i][0], at[i][1]);
	}
	add_entry(&s, 0, 0, "none", 0, 0, 0, 1);
	assert_ok(xp_arena_sum(&s, test_err()));
	for (size_t i = 0; i < N; i++)
		assert_int_equal(xp_arena_in_front(&s, &s.entry[i]), front[i]);
	assert_int_equal(xp_arena_in_front(&s, &s.entry[N]), 0);
	assert_ptr_equal(xp_arena_best(&s), &s.entry[6]);
	xp_arena_free(&s);
}

/* F of constant differences has intervals without width but for what a window may
 * change. */
static void the_thriftiest_is_within_the_margin(void **state)
{
	struct xp_arena_standing s = {0};
	(void)state;
	assert_null(xp_arena_best(&s));
	assert_null(xp_arena_thriftiest(&s));
	add_entry(&s, 0, 0, "much", 1e6, 0.9, 0.8, 1000);
	add_entry(&s, 0, 1, "less", 1e6, 0.87, 0.77, 100);
	add_entry(&s, 0, 2, "least", 1e6, 0.8, 0.7, 10);
	add_entry(&s, 0, 3, "like less", 1e6, 0.88, 0.78, 100);
	assert_ok(xp_arena_sum(&s, test_err()));
	assert_string_equal(xp_arena_best(&s)->algorithm, "much");
	assert_string_equal(xp_arena_thriftiest(&s)->algorithm, "like less");
	const struct sim_ratio d =
	    xp_arena_difference(&s.entry[0], &s.entry[1]);
	assert_near(d.value, 0.03, 1e-12);
	assert_near(d.lo, 0.03, 1e-4);
	assert_near(d.hi, 0.03, 1e-4);
	xp_arena_free(&s);
}

/* 3 and 1 windows of 10 and 30 without a fault have an alarm, and 2 of 8 of
 * another family: of all, 6 of 48. */
static void alarms_are_of_a_days_windows(void **state)
{
	struct xp_arena_standing s = {0};
	struct sim_ratio r;
	(void)state;
	for (size_t family = 0; family < 2; family++) {
		struct xp_arena_entry *x =
		    add_entry(&s, family, 0, "a", 1, 1, 1, 1);
		const double num[2][2] = {{3, 1}, {2, 0}},
			     den[2][2] = {{10, 30}, {8, 0}};
		for (size_t k = 0; k < 2; k++) {
			x->num[XP_ARENA_alarms * 2 + k] = num[family][k];
			x->den[XP_ARENA_alarms * 2 + k] = den[family][k];
		}
	}
	add_entry(&s, 0, 1, "a", 1, 1, 1, 1);
	assert_ok(xp_arena_sum(&s, test_err()));
	assert_ok(xp_arena_alarms_a_day(&s, &s.entry[0], &r, test_err()));
	assert_near(r.value, 2880 * 6 / 48., 1e-9);
	assert_true(r.lo < r.value && r.value < r.hi && r.hi < 2880);
	assert_ok(xp_arena_alarms_a_day(&s, &s.entry[2], &r, test_err()));
	assert_near(r.value, 2880 * 4 / 40., 1e-9);
	assert_ok(xp_arena_alarms_a_day(&s, &s.entry[3], &r, test_err()));
	assert_near(r.value, 2880 * 2 / 8., 1e-9);
	assert_ok(xp_arena_alarms_a_day(&s, &s.entry[1], &r, test_err()));
	assert_true(isnan(r.value));
	xp_arena_free(&s);
}

/* --- tables --------------------------------------------------------------- */

typedef void printer(const struct xp_arena_standing *s, FILE *out);

static void assert_prints(printer *print, const struct xp_arena_standing *s,
    const char *want)
{
	char text[4096] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	assert_non_null(out);
	print(s, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, want);
}

static void tables_are_these(void **state)
{
	struct xp_arena_standing s = {0};
	char want[2048];
	(void)state;
	struct xp_arena_entry *x = add_entry(&s, 1, 1, "a", 10, 0.5, 0.5, 200);
	x->num[XP_ARENA_answered * 2] = 7;
	x = add_entry(&s, 1, 0, "b", 10, 0.25, 0.25, 100);
	x = add_entry(&s, 3, 1, "a", 10, 0.5, 0.5, 200);
	x->num[XP_ARENA_answered * 2 + 1] = 6;
	x = add_entry(&s, 3, 0, "b", 0, 0, 0, 100);
	x->num[XP_ARENA_answered * 2] = x->den[XP_ARENA_answered * 2] = 4;
	x->num[XP_ARENA_alarms * 2] = 1;
	x->den[XP_ARENA_alarms * 2] = 4;
	x = add_entry(&s, 4, 0, "b", 10, 0, 0, 100);
	x->num[XP_ARENA_answered * 2] = x->num[XP_ARENA_answered * 2 + 1] = 0;
	assert_ok(xp_arena_sum(&s, test_err()));
	const char *t0 = xp_arena_telemetries[0].name,
		   *t1 = xp_arena_telemetries[1].name;
	const char *f1 = xp_arena_families[1], *f3 = xp_arena_families[3],
		   *f4 = xp_arena_families[4];

	snprintf(want, sizeof(want),
	    "a on %s did not answer 3 of 20 windows of %s, 4 of 20 windows of "
	    "%s; F of these is 0.\n"
	    "b on %s did not answer 20 of 20 windows of %s; F of these is "
	    "0.\n",
	    t1, f1, f3, t0, f4);
	assert_prints(xp_arena_print_gaps, &s, want);

	snprintf(want, sizeof(want),
	    "row\tentry\tcolumn\tfamily\tvalue\n"
	    "0\ta, %s\t0\t%s\t0.5\n"
	    "0\ta, %s\t1\t%s\t0.5\n"
	    "1\tb, %s\t0\t%s\t0.25\n"
	    "1\tb, %s\t1\t%s\t0.75\n"
	    "1\tb, %s\t2\t%s\tnan\n",
	    t1, f1, t1, f3, t0, f1, t0, f3, t0, f4);
	assert_prints(xp_arena_print_map, &s, want);

	char text[4096] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	assert_non_null(out);
	xp_arena_print_front(&s, out);
	fclose(out);
	snprintf(want, sizeof(want),
	    "telemetry\torder\talgorithm\thost_bytes_s\tf\tf_lo\tf_hi\t"
	    "in_front\tanswer\tanswered\n%s\t1\ta\t200\t0.5\t",
	    t1);
	assert_memory_equal(text, want, strlen(want));
	snprintf(want, sizeof(want), "\n%s\t0\tb\t100\t0.125\t", t0);
	assert_non_null(strstr(text, want));
	assert_non_null(strstr(text, "\t1\tleast\t0.825\n"));
	assert_non_null(strstr(text, "\t1\t-\t0.6"));

	memset(text, 0, sizeof(text));
	out = fmemopen(text, sizeof(text), "w");
	xp_arena_print_pairs(&s, out);
	fclose(out);
	snprintf(want, sizeof(want),
	    "telemetry,algorithm,than_telemetry,than_algorithm,f_more,lo,hi\n"
	    "%s,a,%s,b,0.375,",
	    t1, t0);
	assert_memory_equal(text, want, strlen(want));
	xp_arena_free(&s);
}

/* --- what is kept --------------------------------------------------------- */

static void the_answer_is_a_sentence_or_two(void **state)
{
	struct xp_arena_standing s = {0};
	char text[XP_ARENA_ANSWER] = "x", want[XP_ARENA_ANSWER];
	const char *t0 = xp_arena_telemetries[0].name,
		   *t1 = xp_arena_telemetries[1].name;
	(void)state;
	xp_arena_answer(&s, text);
	assert_string_equal(text, "");
	add_entry(&s, 0, 0, "much", 1e6, 0.75, 0.75, 1000);
	assert_ok(xp_arena_sum(&s, test_err()));
	xp_arena_answer(&s, text);
	snprintf(want, sizeof(want),
	    "Best is much on %s: F 0.750 (0.750-0.750), 1000 bytes/s of a "
	    "host. Nothing that sends less is shown to be at most 0.05 worse.",
	    t0);
	assert_string_equal(text, want);
	xp_arena_free(&s);

	/* Intervals end at 0 and 1; of few bytes a digit more is told. */
	add_entry(&s, 0, 0, "much", 1e6, 1, 0.75, 10);
	add_entry(&s, 0, 1, "less", 1e6, 0.98, 0.73, 9.875);
	assert_ok(xp_arena_sum(&s, test_err()));
	xp_arena_answer(&s, text);
	snprintf(want, sizeof(want),
	    "Best is much on %s: F 0.875 (0.000-1.000), 10 bytes/s of a "
	    "host. At most 0.05 worse, as is shown, and with least telemetry "
	    "is less on %s: F 0.855 (0.000-1.000), 9.9 bytes/s of a host.",
	    t0, t1);
	assert_string_equal(text, want);
	xp_arena_free(&s);
}

/* Of ten components whose chances add up to 1 three failed, in each run. */
static void chances_that_are_wrong_have_a_row(void **state)
{
	const struct xp_arena_head head = {"s", 12, 0xabc};
	struct xp_arena_standing s = {0};
	char *text = NULL, want[256];
	size_t n;
	(void)state;
	struct xp_arena_entry *x = add_entry(&s, 1, 0, "a", 10, 0.5, 0.75, 200);
	x->chance[0][0] = x->chance[1][0] =
	    (struct res_chance_bin){.n = 10, .stated = 1, .n_true = 3};
	add_entry(&s, 1, 0, "b", 10, 0.5, 0.75, 200);
	assert_ok(xp_arena_sum(&s, test_err()));
	FILE *out = open_memstream(&text, &n);
	assert_non_null(out);
	assert_ok(xp_arena_print_standing(&s, &head, out, test_err()));
	fclose(out);
	for (int i = 0; i < 2; i++) {
		snprintf(want, sizeof(want),
		    "\n%s\t%s\ta:ece\t2\t2\t20\t0.2\t0\n",
		    i ? "all" : xp_arena_families[1],
		    xp_arena_telemetries[0].name);
		if (!strstr(text, want))
			fail_msg("no %s in %s", want, text);
	}
	assert_null(strstr(text, "b:ece"));
	free(text);
	xp_arena_free(&s);
}

/* Of all families each score that was measured has a row, of one family its
 * costs have none, and how many were answered only where not all were. */
static void the_standing_has_a_row_for_each_score(void **state)
{
	const struct xp_arena_head head = {"s", 12, 0xabc};
	struct xp_arena_standing s = {0};
	char *text = NULL, want[2048], answer[XP_ARENA_ANSWER];
	const char *t0 = xp_arena_telemetries[0].name,
		   *f1 = xp_arena_families[1], *f2 = xp_arena_families[2];
	size_t n;
	(void)state;
	add_entry(&s, 1, 0, "a", 10, 0.5, 0.75, 200);
	struct xp_arena_entry *x = add_entry(&s, 2, 0, "a", 8, 0.25, 0.5, 200);
	x->num[XP_ARENA_answered * 2] = 6;
	x->den[XP_ARENA_f * 2 + 1] = x->num[XP_ARENA_f * 2 + 1] = 0;
	assert_ok(xp_arena_sum(&s, test_err()));
	xp_arena_answer(&s, answer);
	FILE *out = open_memstream(&text, &n);
	assert_non_null(out);
	assert_ok(xp_arena_print_standing(&s, &head, out, test_err()));
	fclose(out);
	snprintf(want, sizeof(want),
	    "# arena %d, size s, seed 12, version %.*s, build %s; answer: %s; "
	    "made of 0000000000000abc\nfamily\ttelemetry\t",
	    XP_ARENA_VERSION, (int)strcspn(res_version(), " "), res_version(),
	    res_build(), answer);
	assert_memory_equal(text, want, strlen(want));
	char *rows = strchr(strchr(text, '\n') + 1, '\n') + 1;
	/* Of two numbers the standard error is half their difference; of all
	 * families the first run has two entries and the second one. */
	snprintf(want, sizeof(want), "all\t%s\ta:f\t2\t2\t3\t0.5\t", t0);
	assert_memory_equal(rows, want, strlen(want));
	snprintf(want, sizeof(want),
	    "\nall\t%s\ta:answered\t2\t2\t4\t0.9375\t0.0625\n"
	    "all\t%s\ta:host_bytes_s\t2\t2\t4\t200\t0\n"
	    "%s\t%s\ta:f\t2\t2\t20\t0.625\t0.125\n"
	    "%s\t%s\ta:f\t2\t1\t8\t0.25\tNaN\n"
	    "%s\t%s\ta:answered\t2\t2\t16\t0.875\t0.125\n",
	    t0, t0, f1, t0, f2, t0, f2, t0);
	assert_string_equal(strchr(rows, '\n'), want);
	free(text);
	xp_arena_free(&s);
}

static int add_and_sum(void *arg, struct sim_err *e)
{
	struct xp_arena_standing s = {0};
	struct sim_ratio r;
	int rc = xp_arena_add(&s, 0, 0, arg, e);
	if (rc == 0)
		rc = xp_arena_sum(&s, e);
	if (rc == 0)
		rc = xp_arena_alarms_a_day(&s, &s.entry[0], &r, e);
	xp_arena_free(&s);
	return rc;
}

static void memory_that_ends_is_told(void **state)
{
	struct res_cube c;
	(void)state;
	draw_sweep(&c, 1);
	test_each_alloc_fails(add_and_sum, &c);
	res_cube_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_window_is_counted_as_the_header_says),
	    cmocka_unit_test(chances_are_added_up_by_run),
	    cmocka_unit_test(intervals_of_shares_lie_between_0_and_1),
	    cmocka_unit_test(all_families_are_the_mean_of_theirs),
	    cmocka_unit_test(the_front_is_who_is_not_beaten),
	    cmocka_unit_test(the_thriftiest_is_within_the_margin),
	    cmocka_unit_test(alarms_are_of_a_days_windows),
	    cmocka_unit_test(tables_are_these),
	    cmocka_unit_test(the_answer_is_a_sentence_or_two),
	    cmocka_unit_test(chances_that_are_wrong_have_a_row),
	    cmocka_unit_test(the_standing_has_a_row_for_each_score),
	    cmocka_unit_test(memory_that_ends_is_told),
	};
	return cmocka_run_group_tests_name("experiments/arena/score", tests,
	    NULL, NULL);
}
