/* algos/vigil/vote_ecmp.h -- 007's vote by probabilities, of unknown paths.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When a flow retransmitted and no hop of its path is known, it gives to each
 * link that ECMP may have sent it over
 *
 *	P(the flow crosses the link | its source, its destination) / h
 *
 * of a vote, h being the length of its path. These add up to one vote, and
 * where the path is certain they are 007's 1/h. It works in any topology
 * (topo/shares.h). A path known in part or wholly votes as in
 * algos/vigil/vote.h.
 *
 * A flow with a path is blamed as there. One without is blamed on the link with
 * the greatest product of votes and P (ties: the lowest id), or set aside as
 * noise by the rule of algos/vigil/blame.h for the votes of that link, its own
 * vote being what it gave to it.
 *
 * Shares are rounded to 1/720720 of a vote, so that sums are exact and do not
 * depend on the order of the flows. `ignore_paths` takes no path as known:
 * passive counters of hosts without any traceroute.
 *
 * Cost   O(flows + hops of failed flows + links between the ends of failed
 *        flows without a path).
 * Paper  after 007 (NSDI'18), section 5.1, where paths are known.
 */
#ifndef ALGOS_VIGIL_VOTE_ECMP_H
#define ALGOS_VIGIL_VOTE_ECMP_H

#include "algos/algo.h"
#include "algos/vigil/blame.h"

struct algo_vote_ecmp_params {
	uint32_t ignore_paths; /* 0 or 1 */
	struct algo_blame blame;
};

extern const struct algo_ops algo_vote_ecmp;

#endif
