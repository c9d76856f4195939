/* algos/sieve/sieve_lanes.c -- arithmetic on all points of the grid at once.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plain loops that GCC vectorises at -O3 (set for this file in the Makefile),
 * compiled once a target, of which the machine's is taken as the program starts.
 * Products are not contracted with sums (the Makefile's -ffp-contract=off) and no
 * sum is split by vectors, so that each target has the same bits.
 */
#include "algos/sieve/sieve_lanes.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif
#define LANE    static inline __attribute__((always_inline))
#define EACH(g) for (unsigned g = 0; g < SIEVE_GRID; g++)

/* The greater of x and LEAST; and the less. A comparison of numbers may trap, and
 * is not vectorised; the sign of their difference is. */
LANE double sieve_lane_take(double x, double other, double less)
{
	uint64_t mask, x_bits, bits;
	memcpy(&mask, &less, sizeof(mask));
	memcpy(&x_bits, &x, sizeof(x_bits));
	memcpy(&bits, &other, sizeof(bits));
	mask = 0 - (mask >> 63);
	bits = (x_bits & ~mask) | (bits & mask);
	memcpy(&x, &bits, sizeof(x));
	return x;
}
LANE double sieve_lane_max(double x, double least)
{
	return sieve_lane_take(x, least, x - least);
}
LANE double sieve_lane_min(double x, double most)
{
	return sieve_lane_take(x, most, most - x);
}

/* e^x is 2^k e^r, |r| at most ln(2) / 2, by its series. Adding 1.5 * 2^52 rounds
 * to a whole number, which is then in the last bits. */
LANE double sieve_lane_exp(double x)
{
	static const double MOST = 700, ROUND = 0x1.8p52,
			    LN2_HIGH = 0x1.62e42fefa0000p-1,
			    LN2_LOW = 0x1.cf79abc9e3b3ap-40;
	x = sieve_lane_min(sieve_lane_max(x, -MOST), MOST);
	const double k = x * M_LOG2E + ROUND, whole = k - ROUND,
		     r = (x - whole * LN2_HIGH) - whole * LN2_LOW;
	double y = 1. / 39916800;
	y = y * r + 1. / 3628800;
	y = y * r + 1. / 362880;
	y = y * r + 1. / 40320;
	y = y * r + 1. / 5040;
	y = y * r + 1. / 720;
	y = y * r + 1. / 120;
	y = y * r + 1. / 24;
	y = y * r + 1. / 6;
	y = y * r + .5;
	y = y * r + 1;
	y = y * r + 1;
	uint64_t bits, power;
	memcpy(&power, &k, sizeof(power));
	memcpy(&bits, &y, sizeof(bits));
	bits += power << 52;
	memcpy(&y, &bits, sizeof(y));
	return y;
}

/* The mantissa is from sqrt(1/2) to sqrt(2), near enough. */
LANE double sieve_lane_ln(double x)
{
	static const double LN2_HIGH = 0x1.62e42fefa0000p-1,
			    LN2_LOW = 0x1.cf79abc9e3b3ap-40, WHOLE = 0x1p52;
	const uint64_t ROOT = UINT64_C(0x3fe6a09e00000000),
		       EXPONENT = UINT64_C(0xfff0000000000000);
	uint64_t bits, moved, power;
	double k;
	memcpy(&bits, &x, sizeof(bits));
	moved = bits - ROOT + (UINT64_C(1024) << 52);
	bits -= (moved & EXPONENT) - (UINT64_C(1024) << 52);
	memcpy(&x, &bits, sizeof(x));
	memcpy(&power, &WHOLE, sizeof(power));
	power |= moved >> 52;
	memcpy(&k, &power, sizeof(k));
	k -= WHOLE + 1024;
	const double t = (x - 1) / (x + 1), u = t * t;
	double y = 1. / 17;
	y = y * u + 1. / 15;
	y = y * u + 1. / 13;
	y = y * u + 1. / 11;
	y = y * u + 1. / 9;
	y = y * u + 1. / 7;
	y = y * u + 1. / 5;
	y = y * u + 1. / 3;
	return k * LN2_HIGH + (k * LN2_LOW + (2 * t * u * y + 2 * t));
}

WIDE void sieve_lanes_exp(const double x[restrict], double y[restrict])
{
	EACH(g)
	y[g] = sieve_lane_exp(x[g]);
}

WIDE void sieve_lanes_add_ln(const double x[restrict], double n,
    double to[restrict])
{
	EACH(g)
	to[g] += n * sieve_lane_ln(x[g]);
}

WIDE void sieve_lanes_add(const double x[restrict], double times,
    double to[restrict])
{
	EACH(g)
	to[g] += times * x[g];
}

/* The first N of all. */
#define SOME(g) for (unsigned g = 0; g < n_points; g++)

/* to *= x^n, X being lost. */
LANE void sieve_lane_power(unsigned n_points, double x[restrict], uint32_t n,
    double to[restrict])
{
	for (; n > 1; n >>= 1) {
		if (n & 1)
			SOME(g)
		to[g] *= x[g];
		SOME(g)
		x[g] *= x[g];
	}
	if (n > 0)
		SOME(g)
	to[g] *= x[g];
}

/* ell += ln of PRODUCT, which is 1 again. */
LANE void sieve_lane_flush(unsigned n_points, double product[restrict],
    double ell[restrict])
{
	SOME(g)
	ell[g] += sieve_lane_ln(product[g]);
	SOME(g)
	product[g] = 1;
}

/* Factors are multiplied up until they may not fit any more; they are greatest
 * where p is, at 1 at most. */
LANE void sieve_lane_factors(unsigned n_points, const double p[restrict],
    const struct sieve_factor f[restrict], size_t n, double ell[restrict])
{
	static const double FULL = 1e280;
	enum { MUCH = 8 };
	double product[SIEVE_GRID], x[SIEVE_GRID], most = 1;
	SOME(g)
	product[g] = 1;
	for (size_t i = 0; i < n; i++) {
		const double ic = f[i].ic;
		double up = 1;
		SOME(g)
		x[g] = 1 + p[g] * ic;
		if (f[i].n > MUCH) {
			SOME(g)
			ell[g] += f[i].n * sieve_lane_ln(x[g]);
			continue;
		}
		for (uint32_t k = 0; k < f[i].n; k++)
			up *= 1 + ic;
		if (most * up > FULL) {
			sieve_lane_flush(n_points, product, ell);
			most = 1;
		}
		most *= up;
		sieve_lane_power(n_points, x, f[i].n, product);
	}
	sieve_lane_flush(n_points, product, ell);
}

WIDE void sieve_lanes_factors(const double p[restrict],
    const struct sieve_factor f[restrict], size_t n, double ell[restrict])
{
	sieve_lane_factors(SIEVE_GRID, p, f, n, ell);
}

WIDE void sieve_lanes_coarse_factors(const double p[restrict],
    const struct sieve_factor f[restrict], size_t n, double ell[restrict])
{
	sieve_lane_factors(SIEVE_COARSE, p, f, n, ell);
}

/* As many terms are multiplied as fit before a logarithm is taken. A term is
 * between LEAST and 1 + a / n, as what is lost is 1 at most. */
LANE void sieve_lane_bins(unsigned n_points,
    const struct sieve_bin bin[restrict], unsigned n_bins,
    const double lost[restrict], double to[restrict])
{
	static const double FULL = 1e280, LEAST = 1e-3;
	enum { MUCH = 64 };
	double product[SIEVE_GRID], x[SIEVE_GRID], most = 1, least = 1;
	SOME(g)
	{
		to[g] = 0;
		product[g] = 1;
	}
	for (unsigned b = 0; b < n_bins; b++) {
		const double n = bin[b].n, each = bin[b].a / n,
			     *row = lost + (size_t)(b / 2) * n_points;
		double up = 1, down = 1;
		if (n == 0)
			continue;
		SOME(g)
		x[g] = sieve_lane_max(1 + each * row[g], LEAST);
		if (n > MUCH) {
			SOME(g)
			to[g] += n * sieve_lane_ln(x[g]);
			continue;
		}
		for (unsigned k = (unsigned)n; k > 0; k--) {
			up *= 1 + each;
			down *= x[0];
		}
		if (most * up > FULL || least * down < 1 / FULL) {
			sieve_lane_flush(n_points, product, to);
			most = least = 1;
		}
		if (up > FULL || down < 1 / FULL) {
			SOME(g)
			to[g] += n * sieve_lane_ln(x[g]);
			continue;
		}
		most *= up;
		least *= down;
		sieve_lane_power(n_points, x, (uint32_t)n, product);
	}
	sieve_lane_flush(n_points, product, to);
}

WIDE void sieve_lanes_bins(const struct sieve_bin bin[restrict],
    unsigned n_bins, const double lost[restrict], double to[restrict])
{
	sieve_lane_bins(SIEVE_GRID, bin, n_bins, lost, to);
}

WIDE void sieve_lanes_coarse_bins(const struct sieve_bin bin[restrict],
    unsigned n_bins, const double lost[restrict], double to[restrict])
{
	sieve_lane_bins(SIEVE_COARSE, bin, n_bins, lost, to);
}

WIDE void sieve_lanes_either(const double x[restrict], double a, double b,
    uint32_t n, double to[restrict])
{
	double y[SIEVE_GRID];
	EACH(g)
	y[g] = b + a * x[g];
	sieve_lane_power(SIEVE_GRID, y, n, to);
}

WIDE void sieve_lanes_terms(const double p[restrict], const double x[restrict],
    const struct sieve_term t[restrict], size_t n, uint32_t power, double b,
    double to[restrict])
{
	double sum[SIEVE_GRID] = {0}, one[SIEVE_GRID], y[SIEVE_GRID];
	for (size_t i = 0; i < n; i++) {
		const double a = t[i].a, ic = t[i].ic;
		EACH(g)
		{
			y[g] = 1 + p[g] * ic;
			one[g] = a;
		}
		sieve_lane_power(SIEVE_GRID, y, power, one);
		EACH(g)
		sum[g] += one[g];
	}
	EACH(g)
	to[g] *= b + x[g] * sum[g];
}

WIDE void sieve_lanes_mix(const double t[restrict], double q,
    double y[restrict])
{
	static const double HUGE_T = 600;
	double over[SIEVE_GRID], x[SIEVE_GRID];
	EACH(g)
	{
		over[g] = sieve_lane_max(t[g] - HUGE_T, 0);
		x[g] = t[g] - over[g];
	}
	EACH(g)
	x[g] = sieve_lane_exp(x[g]);
	EACH(g)
	x[g] = 1 - q + q * x[g];
	EACH(g)
	y[g] = sieve_lane_ln(x[g]);
	EACH(g)
	y[g] += over[g];
}

WIDE double sieve_lanes_scale(const double x[restrict],
    const double y[restrict], double z[restrict])
{
	enum { WAYS = 8 };
	double of[WAYS], most;
	EACH(g)
	z[g] = x[g] + y[g];
	for (unsigned k = 0; k < WAYS; k++)
		of[k] = z[k];
	for (unsigned g = WAYS; g < SIEVE_GRID; g += WAYS)
		for (unsigned k = 0; k < WAYS; k++)
			of[k] = sieve_lane_max(z[g + k], of[k]);
	most = of[0];
	for (unsigned k = 1; k < WAYS; k++)
		most = fmax(most, of[k]);
	EACH(g)
	z[g] = sieve_lane_exp(z[g] - most);
	return most;
}

/* Of what stands in eight, which is as many as a vector has at most. */
LANE double sieve_lane_sum(const double x[8])
{
	return ((x[0] + x[4]) + (x[2] + x[6])) +
	    ((x[1] + x[5]) + (x[3] + x[7]));
}

WIDE double sieve_lanes_sum(const double x[restrict])
{
	enum { WAYS = 8 };
	double sum[WAYS] = {0};
	for (unsigned g = 0; g < SIEVE_GRID; g += WAYS)
		for (unsigned k = 0; k < WAYS; k++)
			sum[k] += x[g + k];
	return sieve_lane_sum(sum);
}

WIDE double sieve_lanes_dot(const double x[restrict], const double y[restrict])
{
	enum { WAYS = 8 };
	double sum[WAYS] = {0};
	for (unsigned g = 0; g < SIEVE_GRID; g += WAYS)
		for (unsigned k = 0; k < WAYS; k++)
			sum[k] += x[g + k] * y[g + k];
	return sieve_lane_sum(sum);
}
