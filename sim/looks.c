/* sim/looks.c -- a share looked at again and again until it is known well enough.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/looks.h"

#include <math.h>

/* What a run that has not come yet is worth, times the share of a run. */
static double unseen(double conf)
{
	return -log((1 - conf) / 2);
}

/* At the ends, 0 and 1, an interval has one side only. */
double sim_looks_least_runs(const struct sim_looks *l)
{
	return ceil(unseen(l->conf) / (2 * l->half));
}

/* Fill the plan with looks of confidence CONF, and return how many it takes:
 * more than SIM_MAX_LOOKS if they do not fit. */
static uint32_t looks_plan(struct sim_looks *l, double conf, uint32_t max_runs)
{
	l->conf = conf;
	l->n = 0;
	double at = sim_looks_least_runs(l);
	while (at < max_runs && l->n < SIM_MAX_LOOKS) {
		l->at[l->n++] = (uint32_t)at;
		at = ceil(1.25 * at);
	}
	if (l->n < SIM_MAX_LOOKS)
		l->at[l->n] = max_runs;
	return l->n + 1;
}

int sim_looks_init(struct sim_looks *l, double half, double conf,
    uint32_t max_runs, struct sim_err *e)
{
	if (!(half > 0 && half < 0.5))
		return sim_fail(e, SIM_EINVAL,
		    "half the width of an interval is %g, not in (0, 0.5).",
		    half);
	if (!(conf > 0 && conf < 1) || max_runs == 0)
		return sim_fail(e, SIM_EINVAL,
		    "confidence %g of %u runs: it is to be in (0, 1), and of "
		    "at least 1 run.",
		    conf, max_runs);
	*l = (struct sim_looks){.half = half};
	/* The more looks, the less error is left for each, and the later is the
	 * first: take the least number that suffices for itself. 50 quarters
	 * more are a factor of 70,000. */
	for (uint32_t n = 1; n <= SIM_MAX_LOOKS; n++)
		if (looks_plan(l, 1 - (1 - conf) / n, max_runs) <= n) {
			l->n++;
			l->conf = 1 - (1 - conf) / n;
			return 0;
		}
	return sim_fail(e, SIM_EINVAL,
	    "%u runs are too many to look at intervals of half width %g.",
	    max_runs, half);
}

int sim_looks_share(const struct sim_looks *l, const struct sim_ratio_sample *s,
    struct sim_ratio *out, struct sim_err *e)
{
	double heaviest = 0, all = 0;
	int rc = sim_ratio_share(s, l->conf, out, e);
	if (rc < 0 || isnan(out->value))
		return rc;
	for (size_t i = 0; i < s->n; i++) {
		heaviest = fmax(heaviest, s->den[i]);
		all += s->den[i];
	}
	const double reach = unseen(l->conf) * heaviest / all;
	out->lo = fmax(0, fmin(out->lo, out->value - reach));
	out->hi = fmin(1, fmax(out->hi, out->value + reach));
	return 0;
}

int sim_looks_is_narrow(const struct sim_looks *l, const struct sim_ratio *r)
{
	return (r->hi - r->lo) / 2 <= l->half;
}
