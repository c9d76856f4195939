/* experiments/live/windows.c -- which window is made when; the database's plan.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/windows_parts.h"
#include "sim/vec.h"

#define DAY (86400 * SIM_SEC)

const char *const xp_windows_jobs[] = {"5min", "10min", "1hour", "1day", NULL};
const sim_ns xp_windows_length[] = {300 * SIM_SEC, 600 * SIM_SEC,
    3600 * SIM_SEC, DAY};

/* By place of jobs; literals, as statements are. */
static const char *const windows_keys[] = {"next_5min", "next_10min",
    "next_1hour", "next_1day"};

/* --- what rows rest upon ---------------------------------------------------*/

static int windows_set_meta(struct xp_windows *w, const char *key,
    const char *value, struct sim_err *e)
{
	return res_sql_run(w->db, e,
	    "INSERT OR REPLACE INTO meta VALUES (?, ?)", RES_SQL_TEXT(key),
	    RES_SQL_TEXT(value));
}

/* Services may be added behind those that there were, whose numbers stay. */
static int windows_adds_services(const char *key, const char *was,
    const char *value)
{
	const size_t n = strlen(was);
	return strcmp(key, "services") == 0 && strncmp(was, value, n) == 0 &&
	    (n == 0 || value[n] == ';');
}

/* Ids of rows mean what they do by KEY alone: another one would mix what does
 * not belong together. */
static int windows_agree(struct xp_windows *w, const char *key,
    const char *value, struct sim_err *e)
{
	struct res_sql_rows *q;
	int rc = res_sql_ask(&q, w->db, e,
	    "SELECT value FROM meta WHERE key = ?", RES_SQL_TEXT(key));
	if (rc == 0 && (rc = res_sql_next(q, e)) > 0) {
		const char *is = res_sql_text(q, 0);
		rc = is && strcmp(is, value) == 0 ? 1
		    : is && windows_adds_services(key, is, value)
		    ? 0
		    : sim_fail(e, SIM_EMISMATCH,
			  "%s is of another %s: \"%.200s\", and not "
			  "\"%.200s\".",
			  w->params.db, key, is ? is : "", value);
	}
	res_sql_done(q);
	return rc < 0 ? rc : rc > 0 ? 0 : windows_set_meta(w, key, value, e);
}

static int windows_set_number(struct xp_windows *w, const char *key, double x,
    struct sim_err *e)
{
	char text[32];
	return windows_set_meta(w, key, sim_format_f64(text, x), e);
}

static void windows_shapes(const struct res_recording_info *info,
    struct sim_text *t)
{
	for (uint32_t i = 0; i < info->n_dcs; i++) {
		const struct topo_clos *c = &info->dc[i].clos;
		sim_put(t, "%sn_pods=%u n_tors=%u n_t1=%u n_t2=%u n_hosts=%u",
		    i ? "; " : "", c->n_pods, c->n_tors, c->n_t1, c->n_t2,
		    c->n_hosts);
	}
	if (info->net6.bits > 0) {
		char net[TOPO_IP_TEXT];
		topo_ip_format(&info->net6.first, net);
		sim_put(t, "; net6=%s/%u", net, info->net6.bits);
	}
}

static int windows_write_plan(struct xp_windows *w, struct sim_err *e)
{
	const struct algo_sla_params *sla = &w->replay.params.sla;
	const struct algo_heatmap_params *heat = &w->replay.params.heatmap;
	char shapes[2048];
	struct sim_text t = {.buf = shapes, .size = sizeof(shapes)};
	int rc;
	windows_shapes(&w->info, &t);
	if ((rc = windows_agree(w, "network", shapes, e)) < 0 ||
	    (rc = windows_agree(w, "services", w->info.service, e)) < 0 ||
	    (rc = windows_agree(w, "timers", w->params.timers, e)) < 0 ||
	    (rc = windows_set_number(w, "max_drop_rate", sla->max_drop_rate,
		 e)) < 0 ||
	    (rc = windows_set_number(w, "max_p99_us", sla->max_p99_us, e)) <
		0 ||
	    (rc = windows_set_number(w, "yellow_us", heat->yellow_us, e)) < 0 ||
	    (rc = windows_set_number(w, "red_us", heat->red_us, e)) < 0 ||
	    (rc = windows_set_number(w, "max_http_failed",
		 w->params.max_http_failed, e)) < 0 ||
	    (rc = windows_set_number(w, "max_http_p99_us",
		 w->params.max_http_p99_us, e)) < 0)
		return rc;
	return windows_set_number(w, "min_probes", sla->min_probes, e);
}

static int windows_read_next(struct xp_windows *w, struct sim_err *e)
{
	int rc = 0;
	for (int j = 0; rc == 0 && j < XP_WINDOWS_N_JOBS; j++) {
		int64_t next = -1;
		rc = res_sql_one(w->db,
		    "SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?",
		    RES_SQL_VALUES(RES_SQL_TEXT(windows_keys[j])), -1, &next,
		    e);
		w->next[j] = next < 0 ? SIM_NEVER : (sim_ns)next;
	}
	return rc;
}

/* --- opening ---------------------------------------------------------------*/

static int windows_open_pairs(struct xp_windows *w, struct sim_err *e)
{
	for (uint32_t i = 0; i < w->info.n_dcs; i++) {
		const size_t n = w->info.dc[i].clos.n_pods;
		w->first_pair[i] = w->n_pairs;
		w->n_pairs += n * n;
	}
	return SIM_ZALLOC(&w->pair, w->n_pairs, e);
}

static int windows_open_db(struct xp_windows *w, struct sim_err *e)
{
	int rc = res_sql_open(&w->db, w->params.db, RES_SQL_WRITE, e);
	if (rc < 0)
		return rc;
	if ((rc = res_sql_begin(w->db, e)) < 0)
		return rc;
	if ((rc = windows_write_plan(w, e)) < 0 ||
	    (rc = res_sql_commit(w->db, e)) < 0) {
		res_sql_rollback(w->db);
		return rc;
	}
	return windows_read_next(w, e);
}

int xp_windows_open(struct xp_windows **out, const struct xp_windows_params *p,
    struct sim_err *e)
{
	struct xp_windows *w;
	int rc = SIM_ZALLOC(&w, 1, e);
	*out = NULL;
	if (rc < 0)
		return rc;
	w->params = *p;
	w->info = p->info;
	w->info.spec = p->info.spec ? p->info.spec : "";
	w->info.service = p->info.service ? p->info.service : "";
	if ((rc = xp_dsa_replay_begin(&w->replay, &w->info, e)) == 0 &&
	    (rc = windows_open_pairs(w, e)) == 0)
		rc = windows_open_db(w, e);
	w->follow = (struct xp_follow){.db = w->db,
	    .dir = p->dir,
	    .dc = w->info.dc,
	    .n_dcs = w->info.n_dcs,
	    .net6 = w->info.net6,
	    .length = {xp_windows_length[0], xp_windows_length[1]},
	    .job = {xp_windows_jobs[0], xp_windows_jobs[1]},
	    .late_ns = p->late_ns};
	if (rc < 0 || (rc = xp_follow_open(&w->follow, e)) < 0) {
		xp_windows_close(w);
		return rc;
	}
	*out = w;
	return 0;
}

void xp_windows_close(struct xp_windows *w)
{
	if (!w)
		return;
	xp_follow_close(&w->follow);
	xp_dsa_pool_close(&w->pool);
	xp_dsa_pool_close(&w->pairs);
	xp_dsa_tables_free(&w->of_pairs);
	free(w->gets.row);
	w->replay.recording = NULL;
	xp_dsa_replay_close(&w->replay);
	res_sql_close(w->db);
	free(w->pair);
	free(w);
}

/* --- when ------------------------------------------------------------------*/

static sim_ns windows_due(const struct xp_windows *w, int job)
{
	const struct xp_windows_params *p = &w->params;
	if (w->next[job] == SIM_NEVER)
		return SIM_NEVER;
	const sim_ns to = w->next[job] + xp_windows_length[job];
	return to +
	    (job == XP_WINDOWS_5MIN           ? p->grace_ns / 5
		    : job == XP_WINDOWS_10MIN ? p->grace_ns
					      : p->late_ns);
}

sim_ns xp_windows_due(const struct xp_windows *w)
{
	sim_ns due = SIM_NEVER;
	for (int j = 0; j < XP_WINDOWS_N_JOBS; j++)
		due = windows_due(w, j) < due ? windows_due(w, j) : due;
	return due;
}

sim_ns xp_windows_ahead(const struct xp_windows *w, sim_ns now)
{
	sim_ns most = 0;
	for (int j = 0; j < XP_WINDOWS_N_JOBS; j++)
		if (w->next[j] != SIM_NEVER && w->next[j] > most)
			most = w->next[j];
	return most > now + DAY ? most - now : 0;
}

/* The times of the first and of the last record. Jobs that never ran begin with
 * the first, and those that stood still for longer than rows are kept begin where
 * these do: as far as records go, not a clock that is years ahead for a while. */
static int windows_bound(struct xp_windows *w, sim_ns now, sim_ns *last,
    struct sim_err *e)
{
	struct res_sql_rows *q;
	const sim_ns keep = w->params.keep.windows * DAY;
	sim_ns until = now;
	int64_t first = -1;
	*last = 0;
	int rc = res_sql_ask(&q, w->db, e,
	    "SELECT first_ns, last_ns FROM store WHERE first_ns IS NOT NULL");
	if (rc == 0 && (rc = res_sql_next(q, e)) > 0) {
		first = res_sql_i64(q, 0);
		*last = (sim_ns)res_sql_i64(q, 1);
	}
	res_sql_done(q);
	if (*last + DAY < until)
		until = *last + DAY;
	for (int j = 0; first >= 0 && j < XP_WINDOWS_N_JOBS; j++) {
		const sim_ns length = xp_windows_length[j];
		if (w->next[j] == SIM_NEVER)
			w->next[j] = (sim_ns)first / length * length;
		if (keep > 0 && until > keep && w->next[j] < until - keep)
			w->next[j] = (until - keep) / length * length;
	}
	return rc < 0 ? rc : 0;
}

/* Is there reason to think that a window's records have come, but for late ones? A
 * clock that is set ahead for a while has hours made before their time, and they
 * are not made again; so some later record is to be there, or a day to be over since
 * the hour that has the last one. */
static int windows_is_over(int job, sim_ns from, sim_ns now, sim_ns last)
{
	const sim_ns to = from + xp_windows_length[job];
	if (job < XP_WINDOWS_1HOUR)
		return to <= last + DAY;
	return to <= last || (from < last && to + DAY <= now);
}

/* The next that is due: a window that waits to be made anew, or else by its end,
 * the shorter one first. Returns 1 if there is one. */
static int windows_choose(struct xp_windows *w, sim_ns now, sim_ns last,
    struct xp_live_window *n, struct sim_err *e)
{
	struct res_sql_rows *q;
	*n = (struct xp_live_window){.due = SIM_NEVER, .now = now};
	for (int j = 0; j < XP_WINDOWS_N_JOBS; j++) {
		const sim_ns due = windows_due(w, j);
		if (due >= n->due || due > now ||
		    !windows_is_over(j, w->next[j], now, last))
			continue;
		n->job = (enum xp_windows_job)j;
		n->due = due;
		n->from = w->next[j];
		n->to = n->from + xp_windows_length[j];
	}
	int rc = res_sql_ask(&q, w->db, e,
	    "SELECT job, from_ns, to_ns, n_records FROM window WHERE n_waiting "
	    "> 0 AND to_ns <= ? ORDER BY to_ns, id LIMIT 1",
	    RES_SQL_I64((int64_t)now - (int64_t)w->params.late_ns));
	if (rc == 0 && (rc = res_sql_next(q, e)) > 0 &&
	    (sim_ns)res_sql_i64(q, 2) + w->params.late_ns <= n->due) {
		n->is_anew = 1;
		n->job = (enum xp_windows_job)sim_word_find(xp_windows_jobs,
		    res_sql_text(q, 0));
		n->from = (sim_ns)res_sql_i64(q, 1);
		n->to = (sim_ns)res_sql_i64(q, 2);
		n->due = n->to + w->params.late_ns;
		n->n_records = (uint64_t)res_sql_i64(q, 3);
	}
	res_sql_done(q);
	return rc < 0 ? rc : n->due != SIM_NEVER;
}

/* --- making ----------------------------------------------------------------*/

static int windows_note_next(struct xp_windows *w,
    const struct xp_live_window *n, struct sim_err *e)
{
	char text[32];
	snprintf(text, sizeof(text), "%" PRIu64, n->to);
	return windows_set_meta(w, windows_keys[n->job], text, e);
}

/* Once more, with what came late. What waited and is not there now was in the
 * files twice, or is gone from them: then the window stays as it was. */
static int windows_again(struct xp_windows *w, struct xp_live_window *n,
    struct sim_err *e)
{
	const uint64_t before = n->n_records;
	const int rc = xp_windows_measure(w, n, e);
	if (rc < 0)
		return rc;
	if (n->n_records <= before)
		return res_sql_run(w->db, e,
		    "UPDATE window SET n_aside = n_aside + n_waiting, "
		    "n_waiting "
		    "= 0 WHERE id = ?",
		    RES_SQL_I64(n->id));
	n->n_late = n->n_records - before;
	n->state = "redone";
	return xp_windows_put(w, n, e);
}

static int windows_first(struct xp_windows *w, struct xp_live_window *n,
    struct sim_err *e)
{
	int rc = n->job <= XP_WINDOWS_10MIN ? xp_windows_measure(w, n, e)
					    : xp_windows_merge(w, n, e);
	if (rc < 0 || (rc = xp_windows_put(w, n, e)) < 0)
		return rc;
	return windows_note_next(w, n, e);
}

static void windows_count(struct xp_windows *w, const struct xp_live_window *n,
    struct xp_windows_done *done)
{
	if (!n->is_anew)
		w->next[n->job] = n->to;
	done->n_windows += !n->is_anew;
	done->n_redone += n->is_anew;
	done->n_empty += strcmp(n->state, "empty") == 0;
	done->n_too_large += strcmp(n->state, "too_large") == 0;
}

/* Ages are counted from the window and not from now: after a stop parts of longer
 * windows are made that are old. */
static int windows_make_one(struct xp_windows *w, struct xp_live_window *n,
    struct sim_err *e)
{
	const int rc =
	    n->is_anew ? windows_again(w, n, e) : windows_first(w, n, e);
	return rc < 0 || n->job != XP_WINDOWS_1DAY
	    ? rc
	    : res_sql_retain(w->db, &w->params.keep, (int64_t)n->to, e);
}

/* In one transaction: a window is there as a whole, and the job goes on behind
 * it, or neither. */
static int windows_make(struct xp_windows *w, struct xp_live_window *n,
    struct xp_windows_done *done, struct sim_err *e)
{
	n->id = (int64_t)(n->from / SIM_SEC * 4 + n->job);
	n->state = "made";
	int rc = res_sql_begin(w->db, e);
	if (rc < 0)
		return rc;
	if ((rc = windows_make_one(w, n, e)) < 0 ||
	    (rc = res_sql_commit(w->db, e)) < 0) {
		res_sql_rollback(w->db);
		return sim_wrap(e, rc, "%s window from %" PRIu64 " s",
		    xp_windows_jobs[n->job], n->from / SIM_SEC);
	}
	windows_count(w, n, done);
	return n->job == XP_WINDOWS_1DAY ? res_sql_shrink(w->db, e) : 0;
}

int xp_windows_step(struct xp_windows *w, sim_ns now,
    struct xp_windows_done *done, int (*tell)(void *arg), void *arg,
    struct sim_err *e)
{
	struct xp_live_window n;
	sim_ns last;
	*done = (struct xp_windows_done){0};
	for (int k = 0; k < 2; k++)
		w->follow.made[k] = w->next[k] == SIM_NEVER ? 0 : w->next[k];
	int rc = xp_follow_read(&w->follow, now, &done->n_batches, e);
	if (rc < 0 ||
	    (rc = res_sql_one(w->db, "SELECT n_bytes_damaged FROM store", NULL,
		 0, 0, &done->n_bytes_damaged, e)) < 0 ||
	    (rc = windows_bound(w, now, &last, e)) < 0)
		return rc;
	while ((rc = windows_choose(w, now, last, &n, e)) > 0) {
		if ((rc = windows_make(w, &n, done, e)) < 0)
			return rc;
		if (tell && !tell(arg))
			return 0;
	}
	return rc;
}
