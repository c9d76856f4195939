/* experiments/live/page/view_queries.c -- what each view asks of the database.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each query has an index, or a limit on the rows that it looks at: how long it takes
 * does not grow with what the database keeps.
 */
#include "experiments/live/page/view_parts.h"

/* clang-format off */

#define SECONDS(x) x " / 1000000000"
#define FROM_TO(t) SECONDS(t "from_ns") " AS from_s, " SECONDS(t "to_ns") " AS to_s"
#define HAS_DATA "n.state IN ('made', 'redone')"

/* The newest window of JOB, or of those for which AND holds. */
#define NEWEST(job, and)                                                       \
	"(SELECT n.id FROM window n WHERE n.job = " job " AND " and            \
	" ORDER BY n.from_ns DESC LIMIT 1) "
#define OF_EACH_JOB(and)                                                       \
	"FROM (VALUES ('10min'), ('5min'), ('1hour'), ('1day')) j "            \
	"JOIN window w ON w.id = " NEWEST("j.column1", and)

const struct xp_live_view xp_live_view_now = {"now", 0, 0, {
	{"newest",
	    "SELECT w.job, " FROM_TO("w.") ", " SECONDS("w.due_ns") " AS due_s, "
		SECONDS("w.made_ns") " AS made_s "
	    OF_EACH_JOB("1")},
	{"with_data",
	    "SELECT w.job, " FROM_TO("w.") " "
	    OF_EACH_JOB(HAS_DATA)},
	{"watchdogs",
	    "SELECT w.job, d.name, d.ok, d.says "
	    OF_EACH_JOB("1")
	    "JOIN watchdog d ON d.window = w.id ORDER BY w.id DESC, d.name"},
	{"bounds",
	    "SELECT key, value FROM meta WHERE key IN "
		"('max_drop_rate', 'max_p99_us', 'yellow_us', 'red_us', "
		"'max_http_failed', 'max_http_p99_us')"},
	{"dcs",
	    "SELECT s.dc FROM summary s WHERE s.window = " NEWEST("'10min'", "1")},
}, 0};

const struct xp_live_view xp_live_views[] = {
{"windows", 1, 1, {
	{"windows",
	    "SELECT " FROM_TO("w.") ", w.state, w.n_records, "
		"s.pod_pattern AS pattern, s.drop_rate, s.p99_us, s.seen_share, "
		"s.n_alerts, s.n_silent "
	    "FROM window w LEFT JOIN summary s ON s.window = w.id AND s.dc = ?2 "
	    "WHERE w.job = ?1 ORDER BY w.from_ns DESC LIMIT 1008"},
}, 0},

{"heat", 1, 2, {
	{"window",
	    "SELECT " FROM_TO("w.") ", w.state, w.n_records, "
		"s.pod_pattern AS pattern, s.n_silent "
	    "FROM window w LEFT JOIN summary s ON s.window = w.id AND s.dc = ?2 "
	    "WHERE w.job = ?1 AND w.from_ns = ?3 * 1000000000"},
	{"cells",
	    "SELECT p.src_pod AS src, p.dst_pod AS dst, p.n_success, p.n_drop, "
		"p.n_failed, p.drop_rate, p.p50_us, p.p99_us "
	    "FROM window w JOIN pod_pair p ON p.window = w.id "
	    "WHERE w.job = ?1 AND w.from_ns = ?3 * 1000000000 AND p.dc = ?2 "
	    "LIMIT 65536"},
}, 1},

{"pair", 1, 3, {
	{"windows",
	    "SELECT " FROM_TO("w.") ", p.n_success, p.n_drop, p.n_failed, "
		"p.drop_rate, p.p50_us, p.p99_us "
	    "FROM window w LEFT JOIN pod_pair p ON p.window = w.id AND "
		"p.dc = ?2 AND p.src_pod = ?3 AND p.dst_pod = ?4 "
	    "WHERE w.job = ?1 ORDER BY w.from_ns DESC LIMIT 1008"},
}, 0},

{"sla", 1, 1, {
	{"levels",
	    "SELECT " SECONDS("w.from_ns") " AS from_s, s.scope, "
		"s.scope_id AS id, s.name, s.n_success, s.n_drop, s.drop_rate, "
		"s.p50_us, s.p99_us, s.verdict "
	    "FROM window w JOIN sla s ON s.window = w.id AND s.dc = ?2 AND "
		"s.scope IN ('dc', 'service') "
	    "WHERE w.job = ?1 ORDER BY w.from_ns DESC LIMIT 10000"},
}, 0},

{"http", 1, 1, {
	{"levels",
	    "SELECT " SECONDS("w.from_ns") " AS from_s, h.scope, "
		"h.scope_id AS id, h.n_asked, h.n_ok, h.n_other, h.n_malformed, "
		"h.n_cut, h.n_late, h.p50_us, h.p99_us "
	    "FROM window w JOIN http h ON h.window = w.id AND h.dc = ?2 AND "
		"h.scope IN ('dc', 'service') "
	    "WHERE w.job = ?1 ORDER BY w.from_ns DESC LIMIT 10000"},
}, 0},

/* The newest rows of alerts, those of windows that follow each other as one. A
 * pattern that becomes another is another alert. */
{"alerts", 0, 1, {
	{"alerts",
	    "WITH a AS (SELECT *, iif(kind = 'pattern', says, '') AS word "
		"FROM alert WHERE dc = ?1 ORDER BY window DESC LIMIT 5000), "
	    "b AS (SELECT w.job, w.from_ns, w.to_ns, a.*, "
		"coalesce(w.from_ns > lag(w.to_ns) OVER same, 1) AS begins "
		"FROM a JOIN window w ON w.id = a.window WINDOW same AS "
		"(PARTITION BY w.job, kind, scope, scope_id, word "
		"ORDER BY w.from_ns)), "
	    "c AS (SELECT *, sum(begins) OVER (PARTITION BY job, kind, scope, "
		"scope_id, word ORDER BY from_ns) AS span FROM b) "
	    "SELECT job, kind, scope, scope_id AS id, name, "
		SECONDS("min(from_ns)") " AS since_s, "
		SECONDS("max(to_ns)") " AS until_s, "
		"count(*) AS n_windows, max(value) AS worst, bound, says "
	    "FROM c GROUP BY job, kind, scope, scope_id, word, span "
	    "ORDER BY until_s DESC, since_s DESC LIMIT 500"},
}, 0},

{"holes", 0, 1, {
	{"window",
	    "SELECT " FROM_TO("") " FROM window WHERE id = "
	    NEWEST("'1hour'", HAS_DATA)},
	{"black_holes",
	    "SELECT tor, n_alive, n_symptom, score, action FROM black_hole "
	    "WHERE window = " NEWEST("'1hour'", HAS_DATA) "AND dc = ?1 "
	    "ORDER BY score DESC, tor LIMIT 200"},
	{"random_drops",
	    "SELECT pod, pod2, n_success, n_drop, drop_rate_lo, drop_rate_hi "
	    "FROM random_drop "
	    "WHERE window = " NEWEST("'1hour'", HAS_DATA) "AND dc = ?1 "
	    "ORDER BY drop_rate_lo DESC, pod, pod2 LIMIT 200"},
}, 0},

{"agents", 0, 0, {
	{"sum",
	    "SELECT count(*) AS n, sum(n_records) AS n_records, "
		"sum(n_lost) AS n_lost, " SECONDS("max(last_seen_ns)") " AS last_s, "
		"total(list_is IN ('older', 'other')) AS n_behind, "
		"total(list_is = 'none') AS n_listless, "
		"total(list_is IS NULL) AS n_untold "
	    "FROM agent_list"},
	{"agents",
	    "SELECT address, dc, server, " SECONDS("last_seen_ns") " AS last_s, "
		"n_batches, n_records, n_lost, n_starts, list, list_is "
	    "FROM agent_list ORDER BY coalesce(list_is IN ('older', 'other'), 0) "
		"DESC, last_seen_ns, ip LIMIT 1000"},
}, 0},
{0},
};
