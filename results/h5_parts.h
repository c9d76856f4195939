/* results/h5_parts.h -- what the files that use HDF5 share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_H5_PARTS_H
#define RESULTS_H5_PARTS_H

#include "results/cube.h"
#include "results/hdf5.late.h"
#include "sim/apart.h"
#include "sim/err.h"
#include "sim/table.h"

/* The trailer behind HDF5's last byte: the magic, then the sum. */
#define RES_H5_TRAILER 16
#define RES_H5_MAGIC   "culpritR"

/* HDF5's core driver refuses to open an image under the name of a file that
 * exists. No file can have this one, as /dev/null is no folder. */
#define RES_H5_NO_FILE "/dev/null/image"

/* Load HDF5, unless it is, so that children (sim/apart.h) have it; nothing of it
 * runs. Errors SIM_EDEP. */
int res_h5_load(struct sim_err *e);

/* In a child, before all other calls of it: begin, and keep it from printing.
 * Errors SIM_EDEP. */
int res_h5_begin(struct sim_err *e);

/* A new file in memory, to be closed; below 0 if HDF5 fails. And the bytes of
 * what it holds, with the trailer. Errors SIM_EDEP, SIM_ENOMEM. */
hid_t res_h5_image_create(void);
int res_h5_image_take(hid_t file, struct sim_apart_reply *to,
    struct sim_err *e);

/* Make datasets created by PLIST chunked and packed. Below 0 if HDF5 fails. */
herr_t res_h5_set_chunk(hid_t plist, unsigned rank, const hsize_t dim[]);

/* Fail with "HDF5 cannot VERB NAME: why.", where why is HDF5's own reason. */
int res_h5_failed(int code, const char *verb, const char *name,
    struct sim_err *e);

/* Write attribute NAME of N values; N = 0 makes a scalar. Errors SIM_EDEP. */
int res_h5_put_attr(hid_t to, const char *name, hid_t type, hsize_t n,
    hid_t mem_type, const void *value, struct sim_err *e);

/* The type of texts, of any length, to be closed; and an attribute that is one
 * (NULL: ""). */
hid_t res_h5_utf8(void);
int res_h5_put_text(hid_t to, hid_t utf8, const char *name, const char *text,
    struct sim_err *e);

/* *AXES, the attribute `axes` (results/h5.h), and *COORDINATES, the names of
 * those that are not scales, or NULL; both to be freed. Errors SIM_ENOMEM. */
int res_h5_name_axes(const struct res_cube *c, char **axes, char **coordinates,
    struct sim_err *e);

/* The dimensions of metrics (results/h5.h), algorithms first, even if there are
 * none; returns how many. */
unsigned res_h5_dims(const struct res_cube *c, hsize_t dim[RES_MAX_AXES + 2]);

/* The type of numbers of a column in a file, and in memory. Domain T below
 * SIM_NAME. */
hid_t res_h5_file_type(enum sim_type t);
hid_t res_h5_memory_type(enum sim_type t);

/* Write N rows of column C from FROM, or read them into TO where that is given.
 * Returns below 0 when HDF5 fails. */
herr_t res_h5_move_rows(hid_t set, const struct sim_column *c, hsize_t first,
    hsize_t n, const void *from, void *to);

/* Read an attribute: a text, which is to be freed, or N counts. Errors
 * SIM_EPARSE, SIM_ENOMEM. */
int res_h5_get_text(hid_t at, const char *name, char **out, struct sim_err *e);
int res_h5_get_counts(hid_t at, const char *name, hssize_t n, uint64_t out[],
    struct sim_err *e);

#endif
