/* tests/rigs/broken_algos.c -- votes with a mistake in them, for gates to catch.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/broken_algos.h"

#include <stdlib.h>
#include <string.h>

#include "algos/vigil/vote.h"
#include "sim/vec.h"

struct broken {
	uint64_t params;  /* none */
	void *vote;       /* the sound one */
	struct obs shown; /* the window as the broken one takes it */
	uint32_t *count;  /* [n_links] failed flows through each */
	uint32_t n_links;
};

static void broken_free(void *work)
{
	struct broken *b = work;
	algo_close(&algo_vote, b->vote);
	obs_free(&b->shown);
	free(b->count);
}

static int broken_init(void *work, const struct topo *t, struct sim_err *e)
{
	struct broken *b = work;
	b->n_links = t->n_links;
	const int rc = SIM_ZALLOC(&b->count, t->n_links, e);
	return rc < 0 ? rc : algo_open(&algo_vote, &b->vote, t, NULL, e);
}

static int diagnose_reversed(void *work, const struct obs *w,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct broken *b = work;
	int rc = algo_vote.diagnose(b->vote, w, tie, out, e);
	for (size_t i = 0; rc == 0 && i < out->n; i++)
		out->link[i] = topo_link_reverse(out->link[i]);
	return rc;
}

static int diagnose_shifted(void *work, const struct obs *w,
    struct sim_rng *tie, struct algo_verdicts *out, struct sim_err *e)
{
	struct broken *b = work;
	int rc = 0;
	obs_clear(&b->shown);
	for (size_t f = 0; rc == 0 && f < w->flows.n; f++) {
		const topo_link *path = obs_path(w, f);
		const unsigned n = obs_n_hops(w, f);
		topo_link hop[TOPO_MAX_HOPS];
		for (unsigned i = 0; i < n; i++)
			hop[i] = path[i > 0 ? i - 1 : 0];
		const struct obs_flow flow = obs_flows_at(&w->flows, f);
		rc = obs_add_flow(&b->shown, &flow, hop, n, e);
	}
	return rc < 0 ? rc
		      : algo_vote.diagnose(b->vote, &b->shown, tie, out, e);
}

static int diagnose_least(void *work, const struct obs *w, struct sim_rng *tie,
    struct algo_verdicts *out, struct sim_err *e)
{
	struct broken *b = work;
	int rc = algo_vote.diagnose(b->vote, w, tie, out, e);
	for (size_t f = 0; rc == 0 && f < w->flows.n; f++) {
		const topo_link *path = obs_path(w, f);
		topo_link least = path[0];
		for (unsigned i = 1; i < obs_n_hops(w, f); i++)
			if (algo_verdicts_score(out, path[i]) <
			    algo_verdicts_score(out, least))
				least = path[i];
		out->blame[f] = least;
	}
	return rc;
}

static int diagnose_flat(void *work, const struct obs *w, struct sim_rng *tie,
    struct algo_verdicts *out, struct sim_err *e)
{
	struct broken *b = work;
	int rc = algo_vote.diagnose(b->vote, w, tie, out, e);
	memset(b->count, 0, b->n_links * sizeof(b->count[0]));
	for (size_t f = 0; rc == 0 && f < w->flows.n; f++)
		for (unsigned i = 0; i < obs_n_hops(w, f); i++)
			b->count[obs_path(w, f)[i]] += w->flows.n_retx[f] > 0;
	for (size_t i = 0; rc == 0 && i < out->n; i++)
		out->score[i] = b->count[out->link[i]];
	for (size_t f = 0; rc == 0 && f < w->flows.n; f++) {
		const topo_link *path = obs_path(w, f);
		topo_link best = path[0];
		for (unsigned i = 1; i < obs_n_hops(w, f); i++)
			if (b->count[path[i]] > b->count[best] ||
			    (b->count[path[i]] == b->count[best] &&
				path[i] < best))
				best = path[i];
		out->blame[f] = b->count[best] > 1 ? best : TOPO_NONE;
	}
	return rc;
}

static int diagnose_fails(void *work, const struct obs *w, struct sim_rng *tie,
    struct algo_verdicts *out, struct sim_err *e)
{
	(void)work;
	(void)w;
	(void)tie;
	(void)out;
	return sim_fail(e, SIM_EDEP, "it fails on purpose.");
}

static const struct sim_field no_params[] = {{0}};

#define BROKEN(broken_name, broken_diagnose)                                   \
	{                                                                      \
		.name = (broken_name), .paper = "none",                        \
		.doc = "broken on purpose", .needs = OBS_FLOWS | OBS_HOPS,     \
		.params = no_params, .params_size = 1,                         \
		.work_size = sizeof(struct broken), .init = broken_init,       \
		.diagnose = (broken_diagnose), .free = broken_free,            \
	}

const struct algo_ops broken_reversed = BROKEN("reversed", diagnose_reversed);
const struct algo_ops broken_shifted = BROKEN("shifted", diagnose_shifted);
const struct algo_ops broken_least = BROKEN("least", diagnose_least);
const struct algo_ops broken_flat = BROKEN("flat", diagnose_flat);
const struct algo_ops broken_fails = BROKEN("fails", diagnose_fails);
