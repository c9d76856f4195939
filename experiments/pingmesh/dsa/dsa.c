/* experiments/pingmesh/dsa/dsa.c -- the jobs of a data centre.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parameters and services are read in config.c; run.c makes rows of what jobs
 * find, counters.c of counters, and out.c writes them.
 */
#include "experiments/pingmesh/dsa/dsa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/dsa/parts.h"

/* --- an analysis -----------------------------------------------------------*/

void xp_dsa_close(struct xp_dsa *d)
{
	algo_sla_close(&d->sla);
	algo_heatmap_free(&d->heatmap);
	algo_blackhole_close(&d->blackhole);
	algo_silent_drop_close(&d->silent);
	free(d->n_servers);
	free(d->heard);
	free(d->count);
	*d = (struct xp_dsa){0};
}

/* Each service's servers in this data centre, numbered in it; HOST has room for
 * those of all. */
static void localise(struct xp_dsa *d, const struct xp_dsa_services *services,
    uint32_t first_host, topo_host host[], struct algo_sla_service local[])
{
	for (uint32_t v = 0; v < services->n; v++) {
		const struct algo_sla_service *s = &services->service[v];
		size_t n = 0;
		for (size_t i = 0; i < s->n; i++)
			if (s->server[i] - first_host < d->shape.all_hosts)
				host[n++] = s->server[i] - first_host;
		local[v] = (struct algo_sla_service){s->name, host, n};
		d->n_servers[v] = n;
		host += n;
	}
}

static int open_sla(struct xp_dsa *d, const struct xp_dsa_services *services,
    uint32_t first_host, struct sim_err *e)
{
	struct algo_sla_service local[XP_DSA_MAX_SERVICES];
	topo_host *host;
	size_t n = 0;
	for (uint32_t v = 0; v < services->n; v++)
		n += services->service[v].n;
	int rc = SIM_ZALLOC(&host, n, e);
	if (rc < 0)
		return rc;
	localise(d, services, first_host, host, local);
	rc = algo_sla_open(&d->sla, &d->shape, &d->params.sla, local,
	    services->n, e);
	free(host);
	return rc;
}

int xp_dsa_open(struct xp_dsa *d, const struct topo_clos *shape,
    uint32_t data_centre, uint32_t first_host,
    const struct xp_dsa_services *services, const struct xp_dsa_params *params,
    struct sim_err *e)
{
	*d = (struct xp_dsa){.params = *params,
	    .shape = *shape,
	    .data_centre = data_centre};
	int rc;
	if ((rc = SIM_ZALLOC(&d->n_servers, services->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->heard, shape->all_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->count, xp_dsa_n_counts(shape), e)) < 0 ||
	    (rc = open_sla(d, services, first_host, e)) < 0 ||
	    (rc = algo_blackhole_open(&d->blackhole, shape, &params->blackhole,
		 e)) < 0 ||
	    (rc = algo_silent_drop_open(&d->silent, shape, &params->silent,
		 e)) < 0)
		xp_dsa_close(d);
	return rc;
}

int xp_dsa_open_all(struct xp_dsa d[], const struct topo_clos shape[],
    uint32_t n_dcs, const struct xp_dsa_services *services,
    const struct xp_dsa_params *params, struct sim_err *e)
{
	uint32_t first = 0;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < n_dcs;
	     first += shape[i++].all_hosts)
		rc = xp_dsa_open(&d[i], &shape[i], i, first, services, params,
		    e);
	return rc;
}

int xp_dsa_local_probes(const struct obs_probes *all, uint32_t first_host,
    uint32_t n_hosts, struct obs_probes *out, struct sim_err *e)
{
	obs_probes_clear(out);
	memcpy(out->syn_wait_ns, all->syn_wait_ns, sizeof(out->syn_wait_ns));
	for (size_t i = 0; i < all->n; i++) {
		if (all->src_host[i] - first_host >= n_hosts)
			continue;
		struct obs_probe p = obs_probes_at(all, i);
		p.src_host -= first_host;
		p.dst_host -= first_host; /* mod 2^32: none of ours */
		const int rc = obs_probes_add(out, &p, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int xp_dsa_local_counters(const struct obs_perf *all, uint32_t first_host,
    uint32_t n_hosts, struct obs_perf *out, struct sim_err *e)
{
	obs_perf_clear(out);
	for (size_t i = 0; i < all->n; i++) {
		if (all->host[i] - first_host >= n_hosts)
			continue;
		struct obs_perf_row r = obs_perf_at(all, i);
		r.host -= first_host;
		const int rc = obs_perf_add(out, &r, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* --- one job each ----------------------------------------------------------*/

int xp_dsa_ladder(const struct xp_dsa *d, const struct obs_probes *t,
    struct algo_drop_ladder *ladder, struct sim_err *e)
{
	unsigned n = 0;
	while (n < OBS_MAX_WAITS && t->syn_wait_ns[n] > 0)
		n++;
	return algo_drop_ladder_init(ladder, t->syn_wait_ns, n,
	    (sim_ns)llround(d->params.tolerance_s * 1e9), e);
}

int xp_dsa_sla(struct xp_dsa *d, const struct obs_probes *t, struct sim_err *e)
{
	struct algo_drop_ladder ladder;
	int rc = xp_dsa_ladder(d, t, &ladder, e);
	return rc < 0 ? rc : algo_sla_measure(&d->sla, t, &ladder, e);
}

int xp_dsa_heatmap(struct xp_dsa *d, const struct obs_probes *t,
    enum algo_heatmap_unit unit, enum algo_heatmap_pattern *pattern,
    struct sim_err *e)
{
	int rc = algo_heatmap_measure(&d->heatmap, t, &d->shape, unit, e);
	return rc < 0 ? rc
		      : algo_heatmap_classify(&d->heatmap, &d->params.heatmap,
			    pattern, e);
}

int xp_dsa_silent_drop(struct xp_dsa *d, const struct obs_probes *t,
    struct sim_err *e)
{
	struct algo_drop_ladder ladder;
	int rc = xp_dsa_ladder(d, t, &ladder, e);
	return rc < 0 ? rc : algo_silent_drop_find(&d->silent, t, &ladder, e);
}

int xp_dsa_blackhole(struct xp_dsa *d, const struct obs_probes *t, uint64_t day,
    int is_done, struct sim_err *e)
{
	if (day != d->day)
		d->n_reloaded = 0;
	d->day = day;
	int rc = algo_blackhole_diagnose(&d->blackhole, t, d->n_reloaded, e);
	for (uint32_t i = 0; rc == 0 && is_done && i < d->shape.all_tors; i++)
		d->n_reloaded +=
		    d->blackhole.tor[i].action == ALGO_BLACKHOLE_RELOAD;
	return rc;
}
