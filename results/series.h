/* results/series.h -- tables that grow in time, read by time.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	/NAME         the table: its first column is a row's time, about ascending
 *	/NAME_index   first_ns, last_ns: least and greatest time of each chunk
 *
 * As recordings (results/recording.h) and files of traces (results/traces.h)
 * have them. Who asks for a span of time unpacks the few chunks that have any of
 * it.
 */
#ifndef RESULTS_SERIES_H
#define RESULTS_SERIES_H

#include "results/h5_table.h"
#include "sim/time.h"

/* What one is. */
struct res_series {
	const char *name, *index; /* INDEX NULL: few rows, and none */
	size_t chunk_rows;
	uint8_t ends; /* rows sum up what ended at their time */
	const struct sim_table *(*kind)(void);
};

/*  X(type, column, units, meaning) */
#define RES_INDEX_COLUMNS(X)                                                   \
	X(sim_ns, first_ns, "ns", "least time of a chunk")                     \
	X(sim_ns, last_ns, "ns", "greatest time of it")
struct res_index {
	SIM_TABLE_ARRAYS(RES_INDEX_COLUMNS)
};
struct res_index_row {
	SIM_TABLE_FIELDS(RES_INDEX_COLUMNS)
};
SIM_TABLE(res_index, res_index_row, RES_INDEX_COLUMNS)

/* --- writing ---------------------------------------------------------------*/

/* Zeroed is empty. */
struct res_series_out {
	const struct res_series *is;
	struct res_h5_table_out *rows, *index;
	struct res_index spans; /* of its chunks */
	uint64_t n;             /* rows */
};

/* Make the groups in F, which S goes with. COL, which F keeps, are the columns
 * with what is said of them; NULL: as of the table. Errors as
 * res_h5_out_table(). */
int res_series_create(struct res_series_out *s, const struct res_series *is,
    const struct sim_column col[], struct res_h5_out *f, struct sim_err *e);

/* Append all rows of TABLE. Errors SIM_EIO, SIM_ENOMEM; then F can only be
 * closed. */
int res_series_append(struct res_series_out *s, const void *table,
    struct sim_err *e);

/* Append the index, before F is finished. Errors as above. */
int res_series_finish(struct res_series_out *s, struct sim_err *e);
void res_series_out_free(struct res_series_out *s);

/* --- reading ---------------------------------------------------------------*/

/* Zeroed is empty. */
struct res_series_in {
	const struct res_series *is;
	struct res_h5_table_in *rows;
	uint64_t n;             /* rows */
	struct res_index spans; /* of its chunks, if it has an index */
};

/* Errors SIM_EPARSE (not there, or with another number of chunks than its index
 * has), SIM_ENOMEM. */
int res_series_open(struct res_series_in *s, const struct res_series *is,
    struct res_h5_in *f, struct sim_err *e);
void res_series_in_free(struct res_series_in *s);

/* Append to TABLE the rows of [FROM, TO) or, where rows sum up what ended, of
 * (FROM, TO], in the order of the file. Errors SIM_EPARSE, SIM_ENOMEM. Cost
 * O(rows of the chunks that the span falls into), or of all rows where there is
 * no index. */
int res_series_get(struct res_series_in *s, sim_ns from, sim_ns to, void *table,
    struct sim_err *e);

/* Append all rows of a table that is no series. Errors as res_h5_in_table(). */
int res_series_all_rows(struct res_h5_in *f, const char *name,
    const struct sim_table *kind, void *table, struct sim_err *e);

#endif
