/* algos/everflow/reshuffle.h -- which analyzer gets a copy.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All copies of a packet go to one analyzer, by the innermost five-tuple, so that
 * the original and what a mux makes of it meet. Both directions of a connection
 * go to the same, since an answer tells what became of a packet.
 * DEPARTS: the paper says a hash of the five-tuple; that it is the same both
 * ways is ours.
 *
 * Rendezvous hashing: each analyzer draws a number from the flow and its own
 * name, and the greatest wins. With weights w an analyzer's number is u^(1/w),
 * so it gets w / (sum of w) of all flows; and when a weight changes, flows move
 * only to or from that analyzer.
 *
 * Paper  Everflow (SIGCOMM'15) (reshuffler).
 * Source Thaler, Ravishankar: Using Name-Based Mappings to Increase Hit Rates
 *        (1998), for the method; Schindelhauer, Schomaker: Weighted Distributed
 *        Hash Tables (SPAA 2005), for weights.
 */
#ifndef ALGOS_EVERFLOW_RESHUFFLE_H
#define ALGOS_EVERFLOW_RESHUFFLE_H

#include <stdint.h>

#include "topo/route.h"

/* Of a connection: the same in both directions. */
uint64_t algo_reshuffle_hash(const struct topo_tuple *t);

/* An analyzer as the reshuffler knows it. */
struct algo_reshuffle_to {
	uint64_t name; /* its own; no two have one */
	double weight; /* >= 0; 0: it is dead, or gets nothing */
};

/* Which of TO[N] gets the connection; N if all weights are 0. Cost O(N). */
uint32_t algo_reshuffle(const struct algo_reshuffle_to to[], uint32_t n,
    const struct topo_tuple *t);

/* New weights by load, the share of its capacity that each analyzer uses: one
 * above HIGH is lowered so that it should come to HIGH, but by half at most; one
 * below LOW rises towards 1 by a tenth at most. The others stay, so that no flow
 * moves between those. A weight of 0 stays 0. Returns how many were lowered.
 * Domain 0 < low <= high. Shape load[n]. */
uint32_t algo_reshuffle_shift(struct algo_reshuffle_to to[], uint32_t n,
    const double load[], double low, double high);

#endif
