/* results/columns.c -- a table of numbers by column, few of which may be there.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "results/file.h"
#include "sim/vec.h"

/* Rows that are written at once. */
enum { BLOCK = 1 << 13 };

/* Of nothing there is no mapping. */
static size_t columns_bytes(const struct res_columns *t)
{
	const size_t n = t->n * t->n_rows;
	return (n > 0 ? n : 1) * sizeof(t->bits[0]);
}

/* Zeroed memory that is not touched before it is written to: malloc() would
 * hand out again what was freed, and so clear all of a table of which a few
 * columns are used. FD is a file that holds it, or -1. */
static int columns_map(struct res_columns *t, int fd, struct sim_err *e)
{
	const size_t bytes = columns_bytes(t);
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return sim_fail(e, SIM_ENOMEM, "cannot map a %s of %zu MB: %s.",
		    fd < 0 ? "table" : "scratch file", bytes / 1000000,
		    strerror(errno));
	t->bits = at;
	return 0;
}

int res_columns_open(struct res_columns *t, size_t n_rows, size_t n,
    struct sim_err *e)
{
	size_t n_all;
	*t = (struct res_columns){0};
	if (__builtin_mul_overflow(n_rows, n, &n_all) ||
	    n_all > SIZE_MAX / sizeof(t->bits[0]))
		return sim_fail(e, SIM_ELIMIT,
		    "%zu rows of %zu numbers are too many.", n_rows, n);
	t->n_rows = n_rows;
	t->n = n;
	int rc = columns_map(t, -1, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&t->has, n, e);
	if (rc < 0)
		res_columns_close(t);
	return rc;
}

void res_columns_close(struct res_columns *t)
{
	if (t->bits)
		munmap(t->bits, columns_bytes(t));
	free(t->has);
	*t = (struct res_columns){0};
}

/* A page of a file that can't be had would be a signal, not an error: so all of
 * it is asked for here. */
static int columns_fill(const struct res_columns *t, int fd, const char *beside,
    struct sim_err *e)
{
	const size_t bytes = columns_bytes(t);
	errno = posix_fallocate(fd, 0, (off_t)bytes);
	return errno == 0
	    ? 0
	    : sim_fail(e, SIM_EIO,
		  "cannot make a scratch file of %zu MB beside %s: %s.",
		  bytes / 1000000, beside, strerror(errno));
}

int res_columns_spill(struct res_columns *t, const char *beside,
    struct sim_err *e)
{
	void *before = t->bits;
	char *temp = NULL;
	int fd = -1;
	if (t->in_file || columns_bytes(t) <= RES_COLUMNS_RESIDENT)
		return 0;
	int rc = res_file_temp(&temp, &fd, beside, e);
	if (rc == 0) {
		unlink(temp);
		rc = columns_fill(t, fd, beside, e);
		rc = rc < 0 ? rc : columns_map(t, fd, e);
		close(fd);
	}
	free(temp);
	if (rc < 0)
		return rc;
	munmap(before, columns_bytes(t));
	t->in_file = 1;
	memset(t->has, 0, t->n);
	return 0;
}

/* The kernel keeps what was written, in its cache or on the disk; this process
 * needs only where it writes. */
static void columns_rest(const struct res_columns *t, const void *from,
    size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t skip = (uintptr_t)from % page;
	if (t->in_file)
		madvise((char *)from - skip, bytes + skip, MADV_DONTNEED);
}

/* What is stored of a NaN is 0. */
static uint64_t columns_bits(double x)
{
	const double nan = NAN;
	uint64_t zero, bits;
	memcpy(&zero, &nan, sizeof(zero));
	memcpy(&bits, &x, sizeof(bits));
	return isnan(x) ? 0 : bits ^ zero;
}

static void columns_note(struct res_columns *t, size_t bytes)
{
	t->n_fresh += bytes;
	if (t->n_fresh > RES_COLUMNS_RESIDENT) {
		columns_rest(t, t->bits, columns_bytes(t));
		t->n_fresh = 0;
	}
}

void res_columns_put(struct res_columns *t, size_t row, size_t column, double x)
{
	if (isnan(x) && !t->has[column])
		return;
	t->bits[column * t->n_rows + row] = columns_bits(x);
	t->has[column] |= !isnan(x);
	columns_note(t, sizeof(x));
}

void res_columns_rest(const struct res_columns *t, size_t column)
{
	columns_rest(t, t->bits + column * t->n_rows,
	    t->n_rows * sizeof(t->bits[0]));
}

void res_columns_read(const struct res_columns *t, size_t column, double to[])
{
	const int has = t->has[column];
	for (size_t i = 0; i < t->n_rows; i++)
		to[i] = has ? res_columns_get(t, i, column) : NAN;
	res_columns_rest(t, column);
}

static int columns_any(const double x[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]))
			return 1;
	return 0;
}

/* In blocks, so that no more stays in memory than res_columns_put() leaves. */
void res_columns_write(struct res_columns *t, size_t column,
    const double from[])
{
	for (size_t i = 0, n; i < t->n_rows; i += n) {
		uint64_t *to = t->bits + column * t->n_rows + i;
		n = t->n_rows - i < BLOCK ? t->n_rows - i : BLOCK;
		t->has[column] |= columns_any(from + i, n);
		if (!t->has[column])
			continue;
		for (size_t k = 0; k < n; k++)
			to[k] = columns_bits(from[i + k]);
		columns_note(t, n * sizeof(to[0]));
	}
}

int res_columns_has(const struct res_columns *t, size_t column)
{
	for (size_t i = 0; t->has[column] && i < t->n_rows; i++)
		if (t->bits[column * t->n_rows + i] != 0)
			return 1;
	return 0;
}
