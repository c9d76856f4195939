/* algos/planner/gain.c -- expected drop of entropy, term by term.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/planner/gain.h"

#include <math.h>

static const double GAIN_MOST = 1000, GAIN_LEFT = 1e-9;

double algo_gain_entropy(double chance)
{
	const double q = chance;
	return q > 0 && q < 1 ? -q * log(q) - (1 - q) * log1p(-q) : 0;
}

double algo_gain(double chance, double healthy, double failed)
{
	const double most = fmax(healthy, failed);
	const double scale = most > GAIN_MOST ? GAIN_MOST / most : 1;
	const double mean[2] = {healthy * scale, failed * scale};
	const double prior[2] = {1 - chance, chance};
	double ln[2] = {-mean[0], -mean[1]}, left[2] = {1, 1}, after = 0;
	if (!(chance > 0 && chance < 1) || mean[0] == mean[1])
		return 0;
	/* The tails are lighter than geometric behind the mean, so that the
	 * bound on terms is never met before what is left is nothing. */
	for (unsigned r = 1;
	     (left[0] > GAIN_LEFT || left[1] > GAIN_LEFT) && r < 4 * GAIN_MOST;
	     r++) {
		double p[2], weight[2];
		for (unsigned z = 0; z < 2; z++) {
			p[z] = exp(ln[z]);
			left[z] -= p[z];
			weight[z] = prior[z] * p[z];
			ln[z] += log(mean[z] / r);
		}
		if (weight[1] > 0)
			after += (weight[0] + weight[1]) *
			    algo_gain_entropy(
				weight[1] / (weight[0] + weight[1]));
	}
	return fmax(0, algo_gain_entropy(chance) - after);
}
