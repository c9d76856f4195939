/* tests/rigs/h5_edit.c -- sealed HDF5 files, spoilt on purpose.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/h5_edit.h"

#include <unistd.h>

#include "results/file.h"
#include "results/seal.h"
#include "tests/test.h"

void h5_edit_put(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");
	assert_true(fwrite(bytes, 1, n, f) == n);
	assert_int_equal(fclose(f), 0);
}

void h5_edit_seal(hid_t file, const char *path)
{
	char *temp;
	void *bytes;
	size_t n;
	int fd;
	assert_true(H5Fclose(file) >= 0);
	assert_ok(res_file_read(path, &bytes, &n, test_err()));
	assert_ok(res_file_temp(&temp, &fd, path, test_err()));
	assert_true(write(fd, bytes, n) == (ssize_t)n);
	assert_ok(res_seal_finish(temp, fd, path, test_err()));
	close(fd);
	free(bytes);
	free(temp);
}

void h5_edit_column(hid_t file, const char *name, hid_t type, hsize_t n)
{
	hid_t space = H5Screate_simple(1, &n, NULL);
	hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT,
	    H5P_DEFAULT, H5P_DEFAULT);
	assert_true(set >= 0);
	H5Dclose(set);
	H5Sclose(space);
}

void h5_edit_count(hid_t file, const char *name, unsigned i, uint64_t value)
{
	uint64_t all[64];
	hid_t attr = H5Aopen(file, name, H5P_DEFAULT);
	assert_true(H5Aread(attr, H5T_NATIVE_UINT64, all) >= 0);
	all[i] = value;
	assert_true(H5Awrite(attr, H5T_NATIVE_UINT64, all) >= 0);
	H5Aclose(attr);
}

void h5_edit_cell(hid_t file, const char *name, hsize_t row, uint64_t value)
{
	const hsize_t one = 1;
	hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
	hid_t space = H5Dget_space(set),
	      memory = H5Screate_simple(1, &one, NULL);
	H5Sselect_hyperslab(space, H5S_SELECT_SET, &row, NULL, &one, NULL);
	assert_true(H5Dwrite(set, H5T_NATIVE_UINT64, memory, space, H5P_DEFAULT,
			&value) >= 0);
	H5Sclose(memory);
	H5Sclose(space);
	H5Dclose(set);
}
