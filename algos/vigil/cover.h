/* algos/vigil/cover.h -- greedy cover: fewest links that explain failures.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Repeat: flag the link that most of the failed flows not yet covered cross,
 * until every failed flow with a known hop is covered. Known as Max-Coverage
 * and Tomo; the cover is at most 1 + ln(flows) times the smallest one, which
 * is the binary program's. Equal links, which the sources leave open: the
 * smallest id, or (tie: votes) more of 007's votes first, then the smallest id.
 *
 * A link's score is the number of flows it newly covered. Only flagged links
 * are listed. A flow is blamed on the flagged link on its path; when there are
 * several, on the one with the most votes, ties as `blame_tie` says. Flows that
 * 007 would set aside as noise are blamed on none (algos/vigil/blame.h):
 * `noise: none` blames them too.
 *
 * Cost   O(flows + hops of failed flows + touched links * log).
 * Paper  007 (NSDI'18), Algorithm 2; Tomo: Dhamdhere et al.,
 *        "NetDiagnoser" (CoNEXT'07); Kompella et al., "IP fault localization
 *        via risk modeling" (NSDI'05).
 */
#ifndef ALGOS_VIGIL_COVER_H
#define ALGOS_VIGIL_COVER_H

#include "algos/algo.h"
#include "algos/vigil/blame.h"

enum algo_cover_tie { ALGO_COVER_LOWEST, ALGO_COVER_VOTES };

struct algo_cover_params {
	uint32_t tie; /* enum algo_cover_tie */
	struct algo_blame blame;
};

extern const struct algo_ops algo_cover;

#endif
