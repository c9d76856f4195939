/* experiments/arena/cpu.h -- what algorithms take for a window: time, memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_ARENA_CPU_H
#define EXPERIMENTS_ARENA_CPU_H

#include "experiments/spec/spec.h"

enum { XP_ARENA_TIMED = 64 };
struct xp_arena_cost {  /* doubles alone */
	double n_links; /* directed, of the network */
	struct {
		double s;     /* for a window */
		double bytes; /* held once it has answered; NaN: not known */
	} of[XP_ARENA_TIMED];
};

/* What each algorithm of S takes at POINT, the mean of the windows of run 0. Each is
 * asked twice and timed the second time, when its memory has grown. What it holds is
 * by malloc's own count, exact to 16 bytes a block, without its answer and without
 * what it gave back before. Of one from outside it is the time until its answer,
 * whoever takes it, and no memory; NaN if it failed. Measured in a process of its
 * own. Domain at most XP_ARENA_TIMED algorithms. Errors those of cells. */
int xp_arena_time(struct xp_spec *s, size_t point, struct xp_arena_cost *cost,
    struct sim_err *e);

#endif
