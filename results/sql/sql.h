/* results/sql/sql.h -- a database of SQLite that a job writes and others read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tables are those of schema.sql. What is written is written in transactions:
 * a kill at any moment leaves the database as it was before one, or after it. So
 * does a loss of power, but that one may be the last but a few: commits are synced
 * together (`synchronous = NORMAL` with a write-ahead log), when some 4 MB are
 * written, at res_sql_shrink() and when the last one who has it open closes it.
 * What is lost is the newest, in order; windows are then made again.
 *
 * One process writes, who holds FILE.lock; any number reads meanwhile. A log,
 * FILE-wal, that is of another file than FILE is refused. A program that was built
 * without SQLite says so.
 *
 *	res_sql_begin(db, e);
 *	res_sql_run(db, e, "INSERT INTO meta VALUES (?, ?)", RES_SQL_TEXT("a"),
 *	    RES_SQL_TEXT("b"));
 *	res_sql_commit(db, e);
 *
 *	res_sql_ask(&q, db, e, "SELECT value FROM meta WHERE key = ?",
 *	    RES_SQL_TEXT("a"));
 *	while ((rc = res_sql_next(q, e)) > 0)
 *		puts(res_sql_text(q, 0));
 *	res_sql_done(q);
 */
#ifndef RESULTS_SQL_SQL_H
#define RESULTS_SQL_SQL_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

struct res_sql;

/* The version of the tables, PRAGMA user_version. */
enum { RES_SQL_VERSION = 3 };

enum res_sql_mode { RES_SQL_READ, RES_SQL_WRITE };

/* Open the database FILE. To write, it is made if it is missing, locked against a
 * second writer until close, checked, and brought to this version in one
 * transaction. A version that is newer is refused, and to a reader an older one
 * too. Errors SIM_EIO (cannot be read or written; another process writes it),
 * SIM_EPARSE (no such database, or damaged), SIM_EMISMATCH (version, or a log of
 * another file),
 * SIM_EUNSUPPORTED, SIM_EDEP, SIM_ENOMEM. Cost to write O(bytes). */
int res_sql_open(struct res_sql **db, const char *file, enum res_sql_mode mode,
    struct sim_err *e);

/* A transaction that is open is given up. NULL is fine. */
void res_sql_close(struct res_sql *db);

/* --- values ----------------------------------------------------------------*/

enum res_sql_type {
	RES_SQL_IS_NULL,
	RES_SQL_IS_I64,
	RES_SQL_IS_F64,
	RES_SQL_IS_TEXT,
	RES_SQL_IS_BLOB
};

/* Texts and bytes are borrowed for the length of a call. */
struct res_sql_value {
	enum res_sql_type type;
	int64_t i64;
	double f64; /* NaN is NULL */
	const void *bytes;
	size_t n;
};

#define RES_SQL_I64(x)                                                         \
	((struct res_sql_value){.type = RES_SQL_IS_I64, .i64 = (int64_t)(x)})
#define RES_SQL_F64(x)                                                         \
	((struct res_sql_value){.type = RES_SQL_IS_F64, .f64 = (x)})
/* NULL is NULL. */
#define RES_SQL_TEXT(x)                                                        \
	((struct res_sql_value){.type = RES_SQL_IS_TEXT, .bytes = (x)})
#define RES_SQL_BLOB(x, size)                                                  \
	((struct res_sql_value){.type = RES_SQL_IS_BLOB,                       \
	    .bytes = (x),                                                      \
	    .n = (size)})
#define RES_SQL_NULL ((struct res_sql_value){.type = RES_SQL_IS_NULL})

#define RES_SQL_VALUES(...)                                                    \
	(const struct res_sql_value[]){RES_SQL_NULL, ##__VA_ARGS__} + 1,       \
	    sizeof((struct res_sql_value[]){RES_SQL_NULL, ##__VA_ARGS__}) /    \
		sizeof(struct res_sql_value) -                                 \
	    1

/* --- statements ------------------------------------------------------------
 * SQL is a text that lives as long as the database is open, as a literal does: it
 * is prepared once. Errors SIM_EIO (also a full disk: the transaction is then to
 * be given up, and what was committed stays), SIM_EPARSE (damaged, or not such a
 * table), SIM_EINVAL (a row that a table refuses), SIM_ENOMEM. */

int res_sql_begin(struct res_sql *db, struct sim_err *e);
int res_sql_commit(struct res_sql *db, struct sim_err *e);
void res_sql_rollback(struct res_sql *db); /* also if there is none */

/* A statement without rows. *N_CHANGED may be NULL. */
int res_sql_run_with(struct res_sql *db, const char *sql,
    const struct res_sql_value *value, size_t n, int64_t *n_changed,
    struct sim_err *e);
#define res_sql_run(db, e, sql, ...)                                           \
	res_sql_run_with((db), (sql), RES_SQL_VALUES(__VA_ARGS__), NULL, (e))

/* Rows of a query. No other query of the same SQL is open meanwhile; Q ends with
 * res_sql_done(), which takes NULL too. */
struct res_sql_rows;
int res_sql_ask_with(struct res_sql_rows **q, struct res_sql *db,
    const char *sql, const struct res_sql_value *value, size_t n,
    struct sim_err *e);
#define res_sql_ask(q, db, e, sql, ...)                                        \
	res_sql_ask_with((q), (db), (sql), RES_SQL_VALUES(__VA_ARGS__), (e))
int res_sql_next(struct res_sql_rows *q,
    struct sim_err *e); /* 1, 0 at the end */
void res_sql_done(struct res_sql_rows *q);

/* Of the row, column I from 0. Texts and bytes live until the next row; of NULL
 * 0, NaN, NULL. */
int res_sql_n_columns(const struct res_sql_rows *q);
const char *res_sql_name(const struct res_sql_rows *q, int i);
enum res_sql_type res_sql_type(const struct res_sql_rows *q, int i);
int64_t res_sql_i64(const struct res_sql_rows *q, int i);
double res_sql_f64(const struct res_sql_rows *q, int i);
const char *res_sql_text(const struct res_sql_rows *q, int i);
const void *res_sql_blob(const struct res_sql_rows *q, int i, size_t *n);

/* The first value of the first row as a number; DEFAULT_ if there is none. */
int res_sql_one(struct res_sql *db, const char *sql,
    const struct res_sql_value *value, size_t n, int64_t default_, int64_t *x,
    struct sim_err *e);

/* --- upkeep ----------------------------------------------------------------*/

/* The steps from version to version: STEP[v] leads from V to V + 1, a text of
 * statements, its lines one by one and then NULL. */
int res_sql_migrate(struct res_sql *db, const char *const *const step[],
    int n_steps, struct sim_err *e);

/* How long rows are kept, in days; 0: for ever. */
struct res_sql_keep {
	uint32_t windows; /* and all of them */
	uint32_t servers; /* rows of `sla` of servers */
	uint32_t
	    histograms; /* and time_counts, of which longer windows are merged */
};
#define RES_SQL_KEEP ((struct res_sql_keep){60, 7, 3})

/* Let go what is older at NOW_NS. Cost O(rows that go). */
int res_sql_retain(struct res_sql *db, const struct res_sql_keep *keep,
    int64_t now_ns, struct sim_err *e);

/* Give what rows took that are gone back to the file system. Outside a
 * transaction. Cost O(bytes that go). */
int res_sql_shrink(struct res_sql *db, struct sim_err *e);

#endif
