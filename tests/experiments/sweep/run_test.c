/* tests/experiments/sweep/run_test.c -- in which order a sweep fills, and ends.
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
#include "results/until.h"
#include "sim/rng.h"
#include "sim/vec.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

enum { N_POINTS = 6, N_RUNS = 100, MAX_CALLS = 4096 };

/* --- fakes ---------------------------------------------------------------- */

struct xp_trial {
	struct xp_spec *spec;
};

static struct plan {
	uint32_t n_calls;
	uint32_t fails; /* run of point 2 that fails; 0: none */
	uint32_t stops; /* after so many calls; 0: never */
	uint32_t holds; /* from that call on none ends by itself; 0: never */
	volatile sig_atomic_t stop;
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

/* Of point P a tenth of the runs times P get all wrong. */
static void draw(size_t point, uint32_t run, double *hits, double *flows)
{
	struct sim_rng r;
	test_rng(&r, (uint32_t)point * 10000 + run);
	*flows = 4;
	*hits = sim_rng_below(&r, 10) < point ? 0 : 4;
}

void xp_trial_draw_anew(struct xp_trial *t)
{
	(void)t;
}

int xp_trial_run(struct xp_trial *t, size_t point, uint32_t run, double row[],
    struct sim_err *e)
{
	double *algo = row + RES_N_TRIAL_METRICS;
	(void)t;
	note(point, run);
	if (plan->stops && plan->n_calls >= plan->stops)
		plan->stop = 1;
	for (unsigned i = 0;
	     plan->holds && plan->n_calls >= plan->holds && i < 3000; i++)
		usleep(10000);
	if (plan->fails && point == 2 && run == plan->fails)
		return sim_fail(e, SIM_EUNSUPPORTED, "it fails on purpose.");
	for (size_t k = 0; k < res_row_doubles(1); k++)
		row[k] = NAN;
	row[RES_TRIAL_n_flows] = (double)(1000 * point + run);
	draw(point, run, &algo[RES_ALGO_hits_fault],
	    &algo[RES_ALGO_flows_fault]);
	return 0;
}

int xp_trial_is_spent(const struct xp_trial *t)
{
	(void)t;
	return 0;
}

const char *xp_trial_complaint(const struct xp_trial *t)
{
	(void)t;
	return NULL;
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

static char f_h5[128], g_h5[128];

static int name_files(void **state)
{
	if (spec_folder_make(state) < 0)
		return -1;
	strcpy(f_h5, spec_path("f.h5"));
	strcpy(g_h5, spec_path("g.h5"));
	return 0;
}

static void run(struct res_cube *c, struct xp_run r)
{
	struct xp_spec s;
	spec_open(&s, SPEC);
	r.spec = &s;
	r.stop = &plan->stop;
	if (r.shard_n == 0)
		r.shard_n = 1;
	plan->n_calls = 0;
	plan->stop = 0;
	assert_ok(xp_run_sweep(&r, c, test_err()));
	xp_spec_free(&s);
}

static void sweep(unsigned n_workers, uint32_t shard_i, uint32_t shard_n)
{
	struct res_cube c;
	*plan = (struct plan){0};
	run(&c,
	    (struct xp_run){.out = f_h5,
		.n_workers = n_workers,
		.shard_i = shard_i,
		.shard_n = shard_n});
	res_cube_free(&c);
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

/* --- until an interval is narrow ------------------------------------------ */

#define UNTIL "0.12 accuracy_fault vote"

/* The same by hand: look at the first runs, as many as planned. */
static uint32_t slow_used(const struct sim_looks *l, size_t point)
{
	double num[N_RUNS], den[N_RUNS];
	struct sim_ratio r;
	uint32_t i = 0;
	for (uint32_t k = 0; k < N_RUNS; k++)
		draw(point, k, &num[k], &den[k]);
	do {
		assert_ok(sim_looks_share(l,
		    &(struct sim_ratio_sample){num, den, l->at[i]}, &r,
		    test_err()));
	} while (!sim_looks_is_narrow(l, &r) && ++i < l->n);
	return i < l->n ? l->at[i] : N_RUNS;
}

static void assert_ended(const struct res_cube *c)
{
	struct sim_looks l;
	unsigned n_early = 0, n_kinds = 0;
	uint32_t last = 0;
	assert_ok(res_until_check(c, &l, test_err()));
	for (size_t p = 0; p < N_POINTS; p++) {
		const uint32_t want = slow_used(&l, p);
		assert_int_equal(c->n_used[p], want);
		for (uint32_t k = 0; k < N_RUNS; k++)
			assert_int_equal(res_cube_run_status(c, p, k),
			    k < want ? RES_DONE : RES_NOT_RUN);
		n_early += want < N_RUNS;
		n_kinds += want != last;
		last = want;
	}
	/* Or there would be nothing to see. */
	assert_in_range(n_early, 2, N_POINTS - 1);
	assert_in_range(n_kinds, 3, N_POINTS);
}

/* For any number of workers it is the same bytes; and no cell was run that is
 * not in the file. */
static void points_end_when_they_are_known(void **state)
{
	struct res_cube c;
	(void)state;
	*plan = (struct plan){0};
	for (unsigned n = 1; n <= 3; n++) {
		run(&c,
		    (struct xp_run){.out = n == 1 ? g_h5 : f_h5,
			.n_workers = n,
			.until = UNTIL});
		assert_ended(&c);
		const struct res_progress p = res_cube_progress(&c);
		assert_int_equal(p.n_cells, plan->n_calls);
		assert_int_equal(p.n_done, plan->n_calls);
		res_cube_free(&c);
		if (n > 1) {
			test_assert_same_bytes(g_h5, f_h5);
			unlink(f_h5);
		}
	}
	assert_ok(res_h5_read(&c, g_h5, test_err()));
	assert_ended(&c);
	assert_string_equal(c.until, UNTIL);
	res_cube_free(&c);
	/* All is there: nothing is run again. */
	run(&c, (struct xp_run){.out = g_h5, .n_workers = 2, .until = UNTIL});
	assert_int_equal(plan->n_calls, 0);
	res_cube_free(&c);
}

/* Stopped again and again, after as few calls as it takes to be noticed. */
static void interruptions_change_nothing(void **state)
{
	struct xp_run_report report = {.stopped = 1};
	struct res_cube c;
	(void)state;
	for (unsigned i = 0; i < 1000 && report.stopped; i++) {
		*plan = (struct plan){.stops = 1 + i % 7};
		run(&c,
		    (struct xp_run){.out = f_h5,
			.n_workers = 1 + i % 3,
			.until = UNTIL,
			.report = &report});
		res_cube_free(&c);
	}
	assert_false(report.stopped);
	*plan = (struct plan){0};
	run(&c, (struct xp_run){.out = f_h5, .n_workers = 2, .until = UNTIL});
	assert_ended(&c);
	res_cube_free(&c);
	test_assert_same_bytes(g_h5, f_h5);
	unlink(f_h5);
}

/* A gap in its runs leaves a point undecided, however many come behind it. */
static void a_run_that_fails_holds_its_point_up(void **state)
{
	struct res_cube c;
	(void)state;
	*plan = (struct plan){.fails = 3};
	run(&c, (struct xp_run){.out = f_h5, .n_workers = 2, .until = UNTIL});
	assert_int_equal(c.n_used[2], 0);
	assert_int_equal(res_cube_progress(&c).n_failed, 1);
	for (size_t p = 0; p < N_POINTS; p++)
		assert_true(p == 2 || c.n_used[p] > 0);
	res_cube_free(&c);
	*plan = (struct plan){0};
	run(&c, (struct xp_run){.out = f_h5, .n_workers = 2, .until = UNTIL});
	assert_ended(&c);
	res_cube_free(&c);
	test_assert_same_bytes(g_h5, f_h5);
	unlink(f_h5);
}

static void what_cannot_end_a_point_is_refused(void **state)
{
	static const struct {
		const char *until, *says;
	} cases[] = {
	    {"0.1 accuracy_falt", "did you mean \"accuracy_fault\"?"},
	    {"0.1 worst_rank", "is no ratio"},
	    {"0.1 accuracy_fault vota", "did you mean \"vote\"?"},
	    {"0.1 drop_rate vote", "drop_rate is of a trial"},
	    {"0.7 accuracy_fault", "0.7, not in (0, 0.5)"},
	    {"0.1", "is no criterion"},
	    {"much accuracy_fault", "is no criterion"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_err e;
		struct res_cube c;
		struct xp_spec s;
		spec_open(&s, SPEC);
		const struct xp_run r = {.spec = &s,
		    .out = f_h5,
		    .n_workers = 1,
		    .shard_n = 1,
		    .until = cases[i].until};
		assert_int_equal(xp_run_sweep(&r, &c, &e), SIM_EINVAL);
		if (!strstr(e.msg, cases[i].says))
			fail_msg("%s: %s", cases[i].until, e.msg);
		assert_int_equal(access(f_h5, F_OK), -1);
		res_cube_free(&c);
		xp_spec_free(&s);
	}
}

/* --- asking --------------------------------------------------------------- */

/* Whoever is asked says no. */
static ssize_t refuse(void *arg, const char *text, size_t n)
{
	const int *to = arg;
	if (memmem(text, n, "[Y/n]", 5))
		assert_int_equal(write(*to, "n\n", 2), 2);
	return (ssize_t)n;
}

/* And the same command goes on from there. */
static void a_sweep_ends_by_an_answer(void **state)
{
	struct res_cube c;
	struct xp_run_report report;
	int in[2];
	(void)state;
	*plan = (struct plan){.holds = 50};
	assert_int_equal(pipe(in), 0);
	FILE *out =
	    fopencookie(&in[1], "w", (cookie_io_functions_t){.write = refuse});
	assert_non_null(out);
	run(&c,
	    (struct xp_run){.out = f_h5,
		.n_workers = 2,
		.expect = {.out = out, .answers = in[0]},
		.report = &report});
	assert_true(report.stopped);
	assert_in_range(res_cube_progress(&c).n_done, 8, 50);
	res_cube_free(&c);
	*plan = (struct plan){0};
	run(&c, (struct xp_run){.out = f_h5, .n_workers = 2});
	assert_int_equal(res_cube_progress(&c).n_done, N_POINTS * N_RUNS);
	res_cube_free(&c);
	unlink(f_h5);
	fclose(out);
	close(in[0]);
	close(in[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(points_fill_up_evenly),
	    cmocka_unit_test(points_of_a_shard_fill_up_evenly),
	    cmocka_unit_test(points_end_when_they_are_known),
	    cmocka_unit_test(interruptions_change_nothing),
	    cmocka_unit_test(a_run_that_fails_holds_its_point_up),
	    cmocka_unit_test(what_cannot_end_a_point_is_refused),
	    cmocka_unit_test(a_sweep_ends_by_an_answer),
	};
	plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (plan == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests_name("experiments/run", tests, name_files,
	    spec_folder_remove);
}
