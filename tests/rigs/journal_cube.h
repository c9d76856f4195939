/* tests/rigs/journal_cube.h -- the cube of a small sweep, for tests of its journal.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_JOURNAL_CUBE_H
#define TESTS_JOURNAL_CUBE_H

#include "results/cube.h"

/* Of one axis and the sweep that SPEC names, whose cells are not run. C is to be
 * freed. Errors those of res_cube_alloc(). */
int journal_cube(struct res_cube *c, const char *spec, size_t n_points,
    size_t n_runs, size_t n_algos, struct sim_err *e);

#endif
