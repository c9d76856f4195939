/* experiments/cmd/arena_tune.h -- the values that do best on a training half.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_ARENA_TUNE_H
#define EXPERIMENTS_CMD_ARENA_TUNE_H

#include <signal.h>

#include "experiments/cmd/arena_game.h"

enum { ARENA_TRIES = 60 };

/* For each telemetry and each algorithm of G that has parameters to tune find those
 * of greatest F in all families with a fault, each on one of N_WORKERS processes,
 * and print them (experiments/arena/tuned.h). G, of which none was tuned, has the
 * seed of the runs to tune on. Returns 1 if *STOP ended it, and then prints nothing.
 * Errors SIM_EINVAL (nobody has such parameters), those of cells. */
int cmd_arena_tune(struct cmd_arena_game *g, unsigned n_workers, int quiet,
    const volatile sig_atomic_t *stop, FILE *out, struct sim_err *e);

#endif
