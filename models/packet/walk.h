/* models/packet/walk.h -- one packet among switches, seen by each of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where models/scene/walk.h knows a packet's path beforehand, here every switch
 * chooses the next link itself: by its table, in which faults may have put wrong
 * routes or fewer next hops, and by its hash, which may be bad. So packets may
 * go round in a loop until their TTL ends. A switch that an outer header is
 * addressed to takes it off; a mux (mux.h) puts one on.
 *
 * What a link loses and delays has the law of scene/walk.h: its port, while full,
 * drops what comes to it, and the link loses at the hazard of its faults, or its
 * noise; a hole swallows.
 */
#ifndef MODELS_PACKET_WALK_H
#define MODELS_PACKET_WALK_H

#include "models/obs_packet.h"
#include "models/scene/walk.h"
#include "sim/rng.h"

struct packet_mux;

/* Where packets go. All is borrowed. */
struct packet_net {
	struct scene_walk_net walk;   /* topology, scene, noise */
	const struct packet_mux *mux; /* NULL: there are no VIPs */
	double hop_us, queue_us; /* own time of a link: fixed, and the mean of
				    an exponential part, drawn anew each time */
};

/* Who sees packets come into switches: P as it comes in by link IN at T, before
 * anything is done to it. Negative: stop with that error. */
struct packet_eye {
	void *arg;
	int (*see)(void *arg, topo_switch at, topo_link in, sim_ns t,
	    const struct obs_packet *p, struct sim_err *e);
};

/* How it ended: `link` is the last it met, `at` when. What comes to a switch
 * that it is addressed to, or is addressed to nobody, ends there: DELIVERED,
 * to no host. */
struct packet_end {
	enum scene_walk_fate fate;
	topo_link link;
	topo_host host; /* DELIVERED: who got it; else TOPO_NONE */
	sim_ns at;
	unsigned n_links; /* that it crossed */
	/* LOST: by the full port ahead of `link`, and not on that. */
	uint8_t in_port;
};

/* Send P from host FROM at SENT; EYE may be NULL. In a switch, in this order: a
 * hole swallows the packet; the switch sees it, as it came in; takes off outer
 * headers that are addressed to it; ends it if its TTL was 1 (or 0), else takes
 * one from it; and sends it to the next link. A packet that comes to the host
 * of its outermost address is delivered, unless a mux there sends it on, or it
 * should have taken a mux's header off and kept it (mux.h).
 *
 * A queue that comes and goes (burst.h) marks packets that say in their outermost
 * header that they can bear it (ECN is not 0); so does a full port
 * (scene/congestion.h). While a cable is down, switches choose as if it were up, and it loses what
 * comes to it. R draws for losses and times: one number for all losses of a
 * packet (see scene/walk.h), and one for each link if queue_us is above 0.
 * Errors those of EYE.
 * Cost O(links crossed * (1 + faults of them)). */
int packet_walk(const struct packet_net *net, const struct obs_packet *p,
    topo_host from, sim_ns sent, struct sim_rng *r,
    const struct packet_eye *eye, struct packet_end *end, struct sim_err *e);

#endif
