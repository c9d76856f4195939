/* experiments/cmd/trace_net.c -- a spec's network, built of namespaces, mirrored.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/trace_net.h"

#include "experiments/cmd/cmd.h"
#include "experiments/fabrics/netns.h"
#include "experiments/spec/plane.h"

enum { TIMEOUT_S = 60 }; /* of a connection */

int cmd_trace_net_read(struct cmd_trace_net *n, const char *name,
    const struct cmd_set *set, uint64_t point, uint64_t run, struct sim_err *e)
{
	struct xp_config *c = &n->config;
	int rc;
	if ((rc = cmd_load_spec_still(&n->spec, name, 0, set->set, set->n_set,
		 e)) < 0 ||
	    (rc = cmd_check_cell(&n->spec, point, run, e)) < 0 ||
	    (rc = xp_spec_point(&n->spec, point, c, e)) < 0)
		return rc;
	if (xp_plane_of(c) != &xp_plane_everflow)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "plane %s mirrors no packets; plane everflow does.",
		    xp_plane_of(c)->name);
	n->where = (struct sim_seed){.seed = n->spec.seed,
	    .point = c->common ? 0 : (uint32_t)point,
	    .run = (uint32_t)run};
	if ((rc = xp_topology_open(&c->topology, n->spec.folder, &n->topo, e)) <
	    0)
		return rc;
	return scene_draw(&n->scene, &n->topo, &c->scene, &n->where, e);
}

/* What the kernel has not cannot be broken there. */
static int trace_net_check(const struct cmd_trace_net *n, struct sim_err *e)
{
	const struct truth *t = &n->scene.truth;
	for (size_t i = 0; i < t->n_outages; i++)
		if (t->outage[i].kind != TRUTH_HOST_OFF &&
		    t->outage[i].kind != TRUTH_POD_OFF &&
		    t->outage[i].kind != TRUTH_MUX_LOOP)
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "a real network has connections and load balancers "
			    "alone: no RDMA or BGP that could fail.");
	return xp_netns_check(NETNS_FAULTS_EBPF, e);
}

int cmd_trace_net_build(struct cmd_trace_net *n, struct sim_err *e)
{
	struct netns_params p;
	struct xp_wire *w;
	int rc = trace_net_check(n, e);
	if (rc < 0 || (rc = sim_field_defaults(netns_fields, &p, e)) < 0)
		return rc;
	p.ecmp_seed = n->scene.ecmp_seed;
	if ((rc = xp_wire_open_netns(&w, &n->topo, &p, NETNS_FAULTS_EBPF, e)) <
	    0)
		return rc;
	w->timeout_s = TIMEOUT_S;
	return xp_live_open(&n->live, w, xp_everflow_of(&n->config), e);
}

void cmd_trace_net_close(struct cmd_trace_net *n)
{
	xp_live_close(n->live);
	scene_free(&n->scene);
	topo_close(&n->topo);
	xp_config_free(&n->config);
	xp_spec_free(&n->spec);
}

int cmd_trace_net_end(struct cmd_trace_net *n, int read_rc, int rc,
    const struct sim_err *e)
{
	int code = CMD_GOOD;
	if (read_rc < 0)
		code = cmd_fail(read_rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE,
		    e);
	else if (rc < 0)
		code = cmd_fail(cmd_exit_of(rc), e);
	cmd_trace_net_close(n);
	return code;
}
