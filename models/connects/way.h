/* models/connects/way.h -- one connect, and the two ways that it takes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_CONNECTS_WAY_H
#define MODELS_CONNECTS_WAY_H

#include "models/connects/impl.h"

/* A connect under way, the one of its pair that is due in SLOT: intervals from
 * time 0 on. Links are in order of crossing, there and then back; of each the hole
 * that it leads to, as far as is known, and whether the connect's five-tuple is
 * one that the hole drops. */
struct connect {
	topo_host src, dst;
	sim_ns sent;
	uint64_t slot;
	uint8_t level, hops;
	unsigned n_links; /* 0: no way is drawn */
	topo_link link[CONNECTS_WAY];
	uint32_t hole[CONNECTS_WAY]; /* 1 + index; 0: none met yet */
	uint8_t dead[CONNECTS_WAY];
};

/* Draw both ways, of which one crosses FORCED; TOPO_NONE: whatever it is. What
 * goes up from the unit below it is sent by who is in the unit, and what comes
 * down is sent to there. */
void connects_draw_ways(struct connects *c, struct connect *x, topo_link forced,
    int is_receiver);

/* The chance that links which come before source ORDER mark X, and that none of
 * them does: those that are no source for 1, all for UINT32_MAX. */
double connects_lost_before(const struct connects *c, const struct connect *x,
    uint32_t order);
double connects_spared_before(const struct connects *c, const struct connect *x,
    uint32_t order);

/* The chance that no hole which comes before link LAST drops the five-tuple of X,
 * whose fate at all these is settled so: it is spared. Holes are in order of
 * links. */
double connects_spared_by_holes(struct connects *c, struct connect *x,
    topo_link last);

/* Whether X crosses a link that delays now, of those before LAST; TOPO_NONE:
 * any. And how long it takes on such links that are so AT, there and back. */
int connects_is_slow(const struct connects *c, const struct connect *x,
    topo_link last);
sim_ns connects_delay(struct connects *c, struct connect *x, sim_ns at);

/* The round trip of X that begins AT is lost. */
int connects_is_lost(struct connects *c, struct connect *x, sim_ns at);

/* X has lost its first round trip: follow it to its row. */
int connects_resend(struct connects *c, struct connect *x, struct sim_err *e);

/* The row of X, which is answered after RTT, having lost N_LOST round trips. */
int connects_tell(struct connects *c, const struct connect *x, sim_ns rtt,
    unsigned n_lost, struct sim_err *e);

/* The time of a round trip that takes late_ns or more. */
sim_ns connects_late_rtt(struct connects *c, enum connects_hops hops);

#endif
