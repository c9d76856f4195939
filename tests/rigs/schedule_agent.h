/* tests/rigs/schedule_agent.h -- an agent in a schedule: its clock, timers and memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What any agent promises is checked here, once for all kinds: its steps succeed,
 * it sets no timer for a time that is past, it writes nothing beyond its state,
 * and its actions have room.
 */
#ifndef TESTS_SCHEDULE_AGENT_H
#define TESTS_SCHEDULE_AGENT_H

#include "models/agent.h"
#include "tests/rigs/schedule.h"

enum { SCHEDULE_DUE = 4096 }; /* events to come */

/* A condition that is to hold: the first that does not is told. */
#define schedule_must(agent, cond, sentence)                                   \
	do {                                                                   \
		if (!(cond) && !(agent)->broken)                               \
			(agent)->broken = (sentence);                          \
	} while (0)

struct schedule_agent {
	const struct agent_ops *ops;
	const void *params;
	unsigned char
	    *state; /* of ops->state_size, and what it may not touch */
	struct sim_rng rng;
	sim_ns t, skew; /* its clock stands at t + skew */
	int by_clock;   /* timers wait for the clock, jumps and all */
	struct schedule_due {
		sim_ns at; /* of its clock, or of t */
		int by_clock;
		struct agent_event ev;
	} due[SCHEDULE_DUE];
	size_t n_due, n_timers; /* n_timers: of these, timers */
	struct agent_out out;
	const char *broken;
	struct schedule_tally *tally;

	/* Called after each step with OUT. */
	void (*took)(void *world, const struct agent_event *ev);
	void *world;
};

/* Begin with STATE, [schedule_agent_room()] bytes of whatever; members that are
 * named above `state`, and from `tally` on, are set by the caller, as are t and
 * skew. Starts the agent. */
size_t schedule_agent_room(const struct agent_ops *ops);
void schedule_agent_begin(struct schedule_agent *a, unsigned char *state,
    const struct sim_seed *where);

/* The agent is made anew, as when its host starts again. What was to come to the
 * old one is gone. */
void schedule_agent_restart(struct schedule_agent *a);

void schedule_agent_step(struct schedule_agent *a,
    const struct agent_event *ev);

/* EV comes in BY. */
void schedule_agent_post(struct schedule_agent *a, sim_ns by,
    const struct agent_event *ev);

/* Time passes, and what is due comes in order. */
void schedule_agent_pass(struct schedule_agent *a, sim_ns by);

/* Time passes, and what is due comes late, after it. */
void schedule_agent_hang(struct schedule_agent *a, sim_ns by);

#endif
