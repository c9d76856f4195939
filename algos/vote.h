/* algos/vote.h -- 007's vote: who was on the path of most failed flows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each flow that retransmitted gives 1/h to each of the h known hops of its
 * path. The verdict lists every link with votes, its score being the votes; it
 * flags nothing. Flows are blamed on the most voted hop (algos/blame.h).
 *
 * `on: switch` is for switches that fail as a whole: a flow gives 1/s to each of
 * the s switches that it crosses (algos/switch_view.h), and the verdict and the
 * blame are of switches.
 *
 * Cost   O(flows + hops of failed flows).
 * Paper  007 (NSDI'18), section 5.1.
 */
#ifndef ALGOS_VOTE_H
#define ALGOS_VOTE_H

#include "algos/algo.h"
#include "algos/blame.h"
#include "algos/switch_view.h"

struct algo_vote_params {
	uint32_t on; /* enum algo_kind */
	struct algo_blame blame;
};

extern const struct algo_ops algo_vote;

#endif
