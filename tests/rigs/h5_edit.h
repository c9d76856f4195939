/* tests/rigs/h5_edit.h -- sealed HDF5 files, spoilt on purpose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_H5_EDIT_H
#define TESTS_H5_EDIT_H

#include <stddef.h>
#include <stdint.h>

#include <hdf5.h>

/* Write a file as it is. */
void h5_edit_put(const char *path, const void *bytes, size_t n);

/* Close what HDF5 has edited, and seal it anew. */
void h5_edit_seal(hid_t file, const char *path);

/* A new dataset of N zeros; entry I of an attribute of counts; a row of a
 * column of integers. */
void h5_edit_column(hid_t file, const char *name, hid_t type, hsize_t n);
void h5_edit_count(hid_t file, const char *name, unsigned i, uint64_t value);
void h5_edit_cell(hid_t file, const char *name, hsize_t row, uint64_t value);

#endif
