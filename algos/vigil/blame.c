/* algos/vigil/blame.c -- the link that is said to have dropped packets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/blame.h"

#include <assert.h>

#include "algos/vigil/matlab_order.h"

const char *const algo_blame_ties[] = {"lowest", "first", "random", "matlab",
    "fabric", NULL};
const char *const algo_blame_noises[] = {"none", "own_vote", "floor", NULL};

static int blame_orders_links(enum algo_blame_tie rule)
{
	return rule == ALGO_TIE_MATLAB || rule == ALGO_TIE_FABRIC;
}

int algo_blame_check(enum algo_blame_tie rule, enum algo_kind kind,
    struct sim_err *e)
{
	return kind == ALGO_KIND_LINK || !blame_orders_links(rule)
	    ? 0
	    : sim_fail(e, SIM_EUNSUPPORTED,
		  "tie %s is an order of links, and votes are on switches.",
		  algo_blame_ties[rule]);
}

/* Votes on switches need a tally over switches: its "links" are then ids of
 * switches, which algos/vigil/switch_view.h puts into the paths. */
int algo_blame_tally(struct algo_tally *t, enum algo_blame_tie rule,
    enum algo_kind kind, const struct topo *topo, struct sim_err *e)
{
	int rc = algo_tally_open(t,
	    kind == ALGO_KIND_SWITCH ? topo->n_switches : topo->n_links, e);
	if (rc == 0)
		rc = algo_blame_check(rule, kind, e);
	if (rc < 0 || !blame_orders_links(rule))
		return rc;
	t->n_host_links = 2 * topo->n_hosts;
	if (rule == ALGO_TIE_FABRIC)
		return 0;
	if (!topo_is_clos(topo))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "tie matlab needs a Clos; this topology is a graph.");
	/* The order in which the release makes links is known from the shape of
	 * the Clos alone. */
	t->clos = &topo->clos;
	return 0;
}

/* Where on a path the greatest votes are. */
struct best {
	uint64_t votes;
	unsigned first, last; /* the first and the last hop that has them */
};

/* Votes and place in one number, so that the greatest is found without a
 * branch: no processor predicts which hop it is. Votes need 52 bits (2^32 flows
 * of 720720 units), places 4. */
static inline struct best find_best(const struct algo_tally *t,
    const topo_link link[], unsigned n)
{
	uint64_t first = 0, last = 0;
	for (unsigned i = 0; i < n; i++) {
		if (link[i] == TOPO_NONE)
			continue;
		const uint64_t votes = t->link[link[i]].votes << 4;
		const uint64_t f = votes | (15 - i), l = votes | i;
		first = f > first ? f : first;
		last = l > last ? l : last;
	}
	return (struct best){first >> 4, 15 - (first & 15), last & 15};
}

/* The released MATLAB takes max() of the votes, which returns the first of
 * equal elements: the link that its topology made first. */
static topo_link made_first(const struct topo_clos *c, const topo_link link[],
    uint32_t n)
{
	topo_link first = TOPO_NONE;
	uint32_t least = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t at = algo_matlab_order(c, link[i]);
		if (at < least) {
			least = at;
			first = link[i];
		}
	}
	return first;
}

/* The smallest id, links of hosts coming after all others. */
static topo_link first_of_fabric(topo_link n_host_links, const topo_link link[],
    uint32_t n)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t host = link[i] < n_host_links;
		const uint64_t at = host << 32 | link[i];
		least = at < least ? at : least;
	}
	return (topo_link)least;
}

/* Choose by RULE among the hops that have the best votes. All of them lie
 * between the first and the last, which find_best() knows. 007 does not say how
 * ties are broken, yet with few failed flows ties are common. */
static topo_link break_tie(enum algo_blame_tie rule, const struct algo_tally *t,
    const topo_link link[], struct best best, struct sim_rng *tie)
{
	topo_link tied[TOPO_MAX_HOPS], lowest = TOPO_NONE;
	uint32_t n_tied = 0;
	for (unsigned i = best.first; i <= best.last; i++)
		if (link[i] != TOPO_NONE &&
		    t->link[link[i]].votes == best.votes) {
			tied[n_tied++] = link[i];
			lowest = link[i] < lowest ? link[i] : lowest;
		}
	switch (rule) {
	case ALGO_TIE_FIRST:
		return tied[0];
	case ALGO_TIE_RANDOM:
		assert(tie);
		return tied[sim_rng_below(tie, n_tied)];
	case ALGO_TIE_MATLAB:
		return made_first(t->clos, tied, n_tied);
	case ALGO_TIE_FABRIC:
		return first_of_fabric(t->n_host_links, tied, n_tied);
	case ALGO_TIE_LOWEST:
		break;
	}
	return lowest;
}

/* Two rules need what algo_blame_tally() keeps of the network. Algorithms that
 * never called it have no such rules. */
static int check_rule(enum algo_blame_tie rule, const struct algo_tally *t,
    struct sim_err *e)
{
	if ((rule == ALGO_TIE_MATLAB && !t->clos) ||
	    (rule == ALGO_TIE_FABRIC && t->n_host_links == 0))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "this algorithm has no tie rule %s.",
		    algo_blame_ties[rule]);
	return 0;
}

/* A single best hop needs no rule; above all it draws no random number, so that
 * adding a rule does not shift the stream. */
static inline topo_link blame_choose(enum algo_blame_tie rule,
    const struct algo_tally *t, const topo_link link[], struct best best,
    struct sim_rng *tie)
{
	return best.first == best.last ? link[best.first]
				       : break_tie(rule, t, link, best, tie);
}

int algo_blame_by_votes(const struct algo_blame *how,
    const struct algo_tally *t, const struct obs *w, struct sim_rng *tie,
    struct algo_verdicts *out, struct sim_err *e)
{
	const uint64_t floor = algo_tally_units(how->noise_floor);
	int rc;
	if ((rc = check_rule(how->tie, t, e)) < 0 ||
	    (rc = algo_verdicts_reserve_flows(out, w->flows.n, e)) < 0)
		return rc;
	/* Flows that are no voters keep TOPO_NONE: they lost nothing, or no hop
	 * of theirs is known. */
	for (size_t i = 0; i < t->n_voters; i++) {
		const struct algo_voter *v = &t->voter[i];
		const topo_link *path = algo_tally_path(t, v);
		const struct best best = find_best(t, path, v->n_hops);
		if (!algo_blame_is_noise(how, floor, best.votes,
			algo_tally_share(v)))
			out->blame[v->flow] =
			    blame_choose(how->tie, t, path, best, tie);
	}
	return 0;
}

void algo_blame_set_aside(const struct algo_blame *how, struct algo_tally *t)
{
	const uint64_t floor = algo_tally_units(how->noise_floor);
	for (size_t i = 0; i < t->n_voters; i++) {
		struct algo_voter *v = &t->voter[i];
		v->aside = (uint8_t)algo_blame_is_noise(how, floor,
		    algo_tally_best(t, v), algo_tally_share(v));
	}
}

int algo_blame_by_flags(enum algo_blame_tie rule, const struct algo_tally *t,
    const struct obs *w, struct sim_rng *tie, struct algo_verdicts *out,
    struct sim_err *e)
{
	int rc;
	if ((rc = check_rule(rule, t, e)) < 0 ||
	    (rc = algo_verdicts_reserve_flows(out, w->flows.n, e)) < 0)
		return rc;
	for (size_t i = 0; i < t->n_voters; i++) {
		const struct algo_voter *v = &t->voter[i];
		const topo_link *path = algo_tally_path(t, v);
		topo_link flagged[TOPO_MAX_HOPS];
		unsigned n = 0;
		if (v->aside)
			continue;
		/* DEPARTS: for flows with several flagged links on the path the
		 * release means to count an error and in fact takes the first
		 * index; here the votes decide. */
		for (unsigned j = 0; j < v->n_hops; j++)
			if (path[j] != TOPO_NONE && t->flagged[path[j]])
				flagged[n++] = path[j];
		if (n > 0)
			out->blame[v->flow] = blame_choose(rule, t, flagged,
			    find_best(t, flagged, n), tie);
	}
	return 0;
}
