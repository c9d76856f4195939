/* tests/rigs/power.h -- a disk that loses power, and what it may hold then.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * While a log is on, what the program does to files below a folder is both
 * done and noted. For each moment between two of these deeds every state that
 * a loss of power could leave is made in another folder, or a seeded draw of
 * them where they are many, and the test looks at it.
 *
 * What may be lost is what POSIX does not promise, within what file systems
 * with a journal do:
 *
 *	names	are made, renamed and removed in order; any number of the last
 *		of them are lost, but none before an fsync of its folder
 *	bytes	that were written since the last fsync of a file are on disk or
 *		not, each write by itself, in any order, and each may be torn
 *		between sectors; what is missing within a file's length is
 *		zero, or holds what stood on the disk before (`stale`)
 *
 * So a file's length may be on disk and its bytes not, a later write without an
 * earlier one, a new name without the file's bytes.
 *
 * Calls are caught where tests are linked (--wrap), so those that a library
 * makes itself (HDF5, stdio) are not seen.
 */
#ifndef TESTS_POWER_H
#define TESTS_POWER_H

#include <stddef.h>
#include <stdint.h>

/* Begin to note what happens below FOLDER, an absolute path of an empty folder
 * that is there. One log at a time. */
void power_begin(const char *folder);

/* Run LIFE in a process of its own, killed at once after its deed KILL_AT of
 * those that are noted (0: never). LIFE returns 0 if all went well, and says on
 * stderr what did not; cmocka's checks are not for it. Returns 1 if it was
 * killed, 0 if it ended well; else the test fails. Memory of the caller is not
 * changed by it: only files and promises are. */
int power_live(int life(void *arg), void *arg, uint64_t kill_at);

/* From here on the test's promise N holds: a state of a later moment that breaks
 * it is a defect. N grows. */
void power_promise(uint64_t n);
uint64_t power_promised(void);

/* What a lost part of a file may hold beside zeros: the bytes at the same place
 * of these, as if they had been in a file that is gone. NULL: zeros alone. */
void power_stale(const unsigned char *bytes, size_t n);

/* Look at each K-th moment alone, from a moment of SEED on (1: all). */
void power_every(unsigned k, uint32_t seed);

/* A state is in the folder AT, which is empty again after each call, and the
 * last promise before it was N (0: none). Fails the test if all is not well;
 * tests/test.h's run is printed with it. */
typedef void power_look(const char *at, uint64_t n, void *arg);

/* Make the states of all moments of the log below AT, an empty folder, at most
 * MAX for each moment, and let LOOK at each that differs from those before.
 * Returns how many it looked at. */
uint64_t power_replay(const char *at, unsigned max, power_look *look,
    void *arg);

#endif
