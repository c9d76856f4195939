/* experiments/pingmesh/world.c -- Pingmesh at work on a network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/pingmesh/pinglist_xml.h"
#include "sim/vec.h"
#include "topo/region.h"

/* What was last seen of a host's agent. */
struct seen {
	sim_ns start_ns;                     /* of its life */
	struct algo_pingmesh_counters count; /* of this life, so far */
};

struct xp_world {
	const struct topo *topo;
	const struct xp_pingmesh *params;
	struct scene *scene;
	struct algo_pinglist plan;
	struct algo_pinglist_xml xml;
	char *doc;
	size_t cap_doc;
	struct xp_net *net;
	struct fabric_agents agents;
	struct xp_collector *collector;
	struct seen *seen;                  /* [n_hosts] */
	struct algo_pingmesh_counters gone; /* of lives that ended */
	sim_ns now;
};

/* --- controller and collector --------------------------------------------- */

/* The controller makes a host's pinglist when it is asked for, as it depends on
 * nothing but the plan: a list for each of many hosts would fill the memory.
 * The buffer grows to the longest one and is lent until the next fetch. */
static int world_fetch(void *arg, topo_host host, sim_ns at, const void **data,
    size_t *n, struct sim_err *e)
{
	struct xp_world *w = arg;
	int rc = algo_pinglist_xml_start(&w->xml, host, e);
	size_t more = 1, size = 0;
	(void)at;
	while (rc == 0 && more > 0) {
		rc = SIM_RESERVE(&w->doc, &w->cap_doc,
		    size + ALGO_PINGLIST_XML_CHUNK, e);
		if (rc < 0)
			break;
		more = algo_pinglist_xml_next(&w->xml, w->doc + size,
		    w->cap_doc - size);
		size += more;
	}
	*data = w->doc;
	*n = size;
	return rc;
}

static int world_upload(void *arg, topo_host host, sim_ns at, const void *data,
    size_t n, struct sim_err *e)
{
	struct xp_world *w = arg;
	(void)host;
	(void)at;
	return xp_collector_take(w->collector, data, n, e);
}

static int world_counters(void *arg, topo_host host, sim_ns at,
    const void *data, size_t n, struct sim_err *e)
{
	struct xp_world *w = arg;
	(void)host;
	(void)at;
	assert(n == sizeof(struct algo_pingmesh_window));
	return xp_collector_count(w->collector, data, e);
}

/* --- opening -------------------------------------------------------------- */

static int open_plan(struct xp_world *w, struct sim_err *e)
{
	struct topo_clos shape[TOPO_REGION_MAX_DCS];
	const uint32_t n = topo_n_dcs(w->topo);
	for (uint32_t i = 0; i < n; i++)
		shape[i] = topo_dc_at(w->topo, i).clos;
	int rc =
	    algo_pinglist_open(&w->plan, &w->params->pinglist, shape, n, e);
	if (rc == 0)
		algo_pinglist_xml_open(&w->xml, &w->plan);
	return rc;
}

int xp_world_open(struct xp_world **out, const struct topo *t,
    const struct xp_pingmesh *p, struct xp_net *net, uint32_t n_kept,
    struct sim_err *e)
{
	struct xp_world *w;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	w->topo = t;
	w->params = p;
	w->net = net;
	if ((rc = open_plan(w, e)) < 0 ||
	    (rc = fabric_agents_open(&w->agents, &algo_pingmesh_agent,
		 &p->agent, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&w->seen, t->n_hosts, e)) < 0 ||
	    (rc = xp_collector_open(&w->collector, t, p, n_kept, e)) < 0) {
		xp_world_close(w);
		return rc;
	}
	*out = w;
	return 0;
}

void xp_world_close(struct xp_world *w)
{
	if (!w)
		return;
	fabric_agents_close(&w->agents);
	xp_collector_close(w->collector);
	free(w->seen);
	free(w->doc);
	free(w);
}

/* --- time ----------------------------------------------------------------- */

/* The analyses recognise lost SYNs by the waits that the spec says. If hosts of
 * the network waited otherwise, drop rates would not fail but be wrong. */
static int world_check_waits(const struct xp_world *w, const struct fabric *f,
    struct sim_err *e)
{
	sim_ns wait[OBS_MAX_WAITS];
	const unsigned n = xp_pingmesh_waits(w->params, wait);
	for (unsigned i = 0; i < n; i++)
		if (f->caps.syn_rto_ns[i] != wait[i])
			return sim_fail(e, SIM_EMISMATCH,
			    "Hosts of fabric %s wait %g s after SYN %u, and "
			    "not %g s as connect.timers says.",
			    w->net->name, (double)f->caps.syn_rto_ns[i] / 1e9,
			    i + 1, (double)wait[i] / 1e9);
	return 0;
}

/* Everything that the last run left is forgotten, so that a cell of a sweep
 * does not depend on which cells the same worker had before. */
int xp_world_begin(struct xp_world *w, struct scene *scene, struct sim_err *e)
{
	w->scene = scene;
	w->now = 0;
	w->gone = (struct algo_pingmesh_counters){0};
	memset(w->seen, 0, w->topo->n_hosts * sizeof(w->seen[0]));
	xp_collector_clear(w->collector);
	fabric_agents_renew(&w->agents, &scene->where);
	const struct fault_services services = {w, world_fetch, world_upload,
	    world_counters};
	struct fabric *f;
	int rc = w->net->ops->begin(w->net, scene, &services, &f, e);
	return rc < 0 ? rc : world_check_waits(w, f, e);
}

/* A host is on when its agent was started in this run, and no outage has it off
 * now. */
static int world_is_on(const struct xp_world *w, topo_host h)
{
	return w->agents.life[h] == w->agents.now_living &&
	    !truth_outage_at(&w->scene->truth, TRUTH_HOST_OFF, h, w->now);
}

int xp_world_run(struct xp_world *w, sim_ns t, struct sim_err *e)
{
	assert(t >= w->now);
	const int rc = w->net->ops->run(w->net, &w->agents, t, e);
	w->now = t;
	return rc;
}

/* --- looking -------------------------------------------------------------- */

/* The state of an agent that has not yet been started in this run is still that
 * of the run before, so it is not read. */
struct algo_pingmesh_status xp_world_status(const struct xp_world *w,
    topo_host h)
{
	struct algo_pingmesh_status s = {0};
	if (w->agents.life[h] == w->agents.now_living)
		algo_pingmesh_agent_status(w->agents.state +
			h * w->agents.stride,
		    &s);
	return s;
}

static void add_counters(struct algo_pingmesh_counters *to,
    const struct algo_pingmesh_counters *from)
{
#define X(name, doc) to->name += from->name;
	ALGO_PINGMESH_COUNTERS(X)
#undef X
}

/* An agent is made anew when its host comes on, and counts from 0. What was
 * last seen of its counters is put aside first, lest the sums go backwards. An
 * outage that ends within another one does not bring the host back, and one
 * that ended before the present life began was dealt with earlier. */
static void end_lives(struct xp_world *w)
{
	const struct truth *t = &w->scene->truth;
	for (size_t i = 0; i < t->n_outages; i++) {
		const struct truth_outage *o = &t->outage[i];
		if (o->kind != TRUTH_HOST_OFF || o->to_ns > w->now ||
		    o->to_ns <= w->seen[o->id].start_ns ||
		    truth_outage_at(t, TRUTH_HOST_OFF, o->id, o->to_ns))
			continue;
		struct seen *s = &w->seen[o->id];
		add_counters(&w->gone, &s->count);
		s->count = (struct algo_pingmesh_counters){0};
		s->start_ns = o->to_ns;
	}
}

struct xp_pulse xp_world_pulse(struct xp_world *w)
{
	struct xp_pulse p = {0};
	end_lives(w);
	for (topo_host h = 0; h < w->topo->n_hosts; h++) {
		const struct algo_pingmesh_status a = xp_world_status(w, h);
		w->seen[h].count = a.count;
		add_counters(&p.count, &a.count);
		if (!world_is_on(w, h))
			continue;
		p.n_on++;
		p.n_live += a.n_entries > 0;
		p.n_in_flight += a.n_in_flight;
		p.n_held += a.n_held;
	}
	add_counters(&p.count, &w->gone);
	return p;
}

struct xp_collector *xp_world_collector(struct xp_world *w)
{
	return w->collector;
}

const struct algo_pinglist *xp_world_plan(const struct xp_world *w)
{
	return &w->plan;
}
