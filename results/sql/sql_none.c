/* results/sql/sql_none.c -- sql.h of a program without SQLite.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "results/sql/sql.h"

static int sql_is_none(struct sim_err *e)
{
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "This program was built without SQLite, which databases take: "
	    "install libsqlite3-dev and build again.");
}

int res_sql_open(struct res_sql **db, const char *file, enum res_sql_mode mode,
    struct sim_err *e)
{
	(void)file;
	(void)mode;
	*db = NULL;
	return sql_is_none(e);
}

void res_sql_close(struct res_sql *db)
{
	(void)db;
}

int res_sql_begin(struct res_sql *db, struct sim_err *e)
{
	(void)db;
	return sql_is_none(e);
}

int res_sql_commit(struct res_sql *db, struct sim_err *e)
{
	(void)db;
	return sql_is_none(e);
}

void res_sql_rollback(struct res_sql *db)
{
	(void)db;
}

int res_sql_run_with(struct res_sql *db, const char *sql,
    const struct res_sql_value *value, size_t n, int64_t *n_changed,
    struct sim_err *e)
{
	(void)db;
	(void)sql;
	(void)value;
	(void)n;
	(void)n_changed;
	return sql_is_none(e);
}

int res_sql_ask_with(struct res_sql_rows **q, struct res_sql *db,
    const char *sql, const struct res_sql_value *value, size_t n,
    struct sim_err *e)
{
	(void)db;
	(void)sql;
	(void)value;
	(void)n;
	*q = NULL;
	return sql_is_none(e);
}

int res_sql_next(struct res_sql_rows *q, struct sim_err *e)
{
	(void)q;
	return sql_is_none(e);
}

void res_sql_done(struct res_sql_rows *q)
{
	(void)q;
}

int res_sql_n_columns(const struct res_sql_rows *q)
{
	(void)q;
	return 0;
}

const char *res_sql_name(const struct res_sql_rows *q, int i)
{
	(void)q;
	(void)i;
	return "";
}

enum res_sql_type res_sql_type(const struct res_sql_rows *q, int i)
{
	(void)q;
	(void)i;
	return RES_SQL_IS_NULL;
}

int64_t res_sql_i64(const struct res_sql_rows *q, int i)
{
	(void)q;
	(void)i;
	return 0;
}

double res_sql_f64(const struct res_sql_rows *q, int i)
{
	(void)q;
	(void)i;
	return NAN;
}

const char *res_sql_text(const struct res_sql_rows *q, int i)
{
	(void)q;
	(void)i;
	return NULL;
}

const void *res_sql_blob(const struct res_sql_rows *q, int i, size_t *n)
{
	(void)q;
	(void)i;
	*n = 0;
	return NULL;
}

int res_sql_one(struct res_sql *db, const char *sql,
    const struct res_sql_value *value, size_t n, int64_t default_, int64_t *x,
    struct sim_err *e)
{
	(void)db;
	(void)sql;
	(void)value;
	(void)n;
	*x = default_;
	return sql_is_none(e);
}

int res_sql_migrate(struct res_sql *db, const char *const *const step[],
    int n_steps, struct sim_err *e)
{
	(void)db;
	(void)step;
	(void)n_steps;
	return sql_is_none(e);
}

int res_sql_retain(struct res_sql *db, const struct res_sql_keep *keep,
    int64_t now_ns, struct sim_err *e)
{
	(void)db;
	(void)keep;
	(void)now_ns;
	return sql_is_none(e);
}

int res_sql_shrink(struct res_sql *db, struct sim_err *e)
{
	(void)db;
	return sql_is_none(e);
}
