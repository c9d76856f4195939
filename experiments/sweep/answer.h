/* experiments/sweep/answer.h -- one algorithm's answer: asked for, and printed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_SWEEP_ANSWER_H
#define EXPERIMENTS_SWEEP_ANSWER_H

#include <stdio.h>

#include "experiments/spec/spec.h"
#include "models/truth.h"
#include "results/schema.h"

/* What A says of a window. Ties are broken by the stream (WHERE, NUMBER), so
 * that no other algorithm changes anything: NUMBER is A's place in its spec.
 * Errors those of the algorithm, after its label. */
int xp_answer(const struct xp_algo *a, void *work, const struct sim_seed *where,
    uint32_t number, const struct obs *w, struct algo_verdicts *out,
    struct sim_err *e);

/* Print for people what the algorithm of that label said: its ratios, and the
 * ten most suspicious links or switches. METRICS and TRUTH are NULL where there
 * is no truth. V gets sorted. */
void xp_answer_print(const char *label, const struct topo *t,
    const struct truth *truth, const struct res_algo_metrics *metrics,
    struct algo_verdicts *v, FILE *out);

/* The name of a component of V, a link or a switch; and whether it failed. */
void xp_answer_name(const struct topo *t, const struct algo_verdicts *v,
    uint32_t id, char name[64]);
int xp_answer_is_faulty(const struct truth *truth,
    const struct algo_verdicts *v, uint32_t id);

/* The true culprit of a flow, as V names such: CULPRIT itself, or the failed
 * switch that it is a link of where V blames a switch for that flow. Of a link
 * both of whose ends failed, either is right. */
uint32_t xp_answer_culprit(const struct truth *truth,
    const struct algo_verdicts *v, size_t flow, topo_link culprit);

#endif
