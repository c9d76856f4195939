/* results/sql/sql_upkeep.c -- versions of the tables, and how long rows stay.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/sql/sql_parts.h"
#include "sim/vec.h"

/* --- versions --------------------------------------------------------------*/

static const char *const sql_version_1[] = {
#include "results/sql/schema.sql.h"
};

static const char *const sql_version_2[] = {
#include "results/sql/schema_2.sql.h"
};

static const char *const sql_version_3[] = {
#include "results/sql/schema_3.sql.h"
};

/* A new version is a new step: those before it are never changed but for their
 * comments, as databases are about that were made by them. */
const char *const *const res_sql_steps[RES_SQL_VERSION] = {sql_version_1,
    sql_version_2, sql_version_3};

static int sql_pragma(struct res_sql *db, const char *sql, int64_t *x,
    struct sim_err *e)
{
	return res_sql_one(db, sql, NULL, 0, 0, x, e);
}

int res_sql_version(struct res_sql *db, int64_t *version, struct sim_err *e)
{
	int64_t whose, n_tables;
	int rc;
	if ((rc = sql_pragma(db, "PRAGMA user_version", version, e)) < 0 ||
	    (rc = sql_pragma(db, "PRAGMA application_id", &whose, e)) < 0 ||
	    (rc = sql_pragma(db, "SELECT count(*) FROM sqlite_master",
		 &n_tables, e)) < 0)
		return rc;
	if (whose != RES_SQL_APPLICATION && (whose || *version || n_tables))
		return sim_fail(e, SIM_EPARSE,
		    "%s is a database of another program.", db->file);
	return 0;
}

int res_sql_check_version(struct res_sql *db, int version, struct sim_err *e)
{
	int64_t is;
	const int rc = res_sql_version(db, &is, e);
	if (rc < 0 || is == version)
		return rc;
	if (is == 0)
		return sim_fail(e, SIM_EMISMATCH,
		    "%s is empty: no database of windows, of which `culprit "
		    "jobs --continuous` makes one.",
		    db->file);
	return is > version
	    ? sim_fail(e, SIM_EMISMATCH,
		  "%s has tables of version %" PRId64
		  ", and this program knows those up to %d.",
		  db->file, is, version)
	    : sim_fail(e, SIM_EMISMATCH,
		  "%s has tables of version %" PRId64
		  ", and %d is read: `culprit jobs --continuous` brings it "
		  "up to that.",
		  db->file, is, version);
}

/* The lines of a step as one text, to be freed. */
static int sql_join(char **text, const char *const line[], struct sim_err *e)
{
	size_t n = 0;
	for (size_t i = 0; line[i]; i++)
		n += strlen(line[i]);
	const int rc = SIM_ZALLOC(text, n + 1, e);
	char *at = *text;
	for (size_t i = 0; rc == 0 && line[i]; i++)
		at = stpcpy(at, line[i]);
	return rc;
}

static int sql_take_step(struct res_sql *db, const char *const line[], int to,
    struct sim_err *e)
{
	char *text = NULL, version[128];
	int rc = sql_join(&text, line, e);
	snprintf(version, sizeof(version),
	    "PRAGMA user_version = %d; PRAGMA application_id = %d", to,
	    RES_SQL_APPLICATION);
	if (rc == 0)
		rc = res_sql_set(db, text, "make its tables", e);
	if (rc == 0)
		rc = res_sql_set(db, version, "make its tables", e);
	free(text);
	return rc;
}

int res_sql_migrate(struct res_sql *db, const char *const *const step[],
    int n_steps, struct sim_err *e)
{
	int64_t version;
	int rc = res_sql_version(db, &version, e);
	if (rc < 0)
		return rc;
	if (version < 0 || version > n_steps)
		return res_sql_check_version(db, n_steps, e);
	if (version == n_steps)
		return 0;
	/* All steps or none: a kill in between leaves the version as it was. */
	if ((rc = res_sql_begin(db, e)) < 0)
		return rc;
	for (int v = (int)version; rc == 0 && v < n_steps; v++)
		rc = sql_take_step(db, step[v], v + 1, e);
	if (rc < 0 || (rc = res_sql_commit(db, e)) < 0)
		res_sql_rollback(db);
	return rc;
}

/* --- how long rows stay ----------------------------------------------------*/

/* A few windows at a time, as SQLite lists what goes before it goes. */
static int sql_let_go(struct res_sql *db, const char *sql, int64_t before,
    struct sim_err *e)
{
	int64_t n = 1;
	int rc = 0;
	while (rc == 0 && n > 0)
		rc = res_sql_run_with(db, sql,
		    RES_SQL_VALUES(RES_SQL_I64(before)), &n, e);
	return rc;
}

/* The least id of a window that begins no earlier than DAYS before NOW_NS; ids go
 * up with time (schema.sql). */
static int64_t sql_first_kept(int64_t now_ns, uint32_t days)
{
	const int64_t from_s = now_ns / 1000000000 - (int64_t)days * 86400;
	return days == 0 || from_s < 0 ? 0 : from_s * 4;
}

int res_sql_retain(struct res_sql *db, const struct res_sql_keep *keep,
    int64_t now_ns, struct sim_err *e)
{
	int rc;
	if ((rc = sql_let_go(db,
		 "DELETE FROM window WHERE id IN (SELECT id FROM window "
		 "WHERE id < ? ORDER BY id LIMIT 64)",
		 sql_first_kept(now_ns, keep->windows), e)) < 0 ||
	    (rc = sql_let_go(db,
		 "DELETE FROM histogram WHERE window IN (SELECT DISTINCT "
		 "window FROM histogram WHERE window < ? LIMIT 64)",
		 sql_first_kept(now_ns, keep->histograms), e)) < 0 ||
	    (rc = sql_let_go(db,
		 "DELETE FROM time_counts WHERE window IN (SELECT DISTINCT "
		 "window FROM time_counts WHERE window < ? LIMIT 64)",
		 sql_first_kept(now_ns, keep->histograms), e)) < 0 ||
	    (rc = sql_let_go(db,
		 "DELETE FROM sla WHERE scope = 'server' AND window IN (SELECT "
		 "DISTINCT window FROM sla WHERE window < ? AND scope = "
		 "'server' LIMIT 64)",
		 sql_first_kept(now_ns, keep->servers), e)) < 0)
		return rc;
	return 0;
}

/* The pages go, and so does the log. */
int res_sql_shrink(struct res_sql *db, struct sim_err *e)
{
	const int rc = res_sql_run(db, e, "PRAGMA incremental_vacuum");
	return rc < 0 ? rc
		      : res_sql_run(db, e, "PRAGMA wal_checkpoint(TRUNCATE)");
}
