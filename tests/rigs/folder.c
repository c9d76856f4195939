/* tests/rigs/folder.c -- a temporary folder for the files of a test.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/folder.h"

#include "results/file.h"
#include "tests/test.h"

char test_folder[64];

int test_folder_make(void **state)
{
	(void)state;
	snprintf(test_folder, sizeof(test_folder),
	    P_tmpdir "/culprit-test-XXXXXX");
	return mkdtemp(test_folder) ? 0 : -1;
}

int test_folder_remove(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s", test_folder);
	return system(command);
}

const char *test_path(const char *name)
{
	static char path[4][128];
	static unsigned next;
	/* Without one all tests would share the files of "/", as root can. */
	if (!test_folder[0])
		fail_msg("%s is asked for before test_folder_make().", name);
	char *p = path[next++ % 4];
	snprintf(p, sizeof(path[0]), "%s/%s", test_folder, name);
	return p;
}

void test_write(const char *name, const char *text)
{
	FILE *f = fopen(test_path(name), "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

void test_assert_same_bytes(const char *path, const char *other)
{
	void *x, *y;
	size_t n, m;
	assert_ok(res_file_read(path, &x, &n, test_err()));
	assert_ok(res_file_read(other, &y, &m, test_err()));
	assert_int_equal(n, m);
	assert_memory_equal(x, y, n);
	free(x);
	free(y);
}
