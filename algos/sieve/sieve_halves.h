/* algos/sieve/sieve_halves.h -- packets on links, by halves of ways.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Ways up from a switch are the same whatever ToR they then go
 * down to. So the first halves of a set's paths, in their order, are mostly those
 * of other sets from that switch, and last halves of sets to it: such stand once.
 * A packet counts on two halves, found without a look at its path, and links are
 * gone through once a half, of which there are few beside paths.
 */
#ifndef ALGOS_SIEVE_SIEVE_HALVES_H
#define ALGOS_SIEVE_SIEVE_HALVES_H

#include "models/obs_paths.h"

/* Of a set its first path, how many there are, and the numbers of the halves of
 * the first; others' follow. */
struct sieve_halves_set {
	uint32_t first, n, head, tail;
};

/* Halves of the paths of SET, that others may have too: from number FIRST on. */
struct sieve_halves_block {
	uint32_t set, first, next;
	uint32_t is_tail;
};

/* Zeroed is empty; kept from one window to the next. */
struct sieve_halves {
	const struct obs_paths *of; /* borrowed, of the last window */
	uint32_t n_cleared;
	size_t n_sets, n_blocks;
	uint32_t n; /* halves */
	struct sieve_halves_set *set;
	struct sieve_halves_block *block;
	uint32_t
	    *chain;  /* [2 * switches] 1 + the last block of a switch's heads
			    and tails, 0: none */
	double *sum; /* [n] packets */
	size_t cap_set, cap_block, cap_chain, cap_sum;
};
void sieve_halves_free(struct sieve_halves *h);

/* Bring H up to date with paths P, of a network of so many switches; all sums
 * are 0. Errors SIM_ENOMEM. Cost O(halves), and O(links of paths that are
 * new). */
int sieve_halves_begin(struct sieve_halves *h, const struct obs_paths *p,
    uint32_t n_switches, struct sim_err *e);

/* N packets took path K of a set, from 0 on. */
static inline void sieve_halves_count(struct sieve_halves *h,
    const struct sieve_halves_set *set, uint32_t k, double n)
{
	h->sum[set->head + k] += n;
	h->sum[set->tail + k] += n;
}

/* Add all that was counted to ON[link]. Cost O(links of halves). */
void sieve_halves_end(const struct sieve_halves *h, double on[]);

#endif
