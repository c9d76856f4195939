/* experiments/sweep/state.h -- how far a sweep is: its results and its journal.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_SWEEP_STATE_H
#define EXPERIMENTS_SWEEP_STATE_H

#include "results/cube.h"
#include "sim/err.h"

/* A results file, and what its journal, if there is one, has beyond it. Errors
 * of res_h5_read() and xp_journal_read(). */
int xp_state_read(struct res_cube *c, const char *path, struct sim_err *e);

/* The same of many, by one READER. */
struct res_h5_reader;
int xp_state_read_by(struct res_h5_reader *reader, struct res_cube *c,
    const char *path, struct sim_err *e);

#endif
