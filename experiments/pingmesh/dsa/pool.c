/* experiments/pingmesh/dsa/pool.c -- connect times over many windows, as counts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/dsa/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/parts.h"
#include "sim/stat.h"

#define CONF 0.95

/* --- scopes ----------------------------------------------------------------*/

void xp_dsa_pool_count(uint64_t n_of[XP_DSA_POOL_KINDS],
    const struct topo_dc dc[], uint32_t n_dcs, uint32_t n_services)
{
	for (uint32_t i = 0; i < RES_RECORDING_MAX_DCS; i++) {
		uint64_t *n = &n_of[i * ALGO_SLA_N_KINDS];
		const int is_there = i < n_dcs;
		n[ALGO_SLA_SERVER] = 0; /* too many, of too few probes */
		n[ALGO_SLA_TOR] = is_there ? dc[i].clos.all_tors : 0;
		n[ALGO_SLA_POD] = is_there ? dc[i].clos.n_pods : 0;
		n[ALGO_SLA_DC] = (uint64_t)is_there;
		n[ALGO_SLA_SERVICE] = is_there ? n_services : 0;
	}
}

void xp_dsa_pool_close(struct xp_dsa_pool *p)
{
	for (size_t i = 0; i < p->first[XP_DSA_POOL_KINDS]; i++)
		free(p->scope[i].count);
	free(p->scope);
	*p = (struct xp_dsa_pool){0};
}

int xp_dsa_pool_open(struct xp_dsa_pool *p,
    const uint64_t n_of[XP_DSA_POOL_KINDS], struct sim_err *e)
{
	uint64_t n = 0;
	*p = (struct xp_dsa_pool){0};
	for (int i = 0; i < XP_DSA_POOL_KINDS; i++) {
		/* Compared before it is added, as a file may say anything. */
		if (n_of[i] > XP_DSA_POOL_MAX_SCOPES - n)
			return sim_fail(e, SIM_ELIMIT, "more than %d scopes.",
			    XP_DSA_POOL_MAX_SCOPES);
		n += n_of[i];
	}
	const int rc = SIM_ZALLOC(&p->scope, n, e);
	for (int i = 0; rc == 0 && i < XP_DSA_POOL_KINDS; i++) {
		p->n_of[i] = n_of[i];
		p->first[i + 1] = p->first[i] + n_of[i];
	}
	return rc;
}

/* NULL if there is none, as a file may say. */
static struct xp_dsa_pool_scope *pool_at(const struct xp_dsa_pool *p,
    uint32_t dc, uint32_t kind, uint32_t id)
{
	if (dc >= RES_RECORDING_MAX_DCS || kind >= ALGO_SLA_N_KINDS)
		return NULL;
	const uint32_t i = dc * ALGO_SLA_N_KINDS + kind;
	return id < p->n_of[i] ? &p->scope[p->first[i] + id] : NULL;
}

static int pool_reserve(struct xp_dsa_pool_scope *s, struct sim_err *e)
{
	return s->count ? 0 : SIM_ZALLOC(&s->count, XP_DSA_POOL_BUCKETS, e);
}

/* --- windows ---------------------------------------------------------------*/

/* Numbers of scopes follow from those of servers, which the level has. */
static int pool_add_counts(struct xp_dsa_pool *p, uint32_t dc,
    const struct algo_sla *s, struct sim_err *e)
{
	for (int k = ALGO_SLA_TOR; k < ALGO_SLA_N_KINDS; k++)
		for (uint32_t id = 0; id < s->first[k + 1] - s->first[k];
		     id++) {
			const struct algo_sla_scope *of =
			    algo_sla_at(s, (enum algo_sla_kind)k, id);
			struct xp_dsa_pool_scope *to =
			    pool_at(p, dc, (uint32_t)k, id);
			const int rc =
			    of->n_success > 0 ? pool_reserve(to, e) : 0;
			if (rc < 0)
				return rc;
			to->n_success += of->n_success;
			to->n_drop += of->n_drop;
		}
	return 0;
}

int xp_dsa_pool_add(struct xp_dsa_pool *p, uint32_t dc,
    const struct algo_sla *s, struct sim_err *e)
{
	const int rc = pool_add_counts(p, dc, s, e);
	if (rc < 0)
		return rc;
	const struct xp_dsa_pool_scope *tor = pool_at(p, dc, ALGO_SLA_TOR, 0),
				       *pod = pool_at(p, dc, ALGO_SLA_POD, 0),
				       *all = pool_at(p, dc, ALGO_SLA_DC, 0),
				       *service =
					   pool_at(p, dc, ALGO_SLA_SERVICE, 0);
	for (size_t i = 0; i < s->order->n; i++) {
		const struct algo_rtt_probe *probe = &s->order->probe[i];
		const uint32_t h = topo_dc_index(&s->dc, probe->src_host);
		const uint32_t b = algo_pingmesh_bucket_of(probe->rtt_ns,
		    XP_DSA_POOL_SUB_BITS);
		tor[topo_dc_tor_index(&s->dc, probe->src_host)].count[b]++;
		pod[topo_dc_pod_index(&s->dc, probe->src_host)].count[b]++;
		all->count[b]++;
		for (size_t k = s->off[h]; k < s->off[h + 1]; k++)
			service[s->serves[k]].count[b]++;
	}
	return 0;
}

void xp_dsa_pool_count_pairs(uint64_t n_of[XP_DSA_POOL_KINDS],
    const struct topo_dc dc[], uint32_t n_dcs)
{
	memset(n_of, 0, XP_DSA_POOL_KINDS * sizeof(*n_of));
	for (uint32_t i = 0; i < n_dcs; i++)
		n_of[i * ALGO_SLA_N_KINDS + ALGO_SLA_POD] =
		    (uint64_t)dc[i].clos.n_pods * dc[i].clos.n_pods;
}

int xp_dsa_pool_add_pairs(struct xp_dsa_pool *p, uint32_t dc,
    const struct algo_sla *s, const struct algo_drop_ladder *ladder,
    struct sim_err *e)
{
	const uint32_t n_pods = s->dc.clos.n_pods;
	for (size_t i = 0; i < s->order->n; i++) {
		const struct algo_rtt_probe *probe = &s->order->probe[i];
		struct xp_dsa_pool_scope *pair = pool_at(p, dc, ALGO_SLA_POD,
		    topo_dc_pod_index(&s->dc, probe->src_host) * n_pods +
			topo_dc_pod_index(&s->dc, probe->dst_host));
		const int rc = pool_reserve(pair, e);
		if (rc < 0)
			return rc;
		pair->n_success++;
		pair->n_drop += algo_drop_n_lost(ladder, probe->rtt_ns) > 0;
		pair->count[algo_pingmesh_bucket_of(probe->rtt_ns,
		    XP_DSA_POOL_SUB_BITS)]++;
	}
	return 0;
}

/* --- rows ------------------------------------------------------------------*/

static double pool_end_us(uint32_t bucket)
{
	return (double)algo_pingmesh_bucket_end_of(bucket,
		   XP_DSA_POOL_SUB_BITS) /
	    1e3;
}

static double pool_quantile(const struct xp_dsa_pool_scope *s, double q)
{
	const double rank = ceil(q * (double)s->n_success);
	uint64_t seen = 0;
	for (uint32_t b = 0; b < XP_DSA_POOL_BUCKETS; b++)
		if ((seen += s->count[b]) > 0 && (double)seen >= rank)
			return pool_end_us(b);
	return NAN;
}

static int pool_put_scope(const struct xp_dsa_pool_scope *s, uint32_t dc,
    uint8_t kind, uint32_t id, struct xp_dsa_tables *t, struct sim_err *e)
{
	int rc;
	double lo, hi;
	uint64_t n = 0;
	for (uint32_t b = 0; b < XP_DSA_POOL_BUCKETS; b++)
		n += s->count[b];
	if (n != s->n_success)
		return sim_fail(e, SIM_EPARSE,
		    "data centre %u, scope %u of kind %u: %llu times of %llu "
		    "successes.",
		    dc, id, kind, (unsigned long long)n,
		    (unsigned long long)s->n_success);
	if ((rc = XP_DSA_RESERVE(&t->pooled, 1, e)) < 0 ||
	    (rc = XP_DSA_RESERVE(&t->histogram, XP_DSA_POOL_BUCKETS, e)) < 0 ||
	    (rc = sim_binomial_interval(s->n_drop, s->n_success, CONF, &lo, &hi,
		 e)) < 0)
		return rc;
	t->pooled.row[t->pooled.n++] = (struct xp_dsa_pooled_row){dc, kind, id,
	    s->n_success, s->n_drop, (double)s->n_drop / (double)s->n_success,
	    lo, hi, pool_quantile(s, 0.5), pool_quantile(s, 0.99),
	    pool_quantile(s, 0.999)};
	for (uint32_t b = 0; b < XP_DSA_POOL_BUCKETS; b++)
		if (s->count[b] > 0)
			t->histogram.row[t->histogram.n++] =
			    (struct xp_dsa_histogram_row){dc, kind, id, b,
				pool_end_us(b), s->count[b]};
	return 0;
}

int xp_dsa_pool_put(const struct xp_dsa_pool *p, struct xp_dsa_tables *t,
    struct sim_err *e)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < XP_DSA_POOL_KINDS; i++)
		for (uint32_t id = 0; rc == 0 && id < p->n_of[i]; id++) {
			const struct xp_dsa_pool_scope *s =
			    &p->scope[p->first[i] + id];
			if (s->n_success > 0)
				rc = pool_put_scope(s, i / ALGO_SLA_N_KINDS,
				    i % ALGO_SLA_N_KINDS, id, t, e);
		}
	return rc;
}

/* No count may run over, which would lose probes unseen. */
static int pool_sum(uint64_t *to, uint64_t n, struct sim_err *e)
{
	if (n > SIM_BINOMIAL_MAX_N || *to > SIM_BINOMIAL_MAX_N - n)
		return sim_fail(e, SIM_EPARSE,
		    "a scope has more than %g probes.",
		    (double)SIM_BINOMIAL_MAX_N);
	*to += n;
	return 0;
}

static int pool_none(uint32_t dc, uint32_t kind, uint32_t id, struct sim_err *e)
{
	return sim_fail(e, SIM_EPARSE,
	    "data centre %u has no scope %u of kind %u.", dc, id, kind);
}

int xp_dsa_pool_take(struct xp_dsa_pool *p, const struct xp_dsa_tables *t,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->pooled.n; i++) {
		const struct xp_dsa_pooled_row *r = &t->pooled.row[i];
		struct xp_dsa_pool_scope *s =
		    pool_at(p, r->data_centre, r->kind, r->id);
		if (!s)
			return pool_none(r->data_centre, r->kind, r->id, e);
		if ((rc = pool_reserve(s, e)) == 0 &&
		    (rc = pool_sum(&s->n_success, r->n_success, e)) == 0)
			rc = pool_sum(&s->n_drop, r->n_drop, e);
	}
	for (size_t i = 0; rc == 0 && i < t->histogram.n; i++) {
		const struct xp_dsa_histogram_row *r = &t->histogram.row[i];
		struct xp_dsa_pool_scope *s =
		    pool_at(p, r->data_centre, r->kind, r->id);
		if (!s)
			return pool_none(r->data_centre, r->kind, r->id, e);
		if (r->bucket >= XP_DSA_POOL_BUCKETS)
			return sim_fail(e, SIM_EPARSE,
			    "bucket %u is beyond the last one, %d.", r->bucket,
			    XP_DSA_POOL_BUCKETS - 1);
		if ((rc = pool_reserve(s, e)) == 0)
			rc = pool_sum(&s->count[r->bucket], r->n, e);
	}
	return rc;
}
