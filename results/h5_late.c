/* results/h5_late.c -- HDF5, loaded when the first file is read or written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#define LATE_DEFINE
#include "results/h5_parts.h"

#include <limits.h>
#include <malloc.h>

/* The most that glibc takes. */
#define NO_MAPPING_BELOW (4 * 1024 * 1024 * (int)sizeof(long))

int res_h5_load(struct sim_err *e)
{
	return sim_late_load(&late_hdf5_library, e);
}

/* Buffers of a megabyte come and go with each chunk. malloc() would give each
 * back to the system, which clears the next page by page: that was a fifth of
 * what it takes to write a million cells. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, NO_MAPPING_BELOW);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

int res_h5_begin(struct sim_err *e)
{
	const int rc = res_h5_load(e);
	if (rc == 0) {
		keep_memory();
		H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	}
	return rc;
}
