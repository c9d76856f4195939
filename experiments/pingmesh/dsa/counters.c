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
static struct xp_dsa_count count_of(const struct obs_perf_row *r,
    double max_p99_us)
{
	const double weight = (double)r->n_connected, p99 = (double)r->p99_ns;
	return (struct xp_dsa_count){.n_connected = r->n_connected,
	    .n_unconnected = r->n_unconnected,
	    .n_drop = r->n_drop_1 + r->n_drop_2,
	    .p50_ns = weight * (double)r->p50_ns,
	    .p99_ns = weight * p99,
	    .p99_max_ns = r->p99_ns,
	    .n_slow = p99 > max_p99_us * 1e3 ? r->n_connected : 0};
}

static void counters_add(struct xp_dsa_count *to, const struct xp_dsa_count *c)
{
	to->n_connected += c->n_connected;
	to->n_unconnected += c->n_unconnected;
	to->n_drop += c->n_drop;
	to->p50_ns += c->p50_ns;
	to->p99_ns += c->p99_ns;
	to->n_slow += c->n_slow;
	if (c->p99_max_ns > to->p99_max_ns)
		to->p99_max_ns = c->p99_max_ns;
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

/* D's counts: those of all hosts, then of ToRs, pods and the data centre, which is
 * the order in which rows are written below. Hosts of a ToR mostly follow each
 * other, and to look for it takes two divisions. */
static void counters_sum(struct xp_dsa *d, const struct obs_perf *t)
{
	const struct topo_clos *c = &d->dc.clos;
	const double max = d->params.sla.max_p99_us;
	struct xp_dsa_count *host = d->count, *tor = host + c->all_hosts,
			    *pod = tor + c->all_tors, *dc = pod + c->n_pods;
	struct xp_dsa_count *of_tor = tor, *of_pod = pod;
	uint32_t first = 0;
	memset(host, 0, xp_dsa_n_counts(c) * sizeof(*host));
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_perf_row r = obs_perf_at(t, i);
		const struct xp_dsa_count one = count_of(&r, max);
		const uint32_t h = topo_dc_index(&d->dc, r.host);
		if (h - first >= c->n_hosts) {
			const uint32_t n = topo_dc_tor_index(&d->dc, r.host);
			first = n * c->n_hosts;
			of_tor = &tor[n];
			of_pod = &pod[topo_dc_pod_index(&d->dc, r.host)];
		}
		counters_add(&host[h], &one);
		counters_add(of_tor, &one);
		counters_add(of_pod, &one);
		counters_add(dc, &one);
	}
}

int xp_dsa_sum_counters(struct xp_dsa *d, const struct xp_dsa_key *key,
    const struct obs_perf *t, struct xp_dsa_tables *out,
    struct xp_dsa_summary_row *sum, struct sim_err *e)
{
	const struct topo_clos *c = &d->dc.clos;
	const uint32_t n_of[] = {c->all_hosts, c->all_tors, c->n_pods, 1};
	const struct xp_dsa_count *at = d->count;
	struct counters_memo memo[MEMOS] = {{.known = 0}};
	int rc = XP_DSA_RESERVE(&out->counters, xp_dsa_n_counts(c), e);
	if (rc < 0)
		return rc;
	counters_sum(d, t);
	sum->n_alerts = 0;
	for (int k = ALGO_SLA_SERVER; k <= ALGO_SLA_DC; k++)
		for (uint32_t id = 0; id < n_of[k]; id++) {
			struct xp_dsa_counters_row *r =
			    &out->counters.row[out->counters.n];
			if ((rc = counters_put(d, memo, key,
				 (enum algo_sla_kind)k, id, at++, r, sum, e)) <
			    0)
				return rc;
			out->counters.n++;
			/* The last row is the data centre's, and stays. */
			sum->drop_rate = r->drop_rate;
			sum->p99_us = r->p99_us;
		}
	return 0;
}
