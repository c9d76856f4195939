/* experiments/pingmesh/record.c -- one cell of plane pingmesh, as a recording.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/pingmesh/run.h"
#include "experiments/spec/plane.h"
#include "results/recording.h"
#include "sim/vec.h"

struct cell {
	struct xp_record_scene of;
	/* The spec's, but of a history of one window, so that the collector
	 * keeps no more of them than the lag and repairs need. */
	struct xp_pingmesh params;
	struct xp_net *net;
	struct xp_pingmesh_plane *plane;
	struct res_trial_metrics row; /* of the run, which nobody reads */
	struct res_recorder *recorder;
	struct xp_recorded *out;
};

/* --- rows ----------------------------------------------------------------- */

/* The rows of a window that hosts of data centre DC sent, or sent to VIPs, piece
 * by piece. */
static int record_rows(struct cell *c, struct xp_collector *from, uint32_t dc,
    uint32_t window, enum res_recorded which, uint64_t *n, struct sim_err *e)
{
	const struct obs_probe_source rows =
	    xp_collector_pieces(from, dc, window, 1);
	const struct obs_probes *t;
	size_t at = 0;
	int rc = 0;
	while (rc >= 0 && (rc = obs_probes_next(&rows, &at, NULL, &t, e)) > 0)
		rc = res_recorder_add(c->recorder, which, t, e);
	*n += rows.n;
	return rc;
}

static int record_counters(struct cell *c, struct xp_collector *from, sim_ns to,
    struct sim_err *e)
{
	const struct obs_perf *t;
	int rc = xp_collector_perf(from, to, &t, e);
	if (rc < 0)
		return rc;
	c->out->n_counters += t->n;
	return res_recorder_counters(c->recorder, t, e);
}

/* When the jobs of WINDOW run, counters of all windows that ended by then have
 * come: agents step each second, and send them at the first step after. So what
 * is written each time is later than what was written before. */
static sim_ns all_came(const struct cell *c, uint32_t window)
{
	const sim_ns length = (sim_ns)llround(c->params.window_s * 1e9);
	const sim_ns now = (window + 1) * length + xp_pingmesh_lag(&c->params);
	return now > ALGO_PINGMESH_STEP ? now - ALGO_PINGMESH_STEP : 0;
}

/* The rows of a window as they are when its jobs run; rows that come later are
 * in no table of a run, and so they are not in a recording either. */
static int pingmesh_record_take_window(void *arg, struct xp_collector *from,
    uint32_t window, struct sim_err *e)
{
	struct cell *c = arg;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < topo_n_dcs(&c->of.topo); i++)
		rc = record_rows(c, from, i, window, RES_RECORDED_probes,
		    &c->out->n_probes, e);
	if (rc == 0)
		rc = record_rows(c, from, XP_COLLECT_VIPS, window,
		    RES_RECORDED_vip_probes, &c->out->n_vip_probes, e);
	if (rc == 0)
		rc = res_recorder_http(c->recorder,
		    xp_collector_http(from, window), e);
	return rc < 0 ? rc : record_counters(c, from, all_came(c, window), e);
}

/* --- what it says of itself ----------------------------------------------- */

static int open_recorder(struct cell *c, const struct xp_spec *s, size_t point,
    uint32_t run, const char *path, struct sim_err *e)
{
	char service[sizeof(c->params.service) + 16] = "", *spec = NULL;
	struct res_recording_info info = {
	    .service = service,
	    .seed = s->seed,
	    .point = (uint32_t)point,
	    .run = run,
	    .duration_ns = (sim_ns)llround(c->params.duration_s * 1e9),
	    .n_dcs = topo_n_dcs(&c->of.topo),
	};
	for (uint32_t i = 0; i < info.n_dcs; i++)
		info.dc[i] = topo_dc_at(&c->of.topo, i);
	xp_pingmesh_waits(&c->params, info.syn_wait_ns);
	/* The recording names its services; the name that a list without one
	 * gets is written out, so that it does not depend on who reads it. */
	if (*c->params.service)
		snprintf(service, sizeof(service), "service=%s",
		    c->params.service);
	int rc = xp_spec_cell_text(s, &spec, e);
	info.spec = spec;
	if (rc == 0)
		rc = res_recorder_open(&c->recorder, path, &info, e);
	free(spec);
	return rc;
}

/* The collector covers all of the duration but the times at which it was down.
 * Its outages are sorted by their begin, and may overlap: FROM is the end of
 * all that were seen so far. */
static int write_coverage(struct cell *c, struct sim_err *e)
{
	const struct truth *t = &c->of.scene.truth;
	const sim_ns end = (sim_ns)llround(c->params.duration_s * 1e9);
	sim_ns from = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n_outages; i++) {
		const struct truth_outage *o = &t->outage[i];
		if (o->kind != TRUTH_COLLECTOR || o->mode != TRUTH_DOWN)
			continue;
		if (o->from_ns > from)
			rc = res_recorder_covers(c->recorder, from,
			    o->from_ns < end ? o->from_ns : end, e);
		from = o->to_ns > from ? o->to_ns : from;
		if (from >= end)
			return rc;
	}
	return rc < 0 ? rc : res_recorder_covers(c->recorder, from, end, e);
}

/* --- the cell ------------------------------------------------------------- */

int xp_record_draw(struct xp_record_scene *c, struct xp_spec *s, size_t point,
    uint32_t run, struct sim_err *e)
{
	int rc = xp_spec_point(s, point, &c->config, e);
	if (rc < 0)
		return rc;
	const struct sim_seed where = {
	    .seed = s->seed,
	    .point = c->config.common ? 0 : (uint32_t)point,
	    .run = run,
	};
	if ((rc = xp_topology_open(&c->config.topology, s->folder, &c->topo,
		 e)) < 0)
		return rc;
	return scene_draw(&c->scene, &c->topo, &c->config.scene, &where, e);
}

void xp_record_free(struct xp_record_scene *c)
{
	scene_free(&c->scene);
	topo_close(&c->topo);
	xp_config_free(&c->config);
}

static int pingmesh_record_draw(struct cell *c, struct xp_spec *s, size_t point,
    uint32_t run, struct sim_err *e)
{
	int rc = xp_record_draw(&c->of, s, point, run, e);
	if (rc < 0)
		return rc;
	const struct xp_plane *p = xp_plane_of(&c->of.config);
	if (p != &xp_plane_pingmesh)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "plane %s has no probes to record; set plane: pingmesh.",
		    p->name);
	c->params = *xp_pingmesh_of(&c->of.config);
	/* Algorithms that are run at each window would have nobody to report
	 * to, and of the jobs only repairs change what is recorded. */
	c->params.along = XP_ALONG_NONE;
	c->params.history_s = c->params.window_s;
	c->params.detect = 0;
	if (!c->params.repair.on)
		c->params.repair.every_s = 0;
	return 0;
}

static int pingmesh_record_live(struct cell *c, struct sim_err *e)
{
	const struct xp_pingmesh_hooks hooks = {.arg = c,
	    .rows_unread = 1,
	    .window = pingmesh_record_take_window};
	int rc =
	    xp_pingmesh_plane_run(c->plane, &c->of.scene, &c->row, &hooks, e);
	struct xp_collector *from =
	    xp_world_collector(xp_pingmesh_plane_world(c->plane));
	if (rc == 0)
		rc = record_counters(c, from, SIM_NEVER, e);
	if (rc == 0)
		rc = write_coverage(c, e);
	c->out->count = xp_collector_counts(from);
	return rc;
}

static void close_cell(struct cell *c)
{
	res_recorder_discard(c->recorder);
	xp_pingmesh_plane_close(c->plane);
	xp_net_close(c->net);
	xp_record_free(&c->of);
}

int xp_record_cell(struct xp_spec *s, size_t point, uint32_t run,
    const char *path, struct xp_recorded *out, struct sim_err *e)
{
	struct cell c = {.out = out};
	int rc = pingmesh_record_draw(&c, s, point, run, e);
	*out = (struct xp_recorded){0};
	if (rc == 0)
		rc =
		    xp_net_open(&c.net, &c.of.config, &c.of.topo, &c.params, e);
	if (rc == 0)
		rc = xp_pingmesh_plane_open(&c.plane, &c.of.topo, &c.params,
		    c.net, e);
	if (rc == 0)
		rc = open_recorder(&c, s, point, run, path, e);
	if (rc == 0)
		rc = pingmesh_record_live(&c, e);
	if (rc == 0) {
		rc = res_recorder_finish(c.recorder, e);
		c.recorder = NULL;
	}
	close_cell(&c);
	return rc;
}
