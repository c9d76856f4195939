/* results/h5_far.h -- an HDF5 file that another process has open, and is asked.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HDF5 1.10 crashes or loops on a file whose metadata were forged, and when an
 * allocation fails. So it never runs in a process that has more to do: a child
 * (sim/apart.h) opens the file and answers. Nothing of HDF5 is ever in memory
 * here, and its types cannot be named.
 */
#ifndef RESULTS_H5_FAR_H
#define RESULTS_H5_FAR_H

#include <stddef.h>
#include <stdint.h>

#include "sim/apart.h"
#include "sim/err.h"
#include "sim/table.h"

enum res_h5_class { RES_H5_INTEGER, RES_H5_FLOAT, RES_H5_TEXT, RES_H5_OTHER };

/* A dataset: dimensions above RANK are 0. */
enum { RES_H5_MAX_RANK = 32 };
struct res_h5_shape {
	enum res_h5_class class;
	unsigned rank;
	uint64_t dim[RES_H5_MAX_RANK];
};

struct res_h5_far {
	struct sim_apart *apart;
	size_t n_bytes; /* of the file: bounds what a text may take */
	int64_t file;   /* HDF5's number of it, in the child */
};

/* Begin a child for F, whose STATE begins with it, and call OPEN in it, which
 * opens the file as F->file or fails. HDF5 is loaded before. Errors those of
 * OPEN; SIM_EDEP, SIM_EIO, SIM_ENOMEM. */
int res_h5_far_open(struct res_h5_far *f, sim_apart_fn *open,
    struct sim_err *e);
void res_h5_far_close(struct res_h5_far *f);

/* 1 if there is anything, or an attribute, of that name in the file, else 0.
 * Errors SIM_EPARSE, SIM_EDEP, SIM_ENOMEM. */
int res_h5_far_has(struct res_h5_far *f, const char *name, struct sim_err *e);
int res_h5_far_has_attr(struct res_h5_far *f, const char *name,
    struct sim_err *e);

/* IS[i] is 1 if there is anything called NAME[i], else 0, of N names: one
 * question, where each by itself would wake the child, and then us. */
int res_h5_far_has_each(struct res_h5_far *f, size_t n,
    const char *const name[], uint8_t is[], struct sim_err *e);

/* An attribute of the file, or of dataset AT: a text, to be freed, which is not
 * longer than the file; or N counts. Errors SIM_EPARSE (missing, or of another
 * type or size), SIM_ENOMEM, SIM_EDEP. */
int res_h5_far_text(struct res_h5_far *f, const char *at, const char *name,
    char **out, struct sim_err *e);
int res_h5_far_counts(struct res_h5_far *f, const char *name, size_t n,
    uint64_t out[], struct sim_err *e);

/* What dataset NAME is. Errors SIM_EPARSE, SIM_EDEP. */
int res_h5_far_shape(struct res_h5_far *f, const char *name,
    struct res_h5_shape *is, struct sim_err *e);

/* All numbers of dataset NAME, which has exactly the shape IS, as TYPE; OUT has
 * room for them. Or N texts, each to be freed, of no more bytes together than
 * the file has. Errors SIM_EPARSE, SIM_ENOMEM, SIM_EDEP. */
int res_h5_far_numbers(struct res_h5_far *f, const char *name,
    const struct res_h5_shape *is, enum sim_type type, void *out,
    struct sim_err *e);
int res_h5_far_texts(struct res_h5_far *f, const char *name, size_t n,
    char *out[], struct sim_err *e);

#endif
