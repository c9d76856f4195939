/* algos/vigil/alg1.h -- 007's Algorithm 1: flag the top link, adjust, repeat.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	B = {}
 *	lmax = argmax over L \ B of v
 *	while v(lmax) >= threshold * sum of v over L:
 *		B += lmax
 *		adjust v for what lmax explains
 *		lmax = argmax over L \ B of v
 *
 * The paper leaves open where it matters most what the sum is and how votes
 * are adjusted, so both are parameters, and no value of them is the paper's
 * beyond doubt. The defaults, `initial` and `expected`, follow its words.
 *
 *	total         initial    all votes there were at the start
 *	              current    all votes as adjusted so far, a flagged link
 *	                         keeping those it was flagged with
 *	              remaining  the same without the links flagged
 *	adjust        none
 *	              expected   v(l) -= v(lmax) * P(l | lmax), not below 0:
 *	                         the share of flows through lmax that cross
 *	                         l under uniform traffic and ECMP
 *	                         (topo_share_given)
 *	              removal    take back the votes of all flows through
 *	                         lmax, as Flock's version of 007 does
 *	noise_filter  first drop flows whose best link carries nothing but
 *	              their own vote: those that share no link with another
 *	floor         stop when the best link has fewer votes than this
 *
 * Equal votes: the smaller link id goes first. No link without votes is
 * flagged.
 *
 * On `total` the paper says two things. Its words are 1 % "of the total votes
 * cast", and votes that were cast stay so when a tally is adjusted: `initial`.
 * Its pseudo-code writes the sum into the loop, over the v that the loop
 * adjusts: `current`, and over all of L, so not `remaining`. Its remark that
 * recall falls as more links fail, since the 1 % then is more votes (figure
 * 12), fits both. DEPARTS: by default the pseudo-code gives way to the words.
 * `current` is never above `initial`, so it flags all that the default does
 * and further links after them.
 *
 * What each reading is worth is the figure alg1_readings. Precision and recall
 * both about as high as the paper has them come with `adjust: removal`, `total:
 * remaining` and `floor: 0.6`, three or four flows, which it does not mention;
 * with that floor the 1 % hardly ever decides. Links so faint that fewer flows
 * fail on them (figures 12 and 13) are then not found.
 *
 * `on: switch` is for switches that fail as a whole: votes, verdict and blame
 * are then on the switches that flows cross (algos/vigil/switch_view.h). Shares
 * under ECMP are known for links only, so `adjust` must be none or removal
 * there.
 *
 * DEPARTS: the published pseudo-code tests the link flagged last and then adds
 * the next one unseen, so it always ends one link too far; here the link that
 * is to be flagged is tested. DEPARTS: an expected share is rounded to 1/720720
 * of a vote, so that sums stay exact and no result depends on the order of the
 * flows.
 *
 * Scores are votes when flagged and, for the rest, votes as adjusted in the
 * end; links left with none are not listed. As votes only fall and each flagged
 * link was the greatest, the scores of flagged links descend and no other link
 * exceeds the last of them: algo_verdicts_rank() ranks flagged links first, but
 * for ties. Flows are blamed by the votes before any filter or adjustment
 * (algos/vigil/blame.h).
 *
 * Cost   O(flows + hops of failed flows + touched links), and for `expected`
 *        the cost of topo_alike_shares() over the links with votes each round.
 * Paper  007 (NSDI'18), section 5.2, Algorithm 1.
 */
#ifndef ALGOS_VIGIL_ALG1_H
#define ALGOS_VIGIL_ALG1_H

#include "algos/algo.h"
#include "algos/vigil/blame.h"
#include "algos/vigil/switch_view.h"

enum algo_alg1_total {
	ALGO_ALG1_INITIAL,
	ALGO_ALG1_CURRENT,
	ALGO_ALG1_REMAINING
};
enum algo_alg1_adjust { ALGO_ALG1_NONE, ALGO_ALG1_EXPECTED, ALGO_ALG1_REMOVAL };

extern const char *const algo_alg1_totals[], *const algo_alg1_adjusts[];

struct algo_alg1_params {
	uint32_t on;           /* enum algo_kind */
	double threshold;      /* share of the total */
	uint32_t total;        /* enum algo_alg1_total */
	uint32_t adjust;       /* enum algo_alg1_adjust */
	uint32_t noise_filter; /* 0 or 1 */
	double floor;          /* votes */
	struct algo_blame blame;
};

extern const struct algo_ops algo_alg1;

#endif
