/* models/packet/walk.c -- one packet among switches, seen by each of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/packet/walk.h"

#include <math.h>

#include "models/packet/mux.h"
#include "topo/addr.h"
#include "topo/next.h"

/* A packet on its way. What follows from its outermost header is worked out
 * only when that changes. */
struct way {
	const struct packet_net *net;
	const struct packet_eye *eye;
	struct sim_rng *r;
	struct packet_end *end;
	struct obs_packet p;
	struct topo_tuple tuple; /* that is routed by */
	uint32_t digest;         /* of it */
	topo_node dst;           /* TOPO_NONE: nobody has that address */
	double u, hazard;        /* of all links met */
};

static void packet_readdress(struct way *w)
{
	const struct topo *t = w->net->walk.topo;
	const uint32_t ip = obs_packet_outermost(&w->p)->dst_ip;
	const topo_host host = topo_addr_to_host(ip, t->n_hosts);
	const topo_switch s = host == TOPO_NONE
	    ? topo_addr_to_switch(ip, t->n_switches)
	    : TOPO_NONE;
	w->tuple = obs_packet_routed(&w->p);
	w->digest = topo_tuple_digest(&w->tuple);
	w->dst = s == TOPO_NONE ? host : t->n_hosts + s;
	if (w->net->mux && topo_addr_is_vip(ip))
		w->dst = packet_mux_of(w->net->mux, ip, w->digest);
}

static struct obs_ip *packet_outermost(struct obs_packet *p)
{
	return p->n_outer > 0 ? &p->outer[0] : &p->ip;
}

/* Congestion is told to whoever can bear the mark (RFC 3168). */
static void packet_mark(struct obs_packet *p)
{
	struct obs_ip *ip = packet_outermost(p);
	if (ip->tos & OBS_TOS_ECN)
		ip->tos |= OBS_TOS_CE;
}

/* Whether the packet comes to the end of L. */
static int packet_cross(struct way *w, topo_link l)
{
	const struct packet_net *n = w->net;
	const size_t fault = scene_walk_fault(&n->walk, l);
	const double port = scene_walk_port(&n->walk, l, w->end->at);
	double own_us = n->hop_us;
	w->end->link = l;
	w->hazard += port;
	w->end->in_port = port > 0 && scene_walk_is_lost(w->u, w->hazard);
	w->hazard += scene_walk_hazard(&n->walk, l, fault, w->end->at);
	if (scene_walk_is_lost(w->u, w->hazard)) {
		w->end->fate = SCENE_WALK_LOST;
		return 0;
	}
	if (port > 0 ||
	    (fault != SIZE_MAX &&
		truth_is_marked(&n->walk.scene->truth, fault, l, w->end->at)))
		packet_mark(&w->p);
	if (n->queue_us > 0)
		own_us -= n->queue_us * log(sim_rng_u01_open(w->r));
	w->end->at +=
	    scene_walk_time(&n->walk, l, fault, w->end->at, own_us, w->r);
	w->end->n_links++;
	return 1;
}

/* Outer headers that lead to this switch come off. Congestion that they met is
 * told to the packet within (RFC 6040). */
static void packet_unwrap(struct way *w, topo_node self)
{
	while (w->dst == self && w->p.n_outer > 0) {
		const int ce = (w->p.outer[0].tos & OBS_TOS_ECN) == OBS_TOS_CE;
		obs_packet_strip(&w->p);
		if (ce)
			packet_mark(&w->p);
		packet_readdress(w);
	}
}

/* Enter switch S by the link met last. 1: it goes on; else it ended here, or
 * the eye failed. */
static int packet_enter(struct way *w, topo_switch s, struct sim_err *e)
{
	const struct packet_net *n = w->net;
	struct packet_end *end = w->end;
	int rc;
	if (n->walk.scene->truth.n_holes > 0 &&
	    scene_walk_swallows(&n->walk, s, &w->tuple, end->at)) {
		end->fate = SCENE_WALK_SWALLOWED;
		return 0;
	}
	if (w->eye &&
	    (rc = w->eye->see(w->eye->arg, s, end->link, end->at, &w->p, e)) <
		0)
		return rc;
	packet_unwrap(w, n->walk.topo->n_hosts + s);
	if (w->dst == n->walk.topo->n_hosts + s || w->dst == TOPO_NONE) {
		end->fate = SCENE_WALK_DELIVERED;
		return 0;
	}
	struct obs_ip *ip = packet_outermost(&w->p);
	if (ip->ttl <= 1) {
		end->fate = SCENE_WALK_EXPIRED;
		return 0;
	}
	ip->ttl--;
	return 1;
}

/* The choice of S among its next hops where some switch has a rule of its own. */
static topo_link packet_choose_badly(const struct way *w, topo_switch s,
    const struct topo_next_set *next)
{
	const struct scene *scene = w->net->walk.scene;
	struct route_choice c =
	    route_choice(topo_switch_seed(scene->ecmp_seed, s), w->digest,
		next->n);
	truth_choose(&scene->truth, s, &w->tuple, w->end->at, &c);
	if (c.link != TOPO_NONE || next->n == 0)
		return c.link;
	return topo_next_of(scene->topo, next, route_choice_pick(&c));
}

/* The link by which S sends the packet on, or TOPO_NONE. */
static topo_link packet_choose(const struct way *w, topo_switch s)
{
	const struct scene *scene = w->net->walk.scene;
	const struct topo_next_set next = topo_next_set(scene->topo, s, w->dst);
	if (scene->truth.n_routes > 0)
		return packet_choose_badly(w, s, &next);
	return next.n == 0
	    ? TOPO_NONE
	    : topo_next_of(scene->topo, &next,
		  topo_switch_pick(scene->ecmp_seed, s, w->digest, next.n));
}

/* What a mux does with a packet for a VIP, on host H: 1 if it is sent on. */
static int packet_balance(struct way *w, topo_host h)
{
	struct obs_ip *ip = packet_outermost(&w->p);
	if (ip->ttl <= 1) {
		w->end->fate = SCENE_WALK_EXPIRED;
		return 0;
	}
	ip->ttl--;
	w->end->at += packet_mux_time(w->net->mux, w->r);
	packet_mux_wrap(w->net->mux, h, &w->p);
	packet_readdress(w);
	return 1;
}

/* Whether a packet that came to its host goes on from there: by a mux, or from a
 * server that should have kept it. */
static int packet_goes_on(struct way *w, topo_host h)
{
	const struct truth *truth = &w->net->walk.scene->truth;
	struct obs_packet *p = &w->p;
	if (!w->net->mux)
		return 0;
	if (topo_addr_is_vip(obs_packet_outermost(p)->dst_ip) &&
	    p->n_outer < OBS_MAX_OUTER)
		return packet_balance(w, h);
	if (truth->n_outages == 0 || p->n_outer == 0 ||
	    !truth_outage_at(truth, TRUTH_MUX_LOOP, h, w->end->at))
		return 0;
	obs_packet_strip(p);
	packet_readdress(w);
	return w->dst != TOPO_NONE;
}

/* Go from host FROM, by its cable, to where the packet is addressed. 1 and *HOST
 * if it came to a host; else 0, and it ended on the way, or an error. */
static int packet_go(struct way *w, topo_host from, topo_host *host,
    struct sim_err *e)
{
	const struct topo *t = w->net->walk.topo;
	topo_link l = topo_link_of(from, TOPO_UP);
	topo_node at = from, before;
	int rc;
	while (at != w->dst) {
		if (!packet_cross(w, l))
			return 0;
		topo_link_ends(t, l, &before, &at);
		if (at < t->n_hosts)
			continue;
		if ((rc = packet_enter(w, at - t->n_hosts, e)) <= 0)
			return rc;
		l = packet_choose(w, at - t->n_hosts);
		/* No way there: nobody has that address, as far as this switch
		 * knows. */
		if (l == TOPO_NONE) {
			w->end->fate = SCENE_WALK_DELIVERED;
			return 0;
		}
	}
	*host = at;
	return 1;
}

int packet_walk(const struct packet_net *net, const struct obs_packet *p,
    topo_host from, sim_ns sent, struct sim_rng *r,
    const struct packet_eye *eye, struct packet_end *end, struct sim_err *e)
{
	struct way w = {.net = net, .eye = eye, .r = r, .end = end, .p = *p};
	topo_host at = from;
	int rc;
	*end = (struct packet_end){.link = TOPO_NONE,
	    .host = TOPO_NONE,
	    .at = sent};
	packet_readdress(&w);
	w.u = sim_rng_u01(r);
	do {
		if ((rc = packet_go(&w, at, &at, e)) <= 0)
			return rc;
	} while (packet_goes_on(&w, at));
	if (end->fate == SCENE_WALK_UNDER_WAY) {
		end->fate = SCENE_WALK_DELIVERED;
		end->host = at;
	}
	return 0;
}
