/* algos/everflow/check.h -- what the copies of one packet say of its way.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Copies are put in the order of the way by their headers, never by time: mirror
 * paths differ by more than a hop takes. The innermost TTL stands still within
 * outer headers and falls without them, so it comes first. Where it is equal
 * the packet loses headers on its way (a guided probe); where a mux adds one,
 * the switch before it has taken one off the TTL. So
 *
 *	innermost TTL down, then layers down, then outermost TTL down.
 *
 * A mirror of the last switch that was lost looks exactly like a drop behind the
 * switch before: with loss p of a packet at the link and m of a mirror, a
 * suspected drop is right with probability p / (p + m) only. What comes later
 * tells (suspect.h).
 *
 * Paper  Everflow (SIGCOMM'15): loops, drops, mirrors lost.
 */
#ifndef ALGOS_EVERFLOW_CHECK_H
#define ALGOS_EVERFLOW_CHECK_H

#include "algos/everflow/trace.h"

struct algo_check {
	struct algo_routing routing;
	topo_node *from; /* [n_links] where a link begins */
};

/* Errors SIM_ENOMEM; SIM_EINVAL without a topology. Close also what failed. */
int algo_check_open(struct algo_check *c, const struct algo_routing *r,
    struct sim_err *e);
void algo_check_close(struct algo_check *c);

/* Smaller is earlier on the way. Without outer headers both TTLs are one. */
static inline uint32_t algo_hop_rank(uint8_t layer, uint8_t ttl, uint8_t ttl_in)
{
	const uint32_t in = layer > 0 ? ttl_in : ttl;
	return (in << 16 | (uint32_t)layer << 8 | ttl) ^ 0xffffff;
}

/* Sort the n_hops hops of T, drop duplicates (same switch, layer, TTLs), and set
 * T's n_hops, n_same, n_lost, last_node, lost_link and these marks:
 *
 *  LOOP      a switch has it twice in one layer and for one outermost
 *            destination, with another TTL (a mux in a loop sends it on with
 *            another innermost TTL). TTLs that differ by OBS_TTL_RETX alone are
 *            those of a packet and the same sent again.
 *  SUSPECT   not seen by the switch where it ends, and its TTL was not at an
 *            end. That is the ToR of the destination's host, or the switch that
 *            it is addressed to; of a VIP, some switch behind the mux. Never
 *            with LOOP, never for an address that nobody knows.
 *  ENCAP, MUX, PROBE, COMPLETE as in trace.h; RETX by the bit of the TTL, too.
 *
 * DEBUG and RETX are kept if set. n_lost counts gaps of the TTL within a layer;
 * where the layer changes, one if the link begins at another switch than that
 * before, or that is not where its header leads to; and one if the first is not where the source's host is. Switches and
 * links beyond the last are unknown ones.
 * DEPARTS: the paper orders by TTL; layers are ours.
 * Domain n_hops >= 1. Cost O(n_hops^2), O(n_hops) when they come in order and
 * are few. */
void algo_check_trace(const struct algo_check *c, struct algo_trace *t,
    struct algo_hop hop[]);

/* The same from the FIRST and the LAST of n_hops copies that have no outer
 * headers, each another TTL, each another switch. Cost O(1). */
void algo_check_bare(const struct algo_check *c, struct algo_trace *t,
    const struct algo_hop *first, const struct algo_hop *last);

#endif
