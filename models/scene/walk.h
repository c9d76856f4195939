/* models/scene/walk.h -- one packet's way, link by link.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A packet goes along a path, link by link. It
 *
 *	meets    the next link: its port, whose buffer may be full and lose it
 *	         (see congestion.h), and then the link itself, which loses it at
 *	         the hazard of its faults, or of its noise if it has none (see
 *	         loss.h), or for certain while its cable is down;
 *	crosses  it, which takes a time that the caller gives, what faults add
 *	         to that, drawn for each packet by their law (see latency.h),
 *	         the wait at a port that is full, and distance
 *	         (topo_link_delay());
 *	enters   the node behind. A switch with a hole that takes the five-tuple
 *	         swallows it; no hole takes ICMP. A switch where its TTL ends
 *	         throws it away; a host has got it.
 *
 * Losses are for the caller to draw, since callers draw in two ways: with one
 * number for all links, or with a new one for each link. Either way a packet is
 * lost on the first link after which scene_walk_is_lost(number, hazard) holds,
 * HAZARD being that of the links met since the number was drawn. Both have the
 * same law: each link loses what comes to it at its own rate, independently.
 *
 * Answers, timers and addresses are not treated here: an answer is another
 * packet, which walks back. */
#ifndef MODELS_SCENE_WALK_H
#define MODELS_SCENE_WALK_H

#include <math.h>

#include "models/fault/flap.h"
#include "models/scene/scene.h"

/* Where packets go. All is borrowed. */
struct scene_walk_net {
	const struct topo *topo;
	const struct scene *scene;       /* its truth is sorted */
	const struct fault_flaps *flaps; /* NULL: every cable is up */
	const double *noise; /* [n_links] hazards; NULL: the scene's, by link */
	size_t *fault_at;    /* [n_links] where faults were found last, any
			      * numbers at first; or NULL */
	uint8_t lossless;    /* neither ports nor faults nor noise lose */
	uint8_t no_ports;    /* packets meet no port: links alone */
};

enum scene_walk_fate {
	SCENE_WALK_UNDER_WAY,
	SCENE_WALK_DELIVERED,
	SCENE_WALK_LOST,      /* on the link met last; set by the caller */
	SCENE_WALK_SWALLOWED, /* by the switch behind that link */
	SCENE_WALK_EXPIRED,   /* at the switch behind that link */
};

struct scene_walk {
	const struct scene_walk_net *net;
	const struct topo_tuple *tuple;
	const topo_link *path;
	unsigned n_hops; /* of the path */
	unsigned n_met;  /* links of it, in order */
	enum scene_walk_fate fate;
	sim_ns t;      /* at the end of the last link that was crossed */
	double hazard; /* of the links met; the caller may set it to 0 */
	size_t fault;  /* the first of the link met last, or SIZE_MAX */
	uint8_t ttl;   /* as sent; 0 ends where 1 does */
};

/* What can be seen of a packet at the end of the link that it met last, or at
 * the beginning of that link if it is lost there. */
struct scene_walk_hop {
	topo_link link;
	topo_node node; /* that the link leads to */
	sim_ns t;
	uint8_t ttl; /* with which it comes there */
};

#define SCENE_WALK_MAX_TTL UINT8_MAX /* of packets that are no probes */

/* PATH, of N_HOPS links, is what packets of TUPLE from SRC to DST take while
 * all cables are up: make it the one at T (see fault/flap.h). Returns its
 * number of links.
 * Shape path[TOPO_MAX_HOPS]. Cost O(1) without flaps. */
static inline unsigned scene_walk_detour(const struct scene_walk_net *net,
    const struct topo_tuple *tuple, topo_host src, topo_host dst, sim_ns t,
    topo_link path[], unsigned n_hops)
{
	if (!net->flaps || net->flaps->n == 0)
		return n_hops;
	return fault_flap_path(net->flaps, net->topo, net->scene->ecmp_seed,
	    src, dst, topo_tuple_digest(tuple), t, path, n_hops);
}

/* The path that packets of TUPLE from SRC to DST, which differ, take at T: that
 * of topo_path(), and around cables that are down.
 * Cost O(hops * (1 + flaps)). */
static inline unsigned scene_walk_path(const struct scene_walk_net *net,
    const struct topo_tuple *tuple, topo_host src, topo_host dst, sim_ns t,
    topo_link path[])
{
	const unsigned n_hops = topo_path(net->topo, net->scene->ecmp_seed, src,
	    dst, topo_tuple_digest(tuple), path);
	return scene_walk_detour(net, tuple, src, dst, t, path, n_hops);
}

/* The switch that link L leads to; L must not lead to a host. */
static inline topo_switch scene_walk_switch(const struct scene_walk_net *net,
    topo_link l)
{
	topo_node from, to;
	topo_link_ends(net->topo, l, &from, &to);
	return to - net->topo->n_hosts;
}

/* Whether a packet that met HAZARD is lost, by U uniform on [0, 1): with
 * probability 1 - exp(-HAZARD). That is at most HAZARD, and comparing with
 * HAZARD itself mostly answers without an exponential. */
static inline int scene_walk_is_lost(double u, double hazard)
{
	return u < hazard && u < -expm1(-hazard);
}

/* --- one link ------------------------------------------------------------- */

/* What a link does to a packet that is on it AT. All ways are made of these:
 * along a path, below, or as switches choose (models/packet/walk.h). */

/* The index of the first fault of L, or SIZE_MAX: the FAULT of the others.
 * Cost O(1) where the net remembers, else O(log faults). */
size_t scene_walk_fault(const struct scene_walk_net *net, topo_link l);

/* What decides whether the port ahead of L loses the packet, which it meets
 * before the link itself: 0 unless its buffer is full. Cost O(1), at most three
 * Philox blocks; none without congestion. */
double scene_walk_port(const struct scene_walk_net *net, topo_link l,
    sim_ns at);

/* What decides whether L itself does. Cost O(faults of L + flaps), and a
 * Philox block if the net has no noise. */
double scene_walk_hazard(const struct scene_walk_net *net, topo_link l,
    size_t fault, sim_ns at);

/* How long it takes to cross L: OWN_US, what faults add, the wait at a full
 * port, and distance. R draws for each active fault whose law is not constant. */
sim_ns scene_walk_time(const struct scene_walk_net *net, topo_link l,
    size_t fault, sim_ns at, double own_us, struct sim_rng *r);

/* Whether switch S swallows TUPLE. */
int scene_walk_swallows(const struct scene_walk_net *net, topo_switch s,
    const struct topo_tuple *tuple, sim_ns at);

/* --- step by step --------------------------------------------------------- */

/* Faults and holes are those of the time at which the packet is there. */

/* A packet leaves at SENT. W keeps all but the numbers. */
struct scene_walk scene_walk_begin(const struct scene_walk_net *net,
    const struct topo_tuple *tuple, const topo_link path[], unsigned n_hops,
    uint8_t ttl, sim_ns sent);

/* The next link of the path, of which there is one: its hazard is added.
 * Cost O(log faults + flaps), and a Philox block if the net has no noise. */
void scene_walk_meet(struct scene_walk *w);

/* Cross the link met last, on which the packet is not lost: it takes OWN_US,
 * and what else the link takes. R draws for each active fault whose law is not
 * constant. */
void scene_walk_cross(struct scene_walk *w, double own_us, struct sim_rng *r);

/* Enter the node at the end of the link, which sets the fate unless the packet
 * goes on from there. */
void scene_walk_enter(struct scene_walk *w);

/* Where it is, after any of these. */
struct scene_walk_hop scene_walk_hop(const struct scene_walk *w);

/* --- whole ways ----------------------------------------------------------- */

/* All faults, holes and full ports are those of the time at which the packet
 * leaves. For callers who draw a time for the path as a whole. */

/* What full ports do along a path, in sum. */
struct scene_walk_ports {
	double hazard;
	sim_ns wait;
};

struct scene_walk_ports scene_walk_ports(const struct scene_walk_net *net,
    const topo_link path[], unsigned n_hops, sim_ns at);

/* What a packet meets that goes along all of a path. */
struct scene_walk_way {
	unsigned n_hops;
	double hazard; /* of all links; infinite: no packet gets through */
	sim_ns delay;  /* of faults and distance */
	/* Beside these: a packet that is sent again later meets others. */
	struct scene_walk_ports ports;
};

static inline double scene_walk_way_hazard(const struct scene_walk_way *w)
{
	return w->hazard + w->ports.hazard;
}

/* Fill W. R draws for every link, even behind one that loses all, so that no
 * fault changes what is drawn for others. Cost O(hops) where nothing is
 * broken. */
void scene_walk_whole(const struct scene_walk_net *net,
    const struct topo_tuple *tuple, const topo_link path[], unsigned n_hops,
    sim_ns sent, struct sim_rng *r, struct scene_walk_way *w);

/* Which of these a packet was lost to that left at SENT and is lost by U, having
 * met the hazard BEFORE ahead of the path: in its order, ports ahead of links. */
enum scene_walk_loss {
	SCENE_WALK_BY_PORT,
	SCENE_WALK_BY_FAULT, /* a hole or a cable that is down, too */
	SCENE_WALK_BY_NOISE
};
enum scene_walk_loss scene_walk_lost_by(const struct scene_walk_net *net,
    const struct topo_tuple *tuple, const topo_link path[], unsigned n_hops,
    sim_ns sent, double before, double u);

/* HAZARD[k] is that of the first k links and their ports, which a packet meets whose TTL ends
 * behind them. Returns 1 if the links may take time of their own: if not,
 * scene_walk_delay() is 0. Shape  hazard[n_hops + 1]. */
int scene_walk_hazards(const struct scene_walk_net *net,
    const struct topo_tuple *tuple, const topo_link path[], unsigned n_hops,
    sim_ns sent, double hazard[]);

/* What faults, ports and distance add to the time of a packet over all the
 * links. */
sim_ns scene_walk_delay(const struct scene_walk_net *net,
    const topo_link path[], unsigned n_hops, sim_ns sent, struct sim_rng *r);

#endif
