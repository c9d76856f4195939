/* experiments/sweep/shard.h -- which part of a sweep a process is to run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_SWEEP_SHARD_H
#define EXPERIMENTS_SWEEP_SHARD_H

#include <stdint.h>

#include "sim/err.h"

enum { XP_MAX_SHARDS = 100000 };

/* Shard I of N, from 0. */
struct xp_shard {
	uint32_t i, n;
};

/* As getenv(). */
typedef char *xp_environment(const char *name);

/* Read "I/N", I from 1 to N; or "auto" and "auto/N", which take I from what
 * started the process:
 *
 *	SLURM_ARRAY_TASK_ID   a task of `sbatch --array=1-N`
 *	OMPI_COMM_WORLD_RANK  a rank of Open MPI's mpirun, N being
 *	PMI_RANK              ..._SIZE; and one of those that speak PMI
 *
 * "auto" alone takes N from them too. Of an array it must then be the whole one,
 * 0-M or 1-M with M above 1: a task that is run again is an array of its own, and
 * does not know of how many. "auto/N" does not depend on that. A rank that is
 * the only one says nothing where another variable is set. An empty variable is
 * none.
 * Errors SIM_EINVAL: no such text; none of these variables is set; two of them
 * are and name different shards. SIM_ERANGE: a number that is none, or is out of
 * its range. */
int xp_shard_read(struct xp_shard *s, const char *text, xp_environment *env,
    struct sim_err *e);

#endif
