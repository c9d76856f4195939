/* experiments/pingmesh/plane.c -- plane pingmesh: agents that probe.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "experiments/pingmesh/along.h"
#include "experiments/pingmesh/held.h"
#include "experiments/pingmesh/run.h"
#include "experiments/pingmesh/truth.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"
#include "sim/vec.h"

struct pingmesh {
	const struct xp_pingmesh *params;
	struct xp_net *net;
	struct xp_pingmesh_plane *plane;
	size_t n_rows;

	/* Of this run. */
	const struct xp_listener *to;
	sim_ns first; /* when the first fault begins */
};

const struct xp_pingmesh *xp_pingmesh_of(const struct xp_config *c)
{
	return xp_section_of(c, &xp_pingmesh_section);
}

/* --- the spec ------------------------------------------------------------- */

/* A window with traces also holds flows: each traced five-tuple is a flow, and
 * one that lost more than others counts as failed (see trace.h). */
static unsigned pingmesh_holds(const struct xp_config *c)
{
	return OBS_PROBES |
	    (xp_pingmesh_of(c)->trace.on ? OBS_FLOWS | OBS_HOPS | OBS_TRACES
					 : 0);
}

/* Refuse what only the simulated fabric has. A kernel with linear waits adds
 * those 4 to the retries of a socket, which must be at least 1: hence 5. */
static int pingmesh_plane_check_real(struct sim_yaml *y,
    const struct xp_config *c)
{
	const struct sim_yaml_node *faults = sim_yaml_get(y->root, "faults");
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "pingmesh");
	const struct xp_pingmesh *p = xp_pingmesh_of(c);
	const char *fabric = xp_fabric_of(c)->name;
	if (!xp_topology_is_clos(&c->topology))
		return sim_yaml_mistake(y, sim_yaml_get(y->root, "topology"),
		    "plane pingmesh on fabric %s needs a topology of kind "
		    "clos or leaf_spine.",
		    fabric);
	if (*p->pinglist.vips)
		return sim_yaml_mistake(y, sim_yaml_get(node, "pinglist"),
		    "vips: fabric %s has no load balancer.", fabric);
	if (p->trace.on)
		return sim_yaml_mistake(y, sim_yaml_get(node, "trace"),
		    "plane pingmesh traces nothing on fabric %s.", fabric);
	if (p->connect.timers == FABRIC_SIM_LINUX_LINEAR &&
	    p->connect.retries > 0 && p->connect.retries < 5)
		return sim_yaml_mistake(y, sim_yaml_get(node, "connect"),
		    "retries %u: with timers linux_linear, a kernel has at "
		    "least 5.",
		    p->connect.retries);
	for (size_t i = 0; i < c->scene.n_groups; i++) {
		const struct fault_params *g = &c->scene.group[i];
		if ((g->kind == FAULT_CONTROLLER ||
			g->kind == FAULT_COLLECTOR) &&
		    g->mode == TRUTH_SLOW)
			return sim_yaml_mistake(y, faults,
			    "kind %s: on fabric %s services are not slow.",
			    fault_kind_names[g->kind], fabric);
	}
	return 0;
}

static int pingmesh_check(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	int rc = 0;
	(void)t, (void)e;
	/* A connect is several packets of one flow, and of what a probe should
	 * lose judges know the rates of links alone. */
	if (c->scene.noise.per == SCENE_NOISE_PER_FLOW)
		rc = sim_yaml_mistake(y, sim_yaml_get(y->root, "noise"),
		    "per flow: on plane pingmesh noise is per link.");
	return rc < 0 || !xp_fabric_of(c)->open
	    ? rc
	    : pingmesh_plane_check_real(y, c);
}

/* What of a spec a real fabric must be able to do: Windows' first wait of 3 s,
 * and links that delay. */
static unsigned pingmesh_asks(const struct xp_config *c)
{
	unsigned asks = XP_ASKS_NET;
	if (xp_pingmesh_of(c)->connect.timers == FABRIC_SIM_WINDOWS)
		asks |= XP_ASKS_SYN_TIMER;
	for (size_t i = 0; i < c->scene.n_groups; i++)
		if (c->scene.group[i].kind == FAULT_LATENCY)
			asks |= XP_ASKS_DELAY;
	return asks;
}

static int pingmesh_axes(struct xp_along_axes *a, const struct xp_config *c,
    struct sim_err *e)
{
	return xp_pingmesh_axes(a, &c->topology.clos, xp_pingmesh_of(c), e);
}

/* On a real network a run takes that long by the clock, jobs of the last window
 * included. */
static double pingmesh_lasts_s(const struct xp_config *c)
{
	const struct xp_pingmesh *p = xp_pingmesh_of(c);
	return p->duration_s + (double)xp_pingmesh_lag(p) / 1e9;
}

/* Probes a second by the lists of all hosts; 0 if agents do not follow them. */
static double probes_s(const struct topo *t, const struct algo_pinglist *l,
    const struct algo_pingmesh_params *agent)
{
	struct algo_pinglist_server s;
	double per_s = 0;
	for (topo_host h = 0; h < t->n_hosts; h++) {
		if (algo_pinglist_server(&s, l, h, NULL) < 0 ||
		    algo_pinglist_n_entries(&s) > agent->max_entries)
			return 0;
		for (size_t i = 0, from = 0; i < ALGO_PINGLIST_N_LEVELS;
		     from = s.end[i++])
			per_s += (double)(s.end[i] - from) * l->n_kinds[i] /
			    fmax(l->interval_s[i], agent->min_interval_s);
	}
	return per_s;
}

/* The rows of the windows that a job's table reaches back. */
static double pingmesh_bytes(const struct topo *t, const struct xp_config *c)
{
	const struct xp_pingmesh *p = xp_pingmesh_of(c);
	const uint32_t n = xp_pingmesh_n_windows(p);
	const uint32_t reach = xp_pingmesh_history(p);
	struct topo_clos shape[TOPO_REGION_MAX_DCS];
	struct algo_pinglist l;
	const uint32_t n_dcs = topo_n_dcs(t);
	for (uint32_t i = 0; i < n_dcs; i++)
		shape[i] = topo_dc_at(t, i).clos;
	if (algo_pinglist_open(&l, &p->pinglist, shape, n_dcs, NULL) < 0)
		return 0;
	return XP_HELD_ROW * probes_s(t, &l, &p->agent) * p->window_s *
	    (reach < n ? reach : n);
}

/* --- a run ---------------------------------------------------------------- */

int xp_net_open(struct xp_net **n, const struct xp_config *c,
    const struct topo *t, const struct xp_pingmesh *p, struct sim_err *e)
{
	const struct xp_fabric *f = xp_fabric_of(c);
	struct xp_wire *wire;
	if (!f->open)
		return xp_net_open_sim(n, t, p, e);
	int rc = f->open(&wire, t, c, NULL, e);
	return rc < 0 ? rc : xp_net_open_real(n, wire, p, e);
}

int xp_net_open_hosts(struct xp_net **n, const struct xp_config *c,
    const struct topo *t, const struct xp_net_hosts *h, struct sim_err *e)
{
	const struct xp_fabric *f = xp_fabric_of(c);
	struct xp_wire *wire;
	if (!f->open)
		return xp_net_hosts_sim(n, t, h, e);
	int rc = f->open(&wire, t, c, NULL, e);
	return rc < 0 ? rc : xp_net_hosts_real(n, wire, h, e);
}

static void pingmesh_close(void *p)
{
	struct pingmesh *x = p;
	if (!x)
		return;
	xp_pingmesh_plane_close(x->plane);
	xp_net_close(x->net);
	free(x);
}

static int pingmesh_open(void **p, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	struct pingmesh *x;
	*p = NULL;
	int rc = SIM_ZALLOC(&x, 1, e);
	if (rc < 0)
		return rc;
	x->params = xp_pingmesh_of(c);
	if ((rc = xp_net_open(&x->net, c, t, x->params, e)) < 0 ||
	    (rc = xp_pingmesh_plane_open(&x->plane, t, x->params, x->net, e)) <
		0) {
		pingmesh_close(x);
		return rc;
	}
	x->n_rows = xp_pingmesh_plane_rows(x->plane);
	*p = x;
	return 0;
}

struct xp_end xp_pingmesh_end(const struct xp_config *c)
{
	return (struct xp_end){xp_pingmesh_of(c)->duration_s,
	    "pingmesh.duration", 0};
}

struct xp_window xp_pingmesh_window(const struct xp_pingmesh *p,
    const struct obs *o, const struct losses *lost, size_t row, size_t n_rows,
    sim_ns now, sim_ns first)
{
	const int own = p->detect && p->along == XP_ALONG_WINDOW;
	const int last = row == SIZE_MAX;
	return (struct xp_window){
	    .seen = o,
	    .lost = lost,
	    .first_row = own && !last ? row : 0,
	    .n_rows = own ? !last : last * n_rows,
	    .after_s =
		p->detect && now > first ? (double)(now - first) / 1e9 : NAN,
	};
}

/* Hand a table of probes to the algorithms. */
static int pingmesh_plane_hear(void *arg, const struct obs *o,
    const struct losses *lost, size_t row, sim_ns now, struct sim_err *e)
{
	const struct pingmesh *x = arg;
	const struct xp_window w = xp_pingmesh_window(x->params, o, lost, row,
	    x->n_rows, now, x->first);
	return x->to->hear(x->to->arg, &w, e);
}

static int pingmesh_run(void *p, struct scene *scene,
    const struct xp_listener *to, struct res_trial_metrics row[],
    struct sim_err *e)
{
	struct pingmesh *x = p;
	const struct xp_pingmesh_hooks hooks = {.arg = x,
	    .diagnose = to->hear ? pingmesh_plane_hear : NULL};
	x->to = to;
	x->first = xp_first_trouble(&scene->truth);
	return xp_pingmesh_plane_run(x->plane, scene, row, &hooks, e);
}

static void pingmesh_print(const void *p, const struct res_trial_metrics row[],
    FILE *out)
{
	const struct pingmesh *x = p;
	const struct xp_collect_counts n = xp_collector_counts(
	    xp_world_collector(xp_pingmesh_plane_world(x->plane)));
	(void)row;
	fprintf(out, "of Pingmesh's agents the collector had\n");
#define X(name, doc)                                                           \
	if (n.name > 0)                                                        \
		fprintf(out, "  %12llu %s\n", (unsigned long long)n.name, doc);
	XP_COLLECT_COUNTS(X)
#undef X
}

static const char *pingmesh_why_no_region(const struct xp_config *c)
{
	return c->topology.kind == XP_TOPO_REGION
	    ? NULL
	    : "it counts only with topology.kind: region";
}

static const char *pingmesh_why_no_vips(const struct xp_config *c)
{
	return *xp_pingmesh_of(c)->pinglist.vips
	    ? NULL
	    : "it counts only with pinglist.vips";
}

/* Its probes are its only traffic; and round trips follow a profile, or are what
 * a real network takes. */
static const struct xp_idle_key pingmesh_idle[] = {{.path = "traffic"},
    {.path = "latency"}, {.path = "pingmesh.connect.profile", .on_real = 1},
    {.path = "pingmesh.connect.synack_timer", .on_real = 1},
    {.path = "pingmesh.connect.load", .on_real = 1},
    {.path = "pingmesh.connect.class_load", .on_real = 1},
    {.path = "pingmesh.connect.service", .on_real = 1},
    {.path = "pingmesh.pinglist.inter_dc_interval_s",
	.why = pingmesh_why_no_region},
    {.path = "pingmesh.pinglist.inter_dc_servers",
	.why = pingmesh_why_no_region},
    {.path = "pingmesh.pinglist.vip_interval_s", .why = pingmesh_why_no_vips},
    {0}};

const struct xp_plane xp_plane_pingmesh = {
    .name = "pingmesh",
    .doc = "agents that probe each other, and jobs on what they found",
    .provides = OBS_PROBES | OBS_FLOWS | OBS_HOPS | OBS_TRACES,
    .holds = pingmesh_holds,
    .unless = "pingmesh.trace.on",
    .fills = RES_OF_SCENE | RES_OF_PROBES | RES_OF_COST | RES_OF_BUFFERS,
    .has_buffers = 1,
    .asks = pingmesh_asks,
    .alone = 1,
    .faults = FAULT_SERVICE_KINDS,
    .has_times = 1,
    .section = &xp_pingmesh_section,
    .idle = pingmesh_idle,
    .check = pingmesh_check,
    .end = xp_pingmesh_end,
    .axes = pingmesh_axes,
    .lasts_s = pingmesh_lasts_s,
    .bytes = pingmesh_bytes,
    .open = pingmesh_open,
    .run = pingmesh_run,
    .print = pingmesh_print,
    .close = pingmesh_close,
};
