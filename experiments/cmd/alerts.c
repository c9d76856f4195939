/* experiments/cmd/alerts.c -- culprit alerts: what jobs put into a database.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "experiments/cmd/cmd.h"
#include "results/rows.h"
#include "results/sql/sql.h"
#include "sim/text.h"
#include "sim/time.h"

struct args {
	const char *db, *show, *job;
	int64_t since_ns;
	enum res_format format;
};

#define TIME(ns)                                                               \
	"strftime('%Y-%m-%dT%H:%M:%SZ', " ns " / 1000000000, 'unixepoch')"
#define CHOSEN " (?1 IS NULL OR w.job = ?1) AND w.to_ns > ?2 ORDER BY w.id"

/* What can be shown. ?1 is a job or NULL, ?2 the time from which on. */
static const struct alerts_view {
	const char *name, *sql;
} alerts_views[] = {
    {"open",
	"SELECT job, dc, kind, scope, scope_id, name, " TIME(
	    "since_ns") " AS since, n_windows, worst, bound, says FROM "
			"alert_open WHERE (?1 IS "
			"NULL OR job = ?1) AND until_ns > ?2 ORDER BY "
			"since_ns, job, dc, kind, "
			"scope, scope_id"},
    {"all",
	"SELECT job, dc, kind, scope, scope_id, name, " TIME(
	    "since_ns") " AS since, " TIME("until_ns") " AS until, is_open, "
						       "n_windows, worst, "
						       "bound, says FROM "
						       "alert_span "
						       "WHERE (?1 IS NULL OR "
						       "job = ?1) AND until_ns "
						       "> ?2 ORDER BY "
						       "since_ns, "
						       "job, dc, kind, scope, "
						       "scope_id"},
    {"services",
	"SELECT w.job, " TIME(
	    "w.from_ns") " AS window_from, dc, name, n_success, n_drop, "
			 "drop_rate, p50_us, "
			 "p99_us, verdict FROM window w JOIN sla s ON s.window "
			 "= w.id WHERE "
			 "s.scope = 'service' AND" CHOSEN ", dc, scope_id"},
    {"levels",
	"SELECT w.job, " TIME(
	    "w.from_ns") " AS window_from, dc, scope, scope_id, name, "
			 "n_success, n_drop, "
			 "drop_rate, p50_us, p99_us FROM window w JOIN sla s "
			 "ON s.window = w.id "
			 "WHERE s.scope <> 'server' AND" CHOSEN
			 ", dc, scope, scope_id"},
    {"black_holes",
	"SELECT " TIME("w.from_ns") " AS window_from, dc, tor, n_alive, "
				    "n_symptom, score, action FROM "
				    "window w JOIN black_hole b ON b.window = "
				    "w.id WHERE" CHOSEN ", dc, tor"},
    {"random_drops",
	"SELECT w.job, " TIME("w.from_ns") " AS window_from, dc, pod, pod2, "
					   "n_success, n_drop, drop_rate_lo, "
					   "drop_rate_hi FROM window w JOIN "
					   "random_drop r ON r.window = w.id "
					   "WHERE" CHOSEN ", dc, pod, pod2"},
    {"heat_map",
	"SELECT " TIME("from_ns") " AS window_from, dc, src_pod, dst_pod, "
				  "n_success, n_failed, "
				  "drop_rate, p50_us, p99_us FROM heat_map "
				  "WHERE ?1 IS NOT 0 AND to_ns > "
				  "?2 ORDER BY dc, src_pod, dst_pod"},
    {"windows",
	"SELECT w.job, " TIME("w.from_ns") " AS window_from, " TIME(
	    "w.made_ns") " AS made, state, n_records, n_late, n_waiting, "
			 "n_aside FROM window w "
			 "WHERE" CHOSEN},
    {"watchdogs",
	"SELECT job, name, ok, says, " TIME(
	    "to_ns") " AS window_to FROM watchdog_now WHERE (?1 IS NULL OR job "
		     "= ?1) AND "
		     "to_ns > ?2 ORDER BY job, name"},
    /* clang-format off */
    {"http",
	"SELECT w.job, " TIME("w.from_ns") " AS window_from, dc, scope, scope_id, "
	"n_asked, n_ok, n_other, n_malformed, n_cut, h.n_late, p50_us, p99_us "
	"FROM window w JOIN http h ON h.window = w.id WHERE" CHOSEN
	", dc, scope, scope_id"},
    {"agents",
	"SELECT address, dc, server, " TIME("first_seen_ns") " AS first_seen, "
	TIME("last_seen_ns") " AS last_seen, n_starts, n_batches, n_records, "
	"n_lost, list, list_is, " TIME("nullif(list_issued_ns, 0)")
	" AS list_issued FROM agent_list WHERE ?1 IS NOT 0 AND last_seen_ns > ?2 "
	"ORDER BY ip"},
    /* clang-format on */
    {0},
};
enum { N_VIEWS = sizeof(alerts_views) / sizeof(*alerts_views) };

static const char *const alerts_shows[N_VIEWS] = {"open", "all", "services",
    "levels", "black_holes", "random_drops", "heat_map", "windows", "watchdogs",
    "http", "agents", NULL};
static const char *const alerts_jobs[] = {"5min", "10min", "1hour", "1day",
    NULL};

/* --- options ---------------------------------------------------------------*/

static void alerts_take_word(void *to, char *arg, const struct cmd_given *g)
{
	const char *const *words = g->option->values;
	size_t n = 0;
	while (words[n])
		n++;
	if (!words[sim_word_find(words, arg)]) {
		const char *near = sim_did_you_mean(arg, words, n);
		argp_error(g->state, "there is no %s \"%s\"%s%s%s",
		    g->option->name, arg, near ? "; did you mean \"" : "",
		    near ? near : "", near ? "\"?" : "");
	}
	*(const char **)to = arg;
}

static void alerts_take_last(void *to, char *arg, const struct cmd_given *g)
{
	struct sim_err e;
	sim_ns last;
	if (sim_parse_ns(arg, &last, &e) < 0)
		argp_error(g->state, "--last: %s", e.msg);
	*(int64_t *)to = (int64_t)time(NULL) * 1000000000 - (int64_t)last;
}

static void alerts_take_format(void *to, char *arg, const struct cmd_given *g)
{
	(void)arg;
	*(enum res_format *)to =
	    strcmp(g->option->name, "json") == 0 ? RES_JSON : RES_CSV;
}

static const struct cmd_option alerts_options[] = {
    {"show", 0, "WHAT",
	"open (default), all, services, levels, black_holes, random_drops, "
	"heat_map, windows, watchdogs, http or agents",
	.take = alerts_take_word, .at = CMD_AT(show), .values = alerts_shows},
    {"job", 0, "NAME", "of windows of one length: 5min, 10min, 1hour, 1day",
	.take = alerts_take_word, .at = CMD_AT(job), .values = alerts_jobs},
    {"last", 0, "TIME", "no older than so long: 90m, 6h, 7d",
	.take = alerts_take_last, .at = CMD_AT(since_ns)},
    {"csv", 0, NULL, "as CSV (RFC 4180)", .take = alerts_take_format,
	.at = CMD_AT(format)},
    {"json", 0, NULL, "as JSON, an array of objects",
	.take = alerts_take_format, .at = CMD_AT(format)},
    {0},
};

static const struct cmd_line alerts_line = {
    .options = alerts_options,
    .word = {"DB", .take = cmd_take_one, .at = CMD_AT(db)},
    .without = "which database?",
    .args_doc = "DB",
    .doc =
	"Show what `culprit jobs --continuous` put into a database: the alerts "
	"that are open, or what they were made of, as a table with a tab "
	"between columns (`| column -ts \"$(printf '\\t')\"`).\v"
	"An alert is one thing that was above its bound in windows that follow "
	"each other, from the first one's begin on; it is open if it is in the "
	"newest window of its job in which something came. Jobs may write "
	"meanwhile: what is shown is one state.\n\n"
	"Exit codes: 0 good; 2 the command line is wrong; 3 the database can't "
	"be read.",
};

/* --- showing ---------------------------------------------------------------*/

/* Columns that are texts, also where nothing is in them. */
static int alerts_is_text(const char *name)
{
	static const char *const texts[] = {"name", "says", "verdict", "list",
	    "list_is", "list_issued", NULL};
	return texts[sim_word_find(texts, name)] != NULL;
}

static void alerts_tell_row(struct res_rows *out, const struct res_sql_rows *q,
    int is_there)
{
	for (int i = 0; i < res_sql_n_columns(q); i++) {
		const struct res_name name = {.what = res_sql_name(q, i)};
		const enum res_sql_type type =
		    is_there ? res_sql_type(q, i) : RES_SQL_IS_NULL;
		if (type == RES_SQL_IS_TEXT ||
		    (type == RES_SQL_IS_NULL && alerts_is_text(name.what)))
			res_rows_text(out, name,
			    is_there ? res_sql_text(q, i) : NULL);
		else
			res_rows_number(out, name,
			    is_there ? res_sql_f64(q, i) : 0);
	}
}

static int alerts_print(struct res_sql_rows *q, enum res_format format,
    struct sim_err *e)
{
	struct res_rows out;
	int rc = res_rows_open(&out, stdout, format, e);
	if (rc == 0) {
		alerts_tell_row(&out, q, 0);
		rc = res_rows_head(&out, NULL, 0);
	}
	while (rc >= 0 && (rc = res_sql_next(q, e)) > 0) {
		alerts_tell_row(&out, q, 1);
		res_rows_end(&out);
	}
	if (rc == 0)
		rc = res_rows_close(&out);
	res_rows_free(&out);
	return rc;
}

int cmd_alerts(int argc, char **argv)
{
	struct args a = {.show = "open"};
	struct res_sql *db = NULL;
	struct res_sql_rows *q = NULL;
	struct sim_err e = {0};
	cmd_parse(&alerts_line, argc, argv, &a);
	const struct alerts_view *view =
	    &alerts_views[sim_word_find(alerts_shows, a.show)];
	int rc = res_sql_open(&db, a.db, RES_SQL_READ, &e);
	if (rc == 0)
		rc = res_sql_ask(&q, db, &e, view->sql, RES_SQL_TEXT(a.job),
		    RES_SQL_I64(a.since_ns));
	if (rc == 0)
		rc = alerts_print(q, a.format, &e);
	res_sql_done(q);
	res_sql_close(db);
	/* A file that is no such database is none that was looked for. */
	return rc < 0
	    ? cmd_fail(rc == SIM_EUNSUPPORTED ? CMD_USAGE : CMD_TROUBLE, &e)
	    : CMD_GOOD;
}
