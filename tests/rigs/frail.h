/* tests/rigs/frail.h -- files on a kernel that fails when it is told to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A program that is linked with these calls wrapped (Makefile) has such a kernel,
 * and so has what it tests.
 */
#ifndef TESTS_FRAIL_H
#define TESTS_FRAIL_H

#include <sys/stat.h>
#include <sys/types.h>

#include "tests/rigs/folder.h"
#include "tests/test.h"

enum frail_call {
	FRAIL_WRITE,
	FRAIL_READ,
	FRAIL_SYNC,
	FRAIL_CLOSE,
	FRAIL_RENAME,
	FRAIL_LINK,
	FRAIL_REAL,
	FRAIL_N_CALLS
};

/* WHY the next call of each fails, behind those that are spared, or FRAIL_NOTHING:
 * it takes or finds no more; how many bytes are written or read at once, if not 0;
 * and what was called: Write, sync of a File or a Directory, Close, Rename. */
enum { FRAIL_NOTHING = -1 };
struct frail {
	int why[FRAIL_N_CALLS];
	unsigned spared[FRAIL_N_CALLS];
	size_t at_once;
	int grows; /* is FILE longer by a byte from the next read on? */
	char log[64];
	size_t n_log;
	struct stat synced; /* what was synced last */
};
extern struct frail frail;

void frail_forget(void);
void frail_assert_called(const char *what);

/* A test in a folder of its own, for ten seconds at most: who waits for a pipe's
 * other end waits no longer. */
int frail_folder_make(void **state);
#define FRAIL_TEST(test)                                                       \
	cmocka_unit_test_setup_teardown(test, frail_folder_make,               \
	    test_folder_remove)

/* The lowest number that a file could be opened as. */
int frail_free_fd(void);

/* Of NAME in the folder; the temporary file's is good until the next. */
void frail_assert_holds(const char *name, const void *bytes, size_t n);
mode_t frail_mode_of(const char *name);
int frail_is_there(const char *name);
const char *frail_temp_of(const char *name);

/* RC is SIM_EIO, and was told as "cannot VERB PATH: REASON." */
void frail_assert_said(int rc, const char *verb, const char *name,
    const char *reason);

int frail_write_to(const char *name, const char *text);

#endif
