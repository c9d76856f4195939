/* experiments/check/place.h -- which points of results a claim means.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A place is the index of a point along each axis of the results.
 */
#ifndef EXPERIMENTS_CHECK_PLACE_H
#define EXPERIMENTS_CHECK_PLACE_H

#include "experiments/check/claim.h"
#include "results/cube.h"

/* The axis and coordinate of that name; 0 if there is none. */
int xp_place_find(const struct res_cube *c, const char *name, size_t *axis,
    const struct res_coord **coord);

/* A place is meant if it is within all of `at`. */
int xp_place_is_meant(const struct xp_claim *c, const struct res_cube *cube,
    const size_t place[]);

/* Is an axis one of those that the claim says are a guess? */
int xp_place_is_guess(const struct xp_claim *c, const struct res_axis *a);

/* Write the place along the axes that are a guess, by the last part of their
 * names, or along the others. */
void xp_place_name(const struct xp_claim *claim, const struct res_cube *c,
    const size_t place[], int guess, char *buf, size_t size);

#endif
