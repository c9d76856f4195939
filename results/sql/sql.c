/* results/sql/sql.c -- a database of SQLite: opening, statements, rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#define LATE_DEFINE
#include "results/sql/sql.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/sql/sql_parts.h"
#include "sim/vec.h"

/* --- errors ----------------------------------------------------------------*/

/* Which kind of failure an answer of SQLite is. A full disk is one of writing:
 * SQLite has then undone the statement, and what was committed stands. */
static int sql_code(int answer)
{
	switch (answer & 0xff) {
	case SQLITE_NOMEM:
		return SIM_ENOMEM;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* no such table, as of another's database */
	case SQLITE_MISMATCH:
		return SIM_EPARSE;
	case SQLITE_CONSTRAINT:
	case SQLITE_RANGE:
	case SQLITE_TOOBIG:
		return SIM_EINVAL;
	default:
		return SIM_EIO;
	}
}

int res_sql_failed(const struct res_sql *db, const char *what, int answer,
    struct sim_err *e)
{
	const int code = sql_code(answer);
	const int is_damaged = (answer & 0xff) == SQLITE_CORRUPT ||
	    (answer & 0xff) == SQLITE_NOTADB;
	if ((answer & 0xff) == SQLITE_INTERRUPT)
		return sim_fail(e, SIM_EPARSE,
		    "%s: cannot %s: it takes more steps than rows of its size "
		    "can: it is forged, or damaged.",
		    db->file, what);
	return sim_fail(e, code, "%s: cannot %s: %s%s.", db->file, what,
	    sqlite3_errmsg(db->db),
	    is_damaged ? " (`sqlite3 FILE .recover` saves what can be)" : "");
}

/* --- statements ------------------------------------------------------------*/

static int sql_prepare(struct res_sql *db, const char *sql,
    struct res_sql_rows **out, struct sim_err *e)
{
	for (size_t i = 0; i < db->n; i++)
		if (db->rows[i]->sql == sql) {
			*out = db->rows[i];
			return 0;
		}
	struct res_sql_rows *r;
	int rc = SIM_RESERVE(&db->rows, &db->cap, db->n + 1, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&r, 1, e)) < 0)
		return rc;
	const int answer = sqlite3_prepare_v3(db->db, sql, -1,
	    SQLITE_PREPARE_PERSISTENT, &r->statement, NULL);
	if (answer != SQLITE_OK) {
		free(r);
		return res_sql_failed(db, "prepare a statement", answer, e);
	}
	r->db = db;
	r->sql = sql;
	db->rows[db->n++] = *out = r;
	return 0;
}

static int sql_bind(sqlite3_stmt *s, int at, const struct res_sql_value *v)
{
	switch (v->type) {
	case RES_SQL_IS_I64:
		return sqlite3_bind_int64(s, at, v->i64);
	case RES_SQL_IS_F64: /* which SQLite takes for NULL if it is NaN */
		return sqlite3_bind_double(s, at, v->f64);
	case RES_SQL_IS_TEXT:
		return v->bytes
		    ? sqlite3_bind_text(s, at, v->bytes, -1, SQLITE_TRANSIENT)
		    : sqlite3_bind_null(s, at);
	case RES_SQL_IS_BLOB:
		return sqlite3_bind_blob(s, at, v->bytes, (int)v->n,
		    SQLITE_TRANSIENT);
	default:
		return sqlite3_bind_null(s, at);
	}
}

int res_sql_ask_with(struct res_sql_rows **q, struct res_sql *db,
    const char *sql, const struct res_sql_value *value, size_t n,
    struct sim_err *e)
{
	struct res_sql_rows *r = NULL;
	*q = NULL;
	const int rc = sql_prepare(db, sql, &r, e);
	if (rc < 0)
		return rc;
	assert(!r->is_open);
	for (size_t i = 0; i < n; i++) {
		const int answer =
		    sql_bind(r->statement, (int)i + 1, &value[i]);
		if (answer != SQLITE_OK)
			return res_sql_failed(db, "set a value", answer, e);
	}
	r->is_open = 1;
	db->n_steps = 0;
	*q = r;
	return 0;
}

int res_sql_next(struct res_sql_rows *q, struct sim_err *e)
{
	const int answer = sqlite3_step(q->statement);
	if (answer == SQLITE_ROW)
		return 1;
	return answer == SQLITE_DONE
	    ? 0
	    : res_sql_failed(q->db, "read or write", answer, e);
}

void res_sql_done(struct res_sql_rows *q)
{
	if (!q)
		return;
	sqlite3_reset(q->statement);
	sqlite3_clear_bindings(q->statement);
	q->is_open = 0;
}

int res_sql_run_with(struct res_sql *db, const char *sql,
    const struct res_sql_value *value, size_t n, int64_t *n_changed,
    struct sim_err *e)
{
	struct res_sql_rows *q;
	int rc = res_sql_ask_with(&q, db, sql, value, n, e);
	while (rc >= 0 && (rc = res_sql_next(q, e)) > 0)
		;
	if (rc == 0 && n_changed)
		*n_changed = sqlite3_changes(db->db);
	res_sql_done(q);
	return rc;
}

int res_sql_one(struct res_sql *db, const char *sql,
    const struct res_sql_value *value, size_t n, int64_t default_, int64_t *x,
    struct sim_err *e)
{
	struct res_sql_rows *q;
	*x = default_;
	int rc = res_sql_ask_with(&q, db, sql, value, n, e);
	if (rc == 0 && (rc = res_sql_next(q, e)) > 0 &&
	    res_sql_type(q, 0) != RES_SQL_IS_NULL)
		*x = res_sql_i64(q, 0);
	res_sql_done(q);
	return rc < 0 ? rc : 0;
}

int res_sql_begin(struct res_sql *db, struct sim_err *e)
{
	return res_sql_run(db, e,
	    db->mode == RES_SQL_WRITE ? "BEGIN IMMEDIATE" : "BEGIN");
}

int res_sql_commit(struct res_sql *db, struct sim_err *e)
{
	return res_sql_run(db, e, "COMMIT");
}

void res_sql_rollback(struct res_sql *db)
{
	/* A failed commit may have ended the transaction by itself. */
	if (!sqlite3_get_autocommit(db->db))
		sqlite3_exec(db->db, "ROLLBACK", NULL, NULL, NULL);
}

/* --- columns ---------------------------------------------------------------*/

int res_sql_n_columns(const struct res_sql_rows *q)
{
	return sqlite3_column_count(q->statement);
}

const char *res_sql_name(const struct res_sql_rows *q, int i)
{
	return sqlite3_column_name(q->statement, i);
}

enum res_sql_type res_sql_type(const struct res_sql_rows *q, int i)
{
	switch (sqlite3_column_type(q->statement, i)) {
	case SQLITE_INTEGER:
		return RES_SQL_IS_I64;
	case SQLITE_FLOAT:
		return RES_SQL_IS_F64;
	case SQLITE_TEXT:
		return RES_SQL_IS_TEXT;
	case SQLITE_BLOB:
		return RES_SQL_IS_BLOB;
	default:
		return RES_SQL_IS_NULL;
	}
}

int64_t res_sql_i64(const struct res_sql_rows *q, int i)
{
	return sqlite3_column_int64(q->statement, i);
}

double res_sql_f64(const struct res_sql_rows *q, int i)
{
	return res_sql_type(q, i) == RES_SQL_IS_NULL
	    ? NAN
	    : sqlite3_column_double(q->statement, i);
}

const char *res_sql_text(const struct res_sql_rows *q, int i)
{
	return (const char *)sqlite3_column_text(q->statement, i);
}

const void *res_sql_blob(const struct res_sql_rows *q, int i, size_t *n)
{
	const void *bytes = sqlite3_column_blob(q->statement, i);
	*n = (size_t)sqlite3_column_bytes(q->statement, i);
	return bytes;
}

/* --- opening ---------------------------------------------------------------*/

int res_sql_set(struct res_sql *db, const char *sql, const char *what,
    struct sim_err *e)
{
	db->n_steps = 0;
	const int answer = sqlite3_exec(db->db, sql, NULL, NULL, NULL);
	return answer == SQLITE_OK ? 0 : res_sql_failed(db, what, answer, e);
}

static int sql_connect(struct res_sql *db, struct sim_err *e)
{
	const int flags = db->mode == RES_SQL_WRITE
	    ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
	    : SQLITE_OPEN_READONLY;
	const int answer = sqlite3_open_v2(db->file, &db->db,
	    flags | SQLITE_OPEN_NOMUTEX, NULL);
	if (!db->db)
		return sim_fail(e, SIM_ENOMEM, "no memory for a database.");
	if (answer != SQLITE_OK)
		return res_sql_failed(db, "open it", answer, e);
	sqlite3_busy_timeout(db->db, RES_SQL_WAIT_MS);
	const int rc = res_sql_bound(db, e);
	return rc < 0
	    ? rc
	    : res_sql_set(db, "PRAGMA foreign_keys = ON", "open it", e);
}

/* The first word of `PRAGMA quick_check` is "ok", or what is damaged. */
static int sql_check(struct res_sql *db, struct sim_err *e)
{
	struct res_sql_rows *q;
	int rc = res_sql_ask(&q, db, e, "PRAGMA quick_check(1)");
	if (rc == 0 && (rc = res_sql_next(q, e)) > 0) {
		const char *says = res_sql_text(q, 0);
		rc = says && strcmp(says, "ok") == 0
		    ? 0
		    : sim_fail(e, SIM_EPARSE,
			  "%s is damaged: %.200s (`sqlite3 FILE .recover` "
			  "saves "
			  "what can be).",
			  db->file, says ? says : "?");
	}
	res_sql_done(q);
	return rc;
}

static int sql_begin_to_write(struct res_sql *db, struct sim_err *e)
{
	int64_t version;
	int rc = res_sql_lock(db, e);
	/* auto_vacuum is to be chosen before the first table. With a write-ahead
	 * log NORMAL syncs now and then and not with each commit: a loss of power
	 * may undo the last of them, in order, and spoils nothing. */
	if (rc < 0 || (rc = res_sql_check_log(db, e)) < 0 ||
	    (rc = sql_connect(db, e)) < 0 || (rc = res_sql_claim(db, e)) < 0 ||
	    (rc = res_sql_set(db,
		 "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; "
		 "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY",
		 "open it", e)) < 0 ||
	    (rc = sql_check(db, e)) < 0 ||
	    (rc = res_sql_version(db, &version, e)) < 0)
		return rc;
	/* What is refused stays as it was, for the program that made it. */
	if (version != RES_SQL_VERSION &&
	    (rc = res_sql_check_schema(db, e)) < 0)
		return rc;
	rc = res_sql_migrate(db, res_sql_steps, RES_SQL_VERSION, e);
	return rc < 0 ? rc : res_sql_check_schema(db, e);
}

/* SQLite takes a device for an empty file, and a folder for a broken disk. */
static int sql_check_kind(const char *file, struct sim_err *e)
{
	struct stat is;
	return stat(file, &is) < 0 || S_ISREG(is.st_mode)
	    ? 0
	    : sim_fail(e, SIM_EIO, "cannot open %s: not a file.", file);
}

int res_sql_open(struct res_sql **out, const char *file, enum res_sql_mode mode,
    struct sim_err *e)
{
	struct res_sql *db;
	*out = NULL;
	int rc = sql_check_kind(file, e);
	if (rc < 0 || (rc = sim_late_load(&late_sqlite3_library, e)) < 0 ||
	    (rc = SIM_ZALLOC(&db, 1, e)) < 0)
		return rc;
	db->lock_fd = -1;
	db->mode = mode;
	db->file = strdup(file);
	if (!db->file)
		rc = sim_fail(e, SIM_ENOMEM, "no memory.");
	else if (mode == RES_SQL_WRITE)
		rc = sql_begin_to_write(db, e);
	else if ((rc = res_sql_check_log(db, e)) == 0 &&
	    (rc = sql_connect(db, e)) == 0)
		rc = res_sql_check_version(db, RES_SQL_VERSION, e);
	if (rc == 0 && mode == RES_SQL_READ)
		rc = res_sql_check_schema(db, e);
	if (rc < 0) {
		res_sql_close(db);
		return rc;
	}
	*out = db;
	return 0;
}

void res_sql_end(struct res_sql *db)
{
	for (size_t i = 0; i < db->n; i++) {
		sqlite3_finalize(db->rows[i]->statement);
		free(db->rows[i]);
	}
	free(db->rows);
	if (db->db)
		sqlite3_close(db->db);
}

void res_sql_close(struct res_sql *db)
{
	if (!db)
		return;
	res_sql_end(db);
	if (db->lock_fd >= 0)
		close(db->lock_fd);
	free(db->file);
	free(db);
}
