/* tests/experiments/bulk/auto_test.c -- which plane draws the points of a sweep.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/bulk/bulk.h"
#include "experiments/sweep/trial.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* Of flows of 100 packets over 6 links noise of 1e-6 makes .06 % candidates, of
 * 1e-3 45 %. */
#define HEAD                                                                   \
	"figure: f\nseed: 3\ntopology: {n_pods: 2, n_tors: 4, n_t1: 3, n_t2: " \
	"2, n_hosts: 3}\nfaults: {count: 2, rate: 0.00001}\nalgorithms: "      \
	"[vote]\n"                                                             \
	"traffic: {conns: 20, packets: 100}\n"

static int begin(void *arg, const struct xp_cell *cell, struct sim_err *e)
{
	(void)e;
	*(const struct xp_cell **)arg = cell;
	return 0;
}

static int hear(void *arg, const struct xp_window *w, struct sim_err *e)
{
	(void)arg, (void)w, (void)e;
	return 0;
}

/* One letter a point: s of those that were skipped through, e of the others. */
static void assert_ran(const char *text, const char *want)
{
	char all[1024], ran[16];
	struct xp_spec s;
	snprintf(all, sizeof(all), HEAD "%s", text);
	spec_open(&s, all);
	assert_int_equal(s.n_points, strlen(want));
	for (size_t p = 0; p < s.n_points; p++) {
		const struct xp_cell *cell;
		const struct xp_audience to = {&cell, begin, hear};
		struct xp_trial *t;
		assert_ok(xp_trial_open(&t, &s, test_err()));
		assert_ok(xp_trial_show(t, p, 0, &to, test_err()));
		ran[p] =
		    xp_bulk_ran(cell->running) == &xp_plane_skip ? 's' : 'e';
		xp_trial_close(t);
	}
	ran[s.n_points] = '\0';
	if (strcmp(ran, want) != 0)
		fail_msg("%sran %s, not %s", text, ran, want);
	xp_spec_free(&s);
}

static void a_point_alone_is_drawn_by_the_faster_plane(void **state)
{
	(void)state;
	assert_ran("noise: {rate: 1e-6}\n", "s");
	assert_ran("noise: {rate: 1e-3}\n", "e");
}

/* Shares of .0006 and .45 are .23 together; one of .91 and three of .0006 as well,
 * and nine of .0006 and one of .45 .045. */
static void points_with_common_random_numbers_are_drawn_by_one_plane(
    void **state)
{
	(void)state;
	assert_ran("sweep: {grid: {noise.rate: [1e-6, 1e-3]}}\n", "ee");
	assert_ran("sweep: {grid: {noise.rate: [4e-3, 1e-6, 2e-6, 3e-6]}}\n",
	    "eeee");
	assert_ran("sweep: {zip: {noise.rate: [1e-3, 1e-6], traffic.conns: "
		   "[10, 90]}}\n",
	    "ss");
	assert_ran("common: false\n"
		   "sweep: {grid: {noise.rate: [1e-6, 1e-3]}}\n",
	    "se");
	assert_ran("sweep: {zip: {common: [true, false], noise.rate: [1e-3, "
		   "1e-6]}}\n",
	    "es");
}

/* What skipping can't do it can't do for the sake of others, and what one of the
 * two must do costs the same whatever is chosen. */
static void only_points_that_both_can_draw_decide(void **state)
{
	(void)state;
	assert_ran("sweep: {zip: {noise.rate: [1e-6, 1e-3], "
		   "latency.report_over: [0, 10000]}}\n",
	    "se");
	assert_ran("sweep: {zip: {noise.rate: [1e-6, 1e-3, 1e-3], plane: "
		   "[auto, exact, auto], traffic.conns: [90, 90, 5]}}\n",
	    "ses");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_point_alone_is_drawn_by_the_faster_plane),
	    cmocka_unit_test(
		points_with_common_random_numbers_are_drawn_by_one_plane),
	    cmocka_unit_test(only_points_that_both_can_draw_decide),
	};
	return cmocka_run_group_tests_name("experiments/bulk auto", tests,
	    spec_folder_make, spec_folder_remove);
}
