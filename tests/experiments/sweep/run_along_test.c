/* tests/experiments/sweep/run_along_test.c -- sweeps of cells of several rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The engine is the real one, from the spec to the table; what a trial does and
 * what it is read along are fakes, which the linker takes before the library's.
 */
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/check/gate.h"
#include "experiments/spec/along.h"
#include "experiments/sweep/journal.h"
#include "experiments/sweep/run.h"
#include "experiments/sweep/trial.h"
#include "results/h5.h"
#include "results/shards.h"
#include "results/table.h"
#include "sim/vec.h"
#include "tests/rigs/random_cube.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* --- fakes ---------------------------------------------------------------- */

/* 3 windows, or as many as traffic.conns says, from 2 sides. */
int xp_along_init(struct xp_along_axes *a, const struct xp_config *c,
    struct sim_err *e)
{
	static const char *const name[] = {"window_s", "side"};
	const double conns = c->scene.traffic.conns.a;
	const size_t n[] = {conns == 60 ? 3 : (size_t)conns, 2};
	int rc = 0;
	*a = (struct xp_along_axes){.n = 2, .n_points = n[0] * n[1]};
	for (size_t i = 0; rc == 0 && i < 2; i++) {
		struct res_axis *x = &a->axis[i];
		*x = (struct res_axis){.n = n[i], .n_coords = 1};
		if ((rc = SIM_ZALLOC(&x->coord, 1, e)) < 0 ||
		    (rc = SIM_ZALLOC(&x->coord->number, n[i], e)) < 0 ||
		    (rc = sim_dup(&x->coord->name, name[i], e)) < 0 ||
		    (rc = sim_dup(&x->coord->unit, "1", e)) < 0 ||
		    (rc = sim_dup(&x->coord->doc, "", e)) < 0)
			break;
		for (size_t k = 0; k < n[i]; k++)
			x->coord->number[k] = 10 * (double)(k + 1);
	}
	return rc;
}

void xp_along_free(struct xp_along_axes *a)
{
	for (size_t i = 0; i < a->n; i++)
		res_axis_free(&a->axis[i]);
	*a = (struct xp_along_axes){0};
}

int xp_along_add(struct xp_along_axes *a, const char *name, const char *unit,
    const char *doc, uint32_t n, struct res_coord **k, struct sim_err *e)
{
	(void)a, (void)name, (void)unit, (void)doc, (void)n, (void)k;
	return sim_fail(e, SIM_EUNSUPPORTED, "axes are fakes.");
}

int xp_along_same(const struct xp_along_axes *a, const struct xp_along_axes *b)
{
	return a->n_points == b->n_points;
}

struct xp_trial {
	struct xp_spec *spec;
};

/* Shared with workers: what trials are to do, and how many there were. */
static struct plan {
	unsigned n_trials;
	unsigned holds; /* trials, of which the last never ends; 0: none */
	int fails;      /* point 1 run 0 */
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

/* Of row I: i + 1 drops of 100, and everything else as the names of the cell
 * and the column have it. */
static void fill_row(double row[], size_t point, uint32_t run, size_t i)
{
	for (size_t k = 0; k < res_row_doubles(1); k++)
		row[k] = NAN;
	row[RES_TRIAL_n_flows] = (double)(1000 * point + 100 * i) + (double)run;
	row[RES_TRIAL_n_connected] = 100;
	row[RES_TRIAL_n_drop] = (double)(i + 1);
	row[RES_N_TRIAL_METRICS + RES_ALGO_hits_all] = (double)i;
	row[RES_N_TRIAL_METRICS + RES_ALGO_flows_all] = 10;
}

void xp_trial_draw_anew(struct xp_trial *t)
{
	(void)t;
}

int xp_trial_run(struct xp_trial *t, size_t point, uint32_t run, double row[],
    struct sim_err *e)
{
	const unsigned n =
	    __atomic_add_fetch(&plan->n_trials, 1, __ATOMIC_RELAXED);
	while (plan->holds > 0 && n >= plan->holds)
		pause();
	if (plan->fails && point == 1 && run == 0)
		return sim_fail(e, SIM_EUNSUPPORTED, "it fails on purpose.");
	for (size_t i = 0; i < t->spec->n_along; i++)
		fill_row(row + i * res_row_doubles(1), point, run, i);
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
	(void)t;
	(void)out;
}

/* --- sweeps --------------------------------------------------------------- */

#define SPEC                                                                   \
	"figure: f\nalgorithms: [vote]\ntopology: {n_pods: 2, n_tors: 2, "     \
	"n_t1: 2, n_t2: 2, n_hosts: 2}\nruns: 25\n"                            \
	"sweep: {grid: {faults.count: [1, 2, 3, 4]}}\n"
enum { N_PLACES = 4, N_RUNS = 25, N_ALONG = 6, N_CELLS = N_PLACES * N_RUNS };

static char told[1024];

static void listen(void *arg, const char *message)
{
	(void)arg;
	snprintf(told, sizeof(told), "%s", message);
}

/* In the folder of specs. */
static char f_h5[128], f_journal[128], whole_h5[128], part_h5[128];

static int name_files(void **state)
{
	if (spec_folder_make(state) < 0)
		return -1;
	strcpy(f_h5, spec_path("f.h5"));
	strcpy(f_journal, spec_path("f.journal"));
	strcpy(whole_h5, spec_path("whole.h5"));
	strcpy(part_h5, spec_path("part.h5"));
	return 0;
}

/* The report of what was done. */
static struct xp_run_report sweep(struct res_cube *c, const char *out,
    uint32_t shard_i, uint32_t shard_n, const volatile sig_atomic_t *stop)
{
	struct xp_run_report report;
	struct xp_spec s;
	spec_open(&s, SPEC);
	const struct xp_run r = {.spec = &s,
	    .out = out,
	    .n_workers = 2,
	    .shard_i = shard_i,
	    .shard_n = shard_n,
	    .stop = stop,
	    .complain = listen,
	    .report = &report};
	plan->n_trials = 0;
	assert_ok(xp_run_sweep(&r, c, test_err()));
	xp_spec_free(&s);
	return report;
}

static char *bytes_of(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	*n = (size_t)ftell(f);
	rewind(f);
	char *bytes = malloc(*n);
	assert_int_equal(fread(bytes, 1, *n, f), *n);
	fclose(f);
	return bytes;
}

/* The same file as one run without a break gives. */
static void assert_whole(const char *path)
{
	struct res_cube c;
	size_t n, m;
	*plan = (struct plan){0};
	sweep(&c, whole_h5, 0, 1, NULL);
	res_cube_free(&c);
	char *want = bytes_of(whole_h5, &n), *got = bytes_of(path, &m);
	assert_int_equal(n, m);
	assert_memory_equal(got, want, n);
	free(want);
	free(got);
	unlink(whole_h5);
}

static void assert_filled(const struct res_cube *c)
{
	for (size_t p = 0; p < c->n_points; p++)
		for (size_t r = 0; r < c->n_runs; r++) {
			double want[RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS];
			fill_row(want, p / N_ALONG, (uint32_t)r, p % N_ALONG);
			assert_int_equal(c->status[p * c->n_runs + r],
			    RES_DONE);
			for (size_t k = 0; k < c->row_doubles; k++) {
				const double x = res_cube_value(c, p, r, k);
				assert_true(x == want[k] ||
				    (isnan(x) && isnan(want[k])));
			}
		}
}

static void one_trial_fills_all_points_along(void **state)
{
	struct res_cube c, back;
	(void)state;
	*plan = (struct plan){0};
	const struct xp_run_report r = sweep(&c, f_h5, 0, 1, NULL);
	assert_int_equal(r.n_run, N_CELLS);
	assert_int_equal(plan->n_trials, N_CELLS);
	assert_int_equal(c.n_along, N_ALONG);
	assert_int_equal(c.n_points, N_PLACES * N_ALONG);
	assert_int_equal(c.n_axes, 3);
	assert_string_equal(c.axis[1].coord[0].name, "window_s");
	assert_string_equal(c.axis[2].coord[0].name, "side");
	assert_int_equal(res_cube_progress(&c).n_cells, N_CELLS);
	assert_filled(&c);
	assert_ok(res_h5_read(&back, f_h5, test_err()));
	assert_same_cube(&c, &back);
	res_cube_free(&c);
	res_cube_free(&back);
	unlink(f_h5);
}

static char *table_of(enum res_table_rows rows)
{
	const struct res_table_form form = {.rows = rows};
	struct res_cube c;
	char *text = NULL;
	size_t n;
	*plan = (struct plan){0};
	sweep(&c, f_h5, 0, 1, NULL);
	FILE *out = open_memstream(&text, &n);
	assert_ok(res_table(&c, &form, out, test_err()));
	assert_int_equal(fclose(out), 0);
	res_cube_free(&c);
	unlink(f_h5);
	return text;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void assert_begins(const char *line, const char *want)
{
	if (strncmp(line, want, strlen(want)) != 0)
		fail_msg("\"%.80s\" does not begin with \"%s\"", line, want);
}

static const char *line_at(const char *text, size_t i)
{
	while (i-- > 0)
		text = strchr(text, '\n') + 1;
	return text;
}

static void tables_lead_with_the_axes_along(void **state)
{
	char *text = table_of(RES_POINTS);
	(void)state;
	assert_int_equal(count_lines(text), 1 + N_PLACES * N_ALONG);
	assert_begins(text, "faults.count\twindow_s\tside\truns\tn_flows\t");
	assert_begins(line_at(text, 1), "1\t10\t10\t25\t12\t");
	assert_begins(line_at(text, 2), "1\t10\t20\t25\t112\t");
	assert_begins(line_at(text, 3), "1\t20\t10\t25\t212\t");
	assert_begins(line_at(text, 24), "4\t30\t20\t25\t3512\t");
	/* 4 drops of 100 in each of 25 runs. */
	const char *line = line_at(text, 4);
	const char *end = strchr(line, '\n');
	const char *ratio = strstr(line, "\t0.04\t");
	assert_true(ratio && ratio < end);
	free(text);
	text = table_of(RES_RUNS);
	assert_int_equal(count_lines(text), 1 + N_PLACES * N_ALONG * N_RUNS);
	assert_begins(text, "faults.count\twindow_s\tside\trun\tn_flows\t");
	assert_begins(line_at(text, 1 + N_RUNS + 7), "1\t10\t20\t7\t107\t");
	free(text);
}

static void a_sweep_that_was_stopped_goes_on(void **state)
{
	static const volatile sig_atomic_t stop = 1;
	struct res_cube c;
	uint64_t n = 0, n_rounds = 0;
	(void)state;
	while (n < N_CELLS) {
		*plan = (struct plan){.holds = 30};
		const struct xp_run_report r = sweep(&c, f_h5, 0, 1, &stop);
		assert_int_equal(r.n_before, n);
		n += r.n_run;
		assert_int_equal(res_cube_progress(&c).n_done, n);
		res_cube_free(&c);
		if (++n_rounds > 2 * N_CELLS)
			fail_msg("no end: %" PRIu64 " cells", n);
	}
	assert_true(n_rounds > 1);
	*plan = (struct plan){0};
	assert_int_equal(sweep(&c, f_h5, 0, 1, NULL).n_run, 0);
	assert_filled(&c);
	res_cube_free(&c);
	assert_whole(f_h5);
	unlink(f_h5);
}

static void a_sweep_that_was_killed_goes_on(void **state)
{
	struct res_cube c;
	uint64_t n_done;
	int status;
	(void)state;
	*plan = (struct plan){.holds = 30};
	const pid_t child = fork();
	if (child == 0) {
		sweep(&c, f_h5, 0, 1, NULL);
		_exit(0);
	}
	/* It holds on at a cell, and what it has is on disk by the next tick. */
	for (unsigned ms = 0; ms < 60000; ms++) {
		n_done = 0;
		if (access(f_journal, F_OK) == 0)
			xp_journal_count(f_journal, &n_done, NULL);
		if (n_done > 0)
			break;
		usleep(1000);
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_ok(xp_journal_count(f_journal, &n_done, test_err()));
	assert_true(n_done > 0 && n_done < N_CELLS);
	/* Half a record: what a kill in a write leaves. */
	FILE *f = fopen(f_journal, "ab");
	fwrite("torn", 1, 4, f);
	fclose(f);
	*plan = (struct plan){0};
	const struct xp_run_report r = sweep(&c, f_h5, 0, 1, NULL);
	assert_int_equal(r.n_before, n_done);
	assert_int_equal(r.n_run, N_CELLS - n_done);
	assert_filled(&c);
	res_cube_free(&c);
	assert_whole(f_h5);
	unlink(f_h5);
}

static void shards_merge_to_the_same_bytes(void **state)
{
	struct res_shards *shards;
	struct res_cube c;
	uint64_t n = 0;
	(void)state;
	*plan = (struct plan){0};
	assert_ok(res_shards_open(&shards, f_h5, test_err()));
	for (uint32_t i = 3; i-- > 0;) {
		n += sweep(&c, part_h5, i, 3, NULL).n_run;
		res_cube_free(&c);
		assert_ok(res_h5_read(&c, part_h5, test_err()));
		assert_ok(res_shards_add(shards, &c, part_h5, test_err()));
		unlink(part_h5);
	}
	assert_int_equal(n, N_CELLS);
	assert_ok(res_shards_write(shards, test_err()));
	res_shards_close(shards);
	assert_whole(f_h5);
	assert_ok(res_h5_read(&c, f_h5, test_err()));
	assert_filled(&c);
	res_cube_free(&c);
	unlink(f_h5);
}

static void a_trial_that_fails_fails_at_all_its_points(void **state)
{
	struct res_cube c;
	(void)state;
	*plan = (struct plan){.fails = 1};
	sweep(&c, f_h5, 0, 1, NULL);
	assert_string_equal(told,
	    "point 1 (faults.count 2) run 0: it fails on purpose.");
	for (size_t p = 0; p < c.n_points; p++)
		assert_int_equal(c.status[p * N_RUNS],
		    p / N_ALONG == 1 ? RES_FAILED : RES_DONE);
	assert_int_equal(res_cube_progress(&c).n_failed, 1);
	res_cube_free(&c);
	*plan = (struct plan){0};
	assert_int_equal(sweep(&c, f_h5, 0, 1, NULL).n_run, 1);
	assert_filled(&c);
	res_cube_free(&c);
	assert_whole(f_h5);
	unlink(f_h5);
}

/* --- mistakes ------------------------------------------------------------- */

static void a_sweep_cannot_change_what_trials_are_read_along(void **state)
{
	struct xp_spec s;
	struct sim_err e;
	(void)state;
	assert_int_equal(spec_load(&s,
			     "figure: f\nalgorithms: [vote]\n"
			     "sweep: {grid: {traffic.conns: [4, 5]}}\n",
			     &e),
	    SIM_EINVAL);
	assert_non_null(
	    strstr(e.msg, "a sweep can't change what a trial is read along"));
	xp_spec_free(&s);
	spec_open(&s,
	    "figure: f\nalgorithms: [vote]\n"
	    "traffic: {conns: 5}\nsweep: {grid: {traffic.packets: [8, 9], "
	    "faults.count: [1, 2]}}\n");
	assert_int_equal(s.n_points, 4);
	assert_int_equal(s.n_along, 10);
	xp_spec_free(&s);
}

static void points_along_count_among_the_points(void **state)
{
	struct xp_spec s;
	struct sim_err e;
	(void)state;
	spec_open(&s,
	    "figure: f\nalgorithms: [vote]\ntraffic: {conns: 50000}\n");
	xp_spec_free(&s);
	assert_int_equal(spec_load(&s,
			     "figure: f\nalgorithms: [vote]\n"
			     "traffic: {conns: 50001}\n",
			     &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg,
	    "1 points of the sweep, each read along 100002, are more than "
	    "100000."));
	xp_spec_free(&s);
}

static void a_gate_needs_trials_of_one_row(void **state)
{
	struct xp_gates g;
	struct sim_err e;
	(void)state;
	spec_write("x.yaml",
	    "figure: f\nalgorithms: [vote]\ngates: [{name: a, metric: "
	    "drop_rate, at_most: 0.5, p0: 0.1, p1: 0.9}]\n");
	assert_int_equal(xp_gates_load(&g, spec_path("x.yaml"), NULL, 0, &e),
	    SIM_EINVAL);
	assert_non_null(strstr(e.msg, "a gate is about one row a trial;"));
	xp_gates_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_trial_fills_all_points_along),
	    cmocka_unit_test(tables_lead_with_the_axes_along),
	    cmocka_unit_test(a_sweep_that_was_stopped_goes_on),
	    cmocka_unit_test(a_sweep_that_was_killed_goes_on),
	    cmocka_unit_test(shards_merge_to_the_same_bytes),
	    cmocka_unit_test(a_trial_that_fails_fails_at_all_its_points),
	    cmocka_unit_test(a_sweep_cannot_change_what_trials_are_read_along),
	    cmocka_unit_test(points_along_count_among_the_points),
	    cmocka_unit_test(a_gate_needs_trials_of_one_row),
	};
	plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (plan == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests_name("experiments/run, along", tests,
	    name_files, spec_folder_remove);
}
