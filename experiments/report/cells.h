/* experiments/report/cells.h -- some cells of a figure, run again for a page.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page can't run a cell, so it holds some: of each point, or of points evenly
 * spread over all, the first run, and those in which an algorithm's ratio is
 * the least. They are run from the spec that stands in the results, and each
 * says whether its numbers are those in the file to the last bit.
 */
#ifndef EXPERIMENTS_REPORT_CELLS_H
#define EXPERIMENTS_REPORT_CELLS_H

#include <stdio.h>

#include "results/cube.h"
#include "sim/err.h"

struct xp_cells {
	const char *id;      /* of the figure, for ids in the page */
	const char *explain; /* how `culprit explain` is told the spec */
	const char *folder;  /* where GraphML files are; with its slash or "" */
	size_t most;         /* how many */
	size_t max_bytes;    /* of the page, for all of them */

	/* What came of it. */
	size_t n_shown, n_unlike, n_left; /* n_left: no room */
};

/* Write them into OUT. Planes without flows and real networks are not run: then
 * the page says by which command one sees a cell.
 * Errors SIM_ENOMEM; a spec or a cell that fails is told in the page. */
int xp_cells_put(FILE *out, const struct res_cube *c, struct xp_cells *x,
    struct sim_err *e);

#endif
