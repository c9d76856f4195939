/* experiments/everflow/live.c -- Everflow at work on a real network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "algos/everflow/guided.h"
#include "experiments/everflow/intake.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* How long the fabric is let run before the clock is looked at again. */
#define SLICE (10 * SIM_MS)

/* A message that an agent may not have had yet. */
struct live_mail {
	topo_host host;
	uint64_t number; /* of those to that host, from 0 */
	unsigned char *bytes;
};

struct xp_live {
	struct xp_wire *wire;
	const struct xp_everflow *params;
	struct algo_mirror_table table;
	struct fabric_agents agents;

	const struct algo_probe_order *first; /* of the next run */
	size_t n_first;
	topo_host analyzers_at; /* TOPO_NONE: copies go by a ring */

	/* Of this run. */
	struct fabric_real *fabric;
	struct netns_traffic *traffic;
	struct xp_intake *intake;
	struct packet_mux law;
	struct netns_mux *mux; /* NULL: there are no virtual addresses */
	uint32_t *vip;         /* [slb.vips] */
	uint32_t *to;          /* of flows, those that they go to */
	size_t cap_to;
	struct xp_desk *desk;
	int epoll;
	sim_ns began; /* by the fabric's clock */
	struct obs_mirror copies;
	size_t n_fed, n_heard;
	struct obs_guided sent;
	struct live_mail *mail;
	size_t n_mail, cap_mail;
	uint64_t *n_posted; /* [n_hosts] */
	struct algo_probe_order round[ALGO_PROBER_ORDERS];
	struct netns_mirror_count *mirrored; /* [n_switches] */
	struct netns_mux_count *balanced;    /* [n_hosts] */
	struct netns_flow_end *end;
	size_t cap_end;
	struct xp_lab_seen seen;
};

static sim_ns live_now(const struct xp_live *l)
{
	struct fabric *f = fabric_real_fabric(l->fabric);
	return f->ops->now(f) - l->began;
}

/* --- life ----------------------------------------------------------------- */

static void live_end(struct xp_live *l)
{
	/* In this order: the fabric polls descriptors that the others own, and
	 * mirror and muxes are behind the faults of the network. */
	fabric_real_close(l->fabric);
	netns_traffic_close(l->traffic);
	xp_intake_close(l->intake);
	netns_mux_close(l->mux);
	l->wire->ops->end(l->wire);
	if (l->epoll >= 0)
		close(l->epoll);
	l->fabric = NULL;
	l->traffic = NULL;
	l->intake = NULL;
	l->mux = NULL;
	l->epoll = -1;
	for (size_t i = 0; i < l->n_mail; i++)
		free(l->mail[i].bytes);
	l->n_mail = 0;
}

void xp_live_close(struct xp_live *l)
{
	if (!l)
		return;
	live_end(l);
	xp_desk_close(l->desk);
	fabric_agents_close(&l->agents);
	xp_wire_close(l->wire);
	obs_mirror_free(&l->copies);
	obs_guided_free(&l->sent);
	free(l->mail);
	free(l->n_posted);
	free(l->mirrored);
	free(l->balanced);
	free(l->vip);
	free(l->to);
	free(l->end);
	free(l);
}

int xp_live_open(struct xp_live **out, struct xp_wire *wire,
    const struct xp_everflow *p, struct sim_err *e)
{
	struct xp_live *l;
	*out = NULL;
	int rc = wire->ops->mirror
	    ? SIM_ZALLOC(&l, 1, e)
	    : sim_fail(e, SIM_EUNSUPPORTED,
		  "On fabric %s switches do not mirror; on netns they do.",
		  wire->ops->name);
	if (rc < 0) {
		xp_wire_close(wire);
		return rc;
	}
	l->wire = wire;
	l->params = p;
	l->epoll = -1;
	l->analyzers_at = TOPO_NONE;
	if ((rc = algo_mirror_table(&l->table, &p->rules, e)) < 0 ||
	    (rc = SIM_ZALLOC(&l->n_posted, wire->topo->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&l->mirrored, wire->topo->n_switches, e)) < 0 ||
	    (rc = SIM_ZALLOC(&l->balanced, wire->topo->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&l->vip, p->slb.vips, e)) < 0 ||
	    (rc = fabric_agents_open(&l->agents, &algo_prober, &p->prober,
		 wire->topo->n_hosts, e)) < 0)
		xp_live_close(l);
	else
		*out = l;
	return rc;
}

/* --- probes --------------------------------------------------------------- */

static int live_sent(void *arg, topo_host host, const void *data, size_t n,
    struct sim_err *e)
{
	struct xp_live *l = arg;
	struct algo_guided g;
	int rc = algo_guided_read(data, n, l->wire->topo->n_switches, &g, e);
	if (rc < 0)
		return rc;
	const struct obs_guided_probe row =
	    algo_guided_row(&g, host, live_now(l));
	return obs_guided_add(&l->sent, &row, e);
}

/* Messages that their agents have had are thrown away: an agent counts what it
 * took and what it refused, in the order in which they were posted. */
static void live_forget_mail(struct xp_live *l)
{
	struct algo_prober_status s;
	size_t n = 0;
	for (size_t i = 0; i < l->n_mail; i++) {
		const struct live_mail m = l->mail[i];
		algo_prober_status(l->agents.state + m.host * l->agents.stride,
		    &s);
		if (s.n_messages + s.n_bad > m.number)
			free(m.bytes);
		else
			l->mail[n++] = m;
	}
	l->n_mail = n;
}

static int live_post(struct xp_live *l, topo_host host, size_t n,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&l->mail, &l->cap_mail, l->n_mail + 1, e);
	if (rc < 0)
		return rc;
	struct live_mail *m = &l->mail[l->n_mail];
	*m = (struct live_mail){host, l->n_posted[host], NULL};
	if ((rc = SIM_ZALLOC(&m->bytes, ALGO_PROBER_MESSAGE, e)) < 0)
		return rc;
	l->n_mail++;
	l->n_posted[host]++;
	return fabric_real_order(l->fabric, host, m->bytes,
	    algo_prober_write(l->round, n, 0, m->bytes), e);
}

/* Any host will do, as probes are led to where they are wanted. Neighbouring ids
 * are often about one link, so they are spread. */
static int live_give(void *arg, const struct algo_probe_order order[], size_t n,
    struct sim_err *e)
{
	struct xp_live *l = arg;
	const uint32_t n_hosts = l->wire->topo->n_hosts;
	int rc = 0;
	for (topo_host h = 0; rc == 0 && n > 0 && h < n_hosts; h++) {
		size_t n_round = 0;
		for (size_t i = 0; rc == 0 && i < n; i++) {
			if ((uint64_t)topo_mix32(order[i].id) * n_hosts >> 32 !=
			    h)
				continue;
			l->round[n_round++] = order[i];
			if (n_round == ALGO_PROBER_ORDERS) {
				rc = live_post(l, h, n_round, e);
				n_round = 0;
			}
		}
		if (rc == 0 && n_round > 0)
			rc = live_post(l, h, n_round, e);
	}
	return rc;
}

/* --- a run: what happens in it -------------------------------------------- */

static int live_ready(void *arg, struct sim_err *e)
{
	struct xp_live *l = arg;
	int rc = netns_traffic_step(l->traffic, e);
	if (rc == 0 && l->wire->ops->fd(l->wire) >= 0)
		rc = l->wire->ops->step(l->wire, e);
	return rc < 0 ? rc : xp_intake_read(l->intake, &l->copies, e);
}

static int live_next(void *arg, topo_switch at, topo_link in,
    const struct topo_tuple *tuple, topo_link *link, struct sim_err *e)
{
	struct xp_live *l = arg;
	return l->wire->ops->next(l->wire, at, in, tuple, link, e);
}

static int live_no_fetch(void *arg, topo_host host, uint64_t token,
    struct sim_err *e)
{
	(void)arg, (void)host, (void)token;
	return sim_fail(e, SIM_EUNSUPPORTED, "there is no controller here.");
}

static int live_no_upload(void *arg, topo_host host, uint64_t token,
    const void *data, size_t n, struct sim_err *e)
{
	(void)data, (void)n;
	return live_no_fetch(arg, host, token, e);
}

/* --- a run: its beginning ------------------------------------------------- */

static int live_watch(const struct xp_live *l, int fd, struct sim_err *e)
{
	struct epoll_event ev = {.events = EPOLLIN};
	if (fd < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) == 0)
		return 0;
	return sim_fail(e, SIM_EIO, "A descriptor cannot be polled: %s.",
	    strerror(errno));
}

static int live_watch_intake(const struct xp_live *l, struct sim_err *e)
{
	int rc = 0, fd;
	for (uint32_t i = 0; rc == 0 && (fd = xp_intake_fd(l->intake, i)) >= 0;
	     i++)
		rc = live_watch(l, fd, e);
	return rc;
}

static int live_open_fabric(struct xp_live *l, struct sim_err *e)
{
	struct fabric_real_params p;
	int rc = sim_field_defaults(fabric_real_fields, &p, e);
	p.max_flights = p.max_clients = 1; /* nobody connects by it */
	p.n_classes = 0;
	if (rc < 0 ||
	    (rc = fabric_real_open(&l->fabric, l->wire->host,
		 l->wire->topo->n_hosts, &p, e)) < 0)
		return rc;
	if ((l->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
		return sim_fail(e, SIM_EIO, "epoll cannot be opened: %s.",
		    strerror(errno));
	const struct fabric_real_services services = {.arg = l,
	    .fetch = live_no_fetch,
	    .upload = live_no_upload,
	    .sent = live_sent,
	    .fd = l->epoll,
	    .ready = live_ready};
	return fabric_real_serve(l->fabric, &services, e);
}

static int live_open_desk(struct xp_live *l, const struct scene *scene,
    struct sim_err *e)
{
	/* The kernel hashes as it likes, and is asked. */
	const struct algo_routing routing = {.topo = l->wire->topo,
	    .ecmp_seed = scene->ecmp_seed};
	const struct xp_desk_owner owner = {.arg = l,
	    .keeps = XP_DESK_FIRST,
	    .next = l->wire->ops->next ? live_next : NULL,
	    .order = live_give};
	xp_desk_close(l->desk);
	return xp_desk_open(&l->desk, &routing, l->params, &owner, e);
}

/* A share of the flows goes to virtual addresses instead, the same as in a
 * simulation. Who will get each is known before, as the kernel's muxes choose by
 * the same law. */
static int live_balance(struct xp_live *l, const struct scene *scene,
    struct obs_flow flow[], size_t n, struct sim_err *e)
{
	const struct packet_mux_params *slb = &l->params->slb;
	int rc;
	if (slb->vips == 0)
		return 0;
	if ((rc = SIM_RESERVE(&l->to, &l->cap_to, n, e)) < 0 ||
	    (rc = packet_mux_init(&l->law, l->wire->topo, slb, &scene->where,
		 e)) < 0)
		return rc;
	for (uint32_t v = 0; v < slb->vips; v++)
		l->vip[v] = topo_addr_of_vip(v);
	for (size_t i = 0; i < n; i++) {
		l->to[i] = packet_conn_vip(&l->params->conn, &scene->where,
		    l->vip, slb->vips, i);
		const struct topo_tuple t = {topo_addr_of_host(
						 flow[i].src_host),
		    l->to[i], flow[i].src_port, flow[i].dst_port,
		    TOPO_PROTO_TCP};
		if (l->to[i] != 0)
			flow[i].dst_host = packet_mux_server(&l->law, l->to[i],
			    topo_tuple_digest(&t));
	}
	return l->wire->ops->balance(l->wire, &l->law, &l->mux, e);
}

/* What holds at NOW of the scene's faults. */
static int live_apply(struct xp_live *l, const struct scene *scene, sim_ns now,
    struct sim_err *e)
{
	const int rc =
	    l->mux ? netns_mux_apply(l->mux, scene->loss.truth, now, e) : 0;
	return rc < 0 || !l->wire->ops->apply
	    ? rc
	    : l->wire->ops->apply(l->wire, now, e);
}

static int live_connect(struct xp_live *l, struct obs_flow flow[], size_t n,
    struct sim_err *e)
{
	const struct netns_traffic_params p = {.timeout_s = l->wire->timeout_s,
	    .host = l->wire->host,
	    .to = l->mux ? l->to : NULL};
	return netns_traffic_open(&l->traffic, NULL, l->wire->topo, flow, n, &p,
	    e);
}

static int live_begin(struct xp_live *l, const struct scene *scene,
    struct obs_flow flow[], size_t n, struct sim_err *e)
{
	const struct xp_wire_epoch x = {.lasts_ns = scene->traffic.epoch_ns};
	int rc;
	obs_mirror_clear(&l->copies);
	obs_guided_clear(&l->sent);
	l->n_fed = l->n_heard = 0;
	memset(l->n_posted, 0, l->wire->topo->n_hosts * sizeof(l->n_posted[0]));
	fabric_agents_renew(&l->agents, &scene->where);
	if ((rc = SIM_RESERVE(&l->end, &l->cap_end, n, e)) < 0 ||
	    (rc = live_open_desk(l, scene, e)) < 0 ||
	    (rc = l->wire->ops->begin(l->wire, scene, &x, e)) < 0 ||
	    (rc = live_balance(l, scene, flow, n, e)) < 0 ||
	    (rc = live_open_fabric(l, e)) < 0)
		return rc;
	/* All times are since now. */
	l->began = 0;
	l->began = live_now(l);
	const struct xp_intake_params intake = {l->analyzers_at,
	    l->params->n_analyzers, &l->table};
	if ((rc = xp_intake_open(&l->intake, l->wire, &intake, e)) < 0 ||
	    (rc = live_apply(l, scene, 0, e)) < 0 ||
	    (rc = live_connect(l, flow, n, e)) < 0 ||
	    (rc = live_watch(l, l->wire->ops->fd(l->wire), e)) < 0 ||
	    (rc = live_watch_intake(l, e)) < 0)
		return rc;
	return live_watch(l, netns_traffic_fd(l->traffic), e);
}

/* --- a run: its course ---------------------------------------------------- */

/* Copies come while the fabric runs, also after it last looked at the ring. So
 * that is read now; and as a copy's time is taken a moment before others can
 * read it, analyzers are told of a time that lies a little behind: one that
 * comes with a time that has been is taken for later than it was. */
static int live_analyze(struct xp_live *l, sim_ns now, struct sim_err *e)
{
	int rc = xp_intake_read(l->intake, &l->copies, e);
	const sim_ns until = now == SIM_NEVER ? now
	    : now > SLICE                     ? now - SLICE
					      : 0;
	if (rc == 0)
		rc = xp_desk_feed(l->desk, &l->copies, xp_intake_who(l->intake),
		    l->n_fed, l->copies.n, until, e);
	l->n_fed = l->copies.n;
	return rc;
}

static int live_look(struct xp_live *l, sim_ns now,
    const struct xp_live_ear *ear, struct sim_err *e)
{
	const struct xp_said *said;
	size_t n_said;
	live_forget_mail(l);
	const int rc = xp_desk_look(l->desk, &l->sent, now, e);
	if (rc < 0)
		return rc;
	said = xp_desk_said(l->desk, &n_said);
	for (; l->n_heard < n_said; l->n_heard++)
		if (ear)
			ear->hear(ear->arg, &said[l->n_heard]);
	return 0;
}

static int live_goes_on(const struct xp_live *l, sim_ns now, sim_ns end,
    size_t most)
{
	if (netns_traffic_left(l->traffic) > 0)
		return 1;
	return now < end && (most == 0 || l->n_heard < most);
}

static int live_course(struct xp_live *l, const struct scene *scene,
    size_t most, const struct xp_live_ear *ear, struct sim_err *e)
{
	struct fabric *f = fabric_real_fabric(l->fabric);
	const sim_ns every = (sim_ns)(l->params->debug_s * 1e9);
	const sim_ns end =
	    scene->traffic.epoch_ns + (sim_ns)(l->params->settle_s * 1e9);
	sim_ns now = 0, look = every;
	sim_ns change = netns_faults_next(scene->loss.truth, 0);
	int rc = 0;
	while (rc == 0 && live_goes_on(l, now, end, most)) {
		rc = fabric_run(f, &l->agents, l->began + now + SLICE, NULL,
		    NULL, e);
		now = live_now(l);
		if (rc == 0 && now >= change) {
			rc = live_apply(l, scene, now, e);
			change = netns_faults_next(scene->loss.truth, now);
		}
		if (rc == 0)
			rc = live_analyze(l, now, e);
		if (rc == 0 && now >= look) {
			rc = live_look(l, now, ear, e);
			look = now + every;
		}
	}
	if (rc == 0 && (rc = live_analyze(l, SIM_NEVER, e)) == 0)
		rc = live_look(l, now, ear, e);
	return rc;
}

/* --- a run: what came of it ----------------------------------------------- */

static int live_tell(struct xp_live *l, size_t n, struct xp_live_seen *seen,
    struct sim_err *e)
{
	uint64_t n_lost = xp_intake_lost(l->intake);
	unsigned n_failed = 0;
	for (size_t i = 0; i < n; i++) {
		l->end[i] = *netns_traffic_end(l->traffic, i);
		n_failed += l->end[i].state == NETNS_FLOW_FAILED;
	}
	xp_intake_count(l->intake, l->mirrored);
	if (l->mux)
		netns_mux_count(l->mux, l->balanced);
	for (topo_switch s = 0; s < l->wire->topo->n_switches; s++)
		n_lost += l->mirrored[s].n_full;
	if (n_lost > 0)
		return sim_fail(e, SIM_EIO,
		    "%llu copies found no room where they came.",
		    (unsigned long long)n_lost);
	int rc = l->wire->ops->look(l->wire, n_failed, &l->seen, e);
	*seen = (struct xp_live_seen){
	    .copies = &l->copies,
	    .sent = &l->sent,
	    .traces = xp_desk_traces(l->desk),
	    .counters = xp_desk_counters(l->desk),
	    .mirrored = l->mirrored,
	    .balanced = l->mux ? l->balanced : NULL,
	    .end = l->end,
	    .count = l->seen.count,
	    .end_ns = live_now(l),
	    .n_other = l->seen.n_other,
	    .other = l->seen.other,
	};
	seen->said = xp_desk_said(l->desk, &seen->n_said);
	seen->standing = xp_desk_standing(l->desk, &seen->n_standing);
	xp_desk_analyzed(l->desk, &seen->analyzed);
	return rc;
}

void xp_live_order(struct xp_live *l, const struct algo_probe_order order[],
    size_t n)
{
	l->first = order;
	l->n_first = n;
}

void xp_live_collect(struct xp_live *l, topo_host at)
{
	l->analyzers_at = at;
}

int xp_live_run(struct xp_live *l, const struct scene *scene,
    struct obs_flow flow[], size_t n, size_t most,
    const struct xp_live_ear *ear, struct xp_live_seen *seen, struct sim_err *e)
{
	int rc = live_begin(l, scene, flow, n, e);
	if (rc == 0)
		rc = live_give(l, l->first, l->n_first, e);
	l->n_first = 0;
	if (rc == 0 && (rc = live_course(l, scene, most, ear, e)) == 0)
		rc = live_tell(l, n, seen, e);
	live_end(l);
	return rc;
}
