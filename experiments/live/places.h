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

#endif
