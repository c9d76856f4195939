/* results/sql/sql_trust.c -- a database that somebody may have forged.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Views and triggers are programs, and a tree of pages may lead to itself: what is
 * run are the views that we made, for as many steps as a file of its size can take.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/sql/sql_parts.h"

enum {
	TRUST_LENGTH = 64 << 20,   /* bytes of a value, or of a row */
	TRUST_TICK = 1000000,      /* steps of SQLite's machine */
	TRUST_STEPS = 100000000,   /* of any statement */
	TRUST_STEPS_PER_BYTE = 64, /* more, for each byte of the file */
};

/* --- steps -----------------------------------------------------------------*/

static uint64_t trust_bytes(const struct res_sql *db)
{
	char log[4096];
	struct stat st;
	uint64_t n = stat(db->file, &st) == 0 ? (uint64_t)st.st_size : 0;
	snprintf(log, sizeof(log), "%s-wal", db->file);
	return n + (stat(log, &st) == 0 ? (uint64_t)st.st_size : 0);
}

static int trust_tick(void *arg)
{
	struct res_sql *db = arg;
	db->n_steps += TRUST_TICK;
	return db->n_steps >
	    TRUST_STEPS + TRUST_STEPS_PER_BYTE * trust_bytes(db);
}

int res_sql_bound(struct res_sql *db, struct sim_err *e)
{
	sqlite3_limit(db->db, SQLITE_LIMIT_LENGTH, TRUST_LENGTH);
	sqlite3_limit(db->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_progress_handler(db->db, TRUST_TICK, trust_tick, db);
	return res_sql_set(db,
	    "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON",
	    "open it", e);
}

/* --- tables and views ------------------------------------------------------*/

/* The statement that made what NAME is in DB, to be freed; NULL: there is none. */
static int trust_made(struct res_sql *db, const char *name, char **made,
    struct sim_err *e)
{
	struct res_sql_rows *q;
	const char *text = NULL;
	*made = NULL;
	int rc = res_sql_ask(&q, db, e,
	    "SELECT sql FROM sqlite_master WHERE name = ?", RES_SQL_TEXT(name));
	if (rc == 0 && (rc = res_sql_next(q, e)) > 0)
		text = res_sql_text(q, 0);
	if (text && !(*made = strdup(text)))
		rc = sim_fail(e, SIM_ENOMEM, "no memory.");
	res_sql_done(q);
	return rc < 0 ? rc : 0;
}

/* The next character of a statement that says something, 0 at its end. Comments are
 * blanks, and blanks that follow each other are one: a release that words a comment
 * anew still knows what an earlier one made. *QUOTE is what ends a name or a text
 * that S is in, of which each character counts. */
static char trust_next(const char **s, char *quote)
{
	const char *const from = *s;
	while (!*quote && **s) {
		const size_t n = strncmp(*s, "--", 2) == 0
		    ? strcspn(*s, "\n")
		    : strspn(*s, " \t\n");
		if (n == 0)
			break;
		*s += n;
	}
	if (*s > from)
		return **s ? ' ' : 0;
	const char c = **s;
	*s += c != 0;
	if (*quote == c)
		*quote = 0;
	else if (!*quote && c && strchr("'\"`[", c))
		*quote = c == '[' ? ']' : c;
	return c;
}

static int trust_same(const char *x, const char *y)
{
	char in_x = 0, in_y = 0, c;
	while ((c = trust_next(&x, &in_x)) == trust_next(&y, &in_y))
		if (c == 0)
			return 1;
	return 0;
}

static int trust_one(struct res_sql *db, const char *name, const char *ours,
    struct sim_err *e)
{
	char *theirs;
	int rc = trust_made(db, name, &theirs, e);
	if (rc == 0 && (!theirs || !trust_same(theirs, ours)))
		rc = sim_fail(e, SIM_EPARSE,
		    "%s: %.60s is not as `culprit jobs --continuous` makes it.",
		    db->file, name);
	free(theirs);
	return rc;
}

static int trust_each(struct res_sql *db, struct res_sql *ours,
    struct sim_err *e)
{
	struct res_sql_rows *q;
	int rc = res_sql_ask(&q, ours, e,
	    "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL");
	while (rc == 0 && (rc = res_sql_next(q, e)) > 0)
		rc = trust_one(db, res_sql_text(q, 0), res_sql_text(q, 1), e);
	res_sql_done(q);
	return rc;
}

int res_sql_check_schema(struct res_sql *db, struct sim_err *e)
{
	struct res_sql ours = {.file = (char *)(uintptr_t) "(in memory)",
	    .mode = RES_SQL_WRITE,
	    .lock_fd = -1};
	int64_t n_triggers, version;
	int rc = res_sql_one(db,
	    "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'", NULL,
	    0, 0, &n_triggers, e);
	if (rc < 0 || (rc = res_sql_version(db, &version, e)) < 0)
		return rc;
	if (version < 0 || version > RES_SQL_VERSION)
		return res_sql_check_version(db, RES_SQL_VERSION, e);
	if (n_triggers > 0)
		return sim_fail(e, SIM_EPARSE,
		    "%s has triggers, and `culprit jobs --continuous` makes "
		    "none.",
		    db->file);
	const int answer = sqlite3_open_v2(":memory:", &ours.db,
	    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
	    NULL);
	if (!ours.db)
		return sim_fail(e, SIM_ENOMEM, "no memory for a database.");
	rc = answer != SQLITE_OK
	    ? res_sql_failed(&ours, "open it", answer, e)
	    : res_sql_migrate(&ours, res_sql_steps, (int)version, e);
	if (rc == 0)
		rc = trust_each(db, &ours, e);
	res_sql_end(&ours);
	return rc;
}
