/* algos/sieve/sieve_lanes.h -- arithmetic on all points of the grid at once.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Arrays have SIEVE_GRID numbers, and none may overlap another.
 * Each is worked on by itself and in one way, whatever the machine's vectors
 * are, so that all machines answer alike. exp and ln are right to some 1e-14.
 */
#ifndef ALGOS_SIEVE_SIEVE_LANES_H
#define ALGOS_SIEVE_SIEVE_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { SIEVE_GRID = 32 };

/* Of one number: fmax() and fmin() are calls. */
static inline double sieve_max(double x, double y)
{
	return x > y ? x : y;
}
static inline double sieve_min(double x, double y)
{
	return x < y ? x : y;
}

/* exp(x) - 1; of small X by a series, to 1e-13. */
static inline double sieve_expm1(double x)
{
	static const double SMALL = .05;
	double y = 1 + x * (1. / 8);
	if (x > SMALL || x < -SMALL)
		return expm1(x);
	y = 1 + x * (1. / 7) * y;
	y = 1 + x * (1. / 6) * y;
	y = 1 + x * (1. / 5) * y;
	y = 1 + x * (1. / 4) * y;
	y = 1 + x * (1. / 3) * y;
	return x * (1 + x * .5 * y);
}

/* 1 / (exp(x) - 1). */
static inline double sieve_ic(double x)
{
	return 1 / sieve_expm1(x);
}

/* One row as a factor: (1 + p[g] ic)^n. */
struct sieve_factor {
	double ic;
	uint32_t n;
};

/* y = exp(x); below exp(-700) and above exp(700) as these. */
void sieve_lanes_exp(const double x[restrict], double y[restrict]);

/* to += n ln(x). Domain x above 0, and no subnormal number. */
void sieve_lanes_add_ln(const double x[restrict], double n,
    double to[restrict]);

/* to += times x. */
void sieve_lanes_add(const double x[restrict], double times,
    double to[restrict]);

/* ell += sum of ln of N factors. Domain 0 <= p < 1, ic >= 0. */
void sieve_lanes_factors(const double p[restrict],
    const struct sieve_factor f[restrict], size_t n, double ell[restrict]);

/* The same of SIEVE_COARSE points. */
enum { SIEVE_COARSE = 8 };
void sieve_lanes_coarse_factors(const double p[restrict],
    const struct sieve_factor f[restrict], size_t n, double ell[restrict]);

/* to = sum over bins that are not empty of n ln(1 + a / n lost[b / 2]), a row of
 * LOST having as many numbers as TO: SIEVE_GRID or, coarse, SIEVE_COARSE, which
 * ascend. No term counts for less than 1e-3. */
struct sieve_bin {
	double n, a; /* rows; sum of what each has */
};
void sieve_lanes_bins(const struct sieve_bin bin[restrict], unsigned n_bins,
    const double lost[restrict], double to[restrict]);
void sieve_lanes_coarse_bins(const struct sieve_bin bin[restrict],
    unsigned n_bins, const double lost[restrict], double to[restrict]);

/* to *= (b + a x)^n. */
void sieve_lanes_either(const double x[restrict], double a, double b,
    uint32_t n, double to[restrict]);

/* to *= b + x sum of N terms a (1 + p ic)^power. */
struct sieve_term {
	double a, ic;
};
void sieve_lanes_terms(const double p[restrict], const double x[restrict],
    const struct sieve_term t[restrict], size_t n, uint32_t power, double b,
    double to[restrict]);

/* y = ln(1 - q + q exp(t)), q being above 0 and 1 at most; of large t as ln(q) +
 * t. */
void sieve_lanes_mix(const double t[restrict], double q, double y[restrict]);

/* The greatest of x + y, and of all exp(x + y - greatest) in Z. */
double sieve_lanes_scale(const double x[restrict], const double y[restrict],
    double z[restrict]);

/* Sum of all x, and of all x y, each always in one order. */
double sieve_lanes_sum(const double x[restrict]);
double sieve_lanes_dot(const double x[restrict], const double y[restrict]);

#endif
