/* experiments/live/run_clock.h -- when a run was, though clocks are set.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Buckets pass by a clock that is never set; TAI is what hosts share, and runs
 * are scheduled and kept by. A kernel that was not told how far TAI is before UTC
 * takes it for 0, and beside others its runs would be 37 s off: then it is taken
 * for 37 s, as it has been since 2017. Widths of runs that begin at their
 * multiples divide that.
 */
#ifndef EXPERIMENTS_LIVE_RUN_CLOCK_H
#define EXPERIMENTS_LIVE_RUN_CLOCK_H

#include "sim/time.h"

#define XP_RUN_CLOCK_TAI (37 * SIM_SEC)

/* One moment by each. */
struct xp_run_clock {
	sim_ns steady, tai; /* CLOCK_MONOTONIC */
	sim_ns guessed;     /* of TAI, as the kernel does not know it; or 0 */
};

/* As close together as a few tries bring them. */
void xp_run_clock_read(struct xp_run_clock *c);

/* The time T of the steady clock as TAI, by what both say NOW. What is in the
 * future by no more than reading the clocks takes is now. */
sim_ns xp_run_clock_tai(const struct xp_run_clock *now, sim_ns t);

/* Whether all buckets of a run have passed: it was ARMED, started at START of the
 * steady clock (0: no packet came), lasts SPAN, and it is NOW. They have not if
 * TAI was set ahead, by which the schedule takes the run for over. */
int xp_run_clock_is_whole(const struct xp_run_clock *armed,
    const struct xp_run_clock *now, sim_ns start, sim_ns span);

#endif
