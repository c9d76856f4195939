/* algos/millisampler/vote_filtered.h -- 007's vote without what buffers lost.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A flow that lost something in a full buffer votes for links that did nothing.
 * So flows whose losses full buffers explain (loss_filter.h) do not vote and are
 * blamed on nothing; all others are as in algos/vigil/vote.h or, with `then:
 * alg1`, as in algos/vigil/alg1.h, which also accuses links. Flows of which
 * samples tell nothing vote, unless most of those to the same rack do not.
 *
 * Cost   that of both.
 * Paper  007 (NSDI'18), sections 5.1 and 5.2, and ours.
 */
#ifndef ALGOS_MILLISAMPLER_VOTE_FILTERED_H
#define ALGOS_MILLISAMPLER_VOTE_FILTERED_H

#include "algos/algo.h"
#include "algos/millisampler/loss_filter.h"
#include "algos/vigil/blame.h"

enum algo_filtered_then { ALGO_FILTERED_VOTE, ALGO_FILTERED_ALG1 };

struct algo_vote_filtered_params {
	struct algo_loss_filter_params filter;
	uint32_t then;          /* enum algo_filtered_then */
	uint32_t total, adjust; /* of alg1, whose others are defaults */
	double floor;
	struct algo_blame blame;
};

extern const struct algo_ops algo_vote_filtered;

#endif
