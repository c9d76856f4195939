/* tests/experiments_sweep_run_test.c -- in which order a sweep fills, and ends.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The engine is the real one; trials are fakes, which the linker takes before
 * the library's. They note in shared memory what they were asked.
 */
#include "experiments/sweep/run.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "experiments/sweep/trial.h"
#include "results/h5.h"
#include "sim/vec.h"
#include "tests/spec_file.h"
#include "tests/test.h"

enum { N_POINTS = 6, N_RUNS = 100, MAX_CALLS = 4096 };

/* --- fakes ---------------------------------------------------------------- */

struct xp_trial {
	struct xp_spec *spec;
};

static struct plan {
	uint32_t n_calls;
	struct {
		uint32_t point, run;
	} call[MAX_CALLS];
} * plan;

int xp_trial_open(struct xp_trial **t, struct xp_spec *s, struct sim_err *e)
{
	int rc = SIM_ZALLOC(t, 1, e);
	if (rc == 0)
		(*t)->spec = s;
	return rc;
}

void xp_trial_close(struct xp_trial *t)
{
	free(t);
}

static void note(size_t point, uint32_t run)
{
	const uint32_t n =
	    __atomic_fetch_add(&plan->n_calls, 1, __ATOMIC_RELAXED);
	if (n >= MAX_CALLS)
		abort();
	plan->call[n].point = (uint32_t)point;
	plan->call[n].run = run;
}

int xp_trial_run(struct xp_trial *t, size_t point, uint32_t run, double row[],
    struct sim_err *e)
{
	(void)t, (void)e;
	note(point, run);
	for (size_t k = 0; k < res_row_doubles(1); k++)
		row[k] = NAN;
	row[RES_TRIAL_n_flows] = (double)(1000 * point + run);
	return 0;
}

void xp_trial_print(const struct xp_trial *t, FILE *out)
{
	(void)t, (void)out;
}

/* --- sweeps --------------------------------------------------------------- */

#define SPEC                                                                   \
	"figure: f\nalgorithms: [vote]\ntopology: {n_pods: 2, n_tors: 2, "     \
	"n_t1: 2, n_t2: 2, n_hosts: 2}\nruns: 100\n"                           \
	"sweep: {grid: {faults.count: [1, 2, 3], traffic.conns: [5, 6]}}\n"

static char f_h5[128];

static int name_files(void **state)
{
	if (spec_folder_make(state) < 0)
		return -1;
	strcpy(f_h5, spec_path("f.h5"));
	return 0;
}

static void sweep(unsigned n_workers, uint32_t shard_i, uint32_t shard_n)
{
	struct res_cube c;
	struct xp_spec s;
	spec_open(&s, SPEC);
	const struct xp_run r = {.spec = &s,
	    .out = f_h5,
	    .n_workers = n_workers,
	    .shard_i = shard_i,
	    .shard_n = shard_n};
	plan->n_calls = 0;
	assert_ok(xp_run_sweep(&r, &c, test_err()));
	res_cube_free(&c);
	xp_spec_free(&s);
	unlink(f_h5);
}

/* --- order ---------------------------------------------------------------- */

/* After any number of cells, no point has more than twice the runs of another
 * and one, or a sixteenth of all runs more. Of any range of runs a shard has one
 * more of one point than of another. */
static void assert_even(uint32_t shard_n)
{
	const unsigned most = (N_RUNS + 15) / 16;
	unsigned n[N_POINTS] = {0};
	for (uint32_t i = 0; i < plan->n_calls; i++) {
		unsigned lo = N_RUNS, hi = 0;
		assert_true(plan->call[i].point < N_POINTS);
		n[plan->call[i].point]++;
		for (size_t p = 0; p < N_POINTS; p++) {
			lo = n[p] < lo ? n[p] : lo;
			hi = n[p] > hi ? n[p] : hi;
		}
		unsigned step = lo < most ? lo : most;
		step += shard_n > 1 ? 2 : lo == 0;
		if (hi - lo > step)
			fail_msg("%u cells: %u and %u runs", i + 1, lo, hi);
	}
}

static void points_fill_up_evenly(void **state)
{
	(void)state;
	sweep(1, 0, 1);
	assert_int_equal(plan->n_calls, N_POINTS * N_RUNS);
	assert_even(1);
	/* A worker keeps its point for some cells. */
	unsigned n_changes = 0;
	for (uint32_t i = 1; i < plan->n_calls; i++)
		n_changes += plan->call[i].point != plan->call[i - 1].point;
	assert_in_range(n_changes, 1, 20 * N_POINTS);
}

static void points_of_a_shard_fill_up_evenly(void **state)
{
	(void)state;
	/* 7 divides neither runs nor points. */
	for (uint32_t i = 0; i < 7; i++) {
		sweep(1, i, 7);
		assert_in_range(plan->n_calls, N_POINTS * N_RUNS / 7,
		    N_POINTS * N_RUNS / 7 + 1);
		assert_even(7);
		for (uint32_t k = 0; k < plan->n_calls; k++)
			assert_int_equal((plan->call[k].point * N_RUNS +
					     plan->call[k].run) %
				7,
			    i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(points_fill_up_evenly),
	    cmocka_unit_test(points_of_a_shard_fill_up_evenly),
	};
	plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (plan == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests_name("experiments/run", tests, name_files,
	    spec_folder_remove);
}
