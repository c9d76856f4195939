/* results/sql/sql_parts.h -- what the files of a database share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_SQL_SQL_PARTS_H
#define RESULTS_SQL_SQL_PARTS_H

#include "results/sql/sql.h"
#include "results/sql/sqlite3.late.h"

/* "CULP": whose file it is, so that nobody's other database is written to. */
enum { RES_SQL_APPLICATION = 0x43554c50, RES_SQL_WAIT_MS = 5000 };

struct res_sql_rows {
	struct res_sql *db;
	const char *sql;
	sqlite3_stmt *statement;
	int is_open;
};

struct res_sql {
	char *file;
	sqlite3 *db;
	int lock_fd;
	enum res_sql_mode mode;
	uint64_t n_steps;           /* of the statement that runs, about */
	struct res_sql_rows **rows; /* [n], prepared */
	size_t n, cap;
};

/* Hold FILE.lock until the database is closed. Errors SIM_EIO. */
int res_sql_lock(struct res_sql *db, struct sim_err *e);

/* Errors SIM_EMISMATCH, if there is a log, of another file than FILE. */
int res_sql_check_log(const struct res_sql *db, struct sim_err *e);

/* From here on a log is of this FILE. Errors SIM_EIO. */
int res_sql_claim(const struct res_sql *db, struct sim_err *e);

/* Limits for what is run on a file that may be forged. Errors SIM_EIO. */
int res_sql_bound(struct res_sql *db, struct sim_err *e);

/* Errors SIM_EPARSE, if a table or view is not as we make it in the version that DB
 * has, comments and blanks apart, or if there are triggers; SIM_EMISMATCH, if that
 * is none of ours. What others add besides is theirs. */
int res_sql_check_schema(struct res_sql *db, struct sim_err *e);

/* Statements and connection, of a database that is not res_sql_open()'s. */
void res_sql_end(struct res_sql *db);

/* Steps from version to version; see res_sql_migrate(). */
extern const char *const *const res_sql_steps[];

/* What SQLite answered, as an error: "FILE: cannot WHAT: why." */
int res_sql_failed(const struct res_sql *db, const char *what, int answer,
    struct sim_err *e);

/* Statements without rows that matter; WHAT as above. */
int res_sql_set(struct res_sql *db, const char *sql, const char *what,
    struct sim_err *e);

/* *VERSION is that of the tables; 0: there are none. Errors SIM_EPARSE, of another
 * program's database. */
int res_sql_version(struct res_sql *db, int64_t *version, struct sim_err *e);

/* Errors SIM_EMISMATCH, unless the tables are of version VERSION. */
int res_sql_check_version(struct res_sql *db, int version, struct sim_err *e);

#endif
