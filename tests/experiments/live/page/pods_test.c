/* tests/experiments/live/page/pods_test.c -- pods of a heat map, by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/page/pods.h"

#include "experiments/live/page/view.h"
#include "tests/test.h"

enum { N = 5 };

/* Of N pods each has SLOW us to and from pod BAD, and 100 us elsewhere. */
static void pods_fill(struct xp_live_pods *p, int64_t bad, double slow)
{
	for (int64_t a = 0; a < N; a++)
		for (int64_t b = 0; b < N; b++)
			xp_live_pods_add(p, a, b,
			    a == bad || b == bad ? slow : 100);
}

static void assert_pods(const struct xp_live_pods *p, const char *want)
{
	char buf[4096] = "";
	FILE *out = fmemopen(buf, sizeof(buf), "w");
	assert_ok(xp_live_pods_put(p, out, test_err()));
	fclose(out);
	assert_string_equal(buf, want);
}

static void a_pod_is_fine_down_or_failed(void **state)
{
	static const char fine[] =
	    ", \"pods\": [\"fine\", \"fine\", \"fine\", \"fine\", \"fine\"]";
	static const struct {
		double slow, yellow, red;
		const char *want;
	} q[] = {
	    {100, 0, 0, fine},
	    {NAN, 0, 0,
		", \"pods\": [\"fine\", \"fine\", \"down\", \"fine\", "
		"\"fine\"]"},
	    /* By the bounds that there are by default, 4 and 5 ms, */
	    {5001, 0, 0,
		", \"pods\": [\"fine\", \"fine\", \"failed\", \"fine\", "
		"\"fine\"]"},
	    {3999, 0, 0, fine},
	    /* by others, */
	    {301, 200, 300,
		", \"pods\": [\"fine\", \"fine\", \"failed\", \"fine\", "
		"\"fine\"]"},
	    {201, 200, 200,
		", \"pods\": [\"fine\", \"fine\", \"failed\", \"fine\", "
		"\"fine\"]"},
	    {5001, 6000, 7000, fine},
	    /* but not by such that cannot be. */
	    {301, 0, 300, fine},
	    {301, 200, 199, fine},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		struct xp_live_pods p = {.yellow_us = q[i].yellow,
		    .red_us = q[i].red};
		pods_fill(&p, 2, q[i].slow);
		assert_int_equal(p.n_pods, N);
		assert_int_equal(p.n, N * N);
		assert_pods(&p, q[i].want);
		xp_live_pods_free(&p);
		assert_null(p.cell);
		assert_int_equal(p.n_pods, 0);
	}
}

static void without_cells_there_are_no_pods(void **state)
{
	const struct xp_live_pods none = {.n = 0};
	(void)state;
	assert_pods(&none, ", \"pods\": []");
}

/* As many as the last that is named, from or to. */
static void pods_are_up_to_the_last_that_is_named(void **state)
{
	struct xp_live_pods p = {.n = 0};
	(void)state;
	xp_live_pods_add(&p, 0, 0, 1);
	assert_int_equal(p.n_pods, 1);
	xp_live_pods_add(&p, 0, 3, 2);
	assert_int_equal(p.n_pods, 4);
	xp_live_pods_add(&p, 5, 1, 3);
	assert_int_equal(p.n_pods, 6);
	xp_live_pods_add(&p, 5, 5, 4);
	assert_int_equal(p.n_pods, 6);
	assert_int_equal(p.n, 4);
	assert_int_equal(p.cell[2].src, 5);
	assert_int_equal(p.cell[2].dst, 1);
	assert_true(p.cell[2].p99_us == 3);
	xp_live_pods_free(&p);
}

static void there_are_so_many_pods(void **state)
{
	static const int64_t bad[][2] = {{-1, 0}, {0, -1},
	    {LIVE_VIEW_MAX_PODS, 0}, {0, LIVE_VIEW_MAX_PODS}};
	struct sim_err e;
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct xp_live_pods p = {.n = 0};
		char buf[16];
		FILE *out = fmemopen(buf, sizeof(buf), "w");
		xp_live_pods_add(&p, LIVE_VIEW_MAX_PODS - 1,
		    LIVE_VIEW_MAX_PODS - 1, 1);
		assert_false(p.is_bad);
		assert_int_equal(p.n_pods, LIVE_VIEW_MAX_PODS);
		xp_live_pods_add(&p, bad[i][0], bad[i][1], 1);
		assert_true(p.is_bad);
		/* Nothing is taken any more. */
		xp_live_pods_add(&p, 1, 1, 1);
		assert_int_equal(p.n, 1);
		assert_int_equal(xp_live_pods_put(&p, out, &e), SIM_ELIMIT);
		assert_string_equal(e.msg,
		    "a heat map here has at most 256 pods.");
		fclose(out);
		xp_live_pods_free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_pod_is_fine_down_or_failed),
	    cmocka_unit_test(without_cells_there_are_no_pods),
	    cmocka_unit_test(pods_are_up_to_the_last_that_is_named),
	    cmocka_unit_test(there_are_so_many_pods),
	};
	return cmocka_run_group_tests_name("experiments/live/page/pods", tests,
	    NULL, NULL);
}
