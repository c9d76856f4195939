/* experiments/arena/cpu.h -- how long algorithms take for a window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_ARENA_CPU_H
#define EXPERIMENTS_ARENA_CPU_H

#include "experiments/spec/spec.h"

/* Add to CPU_S[i], of algorithm I of S, which is 0: seconds of this process for a window, the mean
 * of the windows of run 0 at the first N points. Each is asked twice and timed
 * the second time, when its memory has grown. Errors those of cells. */
int xp_arena_time(struct xp_spec *s, size_t n, double cpu_s[],
    struct sim_err *e);

#endif
