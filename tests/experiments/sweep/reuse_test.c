/* tests/experiments/sweep/reuse_test.c -- sweeps whose points share epochs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of such sweeps are those of sweeps that draw each cell for itself, byte by
 * byte, however the work is divided.
 */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/sweep/pool.h"
#include "experiments/sweep/run.h"
#include "results/shards.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* 2 networks, 5 thresholds and 3 rates of faults; 7 runs, which 2 and 3 shards
 * don't divide evenly. */
#define SWEEP                                                                  \
	"figure: f\nruns: 7\ntopology: {n_pods: 2, n_tors: 4, n_t1: 3, "       \
	"n_t2: 2, n_hosts: 3}\nfaults: {count: 2, rate: 0.02}\n"               \
	"algorithms: [vote, {name: alg1, tie: random}]\n"                      \
	"sweep: {grid: {traffic.conns: [20, 40], algorithms.1.threshold: "     \
	"[0.01, 0.02, 0.1, 0.2, 0.5], faults.rate: [0.02, 0.05, 0.2]}}\n"
enum { N_CELLS = 30 * 7 };

static void must_sweep(const struct xp_run *r)
{
	struct res_cube c;
	assert_ok(xp_run_sweep(r, &c, test_err()));
	assert_int_equal(res_cube_progress(&c).n_done, res_cube_own_cells(&c));
	res_cube_free(&c);
}

static char *bytes_of(const char *path, size_t *n)
{
	struct stat st;
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	char *b = malloc((size_t)st.st_size);
	assert_non_null(b);
	*n = fread(b, 1, (size_t)st.st_size, f);
	assert_int_equal(*n, st.st_size);
	fclose(f);
	return b;
}

static void assert_same_files(const char *a, const char *b)
{
	size_t n_a, n_b;
	char *x = bytes_of(a, &n_a), *y = bytes_of(b, &n_b);
	if (n_a != n_b || memcmp(x, y, n_a) != 0)
		fail_msg("%s and %s differ", a, b);
	free(x);
	free(y);
}

static struct xp_run run_of(struct xp_spec *s, const char *out, unsigned n)
{
	return (struct xp_run){.spec = s,
	    .out = out,
	    .n_workers = n,
	    .shard_n = 1,
	    .fresh = 1};
}

/* OUT is whole.h5, whose cells are each drawn for themselves. */
static void make_whole(struct xp_spec *s, char out[256])
{
	snprintf(out, 256, "%s", spec_path("whole.h5"));
	struct xp_run r = run_of(s, out, 1);
	r.draw_anew = 1;
	must_sweep(&r);
}

static void any_number_of_workers_writes_the_same_file(void **state)
{
	char whole[256], out[256];
	struct xp_spec s;
	(void)state;
	spec_open(&s, SWEEP);
	make_whole(&s, whole);
	for (unsigned n = 1; n <= 4; n++) {
		snprintf(out, sizeof(out), "%s", spec_path("shared.h5"));
		const struct xp_run r = run_of(&s, out, n);
		must_sweep(&r);
		assert_same_files(out, whole);
	}
	xp_spec_free(&s);
}

static void shards_are_merged_to_the_same_file(void **state)
{
	char whole[256], merged[256], out[256];
	struct xp_spec s;
	(void)state;
	spec_open(&s, SWEEP);
	make_whole(&s, whole);
	snprintf(merged, sizeof(merged), "%s", spec_path("merged.h5"));
	for (uint32_t n = 2; n <= 3; n++) {
		struct res_shards *all;
		assert_ok(res_shards_open(&all, merged, test_err()));
		for (uint32_t i = 0; i < n; i++) {
			struct res_cube c;
			snprintf(out, sizeof(out), "%s", spec_path("part.h5"));
			snprintf(out + strlen(out) - 3, 16, "%u.h5", i);
			struct xp_run r = run_of(&s, out, 2);
			r.shard_i = i;
			r.shard_n = n;
			assert_ok(xp_run_sweep(&r, &c, test_err()));
			assert_ok(res_shards_add(all, &c, out, test_err()));
		}
		assert_ok(res_shards_write(all, test_err()));
		res_shards_close(all);
		assert_same_files(merged, whole);
	}
	xp_spec_free(&s);
}

/* A process that sweeps until it is killed, when its journal has some cells. */
static int killed_while_it_sweeps(const struct xp_run *r, const char *journal)
{
	const pid_t child = fork();
	struct stat st;
	int status;
	assert_true(child >= 0);
	if (child == 0) {
		struct res_cube c;
		_exit(xp_run_sweep(r, &c, NULL) < 0);
	}
	while ((stat(journal, &st) < 0 || st.st_size < 4000) &&
	    waitpid(child, &status, WNOHANG) == 0)
		usleep(200);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return stat(journal, &st) == 0 && st.st_size >= 4000;
}

/* Should the sweep have ended before, it is tried again. False alarms: if 50 such
 * sweeps end between two looks. */
static void a_killed_sweep_goes_on_to_the_same_file(void **state)
{
	char whole[256], out[256], journal[256];
	struct xp_run_report report;
	struct xp_spec s;
	int killed = 0;
	(void)state;
	spec_open(&s, SWEEP);
	make_whole(&s, whole);
	snprintf(out, sizeof(out), "%s", spec_path("killed.h5"));
	snprintf(journal, sizeof(journal), "%s", spec_path("killed.journal"));
	struct xp_run r = run_of(&s, out, 2);
	for (unsigned i = 0; i < 50 && !killed; i++)
		killed = killed_while_it_sweeps(&r, journal);
	assert_true(killed);
	r.fresh = 0;
	r.report = &report;
	must_sweep(&r);
	assert_in_range(report.n_before, 1, N_CELLS - 1);
	assert_int_equal(report.n_before + report.n_run, N_CELLS);
	assert_same_files(out, whole);
	xp_spec_free(&s);
}

/* --- who gets which cell -------------------------------------------------- */

enum { GROUP = 6, N_GROUPS = 12 };

static int open_nothing(void *ctx, void **worker, struct sim_err *e)
{
	(void)e;
	*worker = ctx;
	return 0;
}

/* So long that a worker is given two cells at a time. */
static int serve_slowly(void *worker, uint64_t cell, double row[],
    struct sim_err *e)
{
	(void)worker, (void)cell, (void)e;
	usleep(26000);
	row[0] = getpid();
	return 0;
}

static int take_pid(void *ctx, uint64_t cell, enum res_status status,
    const double row[], const char *message, struct sim_err *e)
{
	(void)message, (void)e;
	assert_int_equal(status, RES_DONE);
	((double *)ctx)[cell] = row[0];
	return 0;
}

static int are_of_one_group(const void *ctx, uint64_t a, uint64_t b)
{
	(void)ctx;
	return a / GROUP == b / GROUP;
}

/* But for what is taken from a worker at the end, when another is idle: of the
 * two groups that each of both may have in hand. False alarms: none. */
static void cells_that_belong_together_are_served_by_one_worker(void **state)
{
	uint64_t cell[GROUP * N_GROUPS];
	double pid[GROUP * N_GROUPS] = {0};
	const struct xp_pool_job job = {.n_workers = 2,
	    .n_cells = GROUP * N_GROUPS,
	    .cell = cell,
	    .row_doubles = 1,
	    .together = are_of_one_group,
	    .ctx = pid,
	    .open = open_nothing,
	    .serve = serve_slowly,
	    .take = take_pid};
	unsigned n_split = 0;
	(void)state;
	for (unsigned i = 0; i < GROUP * N_GROUPS; i++)
		cell[i] = i;
	assert_int_equal(xp_pool_run(&job, test_err()), 0);
	for (unsigned g = 0; g < N_GROUPS; g++) {
		int split = 0;
		for (unsigned i = 1; i < GROUP; i++)
			split |= pid[g * GROUP + i] != pid[g * GROUP];
		n_split += (unsigned)split;
	}
	assert_in_range(n_split, 0, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(any_number_of_workers_writes_the_same_file),
	    cmocka_unit_test(shards_are_merged_to_the_same_file),
	    cmocka_unit_test(a_killed_sweep_goes_on_to_the_same_file),
	    cmocka_unit_test(
		cells_that_belong_together_are_served_by_one_worker),
	};
	return cmocka_run_group_tests_name("experiments/sweep reuse", tests,
	    spec_folder_make, spec_folder_remove);
}
