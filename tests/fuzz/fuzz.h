/* tests/fuzz/fuzz.h -- what fuzz targets share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Says what does not hold, and where, as a stack of optimised code may not. */
#define must(holds) fuzz_must((holds) != 0, #holds, __FILE__, __LINE__)
static inline void fuzz_must(int holds, const char *what, const char *file,
    int line)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

/* Change the N_GOOD bytes of GOOD as the input says: three bytes that say where,
 * one how many bytes, and these; and so on. */
static inline void fuzz_change(unsigned char *good, size_t n_good,
    const uint8_t *bytes, size_t n)
{
	while (n >= 5 && n_good > 0) {
		const size_t at = ((size_t)bytes[0] << 16 |
				      (size_t)bytes[1] << 8 | bytes[2]) %
		    n_good;
		size_t k = bytes[3] % 64u + 1;
		bytes += 4;
		n -= 4;
		k = k < n ? k : n;
		k = k < n_good - at ? k : n_good - at;
		memcpy(good + at, bytes, k);
		bytes += k;
		n -= k;
	}
}

/* A file in memory that holds these N bytes, and still has a name: good until
 * the next call. */
static inline const char *fuzz_file(const void *bytes, size_t n)
{
	static char path[32];
	static int fd = -1;
	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	must(fd >= 0 && ftruncate(fd, 0) == 0);
	must(pwrite(fd, bytes, n, 0) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

#endif
