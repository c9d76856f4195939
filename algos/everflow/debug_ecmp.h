/* algos/everflow/debug_ecmp.h -- switches that spread flows unevenly, and why.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Flows, not packets, are held against equal shares, since few flows may send
 * most packets: those of stored SYNs, each five-tuple once, if a group of next
 * hops has ten of them a next hop; else the counter link_flows, which also has
 * what muxes encapsulate, so that few pairs of addresses may look uneven.
 *
 * A group is accused if the chance of its skew (algo_skew_of()), times twice the
 * number of groups, is below alpha, and max / mean is at least min_skew. Of
 * stored flows each subset is tested alone, too: by destination from /22 to /30,
 * by source /24 and /28, and by parity of ports; with twice their number. So in
 * all what is healthy is accused with a chance of alpha at most a window. A
 * subset explains the skew if the rest, a fifth of the group at least and 20
 * flows a next hop, is even; the smallest such is `value` and `mask`.
 *
 * NARROWED    some next hops are left out, and the others used alike
 * WEIGHTS     one next hop has more than the others, or less
 * HASH_BITS   shares are those of a few sorts of flows, dealt out at random
 * POLARISED   the switches that one before it chooses among are all uneven, but
 *             even together: what each gets depends on that choice
 *
 * which is the likeliest for what was counted (ecmp_cause.h), of all flows or of
 * the subset, and of all groups together: three sorts of flows of eight may look
 * like weights, or a next hop that is gone, at one switch, but not at all of them.
 * What is said may change as flows are seen. A finding's rate is max / mean, with
 * the interval of the greatest share; its link is the one with most, or of
 * NARROWED one that is left out. One switch alone that hashes few bits can't be
 * told from weights where those share alike: of three bits and four next hops,
 * one of fifty has five of the eight sorts on one, and one each on the others.
 *
 * Paper  Everflow (SIGCOMM'15). DEPARTS: the tests are ours.
 */
#ifndef ALGOS_EVERFLOW_DEBUG_ECMP_H
#define ALGOS_EVERFLOW_DEBUG_ECMP_H

#include "algos/everflow/debug.h"

/* As in a spec. */
struct algo_debug_ecmp_params {
	double alpha, min_skew;
};
extern const struct sim_field algo_debug_ecmp_fields[];
extern const struct algo_debugger algo_debug_ecmp;

#endif
