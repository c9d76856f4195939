/* experiments/live/doctor_db.c -- a database of jobs, looked at by a doctor.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/live/doctor_store.h"
#include "results/sql/sql.h"

static int doctor_db_newest(struct xp_doctor_db *b, struct res_sql *db,
    struct sim_err *e)
{
	struct res_sql_rows *q;
	int rc = res_sql_ask(&q, db, e,
	    "SELECT job, to_ns / 1e9 FROM newest WHERE job IN ('5min', "
	    "'10min')");
	while (rc >= 0 && (rc = res_sql_next(q, e)) > 0)
		*(strcmp(res_sql_text(q, 0), "5min") == 0 ? &b->counters_s
							  : &b->probes_s) =
		    res_sql_f64(q, 1);
	res_sql_done(q);
	return rc;
}

/* Windows that say so themselves, of the day before; and what the newest say. */
static int doctor_db_watch(struct xp_doctor_db *b, struct res_sql *db,
    double now_s, struct sim_err *e)
{
	struct res_sql_rows *q;
	int64_t n_late = 0;
	int rc = res_sql_one(db,
	    "SELECT count(*) FROM watchdog WHERE name = 'on_time' AND ok = 0 "
	    "AND "
	    "window >= ?",
	    RES_SQL_VALUES(RES_SQL_I64((now_s - 86400) * 4)), 0, &n_late, e);
	b->n_late = (uint64_t)n_late;
	if (rc < 0)
		return rc;
	size_t n = 0;
	rc = res_sql_ask(&q, db, e,
	    "SELECT job, name, says FROM watchdog_now WHERE ok = 0 AND name <> "
	    "'on_time' ORDER BY job, name");
	while (rc >= 0 && (rc = res_sql_next(q, e)) > 0)
		if (n < sizeof(b->ill))
			n += (size_t)snprintf(b->ill + n, sizeof(b->ill) - n,
			    "%s%s, %s: %s", n ? "; " : "", res_sql_text(q, 0),
			    res_sql_text(q, 1), res_sql_text(q, 2));
	res_sql_done(q);
	return rc;
}

int xp_doctor_look_db(struct xp_doctor_db *b, const char *file, double now_s,
    struct sim_err *e)
{
	struct res_sql *db;
	*b = (struct xp_doctor_db){.counters_s = NAN, .probes_s = NAN};
	int rc = res_sql_open(&db, file, RES_SQL_READ, e);
	if (rc < 0)
		return rc;
	if ((rc = doctor_db_newest(b, db, e)) == 0)
		rc = doctor_db_watch(b, db, now_s, e);
	res_sql_close(db);
	return rc;
}
