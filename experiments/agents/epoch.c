/* experiments/agents/epoch.c -- a window as agents learn it, not as it was.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/agents/epoch.h"

#include <stdlib.h>

#include "sim/parts.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* --- the section of a spec ------------------------------------------------ */

static const struct sim_field epoch_own_fields[] = {
    {"partial", SIM_F_ENUM, offsetof(struct xp_agents, partial),
	.names = algo_partials, .def = "known",
	.doc = "what of a partial trace counts: all known links, those before "
	       "the first gap, none"},
    {0},
};

static const struct sim_part epoch_parts[] = {
    {"", algo_path_agent_fields, .offset = offsetof(struct xp_agents, agent)},
    {"", epoch_own_fields, .offset = 0},
    {"", fabric_sim_fields, .offset = offsetof(struct xp_agents, fabric)},
    {"icmp", fabric_sim_icmp_fields,
	.offset = offsetof(struct xp_agents, fabric.icmp)},
    {"slb", fabric_sim_slb_fields,
	.offset = offsetof(struct xp_agents, fabric.slb)},
    {"flaps", fault_flap_fields,
	.offset = offsetof(struct xp_agents, fabric.flap)},
    {"latency", fabric_sim_latency_fields,
	.offset = offsetof(struct xp_agents, fabric)},
    {0},
};

static int agents_read(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, void *params, struct sim_err *e)
{
	(void)node, (void)t;
	return sim_parts_read(y, "agents", epoch_parts, params, e);
}

const struct xp_section xp_agents_section = {"agents", sizeof(struct xp_agents),
    agents_read, NULL, epoch_parts,
    .example =
	"plane: agents\n"
	"agents:\n"
	"  c_t: 1               # a host traces one flow a second at most\n"
	"  icmp: { t_max: 100 } # and a switch answers 100 a second\n"
	"faults: { count: 1, rate: 0.01 }\n"};

/* --- the plane ------------------------------------------------------------ */

struct xp_agent_plane {
	const struct topo *topo;
	const struct xp_agents *params;
	struct fabric_sim *fabric;
	struct fabric_agents agents;

	struct xp_agent_window seen; /* of this epoch */
	uint32_t *at_once; /* [rows] losses at the begin of the flow */
	size_t cap_at_once;
};

int xp_agent_plane_open(struct xp_agent_plane **out, const struct topo *t,
    const struct xp_agents *a, struct sim_err *e)
{
	struct xp_agent_plane *p;
	int rc = SIM_ZALLOC(&p, 1, e);
	if (rc < 0)
		return rc;
	p->topo = t;
	p->params = a;
	if ((rc = fabric_sim_open(&p->fabric, t, &a->fabric, e)) < 0 ||
	    (rc = fabric_agents_open(&p->agents, &algo_path_agent, &a->agent,
		 t->n_hosts, e)) < 0) {
		xp_agent_plane_close(p);
		return rc;
	}
	*out = p;
	return 0;
}

void xp_agent_plane_close(struct xp_agent_plane *p)
{
	if (!p)
		return;
	fabric_sim_close(p->fabric);
	fabric_agents_close(&p->agents);
	xp_agent_window_free(&p->seen);
	free(p->at_once);
	free(p);
}

/* A report names its connection by the five-tuple alone, since an agent does
 * not know of rows; the fabric knows which row it made that connection of. */
static int epoch_take_report(void *arg, topo_host host, sim_ns at,
    const struct agent_report *report, struct sim_err *e)
{
	struct xp_agent_plane *p = arg;
	(void)host;
	(void)at;
	return xp_agent_window_take(&p->seen,
	    fabric_sim_row(p->fabric, &report->tuple), report, e);
}

/* The three shares are those of 007's Table 1: switch-seconds without an ICMP
 * message, with one to three, and with more. */
static void fill_load(const struct fabric_sim_icmp_load *load,
    struct res_trial_metrics *m)
{
	const double n = (double)load->n_all;
	m->n_icmp_sent = (double)load->n_sent;
	m->n_icmp_suppressed = (double)load->n_suppressed;
	m->icmp_max_per_switch_s = load->max;
	m->icmp_share_low = (double)load->n_low / n;
	m->icmp_share_high = (double)load->n_high / n;
	m->icmp_share_none =
	    (double)(load->n_all - load->n_low - load->n_high) / n;
}

/* Ports are asked for the time at which a flow begins (models/bulk/bulk.h), so
 * what full ones dropped was lost then; other losses may be of any time of its
 * life. */
static int epoch_tell_at_once(struct xp_agent_plane *p, const struct obs *lossy,
    const struct losses *lost, struct sim_err *e)
{
	const size_t n = lossy->flows.n;
	fabric_sim_at_once(p->fabric, NULL);
	if (!lost->has_buffer)
		return 0;
	int rc = SIM_RESERVE(&p->at_once, &p->cap_at_once, n, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		p->at_once[i] = 0;
		for (uint64_t k = lossy->hops.off[i];
		     k < lossy->hops.off[i + 1]; k++)
			p->at_once[i] += lost->buffer[k];
	}
	fabric_sim_at_once(p->fabric, p->at_once);
	return 0;
}

int xp_agent_plane_epoch(struct xp_agent_plane *p, const struct scene *scene,
    const struct obs *lossy, const struct losses *lost,
    const struct xp_agent_window **seen, struct res_trial_metrics *m,
    struct sim_err *e)
{
	int rc = xp_agent_window_begin(&p->seen, lossy, e);
	if (rc < 0)
		return rc;
	/* The agents' random numbers are named by the scene's seed, so an epoch
	 * is the same whichever epochs were run before it. */
	fabric_agents_renew(&p->agents, &scene->where);
	/* Without an end: the run is over when no event is left, so traces that
	 * begin in the last second of the epoch come to their end too. */
	if ((rc = epoch_tell_at_once(p, lossy, lost, e)) < 0 ||
	    (rc = fabric_sim_begin(p->fabric, scene, lossy, e)) < 0)
		return rc;
	if (lost->n_early > 0)
		fabric_sim_early(p->fabric, lost->early);
	if ((rc = fabric_run(fabric_sim_fabric(p->fabric), &p->agents,
		 SIM_NEVER, epoch_take_report, p, e)) < 0)
		return rc;
	const struct fabric_sim_icmp_load load = fabric_sim_load(p->fabric);
	fill_load(&load, m);
	*seen = &p->seen;
	return xp_agent_window_fill(&p->seen, p->topo, p->params->partial, lost,
	    m, e);
}
