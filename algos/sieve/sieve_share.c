/* algos/sieve/sieve_share.c -- what share of all components failed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_share.h"

#include <math.h>

/* Beyond it a factor is a failure, whatever the share. */
static const double SHARE_SURE = 300, SHARE_LEAST = 1e-12;

/* Even in the logarithm, from far below one of N up to a half; the law is of the
 * share itself. Weights are ln of the law times the likelihood. */
void sieve_share_begin(struct sieve_share *h, double n, double thin,
    double rare)
{
	const double ln_least = -log(8 * fmax(n, 1)),
		     step = (-log(2) - ln_least) / SIEVE_SHARES;
	double all = 0, none = 0;
	for (unsigned j = 0; j < SIEVE_SHARES; j++) {
		const double share = exp(ln_least + step * (j + 0.5)),
			     ln_none = step * j + (n + rare) * log1p(-share);
		h->odds[j] = share / (1 - share) / thin;
		h->weight[j] = ln_none;
		none += exp(ln_none);
		all += exp(ln_none + n * log1p(h->odds[j]));
	}
	for (unsigned j = 0; j < SIEVE_SHARES; j++)
		h->weight[j] -= log(all);
	/* Before the window, if each may fail. */
	h->none = none / all;
	h->any = 1;
}

void sieve_share_take(struct sieve_share *h, double n, double ln_factor,
    double rivals)
{
	const double factor = exp(fmin(ln_factor, SHARE_SURE)),
		     all = factor + rivals;
	double x[SIEVE_SHARES];
	if (factor < SHARE_LEAST)
		return;
	for (unsigned j = 0; j < SIEVE_SHARES; j++)
		x[j] = 1 + h->odds[j] * all;
	sieve_lanes_add_ln(x, n * factor / all, h->weight);
}

void sieve_share_end(struct sieve_share *h, double any)
{
	double most = -INFINITY, all = 0;
	for (unsigned j = 0; j < SIEVE_SHARES; j++)
		most = fmax(most, h->weight[j]);
	for (unsigned j = 0; j < SIEVE_SHARES; j++)
		all += h->weight[j] = exp(h->weight[j] - most);
	for (unsigned j = 0; j < SIEVE_SHARES; j++)
		h->weight[j] /= all;
	/* Against a window in which nothing failed, of which that is 1; of the
	 * others those are none in which nobody happens to. */
	const double some = any / (1 - h->none), may = some * all,
		     quiet = some * h->none * exp(-most),
		     nothing = (1 - any) * exp(-most),
		     sum = may - quiet + nothing;
	h->none = nothing / sum;
	h->any = may / sum;
}

double sieve_share_ln_odds(const struct sieve_share *h, double ln_factor)
{
	const double factor = exp(fmin(ln_factor, SHARE_SURE));
	double up = 0, down = 0;
	for (unsigned j = 0; j < SIEVE_SHARES; j++) {
		const double w = h->weight[j] / (1 + h->odds[j] * factor);
		up += w * h->odds[j];
		down += w;
	}
	return log(up / down);
}

double sieve_share_expects(const struct sieve_share *h, double n,
    double ln_factor)
{
	const double odds = exp(
	    fmin(ln_factor + sieve_share_ln_odds(h, ln_factor), SHARE_SURE));
	return n * fmin(1, h->any * odds / (1 + odds));
}
