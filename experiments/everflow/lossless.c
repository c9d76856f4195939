/* experiments/everflow/lossless.c -- RDMA, pause frames and BGP of a run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/lossless.h"

#include <math.h>
#include <stdlib.h>

#include "sim/vec.h"
#include "topo/addr.h"

#define FIELD(m) offsetof(struct xp_lossless, m)

const struct sim_field xp_rdma_fields[] = {
    {"pairs", SIM_F_U32, FIELD(n_pairs), .min = 0, .max = 10000,
	.unit = "queue pairs", .def = "0",
	.doc = "of hosts under different ToRs, drawn at random"},
    {"lasts", SIM_F_F64, FIELD(lasts_s), .min = 0.001, .max = 3600, .unit = "s",
	.def = "0.5", .doc = "each sends so long, at line rate",
	.when = "pairs!=0"},
    {0},
};

const struct sim_field xp_pfc_fields[] = {
    {"busy_links", SIM_F_U32, FIELD(n_busy), .min = 0, .max = 100000,
	.unit = "links", .def = "0",
	.doc = "links on which ordinary pauses come and go"},
    {0},
};

const struct sim_field xp_bgp_fields[] = {
    {"on", SIM_F_BOOL, FIELD(has_bgp), .def = "false",
	.doc = "there is a session on each cable between switches"},
    {0},
};

/* --- RDMA ----------------------------------------------------------------- */

/* Carries packets of queue pairs. */
struct carrier {
	const struct packet_net *net;
	const struct packet_conn_to *to;
	struct sim_rng rng;
};

static int lossless_carry(void *arg, topo_host from, sim_ns sent,
    const struct obs_packet *p, struct sim_err *e)
{
	struct carrier *c = arg;
	struct packet_end end;
	int rc =
	    packet_walk(c->net, p, from, sent, &c->rng, c->to->eye, &end, e);
	if (rc == 0 && c->to->ended)
		rc = c->to->ended(c->to->arg, p, sent, &end, e);
	return rc < 0 ? rc : end.fate != SCENE_WALK_DELIVERED;
}

/* The share of packets of TUPLE that is lost on their way at T; *N_HOPS becomes
 * its length. */
static double lossless_loss(const struct packet_net *net,
    const struct topo_tuple *tuple, topo_host src, topo_host dst, sim_ns t,
    unsigned *n_hops)
{
	topo_link path[TOPO_MAX_HOPS];
	double hazard[TOPO_MAX_HOPS + 1];
	const unsigned h =
	    scene_walk_path(&net->walk, tuple, src, dst, t, path);
	scene_walk_hazards(&net->walk, tuple, path, h, t, hazard);
	*n_hops = h;
	return -expm1(-hazard[h]);
}

/* Hosts under different ToRs; the network has two. */
static void lossless_ends(const struct topo *t, struct sim_rng *r,
    struct packet_rdma_pair *pair)
{
	pair->from = sim_rng_below(r, t->n_hosts);
	do
		pair->to = sim_rng_below(r, t->n_hosts);
	while (topo_tor_of(t, pair->to) == topo_tor_of(t, pair->from));
	pair->src_port = (uint16_t)(0xc000 | sim_rng_below(r, 0x4000));
}

/* A pair begins at a time of its own in the first half of what is left to it. */
static int lossless_pair(const struct xp_lossless *p, struct carrier *c,
    const struct packet_sample *sample, uint32_t i, sim_ns until, double *bytes,
    struct sim_err *e)
{
	const struct packet_rdma_wire wire = {c, lossless_carry};
	const struct scene *scene = c->net->walk.scene;
	struct packet_rdma_pair pair = {.sample = *sample};
	struct packet_rdma_end end;
	sim_ns lasts = (sim_ns)(p->lasts_s * 1e9);
	unsigned h, back_h;
	sim_rng_init(&c->rng, &scene->where, SIM_STREAM_RDMA, i);
	lossless_ends(c->net->walk.topo, &c->rng, &pair);
	if (lasts > until)
		lasts = until;
	pair.from_ns =
	    (sim_ns)(sim_rng_u01(&c->rng) * (double)(until - lasts) / 2);
	pair.until_ns = pair.from_ns + lasts;
	const struct topo_tuple there = packet_rdma_tuple(&pair, 0);
	const struct topo_tuple back = packet_rdma_tuple(&pair, 1);
	pair.loss =
	    lossless_loss(c->net, &there, pair.from, pair.to, pair.from_ns, &h);
	pair.back_loss = lossless_loss(c->net, &back, pair.to, pair.from,
	    pair.from_ns, &back_h);
	const int rc =
	    packet_rdma_run(&p->rdma, &pair, &c->rng, &wire, &end, e);
	if (rc == 0)
		*bytes +=
		    (double)end.n_sent * (p->rdma.payload + 62.0) * (h - 1);
	return rc;
}

/* --- pauses and BGP ------------------------------------------------------- */

/* NICs that pause their ToRs without end; HELD becomes what they hold. Places of
 * busy links are numbered from 0. */
static int lossless_storms(const struct xp_lossless *p,
    const struct packet_net *net, sim_ns until, const struct packet_eye *eye,
    struct packet_pause_span held[], struct sim_err *e)
{
	const struct truth *truth = &net->walk.scene->truth;
	struct packet_pause_end end = {0};
	struct sim_rng r;
	int rc = 0;
	for (topo_link l = 0; l < net->walk.topo->n_links; l++)
		held[l] = (struct packet_pause_span){SIM_NEVER, 0};
	for (size_t i = 0; rc == 0 && i < truth->n_outages; i++) {
		const struct truth_outage *o = &truth->outage[i];
		if (o->kind != TRUTH_STORM)
			continue;
		sim_rng_init(&r, &net->walk.scene->where, SIM_STREAM_PAUSE,
		    UINT32_MAX - o->id);
		rc = packet_pause_storm(net->walk.topo, &p->pause, o->id,
		    o->from_ns, o->to_ns, until, &r, eye, held, &end, e);
	}
	return rc;
}

/* Ordinary pauses; a port that a storm holds has none meanwhile. */
static int lossless_busy(const struct xp_lossless *p,
    const struct packet_net *net, sim_ns until, const struct packet_eye *eye,
    const struct packet_pause_span held[], struct sim_err *e)
{
	const struct topo *t = net->walk.topo;
	struct packet_pause_end end = {0};
	struct sim_rng r;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < p->n_busy; i++) {
		sim_rng_init(&r, &net->walk.scene->where, SIM_STREAM_PAUSE, i);
		/* Any link that leads to a switch: all but those down to
		 * hosts. */
		topo_link l = sim_rng_below(&r, t->n_links - t->n_hosts);
		l = l < t->n_hosts ? topo_link_of(l, TOPO_UP) : l + t->n_hosts;
		rc = packet_pause_busy(t, &p->pause, l, 0,
		    held[l].from_ns < until ? held[l].from_ns : until, &r, eye,
		    &end, e);
		if (rc == 0 && held[l].to_ns > 0)
			rc = packet_pause_busy(t, &p->pause, l, held[l].to_ns,
			    until, &r, eye, &end, e);
	}
	return rc;
}

static int lossless_pauses(const struct xp_lossless *p,
    const struct packet_net *net, sim_ns until, const struct packet_eye *eye,
    struct sim_err *e)
{
	struct packet_pause_span *held;
	int rc = SIM_ZALLOC(&held, net->walk.topo->n_links, e);
	if (rc == 0)
		rc = lossless_storms(p, net, until, eye, held, e);
	if (rc == 0)
		rc = lossless_busy(p, net, until, eye, held, e);
	free(held);
	return rc;
}

/* When the session of a cable goes down and up, if it does. */
static void lossless_flap(const struct truth *truth, uint32_t cable,
    struct packet_bgp_session *s)
{
	for (size_t i = 0; i < truth->n_outages; i++) {
		const struct truth_outage *o = &truth->outage[i];
		if (o->kind != TRUTH_BGP_FLAP || o->id != cable)
			continue;
		s->flap_from_ns = o->from_ns;
		s->flap_to_ns = o->to_ns;
	}
}

static int lossless_bgp(const struct xp_lossless *p,
    const struct packet_net *net, sim_ns until, const struct packet_eye *eye,
    struct sim_err *e)
{
	const struct topo *t = net->walk.topo;
	struct packet_bgp_end end = {0};
	struct sim_rng r;
	int rc = 0;
	/* Cables of hosts come first. */
	for (uint32_t c = t->n_hosts; rc == 0 && c < t->n_links / 2; c++) {
		struct packet_bgp_session s = {.link = topo_link_of(c, TOPO_UP),
		    .until_ns = until};
		lossless_flap(&net->walk.scene->truth, c, &s);
		sim_rng_init(&r, &net->walk.scene->where, SIM_STREAM_BGP, c);
		rc = packet_bgp_run(t, &p->bgp, &s, &r, eye, &end, e);
	}
	return rc;
}

int xp_lossless_run(const struct xp_lossless *p, const struct packet_net *net,
    const struct packet_sample *sample, sim_ns until,
    const struct packet_conn_to *to, const struct packet_eye *eye,
    double *bytes, struct sim_err *e)
{
	struct packet_net own = *net;
	struct carrier c = {.net = &own, .to = to};
	int rc = 0;
	/* Of its class a port pauses whom it has no room for, and drops
	 * nothing. */
	own.walk.no_ports = 1;
	for (uint32_t i = 0; rc == 0 && i < p->n_pairs; i++)
		rc = lossless_pair(p, &c, sample, i, until, bytes, e);
	if (rc == 0)
		rc = lossless_pauses(p, net, until, eye, e);
	if (rc == 0 && p->has_bgp)
		rc = lossless_bgp(p, net, until, eye, e);
	return rc;
}
