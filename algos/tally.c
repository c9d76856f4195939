/* algos/tally.c -- votes of failed flows on the links of their paths.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

static const uint32_t share_of[TOPO_MAX_HOPS + 1] = {
#define S(h) ALGO_TALLY_VOTE / (h)
	0,    S(1), S(2),  S(3),  S(4),  S(5),  S(6),  S(7),  S(8),
	S(9), S(10), S(11), S(12), S(13), S(14), S(15), S(16)
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
	free(t->ref);
	*t = (struct algo_tally){0};
}

static void reset(struct algo_tally *t)
{
	for (uint32_t i = 0; i < t->n_touched; i++) {
		t->link[t->touched[i]] = (struct algo_tally_link){0};
		t->flagged[t->touched[i]] = 0;
	}
	t->n_touched = 0;
	t->n_voters = 0;
	t->n_refs = 1;
}

static int bad_path(size_t flow, uint64_t from, uint64_t to, size_t n_hops,
    struct sim_err *e)
{
	if (to < from || to > n_hops)
		return sim_fail(e, SIM_EINVAL,
		    "flow %zu: its hops are %" PRIu64 " to %" PRIu64
		    ", which is not an ascending range within the %zu hops.",
		    flow, from, to, n_hops);
	return sim_fail(e, SIM_EINVAL, "flow %zu has %" PRIu64 " hops, more "
				       "than %d.",
	    flow, to - from, TOPO_MAX_HOPS);
}

/* Fill in voter V for FLOW. Returns its number of known hops. */
static int read_voter(struct algo_voter *v, size_t flow, const struct obs *w,
    uint32_t n_links, struct sim_err *e)
{
	const uint64_t from = w->hops.off[flow], to = w->hops.off[flow + 1];
	/* One comparison also catches to < from. */
	if (to - from > TOPO_MAX_HOPS || to > w->hops.n)
		return bad_path(flow, from, to, w->hops.n, e);
	unsigned n_known = 0;
	for (uint64_t i = from; i < to; i++) {
		topo_link l = w->hops.link[i];
		if (l < n_links)
			n_known++;
		else if (l != TOPO_NONE)
			return sim_fail(e, SIM_EINVAL,
			    "flow %zu: hop %" PRIu64 " is link %u, but there "
			    "are only %u links.",
			    flow, i - from, l, n_links);
	}
	*v = (struct algo_voter){.at = from,
		.flow = (uint32_t)flow,
		.n_hops = (uint8_t)(to - from),
		.n_known = (uint8_t)n_known};
	return (int)n_known;
}

/* Appending first and counting after keeps the loop free of a branch that no
 * processor predicts; hence touched[] has one entry to spare. */
static inline uint32_t add_votes(struct algo_tally *t,
    const struct algo_voter *v, uint32_t first_ref, int index)
{
	const topo_link *path = algo_tally_path(t, v);
	const uint32_t share = share_of[v->n_known];
	const uint32_t voter = (uint32_t)t->n_voters;
	uint32_t n_touched = t->n_touched, r = first_ref;
	for (unsigned i = 0; i < v->n_hops; i++) {
		if (path[i] == TOPO_NONE)
			continue;
		struct algo_tally_link *l = &t->link[path[i]];
		t->touched[n_touched] = path[i];
		n_touched += l->votes == 0;
		l->votes += share;
		if (index) {
			t->ref[r] = (struct algo_tally_ref){l->last, voter};
			l->last = r++;
			l->n_flows++;
		}
	}
	t->n_touched = n_touched;
	return r;
}

/* INDEX is a constant in each caller, so that counting alone pays nothing for
 * the chains. */
static inline __attribute__((always_inline)) int tally(struct algo_tally *t,
    const struct obs *w, int index, struct sim_err *e)
{
	int rc;
	reset(t);
	t->hop = w->hops.link;
	if (w->flows.n >= UINT32_MAX)
		return sim_fail(e, SIM_ELIMIT,
		    "%zu flows are more than a window may hold, %u.",
		    w->flows.n, UINT32_MAX - 1);
	for (size_t flow = 0; flow < w->flows.n; flow++) {
		if (w->flows.n_retx[flow] == 0)
			continue;
		if ((rc = SIM_RESERVE(&t->voter, &t->cap_voters,
			 t->n_voters + 1, e)) < 0)
			return rc;
		struct algo_voter *v = &t->voter[t->n_voters];
		if ((rc = read_voter(v, flow, w, t->n_links, e)) < 0)
			return rc;
		if (rc == 0)
			continue;
		if (index) {
			const size_t need = t->n_refs + v->n_known;
			if (need > UINT32_MAX)
				return sim_fail(e, SIM_ELIMIT,
				    "the failed flows have more than %u known "
				    "hops.",
				    UINT32_MAX - 1);
			if ((rc = SIM_RESERVE(&t->ref, &t->cap_refs, need,
				 e)) < 0)
				return rc;
		}
		t->n_refs = add_votes(t, v, (uint32_t)t->n_refs, index);
		t->n_voters++;
	}
	return 0;
}

int algo_tally_count(struct algo_tally *t, const struct obs *w,
    struct sim_err *e)
{
	return tally(t, w, 0, e);
}

int algo_tally_index(struct algo_tally *t, const struct obs *w,
    struct sim_err *e)
{
	return tally(t, w, 1, e);
}

uint32_t algo_tally_share(const struct algo_voter *v)
{
	return share_of[v->n_known];
}

uint64_t algo_tally_best(const struct algo_tally *t,
    const struct algo_voter *v)
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
	const uint32_t share = share_of[v->n_known];
	for (unsigned i = 0; i < v->n_hops; i++)
		if (path[i] != TOPO_NONE)
			t->link[path[i]].votes -= share;
	v->gone = 1;
}
