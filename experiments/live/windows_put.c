/* experiments/live/windows_put.c -- a window's rows on their way to the database.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/windows_counts.h"
#include "experiments/live/windows_parts.h"
#include "experiments/pingmesh/dsa/rows.h"
#include "experiments/pingmesh/dsa/pool.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* The word of a code, of which 0 is "not run" and is not measured. */
static const char *windows_put_word(const char *const words[], unsigned code)
{
	return code ? words[code] : NULL;
}

/* --- alerts ----------------------------------------------------------------*/

int xp_windows_put_alert(struct xp_windows_put *p, uint32_t dc,
    const char *kind, const char *scope, uint32_t id, const char *name,
    double value, double bound, const char *says)
{
	return res_sql_run(p->w->db, p->e,
	    "INSERT INTO alert VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
	    RES_SQL_I64(p->n->id), RES_SQL_I64(dc), RES_SQL_TEXT(kind),
	    RES_SQL_TEXT(scope), RES_SQL_I64(id), RES_SQL_TEXT(name),
	    RES_SQL_F64(value), RES_SQL_F64(bound), RES_SQL_TEXT(says));
}

/* --- service levels --------------------------------------------------------*/

static const char *windows_put_name(const struct xp_windows_put *p,
    const struct xp_windows_level *l, char text[TOPO_IP_TEXT])
{
	if (l->kind == ALGO_SLA_SERVICE)
		return p->w->replay.services.service[l->id].name;
	if (l->kind != ALGO_SLA_SERVER)
		return NULL;
	xp_dsa_name(&p->w->info.net6, p->w->info.dc[l->dc].first_host + l->id,
	    text);
	return text;
}

int xp_windows_put_level(struct xp_windows_put *p,
    const struct xp_windows_level *l)
{
	const struct algo_sla_params *bound = &p->w->replay.params.sla;
	const char *scope = xp_windows_scopes[l->kind];
	char text[TOPO_IP_TEXT];
	const char *name = windows_put_name(p, l, text);
	if (l->kind == ALGO_SLA_SERVER && l->n_success == 0)
		return 0;
	int rc = res_sql_run(p->w->db, p->e,
	    "INSERT INTO sla VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	    RES_SQL_I64(p->n->id), RES_SQL_I64(l->dc), RES_SQL_TEXT(scope),
	    RES_SQL_I64(l->id), RES_SQL_TEXT(name), RES_SQL_I64(l->n_success),
	    RES_SQL_I64(l->n_drop), RES_SQL_F64(l->drop_rate),
	    RES_SQL_F64(l->p50_us), RES_SQL_F64(l->p99_us),
	    RES_SQL_F64(l->p999_us), RES_SQL_TEXT(l->verdict));
	if (rc == 0 && l->alert_drop)
		rc = xp_windows_put_alert(p, l->dc, "drop_rate", scope, l->id,
		    name, l->drop_rate, bound->max_drop_rate, l->verdict);
	if (rc == 0 && l->alert_p99)
		rc = xp_windows_put_alert(p, l->dc, "p99_us", scope, l->id,
		    name, l->p99_us, bound->max_p99_us, l->verdict);
	p->n_alerts[l->dc] += l->alert_drop || l->alert_p99;
	if (l->kind == ALGO_SLA_DC)
		p->p99_us[l->dc] = l->p99_us;
	return rc;
}

static int windows_put_sla(struct xp_windows_put *p)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < p->t->sla.n; i++) {
		const struct xp_dsa_sla_row *r = &p->t->sla.row[i];
		rc = xp_windows_put_level(p,
		    &(struct xp_windows_level){r->data_centre, r->id, r->kind,
			r->n_success, r->n_drop, r->drop_rate, r->p50_us,
			r->p99_us, NAN,
			windows_put_word(xp_dsa_verdicts, r->verdict),
			r->alert_drop, r->alert_p99});
	}
	return rc;
}

static int windows_put_counters(struct xp_windows_put *p)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < p->t->counters.n; i++) {
		const struct xp_dsa_counters_row *r = &p->t->counters.row[i];
		rc = xp_windows_put_level(p,
		    &(struct xp_windows_level){r->data_centre, r->id, r->kind,
			r->n_connected, r->n_drop, r->drop_rate, r->p50_us,
			r->p99_us, NAN, NULL, r->alert_drop, r->alert_p99});
	}
	return rc;
}

/* Of longer windows, by the same rule as the shorter ones (algo_sla_judge()). */
static int windows_put_pooled(struct xp_windows_put *p)
{
	const struct algo_sla_params *bound = &p->w->replay.params.sla;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < p->t->pooled.n; i++) {
		const struct xp_dsa_pooled_row *r = &p->t->pooled.row[i];
		const int is_judged = r->n_success >= bound->min_probes;
		rc = xp_windows_put_level(p,
		    &(struct xp_windows_level){r->data_centre, r->id, r->kind,
			r->n_success, r->n_drop, r->drop_rate, r->p50_us,
			r->p99_us, r->p999_us, NULL,
			is_judged && r->drop_rate > bound->max_drop_rate,
			is_judged && r->p99_us > bound->max_p99_us});
	}
	return rc;
}

/* --- counts ----------------------------------------------------------------*/

/* Counts of one scope: those from row FIRST on, N of them. */
static int windows_put_histogram(struct xp_windows_put *p,
    const struct xp_dsa_tables *t, const struct xp_dsa_pooled_row *of,
    size_t first, size_t n, int is_pair)
{
	const uint32_t n_pods = p->w->info.dc[of->data_centre].clos.n_pods;
	unsigned char counts[15 * XP_DSA_POOL_BUCKETS];
	const size_t size =
	    xp_windows_pack(&t->histogram.row[first], n, counts);
	return res_sql_run(p->w->db, p->e,
	    "INSERT INTO histogram VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	    RES_SQL_I64(p->n->id), RES_SQL_I64(of->data_centre),
	    RES_SQL_TEXT(is_pair ? "pod_pair" : xp_windows_scopes[of->kind]),
	    RES_SQL_I64(is_pair ? of->id / n_pods : of->id),
	    RES_SQL_I64(is_pair ? of->id % n_pods : 0),
	    RES_SQL_I64(of->n_success), RES_SQL_I64(of->n_drop),
	    RES_SQL_BLOB(counts, size));
}

/* Rows of `pooled` and of `histogram` are in the same order of scopes. */
static int windows_put_histograms(struct xp_windows_put *p,
    const struct xp_dsa_tables *t, int is_pair)
{
	size_t at = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->pooled.n; i++) {
		const struct xp_dsa_pooled_row *r = &t->pooled.row[i];
		uint64_t n_seen = 0;
		const size_t first = at;
		while (n_seen < r->n_success && at < t->histogram.n)
			n_seen += t->histogram.row[at++].n;
		rc = windows_put_histogram(p, t, r, first, at - first, is_pair);
	}
	return rc;
}

static int windows_put_drop_rates(struct xp_windows_put *p)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < p->t->drop_rate.n; i++) {
		const struct xp_dsa_drop_rate_row *r = &p->t->drop_rate.row[i];
		rc = res_sql_run(p->w->db, p->e,
		    "INSERT INTO drop_rate VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
		    "?)",
		    RES_SQL_I64(p->n->id), RES_SQL_I64(r->data_centre),
		    RES_SQL_TEXT(algo_drop_groups[r->group]),
		    RES_SQL_I64(r->n_success), RES_SQL_I64(r->n_drop),
		    RES_SQL_I64(r->n_unclear), RES_SQL_I64(r->n_failed),
		    RES_SQL_F64(r->drop_rate), RES_SQL_F64(r->drop_rate_lo),
		    RES_SQL_F64(r->drop_rate_hi));
	}
	return rc;
}

/* --- pairs of pods ---------------------------------------------------------*/

static int windows_put_pair(struct xp_windows_put *p,
    const struct xp_dsa_pooled_row *r, const struct xp_windows_pair *pair,
    double p99_us)
{
	const uint32_t n_pods = p->w->info.dc[r->data_centre].clos.n_pods;
	return res_sql_run(p->w->db, p->e,
	    "INSERT INTO pod_pair VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	    RES_SQL_I64(p->n->id), RES_SQL_I64(r->data_centre),
	    RES_SQL_I64(r->id / n_pods), RES_SQL_I64(r->id % n_pods),
	    RES_SQL_I64(r->n_success), RES_SQL_I64(r->n_drop),
	    RES_SQL_I64(pair->n_failed), RES_SQL_I64(pair->n_success_tors),
	    RES_SQL_I64(pair->n_drop_tors), RES_SQL_F64(r->drop_rate),
	    RES_SQL_F64(r->p50_us), RES_SQL_F64(p99_us));
}

/* The exact P99s of a window that has them; NULL of one that has not. They are
 * rows of pods in the order of pairs. */
static const struct xp_dsa_heatmap_row *
windows_put_find_exact(const struct xp_windows_put *p, uint32_t dc)
{
	for (size_t i = 0; i < p->t->heatmap.n; i++)
		if (p->t->heatmap.row[i].data_centre == dc &&
		    p->t->heatmap.row[i].unit == ALGO_HEATMAP_POD)
			return &p->t->heatmap.row[i];
	return NULL;
}

/* Pairs with a success have a row of `pooled`, those in order; pairs with failures
 * alone have none. */
static int windows_put_pairs(struct xp_windows_put *p)
{
	const struct xp_dsa_tables *of = &p->w->of_pairs;
	size_t at = 0;
	int rc = 0;
	for (uint32_t dc = 0; dc < p->w->info.n_dcs; dc++) {
		const uint32_t n_pods = p->w->info.dc[dc].clos.n_pods;
		const struct xp_dsa_heatmap_row *exact =
		    windows_put_find_exact(p, dc);
		for (uint32_t i = 0; rc == 0 && i < n_pods * n_pods; i++) {
			const struct xp_windows_pair *pair =
			    &p->w->pair[p->w->first_pair[dc] + i];
			struct xp_dsa_pooled_row row = {.data_centre = dc,
			    .id = i,
			    .drop_rate = NAN,
			    .p50_us = NAN,
			    .p99_us = NAN};
			if (at < of->pooled.n &&
			    of->pooled.row[at].data_centre == dc &&
			    of->pooled.row[at].id == i)
				row = of->pooled.row[at++];
			if (row.n_success > 0 || pair->n_failed > 0)
				rc = windows_put_pair(p, &row, pair,
				    exact ? exact[i].p99_us : row.p99_us);
		}
	}
	return rc;
}

/* --- findings --------------------------------------------------------------*/

static int windows_put_black_holes(struct xp_windows_put *p)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < p->t->blackhole_tors.n; i++) {
		const struct xp_dsa_blackhole_tors_row *r =
		    &p->t->blackhole_tors.row[i];
		const char *action = xp_dsa_actions[r->action];
		if (!(r->score > 0) && r->action == ALGO_BLACKHOLE_NONE)
			continue;
		rc = res_sql_run(p->w->db, p->e,
		    "INSERT INTO black_hole VALUES (?, ?, ?, ?, ?, ?, ?)",
		    RES_SQL_I64(p->n->id), RES_SQL_I64(r->data_centre),
		    RES_SQL_I64(r->tor), RES_SQL_I64(r->n_alive),
		    RES_SQL_I64(r->n_symptom), RES_SQL_F64(r->score),
		    RES_SQL_TEXT(action));
		if (rc == 0 && r->action != ALGO_BLACKHOLE_NONE)
			rc = xp_windows_put_alert(p, r->data_centre,
			    "black_hole", "tor", r->tor, NULL, r->score, NAN,
			    action);
	}
	return rc;
}

static int windows_put_random_drops(struct xp_windows_put *p)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < p->t->silent_drop_cells.n; i++) {
		const struct xp_dsa_silent_drop_cells_row *r =
		    &p->t->silent_drop_cells.row[i];
		if (r->suffers)
			rc = res_sql_run(p->w->db, p->e,
			    "INSERT INTO random_drop VALUES (?, ?, ?, ?, ?, ?, "
			    "?, ?)",
			    RES_SQL_I64(p->n->id), RES_SQL_I64(r->data_centre),
			    RES_SQL_I64(r->pod), RES_SQL_I64(r->pod2),
			    RES_SQL_I64(r->n_success), RES_SQL_I64(r->n_drop),
			    RES_SQL_F64(r->drop_rate_lo),
			    RES_SQL_F64(r->drop_rate_hi));
	}
	return rc;
}

static int windows_put_summary(struct xp_windows_put *p,
    const struct xp_dsa_summary_row *r)
{
	const uint32_t dc = r->data_centre;
	const char *pattern = windows_put_word(xp_dsa_patterns, r->pod_pattern);
	const char *tier = windows_put_word(xp_dsa_tiers, r->tier);
	int rc = res_sql_run(p->w->db, p->e,
	    "INSERT INTO summary VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	    RES_SQL_I64(p->n->id), RES_SQL_I64(dc), RES_SQL_I64(r->n_probes),
	    r->n_silent == UINT32_MAX ? RES_SQL_NULL : RES_SQL_I64(r->n_silent),
	    RES_SQL_F64(r->seen_share), RES_SQL_F64(r->drop_rate),
	    RES_SQL_F64(p->p99_us[dc]), RES_SQL_I64(p->n_alerts[dc]),
	    RES_SQL_TEXT(pattern),
	    RES_SQL_TEXT(windows_put_word(xp_dsa_patterns, r->tor_pattern)),
	    RES_SQL_TEXT(tier));
	if (rc == 0 && r->pod_pattern > 1 + ALGO_HEATMAP_NORMAL)
		rc = xp_windows_put_alert(p, dc, "pattern", "dc", 0, NULL, NAN,
		    NAN, pattern);
	if (rc == 0 && r->tier > 1 + ALGO_SILENT_DROP_NONE)
		rc = xp_windows_put_alert(p, dc, "random_drops", "dc", 0, NULL,
		    NAN, NAN, tier);
	return rc;
}

/* --- watchdogs -------------------------------------------------------------*/

static int windows_put_watchdog(struct xp_windows_put *p, const char *name,
    int ok, const char *says)
{
	return res_sql_run(p->w->db, p->e,
	    "INSERT INTO watchdog VALUES (?, ?, ?, ?)", RES_SQL_I64(p->n->id),
	    RES_SQL_TEXT(name), RES_SQL_I64(ok), RES_SQL_TEXT(says));
}

static int windows_put_watchdogs(struct xp_windows_put *p)
{
	const struct xp_live_window *n = p->n;
	const sim_ns late = n->now > n->due ? n->now - n->due : 0;
	uint64_t n_silent = 0, n_hosts = 0;
	char says[128];
	int rc = 0;
	/* A window that is made anew was on time or not the first time. */
	if (!n->is_anew) {
		snprintf(says, sizeof(says),
		    "made %" PRIu64 " s after it was due", late / SIM_SEC);
		rc = windows_put_watchdog(p, "on_time", late <= n->to - n->from,
		    says);
	}
	snprintf(says, sizeof(says), "%" PRIu64 " records", n->n_records);
	if (rc == 0)
		rc = windows_put_watchdog(p, "data", n->n_records > 0,
		    strcmp(n->state, "too_large") == 0
			? "more records than --max-probes"
			: says);
	for (size_t i = 0; i < p->t->summary.n; i++) {
		n_silent += p->t->summary.row[i].n_silent;
		n_hosts += p->w->info.dc[p->t->summary.row[i].data_centre]
			       .clos.all_hosts;
	}
	snprintf(says, sizeof(says), "%" PRIu64 " of %" PRIu64 " silent",
	    n_silent, n_hosts);
	if (rc == 0 && n->job <= XP_WINDOWS_10MIN && n->n_records > 0)
		rc = windows_put_watchdog(p, "servers", n_silent == 0, says);
	if (rc == 0 && n->job == XP_WINDOWS_1HOUR && n->n_records > 0)
		rc = windows_put_watchdog(p, "black_holes", n->has_black_holes,
		    n->has_black_holes ? "looked for"
				       : "more records than --max-probes");
	return rc;
}

/* --- the window ------------------------------------------------------------*/

static int windows_put_window(struct xp_windows_put *p)
{
	const struct xp_live_window *n = p->n;
	return res_sql_run(p->w->db, p->e,
	    "INSERT INTO window(id, job, from_ns, to_ns, due_ns, made_ns, "
	    "state, n_records, first_file) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "
	    "nullif(?, -1))",
	    RES_SQL_I64(n->id), RES_SQL_TEXT(xp_windows_jobs[n->job]),
	    RES_SQL_I64(n->from), RES_SQL_I64(n->to), RES_SQL_I64(n->due),
	    RES_SQL_I64(n->now), RES_SQL_TEXT(n->state),
	    RES_SQL_I64(n->n_records), RES_SQL_I64(n->first_file));
}

/* What the window had is gone but for what its watchdog said of the time. */
static int windows_put_anew(struct xp_windows_put *p)
{
	static const char *const gone[] = {
	    "DELETE FROM summary WHERE window = ?",
	    "DELETE FROM drop_rate WHERE window = ?",
	    "DELETE FROM sla WHERE window = ?",
	    "DELETE FROM pod_pair WHERE window = ?",
	    "DELETE FROM http WHERE window = ?",
	    "DELETE FROM time_counts WHERE window = ?",
	    "DELETE FROM alert WHERE window = ?",
	    "DELETE FROM histogram WHERE window = ?",
	    "DELETE FROM watchdog WHERE window = ? AND name <> 'on_time'",
	};
	const struct xp_live_window *n = p->n;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(gone) / sizeof(*gone); i++)
		rc = res_sql_run(p->w->db, p->e, gone[i], RES_SQL_I64(n->id));
	return rc < 0
	    ? rc
	    : res_sql_run(p->w->db, p->e,
		  "UPDATE window SET state = ?, n_records = ?, n_late = ?, "
		  "n_waiting = 0, first_file = nullif(?, -1) WHERE id = ?",
		  RES_SQL_TEXT(n->state), RES_SQL_I64(n->n_records),
		  RES_SQL_I64(n->n_late), RES_SQL_I64(n->first_file),
		  RES_SQL_I64(n->id));
}

int xp_windows_put(struct xp_windows *w, const struct xp_live_window *n,
    struct sim_err *e)
{
	struct xp_windows_put p = {.w = w,
	    .n = n,
	    .t = &w->replay.tables,
	    .e = e};
	const int is_merged = n->job >= XP_WINDOWS_1HOUR;
	int rc;
	for (uint32_t i = 0; i < RES_RECORDING_MAX_DCS; i++)
		p.p99_us[i] = NAN;
	if ((rc = n->is_anew ? windows_put_anew(&p) : windows_put_window(&p)) <
		0 ||
	    (rc = windows_put_sla(&p)) < 0 ||
	    (rc = windows_put_counters(&p)) < 0 ||
	    (is_merged && (rc = windows_put_pooled(&p)) < 0) ||
	    (rc = xp_windows_put_times(&p)) < 0 ||
	    (rc = xp_windows_put_http(&p)) < 0 ||
	    (n->job != XP_WINDOWS_1DAY &&
		((rc = windows_put_histograms(&p, p.t, 0)) < 0 ||
		    (rc = windows_put_histograms(&p, &w->of_pairs, 1)) < 0)) ||
	    (rc = windows_put_drop_rates(&p)) < 0 ||
	    (rc = windows_put_pairs(&p)) < 0 ||
	    (rc = windows_put_black_holes(&p)) < 0 ||
	    (rc = windows_put_random_drops(&p)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < p.t->summary.n; i++)
		rc = windows_put_summary(&p, &p.t->summary.row[i]);
	return rc < 0 ? rc : windows_put_watchdogs(&p);
}
