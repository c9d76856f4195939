/* models/bulk/failed.h -- links with faults and switches with holes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For the skipping plane (skip.h): which of them flows out of a ToR can cross,
 * and how likely one crosses each and finds it dropping.
 */
#ifndef MODELS_BULK_FAILED_H
#define MODELS_BULK_FAILED_H

#include "models/bulk/course.h"
#include "models/bulk/pairs.h"
#include "models/scene/scene.h"

/* A link with faults; or, with link = TOPO_NONE, a switch with holes. A fault
 * that only marks a link into such a switch is none here. */
struct bulk_failed {
	topo_link link;
	uint32_t place; /* where it stands in index[] */
	double hazard;  /* of a link: all its faults at once, an upper bound */
	double bound;   /* 1 - exp(-n_max * hazard); of a hole 1 */
	double rate;    /* 1 - exp(-hazard) */

	/* In a Clos a flow that crosses it is known to do given[1] if it comes from a ToR
	 * in [from, to), else given[0]. Neither of a host's uplink: flows of
	 * that host cross it, and nobody else's. */
	uint32_t from, to;
	struct bulk_given given[2];
	double weight[2]; /* chance of that, times bound */

	/* In a mesh, what it crosses; `to` is none, or BULK_TO_HOST. */
	struct bulk_given across;
};

/* Zeroed is empty. */
struct bulk_failed_list {
	struct bulk_failed *failed; /* [n], links ascending, then switches */
	size_t n, cap;
	int timed;     /* some fault or hole is not active all the epoch */
	int has_holes; /* the last ones of failed[] are switches */
	/* [n_links + n_switches], links first: 1 + place in failed[], 0 = good */
	uint32_t *index;
	size_t cap_index;
	struct bulk_courses courses;
	double *sum; /* [n] running sums of weights, of the current ToR */
	size_t cap_sum;
	/* In a mesh instead: `share` is such a sum, over the ToR's pairs. */
	struct bulk_pairs pairs;
	struct bulk_given picked;
};

/* List what fails in a scene, whose largest flow has N_MAX packets. The scene
 * must not change before bulk_failed_end(), which is needed also after a
 * failure. Errors SIM_ENOMEM. Cost O(faults), after the first of a size, and
 * O(ToRs) in skewed traffic; in a mesh O(pairs * links of a switch). */
int bulk_failed_begin(struct bulk_failed_list *v, const struct scene *s,
    double n_max, struct sim_err *e);
void bulk_failed_end(struct bulk_failed_list *v);
void bulk_failed_free(struct bulk_failed_list *v);

/* Rows that the pairs of a scene in a mesh take at most; 0 in a Clos. Cost
 * O(ToRs * faults). */
uint64_t bulk_failed_pairs(const struct scene *s);

/* Let flows start at TOR, and return the rate at which they are candidates of
 * anything that failed but a host's uplink. Cost O(n), O(1) in a mesh. */
double bulk_failed_weigh(struct bulk_failed_list *v, uint32_t tor);

/* 1 if flows from TOR are those of given[1]. */
static inline int bulk_failed_inside(const struct bulk_failed *f, uint32_t tor)
{
	return (f->from <= tor) & (tor < f->to);
}

/* As below, in a mesh. Cost O(log pairs). */
const struct bulk_given *bulk_failed_pick_pair(struct bulk_failed_list *v,
    uint32_t tor, double u);

/* What a candidate from TOR, the current one, is known to do: one that failed is
 * picked in proportion to its weight, U, below what was weighed, saying which.
 * That is the first whose running sum is above U: one of weight 0 adds nothing
 * and is never that. Most scenes have few, hence the steps at the end. */
static inline const struct bulk_given *
bulk_failed_pick(struct bulk_failed_list *v, uint32_t tor, double u)
{
	if (!v->courses.clos)
		return bulk_failed_pick_pair(v, tor, u);
	const double *at = v->sum;
	for (size_t n = v->n; n > 16;) {
		const size_t half = n / 2;
		at += at[half - 1] <= u ? half : 0;
		n -= half;
	}
	while (u >= *at)
		at++;
	const struct bulk_failed *f = &v->failed[at - v->sum];
	return &f->given[bulk_failed_inside(f, tor)];
}

/* The fault of link L, or the holes of switch S; NULL if there are none. */
static inline const struct bulk_failed *
bulk_failed_link(const struct bulk_failed_list *v, topo_link l)
{
	return v->index[l] ? &v->failed[v->index[l] - 1] : NULL;
}

#endif
