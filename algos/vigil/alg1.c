/* algos/vigil/alg1.c -- 007's Algorithm 1: flag the top link, adjust, repeat.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/alg1.h"

#include <stdlib.h>

#include "algos/vigil/common.h"
#include "algos/vigil/top.h"
#include "sim/vec.h"
#include "topo/alike.h"

/* The two sums are kept up to date with every change of a vote, so that the
 * test of each round, v(lmax) >= threshold * sum v, does not add up all links
 * again. sum_left is of the links that are not flagged, sum_flagged of those
 * that are, each with the votes that it was flagged with. */
struct alg1 {
	struct algo_alg1_params params;
	const struct topo *topo;
	struct algo_tally tally;
	struct algo_top top;
	struct algo_common *common;   /* or NULL */
	struct algo_switch_view view; /* on: switch */
	/* Only for `adjust: expected`, in place of top: the links that have
	 * votes and are not flagged, their votes, the share that each is to
	 * lose, and which has most. */
	struct topo_alike left;
	uint64_t *votes; /* [left.n], units */
	double *share;   /* [left.n] */
	size_t cap_votes, cap_share;
	size_t most; /* the smallest id of equals; left.n: none is left */
	uint64_t sum_left, sum_flagged; /* units */
};

const char *const algo_alg1_totals[] = {"initial", "current", "remaining",
    NULL};
const char *const algo_alg1_adjusts[] = {"none", "expected", "removal", NULL};

#define AT(member) .offset = offsetof(struct algo_alg1_params, member)
static const struct sim_field alg1_fields[] =
    {ALGO_ON_FIELD(struct algo_alg1_params, on),
	{.name = "threshold",
	    .type = SIM_F_F64,
	    AT(threshold),
	    .min = 0,
	    .max = 1,
	    .unit = "1",
	    .def = "0.01",
	    .doc = "share of the total that a link must have"},
	{.name = "total",
	    .type = SIM_F_ENUM,
	    AT(total),
	    .names = algo_alg1_totals,
	    .unit = "1",
	    .def = "initial",
	    .doc = "votes cast (the paper's words), as adjusted (its "
		   "pseudo-code), or of links not flagged"},
	{.name = "adjust",
	    .type = SIM_F_ENUM,
	    AT(adjust),
	    .names = algo_alg1_adjusts,
	    .unit = "1",
	    .def = "expected",
	    .doc = "what a flagged link takes from the others"},
	{.name = "noise_filter",
	    .type = SIM_F_BOOL,
	    AT(noise_filter),
	    .unit = "1",
	    .def = "false",
	    .doc = "first drop flows that share no link with another"},
	{.name = "floor",
	    .type = SIM_F_F64,
	    AT(floor),
	    .min = 0,
	    .max = ALGO_TALLY_MAX_VOTES,
	    .unit = "votes",
	    .def = "0",
	    .doc = "stop when the best link has fewer votes"},
	ALGO_BLAME_FIELDS(struct algo_alg1_params, blame, "tie"), {0}};
#undef AT

static void alg1_free(void *work)
{
	struct alg1 *a = work;
	algo_tally_close(&a->tally);
	algo_top_free(&a->top);
	algo_switch_view_free(&a->view);
	topo_alike_free(&a->left);
	free(a->votes);
	free(a->share);
}

/* P(l | lmax) is worked out from the links that a flow may take. Switches have
 * no such law here, so `expected` is refused rather than approximated. */
static int alg1_check(const void *params, struct sim_err *e)
{
	const struct algo_alg1_params *p = params;
	if (p->on == ALGO_KIND_SWITCH && p->adjust == ALGO_ALG1_EXPECTED)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "adjust expected is about links; with `on: switch` it is "
		    "none or removal.");
	return algo_blame_check(p->blame.tie, p->on, e);
}

static int alg1_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct alg1 *a = work;
	a->topo = t;
	return algo_blame_tally(&a->tally, a->params.blame.tie, a->params.on, t,
	    e);
}

/* A flow whose best link carries only its own vote has no link that another
 * flow votes for, so dropping it changes no other flow's case. DEPARTS:
 * Algorithm 1 has no such step. It keeps lone noise drops out of the total,
 * where they would raise the threshold for links that really fail. */
static void drop_noise(struct alg1 *a)
{
	struct algo_tally *t = &a->tally;
	for (size_t i = 0; i < t->n_voters; i++) {
		struct algo_voter *v = &t->voter[i];
		if (algo_tally_best(t, v) == algo_tally_share(v)) {
			algo_tally_drop(t, v);
			a->sum_left -= ALGO_TALLY_VOTE;
		}
	}
}

/* Adjust by deleting what the flagged link explains: every failed flow through
 * it takes its vote back from all links of its path. A voter may have gone
 * already, with a link flagged earlier or as noise, and must not be deducted
 * twice. */
static void adjust_removal(struct alg1 *a, topo_link flagged)
{
	struct algo_tally *t = &a->tally;
	const struct algo_tally_link *l = &t->link[flagged];
	for (uint32_t i = 0; i < l->n_flows; i++) {
		struct algo_voter *v = &t->voter[t->by_link[l->begin + i]];
		if (!v->gone) {
			algo_tally_drop(t, v);
			a->sum_left -= ALGO_TALLY_VOTE;
		}
	}
}

/* Link I has come down to no votes or was flagged: it can lose no more, and
 * leaving it out makes each round cheaper than the one before. */
static void alg1_leave_out(struct alg1 *a, size_t i)
{
	const size_t last = a->left.n - 1;
	a->votes[i] = a->votes[last];
	a->share[i] = a->share[last];
	topo_alike_drop(&a->left, i);
}

static inline void alg1_note_most(struct alg1 *a, size_t i, uint64_t votes,
    uint64_t *most)
{
	if (votes < *most)
		return;
	if (votes > *most || a->left.link[i] < a->left.link[a->most])
		a->most = i;
	*most = votes;
}

/* Adjust as the text of section 5.2 is read here: all votes of lmax are taken
 * to be its own fault, so a link l that shares paths with it loses v(lmax) *
 * P(l | lmax), the votes that those flows are expected to have given l under
 * uniform ECMP. Every link is looked at, so the next lmax is found with it. */
static int adjust_expected(struct alg1 *a, topo_link flagged, struct sim_err *e)
{
	const struct algo_tally *t = &a->tally;
	const double votes = (double)t->link[flagged].votes;
	uint64_t *const left = a->votes;
	const double *const share = a->share;
	uint64_t most = 0, taken = 0;
	int rc;
	alg1_leave_out(a, a->most);
	if ((rc = topo_alike_shares(&a->left, flagged, a->share, e)) < 0)
		return rc;
	for (size_t i = 0; i < a->left.n;) {
		const uint64_t v = left[i];
		/* Expected votes may exceed those that a link really has; a
		 * negative tally would mean nothing, so the floor is 0. They
		 * are below 2^52, whence the cast by way of a signed one, which
		 * takes a single instruction. */
		uint64_t d = (uint64_t)(int64_t)(votes * share[i] + 0.5);
		d = d < v ? d : v;
		taken += d;
		if (d == v) {
			t->link[a->left.link[i]].votes = 0;
			alg1_leave_out(a, i);
			continue;
		}
		left[i] = v - d;
		alg1_note_most(a, i++, v - d, &most);
	}
	a->sum_left -= taken;
	if (most == 0)
		a->most = a->left.n;
	return 0;
}

/* Adjust the tally after FLAGGED went into B. With `removal` sum_left falls by
 * whole voters: what they gave the flagged link is part of it, and the link
 * itself ends with no votes. */
static int adjust(struct alg1 *a, topo_link flagged, struct sim_err *e)
{
	const uint64_t votes = a->tally.link[flagged].votes;
	a->sum_flagged += votes;
	if (a->params.adjust != ALGO_ALG1_EXPECTED)
		algo_top_take(&a->top);
	switch ((enum algo_alg1_adjust)a->params.adjust) {
	case ALGO_ALG1_NONE:
		a->sum_left -= votes;
		break;
	case ALGO_ALG1_EXPECTED:
		a->sum_left -= votes;
		return adjust_expected(a, flagged, e);
	case ALGO_ALG1_REMOVAL:
		adjust_removal(a, flagged);
		break;
	}
	return 0;
}

/* Algorithm 1 compares with the sum over all links, L, which can be read as the
 * sum at the start, as adjusted so far, or of L \ B alone. Each is at most the
 * one before, so what the first flags is a beginning of what the next does.
 * Results depend strongly on the choice, hence a parameter. */
static uint64_t total(const struct alg1 *a, uint64_t initial)
{
	switch ((enum algo_alg1_total)a->params.total) {
	case ALGO_ALG1_INITIAL:
		return initial;
	case ALGO_ALG1_CURRENT:
		return a->sum_left + a->sum_flagged;
	case ALGO_ALG1_REMAINING:
		break;
	}
	return a->sum_left;
}

/* Begin with all links that have votes: no other can lose any. */
static int start_expected(struct alg1 *a, struct sim_err *e)
{
	const struct algo_tally *t = &a->tally;
	const size_t n = t->n_touched;
	uint64_t most = 0;
	int rc;
	if ((rc = SIM_RESERVE(&a->votes, &a->cap_votes, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&a->share, &a->cap_share, n, e)) < 0 ||
	    (rc = topo_alike_take(&a->left, a->topo, t->touched, n, e)) < 0)
		return rc;
	a->most = 0;
	for (size_t i = 0; i < a->left.n;) {
		const uint64_t votes = t->link[a->left.link[i]].votes;
		if (votes == 0) { /* drop_noise() */
			topo_alike_drop(&a->left, i);
			continue;
		}
		a->votes[i] = votes;
		alg1_note_most(a, i++, votes, &most);
	}
	return 0;
}

/* The tally as adjusting left it. */
static void end_expected(const struct alg1 *a)
{
	for (size_t i = 0; i < a->left.n; i++)
		a->tally.link[a->left.link[i]].votes = a->votes[i];
}

static int start_rounds(struct alg1 *a, struct sim_err *e)
{
	return a->params.adjust == ALGO_ALG1_EXPECTED
	    ? start_expected(a, e)
	    : algo_top_start(&a->top, &a->tally, ALGO_TOP_VOTES, e);
}

/* lmax = argmax over L \ B, or TOPO_NONE. algo_top finds it without a look at all
 * links, because adjusting only ever lowers votes. */
static topo_link find_lmax(struct alg1 *a)
{
	topo_link l;
	if (a->params.adjust != ALGO_ALG1_EXPECTED)
		return algo_top_peek(&a->top);
	if (a->most >= a->left.n)
		return TOPO_NONE;
	l = a->left.link[a->most];
	a->tally.link[l].votes = a->votes[a->most];
	return l;
}

/* The loop of Algorithm 1, until lmax has less than the threshold's share.
 * DEPARTS: the published loop tests the link before and then adds the next; here
 * the link that is to be flagged is tested. */
static int flag_links(struct alg1 *a, struct algo_verdicts *out,
    struct sim_err *e)
{
	struct algo_tally *t = &a->tally;
	const uint64_t initial = a->sum_left;
	const uint64_t floor = algo_tally_units(a->params.floor);
	topo_link l;
	int rc;
	if ((rc = start_rounds(a, e)) < 0)
		return rc;
	while ((l = find_lmax(a)) != TOPO_NONE) {
		const uint64_t votes = t->link[l].votes;
		const double least =
		    a->params.threshold * (double)total(a, initial);
		if (votes < floor || (double)votes < least)
			break;
		if ((rc = algo_verdicts_add(out, l, algo_tally_votes(votes),
			 e)) < 0)
			return rc;
		out->n_flagged++;
		t->flagged[l] = 1;
		if ((rc = adjust(a, l, e)) < 0)
			return rc;
	}
	if (a->params.adjust == ALGO_ALG1_EXPECTED)
		end_expected(a);
	return 0;
}

static int alg1_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct alg1 *a = work;
	struct algo_tally *t = &a->tally;
	struct algo_common *c =
	    a->params.on == ALGO_KIND_LINK ? a->common : NULL;
	int rc;
	algo_verdicts_clear(out);
	out->flags = 1;
	/* Section 5.1 votes on links; to find failing switches the same votes
	 * go to the switches on the path. */
	if ((rc = algo_switch_view_on(&a->view, a->params.on, a->topo, &window,
		 out, e)) < 0)
		return rc;
	/* Only `removal` asks which flows cross a link, so only it pays for the
	 * index. */
	rc = a->params.adjust == ALGO_ALG1_REMOVAL
	    ? algo_tally_index(t, window, e)
	    : algo_common_count(c, t, window, 0, e);
	if (rc < 0)
		return rc;
	/* The shares of a voter add up to one vote exactly. Flows are blamed by
	 * the votes as counted, so that comes before the filter and the
	 * adjustments change them. */
	a->sum_left = (uint64_t)t->n_voters * ALGO_TALLY_VOTE;
	a->sum_flagged = 0;
	if ((rc = algo_common_blame(c, &a->params.blame, t, window, tie, 0, out,
		 e)) < 0)
		return rc;
	if (a->params.noise_filter)
		drop_noise(a);
	if ((rc = flag_links(a, out, e)) < 0)
		return rc;
	/* The links outside B with the votes that adjusting left them, so that a
	 * ranking exists beyond those that are flagged. */
	return algo_tally_list(t, out, e);
}

static void alg1_join(void *work, struct algo_common *c)
{
	struct alg1 *a = work;
	a->common = c;
}

const struct algo_ops algo_alg1 = {
    .name = "alg1",
    .paper = "007 (NSDI'18), section 5.2, Algorithm 1",
    .doc = "flag the most voted link, adjust the votes, repeat",
    .needs = OBS_FLOWS | OBS_HOPS,
    .params = alg1_fields,
    .params_size = sizeof(struct algo_alg1_params),
    .check = alg1_check,
    .work_size = sizeof(struct alg1),
    .init = alg1_init,
    .diagnose = alg1_diagnose,
    .free = alg1_free,
    .join = alg1_join,
};
