/* sim/looks.h -- a share looked at again and again until it is known well enough.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who looks at a 95 % interval after every run, and stops when it is narrow, is
 * wrong far more often than in 5 % of cases. So looks are few, at numbers of
 * runs that are fixed before the first; each is allowed an equal part of the
 * errors, which sum up to at most the whole however much looks have in common
 * (Bonferroni). Then the interval at which one stops, and all before it, hold at
 * the stated confidence at once.
 *
 * Between runs the variance is estimated (sim/ratio.h), and an estimate knows
 * nothing of what has not happened yet: a kind of run that comes once in 200,
 * and gets everything wrong, is not there in half of all samples of 140. So an
 * interval reaches at least as far as such a run, unseen in n, could move the
 * share: -ln(error / 2) times the share of the heaviest run.
 */
#ifndef SIM_LOOKS_H
#define SIM_LOOKS_H

#include <stdint.h>

#include "sim/err.h"
#include "sim/ratio.h"

enum { SIM_MAX_LOOKS = 64 };

struct sim_looks {
	double half; /* half the width that is narrow enough */
	double conf; /* of each look */
	uint32_t n;
	uint32_t
	    at[SIM_MAX_LOOKS]; /* runs, growing; the last is all there are */
};

/* Plan the looks at up to MAX_RUNS runs, at joint confidence CONF: the first
 * where an interval can be narrow at all, each later one at a quarter more runs,
 * the last at MAX_RUNS. Errors SIM_EINVAL unless 0 < half < 0.5, 0 < conf < 1
 * and max_runs > 0. */
int sim_looks_init(struct sim_looks *l, double half, double conf,
    uint32_t max_runs, struct sim_err *e);

/* The fewest runs in which an interval can be that narrow. */
double sim_looks_least_runs(const struct sim_looks *l);

/* The interval of a share at a look; NaN without trials. Runs without a trial
 * tell nothing. Errors of sim_ratio_share(). */
int sim_looks_share(const struct sim_looks *l, const struct sim_ratio_sample *s,
    struct sim_ratio *out, struct sim_err *e);

/* Is it narrow enough? NaN is not. */
int sim_looks_is_narrow(const struct sim_looks *l, const struct sim_ratio *r);

#endif
