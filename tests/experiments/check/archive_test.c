/* tests/experiments/check/archive_test.c -- what an archive may hold.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tests/cli/archive.sh has whole archives; here is what is read of them.
 */
#include "tests/test.h"

#include "experiments/check/archive.h"

#define LINE(mode, size, name)                                                 \
	mode " 0/0 " size " 2026-11-22 14:00:00 " name "\n"
#define FOLDER LINE("drwxr-xr-x", "0", "top/")
#define PLAIN  LINE("-rw-r--r--", "12", "top/results/a.h5")
#define SUM    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static int read_list(struct xp_archive *a, const char *text, struct sim_err *e)
{
	char *copy = strdup(text);
	*a = (struct xp_archive){0};
	const int rc = xp_archive_read_list(a, copy, e);
	free(copy);
	return rc;
}

static void plain_files_under_one_folder_are_taken(void **state)
{
	struct xp_archive a;
	(void)state;
	assert_ok(read_list(&a,
	    FOLDER PLAIN LINE("-rw-r--r--", "5", "top/README.md")
		LINE("-rw-r--r--", "1", "top/specs/a+b-c_1.yaml"),
	    test_err()));
	assert_int_equal(a.n_files, 3);
	assert_int_equal(a.n_bytes, 18);
	assert_string_equal(a.top, "top/");
	assert_string_equal(a.file[0], "README.md");
	assert_true(xp_archive_has(&a, "results/a.h5"));
	assert_false(xp_archive_has(&a, "a.h5"));
	xp_archive_close(&a);
}

static void all_else_is_refused_by_name(void **state)
{
	static const struct {
		const char *list, *says;
	} cases[] = {
	    {"", "no files"},
	    {FOLDER, "no files"},
	    {PLAIN LINE("-rw-r--r--", "1", "top/../../etc/passwd"),
		"\"top/../../etc/passwd\" leads out"},
	    {PLAIN LINE("-rw-r--r--", "1", "../x"), "\"../x\" leads out"},
	    {PLAIN LINE("-rw-r--r--", "1", "/etc/passwd"), "leads out"},
	    {PLAIN LINE("-rw-r--r--", "1", "top//x"), "leads out"},
	    {PLAIN LINE("-rw-r--r--", "1", "top/./x"), "leads out"},
	    {PLAIN LINE("-rw-r--r--", "1", "top/.hidden"), "is hidden"},
	    {PLAIN LINE("-rw-r--r--", "1", "top/-rf"), "other letters"},
	    {PLAIN LINE("-rw-r--r--", "1", "top/a b"), "other letters"},
	    {PLAIN LINE("-rw-r--r--", "1", "top/a\\nb"), "other letters"},
	    {PLAIN LINE("-rw-r--r--", "1", "top/\303\251"), "other letters"},
	    {PLAIN LINE("-rw-r--r--", "1", "x"), "\"x\" is in no folder"},
	    {PLAIN LINE("-rw-r--r--", "1", "tops/x"), "not under top/"},
	    {PLAIN LINE("-rw-r--r--", "1", "to/x"), "not under top/"},
	    {PLAIN LINE("lrwxrwxrwx", "0", "top/x -> /etc"),
		"is a symbolic link"},
	    {PLAIN LINE("hrw-r--r--", "0", "top/x link to top/y"),
		"is a hard link"},
	    {PLAIN LINE("prw-r--r--", "0", "top/x"), "is a pipe"},
	    {PLAIN LINE("Vrw-r--r--", "0", "top/x"), "is no plain file"},
	    {PLAIN LINE("brw-r--r--", "8,0", "top/x"), "a device"},
	    {PLAIN LINE("-rwsr-xr-x", "1", "top/x"), "-rwsr-xr-x"},
	    {PLAIN PLAIN, "\"results/a.h5\" is in it twice"},
	    {PLAIN LINE("-rw-r--r--", "9000000000", "top/x"), "8 GiB"},
	    {PLAIN LINE("-rw-r--r--", "18446744073709551615", "top/x"),
		"8 GiB"},
	    {PLAIN "what?\n", "tar lists \"what?\""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xp_archive a;
		struct sim_err e = {0};
		assert_true(read_list(&a, cases[i].list, &e) < 0);
		if (!strstr(e.msg, cases[i].says))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i,
			    e.msg, cases[i].says);
		assert_int_equal(e.msg[strlen(e.msg) - 1], '.');
		xp_archive_close(&a);
	}
}

static int manifest(const char *text, struct sim_err *e)
{
	struct xp_archive a;
	char *copy = strdup(text);
	assert_ok(read_list(&a,
	    PLAIN LINE("-rw-r--r--", "5", "top/README.md")
		LINE("-rw-r--r--", "5", "top/" XP_ARCHIVE_MANIFEST),
	    test_err()));
	const int rc = xp_archive_read_manifest(&a, copy, e);
	xp_archive_close(&a);
	free(copy);
	return rc;
}

static void a_manifest_names_just_the_files(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
	    {"", "README.md is one too many"},
	    {SUM "  results/a.h5\n", "README.md is one too many"},
	    {SUM "  README.md\n", "results/a.h5 is one too many"},
	    {SUM "  README.md\n" SUM "  README.md\n" SUM "  results/a.h5\n",
		"README.md is missing"},
	    {SUM "  README.md\n" SUM "  results/a.h5\n" SUM "  z\n",
		"z is missing"},
	    {SUM "  /etc/passwd\n" SUM "  README.md\n" SUM "  results/a.h5\n",
		"/etc/passwd is missing"},
	    {SUM "  README.md\nresults/a.h5\n", "no line of a checksum"},
	    {SUM " *README.md\n" SUM "  results/a.h5\n",
		"no line of a checksum"},
	    {"0" SUM "  README.md\n", "no line of a checksum"},
	};
	struct sim_err e = {0};
	(void)state;
	assert_ok(
	    manifest(SUM "  results/a.h5\n" SUM "  README.md\n", test_err()));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(manifest(cases[i].text, &e) < 0);
		if (!strstr(e.msg, cases[i].says))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i,
			    e.msg, cases[i].says);
	}
}

static int read_both(void *arg, struct sim_err *e)
{
	struct xp_archive a = {0};
	char list[] = FOLDER PLAIN LINE("-rw-r--r--", "5", "top/README.md");
	char text[] = SUM "  results/a.h5\n" SUM "  README.md\n";
	(void)arg;
	int rc = xp_archive_read_list(&a, list, e);
	if (rc == 0)
		rc = xp_archive_read_manifest(&a, text, e);
	xp_archive_close(&a);
	return rc;
}

static void memory_may_run_out(void **state)
{
	(void)state;
	test_each_alloc_fails(read_both, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plain_files_under_one_folder_are_taken),
	    cmocka_unit_test(all_else_is_refused_by_name),
	    cmocka_unit_test(a_manifest_names_just_the_files),
	    cmocka_unit_test(memory_may_run_out),
	};
	return cmocka_run_group_tests_name("experiments/check/archive", tests,
	    NULL, NULL);
}
