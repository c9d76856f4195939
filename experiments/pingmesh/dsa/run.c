/* experiments/pingmesh/dsa/run.c -- what the jobs of a window find, as rows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/parts.h"

const char *const xp_dsa_jobs[] = {"drop_rate", "sla", "heatmap", "blackhole",
    "silent_drop", "counters", "http", NULL};

/* The paper's pipelines (section 3.5): counters every 5 minutes, near-real-time
 * jobs every 10 minutes, and others each hour and each day. A black hole shows
 * only where probes of a pair repeat, and a drop rate of 1e-4 only in many
 * probes, so both of these jobs begin with windows of an hour. */
uint32_t xp_dsa_jobs_of(sim_ns window_ns)
{
	const uint32_t always =
	    XP_DSA_DROP_RATE | XP_DSA_SLA | XP_DSA_HEATMAP | XP_DSA_HTTP;
	if (window_ns <= 300 * SIM_SEC)
		return XP_DSA_COUNTERS;
	if (window_ns < 3600 * SIM_SEC)
		return always;
	if (window_ns < XP_DSA_DAY_S * SIM_SEC)
		return always | XP_DSA_BLACKHOLE | XP_DSA_SILENT_DROP;
	return always | XP_DSA_BLACKHOLE;
}

/* --- tables ----------------------------------------------------------------*/

void xp_dsa_tables_clear(struct xp_dsa_tables *t)
{
#define X(table, columns) t->table.n = 0;
	XP_DSA_TABLES(X)
#undef X
}

void xp_dsa_tables_free(struct xp_dsa_tables *t)
{
#define X(table, columns) free(t->table.row);
	XP_DSA_TABLES(X)
#undef X
	*t = (struct xp_dsa_tables){0};
}

/* --- rows of a job ---------------------------------------------------------*/

int xp_dsa_put_drop_rate(const struct xp_dsa_key *key,
    const struct algo_drop_rate rate[], struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e)
{
	const int rc = XP_DSA_RESERVE(&out->drop_rate, ALGO_DROP_N_GROUPS, e);
	if (rc < 0)
		return rc;
	for (uint8_t g = 0; g < ALGO_DROP_N_GROUPS; g++)
		out->drop_rate.row[out->drop_rate.n++] =
		    (struct xp_dsa_drop_rate_row){XP_DSA_KEY_OF(key),
			.group = g, .n_success = rate[g].n_success,
			.n_drop = rate[g].n_drop,
			.n_unclear = rate[g].n_unclear,
			.n_failed = rate[g].n_failed, .drop_rate = rate[g].rate,
			.drop_rate_lo = rate[g].lo, .drop_rate_hi = rate[g].hi};
	sum->drop_rate = rate[ALGO_DROP_ALL].rate;
	return 0;
}

static int run_drop_rate(struct xp_dsa *d, const struct xp_dsa_key *key,
    const struct obs_probes *t, struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e)
{
	struct algo_drop_rate rate[ALGO_DROP_N_GROUPS];
	struct algo_drop_ladder ladder;
	int rc = xp_dsa_ladder(d, t->syn_wait_ns, &ladder, e);
	if (rc < 0 ||
	    (rc = algo_drop_rate(t, &d->dc, &ladder, d->params.conf, rate, e)) <
		0)
		return rc;
	return xp_dsa_put_drop_rate(key, rate, out, sum, e);
}

/* Verdicts are of services only, and 0 of other scopes is no_service. Millions of
 * rows pass here: all members are named, so none is cleared before. Returns
 * whether the scope alerts. */
static int put_scope(const struct xp_dsa *d, const struct xp_dsa_key *key,
    enum algo_sla_kind kind, uint32_t id, struct xp_dsa_tables *out)
{
	const struct algo_sla_scope *s = algo_sla_at(&d->sla, kind, id);
	const uint8_t drop = (s->alerts & ALGO_SLA_ALERT_DROP) > 0,
		      p99 = (s->alerts & ALGO_SLA_ALERT_P99) > 0;
	out->sla.row[out->sla.n++] = (struct xp_dsa_sla_row){XP_DSA_KEY_OF(key),
	    .recording = 0, .kind = (uint8_t)kind, .id = id,
	    .n_success = s->n_success, .n_drop = s->n_drop,
	    .drop_rate = s->drop_rate, .p50_us = s->p50_us, .p99_us = s->p99_us,
	    .alert_drop = drop, .alert_p99 = p99,
	    .verdict = kind == ALGO_SLA_SERVICE
		? (uint8_t)(1 + d->sla.verdict[id])
		: 0};
	return drop || p99;
}

int xp_dsa_put_sla(const struct xp_dsa *d, const struct xp_dsa_key *key,
    struct xp_dsa_tables *out, struct xp_dsa_summary_row *sum,
    struct sim_err *e)
{
	const size_t *first = d->sla.first;
	const int rc = XP_DSA_RESERVE(&out->sla, first[ALGO_SLA_N_KINDS], e);
	uint32_t n_alerts = 0;
	if (rc < 0)
		return rc;
	for (int k = 0; k < ALGO_SLA_N_KINDS; k++)
		for (uint32_t id = 0; id < first[k + 1] - first[k]; id++)
			if (k != ALGO_SLA_SERVICE || d->sla.n_servers[id] > 0)
				n_alerts += (unsigned)put_scope(d, key,
				    (enum algo_sla_kind)k, id, out);
	sum->p99_us = algo_sla_at(&d->sla, ALGO_SLA_DC, 0)->p99_us;
	sum->n_alerts = n_alerts;
	return 0;
}

static int dsa_run_run_sla(struct xp_dsa *d, const struct xp_dsa_key *key,
    const struct obs_probes *t, struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e)
{
	const int rc = xp_dsa_sla(d, t, e);
	return rc < 0 ? rc : xp_dsa_put_sla(d, key, out, sum, e);
}

int xp_dsa_put_heatmap(const struct xp_dsa *d, const struct xp_dsa_key *key,
    enum algo_heatmap_unit unit, struct xp_dsa_tables *out, struct sim_err *e)
{
	const struct algo_heatmap *m = &d->heatmap;
	const int rc =
	    XP_DSA_RESERVE(&out->heatmap, (size_t)m->n_units * m->n_units, e);
	if (rc < 0)
		return rc;
	const double *cell = m->p99_us;
	for (uint32_t i = 0; i < m->n_units; i++)
		for (uint32_t j = 0; j < m->n_units; j++)
			out->heatmap.row[out->heatmap.n++] =
			    (struct xp_dsa_heatmap_row){XP_DSA_KEY_OF(key),
				.unit = (uint8_t)unit, .src = i, .dst = j,
				.p99_us = *cell++};
	return 0;
}

static int run_heatmap(struct xp_dsa *d, const struct xp_dsa_key *key,
    enum algo_heatmap_unit unit, struct xp_dsa_tables *out, uint8_t *pattern,
    struct sim_err *e)
{
	enum algo_heatmap_pattern shown = ALGO_HEATMAP_NORMAL;
	int rc = xp_dsa_heatmap(d, unit, &shown, e);
	if (rc == 0)
		rc = xp_dsa_put_heatmap(d, key, unit, out, e);
	*pattern = (uint8_t)(1 + shown);
	return rc;
}

int xp_dsa_run_blackhole(struct xp_dsa *d, const struct xp_dsa_key *key,
    uint64_t day, const struct obs *seen, struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e)
{
	uint32_t n_of[XP_DSA_N_ACTIONS] = {0};
	int rc = xp_dsa_blackhole(d, seen, day, 1, e);
	if (rc < 0 ||
	    (rc = XP_DSA_RESERVE(&out->blackhole_tors, d->dc.clos.all_tors,
		 e)) < 0)
		return rc;
	for (uint32_t i = 0; i < d->dc.clos.all_tors; i++) {
		const struct algo_blackhole_tor *tor = &d->blackhole.tor[i];
		n_of[tor->action]++;
		out->blackhole_tors.row[out->blackhole_tors.n++] =
		    (struct xp_dsa_blackhole_tors_row){XP_DSA_KEY_OF(key),
			.tor = i, .n_alive = tor->n_alive,
			.n_symptom = tor->n_symptom, .score = tor->score,
			.action = (uint8_t)tor->action};
	}
	sum->n_reload = n_of[ALGO_BLACKHOLE_RELOAD];
	sum->n_defer = n_of[ALGO_BLACKHOLE_DEFER];
	sum->n_escalate = n_of[ALGO_BLACKHOLE_ESCALATE];
	return 0;
}

int xp_dsa_put_silent_drop(const struct xp_dsa *d, const struct xp_dsa_key *key,
    struct xp_dsa_tables *out, struct xp_dsa_summary_row *sum,
    struct sim_err *e)
{
	const int rc =
	    XP_DSA_RESERVE(&out->silent_drop_cells, d->silent.n_cells, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < d->silent.n_cells; i++) {
		const struct algo_silent_drop_cell *c = &d->silent.cell[i];
		out->silent_drop_cells.row[out->silent_drop_cells.n++] =
		    (struct xp_dsa_silent_drop_cells_row){XP_DSA_KEY_OF(key),
			.rank = (uint32_t)i, .pod = c->pod, .pod2 = c->pod2,
			.n_success = c->n_success, .n_drop = c->n_drop,
			.drop_rate_lo = c->lo, .drop_rate_hi = c->hi,
			.suffers = c->suffers};
	}
	sum->tier = (uint8_t)(1 + d->silent.tier);
	return 0;
}

static int run_silent_drop(struct xp_dsa *d, const struct xp_dsa_key *key,
    const struct obs_probes *t, struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e)
{
	const struct obs_probe_source all = obs_probes_whole(t);
	const int rc = xp_dsa_silent_drop(d, &all, e);
	return rc < 0 ? rc : xp_dsa_put_silent_drop(d, key, out, sum, e);
}

/* --- a window --------------------------------------------------------------*/

/* Recorded time and servers that were heard of are two reasons not to have seen
 * everything, so their shares are multiplied. */
struct xp_dsa_key xp_dsa_make_key(struct xp_dsa *d,
    const struct xp_dsa_window *w, const uint32_t sender[], size_t n,
    struct xp_dsa_summary_row *sum)
{
	const uint32_t n_hosts = d->dc.clos.all_hosts;
	uint32_t n_heard = 0;
	memset(d->heard, 0, n_hosts);
	for (size_t i = 0; i < n; i++) {
		uint8_t *heard = &d->heard[topo_dc_index(&d->dc, sender[i])];
		n_heard += !*heard;
		*heard = 1;
	}
	const struct xp_dsa_key key = {
	    .data_centre = d->dc.id,
	    .from_s = (double)w->from / 1e9,
	    .to_s = (double)w->to / 1e9,
	    .seen_share = (double)w->recorded_ns / (double)(w->to - w->from) *
		((double)n_heard / n_hosts),
	    .n_probes = n,
	};
	sum->data_centre = key.data_centre;
	sum->from_s = key.from_s;
	sum->to_s = key.to_s;
	sum->seen_share = key.seen_share;
	sum->n_probes = key.n_probes;
	sum->n_silent = n_hosts - n_heard;
	return key;
}

static int run_on_probes(struct xp_dsa *d, const struct xp_dsa_key *key,
    uint64_t day, uint32_t jobs, const struct obs_probes *t,
    struct xp_dsa_tables *out, struct xp_dsa_summary_row *sum,
    struct sim_err *e)
{
	const struct obs seen = {.probes = obs_probes_whole(t)};
	int rc = 0;
	if (jobs & (XP_DSA_SLA | XP_DSA_HEATMAP))
		rc = xp_dsa_order(d, t, e);
	if (rc == 0 && jobs & XP_DSA_SLA)
		rc = dsa_run_run_sla(d, key, t, out, sum, e);
	if (rc == 0 && jobs & XP_DSA_DROP_RATE)
		rc = run_drop_rate(d, key, t, out, sum, e);
	if (rc == 0 && jobs & XP_DSA_HEATMAP)
		rc = run_heatmap(d, key, ALGO_HEATMAP_TOR, out,
		    &sum->tor_pattern, e);
	if (rc == 0 && jobs & XP_DSA_HEATMAP)
		rc = run_heatmap(d, key, ALGO_HEATMAP_POD, out,
		    &sum->pod_pattern, e);
	if (rc == 0 && jobs & XP_DSA_BLACKHOLE)
		rc = xp_dsa_run_blackhole(d, key, day, &seen, out, sum, e);
	if (rc == 0 && jobs & XP_DSA_SILENT_DROP)
		rc = run_silent_drop(d, key, t, out, sum, e);
	return rc;
}

/* Of a window in which nothing was recorded nothing is judged, because jobs
 * would take the silence for the death of all servers. */
static int is_blank(const struct xp_dsa_window *w, size_t n_rows)
{
	return w->recorded_ns == 0 && n_rows == 0;
}

/* A row of counters stands for many probes; the key's number is their sum. */
static int use_counters(struct xp_dsa *d, const struct xp_dsa_window *w,
    const struct obs_perf *t, struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e)
{
	const int rc =
	    obs_perf_check(t, d->dc.first_host, d->dc.clos.all_hosts, e);
	if (rc < 0)
		return rc;
	struct xp_dsa_key key = xp_dsa_make_key(d, w, t->host, t->n, sum);
	key.n_probes = 0;
	for (size_t i = 0; i < t->n; i++)
		key.n_probes += t->n_probes[i];
	sum->n_probes = key.n_probes;
	if (is_blank(w, t->n))
		return 0;
	return xp_dsa_sum_counters(d, &key, t, out, sum, e);
}

static int use_probes(struct xp_dsa *d, const struct xp_dsa_window *w,
    uint32_t jobs, const struct obs_probes *t, struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e)
{
	const uint64_t day = w->from / (XP_DSA_DAY_S * SIM_SEC);
	const int rc =
	    obs_probes_check(t, d->dc.first_host, d->dc.clos.all_hosts, e);
	if (rc < 0)
		return rc;
	const struct xp_dsa_key key =
	    xp_dsa_make_key(d, w, t->src_host, t->n, sum);
	if (is_blank(w, t->n))
		return 0;
	return run_on_probes(d, &key, day, jobs, t, out, sum, e);
}

int xp_dsa_run(struct xp_dsa *d, const struct xp_dsa_window *w, uint32_t jobs,
    const struct obs_probes *probes, const struct obs_perf *counters,
    struct xp_dsa_tables *out, struct sim_err *e)
{
	struct xp_dsa_summary_row sum = {.drop_rate = NAN,
	    .p99_us = NAN,
	    .n_alerts = NAN,
	    .n_reload = NAN,
	    .n_defer = NAN,
	    .n_escalate = NAN};
	int rc = 0;
	/* Probes come second, since both fill the same members of the summary
	 * and what is read from probes is exact. */
	if (jobs & XP_DSA_COUNTERS)
		rc = use_counters(d, w, counters, out, &sum, e);
	if (rc == 0 && jobs & ~(uint32_t)XP_DSA_COUNTERS)
		rc = use_probes(d, w, jobs, probes, out, &sum, e);
	if (rc == 0 && (rc = XP_DSA_RESERVE(&out->summary, 1, e)) == 0)
		out->summary.row[out->summary.n++] = sum;
	return rc;
}
