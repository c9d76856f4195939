/* experiments/sweep/expect.h -- how long a sweep will take, told once if it is long.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	culprit: about 2:46:40 to go for the 1000 cells left, as the first 12 took
 *	2:00. ^C stops it, and the same command goes on from there.
 *	culprit: go on? [Y/n] It does until you say n.
 *
 * Nobody is waited for: a sweep goes on whatever is told and asked, so one that
 * nobody watches is never held up, and an answer may come at any time.
 */
#ifndef EXPERIMENTS_SWEEP_EXPECT_H
#define EXPERIMENTS_SWEEP_EXPECT_H

#include <stdint.h>
#include <stdio.h>

#include "experiments/sweep/progress.h"
#include "results/cube.h"
#include "sim/time.h"

/* What takes less than this is not worth a question. */
#define XP_EXPECT_LONG_S 3600.0

/* From this on it is told what is known, if that is but one cell. */
#define XP_EXPECT_PATIENCE (600 * SIM_SEC)

/* Caller owns; nothing to free. Zeroed tells nothing. */
struct xp_expect {
	FILE *out;   /* NULL: nothing is told or asked */
	int answers; /* where lines of answers come from; -1: none is asked for */
	double long_s;     /* told is what has more than this to go */
	const char *unit;  /* of what is counted; NULL: cells */
	int keeps_nothing; /* who stops it begins again */

	/* Set by _start(). */
	sim_ns start_ns;
	uint64_t n_before;  /* cells finished before */
	uint64_t n_certain; /* so many more show what the others take */
	enum { XP_EXPECT_WAITS, XP_EXPECT_ASKED, XP_EXPECT_OVER } state;
};

/* N_PLACES cells are one of each point. */
void xp_expect_start(struct xp_expect *x, const struct res_progress *cells,
    size_t n_places, unsigned n_workers, sim_ns now_ns);

/* Seconds that the cells left will take if they are like those that ran: left *
 * elapsed / ran. NaN while that is not known: before each point was seen and
 * each worker has finished four, so that what workers are in the middle of is at
 * most a quarter; but after XP_EXPECT_PATIENCE one cell will do. */
double xp_expect_left_s(const struct xp_expect *x,
    const struct res_progress *cells, sim_ns now_ns);

/* Call it as often as you like: tells once, after wiping DISPLAY, and looks for
 * the answer. Returns 1 if that is to stop. A terminal is read only by the
 * processes in its foreground, and what was typed before the question is no
 * answer: then none is asked. */
int xp_expect_update(struct xp_expect *x, struct xp_progress *display,
    const struct res_progress *cells, sim_ns now_ns);

#endif
