/* results/seal.c -- large files that grow on disk: whole and unspoilt, or not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/file.h"
#include "sim/bytes.h"

#define MAGIC "culpritT"
enum { SEAL = 16, BLOCK = 1 << 18 };

/* --- the sum ---------------------------------------------------------------*/

/* For a given WORD this is one to one in SUM, and the other way round, so one
 * changed word always changes the sum. The shift brings high bits down: by the
 * product alone a change of the highest bit would reach no other bit, and a
 * second such change would undo it. */
static uint64_t seal_mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 32;
}

/* Words are little-endian, so that the sum is the same on any machine; zeros
 * fill up the last one. */
static uint64_t add_block(uint64_t sum, const unsigned char *p, size_t n)
{
	unsigned char last[8] = {0};
	size_t i = 0;
	for (; i + 8 <= n; i += 8)
		sum = seal_mix(sum, sim_load_64(p + i));
	memcpy(last, p + i, n - i);
	return i < n ? seal_mix(sum, sim_load_64(last)) : sum;
}

/* Read N bytes from OFFSET into P; fewer only at the end of the file. */
static ssize_t read_block(int fd, unsigned char *p, size_t n, off_t offset)
{
	size_t got = 0;
	while (got < n) {
		const ssize_t k =
		    pread(fd, p + got, n - got, offset + (off_t)got);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		if (k == 0)
			break;
		got += (size_t)k;
	}
	return (ssize_t)got;
}

/* The sum of the first N bytes. BLOCK is a whole number of words, so only the
 * last block can end within one; the length, mixed in last, tells a file from
 * the same one with zeros behind it. */
static int sum_file(int fd, uint64_t n, unsigned char *block, uint64_t *sum)
{
	*sum = 0;
	for (uint64_t at = 0; at < n; at += BLOCK) {
		const size_t want = n - at < BLOCK ? (size_t)(n - at) : BLOCK;
		const ssize_t got = read_block(fd, block, want, (off_t)at);
		if (got != (ssize_t)want) {
			/* Shorter than fstat() said: somebody is writing it. */
			errno = got < 0 ? errno : EBUSY;
			return -1;
		}
		*sum = add_block(*sum, block, want);
	}
	*sum = seal_mix(*sum, n);
	return 0;
}

/* --- writing ---------------------------------------------------------------*/

/* The sum covers what is really in the file, so it is read back. */
static int append_seal(int fd, unsigned char *block)
{
	struct stat st;
	uint64_t sum;
	if (fstat(fd, &st) < 0 ||
	    sum_file(fd, (uint64_t)st.st_size, block, &sum) < 0)
		return -1;
	memcpy(block, MAGIC, 8);
	sim_store_64(block + 8, sum);
	const ssize_t n = pwrite(fd, block, SEAL, st.st_size);
	if (n >= 0 && n < SEAL)
		errno = ENOSPC;
	/* Room that was claimed beyond the end (h5_table.c) is given back. */
	return n == SEAL && ftruncate(fd, st.st_size + SEAL) == 0 ? fsync(fd)
								  : -1;
}

int res_seal_finish(const char *temp, int fd, const char *path,
    struct sim_err *e)
{
	int rc = 0;
	unsigned char *block = malloc(BLOCK);
	if (!block)
		rc = sim_fail(e, SIM_ENOMEM, "no memory to write %s.", path);
	/* The seal is on disk before the name is: after a crash PATH is
	 * whole. */
	else if (append_seal(fd, block) < 0 || rename(temp, path) < 0)
		rc = res_file_failed("write", path, e);
	else if (res_file_sync_folder(path) < 0)
		rc = res_file_failed("sync the folder of", path, e);
	if (rc < 0)
		unlink(temp);
	free(block);
	return rc;
}

/* --- reading ---------------------------------------------------------------*/

/* Read the seal of a file of N_BYTES, which says that the rest has the sum SUM.
 * Returns 1, or 0 if it has none. */
static int seal_read(int fd, uint64_t *n_bytes, uint64_t *sum, const char *path,
    struct sim_err *e)
{
	struct stat st;
	unsigned char seal[SEAL];
	if (fstat(fd, &st) < 0)
		return res_file_failed("read", path, e);
	if (!S_ISREG(st.st_mode))
		return sim_fail(e, SIM_EIO, "cannot read %s: not a file.",
		    path);
	*n_bytes = (uint64_t)st.st_size;
	if (st.st_size < SEAL)
		return 0;
	const ssize_t got = read_block(fd, seal, SEAL, st.st_size - SEAL);
	/* A disk that fails is no file without a seal. */
	if (got < 0)
		return res_file_failed("read", path, e);
	if (got != SEAL || memcmp(seal, MAGIC, 8) != 0)
		return 0;
	*sum = sim_load_64(seal + 8);
	return 1;
}

static int seal_is_missing(const char *path, struct sim_err *e)
{
	return sim_fail(e, SIM_EPARSE,
	    "cannot read %s: it does not end as tables of culprit do: it is "
	    "another file, cut short, or was edited.",
	    path);
}

/* The seal first: it tells another file from a damaged one without a pass over
 * the whole. */
static int seal_check(int fd, uint64_t *n_bytes, int must_have,
    unsigned char *block, const char *path, struct sim_err *e)
{
	uint64_t sum, said;
	const int sealed = seal_read(fd, n_bytes, &said, path, e);
	if (sealed < 0)
		return sealed;
	if (!sealed)
		return must_have ? seal_is_missing(path, e) : 0;
	if (sum_file(fd, *n_bytes - SEAL, block, &sum) < 0)
		return res_file_failed("read", path, e);
	if (sum != said)
		return sim_fail(e, SIM_EPARSE,
		    "cannot read %s: its checksum is wrong: the file is "
		    "damaged.",
		    path);
	return 0;
}

/* O_NONBLOCK: opening a named pipe would else wait for a writer. */
static int seal_open_file(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static int seal_open(int *fd, uint64_t *n_bytes, int must_have,
    const char *path, struct sim_err *e)
{
	if ((*fd = seal_open_file(path)) < 0)
		return res_file_failed("read", path, e);
	unsigned char *block = malloc(BLOCK);
	const int rc = block
	    ? seal_check(*fd, n_bytes, must_have, block, path, e)
	    : sim_fail(e, SIM_ENOMEM, "no memory to read %s.", path);
	free(block);
	if (rc < 0) {
		close(*fd);
		*fd = -1;
	}
	return rc;
}

int res_seal_open(int *fd, uint64_t *n_bytes, const char *path,
    struct sim_err *e)
{
	return seal_open(fd, n_bytes, 1, path, e);
}

int res_seal_open_any(int *fd, uint64_t *n_bytes, const char *path,
    struct sim_err *e)
{
	return seal_open(fd, n_bytes, 0, path, e);
}

int res_seal_peek(uint64_t *n_bytes, uint64_t *sum, const char *path,
    struct sim_err *e)
{
	const int fd = seal_open_file(path);
	if (fd < 0)
		return res_file_failed("read", path, e);
	const int rc = seal_read(fd, n_bytes, sum, path, e);
	close(fd);
	return rc == 0 ? seal_is_missing(path, e) : rc < 0 ? rc : 0;
}
