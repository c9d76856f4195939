/* experiments/live/store_window.c -- the rows of a window, read from chunks.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/live/batch_store.h"
#include "experiments/live/store_follow_parts.h"
#include "sim/vec.h"
#include "experiments/pingmesh/dsa/batch_set.h"
#include "experiments/pingmesh/dsa/rows.h"
#include "results/segments.h"

struct store_window {
	struct xp_follow *f;
	sim_ns from, to;
	struct xp_follow_rows *rows;
	struct xp_batch_set seen; /* of its chunks: a few hours of batches */
	int64_t day;
	uint64_t n;
};

static int store_window_count(struct store_window *w, struct sim_err *e)
{
	return ++w->n > w->rows->most
	    ? sim_fail(e, SIM_ELIMIT,
		  "a window of more than %llu records (--max-probes).",
		  (unsigned long long)w->rows->most)
	    : 0;
}

static int store_window_take_records(struct store_window *w, size_t n,
    struct sim_err *e)
{
	const struct xp_follow *f = w->f;
	struct obs_http_row get;
	struct obs_probe p;
	int rc = algo_pingmesh_wire_decode(f->batch, &f->net6, f->bytes, n, e);
	for (uint32_t i = 0; rc == 0 && i < f->batch->n; i++) {
		const struct algo_pingmesh_record *r = &f->batch->record[i];
		if (r->sent_ns >= w->from && r->sent_ns < w->to &&
		    xp_batch_is_timely(w->day, r->sent_ns) &&
		    xp_dsa_row(f->dc, f->n_dcs, f->batch->src_ip, r, &p) ==
			XP_DSA_ROW &&
		    (rc = store_window_count(w, e)) == 0 &&
		    (rc = obs_probes_add(w->rows->probes, &p, e)) == 0 &&
		    w->rows->http && xp_dsa_http_row(r, &p, &get))
			rc = obs_http_add(w->rows->http, &get, e);
	}
	return rc;
}

static int store_window_add_gets(struct xp_follow_gets *g, uint32_t host,
    const struct algo_pingmesh_window *of, struct sim_err *e)
{
	const uint64_t n = of->n_http_ok + of->n_http_other +
	    of->n_http_malformed + of->n_http_cut + of->n_http_late;
	if (!g || n == 0)
		return 0;
	const int rc = SIM_RESERVE(&g->row, &g->cap, g->n + 1, e);
	if (rc == 0)
		g->row[g->n++] = (struct xp_follow_get){.host = host,
		    .n_of = {[AGENT_ANSWER_OK] = of->n_http_ok,
			[AGENT_ANSWER_OTHER] = of->n_http_other,
			[AGENT_ANSWER_MALFORMED] = of->n_http_malformed,
			[AGENT_ANSWER_CUT] = of->n_http_cut,
			[AGENT_ANSWER_LATE] = of->n_http_late},
		    .p50_ns = of->http_p50_ns,
		    .p99_ns = of->http_p99_ns};
	return rc;
}

static int store_window_take_counters(struct store_window *w, size_t n,
    struct sim_err *e)
{
	const struct xp_follow *f = w->f;
	struct algo_pingmesh_window of;
	struct obs_perf_row row;
	int rc =
	    algo_pingmesh_wire_decode_window(&of, &f->net6, f->bytes, n, e);
	if (rc == 0 && of.end_ns > w->from && of.end_ns <= w->to &&
	    xp_batch_is_timely(w->day, of.start_ns) &&
	    xp_batch_is_timely(w->day, of.end_ns) &&
	    xp_dsa_counters_row(f->n_hosts, &of, &row) == XP_DSA_ROW &&
	    (rc = store_window_count(w, e)) == 0 &&
	    (rc = obs_perf_add(w->rows->counters, &row, e)) == 0)
		rc = store_window_add_gets(w->rows->gets, row.host, &of, e);
	return rc;
}

/* A batch that is in the files twice is there as a whole, and both are of this
 * window, or none is. */
static int store_window_take(struct store_window *w,
    const struct algo_pingmesh_wire_id *id, size_t n, struct sim_err *e)
{
	const int is_counters = id->kind == ALGO_PINGMESH_OF_COUNTERS;
	if (is_counters ? !w->rows->counters : !w->rows->probes)
		return 0;
	const uint64_t before = w->n;
	int rc = xp_batch_set_take(&w->seen, id, e);
	if (rc <= 0)
		return rc;
	rc = is_counters ? store_window_take_counters(w, n, e)
			 : store_window_take_records(w, n, e);
	return rc < 0 ? rc : w->n > before;
}

static int store_window_read(struct store_window *w, const char *name,
    int64_t file, uint64_t from, uint64_t to, struct sim_err *e)
{
	struct xp_follow *f = w->f;
	struct algo_pingmesh_wire_id id;
	uint64_t size;
	size_t n = 0;
	FILE *in;
	int rc = xp_follow_file(f, name, from, &in, &size, e);
	w->day = res_segments_day(name);
	while (in && rc >= 0 && from < to &&
	    (rc = xp_batch_next(in, f->bytes, &n, &id, e)) == XP_BATCH_MORE) {
		from += n;
		rc = store_window_take(w, &id, n, e);
		if (rc > 0 && w->rows->first_file < 0)
			w->rows->first_file = file;
	}
	if (in)
		fclose(in);
	return rc < 0 ? rc : 0;
}

static const char *store_window_name(struct dirent **found, int n, int64_t file)
{
	for (int i = 0; i < n; i++)
		if (xp_follow_number(found[i]->d_name) == file)
			return found[i]->d_name;
	return NULL; /* it was taken away just now */
}

int xp_follow_window(struct xp_follow *f, sim_ns from, sim_ns to,
    struct xp_follow_rows *rows, struct sim_err *e)
{
	struct store_window w = {.f = f,
	    .from = from,
	    .to = to,
	    .rows = rows,
	    .seen = {.max_runs = SIZE_MAX}};
	struct res_sql_rows *q = NULL;
	struct dirent **found;
	int n, rc = xp_follow_list(f, &found, &n, e);
	rows->first_file = -1;
	if (rc == 0)
		rc = res_sql_ask(&q, f->db, e,
		    "SELECT file, from_byte, to_byte FROM chunk WHERE last_ns "
		    ">= ? AND first_ns <= ? ORDER BY file, from_byte",
		    RES_SQL_I64(from), RES_SQL_I64(to));
	while (rc >= 0 && (rc = res_sql_next(q, e)) > 0) {
		const int64_t file = res_sql_i64(q, 0);
		const char *name = store_window_name(found, n, file);
		if (name)
			rc = store_window_read(&w, name, file,
			    (uint64_t)res_sql_i64(q, 1),
			    (uint64_t)res_sql_i64(q, 2), e);
	}
	res_sql_done(q);
	xp_follow_unlist(found, n);
	xp_batch_set_free(&w.seen);
	return rc < 0 ? rc : 0;
}
