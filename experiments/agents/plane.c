/* experiments/agents/plane.c -- plane agents: what lost, as host agents see it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdlib.h>

#include "experiments/agents/real.h"
#include "experiments/bulk/bulk.h"
#include "experiments/spec/fabric.h"
#include "sim/vec.h"

struct agents {
	/* On fabric sim: which flows lose, then what agents see of them. */
	struct xp_bulk *bulk;
	struct xp_agent_plane *sim;

	/* On a real network instead, whose kernel carries the flows. */
	struct xp_lab_plane *lab;

	const struct xp_agent_window *seen; /* of the last epoch */
};

static const struct xp_agents *agents_of(const struct xp_config *c)
{
	return xp_section_of(c, &xp_agents_section);
}

/* Refuse what only the simulated fabric has. Silently ignoring it would give
 * numbers that look as if it had been there. */
static int agents_plane_check_real(struct sim_yaml *y,
    const struct xp_config *c)
{
	const struct fabric_sim_params *f = &agents_of(c)->fabric;
	const struct sim_yaml_node *agents = sim_yaml_get(y->root, "agents");
	const char *fabric = xp_fabric_of(c)->name;
	if (f->slb.share > 0)
		return sim_yaml_mistake(y, sim_yaml_get(agents, "slb"),
		    "fabric %s has no load balancer.", fabric);
	if (f->flap.count > 0)
		return sim_yaml_mistake(y, sim_yaml_get(agents, "flaps"),
		    "no cable flaps on fabric %s.", fabric);
	if (c->scene.noise.per == SCENE_NOISE_PER_FLOW)
		return sim_yaml_mistake(y, sim_yaml_get(y->root, "noise"),
		    "per flow: on fabric %s noise is per link.", fabric);
	return 0;
}

/* With latency.report_over a bulk window also holds flows that lost nothing but
 * were slow. Agents are woken by retransmissions only, so those flows would
 * vanish from the window. */
static int agents_check(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	int rc = 0;
	(void)t, (void)e;
	if (c->scene.latency.report_us > 0)
		rc = sim_yaml_mistake(y, sim_yaml_get(y->root, "plane"),
		    "agents have no round-trip times (latency.report_over).");
	return rc < 0 || !xp_fabric_of(c)->open ? rc
						: agents_plane_check_real(y, c);
}

static unsigned agents_asks(const struct xp_config *c)
{
	(void)c;
	return XP_ASKS_EPOCH;
}

static void agents_close(void *p)
{
	struct agents *a = p;
	if (!a)
		return;
	xp_bulk_close(a->bulk);
	xp_agent_plane_close(a->sim);
	xp_lab_plane_close(a->lab);
	free(a);
}

static int open_lab(struct agents *a, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	const struct xp_agents *params = agents_of(c);
	struct xp_wire *wire;
	int rc = xp_fabric_of(c)->open(&wire, t, c, &params->fabric.icmp, e);
	return rc < 0 ? rc : xp_lab_plane_open(&a->lab, wire, params, e);
}

static int agents_open(void **p, const struct topo *t,
    const struct xp_config *c, struct sim_err *e)
{
	const struct xp_agents *params = agents_of(c);
	struct agents *a;
	*p = NULL;
	int rc = SIM_ZALLOC(&a, 1, e);
	if (rc < 0)
		return rc;
	/* A fabric without an open() is the simulator's. There no algorithm can
	 * need flows without loss, for this plane does not provide them, so the
	 * fastest model of flows in bulk that fits may run. */
	if (xp_fabric_of(c)->open)
		rc = open_lab(a, t, c, e);
	else if ((rc = xp_bulk_open(&a->bulk, xp_bulk_chosen(c), 0, e)) == 0)
		rc = xp_agent_plane_open(&a->sim, t, params, e);
	if (rc < 0)
		agents_close(a);
	else
		*p = a;
	return rc;
}

static int agents_again(void *p, const struct xp_listener *to,
    struct sim_err *e)
{
	const struct agents *a = p;
	return xp_bulk_tell(to, &a->seen->window, &a->seen->lost, e);
}

static int agents_run(void *p, struct scene *scene,
    const struct xp_listener *to, struct res_trial_metrics row[],
    struct sim_err *e)
{
	struct agents *a = p;
	const struct losses *lost;
	const struct obs *w;
	int rc;
	if (a->lab)
		rc = xp_lab_plane_epoch(a->lab, scene, &a->seen, &row[0], e);
	else if ((rc = xp_bulk_epoch(a->bulk, scene, &w, &lost, &row[0], e)) ==
	    0)
		rc = xp_agent_plane_epoch(a->sim, scene, w, lost, &a->seen,
		    &row[0], e);
	return rc < 0 ? rc : agents_again(a, to, e);
}

/* What agents saw is in the window; what was is told by who carried the flows,
 * the model in bulk or the network. */
static int agents_flows(void *p, const struct scene *scene,
    const struct xp_flow_listener *to, int *all, struct sim_err *e)
{
	struct agents *a = p;
	const struct obs *w;
	const struct losses *lost;
	if (!a->lab)
		return xp_bulk_flows(a->bulk, scene, to, all, e);
	*all = 0;
	xp_lab_plane_lossy(a->lab, &w, &lost);
	return to->hear(to->arg, w, lost, e);
}

static void agents_print(const void *p, const struct res_trial_metrics row[],
    FILE *out)
{
	const struct agents *a = p;
	xp_bulk_print(a->lab ? "agents" : xp_bulk_ran(a->bulk)->name, &row[0],
	    out);
	fprintf(out,
	    "agents traced %.0f flows, %.0f in full; %.0f ICMP messages, %.0f "
	    "kept back\n",
	    row[0].n_traced, row[0].n_full_traces, row[0].n_icmp_sent,
	    row[0].n_icmp_suppressed);
}

/* A real network's flows live, wait and lose as they do. */
static const struct xp_idle_key agents_idle[] = {{.path = "agents.flow_s",
						     .on_real = 1},
    {.path = "agents.rto", .on_real = 1},
    {.path = "agents.lossless_probes", .on_real = 1},
    {.path = "agents.latency", .on_real = 1},
    {.path = "agents.slb", .on_real = 1},
    {.path = "agents.flaps", .on_real = 1}, {0}};

const struct xp_plane xp_plane_agents = {
    .name = "agents",
    .doc = "auto, seen by host agents that trace what lost",
    .provides = OBS_FLOWS | OBS_HOPS,
    .fills = RES_OF_SCENE | RES_OF_FLOWS | RES_OF_AGENTS | RES_OF_SECONDS |
	RES_OF_BUFFERS,
    .has_buffers = 1,
    .asks = agents_asks,
    .section = &xp_agents_section,
    .idle = agents_idle,
    .check = agents_check,
    .end = xp_bulk_end,
    .weigh = xp_bulk_weigh,
    .open = agents_open,
    .run = agents_run,
    .again = agents_again,
    .flows = agents_flows,
    .print = agents_print,
    .close = agents_close,
};
