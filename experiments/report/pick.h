/* experiments/report/pick.h -- which cells of a figure are worth a look.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_REPORT_PICK_H
#define EXPERIMENTS_REPORT_PICK_H

#include "results/cube.h"
#include "sim/err.h"

struct xp_picked {
	size_t
	    place; /* of the sweep: its point without what it is read along */
	uint32_t run;
	/* The least of the ratios that tell how good an algorithm is; NaN of a
	 * first run in which nothing was measured. */
	double value, num, den;
	size_t algo;
	const char *ratio; /* its name */
	int is_first;
};

struct xp_picks {
	size_t n, n_places; /* cells; points they are of */
	struct xp_picked *one;
};

/* At most MOST cells: the first done run of each place, or of places evenly
 * spread if there are too many for two each; and of these places the runs of
 * the least ratio below 1, worst first, no more of one than of another.
 * In the order of places, then as chosen. Errors SIM_ENOMEM.
 * Cost O(cells * algorithms). */
int xp_pick_cells(struct xp_picks *p, const struct res_cube *c, size_t most,
    struct sim_err *e);
void xp_picks_free(struct xp_picks *p);

#endif
