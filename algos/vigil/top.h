/* algos/vigil/top.h -- the top link of a tally, again and again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Links leave in the order of their votes, or of the flows that cross them,
 * while the caller lowers either. Two ideas make that cheap:
 *
 *	hot    a heap with the keys as they were when last looked at. They
 *	       can only be too high, so a root that is up to date is the top.
 *	cold   all links below `pivot`, in no order. Nobody looks at them until
 *	       the top falls below the pivot, which is then lowered to a
 *	       quarter of what is the greatest among them.
 *
 * So links that never come near the top, as are most in a window of few
 * failures, cost two comparisons. Ties go as `by` says, last to the lower id.
 */
#ifndef ALGOS_VIGIL_TOP_H
#define ALGOS_VIGIL_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "algos/vigil/tally.h"
#include "sim/err.h"

enum algo_top_by {
	ALGO_TOP_VOTES,
	ALGO_TOP_FLOWS,
	ALGO_TOP_FLOWS_THEN_VOTES, /* votes must not change meanwhile */
};

struct algo_top_entry {
	uint64_t key;
	topo_link link;
};

/* Zeroed is valid and empty; its memory is kept from window to window. */
struct algo_top {
	const struct algo_tally *tally; /* borrowed */
	enum algo_top_by by;
	uint64_t pivot;
	struct algo_top_entry *hot;
	topo_link *cold;
	size_t n_hot, n_cold, cap_hot, cap_cold;
};

/* Start with all touched links of T. Errors SIM_ENOMEM. Cost O(touched). */
int algo_top_start(struct algo_top *q, const struct algo_tally *t,
    enum algo_top_by by, struct sim_err *e);
void algo_top_free(struct algo_top *q);

/* The top link among those left; TOPO_NONE when none has a key above 0.
 * Cost amortised O(log touched) a link that is taken or was lowered. */
topo_link algo_top_peek(struct algo_top *q);

/* Take out the link that algo_top_peek() has just returned. */
void algo_top_take(struct algo_top *q);

#endif
