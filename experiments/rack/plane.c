/* experiments/rack/plane.c -- plane rack: shared buffers, and hosts that sample.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "experiments/rack/score.h"
#include "experiments/spec/plane.h"
#include "models/rack/params.h"
#include "sim/vec.h"

struct xp_rack_plane {
	const struct xp_rack *params;
	size_t n_rows;
	struct xp_rack_world world; /* of the last run */
	struct losses none;
};

/* --- the spec ------------------------------------------------------------- */

static int rack_is_host_link(uint32_t class)
{
	return class == TOPO_HOST_TOR || class == TOPO_TOR_HOST;
}

/* Losses of a host's link, from the beginning to the end, is all that racks
 * have. */
static int rack_check_group(struct sim_yaml *y, const struct topo *t,
    const struct fault_params *g, const struct sim_yaml_node *node)
{
	const uint32_t host_links =
	    UINT32_C(1) << TOPO_HOST_TOR | UINT32_C(1) << TOPO_TOR_HOST;
	int named = g->n_links > 0, all = 1;
	/* Told for all planes that have no such services. */
	if (FAULT_SERVICE_KINDS & 1u << g->kind)
		return 0;
	if (g->kind != FAULT_DROP || g->switches > 0 || g->n_at > 0)
		return sim_yaml_mistake(y, node,
		    "on plane rack only links fail, by kind drop.");
	for (size_t i = 0; t && i < g->n_links; i++)
		all &= rack_is_host_link(topo_class_of(t, g->links[i]));
	if (named ? !all : g->count > 0 && (g->classes & ~host_links))
		return sim_yaml_mistake(y, node,
		    "on plane rack only links of hosts fail (classes: "
		    "[host-tor, tor-host]).");
	if (g->from_s > 0 || g->to_s > 0 || g->spread_s > 0 || g->lasts_s > 0)
		return sim_yaml_mistake(y, node,
		    "on plane rack what fails does so all the time.");
	return 0;
}

static int rack_check(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	const struct sim_yaml_node *faults = sim_yaml_get(y->root, "faults");
	const struct sim_yaml_node *own = sim_yaml_get(y->root, "rack");
	struct rack_params p = xp_rack_of(c)->rack;
	struct sim_err why;
	int rc = 0;
	(void)e;
	for (size_t i = 0; rc == 0 && faults && i < c->scene.n_groups; i++)
		rc = rack_check_group(y, t, &c->scene.group[i],
		    faults->kind == SIM_YAML_SEQ ? faults->child[i] : faults);
	if (rc < 0 || !t)
		return rc;
	if (xp_rack_of(c)->along == XP_RACK_ALONG_RACK &&
	    !xp_topology_is_clos(&c->topology))
		return sim_yaml_mistake(y, own,
		    "along: rack needs a topology of kind clos.");
	if (!xp_rack_fits(t, &p.n_servers))
		return sim_yaml_mistake(y, sim_yaml_get(y->root, "topology"),
		    "on plane rack ToRs must have as many hosts each, in a "
		    "row.");
	if (rack_params_check(&p, &why) < 0)
		return sim_yaml_mistake(y, own ? own : y->root, "%s", why.msg);
	return 0;
}

/* --- a run ---------------------------------------------------------------- */

static void rack_plane_close(void *p)
{
	struct xp_rack_plane *x = p;
	if (!x)
		return;
	xp_rack_world_free(&x->world);
	losses_free(&x->none);
	free(x);
}

static int rack_plane_open(void **p, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	struct xp_rack_plane *x = NULL;
	const int rc = SIM_ZALLOC(&x, 1, e);
	(void)t;
	*p = x;
	if (rc < 0)
		return rc;
	x->params = xp_rack_of(c);
	x->n_rows = xp_rack_n_rows(x->params, &c->topology);
	return 0;
}

static int rack_plane_axes(struct xp_along_axes *a, const struct xp_config *c,
    struct sim_err *e)
{
	return xp_rack_axes(a, xp_rack_of(c), &c->topology, e);
}

struct xp_rack_world *xp_rack_world_of(void *running)
{
	struct xp_rack_plane *x = running;
	return &x->world;
}

/* One window, of all that was counted. */
static int rack_plane_again(void *p, const struct xp_listener *to,
    struct sim_err *e)
{
	const struct xp_rack_plane *x = p;
	const struct xp_window all = {.seen = &x->world.window,
	    .lost = &x->none,
	    .n_rows = x->n_rows,
	    .after_s = NAN};
	return to->hear ? to->hear(to->arg, &all, e) : 0;
}

static int rack_plane_run(void *p, struct scene *scene,
    const struct xp_listener *to, struct res_trial_metrics row[],
    struct sim_err *e)
{
	struct xp_rack_plane *x = p;
	int rc;
	if ((rc = xp_rack_world_run(&x->world, x->params, scene, e)) < 0 ||
	    (rc = xp_rack_score(&x->world, x->params, scene, x->n_rows, row,
		 e)) < 0)
		return rc;
	return rack_plane_again(x, to, e);
}

static void rack_plane_print(const void *p,
    const struct res_trial_metrics row[], FILE *out)
{
	const struct xp_rack_plane *x = p;
	const struct res_trial_metrics *r = &row[0];
	fprintf(out,
	    "%u racks of %u servers: %.0f bursts, %.0f of them lossy; "
	    "contention %.2f, 90 %% of it within %.1f\n",
	    x->world.n_racks, x->world.n_servers, r->n_bursts,
	    r->n_lossy_bursts, r->contention_mean, r->contention_p90);
	fprintf(out,
	    "lost in buffers %.0f bytes, by links %.0f; %.0f timeouts; "
	    "dispersion %.3g, %.3g, %.3g at 1, 10, 100 ms\n",
	    r->buffer_bytes, r->link_bytes, r->n_timeouts, r->dispersion_1ms,
	    r->dispersion_10ms, r->dispersion_100ms);
	if (x->params->as_congestion)
		fprintf(out,
		    "congestion: { racks: 1, burst: %.3g, busy: %.3g, ports: "
		    "%.3g }, loss %.3g, wait %.0f us at most\n",
		    r->congestion_burst, r->congestion_busy,
		    r->congestion_ports, r->congestion_loss,
		    r->congestion_wait);
}

static const char *rack_why_no_cross(const struct xp_config *c)
{
	return xp_rack_of(c)->traffic.cross > 0
	    ? NULL
	    : "it counts only with rack.traffic.cross other than 0";
}

/* Racks have traffic of their own, and lose nothing but by buffers and
 * faults. */
static const struct xp_idle_key rack_idle[] = {{.path = "traffic"},
    {.path = "latency"}, {.path = "noise"},
    {.path = "rack.cross_rtt", .why = rack_why_no_cross}, {0}};

const struct xp_plane xp_plane_rack = {
    .name = "rack",
    .doc = "racks with shared buffers, and what their hosts count in buckets",
    .provides = OBS_SAMPLES,
    .fills = RES_OF_SCENE | RES_OF_RACK | RES_OF_TRUE_BURSTS | RES_OF_PORTS,
    .alone = 1,
    .no_buffers = "its own fill by what is sent",
    .section = &xp_rack_section,
    .idle = rack_idle,
    .check = rack_check,
    .axes = rack_plane_axes,
    .open = rack_plane_open,
    .run = rack_plane_run,
    .again = rack_plane_again,
    .print = rack_plane_print,
    .close = rack_plane_close,
};
