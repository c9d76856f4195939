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
	algo_rtt_order_free(&d->order);
	free(d->spread);
	free(d->heard);
	free(d->count);
	*d = (struct xp_dsa){0};
}

int xp_dsa_open(struct xp_dsa *d, const struct topo_dc *dc,
    const struct xp_dsa_services *services, const struct xp_dsa_params *params,
    struct sim_err *e)
{
	*d = (struct xp_dsa){.params = *params, .dc = *dc};
	int rc;
	if ((rc = SIM_ZALLOC(&d->heard, dc->clos.all_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->count, xp_dsa_n_counts(&dc->clos), e)) < 0 ||
	    (rc = algo_sla_open(&d->sla, dc, &params->sla, services->service,
		 services->n, e)) < 0 ||
	    (rc = algo_blackhole_open(&d->blackhole, dc, &params->blackhole,
		 e)) < 0 ||
	    (rc = algo_silent_drop_open(&d->silent, dc, &params->silent, e)) <
		0)
		xp_dsa_close(d);
	return rc;
}

/* By the sender: a probe belongs to the data centre that sent it, also when it
 * goes to another one. */
int xp_dsa_local_probes(const struct obs_probes *all, const struct topo_dc *dc,
    struct obs_probes *out, struct sim_err *e)
{
	obs_probes_clear(out);
	memcpy(out->syn_wait_ns, all->syn_wait_ns, sizeof(out->syn_wait_ns));
	for (size_t i = 0; i < all->n; i++) {
		if (!topo_dc_has(dc, all->src_host[i]))
			continue;
		const struct obs_probe p = obs_probes_at(all, i);
		const int rc = obs_probes_add(out, &p, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int xp_dsa_local_counters(const struct obs_perf *all, const struct topo_dc *dc,
    struct obs_perf *out, struct sim_err *e)
{
	obs_perf_clear(out);
	for (size_t i = 0; i < all->n; i++) {
		if (!topo_dc_has(dc, all->host[i]))
			continue;
		const struct obs_perf_row r = obs_perf_at(all, i);
		const int rc = obs_perf_add(out, &r, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* --- one job each ----------------------------------------------------------*/

/* A table says itself by which waits its hosts sent SYNs again; they end with
 * the first 0. */
int xp_dsa_ladder(const struct xp_dsa *d, const sim_ns wait_ns[OBS_MAX_WAITS],
    struct algo_drop_ladder *ladder, struct sim_err *e)
{
	unsigned n = 0;
	while (n < OBS_MAX_WAITS && wait_ns[n] > 0)
		n++;
	return algo_drop_ladder_init(ladder, wait_ns, n,
	    (sim_ns)llround(d->params.tolerance_s * 1e9), e);
}

int xp_dsa_order(struct xp_dsa *d, const struct obs_probes *t,
    struct sim_err *e)
{
	const int rc =
	    obs_probes_check(t, d->dc.first_host, d->dc.clos.all_hosts, e);
	return rc < 0 ? rc : algo_rtt_order_make(&d->order, t, e);
}

int xp_dsa_sla(struct xp_dsa *d, const struct obs_probes *t, struct sim_err *e)
{
	struct algo_drop_ladder ladder;
	const int rc = xp_dsa_ladder(d, t->syn_wait_ns, &ladder, e);
	if (rc == 0)
		algo_sla_measure(&d->sla, &d->order, &ladder);
	return rc;
}

int xp_dsa_heatmap(struct xp_dsa *d, enum algo_heatmap_unit unit,
    enum algo_heatmap_pattern *pattern, struct sim_err *e)
{
	int rc = algo_heatmap_measure(&d->heatmap, &d->order, &d->dc, unit, e);
	return rc < 0 ? rc
		      : algo_heatmap_classify(&d->heatmap, &d->params.heatmap,
			    pattern, e);
}

int xp_dsa_silent_drop(struct xp_dsa *d, const struct obs_probe_source *t,
    struct sim_err *e)
{
	struct algo_drop_ladder ladder;
	int rc = xp_dsa_ladder(d, t->syn_wait_ns, &ladder, e);
	return rc < 0 ? rc : algo_silent_drop_find(&d->silent, t, &ladder, e);
}

/* Pingmesh allows a number of reloads a day (section 5.1), lest a mistake of
 * the job takes down the network. Only reloads that are really made are
 * counted: a job that merely says what it would do leaves the day's number as
 * it is. */
int xp_dsa_blackhole(struct xp_dsa *d, const struct obs *seen, uint64_t day,
    int is_done, struct sim_err *e)
{
	if (day != d->day)
		d->n_reloaded = 0;
	d->day = day;
	int rc = seen->pairs ? algo_blackhole_diagnose_pairs(&d->blackhole,
				   seen->pairs, d->n_reloaded, e)
			     : algo_blackhole_diagnose(&d->blackhole,
				   &seen->probes, d->n_reloaded, e);
	for (uint32_t i = 0; rc == 0 && is_done && i < d->dc.clos.all_tors; i++)
		d->n_reloaded +=
		    d->blackhole.tor[i].action == ALGO_BLACKHOLE_RELOAD;
	return rc;
}
