/* tests/results/segments_test.c -- files that are appended to, and what fails.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/rigs/folder.h"
#include "tests/test.h"

static const struct res_segments_kind kind = {"batches", "cpmb", "collector"};

enum { DAY = 86400, FILE_BYTES = 100 };

/* --- a kernel that fails when it is told to ------------------------------- */

/* How often each was called, and how many of the next calls fail: of fsync()
 * behind those that are spared. The next write may be interrupted, or write one
 * byte alone, or nothing. */
static unsigned n_fsyncs, n_fdatasyncs, bad_fsyncs, spared_fsyncs,
    bad_fdatasyncs, bad_cuts, bad_writes;
static enum { AS_ASKED, INTERRUPTED, ONE_BYTE, NOTHING } next_write;

static int fails(unsigned *bad)
{
	if (*bad == 0)
		return 0;
	(*bad)--;
	errno = EIO;
	return 1;
}

int fsync(int fd)
{
	n_fsyncs++;
	if (spared_fsyncs > 0)
		spared_fsyncs--;
	else if (fails(&bad_fsyncs))
		return -1;
	return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	n_fdatasyncs++;
	return fails(&bad_fdatasyncs) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate(int fd, off_t n)
{
	return fails(&bad_cuts) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	const int how = next_write;
	next_write = AS_ASKED;
	if (how == INTERRUPTED) {
		errno = EINTR;
		return -1;
	}
	if (how == NOTHING) {
		errno = ENOSPC;
		return 0;
	}
	if (how == ONE_BYTE)
		n = 1;
	else if (fails(&bad_writes))
		return -1;
	return syscall(SYS_pwrite64, fd, p, n, at);
}

/* --- helpers -------------------------------------------------------------- */

static struct res_segments files_at(const char *dir, int sync)
{
	struct res_segments s;
	assert_ok(
	    res_segments_open(&s, dir, &kind, FILE_BYTES, sync, test_err()));
	return s;
}

static void put(struct res_segments *s, const char *text)
{
	assert_ok(res_segments_append(s, text, strlen(text), test_err()));
}

/* CALL fails, and says WHAT of NAME in S's folder, for REASON. */
static void assert_said(const struct res_segments *s, int rc, const char *what,
    const char *name, const char *reason)
{
	char text[300];
	snprintf(text, sizeof(text), "cannot %s %s%s%s: %s.", what, s->dir,
	    *name ? "/" : "", name, reason);
	assert_int_equal(rc, SIM_EIO);
	assert_string_equal(test_err()->msg, text);
}

/* No program that is started has it. */
static void assert_own(int fd)
{
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

static void assert_holds(const struct res_segments *s, const char *name,
    const char *text)
{
	char is[300];
	uint64_t n;
	int fd;
	assert_ok(
	    res_segments_read(s->dir_fd, s->dir, name, &fd, &n, test_err()));
	assert_int_equal(n, strlen(text));
	assert_own(fd);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(read(fd, is, sizeof(is)), n);
	assert_memory_equal(is, text, n);
	close(fd);
}

/* The lowest number that a file could be opened as. */
static int free_fd(void)
{
	const int fd = dup(0);
	close(fd);
	return fd;
}

static void touch_in(const struct res_segments *s, const char *name)
{
	close(openat(s->dir_fd, name, O_WRONLY | O_CREAT, 0600));
}

/* --- names ---------------------------------------------------------------- */

static void only_names_as_they_are_made_are_ours(void **state)
{
	(void)state;
	static const char *others[] = {"batches-20260203-001.cpmb",
	    "batches-20260203-00001.cpmb", "batches-20260203-0001.cpmbx",
	    "batches-20260203-0001.cpm", "batches-20260203-0001",
	    "batches-2026023-0001.cpmb", "batches-20260203.cpmb",
	    "batches-+2026023-0001.cpmb", "batches- 2026023-0001.cpmb",
	    "patches-20260203-0001.cpmb", "batches", "",
	    "samples-20260203-0001.cpms", "xbatches-20260203-0001.cpmb"};
	unsigned day = 0, number = 0;
	assert_int_equal(res_segments_is_one(&kind,
			     "batches-20260203-0017.cpmb", &day, &number),
	    1);
	assert_int_equal(day, 20260203);
	assert_int_equal(number, 17);
	assert_int_equal(res_segments_is_one(&kind,
			     "batches-20260203-12345.cpmb", &day, &number),
	    1);
	assert_int_equal(number, 12345);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (res_segments_is_one(&kind, others[i], &day, &number))
			fail_msg("%s is taken", others[i]);
}

static void days_are_counted_from_1970(void **state)
{
	(void)state;
	assert_int_equal(res_segments_day("b-19700101-0001.x"), 0);
	assert_int_equal(res_segments_day("b-19700102-0001.x"), 1);
	assert_int_equal(res_segments_day("b-19710101-0001.x"), 365);
	assert_int_equal(res_segments_day("b-20000229-0001.x"), 11016);
	assert_int_equal(res_segments_day("b-20000301-0001.x"), 11017);
	assert_int_equal(res_segments_day("b-20261231-0001.x"), 20818);
	assert_int_equal(res_segments_day("b-x"), 0);
	assert_int_equal(res_segments_day("20260203"), 0);
}

static void files_are_listed_by_number_and_others_left_out(void **state)
{
	(void)state;
	struct res_segments s = files_at(test_path("listed"), 0);
	static const char *in_order[] = {"batches-20260209-0002.cpmb",
	    "batches-20260203-0010.cpmb", "batches-20260204-9999.cpmb",
	    "batches-20260101-10000.cpmb"};
	enum { N = sizeof(in_order) / sizeof(in_order[0]) };
	struct dirent **found;
	assert_int_equal(res_segments_list(s.dir_fd, &kind, &found), 0);
	free(found);
	for (unsigned i = N; i-- > 0;)
		touch_in(&s, in_order[i]);
	touch_in(&s, "batches-20260203-001.cpmb");
	touch_in(&s, "notes");
	assert_int_equal(res_segments_list(s.dir_fd, &kind, &found), N);
	for (unsigned i = 0; i < N; i++) {
		assert_string_equal(found[i]->d_name, in_order[i]);
		free(found[i]);
	}
	free(found);
	assert_int_equal(res_segments_list(-1, &kind, &found), -1);
	assert_null(found);
	assert_ok(res_segments_close(&s, test_err()));
}

/* --- which file ----------------------------------------------------------- */

static void a_file_is_begun_each_day_and_when_it_is_full(void **state)
{
	(void)state;
	struct res_segments s = files_at(test_path("begun"), 0);
	struct stat st;
	char full[FILE_BYTES + 1];
	memset(full, 'f', FILE_BYTES);
	full[FILE_BYTES] = '\0';
	res_segments_seen(&s, "batches-20000101-0041.cpmb");
	const int64_t last_s = INT64_C(11016) * DAY + DAY - 1;
	assert_int_equal(res_segments_room(&s, 1, last_s, test_err()), 1);
	assert_string_equal(s.name, "batches-20000229-0042.cpmb");
	assert_int_equal(s.day, 11016);
	assert_int_equal(s.end, 0);
	assert_int_equal(s.last_number, 42);
	assert_own(s.fd);
	assert_int_equal(fstat(s.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777 & ~0640, 0);
	assert_int_equal(st.st_mode & 0600, 0600);
	put(&s, full + 2);
	assert_int_equal(s.end, FILE_BYTES - 2);
	assert_int_equal(res_segments_room(&s, 2, last_s, test_err()), 0);
	assert_string_equal(s.name, "batches-20000229-0042.cpmb");
	assert_int_equal(res_segments_room(&s, 3, last_s, test_err()), 1);
	assert_string_equal(s.name, "batches-20000229-0043.cpmb");
	assert_int_equal(s.end, 0);
	put(&s, "x");
	assert_int_equal(res_segments_room(&s, 1, last_s + 1, test_err()), 1);
	assert_string_equal(s.name, "batches-20000301-0044.cpmb");
	/* A clock that was set back is another day, too. */
	assert_int_equal(res_segments_room(&s, 1, 364 * DAY, test_err()), 1);
	assert_string_equal(s.name, "batches-19701231-0045.cpmb");
	assert_ok(res_segments_end_file(&s, test_err()));
	assert_int_equal(s.fd, -1);
	assert_ok(res_segments_end_file(&s, test_err()));
	assert_int_equal(res_segments_room(&s, 1, 364 * DAY, test_err()), 1);
	assert_holds(&s, "batches-20000229-0042.cpmb", full + 2);
	assert_holds(&s, "batches-20000229-0043.cpmb", "x");
	assert_holds(&s, "batches-20000301-0044.cpmb", "");
	/* One that is there already is not written over. */
	touch_in(&s, "batches-19710101-0047.cpmb");
	assert_said(&s, res_segments_room(&s, 1, 365 * DAY, test_err()),
	    "create", "batches-19710101-0047.cpmb", "File exists");
	assert_int_equal(s.fd, -1);
	assert_int_equal(s.last_number, 46);
	assert_ok(res_segments_close(&s, test_err()));
}

static void the_newest_file_is_gone_on_with(void **state)
{
	(void)state;
	const char *name = "batches-20260203-0007.cpmb";
	struct res_segments s = files_at(test_path("gone_on"), 0);
	const int fd = openat(s.dir_fd, name, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "wholetorn", 9), 9);
	close(fd);
	assert_ok(res_segments_go_on(&s, name, 5, test_err()));
	assert_own(s.fd);
	assert_holds(&s, name, "whole");
	assert_string_equal(s.name, name);
	assert_int_equal(s.end, 5);
	assert_int_equal(s.day, 20487);
	assert_int_equal(s.last_number, 7);
	assert_int_equal(res_segments_room(&s, 95, INT64_C(20487) * DAY,
			     test_err()),
	    0);
	put(&s, "more");
	assert_holds(&s, name, "wholemore");
	assert_ok(res_segments_end_file(&s, test_err()));
	/* Nothing is cut off what is whole. */
	bad_cuts = 1;
	assert_ok(res_segments_go_on(&s, name, 9, test_err()));
	assert_holds(&s, name, "wholemore");
	assert_ok(res_segments_end_file(&s, test_err()));
	assert_said(&s, res_segments_go_on(&s, name, 8, test_err()), "truncate",
	    name, "Input/output error");
	assert_ok(res_segments_end_file(&s, test_err()));
	assert_int_equal(bad_cuts, 0);
	assert_said(&s, res_segments_go_on(&s, "none", 0, test_err()), "open",
	    "none", "No such file or directory");
	assert_int_equal(symlinkat(name, s.dir_fd, "link"), 0);
	assert_said(&s, res_segments_go_on(&s, "link", 0, test_err()), "open",
	    "link", "Too many levels of symbolic links");
	assert_ok(res_segments_close(&s, test_err()));
}

/* --- writing -------------------------------------------------------------- */

static void what_is_appended_is_whole_or_not_there(void **state)
{
	(void)state;
	struct res_segments s = files_at(test_path("appended"), 0);
	assert_int_equal(res_segments_room(&s, 1, 0, test_err()), 1);
	put(&s, "one,");
	next_write = INTERRUPTED;
	put(&s, "two,");
	next_write = ONE_BYTE;
	put(&s, "three,");
	assert_holds(&s, s.name, "one,two,three,");
	bad_writes = 1;
	assert_said(&s, res_segments_append(&s, "no", 2, test_err()), "write",
	    s.name, "Input/output error");
	next_write = NOTHING;
	assert_said(&s, res_segments_append(&s, "no", 2, test_err()), "write",
	    s.name, "No space left on device");
	/* Of a part that was written nothing is left, or it is written over. */
	next_write = ONE_BYTE;
	bad_writes = 1;
	assert_int_equal(res_segments_append(&s, "no", 2, test_err()), SIM_EIO);
	assert_holds(&s, s.name, "one,two,three,");
	put(&s, "four");
	assert_int_equal(s.end, 18);
	assert_holds(&s, s.name, "one,two,three,four");
	/* What cannot be taken back is left to its reader. */
	next_write = ONE_BYTE;
	bad_writes = bad_cuts = 1;
	const int fd = s.fd;
	assert_said(&s, res_segments_append(&s, "no", 2, test_err()), "write",
	    s.name, "Input/output error");
	assert_int_equal(s.fd, -1);
	assert_int_equal(free_fd(), fd);
	assert_holds(&s, "batches-19700101-0001.cpmb", "one,two,three,fourn");
	assert_int_equal(res_segments_room(&s, 1, 0, test_err()), 1);
	assert_string_equal(s.name, "batches-19700101-0002.cpmb");
	assert_ok(res_segments_close(&s, test_err()));
}

/* Sets both numbers back to 0. */
static void assert_synced(unsigned names, unsigned data)
{
	assert_int_equal(n_fsyncs, names);
	assert_int_equal(n_fdatasyncs, data);
	n_fsyncs = n_fdatasyncs = 0;
}

static void names_and_records_are_synced_when_they_should_be(void **state)
{
	(void)state;
	n_fsyncs = n_fdatasyncs = 0;
	for (int sync = 0; sync < 2; sync++) {
		struct res_segments s = files_at(test_path("synced"), sync);
		assert_synced(2, 0); /* the folder, and its own name */
		s.last_number = (unsigned)sync;
		assert_int_equal(res_segments_room(&s, 1, 0, test_err()), 1);
		assert_synced(sync ? 1 : 0, 0);
		put(&s, "x");
		put(&s, "y");
		assert_synced(0, sync ? 2 : 0);
		assert_int_equal(res_segments_room(&s, 1, DAY, test_err()), 1);
		assert_synced(1, 1);
		assert_ok(res_segments_close(&s, test_err()));
		assert_synced(sync ? 0 : 1, 1);
		s = files_at(test_path("other"), sync);
		assert_synced(2, 0);
		assert_ok(res_segments_close(&s, test_err()));
		assert_synced(0, 0);
		unlink(test_path("synced/batches-19700102-0002.cpmb"));
	}
}

static void a_file_that_cannot_be_synced_gets_no_more(void **state)
{
	(void)state;
	struct res_segments s = files_at(test_path("unsynced"), 1);
	const int fd = free_fd();
	bad_fsyncs = 1;
	assert_said(&s, res_segments_room(&s, 1, 0, test_err()), "sync", "",
	    "Input/output error");
	assert_int_equal(s.fd, -1);
	assert_int_equal(free_fd(), fd);
	assert_int_equal(s.last_number, 0);
	assert_int_equal(faccessat(s.dir_fd, "batches-19700101-0001.cpmb", F_OK,
			     0),
	    -1);
	assert_int_equal(res_segments_room(&s, 1, 0, test_err()), 1);
	put(&s, "kept");
	for (unsigned cuts = 0; cuts < 2; cuts++) {
		char name[RES_SEGMENT_NAME];
		snprintf(name, sizeof(name), "%s", s.name);
		bad_fdatasyncs = 1;
		bad_cuts = cuts;
		assert_said(&s, res_segments_append(&s, "lost", 4, test_err()),
		    "sync", name, "Input/output error");
		assert_int_equal(s.fd, -1);
		assert_int_equal(free_fd(), fd);
		assert_holds(&s, name, cuts ? "keptlost" : "kept");
		assert_int_equal(res_segments_room(&s, 1, 0, test_err()), 1);
		assert_int_equal(s.last_number, 2 + cuts);
		put(&s, "kept");
	}
	bad_fdatasyncs = 1;
	assert_said(&s, res_segments_room(&s, 1, DAY, test_err()), "sync",
	    s.name, "Input/output error");
	assert_int_equal(s.fd, -1);
	assert_int_equal(free_fd(), fd);
	assert_ok(res_segments_close(&s, test_err()));
}

/* --- folders -------------------------------------------------------------- */

static void what_is_read_or_removed_is_a_file(void **state)
{
	(void)state;
	struct res_segments s = files_at(test_path("read"), 0);
	const int free_before = free_fd();
	uint64_t n;
	int fd;
	/* Who opens a pipe may else wait for its other end. */
	alarm(10);
	assert_int_equal(mkdirat(s.dir_fd, "folder", 0700), 0);
	assert_int_equal(mkfifoat(s.dir_fd, "pipe", 0600), 0);
	static const char *none[][2] = {{"gone", "No such file or directory"},
	    {"folder", "not a file"}, {"pipe", "not a file"}};
	for (unsigned i = 0; i < 3; i++) {
		assert_said(&s,
		    res_segments_read(s.dir_fd, s.dir, none[i][0], &fd, &n,
			test_err()),
		    "read", none[i][0], none[i][1]);
		assert_int_equal(free_fd(), free_before);
	}
	alarm(0);
	assert_ok(res_segments_remove(&s, "gone", test_err()));
	assert_ok(res_segments_remove(&s, "pipe", test_err()));
	assert_int_equal(faccessat(s.dir_fd, "pipe", F_OK, 0), -1);
	assert_said(&s, res_segments_remove(&s, "folder", test_err()), "remove",
	    "folder", "Is a directory");
	assert_ok(res_segments_close(&s, test_err()));
}

static void a_folder_is_held_by_one_alone_until_it_is_closed(void **state)
{
	(void)state;
	const int fd = free_fd();
	struct res_segments s = files_at(test_path("held"), 1), other;
	char text[300];
	assert_own(s.dir_fd);
	assert_string_equal(s.dir, test_path("held"));
	assert_ptr_equal(s.kind, &kind);
	assert_int_equal(s.file_bytes, FILE_BYTES);
	assert_int_equal(s.sync, 1);
	assert_int_equal(s.fd, -1);
	assert_int_equal(res_segments_open(&other, s.dir, &kind, 1, 0,
			     test_err()),
	    SIM_EIO);
	snprintf(text, sizeof(text),
	    "another collector holds %s: each needs a folder of its own.",
	    s.dir);
	assert_string_equal(test_err()->msg, text);
	assert_ok(res_segments_close(&other, test_err()));
	assert_int_equal(other.dir_fd, -1);
	assert_null(other.dir);
	assert_ok(res_segments_close(&s, test_err()));
	assert_ok(res_segments_close(&s, test_err()));
	assert_int_equal(free_fd(), fd);
	s = files_at(test_path("held"), 0);
	assert_ok(res_segments_close(&s, test_err()));
	assert_int_equal(free_fd(), fd);
}

static void a_folder_that_cannot_be_held_is_told(void **state)
{
	(void)state;
	struct res_segments s;
	static const char *bad[][3] = {{"no/folder", "make",
					   "No such file or directory"},
	    {"file", "open", "Not a directory"}};
	test_write("file", "");
	for (unsigned i = 0; i < 2; i++) {
		assert_said(&s,
		    res_segments_open(&s, test_path(bad[i][0]), &kind, 1, 0,
			test_err()),
		    bad[i][1], "", bad[i][2]);
		assert_ok(res_segments_close(&s, test_err()));
	}
	/* Its own name, and those in it. */
	for (unsigned which = 0; which < 2; which++) {
		spared_fsyncs = which;
		bad_fsyncs = 1;
		assert_said(&s,
		    res_segments_open(&s, test_path("sync"), &kind, 1, 0,
			test_err()),
		    "sync", "", "Input/output error");
		assert_int_equal(bad_fsyncs, 0);
		assert_ok(res_segments_close(&s, test_err()));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(only_names_as_they_are_made_are_ours),
	    cmocka_unit_test(days_are_counted_from_1970),
	    cmocka_unit_test(files_are_listed_by_number_and_others_left_out),
	    cmocka_unit_test(a_file_is_begun_each_day_and_when_it_is_full),
	    cmocka_unit_test(the_newest_file_is_gone_on_with),
	    cmocka_unit_test(what_is_appended_is_whole_or_not_there),
	    cmocka_unit_test(names_and_records_are_synced_when_they_should_be),
	    cmocka_unit_test(a_file_that_cannot_be_synced_gets_no_more),
	    cmocka_unit_test(what_is_read_or_removed_is_a_file),
	    cmocka_unit_test(a_folder_is_held_by_one_alone_until_it_is_closed),
	    cmocka_unit_test(a_folder_that_cannot_be_held_is_told),
	};
	return cmocka_run_group_tests_name("results/segments", tests,
	    test_folder_make, test_folder_remove);
}
