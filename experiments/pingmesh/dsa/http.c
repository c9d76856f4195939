/* experiments/pingmesh/dsa/http.c -- the job on HTTP pings: answers by scope.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The scopes are those of algos/pingmesh/sla.h, and so is what is left out:
 * probes to other data centres, whose times are the distance's. Of the connects
 * below the GETs nothing is said here; they count with all others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/parts.h"

/* A GET of scope ID. */
struct http_get {
	uint32_t id;
	uint8_t answer;
	sim_ns ns;
};

/* By scope; in each those with a time come first, ascending. */
static int http_by_scope_and_time(const void *a, const void *b)
{
	const struct http_get *x = a, *y = b;
	const int x_none = x->ns == 0, y_none = y->ns == 0;
	if (x->id != y->id)
		return x->id > y->id ? 1 : -1;
	if (x_none != y_none)
		return x_none - y_none;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Of nearest rank, of N times in ascending order; NaN of none. */
static double http_quantile_us(const struct http_get get[], size_t n, double q)
{
	return n > 0 ? (double)get[(size_t)ceil(q * (double)n) - 1].ns / 1e3
		     : NAN;
}

/* One scope: N GETs, sorted. */
static int http_put(const struct xp_dsa_key *key, enum algo_sla_kind kind,
    const struct http_get get[], size_t n, struct xp_dsa_tables *out,
    struct sim_err *e)
{
	uint64_t n_of[AGENT_N_ANSWERS] = {0};
	const int rc = XP_DSA_RESERVE(&out->http, 1, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		n_of[get[i].answer]++;
	const size_t n_ok = n_of[AGENT_ANSWER_OK];
	out->http.row[out->http.n++] = (struct xp_dsa_http_row){XP_DSA_KEY_OF(
								    key),
	    .kind = (uint8_t)kind, .id = get->id, .n_asked = n, .n_ok = n_ok,
	    .n_other = n_of[AGENT_ANSWER_OTHER],
	    .n_malformed = n_of[AGENT_ANSWER_MALFORMED],
	    .n_cut = n_of[AGENT_ANSWER_CUT], .n_late = n_of[AGENT_ANSWER_LATE],
	    .p50_us = http_quantile_us(get, n_ok, 0.5),
	    .p99_us = http_quantile_us(get, n_ok, 0.99)};
	return 0;
}

/* All scopes of a kind, of N GETs that are about to be sorted. */
static int http_put_all(const struct xp_dsa_key *key, enum algo_sla_kind kind,
    struct http_get get[], size_t n, struct xp_dsa_tables *out,
    struct sim_err *e)
{
	int rc = 0;
	if (n > 0)
		qsort(get, n, sizeof(*get), http_by_scope_and_time);
	for (size_t i = 0, end; rc == 0 && i < n; i = end) {
		for (end = i + 1; end < n && get[end].id == get[i].id; end++)
			;
		rc = http_put(key, kind, &get[i], end - i, out, e);
	}
	return rc;
}

size_t xp_dsa_scopes_of(const struct xp_dsa *d, enum algo_sla_kind kind,
    topo_host h, uint32_t one[1], const uint32_t **id)
{
	const uint32_t i = topo_dc_index(&d->dc, h);
	*id = one;
	switch (kind) {
	case ALGO_SLA_SERVER:
		one[0] = i;
		return 1;
	case ALGO_SLA_TOR:
		one[0] = topo_dc_tor_index(&d->dc, h);
		return 1;
	case ALGO_SLA_POD:
		one[0] = topo_dc_pod_index(&d->dc, h);
		return 1;
	case ALGO_SLA_SERVICE:
		*id = &d->sla.serves[d->sla.off[i]];
		return d->sla.off[i + 1] - d->sla.off[i];
	default:
		one[0] = 0;
		return 1;
	}
}

static int http_put_kind(const struct xp_dsa *d, const struct xp_dsa_key *key,
    enum algo_sla_kind kind, const struct obs_http *t,
    struct xp_dsa_tables *out, struct sim_err *e)
{
	struct http_get *get = NULL;
	size_t n = 0, cap = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		uint32_t one[1];
		const uint32_t *id;
		const size_t n_scopes =
		    xp_dsa_scopes_of(d, kind, t->src_host[i], one, &id);
		rc = SIM_RESERVE(&get, &cap, n + n_scopes, e);
		for (size_t k = 0; rc == 0 && k < n_scopes; k++)
			get[n++] = (struct http_get){id[k], t->answer[i],
			    t->answer_ns[i]};
	}
	if (rc == 0)
		rc = http_put_all(key, kind, get, n, out, e);
	free(get);
	return rc;
}

/* Those of this data centre alone, to peers in it. */
static int http_local(const struct xp_dsa *d, const struct obs_http *all,
    struct obs_http *out, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < all->n; i++) {
		const struct obs_http_row r = obs_http_at(all, i);
		if (r.src_host >= d->dc.first_host &&
		    r.src_host - d->dc.first_host < d->dc.clos.all_hosts &&
		    r.level != OBS_LEVEL_INTER_DC)
			rc = obs_http_add(out, &r, e);
	}
	return rc;
}

int xp_dsa_run_http(struct xp_dsa *d, const struct xp_dsa_window *w,
    const struct obs_http *all, struct xp_dsa_tables *out, struct sim_err *e)
{
	struct xp_dsa_summary_row sum; /* that of connects is told elsewhere */
	struct obs_http t = {0};
	int rc = http_local(d, all, &t, e);
	if (rc == 0)
		rc = obs_http_check(&t, d->dc.first_host, d->dc.clos.all_hosts,
		    e);
	const struct xp_dsa_key key =
	    xp_dsa_make_key(d, w, t.src_host, t.n, &sum);
	for (int k = 0; rc == 0 && t.n > 0 && k < ALGO_SLA_N_KINDS; k++)
		rc = http_put_kind(d, &key, (enum algo_sla_kind)k, &t, out, e);
	obs_http_free(&t);
	return rc;
}
