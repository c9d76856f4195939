/* experiments/planner/agents.c -- a search by agents on all hosts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/pingmesh/net.h"
#include "experiments/planner/planner.h"
#include "sim/vec.h"

/* Between looks at what the survey came to: the fabric runs on until then. */
#define PLANNER_SLICE (20 * SIM_MS)

struct xp_planner_agents {
	const struct xp_planner *params;
	const struct topo *topo;
	struct xp_net *net;
	struct fabric_agents agents;
	struct algo_survey_params survey_params[2];
	struct algo_survey *surveys[2];

	/* Of this search. */
	struct algo_survey *survey; /* one of them */
	struct obs_tallies *told;
	double *hazard; /* [links] of what is judged */
	struct xp_planner_end *end;
	uint32_t round; /* that was looked at last */
	int over;
};

void xp_planner_agents_close(struct xp_planner_agents *a)
{
	if (!a)
		return;
	fabric_agents_close(&a->agents);
	for (unsigned i = 0; i < 2; i++)
		algo_survey_close(a->surveys[i]);
	xp_net_close(a->net);
	free(a->hazard);
	free(a);
}

/* Connects are given up a little before agents lose patience, so that their port
 * is free by then; no SYN is sent again before. */
static int planner_agents_net(struct xp_planner_agents *a,
    const struct xp_config *c, struct sim_err *e)
{
	const struct xp_planner_agents_params *p = &a->params->agents;
	struct xp_net_hosts hosts = {.lasts_s = p->lasts_s,
	    .give_up_s = 0.95 * p->scout.wait_s,
	    .n_ports = 1,
	    .port = {(uint16_t)p->survey.port},
	    .traces = 1};
	const int rc =
	    sim_field_defaults(fabric_sim_connect_fields, &hosts.connect, e);
	hosts.connect.timers = FABRIC_SIM_LINUX_LINEAR;
	return rc < 0 ? rc : xp_net_open_hosts(&a->net, c, a->topo, &hosts, e);
}

int xp_planner_agents_open(struct xp_planner_agents **out,
    const struct xp_config *c, const struct topo *t, const struct xp_planner *p,
    struct sim_err *e)
{
	struct xp_planner_agents *a = NULL;
	int rc = SIM_ZALLOC(&a, 1, e);
	*out = a;
	if (rc < 0)
		return rc;
	a->params = p;
	a->topo = t;
	rc = SIM_ZALLOC(&a->hazard, t->n_links, e);
	for (unsigned i = 0; rc == 0 && i < 2; i++) {
		a->survey_params[i] = p->agents.survey;
		a->survey_params[i].packets = p->packets;
		a->survey_params[i].plan = p->plan;
		rc = algo_survey_open(&a->surveys[i], t, &a->survey_params[i],
		    e);
	}
	if (rc < 0 ||
	    (rc = fabric_agents_open(&a->agents, &algo_scout, &p->agents.scout,
		 t->n_hosts, e)) < 0 ||
	    (rc = planner_agents_net(a, c, e)) < 0) {
		xp_planner_agents_close(a);
		*out = NULL;
	}
	return rc;
}

void xp_planner_agents_view(const struct xp_planner_agents *a, unsigned search,
    struct algo_survey_view *v)
{
	algo_survey_view(a->surveys[search], v);
}

/* --- what the survey hears ------------------------------------------------ */

/* What is thought now; LAST: no more may be sent. */
static int planner_agents_take(struct xp_planner_agents *a,
    const struct algo_survey_view *v, int last, struct sim_err *e)
{
	const double wrong = xp_planner_wrong(a->params, &v->plan, a->hazard,
			 a->topo->n_links),
		     n = (double)v->n_connects / a->params->packets;
	int stops;
	a->over = xp_planner_end_look(a->end, a->params, &v->plan, wrong, n,
	    last || n >= a->params->most, &stops);
	if (a->over)
		algo_survey_stop(a->survey);
	return stops && a->told ? xp_planner_keep(a->told, &v->plan, e) : 0;
}

/* With each round something else is thought, and is looked at before more is
 * told. */
static int planner_agents_look(struct xp_planner_agents *a, struct sim_err *e)
{
	struct algo_survey_view v;
	algo_survey_view(a->survey, &v);
	if (v.n_ways == 0 || v.round == a->round || a->over)
		return 0;
	a->round = v.round;
	return planner_agents_take(a, &v, 0, e);
}

static int planner_agents_fetch(void *arg, topo_host host, sim_ns at,
    const void **data, size_t *n, struct sim_err *e)
{
	struct xp_planner_agents *a = arg;
	const int rc = algo_survey_fetch(a->survey, host, at, data, n, e);
	return rc < 0 ? rc : planner_agents_look(a, e);
}

static int planner_agents_upload(void *arg, topo_host host, sim_ns at,
    const void *data, size_t n, struct sim_err *e)
{
	struct xp_planner_agents *a = arg;
	const int rc = algo_survey_upload(a->survey, host, at, data, n, e);
	return rc < 0 ? rc : planner_agents_look(a, e);
}

/* --- a search ------------------------------------------------------------- */

/* All ways cross both directions of a host's cable, of which the link up stands
 * for both. */
static void planner_agents_hazards(struct xp_planner_agents *a,
    const double hazard[])
{
	for (topo_link l = 0; l < a->topo->n_links; l++)
		a->hazard[l] = hazard[l];
	for (topo_host h = 0; h < a->topo->n_hosts; h++)
		a->hazard[topo_link_of(h, TOPO_UP)] +=
		    hazard[topo_link_of(h, TOPO_DOWN)];
}

/* Go on until there is no more to look for, or for as long as it may take. */
static int planner_agents_live(struct xp_planner_agents *a, struct fabric *f,
    struct sim_err *e)
{
	const sim_ns end =
	    f->ops->now(f) + sim_ns_of(a->params->agents.lasts_s);
	struct algo_survey_view v;
	int rc = 0;
	while (rc == 0 && !a->over && f->ops->now(f) < end)
		rc = a->net->ops->run(a->net, &a->agents,
		    f->ops->now(f) + PLANNER_SLICE, e);
	if (rc < 0 || a->over)
		return rc;
	algo_survey_view(a->survey, &v);
	return v.n_ways > 0
	    ? planner_agents_take(a, &v, 1, e)
	    : sim_fail(e, SIM_EIO, "no host has traced its ways in %g s.",
		  a->params->agents.lasts_s);
}

int xp_planner_agents_run(struct xp_planner_agents *a, struct scene *scene,
    const struct algo_planner_params *plan, const double hazard[],
    unsigned search, struct xp_planner_end *end, struct obs_tallies *told,
    struct sim_err *e)
{
	const struct fault_services services = {.arg = a,
	    .fetch = planner_agents_fetch,
	    .upload = planner_agents_upload};
	struct fabric *f;
	struct sim_rng ask;
	a->survey_params[search].plan = *plan;
	a->survey = a->surveys[search];
	a->end = end;
	a->told = told;
	a->round = 0;
	a->over = 0;
	xp_planner_end_begin(end, a->params);
	planner_agents_hazards(a, hazard);
	fabric_agents_renew(&a->agents, &scene->where);
	int rc = a->net->ops->begin(a->net, scene, &services, &f, e);
	if (rc < 0)
		return rc;
	sim_rng_init(&ask, &scene->where, SIM_STREAM_PLANNER, 4 + search);
	algo_survey_begin(a->survey, f->ops->now(f), &ask);
	return planner_agents_live(a, f, e);
}
