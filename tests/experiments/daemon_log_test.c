/* tests/experiments/daemon_log_test.c -- a daemon's files stay small.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/daemon_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/rigs/folder.h"
#include "tests/test.h"

static size_t read_file(const char *name, char *buf, size_t size)
{
	FILE *f = fopen(test_path(name), "r");
	assert_non_null(f);
	const size_t n = fread(buf, 1, size - 1, f);
	buf[n] = '\0';
	fclose(f);
	return n;
}

static void lines_begin_with_their_time(void **state)
{
	struct xp_daemon_log l;
	char text[256];
	(void)state;
	assert_ok(xp_daemon_log_open(&l, test_path("time"), test_err()));
	xp_daemon_log_say(&l, XP_DAEMON_INFO, UINT64_C(951782399999999999),
	    "%s %d", "a", 1);
	xp_daemon_log_close(&l);
	/* A log that is opened again keeps its lines. */
	assert_ok(xp_daemon_log_open(&l, test_path("time"), test_err()));
	xp_daemon_log_say(&l, XP_DAEMON_INFO, UINT64_C(951782400000000000),
	    "b");
	xp_daemon_log_close(&l);
	read_file("time", text, sizeof(text));
	assert_string_equal(text,
	    "2000-02-28T23:59:59.999Z a 1\n2000-02-29T00:00:00.000Z b\n");
}

/* Of the old file and the new one together: each line stands once, in order,
 * and the newest lines are among them. */
static void a_full_log_takes_the_place_of_the_one_before(void **state)
{
	enum { MAX = 1000, LINES = 500 };
	struct xp_daemon_log l;
	char old[MAX + 2], new[MAX + 2], both[2 * MAX + 4];
	(void)state;
	assert_ok(xp_daemon_log_open(&l, test_path("log"), test_err()));
	l.max = MAX;
	for (unsigned i = 0; i < LINES; i++) {
		xp_daemon_log_say(&l, XP_DAEMON_INFO, 0, "line %u.", i);
		assert_in_range(read_file("log", new, sizeof(new)), 1, MAX);
		assert_in_range(read_file("log.1", old, sizeof(old)), 0, MAX);
	}
	xp_daemon_log_close(&l);
	snprintf(both, sizeof(both), "%s%s", old, new);
	unsigned next = LINES;
	for (char *p = both; (p = strstr(p, "line ")); p++)
		next = next == LINES
		    ? (unsigned)atoi(p + 5) + 1
		    : ((unsigned)atoi(p + 5) == next ? next + 1 : LINES + 1);
	assert_int_equal(next, LINES);
	assert_true(strlen(old) > MAX - 50);
}

static void a_line_that_is_too_long_is_cut(void **state)
{
	static char text[8192], longest[6000];
	struct xp_daemon_log l;
	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	assert_ok(xp_daemon_log_open(&l, test_path("long"), test_err()));
	xp_daemon_log_say(&l, XP_DAEMON_INFO, 0, "%s", longest);
	xp_daemon_log_say(&l, XP_DAEMON_INFO, 0, "next");
	xp_daemon_log_close(&l);
	read_file("long", text, sizeof(text));
	const char *end = strchr(text, '\n');
	assert_in_range(end - text, XP_DAEMON_TEXT + 25, XP_DAEMON_TEXT + 63);
	assert_string_equal(end + 1, "1970-01-01T00:00:00.000Z next\n");
}

static void a_text_replaces_the_one_before_whole(void **state)
{
	static char text[XP_DAEMON_TEXT], got[2 * XP_DAEMON_TEXT];
	int fd;
	(void)state;
	assert_ok(xp_daemon_file(&fd, test_path("status"), test_err()));
	for (size_t n = 1; n <= XP_DAEMON_TEXT; n = n * 2 + (n == 1)) {
		/* Long, short, long: */
		const size_t k = n % 2 ? XP_DAEMON_TEXT - n : n;
		memset(text, 'a' + (int)(n % 7), k - 1);
		text[k - 1] = '\n';
		xp_daemon_replace(fd, text, k);
		assert_int_equal(read_file("status", got, sizeof(got)),
		    XP_DAEMON_TEXT);
		assert_int_equal(strspn(got, (char[]){(char)('a' + n % 7), 0}),
		    k - 1);
		assert_int_equal(strspn(got + k - 1, " "), XP_DAEMON_TEXT - k);
		assert_int_equal(got[XP_DAEMON_TEXT - 1], '\n');
	}
	close(fd);
}

static void only_regular_files_are_written(void **state)
{
	struct sim_err e;
	int fd;
	(void)state;
	assert_int_equal(symlink("elsewhere", test_path("link")), 0);
	assert_int_equal(mkfifo(test_path("pipe"), 0600), 0);
	assert_int_equal(xp_daemon_file(&fd, test_path("link"), &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "it is a link"));
	assert_int_equal(access(test_path("elsewhere"), F_OK), -1);
	assert_int_equal(xp_daemon_file(&fd, test_path("pipe"), &e),
	    SIM_EINVAL);
	assert_int_equal(xp_daemon_file(&fd, test_folder, &e), SIM_EIO);
	assert_int_equal(fd, -1);
	struct xp_daemon_log l;
	assert_int_equal(mkdir(test_path("half.1"), 0700), 0);
	assert_int_equal(xp_daemon_log_open(&l, test_path("half"), &e),
	    SIM_EIO);
	assert_int_equal(l.fd, -1);
}

/* What stderr gets while it is FILE, with JOURNAL_STREAM told as NAMED. */
static void say_on_stderr(const char *named, char got[256])
{
	struct xp_daemon_log l;
	const int was = dup(STDERR_FILENO);
	const int fd =
	    open(test_path("stderr"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(was >= 0 && fd >= 0);
	if (named)
		setenv("JOURNAL_STREAM", named, 1);
	else
		unsetenv("JOURNAL_STREAM");
	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	xp_daemon_log_open(&l, NULL, NULL);
	xp_daemon_log_say(&l, XP_DAEMON_ERR, 0, "a");
	xp_daemon_log_say(&l, XP_DAEMON_WARNING, 0, "b");
	xp_daemon_log_say(&l, XP_DAEMON_INFO, 0, "c");
	fflush(stderr);
	dup2(was, STDERR_FILENO);
	close(was);
	close(fd);
	unsetenv("JOURNAL_STREAM");
	read_file("stderr", got, 256);
}

static void the_journal_is_told_how_bad_a_line_is(void **state)
{
	static const char plain[] = "culprit: a\nculprit: b\nculprit: c\n";
	char got[256], named[64];
	struct stat st;
	(void)state;
	say_on_stderr(NULL, got);
	assert_string_equal(got, plain);
	assert_int_equal(stat(test_path("stderr"), &st), 0);
	snprintf(named, sizeof(named), "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino);
	say_on_stderr(named, got);
	assert_string_equal(got,
	    "<3>culprit: a\n<4>culprit: b\n<6>culprit: c\n");
	/* The variable was inherited, and stderr is another file by now; or it is
	 * none of the journal's. */
	snprintf(named, sizeof(named), "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino + 1);
	say_on_stderr(named, got);
	assert_string_equal(got, plain);
	say_on_stderr("", got);
	assert_string_equal(got, plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_begin_with_their_time),
	    cmocka_unit_test(a_full_log_takes_the_place_of_the_one_before),
	    cmocka_unit_test(a_line_that_is_too_long_is_cut),
	    cmocka_unit_test(a_text_replaces_the_one_before_whole),
	    cmocka_unit_test(the_journal_is_told_how_bad_a_line_is),
	    cmocka_unit_test(only_regular_files_are_written),
	};
	return cmocka_run_group_tests_name("experiments/daemon_log", tests,
	    test_folder_make, test_folder_remove);
}
