/* results/seal.h -- large files that grow on disk: whole and unspoilt, or not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is too large to be written at once (results/file.h) grows in a temporary
 * file, is sealed, and gets its name only then. The seal is the last 16 bytes:
 * "culpritT" and a checksum of all before, little-endian:
 *
 *	sum = 0
 *	for each word of 8 bytes (the last filled up with zeros), then the
 *	length:	sum = (sum xor word) * 0x9e3779b97f4a7c15 mod 2^64
 *		sum = sum xor floor(sum / 2^32)
 *
 * It never misses one changed word; other changes with about 2^-64.
 */
#ifndef RESULTS_SEAL_H
#define RESULTS_SEAL_H

#include <stdint.h>

#include "sim/err.h"

/* Seal what stands in TEMP (of res_file_temp()), sync, and rename it to PATH:
 * PATH is the old file or the new one. After an error TEMP is gone. Errors
 * SIM_EIO, SIM_ENOMEM. Cost one pass over the file. */
int res_seal_finish(const char *temp, int fd, const char *path,
    struct sim_err *e);

/* Open a sealed file for reading and check the sum. *FD is to be closed; while
 * it is open, /proc/self/fd/FD is the very file that was checked, whatever
 * happens to PATH.
 * Errors SIM_EIO (cannot be read), SIM_EPARSE (other, cut or damaged).
 * Cost one pass over the file. */
int res_seal_open(int *fd, uint64_t *n_bytes, const char *path,
    struct sim_err *e);

/* The same of a file that may also be another program's, which has no seal: one
 * that is there must be right. */
int res_seal_open_any(int *fd, uint64_t *n_bytes, const char *path,
    struct sim_err *e);

/* What the seal of a file says, without a look at what it seals: to tell files
 * apart. Errors as res_seal_open(). */
int res_seal_peek(uint64_t *n_bytes, uint64_t *sum, const char *path,
    struct sim_err *e);

#endif
