/* experiments/check/verify.h -- what a paper claims against what we measured.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file of claims:
 *
 *	claims:
 *	  - id: fig08b_accuracy
 *	    figure: vigil_fig08b      # results/out/vigil_fig08b.h5
 *	    certainty: R              # how we know it, see below
 *	    text: "at least 98 % always"
 *	    metric: accuracy_fault    # a ratio of results/schema.h
 *	    algorithm: vote           # a label of the results; none when the
 *				      # ratio is the trial's own
 *	    relation: ">="            # or "<=", or "~" with a `tolerance`
 *	    value: 0.98
 *
 * Also: `at: {axis: value}` takes only these points, a value being one, a list,
 * or {from: a, to: b} with both included; `minus: label` subtracts another
 * algorithm's metric; `must: true` makes a difference a failure; `note` says
 * why ours differs, or why a claim without `metric` can't be compared.
 *
 * What is compared, by `over`:
 *
 *	each    every point; told is the one with the least room
 *	pool    all points as one
 *	spread  the greatest less the least of the points
 *
 * Ratios are pooled over runs: the sum of hits over the sum of trials, with its
 * exact 95 % interval. It takes trials as independent, which flows and links of
 * one run are not, so it is a little narrow. A claim AGREES when the interval
 * of ours holds a value that meets the relation, and DIFFERS when the whole
 * interval violates it (for `each`: at one point at least). So chance alone
 * makes a true claim at its very bound differ once in 40 points.
 *
 * Certainty: S stated in the paper's text, Q read in other public text, R+, R
 * and R- remembered with high, medium and low confidence: all but S are
 * unconfirmed and shown as such. M is no claim of the paper's but measured with
 * an independent simulator.
 */
#ifndef EXPERIMENTS_CHECK_VERIFY_H
#define EXPERIMENTS_CHECK_VERIFY_H

#include "results/cube.h"
#include "sim/err.h"
#include "sim/yaml.h"

enum xp_certainty {
	XP_STATED,
	XP_READ,
	XP_HIGH,
	XP_MEDIUM,
	XP_LOW,
	XP_MEASURED
};
enum xp_relation { XP_AT_LEAST, XP_AT_MOST, XP_ABOUT };
enum xp_over { XP_EACH, XP_POOL, XP_SPREAD };
enum xp_claim_verdict {
	XP_NOT_RUN,        /* no results, or they lack the points or label */
	XP_NOT_COMPARABLE, /* no metric of ours is that of the claim */
	XP_AGREES,
	XP_DIFFERS,
};

extern const char *const xp_certainty_names[],
    *const xp_relation_names[], *const xp_claim_verdict_names[];

struct xp_claim {
	char id[64], figure[64], text[256], note[512];
	char metric[64], algorithm[64], minus[64];
	uint32_t certainty, relation, over, must;
	double value, tolerance;
	const struct sim_yaml_node *at; /* borrowed from the tree, or NULL */
	int of_trial;                   /* the metric is no algorithm's */
	uint32_t num, den;              /* of it: RES_ALGO_* or RES_TRIAL_* */
};

struct xp_claims {
	struct sim_yaml yaml;
	size_t n;
	struct xp_claim *claim; /* ids are unique */
};

/* What came of one claim. */
struct xp_finding {
	enum xp_claim_verdict verdict;
	double ours, lo, hi; /* NaN when nothing was compared */
	size_t n_points;     /* compared */
	char where[128];     /* of `each`: the point; else "" */
	char why[160];       /* of XP_NOT_RUN: what is missing */
};

/* C need not be initialised and may be freed either way. All mistakes are in
 * the message. Errors SIM_EIO, SIM_EPARSE, SIM_EINVAL, SIM_ENOMEM. */
int xp_claims_load(struct xp_claims *c, const char *path, struct sim_err *e);
void xp_claims_free(struct xp_claims *c);

/* Compare a claim with results, or with none: CUBE may be NULL.
 * Errors SIM_EINVAL when the results are no shares; SIM_ENOMEM. */
int xp_claim_check(const struct xp_claim *c, const struct res_cube *cube,
    struct xp_finding *f, struct sim_err *e);

#endif
