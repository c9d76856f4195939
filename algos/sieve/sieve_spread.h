/* algos/sieve/sieve_spread.h -- chances of what flows of no known path are alike in.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve.
 */
#ifndef ALGOS_SIEVE_SIEVE_SPREAD_H
#define ALGOS_SIEVE_SIEVE_SPREAD_H

#include "algos/sieve/sieve_search.h"

/* A link was accepted in place of any of its class, and a switch in place of any
 * whose links are of the same classes: where nothing else was observed of them,
 * spread what the list has of a class, and of accused switches, evenly over all
 * who are alike, of whom some come into the list. Errors SIM_ENOMEM. Cost
 * O(links). */
int sieve_spread(struct sieve_search *s, struct sim_err *e);

#endif
