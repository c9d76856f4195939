/* algos/vigil/cover.c -- greedy cover: fewest links that explain failures.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/cover.h"

#include <stdlib.h>

#include "algos/vigil/top.h"
#include "sim/vec.h"

struct cover {
	struct algo_cover_params params;
	struct algo_tally tally;
	struct algo_top top;
};

/* Algorithm 2 takes "the link that covers most" and leaves equal ones open. */
static const char *const cover_ties[] = {"lowest", "votes", NULL};

static const struct sim_field cover_fields[] =
    {{.name = "tie",
	 .type = SIM_F_ENUM,
	 .offset = offsetof(struct algo_cover_params, tie),
	 .names = cover_ties,
	 .unit = "1",
	 .def = "lowest",
	 .doc = "which of links that cover as many flows is taken"},
	ALGO_BLAME_FIELDS(struct algo_cover_params, blame, "blame_tie"), {0}};

static void cover_free(void *work)
{
	struct cover *a = work;
	algo_tally_close(&a->tally);
	algo_top_free(&a->top);
}

static int cover_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct cover *a = work;
	return algo_blame_tally(&a->tally, a->params.blame.tie, ALGO_KIND_LINK,
	    t, e);
}

/* Algorithm 2's step "remove the flows that the link explains": take the
 * uncovered flows through TAKEN off all links of their paths, TAKEN among them.
 * n_flows counts the uncovered flows of a link, so its run in by_link[] is done
 * with when that is 0, often before its end. Returns how many flows were
 * covered. */
static size_t cover_flows(struct algo_tally *t, topo_link taken)
{
	const struct algo_tally_link *l = &t->link[taken];
	size_t n = 0;
	for (uint32_t i = l->begin; l->n_flows > 0; i++) {
		struct algo_voter *v = &t->voter[t->by_link[i]];
		const topo_link *path = algo_tally_path(t, v);
		if (v->gone)
			continue;
		for (unsigned j = 0; j < v->n_hops; j++)
			if (path[j] != TOPO_NONE)
				t->link[path[j]].n_flows--;
		v->gone = 1;
		n++;
	}
	return n;
}

static int cover_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct cover *a = work;
	struct algo_tally *t = &a->tally;
	const enum algo_top_by by = a->params.tie == ALGO_COVER_VOTES
	    ? ALGO_TOP_FLOWS_THEN_VOTES
	    : ALGO_TOP_FLOWS;
	topo_link l;
	int rc;
	algo_verdicts_clear(out);
	out->flags = 1;
	if ((rc = algo_tally_index(t, window, e)) < 0 ||
	    (rc = algo_top_start(&a->top, t, by, e)) < 0)
		return rc;
	algo_blame_set_aside(&a->params.blame, t);
	/* Until no uncovered flow is left, at which time no link has one. The
	 * keys of algo_top only fall, as it demands, since flows are only ever
	 * covered. */
	while ((l = algo_top_peek(&a->top)) != TOPO_NONE) {
		algo_top_take(&a->top);
		t->flagged[l] = 1;
		/* The score is what the link newly covers: it was the most
		 * that any link could, so scores descend in the order of
		 * flagging. */
		if ((rc = algo_verdicts_add(out, l, (double)cover_flows(t, l),
			 e)) < 0)
			return rc;
		out->n_flagged++;
	}
	/* Votes were never changed, so they still tell which of several flagged
	 * links on a path is the likelier cause. */
	return algo_blame_by_flags(a->params.blame.tie, t, window, tie, out, e);
}

const struct algo_ops algo_cover = {
    .name = "cover",
    .paper = "007 (NSDI'18), Algorithm 2; Tomo (CoNEXT'07)",
    .doc = "greedily the fewest links that explain all failed flows",
    .needs = OBS_FLOWS | OBS_HOPS,
    .params = cover_fields,
    .params_size = sizeof(struct algo_cover_params),
    .work_size = sizeof(struct cover),
    .init = cover_init,
    .diagnose = cover_diagnose,
    .free = cover_free,
};
