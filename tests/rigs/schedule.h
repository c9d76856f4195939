/* tests/rigs/schedule.h -- seeded schedules of a machine, checked at every step.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A schedule is a list of steps: what happens to a machine, each a kind and two
 * numbers. It is drawn from (seed, run) alone. After every step the machine
 * says whether all that it promises still holds. Where something does not, the
 * schedule is made shorter as long as that same promise is still broken: steps
 * are left out, many at a time and then one by one, and numbers made smaller.
 * What is left is printed, so a defect comes as the few steps that lead to it.
 *
 * For that any list of steps must be a schedule, whatever was left out of it: a
 * step's numbers say "the X-th of those that there are", and where there are none
 * the step does nothing.
 */
#ifndef TESTS_SCHEDULE_H
#define TESTS_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/rng.h"
#include "sim/time.h"

enum {
	SCHEDULE_MOST = 512, /* steps */
	SCHEDULE_SEEN = 40,  /* kinds of what is counted */
	SCHEDULE_KINDS = 32,
};

struct schedule_step {
	uint32_t kind, x, y;
};

/* How often such a step is drawn, of all weights together. */
struct schedule_kind {
	const char *name;
	uint32_t weight;
};

/* What a machine counts, to show that schedules reach what they are to reach. */
struct schedule_tally {
	uint64_t n_schedules, n_steps;
	uint64_t hash; /* of the last schedule */
	uint64_t seen[SCHEDULE_SEEN];
};

/* A machine and the world around it. LIFE is a block of `size` bytes, whatever it
 * held. What they draw comes from streams that WHERE names, so the same steps do
 * the same. Each function returns NULL, or the sentence that does not hold. */
struct schedule_machine {
	const char *name;
	const struct schedule_kind *kind; /* ends with a NULL name */
	const char *const *seen;          /* what is counted, likewise */
	uint64_t rare; /* bit I: of seen[I] there may be none at all */
	uint32_t n_least, n_most; /* steps */
	uint32_t n_tries;         /* lives that shrinking may take; 0: 20,000 */
	size_t size;
	const char *(*begin)(void *life, const struct sim_seed *where,
	    struct schedule_tally *tally);
	const char *(*step)(void *life, struct schedule_step s);
	const char *(*end)(void *life); /* may be NULL, as what follows */
	/* Of all that happened, asked for after the end. */
	uint64_t (*hash)(const void *life);
	void (*close)(void *life);
};

struct schedule_found {
	const char *broken; /* NULL: nothing was */
	uint64_t seed;
	uint32_t run;
	size_t n, n_drawn; /* steps: the shortest, and as drawn */
	struct schedule_step step[SCHEDULE_MOST];
};

/* Live through the steps of F. Returns what was broken, or NULL. */
const char *schedule_live(const struct schedule_machine *m,
    const struct schedule_found *f, struct schedule_tally *tally);

/* The schedules of runs FIRST to FIRST + N - 1 until one breaks something, which
 * is then shrunk. Returns 1 if one did. */
int schedule_search(const struct schedule_machine *m, uint64_t seed,
    uint32_t first, uint32_t n, struct schedule_found *f,
    struct schedule_tally *tally);

/* The same as a test: SCHEDULES=n in the environment tries n of them rather than
 * N, SCHEDULES_FIRST=k from the k-th. Fails with the shortest schedule; and when
 * of a thousand or more none reached something that is counted. */
void schedule_hold(const struct schedule_machine *m, uint32_t n);

/* A schedule that was found, as a test: it must hold now. */
void schedule_hold_steps(const struct schedule_machine *m, uint32_t run,
    const struct schedule_step step[], size_t n);

/* A time that X names: nothing, or from a millionth of LONGEST to all of it, of each
 * order of magnitude as often. A smaller X is a shorter time. */
sim_ns schedule_time(uint32_t x, sim_ns longest);

#endif
