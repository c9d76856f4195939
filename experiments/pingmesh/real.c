/* experiments/pingmesh/real.c -- Pingmesh's agents on real sockets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/lab/wire.h"
#include "experiments/pingmesh/net.h"
#include "sim/vec.h"

/* A document that was handed to the fabric and that the agent has not read
 * yet. */
struct lent {
	topo_host host;
	uint64_t token;
	void *data;
};

struct net {
	struct xp_net base;
	struct xp_wire *wire;
	struct fabric_real_params fabric_params;
	uint8_t traces; /* agents are to send probes */
	struct xp_wire_epoch epoch;

	/* Of this run. */
	struct scene *scene;
	struct fabric_real *fabric;
	struct fault_services services;
	struct lent *lent;
	size_t n_lent, cap_lent;
	uint8_t *off; /* [n_hosts] 1: switched off now */
};

static sim_ns pingmesh_real_now_of(const struct net *n)
{
	const struct fabric *f = fabric_real_fabric(n->fabric);
	return f->ops->now(f);
}

/* --- controller and collector --------------------------------------------- */

/* Give an agent its document. The controller's buffer is used again for the
 * next host, while a fabric reads a document later, so each agent gets a copy
 * that lives until pingmesh_real_taken(). A byte more than SIZE lets it be
 * empty. */
static int lend(struct net *n, topo_host host, uint64_t token, const void *data,
    size_t size, struct sim_err *e)
{
	char *copy;
	int rc = SIM_RESERVE(&n->lent, &n->cap_lent, n->n_lent + 1, e);
	if (rc < 0 || (rc = SIM_ZALLOC(&copy, size + 1, e)) < 0)
		return rc;
	if (size > 0)
		memcpy(copy, data, size);
	n->lent[n->n_lent++] = (struct lent){host, token, copy};
	return fabric_real_fetched(n->fabric, host, token, 1, copy, size, e);
}

static void pingmesh_real_taken(void *arg, topo_host host, uint64_t token)
{
	struct net *n = arg;
	for (size_t i = 0; i < n->n_lent; i++) {
		struct lent *x = &n->lent[i];
		if (x->host != host || x->token != token)
			continue;
		free(x->data);
		*x = n->lent[--n->n_lent];
		return;
	}
}

static int pingmesh_real_fetch(void *arg, topo_host host, uint64_t token,
    struct sim_err *e)
{
	struct net *n = arg;
	const sim_ns now = pingmesh_real_now_of(n);
	const void *data;
	size_t size;
	sim_ns delay;
	const uint32_t mode =
	    fault_service_mode(&n->scene->truth, TRUTH_CONTROLLER, now, &delay);
	/* Silence, and no error: the agent's own time-out must find out. */
	if (mode == TRUTH_DOWN)
		return 0;
	int rc = fault_service_document(&n->services, mode, host, now, &data,
	    &size, e);
	return rc < 0 ? rc : lend(n, host, token, data, size, e);
}

/* A collector that is down loses the upload and is silent about it, so the
 * agent keeps the batch and tries again after its own time-out. */
static int pingmesh_real_upload(void *arg, topo_host host, uint64_t token,
    const void *data, size_t size, struct sim_err *e)
{
	struct net *n = arg;
	const sim_ns now = pingmesh_real_now_of(n);
	sim_ns delay;
	if (fault_service_mode(&n->scene->truth, TRUTH_COLLECTOR, now,
		&delay) == TRUTH_DOWN)
		return 0;
	int rc = n->services.upload(n->services.arg, host, now, data, size, e);
	return rc < 0 ? rc : fabric_real_uploaded(n->fabric, host, token, 1, e);
}

static int pingmesh_real_counters(void *arg, topo_host host, const void *data,
    size_t size, struct sim_err *e)
{
	struct net *n = arg;
	return fault_service_counters(&n->services, &n->scene->truth, host,
	    pingmesh_real_now_of(n), data, size, e);
}

/* What a wire of this process's own forwards (tun) must be forwarded while the
 * fabric waits for its agents' next events. */
static int step_wire(void *arg, struct sim_err *e)
{
	struct net *n = arg;
	return n->wire->ops->step(n->wire, e);
}

/* --- a run ---------------------------------------------------------------- */

/* The fabric first, since it has the hosts' sockets, which live in the network
 * that the wire then takes down, and since closing it still hands back
 * documents that were lent. */
static void pingmesh_real_end(struct net *n)
{
	fabric_real_close(n->fabric);
	n->wire->ops->end(n->wire);
	while (n->n_lent > 0)
		free(n->lent[--n->n_lent].data);
	n->fabric = NULL;
}

/* Make the links behave as the scene says that they do at NOW. */
static int pingmesh_real_hold(struct net *n, sim_ns now, struct sim_err *e)
{
	return n->wire->ops->apply ? n->wire->ops->apply(n->wire, now, e) : 0;
}

/* A socket takes its timers from the cgroup in which it is opened, so the wire
 * must have begun before the fabric opens the listening ones. */
static int pingmesh_real_begin(struct xp_net *base, struct scene *scene,
    const struct fault_services *s, struct fabric **f, struct sim_err *e)
{
	struct net *n = (struct net *)base;
	const uint32_t n_hosts = n->wire->topo->n_hosts;
	int rc;
	pingmesh_real_end(n);
	n->scene = scene;
	n->services = *s;
	memset(n->off, 0, n_hosts);
	if ((rc = n->wire->ops->begin(n->wire, scene, &n->epoch, e)) < 0 ||
	    (rc = pingmesh_real_hold(n, 0, e)) < 0 ||
	    (rc = fabric_real_open(&n->fabric, n->wire->host, n_hosts,
		 &n->fabric_params, e)) < 0)
		return rc;
	*f = fabric_real_fabric(n->fabric);
	if (n->traces && !(*f)->caps.can_probe_ttl)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "Agents may not send probes: that takes CAP_NET_RAW.");
	const struct fabric_real_services services = {.arg = n,
	    .fetch = pingmesh_real_fetch,
	    .upload = pingmesh_real_upload,
	    .counters = pingmesh_real_counters,
	    .taken = pingmesh_real_taken,
	    .fd = n->wire->ops->fd(n->wire),
	    .ready = step_wire};
	return fabric_real_serve(n->fabric, &services, e);
}

/* Hosts go off, and come on, at the moment at which their links are cut and
 * joined again. The agent of one that comes on is made anew, as by a reboot. */
static int switch_hosts(struct net *n, sim_ns now, struct sim_err *e)
{
	const struct truth *t = &n->scene->truth;
	int rc = 0;
	if (!truth_has_host_off(t))
		return 0;
	for (topo_host h = 0; rc == 0 && h < n->wire->topo->n_hosts; h++) {
		const uint8_t off =
		    truth_outage_at(t, TRUTH_HOST_OFF, h, now) != NULL;
		if (off && !n->off[h])
			fabric_real_off(n->fabric, h);
		else if (!off && n->off[h])
			rc = fabric_real_on(n->fabric, h, e);
		n->off[h] = off;
	}
	return rc;
}

/* Apply what the scene says of NOW. *NEXT is the time until which that holds:
 * the next begin or end of a fault or an outage. */
static int pingmesh_real_apply(struct net *n, sim_ns now, sim_ns *next,
    struct sim_err *e)
{
	const struct truth *t = &n->scene->truth;
	int rc = pingmesh_real_hold(n, now, e);
	if (rc == 0)
		rc = switch_hosts(n, now, e);
	*next = netns_faults_next(t, now);
	for (size_t i = 0; i < t->n_outages; i++) {
		const sim_ns at[] = {t->outage[i].from_ns, t->outage[i].to_ns};
		for (int k = 0; k < 2; k++)
			if (at[k] > now && at[k] < *next)
				*next = at[k];
	}
	return rc;
}

/* A kernel's links do not change by themselves, so the run goes from change to
 * change. */
static int pingmesh_real_run(struct xp_net *base, struct fabric_agents *a,
    sim_ns until, struct sim_err *e)
{
	struct net *n = (struct net *)base;
	sim_ns next;
	int rc = 0;
	do {
		if ((rc = pingmesh_real_apply(n, pingmesh_real_now_of(n), &next,
			 e)) == 0)
			rc = fabric_run(fabric_real_fabric(n->fabric), a,
			    next < until ? next : until, NULL, NULL, e);
	} while (rc == 0 && pingmesh_real_now_of(n) < until);
	return rc;
}

/* --- opening -------------------------------------------------------------- */

static void pingmesh_real_close_net(struct xp_net *base)
{
	struct net *n = (struct net *)base;
	pingmesh_real_end(n);
	xp_wire_close(n->wire);
	free(n->lent);
	free(n->off);
	free(n);
}

static const struct xp_net_ops pingmesh_real_ops = {pingmesh_real_begin,
    pingmesh_real_run, pingmesh_real_close_net, NULL};

/* With linear waits the kernel sends as many SYNs again as the socket's retries
 * and the linear waits together, so these are taken off; a socket must have at
 * least one retry. Without a number in the spec each system has its usual one:
 * Windows 2, Linux 6. */
static int set_timers(struct net *n, const struct fabric_sim_connect_params *c,
    struct sim_err *e)
{
	const uint32_t linear = c->timers == FABRIC_SIM_LINUX_LINEAR ? 4 : 0;
	const uint32_t usual = c->timers == FABRIC_SIM_WINDOWS ? 2 : 6 + linear;
	const uint32_t retries = c->retries ? c->retries : usual;
	n->fabric_params.syn_retries = retries > linear ? retries - linear : 1;
	if (c->timers == FABRIC_SIM_WINDOWS)
		n->fabric_params.syn_rto_s = n->epoch.syn_timeout_s = 3;
	return xp_wire_set(n->wire, "ipv4/tcp_syn_linear_timeouts", linear, e);
}

static void set_hosts(struct net *n, const struct xp_net_hosts *h)
{
	struct fabric_real_params *p = &n->fabric_params;
	p->n_classes = h->n_ports;
	memcpy(p->port, h->port, h->n_ports * sizeof(h->port[0]));
	p->no_probe = !h->traces;
	p->connect_s = h->give_up_s;
	n->traces = h->traces;
	n->epoch.lasts_ns = (sim_ns)(h->lasts_s * 1e9);
}

int xp_net_hosts_real(struct xp_net **out, struct xp_wire *wire,
    const struct xp_net_hosts *h, struct sim_err *e)
{
	struct net *n;
	*out = NULL;
	int rc = SIM_ZALLOC(&n, 1, e);
	if (rc < 0) {
		xp_wire_close(wire);
		return rc;
	}
	n->base = (struct xp_net){&pingmesh_real_ops, wire->ops->name,
	    wire->ops->own_paths};
	n->wire = wire;
	if ((rc = SIM_ZALLOC(&n->off, wire->topo->n_hosts, e)) < 0 ||
	    (rc = sim_field_defaults(fabric_real_fields, &n->fabric_params,
		 e)) < 0 ||
	    (rc = set_timers(n, &h->connect, e)) < 0) {
		pingmesh_real_close_net(&n->base);
		return rc;
	}
	set_hosts(n, h);
	*out = &n->base;
	return 0;
}

/* Hosts listen at the ports at which the pinglists say that they are probed,
 * one for each QoS class. A connect that the fabric gave up after the agent did
 * would come as an answer to a probe that is over, which agents count as
 * stray. */
int xp_net_open_real(struct xp_net **out, struct xp_wire *wire,
    const struct xp_pingmesh *p, struct sim_err *e)
{
	struct xp_net_hosts h = {.connect = p->connect,
	    .lasts_s = p->duration_s,
	    .give_up_s = 0.95 * p->agent.probe_timeout_s};
	struct algo_pinglist plan;
	*out = NULL;
	const int rc =
	    algo_pinglist_open(&plan, &p->pinglist, &wire->topo->clos, 1, e);
	if (rc < 0) {
		xp_wire_close(wire);
		return rc;
	}
	h.n_ports = plan.n_classes;
	memcpy(h.port, plan.port, plan.n_classes * sizeof(plan.port[0]));
	return xp_net_hosts_real(out, wire, &h, e);
}
