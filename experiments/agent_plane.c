/* experiments/agent_plane.c -- a window as agents learn it, not as it was.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/agent_plane.h"

#include <stdlib.h>
#include <string.h>

#include "algos/path_map.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* --- the section of a spec ----------------------------------------------------- */

static const struct sim_field own_fields[] = {
    {"partial", SIM_F_ENUM, offsetof(struct xp_agents, partial),
	.names = algo_partials, .def = "known",
	.doc = "what of a partial trace counts: all known links, those before "
	       "the first gap, none"},
    {0},
};

/* Maps within the section; the keys of "" are its own. */
static const struct part {
	const char *name;
	const struct sim_field *fields;
	size_t offset;
} parts[] = {
    {"", algo_path_agent_fields, offsetof(struct xp_agents, agent)},
    {"", own_fields, 0},
    {"", fabric_sim_fields, offsetof(struct xp_agents, fabric)},
    {"icmp", model_icmp_fields, offsetof(struct xp_agents, fabric.icmp)},
    {"slb", model_slb_fields, offsetof(struct xp_agents, fabric.slb)},
    {"flaps", model_flap_fields, offsetof(struct xp_agents, fabric.flap)},
    {"latency", fabric_sim_latency_fields, offsetof(struct xp_agents, fabric)},
};
enum { N_PARTS = sizeof(parts) / sizeof(parts[0]), MAX_FIELDS = 12 };

/* The parts without a name as one table, so that an unknown key is told once
 * and from all of them. */
static void join_fields(struct sim_field all[MAX_FIELDS])
{
	size_t n = 0;
	for (size_t i = 0; i < N_PARTS && !*parts[i].name; i++)
		for (const struct sim_field *f = parts[i].fields; f->name;
		     f++) {
			assert(n + 1 < MAX_FIELDS);
			all[n] = *f;
			all[n++].offset += parts[i].offset;
		}
	all[n] = (struct sim_field){0};
}

int xp_agents_read(struct sim_yaml *y, const struct topo *t,
    struct xp_agents *a, struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "agents");
	const char *also[N_PARTS + 1];
	struct sim_field all[MAX_FIELDS];
	size_t n = 0;
	join_fields(all);
	for (size_t i = 0; i < N_PARTS; i++)
		if (*parts[i].name)
			also[n++] = parts[i].name;
	also[n] = NULL;
	int rc = sim_yaml_read(y, node, y->root, all, also, a, e);
	for (size_t i = 0; rc == 0 && i < N_PARTS; i++)
		if (*parts[i].name)
			rc = sim_yaml_read(y, sim_yaml_get(node, parts[i].name),
			    node ? node : y->root, parts[i].fields, NULL,
			    (char *)a + parts[i].offset, e);
	if (rc == 0 && t && a->fabric.flap.count > 0 &&
	    t->n_links == 2 * t->n_hosts)
		rc = sim_yaml_mistake(y, sim_yaml_get(node, "flaps"),
		    "no cable joins two switches, so none can flap.");
	return rc;
}

void xp_agents_help(FILE *out)
{
	fprintf(out, "\nagents, on plane agents:\n");
	for (size_t i = 0; i < N_PARTS; i++) {
		if (*parts[i].name)
			fprintf(out, "\nagents.%s:\n", parts[i].name);
		sim_field_help(parts[i].fields, out);
	}
}

/* --- the plane ------------------------------------------------------------------ */

struct xp_agent_plane {
	const struct topo *topo;
	const struct xp_agents *params;
	struct fabric_sim *fabric;
	struct fabric_agents agents;

	/* Of this epoch. */
	const struct obs *lossy;
	uint8_t *reported; /* [lossy->flows.n] */
	struct agent_report *report;
	size_t cap_reported, cap_report;
	struct obs window;
	struct truth truth;
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
	free(p->reported);
	free(p->report);
	obs_free(&p->window);
	truth_free(&p->truth);
	free(p);
}

/* Reports are put aside by row, so that the window has the order of flows and
 * not that of what happened. */
static int take_report(void *arg, topo_host host, sim_ns at,
    const struct agent_report *report, struct sim_err *e)
{
	struct xp_agent_plane *p = arg;
	const size_t row = fabric_sim_row(p->fabric, &report->tuple);
	(void)host;
	(void)at;
	if (row == SIZE_MAX || p->reported[row])
		return sim_fail(e, SIM_EMISMATCH,
		    "a report of a connection that lost nothing, or a second "
		    "one.");
	p->reported[row] = 1;
	p->report[row] = *report;
	return 0;
}

/* A row as long as the true path, with what is known of it. */
static int add_row(struct xp_agent_plane *p, size_t row,
    const struct truth *truth, const struct algo_path *path, struct sim_err *e)
{
	const struct obs_flows *f = &p->lossy->flows;
	const unsigned n = obs_n_hops(p->lossy, row);
	topo_link hop[TOPO_MAX_HOPS];
	struct obs_flow flow = {
#define X(type, name, units, doc) .name = f->name[row],
	    OBS_FLOW_COLUMNS(X)
#undef X
	};
	int rc;
	for (unsigned i = 0; i < n; i++)
		hop[i] = i < path->n_hops ? path->link[i] : TOPO_NONE;
	flow.n_retx = p->report[row].n_retx;
	if ((rc = obs_add_flow(&p->window, &flow, hop, n, e)) < 0 ||
	    (rc = truth_add_path(&p->truth, obs_path(p->lossy, row), n, e)) < 0)
		return rc;
	return truth_add_drops(&p->truth,
	    truth->drops + p->lossy->hops.off[row], n, e);
}

static int fill_window(struct xp_agent_plane *p, const struct truth *truth,
    struct res_trial_metrics *m, struct sim_err *e)
{
	const enum algo_partial rule = p->params->partial;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < truth->n_faults; i++)
		rc = truth_add_fault(&p->truth, &truth->fault[i], e);
	for (size_t i = 0; rc == 0 && i < truth->n_parts; i++)
		rc = truth_add_part(&p->truth, truth->part[i].link,
		    truth->part[i].of, e);
	for (size_t row = 0; rc == 0 && row < p->lossy->flows.n; row++) {
		struct algo_path path;
		if (!p->reported[row])
			continue;
		algo_path_map(p->topo, &p->report[row], rule, &path);
		m->n_traced++;
		m->n_full_traces += path.complete;
		m->n_partial_traces += !path.complete;
		if (path.complete || rule != ALGO_PARTIAL_DROP)
			rc = add_row(p, row, truth, &path, e);
	}
	return rc;
}

static void fill_load(const struct model_icmp_load *load,
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

static int begin(struct xp_agent_plane *p, const struct model_scene *scene,
    const struct obs *lossy, struct sim_err *e)
{
	const size_t n = lossy->flows.n;
	int rc;
	p->lossy = lossy;
	obs_clear(&p->window);
	truth_clear(&p->truth);
	p->window.n_flows = lossy->n_flows;
	p->window.n_packets = lossy->n_packets;
	if ((rc = SIM_RESERVE(&p->reported, &p->cap_reported, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&p->report, &p->cap_report, n, e)) < 0)
		return rc;
	if (n > 0)
		memset(p->reported, 0, n);
	fabric_agents_renew(&p->agents, &scene->where);
	return fabric_sim_begin(p->fabric, scene, lossy, e);
}

int xp_agent_plane_epoch(struct xp_agent_plane *p,
    const struct model_scene *scene, const struct obs *lossy,
    const struct obs **w, const struct truth **truth,
    struct res_trial_metrics *m, struct sim_err *e)
{
	int rc = begin(p, scene, lossy, e);
	if (rc == 0)
		rc = fabric_run(fabric_sim_fabric(p->fabric), &p->agents,
		    SIM_NEVER, take_report, p, e);
	if (rc < 0)
		return rc;
	const struct model_icmp_load load = fabric_sim_load(p->fabric);
	m->n_traced = m->n_full_traces = m->n_partial_traces = 0;
	fill_load(&load, m);
	*w = &p->window;
	*truth = &p->truth;
	return fill_window(p, &scene->truth, m, e);
}
