/* algos/millisampler/vote_filtered.c -- 007's vote without what buffers lost.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/vote_filtered.h"

#include <stdlib.h>

#include "algos/vigil/alg1.h"
#include "algos/vigil/vote.h"
#include "sim/vec.h"

struct filtered_work {
	struct algo_vote_filtered_params params;
	const struct topo *topo;
	struct algo_loss_filter filter;
	const struct algo_ops *ops; /* who gets what is left */
	void *then;
	uint32_t *n_retx; /* what it sees */
	size_t cap;
};

static const char *const filtered_thens[] = {"vote", "alg1", NULL};

#define AT(member) offsetof(struct algo_vote_filtered_params, member)
static const struct sim_field filtered_fields[] =
    {ALGO_LOSS_FILTER_FIELDS(struct algo_vote_filtered_params, filter),
	{"then", SIM_F_ENUM, AT(then), .names = filtered_thens, .def = "vote",
	    .doc = "what is done with the flows that are left"},
	{"total", SIM_F_ENUM, AT(total), .names = algo_alg1_totals,
	    .def = "initial", .doc = "as of alg1", .when = "then=alg1"},
	{"adjust", SIM_F_ENUM, AT(adjust), .names = algo_alg1_adjusts,
	    .def = "expected", .doc = "as of alg1", .when = "then=alg1"},
	{"floor", SIM_F_F64, AT(floor), .min = 0, .max = ALGO_TALLY_MAX_VOTES,
	    .unit = "votes", .def = "0", .doc = "as of alg1",
	    .when = "then=alg1"},
	ALGO_BLAME_FIELDS(struct algo_vote_filtered_params, blame, "tie"), {0}};

static void filtered_free(void *work)
{
	struct filtered_work *w = work;
	if (w->ops)
		algo_close(w->ops, w->then);
	algo_loss_filter_free(&w->filter);
	free(w->n_retx);
}

static int filtered_open_vote(struct filtered_work *w, struct sim_err *e)
{
	struct algo_vote_params p;
	const int rc = sim_field_defaults(algo_vote.params, &p, e);
	p.blame = w->params.blame;
	w->ops = &algo_vote;
	return rc < 0 ? rc : algo_open(w->ops, &w->then, w->topo, &p, e);
}

static int filtered_open_alg1(struct filtered_work *w, struct sim_err *e)
{
	struct algo_alg1_params p;
	const int rc = sim_field_defaults(algo_alg1.params, &p, e);
	p.total = w->params.total;
	p.adjust = w->params.adjust;
	p.floor = w->params.floor;
	p.blame = w->params.blame;
	w->ops = &algo_alg1;
	return rc < 0 ? rc : algo_open(w->ops, &w->then, w->topo, &p, e);
}

static int filtered_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct filtered_work *w = work;
	w->topo = t;
	const int rc =
	    algo_loss_filter_open(&w->filter, t, &w->params.filter, e);
	if (rc < 0)
		return rc;
	return w->params.then == ALGO_FILTERED_ALG1 ? filtered_open_alg1(w, e)
						    : filtered_open_vote(w, e);
}

/* Present W without the retransmissions that do not count. */
static int filtered_see(struct filtered_work *w, const struct obs *window,
    struct obs *out, struct sim_err *e)
{
	const struct obs_flows *f = &window->flows;
	const int rc = SIM_RESERVE(&w->n_retx, &w->cap, f->n, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < f->n; i++)
		w->n_retx[i] = w->filter.aside[i] ? 0 : f->n_retx[i];
	*out = *window;
	out->flows.n_retx = w->n_retx;
	return 0;
}

static int filtered_diagnose(void *work, const struct obs *window,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct filtered_work *w = work;
	struct algo_samples_in in;
	struct obs seen;
	int rc = algo_samples_begin(window, w->topo, &in, out, e);
	if (rc < 0 ||
	    (rc = algo_loss_filter_find(&w->filter, &w->params.filter, window,
		 &in, e)) < 0 ||
	    (rc = filtered_see(w, window, &seen, e)) < 0)
		return rc;
	return w->ops->diagnose(w->then, &seen, tie, out, e);
}

const struct algo_ops algo_vote_filtered = {
    .name = "vote_filtered",
    .paper = "007 (NSDI'18), section 5.1, on counters of Millisampler",
    .doc = "links ranked by votes of flows whose losses no full buffer "
	   "explains",
    .needs = OBS_FLOWS | OBS_HOPS | OBS_SAMPLES,
    .params = filtered_fields,
    .params_size = sizeof(struct algo_vote_filtered_params),
    .work_size = sizeof(struct filtered_work),
    .init = filtered_init,
    .diagnose = filtered_diagnose,
    .free = filtered_free,
};
