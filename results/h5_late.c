/* results/h5_late.c -- HDF5, loaded when the first file is read or written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#define LATE_DEFINE
#include "results/h5_parts.h"

int res_h5_load(struct sim_err *e)
{
	return sim_late_load(&late_hdf5_library, e);
}

int res_h5_begin(struct sim_err *e)
{
	const int rc = res_h5_load(e);
	if (rc == 0)
		H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	return rc;
}
