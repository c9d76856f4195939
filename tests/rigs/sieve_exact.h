/* tests/rigs/sieve_exact.h -- the posterior of failed links that Sieve stands for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each link is healthy or failed, k of them with odds (k + 1) / (thin (n - k +
 * rare)) of one more; hazards are points of a grid, drawn from the law of healthy or of
 * failed ones. A row of s packets, of which r were lost, on one of w equal paths
 * has the likelihood
 *
 *	mean over its paths of (1 - exp(-sum))^r exp(-(s - r) sum)
 *
 * as it is written, whatever is known of its path; rows that there are only
 * because they lost something (A2 alone) need another one. No switch fails as
 * such.
 *
 * Two ways to the chances of links. All sets of up to two, hazards of failed ones
 * summed over and healthy ones at their mean, ends for some hundred links. Gibbs
 * sampling ends nowhere, but takes any number of failures and each healthy hazard
 * from its law; with LEVEL and MOST 2 it samples the same posterior as the sets.
 */
#ifndef TESTS_SIEVE_EXACT_H
#define TESTS_SIEVE_EXACT_H

#include "models/obs_tallies.h"
#include "sim/rng.h"
#include "topo/topo.h"

enum { EXACT_GRID = 32 };

/* What it is about, to be filled in; zero is a good value of the last three. */
struct sieve_exact {
	const struct topo *topo;
	const struct obs_tallies *rows;
	double x[EXACT_GRID];       /* hazards */
	double healthy[EXACT_GRID]; /* weights */
	double slab[EXACT_GRID];    /* of failed ones, none being known */
	double mean;                /* of healthy ones */
	double n_parts, thin, rare;
	int level;     /* healthy links are at their mean */
	int kernels;   /* a failed link draws from Gauss' law, sd 1 nat, around
			  each other failed one, too */
	uint32_t most; /* failures; 0: any number */

	/* The rest is its own. */
	double *kept;   /* [links] of rows without a loss and with one path */
	double *hazard; /* [links] */
	uint8_t *failed;
	uint32_t n_failed;
	uint32_t *off, *over; /* rows over a link that are not in kept */
};

void sieve_exact_open(struct sieve_exact *x);
void sieve_exact_close(struct sieve_exact *x);

/* CHANCE[links] of all sets of up to two. */
void sieve_exact_sets(struct sieve_exact *x, double chance[]);

/* CHANCE[links], the mean of N sweeps over all links after N / 4 that do not
 * count. A sweep draws each link given all others, and then proposes that failed
 * links change places with healthy ones. What is averaged are the chances that
 * each link was drawn with. */
void sieve_exact_gibbs(struct sieve_exact *x, struct sim_rng *r, uint32_t n,
    double chance[]);

#endif
