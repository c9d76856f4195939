/* tests/experiments/pingmesh/bulk/history_test.c -- the last windows' rows, and no others.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/history.h"
#include "tests/test.h"

enum { WINDOWS = 40, MOST = 5 };

/* Row K of window W. */
static struct connects_row history_row(uint32_t w, uint32_t k)
{
	return (struct connects_row){.sent_ns = 1000 * (w + 1) + k,
	    .src = w,
	    .dst = k};
}

/* Window after window, of which some have no rows, against all there were. */
static void the_last_windows_are_kept_in_order(void **state)
{
	(void)state;
	for (uint32_t n_kept = 1; n_kept <= MOST; n_kept++) {
		struct xp_mesh_history h;
		uint32_t n_of[WINDOWS];
		struct sim_rng r;
		test_rng(&r, n_kept);
		assert_ok(
		    xp_mesh_history_open(&h, n_kept, SIM_SEC, test_err()));
		assert_int_equal(h.window_ns, SIM_SEC);
		for (uint32_t w = 0; w < WINDOWS; w++) {
			const uint32_t first =
			    w + 1 > n_kept ? w + 1 - n_kept : 0;
			size_t at = 0;
			n_of[w] = sim_rng_below(&r, 5);
			xp_mesh_history_begin(&h);
			for (uint32_t k = 0; k < n_of[w]; k++) {
				const struct connects_row row =
				    history_row(w, k);
				assert_ok(
				    xp_mesh_history_take(&h, &row, test_err()));
			}
			assert_int_equal(h.n_windows, w + 1 - first);
			for (uint32_t i = first; i <= w; i++) {
				assert_int_equal(h.first[i - first], at);
				for (uint32_t k = 0; k < n_of[i]; k++, at++) {
					const struct connects_row want =
					    history_row(i, k);
					assert_int_equal(h.row[at].sent_ns,
					    want.sent_ns);
					assert_int_equal(h.row[at].src, i);
					assert_int_equal(h.row[at].dst, k);
				}
			}
			assert_int_equal(h.n, at);
		}
		xp_mesh_history_clear(&h);
		assert_int_equal(h.n, 0);
		assert_int_equal(h.n_windows, 0);
		xp_mesh_history_begin(&h);
		assert_int_equal(h.n_windows, 1);
		assert_int_equal(h.first[0], 0);
		xp_mesh_history_close(&h);
		assert_null(h.row);
		assert_null(h.first);
	}
}

static void where_nothing_is_kept_no_window_is_begun(void **state)
{
	struct xp_mesh_history h = {.n_kept = 0};
	(void)state;
	for (int i = 0; i < 3; i++)
		xp_mesh_history_begin(&h);
	assert_int_equal(h.n_windows, 0);
	xp_mesh_history_clear(&h);
	xp_mesh_history_close(&h);
}

static int keep_some(void *arg, struct sim_err *e)
{
	struct xp_mesh_history h;
	int rc = xp_mesh_history_open(&h, 2, SIM_SEC, e);
	(void)arg;
	for (uint32_t w = 0; rc == 0 && w < 4; w++) {
		xp_mesh_history_begin(&h);
		for (uint32_t k = 0; rc == 0 && k < 20; k++) {
			const struct connects_row row = history_row(w, k);
			rc = xp_mesh_history_take(&h, &row, e);
		}
	}
	xp_mesh_history_close(&h);
	return rc;
}

static void memory_that_runs_out_is_told(void **state)
{
	(void)state;
	test_each_alloc_fails(keep_some, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_last_windows_are_kept_in_order),
	    cmocka_unit_test(where_nothing_is_kept_no_window_is_begun),
	    cmocka_unit_test(memory_that_runs_out_is_told),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/bulk/history",
	    tests, NULL, NULL);
}
