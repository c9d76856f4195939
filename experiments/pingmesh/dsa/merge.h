/* experiments/pingmesh/dsa/merge.h -- shards of jobs as one file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows of windows are those of the shards, one shard after the other; what is
 * pooled is added. Memory is that of one window's rows and of the pool, however
 * many shards there are.
 */
#ifndef EXPERIMENTS_PINGMESH_DSA_MERGE_H
#define EXPERIMENTS_PINGMESH_DSA_MERGE_H

#include "experiments/pingmesh/dsa/digest.h"
#include "experiments/pingmesh/dsa/out.h"

/* Zeroed is empty. */
struct xp_dsa_merge {
	size_t n;
	char **path;             /* [n], by their shards; borrowed texts */
	struct xp_dsa_head head; /* of the whole */
	struct xp_dsa_tables recordings;
};

/* Check that the files of PATH[N], in any order, are all shards of one analysis.
 * Errors SIM_EMISMATCH naming both files (other recordings, parameters, build or
 * number of shards; the same shard twice); SIM_EIO naming the shards that are
 * missing; those of xp_dsa_in_open(). M is to be freed in any case. Cost one
 * pass over all files. */
int xp_dsa_merge_open(struct xp_dsa_merge *m, char *const path[], size_t n,
    struct sim_err *e);
void xp_dsa_merge_free(struct xp_dsa_merge *m);

/* Write the whole to OUT, of M's head: the bytes that one process writes. TELL is
 * called after each file. Errors those of reading and writing; SIM_EMISMATCH for
 * a file that was changed since it was checked. */
int xp_dsa_merge_run(const struct xp_dsa_merge *m, struct xp_dsa_out *out,
    struct xp_dsa_digest *digest, void (*tell)(void *arg), void *arg,
    struct sim_err *e);

#endif
