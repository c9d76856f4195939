/* experiments/report/numbers.h -- a figure's numbers as tables of a page.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_REPORT_NUMBERS_H
#define EXPERIMENTS_REPORT_NUMBERS_H

#include <stdio.h>

#include "results/cube.h"

enum { XP_NUMBERS_ROWS = 240 }; /* of each table, at most */

/* Two tables: what each point has once, and what it has of each algorithm.
 * They are res_table_write()'s, with intervals beside their ratios and without
 * what was nowhere measured. FILE is how the user names the results.
 * Errors those of res_table_write(). */
int xp_numbers_put(FILE *out, const struct res_cube *c, const char *file,
    struct sim_err *e);

#endif
