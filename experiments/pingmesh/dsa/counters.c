/* experiments/pingmesh/dsa/counters.c -- the job on servers' own counters.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "experiments/pingmesh/dsa/parts.h"
#include "sim/stat.h"

/* Quantiles of servers cannot be joined into one of all their probes. What can
 * be said of it needs these sums: means weighted by connects, the largest P99,
 * and the connects of servers whose P99 is too high (see dsa.h). */
static void counters_add(struct xp_dsa_count *c, const struct obs_perf_row *r,
    double max_p99_us)
{
	const double weight = (double)r->n_connected;
	c->n_connected += r->n_connected;
	c->n_unconnected += r->n_unconnected;
	c->n_drop += r->n_drop_1 + r->n_drop_2;
	c->p50_ns += weight * (double)r->p50_ns;
	c->p99_ns += weight * (double)r->p99_ns;
	if ((double)r->p99_ns > max_p99_us * 1e3)
		c->n_slow += r->n_connected;
	if (r->p99_ns > c->p99_max_ns)
		c->p99_max_ns = r->p99_ns;
}

/* As in algos/pingmesh/sla.h, a scope with too few connects is not judged. The
 * P99 of one server's few probes is nearly the slowest of them. So a scope is
 * slow when servers with half of its connects are slow: by their mean it would
 * alert for a single server that stalled. Returns whether the scope alerts. */
static int counters_judge(struct xp_dsa_counters_row *r,
    const struct xp_dsa_count *c, const struct algo_sla_params *p)
{
	const int is_judged = r->n_connected >= p->min_probes;
	const int drop = is_judged && r->drop_rate > p->max_drop_rate;
	const int p99 = is_judged && 2 * c->n_slow >= c->n_connected;
	r->alert_drop = (uint8_t)drop;
	r->alert_p99 = (uint8_t)p99;
	return drop || p99;
}

/* Intervals take a search, and thousands of servers have one of few: as many
 * connects, and none or one lost. */
enum { MEMOS = 1024 };
struct counters_memo {
	uint64_t k, n;
	double lo, hi;
	int known;
};

static int counters_interval(const struct xp_dsa *d,
    struct counters_memo memo[], struct xp_dsa_counters_row *r,
    struct sim_err *e)
{
	const uint64_t k = r->n_drop, n = r->n_connected;
	struct counters_memo *m =
	    &memo[(k * 37 + n) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
	int rc = 0;
	static_assert(MEMOS == 1 << 10, "10 bits are an index");
	if (!m->known || m->k != k || m->n != n) {
		*m = (struct counters_memo){.k = k, .n = n};
		rc = sim_binomial_interval(k, n, d->params.conf, &m->lo, &m->hi,
		    e);
		m->known = rc == 0;
	}
	r->drop_rate_lo = m->lo;
	r->drop_rate_hi = m->hi;
	return rc;
}

/* Millions of rows pass here: all members are named, so none is cleared before.
 */
static int counters_put(const struct xp_dsa *d, struct counters_memo memo[],
    const struct xp_dsa_key *key, enum algo_sla_kind kind, uint32_t id,
    const struct xp_dsa_count *c, struct xp_dsa_counters_row *r,
    struct xp_dsa_summary_row *sum, struct sim_err *e)
{
	const double n = c->n_connected ? (double)c->n_connected : NAN;
	*r = (struct xp_dsa_counters_row){XP_DSA_KEY_OF(key), .recording = 0,
	    .kind = (uint8_t)kind, .id = id, .n_connected = c->n_connected,
	    .n_unconnected = c->n_unconnected, .n_drop = c->n_drop,
	    .drop_rate = (double)c->n_drop / n, .drop_rate_lo = 0,
	    .drop_rate_hi = 0, .p50_us = c->p50_ns / n / 1e3,
	    .p99_us = c->p99_ns / n / 1e3,
	    .p99_max_us = c->n_connected ? (double)c->p99_max_ns / 1e3 : NAN,
	    .alert_drop = 0, .alert_p99 = 0};
	sum->n_alerts += counters_judge(r, c, &d->params.sla);
	return counters_interval(d, memo, r, e);
}

int xp_dsa_sum_counters(struct xp_dsa *d, const struct xp_dsa_key *key,
    const struct obs_perf *t, struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e)
{
	const struct topo_clos *c = &d->dc.clos;
	const size_t n = xp_dsa_n_counts(c);
	const uint32_t n_of[] = {c->all_hosts, c->all_tors, c->n_pods, 1};
	/* One array with the counts of all hosts, then ToRs, pods and the data
	 * centre: the order in which rows are written below. */
	struct xp_dsa_count *host = d->count, *tor = host + c->all_hosts,
			    *pod = tor + c->all_tors, *dc = pod + c->n_pods;
	const double max = d->params.sla.max_p99_us;
	struct counters_memo memo[MEMOS] = {{.known = 0}};
	int rc = XP_DSA_RESERVE(&out->counters, n, e);
	if (rc < 0)
		return rc;
	memset(host, 0, n * sizeof(*host));
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_perf_row r = obs_perf_at(t, i);
		counters_add(&host[topo_dc_index(&d->dc, r.host)], &r, max);
		counters_add(&tor[topo_dc_tor_index(&d->dc, r.host)], &r, max);
		counters_add(&pod[topo_dc_pod_index(&d->dc, r.host)], &r, max);
		counters_add(dc, &r, max);
	}
	const struct xp_dsa_count *at = host;
	sum->n_alerts = 0;
	for (int k = ALGO_SLA_SERVER; k <= ALGO_SLA_DC; k++)
		for (uint32_t id = 0; id < n_of[k]; id++) {
			struct xp_dsa_counters_row *r =
			    &out->counters.row[out->counters.n];
			if ((rc = counters_put(d, memo, key,
				 (enum algo_sla_kind)k, id, at++, r, sum, e)) < 0)
				return rc;
			out->counters.n++;
			/* The last row is the data centre's, and stays. */
			sum->drop_rate = r->drop_rate;
			sum->p99_us = r->p99_us;
		}
	return 0;
}
