/* tests/experiments/check/archive_test.c -- what an archive may hold.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tests/cli/archive.sh has those of real results; here is what is read of them.
 */
#include "tests/test.h"

#include <unistd.h>

#include "experiments/check/archive.h"
#include "results/file.h"
#include "sim/bytes.h"
#include "tests/rigs/folder.h"

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

/* Folders take no room of their own, and are no files. */
static void bounds_are_reached_and_not_passed(void **state)
{
	char list[700], name[300];
	struct xp_archive a;
	struct sim_err e;
	(void)state;
	assert_int_equal(XP_ARCHIVE_MAX, 8589934592);
	snprintf(list, sizeof(list), "%s%s", PLAIN,
	    LINE("-rw-r--r--", "8589934580", "top/x"));
	assert_ok(read_list(&a, list, test_err()));
	assert_true(a.n_bytes == XP_ARCHIVE_MAX);
	xp_archive_close(&a);
	assert_int_equal(read_list(&a,
			     PLAIN LINE("-rw-r--r--", "8589934581", "top/x"),
			     &e),
	    SIM_ELIMIT);
	assert_string_equal(e.msg, "it unpacks to more than 8 GiB.");
	xp_archive_close(&a);
	/* "top/" and letters. */
	for (int n = 255; n <= 256; n++) {
		memset(name, 'a', sizeof(name));
		memcpy(name, "top/", 4);
		name[n] = '\0';
		snprintf(list, sizeof(list),
		    "-rw-r--r-- 0/0 1 2026-11-22 14:00:00 %s\n", name);
		assert_int_equal(read_list(&a, list, &e),
		    n == 255 ? 0 : SIM_EINVAL);
		if (n == 255)
			assert_int_equal(strlen(a.file[0]), 251);
		xp_archive_close(&a);
		assert_null(a.file);
		assert_int_equal(a.n_files, 0);
	}
}

/* A hundred thousand files, and one more. */
static void so_many_files_and_no_more(void **state)
{
	enum { N = 100000 };
	char *list = NULL;
	size_t n = 0;
	struct xp_archive a;
	struct sim_err e;
	FILE *f = open_memstream(&list, &n);
	(void)state;
	assert_non_null(f);
	fputs(FOLDER, f);
	for (int i = 0; i < N; i++)
		fprintf(f, "-rw-r--r-- 0/0 1 2026-11-22 14:00:00 top/%d\n", i);
	fflush(f);
	assert_ok(read_list(&a, list, test_err()));
	assert_int_equal(a.n_files, N);
	assert_int_equal(a.n_bytes, N);
	assert_true(xp_archive_has(&a, "0") && xp_archive_has(&a, "99999"));
	xp_archive_close(&a);
	fputs(FOLDER LINE("-rw-r--r--", "1", "top/x"), f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(read_list(&a, list, &e), SIM_ELIMIT);
	assert_string_equal(e.msg, "it has more than 100000 files.");
	xp_archive_close(&a);
	free(list);
}

/* Lines end in a newline, the last one need not. */
static void each_line_is_an_entry(void **state)
{
	struct xp_archive a;
	struct sim_err e;
	(void)state;
	assert_ok(read_list(&a,
	    "-rw-rw-rwx 0/0 7 2026-11-22 14:00:00 top/b\n"
	    "drwxr-xr-x 0/0 3 2026-11-22 14:00:00 top/d/\n"
	    "-rw-r--r-- 0/0 2 2026-11-22 14:00:00 top/a",
	    test_err()));
	assert_int_equal(a.n_files, 2);
	assert_int_equal(a.n_bytes, 12);
	assert_string_equal(a.file[0], "a");
	assert_string_equal(a.file[1], "b");
	assert_false(xp_archive_has(&a, "d/") || xp_archive_has(&a, "d"));
	xp_archive_close(&a);
	/* A folder may be named twice, files not, wherever they stand. */
	assert_int_equal(read_list(&a,
			     PLAIN FOLDER FOLDER LINE("-rw-r--r--", "1",
				 "top/z")
				 LINE("-rw-r--r--", "1", "top/results/a.h5"),
			     &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg, "\"results/a.h5\" is in it twice.");
	xp_archive_close(&a);
	assert_int_equal(read_list(&a, PLAIN "\n" PLAIN, &e), SIM_EPARSE);
	assert_string_equal(e.msg, "tar lists \"\".");
	xp_archive_close(&a);
	assert_int_equal(read_list(&a, PLAIN LINE("drwxr-xr-x", "0", "to/"),
			     &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg, "\"to/\" is not under top/, as others are.");
	xp_archive_close(&a);
	assert_false(xp_archive_has(&a, "a"));
}

/* --- whole ones ------------------------------------------------------------*/

/* Pack what is under top/ of the test's folder; tar's other words are ARGS. */
static const char *pack(const char *args)
{
	char command[512];
	snprintf(command, sizeof(command),
	    "cd %s && (cd top && find . -type f ! -name MANIFEST.sha256 "
	    "-printf "
	    "'%%P\\n' | sort | xargs sha256sum >MANIFEST.sha256) && "
	    "tar -czf a.tar.gz %s top",
	    test_folder, args);
	assert_int_equal(system(command), 0);
	return test_path("a.tar.gz");
}

static int exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void make_top(void)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s/top && mkdir -p %s/top/r",
	    test_folder, test_folder);
	assert_int_equal(system(command), 0);
	test_write("top/b", "bytes");
	test_write("top/r/a", "other bytes");
}

static void what_is_whole_is_unpacked_checked_and_removed(void **state)
{
	struct xp_archive a, b;
	char folder[256], file[300];
	void *text;
	size_t n;
	FILE *f;
	(void)state;
	make_top();
	setenv("TMPDIR", test_folder, 1);
	assert_ok(xp_archive_open(&a, pack(""), test_err()));
	assert_int_equal(a.n_files, 3);
	snprintf(folder, sizeof(folder), "%s", a.folder);
	assert_int_equal(strncmp(folder, test_folder, strlen(test_folder)), 0);
	assert_non_null(strstr(folder, "/culprit-archive-"));
	snprintf(file, sizeof(file), "%s/top/", folder);
	assert_string_equal(a.top, file);
	snprintf(file, sizeof(file), "%sr/a", a.top);
	test_assert_same_bytes(file, test_path("top/r/a"));
	assert_int_equal(a.key, 0);
	assert_ok(xp_archive_check_sums(&a, test_err()));
	assert_ok(res_file_read(test_path("top/" XP_ARCHIVE_MANIFEST), &text,
	    &n, test_err()));
	assert_true(a.key == sim_fnv(SIM_FNV_START, text, n));
	free(text);
	/* Two are apart, and go apart. */
	assert_ok(xp_archive_open(&b, test_path("a.tar.gz"), test_err()));
	assert_string_not_equal(a.folder, b.folder);
	xp_archive_close(&b);
	assert_null(b.folder);
	assert_true(exists(file));
	/* One byte is seen, by the name of its file. */
	f = fopen(file, "r+");
	assert_non_null(f);
	assert_int_equal(fputc('O', f), 'O');
	fclose(f);
	assert_int_equal(xp_archive_check_sums(&a, test_err()), SIM_EMISMATCH);
	assert_string_equal(test_err()->msg,
	    "r/a: its bytes are not those of its checksum.");
	xp_archive_close(&a);
	assert_false(exists(folder));
	assert_null(a.top);
	unsetenv("TMPDIR");
}

static void what_is_no_archive_leaves_nothing(void **state)
{
	struct xp_archive a;
	struct sim_err e;
	char command[256];
	(void)state;
	setenv("TMPDIR", test_folder, 1);
	test_write("text", "no archive");
	assert_int_equal(xp_archive_open(&a, test_path("text"), &e),
	    SIM_EPARSE);
	assert_non_null(strstr(e.msg, "it is no gzipped tar, or not whole: "));
	assert_null(strchr(e.msg, '\n'));
	assert_null(a.folder);
	xp_archive_close(&a);
	assert_int_equal(xp_archive_open(&a, test_path("none"), &e), SIM_EIO);
	xp_archive_close(&a);
	make_top();
	pack("--exclude=" XP_ARCHIVE_MANIFEST);
	assert_ok(xp_archive_open(&a, test_path("a.tar.gz"), test_err()));
	assert_int_equal(xp_archive_check_sums(&a, &e), SIM_EPARSE);
	assert_string_equal(e.msg, "it has no MANIFEST.sha256.");
	xp_archive_close(&a);
	/* Where nothing can be made, and by default. */
	setenv("TMPDIR", test_path("none"), 1);
	assert_int_equal(xp_archive_open(&a, test_path("a.tar.gz"), &e),
	    SIM_EIO);
	assert_non_null(strstr(e.msg, "cannot make folder "));
	assert_non_null(strstr(e.msg, "/none/culprit-archive-"));
	assert_non_null(strstr(e.msg, ": No such file or directory."));
	xp_archive_close(&a);
	setenv("TMPDIR", "", 1);
	assert_ok(xp_archive_open(&a, test_path("a.tar.gz"), test_err()));
	assert_int_equal(strncmp(a.folder, "/tmp/culprit-archive-", 21), 0);
	xp_archive_close(&a);
	unsetenv("TMPDIR");
	snprintf(command, sizeof(command), "! ls %s | grep -q culprit-archive",
	    test_folder);
	assert_int_equal(system(command), 0);
}

/* --- manifests -------------------------------------------------------------*/

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
	    cmocka_unit_test(bounds_are_reached_and_not_passed),
	    cmocka_unit_test(so_many_files_and_no_more),
	    cmocka_unit_test(each_line_is_an_entry),
	    cmocka_unit_test(what_is_whole_is_unpacked_checked_and_removed),
	    cmocka_unit_test(what_is_no_archive_leaves_nothing),
	    cmocka_unit_test(a_manifest_names_just_the_files),
	    cmocka_unit_test(memory_may_run_out),
	};
	return cmocka_run_group_tests_name("experiments/check/archive", tests,
	    test_folder_make, test_folder_remove);
}
