/* experiments/check/claim.h -- what a paper claims, as a file says it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	claims:
 *	  - id: fig08b_accuracy
 *	    figure: vigil_fig08b      # results/out/vigil_fig08b.h5
 *	    certainty: R              # how we know it, see below
 *	    text: "at least 98 % always"
 *	    metric: accuracy_kept     # see below
 *	    algorithm: vote           # a label of the results; none when the
 *				      # metric is the trial's own
 *	    relation: ">="
 *	    value: 98 %               # as printed: its digits say how it was
 *				      # rounded, so write 90.0 % for 90.0 %
 *
 * Metric: a ratio of results/schema.h, pooled over runs; a metric of it, or
 * the difference of two, "n_flagged - n_flagged_true", as the mean of runs; and
 * with `within: {from: a, to: b}` the share of runs in which it lies there.
 *
 *	minus: LABEL   less the same of another algorithm
 *	per: LABEL     over the same of another: 1.5 times as many
 *	over: each     (default) every point must meet it; told is the one with
 *	               the least room
 *	      pool     all points as one
 *	      trend    the last point less the first, along one axis
 *	at: {axis: value}   takes only these points, a value being one, a list,
 *	               or {from: a, to: b} with both included
 *	guess: [axis]  an axis of which the paper says nothing: the claim is
 *	               held at each of its values apart
 *	runs: n        of another simulator: how many made its number
 *	must: true     makes a difference a failure
 *	note: "..."    in a claim without `metric`: why it can't be compared
 *
 * Relations: ">=", "<=", "~" (is), ">" and "<". A claim without one is in words
 * ("is high"): there is nothing to hold ours against, so it is told alone.
 *
 * Certainty: S stated in the paper's text, Q read in other public text, R+, R
 * and R- remembered with high, medium and low confidence: all but S are
 * unconfirmed and shown as such. M is no claim of the paper's but measured with
 * another simulator.
 */
#ifndef EXPERIMENTS_CHECK_CLAIM_H
#define EXPERIMENTS_CHECK_CLAIM_H

#include "results/schema.h"
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
enum xp_relation {
	XP_WORDS,
	XP_AT_LEAST,
	XP_AT_MOST,
	XP_IS,
	XP_ABOVE,
	XP_BELOW
};
enum xp_over { XP_EACH, XP_POOL, XP_TREND };

extern const char *const xp_certainty_names[], *const xp_relation_names[];

/* Which numbers of a row a claim is about: NUM, less LESS if that is not NONE,
 * over DEN, which is NONE for the mean of runs. All are RES_ALGO_*, or
 * RES_TRIAL_* where `of_trial` is set. */
enum { XP_NO_COLUMN = UINT32_MAX };
struct xp_quantity {
	uint32_t num, less, den;
	int of_trial;
};

struct xp_claim {
	char id[64], figure[64], text[256], note[512];
	char metric[64], algorithm[64], minus[64], per[64];
	char printed[32]; /* `value` as written */
	uint32_t certainty, relation, over, must, runs;
	double value;
	double rounding; /* half a unit of the last digit printed; of 0: 0 */
	int in_range;    /* within is given */
	double from, to; /* of within */
	/* Borrowed from the tree, or NULL: their form depends on the axes. */
	const struct sim_yaml_node *at, *guess;
	struct xp_quantity what;
};

struct xp_claims {
	struct sim_yaml yaml;
	size_t n;
	struct xp_claim *claim; /* ids are unique */
};

/* C need not be initialised and may be freed either way. All mistakes are in
 * the message. Errors SIM_EIO, SIM_EPARSE, SIM_EINVAL, SIM_ENOMEM. */
int xp_claims_load(struct xp_claims *c, const char *path, struct sim_err *e);
void xp_claims_free(struct xp_claims *c);

/* The bound KEY ("from" or "to") of a range, or NONE where it is open. */
double xp_claim_bound(const struct sim_yaml_node *range, const char *key,
    double none);

/* Whether all that the claim is about is a share of trials, between 0 and 1. */
int xp_claim_is_share(const struct xp_claim *c);

#endif
