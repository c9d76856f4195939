/* results/score.h -- verdicts against the truth: one trial's metrics.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_SCORE_H
#define RESULTS_SCORE_H

#include "algos/verdict.h"
#include "models/losses.h"
#include "models/obs.h"
#include "models/truth.h"
#include "results/schema.h"
#include "results/scorer.h"
#include "sim/err.h"

/* Whom a flow's losses make the culprit, by each definition: the link that
 * dropped most, first of equals (007, section 6), and the one by the rule of
 * 007's released code; and the failed switches that these are links of. A plane
 * with a rule of its own (lost->n_culprits > 0) has one link for both. TOPO_NONE
 * = nobody. Cost O(hops). */
struct res_culprits {
	topo_link most, released;
	topo_switch most_switch, released_switch;
};
void res_score_culprits(const struct obs *w, const struct truth *t,
    const struct losses *lost, size_t flow, struct res_culprits *out);

/* The same, and what else a flow's losses are to scoring. */
void res_loss_look_up(const struct obs *w, const struct truth *t,
    const struct losses *lost, size_t flow, struct res_loss *out);

/* Metrics of the epoch itself: W is what could be seen, LOST what its flows
 * lost, and T what was broken meanwhile. Those of agents and probes are left
 * NaN. Cost O(hops). */
void res_score_trial(const struct obs *w, const struct truth *t,
    const struct losses *lost, struct res_trial_metrics *out);

/* Metrics of one algorithm's answer; meanings in schema.h. NaN for what the
 * algorithm does not answer (flagged links of one that only ranks; per-flow
 * hits of one that blames nobody). Flows with n_retx = 0 don't count.
 * For a verdict of switches, "link" reads "switch" throughout: one with a fault
 * is one that failed, and the culprit of a flow is the failed switch that its
 * true culprit is a link of, if any.
 * Errors SIM_EMISMATCH if losses or blame do not fit the window, SIM_ENOMEM.
 * Cost O(hops + verdicts * log faults). */
int res_score_algo(const struct obs *w, const struct truth *t,
    const struct losses *lost, const struct algo_verdicts *v,
    struct res_algo_metrics *out, struct sim_err *e);

/* The same of one of several answers to the window that S began with. */
int res_scorer_answer(struct res_scorer *s, const struct algo_verdicts *v,
    struct res_algo_metrics *out, struct sim_err *e);

/* Whether V accuses all that failed, as n_to_find counts it, and nothing else.
 * Domain something failed. */
int res_score_is_exact(const struct truth *t, const struct algo_verdicts *v);

#endif
