/* experiments/live/places.c -- places that have shown who they are.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/places.h"

/* Each place has one slot that it may be in, so a lookup is one look. */
static uint32_t place_slot(uint64_t place, int bits)
{
	const uint64_t x = place * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)((x ^ x << 29) >> (64 - bits));
}

void xp_places_add(struct xp_places *p, uint64_t place)
{
	p->place[place_slot(place, 14)] = place;
}

int xp_places_has(const struct xp_places *p, uint64_t place)
{
	return place != 0 && p->place[place_slot(place, 14)] == place;
}

int xp_trials_batch(struct xp_trials *t, uint64_t place, uint64_t now_ms)
{
	struct xp_trial *x = &t->of[place_slot(place, 12)];
	const int is_over = x->n_marks == 0 ||
	    now_ms - x->last_ms > 1000 * (uint64_t)XP_TRIAL_GAP_S;
	if (place == 0 || (!is_over && x->place != place))
		return 0;
	if (is_over)
		*x = (struct xp_trial){.place = place};
	x->last_ms = now_ms;
	if (x->n_marks == 0 ||
	    now_ms - x->marked_ms >= 1000 * (uint64_t)XP_TRIAL_APART_S) {
		x->marked_ms = now_ms;
		x->n_marks++;
	}
	if (x->n_marks < XP_TRIAL_MARKS)
		return 0;
	*x = (struct xp_trial){0};
	return 1;
}
