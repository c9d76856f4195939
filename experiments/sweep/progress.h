/* experiments/sweep/progress.h -- how far a sweep is: one line.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	vigil_fig03  [######----]  812/1400 cells  2 failed  1034/s  ETA 0:01
 *
 * On a terminal the line is redrawn at most 5 times a second; elsewhere it is
 * printed once a minute. Both end with a line that says how long it took.
 * Times are the caller's, of any monotonic clock.
 */
#ifndef EXPERIMENTS_SWEEP_PROGRESS_H
#define EXPERIMENTS_SWEEP_PROGRESS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "results/cube.h"
#include "sim/time.h"

/* What one line says. */
struct xp_progress_line {
	const char *name, *unit; /* unit NULL: cells */
	struct res_progress cells;
	double per_s;      /* of them a second; NaN or 0: not known */
	sim_ns elapsed_ns; /* shown in place of the ETA if ENDED */
	int ended;
	size_t width; /* columns; 0: no limit */
};

/* Write the line, without newline, to BUF as snprintf does. Too narrow for
 * all: the bar goes first, then the line is cut to WIDTH. */
void xp_progress_format(char *buf, size_t cap,
    const struct xp_progress_line *l);

/* Append a time to the string in BUF, cut off where it does not fit: 0:07, 12:05,
 * 3:00:00, 2d 04h, and "long" for NaN too. */
void xp_progress_add_time(char *buf, size_t cap, double seconds);

enum { XP_PROGRESS_SAMPLES = 16 };

/* Caller owns; nothing to free. */
struct xp_progress {
	FILE *out; /* NULL: silent */
	int is_tty;
	const char *name, *unit; /* borrowed */
	sim_ns start_ns, drawn_ns;
	size_t n_drawn; /* columns of the line on the terminal */

	/* Cells finished before the start, then a ring of recent counts. */
	uint64_t n_before;
	struct xp_progress_sample {
		sim_ns at_ns;
		uint64_t n_cells;
	} sample[XP_PROGRESS_SAMPLES];
	size_t n_samples;
};

/* CELLS counts what a journal already held: it is shown as finished, but no
 * part of the rate. UNIT is the word for them, NULL being "cells". Draws the
 * first line on a terminal. */
void xp_progress_start(struct xp_progress *p, FILE *out, const char *name,
    const char *unit, const struct res_progress *cells, sim_ns now_ns);

/* Call it as often as you like. */
void xp_progress_update(struct xp_progress *p, const struct res_progress *cells,
    sim_ns now_ns);

/* Wipe the line off a terminal, so that another may be printed in its place;
 * the next update draws it again. */
void xp_progress_wipe(struct xp_progress *p);

/* The last line, with its newline. */
void xp_progress_end(struct xp_progress *p, const struct res_progress *cells,
    sim_ns now_ns);

/* Cells a second over about the last 10 s; since the start if fewer than 10
 * cells were finished in these. NaN before the first. */
double xp_progress_rate(const struct xp_progress *p, uint64_t n_cells,
    sim_ns now_ns);

#endif
