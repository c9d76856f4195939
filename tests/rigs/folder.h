/* tests/rigs/folder.h -- a temporary folder for the files of a test.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

/* Its path, from test_folder_make() on. */
extern char test_folder[];

/* Setup and teardown, of a group or of each test: make it, and remove it with
 * all that is in it. */
int test_folder_make(void **state);
int test_folder_remove(void **state);

/* The path of NAME in it; good until the next but three. */
const char *test_path(const char *name);

void test_write(const char *name, const char *text);
void test_assert_same_bytes(const char *path, const char *other);

#endif
