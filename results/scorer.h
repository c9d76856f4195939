/* results/scorer.h -- what scoring keeps for all answers to one window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Several algorithms answer the same window, and each answer is held against
 * the same truth: which links are broken, and where each failed flow lost its
 * packets. Both are looked up once a window.
 */
#ifndef RESULTS_SCORER_H
#define RESULTS_SCORER_H

#include "models/losses.h"
#include "models/obs.h"
#include "models/truth.h"
#include "sim/err.h"

/* Whom a flow's losses make the culprit, by each definition of
 * results/score.h; TOPO_NONE = nobody. */
struct res_loss {
	uint32_t flow; /* its row in the window */
	topo_link most, released;
	uint8_t most_faulty, released_faulty; /* these links have a fault */
	uint8_t at_fault;           /* some was lost on a link with a fault */
	uint64_t n_drops, n_buffer; /* packets lost; of these in buffers */
};

/* Zeroed is empty. */
struct res_scorer {
	const struct obs *w; /* these three are borrowed: the window's */
	const struct truth *truth;
	const struct losses *lost;
	size_t n_faulty; /* links with a fault */

	/* One bit a link: it has a fault. Links at and above 64 * n_words have
	 * none. */
	uint64_t *faulty; /* [n_words] */
	size_t n_words, cap_words;

	struct res_loss *loss; /* [n_losses]: of flows with n_retx > 0 */
	size_t n_losses, cap_losses;
	int has_losses; /* they were looked up: res_scorer_losses() */

	/* Room for results/score_ranks.c. */
	double *best;
	size_t cap_best;
	double *broken;
	size_t cap_broken;
};

/* Begin with window W, which lost LOST while T was broken. Errors SIM_EMISMATCH
 * if the losses do not fit the window, SIM_ENOMEM. Cost O(faults + highest link
 * with a fault / 64). */
int res_scorer_begin(struct res_scorer *s, const struct obs *w,
    const struct truth *t, const struct losses *lost, struct sim_err *e);
void res_scorer_free(struct res_scorer *s);

/* Fill loss[]. Errors SIM_ENOMEM. Cost O(flows + hops of failed ones), and O(1)
 * the second time. */
int res_scorer_losses(struct res_scorer *s, struct sim_err *e);

/* 1 if LINK has a fault that does anything. Cost O(1). */
static inline int res_scorer_is_faulty(const struct res_scorer *s,
    topo_link link)
{
	const size_t word = link / 64;
	return word < s->n_words && (s->faulty[word] >> link % 64 & 1);
}

#endif
