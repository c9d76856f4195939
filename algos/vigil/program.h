/* algos/vigil/program.h -- 007's binary and integer programs, to a proof.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	(3)  binary    min |p|_0   A p >= s                 p in {0,1}^L
 *	(4)  integer   min |p|_0   A p >= c, |p|_1 = |c|_1  p in N^L
 *
 * A holds the paths of the flows, s whether a flow retransmitted and c how
 * often. (3) asks for the fewest links that explain all failures. Give each
 * flow's drops to one link of such a cover, and it solves (4): both have the
 * same optimum, and both are solved as (3) here. Rows are the failed flows
 * with a known hop, columns the links they cross. Exact reductions come first,
 * then, for each part of what is left, a greedy cover, a bound by prices, and
 * the solver only where these two do not meet. A value counts as optimal when a
 * bound has reached it, and not otherwise.
 *
 * Smallest covers are many. `tie` says which links are preferred: the lowest
 * id, or more of 007's votes and then the lowest id. What is promised is
 * local: no link of the answer can be exchanged for a preferred one. Each flow
 * is attributed to the flagged link on its path that most failed flows cross
 * (then: lowest id), which is what the popularity term of the released code
 * amounts to. The scores are the flows (binary) or drops (integer) attributed.
 * A flow is blamed on the flagged link on its path; on one of several by votes
 * (binary) or drops attributed (integer), then by `blame_tie`. Flows that 007
 * would set aside as noise are blamed on none, as its accuracy leaves them out
 * (algos/vigil/blame.h); `noise: none` blames them too.
 *
 * `integer` alone:
 *	form       strong: as above. bigm: what the released code hands to its
 *	           solver, for comparison: a_l binary, p_l, t_l whole,
 *	             min sum a_l - 0.0001 sum t_l,  p_l <= 6000 a_l,
 *	             t_l <= n_l p_l,  n_l = failed flows through l.
 *	           Value and bound are of this objective plus the constant
 *	           0.0001 n* |c|_1, which makes it the sum over flagged links of
 *	           1 + 0.0001 (n* p_l - t_l), n* the largest n_l: |p|_0 and a
 *	           small rest. It proves little and may find nothing.
 *	min_share  a link is flagged only if t_l / |c|_1 is at least that, where
 *	           t_l = n_l p_l in the strong form. So links that are
 *	           flagged may be fewer than the value.
 *
 * Limits, per window: `pivot_limit` counts simplex steps and binds, so that the
 * answer is the same on every machine; a part that has more than half as many
 * rows is not handed to the solver. `time_limit` is a safety net for bigm and
 * for slow machines, shared out over the parts by their rows; a window that it
 * cuts short may differ from run to run. With either 0 no solver is called: the
 * answer is that of reductions, greedy and prices (algos/vigil/setcover.h).
 *
 * DEPARTS: the paper has all flows in A; those that did not fail are rows
 * without effect.
 *
 * Paper  007 (NSDI'18), sections 5.3 and 6, programs (3) and (4).
 */
#ifndef ALGOS_VIGIL_PROGRAM_H
#define ALGOS_VIGIL_PROGRAM_H

#include "algos/algo.h"
#include "algos/vigil/blame.h"

enum algo_program_tie { ALGO_PROGRAM_LOWEST, ALGO_PROGRAM_VOTES };
enum algo_program_form { ALGO_PROGRAM_STRONG, ALGO_PROGRAM_BIGM };

struct algo_program_params {
	double time_limit; /* s */
	uint32_t pivot_limit;
	uint32_t tie; /* enum algo_program_tie */
	struct algo_blame blame;
	/* integer alone */
	uint32_t form; /* enum algo_program_form */
	double min_share;
};

extern const struct algo_ops algo_binary, algo_integer;

#endif
