/* tests/results/file_test.c -- whole files, and a kernel that fails at each step.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/rigs/frail.h"

/* --- a file that is written whole ----------------------------------------- */

static void what_is_written_is_the_file_and_on_disk(void **state)
{
	(void)state;
	static const size_t sizes[] = {0, 1, 5000, 7};
	const int fd = frail_free_fd();
	char bytes[5000];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	for (size_t i = 0; i < 4; i++) {
		frail_forget();
		assert_ok(res_file_write(test_path("file"), bytes, sizes[i],
		    test_err()));
		/* The name only once the bytes are there, and then the name. */
		frail_assert_called(sizes[i] > 0 ? "WFCRDC" : "FCRDC");
		frail_assert_holds("file", bytes, sizes[i]);
		assert_int_equal(frail_mode_of("file"), S_IFREG | 0644);
		assert_false(frail_is_there(frail_temp_of("file")));
		assert_int_equal(frail_free_fd(), fd);
	}
}

static void a_write_may_be_interrupted_or_take_less(void **state)
{
	(void)state;
	frail.why[FRAIL_WRITE] = EINTR;
	frail.spared[FRAIL_WRITE] = 2;
	frail.at_once = 3;
	assert_ok(frail_write_to("file", "12345678"));
	frail_assert_called("WWWWFCRDC");
	frail_assert_holds("file", "12345678", 8);
	frail_forget();
	frail.why[FRAIL_WRITE] = FRAIL_NOTHING;
	assert_ok(frail_write_to("file", "12345678"));
	frail_assert_called("WWFCRDC");
	frail_assert_holds("file", "12345678", 8);
}

static void a_failed_write_leaves_what_was_there(void **state)
{
	(void)state;
	static const struct {
		enum frail_call call;
		int why;
		const char *log, *reason;
	} bad[] = {{FRAIL_WRITE, ENOSPC, "WC", "No space left on device"},
	    {FRAIL_SYNC, EIO, "WFC", "Input/output error"},
	    {FRAIL_CLOSE, EDQUOT, "WFC", "Disk quota exceeded"},
	    {FRAIL_RENAME, EPERM, "WFCR", "Operation not permitted"}};
	const int fd = frail_free_fd();
	for (int there = 0; there < 2; there++) {
		if (there)
			test_write("file", "old");
		for (size_t i = 0; i < 4; i++) {
			frail_forget();
			frail.why[bad[i].call] = bad[i].why;
			frail_assert_said(frail_write_to("file", "new"),
			    "write", "file", bad[i].reason);
			frail_assert_called(bad[i].log);
			assert_false(frail_is_there(frail_temp_of("file")));
			assert_int_equal(frail_is_there("file"), there);
			assert_int_equal(frail_free_fd(), fd);
		}
	}
	frail_assert_holds("file", "old", 3);
	/* The first of two reasons is told. */
	frail.why[FRAIL_WRITE] = ENOSPC;
	frail.why[FRAIL_CLOSE] = EIO;
	frail_assert_said(frail_write_to("file", "new"), "write", "file",
	    "No space left on device");
}

static void a_name_that_may_be_lost_is_told(void **state)
{
	(void)state;
	const int fd = frail_free_fd();
	frail.why[FRAIL_SYNC] = EIO;
	frail.spared[FRAIL_SYNC] = 1;
	frail_assert_said(frail_write_to("file", "new"), "sync the folder of",
	    "file", "Input/output error");
	frail_assert_holds("file", "new", 3);
	/* There is nothing to be done where folders cannot be synced. */
	frail.why[FRAIL_SYNC] = EINVAL;
	frail.spared[FRAIL_SYNC] = 1;
	assert_ok(frail_write_to("file", "newer"));
	frail_assert_holds("file", "newer", 5);
	assert_int_equal(frail_free_fd(), fd);
}

static void what_a_killed_writer_left_is_written_over(void **state)
{
	(void)state;
	test_write(frail_temp_of("file"), "longer than what follows");
	assert_ok(frail_write_to("file", "short"));
	frail_assert_holds("file", "short", 5);
	/* But not through a link. */
	test_write("other", "of somebody");
	assert_int_equal(symlink(test_path("other"),
			     test_path(frail_temp_of("file"))),
	    0);
	frail_assert_said(frail_write_to("file", "new"), "write", "file",
	    "Too many levels of symbolic links");
	frail_assert_holds("file", "short", 5);
	frail_assert_holds("other", "of somebody", 11);
	assert_ok(
	    res_file_write_private(test_path("file"), "key", 3, test_err()));
	assert_int_equal(frail_mode_of("file"), S_IFREG | 0600);
	frail_assert_holds("file", "key", 3);
	frail_assert_holds("other", "of somebody", 11);
}

static void a_secret_is_its_owners_alone(void **state)
{
	(void)state;
	umask(0);
	assert_ok(frail_write_to("file", "public"));
	assert_int_equal(frail_mode_of("file"), S_IFREG | 0666);
	test_write(frail_temp_of("file"), "left by a public one");
	assert_ok(
	    res_file_write_private(test_path("file"), "key", 3, test_err()));
	assert_int_equal(frail_mode_of("file"), S_IFREG | 0600);
	frail_assert_holds("file", "key", 3);
}

static int write_one(void *arg, struct sim_err *e)
{
	return res_file_write(arg, "new", 3, e);
}

static void a_name_that_there_is_no_memory_for_is_told(void **state)
{
	(void)state;
	char path[128], text[200];
	snprintf(path, sizeof(path), "%s", test_path("file"));
	test_each_alloc_fails(write_one, path);
	test_fail_alloc(1);
	assert_int_equal(res_file_write(path, "x", 1, test_err()), SIM_ENOMEM);
	test_fail_alloc(0);
	snprintf(text, sizeof(text), "no memory to write %s.", path);
	assert_string_equal(test_err()->msg, text);
}

/* --- temporary files and folders ------------------------------------------ */

static void a_temporary_file_is_named_after_its_file(void **state)
{
	(void)state;
	char *temp, byte = 0;
	int fd;
	assert_ok(res_file_temp(&temp, &fd, test_path("file"), test_err()));
	assert_string_equal(temp, test_path(frail_temp_of("file")));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(pread(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, 'x');
	close(fd);
	free(temp);
	temp = &byte;
	frail_assert_said(res_file_temp(&temp, &fd, test_path("no/file"),
			      test_err()),
	    "write", "no/file", "No such file or directory");
	assert_null(temp);
	assert_int_equal(fd, -1);
	fd = 0;
	test_fail_alloc(1);
	assert_int_equal(res_file_temp(&temp, &fd, "x", test_err()),
	    SIM_ENOMEM);
	test_fail_alloc(0);
	assert_int_equal(fd, -1);
}

/* FOLDER is synced for PATH. */
static void assert_syncs(const char *path, const char *folder)
{
	struct stat want;
	const int fd = frail_free_fd();
	frail_forget();
	assert_int_equal(stat(folder, &want), 0);
	assert_int_equal(res_file_sync_folder(path), 0);
	frail_assert_called("DC");
	assert_true(frail.synced.st_ino == want.st_ino &&
	    frail.synced.st_dev == want.st_dev);
	assert_int_equal(frail_free_fd(), fd);
}

static void the_folder_of_a_path_is_synced(void **state)
{
	(void)state;
	const int fd = frail_free_fd();
	char path[PATH_MAX + 10];
	assert_syncs(test_path("file"), test_folder);
	assert_syncs("/file", "/");
	assert_syncs("file", ".");
	assert_int_equal(res_file_sync_folder(test_path("no/file")), -1);
	assert_int_equal(errno, ENOENT);
	test_write("file", "");
	assert_int_equal(res_file_sync_folder(test_path("file/file")), -1);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(frail_free_fd(), fd);
	frail.why[FRAIL_SYNC] = EIO;
	assert_int_equal(res_file_sync_folder(test_path("file")), -1);
	assert_int_equal(errno, EIO);
	frail.why[FRAIL_SYNC] = EINVAL;
	assert_int_equal(res_file_sync_folder(test_path("file")), 0);
	/* The longest that a kernel takes, and one byte more. */
	const size_t n = strlen(test_folder);
	memset(path, '/', sizeof(path));
	memcpy(path, test_folder, n);
	for (size_t i = n + 1; i < PATH_MAX - 2; i += 2)
		path[i] = '.';
	path[PATH_MAX - 2] = '.';
	memcpy(path + PATH_MAX - 1, "/x", 3);
	assert_int_equal(res_file_sync_folder(path), 0);
	memcpy(path + PATH_MAX - 1, "./x", 4);
	assert_int_equal(res_file_sync_folder(path), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	assert_int_equal(frail_free_fd(), fd);
}

/* --- what is there -------------------------------------------------------- */

static void a_file_alone_would_be_replaced(void **state)
{
	(void)state;
	int there = 7;
	assert_ok(res_file_look(test_path("file"), &there, test_err()));
	assert_int_equal(there, 0);
	test_write("file", "");
	assert_ok(res_file_look(test_path("file"), &there, test_err()));
	assert_int_equal(there, 1);
	assert_int_equal(symlink(test_path("file"), test_path("link")), 0);
	there = 0;
	assert_ok(res_file_look(test_path("link"), &there, test_err()));
	assert_int_equal(there, 1);
	assert_int_equal(mkfifo(test_path("pipe"), 0600), 0);
	frail_assert_said(res_file_look(test_path("pipe"), &there, test_err()),
	    "write", "pipe", "not a file");
	frail_assert_said(res_file_look(test_path(""), &there, test_err()),
	    "write", "", "not a file");
}

static int keep(const char *name)
{
	return res_file_keep(test_path(name), test_err());
}

static void assert_not_kept(const char *reason)
{
	char text[400];
	assert_int_equal(keep("file"), SIM_EIO);
	snprintf(text, sizeof(text), "cannot keep %s as %s: %s.",
	    test_path("file"), test_path("file~"), reason);
	assert_string_equal(test_err()->msg, text);
}

static int keep_one(void *arg, struct sim_err *e)
{
	return res_file_keep(arg, e);
}

static void a_former_file_is_kept_beside(void **state)
{
	(void)state;
	char path[128];
	assert_not_kept("No such file or directory");
	test_write("file", "first");
	assert_ok(keep("file"));
	frail_assert_holds("file", "first", 5);
	frail_assert_holds("file~", "first", 5);
	assert_ok(frail_write_to("file", "second"));
	frail_assert_holds("file~", "first", 5);
	assert_ok(keep("file"));
	frail_assert_holds("file", "second", 6);
	frail_assert_holds("file~", "second", 6);
	/* Where there are no links it is there under one name. */
	frail.why[FRAIL_LINK] = EPERM;
	assert_ok(keep("file"));
	assert_false(frail_is_there("file"));
	frail_assert_holds("file~", "second", 6);
	test_write("file", "third");
	frail.why[FRAIL_LINK] = EPERM;
	frail.why[FRAIL_RENAME] = EROFS;
	assert_not_kept("Read-only file system");
	frail_assert_holds("file", "third", 5);
	snprintf(path, sizeof(path), "%s", test_path("file"));
	test_each_alloc_fails(keep_one, path);
	assert_int_equal(unlink(test_path("file~")), 0);
	assert_int_equal(mkdir(test_path("file~"), 0700), 0);
	assert_not_kept("Is a directory");
	frail_assert_holds("file", "third", 5);
}

/* --- a file that is read whole -------------------------------------------- */

static int read_one(const char *name, void **bytes, size_t *n)
{
	return res_file_read(test_path(name), bytes, n, test_err());
}

static void a_file_is_read_whole_with_a_zero_behind(void **state)
{
	(void)state;
	static const char *texts[] = {"", "x", "some more of it"};
	const int fd = frail_free_fd();
	for (size_t i = 0; i < 3; i++) {
		void *bytes = NULL;
		size_t n = 99;
		test_write("file", texts[i]);
		frail.at_once = 4;
		frail.why[FRAIL_READ] = EINTR;
		frail.spared[FRAIL_READ] = i == 2 ? 1 : 0;
		if (i == 0)
			frail.why[FRAIL_READ] = 0;
		assert_ok(read_one("file", &bytes, &n));
		assert_int_equal(n, strlen(texts[i]));
		assert_memory_equal(bytes, texts[i], n + 1);
		assert_int_equal(frail.why[FRAIL_READ], 0);
		free(bytes);
		assert_int_equal(frail_free_fd(), fd);
	}
}

static void what_cannot_be_read_is_told(void **state)
{
	(void)state;
	static const char *bad[][2] = {{"gone", "No such file or directory"},
	    {"pipe", "not a file"}, {"", "not a file"}};
	const int fd = frail_free_fd();
	void *bytes = NULL;
	size_t n;
	assert_int_equal(mkfifo(test_path("pipe"), 0600), 0);
	for (size_t i = 0; i < 3; i++) {
		frail_assert_said(read_one(bad[i][0], &bytes, &n), "read",
		    bad[i][0], bad[i][1]);
		assert_null(bytes);
		assert_int_equal(frail_free_fd(), fd);
	}
	test_write("file", "four");
	frail.why[FRAIL_READ] = EIO;
	frail_assert_said(read_one("file", &bytes, &n), "read", "file",
	    "Input/output error");
	assert_null(bytes);
	assert_int_equal(frail_free_fd(), fd);
}

/* It is shorter than it was when it was opened, or longer. */
static void a_file_that_is_being_written_is_busy(void **state)
{
	(void)state;
	const int fd = frail_free_fd();
	void *bytes = NULL;
	size_t n;
	test_write("file", "four");
	for (int grows = 0; grows < 2; grows++) {
		frail.grows = grows;
		frail.at_once = 2;
		frail.why[FRAIL_READ] = grows ? 0 : FRAIL_NOTHING;
		frail.spared[FRAIL_READ] = 1;
		frail_assert_said(read_one("file", &bytes, &n), "read", "file",
		    "Device or resource busy");
		assert_null(bytes);
		assert_int_equal(frail_free_fd(), fd);
	}
}

static int read_all(void *arg, struct sim_err *e)
{
	void *bytes;
	size_t n;
	const int rc = res_file_read(arg, &bytes, &n, e);
	if (rc == 0)
		free(bytes);
	else
		assert_null(bytes);
	return rc;
}

static void no_memory_for_a_file_is_told_with_its_size(void **state)
{
	(void)state;
	char path[128], text[200];
	snprintf(path, sizeof(path), "%s", test_path("file"));
	test_write("file", "12345");
	test_each_alloc_fails(read_all, path);
	test_fail_alloc(1);
	assert_int_equal(read_all(path, test_err()), SIM_ENOMEM);
	test_fail_alloc(0);
	snprintf(text, sizeof(text), "no memory for %s (5 bytes).", path);
	assert_string_equal(test_err()->msg, text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRAIL_TEST(what_is_written_is_the_file_and_on_disk),
	    FRAIL_TEST(a_write_may_be_interrupted_or_take_less),
	    FRAIL_TEST(a_failed_write_leaves_what_was_there),
	    FRAIL_TEST(a_name_that_may_be_lost_is_told),
	    FRAIL_TEST(what_a_killed_writer_left_is_written_over),
	    FRAIL_TEST(a_secret_is_its_owners_alone),
	    FRAIL_TEST(a_name_that_there_is_no_memory_for_is_told),
	    FRAIL_TEST(a_temporary_file_is_named_after_its_file),
	    FRAIL_TEST(the_folder_of_a_path_is_synced),
	    FRAIL_TEST(a_file_alone_would_be_replaced),
	    FRAIL_TEST(a_former_file_is_kept_beside),
	    FRAIL_TEST(a_file_is_read_whole_with_a_zero_behind),
	    FRAIL_TEST(what_cannot_be_read_is_told),
	    FRAIL_TEST(a_file_that_is_being_written_is_busy),
	    FRAIL_TEST(no_memory_for_a_file_is_told_with_its_size),
	};
	return cmocka_run_group_tests_name("results/file", tests, NULL, NULL);
}
