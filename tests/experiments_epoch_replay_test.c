/* tests/experiments_epoch_replay_test.c -- a cell, its file, and the cell again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/epoch/replay.h"

#include <glob.h>

#include "experiments/epoch/dump.h"
#include "experiments/sweep/trial.h"
#include "tests/folder.h"
#include "tests/spec_file.h"
#include "tests/test.h"

static const struct xp_replay_asks of_spec;

static void open_replay(struct xp_replay *r, const char *path,
    const struct xp_replay_asks *asks)
{
	assert_ok(xp_replay_open(r, path, asks, test_err()));
	assert_ok(xp_replay_run(r, test_err()));
}

/* --- bit for bit -----------------------------------------------------------*/

/* Scores are doubles of which those that are not measured are NaN, so bits are
 * compared and not values. */
static void assert_cell(struct xp_trial *t, const struct xp_spec *s,
    size_t point, uint32_t run, double row[], const char *path)
{
	struct xp_replay r;
	assert_ok(xp_trial_run(t, point, run, row, test_err()));
	open_replay(&r, path, &of_spec);
	for (size_t i = 0; i < r.n; i++) {
		const double *want =
		    row + RES_N_TRIAL_METRICS + i * RES_N_ALGO_METRICS;
		const double *got = (const double *)&r.one[i].metrics;
		for (unsigned m = 0; m < RES_N_ALGO_METRICS; m++)
			if (memcmp(&want[m], &got[m], sizeof(want[m])) != 0 &&
			    !(isnan(want[m]) && isnan(got[m])))
				fail_msg("%s, point %zu, run %u, %s: %s is "
					 "%.17g, was %.17g",
				    s->figure, point, run,
				    r.one[i].algo.label,
				    res_algo_metrics[m].name, got[m], want[m]);
	}
	/* And of the epoch itself, what its flows tell. */
	struct res_trial_metrics m;
	res_score_trial(&r.epoch.window, &r.epoch.truth, &r.epoch.lost, &m);
	const struct res_trial_metrics *was =
	    (const struct res_trial_metrics *)row;
	assert_true(m.n_faults == was->n_faults);
	if (strcmp(r.epoch.info.plane, "agents") != 0) {
		assert_true(m.n_flows == was->n_flows);
		assert_true(m.n_failed_flows == was->n_failed_flows);
		assert_true(m.n_drops == was->n_drops);
		assert_true(m.n_fault_flows == was->n_fault_flows);
	}
	xp_replay_free(&r);
}

/* All cells of a spec; returns how many. */
static size_t replay_spec(const char *path)
{
	const char *file = test_path("cell.h5");
	struct xp_trial *t;
	struct xp_spec s;
	struct xp_config c = {0};
	struct xp_dumped d;
	size_t n = 0;
	assert_ok(xp_spec_load(&s, path, 0, NULL, 0, test_err()));
	assert_ok(xp_spec_point(&s, 0, &c, test_err()));
	double *row =
	    calloc(s.n_along * res_row_doubles(c.n_algos), sizeof(row[0]));
	assert_non_null(row);
	assert_ok(xp_trial_open(&t, &s, test_err()));
	for (size_t p = 0; p < s.n_points; p++)
		for (uint32_t r = 0; r < s.runs; r++, n++) {
			assert_ok(
			    xp_dump_cell(&s, p, r, file, 0, &d, test_err()));
			assert_cell(t, &s, p, r, row, file);
		}
	xp_trial_close(t);
	xp_config_free(&c);
	xp_spec_free(&s);
	free(row);
	return n;
}

/* Planes exact, skip, auto, vigil_matlab and agents; a Clos, a fat-tree, a graph
 * and a region; black holes, slow links, failed switches; ties at random. */
static void golden_cells_are_replayed_to_the_last_bit(void **state)
{
	glob_t specs;
	size_t n = 0;
	(void)state;
	assert_int_equal(glob("tests/golden/*.yaml", 0, NULL, &specs), 0);
	for (size_t i = 0; i < specs.gl_pathc; i++)
		if (!strstr(specs.gl_pathv[i], "pingmesh"))
			n += replay_spec(specs.gl_pathv[i]);
	globfree(&specs);
	assert_true(n >= 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(golden_cells_are_replayed_to_the_last_bit),
	};
	return cmocka_run_group_tests_name("experiments/epoch/replay", tests,
	    test_folder_make, test_folder_remove);
}
