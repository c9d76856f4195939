/* tests/experiments/sweep/journal_test.c -- what a killed sweep finds again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rows are a function of the cell, so that a record that ends up in the
 * wrong cell, or in pieces, cannot go unseen.
 */
#include "experiments/sweep/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/text.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/journal_cube.h"
#include "tests/test.h"

enum { N_POINTS = 5, N_RUNS = 3, N_ALGOS = 2, HEADER_BYTES = 40 };

static char path[96];

/* While this is above 0, a lock of ours comes when the name stands for another
 * file by then, an empty one. */
static int replace_at_lock;

int flock(int fd, int how)
{
	if (replace_at_lock > 0 && (how & LOCK_EX)) {
		replace_at_lock--;
		unlink(path);
		close(open(path, O_CREAT | O_WRONLY | O_EXCL, 0666));
	}
	return (int)syscall(SYS_flock, fd, how);
}

static void cube(struct res_cube *c)
{
	assert_ok(journal_cube(c, "runs: 3\n", N_POINTS, N_RUNS, N_ALGOS,
	    test_err()));
}

static double value(size_t point, size_t run, size_t i)
{
	return (double)(point * 1000 + run * 100) + (double)i / 128 - 0.1;
}

static void fill(const struct res_cube *c, size_t point, size_t run,
    double row[])
{
	for (size_t i = 0; i < c->row_doubles; i++)
		row[i] = value(point, run, i);
	row[1] = NAN;
	row[2] = -0.0;
}

static enum res_status status_of(size_t i)
{
	const enum res_status all[] = {RES_DONE, RES_FAILED, RES_CRASHED};
	return all[i % 3];
}

/* Put cells [FIRST, LAST) in the order of their numbers. */
static int put(struct xp_journal *j, const struct res_cube *c, size_t first,
    size_t last, struct sim_err *e)
{
	int rc = 0;
	double *row = malloc(c->row_doubles * sizeof(*row));
	assert_non_null(row);
	for (size_t i = first; i < last && rc == 0; i++) {
		fill(c, i / c->n_runs, i % c->n_runs, row);
		rc = xp_journal_put(j, i / c->n_runs, i % c->n_runs,
		    status_of(i), row, e);
	}
	free(row);
	return rc;
}

static int has_row(const struct res_cube *c, size_t i, const double row[])
{
	int same = 1;
	for (size_t k = 0; k < c->row_doubles; k++) {
		const double x = res_columns_get(&c->rows, i, k);
		same &= x == row[k] || (isnan(x) && isnan(row[k]));
	}
	return same;
}

/* Are cells [0, N) there, each with its own row, and the others not? */
static int holds(const struct res_cube *c, size_t n)
{
	int good = 1;
	double *row = malloc(c->row_doubles * sizeof(*row));
	assert_non_null(row);
	for (size_t i = 0; i < c->n_points * c->n_runs; i++) {
		enum res_status want = i < n ? status_of(i) : RES_NOT_RUN;
		fill(c, i / c->n_runs, i % c->n_runs, row);
		for (size_t k = 0; k < c->row_doubles; k++)
			if (want == RES_CRASHED || want == RES_NOT_RUN)
				row[k] = NAN;
		good &= c->status[i] == want && has_row(c, i, row);
	}
	free(row);
	return good;
}

static void assert_cells(const struct res_cube *c, size_t n)
{
	assert_true(holds(c, n));
}

static size_t file_bytes(void)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	return (size_t)st.st_size;
}

/* A fresh file with cells [0, n); returns the bytes of a record. */
static size_t make_file(size_t n)
{
	struct res_cube c;
	struct xp_journal *j;
	unlink(path);
	cube(&c);
	assert_ok(xp_journal_open(&j, path, &c, test_err()));
	assert_ok(put(j, &c, 0, n, test_err()));
	assert_ok(xp_journal_close(j, 0, test_err()));
	size_t record = 24 + 8 * c.row_doubles;
	assert_int_equal(file_bytes(), HEADER_BYTES + n * record);
	res_cube_free(&c);
	return record;
}

/* Reopen: N_KEPT cells are there, N_CUT bytes were cut off, and the sweep can
 * go on to its end. */
static void assert_goes_on(size_t n_kept, size_t n_cut)
{
	struct res_cube c;
	struct xp_journal *j;
	cube(&c);
	assert_ok(xp_journal_open(&j, path, &c, test_err()));
	struct xp_journal_replay r = xp_journal_replayed(j);
	assert_int_equal(r.n_records, n_kept);
	assert_int_equal(r.n_bytes_cut, n_cut);
	assert_cells(&c, n_kept);
	assert_int_equal(file_bytes(),
	    HEADER_BYTES + n_kept * (24 + 8 * c.row_doubles));
	assert_ok(put(j, &c, n_kept, N_POINTS * N_RUNS, test_err()));
	assert_ok(xp_journal_close(j, 0, test_err()));
	res_cube_free(&c);

	cube(&c);
	assert_ok(xp_journal_read(path, &c, test_err()));
	assert_cells(&c, N_POINTS * N_RUNS);
	res_cube_free(&c);
}

static void flip(size_t at, unsigned char bits)
{
	unsigned char byte;
	int fd = open(path, O_RDWR);
	assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
	byte ^= bits;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}

static int open_again(const char *spec, struct sim_err *e)
{
	struct res_cube c;
	struct xp_journal *j = NULL;
	assert_ok(
	    journal_cube(&c, spec, N_POINTS, N_RUNS, N_ALGOS, test_err()));
	int rc = xp_journal_open(&j, path, &c, e);
	if (rc == 0)
		assert_ok(xp_journal_close(j, 0, test_err()));
	res_cube_free(&c);
	return rc;
}

static void finished_cells_are_found_again_bit_for_bit(void **state)
{
	(void)state;
	make_file(0);
	assert_goes_on(0, 0);
	for (size_t n = 1; n <= N_POINTS * N_RUNS; n++) {
		make_file(n);
		assert_goes_on(n, 0);
	}
}

/* Cells of five points: one record each, numbered by place. */
static void a_cell_of_several_points_is_one_record(void **state)
{
	struct res_cube c, again;
	struct xp_journal *j;
	(void)state;
	unlink(path);
	cube(&c);
	free(c.status);
	res_columns_close(&c.rows);
	c.n_along = N_POINTS;
	assert_ok(res_cube_alloc(&c, test_err()));
	double *row = malloc(c.cell_doubles * sizeof(*row));
	for (size_t i = 0; i < c.cell_doubles; i++)
		row[i] = (double)i;
	assert_ok(xp_journal_open(&j, path, &c, test_err()));
	assert_ok(xp_journal_put(j, 0, 2, RES_DONE, row, test_err()));
	/* All points of these cells are in the records of place 0. A record of
	 * place 1 is written, but left out when the journal is read. */
	assert_ok(xp_journal_put(j, 1, 0, RES_DONE, row, test_err()));
	assert_ok(xp_journal_close(j, 0, test_err()));
	assert_int_equal(file_bytes(),
	    HEADER_BYTES + 2 * (24 + 8 * c.cell_doubles));
	cube(&again);
	free(again.status);
	res_columns_close(&again.rows);
	again.n_along = N_POINTS;
	assert_ok(res_cube_alloc(&again, test_err()));
	assert_ok(xp_journal_open(&j, path, &again, test_err()));
	assert_int_equal(xp_journal_replayed(j).n_records, 1);
	assert_ok(xp_journal_close(j, 1, test_err()));
	for (size_t p = 0; p < N_POINTS; p++)
		for (size_t r = 0; r < N_RUNS; r++) {
			const double x = res_cube_value(&again, p, r, 3);
			assert_true(r == 2
				? x == (double)(p * c.row_doubles + 3)
				: isnan(x));
		}
	free(row);
	res_cube_free(&c);
	res_cube_free(&again);
}

static void rows_without_numbers_are_nan(void **state)
{
	(void)state;
	struct res_cube c;
	struct xp_journal *j;
	make_file(0);
	cube(&c);
	assert_ok(xp_journal_open(&j, path, &c, test_err()));
	assert_ok(xp_journal_put(j, 1, 2, RES_CRASHED, NULL, test_err()));
	assert_ok(xp_journal_close(j, 0, test_err()));
	res_columns_put(&c.rows, 5, 0, 1);
	assert_ok(xp_journal_read(path, &c, test_err()));
	assert_int_equal(c.status[5], RES_CRASHED);
	for (size_t i = 0; i < c.row_doubles; i++)
		assert_true(isnan(res_columns_get(&c.rows, 5, i)));
	res_cube_free(&c);
}

static void the_last_of_two_records_of_a_cell_counts(void **state)
{
	(void)state;
	struct res_cube c;
	struct xp_journal *j;
	make_file(3); /* cell 2 crashed */
	cube(&c);
	assert_ok(xp_journal_open(&j, path, &c, test_err()));
	double *row = calloc(c.row_doubles, sizeof(*row));
	assert_non_null(row);
	row[0] = 42;
	assert_ok(xp_journal_put(j, 0, 2, RES_DONE, row, test_err()));
	assert_ok(xp_journal_close(j, 0, test_err()));
	res_cube_free(&c);
	cube(&c);
	assert_ok(xp_journal_read(path, &c, test_err()));
	assert_int_equal(c.status[2], RES_DONE);
	assert_true(res_columns_get(&c.rows, 2, 0) == 42);
	free(row);
	res_cube_free(&c);
}

static void a_file_torn_at_any_byte_keeps_its_whole_records(void **state)
{
	(void)state;
	const size_t record = make_file(0);
	for (size_t cut = 1; cut <= record; cut++) {
		make_file(4);
		assert_int_equal(truncate(path,
				     (off_t)(HEADER_BYTES + 4 * record - cut)),
		    0);
		assert_goes_on(3, record - cut);
	}
	for (size_t n = 0; n < HEADER_BYTES; n++) {
		make_file(0);
		assert_int_equal(truncate(path, (off_t)n), 0);
		assert_goes_on(0, n);
	}
}

static void a_flipped_bit_cuts_off_from_its_record_on(void **state)
{
	(void)state;
	const size_t record = make_file(0);
	for (size_t at = 0; at < record; at++) {
		make_file(4);
		flip(HEADER_BYTES + 1 * record + at, 1u << at % 8);
		assert_goes_on(1, 3 * record);
	}
}

/* The layout is stated in the header file, so the test writes by it. */
static void forge(size_t record, uint32_t point, uint32_t run, uint32_t status)
{
	unsigned char *r = calloc(1, record);
	assert_non_null(r);
	const uint32_t head[4] = {point, run, status, 0};
	memcpy(r, head, sizeof(head));
	/* It begins with the header's check, its last 8 bytes. */
	uint64_t h;
	int fd = open(path, O_RDWR | O_APPEND);
	assert_int_equal(pread(fd, &h, 8, HEADER_BYTES - 8), 8);
	for (size_t i = 0; i < record - 8; i++)
		h = (h ^ r[i]) * 0x100000001b3;
	memcpy(r + record - 8, &h, 8);
	assert_int_equal(write(fd, r, record), record);
	close(fd);
	free(r);
}

static void records_of_impossible_cells_are_damage(void **state)
{
	(void)state;
	const struct {
		uint32_t point, run, status;
		size_t n_kept;
	} cases[] = {
	    {N_POINTS - 1, N_RUNS - 1, RES_DONE, 3},
	    {N_POINTS, 0, RES_DONE, 2},
	    {0, N_RUNS, RES_DONE, 2},
	    {UINT32_MAX, UINT32_MAX, RES_DONE, 2},
	    {0, 0, RES_NOT_RUN, 2},
	    {0, 0, RES_CRASHED + 1, 2},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct res_cube c;
		struct xp_journal *j;
		size_t record = make_file(2);
		forge(record, cases[i].point, cases[i].run, cases[i].status);
		cube(&c);
		assert_ok(xp_journal_open(&j, path, &c, test_err()));
		assert_int_equal(xp_journal_replayed(j).n_records,
		    cases[i].n_kept);
		assert_ok(xp_journal_close(j, 0, test_err()));
		res_cube_free(&c);
	}
}

static void a_journal_of_another_spec_is_refused_and_kept(void **state)
{
	(void)state;
	struct sim_err e;
	make_file(3);
	size_t bytes = file_bytes();
	assert_int_equal(open_again("runs: 4\n", &e), SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, path));
	assert_non_null(strstr(e.msg, "remove it"));
	assert_non_null(strstr(e.msg, "another output name"));
	struct res_cube c;
	assert_ok(journal_cube(&c, "runs: 4\n", N_POINTS, N_RUNS, N_ALGOS,
	    test_err()));
	assert_int_equal(xp_journal_read(path, &c, &e), SIM_EMISMATCH);
	assert_int_equal(res_cube_progress(&c).n_done, 0);
	res_cube_free(&c);
	assert_int_equal(file_bytes(), bytes);
	assert_goes_on(3, 0);
}

static void foreign_files_are_refused_and_kept(void **state)
{
	(void)state;
	const char *texts[] = {"x", "culprit: notes\n",
	    "a longer file that has nothing to do with any journal\n"};
	for (size_t i = 0; i < 3; i++) {
		struct sim_err e;
		unlink(path);
		FILE *f = fopen(path, "w");
		fputs(texts[i], f);
		fclose(f);
		assert_int_equal(open_again("runs: 3\n", &e), SIM_EMISMATCH);
		assert_non_null(strstr(e.msg, path));
		assert_int_equal(file_bytes(), strlen(texts[i]));
	}
}

static void cells_of_another_build_are_refused(void **state)
{
	(void)state;
	struct res_cube c;
	struct sim_err e;
	make_file(3);
	cube(&c);
	free(c.build);
	assert_ok(sim_dup(&c.build, "edited", test_err()));
	assert_int_equal(xp_journal_read(path, &c, &e), SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "another build"));
	assert_non_null(strstr(e.msg, "--fresh"));
	res_cube_free(&c);
}

static void a_journal_of_another_format_is_told(void **state)
{
	(void)state;
	struct sim_err e;
	make_file(3);
	flip(8, 0x10);
	assert_int_equal(open_again("runs: 3\n", &e), SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "format version 19"));
}

static void a_damaged_header_is_told_from_another_sweep(void **state)
{
	(void)state;
	for (size_t at = 12; at < HEADER_BYTES; at++) {
		struct sim_err e;
		make_file(3);
		flip(at, 0x10);
		assert_int_equal(open_again("runs: 3\n", &e), SIM_EIO);
		assert_non_null(strstr(e.msg, "damaged"));
	}
}

static void a_missing_file_or_folder_is_an_error_with_its_name(void **state)
{
	(void)state;
	struct res_cube c;
	struct xp_journal *j;
	struct sim_err e;
	cube(&c);
	unlink(path);
	assert_int_equal(xp_journal_read(path, &c, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, path));
	assert_non_null(strstr(e.msg, strerror(ENOENT)));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(xp_journal_open(&j, "/nowhere/x.journal", &c, &e),
	    SIM_EIO);
	assert_non_null(strstr(e.msg, "/nowhere/x.journal"));
	assert_int_equal(xp_journal_open(&j, test_folder, &c, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, strerror(EISDIR)));
	res_cube_free(&c);
}

static void a_second_process_is_refused_until_the_first_ends(void **state)
{
	(void)state;
	int to_us[2], status;
	char byte;
	make_file(2);
	assert_int_equal(pipe(to_us), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct res_cube c;
		struct xp_journal *j;
		cube(&c);
		if (xp_journal_open(&j, path, &c, NULL) < 0)
			_exit(1);
		if (write(to_us[1], "", 1) != 1)
			_exit(2);
		alarm(60); /* should nobody stop us */
		pause();
		_exit(3);
	}
	struct sim_err e;
	assert_int_equal(read(to_us[0], &byte, 1), 1);
	assert_true(xp_journal_is_held(path));
	assert_int_equal(open_again("runs: 3\n", &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "another process"));
	assert_non_null(strstr(e.msg, path));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_false(xp_journal_is_held(path));
	assert_goes_on(2, 0);
	assert_false(xp_journal_is_held("no.journal"));
	close(to_us[0]);
	close(to_us[1]);
}

static int set_aside(const char *spec, int always, struct sim_err *e)
{
	struct res_cube c;
	assert_ok(
	    journal_cube(&c, spec, N_POINTS, N_RUNS, N_ALGOS, test_err()));
	const int rc = xp_journal_set_aside(path, &c, always, e);
	res_cube_free(&c);
	return rc;
}

/* A file's bytes; -1: there is none. */
static long bytes_of(const char *file)
{
	struct stat st;
	return stat(file, &st) < 0 ? -1 : (long)st.st_size;
}

/* Its records lie at PATH~ then, to the last byte of its name. */
static void a_journal_in_the_way_is_moved_and_kept(void **state)
{
	char old[sizeof(path) + 1];
	(void)state;
	snprintf(old, sizeof(old), "%s~", path);
	unlink(path);
	unlink(old);
	assert_ok(set_aside("runs: 3\n", 1, test_err()));
	assert_int_equal(bytes_of(old), -1);
	make_file(3);
	const long bytes = bytes_of(path);
	/* One's own stays where it is, unless it is always to go. */
	assert_ok(set_aside("runs: 3\n", 0, test_err()));
	assert_int_equal(bytes_of(path), bytes);
	assert_int_equal(bytes_of(old), -1);
	assert_ok(set_aside("runs: 4\n", 0, test_err()));
	assert_int_equal(bytes_of(path), -1);
	assert_int_equal(bytes_of(old), bytes);
	/* It is whole: under its name it goes on. */
	assert_int_equal(rename(old, path), 0);
	assert_goes_on(3, 0);
	make_file(3);
	assert_ok(set_aside("runs: 3\n", 1, test_err()));
	assert_int_equal(bytes_of(path), -1);
	assert_int_equal(bytes_of(old), bytes);
	/* What has no record is removed, and replaces nothing. */
	make_file(0);
	assert_ok(set_aside("runs: 3\n", 1, test_err()));
	assert_int_equal(bytes_of(path), -1);
	assert_int_equal(bytes_of(old), bytes);
	close(open(path, O_CREAT | O_WRONLY, 0666));
	assert_ok(set_aside("runs: 3\n", 1, test_err()));
	assert_int_equal(bytes_of(path), -1);
	assert_int_equal(bytes_of(old), bytes);
	unlink(old);
}

/* Neither is one that is at work, nor is it copied. */
static void a_journal_at_work_is_not_moved(void **state)
{
	struct res_cube c;
	struct xp_journal *j;
	struct sim_err e;
	(void)state;
	make_file(2);
	const long bytes = bytes_of(path);
	cube(&c);
	assert_ok(xp_journal_open(&j, path, &c, test_err()));
	assert_int_equal(set_aside("runs: 3\n", 1, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "another process"));
	assert_int_equal(bytes_of(path), bytes);
	assert_ok(xp_journal_close(j, 0, test_err()));
	res_cube_free(&c);
}

/* The name may come to stand for another file between open and lock: as when
 * its last owner removes it. Then that one is locked, and no file stays open. */
static void a_file_that_was_replaced_is_opened_anew(void **state)
{
	(void)state;
	make_file(2);
	const int before = dup(0);
	replace_at_lock = 3;
	assert_goes_on(0, 0);
	assert_int_equal(replace_at_lock, 0);
	const int after = dup(0);
	assert_int_equal(after, before + 1);
	close(after);
	close(before);
}

/* Who asks takes the lock for a moment, and nobody is turned away for that. It is
 * held less than a tenth of the time, and asked for 20 times: fewer than one
 * false alarm in 1e16. */
static void asking_keeps_nobody_away(void **state)
{
	(void)state;
	struct sim_err e;
	int status;
	make_file(2);
	const pid_t pid = fork();
	if (pid == 0) {
		alarm(60); /* should nobody stop us */
		for (;; usleep(100))
			xp_journal_is_held(path);
	}
	for (int i = 0; i < 2000; i++)
		if (open_again("runs: 3\n", &e) < 0)
			fail_msg("open %d: %s", i, e.msg);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void a_reader_sees_what_another_process_has_flushed(void **state)
{
	(void)state;
	struct res_cube c;
	struct xp_journal *j;
	uint64_t length;
	make_file(0);
	cube(&c);
	assert_ok(xp_journal_open(&j, path, &c, test_err()));
	for (size_t i = 0; i < N_POINTS * N_RUNS; i++) {
		struct res_cube seen;
		cube(&seen);
		assert_ok(put(j, &c, i, i + 1, test_err()));
		assert_ok(xp_journal_read(path, &seen, test_err()));
		assert_cells(&seen, i); /* still in the buffer */
		res_cube_free(&seen);
		cube(&seen);
		assert_ok(xp_journal_flush(j, test_err()));
		assert_ok(xp_journal_length(path, &length, test_err()));
		assert_int_equal(length, i + 1);
		assert_ok(xp_journal_read(path, &seen, test_err()));
		assert_cells(&seen, i + 1);
		res_cube_free(&seen);
	}
	assert_ok(xp_journal_close(j, 0, test_err()));
	res_cube_free(&c);
}

/* Whenever we look, what is there is a beginning of what a child writes. */
static void a_reader_of_a_growing_file_sees_a_beginning_of_it(void **state)
{
	(void)state;
	enum { N = 3000 };
	int status;
	size_t seen = 0;
	make_file(0);
	pid_t pid = fork();
	if (pid == 0) {
		struct res_cube c;
		struct xp_journal *j;
		cube(&c);
		if (xp_journal_open(&j, path, &c, NULL) < 0)
			_exit(1);
		for (size_t i = 0; i < N; i++) {
			size_t cell = i % (N_POINTS * N_RUNS);
			if (put(j, &c, cell, cell + 1, NULL) < 0 ||
			    (i % 7 == 0 && xp_journal_flush(j, NULL) < 0))
				_exit(2);
		}
		_exit(xp_journal_close(j, 0, NULL) < 0 ? 3 : 0);
	}
	pid_t ended = 0;
	while (ended == 0) {
		struct res_cube c;
		ended = waitpid(pid, &status, WNOHANG);
		cube(&c);
		assert_ok(xp_journal_read(path, &c, test_err()));
		size_t n = 0;
		while (n < N_POINTS * N_RUNS && c.status[n] != RES_NOT_RUN)
			n++;
		assert_cells(&c, n);
		assert_true(n >= seen);
		seen = n;
		res_cube_free(&c);
	}
	assert_int_equal(status, 0);
	assert_int_equal(seen, N_POINTS * N_RUNS);
}

static void close_removes_the_file_when_told_to(void **state)
{
	(void)state;
	struct res_cube c;
	struct xp_journal *j;
	make_file(2);
	cube(&c);
	assert_ok(xp_journal_open(&j, path, &c, test_err()));
	assert_ok(xp_journal_close(j, 1, test_err()));
	assert_int_equal(access(path, F_OK), -1);
	assert_ok(xp_journal_close(NULL, 1, test_err()));
	res_cube_free(&c);
}

#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition))                                              \
			return __LINE__;                                       \
	} while (0)

/* Write until the file system is full, free room by calling MORE_ROOM, go on:
 * every record arrives, and the failed call left only whole ones. Returns 0 or
 * the line that failed. */
static int fill_up(int why, void (*more_room)(void))
{
	enum { N = 2000 };
	struct res_cube c;
	struct xp_journal *j;
	struct sim_err e = {0};
	size_t n_failures = 0, record, n_cells = N_POINTS * N_RUNS;
	unlink(path);
	cube(&c);
	record = 24 + 8 * c.row_doubles;
	CHECK(xp_journal_open(&j, path, &c, &e) == 0);
	for (size_t i = 0; i < N; i++) {
		size_t cell = i % n_cells;
		int rc = put(j, &c, cell, cell + 1, &e);
		if (rc == 0)
			continue;
		CHECK(rc == SIM_EIO);
		CHECK(strstr(e.msg, path) && strstr(e.msg, strerror(why)));
		CHECK((file_bytes() - HEADER_BYTES) % record == 0);
		CHECK(xp_journal_flush(j, &e) == SIM_EIO);
		CHECK((file_bytes() - HEADER_BYTES) % record == 0);
		struct res_cube seen;
		cube(&seen);
		CHECK(xp_journal_read(path, &seen, &e) == 0);
		CHECK(res_cube_progress(&seen).n_done > 0);
		res_cube_free(&seen);
		/* Or there would be no end. */
		CHECK(++n_failures == 1);
		more_room();
		i--; /* it was left out */
	}
	CHECK(n_failures == 1);
	CHECK(xp_journal_close(j, 0, &e) == 0);
	CHECK(file_bytes() == HEADER_BYTES + N * record);
	CHECK(xp_journal_open(&j, path, &c, &e) == 0);
	CHECK(xp_journal_replayed(j).n_records == N);
	CHECK(holds(&c, n_cells));
	int fd = open(path, O_RDONLY);
	for (size_t i = 0; i < N; i++) {
		uint32_t at[2]; /* point, run */
		CHECK(pread(fd, at, sizeof(at),
			  (off_t)(HEADER_BYTES + i * record)) == sizeof(at));
		CHECK(at[0] * c.n_runs + at[1] == i % n_cells);
	}
	close(fd);
	CHECK(xp_journal_close(j, 1, &e) == 0);
	res_cube_free(&c);
	return 0;
}

/* A limit on the size of files gives a short write, then an error. */
static void limit(rlim_t bytes)
{
	struct rlimit r = {bytes, RLIM_INFINITY};
	setrlimit(RLIMIT_FSIZE, &r);
}

static void no_limit(void)
{
	limit(RLIM_INFINITY);
}

static void a_file_at_its_size_limit_loses_no_record(void **state)
{
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	limit(300 * 1000 + 1);
	int line = fill_up(EFBIG, no_limit);
	no_limit();
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(line, 0);
}

static void remove_ballast(void)
{
	char ballast[96];
	snprintf(ballast, sizeof(ballast), "%s/ballast", test_folder);
	unlink(ballast);
}

/* In a child with mounts of its own: a file system of 8 MiB, which holds the
 * journal, however many metrics a row has, but not beside 7.5 MiB of ballast. */
static int fill_a_small_file_system(void)
{
	static const char zeros[(7 << 20) + (1 << 19)];
	char ballast[96];
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", test_folder, "tmpfs", 0, "size=8m") < 0)
		return -1;
	snprintf(ballast, sizeof(ballast), "%s/ballast", test_folder);
	int fd = open(ballast, O_WRONLY | O_CREAT, 0600);
	CHECK(write(fd, zeros, sizeof(zeros)) == sizeof(zeros));
	close(fd);
	return fill_up(ENOSPC, remove_ballast);
}

static void a_full_disk_loses_no_record(void **state)
{
	(void)state;
	int status, line = 0, fd[2];
	if (geteuid() != 0) {
		print_message("skipped: mounting a small file system takes "
			      "root\n");
		skip();
	}
	assert_int_equal(pipe(fd), 0);
	pid_t pid = fork();
	if (pid == 0) {
		line = fill_a_small_file_system();
		_exit(write(fd[1], &line, sizeof(line)) != sizeof(line));
	}
	close(fd[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(read(fd[0], &line, sizeof(line)), sizeof(line));
	close(fd[0]);
	assert_int_equal(status, 0);
	if (line < 0) {
		print_message("skipped: mounting is not allowed here\n");
		skip();
	}
	assert_int_equal(line, 0);
}

static int open_put_close(void *arg, struct sim_err *e)
{
	struct res_cube *c = arg;
	struct xp_journal *j;
	double row[RES_N_TRIAL_METRICS + N_ALGOS * RES_N_ALGO_METRICS] = {0};
	int rc;
	if ((rc = xp_journal_open(&j, path, c, e)) < 0)
		return rc;
	assert_ok(xp_journal_put(j, 0, 0, RES_DONE, row, test_err()));
	assert_ok(xp_journal_close(j, 0, test_err()));
	return xp_journal_read(path, c, e);
}

static void every_failed_allocation_is_an_error(void **state)
{
	(void)state;
	struct res_cube c;
	cube(&c);
	make_file(2);
	test_each_alloc_fails(open_put_close, &c);
	res_cube_free(&c);
}

static int make_dir(void **state)
{
	if (test_folder_make(state) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/x.journal", test_folder);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(test_folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(finished_cells_are_found_again_bit_for_bit),
	    cmocka_unit_test(a_cell_of_several_points_is_one_record),
	    cmocka_unit_test(rows_without_numbers_are_nan),
	    cmocka_unit_test(the_last_of_two_records_of_a_cell_counts),
	    cmocka_unit_test(a_file_torn_at_any_byte_keeps_its_whole_records),
	    cmocka_unit_test(a_flipped_bit_cuts_off_from_its_record_on),
	    cmocka_unit_test(records_of_impossible_cells_are_damage),
	    cmocka_unit_test(a_journal_of_another_spec_is_refused_and_kept),
	    cmocka_unit_test(foreign_files_are_refused_and_kept),
	    cmocka_unit_test(cells_of_another_build_are_refused),
	    cmocka_unit_test(a_journal_of_another_format_is_told),
	    cmocka_unit_test(a_damaged_header_is_told_from_another_sweep),
	    cmocka_unit_test(
		a_missing_file_or_folder_is_an_error_with_its_name),
	    cmocka_unit_test(a_second_process_is_refused_until_the_first_ends),
	    cmocka_unit_test(a_journal_in_the_way_is_moved_and_kept),
	    cmocka_unit_test(a_journal_at_work_is_not_moved),
	    cmocka_unit_test(a_file_that_was_replaced_is_opened_anew),
	    cmocka_unit_test(asking_keeps_nobody_away),
	    cmocka_unit_test(a_reader_sees_what_another_process_has_flushed),
	    cmocka_unit_test(a_reader_of_a_growing_file_sees_a_beginning_of_it),
	    cmocka_unit_test(close_removes_the_file_when_told_to),
	    cmocka_unit_test(a_file_at_its_size_limit_loses_no_record),
	    cmocka_unit_test(a_full_disk_loses_no_record),
	    cmocka_unit_test(every_failed_allocation_is_an_error),
	};
	return cmocka_run_group_tests_name("experiments/sweep/journal", tests,
	    make_dir, remove_dir);
}
