/* results/scorer.c -- what scoring keeps for all answers to one window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/scorer.h"

#include <stdlib.h>
#include <string.h>

#include "results/score.h"
#include "sim/vec.h"

void res_scorer_free(struct res_scorer *s)
{
	free(s->faulty);
	free(s->loss);
	free(s->best);
	free(s->broken);
	*s = (struct res_scorer){0};
}

static int scorer_check(const struct obs *w, const struct losses *lost,
    struct sim_err *e)
{
	if (lost->n_drops != w->hops.n)
		return sim_fail(e, SIM_EMISMATCH,
		    "the truth has drops for %zu hops, the window has %zu.",
		    lost->n_drops, w->hops.n);
	if (lost->n_buffer != (lost->has_buffer ? lost->n_drops : 0))
		return sim_fail(e, SIM_EMISMATCH,
		    "the truth has drops of buffers for %zu hops and drops for "
		    "%zu.",
		    lost->n_buffer, lost->n_drops);
	if (lost->n_path != 0 && lost->n_path != lost->n_drops)
		return sim_fail(e, SIM_EMISMATCH,
		    "the truth has links for %zu hops and drops for %zu.",
		    lost->n_path, lost->n_drops);
	if (lost->n_culprits != 0 && lost->n_culprits != w->flows.n)
		return sim_fail(e, SIM_EMISMATCH,
		    "the truth has culprits of %zu flows, the window has %zu.",
		    lost->n_culprits, w->flows.n);
	return 0;
}

int res_scorer_begin(struct res_scorer *s, const struct obs *w,
    const struct truth *t, const struct losses *lost, struct sim_err *e)
{
	topo_link end = 0; /* behind the last link with a fault */
	int rc = scorer_check(w, lost, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < t->n_faults; i++)
		if (truth_is_fault(&t->fault[i]) && t->fault[i].link >= end)
			end = t->fault[i].link + 1;
	const size_t n_words = ((size_t)end + 63) / 64;
	if ((rc = SIM_RESERVE(&s->faulty, &s->cap_words, n_words, e)) < 0)
		return rc;
	s->w = w;
	s->truth = t;
	s->lost = lost;
	s->n_words = n_words;
	s->n_faulty = 0;
	s->has_losses = 0;
	for (size_t i = 0; i < n_words; i++)
		s->faulty[i] = 0;
	for (size_t i = 0; i < t->n_faults; i++) {
		const topo_link l = t->fault[i].link;
		if (!truth_is_fault(&t->fault[i]))
			continue;
		s->n_faulty += !res_scorer_is_faulty(s, l);
		s->faulty[l / 64] |= UINT64_C(1) << l % 64;
	}
	return 0;
}

int res_scorer_losses(struct res_scorer *s, struct sim_err *e)
{
	const uint32_t *n_retx = s->w->flows.n_retx;
	int rc;
	if (s->has_losses)
		return 0;
	s->n_losses = 0;
	for (size_t i = 0; i < s->w->flows.n; i++) {
		if (n_retx[i] == 0)
			continue;
		if ((rc = SIM_RESERVE(&s->loss, &s->cap_losses, s->n_losses + 1,
			 e)) < 0)
			return rc;
		res_loss_look_up(s->w, s->truth, s->lost, i,
		    &s->loss[s->n_losses++]);
	}
	s->has_losses = 1;
	return 0;
}
