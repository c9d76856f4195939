/* experiments/pingmesh/bulk/day.c -- tables of windows of Pingmesh in bulk.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/day.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/pingmesh/bulk/connects.h"
#include "sim/vec.h"

enum { DAY_PERIOD_S = 300 };

/* 0: none, as probes of a pair would be more in one period than in the next. */
static sim_ns day_period(const struct connects_mesh *m, sim_ns window_ns)
{
	const sim_ns period = DAY_PERIOD_S * SIM_SEC;
	if (window_ns % period != 0)
		return 0;
	for (int l = 0; l < CONNECTS_N_LEVELS; l++)
		if (m->n_peers[l] > 0 && period % m->every_ns[l] != 0)
			return 0;
	return period;
}

static int day_open_jobs(struct xp_mesh_day *d, const struct topo *t,
    const struct xp_pingmesh *p, struct sim_err *e)
{
	const struct topo_dc dc = topo_dc_alone(&t->clos);
	const int rc =
	    xp_dsa_services_read(&d->services, p->service, t->n_hosts, e);
	return rc < 0 ? rc
		      : xp_dsa_open(&d->dsa, &dc, &d->services, &p->dsa, e);
}

static int day_open_sums(struct xp_mesh_day *d, const struct topo *t,
    const struct xp_pingmesh *p, const struct connects_params *c,
    struct sim_err *e)
{
	const sim_ns window = (sim_ns)llround(p->window_s * 1e9);
	const sim_ns period = day_period(&c->mesh, window);
	sim_ns wait[OBS_MAX_WAITS] = {0};
	struct algo_drop_ladder ladder;
	xp_pingmesh_waits(p, wait);
	int rc = xp_dsa_ladder(&d->dsa, wait, &ladder, e);
	if (rc < 0 ||
	    (rc = xp_mesh_sums_open(&d->sums, &t->clos, d->connects, c, &ladder,
		 window, period, p->unit == ALGO_HEATMAP_TOR, e)) < 0 ||
	    (rc = SIM_ZALLOC(&d->buckets, 1, e)) < 0)
		return rc;
	xp_buckets_init(d->buckets, c->law, c->late_ns);
	if ((rc = xp_mesh_pairs_open(&d->pairs, &t->clos, d->connects, c,
		 window, wait[0], 1, e)) < 0)
		return rc;
	d->jobs = (struct xp_mesh_jobs){.jobs = XP_DSA_DROP_RATE | XP_DSA_SLA |
		XP_DSA_HEATMAP | XP_DSA_BLACKHOLE | XP_DSA_SILENT_DROP |
		(period > 0 ? XP_DSA_COUNTERS : 0),
	    .scopes = (1u << ALGO_SLA_N_KINDS) - 1,
	    .buckets = d->buckets};
	return 0;
}

int xp_mesh_day_open(struct xp_mesh_day *d, const struct topo *t,
    const struct xp_pingmesh *p, const struct scene *scene, struct sim_err *e)
{
	struct connects_params c;
	int rc;
	*d = (struct xp_mesh_day){.scene = scene};
	if ((rc = day_open_jobs(d, t, p, e)) < 0 ||
	    (rc = algo_pinglist_open(&d->plan, &p->pinglist, &t->clos, 1, e)) <
		0 ||
	    (rc = xp_bulk_mesh_connects(&c, &d->plan, p, e)) < 0 ||
	    (rc = connects_open(&d->connects, t, &c, e)) < 0 ||
	    (rc = xp_bulk_mesh_begin(d->connects, scene, e)) < 0)
		return rc;
	return day_open_sums(d, t, p, &c, e);
}

void xp_mesh_day_close(struct xp_mesh_day *d)
{
	connects_close(d->connects);
	xp_mesh_sums_close(&d->sums);
	xp_mesh_pairs_close(&d->pairs);
	xp_dsa_close(&d->dsa);
	xp_dsa_services_free(&d->services);
	obs_perf_free(&d->perf);
	xp_dsa_tables_free(&d->tables);
	free(d->buckets);
	*d = (struct xp_mesh_day){.n_rows = 0};
}

static int day_take(void *arg, const struct connects_row *r, struct sim_err *e)
{
	struct xp_mesh_day *d = arg;
	const int rc = xp_mesh_sums_take(&d->sums, r, e);
	d->n_rows++;
	return rc < 0 || !(d->jobs.jobs & XP_DSA_BLACKHOLE)
	    ? rc
	    : xp_mesh_pairs_take(&d->pairs, r, e);
}

int xp_mesh_day_window(struct xp_mesh_day *d, uint32_t number,
    struct sim_err *e)
{
	const struct connects_taker taker = {d, day_take, NULL};
	const sim_ns length = d->sums.window_ns, from = number * length;
	struct sim_rng r;
	xp_mesh_sums_clear(&d->sums);
	xp_mesh_sums_begin(&d->sums, from);
	xp_dsa_tables_clear(&d->tables);
	int rc = xp_mesh_pairs_restart(&d->pairs, number, &d->scene->truth,
	    d->sums.connects.give_up_ns, e);
	if (rc == 0)
		rc = connects_window(d->connects, from, from + length, number,
		    &taker, e);
	if (rc == 0)
		rc = xp_mesh_sums_end(&d->sums, e);
	if (rc < 0 || !d->jobs.jobs)
		return rc;
	sim_rng_init(&r, &d->scene->where, SIM_STREAM_CONNECTS,
	    UINT32_C(1) << 31 | number);
	return xp_mesh_tables(&d->sums, &d->pairs, &d->dsa, &d->jobs, &r,
	    &d->perf, &d->tables, e);
}
