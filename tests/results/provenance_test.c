/* tests/results/provenance_test.c -- run records, JSON texts, whole files.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/provenance.h"

#include <sys/stat.h>
#include <unistd.h>

#include "results/file.h"
#include "results/json.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

static char path[64];

static int make_folder(void **state)
{
	if (test_folder_make(state) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/x", test_folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(test_folder);
}

static void the_version_names_the_commit(void **state)
{
	(void)state;
	const struct res_provenance *p = res_provenance();
	char want[128];
	assert_string_equal(p[0].name, "culprit");
	assert_string_equal(p[1].name, "git_commit");
	assert_string_equal(p[2].name, "build");
	snprintf(want, sizeof(want), "%s (%s, build %s)", p[0].value,
	    p[1].value, p[2].value);
	assert_string_equal(res_version(), want);
	for (; p->name; p++)
		assert_true(strlen(p->value) > 0);
}

static void a_build_is_told_by_its_code_and_libraries(void **state)
{
	(void)state;
	char now[RES_LIBRARIES_BYTES];
	const char *build = res_build();
	assert_int_equal(strlen(build), 16);
	assert_int_equal(strspn(build, "0123456789abcdef"), 16);
	res_libraries(now);
	/* None is left out, and the text is not cut. */
	for (size_t i = 0; i < 5; i++)
		assert_non_null(strstr(now,
		    (const char *[]){"GSL ", "GLPK ", "HDF5 ", "igraph ",
			"glibc "}[i]));
	assert_true(strlen(now) < sizeof(now) - 20);
}

static void assert_json(const char *text, const char *want)
{
	char *got = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&got, &n);
	res_json_text(out, text);
	fclose(out);
	assert_string_equal(got, want);
	free(got);
}

static void texts_are_escaped_as_json_asks(void **state)
{
	(void)state;
	assert_json("", "\"\"");
	assert_json("a\"b\\c/", "\"a\\\"b\\\\c/\"");
	assert_json("\n\t\r\x01\x7f", "\"\\n\\t\\u000d\\u0001\\u007f\"");
	assert_json("\xc3\xbc \xe6\xbc\xa2 \xf0\x9f\x98\x80",
	    "\"\xc3\xbc \xe6\xbc\xa2 \xf0\x9f\x98\x80\"");
}

/* An overlong form, a surrogate, a number that is too large, a character that
 * is cut off, and a continuation byte alone. */
static void bytes_that_are_no_utf8_are_replaced(void **state)
{
	(void)state;
	assert_json("\xc0\xaf", "\"\\ufffd\\ufffd\"");
	assert_json("\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"");
	assert_json("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	assert_json("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	assert_json("\xf0\x80\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	assert_json("\xe6\xbc", "\"\\ufffd\\ufffd\"");
	assert_json("\xff"
		    "a\x80",
	    "\"\\ufffda\\ufffd\"");
}

static void numbers_that_are_none_are_null(void **state)
{
	(void)state;
	char *got = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&got, &n);
	const double x[] = {0.1, NAN, INFINITY, -INFINITY, 4160, -2.5e-300};
	for (size_t i = 0; i < 6; i++) {
		res_json_number(out, x[i]);
		putc(' ', out);
	}
	fclose(out);
	assert_string_equal(got, "0.1 null null null 4160 -2.5e-300 ");
	free(got);
}

static void a_run_record_is_json_with_every_field(void **state)
{
	(void)state;
	char arg[5][16] = {"culprit", "run", "a \"b\".yaml", "--set",
	    "t=\xff\n"};
	char *argv[] = {arg[0], arg[1], arg[2], arg[3], arg[4]};
	const struct res_provenance more[] = {{"fabric", "a \"net\""},
	    {NULL, NULL}};
	const struct res_run_record r = {5, argv, 1.7e9, 12.5, 3, 100, 97, 2, 1,
	    more};
	static const char *const want[] =
	    {"\"argv\": [\"culprit\", \"run\", \"a \\\"b\\\".yaml\"",
		"\"start_unix_s\": 1700000000", "\"end_unix_s\": 1700000012.5",
		"\"wall_s\": 12.5", "\"workers\": 3", "\"cells\": 100",
		"\"done\": 97", "\"failed\": 2", "\"crashed\": 1",
		"\"git_commit\": \"", "\"host\": \"", "\"cpu_s\": ",
		"\"peak_bytes\": ", "\"fabric\": \"a \\\"net\\\"\""};
	char *text;
	size_t n;
	assert_ok(res_run_record_write(path, &r, test_err()));
	assert_ok(res_file_read(path, (void **)&text, &n, test_err()));
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (!strstr(text, want[i]))
			fail_msg("%s is not in %s", want[i], text);
	free(text);
	if (system("/usr/bin/python3 -c '' 2>/dev/null") != 0) {
		print_message("skipped: /usr/bin/python3 is missing\n");
		skip();
	}
	char command[160];
	snprintf(command, sizeof(command),
	    "/usr/bin/python3 -m json.tool %s >/dev/null", path);
	assert_int_equal(system(command), 0);
}

static void a_file_is_replaced_as_a_whole(void **state)
{
	(void)state;
	char *bytes;
	size_t n;
	assert_ok(res_file_write(path, "long before", 11, test_err()));
	assert_ok(res_file_write(path, "now", 3, test_err()));
	assert_ok(res_file_read(path, (void **)&bytes, &n, test_err()));
	assert_int_equal(n, 3);
	assert_string_equal(bytes, "now");
	free(bytes);
}

static void a_bare_name_is_in_the_current_folder(void **state)
{
	(void)state;
	char *here = getcwd(NULL, 0);
	assert_int_equal(chdir(test_folder), 0);
	assert_ok(res_file_write("x", "1", 1, test_err()));
	assert_int_equal(chdir(here), 0);
	free(here);
	assert_int_equal(access(path, F_OK), 0);
}

static void a_failed_write_leaves_no_temporary(void **state)
{
	(void)state;
	struct sim_err e;
	char sub[80], inside[96];
	snprintf(sub, sizeof(sub), "%s/sub", test_folder);
	snprintf(inside, sizeof(inside), "%s/y", sub);
	assert_int_equal(res_file_write(inside, "1", 1, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "No such file or directory"));
	assert_non_null(strstr(e.msg, inside));
	/* A folder cannot be replaced by a file. */
	assert_int_equal(mkdir(sub, 0700), 0);
	assert_int_equal(res_file_write(sub, "1", 1, &e), SIM_EIO);
	assert_non_null(strstr(e.msg, "Is a directory"));
	assert_int_equal(rmdir(sub), 0);
	unlink(path);
	assert_int_equal(rmdir(test_folder), 0);
	assert_int_equal(mkdir(test_folder, 0700), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_version_names_the_commit),
	    cmocka_unit_test(a_build_is_told_by_its_code_and_libraries),
	    cmocka_unit_test(texts_are_escaped_as_json_asks),
	    cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
	    cmocka_unit_test(numbers_that_are_none_are_null),
	    cmocka_unit_test(a_run_record_is_json_with_every_field),
	    cmocka_unit_test(a_file_is_replaced_as_a_whole),
	    cmocka_unit_test(a_bare_name_is_in_the_current_folder),
	    cmocka_unit_test(a_failed_write_leaves_no_temporary),
	};
	return cmocka_run_group_tests_name("results/provenance", tests,
	    make_folder, remove_folder);
}
