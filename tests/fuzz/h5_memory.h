/* tests/fuzz/h5_memory.h -- tables of results/h5_table.h, in memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target that is linked with this has it in place of HDF5: what it writes as
 * tables, under any path, is read back as a true file would give it, without a
 * process, a file or a sync. So what stands above tables is tried thousands of
 * times a second; HDF5 itself is tried by h5_fuzz.c.
 */
#ifndef TESTS_FUZZ_H5_MEMORY_H
#define TESTS_FUZZ_H5_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Changes of 12 bytes each, the rest being ignored, to the file at PATH:
 *
 *	what    0, 1: value, 2: rows, 3: an attribute, 4: a table or a column is
 *		left out, 5: one row as another
 *	table, column, row (1 byte each), value (8 bytes)
 *
 * Numbers beyond the last begin anew. Of an attribute COLUMN says which of its
 * counts; a text becomes the value's bytes. */
enum { H5_MEMORY_CHANGE = 12 };
void h5_memory_edit(const char *path, const uint8_t *bytes, size_t n);

/* A copy of the file at FROM, which TO becomes. */
void h5_memory_copy(const char *from, const char *to);

/* 1 if both files hold the same attributes and tables in the same order. */
int h5_memory_same(const char *a, const char *b);

/* The file at PATH is gone; NULL: all. */
void h5_memory_drop(const char *path);

#endif
