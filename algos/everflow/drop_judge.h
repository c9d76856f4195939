/* algos/everflow/drop_judge.h -- what losses on a link are; see debug_drop.h.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef ALGOS_EVERFLOW_DROP_JUDGE_H
#define ALGOS_EVERFLOW_DROP_JUDGE_H

#include "algos/everflow/drop_rows.h"

/* A link that is accused. */
struct algo_drop_judged {
	topo_link link;
	enum algo_cause cause;
	topo_node node;
	uint8_t proved; /* by probes; else by traces alone */
	uint8_t told;   /* 0: too few tuples to say what it is: a hole by
			 addresses or by five-tuple, or a loss of all */
	double score, rate, lo, hi;
	struct topo_tuple tuple; /* BLACK_HOLE: one that is lost */
	struct topo_tuple value, mask;
};

struct algo_drop_judge {
	struct algo_drop_rows rows;
	double noise_rate, alpha;
	size_t n_probed; /* links with probes */
	struct algo_drop_judged *judged;
	size_t n, cap;
	struct algo_hole_tuple *hole; /* [rows.n_tuples], of one link */
};

/* Judge all links by traces and probes of IN. Errors SIM_ENOMEM. Free also what
 * failed. */
int algo_drop_judge_make(struct algo_drop_judge *j,
    const struct algo_debug_in *in, double noise_rate, double alpha,
    struct sim_err *e);
void algo_drop_judge_free(struct algo_drop_judge *j);

/* NULL if it is not accused. */
const struct algo_drop_judged *
algo_drop_judged_of(const struct algo_drop_judge *j, topo_link l);

#endif
