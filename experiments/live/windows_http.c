/* experiments/live/windows_http.c -- what became of GETs, and who alerts by them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "experiments/live/windows_counts.h"
#include "experiments/live/windows_parts.h"
#include "experiments/pingmesh/dsa/parts.h"
#include "experiments/pingmesh/dsa/rows.h"
#include "sim/vec.h"

static int http_put_row(struct xp_windows_put *p,
    const struct xp_dsa_http_row *r)
{
	return res_sql_run(p->w->db, p->e,
	    "INSERT INTO http VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	    RES_SQL_I64(p->n->id), RES_SQL_I64(r->data_centre),
	    RES_SQL_TEXT(xp_windows_scopes[r->kind]), RES_SQL_I64(r->id),
	    RES_SQL_I64(r->n_asked), RES_SQL_I64(r->n_ok),
	    RES_SQL_I64(r->n_other), RES_SQL_I64(r->n_malformed),
	    RES_SQL_I64(r->n_cut), RES_SQL_I64(r->n_late),
	    RES_SQL_F64(r->p50_us), RES_SQL_F64(r->p99_us));
}

/* Of servers there are none: theirs are few, and in the files of `culprit jobs`. */
static int http_put_found(struct xp_windows_put *p)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < p->t->http.n; i++)
		if (p->t->http.row[i].kind != ALGO_SLA_SERVER)
			rc = http_put_row(p, &p->t->http.row[i]);
	return rc;
}

/* --- of counters -----------------------------------------------------------*/

/* Times are sums of servers' own, each as often as it had a status 200. */
static void http_count(struct xp_dsa_http_row *r, const struct xp_follow_get *g)
{
	const double n_ok = (double)g->n_of[AGENT_ANSWER_OK];
	r->n_ok += g->n_of[AGENT_ANSWER_OK];
	r->n_other += g->n_of[AGENT_ANSWER_OTHER];
	r->n_malformed += g->n_of[AGENT_ANSWER_MALFORMED];
	r->n_cut += g->n_of[AGENT_ANSWER_CUT];
	r->n_late += g->n_of[AGENT_ANSWER_LATE];
	r->p50_us += n_ok * (double)g->p50_ns / 1e3;
	r->p99_us += n_ok * (double)g->p99_ns / 1e3;
}

static int http_put_sums(struct xp_windows_put *p, uint32_t dc,
    enum algo_sla_kind kind, struct xp_dsa_http_row sum[], uint32_t n)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		struct xp_dsa_http_row *r = &sum[i];
		const double n_ok = r->n_ok > 0 ? (double)r->n_ok : NAN;
		r->data_centre = dc;
		r->kind = (uint8_t)kind;
		r->id = i;
		r->n_asked = r->n_ok + r->n_other + r->n_malformed + r->n_cut +
		    r->n_late;
		r->p50_us /= n_ok;
		r->p99_us /= n_ok;
		if (r->n_asked > 0)
			rc = http_put_row(p, r);
	}
	return rc;
}

static int http_sum_dc(struct xp_windows_put *p, uint32_t d)
{
	const struct topo_dc *dc = &p->w->info.dc[d];
	const struct xp_follow_gets *g = &p->w->gets;
	const uint32_t n_tors = dc->clos.all_tors, n_pods = dc->clos.n_pods;
	struct xp_dsa_http_row *tor;
	int rc = SIM_ZALLOC(&tor, (size_t)n_tors + n_pods + 1, p->e);
	if (rc < 0)
		return rc;
	struct xp_dsa_http_row *pod = tor + n_tors, *all = pod + n_pods;
	for (size_t i = 0; i < g->n; i++) {
		const uint32_t h = g->row[i].host;
		if (topo_dcs_find(p->w->info.dc, p->w->info.n_dcs, h) != d)
			continue;
		http_count(&tor[topo_dc_tor_index(dc, h)], &g->row[i]);
		http_count(&pod[topo_dc_pod_index(dc, h)], &g->row[i]);
		http_count(all, &g->row[i]);
	}
	if ((rc = http_put_sums(p, d, ALGO_SLA_TOR, tor, n_tors)) == 0 &&
	    (rc = http_put_sums(p, d, ALGO_SLA_POD, pod, n_pods)) == 0)
		rc = http_put_sums(p, d, ALGO_SLA_DC, all, 1);
	free(tor);
	return rc;
}

static int http_put_counters(struct xp_windows_put *p)
{
	int rc = 0;
	for (uint32_t d = 0; rc == 0 && d < p->w->info.n_dcs; d++)
		rc = http_sum_dc(p, d);
	return rc;
}

/* --- alerts ----------------------------------------------------------------*/

/* The row that Q stands at. */
static int http_judge(struct xp_windows_put *p, const struct res_sql_rows *q)
{
	const struct xp_windows_params *bound = &p->w->params;
	const uint32_t dc = (uint32_t)res_sql_i64(q, 0),
		       id = (uint32_t)res_sql_i64(q, 2);
	const char *scope = res_sql_text(q, 1);
	const double n_asked = res_sql_f64(q, 3), n_ok = res_sql_f64(q, 4);
	const double failed = (n_asked - n_ok) / n_asked;
	const double p99_us = res_sql_f64(q, 5);
	const int is_service = xp_windows_kind(scope) == ALGO_SLA_SERVICE;
	const char *name = is_service && id < p->w->replay.services.n
	    ? p->w->replay.services.service[id].name
	    : NULL;
	const int fails = failed > bound->max_http_failed;
	const int slow = p99_us > bound->max_http_p99_us; /* NaN: no */
	int rc = 0;
	p->n_alerts[dc] += fails || slow;
	if (fails)
		rc = xp_windows_put_alert(p, dc, "http_failed", scope, id, name,
		    failed, bound->max_http_failed, NULL);
	if (rc == 0 && slow)
		rc = xp_windows_put_alert(p, dc, "http_p99_us", scope, id, name,
		    p99_us, bound->max_http_p99_us, NULL);
	return rc;
}

static int http_judge_all(struct xp_windows_put *p)
{
	const uint32_t least = p->w->replay.params.sla.min_probes;
	struct res_sql_rows *q;
	int rc = res_sql_ask(&q, p->w->db, p->e,
	    "SELECT dc, scope, scope_id, n_asked, n_ok, p99_us FROM http WHERE "
	    "window = ? AND n_asked >= ? ORDER BY dc, scope, scope_id",
	    RES_SQL_I64(p->n->id), RES_SQL_I64(least));
	while (rc >= 0 && (rc = res_sql_next(q, p->e)) > 0)
		rc = http_judge(p, q);
	res_sql_done(q);
	return rc < 0 ? rc : 0;
}

/* --- servers that are asked ------------------------------------------------*/

/* GETs to a server, whoever sent them: rows of `http` are of senders, among whom one
 * whose HTTP is broken is lost. */
struct http_asked {
	uint64_t n, n_of[AGENT_N_ANSWERS];
};

/* How most of its GETs failed, in words. */
static const char *http_says(const struct http_asked *x)
{
	static const struct {
		uint8_t answer;
		const char *says;
	} ways[] = {{AGENT_ANSWER_OTHER, "another status"},
	    {AGENT_ANSWER_MALFORMED, "no HTTP"}, {AGENT_ANSWER_CUT, "cut off"},
	    {AGENT_ANSWER_LATE, "no answer in time"}};
	size_t most = 0;
	for (size_t i = 1; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (x->n_of[ways[i].answer] > x->n_of[ways[most].answer])
			most = i;
	return ways[most].says;
}

static int http_judge_server(struct xp_windows_put *p, topo_host h,
    const struct http_asked *x)
{
	const struct xp_windows *w = p->w;
	const uint32_t dc = topo_dcs_find(w->info.dc, w->info.n_dcs, h);
	const double bound = w->params.max_http_failed;
	const double failed =
	    (double)(x->n - x->n_of[AGENT_ANSWER_OK]) / (double)x->n;
	char name[TOPO_IP_TEXT];
	if (x->n < w->replay.params.sla.min_probes || !(failed > bound))
		return 0;
	xp_dsa_name(&w->info.net6, h, name);
	p->n_alerts[dc]++;
	return xp_windows_put_alert(p, dc, "http_failed", "server",
	    topo_dc_index(&w->info.dc[dc], h), name, failed, bound,
	    http_says(x));
}

static int http_judge_servers(struct xp_windows_put *p)
{
	const struct obs_http *t = &p->w->replay.http;
	const uint32_t n_hosts =
	    topo_dcs_n_hosts(p->w->info.dc, p->w->info.n_dcs);
	struct http_asked *server;
	int rc = SIM_ZALLOC(&server, n_hosts, p->e);
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		struct http_asked *x = &server[t->dst_host[i]];
		x->n++;
		x->n_of[t->answer[i]]++;
	}
	for (topo_host h = 0; rc == 0 && h < n_hosts; h++)
		if (server[h].n > 0)
			rc = http_judge_server(p, h, &server[h]);
	free(server);
	return rc;
}

int xp_windows_put_http(struct xp_windows_put *p)
{
	int rc = p->n->job == XP_WINDOWS_5MIN ? http_put_counters(p)
					      : http_put_found(p);
	if (rc == 0 && p->n->job == XP_WINDOWS_10MIN)
		rc = http_judge_servers(p);
	return rc < 0 ? rc : http_judge_all(p);
}
