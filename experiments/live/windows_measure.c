/* experiments/live/windows_measure.c -- what is found in a window, and in several.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/windows_counts.h"
#include "experiments/live/windows_parts.h"
#include "experiments/pingmesh/dsa/parts.h"

/* --- rows of the files -----------------------------------------------------*/

static void measure_clear(struct xp_windows *w)
{
	struct xp_dsa_replay *r = &w->replay;
	xp_dsa_tables_clear(&r->tables);
	xp_dsa_tables_clear(&w->of_pairs);
	obs_probes_clear(&r->probes);
	obs_perf_clear(&r->counters);
	obs_http_clear(&r->http);
	w->gets.n = 0;
	memcpy(r->probes.syn_wait_ns, w->info.syn_wait_ns,
	    sizeof(r->probes.syn_wait_ns));
	memset(w->pair, 0, w->n_pairs * sizeof(*w->pair));
}

static int measure_open_pools(struct xp_windows *w, struct sim_err *e)
{
	uint64_t n_of[XP_DSA_POOL_KINDS];
	xp_dsa_pool_close(&w->pool);
	xp_dsa_pool_close(&w->pairs);
	xp_dsa_pool_count(n_of, w->info.dc, w->info.n_dcs,
	    w->replay.services.n);
	int rc = xp_dsa_pool_open(&w->pool, n_of, e);
	xp_dsa_pool_count_pairs(n_of, w->info.dc, w->info.n_dcs);
	return rc < 0 ? rc : xp_dsa_pool_open(&w->pairs, n_of, e);
}

/* What is to be known of pairs of pods beside the times of connects. */
static int measure_pairs(struct xp_windows *w, struct sim_err *e)
{
	const struct obs_probes *t = &w->replay.probes;
	struct algo_drop_ladder ladder;
	const int rc =
	    xp_dsa_ladder(&w->replay.dc[0], t->syn_wait_ns, &ladder, e);
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		const uint32_t d =
		    topo_dcs_find(w->info.dc, w->info.n_dcs, t->src_host[i]);
		const struct topo_dc *dc = &w->info.dc[d];
		if (t->level[i] == OBS_LEVEL_INTER_DC)
			continue;
		struct xp_windows_pair *p = xp_windows_pair_at(w, d,
		    topo_dc_pod_index(dc, t->src_host[i]),
		    topo_dc_pod_index(dc, t->dst_host[i]));
		if (t->outcome[i] != OBS_CONNECTED) {
			p->n_failed++;
		} else if (topo_dc_tor_index(dc, t->src_host[i]) !=
		    topo_dc_tor_index(dc, t->dst_host[i])) {
			p->n_success_tors++;
			p->n_drop_tors +=
			    algo_drop_n_lost(&ladder, t->rtt_ns[i]) > 0;
		}
	}
	return rc;
}

/* Read the rows of a window. One that is too large is none: nothing is judged by
 * a part of it. */
static int measure_read(struct xp_windows *w, struct xp_live_window *n,
    struct xp_follow_rows *rows, struct sim_err *e)
{
	rows->most = w->params.max_probes;
	const int rc = xp_follow_window(&w->follow, n->from, n->to, rows, e);
	if (rc != SIM_ELIMIT)
		return rc;
	obs_probes_clear(&w->replay.probes);
	obs_perf_clear(&w->replay.counters);
	obs_http_clear(&w->replay.http);
	w->gets.n = 0;
	n->state = "too_large";
	return 0;
}

static int measure_run(struct xp_windows *w, const struct xp_live_window *n,
    uint32_t jobs, struct xp_dsa_pool *pool, struct xp_dsa_pool *pairs,
    struct sim_err *e)
{
	const struct xp_dsa_window window = {n->from, n->to, n->to - n->from};
	w->replay.jobs = jobs;
	return xp_dsa_replay_rows(&w->replay, &window, pool, pairs, e);
}

int xp_windows_measure(struct xp_windows *w, struct xp_live_window *n,
    struct sim_err *e)
{
	struct xp_dsa_replay *r = &w->replay;
	const int is_counters = n->job == XP_WINDOWS_5MIN;
	struct xp_follow_rows rows = {0};
	*(is_counters ? (void **)&rows.counters : (void **)&rows.probes) =
	    is_counters ? (void *)&r->counters : (void *)&r->probes;
	int rc;
	if (is_counters)
		rows.gets = &w->gets;
	else
		rows.http = &r->http;
	measure_clear(w);
	n->state = "made";
	if ((rc = measure_open_pools(w, e)) < 0 ||
	    (rc = measure_read(w, n, &rows, e)) < 0)
		return rc;
	n->first_file = rows.first_file;
	n->n_records = r->probes.n + r->counters.n;
	if (n->n_records == 0) {
		if (strcmp(n->state, "made") == 0)
			n->state = "empty";
		return 0;
	}
	if (is_counters)
		return measure_run(w, n, XP_DSA_COUNTERS, NULL, NULL, e);
	if ((rc = measure_run(w, n,
		 XP_DSA_DROP_RATE | XP_DSA_SLA | XP_DSA_HEATMAP | XP_DSA_HTTP,
		 &w->pool, &w->pairs, e)) < 0 ||
	    (rc = measure_pairs(w, e)) < 0 ||
	    (rc = xp_dsa_pool_put(&w->pool, &r->tables, e)) < 0)
		return rc;
	return xp_dsa_pool_put(&w->pairs, &w->of_pairs, e);
}

/* --- of shorter windows ----------------------------------------------------*/

static int merge_histogram(struct xp_windows *w, struct res_sql_rows *q,
    struct sim_err *e)
{
	struct xp_dsa_tables *t = &w->replay.tables;
	const char *scope = res_sql_text(q, 1);
	const int is_pair = strcmp(scope, "pod_pair") == 0;
	const uint32_t dc = (uint32_t)res_sql_i64(q, 0);
	size_t n;
	const void *counts = res_sql_blob(q, 6, &n);
	if (dc >= w->info.n_dcs)
		return sim_fail(e, SIM_EPARSE, "there is no data centre %u.",
		    dc);
	const int64_t id = is_pair
	    ? res_sql_i64(q, 2) * w->info.dc[dc].clos.n_pods + res_sql_i64(q, 3)
	    : res_sql_i64(q, 2);
	const struct xp_dsa_pooled_row row = {.data_centre = dc,
	    .kind = is_pair ? ALGO_SLA_POD : xp_windows_kind(scope),
	    .id = (uint32_t)id,
	    .n_success = (uint64_t)res_sql_i64(q, 4),
	    .n_drop = (uint64_t)res_sql_i64(q, 5)};
	xp_dsa_tables_clear(t);
	int rc = XP_DSA_RESERVE(&t->pooled, 1, e);
	if (rc < 0)
		return rc;
	t->pooled.row[t->pooled.n++] = row;
	rc = xp_windows_unpack(&row, counts, n, t, e);
	return rc < 0 ? rc
		      : xp_dsa_pool_take(is_pair ? &w->pairs : &w->pool, t, e);
}

static int merge_histograms(struct xp_windows *w,
    const struct xp_live_window *n, struct sim_err *e)
{
	struct res_sql_rows *q;
	int rc = res_sql_ask(&q, w->db, e,
	    "SELECT dc, scope, scope_id, scope_id2, n_success, n_drop, counts "
	    "FROM histogram WHERE" XP_WINDOWS_PARTS,
	    XP_WINDOWS_PART_VALUES(n));
	while (rc >= 0 && (rc = res_sql_next(q, e)) > 0)
		rc = merge_histogram(w, q, e);
	res_sql_done(q);
	xp_dsa_tables_clear(&w->replay.tables);
	return rc < 0 ? sim_wrap(e, rc, "table histogram") : 0;
}

static int merge_pairs(struct xp_windows *w, const struct xp_live_window *n,
    struct sim_err *e)
{
	struct res_sql_rows *q;
	int rc = res_sql_ask(&q, w->db, e,
	    "SELECT dc, src_pod, dst_pod, sum(n_failed), sum(n_success_tors), "
	    "sum(n_drop_tors) FROM pod_pair WHERE" XP_WINDOWS_PARTS
	    " GROUP BY dc, src_pod, dst_pod",
	    XP_WINDOWS_PART_VALUES(n));
	while (rc >= 0 && (rc = res_sql_next(q, e)) > 0) {
		const int64_t d = res_sql_i64(q, 0), src = res_sql_i64(q, 1),
			      dst = res_sql_i64(q, 2);
		if (d < 0 || d >= w->info.n_dcs || src < 0 || dst < 0 ||
		    src >= w->info.dc[d].clos.n_pods ||
		    dst >= w->info.dc[d].clos.n_pods) {
			rc = sim_fail(e, SIM_EPARSE,
			    "table pod_pair has pods that there are not.");
			break;
		}
		*xp_windows_pair_at(w, (uint32_t)d, (uint32_t)src,
		    (uint32_t)dst) =
		    (struct xp_windows_pair){.n_failed =
						 (uint64_t)res_sql_i64(q, 3),
			.n_success_tors = (uint64_t)res_sql_i64(q, 4),
			.n_drop_tors = (uint64_t)res_sql_i64(q, 5)};
	}
	res_sql_done(q);
	return rc;
}

/* Rows of `summary` of the parts: probes that were sent, and how many servers
 * were heard of, on average. */
static int merge_summaries(struct xp_windows *w, const struct xp_live_window *n,
    struct sim_err *e)
{
	struct xp_dsa_tables *t = &w->replay.tables;
	struct res_sql_rows *q;
	int rc = res_sql_ask(&q, w->db, e,
	    "SELECT dc, sum(n_probes), avg(seen_share) FROM summary "
	    "WHERE" XP_WINDOWS_PARTS " GROUP BY dc ORDER BY dc",
	    XP_WINDOWS_PART_VALUES(n));
	t->summary.n = 0;
	while (rc >= 0 && (rc = res_sql_next(q, e)) > 0) {
		if ((rc = XP_DSA_RESERVE(&t->summary, 1, e)) < 0)
			break;
		t->summary.row[t->summary.n++] =
		    (struct xp_dsa_summary_row){.data_centre =
						    (uint32_t)res_sql_i64(q, 0),
			.n_probes = (uint64_t)res_sql_i64(q, 1),
			.seen_share = res_sql_f64(q, 2),
			.n_silent = UINT32_MAX,
			.drop_rate = NAN,
			.p99_us = NAN,
			.n_alerts = NAN};
	}
	res_sql_done(q);
	return rc;
}

static int merge_drop_rates(struct xp_windows *w,
    const struct xp_live_window *n, struct xp_dsa_summary_row *sum,
    struct sim_err *e)
{
	struct algo_drop_rate rate[ALGO_DROP_N_GROUPS] = {0};
	const struct xp_dsa_key key = {.data_centre = sum->data_centre};
	struct res_sql_rows *q;
	int rc = res_sql_ask(&q, w->db, e,
	    "SELECT probes, sum(n_success), sum(n_drop), sum(n_unclear), "
	    "sum(n_failed) FROM drop_rate WHERE dc = ?4 AND" XP_WINDOWS_PARTS
	    " GROUP BY probes",
	    XP_WINDOWS_PART_VALUES(n), RES_SQL_I64(sum->data_centre));
	while (rc >= 0 && (rc = res_sql_next(q, e)) > 0) {
		const size_t g =
		    sim_word_find(algo_drop_groups, res_sql_text(q, 0));
		if (g < ALGO_DROP_N_GROUPS)
			rate[g] =
			    (struct algo_drop_rate){.n_success =
							(uint64_t)res_sql_i64(q,
							    1),
				.n_drop = (uint64_t)res_sql_i64(q, 2),
				.n_unclear = (uint64_t)res_sql_i64(q, 3),
				.n_failed = (uint64_t)res_sql_i64(q, 4)};
	}
	res_sql_done(q);
	if (rc < 0 ||
	    (rc = algo_drop_rate_judge(rate, w->replay.params.conf, e)) < 0)
		return rc;
	return xp_dsa_put_drop_rate(&key, rate, &w->replay.tables, sum, e);
}

/* The heat map of pods and the tier that drops at random, of merged counts. */
static int merge_patterns(struct xp_windows *w, struct xp_dsa_summary_row *sum,
    struct sim_err *e)
{
	struct xp_dsa *d = &w->replay.dc[sum->data_centre];
	const struct xp_dsa_key key = {.data_centre = sum->data_centre};
	const uint32_t n_pods = d->dc.clos.n_pods;
	enum algo_heatmap_pattern pattern;
	int rc = algo_heatmap_init(&d->heatmap, n_pods, n_pods, e);
	for (size_t i = 0; rc == 0 && i < w->of_pairs.pooled.n; i++) {
		const struct xp_dsa_pooled_row *r = &w->of_pairs.pooled.row[i];
		if (r->data_centre == sum->data_centre)
			d->heatmap.p99_us[r->id] = r->p99_us;
	}
	if (rc < 0 ||
	    (rc = algo_heatmap_classify(&d->heatmap, &d->params.heatmap,
		 &pattern, e)) < 0)
		return rc;
	sum->pod_pattern = (uint8_t)(1 + pattern);
	algo_silent_drop_clear(&d->silent);
	for (uint32_t a = 0; a < n_pods; a++)
		for (uint32_t b = 0; b < n_pods; b++) {
			const struct xp_windows_pair *p =
			    xp_windows_pair_at(w, sum->data_centre, a, b);
			algo_silent_drop_count(&d->silent, a, b,
			    p->n_success_tors, p->n_drop_tors);
		}
	rc = algo_silent_drop_judge(&d->silent, e);
	return rc < 0
	    ? rc
	    : xp_dsa_put_silent_drop(d, &key, &w->replay.tables, sum, e);
}

/* How many ToRs were asked to be reloaded on the day of a window, before it. */
static int merge_reloads(struct xp_windows *w, const struct xp_live_window *n,
    struct sim_err *e)
{
	const sim_ns day = XP_DSA_DAY_S * SIM_SEC;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < w->info.n_dcs; i++) {
		int64_t n_reloaded = 0;
		rc = res_sql_one(w->db,
		    "SELECT count(*) FROM black_hole b JOIN window w ON w.id = "
		    "b.window WHERE w.job = '1hour' AND w.from_ns >= ? AND "
		    "w.from_ns < ? AND b.dc = ? AND b.action = 'reload'",
		    RES_SQL_VALUES(RES_SQL_I64(n->from - n->from % day),
			RES_SQL_I64(n->from), RES_SQL_I64(i)),
		    0, &n_reloaded, e);
		w->replay.dc[i].day = n->from / day;
		w->replay.dc[i].n_reloaded = (uint32_t)n_reloaded;
	}
	return rc;
}

/* Black holes of an hour, of its probes. If these are too many the rest of the
 * hour is there all the same, and says so. */
static int merge_black_holes(struct xp_windows *w, struct xp_live_window *n,
    struct sim_err *e)
{
	struct xp_follow_rows rows = {.probes = &w->replay.probes};
	const char *state = n->state;
	int rc;
	if (n->job != XP_WINDOWS_1HOUR)
		return 0;
	if ((rc = measure_read(w, n, &rows, e)) < 0 ||
	    (rc = merge_reloads(w, n, e)) < 0)
		return rc;
	n->has_black_holes = strcmp(n->state, "too_large") != 0;
	n->state = state;
	n->first_file = rows.first_file;
	return n->has_black_holes && w->replay.probes.n > 0
	    ? measure_run(w, n, XP_DSA_BLACKHOLE, NULL, NULL, e)
	    : 0;
}

static int merge_count(struct xp_windows *w, struct xp_live_window *n,
    struct sim_err *e)
{
	int64_t n_records = 0;
	const int rc = res_sql_one(w->db,
	    "SELECT sum(n_records) FROM window WHERE job = ? AND from_ns >= ? "
	    "AND to_ns <= ?",
	    RES_SQL_VALUES(XP_WINDOWS_PART_VALUES(n)), 0, &n_records, e);
	n->n_records = (uint64_t)n_records;
	n->state = n_records > 0 ? "made" : "empty";
	n->first_file = -1;
	return rc;
}

int xp_windows_merge(struct xp_windows *w, struct xp_live_window *n,
    struct sim_err *e)
{
	struct xp_dsa_tables *t = &w->replay.tables;
	int rc;
	measure_clear(w);
	if ((rc = merge_count(w, n, e)) < 0 || n->n_records == 0 ||
	    (rc = measure_open_pools(w, e)) < 0 ||
	    (rc = merge_histograms(w, n, e)) < 0 ||
	    (rc = merge_black_holes(w, n, e)) < 0 ||
	    (rc = merge_pairs(w, n, e)) < 0 ||
	    (rc = merge_summaries(w, n, e)) < 0 ||
	    (rc = xp_dsa_pool_put(&w->pool, t, e)) < 0 ||
	    (rc = xp_dsa_pool_put(&w->pairs, &w->of_pairs, e)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < t->summary.n; i++) {
		struct xp_dsa_summary_row *sum = &t->summary.row[i];
		if ((rc = merge_drop_rates(w, n, sum, e)) == 0)
			rc = merge_patterns(w, sum, e);
	}
	return rc;
}
