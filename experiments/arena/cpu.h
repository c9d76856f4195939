/* experiments/arena/cpu.h -- how long algorithms take for a window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_ARENA_CPU_H
#define EXPERIMENTS_ARENA_CPU_H

#include "experiments/spec/spec.h"

/* Put into CPU_S[i], of algorithm I of S: seconds of a process for a window, the
 * mean of the windows of run 0 at the first N points. Each is asked twice and
 * timed the second time, when its memory has grown. Of one from outside it is the
 * time until its answer, whoever takes it; NaN if it failed at any. Measured in a
 * process of its own. Domain at most XP_ARENA_TIMED algorithms. Errors those of
 * cells. */
enum { XP_ARENA_TIMED = 64 };
int xp_arena_time(struct xp_spec *s, size_t n, double cpu_s[XP_ARENA_TIMED],
    struct sim_err *e);

#endif
