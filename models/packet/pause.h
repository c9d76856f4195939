/* models/packet/pause.h -- pause frames (PFC), of storms and others.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	host --pause--> ToR --pause--> T1s --pause--> T2s and other ToRs ...
 *	             its buffer fills, so it pauses who sends to the host
 *
 * A frame asks the other end of a cable not to send packets of some priorities
 * for a time, in quanta of 512 bits; 0 quanta: go on. A NIC that is broken asks
 * all the time (a storm). Then the ToR's buffer fills with packets for that
 * host, and the ToR pauses all who have a route to the host by it, and so on:
 * after `fill` each, hop by hop, up to `depth` links. Only what a switch
 * receives is told, over the link by which it comes, so not what a ToR asks of
 * its hosts.
 *
 * Ordinary pauses come in episodes, when much is sent to one port for a while:
 * off and on, each off for much less than a frame may ask for.
 *
 * Use    Frames are no matter of walks: they go over one link. The eye is that
 *        of walk.h; frames of one link come in the order of time, those of
 *        several links do not.
 *
 *	struct packet_pause_end end = {0};
 *	struct packet_pause_span held[n_links];
 *	for each link l
 *		held[l] = (struct packet_pause_span){SIM_NEVER, 0};
 *	for each storm o of the truth (TRUTH_STORM, o->id is the host)
 *		rc = packet_pause_storm(topo, &params, o->id, o->from_ns,
 *		    o->to_ns, until, &rng, &eye, held, &end, e);
 *	for each link l to a switch that is to have ordinary ones
 *		rc = packet_pause_busy(topo, &params, l, 0,
 *		    held[l].from_ns < until ? held[l].from_ns : until, ...);
 *		if (held[l].to_ns > 0)
 *			rc = packet_pause_busy(topo, &params, l,
 *			    held[l].to_ns, until, ...);
 *
 *        since a port that a storm holds does not say go on meanwhile.
 *
 * Digest Frames are alike but for their time: each is given one by its link and
 *        time, so that nobody takes two frames for copies of one.
 * DEPARTS: Who sends to the host is not asked: every switch with a route has
 *        packets for it. Links carry the frames in no time and lose none.
 * Paper  Everflow (SIGCOMM'15) (RDMA debugger); Guo et al., "RDMA
 *        over Commodity Ethernet at Scale" (SIGCOMM'16), section 4.3, from
 *        memory; IEEE 802.1Qbb.
 */
#ifndef MODELS_PACKET_PAUSE_H
#define MODELS_PACKET_PAUSE_H

#include "models/packet/walk.h"
#include "sim/field.h"

enum { PACKET_PAUSE_QUANTA = 65535 }; /* what a frame asks for */

/* As in a spec. */
struct packet_pause_params {
	double gbps;       /* of all links, 10^9 bit/s */
	uint32_t priority; /* of the lossless class */
	double refresh; /* the next frame comes after this share of a pause */
	double fill_us; /* until a buffer is full, on average */
	uint32_t depth; /* links from the NIC on that are paused */
	double busy_per_s;    /* episodes of ordinary pauses, of one link */
	double busy_us;       /* an episode, on average */
	double off_us, on_us; /* paused and not, on average, in an episode */
};
extern const struct sim_field packet_pause_fields[];

/* When a link is held by storms: from the first's begin to the last's end. */
struct packet_pause_span {
	sim_ns from_ns, to_ns;
};

/* What was told; functions add to it. */
struct packet_pause_end {
	uint64_t n_frames;
	uint32_t n_links; /* over which any came */
};

/* HOST's NIC pauses its ToR while FROM <= t < TO; what follows is told until
 * UNTIL. Spans of the links that are held are widened, unless HELD is NULL.
 * Shape  held[n_links].
 * Errors SIM_EINVAL (no such host), SIM_ENOMEM, those of EYE.
 * Cost O(depth * links + frames). */
int packet_pause_storm(const struct topo *t,
    const struct packet_pause_params *p, topo_host host, sim_ns from, sim_ns to,
    sim_ns until, struct sim_rng *r, const struct packet_eye *eye,
    struct packet_pause_span held[], struct packet_pause_end *end,
    struct sim_err *e);

/* Ordinary pauses over LINK, which leads to a switch, from FROM until UNTIL; none if
 * that is not later.
 * Errors SIM_EINVAL (it leads to a host), those of EYE. Cost O(frames). */
int packet_pause_busy(const struct topo *t, const struct packet_pause_params *p,
    topo_link link, sim_ns from, sim_ns until, struct sim_rng *r,
    const struct packet_eye *eye, struct packet_pause_end *end,
    struct sim_err *e);

#endif
