/* algos/vigil/vote.h -- 007's vote: who was on the path of most failed flows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each flow that retransmitted gives 1/h to each of the h known hops of its
 * path. The verdict lists every link with votes, its score being the votes; it
 * flags nothing. Flows are blamed on the most voted hop (algos/vigil/blame.h).
 *
 * `on: switch` is for switches that fail as a whole: a flow gives 1/s to each
 * of the s switches that it crosses (algos/vigil/switch_view.h), and the
 * verdict and the blame are of switches.
 *
 * `signal: rtt` is for links that are slow and not lossy: a flow votes when its
 * smoothed round-trip time is above rtt_threshold_us, whatever it sent again.
 * Such a verdict blames no flow. The window must hold the flows above the
 * threshold with their times (srtt_us); without times nobody votes.
 *
 * Cost   O(flows + hops of failed flows).
 * Paper  007 (NSDI'18), section 5.1; other signals: section 9.2.
 */
#ifndef ALGOS_VIGIL_VOTE_H
#define ALGOS_VIGIL_VOTE_H

#include "algos/algo.h"
#include "algos/vigil/blame.h"
#include "algos/vigil/switch_view.h"

enum algo_vote_signal { ALGO_VOTE_RETX, ALGO_VOTE_RTT };

struct algo_vote_params {
	uint32_t signal;         /* enum algo_vote_signal */
	double rtt_threshold_us; /* signal: rtt */
	uint32_t on;             /* enum algo_kind */
	struct algo_blame blame;
};

extern const struct algo_ops algo_vote;

#endif
