/* models/scene/walk.c -- one packet's way, link by link.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/scene/walk.h"

#include <assert.h>

/* A law's tail may give a delay that no clock can hold: 11 days are more than
 * anybody waits for. */
#define MAX_DELAY_US 1e12

/* --- one link ------------------------------------------------------------- */

/* In most scenes no cable flaps, which is worth knowing before asking for each
 * link. */
static int walk_is_all_up(const struct scene_walk_net *net)
{
	return !net->flaps || net->flaps->n == 0;
}

/* It is mostly found where it stood last time, which the net may remember by
 * link; after a repair it stands elsewhere and is searched for. */
static inline size_t walk_fault(const struct scene_walk_net *net, topo_link l)
{
	const struct truth *truth = &net->scene->truth;
	size_t *last = net->fault_at ? &net->fault_at[l] : NULL;
	const size_t i = truth_first_fault(truth, l, last ? *last : 0);
	if (last)
		*last = i;
	return i < truth->n_faults && truth->fault[i].link == l ? i : SIZE_MAX;
}

/* What decides whether L loses a packet at AT, in this order: a cable that is
 * down loses all, also of probes that links otherwise leave alone; then the
 * link's faults; then its noise. */
static double walk_hazard(const struct scene_walk_net *net, topo_link l,
    size_t fault, sim_ns at)
{
	const struct scene_loss *loss = &net->scene->loss;
	double hazard;
	if (!walk_is_all_up(net) && fault_flap_down(net->flaps, &l, 1, at) == 0)
		return INFINITY;
	if (net->lossless)
		return 0;
	if (fault != SIZE_MAX &&
	    scene_loss_fault_at(loss, fault, l, at, &hazard))
		return hazard;
	return net->noise ? net->noise[l]
			  : scene_hazard(scene_noise_rate(&loss->noise, l));
}

/* Most scenes have no congestion, and then it costs this look. */
static inline int walk_has_ports(const struct scene_walk_net *net)
{
	return scene_congestion_is_on(&net->scene->congestion) &&
	    !net->no_ports;
}

static inline double walk_port(const struct scene_walk_net *net, topo_link l,
    sim_ns at)
{
	return walk_has_ports(net) && !net->lossless
	    ? scene_congestion_hazard(&net->scene->congestion, l, at)
	    : 0;
}

static inline sim_ns walk_wait(const struct scene_walk_net *net, topo_link l,
    sim_ns at)
{
	return walk_has_ports(net)
	    ? scene_congestion_wait(&net->scene->congestion, l, at)
	    : 0;
}

/* 1 if one of L's faults is of packets' times. Most lose packets and no more, and
 * then nobody has to ask again what L adds. */
static int walk_is_slow(const struct scene_walk_net *net, topo_link l,
    size_t fault)
{
	const struct truth *truth = &net->scene->truth;
	for (; fault < truth->n_faults && truth->fault[fault].link == l;
	     fault++)
		if (truth_is_slow(&truth->fault[fault]))
			return 1;
	return 0;
}

/* The time that a packet takes on L: OWN_US, which is the caller's, and what
 * faults add. Distance is left to the caller, as most networks have none. */
static sim_ns walk_delay(const struct scene_walk_net *net, topo_link l,
    size_t fault, sim_ns at, double own_us, struct sim_rng *r)
{
	const struct truth *truth = &net->scene->truth;
	if (fault != SIZE_MAX)
		own_us += scene_latency_draw_at(truth, fault, l, at, r);
	return (sim_ns)(fmin(own_us, MAX_DELAY_US) * 1e3 + 0.5);
}

/* The files that go along links one by one call these; the loops below have the
 * same inlined. */
size_t scene_walk_fault(const struct scene_walk_net *net, topo_link l)
{
	return net->scene->truth.n_faults > 0 ? walk_fault(net, l) : SIZE_MAX;
}

double scene_walk_port(const struct scene_walk_net *net, topo_link l, sim_ns at)
{
	return walk_port(net, l, at);
}

double scene_walk_hazard(const struct scene_walk_net *net, topo_link l,
    size_t fault, sim_ns at)
{
	return walk_hazard(net, l, fault, at);
}

sim_ns scene_walk_time(const struct scene_walk_net *net, topo_link l,
    size_t fault, sim_ns at, double own_us, struct sim_rng *r)
{
	return walk_delay(net, l, fault, at, own_us, r) +
	    walk_wait(net, l, at) + topo_link_delay(net->topo, l);
}

/* By the model's rule no hole takes ICMP. */
int scene_walk_swallows(const struct scene_walk_net *net, topo_switch s,
    const struct topo_tuple *tuple, sim_ns at)
{
	return tuple->proto != TOPO_PROTO_ICMP &&
	    truth_swallows(&net->scene->truth, s, tuple, at);
}

/* --- step by step --------------------------------------------------------- */

struct scene_walk scene_walk_begin(const struct scene_walk_net *net,
    const struct topo_tuple *tuple, const topo_link path[], unsigned n_hops,
    uint8_t ttl, sim_ns sent)
{
	return (struct scene_walk){
	    .net = net,
	    .tuple = tuple,
	    .path = path,
	    .n_hops = n_hops,
	    .fate = SCENE_WALK_UNDER_WAY,
	    .t = sent,
	    .fault = SIZE_MAX,
	    .ttl = ttl,
	};
}

void scene_walk_meet(struct scene_walk *w)
{
	assert(w->n_met < w->n_hops);
	const topo_link l = w->path[w->n_met++];
	w->fault = walk_fault(w->net, l);
	w->hazard +=
	    walk_port(w->net, l, w->t) + walk_hazard(w->net, l, w->fault, w->t);
}

void scene_walk_cross(struct scene_walk *w, double own_us, struct sim_rng *r)
{
	const topo_link l = w->path[w->n_met - 1];
	w->t += scene_walk_time(w->net, l, w->fault, w->t, own_us, r);
}

void scene_walk_enter(struct scene_walk *w)
{
	if (w->n_met == w->n_hops)
		w->fate = SCENE_WALK_DELIVERED;
	else if (w->net->scene->truth.n_holes > 0 &&
	    scene_walk_swallows(w->net,
		scene_walk_switch(w->net, w->path[w->n_met - 1]), w->tuple,
		w->t))
		w->fate = SCENE_WALK_SWALLOWED;
	else if (w->ttl <= w->n_met)
		w->fate = SCENE_WALK_EXPIRED;
}

struct scene_walk_hop scene_walk_hop(const struct scene_walk *w)
{
	const topo_link l = w->path[w->n_met - 1];
	topo_node from, to;
	topo_link_ends(w->net->topo, l, &from, &to);
	return (struct scene_walk_hop){
	    .link = l,
	    .node = to,
	    .t = w->t,
	    .ttl = (uint8_t)(w->ttl + 1 - w->n_met),
	};
}

/* --- whole ways ----------------------------------------------------------- */

/* The index in PATH of the first link into a switch that swallows TUPLE, or
 * N_HOPS. The last link leads to the host. */
static unsigned walk_hole(const struct scene_walk_net *net,
    const struct topo_tuple *tuple, const topo_link path[], unsigned n_hops,
    sim_ns at)
{
	if (net->scene->truth.n_holes == 0)
		return n_hops;
	for (unsigned i = 0; i + 1 < n_hops; i++)
		if (scene_walk_swallows(net, scene_walk_switch(net, path[i]),
			tuple, at))
			return i;
	return n_hops;
}

struct scene_walk_ports scene_walk_ports(const struct scene_walk_net *net,
    const topo_link path[], unsigned n_hops, sim_ns at)
{
	struct scene_walk_ports p = {0};
	for (unsigned i = 0; walk_has_ports(net) && i < n_hops; i++) {
		p.hazard += walk_port(net, path[i], at);
		p.wait += walk_wait(net, path[i], at);
	}
	return p;
}

/* The hazard of links that have noise alone, and no delay. The sum stays in a
 * register, as nothing is called on the way. */
static double walk_noise(const double noise[], const topo_link path[],
    unsigned n_hops)
{
	double hazard = 0;
	for (unsigned i = 0; i < n_hops; i++)
		hazard += noise[path[i]];
	return hazard;
}

/* Hazards and delays of links of which some have faults; those without have
 * USUAL, or if that is NULL are asked for it. */
static void walk_links(const struct scene_walk_net *net, const double *usual,
    const topo_link path[], unsigned n_hops, sim_ns sent, struct sim_rng *r,
    struct scene_walk_way *w)
{
	const int has_faults = net->scene->truth.n_faults > 0;
	for (unsigned i = 0; i < n_hops; i++) {
		const topo_link l = path[i];
		const size_t fault = has_faults ? walk_fault(net, l) : SIZE_MAX;
		if (usual && fault == SIZE_MAX) {
			w->hazard += usual[l];
			continue;
		}
		w->hazard += walk_hazard(net, l, fault, sent);
		w->delay += walk_delay(net, l, fault, sent, 0, r);
	}
}

/* Hazards and delays of all links, as they are when the packet leaves. This
 * runs twice for every connect, so where no cable flaps and the noise is at
 * hand, a link without faults costs one addition. */
void scene_walk_whole(const struct scene_walk_net *net,
    const struct topo_tuple *tuple, const topo_link path[], unsigned n_hops,
    sim_ns sent, struct sim_rng *r, struct scene_walk_way *w)
{
	const struct truth *truth = &net->scene->truth;
	const double *usual =
	    walk_is_all_up(net) && !net->lossless ? net->noise : NULL;
	*w = (struct scene_walk_way){.n_hops = n_hops};
	if (usual && truth->n_faults == 0)
		w->hazard = walk_noise(usual, path, n_hops);
	else
		walk_links(net, usual, path, n_hops, sent, r, w);
	/* Only data centres that are joined in a region are far from each
	 * other. */
	for (unsigned i = 0; net->topo->region && i < n_hops; i++)
		w->delay += topo_link_delay(net->topo, path[i]);
	if (truth->n_holes > 0 &&
	    walk_hole(net, tuple, path, n_hops, sent) < n_hops)
		w->hazard = INFINITY;
	if (walk_has_ports(net))
		w->ports = scene_walk_ports(net, path, n_hops, sent);
}

/* A link's own loss is a fault's if it has one that is active, since a fault
 * takes the place of noise. */
static enum scene_walk_loss walk_own_loss(const struct scene_walk_net *net,
    topo_link l, sim_ns at)
{
	double hazard;
	const int down =
	    !walk_is_all_up(net) && fault_flap_down(net->flaps, &l, 1, at) == 0;
	return down || scene_loss_fault(&net->scene->loss, l, at, &hazard)
	    ? SCENE_WALK_BY_FAULT
	    : SCENE_WALK_BY_NOISE;
}

enum scene_walk_loss scene_walk_lost_by(const struct scene_walk_net *net,
    const struct topo_tuple *tuple, const topo_link path[], unsigned n_hops,
    sim_ns sent, double before, double u)
{
	const unsigned hole = walk_hole(net, tuple, path, n_hops, sent);
	for (unsigned i = 0; i < n_hops; i++) {
		before += walk_port(net, path[i], sent);
		if (scene_walk_is_lost(u, before))
			return SCENE_WALK_BY_PORT;
		before +=
		    walk_hazard(net, path[i], walk_fault(net, path[i]), sent);
		if (scene_walk_is_lost(u, before))
			return walk_own_loss(net, path[i], sent);
		if (i == hole)
			return SCENE_WALK_BY_FAULT;
	}
	/* Sums in another order round otherwise: it was the last link. */
	return walk_own_loss(net, path[n_hops - 1], sent);
}

int scene_walk_hazards(const struct scene_walk_net *net,
    const struct topo_tuple *tuple, const topo_link path[], unsigned n_hops,
    sim_ns sent, double hazard[])
{
	/* Sums of hazards along the path: a packet whose TTL ends behind k
	 * links meets hazard[k]. A link into a hole is as bad as one that loses
	 * all, and so is everything behind it. */
	const unsigned hole = walk_hole(net, tuple, path, n_hops, sent);
	int is_slow = net->topo->region != NULL ||
	    (walk_has_ports(net) &&
		scene_congestion_waits(&net->scene->congestion));
	hazard[0] = 0;
	for (unsigned i = 0; i < n_hops; i++) {
		const size_t fault = walk_fault(net, path[i]);
		is_slow |= walk_is_slow(net, path[i], fault);
		hazard[i + 1] = hazard[i] + walk_port(net, path[i], sent) +
		    walk_hazard(net, path[i], fault, sent);
		if (i == hole)
			hazard[i + 1] = INFINITY;
	}
	return is_slow;
}

sim_ns scene_walk_delay(const struct scene_walk_net *net,
    const topo_link path[], unsigned n_hops, sim_ns sent, struct sim_rng *r)
{
	sim_ns delay = 0;
	for (unsigned i = 0; i < n_hops; i++)
		delay += topo_link_delay(net->topo, path[i]) +
		    walk_wait(net, path[i], sent) +
		    walk_delay(net, path[i], walk_fault(net, path[i]), sent, 0,
			r);
	return delay;
}
