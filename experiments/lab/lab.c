/* experiments/lab/lab.c -- an epoch on a real network: flows, losses, agents.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/lab/lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "models/bulk/bulk.h"
#include "sim/vec.h"

/* How long fabric_run() is let run before the clock is looked at again. Faults
 * begin and end, and an epoch is found to be over, late by up to that. */
#define SLICE (10 * SIM_MS)

/* --- notes --------------------------------------------------------------- */

/* A real run is not repeatable bit by bit, so what it depends on goes into its
 * record: kernel settings, the CPU, and what may be compared between runs. */
void xp_lab_notes(struct xp_lab_notes *n, const char *fabrics)
{
	const struct res_provenance notes[] = {{"fabric", n->fabrics},
	    {"repeatable", "paths of flows; not losses, nor times"},
	    {"pinned_to_cpu", n->cpu}, {"sysctls_of_hosts", n->hosts},
	    {"sysctls_of_switches", n->switches}, {NULL, NULL}};
	memcpy(n->note, notes, sizeof(notes));
	snprintf(n->fabrics, sizeof(n->fabrics), "%s", fabrics);
	snprintf(n->cpu, sizeof(n->cpu), "%d", xp_wire_cpu());
	netns_node_knobs(NETNS_HOST, n->hosts, sizeof(n->hosts));
	netns_node_knobs(NETNS_SWITCH, n->switches, sizeof(n->switches));
}

/* --- life ----------------------------------------------------------------- */

struct xp_lab {
	struct xp_wire *wire;
	sim_ns trace_ns; /* how long a trace may take */
	struct fabric_agents agents;

	/* Of this epoch. */
	struct fabric_real *fabric;
	struct netns_traffic *traffic;
	const struct obs_flow *flow;
	int epoll;    /* of traffic and network */
	sim_ns heard; /* when the last retransmission was, by the fabric */
	size_t cap_reports, cap_end;
	struct xp_lab_seen seen;
};

static void end_epoch(struct xp_lab *l)
{
	/* In this order: the fabric polls descriptors that the others own, and
	 * the flows' sockets are in namespaces of the network. */
	fabric_real_close(l->fabric);
	netns_traffic_close(l->traffic);
	l->wire->ops->end(l->wire);
	if (l->epoll >= 0)
		close(l->epoll);
	l->fabric = NULL;
	l->traffic = NULL;
	l->epoll = -1;
}

void xp_lab_close(struct xp_lab *l)
{
	if (!l)
		return;
	end_epoch(l);
	fabric_agents_close(&l->agents);
	xp_wire_close(l->wire);
	free(l->seen.report);
	free(l->seen.end);
	free(l);
}

int xp_lab_open(struct xp_lab **out, struct xp_wire *wire,
    const struct algo_path_agent_params *agent, struct sim_err *e)
{
	struct xp_lab *l;
	*out = NULL;
	int rc = SIM_ZALLOC(&l, 1, e);
	/* The caller gave the wire away with the call, so it is closed here
	 * also on failure. */
	if (rc < 0) {
		xp_wire_close(wire);
		return rc;
	}
	l->wire = wire;
	/* The agent's own timeout, and the grain at which the clock is looked
	 * at, once for the beginning and once for the end. */
	l->trace_ns = (sim_ns)(agent->timeout_s * 1e9) + 2 * SLICE;
	l->epoll = -1;
	rc = fabric_agents_open(&l->agents, &algo_path_agent, agent,
	    wire->topo->n_hosts, e);
	if (rc < 0)
		xp_lab_close(l);
	else
		*out = l;
	return rc;
}

/* --- flows ---------------------------------------------------------------- */

int xp_lab_flows(struct obs_flow **flow, size_t *cap, size_t *n,
    const struct scene *scene, struct sim_err *e)
{
	const uint64_t n_drawn = scene->traffic.n_flows;
	topo_link path[TOPO_MAX_HOPS];
	int rc = SIM_RESERVE(flow, cap, n_drawn, e);
	*n = 0;
	for (uint64_t i = 0; rc == 0 && i < n_drawn; i++) {
		struct obs_flow *f = &(*flow)[*n];
		bulk_flow(scene, i, f, path);
		f->src_port |= 1;
		f->dst_port &= (uint16_t)~1;
		*n += truth_outage_at(&scene->truth, TRUTH_HOST_OFF,
			  f->src_host, f->start_ns) == NULL;
	}
	return rc;
}

/* --- an epoch ------------------------------------------------------------- */

/* A network that does not tell of retransmissions leaves it to whoever watches
 * the senders' sockets: from the moment that they are connected until just
 * before they are closed. */
static int watch_sender(void *arg, size_t flow, int fd, struct sim_err *e)
{
	struct xp_lab *l = arg;
	return fabric_real_watch(l->fabric, l->flow[flow].src_host, fd, e);
}

static int unwatch_sender(void *arg, size_t flow, int fd, struct sim_err *e)
{
	struct xp_lab *l = arg;
	(void)flow;
	return fabric_real_unwatch(l->fabric, fd, e);
}

/* Flows and network share the fabric's thread; whichever descriptor woke it,
 * both are asked, since looking costs one system call. */
static int lab_step(void *arg, struct sim_err *e)
{
	struct xp_lab *l = arg;
	int rc = netns_traffic_step(l->traffic, e);
	if (rc == 0 && l->wire->ops->fd(l->wire) >= 0)
		rc = l->wire->ops->step(l->wire, e);
	return rc;
}

/* 007's agents have neither a controller nor a collector; an agent that asks
 * for one is not theirs. */
static int no_fetch(void *arg, topo_host host, uint64_t token,
    struct sim_err *e)
{
	(void)arg, (void)host, (void)token;
	return sim_fail(e, SIM_EUNSUPPORTED, "there is no controller here.");
}

static int no_upload(void *arg, topo_host host, uint64_t token,
    const void *data, size_t n, struct sim_err *e)
{
	(void)arg, (void)host, (void)token, (void)data, (void)n;
	return sim_fail(e, SIM_EUNSUPPORTED, "there is no collector here.");
}

static int lab_watch(const struct xp_lab *l, int fd, struct sim_err *e)
{
	struct epoll_event ev = {.events = EPOLLIN};
	if (fd < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) == 0)
		return 0;
	return sim_fail(e, SIM_EIO, "A descriptor cannot be polled: %s.",
	    strerror(errno));
}

static int open_fabric(struct xp_lab *l, struct sim_err *e)
{
	struct fabric_real_params p;
	int rc = sim_field_defaults(fabric_real_fields, &p, e);
	p.max_flights = p.max_clients = 1; /* nobody connects by it */
	p.n_classes = 0;
	if (rc < 0 ||
	    (rc = fabric_real_open(&l->fabric, l->wire->host,
		 l->wire->topo->n_hosts, &p, e)) < 0)
		return rc;
	if (!fabric_real_fabric(l->fabric)->caps.can_probe_ttl)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "Agents may not send probes: that takes CAP_NET_RAW.");
	return 0;
}

static int begin_wire(struct xp_lab *l, const struct scene *scene, size_t n,
    struct sim_err *e)
{
	/* Room for the drops of each flow on a few links, and for those of its
	 * answers; an epoch that needs more is refused when it is looked at. */
	const struct xp_wire_epoch x = {.lasts_ns = scene->traffic.epoch_ns,
	    .max_drops = n < 8192 ? 65536 : (uint32_t)n * 8};
	return l->wire->ops->begin(l->wire, scene, &x, e);
}

static int open_traffic(struct xp_lab *l, struct obs_flow flow[], size_t n,
    struct sim_err *e)
{
	struct netns_traffic_params p = {.timeout_s = l->wire->timeout_s,
	    .host = l->wire->host,
	    .arg = l};
	l->flow = flow;
	if (l->wire->ops->retx) {
		const struct fabric_real_retx_source s =
		    l->wire->ops->retx(l->wire);
		int rc = fabric_real_retx(l->fabric, &s, e);
		if (rc < 0)
			return rc;
	} else {
		p.connected = watch_sender;
		p.closes = unwatch_sender;
	}
	return netns_traffic_open(&l->traffic, NULL, l->wire->topo, flow, n, &p,
	    e);
}

/* Open all that an epoch takes, and have the fabric poll it: one epoll inside
 * another, so that a single wait sees flows, packets that are held back and
 * agents. */
static int begin_epoch(struct xp_lab *l, const struct scene *scene,
    struct obs_flow flow[], size_t n, struct sim_err *e)
{
	int rc;
	l->heard = 0;
	l->seen.n_reports = l->seen.n_drops = 0;
	l->seen.n_retx = 0;
	if ((rc = SIM_RESERVE(&l->seen.end, &l->cap_end, n, e)) < 0 ||
	    (rc = begin_wire(l, scene, n, e)) < 0 ||
	    (rc = open_fabric(l, e)) < 0)
		return rc;
	/* The agents are the same objects in each epoch, with fresh random
	 * numbers of the scene. */
	fabric_agents_renew(&l->agents, &scene->where);
	if ((l->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
		return sim_fail(e, SIM_EIO, "epoll cannot be opened: %s.",
		    strerror(errno));
	const struct fabric_real_services services = {.arg = l,
	    .fetch = no_fetch,
	    .upload = no_upload,
	    .fd = l->epoll,
	    .ready = lab_step};
	if ((rc = fabric_real_serve(l->fabric, &services, e)) < 0 ||
	    (rc = open_traffic(l, flow, n, e)) < 0 ||
	    (rc = lab_watch(l, l->wire->ops->fd(l->wire), e)) < 0)
		return rc;
	return lab_watch(l, netns_traffic_fd(l->traffic), e);
}

static int lab_take_report(void *arg, topo_host host, sim_ns at,
    const struct agent_report *report, struct sim_err *e)
{
	struct xp_lab *l = arg;
	(void)host;
	(void)at;
	int rc = SIM_RESERVE(&l->seen.report, &l->cap_reports,
	    l->seen.n_reports + 1, e);
	if (rc == 0)
		l->seen.report[l->seen.n_reports++] = *report;
	return rc;
}

/* An epoch is over when all flows have ended and the last trace has had its
 * time: what an agent learns after that would belong to no window. */
static int is_over(const struct xp_lab *l, sim_ns now)
{
	return netns_traffic_left(l->traffic) == 0 &&
	    (l->heard == 0 || now >= l->heard + l->trace_ns);
}

/* Note when agents were last told of a segment that was sent again. The fabric
 * does not say so, but its counters go up. */
static void note_retx(struct xp_lab *l, sim_ns now)
{
	const struct fabric_real_counters *c = fabric_real_count(l->fabric);
	const uint64_t n = c->n_retx + c->n_others_retx;
	if (n > l->seen.n_retx)
		l->heard = now;
	l->seen.n_retx = n;
}

static int lab_live(struct xp_lab *l, const struct truth *truth,
    struct sim_err *e)
{
	struct fabric *f = fabric_real_fabric(l->fabric);
	const sim_ns began = f->ops->now(f);
	sim_ns now = began, change = 0;
	int rc = 0;
	do {
		/* What holds at the time 0 is set before anything runs. */
		if (now - began >= change) {
			if (l->wire->ops->apply)
				rc = l->wire->ops->apply(l->wire, now - began,
				    e);
			change = netns_faults_next(truth, now - began);
		}
		if (rc == 0)
			rc = fabric_run(f, &l->agents, now + SLICE,
			    lab_take_report, l, e);
		now = f->ops->now(f);
		note_retx(l, now);
	} while (rc == 0 && !is_over(l, now));
	return rc;
}

/* --- what came of it ------------------------------------------------------ */

static int look(struct xp_lab *l, size_t n, struct sim_err *e)
{
	struct xp_lab_seen *s = &l->seen;
	unsigned n_failed = 0;
	for (size_t i = 0; i < n; i++) {
		s->end[i] = *netns_traffic_end(l->traffic, i);
		/* A flow that was given up has its kernel throw packets away,
		 * which the audit must know of. */
		n_failed += s->end[i].state == NETNS_FLOW_FAILED;
	}
	return l->wire->ops->look(l->wire, n_failed, s, e);
}

int xp_lab_epoch(struct xp_lab *l, const struct scene *scene,
    struct obs_flow flow[], size_t n, const struct xp_lab_seen **seen,
    struct sim_err *e)
{
	int rc = begin_epoch(l, scene, flow, n, e);
	if (rc == 0 && (rc = lab_live(l, scene->loss.truth, e)) == 0)
		rc = look(l, n, e);
	end_epoch(l);
	*seen = &l->seen;
	return rc;
}
