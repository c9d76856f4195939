/* models/clock.h -- the machine's clocks, in nanoseconds.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For what runs on a real network or shows progress; simulated time is that of
 * a fabric.
 */
#ifndef MODELS_CLOCK_H
#define MODELS_CLOCK_H

#include <time.h>

#include "sim/time.h"

/* Since some time in the past; never set back. */
static inline sim_ns clock_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (sim_ns)t.tv_sec * SIM_SEC + (sim_ns)t.tv_nsec;
}

/* Since 1970; may jump. */
static inline sim_ns clock_wall(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (sim_ns)t.tv_sec * SIM_SEC + (sim_ns)t.tv_nsec;
}

#endif
