/* experiments/pingmesh/bulk/found.c -- what jobs find in counts of probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/found.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/pingmesh/perf.h"
#include "sim/stat.h"
#include "sim/vec.h"

/* --- late connects of a scope ---------------------------------------------- */

/* The times of late connects by scope. They are needed only where a rank is
 * above all quick ones or a link delays, which mostly is nowhere, so the list is made when the
 * first asks, and those of a scope are sorted when it does. */
struct found_late {
	const struct xp_mesh_sums *s;
	uint64_t (*scope_of)(const struct xp_mesh_sums *s,
	    const struct xp_mesh_sums_late *l);
	size_t n_scopes;
	size_t *begin; /* [n_scopes + 2] those of scope i are us[begin[i]] to
			  us[begin[i + 1] - 1]; NULL: not yet made */
	double *us;    /* [s->n_late] */
};

static uint64_t late_server(const struct xp_mesh_sums *s,
    const struct xp_mesh_sums_late *l)
{
	(void)s;
	return l->src;
}

static uint64_t late_tor(const struct xp_mesh_sums *s,
    const struct xp_mesh_sums_late *l)
{
	return l->src / s->clos.n_hosts;
}

static uint64_t late_pod(const struct xp_mesh_sums *s,
    const struct xp_mesh_sums_late *l)
{
	return l->src / (s->clos.n_hosts * s->clos.n_tors);
}

static uint64_t late_all(const struct xp_mesh_sums *s,
    const struct xp_mesh_sums_late *l)
{
	(void)s, (void)l;
	return 0;
}

static uint64_t late_tors(const struct xp_mesh_sums *s,
    const struct xp_mesh_sums_late *l)
{
	return (uint64_t)late_tor(s, l) * s->clos.all_tors +
	    l->dst / s->clos.n_hosts;
}

static uint64_t late_pods(const struct xp_mesh_sums *s,
    const struct xp_mesh_sums_late *l)
{
	return (uint64_t)late_pod(s, l) * s->clos.n_pods +
	    l->dst / (s->clos.n_hosts * s->clos.n_tors);
}

/* While times are put there begin[i + 1] is where scope i's next one goes. */
static int found_make_late(struct found_late *f, struct sim_err *e)
{
	const struct xp_mesh_sums *s = f->s;
	int rc;
	if (f->begin)
		return 0;
	if ((rc = SIM_ZALLOC(&f->us, s->n_late, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->begin, f->n_scopes + 2, e)) < 0)
		return rc;
	for (size_t i = 0; i < s->n_late; i++)
		f->begin[f->scope_of(s, &s->late[i]) + 2]++;
	for (size_t k = 0; k < f->n_scopes; k++)
		f->begin[k + 2] += f->begin[k + 1];
	for (size_t i = 0; i < s->n_late; i++)
		f->us[f->begin[f->scope_of(s, &s->late[i]) + 1]++] =
		    (double)xp_mesh_sums_rtt_ns(&s->late[i]) / 1e3;
	return 0;
}

/* Those of SCOPE, ascending. */
static const double *found_late_of(const struct found_late *f, uint64_t scope)
{
	double *us = f->us + f->begin[scope];
	sim_sort_finite(us, f->begin[scope + 1] - f->begin[scope]);
	return us;
}

static void found_free_late(struct found_late *f)
{
	free(f->begin);
	free(f->us);
}

/* --- service level --------------------------------------------------------- */

/* P50 and P99 of SCOPE, whose counts are C. */
static int found_scope_times(const struct xp_mesh_sums *s,
    const struct xp_mesh_sums_cell *c, struct found_late *late, uint64_t scope,
    struct sim_rng *r, double us[2], struct sim_err *e)
{
	const uint64_t n = xp_mesh_sums_n_success(c);
	const uint64_t rank[] = {algo_rtt_rank(n, 50), algo_rtt_rank(n, 99)};
	const double *late_us = NULL;
	us[0] = us[1] = NAN;
	if (n == 0)
		return 0;
	if (xp_mesh_sums_asks_late(s, c, rank[1])) {
		const int rc = found_make_late(late, e);
		if (rc < 0)
			return rc;
		late_us = found_late_of(late, scope);
	}
	if (rank[0] == rank[1]) {
		xp_mesh_sums_times(s, c, late_us, rank, 1, r, us);
		us[1] = us[0];
	} else {
		xp_mesh_sums_times(s, c, late_us, rank, 2, r, us);
	}
	return 0;
}

/* What N servers from FIRST on sent; of whole pods it is counted by pair, too. */
static struct xp_mesh_sums_cell found_sum(const struct xp_mesh_sums *s,
    uint32_t first, uint32_t n)
{
	const uint32_t of_pod = s->clos.n_hosts * s->clos.n_tors;
	const struct xp_mesh_sums_cell *cell = &s->server[first];
	struct xp_mesh_sums_cell sum = {.n_late = 0};
	if (n % of_pod == 0) {
		cell = &s->pods[first / of_pod * s->clos.n_pods];
		n = n / of_pod * s->clos.n_pods;
	}
	for (uint32_t i = 0; i < n; i++)
		xp_mesh_sums_add(&sum, &cell[i]);
	return sum;
}

/* The times of scope ID of KIND, which is N servers from FIRST on. */
static int found_set_times(struct xp_mesh_sums *s, struct xp_dsa *d,
    enum algo_sla_kind kind, uint32_t id, uint32_t first, uint32_t n,
    struct found_late *late, struct sim_rng *r, struct sim_err *e)
{
	struct algo_sla_scope *to = &d->sla.scope[d->sla.first[kind] + id];
	const struct xp_mesh_sums_cell sum = found_sum(s, first, n);
	double us[2];
	const int rc = found_scope_times(s, &sum, late, id, r, us, e);
	to->p50_us = us[0];
	to->p99_us = us[1];
	return rc;
}

/* Of all scopes of a kind that divides servers evenly; with MARK of those that
 * it marks alone. */
static int found_set_kind(struct xp_mesh_sums *s, struct xp_dsa *d,
    enum algo_sla_kind kind, const uint8_t mark[], struct sim_rng *r,
    struct sim_err *e)
{
	static uint64_t (*const scope_of[])(const struct xp_mesh_sums *,
	    const struct xp_mesh_sums_late *) = {late_server, late_tor,
	    late_pod, late_all};
	const uint32_t n =
	    (uint32_t)(d->sla.first[kind + 1] - d->sla.first[kind]);
	const uint32_t each = s->clos.all_hosts / n;
	struct found_late late = {.s = s,
	    .scope_of = scope_of[kind],
	    .n_scopes = n};
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		if (!mark || mark[i])
			rc = found_set_times(s, d, kind, i, i * each, each,
			    &late, r, e);
	found_free_late(&late);
	return rc;
}

static int serves(const struct algo_sla *a, uint32_t h, uint32_t service)
{
	for (size_t i = a->off[h]; i < a->off[h + 1]; i++)
		if (a->serves[i] == service)
			return 1;
	return 0;
}

/* Servers of services are any, so late ones are gathered one by one. */
static int found_set_service(struct xp_mesh_sums *s, struct xp_dsa *d,
    uint32_t v, struct sim_rng *r, struct sim_err *e)
{
	struct algo_sla *a = &d->sla;
	struct algo_sla_scope *to = &a->scope[a->first[ALGO_SLA_SERVICE] + v];
	struct xp_mesh_sums_cell sum = {.n_late = 0};
	struct xp_mesh_sums own = *s;
	struct found_late late = {.s = &own,
	    .scope_of = late_all,
	    .n_scopes = 1};
	double us[2];
	int rc = SIM_ZALLOC(&own.late, s->n_late, e);
	if (rc < 0)
		return rc;
	own.n_late = 0;
	for (size_t i = 0; i < s->n_late; i++)
		if (serves(a, s->late[i].src, v))
			own.late[own.n_late++] = s->late[i];
	for (uint32_t h = 0; h < s->clos.all_hosts; h++)
		if (serves(a, h, v))
			xp_mesh_sums_add(&sum, &s->server[h]);
	rc = found_scope_times(s, &sum, &late, 0, r, us, e);
	to->p50_us = us[0];
	to->p99_us = us[1];
	found_free_late(&late);
	free(own.late);
	return rc;
}

/* Servers under a ToR of which one serves. */
static void mark_neighbours(const struct xp_mesh_sums *s,
    const struct algo_sla *a, uint8_t mark[])
{
	const uint32_t n = s->clos.n_hosts;
	for (uint32_t t = 0; t < s->clos.all_tors; t++)
		memset(mark + t * n, a->off[(t + 1) * n] > a->off[t * n], n);
}

/* Whether the network is to blame is asked only where a service alerts, which
 * mostly none does: then servers need times. */
static int found_ask_neighbours(struct xp_mesh_sums *s, struct xp_dsa *d,
    struct sim_rng *r, struct sim_err *e)
{
	struct algo_sla *a = &d->sla;
	size_t i = a->first[ALGO_SLA_SERVICE];
	uint8_t *mark;
	int rc;
	while (i < a->first[ALGO_SLA_N_KINDS] && !a->scope[i].alerts)
		i++;
	if (i == a->first[ALGO_SLA_N_KINDS])
		return 0;
	if ((rc = SIM_ZALLOC(&mark, s->clos.all_hosts, e)) < 0)
		return rc;
	mark_neighbours(s, a, mark);
	rc = found_set_kind(s, d, ALGO_SLA_SERVER, mark, r, e);
	free(mark);
	if (rc == 0)
		algo_sla_judge(a);
	return rc;
}

int xp_found_sla(struct xp_mesh_sums *s, struct xp_dsa *d, uint32_t scopes,
    struct sim_rng *r, struct sim_err *e)
{
	struct algo_sla *a = &d->sla;
	int rc = 0;
	algo_sla_clear(a);
	for (uint32_t h = 0; h < s->clos.all_hosts; h++) {
		a->scope[h].n_success = xp_mesh_sums_n_success(&s->server[h]);
		a->scope[h].n_drop = s->server[h].n_drop;
	}
	algo_sla_sum(a);
	for (int k = 0; rc == 0 && k < ALGO_SLA_SERVICE; k++)
		if (scopes >> k & 1)
			rc = found_set_kind(s, d, (enum algo_sla_kind)k, NULL,
			    r, e);
	const size_t n_services =
	    a->first[ALGO_SLA_N_KINDS] - a->first[ALGO_SLA_SERVICE];
	for (uint32_t v = 0; rc == 0 && v < n_services; v++)
		if (scopes >> ALGO_SLA_SERVICE & 1)
			rc = found_set_service(s, d, v, r, e);
	if (rc < 0)
		return rc;
	algo_sla_judge(a);
	return scopes & XP_FOUND_NEIGHBOURS ? found_ask_neighbours(s, d, r, e)
					    : 0;
}

/* --- heat maps -------------------------------------------------------------- */

int xp_found_heatmap(struct xp_mesh_sums *s, struct xp_dsa *d,
    enum algo_heatmap_unit unit, struct sim_rng *r,
    enum algo_heatmap_pattern *pattern, struct sim_err *e)
{
	const int by_pod = unit == ALGO_HEATMAP_POD;
	const uint32_t n = by_pod ? s->clos.n_pods : s->clos.all_tors;
	const struct xp_mesh_sums_cell *cell = by_pod ? s->pods : s->tors;
	struct found_late late = {.s = s,
	    .scope_of = by_pod ? late_pods : late_tors,
	    .n_scopes = (size_t)n * n};
	int rc = algo_heatmap_init(&d->heatmap, n, s->clos.n_pods, e);
	for (size_t i = 0; rc == 0 && i < (size_t)n * n; i++) {
		const uint64_t all = xp_mesh_sums_n_success(&cell[i]);
		const uint64_t rank = algo_rtt_rank(all, 99);
		const double *late_us = NULL;
		if (all == 0)
			continue;
		if (xp_mesh_sums_asks_late(s, &cell[i], rank)) {
			if ((rc = found_make_late(&late, e)) < 0)
				break;
			late_us = found_late_of(&late, i);
		}
		xp_mesh_sums_times(s, &cell[i], late_us, &rank, 1, r,
		    &d->heatmap.p99_us[i]);
	}
	found_free_late(&late);
	return rc < 0 ? rc
		      : algo_heatmap_classify(&d->heatmap, &d->params.heatmap,
			    pattern, e);
}

/* --- drops ------------------------------------------------------------------ */

int xp_found_silent_drop(struct xp_mesh_sums *s, struct xp_dsa *d,
    struct sim_err *e)
{
	const uint32_t n = s->clos.n_pods;
	algo_silent_drop_clear(&d->silent);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			const struct xp_mesh_sums_cell *c = &s->pods[a * n + b];
			const struct xp_mesh_sums_cell *own = &s->intra_tor[a];
			const int same = a == b;
			algo_silent_drop_count(&d->silent, a, b,
			    xp_mesh_sums_n_success(c) -
				(same ? xp_mesh_sums_n_success(own) : 0),
			    c->n_drop - (same ? own->n_drop : 0));
		}
	return algo_silent_drop_judge(&d->silent, e);
}

int xp_found_drop_rate(const struct xp_mesh_sums *s, double conf,
    struct algo_drop_rate out[], struct sim_err *e)
{
	static const enum algo_drop_group group[] = {ALGO_DROP_INTRA_TOR,
	    ALGO_DROP_INTRA_POD, ALGO_DROP_INTER_POD};
	for (int g = 0; g < ALGO_DROP_N_GROUPS; g++)
		out[g] = (struct algo_drop_rate){.n_success = 0};
	for (int h = 0; h < CONNECTS_N_HOPS; h++) {
		const struct xp_mesh_sums_cell *c = &s->group[h];
		struct algo_drop_rate *to[] = {&out[ALGO_DROP_ALL],
		    &out[group[h]]};
		for (int k = 0; k < 2; k++) {
			to[k]->n_success += xp_mesh_sums_n_success(c);
			to[k]->n_drop += c->n_drop;
			to[k]->n_unclear += c->n_unclear;
			to[k]->n_failed += c->n_failed;
		}
	}
	return algo_drop_rate_judge(out, conf, e);
}

/* --- counters ---------------------------------------------------------------- */

/* The bucket of RANK among quick ones and those KNOWN. Above all of them it is
 * that of the first rung, whichever late time it was: one of seconds in any case. */
static sim_ns counter_time(const struct xp_mesh_sums *s, struct xp_buckets *b,
    const uint64_t quick[], const struct connects_known *known, uint64_t rank,
    struct sim_rng *r)
{
	const uint64_t all = quick[0] + quick[1] + quick[2];
	sim_ns time = s->ladder.rung_ns[0];
	double us;
	if (known->n == 0 && rank <= all)
		return xp_buckets_draw(b, quick, rank, r);
	if (rank <= all + known->n) {
		connects_order_draw(&s->order, quick, known, &rank, 1, r, &us);
		time = (sim_ns)llround(us * 1e3);
	}
	return algo_pingmesh_bucket_end(algo_pingmesh_bucket(time));
}

/* Those that a link delayed, of a server in a period: from *AT on, which goes to
 * the next one's. */
static struct connects_known counter_known(const struct xp_mesh_sums *s,
    uint32_t period, topo_host h, size_t *at)
{
	const struct xp_mesh_sums_delayed *d = s->delayed;
	while (*at < s->n_delayed && d[*at].period < period)
		++*at;
	const size_t first = *at;
	while (*at < s->n_delayed && d[*at].period == period && d[*at].src == h)
		++*at;
	return (
	    struct connects_known){*at > first ? s->delayed_us + first : NULL,
	    *at - first};
}

/* The times of a server of whose round trips that many are DUE in a period. */
static void counter_times(const struct xp_mesh_sums *s, const uint32_t due[],
    const struct xp_mesh_sums_counter *c, const struct connects_known *known,
    struct xp_buckets *b, struct sim_rng *r, struct obs_perf_row *row)
{
	const uint64_t n = row->n_connected;
	const uint64_t rank[] = {algo_rtt_rank(n, 50), algo_rtt_rank(n, 99)};
	uint64_t quick[CONNECTS_N_HOPS];
	sim_ns end[2];
	for (int k = 0; k < CONNECTS_N_HOPS; k++)
		quick[k] = due[k] > c->n_rows[k] ? due[k] - c->n_rows[k] : 0;
	for (int i = 0; i < 2; i++)
		end[i] = counter_time(s, b, quick, known, rank[i], r);
	row->p50_ns = end[0];
	row->p99_ns = end[0] > end[1] ? end[0] : end[1];
}

/* Servers under TOR in period K; *AT is where those that a link delayed begin. */
static int found_tor_counters(struct xp_mesh_sums *s, uint32_t k, uint32_t tor,
    struct xp_buckets *b, struct sim_rng *r, size_t *at, struct obs_perf *out,
    struct sim_err *e)
{
	const uint32_t n_hosts = s->clos.n_hosts, *of = s->due_server[tor];
	const uint64_t all = (of[0] + of[1] + of[2]) / s->n_counters;
	uint32_t due[CONNECTS_N_HOPS];
	int rc = 0;
	for (int h = 0; h < CONNECTS_N_HOPS; h++)
		due[h] = of[h] / s->n_counters;
	for (topo_host h = tor * n_hosts; rc == 0 && h < (tor + 1) * n_hosts;
	     h++) {
		const struct xp_mesh_sums_counter *c =
		    &s->counter[(size_t)k * s->clos.all_hosts + h];
		const uint64_t n = all - c->n_untold;
		struct obs_perf_row row = {.end_ns = s->from_ns +
			(k + 1) * s->counter_ns,
		    .host = h,
		    .n_probes = n,
		    .n_connected = n > c->n_failed ? n - c->n_failed : 0,
		    .n_unconnected = c->n_failed,
		    .n_drop_1 = c->n_drop_1,
		    .n_drop_2 = c->n_drop_2};
		const struct connects_known known = counter_known(s, k, h, at);
		if (row.n_connected > 0)
			counter_times(s, due, c, &known, b, r, &row);
		rc = obs_perf_add(out, &row, e);
	}
	return rc;
}

int xp_found_counters(struct xp_mesh_sums *s, uint32_t k, struct xp_buckets *b,
    struct sim_rng *r, struct obs_perf *out, struct sim_err *e)
{
	size_t at = 0;
	int rc = 0;
	obs_perf_clear(out);
	for (uint32_t t = 0; rc == 0 && t < s->clos.all_tors; t++)
		rc = found_tor_counters(s, k, t, b, r, &at, out, e);
	return rc;
}
