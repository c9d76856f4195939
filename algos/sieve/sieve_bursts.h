/* algos/sieve/sieve_bursts.h -- flows that lost many packets at once, to a queue.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. A queue that overflows takes several packets of a flow at a
 * time, which the binomial takes for proof of a bad link, since its losses are
 * independent. So, where a window shows such flows, a link joins only if its
 * failure says more than bursts would: each flow over it meets one with
 * probability rho (law QUEUE of sieve_sudden.h). Flows that are rather of bursts lose
 * nothing any more, as far as hazards go. No link that bursts explain joins with a
 * switch.
 *
 * Asked of all windows this would cost: a long flow over a bad link looks like a
 * burst on its healthy neighbour. So a window is searched as if there were none;
 * and again with them if flows are left that what was found does not explain, as
 * many as 1 in 250 of those that lost something, and 3 at least.
 */
#ifndef ALGOS_SIEVE_SIEVE_BURSTS_H
#define ALGOS_SIEVE_SIEVE_BURSTS_H

#include "sim/err.h"
#include "topo/topo.h"

struct sieve_search;
struct sieve_candidate;

/* Zeroed is off. */
struct sieve_bursts {
	int on;
	uint8_t *is_full; /* [links] bursts explain it */
	size_t cap_full;
};
void sieve_bursts_free(struct sieve_bursts *b);

/* Whether a search that has run leaves flows that lost too many at once. */
int sieve_bursts_show(const struct sieve_search *s);

/* Search again with them. Errors SIM_ENOMEM. Cost O(rows * path lengths) and
 * another search. */
int sieve_bursts_run(struct sieve_search *s, struct sim_err *e);

/* Whether bursts say more of candidate C than its failure; then rows that are
 * rather theirs lose nothing any more, and what depends on them is stale. */
int sieve_bursts_take(struct sieve_search *s, const struct sieve_candidate *c);

/* The same, but nothing is taken. */
int sieve_bursts_say(const struct sieve_search *s,
    const struct sieve_candidate *c);

#endif
