/* experiments/live/windows_times.c -- servers' levels, and GETs, of longer windows too.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A quantile of quantiles is none, so what longer windows need of these scopes is
 * counted in the buckets of experiments/pingmesh/dsa/pool.h, and kept as bytes. A
 * pool in memory would take 13 KiB a server; so counts are made scope by scope, of
 * times that are sorted, and added up scope by scope as the database has them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/windows_counts.h"
#include "experiments/live/windows_parts.h"
#include "experiments/pingmesh/dsa/parts.h"
#include "experiments/pingmesh/dsa/pool.h"
#include "sim/text.h"
#include "sim/vec.h"

enum times_what { TIMES_CONNECT, TIMES_HTTP };
static const char *const times_words[] = {"connect", "http", NULL};

/* A scope and, in its last bits, a bucket: sorted, they are the rows in order. */
enum { BUCKET_BITS = 11, ID_BITS = 32, KIND_BITS = 3 };
static_assert(XP_DSA_POOL_BUCKETS <= 1 << BUCKET_BITS, "buckets have bits");

struct times {
	size_t n, cap;
	uint64_t *key;
};

static int times_add(struct times *t, uint32_t dc, enum algo_sla_kind kind,
    uint32_t id, sim_ns ns, struct sim_err *e)
{
	const uint64_t scope =
	    (uint64_t)(dc << KIND_BITS | (uint32_t)kind) << ID_BITS | id;
	const int rc = SIM_RESERVE(&t->key, &t->cap, t->n + 1, e);
	if (rc == 0)
		t->key[t->n++] = scope << BUCKET_BITS |
		    algo_pingmesh_bucket_of(ns, XP_DSA_POOL_SUB_BITS);
	return rc;
}

static int times_by_key(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* --- a scope's counts ------------------------------------------------------*/

struct times_scope {
	uint32_t dc, id;
	uint8_t kind;
	enum times_what what;
	uint64_t n_success, n_drop;
	uint64_t count[XP_DSA_POOL_BUCKETS];
};

static int times_put_counts(struct xp_windows_put *p,
    const struct times_scope *s)
{
	struct xp_dsa_histogram_row row[XP_DSA_POOL_BUCKETS];
	unsigned char bytes[15 * XP_DSA_POOL_BUCKETS];
	size_t n = 0;
	for (uint32_t b = 0; b < XP_DSA_POOL_BUCKETS; b++)
		if (s->count[b] > 0)
			row[n++] = (struct xp_dsa_histogram_row){.bucket = b,
			    .n = s->count[b]};
	const size_t size = xp_windows_pack(row, n, bytes);
	return res_sql_run(p->w->db, p->e,
	    "INSERT INTO time_counts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	    RES_SQL_I64(p->n->id), RES_SQL_I64(s->dc),
	    RES_SQL_TEXT(times_words[s->what]),
	    RES_SQL_TEXT(xp_windows_scopes[s->kind]), RES_SQL_I64(s->id),
	    RES_SQL_I64(s->n_success), RES_SQL_I64(s->n_drop),
	    RES_SQL_BLOB(bytes, size));
}

/* Of nearest rank, the end of its bucket. */
static double times_quantile_us(const struct times_scope *s, double q)
{
	const uint64_t rank = (uint64_t)ceil(q * (double)s->n_success);
	uint64_t seen = 0;
	for (uint32_t b = 0; b < XP_DSA_POOL_BUCKETS; b++)
		if ((seen += s->count[b]) >= rank && seen > 0)
			return (double)algo_pingmesh_bucket_end_of(b,
				   XP_DSA_POOL_SUB_BITS) /
			    1e3;
	return NAN;
}

/* --- of probes -------------------------------------------------------------*/

/* Connects of servers, as algos/pingmesh/sla.h counts them: those to other data
 * centres are left out. */
static int times_of_connects(const struct xp_windows *w, struct times *t,
    struct sim_err *e)
{
	const struct obs_probes *x = &w->replay.probes;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < x->n; i++) {
		const topo_host h = x->src_host[i];
		const uint32_t dc = topo_dcs_find(w->info.dc, w->info.n_dcs, h);
		if (x->outcome[i] == OBS_CONNECTED &&
		    x->level[i] != OBS_LEVEL_INTER_DC)
			rc = times_add(t, dc, ALGO_SLA_SERVER,
			    topo_dc_index(&w->info.dc[dc], h), x->rtt_ns[i], e);
	}
	return rc;
}

static int times_of_gets(const struct xp_windows *w, struct times *t,
    struct sim_err *e)
{
	const struct obs_http *x = &w->replay.http;
	int rc = 0;
	for (size_t i = 0; i < x->n; i++) {
		const topo_host h = x->src_host[i];
		const uint32_t dc = topo_dcs_find(w->info.dc, w->info.n_dcs, h);
		if (x->answer[i] != AGENT_ANSWER_OK ||
		    x->level[i] == OBS_LEVEL_INTER_DC)
			continue;
		for (int k = ALGO_SLA_TOR; k < ALGO_SLA_N_KINDS; k++) {
			uint32_t one[1];
			const uint32_t *id;
			const size_t n = xp_dsa_scopes_of(&w->replay.dc[dc],
			    (enum algo_sla_kind)k, h, one, &id);
			for (size_t j = 0; rc == 0 && j < n; j++)
				rc = times_add(t, dc, (enum algo_sla_kind)k,
				    id[j], x->answer_ns[i], e);
		}
	}
	return rc;
}

/* Drops of a server stand in its level; rows of these go up, as scopes here do. */
static uint64_t times_drops(const struct xp_windows_put *p,
    const struct times_scope *s, size_t *at)
{
	for (; s->what == TIMES_CONNECT && *at < p->t->sla.n; ++*at) {
		const struct xp_dsa_sla_row *r = &p->t->sla.row[*at];
		if (r->kind == s->kind && r->id == s->id &&
		    r->data_centre == s->dc)
			return r->n_drop;
	}
	return 0;
}

static int times_put_sorted(struct xp_windows_put *p, struct times *t,
    enum times_what what)
{
	size_t at = 0;
	int rc = 0;
	if (t->n > 0)
		qsort(t->key, t->n, sizeof(*t->key), times_by_key);
	for (size_t i = 0; rc == 0 && i < t->n;) {
		const uint64_t scope = t->key[i] >> BUCKET_BITS;
		const uint32_t of = (uint32_t)(scope >> ID_BITS);
		struct times_scope s = {.what = what,
		    .id = (uint32_t)scope,
		    .dc = of >> KIND_BITS,
		    .kind = (uint8_t)(of & ((1u << KIND_BITS) - 1))};
		for (; i < t->n && t->key[i] >> BUCKET_BITS == scope; i++) {
			s.n_success++;
			s.count[t->key[i] & ((1u << BUCKET_BITS) - 1)]++;
		}
		s.n_drop = times_drops(p, &s, &at);
		rc = times_put_counts(p, &s);
	}
	return rc;
}

static int times_of_window(struct xp_windows_put *p)
{
	struct times t = {0};
	int rc = times_of_connects(p->w, &t, p->e);
	if (rc == 0)
		rc = times_put_sorted(p, &t, TIMES_CONNECT);
	t.n = 0;
	if (rc == 0 && (rc = times_of_gets(p->w, &t, p->e)) == 0)
		rc = times_put_sorted(p, &t, TIMES_HTTP);
	free(t.key);
	return rc;
}

/* --- of shorter windows ----------------------------------------------------*/

static int times_put_server(struct xp_windows_put *p,
    const struct times_scope *s)
{
	const struct algo_sla_params *bound = &p->w->replay.params.sla;
	const int is_judged = s->n_success >= bound->min_probes;
	struct xp_windows_level l = {.dc = s->dc,
	    .id = s->id,
	    .kind = s->kind,
	    .n_success = s->n_success,
	    .n_drop = s->n_drop,
	    .drop_rate = (double)s->n_drop / (double)s->n_success,
	    .p50_us = times_quantile_us(s, 0.5),
	    .p99_us = times_quantile_us(s, 0.99),
	    .p999_us = times_quantile_us(s, 0.999)};
	l.alert_drop = is_judged && l.drop_rate > bound->max_drop_rate;
	l.alert_p99 = is_judged && l.p99_us > bound->max_p99_us;
	return xp_windows_put_level(p, &l);
}

/* A scope is whole: its level, or the times of its row; and its counts for the next
 * longer window, of which there is none of a day. */
static int times_put_merged(struct xp_windows_put *p,
    const struct times_scope *s)
{
	int rc = 0;
	if (s->n_success == 0)
		return 0;
	if (s->what == TIMES_CONNECT)
		rc = times_put_server(p, s);
	else
		rc = res_sql_run(p->w->db, p->e,
		    "UPDATE http SET p50_us = ?, p99_us = ? WHERE window = ? "
		    "AND dc = ? AND scope = ? AND scope_id = ?",
		    RES_SQL_F64(times_quantile_us(s, 0.5)),
		    RES_SQL_F64(times_quantile_us(s, 0.99)),
		    RES_SQL_I64(p->n->id), RES_SQL_I64(s->dc),
		    RES_SQL_TEXT(xp_windows_scopes[s->kind]),
		    RES_SQL_I64(s->id));
	return rc < 0 || p->n->job == XP_WINDOWS_1DAY ? rc
						      : times_put_counts(p, s);
}

/* The scope of a row, which a damaged or forged one may not have. */
static int times_read_scope(const struct xp_windows *w,
    const struct res_sql_rows *q, struct times_scope *s, struct sim_err *e)
{
	const int64_t dc = res_sql_i64(q, 0), id = res_sql_i64(q, 3);
	const size_t what = sim_word_find(times_words, res_sql_text(q, 1));
	*s = (struct times_scope){.kind = xp_windows_kind(res_sql_text(q, 2)),
	    .what = (enum times_what)what};
	if (dc < 0 || dc >= w->info.n_dcs || !times_words[what] ||
	    s->kind >= ALGO_SLA_N_KINDS || id < 0 || id > UINT32_MAX ||
	    (s->kind == ALGO_SLA_SERVER &&
		id >= w->info.dc[dc].clos.all_hosts) ||
	    (s->kind == ALGO_SLA_SERVICE && id >= w->replay.services.n))
		return sim_fail(e, SIM_EPARSE,
		    "table time_counts has a scope that there is not.");
	s->dc = (uint32_t)dc;
	s->id = (uint32_t)id;
	return 0;
}

/* Add the counts of the row that Q stands at. They are of so many successes, or they
 * are damaged. */
static int times_take_row(const struct res_sql_rows *q, struct times_scope *s,
    struct xp_dsa_tables *t, struct sim_err *e)
{
	const struct xp_dsa_pooled_row of = {.data_centre = s->dc};
	const uint64_t n_success = (uint64_t)res_sql_i64(q, 4);
	uint64_t seen = 0;
	size_t n;
	const void *bytes = res_sql_blob(q, 6, &n);
	t->histogram.n = 0;
	const int rc = xp_windows_unpack(&of, bytes, n, t, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < t->histogram.n; i++) {
		const struct xp_dsa_histogram_row *r = &t->histogram.row[i];
		if (r->n > n_success - seen)
			break;
		seen += r->n;
		s->count[r->bucket] += r->n;
	}
	s->n_success += n_success;
	s->n_drop += (uint64_t)res_sql_i64(q, 5);
	return seen == n_success && n_success < (uint64_t)1 << 53
	    ? 0
	    : sim_fail(e, SIM_EPARSE,
		  "counts in table time_counts are damaged.");
}

static int times_is_same(const struct times_scope *a,
    const struct times_scope *b)
{
	return a->dc == b->dc && a->id == b->id && a->kind == b->kind &&
	    a->what == b->what;
}

/* Rows come scope by scope, sorted, so none is read that is being written. */
static int times_merge_rows(struct xp_windows_put *p, struct res_sql_rows *q,
    struct xp_dsa_tables *t)
{
	struct times_scope s = {0}, next;
	int rc = 0;
	while (rc == 0 && (rc = res_sql_next(q, p->e)) > 0) {
		if ((rc = times_read_scope(p->w, q, &next, p->e)) < 0)
			break;
		if (!times_is_same(&s, &next)) {
			rc = times_put_merged(p, &s);
			s = next;
		}
		if (rc == 0)
			rc = times_take_row(q, &s, t, p->e);
	}
	return rc < 0 ? rc : times_put_merged(p, &s);
}

static int times_of_parts(struct xp_windows_put *p)
{
	struct xp_dsa_tables t = {0};
	struct res_sql_rows *q = NULL;
	int rc = res_sql_run(p->w->db, p->e,
	    "INSERT INTO http SELECT ?4, dc, scope, scope_id, sum(n_asked), "
	    "sum(n_ok), sum(n_other), sum(n_malformed), sum(n_cut), "
	    "sum(n_late), NULL, NULL FROM http WHERE" XP_WINDOWS_PARTS
	    " GROUP BY dc, scope, scope_id",
	    XP_WINDOWS_PART_VALUES(p->n), RES_SQL_I64(p->n->id));
	if (rc == 0)
		rc = res_sql_ask(&q, p->w->db, p->e,
		    "SELECT dc, what, scope, scope_id, n_success, n_drop, "
		    "counts FROM time_counts WHERE" XP_WINDOWS_PARTS
		    " ORDER BY what, dc, scope, scope_id",
		    XP_WINDOWS_PART_VALUES(p->n));
	if (rc == 0)
		rc = times_merge_rows(p, q, &t);
	res_sql_done(q);
	xp_dsa_tables_free(&t);
	return rc;
}

int xp_windows_put_times(struct xp_windows_put *p)
{
	switch (p->n->job) {
	case XP_WINDOWS_5MIN:
		return 0;
	case XP_WINDOWS_10MIN:
		return times_of_window(p);
	default:
		return times_of_parts(p);
	}
}
