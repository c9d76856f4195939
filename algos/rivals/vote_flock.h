/* algos/rivals/vote_flock.h -- 007's vote as Flock compares with it, and Score.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each flow that lost something, however much, and whose path is known gives 1/h
 * of a vote to each of the h links of its path, hosts' cables too. The link with
 * most votes is accused if it has at least the share `theta` of all votes there
 * are; flows across it are taken away with their votes, and so on. With `on:
 * switch` it is switches that get votes and are accused.
 *
 * Algorithm 1 of 007 takes an expected share of votes away, as if all bad flows
 * across a link had been of it, and its threshold is of all votes at first. This is
 * algos/vigil/alg1.h with `total: remaining` and `adjust: removal`.
 *
 * A `theta` of 0 is .0023 (vote_flock) or .0025 (score) for links, with which each
 * does best on uniform traffic, and .0145 for switches; on skewed traffic .0083
 * is better. Score is the same else.
 *
 * Scores are the votes when accused, and for the rest those that remain. Of links
 * with as many votes the one with the least id is first: DEPARTS: there is no rule
 * for them.
 *
 * Cost   O(rows + lengths of lossy paths + components * accused).
 * Paper  007 (NSDI'18) and Score as in the released code of Flock (CoNEXT'23).
 */
#ifndef ALGOS_RIVALS_VOTE_FLOCK_H
#define ALGOS_RIVALS_VOTE_FLOCK_H

#include "algos/algo.h"

struct algo_vote_flock_params {
	uint32_t on; /* enum algo_kind: LINK or SWITCH */
	double theta;
};

extern const struct algo_ops algo_vote_flock, algo_score;

#endif
