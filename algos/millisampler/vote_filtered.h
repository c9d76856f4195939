/* algos/millisampler/vote_filtered.h -- 007's vote without what buffers lost.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A flow that lost something in a full buffer votes for links that did nothing.
 * So flows to hosts whose losses a full buffer explains (loss_cause.h) do not
 * vote and are blamed on nothing; all others are as in algos/vigil/vote.h. That
 * is as fine as counters of hosts can tell: what a bad link above lost of flows to
 * such a host does not count either, and is told by flows to other hosts. Hosts
 * that saw nothing sent again in their samples, and hosts without samples, have
 * flows that vote.
 *
 * Cost   that of both.
 * Paper  007 (NSDI'18), section 5.1, and ours.
 */
#ifndef ALGOS_MILLISAMPLER_VOTE_FILTERED_H
#define ALGOS_MILLISAMPLER_VOTE_FILTERED_H

#include "algos/algo.h"
#include "algos/vigil/blame.h"

struct algo_vote_filtered_params {
	double rto_ms, margin; /* of loss_cause, whose others are defaults */
	struct algo_blame blame;
};

extern const struct algo_ops algo_vote_filtered;

#endif
