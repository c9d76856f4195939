/* results/h5_table.h -- tables that grow in an HDF5 file, and are read by rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	/              attributes: texts and lists of counts
 *	/<table>/      group of one table
 *	    <column>   [row] numbers, in chunks, shuffled and gzipped; or texts
 *	    row        the dimension alone, without data
 *
 * Every column has `units` and `long_name`; one whose numbers stand for words
 * also `flag_values` and `flag_meanings`. So xarray.open_dataset(path,
 * group="<table>") is the table. Equal rows give equal bytes, however they were
 * batched: no times, no enum or compound types, no data of variable length but
 * texts.
 *
 * Files are sealed (results/seal.h), since HDF5 1.10 trusts the metadata it
 * reads: torn, cut and rotten files never reach it. It runs in a process of its
 * own (sim/apart.h), so a forged file and a lack of memory are errors like
 * others, SIM_EDEP, of any function below. But it is no prison: a file made to
 * take over HDF5 gets what the user may do.
 */
#ifndef RESULTS_H5_TABLE_H
#define RESULTS_H5_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/table.h"

enum { RES_MAX_COLUMNS = 32 };

/* --- writing ---------------------------------------------------------------*/

struct res_h5_out;
struct res_h5_table_out; /* lives as long as its file */

/* Start a file that takes PATH's place when it is finished. Errors SIM_EIO,
 * SIM_EDEP, SIM_ENOMEM. */
int res_h5_out_open(struct res_h5_out **f, const char *path, struct sim_err *e);

int res_h5_out_text(struct res_h5_out *f, const char *name, const char *text,
    struct sim_err *e);
int res_h5_out_counts(struct res_h5_out *f, const char *name, size_t n,
    const uint64_t value[], struct sim_err *e);

/* A new table in chunks of so many rows. F keeps COL[N_COLS], of which none is
 * SIM_OPAQUE.
 * Memory: a row's bytes times CHUNK_ROWS. */
int res_h5_out_table(struct res_h5_out *f, const char *name,
    const struct sim_column col[], size_t n_cols, size_t chunk_rows,
    struct res_h5_table_out **t, struct sim_err *e);

/* Append all rows of TABLE, whose kind is KIND and has the columns of T; or N
 * rows that are structs of ROW_BYTES bytes, with the columns' offsets in them.
 * Errors SIM_EIO ("No space left on device"); then F can only be closed. */
int res_h5_out_append(struct res_h5_table_out *t, const struct sim_table *kind,
    const void *table, struct sim_err *e);
int res_h5_out_rows(struct res_h5_table_out *t, const void *row,
    size_t row_bytes, size_t n, struct sim_err *e);

/* Write what is left, seal, sync and rename. F is closed in any case; after an
 * error PATH is what it was. */
int res_h5_out_finish(struct res_h5_out *f, struct sim_err *e);

/* Close an unfinished file: nothing is left of it. NULL is fine. */
void res_h5_out_discard(struct res_h5_out *f);

/* --- reading ---------------------------------------------------------------*/

struct res_h5_in;
struct res_h5_table_in; /* lives as long as its file */

/* Errors SIM_EIO, SIM_EPARSE (not one of ours, or changed since), SIM_ENOMEM.
 * Messages name PATH; those of the functions below do not. */
int res_h5_in_open(struct res_h5_in **f, const char *path, struct sim_err *e);

/* The same of a file that may be another program's, without a seal. */
int res_h5_in_open_any(struct res_h5_in **f, const char *path,
    struct sim_err *e);
void res_h5_in_close(struct res_h5_in *f);

uint64_t res_h5_in_bytes(const struct res_h5_in *f);

/* 1 if there is a table, or an attribute, of that name, else 0. Errors
 * SIM_EPARSE, SIM_EDEP, SIM_ENOMEM. */
int res_h5_in_has(struct res_h5_in *f, const char *table, struct sim_err *e);
int res_h5_in_has_attr(struct res_h5_in *f, const char *name,
    struct sim_err *e);

/* Errors SIM_EPARSE (missing, or of another type or size), SIM_ENOMEM. The text
 * is to be freed. */
int res_h5_in_text(struct res_h5_in *f, const char *name, char **out,
    struct sim_err *e);
int res_h5_in_counts(struct res_h5_in *f, const char *name, size_t n,
    uint64_t value[], struct sim_err *e);

/* A table that must have these columns, but for optional ones; others are
 * ignored. F keeps COL. *N is its rows. Errors SIM_EPARSE, SIM_ENOMEM. */
int res_h5_in_table(struct res_h5_in *f, const char *name,
    const struct sim_column col[], size_t n_cols, struct res_h5_table_in **t,
    uint64_t *n, struct sim_err *e);

/* 1 if column I is there. */
int res_h5_in_has_column(const struct res_h5_table_in *t, size_t i);

/* Rows FIRST .. FIRST + N - 1, one array a column; zeros of one that is not
 * there. Domain within the table.
 * Errors SIM_EPARSE. */
int res_h5_in_read(struct res_h5_table_in *t, uint64_t first, size_t n,
    void *const column[], struct sim_err *e);

/* The same rows as structs of ROW_BYTES bytes, with the columns' offsets in them.
 * Errors also SIM_ENOMEM. */
int res_h5_in_rows(struct res_h5_table_in *t, uint64_t first, size_t n,
    void *row, size_t row_bytes, struct sim_err *e);

/* Append the same rows to TABLE, whose kind is KIND and has the columns of T.
 * Errors also SIM_ENOMEM; TABLE then has the rows it had before. */
int res_h5_in_append(struct res_h5_table_in *t, uint64_t first, size_t n,
    const struct sim_table *kind, void *table, struct sim_err *e);

#endif
