/* experiments/live/places.h -- places that have shown who they are.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A place is that of models/real/place.h. There is room for a fixed number: one that
 * is forgotten for another is a stranger until it shows that again.
 */
#ifndef EXPERIMENTS_LIVE_PLACES_H
#define EXPERIMENTS_LIVE_PLACES_H

#include <stdint.h>

/* Zeroed, it has none. */
struct xp_places {
	uint64_t place[1 << 14];
};

void xp_places_add(struct xp_places *p, uint64_t place);
int xp_places_has(const struct xp_places *p, uint64_t place);

/* Who is on trial: in the clear nobody shows who he is, but who sends like an agent
 * for a while has at least cost himself that. Zeroed, nobody is. */
enum {
	XP_TRIAL_MARKS = 3,
	XP_TRIAL_APART_S = 300, /* from one mark to the next, at least */
	XP_TRIAL_GAP_S = 900,   /* without a batch: from the beginning */
};
struct xp_trials {
	struct xp_trial {
		uint64_t place, marked_ms, last_ms;
		uint32_t n_marks;
	} of[1 << 12];
};

/* A new batch of PLACE came NOW: 1 if it has passed, that is, if some of its batches
 * came so far apart, with no longer gap between any two. A place whose slot somebody
 * else is on trial in waits until he has passed or is silent. */
int xp_trials_batch(struct xp_trials *t, uint64_t place, uint64_t now_ms);

#endif
