/* tests/rigs/oracle_cover.h -- the smallest set of links that explains all failures.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_ORACLE_COVER_H
#define TESTS_ORACLE_COVER_H

#include <stddef.h>

#include "models/obs.h"

/* Size of the smallest set of links such that every flow of W with a
 * retransmission and a known hop crosses one of them. By exhaustive search:
 * some link of the first flow not covered must be in the set.
 * Domain tiny windows. Cost O(hops ^ size). */
size_t oracle_min_cover(const struct obs *w);

#endif
