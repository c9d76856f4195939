/* experiments/live/page/view.c -- what a target asks of the database, as JSON.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A view is a few queries, whose columns are named as they are in the answer. Each
 * has an index, or a limit on the rows that it looks at: how long it takes does not
 * grow with what the database keeps.
 */
#include "experiments/live/page/view.h"

#include <string.h>

#include "experiments/live/page/pods.h"
#include "results/json.h"
#include "sim/text.h"

/* --- queries -------------------------------------------------------------- */
/* A query takes the job first, where there is one, and then the numbers. */
enum { LIVE_VIEW_PARTS = 5 };
struct xp_live_view {
	const char *name;
	int has_job;
	size_t n_numbers;
	struct live_part {
		const char *key, *sql;
	} part[LIVE_VIEW_PARTS];
	int has_pods; /* and says how each pod is, by the last part */
};

#define LIVE_SECONDS(x) x " / 1e9"
#define LIVE_HAS_DATA   "AND n.state IN ('made', 'redone') "
/* The newest window of each job, or of those for which AND holds. */
#define LIVE_NEWEST(and)                                                       \
	"FROM (VALUES ('10min'), ('5min'), ('1hour'), ('1day')) j JOIN "       \
	"window "                                                              \
	"w ON w.id = (SELECT n.id FROM window n WHERE n.job = j.column1 " and  \
	    "ORDER BY n.from_ns DESC LIMIT 1)"
#define LIVE_NEWEST_HOUR                                                       \
	"(SELECT n.id FROM window n WHERE n.job = '1hour' " LIVE_HAS_DATA      \
	"ORDER BY n.from_ns DESC LIMIT 1)"

static const struct xp_live_view live_now = {"now", 0, 0,
    {
	{"newest",
	    "SELECT w.job, " LIVE_SECONDS(
		"w.from_ns") " AS "
			     "from_s,"
			     " " LIVE_SECONDS(
				 "w."
				 "to"
				 "_n"
				 "s") " AS to_s, " LIVE_SECONDS("w.due_ns") " A"
									    "S "
									    "du"
									    "e_"
									    "s,"
									    " " LIVE_SECONDS("w.made_ns") " A"
													  "S "
													  "ma"
													  "de"
													  "_s"
													  " " LIVE_NEWEST(
													      "")},
	{"with_data",
	    "SELECT w.job, " LIVE_SECONDS(
		"w.from_ns") " AS "
			     "from_s,"
			     " " LIVE_SECONDS(
				 "w."
				 "to"
				 "_n"
				 "s") " AS to_s " LIVE_NEWEST(LIVE_HAS_DATA)},
	{"watchdogs",
	    "SELECT w.job, d.name, d.ok, d.says " LIVE_NEWEST(
		"") " JOIN watchdog d ON d.window = w.id ORDER BY w.id "
		    "DESC, d.name"},
	{"bounds",
	    "SELECT key, value FROM meta WHERE key IN ('max_drop_rate', "
	    "'max_p99_us', 'yellow_us', 'red_us')"},
	{"dcs",
	    "SELECT s.dc FROM summary s WHERE s.window = (SELECT n.id FROM "
	    "window n WHERE n.job = '10min' ORDER BY n.from_ns DESC LIMIT "
	    "1)"},
    },
    0};

static const struct xp_live_view live_views[] = {
    {"windows", 1, 1,
	{{"windows",
	    "SELECT " LIVE_SECONDS("w.from_ns") " AS from_s, " LIVE_SECONDS(
		"w.to_ns") " AS to_s, w.state, w.n_records, "
			   "s.pod_pattern AS pattern, s.drop_rate, s.p99_us, "
			   "s.seen_share, "
			   "s.n_alerts, s.n_silent FROM window w LEFT JOIN "
			   "summary s ON "
			   "s.window = w.id AND s.dc = ?2 WHERE w.job = ?1 "
			   "ORDER BY w.from_ns DESC LIMIT 1008"}},
	0},
    {"heat", 1, 2,
	{{"window",
	     "SELECT " LIVE_SECONDS("w.from_ns") " AS from_s, " LIVE_SECONDS(
		 "w.to_ns") " AS to_s, w.state, w.n_records, "
			    "s.pod_pattern AS pattern, s.n_silent FROM window "
			    "w LEFT JOIN "
			    "summary s ON s.window = w.id AND s.dc = ?2 WHERE "
			    "w.job = ?1 AND "
			    "w.from_ns = ?3 * 1000000000"},
	    {"cells",
		"SELECT p.src_pod AS src, p.dst_pod AS dst, p.n_success, "
		"p.n_drop, p.n_failed, p.drop_rate, p.p50_us, p.p99_us "
		"FROM window w JOIN pod_pair p ON p.window = w.id "
		"WHERE w.job = ?1 AND w.from_ns = ?3 * 1000000000 AND p.dc = "
		"?2 LIMIT 65536"}},
	1},
    {"pair", 1, 3,
	{{"windows",
	    "SELECT " LIVE_SECONDS("w.from_ns") " AS from_s, " LIVE_SECONDS(
		"w.to_ns") " AS to_s, p.n_success, p.n_drop, "
			   "p.n_failed, p.drop_rate, p.p50_us, p.p99_us FROM "
			   "window w LEFT "
			   "JOIN pod_pair p ON p.window = w.id AND p.dc = ?2 "
			   "AND p.src_pod = "
			   "?3 AND p.dst_pod = ?4 WHERE w.job = ?1 ORDER BY "
			   "w.from_ns DESC "
			   "LIMIT 1008"}},
	0},
    {"sla", 1, 1,
	{{"levels",
	    "SELECT " LIVE_SECONDS(
		"w.from_ns") " AS from_s, s.scope, "
			     "s.scope_id AS id, s.name, s.n_success, s.n_drop, "
			     "s.drop_rate, "
			     "s.p50_us, s.p99_us, s.verdict FROM window w JOIN "
			     "sla s ON "
			     "s.window = w.id AND s.dc = ?2 AND s.scope IN "
			     "('dc', 'service') "
			     "WHERE w.job = ?1 ORDER BY w.from_ns DESC LIMIT "
			     "20000"}},
	0},
    {"alerts", 0, 1,
	{{"alerts",
	    "SELECT s.job, s.kind, s.scope, s.scope_id AS id, "
	    "s.name, " LIVE_SECONDS("min(s.from_ns)") " AS "
						      "since_s, " LIVE_SECONDS(
							  "max(s.to_ns)") " AS "
									  "unti"
									  "l_s,"
									  " cou"
									  "nt(*"
									  ") "
									  "AS "
									  "n_"
									  "wind"
									  "ows,"
									  " "
									  "max("
									  "s."
									  "valu"
									  "e) "
									  "AS "
									  "wors"
									  "t, "
									  "s."
									  "boun"
									  "d, "
									  "s."
									  "says"
									  " FRO"
									  "M "
									  "(SEL"
									  "ECT "
									  "b.*,"
									  " sum"
									  "(b."
									  "begi"
									  "ns) "
									  "OVER"
									  " ("
									  "PART"
									  "ITIO"
									  "N "
									  "BY "
									  "b."
									  "job,"
									  " b."
									  "kind"
									  ", "
									  "b."
									  "scop"
									  "e, "
									  "b."
									  "scop"
									  "e_"
									  "id, "
									  "b."
									  "word"
									  " ORD"
									  "ER "
									  "BY "
									  "b."
									  "from"
									  "_ns)"
									  " AS "
									  "span"
									  " FRO"
									  "M "
									  "(SEL"
									  "ECT "
									  "w."
									  "job,"
									  " w."
									  "from"
									  "_ns,"
									  " w."
									  "to_"
									  "ns, "
									  "a.*,"
									  " coa"
									  "lesc"
									  "e(w."
									  "from"
									  "_ns "
									  "> "
									  "lag("
									  "w."
									  "to_"
									  "ns) "
									  "OVER"
									  " ("
									  "PART"
									  "ITIO"
									  "N "
									  "BY "
									  "w."
									  "job,"
									  " a."
									  "kind"
									  ", "
									  "a."
									  "scop"
									  "e, "
									  "a."
									  "scop"
									  "e_"
									  "id, "
									  "a."
									  "word"
									  " "
									  "ORDE"
									  "R "
									  "BY "
									  "w."
									  "from"
									  "_ns)"
									  ", "
									  "1) "
									  "AS "
									  "begi"
									  "ns "
									  "FROM"
									  " ("
									  "SELE"
									  "CT "
									  "*, "
									  "iif("
									  "kind"
									  " = "
									  "'pat"
									  "tern"
									  "', "
									  "says"
									  ", "
									  "'') "
									  "AS "
									  "word"
									  " FRO"
									  "M "
									  "aler"
									  "t "
									  "WHER"
									  "E "
									  "dc "
									  "= "
									  "?1 "
									  "ORDE"
									  "R "
									  "BY "
									  "wind"
									  "ow "
									  "DESC"
									  " LIM"
									  "IT "
									  "2000"
									  "0) "
									  "a "
									  "JOIN"
									  " win"
									  "dow "
									  "w "
									  "ON "
									  "w."
									  "id "
									  "= "
									  "a."
									  "wind"
									  "ow) "
									  "b) "
									  "s "
									  "GROU"
									  "P "
									  "BY "
									  "s."
									  "job,"
									  " s."
									  "kind"
									  ", "
									  "s."
									  "scop"
									  "e, "
									  "s."
									  "scop"
									  "e_"
									  "id, "
									  "s."
									  "word"
									  ", "
									  "s."
									  "span"
									  " ORD"
									  "ER "
									  "BY "
									  "unti"
									  "l_s "
									  "DESC"
									  ", "
									  "sinc"
									  "e_s "
									  "DESC"
									  " LIM"
									  "IT "
									  "50"
									  "0"}},
	0},
    {"holes", 0, 1,
	{{"window",
	     "SELECT " LIVE_SECONDS("from_ns") " AS from_s, " LIVE_SECONDS(
		 "to_ns") " AS to_s FROM window WHERE id = " LIVE_NEWEST_HOUR},
	    {"black_holes",
		"SELECT tor, n_alive, n_symptom, score, action FROM black_hole "
		"WHERE window = " LIVE_NEWEST_HOUR " AND dc = ?1 "
		"ORDER BY score DESC, tor LIMIT 200"},
	    {"random_drops",
		"SELECT pod, pod2, n_success, n_drop, drop_rate_lo, "
		"drop_rate_hi FROM random_drop WHERE window = " LIVE_NEWEST_HOUR
		" AND dc = ?1 ORDER BY drop_rate_lo DESC, pod, pod2 LIMIT "
		"200"}},
	0},
    {"agents", 0, 0,
	{{"sum",
	     "SELECT count(*) AS n, sum(n_records) AS n_records, sum(n_lost) "
	     "AS n_lost, " LIVE_SECONDS("max(last_seen_ns)") " AS last_s "
							     "FROM agent"},
	    {"agents",
		"SELECT address, dc, server, " LIVE_SECONDS(
		    "last_seen_ns") " AS last_s, n_batches, n_records, n_lost, "
				    "n_starts FROM agent "
				    "ORDER BY last_seen_ns, ip LIMIT 1000"}},
	0},
};

const struct xp_live_ask xp_live_ask_now = {.view = &live_now};

/* --- targets -------------------------------------------------------------- */
static const char *const live_jobs[] = {"5min", "10min", "1hour", "1day"};

/* Cut the next word off *TEXT; NULL at its end. */
static const char *live_word(char **text)
{
	char *word = strsep(text, "/");
	return word && *word ? word : NULL;
}

static const char *live_job(const char *word)
{
	for (size_t i = 0; word && i < sizeof(live_jobs) / sizeof(*live_jobs);
	     i++)
		if (strcmp(word, live_jobs[i]) == 0)
			return live_jobs[i];
	return NULL;
}

/* Numbers are those that a row may have: data centres, pods, seconds. */
static int live_number(const char *word, int64_t *x)
{
	uint64_t n;
	if (!word || sim_parse_u64(word, &n, NULL) < 0 || n > UINT32_MAX)
		return 0;
	*x = (int64_t)n;
	return 1;
}

int xp_live_ask_read(struct xp_live_ask *a, const char *target)
{
	static const char prefix[] = "/v1/";
	char copy[128], *rest = copy + sizeof(prefix) - 1;
	*a = (struct xp_live_ask){0};
	if (strncmp(target, prefix, sizeof(prefix) - 1) != 0 ||
	    strlen(target) >= sizeof(copy))
		return 0;
	strcpy(copy, target);
	const char *name = live_word(&rest);
	for (size_t i = 0; name && i < sizeof(live_views) / sizeof(*live_views);
	     i++)
		if (strcmp(name, live_views[i].name) == 0)
			a->view = &live_views[i];
	if (!a->view ||
	    (a->view->has_job && !(a->job = live_job(live_word(&rest)))))
		return 0;
	while (a->n < a->view->n_numbers)
		if (!live_number(live_word(&rest), &a->number[a->n++]))
			return 0;
	return rest == NULL;
}

/* --- answers -------------------------------------------------------------- */
static void live_put_value(FILE *out, const struct res_sql_rows *q, int i)
{
	switch (res_sql_type(q, i)) {
	case RES_SQL_IS_TEXT:
		res_json_text(out, res_sql_text(q, i));
		break;
	case RES_SQL_IS_I64:
		fprintf(out, "%lld", (long long)res_sql_i64(q, i));
		break;
	case RES_SQL_IS_F64:
		res_json_number(out, res_sql_f64(q, i));
		break;
	default:
		fputs("null", out);
	}
}

static int live_put_rows(FILE *out, struct res_sql_rows *q,
    struct xp_live_pods *pods, struct sim_err *e)
{
	const int n = res_sql_n_columns(q);
	const char *before = "{\"columns\": [";
	for (int i = 0; i < n; i++, before = ", ") {
		fputs(before, out);
		res_json_text(out, res_sql_name(q, i));
	}
	fputs("], \"rows\": [", out);
	int rc;
	for (before = ""; (rc = res_sql_next(q, e)) > 0; before = ",\n") {
		fprintf(out, "%s[", before);
		for (int i = 0; i < n; i++) {
			fputs(i > 0 ? "," : "", out);
			live_put_value(out, q, i);
		}
		putc(']', out);
		if (pods)
			xp_live_pods_add(pods, res_sql_i64(q, 0),
			    res_sql_i64(q, 1), res_sql_f64(q, 7));
	}
	fputs("]}", out);
	return rc;
}

static int live_put_part(const struct xp_live_ask *a,
    const struct live_part *part, struct res_sql *db, FILE *out,
    struct xp_live_pods *pods, struct sim_err *e)
{
	struct res_sql_value value[1 + LIVE_VIEW_WORDS];
	struct res_sql_rows *q;
	size_t n = 0;
	if (a->job)
		value[n++] = RES_SQL_TEXT(a->job);
	for (size_t i = 0; i < a->n; i++)
		value[n++] = RES_SQL_I64(a->number[i]);
	fprintf(out, ", \"%s\": ", part->key);
	/* A part that needs none of them takes none. */
	if (!strchr(part->sql, '?'))
		n = 0;
	int rc = res_sql_ask_with(&q, db, part->sql, value, n, e);
	if (rc == 0)
		rc = live_put_rows(out, q, pods, e);
	res_sql_done(q);
	return rc;
}

int xp_live_view_put(const struct xp_live_ask *a, struct res_sql *db, FILE *out,
    struct sim_err *e)
{
	struct xp_live_pods pods = {0};
	int rc = res_sql_begin(db, e);
	for (size_t i = 0;
	     rc == 0 && i < LIVE_VIEW_PARTS && a->view->part[i].key; i++)
		rc = live_put_part(a, &a->view->part[i], db, out,
		    a->view->has_pods && i > 0 ? &pods : NULL, e);
	if (rc == 0 && a->view->has_pods)
		rc = xp_live_pods_put(&pods, out, e);
	xp_live_pods_free(&pods);
	res_sql_rollback(db); /* nothing was written */
	return rc;
}
