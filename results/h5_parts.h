/* results/h5_parts.h -- what h5.c and h5_read.c share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_H5_PARTS_H
#define RESULTS_H5_PARTS_H

#include <hdf5.h>

#include "sim/err.h"

/* Bytes behind HDF5's: magic, then the sum. */
#define RES_H5_TRAILER 16
#define RES_H5_MAGIC   "culpritR"

/* The core driver gives no image the name of a file that exists. */
#define RES_H5_NO_FILE "/dev/null/image"

/* "HDF5 cannot VERB NAME: why." */
int res_h5_failed(int code, const char *verb, const char *name,
    struct sim_err *e);

#endif
