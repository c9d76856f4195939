/* experiments/pingmesh/bulk/connects.c -- the connects that a spec asks for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/connects.h"

#include <math.h>

#include "experiments/pingmesh/along.h"

static topo_host mesh_peer(const void *arg, enum connects_level level,
    topo_host h, uint32_t k)
{
	const struct algo_pinglist *l = arg;
	const struct algo_pinglist_dc *d = &l->dc[0];
	const uint32_t n = d->at.clos.n_hosts, tor = h / n, i = h % n;
	const struct algo_pinglist_ring *r = &d->dc[0];
	if (level == CONNECTS_TOR)
		return tor * n + algo_pinglist_ring_at(&d->tor, i, k);
	if (r->n_kept + 1 == r->n)
		return (k + (k >= tor)) * n + i;
	return algo_pinglist_ring_at(r, tor, k) * n + i;
}

/* Agents put off a probe that comes too soon after the pair's last one, by a law
 * that is not ours. */
static int mesh_fit_interval(const struct algo_pinglist *l,
    const struct xp_pingmesh *p, struct sim_err *e)
{
	const uint32_t least = p->agent.min_interval_s;
	const uint32_t n_peers[] = {l->dc[0].tor.n_kept, l->dc[0].dc[0].n_kept};
	for (size_t k = 0; k < CONNECTS_N_LEVELS; k++)
		if (n_peers[k] > 0 && least > l->interval_s[k])
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "agent.min_interval %u s is above %s of %u s, so "
			    "agents would put probes off; use plane pingmesh, "
			    "or that interval.",
			    least,
			    k == CONNECTS_TOR ? "pinglist.tor_interval_s"
					      : "pinglist.dc_interval_s",
			    l->interval_s[k]);
	return 0;
}

static int mesh_fit_list(const struct algo_pinglist *l,
    const struct xp_pingmesh *p, struct sim_err *e)
{
	if (l->n_vips > 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "pinglist.vips are probed by agents: use plane pingmesh.");
	if (l->n_classes > 1)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "pinglist.ports \"%s\": probes in bulk are of one class; "
		    "use plane pingmesh.",
		    p->pinglist.ports);
	if (l->payload)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "pinglist.payload_probes: probes in bulk carry none; use "
		    "plane pingmesh.");
	if (l->http)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "pinglist.http_probes: probes in bulk are connects alone; "
		    "use plane pingmesh.");
	return mesh_fit_interval(l, p, e);
}

/* Five-tuples are drawn unless pairs may come to one again. */
static int mesh_set_ports(struct connects_params *c,
    const struct algo_pinglist *l, const struct xp_pingmesh *p,
    struct sim_err *e)
{
	const struct connects_mesh *m = &c->mesh;
	const int of_list = p->agent.ports == ALGO_PINGMESH_PORTS_LIST;
	c->ports = (struct connects_ports){.n = p->agent.last_port -
		p->agent.first_port + 1u,
	    .first = (uint16_t)p->agent.first_port,
	    .dst = l->port[0],
	    .of_list = (uint8_t)of_list,
	    .again = (uint8_t)of_list};
	if (of_list && m->n_peers[CONNECTS_TOR] > 0 &&
	    m->n_peers[CONNECTS_DC] > 0 &&
	    m->every_ns[CONNECTS_TOR] != m->every_ns[CONNECTS_DC])
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "agent.ports list: pinglist.tor_interval_s and "
		    "dc_interval_s differ, and one count goes over ports for "
		    "both; use plane pingmesh, or one interval.");
	for (int k = 0; k < CONNECTS_N_LEVELS; k++)
		if (m->n_peers[k] > 0 &&
		    p->duration_s * 1e9 / (double)m->every_ns[k] > c->ports.n)
			c->ports.again = 1;
	return 0;
}

static int mesh_fit(const struct xp_pingmesh *p, struct sim_err *e)
{
	if (p->connect.synack_timer)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "connect.synack_timer: servers in bulk send no SYN-ACK "
		    "again; use plane pingmesh.");
	if (p->along == XP_ALONG_QUANTILE && p->time != XP_TIME_CONNECT)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "time %s: %s in bulk have no times; use plane pingmesh.",
		    p->time == XP_TIME_ECHO ? "echo" : "http",
		    p->time == XP_TIME_ECHO ? "payloads" : "GETs");
	if (p->trace.on)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "trace.on: only agents trace; use plane pingmesh.");
	return 0;
}

int xp_bulk_mesh_connects(struct connects_params *c,
    const struct algo_pinglist *l, const struct xp_pingmesh *p,
    struct sim_err *e)
{
	static const struct fabric_sim_tcp_ladder *const ladders[] =
	    {&fabric_sim_tcp_windows, &fabric_sim_tcp_linux,
		&fabric_sim_tcp_linux_linear};
	const struct fabric_sim_rtt_profile *profile =
	    &fabric_sim_rtt_profiles[p->connect.profile];
	const double load =
	    p->connect.load < 0 ? profile->load : p->connect.load;
	sim_ns wait[OBS_MAX_WAITS];
	int rc = mesh_fit(p, e);
	if (rc < 0 || (rc = mesh_fit_list(l, p, e)) < 0)
		return rc;
	*c = (struct connects_params){.ladder = ladders[p->connect.timers]};
	c->mesh.arg = l;
	c->mesh.peer = mesh_peer;
	c->mesh.n_peers[CONNECTS_TOR] = l->dc[0].tor.n_kept;
	c->mesh.n_peers[CONNECTS_DC] = l->dc[0].dc[0].n_kept;
	for (int k = 0; k < CONNECTS_N_LEVELS; k++)
		c->mesh.every_ns[k] =
		    l->interval_s[k] * SIM_SEC / l->n_kinds[k];
	/* A SYN that would come after the agent gave up is never answered in
	 * time, so there is none. */
	c->n_retries = xp_pingmesh_waits(p, wait);
	for (unsigned k = 0; k <= c->n_retries; k++)
		c->give_up_ns += c->ladder->wait_ns[k];
	c->give_up_ns =
	    (sim_ns)fmin((double)c->give_up_ns, p->agent.probe_timeout_s * 1e9);
	c->late_ns = wait[0] - (sim_ns)llround(p->dsa.tolerance_s * 1e9);
	for (unsigned h = 0; h < CONNECTS_N_HOPS; h++)
		if ((rc = fabric_sim_rtt_init(&c->law[h], profile, 2 + 2 * h, 0,
			 fmin(load, FABRIC_SIM_RTT_MAX_LOAD), e)) < 0)
			return rc;
	return mesh_set_ports(c, l, p, e);
}

int xp_bulk_mesh_begin(struct connects *c, const struct scene *s,
    struct sim_err *e)
{
	const int rc = connects_begin(c, s, e);
	return rc == SIM_EUNSUPPORTED ? sim_wrap(e, rc, "use plane pingmesh")
				      : rc;
}
