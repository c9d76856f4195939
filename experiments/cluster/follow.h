/* experiments/cluster/follow.h -- run a plan's shards until all are there.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In rounds: hand to the engine what is not done, wait until nobody is at work
 * any more, look at what came of it. So a shard is never started while it may be
 * at work, and all that there is to know stands in the folder and is known to
 * the engine: who is killed goes on when started again. Should two processes run
 * one shard all the same, the lock of its journal turns one of them away.
 */
#ifndef EXPERIMENTS_CLUSTER_FOLLOW_H
#define EXPERIMENTS_CLUSTER_FOLLOW_H

#include <signal.h>
#include <stdio.h>

#include "experiments/cluster/engine.h"
#include "results/cube.h"
#include "sim/time.h"

struct xp_cluster_follow {
	const struct xp_plan *plan;
	const char *folder;
	const struct res_cube *whole; /* any shard of the sweep */
	uint32_t retry;     /* times that a shard is started again without
			    having got further */
	sim_ns wait_ns;     /* before what failed is started again */
	sim_ns poll_ns;     /* between questions to the engine */
	sim_ns patience_ns; /* end once it has not answered for so long */
	FILE *progress;     /* NULL: silent */
	void (*say)(void *arg, const char *line);
	void *arg;
	const volatile sig_atomic_t *stop;
};

struct xp_followed {
	uint32_t n_rounds; /* that were submitted */
	uint32_t n_left;   /* shards with cells that were never tried */
	int stopped;       /* by STOP */
	int unanswered; /* for PATIENCE_NS; jobs may be at work all the same */
	int is_merged;  /* OUT is the whole */
	struct res_progress cells;
};

/* Errors SIM_EIO: another process follows this folder; SIM_EMISMATCH: a shard in
 * it is of another sweep; SIM_ENOMEM. Shards that could not be finished are no
 * error. */
int xp_follow(const struct xp_cluster_follow *f, struct xp_followed *to,
    struct sim_err *e);

/* Whether OUT is all of the sweep that WHOLE is a shard of, with every cell done,
 * failed or crashed; P, which may be NULL, is how many. Errors SIM_EMISMATCH: it
 * is of another one, or no results. */
int xp_follow_is_whole(const char *out, const struct res_cube *whole,
    struct res_progress *p, struct sim_err *e);

#endif
