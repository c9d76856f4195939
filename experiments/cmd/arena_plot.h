/* experiments/cmd/arena_plot.h -- the arena's figures.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_CMD_ARENA_PLOT_H
#define EXPERIMENTS_CMD_ARENA_PLOT_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"
#include "sim/text.h"

/* DIR/arena_NAME.svg, and so on, is of DIR/NAME.tsv. */
struct cmd_arena_figure {
	const char *name, *caption;
};
extern const struct cmd_arena_figure cmd_arena_figures[]; /* ends with NULL */

/* What figures say beside their tables. */
struct cmd_arena_plot {
	const char *dir; /* tables front, map, cd, scaling are there */
	const char *title;
	const char *algos; /* labels as words of gnuplot */
	size_t n_runs;
	uint64_t made_of; /* see experiments/arena/standing.h */
};

/* Add LABEL to such words; what would end its text becomes another sign. */
void cmd_arena_put_label(struct sim_text *t, const char *label);

/* Draw DIR/arena_front, and so on, as .svg, .pdf and .png. Errors SIM_EDEP
 * (no gnuplot), SIM_EIO, SIM_ENOMEM. */
int cmd_arena_draw(const struct cmd_arena_plot *p, struct sim_err *e);

#endif
