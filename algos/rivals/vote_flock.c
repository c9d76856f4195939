/* algos/rivals/vote_flock.c -- votes, and exact removal of what is explained.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/vote_flock.h"

#include <stdlib.h>
#include <string.h>

#include "algos/rivals/accused.h"
#include "algos/rivals/lossy.h"
#include "sim/vec.h"

/* Units of a vote: 1 to 16 divide it, so that sums are exact. */
#define RIVAL_VOTE 720720u

struct rival_vote {
	struct algo_vote_flock_params params;
	const struct topo *topo;
	struct algo_ways ways;
	struct algo_lossy lossy;
	uint64_t *votes; /* [n_links + n_switches] units */
	uint64_t sum;
};

static const char *const rival_vote_kinds[] = {"link", "switch", NULL};

#define FIELD(m) offsetof(struct algo_vote_flock_params, m)
static const struct sim_field rival_vote_fields[] = {
    {"on", SIM_F_ENUM, FIELD(on), .names = rival_vote_kinds, .unit = "1",
	.def = "link", .doc = "what gets votes and is accused"},
    {"theta", SIM_F_F64, FIELD(theta), .min = 0, .max = 1, .unit = "1",
	.def = "0",
	.doc = "share of the votes left that one must have; 0: .0023 of "
	       "links, .0145 of switches"},
    {0},
};

static const struct sim_field rival_score_fields[] = {
    {"on", SIM_F_ENUM, FIELD(on), .names = rival_vote_kinds, .unit = "1",
	.def = "link", .doc = "what gets votes and is accused"},
    {"theta", SIM_F_F64, FIELD(theta), .min = 0, .max = 1, .unit = "1",
	.def = "0.0025", .doc = "share of the votes left that one must have"},
    {0},
};

static void rival_vote_free(void *work)
{
	struct rival_vote *a = work;
	algo_ways_free(&a->ways);
	algo_lossy_free(&a->lossy);
	free(a->votes);
}

static int rival_vote_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct rival_vote *a = work;
	a->topo = t;
	return SIM_ZALLOC(&a->votes, (size_t)t->n_links + t->n_switches, e);
}

/* What of row K gets votes, moved to the front of PART. */
static unsigned rival_vote_parts(const struct rival_vote *a, size_t k,
    uint32_t part[])
{
	const unsigned n = algo_lossy_parts(&a->lossy, k, part);
	unsigned n_kept = 0;
	for (unsigned j = 0; j < n; j++)
		if ((part[j] >= a->topo->n_links) ==
		    (a->params.on == ALGO_KIND_SWITCH))
			part[n_kept++] = part[j];
	return n_kept;
}

/* Row K votes, or takes its votes back. */
static void rival_vote_cast(struct rival_vote *a, size_t k, int back)
{
	uint32_t part[ALGO_LOSSY_PARTS];
	const unsigned n = rival_vote_parts(a, k, part);
	for (unsigned j = 0; j < n; j++) {
		const uint64_t share = RIVAL_VOTE / n;
		a->votes[part[j]] += back ? -share : share;
		a->sum += back ? -share : share;
	}
}

static void rival_vote_explain(struct rival_vote *a, uint32_t c)
{
	struct algo_lossy *x = &a->lossy;
	for (uint32_t i = x->begin[c]; i < x->begin[c + 1]; i++)
		if (algo_lossy_take(x, x->over[i]))
			rival_vote_cast(a, x->over[i], 1);
}

static int rival_vote_accuse(struct rival_vote *a, double theta,
    struct algo_verdicts *out, struct sim_err *e)
{
	const uint32_t n_parts = a->topo->n_links + a->topo->n_switches;
	int rc = 0;
	while (rc == 0 && a->sum > 0) {
		uint32_t best = 0;
		for (uint32_t c = 1; c < n_parts; c++)
			if (a->votes[c] > a->votes[best])
				best = c;
		if ((double)a->votes[best] < theta * (double)a->sum)
			break;
		rc = algo_verdicts_add(out, best,
		    (double)a->votes[best] / RIVAL_VOTE, e);
		rival_vote_explain(a, best);
	}
	out->n_flagged = out->n;
	for (uint32_t c = 0; rc == 0 && c < n_parts; c++)
		if (a->votes[c] > 0)
			rc = algo_verdicts_add(out, c,
			    (double)a->votes[c] / RIVAL_VOTE, e);
	return rc;
}

static int rival_vote_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct rival_vote *a = work;
	const uint32_t n_parts = a->topo->n_links + a->topo->n_switches;
	const int of_switches = a->params.on == ALGO_KIND_SWITCH;
	int rc;
	(void)tie;
	algo_verdicts_clear(out);
	out->flags = 1;
	out->kind = ALGO_KIND_BOTH;
	out->n_links = a->topo->n_links;
	if ((rc = algo_ways_update(&a->ways, a->topo, window->tallies->paths, 1,
		 0, e)) < 0 ||
	    (rc = algo_lossy_read(&a->lossy, &a->ways, window->tallies, NULL,
		 n_parts, e)) < 0)
		return rc;
	memset(a->votes, 0, n_parts * sizeof(*a->votes));
	a->sum = 0;
	for (size_t k = 0; k < a->lossy.n; k++)
		rival_vote_cast(a, k, 0);
	const double theta = a->params.theta ? a->params.theta
	    : of_switches                    ? .0145
					     : .0023;
	rc = rival_vote_accuse(a, theta, out, e);
	return rc < 0 ? rc : algo_accused_blame(&a->ways, window, out, e);
}

const struct algo_ops algo_vote_flock = {
    .name = "vote_flock",
    .paper = "007 (NSDI'18) as in Flock (CoNEXT'23)",
    .doc = "007's vote, what is explained being taken away exactly",
    .needs = OBS_TALLIES | OBS_TALLIES_TRACED,
    .params = rival_vote_fields,
    .params_size = sizeof(struct algo_vote_flock_params),
    .work_size = sizeof(struct rival_vote),
    .init = rival_vote_init,
    .diagnose = rival_vote_diagnose,
    .free = rival_vote_free,
};

const struct algo_ops algo_score = {
    .name = "score",
    .paper = "Score as in Flock (CoNEXT'23)",
    .doc = "vote_flock with a threshold of its own",
    .needs = OBS_TALLIES | OBS_TALLIES_TRACED,
    .params = rival_score_fields,
    .params_size = sizeof(struct algo_vote_flock_params),
    .work_size = sizeof(struct rival_vote),
    .init = rival_vote_init,
    .diagnose = rival_vote_diagnose,
    .free = rival_vote_free,
};
