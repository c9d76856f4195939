/* sim/table.h -- tables made from one list of columns, as structs of arrays.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	#define OBS_PERF_COLUMNS(X)                                     \
 *		X(uint64_t, end_ns, "ns", "end of the window")          \
 *		X(uint32_t, host, "1", "host id")
 *	struct obs_perf { SIM_TABLE_ARRAYS(OBS_PERF_COLUMNS) };
 *	struct obs_perf_row { SIM_TABLE_FIELDS(OBS_PERF_COLUMNS) };
 *	SIM_TABLE(obs_perf, obs_perf_row, OBS_PERF_COLUMNS)
 *
 * makes the two structs, obs_perf_reserve(), _add(), _at(), _clear() and
 * _free(), and obs_perf_kind(), which tells code that knows no particular table
 * (results/h5_table.h) names, types, units and meanings. Row i of every array
 * is record i. The structs may have other members besides. A zeroed table is
 * empty. */
#ifndef SIM_TABLE_H
#define SIM_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

enum sim_type {
	SIM_U8,
	SIM_U16,
	SIM_U32,
	SIM_U64,
	SIM_I64,
	SIM_F64,
	SIM_NAME, /* struct sim_name */
	SIM_N_TYPES,
	SIM_OPAQUE = SIM_N_TYPES /* any other; in memory only */
};

/* A text as a value. What is longer is cut where it is read, and a reader who
 * has limits of his own should set them lower. */
struct sim_name {
	char text[64];
};

struct sim_column {
	const char *name;
	enum sim_type type;
	size_t offset; /* in a row's struct */
	const char *unit, *doc;
	const char *const *words; /* of 0, 1, ..., NULL-terminated; or NULL */
	size_t size, array; /* of a value; offset of the table's pointer */
	uint8_t optional;   /* a file may be without it: zeros are read */
};

struct sim_table {
	const struct sim_column *column;
	size_t n_columns;
	size_t size, n, cap; /* of the table's struct; offsets in it */
};

/* Make room for N more rows in TABLE, whose kind is KIND. On failure the table
 * is unchanged. Errors SIM_ENOMEM. */
int sim_table_reserve(const struct sim_table *kind, void *table, size_t n,
    struct sim_err *e);
void sim_table_free(const struct sim_table *kind, void *table);

void sim_table_clear(const struct sim_table *kind, void *table);
size_t sim_table_n(const struct sim_table *kind, const void *table);

/* The values of column I from row FIRST on. */
void *sim_table_at(const struct sim_table *kind, const void *table, size_t i,
    size_t first);

/* N rows were put behind the others, into room that was reserved. */
void sim_table_added(const struct sim_table *kind, void *table, size_t n);

/* Of the rows from FIRST on keep those whose first column, which is their time,
 * is from FROM to TO, both included. Cost O(rows * columns). */
void sim_table_keep(const struct sim_table *kind, void *table, size_t first,
    uint64_t from, uint64_t to);

/* --- the macros ------------------------------------------------------------*/
/* clang-format off */

#define SIM_TYPE_OF(type)                                                      \
	_Generic((type *)0,                                                    \
	    uint8_t *: SIM_U8,                                                 \
	    uint16_t *: SIM_U16,                                               \
	    uint32_t *: SIM_U32,                                               \
	    uint64_t *: SIM_U64,                                               \
	    int64_t *: SIM_I64,                                                \
	    double *: SIM_F64,                                                 \
	    struct sim_name *: SIM_NAME,                                       \
	    default: SIM_OPAQUE)
/* A column of rows that are structs. */
#define SIM_COLUMN(type, name, offset, unit, doc, words)                       \
	{#name, SIM_TYPE_OF(type), offset, unit, doc, words, sizeof(type), 0, 0}

#define SIM_TABLE_ARRAYS(COLUMNS)                                              \
	size_t n, cap;                                                         \
	COLUMNS(SIM_TABLE_ARRAY_)
#define SIM_TABLE_FIELDS(COLUMNS) COLUMNS(SIM_TABLE_FIELD_)

#define SIM_TABLE_ARRAY_(type, name, unit, doc) type *name;
#define SIM_TABLE_FIELD_(type, name, unit, doc) type name;
#define SIM_TABLE_PUT_(type, name, unit, doc) t->name[t->n] = row->name;
#define SIM_TABLE_GET_(type, name, unit, doc) .name = t->name[i],
#define SIM_TABLE_COLUMN_(type, name, unit, doc)                               \
	{#name, SIM_TYPE_OF(type), offsetof(struct_row, name), unit, doc,      \
	    NULL, sizeof(type), offsetof(struct_table, name), 0},

/* _reserve(t, n, e)  room for N more rows. Errors SIM_ENOMEM (table unchanged)
 * _add(t, row, e)    append a row. Errors SIM_ENOMEM (table unchanged). Cost:
 *                    O(1) amortised, and inline: millions of rows pass here
 * _put(t, row)       the same into room that was reserved
 * _at(t, i)          row I. Domain i < n
 * _clear(t)          empty it, keep its memory and its other members
 * _free(t)           free it and zero it, with its other members */
#define SIM_TABLE(table, row_, COLUMNS)                                        \
	static inline const struct sim_table *table##_kind(void)               \
	{                                                                      \
		typedef struct table struct_table;                             \
		typedef struct row_ struct_row;                                \
		static const struct sim_column column[] = {                    \
		    COLUMNS(SIM_TABLE_COLUMN_)};                               \
		static const struct sim_table kind = {column,                  \
		    sizeof(column) / sizeof(column[0]), sizeof(struct table),  \
		    offsetof(struct table, n), offsetof(struct table, cap)};   \
		return &kind;                                                  \
	}                                                                      \
	static inline int table##_reserve(struct table *t, size_t n,           \
	    struct sim_err *e)                                                 \
	{                                                                      \
		return n <= t->cap - t->n                                      \
		    ? 0                                                        \
		    : sim_table_reserve(table##_kind(), t, n, e);              \
	}                                                                      \
	static inline void table##_put(struct table *t,                        \
	    const struct row_ *row)                                            \
	{                                                                      \
		COLUMNS(SIM_TABLE_PUT_)                                        \
		t->n++;                                                        \
	}                                                                      \
	static inline int table##_add(struct table *t, const struct row_ *row, \
	    struct sim_err *e)                                                 \
	{                                                                      \
		const int rc = table##_reserve(t, 1, e);                       \
		if (rc == 0)                                                   \
			table##_put(t, row);                                   \
		return rc;                                                     \
	}                                                                      \
	static inline struct row_ table##_at(const struct table *t, size_t i)  \
	{                                                                      \
		return (struct row_){COLUMNS(SIM_TABLE_GET_)};                 \
	}                                                                      \
	static inline void table##_clear(struct table *t)                      \
	{                                                                      \
		t->n = 0;                                                      \
	}                                                                      \
	static inline void table##_free(struct table *t)                       \
	{                                                                      \
		sim_table_free(table##_kind(), t);                             \
	}

/* clang-format on */

#endif
