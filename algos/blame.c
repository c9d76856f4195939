/* algos/blame.c -- the link that is said to have dropped a flow's packets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/blame.h"

#include <assert.h>

const char *const algo_blame_ties[] = {"lowest", "first", "random", NULL};
const char *const algo_blame_noises[] = {"none", "own_vote", "floor", NULL};

struct choice {
	topo_link link;
	uint64_t votes;
};

/* The most voted of LINK[n], some of which may be TOPO_NONE; of several the
 * first, or the lowest. */
static inline struct choice most_voted(const struct algo_tally *t,
    const topo_link link[], unsigned n, int lowest)
{
	struct choice best = {TOPO_NONE, 0};
	for (unsigned i = 0; i < n; i++) {
		const topo_link l = link[i];
		if (l == TOPO_NONE)
			continue;
		const uint64_t votes = t->link[l].votes;
		/* No short circuits: no processor predicts these. */
		const int better = (votes > best.votes) |
				   ((votes == best.votes) & lowest &
				       (l < best.link));
		best.link = better ? l : best.link;
		best.votes = better ? votes : best.votes;
	}
	return best;
}

/* One at random of those in LINK[n] that have as many votes as BEST. */
static topo_link draw(const struct algo_tally *t, const topo_link link[],
    unsigned n, struct choice best, struct sim_rng *tie)
{
	topo_link tied[TOPO_MAX_HOPS];
	uint32_t n_tied = 0;
	for (unsigned i = 0; i < n; i++)
		if (link[i] != TOPO_NONE &&
		    t->link[link[i]].votes == best.votes)
			tied[n_tied++] = link[i];
	assert(tie);
	return n_tied > 1 ? tied[sim_rng_below(tie, n_tied)] : best.link;
}

static inline int is_noise(const struct algo_blame *how, uint64_t floor,
    const struct algo_voter *v, uint64_t best)
{
	switch ((enum algo_blame_noise)how->noise) {
	case ALGO_NOISE_OWN_VOTE:
		return best == algo_tally_share(v);
	case ALGO_NOISE_FLOOR:
		return best <= floor;
	case ALGO_NOISE_NONE:
		break;
	}
	return 0;
}

int algo_blame_by_votes(const struct algo_blame *how,
    const struct algo_tally *t, const struct obs *w, struct sim_rng *tie,
    struct algo_verdicts *out, struct sim_err *e)
{
	const uint64_t floor = algo_tally_units(how->noise_floor);
	const int lowest = how->tie == ALGO_TIE_LOWEST;
	int rc;
	if ((rc = algo_verdicts_reserve_flows(out, w->flows.n, e)) < 0)
		return rc;
	for (size_t i = 0; i < t->n_voters; i++) {
		const struct algo_voter *v = &t->voter[i];
		const topo_link *path = algo_tally_path(t, v);
		struct choice best = most_voted(t, path, v->n_hops, lowest);
		if (is_noise(how, floor, v, best.votes))
			continue;
		if (how->tie == ALGO_TIE_RANDOM)
			best.link = draw(t, path, v->n_hops, best, tie);
		out->blame[v->flow] = best.link;
	}
	return 0;
}

int algo_blame_by_flags(enum algo_blame_tie rule, const struct algo_tally *t,
    const struct obs *w, struct sim_rng *tie, struct algo_verdicts *out,
    struct sim_err *e)
{
	int rc;
	if ((rc = algo_verdicts_reserve_flows(out, w->flows.n, e)) < 0)
		return rc;
	for (size_t i = 0; i < t->n_voters; i++) {
		const struct algo_voter *v = &t->voter[i];
		const topo_link *path = algo_tally_path(t, v);
		topo_link flagged[TOPO_MAX_HOPS];
		unsigned n = 0;
		for (unsigned j = 0; j < v->n_hops; j++)
			if (path[j] != TOPO_NONE && t->flagged[path[j]])
				flagged[n++] = path[j];
		struct choice best =
		    most_voted(t, flagged, n, rule == ALGO_TIE_LOWEST);
		if (rule == ALGO_TIE_RANDOM)
			best.link = draw(t, flagged, n, best, tie);
		out->blame[v->flow] = best.link;
	}
	return 0;
}
