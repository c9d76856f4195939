/* algos/millisampler/sketch.h -- how many connections a sketch stands for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Linear counting: of N connections that fall on 128 bits, 128 exp(-N / 128)
 * are expected to miss a bit, so N is estimated from the bits that are unset.
 * It is right to a few hundredths up to 100 connections and to .15 at 500,
 * where all bits are set in one sketch of 15; what is above can't be told.
 *
 * Paper  Millisampler (IMC'22): precise to a dozen, saturates near 500.
 */
#ifndef ALGOS_MILLISAMPLER_SKETCH_H
#define ALGOS_MILLISAMPLER_SKETCH_H

#include "models/obs_sketch.h"

/* -128 ln(unset / 128) for N_SET bits. With all of them set, as if one were
 * not, 621.06: a lower bound and no estimate, algo_sketch_is_full().
 * Domain n_set <= 128. */
double algo_sketch_estimate(uint32_t n_set);

static inline int algo_sketch_is_full(const struct obs_sketch *s)
{
	return (s->lo & s->hi) == UINT64_MAX;
}

/* The estimate of a sketch, rounded, as tables have it. */
uint32_t algo_sketch_conns(const struct obs_sketch *s);

/* The exact law of the estimate: P[k] is the probability that N connections
 * set K bits. Shape p[129], overwritten. Cost O(128 n). */
void algo_sketch_law(uint32_t n, double p[OBS_SKETCH_BITS + 1]);

/* What that law makes of the estimate: its mean; the least and the greatest value
 * that leave (1 - CONF) / 2 or less below and above them; the probability that
 * all bits are set. */
struct algo_sketch_told {
	double mean, lo, hi, full;
};
void algo_sketch_tell(uint32_t n, double conf, struct algo_sketch_told *t);

#endif
