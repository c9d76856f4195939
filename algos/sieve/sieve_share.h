/* algos/sieve/sieve_share.h -- what share of all components failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Before the window, with chance 1 - any nothing failed; else
 * something did, and each component with a chance, the share, which is drawn from
 * Beta(1, 1 + rare), cut off at a half. So of n components k fail, and one more with
 * odds
 *
 *	(k + 1) / (thin (n - k + rare))
 *
 * as if `rare` components more had been seen to work; which in a large network makes any small number of failures about as likely as
 * any other, but never a good part of a small one: there all that lose somewhat
 * more than others would be taken to have failed, each because the others did.
 * A component whose Bayes factor of failed against healthy is b counts as
 *
 *	1 - share + share b / thin
 *
 * in the likelihood of a share. So many that each are somewhat likely to have
 * failed tell that some did, which none of them does alone; and those that
 * certainly did not tell that failures are rare.
 *
 * Two components that explain the same losses do not both count. If of some,
 * whose factors sum to B, one failed at most, the likelihood is 1 + o B, o being the
 * odds of the share; of its logarithm each has the part that its factor is of B.
 */
#ifndef ALGOS_SIEVE_SIEVE_SHARE_H
#define ALGOS_SIEVE_SIEVE_SHARE_H

#include "algos/sieve/sieve_lanes.h"

enum { SIEVE_SHARES = SIEVE_GRID };

struct sieve_share {
	double odds[SIEVE_SHARES];   /* share / (1 - share) / thin, ascending */
	double weight[SIEVE_SHARES]; /* in the end: of each, they sum to 1 */
	double none;                 /* chance that nothing failed */
	/* What the chance of one to have failed, if each may or not, is to be
	 * multiplied by. It can be above 1: something did fail. */
	double any;
};

/* Of N components, of which none was taken yet: they are as if their factors were
 * 0. Cost O(SIEVE_SHARES), as of all here. */
void sieve_share_begin(struct sieve_share *h, double n, double thin,
    double rare);

/* N of them have a factor, of which this is the logarithm, and each is beside
 * others for the same losses, whose factors sum to RIVALS. */
void sieve_share_take(struct sieve_share *h, double n, double ln_factor,
    double rivals);

/* All are taken; ANY is the chance before them that something failed. */
void sieve_share_end(struct sieve_share *h, double any);

/* ln of the odds of one that was taken with LN_FACTOR, by what the others say, if
 * each may fail or not. */
double sieve_share_ln_odds(const struct sieve_share *h, double ln_factor);

/* How many of N that were taken with LN_FACTOR are expected to have failed. */
double sieve_share_expects(const struct sieve_share *h, double n,
    double ln_factor);

#endif
