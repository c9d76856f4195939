/* experiments/pingmesh/bulk/plane.c -- plane pingmesh_bulk: probes in bulk.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "experiments/pingmesh/along.h"
#include "experiments/pingmesh/bulk/connects.h"
#include "experiments/pingmesh/bulk/run.h"
#include "experiments/pingmesh/truth.h"
#include "experiments/spec/plane.h"
#include "sim/vec.h"

struct mesh_plane {
	const struct xp_pingmesh *params;
	struct xp_bulk_mesh *mesh;
	size_t n_rows;
	const struct xp_listener *to;
	sim_ns first; /* when the first fault begins */
};

/* --- the spec ------------------------------------------------------------- */

static int mesh_plane_check_faults(struct sim_yaml *y,
    const struct xp_config *c)
{
	const struct sim_yaml_node *at = sim_yaml_get(y->root, "faults");
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < c->scene.n_groups; i++) {
		const struct fault_params *g = &c->scene.group[i];
		if (g->kind == FAULT_BLACK_HOLE_1 && g->n_at == 0 &&
		    g->tiers != 1u << FAULT_TIER_TOR)
			rc = sim_yaml_mistake(y, at,
			    "kind black_hole_1: in bulk only ToRs have one "
			    "(tiers: [tor]); use plane pingmesh for others.");
	}
	return rc;
}

/* Lists are those of the network, without which nothing more is known. */
static int mesh_plane_check_lists(struct sim_yaml *y, const struct topo *t,
    const struct xp_pingmesh *p, struct sim_err *e)
{
	struct algo_pinglist *l = NULL;
	struct connects_params c;
	struct sim_err why;
	int rc = SIM_ZALLOC(&l, 1, e);
	if (rc < 0)
		return rc;
	if (algo_pinglist_open(l, &p->pinglist, &t->clos, 1, NULL) == 0 &&
	    (rc = xp_bulk_mesh_connects(&c, l, p, &why)) < 0)
		rc = sim_yaml_mistake(y, sim_yaml_get(y->root, "pingmesh"),
		    "%s", why.msg);
	free(l);
	return rc;
}

static int mesh_plane_check(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	int rc = 0;
	if (c->scene.noise.per == SCENE_NOISE_PER_FLOW)
		rc = sim_yaml_mistake(y, sim_yaml_get(y->root, "noise"),
		    "per flow: on plane pingmesh_bulk noise is per link.");
	if (rc == 0)
		rc = mesh_plane_check_faults(y, c);
	if (rc < 0 || !t)
		return rc;
	if (t->region || !topo_is_clos(t))
		return sim_yaml_mistake(y, sim_yaml_get(y->root, "topology"),
		    "plane pingmesh_bulk needs a topology of kind clos or "
		    "leaf_spine; plane pingmesh has regions, too.");
	return mesh_plane_check_lists(y, t, xp_pingmesh_of(c), e);
}

static int mesh_plane_axes(struct xp_along_axes *a, const struct xp_config *c,
    struct sim_err *e)
{
	return xp_pingmesh_axes(a, &c->topology.clos, xp_pingmesh_of(c), e);
}

/* --- a run ---------------------------------------------------------------- */

static void mesh_plane_close(void *p)
{
	struct mesh_plane *x = p;
	if (!x)
		return;
	xp_bulk_mesh_close(x->mesh);
	free(x);
}

/* Each probe is told only where an algorithm reads them. */
static int mesh_plane_open(void **p, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	struct mesh_plane *x;
	*p = NULL;
	int rc = SIM_ZALLOC(&x, 1, e);
	if (rc < 0)
		return rc;
	x->params = xp_pingmesh_of(c);
	const unsigned tells = c->needs & (OBS_PROBES | OBS_PAIRS);
	if ((rc = xp_bulk_mesh_open(&x->mesh, t, x->params, tells, e)) < 0) {
		mesh_plane_close(x);
		return rc;
	}
	x->n_rows = xp_bulk_mesh_rows(x->mesh);
	*p = x;
	return 0;
}

static int mesh_plane_hear(void *arg, const struct obs *o,
    const struct losses *lost, size_t row, sim_ns now, struct sim_err *e)
{
	const struct mesh_plane *x = arg;
	const struct xp_window w = xp_pingmesh_window(x->params, o, lost, row,
	    x->n_rows, now, x->first);
	return x->to->hear(x->to->arg, &w, e);
}

static int mesh_plane_run(void *p, struct scene *scene,
    const struct xp_listener *to, struct res_trial_metrics row[],
    struct sim_err *e)
{
	struct mesh_plane *x = p;
	const struct xp_pingmesh_hooks hooks = {.arg = x,
	    .diagnose = to->hear ? mesh_plane_hear : NULL};
	x->to = to;
	x->first = xp_first_trouble(&scene->truth);
	return xp_bulk_mesh_run(x->mesh, scene, row, &hooks, e);
}

static void mesh_plane_print(const void *p,
    const struct res_trial_metrics row[], FILE *out)
{
	const struct mesh_plane *x = p;
	(void)row;
	fprintf(out, "of Pingmesh's probes were drawn\n  %12llu rows\n",
	    (unsigned long long)xp_bulk_mesh_n_rows(x->mesh));
}

/* Agents, their services and traces are not there. */
static const struct xp_idle_key mesh_plane_idle[] = {{.path = "traffic"},
    {.path = "latency"}, {.path = "pingmesh.connect.service"},
    {.path = "pingmesh.connect.class_load"},
    {.path = "pingmesh.agent.max_payload"},
    {.path = "pingmesh.agent.fetch_interval"},
    {.path = "pingmesh.agent.fetch_retry"},
    {.path = "pingmesh.agent.fetch_timeout"},
    {.path = "pingmesh.agent.syn_rto"}, {.path = "pingmesh.agent.batch"},
    {.path = "pingmesh.agent.upload_backoff"},
    {.path = "pingmesh.agent.upload_tries"},
    {.path = "pingmesh.agent.perf_window"},
    {.path = "pingmesh.pinglist.inter_dc_interval_s"},
    {.path = "pingmesh.pinglist.inter_dc_servers"},
    {.path = "pingmesh.pinglist.vip_interval_s"}, {0}};

const struct xp_plane xp_plane_pingmesh_bulk = {
    .name = "pingmesh_bulk",
    .doc = "Pingmesh without its agents: only late probes are drawn",
    .provides = OBS_PROBES | OBS_PAIRS,
    .fills = RES_OF_SCENE | RES_OF_PROBES | RES_OF_COST,
    .no_buffers = "its probes are counted, and meet no moment's burst",
    .alone = 1,
    .has_times = 1,
    .section = &xp_pingmesh_section,
    .idle = mesh_plane_idle,
    .check = mesh_plane_check,
    .end = xp_pingmesh_end,
    .axes = mesh_plane_axes,
    .open = mesh_plane_open,
    .run = mesh_plane_run,
    .print = mesh_plane_print,
    .close = mesh_plane_close,
};
