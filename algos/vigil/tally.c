/* algos/vigil/tally.c -- votes of failed flows on the links of their paths.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/tally.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* 1/h of a vote for h = 1 to 16, in whole units: looked up, so that the
 * counting loop divides nothing. */
const uint32_t algo_tally_shares[TOPO_MAX_HOPS + 1] = {
#define S(h) ALGO_TALLY_VOTE / (h)
    0, S(1), S(2), S(3), S(4), S(5), S(6), S(7), S(8), S(9), S(10), S(11),
    S(12), S(13), S(14), S(15), S(16)
#undef S
};

int algo_tally_open(struct algo_tally *t, uint32_t n_links, struct sim_err *e)
{
	int rc;
	*t = (struct algo_tally){.n_links = n_links};
	if ((rc = SIM_ZALLOC(&t->link, n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&t->flagged, n_links, e)) < 0 ||
	    (rc = SIM_ZALLOC(&t->touched, (size_t)n_links + 1, e)) < 0)
		algo_tally_close(t);
	return rc;
}

void algo_tally_close(struct algo_tally *t)
{
	free(t->link);
	free(t->flagged);
	free(t->touched);
	free(t->voter);
	free(t->by_link);
	*t = (struct algo_tally){0};
}

/* Only links touched in the window before can be non-zero, so clearing costs
 * what that window cost and not the size of the fabric. */
static void tally_reset(struct algo_tally *t)
{
	for (uint32_t i = 0; i < t->n_touched; i++) {
		t->link[t->touched[i]] = (struct algo_tally_link){0};
		t->flagged[t->touched[i]] = 0;
	}
	t->n_touched = 0;
	t->n_voters = 0;
}

/* Vote on the N links of PATH, up to one that does not exist: returns how many
 * there were. Appending first and counting after keeps the loop free of a
 * branch that no processor predicts; hence touched[] has an entry to spare. */
static inline unsigned tally_add_votes(struct algo_tally *t,
    const topo_link path[], unsigned n)
{
	const uint32_t share = algo_tally_shares[n];
	uint32_t n_touched = t->n_touched;
	unsigned i;
	for (i = 0; i < n && path[i] < t->n_links; i++) {
		struct algo_tally_link *l = &t->link[path[i]];
		t->touched[n_touched] = path[i];
		n_touched += l->votes == 0;
		l->votes += share;
		l->n_flows++;
	}
	t->n_touched = n_touched;
	return i;
}

/* The path of V is only known in part: hop N_VOTED names no link. The hops
 * before it were voted on with shares of a whole path, which is taken back;
 * then the known hops share the vote. DEPARTS: 007 votes on known paths only,
 * though section 4 says that a partial traceroute still points at the link.
 * Returns 0 when a hop is neither known nor TOPO_NONE. */
static int add_partial(struct algo_tally *t, struct algo_voter *v,
    unsigned n_voted, uint32_t n_touched)
{
	const topo_link *path = algo_tally_path(t, v);
	topo_link known[TOPO_MAX_HOPS];
	unsigned n_known = 0;
	for (unsigned i = 0; i < n_voted; i++) {
		t->link[path[i]].votes -= algo_tally_shares[v->n_hops];
		t->link[path[i]].n_flows--;
	}
	/* Links that got their first vote just now are at 0 again and must
	 * leave the list, or they would be listed twice. */
	t->n_touched = n_touched;
	for (unsigned i = 0; i < v->n_hops; i++) {
		if (path[i] < t->n_links)
			known[n_known++] = path[i];
		else if (path[i] != TOPO_NONE)
			return 0;
	}
	tally_add_votes(t, known, n_known);
	v->n_known = (uint8_t)n_known;
	return 1;
}

/* Make V the voter of FLOW and count its votes, taking its path to be wholly
 * known, as most are. Returns 0 when the path is no good. */
static inline int add_voter(struct algo_tally *t, struct algo_voter *v,
    size_t flow, const struct obs *w)
{
	const uint64_t from = w->hops.off[flow], to = w->hops.off[flow + 1];
	const uint32_t n_touched = t->n_touched;
	/* The first comparison also catches to < from. */
	if (to - from > TOPO_MAX_HOPS || to > w->hops.n)
		return 0;
	const unsigned n = (unsigned)(to - from);
	*v = (struct algo_voter){.at = from,
	    .flow = (uint32_t)flow,
	    .n_hops = (uint8_t)n,
	    .n_known = (uint8_t)n};
	const unsigned n_voted = tally_add_votes(t, w->hops.link + from, n);
	return n_voted == n || add_partial(t, v, n_voted, n_touched);
}

int algo_tally_count(struct algo_tally *t, const struct obs *w,
    struct sim_err *e)
{
	int rc;
	tally_reset(t);
	t->hop = w->hops.link;
	if (w->flows.n >= UINT32_MAX)
		return sim_fail(e, SIM_ELIMIT,
		    "%zu flows are more than a window may hold, %u.",
		    w->flows.n, UINT32_MAX - 1);
	for (size_t flow = 0; flow < w->flows.n; flow++) {
		/* Section 5.1: good flows vote 0. They are most of the window,
		 * and this test is all that they cost. */
		if (w->flows.n_retx[flow] == 0)
			continue;
		/* The entry must exist before it is known whether it is needed,
		 * so the check for room comes first. */
		if (t->n_voters == t->cap_voters &&
		    (rc = SIM_RESERVE(&t->voter, &t->cap_voters,
			 t->n_voters + 1, e)) < 0)
			return rc;
		struct algo_voter *v = &t->voter[t->n_voters];
		if (!add_voter(t, v, flow, w))
			/* Counting only notices that a path is bad, to stay
			 * fast; what is wrong with it is found out here,
			 * once. */
			return obs_check_path(w, flow, t->n_links, e);
		/* A flow without a known hop has nothing to vote on: the next
		 * one overwrites its entry. */
		t->n_voters += v->n_known > 0;
	}
	return 0;
}

int algo_tally_copy(struct algo_tally *t, const struct algo_tally *from,
    struct sim_err *e)
{
	int rc;
	tally_reset(t);
	if ((rc = SIM_RESERVE(&t->voter, &t->cap_voters, from->n_voters, e)) <
	    0)
		return rc;
	t->hop = from->hop;
	t->n_voters = from->n_voters;
	t->n_touched = from->n_touched;
	if (from->n_voters > 0)
		memcpy(t->voter, from->voter,
		    from->n_voters * sizeof(*t->voter));
	for (uint32_t i = 0; i < from->n_touched; i++) {
		const topo_link l = from->touched[i];
		t->touched[i] = l;
		t->link[l] = from->link[l];
	}
	return 0;
}

/* A counting sort of (link, voter) pairs. `begin` first holds the end of each
 * link's run and falls by one with every voter put in front; voters are taken
 * from the last to the first, so each run is in the order of the window and
 * `begin` ends where it belongs. */
int algo_tally_index(struct algo_tally *t, const struct obs *w,
    struct sim_err *e)
{
	size_t n = 0;
	int rc;
	if ((rc = algo_tally_count(t, w, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < t->n_touched; i++) {
		struct algo_tally_link *l = &t->link[t->touched[i]];
		n += l->n_flows;
		l->begin = (uint32_t)n;
	}
	if (n > UINT32_MAX)
		return sim_fail(e, SIM_ELIMIT,
		    "failed flows with %zu known hops are more than a window "
		    "may hold, %u.",
		    n, UINT32_MAX);
	if ((rc = SIM_RESERVE(&t->by_link, &t->cap_by_link, n, e)) < 0)
		return rc;
	for (size_t i = t->n_voters; i-- > 0;) {
		const struct algo_voter *v = &t->voter[i];
		const topo_link *path = algo_tally_path(t, v);
		for (unsigned j = 0; j < v->n_hops; j++)
			if (path[j] != TOPO_NONE)
				t->by_link[--t->link[path[j]].begin] =
				    (uint32_t)i;
	}
	return 0;
}

uint64_t algo_tally_best(const struct algo_tally *t, const struct algo_voter *v)
{
	const topo_link *path = algo_tally_path(t, v);
	uint64_t best = 0;
	for (unsigned i = 0; i < v->n_hops; i++)
		if (path[i] != TOPO_NONE && t->link[path[i]].votes > best)
			best = t->link[path[i]].votes;
	return best;
}

void algo_tally_drop(struct algo_tally *t, struct algo_voter *v)
{
	const topo_link *path = algo_tally_path(t, v);
	const uint32_t share = algo_tally_share(v);
	for (unsigned i = 0; i < v->n_hops; i++)
		if (path[i] != TOPO_NONE)
			t->link[path[i]].votes -= share;
	v->gone = 1;
}

int algo_tally_list(const struct algo_tally *t, struct algo_verdicts *out,
    struct sim_err *e)
{
	size_t n = out->n;
	int rc = algo_verdicts_reserve(out, n + t->n_touched, e);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < t->n_touched; i++) {
		const topo_link l = t->touched[i];
		const uint64_t votes = t->link[l].votes;
		if (t->flagged[l] || votes == 0)
			continue;
		out->link[n] = l;
		out->score[n++] = algo_tally_votes(votes);
	}
	out->n = n;
	return 0;
}
