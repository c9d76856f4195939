/* experiments/live/places.c -- places that have shown who they are.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/places.h"

/* Each place has one slot that it may be in, so a lookup is one look. */
static uint32_t place_slot(uint64_t place)
{
	const uint64_t x = place * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)((x ^ x << 29) >> (64 - 14));
}

void xp_places_add(struct xp_places *p, uint64_t place)
{
	p->place[place_slot(place)] = place;
}

int xp_places_has(const struct xp_places *p, uint64_t place)
{
	return place != 0 && p->place[place_slot(place)] == place;
}
