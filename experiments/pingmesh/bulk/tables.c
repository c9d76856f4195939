/* experiments/pingmesh/bulk/tables.c -- tables of jobs, from counts of probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/tables.h"

#include <math.h>

#include "experiments/pingmesh/dsa/parts.h"

/* Of all servers; one that sent nothing was not heard of. */
static struct xp_dsa_key key_of_sums(const struct xp_mesh_sums *s,
    const struct xp_dsa *d, struct xp_dsa_summary_row *sum)
{
	const uint32_t n = s->clos.all_hosts;
	uint64_t n_probes = 0;
	uint32_t n_heard = 0;
	for (topo_host h = 0; h < n; h++) {
		const uint64_t k = xp_mesh_sums_n_success(&s->server[h]) +
		    s->server[h].n_failed;
		n_probes += k;
		n_heard += k > 0;
	}
	const struct xp_dsa_key key = {.data_centre = d->dc.id,
	    .from_s = (double)s->from_ns / 1e9,
	    .to_s = (double)(s->from_ns + s->window_ns) / 1e9,
	    .seen_share = (double)n_heard / n,
	    .n_probes = n_probes};
	*sum = (struct xp_dsa_summary_row){XP_DSA_KEY_OF(&key),
	    .n_silent = n - n_heard, .drop_rate = NAN, .p99_us = NAN,
	    .n_alerts = NAN, .n_reload = NAN, .n_defer = NAN,
	    .n_escalate = NAN};
	return key;
}

static int tables_heatmap(struct xp_mesh_sums *s, struct xp_dsa *d,
    enum algo_heatmap_unit unit, const struct xp_dsa_key *key,
    struct sim_rng *r, struct xp_dsa_tables *out, uint8_t *shown,
    struct sim_err *e)
{
	enum algo_heatmap_pattern pattern;
	const int rc = xp_found_heatmap(s, d, unit, r, &pattern, e);
	if (rc < 0)
		return rc;
	*shown = (uint8_t)(1 + pattern);
	return xp_dsa_put_heatmap(d, key, unit, out, e);
}

/* Each period of the window, a row of summary each. */
static int tables_counters(struct xp_mesh_sums *s, struct xp_dsa *d,
    const struct xp_mesh_jobs *j, struct sim_rng *r, struct obs_perf *perf,
    struct xp_dsa_tables *out, struct sim_err *e)
{
	int rc = 0;
	for (uint32_t k = 0; rc == 0 && k < s->n_counters; k++) {
		const sim_ns from = s->from_ns + k * s->counter_ns;
		const struct xp_dsa_window w = {from, from + s->counter_ns,
		    s->counter_ns};
		rc = xp_found_counters(s, k, j->buckets, r, perf, e);
		if (rc == 0)
			rc = xp_dsa_run(d, &w, XP_DSA_COUNTERS, NULL, perf, out,
			    e);
	}
	return rc;
}

/* Days are counted from time 0, as where probes are read. */
static int tables_blackhole(const struct xp_mesh_sums *s,
    struct xp_mesh_pairs *pairs, struct xp_dsa *d, const struct xp_dsa_key *key,
    struct xp_dsa_tables *out, struct xp_dsa_summary_row *sum,
    struct sim_err *e)
{
	const uint64_t day = s->from_ns / (XP_DSA_DAY_S * SIM_SEC);
	struct obs seen = {.n_flows = 0};
	const int rc = xp_mesh_pairs_tell(pairs, 1, &seen.pairs, e);
	return rc < 0 ? rc
		      : xp_dsa_run_blackhole(d, key, day, &seen, out, sum, e);
}

int xp_mesh_tables(struct xp_mesh_sums *s, struct xp_mesh_pairs *pairs,
    struct xp_dsa *d, const struct xp_mesh_jobs *j, struct sim_rng *r,
    struct obs_perf *perf, struct xp_dsa_tables *out, struct sim_err *e)
{
	struct algo_drop_rate rate[ALGO_DROP_N_GROUPS];
	struct xp_dsa_summary_row sum;
	const struct xp_dsa_key key = key_of_sums(s, d, &sum);
	int rc = 0;
	if (j->jobs & XP_DSA_SLA &&
	    (rc = xp_found_sla(s, d, j->scopes, r, e)) == 0)
		rc = xp_dsa_put_sla(d, &key, out, &sum, e);
	if (rc == 0 && j->jobs & XP_DSA_DROP_RATE &&
	    (rc = xp_found_drop_rate(s, d->params.conf, rate, e)) == 0)
		rc = xp_dsa_put_drop_rate(&key, rate, out, &sum, e);
	if (rc == 0 && j->jobs & XP_DSA_HEATMAP && s->tors)
		rc = tables_heatmap(s, d, ALGO_HEATMAP_TOR, &key, r, out,
		    &sum.tor_pattern, e);
	if (rc == 0 && j->jobs & XP_DSA_HEATMAP)
		rc = tables_heatmap(s, d, ALGO_HEATMAP_POD, &key, r, out,
		    &sum.pod_pattern, e);
	if (rc == 0 && j->jobs & XP_DSA_BLACKHOLE)
		rc = tables_blackhole(s, pairs, d, &key, out, &sum, e);
	if (rc == 0 && j->jobs & XP_DSA_SILENT_DROP &&
	    (rc = xp_found_silent_drop(s, d, e)) == 0)
		rc = xp_dsa_put_silent_drop(d, &key, out, &sum, e);
	if (rc == 0 && (rc = XP_DSA_RESERVE(&out->summary, 1, e)) == 0)
		out->summary.row[out->summary.n++] = sum;
	if (rc == 0 && j->jobs & XP_DSA_COUNTERS)
		rc = tables_counters(s, d, j, r, perf, out, e);
	return rc;
}
