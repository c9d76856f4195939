/* tests/rigs/flock_value.h -- Flock's likelihood, as the paper has it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_FLOCK_VALUE_H
#define TESTS_FLOCK_VALUE_H

#include "algos/rivals/flock.h"
#include "models/obs_tallies.h"

/* LL(H) - LL({}) of ROWS, H being the components c with IN[c] set, and without
 * their priors. Cost O(rows * paths * length). */
double flock_value(const struct topo *t, const struct obs_tallies *rows,
    const struct algo_flock_params *p, const uint8_t in[]);

#endif
