/* tests/algos/pingmesh/heatmap_test.c -- heat maps by brute force; patterns.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/heatmap.h"

#include "tests/test.h"

enum { WHITE, GREEN, YELLOW, RED };
static const double colours[] = {NAN, 700, 4500, 9000};
static const char letters[] = "WGYR", states[] = ".DF";

static struct algo_heatmap_params defaults(void)
{
	struct algo_heatmap_params p;
	assert_ok(sim_field_defaults(algo_heatmap_fields, &p, test_err()));
	return p;
}

static enum algo_heatmap_pattern classify(struct algo_heatmap *m)
{
	const struct algo_heatmap_params p = defaults();
	enum algo_heatmap_pattern pattern;
	assert_ok(algo_heatmap_classify(m, &p, &pattern, test_err()));
	return pattern;
}

static double *at(struct algo_heatmap *m, uint32_t from, uint32_t to)
{
	return &m->p99_us[from * m->n_units + to];
}

/* Draw rows of letters, W G Y R; as many pods as N_PODS. */
static void draw(struct algo_heatmap *m, uint32_t n_pods, const char *cells)
{
	uint32_t n = 0;
	while (n * n < strlen(cells))
		n++;
	assert_int_equal(n * n, strlen(cells));
	assert_ok(algo_heatmap_init(m, n, n_pods, test_err()));
	for (uint32_t i = 0; i < n * n; i++)
		m->p99_us[i] = colours[strchr(letters, cells[i]) - letters];
}

/* --- measuring -------------------------------------------------------------*/
static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* P99 of what hosts [from, from + n) sent to [to, to + n). */
static double brute(const struct obs_probes *t, uint32_t from, uint32_t to,
    uint32_t n)
{
	static double rtt[3000];
	size_t k = 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->outcome[i] == OBS_CONNECTED &&
		    t->level[i] != OBS_LEVEL_INTER_DC &&
		    t->src_host[i] - from < n && t->dst_host[i] - to < n)
			rtt[k++] = (double)t->rtt_ns[i] / 1e3;
	qsort(rtt, k, sizeof(*rtt), ascending);
	return k ? rtt[(99 * k + 99) / 100 - 1] : NAN;
}

static void cells_agree_with_a_list_of_their_probes(void **state)
{
	(void)state;
	struct topo_clos c = {.n_pods = 2,
	    .n_tors = 2,
	    .n_t1 = 1,
	    .n_t2 = 1,
	    .n_hosts = 2};
	struct algo_heatmap m = {0};
	struct algo_rtt_order order = {.n = 0};
	struct obs_probes t = {0};
	assert_ok(topo_clos_init(&c, test_err()));
	const struct topo_dc dc = topo_dc_alone(&c);
	for (uint32_t run = 0; run < 40; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		obs_probes_clear(&t);
		const uint32_t rows = sim_rng_below(&r, 3000) >> run % 8;
		for (uint32_t i = 0; i < rows; i++) {
			struct obs_probe p = {.src_host = sim_rng_below(&r, 8),
			    .level = (uint8_t)(1 + sim_rng_below(&r, 3)),
			    .outcome = (uint8_t)(sim_rng_below(&r, 4) / 3)};
			p.dst_host =
			    (p.src_host + 1 + sim_rng_below(&r, 7)) % 8;
			if (p.outcome == OBS_CONNECTED)
				p.rtt_ns = 1 + sim_rng_below(&r, 10000000);
			assert_ok(obs_probes_add(&t, &p, test_err()));
		}
		assert_ok(algo_rtt_order_make(&order, &t, test_err()));
		for (int by_pod = 0; by_pod < 2; by_pod++) {
			const uint32_t n = by_pod ? 2 : 4;
			assert_ok(algo_heatmap_measure(&m, &order, &dc,
			    by_pod ? ALGO_HEATMAP_POD : ALGO_HEATMAP_TOR,
			    test_err()));
			assert_int_equal(m.n_units, n);
			assert_int_equal(m.n_pods, 2);
			for (uint32_t i = 0; i < n * n; i++) {
				const double want = brute(&t, i / n * (8 / n),
				    i % n * (8 / n), 8 / n);
				if (isnan(want) ? !isnan(m.p99_us[i])
						: m.p99_us[i] != want)
					fail_msg("seed %llu, run %u, cell %u",
					    (unsigned long long)test_seed(),
					    run, i);
			}
		}
	}
	obs_probes_free(&t);
	algo_heatmap_free(&m);
	algo_rtt_order_free(&order);
	assert_null(m.p99_us);
}

/* --- patterns --------------------------------------------------------------*/
#define ASSERT_PATTERN(n_pods, cells, want)                                    \
	do {                                                                   \
		draw(&m, n_pods, cells);                                       \
		assert_int_equal(classify(&m), ALGO_HEATMAP_##want);           \
	} while (0)

static void assert_pods(const struct algo_heatmap *m, const char *want)
{
	for (uint32_t i = 0; i < m->n_pods; i++)
		assert_int_equal(m->pod[i], strchr(states, want[i]) - states);
}

static void the_papers_four_pictures_are_recognised(void **state)
{
	(void)state;
	struct algo_heatmap m = {0};
	ASSERT_PATTERN(4, "GGGGGGGGGGGGGGGG", NORMAL);
	assert_pods(&m, "....");
	ASSERT_PATTERN(4, "GWGGWWWWGWGGGWGG", POD_DOWN);
	assert_pods(&m, ".D..");
	ASSERT_PATTERN(4, "GRGGRRRRGRGGGRGG", POD_FAILURE);
	assert_pods(&m, ".F..");
	ASSERT_PATTERN(4, "GRRRRGRRRRGRRRRG", SPINE_FAILURE);
	assert_pods(&m, "....");
	/* The same by ToR, two in a pod. */
	ASSERT_PATTERN(2, "GGRRGGRRRRGGRRGG", SPINE_FAILURE);
	ASSERT_PATTERN(2, "GGRRGGRRRRRRRRRR", POD_FAILURE);
	assert_pods(&m, ".F");
	ASSERT_PATTERN(2, "WWWWWWWWWWGGWWGG", POD_DOWN);
	assert_pods(&m, "D.");
	algo_heatmap_free(&m);
}

static void any_number_of_pods_can_be_bad_and_in_both_ways(void **state)
{
	(void)state;
	struct algo_heatmap m = {0};
	ASSERT_PATTERN(4, "WWWWWWWWWWGGWWGG", POD_DOWN);
	assert_pods(&m, "DD..");
	ASSERT_PATTERN(4, "RRRRRRRRRRRRRRRG", POD_FAILURE);
	assert_pods(&m, "FFF.");
	ASSERT_PATTERN(4, "GRRRRRRRRRRRRRRR", POD_FAILURE);
	assert_pods(&m, ".FFF");
	ASSERT_PATTERN(4, "RRRRRRRRRRRRRRRR", POD_FAILURE);
	assert_pods(&m, "FFFF");
	ASSERT_PATTERN(4, "WWWWWWWWWWWWWWWW", POD_DOWN);
	assert_pods(&m, "DDDD");
	ASSERT_PATTERN(4, "WWWWWRRRWRGGWRGG", POD_FAILURE);
	assert_pods(&m, "DF..");
	ASSERT_PATTERN(4, "WWWWWGRRWRGRWRRG", SPINE_FAILURE);
	assert_pods(&m, "D...");
	/* One pod alone has no spine. */
	ASSERT_PATTERN(1, "G", NORMAL);
	ASSERT_PATTERN(1, "GGGG", NORMAL);
	ASSERT_PATTERN(1, "RRRR", POD_FAILURE);
	algo_heatmap_free(&m);
}

static void what_fits_no_picture_is_unclear(void **state)
{
	(void)state;
	struct algo_heatmap m = {0};
	/* A row without its column; a lone block; a checkerboard; a pair of
	 * pods that see red, where yellow is no reason to worry. */
	ASSERT_PATTERN(4, "RRRRGGGGGGGGGGGG", UNCLEAR);
	ASSERT_PATTERN(2, "RRGGRRGGGGGGGGGG", UNCLEAR);
	ASSERT_PATTERN(4, "GRGRRGRGGRGRRGRG", UNCLEAR);
	ASSERT_PATTERN(4, "GGGRGGGGGGGGRGGG", UNCLEAR);
	ASSERT_PATTERN(4, "YYYYYYYYYYYYYYYY", NORMAL);
	ASSERT_PATTERN(4, "GYGGYYYYGYGGGYGG", NORMAL);
	algo_heatmap_free(&m);
}

static void thresholds_belong_to_the_side_that_is_stated(void **state)
{
	(void)state;
	struct algo_heatmap m = {0};
	struct algo_heatmap_params p = defaults();
	enum algo_heatmap_pattern pattern;
	/* `fill` is 0.8, so 4 red cells of the 5 of a cross are enough and 3
	 * are not; the same holds for white ones. */
	ASSERT_PATTERN(3, "GRGRRGGRG", POD_FAILURE);
	ASSERT_PATTERN(3, "GRGRYRGRG", POD_FAILURE);
	assert_pods(&m, ".F.");
	ASSERT_PATTERN(3, "GRGRYGGRG", UNCLEAR);
	ASSERT_PATTERN(3, "GWGWWGGWG", POD_DOWN);
	/* A spine failure takes 4 of the 5 blocks on the diagonal green, and
	 * 16 of the 20 others red. */
	ASSERT_PATTERN(5, "YRRRRRGRRRRRGRRGRRGRGGGRG", SPINE_FAILURE);
	ASSERT_PATTERN(5, "YRRRRRGRRRRRGRRGRRGGGGGRG", UNCLEAR);
	ASSERT_PATTERN(5, "YRRRRRYRRRRRGRRGRRGRGGGRG", UNCLEAR);
	/* A cell of exactly red_us is not red. `stray` is 0.1, so of 100 cells
	 * 10 may be red or white, and 11 may not. */
	assert_ok(algo_heatmap_init(&m, 10, 10, test_err()));
	for (uint32_t i = 0; i < 100; i++)
		m.p99_us[i] = i < 90 ? 5000 : i % 2 ? NAN : 5000.001;
	assert_int_equal(classify(&m), ALGO_HEATMAP_NORMAL);
	m.p99_us[0] = NAN;
	assert_int_equal(classify(&m), ALGO_HEATMAP_UNCLEAR);
	/* A cell of exactly yellow_us is no longer green. */
	draw(&m, 2, "GRRG");
	*at(&m, 0, 0) = *at(&m, 1, 1) = 3999.999;
	assert_int_equal(classify(&m), ALGO_HEATMAP_SPINE_FAILURE);
	*at(&m, 0, 0) = *at(&m, 1, 1) = 4000;
	assert_int_equal(classify(&m), ALGO_HEATMAP_UNCLEAR);
	p.red_us = 4000;
	assert_ok(algo_heatmap_classify(&m, &p, &pattern, test_err()));
	p.red_us = 3999;
	struct sim_err e;
	assert_int_equal(algo_heatmap_classify(&m, &p, &pattern, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "red_us of 3999"));
	algo_heatmap_free(&m);
}

/* --- confusion -------------------------------------------------------------*/
/* 4 to 8 pods of 3 to 5 ToRs, one or two of them bad. */
static void paint(struct algo_heatmap *m, enum algo_heatmap_pattern truth,
    double noise, struct sim_rng *r)
{
	const uint32_t n_pods = 4 + sim_rng_below(r, 5);
	const uint32_t a_pod = 3 + sim_rng_below(r, 3);
	const uint32_t bad = sim_rng_below(r, n_pods);
	const uint32_t bad2 =
	    sim_rng_below(r, 2) ? bad : sim_rng_below(r, n_pods);
	assert_ok(algo_heatmap_init(m, n_pods * a_pod, n_pods, test_err()));
	for (uint32_t i = 0; i < m->n_units; i++)
		for (uint32_t j = 0; j < m->n_units; j++) {
			const uint32_t a = i / a_pod, b = j / a_pod;
			const int on_cross =
			    a == bad || b == bad || a == bad2 || b == bad2;
			unsigned c = GREEN;
			if (truth == ALGO_HEATMAP_SPINE_FAILURE && a != b)
				c = RED;
			if (truth == ALGO_HEATMAP_POD_FAILURE && on_cross)
				c = RED;
			if (truth == ALGO_HEATMAP_POD_DOWN && on_cross)
				c = WHITE;
			if (sim_rng_u01(r) < noise)
				c = sim_rng_below(r, 4);
			*at(m, i, j) = colours[c];
		}
}

/* Truth by answer, of RUNS matrices each. */
static void confuse(double noise, uint32_t first_run, unsigned runs,
    unsigned n[][ALGO_HEATMAP_N_PATTERNS])
{
	struct algo_heatmap m = {0};
	for (int truth = 0; truth < ALGO_HEATMAP_N_PATTERNS; truth++)
		for (uint32_t run = 0;
		     run < runs && truth != ALGO_HEATMAP_UNCLEAR; run++) {
			struct sim_rng r;
			test_rng(&r, first_run + (uint32_t)truth * runs + run);
			paint(&m, (enum algo_heatmap_pattern)truth, noise, &r);
			n[truth][classify(&m)]++;
		}
	algo_heatmap_free(&m);
}

/* Each cell takes a random colour with probability `noise`. At 0.02 no answer
 * may be wrong: the likeliest error, 8 of the 36 cells inside the blocks of 4
 * pods not green, has 1e-7 a run, so a false alarm below 1e-5. At 0.1 at least
 * 290 of 300 must be right, where errors are below 0.5 %: below 1e-5. At 0.5
 * no picture is left and at least 290 must be unclear. */
static void random_pictures_are_told_apart_through_noise(void **state)
{
	(void)state;
	static const struct {
		double noise;
		unsigned least;
		int unclear; /* whatever was painted */
	} stated[] = {{0.02, 300, 0}, {0.1, 290, 0}, {0.5, 290, 1}};
	for (uint32_t k = 0; k < 3; k++) {
		unsigned n[ALGO_HEATMAP_N_PATTERNS][ALGO_HEATMAP_N_PATTERNS] = {
		    {0}};
		confuse(stated[k].noise, 10000 * k, 300, n);
		for (int i = 0; i < ALGO_HEATMAP_N_PATTERNS; i++) {
			const int want =
			    stated[k].unclear ? ALGO_HEATMAP_UNCLEAR : i;
			if (i != ALGO_HEATMAP_UNCLEAR &&
			    n[i][want] < stated[k].least)
				fail_msg("seed %llu, noise %g: %u of 300 %s "
					 "are %s",
				    (unsigned long long)test_seed(),
				    stated[k].noise, n[i][want],
				    algo_heatmap_patterns[i],
				    algo_heatmap_patterns[want]);
		}
	}
}

/* --- errors ----------------------------------------------------------------*/
static void pods_of_different_sizes_are_refused(void **state)
{
	(void)state;
	struct algo_heatmap m = {0};
	struct sim_err e;
	assert_int_equal(algo_heatmap_init(&m, 5, 2, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "5 units in 2 pods"));
	assert_int_equal(algo_heatmap_init(&m, 5, 0, &e), SIM_EINVAL);
	assert_int_equal(algo_heatmap_init(&m, 0, 2, &e), SIM_EINVAL);
	algo_heatmap_free(&m);
}

static int measure(void *arg, struct sim_err *e)
{
	struct topo_clos c = {.n_pods = 2,
	    .n_tors = 1,
	    .n_t1 = 1,
	    .n_t2 = 1,
	    .n_hosts = 1};
	struct algo_heatmap m = {0};
	assert_ok(topo_clos_init(&c, test_err()));
	const struct topo_dc dc = topo_dc_alone(&c);
	struct algo_rtt_order order = {.n = 0};
	int rc = algo_rtt_order_make(&order, arg, e);
	if (rc == 0)
		rc = algo_heatmap_measure(&m, &order, &dc, ALGO_HEATMAP_POD, e);
	if (rc == 0)
		assert_true(*at(&m, 0, 1) == 2);
	algo_heatmap_free(&m);
	algo_rtt_order_free(&order);
	return rc;
}

static void without_memory_it_fails(void **state)
{
	(void)state;
	struct obs_probes t = {0};
	const struct obs_probe p = {.rtt_ns = 2000,
	    .dst_host = 1,
	    .level = OBS_LEVEL_DC};
	assert_ok(obs_probes_add(&t, &p, test_err()));
	test_each_alloc_fails(measure, &t);
	obs_probes_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cells_agree_with_a_list_of_their_probes),
	    cmocka_unit_test(the_papers_four_pictures_are_recognised),
	    cmocka_unit_test(any_number_of_pods_can_be_bad_and_in_both_ways),
	    cmocka_unit_test(what_fits_no_picture_is_unclear),
	    cmocka_unit_test(thresholds_belong_to_the_side_that_is_stated),
	    cmocka_unit_test(random_pictures_are_told_apart_through_noise),
	    cmocka_unit_test(pods_of_different_sizes_are_refused),
	    cmocka_unit_test(without_memory_it_fails),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/heatmap", tests,
	    NULL, NULL);
}
