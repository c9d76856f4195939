/* models/bulk/pairs.h -- between which ToRs of a mesh flows cross what failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In a mesh the chance that a flow crosses a link follows from both its ToRs, so
 * it is a table: for each ToR that flows start at, which of those that failed
 * they can cross, to which ToR, and how likely.
 */
#ifndef MODELS_BULK_PAIRS_H
#define MODELS_BULK_PAIRS_H

#include "topo/mesh_cross.h"

struct bulk_pair {
	topo_switch from, to;
	uint32_t failed; /* which of a list */
	double share; /* of the flows between both; then as its owner has it */
};

/* Zeroed is empty. */
struct bulk_pairs {
	struct bulk_pair *pair; /* [n], by `from` once they are sorted */
	size_t n, cap;
	uint32_t *first; /* [n_switches + 1]: where a ToR's pairs begin */
	size_t cap_first;
	struct bulk_pair *unsorted;
	size_t cap_unsorted;
};

void bulk_pairs_free(struct bulk_pairs *p);

/* Add the pairs of ToRs between which flows cross number FAILED, which is VIA: to
 * all ToRs with hosts, or only to TO, if that is not TOPO_NONE. Errors
 * SIM_ENOMEM. Cost O(ToRs + pairs * links of a switch). */
int bulk_pairs_add(struct bulk_pairs *p, struct topo_mesh_cross *c,
    uint32_t failed, struct topo_via via, topo_switch to, struct sim_err *e);

/* Sort them by where flows start, keeping the order of those that start alike;
 * FAILED ascends if it did when they were added. Cost O(n + switches). */
int bulk_pairs_sort(struct bulk_pairs *p, uint32_t n_switches,
    struct sim_err *e);

#endif
