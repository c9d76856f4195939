/* experiments/arena/ranks.h -- who is better than whom on the same telemetry.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Algorithms that read one telemetry meet the same tasks: a task is a family of
 * faults on a kind of network, an algorithm's score there the mean F of all its
 * windows, 0 where it did not answer. Their mean ranks, and the difference that
 * chance alone does not make, are those of sim/ranks.h; F of easy and of hard tasks
 * are so never mixed. What fails nothing has no F, and is no task.
 */
#ifndef EXPERIMENTS_ARENA_RANKS_H
#define EXPERIMENTS_ARENA_RANKS_H

#include <stdio.h>

#include "results/cube.h"

#define XP_ARENA_ALPHA 0.05

/* Mean F of one algorithm at one task. */
struct xp_arena_rank_cell {
	size_t telemetry;
	char algorithm[64];
	char task[128];
	double f, n; /* sum over windows */
};

/* Zeroed is empty. */
struct xp_arena_ranks {
	size_t n, cap;
	struct xp_arena_rank_cell *cell;
};
void xp_arena_ranks_free(struct xp_arena_ranks *r);

/* Add the sweep of that family and telemetry. Networks are told apart by the
 * coordinate `label`. Errors SIM_ENOMEM. */
int xp_arena_ranks_add(struct xp_arena_ranks *r, const char *family,
    size_t telemetry, const struct res_cube *c, struct sim_err *e);

/* A table for gnuplot with a row for each algorithm and telemetry that two or more
 * read, in the order of ranks, and one for each longest group of algorithms of
 * which no two are further apart than the critical difference (kind "rank",
 * "group"; a group has its level, from 0). An algorithm that was not asked in a
 * task that others have is left out. Errors SIM_ENOMEM. */
int xp_arena_ranks_print(const struct xp_arena_ranks *r, FILE *out,
    struct sim_err *e);

#endif
