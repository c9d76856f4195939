/* tests/results/samples_test.c -- files of samples: there and back, and damaged.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/samples.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/rng.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/h5_edit.h"
#include "tests/test.h"

enum { N_HOSTS = 40, N_RUNS = 60, N_BUCKETS = 50 };

struct made {
	struct obs_runs runs;
	struct obs_samples t;
	struct res_hosts hosts;
};

/* Some runs are quiet, the first and the last among them. */
static void made_init(struct made *m)
{
	struct sim_rng rng;
	test_rng(&rng, 0);
	*m = (struct made){0};
	for (uint32_t i = 0; i < N_RUNS; i++) {
		const struct obs_run run = {.start_ns = 1000 * i,
		    .width_ns = 1000000,
		    .line_bps = 12500000000,
		    .host = i % N_HOSTS,
		    .n_buckets = N_BUCKETS,
		    .n_missed = i};
		assert_ok(obs_runs_add(&m->runs, &run, test_err()));
		for (uint32_t b = 0;
		     i % 7 != 0 && i != N_RUNS - 1 && b < N_BUCKETS; b++) {
			const uint32_t n = sim_rng_below(&rng, 1000);
			const struct obs_sample s = {.run = i,
			    .bucket = b,
			    .in_bytes = 3 * n,
			    .out_bytes = 2 * n,
			    .in_cross = n,
			    .out_cross = n / 2,
			    .in_ce = n / 3,
			    .in_retx = n / 4,
			    .out_retx = n / 5,
			    .conns = n / 6,
			    .sketch_lo = (uint64_t)n << 40,
			    .sketch_hi = n};
			if (n % 3)
				assert_ok(
				    obs_samples_add(&m->t, &s, test_err()));
		}
	}
	for (uint32_t i = 0; i < N_HOSTS; i++) {
		struct res_host h = {.host = i, .rack = i / 20};
		snprintf(h.name.text, sizeof(h.name.text), "host%u", i);
		assert_ok(res_hosts_add(&m->hosts, &h, test_err()));
	}
}

static void made_free(struct made *m)
{
	obs_runs_free(&m->runs);
	obs_samples_free(&m->t);
	res_hosts_free(&m->hosts);
}

/* Runs FROM to TO of M as tables of their own, whose runs count from 0. */
static int made_add(const struct made *m, size_t from, size_t to,
    struct res_samples_out *w, struct sim_err *e)
{
	struct obs_runs runs = {0};
	struct obs_samples t = {0};
	int rc = 0;
	for (size_t i = from; rc == 0 && i < to; i++) {
		const struct obs_run run = obs_runs_at(&m->runs, i);
		rc = obs_runs_add(&runs, &run, e);
	}
	for (size_t i = 0; rc == 0 && i < m->t.n; i++) {
		struct obs_sample s = obs_samples_at(&m->t, i);
		if (s.run < from || s.run >= to)
			continue;
		s.run -= (uint32_t)from;
		rc = obs_samples_add(&t, &s, e);
	}
	if (rc == 0)
		rc = res_samples_add(w, &runs, &t, e);
	obs_runs_free(&runs);
	obs_samples_free(&t);
	return rc;
}

static int made_write(const struct made *m, size_t batch, const char *path,
    struct sim_err *e)
{
	const struct res_samples_info info = {.spec = "a: b\n",
	    .culprit = "test",
	    .seed = 5,
	    .point = 6,
	    .trial = 7,
	    .n_hosts = N_HOSTS};
	struct res_samples_out *w;
	int rc = res_samples_create(&w, path, &info, e);
	if (rc < 0)
		return rc;
	rc = res_samples_add_hosts(w, &m->hosts, e);
	for (size_t i = 0; rc == 0 && i < N_RUNS; i += batch)
		rc = made_add(m, i, i + batch < N_RUNS ? i + batch : N_RUNS, w,
		    e);
	if (rc < 0) {
		res_samples_discard(w);
		return rc;
	}
	return res_samples_finish(w, e);
}

#define SAME(type, name, unit, doc)                                            \
	if (a.name != b.name)                                                  \
		fail_msg("row %zu: another " #name, i);

/* What is loaded of runs FIRST to FIRST + N is what M has of them, in order. */
static void assert_loaded(struct res_samples *r, const struct made *m,
    size_t first, size_t n)
{
	struct obs_samples t = {0};
	size_t at = 0;
	assert_ok(res_samples_load(r, first, n, &t, test_err()));
	for (size_t i = 0; i < m->t.n; i++) {
		if (m->t.run[i] < first || m->t.run[i] >= first + n)
			continue;
		assert_true(at < t.n);
		const struct obs_sample a = obs_samples_at(&m->t, i),
					b = obs_samples_at(&t, at++);
		OBS_SAMPLE_COLUMNS(SAME)
	}
	assert_int_equal(at, t.n);
	obs_samples_free(&t);
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	struct made m;
	struct res_samples *r;
	const char *path = test_path("whole.h5");
	made_init(&m);
	assert_ok(made_write(&m, N_RUNS, path, test_err()));
	assert_ok(res_samples_open(&r, path, test_err()));
	const struct res_samples_info *info = res_samples_info(r);
	assert_string_equal(info->spec, "a: b\n");
	assert_string_equal(info->culprit, "test");
	assert_true(info->seed == 5 && info->point == 6 && info->trial == 7);
	assert_int_equal(info->n_hosts, N_HOSTS);
	const struct res_hosts *hosts = res_samples_hosts(r);
	assert_int_equal(hosts->n, N_HOSTS);
	assert_string_equal(hosts->name[39].text, "host39");
	assert_int_equal(hosts->rack[39], 1);
	const struct obs_runs *runs = res_samples_runs(r);
	assert_int_equal(runs->n, N_RUNS);
	for (size_t i = 0; i < N_RUNS; i++) {
		const struct obs_run a = obs_runs_at(&m.runs, i),
				     b = obs_runs_at(runs, i);
		OBS_RUN_COLUMNS(SAME)
	}
	for (size_t first = 0; first <= N_RUNS; first++)
		for (size_t n = 0; n <= N_RUNS - first; n++)
			assert_loaded(r, &m, first, n);
	res_samples_close(r);
	made_free(&m);
}

static void batches_leave_no_trace(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	assert_ok(made_write(&m, N_RUNS, test_path("whole.h5"), test_err()));
	for (size_t batch = 1; batch < 20; batch += 6) {
		assert_ok(
		    made_write(&m, batch, test_path("parts.h5"), test_err()));
		test_assert_same_bytes(test_path("whole.h5"),
		    test_path("parts.h5"));
	}
	made_free(&m);
}

/* --- at hand ---------------------------------------------------------------- */

/* Copies of them, as what is kept is taken over. */
static int made_keep(void *arg, struct sim_err *e)
{
	const struct made *m = arg;
	struct res_hosts hosts = {0};
	struct obs_runs runs = {0};
	struct obs_samples t = {0};
	struct res_samples *r = NULL;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < m->hosts.n; i++) {
		const struct res_host row = res_hosts_at(&m->hosts, i);
		rc = res_hosts_add(&hosts, &row, e);
	}
	for (size_t i = 0; rc == 0 && i < m->runs.n; i++) {
		const struct obs_run row = obs_runs_at(&m->runs, i);
		rc = obs_runs_add(&runs, &row, e);
	}
	for (size_t i = 0; rc == 0 && i < m->t.n; i++) {
		const struct obs_sample row = obs_samples_at(&m->t, i);
		rc = obs_samples_add(&t, &row, e);
	}
	if (rc == 0)
		rc = res_samples_keep(&r, "x", N_HOSTS, &hosts, &runs, &t, e);
	if (rc == 0) {
		assert_int_equal(t.n + runs.n + hosts.n, 0);
		assert_int_equal(res_samples_runs(r)->n, N_RUNS);
		for (size_t first = 0; first <= N_RUNS; first += 7)
			for (size_t n = 0; n <= N_RUNS - first; n += 5)
				assert_loaded(r, m, first, n);
	}
	res_samples_close(r);
	res_hosts_free(&hosts);
	obs_runs_free(&runs);
	obs_samples_free(&t);
	return rc;
}

static void what_is_kept_is_read_as_a_file_is(void **state)
{
	(void)state;
	struct made m;
	struct sim_err e;
	made_init(&m);
	assert_ok(made_keep(&m, test_err()));
	m.t.in_retx[100] = m.t.in_bytes[100] + 1;
	assert_int_equal(made_keep(&m, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "in_retx"));
	made_free(&m);
}

static void runs_that_are_not_there_are_refused(void **state)
{
	(void)state;
	struct made m;
	struct res_samples *r;
	struct obs_samples t = {0};
	struct sim_err e;
	made_init(&m);
	assert_ok(made_write(&m, N_RUNS, test_path("whole.h5"), test_err()));
	assert_ok(res_samples_open(&r, test_path("whole.h5"), test_err()));
	assert_int_equal(res_samples_load(r, 59, 2, &t, &e), SIM_ERANGE);
	assert_non_null(strstr(e.msg,
	    "has 60 runs; there are none from 59 to "
	    "60"));
	assert_int_equal(res_samples_load(r, SIZE_MAX, 1, &t, NULL),
	    SIM_ERANGE);
	assert_int_equal(res_samples_load(r, 1, SIZE_MAX, &t, NULL),
	    SIM_ERANGE);
	res_samples_close(r);
	made_free(&m);
}

/* A part of a file never passes for the whole. */
static void after_a_bad_row_nothing_is_written(void **state)
{
	(void)state;
	struct made m;
	struct sim_err e;
	const char *path = test_path("bad.h5");
	made_init(&m);
	m.t.in_retx[100] = m.t.in_bytes[100] + 1;
	assert_int_equal(made_write(&m, 7, path, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "in_retx"));
	struct res_samples_out *w;
	const struct res_samples_info info = {.n_hosts = 39};
	assert_ok(res_samples_create(&w, path, &info, test_err()));
	assert_int_equal(res_samples_add_hosts(w, &m.hosts, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "name 39 is of host 39"));
	assert_int_equal(res_samples_finish(w, NULL), SIM_EIO);
	struct res_samples *r;
	assert_int_equal(res_samples_open(&r, path, NULL), SIM_EIO);
	made_free(&m);
}

/* --- what was true ---------------------------------------------------------- */

static int truth_make(struct res_samples_truth *t, uint32_t host,
    struct sim_err *e)
{
	const struct res_true_fault fault = {.host = 7,
	    .out = 1,
	    .rate = 1e-3,
	    .to_ns = UINT64_MAX};
	const struct res_true_burst burst = {.start_ns = 9,
	    .host = host,
	    .bytes = UINT64_C(1) << 40,
	    .conns = 300,
	    .n_new = 299};
	int rc = res_true_faults_add(&t->faults, &fault, e);
	for (uint32_t i = 0; rc == 0 && i < 3000; i++) {
		const struct res_true_loss loss = {.start_ns = 1000000 * i,
		    .host = i % N_HOSTS,
		    .buffer = i,
		    .link_in = 2 * i,
		    .link_out = 3 * i,
		    .queue_max = 4 * i};
		rc = res_true_losses_add(&t->losses, &loss, e);
	}
	return rc < 0 ? rc : res_true_bursts_add(&t->bursts, &burst, e);
}

static int truth_write(const char *path, uint32_t host, struct sim_err *e)
{
	const struct res_samples_info info = {.n_hosts = N_HOSTS};
	struct res_samples_truth t = {0};
	struct res_samples_out *w = NULL;
	int rc = truth_make(&t, host, e);
	if (rc == 0)
		rc = res_samples_create(&w, path, &info, e);
	if (rc == 0)
		rc = res_samples_add_truth(w, &t, e);
	res_samples_truth_free(&t);
	if (rc == 0)
		return res_samples_finish(w, e);
	res_samples_discard(w);
	return rc;
}

static int truth_read(const char *path, struct res_samples_truth *t,
    struct sim_err *e)
{
	struct res_samples *r;
	int rc = res_samples_open(&r, path, e);
	if (rc < 0)
		return rc;
	rc = res_samples_load_truth(r, t, e);
	res_samples_close(r);
	return rc;
}

#define COMPARE(type, name, unit, doc)                                         \
	assert_memory_equal(a->name, b->name, a->n * sizeof(type));
static void what_was_true_is_read(void **state)
{
	(void)state;
	const char *path = test_path("true.h5");
	struct res_samples_truth want = {0}, got = {0};
	assert_ok(truth_make(&want, 39, test_err()));
	assert_ok(truth_write(path, 39, test_err()));
	assert_ok(truth_read(path, &got, test_err()));
	assert_int_equal(got.faults.n, 1);
	assert_int_equal(got.losses.n, 3000);
	assert_int_equal(got.bursts.n, 1);
	{
		const struct res_true_faults *a = &want.faults,
					     *b = &got.faults;
		RES_TRUE_FAULT_COLUMNS(COMPARE)
	}
	{
		const struct res_true_losses *a = &want.losses,
					     *b = &got.losses;
		RES_TRUE_LOSS_COLUMNS(COMPARE)
	}
	{
		const struct res_true_bursts *a = &want.bursts,
					     *b = &got.bursts;
		RES_TRUE_BURST_COLUMNS(COMPARE)
	}
	res_samples_truth_free(&want);
	res_samples_truth_free(&got);
}

static void who_does_not_know_the_truth_says_none(void **state)
{
	(void)state;
	struct made m;
	struct res_samples *r;
	struct res_samples_truth t = {0};
	struct sim_err e;
	made_init(&m);
	assert_ok(made_write(&m, N_RUNS, test_path("seen.h5"), test_err()));
	assert_ok(truth_write(test_path("true.h5"), 39, test_err()));
	assert_ok(res_samples_open(&r, test_path("true.h5"), test_err()));
	assert_int_equal(res_samples_has_truth(r, test_err()), 1);
	res_samples_close(r);
	assert_ok(res_samples_open(&r, test_path("seen.h5"), test_err()));
	assert_int_equal(res_samples_has_truth(r, test_err()), 0);
	assert_int_equal(res_samples_load_truth(r, &t, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, "faults"));
	res_samples_close(r);
	made_free(&m);
}

static void truth_is_of_hosts_that_there_are(void **state)
{
	(void)state;
	const char *path = test_path("true.h5");
	struct res_samples_truth t = {0};
	struct sim_err e;
	remove(path);
	assert_int_equal(truth_write(path, 40, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "row 0 of bursts is of host 40"));
	assert_int_not_equal(access(path, F_OK), 0);
	assert_ok(truth_write(path, 39, test_err()));
	const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	assert_true(file >= 0);
	h5_edit_cell(file, "losses/host", 2999, 41);
	h5_edit_seal(file, path);
	assert_int_equal(truth_read(path, &t, &e), SIM_EPARSE);
	assert_non_null(strstr(e.msg, "row 2999 of losses is of host 41"));
	res_samples_truth_free(&t);
}

static int truth_life(void *arg, struct sim_err *e)
{
	struct res_samples_truth t = {0};
	const char *path = arg;
	int rc = truth_write(path, 39, e);
	if (rc == 0)
		rc = truth_read(path, &t, e);
	res_samples_truth_free(&t);
	return rc;
}

static void each_failed_allocation_of_truth_is_reported(void **state)
{
	(void)state;
	test_each_alloc_fails(truth_life, (void *)test_path("alloc.h5"));
}

/* --- damaged ---------------------------------------------------------------- */

static int read_samples(const char *path, struct sim_err *e)
{
	struct res_samples *r;
	struct obs_samples t = {0};
	int rc = res_samples_open(&r, path, e);
	if (rc < 0)
		return rc;
	rc = res_samples_load(r, 0, res_samples_runs(r)->n, &t, e);
	obs_samples_free(&t);
	res_samples_close(r);
	return rc;
}

static hid_t damaged(const struct made *m, const char *path)
{
	assert_ok(made_write(m, N_RUNS, path, test_err()));
	const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	assert_true(file >= 0);
	return file;
}

static void assert_damage(hid_t file, const char *path, int code,
    const char *words)
{
	struct sim_err e = {0};
	h5_edit_seal(file, path);
	const int rc = read_samples(path, &e);
	if (rc != code || !strstr(e.msg, words) || !strstr(e.msg, path))
		fail_msg("\"%s\" lacks \"%s\"", e.msg, words);
}

static void forged_files_are_refused_by_name(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint64_t row, value;
		const char *words;
	} cell[] = {
	    {"hosts/host", 3, 40, "name 3 is of host 40"},
	    {"runs/host", 2, 40, "run 2 is of host 40"},
	    {"runs/width_ns", 2, 0, "of 0 ns"},
	    {"spans/first_row", 0, 1, "run 0 begins at row 1"},
	    {"spans/first_row", 5, UINT64_MAX, "run 5 has rows from"},
	    {"spans/first_row", 5, 0, "run 4 has rows from"},
	    {"spans/first_row", 5, 110, "stands with those of run 5"},
	    {"samples/run", 9, 60, "stands with those of run 1"},
	    {"samples/bucket", 9, 50, "of bucket 50"},
	    {"samples/in_ce", 9, UINT32_MAX, "in_ce 4294967295"},
	};
	const char *path = test_path("odd.h5");
	struct made m;
	made_init(&m);
	for (size_t i = 0; i < sizeof(cell) / sizeof(cell[0]); i++) {
		hid_t file = damaged(&m, path);
		h5_edit_cell(file, cell[i].name, cell[i].row, cell[i].value);
		assert_damage(file, path, SIM_EPARSE, cell[i].words);
	}
	hid_t file = damaged(&m, path);
	h5_edit_count(file, "samples_version", 0, 99);
	assert_damage(file, path, SIM_EMISMATCH, "samples version 99");
	file = damaged(&m, path);
	h5_edit_count(file, "n_hosts", 0, UINT64_C(1) << 32);
	assert_damage(file, path, SIM_EPARSE, "4294967296 hosts");
	static const char *const missing[] = {"hosts", "runs", "spans",
	    "samples"};
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		file = damaged(&m, path);
		assert_true(H5Ldelete(file, missing[i], H5P_DEFAULT) >= 0);
		assert_damage(file, path, SIM_EPARSE, missing[i]);
	}
	file = damaged(&m, path);
	assert_true(H5Adelete(file, "samples_version") >= 0);
	assert_damage(file, path, SIM_EPARSE, "it is no file of samples");
	made_free(&m);
}

/* --- resources -------------------------------------------------------------- */

static int write_samples(void *m, struct sim_err *e)
{
	return made_write(m, N_RUNS, test_path("alloc.h5"), e);
}

static int read_written(void *arg, struct sim_err *e)
{
	(void)arg;
	return read_samples(test_path("alloc.h5"), e);
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	struct made m;
	made_init(&m);
	test_each_alloc_fails(write_samples, &m);
	test_each_alloc_fails(read_written, NULL);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(batches_leave_no_trace),
	    cmocka_unit_test(what_is_kept_is_read_as_a_file_is),
	    cmocka_unit_test(runs_that_are_not_there_are_refused),
	    cmocka_unit_test(after_a_bad_row_nothing_is_written),
	    cmocka_unit_test(what_was_true_is_read),
	    cmocka_unit_test(who_does_not_know_the_truth_says_none),
	    cmocka_unit_test(truth_is_of_hosts_that_there_are),
	    cmocka_unit_test(each_failed_allocation_of_truth_is_reported),
	    cmocka_unit_test(forged_files_are_refused_by_name),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, test_folder_make,
	    test_folder_remove);
}
