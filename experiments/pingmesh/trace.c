/* experiments/pingmesh/trace.c -- traces of pairs that lose packets silently.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/trace.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/pingmesh/world.h"
#include "sim/vec.h"
#include "topo/addr.h"

struct xp_tracer {
	const struct topo *topo;
	const struct xp_trace *params;
	struct fabric_sim_params fabric_params;
	struct fabric_sim *fabric;
	struct algo_hop_trace_params agent; /* what the agents are told */
	struct algo_hop_trace_target *target;
	struct fabric_agents agents;
	struct scene scene; /* a copy of the run's, with another seed */
	struct obs_traces traces;
	struct algo_hop_trace_work work;
	struct obs window;
	struct losses lost; /* in the window */
};

int xp_tracer_open(struct xp_tracer **out, const struct topo *t,
    const struct xp_pingmesh *p, struct sim_err *e)
{
	const struct xp_trace *k = &p->trace;
	struct xp_tracer *x;
	int rc = SIM_ZALLOC(&x, 1, e);
	if (rc < 0)
		return rc;
	x->topo = t;
	x->params = k;
	x->agent = k->agent;
	/* Each pair is traced from both ends, as paths there and back differ.
	 */
	if ((rc = SIM_ZALLOC(&x->target, 2 * k->n_cells * k->n_pairs, e)) < 0 ||
	    (rc = xp_net_sim_params(&x->fabric_params, p, e)) < 0)
		goto fail;
	x->agent.target = x->target;
	x->fabric_params.icmp = k->icmp;
	if ((rc = fabric_sim_open(&x->fabric, t, &x->fabric_params, e)) < 0 ||
	    (rc = fabric_agents_open(&x->agents, &algo_hop_trace_agent,
		 &x->agent, t->n_hosts, e)) < 0)
		goto fail;
	*out = x;
	return 0;
fail:
	xp_tracer_close(x);
	return rc;
}

void xp_tracer_close(struct xp_tracer *x)
{
	if (!x)
		return;
	fabric_sim_close(x->fabric);
	fabric_agents_close(&x->agents);
	obs_traces_free(&x->traces);
	algo_hop_trace_work_free(&x->work);
	obs_free(&x->window);
	losses_free(&x->lost);
	free(x->target);
	free(x);
}

/* Choose whom to trace. Agents and fabric draw their random numbers by the seed
 * of the scene, so the copy gets a seed of its own, drawn for this window. Thus
 * Pingmesh's probes meet the same numbers whether or not anything is traced. */
static void pingmesh_trace_begin(struct xp_tracer *x, const struct scene *scene,
    const struct algo_silent_drop *s, uint32_t window)
{
	const struct xp_trace *k = x->params;
	const struct algo_silent_drop_tracing how = {.n_cells = k->n_cells,
	    .n_pairs = k->n_pairs,
	    .n_ports = k->n_ports,
	    .first_port = XP_TRACE_FIRST_PORT,
	    .any = k->always != 0};
	struct sim_rng rng;
	sim_rng_init(&rng, &scene->where, SIM_STREAM_TRACE, window);
	x->scene = *scene;
	x->scene.where.seed = (uint64_t)sim_rng_u32(&rng) << 32;
	x->scene.where.seed |= sim_rng_u32(&rng);
	x->agent.n_targets = algo_silent_drop_targets(s, &how, &rng, x->target);
	obs_traces_clear(&x->traces);
}

static int pingmesh_trace_take_report(void *arg, topo_host host, sim_ns at,
    const struct agent_report *report, struct sim_err *e)
{
	struct xp_tracer *x = arg;
	(void)host;
	(void)at;
	return obs_traces_add(&x->traces, &(struct obs_trace){*report}, e);
}

/* When every server is done, by the worst case: it has sent all probes that it
 * may, one a slot of 1 / rate, and has waited once more each time that a path
 * turned out to go on, with a second to spare. A server whose host is off until
 * then does not report, and is not waited for. */
static sim_ns pingmesh_trace_lasts(const struct xp_tracer *x)
{
	const struct algo_hop_trace_params *a = &x->agent;
	const double n_most =
	    a->n_probes > a->n_soundings ? a->n_probes : a->n_soundings;
	const double n_ttls = (double)x->params->n_ports * a->max_hops;
	return (sim_ns)((x->params->agent.start_s +
			    (n_ttls * n_most + 1) / a->rate +
			    (n_ttls + 1) * a->wait_s + 1) *
	    1e9);
}

/* The fabric begins at time 0 and servers start after NOW, so that they meet
 * the faults and outages that the truth has at that time. */
static int pingmesh_trace_live(struct xp_tracer *x, sim_ns now,
    struct sim_err *e)
{
	struct fabric *f = fabric_sim_fabric(x->fabric);
	x->agent.start_s = (double)now / 1e9 + x->params->agent.start_s;
	fabric_agents_renew(&x->agents, &x->scene.where);
	int rc = fabric_sim_begin(x->fabric, &x->scene, NULL, e);
	return rc < 0 ? rc
		      : fabric_run(f, &x->agents, now + pingmesh_trace_lasts(x),
			    pingmesh_trace_take_report, x, e);
}

/* --- what it really was --------------------------------------------------- */

/* The link with a fault on the flow's path that drops the most, or TOPO_NONE.
 * Hazards are -log(1 - rate), so they order links as their rates do. */
static topo_link culprit_of(const struct xp_tracer *x, size_t flow, sim_ns at)
{
	const topo_link *path = obs_path(&x->window, flow);
	const unsigned n = obs_n_hops(&x->window, flow);
	topo_link worst = TOPO_NONE;
	double most = 0, hazard;
	for (unsigned i = 0; i < n; i++)
		if (path[i] != TOPO_NONE &&
		    scene_loss_fault(&x->scene.loss, path[i], at, &hazard) &&
		    hazard > most) {
			worst = path[i];
			most = hazard;
		}
	return worst;
}

/* Only the culprits of flows that failed are filled in. On which link each
 * probe of a trace was lost is not followed, so numbers of drops are 0. */
static int fill_losses(struct xp_tracer *x, sim_ns now, struct sim_err *e)
{
	static const uint32_t none[TOPO_MAX_HOPS];
	const struct obs *o = &x->window;
	int rc = 0;
	losses_clear(&x->lost);
	for (size_t i = 0; rc == 0 && i < o->flows.n; i++) {
		const topo_link worst =
		    o->flows.n_retx[i] > 0 ? culprit_of(x, i, now) : TOPO_NONE;
		if ((rc = losses_add_culprit(&x->lost, worst, e)) == 0)
			rc = losses_add_drops(&x->lost, none, obs_n_hops(o, i),
			    e);
	}
	return rc;
}

int xp_tracer_run(struct xp_tracer *x, const struct scene *scene,
    const struct algo_silent_drop *s, uint32_t window, sim_ns now,
    const struct obs **o, const struct losses **lost, struct sim_err *e)
{
	const struct algo_hop_trace_rank_params rank = {
	    .conf = x->params->conf};
	int rc = 0;
	pingmesh_trace_begin(x, scene, s, window);
	if (x->agent.n_targets > 0)
		rc = pingmesh_trace_live(x, now, e);
	if (rc == 0)
		rc = algo_hop_trace_flows(&x->work, x->topo, x->traces.report,
		    x->traces.n, &rank, &x->window, e);
	if (rc == 0)
		rc = fill_losses(x, now, e);
	x->window.traces = &x->traces;
	*o = &x->window;
	*lost = &x->lost;
	return rc < 0 ? sim_wrap(e, rc, "traces of window %u", window) : 0;
}

uint64_t xp_tracer_n_probes(const struct xp_tracer *x)
{
	uint64_t n = 0;
	for (size_t i = 0; i < x->traces.n; i++)
		for (unsigned k = 0; k < TOPO_MAX_HOPS; k++)
			n += x->traces.report[i].n_sent[k];
	return n;
}
