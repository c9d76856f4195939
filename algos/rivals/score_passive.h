/* algos/rivals/score_passive.h -- Score-passive: packets lost by packets delivered.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * score(l) = packets lost / packets delivered of all flows over link l. A flow
 * that lost nothing and whose path is not known gives to each of its equal paths
 * the same part of what it delivered. The link with the greatest score is accused
 * if that is at least `theta`; flows across it that lost something are taken away,
 * with what they lost and delivered, and so on.
 *
 * Where there are none but flows that lost something (A2 alone), scores are of no
 * rate, and good links' are greater than bad ones': so that is not read. Probes do
 * not count.
 *
 * DEPARTS: no threshold of it is known; .001 lies between the loss of links that
 * are in order in Flock's scenarios, .0001 at most, and .002, the least of failed
 * ones. DEPARTS: where nothing was delivered the score is as if one packet were;
 * of links with the same score the one with the least id is first, for which there
 * is no rule; flows that lost something on a path that is not known do not count.
 *
 * Scores are those when accused, and for the rest those that remain.
 *
 * Cost   O(rows + lengths of known paths + components of sets of paths + links *
 *        accused).
 * Paper  a mode of Score in the released code of Flock (CoNEXT'23).
 */
#ifndef ALGOS_RIVALS_SCORE_PASSIVE_H
#define ALGOS_RIVALS_SCORE_PASSIVE_H

#include "algos/algo.h"

struct algo_score_passive_params {
	double theta;
};

extern const struct algo_ops algo_score_passive;

#endif
