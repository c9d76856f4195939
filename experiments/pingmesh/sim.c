/* experiments/pingmesh/sim.c -- Pingmesh's agents on a simulated network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "experiments/pingmesh/net.h"
#include "sim/vec.h"

struct net {
	struct xp_net base;
	struct fabric_sim_params params;
	struct fabric_sim *fabric;
};

/* No window of lossy flows is given: the only traffic on this fabric is the
 * agents' own. */
static int pingmesh_sim_begin(struct xp_net *base, struct scene *scene,
    const struct fault_services *s, struct fabric **f, struct sim_err *e)
{
	struct net *n = (struct net *)base;
	fabric_sim_serve(n->fabric, s);
	*f = fabric_sim_fabric(n->fabric);
	return fabric_sim_begin(n->fabric, scene, NULL, e);
}

static int pingmesh_sim_run(struct xp_net *base, struct fabric_agents *a,
    sim_ns until, struct sim_err *e)
{
	struct net *n = (struct net *)base;
	return fabric_run(fabric_sim_fabric(n->fabric), a, until, NULL, NULL,
	    e);
}

static struct fabric_sim_losses pingmesh_sim_losses(const struct xp_net *base)
{
	return fabric_sim_losses(((const struct net *)base)->fabric);
}

static void pingmesh_sim_close_net(struct xp_net *base)
{
	struct net *n = (struct net *)base;
	fabric_sim_close(n->fabric);
	free(n);
}

static const struct xp_net_ops pingmesh_sim_ops = {pingmesh_sim_begin,
    pingmesh_sim_run, pingmesh_sim_close_net, pingmesh_sim_losses};

/* Without defaults a zeroed part would be a fabric without latencies, or with
 * switches that send no ICMP message at all. */
static int pingmesh_sim_defaults(struct fabric_sim_params *f, struct sim_err *e)
{
	int rc;
	if ((rc = sim_field_defaults(fabric_sim_fields, f, e)) < 0 ||
	    (rc = sim_field_defaults(fabric_sim_latency_fields, f, e)) < 0 ||
	    (rc = sim_field_defaults(fabric_sim_icmp_fields, &f->icmp, e)) <
		0 ||
	    (rc = sim_field_defaults(fabric_sim_slb_fields, &f->slb, e)) < 0 ||
	    (rc = sim_field_defaults(fault_flap_fields, &f->flap, e)) < 0)
		return rc;
	return 0;
}

int xp_net_sim_params(struct fabric_sim_params *f, const struct xp_pingmesh *p,
    struct sim_err *e)
{
	const int rc = pingmesh_sim_defaults(f, e);
	f->connect = p->connect;
	return rc;
}

int xp_net_hosts_sim(struct xp_net **out, const struct topo *t,
    const struct xp_net_hosts *h, struct sim_err *e)
{
	struct net *n;
	*out = NULL;
	int rc = SIM_ZALLOC(&n, 1, e);
	if (rc < 0)
		return rc;
	n->base = (struct xp_net){&pingmesh_sim_ops, "sim", 0};
	rc = pingmesh_sim_defaults(&n->params, e);
	n->params.connect = h->connect;
	if (rc < 0 || (rc = fabric_sim_open(&n->fabric, t, &n->params, e)) < 0)
		pingmesh_sim_close_net(&n->base);
	else
		*out = &n->base;
	return rc;
}

int xp_net_open_sim(struct xp_net **out, const struct topo *t,
    const struct xp_pingmesh *p, struct sim_err *e)
{
	const struct xp_net_hosts h = {.connect = p->connect};
	return xp_net_hosts_sim(out, t, &h, e);
}
