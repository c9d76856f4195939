/* algos/millisampler/vote_filtered.c -- 007's vote without what buffers lost.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/vote_filtered.h"

#include <stdlib.h>
#include <string.h>

#include "algos/millisampler/loss_cause.h"
#include "algos/millisampler/samples_algo.h"
#include "algos/vigil/vote.h"
#include "sim/vec.h"

struct filtered_work {
	struct algo_vote_filtered_params params;
	const struct topo *topo;
	struct algo_loss_cause_params cause;
	struct algo_loss_causes causes;
	void *vote;
	uint8_t *buffer;  /* [n_hosts] a full buffer explains its losses */
	uint32_t *n_retx; /* what the vote sees */
	size_t cap;
};

#define AT(member) offsetof(struct algo_vote_filtered_params, member)
static const struct sim_field filtered_fields[] =
    {{"rto", SIM_F_F64, AT(rto_ms), .min = 0, .max = 10000, .unit = "ms",
	 .def = "5", .doc = "as of loss_cause"},
	{"margin", SIM_F_F64, AT(margin), .min = 0, .max = 1e6, .unit = "1",
	    .def = "2", .doc = "as of loss_cause"},
	ALGO_BLAME_FIELDS(struct algo_vote_filtered_params, blame, "tie"), {0}};

static void filtered_free(void *work)
{
	struct filtered_work *w = work;
	algo_close(&algo_vote, w->vote);
	algo_loss_causes_free(&w->causes);
	free(w->buffer);
	free(w->n_retx);
}

static int filtered_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct filtered_work *w = work;
	struct algo_vote_params p;
	int rc;
	w->topo = t;
	if ((rc = sim_field_defaults(algo_loss_cause_fields, &w->cause, e)) <
		0 ||
	    (rc = sim_field_defaults(algo_vote.params, &p, e)) < 0)
		return rc;
	w->cause.rto_ms = w->params.rto_ms;
	w->cause.margin = w->params.margin;
	p.blame = w->params.blame;
	if ((rc = SIM_ZALLOC(&w->buffer, t->n_hosts, e)) < 0)
		return rc;
	return algo_open(&algo_vote, &w->vote, t, &p, e);
}

/* Present W without the retransmissions that do not count. */
static int filtered_see(struct filtered_work *w, const struct obs *window,
    struct obs *out, struct sim_err *e)
{
	const struct obs_flows *f = &window->flows;
	const int rc = SIM_RESERVE(&w->n_retx, &w->cap, f->n, e);
	if (rc < 0)
		return rc;
	memset(w->buffer, 0, w->topo->n_hosts);
	for (size_t i = 0; i < w->causes.n; i++)
		w->buffer[w->causes.host[i]] =
		    w->causes.cause[i] == ALGO_LOSS_BUFFER;
	for (size_t i = 0; i < f->n; i++)
		w->n_retx[i] = f->dst_host[i] < w->topo->n_hosts &&
			w->buffer[f->dst_host[i]]
		    ? 0
		    : f->n_retx[i];
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
	algo_loss_causes_clear(&w->causes);
	if (rc < 0 ||
	    (rc = algo_loss_causes_find(in.runs, in.samples, w->topo->n_hosts,
		 &w->cause, &w->causes, e)) < 0 ||
	    (rc = filtered_see(w, window, &seen, e)) < 0)
		return rc;
	return algo_vote.diagnose(w->vote, &seen, tie, out, e);
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
