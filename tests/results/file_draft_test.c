/* tests/results/file_draft_test.c -- files that are written bit by bit.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/rigs/frail.h"

static struct res_file_draft begun(const char *path)
{
	struct res_file_draft d;
	memset(&d, 0xee, sizeof(d));
	assert_ok(res_file_begin(&d, path, test_err()));
	return d;
}

static void put(const struct res_file_draft *d, const char *text)
{
	assert_int_equal(write(d->fd, text, strlen(text)), strlen(text));
}

static void assert_ended(const struct res_file_draft *d)
{
	assert_null(d->path);
	assert_null(d->temp);
	assert_null(d->real);
	assert_int_equal(d->fd, -1);
}

static void a_draft_is_the_file_once_it_is_ended(void **state)
{
	(void)state;
	const char *path = test_path("file");
	const int fd = frail_free_fd();
	for (int there = 0; there < 2; there++) {
		struct res_file_draft d = begun(path);
		assert_ptr_equal(d.path, path);
		assert_null(d.real);
		put(&d, there ? "a" : "one,");
		assert_int_equal(frail_is_there("file"), there);
		assert_true(frail_is_there(frail_temp_of("file")));
		put(&d, there ? "b" : "two");
		frail_forget();
		assert_ok(res_file_end(&d, 0, test_err()));
		frail_assert_called("FCRDC");
		assert_ended(&d);
		assert_false(frail_is_there(frail_temp_of("file")));
		frail_assert_holds("file", there ? "ab" : "one,two",
		    there ? 2 : 7);
		assert_int_equal(frail_free_fd(), fd);
	}
}

static void a_draft_that_failed_leaves_what_was_there(void **state)
{
	(void)state;
	static const struct {
		enum frail_call call;
		int why;
		const char *log, *reason;
	} bad[] = {{FRAIL_SYNC, EIO, "FC", "Input/output error"},
	    {FRAIL_CLOSE, ENOSPC, "FC", "No space left on device"},
	    {FRAIL_RENAME, EPERM, "FCR", "Operation not permitted"}};
	char path[128];
	const int fd = frail_free_fd();
	snprintf(path, sizeof(path), "%s", test_path("file"));
	test_write("file", "old");
	for (size_t i = 0; i < 3; i++) {
		struct res_file_draft d = begun(path);
		put(&d, "new");
		frail_forget();
		frail.why[bad[i].call] = bad[i].why;
		frail_assert_said(res_file_end(&d, 0, test_err()), "write",
		    "file", bad[i].reason);
		frail_assert_called(bad[i].log);
		assert_ended(&d);
		assert_false(frail_is_there(frail_temp_of("file")));
		frail_assert_holds("file", "old", 3);
		assert_int_equal(frail_free_fd(), fd);
	}
	/* Of its writer the first reason is told, whatever fails then. */
	for (int also = 0; also < 2; also++) {
		struct res_file_draft d = begun(path);
		put(&d, "new");
		frail_forget();
		frail.why[FRAIL_CLOSE] = also ? EIO : 0;
		sim_fail(test_err(), SIM_EPARSE, "it was nonsense.");
		assert_int_equal(res_file_end(&d, SIM_EPARSE, test_err()),
		    SIM_EPARSE);
		assert_string_equal(test_err()->msg, "it was nonsense.");
		frail_assert_called("C");
		assert_ended(&d);
		assert_false(frail_is_there(frail_temp_of("file")));
		frail_assert_holds("file", "old", 3);
	}
	/* It is there, but its name may be lost. */
	struct res_file_draft d = begun(path);
	put(&d, "new");
	frail.why[FRAIL_SYNC] = EIO;
	frail.spared[FRAIL_SYNC] = 1;
	frail_assert_said(res_file_end(&d, 0, test_err()), "sync the folder of",
	    "file", "Input/output error");
	frail_assert_holds("file", "new", 3);
	assert_int_equal(frail_free_fd(), fd);
}

/* A link stays, and its file is replaced, with its temporary one beside it. */
static void a_draft_of_a_link_is_what_it_leads_to(void **state)
{
	(void)state;
	char path[128], real[128];
	snprintf(path, sizeof(path), "%s", test_path("link"));
	assert_int_equal(mkdir(test_path("deep"), 0700), 0);
	test_write("deep/file", "old and long");
	assert_int_equal(symlink("deep/file", path), 0);
	snprintf(real, sizeof(real), "%s", test_path("deep/file"));
	for (int rc = 0; rc >= SIM_EIO; rc += SIM_EIO) {
		struct res_file_draft d = begun(path);
		assert_string_equal(d.path, real);
		assert_ptr_equal(d.path, d.real);
		assert_true(frail_is_there(frail_temp_of("deep/file")));
		put(&d, rc ? "lost" : "new");
		assert_int_equal(res_file_end(&d, rc, test_err()), rc);
		assert_ended(&d);
		assert_true(S_ISLNK(frail_mode_of("link")));
		frail_assert_holds("deep/file", "new", 3);
		assert_false(frail_is_there(frail_temp_of("deep/file")));
	}
}

static int draft_one(void *arg, struct sim_err *e)
{
	struct res_file_draft d;
	const int rc = res_file_begin(&d, arg, e);
	return rc < 0 ? rc : res_file_end(&d, 0, e);
}

static void no_memory_for_a_draft_is_told(void **state)
{
	(void)state;
	char path[128], text[200];
	struct res_file_draft d;
	snprintf(path, sizeof(path), "%s", test_path("link"));
	test_write("file", "old");
	assert_int_equal(symlink("file", path), 0);
	test_each_alloc_fails(draft_one, path);
	frail.why[FRAIL_REAL] = ENOMEM;
	memset(&d, 0xee, sizeof(d));
	assert_int_equal(res_file_begin(&d, path, test_err()), SIM_ENOMEM);
	assert_int_equal(d.fd, -1);
	assert_null(d.real);
	assert_null(d.temp);
	snprintf(text, sizeof(text), "no memory to write %s.", path);
	assert_string_equal(test_err()->msg, text);
	test_fail_alloc(1);
	assert_int_equal(res_file_begin(&d, path, test_err()), SIM_ENOMEM);
	test_fail_alloc(0);
	assert_null(d.real);
	assert_null(d.temp);
	assert_int_equal(d.fd, -1);
}

static void what_is_no_file_is_written_itself(void **state)
{
	(void)state;
	char path[128], byte[4] = "";
	const int fd = frail_free_fd();
	struct res_file_draft d;
	snprintf(path, sizeof(path), "%s", test_path("pipe"));
	assert_int_equal(mkfifo(path, 0600), 0);
	const int in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	for (int by_link = 0; by_link < 2; by_link++) {
		if (by_link) {
			snprintf(path, sizeof(path), "%s", test_path("link"));
			assert_int_equal(symlink("pipe", path), 0);
		}
		d = begun(path);
		assert_ptr_equal(d.path, path);
		assert_null(d.temp);
		assert_null(d.real);
		assert_int_equal(fcntl(d.fd, F_GETFD), FD_CLOEXEC);
		put(&d, "abc");
		frail_forget();
		assert_ok(res_file_end(&d, 0, test_err()));
		frail_assert_called("C");
		assert_ended(&d);
		assert_int_equal(read(in, byte, 4), 3);
		assert_memory_equal(byte, "abc", 3);
		/* Who failed takes nothing away. */
		d = begun(path);
		assert_int_equal(res_file_end(&d, SIM_EIO, test_err()),
		    SIM_EIO);
		assert_true(frail_is_there("pipe"));
		d = begun(path);
		frail.why[FRAIL_CLOSE] = EIO;
		frail_assert_said(res_file_end(&d, 0, test_err()), "write",
		    by_link ? "link" : "pipe", "Input/output error");
	}
	close(in);
	assert_int_equal(frail_free_fd(), fd);
}

static void a_draft_that_cannot_be_begun_is_told(void **state)
{
	(void)state;
	struct res_file_draft d;
	const int fd = frail_free_fd();
	static const char *bad[][2] = {{"no/file", "No such file or directory"},
	    {"folder", "Is a directory"},
	    {"nowhere", "No such file or directory"},
	    {"to_folder", "Is a directory"}};
	assert_int_equal(mkdir(test_path("folder"), 0700), 0);
	assert_int_equal(symlink("gone", test_path("nowhere")), 0);
	assert_int_equal(symlink("folder", test_path("to_folder")), 0);
	for (size_t i = 0; i < 4; i++) {
		frail_assert_said(res_file_begin(&d, test_path(bad[i][0]),
				      test_err()),
		    "write", bad[i][0], bad[i][1]);
		assert_int_equal(d.fd, -1);
		assert_null(d.temp);
		assert_null(d.real);
		assert_int_equal(frail_free_fd(), fd);
	}
	assert_false(frail_is_there("gone"));
}

static void another_hand_on_a_draft_is_closed_by_itself(void **state)
{
	(void)state;
	struct res_file_draft d = begun(test_path("file"));
	const int fd = res_file_hand(&d, test_err());
	assert_true(fd >= 0 && fd != d.fd);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(write(fd, "one,", 4), 4);
	close(fd);
	put(&d, "two");
	assert_ok(res_file_end(&d, 0, test_err()));
	frail_assert_holds("file", "one,two", 7);
	d = (struct res_file_draft){.path = test_path("file"), .fd = -1};
	frail_assert_said(res_file_hand(&d, test_err()), "write", "file",
	    "Bad file descriptor");
}

/* As who was started without standard input gets for his first file. */
static void the_number_0_is_as_good_as_others(void **state)
{
	(void)state;
	const int in = dup(0);
	void *bytes;
	size_t n;
	close(0);
	frail_forget();
	assert_ok(frail_write_to("file", "whole"));
	frail_assert_called("WFCRDC");
	assert_ok(res_file_read(test_path("file"), &bytes, &n, test_err()));
	assert_memory_equal(bytes, "whole", 6);
	free(bytes);
	struct res_file_draft d = begun(test_path("file"));
	assert_int_equal(d.fd, 0);
	put(&d, "new");
	assert_ok(res_file_end(&d, 0, test_err()));
	frail_assert_holds("file", "new", 3);
	/* A pipe of our own, and no device: who errs would replace it. */
	assert_int_equal(mkfifo(test_path("pipe"), 0600), 0);
	const int reader =
	    open(test_path("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(reader, 0);
	const int moved = fcntl(reader, F_DUPFD_CLOEXEC, 3);
	close(0);
	d = begun(test_path("pipe"));
	assert_int_equal(d.fd, 0);
	assert_ok(res_file_end(&d, 0, test_err()));
	close(moved);
	d = (struct res_file_draft){.path = "x", .fd = in};
	assert_int_equal(res_file_hand(&d, test_err()), 0);
	assert_int_equal(fcntl(0, F_GETFD), FD_CLOEXEC);
	assert_int_equal(dup2(in, 0), 0);
	close(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRAIL_TEST(a_draft_is_the_file_once_it_is_ended),
	    FRAIL_TEST(a_draft_that_failed_leaves_what_was_there),
	    FRAIL_TEST(a_draft_of_a_link_is_what_it_leads_to),
	    FRAIL_TEST(no_memory_for_a_draft_is_told),
	    FRAIL_TEST(what_is_no_file_is_written_itself),
	    FRAIL_TEST(a_draft_that_cannot_be_begun_is_told),
	    FRAIL_TEST(another_hand_on_a_draft_is_closed_by_itself),
	    FRAIL_TEST(the_number_0_is_as_good_as_others),
	};
	return cmocka_run_group_tests_name("results/file_draft", tests, NULL,
	    NULL);
}
