/* experiments/cluster/plan.h -- a sweep as shards: which, of what, and where.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Beside OUT = "x.h5" there is a folder, which is all that `culprit submit`
 * knows when it is started again:
 *
 *	x.cluster/plan.yaml        what was asked for
 *	x.cluster/shard.sh         runs one shard
 *	x.cluster/merge.sh         makes x.h5 of all
 *	x.cluster/submit.sh        hands shards and the merge to the engine
 *	x.cluster/FIGURE.I-of-N.*  what a shard has come to (sweep/run.h)
 *	x.cluster/I.log, merge.log, submit.log   what they said
 *	x.cluster/lock             locked by the one `submit` that is at work, and
 *	                           by what it started on this machine
 */
#ifndef EXPERIMENTS_CLUSTER_PLAN_H
#define EXPERIMENTS_CLUSTER_PLAN_H

#include <stdint.h>

#include "sim/err.h"

struct xp_plan {
	char figure[256], output[4096]; /* OUT, absolute */
	char name[512];                 /* of its jobs; that of the merge has
					   "-merge" behind it */
	uint32_t engine;                /* index into xp_engines */
	uint32_t n_shards;
};

/* The folder of the results file OUT, to be freed. Errors SIM_ENOMEM. */
int xp_plan_folder(char **folder, const char *out, struct sim_err *e);

/* P->name from what else P has: no two folders of a machine share it. */
void xp_plan_name(struct xp_plan *p);

/* plan.yaml in FOLDER. Errors SIM_EIO; SIM_EPARSE, SIM_EINVAL with place. */
int xp_plan_write(const struct xp_plan *p, const char *folder,
    struct sim_err *e);
int xp_plan_read(struct xp_plan *p, const char *folder, struct sim_err *e);

/* "FOLDER/FIGURE.3-of-8" and SUFFIX, for I from 0; to be freed. Errors
 * SIM_ENOMEM. */
int xp_plan_shard(char **path, const struct xp_plan *p, const char *folder,
    uint32_t i, const char *suffix, struct sim_err *e);

#endif
