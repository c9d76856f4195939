/* algos/vigil/vote.c -- 007's vote: who was on the path of most failed flows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/vote.h"

#include <stdlib.h>

#include "algos/vigil/common.h"
#include "sim/vec.h"

/* With `signal: rtt` is_slow[] takes the place of the retransmission counters,
 * so that one tally serves both signals. */
struct vote {
	struct algo_vote_params params;
	const struct topo *topo;
	struct algo_tally tally;
	struct algo_common *common;   /* or NULL */
	struct algo_switch_view view; /* on: switch */
	uint32_t *is_slow;            /* signal: rtt; in place of n_retx */
	size_t cap_slow;
};

static const char *const vote_signals[] = {"retx", "rtt", NULL};

static const struct sim_field vote_fields[] =
    {ALGO_ON_FIELD(struct algo_vote_params, on),
	{.name = "signal",
	    .type = SIM_F_ENUM,
	    .offset = offsetof(struct algo_vote_params, signal),
	    .names = vote_signals,
	    .unit = "1",
	    .def = "retx",
	    .doc = "what makes a flow vote"},
	{.name = "rtt_threshold_us",
	    .type = SIM_F_F64,
	    .offset = offsetof(struct algo_vote_params, rtt_threshold_us),
	    .min = 0,
	    .max = 1e9,
	    .unit = "us",
	    .def = "1000",
	    .doc = "smoothed RTT above which a flow votes (signal rtt)",
	    .when = "signal=rtt"},
	ALGO_BLAME_FIELDS(struct algo_vote_params, blame, "tie"), {0}};

static void vote_free(void *work)
{
	struct vote *a = work;
	algo_tally_close(&a->tally);
	algo_switch_view_free(&a->view);
	free(a->is_slow);
}

static int vote_check(const void *params, struct sim_err *e)
{
	const struct algo_vote_params *p = params;
	return algo_blame_check(p->blame.tie, p->on, e);
}

static int vote_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct vote *a = work;
	a->topo = t;
	return algo_blame_tally(&a->tally, a->params.blame.tie, a->params.on, t,
	    e);
}

/* Present W with "was slow" where the tally reads "sent again". Section 9.2
 * names latency as another signal that votes may be cast on: the vote itself
 * stays the same, 1/h on each hop. W is borrowed and not changed. */
static int vote_see_slow(struct vote *a, const struct obs *w, struct obs *out,
    struct sim_err *e)
{
	const size_t n = w->flows.n;
	int rc = SIM_RESERVE(&a->is_slow, &a->cap_slow, n, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		a->is_slow[i] =
		    w->flows.srtt_us[i] > a->params.rtt_threshold_us;
	*out = *w;
	out->flows.n_retx = a->is_slow;
	return 0;
}

static int vote_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct vote *a = work;
	const struct algo_tally *t = &a->tally;
	/* Only votes of failed flows on links are as others count them. */
	struct algo_common *c =
	    a->params.signal == ALGO_VOTE_RETX && a->params.on == ALGO_KIND_LINK
	    ? a->common
	    : NULL;
	struct obs slow;
	int rc;
	algo_verdicts_clear(out);
	if (a->params.signal == ALGO_VOTE_RTT) {
		if ((rc = vote_see_slow(a, window, &slow, e)) < 0)
			return rc;
		window = &slow;
	}
	/* The view replaces each hop by the switch it enters, after the signal
	 * is settled, since both only change what the tally reads. */
	if ((rc = algo_switch_view_on(&a->view, a->params.on, a->topo, &window,
		 out, e)) < 0)
		return rc;
	/* Section 5.1: a bad flow votes 1/h on each of its h hops, a good one
	 * 0. Good flows never take votes back. */
	if ((rc = algo_common_count(c, &a->tally, window, 1, e)) < 0 ||
	    (rc = algo_tally_list(t, out, e)) < 0)
		return rc;
	if (a->params.signal == ALGO_VOTE_RTT)
		return 0;
	/* Section 5.1's second use of the votes: each failed flow is blamed on
	 * the most voted link of its own path. */
	return algo_common_blame(c, &a->params.blame, t, window, tie, 1, out,
	    e);
}

static void vote_join(void *work, struct algo_common *c)
{
	struct vote *a = work;
	a->common = c;
}

const struct algo_ops algo_vote = {
    .name = "vote",
    .paper = "007 (NSDI'18), section 5.1",
    .doc = "links or switches ranked by the votes of flows that "
	   "retransmitted",
    .needs = OBS_FLOWS | OBS_HOPS,
    .params = vote_fields,
    .params_size = sizeof(struct algo_vote_params),
    .check = vote_check,
    .work_size = sizeof(struct vote),
    .init = vote_init,
    .diagnose = vote_diagnose,
    .free = vote_free,
    .join = vote_join,
};
