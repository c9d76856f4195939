/* algos/everflow/ecmp_cause.h -- why flows may be spread as they are.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How likely counts of flows by next hop are under each cause, as logarithms.
 * All leave out the same factor, the number of orders of the flows, so that of
 * the same counts they can be held against each other, and of two parts of the
 * flows added up. What a cause leaves open is averaged over.
 */
#ifndef ALGOS_EVERFLOW_ECMP_CAUSE_H
#define ALGOS_EVERFLOW_ECMP_CAUSE_H

#include <stddef.h>
#include <stdint.h>

/* Each next hop has the same share. */
double algo_ecmp_even(const double count[], uint32_t n);

/* One of them, any, has w times the share of each other, log w even on 2^-4 to
 * 2^4 in steps of a quarter, 0 left out. Cost O(n). */
double algo_ecmp_weights(const double count[], uint32_t n);

/* Only m of them are used, which alike; each m from 1 to n - 1 as likely, and
 * each choice of them. */
double algo_ecmp_narrowed(const double count[], uint32_t n);

/* There are 2^bits sorts of flows, each as many, and each sort goes to one next
 * hop, drawn at random. Exact: the sum over all ways to share out the sorts, by
 * convolution. Domain bits <= ALGO_ECMP_MAX_BITS. Cost O(n 4^bits). */
enum { ALGO_ECMP_MAX_BITS = 7 };
double algo_ecmp_bits(const double count[], uint32_t n, uint32_t bits);

/* Causes of how a thing is, with how likely each is before anything is seen. */
enum { ALGO_ECMP_MAX_CAUSES = 12 };
struct algo_ecmp_prior {
	uint32_t n_causes;
	double of[ALGO_ECMP_MAX_CAUSES]; /* sum 1 */
	double other;                    /* a, below */
};
struct algo_ecmp_likely {
	double of[ALGO_ECMP_MAX_CAUSES]; /* logarithms */
};

/* For each of N things the likelihoods L[i] of causes: the causes CAUSE[i] that
 * are likeliest together, if of i things before it n_c had cause c, and it has
 * that, too, with a chance of (n_c + a of[c]) / (i + a) (Polya's urn). So one
 * cause of all is likelier than several, and a thing is an exception if its own
 * counts say so. -INFINITY: that can't be. The best of climbs from the best of
 * each alone and from one cause for all. Cost O(n n_causes^2) times a few. */
void algo_ecmp_causes(const struct algo_ecmp_likely l[], size_t n,
    const struct algo_ecmp_prior *p, uint8_t cause[]);

#endif
