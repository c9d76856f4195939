/* results/until.h -- points that end when an interval is narrow enough.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A criterion is a line of text that is part of a sweep's identity, as overrides
 * are: half a width, a ratio of results/schema.h, and of one algorithm its
 * label: "0.01 accuracy_fault vote". Without a label the intervals of all
 * algorithms must be narrow, and of a cell of several points those of all of
 * them.
 *
 * Looks (sim/looks.h) are at runs 0 to n - 1, all of them done, for the n that
 * were planned: which runs count does not depend on the order in which they
 * ended. Their intervals hold at 95 % together, so also the one that ended the
 * point.
 */
#ifndef RESULTS_UNTIL_H
#define RESULTS_UNTIL_H

#include "results/cube.h"
#include "sim/err.h"
#include "sim/looks.h"

#define RES_UNTIL_CONF 0.95

/* *OUT is the text, to be freed; ALGO may be NULL. Errors SIM_ENOMEM. */
int res_until_make(char **out, double half, const char *metric,
    const char *algo, struct sim_err *e);

/* Whether C->until, if it is there, is one of C's metrics and algorithms; the
 * plan of looks, if LOOKS is not NULL. Errors SIM_EINVAL, with what it may be;
 * SIM_EUNSUPPORTED of a shard, which has a part of the runs of each point. */
int res_until_check(const struct res_cube *c, struct sim_looks *looks,
    struct sim_err *e);

/* Decide by the cells that there are: sets C->n_used. If WANTED[places] is not
 * NULL, the runs of each place that are needed to decide it, or were. Nothing
 * without a criterion. Errors as above, SIM_ENOMEM. Cost O(cells). */
int res_until_decide(struct res_cube *c, uint32_t wanted[], struct sim_err *e);

/* How the places ended. */
struct res_until_sum {
	size_t n_met, n_all, n_open; /* narrow; not in all runs; undecided */
	uint32_t least, most;        /* runs of those that met it */
};
int res_until_sum(const struct res_cube *c, struct res_until_sum *sum,
    struct sim_err *e);

/* The interval of a ratio at a point, if C's criterion is about it: of the
 * algorithm of that label, or of the trial if it is NULL. Returns 1 then, 0 if
 * not (and nothing else); errors as above. */
int res_until_interval(const struct res_cube *c, size_t point,
    const char *ratio, const char *algo, struct sim_ratio *out,
    struct sim_err *e);

#endif
