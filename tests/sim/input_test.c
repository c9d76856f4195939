/* tests/sim/input_test.c -- files are opened, and named pipes are not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

static void a_file_is_read_and_what_is_none_says_why(void **state)
{
	char path[] = "/tmp/sim_input_XXXXXX", got[8] = "";
	const char *why = "as before";
	(void)state;
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "abc", 3), 3);
	close(fd);
	FILE *f = sim_input_open(path, &why);
	assert_non_null(f);
	assert_null(why);
	assert_int_equal(fread(got, 1, sizeof(got), f), 3);
	assert_string_equal(got, "abc");
	/* A read that has to wait waits, and no program started inherits it. */
	assert_int_equal(fcntl(fileno(f), F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(fcntl(fileno(f), F_GETFD), FD_CLOEXEC);
	fclose(f);
	assert_int_equal(unlink(path), 0);
	assert_null(sim_input_open(path, &why));
	assert_string_equal(why, "No such file or directory");
	assert_int_equal(sim_input_fd(path, &why), -1);
}

/* As where a program was started without an input of its own. */
static void a_file_may_be_number_0(void **state)
{
	const char *why = "as before";
	const int input = dup(0);
	(void)state;
	assert_int_equal(close(0), 0);
	FILE *f = sim_input_open("/dev/null", &why);
	assert_non_null(f);
	assert_null(why);
	assert_int_equal(fileno(f), 0);
	fclose(f);
	if (input >= 0) {
		assert_int_equal(dup2(input, 0), 0);
		close(input);
	}
}

/* Without a writer: opening it as any other file would wait for ever. */
static void a_named_pipe_is_refused_and_one_without_a_name_is_read(void **state)
{
	char dir[] = "/tmp/sim_input_XXXXXX", path[64], got[8] = "";
	const char *why = NULL;
	int end[2];
	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/pipe", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	const int next = dup(0);
	close(next);
	assert_null(sim_input_open(path, &why));
	assert_string_equal(why, "a named pipe");
	assert_int_equal(dup(0), next); /* nothing was left open */
	close(next);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(pipe(end), 0);
	assert_int_equal(write(end[1], "abc", 3), 3);
	close(end[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", end[0]);
	FILE *f = sim_input_open(path, &why);
	assert_non_null(f);
	assert_int_equal(fread(got, 1, sizeof(got), f), 3);
	assert_string_equal(got, "abc");
	fclose(f);
	close(end[0]);
}

static void what_zlib_says_loses_the_number_of_its_file(void **state)
{
	(void)state;
	assert_string_equal(sim_input_said("<fd:3>: invalid block type"),
	    "invalid block type");
	assert_string_equal(sim_input_said("<fd:12>: a: b"), "a: b");
	assert_string_equal(sim_input_said("<fd:3> none"), "<fd:3> none");
	assert_string_equal(sim_input_said("x <fd:3>: y"), "x <fd:3>: y");
	assert_string_equal(sim_input_said(""), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_file_is_read_and_what_is_none_says_why),
	    cmocka_unit_test(a_file_may_be_number_0),
	    cmocka_unit_test(
		a_named_pipe_is_refused_and_one_without_a_name_is_read),
	    cmocka_unit_test(what_zlib_says_loses_the_number_of_its_file),
	};
	return cmocka_run_group_tests_name("sim/input", tests, NULL, NULL);
}
