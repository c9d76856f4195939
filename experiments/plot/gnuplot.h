/* experiments/plot/gnuplot.h -- a script of gnuplot's, and what it is told.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A script is run as  gnuplot -c SCRIPT TABLE OUT  after its variables have been
 * loaded; plots/style.gp has what they mean.
 */
#ifndef EXPERIMENTS_PLOT_GNUPLOT_H
#define EXPERIMENTS_PLOT_GNUPLOT_H

#include "results/cube.h"
#include "results/picture.h"
#include "sim/err.h"

/* What a figure is of. */
struct xp_figure {
	const struct res_cube *cube;
	const char *path;                  /* it was read from */
	const char *title;                 /* of the figure */
	double run_s;                      /* each run of a rack; 0: other */
	const char *x;                     /* the column that goes across */
	const struct res_picture *picture; /* NULL: the script needs none */
	const char *curves;                /* where its rows are */
};

/* *VARS = what a script is told of F, to be freed. Errors SIM_ENOMEM. */
int xp_gnuplot_describe(char **vars, const struct xp_figure *f,
    struct sim_err *e);

/* BYTES as a file in memory, which gnuplot and what it starts read at PATH, until
 * *FD is closed. Errors SIM_EIO. */
int xp_gnuplot_hold(int *fd, char path[32], const char *bytes, size_t n,
    struct sim_err *e);

/* Run SCRIPT, which finds others beside itself and then in FOLDER. OUT ends in
 * .svg, .pdf or .png, or is "-" for the terminal. Errors SIM_EDEP: gnuplot is not
 * there, or the script failed; SIM_EIO, SIM_ENOMEM. */
int xp_gnuplot_run(const char *script, const char *folder, const char *vars,
    const char *table, const char *out, struct sim_err *e);

#endif
