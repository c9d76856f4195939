/* models/scene/tcp.h -- what TCP adds to a flow: acknowledgements, repeats.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Without it a flow is n packets one way, of which each lost one is sent again
 * once, and arrives then. With it a flow is a connection, link by link:
 *
 *	syn     SYN -->, <-- SYN-ACK, ACK -->. The SYN is sent again until it
 *	        and its answer arrive.
 *	resend  a packet that is lost is sent again, and may be lost again, this
 *	        often at most.
 *	acks    acknowledgements are lost, too. They are cumulative, so a later
 *	        one makes up for most that are lost; but after each `window`
 *	        packets TCP waits for one behind which there is nothing. If that
 *	        is lost, a packet is sent again, whose answer may be lost, ...
 *	        What the last packets' answer would say, the FIN says too.
 *	fin     <-- FIN when all has come, RST -->. The FIN is sent again until
 *	        it and its answer arrive: then the way back is a flow of its own
 *	        that sent again.
 *
 * The way back is the path of the reversed five-tuple. Losses are independent
 * as in loss.h, so what is drawn is: which of the packets are lost when they
 * are first sent, given that one is; and for those, how each goes on. A flow of
 * which all first packets arrive costs nothing.
 *
 * Defaults are what the flows of models/netns/traffic.h do on Linux 6.18, over a
 * round trip of next to nothing: 21 packets are answered one by one, and then
 * everything waits for one answer after 42, 89, 136, ... packets.
 * DEPARTS: from Linux, where a server also repeats its SYN-ACK by a timer of its
 * own, windows are not all of one size, some packets are answered one by one
 * again after a repeat, and a sender whose last answer is lost sends again if
 * its peer's FIN is lost more than once. Each is of second order in the rate of
 * loss.
 */
#ifndef MODELS_SCENE_TCP_H
#define MODELS_SCENE_TCP_H

#include "sim/err.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "topo/ids.h"

/* Zeroed is off. */
struct scene_tcp_params {
	uint32_t resend; /* 0: off, and so is all else */
	uint32_t syn, acks, fin;
	uint32_t window, quick; /* packets */
};
extern const struct sim_field scene_tcp_fields[];

/* Whether P makes sense for flows of up to MOST packets. Errors SIM_EINVAL,
 * SIM_ELIMIT. */
int scene_tcp_check(const struct scene_tcp_params *p, double most,
    struct sim_err *e);

static inline int scene_tcp_is_on(const struct scene_tcp_params *p)
{
	return p->resend > 0;
}

/* One direction of a connection, over H links. */
struct scene_tcp_way {
	unsigned h;
	double hazard[TOPO_MAX_HOPS];  /* [h] of each link */
	uint32_t drops[TOPO_MAX_HOPS]; /* [h] packets lost there */
};

/* What came of a connection. */
struct scene_tcp_end {
	uint32_t n_retx;  /* packets that the sender sent again, SYNs too */
	uint32_t n_early; /* of these, before the connection was established */
	uint32_t n_back;  /* FINs that the receiver sent again */
};

/* A flow of N packets loses none of those that it sends first with probability
 * exp(-weight), where THERE and BACK are the sums of the two ways' hazards; the
 * weight is at most (n + SCENE_TCP_MORE) * (there + back). Domain n > 0. */
enum { SCENE_TCP_MORE = 3 };
double scene_tcp_weight(const struct scene_tcp_params *p, uint32_t n,
    double there, double back);

/* Draw what a connection that loses at least one of those loses in all, into
 * the drops of both ways, which are overwritten. Those of BACK are whole only
 * if n_back > 0: acknowledgements that nobody misses are not drawn else. Domain
 * weight > 0. Cost O(hops + repeats). */
void scene_tcp_draw(struct sim_rng *r, const struct scene_tcp_params *p,
    uint32_t n, struct scene_tcp_way *there, struct scene_tcp_way *back,
    struct scene_tcp_end *end);

#endif
