/* sim/slope.h -- slopes of runs, and whether they have a sign.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each run gives one slope, of all that it measured, and runs are independent.
 * So the question "does Y grow with X?" is one of N independent numbers: is
 * their mean above 0 by more than chance? What is counted within a run may
 * depend on each other as it likes.
 */
#ifndef SIM_SLOPE_H
#define SIM_SLOPE_H

#include <stddef.h>

#include "sim/err.h"
#include "sim/rng.h"

/* The slope of the line of least squares through (X[i], Y[i]). NaN of fewer than
 * two places, and where all X are one. Cost O(n). */
double sim_slope(const double x[], const double y[], size_t n);

/* Up to so many numbers all signs are tried; else so many draws of them. */
enum { SIM_SIGNS_EXACT = 20, SIM_SIGNS_DRAWS = 1 << 20 };

/* Two-sided p-value of "a number is as likely B as -B, independently of the
 * others": the share of all 2^n choices of signs whose sum of +-B[i] is at least
 * as far from 0 as the sum of B is. Under it P(p <= a) <= a for every a, whatever
 * the law of B is, with equality at multiples of 2^(1-n) where no two sums are
 * equal; the least p there is is 2^(1-n). Sums within 1e-12 of sum |B| of each
 * other count as equal.
 *
 * Of more than SIM_SIGNS_EXACT numbers signs are drawn, by SIM_STREAM_SIGNS and
 * ENTITY of seed 0, and the choice that was observed counts as one of the draws:
 * p = (1 + hits) / (1 + draws), for which the same holds, over draws and data.
 *
 * Without a number NaN. Cost O(2^n), at most 10 ms; drawn, O(n) a draw.
 * Paper  R. Fisher, "The Design of Experiments" (1935), section 21; drawn:
 *        B. Phipson, G. Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010). */
double sim_signs_p(const double b[], size_t n, uint32_t entity);

/* The least that it can be: of N numbers, none of them 0. */
double sim_signs_least(size_t n);

#endif
