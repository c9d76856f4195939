/* experiments/check/verify.h -- what a paper claims against what we measured.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A claim allows a band. It is derived: what the number that was printed can
 * have been rounded from, and nothing beside. Ours is an interval between runs
 * (sim/ratio.h) at 95 %; where a claim is held at n points, each at 1 - 5 %/n,
 * so that a true claim differs once in 20, however many points there are. A
 * number of another simulator is an estimate too, and widens ours by what its
 * runs allow.
 *
 *	agrees     the interval meets the band, and a deviation that matters
 *	           would have been seen (or all of it lies within)
 *	DIFFERS    the whole interval violates the band (of each: at one point)
 *	depends    it agrees with some values of the claim's guess, not with
 *	           others
 *	undecided  neither: too few runs to tell
 *	in words   the claim has no number; ours is told
 *
 * `seen` is the deviation from the band that would have been seen 9 times of
 * 10. What matters is 5 points of a share and a fifth of any other number, for
 * all claims alike.
 *
 * 007's accuracy is over the flows that it does not set aside as noise, which
 * is accuracy_kept. It says nothing of flows wrongly set aside, so beside it
 * always stands the same over the flows that a fault hit, accuracy_fault, with
 * a verdict of its own.
 */
#ifndef EXPERIMENTS_CHECK_VERIFY_H
#define EXPERIMENTS_CHECK_VERIFY_H

#include "experiments/check/claim.h"
#include "results/cube.h"

enum xp_claim_verdict {
	XP_NOT_RUN,        /* no results, or they lack the points or label */
	XP_NOT_COMPARABLE, /* no metric of ours is that of the claim */
	XP_IN_WORDS,
	XP_UNDECIDED,
	XP_DEPENDS,
	XP_AGREES,
	XP_DIFFERS,
	XP_N_CLAIM_VERDICTS
};
extern const char *const xp_claim_verdict_names[];

/* One claim by one metric. Of a claim in words lo and hi are the least and the
 * greatest value of its points, ours and seen NaN. */
struct xp_reading {
	enum xp_claim_verdict verdict;
	double ours, lo, hi, seen;  /* NaN when nothing was compared */
	size_t n_points, n_outside; /* compared; of each: those that differ */
	size_t n_blank;             /* that are meant and measured nothing */
	char where[128];            /* of each: the point; else "" */
};

/* The claim's own metric, and accuracy_fault beside accuracy_kept. */
enum { XP_OWN, XP_HIT, XP_N_READINGS };

/* With one combination of values of the axes that are a guess. */
struct xp_case {
	char guess[128]; /* "conns 60, hot_share 0.5"; "" without any */
	struct xp_reading by[XP_N_READINGS];
};

/* What came of one claim. Zeroed is empty. */
struct xp_finding {
	enum xp_claim_verdict verdict[XP_N_READINGS];
	size_t n_readings; /* 1, or 2 of accuracy_kept */
	size_t n_cases;
	struct xp_case *cases;
	char why[160]; /* of XP_NOT_RUN: what is missing */
};

/* Compare a claim with results, or with none: CUBE may be NULL. F is to be
 * freed in any case. Errors SIM_EINVAL when the results are no shares, or a
 * trend's points are not along one axis; SIM_ENOMEM. */
int xp_claim_check(const struct xp_claim *c, const struct res_cube *cube,
    struct xp_finding *f, struct sim_err *e);
void xp_finding_free(struct xp_finding *f);

#endif
