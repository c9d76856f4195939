/* algos/vigil/alg1.c -- 007's Algorithm 1: flag the top link, adjust, repeat.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/alg1.h"

#include <stdlib.h>
#include <string.h>

#include "algos/vigil/top.h"
#include "sim/vec.h"

/* The two sums are kept up to date with every change of a vote, so that the
 * test of each round, v(lmax) >= threshold * sum v, does not add up all links
 * again. sum_left is of the links that are not flagged, sum_flagged of those
 * that are, each with the votes that it was flagged with. */
struct alg1 {
	struct algo_alg1_params params;
	const struct topo *topo;
	struct algo_tally tally;
	struct algo_top top;
	struct algo_switch_view view; /* on: switch */
	/* Only for `adjust: expected`: the links that have votes and are not
	 * flagged, and the share that each is to lose. */
	topo_link *left;
	double *share;
	size_t n_left, cap_left, cap_share;
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
	free(a->left);
	free(a->share);
}

/* P(l | lmax) is worked out from the links that a flow may take. Switches have
 * no such law here, so `expected` is refused rather than approximated. */
static int alg1_check(const struct algo_alg1_params *p, struct sim_err *e)
{
	if (p->on == ALGO_KIND_SWITCH && p->adjust == ALGO_ALG1_EXPECTED)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "adjust expected is about links; with `on: switch` it is "
		    "none or removal.");
	return 0;
}

static int alg1_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct alg1 *a = work;
	const int rc = alg1_check(&a->params, e);
	a->topo = t;
	return rc < 0 ? rc
		      : algo_blame_tally(&a->tally, a->params.blame.tie,
			    a->params.on, t, e);
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

/* Adjust as the text of section 5.2 is read here: all votes of lmax are taken
 * to be its own fault, so a link l that shares paths with it loses v(lmax) *
 * P(l | lmax), the votes that those flows are expected to have given l under
 * uniform ECMP. */
static int adjust_expected(struct alg1 *a, topo_link flagged, struct sim_err *e)
{
	const struct algo_tally *t = &a->tally;
	const double votes = (double)t->link[flagged].votes;
	size_t n = 0;
	int rc;
	/* Links that were flagged, or have come down to no votes, cannot
	 * lose any: leaving them out makes each round cheaper than the one
	 * before. */
	for (size_t i = 0; i < a->n_left; i++) {
		const topo_link l = a->left[i];
		a->left[n] = l;
		n += !t->flagged[l] && t->link[l].votes > 0;
	}
	a->n_left = n;
	if ((rc = topo_share_given(a->topo, flagged, a->left, n, a->share, e)) <
	    0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		uint64_t *at = &t->link[a->left[i]].votes;
		/* Expected votes may exceed those that a link really has; a
		 * negative tally would mean nothing, so the floor is 0. */
		uint64_t d = (uint64_t)(votes * a->share[i] + 0.5);
		d = d < *at ? d : *at;
		*at -= d;
		a->sum_left -= d;
	}
	return 0;
}

/* Adjust the tally after FLAGGED went into B. With `removal` sum_left falls by
 * whole voters: what they gave the flagged link is part of it, and the link
 * itself ends with no votes. */
static int adjust(struct alg1 *a, topo_link flagged, struct sim_err *e)
{
	const uint64_t votes = a->tally.link[flagged].votes;
	a->sum_flagged += votes;
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

/* The loop of Algorithm 1: lmax = argmax over L \ B, until it has less than
 * the threshold's share. algo_top finds lmax without a look at all links,
 * because adjusting only ever lowers votes. DEPARTS: the published loop tests
 * the link before and then adds the next; here the link that is to be flagged
 * is tested. */
static int flag_links(struct alg1 *a, struct algo_verdicts *out,
    struct sim_err *e)
{
	struct algo_tally *t = &a->tally;
	const uint64_t initial = a->sum_left;
	const uint64_t floor = algo_tally_units(a->params.floor);
	topo_link l;
	int rc;
	if ((rc = algo_top_start(&a->top, t, ALGO_TOP_VOTES, e)) < 0)
		return rc;
	while ((l = algo_top_peek(&a->top)) != TOPO_NONE) {
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
		algo_top_take(&a->top);
		if ((rc = adjust(a, l, e)) < 0)
			return rc;
	}
	return 0;
}

/* Begin with all links that have votes: no other can lose any. */
static int start_expected(struct alg1 *a, struct sim_err *e)
{
	const size_t n = a->tally.n_touched;
	int rc;
	if ((rc = SIM_RESERVE(&a->left, &a->cap_left, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&a->share, &a->cap_share, n, e)) < 0)
		return rc;
	if (n > 0)
		memcpy(a->left, a->tally.touched, n * sizeof(*a->left));
	a->n_left = n;
	return 0;
}

static int alg1_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct alg1 *a = work;
	struct algo_tally *t = &a->tally;
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
	    : algo_tally_count(t, window, e);
	if (rc < 0)
		return rc;
	/* The shares of a voter add up to one vote exactly. Flows are blamed by
	 * the votes as counted, so that comes before the filter and the
	 * adjustments change them. */
	a->sum_left = (uint64_t)t->n_voters * ALGO_TALLY_VOTE;
	a->sum_flagged = 0;
	if ((rc = algo_blame_by_votes(&a->params.blame, t, window, tie, out,
		 e)) < 0)
		return rc;
	if (a->params.noise_filter)
		drop_noise(a);
	if (a->params.adjust == ALGO_ALG1_EXPECTED &&
	    (rc = start_expected(a, e)) < 0)
		return rc;
	if ((rc = flag_links(a, out, e)) < 0)
		return rc;
	/* The links outside B with the votes that adjusting left them, so that a
	 * ranking exists beyond those that are flagged. */
	return algo_tally_list(t, out, e);
}

const struct algo_ops algo_alg1 = {
    .name = "alg1",
    .paper = "007 (NSDI'18), section 5.2, Algorithm 1",
    .doc = "flag the most voted link, adjust the votes, repeat",
    .needs = OBS_FLOWS | OBS_HOPS,
    .params = alg1_fields,
    .params_size = sizeof(struct algo_alg1_params),
    .work_size = sizeof(struct alg1),
    .init = alg1_init,
    .diagnose = alg1_diagnose,
    .free = alg1_free,
};
