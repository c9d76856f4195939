/* tests/rigs/sieve_enumerate.h -- chances of links from all sets of up to two.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_SIEVE_ENUMERATE_H
#define TESTS_SIEVE_ENUMERATE_H

#include "algos/sieve/sieve_search.h"

/* Chance[l] by enumeration, healthy links at the mean that the search S learnt and
 * failed ones under the flat slab. A pair's evidence sums over both hazards; its
 * curves are Sieve's, whose own tests ask whether they are right, so that all
 * telemetries end in time; tests/rigs/sieve_exact.h has none of Sieve's. Cost O(links^2
 * * SIEVE_GRID) curves. */
void sieve_enumerate(struct sieve_search *s, double chance[]);

#endif
