/* experiments/cmd/report_arena.h -- what the arena came to, in a report.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_REPORT_ARENA_H
#define EXPERIMENTS_CMD_REPORT_ARENA_H

#include "experiments/report/page.h"

/* Is there DIR/standing.tsv? */
int cmd_report_is_arena(const char *dir);

/* Add the folder of `culprit arena`. Figures of other sweeps than its tables are
 * left out, and so it is said. Errors SIM_EIO, SIM_EPARSE, SIM_ENOMEM. */
int cmd_report_arena(struct xp_report_page *p, const char *dir,
    struct sim_err *e);

#endif
