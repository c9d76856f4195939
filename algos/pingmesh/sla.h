/* algos/pingmesh/sla.h -- service level by scope: P50, P99 and drop rate.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A scope is a server, a ToR, a pod (topo/clos.h; the paper's podset), the data
 * centre, or a service: a named set of servers. Its probes are those that its
 * servers sent within the data centre, all classes together; probes to other
 * data centres are left out, since their P99 is the distance's. Failed connects
 * count nowhere (algos/pingmesh/drop_rate.h says why).
 *
 * Quantiles are exact, of nearest rank, by sorting (algos/vigil/rtt_order.h):
 * an estimate would have to be good at 5 ms and at 9 s.
 *
 * Alerts: a scope of at least min_probes successes whose drop rate is above
 * max_drop_rate, or whose P99 is above max_p99_us. With fewer, one lost SYN
 * would be an alert.
 *
 * Is it the network? For a service:
 *   1. UNKNOWN      it has fewer than min_probes successes
 *   2. NOT_NETWORK  it raises no alert: look elsewhere
 *   3. NETWORK      under some ToR of its servers at least min_share of the
 *		     servers that can be judged, and at least one, alert,
 *		     serving it or not: neighbours share the network
 *   4. UNKNOWN      under each of its ToRs fewer than two servers can be judged
 *   5. SERVERS      otherwise: its own servers are slow, their neighbours not
 * A server can be judged when it has min_probes successes, a ToR when two of
 * its servers can.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 4.3 (thresholds 1e-3 and 5 ms).
 *        DEPARTS: min_probes and rules 3 to 5 are ours; the paper looks only at
 *        whether the service's own level is kept.
 */
#ifndef ALGOS_PINGMESH_SLA_H
#define ALGOS_PINGMESH_SLA_H

#include "algos/pingmesh/drop_rate.h"
#include "algos/vigil/rtt_order.h"
#include "sim/field.h"
#include "topo/dc.h"

struct algo_sla_params {
	double max_drop_rate, max_p99_us;
	uint32_t min_probes;
	double min_share;
};
extern const struct sim_field algo_sla_fields[];

enum algo_sla_kind {
	ALGO_SLA_SERVER,
	ALGO_SLA_TOR,
	ALGO_SLA_POD,
	ALGO_SLA_DC,
	ALGO_SLA_SERVICE,
	ALGO_SLA_N_KINDS
};

enum algo_sla_alert { ALGO_SLA_ALERT_DROP = 1, ALGO_SLA_ALERT_P99 = 2 };

enum algo_sla_verdict {
	ALGO_SLA_UNKNOWN,
	ALGO_SLA_NOT_NETWORK,
	ALGO_SLA_NETWORK,
	ALGO_SLA_SERVERS
};

struct algo_sla_scope {
	uint64_t n_success, n_drop;
	double drop_rate;      /* NaN without successes, as the times */
	double p50_us, p99_us; /* connect times */
	uint32_t alerts;       /* set of enum algo_sla_alert */
};

/* Borrowed until algo_sla_open() returns. */
struct algo_sla_service {
	const char *name;
	const topo_host *server; /* [n], each once */
	size_t n;
};

struct algo_sla {
	struct algo_sla_params params;
	struct topo_dc dc;
	size_t first[ALGO_SLA_N_KINDS + 1]; /* scope of id 0, by kind */
	struct algo_sla_scope *scope;       /* [first[ALGO_SLA_N_KINDS]] */
	enum algo_sla_verdict *verdict;     /* [services] */
	uint32_t *n_servers;                /* [services], in the data centre */

	const struct algo_rtt_order *order; /* by algo_sla_measure() last */

	/* Workings. */
	struct algo_sla_walk *walk; /* [scopes] */
	struct algo_sla_tor *tor;   /* [ToRs] */
	size_t *off;                /* [hosts + 2] into `serves`, by index */
	uint32_t *serves;           /* services of each host */
};

/* The level of DC, of whose services the servers elsewhere are left out.
 * Errors SIM_EINVAL (a service names a server twice), SIM_ENOMEM; S is then
 * empty and needs no closing.
 * Cost O(hosts + servers of services). */
int algo_sla_open(struct algo_sla *s, const struct topo_dc *dc,
    const struct algo_sla_params *params,
    const struct algo_sla_service service[], uint32_t n_services,
    struct sim_err *e);
void algo_sla_close(struct algo_sla *s);

/* Measure every scope by the probes in ORDER, of a table that obs_probes_check()
 * has passed for the data centre, and judge every service.
 * Cost O(hosts + probes * (4 + services of the sender)). */
void algo_sla_measure(struct algo_sla *s, const struct algo_rtt_order *order,
    const struct algo_drop_ladder *ladder);

/* The same for whoever has counted: clear all scopes, fill in n_success and
 * n_drop of servers, sum them up for all other scopes, fill in what is known of
 * times, and judge. A scope without times raises no alert by them. */
void algo_sla_clear(struct algo_sla *s);
void algo_sla_sum(struct algo_sla *s);
void algo_sla_judge(struct algo_sla *s);

/* Or for whoever has the probes in parts. Between clear() and sum() those of each
 * part are counted, in any order. Before judge() the ranks are set and the probes
 * met, now by ascending time: a part is sorted, and none is later than the next. */
void algo_sla_count(struct algo_sla *s, const struct algo_rtt_order *part,
    const struct algo_drop_ladder *ladder);
void algo_sla_rank(struct algo_sla *s);
void algo_sla_meet(struct algo_sla *s, const struct algo_rtt_order *part);

/* Domain  id below the number of that kind. */
static inline const struct algo_sla_scope *algo_sla_at(const struct algo_sla *s,
    enum algo_sla_kind kind, uint32_t id)
{
	return &s->scope[s->first[kind] + id];
}

/* 1 if a service has server H. */
static inline int algo_sla_serves(const struct algo_sla *s, topo_host h)
{
	const uint32_t i = topo_dc_index(&s->dc, h);
	return s->off[i] < s->off[i + 1];
}

#endif
