/* experiments/pingmesh/dsa/replay.c -- a recording's windows, one by one.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/dsa/replay.h"

#include <stdlib.h>

#include "sim/vec.h"

enum { MAX_WINDOWS = 10000000 };

/* --- opening ---------------------------------------------------------------*/

int xp_dsa_replay_begin(struct xp_dsa_replay *r,
    const struct res_recording_info *info, struct sim_err *e)
{
	int rc;
	r->info = info;
	if ((rc = xp_dsa_params_read(&r->params, info->spec, e)) < 0 ||
	    (rc = xp_dsa_services_read(&r->services, info->service,
		 topo_dcs_n_hosts(info->dc, info->n_dcs), e)) < 0)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < info->n_dcs; i++)
		rc = xp_dsa_open(&r->dc[i], &info->dc[i], &r->services,
		    &r->params, e);
	return rc;
}

int xp_dsa_replay_open(struct xp_dsa_replay *r, const char *path,
    struct sim_err *e)
{
	*r = (struct xp_dsa_replay){0};
	int rc = res_recording_open(&r->recording, path, e);
	if (rc < 0)
		return rc;
	rc = xp_dsa_replay_begin(r, res_recording_info(r->recording), e);
	return rc < 0 ? sim_wrap(e, rc, "%s", path) : 0;
}

void xp_dsa_replay_close(struct xp_dsa_replay *r)
{
	for (uint32_t i = 0; i < RES_RECORDING_MAX_DCS; i++)
		xp_dsa_close(&r->dc[i]);
	xp_dsa_services_free(&r->services);
	xp_dsa_tables_free(&r->tables);
	obs_probes_free(&r->probes);
	obs_probes_free(&r->local_probes);
	obs_perf_free(&r->counters);
	obs_perf_free(&r->local_counters);
	obs_http_free(&r->http);
	res_recording_close(r->recording);
	*r = (struct xp_dsa_replay){0};
}

int xp_dsa_replay_plan(struct xp_dsa_replay *r, sim_ns from, sim_ns to,
    sim_ns window, uint32_t jobs, struct sim_err *e)
{
	if (to == SIM_NEVER)
		to = r->info->duration_ns;
	if (to <= from)
		return sim_fail(e, SIM_ERANGE,
		    "no window begins at %g s: the end is at %g s.",
		    (double)from / 1e9, (double)to / 1e9);
	r->from = from;
	r->window = window;
	r->jobs = jobs ? jobs : xp_dsa_jobs_of(window);
	/* Whole windows: the last one begins before TO and may end after it. */
	r->n_windows = r->last = (to - from - 1) / window + 1;
	r->first = 0;
	if (r->n_windows > MAX_WINDOWS)
		return sim_fail(e, SIM_ELIMIT, "%llu windows are more than %d.",
		    (unsigned long long)r->n_windows, MAX_WINDOWS);
	return 0;
}

/* Where the K-th part begins. */
static uint64_t replay_edge(const struct xp_dsa_replay *r, uint32_t k,
    uint32_t of)
{
	const sim_ns day = XP_DSA_DAY_S * SIM_SEC;
	const uint64_t i = r->n_windows * k / of;
	if (k == of || !(r->jobs & XP_DSA_BLACKHOLE))
		return i;
	/* The first window that begins on the same day. */
	const sim_ns begin = (r->from + i * r->window) / day * day;
	return begin <= r->from ? 0
				: (begin - r->from + r->window - 1) / r->window;
}

void xp_dsa_replay_cut(struct xp_dsa_replay *r, uint32_t k, uint32_t of)
{
	r->first = replay_edge(r, k, of);
	r->last = replay_edge(r, k + 1, of);
}

/* --- a window --------------------------------------------------------------*/

/* Jobs take tables of one data centre. With only one, what was read is used as
 * it is, and no rows are copied. */
static int replay_dc(struct xp_dsa_replay *r, const struct xp_dsa_window *w,
    uint32_t dc, struct sim_err *e)
{
	const struct obs_probes *probes = &r->probes;
	const struct obs_perf *counters = &r->counters;
	const struct topo_dc *at = &r->info->dc[dc];
	int rc = 0;
	if (r->info->n_dcs > 1) {
		if ((rc = xp_dsa_local_probes(&r->probes, at, &r->local_probes,
			 e)) < 0 ||
		    (rc = xp_dsa_local_counters(&r->counters, at,
			 &r->local_counters, e)) < 0)
			return rc;
		probes = &r->local_probes;
		counters = &r->local_counters;
	}
	rc =
	    xp_dsa_run(&r->dc[dc], w, r->jobs, probes, counters, &r->tables, e);
	if (rc == 0 && r->jobs & XP_DSA_HTTP)
		rc = xp_dsa_run_http(&r->dc[dc], w, &r->http, &r->tables, e);
	return rc < 0 ? sim_wrap(e, rc, "data centre %u, %g to %g s", dc,
			    (double)w->from / 1e9, (double)w->to / 1e9)
		      : 0;
}

/* A level that found no rows was not measured: its counts are of an earlier
 * window. */
static int replay_pool(const struct xp_dsa_replay *r, uint32_t dc,
    size_t n_before, struct xp_dsa_pool *pool, struct xp_dsa_pool *pairs,
    struct sim_err *e)
{
	const struct algo_sla *s = &r->dc[dc].sla;
	struct algo_drop_ladder ladder;
	int rc = 0;
	if (r->tables.sla.n == n_before)
		return 0;
	if (pool)
		rc = xp_dsa_pool_add(pool, dc, s, e);
	if (rc == 0 && pairs &&
	    (rc = xp_dsa_ladder(&r->dc[dc], r->probes.syn_wait_ns, &ladder,
		 e)) == 0)
		rc = xp_dsa_pool_add_pairs(pairs, dc, s, &ladder, e);
	return rc;
}

int xp_dsa_replay_rows(struct xp_dsa_replay *r, const struct xp_dsa_window *w,
    struct xp_dsa_pool *pool, struct xp_dsa_pool *pairs, struct sim_err *e)
{
	int rc = 0;
	xp_dsa_tables_clear(&r->tables);
	for (uint32_t dc = 0; rc == 0 && dc < r->info->n_dcs; dc++) {
		const size_t n_before = r->tables.sla.n;
		if ((rc = replay_dc(r, w, dc, e)) == 0)
			rc = replay_pool(r, dc, n_before, pool, pairs, e);
	}
	return rc;
}

static void replay_name(struct xp_dsa_tables *t, uint32_t recording)
{
#define X(table, columns)                                                      \
	for (size_t i = 0; i < t->table.n; i++)                                \
		t->table.row[i].recording = recording;
	XP_DSA_WINDOW_TABLES(X)
#undef X
}

static int replay_window(struct xp_dsa_replay *r, uint64_t i,
    const struct xp_dsa_into *into, struct sim_err *e)
{
	struct xp_dsa_window w = {.from = r->from + i * r->window};
	int rc = 0;
	w.to = w.from + r->window;
	w.recorded_ns = res_recording_covered(r->recording, w.from, w.to);
	if (r->jobs & XP_DSA_COUNTERS)
		rc = res_recording_counters(r->recording, w.from, w.to,
		    &r->counters, e);
	if (rc == 0 && r->jobs & ~(uint32_t)XP_DSA_COUNTERS)
		rc = res_recording_probes(r->recording, w.from, w.to,
		    &r->probes, e);
	if (rc == 0 && r->jobs & XP_DSA_HTTP)
		rc =
		    res_recording_http(r->recording, w.from, w.to, &r->http, e);
	if (rc < 0 || (rc = xp_dsa_replay_rows(r, &w, into->pool, NULL, e)) < 0)
		return rc;
	replay_name(&r->tables, into->recording);
	rc = xp_dsa_digest_add(into->digest, &r->tables, e);
	return rc < 0 ? rc : xp_dsa_out_add(into->out, &r->tables, e);
}

int xp_dsa_replay_run(struct xp_dsa_replay *r, const struct xp_dsa_into *into,
    struct sim_err *e)
{
	int rc = 0;
	for (uint64_t i = r->first; rc == 0 && i < r->last; i++)
		if ((rc = replay_window(r, i, into, e)) == 0 && into->tell)
			into->tell(into->arg);
	return rc;
}
