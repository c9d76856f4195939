/* experiments/live/run_clock.c -- when a run was, though clocks are set.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/run_clock.h"

#include "models/clock.h"

enum { TRIES = 4 };
#define NEAR SIM_MS /* what reading two clocks may take */

static sim_ns run_clock_kernel(void)
{
	struct timespec t;
	clock_gettime(CLOCK_TAI, &t);
	return (sim_ns)t.tv_sec * SIM_SEC + (sim_ns)t.tv_nsec;
}

/* The steady clock is read before and after the others: the less it went on, the
 * closer they are together. */
void xp_run_clock_read(struct xp_run_clock *c)
{
	sim_ns least = SIM_NEVER;
	for (int i = 0; i < TRIES; i++) {
		const sim_ns before = clock_now();
		const sim_ns utc = clock_wall(), tai = run_clock_kernel();
		const sim_ns after = clock_now();
		if (after - before >= least)
			continue;
		least = after - before;
		c->steady = before;
		c->guessed = tai - utc > SIM_SEC / 2 ? 0 : XP_RUN_CLOCK_TAI;
		c->tai = tai + c->guessed;
	}
}

sim_ns xp_run_clock_tai(const struct xp_run_clock *now, sim_ns t)
{
	const sim_ns tai = t + (now->tai - now->steady);
	return tai > now->tai && tai - now->tai < NEAR ? now->tai : tai;
}

int xp_run_clock_is_whole(const struct xp_run_clock *armed,
    const struct xp_run_clock *now, sim_ns start, sim_ns span)
{
	const sim_ns from = start > 0 ? start : armed->steady - NEAR;
	return now->steady >= from && now->steady - from >= span;
}
