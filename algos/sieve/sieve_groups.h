/* algos/sieve/sieve_groups.h -- links that equal paths do not tell apart.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Links that are on the same sets of paths, each time on the
 * same share of them, are a group, as are the cables of a ToR in one direction:
 * who knows but where a flow began and ended expects as much of each.
 */
#ifndef ALGOS_SIEVE_SIEVE_GROUPS_H
#define ALGOS_SIEVE_SIEVE_GROUPS_H

#include "algos/rivals/ways.h"

/* Zeroed is empty; kept from one window to the next. */
struct sieve_groups {
	struct algo_ways ways;
	size_t n;         /* the first are cables: 2 * ToR + direction */
	uint32_t *of;     /* [links] */
	uint32_t *n_here; /* [n] links of a group */
	uint32_t *off;    /* [sets + 1] groups on set k are on[off[k]] ... */
	uint32_t *on;
	double *share; /* by on[]: of the set's paths over one of its links */
	struct sieve_group_key {
		uint64_t key;
		topo_link link;
	} * key; /* [links] scratch */
	size_t cap_of, cap_here, cap_off, cap_on, cap_share, cap_key;
};
void sieve_groups_free(struct sieve_groups *x);

/* Bring X up to date with paths P of T. Errors SIM_ENOMEM. Cost O(sets), and
 * O(links log links + lengths of paths) if there are other paths than before. */
int sieve_groups_update(struct sieve_groups *x, const struct topo *t,
    const struct obs_paths *p, struct sim_err *e);

#endif
