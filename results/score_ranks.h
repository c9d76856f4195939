/* results/score_ranks.h -- where what is broken ranks among what is listed.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_SCORE_RANKS_H
#define RESULTS_SCORE_RANKS_H

#include "algos/verdict.h"
#include "results/schema.h"
#include "results/scorer.h"

/* 1 if component ID of verdict V is broken: a link with a fault, or a switch
 * that failed. Cost O(1), of a switch O(failed switches). */
int res_score_is_broken(const struct res_scorer *s,
    const struct algo_verdicts *v, uint32_t id);

/* The metrics of OUT about ranks. N_BROKEN are to be found. Ranking is scored
 * apart from accusing: an algorithm without a threshold, or with a bad one, can
 * still rank well. Errors SIM_ENOMEM.
 * Cost O(listed * log n_broken). */
int res_score_ranks(struct res_scorer *s, const struct algo_verdicts *v,
    size_t n_broken, struct res_algo_metrics *out, struct sim_err *e);

#endif
