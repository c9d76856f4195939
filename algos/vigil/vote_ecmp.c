/* algos/vigil/vote_ecmp.c -- 007's vote by probabilities, of unknown paths.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/vote_ecmp.h"

#include <stdlib.h>

#include "sim/vec.h"
#include "topo/shares.h"

struct vote_ecmp {
	struct algo_vote_ecmp_params params;
	const struct topo *topo;
	struct algo_tally tally;
	struct topo_shares shares; /* of the flow looked at last */
	uint32_t *lost;            /* flows without a known hop */
	size_t n_lost, cap_lost;
	uint64_t *no_hops; /* [flows + 1] zeros: offsets of empty paths */
	size_t cap_no_hops;
};

#define AT(member) .offset = offsetof(struct algo_vote_ecmp_params, member)
static const struct sim_field vote_ecmp_fields[] =
    {{.name = "ignore_paths",
	 .type = SIM_F_BOOL,
	 AT(ignore_paths),
	 .unit = "1",
	 .def = "false",
	 .doc = "take no path as known"},
	ALGO_BLAME_FIELDS(struct algo_vote_ecmp_params, blame, "tie"), {0}};
#undef AT

static void vote_ecmp_free(void *work)
{
	struct vote_ecmp *a = work;
	algo_tally_close(&a->tally);
	topo_shares_free(&a->shares);
	free(a->lost);
	free(a->no_hops);
}

static int vote_ecmp_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct vote_ecmp *a = work;
	a->topo = t;
	return algo_blame_tally(&a->tally, a->params.blame.tie, ALGO_KIND_LINK,
	    t, e);
}

/* Present W as if no path were known. All offsets 0 make every path empty; the
 * flows themselves are borrowed. */
static int forget_paths(struct vote_ecmp *a, const struct obs *w,
    struct obs *out, struct sim_err *e)
{
	const size_t n = w->flows.n + 1;
	int rc = SIM_RESERVE(&a->no_hops, &a->cap_no_hops, n, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		a->no_hops[i] = 0;
	*out = *w;
	out->hops = (struct obs_hops){.off = a->no_hops, .link = w->hops.link};
	return 0;
}

/* List the failed flows of which no hop is known. The tally has a voter for
 * every other failed flow, in the order of the window: one walk over both finds
 * those in between. */
static int list_lost(struct vote_ecmp *a, const struct obs *w,
    struct sim_err *e)
{
	size_t k = 0;
	int rc;
	a->n_lost = 0;
	for (size_t i = 0; i < w->flows.n; i++) {
		if (k < a->tally.n_voters && a->tally.voter[k].flow == i) {
			k++;
			continue;
		}
		if (w->flows.n_retx[i] == 0)
			continue;
		if ((rc = SIM_RESERVE(&a->lost, &a->cap_lost, a->n_lost + 1,
			 e)) < 0)
			return rc;
		a->lost[a->n_lost++] = (uint32_t)i;
	}
	return 0;
}

/* P(link | source, destination) for every link that ECMP may use. Called twice
 * a flow, for its votes and later for its blame: keeping the shares of all
 * flows would take far more memory than the tally. */
static int find_shares(struct vote_ecmp *a, const struct obs *w, size_t flow,
    struct sim_err *e)
{
	const topo_host src = w->flows.src_host[flow];
	const topo_host dst = w->flows.dst_host[flow];
	const uint32_t n = a->topo->n_hosts;
	if (src >= n || dst >= n)
		return sim_fail(e, SIM_EINVAL,
		    "flow %zu is from host %u to host %u, but there are only "
		    "%u hosts.",
		    flow, src, dst, n);
	return topo_shares_between(&a->shares, a->topo, src, dst, e);
}

/* What a flow with shares S gives to the I-th link that it may cross, in units:
 * P(link) / h, the expectation of 007's 1/h over its possible paths. */
static uint64_t given(const struct topo_shares *s, size_t i)
{
	return (uint64_t)(s->share[i] * ALGO_TALLY_VOTE / s->n_hops + 0.5);
}

/* A link whose share rounds to no unit at all stays untouched: otherwise it
 * would be listed a second time when its first vote comes. */
static void vote_ecmp_add_votes(struct algo_tally *t,
    const struct topo_shares *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct algo_tally_link *l = &t->link[s->link[i]];
		const uint64_t votes = given(s, i);
		if (l->votes == 0 && votes > 0)
			t->touched[t->n_touched++] = s->link[i];
		l->votes += votes;
	}
}

/* DEPARTS: 007 blames the most voted hop of the path. Without a path the votes
 * of a link are weighted by the chance that this flow crossed it at all, or
 * else every flow under a ToR would be blamed on a link that few of them can
 * have taken. */
static topo_link vote_ecmp_blame(const struct algo_blame *how,
    const struct algo_tally *t, const struct topo_shares *s)
{
	double best = 0;
	size_t at = 0;
	for (size_t i = 0; i < s->n; i++) {
		const double x =
		    s->share[i] * (double)t->link[s->link[i]].votes;
		if (x > best || (x == best && s->link[i] < s->link[at])) {
			best = x;
			at = i;
		}
	}
	/* Votes were rounded, so a flow may have given nothing to any link:
	 * then there is nothing to blame. Its own vote is not 1/h but what it
	 * gave to this very link. */
	if (best == 0 ||
	    algo_blame_is_noise(how, algo_tally_units(how->noise_floor),
		t->link[s->link[at]].votes, given(s, at)))
		return TOPO_NONE;
	return s->link[at];
}

static int vote_ecmp_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct vote_ecmp *a = work;
	struct obs without;
	int rc;
	algo_verdicts_clear(out);
	if (a->params.ignore_paths) {
		if ((rc = forget_paths(a, window, &without, e)) < 0)
			return rc;
		window = &without;
	}
	/* Flows with a path vote first, as in section 5.1, then the others by
	 * shares; sums are of whole units, so the order does not matter. */
	if ((rc = algo_tally_count(&a->tally, window, e)) < 0 ||
	    (rc = list_lost(a, window, e)) < 0)
		return rc;
	for (size_t i = 0; i < a->n_lost; i++) {
		if ((rc = find_shares(a, window, a->lost[i], e)) < 0)
			return rc;
		vote_ecmp_add_votes(&a->tally, &a->shares);
	}
	/* Blame needs the votes of all flows, so it is a second pass. */
	if ((rc = algo_tally_list(&a->tally, out, e)) < 0 ||
	    (rc = algo_blame_by_votes(&a->params.blame, &a->tally, window, tie,
		 out, e)) < 0)
		return rc;
	for (size_t i = 0; i < a->n_lost; i++) {
		if ((rc = find_shares(a, window, a->lost[i], e)) < 0)
			return rc;
		out->blame[a->lost[i]] =
		    vote_ecmp_blame(&a->params.blame, &a->tally, &a->shares);
	}
	return 0;
}

const struct algo_ops algo_vote_ecmp = {
    .name = "vote_ecmp",
    .paper = "after 007 (NSDI'18), section 5.1",
    .doc = "votes of flows whose paths are not known, by ECMP's shares",
    .needs = OBS_FLOWS | OBS_HOPS,
    .params = vote_ecmp_fields,
    .params_size = sizeof(struct algo_vote_ecmp_params),
    .work_size = sizeof(struct vote_ecmp),
    .init = vote_ecmp_init,
    .diagnose = vote_ecmp_diagnose,
    .free = vote_ecmp_free,
};
