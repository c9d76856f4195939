/* algos/sieve/sieve_chances.h -- how likely each candidate is to have failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve.
 */
#ifndef ALGOS_SIEVE_SIEVE_CHANCES_H
#define ALGOS_SIEVE_SIEVE_CHANCES_H

#include "algos/sieve/sieve_search.h"

/* The chance of each candidate in the list of a search that has run, given the
 * others as they were found, and what all say of how many failed (sieve_share.h).
 * Where paths are known links that the search ruled out come into the list. Links
 * that explain the same losses exclude each other, more or less: where none was
 * accepted they share; one or two that were share with others that crossed the same
 * rows (sieve_trade.h), and else one, on odds below exp(12), with any that would stand
 * in its place, which may add candidates. Links that are not in the list have chances
 * that nobody needs: about the odds before the window, each. Accused switches come
 * into the list, as n_links + their ids, and nothing may be asked of the search after
 * that but what is of links. Errors SIM_ENOMEM. */
int sieve_chances(struct sieve_search *s, struct sim_err *e);

/* What is thought of a link: the chance that it failed, and its hazard if it
 * did and if it did not. */
struct sieve_belief {
	double chance, failed, healthy;
};

/* Of each link, also of those that are not in the list, whose chance is what the
 * window leaves of the odds before it; after sieve_chances().
 * Shape belief[links]. Cost O(links * grid points) and O(lossy rows). */
void sieve_chances_all(const struct sieve_search *s,
    struct sieve_belief belief[]);

#endif
